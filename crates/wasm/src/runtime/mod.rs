//! What modules bring along for values of the heap and the world outside: a program of ours, of which a module gets the
//! functions that it needs.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use lmlang_ir::graph::calls::{Mentions, components_from};
use lmlang_ir::text::parse_program;
use lmlang_ir::{FuncRef, Name, Program, RefAllocator};

/// The program, and what it has by name.
pub(crate) struct Runtime {
    pub(crate) program: Program,
    functions: HashMap<Name, FuncRef>,
    /// Those that only modules which count have: elsewhere nobody calls them.
    counting: HashSet<FuncRef>,
    /// Those that pay fuel, or call one that does.
    paying: HashSet<FuncRef>,
}

/// What counts in `meter.lm`, where others call it.
const COUNTING: [&str; 8] =
    ["made", "moved", "copied", "grown", "gone", "spend", "spend_half", "spend_least"];

/// What pays.
const PAYS: &str = "spend_bytes";

const TEXT: &str = concat!(
    include_str!("values.lm"),
    include_str!("text.lm"),
    include_str!("decimal.lm"),
    include_str!("float.lm"),
    include_str!("world.lm"),
    include_str!("meter.lm"),
);

pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let program = parse_program(TEXT, &mut RefAllocator::starting_at(1)).expect("a test reads it");
    let functions: HashMap<Name, FuncRef> =
        program.functions().map(|(of, function)| (function.head().name.clone(), of)).collect();
    let counting = COUNTING.iter().map(|name| functions[*name]).collect();
    let pays = |of: FuncRef| {
        let mut reached = components_from(Mentions::all(&program), [of.into()]).into_iter().flatten();
        reached.any(|reached| reached == functions[PAYS].into())
    };
    let paying = functions.values().copied().filter(|of| pays(*of)).collect();
    Runtime { program, functions, counting, paying }
});

impl Runtime {
    /// The function of a name, which it has.
    pub(crate) fn function(&self, name: &str) -> FuncRef {
        self.functions[name]
    }

    /// Whether a function only counts, and is called in modules that do.
    pub(crate) fn counts(&self, of: FuncRef) -> bool {
        self.counting.contains(&of)
    }

    /// Whether a function pays fuel.
    pub(crate) fn pays(&self, of: FuncRef) -> bool {
        self.paying.contains(&of)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use lmlang_verify::Checked;

    use super::*;

    #[test]
    fn it_is_complete() {
        let program = parse_program(TEXT, &mut RefAllocator::starting_at(1)).unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|error| format!("{error}\n")).collect::<String>())
        });
        let checked = Checked::full(program, NonZeroUsize::MIN);
        for (of, function) in checked.program().functions() {
            let found: Vec<_> = checked.findings().of_function(of).collect();
            assert!(
                function.head().import.is_some() || checked.complete(of).is_some(),
                "{}: {found:#?}",
                function.head().name
            );
        }
    }
}

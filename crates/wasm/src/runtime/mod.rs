//! What modules bring along for values of the heap and the world outside: a program of ours, of which a module gets the
//! functions that it needs.

use std::collections::HashMap;
use std::sync::LazyLock;

use lmlang_ir::text::parse_program;
use lmlang_ir::{FuncRef, Name, Program, RefAllocator};

/// The program, and what it has by name.
pub(crate) struct Runtime {
    pub(crate) program: Program,
    functions: HashMap<Name, FuncRef>,
}

const TEXT: &str = concat!(
    include_str!("values.lm"),
    include_str!("text.lm"),
    include_str!("decimal.lm"),
    include_str!("float.lm"),
    include_str!("world.lm"),
);

pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let program = parse_program(TEXT, &mut RefAllocator::starting_at(1)).expect("a test reads it");
    let functions = program.functions().map(|(of, function)| (function.head().name.clone(), of)).collect();
    Runtime { program, functions }
});

impl Runtime {
    /// The function of a name, which it has.
    pub(crate) fn function(&self, name: &str) -> FuncRef {
        self.functions[name]
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

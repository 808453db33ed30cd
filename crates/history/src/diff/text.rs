//! How two programs differ as text: a unified diff, which a patch takes.

use lmlang_ir::text::{Detail, print_entity, print_module_head};
use lmlang_ir::{Place, Program, Ref};
use similar::TextDiff;

use super::Diff;

/// Lines around what differs.
const CONTEXT: usize = 3;

impl Diff {
    /// The unified diffs of what differs between these programs, each of one text, those of functions last.
    pub fn texts<'d>(&'d self, a: &'d Program, b: &'d Program) -> impl Iterator<Item = String> + 'd {
        let others = self.others.iter().map(|change| change.of);
        let all = others.chain(self.functions.iter().map(|change| change.function.into()));
        all.map(|of| text_difference(a, b, of))
    }
}

/// The difference of the text of a function, type or storage, or of the head of a module, as a unified diff; empty where
/// there is none, and for what has no text of its own. The names in its first lines are paths.
pub fn text_difference(a: &Program, b: &Program, of: Ref) -> String {
    let (before, after) = (text(a, of), text(b, of));
    let path = |program: &Program| match program.place(of) {
        Some(_) => program.path(of),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (path(a), path(b));
    if before == after && from != to && !before.is_empty() {
        return format!("--- {from}\n+++ {to}\n");
    }
    TextDiff::from_lines(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&from, &to)
        .to_string()
}

fn text(program: &Program, of: Ref) -> String {
    match program.place(of) {
        Some(Place::Module(module)) => print_module_head(program, module, Detail::Full),
        _ => print_entity(program, of, Detail::Full).unwrap_or_default(),
    }
}

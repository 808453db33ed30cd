//! What is wrong with a merged program and with neither of the two that it was made of.

use crate::checked::Checked;
use crate::code::Class;
use crate::diagnostic::Diagnostic;

/// The errors, and what was left behind, that a merged program has and neither side has: changes that fit alone and not
/// together. A merge with one of them is not clean.
///
/// The merged program is [checked](Checked::update) from a side: then this costs what the merge changes there.
pub fn disagreements(merged: &Checked, ours: &Checked, theirs: &Checked) -> Vec<Diagnostic> {
    let known = |found: &Diagnostic| {
        let there = theirs.findings().of_entity(found.at.function, found.at.entity.number);
        there.iter().any(|other| other.identity() == found.identity())
    };
    let new = merged.findings().since(ours.findings()).added.into_iter();
    new.filter(|found| matches!(found.class(), Class::Error | Class::Stale) && !known(found)).collect()
}

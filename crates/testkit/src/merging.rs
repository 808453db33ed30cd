//! Merges with the verifier's word on what comes of them, and resolved until they get through.

use std::collections::BTreeSet;

use lmlang_history::merge::{Error, Finding, Merge, Resolution, Side, merge_checked};
use lmlang_ir::{Program, Ref};
use lmlang_verify::{Checked, Diagnostic, disagreements};

/// What is wrong with a merge, as it is told the merge.
fn finding(found: &Diagnostic) -> Finding {
    Finding { of: found.at.entity, beside: found.beside }
}

/// Merges two checked states, and checks what comes of it.
pub fn merge(
    base: &Program,
    ours: &Checked,
    theirs: &Checked,
    resolutions: &[Resolution],
) -> Result<(Merge, Checked), Error> {
    let mut checked = ours.clone();
    let merged = merge_checked(base, ours.program(), theirs.program(), resolutions, |program| {
        checked = ours.update(program.clone());
        disagreements(&checked, ours, theirs).iter().map(finding).collect()
    })?;
    Ok((merged, checked))
}

/// Resolves all that is in conflict, and what comes up by that, on top of some resolutions. Gives them all, with what the
/// merge came to.
pub fn resolved(
    base: &Program,
    ours: &Checked,
    theirs: &Checked,
    first: &[Resolution],
    take: impl Fn(usize) -> Side,
) -> Result<(Vec<Resolution>, Checked), String> {
    let told = |error: Error| error.to_string();
    let open = |(merged, checked): &(Merge, Checked)| -> BTreeSet<Ref> {
        let together = disagreements(checked, ours, theirs);
        let found = together.iter().map(|one| one.at.entity);
        merged.conflicts.iter().map(|one| one.of).chain(found).collect()
    };
    let at_first = open(&merge(base, ours, theirs, &[]).map_err(told)?);
    let mut resolutions = first.to_vec();
    loop {
        let merged = merge(base, ours, theirs, &resolutions).map_err(told)?;
        if let Some(of) = merged.0.idle.iter().find(|of| !at_first.contains(of)) {
            return Err(format!("`{of}` is not in conflict, and was told to be"));
        }
        let open = open(&merged);
        if open.is_empty() {
            return Ok((resolutions, merged.1));
        }
        let known: BTreeSet<Ref> = resolutions.iter().map(|one| one.of).collect();
        if let Some(still) = open.intersection(&known).next() {
            return Err(format!("`{still}` is resolved, and still in conflict"));
        }
        for of in open {
            resolutions.push(Resolution { of, take: take(resolutions.len()) });
        }
    }
}

//! Merges with the verifier's word on what comes of them, resolved until they get through, of states with an ancestry.

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

/// States and what each of them was made from, as branches that are merged into each other have them.
#[derive(Clone, Debug)]
pub struct Ancestry {
    states: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    checked: Checked,
    /// What it builds on, itself included.
    builds_on: BTreeSet<usize>,
}

impl Ancestry {
    /// One with a first state, number 0, that all others come from.
    pub fn new(first: Checked) -> Ancestry {
        Ancestry { states: vec![State { checked: first, builds_on: BTreeSet::from([0]) }] }
    }

    /// Adds a state that was made from others, and gives its number.
    pub fn add(&mut self, checked: Checked, parents: &[usize]) -> usize {
        let number = self.states.len();
        let mut builds_on = BTreeSet::from([number]);
        for parent in parents {
            builds_on.extend(&self.states[*parent].builds_on);
        }
        self.states.push(State { checked, builds_on });
        number
    }

    /// The state with a number.
    pub fn state(&self, number: usize) -> &Checked {
        &self.states[number].checked
    }

    /// The newest states that two build on, the newest first: several where branches were merged into each other crosswise.
    pub fn common(&self, one: usize, two: usize) -> Vec<usize> {
        let both = &self.states[one].builds_on & &self.states[two].builds_on;
        let is_older =
            |of: usize| both.iter().any(|other| *other != of && self.states[*other].builds_on.contains(&of));
        both.iter().rev().copied().filter(|of| !is_older(*of)).collect()
    }

    /// What two states are merged from: the newest that both build on; of several, what these come to, with what they say
    /// differently as it was before them.
    pub fn base(&self, one: usize, two: usize) -> Result<Program, Error> {
        let program = |number: usize| self.state(number).program();
        let mut common = self.common(one, two).into_iter();
        let first = common.next().unwrap_or(0);
        let mut content = program(first).clone();
        for other in common {
            let before = self.common(first, other).first().copied().unwrap_or(0);
            content = merge_checked(program(before), &content, program(other), &[], |_| Vec::new())?.program;
        }
        Ok(content)
    }
}

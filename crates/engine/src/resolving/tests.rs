//! Merges of generated programs, resolved by sides and by edits.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroUsize;

use lmlang_history::merge::{self, Conflict, ConflictKind, Side};
use lmlang_history::request::{EditRequest, Rename, SetDoc};
use lmlang_ir::{FuncRef, Place, Program, Ref, RefAllocator, RefKind};
use lmlang_testkit::{Choices, Options, config_of, edits, generate};
use lmlang_verify::{Checked, Class, Diagnostic, Identity, full};
use proptest::prelude::*;

use super::{Combined, Resolution, combine};

/// Changes a program at random. Now and then a function gets a name that the other side may give to another one.
fn change(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices, options: &Options) {
    for _ in 0..=choices.below(10) {
        match choices.below(8) {
            0 => drop(edits::structural(program, refs, choices)),
            1 => drop(edits::declared(program, refs, choices)),
            2 => drop(name(program, choices)),
            _ => drop(edits::typed(program, refs, choices, options)),
        }
    }
}

/// Gives a function one of two names, if that is free in its module.
fn name(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let all: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
    let of = *choices.pick(&all)?;
    let name = format!("shared{}", choices.below(2));
    let mut head = program.function(of)?.head().clone();
    let is_taken = program.functions().any(|(_, function)| {
        function.head().module == head.module && function.head().name.to_string() == name
    });
    if is_taken {
        return None;
    }
    head.name = name.into();
    program.function_mut(of).ok()?.set_head(head);
    Some(())
}

fn some_side(choices: &mut Choices) -> Side {
    if choices.chance(50) { Side::Theirs } else { Side::Ours }
}

/// What somebody says about an entity that is in conflict: a side, edits of what stands in the base, edits of what a side has,
/// or other names where both sides give one. `fresh` is in no text yet.
fn decided(of: Ref, conflicts: &[Conflict], choices: &mut Choices, fresh: usize) -> Resolution {
    let named = conflicts.iter().find(|one| one.of == of && one.kind == ConflictKind::NameTaken);
    let write = || EditRequest::SetDoc(SetDoc { of: of.to_string(), doc: Some(format!("decided {fresh}")) });
    match (choices.below(5), named) {
        (3 | 4, Some(named)) => {
            let takers: Vec<Ref> = named.takers(some_side(choices)).iter().copied().collect();
            let taker = choices.pick(&takers).copied().unwrap_or(of);
            let rename = Rename { of: taker.to_string(), name: format!("apart{fresh}") };
            let edit = match taker.kind {
                RefKind::Module => EditRequest::RenameModule(rename),
                RefKind::Type => EditRequest::RenameType(rename),
                RefKind::Variable => EditRequest::RenameVar(rename),
                _ => EditRequest::RenameFunction(rename),
            };
            Resolution { of, take: None, edits: vec![edit] }
        }
        (2, _) => Resolution { of, take: Some(some_side(choices)), edits: vec![write()] },
        (3, _) => Resolution { of, take: None, edits: vec![write()] },
        _ => Resolution { of, take: Some(some_side(choices)), edits: Vec::new() },
    }
}

fn failed(why: impl ToString) -> TestCaseError {
    TestCaseError::fail(why.to_string())
}

/// Resolves all that is in conflict, and what comes up by that. Where edits do not do, which is told, a side is taken.
fn resolve(
    base: &Program,
    sides: &[Checked; 2],
    refs: &RefAllocator,
    choices: &mut Choices,
) -> Result<(Vec<Resolution>, Combined), TestCaseError> {
    let plain = merge::merge(base, sides[0].program(), sides[1].program(), &[]);
    let plain = plain.map_err(failed)?;
    let mut resolutions: Vec<Resolution> = Vec::new();
    let mut fresh = 0;
    loop {
        let combined = combine(base, sides, &[Vec::new(), Vec::new()], &resolutions, refs.clone());
        let combined = combined.map_err(|error| failed(format!("{error}: {resolutions:?}")))?;
        let open: BTreeSet<Ref> = combined.conflicts.iter().filter_map(|one| one.of.parse().ok()).collect();
        let known: BTreeSet<Ref> = resolutions.iter().map(|one| one.of).collect();
        if combined.conflicts.is_empty() {
            return Ok((resolutions, combined));
        }
        if !open.is_subset(&known) {
            for of in open.difference(&known) {
                fresh += 1;
                resolutions.push(decided(*of, &plain.conflicts, choices, fresh));
            }
            continue;
        }
        let Some(at) = resolutions.iter().position(|one| !one.edits.is_empty()) else {
            return Err(failed(format!("still in conflict by {resolutions:?}: {:?}", combined.conflicts)));
        };
        // What was said after it may have come up by it.
        resolutions.truncate(at + 1);
        let Resolution { of, take, .. } = resolutions.remove(at);
        let take = Some(take.unwrap_or_else(|| some_side(choices)));
        resolutions.push(Resolution { of, take, edits: Vec::new() });
    }
}

fn grave(found: &Diagnostic) -> Option<Identity> {
    matches!(found.class(), Class::Error | Class::Stale).then(|| found.identity())
}

/// Nothing is wrong with what came of it that was not wrong with a side; what edits say is there.
fn check(sides: &[Checked; 2], resolutions: &[Resolution], combined: &Combined) -> Result<(), TestCaseError> {
    let program = combined.checked.program();
    let all = full(program);
    prop_assert!(*combined.checked.findings() == all, "LOCAL and FULL differ about a merge");
    let known: HashSet<Identity> =
        sides.iter().flat_map(|side| side.findings().iter().filter_map(|(_, found)| grave(found))).collect();
    let new: Vec<Identity> =
        all.iter().filter_map(|(_, found)| grave(found)).filter(|found| !known.contains(found)).collect();
    prop_assert!(new.is_empty(), "{new:?} after {resolutions:?}");
    let mut names: BTreeMap<Ref, BTreeSet<&str>> = BTreeMap::new();
    for Resolution { of, edits, .. } in resolutions {
        for edit in edits {
            match edit {
                EditRequest::RenameModule(rename)
                | EditRequest::RenameType(rename)
                | EditRequest::RenameVar(rename)
                | EditRequest::RenameFunction(rename) => {
                    let renamed: Ref = rename.of.parse().expect("it is written like one");
                    names.entry(renamed).or_default().insert(&rename.name);
                }
                _ => {
                    // What is written about a member stands in its type.
                    let owner = match program.place(*of) {
                        Some(Place::Member(ty, _)) => Ref::from(ty),
                        _ => *of,
                    };
                    prop_assert!(combined.resolved.contains(&owner), "`{of}` was not edited");
                }
            }
        }
    }
    for (renamed, names) in names {
        let path = program.path(renamed);
        let last = path.rsplit("::").next().unwrap_or_default();
        // Variables of functions have no path.
        let is_told_apart = names.contains(last) || path == renamed.to_string();
        prop_assert!(is_told_apart, "`{renamed}` is `{path}`, not one of {names:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(config_of(500))]

    #[test]
    fn conflicts_can_be_resolved_by_edits_too(
        generated in generate::programs(Options { functions: 3, ..Options::small() }),
        mut one in generate::choices(160),
        mut two in generate::choices(160),
        mut choices in generate::choices(60),
    ) {
        let (base, mut refs, options) = (generated.program, generated.refs, Options::small());
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        change(&mut ours, &mut refs, &mut one, &options);
        change(&mut theirs, &mut refs, &mut two, &options);
        let sides = [ours, theirs].map(|side| Checked::full(side, NonZeroUsize::MIN));
        let (resolutions, combined) = resolve(&base, &sides, &refs, &mut choices)?;
        check(&sides, &resolutions, &combined)?;
        let [ours, theirs] = sides;
        let mirrored: Vec<Resolution> = resolutions
            .iter()
            .map(|one| Resolution { take: one.take.map(Side::other), ..one.clone() })
            .collect();
        let turned = combine(&base, &[theirs, ours], &[Vec::new(), Vec::new()], &mirrored, refs);
        let turned = turned.map_err(failed)?;
        prop_assert_eq!(&turned.conflicts, &[]);
        prop_assert_eq!(combined.checked.program().root_hash(), turned.checked.program().root_hash());
    }
}

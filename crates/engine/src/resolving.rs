//! What a merge with resolutions comes to: names that are told apart, sides that are taken, and edits of the rest.

use std::collections::BTreeSet;

use lmlang_history::merge::{self, Merge, Side, merge_resting};
use lmlang_history::request::{EditError, EditRequest, MoveFunction, Rename, code, expand};
use lmlang_history::{Edit, Rest};
use lmlang_ir::{Program, Ref, RefAllocator};
use lmlang_verify::{Checked, Diagnostic, disagreements};

use crate::conflict::{Collision, kind};
use crate::error::Error;
use crate::merging::unmergeable;

/// What to do about the conflicts of an entity.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The entity.
    pub of: Ref,
    /// Whose changes to take; nothing where there are only edits.
    pub take: Option<Side>,
    /// Edits of what came of it, in order. What gives another name to an entity whose name is in conflict, or moves it
    /// elsewhere, is done on the side that has it, before the two are merged: so both are there.
    pub edits: Vec<EditRequest>,
}

/// What three states came to.
#[derive(Clone, Debug)]
pub(crate) struct Combined {
    pub(crate) checked: Checked,
    pub(crate) refs: RefAllocator,
    pub(crate) conflicts: Vec<Collision>,
    /// What the edits of resolutions made or changed.
    pub(crate) resolved: BTreeSet<Ref>,
    /// What these edits rest on beyond what they say.
    pub(crate) rests: Vec<Rest>,
}

/// What three states come to with sides taken.
struct Attempt {
    merged: Merge,
    checked: Checked,
    together: Vec<Diagnostic>,
}

/// Most entities in conflict that the refusal of a resolution lists.
const MOST_TOLD: usize = 20;

/// Merges two states that come from a base.
pub(crate) fn combine(
    base: &Program,
    sides: &[Checked; 2],
    rests: &[Vec<Rest>; 2],
    resolutions: &[Resolution],
    mut refs: RefAllocator,
) -> Result<Combined, Error> {
    let known = rests.each_ref().map(Vec::as_slice);
    sides.iter().for_each(|side| refs.reserve(side.program().largest_number()));
    let never_handed_out = refs.watermark();
    let programs = sides.each_ref().map(|side| side.program().clone());
    let plain = Attempt::of(base, sides, &programs, known, &[])?;
    let (mut resolved, mut rests, mut faults) = (BTreeSet::new(), Vec::new(), Vec::new());
    let (mut apart, mut told_apart) = (programs.clone(), Vec::new());
    let mut rest: Vec<(Ref, Vec<(usize, &EditRequest)>)> = Vec::new();
    for Resolution { of, edits, .. } in resolutions {
        let mut others = Vec::new();
        for (index, edit) in edits.iter().enumerate() {
            let having = having(&plain.merged.conflicts, *of, edit);
            for side in &having {
                let program = &mut apart[side_index(*side)];
                match expand(program, &mut refs, std::slice::from_ref(edit)) {
                    Ok(expanded) => {
                        *program = expanded.program;
                        let subjects = expanded.edits.iter().map(Edit::subject);
                        told_apart.extend(subjects.map(|subject| (*of, index, *side, subject)));
                    }
                    Err(refused) => faults.extend(untold(*of, &refused, |_| index, |_| "")),
                }
            }
            if having.is_empty() {
                others.push((index, edit));
            }
        }
        rest.push((*of, others));
    }
    let takes: Vec<merge::Resolution> = resolutions
        .iter()
        .filter_map(|one| Some(merge::Resolution { of: one.of, take: one.take? }))
        .collect();
    let shown = plain.open();
    resolved.extend(told_apart.iter().map(|(.., subject)| *subject));
    let now = match takes.is_empty() && resolved.is_empty() {
        true => plain,
        false => Attempt::of(base, sides, &apart, known, &takes)?,
    };
    let open = &shown | &now.open();
    let Attempt { merged, mut checked, mut together } = now;
    let mut conflicts: Vec<Collision> = merged.conflicts.into_iter().map(Collision::from).collect();
    let mut program = merged.program;
    let unedited = program.clone();
    for (of, edits) in rest.into_iter().filter(|(_, edits)| !edits.is_empty()) {
        let list: Vec<EditRequest> = edits.iter().map(|(_, edit)| (*edit).clone()).collect();
        match expand(&program, &mut refs, &list) {
            Ok(expanded) => {
                program = expanded.program;
                resolved.extend(expanded.edits.iter().map(Edit::subject));
                rests.extend(expanded.rests);
                // Whoever says what it is to be has looked at both sides.
                conflicts.retain(|conflict| conflict.of != of.to_string());
            }
            Err(refused) => {
                let is_of_base = takes.iter().all(|one| one.of != of);
                let why = |error: &EditError| match is_of_base {
                    true => looked_in_base(error, &programs),
                    false => "",
                };
                faults.extend(untold(of, &refused, |at| edits[at].0, why));
            }
        }
    }
    if conflicts.is_empty() {
        // What keeps the new name may have been taken elsewhere, or stands as it was where edits decide.
        let name = |program: &Program, of: Ref| program.path(of).rsplit("::").next().map(str::to_owned);
        let lost =
            |side: Side, subject: Ref| name(&apart[side_index(side)], subject) != name(&unedited, subject);
        faults.extend(told_apart.iter().filter(|(_, _, side, subject)| lost(*side, *subject)).map(
            |(of, index, _, subject)| {
                let message =
                    format!("edit {index}: the sides that are taken leave no room for `{subject}` there");
                Collision::plain(of.to_string(), kind::RESOLUTION, message)
            },
        ));
    }
    let [ours, theirs] = sides;
    if program != *checked.program() {
        checked = ours.update(program);
        together = disagreements(&checked, ours, theirs);
    }
    let is_found = |of: &Ref| together.iter().any(|found| found.at.entity == *of);
    // What edits bring up is told as what it is.
    for of in merged.idle.into_iter().filter(|of| !shown.contains(of) && !is_found(of)) {
        let message = not_in_conflict(of, &open);
        // Nobody was shown it. What no side has any more may have been in conflict before a branch has moved.
        if of.number >= never_handed_out {
            return Err(Error::bad_request(message));
        }
        faults.push(Collision::plain(of.to_string(), kind::STALE_BASE, message));
    }
    if !conflicts.is_empty() {
        // Where nobody has decided the base stands, and what is wrong with that may go with the decision.
        together.clear();
    }
    conflicts.append(&mut faults);
    let sides = [base, ours.program(), theirs.program()].map(Some);
    conflicts.extend(together.iter().map(|found| Collision::disagreement(checked.program(), sides, found)));
    Ok(Combined { checked, refs, conflicts, resolved, rests })
}

impl Attempt {
    /// Merges two states. What is wrong with it is what neither side has, whatever names are told apart.
    fn of(
        base: &Program,
        sides: &[Checked; 2],
        programs: &[Program; 2],
        rests: [&[Rest]; 2],
        takes: &[merge::Resolution],
    ) -> Result<Attempt, Error> {
        let [ours, theirs] = sides;
        let (mut checked, mut together) = (ours.clone(), Vec::new());
        let merged = merge_resting(base, programs.each_ref(), rests, takes, |program| {
            checked = ours.update(program.clone());
            together = disagreements(&checked, ours, theirs);
            together
                .iter()
                .map(|found| merge::Finding { of: found.at.entity, beside: found.beside })
                .collect()
        });
        Ok(Attempt { merged: merged.map_err(unmergeable)?, checked, together })
    }

    /// The entities that are in conflict.
    fn open(&self) -> BTreeSet<Ref> {
        let found = self.together.iter().map(|found| found.at.entity);
        self.merged.conflicts.iter().map(|conflict| conflict.of).chain(found).collect()
    }
}

/// The sides that have an entity whose name is in conflict, if the edit takes it out of that.
fn having(conflicts: &[merge::Conflict], of: Ref, edit: &EditRequest) -> Vec<Side> {
    let (EditRequest::RenameModule(Rename { of: named, .. })
    | EditRequest::RenameType(Rename { of: named, .. })
    | EditRequest::RenameFunction(Rename { of: named, .. })
    | EditRequest::RenameVar(Rename { of: named, .. })
    | EditRequest::MoveFunction(MoveFunction { of: named, .. })) = edit
    else {
        return Vec::new();
    };
    let Ok(named) = named.parse::<Ref>() else { return Vec::new() };
    let takes = |side: &Side| {
        let mut about = conflicts.iter().filter(|conflict| conflict.of == of);
        about.any(|conflict| conflict.takers(*side).contains(&named))
    };
    [Side::Ours, Side::Theirs].into_iter().filter(takes).collect()
}

/// Where an edit has looked for what a side has, and nobody else, if that is what is wrong with it.
fn looked_in_base(error: &EditError, sides: &[Program; 2]) -> &'static str {
    let named = error.found.as_deref().and_then(|found| found.parse::<Ref>().ok());
    let has_it = |named: Ref| sides.iter().any(|side| side.place(named).is_some());
    match error.code == code::UNKNOWN_REF && named.is_some_and(has_it) {
        true => " in what both come from, which is edited where no side is taken",
        false => "",
    }
}

/// Why edits of a resolution cannot be carried out, with the position of each in the resolution; `why` goes on about a mistake.
fn untold<'r>(
    of: Ref,
    refused: &'r lmlang_history::request::Refused,
    position: impl Fn(usize) -> usize + 'r,
    why: impl Fn(&EditError) -> &'static str + 'r,
) -> impl Iterator<Item = Collision> + 'r {
    let errors =
        refused.errors.iter().map(move |error| (error.edit, format!("{}{}", error.message, why(error))));
    let stale = refused.conflicts.iter().map(|read| (read.edit, read.to_string()));
    errors.chain(stale).map(move |(edit, message)| {
        let message = format!("edit {}: {message}", position(edit));
        Collision::plain(of.to_string(), kind::RESOLUTION, message)
    })
}

fn side_index(side: Side) -> usize {
    match side {
        Side::Ours => 0,
        Side::Theirs => 1,
    }
}

fn not_in_conflict(of: Ref, open: &BTreeSet<Ref>) -> String {
    let told: Vec<String> = open.iter().take(MOST_TOLD).map(|of| format!("`{of}`")).collect();
    let are = match open.len().saturating_sub(MOST_TOLD) {
        0 if told.is_empty() => "nothing is".to_owned(),
        0 if told.len() == 1 => format!("{} is", told[0]),
        0 => format!("{} are", told.join(", ")),
        more => format!("{} and {more} more are", told.join(", ")),
    };
    format!("`{of}` is not in conflict; {are}")
}

#[cfg(test)]
mod tests;

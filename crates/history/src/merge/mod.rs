//! Merging: two states of a program and the one that both come from.
//!
//! Each side's edits are its difference to the base, cut into the smallest changes that mean something alone: one field of
//! a record, one input of a node, the place of a node, one field of a struct, one case of a `match`. What both sides did
//! alike is done once. What does not collide, by [footprints](crate::footprint), is done; what collides is a [`Conflict`]
//! about one entity, and none of it is done until it is resolved. Sides are equal: `merge(b, o, t)` and `merge(b, t, o)`
//! give the same program.
//!
//! **What commutes.** Changes of different entities, of different fields of one record (name, doc, visibility, each
//! parameter of a function, each field of a struct), of different inputs of a node, and of its operator against its
//! inputs as long as their number stays. What both removed. Nodes that both put into one region: at different places
//! anyway, at one place if nobody can observe which comes first, as they compute, only read, or write different
//! variables; but for a region that both have filled anew, which is one side's as a whole. Each node goes after the node of the base that its side left before it; if that one is gone or moved,
//! where it was. What both put into one gap stays together by side, that with the lower ref first, a terminator last.
//! Fields, variants and cases that both add stand in one list in the same way.
//!
//! **What conflicts**, by [`ConflictKind`]. What is looked at is what an edit itself reads, not what stands around it: a
//! new call of a function reads its signature, a call that was there does not, and one that is given another value reads
//! the parameter that it goes to; a new `match` without a default reads
//! which variants there are, a new access of a field reads that field alone. Whether all of it fits together (types,
//! scopes, visibility, effect bounds, what was there before) is the verifier's question, asked of the merged state: a
//! merge without conflicts is not clean yet.
//!
//! What stands between two nodes is told by these: where one side puts something with effects between two that the other
//! has taken away and put something in the place of, nobody said where it stands. And a few edits read more than what they
//! write: a call that was replaced by a copy of code is right as long as that code stays as it was, and a variable that
//! became values as long as it is written where it was. Such a [`Rest`] is not in the states: the revisions between tell it.
//!
//! **Resolving.** A [`Resolution`] names the entity of a conflict and the side to take: the other side's changes that
//! collide there are left, with what rests on them. A change goes with another one
//! * that makes or changes what it reads: a use with the node that gives the value;
//! * that moved what it gives by position: the inputs of a call with the parameters of what is called;
//! * that it is one thing with: a node with its regions, a tree of nodes that goes, nodes with the block they are wrapped
//!   into, an operator with the inputs that were changed for it;
//! * in whose place the base needs what it takes away: a variable stays with the node that reads it;
//! * that is all there is to use it, if it only computes: a value that was made for a call goes with the call.
//!
//! Where each side is right alone and the two together are not ([`merge_checked`]), taking a side leaves the other one's
//! changes that are next to the finding: all in the function (type, module, piece of storage) that has it; while it is
//! still there, those to what that uses, and so on; then those to storage, and at last all. What another resolution has taken goes after what nobody
//! has decided.
//!
//! A conflict that is not resolved leaves both sides' changes in the same way, so that [`Merge::program`] has the base
//! there. Everything that was left is in [`Merge::left`].

mod build;
mod change;
mod conflict;
mod deeds;
mod fields;
mod rests;
mod settle;
#[cfg(test)]
mod tests;
mod together;
mod versions;
mod weave;

use lmlang_ir::{Program, Ref, StructureError};
use thiserror::Error;

use crate::edit::Edit;
use crate::rest::Rest;
use change::{Change, changes};
use settle::{Clash, Left, Sides};
use together::Yielding;

pub use conflict::{Conflict, ConflictKind, text};
pub use fields::onto;
pub use versions::versions;

/// One of the two states that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The state that is merged into.
    Ours,
    /// The state that is merged.
    Theirs,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Ours => Side::Theirs,
            Side::Theirs => Side::Ours,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::Theirs => "theirs",
        }
    }

    fn index(self) -> usize {
        match self {
            Side::Ours => 0,
            Side::Theirs => 1,
        }
    }
}

/// Which side to take where both changed one entity, or where something is wrong with what both did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The entity of a conflict, [`Conflict::of`], or of a finding, [`Finding::of`].
    pub of: Ref,
    /// The side to take.
    pub take: Side,
}

/// Something that is wrong with a merged program and with neither side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The entity that it hangs on.
    pub of: Ref,
    /// Another one that it is about.
    pub beside: Option<Ref>,
}

/// What two states came to.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The merged state. Its entry in a log has the [difference](crate::diff) from our state to it as edits.
    pub program: Program,
    /// What nobody has resolved, by entity and kind.
    pub conflicts: Vec<Conflict>,
    /// What was not taken, ours first.
    pub left: Vec<LeftOut>,
    /// Entities of resolutions that are not in conflict.
    pub idle: Vec<Ref>,
}

/// A change that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Whose it was.
    pub side: Side,
    /// The change, as an edit of the base; the whole record in it has one thing changed.
    pub edit: Edit,
}

/// Why there is no merged state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Two resolutions of one entity.
    #[error("`{0}` is resolved twice")]
    ResolvedTwice(Ref),
    /// What was taken of the two sides does not fit together: a fault of ours.
    #[error("the merged changes cannot be applied: {0}")]
    Structure(#[from] StructureError),
}

/// Merges two states that come from a base. Costs what they changed.
pub fn merge(
    base: &Program,
    ours: &Program,
    theirs: &Program,
    resolutions: &[Resolution],
) -> Result<Merge, Error> {
    merge_checked(base, ours, theirs, resolutions, |_| Vec::new())
}

/// Merges two states that come from a base, with somebody's word on what is wrong with what comes of it and with neither
/// side. Resolutions are of that, too: earlier ones first, until nothing is found where they are of, so that one that is
/// added changes nothing of what the others had come to. What it is told last is about the merged program.
pub fn merge_checked(
    base: &Program,
    ours: &Program,
    theirs: &Program,
    resolutions: &[Resolution],
    wrong: impl FnMut(&Program) -> Vec<Finding>,
) -> Result<Merge, Error> {
    merge_resting(base, [ours, theirs], [&[], &[]], resolutions, wrong)
}

/// The same for two states, ours first, that rest each on more than what it changed: what the revisions since the base made
/// of something that they read.
pub fn merge_resting(
    base: &Program,
    programs: [&Program; 2],
    rests: [&[Rest]; 2],
    resolutions: &[Resolution],
    mut wrong: impl FnMut(&Program) -> Vec<Finding>,
) -> Result<Merge, Error> {
    let mut lists = programs.map(|side| changes(base, side));
    for (list, rests) in lists.iter_mut().zip(rests) {
        rests::tie(list, rests);
    }
    let lists: [&[Change]; 2] = [&lists[0], &lists[1]];
    let sides = Sides::of(base, programs, lists, rests);
    let clashes = sides.clashes();
    let (mut settled, mut yielding) = (Left::nothing(lists), Yielding::default());
    let mut idle = settle::resolve(&sides, &clashes, resolutions, &mut settled)?;
    loop {
        let still = |side: Side, at: [usize; 2]| settled.is_taken(side, at[side.index()]);
        let is_open = |clash: &&Clash| still(Side::Ours, clash.changes) && still(Side::Theirs, clash.changes);
        let open: Vec<Clash> = clashes.iter().filter(is_open).cloned().collect();
        let both = |clash: &Clash| [(Side::Ours, clash.changes[0]), (Side::Theirs, clash.changes[1])];
        let mut left = settled.clone();
        left.leave(&sides, open.iter().flat_map(both));
        let program = build::build(base, programs, &taken(lists, &sides, &left))?;
        let found = wrong(&program);
        idle.retain(|of| found.iter().all(|one| one.of != *of));
        let of_found = |one: &&Resolution| found.iter().any(|finding| finding.of == one.of);
        let next = resolutions.iter().find(of_found).copied();
        if next.is_some_and(|one| yielding.leave(&sides, &program, one, &found, &mut settled)) {
            continue;
        }
        let conflicts = conflict::conflicts(base, programs, lists, &open);
        return Ok(Merge { program, conflicts, left: left_out(lists, &sides, &left), idle });
    }
}

fn taken<'a>(lists: [&'a [Change]; 2], sides: &Sides<'_>, left: &Left) -> build::Taken<'a> {
    let is_taken = |side: Side, at: usize| left.is_taken(side, at);
    // What both made alike is there if one of them is taken.
    let effective = |side: Side, at: usize| {
        is_taken(side, at) || sides.twin(side, at).is_some_and(|twin| is_taken(side.other(), twin))
    };
    let of = [Side::Ours, Side::Theirs].map(|side| {
        let list = lists[side.index()].iter().enumerate();
        list.filter(|(at, _)| effective(side, *at)).map(|(_, change)| change).collect::<Vec<_>>()
    });
    let once = |(at, _): &(usize, &'a Change)| {
        sides.twin(Side::Theirs, *at).is_none() && effective(Side::Theirs, *at)
    };
    let rest = lists[1].iter().enumerate().filter(once).map(|(_, change)| change);
    let all = of[0].iter().copied().chain(rest).collect();
    build::Taken { of, all }
}

fn left_out(lists: [&[Change]; 2], sides: &Sides<'_>, left: &Left) -> Vec<LeftOut> {
    let mut all = Vec::new();
    for side in [Side::Ours, Side::Theirs] {
        for (at, change) in lists[side.index()].iter().enumerate() {
            let alike = sides.twin(side, at).is_some_and(|twin| left.is_taken(side.other(), twin));
            if !left.is_taken(side, at) && !alike {
                all.push(LeftOut { side, edit: change.edit.clone() });
            }
        }
    }
    all
}

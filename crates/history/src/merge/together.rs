//! What is right on each side and wrong together: which changes go for the side that a resolution takes there.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_ir::{Place, Program, Ref, RefKind};

use super::change::Change;
use super::settle::{Left, Sides};
use super::{Finding, Resolution};
use crate::footprint::{Part, Touch};

/// How far around the findings of resolutions changes have been left.
#[derive(Default)]
pub(super) struct Yielding(BTreeMap<Ref, Reach>);

/// The modules, types, functions and pieces of storage whose changes go for a finding.
struct Reach {
    items: BTreeSet<Ref>,
    /// Whether those go, too, that another resolution has taken.
    decided: bool,
}

impl Yielding {
    /// Leaves changes of the side that is not taken, those next to a finding first: in the item that has it, then in what
    /// this uses, and so on; then storage. When none of that side is near, the side that is taken stands alone. So the finding
    /// ends if this is said often enough: that side does not have it. Gives whether anything is another way than before.
    pub(super) fn leave(
        &mut self,
        sides: &Sides<'_>,
        merged: &Program,
        resolution: Resolution,
        found: &[Finding],
        left: &mut Left,
    ) -> bool {
        let Resolution { of, take } = resolution;
        let (lost, of_finding) = (take.other(), found.iter().filter(|one| one.of == of));
        let programs = [merged, sides.program(take)];
        let reach = self.0.entry(of).or_insert_with(|| Reach {
            items: programs.iter().filter_map(|program| item(program, of)).collect(),
            decided: false,
        });
        loop {
            let near: Vec<usize> = sides
                .alone(lost, left)
                .filter(|(at, change)| {
                    let decides = reach.decided || !left.is_kept(lost, *at);
                    decides && reach.items.contains(&changed_item(change)) && !is_prose(change)
                })
                .map(|(at, _)| at)
                .collect();
            if !near.is_empty() {
                left.leave(sides, near.into_iter().map(|at| (lost, at)));
                return true;
            }
            if !reach.decided {
                reach.decided = true;
                continue;
            }
            let around = reach.items.iter().flat_map(|item| programs.map(|program| (program, *item)));
            let mut next: BTreeSet<Ref> = around.flat_map(|(program, item)| used(program, item)).collect();
            let beside = of_finding.clone().filter_map(|one| one.beside);
            next.extend(
                beside.flat_map(|of| programs.into_iter().filter_map(move |program| item(program, of))),
            );
            if next.is_subset(&reach.items) {
                // A function needs the memory without a word of which it is.
                let storage = sides.alone(lost, left).map(|(_, change)| changed_item(change));
                next = storage.filter(|item| item.kind == RefKind::Variable).collect();
            }
            if next.is_subset(&reach.items) {
                return left.take_all(take);
            }
            reach.items.append(&mut next);
            reach.decided = false;
        }
    }
}

/// The module, type, function or piece of storage that an entity is part of.
fn item(program: &Program, of: Ref) -> Option<Ref> {
    Some(match program.place(of)? {
        Place::Module(module) => module.into(),
        Place::Type(ty) | Place::Member(ty, _) => ty.into(),
        Place::Storage(storage) => storage.into(),
        Place::Function(function)
        | Place::Region(function, _)
        | Place::Variable(function, _)
        | Place::Contract(function, _)
        | Place::Node(function, _) => function.into(),
    })
}

/// Tells whether a change is of what is written about something: nothing is wrong because of that.
fn is_prose(change: &Change) -> bool {
    let prose = |touch: &Touch| matches!(touch, Touch::Part(_, Part::Doc | Part::Trailer));
    !change.print.writes.is_empty() && change.print.writes.iter().all(prose)
}

fn changed_item(change: &Change) -> Ref {
    change.edit.function().map_or_else(|| change.edit.subject(), Ref::from)
}

/// What an item mentions, and the module around it.
fn used(program: &Program, item: Ref) -> BTreeSet<Ref> {
    let around = match program.place(item) {
        Some(Place::Module(module)) => program.module(module).and_then(|record| record.parent),
        Some(Place::Type(ty)) => program.type_def(ty).map(|def| def.module),
        Some(Place::Storage(storage)) => program.storage(storage).map(|record| record.module),
        Some(Place::Function(function)) => program.function(function).map(|found| found.head().module),
        Some(
            Place::Member(..)
            | Place::Region(..)
            | Place::Variable(..)
            | Place::Contract(..)
            | Place::Node(..),
        )
        | None => None,
    };
    program.uses_of(item).chain(around.map(Ref::from)).collect()
}

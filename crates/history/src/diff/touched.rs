//! What edits make of the entities that they change, each once.

use std::collections::BTreeMap;

use lmlang_ir::{FuncRef, Program, Ref};

use super::body::parts;
use super::{ChangeKind, EntityChange};
use crate::edit::Edit;

/// Whether an entity is there before some edits, and after them.
#[derive(Clone, Copy, Default)]
struct Presence {
    before: bool,
    after: bool,
}

/// Where entities are, by the function that they are in: one can go from a function into another.
#[derive(Default)]
struct Presences(BTreeMap<Option<FuncRef>, BTreeMap<Ref, Presence>>);

impl Presences {
    /// Notes whether an entity is there after an edit, and before all if none was about it so far.
    fn note(&mut self, within: Option<FuncRef>, of: Ref, before: bool, after: bool) {
        let known = self.0.entry(within).or_default().entry(of).or_insert(Presence { before, after });
        known.after = after;
    }

    fn take(&mut self, edit: &Edit, before: &Program) {
        let within = edit.function();
        if let Edit::AddFunction { content, .. } = edit {
            parts(content).for_each(|part| self.note(within, part, false, true));
        }
        if let Edit::RemoveFunction { function, .. } = edit {
            let gone = before.function(*function).into_iter();
            gone.flat_map(|gone| parts(gone)).for_each(|part| self.note(within, part, true, false));
            // What these edits have put into it goes with it.
            let inside = self.0.get_mut(&within).into_iter().flatten();
            inside.for_each(|(_, presence)| presence.after = false);
        }
        self.note(within, edit.subject(), !edit.adds(), !edit.removes());
    }
}

/// What edits make of the entities that they change, each once, by number: it is new, gone, or in both and not the same.
///
/// A function comes and goes with all that is in it, regions included. What the edits make and take away again is left
/// out. `before` is what they are applied to; nothing is looked at there but functions that are removed.
pub fn touched(edits: &[Edit], before: &Program) -> Vec<EntityChange> {
    let mut presences = Presences::default();
    edits.iter().for_each(|edit| presences.take(edit, before));
    let mut all: BTreeMap<u64, (Ref, Presence)> = BTreeMap::new();
    for (of, presence) in presences.0.into_values().flatten() {
        let (_, known) = all.entry(of.number).or_insert((of, Presence::default()));
        known.before |= presence.before;
        known.after |= presence.after;
    }
    let changes = all.into_values().filter_map(|(of, presence)| {
        let change = match presence {
            Presence { before: false, after: true } => ChangeKind::Added,
            Presence { before: true, after: false } => ChangeKind::Removed,
            Presence { before: true, after: true } => ChangeKind::Modified,
            Presence { before: false, after: false } => return None,
        };
        Some(EntityChange { of, change })
    });
    changes.collect()
}

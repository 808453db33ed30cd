//! Who made an entity, and who changed it last.

use lmlang_ir::Ref;
use lmlang_ir::hash::{Content, Hasher};
use lmlang_ir::trie::Trie;

use crate::diff::parts;
use crate::edit::Edit;
use crate::log::{Entry, RevisionKind};

/// In which revision each entity was made and changed last. A clone copies one pointer.
///
/// Only what is younger than the program or than the function around it, or came back with that, has an entry of its own.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    touched: Trie<Touched>,
}

/// Revisions by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The revision that made it; or [`CAME_BACK`].
    pub created: u64,
    /// The revision that changed it last.
    pub modified: u64,
}

/// In place of the revision that made an entity: it came with the function around it, which had been gone, from another line, where
/// it may be younger than the function. Only the log tells who made it.
pub const CAME_BACK: u64 = u64::MAX;

impl Content for Touched {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher.number(self.created).number(self.modified);
    }
}

impl Provenance {
    /// What each number was touched by, as it is kept.
    pub fn map(&self) -> &Trie<Touched> {
        &self.touched
    }

    /// Of entities by number, as [`Provenance::map`] showed it.
    pub fn from_map(touched: Trie<Touched>) -> Provenance {
        Provenance { touched }
    }

    /// Takes the next entry of the log in.
    pub fn follow(&mut self, entry: &Entry) {
        if entry.parents.is_empty() {
            return;
        }
        for edit in &entry.edits {
            let of = edit.subject();
            let known = self.touched.get(of.number).copied();
            let new = if edit.adds() { entry.number } else { 0 };
            self.modify(of, new, entry.number);
            if let Edit::Within { function, .. } = edit {
                self.modify((*function).into(), 0, entry.number);
            }
            if let Edit::AddFunction { content, .. } = edit {
                // An undo, a redo and a revert bring back what was there.
                let new = match matches!(entry.kind, RevisionKind::Merge | RevisionKind::Restore) {
                    true => CAME_BACK,
                    false => 0,
                };
                for part in parts(content) {
                    // What is new with its function is known by that.
                    if known.is_some() || self.touched.get(part.number).is_some() {
                        self.modify(part, new, entry.number);
                    }
                }
            }
        }
    }

    /// Notes who changed an entity last; `new` is who made it, if nobody is known to have.
    fn modify(&mut self, of: Ref, new: u64, number: u64) {
        let created = self.touched.get(of.number).map_or(new, |known| known.created);
        self.touched.insert(of.number, Touched { created, modified: number });
    }

    /// The revisions that made and last changed an entity, given what it is part of; `first` is the program's own.
    pub fn of(&self, entity: Ref, owner: Option<Ref>, first: u64) -> Touched {
        let own = self.touched.get(entity.number).copied();
        let around =
            owner.and_then(|owner| self.touched.get(owner.number)).map_or(first, |touched| touched.created);
        let inherited = if around == 0 { first } else { around };
        match own {
            None => Touched { created: inherited, modified: inherited },
            Some(Touched { created: 0, modified }) => Touched { created: inherited, modified },
            Some(touched) => touched,
        }
    }
}

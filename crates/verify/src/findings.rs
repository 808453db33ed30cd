//! All findings about a program at one revision: a persistent value, kept per entity.

use std::sync::Arc;

use imbl::OrdSet;
use lmlang_ir::trie::Trie;
use lmlang_ir::{FuncRef, FunctionHead, Name, NodeRef, Storage, StorageKind, VarRef};

use crate::code::Class;
use crate::diagnostic::{Diagnostic, Identity};

/// All findings about a program at one revision. A clone copies a few pointers.
///
/// They are kept per entity, those of one function together. Two of them are compared at the cost of what differs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// By number of the function; zero holds those of modules, types and storage.
    groups: Trie<Arc<Group>>,
    tally: Tally,
    pub(crate) index: Index,
}

/// How many findings of which class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Of class [`Class::Error`].
    pub errors: u64,
    /// Of class [`Class::Stale`].
    pub stale: u64,
    /// Of class [`Class::Incomplete`].
    pub incomplete: u64,
    /// Of class [`Class::Warning`].
    pub warnings: u64,
}

impl Tally {
    /// Tells whether there is neither an error nor anything that a run cannot pass.
    pub fn is_complete(&self) -> bool {
        self.errors == 0 && self.stale == 0 && self.incomplete == 0
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.errors + self.stale + self.incomplete + self.warnings
    }

    fn slot(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Error => &mut self.errors,
            Class::Stale => &mut self.stale,
            Class::Incomplete => &mut self.incomplete,
            Class::Warning => &mut self.warnings,
        }
    }

    fn add(&mut self, other: Tally) {
        self.errors += other.errors;
        self.stale += other.stale;
        self.incomplete += other.incomplete;
        self.warnings += other.warnings;
    }

    fn subtract(&mut self, other: Tally) {
        self.errors -= other.errors;
        self.stale -= other.stale;
        self.incomplete -= other.incomplete;
        self.warnings -= other.warnings;
    }

    fn of(found: &[Diagnostic]) -> Tally {
        let mut tally = Tally::default();
        found.iter().for_each(|one| *tally.slot(one.class()) += 1);
        tally
    }
}

/// The findings inside of one function, or of the entities outside of functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    entities: Trie<Arc<[Diagnostic]>>,
    tally: Tally,
    /// A node because of which a function that is declared `reads` is not `pure`. Derived, any will do.
    pub(crate) reader: Option<NodeRef>,
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        self.tally == other.tally && self.entities == other.entities
    }
}

impl Eq for Group {}

impl Eq for Findings {}

/// What the rules look up and the program does not index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Export names with the number of what is exported.
    pub(crate) exports: OrdSet<(Name, u64)>,
    /// Numbers of the functions that run at the start.
    pub(crate) starts: OrdSet<u64>,
    /// Numbers of the memories.
    pub(crate) memories: OrdSet<u64>,
}

impl Index {
    /// The lowest number below the given one that exports something under a name.
    pub(crate) fn exported_before(&self, name: &Name, number: u64) -> Option<u64> {
        self.exports.range((Arc::clone(name), 0)..(Arc::clone(name), number)).next().map(|(_, first)| *first)
    }

    /// The numbers of what is exported under a name; more than one where names clash.
    pub(crate) fn exported(&self, name: &str) -> impl Iterator<Item = u64> + '_ {
        let name: Name = name.into();
        self.exports.range((Arc::clone(&name), 0)..=(name, u64::MAX)).map(|(_, number)| *number)
    }

    /// Notes what the head of a function exports and whether it runs at the start.
    pub(crate) fn note_function(&mut self, of: FuncRef, head: &FunctionHead) {
        for export in &head.exports {
            self.exports.insert((Arc::clone(export), of.number()));
        }
        if head.start {
            self.starts.insert(of.number());
        }
    }

    /// Forgets what [`Index::note_function`] noted.
    pub(crate) fn forget_function(&mut self, of: FuncRef, head: &FunctionHead) {
        for export in &head.exports {
            self.exports.remove(&(Arc::clone(export), of.number()));
        }
        self.starts.remove(&of.number());
    }

    /// Notes what storage exports and whether it is a memory.
    pub(crate) fn note_storage(&mut self, of: VarRef, storage: &Storage) {
        for export in &storage.exports {
            self.exports.insert((Arc::clone(export), of.number()));
        }
        if matches!(storage.kind, StorageKind::Memory { .. }) {
            self.memories.insert(of.number());
        }
    }

    /// Forgets what [`Index::note_storage`] noted.
    pub(crate) fn forget_storage(&mut self, of: VarRef, storage: &Storage) {
        for export in &storage.exports {
            self.exports.remove(&(Arc::clone(export), of.number()));
        }
        self.memories.remove(&of.number());
    }
}

/// The place of a finding in the order of all: where a listing goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Number of the function; zero outside of functions.
    pub owner: u64,
    /// Number of the entity.
    pub entity: u64,
    /// Position among the findings of the entity.
    pub position: u32,
}

/// What two revisions find differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Findings of the newer one alone.
    pub added: Vec<Diagnostic>,
    /// Findings of the older one alone.
    pub resolved: Vec<Diagnostic>,
}

impl Group {
    pub(crate) fn of(&self, entity: u64) -> &[Diagnostic] {
        self.entities.get(entity).map_or(&[], |found| found)
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.entities.iter().flat_map(|(_, found)| found.iter())
    }

    /// Replaces what is found about an entity; `found` is in order of rank.
    pub(crate) fn set(&mut self, entity: u64, found: &[Diagnostic]) {
        let before = self.of(entity);
        if before == found {
            return;
        }
        self.tally.subtract(Tally::of(before));
        self.tally.add(Tally::of(found));
        if found.is_empty() {
            self.entities.remove(entity);
        } else {
            self.entities.insert(entity, found.into());
        }
    }

    /// The findings of a whole group, in any order; of those with one identity the first stays.
    pub(crate) fn new(found: Vec<Diagnostic>, reader: Option<NodeRef>) -> Group {
        let mut group = Group { reader, ..Group::default() };
        let found = in_order(found);
        for of_one in found.chunk_by(|a, b| a.at.entity.number == b.at.entity.number) {
            group.set(of_one[0].at.entity.number, of_one);
        }
        group
    }

    fn is_empty(&self) -> bool {
        self.tally.total() == 0 && self.reader.is_none()
    }
}

/// Sorts findings by rank and drops those that say the same twice.
pub(crate) fn in_order(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by(Diagnostic::rank);
    found.dedup_by(|later, earlier| later.identity() == earlier.identity());
    found
}

impl Findings {
    /// How many findings there are of which class.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How many findings there are inside of a function.
    pub fn tally_of(&self, function: FuncRef) -> Tally {
        self.group(function.number()).map_or_else(Tally::default, Group::tally)
    }

    /// How many findings there are of modules, types and storage.
    pub fn tally_outside(&self) -> Tally {
        self.group(0).map_or_else(Tally::default, Group::tally)
    }

    /// All findings in order, those of modules, types and storage first.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &Diagnostic)> {
        self.starting_at(Key { owner: 0, entity: 0, position: 0 })
    }

    /// The findings after a place in the order: how listings page.
    pub fn iter_after(&self, last: Key) -> impl Iterator<Item = (Key, &Diagnostic)> {
        self.starting_at(Key { position: last.position.saturating_add(1), ..last })
    }

    fn starting_at(&self, from: Key) -> impl Iterator<Item = (Key, &Diagnostic)> {
        self.groups.iter_from(from.owner).flat_map(move |(owner, group)| {
            let start = if owner == from.owner { from.entity } else { 0 };
            group.entities.iter_from(start).flat_map(move |(entity, found)| {
                let resumes = owner == from.owner && entity == from.entity;
                let skipped = if resumes { from.position as usize } else { 0 };
                found
                    .iter()
                    .enumerate()
                    .skip(skipped)
                    .map(move |(position, one)| (Key { owner, entity, position: position as u32 }, one))
            })
        })
    }

    /// The findings inside of a function, its head included.
    pub fn of_function(&self, function: FuncRef) -> impl Iterator<Item = &Diagnostic> {
        self.group(function.number()).into_iter().flat_map(Group::iter)
    }

    /// The findings of modules, types and storage.
    pub fn outside(&self) -> impl Iterator<Item = &Diagnostic> {
        self.group(0).into_iter().flat_map(Group::iter)
    }

    /// The findings that hang on one entity, named by its number and the function that it is part of.
    pub fn of_entity(&self, function: Option<FuncRef>, number: u64) -> &[Diagnostic] {
        self.group(function.map_or(0, FuncRef::number)).map_or(&[], |group| group.of(number))
    }

    /// What this revision finds and an older one does not, and the reverse. Costs what differs.
    pub fn since(&self, older: &Findings) -> Delta {
        let mut delta = Delta::default();
        for (_, before, after) in older.groups.changes(&self.groups) {
            let none = Trie::new();
            let entities = |group: Option<&Arc<Group>>| group.map(|group| group.entities.clone());
            let (before, after) = (entities(before), entities(after));
            let (before, after) = (before.as_ref().unwrap_or(&none), after.as_ref().unwrap_or(&none));
            for (_, old, new) in before.changes(after) {
                let (old, new) = (old.map_or(&[][..], |found| found), new.map_or(&[][..], |found| found));
                let absent = |one: &Diagnostic, from: &[Diagnostic]| {
                    !from.iter().any(|other| other.identity() == one.identity())
                };
                delta.added.extend(new.iter().filter(|one| absent(one, old)).cloned());
                delta.resolved.extend(old.iter().filter(|one| absent(one, new)).cloned());
            }
        }
        delta
    }

    /// The identities of all findings, for comparing.
    pub fn identities(&self) -> impl Iterator<Item = Identity> {
        self.iter().map(|(_, one)| one.identity())
    }

    /// No findings yet, about a program that is indexed.
    pub(crate) fn starting_with(index: Index) -> Findings {
        Findings { index, ..Findings::default() }
    }

    pub(crate) fn group(&self, owner: u64) -> Option<&Group> {
        self.groups.get(owner).map(AsRef::as_ref)
    }

    pub(crate) fn set_group(&mut self, owner: u64, group: Group) {
        if let Some(before) = self.groups.get(owner) {
            self.tally.subtract(before.tally);
        }
        self.tally.add(group.tally);
        if group.is_empty() {
            self.groups.remove(owner);
        } else {
            self.groups.insert(owner, Arc::new(group));
        }
    }
}

//! The structural difference of two revisions, as edits that lead from one to the other.
//!
//! Both sides are compared by their tries, pointers and hashes first, so that the cost follows what differs. The edits are
//! in an order in which each of them holds the structure together: what is new, in lexical order, with holes where a
//! source does not exist yet; then what survives and changes; then what goes, from the inside out.

mod body;
mod places;
#[cfg(test)]
mod tests;
mod text;
mod touched;

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_ir::{FuncRef, Function, FunctionHead, ModuleRef, Place, Program, Ref, TypeDef, TypeRef, VarRef};

use crate::edit::{Edit, FunctionEdit};
pub(crate) use body::parts;
use body::{BodyChanges, BodyDiff};

pub use text::text_difference;
pub use touched::touched;

/// How two revisions differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// The edits that turn the first into the second.
    pub edits: Vec<Edit>,
    /// The functions in which something differs, by ref.
    pub functions: Vec<FunctionChange>,
    /// The modules, types and storage that differ, by ref within each kind.
    pub others: Vec<EntityChange>,
}

/// What differs in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionChange {
    /// The function.
    pub function: FuncRef,
    /// What became of it.
    pub change: ChangeKind,
    /// Nodes, variables and contracts that are new; the function itself too, if it is.
    pub added: Vec<Ref>,
    /// Nodes, variables and contracts that are gone; the function itself too, if it is.
    pub removed: Vec<Ref>,
    /// What is in both and not the same: nodes (moved ones too), variables, contracts, records of regions, and the
    /// function itself if its head differs. Regions come and go with their owners and are not listed then.
    pub modified: Vec<Ref>,
}

/// An entity that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityChange {
    /// The entity.
    pub of: Ref,
    /// What became of it.
    pub change: ChangeKind,
}

/// What became of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its content differs.
    Modified,
    /// Only its name differs.
    Renamed,
    /// It stands in another module; nothing else differs but perhaps its name.
    Moved,
}

/// How much differs, by entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// Entities that are new.
    pub added: u64,
    /// Entities that are gone.
    pub removed: u64,
    /// Entities in both that are not the same.
    pub modified: u64,
    /// Functions in which something differs.
    pub functions: u64,
}

impl Diff {
    /// How much differs: the lengths of the lists of refs.
    pub fn counts(&self) -> ChangeCounts {
        let mut counts = ChangeCounts { functions: self.functions.len() as u64, ..ChangeCounts::default() };
        for function in &self.functions {
            counts.added += function.added.len() as u64;
            counts.removed += function.removed.len() as u64;
            counts.modified += function.modified.len() as u64;
        }
        for other in &self.others {
            match other.change {
                ChangeKind::Added => counts.added += 1,
                ChangeKind::Removed => counts.removed += 1,
                ChangeKind::Modified | ChangeKind::Renamed | ChangeKind::Moved => counts.modified += 1,
            }
        }
        counts
    }
}

/// The difference of two revisions of one program: a ref names the same thing in both.
///
/// `apply_all(a, &diff(a, b).edits)` makes `a` equal to `b`, refs and order included.
pub fn diff(a: &Program, b: &Program) -> Diff {
    let changed = changed_functions(a, b);
    let clashes = Clashes::find(a, b, &changed);
    let mut parts = Parts::default();
    clashes.remove(a, &mut parts.edits);
    modules(a, b, &mut parts);
    types(a, b, &clashes, &mut parts);
    storage(a, b, &clashes, &mut parts);
    functions(changed, &clashes, &mut parts);
    let Parts { mut edits, inner, removals, functions, others } = parts;
    edits.extend(inner);
    edits.extend(removals.into_iter().rev());
    Diff { edits, functions, others }
}

/// A function that differs.
type Changed<'a> = (FuncRef, FunctionSides<'a>);

/// What there is of a function on the two sides.
enum FunctionSides<'a> {
    Added(&'a Arc<Function>),
    Both { before: &'a Arc<Function>, after: &'a Arc<Function>, body: BodyChanges<'a> },
    Removed(&'a Arc<Function>),
}

fn changed_functions<'a>(a: &'a Program, b: &'a Program) -> Vec<Changed<'a>> {
    let sides = |before: Option<&'a Arc<Function>>, after: Option<&'a Arc<Function>>| match (before, after) {
        (None, Some(after)) => Some(FunctionSides::Added(after)),
        (Some(before), Some(after)) => {
            let body = BodyChanges::between(before.body(), after.body());
            Some(FunctionSides::Both { before, after, body })
        }
        (Some(before), None) => Some(FunctionSides::Removed(before)),
        (None, None) => None,
    };
    let changes = a.changed_functions(b).into_iter();
    changes
        .filter_map(|(number, before, after)| Some((FuncRef::new(number)?, sides(before, after)?)))
        .collect()
}

/// How much two revisions differ, without a word on how.
pub fn counts(a: &Program, b: &Program) -> ChangeCounts {
    diff(a, b).counts()
}

/// What is collected: first what is new, then what changes inside functions, at the end what goes, last things first.
#[derive(Default)]
struct Parts {
    edits: Vec<Edit>,
    inner: Vec<Edit>,
    removals: Vec<Edit>,
    functions: Vec<FunctionChange>,
    others: Vec<EntityChange>,
}

/// Entities of the first program that have to go before anything else, because the second one knows a number in them as
/// something else, or elsewhere. Rare: a node that went from one function into another with its ref.
#[derive(Default)]
struct Clashes {
    types: BTreeSet<TypeRef>,
    functions: BTreeSet<FuncRef>,
    storage: BTreeSet<VarRef>,
}

impl Clashes {
    fn find(a: &Program, b: &Program, functions: &[Changed<'_>]) -> Clashes {
        let mut clashes = Clashes::default();
        for (function, changed) in functions {
            match changed {
                FunctionSides::Added(after) => {
                    clashes.check(a, function.number());
                    body::parts(after).for_each(|part| clashes.check(a, part.number));
                }
                FunctionSides::Both { body, .. } => {
                    body.new_parts().for_each(|part| clashes.check(a, part));
                    if body.rehung() {
                        clashes.functions.insert(*function);
                    }
                }
                FunctionSides::Removed(_) => {}
            }
        }
        for (number, before, after) in a.changed_types(b) {
            let of = |def: Option<&Arc<TypeDef>>| def.map_or_else(BTreeSet::new, |def| member_numbers(def));
            of(after).difference(&of(before)).for_each(|member| clashes.check(a, *member));
            if before.is_none() {
                clashes.check(a, number);
            }
        }
        for (number, before, _) in a.changed_storage(b) {
            if before.is_none() {
                clashes.check(a, number);
            }
        }
        clashes
    }

    fn check(&mut self, a: &Program, number: u64) {
        match a.ref_of(number).and_then(|of| a.place(of)) {
            None | Some(Place::Module(_)) => {}
            Some(Place::Type(of) | Place::Member(of, _)) => {
                self.types.insert(of);
            }
            Some(Place::Storage(of)) => {
                self.storage.insert(of);
            }
            Some(
                Place::Function(of)
                | Place::Region(of, _)
                | Place::Variable(of, _)
                | Place::Contract(of, _)
                | Place::Node(of, _),
            ) => {
                self.functions.insert(of);
            }
        }
    }

    fn remove(&self, a: &Program, edits: &mut Vec<Edit>) {
        for function in &self.functions {
            let content = a.function(*function).map(|found| found.content_hash());
            edits.extend(content.map(|content| Edit::RemoveFunction { function: *function, content }));
        }
        edits.extend(self.types.iter().map(|ty| Edit::RemoveType { ty: *ty }));
        edits.extend(self.storage.iter().map(|storage| Edit::RemoveStorage { storage: *storage }));
    }
}

fn member_numbers(def: &TypeDef) -> BTreeSet<u64> {
    let fields = def.fields().iter().map(|field| field.member.number());
    fields.chain(def.variants().iter().map(|variant| variant.member.number())).collect()
}

/// How deep a module stands; a chain that does not end counts as deep as it was followed.
fn depth(program: &Program, module: ModuleRef) -> usize {
    let parent = |of: &ModuleRef| program.module(*of).and_then(|module| module.parent);
    std::iter::successors(Some(module), parent).take(1 << 10).count()
}

fn modules(a: &Program, b: &Program, parts: &mut Parts) {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for (number, before, after) in a.changed_modules(b) {
        let Some(module) = ModuleRef::new(number) else { continue };
        let change = match (before, after) {
            (None, Some(content)) => {
                added.push((depth(b, module), Edit::AddModule { module, content: content.clone() }));
                ChangeKind::Added
            }
            (Some(before), Some(content)) => {
                parts.inner.push(Edit::SetModule { module, content: content.clone() });
                let mut moved = before.clone();
                moved.parent = content.parent;
                let same_parent = moved.parent == before.parent;
                moved.name = content.name.clone();
                relabelled(moved == *content, same_parent)
            }
            (_, None) => {
                removed.push((depth(a, module), Edit::RemoveModule { module }));
                ChangeKind::Removed
            }
        };
        parts.others.push(EntityChange { of: module.into(), change });
    }
    added.sort_by_key(|(depth, _)| *depth);
    removed.sort_by_key(|(depth, _)| *depth);
    parts.edits.extend(added.into_iter().map(|(_, edit)| edit));
    parts.removals.extend(removed.into_iter().map(|(_, edit)| edit));
}

/// What to call a change, given whether name and place are all of it.
fn relabelled(only_labels: bool, same_place: bool) -> ChangeKind {
    match (only_labels, same_place) {
        (true, true) => ChangeKind::Renamed,
        (true, false) => ChangeKind::Moved,
        (false, _) => ChangeKind::Modified,
    }
}

fn types(a: &Program, b: &Program, clashes: &Clashes, parts: &mut Parts) {
    for (number, before, after) in a.changed_types(b) {
        let Some(ty) = TypeRef::new(number) else { continue };
        let gone = clashes.types.contains(&ty);
        let change = match (before, after) {
            (None, Some(content)) => {
                parts.edits.push(Edit::AddType { ty, content: Arc::clone(content) });
                ChangeKind::Added
            }
            (Some(before), Some(content)) => {
                let content = Arc::clone(content);
                let mut moved = before.as_ref().clone();
                moved.module = content.module;
                moved.name = content.name.clone();
                let change = relabelled(moved == *content, before.module == content.module);
                parts.edits.push(if gone {
                    Edit::AddType { ty, content }
                } else {
                    Edit::SetType { ty, content }
                });
                change
            }
            (_, None) => {
                if !gone {
                    parts.removals.push(Edit::RemoveType { ty });
                }
                ChangeKind::Removed
            }
        };
        parts.others.push(EntityChange { of: ty.into(), change });
    }
}

fn storage(a: &Program, b: &Program, clashes: &Clashes, parts: &mut Parts) {
    for (number, before, after) in a.changed_storage(b) {
        let Some(storage) = VarRef::new(number) else { continue };
        let gone = clashes.storage.contains(&storage);
        let change = match (before, after) {
            (None, Some(content)) => {
                parts.edits.push(Edit::AddStorage { storage, content: Arc::new(content.clone()) });
                ChangeKind::Added
            }
            (Some(before), Some(after)) => {
                let content = Arc::new(after.clone());
                parts.edits.push(if gone {
                    Edit::AddStorage { storage, content }
                } else {
                    Edit::SetStorage { storage, content }
                });
                let mut moved = before.clone();
                moved.module = after.module;
                moved.name = after.name.clone();
                relabelled(moved == *after, before.module == after.module)
            }
            (_, None) => {
                if !gone {
                    parts.removals.push(Edit::RemoveStorage { storage });
                }
                ChangeKind::Removed
            }
        };
        parts.others.push(EntityChange { of: storage.into(), change });
    }
}

fn functions(changed: Vec<Changed<'_>>, clashes: &Clashes, parts: &mut Parts) {
    for (function, sides) in changed {
        let gone = clashes.functions.contains(&function);
        let whole =
            |content: &Function| std::iter::once(function.into()).chain(body::listed(content)).collect();
        parts.functions.push(match sides {
            FunctionSides::Added(content) => {
                parts.edits.push(Edit::AddFunction { function, content: Arc::clone(content) });
                let added = whole(content);
                FunctionChange {
                    function,
                    change: ChangeKind::Added,
                    added,
                    removed: vec![],
                    modified: vec![],
                }
            }
            FunctionSides::Both { before, after, body } => {
                let BodyDiff { edits, added, removed, mut modified } = body.diff();
                let head = before.head() != after.head();
                if head {
                    modified.insert(0, function.into());
                }
                let change = match edits.is_empty() {
                    true => head_change(before.head(), after.head()),
                    false => ChangeKind::Modified,
                };
                if gone {
                    parts.inner.push(Edit::AddFunction { function, content: Arc::clone(after) });
                } else {
                    let head = head.then(|| FunctionEdit::SetHead { head: Arc::new(after.head().clone()) });
                    parts.inner.extend(head.into_iter().chain(edits).map(|edit| edit.within(function)));
                }
                FunctionChange { function, change, added, removed, modified }
            }
            FunctionSides::Removed(before) => {
                if !gone {
                    parts.removals.push(Edit::RemoveFunction { function, content: before.content_hash() });
                }
                let removed = whole(before);
                FunctionChange {
                    function,
                    change: ChangeKind::Removed,
                    added: vec![],
                    removed,
                    modified: vec![],
                }
            }
        });
    }
}

fn head_change(before: &FunctionHead, after: &FunctionHead) -> ChangeKind {
    let mut moved = before.clone();
    moved.module = after.module;
    moved.name = after.name.clone();
    relabelled(moved == *after, before.module == after.module)
}

//! Reading the text of a whole module instead of the one that is there.
//!
//! An item of the text is the entity whose ref it gives, else the one of its kind that has its name, else one of its kind
//! that the text does not name and that is the same but for its name: a rename. Functions that are matched keep what
//! stayed in them as one that is replaced alone does. What the text does not have is removed, what no entity stands for is
//! new. Modules inside of the module have texts of their own and stay.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::entities::{Module, Shape, TypeDef};
use crate::function::Function;
use crate::hash::{Content, Hash, Hasher};
use crate::matching::{Comments, comments, fingerprint};
use crate::program::Program;
use crate::refs::{FuncRef, ModuleRef, Ref, RefAllocator, RefKind, TypeRef, VarRef};
use crate::storage::Storage;
use crate::text::api::{lower, parse_items};
use crate::text::dollar::Written;
use crate::text::edit::{check_ref, missing, parts, reuse};
use crate::text::error::{Mistake, TextError, code};
use crate::text::lower::Lowering;
use crate::text::lower_body::Reuse;
use crate::text::places::Places;
use crate::text::print::Detail;
use crate::text::settle::told;
use crate::text::syntax::{FunctionItem, Item, ModuleSyntax, Segment, StorageItem, Tree, TypeItem};
use crate::types::Type;

/// What the text of a module changed.
#[derive(Clone, Debug, Default)]
pub struct ReplacedModule {
    /// What is new, in the order of the text, each with its name.
    pub added: Vec<(crate::entities::Name, Ref)>,
    /// What the text does not have and the module had. Uses of it from elsewhere are left as they are.
    pub removed: Vec<Ref>,
    /// Where the entities of the text stand.
    pub places: Places,
}

/// The hash of a module: of its record, and of all types, storage and functions in it with their refs, modules inside of it
/// not included. Whoever replaces its text on a condition compares this.
pub fn module_hash(program: &Program, of: ModuleRef) -> Option<Hash> {
    let mut hasher = Hasher::new(b"module");
    program.module(of)?.hash_into(&mut hasher);
    let mut members: Vec<Ref> = items_of(program, of);
    members.sort_unstable_by_key(|member| member.number);
    for member in members {
        hasher.number(member.number);
        if let Ok(function) = FuncRef::try_from(member) {
            hasher.bytes(&program.function(function)?.content_hash().0);
        } else if let Ok(ty) = TypeRef::try_from(member) {
            program.type_def(ty)?.hash_into(&mut hasher);
        } else if let Ok(storage) = VarRef::try_from(member) {
            program.storage(storage)?.hash_into(&mut hasher);
        }
    }
    Some(hasher.finish())
}

/// The types, storage and functions of a module.
fn items_of(program: &Program, of: ModuleRef) -> Vec<Ref> {
    let members = program.members(Some(of)).map(|(_, member)| member);
    members.filter(|member| member.kind != RefKind::Module).collect()
}

/// Replaces all that stands in a module by its text, as it is printed. The module keeps its ref; its name and visibility
/// are those of the text's `module` line, if there is one.
///
/// `printed` is the detail that the text had before it was changed, if that is known: it decides whether a comment that the
/// text does not have is gone.
///
/// # Errors
///
/// All mistakes of the text at once.
pub fn replace_module<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    of: ModuleRef,
    text: impl Into<Written<'t>>,
    printed: Option<Detail>,
) -> Result<ReplacedModule, Vec<TextError>> {
    let text = text.into();
    let Some(record) = program.module(of).cloned() else { return Err(missing(of.into())) };
    let (tree, mut mistakes) = parse_items(text);
    let (header, items) = only_module(&tree, &mut mistakes);
    let mut renames = HashMap::new();
    loop {
        let mut old = Old::of(program, of);
        let mut known = old.known();
        known.insert(of.number(), RefKind::Module);
        let lowering = Lowering::new(program, refs, &tree, text.policy(known)).with_places();
        let (mut next, mut next_refs) = (program.clone(), refs.clone());
        let found = mistakes.clone();
        let (replaced, places) = lower(text, found, &mut next, &mut next_refs, lowering, |lowering| {
            if let Some(header) = header {
                lowering.replace_header(of, &record, header);
            }
            let matches = old.matches(&items, &renames, |of| lowering.given.contains_key(&of.number));
            let comments = told(&tree, &old.comments(&record), printed);
            lowering.keep_module_comments(of, &record, comments);
            let made = lowering.replace_items(program, of, &items, &matches, &mut old, comments);
            (made, old.left, std::mem::take(&mut lowering.made))
        })?;
        let (made, removed, added) = replaced;
        // An item that is the same as one that is gone is that one with another name; others may follow from it.
        let same = renamed(program, &next, &made, &removed);
        if same.is_empty() {
            (*program, *refs) = (next, next_refs);
            return Ok(ReplacedModule { added, removed, places });
        }
        renames.extend(same);
    }
}

/// The one module of a text, with its items.
fn only_module<'t>(tree: &'t Tree, mistakes: &mut Vec<Mistake>) -> (Option<&'t ModuleSyntax>, Vec<&'t Item>) {
    let mut header = None;
    for (index, (found, _)) in tree.modules.iter().enumerate() {
        let Some(found) = found else { continue };
        let before =
            tree.modules[..index].iter().any(|(header, items)| header.is_some() || !items.is_empty());
        if before {
            let message = "expected the text of one module: its `module` line comes first";
            let mistake = Mistake::new(code::SYNTAX, found.path.at(), message);
            mistakes.push(mistake.expected("the items of the module"));
        }
        header = header.or(Some(found));
    }
    (header, tree.modules.iter().flat_map(|(_, items)| items).collect())
}

fn label_of(item: &Item) -> &Segment {
    match item {
        Item::Type(TypeItem { label, .. })
        | Item::Storage(StorageItem { label, .. })
        | Item::Function(FunctionItem { label, .. }) => label,
    }
}

fn kind_of(item: &Item) -> RefKind {
    match item {
        Item::Type(_) => RefKind::Type,
        Item::Storage(_) => RefKind::Variable,
        Item::Function(_) => RefKind::Function,
    }
}

/// What the module had.
struct Old {
    functions: HashMap<FuncRef, Arc<Function>>,
    types: HashMap<TypeRef, Arc<TypeDef>>,
    storage: HashMap<VarRef, Storage>,
    /// What no item of the text stands for, by ref.
    left: Vec<Ref>,
}

impl Old {
    fn of(program: &Program, module: ModuleRef) -> Old {
        let mut left = items_of(program, module);
        left.sort_unstable();
        let functions = left.iter().filter_map(|of| FuncRef::try_from(*of).ok());
        let types = left.iter().filter_map(|of| TypeRef::try_from(*of).ok());
        let storage = left.iter().filter_map(|of| VarRef::try_from(*of).ok());
        Old {
            functions: functions.filter_map(|of| Some((of, Arc::clone(program.function(of)?)))).collect(),
            types: types.filter_map(|of| Some((of, Arc::clone(program.type_def(of)?)))).collect(),
            storage: storage.filter_map(|of| Some((of, program.storage(of)?.clone()))).collect(),
            left,
        }
    }

    /// The refs that the text may give.
    fn known(&self) -> HashMap<u64, RefKind> {
        let mut known: HashMap<u64, RefKind> = self.left.iter().map(|of| (of.number, of.kind)).collect();
        for function in self.functions.values() {
            known.extend(parts(function).map(|part| (part.number, part.kind)));
        }
        for def in self.types.values() {
            let members = def.fields().iter().map(|field| field.member);
            let members = members.chain(def.variants().iter().map(|variant| variant.member));
            known.extend(members.map(|member| (member.number(), RefKind::Member)));
        }
        known
    }

    fn name(&self, of: Ref) -> Option<&str> {
        match of.kind {
            RefKind::Function => Some(&self.functions.get(&FuncRef::of_key(of.number))?.head().name),
            RefKind::Type => Some(&self.types.get(&TypeRef::of_key(of.number))?.name),
            RefKind::Variable => Some(&self.storage.get(&VarRef::of_key(of.number))?.name),
            RefKind::Module | RefKind::Member | RefKind::Region | RefKind::Contract | RefKind::Node => None,
        }
    }

    /// Everything that is written about the module and what is in it.
    fn comments<'o>(&'o self, record: &'o Module) -> HashSet<&'o str> {
        let mut all: HashSet<&str> = HashSet::new();
        all.extend(record.doc.iter().chain(&record.trailer).map(|doc| &**doc));
        self.functions.values().for_each(|function| all.extend(comments(function)));
        for def in self.types.values() {
            let fields = def.fields().iter().filter_map(|field| field.doc.as_deref());
            let variants = def.variants().iter().filter_map(|variant| variant.doc.as_deref());
            all.extend(def.doc.as_deref().into_iter().chain(fields).chain(variants));
        }
        all.extend(self.storage.values().filter_map(|storage| storage.doc.as_deref()));
        all
    }

    /// The entity that each item stands for: by the ref that it gives, by kind and name, as a rename.
    fn matches(
        &mut self,
        items: &[&Item],
        renames: &HashMap<usize, Ref>,
        is_given: impl Fn(Ref) -> bool,
    ) -> Vec<Option<Ref>> {
        let mut taken: HashSet<Ref> = HashSet::new();
        let mut matches: Vec<Option<Ref>> = items
            .iter()
            .map(|item| {
                label_of(item).tag.map(|tag| tag.of).filter(|of| self.left.contains(of) && taken.insert(*of))
            })
            .collect();
        let mut by_name: HashMap<(RefKind, &str), Vec<Ref>> = HashMap::new();
        for of in self.left.iter().rev().filter(|of| !is_given(**of)) {
            if let Some(name) = self.name(*of) {
                by_name.entry((of.kind, name)).or_default().push(*of);
            }
        }
        for (index, item) in items.iter().enumerate() {
            if matches[index].is_some() || label_of(item).tag.is_some() {
                continue;
            }
            let same = by_name.get_mut(&(kind_of(item), &*label_of(item).name)).and_then(Vec::pop);
            matches[index] = same.or_else(|| renames.get(&index).copied()).filter(|of| taken.insert(*of));
        }
        self.left.retain(|of| !taken.contains(of));
        matches
    }
}

/// An item that nothing of the module stands for.
struct Made {
    index: usize,
    of: Ref,
    /// The function that the text does not name and whose parts it gives the refs of: the same with another name.
    parts_of: Option<Ref>,
}

impl Made {
    fn new(index: usize, of: Ref) -> Made {
        Made { index, of, parts_of: None }
    }
}

impl<'t> Lowering<'t> {
    fn replace_header(&mut self, of: ModuleRef, record: &Module, header: &ModuleSyntax) {
        let label = header.path.last();
        let fits = check_ref(label, of.into());
        self.noted(fits);
        let path = self.program.path(of.into());
        let given: Vec<&str> = header.path.segments.iter().map(|segment| &*segment.name).collect();
        let parents = given.len() < 2
            || record.parent.is_some_and(|parent| {
                self.program.resolve(&given[..given.len() - 1].join("::")).contains(&parent.into())
            });
        let named = label.tag.is_some() || *label.name == *record.name;
        if !parents || !named {
            let message = format!("the text is of the module `{}`, not of `{path}`", given.join("::"));
            let mistake = Mistake::new(code::UNKNOWN_NAME, label.at, message).expected(path);
            return self.note(mistake.expected(format!("{}#{of}, to rename it", label.name)));
        }
        let module = Module {
            name: Arc::clone(&label.name),
            visibility: header.modifiers.visibility,
            doc: header.modifiers.doc.clone(),
            trailer: header.trailer.clone(),
            parent: record.parent,
        };
        let changed = self.program.set_module(of, module);
        self.structural(label.at, changed);
    }

    fn keep_module_comments(&mut self, of: ModuleRef, record: &Module, comments: Comments) {
        let Some(now) = self.program.module(of).cloned().filter(|_| comments == Comments::Kept) else {
            return;
        };
        let doc = now.doc.clone().or_else(|| record.doc.clone());
        let trailer = now.trailer.clone().or_else(|| record.trailer.clone());
        let changed = self.program.set_module(of, Module { doc, trailer, ..now });
        self.structural(0, changed);
    }

    fn structural<T>(&mut self, at: u32, changed: Result<T, crate::change::StructureError>) {
        if let Err(error) = changed {
            self.note(Mistake::new(code::DUPLICATE_REF, at, error.to_string()));
        }
    }

    /// Makes the module what the items say; tells what is new.
    fn replace_items(
        &mut self,
        before: &Program,
        module: ModuleRef,
        items: &[&'t Item],
        matches: &[Option<Ref>],
        old: &mut Old,
        comments: Comments,
    ) -> Vec<Made> {
        for of in old.left.clone() {
            let removed = match of.kind {
                RefKind::Function => self.program.remove_function(FuncRef::of_key(of.number)).map(drop),
                RefKind::Type => self.program.remove_type(TypeRef::of_key(of.number)).map(drop),
                _ => self.program.remove_storage(VarRef::of_key(of.number)).map(drop),
            };
            self.structural(0, removed);
        }
        // Names first, so that every item sees those of the others as they will be.
        let mut made = Vec::new();
        let mut types: Vec<(TypeRef, &'t TypeItem)> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let (Item::Type(item), matched) = (item, matches[index]) else { continue };
            let of = match matched.map(|of| TypeRef::of_key(of.number)) {
                Some(of) => {
                    self.placed(of.number(), item.label.at);
                    if let Some(def) = self.program.type_def(of).cloned() {
                        let named = TypeDef { name: Arc::clone(&item.label.name), ..(*def).clone() };
                        let changed = self.program.set_type(of, named);
                        self.structural(item.label.at, changed);
                    }
                    of
                }
                None => {
                    let of = self.declare_type(module, item);
                    made.push(Made::new(index, of.into()));
                    of
                }
            };
            types.push((of, item));
        }
        for (of, item) in types {
            let before = old.types.get(&of).cloned();
            self.define_type(of, module, item, before.as_deref());
            if let (Comments::Kept, Some(before)) = (comments, before) {
                self.keep_type_comments(of, &before);
            }
        }
        for (index, item) in items.iter().enumerate() {
            if let (Item::Storage(item), Some(of)) = (item, matches[index]) {
                let of = VarRef::of_key(of.number);
                let changed = self.program.storage(of).cloned().map(|storage| {
                    self.program.set_storage(of, Storage { name: Arc::clone(&item.label.name), ..storage })
                });
                changed.into_iter().for_each(|changed| self.structural(item.label.at, changed));
            }
        }
        let functions = self.heads(module, items, matches, &mut made);
        self.replace_all_storage(module, items, matches, old, comments, &mut made);
        for (of, item) in functions {
            let home = self.body_of(before, of, item, old.functions.get(&of).map(Arc::clone), comments);
            let new = made.iter_mut().find(|made| made.of == of.into());
            match (home, new) {
                (Some((_, home)), Some(new)) if old.left.contains(&home.into()) => {
                    new.parts_of = Some(home.into());
                }
                (Some((part, _)), _) => {
                    let at = self.places.as_ref().and_then(|places| places.get(&part.number)).copied();
                    let message = format!("`{part}` is a part of another function");
                    let mistake = Mistake::new(code::UNKNOWN_REF, at.unwrap_or(item.label.at), message);
                    self.note(mistake.found(part.to_string()));
                }
                (None, _) => {}
            }
        }
        made
    }

    /// Puts the heads of all functions into their places; the bodies follow.
    fn heads(
        &mut self,
        module: ModuleRef,
        items: &[&'t Item],
        matches: &[Option<Ref>],
        made: &mut Vec<Made>,
    ) -> Vec<(FuncRef, &'t FunctionItem)> {
        let matched = |index: usize| matches[index].and_then(|of| FuncRef::try_from(of).ok());
        for of in (0..items.len()).filter_map(matched) {
            let removed = self.program.remove_function(of);
            self.structural(0, removed);
        }
        let mut functions = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Item::Function(item) = item else { continue };
            let of = match matched(index) {
                Some(of) => {
                    self.placed(of.number(), item.label.at);
                    of
                }
                None => {
                    let of = FuncRef::of_key(self.number(item.label.tag, item.label.at));
                    made.push(Made::new(index, of.into()));
                    self.made.push((Arc::clone(&item.label.name), of.into()));
                    of
                }
            };
            let head = self.head(module, item);
            let added = self.program.add_function(of, head);
            self.structural(item.label.at, added);
            functions.push((of, item));
        }
        functions
    }

    fn replace_all_storage(
        &mut self,
        module: ModuleRef,
        items: &[&'t Item],
        matches: &[Option<Ref>],
        old: &Old,
        comments: Comments,
        made: &mut Vec<Made>,
    ) {
        let mut behind = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if let (Item::Storage(item), None) = (item, matches[index]) {
                let from = self.made.len();
                self.storage(module, item, &mut behind);
                made.extend(self.made[from..].iter().map(|(_, of)| Made::new(index, *of)));
            }
        }
        for (index, item) in items.iter().enumerate() {
            let (Item::Storage(item), Some(of)) = (item, matches[index]) else { continue };
            let of = VarRef::of_key(of.number);
            self.placed(of.number(), item.label.at);
            self.replace_storage(of, module, item);
            let kept = self.program.storage(of).cloned().zip(old.storage.get(&of));
            if let (Comments::Kept, Some((storage, before))) = (comments, kept) {
                let doc = storage.doc.clone().or_else(|| before.doc.clone());
                let changed = self.program.set_storage(of, Storage { doc, ..storage });
                self.structural(item.label.at, changed);
            }
        }
        for (of, module, item) in behind {
            self.begin_with(of, module, item);
        }
    }

    fn keep_type_comments(&mut self, of: TypeRef, before: &TypeDef) {
        let Some(def) = self.program.type_def(of) else { return };
        let mut def = (**def).clone();
        def.doc = def.doc.or_else(|| before.doc.clone());
        match &mut def.shape {
            Shape::Struct(fields) => {
                for field in fields {
                    let old = before.field(field.member).and_then(|(_, field)| field.doc.clone());
                    field.doc = field.doc.take().or(old);
                }
            }
            Shape::Enum(variants) => {
                for variant in variants {
                    let old = before.variant(variant.member).and_then(|(_, variant)| variant.doc.clone());
                    variant.doc = variant.doc.take().or(old);
                }
            }
        }
        let changed = self.program.set_type(of, def);
        self.structural(0, changed);
    }

    /// Fills the body of a function, and gives what stayed of the one before its refs. Tells of a part whose ref is that
    /// of a part of another function.
    fn body_of(
        &mut self,
        program: &Program,
        of: FuncRef,
        item: &'t FunctionItem,
        old: Option<Arc<Function>>,
        comments: Comments,
    ) -> Option<(Ref, FuncRef)> {
        let before = self.refs.clone();
        self.reuse = old.as_ref().map_or_else(Reuse::default, |old| reuse(old));
        self.function_body(of, item);
        let new = self.program.function(of).map(Arc::clone)?;
        let home = |part: Ref| Some((part, program.function_of(part).filter(|home| *home != of)?));
        let foreign = parts(&new).find_map(home);
        if let Some(old) = old {
            self.settle(of, &old, before, comments);
        }
        foreign
    }
}

/// New items that are the same as ones that are gone, but for their names: where just one on either side is.
fn renamed(before: &Program, after: &Program, made: &[Made], removed: &[Ref]) -> HashMap<usize, Ref> {
    let mut old: HashMap<(RefKind, u64), Option<Ref>> = HashMap::new();
    for of in removed {
        if let Some(key) = same_but_for_the_name(before, *of) {
            old.entry((of.kind, key)).and_modify(|only| *only = None).or_insert(Some(*of));
        }
    }
    let mut new: HashMap<(RefKind, u64), Option<usize>> = HashMap::new();
    if !old.is_empty() {
        for Made { index, of, .. } in made {
            if let Some(key) = same_but_for_the_name(after, *of) {
                new.entry((of.kind, key)).and_modify(|only| *only = None).or_insert(Some(*index));
            }
        }
    }
    let by_content = new.into_iter().filter_map(|(key, index)| Some((index?, (*old.get(&key)?)?)));
    let by_parts = made.iter().filter_map(|made| Some((made.index, made.parts_of?)));
    by_content.chain(by_parts).collect()
}

/// What an entity is known by, its name and the refs in it apart.
fn same_but_for_the_name(program: &Program, of: Ref) -> Option<u64> {
    let mut hasher = Hasher::new(b"item");
    match of.kind {
        RefKind::Function => {
            let of = FuncRef::of_key(of.number);
            return Some(fingerprint(of, program.function(of)?));
        }
        RefKind::Type => {
            let def = program.type_def(TypeRef::of_key(of.number))?;
            let members = def.fields().iter().map(|field| (&field.name, Some(&field.ty)));
            let members: Vec<_> = members
                .chain(def.variants().iter().map(|variant| (&variant.name, variant.payload.as_ref())))
                .collect();
            hasher.number(u64::from(matches!(def.shape, Shape::Enum(_)))).number(members.len() as u64);
            for (name, ty) in members {
                hasher.text(name);
                crate::node::hash_types(ty.map_or(&[][..], std::slice::from_ref::<Type>), &mut hasher);
            }
        }
        RefKind::Variable => {
            let storage = program.storage(VarRef::of_key(of.number))?;
            let unnamed = Storage { name: "".into(), doc: None, ..storage.clone() };
            unnamed.hash_into(&mut hasher);
        }
        RefKind::Module | RefKind::Member | RefKind::Region | RefKind::Contract | RefKind::Node => {
            return None;
        }
    }
    let hash = hasher.finish();
    let [a, b, c, d, e, f, g, h, ..] = hash.0;
    Some(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

#[cfg(test)]
#[path = "edit_module_tests.rs"]
mod tests;

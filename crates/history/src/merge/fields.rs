//! Records field by field: an edit that replaces a record, split into edits that each change one thing, and laid over
//! another state of the record.

use std::collections::BTreeMap;
use std::sync::Arc;

use lmlang_ir::{
    Attr, Case, Contract, Field, FunctionHead, Initial, MemberRef, Module, Name, NodeContent, NodeRef, Op,
    Param, Program, Region, RegionParam, RegionRef, Shape, Storage, StorageKind, Type, TypeDef, Variable,
    VariantDef,
};

use crate::edit::{Edit, FunctionEdit};
use crate::footprint::{arms, changed_cases, permuted};

/// A record of fields that can be changed one by one.
trait Fields: Clone {
    /// The records that each differ from another one in one thing, and together in all in which this one does.
    fn split(&self, base: &Self) -> Vec<Self>;

    /// Changes a record as this one changes the base.
    fn lay_over(&self, base: &Self, onto: &mut Self);
}

/// Fields that change together stand in one bracket; those after the semicolon have fields of their own.
macro_rules! fields {
    ($record:ty: $([$($field:ident)+])* $(; $deep:ident)?) => {
        impl Fields for $record {
            fn split(&self, base: &Self) -> Vec<Self> {
                let mut parts = Vec::new();
                $(
                    if $(self.$field != base.$field)||+ {
                        parts.push(Self { $($field: self.$field.clone(),)+ ..base.clone() });
                    }
                )*
                $(
                    let inner = self.$deep.split(&base.$deep);
                    parts.extend(inner.into_iter().map(|$deep| Self { $deep, ..base.clone() }));
                )?
                parts
            }

            fn lay_over(&self, base: &Self, onto: &mut Self) {
                $($(
                    if self.$field != base.$field {
                        onto.$field = self.$field.clone();
                    }
                )+)*
                $(self.$deep.lay_over(&base.$deep, &mut onto.$deep);)?
            }
        }
    };
}

fields!(Module: [name parent] [visibility] [doc] [trailer]);
fields!(TypeDef: [name module] [visibility] [doc]; shape);
fields!(Field: [name] [ty] [doc]);
fields!(VariantDef: [name] [payload] [doc]);
fields!(Storage: [name module] [visibility] [exports] [import] [doc]; kind);
fields!(FunctionHead: [name module] [visibility] [results] [captures] [effect_bound] [import] [exports] [start]
    [doc] [runs]; params);
fields!(Param: [name] [ty]);
fields!(Variable: [name] [ty] [doc]);
fields!(Contract: [kind region] [message] [doc]);
fields!(RegionParam: [name] [ty]);

/// The owner stays and the length is derived: a region is no plain list of fields.
impl Fields for Region {
    fn split(&self, base: &Region) -> Vec<Region> {
        let mut parts = Vec::new();
        if self.role != base.role {
            let mut part = base.clone();
            part.role = self.role;
            parts.push(part);
        }
        if self.trailer != base.trailer {
            let mut part = base.clone();
            part.trailer.clone_from(&self.trailer);
            parts.push(part);
        }
        for params in self.params.split(&base.params) {
            let mut part = base.clone();
            part.params = params;
            parts.push(part);
        }
        parts
    }

    fn lay_over(&self, base: &Region, onto: &mut Region) {
        if self.role != base.role {
            onto.role = self.role;
        }
        if self.trailer != base.trailer {
            onto.trailer.clone_from(&self.trailer);
        }
        self.params.lay_over(&base.params, &mut onto.params);
    }
}

/// Those of a global are three fields, all else is one.
impl Fields for StorageKind {
    fn split(&self, base: &StorageKind) -> Vec<StorageKind> {
        let (
            StorageKind::Global { ty, mutable, initial },
            StorageKind::Global { ty: old_ty, mutable: old_mutable, initial: old_initial },
        ) = (self, base)
        else {
            return if self == base { Vec::new() } else { vec![self.clone()] };
        };
        let mut parts = Vec::new();
        let mut part = |ty: &Type, mutable: bool, initial: &Initial| {
            parts.push(StorageKind::Global { ty: ty.clone(), mutable, initial: initial.clone() });
        };
        if ty != old_ty {
            part(ty, *old_mutable, old_initial);
        }
        if mutable != old_mutable {
            part(old_ty, *mutable, old_initial);
        }
        if initial != old_initial {
            part(old_ty, *old_mutable, initial);
        }
        parts
    }

    fn lay_over(&self, base: &StorageKind, onto: &mut StorageKind) {
        let StorageKind::Global { ty: onto_ty, mutable: onto_mutable, initial: onto_initial } = onto else {
            if self != base {
                onto.clone_from(self);
            }
            return;
        };
        match (self, base) {
            (
                StorageKind::Global { ty, mutable, initial },
                StorageKind::Global { ty: old_ty, mutable: old_mutable, initial: old_initial },
            ) => {
                if ty != old_ty {
                    onto_ty.clone_from(ty);
                }
                if mutable != old_mutable {
                    *onto_mutable = *mutable;
                }
                if initial != old_initial {
                    onto_initial.clone_from(initial);
                }
            }
            (_, _) if self != base => onto.clone_from(self),
            (_, _) => {}
        }
    }
}

/// A parameter, for both kinds of them.
trait Parameter: Fields + PartialEq {
    fn shown(&self) -> (Option<Name>, Type);
}

impl Parameter for Param {
    fn shown(&self) -> (Option<Name>, Type) {
        (Some(self.name.clone()), self.ty.clone())
    }
}

impl Parameter for RegionParam {
    fn shown(&self) -> (Option<Name>, Type) {
        (self.name.clone(), self.ty.clone())
    }
}

/// Tells whether a list of parameters can only be replaced as a whole.
fn reshaped<P: Parameter>(new: &[P], old: &[P]) -> bool {
    let shown = |list: &[P]| -> Vec<(Option<Name>, Type)> { list.iter().map(P::shown).collect() };
    new.len() != old.len() || permuted(&shown(old), &shown(new))
}

impl<P: Parameter> Fields for Vec<P> {
    fn split(&self, base: &Vec<P>) -> Vec<Vec<P>> {
        if self == base {
            return Vec::new();
        }
        if reshaped(self, base) {
            return vec![self.clone()];
        }
        let replaced = |index: usize, one: P| {
            let mut list = base.clone();
            list[index] = one;
            list
        };
        let pairs = self.iter().zip(base).enumerate();
        pairs
            .flat_map(|(index, (new, old))| new.split(old).into_iter().map(move |one| (index, one)))
            .map(|(index, one)| replaced(index, one))
            .collect()
    }

    fn lay_over(&self, base: &Vec<P>, onto: &mut Vec<P>) {
        if self == base {
            return;
        }
        if reshaped(self, base) {
            onto.clone_from(self);
            return;
        }
        self.iter().zip(base).zip(onto).for_each(|((new, old), onto)| new.lay_over(old, onto));
    }
}

/// An element of a list that is known by something that stays.
trait Keyed: Fields + PartialEq {
    type Key: Ord;

    fn key(&self) -> Self::Key;
}

impl Keyed for Field {
    type Key = MemberRef;

    fn key(&self) -> MemberRef {
        self.member
    }
}

impl Keyed for VariantDef {
    type Key = MemberRef;

    fn key(&self) -> MemberRef {
        self.member
    }
}

/// A case of a `match` with its region.
type Arm = (Case, RegionRef);

impl Fields for Arm {
    fn split(&self, base: &Arm) -> Vec<Arm> {
        if self == base { Vec::new() } else { vec![self.clone()] }
    }

    fn lay_over(&self, base: &Arm, onto: &mut Arm) {
        if self != base {
            onto.clone_from(self);
        }
    }
}

impl Keyed for Arm {
    type Key = Arm;

    fn key(&self) -> Arm {
        self.clone()
    }
}

/// A list with its elements by key.
struct Index<'l, K: Keyed> {
    list: &'l [K],
    places: BTreeMap<K::Key, usize>,
}

impl<'l, K: Keyed> Index<'l, K> {
    fn of(list: &'l [K]) -> Index<'l, K> {
        Index { list, places: list.iter().map(K::key).zip(0..).collect() }
    }

    fn has(&self, one: &K) -> bool {
        self.places.contains_key(&one.key())
    }

    fn get(&self, one: &K) -> Option<&'l K> {
        self.places.get(&one.key()).map(|at| &self.list[*at])
    }

    /// Tells whether both lists have what they share in one order.
    fn agrees(&self, other: &Index<'_, K>) -> bool {
        let shared = |a: &Index<'_, K>, b: &Index<'_, K>| -> Vec<K::Key> {
            a.list.iter().filter(|one| b.has(one)).map(K::key).collect()
        };
        shared(self, other) == shared(other, self)
    }
}

/// Where an element of a new list goes in one that other changes were laid over: after what stands before it, and after
/// what others have put there.
fn slot<K: Keyed>(new: &Index<'_, K>, old: &Index<'_, K>, onto: &[K], one: &K) -> usize {
    let there = Index::of(onto);
    let before = new.places.get(&one.key()).map_or(&[][..], |at| &new.list[..*at]);
    let after = before.iter().rev().find(|other| old.has(other) && there.has(other));
    let start = after.and_then(|other| there.places.get(&other.key())).map_or(0, |at| at + 1);
    start + onto[start..].iter().take_while(|other| !old.has(other)).count()
}

fn split_list<K: Keyed>(new: &[K], old: &[K]) -> Vec<Vec<K>> {
    let (list, base) = (Index::of(new), Index::of(old));
    if !list.agrees(&base) {
        return vec![new.to_vec()];
    }
    let mut parts = Vec::new();
    for gone in old.iter().filter(|one| !list.has(one)) {
        parts.push(old.iter().filter(|one| one.key() != gone.key()).cloned().collect());
    }
    for one in new {
        let Some(was) = base.get(one) else {
            let mut part = old.to_vec();
            part.insert(slot(&list, &base, old, one), one.clone());
            parts.push(part);
            continue;
        };
        for changed in one.split(was) {
            let replaced = |other: &K| if other.key() == one.key() { changed.clone() } else { other.clone() };
            parts.push(old.iter().map(replaced).collect());
        }
    }
    parts
}

fn lay_list_over<K: Keyed>(new: &[K], old: &[K], onto: &mut Vec<K>) {
    let (list, base) = (Index::of(new), Index::of(old));
    if !list.agrees(&base) {
        *onto = new.to_vec();
        return;
    }
    onto.retain(|one| list.has(one) || !base.has(one));
    let places: BTreeMap<K::Key, usize> = onto.iter().map(K::key).zip(0..).collect();
    for one in new {
        let was = base.get(one).filter(|was| *was != one);
        if let (Some(was), Some(at)) = (was, places.get(&one.key())) {
            one.lay_over(was, &mut onto[*at]);
        }
    }
    for one in new.iter().filter(|one| !base.has(one) && !places.contains_key(&one.key())) {
        onto.insert(slot(&list, &base, onto, one), one.clone());
    }
}

impl Fields for Shape {
    fn split(&self, base: &Shape) -> Vec<Shape> {
        match (self, base) {
            (Shape::Struct(new), Shape::Struct(old)) => {
                split_list(new, old).into_iter().filter(|list| list != old).map(Shape::Struct).collect()
            }
            (Shape::Enum(new), Shape::Enum(old)) => {
                split_list(new, old).into_iter().filter(|list| list != old).map(Shape::Enum).collect()
            }
            (_, _) => vec![self.clone()],
        }
    }

    fn lay_over(&self, base: &Shape, onto: &mut Shape) {
        match (self, base, &mut *onto) {
            (Shape::Struct(new), Shape::Struct(old), Shape::Struct(onto)) => lay_list_over(new, old, onto),
            (Shape::Enum(new), Shape::Enum(old), Shape::Enum(onto)) => lay_list_over(new, old, onto),
            (_, _, _) if self != base => onto.clone_from(self),
            (_, _, _) => {}
        }
    }
}

/// The content of a `match` with other cases.
pub(super) fn with_arms(content: &NodeContent, arms: Vec<Arm>) -> NodeContent {
    let Attr::Match(of) = content.op.attr() else { return content.clone() };
    let default = content.regions[of.cases.len()..].to_vec();
    let (cases, mut regions): (Vec<Case>, Vec<RegionRef>) = arms.into_iter().unzip();
    regions.extend(default);
    let attr = Attr::Match(Arc::new(lmlang_ir::Match { cases, ..of.as_ref().clone() }));
    let op = Op::new(content.op.code(), attr).unwrap_or_else(|| content.op.clone());
    NodeContent { op, regions, ..content.clone() }
}

/// What differs between two contents of a node, as edits.
fn split_node(node: NodeRef, base: &NodeContent, new: &NodeContent) -> Vec<FunctionEdit> {
    let mut edits = Vec::new();
    let recounted = base.inputs.len() != new.inputs.len();
    let set = |content: NodeContent| FunctionEdit::SetNode { node, content: Box::new(content) };
    let other_op = (&base.op, &base.regions) != (&new.op, &new.regions);
    match changed_cases(base, new).and_then(|_| arms(base).zip(arms(new))) {
        Some((old, new)) if other_op && !recounted => {
            edits.extend(split_list(&new, &old).into_iter().map(|arms| set(with_arms(base, arms))));
        }
        Some(_) | None if other_op || recounted => {
            let inputs = if recounted { new.inputs.clone() } else { base.inputs.clone() };
            let (op, regions) = (new.op.clone(), new.regions.clone());
            edits.push(set(NodeContent { op, regions, inputs, ..base.clone() }));
        }
        Some(_) | None => {}
    }
    if !recounted {
        let pairs = base.inputs.iter().zip(new.inputs.iter()).enumerate();
        let changed = pairs.filter(|(_, (old, new))| old != new);
        edits.extend(changed.map(|(input, (_, source))| FunctionEdit::SetInput {
            node,
            input: input as u16,
            source,
        }));
    }
    if base.name != new.name {
        edits.push(FunctionEdit::SetLabel { node, name: new.name.clone(), doc: base.doc.clone() });
    }
    if base.doc != new.doc {
        edits.push(FunctionEdit::SetLabel { node, name: base.name.clone(), doc: new.doc.clone() });
    }
    edits
}

/// Lays what an edit makes of a node over another content of it.
fn lay_node_over(new: &NodeContent, base: &NodeContent, onto: &mut NodeContent) {
    if (&base.op, &base.regions) != (&new.op, &new.regions) {
        let changed = changed_cases(base, new).and_then(|_| arms(base).zip(arms(new)));
        match (changed, arms(onto)) {
            (Some((old, new)), Some(mut there)) => {
                lay_list_over(&new, &old, &mut there);
                *onto = with_arms(onto, there);
            }
            (_, _) => {
                onto.op = new.op.clone();
                onto.regions.clone_from(&new.regions);
            }
        }
    }
    if base.inputs.len() != new.inputs.len() {
        onto.inputs = new.inputs.clone();
    } else if base.inputs != new.inputs {
        let changed = |input: usize| base.inputs.get(input) != new.inputs.get(input);
        let inputs = onto.inputs.iter().enumerate();
        onto.inputs = inputs
            .map(|(input, source)| if changed(input) { new.inputs.get(input) } else { source })
            .collect();
    }
    if base.name != new.name {
        onto.name.clone_from(&new.name);
    }
    if base.doc != new.doc {
        onto.doc.clone_from(&new.doc);
    }
}

/// Splits an edit of a record into edits that each change one thing of what stands in the base.
pub(super) fn split(edit: &Edit, base: &Program) -> Vec<Edit> {
    let parts: Option<Vec<Edit>> = match edit {
        Edit::SetModule { module, content } => base.module(*module).map(|old| {
            let parts = content.split(old).into_iter();
            parts.map(|content| Edit::SetModule { module: *module, content }).collect()
        }),
        Edit::SetType { ty, content } => base.type_def(*ty).map(|old| {
            let parts = content.split(old).into_iter();
            parts.map(|content| Edit::SetType { ty: *ty, content: Arc::new(content) }).collect()
        }),
        Edit::SetStorage { storage, content } => base.storage(*storage).map(|old| {
            let parts = content.as_ref().split(old).into_iter();
            parts.map(|content| Edit::SetStorage { storage: *storage, content: Arc::new(content) }).collect()
        }),
        Edit::Within { function, edit } => base.function(*function).and_then(|found| {
            let parts = split_within(edit, found)?;
            Some(parts.into_iter().map(|part| part.within(*function)).collect())
        }),
        Edit::AddModule { .. }
        | Edit::RemoveModule { .. }
        | Edit::AddType { .. }
        | Edit::RemoveType { .. }
        | Edit::AddStorage { .. }
        | Edit::RemoveStorage { .. }
        | Edit::AddFunction { .. }
        | Edit::RemoveFunction { .. } => None,
    };
    parts.unwrap_or_else(|| vec![edit.clone()])
}

fn split_within(edit: &FunctionEdit, base: &lmlang_ir::Function) -> Option<Vec<FunctionEdit>> {
    let body = base.body();
    Some(match edit {
        FunctionEdit::SetHead { head } => {
            let parts = head.split(base.head()).into_iter();
            parts.map(|head| FunctionEdit::SetHead { head: Arc::new(head) }).collect()
        }
        FunctionEdit::SetVariable { variable, content } => {
            let parts = content.split(body.variable(*variable)?).into_iter();
            parts.map(|content| FunctionEdit::SetVariable { variable: *variable, content }).collect()
        }
        FunctionEdit::SetContract { contract, content } => {
            let parts = content.split(body.contract(*contract)?).into_iter();
            parts.map(|content| FunctionEdit::SetContract { contract: *contract, content }).collect()
        }
        FunctionEdit::SetRegion { region, content } => {
            let parts = content.split(body.region(*region)?).into_iter();
            parts.map(|content| FunctionEdit::SetRegion { region: *region, content }).collect()
        }
        FunctionEdit::SetNode { node, content } => split_node(*node, &body.node(*node)?.content(), content),
        FunctionEdit::SetLabel { node, name, doc } => {
            let old = body.node(*node)?.content();
            split_node(*node, &old, &NodeContent { name: name.clone(), doc: doc.clone(), ..old.clone() })
        }
        FunctionEdit::AddVariable { .. }
        | FunctionEdit::RemoveVariable { .. }
        | FunctionEdit::AddContract { .. }
        | FunctionEdit::RemoveContract { .. }
        | FunctionEdit::AddRegion { .. }
        | FunctionEdit::RemoveRegion { .. }
        | FunctionEdit::InsertNode { .. }
        | FunctionEdit::RemoveNode { .. }
        | FunctionEdit::SetInput { .. }
        | FunctionEdit::MoveNode { .. } => return None,
    })
}

/// An edit of the base as it is to be applied to another state: of a record, it changes there what it changes in the base
/// and nothing else.
pub fn onto(edit: &Edit, base: &Program, state: &Program) -> Edit {
    let laid: Option<Edit> = match edit {
        Edit::SetModule { module, content } => {
            base.module(*module).zip(state.module(*module)).map(|(base, there)| {
                let mut laid = there.clone();
                content.lay_over(base, &mut laid);
                Edit::SetModule { module: *module, content: laid }
            })
        }
        Edit::SetType { ty, content } => base.type_def(*ty).zip(state.type_def(*ty)).map(|(base, there)| {
            let mut laid = there.as_ref().clone();
            content.lay_over(base, &mut laid);
            Edit::SetType { ty: *ty, content: Arc::new(laid) }
        }),
        Edit::SetStorage { storage, content } => {
            base.storage(*storage).zip(state.storage(*storage)).map(|(base, there)| {
                let mut laid = there.clone();
                content.as_ref().lay_over(base, &mut laid);
                Edit::SetStorage { storage: *storage, content: Arc::new(laid) }
            })
        }
        Edit::Within { function, edit } => base
            .function(*function)
            .zip(state.function(*function))
            .and_then(|(base, there)| Some(within_onto(edit, base, there)?.within(*function))),
        Edit::AddModule { .. }
        | Edit::RemoveModule { .. }
        | Edit::AddType { .. }
        | Edit::RemoveType { .. }
        | Edit::AddStorage { .. }
        | Edit::RemoveStorage { .. }
        | Edit::AddFunction { .. }
        | Edit::RemoveFunction { .. } => None,
    };
    laid.unwrap_or_else(|| edit.clone())
}

fn within_onto(
    edit: &FunctionEdit,
    base: &lmlang_ir::Function,
    state: &lmlang_ir::Function,
) -> Option<FunctionEdit> {
    let (old, there) = (base.body(), state.body());
    Some(match edit {
        FunctionEdit::SetHead { head } => {
            let mut laid = state.head().clone();
            head.lay_over(base.head(), &mut laid);
            FunctionEdit::SetHead { head: Arc::new(laid) }
        }
        FunctionEdit::SetVariable { variable, content } => {
            let mut laid = there.variable(*variable)?.clone();
            content.lay_over(old.variable(*variable)?, &mut laid);
            FunctionEdit::SetVariable { variable: *variable, content: laid }
        }
        FunctionEdit::SetContract { contract, content } => {
            let mut laid = there.contract(*contract)?.clone();
            content.lay_over(old.contract(*contract)?, &mut laid);
            FunctionEdit::SetContract { contract: *contract, content: laid }
        }
        FunctionEdit::SetRegion { region, content } => {
            let mut laid = there.region(*region)?.clone();
            content.lay_over(old.region(*region)?, &mut laid);
            FunctionEdit::SetRegion { region: *region, content: laid }
        }
        FunctionEdit::SetNode { node, content } => {
            let mut laid = there.node(*node)?.content();
            lay_node_over(content, &old.node(*node)?.content(), &mut laid);
            FunctionEdit::SetNode { node: *node, content: Box::new(laid) }
        }
        FunctionEdit::SetLabel { node, name, doc } => {
            let (base, mut laid) = (old.node(*node)?.content(), there.node(*node)?.content());
            let new = NodeContent { name: name.clone(), doc: doc.clone(), ..base.clone() };
            lay_node_over(&new, &base, &mut laid);
            FunctionEdit::SetLabel { node: *node, name: laid.name, doc: laid.doc }
        }
        FunctionEdit::AddVariable { .. }
        | FunctionEdit::RemoveVariable { .. }
        | FunctionEdit::AddContract { .. }
        | FunctionEdit::RemoveContract { .. }
        | FunctionEdit::AddRegion { .. }
        | FunctionEdit::RemoveRegion { .. }
        | FunctionEdit::InsertNode { .. }
        | FunctionEdit::RemoveNode { .. }
        | FunctionEdit::SetInput { .. }
        | FunctionEdit::MoveNode { .. } => return None,
    })
}

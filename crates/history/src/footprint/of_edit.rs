//! What each edit reads and writes.

use std::collections::BTreeSet;

use lmlang_ir::ops::AttrKind;
use lmlang_ir::ops::signature::{outputs, outputs_with};
use lmlang_ir::{
    Attr, Body, Case, Contract, FuncRef, Function, FunctionHead, Match, Module, Name, NodeContent, NodeRef,
    Op, Program, Ref, RefKind, Region, RegionOwner, RegionRef, Shape, Source, Storage, StorageKind, Type,
    TypeDef, TypeRef, Variable, Variant, Visibility,
};

use super::positions::{by_position, permuted};
use super::{Conduct, Footprint, Gap, Part, Touch};
use crate::edit::{Edit, FunctionEdit};

impl Edit {
    /// What the edit reads and writes, given the program that it is applied to.
    pub fn footprint(&self, before: &Program) -> Footprint {
        let mut print = Footprint::default();
        match self {
            Edit::AddModule { module, content } => {
                print.writes(Touch::Existence((*module).into()));
                print.takes_name(content.parent, &content.name);
            }
            Edit::SetModule { module, content } => {
                print.sets((*module).into(), before.module(*module), |print, old| {
                    print.module((*module).into(), old, content);
                });
            }
            Edit::AddType { ty, content } => {
                print.writes(Touch::Existence((*ty).into()));
                print.takes_name(Some(content.module), &content.name);
                print.types(content.part_types());
            }
            Edit::SetType { ty, content } => {
                let old = before.type_def(*ty).map(AsRef::as_ref);
                print.sets((*ty).into(), old, |print, old| print.type_def(*ty, old, content));
            }
            Edit::AddStorage { storage, content } => {
                print.writes(Touch::Existence((*storage).into()));
                print.takes_name(Some(content.module), &content.name);
                content.kind.each_mention(&mut |of| print.exists(of));
            }
            Edit::SetStorage { storage, content } => {
                print.sets((*storage).into(), before.storage(*storage), |print, old| {
                    print.storage((*storage).into(), old, content);
                });
            }
            Edit::AddFunction { function, content } => {
                print.writes(Touch::Existence((*function).into()));
                print.takes_name(Some(content.head().module), &content.head().name);
                print.whole_function(content);
            }
            Edit::RemoveModule { module } => print.writes(Touch::Existence((*module).into())),
            Edit::RemoveType { ty } => print.writes(Touch::Existence((*ty).into())),
            Edit::RemoveStorage { storage } => print.writes(Touch::Existence((*storage).into())),
            Edit::RemoveFunction { function, .. } => print.writes(Touch::Existence((*function).into())),
            Edit::Within { function, edit } => {
                print.reads(Touch::Existence((*function).into()));
                if let Some(found) = before.function(*function) {
                    edit.footprint(before, *function, found, &mut print);
                }
            }
        }
        print
    }
}

impl Footprint {
    /// An edit of a record that the state before does not have counts as making it.
    fn sets<T>(&mut self, of: Ref, old: Option<&T>, compare: impl FnOnce(&mut Footprint, &T)) {
        match old {
            Some(old) => {
                self.reads(Touch::Existence(of));
                compare(self, old);
            }
            None => self.writes(Touch::Existence(of)),
        }
    }

    pub(super) fn differ<T: PartialEq>(&mut self, of: Ref, part: Part, old: &T, new: &T) -> bool {
        let differ = old != new;
        if differ {
            self.part(of, part);
        }
        differ
    }

    /// Name and module, and visibility: what entities of the program have in common. Whether a use is allowed depends on
    /// where it stands: that is the verifier's question.
    fn labels<M: PartialEq + Copy>(
        &mut self,
        of: Ref,
        (old_name, new_name): (&Name, &Name),
        (old_scope, new_scope, scope): (M, M, Option<lmlang_ir::ModuleRef>),
        (old_visibility, new_visibility): (Visibility, Visibility),
    ) {
        let renamed = self.differ(of, Part::Name, old_name, new_name);
        let moved = self.differ(of, Part::Place, &old_scope, &new_scope);
        if renamed || moved {
            self.takes_name(scope, new_name);
        }
        self.differ(of, Part::Visibility, &old_visibility, &new_visibility);
    }

    fn module(&mut self, of: Ref, old: &Module, new: &Module) {
        let scopes = (old.parent, new.parent, new.parent);
        self.labels(of, (&old.name, &new.name), scopes, (old.visibility, new.visibility));
        self.differ(of, Part::Doc, &old.doc, &new.doc);
        self.differ(of, Part::Trailer, &old.trailer, &new.trailer);
    }

    fn type_def(&mut self, ty: TypeRef, old: &TypeDef, new: &TypeDef) {
        let of = ty.into();
        let scopes = (old.module, new.module, Some(new.module));
        self.labels(of, (&old.name, &new.name), scopes, (old.visibility, new.visibility));
        self.differ(of, Part::Doc, &old.doc, &new.doc);
        let (before, after) = (members(&old.shape), members(&new.shape));
        let common = |list: &[Member<'_>], other: &[Member<'_>]| -> Vec<Ref> {
            let there: BTreeSet<Ref> = other.iter().map(|one| one.of).collect();
            list.iter().map(|one| one.of).filter(|one| there.contains(one)).collect()
        };
        let same_kind = std::mem::discriminant(&old.shape) == std::mem::discriminant(&new.shape);
        if !same_kind || common(&before, &after) != common(&after, &before) {
            self.part(of, Part::Shape);
            self.writes(Touch::Signature(of));
        } else if before != after {
            self.reads(Touch::Part(of, Part::Shape));
        }
        for member in &after {
            let Some(was) = before.iter().find(|one| one.of == member.of) else {
                self.writes(Touch::Existence(member.of));
                self.writes(Touch::Signature(of));
                self.writes(Touch::Name(Some(of), member.name.clone()));
                self.types(member.ty);
                continue;
            };
            if was == member {
                continue;
            }
            self.reads(Touch::Existence(member.of));
            self.differ(member.of, Part::Doc, &was.doc, &member.doc);
            if self.differ(member.of, Part::Name, &was.name, &member.name) {
                self.writes(Touch::Name(Some(of), member.name.clone()));
            }
            if self.differ(member.of, Part::Type, &was.ty, &member.ty) {
                self.writes(Touch::Signature(member.of));
                self.writes(Touch::Signature(of));
                self.types(member.ty);
            }
        }
        for gone in before.iter().filter(|one| after.iter().all(|other| other.of != one.of)) {
            self.writes(Touch::Existence(gone.of));
            self.writes(Touch::Signature(of));
        }
    }

    fn storage(&mut self, of: Ref, old: &Storage, new: &Storage) {
        let scopes = (old.module, new.module, Some(new.module));
        self.labels(of, (&old.name, &new.name), scopes, (old.visibility, new.visibility));
        self.differ(of, Part::Doc, &old.doc, &new.doc);
        self.differ(of, Part::Export, &old.exports, &new.exports);
        self.differ(of, Part::Import, &old.import, &new.import);
        if let (
            StorageKind::Global { ty: a, mutable: b, initial: c },
            StorageKind::Global { ty: x, mutable: y, initial: z },
        ) = (&old.kind, &new.kind)
        {
            let type_differs = self.differ(of, Part::Type, a, x);
            if self.differ(of, Part::Mutability, b, y) && !y || type_differs {
                self.writes(Touch::Signature(of));
            }
            self.differ(of, Part::Initial, c, z);
            self.reads(Touch::Part(of, Part::Kind));
        } else if self.differ(of, Part::Kind, &old.kind, &new.kind)
            && (std::mem::discriminant(&old.kind) != std::mem::discriminant(&new.kind)
                || old.kind.holds() != new.kind.holds())
        {
            self.writes(Touch::Signature(of));
        }
        if old.kind != new.kind {
            new.kind.each_mention(&mut |mentioned| self.exists(mentioned));
        }
    }

    fn head(&mut self, function: FuncRef, old: &FunctionHead, new: &FunctionHead) {
        let of: Ref = function.into();
        let scopes = (old.module, new.module, Some(new.module));
        self.labels(of, (&old.name, &new.name), scopes, (old.visibility, new.visibility));
        self.differ(of, Part::Doc, &old.doc, &new.doc);
        self.differ(of, Part::Import, &old.import, &new.import);
        self.differ(of, Part::Export, &old.exports, &new.exports);
        self.differ(of, Part::Start, &old.start, &new.start);
        self.differ(of, Part::Runs, &old.runs, &new.runs);
        let types = |params: &[lmlang_ir::Param]| -> Vec<Type> {
            params.iter().map(|param| param.ty.clone()).collect()
        };
        let list = |params: &[lmlang_ir::Param]| -> Vec<(Option<Name>, Type)> {
            params.iter().map(|param| (Some(param.name.clone()), param.ty.clone())).collect()
        };
        let (before, after) = (list(&old.params), list(&new.params));
        self.params(of, &before, &after);
        // Callers give by position.
        let mut relied = types(&old.params) != types(&new.params) || permuted(&before, &after);
        relied |= self.differ(of, Part::Results, &old.results, &new.results);
        if self.differ(of, Part::Captures, &old.captures, &new.captures) {
            let (before, after) = (list(&old.captures), list(&new.captures));
            // Who makes a closure gives by position, too.
            relied |= types(&old.captures) != types(&new.captures) || permuted(&before, &after);
            self.captures(function, &before, &after);
        }
        // Callers that may do less than the function cannot call it any more.
        relied |= self.differ(of, Part::Bound, &old.effect_bound, &new.effect_bound)
            && new.effect_bound > old.effect_bound;
        if relied {
            self.writes(Touch::Signature(of));
            self.types(new.params.iter().chain(&new.captures).map(|param| &param.ty).chain(&new.results));
        }
    }

    /// All that is in a new function, and what it rests on outside.
    fn whole_function(&mut self, content: &Function) {
        let (head, body) = (content.head(), content.body());
        self.types(head.params.iter().chain(&head.captures).map(|param| &param.ty).chain(&head.results));
        for (region, record) in body.regions() {
            self.writes(Touch::Existence(region.into()));
            self.types(record.params.iter().map(|param| &param.ty));
        }
        for (variable, record) in body.variables() {
            self.writes(Touch::Existence(variable.into()));
            self.types([&record.ty]);
        }
        body.contracts().for_each(|(contract, _)| self.writes(Touch::Existence(contract.into())));
        for (node, record) in body.nodes() {
            self.writes(Touch::Existence(node.into()));
            self.outer_mentions(record.op());
        }
    }

    /// Relies on there being something.
    fn exists(&mut self, on: Ref) {
        self.reads(Touch::Existence(on));
    }

    /// Relies on something as it is.
    fn relies(&mut self, on: Ref) {
        self.reads(Touch::Existence(on));
        self.reads(Touch::Signature(on));
    }

    fn types<'t>(&mut self, types: impl IntoIterator<Item = &'t Type>) {
        types.into_iter().for_each(|ty| ty.each_named(&mut |named| self.exists(named.into())));
    }

    fn variant(&mut self, variant: &Variant) {
        self.types([&variant.owner()]);
        if let Variant::Member(_, member) = variant {
            self.relies((*member).into());
        }
    }

    /// What an operator relies on.
    pub(crate) fn op(&mut self, op: &Op) {
        match op.attr() {
            Attr::Named(of) => self.relies((*of).into()),
            Attr::Field(of, member) => {
                self.exists((*of).into());
                self.relies((*member).into());
            }
            Attr::Variant(variant) => self.variant(variant),
            Attr::Match(of) => {
                self.types(&of.results);
                self.cases(of);
            }
            Attr::Function(of) => self.relies((*of).into()),
            Attr::Variable(of) | Attr::Indirect(of, _) => {
                self.relies((*of).into());
                op.each_mention(&mut |mentioned| self.exists(mentioned));
            }
            Attr::Entries(table, from) => {
                self.relies((*table).into());
                self.relies((*from).into());
            }
            Attr::Exit(target) => self.relies((*target).into()),
            Attr::Switch(targets) => {
                targets.iter().filter_map(|exit| exit.target()).for_each(|node| self.relies(node.into()));
            }
            Attr::None
            | Attr::Scalar(_)
            | Attr::Convert(..)
            | Attr::Const(_)
            | Attr::Type(_)
            | Attr::Index(_)
            | Attr::Signature(_)
            | Attr::Memory(_)
            | Attr::Control(_)
            | Attr::Raw(_) => op.each_mention(&mut |mentioned| self.exists(mentioned)),
        }
    }

    /// A `match` without a default has a case for each variant that there is.
    fn cases(&mut self, of: &Match) {
        for case in &of.cases {
            if let Case::Variant(variant) = case {
                self.variant(variant);
                if let (Variant::Member(ty, _), false) = (variant, of.default) {
                    self.reads(Touch::Signature((*ty).into()));
                }
            }
        }
    }

    /// What an operator relies on outside of its function.
    fn outer_mentions(&mut self, op: &Op) {
        if op.spec().attr == AttrKind::Variable {
            return;
        }
        let mut print = Footprint::default();
        print.op(op);
        let outer = |touch: &Touch| touch.of().is_some_and(|of| of.kind != RefKind::Node);
        self.reads.extend(print.reads.into_iter().filter(outer));
    }

    pub(crate) fn source(&mut self, source: Option<Source>) {
        match source {
            None => {}
            Some(Source::Node(node, _)) => self.relies(node.into()),
            Some(Source::RegionParam(region, index)) => {
                self.exists(region.into());
                self.reads(Touch::Param(region.into(), index));
            }
            Some(Source::Param(function, index)) => self.reads(Touch::Param(function.into(), index)),
        }
    }

    fn gap(&mut self, gap: Gap, op: &Op) {
        let known = self.gaps.entry(gap).or_default();
        *known = Conduct::of(op).max(*known);
    }

    fn put(&mut self, region: RegionRef, after: Option<NodeRef>, op: &Op) {
        self.exists(region.into());
        if let Some(anchor) = after {
            self.exists(anchor.into());
            self.reads(Touch::Position(anchor));
        }
        self.gap(Gap { region, after }, op);
    }

    /// A node is put into a region: it must not come to stand inside itself.
    pub(crate) fn nested(&mut self, body: &Body, region: RegionRef) {
        for around in body.chain(region) {
            if let Some(RegionOwner::Node(owner)) = body.region(around).map(|region| region.owner) {
                self.reads(Touch::Nesting(owner));
            }
        }
    }

    fn variable(&mut self, of: Ref, old: &Variable, new: &Variable) {
        self.differ(of, Part::Name, &old.name, &new.name);
        self.differ(of, Part::Doc, &old.doc, &new.doc);
        if self.differ(of, Part::Type, &old.ty, &new.ty) {
            self.writes(Touch::Signature(of));
            self.types([&new.ty]);
        }
    }

    fn contract(&mut self, of: Ref, old: &Contract, new: &Contract) {
        self.differ(of, Part::When, &(old.kind, old.region), &(new.kind, new.region));
        self.differ(of, Part::Message, &old.message, &new.message);
        self.differ(of, Part::Doc, &old.doc, &new.doc);
    }

    fn region(&mut self, of: Ref, old: &Region, new: &Region) {
        self.differ(of, Part::Role, &old.role, &new.role);
        self.differ(of, Part::Trailer, &old.trailer, &new.trailer);
        let list = |region: &Region| -> Vec<(Option<Name>, Type)> {
            region.params.iter().map(|param| (param.name.clone(), param.ty.clone())).collect()
        };
        if old.params != new.params {
            self.params(of, &list(old), &list(new));
            self.types(new.params.iter().map(|param| &param.ty));
        }
    }
}

impl FunctionEdit {
    fn footprint(&self, program: &Program, function: FuncRef, before: &Function, print: &mut Footprint) {
        let body = before.body();
        match self {
            FunctionEdit::SetHead { head } => print.head(function, before.head(), head),
            FunctionEdit::AddVariable { variable, content } => {
                print.writes(Touch::Existence((*variable).into()));
                print.types([&content.ty]);
            }
            FunctionEdit::SetVariable { variable, content } => {
                let of = (*variable).into();
                print.sets(of, body.variable(*variable), |print, old| print.variable(of, old, content));
            }
            FunctionEdit::SetContract { contract, content } => {
                let of = (*contract).into();
                print.sets(of, body.contract(*contract), |print, old| print.contract(of, old, content));
            }
            FunctionEdit::AddContract { contract, .. } | FunctionEdit::RemoveContract { contract } => {
                print.writes(Touch::Existence((*contract).into()));
            }
            FunctionEdit::RemoveVariable { variable } => print.writes(Touch::Existence((*variable).into())),
            FunctionEdit::AddRegion { region, content } => {
                print.writes(Touch::Existence((*region).into()));
                match content.owner {
                    RegionOwner::Function => print.part(function.into(), Part::Body),
                    RegionOwner::Node(node) => print.exists(node.into()),
                    RegionOwner::Contract(contract) => print.exists(contract.into()),
                }
                print.types(content.params.iter().map(|param| &param.ty));
            }
            FunctionEdit::SetRegion { region, content } => {
                let of = (*region).into();
                print.sets(of, body.region(*region), |print, old| print.region(of, old, content));
            }
            FunctionEdit::RemoveRegion { region } => print.writes(Touch::Existence((*region).into())),
            FunctionEdit::InsertNode { node, region, after, content } => {
                print.writes(Touch::Existence((*node).into()));
                print.put(*region, *after, &content.op);
                print.op(&content.op);
                print.captured(function, &content.op);
                print.rounds(body, &content.op);
                content.inputs.iter().for_each(|source| print.source(source));
            }
            FunctionEdit::RemoveNode { node } => {
                print.writes(Touch::Existence((*node).into()));
            }
            FunctionEdit::SetNode { node, content } => {
                let old = body.node(*node);
                print.sets((*node).into(), old, |print, old| {
                    let types = |op| outputs_with(program, before, old, op);
                    if outputs(program, before, old) != types(&content.op) {
                        print.writes(Touch::Signature((*node).into()));
                    }
                    if *old.op() != content.op {
                        print.captured(function, &content.op);
                        print.rounds(body, &content.op);
                    }
                    let changed = |input: &u16| {
                        let at = usize::from(*input);
                        old.inputs().get(at) != content.inputs.get(at)
                    };
                    for input in (0..old.inputs().len() as u16).filter(changed) {
                        print.reads.extend(by_position(body, &content.op, &content.regions, input));
                    }
                    print.node(*node, &old.content(), content);
                });
            }
            FunctionEdit::SetLabel { node, name, doc } => {
                print.sets((*node).into(), body.node(*node), |print, old| {
                    print.differ((*node).into(), Part::Name, &old.name(), &name.as_ref());
                    print.differ((*node).into(), Part::Doc, &old.doc(), &doc.as_ref());
                });
            }
            FunctionEdit::SetInput { node, input, source } => {
                print.exists((*node).into());
                print.reads(Touch::Inputs(*node));
                print.writes(Touch::Input(*node, *input));
                print.source(*source);
                if let Some(found) = body.node(*node) {
                    print.reads.extend(by_position(body, found.op(), found.regions(), *input));
                }
            }
            FunctionEdit::MoveNode { node, region, after } => {
                print.exists((*node).into());
                print.writes(Touch::Position(*node));
                print.nested(body, *region);
                if let Some(old) = body.node(*node) {
                    if old.region() != *region {
                        print.writes(Touch::Nesting(*node));
                    }
                    print.gap(Gap { region: old.region(), after: body.previous(*node) }, old.op());
                    print.put(*region, *after, old.op());
                }
            }
        }
    }
}

impl Footprint {
    fn node(&mut self, node: NodeRef, old: &NodeContent, new: &NodeContent) {
        let of: Ref = node.into();
        self.differ(of, Part::Name, &old.name, &new.name);
        self.differ(of, Part::Doc, &old.doc, &new.doc);
        let recounted = old.inputs.len() != new.inputs.len();
        if (&old.op, &old.regions) != (&new.op, &new.regions) || recounted {
            self.op(&new.op);
            match changed_cases(old, new) {
                Some(cases) => {
                    self.reads(Touch::Part(of, Part::Operator));
                    cases.into_iter().for_each(|case| self.writes(Touch::Case(node, case)));
                }
                None if (&old.op, &old.regions) != (&new.op, &new.regions) => self.part(of, Part::Operator),
                None => {}
            }
        }
        if recounted {
            self.writes(Touch::Inputs(node));
        } else if old.inputs != new.inputs {
            self.reads(Touch::Inputs(node));
        }
        for input in 0..old.inputs.len().max(new.inputs.len()) {
            let source = new.inputs.get(input);
            if old.inputs.get(input) != source || input >= old.inputs.len().min(new.inputs.len()) {
                self.writes(Touch::Input(node, input as u16));
                self.source(source);
            }
        }
    }
}

/// The cases that come and go, if nothing else of an operator with its regions differs.
pub(crate) fn changed_cases(old: &NodeContent, new: &NodeContent) -> Option<BTreeSet<Case>> {
    let (a, b) = (arms(old)?, arms(new)?);
    let (Attr::Match(x), Attr::Match(y)) = (old.op.attr(), new.op.attr()) else { return None };
    let rest = |of: &Match| (of.label.clone(), of.default, of.results.clone());
    let default = |of: &NodeContent, cases: usize| of.regions.get(cases).copied();
    if rest(x) != rest(y) || default(old, a.len()) != default(new, b.len()) {
        return None;
    }
    let common = |one: &[(Case, RegionRef)], other: &[(Case, RegionRef)]| -> Vec<(Case, RegionRef)> {
        let there: BTreeSet<&(Case, RegionRef)> = other.iter().collect();
        one.iter().filter(|arm| there.contains(arm)).cloned().collect()
    };
    let kept = common(&a, &b);
    if kept != common(&b, &a) {
        return None;
    }
    let kept: BTreeSet<&Case> = kept.iter().map(|(case, _)| case).collect();
    Some(a.iter().chain(&b).map(|(case, _)| case).filter(|case| !kept.contains(case)).cloned().collect())
}

/// The cases of a `match` with their regions, if there is one for each and no case stands twice.
pub(crate) fn arms(content: &NodeContent) -> Option<Vec<(Case, RegionRef)>> {
    let Attr::Match(of) = content.op.attr() else { return None };
    let regions = of.cases.len() + usize::from(of.default);
    let distinct: BTreeSet<&Case> = of.cases.iter().collect();
    let fits = content.regions.len() == regions && distinct.len() == of.cases.len();
    fits.then(|| of.cases.iter().cloned().zip(content.regions.iter().copied()).collect())
}

/// A field or a variant.
#[derive(PartialEq)]
struct Member<'a> {
    of: Ref,
    name: &'a Name,
    ty: Option<&'a Type>,
    doc: &'a Option<std::sync::Arc<str>>,
}

fn members(shape: &Shape) -> Vec<Member<'_>> {
    match shape {
        Shape::Struct(fields) => fields
            .iter()
            .map(|one| Member { of: one.member.into(), name: &one.name, ty: Some(&one.ty), doc: &one.doc })
            .collect(),
        Shape::Enum(variants) => variants
            .iter()
            .map(|one| Member {
                of: one.member.into(),
                name: &one.name,
                ty: one.payload.as_ref(),
                doc: &one.doc,
            })
            .collect(),
    }
}

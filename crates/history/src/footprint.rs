//! Footprints: what an edit reads and writes, and so which edits commute.
//!
//! A footprint is exact about places and careful about types: where it cannot tell that what others rely on stayed the same,
//! it says that it changed. Two edits whose footprints do not collide may be applied in either order with the same result,
//! the order of nodes that both put into one gap apart: those only compute, or they would collide.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_ir::{
    Attr, Effect, FuncRef, Function, FunctionHead, ModuleRef, Name, NodeRef, Op, Place, Program, Ref,
    RefKind, RegionOwner, RegionRef, Source, Type, ops::AttrKind,
};

use crate::edit::{Edit, FunctionEdit};

/// The smallest thing that an edit reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touch {
    /// That an entity exists.
    Existence(Ref),
    /// The record of an entity: of a node its operator and regions.
    Record(Ref),
    /// The name and doc of a node.
    Label(NodeRef),
    /// What users rely on: parameters and results, the parts of a type, the outputs of a node, the type of a variable.
    Signature(Ref),
    /// The source of one input.
    Input(NodeRef, u16),
    /// How many inputs a node has.
    Inputs(NodeRef),
    /// Where a node stands.
    Position(NodeRef),
    /// Who has a name in a module, or at the top.
    Name(Option<ModuleRef>, Name),
}

/// The place right after a node, or at the front of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gap {
    /// The region.
    pub region: RegionRef,
    /// The node before it; `None`: the front.
    pub after: Option<NodeRef>,
}

/// What an edit, or a list of them, reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What has to be as it was.
    pub reads: BTreeSet<Touch>,
    /// What becomes different.
    pub writes: BTreeSet<Touch>,
    /// Where something comes or goes; true: something that does more than compute, whose order others can observe.
    pub gaps: BTreeMap<Gap, bool>,
}

/// Where two footprints collide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collision {
    /// Both write it, or one reads what the other writes.
    Touch(Touch),
    /// Both put something with effects there.
    Gap(Gap),
}

impl Footprint {
    /// What two footprints collide in; empty: the edits commute.
    pub fn collisions(&self, other: &Footprint) -> Vec<Collision> {
        let mut found: BTreeSet<Collision> = BTreeSet::new();
        let mut crossing = |a: &BTreeSet<Touch>, b: &BTreeSet<Touch>| {
            found.extend(a.intersection(b).cloned().map(Collision::Touch));
        };
        crossing(&self.writes, &other.writes);
        crossing(&self.writes, &other.reads);
        crossing(&self.reads, &other.writes);
        let both = |gap: &Gap, effects: bool| effects && other.gaps.get(gap).copied().unwrap_or(false);
        found.extend(
            self.gaps
                .iter()
                .filter(|(gap, effects)| both(gap, **effects))
                .map(|(gap, _)| Collision::Gap(*gap)),
        );
        found.into_iter().collect()
    }

    /// The footprint of both.
    pub fn merge(&mut self, other: Footprint) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        for (gap, effects) in other.gaps {
            *self.gaps.entry(gap).or_default() |= effects;
        }
    }

    fn reads(&mut self, touch: Touch) {
        self.reads.insert(touch);
    }

    fn writes(&mut self, touch: Touch) {
        self.writes.insert(touch);
    }

    /// An entity appears or goes away: its existence and all that hangs on it.
    fn whole(&mut self, of: Ref) {
        self.writes(Touch::Existence(of));
        self.writes(Touch::Record(of));
        self.writes(Touch::Signature(of));
    }

    fn record(&mut self, of: Ref, same_signature: bool) {
        self.reads(Touch::Existence(of));
        self.writes(Touch::Record(of));
        if !same_signature {
            self.writes(Touch::Signature(of));
        }
    }

    fn name(&mut self, scope: Option<ModuleRef>, name: &Name) {
        self.writes(Touch::Name(scope, name.clone()));
        if let Some(scope) = scope {
            self.reads(Touch::Existence(scope.into()));
        }
    }

    /// Relies on something as it is.
    fn relies(&mut self, on: Ref) {
        self.reads(Touch::Existence(on));
        self.reads(Touch::Signature(on));
    }

    fn types<'t>(&mut self, types: impl IntoIterator<Item = &'t Type>) {
        types.into_iter().for_each(|ty| ty.each_named(&mut |named| self.relies(named.into())));
    }

    fn op(&mut self, op: &Op) {
        op.each_mention(&mut |mentioned| self.relies(mentioned));
    }

    /// What an operator names outside of its function.
    fn outer_mentions(&mut self, op: &Op) {
        let local = op.spec().attr == AttrKind::Variable;
        op.each_mention(&mut |mentioned| {
            if mentioned.kind != RefKind::Node && !local {
                self.relies(mentioned);
            }
        });
    }

    fn source(&mut self, source: Option<Source>) {
        match source {
            None => {}
            Some(Source::Node(node, _)) => self.relies(node.into()),
            Some(Source::RegionParam(region, _)) => self.relies(region.into()),
            Some(Source::Param(function, _)) => self.relies(function.into()),
        }
    }

    fn gap(&mut self, gap: Gap, op: &Op) {
        let effects = match op.spec().effect {
            Effect::Pure => false,
            Effect::Traps | Effect::Reads | Effect::Writes | Effect::Calls | Effect::Io | Effect::Control => {
                true
            }
        };
        *self.gaps.entry(gap).or_default() |= effects;
    }
}

/// The footprint of a list of edits, each seen from the state before the list.
pub fn footprint(edits: &[Edit], before: &Program) -> Footprint {
    let mut all = Footprint::default();
    edits.iter().for_each(|edit| all.merge(edit.footprint(before)));
    all
}

impl Edit {
    /// What the edit reads and writes, given the program that it is applied to.
    pub fn footprint(&self, before: &Program) -> Footprint {
        let mut print = Footprint::default();
        match self {
            Edit::AddModule { module, content } => {
                print.whole((*module).into());
                print.name(content.parent, &content.name);
            }
            Edit::SetModule { module, content } => {
                let old = before.module(*module);
                print.record((*module).into(), old.is_some_and(|old| old.visibility == content.visibility));
                let same = old.is_some_and(|old| (old.parent, &old.name) == (content.parent, &content.name));
                if !same {
                    old.into_iter().for_each(|old| print.name(old.parent, &old.name));
                    print.name(content.parent, &content.name);
                }
            }
            Edit::RemoveModule { module } => {
                print.whole((*module).into());
                before.module(*module).into_iter().for_each(|old| print.name(old.parent, &old.name));
            }
            Edit::AddType { ty, content } => {
                print.whole((*ty).into());
                print.name(Some(content.module), &content.name);
                print.types(content.part_types());
            }
            Edit::SetType { ty, content } => {
                let old = before.type_def(*ty);
                let same_parts = old
                    .is_some_and(|old| (&old.shape, old.visibility) == (&content.shape, content.visibility));
                print.record((*ty).into(), same_parts);
                if old.is_none_or(|old| (old.module, &old.name) != (content.module, &content.name)) {
                    old.into_iter().for_each(|old| print.name(Some(old.module), &old.name));
                    print.name(Some(content.module), &content.name);
                }
                print.types(content.part_types());
            }
            Edit::RemoveType { ty } => {
                print.whole((*ty).into());
                before.type_def(*ty).into_iter().for_each(|old| print.name(Some(old.module), &old.name));
            }
            Edit::AddStorage { storage, content } => {
                print.whole((*storage).into());
                print.name(Some(content.module), &content.name);
            }
            Edit::SetStorage { storage, content } => {
                let old = before.storage(*storage);
                print.record((*storage).into(), old.is_some_and(|old| old.kind == content.kind));
                if old.is_none_or(|old| (old.module, &old.name) != (content.module, &content.name)) {
                    old.into_iter().for_each(|old| print.name(Some(old.module), &old.name));
                    print.name(Some(content.module), &content.name);
                }
            }
            Edit::RemoveStorage { storage } => {
                print.whole((*storage).into());
                before.storage(*storage).into_iter().for_each(|old| print.name(Some(old.module), &old.name));
            }
            Edit::AddFunction { function, content } => {
                print.whole((*function).into());
                print.name(Some(content.head().module), &content.head().name);
                print.head_types(content.head());
                content.body().nodes().for_each(|(_, node)| print.outer_mentions(node.op()));
            }
            Edit::RemoveFunction { function, .. } => {
                print.whole((*function).into());
                if let Some(old) = before.function(*function) {
                    print.name(Some(old.head().module), &old.head().name);
                    print.everything_in(old);
                }
            }
            Edit::Within { function, edit } => {
                print.reads(Touch::Existence((*function).into()));
                if let Some(found) = before.function(*function) {
                    edit.footprint(*function, found, &mut print);
                }
            }
        }
        print
    }
}

impl Footprint {
    fn head_types(&mut self, head: &FunctionHead) {
        self.types(head.params.iter().chain(&head.captures).map(|param| &param.ty).chain(&head.results));
    }

    fn everything_in(&mut self, function: &Function) {
        let body = function.body();
        body.regions().for_each(|(region, _)| self.whole(region.into()));
        body.variables().for_each(|(variable, _)| self.whole(variable.into()));
        body.contracts().for_each(|(contract, _)| self.whole(contract.into()));
        for (node, found) in body.nodes() {
            self.node_goes(node, found.inputs().len());
        }
    }

    fn node_goes(&mut self, node: NodeRef, inputs: usize) {
        self.whole(node.into());
        self.writes(Touch::Position(node));
        self.node_content(node, inputs);
    }

    /// All that an edit with a whole record of a node overwrites.
    fn node_content(&mut self, node: NodeRef, inputs: usize) {
        self.writes(Touch::Label(node));
        self.writes(Touch::Inputs(node));
        (0..inputs).for_each(|input| self.writes(Touch::Input(node, input as u16)));
    }
}

impl FunctionEdit {
    fn footprint(&self, function: FuncRef, before: &Function, print: &mut Footprint) {
        let body = before.body();
        match self {
            FunctionEdit::SetHead { head } => {
                let old = before.head();
                print.record(function.into(), same_signature(old, head));
                if (old.module, &old.name) != (head.module, &head.name) {
                    print.name(Some(old.module), &old.name);
                    print.name(Some(head.module), &head.name);
                }
                print.head_types(head);
            }
            FunctionEdit::AddVariable { variable, content } => {
                print.whole((*variable).into());
                print.types([&content.ty]);
            }
            FunctionEdit::SetVariable { variable, content } => {
                let same = body.variable(*variable).is_some_and(|old| old.ty == content.ty);
                print.record((*variable).into(), same);
                print.types([&content.ty]);
            }
            FunctionEdit::RemoveVariable { variable } => print.whole((*variable).into()),
            FunctionEdit::AddContract { contract, .. } | FunctionEdit::RemoveContract { contract } => {
                print.whole((*contract).into());
                print.writes(Touch::Signature(function.into()));
            }
            FunctionEdit::SetContract { contract, .. } => {
                print.record((*contract).into(), false);
            }
            FunctionEdit::AddRegion { region, content } => {
                print.whole((*region).into());
                match content.owner {
                    RegionOwner::Function => print.writes(Touch::Record(function.into())),
                    RegionOwner::Node(node) => print.reads(Touch::Existence(node.into())),
                    RegionOwner::Contract(contract) => print.reads(Touch::Existence(contract.into())),
                }
                print.types(content.params.iter().map(|param| &param.ty));
            }
            FunctionEdit::SetRegion { region, content } => {
                let types = |region: &lmlang_ir::Region| -> Vec<Type> {
                    region.params.iter().map(|param| param.ty.clone()).collect()
                };
                let same = body.region(*region).is_some_and(|old| types(old) == types(content));
                print.record((*region).into(), same);
                print.types(content.params.iter().map(|param| &param.ty));
            }
            FunctionEdit::RemoveRegion { region } => print.whole((*region).into()),
            FunctionEdit::InsertNode { node, region, after, content } => {
                print.node_goes(*node, content.inputs.len());
                print.put(*region, *after, &content.op);
                print.op(&content.op);
                content.inputs.iter().for_each(|source| print.source(source));
            }
            FunctionEdit::RemoveNode { node } => {
                let old = body.node(*node);
                print.node_goes(*node, old.map_or(0, |old| old.inputs().len()));
                if let Some(old) = old {
                    print.gap(Gap { region: old.region(), after: body.previous(*node) }, old.op());
                }
            }
            FunctionEdit::SetNode { node, content } => {
                let old = body.node(*node);
                print.record((*node).into(), old.is_some_and(|old| same_outputs(old.op(), &content.op)));
                print.op(&content.op);
                print.node_content(*node, old.map_or(0, |old| old.inputs().len()).max(content.inputs.len()));
                content.inputs.iter().for_each(|source| print.source(source));
            }
            FunctionEdit::SetLabel { node, .. } => {
                print.reads(Touch::Existence((*node).into()));
                print.writes(Touch::Label(*node));
            }
            FunctionEdit::SetInput { node, input, source } => {
                print.reads(Touch::Existence((*node).into()));
                print.reads(Touch::Inputs(*node));
                print.writes(Touch::Input(*node, *input));
                print.source(*source);
            }
            FunctionEdit::MoveNode { node, region, after } => {
                print.reads(Touch::Existence((*node).into()));
                print.writes(Touch::Position(*node));
                if let Some(old) = body.node(*node) {
                    print.gap(Gap { region: old.region(), after: body.previous(*node) }, old.op());
                    print.put(*region, *after, old.op());
                }
                // Nothing may come to stand inside itself.
                for around in body.chain(*region) {
                    if let Some(RegionOwner::Node(owner)) = body.region(around).map(|region| region.owner) {
                        print.reads(Touch::Position(owner));
                    }
                }
            }
        }
    }
}

impl Footprint {
    fn put(&mut self, region: RegionRef, after: Option<NodeRef>, op: &Op) {
        self.reads(Touch::Existence(region.into()));
        if let Some(anchor) = after {
            self.reads(Touch::Existence(anchor.into()));
            self.reads(Touch::Position(anchor));
        }
        self.gap(Gap { region, after }, op);
    }
}

/// Tells whether callers can rely on the same things.
fn same_signature(a: &FunctionHead, b: &FunctionHead) -> bool {
    let types = |head: &FunctionHead| -> Vec<Type> {
        head.params.iter().chain(&head.captures).map(|param| param.ty.clone()).collect()
    };
    types(a) == types(b)
        && a.params.len() == b.params.len()
        && a.results == b.results
        && a.effect_bound == b.effect_bound
        && a.visibility == b.visibility
}

/// Tells whether two operators surely have the same outputs.
fn same_outputs(a: &Op, b: &Op) -> bool {
    match (a.attr(), b.attr()) {
        (Attr::Const(x), Attr::Const(y)) => x.ty() == y.ty(),
        (Attr::Control(x), Attr::Control(y)) => a.code() == b.code() && x.results == y.results,
        (Attr::Match(x), Attr::Match(y)) => x.results == y.results,
        (Attr::Memory(x), Attr::Memory(y)) => a.code() == b.code() && x.ty == y.ty,
        (
            Attr::None
            | Attr::Scalar(_)
            | Attr::Convert(..)
            | Attr::Const(_)
            | Attr::Type(_)
            | Attr::Named(_)
            | Attr::Field(..)
            | Attr::Variant(_)
            | Attr::Function(_)
            | Attr::Variable(_)
            | Attr::Index(_)
            | Attr::Signature(_)
            | Attr::Indirect(..)
            | Attr::Memory(_)
            | Attr::Control(_)
            | Attr::Match(_)
            | Attr::Exit(_)
            | Attr::Switch(_)
            | Attr::Raw(_),
            _,
        ) => a == b,
    }
}

impl Footprint {
    /// The entities that are written, with the functions they are in, by ref.
    pub fn written(&self, program: &Program) -> BTreeSet<Ref> {
        let mut refs = BTreeSet::new();
        for touch in &self.writes {
            let of: Ref = match touch {
                Touch::Existence(of) | Touch::Record(of) | Touch::Signature(of) => *of,
                Touch::Input(node, _) | Touch::Inputs(node) | Touch::Position(node) | Touch::Label(node) => {
                    (*node).into()
                }
                Touch::Name(..) => continue,
            };
            refs.insert(of);
            match program.place(of) {
                Some(
                    Place::Function(function)
                    | Place::Region(function, _)
                    | Place::Variable(function, _)
                    | Place::Contract(function, _)
                    | Place::Node(function, _),
                ) => {
                    refs.insert(function.into());
                }
                Some(Place::Module(_) | Place::Type(_) | Place::Member(..) | Place::Storage(_)) | None => {}
            }
        }
        refs
    }
}

#[cfg(test)]
mod tests;

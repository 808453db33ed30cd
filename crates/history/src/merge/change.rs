//! What one side did, in the smallest changes that can be taken or left, each with what it reads, writes and goes with.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_ir::{
    Attr, Body, FuncRef, Function, NodeRef, Opcode, Program, Ref, RegionOwner, RegionRef, Source,
};

use super::fields::split;
use crate::apply::apply;
use crate::diff::diff;
use crate::edit::{Edit, FunctionEdit};
use crate::footprint::{Footprint, Gap, Part, Touch, changed_cases};

/// A change of the base that is taken or left as one.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// The change, as an edit of the base. What it puts somewhere follows a node that stands there in the base and that
    /// this side has left there.
    pub(super) edit: Edit,
    /// What it reads and writes of the base.
    pub(super) print: Footprint,
    /// What it rests on of its own side's changes, beyond what it reads: where a value is made that it uses.
    pub(super) leans: BTreeSet<Touch>,
    /// What the base needs in its place, if the change is left.
    pub(super) needs: BTreeSet<Touch>,
    /// Changes of one side that share a group are taken or left together: a node with its regions, a tree that goes.
    pub(super) groups: BTreeSet<Ref>,
    /// Where a node with effects would be noticed: where it is put, and where it is taken from.
    pub(super) gaps: Vec<Gap>,
}

/// The changes that lead from the base to a side, in an order in which each region's come in the order of its nodes.
pub(super) fn changes(base: &Program, side: &Program) -> Vec<Change> {
    let edits = diff(base, side).edits;
    let mut inside: BTreeMap<FuncRef, Vec<&FunctionEdit>> = BTreeMap::new();
    let mut list = Vec::with_capacity(edits.len());
    for edit in &edits {
        if let Edit::Within { function, edit } = edit {
            inside.entry(*function).or_default().push(edit);
            continue;
        }
        let sets = matches!(edit, Edit::SetModule { .. } | Edit::SetType { .. } | Edit::SetStorage { .. });
        for part in split(edit, base) {
            let mut change = Change::of(base, part);
            // What is replaced as a whole goes and comes.
            change.groups.extend((!sets).then(|| edit.subject()));
            list.push(change);
        }
    }
    for (function, edits) in inside {
        if let (Some(before), Some(after)) = (base.function(function), side.function(function)) {
            let mut tree = Tree::of(base, function, before, after, &edits);
            edits.into_iter().for_each(|edit| tree.push(edit, &mut list));
        }
    }
    list
}

impl Change {
    fn of(base: &Program, edit: Edit) -> Change {
        let print = edit.footprint(base);
        let needs = needs(base, &edit);
        let mut leans = BTreeSet::new();
        if edit.adds() {
            // A ref that was something else in the base: that has to go first.
            for of in print.writes.iter().filter_map(Touch::of) {
                let there = base.ref_of(of.number);
                let owner = there.map(|there| base.function_of(there).map_or(there, Ref::from));
                leans.extend(owner.filter(|owner| *owner != edit.subject()).map(Touch::Existence));
            }
        }
        Change { edit, print, leans, needs, groups: BTreeSet::new(), gaps: Vec::new() }
    }

    /// Tells whether the change, within its own side, cannot be without another one.
    pub(super) fn depends_on(&self) -> impl Iterator<Item = &Touch> {
        self.print.reads.iter().chain(&self.leans)
    }

    /// Tells whether it looks at the order in which a type has its fields, to give values to them: who changes the type looks
    /// at it, too, but tells fields by their refs.
    pub(super) fn gives_fields(&self, touch: &Touch) -> bool {
        matches!(touch, Touch::Part(of, Part::Shape) if self.edit.subject() != *of)
    }

    /// The node that goes.
    pub(super) fn gone(&self) -> Option<NodeRef> {
        let Edit::Within { edit: FunctionEdit::RemoveNode { node }, .. } = &self.edit else { return None };
        Some(*node)
    }

    /// The node that is put somewhere, with the region and the node of the base that it follows.
    pub(super) fn placed(&self) -> Option<(NodeRef, Gap)> {
        if let Edit::Within { edit, .. } = &self.edit
            && let FunctionEdit::InsertNode { node, region, after, .. }
            | FunctionEdit::MoveNode { node, region, after } = edit
        {
            return Some((*node, Gap { region: *region, after: *after }));
        }
        None
    }
}

/// What stands in the base where an edit is left, relies on this: that it exists, and that its name is free.
fn needs(base: &Program, edit: &Edit) -> BTreeSet<Touch> {
    if edit.adds() {
        return BTreeSet::new();
    }
    let Ok(back) = edit.invert(base) else { return BTreeSet::new() };
    let back = match back {
        Edit::Within { function, edit: FunctionEdit::InsertNode { node, region, after: _, content } } => {
            FunctionEdit::InsertNode { node, region, after: None, content }.within(function)
        }
        Edit::Within { function, edit: FunctionEdit::MoveNode { node, region, after: _ } } => {
            FunctionEdit::MoveNode { node, region, after: None }.within(function)
        }
        other => other,
    };
    let mut after = base.clone();
    // What goes with others may not go alone; its way back does not look at what is there.
    let print = match apply(&mut after, edit) {
        Ok(()) => back.footprint(&after),
        Err(_) => back.footprint(base),
    };
    let reads = print.reads.into_iter().filter(|touch| matches!(touch, Touch::Existence(_)));
    reads.chain(print.writes.into_iter().filter(|touch| matches!(touch, Touch::Name(..)))).collect()
}

/// A function that a side changed, with what of its tree came, went and moved.
struct Tree<'a> {
    program: &'a Program,
    function: FuncRef,
    before: &'a Function,
    after: &'a Function,
    /// What went.
    gone: BTreeSet<Ref>,
    /// Nodes whose operator or number of inputs changed, apart from those that got or lost cases alone.
    reshaped: BTreeSet<NodeRef>,
    /// Nodes of a `match` that got or lost cases: the roles of their regions follow from that.
    recased: BTreeSet<NodeRef>,
    /// Nodes that were put somewhere, with the node of the base that they follow.
    anchors: BTreeMap<NodeRef, Option<NodeRef>>,
}

impl<'a> Tree<'a> {
    fn of(
        program: &'a Program,
        function: FuncRef,
        before: &'a Function,
        after: &'a Function,
        edits: &[&FunctionEdit],
    ) -> Tree<'a> {
        let mut tree = Tree {
            program,
            function,
            before,
            after,
            gone: BTreeSet::new(),
            reshaped: BTreeSet::new(),
            recased: BTreeSet::new(),
            anchors: BTreeMap::new(),
        };
        edits.iter().for_each(|edit| tree.note(edit));
        tree
    }

    fn note(&mut self, edit: &FunctionEdit) {
        if edit.removes() {
            self.gone.extend(edit.subject());
        }
        let FunctionEdit::SetNode { node, content } = edit else { return };
        let Some(old) = self.before.body().node(*node).map(|old| old.content()) else { return };
        let recounted = old.inputs.len() != content.inputs.len();
        if (&old.op, &old.regions) == (&content.op, &content.regions) && !recounted {
            return;
        }
        if !recounted && changed_cases(&old, content).is_some() {
            self.recased.insert(*node);
        } else {
            self.reshaped.insert(*node);
        }
    }

    fn body(&self) -> &'a Body {
        self.before.body()
    }

    /// The outermost entity that went with a part of the function.
    fn root(&self, of: Ref) -> Ref {
        let mut root = of;
        loop {
            let around = match (NodeRef::try_from(root), RegionRef::try_from(root)) {
                (Ok(node), _) => self.body().node(node).map(|node| node.region().into()),
                (_, Ok(region)) => match self.body().region(region).map(|region| region.owner) {
                    Some(RegionOwner::Node(node)) => Some(node.into()),
                    Some(RegionOwner::Contract(contract)) => Some(contract.into()),
                    Some(RegionOwner::Function) | None => None,
                },
                (_, _) => None,
            };
            match around.filter(|around| self.gone.contains(around)) {
                Some(around) => root = around,
                None => return root,
            }
        }
    }

    /// What went with the node that a value of the base is of: who brings it back wants it used as it was.
    fn gone_with(&self, source: Option<Source>) -> Option<Ref> {
        match source {
            Some(Source::Node(node, _)) if self.gone.contains(&node.into()) => Some(self.root(node.into())),
            Some(Source::Node(..) | Source::Param(..) | Source::RegionParam(..)) | None => None,
        }
    }

    /// The node of the base that a node follows, past all that this side has put between.
    fn anchor(&mut self, node: NodeRef) -> Option<NodeRef> {
        let previous = self.after.body().previous(node);
        let anchor = previous.and_then(|previous| match self.anchors.get(&previous) {
            Some(anchor) => *anchor,
            None => Some(previous),
        });
        self.anchors.insert(node, anchor);
        anchor
    }

    fn change(&self, edit: FunctionEdit) -> Change {
        let mut change = Change::of(self.program, edit.within(self.function));
        if let Edit::Within { edit, .. } = &change.edit {
            let leans = self.leans(edit);
            change.leans.extend(leans);
        }
        change
    }

    /// A value has to be made where it can be used, and what is given to an exit has to be what its target takes.
    fn leans(&self, edit: &FunctionEdit) -> BTreeSet<Touch> {
        let mut leans = BTreeSet::new();
        let mut made = |source: Option<Source>| {
            if let Some(Source::Node(node, _)) = source {
                leans.insert(Touch::Position(node));
            }
        };
        let node = match edit {
            FunctionEdit::InsertNode { node, content, .. } | FunctionEdit::SetNode { node, content } => {
                content.inputs.iter().for_each(made);
                node
            }
            FunctionEdit::SetInput { node, source, .. } => {
                made(*source);
                node
            }
            FunctionEdit::SetHead { .. }
            | FunctionEdit::AddVariable { .. }
            | FunctionEdit::SetVariable { .. }
            | FunctionEdit::RemoveVariable { .. }
            | FunctionEdit::AddContract { .. }
            | FunctionEdit::SetContract { .. }
            | FunctionEdit::RemoveContract { .. }
            | FunctionEdit::AddRegion { .. }
            | FunctionEdit::SetRegion { .. }
            | FunctionEdit::RemoveRegion { .. }
            | FunctionEdit::RemoveNode { .. }
            | FunctionEdit::SetLabel { .. }
            | FunctionEdit::MoveNode { .. } => return leans,
        };
        let body = self.after.body();
        let Some(node) = body.node(*node) else { return leans };
        let mut leaves = |of: Option<NodeRef>| {
            leans.extend(of.map(|of| Touch::Signature(of.into())));
            leans.extend(of.map(Touch::Inputs));
        };
        let owner = match body.region(node.region()).map(|region| region.owner) {
            Some(RegionOwner::Node(owner)) => Some(owner),
            Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => None,
        };
        if let Attr::Exit(target) = node.op().attr() {
            leaves(Some(*target));
        }
        if let Attr::Switch(targets) = node.op().attr() {
            targets.iter().for_each(|exit| leaves(exit.target()));
        }
        if node.op().code() == Opcode::Yield {
            leaves(owner);
        }
        if node.op().code() == Opcode::Return {
            leans.insert(Touch::Signature(self.function.into()));
        }
        leans
    }

    /// The terminator that this side has put into a region: without it, what was there before stays.
    fn new_end(&self, region: RegionRef) -> Option<Touch> {
        let end = self.after.body().terminator(region)?;
        self.body().node(end).is_none().then_some(Touch::Existence(end.into()))
    }

    fn push(&mut self, edit: &FunctionEdit, list: &mut Vec<Change>) {
        match edit {
            FunctionEdit::InsertNode { node, region, .. } => {
                let Some(content) = self.after.body().node(*node).map(|node| node.content()) else { return };
                let after = self.anchor(*node);
                // The footprint is that of a node at the front: nothing is asked of the node before it but its place.
                let edit = |after| FunctionEdit::InsertNode {
                    node: *node,
                    region: *region,
                    after,
                    content: Box::new(content.clone()),
                };
                let mut change = self.change(edit(None));
                change.edit = edit(after).within(self.function);
                change.groups.insert((*node).into());
                change.gaps.push(Gap { region: *region, after });
                list.push(change);
            }
            FunctionEdit::MoveNode { node, region, .. } => {
                let after = self.anchor(*node);
                let edit = |after| FunctionEdit::MoveNode { node: *node, region: *region, after };
                let mut change = self.change(edit(None));
                change.print.nested(self.after.body(), *region);
                change.edit = edit(after).within(self.function);
                change.gaps.push(Gap { region: *region, after });
                if let Some(from) = self.body().node(*node).map(|node| node.region()) {
                    let left = [self.body().previous(*node), Some(*node)];
                    change.gaps.extend(left.map(|after| Gap { region: from, after }));
                    if self.gone.contains(&from.into()) {
                        change.groups.insert(self.root(from.into()));
                    }
                }
                // What is wrapped goes with what it is wrapped into.
                if self.body().region(*region).is_none() {
                    change.groups.insert((*region).into());
                }
                list.push(change);
            }
            FunctionEdit::AddRegion { region, content } => {
                let mut change = self.change(edit.clone());
                change.groups.insert((*region).into());
                change.leans.extend(self.new_end(*region));
                match content.owner {
                    RegionOwner::Node(node) if self.body().node(node).is_none() => {
                        change.groups.insert(node.into());
                    }
                    RegionOwner::Contract(contract) => drop(change.groups.insert(contract.into())),
                    RegionOwner::Node(_) | RegionOwner::Function => {}
                }
                list.push(change);
            }
            FunctionEdit::AddContract { contract, .. } => {
                let mut change = self.change(edit.clone());
                change.groups.insert((*contract).into());
                list.push(change);
            }
            FunctionEdit::RemoveNode { .. }
            | FunctionEdit::RemoveRegion { .. }
            | FunctionEdit::RemoveContract { .. } => {
                let mut change = self.change(edit.clone());
                change.groups.extend(edit.subject().map(|of| self.root(of)));
                if let FunctionEdit::RemoveNode { node } = edit
                    && let Some(region) = self.body().node(*node).map(|node| node.region())
                    && self.body().terminator(region) == Some(*node)
                {
                    change.leans.extend(self.new_end(region));
                }
                if let FunctionEdit::RemoveNode { node } = edit
                    && let Some(node) = self.body().node(*node)
                {
                    change.groups.extend(node.inputs().iter().filter_map(|source| self.gone_with(source)));
                    // A variable that is read again is written again.
                    if let Attr::Variable(of) = node.op().attr()
                        && self.gone.contains(&(*of).into())
                    {
                        change.groups.insert((*of).into());
                    }
                }
                list.push(change);
            }
            // A source that did not exist yet: part of the node that was inserted.
            FunctionEdit::SetInput { node, .. } if self.body().node(*node).is_none() => {}
            FunctionEdit::RemoveVariable { variable } => {
                let mut change = self.change(edit.clone());
                change.groups.insert((*variable).into());
                list.push(change);
            }
            FunctionEdit::SetHead { .. }
            | FunctionEdit::AddVariable { .. }
            | FunctionEdit::SetVariable { .. }
            | FunctionEdit::SetContract { .. }
            | FunctionEdit::SetRegion { .. }
            | FunctionEdit::SetNode { .. }
            | FunctionEdit::SetLabel { .. }
            | FunctionEdit::SetInput { .. } => {
                for part in split(&edit.clone().within(self.function), self.program) {
                    let Edit::Within { edit, .. } = part else { continue };
                    let groups = self.groups(&edit);
                    if let Some(groups) = groups {
                        let mut change = self.change(edit);
                        change.groups = groups;
                        list.push(change);
                    }
                }
            }
        }
    }

    /// What a change of a record goes with; `None`: it follows from another change.
    fn groups(&self, edit: &FunctionEdit) -> Option<BTreeSet<Ref>> {
        let body = self.body();
        let mut groups = BTreeSet::new();
        if let FunctionEdit::SetNode { node, content } = edit {
            let old = body.node(*node).map_or(&[][..], |node| node.regions());
            let only = |one: &[RegionRef], other: &[RegionRef]| -> Vec<Ref> {
                one.iter().filter(|region| !other.contains(region)).map(|region| (*region).into()).collect()
            };
            groups.extend(only(old, &content.regions));
            groups.extend(only(&content.regions, old));
        }
        if let FunctionEdit::SetNode { node, .. } | FunctionEdit::SetInput { node, .. } = edit
            && self.reshaped.contains(node)
        {
            groups.insert((*node).into());
        }
        if let FunctionEdit::SetInput { node, input, .. } = edit {
            let source = body.node(*node).and_then(|node| node.inputs().get(usize::from(*input)));
            groups.extend(self.gone_with(source));
        }
        if let FunctionEdit::SetRegion { region, content } = edit
            && let Some(old) = body.region(*region)
            && let RegionOwner::Node(owner) = old.owner
        {
            if old.role != content.role && self.recased.contains(&owner) {
                return None;
            }
            if old.trailer == content.trailer && self.reshaped.contains(&owner) {
                groups.insert(owner.into());
            }
        }
        Some(groups)
    }
}

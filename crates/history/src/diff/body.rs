//! The difference of two revisions of a function's body.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use lmlang_ir::trie::Change;
use lmlang_ir::{
    Body, Contract, ContractRef, Function, Node, NodeContent, NodeRef, Ref, Region, RegionRef, Source,
    VarRef, Variable,
};

use super::places::Displaced;
use crate::edit::FunctionEdit;

/// The edits from one body to another, and what they amount to.
#[derive(Default)]
pub(super) struct BodyDiff {
    pub(super) edits: Vec<FunctionEdit>,
    pub(super) added: Vec<Ref>,
    pub(super) removed: Vec<Ref>,
    pub(super) modified: Vec<Ref>,
}

/// The refs of a function's variables, contracts and nodes: what a diff lists.
pub(super) fn listed(function: &Function) -> impl Iterator<Item = Ref> + '_ {
    let body = function.body();
    let variables = body.variables().map(|(variable, _)| variable.into());
    let contracts = body.contracts().map(|(contract, _)| contract.into());
    variables.chain(contracts).chain(body.nodes().map(|(node, _)| node.into()))
}

/// The refs of everything in a function, regions included.
pub(crate) fn parts(function: &Function) -> impl Iterator<Item = Ref> + '_ {
    function.body().regions().map(|(region, _)| region.into()).chain(listed(function))
}

/// In what the maps of two bodies differ: found out once, looked at from several sides.
pub(super) struct BodyChanges<'a> {
    a: &'a Body,
    b: &'a Body,
    nodes: Vec<Change<'a, Node>>,
    regions: Vec<Change<'a, Region>>,
    variables: Vec<Change<'a, Variable>>,
    contracts: Vec<Change<'a, Contract>>,
}

impl<'a> BodyChanges<'a> {
    pub(super) fn between(a: &'a Body, b: &'a Body) -> BodyChanges<'a> {
        BodyChanges {
            a,
            b,
            nodes: a.changed_nodes(b),
            regions: a.changed_regions(b),
            variables: a.changed_variables(b),
            contracts: a.changed_contracts(b),
        }
    }

    /// The numbers of what is in the second body and not in the first.
    pub(super) fn new_parts(&self) -> impl Iterator<Item = u64> + '_ {
        fn new<'c, T>(changes: &'c [Change<'_, T>]) -> impl Iterator<Item = u64> + 'c {
            changes.iter().filter_map(|(number, before, _)| before.is_none().then_some(*number))
        }
        new(&self.nodes).chain(new(&self.regions)).chain(new(&self.variables)).chain(new(&self.contracts))
    }

    /// Tells whether a region has another owner in the second body, which no edit says.
    pub(super) fn rehung(&self) -> bool {
        let other_root = matches!((self.a.root(), self.b.root()), (Some(x), Some(y)) if x != y);
        let mut pairs = self.regions.iter().filter_map(|(_, before, after)| Some(((*before)?, (*after)?)));
        other_root || pairs.any(|(before, after)| before.owner != after.owner)
    }

    /// The edits that turn the first body into the second.
    pub(super) fn diff(&self) -> BodyDiff {
        let mut diff = BodyDiff::default();
        let mut last = Vec::new();
        diff.variables(self, &mut last);
        diff.contracts(self, &mut last);
        let mut moved = diff.place(self);
        diff.survivors(self, &mut moved);
        diff.modified.extend(moved.into_iter().map(Ref::from));
        diff.removals(self);
        diff.edits.extend(last.into_iter().rev());
        diff
    }
}

impl BodyDiff {
    fn variables(&mut self, changes: &BodyChanges<'_>, last: &mut Vec<FunctionEdit>) {
        for (number, before, after) in &changes.variables {
            let Some(variable) = VarRef::new(*number) else { continue };
            match (before, after) {
                (None, Some(content)) => {
                    self.added.push(variable.into());
                    self.edits.push(FunctionEdit::AddVariable { variable, content: (*content).clone() });
                }
                (Some(_), Some(content)) => {
                    self.modified.push(variable.into());
                    self.edits.push(FunctionEdit::SetVariable { variable, content: (*content).clone() });
                }
                (_, None) => {
                    self.removed.push(variable.into());
                    last.push(FunctionEdit::RemoveVariable { variable });
                }
            }
        }
    }

    fn contracts(&mut self, changes: &BodyChanges<'_>, last: &mut Vec<FunctionEdit>) {
        for (number, before, after) in &changes.contracts {
            let Some(contract) = ContractRef::new(*number) else { continue };
            match (before, after) {
                (None, Some(content)) => {
                    self.added.push(contract.into());
                    self.edits.push(FunctionEdit::AddContract { contract, content: (*content).clone() });
                }
                (Some(_), Some(content)) => {
                    self.modified.push(contract.into());
                    self.edits.push(FunctionEdit::SetContract { contract, content: (*content).clone() });
                }
                (_, None) => {
                    self.removed.push(contract.into());
                    last.push(FunctionEdit::RemoveContract { contract });
                }
            }
        }
    }

    /// Adds regions and puts nodes into place, outer regions first, so that whatever a node is put into stands where it
    /// will stand, and no node comes to stand inside itself. Returns the nodes that were moved.
    fn place(&mut self, changes: &BodyChanges<'_>) -> BTreeSet<NodeRef> {
        let (a, b) = (changes.a, changes.b);
        let displaced = Displaced::between(a, b);
        let mut new_regions = HashSet::new();
        for (number, before, after) in &changes.regions {
            let Some(region) = RegionRef::new(*number) else { continue };
            match (before, after) {
                (None, _) => {
                    new_regions.insert(region);
                }
                (Some(_), Some(content)) => {
                    self.modified.push(region.into());
                    self.edits.push(FunctionEdit::SetRegion { region, content: (*content).clone() });
                }
                (Some(_), None) => {}
            }
        }
        let mut depths = Depths::of(b);
        let regions: BTreeSet<(usize, RegionRef)> = displaced
            .regions()
            .chain(new_regions.iter().copied())
            .map(|region| (depths.depth(region), region))
            .collect();
        let (mut inserted, mut moved, mut holes) = (HashSet::new(), BTreeSet::new(), Vec::new());
        for (_, region) in regions {
            if let (true, Some(content)) = (new_regions.contains(&region), b.region(region)) {
                self.edits.push(FunctionEdit::AddRegion { region, content: content.clone() });
            }
            for (node, after) in displaced.to_place(b, region) {
                let Some(found) = b.node(node) else { continue };
                if a.node(node).is_some() {
                    moved.insert(node);
                    self.edits.push(FunctionEdit::MoveNode { node, region, after });
                    continue;
                }
                let exists = |source: Source| match source {
                    Source::Node(of, _) => a.node(of).is_some() || inserted.contains(&of),
                    Source::RegionParam(of, _) => a.region(of).is_some() || b.region(of).is_some(),
                    Source::Param(..) => true,
                };
                let mut content = found.content();
                for (input, source) in found.inputs().iter().enumerate() {
                    if source.is_some_and(|source| !exists(source)) {
                        content = with_hole(content, input);
                        holes.push(FunctionEdit::SetInput { node, input: input as u16, source });
                    }
                }
                inserted.insert(node);
                self.added.push(node.into());
                self.edits.push(FunctionEdit::InsertNode { node, region, after, content: Box::new(content) });
            }
        }
        self.edits.extend(holes);
        moved
    }

    /// Changes what is in both.
    fn survivors(&mut self, changes: &BodyChanges<'_>, modified: &mut BTreeSet<NodeRef>) {
        for (number, before, after) in &changes.nodes {
            let (Some(node), Some(before), Some(after)) = (NodeRef::new(*number), *before, *after) else {
                continue;
            };
            if only_inputs_differ(before, after) {
                let pairs = before.inputs().iter().zip(after.inputs().iter()).enumerate();
                for (input, (_, source)) in pairs.filter(|(_, (old, new))| old != new) {
                    self.edits.push(FunctionEdit::SetInput { node, input: input as u16, source });
                    modified.insert(node);
                }
            } else if only_labels_differ(before, after) {
                let (name, doc) = (after.name().cloned(), after.doc().cloned());
                self.edits.push(FunctionEdit::SetLabel { node, name, doc });
                modified.insert(node);
            } else {
                self.edits.push(FunctionEdit::SetNode { node, content: Box::new(after.content()) });
                modified.insert(node);
            }
        }
    }

    /// Removes nodes and regions from the inside out, the last nodes first.
    fn removals(&mut self, changes: &BodyChanges<'_>) {
        let a = changes.a;
        let mut depths = Depths::of(a);
        let mut nodes: Vec<(usize, RegionRef, NodeRef)> = Vec::new();
        for (number, before, after) in &changes.nodes {
            if let (Some(node), Some(before), None) = (NodeRef::new(*number), before, after) {
                nodes.push((depths.depth(before.region()), before.region(), node));
            }
        }
        let mut regions: Vec<(usize, RegionRef)> = Vec::new();
        for (number, before, after) in &changes.regions {
            if let (Some(region), Some(_), None) = (RegionRef::new(*number), before, after) {
                regions.push((depths.depth(region), region));
            }
        }
        nodes.sort_by_cached_key(|(depth, region, node)| Reverse((*depth, *region, a.standing(*node))));
        regions.sort_by_key(|(depth, _)| *depth);
        self.removed.extend(nodes.iter().map(|(_, _, node)| Ref::from(*node)));
        for (depth, _, node) in nodes {
            while let Some((_, region)) = regions.pop_if(|(inner, _)| *inner > depth) {
                self.edits.push(FunctionEdit::RemoveRegion { region });
            }
            self.edits.push(FunctionEdit::RemoveNode { node });
        }
        let rest = regions.into_iter().rev();
        self.edits.extend(rest.map(|(_, region)| FunctionEdit::RemoveRegion { region }));
    }
}

fn with_hole(mut content: NodeContent, hole: usize) -> NodeContent {
    content.inputs =
        content.inputs.iter().enumerate().map(|(input, source)| source.filter(|_| input != hole)).collect();
    content
}

fn only_inputs_differ(a: &Node, b: &Node) -> bool {
    a.inputs().len() == b.inputs().len()
        && a.op() == b.op()
        && a.regions() == b.regions()
        && a.name() == b.name()
        && a.doc() == b.doc()
}

fn only_labels_differ(a: &Node, b: &Node) -> bool {
    a.inputs() == b.inputs() && a.op() == b.op() && a.regions() == b.regions()
}

/// How deep regions are nested, remembered on the way.
struct Depths<'a> {
    body: &'a Body,
    known: HashMap<RegionRef, usize>,
}

impl<'a> Depths<'a> {
    fn of(body: &'a Body) -> Depths<'a> {
        Depths { body, known: HashMap::new() }
    }

    fn depth(&mut self, region: RegionRef) -> usize {
        let unknown: Vec<RegionRef> =
            self.body.chain(region).take_while(|around| !self.known.contains_key(around)).collect();
        let around = unknown.last().and_then(|outermost| self.body.outer(*outermost));
        let outermost = around.and_then(|around| self.known.get(&around)).map_or(0, |depth| depth + 1);
        for (depth, inner) in (outermost..).zip(unknown.into_iter().rev()) {
            self.known.insert(inner, depth);
        }
        self.known.get(&region).copied().unwrap_or(0)
    }
}

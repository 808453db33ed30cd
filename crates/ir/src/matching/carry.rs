//! What a matching leads to: the new function with the old refs, and the comments that its text does not carry.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Matching;
use crate::change::StructureError;
use crate::draft::Draft;
use crate::entities::{FunctionHead, Region, RegionOwner};
use crate::function::Function;
use crate::node::{NodeContent, Source};
use crate::ops::{Attr, Exit, Op};
use crate::refs::{ContractRef, FuncRef, NodeRef, Ref, RefAllocator, RefKind, RegionRef, VarRef};

/// Whose comments a function has in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comments {
    /// The text carries them: what it does not say is gone.
    Told,
    /// It was printed without: what stayed keeps its own.
    Kept,
}

/// The comments and runs of a function.
pub(crate) fn comments(function: &Function) -> impl Iterator<Item = &str> {
    let (head, body) = (function.head(), function.body());
    let nodes = body.nodes().filter_map(|(_, node)| node.doc());
    let regions = body.regions().filter_map(|(_, region)| region.trailer.as_ref());
    let variables = body.variables().filter_map(|(_, variable)| variable.doc.as_ref());
    let contracts = body.contracts().filter_map(|(_, contract)| contract.doc.as_ref());
    let inner = nodes.chain(regions).chain(variables).chain(contracts);
    head.doc.iter().chain(&head.runs).chain(inner).map(|comment| &**comment)
}

/// A function made of new parts with old refs.
struct Renamed<'f> {
    old: &'f Function,
    new: &'f Function,
    comments: Comments,
    nodes: HashMap<NodeRef, NodeRef>,
    regions: HashMap<RegionRef, RegionRef>,
}

/// The new function with the refs of the old one where they match, and with what each of its numbers is now.
///
/// What matches nothing gets refs anew from the allocator, which is as it was before the text: so none are spent on what
/// got an old one. New variables and contracts keep those that they were given with the text, and these are spent.
pub(crate) fn carry_over(
    (of, old, new): (FuncRef, &Function, &Function),
    matching: Matching,
    comments: Comments,
    refs: &mut RefAllocator,
) -> Result<(Function, HashMap<u64, u64>), StructureError> {
    let Matching { mut nodes, mut regions } = matching;
    let (body, before) = (new.body(), old.body());
    let variables = body.variables().map(|(variable, _)| variable);
    let variables = variables.filter(|of| before.variable(*of).is_none()).map(VarRef::number);
    let contracts = body.contracts().map(|(contract, _)| contract);
    let contracts = contracts.filter(|of| before.contract(*of).is_none()).map(ContractRef::number);
    let spent: BTreeSet<u64> = variables.chain(contracts).collect();
    let mut fresh = || std::iter::from_fn(|| refs.allocate_in(of)).find(|number| !spent.contains(number));
    let new_regions = body.regions().map(|(region, _)| region).filter(|of| before.region(*of).is_none());
    let new_nodes = body.nodes().map(|(node, _)| node).filter(|of| before.node(*of).is_none());
    let mut left: Vec<Ref> = new_regions.filter(|of| !regions.contains_key(of)).map(Ref::from).collect();
    left.extend(new_nodes.filter(|of| !nodes.contains_key(of)).map(Ref::from));
    // In the order in which the text makes them.
    left.sort_unstable_by_key(|of| of.number);
    for of in left {
        let Some(number) = fresh() else { break };
        match of.kind {
            RefKind::Region => drop(regions.insert(RegionRef::of_key(of.number), RegionRef::of_key(number))),
            _ => drop(nodes.insert(NodeRef::of_key(of.number), NodeRef::of_key(number))),
        }
    }
    for number in &spent {
        refs.spend_in(of, *number);
    }
    let nodes_now = nodes.iter().map(|(from, to)| (from.number(), to.number()));
    let numbers = nodes_now.chain(regions.iter().map(|(from, to)| (from.number(), to.number()))).collect();
    let renamed = Renamed { old, new, comments, nodes, regions };
    Ok((renamed.function()?, numbers))
}

impl Renamed<'_> {
    fn node(&self, of: NodeRef) -> NodeRef {
        self.nodes.get(&of).copied().unwrap_or(of)
    }

    fn region(&self, of: RegionRef) -> RegionRef {
        self.regions.get(&of).copied().unwrap_or(of)
    }

    /// A comment that the text does not have.
    fn kept(&self, told: &Option<Arc<str>>, old: Option<&Arc<str>>) -> Option<Arc<str>> {
        match self.comments {
            Comments::Told => told.clone(),
            Comments::Kept => told.clone().or_else(|| old.cloned()),
        }
    }

    fn function(&self) -> Result<Function, StructureError> {
        let (body, before) = (self.new.body(), self.old.body());
        let mut draft = Draft::new();
        for (of, variable) in body.variables() {
            let mut variable = variable.clone();
            variable.doc =
                self.kept(&variable.doc, before.variable(of).and_then(|variable| variable.doc.as_ref()));
            draft.add_variable(of, variable);
        }
        for (of, contract) in body.contracts() {
            let mut contract = contract.clone();
            contract.region = self.region(contract.region);
            contract.doc =
                self.kept(&contract.doc, before.contract(of).and_then(|contract| contract.doc.as_ref()));
            draft.add_contract(of, contract);
        }
        let contracts = body.contracts().map(|(_, contract)| contract.region);
        let mut pending: Vec<RegionRef> = body.root().into_iter().chain(contracts).collect();
        pending.reverse();
        while let Some(region) = pending.pop() {
            self.add_region(&mut draft, region)?;
            let from = pending.len();
            for of in body.nodes_in(region) {
                let Some(node) = body.node(of) else { continue };
                draft.append(self.node(of), self.region(region), self.content(of, node.content()))?;
                pending.extend(node.regions());
            }
            pending[from..].reverse();
        }
        draft.finish(self.head())
    }

    fn add_region(&self, draft: &mut Draft, of: RegionRef) -> Result<(), StructureError> {
        let Some(record) = self.new.body().region(of) else { return Ok(()) };
        let owner = match record.owner {
            RegionOwner::Node(node) => RegionOwner::Node(self.node(node)),
            RegionOwner::Function | RegionOwner::Contract(_) => record.owner,
        };
        let to = self.region(of);
        let old = self.old.body().region(to).and_then(|region| region.trailer.as_ref());
        draft.add_region(to, Region { owner, trailer: self.kept(&record.trailer, old), ..record.clone() })
    }

    fn content(&self, of: NodeRef, content: NodeContent) -> NodeContent {
        let source = |source: Option<Source>| {
            source.map(|source| match source {
                Source::Node(node, port) => Source::Node(self.node(node), port),
                Source::RegionParam(region, port) => Source::RegionParam(self.region(region), port),
                Source::Param(..) => source,
            })
        };
        let old = self.old.body().node(self.node(of)).and_then(|node| node.doc());
        NodeContent {
            op: self.op(content.op),
            inputs: content.inputs.iter().map(source).collect(),
            regions: content.regions.into_iter().map(|region| self.region(region)).collect(),
            doc: self.kept(&content.doc, old),
            name: content.name,
        }
    }

    /// An operator whose exits aim at what their targets are now.
    fn op(&self, op: Op) -> Op {
        let attr = match op.attr() {
            Attr::Exit(target) => Attr::Exit(self.node(*target)),
            Attr::Switch(exits) => Attr::Switch(
                exits
                    .iter()
                    .map(|exit| match exit {
                        Exit::Break(target) => Exit::Break(self.node(*target)),
                        Exit::Continue(target) => Exit::Continue(self.node(*target)),
                        Exit::Return => Exit::Return,
                    })
                    .collect(),
            ),
            _ => return op,
        };
        Op::new(op.code(), attr).unwrap_or(op)
    }

    fn head(&self) -> FunctionHead {
        let (head, old) = (self.new.head(), self.old.head());
        let runs = match self.comments {
            Comments::Kept if head.runs.is_empty() => old.runs.clone(),
            Comments::Kept | Comments::Told => head.runs.clone(),
        };
        FunctionHead { doc: self.kept(&head.doc, old.doc.as_ref()), runs, ..head.clone() }
    }
}

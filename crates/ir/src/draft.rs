//! A function that is put together in one go.
//!
//! For whoever has all of a function at hand: importers, parsers, decoders. [`crate::change`] writes into maps that
//! may be shared and are right after each step; a draft collects first and makes every map once, from sorted runs. What
//! comes out is what single inserts would have made, the derived parts included.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;

use crate::change::{self, StructureError};
use crate::entities::{Contract, FunctionHead, Region, RegionOwner, Variable};
use crate::function::{Body, Counts, Function};
use crate::node::{Inputs, Node, NodeContent};
use crate::ops::Op;
use crate::order::Sequences;
use crate::refs::{ContractRef, NodeRef, Ref, RegionRef, VarRef};
use crate::trie::{Entries, Trie};
use crate::users::Users;

/// The parts of a function, as they come: in any order, but the nodes of a region in theirs.
///
/// One serves for many functions, one after another, so that its lists need no new room for each.
#[derive(Debug, Default)]
pub struct Draft {
    root: Option<RegionRef>,
    /// In place of its chunk each has where its region stands.
    nodes: Entries<Node>,
    regions: Entries<Region>,
    /// Where each region stands among them; nothing while they ascend.
    positions: HashMap<u64, u32, FixedState>,
    /// The region that was asked for last.
    recent: (u64, u32),
    /// The positions of regions whose owner was not the last node when they came.
    apart: Vec<u32>,
    variables: Entries<Variable>,
    contracts: Entries<Contract>,
    workspace: Workspace,
}

/// The end of a region of a draft, where its next node goes. It is one until the draft is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    region: RegionRef,
    /// Where the region stands among those of the draft.
    at: u32,
}

/// What has been added to a draft, in the order in which it came.
pub(crate) struct Parts<'d> {
    pub(crate) nodes: &'d Entries<Node>,
    pub(crate) regions: &'d Entries<Region>,
    pub(crate) variables: &'d Entries<Variable>,
    pub(crate) contracts: &'d Entries<Contract>,
}

/// What is needed while a function is put together, and as large as it is.
///
/// Each draft has one. Whoever puts the functions of many drafts together has one for all of them.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The orders of the regions.
    sequences: Sequences,
}

impl Draft {
    /// Nothing yet.
    pub fn new() -> Draft {
        Draft::default()
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, of: VarRef, variable: Variable) {
        self.variables.push(of.number(), variable);
    }

    /// Adds a contract; its region comes with [`Draft::add_region`].
    pub fn add_contract(&mut self, of: ContractRef, contract: Contract) {
        self.contracts.push(of.number(), contract);
    }

    /// Adds a region without nodes. That of the function itself becomes its root.
    ///
    /// # Errors
    ///
    /// A second root, and a ref that another region has.
    #[inline]
    pub fn add_region(&mut self, of: RegionRef, region: Region) -> Result<(), StructureError> {
        let at = self.regions.keys().len() as u32;
        if let (RegionOwner::Function, Some(root)) = (region.owner, self.root) {
            return Err(StructureError::Exists(root.into()));
        }
        if !self.positions.is_empty() || self.regions.keys().last().is_some_and(|last| *last >= of.number()) {
            self.note_position(of, at)?;
        }
        match region.owner {
            RegionOwner::Function => self.root = Some(of),
            RegionOwner::Node(owner) if self.nodes.keys().last() == Some(&owner.number()) => {}
            RegionOwner::Node(_) => self.apart.push(at),
            RegionOwner::Contract(_) => {}
        }
        self.regions.push(of.number(), Region { length: 0, ..region });
        self.recent = (of.number(), at);
        Ok(())
    }

    /// Notes where a region stands, as they do not ascend.
    fn note_position(&mut self, of: RegionRef, at: u32) -> Result<(), StructureError> {
        if self.positions.is_empty() {
            self.positions.extend(self.regions.keys().iter().copied().zip(0..));
        }
        match self.positions.entry(of.number()) {
            Entry::Occupied(_) => Err(StructureError::Exists(of.into())),
            Entry::Vacant(entry) => {
                entry.insert(at);
                Ok(())
            }
        }
    }

    /// Adds a node at the end of a region.
    ///
    /// # Errors
    ///
    /// A region that has not been added.
    pub fn append(
        &mut self,
        of: NodeRef,
        region: RegionRef,
        content: NodeContent,
    ) -> Result<(), StructureError> {
        let end = self.end_of(region)?;
        self.recent = (region.number(), end.at);
        self.append_at(of, end, content);
        Ok(())
    }

    /// Adds a node at the end of a region. All else that follows from that is found out when all nodes are there: whoever
    /// reads has more to do than whoever puts together.
    pub fn append_at(&mut self, of: NodeRef, end: End, content: NodeContent) {
        let mut node = Node::new(content, end.region);
        node.chunk = end.at.into();
        self.nodes.push(of.number(), node);
    }

    /// The same with a node that has nothing beside its operator and its inputs, as most have. Its parts are written where
    /// they stay: it is part of whoever calls it.
    #[inline(always)]
    pub fn append_plain(&mut self, of: NodeRef, end: End, op: Op, inputs: Inputs) {
        self.nodes.push(of.number(), Node::plain(op, inputs, end.region, end.at.into()));
    }

    /// The same with a node that owns regions beside that, which are yet to be added.
    #[inline]
    pub(crate) fn append_owner(
        &mut self,
        of: NodeRef,
        end: End,
        op: Op,
        inputs: Inputs,
        regions: &[RegionRef],
    ) {
        let mut node = Node::owner(op, inputs, end.region, regions);
        node.chunk = end.at.into();
        self.nodes.push(of.number(), node);
    }

    /// How many nodes have been added.
    pub fn nodes(&self) -> usize {
        self.nodes.keys().len()
    }

    /// The end of a region.
    ///
    /// # Errors
    ///
    /// A region that has not been added.
    pub fn end_of(&self, region: RegionRef) -> Result<End, StructureError> {
        if self.recent.0 == region.number() {
            return Ok(End { region, at: self.recent.1 });
        }
        let at = self.position(region.number()).ok_or(StructureError::Missing(region.into()))?;
        Ok(End { region, at })
    }

    /// Where a region stands among them.
    fn position(&self, region: u64) -> Option<u32> {
        if self.positions.is_empty() {
            return self.regions.keys().binary_search(&region).ok().map(|at| at as u32);
        }
        self.positions.get(&region).copied()
    }

    /// Puts the function together. The draft is empty again, whatever comes of it.
    ///
    /// # Errors
    ///
    /// Refs that occur twice, owners that are missing, and nodes that stand inside of themselves.
    pub fn finish(&mut self, head: FunctionHead) -> Result<Function, StructureError> {
        let mut workspace = std::mem::take(&mut self.workspace);
        let function = self.finish_in(&mut workspace, head);
        self.workspace = workspace;
        function
    }

    /// The same in a workspace that others use before and after.
    ///
    /// # Errors
    ///
    /// As [`Draft::finish`].
    pub fn finish_in(
        &mut self,
        workspace: &mut Workspace,
        head: FunctionHead,
    ) -> Result<Function, StructureError> {
        let body = self.body(workspace);
        self.clear();
        Ok(Function { head: Arc::new(head), body: body?, hash: OnceLock::new(), code: OnceLock::new() })
    }

    /// What has been added.
    pub(crate) fn parts(&self) -> Parts<'_> {
        let Draft { nodes, regions, variables, contracts, .. } = self;
        Parts { nodes, regions, variables, contracts }
    }

    fn clear(&mut self) {
        (self.root, self.recent) = (None, (0, 0));
        self.nodes.clear();
        self.regions.clear();
        self.positions.clear();
        self.apart.clear();
        self.variables.clear();
        self.contracts.clear();
    }

    fn body(&mut self, workspace: &mut Workspace) -> Result<Body, StructureError> {
        self.measure(&mut workspace.sequences);
        let order = workspace.sequences.order(self.nodes.keys());
        let order = order.map_err(|twice| StructureError::Exists(NodeRef::of_key(twice).into()))?;
        sort(&mut self.nodes, |number| NodeRef::of_key(number).into())?;
        let counts = self.counts();
        let nodes = self.nodes.take();
        self.check_tree(&nodes)?;
        sort(&mut self.contracts, |number| ContractRef::of_key(number).into())?;
        let contracts = self.contracts.take();
        for region in self.regions.items() {
            if let RegionOwner::Contract(contract) = region.owner
                && !contracts.contains(contract.number())
            {
                return Err(StructureError::Missing(contract.into()));
            }
        }
        sort(&mut self.regions, |number| RegionRef::of_key(number).into())?;
        sort(&mut self.variables, |number| VarRef::of_key(number).into())?;
        Ok(Body {
            root: self.root,
            nodes,
            regions: self.regions.take(),
            variables: self.variables.take(),
            contracts,
            order,
            users: Users::default(),
            counts,
        })
    }

    /// Tells regions how long they are, and nodes in which chunk of their region's order they stand; the nodes are as they
    /// came.
    fn measure(&mut self, sequences: &mut Sequences) {
        sequences.begin(self.regions.keys());
        let regions = self.regions.items_mut();
        for (number, node) in self.nodes.iter_mut() {
            let at = node.chunk as usize;
            node.chunk = sequences.add(at, number);
            regions[at].length += 1;
        }
    }

    /// How much there is of what.
    fn counts(&self) -> Counts {
        let (nodes, regions) = (self.nodes.items(), self.regions.items());
        let followers = |region: &Region| u64::from(region.length).saturating_sub(1);
        let mut counts = Counts {
            nodes: nodes.len() as u64,
            regions: regions.len() as u64,
            control_edges: regions.iter().map(followers).sum(),
            ..Counts::default()
        };
        for node in nodes {
            let holes = node.inputs().holes();
            counts.holes += holes as u64;
            counts.data_edges += (node.inputs().len() - holes) as u64;
            counts.control_edges += change::control_edges(node);
        }
        counts
    }

    /// Checks that every region leads outwards to one of the function or of a contract.
    fn check_tree(&self, nodes: &Trie<Node>) -> Result<(), StructureError> {
        // A circle has a region that came before its owner, or some time after: the others need no look.
        let mut walks = vec![0; if self.apart.is_empty() { 0 } else { self.regions.keys().len() }];
        for (walk, first) in (1..).zip(&self.apart) {
            let mut at = *first as usize;
            while walks[at] == 0 {
                walks[at] = walk;
                let RegionOwner::Node(owner) = self.regions.items()[at].owner else { break };
                let node = nodes.get(owner.number()).ok_or(StructureError::Missing(owner.into()))?;
                let around = node.region();
                let found = self.position(around.number());
                at = found.ok_or(StructureError::Missing(around.into()))? as usize;
                if walks[at] == walk {
                    return Err(StructureError::Cycle(owner));
                }
            }
        }
        Ok(())
    }
}

/// Sorts parts by their numbers. None may occur twice.
fn sort<T>(parts: &mut Entries<T>, of: impl Fn(u64) -> Ref) -> Result<(), StructureError> {
    parts.sort().map_err(|twice| StructureError::Exists(of(parts.keys()[twice])))
}

#[cfg(test)]
mod tests {
    use super::Draft;
    use crate::change::StructureError;
    use crate::entities::{FunctionHead, Region, RegionOwner, RegionRole};
    use crate::node::NodeContent;
    use crate::ops::{Attr, Op, Opcode};
    use crate::program::Program;
    use crate::refs::{ContractRef, FuncRef, ModuleRef, NodeRef, RegionRef};

    fn region(draft: &mut Draft, of: u64, owner: RegionOwner) -> Result<(), StructureError> {
        draft.add_region(RegionRef::of_key(of), Region::new(owner, RegionRole::Body, Vec::new()))
    }

    fn node(draft: &mut Draft, of: u64, inside: u64) -> Result<(), StructureError> {
        let op = Op::new(Opcode::Unreachable, Attr::None).unwrap();
        draft.append(NodeRef::of_key(of), RegionRef::of_key(inside), NodeContent::new(op, []))
    }

    fn finish(draft: &mut Draft) -> Result<(), StructureError> {
        let head = FunctionHead::new("f", ModuleRef::of_key(1), Vec::new(), Vec::new());
        let function = draft.finish(head)?;
        Program::new().add_whole_function(FuncRef::of_key(2), function.into())
    }

    #[test]
    fn regions_are_found_in_whichever_order_they_come() {
        let mut draft = Draft::new();
        let inside = RegionOwner::Node(NodeRef::of_key(31));
        for order in [[25, 20, 40], [40, 41, 42], [41, 42, 40]] {
            region(&mut draft, 30, RegionOwner::Function).unwrap();
            node(&mut draft, 31, 30).unwrap();
            order.iter().for_each(|of| region(&mut draft, *of, inside).unwrap());
            for of in order.into_iter().chain([30]) {
                let twice = StructureError::Exists(RegionRef::of_key(of).into());
                assert_eq!(region(&mut draft, of, inside), Err(twice));
                node(&mut draft, 100 + of, of).unwrap();
            }
            let missing = StructureError::Missing(RegionRef::of_key(35).into());
            assert_eq!(node(&mut draft, 99, 35), Err(missing));
            let head = FunctionHead::new("f", ModuleRef::of_key(1), Vec::new(), Vec::new());
            let function = draft.finish(head).unwrap();
            for of in order.into_iter().chain([30]) {
                let last = function.body().last_in(RegionRef::of_key(of));
                assert_eq!(last, Some(NodeRef::of_key(100 + of)));
            }
        }
    }

    #[test]
    fn what_does_not_hold_together_is_refused() {
        let mut draft = Draft::new();
        let owned_by = |node| RegionOwner::Node(NodeRef::of_key(node));
        region(&mut draft, 3, RegionOwner::Function).unwrap();
        let (root, other) = (RegionRef::of_key(3), RegionRef::of_key(4));
        assert_eq!(region(&mut draft, 4, RegionOwner::Function), Err(StructureError::Exists(root.into())));
        assert_eq!(node(&mut draft, 5, 4), Err(StructureError::Missing(other.into())));
        finish(&mut draft).unwrap();

        let refused = |parts: fn(&mut Draft)| {
            let mut draft = Draft::new();
            region(&mut draft, 3, RegionOwner::Function).unwrap();
            parts(&mut draft);
            let refused = finish(&mut draft).unwrap_err();
            region(&mut draft, 3, RegionOwner::Function).expect("it is empty again");
            finish(&mut draft).unwrap();
            refused
        };
        let twice = refused(|draft| [9, 5, 9].into_iter().for_each(|of| node(draft, of, 3).unwrap()));
        assert_eq!(twice, StructureError::Exists(NodeRef::of_key(9).into()));
        let two_kinds = refused(|draft| node(draft, 3, 3).unwrap());
        assert!(matches!(two_kinds, StructureError::Exists(of) if of.number == 3), "{two_kinds}");
        let of_the_function = refused(|draft| node(draft, 2, 3).unwrap());
        assert!(matches!(of_the_function, StructureError::Exists(of) if of.number == 2), "{of_the_function}");
        let alone = refused(|draft| region(draft, 4, RegionOwner::Contract(ContractRef::of_key(8))).unwrap());
        assert_eq!(alone, StructureError::Missing(ContractRef::of_key(8).into()));
        let alone = refused(|draft| region(draft, 4, RegionOwner::Node(NodeRef::of_key(8))).unwrap());
        assert_eq!(alone, StructureError::Missing(NodeRef::of_key(8).into()));

        // Two regions, each inside a node of the other, and a third that stands in one of them.
        region(&mut draft, 3, RegionOwner::Function).unwrap();
        for (of, owner, inside) in [(10, 21, 20), (11, 20, 21), (12, 22, 22)] {
            region(&mut draft, of, owned_by(owner)).unwrap();
            node(&mut draft, inside, if of == 12 { 11 } else { of }).unwrap();
        }
        assert!(matches!(finish(&mut draft), Err(StructureError::Cycle(_))));
    }
}

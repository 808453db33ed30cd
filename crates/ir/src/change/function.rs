//! Writes to one function: its head, regions, variables, contracts and nodes.

use std::sync::Arc;

use super::{FunctionMut, StructureError, each_outer_mention, head_types};
use crate::entities::{Contract, FunctionHead, Region, RegionOwner, Variable};
use crate::function::{Body, Counts, states_invariants_of};
use crate::node::{Node, NodeContent, Source, Use};
use crate::refs::{ContractRef, NodeRef, RegionRef, TypeRef, VarRef};

impl FunctionMut<'_> {
    /// The head as it stands.
    pub fn head(&self) -> &FunctionHead {
        self.head
    }

    /// The body as it stands.
    pub fn body(&self) -> &Body {
        self.body
    }

    /// Replaces the head and returns the one before.
    pub fn set_head(&mut self, head: FunctionHead) -> Arc<FunctionHead> {
        let (of, head) = (self.of.number(), Arc::new(head));
        let stated = states_invariants_of(self.head, self.body);
        let before = std::mem::replace(self.head, Arc::clone(&head));
        self.restate(stated);
        if (before.module, &before.name) != (head.module, &head.name) {
            self.index.unname(Some(before.module), &before.name, of);
            self.index.name(Some(head.module), &head.name, of);
        }
        self.index.forget_types(of, head_types(&before));
        self.index.mention_types(of, head_types(&head));
        before
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, of: VarRef, variable: Variable) -> Result<(), StructureError> {
        self.index.claim(of.into(), self.of.number())?;
        self.index.mention_types(self.of.number(), [&variable.ty]);
        self.body.variables.insert(of.number(), variable);
        Ok(())
    }

    /// Replaces the record of a variable and returns the one before.
    pub fn set_variable(&mut self, of: VarRef, variable: Variable) -> Result<Variable, StructureError> {
        let missing = StructureError::Missing(of.into());
        let slot = self.body.variables.get_mut(of.number()).ok_or(missing)?;
        self.index.forget_types(self.of.number(), [&slot.ty]);
        self.index.mention_types(self.of.number(), [&variable.ty]);
        Ok(std::mem::replace(slot, variable))
    }

    /// Removes a variable. Uses of it are left as they are.
    pub fn remove_variable(&mut self, of: VarRef) -> Result<Variable, StructureError> {
        let variable = self.body.variables.remove(of.number()).ok_or(StructureError::Missing(of.into()))?;
        self.index.forget_types(self.of.number(), [&variable.ty]);
        self.index.release(of.into(), self.of.number());
        Ok(variable)
    }

    /// Adds a contract; its region follows with [`FunctionMut::add_region`].
    pub fn add_contract(&mut self, of: ContractRef, contract: Contract) -> Result<(), StructureError> {
        self.index.claim(of.into(), self.of.number())?;
        let stated = states_invariants_of(self.head, self.body);
        self.body.contracts.insert(of.number(), contract);
        self.restate(stated);
        Ok(())
    }

    /// Replaces the record of a contract and returns the one before.
    pub fn set_contract(&mut self, of: ContractRef, contract: Contract) -> Result<Contract, StructureError> {
        let missing = StructureError::Missing(of.into());
        let stated = states_invariants_of(self.head, self.body);
        let before = std::mem::replace(self.body.contracts.get_mut(of.number()).ok_or(missing)?, contract);
        self.restate(stated);
        Ok(before)
    }

    /// Removes a contract whose region is gone.
    pub fn remove_contract(&mut self, of: ContractRef) -> Result<Contract, StructureError> {
        let contract = self.body.contract(of).ok_or(StructureError::Missing(of.into()))?;
        if self.body.region(contract.region).is_some() {
            return Err(StructureError::NotEmpty(of.into()));
        }
        self.index.release(of.into(), self.of.number());
        let stated = states_invariants_of(self.head, self.body);
        let removed = self.body.contracts.remove(of.number()).ok_or(StructureError::Missing(of.into()));
        self.restate(stated);
        removed
    }

    /// Whether the function states invariants, and of what, is told by its head and its contracts: one of them changed.
    fn restate(&mut self, before: Option<TypeRef>) {
        let after = states_invariants_of(self.head, self.body);
        if before != after {
            self.index.unstate(self.of, before);
            self.index.state(self.of, after);
        }
    }

    /// Adds an empty region to an owner that exists. The region of the function itself becomes its root.
    pub fn add_region(&mut self, of: RegionRef, region: Region) -> Result<(), StructureError> {
        match region.owner {
            RegionOwner::Function => {
                if let Some(root) = self.body.root {
                    return Err(StructureError::Exists(root.into()));
                }
            }
            RegionOwner::Node(node) => {
                self.body.node(node).ok_or(StructureError::Missing(node.into()))?;
            }
            RegionOwner::Contract(contract) => {
                self.body.contract(contract).ok_or(StructureError::Missing(contract.into()))?;
            }
        }
        self.index.claim(of.into(), self.of.number())?;
        if region.owner == RegionOwner::Function {
            self.body.root = Some(of);
        }
        self.index.mention_types(self.of.number(), region.params.iter().map(|param| &param.ty));
        self.count(|counts| counts.regions += 1);
        self.body.order.add_region(of.number());
        self.body.regions.insert(of.number(), Region { length: 0, ..region });
        Ok(())
    }

    /// Replaces role, parameters and comments of a region; owner and nodes stay. Returns the record before.
    pub fn set_region(&mut self, of: RegionRef, region: Region) -> Result<Region, StructureError> {
        let slot = self.body.regions.get_mut(of.number()).ok_or(StructureError::Missing(of.into()))?;
        self.index.forget_types(self.of.number(), slot.params.iter().map(|param| &param.ty));
        self.index.mention_types(self.of.number(), region.params.iter().map(|param| &param.ty));
        let kept = Region { length: slot.length, owner: slot.owner, ..region };
        Ok(std::mem::replace(slot, kept))
    }

    /// Removes a region without nodes.
    pub fn remove_region(&mut self, of: RegionRef) -> Result<Region, StructureError> {
        let region = self.body.region(of).ok_or(StructureError::Missing(of.into()))?;
        if !region.is_empty() {
            return Err(StructureError::NotEmpty(of.into()));
        }
        let region = self.body.regions.remove(of.number()).ok_or(StructureError::Missing(of.into()))?;
        if self.body.root == Some(of) {
            self.body.root = None;
        }
        self.index.forget_types(self.of.number(), region.params.iter().map(|param| &param.ty));
        self.count(|counts| counts.regions -= 1);
        self.body.order.remove_region(of.number());
        self.index.release(of.into(), self.of.number());
        Ok(region)
    }

    /// Inserts a node into a region, right after a node of it, or at its front.
    pub fn insert_node(
        &mut self,
        of: NodeRef,
        region: RegionRef,
        after: Option<NodeRef>,
        content: NodeContent,
    ) -> Result<(), StructureError> {
        self.check_anchor(region, after)?;
        self.index.claim(of.into(), self.of.number())?;
        let node = Node::new(content, region);
        self.link(of, &node);
        self.count(|counts| counts.nodes += 1);
        self.body.nodes.insert(of.number(), node);
        self.place(of, region, after);
        Ok(())
    }

    /// Removes a node whose regions are gone. Uses of its outputs are left as they are.
    pub fn remove_node(&mut self, of: NodeRef) -> Result<NodeContent, StructureError> {
        let node = self.body.node(of).ok_or(StructureError::Missing(of.into()))?.clone();
        if node.regions().iter().any(|region| self.body.region(*region).is_some()) {
            return Err(StructureError::NotEmpty(of.into()));
        }
        self.unplace(of, node.region());
        self.body.nodes.remove(of.number());
        self.unlink(of, &node);
        self.count(|counts| counts.nodes -= 1);
        self.index.release(of.into(), self.of.number());
        Ok(node.content())
    }

    /// Replaces what a node computes, its inputs, regions, name and doc; its place stays. Returns what was there.
    pub fn set_node(&mut self, of: NodeRef, content: NodeContent) -> Result<NodeContent, StructureError> {
        let before = self.body.node(of).ok_or(StructureError::Missing(of.into()))?.clone();
        let mut node = before.clone();
        node.set_content(content);
        let most = before.inputs().len().max(node.inputs().len());
        // Most changes leave most inputs as they are, of which there may be thousands.
        for input in (0..most).filter(|input| input_of(&before, *input) != input_of(&node, *input)) {
            self.unlink_input(of, input, input_of(&before, input));
            self.link_input(of, input, input_of(&node, input));
        }
        self.unlink_op(of, &before);
        self.link_op(of, &node);
        self.body.nodes.insert(of.number(), node);
        Ok(before.content())
    }

    /// Sets the source of one input, or leaves a hole. Returns the source before.
    pub fn set_input(
        &mut self,
        of: NodeRef,
        input: usize,
        source: Option<Source>,
    ) -> Result<Option<Source>, StructureError> {
        let node = self.body.node(of).ok_or(StructureError::Missing(of.into()))?;
        if input >= node.inputs().len() {
            return Err(StructureError::NoInput(of, input));
        }
        let before = node.inputs().get(input);
        if before == source {
            return Ok(before);
        }
        let one = Use { node: of, input: Some(input as u16) };
        if let Some(old) = before {
            self.body.users.remove(old.number(), one);
        }
        if let Some(new) = source {
            self.body.users.insert(new.number(), one);
        }
        let (was_hole, is_hole) = (u64::from(before.is_none()), u64::from(source.is_none()));
        self.count(|counts| {
            counts.holes = counts.holes + is_hole - was_hole;
            counts.data_edges = counts.data_edges + was_hole - is_hole;
        });
        if let Some(node) = self.body.nodes.get_mut(of.number()) {
            node.set_input(input, source);
        }
        Ok(before)
    }

    /// Moves a node, with the regions that it owns, right after another node or to the front of a region. Returns the
    /// place before: its region and the node that it followed.
    pub fn move_node(
        &mut self,
        of: NodeRef,
        region: RegionRef,
        after: Option<NodeRef>,
    ) -> Result<(RegionRef, Option<NodeRef>), StructureError> {
        let from = self.body.node(of).ok_or(StructureError::Missing(of.into()))?.region();
        let before = self.body.previous(of);
        self.check_anchor(region, after)?;
        let inside = |body: &Body| {
            body.chain(region)
                .any(|around| body.region(around).is_some_and(|r| r.owner == RegionOwner::Node(of)))
        };
        if after == Some(of) || inside(self.body) {
            return Err(StructureError::Cycle(of));
        }
        self.unplace(of, from);
        if let Some(node) = self.body.nodes.get_mut(of.number()) {
            node.set_region(region);
        }
        self.place(of, region, after);
        Ok((from, before))
    }

    fn check_anchor(&self, region: RegionRef, after: Option<NodeRef>) -> Result<(), StructureError> {
        self.body.region(region).ok_or(StructureError::Missing(region.into()))?;
        let Some(anchor) = after else { return Ok(()) };
        let node = self.body.node(anchor).ok_or(StructureError::Missing(anchor.into()))?;
        if node.region() == region { Ok(()) } else { Err(StructureError::ForeignAnchor(anchor)) }
    }

    fn place(&mut self, of: NodeRef, region: RegionRef, after: Option<NodeRef>) {
        let anchor = after.map_or(region.number(), NodeRef::number);
        self.body.order.insert(region.number(), anchor, of.number(), &mut self.body.nodes);
        if let Some(region) = self.body.regions.get_mut(region.number()) {
            region.length += 1;
            // The first node of a region has nobody before it.
            let ordered = u64::from(region.length > 1);
            self.count(|counts| counts.control_edges += ordered);
        }
    }

    fn unplace(&mut self, of: NodeRef, region: RegionRef) {
        self.body.order.remove(region.number(), of.number(), &mut self.body.nodes);
        if let Some(region) = self.body.regions.get_mut(region.number()) {
            region.length -= 1;
            let ordered = u64::from(!region.is_empty());
            self.count(|counts| counts.control_edges -= ordered);
        }
    }

    /// Enters what a node refers to into the indexes.
    fn link(&mut self, of: NodeRef, node: &Node) {
        for (input, source) in node.inputs().iter().enumerate() {
            self.link_input(of, input, Some(source));
        }
        self.link_op(of, node);
    }

    fn unlink(&mut self, of: NodeRef, node: &Node) {
        for (input, source) in node.inputs().iter().enumerate() {
            self.unlink_input(of, input, Some(source));
        }
        self.unlink_op(of, node);
    }

    /// Enters one input; `None` where the node has none.
    fn link_input(&mut self, of: NodeRef, input: usize, source: Option<Option<Source>>) {
        match source {
            Some(Some(source)) => {
                let one = Use { node: of, input: Some(input as u16) };
                self.body.users.insert(source.number(), one);
                self.count(|counts| counts.data_edges += 1);
            }
            Some(None) => self.count(|counts| counts.holes += 1),
            None => {}
        }
    }

    fn unlink_input(&mut self, of: NodeRef, input: usize, source: Option<Option<Source>>) {
        match source {
            Some(Some(source)) => {
                let one = Use { node: of, input: Some(input as u16) };
                self.body.users.remove(source.number(), one);
                self.count(|counts| counts.data_edges -= 1);
            }
            Some(None) => self.count(|counts| counts.holes -= 1),
            None => {}
        }
    }

    /// Enters what a node's operator refers to.
    fn link_op(&mut self, of: NodeRef, node: &Node) {
        self.count(|counts| counts.control_edges += control_edges(node));
        let named = Use { node: of, input: None };
        node.op().each_mention(&mut |mentioned| {
            self.body.users.insert(mentioned.number, named);
        });
        each_outer_mention(node.op(), |mentioned| self.index.mention(mentioned, self.of.number()));
    }

    fn unlink_op(&mut self, of: NodeRef, node: &Node) {
        self.count(|counts| counts.control_edges -= control_edges(node));
        let named = Use { node: of, input: None };
        node.op().each_mention(&mut |mentioned| {
            self.body.users.remove(mentioned.number, named);
        });
        each_outer_mention(node.op(), |mentioned| self.index.forget(mentioned, self.of.number()));
    }

    /// Changes the counts of the function and those of the program alike.
    fn count(&mut self, change: impl Fn(&mut Counts)) {
        change(&mut self.body.counts);
        change(&mut self.index.counts);
    }
}

/// What an input of a node takes; `None` where the node has no such input.
fn input_of(node: &Node, input: usize) -> Option<Option<Source>> {
    (input < node.inputs().len()).then(|| node.inputs().get(input))
}

/// The control edges that start at a node, but for that to the next one.
pub(crate) fn control_edges(node: &Node) -> u64 {
    (node.regions().len() + node.op().exit_count()) as u64
}

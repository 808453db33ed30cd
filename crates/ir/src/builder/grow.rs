//! What builders add to.

use std::fmt;

use crate::change::{FunctionMut, StructureError};
use crate::draft::{Draft, End};
use crate::entities::{Contract, Region, Variable};
use crate::node::{Inputs, NodeContent};
use crate::ops::Op;
use crate::refs::{ContractRef, NodeRef, RegionRef, VarRef};

/// What a builder adds to: a function of a program, or one that is put together in one go.
pub trait Grow {
    /// Where a node can go.
    type Place: Copy + fmt::Debug;

    /// Adds a variable.
    fn add_variable(&mut self, of: VarRef, variable: Variable) -> Result<(), StructureError>;

    /// Adds a contract; its region follows.
    fn add_contract(&mut self, of: ContractRef, contract: Contract) -> Result<(), StructureError>;

    /// Adds an empty region.
    fn add_region(&mut self, of: RegionRef, region: Region) -> Result<(), StructureError>;

    /// Adds a node at a place and returns the place after it.
    fn insert(
        &mut self,
        of: NodeRef,
        at: Self::Place,
        content: NodeContent,
    ) -> Result<Self::Place, StructureError>;

    /// The same with a node that has nothing beside its operator and its inputs.
    fn insert_plain(
        &mut self,
        of: NodeRef,
        at: Self::Place,
        op: Op,
        inputs: Inputs,
    ) -> Result<Self::Place, StructureError> {
        self.insert(of, at, NodeContent { op, inputs, regions: Vec::new(), name: None, doc: None })
    }

    /// The same with a node that owns regions beside that, which are yet to be added.
    fn insert_owner(
        &mut self,
        of: NodeRef,
        at: Self::Place,
        op: Op,
        inputs: Inputs,
        regions: &[RegionRef],
    ) -> Result<Self::Place, StructureError> {
        self.insert(of, at, NodeContent { op, inputs, regions: regions.to_vec(), name: None, doc: None })
    }

    /// The place at the end of a region.
    fn end_of(&self, region: RegionRef) -> Result<Self::Place, StructureError>;
}

/// Right after a node of a region, or at its front.
impl Grow for FunctionMut<'_> {
    type Place = (RegionRef, Option<NodeRef>);

    fn add_variable(&mut self, of: VarRef, variable: Variable) -> Result<(), StructureError> {
        self.add_variable(of, variable)
    }

    fn add_contract(&mut self, of: ContractRef, contract: Contract) -> Result<(), StructureError> {
        self.add_contract(of, contract)
    }

    fn add_region(&mut self, of: RegionRef, region: Region) -> Result<(), StructureError> {
        self.add_region(of, region)
    }

    fn insert(
        &mut self,
        of: NodeRef,
        (region, after): Self::Place,
        content: NodeContent,
    ) -> Result<Self::Place, StructureError> {
        self.insert_node(of, region, after, content)?;
        Ok((region, Some(of)))
    }

    fn end_of(&self, region: RegionRef) -> Result<Self::Place, StructureError> {
        self.body().region(region).ok_or(StructureError::Missing(region.into()))?;
        Ok((region, self.body().last_in(region)))
    }
}

/// The end of a region: a draft grows nowhere else.
impl Grow for &mut Draft {
    type Place = End;

    fn add_variable(&mut self, of: VarRef, variable: Variable) -> Result<(), StructureError> {
        Draft::add_variable(self, of, variable);
        Ok(())
    }

    fn add_contract(&mut self, of: ContractRef, contract: Contract) -> Result<(), StructureError> {
        Draft::add_contract(self, of, contract);
        Ok(())
    }

    #[inline]
    fn add_region(&mut self, of: RegionRef, region: Region) -> Result<(), StructureError> {
        Draft::add_region(self, of, region)
    }

    fn insert(&mut self, of: NodeRef, at: End, content: NodeContent) -> Result<End, StructureError> {
        Draft::append_at(self, of, at, content);
        Ok(at)
    }

    #[inline(always)]
    fn insert_plain(&mut self, of: NodeRef, at: End, op: Op, inputs: Inputs) -> Result<End, StructureError> {
        Draft::append_plain(self, of, at, op, inputs);
        Ok(at)
    }

    fn insert_owner(
        &mut self,
        of: NodeRef,
        at: End,
        op: Op,
        inputs: Inputs,
        regions: &[RegionRef],
    ) -> Result<End, StructureError> {
        Draft::append_owner(self, of, at, op, inputs, regions);
        Ok(at)
    }

    fn end_of(&self, region: RegionRef) -> Result<End, StructureError> {
        Draft::end_of(self, region)
    }
}

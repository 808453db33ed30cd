//! Functions whose parts arrive one by one.

use std::collections::HashMap;

use lmlang_ir::draft::Draft;
use lmlang_ir::order::sequence;
use lmlang_ir::{
    Contract, ContractRef, Function, FunctionHead, NodeContent, NodeRef, Region, RegionRef, VarRef, Variable,
};

use super::SnapshotError;

/// A function of which only some parts are there.
#[derive(Debug)]
pub(super) struct Partial {
    head: FunctionHead,
    pub(super) nodes: HashMap<NodeRef, NodeContent>,
    pub(super) regions: Vec<(RegionRef, Region)>,
    pub(super) variables: Vec<(VarRef, Variable)>,
    pub(super) contracts: Vec<(ContractRef, Contract)>,
    /// The chunks of each level of the order by their heads.
    pub(super) order: Vec<HashMap<u64, Vec<u64>>>,
}

impl Partial {
    /// A function of which only the head is there.
    pub(super) fn new(head: FunctionHead) -> Partial {
        Partial {
            head,
            nodes: HashMap::new(),
            regions: Vec::new(),
            variables: Vec::new(),
            contracts: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Puts the parts together by way of a draft that is empty.
    pub(super) fn join(mut self, draft: &mut Draft) -> Result<Function, SnapshotError> {
        self.variables.into_iter().for_each(|(variable, record)| draft.add_variable(variable, record));
        self.contracts.into_iter().for_each(|(contract, record)| draft.add_contract(contract, record));
        let apart = || SnapshotError::Damaged { at: 0, what: "nodes in the order of their regions" };
        for (region, record) in self.regions {
            draft.add_region(region, record)?;
            for number in sequence(&mut self.order, region.number()).ok_or_else(apart)? {
                let node = NodeRef::new(number).ok_or_else(apart)?;
                draft.append(node, region, self.nodes.remove(&node).ok_or_else(apart)?)?;
            }
        }
        if self.nodes.is_empty() { Ok(draft.finish(self.head)?) } else { Err(apart()) }
    }
}

//! Functions whose parts arrive one by one.

use std::collections::HashMap;

use lmlang_ir::order::sequence;
use lmlang_ir::{
    Contract, ContractRef, FuncRef, FunctionHead, NodeContent, NodeRef, Program, Region, RegionOwner,
    RegionRef, VarRef, Variable,
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

    /// Puts the parts together as a function of a program, regions before what is in them.
    pub(super) fn add_to(mut self, program: &mut Program, of: FuncRef) -> Result<(), SnapshotError> {
        program.add_function(of, self.head)?;
        let mut open = program.function_mut(of)?;
        for (variable, record) in self.variables {
            open.add_variable(variable, record)?;
        }
        for (contract, record) in self.contracts {
            open.add_contract(contract, record)?;
        }
        let mut inside: HashMap<NodeRef, Vec<(RegionRef, Region)>> = HashMap::new();
        let mut ready = Vec::new();
        for (region, record) in self.regions {
            match record.owner {
                RegionOwner::Function | RegionOwner::Contract(_) => ready.push((region, record)),
                RegionOwner::Node(node) => inside.entry(node).or_default().push((region, record)),
            }
        }
        let apart = || SnapshotError::Damaged { at: 0, what: "nodes in the order of their regions" };
        while let Some((region, record)) = ready.pop() {
            open.add_region(region, record)?;
            let mut last = None;
            for number in sequence(&mut self.order, region.number()).ok_or_else(apart)? {
                let node = NodeRef::new(number).ok_or_else(apart)?;
                let content = self.nodes.remove(&node).ok_or_else(apart)?;
                open.insert_node(node, region, last, content)?;
                last = Some(node);
                ready.extend(inside.remove(&node).into_iter().flatten());
            }
        }
        if self.nodes.is_empty() && inside.is_empty() { Ok(()) } else { Err(apart()) }
    }
}

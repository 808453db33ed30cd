//! V10 and V12 for contracts: each has its region, and invariants stand where those of a type are stated. What contracts
//! answer is checked at their `yield`.

use lmlang_ir::{Body, Contract, ContractKind, ContractRef, Opcode, RegionOwner};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::View;

/// A contract of a function.
pub(crate) fn check(view: &View<'_>, of: ContractRef, contract: &Contract, out: &mut Vec<Diagnostic>) {
    let region = view.body.region(contract.region);
    if region.is_none_or(|region| region.owner != RegionOwner::Contract(of)) {
        out.push(view.part_finding(Code::ContractRegion, of));
    }
    let states = view.function.states_invariants_of().is_some() && has_bare_body(view.body);
    if contract.kind == ContractKind::Invariant && !states {
        out.push(view.part_finding(Code::InvariantMisplaced, of));
    }
}

/// Whether nothing stands in a body but how it ends: what states invariants is called without a node, and does nothing else.
fn has_bare_body(body: &Body) -> bool {
    let mut nodes = body.root().into_iter().flat_map(|root| body.nodes_in(root));
    nodes.all(|of| body.node(of).is_some_and(|node| node.op().code() == Opcode::Return))
}

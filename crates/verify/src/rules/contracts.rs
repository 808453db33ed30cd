//! V10 and V12 for contracts: each has its region, and invariants stand where those of a type are stated. What contracts
//! answer is checked at their `yield`.

use lmlang_ir::{Contract, ContractKind, ContractRef, RegionOwner};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::View;

/// A contract of a function.
pub(crate) fn check(view: &View<'_>, of: ContractRef, contract: &Contract, out: &mut Vec<Diagnostic>) {
    let region = view.body.region(contract.region);
    if region.is_none_or(|region| region.owner != RegionOwner::Contract(of)) {
        out.push(view.part_finding(Code::ContractRegion, of));
    }
    if contract.kind == ContractKind::Invariant && view.function.invariants_of().is_none() {
        out.push(view.part_finding(Code::InvariantSignature, of));
    }
}

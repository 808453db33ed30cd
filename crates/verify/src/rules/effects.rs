//! V12: effects stay within bounds.

use lmlang_ir::ops::bound_needed;
use lmlang_ir::{EffectBound, Opcode};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::{Site, View};

/// What a node does, against what the function, or a contract, may do.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let bound = view.function.head().effect_bound;
    if bound == EffectBound::Any && !view.has_contracts {
        return;
    }
    let node = site.node;
    let code = node.op().code();
    let is_variable = matches!(code, Opcode::VarGet | Opcode::VarSet);
    let needed = bound_needed(view.program, node.op());
    if needed == EffectBound::Pure && !is_variable {
        return;
    }
    let in_contract = view.in_contract(site);
    if in_contract && is_variable {
        out.push(view.node_finding(Code::VariableInContract, site, None));
    }
    let allowed = if in_contract { EffectBound::Reads } else { bound };
    if needed > allowed {
        let finding = view.node_finding(Code::EffectExceedsBound, site, None);
        out.push(finding.expecting(allowed).finding(needed));
    }
}

/// Tells whether a node is a reason for its function to be more than pure.
pub(crate) fn is_reader(view: &View<'_>, site: Site<'_>) -> bool {
    bound_needed(view.program, site.node.op()) > EffectBound::Pure && !view.in_contract(site)
}

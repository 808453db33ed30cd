//! V12: effects stay within bounds.

use lmlang_ir::{Attr, Effect, EffectBound, Node, Opcode, Program};

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
    let needed = needed(view.program, node);
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

/// The least bound that allows a node. Variables of the function are its own business.
pub(crate) fn needed(program: &Program, node: &Node) -> EffectBound {
    let op = node.op();
    match op.spec().effect {
        Effect::Pure | Effect::Traps | Effect::Control => EffectBound::Pure,
        Effect::Reads if op.code() == Opcode::VarGet => EffectBound::Pure,
        Effect::Reads => EffectBound::Reads,
        Effect::Writes if op.code() == Opcode::VarSet => EffectBound::Pure,
        Effect::Writes | Effect::Io => EffectBound::Any,
        Effect::Calls => {
            let Attr::Function(callee) = op.attr() else { return EffectBound::Any };
            // A function that does not exist is reported as that.
            program.function(*callee).map_or(EffectBound::Pure, |callee| callee.head().effect_bound)
        }
    }
}

/// Tells whether a node is a reason for its function to be more than pure.
pub(crate) fn is_reader(view: &View<'_>, site: Site<'_>) -> bool {
    needed(view.program, site.node) > EffectBound::Pure && !view.in_contract(site)
}

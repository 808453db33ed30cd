//! V1, V2 and the number of inputs of V5: sources exist, are in scope, and are of the expected types.

use lmlang_ir::ops::Expected;
use lmlang_ir::{Node, NodeRef, Opcode, RegionOwner, Source};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::ports::Inputs;
use crate::view::{Given, View};

/// Inputs of a node; what they take is not known when the operator names something that does not exist.
pub(crate) fn check(
    view: &View<'_>,
    of: NodeRef,
    node: &Node,
    expected: Option<&Inputs>,
    out: &mut Vec<Diagnostic>,
) {
    for (port, source) in node.inputs().iter().enumerate() {
        let wanted = expected.and_then(|inputs| inputs.get(port));
        match source {
            None => {
                let hole = view.node_finding(Code::EmptyInput, of, node, Some(port));
                out.push(Diagnostic { expected: wanted.map(Fact::from), ..hole });
            }
            Some(source) => check_source(view, of, node, port, source, wanted, out),
        }
    }
    let Some(expected) = expected else { return };
    if expected.len() != node.inputs().len() {
        let open = node.op().spec().inputs.iter().any(|port| port.repeated());
        let code = match (answers_contract(view, node), open) {
            (true, _) => Code::ContractNotBoolean,
            (false, true) => Code::ArityMismatch,
            (false, false) => Code::InputCount,
        };
        let finding = view.node_finding(code, of, node, None);
        out.push(finding.expecting(expected.len()).finding(node.inputs().len()));
    }
}

fn check_source(
    view: &View<'_>,
    of: NodeRef,
    node: &Node,
    port: usize,
    source: Source,
    wanted: Option<&Expected>,
    out: &mut Vec<Diagnostic>,
) {
    let finding = |code| view.node_finding(code, of, node, Some(port)).finding(source);
    let given = match view.given(source) {
        Given::NoSource => return out.push(finding(Code::UnknownSource)),
        Given::NoPort => {
            out.push(finding(Code::PortGone));
            None
        }
        Given::Unknown => None,
        Given::Is(ty) => Some(ty),
    };
    if !view.in_scope(source, of, node) {
        out.push(finding(Code::NotInScope));
    }
    let (Some(wanted), Some(given)) = (wanted, given) else { return };
    if !wanted.accepts(&given) {
        let code = if answers_contract(view, node) { Code::ContractNotBoolean } else { Code::TypeMismatch };
        out.push(finding(code).expecting(wanted).finding(given.into_owned()));
    }
}

/// Tells whether a node is the `yield` that gives a contract's answer.
fn answers_contract(view: &View<'_>, node: &Node) -> bool {
    node.op().code() == Opcode::Yield
        && view
            .body
            .region(node.region())
            .is_some_and(|region| matches!(region.owner, RegionOwner::Contract(_)))
}

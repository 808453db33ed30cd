//! V1, V2 and the number of inputs of V5: sources exist, are in scope, and are of the expected types.

use lmlang_ir::{Node, Opcode, RegionOwner, Source};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::ports::Inputs;
use crate::view::{Given, Look, Site, View};

/// Inputs of a node; what they take is not known when the operator names something that does not exist.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, expected: &Inputs, out: &mut Vec<Diagnostic>) {
    let node = site.node;
    for (port, source) in node.inputs().iter().enumerate() {
        match source {
            None => {
                let wanted = expected.get(node, port);
                let hole = view.node_finding(Code::EmptyInput, site, Some(port));
                out.push(Diagnostic { expected: wanted.as_ref().map(Fact::from), ..hole });
            }
            Some(source) => check_source(view, site, port, source, expected, out),
        }
    }
    let Some(count) = expected.count(node) else { return };
    if count != node.inputs().len() {
        let open = node.op().spec().inputs.iter().any(|port| port.repeated());
        let code = match (answers_contract(view, node), open) {
            (true, _) => Code::ContractNotBoolean,
            (false, true) => Code::ArityMismatch,
            (false, false) => Code::InputCount,
        };
        let finding = view.node_finding(code, site, None);
        out.push(finding.expecting(count).finding(node.inputs().len()));
    }
}

fn check_source(
    view: &View<'_>,
    site: Site<'_>,
    port: usize,
    source: Source,
    expected: &Inputs,
    out: &mut Vec<Diagnostic>,
) {
    let finding = |code| view.node_finding(code, site, Some(port)).finding(source);
    let Look { given, in_scope } = view.look(source, site);
    let given = match given {
        Given::NoSource => return out.push(finding(Code::UnknownSource)),
        Given::NoPort => {
            out.push(finding(Code::PortGone));
            None
        }
        Given::Unknown => None,
        Given::Is(ty) => Some(ty),
    };
    if !in_scope {
        out.push(finding(Code::NotInScope));
    }
    let Some(given) = given else { return };
    if !expected.accepts(site.node, port, &given) {
        let Some(wanted) = expected.get(site.node, port) else { return };
        let code =
            if answers_contract(view, site.node) { Code::ContractNotBoolean } else { Code::TypeMismatch };
        out.push(finding(code).expecting(&wanted).finding(given.into_owned()));
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

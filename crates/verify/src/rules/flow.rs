//! V3 and unreachable code: what the node before leaves to run.

use lmlang_ir::{Node, NodeRef, Opcode, RegionRef};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::{Site, View};

/// Whether a node is ever come to.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let Some((before, previous)) = view.previous(site) else { return };
    if previous.op().is_terminator() {
        let finding = view.node_finding(Code::CodeAfterTerminator, site, None);
        out.push(finding.beside(before.into()));
    } else if site.node.op().code() != Opcode::Unreachable && !passes_on(view, before, previous) {
        let finding = view.node_finding(Code::UnreachableCode, site, None);
        out.push(finding.beside(before.into()));
    }
}

/// Tells whether what follows a node may run: one of its regions yields or is not finished, or an exit leaves it.
fn passes_on(view: &View<'_>, of: NodeRef, node: &Node) -> bool {
    if node.regions().is_empty() {
        return true;
    }
    let last = |region: &RegionRef| view.body.node(view.body.last_in(*region)?);
    let yields = |region: &RegionRef| match last(region) {
        None => true,
        Some(last) => !last.op().is_terminator() || last.op().code() == Opcode::Yield,
    };
    node.regions().iter().any(yields) || view.is_left(of)
}

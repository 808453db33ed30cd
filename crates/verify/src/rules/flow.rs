//! V3 and unreachable code: what the node before leaves to run.

use lmlang_ir::{Attr, Body, Exit, Node, NodeRef, Opcode};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::{Site, View};

/// Whether a node is ever come to.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let Some((before, previous)) = view.previous(site) else { return };
    if previous.op().is_terminator() {
        let finding = view.node_finding(Code::CodeAfterTerminator, site, None);
        out.push(finding.beside(before.into()));
    } else if site.node.op().code() != Opcode::Unreachable && !passes_on(view.body, before, previous) {
        let finding = view.node_finding(Code::UnreachableCode, site, None);
        out.push(finding.beside(before.into()));
    }
}

/// Tells whether what follows a node may run: one of its regions yields or is not finished, or an exit leaves it.
fn passes_on(body: &Body, of: NodeRef, node: &Node) -> bool {
    if node.regions().is_empty() {
        return true;
    }
    let yields = |region: &lmlang_ir::RegionRef| match body.last_in(*region).and_then(|last| body.node(last))
    {
        None => true,
        Some(last) => !last.op().is_terminator() || last.op().code() == Opcode::Yield,
    };
    node.regions().iter().any(yields) || body.users_of(of.number()).any(|one| breaks_out(body, one.node, of))
}

fn breaks_out(body: &Body, exit: NodeRef, of: NodeRef) -> bool {
    let Some(exit) = body.node(exit) else { return false };
    if let Attr::Switch(targets) = exit.op().attr() {
        return targets.contains(&Exit::Break(of));
    }
    *exit.op().attr() == Attr::Exit(of) && matches!(exit.op().code(), Opcode::Break | Opcode::BreakIf)
}

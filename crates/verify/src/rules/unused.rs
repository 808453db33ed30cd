//! Warns of values that nobody uses.

use lmlang_ir::{Effect, Node, NodeRef};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::View;

/// A node without effect whose value goes nowhere.
pub(crate) fn check(view: &View<'_>, of: NodeRef, node: &Node, out: &mut Vec<Diagnostic>) {
    if node.op().spec().effect == Effect::Pure && !view.is_used(of) {
        out.push(view.node_finding(Code::UnusedValue, of, node, None));
    }
}

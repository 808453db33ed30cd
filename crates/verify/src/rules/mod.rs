//! The rules, one file per group. Each looks at one entity and a bounded neighbourhood.

pub(crate) mod contracts;
pub(crate) mod effects;
pub(crate) mod exits;
pub(crate) mod flow;
pub(crate) mod functions;
pub(crate) mod matches;
pub(crate) mod memory;
pub(crate) mod mentions;
pub(crate) mod modules;
pub(crate) mod regions;
pub(crate) mod sources;
pub(crate) mod storage;
pub(crate) mod types;
pub(crate) mod unused;
pub(crate) mod variables;

use lmlang_ir::{Node, NodeRef};

use crate::diagnostic::Diagnostic;
use crate::ports;
use crate::view::View;

/// All rules about a node.
pub(crate) fn check_node(view: &View<'_>, of: NodeRef, node: &Node, out: &mut Vec<Diagnostic>) {
    let expected = ports::inputs(view.program, view.function, node);
    sources::check(view, of, node, expected.as_ref(), out);
    mentions::check(view, of, node, out);
    exits::check(view, of, node, out);
    matches::check(view, of, node, out);
    regions::check_owner(view, of, node, out);
    memory::check(view, of, node, out);
    effects::check(view, of, node, out);
    flow::check(view, of, node, out);
    unused::check(view, of, node, out);
}

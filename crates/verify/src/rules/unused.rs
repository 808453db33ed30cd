//! Warns of values that nobody uses.

use lmlang_ir::Effect;

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::{Site, View};

/// A node without effect whose value goes nowhere.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    if site.node.op().spec().effect == Effect::Pure && !view.is_used(site) {
        out.push(view.node_finding(Code::UnusedValue, site, None));
    }
}

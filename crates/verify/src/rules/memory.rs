//! V9: widths, alignment, and a memory for what uses it.

use lmlang_ir::Attr;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::view::{Site, View};

/// A node that accesses memory.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let op = site.node.op();
    if !view.has_memory && op.code().uses_memory() {
        out.push(view.node_finding(Code::MemoryMissing, site, None));
    }
    let Attr::Memory(arg) = op.attr() else { return };
    let width = op.code().access_bytes(arg.ty);
    if u32::from(arg.align_log2) > width.ilog2() {
        let finding = view.node_finding(Code::AlignmentTooLarge, site, None);
        let found = 1u64.checked_shl(arg.align_log2.into()).unwrap_or(u64::MAX);
        out.push(finding.expecting(Fact::AtMost(width.into())).finding(found as usize));
    }
}

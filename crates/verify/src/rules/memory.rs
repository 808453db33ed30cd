//! V9: widths, alignment, and a memory for what uses it.

use lmlang_ir::ops::Group;
use lmlang_ir::{Attr, Effect, Opcode};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::view::{Site, View};

/// A node that accesses memory.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let op = site.node.op();
    if !view.has_memory && uses_memory(op.code()) {
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

/// Tells whether an operator needs linear memory.
pub(crate) fn uses_memory(code: Opcode) -> bool {
    let spec = code.spec();
    let touches = matches!(spec.effect, Effect::Reads | Effect::Writes);
    match spec.group {
        Group::Memory => touches && code != Opcode::DataDrop,
        Group::Text => touches,
        Group::Value
        | Group::Integer
        | Group::Bits
        | Group::Comparison
        | Group::Float
        | Group::Conversion
        | Group::Variable
        | Group::Aggregate
        | Group::Call
        | Group::Table
        | Group::Control
        | Group::Io => false,
    }
}

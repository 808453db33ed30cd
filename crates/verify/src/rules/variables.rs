//! V6 and unread variables: the cells of a function.

use lmlang_ir::{Opcode, VarRef, Variable};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::rules::types;
use crate::view::View;

/// A variable of a function.
pub(crate) fn check(view: &View<'_>, of: VarRef, variable: &Variable, out: &mut Vec<Diagnostic>) {
    types::check_use(view.program, view.module(), &variable.ty, &|code| view.part_finding(code, of), out);
    let reads = |node| view.body.node(node).is_some_and(|node| node.op().code() == Opcode::VarGet);
    if !view.body.users_of(of.number()).any(|one| reads(one.node)) {
        out.push(view.part_finding(Code::VariableNeverRead, of));
    }
}

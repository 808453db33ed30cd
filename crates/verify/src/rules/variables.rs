//! V6 and unread variables: the cells of a function.

use lmlang_ir::{VarRef, Variable};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::rules::types;
use crate::view::View;

/// A variable of a function.
pub(crate) fn check(view: &View<'_>, of: VarRef, variable: &Variable, out: &mut Vec<Diagnostic>) {
    types::check_use(view.program, view.module(), &variable.ty, &|code| view.part_finding(code, of), out);
    types::check_zero(&variable.ty, &|code| view.part_finding(code, of), out);
    if !view.is_read(of) {
        out.push(view.part_finding(Code::VariableNeverRead, of));
    }
}

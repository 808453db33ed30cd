//! What compound requests rest on beyond what their primitive edits say.

use lmlang_ir::{Attr, Opcode, Program, Ref};

use super::inputs::EditRequest;
use crate::edit::{Edit, FunctionEdit};
use crate::rest::Rest;

/// What a request rests on that was carried out as some primitives, if it is one that reads more than these say.
pub(super) fn resting(request: &EditRequest, before: &Program, edits: &[Edit]) -> Option<Rest> {
    let (gone, on) = if let EditRequest::InlineCall(_) = request {
        edits.iter().find_map(|edit| inlined(edit, before))?
    } else if let EditRequest::PromoteVar(_) = request {
        let of = edits.iter().find_map(promoted)?;
        (of, of)
    } else {
        return None;
    };
    let by = [gone].into_iter().chain(edits.iter().filter_map(|edit| made(edit, before)));
    Some(Rest { on, by: by.collect() })
}

/// The call that an edit removes, and the function that it called.
fn inlined(edit: &Edit, before: &Program) -> Option<(Ref, Ref)> {
    let Edit::Within { function, edit: FunctionEdit::RemoveNode { node } } = edit else { return None };
    let op = before.function(*function)?.body().node(*node)?.op();
    let Attr::Function(of) = op.attr() else { return None };
    (op.code() == Opcode::Call).then(|| ((*node).into(), (*of).into()))
}

/// The variable that an edit removes.
fn promoted(edit: &Edit) -> Option<Ref> {
    let Edit::Within { edit: FunctionEdit::RemoveVariable { variable }, .. } = edit else { return None };
    Some((*variable).into())
}

/// What an edit puts into a region that was there (what is in that comes and goes with it), or lets take or give another
/// number of values.
fn made(edit: &Edit, before: &Program) -> Option<Ref> {
    let Edit::Within { edit, .. } = edit else { return None };
    if let FunctionEdit::InsertNode { node, region, .. } = edit {
        return before.place((*region).into()).map(|_| (*node).into());
    }
    let reshapes = matches!(edit, FunctionEdit::SetNode { .. } | FunctionEdit::SetRegion { .. });
    edit.subject().filter(|_| reshapes)
}

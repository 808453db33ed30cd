//! Which argument of an edit a mistake is about, and how much text an edit brings.

use super::inputs::EditRequest;

impl EditRequest {
    /// The path of the argument that tells what the edit makes of an entity, or of one of its inputs; `placed`: that it stands
    /// in the text of the edit.
    pub fn path(&self, port: Option<u16>, placed: bool) -> Vec<String> {
        let input;
        let argument: &[&str] = match self {
            EditRequest::AddText(_)
            | EditRequest::ReplaceFunctionText(_)
            | EditRequest::ReplaceModuleText(_)
            | EditRequest::ReplaceType(_)
            | EditRequest::ReplaceContract(_)
            | EditRequest::ReplaceStorage(_)
            | EditRequest::InsertText(_)
            | EditRequest::AddType(_)
            | EditRequest::AddContract(_) => &["text"],
            EditRequest::ApplyTextPatch(_) => &["patch"],
            EditRequest::AddFunction(_) | EditRequest::AddClosure(_) if placed => &["body"],
            EditRequest::AddModule(_)
            | EditRequest::AddFunction(_)
            | EditRequest::AddClosure(_)
            | EditRequest::RenameModule(_)
            | EditRequest::RenameType(_)
            | EditRequest::RenameFunction(_)
            | EditRequest::RenameNode(_)
            | EditRequest::RenameVar(_) => &["name"],
            EditRequest::MoveFunction(_) => &["module"],
            EditRequest::SetVisibility(_) => &["visibility"],
            EditRequest::AddVar(_) => &["type"],
            EditRequest::ModifyNode(_) | EditRequest::Wrap(_) => &["op"],
            EditRequest::ExtractFunction(_) => &["refs"],
            EditRequest::ReplaceSubgraph(_) => &["text"],
            EditRequest::ReplacePattern(_) => &["replacement"],
            EditRequest::AddLoopParam(_) => &["next"],
            EditRequest::AddResult(_) => &["default"],
            EditRequest::AddEdge(_) => &["from"],
            EditRequest::AddControlEdge(_) => &["to"],
            EditRequest::ReplaceUses(_) => &["with"],
            EditRequest::InsertNode(edit) => match port.filter(|port| usize::from(*port) < edit.inputs.len())
            {
                Some(port) => {
                    input = port.to_string();
                    &["inputs", &input]
                }
                None => &["op"],
            },
            EditRequest::RemoveNode(edit) if edit.replace_uses_with.is_some() => &["replaceUsesWith"],
            EditRequest::RemoveModule(_)
            | EditRequest::RemoveType(_)
            | EditRequest::SetSignature(_)
            | EditRequest::RemoveFunction(_)
            | EditRequest::SetDoc(_)
            | EditRequest::RemoveNode(_)
            | EditRequest::MoveNode(_)
            | EditRequest::RemoveEdge(_)
            | EditRequest::RemoveVar(_)
            | EditRequest::PromoteVar(_)
            | EditRequest::DemoteToVar(_)
            | EditRequest::RemoveContract(_)
            | EditRequest::Unwrap(_)
            | EditRequest::InlineCall(_)
            | EditRequest::Unsupported(_) => &[],
        };
        let path = std::iter::once(self.field()).chain(argument.iter().copied());
        path.map(str::to_owned).collect()
    }

    /// The bytes of text that the edit carries: what takes time to read.
    pub fn text_bytes(&self) -> usize {
        match self {
            EditRequest::AddText(edit) => edit.text.len(),
            EditRequest::ReplaceFunctionText(edit)
            | EditRequest::ReplaceModuleText(edit)
            | EditRequest::ReplaceType(edit)
            | EditRequest::ReplaceContract(edit)
            | EditRequest::ReplaceStorage(edit) => edit.text.len(),
            EditRequest::InsertText(edit) => edit.text.len(),
            EditRequest::ApplyTextPatch(edit) => edit.patch.len(),
            EditRequest::AddType(edit) => edit.text.len(),
            EditRequest::AddFunction(edit) | EditRequest::AddClosure(edit) => {
                edit.body.as_ref().map_or(0, String::len) + edit.doc.as_ref().map_or(0, String::len)
            }
            EditRequest::AddModule(edit) => edit.doc.as_ref().map_or(0, String::len),
            EditRequest::SetDoc(edit) => edit.doc.as_ref().map_or(0, String::len),
            EditRequest::InsertNode(edit) => edit.op.len(),
            EditRequest::ModifyNode(edit) => edit.op.len(),
            EditRequest::AddContract(edit) => edit.text.len() + edit.message.len(),
            EditRequest::Wrap(edit) => edit.op.len(),
            EditRequest::ReplaceSubgraph(edit) => edit.text.len(),
            EditRequest::ReplacePattern(edit) => edit.pattern.len() + edit.replacement.len(),
            EditRequest::RenameModule(_)
            | EditRequest::RemoveModule(_)
            | EditRequest::RenameType(_)
            | EditRequest::RemoveType(_)
            | EditRequest::SetSignature(_)
            | EditRequest::RenameFunction(_)
            | EditRequest::MoveFunction(_)
            | EditRequest::RemoveFunction(_)
            | EditRequest::SetVisibility(_)
            | EditRequest::RemoveNode(_)
            | EditRequest::MoveNode(_)
            | EditRequest::RenameNode(_)
            | EditRequest::AddEdge(_)
            | EditRequest::AddControlEdge(_)
            | EditRequest::RemoveEdge(_)
            | EditRequest::ReplaceUses(_)
            | EditRequest::AddVar(_)
            | EditRequest::RenameVar(_)
            | EditRequest::RemoveVar(_)
            | EditRequest::PromoteVar(_)
            | EditRequest::DemoteToVar(_)
            | EditRequest::RemoveContract(_)
            | EditRequest::AddLoopParam(_)
            | EditRequest::AddResult(_)
            | EditRequest::Unwrap(_)
            | EditRequest::ExtractFunction(_)
            | EditRequest::InlineCall(_)
            | EditRequest::Unsupported(_) => 0,
        }
    }
}

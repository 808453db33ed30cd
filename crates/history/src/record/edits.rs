//! The JSON form of edits, version 1: `{"insertNode": {"f": "f7", "n": "n12", "g": "g3", "after": "n11", "node": ..}}`.

use std::sync::Arc;

use lmlang_ir::{
    ContractRef, FuncRef, Hash, ModuleRef, Name, NodeContent, NodeRef, RegionRef, Source, StructureError,
    TypeRef, VarRef,
};
use serde::{Deserialize, Serialize};

use super::entities::{
    ContentForm, ContractForm, FunctionForm, HeadForm, ModuleForm, RegionForm, TypeForm, VariableForm,
};
use super::shown::Shown;
use super::storage::StorageForm;
use super::{EDITS_VERSION, RecordError};
use crate::edit::{Edit, FunctionEdit};

/// An edit in its recorded form; serialises as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EditForm(Form);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Form {
    AddModule {
        m: Shown<ModuleRef>,
        is: ModuleForm,
    },
    SetModule {
        m: Shown<ModuleRef>,
        is: ModuleForm,
    },
    RemoveModule {
        m: Shown<ModuleRef>,
    },
    AddType {
        t: Shown<TypeRef>,
        is: TypeForm,
    },
    SetType {
        t: Shown<TypeRef>,
        is: TypeForm,
    },
    RemoveType {
        t: Shown<TypeRef>,
    },
    AddStorage {
        v: Shown<VarRef>,
        is: StorageForm,
    },
    SetStorage {
        v: Shown<VarRef>,
        is: StorageForm,
    },
    RemoveStorage {
        v: Shown<VarRef>,
    },
    AddFunction {
        f: Shown<FuncRef>,
        is: Box<FunctionForm>,
    },
    RemoveFunction {
        f: Shown<FuncRef>,
        hash: Shown<Hash>,
    },
    SetHead {
        f: Shown<FuncRef>,
        is: Box<HeadForm>,
    },
    AddVar {
        f: Shown<FuncRef>,
        v: Shown<VarRef>,
        is: VariableForm,
    },
    SetVar {
        f: Shown<FuncRef>,
        v: Shown<VarRef>,
        is: VariableForm,
    },
    RemoveVar {
        f: Shown<FuncRef>,
        v: Shown<VarRef>,
    },
    AddContract {
        f: Shown<FuncRef>,
        k: Shown<ContractRef>,
        is: ContractForm,
    },
    SetContract {
        f: Shown<FuncRef>,
        k: Shown<ContractRef>,
        is: ContractForm,
    },
    RemoveContract {
        f: Shown<FuncRef>,
        k: Shown<ContractRef>,
    },
    AddRegion {
        f: Shown<FuncRef>,
        g: Shown<RegionRef>,
        is: RegionForm,
    },
    SetRegion {
        f: Shown<FuncRef>,
        g: Shown<RegionRef>,
        is: RegionForm,
    },
    RemoveRegion {
        f: Shown<FuncRef>,
        g: Shown<RegionRef>,
    },
    InsertNode {
        f: Shown<FuncRef>,
        n: Shown<NodeRef>,
        g: Shown<RegionRef>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Shown<NodeRef>>,
        is: ContentForm,
    },
    RemoveNode {
        f: Shown<FuncRef>,
        n: Shown<NodeRef>,
    },
    SetNode {
        f: Shown<FuncRef>,
        n: Shown<NodeRef>,
        is: ContentForm,
    },
    SetLabel {
        f: Shown<FuncRef>,
        n: Shown<NodeRef>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Name>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doc: Option<Arc<str>>,
    },
    SetInput {
        f: Shown<FuncRef>,
        n: Shown<NodeRef>,
        input: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Shown<Source>>,
    },
    MoveNode {
        f: Shown<FuncRef>,
        n: Shown<NodeRef>,
        g: Shown<RegionRef>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Shown<NodeRef>>,
    },
}

#[derive(Deserialize)]
struct VersionOnly {
    v: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListForm {
    v: u32,
    edits: Vec<EditForm>,
}

/// The bytes of a list of edits, as the log keeps them: JSON with the version.
pub fn encode_edits(edits: &[Edit]) -> Vec<u8> {
    let list = ListForm { v: EDITS_VERSION, edits: edits.iter().map(EditForm::from).collect() };
    // Writing to memory does not fail, and every key is a text.
    serde_json::to_vec(&list).expect("an edit has a JSON form")
}

/// Reads what [`encode_edits`] wrote.
pub fn decode_edits(bytes: &[u8]) -> Result<Vec<Edit>, RecordError> {
    let form: Result<ListForm, serde_json::Error> = serde_json::from_slice(bytes);
    let list = match form {
        Ok(list) if list.v == EDITS_VERSION => list,
        Ok(list) => return Err(RecordError::Version(list.v)),
        Err(error) => {
            return Err(match serde_json::from_slice::<VersionOnly>(bytes) {
                Ok(found) if found.v != EDITS_VERSION => RecordError::Version(found.v),
                Ok(_) | Err(_) => RecordError::Json(error),
            });
        }
    };
    list.edits.into_iter().map(|form| Edit::try_from(form).map_err(RecordError::from)).collect()
}

/// The JSON of one edit.
pub fn edit_json(edit: &Edit) -> String {
    // As in `encode_edits`.
    serde_json::to_string(&EditForm::from(edit)).expect("an edit has a JSON form")
}

/// Reads what [`edit_json`] wrote.
pub fn parse_edit(json: &str) -> Result<Edit, RecordError> {
    Ok(serde_json::from_str::<EditForm>(json)?.try_into()?)
}

fn content(of: &NodeContent) -> ContentForm {
    of.into()
}

impl From<&Edit> for EditForm {
    fn from(edit: &Edit) -> EditForm {
        EditForm(match edit {
            Edit::AddModule { module, content } => Form::AddModule { m: Shown(*module), is: content.into() },
            Edit::SetModule { module, content } => Form::SetModule { m: Shown(*module), is: content.into() },
            Edit::RemoveModule { module } => Form::RemoveModule { m: Shown(*module) },
            Edit::AddType { ty, content } => Form::AddType { t: Shown(*ty), is: content.as_ref().into() },
            Edit::SetType { ty, content } => Form::SetType { t: Shown(*ty), is: content.as_ref().into() },
            Edit::RemoveType { ty } => Form::RemoveType { t: Shown(*ty) },
            Edit::AddStorage { storage, content } => {
                Form::AddStorage { v: Shown(*storage), is: content.as_ref().into() }
            }
            Edit::SetStorage { storage, content } => {
                Form::SetStorage { v: Shown(*storage), is: content.as_ref().into() }
            }
            Edit::RemoveStorage { storage } => Form::RemoveStorage { v: Shown(*storage) },
            Edit::AddFunction { function, content } => {
                Form::AddFunction { f: Shown(*function), is: Box::new(content.as_ref().into()) }
            }
            Edit::RemoveFunction { function, content } => {
                Form::RemoveFunction { f: Shown(*function), hash: Shown(*content) }
            }
            Edit::Within { function, edit } => within(Shown(*function), edit),
        })
    }
}

fn within(f: Shown<FuncRef>, edit: &FunctionEdit) -> Form {
    match edit {
        FunctionEdit::SetHead { head } => Form::SetHead { f, is: Box::new(head.as_ref().into()) },
        FunctionEdit::AddVariable { variable, content } => {
            Form::AddVar { f, v: Shown(*variable), is: content.into() }
        }
        FunctionEdit::SetVariable { variable, content } => {
            Form::SetVar { f, v: Shown(*variable), is: content.into() }
        }
        FunctionEdit::RemoveVariable { variable } => Form::RemoveVar { f, v: Shown(*variable) },
        FunctionEdit::AddContract { contract, content } => {
            Form::AddContract { f, k: Shown(*contract), is: content.into() }
        }
        FunctionEdit::SetContract { contract, content } => {
            Form::SetContract { f, k: Shown(*contract), is: content.into() }
        }
        FunctionEdit::RemoveContract { contract } => Form::RemoveContract { f, k: Shown(*contract) },
        FunctionEdit::AddRegion { region, content } => {
            Form::AddRegion { f, g: Shown(*region), is: content.into() }
        }
        FunctionEdit::SetRegion { region, content } => {
            Form::SetRegion { f, g: Shown(*region), is: content.into() }
        }
        FunctionEdit::RemoveRegion { region } => Form::RemoveRegion { f, g: Shown(*region) },
        FunctionEdit::InsertNode { node, region, after, content: record } => Form::InsertNode {
            f,
            n: Shown(*node),
            g: Shown(*region),
            after: after.map(Shown),
            is: content(record),
        },
        FunctionEdit::RemoveNode { node } => Form::RemoveNode { f, n: Shown(*node) },
        FunctionEdit::SetNode { node, content: record } => {
            Form::SetNode { f, n: Shown(*node), is: content(record) }
        }
        FunctionEdit::SetLabel { node, name, doc } => {
            Form::SetLabel { f, n: Shown(*node), name: name.clone(), doc: doc.clone() }
        }
        FunctionEdit::SetInput { node, input, source } => {
            Form::SetInput { f, n: Shown(*node), input: *input, from: source.map(Shown) }
        }
        FunctionEdit::MoveNode { node, region, after } => {
            Form::MoveNode { f, n: Shown(*node), g: Shown(*region), after: after.map(Shown) }
        }
    }
}

impl TryFrom<EditForm> for Edit {
    type Error = StructureError;

    fn try_from(EditForm(form): EditForm) -> Result<Edit, StructureError> {
        Ok(match form {
            Form::AddModule { m, is } => Edit::AddModule { module: m.0, content: is.into() },
            Form::SetModule { m, is } => Edit::SetModule { module: m.0, content: is.into() },
            Form::RemoveModule { m } => Edit::RemoveModule { module: m.0 },
            Form::AddType { t, is } => Edit::AddType { ty: t.0, content: Arc::new(is.into()) },
            Form::SetType { t, is } => Edit::SetType { ty: t.0, content: Arc::new(is.into()) },
            Form::RemoveType { t } => Edit::RemoveType { ty: t.0 },
            Form::AddStorage { v, is } => Edit::AddStorage { storage: v.0, content: Arc::new(is.into()) },
            Form::SetStorage { v, is } => Edit::SetStorage { storage: v.0, content: Arc::new(is.into()) },
            Form::RemoveStorage { v } => Edit::RemoveStorage { storage: v.0 },
            Form::AddFunction { f, is } => {
                Edit::AddFunction { function: f.0, content: Arc::new(is.build()?) }
            }
            Form::RemoveFunction { f, hash } => Edit::RemoveFunction { function: f.0, content: hash.0 },
            Form::SetHead { f, is } => FunctionEdit::SetHead { head: Arc::new((*is).into()) }.within(f.0),
            Form::AddVar { f, v, is } => {
                FunctionEdit::AddVariable { variable: v.0, content: is.into() }.within(f.0)
            }
            Form::SetVar { f, v, is } => {
                FunctionEdit::SetVariable { variable: v.0, content: is.into() }.within(f.0)
            }
            Form::RemoveVar { f, v } => FunctionEdit::RemoveVariable { variable: v.0 }.within(f.0),
            Form::AddContract { f, k, is } => {
                FunctionEdit::AddContract { contract: k.0, content: is.into() }.within(f.0)
            }
            Form::SetContract { f, k, is } => {
                FunctionEdit::SetContract { contract: k.0, content: is.into() }.within(f.0)
            }
            Form::RemoveContract { f, k } => FunctionEdit::RemoveContract { contract: k.0 }.within(f.0),
            Form::AddRegion { f, g, is } => {
                FunctionEdit::AddRegion { region: g.0, content: is.into() }.within(f.0)
            }
            Form::SetRegion { f, g, is } => {
                FunctionEdit::SetRegion { region: g.0, content: is.into() }.within(f.0)
            }
            Form::RemoveRegion { f, g } => FunctionEdit::RemoveRegion { region: g.0 }.within(f.0),
            Form::InsertNode { f, n, g, after, is } => FunctionEdit::InsertNode {
                node: n.0,
                region: g.0,
                after: after.map(|after| after.0),
                content: Box::new(is.into()),
            }
            .within(f.0),
            Form::RemoveNode { f, n } => FunctionEdit::RemoveNode { node: n.0 }.within(f.0),
            Form::SetNode { f, n, is } => {
                FunctionEdit::SetNode { node: n.0, content: Box::new(is.into()) }.within(f.0)
            }
            Form::SetLabel { f, n, name, doc } => FunctionEdit::SetLabel { node: n.0, name, doc }.within(f.0),
            Form::SetInput { f, n, input, from } => {
                FunctionEdit::SetInput { node: n.0, input, source: from.map(|from| from.0) }.within(f.0)
            }
            Form::MoveNode { f, n, g, after } => {
                FunctionEdit::MoveNode { node: n.0, region: g.0, after: after.map(|after| after.0) }
                    .within(f.0)
            }
        })
    }
}

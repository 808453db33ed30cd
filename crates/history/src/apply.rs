//! Applying edits and taking them back.

use std::sync::Arc;

use lmlang_ir::{FunctionMut, NodeContent, Program, Ref, StructureError};
use thiserror::Error;

use crate::edit::{Edit, FunctionEdit};

/// An edit of a list that does not fit the program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("edit {index} cannot be applied: {cause}")]
pub struct ApplyError {
    /// Its position in the list.
    pub index: usize,
    /// What would break.
    pub cause: StructureError,
}

/// Applies one edit. The program is unchanged on an error.
pub fn apply(program: &mut Program, edit: &Edit) -> Result<(), StructureError> {
    match edit {
        Edit::AddModule { module, content } => program.add_module(*module, content.clone()),
        Edit::SetModule { module, content } => program.set_module(*module, content.clone()).map(drop),
        Edit::RemoveModule { module } => program.remove_module(*module).map(drop),
        Edit::AddType { ty, content } => program.add_type(*ty, content.as_ref().clone()),
        Edit::SetType { ty, content } => program.set_type(*ty, content.as_ref().clone()).map(drop),
        Edit::RemoveType { ty } => program.remove_type(*ty).map(drop),
        Edit::AddStorage { storage, content } => program.add_storage(*storage, content.as_ref().clone()),
        Edit::SetStorage { storage, content } => {
            program.set_storage(*storage, content.as_ref().clone()).map(drop)
        }
        Edit::RemoveStorage { storage } => program.remove_storage(*storage).map(drop),
        Edit::AddFunction { function, content } => program.add_whole_function(*function, Arc::clone(content)),
        Edit::RemoveFunction { function, content: _ } => program.remove_function(*function).map(drop),
        Edit::Within { function, edit } => apply_within(&mut program.function_mut(*function)?, edit),
    }
}

/// Applies a list of edits in order, opening each function once per run of edits. On an error the edits before it have
/// been applied: work on a copy.
pub fn apply_all(program: &mut Program, edits: &[Edit]) -> Result<(), ApplyError> {
    let mut index = 0;
    while let Some(edit) = edits.get(index) {
        let Edit::Within { function, .. } = edit else {
            apply(program, edit).map_err(|cause| ApplyError { index, cause })?;
            index += 1;
            continue;
        };
        let mut open = program.function_mut(*function).map_err(|cause| ApplyError { index, cause })?;
        while let Some(Edit::Within { function: next, edit }) = edits.get(index)
            && next == function
        {
            apply_within(&mut open, edit).map_err(|cause| ApplyError { index, cause })?;
            index += 1;
        }
    }
    Ok(())
}

/// Applies one edit to a function that is open. The function is unchanged on an error.
pub fn apply_within(function: &mut FunctionMut<'_>, edit: &FunctionEdit) -> Result<(), StructureError> {
    match edit {
        FunctionEdit::SetHead { head } => {
            function.set_head(head.as_ref().clone());
            Ok(())
        }
        FunctionEdit::AddVariable { variable, content } => function.add_variable(*variable, content.clone()),
        FunctionEdit::SetVariable { variable, content } => {
            function.set_variable(*variable, content.clone()).map(drop)
        }
        FunctionEdit::RemoveVariable { variable } => function.remove_variable(*variable).map(drop),
        FunctionEdit::AddContract { contract, content } => function.add_contract(*contract, content.clone()),
        FunctionEdit::SetContract { contract, content } => {
            function.set_contract(*contract, content.clone()).map(drop)
        }
        FunctionEdit::RemoveContract { contract } => function.remove_contract(*contract).map(drop),
        FunctionEdit::AddRegion { region, content } => function.add_region(*region, content.clone()),
        FunctionEdit::SetRegion { region, content } => {
            function.set_region(*region, content.clone()).map(drop)
        }
        FunctionEdit::RemoveRegion { region } => function.remove_region(*region).map(drop),
        FunctionEdit::InsertNode { node, region, after, content } => {
            function.insert_node(*node, *region, *after, content.as_ref().clone())
        }
        FunctionEdit::RemoveNode { node } => function.remove_node(*node).map(drop),
        FunctionEdit::SetNode { node, content } => {
            function.set_node(*node, content.as_ref().clone()).map(drop)
        }
        FunctionEdit::SetLabel { node, name, doc } => {
            let found = function.body().node(*node).ok_or(StructureError::Missing((*node).into()))?;
            let content = NodeContent { name: name.clone(), doc: doc.clone(), ..found.content() };
            function.set_node(*node, content).map(drop)
        }
        FunctionEdit::SetInput { node, input, source } => {
            function.set_input(*node, usize::from(*input), *source).map(drop)
        }
        FunctionEdit::MoveNode { node, region, after } => {
            function.move_node(*node, *region, *after).map(drop)
        }
    }
}

/// Turns a list of edits around: the edits that lead back from the state after it to `before`, refs, edges, ports, order,
/// names and docs included.
pub fn invert_all(edits: &[Edit], before: &Program) -> Result<Vec<Edit>, ApplyError> {
    let mut state = before.clone();
    let mut back = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let failed = |cause| ApplyError { index, cause };
        back.push(edit.invert(&state).map_err(failed)?);
        apply(&mut state, edit).map_err(failed)?;
    }
    back.reverse();
    Ok(back)
}

impl Edit {
    /// The edit that takes this one back, given the program that it is applied to.
    ///
    /// Fails when what the edit changes does not exist there.
    pub fn invert(&self, before: &Program) -> Result<Edit, StructureError> {
        let missing = |of: Ref| StructureError::Missing(of);
        Ok(match self {
            Edit::AddModule { module, .. } => Edit::RemoveModule { module: *module },
            Edit::SetModule { module, .. } => {
                let content = before.module(*module).ok_or(missing((*module).into()))?.clone();
                Edit::SetModule { module: *module, content }
            }
            Edit::RemoveModule { module } => {
                let content = before.module(*module).ok_or(missing((*module).into()))?.clone();
                Edit::AddModule { module: *module, content }
            }
            Edit::AddType { ty, .. } => Edit::RemoveType { ty: *ty },
            Edit::SetType { ty, .. } => {
                let content = Arc::clone(before.type_def(*ty).ok_or(missing((*ty).into()))?);
                Edit::SetType { ty: *ty, content }
            }
            Edit::RemoveType { ty } => {
                let content = Arc::clone(before.type_def(*ty).ok_or(missing((*ty).into()))?);
                Edit::AddType { ty: *ty, content }
            }
            Edit::AddStorage { storage, .. } => Edit::RemoveStorage { storage: *storage },
            Edit::SetStorage { storage, .. } => {
                let content = before.storage(*storage).ok_or(missing((*storage).into()))?.clone();
                Edit::SetStorage { storage: *storage, content: Arc::new(content) }
            }
            Edit::RemoveStorage { storage } => {
                let content = before.storage(*storage).ok_or(missing((*storage).into()))?.clone();
                Edit::AddStorage { storage: *storage, content: Arc::new(content) }
            }
            Edit::AddFunction { function, content } => {
                Edit::RemoveFunction { function: *function, content: content.content_hash() }
            }
            Edit::RemoveFunction { function, .. } => {
                let content = Arc::clone(before.function(*function).ok_or(missing((*function).into()))?);
                Edit::AddFunction { function: *function, content }
            }
            Edit::Within { function, edit } => {
                let before = before.function(*function).ok_or(missing((*function).into()))?;
                edit.invert(before)?.within(*function)
            }
        })
    }
}

impl FunctionEdit {
    /// The edit that takes this one back, given the function that it is applied to.
    pub fn invert(&self, before: &lmlang_ir::Function) -> Result<FunctionEdit, StructureError> {
        let body = before.body();
        let missing = |of: Ref| StructureError::Missing(of);
        Ok(match self {
            FunctionEdit::SetHead { .. } => FunctionEdit::SetHead { head: Arc::new(before.head().clone()) },
            FunctionEdit::AddVariable { variable, .. } => {
                FunctionEdit::RemoveVariable { variable: *variable }
            }
            FunctionEdit::SetVariable { variable, .. } => {
                let content = body.variable(*variable).ok_or(missing((*variable).into()))?.clone();
                FunctionEdit::SetVariable { variable: *variable, content }
            }
            FunctionEdit::RemoveVariable { variable } => {
                let content = body.variable(*variable).ok_or(missing((*variable).into()))?.clone();
                FunctionEdit::AddVariable { variable: *variable, content }
            }
            FunctionEdit::AddContract { contract, .. } => {
                FunctionEdit::RemoveContract { contract: *contract }
            }
            FunctionEdit::SetContract { contract, .. } => {
                let content = body.contract(*contract).ok_or(missing((*contract).into()))?.clone();
                FunctionEdit::SetContract { contract: *contract, content }
            }
            FunctionEdit::RemoveContract { contract } => {
                let content = body.contract(*contract).ok_or(missing((*contract).into()))?.clone();
                FunctionEdit::AddContract { contract: *contract, content }
            }
            FunctionEdit::AddRegion { region, .. } => FunctionEdit::RemoveRegion { region: *region },
            FunctionEdit::SetRegion { region, .. } => {
                let content = body.region(*region).ok_or(missing((*region).into()))?.clone();
                FunctionEdit::SetRegion { region: *region, content }
            }
            FunctionEdit::RemoveRegion { region } => {
                let content = body.region(*region).ok_or(missing((*region).into()))?.clone();
                FunctionEdit::AddRegion { region: *region, content }
            }
            FunctionEdit::InsertNode { node, .. } => FunctionEdit::RemoveNode { node: *node },
            FunctionEdit::RemoveNode { node } => {
                let found = body.node(*node).ok_or(missing((*node).into()))?;
                FunctionEdit::InsertNode {
                    node: *node,
                    region: found.region(),
                    after: body.previous(*node),
                    content: Box::new(found.content()),
                }
            }
            FunctionEdit::SetNode { node, .. } => {
                let content = Box::new(body.node(*node).ok_or(missing((*node).into()))?.content());
                FunctionEdit::SetNode { node: *node, content }
            }
            FunctionEdit::SetLabel { node, .. } => {
                let found = body.node(*node).ok_or(missing((*node).into()))?;
                let (name, doc) = (found.name().cloned(), found.doc().cloned());
                FunctionEdit::SetLabel { node: *node, name, doc }
            }
            FunctionEdit::SetInput { node, input, .. } => {
                let found = body.node(*node).ok_or(missing((*node).into()))?;
                FunctionEdit::SetInput {
                    node: *node,
                    input: *input,
                    source: found.inputs().get(usize::from(*input)),
                }
            }
            FunctionEdit::MoveNode { node, .. } => {
                let found = body.node(*node).ok_or(missing((*node).into()))?;
                FunctionEdit::MoveNode { node: *node, region: found.region(), after: body.previous(*node) }
            }
        })
    }
}

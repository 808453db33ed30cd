//! What the indices of a module name.

use std::sync::{Arc, LazyLock};

use lmlang_ir::{FuncRef, Name, Signature, VarRef};

use super::operand::{OperandType, Operands};

/// What the indices of a module name.
#[derive(Debug, Default)]
pub(super) struct Indices {
    types: Vec<Arc<Signature>>,
    /// The same, as instructions see them.
    operands: Vec<Operands>,
    pub(super) functions: Vec<(FuncRef, u32)>,
    pub(super) globals: Vec<(VarRef, OperandType)>,
    pub(super) tables: Vec<(VarRef, OperandType)>,
    /// Nothing for a segment that nobody names any more.
    pub(super) elements: Vec<Option<VarRef>>,
    pub(super) data: Vec<VarRef>,
}

/// What the first parameters of functions and of loops are called that have no name of their own, in every module.
static PARAMS: LazyLock<Vec<Name>> = LazyLock::new(|| (0..16).map(|at| format!("p{at}").into()).collect());

impl Indices {
    /// Of some types; nothing is there yet.
    pub(super) fn of(types: &[Signature]) -> Indices {
        Indices {
            types: types.iter().cloned().map(Arc::new).collect(),
            operands: types.iter().map(Operands::of).collect(),
            ..Indices::default()
        }
    }

    pub(super) fn signature(&self, index: u32) -> &Arc<Signature> {
        &self.types[index as usize]
    }

    /// What a signature takes and gives.
    pub(super) fn operands(&self, index: u32) -> &Operands {
        &self.operands[index as usize]
    }

    pub(super) fn function(&self, index: u32) -> (FuncRef, &Operands) {
        let (of, ty) = self.functions[index as usize];
        (of, self.operands(ty))
    }

    pub(super) fn global(&self, index: u32) -> (VarRef, OperandType) {
        self.globals[index as usize]
    }

    pub(super) fn table(&self, index: u32) -> (VarRef, OperandType) {
        self.tables[index as usize]
    }

    pub(super) fn elements(&self, index: u32) -> VarRef {
        self.elements[index as usize].expect("a segment that is used was made")
    }

    pub(super) fn data(&self, index: u32) -> VarRef {
        self.data[index as usize]
    }
}

/// What a parameter is called that has no name.
pub(super) fn unnamed_param(at: u32) -> Name {
    PARAMS.get(at as usize).cloned().unwrap_or_else(|| format!("p{at}").into())
}

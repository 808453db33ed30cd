//! What the indices of a module name.

use std::sync::LazyLock;

use lmlang_ir::{FuncRef, Name, Signature, Type, VarRef};

/// What the indices of a module name.
#[derive(Debug, Default)]
pub(super) struct Indices {
    types: Vec<Signature>,
    pub(super) functions: Vec<(FuncRef, u32)>,
    pub(super) globals: Vec<(VarRef, Type)>,
    pub(super) tables: Vec<(VarRef, Type)>,
    /// Nothing for a segment that nobody names any more.
    pub(super) elements: Vec<Option<VarRef>>,
    pub(super) data: Vec<VarRef>,
}

/// What the first parameters of functions and of loops are called that have no name of their own, in every module.
static PARAMS: LazyLock<Vec<Name>> = LazyLock::new(|| (0..16).map(|at| format!("p{at}").into()).collect());

impl Indices {
    /// Of some types; nothing is there yet.
    pub(super) fn of(types: &[Signature]) -> Indices {
        Indices { types: types.to_vec(), ..Indices::default() }
    }

    pub(super) fn signature(&self, index: u32) -> &Signature {
        &self.types[index as usize]
    }

    pub(super) fn function(&self, index: u32) -> (FuncRef, &Signature) {
        let (of, ty) = self.functions[index as usize];
        (of, self.signature(ty))
    }

    pub(super) fn global(&self, index: u32) -> (VarRef, &Type) {
        let (of, ty) = &self.globals[index as usize];
        (*of, ty)
    }

    pub(super) fn table(&self, index: u32) -> (VarRef, &Type) {
        let (of, ty) = &self.tables[index as usize];
        (*of, ty)
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

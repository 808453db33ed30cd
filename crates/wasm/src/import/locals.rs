//! Locals to parameters and variables.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use lmlang_ir::builder::FunctionBuilder;
use lmlang_ir::draft::Draft;
use lmlang_ir::{Name, Type, VarRef};

/// The locals of a function. Those that nobody uses become nothing.
#[derive(Debug, Default)]
pub(super) struct Locals<'m> {
    /// Types, each up to a local.
    pub(super) ends: Vec<(u32, Type)>,
    pub(super) cells: HashMap<u32, (Cell, Type), RandomState>,
    pub(super) names: Option<&'m BTreeMap<u32, Name>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    /// A parameter that nothing is written to.
    Param(u16),
    /// A variable.
    Variable(VarRef),
}

impl Locals<'_> {
    fn ty(&self, local: u32) -> Type {
        let at = self.ends.partition_point(|(end, _)| *end <= local);
        self.ends[at].1.clone()
    }

    /// Where a local is kept, and its type.
    pub(super) fn cell(&mut self, local: u32, build: &mut FunctionBuilder<'_, &mut Draft>) -> (Cell, Type) {
        if let Some((cell, ty)) = self.cells.get(&local) {
            return (*cell, ty.clone());
        }
        let name = self.names.and_then(|of| of.get(&local).cloned());
        let ty = self.ty(local);
        let cell = Cell::Variable(build.variable(name, ty.clone()));
        self.cells.insert(local, (cell, ty.clone()));
        (cell, ty)
    }
}

//! Locals to parameters and variables.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use lmlang_ir::builder::FunctionBuilder;
use lmlang_ir::draft::Draft;
use lmlang_ir::{Name, VarRef};

use super::names::Indexed;
use super::operand::OperandType;

/// The locals of a function, and then of the next one. Those that nobody uses become nothing.
#[derive(Debug, Default)]
pub(super) struct Locals<'m> {
    /// Types, each up to a local.
    pub(super) ends: Vec<(u32, OperandType)>,
    /// The first ones. There may be many more that nobody uses.
    near: Vec<Option<(Cell, OperandType)>>,
    far: HashMap<u32, (Cell, OperandType), RandomState>,
    names: Option<&'m Indexed<Name>>,
}

/// How many come first.
const NEAR: usize = 128;

#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    /// A parameter that nothing is written to.
    Param(u16),
    /// A variable.
    Variable(VarRef),
}

impl<'m> Locals<'m> {
    /// None, with what the next ones will be called.
    pub(super) fn begin(&mut self, names: Option<&'m Indexed<Name>>) {
        self.ends.clear();
        self.near.clear();
        self.far.clear();
        self.names = names;
    }

    /// Keeps a local of some type in a cell.
    pub(super) fn keep(&mut self, local: u32, cell: Cell, ty: OperandType) {
        let at = local as usize;
        if at >= NEAR {
            self.far.insert(local, (cell, ty));
            return;
        }
        if at >= self.near.len() {
            self.near.resize(at + 1, None);
        }
        self.near[at] = Some((cell, ty));
    }

    fn ty(&self, local: u32) -> OperandType {
        let at = self.ends.partition_point(|(end, _)| *end <= local);
        self.ends[at].1
    }

    /// Where a local is kept, and its type.
    #[inline]
    pub(super) fn cell(
        &mut self,
        local: u32,
        build: &mut FunctionBuilder<'_, &mut Draft>,
    ) -> (Cell, OperandType) {
        // Most are near, and are asked for several times.
        match self.near.get(local as usize) {
            Some(Some(near)) => *near,
            _ => self.far_or_new(local, build),
        }
    }

    #[inline(never)]
    fn far_or_new(&mut self, local: u32, build: &mut FunctionBuilder<'_, &mut Draft>) -> (Cell, OperandType) {
        if let Some(far) = self.far.get(&local) {
            return *far;
        }
        let name = self.names.and_then(|of| of.get(local).cloned());
        let ty = self.ty(local);
        let cell = Cell::Variable(build.variable(name, ty.into()));
        self.keep(local, cell, ty);
        (cell, ty)
    }
}

//! Blocks, branches and what cannot be reached.

use lmlang_ir::{Exit, RegionRef, Source, Type};
use wasmparser::{BlockType, BrTable};

use super::super::ImportError;
use super::super::indices::unnamed_param;
use super::super::operand::{OperandType, Operands, types};
use super::{Body, Frame, Kind, Operand, Types};

impl<'m> Body<'m, '_> {
    /// What a block takes and leaves.
    fn block_types(&self, of: BlockType, offset: u64) -> Result<(Types<'m>, Types<'m>), ImportError> {
        let nothing = Types::Of(&[]);
        Ok(match of {
            BlockType::Empty => (nothing, nothing),
            BlockType::Type(ty) => {
                let ty = OperandType::of_value(ty)
                    .ok_or_else(|| ImportError::unsupported(format!("the type {ty}"), offset))?;
                (nothing, Types::One([ty]))
            }
            BlockType::FuncType(index) => {
                let Operands { params, results } = self.indices.operands(index);
                (Types::Of(params), Types::Of(results))
            }
        })
    }

    pub(super) fn open(&mut self, kind: Kind, of: BlockType, offset: u64) -> Result<(), ImportError> {
        let (params, results) = self.block_types(of, offset)?;
        let values = self.pop_typed(&params);
        let (height, label) = (self.stack.len(), self.labels.next());
        self.values += results.len();
        let owner = match kind {
            Kind::Loop => {
                let named = (0u32..).zip(params.iter().zip(&values));
                let named = named.map(|(at, (ty, value))| (unnamed_param(at), Type::from(*ty), *value));
                self.build.loop_(label, named, types(&results))
            }
            _ => self.build.block(label, types(&results)),
        };
        let outside = self.build.place();
        self.enter(owner.regions[0]);
        let inside = |(index, (ty, value)): (u16, (&OperandType, Source))| Operand {
            source: if kind == Kind::Loop { Source::RegionParam(owner.regions[0], index) } else { value },
            ty: *ty,
        };
        self.stack.extend((0u16..).zip(params.iter().zip(values)).map(inside));
        let (node, param_types) = (Some(owner.node), params);
        self.frames.push(Frame { kind, node, params: Vec::new(), param_types, results, height, outside });
        Ok(())
    }

    pub(super) fn open_if(&mut self, of: BlockType, offset: u64) -> Result<(), ImportError> {
        let (params, results) = self.block_types(of, offset)?;
        let condition = self.pop_condition();
        let values = self.pop_typed(&params);
        let (height, label) = (self.stack.len(), self.labels.next());
        self.values += results.len();
        let owner = self.build.labelled_if(label, condition, types(&results));
        let outside = self.build.place();
        self.enter(owner.regions[0]);
        let taken: Vec<Operand> =
            values.into_iter().zip(params.iter()).map(|(source, ty)| Operand { source, ty: *ty }).collect();
        self.stack.extend(taken.iter().copied());
        self.frames.push(Frame {
            kind: Kind::Then(owner.regions[1]),
            node: Some(owner.node),
            params: taken,
            param_types: params,
            results,
            height,
            outside,
        });
        Ok(())
    }

    fn enter(&mut self, region: RegionRef) {
        self.build.go(region).expect("the region was made with the node that owns it");
    }

    /// Ends the region that is open, with what it yields, unless nothing comes here.
    fn finish(&mut self) {
        if self.dead.take().is_some() {
            return;
        }
        let (results, function) = match self.frames.last() {
            Some(frame) => (frame.results, frame.kind == Kind::Function),
            None => return,
        };
        let values = self.pop_typed(&results);
        match function {
            true => self.build.ret(values),
            false => self.build.yield_(values),
        };
    }

    pub(super) fn otherwise(&mut self) {
        self.finish();
        let Some(frame) = self.frames.last_mut() else { return };
        let Kind::Then(region) = frame.kind else { return };
        frame.kind = Kind::Else;
        self.stack.truncate(frame.height);
        self.stack.append(&mut frame.params);
        self.enter(region);
    }

    pub(super) fn end(&mut self) {
        if matches!(self.frames.last(), Some(Frame { kind: Kind::Then(_), .. })) {
            // Without a second region what came in goes out.
            self.otherwise();
        }
        self.finish();
        let Some(frame) = self.frames.pop() else { return };
        self.stack.truncate(frame.height);
        if let Some(node) = frame.node {
            self.build.go_back(frame.outside);
            self.push_all(node, &frame.results);
        }
    }

    /// Nothing comes here until the block ends.
    pub(super) fn die(&mut self) {
        self.dead = Some(0);
    }

    /// Where a branch goes, and what it takes along.
    pub(super) fn label(&self, depth: u32) -> (Exit, Types<'m>) {
        let frame = &self.frames[self.frames.len() - 1 - depth as usize];
        match (frame.kind, frame.node) {
            (Kind::Loop, Some(node)) => (Exit::Continue(node), frame.param_types),
            (_, Some(node)) => (Exit::Break(node), frame.results),
            (_, None) => (Exit::Return, frame.results),
        }
    }

    pub(super) fn branch_if(&mut self, depth: u32) {
        let condition = self.pop_condition();
        let (exit, types) = self.label(depth);
        let values = self.pop_typed(&types);
        let kept = values.iter().zip(types.iter()).map(|(source, ty)| Operand { source: *source, ty: *ty });
        self.stack.extend(kept);
        match exit {
            Exit::Break(target) => {
                self.build.break_if(target, condition, values);
            }
            Exit::Continue(target) => {
                self.build.continue_if(target, condition, values);
            }
            Exit::Return => {
                let owner = self.build.if_(condition, Vec::new());
                self.build.within(owner.regions[0], |build| build.ret(values));
                self.build.within(owner.regions[1], |build| build.yield_([]));
            }
        }
    }

    pub(super) fn switch(&mut self, targets: &BrTable<'_>) -> Result<(), ImportError> {
        let index = self.pop_as(OperandType::I32);
        let mut exits = Vec::with_capacity(targets.len() as usize + 1);
        for target in targets.targets() {
            exits.push(self.label(target?).0);
        }
        let (last, types) = self.label(targets.default());
        exits.push(last);
        let values = self.pop_typed(&types);
        self.build.br_switch(index, exits, values);
        self.die();
        Ok(())
    }
}

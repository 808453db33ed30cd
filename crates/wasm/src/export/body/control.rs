//! Control: contracts around the body, blocks, loops, choices, and the ways out of them.

use lmlang_ir::ops::signature;
use lmlang_ir::{Attr, Case, Exit, Match, Node, NodeRef, Opcode, RegionRef, Source, Type};
use wasm_encoder::{BlockType, Instruction, ValType};

use super::super::types;
use super::{Done, Emitter, Input, Step, rotated};
use crate::heap;

impl<'p> Emitter<'_, 'p> {
    /// Evaluates contracts, unless one is being evaluated.
    pub(super) fn check(&mut self, contracts: &[RegionRef]) -> Done {
        if contracts.is_empty() {
            return Ok(());
        }
        if let Some(guard) = self.writing.guard {
            self.code.push(Instruction::GlobalGet(guard.global));
            self.code.push(Instruction::I32Eqz);
            self.code.push(Instruction::If(BlockType::Empty));
            self.code.push(Instruction::I32Const(1));
            self.code.push(Instruction::GlobalSet(guard.global));
        }
        for contract in contracts {
            self.walk(*contract);
            self.run()?;
            self.code.push(Instruction::I32Eqz);
            self.code.push(Instruction::If(BlockType::Empty));
            let broken = self.breaks(*contract);
            self.code.push(broken);
            self.code.push(Instruction::End);
        }
        if let Some(guard) = self.writing.guard {
            self.code.push(Instruction::I32Const(0));
            self.code.push(Instruction::GlobalSet(guard.global));
            self.code.push(Instruction::End);
        }
        Ok(())
    }

    fn breaks(&mut self, region: RegionRef) -> Instruction<'static> {
        let contract = self.body.contracts().find(|(_, contract)| contract.region == region);
        contract.map_or(Instruction::Unreachable, |(_, contract)| self.writing.breaks(self.of, contract))
    }

    /// The body, and what has to hold of its results.
    pub(super) fn root(&mut self, ensures: &[RegionRef]) -> Done {
        let Some(root) = self.body.root() else { return Ok(()) };
        let counts = !self.last_uses.is_empty() || !self.owned.is_empty() || self.fuel.is_some();
        if ensures.is_empty() && !counts {
            self.walk(root);
            return self.run();
        }
        let results = &self.function.head().results;
        let ty = self.block_type(&[], results);
        self.code.push(Instruction::Block(ty));
        self.returns_to = Some(self.labels.len());
        self.enter(None);
        self.work.push(Step::Leave);
        self.walk(root);
        self.run()?;
        self.code.push(Instruction::End);
        if !ensures.is_empty() {
            self.promise(ensures)?;
        }
        self.release_all();
        Ok(())
    }

    /// The results, which are on the stack, are as they have to be.
    fn promise(&mut self, ensures: &[RegionRef]) -> Done {
        let results = types::values(&self.function.head().results);
        let locals: Vec<u32> = results.into_iter().map(|ty| self.local(ty)).collect();
        locals.iter().rev().for_each(|local| self.code.push(Instruction::LocalSet(*local)));
        for region in ensures {
            for (port, local) in (0u16..).zip(&locals) {
                self.places.insert(Source::RegionParam(*region, port), (*local, self.code.position()));
            }
        }
        self.check(ensures)?;
        locals.iter().for_each(|local| self.code.push(Instruction::LocalGet(*local)));
        Ok(())
    }

    pub(super) fn leave(&mut self, of: NodeRef, values: Vec<Input>, exit: Exit) -> Done {
        self.take(of, values);
        let depth = self.depth(exit);
        self.code.push(Instruction::Br(depth));
        Ok(())
    }

    /// What goes along stays on the stack when the branch is not taken.
    pub(super) fn leave_if(&mut self, of: NodeRef, inputs: &[Input], exit: Exit) -> Done {
        if inputs.iter().any(|(_, source)| self.last_uses.is_on_heap(*source)) {
            // Who does not leave keeps what would go along.
            self.take(of, inputs[..1].iter().copied());
            self.code.push(Instruction::If(BlockType::Empty));
            self.take(of, inputs[1..].iter().copied());
            let depth = self.depth(exit) + 1;
            self.code.push(Instruction::Br(depth));
            self.code.push(Instruction::End);
            return Ok(());
        }
        self.take(of, rotated(inputs));
        let depth = self.depth(exit);
        self.code.push(Instruction::BrIf(depth));
        (1..inputs.len()).for_each(|_| self.code.push(Instruction::Drop));
        Ok(())
    }

    pub(super) fn block_type(&mut self, params: &[Type], results: &[Type]) -> BlockType {
        let (params, results) = (types::values(params), types::values(results));
        match (&params[..], &results[..]) {
            ([], []) => BlockType::Empty,
            ([], [one]) => BlockType::Result(*one),
            (_, _) => BlockType::FunctionType(self.writing.types.index(params, results)),
        }
    }

    pub(super) fn control(&mut self, of: NodeRef, node: &'p Node, inputs: &[Input]) -> Done {
        let Attr::Control(control) = node.op().attr() else { return Ok(()) };
        match (node.op().code(), node.regions()) {
            (Opcode::If, [then, otherwise]) if self.is_way_out(node, *then, *otherwise) => {
                self.take(of, inputs.iter().copied());
                let depth = self.depth(Exit::Return);
                self.code.push(Instruction::BrIf(depth));
            }
            (Opcode::If, [then, otherwise]) => {
                let ty = self.block_type(&[], &control.results);
                let start = self.take(of, inputs.iter().copied());
                self.code.push(Instruction::If(ty));
                self.name_block(of);
                self.enter(Some((of, false)));
                self.work.push(Step::Give(of, start));
                self.work.push(Step::Leave);
                self.work.push(Step::Put(Instruction::End));
                if self.fuel.is_some() || !self.does_nothing(*otherwise) {
                    self.walk(*otherwise);
                    self.work.push(Step::Put(Instruction::Else));
                }
                self.walk(*then);
            }
            (Opcode::Loop, [round]) => self.repeat(of, *round, &control.results, inputs)?,
            (_, regions) => {
                let ty = self.block_type(&[], &control.results);
                let start = self.code.position().into();
                self.code.push(Instruction::Block(ty));
                self.name_block(of);
                self.enter(Some((of, false)));
                self.work.push(Step::Give(of, start));
                self.work.push(Step::Leave);
                self.work.push(Step::Put(Instruction::End));
                regions.iter().for_each(|region| self.walk(*region));
            }
        }
        Ok(())
    }

    /// Whether a choice does no more than return nothing, or go on.
    fn is_way_out(&self, node: &Node, then: RegionRef, otherwise: RegionRef) -> bool {
        // What is counted is counted where it is executed, and a label is kept.
        self.fuel.is_none()
            && node.op().label().is_none()
            && self.only(then) == Some(Opcode::Return)
            && self.does_nothing(otherwise)
    }

    /// Whether a region only yields, and that nothing.
    pub(super) fn does_nothing(&self, region: RegionRef) -> bool {
        self.only(region) == Some(Opcode::Yield)
    }

    /// The operator of the only node of a region, if that takes nothing.
    fn only(&self, region: RegionRef) -> Option<Opcode> {
        let mut nodes = self.body.nodes_in(region).filter_map(|node| self.body.node(node));
        match (nodes.next(), nodes.next()) {
            (Some(only), None) if only.inputs().is_empty() => Some(only.op().code()),
            (_, _) => None,
        }
    }

    pub(super) fn repeat(
        &mut self,
        of: NodeRef,
        round: RegionRef,
        results: &[Type],
        inputs: &[Input],
    ) -> Done {
        let params: Vec<Type> = match self.body.region(round) {
            Some(region) => region.params.iter().map(|param| param.ty.clone()).collect(),
            None => Vec::new(),
        };
        let ty = self.block_type(&params, results);
        let start = self.take(of, inputs.iter().copied());
        // What is left early is a block around.
        let left = self.body.users_of(of.number()).filter(|one| one.input.is_none()).any(|one| {
            let op = self.body.node(one.node).map(Node::op);
            op.is_some_and(|op| match op.attr() {
                Attr::Switch(exits) => exits.contains(&Exit::Break(of)),
                _ => matches!(op.code(), Opcode::Break | Opcode::BreakIf),
            })
        });
        if left {
            self.code.push(Instruction::Block(ty));
            self.enter(Some((of, false)));
        }
        self.code.push(Instruction::Loop(ty));
        self.name_block(of);
        self.enter(Some((of, true)));
        for (port, ty) in params.iter().enumerate().rev() {
            let local = self.local(types::value(ty));
            match self.counts(ty) {
                true => self.keep(local),
                false => self.code.push(Instruction::LocalSet(local)),
            }
            self.places.insert(Source::RegionParam(round, port as u16), (local, self.code.position()));
        }
        self.ask_for_more();
        self.work.push(Step::Give(of, start));
        for _ in 0..1 + usize::from(left) {
            self.work.push(Step::Leave);
            self.work.push(Step::Put(Instruction::End));
        }
        self.walk(round);
        Ok(())
    }

    /// A choice: a block for each case, and in the innermost what goes to its end.
    pub(super) fn choose(&mut self, of: NodeRef, node: &'p Node, cases: &Match, inputs: &[Input]) -> Done {
        let wide = match inputs.first() {
            Some((_, source)) => {
                let ty = signature::source_type(self.writing.program, self.function, *source);
                ty == Some(Type::I64)
            }
            None => false,
        };
        let mut numbers = Vec::with_capacity(cases.cases.len());
        for case in &cases.cases {
            numbers.push(match case {
                Case::Int(number) if wide => Some(*number),
                Case::Int(number) => Case::met_by(*number).map(i64::from),
                Case::Variant(variant) => match heap::position(self.writing.program, variant) {
                    Some(position) => Some(position.into()),
                    None => return Err(self.unsupported(of, "a variant that is not there")),
                },
            });
        }
        let ty = self.block_type(&[], &cases.results);
        let scrutinee = self.local(if wide { ValType::I64 } else { ValType::I32 });
        let start = self.take(of, inputs.iter().copied());
        let chosen = self.chosen(inputs);
        if chosen.is_some() {
            let word = self.writing.load_word();
            self.code.push(word);
        }
        self.code.push(Instruction::LocalSet(scrutinee));
        self.code.push(Instruction::Block(ty));
        self.name_block(of);
        self.enter(Some((of, false)));
        let mut steps = vec![Step::Give(of, start), Step::Leave, Step::Put(Instruction::End)];
        // The last region comes last, and needs no way out.
        let regions = node.regions();
        for (after, region) in regions.iter().enumerate().rev() {
            let more = regions.len() - 1 - after;
            if more > 0 && !self.never_ends(*region) {
                steps.push(Step::Put(Instruction::Br(more as u32)));
            }
            steps.push(self.nodes(*region));
            if let Some(value) = chosen {
                steps.push(Step::Open(self.opened(of, value, *region, cases.cases.get(after))?));
            }
            steps.push(Step::Leave);
            steps.push(Step::Put(Instruction::End));
        }
        self.work.extend(steps);
        for _ in regions {
            self.code.push(Instruction::Block(BlockType::Empty));
            self.enter(None);
        }
        self.dispatch(scrutinee, wide, &numbers, cases.default);
        Ok(())
    }

    pub(super) fn never_ends(&self, region: RegionRef) -> bool {
        let last = self.body.last_in(region).and_then(|node| self.body.node(node));
        last.is_some_and(|node| node.op().code() != Opcode::Yield)
    }

    /// Goes to the end of the block of the first case that fits; one without a number never does. The first case is the
    /// innermost.
    pub(super) fn dispatch(&mut self, scrutinee: u32, wide: bool, numbers: &[Option<i64>], default: bool) {
        let otherwise = if default { numbers.len() as u32 } else { numbers.len().saturating_sub(1) as u32 };
        let met = || (0u32..).zip(numbers).filter_map(|(index, number)| Some((index, (*number)?)));
        let (low, high) = match (met().map(|of| of.1).min(), met().map(|of| of.1).max()) {
            (Some(low), Some(high)) => (low, high),
            (_, _) => (0, 0),
        };
        let span = high.wrapping_sub(low) as u64;
        let dense = !wide && span < 2 * numbers.len() as u64 + 8;
        self.code.push(Instruction::LocalGet(scrutinee));
        if dense {
            let mut targets = vec![None; span as usize + 1];
            for (index, number) in met() {
                targets[number.wrapping_sub(low) as usize].get_or_insert(index);
            }
            if low != 0 {
                self.code.push(Instruction::I32Const(low as i32));
                self.code.push(Instruction::I32Sub);
            }
            let targets: Vec<u32> = targets.into_iter().map(|target| target.unwrap_or(otherwise)).collect();
            self.code.push(Instruction::BrTable(targets.into(), otherwise));
            return;
        }
        for (at, (index, number)) in met().enumerate() {
            if at > 0 {
                self.code.push(Instruction::LocalGet(scrutinee));
            }
            let (constant, equal) = match wide {
                true => (Instruction::I64Const(number), Instruction::I64Eq),
                false => (Instruction::I32Const(number as i32), Instruction::I32Eq),
            };
            self.code.push(constant);
            self.code.push(equal);
            self.code.push(Instruction::BrIf(index));
        }
        self.code.push(Instruction::Br(otherwise));
    }
}

//! Statements that own regions, and the exits out of these.

use lmlang_ir::builder::region_param;
use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Case, Const, Exit, Match, NodeRef, Opcode, RegionRef, Scalar, Source, Type};

use super::{BodyWriter, Frame};
use crate::generate::operators;

impl BodyWriter<'_, '_> {
    fn result_types(&mut self) -> Vec<Type> {
        let count = [1, 0, 1, 2][self.choices.below(4)];
        let pick = |writer: &mut Self| match writer.choices.below(3) {
            0 => Type::I32,
            1 => Type::I64,
            _ => writer.choices.pick(&writer.world.types).cloned().unwrap_or(Type::I32),
        };
        (0..count).map(|_| pick(self)).collect()
    }

    /// Fills a region of a node: statements and an end.
    fn fill(&mut self, region: RegionRef, frame: &Frame, scope: Vec<(Type, Source)>) {
        self.frames.push(frame.clone());
        self.inside(region, scope, |writer| {
            writer.statements();
            writer.terminate(&frame.results);
        });
        self.frames.pop();
    }

    pub(super) fn write_if(&mut self) {
        let results = self.result_types();
        let Some(condition) = self.source(&Type::BOOL, 0) else { return };
        let owner = self.builder.if_(condition, results.clone());
        self.describe(owner.node);
        let frame = Frame { node: owner.node, results: results.clone(), round: None };
        for region in owner.regions {
            self.fill(region, &frame, Vec::new());
        }
        self.give(owner.node, &results);
    }

    pub(super) fn write_block(&mut self) {
        let (results, label) = (self.result_types(), self.label());
        let owner = self.builder.block(label, results.clone());
        self.describe(owner.node);
        let frame = Frame { node: owner.node, results: results.clone(), round: None };
        self.fill(owner.regions[0], &frame, Vec::new());
        self.give(owner.node, &results);
    }

    /// A loop that counts from zero to a small bound, with up to two more parameters.
    pub(super) fn write_loop(&mut self) {
        let (results, label) = (self.result_types(), self.label());
        let mut types = vec![Type::I32];
        let extra = self.result_types();
        types.extend(extra);
        let zero = self.constant(Const::I32(0));
        let mut initial = vec![zero];
        for ty in &types[1..] {
            match self.source(ty, 0) {
                Some(source) => initial.push(source),
                None => return,
            }
        }
        let names = ["i", "acc", "more"];
        let params =
            types.iter().zip(names).zip(initial).map(|((ty, name), source)| (name, ty.clone(), source));
        let owner = self.builder.loop_(label, params.collect::<Vec<_>>(), results.clone());
        self.describe(owner.node);
        let region = owner.regions[0];
        let counter = region_param(region, 0);
        let round = Some((types.clone(), counter));
        let frame = Frame { node: owner.node, results: results.clone(), round };
        let scope = (0u16..).zip(&types).map(|(at, ty)| (ty.clone(), region_param(region, at)));
        let scope: Vec<_> = scope.collect();
        self.frames.push(frame);
        self.inside(region, scope, |writer| {
            let bound = writer.choices.below(4) as i32;
            let bound = writer.constant(Const::I32(bound));
            let done = writer.builder.scalar(Opcode::GeS, Scalar::I32, [counter, bound]);
            match writer.sources(&results) {
                Some(values) => writer.builder.break_if(owner.node, done, values),
                None => writer.builder.unreachable(),
            };
            if writer.builder.body().terminator(region).is_none() {
                writer.statements();
                writer.next_round(owner.node, counter, &types);
            }
        });
        self.frames.pop();
        self.give(owner.node, &results);
    }

    fn round_values(&mut self, counter: Source, types: &[Type]) -> Option<Vec<Source>> {
        let one = self.constant(Const::I32(1));
        let mut values = vec![self.builder.scalar(Opcode::Add, Scalar::I32, [counter, one])];
        for ty in types.iter().skip(1) {
            values.push(self.source(ty, 0)?);
        }
        Some(values)
    }

    fn next_round(&mut self, target: NodeRef, counter: Source, types: &[Type]) {
        match self.round_values(counter, types) {
            Some(values) => self.builder.exit(Exit::Continue(target), values),
            None => self.builder.unreachable(),
        };
    }

    pub(super) fn write_match(&mut self) {
        let results = self.result_types();
        let label = self.label();
        let scrutinee = match self.choices.below(4) {
            0 => Type::I32,
            1 => Type::I64,
            _ => self.choices.pick(&self.world.enums).cloned().unwrap_or(Type::I32),
        };
        let variants = operators::variants(self.world, &scrutinee);
        let (cases, payloads, default) = if variants.is_empty() {
            let first = self.choices.bits() as i64;
            let first = if scrutinee == Type::I32 { i64::from(first as i32) } else { first };
            let count = 1 + self.choices.below(3) as i64;
            let cases: Vec<Case> = (0..count).map(|at| Case::Int(first.saturating_sub(at))).collect();
            let mut distinct = cases;
            distinct.dedup();
            if scrutinee == Type::I32 {
                distinct.retain(|case| matches!(case, Case::Int(value) if i32::try_from(*value).is_ok()));
            }
            let payloads = vec![None; distinct.len()];
            (distinct, payloads, true)
        } else {
            let default = self.choices.chance(30);
            let kept = if default { 1 + self.choices.below(variants.len() - 1) } else { variants.len() };
            let kept = &variants[..kept];
            let payloads: Option<Vec<Option<Type>>> =
                kept.iter().map(|variant| payload_type(&self.world.program, variant)).collect();
            let Some(payloads) = payloads else { return };
            (kept.iter().cloned().map(Case::Variant).collect(), payloads, default)
        };
        let Some(value) = self.source(&scrutinee, 0) else { return };
        let cases = Match { label, cases, default, results: results.clone() };
        let (node, regions) = self.builder.match_(value, cases, payloads.clone());
        self.describe(node);
        let frame = Frame { node, results: results.clone(), round: None };
        for (at, region) in regions.into_iter().enumerate() {
            let payload = payloads.get(at).cloned().flatten();
            let scope = payload.into_iter().map(|ty| (ty, region_param(region, 0))).collect();
            self.fill(region, &frame, scope);
        }
        self.give(node, &results);
    }

    /// An exit that may be taken.
    pub(super) fn exit_if(&mut self) {
        let Some(frame) = self.choices.pick(&self.frames).cloned() else { return self.operator() };
        let Some(condition) = self.source(&Type::BOOL, 0) else { return };
        match frame.round {
            Some((types, counter)) if self.choices.chance(40) => {
                if let Some(values) = self.round_values(counter, &types) {
                    self.builder.continue_if(frame.node, condition, values);
                }
            }
            Some(_) | None => {
                if let Some(values) = self.sources(&frame.results) {
                    self.builder.break_if(frame.node, condition, values);
                }
            }
        }
    }

    pub(super) fn end(&mut self, write: impl FnOnce(&mut Self, Vec<Source>) -> NodeRef, types: &[Type]) {
        match self.sources(types) {
            Some(values) => write(self, values),
            None => self.builder.unreachable(),
        };
    }

    /// Ends the region of a node with these results.
    fn terminate(&mut self, results: &[Type]) {
        match self.choices.below(12) {
            8 | 9 => self.leave_some_frame(),
            10 if !self.contract => {
                let results = self.head.results.clone();
                self.end(|writer, values| writer.builder.ret(values), &results);
            }
            11 if self.choices.chance(40) => {
                self.builder.unreachable();
            }
            11 => self.switch(results),
            _ => self.end(|writer, values| writer.builder.yield_(values), results),
        }
    }

    fn leave_some_frame(&mut self) {
        let Some(frame) = self.choices.pick(&self.frames).cloned() else { return };
        match frame.round {
            Some((types, counter)) if self.choices.chance(60) => self.next_round(frame.node, counter, &types),
            Some(_) | None => {
                let target = frame.node;
                self.end(|writer, values| writer.builder.exit(Exit::Break(target), values), &frame.results);
            }
        }
    }

    /// A switch over the exits that take these types; at most one of them starts a round.
    fn switch(&mut self, types: &[Type]) {
        let mut targets = Vec::new();
        let mut counter = None;
        for frame in &self.frames {
            if frame.results == types {
                targets.push(Exit::Break(frame.node));
            }
            if let Some((params, count)) = &frame.round
                && params == types
                && counter.is_none()
            {
                counter = Some(*count);
                targets.push(Exit::Continue(frame.node));
            }
        }
        if !self.contract && self.head.results == types {
            targets.push(Exit::Return);
        }
        let count = self.choices.below(targets.len() + 2);
        let targets: Vec<Exit> = (0..=count).filter_map(|_| self.choices.pick(&targets).copied()).collect();
        let values = match counter {
            Some(counter) => self.round_values(counter, types),
            None => self.sources(types),
        };
        match (self.source(&Type::I32, 0), values) {
            (Some(index), Some(values)) if !targets.is_empty() => {
                self.builder.br_switch(index, targets, values);
            }
            (None | Some(_), _) => {
                self.builder.unreachable();
            }
        }
    }
}

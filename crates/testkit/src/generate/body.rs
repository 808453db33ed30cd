//! Bodies of functions: statements at a place, with what is in scope there. Read `making` for where values come from, and
//! `control` for statements that own regions.

mod control;
mod making;

use std::sync::Arc;

use lmlang_ir::builder::{FunctionBuilder, region_param};
use lmlang_ir::{
    Attr, Const, ContractKind, Effect, EffectBound, FunctionHead, Name, NodeContent, NodeRef, Op, OpSpec,
    Opcode, RegionRef, Scalar, Source, Type, VarRef,
};

use super::Options;
use super::operators::{self, Taken};
use super::world::World;
use crate::choices::Choices;

/// A node around the place that exits may aim at.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The node.
    pub node: NodeRef,
    /// What leaving it takes.
    pub results: Vec<Type>,
    /// Set for a loop that counts: what its next round takes, the counter first.
    pub round: Option<(Vec<Type>, Source)>,
}

/// Writes statements into one function.
#[derive(Debug)]
pub struct BodyWriter<'w, 'f> {
    world: &'w World,
    options: &'w Options,
    choices: &'w mut Choices,
    builder: FunctionBuilder<'f>,
    head: FunctionHead,
    table: Vec<&'static OpSpec>,
    /// Values in scope, the nearest last.
    pub scope: Vec<(Type, Source)>,
    /// Nodes around, the innermost last.
    pub frames: Vec<Frame>,
    /// Variables of the function.
    pub variables: Vec<(VarRef, Type)>,
    /// Nodes that may still be added, roughly.
    pub budget: usize,
    /// What the statements may do.
    pub bound: EffectBound,
    /// Whether they stand in a contract, which cannot be left.
    pub contract: bool,
}

impl<'w, 'f> BodyWriter<'w, 'f> {
    /// Writes at the place of a builder, with the parameters of the function in scope.
    pub fn new(
        world: &'w World,
        options: &'w Options,
        choices: &'w mut Choices,
        builder: FunctionBuilder<'f>,
        head: FunctionHead,
    ) -> BodyWriter<'w, 'f> {
        let scope = (0u16..).zip(&head.params).map(|(at, param)| (param.ty.clone(), builder.param(at)));
        BodyWriter {
            scope: scope.collect(),
            frames: Vec::new(),
            variables: Vec::new(),
            budget: options.nodes,
            bound: head.effect_bound,
            contract: false,
            table: operators::table().collect(),
            world,
            options,
            choices,
            builder,
            head,
        }
    }

    /// Writes the whole body of a function: contracts, variables, statements and the end.
    pub fn write(mut self) {
        if self.options.contracts {
            for kind in [ContractKind::Require, ContractKind::Ensure] {
                if self.choices.chance(15) {
                    self.write_contract(kind);
                }
            }
        }
        if self.options.invariants && self.states_invariants() && self.choices.chance(70) {
            self.write_contract(ContractKind::Invariant);
            self.builder.ret([]);
            return;
        }
        if self.bound == EffectBound::Any {
            for at in 0..self.choices.below(4) {
                self.declare_variable(at);
            }
        }
        while self.budget > 0 && !self.choices.exhausted() {
            self.statement();
        }
        let results = self.head.results.clone();
        self.end(|writer, values| writer.builder.ret(values), &results);
    }

    /// Whether the function may state invariants of a type.
    fn states_invariants(&self) -> bool {
        let head = &self.head;
        let is_nominal = matches!(&head.params[..], [param] if matches!(param.ty, Type::Named(_)));
        is_nominal && head.results.is_empty() && head.captures.is_empty() && self.bound <= EffectBound::Reads
    }

    fn write_contract(&mut self, kind: ContractKind) {
        let results = match kind {
            ContractKind::Require | ContractKind::Invariant => Vec::new(),
            ContractKind::Ensure => self.head.results.clone(),
        };
        let region = self.builder.contract(kind, "holds", results.clone());
        let (bound, budget) = (self.bound, self.budget);
        (self.bound, self.budget, self.contract) = (bound.min(EffectBound::Reads), 8, true);
        let params = (0u16..).zip(results).map(|(at, ty)| (ty, region_param(region, at)));
        let scope: Vec<(Type, Source)> = params.collect();
        self.inside(region, scope, |writer| {
            writer.statements();
            let holds = if writer.choices.chance(30) { writer.source(&Type::BOOL, 0) } else { None };
            let holds = holds.unwrap_or_else(|| writer.constant(Const::Bool(true)));
            writer.builder.yield_([holds]);
        });
        (self.bound, self.budget, self.contract) = (bound, budget, false);
    }

    fn declare_variable(&mut self, at: usize) {
        let ty = match self.choices.below(3) {
            0 => Type::I32,
            1 => Type::Scalar(*self.choices.pick(&Scalar::ALL).unwrap_or(&Scalar::I64)),
            _ if self.options.heap => Type::String,
            _ => Type::F64,
        };
        let name = self.choices.chance(80).then(|| Name::from(format!("cell{at}")));
        let variable = self.builder.variable(name, ty.clone());
        self.variables.push((variable, ty));
    }

    /// Runs with the builder at the end of a region and more in scope, then comes back.
    fn inside(&mut self, region: RegionRef, scope: Vec<(Type, Source)>, write: impl FnOnce(&mut Self)) {
        let ((around, after), mark) = (self.builder.place(), self.scope.len());
        self.scope.extend(scope);
        let last = self.builder.body().last_in(region);
        self.builder.go(region, last).expect("the region was made by this writer");
        write(self);
        self.builder.go(around, after).expect("the place was there before");
        self.scope.truncate(mark);
    }

    fn name(&mut self) -> Option<Name> {
        const PLAIN: [&str; 6] = ["a", "b", "x", "sum", "value", "longer_name"];
        const ODD: [&str; 7] = ["two words", "if", "n1x", "größe", "a\"b", "yield", "a, x"];
        match self.choices.below(10) {
            0..=6 => None,
            9 if self.options.odd_names => Some(ODD[self.choices.below(ODD.len())].into()),
            _ => Some(PLAIN[self.choices.below(PLAIN.len())].into()),
        }
    }

    fn doc(&mut self) -> Option<Arc<str>> {
        self.choices.chance(3).then(|| "why it is done".into())
    }

    /// Says something about a node that owns regions, now and then.
    fn describe(&mut self, node: NodeRef) {
        let (name, doc) = (self.name(), self.doc());
        let changes = self.builder.changes();
        if let Some(content) = changes.body().node(node).map(|content| content.content()) {
            let content = NodeContent { name, doc, ..content };
            changes.set_node(node, content).expect("a node that is there takes another name");
        }
    }

    fn label(&mut self) -> Option<Name> {
        const LABELS: [&str; 3] = ["L", "M", "outer"];
        self.choices.chance(40).then(|| LABELS[self.choices.below(LABELS.len())].into())
    }

    fn insert(&mut self, op: Op, inputs: Vec<Source>) -> NodeRef {
        self.budget = self.budget.saturating_sub(1);
        let (name, doc) = (self.name(), self.doc());
        let content = NodeContent { name, doc, ..NodeContent::new(op, inputs.into_iter().map(Some)) };
        self.builder.insert(content)
    }

    fn value(&mut self, code: Opcode, attr: Attr, inputs: Vec<Source>) -> Option<Source> {
        let op = Op::new(code, attr)?;
        Some(Source::Node(self.insert(op, inputs), 0))
    }

    fn constant(&mut self, value: Const) -> Source {
        Source::Node(self.insert(Op::constant(value), Vec::new()), 0)
    }

    fn give(&mut self, node: NodeRef, types: &[Type]) {
        let outputs = (0u16..).zip(types).map(|(at, ty)| (ty.clone(), Source::Node(node, at)));
        self.scope.extend(outputs);
    }

    fn statements(&mut self) {
        for _ in 0..1 + self.choices.below(5) {
            if self.budget > 0 && !self.choices.exhausted() {
                self.statement();
            }
        }
    }

    /// Writes one statement, of one node or of many. Nothing where what was chosen does not fit.
    pub fn statement(&mut self) {
        let room = self.budget > 6 && self.frames.len() < self.options.depth;
        match self.choices.below(20) {
            9 | 10 => self.use_variable(),
            11 | 12 => self.call(),
            13 => self.exit_if(),
            14 | 15 if room => self.write_if(),
            16 | 17 if room => self.write_loop(),
            18 if room => self.write_match(),
            19 if room => self.write_block(),
            _ => self.operator(),
        }
    }

    fn allows(&self, op: &Op) -> bool {
        let reaches = match op.attr() {
            Attr::Function(of) => match op.code() {
                Opcode::FuncRef => self.may_refer_to(*of),
                _ => self.may_reach(*of),
            },
            Attr::Index(_) => !self.contract,
            _ => true,
        };
        let memory = match op.attr() {
            Attr::Memory(_) => self.world.memory,
            _ => match op.code() {
                Opcode::MemorySize
                | Opcode::MemoryGrow
                | Opcode::MemoryCopy
                | Opcode::MemoryFill
                | Opcode::MemoryInit
                | Opcode::BytesLoad
                | Opcode::BytesStore => self.world.memory,
                _ => true,
            },
        };
        let effect = match op.spec().effect {
            Effect::Pure | Effect::Traps => true,
            Effect::Reads => self.bound >= EffectBound::Reads,
            Effect::Writes => self.bound == EffectBound::Any,
            Effect::Io => self.bound == EffectBound::Any && self.options.io,
            Effect::Calls => match op.attr() {
                Attr::Function(of) => {
                    self.world.head(*of).is_some_and(|head| head.effect_bound <= self.bound)
                }
                Attr::Indirect(..) => {
                    let above = self.table_top().is_none_or(|top| top < self.builder.function());
                    self.bound == EffectBound::Any && (above || self.options.recursion)
                }
                _ => self.bound == EffectBound::Any,
            },
            Effect::Control => false,
        };
        let heap = self.options.heap
            || !matches!(
                op.spec().group,
                lmlang_ir::ops::Group::Text | lmlang_ir::ops::Group::Aggregate | lmlang_ir::ops::Group::Table
            ) && op.code() != Opcode::FuncRef;
        reaches && memory && effect && heap
    }

    /// One operator of the op table with inputs that fit.
    fn operator(&mut self) {
        let Some(spec) = self.choices.pick(&self.table).copied() else { return };
        self.operator_of(spec.code);
    }

    fn operator_of(&mut self, code: Opcode) {
        let Some(attr) = operators::attribute(self.world, &self.head, code, self.choices) else { return };
        let Some(op) = Op::new(code, attr).filter(|op| self.allows(op)) else { return };
        let elements = self.choices.below(4);
        let Some(taken) = operators::inputs(self.world, &self.head, &op, elements) else { return };
        let Some(given) = operators::outputs(self.world, &self.head, &op) else { return };
        let mut inputs = Vec::new();
        for (at, taken) in taken.iter().enumerate() {
            match self.input(&op, at, taken) {
                Some(source) => inputs.push(source),
                None => return,
            }
        }
        let node = self.insert(op, inputs);
        self.give(node, &given);
    }

    fn input(&mut self, op: &Op, at: usize, taken: &Taken) -> Option<Source> {
        if !self.choices.chance(20) || operators::always_tame(op, at) {
            if let Some(value) = operators::tame(op, at, self.choices) {
                return Some(self.constant(value));
            }
            if let Some(value) = self.fitting_aggregate(op, at) {
                return Some(value);
            }
        }
        match taken {
            Taken::Is(ty) => self.source(ty, 0),
            Taken::Address => {
                let pointers: Vec<Type> =
                    self.world.types.iter().filter(|ty| matches!(ty, Type::Ptr(_))).cloned().collect();
                match self.choices.below(4) {
                    3 => self.source(&Type::I32, 0),
                    2 if !pointers.is_empty() => {
                        let ty = self.choices.pick(&pointers)?.clone();
                        self.source(&ty, 0)
                    }
                    _ => {
                        let address = self.choices.below(400) as i32;
                        Some(self.constant(Const::I32(address)))
                    }
                }
            }
        }
    }

    /// A value at which an access at index zero, or to a payload, does not trap.
    fn fitting_aggregate(&mut self, op: &Op, at: usize) -> Option<Source> {
        match (op.code(), at, op.attr()) {
            (Opcode::EnumPayload, 0, Attr::Variant(variant)) => self.variant((**variant).clone(), 1),
            (Opcode::ArrayGet | Opcode::ArraySet, 0, Attr::Type(ty @ Type::Array(of))) => {
                let length = 1 + self.choices.below(3);
                self.array(&ty.clone(), &of.clone(), length, 1)
            }
            (Opcode::BytesGet | Opcode::BytesSet, 0, _) => {
                let bytes: Arc<[u8]> = (0..1 + self.choices.below(3)).map(|at| at as u8).collect();
                Some(self.constant(Const::Bytes(bytes)))
            }
            (Opcode::StringByte, 0, _) => Some(self.constant(Const::String("text".into()))),
            _ => None,
        }
    }

    fn use_variable(&mut self) {
        if self.contract || self.bound != EffectBound::Any {
            return self.operator();
        }
        let Some((of, ty)) = self.choices.pick(&self.variables).cloned() else { return self.operator() };
        if self.choices.chance(50) {
            let Some(value) = self.source(&ty, 0) else { return };
            self.value(Opcode::VarSet, Attr::Variable(of), vec![value]);
        } else if let Some(value) = self.value(Opcode::VarGet, Attr::Variable(of), Vec::new()) {
            self.scope.push((ty, value));
        }
    }

    fn call(&mut self) {
        let code = [Opcode::Call, Opcode::Call, Opcode::CallIndirect, Opcode::ClosureCall];
        let chosen = self.choices.below(code.len());
        self.operator_of(code[chosen]);
    }
}

//! Bodies of functions: statements at a place, with what is in scope there.

use std::sync::Arc;

use lmlang_ir::builder::{FunctionBuilder, region_param};
use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{
    Attr, Case, Const, ContractKind, Effect, EffectBound, Exit, FuncRef, FunctionHead, Match, Name,
    NodeContent, NodeRef, Op, OpSpec, Opcode, RegionRef, Scalar, Shape, Source, Type, VarRef, Variant,
};

use super::Options;
use super::operators::{self, Taken};
use super::values::constant;
use super::world::{World, closure_of, makes_closure};
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

    // ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    /// A value of a type: one in scope, or a new one. `None` when the world has none.
    pub fn source(&mut self, ty: &Type, depth: u32) -> Option<Source> {
        let fresh = self.choices.chance(25);
        let found = if fresh { None } else { self.in_scope(ty) };
        if found.is_some() {
            return found;
        }
        let made = self.make(ty, depth).or_else(|| self.in_scope(ty))?;
        if self.choices.chance(40) {
            self.scope.push((ty.clone(), made));
        }
        Some(made)
    }

    fn in_scope(&mut self, ty: &Type) -> Option<Source> {
        let recent = self.scope.iter().rev().take(64);
        let found: Vec<Source> = recent.filter(|(of, _)| of == ty).map(|(_, s)| *s).take(6).collect();
        self.choices.pick(&found).copied()
    }

    fn sources(&mut self, types: &[Type]) -> Option<Vec<Source>> {
        types.iter().map(|ty| self.source(ty, 0)).collect()
    }

    /// A new value of a type.
    fn make(&mut self, ty: &Type, depth: u32) -> Option<Source> {
        if let Some(value) = constant(self.choices, ty) {
            return Some(self.constant(value));
        }
        if depth > 12 {
            return None;
        }
        let deep = depth > 3;
        match ty {
            Type::Named(of) => {
                let def = Arc::clone(self.world.program.type_def(*of)?);
                match &def.shape {
                    Shape::Struct(fields) => {
                        let parts: Option<Vec<Source>> =
                            fields.iter().map(|field| self.source(&field.ty, depth + 1)).collect();
                        self.value(Opcode::StructNew, Attr::Named(*of), parts?)
                    }
                    Shape::Enum(variants) => {
                        let chosen = if deep { variants.first() } else { self.choices.pick(variants) }?;
                        self.variant(Variant::Member(*of, chosen.member), depth)
                    }
                }
            }
            Type::Option(of) => {
                let some = !deep && self.choices.chance(60);
                let of = Arc::clone(of);
                self.variant(if some { Variant::Some(of) } else { Variant::None(of) }, depth)
            }
            Type::Result(of) => {
                let error = self.choices.chance(40);
                let of = Arc::clone(of);
                self.variant(if error { Variant::Err(of) } else { Variant::Ok(of) }, depth)
            }
            Type::Array(of) => {
                let length = if deep { 0 } else { self.choices.below(4) };
                self.array(ty, of, length, depth)
            }
            Type::FixedArray(of, length) => self.array(ty, of, *length as usize, depth),
            Type::Box(of) => {
                let inner = self.source(of, depth + 1)?;
                self.value(Opcode::BoxNew, Attr::Type((**of).clone()), vec![inner])
            }
            Type::Ptr(of) => {
                let address = self.choices.below(100) as i32 * 8;
                let address = self.constant(Const::I32(address));
                self.value(Opcode::PtrFromI32, Attr::Type((**of).clone()), vec![address])
            }
            Type::FuncRef => match self.function_to_refer_to() {
                Some(of) => self.value(Opcode::FuncRef, Attr::Function(of), Vec::new()),
                None => self.value(Opcode::RefNull, Attr::None, Vec::new()),
            },
            Type::Closure(_) => self.closure(ty, depth),
            Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes | Type::Never | Type::ExternRef => None,
        }
    }

    fn array(&mut self, ty: &Type, of: &Type, length: usize, depth: u32) -> Option<Source> {
        let parts: Option<Vec<Source>> = (0..length).map(|_| self.source(of, depth + 1)).collect();
        self.value(Opcode::ArrayNew, Attr::Type(ty.clone()), parts?)
    }

    fn variant(&mut self, variant: Variant, depth: u32) -> Option<Source> {
        let payload = match payload_type(&self.world.program, &variant)? {
            None => Vec::new(),
            Some(ty) => vec![self.source(&ty, depth + 1)?],
        };
        self.value(Opcode::EnumNew, Attr::Variant(Arc::new(variant)), payload)
    }

    fn closure(&mut self, ty: &Type, depth: u32) -> Option<Source> {
        let fitting: Vec<FuncRef> = self
            .world
            .functions
            .iter()
            .filter(|(of, head)| makes_closure(head) && closure_of(head) == *ty && self.may_reach(*of))
            .map(|(of, _)| *of)
            .collect();
        let of = *self.choices.pick(&fitting)?;
        let captures: Vec<Type> =
            self.world.head(of)?.captures.iter().map(|param| param.ty.clone()).collect();
        let captures: Option<Vec<Source>> = captures.iter().map(|ty| self.source(ty, depth + 1)).collect();
        self.value(Opcode::ClosureNew, Attr::Function(of), captures?)
    }

    fn function_to_refer_to(&mut self) -> Option<FuncRef> {
        let fitting: Vec<FuncRef> = self
            .world
            .functions
            .iter()
            .filter(|(of, head)| !makes_closure(head) && self.may_refer_to(*of))
            .map(|(of, _)| *of)
            .collect();
        self.choices.pick(&fitting).copied()
    }

    /// Tells whether a function may be named here: it is visible, and lies below where calls only go downwards.
    fn may_reach(&self, of: FuncRef) -> bool {
        let below = self.options.recursion || of < self.builder.function();
        let visible =
            |head: &FunctionHead| self.world.visible(head.visibility, head.module, self.head.module);
        below && self.world.head(of).is_some_and(visible)
    }

    /// The last function that stands in a table at the start.
    fn table_top(&self) -> Option<FuncRef> {
        self.world.tables.iter().flat_map(|(_, entries)| entries.iter().flatten()).max().copied()
    }

    /// As [`Self::may_reach`]; references may end up in a table, so they stay below those that are there.
    fn may_refer_to(&self, of: FuncRef) -> bool {
        let bounded = self.world.tables.is_empty() || self.table_top().is_some_and(|top| of <= top);
        self.may_reach(of) && (self.options.recursion || bounded)
    }

    // ── statements ────────────────────────────────────────────────────────────────────────────────────────────────

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

    // ── control ───────────────────────────────────────────────────────────────────────────────────────────────────

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

    fn write_if(&mut self) {
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

    fn write_block(&mut self) {
        let (results, label) = (self.result_types(), self.label());
        let owner = self.builder.block(label, results.clone());
        self.describe(owner.node);
        let frame = Frame { node: owner.node, results: results.clone(), round: None };
        self.fill(owner.regions[0], &frame, Vec::new());
        self.give(owner.node, &results);
    }

    /// A loop that counts from zero to a small bound, with up to two more parameters.
    fn write_loop(&mut self) {
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

    fn write_match(&mut self) {
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
    fn exit_if(&mut self) {
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

    fn end(&mut self, write: impl FnOnce(&mut Self, Vec<Source>) -> NodeRef, types: &[Type]) {
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

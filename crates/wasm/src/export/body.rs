//! The body of a function: regions become blocks, nodes instructions, in the order in which they stand.

mod control;
mod fuel;
mod operators;
mod owned;
mod values;

use std::collections::HashMap;

use lmlang_ir::graph::{LastUses, last_uses};
use lmlang_ir::ops::signature;
use lmlang_ir::{
    Attr, Body, Const, ContractKind, Exit, FuncRef, Function, Name, Node, NodeRef, Opcode, Ref, RegionOwner,
    RegionRef, Scalar, Source, Type, VarRef,
};
use wasm_encoder::{Instruction, ValType};

use self::operators::constant;
use self::values::Opened;
use super::locals::settle;
use super::meter::Meter;
use super::stack::{Code, Operand, Start};
use super::{ExportError, Writing, types};
use crate::raw;

/// The code of a function, and the names of its locals and of its blocks, by the order in which these begin.
pub(super) struct Written {
    pub(super) code: wasm_encoder::Function,
    pub(super) names: Vec<(u32, Name)>,
    pub(super) labels: Vec<(u32, Name)>,
}

pub(super) fn write<'p>(
    writing: &mut Writing<'p>,
    of: FuncRef,
    function: &'p Function,
) -> Result<Written, ExportError> {
    let body = function.body();
    let contracts = |kind: ContractKind| -> Vec<RegionRef> {
        let contracts = body.contracts().filter(|(_, contract)| contract.kind == kind);
        contracts.map(|(_, contract)| contract.region).collect()
    };
    let (requires, ensures) = match writing.options.contracts {
        true => {
            let first = contracts(ContractKind::Invariant).into_iter();
            (first.chain(contracts(ContractKind::Require)).collect(), contracts(ContractKind::Ensure))
        }
        false => (Vec::new(), Vec::new()),
    };
    let last_uses = match writing.heap && !writing.bringing.inside {
        true => last_uses(writing.program, of, function),
        false => LastUses::default(),
    };
    let head = function.head();
    let params = head.params.len() as u32 + u32::from(!head.captures.is_empty());
    let meter = writing.meter.filter(|_| !writing.bringing.inside);
    let mut emitter = Emitter {
        writing,
        of,
        function,
        body,
        code: Code::default(),
        params,
        locals: Vec::new(),
        last_uses,
        owned: Vec::new(),
        rounds: 0,
        variables: HashMap::new(),
        places: HashMap::new(),
        labels: Vec::new(),
        depths: HashMap::new(),
        named: Vec::new(),
        work: Vec::new(),
        returns_to: None,
        fuel: None,
        value_places: 0,
    };
    if let Some(meter) = meter {
        emitter.begin_counting(meter);
    }
    let names = emitter.variables()?;
    emitter.check(&requires)?;
    emitter.root(&ensures)?;
    emitter.end_counting();
    emitter.code.push(Instruction::End);
    let Emitter { code, writing, locals, variables, named: labels, .. } = emitter;
    let items = code.finish(|callee| writing.bringing.pays(callee));
    let stay: Vec<u32> = match writing.heap {
        // wasmi 2.0.0 loses what a local had when it waits beneath a loop, which may change variables.
        true => (params..params + locals.len() as u32).collect(),
        false => variables.into_values().collect(),
    };
    let settled = settle(items, params, &locals, &stay);
    let names = names.into_iter().filter_map(|(local, name)| Some((settled.number(local)?, name))).collect();
    Ok(Written { code: settled.write(), names, labels })
}

/// What is left to be done.
enum Step {
    /// The nodes of a region that are left.
    Nodes(std::vec::IntoIter<NodeRef>),
    Put(Instruction<'static>),
    /// The payload of a variant is taken out.
    Open(Opened),
    /// A label is not in reach any more.
    Leave,
    /// The node is complete: its outputs are there. What it takes began at a position.
    Give(NodeRef, Start),
}

struct Emitter<'w, 'p> {
    writing: &'w mut Writing<'p>,
    of: FuncRef,
    function: &'p Function,
    body: &'p Body,
    code: Code,
    /// How many locals are parameters.
    params: u32,
    /// Types of the locals behind the parameters.
    locals: Vec<ValType>,
    /// Where values of the heap are needed for the last time.
    last_uses: LastUses,
    /// Locals that hold values of the heap until the end, or until somebody takes them.
    owned: Vec<u32>,
    /// How many loops are around.
    rounds: u32,
    variables: HashMap<VarRef, u32>,
    /// Locals of values, and from which position on they have them.
    places: HashMap<Source, (u32, usize)>,
    /// Labels in reach, the outermost first.
    labels: Vec<Option<(NodeRef, bool)>>,
    /// Where in `labels` one stands, by the node and whether it is the one that continues.
    depths: HashMap<(NodeRef, bool), usize>,
    /// Blocks that have a name, by the order in which they begin.
    named: Vec<(u32, Name)>,
    work: Vec<Step>,
    /// The position in `labels` of the block that a return leaves, where something is left to do afterwards.
    returns_to: Option<usize>,
    /// What counts the fuel, and the local that has it.
    fuel: Option<(Meter, u32)>,
    /// How many places the interpreter has at most for values of the heap.
    value_places: u32,
}

type Done = Result<(), ExportError>;

/// An input of a node: its position and its source.
type Input = (u16, Source);

impl<'p> Emitter<'_, 'p> {
    fn local(&mut self, ty: ValType) -> u32 {
        self.locals.push(ty);
        self.params + self.locals.len() as u32 - 1
    }

    /// Gives each variable a local. One that begins as a parameter which nobody else looks at takes its place.
    fn variables(&mut self) -> Result<Vec<(u32, Name)>, ExportError> {
        let mut names: Vec<(u32, Name)> = (0u32..)
            .zip(&self.function.head().params)
            .filter(|(index, param)| *param.name != *format!("p{index}"))
            .map(|(index, param)| (index, param.name.clone()))
            .collect();
        for (variable, index) in self.parameters() {
            self.variables.insert(variable, index);
        }
        let params = (0u32..).zip(&self.function.head().params);
        let owned: Vec<u32> =
            params.filter(|(_, param)| self.counts(&param.ty)).map(|(index, _)| index).collect();
        self.owned = owned;
        for (of, variable) in self.body.variables() {
            if self.variables.contains_key(&of) {
                continue;
            }
            if !self.is_set(of) {
                continue;
            }
            let local = self.local(types::value(&variable.ty));
            self.variables.insert(of, local);
            if self.counts(&variable.ty) {
                self.begin(of, local)?;
            }
            if let Some(name) = &variable.name {
                names.push((local, name.clone()));
            }
        }
        Ok(names)
    }

    /// Whether anybody sets a variable; what nobody sets needs no local.
    fn is_set(&self, of: VarRef) -> bool {
        self.body
            .users_of(of.number())
            .any(|one| self.body.node(one.node).is_some_and(|node| node.op().code() == Opcode::VarSet))
    }

    /// Variables that are set to a parameter at the very start, where the parameter is used by nothing else.
    fn parameters(&self) -> Vec<(VarRef, u32)> {
        let Some(root) = self.body.root() else { return Vec::new() };
        let mut found: Vec<(VarRef, u32)> = Vec::new();
        let uses = |port: u16| {
            let all = self.body.uses_of(self.of.number());
            all.filter(|one| self.body.source_of(*one).is_some_and(|source| source.port() == port))
                .take(2)
                .count()
        };
        for node in self.body.nodes_in(root).filter_map(|node| self.body.node(node)) {
            match (node.op().code(), node.op().attr(), node.inputs().get(0)) {
                (Opcode::VarSet, Attr::Variable(variable), Some(Source::Param(_, port)))
                    if uses(port) == 1 && found.iter().all(|(other, _)| other != variable) =>
                {
                    found.push((*variable, port.into()));
                }
                _ => break,
            }
        }
        found
    }

    fn unsupported(&self, of: impl Into<Ref>, what: impl Into<String>) -> ExportError {
        let path = self.writing.program.path(self.of.into());
        ExportError::Unsupported { of: of.into(), path, what: what.into() }
    }

    fn run(&mut self) -> Done {
        while let Some(step) = self.work.pop() {
            match step {
                Step::Nodes(mut nodes) => {
                    let Some(next) = nodes.next() else { continue };
                    self.work.push(Step::Nodes(nodes));
                    self.node(next)?;
                }
                Step::Put(instruction) => self.code.push(instruction),
                Step::Open(opened) => self.open(opened),
                Step::Leave => {
                    if let Some(Some(label)) = self.labels.pop() {
                        self.depths.remove(&label);
                        self.rounds -= u32::from(label.1);
                    }
                }
                Step::Give(node, start) => self.give(node, start)?,
            }
        }
        Ok(())
    }

    fn nodes(&self, region: RegionRef) -> Step {
        Step::Nodes(self.body.nodes_in(region).collect::<Vec<_>>().into_iter())
    }

    fn walk(&mut self, region: RegionRef) {
        let nodes = self.nodes(region);
        self.work.push(nodes);
    }

    fn enter(&mut self, label: Option<(NodeRef, bool)>) {
        if let Some(label) = label {
            self.depths.insert(label, self.labels.len());
            self.rounds += u32::from(label.1);
        }
        self.labels.push(label);
    }

    /// Gives the block that began last the name of its node.
    fn name_block(&mut self, of: NodeRef) {
        if let Some(label) = self.body.node(of).and_then(|node| node.op().label()) {
            self.named.push((self.code.blocks() - 1, label.clone()));
        }
    }

    fn depth(&self, exit: Exit) -> u32 {
        let at = match exit {
            Exit::Break(node) => self.depths.get(&(node, false)),
            Exit::Continue(node) => self.depths.get(&(node, true)),
            Exit::Return => match &self.returns_to {
                Some(at) => Some(at),
                None => return self.labels.len() as u32,
            },
        };
        (self.labels.len() - 1 - at.copied().unwrap_or(0)) as u32
    }

    /// How a source is taken as an operand.
    fn operand(&mut self, of: NodeRef, (index, source): Input) -> Operand {
        if let Source::Node(node, _) = source
            && let Some(constant) = self.constant(node)
        {
            return Operand::Ready(constant, 0);
        }
        let (local, since) = match source {
            Source::Param(_, port) => (port.into(), 0),
            Source::Node(..) | Source::RegionParam(..) => match self.places.get(&source) {
                Some(place) => *place,
                None => return Operand::Held(source),
            },
        };
        match self.last_uses.is_on_heap(source) && self.consumes(of, index) {
            true => self.handed_over(of, index, local, since),
            false => Operand::Ready(Instruction::LocalGet(local), since),
        }
    }

    fn constant(&mut self, node: NodeRef) -> Option<Instruction<'static>> {
        match self.body.node(node)?.op().attr() {
            Attr::Const(value @ (Const::String(_) | Const::Bytes(_))) => {
                self.writing.text(value).map(|address| Instruction::I32Const(address.cast_signed()))
            }
            Attr::Const(value) => constant(value),
            _ => None,
        }
    }

    /// Puts values on the stack, in order; says where the first begins.
    fn take(&mut self, of: NodeRef, inputs: impl IntoIterator<Item = Input>) -> Start {
        let operands: Vec<Operand> = inputs.into_iter().map(|input| self.operand(of, input)).collect();
        let (locals, params) = (&mut self.locals, self.params);
        let places = &mut self.places;
        self.code.take(&operands, |source, ty, since| {
            locals.push(ty);
            let local = params + locals.len() as u32 - 1;
            places.insert(source, (local, since));
            local
        })
    }

    /// By how many a value is used, and from where.
    fn uses(&self, of: NodeRef, region: RegionRef, port: u16) -> Uses {
        let uses = self.body.uses_of(of.number());
        let mut uses = uses.filter(|one| self.body.source_of(*one) == Some(Source::Node(of, port)));
        match (uses.next(), uses.next()) {
            (None, _) => Uses::None,
            (Some(one), None) if self.body.node(one.node).is_some_and(|node| node.region() == region) => {
                Uses::Near
            }
            (Some(_), _) => Uses::Far,
        }
    }

    /// The outputs of a node are on the stack.
    fn give(&mut self, of: NodeRef, start: Start) -> Done {
        let Some(node) = self.body.node(of) else { return Ok(()) };
        let mut outputs = signature::outputs(self.writing.program, self.function, node).unwrap_or_default();
        if let (Opcode::Wrap, Attr::Convert(wide, part)) = (node.op().code(), node.op().attr())
            && self.extended(of, *wide, *part).is_some()
        {
            // It is not narrow yet, wherever it waits for what makes it so.
            outputs = [Type::Scalar(*wide)].into_iter().collect();
        }
        if let [one] = &outputs[..]
            && self.uses(of, node.region(), 0) == Uses::Near
            && (!self.writing.heap || self.may_wait(of, self.counts(one)))
        {
            self.code.hold(Source::Node(of, 0), types::value(one), start);
            return Ok(());
        }
        for (port, ty) in outputs.iter().enumerate().rev() {
            let port = port as u16;
            let counts = self.counts(ty);
            if self.uses(of, node.region(), port) == Uses::None {
                let drop = if counts { self.writing.runtime("release") } else { Instruction::Drop };
                self.code.push(drop);
                continue;
            }
            let local = self.local(types::value(ty));
            if counts {
                self.keep(local);
            } else {
                self.code.push(Instruction::LocalSet(local));
            }
            self.places.insert(Source::Node(of, port), (local, self.code.position()));
        }
        Ok(())
    }

    /// Takes operands, puts instructions, gives what comes out.
    fn emit(
        &mut self,
        of: NodeRef,
        inputs: impl IntoIterator<Item = Input> + Clone,
        instructions: impl IntoIterator<Item = Instruction<'static>>,
    ) -> Done {
        let start = self.take(of, inputs.clone());
        instructions.into_iter().for_each(|instruction| self.code.push(instruction));
        self.let_go(of, inputs);
        self.give(of, start)
    }

    fn node(&mut self, of: NodeRef) -> Done {
        let Some(node) = self.body.node(of) else { return Ok(()) };
        let mut inputs: Vec<Input> = (0..).zip(node.inputs().iter().flatten()).collect();
        let op = node.op();
        self.code.count();
        match (op.code(), op.attr()) {
            (Opcode::Const, _) => Ok(()),
            (Opcode::Call, Attr::Function(callee)) if self.writing.leaves_out(*callee) => {
                inputs.retain(|(_, source)| self.code.holds(*source));
                self.take(of, inputs.iter().copied());
                inputs.iter().for_each(|_| self.code.push(Instruction::Drop));
                Ok(())
            }
            (Opcode::Block | Opcode::Loop | Opcode::If, Attr::Control(_)) => self.control(of, node, &inputs),
            (Opcode::Match, Attr::Match(cases)) => self.choose(of, node, cases, &inputs),
            (Opcode::Yield, _) => {
                self.take(of, inputs);
                Ok(())
            }
            (Opcode::Return, _) => {
                self.take(of, inputs);
                let last =
                    self.body.region(node.region()).is_some_and(|of| of.owner == RegionOwner::Function);
                if !last {
                    self.code.push(match self.returns_to {
                        Some(_) => Instruction::Br(self.depth(Exit::Return)),
                        None => Instruction::Return,
                    });
                }
                Ok(())
            }
            (Opcode::Break, Attr::Exit(target)) => self.leave(of, inputs, Exit::Break(*target)),
            (Opcode::Continue, Attr::Exit(target)) => self.leave(of, inputs, Exit::Continue(*target)),
            (Opcode::BreakIf, Attr::Exit(target)) => self.leave_if(of, &inputs, Exit::Break(*target)),
            (Opcode::ContinueIf, Attr::Exit(target)) => self.leave_if(of, &inputs, Exit::Continue(*target)),
            (Opcode::BrSwitch, Attr::Switch(exits)) => {
                let depths: Vec<u32> = exits.iter().map(|exit| self.depth(*exit)).collect();
                let (last, targets) = depths.split_last().unwrap_or((&0, &[]));
                self.take(of, rotated(&inputs));
                self.code.push(Instruction::BrTable(targets.to_vec().into(), *last));
                Ok(())
            }
            (Opcode::Unreachable, _) => {
                self.code.push(Instruction::Unreachable);
                Ok(())
            }
            (Opcode::Select, Attr::Type(ty)) => {
                let instruction = match types::value(ty) {
                    ty @ ValType::Ref(_) => Instruction::TypedSelect(ty),
                    _ => Instruction::Select,
                };
                let share = self.counts(ty).then(|| self.writing.runtime("share"));
                self.emit(of, rotated(&inputs), [Some(instruction), share].into_iter().flatten())
            }
            (Opcode::VarSet, Attr::Variable(variable)) => {
                let local = self.variables[variable];
                if inputs == [(0, Source::Param(self.of, local as u16))] && local < self.params {
                    return Ok(());
                }
                if self.counts_variable(*variable) {
                    self.take(of, inputs);
                    self.replace(local);
                    return Ok(());
                }
                let start = self.take(of, inputs);
                self.code.set(local, start);
                Ok(())
            }
            (Opcode::VarGet, Attr::Variable(variable)) => {
                let Some(local) = self.variables.get(variable).copied() else {
                    let first = self.first(*variable)?;
                    return self.emit(of, inputs, [first]);
                };
                let got = match self.counts_variable(*variable) {
                    true => self.got(of, 0, local),
                    false => vec![Instruction::LocalGet(local)],
                };
                self.emit(of, inputs, got)
            }
            (Opcode::Wrap | Opcode::ExtendS | Opcode::ExtendU, Attr::Convert(from, to)) => {
                self.widen(of, op, (*from, *to), &inputs)
            }
            (Opcode::Ne, Attr::Scalar(Scalar::I32))
                if self.is_zero(inputs[1].1) && self.decides(of, node) =>
            {
                self.emit(of, [inputs[0]], [])
            }
            (Opcode::CallIndirect, Attr::Indirect(table, signature)) => {
                if signature.params.iter().chain(&signature.results).any(Type::on_heap) {
                    return Err(self.unsupported(of, "values of the heap in an indirect call"));
                }
                let (params, results) = (types::values(&signature.params), types::values(&signature.results));
                let type_index = self.writing.types.index(params, results);
                let table_index = self.writing.indices.tables[table];
                let call = Instruction::CallIndirect { type_index, table_index };
                let after = self.writing.after_reference();
                self.emit(of, rotated(&inputs), [call].into_iter().chain(after))
            }
            (Opcode::Raw, Attr::Raw(raw)) => {
                if self.writing.meter.is_some() {
                    return Err(self.unsupported(of, "an operator that no run executes"));
                }
                if let Err(what) = raw::check(raw, self.writing.has_memory()) {
                    return Err(self.unsupported(of, format!("a `raw` operator ({what})")));
                }
                let start = self.take(of, inputs);
                self.code.push_bytes(&raw.bytes);
                self.give(of, start)
            }
            (_, _) if self.writing.heap && values::concerns(op) => self.value(of, op, &inputs),
            (_, _) => {
                let mut instructions = self.instructions(of, op)?;
                if self.writing.options.canonical_nans {
                    instructions.extend(self.canonical(op));
                }
                self.spend(op, &mut instructions);
                self.emit(of, inputs, instructions)
            }
        }
    }

    fn is_zero(&self, source: Source) -> bool {
        match source {
            Source::Node(node, _) => {
                let op = self.body.node(node).map(Node::op);
                op.is_some_and(|op| *op.attr() == Attr::Const(Const::I32(0)))
            }
            Source::Param(..) | Source::RegionParam(..) => false,
        }
    }

    /// Whether a truth value is only asked whether it holds: then any number other than zero does.
    fn decides(&self, of: NodeRef, node: &Node) -> bool {
        let Uses::Near = self.uses(of, node.region(), 0) else { return false };
        let mut uses = self.body.uses_of(of.number());
        uses.next().is_some_and(|one| {
            let by = self.body.node(one.node).map(|node| node.op().code());
            let decides =
                matches!(by, Some(Opcode::If | Opcode::BreakIf | Opcode::ContinueIf | Opcode::Select));
            decides && one.input == Some(0)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uses {
    None,
    /// One, in the same region.
    Near,
    Far,
}

/// The first one last: what decides is on top of the stack.
fn rotated(inputs: &[Input]) -> Vec<Input> {
    let mut inputs = inputs.to_vec();
    if !inputs.is_empty() {
        inputs.rotate_left(1);
    }
    inputs
}

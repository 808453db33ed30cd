//! The body of a function: regions become blocks, nodes instructions, in the order in which they stand.

mod control;
mod operators;

use std::collections::HashMap;

use lmlang_ir::ops::signature;
use lmlang_ir::{
    Attr, Body, Const, ContractKind, Exit, FuncRef, Function, Name, Node, NodeRef, Opcode, Ref, RegionOwner,
    RegionRef, Scalar, Source, VarRef,
};
use wasm_encoder::{Instruction, ValType};

use self::operators::constant;
use super::stack::{Code, Operand};
use super::{ExportError, Writing};

/// The code of a function, and the names of its locals.
pub(super) struct Written {
    pub(super) code: wasm_encoder::Function,
    pub(super) names: Vec<(u32, Name)>,
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
        true => (contracts(ContractKind::Require), contracts(ContractKind::Ensure)),
        false => (Vec::new(), Vec::new()),
    };
    let mut emitter = Emitter {
        writing,
        of,
        function,
        body,
        code: Code::default(),
        locals: Vec::new(),
        variables: HashMap::new(),
        places: HashMap::new(),
        labels: Vec::new(),
        depths: HashMap::new(),
        work: Vec::new(),
        returns_to: None,
    };
    let names = emitter.variables()?;
    emitter.check(&requires)?;
    emitter.root(&ensures)?;
    emitter.code.push(Instruction::End);
    let mut code = wasm_encoder::Function::new_with_locals_types(emitter.locals.iter().copied());
    for instruction in emitter.code.finish() {
        code.instruction(&instruction);
    }
    Ok(Written { code, names })
}

/// What is left to be done.
enum Step {
    /// The nodes of a region that are left.
    Nodes(std::vec::IntoIter<NodeRef>),
    Put(Instruction<'static>),
    /// A label is not in reach any more.
    Leave,
    /// The node is complete: its outputs are there. What it takes began at a position.
    Give(NodeRef, usize),
}

struct Emitter<'w, 'p> {
    writing: &'w mut Writing<'p>,
    of: FuncRef,
    function: &'p Function,
    body: &'p Body,
    code: Code,
    /// Types of the locals behind the parameters.
    locals: Vec<ValType>,
    variables: HashMap<VarRef, u32>,
    /// Locals of values, and from which position on they have them.
    places: HashMap<Source, (u32, usize)>,
    /// Labels in reach, the outermost first.
    labels: Vec<Option<(NodeRef, bool)>>,
    /// Where in `labels` one stands, by the node and whether it is the one that continues.
    depths: HashMap<(NodeRef, bool), usize>,
    work: Vec<Step>,
    /// The position in `labels` of the block that a return leaves, where something is left to do afterwards.
    returns_to: Option<usize>,
}

type Done = Result<(), ExportError>;

impl<'p> Emitter<'_, 'p> {
    fn local(&mut self, ty: ValType) -> u32 {
        self.locals.push(ty);
        (self.function.head().params.len() + self.locals.len() - 1) as u32
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
        for (of, variable) in self.body.variables() {
            if self.variables.contains_key(&of) {
                continue;
            }
            let ty = self.writing.value(of.into(), &variable.ty)?;
            let local = self.local(ty);
            self.variables.insert(of, local);
            if let Some(name) = &variable.name {
                names.push((local, name.clone()));
            }
        }
        Ok(names)
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
                Step::Leave => {
                    if let Some(Some(label)) = self.labels.pop() {
                        self.depths.remove(&label);
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
        }
        self.labels.push(label);
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
    fn operand(&self, source: Source) -> Operand {
        match source {
            Source::Param(_, port) => Operand::Ready(Instruction::LocalGet(port.into()), 0),
            Source::Node(node, _) if let Some(constant) = self.constant(node) => Operand::Ready(constant, 0),
            Source::Node(..) | Source::RegionParam(..) => match self.places.get(&source) {
                Some((local, since)) => Operand::Ready(Instruction::LocalGet(*local), *since),
                None => Operand::Held(source),
            },
        }
    }

    fn constant(&self, node: NodeRef) -> Option<Instruction<'static>> {
        let node = self.body.node(node)?;
        match node.op().attr() {
            Attr::Const(value) => constant(value),
            _ => None,
        }
    }

    /// Puts values on the stack, in order; says where the first begins.
    fn take(&mut self, sources: impl IntoIterator<Item = Source>) -> usize {
        let operands: Vec<Operand> = sources.into_iter().map(|source| self.operand(source)).collect();
        let (locals, params) = (&mut self.locals, self.function.head().params.len());
        let places = &mut self.places;
        self.code.take(&operands, |source, ty, since| {
            locals.push(ty);
            let local = (params + locals.len() - 1) as u32;
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
    fn give(&mut self, of: NodeRef, start: usize) -> Done {
        let Some(node) = self.body.node(of) else { return Ok(()) };
        let outputs = signature::outputs(self.writing.program, self.function, node).unwrap_or_default();
        if let [one] = &outputs[..]
            && self.uses(of, node.region(), 0) == Uses::Near
        {
            let ty = self.writing.value(of.into(), one)?;
            self.code.hold(Source::Node(of, 0), ty, start);
            return Ok(());
        }
        for (port, ty) in outputs.iter().enumerate().rev() {
            let port = port as u16;
            if self.uses(of, node.region(), port) == Uses::None {
                self.code.push(Instruction::Drop);
                continue;
            }
            let ty = self.writing.value(of.into(), ty)?;
            let local = self.local(ty);
            self.code.push(Instruction::LocalSet(local));
            self.places.insert(Source::Node(of, port), (local, self.code.position()));
        }
        Ok(())
    }

    /// Takes operands, puts an instruction, gives what comes out.
    fn emit(
        &mut self,
        of: NodeRef,
        sources: impl IntoIterator<Item = Source>,
        instructions: impl IntoIterator<Item = Instruction<'static>>,
    ) -> Done {
        let start = self.take(sources);
        instructions.into_iter().for_each(|instruction| self.code.push(instruction));
        self.give(of, start)
    }

    fn node(&mut self, of: NodeRef) -> Done {
        let Some(node) = self.body.node(of) else { return Ok(()) };
        let inputs: Vec<Source> = node.inputs().iter().flatten().collect();
        let op = node.op();
        match (op.code(), op.attr()) {
            (Opcode::Const, Attr::Const(value)) => match constant(value) {
                Some(_) => Ok(()),
                None => Err(self.unsupported(of, format!("a constant of type `{}`", value.ty()))),
            },
            (Opcode::Block | Opcode::Loop | Opcode::If, Attr::Control(_)) => self.control(of, node, &inputs),
            (Opcode::Match, Attr::Match(cases)) => self.choose(of, node, cases, &inputs),
            (Opcode::Yield, _) => {
                self.take(inputs);
                Ok(())
            }
            (Opcode::Return, _) => {
                self.take(inputs);
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
            (Opcode::Break, Attr::Exit(target)) => self.leave(inputs, Exit::Break(*target)),
            (Opcode::Continue, Attr::Exit(target)) => self.leave(inputs, Exit::Continue(*target)),
            (Opcode::BreakIf, Attr::Exit(target)) => self.leave_if(&inputs, Exit::Break(*target)),
            (Opcode::ContinueIf, Attr::Exit(target)) => self.leave_if(&inputs, Exit::Continue(*target)),
            (Opcode::BrSwitch, Attr::Switch(exits)) => {
                let depths: Vec<u32> = exits.iter().map(|exit| self.depth(*exit)).collect();
                let (last, targets) = depths.split_last().unwrap_or((&0, &[]));
                self.take(rotated(&inputs));
                self.code.push(Instruction::BrTable(targets.to_vec().into(), *last));
                Ok(())
            }
            (Opcode::Unreachable, _) => {
                self.code.push(Instruction::Unreachable);
                Ok(())
            }
            (Opcode::Select, Attr::Type(ty)) => {
                let instruction = match self.writing.value(of.into(), ty)? {
                    ty @ ValType::Ref(_) => Instruction::TypedSelect(ty),
                    _ => Instruction::Select,
                };
                self.emit(of, rotated(&inputs), [instruction])
            }
            (Opcode::VarSet, Attr::Variable(variable)) => {
                let local = self.variables[variable];
                if inputs == [Source::Param(self.of, local as u16)]
                    && (local as usize) < self.function.head().params.len()
                {
                    return Ok(());
                }
                self.emit(of, inputs, [Instruction::LocalSet(local)])
            }
            (Opcode::VarGet, Attr::Variable(variable)) => {
                let local = self.variables[variable];
                self.emit(of, inputs, [Instruction::LocalGet(local)])
            }
            (Opcode::Wrap | Opcode::ExtendS | Opcode::ExtendU, Attr::Convert(from, to)) => {
                self.widen(of, op, (*from, *to), &inputs)
            }
            (Opcode::Ne, Attr::Scalar(Scalar::I32)) if self.is_zero(inputs[1]) && self.decides(of, node) => {
                self.emit(of, [inputs[0]], [])
            }
            (Opcode::CallIndirect, Attr::Indirect(table, signature)) => {
                let params = self.writing.values(of.into(), &signature.params)?;
                let results = self.writing.values(of.into(), &signature.results)?;
                let type_index = self.writing.types.index(params, results);
                let table_index = self.writing.indices.tables[table];
                self.emit(of, rotated(&inputs), [Instruction::CallIndirect { type_index, table_index }])
            }
            (_, _) => {
                let instructions = self.instructions(of, op)?;
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
fn rotated(inputs: &[Source]) -> Vec<Source> {
    let mut inputs = inputs.to_vec();
    if !inputs.is_empty() {
        inputs.rotate_left(1);
    }
    inputs
}

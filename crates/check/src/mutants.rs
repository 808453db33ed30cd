//! Small changes of a function, each of which is a mistake that somebody could have made.
//!
//! The operators of mutation testing that need no more than the graph (DeMillo, Lipton, Sayward, *Hints on Test Data
//! Selection*, IEEE Computer 1978; Offutt et al., *An Experimental Determination of Sufficient Mutant Operators*, ACM TOSEM
//! 1996; Deng, Offutt, Li, *Empirical Evaluation of the Statement Deletion Mutation Operator*, ICST 2013).

use std::fmt;

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::{
    Attr, Body, Const, Effect, FuncRef, Function, FunctionMut, Node, NodeContent, NodeRef, Op, Opcode,
    Program, RefAllocator, RegionOwner, Scalar, Source, StructureError, Use, counted,
};

use crate::shapes::{int_like, int_of};

/// What is another at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A constant.
    Constant {
        /// What stands there.
        from: Const,
        /// What stood there instead.
        to: Const,
    },
    /// The operator, with the same operands.
    Operator {
        /// What stands there.
        from: Opcode,
        /// What stood there instead.
        to: Opcode,
    },
    /// The condition holds where it does not, and the other way round.
    Negated,
    /// Two arguments have changed places.
    Swapped {
        /// Position of the first.
        first: u16,
        /// Position of the second.
        second: u16,
    },
    /// Who uses the result gets an operand instead.
    Skipped {
        /// Position of the operand.
        operand: u16,
    },
    /// What is done for its effects, with all that is in it, is not done.
    Removed {
        /// What stands there.
        op: Opcode,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Constant { from, to } => write!(f, "{} became {}", Shown(from), Shown(to)),
            Change::Operator { from, to } => write!(f, "`{}` became `{}`", from.mnemonic(), to.mnemonic()),
            Change::Negated => f.write_str("the condition was negated"),
            Change::Swapped { first, second } => write!(f, "inputs {first} and {second} changed places"),
            Change::Skipped { operand } => write!(f, "input {operand} was taken for the result"),
            Change::Removed { op } => write!(f, "`{}` was left out", op.mnemonic()),
        }
    }
}

/// A constant in words.
struct Shown<'a>(&'a Const);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Const::Bool(value) => write!(f, "`{value}`"),
            Const::I8(_) | Const::I16(_) | Const::I32(_) | Const::I64(_) => {
                write!(f, "`{}`", int_of(self.0).unwrap_or(0))
            }
            Const::F32(bits) => write!(f, "`{:?}`", f32::from_bits(*bits)),
            Const::F64(bits) => write!(f, "`{:?}`", f64::from_bits(*bits)),
            Const::Unit => f.write_str("`unit`"),
            Const::String(text) => write!(f, "`{text:?}`"),
            Const::Bytes(bytes) => f.write_str(&counted(bytes.len() as u64, "byte", "bytes")),
        }
    }
}

/// A change with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    pub(crate) node: NodeRef,
    pub(crate) change: Change,
}

/// All small changes of a function, by node. Contracts are left alone: they are what notices.
pub(crate) fn mutants(program: &Program, function: &Function) -> Vec<Mutant> {
    let body = function.body();
    let mut all = Vec::new();
    for (of, node) in body.nodes().filter(|(_, node)| !in_contract(body, node)) {
        let mut add = |change: Change| all.push(Mutant { node: of, change });
        match node.op().attr() {
            Attr::Const(from) => {
                constants(from).into_iter().for_each(|to| add(Change::Constant { from: from.clone(), to }))
            }
            attr => {
                let from = node.op().code();
                let fit = |to: &&Opcode| Op::new(**to, attr.clone()).is_some();
                alternatives(from).iter().filter(fit).for_each(|to| add(Change::Operator { from, to: *to }));
            }
        }
        if matches!(node.op().code(), Opcode::If | Opcode::BreakIf | Opcode::ContinueIf | Opcode::Select) {
            add(Change::Negated);
        }
        if matches!(node.op().code(), Opcode::Call | Opcode::CallIndirect | Opcode::ClosureCall) {
            for second in 1..node.inputs().len() {
                let [a, b] = [second - 1, second].map(|at| node.inputs().get(at));
                let [ty, other] = [a, b].map(|of| of.and_then(|of| source_type(program, function, of)));
                if a != b && ty.is_some() && ty == other {
                    add(Change::Swapped { first: second as u16 - 1, second: second as u16 });
                }
            }
        }
        if is_statement(body, of, node) {
            add(Change::Removed { op: node.op().code() });
        }
        skips(program, function, of, node).into_iter().for_each(|operand| add(Change::Skipped { operand }));
    }
    all
}

fn in_contract(body: &Body, node: &Node) -> bool {
    let top = body.chain(node.region()).last().and_then(|region| body.region(region));
    top.is_some_and(|top| matches!(top.owner, RegionOwner::Contract(_)))
}

/// Whether a node is there for what it does, and nobody uses what it gives.
fn is_statement(body: &Body, of: NodeRef, node: &Node) -> bool {
    let acts = match node.op().spec().effect {
        Effect::Writes | Effect::Io | Effect::Calls => true,
        Effect::Pure | Effect::Traps | Effect::Reads | Effect::Control => node.op().owns_regions(),
    };
    acts && !node.op().is_terminator() && body.uses_of(of.number()).all(|one| one.input.is_none())
}

/// Constants that are easily taken for another one.
fn constants(of: &Const) -> Vec<Const> {
    let mut all = match of {
        Const::Bool(value) => vec![Const::Bool(!value)],
        Const::I8(_) | Const::I16(_) | Const::I32(_) | Const::I64(_) => {
            let value = int_of(of).unwrap_or(0);
            [value.wrapping_add(1), value.wrapping_sub(1), 0].map(|value| int_like(of, value)).to_vec()
        }
        Const::F32(bits) => {
            let value = f32::from_bits(*bits);
            [value + 1.0, value - 1.0, 0.0].map(|value| Const::F32(value.to_bits())).to_vec()
        }
        Const::F64(bits) => {
            let value = f64::from_bits(*bits);
            [value + 1.0, value - 1.0, 0.0].map(|value| Const::F64(value.to_bits())).to_vec()
        }
        Const::String(text) => match text.is_empty() {
            true => vec![Const::String("a".into())],
            false => vec![Const::String("".into())],
        },
        Const::Bytes(bytes) => match bytes.is_empty() {
            true => vec![Const::Bytes([0].into())],
            false => vec![Const::Bytes([].into())],
        },
        Const::Unit => Vec::new(),
    };
    all.dedup();
    all.retain(|other| other != of);
    all
}

/// Operators that are easily taken for another one, of the same operands and result.
fn alternatives(of: Opcode) -> &'static [Opcode] {
    match of {
        Opcode::Add => &[Opcode::Sub],
        Opcode::Sub | Opcode::Mul => &[Opcode::Add],
        Opcode::DivS => &[Opcode::DivU, Opcode::RemS],
        Opcode::DivU => &[Opcode::DivS, Opcode::RemU],
        Opcode::RemS => &[Opcode::RemU, Opcode::DivS],
        Opcode::RemU => &[Opcode::RemS, Opcode::DivU],
        Opcode::Div => &[Opcode::Mul],
        Opcode::And => &[Opcode::Or],
        Opcode::Or => &[Opcode::And],
        Opcode::Xor => &[Opcode::Or],
        Opcode::Shl | Opcode::ShrS => &[Opcode::ShrU],
        Opcode::ShrU => &[Opcode::ShrS, Opcode::Shl],
        Opcode::Rotl => &[Opcode::Rotr],
        Opcode::Rotr => &[Opcode::Rotl],
        Opcode::Clz => &[Opcode::Ctz],
        Opcode::Ctz => &[Opcode::Clz],
        Opcode::Eq => &[Opcode::Ne],
        Opcode::Ne => &[Opcode::Eq],
        Opcode::LtS => &[Opcode::LeS, Opcode::GeS],
        Opcode::LeS => &[Opcode::LtS, Opcode::GtS],
        Opcode::GtS => &[Opcode::GeS, Opcode::LeS],
        Opcode::GeS => &[Opcode::GtS, Opcode::LtS],
        Opcode::LtU => &[Opcode::LeU, Opcode::LtS],
        Opcode::LeU => &[Opcode::LtU, Opcode::LeS],
        Opcode::GtU => &[Opcode::GeU, Opcode::GtS],
        Opcode::GeU => &[Opcode::GtU, Opcode::GeS],
        Opcode::Lt => &[Opcode::Le, Opcode::Ge],
        Opcode::Le => &[Opcode::Lt, Opcode::Gt],
        Opcode::Gt => &[Opcode::Ge, Opcode::Le],
        Opcode::Ge => &[Opcode::Gt, Opcode::Lt],
        Opcode::Min => &[Opcode::Max],
        Opcode::Max => &[Opcode::Min],
        Opcode::Ceil => &[Opcode::Floor],
        Opcode::Floor => &[Opcode::Ceil],
        Opcode::Load8S => &[Opcode::Load8U],
        Opcode::Load8U => &[Opcode::Load8S],
        Opcode::Load16S => &[Opcode::Load16U],
        Opcode::Load16U => &[Opcode::Load16S],
        Opcode::ExtendS => &[Opcode::ExtendU],
        Opcode::ExtendU => &[Opcode::ExtendS],
        Opcode::ConvertS => &[Opcode::ConvertU],
        Opcode::ConvertU => &[Opcode::ConvertS],
        _ => &[],
    }
}

/// Operands of the type of the only result, if there is one and somebody uses it.
fn skips(program: &Program, function: &Function, of: NodeRef, node: &Node) -> Vec<u16> {
    let body = function.body();
    let result = source_type(program, function, Source::Node(of, 0));
    let several = source_type(program, function, Source::Node(of, 1)).is_some();
    let Some(result) = result.filter(|_| !several && body.uses_of(of.number()).next().is_some()) else {
        return Vec::new();
    };
    // What owns regions does more than its result, and a loop's operands are those of its first round.
    if node.op().owns_regions() {
        return Vec::new();
    }
    let fits = |source: Option<Source>| {
        source.and_then(|source| source_type(program, function, source)).is_some_and(|ty| ty == result)
    };
    let mut fitting: Vec<(u16, Option<Source>)> =
        (0u16..).zip(node.inputs().iter()).filter(|(_, source)| fits(*source)).collect();
    fitting.dedup_by_key(|(_, source)| *source);
    fitting.into_iter().map(|(operand, _)| operand).collect()
}

/// The program with a change; none where it cannot be made.
pub(crate) fn mutated(program: &Program, function: FuncRef, mutant: &Mutant) -> Option<Program> {
    let mut program = program.clone();
    apply(&mut program, function, mutant).ok().flatten()?;
    Some(program)
}

fn apply(program: &mut Program, function: FuncRef, mutant: &Mutant) -> Result<Option<()>, StructureError> {
    let mut refs = RefAllocator::starting_at(program.largest_number() + 1);
    let mut open = program.function_mut(function)?;
    let of = mutant.node;
    let Some(node) = open.body().node(of).cloned() else { return Ok(None) };
    let content = node.content();
    match &mutant.change {
        Change::Constant { to, .. } => {
            open.set_node(of, NodeContent { op: Op::constant(to.clone()), ..content })?;
        }
        Change::Operator { to, .. } => {
            let Some(op) = Op::new(*to, node.op().attr().clone()) else { return Ok(None) };
            open.set_node(of, NodeContent { op, ..content })?;
        }
        Change::Negated => {
            let op = Op::new(Opcode::Not, Attr::Scalar(Scalar::Bool));
            let (Some(op), Some(number)) = (op, refs.allocate()) else { return Ok(None) };
            let Ok(not) = format!("n{number}").parse::<NodeRef>() else { return Ok(None) };
            let before = open.body().previous(of);
            open.insert_node(not, node.region(), before, NodeContent::new(op, [node.inputs().get(0)]))?;
            open.set_input(of, 0, Some(Source::Node(not, 0)))?;
        }
        Change::Swapped { first, second } => {
            let [a, b] = [*first, *second].map(usize::from);
            open.set_input(of, a, node.inputs().get(b))?;
            open.set_input(of, b, node.inputs().get(a))?;
        }
        Change::Skipped { operand } => {
            let operand = node.inputs().get(usize::from(*operand));
            let uses: Vec<Use> = open.body().uses_of(of.number()).collect();
            for one in uses {
                if let Some(input) = one.input {
                    open.set_input(one.node, usize::from(input), operand)?;
                }
            }
        }
        Change::Removed { .. } => remove(&mut open, of)?,
    }
    Ok(Some(()))
}

/// Removes a node with all in it, the last first.
fn remove(open: &mut FunctionMut<'_>, of: NodeRef) -> Result<(), StructureError> {
    let regions = open.body().node(of).map(|node| node.regions().to_vec()).unwrap_or_default();
    for region in regions.into_iter().rev() {
        let inside: Vec<NodeRef> = open.body().nodes_in(region).collect();
        inside.into_iter().rev().try_for_each(|node| remove(open, node))?;
        open.remove_region(region)?;
    }
    open.remove_node(of)?;
    Ok(())
}

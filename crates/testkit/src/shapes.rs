//! Large well-typed programs of a given shape, made quickly: what cost is measured on.

use lmlang_ir::builder::{Builder, FunctionBuilder, params};
use lmlang_ir::{FuncRef, FunctionHead, ModuleRef, NodeRef, Opcode, Program, Scalar, Source, Type};

use crate::choices::Choices;
use crate::generate::Generated;

/// How a program is cut into functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Functions of fifty nodes.
    ManySmall,
    /// Ten functions, or fewer so that each has at least a thousand nodes.
    FewLarge,
}

impl Shape {
    /// The number of functions for that many nodes.
    pub fn functions(self, nodes: usize) -> usize {
        match self {
            Shape::ManySmall => (nodes / 50).max(1),
            Shape::FewLarge => (nodes / 100_000).max(1),
        }
    }
}

/// Makes a program of about that many nodes; the same for the same seed.
pub fn program(shape: Shape, nodes: usize, seed: u64) -> Generated {
    let (mut program, mut refs) = (Program::new(), lmlang_ir::RefAllocator::starting_at(1));
    let mut choices = Choices::seeded(seed);
    let mut build = Builder::new(&mut program, &mut refs);
    let module = build.module(None, "bench");
    let functions = shape.functions(nodes);
    let each = nodes / functions;
    let mut before: Option<FuncRef> = None;
    for index in 0..functions {
        before = Some(function(&mut build, module, index, each, before, &mut choices));
    }
    Generated { program, refs }
}

/// A function of about that many nodes: arithmetic on recent values, now and then an `if`, one call.
fn function(
    build: &mut Builder<'_>,
    module: ModuleRef,
    index: usize,
    nodes: usize,
    callee: Option<FuncRef>,
    choices: &mut Choices,
) -> FuncRef {
    let taken = params([("a", Type::I64), ("b", Type::I64)]);
    let mut f = build.function(FunctionHead::new(format!("function{index}"), module, taken, vec![Type::I64]));
    let mut recent = vec![f.param(0), f.param(1)];
    let mut added = 0;
    if let Some(callee) = callee {
        let called = f.call(callee, [recent[0], recent[1]]);
        recent.push(called.into());
        added += 1;
    }
    while added + 2 < nodes {
        let last = recent[recent.len() - 1 - choices.below(recent.len().min(4))];
        let other = recent[recent.len() - 1 - choices.below(recent.len().min(32))];
        let (value, cost) = match choices.below(40) {
            0 if added + 10 < nodes => branch(&mut f, last, other),
            1..=8 => (f.i64(choices.below(1000) as i64), 1),
            kind => {
                const CODES: [Opcode; 5] = [Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Xor, Opcode::Rotl];
                (f.scalar(CODES[kind % CODES.len()], Scalar::I64, [last, other]), 1)
            }
        };
        recent.push(value);
        added += cost;
    }
    f.ret(recent.last().copied());
    f.finish()
}

fn branch(f: &mut FunctionBuilder<'_>, a: Source, b: Source) -> (Source, usize) {
    let condition = f.scalar(Opcode::LtS, Scalar::I64, [a, b]);
    let owner = f.if_(condition, vec![Type::I64]);
    f.within(owner.regions[0], |f| {
        let sum = f.scalar(Opcode::Add, Scalar::I64, [a, b]);
        f.yield_([sum])
    });
    f.within(owner.regions[1], |f| {
        let difference = f.scalar(Opcode::Sub, Scalar::I64, [a, b]);
        f.yield_([difference])
    });
    (owner.node.into(), 6)
}

/// One edit as people and agents make most: a node after some other one, whose value a later input of the same type
/// then takes. Stays well-typed. The anchor is random, so that nothing of it is in a cache.
pub fn edit(generated: &mut Generated, functions: &[FuncRef], choices: &mut Choices) {
    let Some(of) = choices.pick(functions).copied() else { return };
    let Some(function) = generated.program.function(of) else { return };
    // A random number of the function's range is near a node; late refs lie beyond it.
    let (first, last) = (of.number(), of.number() + 2 * function.body().counts().nodes);
    let at = first + u64::from(choices.number()) % (last - first);
    let is_arithmetic = |node: &lmlang_ir::Node| matches!(node.op().code(), Opcode::Add | Opcode::Mul);
    let anchor = function.body().nodes_from(at).find(|(_, node)| is_arithmetic(node)).map(|(node, _)| node);
    let Some(anchor) = anchor else { return };
    let Some(region) = function.body().node(anchor).map(|node| node.region()) else { return };
    let user: Option<NodeRef> = function
        .body()
        .nodes_after(region, anchor)
        .take(8)
        .find(|node| function.body().node(*node).is_some_and(is_arithmetic));
    let Ok(mut f) = FunctionBuilder::open(&mut generated.program, &mut generated.refs, of) else { return };
    if f.go(region, Some(anchor)).is_ok() {
        let value = f.scalar(Opcode::Add, Scalar::I64, [Source::from(anchor), Source::Param(of, 0)]);
        if let Some(user) = user
            && let Err(error) = f.changes().set_input(user, 1, Some(value))
        {
            unreachable!("an addition has two inputs: {error}");
        }
    }
}

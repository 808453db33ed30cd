//! Small programs with known answers.

use std::cell::Cell;

use lmlang_interp::{Cache, Control, NodesError, NodesTrace, OpenPort, Options, Run, TraceLevel, run_nodes};
use lmlang_ir::builder::{Builder, params, region_param};
use lmlang_ir::{
    Exit, FuncRef, FunctionHead, NodeRef, Opcode, Program, RefAllocator, Scalar, Source, Type, Value,
};

use crate::tools::{check, i64s, plain, returned, whole};

fn fib(build: &mut Builder<'_>) -> FuncRef {
    let module = build.module(None, "kernels");
    let of = build.declare(FunctionHead::new("fib", module, params([("n", Type::I64)]), vec![Type::I64]));
    let mut f = build.open(of).unwrap();
    let n = f.param(0);
    let two = f.i64(2);
    let small = f.scalar(Opcode::LtS, Scalar::I64, [n, two]);
    let choice = f.if_(small, vec![Type::I64]);
    f.within(choice.regions[0], |f| f.yield_([n]));
    f.within(choice.regions[1], |f| {
        let one = f.i64(1);
        let x = f.scalar(Opcode::Sub, Scalar::I64, [n, one]);
        let a = f.call(of, [x]);
        let two = f.i64(2);
        let y = f.scalar(Opcode::Sub, Scalar::I64, [n, two]);
        let b = f.call(of, [y]);
        let sum = f.scalar(Opcode::Add, Scalar::I64, [a, b]);
        f.yield_([sum])
    });
    f.ret([choice.node.into()]);
    of
}

fn sum(build: &mut Builder<'_>) -> FuncRef {
    let module = build.module(None, "loops");
    let mut f = build.function(FunctionHead::new("sum", module, params([("n", Type::I64)]), vec![Type::I64]));
    let n = f.param(0);
    let zero = f.i64(0);
    let rounds = f.loop_(None, [("i", Type::I64, zero), ("acc", Type::I64, zero)], vec![Type::I64]);
    let body = rounds.regions[0];
    f.within(body, |f| {
        let (i, acc) = (region_param(body, 0), region_param(body, 1));
        let done = f.scalar(Opcode::GeU, Scalar::I64, [i, n]);
        f.break_if(rounds.node, done, [acc]);
        let one = f.i64(1);
        let next = f.scalar(Opcode::Add, Scalar::I64, [i, one]);
        let total = f.scalar(Opcode::Add, Scalar::I64, [acc, i]);
        f.exit(Exit::Continue(rounds.node), [next, total]);
    });
    f.ret([rounds.node.into()]);
    f.finish()
}

#[test]
fn fib_and_sum() {
    let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
    let mut build = Builder::new(&mut program, &mut refs);
    let (fib, sum) = (fib(&mut build), sum(&mut build));
    let checked = check(program);
    let options = Options::default();
    for run in [whole, plain] {
        assert_eq!(run(&checked, fib, &i64s(&[20]), &options).outcome, returned(i64s(&[6765])));
        assert_eq!(run(&checked, sum, &i64s(&[1000]), &options).outcome, returned(i64s(&[499_500])));
    }
    assert_eq!(
        whole(&checked, fib, &i64s(&[15]), &options).fuel_used,
        plain(&checked, fib, &i64s(&[15]), &options).fuel_used
    );
}

#[test]
fn some_nodes_by_themselves() {
    let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
    let mut build = Builder::new(&mut program, &mut refs);
    let sum = sum(&mut build);
    let checked = check(program.clone());
    let body = program.function(sum).unwrap().body();
    let root = body.root().unwrap();
    let rounds =
        body.nodes_in(root).find(|node| body.node(*node).unwrap().op().code() == Opcode::Loop).unwrap();
    let zero = body.node(rounds).unwrap().inputs().get(0).unwrap();
    let number = |value: i64| i64s(&[value]).remove(0);
    let inputs = [(OpenPort::Source(zero), number(0)), (OpenPort::Source(Source::Param(sum, 0)), number(10))];
    let level = Cell::new(TraceLevel::Nodes);
    let run = |nodes: &[NodeRef], inputs: &[(OpenPort, Value)]| {
        let trace = NodesTrace { level: level.get(), steps: 1000 };
        let control = &mut |_: &Run| Control::Continue;
        run_nodes(&checked, sum, nodes, inputs, &Options::default(), &Cache::new(), trace, control)
    };
    let found = run(&[rounds], &inputs).unwrap();
    assert_eq!(found.outputs, [(Source::Node(rounds, 0), number(45))]);
    assert_eq!(found.steps.first().map(|step| (step.function, step.node)), Some((sum, rounds)));
    // The last `return` is ours.
    assert_eq!((found.steps.len() as u64, found.next), (found.result.steps, None));
    assert_eq!(run(&[rounds], &inputs[..1]), Err(NodesError::Missing(Source::Param(sum, 0))));
    let twice = [inputs[0].clone(), inputs[1].clone(), inputs[0].clone()];
    assert_eq!(run(&[rounds], &twice), Err(NodesError::Twice(OpenPort::Source(zero))));
    level.set(TraceLevel::None);
    let silent = run(&[rounds], &inputs).unwrap();
    assert_eq!((silent.result, silent.steps.len(), silent.next), (found.result, 0, Some(0)));
    let last = body.last_in(root).unwrap();
    assert_eq!(run(&[last], &[]), Err(NodesError::Leaves(last)));
    assert_eq!(run(&[], &[]), Err(NodesError::Nothing));
}

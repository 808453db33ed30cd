//! What the tests share.

use std::num::NonZeroUsize;

use lmlang_interp::{Cache, Control, Lowering, Options, Outcome, Progress, Run, RunResult, run};
use lmlang_ir::{Const, FuncRef, Program, Value};
use lmlang_verify::Checked;

pub(crate) fn check(program: Program) -> Checked {
    Checked::full(program, NonZeroUsize::MIN)
}

pub(crate) fn i64s(values: &[i64]) -> Vec<Value> {
    values.iter().map(|value| Value::Const(Const::I64(*value))).collect()
}

/// Runs to the end in one slice.
pub(crate) fn whole(checked: &Checked, function: FuncRef, args: &[Value], options: &Options) -> RunResult {
    run(checked, function, args, options, &Cache::new(), u64::MAX, &mut |_| Control::Continue)
        .expect("the arguments fit")
}

/// Runs to the end in one slice, unfolded.
pub(crate) fn plain(checked: &Checked, function: FuncRef, args: &[Value], options: &Options) -> RunResult {
    let mut run = Run::with_lowering(checked, function, args, options, &Cache::new(), Lowering::Plain)
        .expect("the arguments fit");
    while run.resume(u64::MAX) == Progress::Paused {}
    run.into_result()
}

pub(crate) fn returned(values: Vec<Value>) -> Outcome {
    Outcome::Returned { values }
}

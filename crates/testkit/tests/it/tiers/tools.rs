//! Both tiers, side by side.

use std::num::NonZeroUsize;

use lmlang_compiled::{Bounds, Compiler, Ending, Returned};
use lmlang_interp::{Cache, Limits, Options, Outcome, Progress, Run, RunResult};
use lmlang_ir::text::{Detail, parse_program, print_program};
use lmlang_ir::{FuncRef, RefAllocator, Value};
use lmlang_verify::Checked;

pub(crate) fn checked(text: &str) -> Checked {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    Checked::full(program, NonZeroUsize::MIN)
}

pub(crate) fn function(checked: &Checked, name: &str) -> FuncRef {
    let mut functions = checked.program().functions();
    functions.find(|(_, function)| *function.head().name == *name).unwrap().0
}

/// What a run in the interpreter gives, and the bytes of memory that it begins with.
pub(crate) fn interpreted(
    checked: &Checked,
    of: FuncRef,
    args: &[Value],
    limits: Limits,
) -> (RunResult, u64) {
    let options = Options { limits, ..Options::default() };
    let mut run = Run::new(checked, of, args, &options, &Cache::new()).unwrap();
    let memory = run.memory_peak();
    while run.resume(u64::MAX) == Progress::Paused {}
    (run.into_result(), memory)
}

/// What a compiled run gives, in slices of some fuel; nothing where there is no compiled code.
pub(crate) fn compiled(
    compiler: &Compiler,
    checked: &Checked,
    of: FuncRef,
    args: &[Value],
    limits: Limits,
    memory: u64,
    slice: u64,
) -> Option<Ending> {
    let unit = compiler.compile(checked, of).ok()?;
    let more_memory = limits.memory_bytes.saturating_sub(memory);
    let bounds = Bounds { fuel: limits.fuel, call_depth: limits.call_depth, more_memory };
    Some(unit.run(args, bounds, &mut |_| Some(slice)))
}

/// Runs a function in both tiers, with all the fuel it takes, with no more than that and with one less, and compares; says
/// whether both can.
pub(crate) fn alike(compiler: &Compiler, checked: &Checked, of: FuncRef, args: &[Value]) -> bool {
    let limits = Limits { fuel: 2_000_000, ..Limits::default() };
    let (result, memory) = interpreted(checked, of, args, limits);
    let run = |fuel: u64, slice: u64| {
        compiled(compiler, checked, of, args, Limits { fuel, ..limits }, memory, slice)
    };
    let Some(ending) = run(limits.fuel, u64::MAX) else { return false };
    let text = || print_program(checked.program(), Detail::Summary);
    let name = checked.program().path(of.into());
    match &result.outcome {
        Outcome::Returned { values } => {
            let expected = Ending::Returned(Returned {
                values: values.clone(),
                fuel: result.fuel_used,
                extra: result.fuel_used - result.steps,
                grown: result.memory_peak - memory,
            });
            assert_eq!(ending, expected, "{name}({args:?})\n{}", text());
            assert_eq!(run(result.fuel_used, 1_000).as_ref(), Some(&expected), "{name} in slices");
            if let Some(less) = result.fuel_used.checked_sub(1) {
                assert_eq!(run(less, u64::MAX), Some(Ending::Stopped), "{name} with less fuel");
            }
        }
        other => assert_eq!(ending, Ending::Stopped, "{name}({args:?}): {other:?}\n{}", text()),
    }
    true
}

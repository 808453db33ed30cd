//! Both tiers, side by side.

use std::num::NonZeroUsize;

use lmlang_compiled::{Compiler, Ending, Start};
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

fn begun(checked: &Checked, of: FuncRef, args: &[Value], options: &Options) -> Run {
    Run::new(checked, of, args, options, &Cache::new()).unwrap()
}

/// What a run in the interpreter gives.
pub(crate) fn interpreted(checked: &Checked, of: FuncRef, args: &[Value], options: &Options) -> RunResult {
    let mut run = begun(checked, of, args, options);
    while run.resume(u64::MAX) == Progress::Paused {}
    run.into_result()
}

/// What a compiled run gives, in slices of some fuel; nothing where there is no compiled code.
pub(crate) fn compiled(
    compiler: &Compiler,
    checked: &Checked,
    of: FuncRef,
    args: &[Value],
    options: &Options,
    slice: u64,
) -> Option<Ending> {
    let unit = compiler.compile(checked, of).ok()?;
    let run = begun(checked, of, args, options);
    Some(unit.run(&run, Start::of(&run), &mut |_: u64| Some(slice)))
}

/// Runs a function in both tiers, with all the fuel it takes, with no more than that and with one less, and compares; says
/// whether both can.
pub(crate) fn alike(compiler: &Compiler, checked: &Checked, of: FuncRef, args: &[Value]) -> bool {
    alike_with(compiler, checked, of, args, &Options::default())
}

/// The same with what a run is given and may do.
pub(crate) fn alike_with(
    compiler: &Compiler,
    checked: &Checked,
    of: FuncRef,
    args: &[Value],
    given: &Options,
) -> bool {
    let most = given.limits.fuel.min(2_000_000);
    let options = |fuel: u64| Options { limits: Limits { fuel, ..given.limits }, ..given.clone() };
    let result = interpreted(checked, of, args, &options(most));
    let Ok(unit) = compiler.compile(checked, of) else { return false };
    let run = |fuel: u64, slice: u64| {
        let ending = compiled(compiler, checked, of, args, &options(fuel), slice)?;
        Some(match ending {
            // How long values are held is each tier's own.
            Ending::Returned(found) if unit.holds_values() => {
                Ending::Returned(Box::new(RunResult { memory_peak: result.memory_peak, ..*found }))
            }
            other => other,
        })
    };
    let Some(ending) = run(most, u64::MAX) else { return false };
    let text = || print_program(checked.program(), Detail::Summary);
    let name = checked.program().path(of.into());
    match &result.outcome {
        Outcome::Returned { .. } => {
            let expected = Ending::Returned(Box::new(result.clone()));
            assert_eq!(ending, expected, "{name}({args:?})\n{}", text());
            assert_eq!(run(result.fuel_used, 1_000).as_ref(), Some(&expected), "{name} in slices");
            if let Some(less) = result.fuel_used.checked_sub(1) {
                assert_eq!(run(less, u64::MAX), Some(Ending::Stopped), "{name} with less fuel");
            }
        }
        other => assert!(ending.is_stopped(), "{name}({args:?}): {other:?}\n{}", text()),
    }
    true
}

//! Recorded values are those that a trace shows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lmlang_interp::{
    Cache, LimitKind, NodeValue, Options, Outcome, Progress, Recorder, Run, Trace, TraceLevel,
};
use lmlang_ir::text::{parse_program, parse_value};
use lmlang_ir::{Const, FuncRef, NodeRef, RefAllocator, Value};
use lmlang_testkit::filetest::case;
use lmlang_verify::Checked;

use crate::tools::{check, i64s};

/// Nodes that an instruction may do besides the first one that there is no fuel for.
const TOGETHER: usize = 255;

/// The values of each node in the order in which it made them.
type Values = BTreeMap<(FuncRef, NodeRef), Vec<Value>>;

fn recorded(run: &Run) -> (Values, Option<Outcome>) {
    let mut values = Values::new();
    let mut recorder = Recorder::of(run, None).expect("it starts");
    loop {
        let progress = recorder.advance();
        for NodeValue { function, node, value } in recorder.values() {
            values.entry((function, node)).or_default().push(value);
        }
        if progress == Progress::Done {
            return (values, recorder.outcome().cloned());
        }
    }
}

fn traced(run: &Run) -> Values {
    let mut values = Values::new();
    let mut trace = Trace::of(run, TraceLevel::Nodes, None).expect("it starts");
    let program = run.checked().program();
    for step in trace.page(0, usize::MAX, u64::MAX).steps {
        let body = program.function(step.function).expect("it runs").body();
        let op = body.node(step.node).expect("it runs").op().code();
        let scalar = |value: &Value| match value {
            Value::Const(value) => !matches!(value, Const::String(_) | Const::Bytes(_)),
            Value::Ptr(..) | Value::FuncRef(_) | Value::ExternRef => true,
            _ => false,
        };
        if let [shown] = &step.outputs[..]
            && Recorder::notes(op)
            && scalar(&shown.value)
        {
            values.entry((step.function, step.node)).or_default().push(shown.value.clone());
        }
    }
    values
}

/// Holds the law for a run, and says how many values there were.
pub(crate) fn record_is_trace(
    checked: &Checked,
    function: FuncRef,
    args: &[Value],
    options: &Options,
) -> usize {
    let run = Run::new(checked, function, args, options, &Cache::new()).expect("the arguments fit");
    let (mut found, outcome) = recorded(&run);
    let mut expected = traced(&run);
    if let Some(Outcome::LimitReached { limit: LimitKind::Fuel, .. }) = outcome {
        let missing = |(of, values): (&_, &Vec<Value>)| values.len() - found.get(of).map_or(0, Vec::len);
        let missing: usize = expected.iter().map(missing).sum();
        assert!(missing <= TOGETHER, "{missing} values are missing");
        for (of, values) in &mut expected {
            values.truncate(found.entry(*of).or_default().len());
        }
    }
    for (of, values) in &expected {
        let found = found.remove(of).unwrap_or_default();
        assert_eq!(&found, values, "{} of {}", of.1, of.0);
    }
    assert!(found.is_empty(), "{found:?}");
    expected.values().map(Vec::len).sum()
}

/// The programs in a folder of the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files =
        std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there").path());
    files.filter(|file| file.extension().is_some_and(|suffix| suffix == "lm")).collect()
}

#[test]
fn of_programs_that_are_text() {
    /// A run that takes more is not traced.
    const COSTLY: u64 = 300_000;
    let (mut runs, mut values) = (0, 0);
    for file in ["examples", "tests/filetests/lang", "tests/filetests/ops"].into_iter().flat_map(files) {
        let text = std::fs::read_to_string(&file).expect("it is text");
        let Ok(program) = parse_program(&text, &mut RefAllocator::starting_at(1)) else { continue };
        let checked = check(program);
        for (of, function) in checked.program().functions() {
            let params = &function.head().params;
            for case in function.head().runs.iter().filter_map(|line| case::parse(line).ok()) {
                let read = params.iter().zip(&case.arguments);
                let args: Result<Vec<Value>, _> =
                    read.map(|(param, text)| parse_value(checked.program(), &param.ty, text)).collect();
                let Ok(args) = args else { continue };
                if args.len() != params.len() {
                    continue;
                }
                let Ok(mut options) = case::options(checked.program(), &case.settings) else { continue };
                options.limits.fuel = options.limits.fuel.min(COSTLY);
                values += record_is_trace(&checked, of, &args, &options);
                runs += 1;
            }
        }
    }
    println!("{values} values of {runs} runs");
    assert!(runs > 2_000 && values > 100_000, "{values} values of {runs} runs");
}

#[test]
fn of_code_that_is_linked_and_moved_in_between() {
    // As many functions as do not fit what a run has at first, each entered behind values that were noted before.
    let mut text = String::from("func main (n: i64) -> (i64) {\n  a0 = add.i64 n, 1\n");
    for at in 1..20 {
        text += &format!("  b{at} = mul.i64 a{}, 3\n  a{at} = call step_{at}(b{at})\n", at - 1);
    }
    text += "  return a19\n}\n";
    for at in 1..20 {
        text += &format!("func step_{at} (n: i64) -> (i64) {{\n  x0 = xor.i64 n, {at}\n");
        for line in 1..1_000 {
            text += &format!("  x{line} = add.i64 x{}, n\n", line - 1);
        }
        text += "  return x999\n}\n";
    }
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().find(|(_, f)| &*f.head().name == "main").expect("it is there").0;
    let values = record_is_trace(&check(program), function, &i64s(&[5]), &Options::default());
    assert_eq!(values, 20 + 19 * 1_000);
}

#[test]
fn of_what_costs_more_than_a_piece() {
    let text = "memory main 2\nfunc f (n: i32) -> (i32) {\n  a = add.i32 n, 1\n  memory.fill a, 7, 131000\n  \
                b = load.i32 a\n  c = memory.grow 1\n  return (add.i32 b, c)\n}\n";
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("it is there").0;
    let args = [Value::Const(Const::I32(3))];
    assert_eq!(record_is_trace(&check(program), function, &args, &Options::default()), 4);
}

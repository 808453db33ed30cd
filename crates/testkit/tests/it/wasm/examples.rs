//! Programs that are text: what can be written as a module does there what it does here.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lmlang_ir::text::{parse_program, parse_value, print_value};
use lmlang_ir::{Const, FuncRef, FunctionHead, Program, RefAllocator, Type, Value};
use lmlang_testkit::filetest::case::{self, Case};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportError, ExportOptions, export};

use wasmi::Module;

use super::oracle::{Ending, agree, here_values, lost, there_values, translated};

/// The files of a folder of the repository, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "lm"));
    files.sort();
    files
}

/// Lets those outside call each function by its ref.
fn offer(program: &mut Program) {
    let functions: Vec<(FuncRef, FunctionHead)> =
        program.functions().map(|(of, function)| (of, function.head().clone())).collect();
    for (of, head) in functions.into_iter().filter(|(_, head)| head.captures.is_empty()) {
        let head = FunctionHead { exports: vec![of.to_string().into()], ..head };
        program.function_mut(of).unwrap().set_head(head);
    }
}

/// The module of what can be written as one; the rest is taken out, and counted by what it has.
fn module(mut program: Program, left: &mut BTreeMap<String, u32>) -> (Checked, Vec<u8>) {
    loop {
        let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
        let (of, why) = match export(&checked, ExportOptions::default()) {
            Ok(module) => return (checked, module),
            Err(ExportError::Unsupported { of, what, .. }) => (of, what),
            Err(ExportError::NoMain { .. }) => unreachable!("nothing is to run"),
            Err(ExportError::Incomplete { of, .. }) => (of, "what calls such a function".to_owned()),
        };
        *left.entry(why).or_default() += 1;
        match program.place(of).unwrap() {
            lmlang_ir::Place::Storage(of) => drop(program.remove_storage(of).unwrap()),
            lmlang_ir::Place::Function(of)
            | lmlang_ir::Place::Node(of, _)
            | lmlang_ir::Place::Variable(of, _)
            | lmlang_ir::Place::Contract(of, _)
            | lmlang_ir::Place::Region(of, _) => drop(program.remove_function(of).unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

/// Fuel of a run that is tried in the ordinary form of the test.
const MOST: u64 = 300_000;

/// Fuel of a run that is made some more times, to see what it leaves behind.
const SHORT: u64 = 20_000;

/// Whether a case was run in both; it is not if it is about something that modules do not have.
fn agrees(checked: &Checked, of: FuncRef, case: &Case, module: &Module) -> bool {
    let Some(function) = checked.program().function(of) else { return false };
    let params = &function.head().params;
    let input = match &case.settings[..] {
        [] => Some(String::new()),
        [(name, text)] if name == "stdin" => match parse_value(checked.program(), &Type::String, text) {
            Ok(Value::Const(Const::String(text))) => Some(text.to_string()),
            Ok(_) | Err(_) => None,
        },
        _ => None,
    };
    let Some(input) = input.filter(|_| case.arguments.len() == params.len()) else { return false };
    let arguments = params
        .iter()
        .zip(&case.arguments)
        .map(|(param, text)| parse_value(checked.program(), &param.ty, text).ok());
    let Some(values) = arguments.collect::<Option<Vec<_>>>() else { return false };
    let (here, printed, fuel) = here_values(checked, of, &values, &input);
    if here == Err(Ending::Exceeds) || (fuel > MOST && env::var_os("LMLANG_LONG").is_none()) {
        return false;
    }
    let Some((there, written)) = there_values(checked.program(), module, of, &values, &input) else {
        return false;
    };
    let same = match (&here, &there) {
        (Ok(here), Ok(there)) => {
            let there: Vec<Value> = there.iter().zip(here).map(|(there, here)| like(there, here)).collect();
            shown(checked, here) == shown(checked, &there)
        }
        (Err(here), Err(there)) => agree(here, there),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    };
    assert!(same, "{}{:?}: {here:?}, {there:?}", case.function, case.arguments);
    if there != Err(Ending::Exceeds) {
        assert_eq!(printed, written, "{}{:?}", case.function, case.arguments);
    }
    if fuel < SHORT
        && let Some(lost) = lost(checked.program(), module, of, &values)
    {
        assert_eq!(lost, 0, "{}{:?} leaves bytes behind", case.function, case.arguments);
    }
    true
}

/// A value, with the NaN of another one where both are one: only here is it always the canonical one.
fn like(there: &Value, here: &Value) -> Value {
    let nan = |value: &Value| match value {
        Value::Const(Const::F32(bits)) => f32::from_bits(*bits).is_nan(),
        Value::Const(Const::F64(bits)) => f64::from_bits(*bits).is_nan(),
        _ => false,
    };
    if nan(there) && nan(here) { here.clone() } else { there.clone() }
}

fn shown(checked: &Checked, values: &[Value]) -> Vec<String> {
    values.iter().map(|value| print_value(checked.program(), value)).collect()
}

#[test]
fn what_is_written_does_what_it_does_here() {
    let (mut cases, mut functions, mut left) = (0, 0, BTreeMap::new());
    for file in ["examples", "tests/filetests/lang", "tests/filetests/ops"].into_iter().flat_map(files) {
        let text = fs::read_to_string(&file).unwrap();
        let Ok(mut program) = parse_program(&text, &mut RefAllocator::starting_at(1)) else { continue };
        offer(&mut program);
        let (checked, module) = module(program, &mut left);
        let module = translated(&module).unwrap();
        for (of, function) in checked.program().functions() {
            functions += 1;
            for line in &function.head().runs {
                let Ok(case) = case::parse(line) else { continue };
                cases += u32::from(agrees(&checked, of, &case, &module));
            }
        }
    }
    println!("{cases} cases of {functions} functions; left out: {left:#?}");
    assert!(cases > 300 && functions > 150, "{cases} cases of {functions} functions; left out: {left:#?}");
}

//! What is written of a program does what a run of it does.

use std::collections::BTreeMap;
use std::env;
use std::num::NonZeroUsize;

use lmlang_interp::Environment;
use lmlang_ir::text::{Detail, print_program, print_value};
use lmlang_ir::{Const, FuncRef, FunctionHead, Program, StorageKind, Type, Value};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportError, ExportOptions, export};
use wasmi::Module;

use super::oracle::{Ending, agree, here, here_values, lost, there_values, translated};
use super::reference::Reference;

/// Lets those outside call each function by its ref.
pub(super) fn offer(program: &mut Program) {
    let functions: Vec<(FuncRef, FunctionHead)> =
        program.functions().map(|(of, function)| (of, function.head().clone())).collect();
    for (of, head) in functions.into_iter().filter(|(_, head)| head.captures.is_empty()) {
        let head = FunctionHead { exports: vec![of.to_string().into()], ..head };
        program.function_mut(of).unwrap().set_head(head);
    }
}

const OPTIONS: ExportOptions = ExportOptions { contracts: true, canonical_nans: true, main: None };

/// The module of what can be written as one; the rest is taken out, and counted by what it has.
pub(super) fn module(mut program: Program, left: &mut BTreeMap<String, u32>) -> (Checked, Module) {
    loop {
        let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
        let (of, why) = match export(&checked, OPTIONS) {
            Ok(module) => return (checked, translated(&module).unwrap()),
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

/// Runs a function in both, and compares; says whether it did, which needs values that modules have, and no more fuel than
/// there is.
pub(super) fn alike(
    checked: &Checked,
    module: &Module,
    of: FuncRef,
    values: &[Value],
    environment: &Environment,
) -> bool {
    let program = checked.program();
    let called = || {
        let arguments: Vec<String> = values.iter().map(|value| print_value(program, value)).collect();
        format!("{}({})", program.path(of.into()), arguments.join(", "))
    };
    let (here, printed, fuel) = here_values(checked, of, values, environment);
    if here == Err(Ending::Exceeds) || (fuel > MOST && env::var_os("LMLANG_LONG").is_none()) {
        return false;
    }
    let Some((there, written)) = there_values(program, module, of, values, environment) else { return false };
    let same = match (&here, &there) {
        (Ok(here), Ok(there)) => shown(program, here) == shown(program, there),
        (Err(here), Err(there)) => agree(here, there),
        (Ok(_), Err(there)) => *there == Ending::Exceeds,
        (Err(_), Ok(_)) => false,
    };
    if !same && reference_agrees(checked, of, values) {
        return false;
    }
    assert!(same, "{}: {here:?}, {there:?}\n{}", called(), print_program(program, Detail::Summary));
    if there != Err(Ending::Exceeds) {
        assert_eq!(printed, written, "{}", called());
    }
    let global = |kind: &StorageKind| matches!(kind, StorageKind::Global { ty, .. } if ty.on_heap());
    // A global may hold more after each call.
    if fuel < SHORT
        && !program.all_storage().any(|(_, of)| global(&of.kind))
        && let Some(lost) = lost(program, module, of, values)
    {
        assert_eq!(lost, 0, "{} leaves bytes behind", called());
    }
    true
}

/// Whether wasmtime does what is done here, where wasmi does not: it has its mistakes. It is asked where nothing but numbers
/// goes in and out, and the host is not asked for anything.
fn reference_agrees(checked: &Checked, of: FuncRef, values: &[Value]) -> bool {
    let numbers = |ty: &Type| matches!(ty, Type::Scalar(_));
    let head = checked.program().function(of).expect("it was called").head();
    let module = export(checked, OPTIONS).expect("it was written before");
    let asks = lmlang_wasm::print(&module).is_ok_and(|text| text.contains("(import"));
    if asks || !head.results.iter().chain(head.params.iter().map(|param| &param.ty)).all(numbers) {
        return false;
    }
    let reference = Reference::new(&module).expect("it is valid");
    reference.is_some_and(|reference| reference.call(&of.to_string(), values) == here(checked, of, values))
}

fn shown(program: &Program, values: &[Value]) -> Vec<String> {
    values.iter().map(|value| print_value(program, &canonical(value))).collect()
}

/// A value in which every NaN is the canonical one, as all are that are computed here.
fn canonical(of: &Value) -> Value {
    let all = |parts: &[Value]| parts.iter().map(canonical).collect();
    match of {
        Value::Const(Const::F32(bits)) if f32::from_bits(*bits).is_nan() => {
            Value::Const(Const::F32(0x7fc0_0000))
        }
        Value::Const(Const::F64(bits)) if f64::from_bits(*bits).is_nan() => {
            Value::Const(Const::F64(0x7ff8 << 48))
        }
        Value::Struct(ty, fields) => Value::Struct(*ty, all(fields)),
        Value::Enum(variant, Some(held)) => Value::Enum(variant.clone(), Some(Box::new(canonical(held)))),
        Value::Array(ty, elements) => Value::Array(ty.clone(), all(elements)),
        Value::FixedArray(ty, elements) => Value::FixedArray(ty.clone(), all(elements)),
        Value::Box(ty, held) => Value::Box(ty.clone(), Box::new(canonical(held))),
        Value::Const(_)
        | Value::Enum(_, None)
        | Value::Ptr(..)
        | Value::FuncRef(_)
        | Value::ExternRef
        | Value::Closure(..) => of.clone(),
    }
}

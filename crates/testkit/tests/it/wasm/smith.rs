//! Random modules: in and out again, they do what they did.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arbitrary::Unstructured;
use lmlang_compiled::Compiler;
use lmlang_ir::{Opcode, RefAllocator, Type, Value};
use lmlang_verify::{Checked, Severity};
use lmlang_wasm::{ExportOptions, export, import};
use proptest::prelude::*;
use wasm_smith::{Config, Module};
use wasmi::Val;

use super::oracle::{Bits, agree, argument, here, instance, some, there};
use super::reference::Reference;
use crate::promoting::{promoted, sound};
use crate::tiers::tools::alike;

/// What programs have, without imports, so that every module runs.
fn config(references: bool) -> Config {
    Config {
        max_imports: 0,
        // What nobody can call or read says nothing.
        export_everything: true,
        // Runs here give canonical ones, which a module may look at.
        canonicalize_nans: true,
        min_types: 2,
        min_funcs: 2,
        max_memories: 1,
        max_memory32_bytes: 4 << 16,
        max_table_elements: 100,
        max_funcs: 12,
        simd_enabled: false,
        relaxed_simd_enabled: false,
        exceptions_enabled: false,
        gc_enabled: false,
        reference_types_enabled: references,
        tail_call_enabled: false,
        threads_enabled: false,
        memory64_enabled: false,
        wide_arithmetic_enabled: false,
        extended_const_enabled: false,
        compact_imports_enabled: false,
        custom_page_sizes_enabled: false,
        ..Config::default()
    }
}

/// Of so many modules, the functions of one are run one by one.
const COMPILED: usize = 5;

/// Of so many modules, one may have references, which wasmtime mostly does not take: see [`Reference`].
const REFERENCES: usize = 4;

fn is_long() -> bool {
    std::env::var_os("LMLANG_LONG").is_some()
}

/// What wasmi gives; nothing where it panics. A debug assertion of its translator does not hold of some valid modules, whose
/// `else` begins with values on the stack.
fn from_wasmi<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Whether two modules do the same in wasmtime, where they do not in wasmi, which has its mistakes.
fn same_in_wasmtime(one: &[u8], other: &[u8]) -> bool {
    let behaviour = |module| Some(Reference::new(module).ok()??.behaviour());
    behaviour(one).is_some_and(|one| behaviour(other) == Some(one))
}

/// Everything that a module shows: what its functions answer, one call after the other, and its memory at the end.
fn behaviour(module: &[u8]) -> Vec<String> {
    let (mut store, module, instance) = match instance(module) {
        Ok(running) => running,
        Err(error) => return vec![format!("no instance: {}", without_ids(&error.to_string()))],
    };
    let mut names: Vec<String> = module.exports().map(|export| export.name().to_owned()).collect();
    names.sort();
    let mut seen = Vec::new();
    for name in names {
        if let Some(function) = instance.get_func(&store, &name) {
            let types = function.ty(&store);
            let arguments: Vec<Val> =
                types.params().iter().enumerate().map(|(at, ty)| word(*ty, at)).collect();
            let mut results: Vec<Val> = types.results().iter().map(|ty| Val::default_for_ty(*ty)).collect();
            seen.push(match function.call(&mut store, &arguments, &mut results) {
                Ok(()) => format!("{name}: {:?}", results.iter().map(Bits::bits).collect::<Vec<_>>()),
                Err(error) => format!("{name}: {error}"),
            });
        } else if let Some(memory) = instance.get_memory(&store, &name) {
            let bytes = memory.data(&store);
            let sum = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
            seen.push(format!("{name}: {} bytes, {sum}", bytes.len()));
        } else if let Some(global) = instance.get_global(&store, &name) {
            seen.push(format!("{name}: {}", global.get(&store).bits()));
        }
    }
    seen
}

/// A message without what tells one store from another.
fn without_ids(message: &str) -> String {
    message
        .split("StoreId")
        .map(|part| part.trim_start_matches(|c: char| "()".contains(c) || c.is_numeric()))
        .collect()
}

fn word(ty: wasmi::ValType, at: usize) -> Val {
    let ty = match ty {
        wasmi::ValType::I32 => Type::I32,
        wasmi::ValType::I64 => Type::I64,
        wasmi::ValType::F32 => Type::F32,
        wasmi::ValType::F64 => Type::F64,
        wasmi::ValType::FuncRef => Type::FuncRef,
        wasmi::ValType::ExternRef => Type::ExternRef,
        other => panic!("{other:?}"),
    };
    some(&ty, at).as_ref().and_then(argument).expect("there is one of each type")
}

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    modules: Cell<u32>,
    /// Of these, those whose original wasmtime had too.
    in_wasmtime: Cell<u32>,
    /// Those that wasmi panics on, which are no cases.
    without_wasmi: Cell<u32>,
    /// Calls of functions in the interpreter.
    here: Cell<u32>,
    /// Of these, those that compiled code, wasmtime and wasmi made too.
    compiled: Cell<u32>,
    wasmtime: Cell<u32>,
    wasmi: Cell<u32>,
}

fn count(of: &Cell<u32>) {
    of.set(of.get() + 1);
}

/// Each function alone does here, in both tiers, what it does in wasmtime and in wasmi. Says whether wasmtime takes the module.
fn runs_alike(checked: &Checked, module: &[u8], tally: &Tally) -> Result<bool, TestCaseError> {
    let compiler = Compiler::new();
    let reference = Reference::new(module).map_err(|error| TestCaseError::fail(error.to_string()))?;
    // NaNs are canonical here: the generator makes them so after all operators but these two, and wasmi has no such way.
    let nodes = || checked.program().functions().flat_map(|(_, function)| function.body().nodes());
    let canonical = !nodes().any(|(_, node)| matches!(node.op().code(), Opcode::Demote | Opcode::Promote));
    for (of, function) in checked.program().functions() {
        let head = function.head();
        let arguments: Vec<Value> =
            head.params.iter().enumerate().filter_map(|(at, param)| some(&param.ty, at)).collect();
        let Some(export) = head.exports.first().filter(|_| arguments.len() == head.params.len()) else {
            continue;
        };
        let here = here(checked, of, &arguments);
        count(&tally.here);
        // An instance calls its start function when it is made, and then once more; a run of it is one call.
        let alone = !head.start;
        if let Some(reference) = reference.as_ref().filter(|_| alone) {
            let wasmtime = reference.call(export, &arguments);
            prop_assert!(agree(&here, &wasmtime), "`{export}`: {here:?}, {wasmtime:?} in wasmtime");
            count(&tally.wasmtime);
        }
        // Where wasmtime is asked, it has the word: wasmi has its mistakes.
        if canonical && alone && reference.is_none() {
            let words: Vec<Val> = arguments.iter().filter_map(argument).collect();
            if let Some(wasmi) = from_wasmi(|| there(module, export, &words)) {
                prop_assert!(agree(&here, &wasmi), "`{export}`: {here:?}, {wasmi:?} in wasmi");
                count(&tally.wasmi);
            }
        }
        if alike(&compiler, checked, of, &arguments) {
            count(&tally.compiled);
        }
    }
    Ok(reference.is_some())
}

/// Whether bytes make a case: a module, which then has to do what it did.
fn holds(bytes: &[u8], tally: &Tally) -> Result<bool, TestCaseError> {
    let references = bytes.len().is_multiple_of(REFERENCES);
    let mut module = match Module::new(config(references), &mut Unstructured::new(bytes)) {
        Ok(module) => module,
        Err(_) => return Ok(false),
    };
    module.ensure_termination(1_000).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let original = module.to_bytes();
    let mut refs = RefAllocator::starting_at(1);
    let program = import(&original, &mut refs);
    let program = program.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let checked = Checked::full(program, NonZeroUsize::MIN);
    for (_, found) in checked.findings().iter() {
        let text = found.message(checked.program());
        prop_assert!(found.code.class().severity() == Severity::Warning, "{:?}: {text}", found.code);
    }
    let written =
        export(&checked, ExportOptions::default()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let texts =
        || [&original, &written].map(|module| lmlang_wasm::print(module).unwrap_or_else(|error| error));
    let (Some(before), Some(after)) =
        (from_wasmi(|| behaviour(&original)), from_wasmi(|| behaviour(&written)))
    else {
        count(&tally.without_wasmi);
        return Ok(false);
    };
    let same = before == after || same_in_wasmtime(&original, &written);
    prop_assert!(same, "{before:#?}\n{after:#?}\n{}", texts().concat());
    // Without variables as well.
    let (values, stayed) = promoted(checked.program(), &mut refs);
    prop_assert_eq!(stayed, 0);
    let written = export(&sound(values, &checked), ExportOptions::default())
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let Some(after) = from_wasmi(|| behaviour(&written)) else {
        count(&tally.without_wasmi);
        return Ok(false);
    };
    let same = before == after || same_in_wasmtime(&original, &written);
    prop_assert!(same, "promoted: {before:#?}\n{after:#?}\n{}", texts().concat());
    count(&tally.modules);
    // Compilers are no fast ones in a build for tests.
    if !is_long() && !bytes.len().is_multiple_of(COMPILED) {
        return Ok(true);
    }
    match runs_alike(&checked, &original, tally) {
        Ok(true) => count(&tally.in_wasmtime),
        // It is no case of the long form, whose cases everybody has had.
        Ok(false) => return Ok(!is_long()),
        Err(error) => prop_assert!(false, "{error}\n{}", texts().concat()),
    }
    Ok(true)
}

#[test]
fn modules_do_what_they_did() {
    let cases = if is_long() { 20_000 } else { 1_000 };
    let tally = Tally::default();
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        // Bytes that make no module are none of the cases.
        max_global_rejects: u32::MAX,
        ..ProptestConfig::default()
    };
    proptest!(config, |(bytes in prop::collection::vec(any::<u8>(), 200..4_000))| {
        prop_assume!(holds(&bytes, &tally)?);
    });
    println!("{tally:?}");
    let counted = if is_long() { &tally.in_wasmtime } else { &tally.modules };
    assert_eq!(counted.get(), cases);
    assert!(tally.without_wasmi.get() <= cases / 100, "{tally:?}");
}

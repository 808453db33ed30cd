//! Programs that are text: what can be written as a module does there what it does here.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lmlang_interp::{Entry, Environment, Files};
use lmlang_ir::text::{parse_program, parse_value};
use lmlang_ir::{Const, FuncRef, RefAllocator, Type, Value};
use lmlang_testkit::filetest::case::{self, Case};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, ImportError, export, export_alone, import, print};
use wasmi::Module;

use super::oracle::translated;
use super::written::{alike, module, offer};

/// The files of a folder of the repository, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "lm"));
    files.sort();
    files
}

/// Whether a case was run in both; it is not if it is about something that modules do not have.
fn agrees(checked: &Checked, of: FuncRef, case: &Case, module: &Module) -> bool {
    let Some(function) = checked.program().function(of) else { return false };
    let params = &function.head().params;
    let (mut environment, mut files) = (Environment::default(), Files::new());
    for (name, value) in &case.settings {
        let Ok(Value::Const(Const::String(text))) = parse_value(checked.program(), &Type::String, value)
        else {
            return false;
        };
        match name.strip_prefix("file:") {
            Some(path) => drop(files.insert(path.into(), Entry::File(text.as_bytes().into()))),
            None if name == "folder" => drop(files.insert(text, Entry::Folder)),
            None if name == "stdin" => environment.stdin = (&*text).into(),
            // Bounds are not those of modules.
            None => return false,
        }
    }
    environment.files = Arc::new(files);
    if case.arguments.len() != params.len() {
        return false;
    }
    let arguments = params
        .iter()
        .zip(&case.arguments)
        .map(|(param, text)| parse_value(checked.program(), &param.ty, text).ok());
    let Some(values) = arguments.collect::<Option<Vec<_>>>() else { return false };
    alike(checked, module, of, &values, &environment)
}

#[test]
fn what_is_written_does_what_it_does_here() {
    let (mut cases, mut functions, mut left) = (0, 0, BTreeMap::new());
    for file in ["examples", "tests/filetests/lang", "tests/filetests/ops"].into_iter().flat_map(files) {
        let text = fs::read_to_string(&file).unwrap();
        let Ok(mut program) = parse_program(&text, &mut RefAllocator::starting_at(1)) else { continue };
        // Who asks the host for functions of its own is not run elsewhere.
        if program.functions().any(|(_, function)| function.head().import.is_some()) {
            continue;
        }
        offer(&mut program);
        let (checked, module) = module(program, &mut left);
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

/// Bytes of a module, and of the one that comes out when it has gone in; nothing where it has two memories.
fn again(text: &str) -> Option<(usize, usize)> {
    let written = |program| export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default());
    let module = written(parse_program(text, &mut RefAllocator::starting_at(1)).unwrap()).unwrap();
    match import(&module, &mut RefAllocator::starting_at(1)) {
        Ok(program) => Some((module.len(), written(program).unwrap().len())),
        Err(ImportError::Unsupported { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_module_comes_out_hardly_longer_than_it_went_in() {
    let (mut before, mut after, mut modules) = (0, 0, 0);
    for file in files("examples") {
        let Some((was, is)) = again(&fs::read_to_string(&file).unwrap()) else { continue };
        assert!(is * 100 <= was * 110, "{}: {is} bytes for {was}", file.display());
        (before, after, modules) = (before + was, after + is, modules + 1);
    }
    println!("{modules} modules: {after} bytes for {before}");
    assert!(modules > 10 && after * 100 <= before * 104, "{modules} modules: {after} bytes for {before}");
}

#[test]
fn a_function_alone_is_a_module_too() {
    let mut functions = 0;
    for file in files("examples") {
        let text = fs::read_to_string(&file).unwrap();
        let program = parse_program(&text, &mut RefAllocator::starting_at(1)).unwrap();
        let checked = Checked::full(program, NonZeroUsize::MIN);
        for (of, function) in checked.program().functions() {
            let module = export_alone(&checked, of).unwrap();
            let path = checked.program().path(of.into());
            translated(&module).unwrap_or_else(|error| panic!("{path}: {error}"));
            let printed = print(&module).unwrap();
            assert!(printed.contains(&format!("(func ${} ", function.head().name)), "{path}: {printed}");
            functions += 1;
        }
    }
    assert!(functions > 100, "{functions} functions");
}

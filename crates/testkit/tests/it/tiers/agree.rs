//! Compiled code does what the interpreter does, and takes as much fuel.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use lmlang_compiled::{Compiler, Refusal};
use lmlang_ir::text::{parse_program, parse_value};
use lmlang_ir::{FuncRef, RefAllocator, Value};
use lmlang_testkit::filetest::case;
use lmlang_testkit::generate::values::arguments;
use lmlang_testkit::{Options, generate};
use lmlang_verify::Checked;
use proptest::prelude::*;

use super::tools::{alike, alike_with};

/// The programs in a folder of the repository, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "lm"));
    files.sort();
    files
}

#[test]
fn programs_that_are_text_run_alike() {
    let (compiler, mut cases, mut all) = (Compiler::new(), 0, 0);
    for file in ["examples", "tests/filetests/lang", "tests/filetests/ops"].into_iter().flat_map(files) {
        let text = fs::read_to_string(&file).unwrap();
        let Ok(program) = parse_program(&text, &mut RefAllocator::starting_at(1)) else { continue };
        let checked = Checked::full(program, std::num::NonZeroUsize::MIN);
        for (of, function) in checked.program().functions() {
            let params = &function.head().params;
            for case in function.head().runs.iter().filter_map(|line| case::parse(line).ok()) {
                let read = params.iter().zip(&case.arguments);
                let values: Option<Vec<Value>> =
                    read.map(|(param, text)| parse_value(checked.program(), &param.ty, text).ok()).collect();
                let Some(values) = values.filter(|values| values.len() == params.len()) else { continue };
                let Ok(options) = case::options(checked.program(), &case.settings) else { continue };
                all += 1;
                // What is written is a module.
                if let Err(Refusal::Compiler(why)) = compiler.compile(&checked, of) {
                    panic!("{}: {why}", checked.program().path(of.into()));
                }
                cases += u32::from(alike_with(&compiler, &checked, of, &values, &options));
            }
        }
    }
    println!("{cases} of {all} cases");
    assert!(cases >= 2_213, "{cases} of {all} cases");
}

#[test]
fn random_programs_run_alike() {
    let cases = if std::env::var_os("LMLANG_LONG").is_some() { 20_000 } else { 100 };
    let options = Options { odd_names: false, ..Options::default() };
    let calls = Cell::new(0u32);
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(generated in generate::programs(options), mut choices in generate::choices(200))| {
        let checked = Checked::full(generated.program, std::num::NonZeroUsize::MIN);
        let functions: Vec<FuncRef> = checked.program().functions().map(|(of, _)| of).collect();
        for of in functions {
            if let Some(values) = arguments(checked.program(), of, &mut choices) {
                calls.set(calls.get() + u32::from(alike(&Compiler::new(), &checked, of, &values)));
            }
        }
    });
    println!("{} calls in {cases} programs", calls.get());
    assert!(calls.get() > cases / 4, "{} calls in {cases} programs", calls.get());
}

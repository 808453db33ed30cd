//! Programs of the tests.

use std::path::Path;

use lmlang_ir::text::{Detail, parse_program};
use lmlang_ir::{FuncRef, Program, Ref, RefAllocator};

use lmlang_context::{Compressor, OverBudget, Pack, Request, Since, Tokenizer, pack};

/// The examples by name.
pub(crate) fn examples() -> Vec<(String, Program)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found: Vec<(String, Program)> = std::fs::read_dir(folder)
        .expect("there are examples")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lm"))
        .map(|path| {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            (name, read(&std::fs::read_to_string(&path).expect("a text")))
        })
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// A program that comes from WebAssembly: what the example for expressions is exported as, with the
/// runtime of its values.
pub(crate) fn library() -> Program {
    let (_, example) = examples().into_iter().find(|(name, _)| name == "expr").expect("it is there");
    lmlang_testkit::modules::there_and_back(example).expect("it can be exported")
}

pub(crate) fn read(text: &str) -> Program {
    parse_program(text, &mut RefAllocator::starting_at(1)).expect("a program")
}

pub(crate) fn named(program: &Program, path: &str) -> Ref {
    match program.resolve(path).as_slice() {
        [one] => *one,
        found => panic!("`{path}` is {found:?}"),
    }
}

pub(crate) fn functions(program: &Program) -> Vec<FuncRef> {
    program.functions().map(|(of, _)| of).collect()
}

pub(crate) fn pack_of(program: &Program, focus: &[Ref], budget: usize) -> Result<Pack, OverBudget> {
    pack_with(program, focus, budget, Detail::Standard, None, Tokenizer::default())
}

pub(crate) fn pack_with(
    program: &Program,
    focus: &[Ref],
    budget: usize,
    detail: Detail,
    since: Option<Since<'_>>,
    tokenizer: Tokenizer,
) -> Result<Pack, OverBudget> {
    let compressor = Compressor { tokenizer, ..Compressor::default() };
    let request = Request { name: "p", revision: 7, focus, detail, budget, compressor: &compressor, since };
    pack(program, &request)
}

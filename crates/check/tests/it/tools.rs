//! What the tests share.

use std::num::NonZeroUsize;

use lmlang_check::{Checker, Ending, Options, Progress, State};
use lmlang_interp::Cache;
use lmlang_ir::text::{parse_program, print_value};
use lmlang_ir::{FuncRef, Program, RefAllocator, Value};
use lmlang_verify::Checked;

/// Reads a program and checks it.
pub(crate) fn read(text: &str) -> Checked {
    let program = parse_program(text, &mut RefAllocator::starting_at(1));
    Checked::full(program.unwrap_or_else(|errors| panic!("{errors:?}")), NonZeroUsize::MIN)
}

/// The function with a name.
pub(crate) fn named(checked: &Checked, name: &str) -> FuncRef {
    checked.functions_named(name).first().copied().unwrap_or_else(|| panic!("there is no `{name}`"))
}

/// Searches to the end.
pub(crate) fn search(checked: &Checked, function: FuncRef, options: &Options) -> Progress {
    let mut checker = Checker::new(checked, function, options, &Cache::new()).expect("it can be checked");
    while !matches!(checker.advance(u64::MAX / 2).expect("it goes on").state, State::Over(_)) {}
    checker.progress().clone()
}

pub(crate) fn ending(progress: &Progress) -> Ending {
    match progress.state {
        State::Over(ending) => ending,
        State::Trying | State::Shrinking => panic!("it is over"),
    }
}

/// Arguments as a text has them.
pub(crate) fn shown(program: &Program, args: &[Value]) -> String {
    let args: Vec<String> = args.iter().map(|arg| print_value(program, arg)).collect();
    args.join(", ")
}

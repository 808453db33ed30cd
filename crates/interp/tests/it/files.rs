//! The programs under `tests/filetests` and `examples`, whose `; run:` lines say what comes out: in both lowerings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lmlang_interp::{Limits, Options, Outcome, RunResult};
use lmlang_ir::text::{parse_program, parse_value};
use lmlang_ir::{FuncRef, Program, RefAllocator, Value};

use crate::tools::{check, plain, whole};

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["tests/filetests/lang", "tests/filetests/ops", "examples"] {
        let entries = fs::read_dir(root.join(folder)).expect("the folder exists");
        found.extend(
            entries
                .map(|entry| entry.expect("the folder can be read").path())
                .filter(|path| path.extension().is_some_and(|ext| ext == "lm")),
        );
    }
    found.sort();
    found
}

/// Splits at commas outside of brackets and quotes.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start) = (0, false, false, 0);
    let mut parts = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            // Not the arrow of a signature.
            '>' if !list[..at].ends_with('-') => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list[start..].trim().is_empty() {
        parts.push(list[start..].trim());
    }
    parts
}

/// The arguments in parentheses at the start, and the rest.
fn call(text: &str) -> (&str, &str, &str) {
    let open = text.find('(').expect("a call has parentheses");
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text[open..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    let end = open + at;
                    return (&text[..open], &text[open + 1..end], text[end + 1..].trim());
                }
            }
            _ => {}
        }
    }
    panic!("unclosed call in {text}")
}

fn expected(program: &Program, function: FuncRef, wanted: &str) -> Vec<Value> {
    let results = &program.function(function).unwrap().head().results;
    let parts = split(wanted);
    assert_eq!(parts.len(), results.len(), "{wanted}");
    results.iter().zip(parts).map(|(ty, text)| parse_value(program, ty, text).expect(text)).collect()
}

fn verdict(program: &Program, function: FuncRef, wanted: &str, result: &RunResult) -> Result<(), String> {
    let (word, rest) = wanted.split_once(' ').unwrap_or((wanted, ""));
    let good = match (word, &result.outcome) {
        ("==", Outcome::Returned { values }) => *values == expected(program, function, rest),
        ("prints", Outcome::Returned { .. }) => {
            let text = parse_value(program, &lmlang_ir::Type::String, rest).expect(rest);
            matches!(text, Value::Const(lmlang_ir::Const::String(text)) if *text == *result.stdout)
        }
        ("traps", Outcome::Trapped { fault, .. }) => fault.code() == rest,
        ("violates", Outcome::ContractViolated { message, .. }) => format!("{message:?}") == rest,
        ("reaches", Outcome::ReachedHole { .. }) => rest == "hole",
        _ => false,
    };
    if good { Ok(()) } else { Err(format!("expected {wanted}, found {result:?}")) }
}

#[test]
fn run_lines_come_true() {
    let options = Options {
        limits: Limits { fuel: 200_000_000, ..Limits::default() },
        stdin: Arc::from(""),
        inspect: false,
    };
    let mut failures = Vec::new();
    let mut count = 0;
    for path in programs() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("the file can be read");
        let program = match parse_program(&text, &mut RefAllocator::starting_at(1)) {
            Ok(program) => program,
            Err(errors) => {
                failures.push(format!("{name}: {:?}", errors.first()));
                continue;
            }
        };
        let checked = check(program.clone());
        for (function, content) in program.functions() {
            for line in &content.head().runs {
                let (_, arguments, wanted) = call(line.trim());
                // Settings, limits and output before another end are for the runner in `testkit`.
                let plain_end = !wanted.starts_with("prints ") || wanted.ends_with('"');
                if wanted.starts_with("with ") || wanted.starts_with("exceeds ") || !plain_end {
                    continue;
                }
                let params = &content.head().params;
                let args: Result<Vec<Value>, _> = params
                    .iter()
                    .zip(split(arguments))
                    .map(|(param, text)| parse_value(&program, &param.ty, text))
                    .collect();
                let args = match args {
                    Ok(args) => args,
                    Err(error) => {
                        failures.push(format!("{name}: {line}: {error:?}"));
                        continue;
                    }
                };
                let fast = whole(&checked, function, &args, &options);
                count += 1;
                if let Err(why) = verdict(&program, function, wanted, &fast) {
                    failures.push(format!("{name}: {line}: {why}"));
                }
                if fast.fuel_used < 5_000_000 {
                    let slow = plain(&checked, function, &args, &options);
                    if let Err(why) = verdict(&program, function, wanted, &slow) {
                        failures.push(format!("{name}: {line}: unfolded: {why}"));
                    }
                    if slow.fuel_used != fast.fuel_used || slow.steps != fast.steps {
                        failures.push(format!(
                            "{name}: {line}: fuel {} folded, {} unfolded",
                            fast.fuel_used, slow.fuel_used
                        ));
                    }
                }
            }
        }
    }
    let shown: Vec<_> = failures.iter().take(40).cloned().collect();
    assert!(failures.is_empty(), "{} of {count} failed:\n{}", failures.len(), shown.join("\n"));
    assert!(count > 1000, "only {count} run lines were found");
}

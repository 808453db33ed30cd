//! Planted mistakes are found, by whatever chance, and their smallest inputs.

use lmlang_check::{Ending, Options};
use lmlang_interp::{LimitKind, Outcome};
use lmlang_ir::Type;
use lmlang_ir::text::parse_value;
use lmlang_testkit::filetest::case::{self, End};
use lmlang_verify::Checked;

use crate::tools::{ending, named, read, search, shown};

const TEXT: &str = include_str!("planted.lm");

/// What is expected of a function, and how many cases it may take.
fn expectations() -> Vec<(&'static str, &'static str, u64)> {
    let lines = TEXT.lines().filter_map(|line| line.strip_prefix("; ")?.split_once(": "));
    let known = lines.filter(|(kind, _)| ["breaks", "holds", "exhausted", "gives up"].contains(kind));
    known
        .map(|(kind, of)| match of.rsplit_once(" from ").map(|(of, cases)| (of, cases.parse())) {
            Some((of, Ok(cases))) => (kind, of, cases),
            Some((_, Err(_))) | None => (kind, of, 1_000),
        })
        .collect()
}

/// Says what is wrong with a search by a seed.
fn check(checked: &Checked, kind: &str, of: &str, cases: u64, seed: u64) -> Result<(), String> {
    let options = Options { cases, seed, ..Options::default() };
    let program = checked.program();
    if kind != "breaks" {
        let progress = search(checked, named(checked, of), &options);
        let expected = match kind {
            "holds" => Ending::Cases,
            "exhausted" => Ending::Exhausted,
            _ => Ending::GaveUp,
        };
        let fits = ending(&progress) == expected && progress.counterexample.is_none();
        return if fits { Ok(()) } else { Err(format!("{of}: {progress:?}")) };
    }
    let case = case::parse(of).expect("a case");
    let function = named(checked, &case.function);
    let progress = search(checked, function, &options);
    let Some(found) = &progress.counterexample else { return Err(format!("{of}: nothing: {progress:?}")) };
    let params = &program.function(function).expect("it exists").head().params;
    let types: Vec<&Type> = params.iter().map(|param| &param.ty).collect();
    let parsed = types.iter().zip(&case.arguments).map(|(ty, text)| parse_value(program, ty, text));
    let expected: Vec<_> =
        parsed.map(|value| value.unwrap_or_else(|error| panic!("{of}: {error}"))).collect();
    let fails = match (&found.outcome, &case.end) {
        (Outcome::Trapped { fault, .. }, Some(End::Traps(code))) => fault.code() == code,
        (Outcome::ContractViolated { message, .. }, Some(End::Violates(text))) => {
            text.trim_matches('"') == &**message
        }
        (Outcome::LimitReached { limit, .. }, Some(End::Exceeds(_))) => *limit == LimitKind::Depth,
        (_, _) => false,
    };
    if fails && found.args == expected && ending(&progress) == Ending::Found {
        return Ok(());
    }
    let at = shown(program, &found.args);
    Err(format!("{of}: seed {seed} found {at} after {} steps: {}", found.shrink_steps, found.failure))
}

#[test]
fn mistakes_are_found_and_made_small() {
    let checked = read(TEXT);
    let diagnostics: Vec<String> = checked
        .findings()
        .iter()
        .filter(|(_, found)| found.severity() == lmlang_verify::Severity::Error)
        .map(|(_, found)| found.message(checked.program()))
        .collect();
    assert_eq!(diagnostics, Vec::<String>::new());
    let expectations = expectations();
    assert!(expectations.len() >= 40, "{}", expectations.len());
    let mut wrong = Vec::new();
    for (kind, of, cases) in expectations {
        for seed in 0..10 {
            wrong.extend(check(&checked, kind, of, cases, seed).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

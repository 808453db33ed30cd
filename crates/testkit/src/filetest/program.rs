//! Checks the text of one program: expected errors, runs, and that it prints and parses back.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;

use lmlang_interp::Cache;
use lmlang_ir::text::{Detail, Places, parse_program, parse_program_with_places, print_program};
use lmlang_ir::{ModuleRef, Program, RefAllocator};
use lmlang_verify::{Checked, Class, Diagnostic};

use super::{Report, case, lines};

/// Checks a text that begins after that many lines of its file.
pub(super) fn check(path: &Path, offset: u32, text: &str, report: &mut Report) {
    let lines = lines::read(text);
    let mut expected: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for (line, code) in &lines.marks {
        expected.entry(*line).or_default().insert(code.clone());
    }
    report.expectations += lines.marks.len() + lines.runs.len();
    let mut refs = RefAllocator::starting_at(1);
    match parse_program_with_places(&lines.text, &mut refs) {
        Err(errors) => {
            for error in errors {
                let known = expected.get_mut(&error.line).is_some_and(|codes| codes.remove(error.code));
                if !known {
                    report.fail(path, offset + error.line, "text", error.to_string());
                }
            }
            for (line, _) in lines.runs {
                report.fail(path, offset + line, "a run", "a text with errors");
            }
        }
        Ok((program, places)) => {
            report.expectations += 1;
            print_and_parse(path, offset, &program, report);
            let checked = Checked::full(program, NonZeroUsize::MIN);
            for (_, diagnostic) in checked.findings().iter() {
                let line = line_of(&places, diagnostic);
                let codes = expected.get_mut(&line);
                let known = codes.is_some_and(|codes| codes.remove(diagnostic.code.name()));
                let must_be_known = matches!(diagnostic.class(), Class::Error | Class::Stale);
                if !known && must_be_known && !repeated(&lines.marks, line, diagnostic.code.name()) {
                    let message = diagnostic.message(checked.program());
                    let found = format!("{} ({}): {message}", diagnostic.code, diagnostic.at.entity);
                    report.fail(path, offset + line, "no diagnostic", found);
                }
            }
            runs(path, offset, &checked, &places, &lines.runs, report);
        }
    }
    for (line, codes) in expected {
        for code in codes {
            report.fail(path, offset + line, code, "nothing of the kind");
        }
    }
}

/// Tells whether a code is expected on a line, be it that it was found there already.
fn repeated(marks: &[(u32, String)], line: u32, code: &str) -> bool {
    marks.iter().any(|(at, expected)| *at == line && expected == code)
}

fn line_of(places: &Places, diagnostic: &Diagnostic) -> u32 {
    let at = diagnostic.at;
    let entity = places.get(at.entity.number);
    let region = || at.region.and_then(|region| places.get(region.number()));
    let function = || at.function.and_then(|function| places.get(function.number()));
    entity.or_else(region).or_else(function).map_or(1, |(line, _)| line)
}

fn print_and_parse(path: &Path, offset: u32, program: &Program, report: &mut Report) {
    let printed = print_program(program, Detail::Full);
    match parse_program(&printed, &mut RefAllocator::starting_at(1)) {
        Ok(again) if again.root_hash() == program.root_hash() => {}
        Ok(again) => {
            let second = print_program(&again, Detail::Full);
            let differing = printed.lines().zip(second.lines()).find(|(a, b)| a != b);
            let found = differing.map_or("another program with the same text".to_owned(), |(a, b)| {
                format!("`{a}` printed as `{b}`")
            });
            report.fail(path, offset + 1, "the same program printed and parsed", found);
        }
        Err(errors) => {
            let line = errors.first().map_or(0, |error| error.line) as usize;
            let text = printed.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            let found = format!("{} in `{text}`", errors[0]);
            report.fail(path, offset + 1, "a text that parses, printed", found);
        }
    }
}

/// Runs the cases; a name is looked up in the module of the function that stands before its line.
fn runs(
    path: &Path,
    offset: u32,
    checked: &Checked,
    places: &Places,
    runs: &[(u32, String)],
    report: &mut Report,
) {
    let program = checked.program();
    let mut modules: Vec<(u32, ModuleRef)> = program
        .functions()
        .filter_map(|(of, function)| Some((places.get(of.number())?.0, function.head().module)))
        .collect();
    modules.sort_unstable();
    let cache = Cache::new();
    for (line, text) in runs {
        let before = modules.iter().rev().find(|(at, _)| at < line);
        match case::parse(text) {
            Err(expected) => report.fail(path, offset + line, expected, format!("`{text}`")),
            Ok(case) => {
                if let Err((expected, found)) =
                    case::check(checked, &cache, before.map(|(_, module)| *module), &case)
                {
                    report.fail(path, offset + line, expected, found);
                }
            }
        }
    }
}

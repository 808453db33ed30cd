//! `lmlang check`: everything that is wrong with files, and inputs that break their functions.

use std::path::PathBuf;

use serde::Serialize;

use crate::breaking::{self, Attempt, SearchArgs};
use crate::diagnostics::{Problem, Weight, check, is_wrong, show, unassigned};
use crate::error::Error;
use crate::exit::Exit;
use crate::failures::Failures;
use crate::output::{Form, Output, counted, say};
use crate::source::Source;

/// Which files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files in the text form; `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also fail on what is incomplete and on warnings.
    #[arg(long)]
    strict: bool,
    /// Also warn of variables that may be read before anything is assigned to them.
    #[arg(long)]
    unassigned: bool,
    #[command(flatten)]
    search: SearchArgs,
}

/// What was found in a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    file: String,
    ok: bool,
    functions: u64,
    nodes: u64,
    root_hash: Option<String>,
    diagnostics: Vec<Problem>,
    /// What came of the search for inputs that break functions, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<Vec<Attempt>>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let (mut reports, mut failures) = (Vec::new(), Failures::new(output));
    for path in &args.files {
        let Some(source) = failures.past(Source::read(path)) else { continue };
        let (read, mut diagnostics) = check(&source);
        if let Some(read) = read.as_ref().filter(|_| args.unassigned) {
            diagnostics.extend(unassigned(read));
            diagnostics.sort_by_key(|problem| (problem.line, problem.column));
        }
        if output.form == Form::Text {
            show(&source, &diagnostics);
        }
        let sound = read.as_ref().filter(|_| args.search.contracts && !is_wrong(&diagnostics));
        let attempts = sound.map(|read| breaking::search(read, &source.name(), &args.search));
        let found = attempts.iter().flatten();
        if output.form == Form::Text {
            found.clone().for_each(|attempt| attempt.show(&source));
        }
        diagnostics.extend(found.filter_map(|attempt| attempt.problem().cloned()));
        let ok = if args.strict { diagnostics.is_empty() } else { !is_wrong(&diagnostics) };
        let program = read.as_ref().map(|read| read.checked.program());
        let totals = program.map(|program| program.totals());
        reports.push(Report {
            file: source.name(),
            ok,
            functions: totals.as_ref().map_or(0, |totals| totals.functions),
            nodes: totals.as_ref().map_or(0, |totals| totals.counts.nodes),
            root_hash: program.map(|program| program.root_hash().to_string()),
            diagnostics,
            attempts,
        });
    }
    if let (Some(exit), true) = (failures.exit(), reports.is_empty()) {
        return Ok(exit);
    }
    let wrong = reports.iter().filter(|report| !report.ok).count();
    match output.form {
        Form::Json => output.json(&reports)?,
        Form::Text => say(summary(&reports)),
    }
    Ok(failures.exit().unwrap_or(if wrong == 0 { Exit::Success } else { Exit::Verification }))
}

fn summary(reports: &[Report]) -> String {
    let count = |weight| {
        let all = reports.iter().flat_map(|report| &report.diagnostics);
        all.filter(|problem| problem.severity == weight).count() as u64
    };
    let files = counted(reports.len() as u64, "file", "files");
    let errors = counted(count(Weight::Error), "error", "errors");
    let warnings = counted(count(Weight::Warning), "warning", "warnings");
    let found = format!("{files}: {errors}, {} incomplete, {warnings}", count(Weight::Incomplete));
    let attempts: Vec<&Attempt> =
        reports.iter().filter_map(|report| report.attempts.as_ref()).flatten().collect();
    let searched = reports.iter().any(|report| report.attempts.is_some());
    if searched { format!("{found}; {}", breaking::summary(&attempts)) } else { found }
}

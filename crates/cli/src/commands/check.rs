//! `lmlang check`: everything that is wrong with files.

use std::path::PathBuf;

use serde::Serialize;

use crate::diagnostics::{Problem, Weight, check, is_wrong, show};
use crate::error::Error;
use crate::exit::Exit;
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
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let mut reports = Vec::new();
    for path in &args.files {
        let source = Source::read(path)?;
        let (read, diagnostics) = check(&source);
        if output.form == Form::Text {
            show(&source, &diagnostics);
        }
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
        });
    }
    let wrong = reports.iter().filter(|report| !report.ok).count();
    match output.form {
        Form::Json => output.json(&reports)?,
        Form::Text => say(summary(&reports)),
    }
    Ok(if wrong == 0 { Exit::Success } else { Exit::Verification })
}

fn summary(reports: &[Report]) -> String {
    let count = |weight| {
        let all = reports.iter().flat_map(|report| &report.diagnostics);
        all.filter(|problem| problem.severity == weight).count() as u64
    };
    let files = counted(reports.len() as u64, "file", "files");
    let errors = counted(count(Weight::Error), "error", "errors");
    let warnings = counted(count(Weight::Warning), "warning", "warnings");
    format!("{files}: {errors}, {} incomplete, {warnings}", count(Weight::Incomplete))
}

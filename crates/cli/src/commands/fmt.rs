//! `lmlang fmt`: files laid out, or in the canonical form.
//!
//! Laying out changes blanks and blank lines only: what a file says, it says in the same words. The canonical form, with the
//! ref of every entity, is what `export` writes too.

use std::path::{Path, PathBuf};

use lmlang_ir::RefAllocator;
use lmlang_ir::text::{Detail, TextError, format_text, parse_program, print_program};
use serde_json::json;

use crate::diagnostics::{Problem, refuse};
use crate::error::Error;
use crate::exit::Exit;
use crate::failures::Failures;
use crate::output::{Output, counted, say};
use crate::source::{Source, write};

/// Which files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files in the text form; `-` formats standard input to standard output.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing; list the files that would change and fail if there are any.
    #[arg(long)]
    check: bool,
    /// Write the canonical form, with the ref of every entity.
    #[arg(long)]
    refs: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let (mut changed, mut wrong, mut failures) = (Vec::new(), false, Failures::new(output));
    for path in &args.files {
        let Some(source) = failures.past(Source::read_text(path)) else { continue };
        let formatted = match format(&source.text, args.refs) {
            Ok(formatted) => formatted,
            Err(mistakes) => {
                let problems: Vec<Problem> = mistakes.into_iter().map(Problem::from).collect();
                refuse(&source, &problems, output);
                wrong = true;
                continue;
            }
        };
        let through = path == Path::new("-") && !args.check;
        if through {
            output.data(&json!({ "text": formatted }), || formatted.clone())?;
        } else if formatted != source.text && (args.check || failures.past(write(path, &formatted)).is_some())
        {
            changed.push(source.name());
        }
    }
    if let (Some(exit), true) = (failures.exit(), changed.is_empty()) {
        return Ok(exit);
    }
    if args.check || args.files != [Path::new("-")] {
        output.data(&json!({ "changed": changed }), || {
            changed.iter().map(|name| format!("{name}\n")).collect()
        })?;
    }
    if !args.check && !changed.is_empty() {
        say(format_args!("wrote {}", counted(changed.len() as u64, "file", "files")));
    }
    Ok(match (failures.exit(), wrong, args.check && !changed.is_empty()) {
        (Some(exit), ..) => exit,
        (None, true, _) => Exit::Verification,
        (None, false, true) => Exit::Failure,
        (None, false, false) => Exit::Success,
    })
}

/// The text, laid out; with refs the canonical form of its program.
fn format(text: &str, refs: bool) -> Result<String, Vec<TextError>> {
    if !refs {
        return format_text(text);
    }
    let program = parse_program(text, &mut RefAllocator::starting_at(1))?;
    Ok(print_program(&program, Detail::Full))
}

//! `lmlang export`: a program's content as a file.

use std::path::PathBuf;

use lmlang_ir::text::{Detail, print_program};
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::with_program;
use crate::settings::Settings;
use crate::source::{Kind, write};

/// Which program, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The file, whose suffix says what is written; standard output takes the text form.
    file: Option<PathBuf>,
    /// The revision: a number (`r7`), a checkpoint, a hash, each also with `~2` for two before [default: the head].
    #[arg(long, value_name = "REVISION")]
    at: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let file = args.file.as_deref().filter(|file| *file != std::path::Path::new("-"));
    if let Some(file) = file {
        Kind::supported(file)?;
    }
    let (text, number) = with_program(settings, &args.program, |engine, open| async move {
        let revision = engine.revision(&open, args.at.as_deref()).await?;
        Ok((print_program(revision.checked.program(), Detail::Full), revision.entry.number))
    })?;
    match file {
        None => output.data(&json!({ "revision": format!("r{number}"), "text": text }), || text.clone())?,
        Some(file) => {
            write(file, &text)?;
            say(format_args!("wrote r{number} of `{}` to `{}`", args.program, file.display()));
        }
    }
    Ok(Exit::Success)
}

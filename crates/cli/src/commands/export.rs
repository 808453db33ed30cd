//! `lmlang export`: a program's content as a file.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use crate::client::{About, with_client};
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::{Kind, Source, write};
use crate::view::View;

/// Which program, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The file, whose suffix says what is written; standard output takes the text form.
    file: Option<PathBuf>,
    #[command(flatten)]
    view: View,
}

const DOCUMENT: &str = "query($id: ID, $name: String, $at: String) {
  program(id: $id, name: $name, at: $at) { revision { number } text(maxBytes: 2147483647) }
}";

#[derive(Debug, Deserialize)]
struct Content {
    revision: Numbered,
    text: String,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let file = args.file.as_deref().filter(|file| *file != std::path::Path::new("-"));
    if let Some(file) = file {
        Kind::supported(file)?;
    }
    let Content { revision: Numbered { number }, text } = content(&args.program, &args.view, settings)?;
    match file {
        None => output.data(&json!({ "revision": format!("r{number}"), "text": text }), || text.clone())?,
        Some(file) => {
            write(file, &text)?;
            say(format_args!("wrote r{number} of `{}` to `{}`", args.program, file.display()));
        }
    }
    Ok(Exit::Success)
}

fn content(program: &str, view: &View, settings: &Settings) -> Result<Content, Error> {
    let variables = view.of(program);
    let answer: About<Content> =
        with_client(settings, Missing::Refuse, async |client| client.ask(DOCUMENT, &variables).await)?;
    Ok(answer.program)
}

/// A program's content as a file that has it would hold it.
pub(crate) fn source(program: &str, view: &View, settings: &Settings) -> Result<Source, Error> {
    let Content { revision: Numbered { number }, text } = content(program, view, settings)?;
    Ok(Source { path: PathBuf::from(format!("{program}@r{number}")), text })
}

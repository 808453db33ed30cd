//! `lmlang export`: a program's content as a file.

use std::path::PathBuf;

use lmlang_wasm::ExportOptions;
use serde::Deserialize;
use serde_json::json;

use crate::client::{About, with_client};
use crate::commands::history::Numbered;
use crate::diagnostics::sound;
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
    /// The file, whose suffix says what is written: the text form (`.lm`) or a WebAssembly module (`.wasm`, `.wat`)
    /// [default: standard output].
    file: Option<PathBuf>,
    /// Write a WebAssembly module to standard output.
    #[arg(long, conflicts_with = "file")]
    wasm: bool,
    /// Write a WebAssembly module in its text form to standard output.
    #[arg(long, conflicts_with_all = ["file", "wasm"])]
    wat: bool,
    /// Leave contracts out of a module [default: one that does not hold ends in `unreachable`].
    #[arg(long)]
    no_contracts: bool,
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
    let kind = match (file, args.wasm, args.wat) {
        (Some(file), ..) => Kind::of(file)?,
        (None, true, _) => Kind::Wasm,
        (None, false, true) => Kind::Wat,
        (None, false, false) => Kind::Text,
    };
    let Content { revision: Numbered { number }, text } = content(&args.program, &args.view, settings)?;
    let revision = format!("r{number}");
    let source = Source { path: PathBuf::from(format!("{}@{revision}", args.program)), text };
    let written = match kind {
        Kind::Text => source.text.clone().into_bytes(),
        Kind::Wasm | Kind::Wat => {
            match module(&source, kind, ExportOptions { contracts: !args.no_contracts })? {
                Ok(module) => module,
                Err(exit) => return Ok(exit),
            }
        }
    };
    match (file, kind) {
        (Some(file), _) => {
            write(file, &written)?;
            say(format_args!("wrote {revision} of `{}` to `{}`", args.program, file.display()));
        }
        (None, Kind::Wasm) => output.bytes(&written)?,
        (None, Kind::Text | Kind::Wat) => {
            let text = String::from_utf8_lossy(&written);
            output.data(&json!({ "revision": revision, "text": text }), || text.clone().into_owned())?;
        }
    }
    Ok(Exit::Success)
}

/// The module that a program is; what is wrong with a program is told on standard error.
fn module(source: &Source, kind: Kind, options: ExportOptions) -> Result<Result<Vec<u8>, Exit>, Error> {
    let read = match sound(source) {
        Ok(read) => read,
        Err(exit) => return Ok(Err(exit)),
    };
    let module =
        lmlang_wasm::export(&read.checked, options).map_err(|error| Error::Export(Box::new(error)))?;
    Ok(Ok(match kind {
        Kind::Wat => lmlang_wasm::print(&module).map_err(Error::Printed)?.into_bytes(),
        Kind::Wasm | Kind::Text => module,
    }))
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

//! `lmlang export`: a program's content as a file.

use std::path::{Path, PathBuf};

use lmlang_ir::Program;
use lmlang_verify::Checked;
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
use crate::settings::{Layers, Settings};
use crate::source::{Kind, Origin, Source, write};
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
    /// Make every NaN that is computed the canonical one, as in a run [default: the engine's].
    #[arg(long)]
    canonical_nan: bool,
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
    let file = args.file.as_deref().filter(|file| *file != Path::new("-"));
    let kind = match (file, args.wasm, args.wat) {
        (Some(file), ..) => Kind::of(file)?,
        (None, true, _) => Kind::Wasm,
        (None, false, true) => Kind::Wat,
        (None, false, false) => Kind::Text,
    };
    let Content { revision: Numbered { number }, text } = content(&args.program, &args.view, settings)?;
    let revision = format!("r{number}");
    let path = PathBuf::from(format!("{}@{revision}", args.program));
    let source = Source { path, text, origin: Origin::Read };
    let written = match kind {
        Kind::Text => source.text.clone().into_bytes(),
        Kind::Wasm | Kind::Wat => {
            let read = match sound(&source, output) {
                Ok(read) => read,
                Err(exit) => return Ok(exit),
            };
            let options = ExportOptions {
                contracts: !args.no_contracts,
                canonical_nans: args.canonical_nan,
                ..ExportOptions::default()
            };
            let module = module(&read.checked, kind, options)?;
            if !offers(read.checked.program()) {
                say(format_args!(
                    "`{}` exports nothing and has no start function: nobody can call what the module has",
                    args.program
                ));
            }
            module
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

/// Whether a module of the program can do anything: exported, or by starting.
fn offers(program: &Program) -> bool {
    let mut heads = program.functions().map(|(_, function)| function.head());
    heads.any(|head| head.start || !head.exports.is_empty())
        || program.all_storage().any(|(_, storage)| !storage.exports.is_empty())
}

/// The module that a program is.
pub(crate) fn module(checked: &Checked, kind: Kind, options: ExportOptions) -> Result<Vec<u8>, Error> {
    let module = lmlang_wasm::export(checked, options).map_err(|error| Error::Export(Box::new(error)))?;
    match kind {
        Kind::Wasm => Ok(module),
        Kind::Wat => Ok(lmlang_wasm::print(&module).map_err(Error::Printed)?.into_bytes()),
        Kind::Text => Err(Error::NoModule),
    }
}

fn content(program: &str, view: &View, settings: &Settings) -> Result<Content, Error> {
    let variables = view.of(program);
    let answer: About<Content> =
        with_client(settings, Missing::Refuse, async |client| client.ask(DOCUMENT, &variables).await)?;
    Ok(answer.program)
}

/// A file; where a revision is given, or no file could be meant by the name, the program of that name.
pub(crate) fn file_or_program(given: &Path, view: &View, layers: &Layers) -> Result<Source, Error> {
    // The end of a file's name says what it holds; without one it is none.
    let is_bare = given.extension().is_none() && given.file_name() == Some(given.as_os_str());
    if view.at.is_some() || is_bare && given != Path::new("-") {
        return source(&given.to_string_lossy(), view, &layers.settings()?);
    }
    Source::read(given).map_err(|error| match error {
        Error::UnknownSuffix(path, _) => Error::UnknownSuffix(path, "; with `--at main` it names a program"),
        error => error,
    })
}

/// A program's content as a file that has it would hold it.
fn source(program: &str, view: &View, settings: &Settings) -> Result<Source, Error> {
    let Content { revision: Numbered { number }, text } = content(program, view, settings)?;
    Ok(Source { path: PathBuf::from(format!("{program}@r{number}")), text, origin: Origin::Read })
}

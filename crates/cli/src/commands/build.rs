//! `lmlang build`: a file, or a program, as an executable module.

use std::path::PathBuf;

use lmlang_ir::{FuncRef, Program};
use lmlang_wasm::ExportOptions;

use crate::callee::find;
use crate::commands::export::{file_or_program, module};
use crate::diagnostics::sound;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::settings::Layers;
use crate::source::{Kind, write};
use crate::view::View;

/// What is built, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, in the text form (`.lm`) or a WebAssembly module (`.wasm`, `.wat`); without such an ending, or with
    /// `--at`, a program, by name or id.
    file: PathBuf,
    /// The file to write, `.wasm` or `.wat` [default: the name of the first, with `.wasm`].
    out: Option<PathBuf>,
    /// The function that runs, by name, path or ref; it takes and returns nothing [default: `main`, where there is one].
    #[arg(long, value_name = "FUNCTION")]
    main: Option<String>,
    /// Leave contracts out [default: one that does not hold ends in `unreachable`].
    #[arg(long)]
    no_contracts: bool,
    /// Make every NaN that is computed the canonical one, as in a run [default: the engine's].
    #[arg(long)]
    canonical_nan: bool,
    #[command(flatten)]
    view: View,
}

/// What WASI calls the function that runs.
const START: &str = "_start";

pub(crate) fn run(args: &Args, layers: &Layers, output: Output) -> Result<Exit, Error> {
    let source = file_or_program(&args.file, &args.view, layers)?;
    let default = match args.view.at {
        None => args.file.with_extension("wasm"),
        // A name is no path, whatever it looks like.
        Some(_) => format!("{}.wasm", args.file.display()).into(),
    };
    let out = args.out.clone().unwrap_or(default);
    if args.view.at.is_none() && out == args.file {
        return Err(Error::SameFile(out));
    }
    let kind = Kind::of(&out)?;
    let read = match sound(&source, output) {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    let (program, name) = (read.checked.program(), source.name());
    let main = match &args.main {
        Some(given) => Some(find(&read.checked, given, &name)?),
        None => main(program),
    };
    let offers = |exports: &[lmlang_ir::Name]| !exports.is_empty();
    if main.is_none() && !program.functions().any(|(_, of)| offers(&of.head().exports)) {
        return Err(Error::NothingToRun(name));
    }
    let options = ExportOptions { contracts: !args.no_contracts, canonical_nans: args.canonical_nan, main };
    let written = module(&read.checked, kind, options)?;
    write(&out, &written)?;
    let of = if source.path == args.file { String::new() } else { format!(" of `{name}`") };
    say(format_args!("wrote `{}`{of}, {} bytes", out.display(), written.len()));
    Ok(Exit::Success)
}

/// The function that runs where nobody says which: `main`, unless the program names one itself.
fn main(program: &Program) -> Option<FuncRef> {
    let heads = || program.functions().map(|(of, function)| (of, function.head()));
    if heads().any(|(_, head)| head.exports.iter().any(|export| **export == *START)) {
        return None;
    }
    let mut found = heads().filter(|(_, head)| {
        &*head.name == "main" && head.params.is_empty() && head.results.is_empty() && head.import.is_none()
    });
    match (found.next(), found.next()) {
        (Some((of, _)), None) => Some(of),
        (_, _) => None,
    }
}

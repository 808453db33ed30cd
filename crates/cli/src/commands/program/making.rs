//! `lmlang program create`, `rename` and `describe`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::commands::program::Listed;
use crate::diagnostics::{check, refuse};
use crate::error::Error;
use crate::exit::Exit;
use crate::made::{Made, look_at};
use crate::output::Output;
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::{Source, input, leading_comment};

/// What a program is made of.
#[derive(Debug, clap::Args)]
pub(super) struct CreateArgs {
    /// The program's name.
    name: String,
    /// Its content in the text form (`.lm`), `-` for standard input [default: empty]. `lmlang import` makes programs of
    /// WebAssembly modules.
    #[arg(conflicts_with = "fork")]
    file: Option<PathBuf>,
    /// What the program is for [default: the first paragraph of the comment that the file begins with].
    #[arg(long)]
    doc: Option<String>,
    /// Begin with the content of this program, by name or id; the history begins anew.
    #[arg(long, value_name = "PROGRAM")]
    fork: Option<String>,
    /// The revision of that program [default: the head of `main`].
    #[arg(long, value_name = "REVISION", requires = "fork")]
    at: Option<String>,
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
}

const UPDATE: &str = "mutation($input: UpdateProgramInput!) {
  updated: updateProgram(input: $input) { program { programId name doc } }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    updated: Updated,
}

#[derive(Debug, Deserialize)]
struct Updated {
    program: Listed,
}

pub(super) fn create(args: &CreateArgs, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let source = args.file.as_deref().map(Source::read_text).transpose()?;
    let text = source.as_ref().map(|source| source.text.as_str());
    let doc = args.doc.clone().or_else(|| text.map(leading_comment));
    let request = json!({
        "name": args.name,
        "doc": doc,
        "text": text,
        "forkOf": args.fork,
        "at": args.at,
        "message": args.message,
    });
    let made =
        with_client(settings, Missing::Make, async |client| Made::create(client, &args.name, request).await)?;
    let Some(made) = made else {
        // The same reader and verifier, which know the places in the file here.
        if let Some(source) = &source {
            refuse(source, &check(source).1, output);
        }
        return Ok(Exit::Verification);
    };
    made.tell(output)
}

/// Gives a program another name.
pub(super) fn rename(program: &str, name: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    update(json!({ "programId": program, "name": name }), name, settings, output)
}

/// Says what a program is for; `-` reads it from standard input.
pub(super) fn describe(program: &str, doc: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let doc = match doc {
        "-" => input(Path::new(doc))?.trim_end().to_owned(),
        doc => doc.to_owned(),
    };
    update(json!({ "programId": program, "doc": doc }), program, settings, output)
}

/// Changes what is said of a program; `called` is what it is called then.
fn update(change: Value, called: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let look = look_at(called);
    let answer: Answer =
        with_client(settings, Missing::Refuse, async |client| client.change(UPDATE, change, &look).await)?;
    let program = answer.updated.program;
    output.data(&program.json(), || format!("{}\n", program.name))?;
    Ok(Exit::Success)
}

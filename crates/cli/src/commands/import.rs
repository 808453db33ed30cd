//! `lmlang import`: a program from a file.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;

use crate::client::with_client;
use crate::commands::history::Numbered;
use crate::diagnostics::{check, show};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted, say, spinner};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::{Kind, Source, bytes, input as input_text, leading_comment};

/// Which file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, in the text form (`.lm`) or a WebAssembly module (`.wasm`, `.wat`); `-` for a text from standard input.
    file: PathBuf,
    /// The program's name, needed for standard input [default: that of the file, without its suffix].
    #[arg(long)]
    name: Option<String>,
    /// What the program is for [default: the first paragraph of the comment that the file begins with].
    #[arg(long)]
    doc: Option<String>,
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
}

const DOCUMENT: &str = "mutation($input: CreateProgramInput!) {
  created: createProgram(input: $input) {
    program { id name revision { number } rootHash stats { functions nodes } }
  }
}";

#[derive(Debug, Deserialize)]
struct Created {
    created: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    program: Option<Made>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    id: String,
    name: String,
    revision: Numbered,
    root_hash: String,
    stats: Stats,
}

#[derive(Debug, Deserialize)]
struct Stats {
    functions: u64,
    nodes: u64,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let stem = args.file.file_stem().filter(|stem| *stem != "-");
    let name = args.name.clone().or_else(|| stem.map(|stem| stem.to_string_lossy().into_owned()));
    let name = name.ok_or(Error::NoName)?;
    let mut input = json!({ "name": name, "message": args.message });
    let text = match Kind::of(&args.file)? {
        Kind::Text => Some(Source::read_text(&args.file)?),
        Kind::Wasm => {
            input["wasm"] = BASE64_STANDARD.encode(bytes(&args.file)?).into();
            None
        }
        Kind::Wat => {
            input["wat"] = input_text(&args.file)?.into();
            None
        }
    };
    let described = || text.as_ref().map(|source| leading_comment(&source.text));
    input["doc"] = args.doc.clone().or_else(described).into();
    if let Some(source) = &text {
        input["text"] = source.text.clone().into();
    }
    let spinner = spinner(format!("importing {}", args.file.display()));
    let answer = with_client(settings, Missing::Make, async |client| {
        client.change::<Created>(DOCUMENT, input, &format!("lmlang program show {name}")).await
    });
    spinner.finish_and_clear();
    let Some(made) = answer?.created.program else {
        if let Some(source) = &text {
            // The same reader and verifier, which know the places in the file here.
            show(source, &check(source).1);
        }
        return Ok(Exit::Verification);
    };
    let json = json!({
        "id": made.id,
        "name": made.name,
        "revision": format!("r{}", made.revision.number),
        "rootHash": made.root_hash,
        "functions": made.stats.functions,
        "nodes": made.stats.nodes,
    });
    output.data(&json, || format!("{}\n", made.name))?;
    let Stats { functions, nodes } = made.stats;
    let (functions, nodes) = (counted(functions, "function", "functions"), counted(nodes, "node", "nodes"));
    say(format_args!("{functions}, {nodes}, {}", &made.root_hash[..12]));
    Ok(Exit::Success)
}

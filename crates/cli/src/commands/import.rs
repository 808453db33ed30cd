//! `lmlang import`: a program from a file, or the content of one from a module.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lmlang_graphql::schema::wasm::{GivenModule, ImportRequest, Imported, Progress, Watch};
use serde::Deserialize;
use serde_json::json;

use crate::client::with_client;
use crate::commands::history::Numbered;
use crate::diagnostics::{check, show};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, bar, counted, say, spinner};
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
    /// Make a module the content of this program, by name or id, as a new revision that can be undone, instead of a new
    /// program.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["name", "doc"])]
    into: Option<String>,
    /// The branch of that program [default: main].
    #[arg(long, value_name = "BRANCH", requires = "into")]
    branch: Option<String>,
    /// The revision that must be the newest there: a conflict otherwise.
    #[arg(long, value_name = "REVISION", requires = "into")]
    expected_head: Option<String>,
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
    match &args.into {
        Some(program) => replace(args, program, settings, output),
        None => create(args, settings, output),
    }
}

/// Makes a module the content of a program.
fn replace(args: &Args, program: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let module = match Kind::of(&args.file)? {
        Kind::Wasm => GivenModule::Wasm(bytes(&args.file)?),
        Kind::Wat => GivenModule::Wat(input_text(&args.file)?),
        Kind::Text => return Err(Error::TextIntoProgram(args.file.clone())),
    };
    let request = ImportRequest {
        program: program.to_owned(),
        branch: args.branch.clone(),
        expected_head: args.expected_head.clone(),
        message: args.message.clone(),
        idempotency_key: None,
        module,
    };
    let look = format!("lmlang history {program} --branch {}", args.branch.as_deref().unwrap_or("main"));
    let bar = bar("importing", 0);
    let shown = bar.clone();
    let watch: Watch = Arc::new(move |progress| match progress {
        Progress::Validated { functions } => shown.set_length(functions as u64),
        Progress::Built { functions, .. } => shown.set_position(functions as u64),
    });
    let made =
        with_client(settings, Missing::Refuse, async |client| client.import(request, &look, &watch).await);
    bar.finish_and_clear();
    let made = made?;
    let text = || match &made {
        Imported::Made { revision, .. } => format!("{revision}\n"),
        Imported::Conflict { .. } => String::new(),
    };
    output.data(&made, text)?;
    match &made {
        Imported::Made { functions, nodes, .. } => {
            let functions = counted(*functions, "function", "functions");
            say(format_args!("{functions}, {}", counted(*nodes, "node", "nodes")));
            Ok(Exit::Success)
        }
        Imported::Conflict { conflict, .. } => {
            say(conflict);
            Ok(Exit::Conflict)
        }
    }
}

/// Makes a program of a file.
fn create(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
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

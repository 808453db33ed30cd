//! `lmlang import`: a program from a file, or the content of one from a module.

use std::path::PathBuf;
use std::sync::Arc;

use indicatif::ProgressBar;
use lmlang_graphql::schema::wasm::{GivenModule, ImportRequest, Imported, Progress, Watch};
use serde::de::Error as _;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::commands::program::DELETE;
use crate::diagnostics::{check, refuse};
use crate::error::Error;
use crate::exit::Exit;
use crate::made::Made;
use crate::output::{Output, bar, counted, say, spinner};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::{Given, Kind, Source, leading_comment};

/// Which file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, in the text form (`.lm`) or a WebAssembly module (`.wasm`, `.wat`); `-` for a text or a
    /// binary module from standard input.
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

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.into {
        Some(program) => replace(args, program, settings, output),
        None => create(args, settings, output).map_err(|error| named(args, error)),
    }
}

/// Says how a program whose name is that of its file gets another one, where that is taken.
fn named(args: &Args, error: Error) -> Error {
    match error {
        Error::Refused { code, message, candidates, data } if code == "NAME_TAKEN" && args.name.is_none() => {
            let message = format!("{message}: `--name` gives this one another name");
            Error::Refused { code, message, candidates, data }
        }
        error => error,
    }
}

/// Makes a module the content of a program.
fn replace(args: &Args, program: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let module = match Given::read(&args.file)? {
        Given::Wasm(module) => GivenModule::Wasm(module),
        Given::Wat(text) => GivenModule::Wat(text),
        Given::Text(_) => return Err(Error::TextIntoProgram(args.file.clone())),
    };
    fits(&module, settings)?;
    let request = ImportRequest {
        program: program.to_owned(),
        branch: args.branch.clone(),
        expected_head: args.expected_head.clone(),
        message: args.message.clone(),
        idempotency_key: None,
        module,
    };
    let look = format!("lmlang history {program} --branch {}", args.branch.as_deref().unwrap_or("main"));
    let (bar, watch) = shown();
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

/// Refuses what a server with these settings would refuse. Where one is asked, it says so by its own.
fn fits(module: &GivenModule, settings: &Settings) -> Result<(), Error> {
    let bytes = match module {
        GivenModule::Wasm(module) => module.len(),
        GivenModule::Wat(text) => text.len(),
    };
    let (which, limit) = ("moduleBytes", settings.module_bytes);
    if settings.server.is_some() || bytes <= limit {
        return Ok(());
    }
    Err(Error::Refused {
        code: "LIMIT_EXCEEDED".to_owned(),
        message: format!("`{which}` is limited to {limit}, found {bytes}"),
        candidates: Vec::new(),
        data: json!({ "which": which, "limit": limit, "actual": bytes }),
    })
}

/// A bar that shows how far an import is, and what tells it.
fn shown() -> (ProgressBar, Watch) {
    let bar = bar("importing", 0);
    let told = bar.clone();
    let watch: Watch = Arc::new(move |progress| match progress {
        Progress::Validated { functions } => told.set_length(functions as u64),
        Progress::Built { functions, .. } => told.set_position(functions as u64),
    });
    (bar, watch)
}

/// Makes a program of a file.
fn create(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    // A folder has no stem, and is no standard input either.
    Kind::of(&args.file)?;
    let stem = args.file.file_stem().filter(|stem| *stem != "-");
    let name = args.name.clone().or_else(|| stem.map(|stem| stem.to_string_lossy().into_owned()));
    let name = name.ok_or(Error::NoName)?;
    let made = match Given::read(&args.file)? {
        Given::Text(source) => match of_text(args, &name, &source, settings)? {
            Some(made) => made,
            None => {
                // The same reader and verifier, which know the places in the file here.
                refuse(&source, &check(&source).1, output);
                return Ok(Exit::Verification);
            }
        },
        Given::Wasm(module) => of_module(args, &name, GivenModule::Wasm(module), settings)?,
        Given::Wat(text) => of_module(args, &name, GivenModule::Wat(text), settings)?,
    };
    made.tell(output)
}

/// Makes a program of a text; nothing where that has errors.
fn of_text(args: &Args, name: &str, source: &Source, settings: &Settings) -> Result<Option<Made>, Error> {
    let doc = args.doc.clone().unwrap_or_else(|| leading_comment(&source.text));
    let input = json!({ "name": name, "message": args.message, "doc": doc, "text": source.text });
    let spinner = spinner(format!("importing {}", args.file.display()));
    let made = with_client(settings, Missing::Make, async |client| Made::create(client, name, input).await);
    spinner.finish_and_clear();
    made
}

/// Makes a program of a module: an empty one first, which the module then becomes the content of. So it may be as large as
/// one that is taken into a program.
fn of_module(args: &Args, name: &str, module: GivenModule, settings: &Settings) -> Result<Made, Error> {
    fits(&module, settings)?;
    // What is no module makes no program that would have to go again.
    let valid = match &module {
        GivenModule::Wasm(module) => lmlang_wasm::check(module),
        GivenModule::Wat(text) => lmlang_wasm::binary(text)
            .and_then(|module| lmlang_wasm::check(&module))
            .map_err(|error| error.in_text(text)),
    };
    valid.map_err(|source| Error::Import { path: args.file.clone(), source: Box::new(source) })?;
    let input = json!({ "name": name, "doc": args.doc });
    let (bar, watch) = shown();
    let made = with_client(settings, Missing::Make, async |client| {
        let Some(Made { program_id: id, .. }) = Made::create(client, name, input).await? else {
            return Err(Error::Answer(serde_json::Error::custom("there is no program")));
        };
        let request = ImportRequest {
            program: id.clone(),
            branch: None,
            expected_head: None,
            message: args.message.clone(),
            idempotency_key: None,
            module,
        };
        match client.import(request, &format!("lmlang history {name}"), &watch).await {
            Ok(_) => Made::read(client, &id).await,
            // Whether the module is there, nobody knows.
            Err(error @ Error::InDoubt { .. }) => Err(error),
            Err(error) => {
                let gone = client.ask::<Value>(DELETE, &json!({ "input": { "programId": id } })).await;
                if let Err(stays) = gone {
                    say(format_args!("`{name}` is there, and empty: {stays}"));
                }
                Err(error)
            }
        }
    });
    bar.finish_and_clear();
    made
}

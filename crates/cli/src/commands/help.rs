//! `lmlang help`: a command, how the process ends, the settings, and the reference of operators and codes.

use clap::CommandFactory;
use lmlang_graphql::schema::{code_page, ops};
use lmlang_ir::CodePage;
use lmlang_ir::text::nearest;
use serde_json::json;

use crate::cli::Cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns};
use crate::reference;
use crate::settings::{LAYERS, NAMES};

/// What is explained beside the commands.
const TOPICS: [(&str, Topic); 5] = [
    ("exit-codes", Topic::ExitCodes),
    ("settings", Topic::Settings),
    ("commands", Topic::Commands),
    ("operators", Topic::Operators),
    ("codes", Topic::Codes),
];

#[derive(Clone, Copy)]
enum Topic {
    ExitCodes,
    Settings,
    Commands,
    Operators,
    Codes,
}

/// What to explain.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A command, such as `checkpoint create`; `exit-codes`; `settings`; `commands` for all of them; `operators`, or those that
    /// some words belong to, as in `operators shift left`; `codes` of findings, errors and traps, or one of them, as in
    /// `codes UNKNOWN_NAME`.
    topic: Vec<String>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let topic = args.topic.split_first().and_then(|(first, rest)| {
        let (_, topic) = TOPICS.iter().find(|(name, _)| name == first)?;
        Some((*topic, rest))
    });
    match topic {
        Some((Topic::ExitCodes, [])) => exit_codes(output),
        Some((Topic::Settings, [])) => settings(output),
        Some((Topic::Commands, [])) => markdown(&reference::commands(Cli::command()), output),
        Some((Topic::Operators, words)) => operators(words, output),
        Some((Topic::Codes, codes)) => code_pages(codes, output),
        Some((Topic::ExitCodes | Topic::Settings | Topic::Commands, _)) | None => {
            command(&args.topic, output)
        }
    }
}

fn command(topic: &[String], output: Output) -> Result<Exit, Error> {
    let mut command = Cli::command();
    command.build();
    let mut found = &mut command;
    for (depth, word) in topic.iter().enumerate() {
        let names: Vec<String> =
            found.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let Some(inner) = found.find_subcommand_mut(word) else {
            let others = TOPICS.iter().filter(|_| depth == 0).map(|(name, _)| *name);
            let candidates = nearest(word, names.iter().map(String::as_str).chain(others));
            return Err(no_help(word, candidates));
        };
        found = inner;
    }
    output.text(&found.render_long_help().ansi().to_string())?;
    Ok(Exit::Success)
}

fn markdown(text: &str, output: Output) -> Result<Exit, Error> {
    output.data(&json!({ "markdown": text }), || text.to_owned())?;
    Ok(Exit::Success)
}

fn operators(words: &[String], output: Output) -> Result<Exit, Error> {
    let words = words.join(" ");
    let found = ops::search(Some(&words));
    if found.is_empty() {
        let all = ops::search(None);
        let names = all.iter().map(|spec| spec.mnemonic);
        return Err(no_help(&words, nearest(&words, names)));
    }
    markdown(&reference::operators(&found), output)
}

fn code_pages(given: &[String], output: Output) -> Result<Exit, Error> {
    let pages: Vec<CodePage> = match given {
        [] => code_page::all().collect(),
        given => {
            let pages = given.iter().map(|given| pages_of(given)).collect::<Result<Vec<_>, _>>()?;
            pages.concat()
        }
    };
    markdown(&reference::codes(&pages), output)
}

/// The pages of a code: several, where it can come from an edit and from a text, say.
fn pages_of(given: &str) -> Result<Vec<CodePage>, Error> {
    let wanted = given.to_ascii_uppercase();
    let pages: Vec<CodePage> = code_page::all().filter(|page| page.code == wanted).collect();
    if pages.is_empty() {
        let candidates = nearest(&wanted, code_page::all().map(|page| page.code));
        return Err(no_help(given, candidates));
    }
    Ok(pages)
}

fn no_help(given: &str, candidates: Vec<String>) -> Error {
    Error::not_found(format!("there is no help on `{given}`"), candidates)
}

fn settings(output: Output) -> Result<Exit, Error> {
    let json: Vec<_> =
        NAMES.iter().map(|(name, meaning)| json!({ "name": name, "meaning": meaning })).collect();
    output.data(&json, || {
        let rows = NAMES.iter().map(|(name, meaning)| [(*name).to_owned(), (*meaning).to_owned()]);
        format!("{LAYERS}\n\n{}", columns(&rows.collect::<Vec<_>>()))
    })?;
    Ok(Exit::Success)
}

fn exit_codes(output: Output) -> Result<Exit, Error> {
    let own = Exit::ALL.map(|exit| (Some(exit.number()), exit.meaning()));
    let all: Vec<_> = own.into_iter().chain([(None, Exit::of_program(0).meaning())]).collect();
    let json: Vec<_> =
        all.iter().map(|(code, meaning)| json!({ "code": code, "meaning": meaning })).collect();
    output.data(&json, || {
        let number = |code: Option<u8>| code.map_or_else(|| "n".to_owned(), |code| code.to_string());
        let rows = all.iter().map(|(code, meaning)| [number(*code), (*meaning).to_owned()]);
        columns(&rows.collect::<Vec<_>>())
    })?;
    Ok(Exit::Success)
}

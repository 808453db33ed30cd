//! `lmlang help`: a command, or how the process ends.

use clap::CommandFactory;
use lmlang_ir::text::nearest;
use serde_json::json;

use crate::cli::Cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns};

/// The topic that is no command.
const EXIT_CODES: &str = "exit-codes";

/// What to explain.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A command, such as `checkpoint create`, or `exit-codes`.
    topic: Vec<String>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    if args.topic == [EXIT_CODES] {
        return exit_codes(output);
    }
    let mut command = Cli::command();
    command.build();
    let mut found = &mut command;
    for word in &args.topic {
        let names: Vec<String> =
            found.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let Some(inner) = found.find_subcommand_mut(word) else {
            let topics = names.iter().map(String::as_str).chain([EXIT_CODES]);
            return Err(Error::NoHelp { given: word.clone(), candidates: nearest(word, topics) });
        };
        found = inner;
    }
    output.text(&found.render_long_help().ansi().to_string())?;
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

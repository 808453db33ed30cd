//! `lmlang act`: has a task carried out on entities and programs.

use chrono::TimeDelta;
use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::commands::talk::{More, Stands, Talk, has_person, line};
use crate::duration::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;
use crate::session::Missing;
use crate::settings::Settings;

/// What is to be done.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is to be done, or the answer to what the session asks: `lmlang act "AddEdge Ticket:T-1 DEPENDS_ON Milestone:M-1"`.
    task: String,
    /// The session that it belongs to: what was said before is known there [default: a new one].
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What a person is asked about before it happens.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    confirm: Confirm,
    /// How long the run that it begins may take, with all that it waits for, such as `90m`, `2h` or `7d` [default: what its session
    /// says, or for ever].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    deadline: Option<TimeDelta>,
}

/// What a person is asked about before it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Confirm {
    /// Deletions.
    #[default]
    Deletes,
    /// Every change.
    Changes,
    /// Nothing.
    Nothing,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    with_client(settings, Missing::Make, async |client| {
        let mut talk = Talk::new(client, "act", args.session.clone());
        let confirm = format!("{:?}", args.confirm).to_lowercase();
        let mut said: Map<String, Value> = Map::from_iter([
            ("text".to_owned(), json!(args.task)),
            ("options".to_owned(), json!({ "confirm": confirm })),
            ("deadlineMs".to_owned(), json!(args.deadline.map(|deadline| deadline.num_milliseconds()))),
        ]);
        if let Some(asked) = talk.asked().await? {
            said = Stands::answer(&asked, &args.task);
        }
        loop {
            let stands = talk.say(said).await?;
            let more = if has_person() { More::Yes } else { More::No };
            let exit = stands.print(output, more)?;
            let Some(asked) = stands.interrupt.filter(|_| has_person()) else { return Ok(exit) };
            let Some(line) = line()? else { return Ok(exit) };
            said = Stands::answer(&asked, &line);
        }
    })
}

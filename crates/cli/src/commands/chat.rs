//! `lmlang chat`: a conversation about a pipeline, line by line.

use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::commands::flow::print_trace;
use crate::commands::talk::{Asked, More, Stands, Talk, has_person, line};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::Missing;
use crate::settings::Settings;

/// What is talked about.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session that is gone on with [default: a new one].
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What the conversation is with.
    #[arg(long, value_enum, value_name = "FLOW", default_value_t)]
    flow: Flow,
}

/// A flow that holds conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Flow {
    /// Pipelines of a stream Manager.
    #[default]
    Draft,
    /// Tasks on entities.
    Act,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let flow = match args.flow {
        Flow::Draft => "draft",
        Flow::Act => "act",
    };
    with_client(settings, Missing::Make, async |client| {
        let mut talk = Talk::new(client, flow, args.session.clone());
        let mut asked: Option<Asked> = talk.asked().await?;
        let (mut run, mut exit): (Option<String>, Exit) = (None, Exit::Success);
        if let Some(asked) = &asked {
            say(&asked.question);
        }
        if has_person() {
            say("a line is a turn; `/trace` shows what happened, `/quit` ends");
        }
        while let Some(line) = line()? {
            match (line.trim(), &run) {
                // An empty line says no to a question of yes or no.
                ("", _) if asked.as_ref().is_none_or(|asked| asked.kind != "need_confirm") => {}
                ("/quit", _) => break,
                ("/trace", Some(run)) => print_trace(client, run, output).await?,
                ("/trace", None) => say("nothing has happened yet"),
                (text, _) => {
                    let said: Map<String, Value> = match &asked {
                        Some(asked) => Stands::answer(asked, text),
                        None => Map::from_iter([("text".to_owned(), json!(text))]),
                    };
                    let stands = talk.say(said).await?;
                    exit = stands.print(output, More::Yes)?;
                    (run, asked) = (Some(stands.run), stands.interrupt);
                }
            }
        }
        Ok(exit)
    })
}

//! `lmlang approve` and `lmlang reject`: yes and no to the question of a run.

use serde_json::json;

use crate::client::with_client;
use crate::commands::flow::answering::{decide, question_of};
use crate::commands::flow::patience;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;
use crate::session::Missing;
use crate::settings::Settings;

/// What is agreed to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question, as `lmlang flow questions` lists it, or a run that asks one thing, also `last` [default: the only one
    /// that stands].
    question: Option<String>,
    /// Why, for the record.
    #[arg(long, short)]
    message: Option<String>,
}

/// What is refused.
#[derive(Debug, clap::Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    of: Args,
    /// What should be done instead: the run asks for that.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
}

pub(crate) fn approve(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    with_client(settings, Missing::Refuse, async |client| {
        let question = question_of(client, args.question.as_deref()).await?;
        let yes = question.decided(json!({ "confirm": true }))?;
        decide(client, &question, yes, args.message.as_deref(), patience(settings), output).await
    })
}

pub(crate) fn reject(args: &RejectArgs, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut answer = json!({ "confirm": false });
    if let Some(feedback) = &args.feedback {
        answer["feedback"] = json!(feedback);
    }
    with_client(settings, Missing::Refuse, async |client| {
        let question = question_of(client, args.of.question.as_deref()).await?;
        let answer = question.decided(answer)?;
        decide(client, &question, answer, args.of.message.as_deref(), patience(settings), output).await
    })
}

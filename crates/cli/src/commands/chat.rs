//! `lmlang chat`: a conversation about a pipeline, a program or tasks, line by line.

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
    /// What the conversation is with [default: draft].
    #[arg(long, value_enum, value_name = "FLOW")]
    flow: Option<Flow>,
    /// The program that is to be changed, by name or id: the conversation is with `edit`.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "flow")]
    program: Option<String>,
}

/// A flow that holds conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Flow {
    /// Pipelines of a stream Manager.
    Draft,
    /// Changes of a program.
    Edit,
    /// Tasks on entities and programs.
    Act,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let flow = match (args.flow, &args.program) {
        (Some(Flow::Edit), _) | (None, Some(_)) => "edit",
        (Some(Flow::Draft), _) | (None, None) => "draft",
        (Some(Flow::Act), _) => "act",
    };
    let begins = |text: &str| {
        let options =
            args.program.as_ref().map(|program| ("options".to_owned(), json!({ "program": program })));
        Map::from_iter([("text".to_owned(), json!(text))].into_iter().chain(options))
    };
    with_client(settings, Missing::Make, async |client| {
        let mut talk = Talk::new(client, flow, args.session.clone());
        let mut asked: Option<Asked> = talk.asked().await?;
        let (mut run, mut exit): (Option<String>, Exit) = (None, Exit::Success);
        if let Some(asked) = &asked {
            say(&asked.question);
        }
        if has_person() {
            let turn = if flow == "edit" { "a line, or several until braces are closed," } else { "a line" };
            say(format_args!("{turn} is a turn; `/trace` shows what happened, `/quit` ends"));
        }
        while let Some(line) = turn(flow)? {
            match (line.trim(), &run) {
                // An empty line says no to a question of yes or no.
                ("", _) if asked.as_ref().is_none_or(|asked| asked.kind != "need_confirm") => {}
                ("/quit", _) => break,
                ("/trace", Some(run)) => print_trace(client, run, output).await?,
                ("/trace", None) => say("nothing has happened yet"),
                (text, _) => {
                    let said: Map<String, Value> = match &asked {
                        Some(asked) => Stands::answer(asked, text),
                        None => begins(text),
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

/// What is said at once: a line. With texts of programs, several, for as long as braces are open, or a patch to the empty line behind it.
fn turn(flow: &str) -> Result<Option<String>, Error> {
    let Some(mut text) = line()? else { return Ok(None) };
    while flow == "edit"
        && is_open(&text)
        && let Some(next) = line()?
        && next.trim() != "/quit"
    {
        text.push('\n');
        text.push_str(&next);
    }
    Ok(Some(text))
}

/// Whether a text of a program goes on in the next line.
fn is_open(text: &str) -> bool {
    if text.starts_with("--- ") {
        return !text.ends_with('\n');
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    // Words are no text of a program, whatever they quote.
    if !["pub", "func", "type", "module", "global"].contains(&first) {
        return false;
    }
    let count = |brace: char| text.matches(brace).count();
    count('{') > count('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_program_goes_on_until_it_is_whole() {
        for (text, open) in [
            ("make it faster", false),
            ("why does main::f print `{`?", false),
            ("pub func four () -> (i64) {", true),
            ("pub func four () -> (i64) {\n  return 4\n}", false),
            ("--- a/m::f", true),
            ("--- a/m::f\n+++ b/m::f\n@@\n-  a\n+  b", true),
            ("--- a/m::f\n+++ b/m::f\n@@\n-  a\n+  b\n", false),
        ] {
            assert_eq!(is_open(text), open, "{text}");
        }
    }
}

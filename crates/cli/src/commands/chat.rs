//! `lmlang chat`: a conversation about a pipeline, a program or tasks, or with a flow of one's own, line by line.

use chrono::TimeDelta;
use lmlang_agents::edit::BEGINNINGS;
use serde_json::{Map, Value, json};

use crate::client::{Client, with_client};
use crate::commands::flow::{as_taken, print_trace};
use crate::commands::talk::{Asked, More, Stands, Talk, has_person, line};
use crate::duration::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::fields;
use crate::output::{Output, say};
use crate::session::Missing;
use crate::settings::Settings;

/// What is talked about.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session that is gone on with [default: a new one].
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The flow that the conversation is with: `draft` for pipelines of a stream Manager, `edit` for changes of a program, `act` for
    /// tasks on entities and programs, or one that is declared [default: that of the session, or draft].
    #[arg(long, value_name = "FLOW")]
    flow: Option<String>,
    /// The program that is to be changed, by name or id: the conversation is with `edit`.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["flow", "session"])]
    program: Option<String>,
    /// How long each run of a new session may take, with all that it waits for, such as `90m`, `2h` or `7d` [default: for ever].
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "session")]
    deadline: Option<TimeDelta>,
    /// What its runs begin with besides the words of a turn: `name=value`, as `lmlang flow start` takes it.
    #[arg(value_name = "NAME=VALUE")]
    fields: Vec<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut given = fields::object(&args.fields, None)?;
    if let Some(program) = &args.program {
        given["program"] = json!(program);
    }
    with_client(settings, Missing::Make, async |client| {
        let flow = flow_of(client, args).await?;
        as_taken(client, &flow, &args.fields, &mut given).await?;
        let options = given.as_object().filter(|options| !options.is_empty());
        let begins = |text: &str| {
            let options = options.map(|options| ("options".to_owned(), json!(options)));
            Map::from_iter([("text".to_owned(), json!(text))].into_iter().chain(options))
        };
        let mut talk = Talk::new(client, &flow, args.session.clone()).within(args.deadline);
        let mut asked: Option<Asked> = talk.asked().await?;
        let (mut run, mut exit): (Option<String>, Exit) = (None, Exit::Success);
        if let Some(asked) = &asked {
            show_change(&talk, asked).await;
            say(&asked.question);
        }
        if has_person() {
            let turn = if flow == "edit" { "a line, or a text of a program," } else { "a line" };
            say(format_args!("{turn} is a turn; `/trace` shows what happened, `/quit` ends"));
        }
        while let Some(line) = turn(&flow)? {
            match (line.trim(), &run) {
                // An empty line says no to a question of yes or no; but one in a text that is pasted says nothing.
                ("", _)
                    if flow == "edit" || asked.as_ref().is_none_or(|asked| asked.kind != "need_confirm") => {}
                ("/quit", _) => break,
                ("/trace", Some(run)) => print_trace(client, run, output).await?,
                ("/trace", None) => say("nothing has happened yet"),
                (text, _) => {
                    let said: Map<String, Value> = match &asked {
                        Some(asked) => Stands::answer(asked, text),
                        None => begins(text),
                    };
                    let is_new = run.is_none() && args.session.is_none();
                    match talk.say(said).await {
                        Ok(stands) => {
                            if is_new && has_person() {
                                say(format_args!("`--session {}` goes on with this later", stands.session));
                            }
                            if let Some(asked) = &stands.interrupt {
                                show_change(&talk, asked).await;
                            }
                            exit = stands.print(output, More::Yes)?;
                            (run, asked) = (Some(stands.run), stands.interrupt);
                        }
                        // What does not fit is said again; or somebody else has answered.
                        Err(error) if error.code() == "BAD_REQUEST" && asked.is_some() => {
                            say(&error);
                            asked = talk.asked().await?;
                            if let Some(asked) = &asked {
                                say(&asked.question);
                            }
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(exit)
    })
}

/// The flow that is talked with: that of the session, if one is gone on with.
async fn flow_of(client: &Client, args: &Args) -> Result<String, Error> {
    match (&args.flow, &args.program, &args.session) {
        (Some(flow), _, _) => Ok(flow.clone()),
        (None, Some(_), _) => Ok("edit".to_owned()),
        (None, None, Some(session)) => Talk::workflow(client, session).await,
        (None, None, None) => Ok("draft".to_owned()),
    }
}

/// Shows what a yes would change.
async fn show_change(talk: &Talk<'_>, asked: &Asked) {
    if asked.kind == "need_confirm"
        && let Some(diff) = talk.diff(asked).await
    {
        say(diff.trim_end());
    }
}

/// What is said at once: a line. With texts of programs, several, for as long as braces are open, or a patch to the empty line behind it.
fn turn(flow: &str) -> Result<Option<String>, Error> {
    let Some(mut text) = line()? else { return Ok(None) };
    while flow == "edit"
        && is_open(&text)
        && let Some(next) = line()?
    {
        if next.trim() == "/quit" {
            return Ok(None);
        }
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
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty());
    // Words are no text of a program, whatever they quote; a comment is of what comes after it.
    let Some(first) = lines.clone().find(|line| !line.starts_with(';')) else {
        return text.trim_start().starts_with(';');
    };
    BEGINNINGS.contains(&first.split_whitespace().next().unwrap_or_default())
        && lines.map(opens).sum::<i64>() > 0
}

/// How many braces a line opens that it does not close, but for those in strings and comments.
fn opens(line: &str) -> i64 {
    let (mut open, mut in_string, mut escaped) = (0, false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            ';' => break,
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
    }
    open
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
            ("func b () -> (i64) {\n  ; a } brace", true),
            ("func b () -> (i64) {\n  require \"a \\\" } is\" = true", true),
            ("; Twice.", true),
            ("; Twice.\nfunc twice () {", true),
            ("; Twice.\nfunc twice () {}", false),
            ("pub func four () -> (i64) {\n  return 4\n}", false),
            ("--- a/m::f", true),
            ("--- a/m::f\n+++ b/m::f\n@@\n-  a\n+  b", true),
            ("--- a/m::f\n+++ b/m::f\n@@\n-  a\n+  b\n", false),
        ] {
            assert_eq!(is_open(text), open, "{text}");
        }
    }
}

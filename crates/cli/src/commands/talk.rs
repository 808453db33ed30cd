//! Turns of a conversation on the command line: what is said, what is asked, and what came of it.

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::client::Client;
use crate::commands::flow::answering::confirmed;
use crate::commands::listening::Listening;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};

/// How long a run that goes on is left alone before it is looked at again.
const PAUSE: Duration = Duration::from_millis(250);

/// Characters of a task of which a title is made: the server cuts it shorter, once it has hidden what is secret in it.
const TITLE: usize = 8_000;

const BEGIN: &str =
    "mutation($input: CreateSessionInput!) { createSession(input: $input) { session { id } } }";

const TURN: &str = "mutation($input: TurnInput!) { turn(input: $input) {
  session { id } run { id status error } done view
  interrupt { id type question choices }
} }";

const RUN: &str = "query($id: ID!) { run(id: $id) { id status error } view: runState(runId: $id) }";

const DIFF: &str = "query($id: ID!) { node(id: $id) { ... on Interrupt { diff { text } } } }";

const WORKFLOW: &str = "query($id: ID!) { session(id: $id) { workflow } }";

const OPEN: &str = "query($id: ID!) { session(id: $id) { runs(first: 5) { nodes {
  interrupts { id type question choices status }
} } } }";

/// A conversation.
pub(crate) struct Talk<'a> {
    client: &'a Client,
    flow: String,
    session: Option<String>,
    /// How long its runs may take, in milliseconds, if it is to begin.
    deadline: Option<i64>,
}

/// How a conversation stands after a turn.
pub(crate) struct Stands {
    flow: String,
    pub(crate) session: String,
    pub(crate) run: String,
    pub(crate) status: String,
    pub(crate) error: Value,
    pub(crate) interrupt: Option<Asked>,
    pub(crate) view: Value,
}

/// Whether whoever talks here will answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Yes,
    No,
}

/// What is asked.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) question: String,
    pub(crate) choices: Option<Vec<String>>,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(client: &'a Client, flow: &str, session: Option<String>) -> Talk<'a> {
        Talk { client, flow: flow.to_owned(), session, deadline: None }
    }

    /// A conversation each of whose runs may take so long, if it is to begin.
    pub(crate) fn within(self, deadline: Option<TimeDelta>) -> Talk<'a> {
        Talk { deadline: deadline.map(|deadline| deadline.num_milliseconds()), ..self }
    }

    /// What the session asks already.
    pub(crate) async fn asked(&self) -> Result<Option<Asked>, Error> {
        match &self.session {
            Some(session) => self.asked_in(session).await,
            None => Ok(None),
        }
    }

    async fn asked_in(&self, session: &str) -> Result<Option<Asked>, Error> {
        let found: Value = self.client.ask(OPEN, &json!({ "id": session })).await?;
        let runs = found["session"]["runs"]["nodes"].as_array().into_iter().flatten();
        let asked = runs.flat_map(|run| run["interrupts"].as_array().into_iter().flatten());
        let mut open = asked.filter(|of| of["status"] == "OPEN");
        Ok(open.next().and_then(|of| serde_json::from_value(of.clone()).ok()))
    }

    /// What agreeing to a question would change of a program, as a diff of texts.
    pub(crate) async fn diff(&self, asked: &Asked) -> Option<String> {
        // A difference that is too long for a text is looked at elsewhere.
        let found: Value = self.client.ask(DIFF, &json!({ "id": asked.id })).await.ok()?;
        found["node"]["diff"]["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The flow of a session.
    pub(crate) async fn workflow(client: &Client, session: &str) -> Result<String, Error> {
        let found: Value = client.ask(WORKFLOW, &json!({ "id": session })).await?;
        Ok(found["session"]["workflow"].as_str().unwrap_or_default().to_owned())
    }

    /// Begins a session: there is nothing to listen to before. One of a token that is limited to programs begins with its first
    /// run.
    async fn begun(&self, said: &Map<String, Value>) -> Result<Option<String>, Error> {
        let title: Option<String> =
            said.get("text").and_then(Value::as_str).map(|text| text.chars().take(TITLE).collect());
        let input = json!({
            "workflow": self.flow, "title": title, "deadlineMs": self.deadline, "idempotencyKey": Uuid::new_v4(),
        });
        let made: Value = match self.client.ask(BEGIN, &json!({ "input": input })).await {
            Err(refused) if refused.code() == "FORBIDDEN" => return Ok(None),
            made => made?,
        };
        Ok(made["createSession"]["session"]["id"].as_str().map(str::to_owned))
    }

    /// Says something, and waits until the run asks or ends.
    pub(crate) async fn say(&mut self, mut said: Map<String, Value>) -> Result<Stands, Error> {
        if self.session.is_none() {
            self.session = self.begun(&said).await?;
        }
        said.insert("sessionId".to_owned(), json!(self.session));
        said.insert("workflow".to_owned(), json!(self.flow));
        said.insert("idempotencyKey".to_owned(), json!(Uuid::new_v4()));
        let Some(session) = &self.session else {
            said.insert("sessionDeadlineMs".to_owned(), json!(self.deadline));
            let stands = self.turned(said).await?;
            self.session = Some(stands.session.clone());
            return Ok(stands);
        };
        let listening = Listening::to(self.client, session).await;
        listening.during(self.turned(said)).await
    }

    /// Takes a turn, and waits until its run asks or ends, however long that takes.
    async fn turned(&self, said: Map<String, Value>) -> Result<Stands, Error> {
        let answer: Value = self.client.ask(TURN, &json!({ "input": said })).await?;
        let turn = &answer["turn"];
        let mut stands = Stands {
            flow: self.flow.clone(),
            session: turn["session"]["id"].as_str().unwrap_or_default().to_owned(),
            run: turn["run"]["id"].as_str().unwrap_or_default().to_owned(),
            status: turn["run"]["status"].as_str().unwrap_or_default().to_owned(),
            error: turn["run"]["error"].clone(),
            interrupt: serde_json::from_value(turn["interrupt"].clone()).ok(),
            view: turn["view"].clone(),
        };
        // Where nothing is asked it waits for another run, which does something or asks.
        while stands.status == "RUNNING" || stands.status == "WAITING" && stands.interrupt.is_none() {
            tokio::time::sleep(PAUSE).await;
            let found: Value = self.client.ask(RUN, &json!({ "id": stands.run })).await?;
            stands.status = found["run"]["status"].as_str().unwrap_or_default().to_owned();
            stands.error = found["run"]["error"].clone();
            stands.view = found["view"].clone();
            stands.interrupt = self.asked_in(&stands.session).await?;
        }
        Ok(stands)
    }
}

impl Stands {
    pub(crate) fn json(&self) -> Value {
        json!({
            "sessionId": self.session, "runId": self.run, "status": self.status, "error": self.error,
            "interrupt": self.interrupt.as_ref().map(|of| json!({
                "id": of.id, "type": of.kind, "question": of.question, "choices": of.choices,
            })),
            "view": self.view,
        })
    }

    /// Prints how the conversation stands; what is asked goes to whoever watches.
    pub(crate) fn print(&self, output: Output, more: More) -> Result<Exit, Error> {
        output.data(&self.json(), || self.text())?;
        if self.view["outcome"] == "listed" && self.view["streams"].as_array().is_some_and(Vec::is_empty) {
            say("there are no streams");
        }
        if let Some(asked) = &self.interrupt {
            say(&asked.question);
            for (choice, number) in asked.choices.iter().flatten().zip(1..) {
                say(format_args!("  {number}. {choice}"));
            }
            if more == More::No {
                let how = match asked.kind.as_str() {
                    "need_confirm" => format!("`lmlang approve {0}`, `lmlang reject {0}`", asked.id),
                    _ => format!("`lmlang {} --session {} ..`", self.flow, self.session),
                };
                say(format_args!("answer it with {how}"));
            }
            return Ok(Exit::Approval);
        }
        if self.status == "FAILED" {
            let word = |field: &str| self.error[field].as_str().unwrap_or_default();
            say(format_args!("error: {} ({})", word("message"), word("code")));
            return Ok(Exit::Failure);
        }
        Ok(Exit::Success)
    }

    /// What a run came to, for people: what it says; of an edit, what became of it; of a draft, the streams that it lists, or the
    /// pipeline that it hands out; of a flow that is declared, what its nodes have said.
    fn text(&self) -> String {
        let view = &self.view;
        if let Some(text) = view["answer"]["text"].as_str() {
            return format!("{text}\n");
        }
        if self.interrupt.is_some() {
            return String::new();
        }
        if self.flow == "edit" {
            let outcome = view["outcome"].as_str().unwrap_or("nothing was changed");
            let revision = view["revision"].as_u64().map(|number| format!(" as r{number}"));
            return format!("{outcome}{}\n", revision.unwrap_or_default());
        }
        if !["draft", "act"].contains(&self.flow.as_str()) {
            let progress = view["progress"].as_array().into_iter().flatten();
            return progress.filter_map(|line| Some(format!("{}\n", line.as_str()?))).collect();
        }
        match (view["outcome"].as_str(), &view["pipeline"]) {
            (Some("listed"), _) => {
                let streams = view["streams"].as_array().into_iter().flatten();
                streams.filter_map(|stream| Some(format!("{}\n", stream["name"].as_str()?))).collect()
            }
            (Some("described"), _) => {
                let columns = view["stream_schema"]["columns"].as_array().into_iter().flatten();
                let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                columns
                    .map(|column| format!("{} {}\n", word(&column["name"]), word(&column["data_type"])))
                    .collect()
            }
            (_, Value::Null) => String::new(),
            (_, pipeline) => {
                serde_json::to_string_pretty(pipeline).map_or_else(|_| String::new(), |text| text + "\n")
            }
        }
    }

    /// What a line of a person says to what is asked.
    pub(crate) fn answer(asked: &Asked, line: &str) -> Map<String, Value> {
        let line = line.trim();
        let answer = match asked.kind.as_str() {
            "need_confirm" if line.is_empty() => json!({ "confirm": false }),
            "need_confirm" => confirmed(line),
            "need_clarification" => json!({ "text": line }),
            _ => {
                let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
                let choices = asked.choices.as_deref().unwrap_or_default();
                let numbered =
                    first.parse::<usize>().ok().and_then(|number| choices.get(number.wrapping_sub(1)));
                match numbered {
                    Some(choice) if rest.is_empty() => json!({ "choice": choice }),
                    Some(choice) => json!({ "choice": choice, "text": rest }),
                    None => json!({ "text": line }),
                }
            }
        };
        let mut said = match answer {
            Value::Object(answer) => answer,
            _ => Map::new(),
        };
        // Somebody else may have answered, and the session ask something else by now.
        said.insert("interruptId".to_owned(), json!(asked.id));
        said
    }
}

/// Whether a person can be asked here.
pub(crate) fn has_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The next line of whoever talks; nothing at the end of the input.
pub(crate) fn line() -> Result<Option<String>, Error> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read.map_err(|source| Error::Io { what: "reading standard input", source })? {
        0 => Ok(None),
        _ => Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(view: Value) -> Stands {
        Stands {
            flow: "draft".to_owned(),
            session: "T-1".to_owned(),
            run: "R-1".to_owned(),
            status: "COMPLETED".to_owned(),
            error: Value::Null,
            interrupt: None,
            view,
        }
    }

    /// NL-68: people are shown the names of streams, a line each; programs get the list as the server has it.
    #[test]
    fn a_list_of_streams_is_lines_to_people_and_data_to_programs() {
        let streams = json!([{ "name": "orders", "shared": false }, { "name": "users", "shared": true }]);
        let listed = stands(json!({ "outcome": "listed", "streams": streams, "pipeline": null }));
        assert_eq!(listed.text(), "orders\nusers\n");
        assert_eq!(listed.json()["view"]["streams"], streams);
        let schema = json!({ "columns": [{ "name": "id", "data_type": "bigint" }] });
        let described =
            stands(json!({ "outcome": "described", "streams": streams, "stream_schema": schema }));
        assert_eq!(described.text(), "id bigint\n");
        let said = Stands { flow: "own".to_owned(), ..stands(json!({ "progress": ["one", "two"] })) };
        assert_eq!(said.text(), "one\ntwo\n");
    }

    fn check(kind: &str, choices: &[&str], line: &str, mut expect: Value) {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        let asked = Asked {
            id: "R-1/2".to_owned(),
            kind: kind.to_owned(),
            question: "What?".to_owned(),
            choices: Some(choices),
        };
        expect["interruptId"] = json!("R-1/2");
        assert_eq!(Value::Object(Stands::answer(&asked, line)), expect, "{kind}: {line}");
    }

    /// NL-37: where yes or no is expected, anything else is feedback.
    #[test]
    fn a_line_answers_what_is_asked() {
        check("need_confirm", &[], "Yes", json!({ "confirm": true }));
        check("need_confirm", &[], "false", json!({ "confirm": false }));
        check("need_confirm", &[], "", json!({ "confirm": false }));
        check("need_confirm", &[], "by user", json!({ "confirm": false, "feedback": "by user" }));
        check("need_clarification", &[], " ten seconds ", json!({ "text": "ten seconds" }));
        check("need_choice", &["orders", "users"], "2", json!({ "choice": "users" }));
        check(
            "need_choice",
            &["orders", "users"],
            "1 by day",
            json!({ "choice": "orders", "text": "by day" }),
        );
        check("need_choice", &["orders", "users"], "3", json!({ "text": "3" }));
    }
}

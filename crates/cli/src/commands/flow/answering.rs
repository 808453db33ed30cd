//! Answers to what runs ask: which question is meant, what an answer to it is, and what becomes of it.

use serde_json::{Value, json};

use crate::client::Client;
use crate::commands::flow::shown::Question;
use crate::commands::flow::{QUESTIONS, Questions, find, id_of, wait_for};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;

const ANSWER: &str =
    "mutation($input: AnswerInterruptInput!) { answered: answerInterrupt(input: $input) { outcome {
  __typename
  ... on Answered { run { id status } }
  ... on AlreadyAnswered { decision { actor { name } answer at } }
  ... on StaleInterrupt { reason }
} } }";

/// A question that is answered.
#[derive(Debug)]
pub(crate) struct Asked {
    id: String,
    kind: String,
    choices: Vec<String>,
}

impl From<Question> for Asked {
    fn from(Question { id, kind, choices, .. }: Question) -> Asked {
        Asked { id, kind, choices: choices.unwrap_or_default() }
    }
}

impl Asked {
    /// What words answer to it.
    pub(super) fn answered_by(&self, words: &str) -> Value {
        match self.kind.as_str() {
            "need_clarification" => json!({ "text": words }),
            "need_confirm" => confirmed(words),
            _ => json!({ "choice": words }),
        }
    }

    /// Yes or no with what else is said, to a question that takes that.
    pub(crate) fn decided(&self, answer: Value) -> Result<Value, Error> {
        if self.kind == "need_confirm" {
            return Ok(answer);
        }
        let choices: Vec<String> = self.choices.iter().map(|choice| format!("`{choice}`")).collect();
        let takes = if choices.is_empty() { "words".to_owned() } else { choices.join(", ") };
        let kind = &self.kind;
        Err(Error::Input(format!("yes or no does not answer `{kind}`: `lmlang flow answer` takes {takes}")))
    }
}

/// What words say where yes or no is expected: all others say what is to be different.
pub(crate) fn confirmed(words: &str) -> Value {
    match words.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => json!({ "confirm": true }),
        "n" | "no" | "false" => json!({ "confirm": false }),
        _ => json!({ "confirm": false, "feedback": words }),
    }
}

/// The question that a caller names: by its id, or by that of the only run that asks nothing else, also as `last`; without a name
/// the only one that stands.
pub(crate) async fn question_of(client: &Client, given: Option<&str>) -> Result<Asked, Error> {
    let Some(given) = given else {
        let (open, _) = client.list(QUESTIONS, json!({}), 2, |answer: Questions| answer.interrupts).await?;
        let open: Result<Vec<Question>, _> = open.into_iter().map(serde_json::from_value).collect();
        return only(open.map_err(Error::Answer)?, "no question stands");
    };
    // A question is called after its run.
    let (run, index) = given.rsplit_once('/').map_or((given, None), |(run, index)| (run, Some(index)));
    let run = find(client, &id_of(client, run).await?).await?;
    match index {
        Some(index) => {
            let id = format!("{}/{index}", run.id);
            let asked = run.interrupts.into_iter().find(|of| of.id == id);
            asked
                .map(Asked::from)
                .ok_or_else(|| Error::not_found(format!("there is no question `{id}`"), Vec::new()))
        }
        None => {
            let open = run.interrupts.into_iter().filter(|of| of.status == "OPEN").collect();
            only(open, &format!("`{}` asks nothing", run.id))
        }
    }
}

/// The only one of the questions that stand.
fn only(mut open: Vec<Question>, none: &str) -> Result<Asked, Error> {
    match (open.pop(), open.is_empty()) {
        (Some(only), true) => Ok(only.into()),
        (Some(_), false) => {
            Err(Error::Input("several questions stand: `lmlang flow questions` lists them".to_owned()))
        }
        (None, _) => Err(Error::not_found(none.to_owned(), Vec::new())),
    }
}

/// Answers a question, and says what became of the answer.
pub(crate) async fn decide(
    client: &Client,
    asked: &Asked,
    answer: Value,
    reason: Option<&str>,
    seconds: u64,
    output: Output,
) -> Result<Exit, Error> {
    let question = asked.id.as_str();
    let run = question.rsplit_once('/').map_or(question, |(run, _)| run);
    let told = find(client, run).await?.progress.len();
    let input = json!({ "interruptId": question, "answer": answer, "reason": reason });
    let answered: Value = client.change(ANSWER, input, "lmlang flow questions").await?;
    let outcome = &answered["answered"]["outcome"];
    match outcome["__typename"].as_str() {
        Some("Answered") => wait_for(client, run, told, seconds, output).await,
        Some("AlreadyAnswered") => {
            let decision = &outcome["decision"];
            let by = decision["actor"]["name"].as_str().unwrap_or_default();
            let message = format!("`{by}` has answered it: {}", decision["answer"]);
            Err(Error::Refused {
                code: "ALREADY_ANSWERED".to_owned(),
                message,
                candidates: Vec::new(),
                data: Value::Null,
            })
        }
        _ => {
            let message = outcome["reason"].as_str().unwrap_or("it does not stand any more").to_owned();
            Err(Error::Refused {
                code: "STALE_INTERRUPT".to_owned(),
                message,
                candidates: Vec::new(),
                data: Value::Null,
            })
        }
    }
}

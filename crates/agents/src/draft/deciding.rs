//! Nodes that follow from the state alone: questions, what is done about their answers, and the end.

use lmlang_flow::{Ask, AskKind, State, Step, Update};
use serde_json::{Value, json};

use crate::draft::definition::no_validation;
use crate::draft::{catalog, sql, told, with};
use crate::model::shortened;
use crate::sentence::ended;

/// Most characters of a name that is told of a stream that there is not.
const NAME: usize = 80;

pub(super) fn ask_user(state: &State) -> Step {
    let question = state.get("intent")["question"].as_str().unwrap_or("What is wanted?").to_owned();
    asks(AskKind::NeedClarification, question, Vec::new(), "route_intent", Update::none())
}

pub(super) fn list_streams(state: &State) -> Step {
    let note = state
        .get("notes")
        .as_array()
        .and_then(|notes| notes.last())
        .and_then(Value::as_str)
        .unwrap_or_default();
    let history = told(state.get("history"), "assistant", note);
    Step::end(Update::none().with("outcome", "listed").with("history", history))
}

/// Asks which stream it is about.
pub(super) fn need_stream(state: &State, then: &str) -> Step {
    let names: Vec<String> = catalog(state).streams.into_keys().collect();
    let unknown = state.get("intent")["unknown_stream"].as_str();
    let unknown = unknown.map(|name| format!("There is no stream `{}`. ", shortened(name, NAME)));
    let (kind, question) = match names.is_empty() {
        true => (AskKind::NeedClarification, "There are no streams: make one at the Manager, then say so."),
        false => (AskKind::NeedChoice, "Which stream is it about?"),
    };
    let question = format!("{}{question}", unknown.unwrap_or_default());
    // Where there are none, they are looked for again.
    let then = if names.is_empty() { "init_session" } else { then };
    asks(kind, question, names, then, Update::none())
}

pub(super) fn confirm(state: &State) -> Step {
    let question = format!(
        "Hand out this pipeline? {}\n{}",
        sql(state),
        state.get("explain")["pretty"].as_str().unwrap_or_default().trim_end(),
    );
    asks(AskKind::NeedConfirm, question, Vec::new(), "handle_confirm", Update::none())
}

pub(super) fn handle_confirm(state: &State) -> Step {
    let reply = state.get("reply");
    let agreed = reply["confirm"] == true;
    let words = reply["feedback"].as_str().filter(|said| !said.trim().is_empty());
    let feedback = words.filter(|_| !agreed);
    let input = state.get("user_input");
    let input = with(&with(input, "confirm", json!(agreed)), "feedback", json!(feedback));
    let mut update =
        Update::none().with("user_input", input).with("reply", Value::Null).with("interrupt", Value::Null);
    if let Some(said) = words {
        // Beside a yes as well: it holds from the next draft on.
        update = update.with("history", told(state.get("history"), "user", said));
    }
    match feedback {
        // What a user wants changed spends no attempts.
        Some(_) => {
            Step::next("revise_sql_json", update.with("validation", no_validation()).with("mended", 0))
        }
        None => Step::next("emit", update.with("outcome", if agreed { "confirmed" } else { "rejected" })),
    }
}

pub(super) fn ask_for_help(state: &State) -> Step {
    let error = state.get("validation")["error"].as_str().unwrap_or("the draft does not work").to_owned();
    let question = format!("The draft does not work: {} What should be different?", ended(&error));
    // The user's word gives the machine new attempts.
    let update =
        Update::none().with("mended", 0).with("validation", with(&no_validation(), "error", json!(error)));
    asks(AskKind::NeedClarification, question, Vec::new(), "revise_sql_json", update)
}

pub(super) fn emit(state: &State) -> Step {
    let confirmed = state.get("outcome") == &json!("confirmed");
    let pipeline =
        if confirmed { state.get("explain")["pipeline_request_json"].clone() } else { Value::Null };
    let said = if confirmed { "handed the pipeline out" } else { "it was not wanted" };
    let history = told(state.get("history"), "assistant", &format!("{said}: {}", sql(state)));
    Step::end(
        Update::none().with("pipeline", pipeline).with("history", history).with("progress", json!([said])),
    )
}

/// Asks, and says so in the state.
pub(super) fn asks(
    kind: AskKind,
    question: String,
    choices: Vec<String>,
    then: &str,
    update: Update,
) -> Step {
    let named = match kind {
        AskKind::NeedChoice => "need_stream",
        other => other.name(),
    };
    let update = update.with("interrupt", json!({ "type": named, "question": question, "choices": choices }));
    let ask = Ask {
        kind,
        question,
        choices,
        expires: None,
        otherwise: None,
        into: Some("reply".to_owned()),
        subject: None,
    };
    Step::ask(ask, then, update)
}

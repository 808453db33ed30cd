//! What a run tells of itself: what was said, found and changed, and in the end all of that in words.

use lmlang_entities::Counts;
use lmlang_flow::{State, Step, Update};
use serde_json::{Value, json};

use crate::act::evaluating::counts_of;
use crate::tools::graph::{found_in_words, in_words};

/// Most characters of a message that is kept of a conversation.
const MESSAGE: usize = 4_000;
/// Changes of programs that the answer of a run tells.
const PROGRAMS: usize = 20;
/// Bytes of what a run has found: each step that finds something stores all of it again.
const FOUND_BYTES: usize = 64 << 10;

/// Says what was done, and ends the run.
pub(super) fn answer(state: &State) -> Step {
    let counts = changes(state);
    let outcome = state.get("outcome").as_str().unwrap_or("done");
    let touched = counts.created + counts.updated + counts.deleted;
    let mut said: Vec<String> = Vec::new();
    said.extend(state.get("artifacts")["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned));
    if said.is_empty() {
        let results = state.get("artifacts")["results"].as_array().map_or(&[][..], Vec::as_slice);
        if !results.is_empty() {
            said.push(results.iter().map(found_in_words).collect::<Vec<_>>().join("\n\n"));
        } else if counts != Counts::default() && touched == 0 {
            said.push("Nothing had to be changed.".to_owned());
        }
    }
    match outcome {
        "stopped" => said.push("Stopped.".to_owned()),
        "rejected" => said.push("It was not agreed to, and not done.".to_owned()),
        _ => {}
    }
    let programs = strings(&state.get("artifacts")["programs"]);
    if counts != Counts::default() || (said.is_empty() && programs.is_empty()) {
        said.push(format!("Entities: {}.", in_words(counts)));
    }
    said.extend(programs.iter().map(|change| format!("Program {change}.")));
    let text = said.join("\n");
    let mut answer = json!({
        "text": text,
        "counts": {
            "created": counts.created, "updated": counts.updated,
            "deleted": counts.deleted, "unchanged": counts.unchanged,
        },
        "found": state.get("artifacts").get("found").cloned().unwrap_or_default(),
    });
    if !programs.is_empty() {
        answer["programs"] = json!(programs);
    }
    let update = Update::none()
        .with("answer", answer)
        .with("outcome", outcome)
        .with("messages", json!([message("agent", &text)]))
        .with("artifacts", json!({ "text": Value::Null }));
    Step::end(update)
}

/// What was found, with one more; of too much, that which was found last.
pub(super) fn results(state: &State, found: Value) -> Vec<Value> {
    let mut results = state.get("artifacts")["results"].as_array().cloned().unwrap_or_default();
    let size = |found: &Value| found.to_string().len();
    let mut bytes = size(&found) + results.iter().map(size).sum::<usize>();
    for earlier in &mut results {
        if bytes <= FOUND_BYTES {
            break;
        }
        bytes -= size(&*earlier);
        *earlier = json!({ "truncated": true });
    }
    results.push(found);
    results
}

/// What was changed of programs, with one more.
pub(super) fn appended(state: &State, said: &str) -> Vec<String> {
    let mut programs = strings(&state.get("artifacts")["programs"]);
    programs.push(said.to_owned());
    programs.drain(..programs.len().saturating_sub(PROGRAMS));
    programs
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What somebody says in a conversation, as it is kept.
pub(super) fn message(from: &str, text: &str) -> Value {
    json!({ "from": from, "text": crate::model::shortened(text, MESSAGE) })
}

/// What a run has changed so far.
pub(super) fn changes(state: &State) -> Counts {
    counts_of(&serde_json::from_value(state.get("changes").clone()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use lmlang_flow::Flow;

    use super::*;
    use crate::act::definition;

    #[test]
    fn of_too_much_that_was_found_the_newest_stays() {
        let flow = Flow::new(definition()).expect("the definition makes sense");
        let mut state = State::initial(&flow);
        for letter in ["a", "b", "c"] {
            let found = json!({ "text": letter.repeat(FOUND_BYTES / 3) });
            let artifacts = json!({ "results": results(&state, found) });
            state.apply(&flow, &Update::none().with("artifacts", artifacts)).expect("it fits");
        }
        let kept = results(&state, json!({ "text": "d" }));
        let words: Vec<String> = kept.iter().map(found_in_words).collect();
        assert_eq!(words[0], "and more");
        assert_eq!(words[1], "b".repeat(FOUND_BYTES / 3));
        assert_eq!(words[3], "d");
    }
}

//! How the end of a run is told: what it returned, or where it stopped and what was known there.

use serde_json::{Value, json};

use super::about::{counted, text, texts};
use crate::reply::{Item, Reply};

/// What is asked of a run that has ended.
pub(super) const RESULT: &str = "steps fuelUsed tier stdout stderr outcome {
  __typename
  ... on Returned { values }
  ... on Trapped { code message at { function node text step } stack { function node } nodeValues { node port value } }
  ... on ContractViolated { message at { function node text step } stack { function node } nodeValues { node port value } contract { ref message } }
  ... on LimitReached { limit message at { function node text step } stack { function node } nodeValues { node port value } }
  ... on ReachedHole { message at { function node text step } stack { function node } nodeValues { node port value } }
  ... on NotVerified { message function { path } }
  ... on Cancelled { at { function node text step } stack { function node } nodeValues { node port value } }
}";

/// Tells of a run that its time does not take to an end, by how it stands.
pub(super) fn out_of_time(reply: &mut Reply, simulation: &Value) {
    let steps = counted(&simulation["position"], "step", "steps");
    let place = &simulation["at"];
    let what = format!("limit time: the time is over after {steps}; raise timeout_ms, or ask for less");
    let mut data = json!({ "code": "limit_reached", "message": what });
    let mut told = what;
    if place.is_object() {
        data["function"] = place["function"].clone();
        data["node"] = place["node"].clone();
        told.push_str(&at(place));
    }
    reply.outcome = Some("limit_reached");
    reply.is_error = true;
    reply.count("steps", &simulation["position"]);
    reply.items.push(Item { text: told, cursor: None, data: Some(data) });
    reply.noun = "lines";
}

/// Where a run stands, or stopped.
fn at(place: &Value) -> String {
    let text = text(place, "text").trim_end();
    format!("\nat step {} in {} {text}", place["step"], place["function"].as_str().unwrap_or_default())
}

/// Tells how a run ended.
pub(super) fn tell(reply: &mut Reply, result: &Value) {
    reply.count("steps", &result["steps"]);
    reply.count("fuel", &result["fuelUsed"]);
    let outcome = &result["outcome"];
    let kind = text(outcome, "__typename");
    let (word, what) = match kind {
        "Returned" => ("returned", String::new()),
        "Trapped" => ("trapped", format!("trap {}: {}", text(outcome, "code"), text(outcome, "message"))),
        "ContractViolated" => (
            "contract_violated",
            format!(
                "contract {} does not hold: {}",
                text(&outcome["contract"], "ref"),
                text(outcome, "message")
            ),
        ),
        "LimitReached" => {
            ("limit_reached", format!("limit {}: {}", text(outcome, "limit"), text(outcome, "message")))
        }
        "ReachedHole" => ("reached_hole", format!("hole: {}", text(outcome, "message"))),
        "NotVerified" => (
            "not_verified",
            format!("{} may not run: {}", text(&outcome["function"], "path"), text(outcome, "message")),
        ),
        "Cancelled" => ("cancelled", "cancelled".to_owned()),
        _ => ("unknown", "the run has not ended".to_owned()),
    };
    reply.outcome = Some(word);
    if kind == "Returned" {
        let values = texts(&outcome["values"]);
        let told = if values.is_empty() { "nothing".to_owned() } else { values.join(", ") };
        reply.items.push(format!("returned {told}").into());
    } else {
        reply.is_error = true;
        let mut data = json!({ "code": word, "message": what });
        if let Some(code) = outcome["code"].as_str() {
            data["code"] = code.into();
        }
        let place = &outcome["at"];
        let mut told = what;
        if place.is_object() {
            data["function"] = place["function"].clone();
            data["node"] = place["node"].clone();
            told.push_str(&at(place));
        }
        reply.items.push(Item { text: told, cursor: None, data: Some(data) });
        let stack: Vec<String> = outcome["stack"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|frame| format!("{}@{}", text(frame, "function"), frame["node"].as_str().unwrap_or("end")))
            .collect();
        if stack.len() > 1 {
            let last = stack.len().saturating_sub(20);
            reply.items.push(format!("calls, the innermost last: {}", stack[last..].join(" > ")).into());
        }
        for value in outcome["nodeValues"].as_array().into_iter().flatten() {
            let port = value["port"].as_u64().filter(|port| *port > 0);
            let port = port.map(|port| format!(".{port}")).unwrap_or_default();
            reply.items.push(format!("{}{port} = {}", text(value, "node"), text(value, "value")).into());
        }
    }
    reply.say(format!("{}, {} fuel", counted(&result["steps"], "step", "steps"), result["fuelUsed"]));
    for stream in ["stdout", "stderr"] {
        if let Some(printed) = result[stream].as_str().filter(|printed| !printed.is_empty()) {
            reply.items.push(format!("{stream}:").into());
            reply.items.extend(printed.lines().map(Item::from));
        }
    }
    reply.noun = "lines";
}

//! Answers as the text that scenarios hold, and what holds for every answer.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use crate::server::Reply;

/// Codes that no request of a scenario may get: they mean a fault of the server.
const FAULTS: [&str; 3] = ["INTERNAL", "TIMEOUT", "STORAGE_UNAVAILABLE"];

/// No error repeats more of a request than this.
const LONGEST_ERROR: usize = 1_500;

/// Writes an answer: the status where it is of interest, a line or two for each error, the data.
pub(crate) fn reply(reply: &Reply, with_status: bool) -> String {
    let mut out = String::new();
    if with_status {
        writeln!(out, "status {}", reply.status).expect("a string takes everything");
    }
    let Ok(answer) = serde_json::from_slice::<Value>(&reply.body) else {
        return stable(&(out + &reply.text()));
    };
    // Fields are answered side by side, so their errors come in any order.
    let mut errors: Vec<&Value> = answer["errors"].as_array().into_iter().flatten().collect();
    errors.sort_by_key(|error| {
        let at = &error["locations"][0];
        (at["line"].as_u64(), at["column"].as_u64(), error["path"].to_string())
    });
    errors.into_iter().for_each(|error| out.push_str(&one_error(error)));
    if let Some(data) = answer.get("data") {
        out.push_str(&serde_json::to_string_pretty(data).expect("it was JSON"));
        out.push('\n');
    }
    stable(&out)
}

fn one_error(error: &Value) -> String {
    let extensions = &error["extensions"];
    let mut out = format!("error {}", extensions["code"].as_str().unwrap_or("without a code"));
    if let Some(path) = error["path"].as_array() {
        let path: Vec<String> = path.iter().map(plain).collect();
        write!(out, " at {}", path.join(".")).expect("a string takes everything");
    }
    let places = error["locations"].as_array().into_iter().flatten();
    let places: Vec<String> = places.map(|at| format!("{}:{}", at["line"], at["column"])).collect();
    if !places.is_empty() {
        write!(out, " ({})", places.join(", ")).expect("a string takes everything");
    }
    writeln!(out, ": {}", plain(&error["message"])).expect("a string takes everything");
    if let Some(data) = extensions.get("data") {
        writeln!(out, "  {data}").expect("a string takes everything");
    }
    out
}

fn plain(value: &Value) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    text.chars().map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() }).collect()
}

/// The text with what differs from run to run left out: ids.
fn stable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = from.find(|c: char| !(c.is_ascii_hexdigit() || c == '-')).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        // Those that a scenario makes up are of zeros.
        let id = word.len() == 36 && word.matches('-').count() == 4 && !word.starts_with("00000000");
        out.push_str(if id { "UUID" } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The first simulation that an answer names.
pub(crate) fn simulation(reply: &Reply) -> Option<String> {
    let body = std::str::from_utf8(&reply.body).ok()?;
    let at = body.find("\"S-")? + 1;
    body.get(at..at + 38).map(str::to_owned)
}

/// What holds for every answer, whatever was asked.
pub(crate) fn laws(reply: &Reply, limits: &BTreeSet<String>) -> Vec<String> {
    let mut broken = Vec::new();
    if reply.status >= 500 {
        broken.push(format!("status {}", reply.status));
    }
    let Ok(answer) = serde_json::from_slice::<Value>(&reply.body) else { return broken };
    for error in answer["errors"].as_array().into_iter().flatten() {
        let extensions = &error["extensions"];
        let code = extensions["code"].as_str().unwrap_or_default();
        if code.is_empty() || FAULTS.contains(&code) {
            broken.push(format!("an error of the server: {error}"));
        }
        if !extensions["requestId"].is_string() || !extensions["retriable"].is_boolean() {
            broken.push(format!("an error without its extensions: {error}"));
        }
        if error.to_string().len() > LONGEST_ERROR {
            broken.push(format!("an error of {} bytes", error.to_string().len()));
        }
        let which = &extensions["data"]["which"];
        if code == "LIMIT_EXCEEDED" && !which.as_str().is_some_and(|which| limits.contains(which)) {
            broken.push(format!("a limit that `serverInfo` does not list: {error}"));
        }
    }
    broken
}

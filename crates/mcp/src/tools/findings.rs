//! How findings, mistakes and conflicts are told: the code first, then where, what is wrong, and what would be right.

use serde_json::{Map, Value, json};

use super::about::{text, texts};
use crate::reply::Item;

/// What is asked of a finding.
pub(super) const DIAGNOSTIC: &str = "code severity incomplete message \
     details { function node region expectedType actualType } fixes { title edits }";

/// What is asked of a mistake in an edit.
pub(super) const EDIT_ERROR: &str = "editIndex path code message line column expected found candidates \
     details { function node region expectedType actualType }";

/// What is asked of a conflict.
pub(super) const CONFLICT: &str =
    "base { number } head { number } conflicts { ref kind message base ours theirs }";

/// A finding in a line, and below it the likeliest repair.
pub(super) fn diagnostic(found: &Value) -> String {
    let level = match (text(found, "severity"), found["incomplete"].as_bool()) {
        (_, Some(true)) => "incomplete",
        ("ERROR", _) => "error",
        _ => "warning",
    };
    let mut told = format!("{level} {}", text(found, "code"));
    place(&mut told, &found["details"]);
    told.push_str(&format!(": {}", text(found, "message")));
    types(&mut told, &found["details"]);
    if let Some(fix) = found["fixes"].get(0) {
        told.push_str(&format!("\n  fix: {}: {}", text(fix, "title"), fix["edits"]));
    }
    told
}

fn place(told: &mut String, details: &Value) {
    let known: Vec<&str> =
        ["function", "region", "node"].into_iter().filter_map(|name| details[name].as_str()).collect();
    if !known.is_empty() {
        told.push_str(&format!(" at {}", known.join(" ")));
    }
}

fn types(told: &mut String, details: &Value) {
    if let Some(expected) = details["expectedType"].as_str() {
        told.push_str(&format!("; expected type {expected}"));
    }
    if let Some(actual) = details["actualType"].as_str() {
        told.push_str(&format!("; found type {actual}"));
    }
}

/// How many there are, in words.
pub(crate) fn mistakes(count: usize) -> String {
    format!("{count} {}", if count == 1 { "mistake" } else { "mistakes" })
}

/// A mistake in an edit, as a line and as data.
pub(super) fn mistake(error: &Value) -> Item {
    let mut told = format!("error {}", text(error, "code"));
    let mut data = Map::new();
    data.insert("code".to_owned(), error["code"].clone());
    if let Some(index) = error["editIndex"].as_u64() {
        told.push_str(&format!(" edits[{index}]"));
        data.insert("edit_index".to_owned(), index.into());
    }
    let path = texts(&error["path"]);
    if !path.is_empty() {
        told.push_str(&format!(".{}", path.join(".")));
        data.insert("path".to_owned(), json!(path));
    }
    if let (Some(line), Some(column)) = (error["line"].as_u64(), error["column"].as_u64()) {
        told.push_str(&format!(" {line}:{column}"));
        data.insert("line".to_owned(), line.into());
        data.insert("column".to_owned(), column.into());
    }
    place(&mut told, &error["details"]);
    told.push_str(&format!(": {}", text(error, "message")));
    types(&mut told, &error["details"]);
    for (name, label) in [("expected", "expected"), ("candidates", "did you mean")] {
        let texts = texts(&error[name]);
        if !texts.is_empty() {
            told.push_str(&format!("; {label}: {}", texts.join(", ")));
            data.insert(name.to_owned(), json!(texts));
        }
    }
    if let Some(found) = error["found"].as_str() {
        told.push_str(&format!("; found: {found}"));
        data.insert("found".to_owned(), found.into());
    }
    Item { text: told, cursor: None, data: Some(data.into()) }
}

/// A conflict, as lines and as data.
pub(super) fn conflict(conflict: &Value) -> Item {
    let mut told = format!(
        "conflict {} {}: {}",
        text(conflict, "kind"),
        text(conflict, "ref"),
        text(conflict, "message")
    );
    for side in ["base", "ours", "theirs"] {
        if let Some(text) = conflict[side].as_str() {
            told.push_str(&format!("\n  {side}: {}", text.replace('\n', "\n    ")));
        }
    }
    let data = json!({ "code": conflict["kind"], "ref": conflict["ref"], "message": conflict["message"] });
    Item { text: told, cursor: None, data: Some(data) }
}

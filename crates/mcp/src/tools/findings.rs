//! How findings, mistakes and conflicts are told: the code first, then where, what is wrong, and what would be right.

use lmlang_ir::told::{Mistake, says};
use serde_json::{Map, Value, json};

use super::about::{text, texts};
use crate::reply::Item;

/// What is asked of a finding.
pub(super) const DIAGNOSTIC: &str = "code severity incomplete message \
     details { function node region expectedType actualType } fixes { title edits }";

/// What is asked of a mistake in an edit.
pub(super) const EDIT_ERROR: &str = "editIndex path code message line column expected found candidates \
     details { function node region }";

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
    let (message, details) = (text(found, "message"), &found["details"]);
    told.push_str(&format!(": {message}"));
    for (name, label) in [("expectedType", "expected type"), ("actualType", "found type")] {
        if let Some(fact) = details[name].as_str().filter(|fact| !says(message, fact)) {
            told.push_str(&format!("; {label} {fact}"));
        }
    }
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
    let (expected, near) = (texts(&error["expected"]), texts(&error["candidates"]));
    let mistake = Mistake {
        code: text(error, "code"),
        message: text(error, "message"),
        expected: &expected,
        candidates: &near,
        found: error["found"].as_str(),
    };
    told.push_str(&format!(": {}", mistake.text()));
    for (name, facts) in [("expected", &expected), ("candidates", &near)] {
        if !facts.is_empty() {
            data.insert(name.to_owned(), json!(facts));
        }
    }
    if let Some(found) = mistake.found {
        data.insert("found".to_owned(), found.into());
    }
    Item { text: told, cursor: None, data: Some(data.into()) }
}

/// A conflict, as lines and as data; `proposed` is the word for what the request would make of it.
pub(super) fn conflict(conflict: &Value, proposed: &str) -> Item {
    let head = format!(
        "conflict {} {}: {}",
        text(conflict, "kind"),
        text(conflict, "ref"),
        text(conflict, "message")
    );
    let sides = ["base", "ours", "theirs"].map(|side| conflict[side].as_str());
    let told = lmlang_ir::told::conflict(&head, sides, proposed);
    let data = json!({ "code": conflict["kind"], "ref": conflict["ref"], "message": conflict["message"] });
    Item { text: told, cursor: None, data: Some(data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &Value, expect: &str) {
        assert_eq!(mistake(error).text, expect);
    }

    #[test]
    fn nothing_of_a_mistake_is_told_twice() {
        check(
            &json!({
                "editIndex": 0, "path": ["addText", "text"], "code": "TYPE_MISMATCH", "line": 1, "column": 28,
                "message": "input `values` 1 of `return`: expected `i64`, found `i32`",
                "expected": ["i64"], "found": "i32", "candidates": [], "details": { "function": "f80", "node": "n97" },
            }),
            "error TYPE_MISMATCH edits[0].addText.text 1:28 at f80 n97: input `values` 1 of `return`: expected `i64`, \
             found `i32`",
        );
        check(
            &json!({
                "code": "UNKNOWN_OP", "message": "the type of `mul` is missing", "found": "mul",
                "expected": ["mul.i32", "mul.i64"], "candidates": ["mul.i32", "mul.i64", "call mul"],
            }),
            "error UNKNOWN_OP: the type of `mul` is missing; expected: mul.i32, mul.i64; did you mean: call mul",
        );
        check(
            &json!({
                "code": "HAS_USES", "message": "`f8` is used by n33", "found": "f8",
                "expected": [], "candidates": ["n33"],
            }),
            "error HAS_USES: `f8` is used by n33",
        );
        check(
            &json!({
                "code": "TOO_MANY_MATCHES", "message": "the pattern fits more places than may change: 2 of 1",
                "expected": [], "found": "2", "candidates": ["n23", "n24"],
            }),
            "error TOO_MANY_MATCHES: the pattern fits more places than may change: 2 of 1; see: n23, n24",
        );
    }

    #[test]
    fn what_is_told_stays_in_the_data() {
        let error = json!({
            "code": "HAS_USES", "message": "`f8` is used by n33", "found": "f8",
            "expected": [], "candidates": ["n33"],
        });
        let data = json!({
            "code": "HAS_USES", "found": "f8", "candidates": ["n33"],
        });
        assert_eq!(mistake(&error).data, Some(data));
    }
}

//! What models are asked about a draft, and what follows without one.

use serde_json::{Value, json};

use crate::model::{Format, Message, Repair, Request, Role, RoleError};

/// Which version of the prompts this is: on every span of a model.
pub(super) const PROMPT_VERSION: &str = "draft-1";

const ROUTE: &str = "You classify what a user of a stream processor wants, and do nothing else. Intents: list_streams, \
                     describe_stream, nl2sql (anything that a query would answer), ask_user (you need to know something first: \
                     put it into `question`). Name a stream only if it is among those given.";

const DRAFT: &str = "You write one SQL query for a stream processor, or one line that begins with `QUESTION:` if you cannot \
                     without knowing something. Use only the streams, columns, functions and constructs that are given. \
                     Answer with the SQL alone, no explanation and no code fence.";

const REVISE: &str = "You mend a SQL query for a stream processor. Answer in JSON: `sql`, the query; `questions`, what you need \
                      to know first, if anything; `assumptions`, what you took for granted. Use only the streams, columns, \
                      functions and constructs that are given.";

/// What a model is told of the state, one part after the other.
pub(super) struct Told<'a> {
    pub(super) text: &'a str,
    pub(super) active_stream: Option<&'a str>,
    pub(super) schema: &'a Value,
    pub(super) digest: &'a Value,
    pub(super) streams: Vec<&'a str>,
    pub(super) history: &'a Value,
}

impl Told<'_> {
    /// The question which intent a text has.
    pub(super) fn route(&self) -> Result<Request, RoleError> {
        let text = format!(
            "Streams: {}\nActive stream: {}\nThe user says: {}",
            self.streams.join(", "),
            self.active_stream.unwrap_or("none"),
            self.text,
        );
        let schema = json!({
            "type": "object", "required": ["intent"], "additionalProperties": false,
            "properties": {
                "intent": { "enum": ["list_streams", "describe_stream", "nl2sql", "ask_user"] },
                "stream": { "type": ["string", "null"] },
                "question": { "type": ["string", "null"] },
            },
        });
        Ok(Request {
            format: Format::JsonSchema { name: "intent".to_owned(), schema },
            ..request("router", ROUTE, text)?
        })
    }

    /// The question for a first draft.
    pub(super) fn draft(&self) -> Result<Request, RoleError> {
        let text = format!("{}\nThe user says: {}", self.ground(), self.text);
        let mut asked = request("drafter", DRAFT, text)?;
        asked.repair = Repair::Never;
        Ok(asked)
    }

    /// The question for a better draft.
    pub(super) fn revise(
        &self,
        sql: &str,
        error: Option<&str>,
        feedback: Option<&str>,
    ) -> Result<Request, RoleError> {
        let text = format!(
            "{}\nThe user says: {}\nThe query so far:\n{sql}\nWhat is wrong with it: {}\nWhat the user wants changed: {}",
            self.ground(),
            self.text,
            error.unwrap_or("nothing was found"),
            feedback.unwrap_or("nothing"),
        );
        Ok(Request {
            format: Format::JsonSchema { name: "revision".to_owned(), schema: revision_schema() },
            ..request("reasoner", REVISE, text)?
        })
    }

    fn ground(&self) -> String {
        let summary = self.history["summary"].as_str().filter(|summary| !summary.is_empty());
        let tail = self.history["tail"].as_array().into_iter().flatten();
        let said = tail.map(|message| {
            format!(
                "{}: {}",
                message["role"].as_str().unwrap_or("user"),
                message["content"].as_str().unwrap_or_default()
            )
        });
        let said: Vec<String> = summary.map(str::to_owned).into_iter().chain(said).collect();
        format!(
            "Streams: {}\nActive stream: {}\nIts schema: {}\nFunctions: {}\nConstructs: {}\nSaid before:\n{}",
            self.streams.join(", "),
            self.active_stream.unwrap_or("none"),
            self.schema,
            self.digest["functions"],
            self.digest["constructs"],
            said.join("\n"),
        )
    }
}

fn revision_schema() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object", "required": ["sql", "questions", "assumptions"], "additionalProperties": false,
        "properties": { "sql": { "type": "string" }, "questions": texts, "assumptions": texts },
    })
}

fn request(role: &str, system: &str, text: String) -> Result<Request, RoleError> {
    let role: Role = role.parse()?;
    Ok(Request {
        prompt_version: PROMPT_VERSION.to_owned(),
        repair: Repair::Once,
        temperature: Some(0.0),
        ..Request::new(role, vec![Message::system(system), Message::user(text)])
    })
}

/// What the rules make of a text where no model is configured: its intent, and the stream that it names.
pub(super) fn route_by_rules(text: &str) -> Value {
    let mut words = without_comments(text).split_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    let second = words.next();
    match (first.as_str(), second) {
        ("select" | "with", _) => json!({ "intent": "nl2sql" }),
        ("streams", None) => json!({ "intent": "list_streams" }),
        ("list", Some(what)) if what.eq_ignore_ascii_case("streams") => json!({ "intent": "list_streams" }),
        ("describe", stream) => json!({ "intent": "describe_stream", "stream": stream }),
        _ => json!({
            "intent": "ask_user",
            "question": "No model is configured, so only `list streams`, `describe NAME` and SQL are understood. What is wanted?",
        }),
    }
}

/// A text from its first word on that is in no comment of SQL.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = match (rest.strip_prefix("--"), rest.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n').map(|(_, behind)| behind),
            (None, Some(comment)) => comment.split_once("*/").map(|(_, behind)| behind),
            (None, None) => return rest,
        };
        rest = behind.unwrap_or_default().trim_start();
    }
}

/// Whether a text is SQL by itself.
pub(super) fn is_sql(text: &str) -> bool {
    let first = without_comments(text).split_whitespace().next().unwrap_or_default();
    first.eq_ignore_ascii_case("select") || first.eq_ignore_ascii_case("with")
}

/// The SQL of a preview, without a fence around it; or the question that it is.
pub(super) fn read_preview(text: &str) -> Result<String, String> {
    let trimmed = text.trim();
    if let Some(question) = trimmed.strip_prefix("QUESTION:") {
        return Err(question.lines().next().unwrap_or_default().trim().to_owned());
    }
    let bare = trimmed.strip_prefix("```").map_or(trimmed, |rest| {
        let rest = rest.strip_prefix("sql").unwrap_or(rest);
        rest.trim_end().strip_suffix("```").unwrap_or(rest)
    });
    Ok(bare.trim().trim_end_matches(';').trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_is_known_by_its_first_word() {
        for text in ["select 1", "WITH a", "-- what\nSELECT 1", " /* a\n b */ -- c\n /**/select"] {
            assert!(is_sql(text), "{text}");
            assert_eq!(route_by_rules(text)["intent"], "nl2sql", "{text}");
        }
        for text in ["", "selected ones", "-- select", "/* select", "what -- \nselect"] {
            assert!(!is_sql(text), "{text}");
        }
    }
}

//! A request as lines, to be shown and compared.

use super::digest::canonical;
use super::quote::cut;
use super::request::{Format, Message, Repair, Request};

/// Most characters of a request that an error shows.
const SHOWN: usize = 4_000;

/// Longest line of a request that is shown where it differs from another.
const LINE: usize = 200;

/// All of a request as text: each part of it that counts stands on some line.
pub(crate) fn transcript(request: &Request) -> String {
    let mut out = format!("role: {}\n", request.role);
    let mut setting = |name: &str, value: String| out.push_str(&format!("{name}: {value}\n"));
    if let Some(model) = &request.model {
        setting("model", model.clone());
    }
    if !request.prompt_version.is_empty() {
        setting("prompt version", request.prompt_version.clone());
    }
    if let Some(temperature) = request.temperature {
        setting("temperature", temperature.to_string());
    }
    if let Some(most) = request.max_tokens {
        setting("most tokens", most.to_string());
    }
    match request.repair {
        Repair::Never => {}
        Repair::Once => setting("repair", "once".to_owned()),
    }
    match &request.format {
        Format::Text => {}
        Format::JsonObject => setting("format", "an object".to_owned()),
        Format::JsonSchema { name, schema } => setting("format", format!("{name} {}", json(schema))),
    }
    for tool in &request.tools {
        setting("tool", format!("{} {} {}", tool.name, json(&tool.parameters), tool.description));
    }
    out.push_str(&conversation(&request.messages));
    out
}

/// The messages alone, with who speaks on a line before each.
pub(crate) fn conversation(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages {
        let (who, called) = match message {
            Message::System { .. } => ("[system]".to_owned(), &[][..]),
            Message::User { .. } => ("[user]".to_owned(), &[][..]),
            Message::Assistant { tool_calls, .. } => ("[assistant]".to_owned(), &tool_calls[..]),
            Message::Tool { call_id, .. } => (format!("[tool {call_id}]"), &[][..]),
        };
        out.push_str(&format!("{who}\n{}\n", message.text()));
        for call in called {
            out.push_str(&format!("calls {} {} {}\n", call.id, call.name, call.arguments));
        }
    }
    out
}

/// The beginning of a request, and its end if that is far away: what was asked last is there.
pub(crate) fn shown(request: &Request) -> String {
    let text = transcript(request);
    let length = text.chars().count();
    if length <= SHOWN {
        return text.trim_end().to_owned();
    }
    let half = SHOWN / 2;
    let end: String = text.chars().skip(length - half).collect();
    let begin: String = text.chars().take(half).collect();
    format!("{begin}\n… {} characters …\n{}", length - 2 * half, end.trim_end())
}

/// Where two texts begin to differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What the first text has there; nothing behind its end.
    pub(crate) first: Option<String>,
    /// What the second has.
    pub(crate) second: Option<String>,
}

/// The first line that differs; none if all are equal.
pub(crate) fn difference(first: &str, second: &str) -> Option<Difference> {
    let (mut left, mut right) = (first.lines(), second.lines());
    let mut line = 1;
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (first, second) if first == second => line += 1,
            (first, second) => {
                let from = match (first, second) {
                    (Some(first), Some(second)) => shared(first, second),
                    (None, _) | (_, None) => 0,
                };
                let shorten = |text: &str| around(text, from);
                return Some(Difference { line, first: first.map(shorten), second: second.map(shorten) });
            }
        }
    }
}

/// How many bytes two lines begin with alike.
fn shared(first: &str, second: &str) -> usize {
    let mut shared = 0;
    for (left, right) in first.chars().zip(second.chars()) {
        if left != right {
            break;
        }
        shared += left.len_utf8();
    }
    shared
}

/// A long line without its beginning, so that the place is in what is shown.
fn around(text: &str, place: usize) -> String {
    let before = text[..place].chars().count();
    if before < LINE / 2 {
        return cut(text, LINE);
    }
    let rest: String = text.chars().skip(before - LINE / 4).collect();
    format!("…{}", cut(&rest, LINE))
}

fn json(value: &serde_json::Value) -> String {
    let mut out = String::new();
    canonical(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(first: &str, second: &str, expect: Option<(usize, Option<&str>, Option<&str>)>) {
        let found = difference(first, second);
        let expect = expect.map(|(line, first, second)| Difference {
            line,
            first: first.map(str::to_owned),
            second: second.map(str::to_owned),
        });
        assert_eq!(found, expect);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        check("a\nb", "a\nb\n", None);
        check("a\nb\nc", "a\nd\ne", Some((2, Some("b"), Some("d"))));
        check("a", "a\nb", Some((2, None, Some("b"))));
        let long = "é".repeat(5_000);
        let found = difference(&format!("{long}1"), &format!("{long}2")).unwrap();
        assert_eq!(found.first.unwrap(), format!("…{}1", "é".repeat(50)));
    }

    #[test]
    fn a_long_request_shows_its_two_ends() {
        let text = format!("{}the end", "x".repeat(100_000));
        let request = Request::new("planner".parse().unwrap(), vec![Message::user(text)]);
        let shown = shown(&request);
        assert!(shown.starts_with("role: planner\n[user]\nxxx") && shown.ends_with("xxxthe end"), "{shown}");
        assert!(shown.len() < 5_000);
    }
}

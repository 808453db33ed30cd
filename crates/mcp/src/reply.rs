//! An answer of a tool, made to fit its budget of tokens.
//!
//! A reply begins with its head, `; program NAME @ rNUMBER`, and what is said in any case. Then come items, as many as fit;
//! what is left out is told at the end, with how to ask for it.

use std::collections::BTreeMap;

use lmlang_ir::counted;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::budget::{CAP, tokens};
use crate::cursor::Lines;
use crate::failure::{RpcCode, RpcError};
use crate::mask::masked;

/// A part of an answer that is shown as a whole, or not at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub(crate) text: String,
    /// The `cursor` that goes on behind it.
    pub(crate) cursor: Option<String>,
    /// What of it is data: a mistake.
    pub(crate) data: Option<Value>,
}

impl<T: Into<String>> From<T> for Item {
    fn from(text: T) -> Item {
        Item { text: text.into(), ..Item::default() }
    }
}

/// Something long that can be read page by page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: String,
}

/// An answer of a tool before it is cut to size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) program: Option<String>,
    /// `r7`.
    pub(crate) revision: Option<String>,
    pub(crate) outcome: Option<&'static str>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// What later calls name by these: `run_id`.
    pub(crate) ids: BTreeMap<&'static str, String>,
    /// What is said in any case.
    pub(crate) intro: Vec<String>,
    pub(crate) items: Vec<Item>,
    /// Items that there are beside those that are here.
    pub(crate) further: u64,
    /// Whether it is not known how many these are.
    pub(crate) uncounted: bool,
    /// What the items are: `functions`.
    pub(crate) noun: &'static str,
    /// How to get at what is left out, where no cursor does it.
    pub(crate) otherwise: Option<String>,
    pub(crate) links: Vec<Link>,
    pub(crate) is_error: bool,
    /// Whether something was carried out, which no error may deny.
    pub(crate) carried_out: bool,
}

/// What of an answer is data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Summary {
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<BTreeMap<String, u64>>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    errors: Option<Vec<Value>>,
}

/// An answer as it is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) data: Value,
    pub(crate) links: Vec<Link>,
    pub(crate) is_error: bool,
}

/// Tokens that are kept for saying what is left out.
const TAIL: u64 = 90;

/// Tokens that the head takes at most, as names go.
const HEAD: u64 = 40;

impl Reply {
    /// A reply about a program at a revision, as the API names it.
    pub(crate) fn about(program: &Value) -> Reply {
        let number = program["revision"]["number"].as_u64();
        Reply {
            program: program["name"].as_str().map(str::to_owned),
            revision: number.map(|number| format!("r{number}")),
            ..Reply::default()
        }
    }

    pub(crate) fn count(&mut self, name: &'static str, number: &Value) {
        if let Some(number) = number.as_u64() {
            self.counts.insert(name, number);
        }
    }

    pub(crate) fn say(&mut self, line: impl Into<String>) {
        self.intro.push(line.into());
    }

    /// Takes over lines of a text as items; the cursor is that of the line that comes next, at a revision.
    pub(crate) fn lines(&mut self, text: &str, lines: Lines) {
        let at = self.revision.clone().unwrap_or_default();
        self.noun = "lines";
        self.items.extend(text.lines().enumerate().skip(lines.from).map(|(index, line)| Item {
            text: line.to_owned(),
            cursor: Some(lines.cursor(&at, index + 1)),
            data: None,
        }));
    }

    /// Cuts the answer to a number of tokens, all that is told counted.
    ///
    /// # Errors
    ///
    /// Not even what is said in any case fits, or nothing of the first item.
    pub(crate) fn fit(mut self, most: u64) -> Result<Told, RpcError> {
        for item in &mut self.items {
            item.text = masked(&item.text).into_owned();
            item.data = item.data.take().map(hidden);
        }
        self.program = self.program.as_deref().map(|name| masked(name).into_owned());
        let mut text = format!(
            "; program {} @ {}\n",
            self.program.as_deref().unwrap_or("*"),
            self.revision.as_deref().unwrap_or("-")
        );
        for line in &self.intro {
            text.push_str(&masked(line));
            text.push('\n');
        }
        let fixed = self.fixed(&text);
        let all = fixed + self.all_items() <= most && self.further == 0;
        let room = if all { most } else { most.saturating_sub(TAIL) };
        let mut left = room.checked_sub(fixed).ok_or_else(|| too_large(self.least(fixed), most))?;
        let mut shown = 0;
        let mut cut = None;
        for item in &self.items {
            let cost = cost(item);
            if cost <= left {
                left -= cost;
                text.push_str(&item.text);
                text.push('\n');
                shown += 1;
            } else {
                if shown == 0 {
                    let lines = self.first_lines(&mut text, left);
                    cut = Some(lines.ok_or_else(|| too_large(self.least(fixed), most))?);
                    shown = 1;
                }
                break;
            }
        }
        let out = self.items.len() - shown;
        let missing = u64::try_from(out).unwrap_or(u64::MAX).saturating_add(self.further);
        let cursor = match missing {
            0 => None,
            _ => shown.checked_sub(1).and_then(|last| self.items[last].cursor.clone()),
        };
        if missing > 0 || cut.is_some() {
            text.push_str(&self.left_out(missing, cut, cursor.as_deref()));
        }
        let mut data = self.summary(shown, cursor.as_deref());
        data["truncated"] = (missing > 0 || cut.is_some()).into();
        Ok(Told { text: text.trim_end().to_owned(), data, links: self.links, is_error: self.is_error })
    }

    /// The same for what was carried out: where nothing of it fits, what is said in any case is told all the same, for an error
    /// would say that nothing has happened.
    pub(crate) fn fit_anyhow(self, most: u64) -> Told {
        let further = self.further.saturating_add(u64::try_from(self.items.len()).unwrap_or(u64::MAX));
        let bare = Reply { items: Vec::new(), links: Vec::new(), further, ..self.clone() };
        self.fit(most)
            .or_else(|_| bare.fit(u64::MAX))
            .expect("what has no items fits into any number of tokens")
    }

    /// The tokens of all that there is to tell.
    pub(crate) fn tokens(&self) -> u64 {
        let lines: u64 = self.intro.iter().map(|line| tokens(line) + 1).sum();
        HEAD + lines + self.fixed("") + self.all_items()
    }

    /// The tokens of what is told in any case: the text above the items, the data, the links.
    fn fixed(&self, text: &str) -> u64 {
        let links: u64 = self.links.iter().map(|link| tokens(&link.uri) + tokens(&link.description)).sum();
        tokens(text) + tokens(&self.summary(0, None).to_string()) + links
    }

    fn all_items(&self) -> u64 {
        self.items.iter().map(cost).sum()
    }

    /// The fewest tokens that it can be told in, where some are taken in any case: all of it, or the first line of the first
    /// item and that the rest is left out.
    fn least(&self, fixed: u64) -> u64 {
        let first = self.items.first().map_or(0, |item| {
            let line = item.text.lines().next().map_or(0, tokens) + 1;
            line + item.data.as_ref().map_or(0, |data| tokens(&data.to_string()) + 1)
        });
        let part = fixed + TAIL + first;
        if self.further == 0 { part.min(fixed + self.all_items()) } else { part }
    }

    /// Shows as many lines of the first item as fit, and tells how many do not; nothing if not even one fits.
    fn first_lines(&self, text: &mut String, mut left: u64) -> Option<usize> {
        let first = &self.items[0];
        left = left.saturating_sub(first.data.as_ref().map_or(0, |data| tokens(&data.to_string())));
        let mut shown = 0;
        for line in first.text.lines() {
            let cost = tokens(line) + 1;
            if cost > left {
                break;
            }
            left -= cost;
            text.push_str(line);
            text.push('\n');
            shown += 1;
        }
        (shown > 0).then(|| first.text.lines().count() - shown)
    }

    fn left_out(&self, missing: u64, cut: Option<usize>, cursor: Option<&str>) -> String {
        let mut told = String::from("; truncated:");
        if let Some(lines) = cut {
            told.push_str(&format!(" {} of the last one;", counted(lines as u64, "line", "lines")));
        }
        if missing > 0 {
            let noun = if self.noun.is_empty() { "items" } else { self.noun };
            let count = if self.uncounted { "more".to_owned() } else { missing.to_string() };
            told.push_str(&format!(" {count} {noun} left out;"));
        }
        match (cursor, &self.otherwise) {
            (Some(cursor), _) => told.push_str(&format!(" next_cursor: {cursor}")),
            (None, Some(how)) => told.push_str(&format!(" {how}")),
            (None, None) => told.push_str(" raise max_tokens, or ask for less"),
        }
        told.push('\n');
        told
    }

    fn summary(&self, shown: usize, cursor: Option<&str>) -> Value {
        let errors: Vec<Value> = self.items.iter().take(shown).filter_map(|item| item.data.clone()).collect();
        let counts: BTreeMap<String, u64> =
            self.counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let summary = Summary {
            program: self.program.clone(),
            revision: self.revision.clone(),
            outcome: self.outcome.map(str::to_owned),
            counts: Some(counts).filter(|counts| !counts.is_empty()),
            truncated: false,
            next_cursor: cursor.map(str::to_owned),
            errors: Some(errors).filter(|errors| !errors.is_empty()),
        };
        let mut data = json!(summary);
        // The schema of answers is told with each tool, and most have none of these.
        for (name, id) in &self.ids {
            data[*name] = id.as_str().into();
        }
        data
    }
}

fn cost(item: &Item) -> u64 {
    tokens(&item.text) + 1 + item.data.as_ref().map_or(0, |data| tokens(&data.to_string()) + 1)
}

/// The error for an answer of which nothing fits, with the size that is enough.
pub(crate) fn too_large(size: u64, limit: u64) -> RpcError {
    let action = match size > CAP {
        true => format!("ask for less: no answer takes more than {CAP}"),
        false => "raise `max_tokens`, or ask for less".to_owned(),
    };
    RpcError::new(
        RpcCode::TokenLimitExceeded,
        json!({ "current_size": size, "limit": limit, "action": action }),
    )
}

/// Data without secrets in it.
pub(crate) fn hidden(data: Value) -> Value {
    match data {
        Value::String(text) => masked(&text).into(),
        Value::Array(items) => items.into_iter().map(hidden).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, hidden(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Paged;

    fn reply(count: usize) -> Reply {
        let mut reply =
            Reply { program: Some("shop".to_owned()), revision: Some("r7".to_owned()), ..Reply::default() };
        let text: Vec<String> = (0..count).map(|line| format!("line number {line} of a text")).collect();
        reply.lines(&text.join("\n"), Lines { of: Paged::Text, from: 0 });
        reply
    }

    #[test]
    fn what_fits_is_told_whole() {
        let told = reply(3).fit(200).expect("it fits");
        assert_eq!(
            told.text,
            "; program shop @ r7\nline number 0 of a text\nline number 1 of a text\nline number 2 of a text"
        );
        assert_eq!(told.data, json!({ "program": "shop", "revision": "r7", "truncated": false }));
    }

    #[test]
    fn what_does_not_fit_says_so_and_how_to_go_on() {
        for most in [200, 300, 1000, 4000] {
            let told = reply(2000).fit(most).expect("some of it fits");
            let size = tokens(&told.text) + tokens(&told.data.to_string());
            assert!(size <= most, "{size} of {most}");
            let cursor = told.data["next_cursor"].as_str().expect("it goes on");
            assert!(told.text.ends_with(&format!("next_cursor: {cursor}")), "{}", told.text);
            let (at, Lines { from: line, .. }) = Paged::Text.lines(Some(cursor)).expect("it is one of ours");
            assert_eq!(at.as_deref(), Some("r7"));
            assert!(told.text.contains(&format!("line number {} of", line - 1)));
            assert!(!told.text.contains(&format!("line number {line} of")));
        }
    }

    #[test]
    fn what_was_carried_out_is_no_error_whatever_the_budget() {
        let mut reply = Reply { outcome: Some("made"), ..reply(30) };
        reply.say("undo: +1 -2 ~3");
        for (most, cut) in [(10, 30), (60, 30), (4_000, 0)] {
            let told = reply.clone().fit_anyhow(most);
            assert!(told.text.starts_with("; program shop @ r7\nundo: +1 -2 ~3"), "{}", told.text);
            assert_eq!((&told.data["outcome"], &told.data["truncated"]), (&json!("made"), &json!(cut > 0)));
            let left_out =
                told.text.contains(&format!("; truncated: {cut} lines left out; raise max_tokens"));
            assert_eq!(left_out, cut > 0, "{}", told.text);
        }
    }

    /// CUE-13: what is too large even alone is refused with its size and the limit.
    #[test]
    fn cue_13_a_single_line_above_the_budget_is_refused() {
        let mut reply = Reply::default();
        reply.items.push("word ".repeat(1_000).into());
        let error = reply.clone().fit(500).expect_err("it is too large");
        assert_eq!((error.code, &error.data["limit"]), (RpcCode::TokenLimitExceeded, &json!(500)));
        let enough = error.data["current_size"].as_u64().expect("a size");
        assert!((1_000..1_150).contains(&enough), "{enough}");
        reply.clone().fit(enough).expect("what is named is enough");
        assert!(error.data["action"].as_str().is_some_and(|action| action.starts_with("raise ")));
        let mut endless = Reply::default();
        endless.items.push("word ".repeat(30_000).into());
        let error = endless.fit(CAP).expect_err("it is too large for any answer");
        assert_eq!(error.data["action"], "ask for less: no answer takes more than 20000");
        reply.say("said in any case ".repeat(100));
        for most in [20, 500] {
            let error = reply.clone().fit(most).expect_err("it is too large");
            let enough = error.data["current_size"].as_u64().expect("a size");
            reply.clone().fit(enough).expect("what is named is enough");
        }
    }
}

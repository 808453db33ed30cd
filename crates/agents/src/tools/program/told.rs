//! Answers within a budget of tokens, and findings in lines.

use lmlang_context::Tokenizer;
use lmlang_engine::{Conflict, Rejected};
use lmlang_ir::told::{Mistake, says};
use lmlang_ir::{Program, counted};
use lmlang_verify::{Diagnostic, Severity};
use serde_json::json;

use super::{View, refused};
use crate::graph_store::GraphError;
use crate::tools::ToolAnswer;

/// Tokens of an answer when nobody says how many it may have.
pub(super) const DEFAULT: u64 = 2_000;
/// Tokens of an answer at most: a prompt has other things to hold.
pub(super) const MOST: u64 = 4_000;
/// Tokens of what is wrong with an edit: it is asked about, too.
const WRONG: u64 = 1_000;
/// Bytes of a line at most.
const LINE: usize = 4_096;

/// Where the lines of an answer begin, and how many tokens they may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// What the answers are of, mostly a tool: its cursors go on with nothing else. Empty: an answer has no cursor.
    pub(super) of: &'static str,
    /// Lines before it.
    pub(super) from: usize,
    /// Tokens.
    pub(super) tokens: u64,
}

impl Page {
    /// The only page of an answer.
    pub(super) fn only(max_tokens: Option<u64>) -> Page {
        Page { of: "", from: 0, tokens: max_tokens.unwrap_or(DEFAULT).min(MOST) }
    }

    /// A page by the cursor of the answer before, if there is one, and the revision that it is of.
    pub(super) fn of(
        of: &'static str,
        cursor: Option<&str>,
        max_tokens: Option<u64>,
    ) -> Result<(Option<String>, Page), GraphError> {
        let tokens = max_tokens.unwrap_or(DEFAULT).min(MOST);
        let Some(cursor) = cursor else { return Ok((None, Page { of, from: 0, tokens })) };
        let place = cursor.strip_prefix(of).and_then(|rest| rest.strip_prefix(':'));
        let place = place.and_then(|place| place.split_once('+'));
        let place = place.and_then(|(at, from)| Some((at, from.parse::<u32>().ok()?)));
        match place.filter(|place| cursor_of(of, *place) == cursor) {
            Some((at, from)) => {
                let page = Page { of, from: from as usize, tokens };
                Ok((Some(at.to_owned()).filter(|at| !at.is_empty()), page))
            }
            None => Err(refused("CURSOR_INVALID", format!("`{cursor}` is no `next_cursor` of `{of}`"))),
        }
    }
}

/// What goes on at a line of an answer about a revision, or about none.
fn cursor_of(of: &str, (at, from): (&str, u32)) -> String {
    format!("{of}:{at}+{from}")
}

/// Tokens of a line; of a long one a little more than there are, never fewer.
fn tokens(line: &str) -> u64 {
    u64::try_from(Tokenizer::O200kBase.count(line)).unwrap_or(u64::MAX).saturating_add(1)
}

/// The lines from one on that fit a budget, one at least, and how many there are behind them.
fn fitting<'a>(lines: &[&'a str], from: usize, most: u64) -> (Vec<&'a str>, usize) {
    let rest = lines.get(from..).unwrap_or_default();
    let (mut left, mut shown) = (most, Vec::new());
    for line in rest {
        let line = &line[..line.floor_char_boundary(LINE.min(line.len()))];
        let takes = tokens(line);
        if takes > left && !shown.is_empty() {
            break;
        }
        left = left.saturating_sub(takes);
        shown.push(line);
    }
    let behind = rest.len() - shown.len();
    (shown, behind)
}

/// An answer about a program: fields, and lines as far as they fit.
pub(super) fn answer(view: &View, outcome: &str, lines: &[String], page: Page, said: &str) -> ToolAnswer {
    let head = format!("; program {} @ r{}", view.name(), view.number());
    let mut answer = plain(&head, outcome, lines, page, said, Some(view.number()));
    answer.value["program"] = json!(view.name());
    answer.value["revision"] = json!(format!("r{}", view.number()));
    answer
}

/// An answer about no program in particular, or about one at the revision that its cursor holds on to.
pub(super) fn plain(
    head: &str,
    outcome: &str,
    lines: &[String],
    page: Page,
    said: &str,
    revision: Option<u64>,
) -> ToolAnswer {
    let lines: Vec<&str> = lines.iter().flat_map(|text| text.lines()).collect();
    let (shown, behind) = fitting(&lines, page.from, page.tokens);
    let mut text = format!("{head}\n");
    for line in &shown {
        text.push_str(line);
        text.push('\n');
    }
    let mut value = json!({ "outcome": outcome, "truncated": behind > 0 });
    if behind > 0 && page.of.is_empty() {
        let more = if page.tokens < MOST { "; a larger max_tokens shows more" } else { "" };
        text.push_str(&format!("; truncated: {} left out{more}\n", counted(behind as u64, "line", "lines")));
    } else if behind > 0 {
        let at = revision.map(|number| format!("r{number}")).unwrap_or_default();
        let from = u32::try_from(page.from + shown.len()).unwrap_or(u32::MAX);
        let cursor = cursor_of(page.of, (at.as_str(), from));
        text.push_str(&format!(
            "; truncated: {} left out; next_cursor: {cursor}\n",
            counted(behind as u64, "line", "lines")
        ));
        value["next_cursor"] = json!(cursor);
    }
    value["text"] = json!(text);
    ToolAnswer { value, said: said.to_owned(), ..ToolAnswer::default() }
}

/// A finding in a line: the code first, then where, what is wrong, and what would be right.
pub(super) fn finding(program: &Program, found: &Diagnostic) -> String {
    let level = match (found.is_incomplete(), found.severity()) {
        (true, _) => "incomplete",
        (false, Severity::Error) => "error",
        (false, Severity::Warning) => "warning",
    };
    format!("{level} {}{}", found.code.name(), facts(program, found))
}

fn facts(program: &Program, found: &Diagnostic) -> String {
    let place = match (found.at.function, found.at.node()) {
        (Some(function), Some(node)) => {
            let line = lmlang_ir::text::print_node(program, node, lmlang_ir::text::Detail::Summary);
            format!(" in {} at `{}`", program.path(function.into()), line.trim())
        }
        (Some(function), None) => format!(" in {}", program.path(function.into())),
        (None, _) => format!(" at {}", program.path(found.at.entity)),
    };
    let message = found.message(program);
    let untold = |label: &str, text: Option<String>| {
        text.filter(|text| !says(&message, text)).map(|text| format!("; {label} type {text}"))
    };
    let expected = untold("expected", found.expected_text(program));
    let actual = untold("found", found.found_text(program));
    format!("{place}: {message}{}{}", expected.unwrap_or_default(), actual.unwrap_or_default())
}

/// The failure of an edit that was refused, with all that is wrong with it as far as it fits. Its code is that of the first
/// mistake: another one is another failure.
pub(super) fn rejected(rejected: &Rejected) -> GraphError {
    let errors = rejected.errors.iter().map(|error| {
        let place = error.line.zip(error.column).map(|(line, column)| format!(" {line}:{column}"));
        let expected: Vec<&str> = error.expected.iter().map(String::as_str).collect();
        let candidates: Vec<&str> = error.candidates.iter().map(String::as_str).collect();
        let mistake = Mistake {
            code: error.code,
            message: &error.message,
            expected: &expected,
            candidates: &candidates,
            found: error.found.as_deref(),
        };
        let path = error.path.join(".");
        let place = place.unwrap_or_default();
        format!("error {} edits[{}].{path}{place}: {}", error.code, error.edit, mistake.text())
    });
    let findings = rejected.findings.iter().zip(rejected.after.iter().cycle()).map(|(found, after)| {
        let edit = found.edit.map(|edit| format!(" edits[{edit}].{}", found.path.join(".")));
        let place = found.place.map(|(line, column)| format!(" {line}:{column}"));
        let (edit, place) = (edit.unwrap_or_default(), place.unwrap_or_default());
        let code = found.diagnostic.code.name();
        format!("error {code}{edit}{place}{}", facts(after.program(), &found.diagnostic))
    });
    let lines: Vec<String> = errors.chain(findings).collect();
    let first = rejected.errors.first().map(|error| error.code);
    let code = first.or_else(|| rejected.findings.first().map(|found| found.diagnostic.code.name()));
    let word = if lines.len() == 1 { "mistake" } else { "mistakes" };
    let head = format!("rejected, nothing is changed: {} {word}", lines.len());
    refused(code.unwrap_or("EDIT_REJECTED"), within(&head, &lines))
}

/// The failure of a change that cannot be together with what has been changed since; `proposed` is what it would make of it.
pub(super) fn conflict(conflict: &Conflict, proposed: &str) -> GraphError {
    let line = |of: &lmlang_engine::Collision| {
        let head = format!("conflict {} {}: {}", of.kind, of.of, of.message);
        let sides = [&of.base, &of.ours, &of.theirs].map(|side| side.as_deref());
        lmlang_ir::told::conflict(&head, sides, proposed)
    };
    let lines: Vec<String> = conflict.conflicts.iter().map(line).collect();
    let head = conflict.head.number;
    let told = format!("conflict, nothing is changed: read r{head} and propose again on it");
    refused("EDIT_CONFLICT", within(&told, &lines))
}

/// Lines below a head, as far as they fit.
pub(super) fn within(head: &str, lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (shown, behind) = fitting(&lines, 0, WRONG);
    let mut text = head.to_owned();
    for line in shown {
        text.push('\n');
        text.push_str(line);
    }
    if behind > 0 {
        text.push_str(&format!("\nand {behind} more"));
    }
    text
}

/// The first line of a text.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cursor: &str, expect: Option<(Option<&str>, usize)>) {
        let read = Page::of("search", Some(cursor), None).ok();
        let read = read.as_ref().map(|(at, page)| (at.as_deref(), page.from));
        assert_eq!(read, expect, "{cursor}");
    }

    #[test]
    fn a_cursor_holds_on_to_the_revision() {
        check("search:r3+40", Some((Some("r3"), 40)));
        check("search:+40", Some((None, 40)));
        for wrong in
            ["", "r3", "r3+40", "search:r3", "search:r3+", "search:r3+x", "search:r3++1", "search:r3+-1"]
        {
            check(wrong, None);
        }
        check("search:r3+99999999999999999999", None);
        check("program:r3+40", None);
    }

    #[test]
    fn pages_of_an_answer_are_all_of_it() {
        let lines: Vec<String> = (0..300).map(|number| format!("line {number}")).collect();
        let (mut from, mut seen) = (0, Vec::new());
        loop {
            let answer =
                plain("; head", "found", &lines, Page { of: "search", from, tokens: 200 }, "said", Some(7));
            let text = answer.value["text"].as_str().expect("words");
            assert!(tokens(text) <= 250, "{text}");
            seen.extend(text.lines().filter(|line| line.starts_with("line")).map(str::to_owned));
            let Some(cursor) = answer.value["next_cursor"].as_str() else { break };
            let (at, page) = Page::of("search", Some(cursor), None).expect("it is one");
            assert_eq!(at.as_deref(), Some("r7"));
            assert!(page.from > from, "it goes on");
            from = page.from;
        }
        assert_eq!(seen, lines);
    }

    #[test]
    fn the_only_page_has_no_cursor() {
        let lines: Vec<String> = (0..3_000).map(|number| format!("line {number}")).collect();
        for (max_tokens, end) in [
            (Some(200), "left out; a larger max_tokens shows more\n"),
            (None, "left out; a larger max_tokens shows more\n"),
            (Some(9_999), "lines left out\n"),
        ] {
            let cut = plain("; head", "returned", &lines, Page::only(max_tokens), "said", Some(7));
            assert_eq!(cut.value["truncated"], true);
            assert!(cut.value["next_cursor"].is_null(), "{}", cut.value);
            assert!(cut.value["text"].as_str().is_some_and(|text| text.ends_with(end)), "{}", cut.value);
        }
    }

    #[test]
    fn a_long_line_is_cut_and_one_is_always_shown() {
        let long = "é".repeat(LINE);
        let (shown, behind) = fitting(&[&long, "next"], 0, 1);
        assert_eq!((shown.len(), behind), (1, 1));
        assert!(shown[0].len() <= LINE);
        assert_eq!(fitting(&["a"], 9, 1), (Vec::new(), 0));
    }
}

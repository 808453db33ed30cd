//! Tests of edits as Markdown: a heading begins a test, fenced blocks are its steps, all else explains.
//!
//! * `program`: the text of the program to start with; its `;!` marks and `; run:` lines are checked as in a `.lm` file.
//! * `edit`: a JSON list in the form of the API's `EditInput`. It is carried out as a whole or refused, and inverted and
//!   diffed on the way: both must lead back and forth exactly.
//! * `undo`, `redo`: one step along the edits that were accepted; the result must equal the state that was there.
//! * `ours`, `theirs`: as `edit`, on one of two sides that both come from where the steps have led; `merge` merges them,
//!   and each line of it takes a side in a conflict: `n4 ours`. It must be the same with the sides exchanged, and every
//!   conflict must be resolvable by either side. What was not taken is as in the base.
//! * `after`, `merged`: the whole text of the program that the steps have led to, or merged, without refs.
//! * `expect`: one expectation a line about where the steps have led:
//!
//! ```text
//! accepted                      the last edit was (also what is assumed before any other step or the end)
//! refused CODE                  the last edit was refused with this code
//! run: f(1) == 2                as after `; run:`
//! diagnostic CODE               the verifier has such a finding
//! no diagnostic                 the verifier has none but warnings
//! has: x = add.i32 a, 1         a line of the program without refs, comments and indentation
//! lacks: x                      no such line
//! clean                         the merge has no conflict, and nothing wrong that neither side has
//! conflict KIND n4: message     it has this conflict; one that nobody expects fails by itself
//! finding CODE n4: message      it has this error, or this left behind, and neither side has; as with conflicts
//! ours n4: x = add.i32 a, 1     what a side, or the base, has where there is a conflict; `nothing`
//! ```

use std::num::NonZeroUsize;
use std::path::Path;

use lmlang_history::request::{Touched, expand};
use lmlang_history::{apply_all, diff, invert_all};
use lmlang_interp::Cache;
use lmlang_ir::text::{Detail, parse_program, print_program};
use lmlang_ir::{Program, RefAllocator};
use lmlang_verify::{Checked, Class};

use super::merges::Merging;
use super::{Report, case, lines, program, requests};

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// The line of its fence, from 1.
    line: u32,
    kind: String,
    text: String,
}

/// The tests of a file: title and blocks.
fn tests(text: &str) -> Vec<(String, Vec<Block>)> {
    let mut tests: Vec<(String, Vec<Block>)> = Vec::new();
    let mut open: Option<(String, Block)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match open.take() {
            Some((fence, block)) if line.trim() == fence => {
                if let Some((_, blocks)) = tests.last_mut() {
                    blocks.push(block);
                }
            }
            Some((fence, mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some((fence, block));
            }
            None if line.starts_with("```") => {
                let fence: String = line.chars().take_while(|c| *c == '`').collect();
                let kind = line[fence.len()..].trim().to_owned();
                open = Some((fence, Block { line: number, kind, text: String::new() }));
            }
            None if line.starts_with('#') => {
                tests.push((line.trim_start_matches('#').trim().to_owned(), Vec::new()));
            }
            None => {}
        }
    }
    tests.into_iter().filter(|(_, blocks)| !blocks.is_empty()).collect()
}

/// What the last edit came to.
enum Last {
    Nothing,
    Accepted,
    /// With the line of the edit, and codes with messages.
    Refused(u32, Vec<(String, String)>),
}

struct State<'a> {
    path: &'a Path,
    report: &'a mut Report,
    checked: Checked,
    refs: RefAllocator,
    undo: Vec<Checked>,
    redo: Vec<Checked>,
    last: Last,
    merging: Merging,
}

/// Checks all tests of a file.
pub(super) fn check(path: &Path, text: &str, report: &mut Report) {
    for (_, blocks) in tests(text) {
        let mut state = State {
            path,
            checked: Checked::full(Program::new(), NonZeroUsize::MIN),
            refs: RefAllocator::starting_at(1),
            undo: Vec::new(),
            redo: Vec::new(),
            last: Last::Nothing,
            merging: Merging::default(),
            report: &mut *report,
        };
        for block in &blocks {
            state.step(block);
        }
        state.settle();
        state.settle_merge();
    }
}

impl State<'_> {
    fn fail(&mut self, line: u32, expected: impl Into<String>, found: impl Into<String>) {
        self.report.fail(self.path, line, expected, found);
    }

    /// A refusal that nobody expected is a failure.
    fn settle(&mut self) {
        if let Last::Refused(line, codes) = &self.last {
            let found: Vec<String> =
                codes.iter().map(|(code, message)| format!("{code}: {message}")).collect();
            self.report.fail(self.path, *line, "an edit that is accepted", found.join("; "));
            self.last = Last::Nothing;
        }
    }

    /// A conflict or a finding of a merge that nobody expected is a failure.
    fn settle_merge(&mut self) {
        if let Some((line, open)) = self.merging.open.take() {
            open.into_iter().for_each(|one| self.fail(line, "a clean merge", one));
        }
    }

    fn step(&mut self, block: &Block) {
        if !matches!(block.kind.as_str(), "expect" | "after" | "merged") {
            self.settle_merge();
        }
        match block.kind.as_str() {
            "program" => self.start(block),
            "edit" => {
                self.settle();
                self.report.expectations += 1;
                self.edit(block);
            }
            "undo" | "redo" => {
                self.settle();
                let undo = block.kind == "undo";
                let (from, to) =
                    if undo { (&mut self.undo, &mut self.redo) } else { (&mut self.redo, &mut self.undo) };
                match from.pop() {
                    Some(state) => to.push(std::mem::replace(&mut self.checked, state)),
                    None => self.fail(block.line, format!("something to {}", block.kind), "nothing"),
                }
            }
            "ours" | "theirs" => {
                self.settle();
                self.report.expectations += 1;
                self.side(block);
            }
            "merge" => {
                self.settle();
                self.report.expectations += 1;
                self.merge(block);
            }
            "after" | "merged" => {
                self.settle();
                self.report.expectations += 1;
                let text = without_refs(&print_program(self.checked.program(), Detail::Full));
                if text.trim() != block.text.trim() {
                    self.fail(block.line, format!("\n{}", block.text), format!("\n{text}"));
                }
            }
            "expect" => self.expect(block),
            "" | "text" => {}
            other => self.fail(block.line, "the name of a step", format!("`{other}`")),
        }
    }

    fn start(&mut self, block: &Block) {
        program::check(self.path, block.line, &block.text, self.report);
        self.refs = RefAllocator::starting_at(1);
        if let Ok(program) = parse_program(&lines::read(&block.text).text, &mut self.refs) {
            self.checked = Checked::full(program, NonZeroUsize::MIN);
        }
        (self.undo, self.redo, self.last) = (Vec::new(), Vec::new(), Last::Nothing);
        self.merging = Merging::default();
    }

    /// Edits one of two sides; the program stays.
    fn side(&mut self, block: &Block) {
        let index = usize::from(block.kind == "theirs");
        let base = self.merging.base.get_or_insert_with(|| self.checked.clone()).clone();
        self.checked = self.merging.sides[index].take().unwrap_or_else(|| base.clone());
        self.edit(block);
        self.merging.sides[index] = Some(std::mem::replace(&mut self.checked, base));
    }

    fn merge(&mut self, block: &Block) {
        match self.merging.run(block.line, &block.text) {
            Ok(outcome) => {
                outcome.faults.into_iter().for_each(|fault| self.fail(block.line, "a sound merge", fault));
                let (ours, merged) = (&outcome.ours, outcome.merged.program());
                self.there_and_back(block.line, ours, merged, &diff(ours, merged).edits);
                self.checked = outcome.merged;
            }
            Err(error) => self.fail(block.line, "a merge", error),
        }
    }

    fn edit(&mut self, block: &Block) {
        let requests = match requests::read(&block.text) {
            Ok(requests) => requests,
            Err(error) => return self.fail(block.line, "a list of edits", error),
        };
        let mut refs = self.refs.clone();
        let expanded = match expand(self.checked.program(), &mut refs, &requests) {
            Ok(expanded) => expanded,
            Err(refused) => {
                let error = |error: &lmlang_history::request::EditError| {
                    (error.code.to_owned(), format!("{} ({})", error.message, error.path.join(".")))
                };
                let mut codes: Vec<(String, String)> = refused.errors.iter().map(error).collect();
                codes.extend(refused.conflicts.iter().map(|conflict| {
                    ("EDIT_CONFLICT".to_owned(), format!("`{}` is not as it was read", conflict.of))
                }));
                self.last = Last::Refused(block.line, codes);
                return;
            }
        };
        let before = self.checked.program().clone();
        self.there_and_back(block.line, &before, &expanded.program, &expanded.edits);
        if expanded.program.largest_number() >= refs.watermark() {
            self.fail(block.line, "refs that are not handed out again", refs.watermark().to_string());
        }
        let after = self.checked.update(expanded.program);
        let codes = errors(&after, &expanded.touched);
        if codes.is_empty() {
            self.undo.push(std::mem::replace(&mut self.checked, after));
            self.redo.clear();
            (self.refs, self.last) = (refs, Last::Accepted);
        } else {
            self.last = Last::Refused(block.line, codes);
        }
    }

    /// Recorded edits lead to the new state, their inverse back, and so does a diff of the two.
    fn there_and_back(
        &mut self,
        line: u32,
        before: &Program,
        after: &Program,
        edits: &[lmlang_history::Edit],
    ) {
        let mut walk = |from: &Program, to: &Program, edits: &[lmlang_history::Edit], what: &str| {
            let mut program = from.clone();
            match apply_all(&mut program, edits) {
                Ok(()) if program.root_hash() == to.root_hash() => {}
                Ok(()) => self.report.fail(self.path, line, what, "another program"),
                Err(error) => self.report.fail(self.path, line, what, error.to_string()),
            }
        };
        walk(before, after, edits, "the recorded edits to lead to the new state");
        match invert_all(edits, before) {
            Ok(inverse) => walk(after, before, &inverse, "the inverted edits to lead back"),
            Err(error) => return self.fail(line, "edits that can be inverted", error.to_string()),
        }
        walk(after, before, &diff(after, before).edits, "the difference to lead back");
    }

    fn expect(&mut self, block: &Block) {
        for (at, line) in (block.line + 1..).zip(block.text.lines()) {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            self.report.expectations += 1;
            if let Some(code) = line.strip_prefix("refused ") {
                match std::mem::replace(&mut self.last, Last::Nothing) {
                    Last::Refused(_, codes) if codes.iter().any(|(found, _)| found == code.trim()) => {}
                    Last::Refused(_, codes) => self.fail(at, code, format!("{codes:?}")),
                    Last::Nothing | Last::Accepted => self.fail(at, code, "no refusal"),
                }
                continue;
            }
            self.settle();
            let held = self.merging.holds(line).unwrap_or_else(|| self.holds(line));
            if let Err((expected, found)) = held {
                self.fail(at, expected, found);
            }
        }
    }

    fn holds(&self, line: &str) -> Result<(), (String, String)> {
        let wrong = |expected: &str, found: &str| Err((expected.to_owned(), found.to_owned()));
        if line == "accepted" {
            return match self.last {
                Last::Accepted => Ok(()),
                Last::Nothing | Last::Refused(..) => wrong("an accepted edit", "none"),
            };
        }
        let found = || self.checked.findings().iter().map(|(_, diagnostic)| diagnostic);
        if line == "no diagnostic" {
            let first = found().find(|diagnostic| diagnostic.class() != Class::Warning);
            return first.map_or(Ok(()), |first| {
                wrong("no diagnostic", &format!("{} at {}", first.code, first.at.entity))
            });
        }
        if let Some(code) = line.strip_prefix("diagnostic ") {
            let there: Vec<&str> = found().map(|diagnostic| diagnostic.code.name()).collect();
            return if there.contains(&code.trim()) { Ok(()) } else { wrong(code, &format!("{there:?}")) };
        }
        if let Some(text) = line.strip_prefix("run:") {
            let case = case::parse(text).map_err(|expected| (expected, format!("`{text}`")))?;
            return case::check(&self.checked, &Cache::new(), None, &case);
        }
        let text = without_refs(&print_program(self.checked.program(), Detail::Full));
        let has = |wanted: &str| text.lines().any(|line| line.trim() == wanted.trim());
        match (line.strip_prefix("has:"), line.strip_prefix("lacks:")) {
            (Some(wanted), _) if has(wanted) => Ok(()),
            (Some(wanted), _) => wrong(&format!("the line `{}`", wanted.trim()), &format!("\n{text}")),
            (_, Some(unwanted)) if has(unwanted) => wrong("no such line", unwanted),
            (_, Some(_)) => Ok(()),
            (None, None) => wrong("`accepted`, `refused`, `run:`, `diagnostic`, `has:` or `lacks:`", line),
        }
    }
}

/// What refuses an edit: errors, and what is stale where the edit itself changed something.
fn errors(after: &Checked, touched: &Touched) -> Vec<(String, String)> {
    let refuses = |diagnostic: &lmlang_verify::Diagnostic| match diagnostic.class() {
        Class::Error => true,
        Class::Stale => touched.covers(diagnostic.at.entity, diagnostic.at.port),
        Class::Incomplete | Class::Warning => false,
    };
    let found = after.findings().iter().map(|(_, diagnostic)| diagnostic);
    found
        .filter(|diagnostic| refuses(diagnostic))
        .map(|diagnostic| (diagnostic.code.name().to_owned(), diagnostic.message(after.program())))
        .collect()
}

/// Takes `#n12` away behind names, operators and brackets, but not inside of texts.
fn without_refs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(found) = chars.next() {
        match found {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => {
                // The ref of a region has no name before it.
                if out.ends_with(' ') {
                    out.pop();
                }
                while chars.next_if(char::is_ascii_alphanumeric).is_some() {}
                continue;
            }
            _ => {}
        }
        out.push(found);
    }
    out
}

#[cfg(test)]
mod unit {
    use super::{tests, without_refs};

    #[test]
    fn headings_begin_tests_and_fences_are_steps() {
        let text = "# File\n\nwords\n\n## One\n\n```program\nmodule m\n```\n\n````edit\n```\n````\n## Two\n```undo\n```\n";
        let found = tests(text);
        assert_eq!(found.len(), 2);
        let (title, blocks) = &found[0];
        assert_eq!((title.as_str(), blocks.len()), ("One", 2));
        assert_eq!((blocks[0].line, blocks[0].text.as_str()), (7, "module m\n"));
        assert_eq!((blocks[1].kind.as_str(), blocks[1].text.as_str()), ("edit", "```\n"));
    }

    #[test]
    fn refs_go_but_texts_stay() {
        assert_eq!(without_refs("func f#f1 () -> () #g2 {"), "func f () -> () {");
        assert_eq!(without_refs("x#n12 = print#n3 \"#n4\\\"#n5\""), "x = print \"#n4\\\"#n5\"");
    }
}

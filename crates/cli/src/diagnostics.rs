//! What is wrong with a file: mistakes of its text and findings of the verifier, in one form with their places.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use lmlang_engine::{is_of_text, refuses};
use lmlang_ir::text::{Places, Reading, TextError, read_program};
use lmlang_ir::told::candidates;
use lmlang_ir::{Ref, RefAllocator};
use lmlang_verify::{Checked, Consequences, Diagnostic};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::exit::Exit;
use crate::findings::Severity;
use crate::output::{Form, Output, counted, say};
use crate::source::{Origin, Source};

/// How much a problem weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The program is wrong.
    Error,
    /// The program can be kept, and run up to here at most.
    Incomplete,
    /// Probably not what was meant.
    Warning,
}

/// In the words of the API: whether it is incomplete stands beside the severity.
impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let severity = match self {
            Weight::Error => Severity::Error,
            Weight::Incomplete | Weight::Warning => Severity::Warning,
        };
        let mut fields = serializer.serialize_struct("Weight", 2)?;
        fields.serialize_field("severity", &severity)?;
        fields.serialize_field("incomplete", &(*self == Weight::Incomplete))?;
        fields.end()
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    /// The stable code.
    pub(crate) code: &'static str,
    /// How much it weighs.
    #[serde(flatten)]
    pub(crate) severity: Weight,
    /// What is wrong, in words.
    pub(crate) message: String,
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column in characters, from 1.
    pub(crate) column: u32,
    /// The entity that it hangs on; none for mistakes of the text.
    #[serde(rename = "ref")]
    pub(crate) of: Option<String>,
    /// What could stand there.
    pub(crate) expected: Vec<String>,
    /// Known names that come near.
    pub(crate) candidates: Vec<String>,
}

/// The program of a file.
#[derive(Debug)]
pub(crate) struct Read {
    /// The program, checked.
    pub(crate) checked: Checked,
    /// Where its entities stand in the file.
    pub(crate) places: Places,
}

/// Reads a file and checks all of it. Of one with mistakes of the text there is no program; where they are names that mean
/// nothing, types that do not fit are told as well.
pub(crate) fn check(source: &Source) -> (Option<Read>, Vec<Problem>) {
    let Reading { program, mistakes } = read_program(&source.text, &mut RefAllocator::starting_at(1));
    let is_text = mistakes.is_empty();
    let mut problems: Vec<Problem> = mistakes.into_iter().map(Problem::from).collect();
    let Some((program, places)) = program else { return (None, problems) };
    let threads = std::thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN);
    let checked = Checked::full(program, threads);
    let findings = checked.findings().iter().map(|(_, found)| found);
    let mut consequences = Consequences::new(checked.program());
    let told = findings.filter(|found| (is_text || is_of_text(found)) && !consequences.follows(found));
    problems.extend(told.map(|found| finding(found, &checked, &places)));
    problems.sort_by_key(|problem| (problem.line, problem.column));
    (is_text.then_some(Read { checked, places }), problems)
}

/// The reads of variables that may come before any assignment: legal, and so only told on request.
pub(crate) fn unassigned(read: &Read) -> Vec<Problem> {
    let Read { checked, places } = read;
    let functions = checked.program().functions().map(|(of, _)| of);
    let found = functions.flat_map(|of| lmlang_verify::unassigned(checked.program(), of));
    found.map(|found| finding(&found, checked, places)).collect()
}

/// Tells whether a file with these problems is wrong.
pub(crate) fn is_wrong(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Weight::Error)
}

/// Reads a file that must not have errors; what is wrong with it is told on standard error.
pub(crate) fn sound(source: &Source, output: Output) -> Result<Read, Exit> {
    let (read, problems) = check(source);
    match read {
        Some(read) if !is_wrong(&problems) => Ok(read),
        Some(_) | None => {
            refuse(source, &problems, output);
            Err(Exit::Verification)
        }
    }
}

/// Tells on standard error that nothing is done with a file, and why.
pub(crate) fn refuse(source: &Source, problems: &[Problem], output: Output) {
    match output.form {
        Form::Text => show(source, problems),
        Form::Json => {
            let name = source.name();
            let wrong = problems.iter().filter(|problem| problem.severity == Weight::Error).count() as u64;
            let message = format!("`{name}` has {}", counted(wrong, "error", "errors"));
            let error =
                json!({ "code": "REJECTED", "message": message, "file": name, "diagnostics": problems });
            say(json!({ "error": error }));
        }
    }
}

/// Tells people about problems, on standard error.
pub(crate) fn show(source: &Source, problems: &[Problem]) {
    let (mut name, renderer) = (source.name(), Renderer::styled());
    if source.origin == Origin::Module {
        name = format!("{name}, as text");
    }
    for problem in problems {
        say(renderer.render(&[problem.group(&name, &source.text)]));
    }
}

fn finding(found: &Diagnostic, checked: &Checked, places: &Places) -> Problem {
    let at = found.at;
    let of: Ref = at.entity;
    let owner = || places.get(at.function?.number());
    let spot = places.get(found.spot(checked.program()).number);
    let (line, column) = spot.or_else(|| places.get(of.number)).or_else(owner).unwrap_or((1, 1));
    let severity = match (refuses(found, places), found.is_incomplete()) {
        (true, _) => Weight::Error,
        (false, true) => Weight::Incomplete,
        (false, false) => Weight::Warning,
    };
    Problem {
        code: found.code.name(),
        severity,
        message: found.message(checked.program()),
        line,
        column,
        of: Some(of.to_string()),
        expected: Vec::new(),
        candidates: Vec::new(),
    }
}

impl From<TextError> for Problem {
    fn from(mistake: TextError) -> Problem {
        Problem {
            code: mistake.code,
            severity: Weight::Error,
            message: mistake.message,
            line: mistake.line,
            column: mistake.column,
            of: None,
            expected: mistake.expected,
            candidates: mistake.candidates,
        }
    }
}

impl Problem {
    /// The problem with the lines around it.
    fn group<'a>(&'a self, name: &'a str, text: &'a str) -> Group<'a> {
        let level = match self.severity {
            Weight::Error => Level::ERROR,
            Weight::Incomplete => Level::WARNING.with_name("incomplete"),
            Weight::Warning => Level::WARNING,
        };
        let at = self.offset(text);
        let word = text[at..].chars().take_while(|c| !c.is_whitespace() && !"(){},;".contains(*c));
        let end = at + word.map(char::len_utf8).sum::<usize>().max(usize::from(at < text.len()));
        let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
        let mut annotation = AnnotationKind::Primary.span(at..end);
        if !self.expected.is_empty() {
            annotation = annotation.label(format!("expected {}", self.expected.join(" or ")));
        }
        let group = level
            .primary_title(self.message.as_str())
            .id(self.code)
            .element(Snippet::source(text).path(name).annotation(annotation));
        if self.candidates.is_empty() {
            return group;
        }
        let names = self.candidates.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        group.element(Level::HELP.message(format!("{}: {names}", candidates(self.code))))
    }

    /// The place in bytes.
    fn offset(&self, text: &str) -> usize {
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            if number + 1 == self.line as usize {
                let column = line.trim_end_matches(['\n', '\r']).char_indices().nth(self.column as usize - 1);
                return start + column.map_or(line.trim_end_matches(['\n', '\r']).len(), |(at, _)| at);
            }
            start += line.len();
        }
        text.len()
    }
}

//! What a command prints: data on standard output, everything else on standard error.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
pub(crate) use lmlang_ir::counted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;

/// In which form data is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// One document; one line for each item of a stream.
    Json,
}

/// Where a command prints to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// In which form data is printed.
    pub(crate) form: Form,
}

impl Output {
    /// Prints data: the JSON form when that was asked for, the text otherwise.
    pub(crate) fn data(self, json: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Error> {
        match self.form {
            Form::Text => self.text(&text()),
            Form::Json => self.json(json),
        }
    }

    /// Prints a JSON document.
    pub(crate) fn json(self, json: &impl Serialize) -> Result<(), Error> {
        // Our documents are structs with text keys, which have a JSON form.
        let mut text = serde_json::to_string_pretty(json).expect("documents have a JSON form");
        text.push('\n');
        self.text(&text)
    }

    /// Prints one item of a stream as a line of JSON.
    pub(crate) fn json_line(self, json: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_string(json).expect("items have a JSON form");
        text.push('\n');
        self.item(&text)
    }

    /// Prints one item of a stream; an error where nobody reads it any more.
    pub(crate) fn item(self, text: &str) -> Result<(), Error> {
        let text = shown_on(&io::stdout(), text);
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(unwritten)
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        read_or_not(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// Prints text; as it is, unless a terminal would act on it.
    pub(crate) fn text(self, text: &str) -> Result<(), Error> {
        let text = shown_on(&io::stdout(), text);
        let mut out = anstream::stdout().lock();
        read_or_not(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }
}

fn unwritten(source: io::Error) -> Error {
    Error::Io { what: "writing to standard output", source }
}

/// How a document was printed. Whether anybody reads all of it changes nothing in how the command ends.
fn read_or_not(printed: io::Result<()>) -> Result<(), Error> {
    match printed {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(source)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Says something to whoever watches; never part of the data.
pub(crate) fn say(text: impl Display) {
    murmur(format_args!("{text}\n"));
}

/// Says something that does not end its line. Where nobody can hear it, a pipe is closed or a disk full, all else goes on.
pub(crate) fn murmur(text: impl Display) {
    let text = text.to_string();
    let text = shown_on(&io::stderr(), &text);
    let mut err = anstream::stderr().lock();
    err.write_all(text.as_bytes()).and_then(|()| err.flush()).ok();
}

/// What a stream is sent of a text: what others have stored, or a model says, moves no cursor of a terminal and sets no title.
fn shown_on<'t>(stream: &impl IsTerminal, text: &'t str) -> Cow<'t, str> {
    if stream.is_terminal() { for_terminal(text) } else { Cow::Borrowed(text) }
}

/// A text with colours, and with a picture of every other character that a terminal acts on.
fn for_terminal(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(acts) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let (kept, behind) = from.split_at(harmless(from));
        shown.push_str(kept);
        rest = behind;
        if kept.is_empty() {
            let mut chars = from.chars();
            shown.extend(chars.next().map(picture));
            rest = chars.as_str();
        }
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// How many bytes at the start of a text are a colour or the end of a line.
fn harmless(text: &str) -> usize {
    if text.starts_with("\r\n") {
        return 2;
    }
    let Some(style) = text.strip_prefix("\x1b[") else { return 0 };
    let end = style.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'));
    end.filter(|end| style[*end..].starts_with('m')).map_or(0, |end| "\x1b[".len() + end + 1)
}

/// The picture of a control character.
fn picture(control: char) -> char {
    match u32::from(control) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// How a list goes on behind a cursor.
pub(crate) fn rest_behind(cursor: &str) -> String {
    format!("more follow: `-n` shows more at a time, `--after {cursor}` goes on")
}

/// Asks a question that is answered with yes or no; without a terminal there is no answer.
pub(crate) fn ask(question: impl Display) -> Option<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    murmur(format_args!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    Some(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// A bar for work of known length; invisible unless standard error is a terminal.
pub(crate) fn bar(what: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
    let bar = ProgressBar::new(length).with_message(what);
    // The template is a constant of ours.
    bar.set_style(style.expect("the template is well-formed"));
    bar
}

/// A sign of life for work of unknown length; invisible unless standard error is a terminal.
pub(crate) fn spinner(what: String) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}

/// Lays rows out in columns, two spaces apart; the last column is not filled up.
pub(crate) fn columns(rows: &[impl AsRef<[String]>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.as_ref().iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row.as_ref()) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A JSON value as a cell of a table: a text as it stands, unless it would break the line; everything else as JSON.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains(char::is_control) => text.clone(),
        value => value.to_string(),
    }
}

/// A moment as everybody reads it, to the second; given as the API tells it.
pub(crate) fn moment(given: &str) -> String {
    match chrono::DateTime::parse_from_rfc3339(given) {
        Ok(time) => time.to_utc().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        Err(_) => given.to_owned(),
    }
}

/// How much something changed, as the API counts it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Counts {
    pub(crate) added: u64,
    pub(crate) removed: u64,
    pub(crate) modified: u64,
}

impl Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} -{} ~{}", self.added, self.removed, self.modified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bb", "c"], ["ää", "b", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "a   bb  c\nää  b\n");
    }

    #[test]
    fn a_terminal_is_shown_colours_and_acts_on_nothing_else() {
        let check = |text: &str, expect: &str| assert_eq!(for_terminal(text), expect, "{text:?}");
        check("Note G\n\tä\r\n", "Note G\n\tä\r\n");
        check(
            "\x1b[1m\x1b[31merror\x1b[0m: x\x1b[38;2;1;2;3my",
            "\x1b[1m\x1b[31merror\x1b[0m: x\x1b[38;2;1;2;3my",
        );
        check("a\x1b]0;title\x07b", "a␛]0;title␇b");
        check("a\x1b[2Jb\x1b[", "a␛[2Jb␛[");
        check("paid\rfree\x08\x7f\u{9b}2J\0", "paid␍free␈␡\u{fffd}2J␀");
    }

    #[test]
    fn a_cell_is_one_line() {
        assert_eq!(cell(&"Note G".into()), "Note G");
        assert_eq!(cell(&"a\nb".into()), r#""a\nb""#);
        assert_eq!(cell(&serde_json::json!({ "year": 1843 })), r#"{"year":1843}"#);
    }
}

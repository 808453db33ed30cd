//! Where texts and traces go on. Each kind of them has cursors of its own, which no other takes; those of lists are the API's.

use std::fmt::Display;

use crate::failure::RpcError;

/// What stands between the parts of a cursor.
const BETWEEN: char = ':';

/// What is read a page at a time and is no list of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paged {
    /// A program, or parts of it, in the text form.
    Text,
    /// What lies around something.
    Neighborhood,
    /// What a node depends on.
    Backward,
    /// What depends on a node.
    Forward,
    /// Who calls functions, and whom they call.
    Calls,
    /// What a change could affect.
    Impact,
    /// The answer to an operation.
    Data,
    /// A type of the API.
    Type,
    /// Names of the API.
    Names,
    /// The schema of edits.
    Edits,
    /// The trace of a run.
    Steps,
}

/// Which lines of a text an answer has: those from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// What the text is.
    pub(crate) of: Paged,
    /// The first one, from 0.
    pub(crate) from: usize,
}

impl Paged {
    /// What its cursors begin with; longer than what those of lists begin with.
    const fn word(self) -> &'static str {
        match self {
            Paged::Text => "text",
            Paged::Neighborhood => "neighborhood",
            Paged::Backward => "backward",
            Paged::Forward => "forward",
            Paged::Calls => "calls",
            Paged::Impact => "impact",
            Paged::Data => "data",
            Paged::Type => "type",
            Paged::Names => "names",
            Paged::Edits => "edits",
            Paged::Steps => "steps",
        }
    }

    /// The cursor of a place.
    pub(crate) fn cursor(self, place: impl Display) -> String {
        format!("{}{BETWEEN}{place}", self.word())
    }

    /// The lines that a cursor goes on with, all without one, and the revision that it belongs to.
    pub(crate) fn lines(self, cursor: Option<&str>) -> Result<(Option<String>, Lines), RpcError> {
        let Some(cursor) = cursor else { return Ok((None, Lines { of: self, from: 0 })) };
        let (at, line) = self.place(cursor)?.rsplit_once(BETWEEN).ok_or_else(|| self.wrong(cursor))?;
        let from = number(line).ok_or_else(|| self.wrong(cursor))?;
        Ok(((!at.is_empty()).then(|| at.to_owned()), Lines { of: self, from }))
    }

    /// The step that a cursor goes on with, the first one without.
    pub(crate) fn step(self, cursor: Option<&str>) -> Result<u64, RpcError> {
        let Some(cursor) = cursor else { return Ok(0) };
        let step = number(self.place(cursor)?).and_then(|step| u64::try_from(step).ok());
        step.ok_or_else(|| self.wrong(cursor))
    }

    fn place(self, cursor: &str) -> Result<&str, RpcError> {
        let place = cursor.strip_prefix(self.word()).and_then(|rest| rest.strip_prefix(BETWEEN));
        place.ok_or_else(|| self.wrong(cursor))
    }

    fn wrong(self, cursor: &str) -> RpcError {
        RpcError::invalid("cursor", format!("a next_cursor of {}", self.word()), format!("`{cursor}`"))
    }
}

impl Lines {
    /// The cursor that goes on with a line, of a text at a revision.
    pub(crate) fn cursor(self, at: &str, line: usize) -> String {
        self.of.cursor(format_args!("{at}{BETWEEN}{line}"))
    }
}

/// A number as it is written in a cursor.
fn number(text: &str) -> Option<usize> {
    let number: usize = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_what_gave_it() {
        let (_, all) = Paged::Text.lines(None).expect("none is needed");
        assert_eq!(all, Lines { of: Paged::Text, from: 0 });
        for (at, expect) in [("r7", Some("r7")), ("a:b", Some("a:b")), ("", None)] {
            let (read, lines) = Paged::Text.lines(Some(&all.cursor(at, 120))).expect("it is one");
            assert_eq!((read.as_deref(), lines), (expect, Lines { of: Paged::Text, from: 120 }));
        }
        assert_eq!(Paged::Steps.step(None), Ok(0));
        assert_eq!(Paged::Steps.step(Some(&Paged::Steps.cursor(7))), Ok(7));
    }

    #[test]
    fn what_is_no_cursor_of_it_is_refused() {
        for wrong in [
            "",
            "120",
            "r7:120",
            "text",
            "text:",
            "text:r7",
            "text:r7:",
            "text:r7:-1",
            "text:r7:+1",
            "calls:r7:120",
        ] {
            let error = Paged::Text.lines(Some(wrong)).expect_err(wrong);
            assert_eq!(error.data["expected"], "a next_cursor of text");
        }
        for wrong in
            ["", "7", "steps:", "steps:-1", "steps:07", "steps:99999999999999999999", "text:r7:7", "hi:7"]
        {
            Paged::Steps.step(Some(wrong)).expect_err(wrong);
        }
    }
}

//! Where readers of events go on.

use std::fmt;
use std::str::FromStr;

use lmlang_store::Position;

use crate::error::Error;
use crate::sealed::{Seal, Sealed};

/// The place behind an event. The two kinds of feeds have cursors of their own, which look different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// Among the events of one program: behind an entry of its log. Written as `r12`.
    Program(u64),
    /// Among the events of all programs. Written as `p12.3`.
    All(Position),
    /// The same, for callers who may know of some programs only, and not how much happens to others. Written as `p~`, with
    /// 59 characters behind it.
    Sealed(Sealed),
}

/// The text is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cursor looks like `r12` or `p12.3`")]
pub struct UnknownCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cursor::Program(number) => write!(f, "r{number}"),
            Cursor::All(Position { log, change }) => write!(f, "p{log}.{change}"),
            Cursor::Sealed(sealed) => write!(f, "p~{sealed}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = UnknownCursor;

    fn from_str(text: &str) -> Result<Cursor, UnknownCursor> {
        let number = |digits: &str| digits.parse().map_err(|_| UnknownCursor);
        let cursor = match (text.strip_prefix('r'), text.strip_prefix("p~"), text.strip_prefix('p')) {
            (Some(rest), _, _) => Cursor::Program(number(rest)?),
            (None, Some(rest), _) => Cursor::Sealed(rest.parse().map_err(|_| UnknownCursor)?),
            (None, None, Some(rest)) => {
                let (log, change) = rest.split_once('.').ok_or(UnknownCursor)?;
                Cursor::All(Position { log: number(log)?, change: number(change)? })
            }
            (None, None, None) => return Err(UnknownCursor),
        };
        // A number can be read of more texts than it is written as.
        if cursor.to_string() == text { Ok(cursor) } else { Err(UnknownCursor) }
    }
}

impl Cursor {
    /// Reads a cursor among the events of one program.
    pub fn of_program(given: &str) -> Result<u64, Error> {
        match given.parse() {
            Ok(Cursor::Program(number)) => Ok(number),
            Ok(Cursor::All(_) | Cursor::Sealed(_)) => {
                Err(no_cursor_of_program(given, "it is one of the events of all programs"))
            }
            Err(UnknownCursor) => Err(no_cursor_of_program(given, "one looks like `r12`")),
        }
    }

    /// Reads a cursor among the events of all programs.
    pub fn of_all(given: &str) -> Result<Cursor, Error> {
        match given.parse() {
            Ok(cursor @ (Cursor::All(_) | Cursor::Sealed(_))) => Ok(cursor),
            Ok(Cursor::Program(_)) => Err(no_cursor_of_all(given, ONE_PROGRAM)),
            Err(UnknownCursor) => Err(no_cursor_of_all(given, "one looks like `p12.3`")),
        }
    }

    /// The cursor of a place as a caller is given it.
    pub(crate) fn behind(place: Position, seal: Option<&Seal>) -> Cursor {
        match seal {
            None => Cursor::All(place),
            Some(seal) => Cursor::Sealed(seal.close([place.log, place.change])),
        }
    }
}

/// Why a cursor is none of the events of all programs.
pub(crate) const ONE_PROGRAM: &str = "it is one of the events of one program";

pub(crate) fn no_cursor_of_program(given: impl Into<String>, why: impl Into<String>) -> Error {
    Error::CursorInvalid { given: given.into(), of: "the events of this program", why: why.into() }
}

pub(crate) fn no_cursor_of_all(given: impl Into<String>, why: impl Into<String>) -> Error {
    Error::CursorInvalid { given: given.into(), of: "the events of all programs", why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Cursor, UnknownCursor>) {
        assert_eq!(text.parse(), expected, "{text}");
        if let Ok(cursor) = expected {
            assert_eq!(cursor.to_string(), text);
        }
    }

    #[test]
    fn cursors_are_read_as_they_are_written() {
        let all = |log, change| Ok(Cursor::All(Position { log, change }));
        check("r0", Ok(Cursor::Program(0)));
        check("r18446744073709551615", Ok(Cursor::Program(u64::MAX)));
        check("p0.0", all(0, 0));
        check("p12.3", all(12, 3));
        let sealed = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKis";
        check(&format!("p~{sealed}"), Ok(Cursor::Sealed(sealed.parse().expect("it is well-formed"))));
        for text in
            ["p~", "p~12.3", &format!("r~{sealed}"), &format!("p{sealed}"), &format!("p~{}", &sealed[4..])]
        {
            check(text, Err(UnknownCursor));
        }
        for text in ["", "r", "p", "12", "p12", "p12.", "p.3", "p1.2.3", "r-1", "q1", "r18446744073709551616"]
        {
            check(text, Err(UnknownCursor));
        }
        for text in ["r+1", "r01", "r 1", "p+1.2", "p1.02", "R1", "hi:1"] {
            check(text, Err(UnknownCursor));
        }
    }
}

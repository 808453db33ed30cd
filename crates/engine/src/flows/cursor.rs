//! Where listeners of runs go on.

use std::fmt;
use std::str::FromStr;

use crate::engine::Engine;
use crate::error::Error;
use crate::sealed::{Places, Seal, Sealed};

/// A place in the feed of what happens to runs: behind one of the events that an entry is told as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunPlace {
    /// The position of the entry among those of all journals.
    pub position: u64,
    /// Which event of the entry, from 0 on.
    pub event: u32,
}

/// Where a listener goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCursor {
    /// Behind a place. Written as `j12.1`.
    At(RunPlace),
    /// The same, for callers who may know of the runs of some programs only, and not how much happens to others. Written as
    /// `j~`, with 59 characters behind it.
    Sealed(Sealed),
}

impl Default for RunCursor {
    /// Behind nothing: all that is stored is told again.
    fn default() -> RunCursor {
        RunCursor::At(RunPlace::default())
    }
}

/// The text is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cursor looks like `j12.0`")]
pub struct UnknownRunCursor;

impl fmt::Display for RunCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunCursor::At(RunPlace { position, event }) => write!(f, "j{position}.{event}"),
            RunCursor::Sealed(sealed) => write!(f, "j~{sealed}"),
        }
    }
}

impl FromStr for RunCursor {
    type Err = UnknownRunCursor;

    fn from_str(text: &str) -> Result<RunCursor, UnknownRunCursor> {
        if let Some(sealed) = text.strip_prefix("j~") {
            return sealed.parse().map(RunCursor::Sealed).map_err(|_| UnknownRunCursor);
        }
        let (position, event) =
            text.strip_prefix('j').and_then(|rest| rest.split_once('.')).ok_or(UnknownRunCursor)?;
        let position = position.parse().map_err(|_| UnknownRunCursor)?;
        let cursor =
            RunCursor::At(RunPlace { position, event: event.parse().map_err(|_| UnknownRunCursor)? });
        // A number can be read of more texts than it is written as.
        if cursor.to_string() == text { Ok(cursor) } else { Err(UnknownRunCursor) }
    }
}

impl RunCursor {
    /// Reads a cursor among the events of runs.
    pub fn of_runs(given: &str) -> Result<RunCursor, Error> {
        given.parse().map_err(|_: UnknownRunCursor| no_cursor_of_runs(given, "one looks like `j12.0`"))
    }

    /// The cursor of a place as a caller is given it.
    pub(crate) fn behind(place: RunPlace, seal: Option<&Seal>) -> RunCursor {
        match seal {
            None => RunCursor::At(place),
            Some(seal) => RunCursor::Sealed(seal.close([place.position, place.event.into()])),
        }
    }
}

fn no_cursor_of_runs(given: impl Into<String>, why: impl Into<String>) -> Error {
    Error::CursorInvalid { given: given.into(), of: "the events of runs", why: why.into() }
}

impl Engine {
    /// The cursor behind everything that has happened to runs.
    pub async fn run_cursor(&self) -> Result<RunCursor, Error> {
        let seal = self.sealing(Places::Runs).await?;
        Ok(RunCursor::behind(self.newest_place().await?, seal.as_ref()))
    }

    pub(crate) async fn newest_place(&self) -> Result<RunPlace, Error> {
        Ok(RunPlace { position: self.store().journal_position().await?, event: u32::MAX })
    }

    /// The place of a cursor that this caller may have been given, when this is the newest one. Who may know of the runs of some
    /// programs only is told nothing of where others are.
    pub(crate) async fn run_place(&self, cursor: RunCursor, newest: RunPlace) -> Result<RunPlace, Error> {
        let refused = |why: String| no_cursor_of_runs(cursor.to_string(), why);
        let place = match cursor {
            // The beginning tells nothing.
            RunCursor::At(place) if self.is_unlimited() || place == RunPlace::default() => place,
            RunCursor::At(_) => {
                return Err(refused("it is not one of those that this token is given".to_owned()));
            }
            RunCursor::Sealed(sealed) => {
                let place = self.seal(Places::Runs).await?.open(&sealed);
                let read = |[position, event]: [u64; 2]| {
                    u32::try_from(event).ok().map(|event| RunPlace { position, event })
                };
                let unread = || refused("it was not given by a server with this database".to_owned());
                place.and_then(read).ok_or_else(unread)?
            }
        };
        match (place.position > newest.position, self.is_unlimited()) {
            (false, _) => Ok(place),
            (true, true) => Err(refused(format!("the newest one is `j{}.0`", newest.position))),
            (true, false) => Err(refused("nothing has come to it".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_are_written() {
        let sealed = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKis";
        let (good, of_programs) = (format!("j~{sealed}"), format!("p~{sealed}"));
        for (text, expected) in [
            ("j0.0", Some(RunCursor::default())),
            ("j12.1", Some(RunCursor::At(RunPlace { position: 12, event: 1 }))),
            (good.as_str(), sealed.parse().ok().map(RunCursor::Sealed)),
            ("j~", None),
            ("j~12.1", None),
            (of_programs.as_str(), None),
            (sealed, None),
            ("j12", None),
            ("j01.0", None),
            ("j1.-1", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
            assert!(expected.is_none_or(|cursor| cursor.to_string() == text), "{text}");
        }
    }
}

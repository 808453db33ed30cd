//! Standard input.

use std::sync::Arc;

use crate::machine::Stop;

/// Standard input: bytes, in the pieces in which they came.
///
/// One read of WASI gives what is left of a piece at most, as with a terminal or a pipe. So a run follows from the
/// pieces, and not from when they came. Operators read on over their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    bytes: Arc<Vec<u8>>,
    /// Where pieces end, but for the last one.
    ends: Arc<Vec<usize>>,
    rest: Rest,
}

/// What there is behind the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rest {
    /// Nothing: they are all.
    #[default]
    Nothing,
    /// More, for which a run waits.
    Comes,
    /// A run that is shown again did not see it.
    Unknown,
}

impl Input {
    /// Input that comes while the program runs, by [`crate::Run::feed`].
    pub fn open() -> Input {
        Input { rest: Rest::Comes, ..Input::default() }
    }

    /// What has come of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a piece; an empty one is the end.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            self.rest = Rest::Nothing;
            return;
        }
        if !self.bytes.is_empty() {
            Arc::make_mut(&mut self.ends).push(self.bytes.len());
        }
        Arc::make_mut(&mut self.bytes).extend_from_slice(piece);
    }

    /// The same for a run that is made again as far as this one came.
    pub(crate) fn seen(&self) -> Input {
        let rest = if self.rest == Rest::Comes { Rest::Unknown } else { self.rest };
        Input { rest, ..self.clone() }
    }

    /// What is left of a piece from a position on; nothing at the end of all.
    pub(super) fn piece(&self, at: usize) -> Result<&[u8], Stop> {
        if at == self.bytes.len() {
            return self.at_end().map(|()| &[][..]);
        }
        let end = self.ends.get(self.ends.partition_point(|end| *end <= at)).copied();
        Ok(&self.bytes[at..end.unwrap_or(self.bytes.len())])
    }

    /// So many bytes from a position on; less only at the end of all.
    pub(super) fn up_to(&self, at: usize, most: usize) -> Result<&[u8], Stop> {
        let rest = &self.bytes[at..];
        match rest.get(..most) {
            Some(bytes) => Ok(bytes),
            None => self.at_end().map(|()| rest),
        }
    }

    /// The line from a position on, with its end; nothing at the end of all. What is before `sought` has no such end.
    pub(super) fn line(&self, at: usize, sought: usize) -> Result<&[u8], Stop> {
        let from = at.max(sought);
        match self.bytes[from..].iter().position(|byte| *byte == b'\n') {
            Some(end) => Ok(&self.bytes[at..=from + end]),
            None => self.at_end().map(|()| &self.bytes[at..]),
        }
    }

    /// Whether the bytes are all; says what to do if they are not.
    fn at_end(&self) -> Result<(), Stop> {
        match self.rest {
            Rest::Nothing => Ok(()),
            Rest::Comes => Err(Stop::Input),
            Rest::Unknown => Err(Stop::Cancelled),
        }
    }
}

impl From<&[u8]> for Input {
    fn from(bytes: &[u8]) -> Input {
        bytes.to_vec().into()
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Input {
        text.as_bytes().into()
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Input {
        Input { bytes: Arc::new(bytes), ..Input::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_as_they_came() {
        let mut input = Input::open();
        assert_eq!(input.piece(0), Err(Stop::Input));
        input.push(b"ab");
        input.push(b"c\nd");
        assert_eq!(input.piece(0), Ok(&b"ab"[..]));
        assert_eq!(input.piece(1), Ok(&b"b"[..]));
        assert_eq!(input.piece(2), Ok(&b"c\nd"[..]));
        assert_eq!(input.up_to(1, 3), Ok(&b"bc\n"[..]));
        assert_eq!(input.up_to(1, 5), Err(Stop::Input));
        assert_eq!(input.line(1, 2), Ok(&b"bc\n"[..]));
        assert_eq!(input.line(4, 4), Err(Stop::Input));
        assert_eq!(input.seen().piece(5), Err(Stop::Cancelled));
        input.push(b"");
        assert_eq!(input.line(4, 4), Ok(&b"d"[..]));
        assert_eq!(
            (input.piece(5), input.up_to(5, 1), input.line(5, 5)),
            (Ok(&[][..]), Ok(&[][..]), Ok(&[][..]))
        );
        assert_eq!(input.seen(), input);
    }
}

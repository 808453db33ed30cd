//! Event streams, as lines of bytes come in.
//!
//! Written here rather than taken from a library: those that there are keep whatever is sent, and refuse lines that the
//! standard says to ignore, which servers and proxies of models do send.

/// Longest line, and longest event, in bytes.
const LONGEST: usize = 4 << 20;

/// Reads the data of events out of bytes that come in any pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    begun: bool,
    after_return: bool,
}

/// A line or an event that is longer than any may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    /// The most.
    pub(super) limit: usize,
}

impl Events {
    /// Takes more bytes, and gives the data of the events that end in them.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), TooLong> {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.grow(&rest[..end])?;
            let returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if returned {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            self.line_ends(out)?;
        }
        self.grow(rest)
    }

    /// The data of an event that no empty line ends.
    pub(super) fn end(mut self) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut out = Vec::new();
        self.line_ends(&mut out)?;
        out.extend(self.data.take());
        Ok(out)
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > LONGEST {
            return Err(TooLong { limit: LONGEST });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line_ends(&mut self, out: &mut Vec<Vec<u8>>) -> Result<(), TooLong> {
        let mut line = std::mem::take(&mut self.line);
        if !self.begun {
            self.begun = true;
            if line.starts_with(b"\xEF\xBB\xBF") {
                line.drain(..3);
            }
        }
        if line.is_empty() {
            out.extend(self.data.take());
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        if field == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let data = match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data
                }
                none => none.insert(Vec::new()),
            };
            if data.len() + value.len() > LONGEST {
                return Err(TooLong { limit: LONGEST });
            }
            data.extend_from_slice(value);
        }
        // The line's memory serves the next one.
        line.clear();
        self.line = line;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_bytes(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut events = Events::default();
        let mut out = Vec::new();
        for piece in pieces {
            events.push(piece, &mut out).unwrap();
        }
        out.extend(events.end().unwrap());
        out
    }

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        read_bytes(pieces).into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(read(&[text.as_bytes()]), expect);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), expect, "byte by byte");
    }

    #[test]
    fn events_are_read_however_their_lines_end() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data: é\ndata:  x\n\n", &["é\n x"]);
        check("\u{feff}: note\nevent: message\nid: 1\nretry: 3\nnonsense\nother: x\ndata:a\n\n\n\n", &["a"]);
        check("data\n\n", &[""]);
        check("data: a\n\ndata: b", &["a", "b"]);
        check("", &[]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        /// What is read does not depend on where bytes are split, whatever they are.
        #[test]
        fn any_split_reads_the_same(words in prop::collection::vec(0..WORDS.len(), 0..24), cut in any::<usize>()) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| WORDS[*word]).copied().collect();
            let (first, second) = bytes.split_at(cut % (bytes.len() + 1));
            prop_assert_eq!(read_bytes(&[first, second]), read_bytes(&[&bytes]));
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read_bytes(&single), read_bytes(&[&bytes]));
        }
    }

    const WORDS: [&[u8]; 9] = [b"data", b":", b" ", b"\r", b"\n", b"\xEF\xBB\xBF", b"\xC3", b"\xA9", b"id"];

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut events = Events::default();
        let mut out = Vec::new();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..4 {
            events.push(&piece, &mut out).unwrap();
        }
        assert_eq!(events.push(b"x", &mut out), Err(TooLong { limit: LONGEST }));
    }

    #[test]
    fn an_event_of_many_lines_is_not_kept() {
        let mut events = Events::default();
        let mut out = Vec::new();
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let lines = (0..5).map(|_| events.push(line.as_bytes(), &mut out));
        assert_eq!(lines.last(), Some(Err(TooLong { limit: LONGEST })));
    }
}

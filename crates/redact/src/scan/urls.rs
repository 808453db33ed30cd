//! User and password in addresses: `postgres://user:pw@host`.

use std::ops::Range;

use super::run;

/// Addresses in a text, read from its beginning to its end.
#[derive(Default)]
pub(super) struct Urls {
    /// Where the next `@` is, as far as it is known.
    next_at: Option<usize>,
    /// Where the next space is, as far as it is known.
    end: usize,
}

impl Urls {
    /// Finds who is named in the address whose scheme ends here.
    pub(super) fn userinfo(&mut self, text: &[u8], colon: usize) -> Option<Range<usize>> {
        if !text[colon..].starts_with(b"://") {
            return None;
        }
        let from = colon + 3;
        let authority = run(text, from, |byte| !ends(byte) && !matches!(byte, b'/' | b'?' | b'#'));
        if let Some(at) = text[from..authority].iter().rposition(|byte| *byte == b'@') {
            return (at > 0).then(|| from..from + at);
        }
        // A password with a `/` in it: what stands behind the colon is no port.
        let port = text[from..authority].iter().position(|byte| *byte == b':')? + from + 1;
        let no_port = port == authority || !text[port..authority].iter().all(u8::is_ascii_digit);
        if text[from] == b'[' || !no_port {
            return None;
        }
        if self.end < authority {
            self.end = run(text, authority, |byte| !ends(byte));
        }
        if self.next_at.is_none_or(|at| at < authority) {
            let next = text[authority..].iter().position(|byte| *byte == b'@');
            self.next_at = Some(next.map_or(text.len(), |next| authority + next));
        }
        self.next_at.filter(|at| *at < self.end).map(|at| from..at)
    }
}

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>')
}

//! A text as it reads when it is decoded: without percent-encoding, without the escapes of JSON.
//!
//! What is secret is looked for in every reading of a text, and hidden in the text itself. So one rule per kind of secret
//! is enough, and an encoding that mixes escaped and plain characters is no way around it.

use std::ops::Range;

/// How many digits an escape has at its end, at most.
pub(crate) const MOST_DIGITS: usize = 4;

/// Tells whether a byte that follows a backslash is an escape with it.
pub(crate) fn ends_escape(byte: u8) -> bool {
    short(byte).is_some()
}

/// Bytes, and where in the text each of them comes from.
pub(crate) struct View {
    bytes: Vec<u8>,
    /// For each byte, and for the end, the place in the text; none where they are the text.
    places: Option<Vec<usize>>,
}

impl View {
    /// Gives every reading of a text that differs from the ones before.
    pub(crate) fn each(text: &str, mut tell: impl FnMut(&View)) {
        let plain = View { bytes: text.as_bytes().to_vec(), places: None };
        tell(&plain);
        // A document in a text in a document: two layers, as when an error quotes an answer.
        if let Some(json) = plain.decoded(escape) {
            tell(&json);
            if let Some(json) = json.decoded(escape) {
                tell(&json);
            }
        }
        if let Some(percent) = plain.decoded(percent) {
            tell(&percent);
            if let Some(json) = percent.decoded(escape) {
                tell(&json);
            }
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what of the text a span of the view comes from.
    pub(crate) fn origin(&self, span: &Range<usize>) -> Range<usize> {
        match &self.places {
            None => span.clone(),
            Some(places) => places[span.start]..places[span.end],
        }
    }

    fn decoded(&self, decode: impl Fn(&[u8]) -> Option<Unit>) -> Option<View> {
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        let mut at = 0;
        let mut copied = 0;
        let place = |at: usize| self.places.as_ref().map_or(at, |places| places[at]);
        while at < self.bytes.len() {
            let Some(unit) = decode(&self.bytes[at..]) else {
                at += 1;
                continue;
            };
            bytes.extend_from_slice(&self.bytes[copied..at]);
            places.extend((copied..at).map(place));
            bytes.extend_from_slice(&unit.bytes[..unit.length]);
            places.extend(std::iter::repeat_n(place(at), unit.length));
            at += unit.read;
            copied = at;
        }
        if copied == 0 {
            return None;
        }
        bytes.extend_from_slice(&self.bytes[copied..]);
        places.extend((copied..=self.bytes.len()).map(place));
        Some(View { bytes, places: Some(places) })
    }
}

/// What an escape stands for.
struct Unit {
    bytes: [u8; 4],
    length: usize,
    /// How many bytes the escape has.
    read: usize,
}

impl Unit {
    fn byte(byte: u8, read: usize) -> Unit {
        Unit { bytes: [byte, 0, 0, 0], length: 1, read }
    }
}

fn percent(rest: &[u8]) -> Option<Unit> {
    let [b'%', high, low, ..] = rest else { return None };
    Some(Unit::byte(hex(*high)? << 4 | hex(*low)?, 3))
}

fn escape(rest: &[u8]) -> Option<Unit> {
    let [b'\\', kind, ..] = rest else { return None };
    match kind {
        b'u' => unicode(rest),
        kind => Some(Unit::byte(short(*kind)?, 2)),
    }
}

fn short(kind: u8) -> Option<u8> {
    match kind {
        b'"' | b'\\' | b'/' => Some(kind),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'b' => Some(8),
        b'f' => Some(12),
        _ => None,
    }
}

fn unicode(rest: &[u8]) -> Option<Unit> {
    let first = code(rest)?;
    let pair = || {
        let second = code(&rest[6..])?;
        (0xdc00..0xe000).contains(&second).then(|| 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    };
    let (code, read) = match first {
        0xd800..0xdc00 => (pair()?, 12),
        _ => (first, 6),
    };
    let mut bytes = [0; 4];
    let length = char::from_u32(code)?.encode_utf8(&mut bytes).len();
    Some(Unit { bytes, length, read })
}

fn code(rest: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = rest else { return None };
    let digits = digits.get(..4)?;
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | u32::from(hex(*digit)?)))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

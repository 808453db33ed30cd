//! Content hashes: BLAKE3 over a canonical byte form.
//!
//! A made collision would serve one program another's cached code, so the hash is cryptographic.

use std::fmt;

/// Bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A 32-byte content hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of nothing: an empty trie.
    pub const ZERO: Hash = Hash([0; 32]);

    /// The hash of a text in lower-case hexadecimal digits, or `None`.
    pub fn from_hex(text: &str) -> Option<Hash> {
        blake3::Hash::from_hex(text).ok().map(|hash| Hash(*hash.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Something with a canonical byte form.
pub trait Content {
    /// Feeds the canonical form: what was authored, never what is derived.
    fn hash_into(&self, hasher: &mut Hasher);
}

impl<T: Content> Content for std::sync::Arc<T> {
    fn hash_into(&self, hasher: &mut Hasher) {
        (**self).hash_into(hasher);
    }
}

/// Collects a canonical form: every variable-length part is preceded by its length, so no two contents run together.
#[derive(Debug)]
pub struct Hasher {
    buffer: Vec<u8>,
}

impl Hasher {
    /// Starts with a tag that keeps hashes of different kinds of content apart.
    pub fn new(tag: &[u8]) -> Hasher {
        let mut hasher = Hasher { buffer: Vec::with_capacity(512) };
        hasher.text_bytes(tag);
        hasher
    }

    /// Adds a number: LEB128, so that small ones stay small.
    pub fn number(&mut self, mut number: u64) -> &mut Hasher {
        while number >= 0x80 {
            self.buffer.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.buffer.push(number as u8);
        self
    }

    /// Adds bytes of a length that the reader of the form knows.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Hasher {
        self.buffer.extend_from_slice(bytes);
        self
    }

    /// Adds a text with its length.
    pub fn text(&mut self, text: &str) -> &mut Hasher {
        self.text_bytes(text.as_bytes())
    }

    /// Adds an optional text; absence differs from the empty text.
    pub fn optional(&mut self, text: Option<&str>) -> &mut Hasher {
        match text {
            None => self.number(0),
            Some(text) => self.number(1).text(text),
        }
    }

    fn text_bytes(&mut self, bytes: &[u8]) -> &mut Hasher {
        self.number(bytes.len() as u64).bytes(bytes)
    }

    /// The hash of all that was added.
    pub fn finish(&self) -> Hash {
        Hash(*blake3::hash(&self.buffer).as_bytes())
    }
}

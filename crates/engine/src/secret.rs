//! What a token looks like: `lml_`, eight characters that name it, `_`, and 43 that nobody can guess.

use std::fmt;

use crate::clock::Clock;

/// The beginning of every token, by which scanners of texts know one.
const PREFIX: &str = "lml_";
/// Characters of the public part.
const ID: usize = 8;
/// Characters of the secret part: 256 bits.
const SECRET: usize = 43;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The text of a token, which is shown once and kept nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(clock: &Clock) -> Secret {
        let (id, secret) = (digits(clock, ID), digits(clock, SECRET));
        Secret(format!("{PREFIX}{id}_{secret}"))
    }

    /// The text, for whoever is to have it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the token is called in public.
    pub(crate) fn id(&self) -> &str {
        id(&self.0).expect("it is written like a token")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What a text that is written like a token is called in public.
pub(crate) fn id(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let plain = |part: &str, length| part.len() == length && part.bytes().all(|byte| DIGITS.contains(&byte));
    (plain(id, ID) && plain(secret, SECRET)).then_some(id)
}

/// The hash by which a token is found.
///
/// It is a fast one: there is nothing to guess in 256 random bits, so nothing is won by slowness, as it is with passwords.
pub(crate) fn hash(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// Random digits of base 62, each as likely as any other.
fn digits(clock: &Clock, count: usize) -> String {
    let mut digits = String::with_capacity(count);
    while digits.len() < count {
        let mut bytes = [0; 64];
        clock.random(&mut bytes);
        // What is beyond a multiple of 62 would make some digits likelier.
        let even = bytes.iter().filter(|byte| **byte < 248);
        digits.extend(even.map(|byte| char::from(DIGITS[usize::from(byte % 62)])).take(count - digits.len()));
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_written_so_and_not_otherwise() {
        let (one, other) = (Secret::new(&Clock::default()), Secret::new(&Clock::default()));
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 56);
        assert_eq!(format!("{PREFIX}{}_", one.id()), one.reveal()[..13]);
        assert_eq!(format!("{one:?}"), "Secret(..)");
        for other in
            ["", "lml_", "lml__", &one.reveal()[1..], &one.reveal()[..55], &one.reveal().replace('_', "-")]
        {
            assert_eq!(id(other), None, "{other}");
        }
        assert_ne!(hash(one.reveal()), hash(&one.reveal()[..55]));
    }
}

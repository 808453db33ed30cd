//! Places among what is in all programs, for callers who may know of some programs only.
//!
//! A place counts what happened to all programs, so such a caller is given it as a text that says nothing: neither how much
//! happened, nor whether two places are the same, nor how far they lie apart. The key is in the database: every process over it
//! reads what another one wrote, after a restart too.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::clock::Clock;
use crate::engine::Engine;
use crate::error::Error;

/// The secret of the database that keys are derived from.
const SECRET: &str = "cursors";

/// Bytes of a place.
const PLACE: usize = 16;
/// Bytes by which a text is known that was made with the key.
const TAG: usize = 16;
/// What makes two texts of one place differ, the place, and the tag.
const BYTES: usize = NONCE_LEN + PLACE + TAG;

/// A place that only processes over the same database can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed([u8; BYTES]);

/// The text is nothing sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("59 characters of base64 are expected")]
pub struct UnknownSealed;

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

impl FromStr for Sealed {
    type Err = UnknownSealed;

    fn from_str(text: &str) -> Result<Sealed, UnknownSealed> {
        let bytes = BASE64.decode(text).map_err(|_| UnknownSealed)?;
        bytes.try_into().map(Sealed).map_err(|_| UnknownSealed)
    }
}

/// What has places that are sealed, each with a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// Among the events of all programs.
    Programs,
    /// Among the events of runs.
    Runs,
    /// In lists whose items are counted over all programs.
    Lists,
}

impl Places {
    /// What the key is for: it follows from these words, which never change.
    const fn context(self) -> &'static str {
        match self {
            Places::Programs => "lmlang 2026-11-28 cursors of programs",
            Places::Runs => "lmlang 2026-11-28 cursors of runs",
            Places::Lists => "lmlang 2026-11-28 cursors of lists",
        }
    }
}

/// What keys are derived from. It is shown to nobody.
pub(crate) struct CursorSecret([u8; 32]);

impl fmt::Debug for CursorSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CursorSecret(..)")
    }
}

/// Seals places of one kind, and opens them: `ChaCha20-Poly1305` of RFC 8439.
pub(crate) struct Seal {
    key: LessSafeKey,
    clock: Clock,
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl Seal {
    fn new(secret: &CursorSecret, places: Places, clock: Clock) -> Seal {
        let key = blake3::derive_key(places.context(), &secret.0);
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).expect("its keys are of 32 bytes");
        Seal { key: LessSafeKey::new(key), clock }
    }

    /// The place, another text each time.
    pub(crate) fn close(&self, [first, second]: [u64; 2]) -> Sealed {
        let mut bytes = [0; BYTES];
        let (nonce, rest) = bytes.split_at_mut(NONCE_LEN);
        let (hidden, tag) = rest.split_at_mut(PLACE);
        self.clock.random(nonce);
        hidden[..8].copy_from_slice(&first.to_be_bytes());
        hidden[8..].copy_from_slice(&second.to_be_bytes());
        // Of 96 random bits: nobody makes as many that two of them are equal.
        let nonce = Nonce::try_assume_unique_for_key(nonce).expect("it has the length of one");
        let made = self.key.seal_in_place_separate_tag(nonce, Aad::empty(), hidden);
        tag.copy_from_slice(made.expect("a place is short").as_ref());
        Sealed(bytes)
    }

    /// The place of what was sealed with this key; none of anything else.
    pub(crate) fn open(&self, sealed: &Sealed) -> Option<[u64; 2]> {
        let mut bytes = sealed.0;
        let (nonce, hidden) = bytes.split_at_mut(NONCE_LEN);
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let place = self.key.open_in_place(nonce, Aad::empty(), hidden).ok()?;
        let (first, second) = place.split_at_checked(8)?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_be_bytes);
        Some([number(first)?, number(second)?])
    }
}

/// Seals places in lists whose items are counted over all programs, for callers who may know of some only.
#[derive(Debug)]
pub struct Numbering(Option<Seal>);

impl Numbering {
    /// Whether places are sealed for this caller.
    #[must_use]
    pub fn seals(&self) -> bool {
        self.0.is_some()
    }

    /// The place, another text each time; none where nothing is sealed.
    #[must_use]
    pub fn seal(&self, place: [u64; 2]) -> Option<Sealed> {
        self.0.as_ref().map(|seal| seal.close(place))
    }

    /// The place of what was sealed over this database; none of anything else.
    #[must_use]
    pub fn open(&self, sealed: &Sealed) -> Option<[u64; 2]> {
        self.0.as_ref()?.open(sealed)
    }
}

impl Engine {
    /// What seals places in lists for this caller.
    pub async fn numbering(&self) -> Result<Numbering, Error> {
        self.sealing(Places::Lists).await.map(Numbering)
    }

    /// What seals places of a feed for this caller; none for one who may know of all programs.
    pub(crate) async fn sealing(&self, places: Places) -> Result<Option<Seal>, Error> {
        match self.is_unlimited() {
            true => Ok(None),
            false => self.seal(places).await.map(Some),
        }
    }

    /// What seals places of a feed, and opens them.
    pub(crate) async fn seal(&self, places: Places) -> Result<Seal, Error> {
        let clock = &self.0.clock;
        let secret = self.0.cursor_secret.get_or_try_init(|| async {
            let mut new = [0; 32];
            clock.random(&mut new);
            self.store().secret(SECRET, new).await.map(CursorSecret)
        });
        Ok(Seal::new(secret.await?, places, clock.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn seal(secret: u8, places: Places) -> Seal {
        Seal::new(&CursorSecret([secret; 32]), places, Clock::default())
    }

    #[test]
    fn what_is_sealed_is_opened_by_the_same_key_only() {
        let here = seal(1, Places::Programs);
        for place in [[0, 0], [1, 0], [0, 1], [12, 3], [u64::MAX, 0], [0, u64::MAX], [u64::MAX; 2]] {
            let sealed = here.close(place);
            let text = sealed.to_string();
            assert_eq!((text.len(), text.parse()), (59, Ok(sealed)));
            assert_eq!(seal(1, Places::Programs).open(&sealed), Some(place));
            assert_eq!(seal(2, Places::Programs).open(&sealed), None);
            assert_eq!(seal(1, Places::Runs).open(&sealed), None);
        }
        assert_eq!(format!("{here:?} {:?}", CursorSecret([1; 32])), "Seal(..) CursorSecret(..)");
    }

    #[test]
    fn one_place_is_another_text_each_time() {
        let seal = seal(1, Places::Runs);
        let texts: HashSet<String> = (0..1_000).map(|_| seal.close([7, 7]).to_string()).collect();
        assert_eq!(texts.len(), 1_000);
        // No byte of it stands still.
        let sealed: Vec<Sealed> = (0..100).map(|_| seal.close([7, 7])).collect();
        for at in 0..BYTES {
            let bytes: HashSet<u8> = sealed.iter().map(|sealed| sealed.0[at]).collect();
            assert!(bytes.len() > 1, "byte {at} is {bytes:?}");
        }
    }

    #[test]
    fn a_bit_that_is_another_is_seen() {
        let seal = seal(1, Places::Programs);
        let sealed = seal.close([12, 3]);
        for bit in 0..8 * BYTES {
            let mut other = sealed;
            other.0[bit / 8] ^= 1_u8 << (bit % 8);
            assert_eq!(seal.open(&other), None, "bit {bit}");
        }
    }

    #[test]
    fn other_texts_are_nothing_sealed() {
        let text = seal(1, Places::Programs).close([12, 3]).to_string();
        for other in
            ["", "p12.3", &text[1..], &format!("{text}A"), &format!("{text}="), &format!(" {}", &text[1..])]
        {
            assert_eq!(other.parse::<Sealed>(), Err(UnknownSealed), "{other}");
        }
    }
}

//! Names of revisions: what stands behind `at:`.

use std::fmt;
use std::str::FromStr;

use lmlang_ir::{Hash, refs, text};
use thiserror::Error;

/// The fewest digits of a hash that name a revision.
pub const MIN_DIGITS: usize = 8;

/// The longest name of a branch or a checkpoint, in bytes.
pub const MAX_NAME: usize = 200;

/// The branch that every program has.
pub const MAIN: &str = "main";

/// A revision as someone named it: `main`, `main~2`, `r118`, `3fa94c01`, a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RevisionName {
    /// What the counting starts from.
    pub base: Base,
    /// How many parents back.
    pub back: u32,
}

/// The part of a revision's name before `~`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The number of an entry.
    Number(u64),
    /// The first digits of a hash, in lower case.
    Hash(String),
    /// A branch or a checkpoint: they share one namespace.
    Named(String),
}

/// A text that names no revision.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseRevisionError {
    /// Nothing stands there.
    #[error("a revision's name is empty")]
    Empty,
    /// What follows `~` is no number.
    #[error("expected a number after `~` in `{0}`")]
    Back(String),
    /// A number without an entry.
    #[error("`{0}` is no number of a revision: they start at r1")]
    Number(String),
    /// No branch or checkpoint can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// A name that no branch or checkpoint may have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Nothing, or spaces at an end.
    #[error("a name is not empty and has no spaces around it")]
    Blank,
    /// Longer than [`MAX_NAME`].
    #[error("a name has at most {MAX_NAME} characters, this one {0}")]
    Long(usize),
    /// A character with a meaning in revisions and ids, or one that nobody sees.
    #[error("`{name}` contains {character:?}")]
    Character {
        /// The name.
        name: String,
        /// The character.
        character: char,
    },
    /// It reads as a revision's number or hash.
    #[error("`{0}` cannot be a name: it reads as a revision")]
    LikeRevision(String),
    /// It reads as an entity or a dry run in an id.
    #[error("`{0}` cannot be a name: it reads as a part of an id")]
    LikeId(String),
    /// It reads as two revisions.
    #[error("`{0}` reads as two revisions: `..` stands between these, and no name begins or ends with `.`")]
    LikeRange(String),
}

impl FromStr for RevisionName {
    type Err = ParseRevisionError;

    fn from_str(text: &str) -> Result<RevisionName, ParseRevisionError> {
        let (base, back) = match text.split_once('~') {
            None => (text, 0),
            Some((base, "")) => (base, 1),
            Some((base, digits)) => {
                let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
                let back = digits.parse().ok().filter(|_| plain);
                (base, back.ok_or_else(|| ParseRevisionError::Back(shortened(text)))?)
            }
        };
        Ok(RevisionName { base: base.parse()?, back })
    }
}

impl FromStr for Base {
    type Err = ParseRevisionError;

    fn from_str(text: &str) -> Result<Base, ParseRevisionError> {
        if text.is_empty() {
            return Err(ParseRevisionError::Empty);
        }
        if let Some(digits) = number_digits(text) {
            let number = digits.parse().ok().filter(|number| *number > 0 && !digits.starts_with('0'));
            return number.map(Base::Number).ok_or_else(|| ParseRevisionError::Number(shortened(text)));
        }
        if is_hash(text) {
            return Ok(Base::Hash(text.to_ascii_lowercase()));
        }
        check_name(text)?;
        Ok(Base::Named(text.to_string()))
    }
}

impl fmt::Display for RevisionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Number(number) => write!(f, "r{number}")?,
            Base::Hash(text) | Base::Named(text) => f.write_str(text)?,
        }
        match self.back {
            0 => Ok(()),
            back => write!(f, "~{back}"),
        }
    }
}

/// The smallest and the largest hash that begin with the hexadecimal digits of a [`Base::Hash`].
pub fn hashes_from(digits: &str) -> (Hash, Hash) {
    let bound = |fill: u8| {
        let mut hash = [fill << 4 | fill; 32];
        for (index, digit) in digits.bytes().enumerate().take(64) {
            let value = char::from(digit).to_digit(16).map_or(0, |value| value as u8);
            let byte = &mut hash[index / 2];
            *byte = if index % 2 == 0 { value << 4 | fill } else { *byte & 0xf0 | value };
        }
        Hash(hash)
    };
    (bound(0), bound(0xf))
}

/// Checks that a branch or checkpoint can have a name.
///
/// Refused is what reads as a revision (`r118`, eight or more hexadecimal digits), what contains `~`, `@` or a control
/// character, and what reads as a part of an id (`dry-…`, a last segment like `f7`).
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.trim() != name || name.is_empty() {
        return Err(NameError::Blank);
    }
    let length = name.chars().count();
    if length > MAX_NAME {
        return Err(NameError::Long(length));
    }
    if let Some(character) = name.chars().find(|c| matches!(c, '~' | '@') || c.is_control()) {
        return Err(NameError::Character { name: shortened(name), character });
    }
    if number_digits(name).is_some() || is_hash(name) {
        return Err(NameError::LikeRevision(name.to_string()));
    }
    let entity = name.rsplit_once('/').is_some_and(|(_, last)| refs::looks_like_ref(last));
    if entity || name.starts_with("dry-") || name.ends_with('/') {
        return Err(NameError::LikeId(name.to_string()));
    }
    Ok(())
}

/// Checks that a new branch or checkpoint may have a name.
///
/// Refused is what [`check_name`] refuses, what cannot stand in `r1..r2`, and what looks like another name, since it contains
/// a character that nobody sees: older ones may be called so.
pub fn check_new_name(name: &str) -> Result<(), NameError> {
    check_name(name)?;
    if let Some(character) = name.chars().find(|c| text::is_unseen(*c)) {
        return Err(NameError::Character { name: shortened(name), character });
    }
    match name.contains("..") || name.starts_with('.') || name.ends_with('.') {
        true => Err(NameError::LikeRange(shortened(name))),
        false => Ok(()),
    }
}

/// The digits of a text like `r118`.
fn number_digits(text: &str) -> Option<&str> {
    text.strip_prefix('r').filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_hash(text: &str) -> bool {
    (MIN_DIGITS..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Enough of a text to recognise it in a message.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests;

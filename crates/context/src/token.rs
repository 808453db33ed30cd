//! What a caller has been told, as text that it hands back.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lmlang_ir::hash::Hasher;
use lmlang_ir::text::Detail;
use lmlang_ir::{Hash, Ref, RefKind};
use thiserror::Error;

use crate::section::{Role, Section};

/// The form of a token; others are refused.
const VERSION: u8 = 3;
/// Refs of one kind in a token at most.
pub const MOST_REFS: usize = 2_000;

/// Which program at which revision was told, and what of it. Nothing of it is remembered here: the token says it all, so
/// that it holds after a restart, and of every process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The program.
    pub program: [u8; 16],
    /// The number of the revision.
    pub revision: u64,
    /// The beginning of the hash of the whole content: the revision is the same one only with this.
    pub root: [u8; 8],
    /// What was asked for.
    pub focus: Vec<Ref>,
    /// What was told of it.
    pub told: Told,
}

/// What a caller has been told as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The least detail that any of it was told in.
    pub detail: Detail,
    /// Entities by their own text.
    pub entities: BTreeSet<Ref>,
    /// Callers by the places where they use the focus.
    pub callers: BTreeSet<Ref>,
}

impl Told {
    /// Whether a section is what was told.
    pub(crate) fn has(&self, section: &Section) -> bool {
        match section.role {
            Role::Caller => self.callers.contains(&section.of),
            _ => self.entities.contains(&section.of),
        }
    }

    /// Notes that a section is told now, as a whole or not.
    pub(crate) fn note(&mut self, section: &Section, as_a_whole: bool) {
        let all = match section.role {
            Role::Caller => &mut self.callers,
            _ => &mut self.entities,
        };
        match as_a_whole {
            true => all.insert(section.of),
            false => all.remove(&section.of),
        };
    }

    /// Everything in it, whatever was told of it.
    pub(crate) fn all(&self) -> impl Iterator<Item = Ref> + '_ {
        self.entities.iter().chain(&self.callers).copied()
    }

    /// Forgets what is gone.
    pub(crate) fn forget(&mut self, gone: &BTreeSet<Ref>) {
        self.entities.retain(|of| !gone.contains(of));
        self.callers.retain(|of| !gone.contains(of));
    }
}

/// A text that is no token of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a token of a context")]
pub struct InvalidToken;

/// The beginning of a hash, as a token has it.
pub fn root(of: Hash) -> [u8; 8] {
    std::array::from_fn(|at| of.0[at])
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![VERSION];
        bytes.extend(self.program);
        bytes.extend(self.root);
        put(&mut bytes, self.revision);
        put(&mut bytes, self.told.detail as u64);
        put_refs(&mut bytes, self.focus.iter());
        put_refs(&mut bytes, self.told.entities.iter());
        put_refs(&mut bytes, self.told.callers.iter());
        bytes.extend(check(&bytes));
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Token, InvalidToken> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidToken)?;
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or(InvalidToken)?;
        if check(content) != *sum {
            return Err(InvalidToken);
        }
        let mut rest = content;
        if take::<1>(&mut rest)? != [VERSION] {
            return Err(InvalidToken);
        }
        let (program, root) = (take(&mut rest)?, take(&mut rest)?);
        let revision = number(&mut rest)?;
        let detail = detail(number(&mut rest)?)?;
        let focus = refs(&mut rest)?;
        let entities = refs(&mut rest)?.into_iter().collect();
        let callers = refs(&mut rest)?.into_iter().collect();
        let told = Told { detail, entities, callers };
        match rest {
            [] => Ok(Token { program, revision, root, focus, told }),
            _ => Err(InvalidToken),
        }
    }
}

fn detail(number: u64) -> Result<Detail, InvalidToken> {
    let all = [Detail::Summary, Detail::Standard, Detail::Full];
    all.into_iter().find(|detail| *detail as u64 == number).ok_or(InvalidToken)
}

fn check(content: &[u8]) -> [u8; 4] {
    let mut hasher = Hasher::new(b"context token");
    hasher.bytes(content);
    let hash = hasher.finish();
    std::array::from_fn(|at| hash.0[at])
}

/// LEB128.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn number(rest: &mut &[u8]) -> Result<u64, InvalidToken> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = take::<1>(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(InvalidToken)
}

fn put_refs<'a>(bytes: &mut Vec<u8>, refs: impl ExactSizeIterator<Item = &'a Ref>) {
    let count = refs.len().min(MOST_REFS);
    put(bytes, count as u64);
    for of in refs.take(count) {
        put(bytes, of.number << 3 | of.kind as u64);
    }
}

fn refs(rest: &mut &[u8]) -> Result<Vec<Ref>, InvalidToken> {
    let count = number(rest)?;
    if count > MOST_REFS as u64 {
        return Err(InvalidToken);
    }
    let read = |_| {
        let packed = number(rest)?;
        let kind = RefKind::ALL[(packed & 7) as usize];
        Ok(Ref { kind, number: packed >> 3 })
    };
    (0..count).map(read).collect()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], InvalidToken> {
    let (first, after) = rest.split_first_chunk::<N>().ok_or(InvalidToken)?;
    *rest = after;
    Ok(*first)
}

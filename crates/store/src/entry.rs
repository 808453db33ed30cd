//! What one row of a program's log says.

use sea_orm::ActiveValue::{NotSet, Set};
use smallvec::SmallVec;
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::log;
use crate::fault::Fault;

/// The number of a program's first entry; the entries that follow are numbered without a gap.
pub const FIRST_SEQ: u64 = 1;

/// The short key of a program in this database, never used again after the program is deleted.
///
/// It means nothing outside the database: clients see the program's uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramKey(pub(crate) i64);

impl std::fmt::Display for ProgramKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The newest entry of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Its number.
    pub(crate) seq: u64,
    /// Its id: which of the entries that could have that number it is.
    pub(crate) id: Uuid,
}

impl Head {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { seq: entry.seq, id: entry.id }
    }
}

/// A moment in microseconds since the start of 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// What an entry did to its program.
///
/// The discriminants are stored: they never change, and new kinds are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryKind {
    /// Made the program.
    Create = 0,
    /// Changed it by a change set.
    Edit = 1,
    /// Took the newest entry of the branch back.
    Undo = 2,
    /// Took an undo back.
    Redo = 3,
    /// Took chosen entries back and kept later work.
    Revert = 4,
    /// Went back to a checkpoint.
    Restore = 5,
    /// Brought another branch in.
    Merge = 6,
    /// Brought content in from outside.
    Import = 7,
    /// Made, moved or removed a checkpoint.
    Checkpoint = 8,
    /// Made, moved or removed a branch.
    Branch = 9,
}

impl EntryKind {
    /// All kinds in the order of their codes.
    pub const ALL: [Self; 10] = [
        Self::Create,
        Self::Edit,
        Self::Undo,
        Self::Redo,
        Self::Revert,
        Self::Restore,
        Self::Merge,
        Self::Import,
        Self::Checkpoint,
        Self::Branch,
    ];

    /// The first of the kinds that name a state instead of changing it; the index `log_marks` covers it and those after.
    pub(crate) const FIRST_MARK: Self = Self::Checkpoint;

    pub(crate) fn code(self) -> i16 {
        self as i16
    }

    pub(crate) fn from_code(code: i16) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| Self::ALL.get(code).copied())
    }
}

/// The key by which a caller names a request, and what the request said.
///
/// A key is unique within a program. Time-ordered keys (UUIDv7) keep the index compact; any bytes are correct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The caller's key.
    pub key: Vec<u8>,
    /// A digest of the request, to tell a retry from another request under the same key.
    pub digest: Vec<u8>,
}

/// The flow's run and step that made an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The run.
    pub run: Uuid,
    /// The step's number in the run.
    pub step: u64,
}

/// An entry whose edits were left in the database.
pub type Header = Entry<()>;

/// One entry of a program's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<E = Vec<u8>> {
    /// The place in the program's log, from [`FIRST_SEQ`] on.
    pub seq: u64,
    /// The entry's own id: tells whether a write whose answer was lost has happened.
    pub id: Uuid,
    /// The entries whose states this one builds on, by number.
    pub parents: SmallVec<[u64; 2]>,
    /// The number of the branch that it is on.
    pub branch: u32,
    /// What it did.
    pub kind: EntryKind,
    /// Who did it.
    pub actor: ActorKey,
    /// For whom, if it was not for themselves.
    pub on_behalf_of: Option<String>,
    /// Why, in the author's words.
    pub message: Option<String>,
    /// When.
    pub time: Timestamp,
    /// The edits, encoded; nothing in a [`Header`].
    pub edits: E,
    /// What was added, removed and modified, encoded.
    pub counts: Vec<u8>,
    /// The hash of the state after it.
    pub root_hash: [u8; 32],
    /// The first ref that was never handed out, on any branch.
    pub next_ref: u64,
    /// What an undo, redo, revert or restore went back to, by number.
    pub target: Option<u64>,
    /// The request's idempotency key.
    pub idempotency: Option<Idempotency>,
    /// The flow that made it.
    pub origin: Option<Origin>,
}

impl Entry {
    /// About how many bytes the row takes.
    pub(crate) fn size(&self) -> usize {
        let texts =
            self.on_behalf_of.as_ref().map_or(0, String::len) + self.message.as_ref().map_or(0, String::len);
        200 + texts + self.edits.len() + self.counts.len()
    }

    pub(crate) fn to_row(&self, program: ProgramKey) -> log::ActiveModel {
        let idempotency = self.idempotency.clone();
        let (key, digest) = idempotency.map(|idempotency| (idempotency.key, idempotency.digest)).unzip();
        log::ActiveModel {
            // The database counts: a batch is one statement.
            position: NotSet,
            program: Set(program.0),
            seq: Set(self.seq.cast_signed()),
            id: Set(self.id),
            parents: Set(encode_parents(&self.parents)),
            branch: Set(self.branch.cast_signed()),
            kind: Set(self.kind.code()),
            actor: Set(self.actor.0),
            on_behalf_of: Set(self.on_behalf_of.clone()),
            message: Set(self.message.clone()),
            time: Set(self.time.0),
            edits: Set(self.edits.clone()),
            counts: Set(self.counts.clone()),
            root_hash: Set(self.root_hash.to_vec()),
            next_ref: Set(self.next_ref.cast_signed()),
            target: Set(self.target.map(u64::cast_signed)),
            idem_key: Set(key),
            request_digest: Set(digest),
            run: Set(self.origin.map(|origin| origin.run)),
            step: Set(self.origin.map(|origin| origin.step.cast_signed())),
            packed: NotSet,
        }
    }
}

impl<E> Entry<E> {
    /// The entry without its edits, and these.
    pub fn split(self) -> (Header, E) {
        let Entry { edits, .. } = self;
        let header = Entry {
            seq: self.seq,
            id: self.id,
            parents: self.parents,
            branch: self.branch,
            kind: self.kind,
            actor: self.actor,
            on_behalf_of: self.on_behalf_of,
            message: self.message,
            time: self.time,
            edits: (),
            counts: self.counts,
            root_hash: self.root_hash,
            next_ref: self.next_ref,
            target: self.target,
            idempotency: self.idempotency,
            origin: self.origin,
        };
        (header, edits)
    }

    /// The entry of a row.
    fn read(row: log::Header, edits: E) -> Result<Entry<E>, Fault> {
        let idempotency = match (row.idem_key, row.request_digest) {
            (None, None) => None,
            (Some(key), Some(digest)) => Some(Idempotency { key, digest }),
            (Some(_), None) | (None, Some(_)) => {
                return Err(Fault::Row { table: "log", column: "request_digest" });
            }
        };
        let origin = match (row.run, row.step) {
            (None, None) => None,
            (Some(run), Some(step)) => Some(Origin { run, step: step.cast_unsigned() }),
            (Some(_), None) | (None, Some(_)) => return Err(Fault::Row { table: "log", column: "step" }),
        };
        Ok(Entry {
            seq: row.seq.cast_unsigned(),
            id: row.id,
            parents: decode_parents(&row.parents).ok_or(Fault::Row { table: "log", column: "parents" })?,
            branch: row.branch.cast_unsigned(),
            kind: EntryKind::from_code(row.kind).ok_or(Fault::Row { table: "log", column: "kind" })?,
            actor: ActorKey(row.actor),
            on_behalf_of: row.on_behalf_of,
            message: row.message,
            time: Timestamp(row.time),
            edits,
            counts: row.counts,
            root_hash: row
                .root_hash
                .try_into()
                .map_err(|_| Fault::Row { table: "log", column: "root_hash" })?,
            next_ref: row.next_ref.cast_unsigned(),
            target: row.target.map(i64::cast_unsigned),
            idempotency,
            origin,
        })
    }
}

impl TryFrom<log::Model> for Entry {
    type Error = Fault;

    fn try_from(row: log::Model) -> Result<Self, Fault> {
        if row.packed.is_some() {
            // Whoever reads rows fetches what is packed first.
            return Err(Fault::Row { table: "log", column: "packed" });
        }
        let (header, edits) = row.split();
        Entry::read(header, edits)
    }
}

impl TryFrom<log::Header> for Header {
    type Error = Fault;

    fn try_from(row: log::Header) -> Result<Self, Fault> {
        Entry::read(row, ())
    }
}

/// Parents as LEB128 numbers one after the other: one or two bytes for most.
fn encode_parents(parents: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parents.len() * 3);
    for &parent in parents {
        let mut rest = parent;
        while rest >= 0x80 {
            bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

fn decode_parents(bytes: &[u8]) -> Option<SmallVec<[u64; 2]>> {
    let mut parents = SmallVec::new();
    let mut value = 0_u64;
    let mut shift = 0_u32;
    for &byte in bytes {
        let part = u64::from(byte & 0x7f);
        if shift >= u64::BITS || (part << shift) >> shift != part {
            return None;
        }
        value |= part << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            parents.push(value);
            (value, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(parents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_their_places() {
        for (place, kind) in EntryKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.code(), place as i16);
            assert_eq!(EntryKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(EntryKind::from_code(10), None);
        assert_eq!(EntryKind::from_code(-1), None);
    }

    #[test]
    fn truncated_and_oversized_parents_are_refused() {
        assert_eq!(decode_parents(&[0x80]), None);
        assert_eq!(decode_parents(&[0xff; 11]), None);
        assert_eq!(decode_parents(&[]), Some(SmallVec::new()));
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(
            if std::env::var_os("LMLANG_LONG").is_some() { 10_000 } else { 1_000 }
        ))]
        #[test]
        fn parents_round_trip(parents in proptest::collection::vec(proptest::num::u64::ANY, 0..5)) {
            let decoded = decode_parents(&encode_parents(&parents));
            proptest::prop_assert_eq!(decoded.as_deref(), Some(parents.as_slice()));
        }
    }
}

//! What a backup says: records, each a number for its kind and its fields in order.
//!
//! Numbers are LEB128, those that can be negative zigzag before that; texts and bytes have their length before them; what
//! can be absent begins with 0 or 1; ids and hashes are their bytes. The kinds and their fields make the version of the
//! file: another list is another version.

use std::io::Read;

use smallvec::SmallVec;
use uuid::Uuid;

use crate::actors::{Actor, ActorKey, ActorKind};
use crate::backup::frames::{FileError, Frames};
use crate::cases::Case;
use crate::entry::{Entry, EntryKind, Idempotency, Origin, ProgramKey, Timestamp};
use crate::program_changes::{ProgramChange, ProgramChangeKind};

/// A value in a record.
trait Field: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError>;
}

macro_rules! records {
    ($($(#[$doc:meta])* $kind:literal $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub(crate) struct $name { $(pub(crate) $field: $type,)* }

            impl From<$name> for Record {
                fn from(record: $name) -> Self {
                    Self::$name(record)
                }
            }
        )*

        /// One record.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Record { $($name($name),)* }

        impl Record {
            pub(crate) fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name(record) => {
                        out.push($kind);
                        $(record.$field.put(out);)*
                    })*
                }
            }

            pub(crate) fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
                let mut kind = [0];
                from.fill(&mut kind)?;
                match kind[0] {
                    $($kind => Ok(Self::$name($name { $($field: Field::take(from)?,)* })),)*
                    _ => Err(from.damaged("a record is of no known kind")),
                }
            }
        }
    };
}

records! {
    /// The first record: when the backup was made, and how much is in it.
    1 Begin { made: i64, programs: u64, entries: u64, }
    /// Who made entries that follow, under a number of the file.
    2 ActorRow { number: u64, name: String, kind: u64, client: Option<String>, }
    /// A program; what follows is about it, up to the next one.
    3 ProgramRow { id: Uuid, name: String, doc: String, created: i64, deleted: Option<i64>, }
    /// What became of the program as a whole, between the entries before and after.
    4 ChangeRow { kind: u64, name: String, time: i64, }
    /// An entry of its log, all of which are there and in order.
    5 EntryRow {
        seq: u64,
        id: Uuid,
        parents: Vec<u64>,
        branch: u64,
        kind: u64,
        actor: u64,
        on_behalf_of: Option<String>,
        message: Option<String>,
        time: i64,
        edits: Vec<u8>,
        counts: Vec<u8>,
        root_hash: [u8; 32],
        next_ref: u64,
        target: Option<u64>,
        request: Option<Key>,
        origin: Option<Step>,
    }
    /// A request under an idempotency key that changed the program as a whole.
    6 RequestRow { request: Key, seq: u64, name: String, doc: String, }
    /// A test case of the program, removed or not. Since version 2.
    8 CaseRow {
        id: Uuid,
        function: u64,
        name: String,
        made: i64,
        removed: Option<i64>,
        making: Option<Key>,
        removal: Option<Key>,
        payload: Vec<u8>,
    }
    /// How many cases there are, after the last program. Since version 2.
    9 CasesEnd { cases: u64, }
    /// A change of entities, all of which are there and in order. Since version 3, as all that follow are.
    10 EntityChangeRow {
        revision: u64,
        id: Uuid,
        time: i64,
        actor: u64,
        inserted: u64,
        updated: u64,
        deleted: u64,
        unchanged: u64,
        making: Option<Key>,
    }
    /// An entity as the last change left it.
    11 EntityRecord { id: Uuid, label: String, name: String, props: Vec<u8>, created: i64, updated: i64, }
    /// A relation between two of them.
    12 RelationRecord {
        id: Uuid,
        source: Uuid,
        kind: String,
        target: Uuid,
        props: Vec<u8>,
        created: i64,
        updated: i64,
    }
    /// A change of what the Manager keeps, all of which are there and in order.
    13 ManagerChangeRow { revision: u64, id: Uuid, time: i64, actor: u64, }
    /// Something that the Manager keeps, as the last change left it.
    14 ManagerRow { kind: String, name: String, value: Vec<u8>, }
    /// How many there are of the five kinds before; not there if they are not in the file.
    15 PartsEnd { entity_changes: u64, entities: u64, relations: u64, manager_changes: u64, manager_records: u64, }
    /// A change of the flows that are declared, all of which are there and in order, behind what counts the parts before. Since
    /// version 4, as the next one.
    16 FlowChangeRow {
        revision: u64,
        id: Uuid,
        time: i64,
        actor: u64,
        name: String,
        version: u64,
        definition: Option<Vec<u8>>,
    }
    /// How many of them there are.
    17 FlowsEnd { changes: u64, }
    /// The last record: how many there are of each kind.
    7 End { programs: u64, entries: u64, changes: u64, requests: u64, actors: u64, }
}

/// An idempotency key and the digest of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key(Vec<u8>, Vec<u8>);

/// The run and step of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step(Uuid, u64);

/// A request under an idempotency key that changed a program as a whole, and what it left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestInFile {
    /// The key and the digest of the request.
    pub idempotency: Idempotency,
    /// The entry that the program's content was at.
    pub seq: u64,
    /// The program's name then.
    pub name: String,
    /// Its doc then.
    pub doc: String,
}

/// A test case of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseInFile(Case);

impl CaseInFile {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.0.id
    }

    /// Whether it was removed.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.0.removed.is_some()
    }

    /// The case, as one of a program of a database.
    pub(crate) fn of(self, program: ProgramKey) -> Case {
        Case { program, ..self.0 }
    }
}

impl Field for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let mut byte = [0];
            from.fill(&mut byte)?;
            let part = u64::from(byte[0] & 0x7f);
            if shift >= u64::BITS || (part << shift) >> shift != part {
                return Err(from.damaged("a number is too large"));
            }
            value |= part << shift;
            shift += 7;
            if byte[0] & 0x80 == 0 {
                return Ok(value);
            }
        }
    }
}

impl Field for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        ((self << 1) ^ (self >> 63)).cast_unsigned().put(out);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        let value = u64::take(from)?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

impl Field for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        let length = u64::take(from)?;
        from.bytes(length)
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        String::from_utf8(Vec::take(from)?).map_err(|_| from.damaged("a text is not UTF-8"))
    }
}

impl Field for Vec<u64> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|number| number.put(out));
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        let length = u64::take(from)?;
        (0..length).map(|_| u64::take(from)).collect()
    }
}

impl<const N: usize> Field for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        let mut bytes = [0; N];
        from.fill(&mut bytes)?;
        Ok(bytes)
    }
}

impl Field for Uuid {
    fn put(&self, out: &mut Vec<u8>) {
        self.into_bytes().put(out);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        Ok(Uuid::from_bytes(Field::take(from)?))
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        let mut there = [0];
        from.fill(&mut there)?;
        match there[0] {
            0 => Ok(None),
            1 => Ok(Some(T::take(from)?)),
            _ => Err(from.damaged("a value is neither there nor absent")),
        }
    }
}

impl Field for Key {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        Ok(Self(Field::take(from)?, Field::take(from)?))
    }
}

impl Field for Step {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take<R: Read>(from: &mut Frames<R>) -> Result<Self, FileError> {
        Ok(Self(Field::take(from)?, Field::take(from)?))
    }
}

impl From<Idempotency> for Key {
    fn from(idempotency: Idempotency) -> Self {
        Self(idempotency.key, idempotency.digest)
    }
}

impl From<Key> for Idempotency {
    fn from(Key(key, digest): Key) -> Self {
        Self { key, digest }
    }
}

impl From<Entry> for EntryRow {
    fn from(entry: Entry) -> Self {
        Self {
            seq: entry.seq,
            id: entry.id,
            parents: entry.parents.to_vec(),
            branch: entry.branch.into(),
            kind: entry.kind as u64,
            actor: entry.actor.0.cast_unsigned(),
            on_behalf_of: entry.on_behalf_of,
            message: entry.message,
            time: entry.time.0,
            edits: entry.edits,
            counts: entry.counts,
            root_hash: entry.root_hash,
            next_ref: entry.next_ref,
            target: entry.target,
            request: entry.idempotency.map(Key::from),
            origin: entry.origin.map(|origin| Step(origin.run, origin.step)),
        }
    }
}

impl EntryRow {
    /// The entry, its actor under the number of the file; none for one that no log has.
    pub(crate) fn entry(self) -> Option<Entry> {
        Some(Entry {
            seq: self.seq,
            id: self.id,
            parents: SmallVec::from_vec(self.parents),
            branch: self.branch.try_into().ok()?,
            kind: EntryKind::from_code(self.kind.try_into().ok()?)?,
            actor: ActorKey(self.actor.cast_signed()),
            on_behalf_of: self.on_behalf_of,
            message: self.message,
            time: Timestamp(self.time),
            edits: self.edits,
            counts: self.counts,
            root_hash: self.root_hash,
            next_ref: self.next_ref,
            target: self.target,
            idempotency: self.request.map(Idempotency::from),
            origin: self.origin.map(|Step(run, step)| Origin { run, step }),
        })
    }
}

impl ActorRow {
    pub(crate) fn new(number: ActorKey, actor: Actor) -> Self {
        let kind = actor.kind as u64;
        Self { number: number.0.cast_unsigned(), name: actor.name, kind, client: actor.client }
    }

    /// The actor; none of a kind that is not known.
    pub(crate) fn actor(self) -> Option<Actor> {
        let kind = ActorKind::from_code(self.kind.try_into().ok()?)?;
        Some(Actor { name: self.name, kind, client: self.client })
    }
}

impl From<ProgramChange> for ChangeRow {
    fn from(change: ProgramChange) -> Self {
        Self { kind: change.kind as u64, name: change.name, time: change.time.0 }
    }
}

impl ChangeRow {
    /// The change; none of a kind that is not known.
    pub(crate) fn change(self) -> Option<ProgramChange> {
        let kind = ProgramChangeKind::from_code(self.kind.try_into().ok()?)?;
        Some(ProgramChange { kind, name: self.name, time: Timestamp(self.time) })
    }
}

impl From<Case> for CaseRow {
    fn from(case: Case) -> Self {
        Self {
            id: case.id,
            function: case.function,
            name: case.name,
            made: case.made.0,
            removed: case.removed.map(|time| time.0),
            making: case.making.map(Key::from),
            removal: case.removal.map(Key::from),
            payload: case.payload,
        }
    }
}

impl From<CaseRow> for CaseInFile {
    fn from(row: CaseRow) -> Self {
        Self(Case {
            id: row.id,
            program: ProgramKey(0),
            function: row.function,
            name: row.name,
            made: Timestamp(row.made),
            removed: row.removed.map(Timestamp),
            making: row.making.map(Idempotency::from),
            removal: row.removal.map(Idempotency::from),
            payload: row.payload,
        })
    }
}

impl From<RequestInFile> for RequestRow {
    fn from(request: RequestInFile) -> Self {
        Self { request: request.idempotency.into(), seq: request.seq, name: request.name, doc: request.doc }
    }
}

impl From<RequestRow> for RequestInFile {
    fn from(row: RequestRow) -> Self {
        Self { idempotency: row.request.into(), seq: row.seq, name: row.name, doc: row.doc }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backup::frames::FrameWriter;

    fn entry() -> impl Strategy<Value = EntryRow> {
        let words = (any::<u64>(), any::<[u8; 16]>(), any::<Vec<u64>>(), any::<u64>(), any::<u64>());
        let texts = (any::<Option<String>>(), any::<Option<String>>(), any::<i64>());
        let bytes = (any::<Vec<u8>>(), any::<Vec<u8>>(), any::<[u8; 32]>());
        let rest =
            (any::<Option<u64>>(), any::<Option<(Vec<u8>, Vec<u8>)>>(), any::<Option<([u8; 16], u64)>>());
        (words, texts, bytes, rest).prop_map(|(words, texts, bytes, rest)| {
            let (seq, id, parents, branch, kind) = words;
            let ((on_behalf_of, message, time), (edits, counts, root_hash)) = (texts, bytes);
            let (target, request, origin) = rest;
            EntryRow {
                seq,
                id: Uuid::from_bytes(id),
                parents,
                branch,
                kind,
                actor: seq ^ branch,
                on_behalf_of,
                message,
                time,
                edits,
                counts,
                root_hash,
                next_ref: kind ^ seq,
                target,
                request: request.map(|(key, digest)| Key(key, digest)),
                origin: origin.map(|(run, step)| Step(Uuid::from_bytes(run), step)),
            }
        })
    }

    fn case(of: &EntryRow, texts: &[String; 2]) -> CaseRow {
        CaseRow {
            id: of.id,
            function: of.seq,
            name: texts[0].clone(),
            made: of.time,
            removed: of.target.map(u64::cast_signed),
            making: of.request.clone(),
            removal: None,
            payload: of.edits.clone(),
        }
    }

    /// What belongs to no program.
    fn parts(of: &EntryRow, texts: &[String; 2], numbers: [i64; 2]) -> [Record; 8] {
        let ([label, name], [created, updated]) = (texts.clone(), numbers);
        let (id, time, props, making) = (of.id, of.time, of.edits.clone(), of.request.clone());
        let (revision, actor, kind) = (of.seq, of.actor, label.clone());
        let (source, target) = (id, Uuid::from_u128(of.seq.into()));
        let change = EntityChangeRow {
            revision,
            id,
            time,
            actor,
            inserted: of.branch,
            updated: of.kind,
            deleted: of.next_ref,
            unchanged: 0,
            making,
        };
        let end = PartsEnd {
            entity_changes: of.seq,
            entities: of.branch,
            relations: of.kind,
            manager_changes: of.next_ref,
            manager_records: 0,
        };
        [
            change.into(),
            EntityRecord { id, label, name: name.clone(), props: props.clone(), created, updated }.into(),
            RelationRecord { id, source, kind: kind.clone(), target, props: props.clone(), created, updated }
                .into(),
            ManagerChangeRow { revision, id, time, actor }.into(),
            ManagerRow { kind, name: name.clone(), value: props.clone() }.into(),
            end.into(),
            FlowChangeRow { revision, id, time, actor, name, version: of.kind, definition: Some(props) }
                .into(),
            FlowsEnd { changes: of.seq }.into(),
        ]
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(
            if std::env::var_os("LMLANG_LONG").is_some() { 10_000 } else { 1_000 }
        ))]
        #[test]
        fn records_come_back(entry in entry(), texts in any::<[String; 2]>(), numbers in any::<[i64; 2]>()) {
            let parts = parts(&entry, &texts, numbers);
            let ([name, doc], [created, time]) = (texts, numbers);
            let case = case(&entry, &[name.clone(), doc.clone()]);
            let id = entry.id;
            let deleted = (time % 2 == 0).then_some(time);
            let before = [
                Record::from(Begin { made: created, programs: entry.seq, entries: entry.branch }),
                ActorRow { number: 1, name: name.clone(), kind: 2, client: entry.message.clone() }.into(),
                ProgramRow { id, name: name.clone(), doc, created, deleted }.into(),
                ChangeRow { kind: 3, name, time }.into(),
                case.into(),
                CasesEnd { cases: 1 }.into(),
                entry.into(),
            ];
            let end = Record::from(End { programs: 1, entries: 1, changes: 1, requests: 0, actors: 1 });
            let records: Vec<Record> = before.into_iter().chain(parts).chain([end]).collect();
            let mut frames = FrameWriter::new();
            records.iter().for_each(|record| record.put(frames.plain()));
            let file = frames.seal();
            let mut frames = Frames::open(&file[..]).expect("it has a head");
            for record in records {
                prop_assert_eq!(Record::take(&mut frames).expect("the record is there"), record);
            }
            prop_assert!(frames.end().is_ok());
        }
    }
}

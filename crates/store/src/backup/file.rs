//! A backup that is read.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use crate::actors::{Actor, ActorKey};
use crate::backup::frames::{FileError, Frames};
use crate::backup::parts::{PartItem, PartsInFile, Reading};
use crate::backup::record::{Begin, CaseInFile, End, ProgramRow, Record, RequestInFile};
use crate::entry::{Entry, FIRST_SEQ, Timestamp};
use crate::program_changes::ProgramChange;

/// A backup that is whole.
#[derive(Debug)]
pub struct BackupFile {
    file: File,
    contents: Contents,
}

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// When it was made: everything in it is of that moment.
    pub made: Timestamp,
    /// The programs, in order.
    pub programs: Vec<ProgramInFile>,
    /// Entries of all logs.
    pub entries: u64,
    /// What belongs to no program; nothing if that is not in it, as in a backup that was made of chosen programs.
    pub parts: Option<PartsInFile>,
    /// Bytes of the file.
    pub bytes: u64,
}

impl Contents {
    /// What a database has and this is without, in words, but for what follows from the rest.
    #[must_use]
    pub fn left_out(&self) -> Vec<&'static str> {
        let parts = ["entities and relations", "streams and pipelines of the Manager", "declared flows"];
        let never = ["runs of flows with their sessions", "simulations", "tokens"];
        let parts = parts.into_iter().filter(|_| self.parts.is_none());
        parts.chain(never).collect()
    }
}

/// A program in a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramInFile {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it was deleted.
    pub deleted: Option<Timestamp>,
    /// Entries of its log; of a program that comes from [`Items`], those so far: none.
    pub entries: u64,
}

/// Something in a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A program, which everything after it is about, up to the next one.
    Program(ProgramInFile),
    /// What became of it as a whole, between the entries before and after.
    Change(ProgramChange),
    /// An entry of its log, with who made it; the entry's own key of that one is the file's.
    Entry(Box<Entry>, Arc<Actor>),
    /// A request that changed it as a whole.
    Request(RequestInFile),
    /// A test case of it.
    Case(Box<CaseInFile>),
    /// Something that belongs to no program, as all that follows.
    Part(Box<PartItem>),
}

impl BackupFile {
    /// Opens a backup and looks at all of it.
    ///
    /// # Errors
    ///
    /// See [`FileError`]: it cannot be read, is something else, is not whole, or says what no backup says.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut items = Items::new(BufReader::new(&file))?;
        let mut programs: Vec<ProgramInFile> = Vec::new();
        for item in &mut items {
            match item? {
                Item::Program(program) => programs.push(program),
                Item::Entry(..) => {
                    if let Some(program) = programs.last_mut() {
                        program.entries += 1;
                    }
                }
                Item::Change(_) | Item::Request(_) | Item::Case(_) | Item::Part(_) => {}
            }
        }
        let (made, entries) = (Timestamp(items.begin.made), items.begin.entries);
        let parts = items.parts.whole().map_err(|what| items.frames.damaged(what))?;
        Ok(Self { file, contents: Contents { made, programs, entries, parts, bytes } })
    }

    /// What is in it.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Everything in it, in order. Goes through the file that all of these share: one at a time.
    ///
    /// # Errors
    ///
    /// See [`FileError`]: the file may have changed since it was opened.
    pub fn items(&self) -> Result<Items<impl Read + Send>, FileError> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Items::new(BufReader::new(file))
    }
}

/// Everything in a backup, in order. An error is the last of it.
#[derive(Debug)]
pub struct Items<R> {
    frames: Frames<R>,
    begin: Begin,
    /// How many there were.
    seen: End,
    cases: u64,
    /// How many cases the file says that it has.
    cases_told: u64,
    actors: HashMap<ActorKey, Arc<Actor>>,
    ids: HashSet<Uuid>,
    /// The log of the program.
    log: Log,
    parts: Reading,
    ended: bool,
}

/// What is known of a log that is being read.
#[derive(Debug, Default)]
struct Log {
    newest: u64,
    next_ref: u64,
}

impl<R: Read> Items<R> {
    fn new(input: R) -> Result<Self, FileError> {
        let mut frames = Frames::open(input)?;
        let Record::Begin(begin) = Record::take(&mut frames)? else {
            return Err(frames.damaged("it does not begin as a backup does"));
        };
        let seen = End { programs: 0, entries: 0, changes: 0, requests: 0, actors: 0 };
        let (actors, ids) = (HashMap::new(), HashSet::new());
        let (cases, cases_told) = (0, 0);
        let (log, parts) = (Log::default(), Reading::default());
        Ok(Self { frames, begin, seen, cases, cases_told, actors, ids, log, parts, ended: false })
    }

    fn next_item(&mut self) -> Result<Option<Item>, FileError> {
        loop {
            let record = Record::take(&mut self.frames)?;
            match self.item(record).map_err(|what| self.frames.damaged(what))? {
                Some(item) => return Ok(Some(item)),
                None if self.ended => {
                    self.frames.end()?;
                    return Ok(None);
                }
                None => {}
            }
        }
    }

    /// What a record says; what is wrong with it otherwise.
    fn item(&mut self, record: Record) -> Result<Option<Item>, &'static str> {
        let misplaced = "a record is not of the program before it";
        match record {
            Record::Begin(_) => Err("it begins twice"),
            Record::ActorRow(row) => {
                let number = ActorKey(row.number.cast_signed());
                let actor = row.actor().ok_or("an actor is of no known kind")?;
                self.seen.actors += 1;
                self.actors.insert(number, Arc::new(actor));
                Ok(None)
            }
            Record::ProgramRow(row) => {
                self.end_log()?;
                self.seen.programs += 1;
                self.log = Log::default();
                if self.parts.has_begun() {
                    return Err("a program follows what belongs to none");
                }
                if !self.ids.insert(row.id) {
                    return Err("a program is there twice");
                }
                Ok(Some(Item::Program(row.into())))
            }
            Record::ChangeRow(row) => {
                self.seen.changes += 1;
                let change = row.change().ok_or("a change is of no known kind")?;
                if self.is_outside() { Err(misplaced) } else { Ok(Some(Item::Change(change))) }
            }
            Record::EntryRow(row) => {
                self.seen.entries += 1;
                let actor = self.actor(row.actor)?;
                let entry = row.entry().ok_or("an entry is of no known kind")?;
                self.log.take(&entry)?;
                if self.is_outside() {
                    return Err(misplaced);
                }
                Ok(Some(Item::Entry(Box::new(entry), actor)))
            }
            Record::RequestRow(row) => {
                self.seen.requests += 1;
                if row.seq > self.log.newest || self.is_outside() {
                    return Err(misplaced);
                }
                Ok(Some(Item::Request(row.into())))
            }
            Record::CaseRow(row) => {
                self.cases += 1;
                if i64::try_from(row.function).is_err() {
                    return Err("a case is of no function");
                }
                if self.is_outside() {
                    return Err(misplaced);
                }
                Ok(Some(Item::Case(Box::new(row.into()))))
            }
            Record::CasesEnd(end) => {
                self.cases_told = end.cases;
                Ok(None)
            }
            Record::EntityChangeRow(row) => {
                let actor = self.actor(row.actor)?;
                self.parts.entity_change(row, actor).map(of_part)
            }
            Record::EntityRecord(row) => self.parts.entity(row).map(of_part),
            Record::RelationRecord(row) => self.parts.relation(row).map(of_part),
            Record::ManagerChangeRow(row) => {
                let actor = self.actor(row.actor)?;
                self.parts.manager_change(row, actor).map(of_part)
            }
            Record::ManagerRow(row) => self.parts.manager_record(row).map(of_part),
            Record::PartsEnd(end) => self.parts.end(end).map(|()| None),
            Record::FlowChangeRow(row) => {
                let actor = self.actor(row.actor)?;
                self.parts.flow_change(row, actor).map(of_part)
            }
            Record::FlowsEnd(end) => self.parts.flows_end(&end).map(|()| None),
            Record::End(end) => {
                self.end_log()?;
                self.parts.whole()?;
                let begun = self.begin.programs == end.programs && self.begin.entries == end.entries;
                if end != self.seen || self.cases != self.cases_told || !begun {
                    return Err("it does not have what it says that it has");
                }
                self.ended = true;
                Ok(None)
            }
        }
    }

    /// Whoever has a number of the file.
    fn actor(&self, number: u64) -> Result<Arc<Actor>, &'static str> {
        let actor = self.actors.get(&ActorKey(number.cast_signed()));
        actor.map(Arc::clone).ok_or("the actor of an entry or a change is not there")
    }

    /// Whether there is no program before it, or none any more.
    fn is_outside(&self) -> bool {
        self.ids.is_empty() || self.parts.has_begun()
    }

    fn end_log(&self) -> Result<(), &'static str> {
        match self.ids.is_empty() || self.log.newest >= FIRST_SEQ {
            true => Ok(()),
            false => Err("a program has no entries"),
        }
    }
}

fn of_part(item: PartItem) -> Option<Item> {
    Some(Item::Part(Box::new(item)))
}

impl Log {
    fn take(&mut self, entry: &Entry) -> Result<(), &'static str> {
        let next = if self.newest == 0 { FIRST_SEQ } else { self.newest + 1 };
        if entry.seq != next {
            return Err("entries of a log are missing");
        }
        let mut named = entry.parents.iter().chain(&entry.target);
        if named.any(|named| !(FIRST_SEQ..entry.seq).contains(named)) {
            return Err("an entry names one that does not come before it");
        }
        if entry.next_ref < self.next_ref || i64::try_from(entry.next_ref).is_err() {
            return Err("an entry hands out refs again");
        }
        (self.newest, self.next_ref) = (entry.seq, entry.next_ref);
        Ok(())
    }
}

impl<R: Read> Iterator for Items<R> {
    type Item = Result<Item, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.next_item().transpose();
        self.ended |= matches!(item, Some(Err(_)));
        item
    }
}

impl From<ProgramRow> for ProgramInFile {
    fn from(row: ProgramRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            doc: row.doc,
            created: Timestamp(row.created),
            deleted: row.deleted.map(Timestamp),
            entries: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::frames::FrameWriter;
    use crate::backup::record::{
        ActorRow, CaseRow, CasesEnd, EntityChangeRow, EntityRecord, EntryRow, FlowChangeRow, FlowsEnd,
        ManagerChangeRow, ManagerRow, PartsEnd, RelationRecord,
    };

    /// A file with one program that has one entry, with more records before the end.
    fn file(version: u16, more: Vec<Record>) -> Vec<u8> {
        let id = Uuid::from_bytes([7; 16]);
        let entry = EntryRow {
            seq: FIRST_SEQ,
            id,
            parents: Vec::new(),
            branch: 0,
            kind: 0,
            actor: 1,
            on_behalf_of: None,
            message: None,
            time: 5,
            edits: Vec::new(),
            counts: Vec::new(),
            root_hash: [0; 32],
            next_ref: 1,
            target: None,
            request: None,
            origin: None,
        };
        let actor = ActorRow { number: 1, name: "ada".to_owned(), kind: 0, client: None };
        let program = ProgramRow { id, name: "a".to_owned(), doc: String::new(), created: 5, deleted: None };
        let mut frames = FrameWriter::of_version(version);
        let end = End { programs: 1, entries: 1, changes: 0, requests: 0, actors: 1 };
        let begin = Begin { made: 5, programs: 1, entries: 1 };
        let records = [begin.into(), program.into(), actor.into(), entry.into()];
        for record in records.into_iter().chain(more).chain([Record::from(end)]) {
            record.put(frames.plain());
        }
        frames.seal()
    }

    fn case() -> Record {
        let (id, name) = (Uuid::from_bytes([8; 16]), "c".to_owned());
        let (making, removal) = (None, None);
        let payload = vec![1];
        CaseRow { id, function: 2, name, made: 5, removed: None, making, removal, payload }.into()
    }

    fn read(file: &[u8]) -> Result<usize, FileError> {
        Items::new(file)?
            .map(|item| item.map(drop))
            .collect::<Result<Vec<()>, FileError>>()
            .map(|all| all.len())
    }

    #[test]
    fn a_file_of_the_version_before_has_no_cases() {
        assert_eq!(read(&file(1, Vec::new())).unwrap(), 2);
        assert_eq!(read(&file(2, vec![case(), CasesEnd { cases: 1 }.into()])).unwrap(), 3);
        assert_eq!(read(&file(3, Vec::new())).unwrap(), 2);
        assert_eq!(read(&file(4, Vec::new())).unwrap(), 2);
        assert!(matches!(read(&file(5, Vec::new())), Err(FileError::Version { found: 5 })));
        for cases in [0, 2] {
            assert!(read(&file(2, vec![case(), CasesEnd { cases }.into()])).is_err(), "there is one");
        }
        assert!(read(&file(2, vec![case()])).is_err(), "their number is missing");
    }

    fn entity_change(revision: u64) -> Record {
        let (id, time, actor, making) = (Uuid::from_u128(revision.into()), 5, 1, None);
        let (inserted, updated, deleted, unchanged) = (1, 0, 0, 0);
        EntityChangeRow { revision, id, time, actor, inserted, updated, deleted, unchanged, making }.into()
    }

    fn entity(id: u128, name: &str) -> Record {
        let (id, label, name, props) = (Uuid::from_u128(id), "L".to_owned(), name.to_owned(), vec![1]);
        EntityRecord { id, label, name, props, created: 5, updated: 6 }.into()
    }

    fn relation(id: u128, source: u128, target: u128) -> Record {
        let [id, source, target] = [id, source, target].map(Uuid::from_u128);
        let (kind, props) = ("K".to_owned(), Vec::new());
        RelationRecord { id, source, kind, target, props, created: 5, updated: 6 }.into()
    }

    fn manager_change(revision: u64) -> Record {
        let id = Uuid::from_u128(revision.into());
        ManagerChangeRow { revision, id, time: 5, actor: 1 }.into()
    }

    fn manager_record(name: &str) -> Record {
        ManagerRow { kind: "stream".to_owned(), name: name.to_owned(), value: vec![1] }.into()
    }

    fn parts_end(
        [entity_changes, entities, relations, manager_changes, manager_records]: [u64; 5],
    ) -> Record {
        PartsEnd { entity_changes, entities, relations, manager_changes, manager_records }.into()
    }

    #[test]
    fn what_belongs_to_no_program_is_in_order_and_counted() {
        let whole = [
            entity_change(1),
            entity_change(2),
            entity(1, "a"),
            entity(2, "b"),
            relation(1, 1, 2),
            relation(2, 2, 1),
            manager_change(1),
            manager_record("s"),
            manager_record("t"),
        ];
        let cases = || vec![CasesEnd { cases: 0 }.into()];
        let end = || vec![parts_end([2, 2, 2, 1, 2])];
        let reads = |records: &[Vec<Record>]| read(&file(3, records.concat())).is_ok();
        assert!(reads(&[cases(), whole.to_vec(), end()]));
        for at in 0..whole.len() {
            let mut records = whole.to_vec();
            let one = records.remove(at);
            assert!(!reads(&[records.clone(), end()]), "without {at}");
            records.insert((at + 1) % whole.len(), one.clone());
            assert!(!reads(&[records, end()]), "{at} behind the next");
            let mut records = whole.to_vec();
            records.insert(at, one.clone());
            assert!(!reads(&[records, end()]), "{at} twice");
            assert!(!reads(&[whole.to_vec(), end(), vec![one]]), "{at} behind the end");
        }
        assert!(!reads(&[whole.to_vec()]), "the counts are missing");
        assert!(!reads(&[whole.to_vec(), end(), end()]), "the counts are there twice");
        assert!(!reads(&[whole.to_vec(), end(), vec![case(), CasesEnd { cases: 1 }.into()]]));
        for (records, counts) in [
            (vec![entity(1, "a")], [0, 1, 0, 0, 0]),
            (vec![entity_change(1), entity(1, "a"), entity(1, "b")], [1, 2, 0, 0, 0]),
            (vec![entity_change(1), entity(1, "a"), relation(1, 1, 2)], [1, 1, 1, 0, 0]),
            (vec![entity_change(1), entity(1, "a"), relation(1, 2, 1)], [1, 1, 1, 0, 0]),
            (vec![manager_record("s")], [0, 0, 0, 0, 1]),
        ] {
            assert!(!reads(&[records, vec![parts_end(counts)]]));
        }
    }

    #[test]
    fn flows_follow_the_other_parts_and_are_counted() {
        let flow = |revision: u64, version: u64| -> Record {
            let (id, name, definition) = (Uuid::from_u128(revision.into()), "f".to_owned(), Some(vec![1]));
            FlowChangeRow { revision, id, time: 5, actor: 1, name, version, definition }.into()
        };
        let end = |changes: u64| -> Record { FlowsEnd { changes }.into() };
        let none = || parts_end([0; 5]);
        let reads = |records: &[Record]| read(&file(4, records.to_vec()));
        assert_eq!(reads(&[none(), flow(1, 1), flow(2, 2), end(2)]).unwrap(), 4);
        assert_eq!(reads(&[none(), end(0)]).unwrap(), 2);
        // As in version 3.
        assert_eq!(reads(&[none()]).unwrap(), 2);
        for wrong in [
            vec![flow(1, 1), none(), end(1)],
            vec![none(), flow(1, 1)],
            vec![none(), flow(1, 1), end(2)],
            vec![none(), flow(2, 1), end(1)],
            vec![none(), flow(1, 1), flow(1, 1), end(2)],
            vec![none(), flow(1, 1), end(1), flow(2, 1)],
            vec![none(), end(0), end(0)],
            vec![none(), flow(1, u64::MAX), end(1)],
            vec![end(0)],
        ] {
            assert!(reads(&wrong).is_err(), "{wrong:?}");
        }
    }
}

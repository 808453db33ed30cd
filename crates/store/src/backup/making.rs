//! Making a backup of one moment of a database.

use std::collections::{BTreeMap, HashSet, VecDeque};

use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, IsolationLevel,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, TransactionTrait,
};
use uuid::Uuid;

use crate::actors::{Actor, ActorKey};
use crate::backup::frames::FrameWriter;
use crate::backup::parts::PartsInFile;
use crate::backup::record::{
    ActorRow, Begin, CaseRow, CasesEnd, ChangeRow, End, EntryRow, ProgramRow, Record, RequestInFile,
    RequestRow,
};
use crate::cases::Case;
use crate::entity::{actors, cases, log, program_changes, program_requests, programs};
use crate::entry::{Entry, FIRST_SEQ, Idempotency, ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::feed::Bound;
use crate::log::{fitting, of};
use crate::program_changes::ProgramChange;
use crate::store::Store;

/// What goes into a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// These programs and no others, and nothing that belongs to none.
    pub only: Option<Vec<Uuid>>,
    /// Live programs alone.
    pub live: bool,
}

/// A backup while it is made: the bytes of its file, piece by piece, all of one moment.
///
/// It reads in one transaction, which the database keeps that moment for as long as this lives; edits go on meanwhile.
#[derive(Debug)]
pub struct Backup {
    pub(super) view: DatabaseTransaction,
    choice: Choice,
    frames: FrameWriter,
    /// How many there are, and how many were put in.
    of: u64,
    done: End,
    cases: u64,
    pub(super) parts: PartsInFile,
    actors: HashSet<ActorKey>,
    /// Programs whose turn comes next, and the last one that was read.
    waiting: VecDeque<Waiting>,
    last: i64,
    stage: Stage,
}

#[derive(Debug)]
pub(super) enum Stage {
    Between,
    Log(Box<Waiting>),
    Parts(Next),
    Ended,
}

/// What comes next of that which belongs to no program, and what of it was put in last.
#[derive(Debug)]
pub(super) enum Next {
    EntityChange { after: i64 },
    Entity { after: Option<(Vec<u8>, Vec<u8>)> },
    Relation { after: Option<(Uuid, Vec<u8>, Uuid)> },
    ManagerChange { after: i64 },
    ManagerRecord { after: Option<(Vec<u8>, Vec<u8>)> },
    PartsEnd,
    FlowChange { after: i64 },
    FlowsEnd,
}

impl Next {
    pub(super) const FIRST: Self = Self::EntityChange { after: 0 };
}

/// A program, and what of it is to be put in.
#[derive(Debug)]
pub(super) struct Waiting {
    row: programs::Model,
    /// The newest entry that was put in.
    newest: u64,
    /// What became of it behind that, with the positions.
    changes: VecDeque<(i64, ProgramChange)>,
    requests: Vec<RequestInFile>,
}

/// What is read of a log at a time.
const PAGE: Bound = Bound { rows: 256, bytes: 1 << 20 };

/// Between two pieces a server waits for whoever takes the file, who may be slow. Nobody waits for this transaction, as for those
/// that are ended sooner when they stand still.
const PATIENCE: &str = "SET LOCAL idle_in_transaction_session_timeout = '120s'";

/// Programs that are read at a time: what became of programs has no index by them.
const PROGRAMS: u64 = 256;

impl Store {
    /// Begins a backup. It takes one of the connections that read until it is dropped.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn backup(&self, choice: Choice, made: Timestamp) -> Result<Backup, Fault> {
        self.reader.ask()?;
        let view = match self.reader.get_database_backend() {
            // There each statement would see a moment of its own.
            DbBackend::Postgres => {
                let config = Some(IsolationLevel::RepeatableRead);
                let view = self.reader.begin_with_config(config, None).await?;
                view.execute_unprepared(PATIENCE).await?;
                view
            }
            _ => self.reader.begin().await?,
        };
        let programs = choice.programs().count(&view).await?;
        let keys = choice.programs().select_only().column(programs::Column::Key).into_query();
        let entries = log::Entity::find().filter(log::Column::Program.in_subquery(keys));
        let of = entries.count(&view).await?;
        let mut frames = FrameWriter::new();
        Record::from(Begin { made: made.0, programs, entries: of }).put(frames.plain());
        let done = End { programs: 0, entries: 0, changes: 0, requests: 0, actors: 0 };
        let (actors, waiting, stage) = (HashSet::new(), VecDeque::new(), Stage::Between);
        let parts = PartsInFile::default();
        Ok(Backup { view, choice, frames, of, done, cases: 0, parts, actors, waiting, last: 0, stage })
    }
}

impl Choice {
    fn programs(&self) -> Select<programs::Entity> {
        let mut chosen = programs::Entity::find();
        if let Some(only) = &self.only {
            chosen = chosen.filter(programs::Column::Id.is_in(only.iter().copied()));
        }
        if self.live {
            chosen = chosen.filter(programs::Column::Deleted.is_null());
        }
        chosen
    }
}

impl Backup {
    /// Entries that were put in so far, and how many there are.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.done.entries, self.of)
    }

    /// The next bytes of the file; nothing when it is whole.
    ///
    /// # Errors
    ///
    /// A fault of the database, or something in it that cannot be read; there is no backup then.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        if matches!(self.stage, Stage::Ended) {
            return Ok(None);
        }
        while !self.frames.is_full() && !matches!(self.stage, Stage::Ended) {
            self.stage = match std::mem::replace(&mut self.stage, Stage::Ended) {
                Stage::Between => self.next_program().await?,
                Stage::Log(log) => self.next_entries(log).await?,
                Stage::Parts(next) => self.next_of_parts(next).await?,
                Stage::Ended => Stage::Ended,
            };
        }
        let mut frames = std::mem::replace(&mut self.frames, FrameWriter::new());
        // Compressing takes long: not on the runtime's threads.
        let sealed = tokio::task::spawn_blocking(move || (frames.seal(), frames)).await;
        let (sealed, frames) = sealed.map_err(|_| Fault::Closed)?;
        self.frames = frames;
        Ok(Some(sealed))
    }

    async fn next_program(&mut self) -> Result<Stage, Fault> {
        if self.waiting.is_empty() {
            self.read_programs().await?;
        }
        let Some(next) = self.waiting.pop_front() else {
            self.put(CasesEnd { cases: self.cases });
            return Ok(match self.choice.only {
                None => Stage::Parts(Next::FIRST),
                Some(_) => self.end(),
            });
        };
        self.done.programs += 1;
        let programs::Model { id, name, doc, created, deleted, .. } = next.row.clone();
        self.put(ProgramRow { id, name, doc, created, deleted });
        Ok(Stage::Log(Box::new(next)))
    }

    pub(super) fn end(&mut self) -> Stage {
        let end = self.done.clone();
        self.put(end);
        Stage::Ended
    }

    async fn read_programs(&mut self) -> Result<(), Fault> {
        let next = self.choice.programs().filter(programs::Column::Key.gt(self.last));
        let rows = next.order_by_asc(programs::Column::Key).limit(PROGRAMS).all(&self.view).await?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
        let (first, last) = (first.key, last.key);
        self.last = last;
        let mut changes: BTreeMap<i64, VecDeque<(i64, ProgramChange)>> = BTreeMap::new();
        let of_these = program_changes::Column::Program.between(first, last);
        let found =
            program_changes::Entity::find().filter(of_these).order_by_asc(program_changes::Column::Key);
        for row in found.all(&self.view).await? {
            changes.entry(row.program).or_default().push_back((row.position, row.try_into()?));
        }
        let mut requests: BTreeMap<i64, Vec<RequestInFile>> = BTreeMap::new();
        let of_these = program_requests::Column::Program.between(first, last);
        let found = program_requests::Entity::find().filter(of_these);
        for row in found.order_by_asc(program_requests::Column::IdemKey).all(&self.view).await? {
            let seq = u64::try_from(row.seq);
            let seq = seq.map_err(|_| Fault::Row { table: "program_requests", column: "seq" })?;
            let idempotency = Idempotency { key: row.idem_key, digest: row.request_digest };
            let request = RequestInFile { idempotency, seq, name: row.name, doc: row.doc };
            requests.entry(row.program).or_default().push(request);
        }
        self.waiting.extend(rows.into_iter().map(|row| Waiting {
            newest: 0,
            changes: changes.remove(&row.key).unwrap_or_default(),
            requests: requests.remove(&row.key).unwrap_or_default(),
            row,
        }));
        Ok(())
    }

    async fn next_entries(&mut self, mut log: Box<Waiting>) -> Result<Stage, Fault> {
        let after = of(ProgramKey(log.row.key)).filter(log::Column::Seq.gt(log.newest.cast_signed()));
        let rows = fitting(&self.view, after, PAGE).await?;
        if rows.is_empty() {
            if log.newest < FIRST_SEQ {
                return Err(Fault::Row { table: "log", column: "seq" });
            }
            self.put_changes(log.changes.into_iter().map(|(_, change)| change));
            for request in log.requests {
                self.done.requests += 1;
                self.put(RequestRow::from(request));
            }
            self.put_cases(log.row.key).await?;
            return Ok(Stage::Between);
        }
        for row in rows {
            let position = row.position;
            let entry = Entry::try_from(row)?;
            let next = if log.newest == 0 { FIRST_SEQ } else { log.newest + 1 };
            if entry.seq != next {
                return Err(Fault::Row { table: "log", column: "seq" });
            }
            log.newest = entry.seq;
            let before = log.changes.iter().take_while(|(at, _)| *at < position).count();
            self.put_changes(log.changes.drain(..before).map(|(_, change)| change));
            self.put_actor(entry.actor).await?;
            self.done.entries += 1;
            self.put(EntryRow::from(entry));
        }
        Ok(Stage::Log(log))
    }

    pub(super) fn put(&mut self, record: impl Into<Record>) {
        record.into().put(self.frames.plain());
    }

    fn put_changes(&mut self, changes: impl Iterator<Item = ProgramChange>) {
        for change in changes {
            self.done.changes += 1;
            self.put(ChangeRow::from(change));
        }
    }

    async fn put_cases(&mut self, program: i64) -> Result<(), Fault> {
        let of_program = cases::Entity::find().filter(cases::Column::Program.eq(program));
        for row in of_program.order_by_asc(cases::Column::Id).all(&self.view).await? {
            self.cases += 1;
            self.put(CaseRow::from(Case::try_from(row)?));
        }
        Ok(())
    }

    /// Puts an actor in, before the first entry or change that is theirs.
    pub(super) async fn put_actor(&mut self, key: ActorKey) -> Result<(), Fault> {
        if self.actors.insert(key) {
            let row = actors::Entity::find_by_id(key.0).one(&self.view).await?;
            let actor = Actor::try_from(row.ok_or(Fault::Row { table: "log", column: "actor" })?)?;
            self.done.actors += 1;
            self.put(ActorRow::new(key, actor));
        }
        Ok(())
    }
}

#[cfg(test)]
mod replicas;

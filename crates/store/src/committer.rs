//! The group committer: puts what is queued, of all programs and callers, into one multi-row insert.
//!
//! A batch is one statement, which is one transaction, so all of it is stored or nothing. There is no lingering: while
//! one batch is being written the next one collects. The committer knows how long every log is and refuses an append
//! that does not continue it; so when an append fails, those behind it that were built on it fail too, wherever they
//! are queued, and a log never has a gap.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use sea_orm::sqlx::Row;
use sea_orm::{EntityTrait, QueryTrait};
use tokio::sync::oneshot;

use crate::entity::log;
use crate::entry::{Entry, FIRST_SEQ, ProgramKey};
use crate::fault::{Failure, Fault};
use crate::faults::Step;
use crate::lock::Lock;
use crate::program_changes;
use crate::programs::{CreateProgramError, Creation};
use crate::queue::{Job, MAX_ROWS, Pending, Queue, Work, Write};
use crate::writer::{Sql, Writer};

/// Entries of one program that are stored together or not at all.
#[derive(Debug, Clone)]
pub struct Append {
    /// The program.
    pub program: ProgramKey,
    /// Its next entries, in order.
    pub entries: Vec<Entry>,
}

impl Append {
    pub(crate) fn size(&self) -> usize {
        self.entries.iter().map(Entry::size).sum()
    }
}

/// Why entries were not stored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    /// An earlier entry of the program carries the idempotency key.
    #[error("the idempotency key belongs to entry {seq}")]
    KeyTaken {
        /// That entry's number.
        seq: u64,
    },
    /// The entries do not continue the log: those that they were built on were not stored, or the log has become longer
    /// by an append whose answer was lost.
    #[error("the log goes on at {expected}, the entry says {found}")]
    OutOfOrder {
        /// The number of the log's next entry.
        expected: u64,
        /// The number that the append had there.
        found: u64,
    },
    /// There is no such program, or it was deleted.
    #[error("the program does not exist")]
    NoProgram,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

/// What has been committed since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// Transactions that appended to logs.
    pub transactions: u64,
    /// Entries that they appended.
    pub entries: u64,
    /// How often the writing connection was opened; one, unless it was lost.
    pub connections: u64,
}

/// Resolves when a write is durable, or is known not to be.
///
/// Dropping it does not take the write back.
#[derive(Debug)]
#[must_use = "nothing is known to be stored before the ticket says so"]
pub struct Ticket(oneshot::Receiver<Result<(), CommitError>>);

impl Future for Ticket {
    type Output = Result<(), CommitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|answer| answer.unwrap_or(Err(CommitError::Storage(Fault::Closed))))
    }
}

/// A handle to the queue of the committer.
#[derive(Debug, Clone)]
pub struct Committer {
    queue: Arc<Queue>,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    transactions: AtomicU64,
    entries: AtomicU64,
    connections: AtomicU64,
}

impl Committer {
    /// Queues an append behind all earlier ones.
    ///
    /// The order of the calls is the order of the log. Does not wait; the number of queued appends is bounded only by
    /// the number of callers that wait for their tickets.
    pub fn submit(&self, append: Append) -> Ticket {
        let (reply, ticket) = oneshot::channel();
        match self.queue.push(Job::Append(Pending { append, reply })) {
            // A refused job is dropped with its sender, which the ticket reads as closed.
            Ok(()) | Err(_) => Ticket(ticket),
        }
    }

    /// What has been committed so far.
    pub fn committed(&self) -> Committed {
        Committed {
            transactions: self.counters.transactions.load(Ordering::Relaxed),
            entries: self.counters.entries.load(Ordering::Relaxed),
            connections: self.counters.connections.load(Ordering::Relaxed),
        }
    }

    pub(crate) async fn create(&self, creation: Creation) -> Result<ProgramKey, CreateProgramError> {
        let (reply, answer) = oneshot::channel();
        match self.queue.push(Job::Create(Box::new(creation), reply)) {
            Ok(()) => answer.await.unwrap_or(Err(CreateProgramError::Storage(Fault::Closed))),
            Err(_) => Err(CreateProgramError::Storage(Fault::Closed)),
        }
    }

    /// Runs statements in one transaction, in order with the appends around it.
    pub(crate) async fn write(
        &self,
        statements: Vec<Sql>,
        program: Option<ProgramKey>,
    ) -> Result<Vec<u64>, Failure> {
        let (reply, answer) = oneshot::channel();
        match self.queue.push(Job::Write(Write { statements, program, reply })) {
            Ok(()) => answer.await.unwrap_or(Err(Failure::Fault(Fault::Closed))),
            Err(_) => Err(Failure::Fault(Fault::Closed)),
        }
    }

    /// Runs statements in one transaction when nothing more urgent waits; in order with other background writing.
    pub(crate) async fn write_in_background(&self, statements: Vec<Sql>) -> Result<Vec<u64>, Failure> {
        let (reply, answer) = oneshot::channel();
        match self.queue.push_background(Write { statements, program: None, reply }) {
            Ok(()) => answer.await.unwrap_or(Err(Failure::Fault(Fault::Closed))),
            Err(_) => Err(Failure::Fault(Fault::Closed)),
        }
    }

    /// Takes no more; what is queued is still done.
    pub(crate) fn close(&self) {
        self.queue.close();
    }
}

/// The task behind the handles.
pub(crate) struct Loop {
    committer: Committer,
    writer: Writer,
    /// The next number of every log that was asked for; `None` for a program that is not there.
    next: HashMap<ProgramKey, Option<u64>>,
    /// Given back after the connection is closed, so that the next process finds a quiet file.
    _lock: Lock,
}

impl Loop {
    pub(crate) fn new(writer: Writer, lock: Lock) -> (Committer, Self) {
        let committer = Committer { queue: Arc::default(), counters: Arc::default() };
        committer.counters.connections.store(writer.opened(), Ordering::Relaxed);
        let this = Self { committer: committer.clone(), writer, next: HashMap::new(), _lock: lock };
        (committer, this)
    }

    /// Works until the queue is closed and empty.
    pub(crate) async fn run(mut self) {
        let guard = AbandonOnExit(Arc::clone(&self.committer.queue));
        while let Some(work) = self.committer.queue.next().await {
            match work {
                Work::Batch(batch) => self.settle(batch).await,
                Work::Create(creation, reply) => {
                    let answer = self.create(&creation).await;
                    answer_to(reply, answer);
                }
                Work::Write(write) => self.write(write).await,
                Work::Background(write) => self.write_in_background(write).await,
            }
            self.committer.counters.connections.store(self.writer.opened(), Ordering::Relaxed);
        }
        self.writer.disconnect().await;
        drop(guard);
    }

    /// Stores a batch, or as much of it as can be stored.
    ///
    /// A clash takes the whole statement back without saying which row it was. So a group that clashes is tried again
    /// program by program, and the program at fault append by append.
    async fn settle(&mut self, batch: Vec<Pending>) {
        let mut groups = VecDeque::from([batch]);
        while let Some(group) = groups.pop_front() {
            let group = self.admit(group).await;
            if group.is_empty() {
                continue;
            }
            match self.store(&group).await {
                Ok(()) => self.acknowledge(group).await,
                Err(Failure::Clash) if group.len() == 1 => {
                    for pending in group {
                        let error = self.explain(&pending.append).await;
                        answer_to(pending.reply, Err(error));
                    }
                }
                Err(Failure::Clash) => {
                    for part in split(group).into_iter().rev() {
                        groups.push_front(part);
                    }
                }
                Err(Failure::Unknown(fault) | Failure::Fault(fault)) => {
                    tracing::warn!(error = %fault, appends = group.len(), "entries were not stored");
                    for pending in group {
                        // Read again when next asked for: after an unknown outcome the log may be longer.
                        self.next.remove(&pending.append.program);
                        answer_to(pending.reply, Err(CommitError::Storage(fault.clone())));
                    }
                }
            }
        }
    }

    /// Keeps the appends that continue their logs, and answers the others.
    async fn admit(&mut self, group: Vec<Pending>) -> Vec<Pending> {
        let mut admitted = Vec::with_capacity(group.len());
        let mut reached: HashMap<ProgramKey, u64> = HashMap::new();
        for pending in group {
            let program = pending.append.program;
            let expected = match reached.get(&program) {
                Some(&seq) => Ok(seq),
                None => self
                    .next_seq(program)
                    .await
                    .map_err(CommitError::Storage)
                    .and_then(|next| next.ok_or(CommitError::NoProgram)),
            };
            match expected.and_then(|expected| continues(&pending.append.entries, expected)) {
                Ok(after) => {
                    reached.insert(program, after);
                    admitted.push(pending);
                }
                Err(error) => answer_to(pending.reply, Err(error)),
            }
        }
        admitted
    }

    /// Stores all of a group in one transaction. An answer that was lost is found out.
    async fn store(&mut self, group: &[Pending]) -> Result<(), Failure> {
        match self.try_store(group).await {
            Err(Failure::Unknown(fault)) => {
                tracing::warn!(error = %fault, "the answer to a commit was lost; asking the log");
                // All or nothing: one row speaks for the group.
                match self.find_first(group).await {
                    Ok(true) => Ok(()),
                    Ok(false) => self.try_store(group).await,
                    Err(_) => Err(Failure::Unknown(fault)),
                }
            }
            answer => answer,
        }
    }

    async fn try_store(&mut self, group: &[Pending]) -> Result<(), Failure> {
        self.writer.step(Step::BeforeInsert).await?;
        let rows: Vec<_> = group
            .iter()
            .flat_map(|pending| {
                pending.append.entries.iter().map(|entry| entry.to_row(pending.append.program))
            })
            .collect();
        match rows.len() {
            0 => {}
            1..=MAX_ROWS => drop(self.writer.execute(insert_entries(rows)).await?),
            _ => drop(self.writer.transaction(insert_all_entries(rows)).await?),
        }
        self.writer.step(Step::AfterCommit).await
    }

    /// Whether the first entry of a group is in the log, as itself.
    async fn find_first(&mut self, group: &[Pending]) -> Result<bool, Failure> {
        let Some((program, entry)) =
            group.iter().find_map(|pending| Some((pending.append.program, pending.append.entries.first()?)))
        else {
            return Ok(false);
        };
        let found = self.writer.entry_id(program, entry.seq).await?;
        Ok(found == Some(entry.id))
    }

    async fn acknowledge(&mut self, group: Vec<Pending>) {
        let counters = &self.committer.counters;
        let entries: usize = group.iter().map(|pending| pending.append.entries.len()).sum();
        counters.transactions.fetch_add(1, Ordering::Relaxed);
        counters.entries.fetch_add(entries as u64, Ordering::Relaxed);
        for pending in &group {
            if let Some(last) = pending.append.entries.last() {
                self.next.insert(pending.append.program, Some(last.seq + 1));
            }
        }
        // The rows are durable: a fault here can delay the answer, not change it.
        if let Err(failure) = self.writer.step(Step::BeforeAck).await {
            tracing::warn!(error = %Fault::from(failure), "fault after a commit");
        }
        for pending in group {
            answer_to(pending.reply, Ok(()));
        }
    }

    /// Which unique value a single append clashed with.
    async fn explain(&mut self, append: &Append) -> CommitError {
        match self.find_clash(append).await {
            Ok(error) => error,
            Err(failure) => CommitError::Storage(failure.into()),
        }
    }

    async fn find_clash(&mut self, append: &Append) -> Result<CommitError, Failure> {
        let mut keys: HashMap<&[u8], u64> = HashMap::new();
        for entry in &append.entries {
            let Some(idempotency) = &entry.idempotency else { continue };
            let seq = match keys.insert(&idempotency.key, entry.seq) {
                Some(seq) => Some(seq),
                None => self.writer.seq_of_key(append.program, &idempotency.key).await?,
            };
            if let Some(seq) = seq {
                return Ok(CommitError::KeyTaken { seq });
            }
        }
        // What is left is the number itself: the log is longer than was known.
        self.next.remove(&append.program);
        let expected = self.next_seq(append.program).await.map_err(Failure::Fault)?.unwrap_or(FIRST_SEQ);
        let found = append.entries.first().map_or(expected, |entry| entry.seq);
        Ok(CommitError::OutOfOrder { expected, found })
    }

    /// Makes a program with its first entries in one transaction.
    async fn create(&mut self, creation: &Creation) -> Result<ProgramKey, CreateProgramError> {
        continues(&creation.entries, FIRST_SEQ)?;
        match self.try_create(creation).await {
            Ok(created) => created,
            Err(Failure::Clash) => self
                .explain_creation(creation)
                .await
                .map_err(|failure| CreateProgramError::Storage(failure.into()))?,
            Err(Failure::Unknown(fault)) => {
                tracing::warn!(error = %fault, "the answer to a creation was lost; asking the database");
                match self.writer.program_with_id(creation.program.id).await {
                    Ok(Some(key)) => Ok(key),
                    Ok(None) => match self.try_create(creation).await {
                        Ok(created) => created,
                        Err(failure) => Err(CreateProgramError::Storage(failure.into())),
                    },
                    Err(_) => Err(CreateProgramError::Storage(fault)),
                }
            }
            Err(Failure::Fault(fault)) => Err(CreateProgramError::Storage(fault)),
        }
    }

    async fn try_create(
        &mut self,
        creation: &Creation,
    ) -> Result<Result<ProgramKey, CreateProgramError>, Failure> {
        self.writer.step(Step::BeforeInsert).await?;
        self.writer.begin().await?;
        let outcome = self.create_in_transaction(creation).await;
        let created = self.writer.finish(outcome).await?;
        self.writer.step(Step::AfterCommit).await?;
        if let Ok(key) = created {
            let counters = &self.committer.counters;
            counters.transactions.fetch_add(1, Ordering::Relaxed);
            counters.entries.fetch_add(creation.entries.len() as u64, Ordering::Relaxed);
            self.next.insert(key, Some(FIRST_SEQ + creation.entries.len() as u64));
        }
        self.writer.step(Step::BeforeAck).await?;
        Ok(created)
    }

    async fn create_in_transaction(
        &mut self,
        creation: &Creation,
    ) -> Result<Result<ProgramKey, CreateProgramError>, Failure> {
        // The key is unique within a program, and there is none yet; so ask for other programs made under it.
        for idempotency in creation.entries.iter().filter_map(|entry| entry.idempotency.as_ref()) {
            if let Some(program) = self.writer.program_created_by(&idempotency.key).await? {
                return Ok(Err(CreateProgramError::KeyTaken { program }));
            }
        }
        let row = self.writer.first_row(creation.program.insert()).await?;
        let key = row
            .ok_or_else(|| Failure::Fault(Fault::Row { table: "programs", column: "key" }))?
            .try_get::<i64, _>(0)
            .map(ProgramKey)?;
        self.writer.execute(program_changes::creation(key, creation.program.created)).await?;
        for statement in insert_all_entries(creation.entries.iter().map(|entry| entry.to_row(key)).collect())
        {
            self.writer.execute(statement).await?;
        }
        Ok(Ok(key))
    }

    async fn explain_creation(
        &mut self,
        creation: &Creation,
    ) -> Result<Result<ProgramKey, CreateProgramError>, Failure> {
        if self.writer.program_with_id(creation.program.id).await?.is_some() {
            return Ok(Err(CreateProgramError::IdTaken));
        }
        Ok(Err(CreateProgramError::NameTaken { name: creation.program.name.clone() }))
    }

    async fn write(&mut self, write: Write) {
        if let Some(program) = write.program {
            self.next.remove(&program);
        }
        let answer = self.run_write(&write.statements, Step::BeforeInsert, Step::AfterCommit).await;
        answer_to(write.reply, answer);
    }

    async fn write_in_background(&mut self, write: Write) {
        let answer = self.run_write(&write.statements, Step::BeforeBackground, Step::AfterBackground).await;
        answer_to(write.reply, answer);
    }

    async fn run_write(
        &mut self,
        statements: &[Sql],
        before: Step,
        after: Step,
    ) -> Result<Vec<u64>, Failure> {
        match self.try_write(statements, before, after).await {
            Err(Failure::Unknown(fault)) => {
                tracing::warn!(error = %fault, "the answer to a write was lost; writing again");
                self.try_write(statements, before, after).await
            }
            answer => answer,
        }
    }

    async fn try_write(
        &mut self,
        statements: &[Sql],
        before: Step,
        after: Step,
    ) -> Result<Vec<u64>, Failure> {
        self.writer.step(before).await?;
        let changed = match statements {
            [only] => vec![self.writer.execute(only.clone()).await?],
            several => self.writer.transaction(several.to_vec()).await?,
        };
        self.writer.step(after).await?;
        Ok(changed)
    }

    /// The next number of a program's log; `None` if there is no such program.
    async fn next_seq(&mut self, program: ProgramKey) -> Result<Option<u64>, Fault> {
        if let Some(&known) = self.next.get(&program) {
            return Ok(known);
        }
        let next = self.writer.next_seq(program).await?;
        self.next.insert(program, next);
        Ok(next)
    }
}

/// Tells everyone who waits, whichever way the loop ends.
struct AbandonOnExit(Arc<Queue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The number after the last entry, if the entries are numbered from `expected` on.
fn continues(entries: &[Entry], expected: u64) -> Result<u64, CommitError> {
    let mut expected = expected;
    for entry in entries {
        if entry.seq != expected {
            return Err(CommitError::OutOfOrder { expected, found: entry.seq });
        }
        expected += 1;
    }
    Ok(expected)
}

/// By program, in order of first appearance; a group of one program by append.
fn split(group: Vec<Pending>) -> Vec<Vec<Pending>> {
    let mut parts: Vec<(ProgramKey, Vec<Pending>)> = Vec::new();
    for pending in group {
        let program = pending.append.program;
        match parts.iter_mut().find(|(key, _)| *key == program) {
            Some((_, part)) => part.push(pending),
            None => parts.push((program, vec![pending])),
        }
    }
    if let [(_, only)] = &mut parts[..] {
        return std::mem::take(only).into_iter().map(|pending| vec![pending]).collect();
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn insert_entries(rows: Vec<log::ActiveModel>) -> Sql {
    Sql::new(&log::Entity::insert_many(rows).into_query())
}

/// As few statements as the limit on rows allows.
fn insert_all_entries(mut rows: Vec<log::ActiveModel>) -> Vec<Sql> {
    let mut statements = Vec::with_capacity(rows.len().div_ceil(MAX_ROWS));
    while rows.len() > MAX_ROWS {
        let rest = rows.split_off(MAX_ROWS);
        statements.push(insert_entries(std::mem::replace(&mut rows, rest)));
    }
    if !rows.is_empty() {
        statements.push(insert_entries(rows));
    }
    statements
}

/// Answers a caller, who may have gone.
fn answer_to<T>(reply: oneshot::Sender<T>, answer: T) {
    drop(reply.send(answer));
}

//! The group committer: puts what is queued, of all programs and callers, into one multi-row insert.
//!
//! A batch is one statement, which is one transaction, so all of it is stored or nothing. There is no lingering: while
//! one batch is being written the next one collects. Only where writes came together before, tasks that are ready to write have the
//! thread first. The committer knows how long every log is and refuses an append
//! that does not continue it; so when an append fails, those behind it that were built on it fail too, wherever they
//! are queued, and a log never has a gap. How that is stored is in `appending`.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use sea_orm::ActiveValue::Set;
use sea_orm::{EntityTrait, QueryTrait};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::appending::{insert_all_entries, numbered, store_held};
use crate::aside::{self, Aside};
use crate::entity::heads;
use crate::entry::{Entry, FIRST_SEQ, Head, ProgramKey};
use crate::fault::{Failure, Fault};
use crate::faults::Step;
use crate::hold::{Hold, Holders};
use crate::jobs::{Job, Pending, Work, Write};
use crate::lock::Lock;
use crate::program_changes;
use crate::programs::{CreateProgramError, Creation};
use crate::queue::Queue;
use crate::sql::Sql;
use crate::writer::Writer;

/// Entries of one program that are stored together or not at all.
#[derive(Debug, Clone)]
pub struct Append {
    /// The program.
    pub program: ProgramKey,
    /// The id of the entry that they were built on: there may be another with its number by now.
    pub after: Uuid,
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
    /// by an append whose answer was lost, or by one of another process.
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

impl Ticket {
    pub(crate) fn of(answer: oneshot::Receiver<Result<(), CommitError>>) -> Self {
        Self(answer)
    }
}

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
    pub(crate) counters: Arc<Counters>,
    pub(crate) holders: Holders,
    /// Holds that are being ended.
    ending: Arc<Mutex<JoinSet<()>>>,
    aside: Option<Arc<Aside>>,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    transactions: AtomicU64,
    entries: AtomicU64,
    connections: AtomicU64,
    /// Notified at times when logs have grown.
    pub(crate) grown: Arc<Notify>,
}

/// How many entries make [`Counters::grown`] notified.
const GROWN: u64 = 256;

impl Counters {
    /// Counts a transaction that has appended entries.
    pub(crate) fn count(&self, entries: usize) {
        self.transactions.fetch_add(u64::from(entries > 0), Ordering::Relaxed);
        let before = self.entries.fetch_add(entries as u64, Ordering::Relaxed);
        if (before + entries as u64) / GROWN > before / GROWN {
            self.grown.notify_one();
        }
    }
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

    /// Stores what a hold has taken, which ends the hold.
    ///
    /// Not in the order of the queue: what is at work there may wait for a log that another process holds, which may wait for this
    /// one. What continues this log waits for the hold in the database.
    pub fn settle(&self, hold: Hold) {
        let this = self.clone();
        let mut ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        while ending.try_join_next().is_some() {}
        ending.spawn(async move {
            let tried = store_held(hold, &this.holders).await;
            // Refused, it is dropped, which the tickets read as closed.
            this.queue.push(Job::Tried(tried)).ok();
        });
    }

    /// Waits until no hold is being ended.
    pub(crate) async fn all_ended(&self) {
        loop {
            let mut ending = std::mem::take(&mut *self.ending.lock().unwrap_or_else(PoisonError::into_inner));
            if ending.is_empty() {
                return;
            }
            while ending.join_next().await.is_some() {}
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

    /// Runs a statement at once on this thread, if nobody else writes or waits to, and answers whether it is stored. If not, it is to
    /// be written, and may run twice then.
    pub(crate) fn store_at_once(&self, statements: &[Sql]) -> bool {
        let (Some(aside), [Sql::Known(known, values)]) = (&self.aside, statements) else { return false };
        if !aside::may_wait() {
            return false;
        }
        self.queue.step_in().is_some_and(|_turn| aside.run(known, values))
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
    pub(crate) committer: Committer,
    pub(crate) writer: Writer,
    /// The newest entry of every log that was asked for; `None` for a program that is not there. Only for whoever writes
    /// alone.
    pub(crate) heads: HashMap<ProgramKey, Option<Head>>,
    /// Given back after the connection is closed, so that the next process finds a quiet file.
    lock: Option<Lock>,
}

impl Loop {
    pub(crate) fn new(writer: Writer, lock: Option<Lock>, aside: Option<Aside>) -> (Committer, Self) {
        let committer = Committer {
            queue: Arc::default(),
            counters: Arc::default(),
            holders: Holders::default(),
            ending: Arc::default(),
            aside: aside.map(Arc::new),
        };
        committer.counters.connections.store(writer.opened(), Ordering::Relaxed);
        let this = Self { committer: committer.clone(), writer, heads: HashMap::new(), lock };
        (committer, this)
    }

    /// Works until the queue is closed and empty. Gives the lock back when nobody here uses the file any more.
    pub(crate) async fn run(mut self) -> Option<Lock> {
        let guard = AbandonOnExit(Arc::clone(&self.committer.queue));
        while let Some(work) = self.committer.queue.next().await {
            match work {
                Work::Batch(batch) => self.settle(batch).await,
                Work::Tried(tried) => self.settle_tried(tried).await,
                Work::Create(creation, reply) => {
                    let answer = self.create(&creation).await;
                    answer_to(reply, answer);
                }
                Work::Writes(writes) => self.write(writes).await,
                Work::Background(write) => self.write_in_background(write).await,
            }
            self.committer.counters.connections.store(self.writer.opened(), Ordering::Relaxed);
        }
        // The last connection folds the write-ahead log into the file, and this is it.
        if let Some(aside) = &self.committer.aside {
            aside.close();
        }
        self.writer.disconnect().await;
        drop(guard);
        self.lock
    }

    /// Makes a program with its first entries in one transaction.
    async fn create(&mut self, creation: &Creation) -> Result<ProgramKey, CreateProgramError> {
        numbered(&creation.entries, FIRST_SEQ)?;
        match self.try_create(creation).await {
            Ok(created) => created,
            Err(Failure::Clash) => self
                .explain_creation(creation)
                .await
                .map_err(|failure| CreateProgramError::Storage(failure.into()))?,
            Err(Failure::Unknown(fault)) => {
                tracing::warn!(error = %fault, "the answer to a creation was lost; asking the database");
                match self.find_created(creation.program.id).await {
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

    /// The program with an id, if the answer that was lost was that it is made.
    async fn find_created(&mut self, id: Uuid) -> Result<Option<ProgramKey>, Failure> {
        self.writer.step(Step::BeforeAsking).await?;
        self.writer.program_with_id(id).await
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
            self.committer.counters.count(creation.entries.len());
            self.heads.insert(key, creation.entries.last().map(Head::of));
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
        let key = self.writer.value(&creation.program.insert()).await?.map(ProgramKey);
        let key = key.ok_or_else(|| Failure::Fault(Fault::Row { table: "programs", column: "key" }))?;
        self.writer.execute(&program_changes::creation(key, creation.program.created)).await?;
        let rows = creation.entries.iter().map(|entry| entry.to_row(key)).collect();
        let rows = insert_all_entries(rows);
        self.writer.execute_all(&rows.iter().collect::<Vec<_>>()).await?;
        if let Some(newest) = creation.entries.last().filter(|_| !self.writer.is_alone()) {
            let head = heads::ActiveModel {
                program: Set(key.0),
                seq: Set(newest.seq.cast_signed()),
                entry: Set(newest.id),
            };
            self.writer.execute(&heads::Entity::insert(head).into_query().into()).await?;
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

    /// Writes several in one transaction; if that is not to be had, each in one of its own, so that none suffers from another.
    async fn write(&mut self, writes: Vec<Write>) {
        if let [first, _, ..] = &writes[..]
            && first.program.is_none()
            && let Ok(mut changed) = self.try_writes(&writes).await
        {
            for write in writes {
                let rest = changed.split_off(write.statements.len());
                answer_to(write.reply, Ok(std::mem::replace(&mut changed, rest)));
            }
            return;
        }
        for write in writes {
            if let Some(program) = write.program {
                self.heads.remove(&program);
            }
            let answer = self.run_write(&write, Step::BeforeInsert, Step::AfterCommit).await;
            answer_to(write.reply, answer);
        }
    }

    async fn try_writes(&mut self, writes: &[Write]) -> Result<Vec<u64>, Failure> {
        self.writer.step(Step::BeforeInsert).await?;
        let statements: Vec<&Sql> = writes.iter().flat_map(|write| &write.statements).collect();
        let changed = self.writer.transaction(&statements, None).await?;
        self.writer.step(Step::AfterCommit).await?;
        Ok(changed)
    }

    async fn write_in_background(&mut self, write: Write) {
        let answer = self.run_write(&write, Step::BeforeBackground, Step::AfterBackground).await;
        answer_to(write.reply, answer);
    }

    async fn run_write(&mut self, write: &Write, before: Step, after: Step) -> Result<Vec<u64>, Failure> {
        match self.try_write(write, before, after).await {
            Err(Failure::Unknown(fault)) => {
                tracing::warn!(error = %fault, "the answer to a write was lost; writing again");
                self.try_write(write, before, after).await
            }
            answer => answer,
        }
    }

    async fn try_write(&mut self, write: &Write, before: Step, after: Step) -> Result<Vec<u64>, Failure> {
        self.writer.step(before).await?;
        let changed = match &write.statements[..] {
            [only] => vec![self.writer.execute(only).await?],
            several => self.writer.transaction(&several.iter().collect::<Vec<_>>(), write.program).await?,
        };
        self.writer.step(after).await?;
        Ok(changed)
    }
}

/// Tells everyone who waits, whichever way the loop ends.
struct AbandonOnExit(Arc<Queue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Answers a caller, who may have gone.
pub(crate) fn answer_to<T>(reply: oneshot::Sender<T>, answer: T) {
    drop(reply.send(answer));
}

//! What waits for the committer.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

use crate::committer::{Append, CommitError};
use crate::entry::ProgramKey;
use crate::fault::Failure;
use crate::hold::Hold;
use crate::programs::{CreateProgramError, Creation};
use crate::sql::Sql;

/// The most rows of one statement: above it a batch gains nothing, and the first of it waits longer.
pub(crate) const MAX_ROWS: usize = 256;

/// The most statements of writes that go into one transaction.
const MAX_STATEMENTS: usize = 256;

/// The most bytes of a batch of several appends.
const MAX_BYTES: usize = 4 << 20;

/// An append and who waits for it.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) append: Append,
    pub(crate) reply: oneshot::Sender<Result<(), CommitError>>,
}

impl Pending {
    /// Whether the append is few enough rows for one statement.
    fn is_plain(&self) -> bool {
        self.append.entries.len() <= MAX_ROWS
    }
}

/// Statements outside the log that go into one transaction.
///
/// They may run twice if a connection is lost, so running them twice must leave what running them once does.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) statements: Vec<Sql>,
    /// The program whose existence they change.
    pub(crate) program: Option<ProgramKey>,
    pub(crate) reply: oneshot::Sender<Result<Vec<u64>, Failure>>,
}

#[derive(Debug)]
pub(crate) enum Job {
    Append(Pending),
    Held(Box<Hold>),
    Create(Box<Creation>, oneshot::Sender<Result<ProgramKey, CreateProgramError>>),
    Write(Write),
}

/// What the committer does next.
#[derive(Debug)]
pub(crate) enum Work {
    /// Appends that fit one statement, or one that does not.
    Batch(Vec<Pending>),
    Held(Box<Hold>),
    Create(Box<Creation>, oneshot::Sender<Result<ProgramKey, CreateProgramError>>),
    /// Several, or one that changes whether a program exists.
    Writes(Vec<Write>),
    Background(Write),
}

/// Two queues: what callers wait for, in order of submission, and background writing, which gets a turn after each
/// batch at most and so neither delays callers for long nor starves.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    lanes: Mutex<Lanes>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Lanes {
    jobs: VecDeque<Job>,
    background: VecDeque<Write>,
    background_is_next: bool,
    closed: bool,
}

impl Queue {
    /// Queues a job; gives it back if the queue is closed.
    pub(crate) fn push(&self, job: Job) -> Result<(), Job> {
        let mut lanes = self.lock();
        if lanes.closed {
            return Err(job);
        }
        lanes.jobs.push_back(job);
        drop(lanes);
        self.wake.notify_one();
        Ok(())
    }

    /// Queues background writing; gives it back if the queue is closed.
    pub(crate) fn push_background(&self, write: Write) -> Result<(), Write> {
        let mut lanes = self.lock();
        if lanes.closed {
            return Err(write);
        }
        lanes.background.push_back(write);
        drop(lanes);
        self.wake.notify_one();
        Ok(())
    }

    /// Takes no more; what is queued is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// Takes no more and drops what is queued, which tells everyone who waits.
    pub(crate) fn abandon(&self) {
        let mut lanes = self.lock();
        lanes.closed = true;
        lanes.jobs.clear();
        lanes.background.clear();
    }

    /// Waits for work; `None` when the queue is closed and empty.
    pub(crate) async fn next(&self) -> Option<Work> {
        loop {
            {
                let mut lanes = self.lock();
                if let Some(work) = lanes.next() {
                    return Some(work);
                }
                if lanes.closed {
                    return None;
                }
            }
            self.wake.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn next(&mut self) -> Option<Work> {
        let background = self.background_is_next || self.jobs.is_empty();
        if background && let Some(write) = self.background.pop_front() {
            self.background_is_next = false;
            return Some(Work::Background(write));
        }
        self.background_is_next = true;
        match self.jobs.pop_front()? {
            Job::Append(pending) => Some(Work::Batch(self.batch(pending))),
            Job::Held(hold) => Some(Work::Held(hold)),
            Job::Create(creation, reply) => Some(Work::Create(creation, reply)),
            Job::Write(write) => Some(Work::Writes(self.writes(write))),
        }
    }

    /// Joins to a write those behind it, as far as they are few enough for one transaction.
    fn writes(&mut self, first: Write) -> Vec<Write> {
        let mut statements = first.statements.len();
        let mut writes = vec![first];
        while writes[0].program.is_none()
            && let Some(Job::Write(next)) = self.jobs.front()
        {
            statements += next.statements.len();
            if next.program.is_some() || statements > MAX_STATEMENTS {
                break;
            }
            let Some(Job::Write(next)) = self.jobs.pop_front() else { break };
            writes.push(next);
        }
        writes
    }

    /// Joins to an append those behind it, as far as they fit one statement.
    fn batch(&mut self, first: Pending) -> Vec<Pending> {
        let plain = first.is_plain();
        let mut rows = first.append.entries.len();
        let mut bytes = first.append.size();
        let mut batch = vec![first];
        while plain && let Some(Job::Append(pending)) = self.jobs.front() {
            rows += pending.append.entries.len();
            bytes += pending.append.size();
            if !pending.is_plain() || rows > MAX_ROWS || bytes > MAX_BYTES {
                break;
            }
            let Some(Job::Append(pending)) = self.jobs.pop_front() else { break };
            batch.push(pending);
        }
        batch
    }
}

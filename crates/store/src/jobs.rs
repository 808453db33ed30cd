//! What the committer is asked to do: in which order it does that, and how much of it together.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::appending::Tried;
use crate::committer::{Append, CommitError};
use crate::entry::ProgramKey;
use crate::fault::Failure;
use crate::programs::{CreateProgramError, Creation};
use crate::sql::Sql;

/// The most rows of one statement: above it a batch gains nothing, and the first of it waits longer.
pub(crate) const MAX_ROWS: usize = 256;

/// The most statements of writes that go into one transaction.
const MAX_STATEMENTS: usize = 256;

/// How many writes have to be alone, one after the other, before somebody who writes is taken to be.
pub(crate) const ALONE: u32 = 16;

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
    /// Was stored beside the queue, or could not be.
    Tried(Tried),
    Create(Box<Creation>, oneshot::Sender<Result<ProgramKey, CreateProgramError>>),
    Write(Write),
}

/// What the committer does next.
#[derive(Debug)]
pub(crate) enum Work {
    /// Appends that fit one statement, or one that does not.
    Batch(Vec<Pending>),
    Tried(Tried),
    Create(Box<Creation>, oneshot::Sender<Result<ProgramKey, CreateProgramError>>),
    /// Several, or one that changes whether a program exists.
    Writes(Vec<Write>),
    Background(Write),
}

/// What is to be done: what callers wait for, in order of submission, and background writing, which gets a turn after each
/// batch at most and so neither delays callers for long nor starves.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    awaited: VecDeque<Job>,
    background: VecDeque<Write>,
    background_is_next: bool,
    /// How many writes have yet to be alone.
    crowd: u32,
}

impl Jobs {
    /// Adds a job that is waited for.
    pub(crate) fn push(&mut self, job: Job) {
        self.awaited.push_back(job);
    }

    /// Adds background writing.
    pub(crate) fn push_background(&mut self, write: Write) {
        self.background.push_back(write);
    }

    /// Drops all of them, which tells everyone who waits.
    pub(crate) fn clear(&mut self) {
        self.awaited.clear();
        self.background.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.awaited.is_empty() && self.background.is_empty()
    }

    /// Notes that several write at the same time.
    pub(crate) fn note_crowd(&mut self) {
        self.crowd = ALONE;
    }

    /// Whether several have written at the same time not long ago.
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowd > 0
    }

    /// Whether a write is next, of many that come at the same time.
    pub(crate) fn expects_company(&self) -> bool {
        self.is_crowded() && matches!(self.awaited.front(), Some(Job::Write(_)))
    }

    /// What is done next.
    pub(crate) fn take(&mut self) -> Option<Work> {
        let background = self.background_is_next || self.awaited.is_empty();
        if background && let Some(write) = self.background.pop_front() {
            self.background_is_next = false;
            return Some(Work::Background(write));
        }
        self.background_is_next = true;
        match self.awaited.pop_front()? {
            Job::Append(pending) => Some(Work::Batch(self.batch(pending))),
            Job::Tried(tried) => Some(Work::Tried(tried)),
            Job::Create(creation, reply) => Some(Work::Create(creation, reply)),
            Job::Write(write) => {
                let writes = self.writes(write);
                self.crowd = if writes.len() > 1 { ALONE } else { self.crowd.saturating_sub(1) };
                Some(Work::Writes(writes))
            }
        }
    }

    /// Joins to a write those behind it, as far as they are few enough for one transaction.
    fn writes(&mut self, first: Write) -> Vec<Write> {
        let mut statements = first.statements.len();
        let mut writes = vec![first];
        while writes[0].program.is_none()
            && let Some(Job::Write(next)) = self.awaited.front()
        {
            statements += next.statements.len();
            if next.program.is_some() || statements > MAX_STATEMENTS {
                break;
            }
            let Some(Job::Write(next)) = self.awaited.pop_front() else { break };
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
        while plain && let Some(Job::Append(pending)) = self.awaited.front() {
            rows += pending.append.entries.len();
            bytes += pending.append.size();
            if !pending.is_plain() || rows > MAX_ROWS || bytes > MAX_BYTES {
                break;
            }
            let Some(Job::Append(pending)) = self.awaited.pop_front() else { break };
            batch.push(pending);
        }
        batch
    }
}

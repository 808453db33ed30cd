//! What waits for the committer.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

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
const ALONE: u32 = 16;

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
    /// The committer has taken something, and not asked for more yet.
    at_work: bool,
    /// Somebody writes without the committer, which takes nothing meanwhile.
    stepped_in: bool,
    /// How many writes have yet to be alone.
    crowd: u32,
}

/// A turn of somebody who writes without the committer; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct SteppedIn<'a>(&'a Queue);

impl Drop for SteppedIn<'_> {
    fn drop(&mut self) {
        let mut lanes = self.0.lock();
        lanes.stepped_in = false;
        let has_company = !lanes.is_empty();
        if has_company {
            lanes.crowd = ALONE;
        }
        let wakes = has_company || lanes.closed;
        drop(lanes);
        if wakes {
            self.0.wake.notify_one();
        }
    }
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
        let mut has_waited = false;
        loop {
            let waits = {
                let mut lanes = self.lock();
                lanes.at_work = false;
                let waits = !has_waited && lanes.expects_company();
                if !lanes.stepped_in && !waits {
                    if let Some(work) = lanes.next() {
                        lanes.at_work = true;
                        return Some(work);
                    }
                    if lanes.closed {
                        return None;
                    }
                }
                waits
            };
            if waits {
                // Those whose writes were stored last are about to write again, and have not had the thread yet.
                has_waited = true;
                tokio::task::yield_now().await;
            } else {
                self.wake.notified().await;
            }
        }
    }

    /// A turn for somebody who writes without the committer, if nobody else does or waits to, and that was so for a while: those who
    /// are not alone are stored together.
    pub(crate) fn step_in(&self) -> Option<SteppedIn<'_>> {
        let mut lanes = self.lock();
        if lanes.closed || lanes.at_work || lanes.stepped_in || lanes.crowd > 0 || !lanes.is_empty() {
            return None;
        }
        lanes.stepped_in = true;
        Some(SteppedIn(self))
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.background.is_empty()
    }

    /// Whether a write is next, of many that come at the same time.
    fn expects_company(&self) -> bool {
        self.crowd > 0 && matches!(self.jobs.front(), Some(Job::Write(_)))
    }

    fn next(&mut self) -> Option<Work> {
        let background = self.background_is_next || self.jobs.is_empty();
        if background && let Some(write) = self.background.pop_front() {
            self.background_is_next = false;
            return Some(Work::Background(write));
        }
        self.background_is_next = true;
        match self.jobs.pop_front()? {
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

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    fn write() -> Job {
        let (reply, _) = oneshot::channel();
        Job::Write(Write { statements: Vec::new(), program: None, reply })
    }

    #[tokio::test]
    async fn who_is_alone_steps_in() {
        let queue = Queue::default();
        let turn = queue.step_in().expect("nobody writes");
        assert!(queue.step_in().is_none(), "somebody has stepped in");
        queue.push(write()).expect("it is open");
        assert!(queue.next().now_or_never().is_none(), "the committer waits for whoever has stepped in");
        drop(turn);
        assert!(matches!(queue.next().await, Some(Work::Writes(writes)) if writes.len() == 1));
        assert!(queue.step_in().is_none(), "the committer is at work");
        assert!(queue.next().now_or_never().is_none());
        for _ in 1..ALONE {
            assert!(queue.step_in().is_none(), "there was company just now");
            queue.push(write()).expect("it is open");
            assert!(queue.next().await.is_some());
            assert!(queue.next().now_or_never().is_none());
        }
        assert!(queue.step_in().is_some());
        queue.push(write()).expect("it is open");
        assert!(queue.step_in().is_none(), "somebody waits");
        queue.close();
        assert!(queue.next().await.is_some());
        assert!(queue.next().await.is_none());
        assert!(queue.step_in().is_none(), "it is closed");
    }

    #[tokio::test]
    async fn a_queue_that_is_closed_ends_after_whoever_has_stepped_in() {
        let queue = Queue::default();
        let turn = queue.step_in().expect("nobody writes");
        queue.close();
        let mut next = pin!(queue.next());
        assert!(next.as_mut().now_or_never().is_none(), "the file is in use");
        drop(turn);
        assert!(next.await.is_none());
    }

    #[tokio::test]
    async fn those_who_write_at_the_same_time_write_together() {
        let queue = Queue::default();
        for writes in [1, 2] {
            (0..writes).for_each(|_| queue.push(write()).expect("it is open"));
            assert!(queue.next().now_or_never().flatten().is_some(), "nobody is waited for");
        }
        queue.push(write()).expect("it is open");
        let mut next = pin!(queue.next());
        assert!(next.as_mut().now_or_never().is_none(), "the others have not come yet");
        queue.push(write()).expect("it is open");
        assert!(matches!(next.await, Some(Work::Writes(writes)) if writes.len() == 2));
    }
}

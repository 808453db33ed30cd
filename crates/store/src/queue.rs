//! What waits for the committer, and who writes without it meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::jobs::{Job, Jobs, Work, Write};

/// What waits, until the committer asks for it.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    jobs: Jobs,
    closed: bool,
    /// The committer has taken something, and not asked for more yet.
    at_work: bool,
    /// Somebody writes without the committer, which takes nothing meanwhile.
    stepped_in: bool,
}

/// A turn of somebody who writes without the committer; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct SteppedIn<'a>(&'a Queue);

impl Drop for SteppedIn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.stepped_in = false;
        let has_company = !state.jobs.is_empty();
        if has_company {
            state.jobs.note_crowd();
        }
        let wakes = has_company || state.closed;
        drop(state);
        if wakes {
            self.0.wake.notify_one();
        }
    }
}

impl Queue {
    /// Queues a job; gives it back if the queue is closed.
    pub(crate) fn push(&self, job: Job) -> Result<(), Job> {
        let mut state = self.lock();
        if state.closed {
            return Err(job);
        }
        state.jobs.push(job);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Queues background writing; gives it back if the queue is closed.
    pub(crate) fn push_background(&self, write: Write) -> Result<(), Write> {
        let mut state = self.lock();
        if state.closed {
            return Err(write);
        }
        state.jobs.push_background(write);
        drop(state);
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
        let mut state = self.lock();
        state.closed = true;
        state.jobs.clear();
    }

    /// Waits for work; `None` when the queue is closed and empty.
    pub(crate) async fn next(&self) -> Option<Work> {
        let mut has_waited = false;
        loop {
            let waits = {
                let mut state = self.lock();
                state.at_work = false;
                let waits = !has_waited && state.jobs.expects_company();
                if !state.stepped_in && !waits {
                    if let Some(work) = state.jobs.take() {
                        state.at_work = true;
                        return Some(work);
                    }
                    if state.closed {
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
        let mut state = self.lock();
        if state.closed
            || state.at_work
            || state.stepped_in
            || state.jobs.is_crowded()
            || !state.jobs.is_empty()
        {
            return None;
        }
        state.stepped_in = true;
        Some(SteppedIn(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;
    use crate::jobs::ALONE;

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

//! Connections whose clients have no request under way, so that they can be closed for others that have.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The connections that wait for the whole head of a request, the first or a further one.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// How often a connection has begun to wait.
    begun: u64,
    /// What ends each, in the order in which they began.
    ends: BTreeMap<u64, CancellationToken>,
}

impl Idle {
    /// Ends the connection that has waited longest; false if none waits.
    pub(crate) fn end_longest(&self) -> bool {
        let longest = self.waiting().ends.pop_first();
        longest.inspect(|(_, end)| end.cancel()).is_some()
    }

    /// Ends the connection that has waited longest, as soon as one waits.
    pub(crate) async fn end_one(&self) {
        while !self.end_longest() {
            self.more.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    idle: Arc<Idle>,
    end: CancellationToken,
    /// Under which number it waits, or did last.
    number: AtomicU64,
    /// Whether a request is answered, and not all of the answer sent.
    answered: AtomicBool,
}

impl Connection {
    /// A connection that waits for its first request, and what is cancelled when it is to end.
    pub(crate) fn new(idle: &Arc<Idle>) -> (Arc<Connection>, CancellationToken) {
        let end = CancellationToken::new();
        let (number, answered) = (AtomicU64::default(), AtomicBool::default());
        let connection = Connection { idle: Arc::clone(idle), end: end.clone(), number, answered };
        connection.wait();
        (Arc::new(connection), end)
    }

    /// Says that a request is under way, until the value is dropped and what was written is sent.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.answered.store(false, Ordering::Relaxed);
        self.stop_waiting();
        Busy(Arc::clone(self))
    }

    /// Says that all that was written is sent.
    pub(crate) fn sent(&self) {
        if self.answered.swap(false, Ordering::Relaxed) {
            self.wait();
        }
    }

    /// Says that it takes no requests any more.
    pub(crate) fn stop_waiting(&self) {
        let mut waiting = self.idle.waiting();
        waiting.ends.remove(&self.number.load(Ordering::Relaxed));
    }

    fn wait(&self) {
        let mut waiting = self.idle.waiting();
        let number = waiting.begun;
        waiting.begun += 1;
        waiting.ends.insert(number, self.end.clone());
        self.number.store(number, Ordering::Relaxed);
        drop(waiting);
        self.idle.more.notify_one();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop_waiting();
    }
}

/// A request that is under way.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Connection>);

impl Busy {
    /// The answer to the request, which is under way up to the end of it.
    pub(crate) fn until_answered(self, answer: Response) -> axum::http::Response<Answer> {
        answer.map(|body| Answer { body, _busy: self })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.answered.store(true, Ordering::Relaxed);
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_waited_longest_is_ended_first_and_who_is_busy_is_not() {
        let idle = Arc::new(Idle::default());
        let [(first, end_of_first), (second, end_of_second), (third, end_of_third)] =
            std::array::from_fn(|_| Connection::new(&idle));
        let busy = second.busy();
        drop(first.busy());
        first.sent();
        assert!(idle.end_longest() && idle.end_longest());
        assert!(end_of_third.is_cancelled() && end_of_first.is_cancelled() && !end_of_second.is_cancelled());
        second.sent();
        assert!(!idle.end_longest(), "the second has sent the beginning of an answer");
        drop(busy);
        assert!(!idle.end_longest(), "the second has the end of it to send");
        second.sent();
        third.stop_waiting();
        assert!(idle.end_longest() && end_of_second.is_cancelled());
        assert!(!idle.end_longest(), "none is left");
    }
}

//! Futures that come to their end whoever waits for them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// A future whose rest runs in a task of its own when nobody waits for it any more.
///
/// While somebody does, there is no task. Must be dropped within a runtime; one that shuts down ends the future.
pub(super) struct CarriedOut<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    /// What is left to do.
    rest: Option<Pin<Box<F>>>,
    tasks: TaskTracker,
}

impl<F> CarriedOut<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    /// Makes one whose rest would be a task among these.
    pub(super) fn new(future: F, tasks: TaskTracker) -> Self {
        CarriedOut { rest: Some(Box::pin(future)), tasks }
    }
}

impl<F> Future for CarriedOut<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let rest = self.rest.as_mut().expect("nobody asks again for what has ended");
        let ended = rest.as_mut().poll(context);
        if ended.is_ready() {
            self.rest = None;
        }
        ended
    }
}

impl<F> Drop for CarriedOut<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn drop(&mut self) {
        if let (Some(rest), Ok(runtime)) = (self.rest.take(), Handle::try_current()) {
            self.tasks.spawn_on(rest, &runtime);
        }
    }
}

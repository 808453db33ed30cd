//! Mutations give way to queries: those that would begin wait for a turn, so that a query finds few of them before it.

use std::future::{Future, poll_fn};
use std::num::NonZero;
use std::pin::pin;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::yield_now;

/// The turns of mutations to begin.
///
/// What a mutation does until it first waits, for its program or for the disk, is most of its work. Of a hundred that come
/// at once, a query would have to wait for each. So only as many as half of the processors are on the way to begin; the
/// others wait here, outside of the runtime's queue, in the order in which they came.
pub(super) struct Turns(Semaphore);

impl Turns {
    /// The turns of this machine.
    pub(super) fn new() -> Self {
        let processors = available_parallelism().map_or(1, NonZero::get);
        Turns::of(processors.div_ceil(2))
    }

    fn of(turns: usize) -> Self {
        Turns(Semaphore::new(turns))
    }

    /// Runs a mutation, which begins when it is its turn, and gives that away when it first waits.
    ///
    /// From the moment on at which it is its turn, others wait until it is polled: nothing else that its task waits for may be in
    /// between, least of all a client.
    pub(super) async fn run<T>(&self, mutation: impl Future<Output = T>) -> T {
        let mut turn = self.0.try_acquire().ok();
        if turn.is_none() {
            turn = self.0.acquire().await.ok();
            // The runtime goes on with who was woken last; what is in its queue already comes first.
            yield_now().await;
        }
        let mut mutation = pin!(mutation);
        poll_fn(|context| {
            let polled = mutation.as_mut().poll(context);
            turn = None;
            polled
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn a_query_goes_before_the_mutations_that_have_not_begun() {
        let (turns, begun) = (Arc::new(Turns::of(1)), Arc::new(Mutex::new(String::new())));
        let tell = |name: &'static str| {
            let begun = Arc::clone(&begun);
            move || begun.lock().expect("nobody has panicked").push_str(name)
        };
        let begins = turns.0.acquire().await.expect("there is a turn");
        let mut tasks = JoinSet::new();
        for name in ["m1 ", "m2 ", "m3 "] {
            let (turns, tell) = (Arc::clone(&turns), tell(name));
            tasks.spawn(async move { turns.run(async { tell() }).await });
        }
        yield_now().await;
        drop(begins);
        let tell = tell("query ");
        tasks.spawn(async move { tell() });
        tasks.join_all().await;
        assert_eq!(*begun.lock().expect("nobody has panicked"), "query m1 m2 m3 ");
    }

    fn panics() {
        panic!("it does");
    }

    #[tokio::test]
    async fn whatever_becomes_of_a_mutation_it_keeps_no_turn() {
        let turns = Arc::new(Turns::of(1));
        let begins = turns.0.acquire().await.expect("there is a turn");
        let waiting = Arc::clone(&turns);
        let gone = tokio::spawn(async move { waiting.run(async {}).await });
        yield_now().await;
        gone.abort();
        drop(begins);
        assert!(gone.await.is_err());

        let broken = Arc::clone(&turns);
        let broken = tokio::spawn(async move { broken.run(async { panics() }).await });
        assert!(broken.await.is_err());

        let endless = Arc::clone(&turns);
        let endless = tokio::spawn(async move { endless.run(std::future::pending::<()>()).await });
        yield_now().await;
        turns.run(async {}).await;
        assert_eq!(turns.0.available_permits(), 1);
        endless.abort();
    }
}

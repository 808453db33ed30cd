//! Operations whose answers go out one by one, each in a task of its own.
//!
//! An operation can hold a lock of its program wherever it awaits. So nothing may keep it from going on there, least of
//! all a client that does not read: it is held up between two answers and nowhere else.

use futures_util::{Stream, StreamExt};
use lmlang_graphql::transport::{Answer, Prepared};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;

use crate::state::Shared;

/// Answers of one operation that wait to be taken. With the operations of a connection they bound what waits for it.
const WAITING: usize = 2;

/// Starts an operation; it ends with its last answer, or when nobody is left to take them. A mutation that has begun is
/// carried out all the same.
pub(crate) fn begin(state: &Shared, prepared: Prepared) -> impl Stream<Item = Answer> + Send + use<> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let mut answers = state.executor.stream(prepared);
    let counted = Counted::begin();
    let task = state.sockets.spawn(async move {
        let _counted = counted;
        while let Ok(place) = sender.reserve().await
            && let Some(answer) = answers.next().await
        {
            place.send(answer);
        }
    });
    let task = AbortOnDropHandle::new(task);
    ReceiverStream::new(receiver).map(move |answer| {
        let _held = &task;
        answer
    })
}

/// Counts an operation among the running ones for as long as it lives.
#[derive(Debug)]
struct Counted(());

impl Counted {
    fn begin() -> Counted {
        metrics::gauge!("lmlang_streams").increment(1);
        Counted(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!("lmlang_streams").decrement(1);
    }
}

//! How an attempt at a node ends that does not come to an end by itself.

use std::future::Future;
use std::time::Duration;

use lmlang_flow::{Failure, Flow, Task, ladder};

use crate::flows::code::failure;

/// How long an attempt may work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within(Option<Duration>);

impl Within {
    /// The bound of a task's node.
    pub(crate) fn of(flow: &Flow, task: &Task) -> Within {
        let micros = flow.node(&task.node).and_then(|node| node.within);
        Within(micros.map(|micros| Duration::from_micros(u64::try_from(micros).unwrap_or(0))))
    }

    /// What comes of some work; nothing when it was broken off because it takes longer.
    pub(crate) async fn work<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            None => Some(work.await),
            Some(bound) => tokio::time::timeout(bound, work).await.ok(),
        }
    }

    /// The failure of an attempt that was broken off. Trying again may help: what it has had is remembered.
    pub(crate) fn late(self, node: &str) -> Failure {
        let bound = self.0.unwrap_or_default().as_millis();
        failure(ladder::LATE, format!("`{node}` has not come to its end within {bound} ms"))
    }
}

/// The failure of an attempt that has panicked.
pub(crate) fn broke_off(node: &str) -> Failure {
    failure("INTERNAL", format!("`{node}` broke off; the log of the server says why"))
}

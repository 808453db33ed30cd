//! Places at which a test can interfere with the write path, and with reads.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::fault::{Failure, Fault};

/// A step of the write path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A batch has been taken from the queue; no statement has run.
    BeforeInsert,
    /// All statements of a transaction of several have run; it is not committed. Where they go to a file as one text, with its
    /// beginning and its end, none of them has run. A batch that is one statement has no such step.
    BeforeCommit,
    /// The database has answered that the rows are durable; nobody has been told.
    AfterCommit,
    /// The next thing is to answer the callers.
    BeforeAck,
    /// The answer of the database was lost; it is about to be asked whether the rows are there.
    BeforeAsking,
    /// Background writing (objects, snapshots, simulations) is about to start.
    BeforeBackground,
    /// Background writing is durable.
    AfterBackground,
}

impl Step {
    /// All steps, in the order in which a write can pass them.
    pub const ALL: [Self; 7] = [
        Self::BeforeInsert,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::BeforeAck,
        Self::BeforeAsking,
        Self::BeforeBackground,
        Self::AfterBackground,
    ];
}

/// What happens at a step.
#[derive(Debug, Clone)]
pub enum Action {
    /// Nothing unusual.
    Continue,
    /// The writer waits until it is notified.
    Hold(Arc<Notify>),
    /// The step fails. With [`Fault::ConnectionLost`] and [`Fault::Device`] the writer's connection really goes away; only
    /// these make sense after a commit.
    Fail(Fault),
}

/// A hook that is asked at every step of the write path, and another one before every read.
///
/// The first runs on the writer's task. To die at a step, abort the process in the hook.
#[derive(Clone, Default)]
pub struct Faults {
    at: Option<Arc<dyn Fn(Step) -> Action + Send + Sync>>,
    loses: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Faults {
    /// Never interferes.
    pub fn none() -> Self {
        Self::default()
    }

    /// Asks `hook` at every step.
    pub fn new(hook: impl Fn(Step) -> Action + Send + Sync + 'static) -> Self {
        Self { at: Some(Arc::new(hook)), loses: None }
    }

    /// Asks `loses` before a statement of the connections that read: one that it says yes to fails, as if its connection
    /// had gone away.
    #[must_use]
    pub fn reading(self, loses: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { loses: Some(Arc::new(loses)), ..self }
    }

    /// Whether somebody is asked at the steps of the write path.
    pub(crate) fn has_steps(&self) -> bool {
        self.at.is_some()
    }

    pub(crate) async fn at(&self, step: Step) -> Result<(), Failure> {
        let Some(hook) = &self.at else { return Ok(()) };
        match hook(step) {
            Action::Continue => Ok(()),
            Action::Hold(until) => {
                until.notified().await;
                Ok(())
            }
            Action::Fail(fault @ (Fault::ConnectionLost | Fault::Device(_))) => Err(Failure::Unknown(fault)),
            Action::Fail(fault) => Err(Failure::Fault(fault)),
        }
    }

    pub(crate) fn is_read_lost(&self) -> bool {
        self.loses.as_ref().is_some_and(|loses| loses())
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Faults").field(&self.at.is_some()).field(&self.loses.is_some()).finish()
    }
}

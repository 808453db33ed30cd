//! How simulations stand, and why there.

use std::time::Duration;

use async_graphql::{Enum, SimpleObject};
use lmlang_engine::{self as engine, Status};
use lmlang_interp::{LimitKind, limit_message};

use crate::schema::scalars::Count;

/// How a simulation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum SimulationStatus {
    /// It has not begun.
    Ready,
    /// It runs.
    Running,
    /// It is held; one that was streamed goes on when `simulation(id:, after:)` is subscribed to.
    Paused,
    /// It returned.
    Completed,
    /// It trapped.
    Trapped,
    /// A contract did not hold.
    ContractViolated,
    /// A bound was met.
    LimitReached,
    /// It came to something that is not there yet.
    ReachedHole,
    /// It was ended from outside.
    Cancelled,
    /// It is not kept any more.
    Expired,
}

impl From<Status> for SimulationStatus {
    fn from(status: Status) -> SimulationStatus {
        match status {
            Status::Ready => SimulationStatus::Ready,
            Status::Running => SimulationStatus::Running,
            Status::Paused => SimulationStatus::Paused,
            Status::Completed => SimulationStatus::Completed,
            Status::Trapped => SimulationStatus::Trapped,
            Status::ContractViolated => SimulationStatus::ContractViolated,
            Status::LimitReached => SimulationStatus::LimitReached,
            Status::ReachedHole => SimulationStatus::ReachedHole,
            Status::Cancelled => SimulationStatus::Cancelled,
        }
    }
}

/// Why an interactive simulation stands where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum HaltReason {
    /// It came to where it was sent.
    Arrived,
    /// It met one of its breakpoints: that which is `here`.
    Breakpoint,
    /// The run is over or, on the way back, it stands at its start.
    End,
    /// Somebody paused it, or the server closed.
    Paused,
    /// A limit of the action was met, not of the run: the same action goes on from here.
    Limit,
}

/// Why an interactive simulation stands where it stands.
#[derive(Clone, Debug, SimpleObject)]
pub struct SimulationHalt {
    /// The reason.
    reason: HaltReason,
    /// The same in words.
    message: String,
    /// The limit that was met: `time`, as the action was carried out for as long as the run's `timeoutMs`.
    limit: Option<String>,
    /// Its value, in milliseconds.
    bound: Option<Count>,
    /// What was used of it.
    used: Option<Count>,
}

impl From<engine::HaltReason> for SimulationHalt {
    fn from(halt: engine::HaltReason) -> SimulationHalt {
        let plain = |reason, message: &str| SimulationHalt {
            reason,
            message: message.to_owned(),
            limit: None,
            bound: None,
            used: None,
        };
        match halt {
            engine::HaltReason::Arrived => plain(HaltReason::Arrived, "it came to where it was sent"),
            engine::HaltReason::Breakpoint(at) => {
                plain(HaltReason::Breakpoint, &format!("it met the breakpoint at position {at} of the list"))
            }
            engine::HaltReason::End => plain(HaltReason::End, "there is nothing more on this way"),
            engine::HaltReason::Paused => plain(HaltReason::Paused, "it was stopped from outside"),
            engine::HaltReason::Late { bound, used } => {
                let [bound, used] = [bound, used].map(millis);
                SimulationHalt {
                    limit: Some(LimitKind::Time.name().to_owned()),
                    bound: Some(Count(bound)),
                    used: Some(Count(used)),
                    ..plain(HaltReason::Limit, &limit_message(LimitKind::Time, Some(bound)))
                }
            }
        }
    }
}

/// Whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

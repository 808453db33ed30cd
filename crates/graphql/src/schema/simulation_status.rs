//! How simulations stand.

use async_graphql::Enum;
use lmlang_engine::Status;

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

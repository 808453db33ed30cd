//! Where time and ids come from: the only place of the project that asks for either.

use lmlang_store::Timestamp;
use uuid::Uuid;

/// Time and randomness, as the engine hands them to the domain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock;

impl Clock {
    /// Now, in microseconds of UTC.
    pub(crate) fn now(self) -> Timestamp {
        Timestamp(chrono::Utc::now().timestamp_micros())
    }

    /// An id for a program or a simulation.
    pub(crate) fn id(self) -> Uuid {
        Uuid::new_v4()
    }

    /// Fills a place with random bytes of the system, for what nobody may guess.
    pub(crate) fn random(self, bytes: &mut [u8]) {
        // The system has them, or the process could not have started.
        getrandom::fill(bytes).expect("the system gives random bytes");
    }

    /// An id for a log entry: time-ordered, so that an index over them grows at its end.
    pub(crate) fn entry_id(self) -> Uuid {
        Uuid::now_v7()
    }
}

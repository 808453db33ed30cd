//! Where time and ids come from: the only place of the project that asks for either.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use lmlang_store::Timestamp;
use uuid::Uuid;

/// Time and randomness, as the engine hands them to the domain. A clone is a handle to the same clock.
///
/// It shows the time of the system, unless a test has set it: systems have their clocks set too.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Microseconds that it is ahead of the system.
    ahead: Arc<AtomicI64>,
}

impl Clock {
    /// Sets it to so many microseconds ahead of the system, or behind it.
    pub fn set_ahead(&self, micros: i64) {
        self.ahead.store(micros, Ordering::Relaxed);
    }

    /// Now, in microseconds of UTC.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(chrono::Utc::now().timestamp_micros() + self.ahead.load(Ordering::Relaxed))
    }

    /// An id for a program or a simulation.
    pub(crate) fn id(&self) -> Uuid {
        Uuid::new_v4()
    }

    /// Fills a place with random bytes of the system, for what nobody may guess.
    pub(crate) fn random(&self, bytes: &mut [u8]) {
        // The system has them, or the process could not have started.
        getrandom::fill(bytes).expect("the system gives random bytes");
    }

    /// An id for a log entry: time-ordered, so that an index over them grows at its end.
    pub(crate) fn entry_id(&self) -> Uuid {
        if self.ahead.load(Ordering::Relaxed) == 0 {
            return Uuid::now_v7();
        }
        let micros = self.now().0.max(0).cast_unsigned();
        let (seconds, rest) = (micros / 1_000_000, (micros % 1_000_000) as u32);
        Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, rest * 1_000))
    }
}

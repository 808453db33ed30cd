//! Who wants a simulation to stop that somebody else moves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether somebody waits for a simulation to stop.
///
/// Only who waits says that it need not any more: whoever begins to move it may be seen by somebody who wants it to stop before
/// its first step.
#[derive(Debug, Default)]
pub(super) struct Stops {
    waiting: Mutex<usize>,
    /// Whether any wait, for who looks at every step.
    wanted: AtomicBool,
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiting<'s>(&'s Stops);

impl Stops {
    /// Wants it to stop until this is dropped.
    pub(super) fn ask(&self) -> Waiting<'_> {
        let mut waiting = self.waiting();
        *waiting += 1;
        self.wanted.store(true, Ordering::Relaxed);
        Waiting(self)
    }

    /// Whether it is to stop.
    pub(super) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, usize> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        *waiting = waiting.saturating_sub(1);
        self.0.wanted.store(*waiting > 0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_to_stop_as_long_as_anybody_waits() {
        let stops = Stops::default();
        assert!(!stops.are_wanted());
        let first = stops.ask();
        let second = stops.ask();
        drop(first);
        assert!(stops.are_wanted());
        drop(second);
        assert!(!stops.are_wanted());
    }
}

//! Who wants a simulation to stop that somebody else moves.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many wait for a simulation to stop.
///
/// Only who waits says that it need not any more: whoever begins to move it may be seen by somebody who wants it to stop before
/// its first step.
#[derive(Debug, Default)]
pub(super) struct Stops(AtomicUsize);

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiting<'s>(&'s Stops);

impl Stops {
    /// Wants it to stop until this is dropped.
    pub(super) fn ask(&self) -> Waiting<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Waiting(self)
    }

    /// Whether it is to stop.
    pub(super) fn are_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
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

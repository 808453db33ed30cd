//! Why an interactive simulation stands where it stands.

use std::time::Duration;

use lmlang_interp::Stopped;
use serde::{Deserialize, Serialize};

/// Why an interactive simulation stands where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HaltReason {
    /// It came to where it was sent.
    Arrived,
    /// It met a breakpoint, by its position among them.
    Breakpoint(usize),
    /// The run is over or, on the way back, it stands at its start.
    End,
    /// Somebody wanted it to stop, or the server closed.
    Paused,
    /// Its last action had been carried out for as long as one may take.
    Late {
        /// How long that is.
        bound: Duration,
        /// How long it had been.
        used: Duration,
    },
}

impl HaltReason {
    /// Why a debugger has stopped; `interrupted` says why it was, where it was.
    pub(super) fn of(stopped: Stopped, interrupted: HaltReason) -> HaltReason {
        match stopped {
            Stopped::There => HaltReason::Arrived,
            Stopped::At(at) => HaltReason::Breakpoint(at),
            Stopped::End => HaltReason::End,
            Stopped::Interrupted => interrupted,
        }
    }
}

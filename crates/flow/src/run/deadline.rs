//! How long a run may take.

use serde::{Deserialize, Serialize};

use crate::entry::What;
use crate::ladder::Failure;
use crate::run::Run;

/// How long a run may take, and since when that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Deadline {
    /// Microseconds.
    pub(super) within: i64,
    /// In microseconds of UTC: when it was bounded, or taken back since.
    pub(super) since: i64,
}

/// The code of a run that failed because its time was over.
pub const OVERDUE: &str = "DEADLINE_EXCEEDED";

impl Run {
    /// When it ends by itself if it has not by then, in microseconds of UTC; of one that has ended, when it would have.
    #[must_use]
    pub fn deadline(&self) -> Option<i64> {
        self.deadline.map(|of| of.since.saturating_add(of.within))
    }

    /// How long it may take, in microseconds, counted from when it began or was taken back last.
    #[must_use]
    pub fn may_take(&self) -> Option<i64> {
        self.deadline.map(|of| of.within)
    }

    /// Its deadline, as long as that can come.
    pub(crate) fn ends_by(&self) -> Option<i64> {
        self.deadline().filter(|_| !self.has_ended())
    }

    /// The entry of its end, if its time is over.
    #[must_use]
    pub fn overdue(&self, now: i64) -> Option<What> {
        self.ends_by().filter(|by| *by <= now).map(|_| What::Overdue)
    }
}

/// Why a run that might take so many microseconds has failed.
pub(super) fn overdue(within: i64) -> Failure {
    Failure {
        code: OVERDUE.to_owned(),
        message: format!("it has not come to its end within {}", span(within)),
        tool: None,
        arguments: None,
        transient: false,
        retry_after: None,
    }
}

/// So many microseconds in words: the largest unit that divides them, down to milliseconds.
fn span(micros: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    let millis = micros / 1_000;
    let unit = UNITS.iter().find(|(unit, _)| millis >= *unit && millis % unit == 0);
    match unit {
        Some((unit, name)) => format!("{} {name}", millis / unit),
        None => format!("{millis} ms"),
    }
}

//! Snapshots of a run on its way, so that going back does not begin at its start.
//!
//! They stand closer to each other the closer they are to where the run is: a step back costs the way from the last one, a
//! long way back about as much again as it is long. Where the run is moved to after such a way it leaves new ones behind.

use crate::run::{Run, Snapshot};

/// Steps between two snapshots at least: what they take to be executed is hardly noticed.
const SPACING: u64 = 1 << 22;

/// Bytes of a state for which a snapshot is worth one step more: copying them takes as long.
const BYTES_A_STEP: u64 = 4;

/// Snapshots of one run at most.
const MOST: usize = 32;

/// Bytes that they take at most.
const MOST_BYTES: u64 = 64 << 20;

/// The snapshots of one run.
#[derive(Debug)]
pub(super) struct Snapshots {
    /// By their steps.
    kept: Vec<Snapshot>,
    /// Before this step none is tried: the last one was too large to be kept.
    rest: u64,
    spacing: u64,
    bytes: u64,
}

impl Default for Snapshots {
    fn default() -> Snapshots {
        Snapshots { kept: Vec::new(), rest: 0, spacing: SPACING, bytes: 0 }
    }
}

impl Snapshots {
    /// Has them stand so far from each other at least.
    pub(super) fn set_spacing(&mut self, steps: u64) {
        self.spacing = steps.max(1);
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The last one at or before a step.
    pub(super) fn before(&self, step: u64) -> Option<&Snapshot> {
        self.kept[..self.after(step)].last()
    }

    /// Where in the list those behind a step begin.
    fn after(&self, step: u64) -> usize {
        self.kept.partition_point(|snapshot| snapshot.steps() <= step)
    }

    /// The step from which on the next snapshot of a run is to be taken, which is not behind it on its way.
    pub(super) fn due(&self, run: &Run) -> u64 {
        let (linear, values) = run.held();
        if values > MOST_BYTES {
            return u64::MAX;
        }
        let spacing = self.spacing.max((linear + values) / BYTES_A_STEP);
        let from = self.before(run.steps()).map_or(0, Snapshot::steps);
        from.saturating_add(spacing).max(self.rest)
    }

    /// Takes one where it is due. The run stands before a step.
    pub(super) fn look_at(&mut self, run: &mut Run) {
        if run.outcome().is_some() || run.steps() < self.due(run) {
            return;
        }
        let here = run.steps();
        let at = self.after(here);
        let taken = run.snapshot(self.kept[..at].last());
        self.kept.insert(at, taken);
        self.thin_out(here);
        if self.before(here).is_none_or(|last| last.steps() < here) {
            self.rest = here.saturating_mul(2);
        }
    }

    /// Lets go of those that shorten ways back the least, as seen from a step, until the rest is few and small enough.
    fn thin_out(&mut self, here: u64) {
        loop {
            self.bytes = Snapshot::bytes(self.kept.iter());
            if self.kept.len() <= MOST && self.bytes <= MOST_BYTES {
                return;
            }
            // The share of the way back from here that would be gone twice.
            let steps = |at: usize| self.kept.get(at).map_or(here, Snapshot::steps);
            let cost = |at: usize| {
                let before = at.checked_sub(1).map_or(0, steps);
                let gap = steps(at + 1).saturating_sub(before);
                gap as f64 / here.abs_diff(steps(at)).max(1) as f64
            };
            let least = (0..self.kept.len()).min_by(|one, other| cost(*one).total_cmp(&cost(*other)));
            let Some(least) = least else { return };
            self.kept.remove(least);
        }
    }
}

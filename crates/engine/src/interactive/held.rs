//! The runs that are held in memory between two actions, so that the next one need not make them again.

use lmlang_interp::Debugger;

use crate::engine::Engine;

/// Runs that are held in memory between two actions at most.
const MOST_HELD: usize = 32;

/// Bytes of linear memory, tables and values that they hold at most, beyond the newest.
const MOST_HELD_BYTES: u64 = 512 << 20;

/// Runs that are held in memory between two actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldRuns {
    /// How many.
    pub count: usize,
    /// Bytes of linear memory, tables and values that they and their snapshots hold.
    pub bytes: u64,
}

impl HeldRuns {
    fn and(self, bytes: u64) -> HeldRuns {
        HeldRuns { count: self.count + 1, bytes: self.bytes + bytes }
    }
}

impl Engine {
    /// Lets go of runs that are held, where they are too many: of those whose simulations nobody has asked for for longest.
    pub(super) fn let_go_of_runs(&self) {
        let mut kept = HeldRuns::default();
        for simulation in self.0.simulations.kept().interactive() {
            let Some(of) = simulation.interactive() else { continue };
            let Ok(mut hand) = of.hand.try_lock() else { continue };
            let Some(debugger) = hand.as_ref() else { continue };
            let with = kept.and(debugger.held());
            if kept.count > 0 && (with.count > MOST_HELD || with.bytes > MOST_HELD_BYTES) {
                *hand = None;
            } else {
                kept = with;
            }
        }
    }

    /// The runs of interactive simulations that are held for others, without those that are moved or looked at just now.
    pub fn held_runs(&self) -> HeldRuns {
        let all = self.0.simulations.kept().interactive();
        let held = all.iter().filter_map(|simulation| simulation.near(Debugger::held));
        held.fold(HeldRuns::default(), HeldRuns::and)
    }
}

//! What a run is kept as beside its journal, so that it is not folded from the beginning each time.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::branch::Branch;
use crate::check::Flow;
use crate::corrupt::Corrupt;
use crate::entry::Entry;
use crate::interrupt::{Interrupt, Settled};
use crate::place::Place;
use crate::run::deadline::Deadline;
use crate::run::{Ended, Run};

/// A run as it stood after an entry. It follows from the journal: one that is lost is missed by nobody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    last: u64,
    epoch: u64,
    branches: BTreeMap<Place, Branch>,
    interrupts: BTreeMap<u64, Interrupt>,
    settled: BTreeMap<u64, Settled>,
    visits: BTreeMap<String, u32>,
    deadline: Option<Deadline>,
    ended: Option<Ended>,
    ended_at: Option<i64>,
}

impl Snapshot {
    /// The number of the entry after which the run stood so.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }
}

impl Run {
    /// The run as it stands.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let Run { flow: _, last, epoch, branches, interrupts, settled, visits, deadline, ended, ended_at } =
            self;
        Snapshot {
            last: *last,
            epoch: *epoch,
            branches: branches.clone(),
            interrupts: interrupts.clone(),
            settled: settled.clone(),
            visits: visits.clone(),
            deadline: *deadline,
            ended: ended.clone(),
            ended_at: *ended_at,
        }
    }

    /// Folds what came after a snapshot: the run that the whole journal gives. None if it was taken back to before the snapshot,
    /// which counts for nothing then. The snapshot is to be of a run of the same definition.
    ///
    /// # Errors
    ///
    /// See [`Corrupt`].
    pub fn resume(flow: &Arc<Flow>, snapshot: Snapshot, tail: &[Entry]) -> Result<Option<Run>, Corrupt> {
        let Snapshot { last, epoch, branches, interrupts, settled, visits, deadline, ended, ended_at } =
            snapshot;
        let flow = Arc::clone(flow);
        let run = Run { flow, last, epoch, branches, interrupts, settled, visits, deadline, ended, ended_at };
        run.fold(tail)
    }
}

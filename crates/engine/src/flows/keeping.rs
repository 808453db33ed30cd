//! Snapshots of runs: going on with a run takes no longer the longer it is.
//!
//! What a run comes to is stored now and then with the entry by which it comes to that, in the same transaction and in the place of
//! the snapshot before. Whoever loads the run reads that, and what came after it. It follows from the journal, so that nothing hangs
//! on it: one that cannot be read, is of another definition, or of what the run was taken back over, is as none.

use std::sync::Arc;

use lmlang_flow::{Corrupt, Entry, Flow, Run, What};
use lmlang_store::RunSnapshot;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::coding;

/// Entries after which a run is kept anew, at least.
const EVERY: u64 = 64;

/// Bytes of a snapshot for each entry of the journal, at most: one that takes more is not stored before the journal is longer. As
/// many are written, on the average, with each entry.
const SHARE: u64 = 32;

/// The newest snapshot of a run that was made, stored or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// The entry after which the run stood so; 0 without one.
    after: u64,
    bytes: u64,
}

impl Kept {
    /// The snapshot that is to be stored with an entry after which a run stands so, if it is time for one. `definition` tells what
    /// it is a run of.
    pub(crate) fn due(&mut self, run: &Run, entry: &Entry, definition: &[u8]) -> Option<RunSnapshot> {
        if matches!(entry.what, What::Moved { .. }) {
            // It is a run of another definition from there on.
            return None;
        }
        if matches!(entry.what, What::Rewound { to, .. } if to < self.after) {
            // What was kept since counts for nothing.
            *self = Kept::default();
        }
        if run.last().saturating_sub(self.after) < EVERY.max(self.bytes / SHARE) {
            return None;
        }
        let payload = coding::encode_snapshot(&run.snapshot())?;
        *self = Kept { after: run.last(), bytes: payload.len() as u64 };
        let fits = self.bytes <= SHARE.saturating_mul(self.after);
        fits.then(|| RunSnapshot { number: self.after, definition: definition.to_vec(), payload })
    }
}

impl Engine {
    /// A run as it is stored, one of a definition, with the snapshot from which it was folded.
    pub(crate) async fn folded(
        &self,
        run: Uuid,
        flow: &Arc<Flow>,
        definition: &[u8],
    ) -> Result<Result<(Run, Kept), Corrupt>, Error> {
        if let Some(resumed) = self.resumed(run, flow, definition).await? {
            return Ok(Ok(resumed));
        }
        let journal = self.journal_of(run).await?;
        Ok(Run::replay(flow, &journal).map(|run| (run, Kept::default())))
    }

    /// The same, of a run with a snapshot that counts.
    pub(crate) async fn resumed(
        &self,
        run: Uuid,
        flow: &Arc<Flow>,
        definition: &[u8],
    ) -> Result<Option<(Run, Kept)>, Error> {
        let Some(stored) = self.store().run_snapshot(run).await? else { return Ok(None) };
        if stored.definition != definition {
            return Ok(None);
        }
        let snapshot = match coding::decode_snapshot(&stored.payload) {
            Ok(snapshot) if snapshot.last() == stored.number => snapshot,
            Ok(_) => return Ok(None),
            Err(error) => {
                tracing::warn!(%run, %error, "the snapshot of a run cannot be read");
                return Ok(None);
            }
        };
        let tail = self.journal_after(run, stored.number).await?;
        let kept = Kept { after: stored.number, bytes: stored.payload.len() as u64 };
        match Run::resume(flow, snapshot, &tail) {
            Ok(resumed) => Ok(resumed.map(|resumed| (resumed, kept))),
            // The whole journal tells what is wrong, if anything is.
            Err(error) => {
                tracing::warn!(%run, %error, "a run does not go on from its snapshot");
                Ok(None)
            }
        }
    }
}

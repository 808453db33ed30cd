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

/// Bytes of a snapshot for each entry of the journal, at most: one that takes more is not stored before the journal is longer.
const SHARE: u64 = 32;

/// Bytes of snapshots that are written with each entry, on the average: those that take more are further apart.
const WRITTEN: u64 = 512;

/// The newest snapshot of a run that was made, stored or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastSnapshot {
    /// The entry after which the run stood so; 0 without one.
    after: u64,
    bytes: u64,
}

impl LastSnapshot {
    /// The snapshot that is to be stored with an entry after which a run stands so, if it is time for one. `definition` tells what
    /// it is a run of.
    pub(crate) fn due(&mut self, run: &Run, entry: &Entry, definition: &[u8]) -> Option<RunSnapshot> {
        if matches!(entry.what, What::Moved { .. }) {
            // It is a run of another definition from there on.
            return None;
        }
        if matches!(entry.what, What::Rewound { to, .. } if to < self.after) {
            // What was kept since counts for nothing.
            *self = LastSnapshot::default();
        }
        if run.last().saturating_sub(self.after) < EVERY.max(self.bytes / WRITTEN) {
            return None;
        }
        let payload = coding::encode_snapshot(&run.snapshot())?;
        *self = LastSnapshot { after: run.last(), bytes: payload.len() as u64 };
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
    ) -> Result<Result<(Run, LastSnapshot), Corrupt>, Error> {
        if let Some(resumed) = self.resumed(run, flow, definition).await? {
            return Ok(Ok(resumed));
        }
        let journal = self.journal_of(run).await?;
        Ok(Run::replay(flow, &journal).map(|run| (run, LastSnapshot::default())))
    }

    /// The same, of a run with a snapshot that counts.
    pub(crate) async fn resumed(
        &self,
        run: Uuid,
        flow: &Arc<Flow>,
        definition: &[u8],
    ) -> Result<Option<(Run, LastSnapshot)>, Error> {
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
        let last = LastSnapshot { after: stored.number, bytes: stored.payload.len() as u64 };
        match Run::resume(flow, snapshot, &tail) {
            Ok(resumed) => Ok(resumed.map(|resumed| (resumed, last))),
            // The whole journal tells what is wrong, if anything is.
            Err(error) => {
                tracing::warn!(%run, %error, "a run does not go on from its snapshot");
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lmlang_flow::{Definition, NodeSpec, Reducer, Step, Update};
    use serde_json::{Value, json};

    use super::*;

    /// With which entries of a run that goes round so many times a snapshot is stored, and how many bytes that takes.
    fn kept(rounds: u64, said: impl Fn(u64) -> Value) -> Vec<(u64, u64)> {
        let definition = Definition::new("round", 1, "")
            .node(NodeSpec::task("again", &["again"], "").at_most(u32::MAX))
            .channel("said", Reducer::Append { most: 1_000 }, json!([]));
        let mut run = Run::new(Arc::new(Flow::new(definition).expect("it makes sense")));
        let (mut last, mut stored) = (LastSnapshot::default(), Vec::new());
        let mut what = What::Started(Update::none());
        for round in 0..rounds {
            let entry = Entry { number: round + 1, time: 0, what };
            run.take(&entry).expect("it follows");
            let snapshot = last.due(&run, &entry, &[]);
            stored.extend(snapshot.map(|snapshot| (snapshot.number, snapshot.payload.len() as u64)));
            let task = run.tasks().next().expect("it goes on");
            let step = Step::next("again", Update::none().with("said", said(round)));
            what = run.finished(&task, step, 0, 0, 0).expect("it may");
        }
        stored
    }

    #[test]
    fn a_run_is_kept_now_and_then() {
        let stored = kept(1_000, |_| json!([]));
        let each: Vec<u64> = (1..16).map(|of| of * EVERY).collect();
        assert_eq!(stored.iter().map(|(number, _)| *number).collect::<Vec<_>>(), each);
        let digits = |round: u64| blake3::hash(&round.to_le_bytes()).to_hex().to_string();
        // A thousand items, of which each takes more than an entry may.
        let stored = kept(4_000, |round| json!([digits(round)]));
        assert!(stored.iter().all(|(number, bytes)| *bytes <= SHARE * number), "{stored:?}");
        let written: u64 = stored.iter().map(|(_, bytes)| bytes).sum();
        assert!(!stored.is_empty() && written <= (WRITTEN + SHARE) * 4_000, "{stored:?}");
    }

    #[test]
    fn what_was_taken_back_is_kept_anew() {
        let definition = Definition::new("one", 1, "").node(NodeSpec::task("a", &["END"], ""));
        let flow = Arc::new(Flow::new(definition).expect("it makes sense"));
        let started = Entry { number: 1, time: 0, what: What::Started(Update::none()) };
        let mut journal = vec![started];
        journal.extend((2..=80).map(|number| Entry { number, time: 0, what: What::Bounded { within: 5 } }));
        let rewound = |to| What::Rewound { to, by: "ann".to_owned(), request: None };
        let back = |to| {
            let entry = Entry { number: 81, time: 0, what: rewound(to) };
            let journal = [&journal[..], std::slice::from_ref(&entry)].concat();
            let run = Run::replay(&flow, &journal).expect("it follows");
            LastSnapshot { after: 70, bytes: 10 }.due(&run, &entry, &[]).map(|snapshot| snapshot.number)
        };
        assert_eq!([back(70), back(69)], [None, Some(81)]);
    }
}

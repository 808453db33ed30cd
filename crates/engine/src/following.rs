//! Following what other processes do to the same database, so that their changes arrive here too.
//!
//! The place behind everything that happened is asked for again and again, as long as a program is open or somebody
//! listens to all of them. When it has moved, one question for the heads of all open programs tells which are behind.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lmlang_store::{Position, ProgramKey};

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::events::Change;

/// Between two looks at the database.
const PAUSE: Duration = Duration::from_millis(25);

/// Between two looks after one that failed: the server may be down.
const AFTER_FAULT: Duration = Duration::from_secs(1);

/// How far others have been followed.
struct Follower {
    engine: Engine,
    /// The place behind what was followed; none before the first look.
    seen: Option<Position>,
    /// Programs that are being brought up to date.
    busy: Arc<Mutex<HashSet<ProgramKey>>>,
}

impl Engine {
    /// Follows other processes for as long as the engine is open.
    pub(crate) fn follow_others(&self) {
        let mut follower = Follower { engine: self.clone(), seen: None, busy: Arc::default() };
        self.spawn(async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                let looked = follower.look().await;
                follower.engine.0.unreachable.store(looked.is_err(), Ordering::Relaxed);
                if let Err(error) = looked {
                    tracing::warn!(%error, "what other processes do could not be followed");
                    tokio::time::sleep(AFTER_FAULT).await;
                }
            }
        });
    }

    /// Takes in what became of a program as a whole.
    async fn take_in_change(&self, open: &OpenProgram) -> Result<(), Error> {
        // This process's own changes have been taken in when the lock is given.
        let _catalog = self.0.catalog.lock().await;
        let before = open.info();
        let Some(row) = self.store().program(before.key).await? else { return Ok(()) };
        if let Some(deleted) = row.deleted {
            if self.opened(before.id).is_some() {
                self.forget(before.id);
                self.tell_program(open, Change::Removed, deleted);
            }
            return Ok(());
        }
        let after = crate::catalog::ProgramInfo::from(row);
        if after != *before {
            let change = if after.name == before.name { Change::Modified } else { Change::Renamed };
            open.timeline.set_info(after);
            self.tell_program(open, change, self.0.clock.now());
        }
        Ok(())
    }
}

impl Follower {
    /// Looks whether something has happened, and has it taken in.
    async fn look(&mut self) -> Result<(), Error> {
        if self.engine.all_opened().is_empty() && !self.engine.0.feed.has_readers() {
            return Ok(());
        }
        // The programs after the place: what is opened from here on has what lies before it.
        let position = self.engine.store().position().await?;
        let open = self.engine.all_opened();
        // A program that is behind stays so until it has come up to its head: it is asked for again then.
        if self.engine.0.behind.swap(false, Ordering::Relaxed) {
            self.seen = None;
        }
        if self.seen == Some(position) {
            return Ok(());
        }
        self.engine.0.feed.wake();
        let open: HashMap<ProgramKey, OpenProgram> =
            open.into_iter().map(|open| (open.timeline.key(), open)).collect();
        let changed = match self.seen {
            Some(seen) if seen.change == position.change => Vec::new(),
            Some(seen) => self.engine.store().changed_programs(seen).await?,
            None => open.keys().copied().collect(),
        };
        for open in changed.iter().filter_map(|key| open.get(key)) {
            self.engine.take_in_change(open).await?;
        }
        let keys: Vec<ProgramKey> = open.keys().copied().collect();
        let heads = self.engine.store().heads(&keys).await?;
        let behind = heads.into_iter().filter_map(|(key, newest)| {
            open.get(&key).filter(|open| open.timeline.head().last < newest).map(|open| (key, open))
        });
        let mut all = true;
        for (key, open) in behind {
            all = false;
            self.catch_up(key, open.clone());
        }
        if all {
            self.seen = Some(position);
        } else if let Some(seen) = &mut self.seen {
            seen.change = position.change;
        }
        Ok(())
    }

    /// Brings a program up to date, unless that is being done; a slow one delays no other.
    fn catch_up(&self, key: ProgramKey, open: OpenProgram) {
        if !self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(key) {
            return;
        }
        let (engine, busy) = (self.engine.clone(), Arc::clone(&self.busy));
        self.engine.spawn(async move {
            let taken = engine.take_in_tail(&open).await;
            busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            if let Err(error) = taken {
                tracing::warn!(program = %open.timeline.id(), %error, "entries of another process could not be taken in");
            }
        });
    }
}

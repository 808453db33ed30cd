//! Durable flows: runs that survive the process, ask people and leave a trace.
//!
//! A run is driven by one task of one process at a time. Each of its steps is an entry of its journal, stored before
//! anything follows from it; what a node does outside goes through [`Work::effect`], which answers from the journal what
//! was done before. Changes of programs are such effects: each has an idempotency key of its run and step, so that the
//! program's own log tells a repetition.
//!
//! Read [`code`] for what the code of a flow is, [`registry`] for flows that are data, [`work`] for what its nodes are given, `live`
//! for a run in memory and the one way by which its journal grows, `coding` for what is stored of it, `keeping` for where a run is
//! gone on from, `driving` for executing it, `scheduling` for finding those that are due, `tending` for when one is looked at again,
//! `attempt` for what does not end by itself, [`starting`], [`answering`], [`turning`], [`steering`], [`rewinding`] and [`moving`] for
//! what callers do, [`listing`] for what they see, [`told`] and [`cursor`] for what they are told, [`spans`] for the trace,
//! [`metrics`] for how runs go, `retention` for what becomes of old runs, `checkup` for whether all of them follow from what is
//! stored.

pub mod answering;
mod attempt;
pub(crate) mod checkup;
pub mod code;
mod coding;
pub mod cursor;
mod driving;
mod keeping;
pub mod listing;
mod live;
pub mod metrics;
pub mod moving;
pub mod registry;
mod retention;
pub mod rewinding;
mod scheduling;
pub mod spans;
pub mod starting;
pub mod steering;
mod tending;
pub mod told;
pub mod turning;
pub mod work;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use lmlang_redact::Policy;
use tokio::sync::{Notify, Semaphore, broadcast, watch};
use uuid::Uuid;

use crate::engine::Engine;
use crate::flows::code::FlowCode;
use crate::flows::live::LiveRun;
use crate::flows::registry::Registry;
use crate::flows::spans::Tracer;
use crate::flows::told::Passing;

/// Nodes that are executed at the same moment, over all runs.
pub(crate) const NODES_AT_ONCE: usize = 64;

/// A time that does not come.
const NEVER: i64 = i64::MAX;

/// What is passed on without being stored, for readers that are slow: who misses some of it misses words that come again
/// with the node's end.
const PASSING: usize = 1_024;

/// The flows of an engine and the runs that it executes.
pub(crate) struct Flows {
    /// Who executes, as the database knows it.
    me: Uuid,
    codes: OnceLock<BTreeMap<String, Arc<dyn FlowCode>>>,
    /// Flows that are declared, beside those.
    registry: Registry,
    live: Mutex<HashMap<Uuid, Arc<LiveRun>>>,
    /// Runs that cannot go on here until something else is known of them, with their definitions then: each was told of once.
    stuck: Mutex<HashMap<Uuid, Vec<u8>>>,
    /// Whether this process looks for runs that are due.
    scheduled: AtomicBool,
    /// Where it does not: when it goes on with those that it has executed.
    tended: Mutex<HashMap<Uuid, i64>>,
    /// Notified when the scheduler may have something to do earlier than it thinks.
    sooner: Notify,
    /// When the scheduler looks next, as far as it thinks. While it looks this is never, so that nothing is missed that it may have
    /// passed already.
    next_look: AtomicI64,
    /// Changes when an entry of any journal was stored by this process.
    stored: watch::Sender<u64>,
    passing: broadcast::Sender<Passing>,
    nodes: Semaphore,
    /// Held while a turn finds out what it is an answer to.
    turning: tokio::sync::Mutex<()>,
    /// What is hidden in all that is told of runs.
    redaction: OnceLock<Policy>,
    /// Who sends spans elsewhere.
    tracer: OnceLock<Arc<dyn Tracer>>,
}

impl Flows {
    pub(crate) fn new(me: Uuid) -> Flows {
        Flows {
            me,
            codes: OnceLock::new(),
            registry: Registry::default(),
            live: Mutex::default(),
            stuck: Mutex::default(),
            scheduled: AtomicBool::new(false),
            tended: Mutex::default(),
            sooner: Notify::new(),
            next_look: AtomicI64::new(NEVER),
            stored: watch::Sender::new(0),
            passing: broadcast::Sender::new(PASSING),
            nodes: Semaphore::new(NODES_AT_ONCE),
            turning: tokio::sync::Mutex::default(),
            redaction: OnceLock::new(),
            tracer: OnceLock::new(),
        }
    }

    fn redaction(&self) -> &Policy {
        self.redaction.get_or_init(Policy::default)
    }

    fn codes(&self) -> impl Iterator<Item = &Arc<dyn FlowCode>> {
        self.codes.get().into_iter().flat_map(BTreeMap::values)
    }

    fn code(&self, name: &str) -> Option<&Arc<dyn FlowCode>> {
        self.codes.get()?.get(name)
    }

    fn live(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<LiveRun>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a run go, unless another one of the same id is in its place by now.
    fn forget(&self, live: &Arc<LiveRun>) {
        let mut all = self.live();
        if all.get(&live.id).is_some_and(|there| Arc::ptr_eq(there, live)) {
            all.remove(&live.id);
        }
    }

    /// Lets a run go that nobody has asked for since; answers whether it did.
    fn leave(&self, live: &Arc<LiveRun>, seen: u64) -> bool {
        let mut all = self.live();
        if live.kicks.load(Ordering::SeqCst) != seen {
            return false;
        }
        if all.get(&live.id).is_some_and(|there| Arc::ptr_eq(there, live)) {
            all.remove(&live.id);
        }
        true
    }

    /// Forgets a run that is not stored any more. Whoever still has it appends nothing to it.
    fn removed(&self, run: Uuid) {
        self.live().remove(&run);
        self.stuck().remove(&run);
    }

    /// Whether somebody is told of what is not stored.
    fn has_listeners(&self) -> bool {
        self.passing.receiver_count() > 0
    }

    fn is_scheduled(&self) -> bool {
        self.scheduled.load(Ordering::SeqCst)
    }

    /// Has the scheduler look again for a run that something is to be done about at a time, if it would look later. The clock may
    /// have been set meanwhile.
    fn look_by(&self, at: Option<i64>, now: i64) {
        let planned = self.next_look.load(Ordering::SeqCst);
        if now >= planned || at.is_some_and(|at| at < planned) {
            self.sooner.notify_one();
        }
    }

    /// Whether this is the time at which a run is gone on with; it is none from then on.
    fn is_time(&self, run: Uuid, at: i64) -> bool {
        let mut tended = self.tended();
        let is_it = tended.get(&run) == Some(&at);
        if is_it {
            tended.remove(&run);
        }
        is_it
    }

    fn tended(&self) -> MutexGuard<'_, HashMap<Uuid, i64>> {
        self.tended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stuck(&self) -> MutexGuard<'_, HashMap<Uuid, Vec<u8>>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Hides what a policy says in all that is told of runs: in spans, events and notes. Once, before callers come; without,
    /// what every policy hides is hidden. What a run works with stays as it is.
    pub fn hide_by(&self, policy: Policy) {
        if self.0.flows.redaction.set(policy).is_err() {
            tracing::warn!("what is hidden was said twice");
        }
    }

    /// A text without what [`Engine::hide_by`] hides.
    #[must_use]
    pub fn hidden<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.flows.redaction().text(text)
    }
}

impl std::fmt::Debug for Flows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flows").field("live", &self.live().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// What rests until later than the scheduler looks anyway costs it nothing, and what ended nothing either.
    #[test]
    fn the_scheduler_is_told_of_what_comes_sooner() {
        let check = |planned: i64, at: Option<i64>, now: i64, expect: bool| {
            let flows = Flows::new(Uuid::nil());
            flows.next_look.store(planned, Ordering::SeqCst);
            flows.look_by(at, now);
            let told = flows.sooner.notified().now_or_never().is_some();
            assert_eq!(told, expect, "planned {planned}, at {at:?}, now {now}");
        };
        check(50, Some(40), 10, true);
        check(50, Some(50), 10, false);
        check(50, Some(60), 10, false);
        check(50, None, 10, false);
        // It looks at this moment, and may have passed the run already.
        check(NEVER, Some(60), 10, true);
        check(NEVER, None, 10, false);
        // The clock was set.
        check(50, None, 50, true);
    }
}

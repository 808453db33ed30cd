//! The simulations that are in memory: the newest ones, as far as they fit.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use lmlang_interp::{Entry, Environment, Outcome, RunResult};
use lmlang_ir::Value;
use lmlang_store::Timestamp;
use uuid::Uuid;

use crate::interactive::Interactive;
use crate::recall::is_stored;
use crate::simulate::{RunRequest, Simulation};

/// Simulations that are kept at most.
const MOST: usize = 1_000;

/// Bytes that the kept ones hold at most, beyond the newest: results can be large.
const BYTES: usize = 256 << 20;

/// Simulations by id with the bytes that were counted for each, and their ids in the order of keeping.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    by_id: HashMap<Uuid, (Arc<Simulation>, usize)>,
    order: VecDeque<Uuid>,
    bytes: usize,
}

impl Kept {
    /// Keeps a simulation, and lets go of those that are too many or asked for before `oldest`, the first one first.
    ///
    /// Answers the one that is kept under the id: streams and queries share one.
    pub(crate) fn keep(&mut self, simulation: &Arc<Simulation>, oldest: Timestamp) -> Arc<Simulation> {
        if let Some(kept) = self.get(simulation.id) {
            return kept;
        }
        self.by_id.insert(simulation.id, (Arc::clone(simulation), 0));
        self.order.push_back(simulation.id);
        self.weigh(simulation.id);
        while self.first().is_some_and(|first| first.asked() < oldest) && self.drop_first() {}
        Arc::clone(simulation)
    }

    /// Counts again what a kept simulation holds.
    pub(crate) fn weigh(&mut self, id: Uuid) {
        if let Some((simulation, counted)) = self.by_id.get_mut(&id) {
            self.bytes -= *counted;
            *counted = simulation.bytes();
            self.bytes += *counted;
        }
        while self.order.len() > 1 && (self.order.len() > MOST || self.bytes > BYTES) && self.drop_first() {}
    }

    /// A kept simulation.
    pub(crate) fn get(&self, id: Uuid) -> Option<Arc<Simulation>> {
        self.by_id.get(&id).map(|(simulation, _)| Arc::clone(simulation))
    }

    /// Lets go of one.
    pub(crate) fn forget(&mut self, id: Uuid) {
        if let Some((_, counted)) = self.by_id.remove(&id) {
            self.bytes -= counted;
            self.order.retain(|kept| *kept != id);
        }
    }

    /// Of each program, how many handles to it those have that nobody uses and that are stored: they can be brought back.
    pub(crate) fn left(&self) -> HashMap<Uuid, usize> {
        let mut left = HashMap::new();
        for (simulation, _) in self.by_id.values().filter(|(simulation, _)| is_left(simulation)) {
            *left.entry(simulation.open.timeline.id()).or_default() += 1;
        }
        left
    }

    /// Lets go of those of a program.
    pub(crate) fn take_of(&mut self, program: Uuid) -> Vec<Arc<Simulation>> {
        let all = self.by_id.values().map(|(simulation, _)| simulation);
        let of: Vec<Arc<Simulation>> =
            all.filter(|simulation| simulation.open.timeline.id() == program).cloned().collect();
        for simulation in &of {
            self.forget(simulation.id);
        }
        of
    }

    /// Interactive ones, those first that were asked for last.
    pub(crate) fn interactive(&self) -> Vec<Arc<Simulation>> {
        let all = self.by_id.values().map(|(simulation, _)| simulation);
        let mut found: Vec<Arc<Simulation>> = all.filter(|of| of.interactive().is_some()).cloned().collect();
        found.sort_by_key(|simulation| std::cmp::Reverse(simulation.asked()));
        found
    }

    fn first(&self) -> Option<&Simulation> {
        self.order.front().and_then(|id| self.by_id.get(id)).map(|(simulation, _)| simulation.as_ref())
    }

    /// Lets go of the first one that nobody moves or watches; tells whether there was one.
    fn drop_first(&mut self) -> bool {
        let in_use = |id: &Uuid| {
            let kept = self.by_id.get(id).and_then(|(simulation, _)| simulation.interactive());
            kept.is_some_and(Interactive::is_in_use)
        };
        let Some(first) = self.order.iter().position(|id| !in_use(id)) else { return false };
        let first = self.order.remove(first).and_then(|id| self.by_id.remove(&id));
        self.bytes -= first.map_or(0, |(_, counted)| counted);
        true
    }
}

/// Whether nobody uses a simulation, and it is stored.
fn is_left(simulation: &Arc<Simulation>) -> bool {
    Arc::strong_count(simulation) == 1
        && is_stored(&simulation.request)
        && !simulation.interactive().is_some_and(Interactive::is_in_use)
}

/// Bytes that what is run takes, about.
pub(crate) fn request_bytes(request: &RunRequest) -> usize {
    let Environment { stdin, files, command_line, variables, seed: _ } = &request.environment;
    let files: usize = files.iter().map(|(path, entry)| path.len() + entry_bytes(entry)).sum();
    let line: usize = command_line.iter().map(|text| text.len()).sum();
    let variables: usize = variables.iter().map(|(name, value)| name.len() + value.len()).sum();
    stdin.bytes().len() + files + line + variables + values_bytes(&request.args)
}

/// Bytes that what a run gave takes, about.
pub(crate) fn result_bytes(result: &RunResult) -> usize {
    let values = match &result.outcome {
        Outcome::Returned { values } => values_bytes(values),
        Outcome::Trapped { .. }
        | Outcome::ContractViolated { .. }
        | Outcome::LimitReached { .. }
        | Outcome::ReachedHole { .. }
        | Outcome::NotVerified { .. }
        | Outcome::Cancelled { .. } => 0,
    };
    let written = result.written.iter();
    let files: usize = written.map(|(path, entry)| path.len() + entry.as_ref().map_or(0, entry_bytes)).sum();
    values + result.stdout.len() + result.stderr.len() + files
}

fn entry_bytes(entry: &Entry) -> usize {
    match entry {
        Entry::File(bytes) => bytes.len(),
        Entry::Folder => 0,
    }
}

fn values_bytes(values: &[Value]) -> usize {
    values.iter().map(|value| size_of::<Value>() + value.heap_bytes()).sum()
}

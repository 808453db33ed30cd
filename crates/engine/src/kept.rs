//! The simulations that can be looked at again: the newest ones, as far as they fit.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lmlang_interp::{Outcome, RunResult};
use lmlang_ir::Value;
use uuid::Uuid;

use crate::simulate::{RunRequest, Simulation};

/// Simulations that are kept at most.
const MOST: usize = 1_000;

/// Bytes that the kept ones hold at most, beyond the newest: results can be large.
const BYTES: usize = 256 << 20;

/// Simulations by id, and in the order of their beginnings.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    by_id: HashMap<Uuid, Arc<Simulation>>,
    order: VecDeque<Uuid>,
}

impl Kept {
    /// Keeps a simulation, and lets go of those that are too old or too many, the oldest first.
    pub(crate) fn keep(&mut self, simulation: &Arc<Simulation>, retention: Duration) {
        self.by_id.insert(simulation.id, Arc::clone(simulation));
        self.order.push_back(simulation.id);
        let mut bytes: usize = self.by_id.values().map(|kept| kept.bytes()).sum();
        while let Some(oldest) = self.order.front().copied() {
            let expired = self.by_id.get(&oldest).is_none_or(|old| old.age() > retention);
            let fits = self.order.len() <= MOST && bytes <= BYTES;
            if !expired && (fits || self.order.len() == 1) {
                break;
            }
            self.order.pop_front();
            bytes -= self.by_id.remove(&oldest).map_or(0, |gone| gone.bytes().min(bytes));
        }
    }

    /// A kept simulation that is not too old.
    pub(crate) fn get(&self, id: Uuid, retention: Duration) -> Option<Arc<Simulation>> {
        self.by_id.get(&id).filter(|simulation| simulation.age() <= retention).cloned()
    }
}

/// Bytes that what is run takes, about.
pub(crate) fn request_bytes(request: &RunRequest) -> usize {
    request.stdin.len() + values_bytes(&request.args)
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
    values + result.stdout.len()
}

fn values_bytes(values: &[Value]) -> usize {
    values.iter().map(|value| size_of::<Value>() + value.heap_bytes()).sum()
}

//! What a function does on an input, as somebody outside sees it.

use lmlang_interp::{Fault, LimitKind, Outcome};
use lmlang_ir::{Const, ContractRef, Value};

use crate::parts::children_mut;
use crate::probe::Probe;

/// How a run ends; what nodes it came by does not count, since another program has others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It returned.
    Returned,
    /// It trapped, with this code.
    Trapped(&'static str),
    /// It ended itself with a status.
    Exited(u32),
    /// A contract did not hold, or trapped.
    Violated(ContractRef),
    /// Calls went too deep.
    TooDeep,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Behaviour {
    pub(crate) manner: Manner,
    /// What it returned; of all numbers that are none there is one.
    values: Vec<Value>,
    output: [Vec<u8>; 2],
}

/// What a run that has ended did; none where nothing follows from it.
pub(crate) fn behaviour(probe: &Probe) -> Option<Behaviour> {
    let mut values = Vec::new();
    let manner = match probe.outcome()? {
        Outcome::Returned { values: returned } => {
            values = returned.clone();
            values.iter_mut().for_each(settle);
            Manner::Returned
        }
        Outcome::Trapped { fault, .. } => match fault {
            Fault::Trap(_) => Manner::Trapped(fault.code()),
            Fault::InContract(contract, _) => Manner::Violated(*contract),
            Fault::Exit(status) => Manner::Exited(*status),
            Fault::Unsupported | Fault::Raw(..) | Fault::Imported(_) | Fault::TooLarge(_) => return None,
        },
        Outcome::ContractViolated { contract, .. } => Manner::Violated(*contract),
        Outcome::LimitReached { limit: LimitKind::Depth, .. } => Manner::TooDeep,
        Outcome::LimitReached { .. }
        | Outcome::ReachedHole { .. }
        | Outcome::NotVerified { .. }
        | Outcome::Cancelled { .. } => return None,
    };
    Some(Behaviour { manner, values, output: probe.output().map(<[u8]>::to_vec) })
}

/// Which bits a NaN has may change from one way of computing it to another.
fn settle(value: &mut Value) {
    match value {
        Value::Const(Const::F32(bits)) if f32::from_bits(*bits).is_nan() => *bits = f32::NAN.to_bits(),
        Value::Const(Const::F64(bits)) if f64::from_bits(*bits).is_nan() => *bits = f64::NAN.to_bits(),
        other => children_mut(other).iter_mut().for_each(settle),
    }
}

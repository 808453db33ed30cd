//! What a function does on an input, as somebody outside sees it, and in what two of them do not do the same.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;

use lmlang_interp::{Fault, LimitKind, Outcome, Run};
use lmlang_ir::{Const, ContractRef, Value, VarRef};

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
            Fault::Trap(_) | Fault::Segment(..) => Manner::Trapped(fault.code()),
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

/// Something that is not the same about the runs of two programs, first the one that comes before.
#[derive(Clone, Debug, PartialEq)]
pub enum Distinction {
    /// How they end.
    Ending,
    /// What they return.
    Results,
    /// What they write to standard output.
    Stdout([Vec<u8>; 2]),
    /// What they write to standard error.
    Stderr([Vec<u8>; 2]),
    /// What becomes of the file or folder at this path.
    File(Arc<str>),
    /// What they leave in a global.
    Global(VarRef, [Value; 2]),
    /// What they leave in linear memory, from this address on, or where it ends.
    Memory(u64, [Vec<u8>; 2]),
}

/// In what two programs do not do the same on an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Divergence {
    manners: [Manner; 2],
    /// What weighs most comes first; there is one at least.
    pub(crate) distinctions: Vec<Distinction>,
}

impl Divergence {
    /// Whether another one shows the same: an input that has been made smaller has to.
    pub(crate) fn is_like(&self, other: &Divergence) -> bool {
        let first = |of: &Divergence| of.distinctions.first().map(discriminant);
        self.manners == other.manners && first(self) == first(other)
    }

    /// Whether it is in linear memory alone, where a program may also keep what nobody looks at.
    pub(crate) fn is_slight(&self) -> bool {
        matches!(self.distinctions.first(), Some(Distinction::Memory(..)))
    }
}

/// In what two runs that have ended are not the same; none where they are, or where nothing follows from one of them.
///
/// What they leave in some globals that both programs have, and in linear memory, counts where both return.
pub(crate) fn divergence(before: &Probe, after: &Probe, globals: &[VarRef]) -> Option<Divergence> {
    /// Globals that are told at most.
    const MOST_GLOBALS: usize = 16;
    let Behaviour { manner, values, output: [stdout, stderr] } = behaviour(before)?;
    let other = behaviour(after)?;
    let [other_stdout, other_stderr] = other.output;
    let mut distinctions = Vec::new();
    if manner != other.manner {
        distinctions.push(Distinction::Ending);
    } else if values != other.values {
        distinctions.push(Distinction::Results);
    }
    if stdout != other_stdout {
        distinctions.push(Distinction::Stdout([stdout, other_stdout]));
    }
    if stderr != other_stderr {
        distinctions.push(Distinction::Stderr([stderr, other_stderr]));
    }
    let runs = [before.run()?, after.run()?];
    distinctions.extend(file(runs));
    if manner == Manner::Returned && other.manner == Manner::Returned {
        distinctions.extend(globals.iter().filter_map(|of| global(runs, *of)).take(MOST_GLOBALS));
        distinctions.extend(memory(runs));
    }
    let manners = [manner, other.manner];
    (!distinctions.is_empty()).then_some(Divergence { manners, distinctions })
}

/// The first path at which files are not the same.
fn file(runs: [&Run; 2]) -> Option<Distinction> {
    let [one, other] = runs.map(Run::written);
    let paths: BTreeSet<&Arc<str>> = one.keys().chain(other.keys()).collect();
    let found = paths.into_iter().find(|path| one.get(*path) != other.get(*path));
    found.map(|path| Distinction::File(Arc::clone(path)))
}

fn global(runs: [&Run; 2], of: VarRef) -> Option<Distinction> {
    let value = |run: &Run| {
        let mut value = run.global_value(of)?;
        settle(&mut value);
        Some(value)
    };
    let [one, other] = runs.map(value);
    let (one, other) = (one?, other?);
    (one != other).then_some(Distinction::Global(of, [one, other]))
}

/// The first bytes that are not the same, where both have a memory.
fn memory(runs: [&Run; 2]) -> Option<Distinction> {
    /// Bytes that are told.
    const SHOWN: usize = 16;
    let [one, other] = runs.map(Run::memory);
    let (one, other) = (one?, other?);
    if one == other {
        return None;
    }
    let first = one.iter().zip(other).position(|(a, b)| a != b);
    let at = first.unwrap_or(one.len().min(other.len()));
    let shown = |memory: &[u8]| memory[at..memory.len().min(at + SHOWN)].to_vec();
    Some(Distinction::Memory(at as u64, [shown(one), shown(other)]))
}

/// Which bits a NaN has may change from one way of computing it to another.
fn settle(value: &mut Value) {
    match value {
        Value::Const(Const::F32(bits)) if f32::from_bits(*bits).is_nan() => *bits = f32::NAN.to_bits(),
        Value::Const(Const::F64(bits)) if f64::from_bits(*bits).is_nan() => *bits = f64::NAN.to_bits(),
        other => children_mut(other).iter_mut().for_each(settle),
    }
}

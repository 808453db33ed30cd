//! What a run was at a step: enough to go on from there as often as somebody wants to, while the run itself is elsewhere.
//!
//! Whether a value of the heap is shared decides what a change of it copies, and so how much memory is alive. A snapshot
//! therefore refers to nothing that the run refers to: values are copied, and those that were shared with each other are
//! again. Constants are the code's, which outlives them all. Linear memory is kept in pages, of which those that are as in an
//! earlier snapshot are shared with that one.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use lmlang_ir::{FuncRef, Value};

use super::Run;
use crate::heap::Copies;
use crate::machine::Machine;
use crate::outcome::Outcome;

/// Bytes of a page of linear memory.
const PAGE: usize = 1 << 16;

/// A state of a run.
#[derive(Debug)]
pub(crate) struct Snapshot {
    steps: u64,
    fuel: u64,
    /// Without linear memory.
    machine: Machine,
    memory: Vec<Arc<[u8]>>,
    /// As far as it is in use.
    stack: Vec<u64>,
    calls: VecDeque<(FuncRef, Vec<Value>)>,
    left: u64,
    live: u64,
    outcome: Option<Outcome>,
}

impl Snapshot {
    /// Executed nodes.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Fuel that was used.
    pub(crate) fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Bytes that several snapshots hold together.
    pub(crate) fn bytes<'a>(of: impl Iterator<Item = &'a Snapshot>) -> u64 {
        let mut pages = HashSet::new();
        let bytes = of.map(|snapshot| {
            let fresh = snapshot.memory.iter().filter(|page| pages.insert(page.as_ptr()));
            snapshot.own_bytes() + fresh.map(|page| page.len() as u64).sum::<u64>()
        });
        bytes.sum()
    }

    /// Bytes that no other one can share.
    fn own_bytes(&self) -> u64 {
        let Machine { frames, refs, table_bytes, world, .. } = &self.machine;
        let words = self.stack.len() + refs.len() + 3 * frames.len();
        let output = world.stdout.len() + world.stderr.len();
        8 * words as u64 + output as u64 + table_bytes + world.tree.bytes.now + self.live
    }
}

impl Run {
    /// The state of the run. Pages of linear memory that are as in `earlier`, or as the page before, are shared with that.
    pub(crate) fn snapshot(&mut self, earlier: Option<&Snapshot>) -> Snapshot {
        if self.outcome.is_none() {
            // Another bound of fuel must leave room for what is charged ahead.
            self.discharge();
        }
        let memory = std::mem::take(&mut self.machine.memory);
        let machine = self.apart(&self.machine);
        let known = earlier.map_or(&[][..], |earlier| &earlier.memory);
        let mut pages: Vec<Arc<[u8]>> = Vec::new();
        for (at, bytes) in memory.chunks(PAGE).enumerate() {
            // What nobody has written to yet is the same in many pages.
            let same = [known.get(at), pages.last()].into_iter().flatten().find(|page| ***page == *bytes);
            let page = same.map_or_else(|| bytes.into(), Arc::clone);
            pages.push(page);
        }
        self.machine.memory = memory;
        let frame = self.funcs.get(machine.func as usize).map_or(0, |linked| linked.frame);
        let used = (machine.base + frame as usize).min(self.stack.len());
        Snapshot {
            steps: self.steps(),
            fuel: self.fuel_used(),
            machine,
            memory: pages,
            stack: self.stack[..used].to_vec(),
            calls: self.calls.clone(),
            left: self.left,
            live: self.live,
            outcome: self.outcome.clone(),
        }
    }

    /// Goes to where a snapshot of this run was taken. What was decoded since then stays.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot) {
        let mut memory = std::mem::take(&mut self.machine.memory);
        memory.clear();
        snapshot.memory.iter().for_each(|page| memory.extend_from_slice(page));
        self.machine = Machine { memory, ..self.apart(&snapshot.machine) };
        self.stack[..snapshot.stack.len()].copy_from_slice(&snapshot.stack);
        self.calls.clone_from(&snapshot.calls);
        (self.left, self.live) = (snapshot.left, snapshot.live);
        self.outcome.clone_from(&snapshot.outcome);
    }

    /// Another run of the same, where a snapshot of this one was taken; `fuel` bounds it further.
    pub(crate) fn at(&self, snapshot: &Snapshot, fuel: Option<u64>) -> Run {
        let mut other = Run::blank(&self.checked, self.function, &self.options, &self.cache, self.lowering);
        other.args.clone_from(&self.args);
        other.arena.clone_from(&self.arena);
        other.arena_used = self.arena_used;
        other.starts.clone_from(&self.starts);
        other.stack.resize(self.stack.len(), 0);
        other.funcs.clone_from(&self.funcs);
        other.index.clone_from(&self.index);
        other.signatures.clone_from(&self.signatures);
        other.storage.clone_from(&self.storage);
        other.marks = self.marks.clone();
        other.restore(snapshot);
        let before = super::fuel(&other.options);
        other.options.limits.fuel = fuel.unwrap_or(u64::MAX).min(other.options.limits.fuel);
        other.left = other.left.saturating_sub(before - super::fuel(&other.options));
        other
    }

    /// A machine like another one, which shares no value of the heap with it.
    fn apart(&self, machine: &Machine) -> Machine {
        let mut copy = machine.clone();
        let mut copies = Copies::default();
        let constants = self.funcs.iter().filter_map(|linked| linked.code.as_ref());
        constants.flat_map(|code| &code.objs).for_each(|constant| copies.keep(constant));
        for obj in copy.refs.iter_mut().chain(&mut copy.global_refs) {
            *obj = copies.of(obj);
        }
        copy
    }
}

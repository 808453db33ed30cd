//! Coverage: what a series of runs reaches.
//!
//! Every place that can be reached has a mark in the run's copy of the code, which gives way to the instruction that it
//! stands for when it is met for the first time. So what is reached again costs nothing: the way of Nagy and Hicks,
//! *Full-speed Fuzzing* (IEEE S&P 2019), there with breakpoints in machine code.

use lmlang_ir::{Attr, FuncRef, NodeRef, Opcode as Op, Value};
use lmlang_verify::Checked;

use super::{Options, Progress, Run, StartError};
use crate::cache::Cache;
use crate::code::{Code, Lowering, NO_START, Opcode};
use crate::outcome::Outcome;
use crate::world::Input;

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// A node: it was executed, or the run stopped at it.
    Node(NodeRef),
    /// The exit of a node, which was taken: 0 of a conditional one, the position of the target of a `br_switch`.
    Exit(NodeRef, u16),
}

/// What a run came to, and in which function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reached {
    /// The function.
    pub function: FuncRef,
    /// What of it.
    pub reach: Reach,
}

/// A function that is run again and again, with arguments of which those matter that reach something new.
///
/// The code is the unfolded one, and what was decoded is kept from run to run: where nothing new is reached, a run costs
/// its nodes and a few microseconds. Each run does what a [`Run`] of its own would do.
#[derive(Debug)]
pub struct Observer {
    run: Run,
}

impl Observer {
    /// Prepares the first run.
    pub fn new(
        checked: &Checked,
        function: FuncRef,
        args: &[Value],
        options: &Options,
        cache: &Cache,
    ) -> Result<Observer, StartError> {
        let mut run = Run::with_lowering(checked, function, args, options, cache, Lowering::Plain)?;
        run.reached = Some(Vec::new());
        Ok(Observer { run })
    }

    /// Prepares another run, whatever became of the one before.
    pub fn restart(&mut self, args: &[Value]) -> Result<(), StartError> {
        self.run.start(args)
    }

    /// Gives the runs that are prepared from here on another standard input.
    pub fn give(&mut self, stdin: Input) {
        self.run.options.environment.stdin = stdin;
    }

    /// Runs on for about so much fuel.
    pub fn resume(&mut self, fuel: u64) -> Progress {
        let end = self.run.fuel_used().saturating_add(fuel.max(1));
        loop {
            let rest = end.saturating_sub(self.run.fuel_used());
            if rest == 0 {
                return Progress::Paused;
            }
            match self.run.resume(rest) {
                Progress::Paused if self.run.is_marked() => self.run.pass_mark(),
                Progress::Paused => {}
                other @ (Progress::Waiting | Progress::Done) => return other,
            }
        }
    }

    /// What was reached for the first time in all runs, since this was asked last; in the order in which it was.
    pub fn take_reached(&mut self) -> Vec<Reached> {
        self.run.reached.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// How the run ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.run.outcome()
    }

    /// The run as far as it has come.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

impl Run {
    /// Marks everything in a function that can be reached.
    pub(super) fn cover_function(&mut self, func: usize) {
        if self.reached.is_none() {
            return;
        }
        let linked = &self.funcs[func];
        let Some(code) = &linked.code else { return };
        let start = linked.window as usize;
        let function = self.checked.program().function(linked.of);
        for (at, slots) in code.starts.iter().enumerate().filter(|(_, slots)| **slots != NO_START) {
            let (node, op) = (code.slots[*slots as usize].node, code.slots[*slots as usize].op);
            let exits = match op {
                Op::BreakIf | Op::ContinueIf => 1,
                Op::BrSwitch => match function.and_then(|of| of.body().node(node)).map(|of| of.op().attr()) {
                    Some(Attr::Switch(targets)) => targets.len(),
                    Some(_) | None => 0,
                },
                _ => 0,
            };
            let exits = exits_after(code, at).map_or(0..0, |first| first..first + exits);
            for word in std::iter::once(at).chain(exits) {
                let word = &mut self.arena[start + word];
                word[0] = word[0] & 0xff00 | Opcode::Mark as u16;
            }
        }
    }

    /// Takes away the mark that the run stands at, and notes what it stands for.
    fn pass_mark(&mut self) {
        // What there is no fuel for is not reached: the run ends here.
        if !self.machine.charged && self.left < self.cost() {
            self.instruction();
            return;
        }
        let at = self.machine.window as usize + self.machine.pc;
        let Some(function) = self.name(self.machine.func) else { return };
        let Some((code, word)) = self.code() else { return };
        let (op, reach) = (code.words[word][0] & 0xff, reach_of(code, word));
        self.arena[at][0] = self.arena[at][0] & 0xff00 | op;
        if let (Some(reached), Some(reach)) = (&mut self.reached, reach) {
            reached.push(Reached { function, reach });
        }
    }
}

/// Where the exits of the node start whose code starts at a word: behind the branch of a conditional one, which goes past
/// them, and behind the switch.
fn exits_after(code: &Code, start: usize) -> Option<usize> {
    let mut at = start;
    while code.owner.get(at) == code.owner.get(start) && (at == start || code.starts[at] == NO_START) {
        let op = Opcode::of(*code.words.get(at)?);
        if op.branches() || op == Opcode::Switch {
            return Some(at + 1);
        }
        at += if op.is_long() { 2 } else { 1 };
    }
    None
}

/// What a marked word stands for.
fn reach_of(code: &Code, word: usize) -> Option<Reach> {
    let slots = code.starts[word];
    if slots != NO_START {
        return Some(Reach::Node(code.slots[slots as usize].node));
    }
    // The jumps of a switch stand right behind it.
    let jumps = |at: &usize| matches!(Opcode::of(code.words[*at]), Opcode::Jmp | Opcode::Far);
    let switch = (0..word).rev().find(|at| !jumps(at))?;
    let exit = if Opcode::of(code.words[switch]) == Opcode::Switch { word - switch - 1 } else { 0 };
    Some(Reach::Exit(code.node_at(word)?, u16::try_from(exit).ok()?))
}

//! Running on: slices, single instructions, and the fuel that they charge.

use std::cell::Cell;

use super::{Progress, Run};
use crate::code::Opcode;
use crate::exec::{self, Cx, Exit};
use crate::heap;
use crate::machine::{Limit, Machine, Stop};
use crate::record::{Log, Piece};

/// Fuel that is given to single instructions, whose fuel is counted outside.
const PLENTY: i64 = 1 << 40;

impl Run {
    /// Runs on for about so much fuel, or to the next mark; for less where values are copied that no fuel pays for.
    ///
    /// Costs its fuel in time; the caller looks at the clock between slices.
    pub fn resume(&mut self, fuel: u64) -> Progress {
        let mut budget = fuel.clamp(1, i64::MAX as u64 / 4).min(self.left);
        let mut moved = false;
        self.noted.iter_mut().for_each(|piece| piece.start(budget));
        while self.outcome.is_none() {
            self.machine.fuel = budget as i64;
            let exit = self.slice();
            let rest = self.machine.fuel as u64;
            moved |= rest != budget;
            // More than before, where a segment was left that a slice before had paid for.
            self.left = self.left - budget + rest;
            budget = rest;
            match exit {
                Exit::Fuel if budget == self.left => {
                    let progress = self.last_nodes();
                    if self.outcome.is_none() {
                        return progress;
                    }
                }
                Exit::Input => return Progress::Waiting,
                Exit::Fuel if moved => return Progress::Paused,
                Exit::Mark | Exit::Rest => return Progress::Paused,
                // One operator costs more than the slice: it is done alone, as a piece has room for a slice's values.
                Exit::Fuel if self.noted.is_some() => {
                    self.noted.iter_mut().for_each(|piece| piece.start(self.left));
                    let progress = self.instruction();
                    if self.outcome.is_none() {
                        return progress;
                    }
                }
                // One operator costs more than the slice.
                Exit::Fuel => budget = (budget * 2).max(1024).min(self.left),
                other => self.attend(other),
            }
        }
        Progress::Done
    }

    /// Runs on to where so many nodes have been executed, in slices, until `stop` says so.
    ///
    /// Whole segments first, which are shorter than 256 nodes; the rest by instructions, each of which may stand for
    /// several nodes. Less far where input is awaited.
    pub fn go_to(&mut self, steps: u64, stop: &mut dyn FnMut() -> bool) {
        const SLICE: u64 = 1 << 20;
        while self.steps() < steps && self.outcome.is_none() && !stop() {
            let (far, fuel) = (steps - self.steps(), self.fuel_used());
            if far > 512 {
                self.resume((far - 256).min(SLICE));
            }
            if self.fuel_used() == fuel && self.outcome.is_none() && self.instruction() == Progress::Waiting {
                return;
            }
        }
    }

    /// Hands the machine to the handlers.
    fn with_cx(&mut self, run: impl FnOnce(&mut Cx<'_>) -> Exit) -> Exit {
        heap::set_live(self.live);
        let stack = Cell::from_mut(&mut self.stack[..]).as_slice_of_cells();
        let mut cx = Cx {
            m: &mut self.machine,
            arena: &self.arena,
            stack,
            funcs: &self.funcs,
            program: self.checked.program(),
            log: self.noted.as_mut().map_or(Log::off(stack), Piece::log),
            exit: Exit::Step,
        };
        let exit = run(&mut cx);
        self.machine.note_memory();
        self.live = heap::live();
        let reached = self.reached(exit);
        self.noted.iter_mut().for_each(|piece| piece.end(reached));
        exit
    }

    /// The fuel that was left before what has not been executed, of the fuel that the machine was given.
    fn reached(&self, exit: Exit) -> u64 {
        let Machine { charged, window, pc, fuel, .. } = self.machine;
        let word = self.arena.get(window as usize + pc).filter(|_| charged);
        word.map_or(fuel as u64, |word| {
            let rest = u64::from(word[0] >> 8);
            // What an instruction of two operators stops at is the second.
            let done = exit == Exit::Stop && Opcode::of(*word).computes_two();
            (fuel as u64).wrapping_add(rest - u64::from(done))
        })
    }

    fn slice(&mut self) -> Exit {
        self.machine.extra_limit = i64::MAX;
        self.with_cx(exec::run)
    }

    /// What handlers cannot do themselves.
    fn attend(&mut self, exit: Exit) {
        match exit {
            Exit::Step | Exit::Mark | Exit::Rest | Exit::Input => {}
            Exit::Halt => self.halt(),
            Exit::Grow => self.grow(),
            Exit::Link => self.link(),
            Exit::Stop => {
                let why = self.machine.stop.take().unwrap_or(Stop::Broken);
                self.finish(why);
            }
            // Only the loops that count fuel know what to do.
            Exit::Fuel => self.finish(Stop::Limit(Limit::Fuel)),
        }
    }

    /// Runs the last nodes one by one, up to exactly the limit, or to the next mark.
    fn last_nodes(&mut self) -> Progress {
        while self.outcome.is_none() && !self.is_marked() {
            if self.instruction() == Progress::Waiting {
                return Progress::Waiting;
            }
        }
        Progress::Paused
    }

    /// Tells whether the next instruction is marked.
    pub(crate) fn is_marked(&self) -> bool {
        let at = self.machine.window as usize + self.machine.pc;
        self.arena.get(at).is_some_and(|word| word[0] as u8 == Opcode::Mark as u8)
    }

    /// Runs one instruction with its fuel counted exactly.
    ///
    /// Leaves nothing charged ahead, so that slices and single instructions can follow each other.
    pub(crate) fn instruction(&mut self) -> Progress {
        self.discharge();
        let cost = self.cost();
        if self.left < cost {
            self.run_dry();
            return Progress::Done;
        }
        // Values are noted by the last digits of the fuel.
        self.machine.fuel = PLENTY + i64::from(self.left as u16);
        self.machine.extra_limit = (self.left - cost) as i64;
        let extra = self.machine.extra;
        let exit = self.with_cx(exec::instruction);
        self.machine.charged = false;
        match exit {
            Exit::Fuel => {
                // All but the bulk operator itself: what folded code counts with it comes before.
                self.left -= cost.saturating_sub(1);
                self.finish(Stop::Limit(Limit::Fuel));
                return Progress::Done;
            }
            Exit::Input => return Progress::Waiting,
            Exit::Grow | Exit::Link => {}
            Exit::Step | Exit::Mark | Exit::Rest | Exit::Halt | Exit::Stop => {
                self.left -= cost + (self.machine.extra - extra)
            }
        }
        self.attend(exit);
        if self.outcome.is_some() { Progress::Done } else { Progress::Paused }
    }

    /// Ends the run at the fuel limit. What is left does not pay for the next instruction; folded code may account for
    /// several nodes there, some of which could be paid for, and are: their values are recomputable.
    fn run_dry(&mut self) {
        self.left = 0;
        self.finish(Stop::Limit(Limit::Fuel));
    }

    /// Takes back what has been charged for the rest of a segment.
    pub(crate) fn discharge(&mut self) {
        self.left += self.ahead();
        self.machine.charged = false;
    }

    /// Tells whether what is left does not pay for the next instruction.
    pub(crate) fn is_dry(&self) -> bool {
        self.left + self.ahead() < self.cost()
    }

    /// Nodes that the next instruction accounts for.
    pub(super) fn cost(&self) -> u64 {
        self.code().map_or(0, |(code, at)| u64::from(code.cost.get(at).copied().unwrap_or(0)))
    }

    /// Nodes that have been charged and not been executed.
    pub(super) fn ahead(&self) -> u64 {
        if !self.machine.charged {
            return 0;
        }
        let at = self.machine.window as usize + self.machine.pc;
        let charged = self.arena.get(at).map_or(0, |word| u64::from(word[0] >> 8));
        // What stopped the run counts as executed.
        if self.outcome.is_some() { charged - self.cost().min(charged) } else { charged }
    }
}

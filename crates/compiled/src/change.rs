//! When a run that has begun in the interpreter begins anew as compiled code.
//!
//! A run begins in the interpreter, unless compiled code is asked for. When it has taken as long as compiling might, it
//! begins anew as compiled code: whichever of both would have been better, the run takes no more than about twice as long.
//! It does so at once where it comes to a function that is too large for the interpreter.
//! Where compiled code stops, the interpreter goes on from where it was and finds out why.

use std::sync::Arc;

use lmlang_interp::Run;

use crate::compiler::{Compiler, nodes};
use crate::refusal::Refusal;
use crate::run::{Start, is_too_large};
use crate::unit::Unit;

/// How a run is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// By the interpreter.
    Interpreter,
    /// As compiled code.
    Compiled,
}

/// Steps that a run takes in the interpreter in any case.
const FIRST: u64 = 1 << 22;

/// Steps in the interpreter that take as long as compiling one node.
const STEPS_A_NODE: u64 = 10_000;

/// When a run changes from the interpreter to compiled code.
#[derive(Debug)]
pub struct Change {
    /// After how many steps; `None` is never.
    after: Option<u64>,
    /// Whether that has to do with what there is to compile.
    weighed: bool,
    start: Start,
}

impl Change {
    /// Of a run that has not begun, and is to be executed in a way; without one, as seems fit.
    pub fn of(run: &Run, wanted: Option<Tier>) -> Change {
        let after = match wanted {
            Some(Tier::Compiled) => Some(0),
            Some(Tier::Interpreter) => None,
            None => Some(FIRST),
        };
        Change { after, weighed: after == Some(0), start: Start::of(run) }
    }

    /// Whether it is time. A run may have ended before its first step, where its memory does not fit its bound. One that ends
    /// at a function that is too large for the interpreter may still change.
    pub fn is_due(&mut self, run: &Run) -> bool {
        if is_too_large(run) {
            return self.after.is_some();
        }
        let runs = run.outcome().is_none();
        let due = |after: Option<u64>| runs && after.is_some_and(|after| run.steps() >= after);
        if !self.weighed && due(self.after) {
            self.weighed = true;
            let nodes = nodes(run.checked().program(), run.function());
            self.after = self.after.map(|after| after.max(nodes.saturating_mul(STEPS_A_NODE)));
        }
        due(self.after)
    }

    /// The compiled code. The run in the interpreter does not change again.
    ///
    /// # Errors
    ///
    /// What cannot be compiled.
    pub fn compile(&mut self, compiler: &Compiler, run: &Run) -> Result<Arc<Unit>, Refusal> {
        self.after = None;
        compiler.compile(run.checked(), run.function())
    }

    /// What the run held before its first step.
    pub fn start(&self) -> Start {
        self.start
    }
}

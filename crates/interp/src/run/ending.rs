//! How a run ends: the outcome, and the place.

use lmlang_ir::{Attr, NodeRef};

use super::{Progress, Run};
use crate::code::Lowering;
use crate::machine::Stop;
use crate::outcome::{Fault, LimitKind, Outcome, Place};

impl Run {
    pub(super) fn finish(&mut self, why: Stop) {
        let contract = self.current_contract();
        let place = Place { stack: self.calls_now(), values: self.values_now() };
        let trapped = |fault, place| Outcome::Trapped { fault, place };
        self.outcome = Some(match why {
            Stop::Trap(trap) => match contract {
                Some(contract) => trapped(Fault::InContract(contract, trap), place),
                None => trapped(Fault::Trap(trap), place),
            },
            Stop::Segment(of, trap) => trapped(Fault::Segment(of, trap), place),
            Stop::Hole(node, port) => Outcome::ReachedHole { node: Some(node), port, place },
            Stop::Open(_) => Outcome::ReachedHole { node: None, port: None, place },
            Stop::Violated(contract) => {
                let function = place.at().map(|at| at.function);
                let message = function
                    .and_then(|of| self.checked.program().function(of)?.body().contract(contract))
                    .map_or_else(String::new, |contract| contract.message.to_string());
                Outcome::ContractViolated { contract, message, place }
            }
            Stop::Limit(limit) => {
                Outcome::LimitReached { limit, bound: self.options.limits.of(limit), place }
            }
            Stop::NotVerified(function) => Outcome::NotVerified { function },
            Stop::Unsupported(node) => trapped(self.unsupported(node, &place), place),
            Stop::Imported(function) => trapped(Fault::Imported(function), place),
            Stop::TooLarge(function) => trapped(Fault::TooLarge(function), place),
            Stop::Exit(0) if self.gives_nothing() => Outcome::Returned { values: Vec::new() },
            Stop::Exit(status) => trapped(Fault::Exit(status), place),
            Stop::Cancelled => Outcome::Cancelled { place },
            Stop::Fuel | Stop::Input | Stop::Broken => {
                debug_assert!(false, "lowering made an instruction that handlers refuse: {why:?}");
                trapped(Fault::Unsupported, place)
            }
        });
        let step = self.steps();
        if let Some(place) = self.outcome.as_mut().and_then(Outcome::place_mut) {
            place.stack.iter_mut().for_each(|location| location.step = step);
        }
    }

    /// Why a node cannot be executed.
    fn unsupported(&self, node: NodeRef, place: &Place) -> Fault {
        let function = place.at().and_then(|at| self.checked.program().function(at.function));
        match function.and_then(|function| function.body().node(node)).map(|node| node.op().attr()) {
            Some(Attr::Raw(raw)) => {
                let byte = |at: usize| raw.bytes.get(at).copied().unwrap_or(0);
                Fault::Raw(node, [byte(0), byte(1)])
            }
            _ => Fault::Unsupported,
        }
    }

    /// Whether the function that was asked for has no results.
    fn gives_nothing(&self) -> bool {
        let function = self.checked.program().function(self.function);
        function.is_some_and(|function| function.head().results.is_empty())
    }

    /// The contract that is being evaluated.
    fn current_contract(&self) -> Option<lmlang_ir::ContractRef> {
        let depth = self.machine.contract_depth.checked_sub(1)?;
        let func = match self.machine.frames.get(depth) {
            // The caller's record of the frame above says which function it was.
            Some(above) => above.func,
            None => self.machine.func,
        };
        let code = self.funcs.get(func as usize)?.code.as_ref()?;
        code.contracts.get(usize::from(self.machine.contract)).copied()
    }

    /// Finds the values at the place where the run stopped, by running the unfolded code up to there.
    pub(super) fn inspect(&mut self) {
        /// Beyond this the second run would take longer than what it shows is worth.
        const MOST_FUEL: u64 = 50_000_000;
        let used = self.fuel_used();
        if used > MOST_FUEL || self.outcome.as_ref().and_then(Outcome::place).is_none() {
            return;
        }
        let stopped_by_itself = !matches!(
            self.outcome,
            Some(
                Outcome::Cancelled { .. }
                    | Outcome::LimitReached { limit: LimitKind::Time | LimitKind::Fuel, .. }
            )
        );
        let mut limits = self.options.limits;
        if !stopped_by_itself {
            limits.fuel = used;
        }
        let Some(mut plain) = self.again(Lowering::Plain, limits) else { return };
        while plain.resume(u64::MAX) == Progress::Paused {}
        let steps = plain.steps();
        let found = plain.outcome.as_mut().and_then(Outcome::place_mut).map(std::mem::take);
        let (Some(place), Some(found)) = (self.outcome.as_mut().and_then(Outcome::place_mut), found) else {
            return;
        };
        let same = |a: &Place, b: &Place| {
            a.at().map(|at| (at.function, at.node)) == b.at().map(|at| (at.function, at.node))
        };
        if stopped_by_itself {
            if same(place, &found) {
                place.values = found.values;
            }
        } else {
            // Folded code stops at the start of what accounts for several nodes: the unfolded one knows which.
            *place = found;
            place.stack.iter_mut().for_each(|location| location.step = steps);
        }
    }
}

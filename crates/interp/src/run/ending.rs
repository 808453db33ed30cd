//! How a run ends: the outcome, the calls, and the values that were alive there.

use lmlang_ir::{Attr, NodeRef, RegionRef, Source};

use super::{Progress, Run};
use crate::code::{Loc, Lowering};
use crate::machine::Stop;
use crate::outcome::{Fault, LimitKind, Location, Outcome, Place, SourceValue};
use crate::value::{Budget, Word, show};

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

    /// The calls, the outermost first.
    pub(crate) fn calls_now(&self) -> Vec<Location> {
        let mut stack = Vec::new();
        let frames = &self.machine.frames;
        for (index, frame) in frames.iter().enumerate().skip(1) {
            // The word before the one that a call returns to belongs to the call.
            let pc = (frame.pc as usize).saturating_sub(1);
            stack.extend(self.location(index as u32 - 1, frame.func, frame.window, pc));
        }
        if !frames.is_empty() {
            let index = frames.len() as u32 - 1;
            let (func, window, pc) = (self.machine.func, self.machine.window, self.machine.pc);
            stack.extend(self.location(index, func, window, pc));
        }
        stack
    }

    fn location(&self, frame: u32, func: u32, window: u32, pc: usize) -> Option<Location> {
        let function = self.name(func)?;
        let body = self.checked.program().function(function)?.body();
        let root = body.root();
        let Some((code, at)) = self.code_of(func, window, pc) else {
            return root.map(|region| Location { frame, function, region, node: None, step: 0 });
        };
        if let Some(region) = code.open_region(at) {
            return Some(Location { frame, function, region, node: None, step: 0 });
        }
        let node = code.node_at(at);
        let region = node.and_then(|node| body.node(node)).map(|node| node.region()).or(root)?;
        Some(Location { frame, function, region, node, step: 0 })
    }

    /// The value at a place of the innermost call.
    pub(crate) fn read(&self, loc: Loc) -> Word {
        match loc {
            Loc::Num(slot) => {
                Word::Num(self.stack.get(self.machine.base + usize::from(slot)).copied().unwrap_or(0))
            }
            Loc::Ref(slot) => Word::Ref(
                self.machine.refs.get(self.machine.rbase + usize::from(slot)).cloned().unwrap_or_default(),
            ),
            Loc::Known(bits) => Word::Num(bits),
        }
    }

    /// The values that are alive in the innermost call: of nodes before the current one, and of parameters.
    pub(crate) fn values_now(&self) -> Vec<SourceValue> {
        /// More would not be read by anyone.
        const MOST: usize = 500;
        let mut out = Vec::new();
        if self.lowering.folds() {
            return out;
        }
        let Some((code, at)) = self.code() else { return out };
        let Some(function) = self.name(self.machine.func) else { return out };
        let program = self.checked.program();
        let Some(found) = program.function(function) else { return out };
        let body = found.body();
        let mut sources: Vec<Source> = Vec::new();
        let current: Option<NodeRef> = code.node_at(at);
        let (mut region, mut before): (Option<RegionRef>, Option<NodeRef>) = match code.open_region(at) {
            Some(region) => (Some(region), None),
            None => (current.and_then(|node| body.node(node)).map(|node| node.region()), current),
        };
        while let Some(inside) = region {
            let nodes: Vec<NodeRef> = match before {
                Some(before) => body.nodes_in(inside).take_while(|node| *node != before).collect(),
                None => body.nodes_in(inside).collect(),
            };
            for node in nodes.into_iter().rev().take(MOST) {
                sources.extend((0..4).map(|port| Source::Node(node, port)));
            }
            let params = body.region(inside).map_or(0, |region| region.params.len() as u16);
            sources.extend((0..params).map(|port| Source::RegionParam(inside, port)));
            before = match body.region(inside).map(|region| region.owner) {
                Some(lmlang_ir::RegionOwner::Node(owner)) => Some(owner),
                Some(lmlang_ir::RegionOwner::Function | lmlang_ir::RegionOwner::Contract(_)) | None => None,
            };
            region = body.outer(inside);
        }
        sources.extend((0..found.head().params.len() as u16).map(|port| Source::Param(function, port)));
        for source in sources.into_iter().take(4 * MOST) {
            let Some((loc, ty)) = code.locs.get(&source) else { continue };
            let shown = show(program, ty, &self.read(*loc), &|index| self.name(index), Budget::STEP);
            if let Some(shown) = shown {
                out.push(SourceValue { source, shown });
            }
            if out.len() >= MOST {
                break;
            }
        }
        out
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

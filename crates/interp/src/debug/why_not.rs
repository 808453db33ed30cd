//! Why a node did not run: the steps of a run where it went another way.

use std::collections::{HashMap, HashSet, VecDeque};

use lmlang_ir::{Body, FuncRef, NodeRef, Opcode as Op, Program, RegionOwner, RegionRef};

use super::Interrupt;
use crate::code::Lowering;
use crate::marks::Marks;
use crate::outcome::Outcome;
use crate::run::{Progress, Run};
use crate::trace::started;

/// Functions around the node whose calls did not happen that are looked at.
const MOST: usize = 8;

/// Fuel between two looks at whether to stop.
const SLICE: u64 = 1 << 18;

/// Why a node did not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhyNot {
    /// The numbers of steps where the run went another way, ascending: for each place that the node, or a call of its
    /// function, stands at, the last one. None where no such place was ever near.
    pub steps: Vec<u64>,
    /// Whether the node did run.
    pub ran: bool,
    /// Whether the run stopped on the way to the node, or to a call of its function: at a hole, at a limit, or where it
    /// stands.
    pub stopped: bool,
}

/// Finds the steps that kept a node from running: the last decision for another region, or the last exit before the node
/// in its region; where its function was not called, the same for the calls of it.
///
/// `fuel` bounds the run further, as for [`crate::Trace::of`]. `None` where there is no such node, or `interrupt` says so.
pub fn why_not(
    run: &Run,
    fuel: Option<u64>,
    of: FuncRef,
    node: NodeRef,
    interrupt: Interrupt<'_>,
) -> Option<WhyNot> {
    let program = run.checked().program();
    program.function(of)?.body().node(node)?;
    let (mut open, mut seen) = (VecDeque::from([(of, node)]), HashSet::from([of]));
    let mut why = WhyNot::default();
    while let Some((of, node)) = open.pop_front() {
        let place = Place::of(program, of, node)?;
        match place.look(run, fuel, interrupt)? {
            Look::Ran => {
                // A call that was made and of which nothing ran cannot be.
                why.ran |= why.steps.is_empty() && seen.len() == 1;
            }
            Look::Turned(step) => why.steps.push(step),
            Look::Stopped => why.stopped = true,
            Look::NotCalled => {
                for (caller, call) in calls(program, of) {
                    if seen.len() < MOST && seen.insert(caller) {
                        open.push_back((caller, call));
                    }
                }
            }
        }
    }
    why.steps.sort_unstable();
    why.steps.dedup();
    Some(why)
}

/// The calls of a function that are written in others, one in each.
fn calls(program: &Program, of: FuncRef) -> Vec<(FuncRef, NodeRef)> {
    let users = program.users_of(of.into()).filter_map(|(user, _)| FuncRef::try_from(user).ok());
    let call = |caller: FuncRef| {
        let body = program.function(caller)?.body();
        let is_call = |node: &lmlang_ir::Node| {
            let mut names = false;
            node.op().each_mention(&mut |mentioned| names |= mentioned == of.into());
            names && matches!(node.op().code(), Op::Call | Op::FuncRef | Op::ClosureNew)
        };
        body.nodes().find(|(_, node)| is_call(node)).map(|(node, _)| (caller, node))
    };
    users.filter_map(call).collect()
}

enum Look {
    Ran,
    /// The run came near, and went another way at this step.
    Turned(u64),
    /// The run stopped before it came there, and was not turned away earlier.
    Stopped,
    NotCalled,
}

/// The node that a region belongs to.
fn owner(body: &Body, region: RegionRef) -> Option<NodeRef> {
    match body.region(region)?.owner {
        RegionOwner::Node(node) => Some(node),
        RegionOwner::Function | RegionOwner::Contract(_) => None,
    }
}

/// A node with the regions around it, from the outermost.
struct Place {
    of: FuncRef,
    node: NodeRef,
    chain: Vec<RegionRef>,
    /// For each region of the function, the innermost of the chain that it lies in, by position.
    within: HashMap<RegionRef, usize>,
}

impl Place {
    fn of(program: &Program, of: FuncRef, node: NodeRef) -> Option<Place> {
        let body = program.function(of)?.body();
        let mut chain: Vec<RegionRef> = body.chain(body.node(node)?.region()).collect();
        chain.reverse();
        let lies = |region: RegionRef| {
            body.chain(region)
                .find_map(|outer| chain.iter().position(|of| *of == outer))
                .map(|at| (region, at))
        };
        let within = body.regions().filter_map(|(region, _)| lies(region)).collect();
        Some(Place { of, node, chain, within })
    }

    fn look(&self, run: &Run, fuel: Option<u64>, interrupt: Interrupt<'_>) -> Option<Look> {
        let mut limits = run.options().limits;
        limits.fuel = limits.fuel.min(fuel.unwrap_or(u64::MAX));
        let mut run = run.again(Lowering::Plain, limits)?;
        run.mark(Marks { functions: [self.of].into(), ..Marks::default() });
        let body = run.checked().program().function(self.of)?.body().clone();
        // The last step in each region of the chain, with what lies in it beside the chain, and that of the owner of the next.
        let mut last: Vec<Option<u64>> = vec![None; self.chain.len()];
        let mut owners: Vec<Option<u64>> = vec![None; self.chain.len()];
        while run.outcome().is_none() {
            if run.resume(SLICE) == Progress::Waiting || interrupt() {
                return None;
            }
            if run.outcome().is_some() || !run.is_marked() {
                continue;
            }
            let (code, slots) = started(&run)?;
            let (at, slots) = (run.steps(), &code.slots[slots]);
            let (node, region) = (slots.node, slots.region);
            run.instruction();
            if run.steps() == at {
                // There is no fuel for it.
                continue;
            }
            if node == self.node {
                return Some(Look::Ran);
            }
            if let Some(within) = self.within.get(&region) {
                last[*within] = Some(at);
            }
            let next = self.chain.iter().position(|inner| {
                body.region(*inner).is_some_and(|inner| inner.owner == RegionOwner::Node(node))
            });
            if let Some(next) = next {
                owners[next] = Some(at);
            }
        }
        let Some(entered) = last.iter().rposition(Option::is_some) else { return Some(Look::NotCalled) };
        if let Some(inside) = self.is_ahead(&body, run.outcome()) {
            // What an earlier turn of a loop decided, holds.
            return Some(owners.get(inside + 1).copied().flatten().map_or(Look::Stopped, Look::Turned));
        }
        let decided = owners.get(entered + 1).copied().flatten();
        Some(decided.or(last[entered]).map_or(Look::NotCalled, Look::Turned))
    }

    /// In which region of the chain a run stands, by position, if it stopped before it came to the node or to the owner of
    /// the next region. One that trapped did not stop: it was turned away.
    fn is_ahead(&self, body: &Body, outcome: Option<&Outcome>) -> Option<usize> {
        let place = match outcome? {
            Outcome::LimitReached { place, .. }
            | Outcome::ReachedHole { place, .. }
            | Outcome::Cancelled { place } => place,
            Outcome::Returned { .. }
            | Outcome::NotVerified { .. }
            | Outcome::Trapped { .. }
            | Outcome::ContractViolated { .. } => return None,
        };
        let stands = place.stack.iter().rfind(|location| location.function == self.of)?;
        let inside = *self.within.get(&stands.region)?;
        let region = self.chain[inside];
        let goal = match self.chain.get(inside + 1) {
            Some(next) => owner(body, *next)?,
            None => self.node,
        };
        let at = match stands.region == region {
            true => stands.node,
            // The owner of the side region that it stands in; standing beside the goal, it was turned away there.
            false => {
                let side = body.chain(stands.region).take_while(|outer| *outer != region).last()?;
                Some(owner(body, side).filter(|owner| *owner != goal)?)
            }
        };
        let first = body.nodes_in(region).find(|node| *node == goal || Some(*node) == at);
        (at.is_none() || first == at).then_some(inside)
    }
}

//! Why a node did not run: the steps of a run where it went another way.

use std::collections::{BTreeSet, HashMap, HashSet};

use lmlang_ir::graph::reaching;
use lmlang_ir::{
    Body, FuncRef, NodeRef, Opcode as Op, Program, Ref, RegionOwner, RegionRef, StorageKind, VarRef,
};

use super::Interrupt;
use crate::code::Lowering;
use crate::marks::Marks;
use crate::outcome::{Location, Outcome, Place};
use crate::run::{Progress, Run};
use crate::trace::started;

/// Calls that are looked at where a function was not called.
const MOST: usize = 32;

/// Fuel between two looks at whether to stop.
const SLICE: u64 = 1 << 18;

/// Why a node did not run, or that it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// It did run, first as this step.
    Ran(u64),
    /// Its function was called, and the run went another way at this step.
    TurnedAway(u64),
    /// The run stopped before it came there, at a hole, at a limit, or where it stands, and was not turned away earlier.
    Stopped,
    /// Its function was not called.
    NotCalled,
    /// Its function was not called, and nothing that the run begins with mentions it, or what mentions it.
    Unreachable,
}

/// A call that could have led to a node, and why it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedCall {
    /// The function that it is written in.
    pub function: FuncRef,
    /// The call, or the node that makes a reference to what is called.
    pub node: NodeRef,
    /// Why it did not run. Of a reference that was made, that it did: nobody called it.
    pub absence: Absence,
}

/// Why a node did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyNot {
    /// Why, in short.
    pub absence: Absence,
    /// The numbers of steps where the run went another way, ascending: for each place that the node, or a call of its
    /// function, stands at, the last one. None where no such place was ever near.
    pub steps: Vec<u64>,
    /// Where the run stopped, if it did so on the way to the node, or to one of the calls.
    pub stopped: Option<Location>,
    /// Where the function was not called: the calls of it, and, where a function that has one was not called either, the calls
    /// of that one, the nearest first.
    pub calls: Vec<MissedCall>,
    /// Whether these are all.
    pub is_complete: bool,
}

impl WhyNot {
    /// The same in words, of the node that was asked about.
    pub fn message(&self, program: &Program, node: NodeRef) -> String {
        let function =
            || program.function_of(node.into()).map(|of| program.path(of.into())).unwrap_or_default();
        match (self.absence, self.stopped) {
            (Absence::Ran(step), _) => format!("`{node}` did run, first as step {step}"),
            (Absence::TurnedAway(step), _) => {
                format!("at step {step} the run went another way than to `{node}`")
            }
            (Absence::Stopped, Some(at)) => format!("the run stopped before `{node}`, at step {}", at.step),
            (Absence::Stopped, None) => format!("the run stopped before `{node}`"),
            (Absence::NotCalled, Some(at)) => {
                format!("`{}` was not called before the run stopped, at step {}", function(), at.step)
            }
            (Absence::NotCalled, None) => format!("`{}` was not called", function()),
            (Absence::Unreachable, _) => format!("nothing in this run leads to a call of `{}`", function()),
        }
    }
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
    let mut why = WhyNot {
        absence: Absence::NotCalled,
        steps: Vec::new(),
        stopped: None,
        calls: Vec::new(),
        is_complete: true,
    };
    let roots = run.roots();
    let leads = |function: FuncRef| {
        let Some(roots) = &roots else { return true };
        let ways = reaching(program, [Ref::from(function)]);
        roots.iter().any(|root| ways.contains(root))
    };
    let (mut open, mut seen, mut uncalled) = (vec![(of, node)], HashSet::from([node]), BTreeSet::new());
    let mut is_first = true;
    while !open.is_empty() {
        let (found, stands) = look(run, fuel, &open, interrupt)?;
        let mut next = Vec::new();
        for ((function, node), absence) in open.into_iter().zip(found) {
            let absence = match absence {
                Absence::NotCalled if !leads(function) => Absence::Unreachable,
                found => found,
            };
            match absence {
                Absence::Ran(_) | Absence::Unreachable => {}
                Absence::TurnedAway(step) => why.steps.push(step),
                Absence::Stopped => why.stopped = stands,
                Absence::NotCalled => {
                    if uncalled.insert(function) {
                        next.extend(calls(program, function));
                    }
                }
            }
            match is_first {
                true => why.absence = absence,
                false => why.calls.push(MissedCall { function, node, absence }),
            }
        }
        is_first = false;
        // A call in a function that is known not to be called tells nothing more.
        next.retain(|(caller, call)| !uncalled.contains(caller) && seen.insert(*call));
        let room = MOST - why.calls.len();
        why.is_complete &= next.len() <= room;
        next.truncate(room);
        open = next;
    }
    why.steps.sort_unstable();
    why.steps.dedup();
    Some(why)
}

/// The calls of a function that are written in others, by name, by reference, and through the tables that it is put into.
fn calls(program: &Program, of: FuncRef) -> Vec<(FuncRef, NodeRef)> {
    let mut found = Vec::new();
    for (user, _) in program.users_of(of.into()) {
        if let Ok(caller) = FuncRef::try_from(user) {
            found.extend(mentions(program, caller, of.into(), &[Op::Call, Op::FuncRef, Op::ClosureNew]));
            continue;
        }
        let Ok(held) = VarRef::try_from(user) else { continue };
        let table = match program.storage(held).map(|of| &of.kind) {
            Some(StorageKind::Table { .. }) => held,
            Some(StorageKind::Elements { target: Some((table, _)), .. }) => *table,
            _ => continue,
        };
        let callers = program.users_of(table.into()).filter_map(|(user, _)| FuncRef::try_from(user).ok());
        for caller in callers {
            found.extend(mentions(program, caller, table.into(), &[Op::CallIndirect]));
        }
    }
    found
}

/// The nodes of a function with one of these operators that mention an entity.
fn mentions(program: &Program, caller: FuncRef, of: Ref, codes: &[Op]) -> Vec<(FuncRef, NodeRef)> {
    let Some(function) = program.function(caller) else { return Vec::new() };
    let does = |node: &lmlang_ir::Node| {
        let mut names = false;
        node.op().each_mention(&mut |mentioned| names |= mentioned == of);
        names && codes.contains(&node.op().code())
    };
    function.body().nodes().filter(|(_, node)| does(node)).map(|(node, _)| (caller, node)).collect()
}

/// Runs once more, and tells of each of these nodes why it did not run, and where the run stopped. None is unreachable: that
/// does not follow from a run.
fn look(
    run: &Run,
    fuel: Option<u64>,
    nodes: &[(FuncRef, NodeRef)],
    interrupt: Interrupt<'_>,
) -> Option<(Vec<Absence>, Option<Location>)> {
    let mut limits = run.options().limits;
    limits.fuel = limits.fuel.min(fuel.unwrap_or(u64::MAX));
    let mut run = run.again(Lowering::Plain, limits)?;
    let functions = nodes.iter().map(|(of, _)| *of).collect();
    run.mark(Marks { functions, ..Marks::default() });
    let checked = run.checked().clone();
    let program = checked.program();
    let goals = nodes.iter().map(|(of, node)| Goal::of(program, *of, *node));
    let mut goals = goals.collect::<Option<Vec<Goal>>>()?;
    while run.outcome().is_none() && goals.iter().any(|goal| goal.ran.is_none()) {
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
        for goal in &mut goals {
            goal.pass(at, node, region);
        }
    }
    let stands = run.outcome().and_then(Outcome::place).and_then(Place::at).copied();
    let absences = goals.iter().map(|goal| goal.absence(program, run.outcome()));
    Some((absences.collect::<Option<Vec<Absence>>>()?, stands))
}

/// The node that a region belongs to.
fn owner(body: &Body, region: RegionRef) -> Option<NodeRef> {
    match body.region(region)?.owner {
        RegionOwner::Node(node) => Some(node),
        RegionOwner::Function | RegionOwner::Contract(_) => None,
    }
}

/// A node with the regions around it, from the outermost, and what was seen of it.
struct Goal {
    of: FuncRef,
    node: NodeRef,
    chain: Vec<RegionRef>,
    /// The nodes that the regions of the chain belong to.
    owners: Vec<Option<NodeRef>>,
    /// For each region of the function, the innermost of the chain that it lies in, by position; none for one beside all of
    /// them, as the regions of contracts lie beside the body.
    within: HashMap<RegionRef, Option<usize>>,
    /// The first step of the node.
    ran: Option<u64>,
    /// The last step in each region of the chain, with what lies in it beside the chain.
    last: Vec<Option<u64>>,
    /// The last step of the owner of each region.
    decided: Vec<Option<u64>>,
    /// The last step beside the chain.
    beside: Option<u64>,
}

impl Goal {
    fn of(program: &Program, of: FuncRef, node: NodeRef) -> Option<Goal> {
        let body = program.function(of)?.body();
        let mut chain: Vec<RegionRef> = body.chain(body.node(node)?.region()).collect();
        chain.reverse();
        let lies = |region: RegionRef| {
            let within = body.chain(region).find_map(|outer| chain.iter().position(|of| *of == outer));
            (region, within)
        };
        let within = body.regions().map(|(region, _)| lies(region)).collect();
        let owners = chain.iter().map(|region| owner(body, *region)).collect();
        let (last, decided) = (vec![None; chain.len()], vec![None; chain.len()]);
        Some(Goal { of, node, chain, owners, within, ran: None, last, decided, beside: None })
    }

    /// Notes a step.
    fn pass(&mut self, step: u64, node: NodeRef, region: RegionRef) {
        if self.ran.is_some() {
            return;
        }
        if node == self.node {
            self.ran = Some(step);
            return;
        }
        match self.within.get(&region) {
            Some(Some(within)) => self.last[*within] = Some(step),
            Some(None) => self.beside = Some(step),
            None => {}
        }
        if let Some(next) = self.owners.iter().position(|owner| *owner == Some(node)) {
            self.decided[next] = Some(step);
        }
    }

    /// Why it did not run in a run that has ended so.
    fn absence(&self, program: &Program, outcome: Option<&Outcome>) -> Option<Absence> {
        if let Some(step) = self.ran {
            return Some(Absence::Ran(step));
        }
        let body = program.function(self.of)?.body();
        let Some(entered) = self.last.iter().rposition(Option::is_some) else {
            let mut stack = outcome.and_then(stopped).into_iter().flat_map(|place| &place.stack);
            return Some(match self.beside {
                _ if stack.any(|location| location.function == self.of) => Absence::Stopped,
                Some(step) => Absence::TurnedAway(step),
                None => Absence::NotCalled,
            });
        };
        if let Some(inside) = self.is_ahead(body, outcome) {
            // What an earlier turn of a loop decided, holds.
            let decided = self.decided.get(inside + 1).copied().flatten();
            return Some(decided.map_or(Absence::Stopped, Absence::TurnedAway));
        }
        let decided = self.decided.get(entered + 1).copied().flatten();
        Some(decided.or(self.last[entered]).map_or(Absence::NotCalled, Absence::TurnedAway))
    }

    /// In which region of the chain a run stands, by position, if it stopped before it came to the node or to the owner of
    /// the next region.
    fn is_ahead(&self, body: &Body, outcome: Option<&Outcome>) -> Option<usize> {
        let place = stopped(outcome?)?;
        let stands = place.stack.iter().rfind(|location| location.function == self.of)?;
        let inside = (*self.within.get(&stands.region)?)?;
        let region = self.chain[inside];
        let goal = match self.owners.get(inside + 1) {
            Some(next) => (*next)?,
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

/// Where a run stopped. One that trapped did not stop: it was turned away.
fn stopped(outcome: &Outcome) -> Option<&Place> {
    match outcome {
        Outcome::LimitReached { place, .. }
        | Outcome::ReachedHole { place, .. }
        | Outcome::Cancelled { place } => Some(place),
        Outcome::Returned { .. }
        | Outcome::NotVerified { .. }
        | Outcome::Trapped { .. }
        | Outcome::ContractViolated { .. } => None,
    }
}

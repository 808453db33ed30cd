//! Slices: what a node depends on, and what depends on it.

use std::collections::HashSet;

use crate::entities::RegionOwner;
use crate::function::Body;
use crate::graph::edges::{Role, control_in, control_out, data_out, uses};
use crate::graph::exits::Exits;
use crate::graph::subgraph::{Found, Subgraph};
use crate::node::{Node, Source};
use crate::ops::{Attr, Exit, Opcode};
use crate::program::Program;
use crate::refs::{NodeRef, RegionRef};

/// Which way a slice goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice {
    /// To what a node depends on.
    Backward,
    /// To what depends on a node.
    Forward,
}

/// Why a node is in a slice: what of it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Because {
    /// What goes into it: the condition of an `if` around, the values of an exit.
    Inputs,
    /// What comes out of it, for a node with regions by way of their ends.
    Results,
    /// Whether an exit is taken: its condition.
    Taken,
}

/// Everything within a function that a node depends on, or that depends on it: by values, also through results,
/// parameters of regions and variables; and by what decides whether it runs: nodes around it, and backwards also the
/// exits before it that leave a region that it is in, and those that start another round of a loop around it.
///
/// Not through memory, globals and tables, and not into other functions; that a node may trap is left out too.
pub fn slice(program: &Program, node: NodeRef, way: Slice, max_nodes: usize) -> Subgraph {
    let mut found = Found::new(program, max_nodes);
    let Some(of) = program.function_of(node.into()) else { return Subgraph::default() };
    let Some(body) = found.body(of) else { return Subgraph::default() };
    let start = match way {
        Slice::Backward => Because::Results,
        Slice::Forward => Because::Inputs,
    };
    let mut exits = match way {
        Slice::Backward => Some(Exits::of(body)),
        Slice::Forward => None,
    };
    let mut steps = vec![(node, start)];
    let mut seen = HashSet::from([(node, start)]);
    let mut missed: HashSet<NodeRef> = HashSet::new();
    found.take(of, node);
    let mut at = 0;
    while let Some((node, because)) = steps.get(at).copied() {
        let others = match &mut exits {
            Some(exits) => dependencies(body, exits, node, because),
            None => dependents(body, node, because, max_nodes),
        };
        for (other, because) in others {
            if !found.take(of, other) {
                missed.insert(node);
                break;
            }
            if seen.insert((other, because)) {
                steps.push((other, because));
            }
        }
        at += 1;
    }
    let frontier = found.nodes().iter().map(|(_, node)| *node).filter(|node| missed.contains(node)).collect();
    found.finish(&[], frontier)
}

fn owner_of(body: &Body, region: RegionRef) -> Option<NodeRef> {
    match body.region(region)?.owner {
        RegionOwner::Node(owner) => Some(owner),
        RegionOwner::Function | RegionOwner::Contract(_) => None,
    }
}

/// Tells whether an exit starts the next round of a loop.
fn continues(body: &Body, exit: NodeRef, target: NodeRef) -> bool {
    body.node(exit).is_some_and(|content| match content.op().code() {
        Opcode::Continue | Opcode::ContinueIf => true,
        _ => match content.op().attr() {
            Attr::Switch(targets) => targets.contains(&Exit::Continue(target)),
            _ => false,
        },
    })
}

/// Tells whether an exit leaves a node with its results.
fn leaves(body: &Body, exit: NodeRef, target: NodeRef) -> bool {
    body.node(exit).is_some_and(|content| match content.op().code() {
        Opcode::Continue | Opcode::ContinueIf => false,
        _ => match content.op().attr() {
            Attr::Switch(targets) => targets.contains(&Exit::Break(target)),
            _ => true,
        },
    })
}

/// The exits that aim at a node, and the `yield`s of its regions.
fn exits_to(body: &Body, node: NodeRef) -> impl Iterator<Item = NodeRef> + '_ {
    control_in(body, node).filter(|edge| matches!(edge.id.role, Role::Exit(_))).map(|edge| edge.id.node)
}

/// The nodes of an opcode that name the same variable as a node.
fn same_variable(body: &Body, node: NodeRef, code: Opcode) -> impl Iterator<Item = NodeRef> + '_ {
    let variable = match body.node(node).map(|content| content.op().attr()) {
        Some(Attr::Variable(variable)) => Some(*variable),
        Some(_) | None => None,
    };
    let users = variable.into_iter().flat_map(|variable| body.users_of(variable.number()));
    users.map(|one| one.node).filter(move |user| body.node(*user).is_some_and(|n| n.op().code() == code))
}

/// How many inputs of a node matter.
fn relevant_inputs(content: &Node, because: Because) -> usize {
    match (because, content.op().code()) {
        (Because::Inputs | Because::Results, _) => content.inputs().len(),
        (Because::Taken, Opcode::BreakIf | Opcode::ContinueIf | Opcode::BrSwitch) => 1,
        (Because::Taken, _) => 0,
    }
}

fn dependencies(body: &Body, exits: &mut Exits, node: NodeRef, because: Because) -> Vec<(NodeRef, Because)> {
    let Some(content) = body.node(node) else { return Vec::new() };
    let mut found = Vec::new();
    for source in content.inputs().iter().take(relevant_inputs(content, because)).flatten() {
        match source {
            Source::Node(producer, _) => found.push((producer, Because::Results)),
            Source::RegionParam(region, _) => {
                if let Some(owner) = owner_of(body, region) {
                    found.push((owner, Because::Inputs));
                    let rounds = exits_to(body, owner).filter(|exit| continues(body, *exit, owner));
                    found.extend(rounds.map(|exit| (exit, Because::Inputs)));
                }
            }
            Source::Param(..) => {}
        }
    }
    if content.op().code() == Opcode::VarGet {
        found.extend(same_variable(body, node, Opcode::VarSet).map(|set| (set, Because::Inputs)));
    }
    if content.op().owns_regions() && because == Because::Results {
        let ends = exits_to(body, node).filter(|exit| leaves(body, *exit, node));
        found.extend(ends.map(|exit| (exit, Because::Inputs)));
    }
    if content.op().code() == Opcode::Loop && because == Because::Inputs {
        // It is around what is asked for.
        let rounds = exits_to(body, node).filter(|exit| continues(body, *exit, node));
        found.extend(rounds.map(|exit| (exit, Because::Taken)));
    }
    found.extend(owner_of(body, content.region()).map(|owner| (owner, Because::Inputs)));
    found.extend(exits.before(body, node).into_iter().map(|exit| (exit, Because::Taken)));
    found
}

/// At most one more of each kind than there is room for.
fn dependents(body: &Body, node: NodeRef, because: Because, limit: usize) -> Vec<(NodeRef, Because)> {
    let Some(content) = body.node(node) else { return Vec::new() };
    let takers = data_out(body, node).filter_map(|edge| edge.to).map(|user| (user, Because::Inputs));
    let mut found: Vec<(NodeRef, Because)> = takers.take(limit + 1).collect();
    if because == Because::Results {
        return found;
    }
    for target in control_out(body, node).filter(|edge| matches!(edge.id.role, Role::Exit(_))) {
        let Some(target) = target.to else { continue };
        if leaves(body, node, target) {
            found.push((target, Because::Results));
        }
        if continues(body, node, target) {
            found.extend(takers_of_params(body, target, limit));
        }
    }
    if content.op().code() == Opcode::VarSet {
        let gets = same_variable(body, node, Opcode::VarGet).map(|get| (get, Because::Inputs));
        found.extend(gets.take(limit + 1));
    }
    if content.op().owns_regions() {
        found.extend(takers_of_params(body, node, limit));
    }
    if matches!(content.op().code(), Opcode::If | Opcode::Match) {
        let inside = content.regions().iter().flat_map(|region| body.nodes_in(*region));
        found.extend(inside.map(|inner| (inner, Because::Inputs)).take(limit + 1));
    }
    found
}

/// The nodes that take a parameter of a node's regions.
fn takers_of_params(
    body: &Body,
    owner: NodeRef,
    limit: usize,
) -> impl Iterator<Item = (NodeRef, Because)> + '_ {
    let regions = body.node(owner).map_or(&[][..], |content| content.regions());
    let takers = regions.iter().flat_map(|region| uses(body, region.number()));
    takers.filter_map(|edge| Some((edge.to?, Because::Inputs))).take(limit + 1)
}

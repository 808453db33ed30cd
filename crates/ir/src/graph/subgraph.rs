//! Pieces of a program around some nodes.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::function::Body;
use crate::graph::edges::{Edge, EdgeKind, control_in, control_out, data_in, data_out, uses};
use crate::node::Source;
use crate::ops::{Attr, Opcode};
use crate::program::{Place, Program};
use crate::refs::{FuncRef, NodeRef, Ref, RegionRef};

/// A way along edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Against them: where something comes from.
    In,
    /// Along them: where it goes.
    Out,
    /// Either way.
    Both,
}

impl Direction {
    fn goes_in(self) -> bool {
        matches!(self, Direction::In | Direction::Both)
    }

    fn goes_out(self) -> bool {
        matches!(self, Direction::Out | Direction::Both)
    }
}

/// The most hops that a neighbourhood reaches.
pub const MAX_HOPS: u8 = 3;

/// What a neighbourhood takes in.
#[derive(Clone, Copy, Debug)]
pub struct Neighbourhood<'a> {
    /// Where it starts: nodes; of regions, functions and contracts their nodes; of variables and parameters' owners
    /// the nodes that name them.
    pub center: &'a [Ref],
    /// Edges from a center at most; [`MAX_HOPS`] for more.
    pub hops: u8,
    /// Which way.
    pub direction: Direction,
    /// Along edges of these kinds only; both when empty.
    pub kinds: &'a [EdgeKind],
    /// Nodes at most.
    pub max_nodes: usize,
    /// Whether it goes on from a call into the callee, and from parameters and the end of a body to the callers.
    pub cross_calls: bool,
}

/// Nodes with the edges between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subgraph {
    /// The nodes with their functions, the nearest first.
    pub nodes: Vec<(FuncRef, NodeRef)>,
    /// The edges between them, and those that bring them parameters, by the node that names them in the same order.
    pub edges: Vec<Edge>,
    /// Nodes from which an edge leads out of the answer: what to ask for next.
    pub frontier: Vec<NodeRef>,
    /// Whether there was more than the limit.
    pub truncated: bool,
}

/// Nodes found so far, in order.
pub(super) struct Found<'a> {
    program: &'a Program,
    nodes: Vec<(FuncRef, NodeRef)>,
    seen: HashSet<NodeRef, FixedState>,
    limit: usize,
    truncated: bool,
}

impl<'a> Found<'a> {
    pub(super) fn new(program: &'a Program, limit: usize) -> Found<'a> {
        Found { program, nodes: Vec::new(), seen: HashSet::default(), limit, truncated: false }
    }

    /// Takes a node until the limit; `false` when it was one too many.
    pub(super) fn take(&mut self, of: FuncRef, node: NodeRef) -> bool {
        if self.nodes.len() < self.limit {
            if self.seen.insert(node) {
                self.nodes.push((of, node));
            }
            return true;
        }
        let known = self.seen.contains(&node);
        self.truncated |= !known;
        known
    }

    pub(super) fn body(&self, of: FuncRef) -> Option<&'a Body> {
        self.program.function(of).map(|function| function.body())
    }

    /// The edges of some kinds between what was found.
    fn edges(&self, kinds: &[EdgeKind]) -> Vec<Edge> {
        let wanted = |kind: EdgeKind| kinds.is_empty() || kinds.contains(&kind);
        let mut edges = Vec::new();
        let mut bodies = Bodies::new(self.program);
        for (of, node) in &self.nodes {
            let Some(body) = bodies.get(*of) else { continue };
            if wanted(EdgeKind::Data) {
                let known = |edge: &Edge| edge.from.is_none_or(|from| self.seen.contains(&from));
                edges.extend(data_in(body, *node).filter(known));
            }
            if wanted(EdgeKind::Control) {
                let known = |edge: &Edge| edge.to.is_some_and(|to| self.seen.contains(&to));
                edges.extend(control_out(body, *node).filter(known));
            }
        }
        edges
    }

    /// The answer, with the nodes that lead out of it.
    pub(super) fn finish(self, kinds: &[EdgeKind], frontier: Vec<NodeRef>) -> Subgraph {
        let edges = self.edges(kinds);
        Subgraph { nodes: self.nodes, edges, frontier, truncated: self.truncated }
    }

    /// The nodes found, the nearest first.
    pub(super) fn nodes(&self) -> &[(FuncRef, NodeRef)] {
        &self.nodes
    }
}

/// Bodies of functions; neighbours are mostly in the same one.
struct Bodies<'a> {
    program: &'a Program,
    last: Option<(FuncRef, &'a Body)>,
}

impl<'a> Bodies<'a> {
    fn new(program: &'a Program) -> Bodies<'a> {
        Bodies { program, last: None }
    }

    fn get(&mut self, of: FuncRef) -> Option<&'a Body> {
        match self.last {
            Some((last, body)) if last == of => Some(body),
            Some(_) | None => {
                let body = self.program.function(of)?.body();
                self.last = Some((of, body));
                Some(body)
            }
        }
    }
}

type Nodes<'a> = Box<dyn Iterator<Item = (FuncRef, NodeRef)> + 'a>;

/// What lies around some entities, within a number of hops.
pub fn neighbourhood(program: &Program, asked: Neighbourhood<'_>) -> Subgraph {
    let mut found = Found::new(program, asked.max_nodes);
    let mut going = asked
        .center
        .iter()
        .all(|center| center_nodes(program, *center).all(|(of, node)| found.take(of, node)));
    let mut bodies = Bodies::new(program);
    // All neighbours of the nodes before this one are among what was found.
    let mut done = 0;
    for _ in 0..asked.hops.min(MAX_HOPS) {
        let end = found.nodes.len();
        while going && done < end {
            let (of, node) = found.nodes[done];
            going = each_neighbour(&mut bodies, of, node, &asked, &mut |of, other| found.take(of, other));
            done += usize::from(going);
        }
    }
    let mut leads_out = |of, node| {
        !each_neighbour(&mut bodies, of, node, &asked, &mut |_, other| found.seen.contains(&other))
    };
    let frontier = found.nodes[done..].iter().filter(|(of, node)| leads_out(*of, *node));
    let frontier = frontier.map(|(_, node)| *node).collect();
    found.finish(asked.kinds, frontier)
}

fn center_nodes(program: &Program, of: Ref) -> Nodes<'_> {
    fn inside(program: &Program, of: FuncRef) -> Option<&Body> {
        program.function(of).map(|function| function.body())
    }
    let in_region = |of: FuncRef, region: Option<RegionRef>| -> Nodes<'_> {
        let nodes = inside(program, of).zip(region);
        let nodes = nodes.into_iter().flat_map(|(body, region)| body.nodes_in(region));
        Box::new(nodes.map(move |node| (of, node)))
    };
    match program.place(of) {
        Some(Place::Node(of, node)) => Box::new(std::iter::once((of, node))),
        Some(Place::Region(of, region)) => in_region(of, Some(region)),
        Some(Place::Function(of)) => in_region(of, inside(program, of).and_then(Body::root)),
        Some(Place::Contract(of, contract)) => {
            let contract = inside(program, of).and_then(|body| body.contract(contract));
            in_region(of, contract.map(|contract| contract.region))
        }
        Some(Place::Variable(of, variable)) => {
            let users = inside(program, of).into_iter().flat_map(move |b| b.users_of(variable.number()));
            Box::new(users.map(move |one| (of, one.node)))
        }
        Some(Place::Storage(_) | Place::Type(_)) => {
            let users = program.users_of(of).filter_map(|(user, _)| FuncRef::try_from(user).ok());
            Box::new(users.flat_map(move |user| {
                let body = inside(program, user).into_iter();
                body.flat_map(move |body| body.users_of(of.number)).map(move |one| (user, one.node))
            }))
        }
        Some(Place::Module(_) | Place::Member(..)) | None => Box::new(std::iter::empty()),
    }
}

/// Visits the nodes that edges of the wanted kinds join to a node, until the visitor has enough; tells whether it had
/// not.
fn each_neighbour(
    bodies: &mut Bodies<'_>,
    of: FuncRef,
    node: NodeRef,
    asked: &Neighbourhood<'_>,
    visit: &mut impl FnMut(FuncRef, NodeRef) -> bool,
) -> bool {
    let Some(body) = bodies.get(of) else { return true };
    let wanted = |kind: EdgeKind| asked.kinds.is_empty() || asked.kinds.contains(&kind);
    let (goes_in, goes_out) = (asked.direction.goes_in(), asked.direction.goes_out());
    let (data, control) = (wanted(EdgeKind::Data), wanted(EdgeKind::Control));
    let mut here = |other: Option<NodeRef>| other.is_none_or(|other| visit(of, other));
    (!(data && goes_in) || data_in(body, node).all(|edge| here(edge.from)))
        && (!(data && goes_out) || data_out(body, node).all(|edge| here(edge.to)))
        && (!(control && goes_in) || control_in(body, node).all(|edge| here(edge.from)))
        && (!(control && goes_out) || control_out(body, node).all(|edge| here(edge.to)))
        && (!(asked.cross_calls && data)
            || across(bodies.program, of, node, goes_in, goes_out).all(|(of, other)| visit(of, other)))
}

/// The other ends of a call: from the call to the callee's end and the uses of its parameters, and the way back.
///
/// Of several `return`s of a callee only the one at the end of its body is found: the others have no index.
fn across(program: &Program, of: FuncRef, node: NodeRef, goes_in: bool, goes_out: bool) -> Nodes<'_> {
    let none = || -> Nodes<'_> { Box::new(std::iter::empty()) };
    let Some(function) = program.function(of) else { return none() };
    let Some(content) = function.body().node(node) else { return none() };
    let callee = match (content.op().code(), content.op().attr()) {
        (Opcode::Call, Attr::Function(callee)) => Some(*callee),
        (_, _) => None,
    };
    let callee_body = callee.and_then(|callee| Some((callee, program.function(callee)?.body())));
    let ends = callee_body
        .filter(|_| goes_in)
        .and_then(|(callee, body)| Some((callee, body.root().and_then(|root| body.terminator(root))?)));
    let takes = callee_body.filter(|_| goes_out).into_iter().flat_map(|(callee, body)| {
        uses(body, callee.number()).filter_map(move |edge| Some((callee, edge.to?)))
    });
    let takes_param =
        goes_in && content.inputs().iter().flatten().any(|source| matches!(source, Source::Param(..)));
    let returns = goes_out && content.op().code() == Opcode::Return;
    let callers = if takes_param || returns { call_sites(program, of) } else { none() };
    Box::new(ends.into_iter().chain(takes).chain(callers))
}

/// The nodes that call a function, by caller.
pub fn call_sites(program: &Program, of: FuncRef) -> Box<dyn Iterator<Item = (FuncRef, NodeRef)> + '_> {
    let callers = program.users_of(of.into()).filter_map(|(user, _)| FuncRef::try_from(user).ok());
    Box::new(callers.flat_map(move |caller| {
        let body = program.function(caller).map(|function| function.body());
        body.into_iter().flat_map(move |body| {
            let calls = |node: &NodeRef| body.node(*node).is_some_and(|n| n.op().code() == Opcode::Call);
            body.users_of(of.number()).map(|one| one.node).filter(calls).map(move |node| (caller, node))
        })
    }))
}

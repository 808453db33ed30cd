//! Data and control edges of nodes.
//!
//! A data edge is named by its sink, since an input has one source: `n12.in0`. A control edge is named by where it
//! starts: `n12.next`, `n12.enter1`, `n12.exit`, and `n12.exit2` for the third target of a switch.

use std::fmt;
use std::str::FromStr;

use smallvec::SmallVec;

use crate::entities::RegionOwner;
use crate::function::Body;
use crate::node::{Node, Source};
use crate::ops::{Attr, Exit, Opcode};
use crate::refs::{NodeRef, ParseRefError, RegionRef};

/// What an edge carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// A value.
    Data,
    /// Control.
    Control,
}

/// What an edge is, at the node that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Into this input.
    Input(u16),
    /// To the next node of the region.
    Next,
    /// Into this region of the node.
    Enter(u16),
    /// Out of the region: this target of a switch, the only one of other exits.
    Exit(u16),
}

/// The name of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeRef {
    /// The node that names it: the sink of a data edge, the start of a control edge.
    pub node: NodeRef,
    /// Which of its edges.
    pub role: Role,
}

impl fmt::Display for EdgeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            Role::Input(index) => write!(f, "{}.in{index}", self.node),
            Role::Next => write!(f, "{}.next", self.node),
            Role::Enter(index) => write!(f, "{}.enter{index}", self.node),
            Role::Exit(0) => write!(f, "{}.exit", self.node),
            Role::Exit(index) => write!(f, "{}.exit{index}", self.node),
        }
    }
}

impl FromStr for EdgeRef {
    type Err = ParseRefError;

    fn from_str(text: &str) -> Result<EdgeRef, ParseRefError> {
        let malformed = || ParseRefError::Malformed(text.chars().take(40).collect());
        let (node, role) = text.split_once('.').ok_or_else(malformed)?;
        let index = |digits: &str| -> Result<u16, ParseRefError> {
            let canonical = digits == "0" || (!digits.starts_with('0') && !digits.starts_with('+'));
            digits.parse().ok().filter(|_| canonical).ok_or_else(malformed)
        };
        let role = match role {
            "next" => Role::Next,
            "exit" => Role::Exit(0),
            _ => match (role.strip_prefix("in"), role.strip_prefix("enter"), role.strip_prefix("exit")) {
                (Some(digits), ..) => Role::Input(index(digits)?),
                (_, Some(digits), _) => Role::Enter(index(digits)?),
                (.., Some(digits)) => {
                    Role::Exit(Some(index(digits)?).filter(|i| *i > 0).ok_or_else(malformed)?)
                }
                (None, None, None) => return Err(malformed()),
            },
        };
        Ok(EdgeRef { node: node.parse()?, role })
    }
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Its name.
    pub id: EdgeRef,
    /// Where it starts; `None` for the value of a parameter.
    pub from: Option<NodeRef>,
    /// Where it ends; `None` out of the function or a contract, and into an empty region.
    pub to: Option<NodeRef>,
    /// The source of a data edge.
    pub source: Option<Source>,
    /// The region that an edge enters.
    pub region: Option<RegionRef>,
}

impl Edge {
    /// What it carries.
    pub fn kind(&self) -> EdgeKind {
        match self.id.role {
            Role::Input(_) => EdgeKind::Data,
            Role::Next | Role::Enter(_) | Role::Exit(_) => EdgeKind::Control,
        }
    }

    fn data(to: NodeRef, input: u16, source: Source) -> Edge {
        let from = match source {
            Source::Node(node, _) => Some(node),
            Source::RegionParam(..) | Source::Param(..) => None,
        };
        let id = EdgeRef { node: to, role: Role::Input(input) };
        Edge { id, from, to: Some(to), source: Some(source), region: None }
    }

    fn control(from: NodeRef, role: Role, to: Option<NodeRef>, region: Option<RegionRef>) -> Edge {
        Edge { id: EdgeRef { node: from, role }, from: Some(from), to, source: None, region }
    }
}

/// The edges that bring a node its inputs, in their order. Holes have none.
pub fn data_in(body: &Body, node: NodeRef) -> impl Iterator<Item = Edge> + '_ {
    let inputs = body.node(node).into_iter().flat_map(|content| content.inputs().iter());
    inputs.enumerate().filter_map(move |(index, source)| Some(Edge::data(node, index as u16, source?)))
}

/// The edges that take a node's outputs elsewhere, by user and input.
pub fn data_out(body: &Body, node: NodeRef) -> impl Iterator<Item = Edge> + '_ {
    uses(body, node.number())
}

/// The edges that start at a parameter of a region, or of the function, by user and input.
pub fn uses(body: &Body, number: u64) -> impl Iterator<Item = Edge> + '_ {
    body.uses_of(number).filter_map(|one| Some(Edge::data(one.node, one.input?, body.source_of(one)?)))
}

/// Where a node's exits go, in the order of its targets; `None` for a node that is none.
///
/// A `yield` goes to the node that owns its region.
fn exits(body: &Body, content: &Node) -> SmallVec<[Option<NodeRef>; 2]> {
    match content.op().attr() {
        Attr::Exit(target) => [Some(*target)].into_iter().collect(),
        Attr::Switch(targets) => targets.iter().map(|exit: &Exit| exit.target()).collect(),
        _ => match content.op().code() {
            Opcode::Return => [None].into_iter().collect(),
            Opcode::Yield => {
                let owner = body.region(content.region()).map(|region| region.owner);
                [match owner {
                    Some(RegionOwner::Node(owner)) => Some(owner),
                    Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => None,
                }]
                .into_iter()
                .collect()
            }
            _ => SmallVec::new(),
        },
    }
}

/// The control edges that start at a node: to the next one, into its regions, out of its region.
pub fn control_out(body: &Body, node: NodeRef) -> impl Iterator<Item = Edge> + '_ {
    let content = body.node(node);
    let next = content.and_then(|_| body.next(node));
    let next = next.map(|next| Edge::control(node, Role::Next, Some(next), None));
    let regions = content.map_or(&[][..], |content| content.regions());
    let enters = (0u16..).zip(regions).map(move |(index, region)| {
        Edge::control(node, Role::Enter(index), body.nodes_in(*region).next(), Some(*region))
    });
    let exits = content.map_or_else(SmallVec::new, |content| exits(body, content));
    let exits = (0u16..).zip(exits).map(move |(index, to)| Edge::control(node, Role::Exit(index), to, None));
    next.into_iter().chain(enters).chain(exits)
}

/// The control edges that end at a node: from the one before or the owner of its region, then from the ends of its
/// own regions, then from the exits that aim at it.
pub fn control_in(body: &Body, node: NodeRef) -> impl Iterator<Item = Edge> + '_ {
    let before = body.node(node).and_then(|content| match body.previous(node) {
        Some(previous) => Some(Edge::control(previous, Role::Next, Some(node), None)),
        None => match body.region(content.region())?.owner {
            RegionOwner::Node(owner) => {
                let at = body.node(owner)?.regions().iter().position(|of| *of == content.region())?;
                Some(Edge::control(owner, Role::Enter(at as u16), Some(node), Some(content.region())))
            }
            RegionOwner::Function | RegionOwner::Contract(_) => None,
        },
    });
    let regions = body.node(node).map_or(&[][..], |content| content.regions());
    let yields = regions.iter().filter_map(|region| body.last_in(*region));
    let yields = yields.filter(|last| body.node(*last).is_some_and(|n| n.op().code() == Opcode::Yield));
    let yields = yields.map(move |last| Edge::control(last, Role::Exit(0), Some(node), None));
    let aiming = body.users_of(node.number()).filter(|one| one.input.is_none());
    let aiming = aiming.flat_map(move |one| {
        let targets = body.node(one.node).map_or_else(SmallVec::new, |content| exits(body, content));
        let here = (0u16..).zip(targets).filter(move |(_, to)| *to == Some(node));
        here.map(move |(index, to)| Edge::control(one.node, Role::Exit(index), to, None))
    });
    before.into_iter().chain(yields).chain(aiming)
}

/// All edges of a body by the node that names them, from a number on: how listings page.
pub fn edges_from(body: &Body, number: u64) -> impl Iterator<Item = Edge> + '_ {
    body.nodes_from(number).flat_map(|(node, _)| data_in(body, node).chain(control_out(body, node)))
}

/// The edge with a name.
pub fn edge(body: &Body, id: EdgeRef) -> Option<Edge> {
    match id.role {
        Role::Input(index) => {
            let source = body.node(id.node)?.inputs().get(usize::from(index))?;
            Some(Edge::data(id.node, index, source))
        }
        Role::Next | Role::Enter(_) | Role::Exit(_) => control_out(body, id.node).find(|edge| edge.id == id),
    }
}

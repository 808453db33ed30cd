//! Parts of the graph around something.

use std::sync::Arc;

use async_graphql::{Context, Enum, InputObject, Object, Result};
use lmlang_ir::graph::{self, subgraph};
use lmlang_ir::{FuncRef, text};

use crate::direct::Rows;
use crate::error::ApiError;
use crate::schema::defaults::{Both, Int, No, Or, Standard};
use crate::schema::detail::Detail;
use crate::schema::edge::{EdgeKind, FlowEdge};
use crate::schema::function::Function;
use crate::schema::natural::natural;
use crate::schema::node::ComputeNode;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// The most nodes in one answer.
pub(crate) const MOST: usize = 5_000;

/// Which way to follow edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "subgraph::Direction")]
pub enum EdgeDirection {
    /// Against them: where something comes from.
    In,
    /// Along them: where it goes.
    Out,
    /// Either way.
    Both,
}

/// Which way to slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "graph::Slice")]
pub enum SliceDirection {
    /// What a node depends on: values, nodes around it, exits before it that may skip it, and those that start another
    /// round of a loop around it.
    Backward,
    /// What depends on a node: by values, and what stands in the regions of an `if` or `match`; what an exit may skip is
    /// left out.
    Forward,
}

/// What lies around something.
#[derive(Clone, Debug, InputObject)]
pub struct NeighborhoodInput {
    /// Where it starts: refs of nodes, regions, functions, variables, or paths of functions.
    center: Vec<String>,
    /// Edges from the center at most, 3 at most.
    #[graphql(default)]
    hops: Or<Int<1>>,
    /// Which way to follow edges.
    #[graphql(default)]
    direction: Or<Both>,
    /// Along edges of these kinds only; without them, of both.
    kinds: Option<Vec<EdgeKind>>,
    /// Nodes in the answer at most.
    #[graphql(default)]
    max_nodes: Or<Int<200>>,
    /// Whether to go from a call into the callee and from a function to its calls.
    #[graphql(default)]
    cross_calls: Or<No>,
    /// How much `text` says.
    #[graphql(default)]
    detail: Or<Standard>,
}

/// Part of the graph.
#[derive(Clone)]
pub struct Subgraph {
    view: View,
    found: Arc<subgraph::Subgraph>,
    detail: Detail,
}

/// Part of the graph: nodes, the edges between them, and where it goes on.
#[Object]
impl Subgraph {
    /// The nodes, the nearest first.
    async fn nodes(&self) -> Rows<ComputeNode> {
        let node = |(function, node): &(FuncRef, lmlang_ir::NodeRef)| {
            ComputeNode::find(&Function::new(&self.view, *function).ok()?, *node)
        };
        Rows(self.found.nodes.iter().filter_map(node).collect())
    }

    /// The edges between them, and those that bring them parameters.
    async fn edges(&self) -> Rows<FlowEdge> {
        let edge = |edge: &graph::Edge| {
            let owner = self.view.program().function_of(edge.id.node.into())?;
            Some(FlowEdge::new(&Function::new(&self.view, owner).ok()?, *edge))
        };
        Rows(self.found.edges.iter().filter_map(edge).collect())
    }

    /// The nodes as text, a line each, by function.
    async fn text(&self, context: &Context<'_>) -> Option<Result<String>> {
        nullable(self.lines(context).await)
    }

    /// How many nodes there are.
    async fn node_count(&self) -> i32 {
        self.found.nodes.len() as i32
    }

    /// Whether there was more than `maxNodes`.
    async fn truncated(&self) -> bool {
        self.found.truncated
    }

    /// Refs of nodes from which an edge leads out of the answer: what to ask for next.
    async fn frontier(&self, context: &Context<'_>) -> Vec<String> {
        budget::list(context, self.found.frontier.iter().map(ToString::to_string).collect()).await
    }
}

impl Subgraph {
    async fn lines(&self, context: &Context<'_>) -> std::result::Result<String, ApiError> {
        let mut lines = String::new();
        let mut around = None;
        for (function, node) in &self.found.nodes {
            if around != Some(*function) {
                around = Some(*function);
                lines.push_str(&format!("{function} {}\n", self.view.program().path((*function).into())));
            }
            let print = || text::print_node(self.view.program(), *node, self.detail.into());
            let printed = budget::text(context, print).await?;
            lines.push_str("  ");
            lines.push_str(printed.lines().next().unwrap_or_default());
            lines.push('\n');
        }
        Ok(lines)
    }
}

/// How many nodes an answer has at most, by what the caller says and the limit of a name.
pub(super) fn limit(
    which: &'static str,
    max_nodes: i32,
    most: usize,
) -> std::result::Result<usize, ApiError> {
    let limit: usize = natural("maxNodes", max_nodes)?;
    if limit > most { Err(ApiError::limit(which, most as u64, limit as u64)) } else { Ok(limit) }
}

/// What lies around something.
pub(crate) fn neighbourhood(
    view: &View,
    input: NeighborhoodInput,
) -> std::result::Result<Subgraph, ApiError> {
    let hops: u64 = natural("hops", input.hops.0)?;
    let few = u8::try_from(hops).ok().filter(|hops| *hops <= subgraph::MAX_HOPS);
    let hops = few.ok_or_else(|| ApiError::limit("hops", u64::from(subgraph::MAX_HOPS), hops))?;
    let center = input
        .center
        .iter()
        .map(|given| view.entity_named(given))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let kinds: Vec<graph::EdgeKind> = input.kinds.unwrap_or_default().into_iter().map(Into::into).collect();
    let asked = subgraph::Neighbourhood {
        center: &center,
        hops,
        direction: input.direction.0.into(),
        kinds: &kinds,
        max_nodes: limit("maxNodes", input.max_nodes.0, MOST)?,
        cross_calls: input.cross_calls.0,
    };
    let found = Arc::new(subgraph::neighbourhood(view.program(), asked));
    Ok(Subgraph { view: view.clone(), found, detail: input.detail.0 })
}

/// What a node depends on, or what depends on it.
pub(crate) fn slice(
    view: &View,
    node: &str,
    direction: SliceDirection,
    max_nodes: i32,
    detail: Detail,
) -> std::result::Result<Subgraph, ApiError> {
    let (_, of) = view.node_named(node)?;
    let found =
        Arc::new(graph::slice(view.program(), of, direction.into(), limit("maxNodes", max_nodes, MOST)?));
    Ok(Subgraph { view: view.clone(), found, detail })
}

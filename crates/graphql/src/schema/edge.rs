//! Edges, derived from nodes and regions.

use async_graphql::{Enum, Interface, Object};
use lmlang_ir::graph::edges::{self, Edge, EdgeRef, Role};
use lmlang_ir::ops::signature;
use lmlang_ir::{Source, text};

use crate::direct::{Direct, Selected, Writer, leaf, maybe, object, word};
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::function::Function;
use crate::schema::node::{ComputeNode, ValueSource};
use crate::schema::region::Region;
use crate::schema::scalars::Text;
use crate::schema::view::nullable;

/// What an edge carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "edges::EdgeKind")]
pub enum EdgeKind {
    /// A value, from a producer's output to a consumer's input.
    Data,
    /// Control: order, entry and exit of regions.
    Control,
}

/// What a control edge is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum ControlRole {
    /// To the next node of the region.
    Next,
    /// Into a region of the node.
    Enter,
    /// Out of a region.
    Exit,
}

/// An edge between nodes.
#[derive(Clone, Interface)]
#[graphql(field(
    name = "ref",
    method = "reference",
    ty = "String",
    desc = "Its name: `n12.in0`, `n12.next`, `n12.enter1`, `n12.exit`."
))]
#[graphql(field(name = "kind", ty = "EdgeKind", desc = "What it carries."))]
#[graphql(field(
    name = "from",
    ty = "Option<ComputeNode>",
    desc = "Where it starts; null for the value of a parameter."
))]
#[graphql(field(
    name = "to",
    ty = "std::option::Option<ComputeNode>",
    desc = "Where it ends; null out of the function and into an empty region."
))]
pub enum FlowEdge {
    /// A value.
    Data(DataEdge),
    /// Control.
    Control(ControlEdge),
}

impl Listed for FlowEdge {
    const CONNECTION: &'static str = "FlowEdgeConnection";
    const EDGE: &'static str = "FlowEdgeEdge";
}

impl FlowEdge {
    /// An edge as clients see it.
    pub(crate) fn new(function: &Function, edge: Edge) -> FlowEdge {
        match (edge.id.role, edge.source) {
            (Role::Input(port), Some(source)) => {
                FlowEdge::Data(DataEdge { function: function.clone(), edge, port, source })
            }
            (Role::Input(_) | Role::Next | Role::Enter(_) | Role::Exit(_), _) => {
                FlowEdge::Control(ControlEdge { function: function.clone(), edge })
            }
        }
    }
}

/// A value, from a producer's output to a consumer's input.
#[derive(Clone)]
pub struct DataEdge {
    function: Function,
    edge: Edge,
    port: u16,
    source: Source,
}

/// A value, from a producer's output to a consumer's input; named by its sink.
#[Object]
impl DataEdge {
    /// Its name: `n12.in0`.
    #[graphql(name = "ref")]
    pub async fn reference(&self) -> String {
        self.edge.id.to_string()
    }

    /// What it carries.
    pub async fn kind(&self) -> EdgeKind {
        EdgeKind::Data
    }

    /// Where it starts; null for the value of a parameter.
    pub async fn from(&self) -> Option<ComputeNode> {
        self.start()
    }

    /// Where it ends.
    pub async fn to(&self) -> Option<ComputeNode> {
        self.end()
    }

    /// Where the value comes from.
    async fn source(&self) -> Option<async_graphql::Result<ValueSource>> {
        nullable(ValueSource::new(&self.function, self.source))
    }

    /// Which output of the producer; null for a parameter.
    async fn source_port(&self) -> Option<i32> {
        self.edge.from.map(|_| i32::from(self.source.port()))
    }

    /// Which input of the consumer.
    async fn target_port(&self) -> i32 {
        i32::from(self.port)
    }

    /// The type of the value: the producer's.
    async fn value_type(&self) -> Text {
        self.type_text().into()
    }
}

/// Control: order, entry and exit of regions.
#[derive(Clone)]
pub struct ControlEdge {
    function: Function,
    edge: Edge,
}

/// Control: order, entry and exit of regions; derived, so that `moveNode` changes it.
#[Object]
impl ControlEdge {
    /// Its name: `n12.next`, `n12.enter1`, `n12.exit`.
    #[graphql(name = "ref")]
    pub async fn reference(&self) -> String {
        self.edge.id.to_string()
    }

    /// What it carries.
    pub async fn kind(&self) -> EdgeKind {
        EdgeKind::Control
    }

    /// Where it starts.
    pub async fn from(&self) -> Option<ComputeNode> {
        self.start()
    }

    /// Where it ends; null out of the function and into an empty region.
    pub async fn to(&self) -> Option<ComputeNode> {
        self.end()
    }

    /// The region that it leads into.
    async fn to_region(&self) -> Option<Region> {
        self.edge.region.map(|of| Region::new(&self.function, of))
    }

    /// What it is for.
    async fn role(&self) -> ControlRole {
        self.purpose()
    }

    /// Which region of the node, or which target of a switch.
    async fn branch_index(&self) -> Option<i32> {
        match self.edge.id.role {
            Role::Enter(index) | Role::Exit(index) => Some(i32::from(index)),
            Role::Next | Role::Input(_) => None,
        }
    }
}

impl DataEdge {
    fn start(&self) -> Option<ComputeNode> {
        self.edge.from.and_then(|of| ComputeNode::find(&self.function, of))
    }

    fn end(&self) -> Option<ComputeNode> {
        self.edge.to.and_then(|of| ComputeNode::find(&self.function, of))
    }

    fn type_text(&self) -> String {
        let program = self.function.view.program();
        signature::source_type(program, &self.function.function, self.source)
            .map_or_else(|| "unknown".to_owned(), |ty| text::print_type_name(program, None, &ty))
    }
}

impl ControlEdge {
    fn start(&self) -> Option<ComputeNode> {
        self.edge.from.and_then(|of| ComputeNode::find(&self.function, of))
    }

    fn end(&self) -> Option<ComputeNode> {
        self.edge.to.and_then(|of| ComputeNode::find(&self.function, of))
    }

    fn purpose(&self) -> ControlRole {
        match self.edge.id.role {
            Role::Next | Role::Input(_) => ControlRole::Next,
            Role::Enter(_) => ControlRole::Enter,
            Role::Exit(_) => ControlRole::Exit,
        }
    }
}

impl Direct for FlowEdge {
    fn writer(selected: Selected<'_>) -> Option<Writer<FlowEdge>> {
        let data = object(selected, &["DataEdge", "FlowEdge"], |name, inner| match name {
            "ref" => leaf(|edge: &DataEdge, out| out.plain(edge.edge.id)),
            "kind" => leaf(|_: &DataEdge, out| out.plain(word(EdgeKind::Data))),
            "from" => maybe(inner, DataEdge::start),
            "to" => maybe(inner, DataEdge::end),
            "sourcePort" => leaf(|edge: &DataEdge, out| match edge.edge.from {
                Some(_) => out.number(edge.source.port()),
                None => out.null(),
            }),
            "targetPort" => leaf(|edge: &DataEdge, out| out.number(edge.port)),
            "valueType" => leaf(|edge: &DataEdge, out| out.counted(&edge.type_text())),
            _ => None,
        })?;
        let control = object(selected, &["ControlEdge", "FlowEdge"], |name, inner| match name {
            "ref" => leaf(|edge: &ControlEdge, out| out.plain(edge.edge.id)),
            "kind" => leaf(|_: &ControlEdge, out| out.plain(word(EdgeKind::Control))),
            "from" => maybe(inner, ControlEdge::start),
            "to" => maybe(inner, ControlEdge::end),
            "role" => leaf(|edge: &ControlEdge, out| out.plain(word(edge.purpose()))),
            _ => None,
        })?;
        Some(Box::new(move |edge, out| match edge {
            FlowEdge::Data(edge) => data(edge, out),
            FlowEdge::Control(edge) => control(edge, out),
        }))
    }
}

fn page(
    function: &Function,
    page: &PageRequest,
    kind: Option<EdgeKind>,
    total: usize,
    edges: impl Iterator<Item = Edge>,
) -> Result<Connection<FlowEdge>, ApiError> {
    let wanted = edges.filter(|edge| kind.is_none_or(|kind| EdgeKind::from(edge.kind()) == kind));
    let mut rest = wanted;
    if let Some(after) = page.after(place)?
        && !rest.by_ref().any(|edge| edge.id == after)
    {
        return Err(page.invalid());
    }
    let items = rest.map(|edge| (edge.id, FlowEdge::new(function, edge)));
    Ok(Connection::collect(page, total, items))
}

fn place(text: &str) -> Option<EdgeRef> {
    text.parse().ok()
}

fn count(edges: impl Iterator<Item = Edge>, kind: Option<EdgeKind>) -> usize {
    edges.filter(|edge| kind.is_none_or(|kind| EdgeKind::from(edge.kind()) == kind)).count()
}

/// All edges of a function, by the node that names them.
pub(crate) fn all_edges(
    function: &Function,
    request: &PageRequest,
    kind: Option<EdgeKind>,
) -> Result<Connection<FlowEdge>, ApiError> {
    let body = function.function.body();
    let from = request.after(place)?.map_or(0, |after| after.node.number());
    let counts = body.counts();
    let total = match kind {
        Some(EdgeKind::Data) => counts.data_edges,
        Some(EdgeKind::Control) => counts.control_edges,
        None => counts.data_edges + counts.control_edges,
    };
    page(function, request, kind, total as usize, edges::edges_from(body, from))
}

/// The edges that lead to a node.
pub(crate) fn incoming(
    node: &ComputeNode,
    request: &PageRequest,
    kind: Option<EdgeKind>,
) -> Result<Connection<FlowEdge>, ApiError> {
    let body = node.function.function.body();
    let all = || edges::data_in(body, node.of).chain(edges::control_in(body, node.of));
    page(&node.function, request, kind, count(all(), kind), all())
}

/// The edges that come from a node.
pub(crate) fn outgoing(
    node: &ComputeNode,
    request: &PageRequest,
    kind: Option<EdgeKind>,
) -> Result<Connection<FlowEdge>, ApiError> {
    let body = node.function.function.body();
    let all = || edges::data_out(body, node.of).chain(edges::control_out(body, node.of));
    page(&node.function, request, kind, count(all(), kind), all())
}

/// The edges that take the value of a source.
pub(crate) fn uses(
    function: &Function,
    source: Source,
    request: &PageRequest,
) -> Result<Connection<FlowEdge>, ApiError> {
    let body = function.function.body();
    let all = || edges::uses(body, source.number()).filter(move |edge| edge.source == Some(source));
    page(function, request, None, all().count(), all())
}

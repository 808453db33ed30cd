//! `lmlang graph slice` and `lmlang graph neighborhood`: a part of the graph, and where it goes on.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, with_client};
use crate::commands::show::Detail;
use crate::error::Error;
use crate::exit::Exit;
use crate::nodes::Node;
use crate::output::{Output, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which node, and which way.
#[derive(Debug, clap::Args)]
pub(crate) struct SliceArgs {
    /// The program, by name or id.
    program: String,
    /// The node, by ref or path (`module::function::name`).
    node: String,
    /// Which way dependences are followed.
    #[arg(long, value_enum, default_value_t)]
    direction: Dependence,
    #[command(flatten)]
    how: How,
}

/// Around what, and how far.
#[derive(Debug, clap::Args)]
pub(crate) struct NeighborhoodArgs {
    /// The program, by name or id.
    program: String,
    /// Where it starts: nodes, regions, functions, variables, by ref; functions also by path.
    #[arg(required = true)]
    center: Vec<String>,
    /// How many edges from there at most, 3 at most.
    #[arg(long, value_name = "EDGES", default_value_t = 1)]
    hops: u32,
    /// Which way edges are followed.
    #[arg(long, value_enum, default_value_t)]
    direction: Way,
    /// Along edges of this kind only [default: of both].
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Go from a call into the callee, and from a function to its calls.
    #[arg(long)]
    cross_calls: bool,
    #[command(flatten)]
    how: How,
}

/// How much is told, and of which revision.
#[derive(Debug, clap::Args)]
struct How {
    #[command(flatten)]
    view: View,
    /// How much the text says.
    #[arg(long, value_enum, default_value_t = Detail::Standard)]
    detail: Detail,
    /// How many nodes at most.
    #[arg(long, short = 'n', default_value_t = 200, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Which way dependences are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Dependence {
    /// What the node depends on.
    #[default]
    Backward,
    /// What depends on the node.
    Forward,
}

/// Which way edges are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Against them: where something comes from.
    In,
    /// Along them: where it goes.
    Out,
    /// Either way.
    #[default]
    Both,
}

/// What an edge carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A value, from an output to an input.
    Data,
    /// Control: order, entry and exit of regions.
    Control,
}

const SLICE: &str =
    "query($id: ID, $name: String, $at: String, $node: String!, $direction: SliceDirection!, $detail: Detail!,
    $most: Int!) {
  program(id: $id, name: $name, at: $at) {
    part: slice(node: $node, direction: $direction, detail: $detail, maxNodes: $most) { ...Part }
  }
}";

const NEIGHBORHOOD: &str = "query($id: ID, $name: String, $at: String, $input: NeighborhoodInput!) {
  program(id: $id, name: $name, at: $at) { part: neighborhood(input: $input) { ...Part } }
}";

const PART: &str = "fragment Part on Subgraph {
  nodes { ref owner { path } text(detail: SUMMARY) } edges { ref kind from { ref } to { ref } }
  frontier truncated text
}";

#[derive(Debug, Deserialize)]
struct Answer {
    part: Part,
}

/// A part of the graph.
#[derive(Debug, Deserialize)]
struct Part {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    frontier: Vec<String>,
    truncated: bool,
    text: String,
}

/// An edge, and the nodes that it joins.
#[derive(Debug, Deserialize)]
struct Edge {
    #[serde(rename = "ref")]
    of: String,
    kind: String,
    from: Option<End>,
    to: Option<End>,
}

#[derive(Debug, Deserialize)]
struct End {
    #[serde(rename = "ref")]
    of: String,
}

pub(crate) fn slice(args: &SliceArgs, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.how.view.of(&args.program);
    variables["node"] = args.node.clone().into();
    variables["direction"] = match args.direction {
        Dependence::Backward => "BACKWARD",
        Dependence::Forward => "FORWARD",
    }
    .into();
    variables["detail"] = args.how.detail.name().into();
    variables["most"] = args.how.limit.into();
    tell(SLICE, &variables, args.how.limit, settings, output)
}

pub(crate) fn neighborhood(
    args: &NeighborhoodArgs,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let mut variables = args.how.view.of(&args.program);
    variables["input"] = json!({
        "center": args.center,
        "hops": args.hops,
        "direction": match args.direction {
            Way::In => "IN",
            Way::Out => "OUT",
            Way::Both => "BOTH",
        },
        "kinds": args.kind.map(|kind| match kind {
            Kind::Data => ["DATA"],
            Kind::Control => ["CONTROL"],
        }),
        "crossCalls": args.cross_calls,
        "detail": args.how.detail.name(),
        "maxNodes": args.how.limit,
    });
    tell(NEIGHBORHOOD, &variables, args.how.limit, settings, output)
}

/// Asks for a part, and prints it: its nodes on standard output, how it goes on beside them.
fn tell(
    document: &str,
    variables: &Value,
    limit: u32,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let document = format!("{document}\n{PART}");
    let answer: About<Answer> =
        with_client(settings, Missing::Refuse, async |client| client.ask(&document, variables).await)?;
    let part = answer.program.part;
    output.data(&part.json(), || part.text.clone())?;
    let nodes = counted(part.nodes.len() as u64, "node", "nodes");
    let edges = counted(part.edges.len() as u64, "edge", "edges");
    say(format_args!("{nodes}, {edges}"));
    if !part.frontier.is_empty() {
        say(format_args!("edges lead on from {}", part.frontier.join(", ")));
    }
    if part.truncated {
        say(format_args!("the rest is left out; `-n {}` shows more", limit.saturating_mul(2)));
    }
    Ok(Exit::Success)
}

impl Part {
    fn json(&self) -> Value {
        json!({
            "nodes": self.nodes.iter().map(Node::json).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(Edge::json).collect::<Vec<_>>(),
            "frontier": self.frontier,
            "complete": !self.truncated,
            "text": self.text,
        })
    }
}

impl Edge {
    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "kind": self.kind,
            "from": self.from.as_ref().map(|end| &end.of),
            "to": self.to.as_ref().map(|end| &end.of),
        })
    }
}

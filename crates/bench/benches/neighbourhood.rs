//! What lies two edges around a node, as JSON: the domain beside a graph of petgraph's that holds the same, in programs
//! of 1,000 to 1,000,000 nodes of both shapes.
//!
//! Both answer with the nodes and their operators, the edges between them, and the nodes from which more leads on; the
//! answers are compared for every center before anything is timed. Petgraph's graph is built beforehand, and is not
//! kept along with edits, which the domain's is.
//!
//! `cargo xtask bench neighbourhood`

use std::collections::{HashMap, HashSet};
use std::hint::black_box;

use lmlang_bench::process::own_cpu;
use lmlang_bench::report::{Measured, Report, Target};
use lmlang_bench::rounds::{ROUNDS, Series, Spread, orders};
use lmlang_ir::graph::edges::{control_out, data_in};
use lmlang_ir::graph::{Direction, EdgeRef, Neighbourhood, neighbourhood};
use lmlang_ir::{NodeRef, Program, Ref};
use lmlang_testkit::shapes::{self, Shape};
use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;
use serde::{Serialize, Serializer};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const SHAPES: [Shape; 2] = [Shape::ManySmall, Shape::FewLarge];
/// Centers of a round, and how often each is asked about.
const CENTERS: usize = 500;
const TIMES: usize = 20;
const HOPS: u8 = 2;
/// More than any answer has.
const MOST: usize = 100_000;

fn shown<T: std::fmt::Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Node {
    #[serde(rename = "ref", serialize_with = "shown")]
    of: NodeRef,
    op: &'static str,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Edge {
    #[serde(serialize_with = "shown")]
    id: EdgeRef,
    #[serde(serialize_with = "from")]
    from: Option<NodeRef>,
    #[serde(serialize_with = "shown")]
    to: NodeRef,
}

fn from<S: Serializer>(value: &Option<NodeRef>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(node) => to.collect_str(node),
        None => to.serialize_none(),
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Answer {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    #[serde(serialize_with = "all_shown")]
    frontier: Vec<NodeRef>,
}

fn all_shown<S: Serializer>(values: &[NodeRef], to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct One(#[serde(serialize_with = "shown")] NodeRef);
    to.collect_seq(values.iter().map(|node| One(*node)))
}

impl Answer {
    fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an answer has a JSON form")
    }

    /// In an order that does not depend on the way to it.
    fn sorted(mut self) -> Answer {
        self.nodes.sort();
        self.edges.sort();
        self.frontier.sort();
        self
    }
}

/// The domain's answer.
fn ours(program: &Program, center: NodeRef) -> Answer {
    let asked = Neighbourhood {
        center: &[Ref::from(center)],
        hops: HOPS,
        direction: Direction::Both,
        kinds: &[],
        max_nodes: MOST,
        cross_calls: false,
    };
    let found = neighbourhood(program, asked);
    let node = |(of, node): &(lmlang_ir::FuncRef, NodeRef)| {
        let content = program.function(*of)?.body().node(*node)?;
        Some(Node { of: *node, op: content.op().code().mnemonic() })
    };
    let edge = |edge: &lmlang_ir::graph::Edge| Some(Edge { id: edge.id, from: edge.from, to: edge.to? });
    Answer {
        nodes: found.nodes.iter().filter_map(node).collect(),
        edges: found.edges.iter().filter_map(edge).collect(),
        frontier: found.frontier,
    }
}

/// The same as a graph of petgraph's.
struct Peer {
    graph: DiGraph<Weight, EdgeRef>,
    places: HashMap<NodeRef, NodeIndex>,
}

struct Weight {
    of: NodeRef,
    op: &'static str,
    /// Edges that bring it parameters.
    params: Vec<EdgeRef>,
}

impl Peer {
    fn of(program: &Program) -> Peer {
        let mut peer = Peer { graph: DiGraph::new(), places: HashMap::new() };
        for (_, function) in program.functions() {
            for (of, node) in function.body().nodes() {
                let params = data_in(function.body(), of).filter(|edge| edge.from.is_none());
                let params = params.map(|edge| edge.id).collect();
                let weight = Weight { of, op: node.op().code().mnemonic(), params };
                peer.places.insert(of, peer.graph.add_node(weight));
            }
        }
        for (_, function) in program.functions() {
            for (of, _) in function.body().nodes() {
                let edges = data_in(function.body(), of).chain(control_out(function.body(), of));
                for edge in edges {
                    if let (Some(from), Some(to)) = (edge.from, edge.to) {
                        peer.graph.add_edge(peer.places[&from], peer.places[&to], edge.id);
                    }
                }
            }
        }
        peer
    }

    fn answer(&self, center: NodeRef) -> Answer {
        let graph = &self.graph;
        let center = self.places[&center];
        let (mut found, mut seen) = (vec![center], HashSet::from([center]));
        let mut start = 0;
        for _ in 0..HOPS {
            let end = found.len();
            for at in start..end {
                for next in graph.neighbors_undirected(found[at]) {
                    if seen.insert(next) {
                        found.push(next);
                    }
                }
            }
            start = end;
        }
        let node = |at: &NodeIndex| Node { of: graph[*at].of, op: graph[*at].op };
        let mut edges = Vec::new();
        for at in &found {
            let of = graph[*at].of;
            edges.extend(graph[*at].params.iter().map(|id| Edge { id: *id, from: None, to: of }));
            for edge in graph.edges_directed(*at, Outgoing).filter(|edge| seen.contains(&edge.target())) {
                edges.push(Edge { id: *edge.weight(), from: Some(of), to: graph[edge.target()].of });
            }
        }
        let leads_on = |at: &&NodeIndex| {
            let mut next =
                graph.neighbors_directed(**at, Outgoing).chain(graph.neighbors_directed(**at, Incoming));
            next.any(|next| !seen.contains(&next))
        };
        let frontier = found.iter().filter(leads_on).map(|at| graph[*at].of).collect();
        Answer { nodes: found.iter().map(node).collect(), edges, frontier }
    }
}

struct Subject {
    shape: Shape,
    size: usize,
    program: Program,
    peer: Peer,
    centers: Vec<NodeRef>,
    /// Microseconds an answer, by round.
    ours: Vec<f64>,
    theirs: Vec<f64>,
    walk: Vec<f64>,
}

impl Subject {
    fn of(shape: Shape, size: usize) -> Subject {
        let program = shapes::program(shape, size, 1).program;
        let nodes: Vec<NodeRef> =
            program.functions().flat_map(|(_, function)| function.body().nodes().map(|(of, _)| of)).collect();
        let mut series = Series::seeded(2);
        let centers = (0..CENTERS).map(|_| nodes[series.below(nodes.len())]).collect();
        let peer = Peer::of(&program);
        Subject { shape, size, program, peer, centers, ours: vec![], theirs: vec![], walk: vec![] }
    }

    /// Compares the answers; returns how many nodes and bytes one has on average.
    fn compare(&self) -> (f64, f64) {
        let (mut nodes, mut bytes) = (0, 0);
        for center in &self.centers {
            let (own, other) = (ours(&self.program, *center), self.peer.answer(*center));
            nodes += own.nodes.len();
            bytes += own.json().len();
            assert_eq!(own.json().len(), other.json().len(), "{center}");
            assert_eq!(own.sorted(), other.sorted(), "{center}");
        }
        (nodes as f64 / CENTERS as f64, bytes as f64 / CENTERS as f64)
    }

    fn time(&self, mut answer: impl FnMut(NodeRef) -> usize) -> f64 {
        let start = own_cpu();
        for _ in 0..TIMES {
            for center in &self.centers {
                black_box(answer(*center));
            }
        }
        (own_cpu() - start).as_secs_f64() * 1e6 / (TIMES * CENTERS) as f64
    }

    fn take(&mut self, turn: usize) {
        match turn {
            0 => self.ours.push(self.time(|center| ours(&self.program, center).json().len())),
            1 => self.theirs.push(self.time(|center| self.peer.answer(center).json().len())),
            _ => self.walk.push(self.time(|center| ours(&self.program, center).nodes.len())),
        }
    }
}

fn main() -> std::io::Result<()> {
    let subjects = SHAPES.iter().flat_map(|shape| SIZES.iter().map(|size| Subject::of(*shape, *size)));
    let mut subjects: Vec<Subject> = subjects.collect();
    let mut report = Report::of("neighbourhood");
    for subject in &subjects {
        let (nodes, bytes) = subject.compare();
        println!(
            "{:?} {}: {nodes:.1} nodes and {bytes:.0} bytes an answer, the same",
            subject.shape, subject.size
        );
    }
    for order in orders(subjects.len() * 3, ROUNDS + 1, 3) {
        for at in order {
            subjects[at / 3].take(at % 3);
        }
    }
    for subject in &mut subjects {
        // The first round warms up.
        for times in [&mut subject.ours, &mut subject.theirs, &mut subject.walk] {
            times.remove(0);
        }
    }
    for subject in &subjects {
        let name = format!("{:?}, {} nodes", subject.shape, subject.size);
        let ratio = Spread::of_ratio(&subject.ours, &subject.theirs);
        let all = Measured::new(name.clone(), "us CPU an answer", Spread::of(&subject.ours));
        report.add(all.beside("petgraph and serde_json", ratio).target(Target::AtMost(1.5)));
        report.add(Measured::new(
            format!("{name}: without JSON"),
            "us CPU an answer",
            Spread::of(&subject.walk),
        ));
        let small = subjects.iter().find(|other| other.shape == subject.shape && other.size < subject.size);
        if let Some(small) = small {
            let ratio = Spread::of_ratio(&subject.ours, &small.ours);
            let growth =
                Measured::new(format!("{name}: growth"), "us CPU an answer", Spread::of(&subject.ours));
            report.add(growth.beside(format!("{} nodes", small.size), ratio).target(Target::AtMost(2.0)));
        }
    }
    report.publish()
}

//! A planned search finds what trying everything finds.

use std::convert::Infallible;
use std::fmt::Write;

use lmlang_entities::cypher::{self, Limits};
use lmlang_entities::{MemoryGraph, Patch, Stamp};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

const NODES: usize = 4;
const NAMES: [&str; 3] = ["a", "b", "c"];

/// A graph as lists: labels and a property of the nodes, and begin, type and end of the edges.
#[derive(Clone, Debug)]
struct Small {
    nodes: Vec<(&'static str, i64)>,
    edges: Vec<(usize, &'static str, usize)>,
}

fn small() -> impl Strategy<Value = Small> {
    let node = (prop::sample::select(vec!["A", "B"]), 0..2_i64);
    let edge = (0..NODES, prop::sample::select(vec!["R", "S"]), 0..NODES);
    (prop::collection::vec(node, NODES), prop::collection::btree_set(edge, 0..7))
        .prop_map(|(nodes, edges)| Small { nodes, edges: edges.into_iter().collect() })
}

impl Small {
    fn graph(&self, indexed: bool) -> MemoryGraph {
        let name = |node: usize| json!({ "label": self.nodes[node].0, "key": format!("k{node}") });
        let node = |node: usize| {
            let mut spec = name(node);
            spec["props"] = json!({ "x": self.nodes[node].1 });
            json!({ "upsert_node": spec })
        };
        let edge = |(from, relation_type, to): &(usize, &str, usize)| json!({ "upsert_edge": { "from": name(*from), "type": relation_type, "to": name(*to) } });
        let ops: Vec<Json> = (0..NODES).map(node).chain(self.edges.iter().map(edge)).collect();
        let graph = if indexed { MemoryGraph::indexing() } else { MemoryGraph::new() };
        let (mut graph, mut ids) = (graph, 0_u128);
        let patch = Patch::from_ops(&ops).unwrap();
        let made: Result<_, lmlang_entities::PatchError<Infallible>> =
            graph.patch(&patch, Stamp::default(), || {
                ids += 1;
                ids.to_be_bytes()
            });
        made.unwrap();
        graph
    }
}

#[derive(Clone, Debug)]
struct NodePattern {
    /// One of `NAMES`, or none.
    name: Option<usize>,
    label: Option<&'static str>,
    x: Option<i64>,
    key: Option<usize>,
}

#[derive(Clone, Debug)]
struct EdgePattern {
    types: Vec<&'static str>,
    /// To the right, to the left, or either.
    way: u8,
    length: Option<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Query {
    paths: Vec<(NodePattern, Vec<(EdgePattern, NodePattern)>)>,
    /// Two names whose nodes have the same `x`, or do not.
    same: Option<(usize, usize, bool)>,
}

fn node() -> impl Strategy<Value = NodePattern> {
    let name = prop::option::weighted(0.7, 0..NAMES.len());
    let label = prop::option::weighted(0.4, prop::sample::select(vec!["A", "B"]));
    (name, label, prop::option::weighted(0.2, 0..2_i64), prop::option::weighted(0.1, 0..NODES))
        .prop_map(|(name, label, x, key)| NodePattern { name, label, x, key })
}

fn edge() -> impl Strategy<Value = EdgePattern> {
    let types = prop::sample::select(vec![vec![], vec!["R"], vec!["R", "S"]]);
    let length =
        prop::option::weighted(0.3, (0..2_usize, 0..2_usize).prop_map(|(least, more)| (least, least + more)));
    (types, 0..3_u8, length).prop_map(|(types, way, length)| EdgePattern { types, way, length })
}

fn query() -> impl Strategy<Value = Query> {
    let path = (node(), prop::collection::vec((edge(), node()), 0..3));
    let same = prop::option::weighted(0.3, (0..NAMES.len(), 0..NAMES.len(), any::<bool>()));
    (prop::collection::vec(path, 1..3), same).prop_map(|(paths, same)| {
        let query = Query { paths, same: None };
        let names = query.names();
        let same = same.filter(|(a, b, _)| names.contains(a) && names.contains(b));
        Query { same, ..query }
    })
}

impl Query {
    fn nodes(&self) -> impl Iterator<Item = &NodePattern> {
        self.paths
            .iter()
            .flat_map(|(first, rest)| std::iter::once(first).chain(rest.iter().map(|(_, node)| node)))
    }

    fn names(&self) -> Vec<usize> {
        (0..NAMES.len()).filter(|name| self.nodes().any(|node| node.name == Some(*name))).collect()
    }

    fn text(&self) -> String {
        let mut text = "MATCH ".to_owned();
        for (index, (first, rest)) in self.paths.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ", " });
            node_text(first, &mut text);
            for (edge, node) in rest {
                edge_text(edge, &mut text);
                node_text(node, &mut text);
            }
        }
        if let Some((a, b, same)) = self.same {
            write!(text, " WHERE {}.x {} {}.x", NAMES[a], if same { "=" } else { "<>" }, NAMES[b]).unwrap();
        }
        let columns: Vec<String> = self.names().iter().map(|name| format!("{}.key", NAMES[*name])).collect();
        match columns.is_empty() {
            true => text.push_str(" RETURN 1"),
            false => write!(text, " RETURN {}", columns.join(", ")).unwrap(),
        }
        text
    }

    /// Tries every choice of nodes, and then every choice of edges.
    fn tried(&self, graph: &Small) -> Vec<String> {
        let names = self.names();
        // A vertex per name, and one per node without.
        let mut count = names.len();
        let mut vertex = |node: &NodePattern| match node.name {
            Some(name) => names.iter().position(|known| *known == name).unwrap(),
            None => {
                count += 1;
                count - 1
            }
        };
        let (mut nodes, mut links) = (Vec::new(), Vec::new());
        for (first, rest) in &self.paths {
            let mut left = vertex(first);
            nodes.push((left, first));
            for (edge, node) in rest {
                let right = vertex(node);
                nodes.push((right, node));
                links.push((left, edge, right));
                left = right;
            }
        }
        let mut rows = Vec::new();
        for choice in 0..NODES.pow(count as u32) {
            let chosen = |vertex: usize| choice / NODES.pow(vertex as u32) % NODES;
            let fits = nodes.iter().all(|(vertex, pattern)| {
                let node = chosen(*vertex);
                let (label, x) = graph.nodes[node];
                pattern.label.is_none_or(|wanted| wanted == label)
                    && pattern.x.is_none_or(|wanted| wanted == x)
                    && pattern.key.is_none_or(|wanted| wanted == node)
            });
            let x = |name| graph.nodes[chosen(names.iter().position(|known| *known == name).unwrap())].1;
            if !fits || self.same.is_some_and(|(a, b, same)| (x(a) == x(b)) != same) {
                continue;
            }
            let links: Vec<_> =
                links.iter().map(|(from, edge, to)| (chosen(*from), *edge, chosen(*to))).collect();
            let row: Vec<String> =
                (0..names.len()).map(|vertex| format!("\"k{}\"", chosen(vertex))).collect();
            for _ in 0..ways(graph, &links, &mut Vec::new()) {
                rows.push(if row.is_empty() { "1".to_owned() } else { row.join(" ") });
            }
        }
        rows.sort();
        rows
    }
}

/// Counts the choices of edges for links between known nodes, no edge twice.
fn ways(graph: &Small, links: &[(usize, &EdgePattern, usize)], used: &mut Vec<usize>) -> usize {
    let Some(((from, pattern, to), rest)) = links.split_first() else { return 1 };
    let (least, most) = pattern.length.unwrap_or((1, 1));
    walks(graph, pattern, *from, *to, (least, most), rest, used)
}

fn walks(
    graph: &Small,
    pattern: &EdgePattern,
    at: usize,
    to: usize,
    (least, most): (usize, usize),
    rest: &[(usize, &EdgePattern, usize)],
    used: &mut Vec<usize>,
) -> usize {
    let mut count = 0;
    if least == 0 && at == to {
        count += ways(graph, rest, used);
    }
    if most == 0 {
        return count;
    }
    for (index, (begin, relation_type, end)) in graph.edges.iter().enumerate() {
        if used.contains(&index) || !(pattern.types.is_empty() || pattern.types.contains(relation_type)) {
            continue;
        }
        let mut next = Vec::new();
        if pattern.way != 1 && *begin == at {
            next.push(*end);
        }
        // A loop is passed one way only.
        if pattern.way != 0 && *end == at && !(pattern.way == 2 && begin == end) {
            next.push(*begin);
        }
        for next in next {
            used.push(index);
            count += walks(graph, pattern, next, to, (least.saturating_sub(1), most - 1), rest, used);
            used.pop();
        }
    }
    count
}

fn node_text(node: &NodePattern, text: &mut String) {
    let name = node.name.map_or("", |name| NAMES[name]);
    let label = node.label.map_or(String::new(), |label| format!(":{label}"));
    let x = node.x.map(|x| format!("x: {x}"));
    let key = node.key.map(|key| format!("key: 'k{key}'"));
    let props: Vec<String> = x.into_iter().chain(key).collect();
    let props = if props.is_empty() { String::new() } else { format!(" {{{}}}", props.join(", ")) };
    write!(text, "({name}{label}{props})").unwrap();
}

fn edge_text(edge: &EdgePattern, text: &mut String) {
    let types = if edge.types.is_empty() { String::new() } else { format!(":{}", edge.types.join("|")) };
    let length = edge.length.map_or(String::new(), |(least, most)| format!("*{least}..{most}"));
    let (left, right) = [("-", "->"), ("<-", "-"), ("-", "-")][edge.way as usize];
    write!(text, "{left}[{types}{length}]{right}").unwrap();
}

fn planned(query: &str, graph: &MemoryGraph) -> Vec<String> {
    let limits =
        Limits { rows: 1_000_000, result_bytes: usize::MAX, steps: 100_000_000, ..Limits::default() };
    let table = cypher::run(query, &Map::new(), graph, &limits).unwrap();
    let row = |row: &Vec<Json>| row.iter().map(Json::to_string).collect::<Vec<_>>().join(" ");
    let mut rows: Vec<String> = table.rows.iter().map(row).collect();
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn planned_is_tried(graph in small(), query in query(), indexed in any::<bool>()) {
        let text = query.text();
        let rows = planned(&text, &graph.graph(indexed));
        prop_assert_eq!(rows, query.tried(&graph), "{}", text);
    }

    /// An optional match has the rows of a match and, where there are none, one of nulls.
    #[test]
    fn optional_is_match_or_null(graph in small(), query in query()) {
        let graph = graph.graph(false);
        let text = query.text();
        let must = planned(&text, &graph);
        let may = planned(&text.replacen("MATCH", "OPTIONAL MATCH", 1), &graph);
        if must.is_empty() {
            prop_assert_eq!(may.len(), 1);
        } else {
            prop_assert_eq!(may, must);
        }
    }
}

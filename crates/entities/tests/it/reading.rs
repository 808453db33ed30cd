//! Reading a graph: pages, what lies around a node, and a graph that fails or has more than one label.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use lmlang_entities::cypher::{self, Failure, Limits};
use lmlang_entities::props::PropValue;
use lmlang_entities::{
    Edge, Entity, EntityId, EntityRef, Graph, Hop, Key, Label, MemoryGraph, Node, Page, Patch, PatchError,
    Props, Read, Relation, RelationId, RelationType, Stamp, Way, apply, subgraph,
};
use serde_json::{Map, Value as Json, json};

/// A hub with so many nodes around it, and one node beyond each.
fn star(count: usize) -> MemoryGraph {
    let name = |label: &str, key: usize| json!({ "label": label, "key": format!("k{key:04}") });
    let node = |label, key| json!({ "upsert_node": name(label, key) });
    let edge = |from: Json, to: Json| json!({ "upsert_edge": { "from": from, "type": "R", "to": to } });
    let mut ops = vec![node("Hub", 0)];
    for key in 0..count {
        ops.extend([node("Inner", key), node("Outer", key)]);
        ops.extend([edge(name("Hub", 0), name("Inner", key)), edge(name("Outer", key), name("Inner", key))]);
    }
    let (mut graph, mut ids) = (MemoryGraph::new(), 0_u128);
    for ops in ops.chunks(1_000) {
        let made = graph.patch(&Patch::from_ops(ops).unwrap(), Stamp::default(), || {
            ids += 1;
            ids.to_be_bytes()
        });
        made.unwrap();
    }
    graph
}

fn rows<G: Graph<Error: std::fmt::Debug>>(query: &str, graph: &G) -> Vec<Vec<Json>> {
    cypher::run(query, &Map::new(), graph, &Limits::default()).unwrap().rows
}

#[test]
fn pages_join_without_a_seam() {
    let graph = star(600);
    assert_eq!(
        rows("MATCH (n:Inner) RETURN count(DISTINCT n), count(*)", &graph),
        [[json!(600), json!(600)]]
    );
    assert_eq!(rows("MATCH (n) RETURN count(DISTINCT n), count(*)", &graph), [[json!(1201), json!(1201)]]);
    let around = "MATCH (:Hub)-->(n)<--(o:Outer) RETURN count(DISTINCT o), count(*), min(n.key), max(n.key)";
    assert_eq!(rows(around, &graph), [[json!(600), json!(600), json!("k0000"), json!("k0599")]]);
}

/// PUN-39: what lies around a node, nearest first, within its bound.
#[test]
fn a_subgraph_is_what_lies_around() {
    let graph = star(300);
    let around = |hops, most| {
        let found =
            subgraph(&graph, &Label::new("Hub").unwrap(), &Key::new("k0000").unwrap(), hops, most).unwrap();
        let found = found.unwrap();
        assert!(found.nodes.is_sorted_by_key(|(_, distance)| *distance));
        (found.nodes.len(), found.edges.len(), found.truncated)
    };
    assert_eq!(around(0, 1_000), (1, 0, false));
    assert_eq!(around(1, 1_000), (301, 300, false));
    assert_eq!(around(2, 1_000), (601, 600, false));
    assert_eq!(around(9, 1_000), (601, 600, false));
    assert_eq!(around(2, 400), (400, 399, true));
    let nobody = subgraph(&graph, &Label::new("Hub").unwrap(), &Key::new("x").unwrap(), 1, 9).unwrap();
    assert_eq!(nobody, None);
}

/// Two functions, one of which calls the other, as nodes with two labels and without times; one page a node.
struct Virtual;

impl Virtual {
    fn of(which: u8) -> Arc<Node> {
        let labels = ["Function", "Code"].map(|label| Label::new(label).unwrap());
        Arc::new(Node {
            id: EntityId([which; 16]),
            labels: labels.into(),
            key: Key::new(&format!("f{which}")).unwrap(),
            props: Props::from_json(&json!({ "nodes": which })).unwrap(),
            created_at: None,
            updated_at: None,
        })
    }
}

/// That the graph could not be read.
#[derive(Debug, PartialEq)]
struct Gone;

impl Graph for Virtual {
    type Error = Gone;

    fn node(&self, label: &Label, key: &Key) -> Result<Option<Arc<Node>>, Gone> {
        match label.as_str() {
            "Gone" => Err(Gone),
            _ => Ok([1, 2]
                .map(Self::of)
                .into_iter()
                .find(|node| node.key == *key && node.labels.contains(label))),
        }
    }

    fn page(&self, label: Option<&Label>, after: Option<&Node>) -> Result<Page<Arc<Node>>, Gone> {
        let which = if after.is_some() { 2 } else { 1 };
        match label.is_none_or(|label| Self::of(which).labels.contains(label)) {
            true => Ok(Page { items: vec![Self::of(which)], more: which == 1 }),
            false => Ok(Page { items: Vec::new(), more: false }),
        }
    }

    fn hops(&self, of: &Node, way: Way, types: &[RelationType], _: Option<&Hop>) -> Result<Page<Hop>, Gone> {
        let calls = RelationType::new("CALLS").unwrap();
        let there = of.key.as_str() == if way == Way::Out { "f1" } else { "f2" };
        let wanted = types.is_empty() || types.contains(&calls);
        let edge = Edge {
            id: RelationId([0; 16]),
            relation_type: calls,
            props: Props::default(),
            created_at: None,
            updated_at: None,
        };
        let other = Self::of(if way == Way::Out { 2 } else { 1 });
        let hop = (there && wanted).then(|| Hop { edge: Arc::new(edge), other });
        Ok(Page { items: hop.into_iter().collect(), more: false })
    }

    fn is_indexed(&self, _: &Label, _: &str) -> bool {
        false
    }

    fn equal(
        &self,
        _: &Label,
        _: &[(&str, PropValue)],
        _: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Gone> {
        Ok(None)
    }

    fn estimate_equal(&self, _: &Label, _: &str, _: &PropValue) -> Result<Option<u64>, Gone> {
        Ok(None)
    }

    fn estimate(&self, _: Option<&Label>) -> Result<u64, Gone> {
        Ok(2)
    }
}

#[test]
fn what_is_no_entity_can_be_a_node() {
    let query =
        "MATCH (f:Function)-[:CALLS]->(g:Code {key: 'f2'}) RETURN f.key, labels(g), g.nodes, g.created_at";
    assert_eq!(rows(query, &Virtual), [[json!("f1"), json!(["Function", "Code"]), json!(2), json!(null)]]);
    assert_eq!(rows("MATCH (f:Code:Function) RETURN f.key", &Virtual), [[json!("f1")], [json!("f2")]]);
    assert_eq!(rows("MATCH (f:Code)--(g) RETURN f.key, g.key", &Virtual).len(), 2);
}

/// PUN-62: that a graph could not be read is an error of its own.
#[test]
fn a_graph_can_fail() {
    let failed = cypher::run("MATCH (n:Gone {key: 'a'}) RETURN n", &Map::new(), &Virtual, &Limits::default());
    assert_eq!(failed, Err(Failure::Graph(Gone)));
    assert_eq!(failed.unwrap_err().code(), "CYPHER_GRAPH_UNREADABLE");
    let patch = Patch::from_ops(&[json!({ "upsert_node": { "label": "A", "key": "a" } })]).unwrap();
    let refused = apply(&Counted { graph: None, reads: Cell::new(0) }, &patch, Stamp::default(), || [0; 16]);
    assert_eq!(refused, Err(PatchError::Graph(Gone)));
    assert_eq!(refused.unwrap_err().code(), "ENTITY_GRAPH_UNREADABLE");
}

/// A graph whose rows are counted as they are read; without one, reading fails.
struct Counted<'a> {
    graph: Option<&'a MemoryGraph>,
    reads: Cell<usize>,
}

impl Counted<'_> {
    fn count<T>(&self, rows: impl FnOnce(&MemoryGraph) -> (T, usize)) -> Result<T, Gone> {
        let (rows, count) = rows(self.graph.ok_or(Gone)?);
        self.reads.set(self.reads.get() + count);
        Ok(rows)
    }
}

impl Read for Counted<'_> {
    type Error = Gone;

    fn entity(&self, name: &EntityRef) -> Result<Option<Entity>, Gone> {
        self.count(|graph| (graph.entity(name).unwrap(), 1))
    }

    fn relation(
        &self,
        from: EntityId,
        relation_type: &RelationType,
        to: EntityId,
    ) -> Result<Option<Relation>, Gone> {
        self.count(|graph| (graph.relation(from, relation_type, to).unwrap(), 1))
    }

    fn relations_of(&self, id: EntityId) -> Result<Vec<Relation>, Gone> {
        self.count(|graph| {
            let relations = graph.relations_of(id).unwrap();
            let count = relations.len();
            (relations, count)
        })
    }
}

/// PUN-40: what a patch costs follows from what it names, however large the graph is.
#[test]
fn a_patch_reads_what_it_names() {
    let graph = star(400);
    let name = |label: &str, key: usize| json!({ "label": label, "key": format!("k{key:04}") });
    let edge = |from: Json, to: Json| json!({ "upsert_edge": { "from": from, "type": "S", "to": to } });
    let mut deleted = name("Inner", 7);
    deleted["detach"] = json!(true);
    for (op, most) in [
        (json!({ "upsert_node": name("Inner", 3) }), 1),
        (json!({ "upsert_node": name("New", 3) }), 1),
        (edge(name("Hub", 0), name("Outer", 3)), 3),
        (json!({ "delete_node": deleted }), 1 + 2),
    ] {
        // The same thing again is not read again.
        let patch = Patch::from_ops(&[op.clone(), op]).unwrap();
        let counted = Counted { graph: Some(&graph), reads: Cell::new(0) };
        let (changes, _) = apply(&counted, &patch, Stamp::default(), || [9; 16]).unwrap();
        assert!(counted.reads.get() <= most, "{} rows were read for {changes:?}", counted.reads.get());
    }
}

/// A graph without nodes that knows two properties, and tells what it was asked for. It says that it has 9,000 nodes of `A`, 5,000 of
/// which have a `y` of 1, and 1,000 of each other label.
#[derive(Default)]
struct Indexed {
    asked: RefCell<Vec<String>>,
    /// How often it was asked how many there are.
    counted: Cell<usize>,
}

impl Graph for Indexed {
    type Error = Gone;

    fn node(&self, _: &Label, _: &Key) -> Result<Option<Arc<Node>>, Gone> {
        Ok(None)
    }

    fn page(&self, label: Option<&Label>, _: Option<&Node>) -> Result<Page<Arc<Node>>, Gone> {
        let label = label.map_or(String::new(), |label| format!(" of {label}"));
        self.asked.borrow_mut().push(format!("a scan{label}"));
        Ok(Page { items: Vec::new(), more: false })
    }

    fn hops(&self, _: &Node, _: Way, _: &[RelationType], _: Option<&Hop>) -> Result<Page<Hop>, Gone> {
        Ok(Page { items: Vec::new(), more: false })
    }

    fn is_indexed(&self, label: &Label, prop: &str) -> bool {
        label.as_str() == "A" && (prop == "x" || prop == "y")
    }

    fn equal(
        &self,
        label: &Label,
        props: &[(&str, PropValue)],
        _: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Gone> {
        let props: Vec<String> =
            props.iter().map(|(prop, value)| format!("{prop}={}", value.to_json())).collect();
        self.asked.borrow_mut().push(format!("{label} {}", props.join(" ")));
        Ok(Some(Page { items: Vec::new(), more: false }))
    }

    fn estimate_equal(&self, _: &Label, prop: &str, value: &PropValue) -> Result<Option<u64>, Gone> {
        self.counted.set(self.counted.get() + 1);
        Ok((prop == "y" && *value == PropValue::Int(1)).then_some(5_000))
    }

    fn estimate(&self, label: Option<&Label>) -> Result<u64, Gone> {
        self.counted.set(self.counted.get() + 1);
        Ok(if label.is_some_and(|label| label.as_str() != "A") { 1_000 } else { 9_000 })
    }
}

/// An index is asked once, about all that is known by then, and not about what nothing equals, nor where there are fewer nodes
/// of another label.
#[test]
fn an_index_is_asked_about_all_that_is_known() {
    for (query, asked) in [
        ("MATCH (n:A {x: 1}) WHERE n.z = 3 AND 'b' = n.y RETURN n", vec!["A x=1 y=\"b\""]),
        ("MATCH (n:A:B {x: 1, z: 2}) RETURN n", vec!["A x=1"]),
        ("UNWIND [1, null, [2]] AS x MATCH (n:A {x: x}) RETURN n", vec!["A x=1", "a scan of A"]),
        ("MATCH (n:A {x: 1, key: 'k'}) RETURN n", vec![]),
        ("MATCH (n:B {x: 1}) RETURN n", vec!["a scan of B"]),
        ("MATCH (n:A) WHERE n.x = n.y RETURN n", vec!["a scan of A"]),
        ("MATCH (a:A {y: 2})-->(b:B) RETURN a", vec!["A y=2"]),
        ("MATCH (a:A {y: 1})-->(b:B) RETURN a", vec!["a scan of B"]),
        ("MATCH (a:A {y: 1, x: 1})-->(b:B) RETURN a", vec!["A y=1 x=1"]),
    ] {
        let graph = Indexed::default();
        assert_eq!(rows(query, &graph), Vec::<Vec<Json>>::new());
        assert_eq!(graph.asked.into_inner(), asked, "{query}");
    }
}

/// Nodes are counted where it can be chosen with which a search begins, each label and value once.
#[test]
fn what_there_is_is_counted_for_a_choice() {
    for (query, counted) in [
        ("MATCH (n:A {x: 1, y: 2}) RETURN n", 0),
        ("MATCH (n) RETURN n", 0),
        ("MATCH (n:A) MATCH (m:B {x: 1}) RETURN n", 0),
        ("MATCH (n:A {x: 1})-->(m:B) RETURN n", 3),
        ("MATCH (n:A {x: 1})-->(m:A {x: 1})-->(:A {z: 1}) RETURN n", 2),
        ("MATCH (n:A)-->() RETURN n", 2),
        ("MATCH (n:A) WHERE EXISTS { (n)-->(:B) } RETURN n", 0),
        ("MATCH (n:A:B) RETURN n", 2),
    ] {
        let graph = Indexed::default();
        assert_eq!(rows(query, &graph), Vec::<Vec<Json>>::new());
        assert_eq!(graph.counted.get(), counted, "{query}");
    }
}

/// Of many nodes with a value all are found, in the order of their keys, and as soon as there are enough no more are looked at.
#[test]
fn what_an_index_knows_comes_in_pages() {
    let (mut graph, mut ids) = (MemoryGraph::indexing(), 0_u128);
    let node = |key: usize| {
        let props = json!({ "even": key.is_multiple_of(2), "n": key });
        json!({ "upsert_node": { "label": "A", "key": format!("k{key:04}"), "props": props } })
    };
    let ops: Vec<Json> = (0..1_000).map(node).collect();
    let made = graph.patch(&Patch::from_ops(&ops).unwrap(), Stamp::default(), || {
        ids += 1;
        ids.to_be_bytes()
    });
    made.unwrap();
    let even = rows("MATCH (n:A {even: true}) RETURN n.key", &graph);
    assert_eq!(even, (0..500).map(|key| vec![json!(format!("k{:04}", key * 2))]).collect::<Vec<_>>());
    let few = Limits { steps: 200, ..Limits::default() };
    for (query, count) in [
        ("MATCH (n:A {even: true}) RETURN n.key LIMIT 3", 3),
        ("MATCH (n:A {even: true, n: 8}) RETURN n.key", 1),
        ("MATCH (n:A {n: 3.0}) RETURN n.key", 1),
        ("MATCH (n:A {n: '3'}) RETURN n.key", 0),
        ("MATCH (n:A {other: 3}) RETURN n.key", 0),
    ] {
        assert_eq!(cypher::run(query, &Map::new(), &graph, &few).unwrap().rows.len(), count, "{query}");
    }
}

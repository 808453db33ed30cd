//! A node that very many others use.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::world::World;

/// Uses of the hub.
const USES: usize = 10_000;

/// Edges of a page; does not divide the number of uses.
const PAGE: usize = 999;

/// A function in which one value is used by all others.
fn text() -> String {
    let mut text = "module hub\nfunc f (n: i64) -> (i64) pure {\n  hub = mul.i64 n, n\n".to_owned();
    for at in 0..USES {
        writeln!(text, "  u{at} = clz.i64 hub").expect("a string takes everything");
    }
    text + "  return n\n}\n"
}

/// The refs of all edges of a list, page by page, and what it says about itself.
async fn pages(world: &World, list: &str) -> (Vec<String>, u64, usize) {
    let (mut found, mut after, mut count) = (Vec::new(), Value::Null, 0);
    let query = format!(
        "query($first: Int!, $after: String) {{ program(name: \"hub\") {{
            search(filter: {{opcode: [MUL]}}, first: 1) {{ nodes {{ {list} }} }}
        }} }}",
    );
    loop {
        let data = world.data(&query, json!({"first": PAGE, "after": after})).await;
        let hub = &data["program"]["search"]["nodes"][0];
        let page = if hub["outputs"].is_array() { &hub["outputs"][0]["uses"] } else { &hub["outgoing"] };
        let nodes = page["nodes"].as_array().expect("there is a page");
        assert!(nodes.len() == PAGE || page["pageInfo"]["hasNextPage"] == false, "a page is short");
        assert_eq!(page["pageInfo"]["hasPreviousPage"], count > 0);
        found.extend(nodes.iter().map(|node| node["ref"].as_str().expect("an edge has a ref").to_owned()));
        count += 1;
        if page["pageInfo"]["hasNextPage"] == false {
            return (found, page["totalCount"].as_u64().expect("it counts"), count);
        }
        after = page["pageInfo"]["endCursor"].clone();
        assert!(count <= USES / PAGE + 2, "the pages do not end");
    }
}

const LIST: &str = "nodes { ref } totalCount pageInfo { hasNextPage hasPreviousPage endCursor }";

#[tokio::test]
async fn a_hub_answers_in_pages() {
    let world = World::empty().await;
    world.create("hub", &text()).await;
    for (list, edges) in [
        (format!("outputs {{ uses(first: $first, after: $after) {{ {LIST} }} }}"), USES),
        (format!("outgoing(first: $first, after: $after, kind: DATA) {{ {LIST} }}"), USES),
        // And the control edge to the next node.
        (format!("outgoing(first: $first, after: $after) {{ {LIST} }}"), USES + 1),
    ] {
        let (found, total, pages) = pages(&world, &list).await;
        assert_eq!((found.len(), total), (edges, edges as u64), "{list}");
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), edges, "{list}: an edge comes twice");
        assert_eq!(pages, edges.div_ceil(PAGE), "{list}");
    }
    // Without an end to the list, the hub is cheap to ask for, and its neighbourhood says that there is more.
    let query = r#"{ program(name: "hub") { search(filter: {opcode: [MUL]}, first: 1) { nodes { ref outputs { uses(first: 1) { totalCount nodes { to { op } } } } } }
        neighborhood(input: {center: ["hub::f"], maxNodes: 50}) { nodeCount truncated } } }"#;
    let data = world.data(query, json!({})).await;
    assert_eq!(data["program"]["search"]["nodes"][0]["outputs"][0]["uses"]["totalCount"], USES);
    assert_eq!(data["program"]["neighborhood"], json!({"nodeCount": 50, "truncated": true}));
}

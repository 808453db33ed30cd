//! Lists that are written straight into the answer say what the library would have said.

use serde_json::json;

use crate::world::{World, ask};

/// Asks a query twice: as it stands, and with a directive that changes nothing but leaves the list to the library.
/// `here` marks the field of the list that gets it.
async fn check(world: &World, query: &str) {
    let direct = ask(&world.executor, &query.replace("@here", ""), json!({})).await;
    let library = ask(&world.executor, &query.replace("@here", "@include(if: true)"), json!({})).await;
    assert!(query.contains("@here") && direct.get("errors").is_none(), "{query}: {direct}");
    assert_eq!(direct.to_string(), library.to_string(), "{query}");
}

#[tokio::test]
async fn the_answers_are_the_same() {
    let world = World::new().await;
    let function = |of: &str, fields: &str| {
        format!(r#"{{ program(name: "world") {{ function(name: "world::{of}") {{ {fields} }} }} }}"#)
    };
    let nodes = "id ref op opcode label doc index effect __typename \
                 owner { id ref name path visibility effectBound doc signature verified complete contentHash } \
                 region { id ref owner { name } } \
                 inputs { index name expectedType hole { expectedType } \
                   source { __typename ... on NodeOutput { node { ref } port type } \
                     ... on ParamSource { param { name type index } type } \
                     ... on RegionParamSource { regionParam { name type index region { ref } } type } } } \
                 outputs { index type }";
    for of in ["total", "far", "open"] {
        check(
            &world,
            &function(
                of,
                &format!("nodes {{ nodes {{ ref @here {nodes} }} }}")
                    .replace("ref @here id ref", "id ref @here"),
            ),
        )
        .await;
        check(&world, &function(of, "nodes { edges { cursor @here node { ref op } } totalCount }")).await;
        let edges = "edges { nodes { ref @here kind from { ref } to { ref } __typename \
                     ... on DataEdge { sourcePort targetPort valueType } ... on ControlEdge { role } } }";
        check(&world, &function(of, edges)).await;
        check(&world, &function(of, "regions { nodes { ref @here id } }")).await;
    }
    let functions = "functions { nodes { ref @here id name path visibility effectBound doc signature verified \
                     complete contentHash } }";
    check(&world, &format!(r#"{{ program(name: "world") {{ {functions} }} }}"#)).await;
    let around = r#"neighborhood(input: { center: ["world::far"], hops: 2 }) {
        nodes { ref @here op } edges { ref kind } nodeCount }"#;
    check(&world, &format!(r#"{{ program(name: "world") {{ {around} }} }}"#)).await;
    let trace = r#"simulate(input: { args: ["i64:3"] }) { steps trace(first: 1000) {
        steps { seq @here frame function region node op inputs outputs note } nextSeq recorded } }"#;
    check(&world, &function("total", trace)).await;
}

#[tokio::test]
async fn fragments_and_aliases_are_followed() {
    let world = World::new().await;
    let query = r#"
        query { program(name: "world") { function(name: "world::total") { nodes(first: 3) { nodes { ...Shown again: op @here } } } } }
        fragment Shown on ComputeNode { ref ... on Node { id } ... { what: opcode inputs { ...Port } } }
        fragment Port on InputPort { at: index source { ... on NodeOutput { node { ref } } __typename } }"#;
    check(&world, query).await;
}

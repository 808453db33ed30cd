//! Everything is described, and what the schema's descriptions show can be written as it stands there.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{FieldDefinition, TypeKind, TypeSystemDefinition};
use serde_json::json;

use crate::world::World;

/// Whether there are words.
fn says(description: Option<&str>) -> bool {
    description.is_some_and(|words| !words.trim().is_empty())
}

#[test]
fn everything_has_a_description() {
    let mut silent = Vec::new();
    let mut look = |place: String, description: Option<&str>| {
        if !says(description) {
            silent.push(place);
        }
    };
    let document = parse_schema(lmlang_graphql::schema::sdl()).expect("the schema's text parses");
    for definition in document.definitions {
        let TypeSystemDefinition::Type(definition) = definition else { continue };
        let definition = definition.node;
        let owner = definition.name.node.as_str();
        look(owner.to_owned(), definition.description.as_ref().map(|words| words.node.as_str()));
        let mut fields: Vec<FieldDefinition> = Vec::new();
        match definition.kind {
            TypeKind::Object(object) => fields.extend(object.fields.into_iter().map(|field| field.node)),
            TypeKind::Interface(interface) => {
                fields.extend(interface.fields.into_iter().map(|field| field.node));
            }
            TypeKind::InputObject(object) => {
                for field in object.fields {
                    let words = field.node.description.as_ref().map(|words| words.node.as_str());
                    look(format!("{owner}.{}", field.node.name.node), words);
                }
            }
            TypeKind::Enum(values) => {
                for value in values.values {
                    let words = value.node.description.as_ref().map(|words| words.node.as_str());
                    look(format!("{owner}.{}", value.node.value.node), words);
                }
            }
            TypeKind::Scalar | TypeKind::Union(_) => {}
        }
        for field in fields {
            let place = format!("{owner}.{}", field.name.node);
            for argument in &field.arguments {
                let words = argument.node.description.as_ref().map(|words| words.node.as_str());
                look(format!("{place}({})", argument.node.name.node), words);
            }
            look(place, field.description.as_ref().map(|words| words.node.as_str()));
        }
    }
    assert!(silent.is_empty(), "{} have no description: {silent:?}", silent.len());
}

/// The description of a type.
fn description(of: &str) -> String {
    let sdl = lmlang_graphql::schema::sdl();
    let before = sdl.split_once(&format!("\n{of}")).expect("it is in the schema").0;
    before.rsplit("\"\"\"").nth(1).expect("it has a description of several lines").to_owned()
}

#[tokio::test]
async fn the_text_of_the_description_is_a_program() {
    let described = description("input AddText");
    let text = described.split_once("```text\n").expect("there is a text").1;
    let text = text.split_once("```").expect("it ends").0;
    let world = World::empty().await;
    world.create("d", text).await;
    let query = r#"{ program(name: "d") {
        diagnostics { totalCount }
        function(name: "area") { simulate(input: {args: ["Shape.box(3)", 2]}) { outcome { ... on Returned { values } } } }
    } }"#;
    let found = world.data(query, json!({})).await;
    assert_eq!(found["program"]["diagnostics"]["totalCount"], 0, "{text}");
    assert_eq!(found["program"]["function"]["simulate"]["outcome"]["values"], json!(["i64:18"]));
}

#[tokio::test]
async fn the_values_of_the_description_are_values() {
    let world = World::empty().await;
    let shown = description("scalar Value");
    let values = [
        ("i64", "i64:5"),
        ("i64", "5"),
        ("f64", "f64:nan"),
        ("bool", "bool:true"),
        ("unit", "unit"),
        ("string", "\"text\""),
        ("bytes", "b\"bytes\""),
        ("array<i32>", "[i32: 1, 2]"),
        ("array<i32>", "[1, 2]"),
        ("Point", "Point{x: 1, y: 2}"),
        ("Shape", "Shape.dot"),
        ("Shape", "dot"),
        ("Shape", "Shape.box(3)"),
        ("option<i64>", "option<i64>.some(1)"),
        ("option<i64>", "some(1)"),
        ("box<i64>", "box<i64>(1)"),
    ];
    for (index, (ty, value)) in values.into_iter().enumerate() {
        assert!(shown.contains(&format!("`{value}`")), "{value} in {shown}");
        let text = format!(
            "module m\ntype Point = struct {{ x: i64, y: i64 }}\ntype Shape = enum {{ dot, box(i64) }}\n\
             func same (x: {ty}) -> ({ty}) pure {{ return x }}"
        );
        let program = format!("v{index}");
        world.create(&program, &text).await;
        let query =
            "query($program: String!, $value: Value!) { program(name: $program) { function(name: \"same\") {
            simulate(input: {args: [$value]}) { outcome { __typename } }
        } } }";
        let answer = world.data(query, json!({ "program": program, "value": value })).await;
        assert_eq!(answer["program"]["function"]["simulate"]["outcome"]["__typename"], "Returned", "{value}");
    }
}

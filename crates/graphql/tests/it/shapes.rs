//! Fields that several members of a union or interface have, so that any selection of them merges.

use std::collections::BTreeMap;

use async_graphql::parser::types::FieldDefinition;

use crate::sdl::Sdl;

/// A field's type, nullability and arguments.
fn shape(field: &FieldDefinition) -> String {
    let mut arguments: Vec<String> = field
        .arguments
        .iter()
        .map(|one| {
            let default = one.node.default_value.as_ref().map(|value| format!(" = {}", value.node));
            format!("{}: {}{}", one.node.name.node, one.node.ty.node, default.unwrap_or_default())
        })
        .collect();
    arguments.sort_unstable();
    format!("({}): {}", arguments.join(", "), field.ty.node)
}

/// The fields that members of one union or interface have in different shapes.
fn different(sdl: &Sdl) -> Vec<String> {
    let mut found = Vec::new();
    for (whole, members) in &sdl.members {
        // What implements `Node` is anything with an id.
        if whole == "Node" {
            continue;
        }
        let mut shapes: BTreeMap<&str, (&str, String)> = BTreeMap::new();
        for member in members {
            for (name, field) in &sdl.objects[member] {
                let shape = shape(field);
                let (first, before) = shapes.entry(name).or_insert_with(|| (member, shape.clone()));
                if *before != shape {
                    found.push(format!("{whole}: {name} is {before} in {first} and {shape} in {member}"));
                }
            }
        }
    }
    found
}

#[test]
fn shared_fields_have_one_shape() {
    let sdl = Sdl::read();
    let wholes: Vec<&String> = sdl.members.keys().collect();
    for expected in [
        "FlowEdge",
        "Node",
        "Outcome",
        "ProgramEvent",
        "ProposeEditOutcome",
        "RevisionOutcome",
        "ValueSource",
    ] {
        assert!(wholes.iter().any(|whole| *whole == expected), "{expected} is not looked at");
    }
    assert_eq!(different(&sdl), Vec::<String>::new());
}

/// The check itself: it finds a field that differs.
#[test]
fn a_field_of_two_shapes_is_found() {
    let mut sdl = Sdl::read();
    let other = sdl.objects["PageInfo"]["hasNextPage"].clone();
    let fields = sdl.objects.get_mut("Trapped").expect("it is an outcome");
    fields.insert("message".to_owned(), other);
    let found = different(&sdl);
    assert!(found.iter().any(|one| one.starts_with("Outcome: message is")), "{found:?}");
}

//! What has a default takes null for it, wherever it is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, Type, TypeKind, TypeSystemDefinition,
};
use serde_json::json;

use crate::sdl::bottom;
use crate::world::World;

#[derive(Default)]
struct Schema {
    fields: BTreeMap<String, Vec<FieldDefinition>>,
    /// Interfaces and unions.
    members: BTreeMap<String, Vec<String>>,
    inputs: BTreeMap<String, Vec<InputValueDefinition>>,
    one_of: BTreeSet<String>,
    enums: BTreeMap<String, String>,
}

impl Schema {
    fn read() -> Schema {
        let mut schema = Schema::default();
        let document = parse_schema(lmlang_graphql::schema::sdl()).expect("the schema's text parses");
        for definition in document.definitions {
            let TypeSystemDefinition::Type(definition) = definition else { continue };
            let name = definition.node.name.node.to_string();
            if definition.node.directives.iter().any(|directive| directive.node.name.node == "oneOf") {
                schema.one_of.insert(name.clone());
            }
            match definition.node.kind {
                TypeKind::Object(object) => {
                    for interface in object.implements {
                        let members = schema.members.entry(interface.node.to_string()).or_default();
                        members.push(name.clone());
                    }
                    schema.fields.insert(name, object.fields.into_iter().map(|field| field.node).collect());
                }
                TypeKind::Interface(interface) => {
                    schema
                        .fields
                        .insert(name, interface.fields.into_iter().map(|field| field.node).collect());
                }
                TypeKind::Union(union) => {
                    let members = union.members.iter().map(|member| member.node.to_string());
                    schema.members.entry(name).or_default().extend(members);
                }
                TypeKind::InputObject(input) => {
                    schema.inputs.insert(name, input.fields.into_iter().map(|field| field.node).collect());
                }
                TypeKind::Enum(values) => {
                    schema.enums.insert(name, values.values[0].node.value.node.to_string());
                }
                TypeKind::Scalar => {}
            }
        }
        schema
    }

    /// A field with its arguments: those that it needs, those of input objects, and null for each that has a default.
    fn field(&self, owner: &str, field: &FieldDefinition, nulls: &mut BTreeSet<String>) -> String {
        let mut given = Vec::new();
        for argument in field.arguments.iter().map(|argument| &argument.node) {
            let place = format!("{owner}.{}({})", field.name.node, argument.name.node);
            given.extend(self.given(argument, &place, nulls, &mut Vec::new()));
        }
        match given.is_empty() {
            true => field.name.node.to_string(),
            false => format!("{}({})", field.name.node, given.join(", ")),
        }
    }

    fn given(
        &self,
        definition: &InputValueDefinition,
        place: &str,
        nulls: &mut BTreeSet<String>,
        open: &mut Vec<String>,
    ) -> Option<String> {
        let ty = &definition.ty.node;
        let value = if definition.default_value.is_some() && ty.nullable {
            nulls.insert(place.to_owned());
            "null".to_owned()
        } else if !ty.nullable || self.inputs.contains_key(bottom(ty)) {
            self.value(ty, nulls, open)?
        } else {
            return None;
        };
        Some(format!("{}: {value}", definition.name.node))
    }

    /// A value of a type; none inside of itself.
    fn value(&self, ty: &Type, nulls: &mut BTreeSet<String>, open: &mut Vec<String>) -> Option<String> {
        let name = match &ty.base {
            BaseType::List(of) if self.one_of.contains(bottom(of)) => {
                return Some(self.all(bottom(of), nulls, open));
            }
            BaseType::List(of) => return Some(format!("[{}]", self.value(of, nulls, open)?)),
            BaseType::Named(name) => name.to_string(),
        };
        let Some(fields) = self.inputs.get(&name) else {
            return Some(match (name.as_str(), self.enums.get(&name)) {
                (_, Some(first)) => first.clone(),
                ("Int" | "Count" | "Float", None) => "1".to_owned(),
                ("Boolean", None) => "true".to_owned(),
                ("DateTime", None) => "\"2030-01-01T00:00:00Z\"".to_owned(),
                (_, None) => "\"x\"".to_owned(),
            });
        };
        if open.contains(&name) {
            return None;
        }
        if self.one_of.contains(&name) {
            let all = self.all(&name, nulls, open);
            return Some(
                all.trim_start_matches('[').split("}, {").next().unwrap_or_default().to_owned() + "}",
            );
        }
        open.push(name.clone());
        let given: Vec<String> = fields
            .iter()
            .filter_map(|field| self.given(field, &format!("{name}.{}", field.name.node), nulls, open))
            .collect();
        open.pop();
        Some(format!("{{{}}}", given.join(", ")))
    }

    /// A list with each of the fields of which exactly one is given.
    fn all(&self, name: &str, nulls: &mut BTreeSet<String>, open: &mut Vec<String>) -> String {
        open.push(name.to_owned());
        let mut items = Vec::new();
        for field in &self.inputs[name] {
            let ty = Type { nullable: false, ..field.ty.node.clone() };
            let value = self.value(&ty, nulls, open);
            items.extend(value.map(|value| format!("{{{}: {value}}}", field.name.node)));
        }
        open.pop();
        format!("[{}]", items.join(", "))
    }

    /// For each type the shortest way to it: an operation, up to where its fields are selected, and what closes it.
    fn ways(&self) -> BTreeMap<String, (String, String)> {
        let mut ways = BTreeMap::new();
        let mut open = VecDeque::new();
        for (root, keyword) in
            [("Query", "query"), ("Mutation", "mutation"), ("Subscription", "subscription")]
        {
            open.push_back((root.to_owned(), format!("{keyword} {{ "), " }".to_owned()));
        }
        while let Some((name, before, after)) = open.pop_front() {
            if ways.contains_key(&name) {
                continue;
            }
            for member in self.members.get(&name).into_iter().flatten() {
                let way = (member.clone(), format!("{before}... on {member} {{ "), format!(" }}{after}"));
                open.push_back(way);
            }
            for field in self.fields.get(&name).into_iter().flatten() {
                let of = bottom(&field.ty.node).to_owned();
                if self.fields.contains_key(&of) || self.members.contains_key(&of) {
                    let selected = self.field(&name, field, &mut BTreeSet::new());
                    open.push_back((of, format!("{before}{selected} {{ "), format!(" }}{after}")));
                }
            }
            ways.insert(name, (before, after));
        }
        ways
    }

    /// Everything that has a default.
    fn with_default(&self) -> BTreeMap<String, &Type> {
        let fields =
            self.fields.iter().flat_map(|(owner, fields)| fields.iter().map(move |one| (owner, one)));
        let arguments = fields.flat_map(|(owner, field)| {
            let place = move |argument: &str| format!("{owner}.{}({argument})", field.name.node);
            field.arguments.iter().map(move |one| (place(&one.node.name.node), &one.node))
        });
        let inputs = self.inputs.iter().flat_map(|(owner, fields)| {
            fields.iter().map(move |one| (format!("{owner}.{}", one.name.node), one))
        });
        let all = arguments.chain(inputs).filter(|(_, one)| one.default_value.is_some());
        all.map(|(place, one)| (place, &one.ty.node)).collect()
    }
}

#[tokio::test]
async fn null_stands_for_the_default() {
    let (schema, world) = (Schema::read(), World::empty().await);
    let expected = schema.with_default();
    assert!(expected.len() > 70, "only {} have a default", expected.len());
    for (place, ty) in &expected {
        assert!(ty.nullable, "{place} has a default and is `{ty}`: null is not taken");
    }
    let mut nulls = BTreeSet::new();
    for (name, (before, after)) in schema.ways() {
        for field in schema.fields.get(&name).into_iter().flatten() {
            if field.arguments.is_empty() {
                continue;
            }
            let of = bottom(&field.ty.node);
            let inner = if schema.fields.contains_key(of) || schema.members.contains_key(of) {
                "{ __typename }"
            } else {
                ""
            };
            let query = format!("{before}{} {inner}{after}", schema.field(&name, field, &mut nulls));
            if query.starts_with("subscription") {
                // It would not end; what is wrong with its document comes first.
                let event = world.refusal(&query);
                assert_eq!(event.await, None, "{query}");
                continue;
            }
            let answer = world.ask(&query, json!({})).await;
            // What was not executed is refused without data.
            assert!(answer.get("data").is_some(), "{query}: {answer}");
        }
    }
    let missing: Vec<&String> = expected.keys().filter(|place| !nulls.contains(*place)).collect();
    assert!(missing.is_empty(), "no null was tried for {missing:?}");
}

#[tokio::test]
async fn null_does_what_the_default_does() {
    let world = World::new().await;
    let text = "mutation { proposeEdit(input: {programId: \"world\", branch: null, dryRun: null, verify: null, requireComplete: null, edits: [{addText: {module: \"world\", text: \"func late () -> () { return }\"}}]}) { outcome { __typename } } }";
    assert_eq!(world.data(text, json!({})).await["proposeEdit"]["outcome"]["__typename"], "EditApplied");
    let undo = "mutation($input: UndoInput!) { undo(input: $input) { outcome { __typename } } }";
    let input = json!({ "input": { "programId": "world", "branch": null, "steps": null, "dryRun": null } });
    assert_eq!(world.data(undo, input).await["undo"]["outcome"]["__typename"], "RevisionMade");
    let list = "query($first: Int, $detail: Detail) { programs(first: $first) { nodes { name text(detail: $detail) } } }";
    let (given, left_out) = (json!({ "first": null, "detail": null }), json!({}));
    assert_eq!(world.data(list, given).await, world.data(list, left_out).await);
}

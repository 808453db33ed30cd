//! Every nullable field: one failure never hides another's answer.

use std::collections::BTreeSet;

use lmlang_graphql::error::Code;
use lmlang_graphql::transport::Limits;
use serde_json::{Value, json};

use crate::absent::ABSENT;
use crate::failing::{FAILING, WAYS};
use crate::sdl::{Sdl, bottom};
use crate::world::{World, ask, soon};
use futures_util::StreamExt;

/// A field is nullable because it can fail, or because there may be nothing; which of them is written down.
#[test]
fn every_nullable_field_is_accounted_for() {
    let sdl = Sdl::read();
    let nullable: BTreeSet<String> = sdl.nullable().into_iter().collect();
    let failing = FAILING.iter().map(|(field, ..)| *field);
    let listed: Vec<&str> = failing.chain(ABSENT.iter().map(|(field, _)| *field)).collect();
    let known: BTreeSet<String> = listed.iter().map(|field| (*field).to_owned()).collect();
    assert_eq!(known.len(), listed.len(), "a field is listed twice");
    let difference: Vec<&String> = nullable.symmetric_difference(&known).collect();
    assert!(difference.is_empty(), "nullable and not listed, or listed and not nullable: {difference:?}");
    for (root, fields) in [("Query", &sdl.objects["Query"]), ("Mutation", &sdl.objects["Mutation"])] {
        let not = fields.values().find(|field| !field.ty.node.nullable);
        assert!(not.is_none(), "{root}.{} is a root field and not nullable", not.expect("it is").name.node);
    }
}

#[tokio::test]
async fn a_field_that_fails_leaves_its_siblings() {
    let (world, sdl) = (World::new().await, Sdl::read());
    let tight = world.under(Limits { text_of_answer: 0, ..Limits::default() });
    let simulation = simulation(&world).await;
    world.review().await;
    for (field, arguments, code) in FAILING {
        let (owner, name) = field.split_once('.').expect("it is Type.field");
        let (_, way) = WAYS.iter().find(|(of, _)| *of == owner).expect("there is a way to the type");
        let (executor, arguments) = match *arguments {
            "TIGHT" => (&tight, ""),
            arguments => (&world.executor, arguments),
        };
        let siblings = siblings(&sdl, owner);
        let bad = bad(&sdl, owner, name, arguments);
        let query = document(&siblings, owner, &bad, &way.replace("SIMULATION", &simulation));
        let answer = ask(executor, &query, json!({})).await;
        check(&siblings, &query, &answer, *code);
    }
}

/// A failure of a field that is not nullable takes its object along, so none can fail: not even when the database cannot
/// be read, which no argument brings about.
#[test]
fn no_other_field_can_fail() {
    let folders =
        ["/src/schema", "/src/schema/flows"].map(|of| format!("{}{of}", env!("CARGO_MANIFEST_DIR")));
    let (mut seen, mut fallible) = (0, Vec::new());
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("the schema is here"));
    for file in files {
        let path = file.expect("it can be listed").path();
        if path.is_dir() {
            continue;
        }
        let code = std::fs::read_to_string(&path).expect("it is text");
        for object in code.split("#[Object").skip(1) {
            let body = object.split("\n}\n").next().unwrap_or_default();
            for resolver in body.split("async fn ").skip(1) {
                let head = resolver.split(" {\n").next().unwrap_or_default();
                let answer = head.rsplit_once("-> ").map_or("()", |(_, answer)| answer);
                seen += 1;
                if answer.contains("Result<") && !answer.starts_with("Option<") {
                    fallible.push(format!("{}: {head}", path.display()));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} resolvers were found");
    assert_eq!(fallible, Vec::<String>::new());
}

/// Fields of an object that cannot fail; those that are texts have none to show where there is to be none.
fn siblings<'a>(sdl: &'a Sdl, owner: &str) -> Vec<&'a str> {
    let texts = [
        "op",
        "signature",
        "message",
        "text",
        "path",
        "name",
        "label",
        "payload",
        "type",
        "expectedType",
        "valueType",
        "results",
    ];
    let plain = sdl.plain(owner).into_iter().filter(|name| !texts.contains(name));
    plain.chain(["__typename"]).collect()
}

/// A field that fails.
fn bad(sdl: &Sdl, owner: &str, name: &str, arguments: &str) -> String {
    let field = &sdl.objects[owner][name];
    let below = if sdl.is_leaf(bottom(&field.ty.node)) { "" } else { " { __typename }" };
    let many: String = (0..501).map(|at| format!("\"{at}\" ")).collect();
    let arguments = arguments.replace("MANY", &format!("[{many}]"));
    format!("bad: {name}{arguments}{below}")
}

/// A document that asks for `bad`, with siblings in its own selection and at the root.
fn document(siblings: &[&str], owner: &str, bad: &str, way: &str) -> String {
    let mut selection = format!("{} {bad}", siblings.join(" "));
    for step in way.split(" > ").filter(|step| !step.is_empty()).collect::<Vec<_>>().into_iter().rev() {
        selection = format!("{step} {{ {selection} }}");
    }
    match owner {
        "Mutation" => {
            let other = r#"undo(input: {programId: "world", steps: 0}) { outcome { __typename } }"#;
            format!("mutation {{ first: {other} {selection} last: {other} }}")
        }
        _ => format!("{{ first: serverInfo {{ name }} {selection} last: serverInfo {{ name }} }}"),
    }
}

fn check(siblings: &[&str], query: &str, answer: &Value, code: Code) {
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    assert!(!errors.is_empty(), "{query} does not fail: {answer}");
    for error in &errors {
        let path = error["path"].as_array().cloned().unwrap_or_default();
        assert_eq!(error["extensions"]["code"], code.as_str(), "{query}: {error}");
        assert_eq!(path.last(), Some(&json!("bad")), "{query}: {error}");
        assert!(error["locations"][0]["line"].is_number(), "{query}: {error}");
        let parent = path[..path.len() - 1].iter().fold(&answer["data"], |at, segment| match segment {
            Value::String(name) => &at[name],
            index => &at[index.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX)],
        });
        assert_eq!(parent.get("bad"), Some(&Value::Null), "{query}: {answer}");
        for sibling in siblings {
            assert!(!parent[*sibling].is_null(), "{query}: {sibling} is lost: {answer}");
        }
    }
    for root in ["first", "last"] {
        assert!(answer["data"][root].is_object(), "{query}: {root} is lost: {answer}");
    }
}

/// The id of a simulation that has ended.
async fn simulation(world: &World) -> String {
    let run = r#"subscription { simulate(input: {programId: "world", function: "world::total", run: {args: [3]}}) { simulationId } }"#;
    let mut batches = world.stream(run, json!({}));
    let mut id = String::new();
    while let Some(batch) = soon(batches.next()).await {
        batch["data"]["simulate"]["simulationId"].as_str().expect("a batch has an id").clone_into(&mut id);
    }
    id
}

//! Cursors: every list has its own, and is told whose another one is.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use lmlang_graphql::schema::cursor::List;
use serde_json::{Value, json};

use crate::failing::WAYS;
use crate::sdl::{Sdl, bottom};
use crate::world::{World, soon, stream};

/// A program with storage, which `world` has none of.
const STORED: &str = "module stored
global mut seen: i64 = 0
pub func see (a: i64) -> () {
  global.set seen, a
  return
}
";

/// Lists whose places are any names: behind one that nothing has comes what is sorted behind it.
const NAMED: [List; 4] = [List::Programs, List::Branches, List::Checkpoints, List::ModuleFunctions];

async fn world() -> World {
    let world = World::new().await;
    world.create("stored", STORED).await;
    world.review().await;
    world
}

/// What is looked at of a list, with arguments of the page, under a name.
fn field(list: List, name: &str, page: &str) -> String {
    let (_, field) = list.field().split_once('.').expect("it is Type.field");
    let shown = "totalCount pageInfo { hasPreviousPage endCursor } nodes { __typename }";
    match list {
        // The arguments are those of the field around it.
        List::Affected => {
            format!(r#"{name}: impact(of: ["world::total"], {page}) {{ functions {{ {shown} }} }}"#)
        }
        List::Found => {
            format!(r#"{name}: findText(programId: "world", query: "total", {page}) {{ {shown} }}"#)
        }
        List::Search => format!("{name}: search(filter: {{}}, {page}) {{ {shown} }}"),
        List::Answers => format!("{name}: analysis(question: MAY_TRAP, {page}) {{ {shown} }}"),
        _ => format!("{name}: {field}({page}) {{ {shown} }}"),
    }
}

/// A document that asks for fields where a list is.
fn document(list: List, fields: &str) -> String {
    let (owner, _) = list.field().split_once('.').expect("it is Type.field");
    let way = match list {
        List::Affected => r#"program(name: "world")"#,
        List::StorageUsers => r#"program(name: "stored") > storage(first: 1) > nodes"#,
        _ => WAYS.iter().find(|(of, _)| *of == owner).expect("there is a way to the type").1,
    };
    let steps: Vec<&str> = way.split(" > ").filter(|step| !step.is_empty()).collect();
    let inner = steps.iter().rfold(fields.to_owned(), |inner, step| format!("{step} {{ {inner} }}"));
    format!("{{ {inner} }}")
}

/// The value of a field, wherever it stands in an answer.
fn find<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    match answer {
        Value::Object(fields) => {
            fields.get(name).or_else(|| fields.values().find_map(|inner| find(inner, name)))
        }
        Value::Array(items) => items.iter().find_map(|inner| find(inner, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Asks a list for what comes after each of some cursors; the messages of the errors, in order.
async fn refusals(world: &World, list: List, cursors: &[String]) -> Vec<String> {
    let asked = |(at, cursor): (usize, &String)| {
        let cursor = Value::from(cursor.as_str());
        field(list, &format!("at{at}"), &format!("first: 1, after: {cursor}"))
    };
    let fields: Vec<String> = cursors.iter().enumerate().map(asked).collect();
    let answer = world.ask(&document(list, &fields.join(" ")), json!({})).await;
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    let message = |at: usize| {
        let name = json!(format!("at{at}"));
        let of = |error: &&Value| error["path"].as_array().is_some_and(|path| path.contains(&name));
        let error = errors.iter().find(of);
        let error = error.unwrap_or_else(|| panic!("{list:?} takes `{}`: {answer}", cursors[at]));
        assert_eq!(error["extensions"]["code"], "CURSOR_INVALID", "{list:?}: {error}");
        let data = &error["extensions"]["data"];
        assert_eq!((&data["given"], &data["expected"]), (&json!(cursors[at]), &json!(list.field())));
        error["message"].as_str().expect("it is told").to_owned()
    };
    (0..cursors.len()).map(message).collect()
}

#[test]
fn every_list_of_the_schema_is_one() {
    let sdl = Sdl::read();
    let fields = sdl.objects.iter().flat_map(|(owner, fields)| {
        let lists = fields.iter().filter(|(_, field)| bottom(&field.ty.node).ends_with("Connection"));
        lists.map(move |(name, _)| format!("{owner}.{name}"))
    });
    let fields: BTreeSet<String> = fields.collect();
    let known: BTreeSet<String> = List::ALL.iter().map(|list| list.field().to_owned()).collect();
    assert_eq!((fields, List::ALL.len()), (known.clone(), known.len()));
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused_with_the_name_of_that() {
    let world = world().await;
    for list in List::ALL {
        let others: Vec<&List> = List::ALL.iter().filter(|other| *other != list).collect();
        let cursors: Vec<String> = others.iter().map(|other| other.cursor("1")).collect();
        let messages = refusals(&world, *list, &cursors).await;
        for ((other, cursor), message) in others.iter().zip(&cursors).zip(messages) {
            let (expected, found) = (list.field(), other.field());
            assert_eq!(
                message,
                format!("`{cursor}` is not a cursor of `{expected}`: it is one of `{found}`")
            );
        }
    }
}

#[tokio::test]
async fn what_is_no_cursor_is_refused() {
    let world = world().await;
    for list in List::ALL {
        let texts = ["", " ", "1", "-1", "99999999999999999999", "zz:1"].map(str::to_owned);
        let places = ["", "\0"].map(|place| list.cursor(place));
        let numbers = ["-1", "+1", "01", "1.", "99999999999999999999", "9223372036854775808", "x"];
        let numbers = numbers.map(|place| list.cursor(place));
        let unlike: &[String] = if NAMED.contains(list) { &[] } else { &numbers };
        let cursors = [&texts[..], &places[..], unlike].concat();
        for (cursor, message) in cursors.iter().zip(refusals(&world, *list, &cursors).await) {
            assert_eq!(message, format!("`{cursor}` is not a cursor of `{}`", list.field()));
        }
        let events = ["r1", "p1.0", "j1.0"].map(str::to_owned);
        for message in refusals(&world, *list, &events).await {
            assert!(message.contains(": it is one of `Subscription."), "{message}");
        }
    }
}

#[tokio::test]
async fn a_list_goes_on_after_its_own_cursors() {
    let world = world().await;
    let mut tried = 0;
    for list in List::ALL {
        let first = world.data(&document(*list, &field(*list, "page", "first: 1")), json!({})).await;
        let Some(end) = find(&first, "endCursor").and_then(Value::as_str) else { continue };
        let after = format!("first: 1000, after: {}", Value::from(end));
        let rest = world.data(&document(*list, &field(*list, "page", &after)), json!({})).await;
        let page = find(&rest, "page").expect("it is there");
        let total = find(page, "totalCount").and_then(Value::as_u64).expect("it is counted");
        let nodes = find(page, "nodes").and_then(Value::as_array).expect("they are there");
        assert_eq!(nodes.len() as u64 + 1, total, "{list:?}: {first} {rest}");
        assert_eq!(find(page, "hasPreviousPage"), Some(&json!(true)));
        tried += 1;
    }
    assert!(tried > 25, "only {tried} lists have something in them");
}

/// Runs and sessions are listed from the newest on: before that one there is no place.
#[tokio::test]
async fn a_place_behind_the_newest_is_no_cursor() {
    let world = world().await;
    for list in [List::Runs, List::Sessions] {
        let cursors = [list.cursor(1_000_000)];
        let expected = format!("`{}` is not a cursor of `{}`", cursors[0], list.field());
        assert_eq!(refusals(&world, list, &cursors).await, [expected]);
    }
}

#[tokio::test]
async fn streams_of_events_take_no_cursors_of_lists() {
    let world = World::new().await;
    for list in List::ALL {
        let cursor = list.cursor("1");
        for (events, of) in [
            (r#"programEvents(programId: "world", "#, "the events of this program"),
            ("programEvents(", "the events of all programs"),
            (r#"diagnostics(programId: "world", "#, "the events of this program"),
            ("runEvents(", "the events of runs"),
        ] {
            let query = format!(r#"subscription {{ {events}after: "{cursor}") {{ cursor }} }}"#);
            let answer = soon(stream(&world.executor, &query).next()).await.expect("it answers");
            let error = &answer["errors"][0];
            assert_eq!(error["extensions"]["code"], "CURSOR_INVALID", "{query}: {answer}");
            let told = format!("`{cursor}` is not a cursor of {of}: it is one of `{}`", list.field());
            assert_eq!(error["message"], told);
        }
    }
}

//! Which selections are planned, and how they are written.

use async_graphql::parser::parse_query;

use super::*;

/// Two nested objects.
#[derive(async_graphql::SimpleObject)]
struct Item {
    number: i32,
    words: String,
    parts: Vec<Part>,
}

#[derive(Clone, async_graphql::SimpleObject)]
struct Part {
    name: String,
}

impl Direct for Item {
    fn writer(selected: Selected<'_>) -> Option<Writer<Item>> {
        object(selected, &["Item", "Thing"], |name, inner| match name {
            "number" => leaf(|item: &Item, out| out.number(item.number)),
            "words" => leaf(|item: &Item, out| out.counted(&item.words)),
            "parts" => list(inner, |item: &Item| item.parts.clone()),
            _ => None,
        })
    }
}

impl Direct for Part {
    fn writer(selected: Selected<'_>) -> Option<Writer<Part>> {
        object(selected, &["Part"], |name, _| match name {
            "name" => leaf(|part: &Part, out| out.text(&part.name)),
            _ => None,
        })
    }
}

/// What a document writes of an item, or that the library has to.
fn written(document: &str) -> Option<String> {
    let document = parse_query(document).expect("the document parses");
    let (_, operation) = document.operations.iter().next().expect("there is an operation");
    let selected = Selected::new(&operation.node.selection_set.node, &document.fragments);
    let writer = Item::writer(selected)?;
    let mut out = Out::new(Tab::default(), ROOM);
    let parts = ["a", "\"b\""].map(|name| Part { name: name.to_owned() }).to_vec();
    writer(&Item { number: -7, words: "line\nline".to_owned(), parts }, &mut out);
    out.finish()
}

#[test]
fn plain_fields_are_written() {
    let check = |document: &str, expect: &str| assert_eq!(written(document).as_deref(), Some(expect));
    check("{ number }", r#"{"number":-7}"#);
    check("{ words a: number __typename }", r#"{"words":"line\nline","a":-7,"__typename":"Item"}"#);
    check("{ parts { n: name } }", r#"{"parts":[{"n":"a"},{"n":"\"b\""}]}"#);
    check("{ ... on Thing { number } ... { words } }", r#"{"number":-7,"words":"line\nline"}"#);
    check("{ ... on Other { words } number }", r#"{"number":-7}"#);
    check(
        "{ ...F number } fragment F on Item { parts { ...G } } fragment G on Part { name }",
        r#"{"parts":[{"name":"a"},{"name":"\"b\""}],"number":-7}"#,
    );
}

#[test]
fn the_library_does_the_rest() {
    let check = |document: &str| assert_eq!(written(document), None, "{document}");
    check("{ number other }");
    check("{ number parts { other } }");
    check("{ number(of: 1) }");
    check("{ number @include(if: true) }");
    check("{ ... @skip(if: false) { number } }");
    check("{ number ...F @include(if: true) } fragment F on Item { words }");
    check("{ number number: words }");
    check("{ number number }");
}

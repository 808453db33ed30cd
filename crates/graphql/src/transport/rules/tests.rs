use async_graphql::parser::parse_query;
use serde_json::json;

use super::*;

const SCHEMA: &str = "
    schema { query: Query mutation: Mutation subscription: Subscription }
    scalar JSON
    input Paint { coats: Int = 1, layers: Int, on: [String!], sub: Paint }
    input Either @oneOf { one: Paint, other: Boolean }
    interface Named { name: String }
    type Dog implements Named { name: String age: Int! friend(near: Int): Dog wild: Boolean }
    type Cat implements Named { name: String age: Int friend(near: Int): Cat lives: Int }
    union Pet = Dog | Cat
    type Query { any(first: Int! = 3, size: Int, of: [Int!], paint: Paint, either: Either, json: JSON): Int
      pet: Pet named: Named dog: Dog }
    type Mutation { paint(with: Paint!): Int }
    type Subscription { dogs(near: Int): Dog cats: Cat }";

/// Checks that a document breaks no rule, or one with this message at this place.
fn check(document: &str, expect: Option<(&str, &str)>) {
    let shape = Shape::read(SCHEMA);
    let found = super::check(document, &parse_query(document).unwrap(), &shape);
    let found = found.err().map(|(error, place)| (format!("{}:{}", place.line, place.column), error.message));
    let found = found.as_ref().map(|(place, message)| (place.as_str(), message.as_str()));
    assert_eq!(found, expect, "{document}");
}

#[test]
fn a_field_of_an_input_object_is_given_once() {
    check("{ any(paint: {coats: 1, sub: {coats: 2}}) }", None);
    check("{ any(paint: {on: [\"coats: 1, coats: 2\"], coats: 1}) } # {coats: 1, coats: 2}", None);
    check("{ a: any(size: 1) a: any(size: 1) }", None);
    check("query($x: Int, $y: Int) { any(size: $x, first: $y) }", None);
    let twice = "the field `coats` of an input object is given twice";
    check("{ any(paint: {coats: 1, layers: 3,\n coats: 2}) }", Some(("2:2", twice)));
    check(
        "{ any(paint: {sub: {coats: 1 é: 2 coats: 2}}) }".replace(" é: 2", "").as_str(),
        Some(("1:30", twice)),
    );
    check("mutation { paint(with: {on: [], coats: 1, coats: 1}) }", Some(("1:43", twice)));
    check("query($x: Paint = {coats: 1, coats: 1}) { any(paint: $x) }", Some(("1:30", twice)));
    check("{ any(json: [{coats: 1}, {coats: 2, coats: 3}]) }", Some(("1:37", twice)));
}

#[test]
fn variables_are_declared_once_with_a_type_of_inputs() {
    check("query($x: JSON, $y: [[Float]]) { any(json: $x) }", None);
    check("query($x: Int, $x: Int) { any(size: $x) }", Some(("1:16", "variable `$x` is declared twice")));
    check("query($x: [Foo!]) { any }", Some(("1:7", "variable `$x` has the unknown type `Foo`")));
    for ty in ["Dog", "Pet", "Named", "__Type"] {
        let message = format!("variable `$x` cannot be of type `{ty}`: no input has it");
        check(&format!("query($x: {ty}) {{ any }}"), Some(("1:7", &message)));
    }
}

#[test]
fn a_variable_stands_where_its_values_may() {
    let with = |declared: &str, used: &str| format!("query($x: {declared}) {{ any({used}) }}");
    for (declared, used) in [
        ("Int", "size: $x"),
        ("Int!", "size: $x"),
        ("Int!", "first: $x"),
        ("Int", "first: $x"),
        ("Int = 3", "first: $x"),
        ("Int = null", "size: $x"),
        ("[Int!]", "of: $x"),
        ("[Int!]!", "of: $x"),
        ("Int!", "of: [1, $x]"),
        ("Int!", "of: $y"),
        ("Paint", "paint: $x"),
        ("Int", "paint: {coats: $x, sub: {layers: $x}}"),
        ("String!", "paint: {on: [$x]}"),
        ("Boolean!", "either: {other: $x}"),
        ("Either", "either: $x"),
        ("JSON", "json: $x"),
        ("Dog", "json: {a: [$y]}"),
    ] {
        let declared = if declared == "Dog" { "Int" } else { declared };
        check(&with(declared, used), None);
    }
    for (declared, used, message) in [
        ("String", "size: $x", "`size` takes `Int`: variable `$x` is declared as `String`"),
        ("[Int]", "size: $x", "`size` takes `Int`: variable `$x` is declared as `[Int]`"),
        ("Int!", "of: $x", "`of` takes `[Int!]`: variable `$x` is declared as `Int!`"),
        ("[Int]", "of: $x", "`of` takes `[Int!]`: variable `$x` is declared as `[Int]`"),
        ("Int", "of: [1, $x]", "`of[1]` takes `Int!`: variable `$x` is declared as `Int`"),
        ("Int = null", "of: [$x]", "`of[0]` takes `Int!`: variable `$x` is declared as `Int`"),
        (
            "String",
            "paint: {sub: {layers: $x}}",
            "`paint.sub.layers` takes `Int`: variable `$x` is declared as `String`",
        ),
        (
            "String",
            "paint: {on: [$x]}",
            "`paint.on[0]` takes `String!`: variable `$x` is declared as `String`",
        ),
        (
            "Boolean",
            "either: {other: $x}",
            "`either.other` takes `Boolean!`, since exactly one field of `Either` is given: variable `$x` is \
             declared as `Boolean`",
        ),
        ("Int", "more: $x", "field `any` has no argument `more`"),
        ("Int", "paint: {sub: {more: [$x]}}", "`paint.sub` of type `Paint` has no field `more`"),
    ] {
        let document = with(declared, used);
        let at = match message.starts_with("field") {
            true => document.find("more").unwrap(),
            false => {
                document.find(": ").map(|_| document.rfind("any(").unwrap() + 4).unwrap()
                    + used.find(": ").unwrap()
                    + 2
            }
        };
        check(&document, Some((&format!("1:{}", at + 1), message)));
    }
}

#[test]
fn variables_are_followed_into_fragments_directives_and_introspection() {
    let bad = "`size` takes `Int`: variable `$x` is declared as `String`";
    let parts = "fragment A on Query { ...B } fragment B on Query { any(size: $x) }";
    check(&format!("{parts} query($x: Int) {{ ...A }}"), None);
    check(&format!("{parts} query($x: String) {{ ...A }}"), Some(("1:62", bad)));
    check(
        &format!("{parts} query P($x: Int) {{ ...A }} query Q($x: String) {{ ...A }}"),
        Some(("1:62", bad)),
    );
    check("query($x: String) { ... on Query { any(size: $x) } }", Some(("1:46", bad)));
    let bad = "`if` takes `Boolean!`: variable `$x` is declared as `Boolean`";
    check("query($x: Boolean) { any @skip(if: $x) }", Some(("1:36", bad)));
    check("query($x: Boolean = true) { any @skip(if: $x) }", None);
    check("query($x: Boolean!) { ... @include(if: $x) { any } }", None);
    check("query($x: Boolean!) { any @skip(of: $x) }", Some(("1:33", "`@skip` has no argument `of`")));
    check("query($x: String!) { __type(name: $x) { fields { name } } }", None);
    let bad = "`name` takes `String!`: variable `$x` is declared as `Int!`";
    check("query($x: Int!) { __type(name: $x) { name } }", Some(("1:32", bad)));
}

#[test]
fn a_subscription_selects_one_field() {
    check("subscription { dogs { name } }", None);
    check("subscription { ... on Subscription { dogs { name } } }", None);
    check(
        "subscription { dogs { name } dogs { age } ...A } fragment A on Subscription { dogs { age } }",
        None,
    );
    let two = |names: &str| format!("a subscription selects one field, found {names}");
    check("subscription { dogs { name } cats { name } }", Some(("1:30", &two("`dogs` and `cats`"))));
    check("subscription { a: dogs { name } b: dogs { name } }", Some(("1:33", &two("`a` and `b`"))));
    let document = "subscription { dogs { name } ...A } fragment A on Subscription { cats { name } }";
    check(document, Some(("1:66", &two("`dogs` and `cats`"))));
    let document = "query A { any } subscription B { dogs { name } ... { cats @skip(if: true) { name } } }";
    check(document, Some(("1:54", &two("`dogs` and `cats`"))));
}

#[test]
fn fields_with_one_key_are_the_same_field() {
    check("{ any any a: any(size: 1, first: 2) a: any(first: 2, size: 1) }", None);
    check(
        "{ pet { ... on Dog { name x: wild } ... on Cat { name x: wild } } }"
            .replace("Cat { name x: wild", "Cat { name")
            .as_str(),
        None,
    );
    check(
        "{ pet { ... on Dog { friend(near: 1) { name } } ... on Cat { friend(near: 2) { name } } } }",
        None,
    );
    let fields = |key: &str, one: &str, two: &str| {
        format!("`{key}` would be the fields `{one}` and `{two}` at once: an alias tells them apart")
    };
    let arguments = |key: &str, field: &str| {
        format!(
            "`{key}` would be the field `{field}` with different arguments at once: an alias tells them apart"
        )
    };
    let types = |key: &str, one: &str, two: &str| {
        format!("`{key}` would be the types `{one}` and `{two}` at once: an alias tells them apart")
    };
    check("{ dog { x: age x: friend { name } } }", Some(("1:16", &types("x", "Int!", "Dog"))));
    check("{ named { x: name } named { ... on Dog { x: name } } }", None);
    check(
        "{ dog { x: age x: wild } }".replace("age", "name").replace("wild", "__typename").as_str(),
        Some(("1:17", &types("x", "String", "String!"))),
    );
    check(
        "{ dog { friend { x: name } } ...A } fragment A on Query { dog { ...B } } fragment B on Dog { friend { x: wild } }",
        Some(("1:103", &types("x", "String", "Boolean"))),
    );
    check("{ pet { ... on Dog { age } ... on Cat { age } } }", Some(("1:41", &types("age", "Int!", "Int"))));
    check("{ any(size: 1) ... on Query { any(size: 2) } }", Some(("1:31", &arguments("any", "any"))));
    check("{ any ... { any(size: 2) } }", Some(("1:13", &arguments("any", "any"))));
    check(
        "{ dog { friend(near: 1) { name } } ... { dog { friend(near: 2) { name } } } }",
        Some(("1:48", &arguments("friend", "friend"))),
    );
    check(
        "{ x: dog { name } ... on Query { x: pet { ... on Dog { age } } } }",
        Some(("1:34", &fields("x", "dog", "pet"))),
    );
    check("{ named { x: name ... on Dog { x: name } ... on Cat { x: name } } }", None);
}

#[test]
fn a_document_of_many_combinations_ends() {
    let mut inner = "name".to_owned();
    for _ in 0..20 {
        inner = format!(
            "f: friend {{ {inner} }} ... on Dog {{ f: friend {{ name }} }} ... on Cat {{ f: friend {{ name }} }}"
        );
    }
    let document = format!("{{ named {{ {inner} }} }}");
    let shape = Shape::read(SCHEMA);
    let found = super::check(&document, &parse_query(&document).unwrap(), &shape);
    let data = found.err().and_then(|(error, _)| error.data);
    assert_eq!(data.map(|data| data["which"].clone()), Some(json!("selections")));
}

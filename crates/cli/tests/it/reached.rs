//! Every field at a root of the schema has a command that asks for it, or a reason why it has none.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tool::root;

/// Fields that no command asks for, and why.
const WITHOUT: [(&str, &str, &str); 9] = [
    ("Query", "diagnosticCode", "`lmlang help codes` prints the same pages, from the binary"),
    ("Query", "ops", "`lmlang help operators` prints the same table, from the binary"),
    (
        "Query",
        "simulation",
        "`lmlang debug` steps a run in its own process; `tool call simulate` asks a server",
    ),
    ("Mutation", "startSimulation", "as `Query.simulation`"),
    ("Mutation", "controlSimulation", "as `Query.simulation`"),
    ("Subscription", "simulate", "`lmlang run --trace` executes the program in its own process"),
    ("Subscription", "simulation", "as `Subscription.simulate`"),
    ("Subscription", "contractAttempts", "`lmlang verify --contracts` waits for `checkContracts`"),
    ("Subscription", "tournament", "`lmlang propose` waits for `proposeMany`"),
];

#[test]
fn every_field_of_the_schema_has_a_command_or_a_reason() {
    let schema = std::fs::read_to_string(root().join("schema.graphql")).expect("the schema is there");
    let mut literals = Vec::new();
    add_literals(&root().join("crates/cli/src"), &mut literals);
    let asked: BTreeSet<(&str, &str)> =
        literals.iter().filter_map(|literal| asked(literal)).flatten().collect();
    let mut known = BTreeSet::new();
    for of in ["Query", "Mutation", "Subscription"] {
        let fields = fields(&schema, of);
        assert!(!fields.is_empty(), "`{of}` has fields");
        known.extend(fields.into_iter().map(|field| (of, field)));
    }
    let without: BTreeSet<(&str, &str)> = WITHOUT.iter().map(|(of, field, _)| (*of, *field)).collect();

    let unreached: Vec<_> =
        known.iter().filter(|field| !asked.contains(*field) && !without.contains(*field)).collect();
    assert!(unreached.is_empty(), "no command asks for these, and nothing says why: {unreached:?}");
    let needless: Vec<_> =
        without.iter().filter(|field| asked.contains(*field) || !known.contains(*field)).collect();
    assert!(needless.is_empty(), "these are asked for, or are no fields: {needless:?}");
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "commands ask for what the schema does not have: {unknown:?}");
}

/// The names of the fields of a type, as the schema prints it.
fn fields<'a>(schema: &'a str, of: &str) -> Vec<&'a str> {
    let head = format!("type {of} {{");
    let lines = schema.lines().skip_while(|line| *line != head).skip(1).take_while(|line| *line != "}");
    let mut described = false;
    let mut found = Vec::new();
    for line in lines {
        let Some(line) = line.strip_prefix('\t').filter(|line| !line.starts_with('\t')) else { continue };
        if line == "\"\"\"" {
            described = !described;
        } else if !described && let Some(end) = line.find(['(', ':']) {
            let name = &line[..end];
            found.extend(
                name.chars().all(char::is_alphanumeric).then_some(name).filter(|name| !name.is_empty()),
            );
        }
    }
    found
}

/// The root of a document and the fields that it asks for there; nothing of a text that is no operation.
fn asked(text: &str) -> Option<Vec<(&'static str, &str)>> {
    let text = text.trim_start();
    let mut tokens = tokens(text).into_iter().peekable();
    let of = match tokens.next()? {
        "query" => "Query",
        "mutation" => "Mutation",
        "subscription" => "Subscription",
        // What is to be filled in stands in braces without blanks.
        "{" => {
            let is_open = text.strip_prefix('{').is_some_and(|rest| rest.starts_with(char::is_whitespace));
            return is_open.then(|| selected(tokens, "Query"));
        }
        _ => return None,
    };
    // The operation may have a name.
    tokens.next_if(|token| token.chars().all(char::is_alphanumeric));
    let mut depth = 0_u32;
    while depth > 0 || tokens.peek() == Some(&"(") {
        match tokens.next()? {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
    }
    (tokens.next()? == "{").then(|| selected(tokens, of))
}

/// The fields of the selection that is open, by their names and not their aliases.
fn selected<'a>(tokens: impl Iterator<Item = &'a str>, of: &'static str) -> Vec<(&'static str, &'a str)> {
    let mut tokens = tokens.peekable();
    let (mut fields, mut depth) = (Vec::new(), 1_u32);
    while depth > 0
        && let Some(token) = tokens.next()
    {
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ if depth > 1 => {}
            // The name of a fragment, or of a directive.
            "..." | "@" => {
                tokens.next();
            }
            ":" => {}
            name if tokens.peek() != Some(&":") => fields.push((of, name)),
            // An alias.
            _ => {}
        }
    }
    fields
}

/// Names and signs of a document; blanks, commas, texts and numbers are none.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("...") {
            3
        } else if is_name(first) {
            rest.find(|c: char| !is_name(c)).unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        let is_sign = matches!(token, "..." | "{" | "}" | "(" | ")" | "[" | "]" | ":" | "@" | "$");
        if is_sign || first.is_alphabetic() || first == '_' {
            tokens.push(token);
        }
        rest = behind;
    }
    tokens
}

/// Adds what stands in quotes in the sources of a folder.
fn add_literals(folder: &Path, literals: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            add_literals(&path, literals);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).expect("the file can be read");
            literals.extend(in_quotes(&source));
        }
    }
}

/// The string literals of a source, as they stand there but for what is escaped.
fn in_quotes(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (before, begun) = rest.split_at(at);
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        let length = match begun.as_bytes() {
            [b'/', b'/', ..] => begun.find('\n').unwrap_or(begun.len()),
            // A character, not a lifetime.
            [b'\'', b'\\', ..] => begun[3..].find('\'').map_or(begun.len(), |end| end + 4),
            [b'\'', ..] => {
                let second = begun[1..].chars().next().map_or(0, char::len_utf8);
                if begun[1 + second..].starts_with('\'') { second + 2 } else { 1 }
            }
            [b'"', ..] if is_raw => {
                let end = format!("\"{}", "#".repeat(hashes));
                let inner = begun[1..].find(&end).expect("a raw text ends");
                found.push(begun[1..=inner].to_owned());
                1 + inner + end.len()
            }
            [b'"', ..] => {
                let (text, length) = unescaped(&begun[1..]);
                found.push(text);
                length + 2
            }
            _ => 1,
        };
        rest = &begun[length..];
    }
    found
}

/// A text up to the quote that ends it, and how long it is in the source.
fn unescaped(source: &str) -> (String, usize) {
    let mut text = String::new();
    let mut characters = source.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (text, at),
            '\\' => match characters.next().map_or(' ', |(_, escaped)| escaped) {
                'n' | '\n' => text.push('\n'),
                escaped => text.push(escaped),
            },
            other => text.push(other),
        }
    }
    panic!("a text ends: {text}");
}

#[test]
fn documents_are_told_from_other_texts() {
    let sources = [
        (
            r#""query($id: ID!) { run(id: $id) { id } view: runState(runId: $id) }""#,
            "Query run, Query runState",
        ),
        (r#""mutation { a: undo(input: {x: [1]}) @include(if: $b) { b { c } } ...F }""#, "Mutation undo"),
        (r#""{ eventCursor }""#, "Query eventCursor"),
        (r#""{run} of {flow}""#, ""),
        (r#"// "{ eventCursor }""#, ""),
        (r##"'"'; r#"{ flows { name } } "x""#"##, "Query flows"),
        (
            r#"fn f<'a>(x: &'a str) { "subscription S($id: ID) { runEvents(runId: $id) { cursor } }" }"#,
            "Subscription runEvents",
        ),
    ];
    for (source, expect) in sources {
        let literals = in_quotes(source);
        let found = literals.iter().filter_map(|literal| asked(literal)).flatten();
        let found: Vec<String> = found.map(|(of, field)| format!("{of} {field}")).collect();
        assert_eq!(found.join(", "), expect, "{source}");
    }
}

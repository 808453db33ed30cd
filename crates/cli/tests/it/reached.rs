//! Every field at a root of the schema and of a program, with each of its arguments, has a command that asks for it, or a reason
//! why it has none.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::path::Path;
use std::vec::IntoIter;

use crate::tool::root;

/// Fields that no command asks for, and why.
const WITHOUT: [(&str, &str, &str); 16] = [
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
    ("Program", "branch", "whoever names a branch knows it"),
    ("Program", "computeNode", "`entity` finds nodes, by path too"),
    (
        "Program",
        "map",
        "the dashboard draws a picture from it; `lmlang graph` and `export` have its nodes and edges",
    ),
    ("Program", "modules", "`lmlang show` prints them, and one with what is in it"),
    ("Program", "types", "as `Program.modules`"),
    ("Program", "storage", "as `Program.modules`"),
    ("Program", "mutationScore", "`lmlang mutate` has it of `mutations`"),
];

/// A field of a root or of a program, or an argument of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked<'a> {
    of: &'static str,
    field: &'a str,
    argument: Option<&'a str>,
}

#[test]
fn every_field_of_the_schema_has_a_command_or_a_reason() {
    let schema = std::fs::read_to_string(root().join("schema.graphql")).expect("the schema is there");
    let mut literals = Vec::new();
    add_literals(&root().join("crates/cli/src"), &mut literals);
    let asked: BTreeSet<Asked<'_>> = literals.iter().filter_map(|literal| asked(literal)).flatten().collect();
    let mut known = BTreeSet::new();
    for of in ["Query", "Mutation", "Subscription", "Program"] {
        let fields = fields(&schema, of);
        assert!(!fields.is_empty(), "`{of}` has fields");
        known.extend(fields);
    }
    let excused =
        |of: &Asked<'_>| WITHOUT.iter().any(|(root, field, _)| (*root, *field) == (of.of, of.field));

    let unreached: Vec<_> = known.difference(&asked).filter(|of| !excused(of)).collect();
    assert!(unreached.is_empty(), "no command asks for these, and nothing says why: {unreached:?}");
    let needless: Vec<_> = asked.iter().filter(|of| excused(of)).collect();
    assert!(needless.is_empty(), "these are asked for, and something says why they are not: {needless:?}");
    let is_known =
        |(of, field): (&str, &str)| known.iter().any(|known| (known.of, known.field) == (of, field));
    let gone: Vec<_> = WITHOUT.iter().filter(|(of, field, _)| !is_known((*of, *field))).collect();
    assert!(gone.is_empty(), "the schema does not have these: {gone:?}");
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "commands ask for what the schema does not have: {unknown:?}");
}

/// The fields of a type with their arguments, as the schema prints them.
fn fields<'a>(schema: &'a str, of: &'static str) -> Vec<Asked<'a>> {
    let heads = [format!("type {of} {{"), format!("type {of} implements Node {{")];
    let lines = schema.lines().skip_while(|line| !heads.iter().any(|head| head == line)).skip(1);
    let lines = lines.take_while(|line| *line != "}");
    let (mut described, mut field) = (false, "");
    let mut found = Vec::new();
    for line in lines {
        let text = line.trim_start_matches('\t');
        if text == "\"\"\"" {
            described = !described;
            continue;
        }
        let name = &text[..text.find(['(', ':']).unwrap_or(0)];
        if described || name.is_empty() || !name.chars().all(char::is_alphanumeric) {
            continue;
        }
        // Arguments stand further in.
        let argument = line.starts_with("\t\t").then_some(name);
        if argument.is_none() {
            field = name;
        }
        found.push(Asked { of, field, argument });
    }
    found
}

/// The fields that a document asks for at its root, and of a program there; nothing of a text that is no operation.
fn asked(text: &str) -> Option<Vec<Asked<'_>>> {
    let text = text.trim_start();
    let mut tokens = tokens(text).into_iter().peekable();
    let of = match tokens.next()? {
        "query" => "Query",
        "mutation" => "Mutation",
        "subscription" => "Subscription",
        // What is to be filled in stands in braces without blanks.
        "{" => {
            let is_open = text.strip_prefix('{').is_some_and(|rest| rest.starts_with(char::is_whitespace));
            return is_open.then(|| selected(&mut tokens, "Query"));
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
    (tokens.next()? == "{").then(|| selected(&mut tokens, of))
}

/// The fields of the selection that is open, by their names and not their aliases, with their arguments.
fn selected<'a>(tokens: &mut Peekable<IntoIter<&'a str>>, of: &'static str) -> Vec<Asked<'a>> {
    let (mut fields, mut depth) = (Vec::new(), 1_u32);
    let (mut field, mut in_arguments) = ("", false);
    while depth > 0
        && let Some(token) = tokens.next()
    {
        let names_value = tokens.peek() == Some(&":");
        match token {
            "{" if depth == 1 && (of, field) == ("Query", "program") => {
                fields.extend(selected(tokens, "Program"));
            }
            "{" | "(" | "[" => {
                in_arguments |= depth == 1 && token == "(";
                depth += 1;
            }
            "}" | ")" | "]" => {
                depth -= 1;
                in_arguments &= depth > 1;
            }
            argument if depth == 2 && in_arguments && names_value => {
                fields.push(Asked { of, field, argument: Some(argument) });
            }
            _ if depth > 1 => {}
            // The name of a fragment, or of a directive, whose arguments are none of the field.
            "..." | "@" => {
                tokens.next();
                field = "";
            }
            ":" => {}
            name if !names_value => {
                field = name;
                fields.push(Asked { of, field, argument: None });
            }
            // An alias.
            _ => {}
        }
    }
    fields.retain(|asked| !asked.field.is_empty());
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
    fn check(source: &str, expect: &[&str]) {
        let literals = in_quotes(source);
        let found = literals.iter().filter_map(|literal| asked(literal)).flatten();
        let found: Vec<String> = found
            .map(|Asked { of, field, argument }| match argument {
                Some(argument) => format!("{of}.{field}({argument})"),
                None => format!("{of}.{field}"),
            })
            .collect();
        assert_eq!(found, expect, "{source}");
    }
    check(
        r#""query($id: ID!) { run(id: $id) { id } view: runState(runId: $id) }""#,
        &["Query.run", "Query.run(id)", "Query.runState", "Query.runState(runId)"],
    );
    check(
        r#""mutation { a: undo(input: {x: [1]}) @include(if: $b) { b(c: 1) { c } } ...F }""#,
        &["Mutation.undo", "Mutation.undo(input)"],
    );
    check(
        r#""{ program(name: \"p\") { at: text(detail: FULL) functions { nodes { name } } } programs { nodes { name } } }""#,
        &[
            "Query.program",
            "Query.program(name)",
            "Program.text",
            "Program.text(detail)",
            "Program.functions",
            "Query.programs",
        ],
    );
    check(r#""{ eventCursor }""#, &["Query.eventCursor"]);
    check(r#""{run} of {flow}""#, &[]);
    check(r#"// "{ eventCursor }""#, &[]);
    check(r##"'"'; r#"{ flows { name } } "x""#"##, &["Query.flows"]);
    check(
        r#"fn f<'a>(x: &'a str) { "subscription S($id: ID) { e: runEvents(runId: $id) { cursor } }" }"#,
        &["Subscription.runEvents", "Subscription.runEvents(runId)"],
    );
}

//! The GraphQL schema as text, piece by piece.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The definitions of the schema, by the names of what they define.
static DEFINITIONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let sdl = lmlang_graphql::schema::sdl();
    let mut definitions = BTreeMap::new();
    let (mut open, mut head, mut doc) = (Vec::new(), None, false);
    for line in sdl.lines() {
        let quotes = line.matches("\"\"\"").count();
        if quotes == 1 {
            doc = !doc;
        }
        // Between definitions stands an empty line; in a description may be one, too.
        if line.is_empty() && !doc {
            define(&mut definitions, head.take(), &mut open);
        } else {
            if !doc && quotes == 0 {
                head = head.or_else(|| defined(line));
            }
            open.push(line);
        }
    }
    define(&mut definitions, head, &mut open);
    definitions
});

/// What a line begins to define.
fn defined(line: &str) -> Option<String> {
    let heads = ["type ", "input ", "enum ", "union ", "interface ", "scalar "];
    let name = heads.iter().find_map(|head| line.strip_prefix(head))?;
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().map(str::to_owned)
}

fn define(definitions: &mut BTreeMap<String, String>, name: Option<String>, lines: &mut Vec<&str>) {
    if let Some(name) = name {
        definitions.insert(name, format!("{}\n", lines.join("\n")));
    }
    lines.clear();
}

/// The definition of a type.
pub(crate) fn definition(name: &str) -> Option<&'static str> {
    DEFINITIONS.get(name).map(String::as_str)
}

/// The names of all types.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    DEFINITIONS.keys().map(String::as_str)
}

/// The names of a type's fields, or of an enum's values.
pub(crate) fn fields(name: &str) -> Vec<&'static str> {
    let lines = members(name).into_iter();
    lines
        .map(|line| {
            line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or(line)
        })
        .collect()
}

/// The lines that begin a field or value of a type, without arguments and descriptions.
fn members(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let (mut doc, mut deep) = (false, 0_usize);
    for line in definition(name).unwrap_or_default().lines() {
        let quotes = line.matches("\"\"\"").count();
        if doc || quotes > 0 {
            doc ^= quotes == 1;
            continue;
        }
        let Some(line) = line.strip_prefix('\t') else { continue };
        let at_field = deep == 0 && !line.starts_with(['\t', '"', ')']);
        if at_field {
            found.push(line);
        }
        if !line.trim_start().starts_with('"') {
            deep += line.matches('(').count();
            deep -= line.matches(')').count().min(deep);
        }
    }
    found
}

/// Fields whose names have a text in them, as `Type.field`, and types whose names have it.
pub(crate) fn find(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut found = Vec::new();
    for name in names() {
        if name.to_lowercase().contains(&text) {
            found.push(name.to_owned());
        }
        let fields = fields(name).into_iter();
        found.extend(
            fields
                .filter(|field| field.to_lowercase().contains(&text))
                .map(|field| format!("{name}.{field}")),
        );
    }
    found
}

/// A type with all that it consists of.
pub(crate) fn closure(name: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut open = vec![name];
    let mut told = String::new();
    while let Some(name) = open.pop() {
        let Some(definition) = definition(name) else { continue };
        if !seen.insert(name) {
            continue;
        }
        told.push_str(definition);
        told.push('\n');
        let mut of: Vec<&'static str> = members(name).into_iter().filter_map(mentioned).collect();
        of.reverse();
        open.extend(of);
    }
    told
}

/// The type behind the colon of a field.
fn mentioned(line: &'static str) -> Option<&'static str> {
    let (_, kind) = line.split_once(':')?;
    let kind = kind.trim_start_matches([' ', '[']);
    kind.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_read_piece_by_piece() {
        assert!(fields("EditInput").contains(&"addText"));
        assert!(fields("Program").contains(&"neighborhood"));
        assert!(!fields("Program").contains(&"first"), "{:?}", fields("Program"));
        assert_eq!(fields("EdgeDirection"), ["BOTH", "IN", "OUT"]);
        assert!(find("undo").contains(&"Mutation.undo".to_owned()));
        let edits = closure("EditInput");
        for name in ["input AddText", "input InsertNode", "enum Visibility"] {
            assert!(edits.contains(name), "{name}");
        }
        assert!(!edits.contains("type Program"));
    }
}

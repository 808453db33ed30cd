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
pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
    DEFINITIONS.keys().map(String::as_str)
}

/// The names of a type's fields, or of an enum's values.
pub(crate) fn fields(name: &str) -> Vec<&'static str> {
    members(name).iter().map(Member::name).collect()
}

/// A field or value of a type.
struct Member {
    /// The line that begins it, of which arguments may stand in further ones.
    line: &'static str,
    /// Its description, in one line.
    doc: String,
}

impl Member {
    fn name(&self) -> &'static str {
        let mut words = self.line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.next().unwrap_or(self.line)
    }
}

/// The fields or values of a type.
fn members(name: &str) -> Vec<Member> {
    let mut found = Vec::new();
    let (mut doc, mut deep) = (false, 0_usize);
    let mut said = Vec::new();
    for line in definition(name).unwrap_or_default().lines() {
        let quotes = line.matches("\"\"\"").count();
        if doc || quotes > 0 {
            doc ^= quotes == 1;
            if deep == 0 && quotes != 1 {
                said.push(line.trim().trim_matches('"'));
            }
            continue;
        }
        let Some(line) = line.strip_prefix('\t') else {
            // What was said is about the type.
            said.clear();
            continue;
        };
        if deep == 0 && line.starts_with('"') {
            said.push(line.trim_matches('"'));
        }
        let at_field = deep == 0 && !line.starts_with(['\t', '"', ')']);
        if at_field {
            found.push(Member { line, doc: said.join(" ") });
            said.clear();
        }
        if !line.trim_start().starts_with('"') {
            deep += line.matches('(').count();
            deep -= line.matches(')').count().min(deep);
        }
    }
    found
}

/// Words that callers use, by how they begin, with those that the schema has for the same.
const OTHERWISE: [(&str, &str); 1] = [("debug", "simulation")];

/// Fields whose names have a text in them, as `Type.field`, and types whose names have it; then fields of which names and
/// descriptions have all of its words, with what the description says first.
pub(crate) fn find(text: &str) -> Vec<String> {
    let text = text.trim().to_lowercase();
    let words: Vec<&str> = text.split_whitespace().map(stem).collect();
    let (mut named, mut described) = (Vec::new(), Vec::new());
    for name in names() {
        if name.to_lowercase().contains(&text) {
            named.push(name.to_owned());
        }
        for member in members(name) {
            let field = format!("{name}.{}", member.name());
            let all = format!("{} {}", member.name(), member.doc).to_lowercase();
            if member.name().to_lowercase().contains(&text) {
                named.push(field);
            } else if words.iter().all(|word| all.contains(word)) {
                let first = member.doc.split(". ").next().unwrap_or_default();
                described.push(format!("{field}: {first}"));
            }
        }
    }
    // What a document begins with is what most look for.
    described.sort_by_key(|field| !field.starts_with("Mutation.") && !field.starts_with("Query."));
    named.extend(described);
    named
}

/// A word as it may stand in a name or description, without its ending.
fn stem(word: &str) -> &str {
    if let Some((_, other)) = OTHERWISE.iter().find(|(begins, _)| word.starts_with(begins)) {
        return other;
    }
    let endings = ["ing", "es", "s"].into_iter();
    let mut stems = endings.filter_map(|ending| word.strip_suffix(ending));
    stems.find(|stem| stem.len() >= 4).unwrap_or(word)
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
        let mut of: Vec<&'static str> = members(name).iter().filter_map(|of| mentioned(of.line)).collect();
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
        for (words, field) in [
            ("debug", "Mutation.startSimulation: "),
            ("debugging", "Mutation.controlSimulation: "),
            ("bisecting", "Mutation.bisect: Finds the revision at which a test case broke"),
            ("adds test cases", "Mutation.addCase: Adds a test case to a function"),
        ] {
            assert!(find(words).iter().any(|found| found.starts_with(field)), "{words}: {:?}", find(words));
        }
        let edits = closure("EditInput");
        for name in ["input AddText", "input InsertNode", "enum Visibility"] {
            assert!(edits.contains(name), "{name}");
        }
        assert!(!edits.contains("type Program"));
    }
}

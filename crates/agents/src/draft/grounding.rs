//! Whether a draft names only what there is: streams, columns, functions and constructs are held against what the Manager says
//! it has, before it is asked to make anything.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlparser::ast::Statement;
use sqlparser::dialect::Dialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, Tokenizer};

use crate::draft::named::{Found, WINDOWS, place};

/// What a Manager says it has, as far as a draft can name it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The streams, each with its columns where they are known.
    pub streams: BTreeMap<String, Option<Columns>>,
    /// The names of functions, with their other names, in lower case.
    pub functions: BTreeSet<String>,
    /// The constructs of the language, each with its status.
    pub constructs: BTreeMap<String, String>,
    /// Whether SQL can be checked without making anything of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validates: bool,
}

/// By which field of its syntax a Manager says that it checks SQL.
pub const VALIDATES: &str = "validate_sql";

/// The columns of a stream, with their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns(pub BTreeMap<String, Columns>);

/// Something in a draft that there is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The code.
    pub rule: String,
    /// What is wrong.
    pub message: String,
    /// Where: line and column.
    pub location: Option<String>,
    /// The nearest known name.
    pub suggestion: Option<String>,
}

impl Columns {
    /// The columns of a schema: `{columns: [{name, data_type, fields?}]}`, or the list alone.
    #[must_use]
    pub fn of(schema: &Value) -> Columns {
        let list = schema["columns"].as_array().or_else(|| schema.as_array());
        let named = |column: &Value| {
            let name = column["name"].as_str()?.to_owned();
            let fields = match (&column["fields"], &column["element"]["fields"]) {
                (Value::Null, fields) | (fields, _) => Columns::of(fields),
            };
            Some((name, fields))
        };
        Columns(list.into_iter().flatten().filter_map(named).collect())
    }
}

impl Catalog {
    /// Takes in what `GET /functions` answers.
    pub fn add_functions(&mut self, answer: &Value) {
        let list = answer.as_array().or_else(|| answer["functions"].as_array());
        for function in list.into_iter().flatten() {
            let names =
                [&function["name"]].into_iter().chain(function["aliases"].as_array().into_iter().flatten());
            self.functions.extend(names.filter_map(Value::as_str).map(str::to_ascii_lowercase));
        }
    }

    /// Takes in what `GET /capabilities/syntax` answers.
    pub fn add_syntax(&mut self, answer: &Value) {
        self.validates |= answer[VALIDATES] == true;
        let mut open: Vec<&Value> = answer["constructs"].as_array().into_iter().flatten().collect();
        while let Some(construct) = open.pop() {
            if let Some(id) = construct["id"].as_str() {
                let status = construct["status"].as_str().unwrap_or("supported");
                self.constructs.insert(id.to_owned(), status.to_owned());
            }
            open.extend(construct["children"].as_array().into_iter().flatten());
        }
    }

    /// The streams that a draft reads, in the order of their names; nothing for what cannot be read.
    #[must_use]
    pub fn streams_of(sql: &str) -> BTreeSet<String> {
        let Ok(statements) = parse(sql) else { return BTreeSet::new() };
        let mut found = Found::default();
        found.look_at(&statements);
        let named = found.named_queries;
        found.relations.into_iter().map(|(name, _)| name).filter(|name| !named.contains(name)).collect()
    }

    /// Everything in a draft that there is not; nothing for one that is grounded.
    #[must_use]
    pub fn check(&self, sql: &str) -> Vec<Violation> {
        let statements = match parse(sql) {
            Ok(statements) => statements,
            Err(violation) => return vec![violation],
        };
        let [Statement::Query(_)] = &statements[..] else {
            let message = "a draft is one query".to_owned();
            return vec![Violation {
                rule: "NOT_ONE_QUERY".to_owned(),
                message,
                location: None,
                suggestion: None,
            }];
        };
        let mut found = Found::default();
        found.look_at(&statements);
        let mut violations = Vec::new();
        self.check_streams(&found, &mut violations);
        self.check_functions(&found, &mut violations);
        self.check_constructs(&found, &mut violations);
        self.check_columns(&found, &mut violations);
        violations
    }

    fn check_streams(&self, found: &Found, violations: &mut Vec<Violation>) {
        for (name, at) in &found.relations {
            if !self.streams.contains_key(name) && !found.named_queries.contains(name) {
                violations.push(unknown("UNKNOWN_STREAM", "stream", name, at, self.streams.keys()));
            }
        }
    }

    fn check_functions(&self, found: &Found, violations: &mut Vec<Violation>) {
        for (name, at) in &found.functions {
            let is_window = WINDOWS.iter().any(|(window, _)| window == name);
            if !is_window && !self.functions.contains(name) {
                violations.push(unknown("UNKNOWN_FUNCTION", "function", name, at, self.functions.iter()));
            }
        }
    }

    fn check_constructs(&self, found: &Found, violations: &mut Vec<Violation>) {
        for construct in &found.constructs {
            let status = self.constructs.get(*construct).map(String::as_str);
            if matches!(status, Some("supported" | "partial")) {
                continue;
            }
            let why = if status.is_some() { "is not supported" } else { "is not among the constructs" };
            violations.push(Violation {
                rule: "UNSUPPORTED_CONSTRUCT".to_owned(),
                message: format!("`{construct}` {why}"),
                location: None,
                suggestion: None,
            });
        }
    }

    fn check_columns(&self, found: &Found, violations: &mut Vec<Violation>) {
        let sources: Vec<(&str, Option<&Columns>)> = found
            .sources
            .iter()
            .map(|(alias, stream)| (alias.as_str(), self.streams.get(stream).and_then(Option::as_ref)))
            .collect();
        // What comes out of a query within the query is not known here.
        let all_known = !found.sources.is_empty()
            && found.named_queries.is_empty()
            && !found.has_derived
            && sources.iter().all(|(_, columns)| columns.is_some());
        if !all_known {
            return;
        }
        let known: BTreeMap<&str, &Columns> =
            sources.iter().filter_map(|(alias, columns)| Some((*alias, (*columns)?))).collect();
        // What is called so in the result is no column that the result is made of.
        let strict = found.results.iter().map(|path| (path, false));
        let mut told = BTreeSet::new();
        for (path, may_be_result) in strict.chain(found.columns.iter().map(|path| (path, true))) {
            let names: Vec<&str> = path.iter().map(|part| part.value.as_str()).collect();
            let [first, rest @ ..] = &names[..] else { continue };
            let qualified = known.get(first).filter(|_| !rest.is_empty());
            let (fits, candidates): (bool, Vec<&String>) = match qualified {
                Some(columns) => (has(columns, rest), columns.0.keys().collect()),
                None => (
                    known.values().any(|columns| has(columns, &names))
                        || (may_be_result && rest.is_empty() && found.aliases.contains(*first)),
                    known.values().flat_map(|columns| columns.0.keys()).collect(),
                ),
            };
            let at = path.first().map(place).unwrap_or_default();
            if !fits && told.insert((at.clone(), names.join("."))) {
                violations.push(unknown(
                    "UNKNOWN_COLUMN",
                    "column",
                    &names.join("."),
                    &at,
                    candidates.into_iter(),
                ));
            }
        }
    }
}

/// Whether a path of names leads to a column or one of its fields.
fn has(columns: &Columns, path: &[&str]) -> bool {
    match path {
        [] => true,
        [first, rest @ ..] => {
            columns.0.get(*first).is_some_and(|fields| rest.is_empty() || has(fields, rest))
        }
    }
}

fn unknown<'a>(
    rule: &str,
    what: &str,
    name: &str,
    at: &str,
    known: impl Iterator<Item = &'a String>,
) -> Violation {
    Violation {
        rule: rule.to_owned(),
        message: format!("there is no {what} `{name}`"),
        location: Some(at.to_owned()).filter(|at| !at.is_empty()),
        suggestion: nearest(name, known),
    }
}

/// The known name that is nearest, if one is near; case is no difference.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<String> {
    let known: BTreeMap<String, &String> = known.map(|known| (known.to_ascii_lowercase(), known)).collect();
    let near = lmlang_ir::text::nearest(&name.to_ascii_lowercase(), known.keys().map(String::as_str));
    near.first().map(|near| known[near].clone())
}

/// SQL in which words like `user` are names, as columns of streams have them.
#[derive(Debug)]
struct Plain;

impl Dialect for Plain {
    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        matches!(letter, '"' | '`')
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        letter.is_alphabetic() || letter == '_'
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        letter.is_alphanumeric() || letter == '_'
    }
}

/// How deep an expression may be nested, and how many words and signs a draft may have: a chain of operators is as deep a tree
/// as it is long, and trees are walked on the stack.
const MOST_DEPTH: usize = 25;
/// See [`MOST_DEPTH`].
const MOST_TOKENS: usize = 1_000;

fn parse(sql: &str) -> Result<Vec<Statement>, Violation> {
    let violation = |rule: &str, message: String, location| Violation {
        rule: rule.to_owned(),
        message,
        location,
        suggestion: None,
    };
    let tokens = Tokenizer::new(&Plain, sql).tokenize_with_location();
    let tokens = tokens.map_err(|error| {
        let Location { line, column } = error.location;
        violation("PARSE", error.message, Some(format!("line {line} column {column}")))
    })?;
    let count = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).count();
    if count > MOST_TOKENS {
        let message = format!("{count} words and signs, and a draft has {MOST_TOKENS} at most");
        return Err(violation("TOO_LARGE", message, None));
    }
    let parser = Parser::new(&Plain).with_recursion_limit(MOST_DEPTH);
    let mut parser = parser.with_tokens_with_locations(tokens);
    parser.parse_statements().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => {
            violation("TOO_LARGE", format!("it is nested more than {MOST_DEPTH} deep"), None)
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            let (message, location) = match text.rsplit_once(" at Line: ") {
                Some((message, place)) => {
                    (message.to_owned(), Some(format!("line {}", place.replace(", Column: ", " column "))))
                }
                None => (text, None),
            };
            violation("PARSE", message, location)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let schema = json!({ "columns": [
            { "name": "id", "data_type": "bigint" },
            { "name": "amount", "data_type": "float" },
            { "name": "user", "data_type": "struct", "fields": [{ "name": "city", "data_type": "string" }] },
        ] });
        catalog.streams.insert("orders".to_owned(), Some(Columns::of(&schema)));
        catalog.streams.insert("users".to_owned(), None);
        catalog.add_functions(&json!([
            { "name": "sum", "aliases": ["total"] }, { "name": "abs", "aliases": [] },
        ]));
        let supported = |id: &str| json!({ "id": id, "type": "feature", "status": "supported" });
        catalog.add_syntax(&json!({ "constructs": [{
            "id": "statement", "type": "group", "status": "supported",
            "children": [
                supported("statement.select"), supported("select.where"), supported("select.group_by"),
                supported("from.source"), supported("expr.binary.arithmetic"), supported("window.tumbling"),
                { "id": "expr.case", "type": "feature", "status": "unsupported" },
            ],
        }] }));
        catalog
    }

    fn check(sql: &str, expect: &[&str]) {
        let told = |of: Violation| {
            let place = of.location.map(|place| format!(" at {place}")).unwrap_or_default();
            let near = of.suggestion.map(|near| format!(", near {near}")).unwrap_or_default();
            format!("{}: {}{place}{near}", of.rule, of.message)
        };
        assert_eq!(catalog().check(sql).into_iter().map(told).collect::<Vec<_>>(), expect, "{sql}");
    }

    /// NL-07, NL-09, NL-10: what is not in the catalog is found, with its place and the nearest name.
    #[test]
    fn a_draft_names_only_what_there_is() {
        check("SELECT id, amount * 2 AS twice FROM orders WHERE amount > 1", &[]);
        check("SELECT total(amount), user.city FROM orders o GROUP BY tumblingwindow('ss', 10), o.id", &[]);
        check(
            "SELECT id FROM order",
            &["UNKNOWN_STREAM: there is no stream `order` at line 1 column 16, near orders"],
        );
    }

    #[test]
    fn what_there_is_not_is_told() {
        check(
            "SELECT ID, aomunt FROM Orders",
            &["UNKNOWN_STREAM: there is no stream `Orders` at line 1 column 24, near orders"],
        );
        check(
            "SELECT id FROM ordrs",
            &["UNKNOWN_STREAM: there is no stream `ordrs` at line 1 column 16, near orders"],
        );
        check(
            "SELECT amout, user.town,\n  nothing FROM orders",
            &[
                "UNKNOWN_COLUMN: there is no column `amout` at line 1 column 8, near amount",
                "UNKNOWN_COLUMN: there is no column `user.town` at line 1 column 15",
                "UNKNOWN_COLUMN: there is no column `nothing` at line 2 column 3",
            ],
        );
        check(
            "SELECT sun(amount) FROM orders",
            &["UNKNOWN_FUNCTION: there is no function `sun` at line 1 column 8, near sum"],
        );
        check(
            "SELECT CASE WHEN id > 1 THEN 1 ELSE 2 END AS x FROM orders HAVING x > 1",
            &[
                "UNSUPPORTED_CONSTRUCT: `expr.case` is not supported",
                "UNSUPPORTED_CONSTRUCT: `select.having` is not among the constructs",
            ],
        );
        check(
            "SELECT nothing AS nothing FROM orders",
            &["UNKNOWN_COLUMN: there is no column `nothing` at line 1 column 8"],
        );
        check("SELECT floor(amount) AS low FROM orders", &["UNKNOWN_FUNCTION: there is no function `floor`"]);
        check("DROP TABLE orders", &["NOT_ONE_QUERY: a draft is one query"]);
        check("SELECT id FROM orders; SELECT id FROM orders", &["NOT_ONE_QUERY: a draft is one query"]);
        check("SELECT id FROM", &["PARSE: Expected: identifier, found: EOF"]);
    }

    /// Whoever writes a draft decides how deep it is, and on whose stack it is read.
    #[test]
    fn no_depth_breaks_the_check() {
        let look_at = |sql: &str| {
            drop(catalog().check(sql));
            drop(Catalog::streams_of(sql));
        };
        let small = move || {
            for (open, close) in [
                ("NOT ", ""),
                ("(", ")"),
                ("- ", ""),
                ("abs(", ")"),
                ("CASE WHEN id > 1 THEN ", " END"),
                ("(SELECT ", ")"),
            ] {
                for depth in [10, 30, 45, 200, 10_000] {
                    look_at(&format!("SELECT {}id{} FROM orders", open.repeat(depth), close.repeat(depth)));
                }
            }
            for chain in ["id + ", "id AND ", "id OR NOT "] {
                for length in [100, 490, 20_000] {
                    look_at(&format!("SELECT {}id FROM orders", chain.repeat(length)));
                }
            }
            for length in [100, 10_000] {
                look_at(&format!("{}SELECT id FROM orders", "SELECT id FROM orders UNION ".repeat(length)));
            }
        };
        // Half of what a thread of the server has.
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(small).expect("a thread");
        thread.join().expect("it comes to its end");
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_check(sql in "(SELECT|FROM|WHERE|orders|amount|[(),*+]|'x'|CASE|END| ){0,30}") {
            drop(catalog().check(&sql));
            drop(Catalog::streams_of(&sql));
        }
    }
}

//! Whatever a query is, it is answered, within its limits.

use std::fs;
use std::path::Path;

use lmlang_entities::cypher::{self, Failure, Limits, Table};
use lmlang_entities::{MemoryGraph, Patch, Stamp};
use proptest::prelude::*;
use serde_json::{Map, json};

fn graph() -> MemoryGraph {
    let name = |key: usize| json!({ "label": "A", "key": format!("k{key}") });
    let nodes = (0..20).map(|key| json!({ "upsert_node": name(key) }));
    let edge = |key: usize| json!({ "upsert_edge": { "from": name(key), "type": "R", "to": name((key * 7 + 1) % 20) } });
    let ops: Vec<_> = nodes.chain((0..20).map(edge)).collect();
    let (mut graph, mut ids) = (MemoryGraph::new(), 0_u128);
    let made = graph.patch(&Patch::from_ops(&ops).unwrap(), Stamp::default(), || {
        ids += 1;
        ids.to_be_bytes()
    });
    made.unwrap();
    graph
}

/// Runs a query, and checks that an error lies within its text.
fn answer(query: &str, limits: &Limits) -> Result<Table, &'static str> {
    let answer = cypher::run(query, &Map::new(), &graph(), limits);
    answer.map_err(|failure| match failure {
        Failure::Query(error) => {
            let line = query.split('\n').nth(error.position.line - 1).expect("there is the line");
            assert!((1..=line.chars().count() + 1).contains(&error.position.column), "{error} in {query:?}");
            assert!(!error.to_string().is_empty());
            error.code()
        }
        Failure::Graph(never) => match never {},
    })
}

/// The queries of the files of cases.
fn valid() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut queries = Vec::new();
    for name in ["queries.md", "expressions.md", "refusals.md"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let blocks = text.split("```cypher\n").skip(1);
        queries.extend(blocks.filter_map(|block| block.split("```").next()).map(str::to_owned));
    }
    queries
}

const WORDS: [&str; 60] = [
    "MATCH", "OPTIONAL", "WHERE", "RETURN", "WITH", "UNWIND", "AS", "ORDER", "BY", "SKIP", "LIMIT",
    "DISTINCT", "AND", "OR", "NOT", "XOR", "IN", "IS", "NULL", "CASE", "WHEN", "THEN", "ELSE", "END",
    "EXISTS", "STARTS", "CONTAINS", "(", ")", "[", "]", "{", "}", ":", ",", ".", "..", "-", "->", "<-", "=",
    "<>", "<", "+", "*", "/", "|", "n", "m", "A", "R", "x", "key", "count(", "collect(", "size(", "1", "2.5",
    "'t'", "$p",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        prop_assert!(answer(&text, &Limits::default()).is_err());
    }

    #[test]
    fn any_words_are_answered(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..30)) {
        let limits = Limits { steps: 10_000, ..Limits::default() };
        if answer(&words.join(" "), &limits).is_ok() {
            prop_assert!(words.contains(&"RETURN"));
        }
    }

    #[test]
    fn changed_queries_are_answered(
        query in prop::sample::select(valid()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, prop::sample::select(WORDS.to_vec())), 1..4),
    ) {
        let mut letters: Vec<char> = query.chars().collect();
        for (at, what, word) in changes {
            let at = at.index(letters.len() + 1);
            match what {
                0 => letters.truncate(at),
                1 if at < letters.len() => drop(letters.remove(at)),
                2 => drop(letters.splice(at..at, word.chars())),
                _ => letters.rotate_left(at.min(3)),
            }
        }
        let text: String = letters.into_iter().collect();
        let limits = Limits { steps: 10_000, ..Limits::default() };
        match answer(&text, &limits) {
            Ok(table) => prop_assert!(table.rows.iter().all(|row| row.len() == table.columns.len())),
            Err(code) => prop_assert!(code.starts_with("CYPHER_")),
        }
    }
}

fn check(query: &str, expected: &str) {
    assert_eq!(
        answer(query, &Limits::default()).map(|_| ()),
        Err(expected),
        "{}",
        &query[..query.len().min(80)]
    );
}

#[test]
fn depth_is_limited() {
    for (before, after) in
        [("(", ")"), ("[", "]"), ("NOT ", ""), ("- ", ""), ("+ ", ""), ("{a: ", "}"), ("size([", "])")]
    {
        check(&format!("RETURN {}1{}", before.repeat(2_000), after.repeat(2_000)), "CYPHER_TOO_DEEP");
    }
    check(
        &format!("RETURN {}1{}", "CASE WHEN true THEN ".repeat(500), " END".repeat(500)),
        "CYPHER_TOO_DEEP",
    );
    check(&format!("RETURN 1{}", " + 1".repeat(2_000)), "CYPHER_TOO_DEEP");
    check(&format!("RETURN {{}}{}", ".a".repeat(2_000)), "CYPHER_TOO_DEEP");
    check(&format!("RETURN []{}", "[0]".repeat(2_000)), "CYPHER_TOO_DEEP");
    check(&format!("RETURN true{}", " XOR true".repeat(1_000)), "CYPHER_TOO_DEEP");
    check(&format!("RETURN {}", "EXISTS { (n) WHERE ".repeat(1_000)), "CYPHER_TOO_DEEP");
    let wide = format!("RETURN true{} AS x", " OR false".repeat(2_000));
    assert_eq!(answer(&wide, &Limits::default()).unwrap().rows, [[json!(true)]]);
}

/// What is made bit by bit is as deep as what is written at once.
#[test]
fn values_are_limited() {
    let deeper = format!("WITH {}x{} AS x ", "[".repeat(25), "]".repeat(25));
    check(&format!("WITH 1 AS x {}RETURN x", deeper.repeat(29)), "CYPHER_TOO_DEEP");
    let compared = format!(
        "WITH 1 AS x {}WITH x, x AS y WHERE x = y RETURN DISTINCT 1 AS one, count(x)",
        deeper.repeat(28)
    );
    assert_eq!(answer(&compared, &Limits::default()).unwrap().rows, [[json!(1), json!(1)]]);
}

/// The longest path that a query can ask for is followed on a thread of ordinary size.
#[test]
fn the_longest_pattern_is_found() {
    let (mut graph, mut ids) = (MemoryGraph::new(), 0_u128);
    let name = |key: usize| json!({ "label": "A", "key": format!("k{key}") });
    let node = |key| json!({ "upsert_node": name(key) });
    let edge = |key: usize| json!({ "upsert_edge": { "from": name(key), "type": "R", "to": name(key + 1) } });
    let ops: Vec<_> = (0..249).map(node).chain((0..248).map(edge)).collect();
    let made = graph.patch(&Patch::from_ops(&ops).unwrap(), Stamp::default(), || {
        ids += 1;
        ids.to_be_bytes()
    });
    made.unwrap();
    let query = format!("MATCH (a:A {{key: 'k0'}}){}(b) RETURN b.key", "-[*8]->()".repeat(30) + "-[*8]->");
    let table = cypher::run(&query, &Map::new(), &graph, &Limits::default()).unwrap();
    assert_eq!(table.rows, [[json!("k248")]]);
}

#[test]
fn length_is_limited() {
    check(&"x".repeat(100_000), "CYPHER_TOO_LONG");
    check(&format!("MATCH (){} RETURN 1", "-->()".repeat(100)), "CYPHER_TOO_LONG");
    check(&format!("{}RETURN 1", "UNWIND [1] AS x WITH 1 AS y ".repeat(100)), "CYPHER_TOO_LONG");
}

#[test]
fn steps_are_limited() {
    check("MATCH (a), (b), (c), (d), (e), (f) RETURN count(*)", "CYPHER_STEPS");
    check("MATCH (a)-[*1..8]-(b), (c)-[*1..8]-(d), (e)-[*1..8]-(f) RETURN count(*)", "CYPHER_STEPS");
    let doubling = "WITH 'abcdefgh' AS s ".to_owned() + &"WITH s + s AS s ".repeat(28) + "RETURN size(s)";
    check(&doubling, "CYPHER_STEPS");
    let doubling = "WITH [1] AS s ".to_owned() + &"WITH s + s AS s ".repeat(28) + "RETURN size(s)";
    check(&doubling, "CYPHER_STEPS");
}

#[test]
fn answers_are_limited() {
    let limits = Limits { rows: 3, ..Limits::default() };
    let table = answer("MATCH (a) RETURN a.key", &limits).unwrap();
    assert_eq!((table.rows.len(), table.truncated), (3, true));
    let table = answer("MATCH (a) RETURN a.key LIMIT 3", &limits).unwrap();
    assert_eq!((table.rows.len(), table.truncated), (3, false));
    let limits = Limits { result_bytes: 40, ..Limits::default() };
    let table = answer("MATCH (a) RETURN a.key", &limits).unwrap();
    assert_eq!((table.rows.len(), table.truncated), (5, true));
}

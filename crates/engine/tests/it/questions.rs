//! Runs `questions/*.md`: questions in Cypher about entities and programs (PUN-39).
//!
//! A heading of the second level is a test with a database of its own, and the blocks under it are its steps; what stands
//! before the first one happens in every test. `program NAME` makes a program of a text, `doc NAME` says what one is for,
//! `replace NAME FUNCTION` gives a function another text, `patch` changes entities, and `cypher` asks, with `params` before it
//! if it has some; `cypher NAME` asks as somebody who is limited to that program. After a question stands the `table` or
//! `error`, after a patch that is refused the `error`. Ids of programs are printed as `<NAME>`. With `LMLANG_BLESS=1` what is
//! expected is written anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use lmlang_engine::{Engine, Error, NewToken, Scope, Selector, Unnamed};
use lmlang_entities::Patch;
use lmlang_history::log::ActorKind;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::fixture::{Fixture, OFTEN, call};

/// A database with what a test has done to it.
struct World {
    fixture: Fixture,
    /// The ids of programs, by name.
    ids: BTreeMap<String, String>,
    params: Map<String, Value>,
}

impl World {
    async fn new() -> World {
        World { fixture: Fixture::new(OFTEN).await, ids: BTreeMap::new(), params: Map::new() }
    }

    /// Does what a block says, and returns what the block after it should say.
    async fn step(&mut self, heading: &str, body: &str) -> Option<(&'static str, String)> {
        let words: Vec<&str> = heading.split(' ').collect();
        match words.as_slice() {
            ["program", name] => {
                let open = self.fixture.create(name, body).await;
                self.ids.insert((*name).to_owned(), open.timeline.id().to_string());
                None
            }
            ["doc", name] => {
                let selector = Selector::Name((*name).to_owned());
                let doc = Some(body.trim_end());
                self.fixture.engine.update_program(&selector, None, doc, &call()).await.expect("it is there");
                None
            }
            ["replace", name, function] => {
                self.fixture.replace(name, function, body).await;
                None
            }
            ["patch"] => {
                let patch = Patch::from_json(&serde_json::from_str(body).expect("JSON")).expect("a patch");
                match self.fixture.engine.patch_entities(patch, false, &call()).await {
                    Ok(_) => None,
                    Err(Error::EntityValue(error)) => Some(("error", format!("{} {error}\n", error.code()))),
                    Err(other) => panic!("{other:?}"),
                }
            }
            ["params"] => {
                self.params = serde_json::from_str(body).expect("an object");
                None
            }
            ["cypher"] => Some(self.ask(&self.fixture.engine.clone(), body).await),
            ["cypher", only] => {
                let engine = self.limited(only).await;
                Some(self.ask(&engine, body).await)
            }
            other => panic!("no block is called {other:?}"),
        }
    }

    /// The engine as somebody sees it who is limited to a program.
    async fn limited(&self, program: &str) -> Engine {
        let engine = &self.fixture.engine;
        let new = NewToken {
            name: format!("only {program} {}", engine.tokens().await.expect("they can be listed").len()),
            kind: ActorKind::Agent,
            scopes: vec![Scope::Read],
            programs: Some(vec![Selector::Name(program.to_owned())]),
            expires: None,
        };
        let (_, secret) = engine.create_token(new, &call().actor).await.expect("the token is made");
        let grant = engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("the token is good");
        grant.engine().expect("it is limited").clone()
    }

    async fn ask(&mut self, engine: &Engine, query: &str) -> (&'static str, String) {
        let (mut query, mut params) = (query.trim_end().to_owned(), std::mem::take(&mut self.params));
        for (name, id) in &self.ids {
            query = query.replace(&format!("<{name}>"), id);
            for value in params.values_mut() {
                if let Value::String(text) = value {
                    *text = text.replace(&format!("<{name}>"), id);
                }
            }
        }
        let (kind, mut text) = match engine.cypher(query, params).await {
            Ok(table) => {
                let mut text = format!("{}\n", table.columns.join(" | "));
                for row in &table.rows {
                    let row: Vec<String> = row.iter().map(Value::to_string).collect();
                    writeln!(text, "{}", row.join(" | ")).expect("a text grows");
                }
                if table.truncated {
                    text.push_str("…\n");
                }
                ("table", text)
            }
            Err(Error::Cypher(error)) => ("error", format!("{} {error}\n", error.code())),
            Err(other) => panic!("{other:?}"),
        };
        for (name, id) in &self.ids {
            text = text.replace(id, &format!("<{name}>"));
        }
        (kind, text)
    }
}

/// A part of a file: text, or a block with its heading.
enum Part {
    Text(String),
    Block(String, String),
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some(heading) => {
                let body = lines.by_ref().take_while(|line| *line != "```");
                parts.push(Part::Block(heading.to_owned(), body.map(|line| format!("{line}\n")).collect()));
            }
            None => parts.push(Part::Text(format!("{line}\n"))),
        }
    }
    parts
}

/// Runs the tests of a file, and returns the text that it should be, with how many there are.
async fn run(text: &str) -> (String, usize) {
    let mut setup: Vec<(String, String)> = Vec::new();
    let mut world = None;
    let (mut tests, mut written) = (0, String::new());
    let mut answer: Option<(&str, String)> = None;
    let put = |heading: &str, body: &str, written: &mut String| {
        write!(written, "```{heading}\n{body}```\n").expect("a text grows");
    };
    for part in parts(text) {
        let is_answer =
            matches!(&part, Part::Block(heading, _) if matches!(heading.as_str(), "table" | "error"));
        if let Some((heading, right)) = answer.take() {
            put(heading, &right, &mut written);
        } else if is_answer {
            panic!("nothing was asked before an answer");
        }
        match part {
            Part::Text(line) => {
                if line.starts_with("## ") {
                    tests += 1;
                    let mut new = World::new().await;
                    for (heading, body) in &setup {
                        new.step(heading, body).await;
                    }
                    world = Some(new);
                }
                written.push_str(&line);
            }
            Part::Block(..) if is_answer => {}
            Part::Block(heading, body) => {
                put(&heading, &body, &mut written);
                match &mut world {
                    None => setup.push((heading, body)),
                    Some(world) => answer = world.step(&heading, &body).await,
                }
            }
        }
    }
    if let Some((heading, right)) = answer {
        put(heading, &right, &mut written);
    }
    (written, tests)
}

async fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/questions").join(name);
    let text = fs::read_to_string(&path).expect("the file is there");
    let (right, tests) = run(&text).await;
    assert!(tests > 0);
    if right == text {
        return;
    }
    if std::env::var_os("LMLANG_BLESS").is_some() {
        fs::write(&path, right).expect("it can be written");
        return;
    }
    let (line, (found, expected)) = (right.lines().chain([""]).zip(text.lines().chain([""])).enumerate())
        .find(|(_, (right, text))| right != text)
        .expect("they differ");
    panic!("{name}:{}: expected\n{expected}\nfound\n{found}\n(LMLANG_BLESS=1 writes it)", line + 1);
}

#[tokio::test]
async fn what_programs_are_made_of() {
    check("parts.md").await;
}

#[tokio::test]
async fn entities_and_programs_together() {
    check("together.md").await;
}

#[tokio::test]
async fn what_somebody_may_know() {
    check("limited.md").await;
}

async fn ask(engine: &Engine, query: &str) -> Result<Vec<Vec<Value>>, Error> {
    Ok(engine.cypher(query.to_owned(), Map::new()).await?.rows)
}

async fn one(engine: &Engine, query: &str) -> Value {
    let rows = ask(engine, query).await.expect("it is answered");
    let [row] = rows.as_slice() else { panic!("{query}: {rows:?}") };
    row[0].clone()
}

/// Pages are put together without a gap, whatever stands beside.
#[tokio::test]
async fn large_programs_are_seen_as_a_whole() {
    const FUNCTIONS: usize = 1_200;
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let mut text = "module main\n".to_owned();
    for number in 0..FUNCTIONS {
        let body = if number == 0 { "x = add.i32 n, 1" } else { "x = call f_0(n)" };
        write!(text, "\n; Doc.\npub func f_{number} (n: i32) -> (i32) {{\n  {body}\n  return x\n}}\n")
            .expect("a text grows");
    }
    fixture.create("large", &text).await;
    fixture.create("small", "module main\n\npub func f_0 () -> () {\n  return\n}\n").await;
    let leaves: Value = (0..700)
        .map(|number| json!({ "upsert_node": { "label": "Leaf", "key": format!("{number}") } }))
        .collect();
    let patch = Patch::from_json(&leaves).expect("a patch");
    engine.patch_entities(patch, false, &call()).await.expect("it is applied");
    for (pattern, expected) in [
        ("(n:Function)", FUNCTIONS + 1),
        ("(n:Document)", FUNCTIONS),
        ("(n:Function {program: 'large'})", FUNCTIONS),
        ("(:Module)-[:CONTAINS]->(n)", FUNCTIONS + 1),
        ("(n)-[:CALLS]->(:Function {name: 'f_0'})", FUNCTIONS - 1),
        // Programs, modules, functions, documents, and entities between them.
        ("(n)", 2 + 2 + FUNCTIONS + 1 + FUNCTIONS + 700),
    ] {
        let both = format!("MATCH {pattern} RETURN [count(n), count(DISTINCT n)]");
        assert_eq!(one(engine, &both).await, json!([expected, expected]), "{pattern}");
    }
    let query = "MATCH (f:Function) RETURN f.name".to_owned();
    let table = engine.cypher(query, Map::new()).await.expect("it is answered");
    assert_eq!((table.rows.len(), table.truncated), (1_000, true));
}

/// A program that cannot be opened is in nobody's way who asks of others.
#[tokio::test]
async fn what_a_question_does_not_touch_is_not_opened() {
    let fixture = Fixture::new(OFTEN).await;
    for name in ["broken", "whole"] {
        fixture.create(name, "module main\n\npub func here () -> () {\n  return\n}\n").await;
    }
    let fixture = fixture
        .reopened(&[
            "DELETE FROM snapshots",
            "UPDATE log SET edits = root_hash WHERE program = (SELECT key FROM programs WHERE name = 'broken')",
        ])
        .await;
    let engine = &fixture.engine;
    for query in [
        "MATCH (p:Program) RETURN count(p.revision) = 2",
        "MATCH (f:Function {program: 'whole'}) RETURN f.name = 'here'",
        "MATCH (f:Function {name: 'here', program: 'whole'}) RETURN f.path = 'main::here'",
        "MATCH (p:Program {name: 'whole'})-[:CONTAINS]->()-[:CONTAINS]->(f) RETURN f.name = 'here'",
        "MATCH (p:Program {name: 'broken'}) RETURN NOT EXISTS { (p)-[:CALLS]->() }",
    ] {
        assert_eq!(one(engine, query).await, json!(true), "{query}");
    }
    let touched = ask(engine, "MATCH (f:Function {name: 'here'}) RETURN f.path").await;
    assert!(matches!(touched, Err(Error::Damaged { .. })), "{touched:?}");
}

/// PUN-56: whoever writes meanwhile, what is answered is one state of each program, its newest on `main`.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_about_one_moment() {
    const ROUNDS: u64 = 20;
    let fixture = Fixture::new(OFTEN).await;
    let text = |number: u64| {
        format!("; {number}\npub func noted () -> (i64) {{\n  one = call again()\n  return one\n}}")
    };
    let again = |number: u64| format!("; {number}\npub func again () -> (i64) {{\n  return {number}\n}}");
    let open = fixture.create("moving", &format!("module main\n\n{}\n\n{}\n", again(1), text(1))).await;
    let engine = fixture.engine.clone();
    let mut readers = JoinSet::new();
    for _ in 0..4 {
        let engine = engine.clone();
        readers.spawn(async move {
            let query = "MATCH (f:Function {name: 'noted'})-[:CALLS]->(g) MATCH (p:Program {key: f.program_id}) \
                         RETURN f.doc, g.doc, p.revision";
            let mut last = 0;
            while last < 2 * ROUNDS {
                let rows = ask(&engine, query).await.expect("it is answered");
                let [noted, again, revision] = rows[0].as_slice() else { panic!("{rows:?}") };
                let number = |doc: &Value| doc.as_str().and_then(|doc| doc.parse::<u64>().ok()).expect("a number");
                let (noted, again) = (number(noted), number(again));
                let revision = revision.as_u64().expect("a number");
                // Each is told of in turn: first the one that is called, then the one that calls.
                assert_eq!(noted + again, revision + 1, "{rows:?}");
                assert!(revision >= last, "{revision} after {last}");
                last = revision;
            }
        });
    }
    for number in 2..=ROUNDS + 1 {
        fixture.replace("moving", "again", &again(number)).await;
        fixture.replace("moving", "noted", &text(number)).await;
    }
    while let Some(done) = readers.join_next().await {
        done.expect("a reader sees one state");
    }
    fixture.engine.create_branch(&open, "side", None, &call()).await.expect("it is made");
    fixture.replace_on("side", "moving", "noted", &text(99)).await;
    let seen = one(&engine, "MATCH (f:Function {name: 'noted'}) RETURN f.doc").await;
    assert_eq!(seen, json!(format!("{}", ROUNDS + 1)), "a branch is not `main`");
}

/// More questions than are answered at a time, each of which opens programs, go on in turn.
#[tokio::test(flavor = "multi_thread")]
async fn many_questions_open_programs_at_the_same_time() {
    let fixture = Fixture::new(OFTEN).await;
    for number in 0..12 {
        fixture.create(&format!("p{number}"), "module main\n\npub func here () -> () {\n  return\n}\n").await;
    }
    let fixture = fixture.reopened(&[]).await;
    let mut readers = JoinSet::new();
    for _ in 0..8 {
        let engine = fixture.engine.clone();
        readers.spawn(async move { one(&engine, "MATCH (f:Function {name: 'here'}) RETURN count(f)").await });
    }
    assert_eq!(readers.join_all().await, vec![json!(12); 8]);
}

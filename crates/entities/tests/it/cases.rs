//! Runs `cases/*.md`: a heading of the second level is a test, and the blocks under it are its steps.
//!
//! A block `patch` is applied and followed by `counts`, a block `cypher` is run, with a block `params` before it if it
//! has some, and followed by `table`; either may be followed by `error` instead, which is a code and the message with its
//! place. Blocks before the first such heading happen in every test. With `LMLANG_BLESS=1` what is expected is written anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use lmlang_entities::cypher::{self, Failure, Limits, Table};
use lmlang_entities::{MemoryGraph, Patch, PatchError, Stamp};
use serde_json::{Map, Value as Json};

/// A graph with a clock and ids of its own.
#[derive(Default)]
struct World {
    graph: MemoryGraph,
    patches: i64,
    ids: u128,
    params: Map<String, Json>,
}

impl World {
    /// Does what a block says, and returns what the block after it should say.
    fn step(&mut self, kind: &str, body: &str) -> Option<(&'static str, String)> {
        match kind {
            "patch" => Some(match self.patch(body) {
                Ok(counts) => ("counts", counts),
                Err(error) => ("error", error),
            }),
            "cypher" => {
                let run = cypher::run(body.trim_end(), &self.params, &self.graph, &Limits::default());
                self.params = Map::new();
                Some(match run {
                    Ok(table) => ("table", printed(&table)),
                    Err(Failure::Query(error)) => {
                        let nearest =
                            error.nearest.as_ref().map_or(String::new(), |word| format!(" (`{word}`?)"));
                        ("error", format!("{} {error}{nearest}\n", error.code()))
                    }
                    Err(Failure::Graph(never)) => match never {},
                })
            }
            "params" => {
                self.params = serde_json::from_str(body).unwrap();
                None
            }
            other => panic!("no block is called `{other}`"),
        }
    }

    fn patch(&mut self, body: &str) -> Result<String, String> {
        self.patches += 1;
        let stamp = Stamp { time_micros: self.patches * 1_000_000 };
        let patch = Patch::from_json(&serde_json::from_str(body).unwrap())
            .map_err(|error| format!("{} {error}\n", error.code()))?;
        let ids = || {
            self.ids += 1;
            self.ids.to_be_bytes()
        };
        let counts = self.graph.patch(&patch, stamp, ids).map_err(|error| match &error {
            PatchError::Validation(_) | PatchError::Constraint(_) => format!("{} {error}\n", error.code()),
            PatchError::Graph(never) => match *never {},
        })?;
        Ok(format!(
            "created {}, updated {}, deleted {}, unchanged {}\n",
            counts.created, counts.updated, counts.deleted, counts.unchanged
        ))
    }
}

fn printed(table: &Table) -> String {
    let mut text = format!("{}\n", table.columns.join(" | "));
    for row in &table.rows {
        let row: Vec<String> = row.iter().map(Json::to_string).collect();
        writeln!(text, "{}", row.join(" | ")).unwrap();
    }
    if table.truncated {
        text.push_str("…\n");
    }
    text
}

/// A part of a file: text, or a block with its kind.
enum Part {
    Text(String),
    Block(String, String),
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some(kind) => {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                parts.push(Part::Block(
                    kind.to_owned(),
                    body.iter().map(|line| format!("{line}\n")).collect(),
                ));
            }
            None => parts.push(Part::Text(format!("{line}\n"))),
        }
    }
    parts
}

/// Runs the tests of a file, and returns the text that it should be, with how many there are.
fn run(text: &str) -> (String, usize) {
    let mut setup: Vec<(String, String)> = Vec::new();
    let mut world = World::default();
    let (mut tests, mut written) = (0, String::new());
    let mut answer: Option<(&str, String)> = None;
    let put =
        |kind: &str, body: &str, written: &mut String| write!(written, "```{kind}\n{body}```\n").unwrap();
    for part in parts(text) {
        match part {
            Part::Text(line) => {
                if let Some((kind, body)) = answer.take() {
                    put(kind, &body, &mut written);
                }
                if line.starts_with("## ") {
                    tests += 1;
                    world = World::default();
                    for (kind, body) in &setup {
                        world.step(kind, body);
                    }
                }
                written.push_str(&line);
            }
            Part::Block(kind, body) if matches!(kind.as_str(), "counts" | "table" | "error") => {
                let (kind, right) =
                    answer.take().unwrap_or_else(|| panic!("nothing was done before: {body}"));
                put(kind, &right, &mut written);
            }
            Part::Block(kind, body) => {
                if let Some((kind, body)) = answer.take() {
                    put(kind, &body, &mut written);
                }
                put(&kind, &body, &mut written);
                if tests == 0 {
                    setup.push((kind, body));
                } else {
                    answer = world.step(&kind, &body);
                }
            }
        }
    }
    if let Some((kind, body)) = answer.take() {
        put(kind, &body, &mut written);
    }
    (written, tests)
}

fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let (right, tests) = run(&text);
    assert!(tests > 0);
    if right == text {
        return;
    }
    if std::env::var_os("LMLANG_BLESS").is_some() {
        fs::write(&path, right).unwrap();
        return;
    }
    let (line, (found, expected)) = (right.lines().chain([""]).zip(text.lines().chain([""])).enumerate())
        .find(|(_, (right, text))| right != text)
        .unwrap();
    panic!("{name}:{}: expected\n{expected}\nfound\n{found}\n(LMLANG_BLESS=1 writes it)", line + 1);
}

/// PUN-41, PUN-50, PUN-51, PUN-53, PUN-55, PUN-59, PUN-60, PUN-62.
#[test]
fn patches() {
    check("patches.md");
}

/// PUN-39, PUN-56, PUN-80.
#[test]
fn queries() {
    check("queries.md");
}

/// PUN-39: what expressions are, null among them.
#[test]
fn expressions() {
    check("expressions.md");
}

/// PUN-55, PUN-62: refused queries say why and where.
#[test]
fn refusals() {
    check("refusals.md");
}

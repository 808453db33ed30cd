//! Runs `cases/*.md`: a heading of the second level is a test, and the blocks under it are its steps.
//!
//! A block `sql` plans a query and is followed by a `plan`, or by what it is `refused` for. A block `query` plans one that
//! is right and is followed by nothing, one `program` shows what the query before became. A block `rows` runs the query
//! before on rows, one a line, with its time before it, `@1000 {..}`; a line `eventtime 500` enables the event time with a
//! tolerance, `leave` lets windows open. It is followed by `output`: what comes with which row, then the counts. A block
//! `request` is a method, a path and a body, followed by its `answer`. With `LMLANG_BLESS=1` what is expected is written anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use lmlang_streams::manager::{Body, Manager, Request};
use lmlang_streams::simulate::SampleRow;
use lmlang_streams::{
    Bounds, End, EventTimeOptions, PlanError, Planned, Sample, check, explain, plain_text, simulate,
};
use serde_json::Value as Json;

#[derive(Default)]
struct World {
    manager: Manager,
    planned: Option<Planned>,
}

impl World {
    fn new() -> World {
        World { manager: Manager::from_records([record()]).unwrap(), planned: None }
    }

    /// Does what a block says, and returns what the block after it should say.
    fn step(&mut self, kind: &str, body: &str) -> Option<(&'static str, String)> {
        match kind {
            "sql" => Some(match check(body.trim_end(), self.manager.catalog()) {
                Ok(planned) => {
                    let text = explain::pretty(&planned);
                    self.planned = Some(planned);
                    ("plan", text)
                }
                Err(errors) => ("refused", format!("{}\n", plain_text(&errors))),
            }),
            "query" => {
                let planned = check(body.trim_end(), self.manager.catalog());
                let said = |errors: &[PlanError]| plain_text(errors);
                self.planned = Some(planned.unwrap_or_else(|errors| panic!("{}", said(&errors))));
                None
            }
            // For readers only.
            "text" | "console" => None,
            "program" => {
                Some(("lm", self.planned.as_ref().unwrap().program_text().trim_end().to_owned() + "\n"))
            }
            "rows" => Some(("output", self.run(body))),
            "request" => Some(("answer", self.request(body))),
            other => panic!("no block is called `{other}`"),
        }
    }

    fn run(&self, body: &str) -> String {
        let mut sample = Sample::default();
        for line in body.lines() {
            if let Some(tolerance) = line.strip_prefix("eventtime ") {
                let late_tolerance_ms = tolerance.parse().unwrap();
                sample.eventtime = EventTimeOptions { enabled: true, late_tolerance_ms };
            } else if line == "leave" {
                sample.end = End::Leave;
            } else {
                let (at_ms, row) = match line.strip_prefix('@') {
                    Some(timed) => {
                        let (time, row) = timed.split_once(' ').unwrap();
                        (Some(time.parse().unwrap()), row)
                    }
                    None => (None, line),
                };
                sample.rows.push(SampleRow { at_ms, row: serde_json::from_str(row).unwrap() });
            }
        }
        let done = match simulate(self.planned.as_ref().unwrap(), &sample, &Bounds::default()) {
            Ok(done) => done,
            Err(errors) => return errors.iter().map(|error| format!("{error}\n")).collect(),
        };
        let mut text = String::new();
        for output in &done.rows {
            let after = output.after.map_or("end".to_owned(), |row| row.to_string());
            let mut fields = String::new();
            for (name, value) in &output.row {
                let comma = if fields.is_empty() { "" } else { ", " };
                write!(fields, "{comma}{name}: {value}").unwrap();
            }
            writeln!(text, "{after}: {fields}").unwrap();
        }
        if done.filtered > 0 || !done.late.is_empty() || done.open_rows > 0 {
            writeln!(text, "filtered {}, late {:?}, open {}", done.filtered, done.late, done.open_rows)
                .unwrap();
        }
        text
    }

    fn request(&mut self, body: &str) -> String {
        let (line, rest) = body.split_once('\n').unwrap();
        let (method, path) = line.split_once(' ').unwrap();
        let json = if rest.trim().is_empty() { Json::Null } else { serde_json::from_str(rest).unwrap() };
        let answer = Request::of(method, path, json).and_then(|request| self.manager.handle(&request));
        match answer {
            Ok(answer) => match answer.body {
                Body::Json(json) => format!("{} {}\n", answer.status, wrapped(&json)),
                Body::Text(text) => format!("{} {text}", answer.status),
            },
            Err(refused) => format!("{} {refused}\n", refused.kind.status()),
        }
    }
}

fn record() -> lmlang_streams::manager::Record {
    let kind = lmlang_streams::manager::RecordKind::Stream;
    lmlang_streams::manager::Record { kind, name: "readings".to_owned(), value: super::readings() }
}

/// JSON in one line where it is short.
fn wrapped(json: &Json) -> String {
    let line = json.to_string();
    if line.len() <= 100 { line } else { serde_json::to_string_pretty(json).unwrap() }
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
    let mut world = World::new();
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
                    world = World::new();
                }
                written.push_str(&line);
            }
            Part::Block(kind, body)
                if matches!(kind.as_str(), "plan" | "refused" | "lm" | "output" | "answer") =>
            {
                let (kind, right) =
                    answer.take().unwrap_or_else(|| panic!("nothing was done before: {body}"));
                put(kind, &right, &mut written);
            }
            Part::Block(kind, body) => {
                if let Some((kind, body)) = answer.take() {
                    put(kind, &body, &mut written);
                }
                put(&kind, &body, &mut written);
                answer = world.step(&kind, &body);
            }
        }
    }
    if let Some((kind, body)) = answer.take() {
        put(kind, &body, &mut written);
    }
    (written, tests)
}

fn check_file(name: &str) {
    check_path(&Path::new("tests/it/cases").join(name));
}

fn check_path(path: &Path) {
    let (path, name) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(path), path.display());
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

/// NL-33, NL-35: what plans, and what the plans and programs look like.
#[test]
fn plans() {
    check_file("plans.md");
}

/// NL-07, NL-10, NL-33: refused queries say why and where, all at once.
#[test]
fn refusals() {
    check_file("refusals.md");
}

/// What expressions are, NULL among them.
#[test]
fn expressions() {
    check_file("expressions.md");
}

/// What windows hold, and when they close.
#[test]
fn windows() {
    check_file("windows.md");
}

/// Samples that do not fit.
#[test]
fn samples() {
    check_file("samples.md");
}

/// NL-08, NL-09, NL-10, NL-33, NL-35, NL-36, NL-70: the requests of a Manager.
#[test]
fn requests() {
    check_file("requests.md");
}

/// NL-33, NL-35: the documentation says what is so.
#[test]
fn documentation() {
    check_path(Path::new("../../docs/streams.md"));
}

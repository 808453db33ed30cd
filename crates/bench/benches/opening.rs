//! Opening a program of a million nodes: `lmlang serve` is started on a database that holds it, and asked about it for the first time
//! once it does nothing any more. Then it is asked about one function, which nobody has looked at.
//!
//! Beside it rusqlite reads a row for each of the nodes, with its function, operator and inputs, from a file on the same disk, and
//! makes structs of them: no indexes, no names, nothing verified.
//!
//! `cargo xtask bench opening`

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lmlang_bench::load::once;
use lmlang_bench::process::start_lmlang;
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Series, Spread, orders};
use lmlang_engine::{
    Call, Content, Creation, Engine, Limits, NewProgramRequest, OpenProgram, SnapshotPolicy,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_ir::text::{Detail, print_op, print_program};
use lmlang_ir::{FuncRef, NodeRef, Program};
use lmlang_store::{Options, Store};
use lmlang_testkit::shapes::{self, Shape};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 1_000_000;
const SHAPES: [Shape; 2] = [Shape::ManySmall, Shape::FewLarge];
/// Nodes of a function that are asked for.
const PAGE: usize = 50;

/// The most time until the program is open, beside reading the rows.
const OPEN: f64 = 0.6;
/// Milliseconds that a first look at a function may take.
const LOOK: f64 = 20.0;

/// What nobody can answer who has not opened the program.
const STATS: &str = "{ program(name: \"program\") { revision { number } stats { nodes } } }";
/// The first nodes of a function.
const FUNCTION: &str = "query($function: String!, $page: Int!) { program(name: \"program\") { function(ref: $function) { \
                        nodes(first: $page) { nodes { ref op } } } } }";

type Failure = Box<dyn Error + Send + Sync>;

/// A program, in a folder with the database that holds it and with the file of its rows.
struct Subject {
    shape: Shape,
    folder: PathBuf,
    functions: Vec<FuncRef>,
    series: Series,
    /// Milliseconds, round by round.
    opened: Vec<f64>,
    looked: Vec<f64>,
    read: Vec<f64>,
    /// Megabytes that the server has then.
    memory: Vec<f64>,
}

/// A node as a row.
struct Row {
    of: i64,
    function: i64,
    op: String,
    /// The numbers of what its inputs come from, eight bytes each.
    inputs: Vec<u8>,
}

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    // Beside the build, which is on a disk: a temporary folder may be memory.
    let folder = tempfile::Builder::new().prefix("opening-").tempdir_in(target)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut subjects = Vec::new();
    for shape in SHAPES {
        subjects.push(runtime.block_on(Subject::of(folder.path(), shape))?);
    }
    // What has made them is not measured.
    drop(runtime);
    for subject in &mut subjects {
        subject.compare()?;
    }
    for (round, order) in orders(subjects.len() * 2, ROUNDS + 1, 6).into_iter().enumerate() {
        for at in order {
            let subject = &mut subjects[at / 2];
            match at % 2 {
                0 => subject.open()?,
                _ => subject.read()?,
            }
        }
        // The first round warms up.
        if round == 0 {
            for subject in &mut subjects {
                for found in
                    [&mut subject.opened, &mut subject.looked, &mut subject.read, &mut subject.memory]
                {
                    found.clear();
                }
            }
        }
    }
    report(&subjects).publish()?;
    Ok(())
}

impl Subject {
    /// Makes the program, its database and its rows.
    async fn of(folder: &Path, shape: Shape) -> Result<Subject, Failure> {
        let folder = folder.join(format!("{shape:?}"));
        fs::create_dir_all(&folder)?;
        let store = Store::open(Options::file(folder.join("lmlang.db"))).await?;
        let limits = Limits { text_bytes: 64 << 20, ..Limits::default() };
        let engine = Engine::new(store, limits, SnapshotPolicy::default());
        let text = print_program(&shapes::program(shape, NODES, 1).program, Detail::Standard);
        let request = NewProgramRequest {
            name: "program".to_owned(),
            doc: String::new(),
            content: Content::Text(text),
        };
        let call = Call::by(Actor { name: "bench".to_owned(), kind: ActorKind::Tool, client: None });
        let program = match engine.create_program(request, &call).await? {
            Creation::Created(open) => program_of(&open),
            Creation::Rejected { text, .. } => return Err(format!("not made: {text:?}").into()),
        };
        let functions = program.functions().map(|(of, _)| of).collect();
        write_rows(&folder.join("rows.db"), &program)?;
        engine.close().await;
        Ok(Subject {
            shape,
            folder,
            functions,
            series: Series::seeded(7),
            opened: vec![],
            looked: vec![],
            read: vec![],
            memory: vec![],
        })
    }

    /// Compares what the server answers with the rows.
    fn compare(&mut self) -> Result<(), Failure> {
        let rows = read_rows(&self.folder.join("rows.db"))?;
        let sources: usize = rows.iter().map(|row| row.inputs.len() / 8).sum();
        println!("{:?}: {} nodes with {sources} inputs", self.shape, rows.len());
        let server = start_lmlang(&self.folder)?;
        let stats = once(server.address, &json!({ "query": STATS }))?;
        assert_eq!(stats["data"]["program"]["stats"]["nodes"], rows.len(), "every node is a row");
        let function = self.function();
        let of_function = rows.iter().filter(|row| row.function == function.number() as i64);
        let nodes: HashSet<(i64, &str)> = of_function.map(|row| (row.of, row.op.as_str())).collect();
        let look = once(server.address, &look(function))?;
        let found = look["data"]["program"]["function"]["nodes"]["nodes"].as_array();
        let found = found.ok_or_else(|| format!("no nodes: {look}"))?;
        assert_eq!(found.len(), nodes.len().min(PAGE), "the page is full");
        for node in found {
            let (of, op) =
                (node["ref"].as_str().unwrap_or_default(), node["op"].as_str().unwrap_or_default());
            let of: NodeRef = of.parse()?;
            assert!(nodes.contains(&(of.number() as i64, op)), "{node} is a row");
        }
        Ok(server.stop()?)
    }

    /// A function that has hardly been asked about before.
    fn function(&mut self) -> FuncRef {
        self.functions[self.series.below(self.functions.len())]
    }

    /// Starts a server and asks it.
    fn open(&mut self) -> Result<(), Failure> {
        let server = start_lmlang(&self.folder)?;
        server.settle()?;
        let start = Instant::now();
        let stats = once(server.address, &json!({ "query": STATS }))?;
        self.opened.push(millis(start));
        assert!(stats["data"]["program"]["stats"]["nodes"].is_u64(), "{stats}");
        let asked = look(self.function());
        let start = Instant::now();
        let look = once(server.address, &asked)?;
        self.looked.push(millis(start));
        assert!(look["data"]["program"]["function"]["nodes"]["nodes"].is_array(), "{look}");
        server.settle()?;
        let memory = server.memory().ok_or("the system does not tell memory")?;
        self.memory.push(memory as f64 / 1e6);
        Ok(server.stop()?)
    }

    /// Reads the rows.
    fn read(&mut self) -> Result<(), Failure> {
        let start = Instant::now();
        let rows = read_rows(&self.folder.join("rows.db"))?;
        self.read.push(millis(start));
        assert!(rows.len() > NODES / 2, "all are there");
        Ok(())
    }
}

fn program_of(open: &OpenProgram) -> Program {
    open.timeline.head().main.revision.checked.program().clone()
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Asks about a function.
fn look(function: FuncRef) -> Value {
    json!({ "query": FUNCTION, "variables": { "function": function.to_string(), "page": PAGE } })
}

/// Writes a row for each node.
fn write_rows(database: &Path, program: &Program) -> rusqlite::Result<()> {
    let mut connection = Connection::open(database)?;
    connection.execute_batch(
        "CREATE TABLE nodes (ref INTEGER PRIMARY KEY, function INTEGER NOT NULL, op TEXT NOT NULL, inputs BLOB NOT NULL)",
    )?;
    let rows = connection.transaction()?;
    let mut insert = rows.prepare("INSERT INTO nodes VALUES (?, ?, ?, ?)")?;
    for (function, content) in program.functions() {
        for (of, node) in content.body().nodes() {
            let sources = node.inputs().iter().flatten();
            let inputs: Vec<u8> = sources.flat_map(|source| source.number().to_le_bytes()).collect();
            insert.execute((of.number() as i64, function.number() as i64, print_op(node.op()), inputs))?;
        }
    }
    drop(insert);
    rows.commit()
}

/// Reads a row for each node.
fn read_rows(database: &Path) -> rusqlite::Result<Vec<Row>> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = connection.prepare("SELECT ref, function, op, inputs FROM nodes")?;
    let rows = select.query_map([], |row| {
        Ok(Row { of: row.get(0)?, function: row.get(1)?, op: row.get(2)?, inputs: row.get(3)? })
    })?;
    rows.collect()
}

fn report(subjects: &[Subject]) -> Report {
    let mut report = Report::of("opening");
    for subject in subjects {
        let name = format!("{:?}, {NODES} nodes", subject.shape);
        let ms =
            |what: &str, found: &[f64]| Measured::new(format!("{name}: {what}"), "ms", Spread::of(found));
        let ratio = Spread::of_ratio(&subject.opened, &subject.read);
        let opened = ms("first answer", &subject.opened).beside("reading the rows", ratio);
        report.add(opened.target(Target::AtMost(OPEN)));
        report.add(ms("first look at a function", &subject.looked).target(Target::AtMost(LOOK)));
        let memory = Spread::of(&subject.memory);
        report.add(Measured::new(format!("{name}: memory of the server"), "MB", memory));
    }
    report
}

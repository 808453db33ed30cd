//! What a long log costs: how much each entry adds to the database, and whether a program with a long log is edited, read
//! and opened as fast as the same program with a short one.
//!
//! Two databases hold one program. The log of one gets a hundred thousand entries of one edit each, by many agents at once,
//! which together change nothing; the other's stays as it is. Then the same is done with both, turn by turn, and the answers
//! are compared. One process writes, so all of it is engine and store without HTTP and GraphQL.
//!
//! `cargo xtask bench long_log`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lmlang_bench::process::{cpu, own_cpu, settle};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Series, Spread, orders};
use lmlang_engine::{
    Call, Content, Creation, Engine, HistoryQuery, Limits, NewProgramRequest, OpenProgram, Outcome, Proposal,
    Selector, SnapshotPolicy,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{At, EditRequest, InsertNode, ModifyNode, RemoveNode, Rename};
use lmlang_history::revision::MAIN;
use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{NodeRef, Opcode, Program};
use lmlang_store::{Options, Store};
use lmlang_testkit::shapes::{self, Shape};
use sea_orm::{ConnectionTrait, Database, Statement};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 100_000;
const SHAPES: [Shape; 2] = [Shape::ManySmall, Shape::FewLarge];
/// Entries of the long log.
const ENTRIES: usize = 100_000;
/// Agents that make them at the same time.
const AGENTS: usize = 50;
/// Edits of a turn, one after the other.
const EDITS: usize = 200;
/// Pages of history of a turn.
const PAGES: usize = 50;
/// Checkpoints that are made, and branches.
const MARKS: usize = 1_000;
/// Rows that are packed at a time.
const WINDOW: u64 = 256;
/// How far behind the head the state lies that is asked for: further than what is kept in memory.
const BACK: u64 = 1_000;

const WHAT: [&str; 4] = ["edit", "page of history", "state 1,000 revisions ago", "open"];

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    std::fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("long-log-").tempdir_in(target)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.thread_keep_alive(Duration::from_secs(3_600)).enable_all();
    runtime.build()?.block_on(measure(folder.path()))?.publish()?;
    Ok(())
}

/// A database with one program.
struct Subject {
    shape: Shape,
    entries: usize,
    database: PathBuf,
    engine: Engine,
    anchors: Arc<Vec<NodeRef>>,
    series: Series,
    /// Microseconds of each of [`WHAT`], by round.
    found: [Vec<f64>; WHAT.len()],
}

async fn measure(folder: &Path) -> Result<Report, Failure> {
    let mut report = Report::of("long_log");
    let mut subjects = Vec::new();
    for shape in SHAPES {
        // As long as what is looked at needs, and long.
        for entries in [2 * BACK as usize, ENTRIES] {
            let mut subject = Subject::of(folder, shape, entries).await?;
            let empty = subject.size().await?;
            let start = own_cpu();
            subject.edit_by_many(entries).await?;
            let took = (own_cpu() - start).as_secs_f64() * 1e6 / entries as f64;
            let grown = subject.size().await?.saturating_sub(empty);
            subject.until_packed().await?;
            let packing = (own_cpu() - start).as_secs_f64() * 1e6 / entries as f64 - took;
            let packed = (subject.size().await? - subject.unused().await?).saturating_sub(empty);
            if entries == ENTRIES {
                let each = |bytes: u64| bytes as f64 / entries as f64;
                report.add(bytes(shape, "an entry of the log, with its part of the snapshots", each(grown)));
                report.add(bytes(shape, "the same when older entries are packed", each(packed)));
                let cpu = |name: &str, us: f64| {
                    Measured::new(format!("{shape:?}: {name}"), "us CPU", Spread::of(&[us]))
                };
                report.add(cpu("an edit while the log grows", took));
                report.add(cpu("packing, for each entry", packing));
            }
            subjects.push(subject);
        }
    }
    for (round, order) in orders(subjects.len(), ROUNDS + 1, 4).into_iter().enumerate() {
        for at in order {
            let turn = subjects[at].turn().await?;
            // The first round warms up.
            if round > 0 {
                turn.into_iter().zip(&mut subjects[at].found).for_each(|(one, all)| all.push(one));
            }
        }
    }
    for pair in subjects.chunks(2) {
        let [short, long] = pair else { continue };
        for (what, name) in WHAT.iter().enumerate() {
            let (short_found, found) = (&short.found[what], &long.found[what]);
            let beside = format!("{} entries", short.entries);
            let name = format!("{:?}: {name}", long.shape);
            let measured = Measured::new(name, "us CPU", Spread::of(found));
            report.add(
                measured.beside(beside, Spread::of_ratio(found, short_found)).target(Target::AtMost(1.1)),
            );
        }
    }
    // Marks are not a part of what is compared above: opening reads each.
    for mut subject in subjects {
        if subject.entries == ENTRIES {
            let [checkpoint, branch] = subject.marks().await?;
            report.add(bytes(subject.shape, "a checkpoint", checkpoint));
            report.add(bytes(subject.shape, "a branch", branch));
        }
        subject.engine.close().await;
    }
    Ok(report)
}

/// A size with its limit.
fn bytes(shape: Shape, name: &str, bytes: f64) -> Measured {
    Measured::new(format!("{shape:?}: {name}"), "bytes", Spread::of(&[bytes])).target(Target::AtMost(1_000.0))
}

async fn engine(database: &Path) -> Result<Engine, Failure> {
    let store = Store::open(Options::file(database)).await?;
    let limits = Limits { text_bytes: 64 << 20, ..Limits::default() };
    Ok(Engine::new(store, limits, SnapshotPolicy::default()))
}

fn call(agent: usize) -> Call {
    let client = Some("bench".to_owned());
    let mut call = Call::by(Actor { name: format!("agent-{agent}"), kind: ActorKind::Agent, client });
    call.message = Some("makes it a little better".to_owned());
    let key = uuid::Uuid::now_v7().to_string();
    call.keyed(Some(&key), key.as_bytes())
}

fn proposal(edit: EditRequest) -> Proposal {
    Proposal {
        program: Selector::Name("program".to_owned()),
        branch: MAIN.to_owned(),
        base: None,
        edits: vec![edit],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    }
}

/// An addition behind another.
fn insertion(anchor: NodeRef) -> EditRequest {
    let anchor = anchor.to_string();
    EditRequest::InsertNode(InsertNode {
        name_as: Some("new".to_owned()),
        op: "add.i64".to_owned(),
        at: At { after: Some(anchor.clone()), ..At::default() },
        inputs: vec![Some(anchor.clone()), Some(anchor)],
        name: None,
    })
}

/// Makes one change, and answers with the node that it made.
async fn propose(engine: &Engine, agent: usize, edit: EditRequest) -> Result<Option<String>, Failure> {
    match engine.propose(proposal(edit), &call(agent)).await? {
        Outcome::Applied(applied) => Ok(applied.created.first().map(|(_, of)| of.to_string())),
        other => Err(format!("not applied: {other:?}").into()),
    }
}

/// Four changes that leave everything as it was.
async fn round_trip(engine: &Engine, agent: usize, anchor: NodeRef) -> Result<(), Failure> {
    let of = propose(engine, agent, insertion(anchor)).await?.ok_or("a node was made")?;
    let name = format!("better_{agent}");
    propose(engine, agent, EditRequest::RenameNode(Rename { of: of.clone(), name })).await?;
    let op = "mul.i64".to_owned();
    propose(engine, agent, EditRequest::ModifyNode(ModifyNode { of: of.clone(), op })).await?;
    let removal = RemoveNode { of, replace_uses_with: None, cascade: false };
    propose(engine, agent, EditRequest::RemoveNode(removal)).await?;
    Ok(())
}

impl Subject {
    async fn of(folder: &Path, shape: Shape, entries: usize) -> Result<Subject, Failure> {
        let database = folder.join(format!("{shape:?}-{entries}.db"));
        let engine = engine(&database).await?;
        let text = print_program(&shapes::program(shape, NODES, 1).program, Detail::Standard);
        let request = NewProgramRequest {
            name: "program".to_owned(),
            doc: String::new(),
            content: Content::Text(text),
        };
        let open = match engine.create_program(request, &call(0)).await? {
            Creation::Created(open) => open,
            Creation::Rejected { text, .. } => return Err(format!("not made: {text:?}").into()),
        };
        let program = program_of(&open);
        let anchors = program.functions().flat_map(|(_, function)| {
            let body = function.body();
            body.nodes()
                .filter(|(_, node)| node.op().code() == Opcode::Add)
                .map(|(of, _)| of)
                .collect::<Vec<_>>()
        });
        let anchors = Arc::new(anchors.collect());
        let (series, found) = (Series::seeded(5), Default::default());
        Ok(Subject { shape, entries, database, engine, anchors, series, found })
    }

    /// Makes so many entries by many agents at once.
    async fn edit_by_many(&mut self, entries: usize) -> Result<(), Failure> {
        let before = program_of(&self.open().await?).root_hash();
        let mut agents = tokio::task::JoinSet::new();
        for agent in 0..AGENTS {
            let (engine, anchors) = (self.engine.clone(), Arc::clone(&self.anchors));
            let mut series = Series::seeded(agent as u64);
            agents.spawn(async move {
                for _ in 0..entries / AGENTS / 4 {
                    round_trip(&engine, agent, anchors[series.below(anchors.len())]).await?;
                }
                Ok::<(), Failure>(())
            });
        }
        while let Some(ended) = agents.join_next().await {
            ended??;
        }
        settle().await;
        assert_eq!(before, program_of(&self.open().await?).root_hash(), "the changes cancel out");
        Ok(())
    }

    async fn open(&self) -> Result<OpenProgram, Failure> {
        Ok(self.engine.find(&Selector::Name("program".to_owned())).await?)
    }

    /// Makes checkpoints and branches; answers with the bytes that each takes.
    async fn marks(&mut self) -> Result<[f64; 2], Failure> {
        let mut found = [0.0; 2];
        for (kind, found) in found.iter_mut().enumerate() {
            self.until_packed().await?;
            let before = self.size().await? - self.unused().await?;
            let open = self.open().await?;
            for mark in 0..MARKS {
                let name = format!("mark_{kind}_{mark}");
                if kind == 0 {
                    self.engine.create_checkpoint(&open, &name, None, &call(0)).await?;
                } else {
                    self.engine.create_branch(&open, &name, None, &call(0)).await?;
                }
            }
            let after = self.size().await? - self.unused().await?;
            *found = (after - before) as f64 / MARKS as f64;
        }
        Ok(found)
    }

    /// Waits until all entries but the newest are packed.
    async fn until_packed(&self) -> Result<(), Failure> {
        // A window that is not whole yet, and one that the packer has not been told of.
        let most = Options::file(&self.database).unpacked + 2 * WINDOW;
        let left = "SELECT (SELECT MAX(position) FROM log) - COALESCE((SELECT MAX(position) FROM packs), 0)";
        while self.number(left).await? > most {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Bytes of the file that hold nothing, and are filled before it grows.
    async fn unused(&self) -> Result<u64, Failure> {
        Ok(self.number("PRAGMA freelist_count").await? * self.number("PRAGMA page_size").await?)
    }

    /// The number that a query answers.
    async fn number(&self, query: &str) -> Result<u64, Failure> {
        let db = Database::connect(format!("sqlite://{}?mode=ro", self.database.display())).await?;
        let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), query)).await?;
        db.close().await?;
        Ok(row.ok_or("a query answers")?.try_get_by_index::<i64>(0)?.unsigned_abs())
    }

    /// Closes the database and opens it again; answers with the bytes that it took meanwhile.
    async fn size(&mut self) -> Result<u64, Failure> {
        self.engine.close().await;
        let bytes = std::fs::metadata(&self.database)?.len();
        self.engine = engine(&self.database).await?;
        Ok(bytes)
    }

    /// Everything once; the program is then what it was.
    async fn turn(&mut self) -> Result<[f64; WHAT.len()], Failure> {
        self.size().await?;
        settle().await;
        let open = cpu(1, self.open()).await?;
        let program = self.open().await?;
        let newest = program.timeline.head().last;
        let engine = self.engine.clone();
        let history = cpu(PAGES, async {
            for page in 0..PAGES as u64 {
                let before = newest - 20 * page;
                let query = HistoryQuery { before, ..HistoryQuery::up_to(newest, 20) };
                assert_eq!(engine.history(&program, &query).await?.entries.len(), 20);
            }
            Ok::<(), Failure>(())
        })
        .await?;
        let past = cpu(1, async {
            let found = engine.revision(&program, Some(&format!("r{}", newest - BACK))).await?;
            Ok::<_, Failure>(found.checked.program().root_hash())
        })
        .await?;
        settle().await;
        let anchors: Vec<NodeRef> =
            (0..EDITS / 4).map(|_| self.anchors[self.series.below(self.anchors.len())]).collect();
        let edit = cpu(EDITS, async {
            for anchor in anchors {
                round_trip(&engine, 0, anchor).await?;
            }
            settle().await;
            Ok::<(), Failure>(())
        })
        .await?;
        Ok([edit, history, past, open])
    }
}

fn program_of(open: &OpenProgram) -> Program {
    open.timeline.head().main.revision.checked.program().clone()
}

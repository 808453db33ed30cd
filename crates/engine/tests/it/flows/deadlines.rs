//! Runs whose time is over, whatever they wait for, and questions that nobody answers in time.

use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{
    AnswerOutcome, Clock, Engine, Error, InterruptStanding, Limits, RunCursor, RunEventKind, RunInfo,
    RunStatus, RunsOf, SnapshotPolicy, StartRun, StartSession,
};
use lmlang_flow::{Definition, NodeSpec};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};
use uuid::Uuid;

use super::code::{Calls, all, later};
use super::{answer, open_questions, state, until, until_status};
use crate::fixture::call;

const HOUR: Duration = Duration::from_secs(3_600);

/// An engine whose clock is set by the test.
struct Timed {
    db: TestDb,
    clock: Clock,
    engine: Engine,
    calls: Arc<Calls>,
}

impl Timed {
    async fn new() -> Timed {
        let (db, clock, calls) = (TestDb::new().await, Clock::default(), Arc::new(Calls::default()));
        let engine = open(&db, &clock).await;
        engine.run_flows(all(&calls));
        Timed { db, clock, engine, calls }
    }

    async fn start(&self, flow: &str, input: Value, deadline: Duration) -> RunInfo {
        let start = StartRun { flow: flow.to_owned(), session: None, input, deadline: Some(deadline) };
        self.engine.start_run(&start, &call()).await.expect("it begins")
    }

    /// Lets so much time pass, and has somebody look at a run.
    async fn pass(&self, time: Duration, run: Uuid) {
        self.clock.set_ahead(i64::try_from(time.as_micros()).expect("small"));
        self.engine.resume_run(run).await.expect("it is looked at");
    }

    /// The same database, opened again after so much time.
    async fn reopened(self, time: Duration) -> Timed {
        let Timed { db, clock, engine, calls } = self;
        engine.close().await;
        drop(engine);
        clock.set_ahead(i64::try_from(time.as_micros()).expect("small"));
        let engine = open(&db, &clock).await;
        engine.run_flows(all(&calls));
        Timed { db, clock, engine, calls }
    }

    /// The code with which a run has failed.
    async fn code(&self, run: Uuid) -> String {
        let failed = until_status(&self.engine, run, RunStatus::Failed).await;
        let machine = self.engine.run_machine(&failed).await.expect("it can be read");
        machine.failure().expect("it has failed").0.code.clone()
    }
}

async fn open(db: &TestDb, clock: &Clock) -> Engine {
    let location = Location::parse(&db.to_string()).expect("a place");
    let store = Store::open(Options::new(location)).await.expect("it opens");
    Engine::with_clock(store, Limits::default(), SnapshotPolicy::default(), clock.clone())
}

/// Waits until so many questions stand.
pub(super) async fn until_asked(engine: &Engine, count: usize) {
    let there = async {
        while open_questions(engine).await.len() != count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), there).await.expect("so many stand");
}

/// A run that waits for an answer has failed when its time is over, its question with it; it is told of once.
#[tokio::test]
async fn a_run_does_not_wait_for_an_answer_beyond_its_deadline() {
    let timed = Timed::new().await;
    let engine = &timed.engine;
    let run = timed.start("long", json!({}), HOUR).await;
    let deadline = run.deadline.expect("it has one");
    assert_eq!(deadline, run.made + 3_600_000_000);
    until_status(engine, run.id, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    assert_eq!((asked.ask.expires, asked.expires), (None, Some(deadline)));

    timed.pass(HOUR - Duration::from_secs(600), run.id).await;
    let info = engine.run_info(run.id).await.expect("it is there");
    assert_eq!((info.status, info.deadline), (RunStatus::Waiting, Some(deadline)));
    timed.clock.set_ahead(3_600_000_000);
    let late = answer(engine, &asked, json!({ "text": "late" })).await.expect("it is told");
    assert!(matches!(late, AnswerOutcome::Stale(_)), "{late:?}");
    timed.pass(HOUR, run.id).await;
    assert_eq!(timed.code(run.id).await, "DEADLINE_EXCEEDED");
    let over = engine.interrupt_info(run.id, asked.asked).await.expect("it is there");
    assert_eq!((over.standing, over.expires), (InterruptStanding::Cancelled, None));

    let of_run = engine.run_events(&RunsOf::Run(run.id), Some(RunCursor::default())).await;
    let mut events = of_run.expect("told");
    let (mut bounded, mut overdue) = (Vec::new(), 0);
    loop {
        let told = events.recv().await.expect("it goes on").expect("it can be read");
        bounded.extend(told.data.get("deadlineMicros").cloned());
        overdue += usize::from(told.data.get("code") == Some(&json!("DEADLINE_EXCEEDED")));
        if told.kind == RunEventKind::Finished {
            break;
        }
    }
    assert_eq!((bounded, overdue), (vec![json!(deadline)], 1));
    let last = engine.run_info(run.id).await.expect("it is there").last;
    timed.pass(HOUR * 2, run.id).await;
    assert_eq!(engine.run_info(run.id).await.expect("it is there").last, last, "it is over once");
}

/// A node that is at work when the time is over is broken off.
#[tokio::test]
async fn a_node_at_work_ends_with_its_run() {
    let timed = Timed::new().await;
    let run = timed.start("shaky", json!({ "how": "waits" }), HOUR).await.id;
    until(&timed.engine, run, |info| info.last >= 3).await;
    timed.pass(HOUR, run).await;
    assert_eq!(timed.code(run).await, "DEADLINE_EXCEEDED");
}

/// Runs that an overdue one waits for are stopped with it, and their questions end when it does.
#[tokio::test]
async fn runs_end_with_the_one_that_waits_for_them() {
    let timed = Timed::new().await;
    let engine = &timed.engine;
    let run = timed.start("outer", json!({}), HOUR).await;
    until_asked(engine, 64).await;
    let asked = open_questions(engine).await.remove(0);
    assert_ne!(asked.run, run.id);
    assert_eq!(asked.expires, run.deadline);
    assert_eq!(engine.run_info(asked.run).await.expect("it is there").deadline, run.deadline);
    timed.pass(HOUR, run.id).await;
    assert_eq!(timed.code(run.id).await, "DEADLINE_EXCEEDED");
    until_status(engine, asked.run, RunStatus::Cancelled).await;
    until_asked(engine, 0).await;
}

/// Whoever opens the database when the time is over ends the run, without being asked to.
#[tokio::test]
async fn a_deadline_passes_while_nobody_is_there() {
    let timed = Timed::new().await;
    let run = timed.start("long", json!({}), HOUR).await.id;
    until_status(&timed.engine, run, RunStatus::Waiting).await;
    let timed = timed.reopened(HOUR / 2).await;
    let info = timed.engine.run_info(run).await.expect("it is there");
    assert_eq!(info.status, RunStatus::Waiting);
    let timed = timed.reopened(HOUR * 2).await;
    assert_eq!(timed.code(run).await, "DEADLINE_EXCEEDED");
}

/// However many runs are at work, one whose time is over is ended without being asked to.
#[tokio::test]
async fn runs_at_work_hide_none_that_is_overdue() {
    let timed = Timed::new().await;
    let run = timed.start("long", json!({}), HOUR).await.id;
    until_status(&timed.engine, run, RunStatus::Waiting).await;
    let mut last = None;
    // One more than are gone on with by one look.
    for _ in 0..257 {
        last = Some(timed.start("shaky", json!({ "how": "waits" }), HOUR * 24).await.id);
    }
    timed.clock.set_ahead(2 * 3_600_000_000);
    // Whoever is let go has the others looked at.
    timed.engine.cancel_run(last.expect("it is one"), None, &call()).await.expect("it is stopped");
    assert_eq!(timed.code(run).await, "DEADLINE_EXCEEDED");
}

/// Taken back or forked, a run has its time again; what is answered in that is taken.
#[tokio::test]
async fn the_time_counts_anew_for_what_goes_on_from_a_step() {
    let timed = Timed::new().await;
    let engine = &timed.engine;
    let run = timed.start("long", json!({}), HOUR).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    timed.pass(HOUR, run).await;
    assert_eq!(timed.code(run).await, "DEADLINE_EXCEEDED");

    let fork = engine.fork_run(run, asked.asked, &call()).await.expect("it begins");
    assert_eq!(fork.deadline.map(|at| at >= fork.made && at <= fork.made + 3_600_000_000), Some(true));
    assert_eq!(fork.status, RunStatus::Waiting);
    let (back, _) = engine.rewind_run(run, asked.asked, false, &call()).await.expect("it goes back");
    assert!(back.deadline.expect("it has one") > asked.time + 2 * 3_600_000_000 - 60_000_000);
    for of in open_questions(engine).await {
        answer(engine, &of, json!({ "text": "on" })).await.expect("it is taken");
        let done = until_status(engine, of.run, RunStatus::Completed).await;
        assert_eq!(state(engine, &done).await["answer"], json!({ "text": "on" }));
    }
    assert_eq!(timed.calls.both(), (75, 75));
}

/// A session gives its runs the time that it was begun with, but for one that is given its own.
#[tokio::test]
async fn a_session_gives_its_runs_their_time() {
    let timed = Timed::new().await;
    let engine = &timed.engine;
    let session = StartSession { workflow: "long".to_owned(), title: None, deadline: Some(HOUR) };
    let session = engine.start_session(&session, &call()).await.expect("it begins");
    assert_eq!(session.deadline, Some(HOUR));
    let start = |deadline| StartRun {
        flow: "long".to_owned(),
        session: Some(session.id),
        input: json!({}),
        deadline,
    };
    let run = engine.start_run(&start(None), &call()).await.expect("it begins");
    assert_eq!((run.deadline, run.session.deadline), (Some(run.made + 3_600_000_000), Some(HOUR)));
    let own = engine.start_run(&start(Some(HOUR * 3)), &call()).await.expect("it begins");
    assert_eq!(own.deadline, Some(own.made + 3 * 3_600_000_000));
    until_asked(engine, 2).await;
    let timed = timed.reopened(HOUR * 2).await;
    assert_eq!(timed.code(run.id).await, "DEADLINE_EXCEEDED");
    let info = timed.engine.run_info(own.id).await.expect("it is there");
    assert_eq!((info.status, info.session.deadline), (RunStatus::Waiting, Some(HOUR)));
    let long = StartSession { workflow: "long".to_owned(), title: None, deadline: Some(HOUR * 24 * 367) };
    let long = timed.engine.start_session(&long, &call()).await.expect_err("too much");
    assert!(matches!(long, Error::Limit { which: "runDeadlineMs", .. }), "{long}");
}

#[tokio::test]
async fn a_deadline_has_bounds() {
    let timed = Timed::new().await;
    let start = |deadline| StartRun {
        flow: "long".to_owned(),
        session: None,
        input: json!({}),
        deadline: Some(deadline),
    };
    let none = timed.engine.start_run(&start(Duration::ZERO), &call()).await.expect_err("no time");
    assert!(matches!(none, Error::Argument { place, .. } if place == "input.deadlineMs"));
    let long = timed.engine.start_run(&start(HOUR * 24 * 367), &call()).await.expect_err("too much");
    let Error::Limit { which, limit, .. } = long else { panic!("{long}") };
    let named = Limits::default().named();
    assert!(named.iter().any(|(name, value)| name == which && *value == json!(limit)), "{which}");
}

/// `long`, whose question is awaited for an hour, and that works on or fails then.
fn awaiting(then: Option<&'static str>) -> impl FnOnce(Definition) -> Definition {
    move |mut long| {
        long.nodes[1] = NodeSpec::ask("ask", &["work"], "").at_most(1).awaiting(3_600_000_000, then);
        long
    }
}

/// A question is awaited as long as its node says: then the run goes on at the node's own target for that, or has failed.
#[tokio::test]
async fn an_answer_is_awaited_as_long_as_the_flow_says() {
    for (then, status) in [(Some("work"), RunStatus::Completed), (None, RunStatus::Failed)] {
        let (db, clock, calls) = (TestDb::new().await, Clock::default(), Arc::new(Calls::default()));
        let engine = open(&db, &clock).await;
        engine.run_flows(later(&calls, awaiting(then)));
        let timed = Timed { db, clock, engine, calls };
        let run = super::start(&timed.engine, "long", json!({})).await.id;
        until_status(&timed.engine, run, RunStatus::Waiting).await;
        let asked = open_questions(&timed.engine).await.remove(0);
        assert_eq!(asked.expires, asked.ask.expires);
        assert_eq!(asked.expires, Some(asked.time + 3_600_000_000));
        timed.pass(HOUR / 2, run).await;
        assert_eq!(open_questions(&timed.engine).await.len(), 1);
        timed.pass(HOUR, run).await;
        let ended = until_status(&timed.engine, run, status).await;
        let over = timed.engine.interrupt_info(run, asked.asked).await.expect("it is there");
        assert_eq!(over.standing, InterruptStanding::Expired);
        if ended.status == RunStatus::Failed {
            assert_eq!(timed.code(run).await, "INTERRUPT_EXPIRED");
        } else {
            assert_eq!(state(&timed.engine, &ended).await["answer"], Value::Null);
        }
    }
}

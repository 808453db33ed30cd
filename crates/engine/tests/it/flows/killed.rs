//! Processes that end in the middle of a run, at every place where a journal has just grown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use lmlang_engine::{Engine, Limits, RunFilter, RunStatus, SnapshotPolicy, StartRun};
use lmlang_store::{Action, Faults, Location, Options, Step, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use uuid::Uuid;

use super::code::{Calls, all};
use super::deadlines::until_asked;
use super::{answer, open_questions, start, state, until, until_status};
use crate::fixture::call;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

async fn open(db: &TestDb, faults: Faults, ahead: Duration) -> Engine {
    let location = Location::parse(&db.to_string()).expect("a place");
    // The one that was killed gives the file free a moment after it.
    let there = async {
        loop {
            let options = Options { faults: faults.clone(), ..Options::new(location.clone()) };
            match Store::open(options).await {
                Ok(store) => return store,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let store = tokio::time::timeout(Duration::from_secs(30), there).await.expect("it is free");
    let clock = lmlang_engine::Clock::default();
    clock.set_ahead(i64::try_from(ahead.as_micros()).expect("small"));
    Engine::with_clock(store, Limits::default(), SnapshotPolicy::default(), clock)
}

/// Executes a run to its end and answers whatever it asks.
async fn finish(engine: &Engine, run: Uuid) -> (RunStatus, Value) {
    loop {
        let wanted = [RunStatus::Waiting, RunStatus::Completed, RunStatus::Failed];
        let info = until(engine, run, |info| wanted.contains(&info.status)).await;
        match open_questions(engine).await.pop() {
            Some(of) if info.status == RunStatus::Waiting => {
                answer(engine, &of, json!({ "text": "on" })).await.expect("it is taken");
                let asked = of.asked;
                until(engine, run, |info| info.last > asked + 1).await;
            }
            _ if info.status == RunStatus::Waiting => tokio::task::yield_now().await,
            _ => return (info.status, state(engine, &info).await),
        }
    }
}

/// Lets a process die when its database has been written for the `die_at`th time since the run began, and another one go
/// on. Answers what the run came to, how often models and tools were called, and whether anybody died.
fn die_at(die_at: u64) -> ((RunStatus, Value), (usize, usize), bool) {
    let calls = Arc::new(Calls::default());
    let first = runtime();
    let db = Arc::new(first.block_on(TestDb::new()));
    let (dead, death) = mpsc::channel();
    let writes = Arc::new(AtomicU64::new(0));
    let hook = {
        let writes = Arc::clone(&writes);
        Faults::new(move |step| {
            // Counted from the beginning of the run on.
            if step != Step::AfterCommit || writes.load(Ordering::SeqCst) == 0 {
                return Action::Continue;
            }
            if writes.fetch_add(1, Ordering::SeqCst) == die_at {
                dead.send(()).ok();
                return Action::Hold(Arc::new(Notify::new()));
            }
            Action::Continue
        })
    };
    let run = first.block_on(async {
        let engine = open(&db, hook, Duration::ZERO).await;
        engine.run_flows(all(&calls));
        // It does nothing before its writes are counted.
        let held = calls.gate.write().await;
        let run = start(&engine, "long", json!({})).await.id;
        writes.store(1, Ordering::SeqCst);
        drop(held);
        let whole = engine.clone();
        tokio::spawn(async move {
            let ended = finish(&whole, run).await;
            drop(ended);
        });
        // Dies, or comes to its end.
        let wait = tokio::task::spawn_blocking(move || death.recv_timeout(Duration::from_secs(60)).is_ok());
        let died = wait.await.expect("it waits");
        (run, died)
    });
    let (run, died) = run;
    first.shutdown_background();
    let second = runtime();
    let ended = second.block_on(async {
        // Later than the lease of the one that died.
        let engine = open(&db, Faults::none(), Duration::from_secs(60)).await;
        engine.run_flows(all(&calls));
        let ended = finish(&engine, run).await;
        engine.close().await;
        ended
    });
    (ended, calls.both(), died)
}

/// Wherever a process is killed, the run ends as an undisturbed one does, and calls what that calls, as often.
#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    // Fifty steps are two receipts, an announcement and the step each; the question takes two more.
    const ENTRIES: u64 = 50 * 4 + 3;
    let every = if std::env::var("LMLANG_LONG").is_ok() { 1 } else { 17 };
    let said: Vec<String> = (0..50).map(|step| format!("polly {step}")).collect();
    let undisturbed = json!({
        "steps": 50, "said": said, "answer": { "text": "on" }, "plan": ["work", "close"],
    });
    for at in (1..ENTRIES).step_by(every) {
        let (ended, calls, died) = die_at(at);
        assert!(died, "nobody was killed at write {at}");
        assert_eq!(ended, (RunStatus::Completed, undisturbed.clone()), "killed at write {at}");
        assert_eq!(calls, (50, 50), "killed at write {at}");
    }
}

/// Wherever a process is killed that ends a run whose time is over, the next one does the rest: the run ends once, and those
/// that it waits for with it.
#[test]
fn an_overdue_run_ends_once_wherever_a_process_is_killed() {
    const HOUR: Duration = Duration::from_secs(3_600);
    for die_at in [1, 2, 5] {
        let calls = Arc::new(Calls::default());
        let first = runtime();
        let db = Arc::new(first.block_on(TestDb::new()));
        let run = first.block_on(async {
            let engine = open(&db, Faults::none(), Duration::ZERO).await;
            engine.run_flows(all(&calls));
            let start =
                StartRun { flow: "outer".to_owned(), session: None, input: json!({}), deadline: Some(HOUR) };
            let run = engine.start_run(&start, &call()).await.expect("it begins").id;
            until_asked(&engine, 64).await;
            engine.close().await;
            run
        });
        let (dead, death) = mpsc::channel();
        let writes = AtomicU64::new(0);
        let hook = Faults::new(move |step| {
            if step == Step::AfterCommit && writes.fetch_add(1, Ordering::SeqCst) + 1 == die_at {
                dead.send(()).ok();
                return Action::Hold(Arc::new(Notify::new()));
            }
            Action::Continue
        });
        let second = runtime();
        second.block_on(async {
            let engine = open(&db, hook, HOUR * 2).await;
            engine.run_flows(all(&calls));
            let wait =
                tokio::task::spawn_blocking(move || death.recv_timeout(Duration::from_secs(60)).is_ok());
            assert!(wait.await.expect("it waits"), "nobody was killed at write {die_at}");
        });
        second.shutdown_background();
        let third = runtime();
        third.block_on(async {
            // Later than the lease of the one that died.
            let engine = open(&db, Faults::none(), HOUR * 2 + Duration::from_secs(60)).await;
            engine.run_flows(all(&calls));
            let ended = until_status(&engine, run, RunStatus::Failed).await;
            until_asked(&engine, 0).await;
            let spans = engine.span_page(&ended, 0, 1_000).await.expect("listed").items;
            let overdue = spans.iter().filter(|span| span.name == "overdue").count();
            let runs = engine.run_page(&RunFilter::default(), None, 100).await.expect("listed").items;
            let stopped =
                runs.iter().filter(|of| of.parent == Some(run) && of.status == RunStatus::Cancelled);
            assert_eq!((overdue, stopped.count()), (1, 8), "killed at write {die_at}");
            engine.close().await;
        });
    }
}

//! Runs that are looked for, stopped and taken back, and sessions that are at work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lmlang_engine::{
    Engine, Error, RunStatus, RunsWanted, Selector, SnapshotPolicy, StartRun, StartSession, Turn,
};
use lmlang_history::log::{Actor, ActorKind};
use serde_json::json;
use uuid::Uuid;

use super::code::{Calls, all};
use super::{answer, fixture, open_questions, start, until, until_status};
use crate::fixture::{Fixture, call};

/// A turn that comes while the run of its session is at work may come again: nothing is wrong with it.
#[tokio::test]
async fn a_session_at_work_takes_no_turn() {
    let (fixture, calls) = fixture().await;
    let engine = &fixture.engine;
    let session = StartSession { workflow: "long".to_owned(), title: None, deadline: None };
    let session = engine.start_session(&session, &call()).await.expect("it begins").id;
    let held = calls.gate.write().await;
    let begin =
        StartRun { flow: "long".to_owned(), session: Some(session), input: json!({}), deadline: None };
    let run = engine.start_run(&begin, &call()).await.expect("it begins").id;
    let turn = Turn { session: Some(session), text: Some("go on".to_owned()), ..Turn::default() };
    let busy = engine.take_turn(&turn, &call()).await.expect_err("it is at work");
    assert!(matches!(busy, Error::Overloaded { what: "turns of the session" }), "{busy}");
    drop(held);
    until_status(engine, run, RunStatus::Waiting).await;
    let taken = engine.take_turn(&turn, &call()).await.expect("it answers the question");
    assert_eq!(taken.run.id, run);
}

/// Whoever waits for a run that somebody stops is told so, and can be taken back to before it and wait for another one.
#[tokio::test]
async fn a_run_says_that_the_one_that_it_waited_for_was_stopped() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "outer", json!({})).await.id;
    until(engine, run, |info| info.status == RunStatus::Waiting).await;
    let all_ask = async {
        while open_questions(engine).await.len() < 64 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_ask).await.expect("all ask");
    let child = open_questions(engine).await.remove(0).run;
    engine.cancel_run(child, Some("enough".to_owned()), &call()).await.expect("it is stopped");
    let failed = until_status(engine, run, RunStatus::Failed).await;
    let machine = engine.run_machine(&failed).await.expect("it can be read");
    let (failure, node) = machine.failure().expect("it has failed");
    assert_eq!((failure.code.as_str(), node), ("SUB_RUN_CANCELLED", Some("begin")));
    assert_eq!(failure.message, format!("the run R-{child} of `inner` was cancelled by `ada`: enough"));

    let steps = engine.step_page(run, 0, 100).await.expect("listed").items;
    let opened = steps.first().expect("it has begun").number;
    engine.rewind_run(run, opened, false, &call()).await.expect("it goes back");
    until_status(engine, run, RunStatus::Waiting).await;
}

/// Steps that a run was taken back over are told from those that count.
#[tokio::test]
async fn steps_that_a_run_was_taken_back_over_do_not_count() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "long", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    answer(engine, &asked, json!({ "text": "first" })).await.expect("it is taken");
    let done = until_status(engine, run, RunStatus::Completed).await;
    engine.rewind_run(run, asked.asked, false, &call()).await.expect("it goes back");
    let asked = open_questions(engine).await.remove(0);
    answer(engine, &asked, json!({ "text": "second" })).await.expect("it is taken");
    until(engine, run, |info| info.status == RunStatus::Completed && info.last > done.last).await;
    let steps = engine.step_page(run, 0, 1_000).await.expect("listed").items;
    let over: Vec<u64> = steps.iter().filter(|step| step.superseded).map(|step| step.number).collect();
    // Fifty with the question and the end; half of them, and the end, twice.
    assert_eq!((steps.len(), over.len()), (52 + 26, 26));
    assert!(over.iter().all(|number| (asked.asked + 1..=done.last).contains(number)), "{over:?}");
    // Behind the newest of them as well.
    let behind = engine.step_page(run, done.last, 1_000).await.expect("listed").items;
    assert!(behind.len() == 26 && behind.iter().all(|step| !step.superseded));
}

/// As commands do, one after the other, each of which goes on with the runs that it names and with no others.
#[tokio::test]
async fn a_run_that_has_ended_is_taken_back_and_gone_on_with_by_other_processes() {
    let calls = Arc::new(Calls::default());
    let mut fixture = Fixture::new(SnapshotPolicy::default()).await;
    fixture.engine.know_flows(all(&calls));
    let run = start(&fixture.engine, "long", json!({})).await.id;
    until_status(&fixture.engine, run, RunStatus::Waiting).await;
    let asked = open_questions(&fixture.engine).await.remove(0);
    for (round, text) in ["first", "second", "third"].into_iter().enumerate() {
        if round > 0 {
            fixture = fixture.reopened(&[]).await;
            let held = fixture.db.number(r#"SELECT COUNT(*) FROM "runs" WHERE "owner" IS NOT NULL"#).await;
            assert_eq!(held, 0, "nobody has what has ended");
            fixture.engine.know_flows(all(&calls));
            fixture.engine.rewind_run(run, asked.asked, false, &call()).await.expect("it goes back");
        }
        fixture = fixture.reopened(&[]).await;
        fixture.engine.know_flows(all(&calls));
        let open = open_questions(&fixture.engine).await.remove(0);
        answer(&fixture.engine, &open, json!({ "text": text })).await.expect("it is taken");
        until_status(&fixture.engine, run, RunStatus::Completed).await;
        assert_eq!(calls.both(), (50 + 25 * round, 50 + 25 * round));
    }
}

/// A command goes on with what it has answered when the process is gone that had the run. A file has no other process.
#[tokio::test]
async fn a_run_of_a_process_that_is_gone_is_gone_on_with_when_its_time_is_over() {
    let calls = Arc::new(Calls::default());
    let fixture = Fixture::new(SnapshotPolicy::default()).await;
    if fixture.db.is_file() {
        return;
    }
    let engine = &fixture.engine;
    engine.know_flows(all(&calls));
    let run = start(engine, "long", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    let (gone, lease) = (Uuid::from_u128(1), SystemTime::now() + Duration::from_secs(2));
    let lease = lease.duration_since(SystemTime::UNIX_EPOCH).expect("it is later").as_micros();
    fixture.db.execute(&format!(r#"UPDATE "runs" SET "owner" = '{gone}', "lease" = {lease}"#)).await;
    answer(engine, &asked, json!({ "text": "first" })).await.expect("it is taken");
    until_status(engine, run, RunStatus::Completed).await;
    assert_eq!(calls.both(), (50, 50));
}

async fn found(engine: &Engine, wanted: RunsWanted) -> BTreeSet<Uuid> {
    let filter = engine.run_filter(wanted).await.expect("there may be some");
    let page = engine.run_page(&filter, None, 100).await.expect("listed");
    assert_eq!(page.total, page.items.len() as u64);
    page.items.into_iter().map(|run| run.id).collect()
}

#[tokio::test]
async fn runs_are_found_by_what_they_are_of_and_who_began_them() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let ada = start(engine, "shaky", json!({ "how": "well" })).await.id;
    let bob = Actor { name: "bob".to_owned(), kind: ActorKind::Agent, client: Some("editor".to_owned()) };
    let begin =
        StartRun { flow: "shaky".to_owned(), session: None, input: json!({ "how": "well" }), deadline: None };
    let bob = engine.start_run(&begin, &lmlang_engine::Call::by(bob)).await.expect("it begins").id;
    let by = |name: &str| RunsWanted { by: Some(name.to_owned()), ..RunsWanted::default() };
    let of = |name: &str| RunsWanted { flow: Some(name.to_owned()), ..RunsWanted::default() };
    assert_eq!(found(engine, by("ada")).await, [ada].into());
    assert_eq!(found(engine, by("bob")).await, [bob].into());
    assert!(found(engine, by("bo\0b")).await.is_empty());
    assert_eq!(found(engine, of("shaky")).await, [ada, bob].into());
    assert!(found(engine, of("long")).await.is_empty());
    let unknown = engine.run_filter(of("nope")).await.expect_err("there is none");
    let Error::NotFound { what: "flow", candidates, .. } = unknown else { panic!("{unknown}") };
    assert!(candidates.contains(&"shaky".to_owned()), "{candidates:?}");
    let about = RunsWanted { program: Some(Selector::Id(Uuid::nil())), ..RunsWanted::default() };
    let unknown = engine.run_filter(about).await.expect_err("there is none");
    assert!(matches!(unknown, Error::NotFound { what: "program", .. }));
}

//! Runs of a process that does not look for those that are due: of a command without a server, say.

use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{RunStatus, SnapshotPolicy, StartRun};
use serde_json::json;

use super::code::{Calls, all};
use super::{answer, open_questions, start, until_status};
use crate::fixture::{Fixture, call};

/// An engine that knows the flows of these tests, and looks for no runs.
async fn fixture() -> Fixture {
    let fixture = Fixture::new(SnapshotPolicy::default()).await;
    fixture.engine.know_flows(all(&Arc::new(Calls::default())));
    fixture
}

#[tokio::test]
async fn what_is_waited_out_goes_on_by_itself() {
    let fixture = fixture().await;
    let run = start(&fixture.engine, "shaky", json!({ "how": "away" })).await.id;
    until_status(&fixture.engine, run, RunStatus::Completed).await;
}

#[tokio::test]
async fn a_run_has_failed_when_its_time_is_over() {
    let fixture = fixture().await;
    let engine = &fixture.engine;
    let within = |deadline| StartRun {
        flow: "shaky".to_owned(),
        session: None,
        input: json!({ "how": "always" }),
        deadline: Some(deadline),
    };
    let long = engine.start_run(&within(Duration::from_secs(3_600)), &call()).await.expect("it begins").id;
    until_status(engine, long, RunStatus::Waiting).await;
    let short = engine.start_run(&within(Duration::from_secs(1)), &call()).await.expect("it begins").id;
    until_status(engine, short, RunStatus::Failed).await;

    // The other one still waits, and can be answered.
    let asked = open_questions(engine).await.pop().expect("it asks");
    assert_eq!(asked.run, long);
    answer(engine, &asked, json!({ "choice": "stop" })).await.expect("it is taken");
    until_status(engine, long, RunStatus::Failed).await;
}

//! Runs that go on from what is kept of them beside their journals.

use std::time::Duration;

use lmlang_engine::{Engine, RunStatus, RunSymptom, StartRun};
use serde_json::json;
use uuid::Uuid;

use super::code::all;
use super::{answer, fixture, open_questions, start, state, until_status};
use crate::fixture::call;

/// The entry after which a run was kept that is the only one; 0: none was.
const KEPT: &str = r#"SELECT COALESCE(MAX("number"), 0) FROM "run_snapshots""#;

/// Answers what is asked, and waits until the run ends.
async fn to_end(engine: &Engine) {
    let asked = open_questions(engine).await.remove(0);
    answer(engine, &asked, json!({ "text": "on" })).await.expect("it is taken");
    let run = engine.settled(asked.run, Duration::from_secs(60)).await.expect("it comes to that");
    assert_eq!((run.status, &state(engine, &run).await["steps"]), (RunStatus::Completed, &json!(50)));
}

/// Nobody who goes on with a run reads its beginning again; what is kept of it is bounded by the length of its journal.
#[tokio::test]
async fn a_long_run_goes_on_without_its_beginning() {
    let (fixture, calls) = fixture().await;
    let run = start(&fixture.engine, "long", json!({})).await.id;
    let waiting = until_status(&fixture.engine, run, RunStatus::Waiting).await;
    let kept = fixture.db.number(KEPT).await;
    assert!((64..=i64::try_from(waiting.last).expect("small")).contains(&kept), "{kept}");
    let bytes = r#"SELECT CAST(LENGTH("payload") AS BIGINT) FROM "run_snapshots""#;
    assert!(fixture.db.number(bytes).await <= 32 * kept);

    let fixture = fixture.reopened(&[r#"DELETE FROM "journal" WHERE "number" <= 60"#]).await;
    fixture.engine.run_flows(all(&calls));
    to_end(&fixture.engine).await;
    assert_eq!(calls.both(), (50, 50));
    assert!(fixture.db.number(KEPT).await >= kept + 64);
    // That something is missing all the same, who looks at everything is told.
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    assert!(matches!(&checkup.ailing_runs[0].symptom, RunSymptom::Journal(_)), "{:?}", checkup.ailing_runs);
}

/// Taken back, a run stands where it stood, whatever was kept of it since; and what cannot be read is as if it was not there.
#[tokio::test]
async fn a_run_that_is_taken_back_stands_where_it_stood() {
    let (mut fixture, calls) = fixture().await;
    let run = start(&fixture.engine, "long", json!({})).await.id;
    until_status(&fixture.engine, run, RunStatus::Waiting).await;
    let asked = open_questions(&fixture.engine).await.remove(0).asked;
    to_end(&fixture.engine).await;
    for damage in
        ["", "UPDATE run_snapshots SET payload = x'00'", "UPDATE run_snapshots SET number = number - 1"]
    {
        assert!(fixture.db.number(KEPT).await.cast_unsigned() > asked);
        let (back, _) = fixture.engine.rewind_run(run, asked, false, &call()).await.expect("it goes back");
        assert_eq!(back.status, RunStatus::Waiting);
        let damage: &[&str] = if damage.is_empty() { &[] } else { &[damage] };
        fixture = fixture.reopened(damage).await;
        fixture.engine.run_flows(all(&calls));
        let info = fixture.engine.run_info(run).await.expect("it is there");
        assert_eq!((info.status, info.last), (RunStatus::Waiting, back.last));
        assert_eq!(state(&fixture.engine, &info).await["steps"], 25);
        to_end(&fixture.engine).await;
    }
    let fork = fixture.engine.fork_run(run, asked, &call()).await.expect("it begins");
    assert_eq!(state(&fixture.engine, &fork).await["steps"], 25);
    to_end(&fixture.engine).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    assert_eq!((checkup.runs, checkup.findings().count()), (2, 0));
}

/// What is kept of another run is not what the journal says.
#[tokio::test]
async fn the_doctor_holds_snapshots_against_journals() {
    let (fixture, _) = fixture().await;
    let waiting = async |deadline| -> Uuid {
        let start = StartRun { flow: "long".to_owned(), session: None, input: json!({}), deadline };
        let run = fixture.engine.start_run(&start, &call()).await.expect("it begins").id;
        until_status(&fixture.engine, run, RunStatus::Waiting).await;
        run
    };
    waiting(None).await;
    let bounded = waiting(Some(Duration::from_secs(3_600))).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    assert_eq!((checkup.runs, checkup.findings().count()), (2, 0));
    let of = |which: &str| format!("run = (SELECT id FROM runs WHERE deadline IS {which})");
    let (one, other) = (of("NULL"), of("NOT NULL"));
    let swap = format!(
        "UPDATE run_snapshots SET payload = (SELECT payload FROM run_snapshots WHERE {one}) WHERE {other}"
    );
    let fixture = fixture.reopened(&[&swap]).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let found: Vec<_> = checkup.ailing_runs.iter().map(|of| (of.run, &of.symptom)).collect();
    assert_eq!(found, [(bounded, &RunSymptom::Snapshot)]);
}

//! What `doctor` finds wrong with runs, and what is none of it.

use lmlang_engine::{RunStatus, RunSymptom};
use lmlang_flow::declared::{Declaration, check};
use lmlang_store::{Actor, ActorKind, FlowChange, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::{answer, fixture, open_questions, start, until_status};

#[tokio::test]
async fn the_doctor_holds_rows_of_runs_against_their_journals() {
    let (fixture, _) = fixture().await;
    let run = start(&fixture.engine, "long", json!({})).await.id;
    let other = start(&fixture.engine, "long", json!({})).await.id;
    until_status(&fixture.engine, run, RunStatus::Waiting).await;
    until_status(&fixture.engine, other, RunStatus::Waiting).await;
    for asked in open_questions(&fixture.engine).await.iter().filter(|asked| asked.run == other) {
        answer(&fixture.engine, asked, json!({ "text": "on" })).await.expect("it is taken");
    }
    until_status(&fixture.engine, other, RunStatus::Completed).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    assert_eq!((checkup.runs, checkup.findings().count()), (2, 0));

    // The row of a run that ended is never behind, and no row is ahead.
    let ended = "status = 2";
    let waiting = "status = 1";
    let fixture = fixture
        .reopened(&[
            &format!("UPDATE runs SET last = last - 1 WHERE {ended}"),
            &format!("UPDATE runs SET last = last + 1 WHERE {waiting}"),
        ])
        .await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let symptoms = checkup.ailing_runs.iter().map(|of| (of.run, &of.symptom)).collect::<Vec<_>>();
    // The newest first.
    let [(first, RunSymptom::Last { row, journal }), (second, ahead)] = symptoms[..] else {
        panic!("{symptoms:?}")
    };
    assert_eq!((first, second, row + 1), (other, run, *journal));
    let RunSymptom::Last { row, journal } = ahead else { panic!("{ahead:?}") };
    assert_eq!(*row, journal + 1);
}

#[tokio::test]
async fn the_doctor_tells_journals_and_records_that_are_damaged() {
    let (fixture, _) = fixture().await;
    let run = start(&fixture.engine, "long", json!({})).await.id;
    until_status(&fixture.engine, run, RunStatus::Waiting).await;
    let fixture = fixture.reopened(&["UPDATE runs SET status = 2, wake = NULL"]).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let wrong = RunSymptom::Standing { row: RunStatus::Completed, journal: RunStatus::Waiting };
    assert_eq!(checkup.ailing_runs.iter().map(|of| &of.symptom).collect::<Vec<_>>(), [&wrong]);
    let fixture = fixture.reopened(&["UPDATE journal SET payload = x'00' WHERE number = 3"]).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let told = checkup.findings().collect::<Vec<_>>();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with(&format!("run R-{run}: it does not follow from its journal: ")), "{told:?}");
}

#[tokio::test]
async fn the_doctor_tells_declared_flows_that_cannot_be_read() {
    let (fixture, _) = fixture().await;
    let store = fixture.engine.store();
    let by = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
    let actor = store.actor_key(&by).await.expect("it is stored");
    let declared = json!({ "name": "one", "nodes": [{ "name": "a", "action": { "end": {} } }] });
    let declaration = Declaration::read(&declared).expect("it can be read");
    let flow = check(&declaration, 3).expect("it makes sense");
    let good = serde_json::to_vec(flow.definition()).expect("it is JSON");
    let rows: [(&str, Option<&[u8]>); 4] =
        [("one", Some(&good)), ("other", Some(&good)), ("torn", Some(b"{")), ("gone", None)];
    for ((name, definition), revision) in rows.into_iter().zip(1_u64..) {
        let (id, time) = (Uuid::from_u128(revision.into()), Timestamp(5));
        let (name, definition) = (name.to_owned(), definition.map(<[u8]>::to_vec));
        let change = FlowChange { revision, id, time, actor, name, version: 3, definition };
        store.change_flows(change).await.expect("it is stored");
    }
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let told = checkup.findings().collect::<Vec<_>>();
    assert_eq!(told[0], "the flow `other`, version 3: its definition is that of another one");
    assert!(told[1].starts_with("the flow `torn`, version 3: its definition cannot be read: "), "{told:?}");
    assert_eq!(told.len(), 2, "{told:?}");
}

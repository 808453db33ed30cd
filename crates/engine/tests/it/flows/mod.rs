//! Durable runs of flows.

mod away;
mod checkup;
pub(crate) mod code;
mod deadlines;
mod killed;
mod late;
mod metrics;
mod retention;
mod snapshots;
mod steering;
mod tended;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{
    Answer, AnswerOutcome, Call, Engine, Error, InterruptFilter, InterruptInfo, InterruptStanding, RunCursor,
    RunEventKind, RunFilter, RunInfo, RunPlace, RunStatus, RunsOf, SnapshotPolicy, StartRun, StartSession,
};
use lmlang_flow::{Definition, Flow, Reducer};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixture::{Fixture, call};
use code::{Calls, all, later, shaky_again};

/// An engine that runs the flows of these tests.
async fn fixture() -> (Fixture, Arc<Calls>) {
    let calls = Arc::new(Calls::default());
    let fixture = Fixture::new(SnapshotPolicy::default()).await;
    fixture.engine.run_flows(all(&calls));
    (fixture, calls)
}

async fn start(engine: &Engine, flow: &str, input: Value) -> RunInfo {
    let start = StartRun { flow: flow.to_owned(), session: None, input, deadline: None };
    engine.start_run(&start, &call()).await.expect("it begins")
}

/// Waits until a run stands so that `wanted` says yes.
async fn until(engine: &Engine, run: Uuid, wanted: impl Fn(&RunInfo) -> bool) -> RunInfo {
    let there = async {
        // What happened before is told from the first entry on.
        let mut events =
            engine.run_events(&RunsOf::Run(run), Some(RunCursor::default())).await.expect("told");
        loop {
            let info = engine.run_info(run).await.expect("it is there");
            if wanted(&info) {
                return info;
            }
            events.recv().await.expect("it goes on").expect("it can be read");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), there).await.expect("it comes to that")
}

async fn until_status(engine: &Engine, run: Uuid, status: RunStatus) -> RunInfo {
    until(engine, run, |info| info.status == status).await
}

async fn open_questions(engine: &Engine) -> Vec<InterruptInfo> {
    let filter = InterruptFilter { standing: Some(InterruptStanding::Open), ..InterruptFilter::default() };
    engine.interrupt_page(&filter, None, 100).await.expect("they are listed").items
}

async fn answer(engine: &Engine, of: &InterruptInfo, answer: Value) -> Result<AnswerOutcome, Error> {
    let answer = Answer { run: of.run, asked: of.asked, answer, reason: Some("because".to_owned()) };
    engine.answer_interrupt(&answer, &call()).await
}

async fn state(engine: &Engine, run: &RunInfo) -> Value {
    let machine = engine.run_machine(run).await.expect("it can be read");
    machine.state().public(machine.flow())
}

/// 64 questions in runs within runs, answered in random order while the engine is closed and opened again: each answer
/// goes on with its own branch alone, and nothing is called twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_questions_are_answered_in_any_order_across_restarts() {
    let (mut fixture, calls) = fixture().await;
    let run = start(&fixture.engine, "outer", json!({})).await.id;
    let all_asked = async {
        let mut events =
            fixture.engine.run_events(&RunsOf::All, Some(RunCursor::default())).await.expect("told");
        let mut asked = 0;
        while asked < 64 {
            let told = events.recv().await.expect("it goes on").expect("it can be read");
            asked += usize::from(told.kind == RunEventKind::Interrupted);
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_asked).await.expect("all are asked");
    let mut open = open_questions(&fixture.engine).await;
    let questions: BTreeSet<&str> = open.iter().map(|of| of.ask.question.as_str()).collect();
    assert_eq!(questions.len(), 64);
    // The state of a random number generator: xorshift.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut answered = 0;
    while !open.is_empty() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let index = usize::try_from(random % open.len() as u64).expect("small");
        let of = open.swap_remove(index);
        let number = of.ask.question.clone();
        let taken = answer(&fixture.engine, &of, json!({ "text": number })).await.expect("it is taken");
        assert!(matches!(taken, AnswerOutcome::Taken(_)));
        let again = answer(&fixture.engine, &of, json!({ "text": "other" })).await.expect("it is told");
        assert!(matches!(again, AnswerOutcome::Already(first) if first.answer == json!({ "text": number })));
        answered += 1;
        if answered % 13 == 0 {
            fixture = fixture.reopened(&[]).await;
            fixture.engine.run_flows(all(&calls));
        }
    }
    let run = until_status(&fixture.engine, run, RunStatus::Completed).await;
    let expect: Vec<Value> =
        (0..8).map(|arm| (arm * 8..arm * 8 + 8).map(|number| json!(number.to_string())).collect()).collect();
    assert_eq!(state(&fixture.engine, &run).await["results"], json!(expect));
    assert_eq!(calls.both(), (0, 64));
}

#[tokio::test]
async fn a_question_is_answered_once_and_fits() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "long", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    assert_eq!((asked.run, asked.node.as_str(), asked.ask.kind.name()), (run, "ask", "need_clarification"));
    let bad = answer(engine, &asked, json!({ "confirm": true })).await.expect_err("it does not fit");
    assert!(matches!(bad, Error::Argument { place, .. } if place == "input.answer.confirm"));
    let unknown = Answer { run, asked: 999, answer: json!({}), reason: None };
    let unknown = engine.answer_interrupt(&unknown, &call()).await.expect_err("nobody asked");
    assert!(matches!(unknown, Error::NotFound { what: "interrupt", .. }));
    // The same request twice is one answer; another one comes too late.
    let keyed = call().keyed(Some("k"), b"yes");
    let yes = Answer { run, asked: asked.asked, answer: json!({ "text": "yes" }), reason: None };
    for _ in 0..2 {
        let taken = engine.answer_interrupt(&yes, &keyed).await.expect("it is taken");
        assert!(matches!(taken, AnswerOutcome::Taken(of) if of.by == "ada" && of.kind == "HUMAN"));
    }
    let late = engine.answer_interrupt(&yes, &call()).await.expect("it is told");
    assert!(matches!(late, AnswerOutcome::Already(_)));
    let done = until_status(engine, run, RunStatus::Completed).await;
    assert_eq!(state(engine, &done).await["answer"], json!({ "text": "yes" }));
    let answered = engine.interrupt_info(run, asked.asked).await.expect("it is there");
    assert_eq!(answered.standing, InterruptStanding::Answered);
    assert_eq!(answered.decision.expect("it was decided").answer, json!({ "text": "yes" }));
}

#[tokio::test]
async fn runs_and_sessions_begin_once() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let begin =
        StartRun { flow: "shaky".to_owned(), session: None, input: json!({ "how": "well" }), deadline: None };
    let keyed = call().keyed(Some("k"), b"1");
    let first = engine.start_run(&begin, &keyed).await.expect("it begins");
    assert_eq!(engine.start_run(&begin, &keyed).await.expect("it has begun").id, first.id);
    let other = engine.start_run(&begin, &call().keyed(Some("k"), b"2")).await;
    assert!(matches!(other, Err(Error::IdempotencyMismatch)));
    let missing = StartRun { input: json!({}), ..begin.clone() };
    let missing = engine.start_run(&missing, &call()).await.expect_err("something is missing");
    assert!(matches!(missing, Error::Argument { place, .. } if place == "input.input.how"));
    let unknown = StartRun { flow: "shacky".to_owned(), ..begin.clone() };
    let unknown = engine.start_run(&unknown, &call()).await.expect_err("there is none");
    assert!(matches!(unknown, Error::NotFound { what: "flow", .. }));

    let session =
        StartSession { workflow: "shaky".to_owned(), title: Some("tries".to_owned()), deadline: None };
    let keyed = call().keyed(Some("s"), b"1");
    let made = engine.start_session(&session, &keyed).await.expect("it begins");
    assert_eq!(engine.start_session(&session, &keyed).await.expect("it has begun").id, made.id);
    assert_eq!(made.title.as_deref(), Some("tries"));
    let long = StartSession { title: Some("é".repeat(1_001)), ..session };
    let long = engine.start_session(&long, &call()).await.expect("it begins");
    assert_eq!(long.title, Some(format!("{}…", "é".repeat(1_000))));
    let within = StartRun { session: Some(made.id), ..begin.clone() };
    let run = engine.start_run(&within, &call()).await.expect("it begins");
    assert_eq!(run.session.id, made.id);
    let of_session = RunFilter { session: Some(made.id), ..RunFilter::default() };
    assert_eq!(engine.run_page(&of_session, None, 10).await.expect("listed").total, 1);
    let foreign =
        StartRun { flow: "long".to_owned(), session: Some(made.id), input: json!({}), deadline: None };
    let foreign = engine.start_run(&foreign, &call()).await.expect_err("it is another flow's");
    assert!(matches!(foreign, Error::Argument { place, .. } if place == "input.sessionId"));
    let nobody = StartRun { session: Some(Uuid::nil()), ..begin };
    let nobody = engine.start_run(&nobody, &call()).await.expect_err("the server makes the ids");
    assert!(matches!(nobody, Error::NotFound { what: "session", .. }));
}

/// PUN-12, PUN-81, PUN-87: failures are waited out, tried again or answered by a person, as their class says; what went
/// well is not done again.
#[tokio::test]
async fn failures_take_their_ways() {
    let (fixture, calls) = fixture().await;
    let engine = &fixture.engine;
    for (how, status, tries) in [
        ("well", RunStatus::Completed, 0),
        ("transient", RunStatus::Completed, 2),
        ("busy", RunStatus::Completed, 2),
        ("twice", RunStatus::Completed, 2),
        ("always", RunStatus::Waiting, 3),
        ("panic", RunStatus::Waiting, 3),
        ("astray", RunStatus::Failed, 1),
    ] {
        let run = start(engine, "shaky", json!({ "how": how })).await.id;
        let run = until_status(engine, run, status).await;
        let steps = engine.step_page(run.id, 0, 100).await.expect("listed").items;
        let failed = steps.iter().filter(|step| matches!(step.what, lmlang_flow::What::Failed(_))).count();
        assert_eq!(failed, tries, "{how}");
        let secret = state(engine, &run).await;
        assert_eq!(secret.get("secret"), None, "private channels are not shown");
    }
    assert_eq!(calls.both(), (0, 1), "two failed attempts shared one call");
    let open = open_questions(engine).await;
    assert_eq!(open.len(), 2);
    assert_eq!(open[0].ask.kind.name(), "escalation");
    let stopped = answer(engine, &open[0], json!({ "choice": "stop" })).await.expect("it is taken");
    assert!(matches!(stopped, AnswerOutcome::Taken(_)));
    let failed = until_status(engine, open[0].run, RunStatus::Failed).await;
    let machine = engine.run_machine(&failed).await.expect("it can be read");
    let (failure, node) = machine.failure().expect("it has failed");
    assert_eq!((failure.code.as_str(), node), ("E3", Some("try")));
    answer(engine, &open[1], json!({ "choice": "retry" })).await.expect("it is taken");
    let again = until(engine, open[1].run, |info| info.status == RunStatus::Waiting && info.last > 6).await;
    assert_eq!(open_questions(engine).await.len(), 1, "it failed again: {again:?}");
}

#[tokio::test]
async fn a_stopped_run_takes_its_questions_and_runs_with_it() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "outer", json!({})).await.id;
    until(engine, run, |info| info.status == RunStatus::Waiting).await;
    let stopped = engine.cancel_run(run, Some("enough".to_owned()), &call()).await.expect("it is stopped");
    assert_eq!(stopped.status, RunStatus::Cancelled);
    let all_over = async {
        let mut events = engine.run_events(&RunsOf::All, Some(RunCursor::default())).await.expect("told");
        let mut ended = BTreeSet::new();
        while ended.len() < 9 {
            let told = events.recv().await.expect("it goes on").expect("it can be read");
            if told.kind == RunEventKind::Finished {
                ended.insert(told.run);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_over).await.expect("all nine have ended");
    assert!(open_questions(engine).await.is_empty());
    let again = engine.cancel_run(run, None, &call()).await.expect("nothing is left to do");
    assert_eq!((again.status, again.last), (stopped.status, stopped.last));
    // One that is in the middle of a node is stopped there.
    let waits = start(engine, "shaky", json!({ "how": "waits" })).await.id;
    until(engine, waits, |info| info.last >= 2).await;
    engine.cancel_run(waits, None, &call()).await.expect("it is stopped");
    until_status(engine, waits, RunStatus::Cancelled).await;
}

#[tokio::test]
async fn listeners_go_on_behind_any_event() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "long", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let stored = |kind| !matches!(kind, RunEventKind::NodeStarted | RunEventKind::ModelDelta);
    let from = |after: RunCursor, count: usize| async move {
        let mut events = engine.run_events(&RunsOf::Run(run), Some(after)).await.expect("told");
        let mut told = Vec::new();
        while told.len() < count {
            let event = events.recv().await.expect("it goes on").expect("it can be read");
            if stored(event.kind) {
                told.push((event.cursor, event.kind, event.node, event.text));
            }
        }
        told
    };
    // `Started` and its state; 25 times two calls, an end and a state; then the end of `ask` and its question.
    let all = from(RunCursor::default(), 2 + 25 * 4 + 2).await;
    assert_eq!(all.last().expect("the last one").1, RunEventKind::Interrupted);
    for (index, (cursor, ..)) in all.iter().enumerate().step_by(7) {
        let read: RunCursor = cursor.to_string().parse().expect("a cursor");
        assert_eq!(read, *cursor);
        assert_eq!(from(read, all.len() - index - 1).await, all[index + 1..]);
    }
    let ahead = RunCursor::At(RunPlace { position: 1 << 40, event: 0 });
    let ahead = engine.run_events(&RunsOf::All, Some(ahead)).await.expect_err("nothing is there");
    assert!(matches!(ahead, Error::CursorInvalid { .. }));
}

/// PUN-29, PUN-31, PUN-55: every node and every effect is a span, effects lie in their nodes, and all are in one trace.
#[tokio::test]
async fn the_trace_follows_from_the_journal() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "long", json!({})).await.id;
    let run = until_status(engine, run, RunStatus::Waiting).await;
    let all = engine.span_page(&run, 0, 1_000).await.expect("listed");
    // The run, 25 times a model, a tool and a node, and `ask`; announcements are no spans of their own.
    assert_eq!((all.items.len(), all.total, all.more), (1 + 25 * 3 + 1, 77, false));
    let root = &all.items[0];
    assert_eq!((root.kind.as_str(), root.name.as_str(), root.ok), ("run", "long", None));
    let ids: BTreeSet<&str> = all.items.iter().map(|span| span.id.as_str()).collect();
    assert_eq!(ids.len(), all.items.len(), "no two have one id");
    for span in &all.items[1..] {
        assert_eq!(span.trace, root.trace);
        assert!(ids.contains(span.parent.as_deref().expect("it lies in something")), "{span:?}");
        assert!(span.ended.expect("it has ended") >= span.started);
    }
    let model = all.items.iter().find(|span| span.kind == "model").expect("a model was called");
    assert_eq!(model.attributes["gen_ai.usage.input_tokens"], json!(3));
    let page = engine.span_page(&run, all.items[9].number, 5).await.expect("listed");
    assert_eq!((page.items[0].number, page.items.len(), page.more), (all.items[10].number, 5, true));

    let within =
        StartRun { flow: "long".to_owned(), session: Some(run.session.id), input: json!({}), deadline: None };
    let second = engine.start_run(&within, &call()).await.expect("it begins").id;
    let second = until_status(engine, second, RunStatus::Waiting).await;
    start(engine, "long", json!({})).await;
    let of_second = engine.span_page(&second, 0, 1_000).await.expect("listed");
    let both = all.items.iter().chain(&of_second.items).map(|span| span.id.clone());
    let (mut found, mut after) = (Vec::new(), (0, 0));
    loop {
        let page = engine.session_span_page(run.session.id, after, 40).await.expect("listed");
        assert_eq!((page.total, page.more), (154, page.items.len() == 40));
        let Some((key, last)) = page.items.last() else { break };
        after = (*key, last.number);
        found.extend(page.items.into_iter().map(|(_, span)| span.id));
    }
    assert_eq!(found, both.collect::<Vec<_>>(), "run by run, the oldest first");
}

#[tokio::test]
async fn a_run_goes_back_and_another_one_goes_on_from_there() {
    let (fixture, calls) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "long", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    answer(engine, &asked, json!({ "text": "first" })).await.expect("it is taken");
    let done = until_status(engine, run, RunStatus::Completed).await;
    assert_eq!(calls.both(), (50, 50));

    let key = call().keyed(Some("f"), b"fork");
    let fork = engine.fork_run(run, asked.asked, &key).await.expect("it begins");
    assert_eq!(engine.fork_run(run, asked.asked, &key).await.expect("it has begun").id, fork.id);
    assert_eq!((fork.status, fork.forked), (RunStatus::Waiting, Some((run, asked.asked))));
    let again = open_questions(engine).await.remove(0);
    assert_eq!((again.run, again.asked), (fork.id, asked.asked));
    answer(engine, &again, json!({ "text": "second" })).await.expect("it is taken");
    let forked = until_status(engine, fork.id, RunStatus::Completed).await;
    assert_eq!(state(engine, &forked).await["answer"], json!({ "text": "second" }));
    assert_eq!(state(engine, &done).await["answer"], json!({ "text": "first" }));
    assert_eq!(calls.both(), (75, 75), "what came before was not called again");

    let (_, would) = engine.rewind_run(run, asked.asked, true, &call()).await.expect("it could be");
    assert_eq!(would.not_undone.len(), 50);
    assert_eq!(engine.run_info(run).await.expect("it is there").last, done.last, "nothing has changed");
    let (back, did) = engine.rewind_run(run, asked.asked, false, &call()).await.expect("it goes back");
    assert_eq!((did.superseded, back.status), (would.superseded, RunStatus::Waiting));
    let open = open_questions(engine).await.remove(0);
    assert_eq!((open.run, open.asked), (run, asked.asked));
    answer(engine, &open, json!({ "text": "third" })).await.expect("it is taken");
    let end = until(engine, run, |info| info.status == RunStatus::Completed && info.last > done.last).await;
    assert_eq!(state(engine, &end).await["answer"], json!({ "text": "third" }));
    assert_eq!(calls.both(), (100, 100));
    let nowhere = engine.rewind_run(run, 100_000, false, &call()).await.expect_err("it was never there");
    assert!(matches!(nowhere, Error::NotFound { what: "step", .. }));
}

/// A process may end after a run has, and before those are stopped that it waited for.
#[tokio::test]
async fn runs_that_nobody_waits_for_any_more_are_stopped() {
    let (fixture, calls) = fixture().await;
    let run = start(&fixture.engine, "outer", json!({})).await.id;
    let asked = async {
        while open_questions(&fixture.engine).await.len() < 64 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asked).await.expect("all ask");
    let end = r#"UPDATE "runs" SET "ended" = "made", "status" = 4 WHERE "parent" IS NULL"#;
    let fixture = fixture.reopened(&[end]).await;
    fixture.engine.run_flows(all(&calls));
    let stopped = async {
        while !open_questions(&fixture.engine).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), stopped).await.expect("nobody asks any more");
    let children = fixture.engine.run_page(&RunFilter::default(), None, 100).await.expect("listed").items;
    for child in children.iter().filter(|child| child.parent == Some(run)) {
        assert_eq!(child.status, RunStatus::Cancelled);
    }
}

#[tokio::test]
async fn a_question_that_a_run_was_taken_back_over_is_stale() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let run = start(engine, "long", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;
    let asked = open_questions(engine).await.remove(0);
    engine.rewind_run(run, asked.asked - 4, false, &call()).await.expect("it goes back");
    let late = answer(engine, &asked, json!({ "text": "late" })).await.expect("it is told");
    assert!(matches!(late, AnswerOutcome::Stale(why) if why.contains("taken back")));
}

/// A run of `long` that asks, in a database that is opened again with another version of it.
async fn asking_of_another(change: impl FnOnce(Definition) -> Definition) -> (Fixture, Uuid) {
    let (fixture, calls) = fixture().await;
    let run = start(&fixture.engine, "long", json!({})).await.id;
    until_status(&fixture.engine, run, RunStatus::Waiting).await;
    let fixture = fixture.reopened(&[]).await;
    fixture.engine.run_flows(later(&calls, change));
    (fixture, run)
}

fn second(long: Definition) -> Definition {
    Definition { version: 2, ..long }.channel("notes", Reducer::Append { most: 8 }, json!(["new"]))
}

/// A run of another version of its flow is shown, and not gone on with before it is moved; then it carries what it carried.
#[tokio::test]
async fn a_run_stays_with_its_definition_until_it_is_moved() {
    let (fixture, run) = asking_of_another(second).await;
    let engine = &fixture.engine;
    let shown = engine.run_info(run).await.expect("it is shown");
    assert!(engine.is_outdated(&shown));
    assert_eq!(state(engine, &shown).await["steps"], json!(25));
    let asked = open_questions(engine).await.remove(0);
    let refused = answer(engine, &asked, json!({ "text": "x" })).await.expect_err("it is older");
    assert!(matches!(refused, Error::Unsupported { .. }));
    let calm = Call::by(call().actor);
    assert!(matches!(engine.fork_run(run, asked.asked, &calm).await, Err(Error::Unsupported { .. })));

    let (same, moved) = engine.move_run(run, true, &calm).await.expect("it is told");
    let version = |flow: &Flow| flow.definition().version;
    assert_eq!((version(&moved.from), version(&moved.to), moved.hindrances.len()), (1, 2, 0));
    assert!(engine.is_outdated(&same), "a dry run changes nothing");
    for _ in 0..2 {
        let (info, _) = engine.move_run(run, false, &calm).await.expect("it is moved, once");
        assert_eq!(version(&info.flow), 2);
        assert!(!engine.is_outdated(&info));
        let now = state(engine, &info).await;
        assert_eq!((&now["steps"], &now["notes"]), (&json!(25), &json!(["new"])));
    }
    answer(engine, &asked, json!({ "text": "x" })).await.expect("it is taken");
    let ended = until_status(engine, run, RunStatus::Completed).await;
    assert_eq!(state(engine, &ended).await["steps"], json!(50));
    let spans = engine.span_page(&ended, 0, 1_000).await.expect("it is read").items;
    assert_eq!(spans.iter().filter(|span| span.name == "moved").count(), 1);

    // What came before stays a part of its journal, to go back to.
    let fork = engine.fork_run(run, asked.asked - 4, &calm).await.expect("it is forked");
    assert_eq!(version(&fork.flow), 2);
    engine.rewind_run(run, asked.asked, false, &calm).await.expect("it goes back");
    until_status(engine, run, RunStatus::Waiting).await;
}

/// Of two processes, one of which knows the newer version, that one goes on with a run once it was moved.
#[tokio::test]
async fn a_moved_run_is_gone_on_with_where_its_version_is_known() {
    let (fixture, calls) = fixture().await;
    if std::env::var_os("LMLANG_TEST_POSTGRES").is_none() {
        return;
    }
    let run = start(&fixture.engine, "long", json!({})).await.id;
    until_status(&fixture.engine, run, RunStatus::Waiting).await;
    let newer = fixture.replica().await;
    newer.run_flows(later(&calls, second));
    newer.move_run(run, false, &Call::by(call().actor)).await.expect("it is moved");
    let shown = fixture.engine.run_info(run).await.expect("it is shown");
    assert!(!fixture.engine.is_outdated(&shown), "it is newer than what this process knows");
    let asked = open_questions(&newer).await.remove(0);
    let refused = answer(&fixture.engine, &asked, json!({ "text": "x" })).await.expect_err("it is not known");
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
    let calm = Call::by(call().actor);
    let (_, back) = fixture.engine.move_run(run, true, &calm).await.expect("it is told");
    assert_eq!(back.hindrances, ["it is one of the newer version 2"]);
    answer(&newer, &asked, json!({ "text": "x" })).await.expect("it is taken");
    until_status(&newer, run, RunStatus::Completed).await;
    newer.close().await;
}

/// A run that was moved is not taken back to where its definition has nothing, and nothing is taken back then.
#[tokio::test]
async fn a_moved_run_goes_back_only_to_what_is_there() {
    let without_question = |long| {
        let mut long = second(long);
        long.nodes.retain(|node| node.name != "ask");
        long.nodes[0].targets.retain(|target| target != "ask");
        long
    };
    let (fixture, run) = asking_of_another(without_question).await;
    let engine = &fixture.engine;
    let calm = Call::by(call().actor);
    let asked = open_questions(engine).await.remove(0);
    engine.move_run(run, false, &calm).await.expect("it goes on at what is there");
    for dry_run in [true, false] {
        let refused =
            engine.rewind_run(run, asked.asked - 1, dry_run, &calm).await.expect_err("it asks there");
        let place = matches!(&refused, Error::Argument { place, .. } if place == "input.toStep");
        assert!(place && refused.to_string().contains("the node `ask`"), "{refused}");
    }
    engine.fork_run(run, asked.asked - 1, &calm).await.expect_err("it asks there");
    answer(engine, &asked, json!({ "text": "x" })).await.expect("it is taken");
    until_status(engine, run, RunStatus::Completed).await;
}

/// A run that has ended is moved, to be forked or taken back, and has ended when it did.
#[tokio::test]
async fn a_run_that_has_ended_is_moved() {
    let (fixture, calls) = fixture().await;
    let run = start(&fixture.engine, "shaky", json!({ "how": "well" })).await.id;
    let before = until_status(&fixture.engine, run, RunStatus::Completed).await;
    let fixture = fixture.reopened(&[]).await;
    let mut flows = all(&calls);
    flows.retain(|code| code.flow().name() != "shaky");
    flows.push(shaky_again(&calls));
    fixture.engine.run_flows(flows);
    let calm = Call::by(call().actor);
    let (after, moved) = fixture.engine.move_run(run, false, &calm).await.expect("it is moved");
    assert_eq!(moved.to.definition().version, 2);
    assert_eq!((after.ended, after.status, after.last), (before.ended, before.status, before.last + 1));
    let mut events =
        fixture.engine.run_events(&RunsOf::Run(run), Some(RunCursor::default())).await.expect("told");
    let mut finished = 0;
    while let Ok(Some(told)) = tokio::time::timeout(Duration::from_millis(300), events.recv()).await {
        finished += usize::from(told.expect("it can be read").kind == RunEventKind::Finished);
    }
    assert_eq!(finished, 1, "it has ended once");
    fixture.engine.rewind_run(run, 1, false, &calm).await.expect("it goes back");
    until_status(&fixture.engine, run, RunStatus::Completed).await;
}

/// What keeps a run from moving is told, and it stays as it is.
#[tokio::test]
async fn what_keeps_a_run_from_moving_is_told() {
    let (fixture, run) = asking_of_another(|long| {
        let mut long = second(long);
        long.channels.retain(|channel| channel.name != "said");
        long
    })
    .await;
    let calm = Call::by(call().actor);
    let (_, moved) = fixture.engine.move_run(run, true, &calm).await.expect("it is told");
    assert!(moved.hindrances[0].contains("there is no channel `said`"), "{:?}", moved.hindrances);
    let refused = fixture.engine.move_run(run, false, &calm).await.expect_err("it does not fit");
    let place = matches!(&refused, Error::Argument { place, .. } if place == "input.runId");
    assert!(place && refused.to_string().contains("`said`"), "{refused}");
    let info = fixture.engine.run_info(run).await.expect("it is shown");
    assert!(fixture.engine.is_outdated(&info));
}

/// A run goes on if its flow only says other words of itself.
#[tokio::test]
async fn a_run_goes_on_whatever_its_flow_says_of_itself() {
    let (fixture, run) =
        asking_of_another(|long| Definition { doc: "Other words.".to_owned(), ..long }).await;
    let info = fixture.engine.run_info(run).await.expect("it is shown");
    assert!(!fixture.engine.is_outdated(&info));
    let calm = Call::by(call().actor);
    let (same, moved) =
        fixture.engine.move_run(run, false, &calm).await.expect("there is nothing to be done");
    assert_eq!((same.last, moved.from.hash()), (info.last, moved.to.hash()));
    let asked = open_questions(&fixture.engine).await.remove(0);
    answer(&fixture.engine, &asked, json!({ "text": "x" })).await.expect("it is taken");
    until_status(&fixture.engine, run, RunStatus::Completed).await;
}

//! How long a run may take, and how long answers are awaited.

use super::*;

/// A run of [`asking`] that may take five milliseconds, and asks.
fn bounded() -> Writer {
    let mut writer = Writer::start(&asking(), Update::none());
    writer.write(What::Bounded { within: 5_000 });
    writer.go(step, |_| 0);
    writer
}

fn over(writer: &mut Writer, now: i64) -> usize {
    writer.now = now;
    let over: Vec<What> = writer.run.expired(now).collect();
    let count = over.len();
    over.into_iter().for_each(|what| writer.write(what));
    count
}

fn replayed(writer: &Writer) -> Run {
    Run::replay(writer.run.flow(), &writer.journal).expect("it follows")
}

#[test]
fn a_run_ends_once_when_its_time_is_over() {
    let mut writer = bounded();
    // It was bounded by its second entry.
    let deadline = 1_002 + 5_000;
    assert_eq!((writer.run.deadline(), writer.run.wake()), (Some(deadline), Some(deadline)));
    assert_eq!((writer.run.status(), over(&mut writer, deadline - 1)), (Status::Waiting, 0));
    writer.now = deadline;
    let asked = writer.open()[0];
    // Nobody has told the run yet.
    assert_eq!(writer.answer(asked, json!({"text": "late"})), Err(AnswerError::Stale(Stale::Cancelled)));
    assert_eq!(over(&mut writer, deadline), 1, "its questions end with it");
    assert_eq!((writer.run.status(), writer.open().len(), writer.run.wake()), (Status::Failed, 0, None));
    let (failure, node) = writer.run.failure().expect("it has failed");
    assert_eq!((failure.code.as_str(), node), (run::OVERDUE, Some("ask")));
    assert_eq!(failure.message, "it has not come to its end within 5 ms");
    assert_eq!(over(&mut writer, deadline + 1), 0);
    assert_eq!(writer.run.ended_at(), Some(deadline + 1));
    assert_eq!(format!("{:?}", replayed(&writer)), format!("{:?}", writer.run));
    let mut twice = writer.run.clone();
    let again = Entry { number: twice.last() + 1, time: writer.now, what: What::Overdue };
    assert!(matches!(twice.take(&again), Err(Corrupt::Place { kind: Kind::Overdue, .. })));
}

#[test]
fn a_run_that_has_ended_is_never_overdue() {
    let mut writer = bounded();
    writer.write(What::Cancelled { by: "ann".to_owned(), reason: None });
    assert_eq!((over(&mut writer, 9_999_999), writer.run.status()), (0, Status::Cancelled));
}

#[test]
fn the_time_of_a_run_counts_anew_when_it_is_taken_back() {
    // Behind its beginning, and behind the entry that bounds it.
    for to in [1, 2, 3] {
        let mut writer = bounded();
        over(&mut writer, 10_000);
        assert_eq!(writer.run.status(), Status::Failed);
        writer.now = 20_000;
        writer.write(What::Rewound { to, by: "ann".to_owned(), request: None });
        assert_eq!(writer.run.deadline(), Some(25_001), "taken back to {to}");
        writer.go(step, |_| 0);
        assert_eq!((writer.run.status(), over(&mut writer, 25_000)), (Status::Waiting, 0));
        assert_eq!((over(&mut writer, 25_001), writer.run.status()), (1, Status::Failed));
        assert_eq!(format!("{:?}", replayed(&writer)), format!("{:?}", writer.run));
    }
}

/// A flow whose questions are awaited for three milliseconds.
fn awaiting(then: Option<&str>) -> Arc<Flow> {
    let definition = Definition::new("awaiting", 1, "")
        .node(NodeSpec::ask("ask", &["add", "late"], "").awaiting(3_000, then))
        .node(NodeSpec::task("add", &[END], ""))
        .node(NodeSpec::task("late", &[END], ""))
        .channel("answer", Reducer::Replace, Value::Null);
    Arc::new(Flow::new(definition).expect("it makes sense"))
}

fn awaited(then: Option<&str>, ask: Ask) -> Writer {
    let mut writer = Writer::start(&awaiting(then), Update::none());
    let task = writer.run.tasks().next().expect("it begins");
    let step = Step::ask(ask, "add", Update::none());
    let what = writer.run.finished(&task, step, 0, 0, writer.now).expect("it is legal");
    writer.write(what);
    writer
}

#[test]
fn answers_are_awaited_as_long_as_the_node_says() {
    for (then, status, node) in [(Some("late"), Status::Running, Some("late")), (None, Status::Failed, None)]
    {
        let mut writer = awaited(then, question("answer"));
        assert_eq!(writer.run.wake(), Some(1_001 + 3_000));
        assert_eq!((over(&mut writer, 4_000), writer.run.status()), (0, Status::Waiting));
        assert_eq!((over(&mut writer, 4_001), writer.run.status()), (1, status));
        assert_eq!(writer.run.node(), node);
        let failed = writer.run.failure().map(|(failure, _)| failure.code.as_str());
        assert_eq!(failed, (status == Status::Failed).then_some(run::EXPIRED));
    }
    // What the question itself says counts.
    let own = Ask { expires: Some(9_000), otherwise: Some("add".to_owned()), ..question("answer") };
    let mut writer = awaited(Some("late"), own);
    assert_eq!((over(&mut writer, 8_999), over(&mut writer, 9_000)), (0, 1));
    assert_eq!(writer.run.node(), Some("add"));
}

/// A question of the ladder is one of the node: where nobody answers it, another step begins.
#[test]
fn a_node_that_has_failed_for_good_is_left_when_nobody_answers() {
    let mut writer = Writer::start(&awaiting(Some("late")), Update::none());
    let task = writer.run.tasks().next().expect("it begins");
    let in_doubt = failure(ladder::IN_DOUBT, "d");
    let what = writer.run.failed(&task, in_doubt, 0, 1, writer.now);
    writer.write(what);
    assert_eq!((writer.run.status(), over(&mut writer, 4_001)), (Status::Waiting, 1));
    let next = writer.run.tasks().next().expect("it goes on");
    assert_eq!((next.node.as_str(), next.step, next.tries), ("late", task.step + 1, 0));
}

#[test]
fn what_becomes_of_a_question_is_checked_with_the_definition() {
    let node = |after, then| {
        vec![
            NodeSpec::ask("ask", &["late", END], "").awaiting(after, then),
            NodeSpec::task("late", &[END], ""),
        ]
    };
    let check = |nodes, expect: &str| assert_eq!(problems(nodes), expect);
    check(node(1, Some("late")), "fine");
    check(node(1, None), "fine");
    check(node(0, None), "`ask` awaits answers for no time");
    let stray = |to| format!("`ask` leads to `{to}` when nobody answers, which is no node among its targets");
    check(node(1, Some("ask")), &stray("ask"));
    check(node(1, Some(END)), &stray("END"));
    let drawn = awaiting(Some("late"));
    assert!(drawn.dot().contains(r#""ask" -> "late" [label=timeout];"#), "{}", drawn.dot());
    assert!(drawn.mermaid().contains("n_ask -->|timeout| n_late"), "{}", drawn.mermaid());
}

/// A definition without timeouts is written, and therefore told from others, as before there were any.
#[test]
fn definitions_without_timeouts_are_as_they_were() {
    let json = serde_json::to_value(asking().definition()).expect("it is JSON");
    assert_eq!(json["nodes"][1].get("timeout"), None);
    let json = serde_json::to_value(awaiting(None).definition()).expect("it is JSON");
    assert_eq!(json["nodes"][0]["timeout"], json!({ "after": 3_000 }));
}

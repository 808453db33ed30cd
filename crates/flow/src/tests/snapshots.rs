//! Runs that go on from a snapshot.

use super::*;

/// The run of a journal, from a snapshot after so many entries on, as it is stored and read.
fn resumed(flow: &Arc<Flow>, journal: &[Entry], after: usize) -> Option<Run> {
    let (before, tail) = journal.split_at(after.min(journal.len()));
    let kept = Run::replay(flow, before).expect("it follows").snapshot();
    assert_eq!(kept.last(), before.last().map_or(0, |entry| entry.number));
    let stored = serde_json::to_vec(&kept).expect("it is JSON");
    let read: Snapshot = serde_json::from_slice(&stored).expect("it is one");
    assert_eq!(read, kept);
    Run::resume(flow, read, tail).expect("it follows")
}

/// Going on from a snapshot comes to what the whole journal comes to.
pub(super) fn check(flow: &Arc<Flow>, journal: &[Entry], after: usize) -> Result<(), TestCaseError> {
    let whole = Run::replay(flow, journal).expect("it follows");
    let resumed = resumed(flow, journal, after).expect("nothing was taken back");
    prop_assert_eq!(format!("{resumed:?}"), format!("{whole:?}"));
    Ok(())
}

/// Taken back to an entry, a run goes on from snapshots up to that, and from those that were made since; not from others.
#[test]
fn what_was_taken_back_counts_for_no_snapshot() {
    let flow = asking();
    let mut writer = Writer::start(&flow, Update::none());
    writer.write(What::Bounded { within: 5_000_000 });
    writer.go(step, |_| 0);
    let to = writer.run.last();
    let open = writer.open();
    open.iter().for_each(|asked| writer.answer(*asked, json!({"text": "x"})).expect("it is open"));
    writer.go(step, |_| 0);
    writer.write(What::Rewound { to, by: "ann".to_owned(), request: None });
    let back = writer.journal.len();
    writer.answer(open[0], json!({"text": "y"})).expect("it is open again");
    let whole = format!("{:?}", writer.run);
    for after in (0..back).step_by(7).chain([back - 1, back, back + 1]) {
        let last = writer.journal[..after].last().map_or(0, |entry| entry.number);
        let counts = last <= to || after >= back;
        let run = resumed(&flow, &writer.journal, after);
        assert_eq!(run.map(|run| format!("{run:?}")), counts.then(|| whole.clone()), "after {after}");
    }
}

/// What was said in a long run is in its journal, and little of it in a snapshot.
#[test]
fn a_thousand_questions_are_little_to_keep() {
    let definition = Definition::new("talk", 1, "")
        .node(NodeSpec::ask("ask", &["ask"], "").at_most(10_000))
        .channel("answer", Reducer::Replace, Value::Null);
    let flow = Arc::new(Flow::new(definition).expect("it makes sense"));
    let mut writer = Writer::start(&flow, Update::none());
    let asks = |_: &Task, _: &State| Step::ask(question("answer"), "ask", Update::none());
    writer.go(asks, |_| 0);
    for _ in 0..1_000 {
        let asked = writer.open()[0];
        writer.answer(asked, json!({ "text": "x".repeat(500) })).expect("it is open");
        writer.go(asks, |_| 0);
    }
    let kept = serde_json::to_vec(&writer.run.snapshot()).expect("it is JSON").len();
    assert!(kept < 60 * 1_000, "{kept} bytes");
    assert_eq!(writer.run.answerers().count(), 1_000);
    check(&flow, &writer.journal, 1_900).expect("it is the same");
}

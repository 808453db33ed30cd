//! How deep what a run carries is nested.

use super::*;
use crate::depth::{ANSWER_TOO_DEEP, MOST_DEPTH, is_too_deep, shallow};

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |within, _| json!([within]))
}

fn flow() -> Arc<Flow> {
    let definition = Definition::new("deep", 1, "")
        .node(NodeSpec::task("a", &["a", END], "").at_most(9))
        .channel("x", Reducer::Replace, Value::Null);
    Arc::new(Flow::new(definition).expect("it makes sense"))
}

fn given(value: Value) -> Step {
    Step::next("a", Update::none().with("x", value))
}

fn forked(value: Value) -> Step {
    let arm = Arm { node: "a".to_owned(), given: Update::none().with("x", value) };
    Step::to(Goto::Fork { arms: vec![arm], join: "a".to_owned() }, Update::none())
}

fn sub(value: Value) -> Step {
    let goto = Goto::Sub {
        flow: "other".to_owned(),
        input: value.clone(),
        into: "x".to_owned(),
        then: "a".to_owned(),
    };
    Step::to(goto, Update::none().with("x", value))
}

#[test]
fn what_a_node_gives_is_nested_so_deep_at_most() {
    let writer = Writer::start(&flow(), Update::none());
    let task = writer.run.tasks().next().expect("it begins");
    let finished = |step: Step| writer.run.finished(&task, step, 1_000, 0, 1_000);
    for step in [given, forked, sub] {
        finished(step(nested(MOST_DEPTH))).expect("it is taken");
        let refused = finished(step(nested(MOST_DEPTH + 1))).expect_err("it is too deep");
        assert_eq!(refused.code(), "FLOW_BAD_UPDATE", "{refused}");
    }
    let noting = |note: Value| given(json!(1)).noting(json!({ "deep": note, "flat": 1 }));
    let what = finished(noting(nested(MOST_DEPTH))).expect("notes change nothing");
    assert!(matches!(what, What::Stepped(stepped) if stepped.notes == json!({ "flat": 1 })));
    assert!(!is_too_deep(&shallow(json!({ "deep": nested(MOST_DEPTH - 1) }))));
}

/// The writer reads each entry again.
#[test]
fn the_deepest_is_read_as_it_was_written() {
    let mut writer = Writer::start(&flow(), Update::none().with("x", nested(MOST_DEPTH)));
    let task = writer.run.tasks().next().expect("it begins");
    let what = writer.run.finished(&task, sub(nested(MOST_DEPTH)), 1_000, 0, 1_000);
    writer.write(what.expect("it is taken"));
    let ended = |levels| writer.run.sub_ended(&task.place, Ok(nested(levels))).expect("it waits");
    let What::SubEnded { result: Err(failure), .. } = ended(MOST_DEPTH + 1) else { panic!("it is too deep") };
    assert_eq!(failure.code, ANSWER_TOO_DEEP);
    let what = ended(MOST_DEPTH);
    writer.write(what);
    assert_eq!(writer.run.state().get("x"), &nested(MOST_DEPTH));
    let snapshot = serde_json::to_string(&writer.run.snapshot()).expect("a snapshot is JSON");
    serde_json::from_str::<Snapshot>(&snapshot).expect("it can be read");
}

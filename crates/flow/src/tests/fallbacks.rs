//! Nodes without which a run goes on when they have failed.

use super::*;

/// A flow whose `try` may fail once, and leads to `sorry` then, to which a run may come so often.
fn guarded(visits: u32) -> Arc<Flow> {
    let definition = Definition::new("guarded", 1, "")
        .node(NodeSpec::task("try", &[END, "sorry"], "").trying(1).at_most(9).or_else("sorry", Some("why")))
        .node(NodeSpec::task("sorry", &["try", END], "").at_most(visits))
        .channel("why", Reducer::Replace, Value::Null)
        .channel("came", Reducer::Replace, Value::Null);
    Arc::new(Flow::new(definition).expect("it makes sense"))
}

fn fails(writer: &mut Writer, code: &str) {
    let task = writer.run.tasks().next().expect("it is tried");
    let what = writer.run.failed(&task, failure(code, "d"), writer.now, 0, writer.now);
    writer.write(what);
}

fn stands(writer: &Writer) -> (Status, Option<&str>) {
    (writer.run.status(), writer.run.node())
}

#[test]
fn a_run_goes_on_without_a_node_that_has_failed() {
    let mut writer = Writer::start(&guarded(1), Update::none());
    fails(&mut writer, "A");
    assert_eq!(stands(&writer), (Status::Running, Some("sorry")));
    let why = writer.run.state().get("why");
    assert_eq!((&why["code"], &why["node"]), (&json!("A"), &json!("try")));
    let task = writer.run.tasks().next().expect("it goes on");
    assert_eq!((task.step, task.attempt, task.tries), (1, 1, 0), "it is another step");
    let replayed = Run::replay(writer.run.flow(), &writer.journal).expect("it follows");
    assert_eq!(format!("{replayed:?}"), format!("{:?}", writer.run));

    // It may not come there again: a person is asked.
    let back = writer.run.finished(&task, Step::next("try", Update::none()), writer.now, 0, writer.now);
    writer.write(back.expect("it may lead there"));
    fails(&mut writer, "B");
    assert_eq!(stands(&writer), (Status::Waiting, Some("try")));
    assert_eq!(writer.run.state().get("why")["code"], "A");
}

#[test]
fn a_person_is_asked_where_nobody_knows_what_has_happened() {
    let mut writer = Writer::start(&guarded(9), Update::none());
    fails(&mut writer, ladder::IN_DOUBT);
    assert_eq!(stands(&writer), (Status::Waiting, Some("try")));
}

#[test]
fn a_run_goes_on_without_one_that_it_waits_for() {
    let sub = |flow: &str| Goto::Sub {
        flow: flow.to_owned(),
        input: json!({}),
        into: "came".to_owned(),
        then: "try".to_owned(),
    };
    let definition = Definition::new("waiting", 1, "")
        .node(NodeSpec::task("begin", &["try", "sorry"], "").or_else("sorry", None))
        .node(NodeSpec::task("try", &[END], ""))
        .node(NodeSpec::task("sorry", &[END], ""))
        .channel("came", Reducer::Replace, Value::Null);
    let flow = Arc::new(Flow::new(definition).expect("it makes sense"));
    for (result, node) in [(Ok(json!({ "a": 1 })), "try"), (Err(failure("A", "d")), "sorry")] {
        let mut writer = Writer::start(&flow, Update::none());
        let task = writer.run.tasks().next().expect("it begins");
        let step = Step::to(sub("other"), Update::none());
        let what = writer.run.finished(&task, step, writer.now, 0, writer.now).expect("it may");
        writer.write(what);
        let came = result.as_ref().ok().cloned().unwrap_or_default();
        let ended = writer.run.sub_ended(&Place::main(), result).expect("it waits");
        writer.write(ended);
        assert_eq!(stands(&writer), (Status::Running, Some(node)));
        assert_eq!(writer.run.state().get("came"), &came);
    }
}

#[test]
fn where_a_run_goes_on_is_checked_with_the_definition() {
    let task = |name: &str, targets: &[&str]| NodeSpec::task(name, targets, "");
    let stray = vec![task("a", &["b", END]).or_else("c", None), task("b", &[END])];
    assert_eq!(problems(stray), "`a` leads to `c` when it has failed, which is no node among its targets");
    let into = vec![task("a", &["b", END]).or_else("b", Some("x")), task("b", &[END])];
    assert_eq!(problems(into), "the failure of `a` goes into `x`, which is no channel that is replaced");
    let flow = guarded(1);
    assert!(flow.dot().contains("\"try\" -> \"sorry\" [label=failure];"), "{}", flow.dot());
    assert!(flow.mermaid().contains("n_try -->|failure| n_sorry"), "{}", flow.mermaid());
}

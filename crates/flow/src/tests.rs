//! Laws of runs.

mod deadlines;
mod depth;
mod fallbacks;
mod snapshots;

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::answer::Stale;
use crate::definition::END;
use crate::ladder::{self, CHOICES};
use crate::receipts::{EffectId, Intent, Known, Outcome};
use crate::*;

/// What is wrong with a flow of these nodes, each with its targets.
fn problems(nodes: Vec<NodeSpec>) -> String {
    let definition = nodes.into_iter().fold(Definition::new("f", 1, ""), Definition::node);
    match Flow::new(definition) {
        Ok(_) => "fine".to_owned(),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    }
}

#[test]
fn definitions_are_checked_when_they_are_registered() {
    let task = |name, targets: &[&str]| NodeSpec::task(name, targets, "");
    let check = |nodes, expect: &str| assert_eq!(problems(nodes), expect);
    check(vec![task("a", &["b"]), task("b", &[END])], "fine");
    check(vec![task("a", &["c"])], "`a` leads to `c`, which is no node");
    check(vec![task("a", &[END]), task("b", &[END])], "no run comes to `b`");
    check(vec![task("a", &["b"]), task("b", &["a", END])], "nothing bounds the cycle through a, b");
    check(vec![task("a", &["b"]), task("b", &["a", END]).at_most(3)], "fine");
    check(vec![task("a", &["a", END])], "nothing bounds the cycle through a");
    check(vec![task("a", &[END]), task("a", &[END])], "there are two nodes `a`");
    check(vec![task("a", &[])], "`a` has no target");
    check(vec![task("A b", &[END])], "`A b` is no name of a node");
    check(vec![task("a", &[END]).trying(0)], "`a` has no attempt");
    check(vec![task("a", &[END]).within(0)], "`a` may work for no time");
    check(vec![task("a", &[END]).within(1)], "fine");
    check(vec![], "`entry` leads to ``, which is no node");
}

/// A flow that asks in as many branches as it is told, then adds up what was answered.
fn asking() -> Arc<Flow> {
    let definition = Definition::new("asking", 1, "Asks in many branches.")
        .node(NodeSpec::task("open", &["ask", "add"], ""))
        .node(NodeSpec::ask("ask", &["note", "open"], "").at_most(1_000))
        .node(NodeSpec::task("note", &[END], ""))
        .node(NodeSpec::task("add", &[END], ""))
        .channel("answer", Reducer::Replace, Value::Null)
        .channel("said", Reducer::Append { most: 500 }, json!([]))
        .channel("total", Reducer::Sum, json!(0))
        .private("arm", Reducer::Replace, json!(0));
    // `open` may be come to again from `ask`, for branches within branches.
    Arc::new(Flow::new(definition).expect("it makes sense"))
}

/// A journal that is written as a run goes on.
struct Writer {
    run: Run,
    journal: Vec<Entry>,
    now: i64,
}

impl Writer {
    fn start(flow: &Arc<Flow>, update: Update) -> Writer {
        let mut writer = Writer { run: Run::new(Arc::clone(flow)), journal: Vec::new(), now: 1_000 };
        writer.write(What::Started(update));
        writer
    }

    fn write(&mut self, what: What) {
        self.now += 1;
        let entry = Entry { number: self.run.last() + 1, time: self.now, what };
        let stored = serde_json::to_string(&entry).expect("entries are JSON");
        assert_eq!(serde_json::from_str::<Entry>(&stored).expect("as it was"), entry);
        match entry.what {
            What::Rewound { .. } => {
                self.journal.push(entry);
                self.run = Run::replay(self.run.flow(), &self.journal).expect("it follows");
            }
            _ => {
                self.run.take(&entry).expect("it follows");
                self.journal.push(entry);
            }
        }
    }

    /// Executes whatever can be, in the order that `pick` says.
    fn go(&mut self, mut step: impl FnMut(&Task, &State) -> Step, mut pick: impl FnMut(usize) -> usize) {
        loop {
            let tasks: Vec<Task> = self.run.tasks().collect();
            if tasks.is_empty() {
                break;
            }
            let task = &tasks[pick(tasks.len()) % tasks.len()];
            let step = step(task, self.run.state_at(&task.place).expect("the branch is there"));
            let what = self.run.finished(task, step, self.now, 0, self.now).expect("the step is legal");
            self.write(what);
        }
    }

    fn answer(&mut self, asked: u64, answer: Value) -> Result<(), AnswerError> {
        let decision =
            Decision { answer, by: "ann".to_owned(), kind: "HUMAN".to_owned(), reason: None, at: self.now };
        let what = self.run.answered(asked, decision, None)?;
        self.write(what);
        Ok(())
    }

    fn open(&self) -> Vec<u64> {
        self.run.interrupts().map(|of| of.asked).collect()
    }
}

fn question(into: &str) -> Ask {
    Ask {
        kind: AskKind::NeedClarification,
        question: "what?".to_owned(),
        choices: Vec::new(),
        expires: None,
        otherwise: None,
        into: Some(into.to_owned()),
        subject: None,
    }
}

fn step(task: &Task, state: &State) -> Step {
    match task.node.as_str() {
        "open" => {
            let arm = |number: i64| Arm { node: "ask".to_owned(), given: Update::none().with("arm", number) };
            let goto = Goto::Fork { arms: (0..64).map(arm).collect(), join: "add".to_owned() };
            Step::to(goto, Update::none())
        }
        "ask" => Step::ask(question("answer"), "note", Update::none()),
        "note" => {
            let said = format!("{}: {}", state.get("arm"), state.get("answer")["text"]);
            Step::end(Update::none().with("said", json!([said])).with("total", 1))
        }
        _ => Step::end(Update::none().with("total", 1_000)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// 64 questions in parallel branches, answered and gone on with in any order, come to one state; and wherever the journal
    /// is cut, replaying it gives the run that wrote it.
    #[test]
    fn parallel_questions_may_be_answered_in_any_order(
        order in Just((0..64usize).collect::<Vec<_>>()).prop_shuffle(),
        picks in prop::collection::vec(0..64usize, 32),
        cut in 0..200usize,
    ) {
        let flow = asking();
        let mut writer = Writer::start(&flow, Update::none());
        let mut turn = 0;
        let mut pick = |_| { turn += 1; picks[turn % picks.len()] };
        writer.go(step, &mut pick);
        prop_assert_eq!(writer.run.status(), Status::Waiting);
        let open = writer.open();
        prop_assert_eq!(open.len(), 64);
        // Whoever was asked first need not be the first arm: branches were picked at random.
        for index in order {
            let place = writer.run.interrupt(open[index]).expect("it was asked").place.to_string();
            writer.answer(open[index], json!({"text": place})).expect("it is open");
            let again = writer.answer(open[index], json!({"text": "late"}));
            let is_told = matches!(again, Err(AnswerError::Already { by, .. }) if by == "ann");
            prop_assert!(is_told);
            writer.go(step, &mut pick);
        }
        prop_assert_eq!(writer.run.status(), Status::Completed);
        prop_assert_eq!(writer.run.state().get("total"), &json!(1_064));
        let expect: Vec<String> = (0..64).map(|arm| format!("{arm}: \"{arm}\"")).collect();
        prop_assert_eq!(writer.run.state().get("said"), &json!(expect));

        let mut taken = Run::new(Arc::clone(&flow));
        for entry in &writer.journal[..cut.min(writer.journal.len())] {
            taken.take(entry).expect("it follows");
        }
        let replayed = Run::replay(&flow, &writer.journal[..cut.min(writer.journal.len())]).expect("it follows");
        prop_assert_eq!(format!("{taken:?}"), format!("{replayed:?}"));
        snapshots::check(&flow, &writer.journal, cut)?;
    }
}

/// PUN-21, PUN-77: what grows is bounded, whatever is added.
#[test]
fn reducers_keep_a_state_bounded() {
    let flow = asking();
    let mut state = State::initial(&flow);
    for number in 0..1_000 {
        state
            .apply(&flow, &Update::none().with("said", json!([number])).with("total", number))
            .expect("fits");
    }
    let said = state.get("said").as_array().expect("a list");
    assert_eq!((said.len(), &said[0], &said[499]), (500, &json!(500), &json!(999)));
    assert_eq!(state.get("total"), &json!(499_500));
    let misfit = state.apply(&flow, &Update::none().with("total", 1).with("said", "word"));
    assert_eq!(misfit.expect_err("no list").to_string(), "channel `said` takes a list, not a text");
    assert_eq!(state.get("total"), &json!(499_500), "nothing of an update that does not fit is taken in");
    let unknown = state.apply(&flow, &Update::none().with("other", 1));
    assert_eq!(unknown.expect_err("no channel").to_string(), "there is no channel `other`");
}

/// PUN-20: private channels are neither shown nor told.
#[test]
fn private_channels_are_not_shown() {
    let flow = asking();
    let shown = State::initial(&flow).public(&flow);
    assert_eq!(shown, json!({"answer": null, "said": [], "total": 0}));
}

fn failure(code: &str, arguments: &str) -> Failure {
    Failure {
        code: code.to_owned(),
        message: "it broke".to_owned(),
        tool: Some("hammer".to_owned()),
        arguments: Some(arguments.to_owned()),
        transient: code == "BUSY",
        retry_after: None,
    }
}

/// PUN-14, PUN-81: what becomes of a row of failures, as `code/arguments` with spaces between.
fn ladder_of(row: &str) -> String {
    let mut before: Vec<Failure> = Vec::new();
    let mut attempt = 1;
    let mut out = Vec::new();
    for text in row.split(' ') {
        let (code, arguments) = text.split_once('/').expect("a code and arguments");
        let failure = failure(code, arguments);
        let (class, remedy) = ladder::remedy("n", &before, &failure, attempt, 3, 0);
        out.push(match remedy {
            Remedy::Retry { at, attempt: next } => {
                attempt = next;
                format!("{class:?}: attempt {next} at {at}")
            }
            Remedy::Ask(ask) => format!("{class:?}: {}", ask.question),
            Remedy::Next { node, .. } => format!("{class:?}: on at {node}"),
            Remedy::Stop => format!("{class:?}: stop"),
        });
        before.push(failure);
    }
    out.join("\n")
}

#[test]
fn failures_are_tried_again_waited_out_or_answered_by_a_person() {
    insta::assert_snapshot!(ladder_of("A/1 B/2 C/3"), @r"
    New: attempt 2 at 0
    New: attempt 3 at 0
    New: `n` failed 3 times: it broke (C). Go on?
    ");
    insta::assert_snapshot!(ladder_of("A/1 A/1"), @r"
    New: attempt 2 at 0
    Identical: `n` failed 2 times, each time alike: it broke (A). Go on?
    ");
    insta::assert_snapshot!(ladder_of("A/1 B/2 A/1"), @r"
    New: attempt 2 at 0
    New: attempt 3 at 0
    Identical: `n` failed 2 times, each time alike: it broke (A). Go on?
    ");
    insta::assert_snapshot!(ladder_of("A/1 A/2 A/3"), @r"
    New: attempt 2 at 0
    Systematic: attempt 3 at 0
    Systematic: `n` failed 3 times: it broke (A). Go on?
    ");
    insta::assert_snapshot!(ladder_of("BUSY/1 BUSY/1 A/1 BUSY/1 BUSY/1 BUSY/1 BUSY/1"), @r"
    Random: attempt 1 at 250000
    Random: attempt 1 at 500000
    New: attempt 2 at 0
    Random: attempt 2 at 1000000
    Random: attempt 2 at 2000000
    Random: attempt 2 at 4000000
    Random: `n` failed 6 times, although it was waited for: it broke (BUSY). Go on?
    ");
}

/// What a tool says of the state alone is the same if its words are; what a node does by itself may come out
/// otherwise.
#[test]
fn a_failure_without_arguments_is_known_by_its_words() {
    let told = |tool: Option<&str>, message: &str| Failure {
        tool: tool.map(str::to_owned),
        message: message.to_owned(),
        arguments: None,
        ..failure("A", "")
    };
    let check = |tool, first, second, expect| {
        let class = ladder::classify(&[told(tool, first)], &told(tool, second));
        assert_eq!(class, expect, "{first}, {second}");
    };
    check(Some("branch"), "there is no branch `a`", "there is no branch `a`", Class::Identical);
    check(Some("branch"), "there is no branch `a`", "`a` is busy", Class::Systematic);
    check(None, "it broke off", "it broke off", Class::Systematic);
}

/// A flow with one node that fails.
fn one_node() -> Arc<Flow> {
    let definition = Definition::new("one", 1, "").node(NodeSpec::task("a", &[END], "")).channel(
        "out",
        Reducer::Replace,
        Value::Null,
    );
    Arc::new(Flow::new(definition).expect("it makes sense"))
}

/// PUN-26, PUN-27: after the last attempt a person chooses, and the run goes on at the same node.
#[test]
fn an_escalation_goes_on_at_the_node_that_failed() {
    for (choice, status) in [("retry", Status::Running), ("stop", Status::Failed)] {
        let mut writer = Writer::start(&one_node(), Update::none());
        for code in ["A", "B", "C"] {
            let task = writer.run.tasks().next().expect("it is tried again");
            let what = writer.run.failed(&task, failure(code, code), writer.now, 0, writer.now);
            writer.write(what);
        }
        let asked = writer.run.interrupts().next().expect("somebody is asked").clone();
        assert_eq!(
            (asked.ask.kind, asked.ask.choices),
            (AskKind::Escalation, CHOICES.map(str::to_owned).to_vec())
        );
        let bad = writer.answer(asked.asked, json!({"choice": "perhaps"})).expect_err("it is none of them");
        assert_eq!(bad.to_string(), "`choice`: one of `retry`, `stop` is expected");
        writer.answer(asked.asked, json!({ "choice": choice })).expect("it is open");
        assert_eq!(writer.run.status(), status);
        if status == Status::Running {
            let task = writer.run.tasks().next().expect("it goes on");
            assert_eq!((task.node.as_str(), task.attempt, task.tries), ("a", 1, 0));
        }
    }
}

#[test]
fn answers_must_fit_and_come_in_time() {
    let check = |kind, answer: Value, expect: &str| {
        let ask = Ask { kind, choices: vec!["a".to_owned()], ..question("answer") };
        let said = answer::fits(&ask, &answer).map_or_else(|bad| bad.to_string(), |()| "fits".to_owned());
        assert_eq!(said, expect);
    };
    check(AskKind::NeedConfirm, json!({"confirm": true}), "fits");
    check(AskKind::NeedConfirm, json!({"confirm": false, "feedback": "no"}), "fits");
    check(AskKind::NeedConfirm, json!({"confirm": true, "feedback": "and document it"}), "fits");
    check(AskKind::NeedConfirm, json!({"confirm": "yes"}), "`confirm`: true or false is expected");
    check(
        AskKind::NeedConfirm,
        json!({"confirm": true, "id": 1}),
        "`id`: `need_confirm` takes `confirm`, `feedback`",
    );
    check(AskKind::NeedConfirm, json!("y"), "`answer`: an object is expected, not a text");
    check(AskKind::NeedClarification, json!({"text": " "}), "`text`: words are expected");
    check(AskKind::NeedChoice, json!({"choice": "b"}), "`choice`: one of `a` is expected");
    check(AskKind::NeedChoice, json!({"choice": "a", "text": 1}), "`text`: a text is expected, not a number");

    let flow = asking();
    let mut writer = Writer::start(&flow, Update::none());
    writer.go(step, |_| 0);
    assert_eq!(
        writer.answer(3, json!({})),
        Err(AnswerError::Bad(BadAnswer { field: "text".to_owned(), what: "words are expected".to_owned() }))
    );
    assert_eq!(writer.answer(99_999, json!({})), Err(AnswerError::Unknown));
    writer.write(What::Cancelled { by: "ann".to_owned(), reason: Some("enough".to_owned()) });
    assert_eq!(writer.answer(3, json!({"text": "late"})), Err(AnswerError::Stale(Stale::Cancelled)));
    assert_eq!(writer.run.status(), Status::Cancelled);
    assert_eq!(writer.run.cancellation(), Some(("ann", Some("enough"))));
}

#[test]
fn a_question_expires_once() {
    for (otherwise, status) in [(Some("add".to_owned()), Status::Running), (None, Status::Failed)] {
        let definition = Definition::new("late", 1, "")
            .node(NodeSpec::ask("ask", &["add"], ""))
            .node(NodeSpec::task("add", &[END], ""))
            .channel("answer", Reducer::Replace, Value::Null);
        let flow = Arc::new(Flow::new(definition).expect("it makes sense"));
        let mut writer = Writer::start(&flow, Update::none());
        let ask = Ask { expires: Some(5_000), otherwise: otherwise.clone(), ..question("answer") };
        let task = writer.run.tasks().next().expect("it begins");
        let what = writer.run.finished(&task, Step::ask(ask, "add", Update::none()), 0, 0, 0);
        writer.write(what.expect("it is legal"));
        assert_eq!(writer.run.wake(), Some(5_000));
        assert_eq!(writer.run.expired(4_999).count(), 0);
        writer.now = 5_000;
        assert_eq!(writer.answer(2, json!({"text": "late"})), Err(AnswerError::Stale(Stale::Expired)));
        let over: Vec<What> = writer.run.expired(5_000).collect();
        over.into_iter().for_each(|what| writer.write(what));
        assert_eq!((writer.run.status(), writer.run.expired(9_999).count()), (status, 0));
    }
}

#[test]
fn steps_go_only_where_their_nodes_lead() {
    let writer = Writer::start(&asking(), Update::none());
    let task = writer.run.tasks().next().expect("it begins");
    let refused =
        |step: Step| writer.run.finished(&task, step, 0, 0, 0).expect_err("it is illegal").to_string();
    assert_eq!(refused(Step::next("note", Update::none())), "`open` may not lead to `note`");
    assert_eq!(refused(Step::end(Update::none())), "`open` may not lead to `END`");
    assert_eq!(
        refused(Step::next("add", Update::none().with("x", 1))),
        "what `open` changes does not fit: there is no channel `x`"
    );
    let arm = Arm { node: "ask".to_owned(), given: Update::none() };
    let goto = Goto::Fork { arms: vec![arm; 1_001], join: "add".to_owned() };
    assert_eq!(
        refused(Step::to(goto, Update::none())),
        "the run has come to `ask` 1000 times, which is the most"
    );
    let open = |arms: usize| {
        let arm = Arm { node: "add".to_owned(), given: Update::none() };
        let goto = Goto::Fork { arms: vec![arm; arms], join: "add".to_owned() };
        writer.run.finished(&task, Step::to(goto, Update::none()), 0, 0, 0)
    };
    assert!(open(1_023).is_ok());
    let wide = open(1_024).expect_err("there are too many");
    assert_eq!(wide.code(), "FLOW_TOO_WIDE");
    assert_eq!(
        wide.to_string(),
        "with those that `open` opens, the run has 1025 branches, and it may have 1024"
    );
}

fn effect(task: &Task, index: u32, digest: &str) -> Intent {
    let id = EffectId { place: task.place.clone(), step: task.step, attempt: task.attempt, index };
    Intent { id, kind: "tool".to_owned(), name: "hammer".to_owned(), digest: digest.to_owned(), epoch: 0 }
}

/// An effect with a receipt is never performed again: neither after a crash nor in a later attempt that asks the same.
#[test]
fn receipts_stand_for_their_effects() {
    let mut writer = Writer::start(&one_node(), Update::none());
    let first = writer.run.tasks().next().expect("it begins");
    let receipt = |intent: Intent, answer| {
        What::Received(Receipt { intent, started: 0, outcome: Outcome { answer, notes: Value::Null } })
    };
    writer.write(What::Announced(effect(&first, 0, "d0")));
    assert_eq!(writer.run.known(&effect(&first, 0, "d0").id, "d0"), Known::Announced);
    writer.write(receipt(effect(&first, 0, "d0"), Ok(json!("nailed"))));
    writer.write(receipt(effect(&first, 1, "d1"), Err(failure("A", "d1"))));
    let answered = |known| matches!(known, Known::Answered(outcome) if outcome.answer == Ok(json!("nailed")));
    assert!(answered(writer.run.known(&effect(&first, 0, "d0").id, "d0")));
    assert_eq!(
        writer.run.known(&effect(&first, 0, "other").id, "other"),
        Known::Different { before: "hammer".to_owned() }
    );
    let what = writer.run.failed(&first, failure("A", "d1"), 0, 2, writer.now);
    writer.write(what);
    let second = writer.run.tasks().next().expect("it is tried again");
    assert_eq!(second.attempt, 2);
    assert!(answered(writer.run.known(&effect(&second, 0, "d0").id, "d0")), "it went well before");
    assert_eq!(writer.run.known(&effect(&second, 1, "d1").id, "d1"), Known::Nothing, "it failed before");
    assert_eq!(writer.run.known(&effect(&second, 0, "d9").id, "d9"), Known::Nothing, "it is another one");
}

/// What failed for a while is asked again; what went well beside it is not.
#[test]
fn what_is_waited_for_is_asked_again() {
    let mut writer = Writer::start(&one_node(), Update::none());
    let first = writer.run.tasks().next().expect("it begins");
    for (index, answer) in [(0, Ok(json!("nailed"))), (1, Err(failure("BUSY", "d1")))] {
        let digest = format!("d{index}");
        writer.write(What::Announced(effect(&first, index, &digest)));
        let outcome = Outcome { answer, notes: Value::Null };
        writer.write(What::Received(Receipt { intent: effect(&first, index, &digest), started: 0, outcome }));
    }
    let busy = &effect(&first, 1, "d1").id;
    assert!(
        matches!(writer.run.known(busy, "d1"), Known::Answered(_)),
        "a crash before the failure is stored"
    );
    let what = writer.run.failed(&first, failure("BUSY", "d1"), 0, 2, writer.now);
    writer.write(what);
    let again = writer.run.tasks().next().expect("it is tried again");
    assert_eq!((again.step, again.attempt), (first.step, first.attempt));
    assert!(matches!(writer.run.known(&effect(&again, 0, "d0").id, "d0"), Known::Answered(_)));
    assert_eq!(writer.run.known(busy, "d1"), Known::Nothing);
}

#[test]
fn a_rewound_run_stands_where_it_stood() {
    let flow = asking();
    let mut writer = Writer::start(&flow, Update::none());
    writer.go(step, |_| 0);
    let (before, at) = (writer.run.clone(), writer.run.last());
    let open = writer.open();
    open.iter().for_each(|asked| writer.answer(*asked, json!({"text": "x"})).expect("it is open"));
    writer.go(step, |_| 0);
    assert_eq!(writer.run.status(), Status::Completed);
    writer.write(What::Rewound { to: at, by: "ann".to_owned(), request: None });
    assert_eq!((writer.run.status(), writer.open()), (Status::Waiting, open));
    assert_eq!(writer.run.state(), before.state());
    assert_eq!(writer.run.epoch(), writer.run.last(), "what is done again is told from what was done");
    let replayed = Run::replay(&flow, &writer.journal).expect("it follows");
    assert_eq!(format!("{replayed:?}"), format!("{:?}", writer.run));
}

#[test]
fn a_run_is_moved_if_it_carries_the_same_and_stands_where_it_stood() {
    let flow = asking();
    let mut writer = Writer::start(&flow, Update::none());
    writer.go(step, |_| 0);
    let check = |change: fn(&mut Definition), expect: &str| {
        let mut definition = flow.definition().clone();
        change(&mut definition);
        let to = Arc::new(Flow::new(definition).expect("it makes sense"));
        let told = match writer.run.moved(&writer.journal, &to) {
            Ok(moved) => {
                let seen = |run: &Run| (run.status(), run.last(), run.interrupts().count());
                assert_eq!(seen(&moved), seen(&writer.run));
                "fine".to_owned()
            }
            Err(found) => found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        };
        assert_eq!(told, expect);
    };
    let rename = |of: &mut Definition, at: usize, to: &str| {
        let before = std::mem::replace(&mut of.nodes[at].name, to.to_owned());
        let targets = of.nodes.iter_mut().flat_map(|node| &mut node.targets);
        targets.filter(|target| **target == before).for_each(|target| target.replace_range(.., to));
    };
    check(|_| {}, "fine");
    check(|of| of.version = 2, "fine");
    check(|of| of.channels.push(Channel { name: "new".to_owned(), ..of.channels[0].clone() }), "fine");
    check(|of| of.channels[2].initial = json!(5), "the channel `total` would hold something else");
    check(
        |of| drop(of.channels.remove(0)),
        "it waits for what goes into the channel `answer`, which cannot take it",
    );
    check(|of| of.version = 0, "it is one of the newer version 1");
    check(|of| of.nodes[1].visits = Some(1), "it has come to the node `ask` 64 times, and may 1 times");
    check(|of| drop(of.channels.remove(3)), "entry 2 does not fit the flow: there is no channel `arm`");
    assert!(asking().runs_as(&flow));
    let mut renamed = flow.definition().clone();
    rename(&mut renamed, 2, "reply");
    let to = Arc::new(Flow::new(renamed).expect("it makes sense"));
    assert!(!to.runs_as(&flow));
    let found = writer.run.moved(&writer.journal, &to).expect_err("arms go on at it");
    assert_eq!(found, [Hindrance::Node { node: "note".to_owned() }]);
    assert_eq!(found[0].to_string(), "it is to go on at the node `note`, which is not there");
}

#[test]
fn a_flow_is_drawn() {
    insta::assert_snapshot!(asking().dot(), @r#"
    digraph "asking" {
      "open" [shape=box];
      "ask" [shape=parallelogram];
      "note" [shape=box];
      "add" [shape=box];
      "END" [shape=doublecircle];
      "open" -> "ask";
      "open" -> "add";
      "ask" -> "note";
      "ask" -> "open";
      "note" -> "END";
      "add" -> "END";
    }
    "#);
    insta::assert_snapshot!(asking().mermaid(), @r#"
    flowchart TD
      n_open["open"]
      n_ask[/"ask"/]
      n_note["note"]
      n_add["add"]
      n_END(("END"))
      n_open --> n_ask
      n_open --> n_add
      n_ask --> n_note
      n_ask --> n_open
      n_note --> n_END
      n_add --> n_END
    "#);
}

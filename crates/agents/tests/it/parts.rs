//! The parts of an agent, each by itself.

use std::sync::Arc;

use lmlang_agents::act::agent::{Agent, Policy, make_context_manager};
use lmlang_agents::act::disclosure::Progressive;
use lmlang_agents::act::evaluating::{Ladder, Verdicts};
use lmlang_agents::act::parts::{
    Came, ContextManager, ErrorClassifier, EscalationHandler, Evaluator, Verdict, View,
};
use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::flows;
use lmlang_agents::graph_store::{GraphSource, make_graph_store};
use lmlang_agents::model::{Message, Models};
use lmlang_agents::tools::{Changes, RegisterError, ToolRegistry, graph, make_tool_registry};
use lmlang_engine::flows::code::failure;
use lmlang_flow::{Class, Failure, State, Update};
use serde_json::{Value, json};

fn flow_state(update: &Update) -> State {
    let flows = flows(&Arc::new(Models::none()), GraphSource::Engine, ManagerSource::BuiltIn);
    let act = flows.iter().find(|code| code.flow().name() == "act").expect("it is there");
    let mut state = State::initial(act.flow());
    state.apply(act.flow(), update).expect("it fits");
    state
}

fn task() -> Update {
    Update::none()
        .with("task", "join them")
        .with(
            "goal",
            json!({ "goal": "join T-1 to M-1", "constraints": ["nothing is deleted"], "domain_hints": [] }),
        )
        .with("plan", json!(["join T-1 to M-1"]))
        .with("progress", json!(["`Ticket:T-1`: 1 created"]))
        .with("step", json!({ "call": { "tool": "add_edge", "arguments": { "type": "DEPENDS ON" } } }))
}

fn wrong() -> Failure {
    Failure {
        tool: Some("add_edge".to_owned()),
        arguments: Some("a".to_owned()),
        ..failure("INVALID_ARGUMENTS", "at `/type`: no such type")
    }
}

fn texts(messages: &[Message]) -> String {
    messages.iter().map(Message::text).collect::<Vec<_>>().join("\n---\n")
}

/// PUN-23, PUN-24, PUN-25, PUN-87, PUN-90: each attempt is shown more, and with less chance.
#[test]
fn an_attempt_is_shown_no_more_than_it_needs() {
    let state = flow_state(&task());
    let tools = make_tool_registry().expect("they have names of their own");
    let shown = Progressive { history: 8 };
    let failures = [failure("ENTITY_END_MISSING", "`Milestone:M-1` does not exist"), wrong()];
    let of = |attempt: u32| {
        let failures = &failures[..usize::try_from(attempt - 1).expect("small")];
        shown.context(View { state: &state, failures, attempt }, &tools)
    };
    let (first, second, third) = (of(1), of(2), of(3));
    let (one, two, three) = (texts(&first.messages), texts(&second.messages), texts(&third.messages));
    assert!(one.contains("join T-1 to M-1") && one.contains("nothing is deleted"), "{one}");
    assert!(
        !one.contains("does not exist") && !one.contains("1 created") && !one.contains("failed"),
        "{one}"
    );
    assert!(two.contains("`Milestone:M-1` does not exist (ENTITY_END_MISSING)"), "{two}");
    assert!(two.contains(r#"add_edge {"type":"DEPENDS ON"}"#) && !two.contains("1 created"), "{two}");
    assert!(
        three.contains("no such type") && three.contains("1 created") && three.contains("Planned"),
        "{three}"
    );
    assert!(first.temperature >= second.temperature && second.temperature > third.temperature);
    let names: Vec<&str> = first.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "add_edge",
            "add_node",
            "delete_edge",
            "delete_node",
            "program",
            "propose_structured_edit",
            "query_graph",
            "read_subgraph",
            "retrieve_subgraph",
            "search",
            "simulate",
            "undo",
            "update_props",
            "verify_and_propagate",
            "answer",
            "ask"
        ]
    );
    let simple = make_context_manager(&Policy { progressive: false, history: 8 });
    assert_eq!(
        texts(&simple.context(View { state: &state, failures: &failures, attempt: 1 }, &tools).messages),
        three
    );
}

/// PUN-42: each part of a context adds to the one before; failures are kept to a bound, steps are counted, and an answer ends the
/// task.
#[test]
fn a_context_is_put_together_part_by_part() {
    let state = flow_state(&task());
    let tools = make_tool_registry().expect("they have names of their own");
    let shown = make_context_manager(&Policy::default());
    let failures = [failure("ENTITY_END_MISSING", "`Milestone:M-1` does not exist"), wrong()];
    let view = View { state: &state, failures: &failures, attempt: 3 };
    let minimal = shown.prepare_minimal_context(view, &tools);
    let told = shown.add_error_context(minimal.clone(), view);
    let whole = shown.add_historical_context(told.clone(), view);
    assert!(!texts(&minimal.messages).contains("no such type"), "{}", texts(&minimal.messages));
    assert!(texts(&told.messages).contains("no such type"), "{}", texts(&told.messages));
    assert!(!texts(&told.messages).contains("does not exist"), "{}", texts(&told.messages));
    assert!(texts(&whole.messages).contains("does not exist"), "{}", texts(&whole.messages));
    assert_eq!(whole, shown.context(view, &tools));

    let mut kept = Vec::new();
    for number in 0..20 {
        let failed = Failure { arguments: Some(number.to_string()), ..wrong() };
        kept = shown.record_failure(&kept, &failed);
    }
    let arguments: Vec<&str> = kept.iter().filter_map(|failure| failure.arguments.as_deref()).collect();
    assert_eq!(arguments, ["12", "13", "14", "15", "16", "17", "18", "19"]);

    assert_eq!((shown.advance_step(&state), shown.is_complete(&state)), (1, false));
    let done = flow_state(&task().with("done", 3).with("answer", json!({ "text": "joined" })));
    assert_eq!((shown.advance_step(&done), shown.is_complete(&done)), (4, true));
}

/// PUN-20: what is private reaches neither a model nor a reader.
#[test]
fn private_channels_are_shown_to_nobody() {
    let secret = "only for nodes";
    let state =
        flow_state(&task().with("queue", json!([secret])).with("reply", json!({ "nothing": secret })));
    let tools = make_tool_registry().expect("they have names of their own");
    let view = View { state: &state, failures: &[wrong()], attempt: 3 };
    assert!(!texts(&Progressive { history: 8 }.context(view, &tools).messages).contains(secret));
    let flows = flows(&Arc::new(Models::none()), GraphSource::Engine, ManagerSource::BuiltIn);
    assert!(!state.public(flows[1].flow()).to_string().contains(secret));
}

/// PUN-18, PUN-21, PUN-77: lists of the state are bounded, whatever is appended.
#[test]
fn lists_of_the_state_are_bounded() {
    let flows = flows(&Arc::new(Models::none()), GraphSource::Engine, ManagerSource::BuiltIn);
    let flow = flows[1].flow();
    let mut state = State::initial(flow);
    for number in 0..1_000 {
        let update = Update::none()
            .with("messages", json!([{ "from": "user", "text": number }]))
            .with("failures", json!([number]))
            .with("progress", json!([number]));
        state.apply(flow, &update).expect("it fits");
    }
    let length = |channel: &str| state.get(channel).as_array().map_or(0, Vec::len);
    assert_eq!((length("messages"), length("failures"), length("progress")), (100, 50, 100));
    assert_eq!(state.get("failures")[49], json!(999));
}

/// PUN-43, PUN-53, PUN-54, PUN-57, PUN-50: tools have names of their own and schemas that take no id.
#[test]
fn tools_are_checked_at_the_boundary() {
    let mut tools = make_tool_registry().expect("they have names of their own");
    let twice = graph::all().remove(0);
    assert_eq!(tools.register(twice), Err(RegisterError::Taken("add_node".to_owned())));
    for spec in tools.list() {
        assert_eq!(spec.parameters["additionalProperties"], json!(false), "{}", spec.name);
        let text = spec.parameters.to_string();
        assert!(!text.contains("\"id\""), "{text}");
    }
    let check = |name: &str, arguments: &Value| tools.check(name, arguments).join("; ");
    assert_eq!(check("add_node", &json!({ "label": "Ticket", "key": "T-1" })), "");
    let with_id = check("add_node", &json!({ "label": "Ticket", "key": "T-1", "id": "x" }));
    assert!(with_id.contains("'id' was unexpected"), "{with_id}");
    let bad = check("add_edge", &json!({ "from": { "label": "T", "key": "" }, "type": "A B", "to": 1 }));
    assert!(bad.contains("/from/key") && bad.contains("/type") && bad.contains("/to"), "{bad}");
    assert!(check("drop_table", &json!({})).contains("no tool"));
    let edits = |edits: Value| json!({ "program": "calc", "base_revision": "r1", "edits": edits });
    let text = json!({ "module": "m", "text": "func one () -> (i64) { return 1 }" });
    assert_eq!(check("propose_structured_edit", &edits(json!([{ "addText": text }]))), "");
    for wrong in [json!([]), json!([{}]), json!([{ "addText": text, "addModule": { "name": "n" } }])] {
        assert!(!check("propose_structured_edit", &edits(wrong.clone())).is_empty(), "{wrong}");
    }
    let with_id = json!([{ "addModule": { "name": "n", "id": "m9" } }]);
    assert!(check("propose_structured_edit", &edits(with_id)).contains("'id' was unexpected"));
}

/// What a tool changes follows from its arguments: a dry run changes nothing, and what may remove is asked about as a deletion.
#[test]
fn what_an_edit_changes_follows_from_its_arguments() {
    let tools = make_tool_registry().expect("they have names of their own");
    let edit = tools.get("propose_structured_edit").expect("it is there");
    let of = |arguments: Value| edit.changes(arguments.as_object().expect("an object"));
    assert_eq!(of(json!({})), Changes::Appends);
    // What is asked about: all that is more than nothing, or all that is more than a merge.
    assert!(Changes::Nothing < Changes::Appends && Changes::Appends < Changes::Merges);
    assert_eq!(of(json!({ "remove": ["m::f"] })), Changes::Deletes);
    assert_eq!(of(json!({ "remove": ["m::f"], "dry_run": true })), Changes::Nothing);
    for name in ["program", "search", "retrieve_subgraph", "verify_and_propagate", "simulate"] {
        assert_eq!(tools.get(name).expect("it is there").spec().changes, Changes::Nothing, "{name}");
    }
    assert_eq!(tools.get("undo").expect("it is there").spec().changes, Changes::Deletes);
}

/// PUN-06, PUN-45, PUN-46, PUN-75, PUN-89: parts are made by name, and an agent of parts or at once.
#[test]
fn parts_are_made_by_name() {
    assert!(matches!(make_graph_store("sql"), Ok(GraphSource::Engine)));
    assert!(matches!(make_graph_store("memory"), Ok(GraphSource::Given(_))));
    let unknown = make_graph_store("neo4j").err().expect("it is not there");
    assert!(unknown.message.starts_with("Unsupported graph store type `neo4j`"), "{unknown}");
    let models = Arc::new(Models::none());
    let agent = Agent::simple(models, GraphSource::Engine).expect("its tools have names of their own");
    let agent = agent.showing(make_context_manager(&Policy { progressive: false, history: 1 }));
    assert_eq!((agent.planner.provider().as_str(), agent.tools.list().len()), ("rules", 14));
}

/// PUN-13, PUN-14, PUN-26, PUN-44, PUN-78: where a step leads, and what becomes of a failure.
#[test]
fn what_came_of_a_tool_leads_where_the_table_says() {
    let done = Came::Done { value: Value::Null, said: String::new(), counts: [0; 4] };
    let failed = Came::Failed(wrong());
    let table = [
        (&done, false, Verdict::Advance),
        (&done, true, Verdict::Answer),
        (&failed, false, Verdict::Diagnose),
        (&failed, true, Verdict::Diagnose),
    ];
    for (came, complete, expect) in table {
        assert_eq!(Verdicts.evaluate(came, complete), expect);
    }
    let ladder = Ladder::default();
    let other = Failure { arguments: Some("b".to_owned()), ..wrong() };
    let busy = Failure { transient: true, ..failure("STORAGE_UNAVAILABLE", "it is away") };
    let class = |before: &[Failure], failure: &Failure| ladder.classify(before, failure, 1, 0).0;
    assert_eq!(class(&[], &wrong()), Class::New);
    assert_eq!(class(&[wrong()], &wrong()), Class::Identical);
    assert_eq!(class(&[wrong()], &other), Class::Systematic);
    assert_eq!(class(&[wrong()], &busy), Class::Random);
    let ask = Verdicts.escalate(&flow_state(&task()), "identical", &[wrong(), wrong()]);
    assert!(ask.choices.len() >= 2 && ask.question.contains("no such type"), "{}", ask.question);
}

//! What declarations come to, and what is wrong with them.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Definition, Entry, Flow, Hindrance, Run, State, Update, What};

/// A flow with every action.
fn full() -> Value {
    json!({
        "name": "triage",
        "doc": "Sorts a report.",
        "input": {
            "type": "object", "required": ["report"],
            "properties": { "report": { "type": "string" }, "urgent": { "type": "boolean", "default": false } },
        },
        "turn": "report",
        "carry": ["tickets"],
        "channels": {
            "sorted": {},
            "reply": { "private": true },
            "ticket": {},
            "tickets": { "reducer": "append", "most": 20 },
            "count": { "reducer": "sum" },
        },
        "nodes": [
            {
                "name": "sort", "visits": 5, "attemptTimeoutMs": 30_000, "say": "a {{sorted.kind}}",
                "action": { "model": { "role": "router", "prompt": "Sort: {{report}}", "into": "sorted", "then": "decide" } },
            },
            {
                "name": "decide",
                "action": { "branch": {
                    "cases": [
                        { "when": { "equals": { "path": "sorted.kind", "value": "bug" } }, "then": "ask" },
                        { "when": { "all": [{ "isSet": "urgent" }] }, "then": "spread" },
                    ],
                    "otherwise": "END",
                } },
            },
            {
                "name": "ask",
                "action": { "ask": {
                    "kind": "need_confirm", "question": "File it?", "into": "reply", "timeoutMs": 1_000,
                    "onTimeout": "sort", "then": "file",
                } },
            },
            {
                "name": "file", "onFailure": { "then": "sort", "into": "reply" },
                "action": { "tool": {
                    "name": "add_node", "arguments": { "label": "Ticket", "key": "{{report}}" }, "into": "tickets",
                    "then": "more",
                } },
            },
            { "name": "more", "action": { "run": { "flow": "act", "input": { "task": "x" }, "into": "ticket", "then": "rest" } } },
            { "name": "rest", "action": { "wait": { "ms": 5, "then": "spread" } } },
            { "name": "spread", "action": { "parallel": { "arms": [{ "node": "one", "given": { "ticket": 1 } }], "join": "all" } } },
            { "name": "one", "action": { "set": { "values": { "count": 1 }, "then": "END" } } },
            { "name": "all", "action": { "each": { "items": "tickets", "item": "ticket", "node": "one", "join": "work" } } },
            { "name": "close", "action": { "end": { "values": { "reply": null } } } },
            {
                "name": "work",
                "action": { "agent": {
                    "system": "Be brief.", "prompt": "Look after {{report}}", "tools": ["query_graph"], "mostSteps": 5,
                    "into": "sorted", "then": "close",
                } },
            },
        ],
    })
}

fn flow(declared: &Value) -> Result<Flow, Vec<Mistake>> {
    let declaration = Declaration::read(declared).map_err(|mistake| vec![mistake])?;
    check(&declaration, 1)
}

/// The mistakes of the flow with another value at a pointer, or without what is there.
fn with(pointer: &str, value: Option<Value>) -> String {
    let mut declared = full();
    let (parent, last) = pointer.rsplit_once('/').expect("it is a pointer");
    let parent = declared.pointer_mut(parent).expect("there is one");
    match (parent, value) {
        (Value::Array(items), Some(value)) => items[last.parse::<usize>().expect("an index")] = value,
        (Value::Object(fields), Some(value)) => drop(fields.insert(last.to_owned(), value)),
        (Value::Object(fields), None) => drop(fields.remove(last)),
        (other, _) => panic!("{other}"),
    }
    let mut out = String::new();
    for mistake in flow(&declared).err().unwrap_or_default() {
        writeln!(out, "{} {mistake}", mistake.code).expect("a string takes it");
    }
    out
}

#[test]
fn a_declaration_is_a_flow() {
    let flow = flow(&full()).expect("nothing is wrong");
    let targets = |name: &str| flow.node(name).expect("it is there").targets.join(" ");
    assert_eq!(targets("sort"), "decide");
    assert_eq!(targets("decide"), "ask spread END");
    assert_eq!(targets("ask"), "file sort");
    assert_eq!(targets("spread"), "one all");
    assert_eq!(targets("close"), "END");
    assert_eq!(flow.definition().entry, "sort");
    assert_eq!(flow.node("sort").expect("it is there").within, Some(30_000_000));
    let asked = flow.node("ask").and_then(|node| node.timeout.clone()).expect("it has one");
    assert_eq!((asked.after, asked.then.as_deref()), (1_000_000, Some("sort")));
    let begins = json!({
        "report": null, "urgent": false, "sorted": null, "ticket": null, "tickets": [], "count": 0,
        "progress": [], "provider": null,
    });
    assert_eq!(State::initial(&flow).public(&flow), begins);
}

/// The hash covers what nodes do, and a definition that was stored is the same flow again.
#[test]
fn a_definition_is_told_by_all_of_its_declaration() {
    let first = flow(&full()).expect("nothing is wrong");
    let mut other = full();
    other["nodes"][0]["action"]["model"]["prompt"] = json!("Sort this: {{report}}");
    assert_ne!(flow(&other).expect("nothing is wrong").hash(), first.hash());
    let declaration = Declaration::read(&full()).expect("it can be read");
    assert_ne!(check(&declaration, 2).expect("nothing is wrong").hash(), first.hash());

    let stored = serde_json::to_vec(first.definition()).expect("it is JSON");
    let read: Definition = serde_json::from_slice(&stored).expect("it is one");
    let again = Flow::new(read).expect("it was one");
    assert_eq!((again.hash(), &again), (first.hash(), &first));
    let exported = serde_json::to_value(again.definition().declared.as_ref()).expect("JSON");
    assert_eq!(Declaration::read(&exported), Ok(declaration));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let check = |pointer: &str, value: Value, expect: &str| {
        let found = with(pointer, Some(value));
        assert!(found.starts_with(expect), "{pointer}: expected {expect}, found {found}");
    };
    check("/name", json!("Triage"), "BAD_NAME name: `Triage` is no name of a flow");
    check("/nme", json!("x"), "BAD_FIELD nme: unknown field `nme`");
    check("/nodes", json!([]), "BAD_BOUND nodes: a flow has a node at least");
    check("/entry", json!("x"), "MISSING_TARGET entry: `entry` leads to `x`");
    check("/input/type", json!("string"), "BAD_SCHEMA input.type: ");
    check("/input/properties/Bad", json!({}), "BAD_NAME input.properties.Bad: ");
    check("/input/properties/progress", json!({}), "NAME_TAKEN input.properties.progress: ");
    check("/turn", json!("sorted"), "UNKNOWN_CHANNEL turn: `sorted` is no property of the input");
    check("/program", json!("sorted"), "UNKNOWN_CHANNEL program: `sorted` is no property of the input");
    for field in ["turn", "program"] {
        let expect = format!(
            "BAD_SCHEMA input.properties.urgent.type: `{field}` is a text: `type` has to be `string`"
        );
        check(&format!("/{field}"), json!("urgent"), &expect);
    }
    for taken in [json!({}), json!({ "type": ["string", "null"] })] {
        assert_eq!(with("/input/properties/report", Some(taken)), "");
    }
    check(
        "/carry",
        json!(["x"]),
        "UNKNOWN_CHANNEL carry[0]: there is no channel `x`: there are `progress`, ",
    );
    check("/channels/report", json!({}), "NAME_TAKEN channels.report: there are two channels `report`");
    check("/channels/tickets/most", json!(0), "BAD_BOUND channels.tickets.most: ");
    check("/channels/count/initial", json!("x"), "BAD_CHANNEL channels.count.initial: ");
    check("/nodes/0/attempts", json!(11), "BAD_BOUND nodes[0].attempts: ");
    check("/nodes/0/attempts", json!(0), "BAD_BOUND nodes[0].attempts: `sort` has no attempt");
    check("/nodes/0/visits", json!(0), "BAD_BOUND nodes[0].visits: ");
    check("/nodes/0/attemptTimeoutMs", json!(0), "BAD_BOUND nodes[0].attemptTimeoutMs: ");
    check("/nodes/0/say", json!("{{x"), "BAD_TEMPLATE nodes[0].say: `{{` is not closed by `}}`");
    check("/nodes/0/action", json!({ "fly": {} }), "BAD_FIELD nodes[0].action: unknown variant `fly`");
    let model = "/nodes/0/action/model";
    check(&format!("{model}/prompt"), json!("{{nobody}}"), "UNKNOWN_CHANNEL nodes[0].action.model.prompt: ");
    check(&format!("{model}/prompt"), json!(5), "BAD_FIELD nodes[0].action.model.prompt: ");
    check(&format!("{model}/into"), json!("count"), "BAD_CHANNEL nodes[0].action.model.into: ");
    check(&format!("{model}/temperature"), json!(3), "BAD_BOUND nodes[0].action.model.temperature: ");
    check(
        &format!("{model}/then"),
        json!("x"),
        "MISSING_TARGET nodes[0].action.model.then: `sort` leads to `x`",
    );
    check(&format!("{model}/then"), json!("close"), "UNREACHABLE nodes[1]: no run comes to `decide`");
    let branch = "/nodes/1/action/branch/cases/0/when/equals";
    check(
        &format!("{branch}/path"),
        json!("x.y"),
        "UNKNOWN_CHANNEL nodes[1].action.branch.cases[0].when.equals.path: ",
    );
    check(
        &format!("{branch}/value"),
        json!(["{{x}}"]),
        "UNKNOWN_CHANNEL nodes[1].action.branch.cases[0].when.equals.value[0]: ",
    );
    let ask = "/nodes/2/action/ask";
    check(
        &format!("{ask}/then"),
        json!("END"),
        "MISSING_TARGET nodes[2].action.ask.then: `ask` leads to a node",
    );
    check(&format!("{ask}/into"), json!("tickets"), "BAD_CHANNEL nodes[2].action.ask.into: ");
    check(
        &format!("{ask}/kind"),
        json!("need_choice"),
        "BAD_FIELD nodes[2].action.ask.kind: a choice needs `choices`",
    );
    check(&format!("{ask}/timeoutMs"), json!(0), "BAD_BOUND nodes[2].action.ask.timeoutMs: ");
    check(
        "/nodes/3/action/tool/arguments/key",
        json!("{{}}"),
        "BAD_TEMPLATE nodes[3].action.tool.arguments.key: ",
    );
    let failed = "/nodes/3/onFailure";
    check(
        &format!("{failed}/then"),
        json!("x"),
        "MISSING_TARGET nodes[3].onFailure.then: `file` leads to `x`",
    );
    check(
        &format!("{failed}/then"),
        json!("END"),
        "MISSING_TARGET nodes[3].onFailure.then: `file` leads to `END`",
    );
    check(&format!("{failed}/into"), json!("tickets"), "BAD_CHANNEL nodes[3].onFailure.into: ");
    check(&format!("{failed}/into"), json!("x"), "BAD_CHANNEL nodes[3].onFailure.into: ");
    check("/nodes/4/action/run/flow", json!("triage"), "RECURSION nodes[4].action.run.flow: ");
    check("/nodes/5/action/wait/ms", json!(MOST_MS + 1), "BAD_BOUND nodes[5].action.wait.ms: ");
    check("/nodes/6/action/parallel/arms", json!([]), "BAD_BOUND nodes[6].action.parallel.arms: ");
    check("/nodes/7/action/set/values", json!({ "x": 1 }), "UNKNOWN_CHANNEL nodes[7].action.set.values.x: ");
    check("/nodes/8/action/each/items", json!("{{tickets}}"), "BAD_TEMPLATE nodes[8].action.each.items: ");
    let agent = "/nodes/10/action/agent";
    check(&format!("{agent}/tools"), json!([]), "BAD_FIELD nodes[10].action.agent.tools: ");
    check(
        &format!("{agent}/mostSteps"),
        json!(33),
        "BAD_BOUND nodes[10].action.agent.mostSteps: it is 1 to 32",
    );
    check(&format!("{agent}/system"), json!("{{x}}"), "UNKNOWN_CHANNEL nodes[10].action.agent.system: ");
    check("/nodes/9/name", json!("one"), "NAME_TAKEN nodes[9].name: there are two nodes `one`");

    assert!(
        with("/nodes/0/visits", None)
            .starts_with("UNBOUNDED_CYCLE nodes[0].visits: nothing bounds the cycle")
    );
    assert!(
        with("/nodes/2/action/ask/timeoutMs", None).starts_with("BAD_FIELD nodes[2].action.ask.onTimeout: ")
    );
    assert!(
        with("/nodes/0/action/model/into", None)
            .starts_with("BAD_FIELD nodes[0].action.model: missing field `into`")
    );
}

/// What a run reaches was decided when it began.
#[test]
fn a_run_is_not_moved_to_what_reaches_something_else() {
    let whole = Arc::new(flow(&full()).expect("nothing is wrong"));
    let mut about = full();
    about["program"] = json!("report");
    let declaration = Declaration::read(&about).expect("it can be read");
    let about = Arc::new(check(&declaration, 2).expect("nothing is wrong"));
    assert_eq!((whole.is_about_a_program(), about.is_about_a_program()), (false, true));
    let mut run = Run::new(Arc::clone(&whole));
    let journal = [Entry { number: 1, time: 0, what: What::Started(Update::none()) }];
    run.take(&journal[0]).expect("it fits");
    assert_eq!(run.moved(&journal, &about).err(), Some(vec![Hindrance::Reach]));
    assert_eq!(run.moved(&journal, &whole).err(), None);
}

#[test]
fn every_kind_of_mistake_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> =
        MistakeCode::ALL.into_iter().map(MistakeCode::name).collect();
    assert_eq!(names.len(), MistakeCode::ALL.len());
}

/// Pointers to everything in a value.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), all));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| pointers(field, &format!("{at}/{name}"), all));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What may stand where something else is expected.
fn strangers() -> Vec<Value> {
    let (node, action) = (full()["nodes"][7].clone(), full()["nodes"][9]["action"].clone());
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(0.5),
        json!(""),
        json!("END"),
        json!("sort"),
        json!("progress"),
        json!("{{report}}"),
        json!("{{"),
        json!("é{{{{é"),
        json!([]),
        json!({}),
        json!([{}]),
        json!({ "properties": [] }),
        node,
        action,
    ]
}

proptest! {
    /// Nothing that is declared breaks the check, and what it lets through is a flow that is stored as it is.
    #[test]
    fn any_declaration_is_answered(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let mut declared = full();
        let strangers = strangers();
        for (at, with) in changes {
            let mut all = Vec::new();
            pointers(&declared, "", &mut all);
            let there = declared.pointer_mut(&all[at.index(all.len())]).expect("it is there");
            *there = strangers[with.index(strangers.len())].clone();
        }
        match flow(&declared) {
            Ok(flow) => {
                let stored = serde_json::to_vec(flow.definition()).expect("it is JSON");
                let read = serde_json::from_slice(&stored).expect("it is one");
                prop_assert_eq!(Flow::new(read).map(|again| again.hash()), Ok(flow.hash()));
            }
            Err(mistakes) => prop_assert!(mistakes.iter().all(|mistake| !mistake.message.is_empty())),
        }
    }

    #[test]
    fn any_text_is_a_template_or_is_told(text in any::<String>(), braces in "[{}a.]{0,12}") {
        for text in [text, braces] {
            let pieces = template::pieces(&text);
            prop_assert!(pieces.is_ok() || text.contains("{{"), "{}", text);
        }
    }
}

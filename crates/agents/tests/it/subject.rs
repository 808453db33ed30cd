//! Flows that are declared about a program: their runs reach nothing beside it, so that callers may begin and see them who are limited
//! to some programs.

use std::time::Duration;

use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::interpreter;
use lmlang_agents::model::Models;
use lmlang_engine::{
    Engine, Error, NewToken, RunFilter, RunInfo, RunStatus, RunsWanted, Scope, Selector, StartRun, Turn,
    Unnamed,
};
use lmlang_history::log::ActorKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, call};

const TEXT: &str = "func twice (n: i64) -> (i64) pure {\n  return (mul.i64 n, 2)\n}\n";

/// Runs a function of a program that a run is told beside the one that it is about.
fn calling() -> Value {
    json!({
        "name": "calling",
        "program": "program",
        "input": {
            "type": "object", "required": ["program", "target"], "additionalProperties": false,
            "properties": { "program": { "type": "string" }, "target": { "type": "string" } },
        },
        "channels": { "came": {}, "why": {} },
        "nodes": [
            {
                "name": "simulate", "onFailure": { "then": "rest", "into": "why" },
                "action": { "tool": {
                    "name": "simulate", "arguments": { "program": "{{target}}", "function": "twice", "args": [21] },
                    "into": "came", "then": "rest",
                } },
            },
            { "name": "rest", "action": { "end": {} } },
        ],
    })
}

/// Has a run of another flow about a program.
fn outer(flow: &str) -> Value {
    json!({
        "name": "outer",
        "program": "program",
        "input": {
            "type": "object", "required": ["program", "target"],
            "properties": { "program": { "type": "string" }, "target": { "type": "string" } },
        },
        "channels": { "came": {}, "why": {} },
        "nodes": [
            {
                "name": "start", "onFailure": { "then": "rest", "into": "why" },
                "action": { "run": {
                    "flow": flow, "input": { "program": "{{target}}", "target": "{{target}}" }, "into": "came",
                    "then": "rest",
                } },
            },
            { "name": "rest", "action": { "end": {} } },
        ],
    })
}

/// Remembers what was said of a program.
fn hearing() -> Value {
    json!({
        "name": "hearing",
        "program": "program",
        "turn": "words",
        "carry": ["program", "heard"],
        "input": {
            "type": "object", "required": ["words"],
            "properties": { "program": { "type": "string" }, "words": { "type": "string" } },
        },
        "channels": { "heard": { "reducer": "append" } },
        "nodes": [{ "name": "hear", "action": { "end": { "values": { "heard": ["{{words}}"] } } } }],
    })
}

/// An engine with the programs `mine` and `other`, in which flows are declared.
async fn world(declared: &[Value]) -> World {
    let world = World::new(Models::none()).await;
    world.engine.interpret_by(interpreter(&world.models, GraphSource::Engine));
    for name in ["mine", "other"] {
        world.program(name, &format!("module {name}\n\n{TEXT}")).await;
    }
    for declared in declared {
        assert_eq!(mistakes(&world.engine, declared, false).await, "");
    }
    world
}

/// What is wrong with a flow that is declared.
async fn mistakes(engine: &Engine, declared: &Value, dry_run: bool) -> String {
    let registered = engine.register_flow(declared, dry_run, &call()).await.expect("it is answered");
    let told = registered.mistakes.iter().map(|mistake| format!("{} {mistake}", mistake.code));
    told.collect::<Vec<_>>().join("; ")
}

/// The engine as somebody sees it who is limited to `mine`.
async fn limited(world: &World) -> Engine {
    let new = NewToken {
        name: "limited".to_owned(),
        kind: ActorKind::Agent,
        scopes: vec![Scope::Edit, Scope::Simulate],
        programs: Some(vec![Selector::Name("mine".to_owned())]),
        expires: None,
    };
    let (_, secret) = world.engine.create_token(new, &call().actor).await.expect("its name is free");
    let grant = world.engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    grant.engine().expect("it is limited").clone()
}

async fn id(engine: &Engine, program: &str) -> Uuid {
    engine.find(&Selector::Name(program.to_owned())).await.expect("it is there").info().id
}

async fn start(engine: &Engine, flow: &str, program: &str, target: &str) -> Result<RunInfo, Error> {
    let input = json!({ "program": program, "target": target });
    let start = StartRun { flow: flow.to_owned(), session: None, input, deadline: None };
    let run = engine.start_run(&start, &call()).await?.id;
    engine.settled(run, Duration::from_secs(60)).await
}

async fn state(engine: &Engine, run: &RunInfo) -> Value {
    let machine = engine.run_machine(run).await.expect("it can be read");
    machine.state().public(machine.flow())
}

/// What a run carries at its end.
async fn ended(engine: &Engine, flow: &str, program: &str, target: &str) -> Value {
    let run = start(engine, flow, program, target).await.expect("it begins");
    assert_eq!(run.status, RunStatus::Completed);
    state(engine, &run).await
}

fn returned(state: &Value) -> bool {
    state["came"]["text"].as_str().is_some_and(|text| text.contains("returned i64:42"))
}

#[tokio::test]
async fn who_is_limited_to_a_program_runs_flows_about_it() {
    let plain = json!({ "name": "plain", "nodes": [{ "name": "a", "action": { "end": {} } }] });
    let world = world(&[calling(), plain]).await;
    let engine = limited(&world).await;
    let run = start(&engine, "calling", "mine", "mine").await.expect("it begins");
    assert_eq!((run.status, run.program), (RunStatus::Completed, Some(id(&engine, "mine").await)));
    assert!(returned(&state(&engine, &run).await));
    let listed = engine.run_filter(RunsWanted { flow: Some("calling".to_owned()), ..RunsWanted::default() });
    let listed = listed.await.expect("there is such a flow");
    assert_eq!(engine.run_page(&listed, None, 10).await.expect("listed").total, 1);

    // Another program is as none, by its name and by its id.
    let other = id(&world.engine, "other").await;
    for program in ["other", &other.to_string(), "nobody"] {
        let unknown = start(&engine, "calling", program, "mine").await.expect_err("it knows of none");
        assert!(matches!(unknown, Error::NotFound { what: "program", retired: false, .. }), "{unknown}");
    }
    let theirs = start(&world.engine, "calling", "other", "other").await.expect("it begins");
    let unknown = engine.run_info(theirs.id).await.expect_err("it is about another program");
    assert!(matches!(unknown, Error::NotFound { what: "run", .. }), "{unknown}");
    let input = json!({});
    let start = StartRun { flow: "plain".to_owned(), session: None, input, deadline: None };
    let refused = engine.start_run(&start, &call()).await.expect_err("it reaches everything");
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
    assert_eq!(engine.run_page(&listed, None, 10).await.expect("listed").total, 1);
}

/// Whoever has begun it: who is limited to the program sees what it has read.
#[tokio::test]
async fn a_run_reaches_nothing_beside_its_program() {
    let world = world(&[calling(), outer("calling")]).await;
    let limited = limited(&world).await;
    for engine in [&world.engine, &limited] {
        let told = async |target: &str| {
            let state = ended(engine, "calling", "mine", target).await;
            assert_eq!(
                (&state["came"], &state["why"]["code"]),
                (&Value::Null, &json!("NOT_FOUND")),
                "{state}"
            );
            state["why"]["message"].as_str().unwrap_or_default().replace(target, "X")
        };
        assert_eq!(told("other").await, told("nobody").await);
        assert!(returned(&ended(engine, "outer", "mine", "mine").await["came"]));
        let beside = ended(engine, "outer", "mine", "other").await;
        assert_eq!(
            (&beside["came"], &beside["why"]["code"]),
            (&Value::Null, &json!("NOT_FOUND")),
            "{beside}"
        );
    }
    // Runs that it waits for are about the same program, and seen as it is.
    let runs = limited.run_page(&RunFilter::default(), None, 100).await.expect("listed").items;
    assert_eq!(runs.iter().filter(|run| run.parent.is_some()).count(), 2);
    let all = world.engine.run_page(&RunFilter::default(), None, 100).await.expect("listed").total;
    assert_eq!(runs.len() as u64, all, "none was begun about the other one");
}

/// What a flow about a program cannot reach, it cannot name either.
#[tokio::test]
async fn a_flow_about_a_program_names_what_is_of_programs_alone() {
    let world = world(&[calling(), outer("calling")]).await;
    let engine = &world.engine;
    let named = async |pointer: &str, value: Value| {
        let mut declared = calling();
        *declared.pointer_mut(pointer).expect("it is there") = value;
        mistakes(engine, &declared, true).await
    };
    assert_eq!(
        named("/program", json!("came")).await,
        "UNKNOWN_CHANNEL program: `came` is no property of the input"
    );
    let query = json!({ "name": "query_graph", "arguments": { "query": "RETURN 1" }, "then": "rest" });
    assert_eq!(
        named("/nodes/0/action/tool", query).await,
        "OUT_OF_REACH nodes[0].action.tool.name: `query_graph` works on entities, which a flow about a program does \
         not reach"
    );
    let agent = json!({ "agent": {
        "prompt": "{{target}}", "tools": ["simulate", "add_node"], "into": "came", "then": "rest",
    } });
    assert_eq!(
        named("/nodes/0/action", agent).await,
        "OUT_OF_REACH nodes[0].action.agent.tools[1]: `add_node` works on entities, which a flow about a program does \
         not reach"
    );
    for flow in ["review", "edit", "calling"] {
        assert_eq!(mistakes(engine, &outer(flow), true).await, "", "{flow}");
    }
    assert_eq!(
        mistakes(engine, &outer("act"), true).await,
        "OUT_OF_REACH nodes[0].action.run.flow: a flow about a program starts no runs of `act`, which are about none"
    );
    // One that another one names stays about a program.
    let mut since = calling();
    since.as_object_mut().expect("it is one").remove("program");
    assert_eq!(
        mistakes(engine, &since, false).await,
        "BAD_FIELD program: it must be about a program: so are those that begin runs of it, `outer`"
    );
}

/// What a session has carried about one program does not get into a run about another one.
#[tokio::test]
async fn a_session_carries_what_is_of_the_same_program() {
    let world = world(&[hearing()]).await;
    let heard = async |engine: &Engine, session, program: Option<&str>, words: &str| {
        let options = program.map(|program| ("program".to_owned(), json!(program)));
        let workflow = Some("hearing".to_owned());
        let text = Some(words.to_owned());
        let options = options.into_iter().collect();
        let turn = Turn { session, workflow, text, options, ..Turn::default() };
        let turned = engine.take_turn(&turn, &call()).await.expect("it is taken");
        (Some(turned.session.id), turned.view["program"].clone(), turned.view["heard"].clone())
    };
    let (session, ..) = heard(&world.engine, None, Some("mine"), "a").await;
    let same = heard(&world.engine, session, None, "b").await;
    assert_eq!(same, (session, json!("mine"), json!(["a", "b"])));
    let engine = limited(&world).await;
    let title = async |engine: &Engine| {
        engine.session_info(session.expect("it has begun")).await.expect("it is known").title
    };
    assert_eq!(
        (title(&world.engine).await.as_deref(), title(&engine).await.as_deref()),
        (Some("a"), Some("a"))
    );
    let other = heard(&world.engine, session, Some("other"), "c").await;
    assert_eq!(other, (session, json!("other"), json!(["c"])));
    // Which program the title is about, nobody can tell any more.
    assert_eq!((title(&world.engine).await.as_deref(), title(&engine).await), (Some("a"), None));
    let mine = heard(&engine, session, None, "d").await;
    assert_eq!(mine, (session, json!("mine"), json!(["a", "b", "d"])));
    let (begun, ..) = heard(&engine, None, Some("mine"), "e").await;
    assert_eq!(heard(&engine, begun, None, "f").await, (begun, json!("mine"), json!(["e", "f"])));
    let nothing =
        Turn { workflow: Some("hearing".to_owned()), text: Some("g".to_owned()), ..Turn::default() };
    let nothing = engine.take_turn(&nothing, &call()).await.expect_err("no program is named");
    assert!(matches!(nothing, Error::Argument { place, .. } if place == "input.options.program"));
}

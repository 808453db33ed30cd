//! Flows that are declared, with a model that says what a script says.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::model::Models;
use lmlang_agents::{flows, interpreter};
use lmlang_engine::{
    Answer, Engine, Error, Limits, MetricsWanted, RunInfo, RunStatus, SnapshotPolicy, StartRun, Turn, Turned,
};
use lmlang_flow::declared::{Declaration, Mistake};
use lmlang_flow::depth::MOST_DEPTH;
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};

use crate::world::{call, scripted};

/// Sorts a report, asks whether it is to be filed, and files it.
fn triage() -> Value {
    json!({
        "name": "triage",
        "input": {
            "type": "object", "required": ["report"], "additionalProperties": false,
            "properties": { "report": { "type": "string", "minLength": 1 } },
        },
        "turn": "report",
        "carry": ["tickets"],
        "channels": {
            "sorted": {}, "reply": {}, "answer": {},
            "tickets": { "reducer": "append", "most": 20 },
        },
        "nodes": [
            {
                "name": "sort", "say": "a {{sorted.kind}}: {{sorted.title}}",
                "action": { "model": {
                    "role": "router", "system": "You sort reports.", "prompt": "What is it?\n{{report}}",
                    "schema": {
                        "type": "object", "required": ["kind", "title"],
                        "properties": { "kind": { "enum": ["bug", "wish"] }, "title": { "type": "string" } },
                    },
                    "into": "sorted", "then": "decide",
                } },
            },
            {
                "name": "decide",
                "action": { "branch": {
                    "cases": [{ "when": { "equals": { "path": "sorted.kind", "value": "bug" } }, "then": "ask" }],
                    "otherwise": "thank",
                } },
            },
            {
                "name": "ask",
                "action": { "ask": {
                    "kind": "need_confirm", "question": "File `{{sorted.title}}`?", "into": "reply", "then": "agreed",
                } },
            },
            {
                "name": "agreed",
                "action": { "branch": {
                    "cases": [{ "when": { "equals": { "path": "reply.confirm", "value": true } }, "then": "file" }],
                    "otherwise": "thank",
                } },
            },
            {
                "name": "file",
                "action": { "tool": {
                    "name": "add_node",
                    "arguments": {
                        "label": "Ticket", "key": "{{sorted.title}}",
                        "props": { "kind": "{{sorted.kind}}", "words": "{{reply.feedback}}" },
                    },
                    "then": "note",
                } },
            },
            { "name": "note", "action": { "set": { "values": { "tickets": ["{{sorted.title}}"] }, "then": "thank" } } },
            { "name": "thank", "action": { "end": { "values": { "answer": "{{sorted.title}} of {{tickets}}" } } } },
        ],
    })
}

const SCRIPT: &str = r#"
[[reply]]
role = "router"
prompt_contains = ["You sort reports.", "It crashes"]
json = { kind = "bug", title = "crash" }

[[reply]]
role = "router"
contains = ["It is slow"]
json = { kind = "wish", title = "speed" }
"#;

struct World {
    db: TestDb,
    models: Arc<Models>,
    engine: Engine,
}

impl World {
    /// The same database, opened again.
    async fn reopened(self) -> World {
        self.engine.close().await;
        let engine = open(&self.db, &self.models).await;
        World { engine, ..self }
    }
}

async fn open(db: &TestDb, models: &Arc<Models>) -> Engine {
    let location = Location::parse(&db.to_string()).expect("it is a location");
    let store = Store::open(Options::new(location)).await.expect("it opens");
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    engine.interpret_by(interpreter(models, GraphSource::Engine));
    engine.run_flows(flows(models, GraphSource::Engine, ManagerSource::BuiltIn));
    engine
}

/// An engine in which flows are declared.
async fn world(models: Models, declared: &[Value]) -> World {
    let (db, models) = (TestDb::new().await, Arc::new(models));
    let engine = open(&db, &models).await;
    for declared in declared {
        register(&engine, declared).await;
    }
    World { db, models, engine }
}

/// Declares a flow, and answers with its version.
async fn register(engine: &Engine, declared: &Value) -> u32 {
    let registered = engine.register_flow(declared, false, &call()).await.expect("it is answered");
    assert_eq!(registered.mistakes, []);
    registered.flow.expect("nothing is wrong").definition().version
}

fn script(text: &str) -> Models {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("it can be written");
    scripted(file.path())
}

async fn start(engine: &Engine, flow: &str, input: Value) -> Result<RunInfo, Error> {
    let start = StartRun { flow: flow.to_owned(), session: None, input, deadline: None };
    let run = engine.start_run(&start, &call()).await?.id;
    engine.settled(run, Duration::from_secs(60)).await
}

async fn state(engine: &Engine, run: &RunInfo) -> Value {
    let machine = engine.run_machine(run).await.expect("it can be read");
    machine.state().public(machine.flow())
}

/// Begins a run, and waits until it asks or ends.
async fn run(engine: &Engine, flow: &str, input: Value) -> (RunStatus, Value) {
    let run = start(engine, flow, input).await.expect("it begins");
    (run.status, state(engine, &run).await)
}

/// Says yes to what a run asks, and answers with what it carries at its end.
async fn agree(engine: &Engine, run: &RunInfo) -> Value {
    let machine = engine.run_machine(run).await.expect("it can be read");
    let asked = machine.interrupts().next().expect("it asks").asked;
    let answer = Answer { run: run.id, asked, answer: json!({ "confirm": true }), reason: None };
    engine.answer_interrupt(&answer, &call()).await.expect("it is taken");
    let run = engine.settled(run.id, Duration::from_secs(60)).await.expect("it comes to that");
    assert_eq!(run.status, RunStatus::Completed);
    state(engine, &run).await
}

#[tokio::test]
async fn a_declared_flow_asks_a_model_and_a_person_and_calls_a_tool() {
    let World { engine, .. } = &world(script(SCRIPT), &[triage()]).await;
    let turn = |text: &str| Turn { text: Some(text.to_owned()), ..Turn::default() };
    let first = Turn { workflow: Some("triage".to_owned()), ..turn("It crashes at night") };
    let asked: Turned = engine.take_turn(&first, &call()).await.expect("it is taken");
    assert_eq!(asked.interrupt.as_ref().expect("it asks").ask.question, "File `crash`?");
    assert_eq!(asked.view["progress"], json!(["a bug: crash"]));
    assert_eq!(asked.view["provider"], "script");

    let session = Some(asked.session.id);
    let agreed = Turn { session, confirm: Some(true), feedback: Some("soon".to_owned()), ..Turn::default() };
    let done = engine.take_turn(&agreed, &call()).await.expect("it is taken");
    assert_eq!((done.run.id, done.run.status), (asked.run.id, RunStatus::Completed));
    assert_eq!(done.view["answer"], r#"crash of ["crash"]"#);
    let query = "MATCH (t:Ticket) WHERE t.words = 'soon' RETURN t.key, t.kind".to_owned();
    let found = engine.cypher(query, serde_json::Map::new()).await;
    assert_eq!(found.expect("it is answered").rows.len(), 1);

    // The next turn is another run, which takes over what the flow says.
    let next = engine.take_turn(&Turn { session, ..turn("It is slow") }, &call()).await.expect("it is taken");
    assert_eq!(next.run.status, RunStatus::Completed);
    assert_eq!(next.view["answer"], r#"speed of ["crash"]"#);
}

#[tokio::test]
async fn what_a_run_is_begun_with_has_to_fit() {
    let World { engine, .. } = &world(Models::none(), &[triage()]).await;
    let refused = |input: Value| async move {
        let start = StartRun { flow: "triage".to_owned(), session: None, input, deadline: None };
        match engine.start_run(&start, &call()).await {
            Err(Error::Argument { place, message }) => format!("{place}: {message}"),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(json!({})).await, "input.input: \"report\" is a required property");
    assert_eq!(
        refused(json!({ "report": 5 })).await,
        "input.input.report: `report`: 5 is not of type \"string\""
    );
    assert_eq!(
        refused(json!({ "report": "x", "other": 1 })).await,
        "input.input.other: the flow has no input `other`"
    );
}

/// Branches, lists, other flows and time, without a model.
#[tokio::test]
async fn branches_are_opened_and_runs_of_other_flows_are_waited_for() {
    let double = json!({
        "name": "double",
        "input": { "type": "object", "properties": { "n": { "type": "integer" } } },
        "channels": { "sum": { "reducer": "sum" } },
        "nodes": [
            { "name": "once", "action": { "set": { "values": { "sum": "{{n}}" }, "then": "twice" } } },
            { "name": "twice", "action": { "end": { "values": { "sum": "{{n}}" } } } },
        ],
    });
    let all = json!({
        "name": "all",
        "input": { "type": "object", "properties": { "numbers": { "type": "array" } } },
        "channels": {
            "n": { "private": true }, "came": { "private": true },
            "doubled": { "reducer": "append" }, "total": { "reducer": "sum" },
        },
        "nodes": [
            { "name": "spread", "action": { "each": { "items": "numbers", "item": "n", "node": "start", "join": "rest" } } },
            {
                "name": "start",
                "action": { "run": { "flow": "double", "input": { "n": "{{n}}" }, "into": "came", "then": "collect" } },
            },
            {
                "name": "collect",
                "action": { "end": { "values": { "doubled": ["{{came.sum}}"], "total": "{{came.sum}}" } } },
            },
            { "name": "rest", "action": { "wait": { "ms": 1, "then": "both" } } },
            {
                "name": "both",
                "action": { "parallel": {
                    "arms": [{ "node": "say", "given": { "n": "one" } }, { "node": "say", "given": { "n": "two" } }],
                    "join": "close",
                } },
            },
            { "name": "say", "say": "arm {{n}}", "action": { "end": {} } },
            { "name": "close", "action": { "end": {} } },
        ],
    });
    let World { engine, .. } = &world(Models::none(), &[double, all]).await;
    let (status, state) = run(engine, "all", json!({ "numbers": [3, 1, 2] })).await;
    assert_eq!(status, RunStatus::Completed, "{state}");
    assert_eq!(state["doubled"], json!([6, 2, 4]));
    assert_eq!(state["total"], 12);
    assert_eq!(state["progress"], json!(["arm one", "arm two"]));
    let (_, none) = run(engine, "all", json!({ "numbers": [] })).await;
    assert_eq!((&none["total"], &none["doubled"]), (&json!(0), &json!([])));
    let (asks, _) = run(engine, "all", json!({})).await;
    assert_eq!(asks, RunStatus::Completed, "what is not there is no list of anything");
    let many = start(engine, "all", json!({ "numbers": vec![1; 257] })).await.expect("it begins");
    let machine = engine.run_machine(&many).await.expect("it can be read");
    let question = &machine.interrupts().next().expect("it asks").ask.question;
    assert!(question.contains("256 branches can be opened at once, found 257 items"), "{question}");
}

/// Whatever a model calls is told to it, also what does not work, until it answers.
#[tokio::test]
async fn a_model_calls_tools_until_it_answers() {
    const ANSWERS: &str = r#"
[[reply]]
contains = ["Note it"]
tool_calls = [{ name = "add_node", arguments = { label = "Note", key = "n" } }]

[[reply]]
tool_calls = [{ name = "add_edge", arguments = { from = { label = "Note", key = "n" }, type = "IN", to = { label = "Box", key = "b" } } }]

[[reply]]
prompt_contains = ["error: "]
text = "It is noted, in no box."
"#;
    let mut flow = json!({
        "name": "noting",
        "input": { "type": "object", "properties": { "task": { "type": "string" } } },
        "channels": { "answer": {} },
        "nodes": [{
            "name": "note",
            "action": { "agent": {
                "prompt": "{{task}}", "tools": ["add_node", "add_edge"], "into": "answer", "then": "END",
            } },
        }],
    });
    let world = world(script(ANSWERS), &[flow.clone()]).await;
    let noted = start(&world.engine, "noting", json!({ "task": "Note it" })).await.expect("it begins");
    let came = state(&world.engine, &noted).await;
    assert_eq!((noted.status, &came["answer"]), (RunStatus::Completed, &json!("It is noted, in no box.")));
    assert_eq!(came["progress"].as_array().map(Vec::len), Some(1), "{came}");
    let spans = world.engine.span_page(&noted, 0, 100).await.expect("they are read").items;
    let of = |kind: &str| spans.iter().filter(|span| span.kind == kind).count();
    assert_eq!((of("model"), of("tool")), (3, 2));
    let unused = world.models.unused();
    assert!(unused.is_empty(), "{unused:?}");

    // One that never answers has failed; tools that are not there are told when it is declared.
    flow["nodes"][0]["action"]["agent"]["mostSteps"] = json!(1);
    flow["nodes"][0]["attempts"] = json!(1);
    let endless = script(
        "[[reply]]\ntool_calls = [{ name = \"add_node\", arguments = { label = \"Note\", key = \"n\" } }]\n",
    );
    let World { engine, .. } = &crate::declared::world(endless, &[flow.clone()]).await;
    let asking = start(engine, "noting", json!({ "task": "Note it" })).await.expect("it begins");
    let machine = engine.run_machine(&asking).await.expect("it can be read");
    let question = &machine.interrupts().next().expect("it asks").ask.question;
    assert!(question.ends_with("(AGENT_TOO_LONG). Go on?"), "{question}");
    flow["nodes"][0]["action"]["agent"]["tools"] = json!(["add_node", "fly"]);
    let refused = engine.register_flow(&flow, true, &call()).await.expect("it is answered").mistakes;
    assert_eq!(refused[0].path, "nodes[0].action.agent.tools[1]");
}

/// A tool that refuses has the node tried again, then a person is asked, as in every flow; or the run goes on where the node says.
#[tokio::test]
async fn what_fails_goes_up_the_ladder() {
    let mut flow = json!({
        "name": "change",
        "input": { "type": "object", "properties": { "key": { "type": "string" } } },
        "channels": { "why": {} },
        "nodes": [
            {
                "name": "change",
                "action": { "tool": {
                    "name": "update_props", "arguments": { "label": "Ticket", "key": "{{key}}", "props": {} },
                    "then": "tell",
                } },
            },
            { "name": "tell", "say": "{{why.node}}: {{why.tool}}", "action": { "end": {} } },
        ],
    });
    let World { engine, .. } = &world(Models::none(), &[flow.clone()]).await;
    let asking = start(engine, "change", json!({ "key": "T-9" })).await.expect("it begins");
    assert_eq!(asking.status, RunStatus::Waiting);
    let machine = engine.run_machine(&asking).await.expect("it can be read");
    let question = &machine.interrupts().next().expect("it asks").ask.question;
    assert!(question.starts_with("`change` failed 2 times, each time alike: "), "{question}");

    flow["nodes"][0]["onFailure"] = json!({ "then": "tell", "into": "why" });
    assert_eq!(register(engine, &flow).await, 2);
    let (status, state) = run(engine, "change", json!({ "key": "T-9" })).await;
    assert_eq!((status, &state["progress"]), (RunStatus::Completed, &json!(["change: update_props"])));
    let classes = engine.metrics(MetricsWanted::default()).await.expect("they are counted").classes;
    assert_eq!(classes.iter().map(|of| (of.asked, of.diverted)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
}

/// A run goes on by the definition that it began with, whatever is declared since, and after a restart; it can be moved.
#[tokio::test]
async fn a_run_goes_on_as_it_began() {
    const BUG: &str = "[[reply]]\ntimes = \"always\"\njson = { kind = \"bug\", title = \"crash\" }\n";
    let world = world(script(BUG), &[triage()]).await;
    let input = || json!({ "report": "It crashes" });
    let (kept, moved) =
        (start(&world.engine, "triage", input()).await, start(&world.engine, "triage", input()).await);
    let (kept, moved) = (kept.expect("it begins"), moved.expect("it begins"));
    let mut second = triage();
    second["nodes"][6]["action"]["end"]["values"]["answer"] = json!("second: {{sorted.title}}");
    assert_eq!(register(&world.engine, &second).await, 2);
    assert_eq!(register(&world.engine, &second).await, 2, "it is there already");
    let newer = start(&world.engine, "triage", input()).await.expect("it begins");
    assert_ne!(newer.flow.hash(), kept.flow.hash());
    assert!(!world.engine.is_outdated(&kept));
    let (info, told) = world.engine.move_run(moved.id, false, &call()).await.expect("it is moved");
    assert_eq!((told.hindrances.len(), info.flow.hash()), (0, newer.flow.hash()));
    assert!(world.engine.remove_flow("triage", &call()).await.expect("it is there"));
    assert!(!world.engine.remove_flow("triage", &call()).await.expect("it was there"));

    let world = world.reopened().await;
    let gone = start(&world.engine, "triage", input()).await;
    assert!(matches!(gone, Err(Error::NotFound { what: "flow", retired: true, .. })), "{gone:?}");
    assert_eq!(agree(&world.engine, &kept).await["answer"], r#"crash of ["crash"]"#);
    assert_eq!(agree(&world.engine, &moved).await["answer"], "second: crash");
    assert_eq!(agree(&world.engine, &newer).await["answer"], "second: crash");
    // Versions go on counting.
    assert_eq!(register(&world.engine, &triage()).await, 3);
}

#[tokio::test]
async fn what_flows_have_to_do_with_each_other_is_looked_at() {
    let calling = |name: &str, flow: &str| {
        json!({
            "name": name, "channels": { "came": {} },
            "nodes": [
                { "name": "a", "action": { "run": { "flow": flow, "into": "came", "then": "b" } } },
                { "name": "b", "action": { "end": {} } },
            ],
        })
    };
    let end = |name: &str| json!({ "name": name, "nodes": [{ "name": "a", "action": { "end": {} } }] });
    let World { engine, .. } =
        &world(Models::none(), &[end("c"), calling("b", "c"), calling("a", "b")]).await;
    let told = |declared: Value, dry_run: bool| async move {
        let registered = engine.register_flow(&declared, dry_run, &call()).await.expect("it is answered");
        let mistakes =
            registered.mistakes.iter().map(|mistake: &Mistake| format!("{} {mistake}", mistake.code));
        (registered.changed, mistakes.collect::<Vec<_>>().join("; "))
    };
    let place = "nodes[0].action.run.flow";
    assert_eq!(
        told(calling("c", "a"), false).await,
        (false, format!("RECURSION {place}: runs of `a` come to start runs of `c`"))
    );
    assert_eq!(
        told(calling("d", "x"), false).await,
        (false, format!("UNKNOWN_FLOW {place}: there is no flow `x`"))
    );
    assert_eq!(
        told(end("act"), false).await,
        (false, "NAME_TAKEN name: `act` is a flow of the server".to_owned())
    );
    assert_eq!(told(calling("d", "act"), true).await, (true, String::new()));
    let names = async || {
        let flows = engine.flows().await.expect("they are listed");
        flows.iter().map(|code| code.flow().name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names().await, "a act b c draft edit review");

    let refused = |error: Result<bool, Error>| error.expect_err("it is refused").to_string();
    assert_eq!(refused(engine.remove_flow("c", &call()).await), "runs of `c` are begun by `b`");
    assert_eq!(
        refused(engine.remove_flow("act", &call()).await),
        "`act` is a flow of the server, which stays"
    );
    assert_eq!(refused(engine.remove_flow("x", &call()).await), "there is no flow `x`");
    for name in ["a", "b", "c"] {
        assert!(engine.remove_flow(name, &call()).await.expect("nobody needs it"));
    }
    assert_eq!(names().await, "act draft edit review");
    let long = json!({ "name": "long", "doc": "x".repeat(lmlang_engine::FLOW_BYTES), "nodes": [] });
    let long = engine.register_flow(&long, false, &call()).await;
    assert!(matches!(long, Err(Error::Limit { which: "flowBytes", .. })), "{long:?}");
}

/// What one process declares, another one over the database knows at once, and goes on with its runs.
#[tokio::test]
async fn other_processes_follow_what_is_declared() {
    if std::env::var_os("LMLANG_TEST_POSTGRES").is_none() {
        return;
    }
    let world = world(Models::none(), &[]).await;
    let other = open(&world.db, &world.models).await;
    let end = json!({ "name": "late", "nodes": [{ "name": "a", "say": "here", "action": { "end": {} } }] });
    register(&world.engine, &end).await;
    let (status, state) = run(&other, "late", json!({})).await;
    assert_eq!((status, &state["progress"]), (RunStatus::Completed, &json!(["here"])));
    assert!(other.remove_flow("late", &call()).await.expect("it is there"));
    let gone = start(&world.engine, "late", json!({})).await;
    assert!(matches!(gone, Err(Error::NotFound { .. })), "{gone:?}");
    other.close().await;
}

#[test]
fn what_a_declaration_names_has_to_be_there() {
    let interpreter = interpreter(&Arc::new(Models::none()), GraphSource::Engine);
    let found = |change: &dyn Fn(&mut Value)| {
        let mut declared = triage();
        change(&mut declared);
        let declaration = Declaration::read(&declared).expect("it can be read");
        let mistakes = interpreter.mistakes(&declaration);
        mistakes.iter().map(|mistake| format!("{} {mistake}", mistake.code)).collect::<Vec<_>>().join("; ")
    };
    let tool = "nodes[4].action.tool";
    let named = found(&|of| of["nodes"][4]["action"]["tool"]["name"] = json!("add_nod"));
    assert_eq!(named, format!("UNKNOWN_TOOL {tool}.name: no tool is called `add_nod`: there is `add_node`"));
    let missing =
        found(&|of| of["nodes"][4]["action"]["tool"]["arguments"] = json!({ "key": "{{report}}", "x": 1 }));
    assert_eq!(
        missing,
        format!(
            "BAD_ARGUMENTS {tool}.arguments: \"label\" is a required property; \
             BAD_ARGUMENTS {tool}.arguments: `add_node` has no argument `x`"
        )
    );
    let literal =
        found(&|of| of["nodes"][4]["action"]["tool"]["arguments"] = json!({ "label": "A b", "key": "k" }));
    assert!(literal.starts_with(&format!("BAD_ARGUMENTS {tool}.arguments: at `/label`: ")), "{literal}");
    let role = found(&|of| of["nodes"][0]["action"]["model"]["role"] = json!("Router"));
    assert!(
        role.starts_with("BAD_NAME nodes[0].action.model.role: `Router` is not the name of a role"),
        "{role}"
    );
    let schema = found(&|of| of["nodes"][0]["action"]["model"]["schema"] = json!({ "type": "thing" }));
    assert!(schema.starts_with("BAD_SCHEMA nodes[0].action.model.schema: "), "{schema}");
    let input = found(&|of| of["input"]["properties"]["report"] = json!({ "type": 5 }));
    assert!(input.starts_with("BAD_SCHEMA input: "), "{input}");
}

/// However often a node wraps what its run carries, what is stored of the run can be read again.
#[tokio::test]
async fn a_run_that_nests_what_it_carries_is_stopped_where_it_can_be_read() {
    let wraps = json!({
        "name": "wraps",
        "input": { "type": "object" },
        "channels": { "x": {} },
        "nodes": [
            {
                "name": "wrap", "visits": 10_000,
                "action": { "set": { "values": { "x": ["{{x}}"] }, "then": "again" } },
            },
            {
                "name": "again", "visits": 10_000,
                "action": { "branch": {
                    "cases": [{ "when": { "equals": { "path": "x", "value": 1 } }, "then": "END" }],
                    "otherwise": "wrap",
                } },
            },
        ],
    });
    let world = world(script(SCRIPT), &[wraps]).await;
    let run = start(&world.engine, "wraps", json!({})).await.expect("it begins");
    assert_eq!(run.status, RunStatus::Failed);
    let world = world.reopened().await;
    let machine = world.engine.run_machine(&run).await.expect("it can be read");
    assert_eq!(machine.failure().expect("it has failed").0.code, "FLOW_BAD_UPDATE");
    let deepest = (0..MOST_DEPTH).fold(Value::Null, |within, _| json!([within]));
    assert_eq!(machine.state().get("x"), &deepest);
}

//! Agents that are put together from other parts than usual, on engines of their own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lmlang_agents::act::Act;
use lmlang_agents::act::agent::Agent;
use lmlang_agents::act::parts::{Context, Goal, Planned, Planner, ToolUse};
use lmlang_agents::graph_store::{EngineGraph, GraphError, GraphSource, GraphStore, make_graph_store};
use lmlang_agents::model::Models;
use lmlang_agents::tools::{Changes, Reach, StandardTools, Tool, ToolAnswer, ToolRegistry, ToolSpec};
use lmlang_engine::{BoxFuture, Engine, FlowCode, Halt, Limits, SnapshotPolicy, Turn, Turned, Work};
use lmlang_flow::State;
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use serde_json::{Map, Value, json};

use crate::world::call;

/// What an agent makes of a task. The database goes when it is dropped.
async fn carried_out(agent: Agent, task: &str) -> (TestDb, Engine, Turned) {
    let db = TestDb::new().await;
    let location = Location::parse(&db.to_string()).expect("it is a location");
    let store = Store::open(Options::new(location)).await.expect("it opens");
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let code: Arc<dyn FlowCode> = Arc::new(Act::new(agent));
    engine.run_flows([code]);
    let turn = Turn { workflow: Some("act".to_owned()), text: Some(task.to_owned()), ..Turn::default() };
    let done = engine.take_turn(&turn, &call()).await.expect("it is taken");
    (db, engine, done)
}

/// Decides what it was told to decide, in that order.
struct Told(Mutex<VecDeque<Planned>>);

impl Planner for Told {
    fn provider(&self) -> String {
        "told".to_owned()
    }

    fn takes(&self, _task: &str) -> Result<(), String> {
        Ok(())
    }

    fn goal<'a>(
        &'a self,
        _state: &'a State,
        _work: &'a mut Work,
    ) -> BoxFuture<'a, Result<(Goal, Vec<ToolUse>), Halt>> {
        Box::pin(async move { Ok((Goal::default(), Vec::new())) })
    }

    fn step<'a>(
        &'a self,
        _context: &'a Context,
        _state: &'a State,
        _work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Planned, Halt>> {
        Box::pin(async move {
            let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            Ok(next.unwrap_or(Planned::Answer { text: "It is counted.".to_owned() }))
        })
    }
}

/// Counts how often it is called.
struct Counting {
    spec: ToolSpec,
    calls: Arc<AtomicUsize>,
}

impl Tool for Counting {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        _reach: &'a Reach<'a>,
        _arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            Ok(ToolAnswer { said: "counted".to_owned(), ..ToolAnswer::default() })
        })
    }
}

fn calls(tool: &str, arguments: Value) -> Planned {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Planned::Call(ToolUse { tool: tool.to_owned(), arguments })
}

/// PUN-11, PUN-12: which way a step goes is in the trace; a tool that is not there is diagnosed at once, and what does not fit a
/// tool never reaches it, whoever planned the step.
#[tokio::test]
async fn a_step_that_cannot_be_reaches_no_tool() {
    let called = Arc::new(AtomicUsize::new(0));
    let spec = ToolSpec {
        name: "count",
        description: "Counts.",
        parameters: json!({
            "type": "object", "required": ["n"], "additionalProperties": false,
            "properties": { "n": { "type": "integer" } },
        }),
        changes: Changes::Nothing,
    };
    let mut tools = StandardTools::default();
    tools.register(Arc::new(Counting { spec, calls: Arc::clone(&called) })).expect("its name is its own");
    let planned = VecDeque::from([
        calls("drop_table", json!({})),
        calls("count", json!({ "n": "many" })),
        calls("count", json!({ "n": 1 })),
    ]);
    let agent = Agent::simple(Arc::new(Models::none()), GraphSource::Engine);
    let agent = agent.expect("its tools have names of their own");
    let agent = agent.planned_by(Box::new(Told(Mutex::new(planned)))).with_tools(Box::new(tools));
    let (_db, engine, done) = carried_out(agent, "count").await;
    assert_eq!(done.view["answer"]["text"], "It is counted.", "{}", done.view);
    assert_eq!(called.load(Ordering::SeqCst), 1, "it is called with what fits");

    let spans = engine.span_page(&done.run, 0, 1_000).await.expect("they are read").items;
    let way = |name: &str| -> Vec<&str> {
        let nodes = spans.iter().filter(|span| span.kind == "node" && span.name == name);
        nodes.filter_map(|span| span.attributes["lmlang.goto"].as_str()).collect()
    };
    assert_eq!(way("route_tool"), ["diagnose", "call_tool", "call_tool", "answer"]);
    assert_eq!(way("evaluate"), ["diagnose", "plan_step"]);
    assert_eq!(way("diagnose"), ["plan_step", "plan_step"]);
    assert_eq!(spans.iter().filter(|span| span.kind == "tool").count(), 1);

    let failures = &done.view["failures"];
    assert_eq!(failures[0]["code"], "UNKNOWN_TOOL", "{failures}");
    assert_eq!(failures[1]["code"], "INVALID_ARGUMENTS", "{failures}");
    let told = failures[1]["message"].as_str().expect("words");
    assert!(told.starts_with("`count` does not take these arguments: at `/n`"), "{told}");
    engine.close().await;
}

/// PUN-48, PUN-68, PUN-84: an agent of the usual parts works on a store in memory. Its run is kept as any other, and the entities of the
/// engine are left alone.
#[tokio::test]
async fn an_agent_works_on_a_store_in_memory() {
    let source = make_graph_store("memory").expect("there is one");
    let agent = Agent::simple(Arc::new(Models::none()), source.clone());
    let agent = agent.expect("its tools have names of their own");
    let (_db, engine, done) = carried_out(agent, "AddEdge Ticket:T-1 DEPENDS_ON Milestone:M-1").await;
    assert_eq!(done.view["answer"]["counts"]["created"], 3, "{}", done.view);

    let query = "MATCH (t:Ticket)-[:DEPENDS_ON]->(m) RETURN t.key, m.key";
    let found = source.of(&engine).run_cypher(query, Map::new()).await.expect("answered");
    assert_eq!(found.rows, [[json!("T-1"), json!("M-1")]]);
    let beside = EngineGraph(engine.clone()).run_cypher(query, Map::new()).await.expect("answered");
    assert!(beside.rows.is_empty(), "{:?}", beside.rows);

    let kept = engine.run_machine(&done.run).await.expect("it can be read");
    assert_eq!(kept.state().public(kept.flow()), done.view);
    let spans = engine.span_page(&done.run, 0, 1_000).await.expect("they are read").items;
    assert_eq!(spans.iter().filter(|span| span.kind == "tool").count(), 3);
    engine.close().await;
}

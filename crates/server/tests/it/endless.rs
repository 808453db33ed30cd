//! Runs without an end: they hold up nobody, keep to their limits and do not outlive their clients.

use std::collections::BTreeMap;

use lmlang_engine::Limits;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::real::{Real, start_real_with};
use crate::server::soon;
use crate::sse::Events;
use crate::ws::{Socket, introduced};

const TEXT: &str = "module e
pub func endless (n: i64) -> () pure {
  loop L (i: i64 = n) {
    continue L (add.i64 i, 1)
  }
  unreachable
}
pub func twice (n: i64) -> (i64) pure {
  return (mul.i64 n, 2)
}
";

/// Runs that have a place; more than the runtime of the test has threads.
const PLACES: usize = 3;

async fn start(places: usize) -> Real {
    start_with(Limits { parallel_simulations: places, ..Limits::default() }).await
}

async fn start_with(limits: Limits) -> Real {
    let real = start_real_with(Limits { max_fuel: u64::MAX, ..limits }).await;
    real.program("e", TEXT).await;
    real
}

/// A run that goes on for longer than any test waits, as its limits let it; more arguments go into `run`.
fn endless(run: &str, batch: &str) -> String {
    format!(
        "subscription {{ simulate(
            input: {{programId: \"e\", function: \"e::endless\", run: {{args: [0], {run}}}}}, batch: {{{batch}}}
        ) {{ simulationId status cursor outcome {{ __typename ... on LimitReached {{ limit }} }} }} }}"
    )
}

/// As long and as far as the server lets anybody run.
const LONG: &str = "limits: {timeoutMs: 60000, fuel: 9007199254740991}";

/// The latest message of each subscription of a socket, which is read all the time.
type Seen = watch::Receiver<BTreeMap<String, Value>>;

fn follow(mut socket: Socket) -> (Seen, JoinHandle<()>) {
    let (sender, seen) = watch::channel(BTreeMap::new());
    let task = tokio::spawn(async move {
        while let Ok(message) = socket.next().await {
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            // A completion says less than the last batch.
            if message["type"] != "complete" {
                sender.send_modify(|seen| drop(seen.insert(id, message)));
            }
        }
    });
    (seen, task)
}

/// Waits until as many subscriptions as said have sent something.
async fn heard(seen: &mut Seen, count: usize) -> Vec<String> {
    let all = soon(seen.wait_for(|seen| seen.len() >= count)).await.expect("the socket is read").clone();
    let id =
        |message: &Value| message["payload"]["data"]["simulate"]["simulationId"].as_str().map(str::to_owned);
    all.values().map(|message| id(message).unwrap_or_else(|| panic!("it runs: {message}"))).collect()
}

async fn status(real: &Real, id: &str) -> String {
    let query = "query($id: ID!) { simulation(id: $id) { status } }";
    let found = real.data(query, json!({ "id": id })).await;
    found["simulation"]["status"].as_str().expect("a simulation has a status").to_owned()
}

/// Asks until a simulation has a status.
async fn until_status(real: &Real, id: &str, expected: &str) {
    soon(async { while status(real, id).await != expected {} }).await;
}

/// A short run, which needs a place.
const TWICE: &str = r#"{ program(name: "e") { function(name: "e::twice") { simulate(input: {args: [21]}) {
    outcome { ... on Returned { values } }
} } } }"#;

async fn twice(real: &Real) -> Value {
    real.data(TWICE, json!({})).await["program"]["function"]["simulate"]["outcome"]["values"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_runs_hold_up_nobody_and_pause_without_their_client() {
    let real = start(PLACES).await;
    let mut socket = introduced(&real.server).await;
    // Twice as many as have a place: the others wait in line until the first have gone on for long.
    for at in 0..2 * PLACES {
        socket.subscribe(&at.to_string(), &endless(LONG, "")).await;
    }
    let (mut seen, reading) = follow(socket);
    let running = heard(&mut seen, PLACES).await;
    let before = seen.borrow().clone();
    for at in 0..50 {
        let edit = "mutation($doc: String!) {
            proposeEdit(input: {programId: \"e\", edits: [{setDoc: {ref: \"e::twice\", doc: $doc}}]}) {
                outcome { __typename ... on EditApplied { revision { number } } }
            }
        }";
        let done = real.data(edit, json!({"doc": format!("Edit {at}.")})).await;
        assert_eq!(done["proposeEdit"]["outcome"]["revision"]["number"], at + 2);
        let read =
            real.data(r#"{ program(name: "e") { function(name: "e::twice") { doc } } }"#, json!({})).await;
        assert_eq!(read["program"]["function"]["doc"], format!("Edit {at}."));
    }
    // The same runs still go on, and have gone further.
    for id in &running {
        assert_eq!(status(&real, id).await, "RUNNING");
    }
    let further = |seen: &BTreeMap<String, Value>| {
        let cursor = |message: &Value| message["payload"]["data"]["simulate"]["cursor"].as_u64();
        before.iter().all(|(id, message)| seen.get(id).is_some_and(|later| cursor(later) > cursor(message)))
    };
    soon(seen.wait_for(further)).await.expect("the socket is read");
    reading.abort();
    for id in &running {
        until_status(&real, id, "PAUSED").await;
    }
    assert_eq!(soon(twice(&real)).await, json!(["i64:42"]));
}

/// However many streams there are, some places are taken by none of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_leave_places_to_others() {
    const STREAMED: usize = PLACES - 1;
    let limits = Limits { parallel_simulations: PLACES, streamed_simulations: STREAMED, ..Limits::default() };
    let real = start_with(limits).await;
    let mut socket = introduced(&real.server).await;
    for at in 0..2 * PLACES {
        socket.subscribe(&at.to_string(), &endless(LONG, "")).await;
    }
    let (mut seen, reading) = follow(socket);
    let running = heard(&mut seen, STREAMED).await;
    for _ in 0..10 {
        assert_eq!(soon(twice(&real)).await, json!(["i64:42"]));
    }
    assert_eq!(seen.borrow().len(), STREAMED, "more stream than may");
    for id in &running {
        assert_eq!(status(&real, id).await, "RUNNING");
    }
    reading.abort();
}

#[tokio::test]
async fn an_endless_run_ends_at_its_limit() {
    let real = start(1).await;
    for (run, limit) in [
        ("limits: {fuel: 100000, timeoutMs: 60000}", "fuel"),
        ("limits: {fuel: 100000, timeoutMs: 60000}, recordTrace: NONE", "fuel"),
        ("limits: {fuel: 9007199254740991, timeoutMs: 100}", "time"),
        ("limits: {fuel: 9007199254740991, timeoutMs: 100}, recordTrace: CALLS", "time"),
        ("limits: {fuel: 9007199254740991, timeoutMs: 100}, recordTrace: NONE", "time"),
    ] {
        let mut events = Events::open(&real.server, &endless(run, "")).await;
        assert!(events.until("event: complete").await, "{run}");
        let end = format!(r#""outcome":{{"__typename":"LimitReached","limit":"{limit}"}}"#);
        let last = events.seen.rsplit("data: {").next().unwrap_or_default();
        assert!(last.contains(&end) && last.contains(r#""status":"LIMIT_REACHED""#), "{run}: {last}");
    }
}

/// Reads an event stream until it names its simulation.
async fn simulation(events: &mut Events) -> String {
    assert!(events.until("\"simulationId\":\"").await, "{}", events.seen);
    assert!(events.until("\"status\"").await, "{}", events.seen);
    let (_, rest) = events.seen.split_once("\"simulationId\":\"").expect("it was seen");
    rest.split('"').next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_event_stream_that_closes_ends_its_run() {
    let real = start(1).await;
    let mut events = Events::open(&real.server, &endless(LONG, "")).await;
    let id = simulation(&mut events).await;
    assert_eq!(status(&real, &id).await, "RUNNING");
    drop(events);
    until_status(&real, &id, "PAUSED").await;
    assert_eq!(soon(twice(&real)).await, json!(["i64:42"]));
}

#[tokio::test]
async fn another_client_cancels_a_stream() {
    let real = start(1).await;
    let cancel = "mutation($id: ID!) {
        controlSimulation(input: {id: $id, action: CANCEL}) { simulation { status } }
    }";
    for run in [LONG.to_owned(), format!("{LONG}, recordTrace: NONE")] {
        let mut events = Events::open(&real.server, &endless(&run, "")).await;
        let id = simulation(&mut events).await;
        let done = soon(real.data(cancel, json!({ "id": id }))).await;
        assert_eq!(done["controlSimulation"]["simulation"]["status"], "CANCELLED", "{run}");
        assert!(events.until("event: complete").await, "{run}");
        let last = events.seen.rsplit("data: {").next().unwrap_or_default();
        assert!(last.contains(r#""status":"CANCELLED""#), "{run}: {last}");
    }
    assert_eq!(soon(twice(&real)).await, json!(["i64:42"]));
}

/// Without a trace there is nothing to send, so only the run itself can notice that its client has gone.
#[tokio::test]
async fn a_run_without_a_trace_ends_with_its_client() {
    let real =
        start_with(Limits { parallel_simulations: 1, waiting_simulations: 0, ..Limits::default() }).await;
    let events = Events::open(&real.server, &endless(&format!("{LONG}, recordTrace: NONE"), "")).await;
    // It runs when nobody else can, for a while.
    soon(async {
        let mut refused = 0;
        while refused < 50 {
            refused = if overloaded(&real).await { refused + 1 } else { 0 };
        }
    })
    .await;
    drop(events);
    soon(async { while overloaded(&real).await {} }).await;
}

/// Says whether a short run finds neither a place nor room to wait for one.
async fn overloaded(real: &Real) -> bool {
    let reply = real.post(TWICE, &json!({})).await.json();
    match reply["errors"][0]["extensions"]["code"].as_str() {
        Some(code) => {
            assert_eq!(code, "OVERLOADED");
            true
        }
        None => false,
    }
}

/// A client that holds its stream and does not read it holds up its own run: nobody has to wait for a turn.
#[tokio::test]
async fn a_client_that_does_not_read_holds_up_nobody() {
    let real = start_with(Limits { simulation_threads: 1, ..Limits::default() }).await;
    let mut events = Events::open(&real.server, &endless(LONG, "maxEvents: 1, maxLatencyMs: 0")).await;
    let id = simulation(&mut events).await;
    assert_eq!(soon(twice(&real)).await, json!(["i64:42"]));
    assert_eq!(status(&real, &id).await, "RUNNING");
    drop(events);
    until_status(&real, &id, "PAUSED").await;
}

/// What such a client has sent beside its stream is carried out, so that nobody waits for it.
#[tokio::test]
async fn a_client_that_does_not_read_keeps_nobody_from_editing() {
    let real = start(1).await;
    let mut stalled = introduced(&real.server).await;
    stalled.subscribe("n", &endless(LONG, "maxEvents: 10000, maxLatencyMs: 0")).await;
    let edit = |doc: &str| {
        format!(
            "mutation {{ proposeEdit(input: {{programId: \"e\", edits: [{{setDoc: {{ref: \"e::twice\", doc: \"{doc}\"}}}}]}}) {{
                outcome {{ __typename }}
            }} }}"
        )
    };
    for at in 0..40 {
        stalled.subscribe(&at.to_string(), &edit(&format!("Stalled {at}."))).await;
    }
    for at in 0..20 {
        let done = soon(real.data(&edit(&format!("Other {at}.")), json!({}))).await;
        assert_eq!(done["proposeEdit"]["outcome"]["__typename"], "EditApplied");
    }
    drop(stalled);
}

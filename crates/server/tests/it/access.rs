//! Callers with tokens, over real sockets: a program that a token is not good for is as none, and what is revoked ends.

use std::sync::Arc;

use lmlang_engine::{Engine, NewToken, Scope, Selector};
use lmlang_graphql::schema::failure::fail;
use lmlang_graphql::transport::{Actor, ActorKind};
use lmlang_server::{Hooks, Manager};
use serde_json::{Value, json};

use crate::real::{Real, start_guarded, start_guarded_over};
use crate::sse::Events;
use crate::ws::{Socket, connect_with};

const TEXT: &str = "module m\n\nfunc f (n: i64) -> (i64) { return (add.i64 n, n) }\n";

/// Two programs, one of which a caller may know of.
struct Two {
    real: Real,
    /// Shows a token for everything.
    admin: String,
    /// Shows a token for everything of `mine`.
    limited: String,
    /// The id of `mine`.
    mine: String,
    /// What is not to be known: the name, the id and a simulation of a program, and the same of one that was deleted.
    hidden: [[String; 3]; 2],
}

pub(crate) fn somebody() -> Actor {
    Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None }
}

/// The header with a new token.
pub(crate) async fn token(real: &Real, name: &str, scope: Scope, program: Option<&str>) -> String {
    let programs = program.map(|program| vec![Selector::Name(program.to_owned())]);
    let new = NewToken {
        name: name.to_owned(),
        kind: ActorKind::Agent,
        scopes: vec![scope],
        programs,
        expires: None,
    };
    let (_, secret) = real.engine.create_token(new, &somebody()).await.expect("the token is made");
    format!("authorization: Bearer {}\r\n", secret.reveal())
}

/// The name, the id and a simulation of a new program.
async fn program(real: &Real, name: &str) -> [String; 3] {
    real.program(name, TEXT).await;
    let found =
        real.data("query($name: String!) { program(name: $name) { id } }", json!({ "name": name })).await;
    let run = format!(
        r#"subscription {{ simulate(input: {{programId: "{name}", function: "m::f", run: {{args: [3]}}}}) {{ simulationId }} }}"#
    );
    let mut events = Events::open(&real.server, &run).await;
    assert!(events.until("event: complete").await, "{}", events.seen);
    let simulation = events.seen.split("\"simulationId\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let id = found["program"]["id"].as_str().expect("it has an id");
    [name.to_owned(), id.to_owned(), simulation.expect("it has an id").to_owned()]
}

impl Two {
    async fn new() -> Two {
        let real = start_guarded().await;
        let [_, mine, _] = program(&real, "mine").await;
        let hidden = [program(&real, "hidden").await, program(&real, "buried").await];
        let delete = r#"mutation { deleteProgram(input: {programId: "buried"}) { deleted } }"#;
        real.data(delete, json!({})).await;
        let admin = token(&real, "root", Scope::Admin, None).await;
        let limited = token(&real, "planner", Scope::Admin, Some("mine")).await;
        Two { real, admin, limited, mine, hidden }
    }

    async fn ask_as(&self, headers: &str, query: &str) -> Value {
        self.real.post_as(headers, query, &json!({})).await.json()
    }

    /// Whether an answer tells anything of the programs that are not to be known.
    fn tells(&self, answer: &str) -> bool {
        self.hidden.iter().flatten().any(|word| answer.contains(word))
    }
}

/// Streams and pipelines belong to no program: who is limited to some of them has none; running one is no reading.
#[tokio::test]
async fn the_manager_is_for_tokens_without_limits() {
    let hooks = |engine: &Engine| {
        let engine = engine.clone();
        let manager: Manager = Arc::new(move |caller, request| {
            let engine = engine.clone();
            Box::pin(async move { engine.ask_manager(request, &caller.actor).await.map_err(fail) })
        });
        Hooks { manager, ..Hooks::default() }
    };
    let real = start_guarded_over(hooks).await;
    real.program("mine", TEXT).await;
    let limited = token(&real, "planner", Scope::Admin, Some("mine")).await;
    let [reads, edits, simulates] = [Scope::Read, Scope::Edit, Scope::Simulate];
    let reads = token(&real, "reader", reads, None).await;
    let edits = token(&real, "editor", edits, None).await;
    let simulates = token(&real, "runner", simulates, None).await;
    let columns = json!({ "columns": [{ "name": "temp", "data_type": "double" }] });
    let stream = json!({ "name": "readings", "type": "mqtt", "schema": columns }).to_string();
    let sql = "SELECT temp FROM readings";
    let pipeline = json!({ "id": "all", "sql": sql, "sinks": [{ "type": "log" }] }).to_string();
    let sample = json!({ "rows": [{ "row": { "temp": 1.5 } }] }).to_string();
    for (who, line, body, status) in [
        (&limited, "GET /manager/streams", "", 403),
        (&limited, "POST /manager/streams", stream.as_str(), 403),
        (&reads, "POST /manager/streams", stream.as_str(), 403),
        (&edits, "POST /manager/streams", stream.as_str(), 201),
        (&edits, "POST /manager/pipelines", pipeline.as_str(), 201),
        (&reads, "GET /manager/pipelines/all/explain", "", 200),
        (&reads, "HEAD /manager/streams", "", 200),
        (&reads, "POST /manager/pipelines/all/simulate", sample.as_str(), 403),
        (&simulates, "POST /manager/pipelines/all/simulate", sample.as_str(), 200),
        (&limited, "DELETE /manager/pipelines/all", "", 403),
        (&reads, "PUT /manager/streams", "", 405),
        (&reads, "GET /manager/nothing", "", 404),
    ] {
        let reply = real.server.send(line, &format!("content-type: application/json\r\n{who}"), body).await;
        assert_eq!(reply.status, status, "{line}: {}", reply.text());
        if status == 405 {
            assert_eq!(reply.header("allow"), Some("GET, POST"));
        }
    }
    let nobody = real.server.send("GET /manager/streams", "", "").await;
    assert_eq!(nobody.status, 401, "{}", nobody.text());
}

/// Documents about a program that is named as `NAME`, by `ID` or by one of its simulations, `RUN`.
const DOCUMENTS: &[&str] = &[
    r#"{ node(id: "ID") { id } }"#,
    r#"{ node(id: "ID/m1") { id } }"#,
    r#"{ node(id: "ID@r1/m1") { id } }"#,
    r#"{ node(id: "ID/r1") { id } }"#,
    r#"{ node(id: "RUN") { id } }"#,
    r#"{ nodes(ids: ["ID", "ID/m1", "ID/r1", "RUN"]) { id } }"#,
    r#"{ program(id: "ID") { name } }"#,
    r#"{ program(id: "ID@r1") { name } }"#,
    r#"{ program(id: "ID", at: "r1") { name } }"#,
    r#"{ program(name: "NAME") { name } }"#,
    r#"{ program(name: "NAMEx") { name } }"#,
    r#"{ program(name: "NAME", at: "r99") { name } }"#,
    r#"{ programs(search: "NAME") { totalCount nodes { id name } } }"#,
    r#"{ simulation(id: "RUN") { status program { name } } }"#,
    r#"{ program(name: "NAME") { mergePreview(from: "r1") { clean } } }"#,
    r#"{ program(id: "ID", at: "r1") { mergePreview(from: "main") { clean } } }"#,
    r#"{ program(name: "NAME") { behaviourDiff(from: "r1", to: "main", function: "m::f") { args } } }"#,
    r#"{ program(name: "NAME") { mutations(function: "m::f") { killed } } }"#,
    r#"{ findText(programId: "NAME", query: "f") { totalCount } }"#,
    r#"{ findText(programId: "ID", query: "f") { totalCount } }"#,
    r#"mutation { addCase(input: {programId: "NAME", function: "m::f", name: "c", args: [3]}) { case { name } } }"#,
    r#"mutation { bisect(input: {programId: "ID", case: "x", good: "r1", bad: "main"}) { message } }"#,
    r#"mutation { checkContracts(input: {programId: "NAME", functions: ["m::f"], cases: 5}) { checked } }"#,
    r#"mutation { compareRuns(input: {programId: "ID", from: "r1", to: "main", function: "m::f", run: {args: [3]}}) { same } }"#,
    r#"mutation { controlSimulation(input: {id: "RUN", action: STEP}) { simulation { status } } }"#,
    r#"mutation { proposeMany(input: {programId: "NAME", gates: [], candidates: [[{setDoc: {ref: "m::f", doc: "x"}}]]}) { ranked { rank } } }"#,
    r#"mutation { startSimulation(input: {programId: "ID", function: "m::f", run: {args: [3]}}) { simulation { status } } }"#,
    r#"subscription { contractAttempts(input: {programId: "NAME", functions: ["m::f"], cases: 5}) { tried } }"#,
    r#"mutation { createBranch(input: {programId: "NAME", name: "b"}) { branch { name } } }"#,
    r#"mutation { createCheckpoint(input: {programId: "NAME", name: "c"}) { checkpoint { name } } }"#,
    r#"mutation { createProgram(input: {name: "NAME"}) { program { id } } }"#,
    r#"mutation { createProgram(input: {name: "fork", forkOf: "NAME"}) { program { id } } }"#,
    r#"mutation { createProgram(input: {name: "fork", forkOf: "ID", at: "r1"}) { program { id } } }"#,
    r#"mutation { createToken(input: {name: "t", scopes: [READ], programs: ["NAME"]}) { secret } }"#,
    r#"mutation { deleteBranch(input: {programId: "ID", name: "b"}) { deleted } }"#,
    r#"mutation { deleteCheckpoint(input: {programId: "ID", name: "c"}) { deleted } }"#,
    r#"mutation { deleteProgram(input: {programId: "ID"}) { deleted } }"#,
    r#"mutation { deleteProgram(input: {programId: "NAME"}) { deleted } }"#,
    r#"mutation { merge(input: {programId: "NAME", from: "main"}) { outcome { __typename } } }"#,
    r#"mutation { merge(input: {programId: "mine", from: "ID"}) { outcome { __typename } } }"#,
    r#"mutation { proposeEdit(input: {programId: "NAME", edits: [{setDoc: {ref: "m", doc: "x"}}]}) { outcome { __typename } } }"#,
    r#"mutation { redo(input: {programId: "ID"}) { outcome { __typename } } }"#,
    r#"mutation { restoreCheckpoint(input: {programId: "ID", name: "c"}) { outcome { __typename } } }"#,
    r#"mutation { revert(input: {programId: "NAME", revisions: ["r1"]}) { outcome { __typename } } }"#,
    r#"mutation { revert(input: {programId: "ID", author: "ada", dryRun: true}) { outcome { __typename } } }"#,
    r#"mutation { revokeToken(input: {token: "NAME"}) { token { name } } }"#,
    r#"mutation { undo(input: {programId: "NAME"}) { outcome { __typename } } }"#,
    r#"mutation { updateProgram(input: {programId: "ID", doc: "x"}) { program { name } } }"#,
    r#"mutation { updateProgram(input: {programId: "mine", name: "NAME"}) { program { name } } }"#,
    r#"subscription { diagnostics(programId: "NAME") { cursor } }"#,
    r#"subscription { programEvents(programId: "ID", after: "r1") { cursor } }"#,
    r#"subscription { programEvents(programId: "NAME") { cursor } }"#,
    r#"subscription { simulate(input: {programId: "NAME", function: "m::f", run: {args: [3]}}) { cursor } }"#,
    r#"subscription { simulation(id: "RUN") { cursor } }"#,
];

/// An answer without what was given and what is another one each time.
fn bare(answer: &str, given: &[String; 3]) -> String {
    let answer = given.iter().fold(answer.to_owned(), |text, word| {
        // Of a simulation, errors name what stands behind its mark.
        text.replace(word.trim_start_matches("S-"), "GIVEN")
    });
    let parts: Vec<&str> = answer.split("\"requestId\":\"").collect();
    let rest = parts.iter().skip(1).map(|part| part.split_once('"').map_or("", |(_, rest)| rest));
    parts.iter().take(1).copied().chain(rest).collect::<Vec<_>>().join("\"requestId\":")
}

#[tokio::test]
async fn another_program_cannot_be_told_from_none() {
    let two = Two::new().await;
    // As long as the others, so that places in a document are the same.
    let absent = ["absent".to_owned(), "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned()];
    let [name, id] = &absent;
    let absent = [name.clone(), id.clone(), format!("S-{id}")];
    let bearer = two.limited.trim_end().split_once(": ").expect("it is a header").1;
    let mut socket = introduced(&two, bearer).await;
    for document in DOCUMENTS {
        let mut answers = Vec::new();
        for given in two.hidden.iter().chain([&absent]) {
            let [name, id, run] = given;
            let document = document.replace("NAME", name).replace("ID", id).replace("RUN", run);
            let mut seen = Vec::new();
            if !document.starts_with("subscription") {
                let reply = two.real.post_as(&two.limited, &document, &json!({})).await;
                seen.push(format!("{} {}", reply.status, bare(&reply.text(), given)));
            }
            let mut events = Events::open_as(&two.real.server, &document, &two.limited).await;
            assert!(events.until("event: complete").await, "{document}: {}", events.seen);
            let (_, body) = events.seen.split_once("\r\n\r\n").expect("it has a head");
            seen.push(bare(body, given));
            socket.subscribe("1", &document).await;
            loop {
                let message = socket.next().await.expect("the socket stays open");
                seen.push(bare(&message.to_string(), given));
                if message["type"] != "next" {
                    break;
                }
            }
            answers.push(seen);
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{document}: {answers:#?}");
    }
    let all = two.ask_as(&two.admin, "{ programs { nodes { name } } }").await;
    let left = json!([{ "name": "hidden" }, { "name": "mine" }]);
    assert_eq!(all["data"]["programs"]["nodes"], left, "nothing was changed");
}

/// A socket whose `connection_init` shows a token.
async fn introduced(two: &Two, bearer: &str) -> Socket {
    let protocol = [("sec-websocket-protocol", "graphql-transport-ws")];
    let mut socket = connect_with(&two.real.server, &protocol).await.expect("the socket opens");
    socket.send(json!({ "type": "connection_init", "payload": { "authorization": bearer } })).await;
    assert_eq!(socket.next().await, Ok(json!({ "type": "connection_ack" })));
    socket
}

fn bearer(header: &str) -> &str {
    header.trim_end().split_once(": ").expect("it is a header").1
}

#[tokio::test]
async fn lists_and_events_are_those_of_ones_own_programs() {
    let two = Two::new().await;
    let lists = "{ programs { totalCount nodes { name history { nodes { actor { name } } } } } serverInfo { limits } eventCursor }";
    let answer = two.ask_as(&two.limited, lists).await;
    let programs = &answer["data"]["programs"];
    assert_eq!(
        (&programs["totalCount"], &programs["nodes"][0]["name"]),
        (&json!(1), &json!("mine")),
        "{answer}"
    );
    assert!(!two.tells(&answer.to_string()), "{answer}");
    assert!(answer["data"]["eventCursor"].as_str().is_some_and(is_sealed), "{answer}");

    const EVENTS: &str = "subscription { programEvents { __typename cursor programId actor { name } ... on ProgramChanged { name } } }";
    let mut socket = introduced(&two, bearer(&two.limited)).await;
    socket.subscribe("e", EVENTS).await;
    let before =
        format!("{{ programEvents(after: {}) {{ cursor programId }} }}", answer["data"]["eventCursor"]);
    let mut events = Events::open_as(&two.real.server, &format!("subscription {before}"), &two.limited).await;
    // The socket is heard of by its next answer only.
    socket.subscribe("q", "{ serverInfo { name } }").await;
    for _ in 0..2 {
        socket.next().await.expect("the answer comes");
    }
    let change = |program: &str| {
        format!(
            r#"mutation {{ a: updateProgram(input: {{programId: "{program}", doc: "new"}}) {{ program {{ id }} }}
                b: createCheckpoint(input: {{programId: "{program}", name: "c"}}) {{ checkpoint {{ name }} }} }}"#
        )
    };
    for program in ["hidden", "mine"] {
        let changed = two.ask_as(&two.admin, &change(program)).await;
        assert_eq!(changed.get("errors"), None, "{changed}");
    }
    let delete = r#"mutation { deleteProgram(input: {programId: "hidden"}) { deleted } }"#;
    two.ask_as(&two.admin, delete).await;
    two.ask_as(&two.admin, &change("mine").replace("\"c\"", "\"last\"").replace("new", "newest")).await;
    let mut seen = String::new();
    for _ in 0..4 {
        let event = socket.next().await.expect("the socket stays open");
        let told = &event["payload"]["data"]["programEvents"];
        assert_eq!(told["programId"], two.mine.as_str(), "{event}");
        assert!(told["cursor"].as_str().is_some_and(is_sealed), "{event}");
        seen.push_str(&event.to_string());
    }
    assert!(!two.tells(&seen), "{seen}");
    assert!(events.until(&two.mine).await, "{}", events.seen);
    assert!(!two.tells(&events.seen), "{}", events.seen);
}

/// Whether a cursor hides how much happened to all programs.
fn is_sealed(cursor: &str) -> bool {
    cursor.strip_prefix("p~").is_some_and(|sealed| sealed.len() == 59)
}

/// How much happens to other programs cannot be found by trying: who may know of some programs is answered the same for any
/// number, wherever the log is.
#[tokio::test]
async fn no_cursor_tells_how_far_others_are() {
    let two = Two::new().await;
    let mut answers = Vec::new();
    for cursor in ["p0.1", "p1.0", "p2.2", "p3.3", "p4.4", "p9999.9999", "p18446744073709551615.0"] {
        let events = format!(r#"subscription {{ programEvents(after: "{cursor}") {{ cursor }} }}"#);
        let mut events = Events::open_as(&two.real.server, &events, &two.limited).await;
        assert!(
            events.until("event: complete").await && events.seen.contains("CURSOR_INVALID"),
            "{}",
            events.seen
        );
        let answer = events.seen.lines().find(|line| line.starts_with("data: {")).expect("it is answered");
        let given = [cursor.to_owned(), "\0".to_owned(), "\0".to_owned()];
        answers.push(bare(answer, &given));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
}

#[tokio::test]
async fn what_is_revoked_ends() {
    let two = Two::new().await;
    let other = token(&two.real, "watcher", Scope::Read, None).await;
    const EVENTS: &str = "subscription { programEvents { cursor } }";
    let mut socket = introduced(&two, bearer(&other)).await;
    socket.subscribe("e", EVENTS).await;
    socket.subscribe("q", "{ serverInfo { name } }").await;
    for _ in 0..2 {
        socket.next().await.expect("the answer comes");
    }
    let mut events = Events::open_as(&two.real.server, EVENTS, &other).await;
    assert!(events.until("\r\n\r\n").await);
    let mut kept = introduced(&two, bearer(&two.limited)).await;

    let revoke = r#"mutation { revokeToken(input: {token: "watcher"}) { token { name } } }"#;
    let revoked = two.ask_as(&two.admin, revoke).await;
    assert_eq!(revoked.get("errors"), None, "{revoked}");
    assert_eq!(
        two.ask_as(&other, "{ serverInfo { name } }").await["errors"][0]["extensions"]["code"],
        "UNAUTHENTICATED"
    );
    assert_eq!(socket.next().await, Err(4403));
    assert!(
        events.until("event: complete").await && events.seen.contains("UNAUTHENTICATED"),
        "{}",
        events.seen
    );
    kept.subscribe("q", "{ serverInfo { name } }").await;
    assert_eq!(kept.next().await.expect("it is good still")["type"], "next");
}

#[tokio::test]
async fn who_came_in_without_a_token_leaves_with_the_first_one() {
    let real = start_guarded().await;
    let mut socket = crate::ws::introduced(&real.server).await;
    let mut events = Events::open(&real.server, "subscription { programEvents { cursor } }").await;
    assert!(events.until("\r\n\r\n").await);
    token(&real, "root", Scope::Admin, None).await;
    assert_eq!(socket.next().await, Err(4403));
    assert!(events.until("UNAUTHENTICATED").await, "{}", events.seen);
    assert_eq!(real.post("{ programs { totalCount } }", &json!({})).await.status, 401);
}

#[tokio::test]
async fn a_socket_shows_its_token_once() {
    let two = Two::new().await;
    let (mine, other) = (bearer(&two.limited), bearer(&two.admin));
    const PROTOCOL: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");
    for (headers, payload, expect) in [
        (vec![("authorization", mine)], json!(null), Ok("connection_ack")),
        (vec![("authorization", mine)], json!({ "authorization": mine }), Ok("connection_ack")),
        (vec![("authorization", mine)], json!({ "authorization": other }), Err(4400)),
        (vec![("authorization", "Bearer lml_x")], json!(null), Err(4403)),
        (vec![], json!({ "authorization": mine, "Authorization": other }), Err(4400)),
        (vec![], json!({ "token": mine }), Err(4403)),
    ] {
        let headers: Vec<(&str, &str)> = headers.into_iter().chain([PROTOCOL]).collect();
        let mut socket = connect_with(&two.real.server, &headers).await.expect("the socket opens");
        socket.send(json!({ "type": "connection_init", "payload": payload })).await;
        let found =
            socket.next().await.map(|message| message["type"].as_str().unwrap_or_default().to_owned());
        assert_eq!(found.as_deref().map_err(|code| *code), expect, "{payload}");
    }
    let twice = [PROTOCOL, ("authorization", mine), ("authorization", mine)];
    assert_eq!(connect_with(&two.real.server, &twice).await.err(), Some(400));
}

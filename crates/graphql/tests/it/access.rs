//! Every field of the roots, and every way into a program by an id, against every scope.
//!
//! What each answers is in `snapshots`: `ok`, or the code of its error. A field that is new fails the test until somebody
//! has decided who may have it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt;
use lmlang_engine::{Grant, NewToken, Scope, Selector, Unnamed};
use lmlang_graphql::schema::access::NEEDS;
use lmlang_graphql::transport::{Actor, ActorKind, Caller};
use serde_json::{Value, json};

use crate::sdl::{Sdl, bottom};
use crate::world::{World, ask_as, soon, stream_as};

/// How each field that somebody decided about is asked for. What would store something is a dry run, or cannot be right.
const ASKED: &[(&str, &str)] = &[
    ("Query.caller", "caller { scopes }"),
    ("Query.cypher", r#"cypher(query: "RETURN 1") { rows }"#),
    ("Query.diagnosticCode", r#"diagnosticCode(code: "FORBIDDEN") { title }"#),
    ("Query.eventCursor", "eventCursor"),
    ("Query.entities", "entities { totalCount }"),
    ("Query.entitySubgraph", r#"entitySubgraph(label: "Person", key: "nobody")"#),
    ("Query.findText", r#"findText(programId: "world", query: "total") { totalCount }"#),
    ("Query.flow", r#"flow(id: "act") { name }"#),
    ("Query.flows", "flows { name }"),
    ("Query.interrupts", "interrupts { totalCount }"),
    ("Query.metrics", "metrics { runs }"),
    ("Query.node", r#"node(id: "PROGRAM") { id }"#),
    ("Query.nodes", r#"nodes(ids: ["PROGRAM"]) { id }"#),
    ("Query.ops", r#"ops(search: "add.i64") { __typename }"#),
    ("Query.program", r#"program(name: "world") { name }"#),
    ("Query.programs", "programs { totalCount }"),
    ("Query.run", r#"run(id: "RUN") { status }"#),
    ("Query.runState", r#"runState(runId: "RUN")"#),
    ("Query.runs", "runs { totalCount }"),
    ("Query.serverInfo", "serverInfo { name }"),
    ("Query.session", r#"session(id: "SESSION") { workflow }"#),
    ("Query.sessions", "sessions { totalCount }"),
    ("Query.simulation", r#"simulation(id: "SIMULATION") { status }"#),
    ("Query.tokens", "tokens { totalCount }"),
    (
        "Mutation.addCase",
        r#"addCase(input: {programId: "world", function: "world::total", name: "", args: [3]}) { case { name } }"#,
    ),
    ("Mutation.applyPatch", "applyPatch(input: {ops: [], dryRun: true}) { committed }"),
    (
        "Mutation.bisect",
        r#"bisect(input: {programId: "world", case: "x", good: "r1", bad: "main"}) { message }"#,
    ),
    (
        "Mutation.compareRuns",
        r#"compareRuns(input: {programId: "world", from: "r1", to: "main", function: "world::total", run: {args: [3]}}) { same }"#,
    ),
    (
        "Mutation.answerInterrupt",
        r#"answerInterrupt(input: {interruptId: "RUN/999", answer: {confirm: true}}) { outcome { __typename } }"#,
    ),
    (
        "Mutation.cancelRun",
        r#"cancelRun(input: {runId: "R-67e55044-10b1-426f-9247-bb680e5fe0c8"}) { run { id } }"#,
    ),
    ("Mutation.turn", r#"turn(input: {workflow: "nothing", text: "x"}) { done }"#),
    ("Mutation.createSession", r#"createSession(input: {workflow: "nothing"}) { session { id } }"#),
    ("Mutation.moveRun", r#"moveRun(input: {runId: "RUN"}) { run { id } }"#),
    ("Mutation.forkRun", r#"forkRun(input: {runId: "RUN", atStep: 999}) { run { id } }"#),
    ("Mutation.rewindRun", r#"rewindRun(input: {runId: "RUN", toStep: 1, dryRun: true}) { run { id } }"#),
    (
        "Mutation.startRun",
        r#"startRun(input: {flow: "review", input: {program: "world", branch: "main"}}) { run { id } }"#,
    ),
    ("Mutation.registerFlow", "registerFlow(input: {definition: {}, dryRun: true}) { changed }"),
    ("Mutation.removeFlow", r#"removeFlow(input: {name: "nothing"}) { deleted }"#),
    ("Mutation.removeCase", r#"removeCase(input: {id: "x"}) { deleted }"#),
    (
        "Mutation.createBranch",
        r#"createBranch(input: {programId: "world", name: "main"}) { branch { name } }"#,
    ),
    (
        "Mutation.createCheckpoint",
        r#"createCheckpoint(input: {programId: "world", name: "start"}) { checkpoint { name } }"#,
    ),
    ("Mutation.createProgram", r#"createProgram(input: {name: ""}) { program { name } }"#),
    ("Mutation.createToken", r#"createToken(input: {name: "", scopes: [READ]}) { secret }"#),
    ("Mutation.deleteBranch", r#"deleteBranch(input: {programId: "world", name: "x"}) { deleted }"#),
    ("Mutation.deleteCheckpoint", r#"deleteCheckpoint(input: {programId: "world", name: "x"}) { deleted }"#),
    (
        "Mutation.deleteEdge",
        r#"deleteEdge(input: {fromLabel: "A", fromKey: "nobody", type: "T", toLabel: "A", toKey: "nobody"}) { deleted }"#,
    ),
    ("Mutation.deleteNode", r#"deleteNode(input: {label: "A", key: "nobody"}) { deleted }"#),
    ("Mutation.deleteProgram", r#"deleteProgram(input: {programId: "nobody"}) { deleted }"#),
    ("Mutation.merge", r#"merge(input: {programId: "world", from: "start"}) { outcome { __typename } }"#),
    (
        "Mutation.proposeEdit",
        r#"proposeEdit(input: {programId: "world", dryRun: true, edits: [{setDoc: {ref: "world", doc: "x"}}]}) { outcome { __typename } }"#,
    ),
    ("Mutation.redo", r#"redo(input: {programId: "world", dryRun: true}) { outcome { __typename } }"#),
    (
        "Mutation.restoreCheckpoint",
        r#"restoreCheckpoint(input: {programId: "world", name: "start", dryRun: true}) { outcome { __typename } }"#,
    ),
    (
        "Mutation.revert",
        r#"revert(input: {programId: "world", revisions: [], dryRun: true}) { outcome { __typename } }"#,
    ),
    ("Mutation.revokeToken", r#"revokeToken(input: {token: "nobody"}) { token { id } }"#),
    ("Mutation.undo", r#"undo(input: {programId: "world", dryRun: true}) { outcome { __typename } }"#),
    (
        "Mutation.upsertEdge",
        r#"upsertEdge(input: {fromLabel: "A", fromKey: "nobody", type: "T", toLabel: "A", toKey: "nobody"}) { effect }"#,
    ),
    ("Mutation.upsertNode", r#"upsertNode(input: {label: "", key: "nobody"}) { effect }"#),
    ("Mutation.updateProps", r#"updateProps(input: {label: "A", key: "nobody", props: {}}) { effect }"#),
    ("Mutation.updateProgram", r#"updateProgram(input: {programId: "world"}) { program { name } }"#),
    ("Subscription.diagnostics", r#"diagnostics(programId: "world", after: "r1") { cursor }"#),
    ("Subscription.programEvents", r#"programEvents(programId: "world", after: "r1") { cursor }"#),
    (
        "Subscription.simulate",
        r#"simulate(input: {programId: "world", function: "world::total", run: {args: [3]}}) { cursor }"#,
    ),
    ("Subscription.runEvents", r#"runEvents(runId: "RUN", after: "j0.0") { cursor }"#),
    ("Subscription.simulation", r#"simulation(id: "SIMULATION") { cursor }"#),
    ("Flow.declaration", r#"flow(id: "act") { declaration }"#),
    (
        "Function.simulate",
        r#"program(name: "world") { function(name: "world::total") { simulate(input: {args: [3]}) { steps } } }"#,
    ),
    (
        "Mutation.proposeMany",
        r#"proposeMany(input: {programId: "world", gates: [], candidates: [[{setDoc: {ref: "world::total", doc: "x"}}]]}) { ranked { rank } }"#,
    ),
    (
        "Mutation.checkContracts",
        r#"checkContracts(input: {programId: "world", functions: ["world::total"], cases: 5}) { checked }"#,
    ),
    (
        "Mutation.controlSimulation",
        r#"controlSimulation(input: {id: "x", action: STEP}) { simulation { status } }"#,
    ),
    (
        "Mutation.startSimulation",
        r#"startSimulation(input: {programId: "world", function: "world::total", run: {args: [3]}}) { simulation { status } }"#,
    ),
    ("Subscription.tournament", r#"tournament(id: "00000000-0000-0000-0000-000000000000") { rank }"#),
    (
        "Subscription.contractAttempts",
        r#"contractAttempts(input: {programId: "world", functions: ["world::total"], cases: 5}) { tried }"#,
    ),
    (
        "Program.behaviourDiff",
        r#"program(name: "world") { behaviourDiff(from: "r1", to: "nowhere", function: "world::total") { args } }"#,
    ),
    ("Program.mutationScore", r#"program(name: "world") { mutationScore(function: "world::total") }"#),
    ("Program.mutations", r#"program(name: "world") { mutations(function: "world::total") { killed } }"#),
    ("Program.uncovered", r#"program(name: "world") { uncovered { totalCount } }"#),
    ("Program.simulateNodes", r#"program(name: "world") { simulateNodes(nodes: [], inputs: []) { steps } }"#),
];

/// Other ways to what the fields above answer.
const ENTRIES: &[(&str, &str)] = &[
    ("Query.program by id", r#"program(id: "PROGRAM") { name }"#),
    ("Query.program by a pinned id", r#"program(id: "PROGRAM@r1") { name }"#),
    ("Query.node of an entity", r#"node(id: "PROGRAM/MODULE") { id }"#),
    ("Query.node of a pinned entity", r#"node(id: "PROGRAM@r1/MODULE") { id }"#),
    ("Query.node of a revision", r#"node(id: "PROGRAM/r1") { id }"#),
    ("Query.node of a simulation", r#"node(id: "SIMULATION") { id }"#),
    (
        "Mutation.createProgram of a name",
        r#"createProgram(input: {name: "world", text: "?"}) { program { name } }"#,
    ),
    (
        "Mutation.updateProgram to a name",
        r#"updateProgram(input: {programId: "world", name: ""}) { program { name } }"#,
    ),
    ("Subscription.programEvents of all", r#"programEvents(after: "CURSOR") { cursor }"#),
    (
        "Query.tokens in a fragment",
        "... on Query { aliased: tokens @include(if: true) { totalCount } } skipped: tokens @skip(if: true) { totalCount }",
    ),
    ("introspection", "__schema { queryType { name } }"),
    ("__typename", "__typename"),
];

const PROGRAM: &str = "module world\n\npub func total (n: i64) -> (i64) { return (add.i64 n, n) }\n";

/// A program with a checkpoint, one beside it, and what names them.
struct Two {
    world: World,
    names: Vec<(&'static str, String)>,
}

impl Two {
    async fn new() -> Two {
        let world = World::empty().await;
        let cursor = world.data("{ eventCursor }", json!({})).await["eventCursor"].clone();
        world.create("world", PROGRAM).await;
        world.create("other", PROGRAM).await;
        let edit = r#"mutation {
            createCheckpoint(input: {programId: "world", name: "start"}) { checkpoint { name } }
            proposeEdit(input: {programId: "world", edits: [{setDoc: {ref: "world", doc: "New."}}]}) { outcome { __typename } }
        }"#;
        world.data(edit, json!({})).await;
        let found =
            world.data(r#"{ program(name: "world") { id modules { nodes { ref } } } }"#, json!({})).await;
        let run = r#"subscription { simulate(input: {programId: "world", function: "world::total", run: {args: [3]}}) { simulationId } }"#;
        let batch = soon(world.stream(run, json!({})).next()).await.expect("there is a batch");
        let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
        let run = world.review().await;
        let session =
            world.data("query($run: ID!) { run(id: $run) { session { id } } }", json!({"run": run})).await;
        let names = vec![
            ("PROGRAM", text(&found["program"]["id"])),
            ("MODULE", text(&found["program"]["modules"]["nodes"][0]["ref"])),
            ("SIMULATION", text(&batch["data"]["simulate"]["simulationId"])),
            ("CURSOR", text(&cursor)),
            ("RUN", run.clone()),
            ("SESSION", text(&session["run"]["session"]["id"])),
        ];
        Two { world, names }
    }

    fn document(&self, asked: &str) -> String {
        self.names.iter().fold(asked.to_owned(), |text, (of, name)| text.replace(of, name))
    }

    async fn caller(&self, scope: Scope, program: Option<&str>) -> Arc<Caller> {
        let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
        let name = format!("{} {}", scope.name(), program.unwrap_or_default());
        let programs = program.map(|program| vec![Selector::Name(program.to_owned())]);
        let new = NewToken { name, kind: ActorKind::Agent, scopes: vec![scope], programs, expires: None };
        let (_, secret) = self.world.engine.create_token(new, &actor).await.expect("it is made");
        let grant = self.world.engine.admit(Some(secret.reveal()), Unnamed::Nobody).await;
        Arc::new(Caller { actor, on_behalf_of: None, grant: grant.expect("it is good") })
    }

    /// What a field answers to a caller: `ok`, or the code of its error.
    async fn answer(&self, caller: &Arc<Caller>, root: &str, asked: &str) -> String {
        let asked = self.document(asked);
        let executor = &self.world.executor;
        let answer = match root {
            "Subscription" => {
                let mut events =
                    stream_as(executor, caller, &format!("subscription {{ {asked} }}"), json!({}));
                soon(events.next()).await.expect("there is an event")
            }
            "Mutation" => {
                let siblings = "first: __typename {} last: __typename".replace("{}", &asked);
                ask_as(executor, caller, &format!("mutation {{ {siblings} }}"), json!({})).await
            }
            _ => {
                let siblings =
                    "first: serverInfo { name } {} last: serverInfo { name }".replace("{}", &asked);
                ask_as(executor, caller, &format!("{{ {siblings} }}"), json!({})).await
            }
        };
        if root != "Subscription" {
            for sibling in ["first", "last"] {
                assert!(!answer["data"][sibling].is_null(), "{asked}: {answer}");
            }
        }
        let error = &answer["errors"][0];
        match error["extensions"]["code"].as_str() {
            None => "ok".to_owned(),
            Some(code) => {
                assert!(error["path"][0].is_string(), "it is the field's: {answer}");
                code.to_owned()
            }
        }
    }
}

#[tokio::test]
async fn every_field_is_for_those_who_may_have_it() {
    let two = Two::new().await;
    let mut callers = vec![("open".to_owned(), Caller::anonymous())];
    for scope in Scope::ALL {
        callers.push((scope.name().to_lowercase(), two.caller(scope, None).await));
    }
    for (scope, program) in [
        (Scope::Edit, "world"),
        (Scope::Admin, "world"),
        (Scope::Admin, "other"),
        (Scope::Read, "world"),
        (Scope::Simulate, "world"),
    ] {
        callers.push((
            format!("{} of `{program}`", scope.name().to_lowercase()),
            two.caller(scope, Some(program)).await,
        ));
    }
    let mut table = String::new();
    for (field, asked) in ASKED.iter().chain(ENTRIES) {
        let root = field.split_once('.').map_or("Query", |(root, _)| root);
        let mut answers: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, caller) in &callers {
            let answer = two.answer(caller, root, asked).await;
            match answers.iter_mut().find(|(known, _)| *known == answer) {
                Some((_, names)) => names.push(name),
                None => answers.push((answer, vec![name])),
            }
        }
        table.push_str(&format!("{field}\n"));
        for (answer, names) in answers {
            table.push_str(&format!("  {answer}: {}\n", names.join(", ")));
        }
    }
    insta::assert_snapshot!("access", table);
}

/// Who adds a field of a root, or one that runs something, says here and in the table of needs whom it is for.
#[test]
fn somebody_has_decided_about_every_field() {
    let sdl = Sdl::read();
    let roots = ["Query", "Mutation", "Subscription"];
    let mut fields = BTreeSet::new();
    for (owner, of) in &sdl.objects {
        for (name, field) in of {
            let runs = field.arguments.iter().any(|one| bottom(&one.node.ty.node).contains("Simul"));
            // Those that run what they find themselves are known by being in the table.
            let searches = NEEDS.iter().any(|(field, _)| *field == format!("{owner}.{name}"));
            if roots.contains(&owner.as_str()) || runs || searches {
                fields.insert(format!("{owner}.{name}"));
            }
        }
    }
    let decided: BTreeMap<String, usize> = NEEDS.iter().fold(BTreeMap::new(), |mut seen, (field, _)| {
        *seen.entry((*field).to_owned()).or_default() += 1;
        seen
    });
    assert!(decided.values().all(|times| *times == 1), "{decided:?}");
    let decided: BTreeSet<String> = decided.into_keys().collect();
    let asked: BTreeSet<String> = ASKED.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(fields.symmetric_difference(&decided).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(fields.symmetric_difference(&asked).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Who may know of the runs of some programs learns of no place how much happened to all runs.
#[tokio::test]
async fn a_limited_caller_is_given_cursors_of_runs_that_say_nothing() {
    let two = Two::new().await;
    let caller = two.caller(Scope::Admin, Some("world")).await;
    let executor = &two.world.executor;
    let run = two.document(r#"{ run(id: "RUN") { cursor } }"#);
    let answer = ask_as(executor, &caller, &run, json!({})).await;
    let sealed =
        |cursor: &Value| cursor.as_str().is_some_and(|text| text.starts_with("j~") && text.len() == 61);
    assert!(sealed(&answer["data"]["run"]["cursor"]), "{answer}");
    let events = "subscription($after: String!) { runEvents(after: $after) { cursor kind } }";
    let mut told = stream_as(executor, &caller, events, json!({ "after": "j0.0" }));
    let first = soon(told.next()).await.expect("there is an event")["data"]["runEvents"].clone();
    let second = soon(told.next()).await.expect("there is an event")["data"]["runEvents"].clone();
    assert!(sealed(&first["cursor"]) && sealed(&second["cursor"]), "{first} {second}");
    let mut told = stream_as(executor, &caller, events, json!({ "after": first["cursor"] }));
    let again = soon(told.next()).await.expect("there is an event")["data"]["runEvents"].clone();
    assert_eq!(again["kind"], second["kind"]);
    assert_ne!(again["cursor"], second["cursor"], "a place is another text each time");
    let mut why = Vec::new();
    for cursor in ["j1.0", "j2.1", "j9999.0"] {
        let mut told = stream_as(executor, &caller, events, json!({ "after": cursor }));
        let refused = soon(told.next()).await.expect("there is an answer")["errors"][0].clone();
        assert_eq!(refused["extensions"]["code"], "CURSOR_INVALID", "{refused}");
        why.push(refused["message"].as_str().expect("it has one").replace(cursor, "GIVEN"));
    }
    why.dedup();
    assert_eq!(
        why,
        ["`GIVEN` is not a cursor of the events of runs: it is not one of those that this token is given"]
    );
}

/// Runs and questions are counted over all programs: the cursors of a limited caller do not say where in that its own are.
#[tokio::test]
async fn a_limited_caller_is_given_cursors_of_lists_that_say_nothing() {
    let two = Two::new().await;
    let caller = two.caller(Scope::Admin, Some("world")).await;
    let executor = &two.world.executor;
    for (list, mark, plain) in [
        ("runs(first: 1AFTER)", "ru", "1"),
        ("interrupts(first: 1AFTER)", "in", "1"),
        (r#"session(id: "SESSION") { runs(first: 1AFTER)"#, "sr", "1"),
        (r#"session(id: "SESSION") { trace(first: 1AFTER)"#, "sc", "1.1"),
    ] {
        let close = if list.starts_with("session") { "} }" } else { "}" };
        let query = |after: String| {
            // What names stand for is written first: a cursor can look like anything.
            two.document(&format!("{{ {list} {{ edges {{ cursor }} }} {close}")).replace("AFTER", &after)
        };
        let connection = |answer: &Value| -> Value {
            let data = &answer["data"];
            let path = list.split('(').next().unwrap_or_default();
            match data["session"].as_object() {
                Some(session) => session.values().next().cloned().unwrap_or_default(),
                None => data[path].clone(),
            }
        };
        let answer = ask_as(executor, &caller, &query(String::new()), json!({})).await;
        let cursor = connection(&answer)["edges"][0]["cursor"].as_str().map(str::to_owned);
        let cursor = cursor.unwrap_or_else(|| panic!("{list}: {answer}"));
        assert!(cursor.starts_with(&format!("{mark}:~")) && cursor.len() == 63, "{list}: {cursor}");
        let rest = ask_as(executor, &caller, &query(format!(r#", after: "{cursor}""#)), json!({})).await;
        assert!(rest["errors"].is_null() && connection(&rest)["edges"].is_array(), "{list}: {rest}");
        // A number is read by nobody but those who may know of all.
        let given = query(format!(r#", after: "{mark}:{plain}""#));
        let refused = ask_as(executor, &caller, &given, json!({})).await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "CURSOR_INVALID", "{list}: {refused}");
        let taken = ask_as(executor, &Caller::anonymous(), &given, json!({})).await;
        assert!(taken["errors"].is_null(), "{list}: {taken}");
    }
}

/// Keys that somebody else used tell nothing of what for.
#[tokio::test]
async fn a_limited_caller_has_keys_of_its_own() {
    let two = Two::new().await;
    let update = r#"mutation { updateProgram(input: {programId: "other", doc: "New.", idempotencyKey: "k"}) { program { id } } }"#;
    assert_eq!(two.world.ask(update, json!({})).await.get("errors"), None);
    let limited = two.caller(Scope::Edit, Some("world")).await;
    let executor = &two.world.executor;
    let repeated = ask_as(executor, &limited, update, json!({})).await;
    assert_eq!(repeated["errors"][0]["extensions"]["code"], "NOT_FOUND", "{repeated}");
    let own = update.replace("other", "world");
    for _ in 0..2 {
        let answer = ask_as(executor, &limited, &own, json!({})).await;
        assert_eq!(answer.get("errors"), None, "{answer}");
    }
    let other = ask_as(executor, &limited, &own.replace("New.", "Else."), json!({})).await;
    assert_eq!(other["errors"][0]["extensions"]["code"], "IDEMPOTENCY_MISMATCH", "{other}");
}

#[tokio::test]
async fn whoever_acts_for_another_is_recorded_beside_them() {
    let two = Two::new().await;
    let caller = two.caller(Scope::Edit, None).await;
    let for_grace = Arc::new(Caller { on_behalf_of: Some("grace".to_owned()), ..(*caller).clone() });
    let executor = &two.world.executor;
    for (doc, input) in [("x", ""), ("y", r#", onBehalfOf: "joan""#)] {
        let edit = format!(
            r#"mutation {{ proposeEdit(input: {{programId: "world", edits: [{{setDoc: {{ref: "world", doc: "{doc}"}}}}]{input}}}) {{ outcome {{ __typename }} }} }}"#
        );
        assert_eq!(ask_as(executor, &for_grace, &edit, json!({})).await.get("errors"), None);
    }
    let undo = r#"mutation { undo(input: {programId: "world"}) { outcome { __typename } } }"#;
    assert_eq!(ask_as(executor, &for_grace, undo, json!({})).await.get("errors"), None);
    let history =
        r#"{ program(name: "world") { history(first: 3) { nodes { actor { name } onBehalfOf } } } }"#;
    let history = two.world.data(history, json!({})).await;
    let nodes = history["program"]["history"]["nodes"].as_array().expect("it has entries").clone();
    let behalf: Vec<&str> = nodes.iter().filter_map(|node| node["onBehalfOf"].as_str()).collect();
    assert_eq!(behalf, ["grace", "joan", "grace"]);
    assert!(nodes.iter().all(|node| node["actor"]["name"] == "ada"));
}

#[test]
fn an_owner_may_do_everything_for_ever() {
    let owner = Grant::owner();
    assert!(Scope::ALL.into_iter().all(|scope| owner.includes(scope)) && owner.only().is_none());
}

//! Tokens on the command line: who needs one, and what it is good for.

use serde_json::{Value, json};

use crate::serve::{LOG, Server};
use crate::tool::Place;

/// The code of the first error of an answer; empty without errors.
fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_default()
}

fn bearer(secret: &Value) -> String {
    format!("authorization: Bearer {}\r\n", secret.as_str().expect("it is shown"))
}

const LIST: &str = "{ programs { nodes { name } } }";

#[test]
fn tokens_are_made_listed_and_revoked_in_a_database() {
    let place = Place::with_example("fib.lm");
    place.ok(&["import", "fib.lm"]);
    let made = place.run(&["token", "create", "planner", "--scope", "edit,simulate", "--expires-in", "90d"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let secret = made.stdout.trim();
    assert!(secret.starts_with("lml_") && secret.len() == 56, "the secret alone: {secret}");
    place.ok(&["token", "create", "reader", "--scope", "read", "--program", "fib", "--kind", "tool"]);
    place.fails(&["token", "create", "reader", "--scope", "read"], 5, "NAME_TAKEN");
    place.fails(&["token", "create", "other", "--scope", "read", "--program", "nobody"], 3, "NOT_FOUND");
    assert_eq!(place.run(&["token", "create", "other"]).code, Some(2), "a scope is needed");

    let listed = place.json(&["token", "list"]);
    let told = |at: usize, name: &str| listed[at][name].clone();
    assert_eq!((told(0, "name"), told(0, "scopes")), ("planner".into(), json!(["EDIT", "SIMULATE"])));
    assert_eq!((told(0, "kind"), told(1, "kind")), ("AGENT".into(), "TOOL".into()));
    assert!(told(0, "expires").is_string() && told(1, "expires").is_null() && told(0, "programs").is_null());
    assert_eq!(told(1, "programs").as_array().map(Vec::len), Some(1));
    assert!(!listed.to_string().contains(secret));
    assert!(place.ok(&["token", "list"]).contains("planner"));

    place.ok(&["token", "revoke", "planner"]);
    place.fails(&["token", "revoke", "planner"], 3, "NOT_FOUND");
    place.ok(&["token", "revoke", told(0, "id").as_str().expect("it has an id")]);
    assert_eq!(place.json(&["token", "list"]).as_array().map(Vec::len), Some(1));
    assert_eq!(place.json(&["token", "list", "--all"]).as_array().map(Vec::len), Some(2));
    // Whoever can open the database needs none.
    let caller = place.json(&["token", "show"]);
    assert_eq!((&caller["author"], &caller["token"]), (&json!("ada"), &Value::Null));
    assert_eq!(caller["scopes"], json!(["READ", "EDIT", "SIMULATE", "ADMIN"]));
    assert_eq!(place.json(&["program", "list"]).as_array().map(Vec::len), Some(1));
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

#[test]
fn from_the_first_token_on_everybody_needs_one() {
    let place = Place::new();
    let server = Server::start(&place);
    assert_eq!(code(&server.ask(LIST)), "");
    let admin = place.json(&["token", "create", "root", "--scope", "admin", "--kind", "human"]);
    assert_eq!(code(&server.ask(LIST)), "UNAUTHENTICATED");
    let told = place.fails(&["program", "list"], 4, "UNAUTHENTICATED");
    assert!(told.contains("`LMLANG_TOKEN`"), "{told}");
    let secret = admin["secret"].as_str().expect("it is shown");
    let with = |args: &[&str]| {
        let mut command = place.command();
        command.env("LMLANG_TOKEN", secret).args(args).output().expect("the binary runs")
    };
    assert!(with(&["program", "list"]).status.success());
    assert!(with(&["program", "list", "--server", &format!("http://{}", server.address)]).status.success());
    let shown = with(&["config", "show", "--origin", "--json"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("LMLANG_TOKEN") && !shown.contains(secret), "{shown}");

    let told = |args: &[&str]| String::from_utf8_lossy(&with(args).stdout).into_owned();
    let caller: Value = serde_json::from_str(&told(&["token", "show", "--json"])).expect("a document");
    assert_eq!((&caller["author"], &caller["kind"]), (&json!("root"), &json!("HUMAN")), "{caller}");
    assert_eq!(
        (&caller["token"]["id"], &caller["token"]["name"]),
        (&admin["id"], &json!("root")),
        "{caller}"
    );
    assert!(told(&["server", "show"]).contains(&server.address), "it says who answers");

    // Its name is the author's, whatever the caller says.
    let made = with(&["checkpoint", "create", "fib", "c"]);
    assert!(made.status.success(), "{made:?}");
    let lie = format!("{}lmlang-author: mallory\r\nlmlang-author-kind: HUMAN\r\n", bearer(&admin["secret"]));
    let answer = server.ask_as(
        &lie,
        "mutation { createCheckpoint(input: { programId: \"fib\", name: \"d\" }) { checkpoint { actor { name kind } } } }",
    );
    let actor = &answer["data"]["createCheckpoint"]["checkpoint"]["actor"];
    assert_eq!(*actor, json!({ "name": "root", "kind": "HUMAN" }), "{answer}");
    let history = server.ask_as(
        &bearer(&admin["secret"]),
        "{ program(name: \"fib\") { history(first: 2) { nodes { actor { name } onBehalfOf } } } }",
    );
    let nodes = &history["data"]["program"]["history"]["nodes"];
    assert_eq!(nodes[0], json!({ "actor": { "name": "root" }, "onBehalfOf": "mallory" }), "{history}");
    assert_eq!(nodes[1], json!({ "actor": { "name": "root" }, "onBehalfOf": "ada" }), "{history}");

    let made = with(&["token", "create", "reader", "--scope", "read", "--json"]);
    let reader: Value = serde_json::from_slice(&made.stdout).expect("a document");
    let refused = server.ask_as(
        &bearer(&reader["secret"]),
        "mutation { undo(input: { programId: \"fib\" }) { outcome { __typename } } }",
    );
    assert_eq!(code(&refused), "FORBIDDEN");
    assert_eq!(refused["errors"][0]["message"], "`undo` needs the scope `EDIT`");
    assert!(with(&["token", "revoke", "reader"]).status.success());
    assert_eq!(code(&server.ask_as(&bearer(&reader["secret"]), LIST)), "UNAUTHENTICATED");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_public_address_needs_tokens_or_leave() {
    let place = Place::new();
    let told = place.fails(&["serve", "--listen", "0.0.0.0:0"], 1, "CANNOT_LISTEN");
    assert!(told.contains("loopback") && !place.path().join(".lmlang").exists(), "{told}");
    place.fails(&["serve", "--listen", "nowhere"], 2, "BAD_SETTINGS");

    let secret = place.ok(&["token", "create", "root", "--scope", "admin"]);
    let server = Server::start_with(&place, &["--listen", "0.0.0.0:0"]);
    assert_eq!(code(&server.ask(LIST)), "UNAUTHENTICATED");
    assert_eq!(code(&server.ask_as(&bearer(&json!(secret.trim())), LIST)), "");
    // The door does not open when the last token is gone.
    let revoked = place.run(&["token", "revoke", "root", "--token", secret.trim()]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    assert_eq!(code(&server.ask(LIST)), "UNAUTHENTICATED");
    assert_eq!(server.stop(), Some(0));
    place.fails(&["serve", "--listen", "0.0.0.0:0"], 1, "CANNOT_LISTEN");

    let server = Server::start_with(&place, &["--listen", "0.0.0.0:0", "--insecure-no-auth"]);
    assert_eq!(code(&server.ask(LIST)), "");
    assert_eq!(code(&server.ask_as("authorization: Bearer lml_x\r\n", LIST)), "UNAUTHENTICATED");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn an_address_that_is_taken_is_told_with_a_way_out() {
    let place = Place::new();
    let server = Server::start(&place);
    let other = Place::new();
    let told = other.fails(&["serve", "--listen", &server.address], 1, "CANNOT_LISTEN");
    assert!(told.contains("`--listen` takes another address") && told.contains(&server.address), "{told}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn what_is_refused_is_logged_with_its_request_and_without_its_secret() {
    let place = Place::new();
    // As much as there is to say.
    place.write("lmlang.toml", "log = \"trace\"\n");
    let server = Server::start(&place);
    let made = place.json(&["token", "create", "reader", "--scope", "read"]);
    let (id, secret) =
        (made["id"].as_str().expect("it has one"), made["secret"].as_str().expect("it is shown"));
    let undo = "mutation { undo(input: { programId: \"fib\" }) { outcome { __typename } } }";
    server.ask_as(&format!("{}x-request-id: forbidden-1\r\n", bearer(&made["secret"])), undo);
    let other = format!("lml_{id}_{}", "x".repeat(43));
    server.ask_as(&format!("{}x-request-id: unknown-1\r\n", bearer(&json!(other))), undo);
    server.ask_as("x-request-id: missing-1\r\n", undo);
    server.try_ask_as("x-request-id: elsewhere-1\r\norigin: http://evil.example\r\n", undo);
    assert_eq!(server.stop(), Some(0));
    let log = place.read(LOG);
    let lines = |request: &str| -> Vec<Value> {
        let lines = log.lines().filter(|line| line.contains(request) && line.contains("\"INFO\""));
        lines.map(|line| serde_json::from_str(line).expect("a line is an object")).collect()
    };
    let forbidden = &lines("forbidden-1")[0];
    assert_eq!(
        (&forbidden["code"], &forbidden["path"]),
        (&json!("FORBIDDEN"), &json!("undo")),
        "{forbidden}"
    );
    assert_eq!((&forbidden["author"], &forbidden["token"]), (&json!("reader"), &json!(id)), "{forbidden}");
    let unknown = lines("unknown-1");
    assert!(unknown.iter().any(|line| line["token"] == id), "{unknown:?}");
    assert!(unknown.iter().any(|line| line["code"] == "UNAUTHENTICATED"), "{unknown:?}");
    assert_eq!(lines("missing-1")[0]["code"], "UNAUTHENTICATED");
    assert_eq!(lines("elsewhere-1")[0]["message"], "turned away");
    for secret in [secret, &secret[13..], &other[13..]] {
        assert!(!log.contains(secret), "a secret is logged");
    }
}

/// Everything beside GraphQL's errors that somebody with a token is refused.
#[test]
fn whoever_is_refused_stands_in_the_log() {
    let place = Place::new();
    place.write("lmlang.toml", "log = \"info\"\n");
    // With its samples.
    assert_eq!(Server::start(&place).stop(), Some(0));
    let made = place.json(&["token", "create", "planner", "--scope", "admin", "--program", "fib"]);
    let (id, bearer) = (made["id"].clone(), bearer(&made["secret"]));
    let server = Server::start(&place);
    let json = "content-type: application/json\r\n";
    let graphql = |query: &str| json!({ "query": query }).to_string();
    let rejected = graphql(
        r#"mutation { proposeEdit(input: {programId: "fib", edits: [{removeNode: {ref: "n999"}}]}) { outcome { __typename } } }"#,
    );
    let stale = graphql(
        r#"mutation { undo(input: {programId: "fib", expectedHead: "r1"}) { outcome { __typename } } a: createCheckpoint(input: {programId: "fib", name: "c"}) { checkpoint { name } } b: proposeEdit(input: {programId: "fib", edits: [{setDoc: {ref: "fibonacci", doc: "x"}}]}) { outcome { __typename } } c: undo(input: {programId: "fib", expectedHead: "r1"}) { outcome { __typename } } }"#,
    );
    let requests = [
        ("module", "GET /programs/bank/wasm", "", String::new(), "code", "NOT_FOUND"),
        (
            "import",
            "POST /programs/bank/wasm",
            "content-type: application/wasm\r\n",
            "x".to_owned(),
            "code",
            "",
        ),
        ("backup", "POST /backup", json, "{}".to_owned(), "code", "FORBIDDEN"),
        ("metrics", "GET /metrics", "", String::new(), "code", "FORBIDDEN"),
        ("body", "POST /graphql", json, "{".to_owned(), "code", "BAD_REQUEST"),
        ("rejected", "POST /graphql", json, rejected, "outcome", "EditRejected"),
        ("stale", "POST /graphql", json, stale, "outcome", "EditConflict"),
    ];
    for (name, line, headers, body, ..) in &requests {
        let headers = format!("{bearer}{headers}x-request-id: {name}-1\r\n");
        let answer = server.exchange(line, &headers, body);
        assert!(answer.contains(&format!("x-request-id: {name}-1\r\n")), "{name}: {answer}");
    }
    assert_eq!(server.stop(), Some(0));
    let log = place.read(LOG);
    for (name, .., field, expect) in &requests {
        let mark = format!("\"{name}-1\"");
        let lines = log.lines().filter(|line| line.contains(&mark));
        let lines: Vec<Value> =
            lines.map(|line| serde_json::from_str(line).expect("it is an object")).collect();
        let is_it = |line: &&Value| line[*field].as_str().is_some_and(|found| found.contains(expect));
        let found = lines.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {log}"));
        assert_eq!((&found["author"], &found["token"]), (&json!("planner"), &id), "{found}");
    }
}

//! `lmlang mcp` and `lmlang tool` as real processes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::tool::Place;

/// A process that speaks lines.
pub(crate) struct Wire {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Wire {
    pub(crate) fn open(place: &Place, args: &[&str]) -> Wire {
        let mut command = place.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Wire { child, input, output }
    }

    fn ask(&mut self, line: &str) -> Value {
        writeln!(self.input, "{line}").expect("somebody reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("it can be read");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    pub(crate) fn method(&mut self, method: &str, params: &Value) -> Value {
        self.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string())
    }

    /// Ends the input; the process ends in order, and has written nothing more.
    pub(crate) fn close(self) -> String {
        let Wire { child, input, mut output } = self;
        drop(input);
        let mut rest = String::new();
        output.read_line(&mut rest).expect("it can be read");
        assert_eq!(rest, "");
        let done = child.wait_with_output().expect("it ends");
        assert_eq!(done.status.code(), Some(0));
        String::from_utf8_lossy(&done.stderr).into_owned()
    }
}

/// CUE-80: standard output has lines of the protocol and nothing else.
#[test]
fn cue_80_an_agent_works_in_an_empty_folder() {
    let place = Place::new();
    let mut wire = Wire::open(&place, &["mcp"]);
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client });
    let met = wire.method("initialize", &params);
    assert_eq!(met["result"]["protocolVersion"], "2024-11-05", "{met}");
    let wrong = wire.ask(r#"{"jsonrpc":"#);
    assert_eq!((&wrong["error"]["code"], &wrong["error"]["data"]["position"]), (&json!(-32700), &json!(11)));
    let text = "module m\n\npub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 2) }\n";
    let create = json!({ "name": "program", "arguments": { "action": "create", "name": "p", "text": text } });
    let made = wire.method("tools/call", &create);
    assert_eq!(made["result"]["isError"], false, "{made}");
    let unknown = wire.method("raed_doc", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let history = wire.method("history", &json!({ "program": "p" }));
    assert!(
        history["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("by ada")),
        "{history}"
    );
    wire.close();
    let ran = place.ok(&["run", "p", "twice", "4", "--at", "main"]);
    assert_eq!(ran, "i64:8\n");
    let kinds = place.ok(&[
        "tool",
        "call",
        "graphql",
        r#"{"action":"run","document":"{ program(name: \"p\") { revision { actor { kind } } } }"}"#,
    ]);
    assert!(kinds.contains("AGENT"), "{kinds}");
}

/// CUE-17, CUE-25: 1007 with the lock file, who has it, for how long, and what to do.
#[test]
fn cue_17_a_database_that_another_process_has_is_told() {
    let place = Place::new();
    let mut first = Wire::open(&place, &["mcp"]);
    let listed = first.method("program", &json!({ "action": "list" }));
    assert_eq!(listed["result"]["isError"], false, "{listed}");
    let mut second = Wire::open(&place, &["mcp"]);
    let refused = second.method("program", &json!({ "action": "list" }));
    let error = &refused["error"];
    assert_eq!((&error["code"], &error["message"]), (&json!(1007), &json!("Lock Error")), "{refused}");
    assert_eq!(error["data"]["holder_pid"], first.child.id(), "{refused}");
    assert!(
        error["data"]["lock_file"].as_str().is_some_and(|file| file.ends_with("lmlang.db.lock")),
        "{refused}"
    );
    assert!(
        error["data"]["lock_age_seconds"].is_u64() && error["data"]["suggestion"].is_string(),
        "{refused}"
    );
    first.close();
    // The next request finds it free.
    let listed = second.method("program", &json!({ "action": "list" }));
    assert_eq!(listed["result"]["isError"], false, "{listed}");
    second.close();
}

/// CUE-15: 1005 with the address, how long was waited, and why.
#[test]
fn cue_15_a_server_that_does_not_answer_is_told() {
    let place = Place::new();
    // Nothing listens where a listener was just closed.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it has an address"));
    drop(listener);
    let mut wire = Wire::open(&place, &["--server", &url, "mcp"]);
    for _ in 0..2 {
        let refused = wire.method("program", &json!({ "action": "list" }));
        let error = &refused["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!(1005), &json!("Network Error")), "{refused}");
        assert!(error["data"]["url"].as_str().is_some_and(|told| told.starts_with(&url)), "{refused}");
        assert!(
            error["data"]["timeout_ms"].is_u64() && error["data"]["error_detail"].is_string(),
            "{refused}"
        );
    }
    wire.close();
}

#[test]
fn tools_are_called_from_the_command_line() {
    let place = Place::with_example("fib.lm");
    place.ok(&["import", "fib.lm"]);
    let listed = place.json(&["tool", "list"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(15));
    let arguments = r#"{"program":"fib","function":"fibonacci::fib","args":[10]}"#;
    let told = place.ok(&["tool", "call", "simulate", arguments]);
    assert!(told.starts_with("; program fib @ r1\n") && told.contains("returned i64:55"), "{told}");
    let json: Value = serde_json::from_str(&place.ok(&["tool", "call", "simulate", "--json", arguments]))
        .expect("it is JSON");
    assert_eq!(json["structuredContent"]["outcome"], "returned");
    let piped = place.run_with(&["tool", "call", "simulate", "-"], arguments);
    assert!(piped.stdout.contains("returned i64:55"), "{piped:?}");
    place.fails(&["tool", "call", "simulte", arguments], 3, "METHOD_NOT_FOUND");
    place.fails(&["tool", "call", "simulate", "{}"], 2, "VALIDATION_ERROR");
    place.fails(&["tool", "call", "simulate", "{"], 2, "BAD_ARGUMENT");
    let edit = r#"{"program":"fib","base_revision":"r1","edits":[{"removeFunction":{"ref":"f999"}}]}"#;
    let rejected = place.run(&["tool", "call", "propose_structured_edit", edit]);
    assert_eq!(rejected.code, Some(6), "{rejected:?}");
    let absent = place.run(&["tool", "call", "program", r#"{"action":"overview","program":"fob"}"#]);
    assert_eq!(absent.code, Some(3), "{absent:?}");
}

#[test]
fn clients_are_told_how_to_start_it() {
    let place = Place::new();
    for (client, place_of_args) in [
        ("claude-code", "/mcpServers/lmlang/args"),
        ("claude-desktop", "/mcpServers/lmlang/args"),
        ("cursor", "/mcpServers/lmlang/args"),
        ("vscode", "/servers/lmlang/args"),
    ] {
        let printed = place.ok(&["mcp", "install", "--client", client]);
        let json: Value = serde_json::from_str(&printed).expect("it is JSON");
        let args = json.pointer(place_of_args).unwrap_or_else(|| panic!("{printed}"));
        assert_eq!((&args[0], &args[2]), (&json!("--data"), &json!("mcp")), "{printed}");
    }
    let secret = format!("lml_abcdefgh_{}", "x".repeat(43));
    let codex = place.run(&[
        "--server",
        "http://127.0.0.1:4000",
        "--token",
        &secret,
        "mcp",
        "install",
        "--client",
        "codex",
        "--print",
    ]);
    assert!(codex.stdout.contains("[mcp_servers.lmlang]"), "{codex:?}");
    assert!(codex.stdout.contains(r#"args = ["--server", "http://127.0.0.1:4000", "mcp"]"#), "{codex:?}");
    assert!(!codex.stdout.contains(&secret) && codex.stderr.contains("LMLANG_TOKEN"), "{codex:?}");
}

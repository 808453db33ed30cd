//! A server as a process: it says when it is ready, answers, holds its database and stops when asked to.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::tool::{Done, Place};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a server in a place says everything else.
pub(crate) const LOG: &str = "server.log";

/// A server on a free port with a database in its place.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts a server and waits for the document that it prints when it is ready.
    pub(crate) fn start(place: &Place) -> Server {
        Server::start_with(place, &["--listen", "127.0.0.1:0"])
    }

    /// The same with other flags.
    pub(crate) fn start_with(place: &Place, flags: &[&str]) -> Server {
        let mut command = place.command();
        command.args(["serve", "--json"]).args(flags);
        Server::start_as(command, place)
    }

    /// Starts a server by a command, and keeps what it says beside its document in a place.
    pub(crate) fn start_as(command: Command, place: &Place) -> Server {
        Server::start_logged(command, log(place))
    }

    /// The same, where what it says beside its document goes elsewhere.
    fn start_logged(command: Command, log: impl Into<Stdio>) -> Server {
        let (child, printed) = started(command, log, "}");
        let addresses: Value = serde_json::from_str(&printed).expect("one document");
        let graphql = addresses["graphql"].as_str().expect("it has an address");
        let address = graphql.trim_start_matches("http://").trim_end_matches("/graphql").to_owned();
        Server { child, address }
    }

    /// Starts a server by what is typed behind `lmlang`, and gives what it prints, as it is on the port and in the folder
    /// that it has when nothing is said.
    pub(crate) fn start_shown(place: &Place, typed: &str) -> (Server, String) {
        let mut command = place.command();
        command.args(typed.split(' ')).env("LMLANG_LISTEN", "127.0.0.1:0");
        let (child, printed) = started(command, log(place), "Database");
        let graphql =
            printed.lines().find_map(|line| line.strip_prefix("GraphQL ")).expect("it has an address");
        let address = graphql.trim().trim_start_matches("http://").trim_end_matches("/graphql").to_owned();
        let folder = format!("{}/", place.path().display());
        let shown = printed.replace(&address, "127.0.0.1:4000").replace(&folder, "");
        (Server { child, address }, shown)
    }

    /// The answer to a GraphQL document.
    pub(crate) fn ask(&self, document: &str) -> Value {
        self.try_ask(document).expect("an answer comes")
    }

    /// The answer to a GraphQL document with variables.
    pub(crate) fn ask_with(&self, document: &str, variables: &Value) -> Value {
        self.post(&json!({ "query": document, "variables": variables })).expect("an answer comes")
    }

    /// The answer to a GraphQL document; `None` when the server is not there to give it.
    pub(crate) fn try_ask(&self, document: &str) -> Option<Value> {
        self.post(&json!({ "query": document }))
    }

    /// The answer to a GraphQL document that is sent with more headers, each with the end of its line.
    pub(crate) fn ask_as(&self, headers: &str, document: &str) -> Value {
        self.try_ask_as(headers, document).expect("an answer comes")
    }

    /// The same; `None` when what comes is none of GraphQL's.
    pub(crate) fn try_ask_as(&self, headers: &str, document: &str) -> Option<Value> {
        self.send(headers, &json!({ "query": document }))
    }

    fn post(&self, request: &Value) -> Option<Value> {
        self.send("", request)
    }

    /// The answer to a request with more headers, each with the end of its line; `None` when what comes is none of GraphQL's.
    pub(crate) fn send(&self, headers: &str, request: &Value) -> Option<Value> {
        let body = request.to_string();
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out can be set");
        write!(
            stream,
            "POST /graphql HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json\r\n\
             {headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (start, end) = (answer.find('{')?, answer.rfind('}')?);
        serde_json::from_str(&answer[start..=end]).ok()
    }

    /// What comes back for a request line, headers, each with the end of its line, and a body, heads included.
    pub(crate) fn exchange(&self, line: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out can be set");
        let (host, length) = (&self.address, body.len());
        let standing = format!("host: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n");
        write!(stream, "{line} HTTP/1.1\r\n{standing}{headers}\r\n{body}").expect("it can be sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer comes");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ends the process at once, as a crash would.
    pub(crate) fn kill(&self) {
        let killed = Command::new("kill").args(["-KILL", &self.child.id().to_string()]).status();
        assert!(killed.expect("a signal can be sent").success());
    }

    /// Asks the server to stop and waits until it has.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(asked.expect("a signal can be sent").success());
        self.child.wait().expect("it ends").code()
    }
}

/// Where a server in a place says what is not its document.
fn log(place: &Place) -> File {
    File::create(place.path().join(LOG)).expect("the file can be made")
}

/// A server as a process, with what it has printed up to a line that begins in some way.
fn started(mut command: Command, log: impl Into<Stdio>, last: &str) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("it starts");
    let mut printed = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("standard output is piped")).lines();
    while !printed.lines().last().is_some_and(|line| line.starts_with(last)) {
        let line = lines.next().expect("the server prints its addresses").expect("as text");
        printed.push_str(&line);
        printed.push('\n');
    }
    (child, printed)
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves its server; one that was stopped has none to end any more.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}

#[test]
fn a_server_loads_samples_holds_its_database_and_stops_in_order() {
    let place = Place::new();
    let server = Server::start(&place);
    let programs = server.ask("{ programs(first: 50) { totalCount } }");
    assert!(programs["data"]["programs"]["totalCount"].as_u64() >= Some(12), "{programs}");
    let told = place.fails(&["doctor"], 5, "DATABASE_HELD");
    assert!(told.contains(&format!("process {}", server.child.id())), "{told}");
    assert_eq!(server.stop(), Some(0));
    place.ok(&["doctor"]);

    place.ok(&["program", "delete", "fib", "--yes"]);
    let server = Server::start(&place);
    let deleted = server.ask("{ program(name: \"fib\") { id } }");
    assert_eq!(deleted["data"]["program"], Value::Null, "samples are loaded once");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_goes_on_whose_log_nobody_reads_any_more() {
    let place = Place::new();
    let mut command = place.command();
    command.args(["serve", "--json", "--no-samples", "--listen", "127.0.0.1:0"]).env("LMLANG_LOG", "debug");
    let mut server = Server::start_logged(command, Stdio::piped());
    drop(server.child.stderr.take());
    for _ in 0..3 {
        let told = server.ask("{ serverInfo { version } }");
        assert!(told["data"]["serverInfo"]["version"].is_string(), "{told}");
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
#[cfg(unix)]
fn a_server_answers_however_many_connections_ask_for_nothing() {
    let place = Place::new();
    let mut command = Command::new("/bin/sh");
    let typed = "ulimit -n 128; exec \"$0\" serve --json --no-samples --listen 127.0.0.1:0";
    let lmlang = place.command();
    command.args(["-c", typed]).arg(lmlang.get_program()).current_dir(place.path()).stdin(Stdio::null());
    command.env_clear().envs(lmlang.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let server = Server::start_as(command, &place);
    let connect = |_| TcpStream::connect(&server.address).expect("it accepts");
    let idle: Vec<TcpStream> = (0..200).map(connect).collect();
    let told = server.ask("{ serverInfo { limits } }");
    assert_eq!(told["data"]["serverInfo"]["limits"]["connections"], 96, "{told}");
    drop(idle);
    assert_eq!(server.stop(), Some(0));
    let log = std::fs::read_to_string(place.path().join(LOG)).expect("it is there");
    assert!(log.contains("all connections are taken"), "{log}");
}

#[test]
fn loading_samples_goes_on_where_it_was_interrupted() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank.lm");
    place.ok(&["import", sample]);
    let server = Server::start(&place);
    let programs = server.ask("{ programs(first: 50) { totalCount } }");
    assert!(programs["data"]["programs"]["totalCount"].as_u64() >= Some(12), "{programs}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn an_edit_over_graphql_is_undone_and_redone_on_the_command_line() {
    let place = Place::new();
    let server = Server::start(&place);
    let edited = server.ask(
        "mutation { proposeEdit(input: { programId: \"fib\", edits: [{ addText: { module: \"fibonacci\", text: \
         \"pub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 2) }\" } }] }) { outcome { __typename } } }",
    );
    assert_eq!(edited["data"]["proposeEdit"]["outcome"]["__typename"], "EditApplied", "{edited}");
    assert_eq!(server.stop(), Some(0));

    let hash = |at: &str| place.json(&["program", "show", "fib", "--at", at])["rootHash"].clone();
    assert!(place.ok(&["diff", "fib", "r1"]).contains("+pub func twice"));
    let done: Done = place.run(&["undo", "fib", "--expected-head", "r1"]);
    assert_eq!(done.code, Some(5), "{done:?}");
    assert_eq!(place.json(&["undo", "fib", "--dry-run"])["committed"], false);
    assert_eq!(place.json(&["undo", "fib", "--expected-head", "r2"])["revision"], "r3");
    assert_eq!(hash("main"), hash("r1"));
    assert_eq!(place.json(&["redo", "fib"])["target"], "r2");
    assert_eq!(hash("main"), hash("r2"));
    assert_eq!(place.json(&["undo", "fib", "--to", "r1"])["revision"], "r5");
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

#[test]
fn commands_ask_the_server_that_has_the_database_open() {
    let place = Place::with_example("fib.lm");
    let server = Server::start(&place);
    let url = format!("http://{}", server.address);
    let list = place.json(&["program", "list"]);
    assert!(list.as_array().is_some_and(|programs| programs.len() >= 12), "{list}");
    place.ok(&["import", "fib.lm", "--name", "mine", "-m", "a first try"]);
    place.fails(&["import", "fib.lm", "--name", "mine"], 5, "NAME_TAKEN");
    place.ok(&["checkpoint", "create", "mine", "first"]);
    server.ask(
        "mutation { proposeEdit(input: { programId: \"mine\", edits: [{ addText: { module: \"fibonacci\", text: \
         \"pub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 2) }\" } }] }) { outcome { __typename } } }",
    );
    assert!(place.ok(&["diff", "mine", "first"]).contains("+pub func twice"));
    assert_eq!(place.json(&["undo", "mine"])["revision"], "r4");
    let history = place.json(&["history", "mine", "-n", "4"]);
    let told = |at: usize, name: &str| history[at][name].clone();
    assert_eq!((told(0, "kind"), told(0, "author")), ("UNDO".into(), "ada".into()), "{history}");
    assert_eq!((told(1, "kind"), told(1, "author")), ("EDIT".into(), "anonymous".into()), "{history}");
    assert_eq!((told(2, "kind"), told(2, "checkpoint")), ("CHECKPOINT".into(), "first".into()), "{history}");
    assert_eq!((told(3, "kind"), told(3, "message")), ("CREATE".into(), "a first try".into()), "{history}");
    place.ok(&["export", "mine", "mine.lm"]);

    // From elsewhere it has to be named.
    let elsewhere = Place::new();
    elsewhere.fails(&["program", "list"], 3, "NO_DATABASE");
    assert_eq!(elsewhere.json(&["program", "show", "mine", "--server", &url])["revision"], "r4");
    elsewhere.ok(&["program", "delete", "mine", "--yes", "--server", &url]);
    elsewhere.fails(&["history", "mine", "--server", &url], 3, "NOT_FOUND");
    elsewhere.fails(&["program", "list", "--server", "localhost"], 2, "BAD_SETTINGS");
    assert_eq!(server.stop(), Some(0));
    elsewhere.fails(&["program", "list", "--server", &url], 1, "UNREACHABLE");
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

#[test]
fn lists_go_on_to_their_last_page() {
    let place = Place::new();
    let server = Server::start(&place);
    for hundred in 0..6 {
        let one = |at| {
            format!(
                "b{at}: createBranch(input: {{ programId: \"fib\", name: \"b{hundred}{at:02}\" }}) {{ __typename }}"
            )
        };
        let made = server.ask(&format!("mutation {{ {} }}", (0..100).map(one).collect::<String>()));
        assert!(made["errors"].is_null(), "{made}");
    }
    let listed = place.json(&["branch", "list", "fib"]);
    let names: Vec<&str> =
        listed.as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names.len(), 601);
    assert!(names.is_sorted() && names.ends_with(&["b599", "main"]), "{names:?}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_caller_says_who_it_is() {
    let place = Place::new();
    let server = Server::start(&place);
    let told = "lmlang-author: planner\r\nlmlang-author-kind: agent\r\nuser-agent: bot/1\r\n";
    let document = "mutation { createCheckpoint(input: { programId: \"fib\", name: \"c\" }) { checkpoint { actor { \
                    name kind client } } } }";
    let made = server.ask_as(told, document);
    let actor = &made["data"]["createCheckpoint"]["checkpoint"]["actor"];
    assert_eq!(*actor, json!({ "name": "planner", "kind": "AGENT", "client": "bot/1" }), "{made}");
    let refused = server.ask_as("lmlang-author-kind: SYSTEM\r\n", document);
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_REQUEST", "{refused}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn single_nodes_run_with_values_for_their_open_ports() {
    let place = Place::new();
    let server = Server::start(&place);
    let run = |inputs: &str| {
        server.ask(&format!(
            "{{ program(name: \"fib\") {{ simulateNodes(nodes: [\"n20\"], inputs: [{inputs}]) {{ outcome {{ ... on \
             Returned {{ values }} }} trace {{ steps {{ node }} }} }} }} }}"
        ))
    };
    let bound = run("{ port: \"f2.0\", value: -1 }, { port: \"n19\", value: \"i64:0\" }");
    let found = &bound["data"]["program"]["simulateNodes"];
    assert_eq!(found["outcome"]["values"], json!(["bool:false"]), "{bound}");
    assert_eq!(found["trace"]["steps"], json!([{ "node": "n20" }]));
    let open = run("{ port: \"f2.0\", value: 1 }");
    assert_eq!(open["errors"][0]["extensions"]["code"], "BAD_REQUEST", "{open}");
    assert_eq!(server.stop(), Some(0));
}

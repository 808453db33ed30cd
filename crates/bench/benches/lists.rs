//! Reading over GraphQL: a list of a thousand nodes and one small field, beside a bare axum handler that has the same
//! rows as structs and writes the same JSON with serde_json.
//!
//! What counts is the processor time of the server for a request; the rate of two clients on the same processors is told
//! beside it. `cargo xtask bench lists`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use lmlang_bench::load::{Caller, drive, once};
use lmlang_bench::process::{Server, start_lmlang};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use lmlang_ir::text::{Detail, print_program};
use lmlang_testkit::shapes::{self, Shape};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Clients, one for each processor of the smallest machine.
const CLIENTS: usize = 2;
/// How long each takes its turn.
const TURN: Duration = Duration::from_millis(1_500);
/// Nodes of the program, which has one function.
const NODES: usize = 5_000;

/// A thousand nodes of a function with six fields each.
const LIST: &str = "query($id: ID!, $function: String!) { program(id: $id) { function(ref: $function) { \
                    nodes(first: 1000) { nodes { ref op opcode label index effect } } } } }";
/// One small field.
const NAME: &str = "query($id: ID!) { program(id: $id) { name } }";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [peer, folder] if peer == "peer" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(serve(Path::new(folder)))
        }
        [] => measure(),
        _ => Err("usage: lists".into()),
    }
}

/// A node, as the handler has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    #[serde(rename = "ref")]
    reference: String,
    op: String,
    opcode: String,
    label: Option<String>,
    index: u32,
    effect: String,
}

/// What the handler has.
#[derive(Serialize, Deserialize)]
struct Rows {
    name: String,
    nodes: Vec<Row>,
}

/// What a request says, as the server is told it too.
#[derive(Deserialize)]
struct Asked {
    query: String,
}

/// Serves until the process is ended. The folder holds the rows as JSON.
async fn serve(folder: &Path) -> Result<(), Failure> {
    let rows: Rows = serde_json::from_slice(&fs::read(folder.join("rows.json"))?)?;
    let router = Router::new().route("/graphql", post(answer)).with_state(Arc::new(rows));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // Without it an answer could wait for the acknowledgement of the one before.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, router).await?;
    Ok(())
}

async fn answer(State(rows): State<Arc<Rows>>, Json(asked): Json<Asked>) -> axum::response::Response {
    use axum::response::IntoResponse;
    #[derive(Serialize)]
    struct Data<T> {
        data: T,
    }
    #[derive(Serialize)]
    struct InProgram<T> {
        program: T,
    }
    #[derive(Serialize)]
    struct InFunction<'a> {
        function: InNodes<'a>,
    }
    #[derive(Serialize)]
    struct InNodes<'a> {
        nodes: Page<'a>,
    }
    #[derive(Serialize)]
    struct Page<'a> {
        nodes: &'a [Row],
    }
    #[derive(Serialize)]
    struct Named<'a> {
        name: &'a str,
    }
    if asked.query == LIST {
        let function = InNodes { nodes: Page { nodes: &rows.nodes } };
        Json(Data { data: InProgram { program: InFunction { function } } }).into_response()
    } else {
        Json(Data { data: InProgram { program: Named { name: &rows.name } } }).into_response()
    }
}

/// One who asks the same again and again.
struct Reader {
    body: String,
    /// Bytes of the right answer.
    length: usize,
}

impl Caller for Reader {
    fn request(&mut self, body: &mut String) {
        body.push_str(&self.body);
    }

    fn answered(&mut self, answer: &[u8]) -> Result<(), String> {
        match answer.len() == self.length {
            true => Ok(()),
            false => Err(format!("not the answer: {}", String::from_utf8_lossy(answer))),
        }
    }
}

/// What the rounds of one server with one request came to.
#[derive(Debug, Default)]
struct Found {
    /// Requests in a second.
    rate: Vec<f64>,
    /// Processor time of the server for each, in microseconds.
    cpu: Vec<f64>,
}

fn measure() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("lists-").tempdir_in(target)?;
    let server = start_lmlang(folder.path())?;
    let variables = create(&server)?;
    let ask = |server: &Server, query: &str| {
        once(server.address, &json!({ "query": query, "variables": variables }))
    };
    let (list, name) = (ask(&server, LIST)?, ask(&server, NAME)?);
    let rows = Rows {
        name: serde_json::from_value(name["data"]["program"]["name"].clone())?,
        nodes: serde_json::from_value(list["data"]["program"]["function"]["nodes"]["nodes"].clone())?,
    };
    assert_eq!(rows.nodes.len(), 1_000, "the page is full");
    fs::write(folder.path().join("rows.json"), serde_json::to_vec(&rows)?)?;
    let peer = Server::start(Command::new(std::env::current_exe()?).arg("peer").arg(folder.path()))?;
    assert_eq!(ask(&peer, LIST)?, list, "both give the same list");
    assert_eq!(ask(&peer, NAME)?, name, "both give the same name");

    let turns = [(&peer, LIST), (&server, LIST), (&peer, NAME), (&server, NAME)];
    let mut found: [Found; 4] = Default::default();
    for (server, query) in turns {
        take(server, query, &variables, Duration::from_millis(300), &mut Found::default())?;
    }
    for order in orders(turns.len(), ROUNDS, 1) {
        for at in order {
            let (server, query) = turns[at];
            take(server, query, &variables, TURN, &mut found[at])?;
        }
    }
    server.stop()?;
    peer.stop()?;
    report(&found).publish()?;
    Ok(())
}

/// Makes a program of one function, and gives the variables of the requests.
fn create(server: &Server) -> Result<Value, Failure> {
    let text = print_program(&shapes::program(Shape::FewLarge, NODES, 1).program, Detail::Standard);
    let made = once(
        server.address,
        &json!({
            "query": "mutation($input: CreateProgramInput!) { createProgram(input: $input) { errors { message } \
                      program { programId functions(first: 1) { nodes { ref } } } } }",
            "variables": { "input": { "name": "list", "text": text } },
        }),
    )?;
    let program = &made["data"]["createProgram"]["program"];
    Ok(json!({ "id": program["programId"], "function": program["functions"]["nodes"][0]["ref"] }))
}

/// Lets clients ask one of the servers, and takes down what it came to.
fn take(
    server: &Server,
    query: &str,
    variables: &Value,
    time: Duration,
    found: &mut Found,
) -> Result<(), Failure> {
    let body = json!({ "query": query, "variables": variables });
    let length = once(server.address, &body)?.to_string().len();
    let reader = || Reader { body: body.to_string(), length };
    let idle = server.settle()?;
    let (load, _) = drive(server.address, (0..CLIENTS).map(|_| reader()).collect(), time)?;
    let busy = server.settle()? - idle;
    found.rate.push(load.rate());
    found.cpu.push(busy.as_secs_f64() * 1e6 / load.answered as f64);
    Ok(())
}

fn report([peer_list, list, peer_name, name]: &[Found; 4]) -> Report {
    let mut report = Report::of("lists");
    for (what, found, peer, most) in
        [("1,000 nodes, 6 fields", list, peer_list, 2.5), ("one small field", name, peer_name, 2.0)]
    {
        let cpu = Measured::new(format!("{what}: server CPU"), "us a request", Spread::of(&found.cpu));
        let ratio = Spread::of_ratio(&found.cpu, &peer.cpu);
        report.add(cpu.beside("the handler", ratio).target(Target::AtMost(most)));
        let rate = Measured::new(format!("{what}, {CLIENTS} clients"), "requests/s", Spread::of(&found.rate));
        report.add(rate.beside("the handler", Spread::of_ratio(&found.rate, &peer.rate)));
    }
    report
}

//! Modules that are taken in while their sender goes away, and modules that mean harm.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lmlang_engine::Engine;
use lmlang_graphql::schema::wasm::{self, Progress, Watch};
use lmlang_server::{Hooks, Import, Module};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::real::{Real, start_guarded_over};
use crate::server::{Reply, soon};

const TEXT: &str = "module m\n\nexport \"f\" func f (n: i64) -> (i64) { return (add.i64 n, n) }\n";

/// Says that an import is let go of, done or not.
struct Leaves(UnboundedSender<()>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.send(()).unwrap_or_default();
    }
}

/// What is heard of imports that are held.
struct Heard {
    /// One is as far as it is held.
    held: UnboundedReceiver<()>,
    /// One is let go of.
    left: UnboundedReceiver<()>,
}

/// Holds imports with the message `building` when a function is built, until they are let go of, and those with the message
/// `stored` for good when they are stored.
fn holding(engine: &Engine, held: UnboundedSender<()>, left: UnboundedSender<()>) -> Import {
    let engine = engine.clone();
    Arc::new(move |caller, request, watch| {
        let (engine, held, left) = (engine.clone(), held.clone(), left.clone());
        Box::pin(async move {
            let _left = Leaves(left);
            let message = request.message.clone();
            // What waits for the other end wakes when that goes.
            let (_here, gone): (Sender<()>, Receiver<()>) = channel();
            let (gone, reached) = (Mutex::new(gone), held.clone());
            let watching: Watch = Arc::new(move |progress| {
                watch(progress);
                if matches!(progress, Progress::Built { functions: 1, .. }) {
                    reached.send(()).unwrap_or_default();
                    gone.lock().unwrap().recv().unwrap_or_default();
                }
            });
            match message.as_deref() {
                Some("building") => wasm::import(&engine, &caller, request, watching).await,
                Some("stored") => {
                    let made = wasm::import(&engine, &caller, request, Arc::new(|_| {})).await;
                    held.send(()).unwrap_or_default();
                    std::future::pending::<()>().await;
                    made
                }
                _ => wasm::import(&engine, &caller, request, Arc::new(|_| {})).await,
            }
        })
    })
}

async fn served() -> (Real, Heard) {
    let ((held, hears_held), (left, hears_left)) = (unbounded_channel(), unbounded_channel());
    let hooks = |engine: &Engine| {
        let writes = engine.clone();
        let module: Module = Arc::new(move |grant, request| {
            let engine = writes.clone();
            Box::pin(async move { wasm::module(&engine, &grant, &request).await })
        });
        Hooks { import: holding(engine, held, left), module, ..Hooks::default() }
    };
    let real = start_guarded_over(hooks).await;
    real.program("p", TEXT).await;
    (real, Heard { held: hears_held, left: hears_left })
}

/// Sends bytes to an address; whoever drops the connection hangs up.
async fn sends(real: &Real, path: &str, headers: &str, body: &[u8]) -> TcpStream {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n{headers}\r\n",
        real.server.address,
        body.len()
    );
    let mut stream = TcpStream::connect(real.server.address).await.expect("the server accepts");
    stream.write_all(&[head.as_bytes(), body].concat()).await.expect("the request is sent");
    stream
}

async fn posted(real: &Real, module: &[u8]) -> Reply {
    let head = format!(
        "POST /programs/p/wasm HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/wasm\r\n\
         content-length: {}\r\n\r\n",
        real.server.address,
        module.len()
    );
    real.server.send_raw(&[head.as_bytes(), module].concat()).await
}

/// The newest revision of the program, and its functions.
async fn state(real: &Real) -> (u64, Vec<String>) {
    let query = "{ program(name: \"p\") { revision { number } functions { nodes { path } } } }";
    let mut found = real.data(query, json!({})).await;
    let program = found["program"].take();
    let paths = program["functions"]["nodes"].as_array().into_iter().flatten();
    let paths = paths.filter_map(|function| function["path"].as_str().map(str::to_owned)).collect();
    (program["revision"]["number"].as_u64().unwrap_or_default(), paths)
}

const MODULE: &str = "(module $other (func $a) (func $b (call $a)))";

#[tokio::test]
async fn who_hangs_up_leaves_a_program_as_it_was_or_whole() {
    let (real, Heard { mut held, mut left }) = served().await;
    let (before, after) = (vec!["m::f".to_owned()], vec!["other::a".to_owned(), "other::b".to_owned()]);
    for (number, form) in (2..).zip(["application/json", "text/event-stream"]) {
        let headers = format!("content-type: text/wat\r\naccept: {form}\r\nidempotency-key: {form}\r\n");
        let cut =
            async |held: &mut UnboundedReceiver<()>, left: &mut UnboundedReceiver<()>, message: &str| {
                let path = format!("/programs/p/wasm?message={message}");
                let stream = sends(&real, &path, &headers, MODULE.as_bytes()).await;
                soon(held.recv()).await.expect("it gets that far");
                drop(stream);
                soon(left.recv()).await.expect("nobody goes on for one who has gone");
            };
        cut(&mut held, &mut left, "building").await;
        let then = if number == 2 { &before } else { &after };
        assert_eq!(state(&real).await, (number - 1, then.clone()), "{form}");
        cut(&mut held, &mut left, "stored").await;
        assert_eq!(state(&real).await, (number, after.clone()), "{form}");
        // Whoever comes again under the same key is told of what was stored.
        let again = format!("{headers}connection: close\r\n");
        let mut stream = sends(&real, "/programs/p/wasm?message=stored", &again, MODULE.as_bytes()).await;
        soon(held.recv()).await.expect("it gets that far");
        stream.shutdown().await.unwrap_or_default();
        drop(stream);
        soon(left.recv()).await.expect("nobody goes on for one who has gone");
        assert_eq!(state(&real).await.0, number, "{form}");
    }
    let reply = posted(&real, b"\0asm\x01\0\0\0").await;
    assert!(reply.status == 200 && reply.text().contains(r#""revision":"r4""#), "{}", reply.text());
}

#[tokio::test]
async fn a_body_that_ends_early_changes_nothing() {
    let (real, _heard) = served().await;
    let mut stream = TcpStream::connect(real.server.address).await.expect("the server accepts");
    let head = "POST /programs/p/wasm HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/wat\r\ncontent-length: 100\r\n\r\n";
    stream.write_all(format!("{head}(module").as_bytes()).await.expect("the request is sent");
    drop(stream);
    assert_eq!(state(&real).await, (1, vec!["m::f".to_owned()]));
}

/// A number as modules write it.
fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A module of sections, by their numbers.
fn module(sections: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    for (number, content) in sections {
        bytes.push(*number);
        bytes.extend(leb(content.len() as u32));
        bytes.extend(content);
    }
    bytes
}

/// So many functions without parameters and results, each with a body.
fn functions(count: u32, body: &[u8]) -> Vec<u8> {
    let types = vec![1, 0x60, 0, 0];
    let declared = [leb(count), vec![0; count as usize]].concat();
    let bodies = [leb(body.len() as u32), body.to_vec()].concat().repeat(count as usize);
    module(&[(1, types), (3, declared), (10, [leb(count), bodies].concat())])
}

/// A module with an import, a memory, a table, data and names.
async fn ordinary(real: &Real) -> Vec<u8> {
    let text = r#"(module $all (import "env" "f" (func $f (param i32) (result i32)))
        (memory (export "memory") 1 2) (table 4 funcref) (elem (i32.const 1) $g) (data (i32.const 8) "text")
        (global $count (mut i64) (i64.const 7))
        (func $g (export "g") (param $n i32) (result i32) (local $m i64)
          (block $out (loop $again (br_if $out (i32.eqz (local.get $n)))
            (local.set $n (call $f (local.get $n))) (br $again)))
          (select (i32.const 1) (local.get $n) (i32.load8_u (local.get $n)))))"#;
    let create =
        "mutation($wat: String!) { createProgram(input: {name: \"all\", wat: $wat}) { program { id } } }";
    real.data(create, json!({ "wat": text })).await;
    real.server.send("GET /programs/all/wasm", "", "").await.body
}

/// Modules that are wrong, or large in what they say, by what they are.
fn hostile(whole: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> =
        (0..whole.len()).map(|end| (format!("cut at {end}"), whole[..end].to_vec())).collect();
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..whole.len() {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut garbled = whole.to_vec();
        garbled[(chance >> 33) as usize % whole.len()] ^= 1 << (chance >> 61);
        all.push((format!("garbled {round}"), garbled));
    }
    let most = leb(u32::MAX);
    let named = |name: &str, module: Vec<u8>| (name.to_owned(), module);
    let nested =
        |depth: usize, open: &[u8]| [&[0][..], &open.repeat(depth), &[0x0b].repeat(depth + 1)].concat();
    let declares = |number: u8| module(&[(number, most.clone())]);
    all.extend([
        named("more types than bytes", declares(1)),
        named("more functions than bytes", module(&[(1, vec![1, 0x60, 0, 0]), (3, most.clone())])),
        named("more data than bytes", declares(11)),
        named("more elements than bytes", declares(9)),
        named("more functions than there may be", functions(1_000_001, &[0, 0x0b])),
        named("many functions", functions(20_000, &[0, 0x0b])),
        named("deep blocks", functions(1, &nested(50_000, &[0x02, 0x40]))),
        named("deep loops", functions(1, &nested(50_000, &[0x03, 0x40]))),
        named("a giant table", module(&[(4, [vec![1, 0x70, 0], most.clone()].concat())])),
        named(
            "many tables",
            module(&[(4, [leb(100), [vec![0x70, 0], leb(200_000)].concat().repeat(100)].concat())]),
        ),
        named("a giant memory", module(&[(5, vec![1, 0, 0x80, 0x80, 4])])),
        named("a memory beyond all", module(&[(5, vec![1, 0, 0x81, 0x80, 4])])),
        named(
            "many locals",
            functions(1, &[vec![2], most.clone(), vec![0x7f], most.clone(), vec![0x7f, 0x0b]].concat()),
        ),
        named(
            "a giant jump table",
            functions(1, &[vec![0, 0x02, 0x40, 0x41, 0, 0x0e], most.clone(), vec![0x0b, 0x0b]].concat()),
        ),
        named("a custom section without a name", module(&[(0, most.clone())])),
        named(
            "names that are none",
            [module(&[]), vec![0, 10, 4, b'n', b'a', b'm', b'e', 1, 3, 0xff, 0xff, 0xff]].concat(),
        ),
        named("a section of another length", b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f".to_vec()),
        named("a component", b"\0asm\x0d\0\x01\0".to_vec()),
        named("something else", b"#!/bin/sh\n".to_vec()),
    ]);
    all
}

/// Whether an answer has errors, and then none but those that say what is wrong with the module.
fn is_refused(name: &str, answer: &Value) -> bool {
    let errors: Vec<&Value> = answer["errors"].as_array().into_iter().flatten().collect();
    for error in &errors {
        let code = error["extensions"]["code"].as_str().unwrap_or_default();
        assert!(matches!(code, "BAD_REQUEST" | "UNSUPPORTED" | "LIMIT_EXCEEDED"), "{name}: {error}");
    }
    !errors.is_empty()
}

#[tokio::test]
async fn what_means_harm_is_refused_or_harmless() {
    let (real, _heard) = served().await;
    let (mut taken, mut number) = (0, 1);
    for (name, bytes) in hostile(&ordinary(&real).await) {
        let reply = posted(&real, &bytes).await;
        let refused = is_refused(&name, &reply.json());
        assert_eq!(reply.status, if refused { 400 } else { 200 }, "{name}: {}", reply.text());
        let create = "mutation($name: String!, $wasm: String!) {
            createProgram(input: {name: $name, wasm: $wasm}) { program { id } } }";
        let created =
            real.post(create, &json!({ "name": name, "wasm": BASE64_STANDARD.encode(&bytes) })).await.json();
        assert_eq!(is_refused(&name, &created), refused, "{name}: {created}");
        if !refused {
            taken += 1;
            number += 1;
            let written = real.server.send("GET /programs/p/wasm", "", "").await;
            assert_eq!(written.status, 200, "{name}: {}", written.text());
        }
    }
    assert!(taken > 10, "{taken} were taken in");
    assert_eq!(state(&real).await.0, number);
}

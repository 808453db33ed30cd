//! A server that is killed under load: what it acknowledged is there, nothing is half there, and it goes on.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::serve::Server;
use crate::tool::Place;

/// Callers that edit at the same time.
const CALLERS: u64 = 8;

/// Edits that are acknowledged, over all callers, before the next kill: another number each round, so that it comes at
/// another moment of the write path.
fn patience(round: u64) -> u64 {
    5 + round * 7 % 40
}

#[test]
fn a_killed_server_keeps_what_it_acknowledged() {
    let rounds = if std::env::var_os("LMLANG_LONG").is_some() { 200 } else { 20 };
    let place = Place::new();
    let mut server = Server::start(&place);
    let mut acknowledged: BTreeMap<u64, String> = BTreeMap::new();
    for round in 0..rounds {
        let (count, made) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for caller in 0..CALLERS {
                let (server, count, made) = (&server, &count, &made);
                scope.spawn(move || {
                    for number in 0.. {
                        let edit = format!(
                            "mutation {{ proposeEdit(input: {{ programId: \"fib\", edits: [{{ insertNode: {{ op: \
                             \"const.i64 {}\", function: \"fib\" }} }}] }}) {{ outcome {{ ... on EditApplied \
                             {{ revision {{ number rootHash }} }} }} }} }}",
                            caller * 1_000 + number
                        );
                        let Some(answer) = server.try_ask(&edit) else { return };
                        let revision = &answer["data"]["proposeEdit"]["outcome"]["revision"];
                        let (Some(number), Some(hash)) = (revision["number"].as_u64(), revision["rootHash"].as_str())
                        else {
                            panic!("not applied: {answer}");
                        };
                        made.lock().expect("no caller panicked").push((number, hash.to_owned()));
                        if count.fetch_add(1, Ordering::Relaxed) == patience(round) {
                            server.kill();
                        }
                    }
                });
            }
        });
        acknowledged.extend(made.into_inner().expect("no caller panicked"));
        drop(server);
        server = Server::start(&place);
        let head = server.ask("{ program(name: \"fib\") { revision { number } } }");
        let head = head["data"]["program"]["revision"]["number"].as_u64();
        assert!(head >= acknowledged.keys().last().copied(), "round {round}: an acknowledged edit is lost");
    }
    for (number, hash) in acknowledged.iter().rev().step_by(7).take(30) {
        let found = server.ask(&format!("{{ program(name: \"fib\", at: \"r{number}\") {{ rootHash }} }}"));
        assert_eq!(found["data"]["program"]["rootHash"], Value::from(hash.as_str()), "r{number}");
    }
    let undone = server.ask(
        "mutation { undo(input: { programId: \"fib\", steps: 3 }) { outcome { ... on RevisionMade { committed } } } }",
    );
    assert_eq!(undone["data"]["undo"]["outcome"]["committed"], true, "{undone}");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

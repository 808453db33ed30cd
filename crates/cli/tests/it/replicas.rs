//! Several servers over one database, which are killed in turn under load. A file has one server; so this does nothing
//! but on a PostgreSQL server, where `cargo xtask test` runs it.

mod named;
mod pages;
mod restarted;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock, mpsc};
use std::time::{Duration, Instant};

use lmlang_testdb::TestDb;
use serde_json::Value;

use crate::serve::Server;
use crate::tool::Place;

const SERVERS: usize = 3;

/// Callers that edit at the same time.
const CALLERS: usize = 6;

/// Acknowledged edits between two kills.
const PATIENCE: usize = 25;

/// How long it goes on.
fn span() -> Duration {
    Duration::from_secs(if std::env::var_os("LMLANG_LONG").is_some() { 60 } else { 6 })
}

/// A server of the database.
fn start(place: &Place, db: &TestDb) -> Server {
    let mut command = place.command();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).env("LMLANG_DATABASE_URL", db.to_string());
    Server::start_as(command, place)
}

/// An edit under a key of its own.
fn edit(caller: usize, number: u64) -> String {
    format!(
        "mutation {{ proposeEdit(input: {{ programId: \"fib\", idempotencyKey: \"k-{caller}-{number}\", edits: [{{ \
         insertNode: {{ op: \"const.i64 {number}\", function: \"fib\" }} }}] }}) {{ outcome {{ ... on EditApplied {{ \
         revision {{ number rootHash }} }} }} }} }}"
    )
}

/// The revision of an answer; nothing if it is none, and the request can be sent again.
fn revision(answer: &Value) -> Option<(u64, String)> {
    let revision = &answer["data"]["proposeEdit"]["outcome"]["revision"];
    if let (Some(number), Some(hash)) = (revision["number"].as_u64(), revision["rootHash"].as_str()) {
        return Some((number, hash.to_owned()));
    }
    let code = answer["errors"][0]["extensions"]["code"].as_str();
    assert!(matches!(code, Some("OVERLOADED" | "STORAGE_UNAVAILABLE" | "TIMEOUT")), "{answer}");
    None
}

/// The number of `fib`'s newest revision, and its hash, by a server.
fn head(server: &Server) -> (u64, String) {
    let answer = server.ask("{ program(name: \"fib\") { revision { number rootHash } } }");
    let revision = &answer["data"]["program"]["revision"];
    let number = revision["number"].as_u64().expect("the program is there");
    (number, revision["rootHash"].as_str().expect("it has a hash").to_owned())
}

#[test]
fn servers_that_are_killed_in_turn_lose_nothing_that_was_acknowledged() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let db = runtime.block_on(TestDb::new());
    if db.is_file() {
        return;
    }
    let places: Vec<Place> = (0..SERVERS).map(|_| Place::new()).collect();
    let servers: Vec<RwLock<Server>> = places.iter().map(|place| RwLock::new(start(place, &db))).collect();
    let (first, _) = head(&servers[0].read().expect("no caller panicked"));
    let (acknowledgement, acknowledgements) = mpsc::channel();
    let over = AtomicBool::new(false);
    let made = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (servers, over, made, acknowledgement) = (&servers, &over, &made, acknowledgement.clone());
            scope.spawn(move || {
                for number in 0.. {
                    // Whoever gets no answer asks another server, under the same key.
                    let mut tries = caller..;
                    let acknowledged = tries.find_map(|server| {
                        let server = servers[server % SERVERS].read().expect("no caller panicked");
                        server.try_ask(&edit(caller, number)).as_ref().and_then(revision)
                    });
                    let (revision, hash) = acknowledged.expect("tries have no end");
                    let before = made.lock().expect("no caller panicked").insert(revision, hash);
                    assert_eq!(before, None, "two edits are one revision");
                    acknowledgement.send(()).ok();
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let (started, mut killed) = (Instant::now(), 0);
        // Each at least once, however slow the machine is.
        while killed < SERVERS || started.elapsed() < span() {
            assert_eq!(acknowledgements.iter().take(PATIENCE).count(), PATIENCE);
            servers[killed % SERVERS].read().expect("no caller panicked").kill();
            let again = start(&places[killed % SERVERS], &db);
            *servers[killed % SERVERS].write().expect("no caller panicked") = again;
            killed += 1;
        }
        over.store(true, Ordering::Relaxed);
    });
    let made = made.into_inner().expect("no caller panicked");
    println!("{} edits were acknowledged", made.len());
    let last = first + made.len() as u64;
    // Each edit is one revision, and there is no other: nothing is lost, nothing is there twice.
    assert!(made.keys().copied().eq(first + 1..=last), "{first} {:?}", made.keys());
    let servers: Vec<Server> =
        servers.into_iter().map(|server| server.into_inner().expect("no caller panicked")).collect();
    for server in &servers {
        let current = || (head(server).0 == last).then(|| head(server).1);
        let waiting = Instant::now();
        let hash =
            std::iter::repeat_with(current).find_map(|hash| hash.filter(|_| waiting.elapsed() < 2 * span()));
        assert_eq!(hash.as_ref(), made.get(&last));
    }
    settled(servers, made.iter().rev().step_by(7).take(30), &places[0], &db.to_string());
}

/// Compares revisions with what was acknowledged of them, takes some back, stops the servers, and asks `doctor`.
fn settled<'a>(
    servers: Vec<Server>,
    acknowledged: impl Iterator<Item = (&'a u64, &'a String)>,
    place: &Place,
    url: &str,
) {
    for (number, hash) in acknowledged {
        let found =
            servers[0].ask(&format!("{{ program(name: \"fib\", at: \"r{number}\") {{ rootHash }} }}"));
        assert_eq!(found["data"]["program"]["rootHash"], Value::from(hash.as_str()), "r{number}");
    }
    let undo = "mutation { undo(input: { programId: \"fib\", steps: 3 }) { outcome { ... on RevisionMade { committed } } } }";
    let undone = servers[1].ask(undo);
    assert_eq!(undone["data"]["undo"]["outcome"]["committed"], true, "{undone}");
    for server in servers {
        assert_eq!(server.stop(), Some(0));
    }
    let mut doctor = place.command();
    let doctor = doctor.args(["doctor", "--json"]).env("LMLANG_DATABASE_URL", url).output();
    let doctor = doctor.expect("the binary runs");
    let report: Value = serde_json::from_slice(&doctor.stdout).expect("one document");
    assert_eq!(report["sound"], true, "{report}");
}

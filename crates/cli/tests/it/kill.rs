//! A server that is killed under load: what it acknowledged is there, nothing is half there, and it goes on.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::serve::Server;
use crate::tool::Place;

/// Callers that edit at the same time.
const CALLERS: u64 = 8;

/// Names the seed of the moments at which the server is killed, to have them again.
const SEED: &str = "LMLANG_SEED";

/// Rounds after which the doctor looks at what the killed server has left: each, as long as the log is short.
pub(crate) fn checked(round: u64) -> bool {
    round < 20 || round.is_multiple_of(10)
}

/// Revisions that are looked at in one request.
const TOGETHER: usize = 20;

/// SplitMix64: repeatable from its seed.
pub(crate) struct Dice(u64);

impl Dice {
    /// Seeded by the variable, else by the clock; the test prints it.
    pub(crate) fn new() -> Dice {
        let given = std::env::var(SEED).ok().map(|seed| seed.parse().expect("it is a number"));
        let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is past 1970");
        let seed = given.unwrap_or_else(|| clock().as_micros() as u64);
        println!("the kills are those of {SEED}={seed}");
        Dice(seed)
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// When a server is killed: after so many acknowledged edits, over all callers, and so much time.
struct Moment {
    edits: u64,
    then: Duration,
}

impl Moment {
    /// Anywhere on the write path: an edit takes a few hundred microseconds.
    fn draw(dice: &mut Dice) -> Moment {
        Moment { edits: dice.roll(45), then: Duration::from_micros(dice.roll(2_000)) }
    }
}

/// Waits for a time that is too short to sleep for.
pub(crate) fn pass(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Adds a constant.
fn edit(value: u64) -> String {
    format!(
        "mutation {{ change: proposeEdit(input: {{ programId: \"fib\", edits: [{{ insertNode: {{ op: \
         \"const.i64 {value}\", function: \"fib\" }} }}] }}) {{ outcome {{ ... on EditApplied {{ \
         revision {{ number rootHash }} }} }} }} }}"
    )
}

/// Takes the latest revision back.
const UNDO: &str = "mutation { change: undo(input: { programId: \"fib\" }) { outcome { ... on RevisionMade { \
                    revision { number rootHash } } } } }";

#[test]
fn a_killed_server_keeps_what_it_acknowledged() {
    let rounds = if std::env::var_os("LMLANG_LONG").is_some() { 200 } else { 20 };
    let (place, mut dice) = (Place::new(), Dice::new());
    let mut server = Server::start(&place);
    let mut acknowledged: BTreeMap<u64, String> = BTreeMap::new();
    for round in 0..rounds {
        let (count, made, moment) = (AtomicU64::new(0), Mutex::new(Vec::new()), Moment::draw(&mut dice));
        std::thread::scope(|scope| {
            for caller in 0..CALLERS {
                let (server, count, made, moment) = (&server, &count, &made, &moment);
                scope.spawn(move || {
                    for number in 0.. {
                        // One takes an edit back for each that it makes; the others edit alone.
                        let change = match caller == 0 && number % 2 == 1 {
                            true => UNDO.to_owned(),
                            false => edit(caller * 1_000 + number),
                        };
                        let Some(answer) = server.try_ask(&change) else { return };
                        let revision = &answer["data"]["change"]["outcome"]["revision"];
                        let (Some(number), Some(hash)) =
                            (revision["number"].as_u64(), revision["rootHash"].as_str())
                        else {
                            panic!("not applied: {answer}");
                        };
                        made.lock().expect("no caller panicked").push((number, hash.to_owned()));
                        if count.fetch_add(1, Ordering::Relaxed) == moment.edits {
                            pass(moment.then);
                            server.kill();
                        }
                    }
                });
            }
        });
        acknowledged.extend(made.into_inner().expect("no caller panicked"));
        drop(server);
        if checked(round) {
            assert_eq!(place.json(&["doctor"])["sound"], true, "round {round}");
        }
        server = Server::start(&place);
        let head = server.ask("{ program(name: \"fib\") { revision { number } } }");
        let head = head["data"]["program"]["revision"]["number"].as_u64();
        assert!(head >= acknowledged.keys().last().copied(), "round {round}: an acknowledged edit is lost");
    }
    let all: Vec<_> = acknowledged.iter().collect();
    for some in all.chunks(TOGETHER) {
        let field = |(number, _): &(&u64, &String)| {
            format!("r{number}: program(name: \"fib\", at: \"r{number}\") {{ rootHash }}")
        };
        let fields: Vec<String> = some.iter().map(field).collect();
        let found = server.ask(&format!("{{ {} }}", fields.join(" ")));
        for (number, hash) in some {
            let there = &found["data"][format!("r{number}")]["rootHash"];
            assert_eq!(there, &Value::from(hash.as_str()), "r{number}: {found}");
        }
    }
    let undone = server.ask(
        "mutation { undo(input: { programId: \"fib\", steps: 3 }) { outcome { ... on RevisionMade { committed } } } }",
    );
    assert_eq!(undone["data"]["undo"]["outcome"]["committed"], true, "{undone}");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

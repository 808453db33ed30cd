//! A server that is killed while runs step: they go on by themselves when it is there again, and end as an undisturbed one.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kill::{Dice, checked, pass};
use crate::serve::Server;
use crate::tool::Place;

/// How often a run counts; each time takes two steps.
const COUNTS: u64 = 100;
const STEPS: u64 = 2 * COUNTS;

/// Runs that step at the same time, in every other round.
const SEVERAL: usize = 4;

/// How long what a server tells may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(place: &Place) -> Server {
    Server::start_with(place, &["--no-samples", "--listen", "127.0.0.1:0"])
}

/// A server in a new place with a flow whose steps are cheap: the less a step does, the more of its time is that of storing it.
fn started(place: &Place) -> Server {
    let server = start(place);
    let definition = json!({
        "name": "count",
        "channels": { "counted": { "reducer": "sum" } },
        "nodes": [
            {
                "name": "one", "visits": COUNTS,
                "action": { "set": { "values": { "counted": 1 }, "then": "enough" } },
            },
            {
                "name": "enough",
                "action": { "branch": {
                    "cases": [{ "when": { "atLeast": { "path": "counted", "value": COUNTS } }, "then": "END" }],
                    "otherwise": "one",
                } },
            },
        ],
    });
    let registered = server.ask_with(
        "mutation ($definition: JSON!) { registerFlow(input: { definition: $definition }) { changed errors { \
         message } } }",
        &json!({ "definition": definition }),
    );
    assert_eq!(registered["data"]["registerFlow"]["changed"], true, "{registered}");
    server
}

/// Begins a run.
fn begun(server: &Server) -> String {
    let answer = server.ask("mutation { startRun(input: { flow: \"count\", input: {} }) { run { id } } }");
    let Some(id) = answer["data"]["startRun"]["run"]["id"].as_str() else { panic!("not begun: {answer}") };
    id.to_owned()
}

/// How far a run is.
#[derive(Debug)]
struct Standing {
    steps: u64,
    has_ended: bool,
}

/// How far some runs are. None of them asks anybody or fails.
fn standings(server: &Server, runs: &[String]) -> Vec<Standing> {
    let field = |(at, run): (usize, &String)| {
        format!("r{at}: run(id: \"{run}\") {{ status steps(first: 1) {{ totalCount }} }} ")
    };
    let answer = server.ask(&format!("{{ {} }}", runs.iter().enumerate().map(field).collect::<String>()));
    let standing = |at: usize| {
        let run = &answer["data"][format!("r{at}")];
        let has_ended = run["status"] == "COMPLETED";
        assert!(has_ended || run["status"] == "RUNNING", "{answer}");
        Standing { steps: run["steps"]["totalCount"].as_u64().expect("they are counted"), has_ended }
    };
    (0..runs.len()).map(standing).collect()
}

/// Asks how far runs are until they have done so many steps together, or have ended.
fn until(server: &Server, runs: &[String], steps: u64) -> Vec<Standing> {
    let since = Instant::now();
    loop {
        let standings = standings(server, runs);
        if sum(&standings) >= steps || standings.iter().all(|standing| standing.has_ended) {
            return standings;
        }
        assert!(since.elapsed() < PATIENCE, "{standings:?}");
    }
}

/// The steps of all.
fn sum(standings: &[Standing]) -> u64 {
    standings.iter().map(|standing| standing.steps).sum()
}

/// What a run that has ended came to: all of its steps, with their numbers in its journal, its trace, and what it carries.
fn came_to(server: &Server, run: &str) -> Value {
    let answer = server.ask(&format!(
        "{{ run(id: \"{run}\") {{ status node error progress steps(first: {}) {{ totalCount nodes {{ index branch \
         node attempt goto update error receipts superseded }} }} trace(first: 1) {{ totalCount }} }} \
         runState(runId: \"{run}\") }}",
        STEPS + 1
    ));
    assert_eq!(answer["errors"], Value::Null, "{answer}");
    answer["data"].clone()
}

/// What a run comes to that nothing befalls.
fn undisturbed(server: &Server) -> Value {
    let run = [begun(server)];
    ended(server, &run);
    let whole = came_to(server, &run[0]);
    assert_eq!(whole["runState"]["counted"], COUNTS, "{whole}");
    let steps = whole["run"]["steps"]["nodes"].as_array().expect("it has steps");
    let numbers = steps.iter().filter_map(|step| step["index"].as_u64());
    // The first entry says that it began.
    assert!(numbers.eq(2..STEPS + 2), "{whole}");
    whole
}

/// Waits for the end of runs.
fn ended(server: &Server, runs: &[String]) {
    // More than they come to.
    until(server, runs, u64::MAX);
}

/// Requirement ACP-05: each entry of a journal is there once, whenever the server is killed; no step that was told of is lost, and
/// none is done again.
#[test]
fn runs_of_a_killed_server_end_as_an_undisturbed_one() {
    let rounds = if std::env::var_os("LMLANG_LONG").is_some() { 100 } else { 6 };
    let (place, mut dice) = (Place::new(), Dice::new());
    let mut server = started(&place);
    let (whole, mut met) = (undisturbed(&server), 0);
    for round in 0..rounds {
        let count = if round % 2 == 0 { 1 } else { SEVERAL };
        let runs: Vec<String> = (0..count).map(|_| begun(&server)).collect();
        let (all, mut done) = (STEPS * count as u64, 0_u64);
        for _ in 0..=dice.roll(2) {
            let told = until(&server, &runs, done + dice.roll((all - done).max(1)));
            pass(Duration::from_micros(dice.roll(2_000)));
            server.kill();
            drop(server);
            if checked(round) {
                let doctor = place.json(&["doctor"]);
                assert_eq!(doctor["sound"], true, "round {round}: {doctor}");
            }
            server = start(&place);
            let kept = standings(&server, &runs);
            let is_kept = told.iter().zip(&kept).all(|(told, kept)| told.steps <= kept.steps);
            assert!(is_kept, "round {round}: {told:?}, {kept:?}");
            met += u64::from(kept.iter().any(|standing| !standing.has_ended));
            done = sum(&kept);
        }
        ended(&server, &runs);
        for run in &runs {
            assert_eq!(came_to(&server, run), whole, "round {round}");
        }
    }
    println!("runs went on {met} times");
    assert!(met > 0, "no run was met on its way");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

/// The file is all that is left, and the run goes on from there.
#[test]
fn a_run_of_a_server_that_stops_goes_on_with_the_next_one() {
    let place = Place::new();
    let server = started(&place);
    let whole = undisturbed(&server);
    let run = [begun(&server)];
    until(&server, &run, STEPS / 4);
    assert_eq!(server.stop(), Some(0));
    let left = |end: &str| place.path().join(format!(".lmlang/lmlang.db{end}")).exists();
    assert!(left("") && !left("-wal"), "the write-ahead log is not folded in");
    let server = start(&place);
    ended(&server, &run);
    assert_eq!(came_to(&server, &run[0]), whole);
    assert_eq!(server.stop(), Some(0));
    assert_eq!(place.json(&["doctor"])["sound"], true);
}

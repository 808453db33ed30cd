//! Many agents on one program at once: nothing that was acknowledged is lost, and who would overwrite what they have not
//! seen is told so.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::real::{Real, start_real};

/// Agents and how long they work; at least [`ROUNDS`] each.
fn size() -> (usize, Duration) {
    match std::env::var_os("LMLANG_LONG") {
        Some(_) => (32, Duration::from_secs(120)),
        None => (8, Duration::ZERO),
    }
}

const ROUNDS: usize = 20;

/// The one function that all of them change.
const SHARED: &str = "shared";

fn text(agents: usize) -> String {
    let mut text = "module m\n".to_owned();
    for name in (0..agents).map(own).chain([SHARED.to_owned()]) {
        writeln!(text, "\nfunc {name} () -> (i64) {{\n  v = const.i64 0\n  return v\n}}")
            .expect("it is a string");
    }
    text
}

fn own(agent: usize) -> String {
    format!("own_{agent}")
}

/// An edit that was acknowledged.
#[derive(Debug)]
struct Acknowledged {
    revision: u64,
    /// The revision that the agent had seen.
    base: u64,
    function: String,
    value: u64,
}

async fn head(real: &Real) -> u64 {
    let found = real.data(r#"{ program(name: "shop") { revision { number } } }"#, json!({})).await;
    found["program"]["revision"]["number"].as_u64().expect("the program has a revision")
}

/// Changes a constant as of a base; `None` when that is a conflict.
async fn change(real: &Real, base: u64, function: &str, value: u64) -> Option<u64> {
    let edit = "mutation($base: String!, $ref: String!, $op: String!) {
        proposeEdit(input: {programId: \"shop\", baseRevision: $base, edits: [{modifyNode: {ref: $ref, op: $op}}]}) {
            outcome { __typename ... on EditApplied { revision { number } } ... on EditConflict { conflicts { ref kind } } }
        }
    }";
    let variables = json!({
        "base": format!("r{base}"), "ref": format!("m::{function}::v"), "op": format!("const.i64 {value}")
    });
    let outcome = real.data(edit, variables).await["proposeEdit"]["outcome"].take();
    match outcome["__typename"].as_str() {
        Some("EditApplied") => outcome["revision"]["number"].as_u64(),
        Some("EditConflict") => {
            assert_eq!(function, SHARED, "nobody else changes it: {outcome}");
            assert_eq!(outcome["conflicts"][0]["kind"], "BOTH_EDITED");
            None
        }
        _ => panic!("{function}: {outcome}"),
    }
}

/// Changes its own function on its last revision, with whatever others have done since, and now and then the shared one.
async fn work(real: Arc<Real>, agent: usize, until: Instant) -> Vec<Acknowledged> {
    let (mut base, mut acknowledged) = (head(&real).await, Vec::new());
    let mut round = 0;
    while round < ROUNDS || Instant::now() < until {
        round += 1;
        let function = if (round + agent).is_multiple_of(4) { SHARED.to_owned() } else { own(agent) };
        let value = (agent * 1_000_000 + round) as u64;
        match change(&real, base, &function, value).await {
            Some(revision) => {
                acknowledged.push(Acknowledged { revision, base, function, value });
                base = revision;
            }
            None => base = head(&real).await,
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost() {
    let (agents, time) = size();
    let real = Arc::new(start_real().await);
    real.program("shop", &text(agents)).await;
    let until = Instant::now() + time;
    let working: Vec<_> =
        (0..agents).map(|agent| tokio::spawn(work(Arc::clone(&real), agent, until))).collect();
    let mut all = Vec::new();
    for agent in working {
        all.extend(agent.await.expect("an agent comes to its end"));
    }
    all.sort_by_key(|one| one.revision);
    let numbers: Vec<u64> = all.iter().map(|one| one.revision).collect();
    assert_eq!(
        numbers,
        (2..2 + all.len() as u64).collect::<Vec<_>>(),
        "each is one revision, and no other is there"
    );
    let mut newest: BTreeMap<&str, &Acknowledged> = BTreeMap::new();
    for one in &all {
        let before = newest.insert(&one.function, one);
        // Own ones follow each other; what is shared is changed by those only who have seen the change before.
        if let Some(before) = before.filter(|_| one.function == SHARED) {
            assert!(before.revision <= one.base, "{one:?} overwrites {before:?}");
        }
    }
    for (function, one) in &newest {
        let query = "query($f: String!) { program(name: \"shop\") { function(name: $f) { text } } }";
        let found = real.data(query, json!({ "f": format!("m::{function}") })).await;
        let text = found["program"]["function"]["text"].as_str().expect("it has a text");
        assert!(text.contains(&format!("const.i64 {}\n", one.value)), "{one:?}: {text}");
    }
    let checkup = real.engine.doctor(|_| {}).await.expect("the database can be read");
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
}

/// Works on a branch of its own and brings it into `main` again and again; takes one of its revisions back at the end.
async fn branch_out(real: Arc<Real>, agent: usize) -> u64 {
    let (branch, function) = (format!("agent/{agent}"), own(agent));
    let make = "mutation($name: String!) { createBranch(input: {programId: \"shop\", name: $name}) { branch { name } } }";
    real.data(make, json!({ "name": branch })).await;
    let edit = "mutation($branch: String!, $ref: String!, $op: String!) {
        proposeEdit(input: {programId: \"shop\", branch: $branch, edits: [{modifyNode: {ref: $ref, op: $op}}]}) { outcome { __typename } }
        merge(input: {programId: \"shop\", from: $branch}) { outcome {
            __typename ... on EditConflict { conflicts { ref kind message } } ... on NothingToDo { reason } ... on RevisionMade { revision { number } }
        } }
    }";
    let (mut newest, mut value) = (0, 0);
    for round in 1..=MERGES {
        value = (agent * 1_000 + round) as u64;
        let variables = json!({
            "branch": branch, "ref": format!("m::{function}::v"), "op": format!("const.i64 {value}")
        });
        let made = real.data(edit, variables).await;
        assert_eq!(made["proposeEdit"]["outcome"]["__typename"], "EditApplied");
        let merged = &made["merge"]["outcome"];
        newest = merged["revision"]["number"].as_u64().unwrap_or_else(|| panic!("{merged}"));
    }
    let revert = "mutation($revision: String!) {
        revert(input: {programId: \"shop\", revisions: [$revision]}) { outcome { __typename ... on NothingToDo { reason } } alsoRemoved { number } }
    }";
    let reverted = real.data(revert, json!({ "revision": format!("r{newest}") })).await["revert"].take();
    assert_eq!(reverted["outcome"]["__typename"], "RevisionMade", "{reverted}");
    assert_eq!(reverted["alsoRemoved"], json!([]));
    value - 1
}

const MERGES: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branches_come_together_and_are_taken_back() {
    let (agents, _) = size();
    let real = Arc::new(start_real().await);
    real.program("shop", &text(agents)).await;
    let working: Vec<_> =
        (0..agents).map(|agent| tokio::spawn(branch_out(Arc::clone(&real), agent))).collect();
    for (agent, working) in working.into_iter().enumerate() {
        let value = working.await.expect("an agent comes to its end");
        let query = "query($f: String!) { program(name: \"shop\") { function(name: $f) { text } } }";
        let found = real.data(query, json!({ "f": format!("m::{}", own(agent)) })).await;
        let text = found["program"]["function"]["text"].as_str().expect("it has a text");
        assert!(text.contains(&format!("const.i64 {value}\n")), "{agent}: {value}: {text}");
    }
    let checkup = real.engine.doctor(|_| {}).await.expect("the database can be read");
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
}

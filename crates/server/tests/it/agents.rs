//! Many agents on one program at once: the program is what a model becomes that does what was acknowledged, and who would
//! overwrite what they have not seen is told so.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::real::{Real, start_real};

/// Agents on one program.
const AGENTS: usize = 32;

/// What each of them does at least.
const ROUNDS: usize = 20;

fn is_long() -> bool {
    std::env::var_os("LMLANG_LONG").is_some()
}

/// How long they work, if that takes longer than their rounds.
fn time() -> Duration {
    if is_long() { Duration::from_secs(120) } else { Duration::ZERO }
}

/// Agents on branches of their own: a merge over what all the others have merged takes longer than an edit.
fn branches() -> usize {
    if is_long() { AGENTS } else { 8 }
}

/// The one function that all of them change.
const SHARED: &str = "shared";

fn text(agents: usize) -> String {
    let mut text = "module m\n".to_owned();
    for name in (0..agents).map(own).chain([SHARED.to_owned()]) {
        write!(text, "\n{}", text_of(&name, 0)).expect("it is a string");
    }
    text
}

fn text_of(name: &str, value: u64) -> String {
    format!("func {name} () -> (i64) {{\n  v = const.i64 {value}\n  return v\n}}\n")
}

fn own(agent: usize) -> String {
    format!("own_{agent}")
}

/// A function that an agent brings and takes away.
fn extra(agent: usize) -> String {
    format!("extra_{agent}")
}

/// What an edit does to a function.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Change(u64),
    Add(u64),
    Remove,
}

/// An edit that was acknowledged.
#[derive(Debug)]
struct Acknowledged {
    revision: u64,
    /// The revision that the agent had seen.
    base: u64,
    function: String,
    deed: Deed,
}

/// What the program is to be after some edits: the constants of its functions.
type Model = BTreeMap<String, u64>;

/// Does an edit in the model.
fn replay(model: &mut Model, one: &Acknowledged) {
    let before = model.contains_key(&one.function);
    match one.deed {
        Deed::Change(value) => {
            assert!(before, "{one:?} changes what is not there");
            model.insert(one.function.clone(), value);
        }
        Deed::Add(value) => {
            assert!(!before, "{one:?} adds what is there");
            model.insert(one.function.clone(), value);
        }
        Deed::Remove => {
            assert!(before, "{one:?} removes what is not there");
            model.remove(&one.function);
        }
    }
}

/// The functions of a revision, by name, each with its text.
async fn functions(real: &Real, at: &str) -> BTreeMap<String, String> {
    let query = "query($at: String!) { program(name: \"shop\", at: $at) { functions(first: 100) {
        totalCount nodes { name text(detail: SUMMARY) }
    } } }";
    let found = real.data(query, json!({ "at": at })).await["program"]["functions"].take();
    let nodes = found["nodes"].as_array().expect("they are a list");
    assert_eq!(found["totalCount"], nodes.len(), "all are on one page");
    let text = |of: &Value| of.as_str().expect("it is a text").to_owned();
    // What has no name shows its ref: the one node that returns.
    let bare = |text: String| match text.split_once("return#") {
        Some((before, after)) => {
            format!("{before}return{}", &after[after.find(' ').unwrap_or(after.len())..])
        }
        None => text,
    };
    nodes.iter().map(|function| (text(&function["name"]), bare(text(&function["text"])))).collect()
}

async fn head(real: &Real) -> u64 {
    let found = real.data(r#"{ program(name: "shop") { revision { number } } }"#, json!({})).await;
    found["program"]["revision"]["number"].as_u64().expect("the program has a revision")
}

/// Changes, adds or removes a function as of a base; `None` when that is a conflict.
async fn change(real: &Real, base: u64, function: &str, deed: Deed) -> Option<u64> {
    let edit = "mutation($base: String!, $edit: EditInput!) {
        proposeEdit(input: {programId: \"shop\", baseRevision: $base, edits: [$edit]}) {
            outcome { __typename ... on EditApplied { revision { number } } ... on EditConflict { conflicts { ref kind } } }
        }
    }";
    let edit_input = match deed {
        Deed::Change(value) => {
            json!({ "modifyNode": { "ref": format!("m::{function}::v"), "op": format!("const.i64 {value}") } })
        }
        Deed::Add(value) => json!({ "addText": { "module": "m", "text": text_of(function, value) } }),
        Deed::Remove => json!({ "removeFunction": { "ref": format!("m::{function}") } }),
    };
    let variables = json!({ "base": format!("r{base}"), "edit": edit_input });
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

/// Changes its own functions on its last revision, with whatever others have done since, and now and then the shared one.
async fn work(real: Arc<Real>, agent: usize, until: Instant) -> Vec<Acknowledged> {
    let (mut base, mut acknowledged) = (head(&real).await, Vec::new());
    let (mut round, mut has_extra) = (0, false);
    while round < ROUNDS || Instant::now() < until {
        round += 1;
        let value = (agent * 1_000_000 + round) as u64;
        let (function, deed) = match (round + agent) % 8 {
            0 | 4 => (SHARED.to_owned(), Deed::Change(value)),
            2 | 6 => {
                has_extra = !has_extra;
                (extra(agent), if has_extra { Deed::Add(value) } else { Deed::Remove })
            }
            _ => (own(agent), Deed::Change(value)),
        };
        match change(&real, base, &function, deed).await {
            Some(revision) => {
                acknowledged.push(Acknowledged { revision, base, function, deed });
                base = revision;
            }
            None => base = head(&real).await,
        }
    }
    acknowledged
}

/// Revisions whose content is compared with the model's, about.
const SAMPLES: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost() {
    let real = Arc::new(start_real().await);
    real.program("shop", &text(AGENTS)).await;
    let until = Instant::now() + time();
    let working: Vec<_> =
        (0..AGENTS).map(|agent| tokio::spawn(work(Arc::clone(&real), agent, until))).collect();
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

    // The model begins as the program did, and does what was acknowledged, one after the other.
    let first = functions(&real, "r1").await;
    let form = first[SHARED].clone();
    let shown = |(name, value): (&String, &u64)| {
        (name.clone(), form.replace(SHARED, name).replace("const.i64 0", &format!("const.i64 {value}")))
    };
    let mut model: Model = (0..AGENTS).map(own).chain([SHARED.to_owned()]).map(|name| (name, 0)).collect();
    assert_eq!(first, model.iter().map(shown).collect());
    let every = (all.len() / SAMPLES).max(1);
    let mut shared = 1;
    for (number, one) in all.iter().enumerate() {
        replay(&mut model, one);
        if one.function == SHARED {
            // It is changed by those only who have seen the change before.
            assert!(shared <= one.base, "{one:?} overwrites r{shared}");
            shared = one.revision;
        }
        if number % every == 0 {
            let found = functions(&real, &format!("r{}", one.revision)).await;
            assert_eq!(found, model.iter().map(shown).collect(), "after {one:?}");
        }
    }
    assert_eq!(functions(&real, "main").await, model.iter().map(shown).collect(), "at the head");
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
    let agents = branches();
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

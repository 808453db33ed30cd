//! The API as text: requests over real HTTP with their answers, from `tests/scenarios`.

mod format;
mod shown;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use format::{Request, Step};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::real::{Real, start_real, start_scripted};
use crate::server::Reply;

/// Set it to have the answers that are given written into the files.
const BLESS: &str = "LMLANG_BLESS";

/// Everything that is stored, as far as a client can see.
const STORED: &str = "{ programs(first: 100) { totalCount nodes {
    id name doc rootHash revision { number kind message }
    history(first: 1) { totalCount }
    branches { nodes { name head { number } } }
    checkpoints { nodes { name message revision { number } } }
} }
flows { id }
entities(first: 1000) { nodes { id label key props updatedAt } }
relations: cypher(query: \"MATCH ()-[r]->() RETURN r\") { rows }
}";

/// Limits that a caller sets himself.
const OWN: [&str; 1] = ["maxBytes"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenarios_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.file_name().is_some_and(|name| name != "README.md"))
        .collect();
    files.sort_unstable();
    assert!(!files.is_empty(), "there are scenarios");
    // Two at a time, and what they find in the order of the files.
    let failures: Vec<String> = stream::iter(files)
        .map(|file| tokio::spawn(async move { check(&file).await }))
        .buffered(2)
        .map(|found| found.expect("a file is carried out to its end"))
        .concat()
        .await;
    assert!(
        failures.is_empty(),
        "{BLESS}=1 writes what is answered into the files:\n{}",
        failures.join("\n")
    );
}

/// Runs the scenarios of a file in order, on a server of their own, and tells what did not hold.
async fn check(file: &Path) -> Vec<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let scenarios = match format::scenarios(&text) {
        Ok(scenarios) => scenarios,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let real = match format::script(&text) {
        None => start_real().await,
        Some(script) => start_scripted(&script).await,
    };
    let limits = limits(&real).await;
    let (mut failures, mut answers, mut simulation) = (Vec::new(), Vec::new(), None);
    for scenario in &scenarios {
        for step in &scenario.steps {
            let place = format!("{name}:{} ({})", step.expected.line, scenario.title);
            let before = real.data(STORED, json!({})).await;
            let reply = send(&real, step, simulation.as_deref()).await;
            simulation = shown::simulation(&reply).or(simulation);
            let after = real.data(STORED, json!({})).await;
            let shown = shown::reply(&reply, matches!(step.request, Request::Raw { .. }));
            if shown != step.expected.text {
                failures.push(format!("{place}: expected\n{}found\n{shown}", step.expected.text));
            }
            if (before != after) != step.changes {
                let what = if step.changes { "stored nothing" } else { "stored something" };
                failures.push(format!("{place}: {what}: {before} became {after}"));
            }
            failures.extend(shown::laws(&reply, &limits).into_iter().map(|law| format!("{place}: {law}")));
            answers.push((step.expected.clone(), shown));
        }
    }
    real.server.shutdown.cancel();
    real.engine.close().await;
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(file, format::with_answers(&text, &answers)).expect("the file can be written");
        failures.retain(|failure| !failure.contains(": expected\n"));
    }
    failures
}

/// The names of limits that `serverInfo` lists, and those that callers set.
async fn limits(real: &Real) -> BTreeSet<String> {
    let listed = real.data("{ serverInfo { limits } }", json!({})).await;
    let listed = listed["serverInfo"]["limits"].as_object().cloned().unwrap_or_default();
    listed.into_iter().map(|(name, _)| name).chain(OWN.map(str::to_owned)).collect()
}

/// Sends a request; `S-UUID` in a document is the simulation that an answer named last.
async fn send(real: &Real, step: &Step, simulation: Option<&str>) -> Reply {
    match &step.request {
        Request::Document { query, variables, operation } => {
            let variables: Value = serde_json::from_str(variables).expect("the variables are JSON");
            let query = query.replace("S-UUID", simulation.unwrap_or("S-UUID"));
            let mut body = json!({ "query": query, "variables": variables });
            if let Some(operation) = operation {
                body["operationName"] = json!(operation);
            }
            let headers = "content-type: application/json\r\naccept: application/graphql-response+json\r\n";
            real.server.send("POST /graphql", headers, &body.to_string()).await
        }
        Request::Raw { line, headers, body } => {
            let host = real.server.address;
            let length = body.len();
            let mut bytes = format!(
                "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
            )
            .into_bytes();
            bytes.extend_from_slice(body);
            real.server.send_raw(&bytes).await
        }
    }
}

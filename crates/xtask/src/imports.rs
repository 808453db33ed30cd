//! Which crate may import which: the arrows of ARCHITECTURE.md as data.
//!
//! A new arrow is a design change, in a commit of its own. PUN-66: each part of an agent has its place: values and rules in `flow`
//! and `entities`, stores in `store`, orchestration in `engine`, nodes, tools and context in `agents`, spans in `telemetry`, settings
//! and the command line in `cli`.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::report::Findings;
use crate::workspace::{Workspace, items};

/// Crates with the ones of ours that they may import.
const ARROWS: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("verify", &["ir"]),
    ("interp", &["ir", "verify"]),
    ("check", &["ir", "verify", "interp"]),
    ("wasm", &["ir", "verify"]),
    ("history", &["ir"]),
    ("flow", &[]),
    ("entities", &[]),
    ("redact", &[]),
    ("telemetry", &["redact"]),
    ("compiled", &["wasm", "ir", "verify", "interp"]),
    ("migrations", &[]),
    ("store", &["ir", "history", "flow", "entities", "migrations"]),
    (
        "engine",
        &[
            "ir", "verify", "interp", "check", "wasm", "history", "flow", "entities", "streams", "redact",
            "compiled", "store",
        ],
    ),
    ("context", &["ir"]),
    ("streams", &["ir", "verify", "interp"]),
    ("agents", &["engine", "context", "streams", "flow", "entities", "telemetry", "ir", "verify", "history"]),
    (
        "graphql",
        &["engine", "context", "agents", "streams", "flow", "entities", "ir", "verify", "history", "interp"],
    ),
    ("mcp", &["graphql", "context", "ir"]),
    ("server", &["graphql", "mcp", "engine", "streams", "ir", "verify", "history"]),
    (
        "cli",
        &[
            "server",
            "mcp",
            "graphql",
            "agents",
            "engine",
            "store",
            "compiled",
            "wasm",
            "check",
            "interp",
            "ir",
            "verify",
            "history",
            "redact",
            "telemetry",
        ],
    ),
    ("testdb", &[]),
    ("testkit", &["ir", "verify", "interp", "wasm", "compiled", "history"]),
    (
        "bench",
        &[
            "engine",
            "compiled",
            "context",
            "store",
            "history",
            "interp",
            "wasm",
            "verify",
            "ir",
            "testkit",
            "migrations",
        ],
    ),
    ("xtask", &[]),
];

/// Crates without IO, clock, randomness, environment or runtime.
const DOMAIN: &[&str] = &[
    "ir", "verify", "interp", "check", "wasm", "history", "flow", "entities", "context", "redact", "streams",
];

/// Packages that would bring one of these into a domain crate, by the beginning of their names.
const IMPURE: &[&str] = &[
    "async-",
    "axum",
    "chrono",
    "clap",
    "futures",
    "getrandom",
    "hyper",
    "metrics",
    "mimalloc",
    "rand",
    "reqwest",
    "rusqlite",
    "sea-",
    "sqlx",
    "tokio",
    "tower",
    "tracing",
    "uuid",
];

/// Compares the table with what the manifests say; tests may import `testdb`, `testkit` and anything inward.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings> {
    let metadata = workspace.metadata(false)?;
    let mut wrong = Vec::new();
    for package in items(&metadata["packages"]) {
        let name = text(&package["name"])?;
        let Some(short) = name.strip_prefix("lmlang-") else {
            wrong.push(format!("package `{name}` is not called `lmlang-*`"));
            continue;
        };
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == short) else {
            wrong.push(format!("crate `{short}` is not in the import table"));
            continue;
        };
        for dependency in items(&package["dependencies"]) {
            let on = text(&dependency["name"])?;
            let tests_only = dependency["kind"] == "dev";
            match on.strip_prefix("lmlang-") {
                Some("testdb" | "testkit") if tests_only => {}
                Some(on) if tests_only && inward(short).contains(on) => {}
                Some(on) if !allowed.contains(&on) => {
                    wrong.push(format!("`{short}` imports `{on}`, which the table does not allow"));
                }
                Some(_) => {}
                None if tests_only || !DOMAIN.contains(&short) => {}
                None if IMPURE.iter().any(|impure| on.starts_with(impure)) => {
                    wrong.push(format!("`{short}` is pure and imports `{on}`"));
                }
                None => {}
            }
        }
    }
    Ok(Findings::of(wrong))
}

/// Returns all that a crate imports, directly or not.
fn inward(from: &str) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(from) = open.pop() {
        let Some((_, arrows)) = ARROWS.iter().find(|(name, _)| *name == from) else { continue };
        let arrows: &'static [&'static str] = arrows;
        for on in arrows {
            if seen.insert(*on) {
                open.push(on);
            }
        }
    }
    seen
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("cargo metadata names packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_no_cycle_and_names_only_its_own() {
        for (from, on) in ARROWS {
            assert!(!inward(from).contains(from), "`{from}` imports itself");
            for on in *on {
                assert!(ARROWS.iter().any(|(name, _)| name == on), "`{on}` has no row");
            }
        }
        for pure in DOMAIN {
            assert!(inward(pure).iter().all(|on| DOMAIN.contains(on)), "`{pure}` imports an effect");
        }
    }

    #[test]
    fn the_manifests_follow_the_table() {
        let workspace = Workspace::find().unwrap();
        assert_eq!(check(&workspace).unwrap().failed, Vec::<String>::new());
    }
}

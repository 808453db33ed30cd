//! The dashboard in a browser: how long people wait for its pages, for a step, and for what others do.
//!
//! Chromium and a script measure, each page in a session of its own that has nothing cached. `cargo xtask bench pages`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lmlang_bench::process::start_lmlang;
use lmlang_bench::report::{Measured, Report, Target};
use lmlang_bench::rounds::{ROUNDS, Spread};
use serde::Deserialize;

type Failure = Box<dyn std::error::Error>;

/// What people may wait for, in milliseconds.
const TARGETS: [(&str, f64); 2] = [
    ("a function of 5,000 nodes", 3_000.0),
    ("an edit of a client, in the text and the feed of two open pages", 1_000.0),
];

/// A line of the script.
#[derive(Deserialize)]
struct Line {
    name: String,
    ms: f64,
}

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let server = start_lmlang(folder.path())?;
    let script = root().join("tests/clients/measured_pages.mjs");
    let mut command = Command::new("node");
    command.arg(&script).arg(format!("http://{}", server.address)).arg(ROUNDS.to_string());
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("`{}` failed: {}", script.display(), output.status).into());
    }
    server.stop()?;
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let Line { name, ms } = serde_json::from_str(line)?;
        found.entry(name).or_default().push(ms);
    }
    if let Some((name, _)) = TARGETS.iter().find(|(name, _)| !found.contains_key(*name)) {
        return Err(format!("nothing was measured of {name}").into());
    }
    let mut report = Report::of("pages");
    for (name, times) in &found {
        let measured = Measured::new(name, "ms", Spread::of(times));
        let target = TARGETS.iter().find(|(of, _)| of == name);
        report.add(target.map_or(measured.clone(), |(_, most)| measured.target(Target::AtMost(*most))));
    }
    Ok(report.publish()?)
}

/// The checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

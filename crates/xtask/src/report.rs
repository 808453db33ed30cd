//! What passed, what failed, and how long it took.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

/// Collects the outcome of every step; one that fails does not stop the others.
#[derive(Default)]
pub(crate) struct Report {
    passed: u64,
    failed: Vec<String>,
}

/// What a step found: how many checks passed, and a line for each that failed.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) passed: u64,
    pub(crate) failed: Vec<String>,
}

impl Findings {
    /// Makes the findings of a check that lists what is wrong.
    pub(crate) fn of(failed: Vec<String>) -> Findings {
        Findings { passed: u64::from(failed.is_empty()), failed }
    }
}

impl Report {
    /// Runs a step that passes or fails as a whole.
    pub(crate) fn step(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        self.steps(name, || step().map(|()| Findings { passed: 1, failed: Vec::new() }));
    }

    /// Runs a step that counts.
    pub(crate) fn steps(&mut self, name: &str, step: impl FnOnce() -> Result<Findings>) {
        println!("==> {name}");
        let started = Instant::now();
        let findings =
            step().unwrap_or_else(|error| Findings { passed: 0, failed: vec![format!("{error:#}")] });
        for failure in &findings.failed {
            println!("  failed: {failure}");
        }
        let verdict = if findings.failed.is_empty() { "ok" } else { "FAILED" };
        println!("--> {name}: {verdict}, {:.1} s", started.elapsed().as_secs_f64());
        self.passed += findings.passed;
        self.failed.extend(findings.failed.into_iter().map(|failure| format!("{name}: {failure}")));
    }

    /// Prints what failed once more, and the closing line.
    pub(crate) fn close(self) -> ExitCode {
        println!();
        for failure in &self.failed {
            println!("failed: {failure}");
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

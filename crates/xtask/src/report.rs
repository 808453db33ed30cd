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

/// What a step prints later.
#[derive(Default)]
pub(crate) struct Lines(Vec<String>);

impl Lines {
    pub(crate) fn add(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }
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

    /// Runs two steps that count beside each other, each of which waits for others most of the time. The first prints what it
    /// has to say when the second has ended.
    pub(crate) fn beside(
        &mut self,
        (first, of_first): (&str, impl FnOnce(&mut Lines) -> Result<Findings> + Send),
        (second, of_second): (&str, impl FnOnce() -> Result<Findings>),
    ) {
        let (findings, lines) = std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                let (mut lines, started) = (Lines::default(), Instant::now());
                let findings = of_first(&mut lines);
                lines.add(&format!("--- ended after {:.1} s", started.elapsed().as_secs_f64()));
                (findings, lines)
            });
            self.steps(second, of_second);
            let panicked = |_| (Err(anyhow::anyhow!("it broke off")), Lines::default());
            first.join().unwrap_or_else(panicked)
        });
        self.steps(first, || {
            lines.0.iter().for_each(|line| println!("{line}"));
            findings
        });
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

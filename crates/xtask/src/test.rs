//! Everything that decides whether a change may land.

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::report::{Findings, Lines, Report};
use crate::workspace::Workspace;
use crate::{clients, dependencies, generated, imports, node, postgres, process, tidy};

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// A tenth of every large count at most.
    Short,
    /// The full counts.
    Long,
}

/// What the property tests draw their cases from; proptest reads it.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

/// How much the tests try, and from which seed they draw it.
#[derive(Clone, Copy)]
struct Extent {
    length: Length,
    seed: u64,
}

/// The seed of the property tests: the one that the environment asks for; else another one for each commit, so that a
/// commit passes or fails as often as it is tried, and a long run another one each time.
fn seed(workspace: &Workspace, length: Length) -> Result<u64> {
    if let Ok(asked) = std::env::var(PROPERTY_SEED) {
        return asked.parse().with_context(|| format!("{PROPERTY_SEED} is no whole number: `{asked}`"));
    }
    if length == Length::Long {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        return Ok(now.as_secs());
    }
    let commit = process::stdout(workspace.command("git").args(["rev-parse", "HEAD"]))?;
    let start = commit.get(..16).context("a commit has a long name")?;
    u64::from_str_radix(start, 16).context("a commit is named in hexadecimal digits")
}

/// Runs every step, also after one failed, and ends with the line `N passed, M failed`.
pub(crate) fn run(workspace: &Workspace, length: Length) -> Result<ExitCode> {
    let mut report = Report::default();
    let extent = Extent { length, seed: seed(workspace, length)? };
    println!("property tests draw from {PROPERTY_SEED}={}", extent.seed);
    check_sources(workspace, &mut report);
    report.step("web pages", || match node::build_pages(workspace)? {
        node::Pages::Built | node::Pages::Fresh => node::test_pages(workspace),
        node::Pages::NoNode(reason) => bail!("{reason}"),
    });
    // PUN-04, PUN-69: `missing_docs` is one of them; `tidy` finds a crate that does not inherit them.
    report.steps("build and lints", || lints(workspace));
    report.steps("tests", || rust_tests(workspace, extent));
    report.steps("generated files", || generated::check(workspace));
    report.beside(
        ("tests on PostgreSQL", |lines| postgres_tests(workspace, extent, lines)),
        ("clients", || clients::run(workspace)),
    );
    Ok(report.close())
}

/// Runs the steps that need no build.
pub(crate) fn tidy(workspace: &Workspace) -> Result<ExitCode> {
    let mut report = Report::default();
    check_sources(workspace, &mut report);
    Ok(report.close())
}

fn check_sources(workspace: &Workspace, report: &mut Report) {
    report.step("format", || process::run(&mut workspace.cargo(&["fmt", "--all", "--check"])));
    report.steps("sources", || tidy::check(workspace));
    report.steps("imports", || imports::check(workspace));
    report.steps("dependencies", || dependencies::check(workspace));
}

/// Builds everything that is ours as the tests need it, and lists what the compiler and clippy say of it.
fn lints(workspace: &Workspace) -> Result<Findings> {
    let mut told = BTreeSet::new();
    let mut build = workspace.tests(&["--all-targets", "--no-run", "--message-format", "json"]);
    let built = process::watch(&mut build, |line| {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        // A library is compiled with its own tests and without, and says the same twice.
        told.extend(message["message"]["rendered"].as_str().map(str::to_owned));
    });
    match built {
        Err(error) if told.is_empty() => Err(error),
        Ok(()) | Err(_) => Ok(Findings::of(told.into_iter().collect())),
    }
}

/// Runs the workspace's tests and counts them by the lines with which each binary closes.
fn rust_tests(workspace: &Workspace, extent: Extent) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut command = workspace.tests(&["--no-fail-fast"]);
    run_tests(&mut command, extent, &mut findings, |line| println!("{line}"))?;
    Ok(findings)
}

/// The crates whose tests have a database, each with what its tests are called that are run on a server: most of those of the
/// command line look at files; of their pages `replicas::pages` tries those again that are about what is stored.
const WITH_DATABASE: [(&str, &[&str]); 7] = [
    ("store", &[]),
    ("engine", &[]),
    ("agents", &[]),
    ("graphql", &[]),
    ("mcp", &[]),
    ("server", &[]),
    ("cli", &["replicas::", "tls::"]),
];

/// Runs the tests that have a database once more, on a PostgreSQL server.
fn postgres_tests(workspace: &Workspace, extent: Extent, lines: &mut Lines) -> Result<Findings> {
    let server = postgres::Server::start()?;
    let mut findings = Findings::default();
    for test in workspace.test_binaries()? {
        let with_database = WITH_DATABASE.iter().find(|(name, _)| test.package == format!("lmlang-{name}"));
        let Some((_, called)) = with_database else { continue };
        lines.add(&format!("--- {}, on PostgreSQL", test.package));
        let mut command = Command::new(&test.binary);
        // What is true of a database file only says so by the name of its module.
        command
            .args(*called)
            .args(["--skip", "file::"])
            .current_dir(&test.folder)
            .env("LMLANG_TEST_POSTGRES", &server.url)
            .env("LMLANG_TEST_POSTGRES_TLS", &server.tls_url);
        run_tests(&mut command, extent, &mut findings, |line| lines.add(line))?;
    }
    Ok(findings)
}

/// Where the faults are whose plan is drawn from a seed.
const FAULTS: [&str; 8] = [
    "test",
    "--locked",
    "--package=lmlang-engine",
    "--test=it",
    "--",
    "--nocapture",
    "--exact",
    "faults::whatever_happens_what_was_acknowledged_is_there_once",
];

/// The kind of database that a seed of the faults is tried on: its plan is another one on each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Database {
    File,
    Postgres,
}

/// Tries a seed of the faults again, and brings up what it needs.
pub(crate) fn try_seed(workspace: &Workspace, seed: u64, on: Database) -> Result<ExitCode> {
    let server = match on {
        Database::File => None,
        Database::Postgres => Some(postgres::Server::start()?),
    };
    let mut command = workspace.cargo(&FAULTS);
    command.env("LMLANG_SEED", seed.to_string()).env_remove("LMLANG_TEST_POSTGRES");
    if let Some(server) = &server {
        command.env("LMLANG_TEST_POSTGRES", &server.url);
    }
    process::run(&mut command)?;
    Ok(ExitCode::SUCCESS)
}

fn run_tests(
    command: &mut Command,
    extent: Extent,
    findings: &mut Findings,
    mut show: impl FnMut(&str),
) -> Result<()> {
    command.env(PROPERTY_SEED, extent.seed.to_string());
    if extent.length == Length::Long {
        command.env("LMLANG_LONG", "1");
    }
    let before = findings.failed.len();
    let ended = process::watch(command, |line| {
        show(line);
        if let Some(name) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")) {
            findings.failed.push(name.to_owned());
        } else if let Some(passed) = passed(line) {
            findings.passed += passed;
        }
    });
    match ended {
        Err(error) if findings.failed.len() == before => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads the count from `test result: ok. 3 passed; 0 failed; ..`.
fn passed(line: &str) -> Option<u64> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    counts.split_once(" passed")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn closing_lines_are_counted() {
        assert_eq!(super::passed("test result: ok. 30 passed; 0 failed; 0 ignored"), Some(30));
        assert_eq!(super::passed("test result: FAILED. 2 passed; 1 failed; 0 ignored"), Some(2));
        assert_eq!(super::passed("test a::b ... ok"), None);
    }
}

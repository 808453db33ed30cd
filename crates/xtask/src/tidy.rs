//! Rules of the sources that no compiler knows.

use std::fs;

use anyhow::Result;

use crate::report::Findings;
use crate::workspace::Workspace;

/// Longest source file without its tests.
const LINES: usize = 600;

/// Files in which a rule's own words may stand.
const RULES: &str = "crates/xtask/src/tidy.rs";

/// The map of the tree: the files that it names are there.
const MAP: &str = "ARCHITECTURE.md";

/// Crates whose sources may not reach for the outside, and how they would.
const PURE: &[&str] =
    &["ir", "verify", "interp", "check", "wasm", "history", "flow", "entities", "redact", "streams"];
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "SystemTime",
    "Instant::now",
    "println!",
    "eprintln!",
];

/// Checks every tracked text file.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings> {
    let mut wrong = Vec::new();
    let files = workspace.files()?;
    for file in &files {
        // A file that is not text has no lines to check.
        let Ok(text) = fs::read_to_string(workspace.path(file)) else { continue };
        check_file(file, &text, &mut wrong);
    }
    check_map(&fs::read_to_string(workspace.path(MAP))?, &files, &mut wrong);
    for manifest in files.iter().filter(|file| file.ends_with("/Cargo.toml")) {
        let sources = manifest.replace("Cargo.toml", "src/");
        let texts = files
            .iter()
            .filter(|file| file.starts_with(&sources) && file.ends_with(".rs"))
            .map(|file| fs::read_to_string(workspace.path(file)))
            .collect::<Result<Vec<_>, _>>()?;
        let text = fs::read_to_string(workspace.path(manifest))?;
        let is_library = files.contains(&format!("{sources}lib.rs"));
        check_tests(manifest, &text, is_library, &texts, &mut wrong);
    }
    Ok(Findings::of(wrong))
}

/// A file that is named by the end of its path, with a folder at least, has one in the tree that ends so.
fn check_map(text: &str, files: &[String], wrong: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        // Every second part stands in backticks.
        for name in line.split('`').skip(1).step_by(2) {
            let named = name.contains('/') && !name.contains([' ', '*']);
            let file = [".rs", ".lm", ".mjs", ".md", ".sql"].iter().any(|suffix| name.ends_with(suffix));
            let end = format!("/{name}");
            if named && file && !files.iter().any(|file| file == name || file.ends_with(&end)) {
                wrong.push(format!("{MAP}:{}: there is no `{name}`", number + 1));
            }
        }
    }
}

/// A library is built a second time for its unit tests, and a third time for the examples in its documentation. So one
/// without them says so, and one with them may not: they would not be run.
fn check_tests(manifest: &str, text: &str, is_library: bool, sources: &[String], wrong: &mut Vec<String>) {
    let tested = sources.iter().any(|source| source.contains("#[test]") || source.contains("::test]"));
    let shown = sources.iter().any(|source| has_examples(source));
    for (there, what, setting) in
        [(tested, "unit tests", "test = false"), (shown || !is_library, "examples", "doctest = false")]
    {
        match (there, text.lines().any(|line| line == setting)) {
            (true, true) => wrong.push(format!("{manifest}: `{setting}`, and there are {what}")),
            (false, false) => wrong.push(format!("{manifest}: there are no {what}, and no `{setting}`")),
            (true, false) | (false, true) => {}
        }
    }
}

/// Whether there is a block of Rust in the documentation of a source.
fn has_examples(source: &str) -> bool {
    let mut within = false;
    for line in source.lines().map(str::trim_start) {
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(kind) = doc.and_then(|doc| doc.trim().strip_prefix("```")) else { continue };
        if !within && ["", "rust", "no_run", "should_panic"].contains(&kind) {
            return true;
        }
        within = !within;
    }
    false
}

fn check_file(file: &str, text: &str, wrong: &mut Vec<String>) {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let source = matches!(extension, "rs" | "ts" | "tsx" | "mjs" | "py");
    if file.ends_with("Cargo.toml") && file != "Cargo.toml" && !text.contains("[lints]\nworkspace = true") {
        wrong.push(format!("{file}: does not inherit the workspace's lints"));
    }
    if source && body(text).count() > LINES {
        wrong.push(format!("{file}: {} lines without its tests, more than {LINES}", body(text).count()));
    }
    if file == RULES {
        return;
    }
    let test = ["/tests/", "/e2e/"].iter().any(|folder| format!("/{file}").contains(folder))
        || ["tests.rs", "testing.rs"].iter().any(|name| file.ends_with(name));
    for (number, line) in text.lines().enumerate() {
        let mut found = |what: &str| wrong.push(format!("{file}:{}: {what}", number + 1));
        if names_machine(line) {
            found("a path of one machine");
        }
        if extension == "rs" {
            if line.contains("#[allow(") || line.contains("#![allow(") {
                found("`allow` where `expect` with a reason belongs");
            }
            if line.contains("#[ignore") {
                found("an ignored test");
            }
            if (test || in_tests(text, number)) && line.contains("sleep(") {
                found("a sleep in a test");
            }
        }
        if source && extension != "rs" && test && [".skip(", ".only("].iter().any(|word| line.contains(word))
        {
            found("a test that is left out");
        }
    }
    let pure = PURE.iter().any(|name| file.starts_with(&format!("crates/{name}/src/")));
    if pure && extension == "rs" && !test {
        for (number, line) in body(text).enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(outside) = OUTSIDE.iter().find(|outside| code.contains(**outside)) {
                wrong.push(format!("{file}:{}: `{outside}` in a pure crate", number + 1));
            }
        }
    }
}

/// Returns the lines before the tests that a Rust file ends with.
fn body(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"))
}

fn in_tests(text: &str, number: usize) -> bool {
    number >= body(text).count()
}

/// Says whether a line names a folder that only the machine it was written on has.
fn names_machine(line: &str) -> bool {
    let folders = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/")];
    folders.iter().any(|folder| {
        line.match_indices(folder).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            before.is_none_or(|before| {
                !(before.is_ascii_alphanumeric() || matches!(before, '.' | '_' | '-' | '}' | '$'))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str, expect: &[&str]) {
        let mut wrong = Vec::new();
        check_file(file, text, &mut wrong);
        assert_eq!(wrong, expect);
    }

    #[test]
    fn each_rule_finds_its_breach() {
        check(
            "crates/a/Cargo.toml",
            "[package]",
            &["crates/a/Cargo.toml: does not inherit the workspace's lints"],
        );
        check(
            "crates/a/src/lib.rs",
            "#[allow(x)]",
            &["crates/a/src/lib.rs:1: `allow` where `expect` with a reason belongs"],
        );
        check("crates/a/src/lib.rs", "fn f() { sleep(1) }", &[]);
        check("crates/a/tests/it/x.rs", "sleep(1)", &["crates/a/tests/it/x.rs:1: a sleep in a test"]);
        check(
            "crates/a/src/lib.rs",
            "\n#[cfg(test)]\nsleep(1)",
            &["crates/a/src/lib.rs:3: a sleep in a test"],
        );
        check(
            "crates/ir/src/lib.rs",
            "use std::fs; // std::net",
            &["crates/ir/src/lib.rs:1: `std::fs` in a pure crate"],
        );
        check("crates/ir/src/lib.rs", "// std::fs\n#[cfg(test)]\nstd::env", &[]);
        check("tests/clients/a.mjs", "test.only()", &["tests/clients/a.mjs:1: a test that is left out"]);
        let long = "x\n".repeat(601);
        check("web/a.ts", &long, &["web/a.ts: 601 lines without its tests, more than 600"]);
        check("notes.md", &format!("see {}x", concat!("/", "root/")), &["notes.md:1: a path of one machine"]);
        check("notes.md", &format!("see a{}x", concat!("/", "work/")), &[]);
    }

    #[test]
    fn the_map_names_what_is_there() {
        let files = ["crates/a/src/b/c.rs".to_owned(), "d/e.sql".to_owned()];
        let found = |text: &str| {
            let mut wrong = Vec::new();
            check_map(text, &files, &mut wrong);
            wrong
        };
        assert!(found("see `a/src/b/c.rs`, `b/c.rs`, `d/e.sql`, `f.rs` and `b/*.rs`").is_empty());
        assert_eq!(found("one\nsee `b/d.rs`"), ["ARCHITECTURE.md:2: there is no `b/d.rs`"]);
    }

    #[test]
    fn what_there_is_to_run_is_run_and_nothing_else_is_built() {
        let found = |text: &str, source: &str| {
            let mut wrong = Vec::new();
            check_tests("Cargo.toml", text, true, &[source.to_owned()], &mut wrong);
            wrong.len()
        };
        let neither = "[lib]\ntest = false\ndoctest = false\n";
        assert_eq!(found(neither, "fn f() {}"), 0);
        assert_eq!(found("[lib]\n", "fn f() {}"), 2);
        assert_eq!(found(neither, "#[test]\nfn f() {}"), 1);
        assert_eq!(found("[lib]\ndoctest = false\n", "#[tokio::test]\nasync fn f() {}"), 0);
        assert_eq!(found(neither, "/// ```\n/// f();\n/// ```\nfn f() {}"), 1);
        assert_eq!(found("[lib]\ntest = false\n", "//! ```\n//! f();\n//! ```\n"), 0);
        assert_eq!(found(neither, "/// ```text\n/// a\n/// ```\nfn f() {}"), 0);
    }
}

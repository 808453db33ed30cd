//! Rules of the sources that no compiler knows.

use std::fs;

use anyhow::Result;

use crate::report::Findings;
use crate::workspace::Workspace;

/// Longest source file without its tests.
const LINES: usize = 600;

/// Files that may be longer, each with the reason.
const LONG: &[(&str, &str)] = &[
    (
        "crates/ir/src/text/print_body.rs",
        "one subject: how a body prints, with one match over what an operator holds",
    ),
    ("crates/testkit/src/generate/body.rs", "one generator: a choice per group of operators"),
];

/// Files in which a rule's own words may stand.
const RULES: &str = "crates/xtask/src/tidy.rs";

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
    for (file, _) in LONG {
        if !files.iter().any(|tracked| tracked == file) {
            wrong.push(format!("{file}: is listed as long and does not exist"));
        }
    }
    for manifest in files.iter().filter(|file| file.ends_with("/Cargo.toml")) {
        let sources = manifest.replace("Cargo.toml", "src/");
        let texts = files
            .iter()
            .filter(|file| file.starts_with(&sources) && file.ends_with(".rs"))
            .map(|file| fs::read_to_string(workspace.path(file)))
            .collect::<Result<Vec<_>, _>>()?;
        check_unit_tests(manifest, &fs::read_to_string(workspace.path(manifest))?, &texts, &mut wrong);
    }
    Ok(Findings::of(wrong))
}

/// A library is built a second time for its unit tests, so one without them says so, and one with them may not: they would
/// not be run.
fn check_unit_tests(manifest: &str, text: &str, sources: &[String], wrong: &mut Vec<String>) {
    let tested = sources.iter().any(|source| source.contains("#[test]") || source.contains("::test]"));
    match (tested, text.contains("\ntest = false\n")) {
        (true, true) => wrong.push(format!("{manifest}: `test = false`, and there are unit tests")),
        (false, false) => wrong.push(format!("{manifest}: there are no unit tests, and no `test = false`")),
        (true, false) | (false, true) => {}
    }
}

fn check_file(file: &str, text: &str, wrong: &mut Vec<String>) {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let source = matches!(extension, "rs" | "ts" | "tsx" | "mjs" | "py");
    if file.ends_with("Cargo.toml") && file != "Cargo.toml" && !text.contains("[lints]\nworkspace = true") {
        wrong.push(format!("{file}: does not inherit the workspace's lints"));
    }
    if source && body(text).count() > LINES && !LONG.iter().any(|(long, _)| *long == file) {
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
        let unit_tests = |text: &str, source: &str| {
            let mut wrong = Vec::new();
            check_unit_tests("Cargo.toml", text, &[source.to_owned()], &mut wrong);
            wrong.len()
        };
        assert_eq!(unit_tests("[lib]\ntest = false\n", "fn f() {}"), 0);
        assert_eq!(unit_tests("[lib]\ntest = false\n", "#[test]\nfn f() {}"), 1);
        assert_eq!(unit_tests("[lib]\n", "#[tokio::test]\nasync fn f() {}"), 0);
        assert_eq!(unit_tests("[lib]\n", "fn f() {}"), 1);
        check("notes.md", &format!("see a{}x", concat!("/", "work/")), &[]);
    }
}

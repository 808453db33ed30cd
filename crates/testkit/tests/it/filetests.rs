//! The tests that are text.

use std::path::Path;

use lmlang_testkit::filetest;

fn check(folder: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    filetest::check(&root).expect("the folder is there and can be read").assert();
}

#[test]
fn filetests_hold() {
    check("tests/filetests");
}

#[test]
fn examples_give_their_answers() {
    check("examples");
}

/// The fenced blocks of a page that say what a run does, each behind as many empty lines as stand before it.
fn runs_of(page: &str) -> Vec<String> {
    let (mut blocks, mut open) = (Vec::new(), None);
    for (number, line) in page.lines().enumerate() {
        match (line.starts_with("```"), &mut open) {
            (true, None) => open = Some("\n".repeat(number + 1)),
            (true, Some(_)) => blocks.extend(open.take()),
            (false, Some(block)) => {
                block.push_str(line);
                block.push('\n');
            }
            (false, None) => {}
        }
    }
    blocks.retain(|block: &String| block.contains("\n; run: "));
    blocks
}

#[test]
fn programs_on_pages_give_their_answers() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut checked = 0;
    for folder in [docs.clone(), docs.join("tutorial")] {
        for entry in std::fs::read_dir(folder).expect("there are pages") {
            let path = entry.expect("they can be listed").path();
            if path.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            let page = std::fs::read_to_string(&path).expect("they can be read");
            for block in runs_of(&page) {
                filetest::check_text(&path.with_extension("lm"), &block).assert();
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "a page says what a run does");
}

/// The runner itself: what does not hold is told with its line.
#[track_caller]
fn fails(name: &str, text: &str, expect: &[&str]) {
    let report = filetest::check_text(Path::new(name), text);
    let found: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expect.len(), "{found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.contains(expect), "`{found}` does not say `{expect}`");
    }
}

const TWICE: &str = "module m\npub func twice (n: i64) -> (i64) {\n  return (add.i64 n, n)\n}\n";

#[test]
fn what_does_not_hold_is_told_with_its_line() {
    fails("a.lm", &format!("{TWICE}; run: twice(2) == 4\n"), &[]);
    fails("a.lm", &format!("{TWICE}; run: twice(2) == 5\n"), &["a.lm:5: expected `5`, found `i64:4`"]);
    fails(
        "a.lm",
        &format!("{TWICE}; run: twice(2) traps X\n"),
        &["a.lm:5: expected the trap X, found `i64:4`"],
    );
    fails("a.lm", &format!("{TWICE}; run: other(2) == 5\n"), &["a.lm:5: expected the name of a function"]);
    fails("a.lm", &format!("{TWICE}; run: twice() == 5\n"), &["a.lm:5: expected 1 values"]);
    let wrong = TWICE.replace("n, n)", "n, 1.5)");
    fails("a.lm", &wrong, &["a.lm:3: expected text"]);
    let mistyped = TWICE.replace("(i64) {", "(i32) {");
    fails("a.lm", &mistyped, &["a.lm:3: expected no diagnostic, found TYPE_MISMATCH"]);
    fails("a.lm", &mistyped.replace("n, n)", "n, n) ;! TYPE_MISMATCH"), &[]);
    fails("a.lm", &TWICE.replace("n, n)", "n, n) ;! TYPE_MISMATCH"), &["a.lm:3: expected TYPE_MISMATCH"]);
}

#[test]
fn edits_are_accepted_refused_and_undone() {
    let text = |edit: &str, expect: &str| {
        format!("# t\n```program\n{TWICE}```\n```edit\n{edit}\n```\n```expect\n{expect}\n```\n")
    };
    let rename = r#"[{"renameFunction": {"ref": "m::twice", "name": "double"}}]"#;
    fails("a.md", &text(rename, "accepted\nrun: m::double(2) == 4\nno diagnostic"), &[]);
    fails("a.md", &text(rename, "run: m::twice(2) == 4"), &["a.md:12: expected the name of a function"]);
    fails("a.md", &text(rename, "lacks: return (add.i64 n, n)"), &["a.md:12: expected no such line"]);
    let undone = text(rename, "accepted") + "```undo\n```\n```expect\nrun: m::twice(2) == 4\n```\n";
    fails("a.md", &undone, &[]);
    let unknown = r#"[{"renameFunction": {"ref": "m::thrice", "name": "double"}}]"#;
    fails("a.md", &text(unknown, "refused UNKNOWN_REF"), &[]);
    fails("a.md", &text(unknown, "accepted"), &["a.md:8: expected an edit that is accepted", "a.md:12"]);
    fails("a.md", &text(r#"[{"renameFunction": {}}]"#, ""), &["a.md:8: expected a list of edits"]);
    fails("a.md", "# t\n```undo\n```\n", &["a.md:2: expected something to undo"]);
}

#[test]
fn merges_say_what_they_come_to() {
    let text = |theirs: &str, steps: &str| {
        let rename =
            |name: &str| format!(r#"[{{"renameFunction": {{"ref": "m::twice", "name": "{name}"}}}}]"#);
        let (ours, theirs) = (rename("double"), rename(theirs));
        format!("# t\n```program\n{TWICE}```\n```ours\n{ours}\n```\n```theirs\n{theirs}\n```\n{steps}")
    };
    let merge =
        |resolutions: &str, expect: &str| format!("```merge\n{resolutions}```\n```expect\n{expect}\n```\n");
    fails("a.md", &text("double", &merge("", "clean\nrun: m::double(2) == 4")), &[]);
    let conflict = "conflict BOTH_EDITED f2: both sides change the name of `f2`";
    let stands = "ours f2: pub func double#f2 (n: i64) -> (i64)";
    fails("a.md", &text("duplex", &merge("", &format!("{conflict}\n{stands}\nrun: m::twice(2) == 4"))), &[]);
    fails("a.md", &text("duplex", &merge("", "run: m::twice(2) == 4")), &["a.md:14: expected a clean merge"]);
    fails(
        "a.md",
        &text("duplex", &merge("", "clean")),
        &["a.md:17: expected clean, found conflict BOTH_EDITED"],
    );
    fails("a.md", &text("double", &merge("", conflict)), &["a.md:17: expected conflict BOTH_EDITED"]);
    fails("a.md", &text("duplex", &merge("f2 theirs\n", "clean\nrun: m::duplex(2) == 4")), &[]);
    fails(
        "a.md",
        &text("double", &merge("f2 ours\n", "clean")),
        &["a.md:14: expected a merge, found `f2` is not"],
    );
}

//! Commands on files: check, fmt, run, and those that need nothing.

use std::process::Stdio;

use crate::tool::Place;

const WRONG: &str = "module wrong\npub func f (n: i64) -> (i64) {\n  x = add.i64 m, 1\n  return x\n}\nfunc g () -> (i64) {\n  return true\n}\n";

#[test]
fn check_names_the_place_of_what_is_wrong() {
    let place = Place::with_example("fib.lm");
    place.ok(&["check", "fib.lm"]);
    place.write("wrong.lm", WRONG);
    let told = place.fails(&["check", "fib.lm", "wrong.lm"], 6, "UNKNOWN_NAME");
    assert!(told.contains("wrong.lm:3:15"), "{told}");
    place.write("types.lm", "module m\npub func g (n: i32) -> (i64) {\n  return n\n}\n");
    let done = place.run(&["check", "types.lm", "--json"]);
    assert_eq!(done.code, Some(6));
    let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let found = &report[0]["diagnostics"][0];
    assert_eq!((&report[0]["ok"], &found["line"]), (&false.into(), &3.into()), "{report}");
    assert_eq!(found["severity"], "ERROR", "{report}");
}

#[test]
fn run_prints_results_and_ends_as_the_program_did() {
    let place = Place::with_example("fib.lm");
    assert_eq!(place.ok(&["run", "fib.lm", "fib", "20"]), "i64:6765\n");
    assert_eq!(place.ok(&["run", "fib.lm", "fibonacci::fib_pair", "10"]), "i64:55\ni64:89\n");
    let told = place.fails(&["run", "fib.lm", "fib", "-1"], 1, "CONTRACT_VIOLATED");
    assert!(told.contains("`n is not negative`") && told.contains("fib.lm:"), "{told}");
    let told = place.fails(&["run", "fib.lm", "fibb", "1"], 3, "NOT_FOUND");
    assert!(told.contains("did you mean: fib"), "{told}");
    place.fails(&["run", "fib.lm", "fib"], 2, "BAD_ARGUMENT");
    place.fails(&["run", "fib.lm", "fib", "true"], 2, "BAD_ARGUMENT");
    place.fails(&["run", "none.lm", "fib", "1"], 3, "IO");
    place.fails(&["run", "fib.lm", "fib", "20", "--fuel", "100"], 1, "LIMIT_REACHED");
    place.fails(&["run", "fib.lm", "fib", "40", "--timeout", "0"], 124, "TIME");
}

#[test]
fn what_is_piped_in_is_read_by_the_program() {
    let place = Place::with_example("strings.lm");
    place.write("names", "Ada\n");
    assert!(place.ok(&["run", "strings.lm", "greet"]).contains("Hello, world!"));
    assert!(place.ok(&["run", "strings.lm", "greet", "--stdin", "names"]).contains("Hello, Ada!"));
    for args in [&["run", "strings.lm", "greet"][..], &["run", "strings.lm", "greet", "--stdin", "-"]] {
        let greeted = place.run_with(args, "Eve\n");
        assert_eq!(greeted.stdout, "What is your name?\nHello, Eve!\n", "{greeted:?}");
    }
    // The pipe stays open: what does not read does not wait for its end.
    let mut command = place.command();
    let mut waiting = command.args(["run", "strings.lm", "fizzbuzz", "1"]).stdin(Stdio::piped());
    waiting = waiting.stdout(Stdio::null());
    let mut child = waiting.spawn().expect("the binary runs");
    let _pipe = child.stdin.take();
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_mark_of_utf_8_is_no_part_of_a_file() {
    let place = Place::new();
    place.write("m.lm", "\u{feff}; About m.\nmodule m\npub func f () -> (i32) { return 1 }\n");
    place.ok(&["check", "m.lm"]);
    assert_eq!(place.ok(&["run", "m.lm", "f"]), "i32:1\n");
    place.write("wrong.lm", "\u{feff}func f () -> (i32) { return x }\n");
    assert!(place.fails(&["run", "wrong.lm", "f"], 6, "UNKNOWN_NAME").contains("wrong.lm:1:29"));
}

#[test]
fn traces_are_lines_of_json() {
    let place = Place::with_example("fib.lm");
    let lines = place.ok(&["run", "fib.lm", "fib", "2", "--trace", "--json"]);
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, steps) = lines.split_last().unwrap();
    assert_eq!(end["values"], serde_json::json!(["i64:1"]));
    assert_eq!(end["steps"], steps.len(), "every executed node is a step");
    let calls = place.ok(&["run", "fib.lm", "fib", "2", "--trace=calls"]);
    assert!(calls.lines().count() < steps.len(), "{calls}");
}

#[test]
fn fmt_changes_the_layout_and_nothing_else() {
    let place = Place::new();
    place.write(
        "m.lm",
        "module m\nfunc f(a:i32)->(i32){\nx = div_s.i32(mul.i32(a, 0x10), 3) ; about x\n\n\nreturn x }\n",
    );
    assert_eq!(place.run(&["fmt", "--check", "m.lm"]).code, Some(1));
    place.ok(&["fmt", "m.lm"]);
    let laid_out = "module m\nfunc f (a: i32) -> (i32) {\n  x = div_s.i32(mul.i32(a, 0x10), 3) ; about x\n\n  return x }\n";
    assert_eq!(place.read("m.lm"), laid_out);
    place.ok(&["fmt", "--check", "m.lm"]);
    place.ok(&["fmt", "--refs", "m.lm"]);
    assert!(place.read("m.lm").contains("func f#f"));
    for args in [&["fmt", "--check", "--refs", "m.lm"][..], &["fmt", "--check", "m.lm"]] {
        let done = place.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""));
    }
    place.write("wrong.lm", WRONG);
    assert_eq!(place.run(&["fmt", "wrong.lm"]).code, Some(6));
    assert_eq!(place.read("wrong.lm"), WRONG);
}

/// A file may have 4 KiB then, and what cannot be written is an error.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_to_its_end_stays_as_it_was() {
    let place = Place::new();
    let comments = "; about f\n".repeat(3_000);
    let wide = format!("module m\n{comments}func f(a:i32)->(i32){{\nreturn a }}\n");
    place.write("m.lm", &wide);
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" fmt m.lm", crate::tool::LMLANG]);
    command.current_dir(place.path()).env_clear().env("HOME", place.path());
    let done = command.output().expect("there is a shell");
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && told.contains("[IO]"), "{told}");
    assert_eq!(place.read("m.lm"), wide);
    let left = std::fs::read_dir(place.path()).expect("the folder is there").count();
    assert_eq!(left, 1, "nothing is left beside it");
}

#[test]
fn examples_are_laid_out() {
    let files = std::fs::read_dir(crate::tool::root().join("examples")).expect("there are examples");
    let files: Vec<_> = files.map(|file| file.expect("readable").path().into_os_string()).collect();
    let done = Place::new().command().args(["fmt", "--check"]).args(files).output().expect("the binary runs");
    assert_eq!((done.status.code(), &*done.stdout), (Some(0), &b""[..]));
}

/// PUN-91: flags go before the environment, that before the file, and that before the defaults.
#[test]
fn settings_say_where_they_come_from() {
    let place = Place::new();
    let origin = |place: &Place, name: &str, args: &[&str], environment: Option<&str>| {
        let mut command = place.command();
        command.args(["config", "show", "--origin", "--json"]).args(args);
        if let Some(value) = environment {
            command.env("LMLANG_DATA", value);
        }
        let shown: serde_json::Value =
            serde_json::from_slice(&command.output().unwrap().stdout).expect("a JSON document");
        let found = shown.as_array().unwrap().iter().find(|setting| setting["name"] == name).cloned();
        let found = found.expect("the setting is listed");
        (found["value"].as_str().unwrap().to_owned(), found["origin"].as_str().unwrap().to_owned())
    };
    let pair = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(origin(&place, "data", &[], None), pair(".lmlang", "default"));
    place.write("lmlang.toml", "data = \"there\"\n");
    let (value, from) = origin(&place, "data", &[], None);
    assert!(value == "there" && from.ends_with("lmlang.toml"), "{value} {from}");
    assert_eq!(origin(&place, "data", &[], Some("here")), pair("here", "LMLANG_DATA"));
    assert_eq!(origin(&place, "data", &["--data", "flag"], Some("here")), pair("flag", "flag"));
    place.write("lmlang.toml", "dat = 1\n");
    let told = place.fails(&["config", "show"], 2, "BAD_SETTINGS");
    assert!(told.contains("dat"), "{told}");
}

#[test]
fn help_completions_and_schema_go_to_standard_output() {
    let place = Place::new();
    assert!(place.ok(&["help", "exit-codes"]).contains("124"));
    assert!(place.ok(&["help", "checkpoint", "create"]).contains("Usage"));
    assert!(place.ok(&["completions", "bash"]).contains("lmlang"));
    assert!(place.ok(&["schema", "print"]).contains("type Query"));
    assert_eq!(place.run(&["help", "chek"]).code, Some(3));
    assert_eq!(place.run(&["nothing"]).code, Some(2));
}

//! Commands on a database.

use crate::tool::{Done, Place};

fn imported() -> Place {
    let place = Place::with_example("fib.lm");
    assert_eq!(place.ok(&["import", "fib.lm"]), "fib\n");
    place
}

#[test]
fn programs_are_imported_listed_exported_and_deleted() {
    let place = Place::with_example("fib.lm");
    place.fails(&["program", "list"], 3, "NO_DATABASE");
    place.ok(&["import", "fib.lm"]);
    let told = place.fails(&["import", "fib.lm"], 5, "NAME_TAKEN");
    assert!(told.contains("a program named `fib` exists: `--name` gives this one another name"), "{told}");
    place.ok(&["import", "fib.lm", "--name", "other"]);
    let list = place.json(&["program", "list"]);
    let names: Vec<&str> = list.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["fib", "other"]);
    let told = place.fails(&["program", "show", "fibb"], 3, "NOT_FOUND");
    assert!(told.contains("did you mean: fib"), "{told}");

    place.ok(&["export", "fib", "out.lm"]);
    assert_eq!(place.ok(&["run", "out.lm", "fib", "20"]), "i64:6765\n");
    place.ok(&["import", "out.lm", "--name", "again"]);
    let hash = |name: &str| place.json(&["program", "show", name])["rootHash"].clone();
    assert_eq!(hash("fib"), hash("again"), "what is exported is the same content, refs included");
    place.ok(&["export", "fib", "out.wasm"]);
    assert_eq!(place.ok(&["run", "out.wasm", "fib", "20"]), "i64:6765\n");
    place.fails(&["export", "fib", "out"], 2, "UNKNOWN_SUFFIX");

    place.fails(&["program", "delete", "other"], 2, "NOT_CONFIRMED");
    place.ok(&["program", "delete", "other", "--yes"]);
    place.fails(&["program", "show", "other"], 3, "NOT_FOUND");
    place.ok(&["doctor"]);
}

#[test]
fn a_folder_goes_before_a_database_that_is_named_elsewhere_and_says_so() {
    let place = imported();
    let elsewhere = place.path().join("elsewhere.db");
    let list = |args: &[&str]| {
        let mut command = place.command();
        command.args(args).args(["program", "list"]);
        command.env("LMLANG_DATABASE_URL", format!("sqlite:{}", elsewhere.display()));
        Done::from(command.output().expect("the binary runs"))
    };
    let there = list(&["--data", ".lmlang"]);
    assert_eq!(there.code, Some(0), "{there:?}");
    assert!(there.stdout.contains("fib"), "{there:?}");
    let warning =
        "warning: `--data` is given, so the database that LMLANG_DATABASE_URL names is not looked at\n";
    assert_eq!(there.stderr, warning);
    // Without the folder, and where a URL is given here, there is nothing to be wondered at.
    assert_ne!(list(&[]).code, Some(0));
    let url = format!("sqlite:{}", place.path().join(".lmlang/lmlang.db").display());
    let named = list(&["--database-url", &url]);
    assert_eq!((named.code, named.stderr.as_str()), (Some(0), ""), "{named:?}");
    assert_eq!(place.run(&["--data", ".lmlang", "program", "list"]).stderr, "");
}

#[test]
fn a_database_that_is_given_goes_before_a_server_that_is_named_elsewhere() {
    let place = imported();
    // Nobody listens there.
    let list = |args: &[&str]| {
        let mut command = place.command();
        command.args(args).args(["program", "list"]).env("LMLANG_SERVER", "http://127.0.0.1:1");
        Done::from(command.output().expect("the binary runs"))
    };
    let url = format!("sqlite:{}", place.path().join(".lmlang/lmlang.db").display());
    for (flag, value) in [("--data", ".lmlang"), ("--database-url", url.as_str())] {
        let here = list(&[flag, value]);
        assert!(here.code == Some(0) && here.stdout.contains("fib"), "{here:?}");
        let warning =
            format!("warning: `{flag}` is given, so the server that LMLANG_SERVER names is not asked\n");
        assert_eq!(here.stderr, warning);
    }
    assert_ne!(list(&[]).code, Some(0));
    let mut doctor = place.command();
    doctor.args(["doctor", "--data", ".lmlang"]).env("LMLANG_SERVER", "http://127.0.0.1:1");
    let doctor = Done::from(doctor.output().expect("the binary runs"));
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
}

#[test]
fn what_comes_from_standard_input_needs_a_name() {
    let place = Place::new();
    let told = place.fails(&["import", "-"], 2, "BAD_ARGUMENT");
    assert!(told.contains("--name"), "{told}");
    let text = "module m\npub func f () -> (i32) { return 1 }\n";
    assert_eq!(place.run_with(&["import", "-", "--name", "m"], text).stdout, "m\n");
}

#[test]
fn a_program_with_errors_is_not_imported() {
    let place = Place::new();
    place.write("wrong.lm", "module m\npub func f () -> (i64) {\n  return x\n}\n");
    place.fails(&["import", "wrong.lm"], 6, "UNKNOWN_NAME");
    assert_eq!(place.ok(&["program", "list"]), "");
}

#[test]
fn checkpoints_name_revisions_and_history_shows_them() {
    let place = imported();
    assert_eq!(place.ok(&["checkpoint", "create", "fib", "first"]), "first at r1\n");
    place.fails(&["checkpoint", "create", "fib", "first"], 5, "NAME_TAKEN");
    assert_eq!(place.json(&["checkpoint", "list", "fib"])[0]["name"], "first");
    // The content is that of the checkpoint: there is nothing to restore, and nothing to undo or redo.
    assert_eq!(place.run(&["checkpoint", "restore", "fib", "first"]).code, Some(9));
    assert_eq!(place.run(&["undo", "fib"]).code, Some(9));
    assert_eq!(place.run(&["redo", "fib"]).code, Some(9));
    let history = place.json(&["history", "fib"]);
    let kinds: Vec<&str> =
        history.as_array().unwrap().iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["CHECKPOINT", "CREATE"]);
    assert_eq!(history[0]["author"], "ada");
    assert!(place.ok(&["diff", "fib", "r1", "first"]).starts_with("+0 -0 ~0"));
    place.ok(&["checkpoint", "delete", "fib", "first"]);
    place.fails(&["checkpoint", "delete", "fib", "first"], 3, "NOT_FOUND");
    place.fails(&["diff", "fib", "r9"], 3, "NOT_FOUND");
    place.fails(&["undo", "fib", "--to", "r9"], 3, "NOT_FOUND");
    place.fails(&["redo", "fib", "--to", "r9"], 3, "NOT_FOUND");
    assert_eq!(place.run(&["undo", "fib", "--to", "r1"]).code, Some(9), "the head is there already");
    assert_eq!(place.run(&["history", "fib", "-n", "0"]).code, Some(2));
    let sound = place.json(&["doctor"]);
    assert_eq!((&sound["sound"], &sound["replayed"]), (&true.into(), &3.into()), "{sound}");
}

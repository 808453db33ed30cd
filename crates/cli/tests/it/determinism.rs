//! What follows from a program and its inputs alone is the same in any two processes, whatever surrounds them.

use std::process::Command;

use serde_json::Value;

use crate::tool::{Done, Place};

/// Runs with a trace of all their nodes: an example, a function and its arguments.
const RUNS: [&[&str]; 9] = [
    &["bank.lm", "savings", "100000", "500", "30"],
    &["bignum.lm", "fib", "30"],
    &["closures.lm", "range", "5"],
    &["expr.lm", "value_of", "Expr.number(7)"],
    &["md5.lm", "md5", "\"abc\""],
    &["nbody.lm", "energy_after", "2"],
    &["queens.lm", "count", "4"],
    &["sort.lm", "sort", "[3, 1, 2]"],
    &["strings.lm", "fizzbuzz", "15"],
];

/// What is done to a program after it was imported.
const CHANGES: [&[&str]; 9] = [
    &["edit", "fib", "--add-text", "one.lm", "--module", "fibonacci"],
    &["branch", "create", "fib", "side"],
    &["edit", "fib", "--add-text", "two.lm", "--module", "fibonacci", "--branch", "side"],
    &["undo", "fib"],
    &["redo", "fib"],
    &["checkpoint", "create", "fib", "here"],
    &["merge", "fib", "side"],
    &["edit", "fib", "--replace-function", "two", "three.lm"],
    &["checkpoint", "restore", "fib", "here"],
];

/// The command of another place, with other surroundings.
fn elsewhere(place: &Place) -> Command {
    let mut command = place.command();
    command
        .env("LANG", "tr_TR.UTF-8")
        .env("TZ", "Asia/Tokyo")
        .env("USER", "bob")
        .env("TOKIO_WORKER_THREADS", "1");
    command
}

#[test]
fn two_processes_run_one_program_alike() {
    for run in RUNS {
        let place = || Place::with_example(run[0]);
        let traced = |mut command: Command| -> Done {
            command.arg("run").args(run).args(["--trace", "--json"]).output().expect("the binary runs").into()
        };
        let (here, there) = (place(), place());
        let (one, other) = (traced(here.command()), traced(elsewhere(&there)));
        assert_eq!(one.code, Some(0), "{run:?}: {}", one.stderr);
        assert!(one.stdout.lines().count() > 3, "{run:?}: {}", one.stdout);
        assert_eq!((one.code, one.stdout), (other.code, other.stdout), "{run:?}");
    }
}

/// The kinds and root hashes of the revisions of a program that is made and changed in a place.
fn revisions(place: &Place, command: impl Fn(&Place) -> Command) -> Vec<(Value, Value)> {
    for (name, value) in [("one", 1), ("two", 2), ("three", 3)] {
        let function = if name == "three" { "two" } else { name };
        place.write(
            &format!("{name}.lm"),
            &format!("func {function} () -> (i64) pure {{ return (add.i64 {value}, 1) }}\n"),
        );
    }
    let run = |args: &[&str]| -> Done {
        let done: Done = command(place).args(args).output().expect("the binary runs").into();
        assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
        done
    };
    run(&["import", "fib.lm"]);
    for change in CHANGES {
        run(change);
    }
    let history: Value =
        serde_json::from_str(&run(&["history", "fib", "--json"]).stdout).expect("one document");
    let all = history.as_array().expect("it is a list").iter();
    all.map(|one| (one["kind"].clone(), one["rootHash"].clone())).collect()
}

#[test]
fn two_processes_come_to_the_same_states() {
    let place = || Place::with_example("fib.lm");
    let one = revisions(&place(), Place::command);
    let other = revisions(&place(), elsewhere);
    assert_eq!(one, other);
    let kinds: Vec<&str> = one.iter().filter_map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["RESTORE", "EDIT", "MERGE", "CHECKPOINT", "REDO", "UNDO", "EDIT", "CREATE"]);
    assert!(one.iter().all(|(_, hash)| hash.as_str().is_some_and(|hash| hash.len() == 64)), "{one:?}");
}

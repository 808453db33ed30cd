//! Backups on the command line: from one database into another, with everything that can be wrong with a file.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::serve::Server;
use crate::tool::{LMLANG, Place};

/// A database with some history.
fn worked() -> Place {
    let place = Place::with_example("fib.lm");
    place.ok(&["import", "fib.lm"]);
    place.ok(&["import", "fib.lm", "--name", "other"]);
    place.ok(&["import", "fib.lm", "--name", "gone"]);
    place.ok(&["checkpoint", "create", "fib", "first"]);
    place.ok(&["program", "delete", "gone", "--yes"]);
    place
}

/// What programs there are, and their history.
fn told(place: &Place) -> Value {
    let list = place.json(&["program", "list"]);
    let names = list.as_array().unwrap().iter().map(|program| program["name"].as_str().unwrap());
    let told = names.map(|name| {
        json!([
            place.json(&["program", "show", name]),
            place.json(&["history", name]),
            place.json(&["checkpoint", "list", name])
        ])
    });
    told.collect()
}

fn fates(loaded: &Value) -> Vec<(&str, &str, u64)> {
    let programs = loaded.as_array().unwrap().iter();
    programs
        .map(|one| {
            (one["name"].as_str().unwrap(), one["done"].as_str().unwrap(), one["entries"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn a_database_is_moved_with_all_of_its_history() {
    let (from, to) = (worked(), Place::new());
    let file = to.path().join("all.lmb");
    let file = file.to_str().unwrap();
    let made = from.json(&["backup", "create", file]);
    assert_eq!((&made["programs"], &made["deleted"], &made["entries"]), (&json!(3), &json!(1), &json!(4)));
    assert_eq!(made["bytes"].as_u64(), fs::metadata(file).ok().map(|file| file.len()));
    let loaded = to.json(&["backup", "load", "all.lmb"]);
    assert_eq!(fates(&loaded), [("fib", "made", 2), ("other", "made", 1), ("gone", "made", 1)]);
    assert_eq!(told(&to), told(&from));
    to.fails(&["program", "show", "gone"], 3, "NOT_FOUND");
    assert_eq!(to.json(&["doctor"])["sound"], true);

    // It goes on here; what is new comes after.
    from.ok(&["checkpoint", "create", "fib", "second"]);
    from.ok(&["backup", "create", file, "--without-deleted"]);
    let loaded = to.json(&["backup", "load", "all.lmb"]);
    assert_eq!(fates(&loaded), [("fib", "continued", 1), ("other", "kept", 0)]);
    assert_eq!(told(&to), told(&from));
    // It goes on there as well: then it has gone two ways.
    from.ok(&["checkpoint", "create", "fib", "third"]);
    to.ok(&["checkpoint", "create", "fib", "another"]);
    from.ok(&["backup", "create", file]);
    let refused = to.fails(&["backup", "load", "all.lmb"], 5, "DIVERGED");
    assert!(refused.contains("program `fib` has gone another way here: r4 is another one"), "{refused}");
    assert_eq!(fates(&to.json(&["backup", "load", "all.lmb", "--program", "other"])), [("other", "kept", 0)]);
    assert_eq!(to.json(&["doctor"])["sound"], true);
}

#[test]
fn programs_are_chosen_and_renamed() {
    let (from, to) = (worked(), Place::with_example("fib.lm"));
    to.ok(&["import", "fib.lm"]);
    let file = to.path().join("all.lmb");
    let file = file.to_str().unwrap();
    from.ok(&["backup", "create", file]);
    let refused = to.fails(&["backup", "load", file], 5, "NAME_TAKEN");
    assert!(refused.contains("another program is called `fib` here"), "{refused}");
    assert_eq!(to.json(&["program", "list"]).as_array().unwrap().len(), 1);
    let missing = to.fails(&["backup", "load", "none.lmb"], 3, "IO");
    assert!(missing.contains("`none.lmb` cannot be read as a backup: No such file"), "{missing}");
    to.fails(&["backup", "load", file, "--rename", "fob=fib2"], 3, "NOT_FOUND");
    to.fails(&["backup", "load", file, "--rename", "fib=a/b"], 2, "BAD_REQUEST");
    to.fails(&["backup", "load", file, "--rename", "fib=other"], 5, "NAME_TAKEN");
    assert_eq!(to.run(&["backup", "load", file, "--rename", "fib"]).code, Some(2));
    let loaded = to.json(&["backup", "load", file, "--rename", "fib=fib2", "--program", "fib"]);
    assert_eq!(fates(&loaded), [("fib2", "made", 2)]);
    assert_eq!(to.json(&["checkpoint", "list", "fib2"])[0]["name"], "first");

    let told = from.fails(&["backup", "create", file, "--program", "fob"], 3, "NOT_FOUND");
    assert!(told.contains("did you mean: fib"), "{told}");
    let made = from.json(&["backup", "create", file, "--program", "other", "--program", "fib"]);
    assert_eq!((&made["programs"], &made["entries"]), (&json!(2), &json!(3)));
    assert_eq!(to.json(&["doctor"])["sound"], true);
}

#[test]
fn what_is_no_backup_is_not_loaded() {
    let (from, to) = (worked(), Place::new());
    let file = to.path().join("whole.lmb");
    from.ok(&["backup", "create", file.to_str().unwrap()]);
    let whole = fs::read(&file).unwrap();
    let write = |bytes: &[u8]| fs::write(to.path().join("file.lmb"), bytes).unwrap();
    let fails = |code: &str, expect: &str| {
        let told = to.fails(&["backup", "load", "file.lmb"], 1, code);
        assert!(told.contains(expect), "{told}");
    };
    to.fails(&["backup", "load", "file.lmb"], 3, "IO");
    to.fails(&["backup", "load", "."], 1, "IO");
    write(b"");
    fails("BAD_BACKUP", "it is not whole: what begins at byte 0 is cut off at byte 0");
    write(b"SQLite format 3\0 and more");
    fails("BAD_BACKUP", "it is not a backup of lmlang");
    write(&whole[..whole.len() - 1]);
    fails(
        "BAD_BACKUP",
        &format!("it is not whole: what begins at byte 10 is cut off at byte {}", whole.len() - 1),
    );
    write(&[&whole[..], b"x"].concat());
    fails("BAD_BACKUP", &format!("it is damaged at byte {}: something follows the last frame", whole.len()));
    for at in (20..whole.len()).step_by(whole.len() / 11) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        write(&flipped);
        fails("BAD_BACKUP", "it is damaged at byte 10: its checksum is another");
    }
    let mut newer = whole.clone();
    newer[8] = 5;
    write(&newer);
    fails("BACKUP_NEWER", "it is a backup of version 5, this lmlang reads versions 1 to 4");
    // Not even a database is made, nor left behind where one is needed to know.
    to.fails(&["program", "list"], 3, "NO_DATABASE");
    to.fails(&["backup", "load", "whole.lmb", "--program", "fob"], 3, "NOT_FOUND");
    to.fails(&["backup", "load", "whole.lmb", "--rename", "fib=other"], 5, "NAME_TAKEN");
    to.fails(&["program", "list"], 3, "NO_DATABASE");
    to.fails(&["backup", "load", "whole.lmb", "--server", "http://127.0.0.1:1"], 2, "BAD_SETTINGS");
}

#[test]
fn one_is_told_as_one_and_a_database_that_was_there_stays() {
    let from = Place::with_example("fib.lm");
    from.ok(&["import", "fib.lm"]);
    let made = from.run(&["backup", "create", "one.lmb"]);
    assert!(made.stdout.starts_with("1 program, 0 of them deleted, 1 entry, "), "{made:?}");
    assert_eq!(made.stderr, "not in it: runs of flows with their sessions, simulations, tokens\n");
    let made = from.run(&["backup", "create", "fib.lmb", "--program", "fib"]);
    assert_eq!(
        made.stderr,
        "not in it: entities and relations, streams and pipelines of the Manager, declared flows, \
         runs of flows with their sessions, simulations, tokens\n"
    );
    let to = Place::new();
    fs::copy(from.path().join("one.lmb"), to.path().join("one.lmb")).unwrap();
    let loaded = to.run(&["backup", "load", "one.lmb"]);
    assert_eq!(
        (loaded.stdout.as_str(), loaded.stderr.as_str()),
        ("fib  made  1 entry\n", "1 of 1 program stored\n")
    );
    to.fails(&["backup", "load", "one.lmb", "--program", "fob"], 3, "NOT_FOUND");
    assert_eq!(to.json(&["program", "list"])[0]["name"], "fib");
}

#[test]
fn a_backup_that_cannot_be_written_leaves_what_was_there() {
    let place = worked();
    place.fails(&["backup", "create", "."], 1, "IO");
    place.fails(&["backup", "create", "nowhere/file.lmb"], 1, "IO");
    place.write("file.lmb", "of yesterday");
    let told = place.fails(&["backup", "create", "file.lmb", "--program", "fob"], 3, "NOT_FOUND");
    assert!(!told.contains("file.lmb"), "{told}");
    assert_eq!(place.read("file.lmb"), "of yesterday");
    let left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("part")), "{left:?}");
    let nowhere = Place::new();
    nowhere.fails(&["backup", "create", "file.lmb"], 3, "NO_DATABASE");
}

/// Runs a command that may write no file longer than so many kilobytes, as on a full disk.
#[cfg(unix)]
fn run_full(place: &Place, kilobytes: u32, args: &str) -> (Option<i32>, String) {
    let script = format!("trap '' XFSZ; ulimit -f {}; exec {LMLANG} {args}", kilobytes * 2);
    let done = Command::new("sh").args(["-c", &script]).current_dir(place.path()).output().unwrap();
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_what_was_there() {
    let place = Place::new();
    // Names that cannot be compressed to little.
    let name = |i: u64| format!("w{:x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_pow(3));
    let functions: String =
        (0..20_000).map(|i| format!("func {} () -> (i64) {{ return {i} }}\n", name(i))).collect();
    place.write("long.lm", &format!("module m\n{functions}"));
    place.ok(&["import", "long.lm"]);
    place.write("file.lmb", "of yesterday");
    let (code, told) = run_full(&place, 100, "backup create file.lmb");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("[IO]") && told.contains("file.lmb"), "{told}");
    assert_eq!(place.read("file.lmb"), "of yesterday");

    place.ok(&["backup", "create", "file.lmb"]);
    let to = Place::with_example("fib.lm");
    to.ok(&["import", "fib.lm"]);
    fs::copy(place.path().join("file.lmb"), to.path().join("file.lmb")).unwrap();
    let (code, told) = run_full(&to, 200, "backup load file.lmb");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("[STORAGE_UNAVAILABLE]"), "{told}");
    assert_eq!(to.json(&["program", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(fates(&to.json(&["backup", "load", "file.lmb"])), [("long", "made", 1)]);
    assert_eq!(to.json(&["doctor"])["sound"], true);
}

fn edit(server: &Server, number: u64) -> u64 {
    let edit = format!(
        "mutation {{ proposeEdit(input: {{ programId: \"fib\", edits: [{{ insertNode: {{ op: \"const.i64 {number}\", \
         function: \"fib\" }} }}] }}) {{ outcome {{ ... on EditApplied {{ revision {{ number }} }} }} }} }}"
    );
    let answer = server.ask(&edit);
    answer["data"]["proposeEdit"]["outcome"]["revision"]["number"].as_u64().expect("it is applied")
}

#[test]
fn a_served_database_is_backed_up_while_it_changes() {
    let place = Place::new();
    let server = Server::start(&place);
    let done = AtomicBool::new(false);
    let mut newest = Vec::new();
    std::thread::scope(|scope| {
        for caller in 0..3 {
            let (server, done) = (&server, &done);
            scope.spawn(move || {
                for number in 0.. {
                    edit(server, caller * 1_000 + number);
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        for round in 0..4 {
            let before = edit(&server, 9_000 + round);
            let file = format!("{round}.lmb");
            place.ok(&["backup", "create", &file]);
            newest.push((file, before, edit(&server, 9_000 + round)));
        }
        done.store(true, Ordering::Relaxed);
    });
    let told = place.fails(&["backup", "load", "0.lmb"], 5, "DATABASE_HELD");
    assert!(told.contains("is in use by process"), "{told}");
    place.fails(&["backup", "create", "x.lmb", "--program", "fob"], 3, "NOT_FOUND");

    // Each is one moment between what was before and after it, and goes on where the one before ended.
    let to = Place::new();
    let mut here = 0;
    for (file, before, after) in newest {
        let file = place.path().join(file);
        let loaded = to.json(&["backup", "load", file.to_str().unwrap(), "--program", "fib"]);
        here += fates(&loaded)[0].2;
        assert!(before <= here && here < after, "{before} {here} {after}");
        assert_eq!(to.json(&["doctor"])["sound"], true);
        let hash = to.json(&["program", "show", "fib"])["rootHash"].clone();
        let at = server.ask(&format!("{{ program(name: \"fib\", at: \"r{here}\") {{ rootHash }} }}"));
        assert_eq!(at["data"]["program"]["rootHash"], hash, "r{here}");
    }
    assert!(to.run(&["undo", "fib"]).code == Some(0));
}

#[test]
fn backups_are_for_who_may_do_everything() {
    let place = Place::new();
    let server = Server::start(&place);
    let token = |name: &str, flags: &[&str], with: Option<&str>| {
        let mut command = place.command();
        command.args(["token", "create", name]).args(flags);
        command.envs(with.map(|secret| ("LMLANG_TOKEN", secret)));
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let admin = token("root", &["--scope", "admin"], None);
    let editor = token("ed", &["--scope", "edit,simulate"], Some(&admin));
    let limited = token("one", &["--scope", "admin", "--program", "fib"], Some(&admin));
    let create = |secret: &str| {
        let mut command = place.command();
        command.args(["backup", "create", "file.lmb", "--json"]).env("LMLANG_TOKEN", secret);
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    };
    place.fails(&["backup", "create", "file.lmb"], 4, "UNAUTHENTICATED");
    for (secret, expect) in
        [(&editor, "`backup` needs the scope `ADMIN`"), (&limited, "not limited to programs")]
    {
        let (code, told) = create(secret);
        assert!(code == Some(4) && told.contains("FORBIDDEN") && told.contains(expect), "{told}");
    }
    assert!(!place.path().join("file.lmb").exists());
    let (code, told) = create(&admin);
    assert_eq!(code, Some(0), "{told}");
    // The server is asked by its address as well, and no token is in what it gives.
    let url = format!("http://{}", server.address);
    place.ok(&["backup", "create", "again.lmb", "--server", &url, "--token", &admin, "--program", "fib"]);
    let to = Place::new();
    fs::copy(place.path().join("file.lmb"), to.path().join("file.lmb")).unwrap();
    to.ok(&["backup", "load", "file.lmb"]);
    assert_eq!(to.json(&["token", "list", "--all"]), json!([]));
    assert_eq!(to.json(&["doctor"])["sound"], true);
}

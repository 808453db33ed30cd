//! Modules for WASI: `run` gives them input, output and the files of a folder.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use crate::tool::Place;

/// Copies standard input to standard output, line `b.txt` of its folder to standard error, and writes `out/c.txt`.
const COPIES: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $remove (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory" (func $make (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\40\00\00\00\00\01\00\00")
  (data (i32.const 16) "b.txt")
  (data (i32.const 32) "out/c.txt")
  ;; Copies what a handle reads at once to another one.
  (func $copy (param $from i32) (param $to i32)
    (i32.store (i32.const 4) (i32.const 256))
    (if (call $read (local.get $from) (i32.const 0) (i32.const 1) (i32.const 8))
      (then (call $exit (i32.const 2))))
    (i32.store (i32.const 4) (i32.load (i32.const 8)))
    (drop (call $write (local.get $to) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $opened (param $path i32) (param $length i32) (param $flags i32) (param $rights i64) (result i32)
    (if (call $open (i32.const 3) (i32.const 0) (local.get $path) (local.get $length) (local.get $flags)
          (local.get $rights) (i64.const 0) (i32.const 0) (i32.const 12))
      (then (call $exit (i32.const 3))))
    (i32.load (i32.const 12)))
  ;; As linkers name them: the export is another function than the one with its name.
  (func $_start.command_export (export "_start") (call $_start) (call $exit (i32.const 0)))
  (func $_start
    (call $copy (i32.const 0) (i32.const 1))
    (call $copy (call $opened (i32.const 16) (i32.const 5) (i32.const 0) (i64.const 2)) (i32.const 2))
    (drop (call $make (i32.const 3) (i32.const 32) (i32.const 3)))
    (call $copy (call $opened (i32.const 16) (i32.const 5) (i32.const 0) (i64.const 2))
      (call $opened (i32.const 32) (i32.const 9) (i32.const 9) (i64.const 64)))
    (drop (call $remove (i32.const 3) (i32.const 16) (i32.const 5)))))
"#;

#[test]
fn a_program_reads_and_writes_the_folder_that_it_is_given() {
    let place = Place::with_example("fib.lm");
    place.write("copies.wat", COPIES);
    // Without a folder there is no such file.
    let done = place.run_with(&["run", "copies.wat"], "in\n");
    assert_eq!((done.code, &*done.stdout, &*done.stderr), (Some(3), "in\n", ""), "{done:?}");
    // What is for a terminal stays in it, and nothing is added.
    let done = place.run_with(&["run", "copies.wat"], "a\u{1b}[31mb\0");
    assert_eq!((&*done.stdout, &*done.stderr), ("a\u{1b}[31mb\0", ""));

    let folder = place.path().join("data");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("b.txt"), "from b\n").unwrap();
    let args = ["run", "copies.wat", "_start", "--dir", "data"];
    let done = place.run_with(&args, "in\n");
    assert_eq!((done.code, &*done.stdout, &*done.stderr), (Some(0), "in\n", "from b\n"));
    assert_eq!(fs::read_to_string(folder.join("out/c.txt")).unwrap(), "from b\n");
    assert!(!folder.join("b.txt").exists());
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_folder() {
    let place = Place::with_example("fib.lm");
    place.write("copies.wat", COPIES);
    let (folder, outside) = (place.path().join("data"), place.path().join("outside"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(folder.join("b.txt"), "from b\n").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("out")).unwrap();
    let done = place.run_with(&["run", "copies.wat", "--dir", "data"], "in\n");
    // What the program said is not lost.
    assert_eq!((done.code, &*done.stdout), (Some(1), "in\n"), "{done:?}");
    assert!(done.stderr.contains("error[IO]") && done.stderr.contains("out` cannot be written"), "{done:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(folder.join("b.txt").exists());
}

/// Copies standard input to standard output up to its end, 1,000 bytes at a time.
const CAT: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 64))
    (loop $next
      (i32.store (i32.const 4) (i32.const 1000))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (i32.store (i32.const 4) (i32.load (i32.const 8)))
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12)))
      (br_if $next (i32.load (i32.const 8))))))
"#;

/// Reads a line and ends itself with its first byte.
const READS_A_LINE: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\40\00\00\00\06\00\00\00")
  (data (i32.const 64) "name? ")
  (func (export "_start")
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12)))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 12)))
    (call $exit (i32.load8_u (i32.const 64)))))
"#;

#[test]
fn bytes_go_through_as_they_are() {
    let place = Place::new();
    place.write("cat.wat", CAT);
    let bytes: Vec<u8> = (0..300_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
    fs::write(place.path().join("in.bin"), &bytes).unwrap();
    let piped = fs::File::open(place.path().join("in.bin")).unwrap();
    let done = place.command().args(["run", "cat.wat"]).stdin(piped).output().unwrap();
    assert!(done.status.success() && done.stdout == bytes, "{}", String::from_utf8_lossy(&done.stderr));
    let done = place.command().args(["run", "cat.wat", "--stdin", "in.bin"]).output().unwrap();
    assert!(done.status.success() && done.stdout == bytes, "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn input_without_an_end_is_read_as_far_as_it_is_wanted() {
    let place = Place::new();
    place.write("line.wat", READS_A_LINE);
    place.write("cat.wat", CAT);
    let endless = |args: &[&str]| {
        let mut command = place.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // It ends when nobody reads any more.
        let writer = std::thread::spawn(move || while pipe.write_all(&[b'y'; 4096]).is_ok() {});
        let done = child.wait_with_output().unwrap();
        writer.join().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    assert_eq!(endless(&["run", "line.wat"]), (Some(i32::from(b'y')), String::new()));
    let (code, told) = endless(&["run", "cat.wat", "--memory-bytes", "400000"]);
    assert!(code == Some(1) && told.contains("the limit of memory was reached: 400000 bytes"), "{told}");
    let (code, told) = endless(&["run", "cat.wat", "--output-bytes", "5000"]);
    assert!(code == Some(1) && told.contains("the limit of output was reached: 5000 bytes"), "{told}");
}

#[test]
fn who_is_asked_for_input_has_seen_what_was_printed() {
    let place = Place::new();
    place.write("line.wat", READS_A_LINE);
    let mut command = place.command();
    let mut child =
        command.args(["run", "line.wat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut prompt = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"name? ");
    // The pipe stays open: a line is enough.
    child.stdin.as_mut().unwrap().write_all(b"*\n").unwrap();
    let pipe = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(42));
    drop(pipe);
}

#[test]
fn the_trace_of_a_run_shows_what_it_read() {
    let place = Place::new();
    place.write(
        "lines.lm",
        "module m\n\nfunc main () -> (option<string>) {\n  a = read_line\n  b = read_line\n  return b\n}\n",
    );
    let done = place.run_with(&["run", "lines.lm", "--trace"], "one\ntwo\nthree");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("some(\"one\")") && done.stdout.ends_with("some(\"two\")\n"), "{done:?}");
}

/// Makes `new/sub`, renames `old` to `new/old`, and removes `gone`, a folder.
const FOLDERS: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_create_directory" (func $make (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_remove_directory" (func $remove (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_rename" (func $rename (param i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "new/sub")
  (data (i32.const 16) "new/old")
  (data (i32.const 32) "gone")
  (func (export "_start")
    (if (i32.or
          (i32.or
            (call $make (i32.const 3) (i32.const 0) (i32.const 3))
            (call $make (i32.const 3) (i32.const 0) (i32.const 7)))
          (i32.or
            (call $rename (i32.const 3) (i32.const 20) (i32.const 3) (i32.const 3) (i32.const 16) (i32.const 7))
            (call $remove (i32.const 3) (i32.const 32) (i32.const 4))))
      (then unreachable))))
"#;

#[test]
fn folders_are_made_renamed_and_removed() {
    let place = Place::new();
    place.write("folders.wat", FOLDERS);
    let folder = place.path().join("data");
    fs::create_dir_all(folder.join("old/deep")).unwrap();
    fs::create_dir_all(folder.join("gone")).unwrap();
    fs::write(folder.join("old/deep/file"), "kept").unwrap();
    let done = place.run(&["run", "folders.wat", "--dir", "data"]);
    assert_eq!((done.code, &*done.stderr), (Some(0), ""));
    assert!(folder.join("new/sub").is_dir() && !folder.join("old").exists() && !folder.join("gone").exists());
    assert_eq!(fs::read_to_string(folder.join("new/old/deep/file")).unwrap(), "kept");
}

#[cfg(unix)]
#[test]
fn what_a_program_did_not_see_is_not_removed() {
    let place = Place::new();
    place.write("folders.wat", FOLDERS);
    let folder = place.path().join("data");
    fs::create_dir_all(folder.join("old")).unwrap();
    fs::create_dir_all(folder.join("gone")).unwrap();
    fs::write(folder.join("old/file"), "kept").unwrap();
    std::os::unix::fs::symlink(place.path(), folder.join("gone/link")).unwrap();
    let done = place.run(&["run", "folders.wat", "--dir", "data"]);
    assert!(done.code == Some(1) && done.stderr.contains("gone` cannot be written"), "{done:?}");
    assert!(folder.join("gone/link").is_symlink());
    assert_eq!(fs::read_to_string(folder.join("new/old/file")).unwrap(), "kept");
}

/// Makes `a/one`, `b/two` and `c`, and removes `d` and `e`, folders, and `f`.
const MANY: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_create_directory" (func $make (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_remove_directory" (func $remove (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $unlink (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "a/one")
  (data (i32.const 16) "b/two")
  (data (i32.const 32) "cdef")
  (func (export "end") (param $status i32)
    (drop (call $make (i32.const 3) (i32.const 0) (i32.const 1)))
    (drop (call $make (i32.const 3) (i32.const 16) (i32.const 1)))
    (drop (call $make (i32.const 3) (i32.const 0) (i32.const 5)))
    (drop (call $make (i32.const 3) (i32.const 16) (i32.const 5)))
    (drop (call $make (i32.const 3) (i32.const 32) (i32.const 1)))
    (drop (call $remove (i32.const 3) (i32.const 33) (i32.const 1)))
    (drop (call $remove (i32.const 3) (i32.const 34) (i32.const 1)))
    (drop (call $unlink (i32.const 3) (i32.const 35) (i32.const 1)))
    (call $exit (local.get $status))))
"#;

#[cfg(unix)]
#[test]
fn what_cannot_be_written_or_removed_keeps_nothing_else_from_it() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write("many.wat", MANY);
    let made = |name: &str| {
        let folder = place.path().join(name);
        for folder in [folder.join("d"), folder.join("e")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(folder.join("f"), "f").unwrap();
        folder
    };
    // A folder that is not empty after all: the others are removed.
    let folder = made("removing");
    symlink(place.path(), folder.join("e/link")).unwrap();
    let done = place.run(&["run", "many.wat", "end", "0", "--dir", "removing"]);
    assert_eq!((done.code, done.stderr.lines().count()), (Some(1), 1), "{done:?}");
    assert!(done.stderr.contains("error[IO]") && done.stderr.contains("e` cannot be written"), "{done:?}");
    assert!(folder.join("b/two").is_dir() && folder.join("c").is_dir(), "{done:?}");
    assert!(!folder.join("d").exists() && folder.join("e").exists() && !folder.join("f").exists());
    // A link where a folder should be: all else is written, and nothing removed. The status is the program's.
    let folder = made("writing");
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, folder.join("a")).unwrap();
    let done = place.run(&["run", "many.wat", "end", "7", "--dir", "writing"]);
    assert_eq!(done.code, Some(7), "{done:?}");
    for told in [
        "a` cannot be written",
        "a/one` cannot be written",
        "is a link",
        "d` is not removed",
        "f` is not removed",
    ] {
        assert!(done.stderr.contains(told), "{told}: {done:?}");
    }
    assert!(folder.join("b/two").is_dir() && folder.join("c").is_dir() && folder.join("d").is_dir());
    assert!(folder.join("f").exists() && fs::read_dir(&outside).unwrap().count() == 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.write("many.wat", MANY);
    let folder = place.path().join("data");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "kept").unwrap();
    let done = place.run(&["run", "many.wat", "end", "0", "--dir", "data"]);
    assert!(done.code == Some(0) && done.stderr.contains("is left out: its name is not UTF-8"), "{done:?}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
}

#[test]
fn what_compiled_code_prints_is_seen_before_it_reads() {
    let place = Place::new();
    place.write(
        "asks.lm",
        "module m\n\nfunc main () -> (option<string>) {\n  print \"name? \"\n  line = read_line\n  return line\n}\n",
    );
    let mut command = place.command();
    let command = command.args(["run", "asks.lm", "--tier", "compiled"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut prompt = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"name? ");
    child.stdin.as_mut().unwrap().write_all(b"Ada\n").unwrap();
    let mut rest = String::new();
    child.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!((&*rest, child.wait().unwrap().code()), ("\noption<string>.some(\"Ada\")\n", Some(0)));
}

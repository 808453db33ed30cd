//! Modules for WASI: `run` gives them input, output and the files of a folder.

use std::fs;

use crate::tool::Place;

/// Copies standard input to standard output, line `b.txt` of its folder to standard error, and writes `out/c.txt`.
const COPIES: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $remove (param i32 i32 i32) (result i32)))
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
    assert_eq!((done.code, &*done.stdout), (Some(1), "in\n"), "{done:?}");
    // What is for a terminal stays in it, and nothing is added.
    let done = place.run_with(&["run", "copies.wat"], "a\u{1b}[31mb\0");
    assert_eq!(done.stdout, "a\u{1b}[31mb\0");
    assert!(done.stderr.contains("trapped[EXIT]: the program ended itself with status 3"), "{done:?}");

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

use super::*;
use crate::refs::RefAllocator;

const DEMO: &str = r#"
module demo
type Point = struct { x: f64, y: f64 }

pub func fib (n: i64) -> (i64) {
  require "n is not negative" = ge_s.i64 n, 0
  lt = lt_s.i64 n, 2
  r  = if lt -> (i64) {
    yield n
  } else {
    a = call fib(sub.i64 n, 1)
    b = call fib(sub.i64 n, 2)
    yield (add.i64 a, b)
  }
  return r
}
; run: fib(30) == 832040
; run: fib(-1) violates "n is not negative"

pub func sum (n: i64) -> (i64) {
  s = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) {
    break_if L (ge_u.i64 i, n) (acc)
    continue L (add.i64 i, 1) (add.i64 acc, i)
  }
  return s
}

pub func name_of (d: i32) -> (string) {
  s = match d (0, 1, default) -> (string) {
    case 0 { yield "zero" }
    case 1 { yield "one" }
    default { yield "many" }
  }
  return s
}
; run: name_of(1) == "one"
"#;

#[track_caller]
fn parsed(text: &str) -> crate::Program {
    match parse_program(text, &mut RefAllocator::starting_at(1)) {
        Ok(program) => program,
        Err(errors) => {
            let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("{}\n{text}", shown.join("\n"))
        }
    }
}

/// Parses, prints, and checks that parsing what was printed gives the same program.
#[track_caller]
fn printed(text: &str) -> String {
    let program = parsed(text);
    let printed = print_program(&program, Detail::Full);
    let again = parsed(&printed);
    assert_eq!(print_program(&again, Detail::Full), printed);
    assert_eq!(again, program, "{printed}");
    assert_eq!(again.root_hash(), program.root_hash());
    printed
}

#[test]
fn demo() {
    assert!(printed(DEMO).contains("lt#"));
}

#[test]
fn every_program_of_the_repository_reads_back() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<std::path::PathBuf> =
        ["examples", "tests/filetests"].iter().map(|dir| root.join(dir)).collect();
    let mut count = 0;
    let mut wrong: Vec<String> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "lm") {
                let text = std::fs::read_to_string(&path).expect("readable");
                if let Err(errors) = parse_program(&text, &mut RefAllocator::starting_at(1)) {
                    wrong.extend(errors.iter().map(|error| format!("{}:{error}", path.display())));
                } else {
                    printed(&text);
                }
                count += 1;
            }
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

use super::*;
use crate::refs::RefAllocator;

mod foreign;
mod mistakes;

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
                // A file of mistakes in the text.
                if [";! SYNTAX", ";! UNKNOWN_OP"].iter().any(|told| text.contains(told)) {
                    continue;
                }
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

/// What lines in the body of a function print to, refs of what is folded left out.
#[track_caller]
fn check_body(lines: &str, expect: &str) {
    let text = format!(
        "module m
type Point = struct {{ x: f64, y: f64 }}
type Shape = enum {{ circle(f64), empty }}
global mut counter: i32 = 0
memory mem 1
data words b\"ab\"
table handlers [null]
func other [] (x: i32) -> (i32, string) {{ return x, \"\" }}
func f [k: i32] (a: i32, b: i32, p: Point, s: Shape, c: bool) -> () {{
{lines}
}}
"
    );
    let program = parsed(&text);
    printed(&text);
    let (of, _) = program.functions().nth(1).expect("two functions");
    let printed = print_function(&program, of, Detail::Standard);
    // Refs are numbers that every change of a test would change.
    let bare: Vec<String> = printed.lines().map(without_refs).collect();
    let body = &bare[1..bare.len() - 1];
    assert_eq!(body.join("\n"), expect);
}

/// A line without refs behind names and operators; `n12` where a node has no name becomes `N`.
fn without_refs(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('#') {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let start = if rest[..at].ends_with(' ') { at - 1 } else { at };
        out.push_str(&rest[..start]);
        rest = &rest[at + 2 + digits..];
    }
    out + rest
}

#[test]
fn expressions_fold_where_the_order_stays() {
    check_body("x = add.i32 (mul.i32 a, 2), b", "  x = add.i32 (mul.i32 a, 2), b");
    check_body("x = add.i32 mul.i32(a, 2), sub.i32(b, 1)", "  x = add.i32 (mul.i32 a, 2), (sub.i32 b, 1)");
    // In the other order they cannot fold both.
    check_body(
        "n801 = mul.i32 a, 2\nn802 = sub.i32 b, 1\nx = add.i32 n802, n801",
        "  n801 = mul.i32 a, 2\n  x = add.i32 (sub.i32 b, 1), n801",
    );
    // Used twice, named, with an effect: on lines of their own.
    check_body(
        "n801 = mul.i32 a, 2\nx = add.i32 n801, n801",
        "  n801 = mul.i32 a, 2\n  x = add.i32 n801, n801",
    );
    check_body("y = mul.i32 a, 2\nx = add.i32 y, 1", "  y = mul.i32 a, 2\n  x = add.i32 y, 1");
    check_body("n801 = load.i32 a\nx = add.i32 n801, 1", "  n801 = load.i32 a\n  x = add.i32 n801, 1");
    // A constant of another type than the place takes is no literal.
    check_body("x = add.i32 (const.i64 5), 1", "  x = add.i32 (const.i64 5), 1");
    // Deep expressions are cut.
    let deep =
        format!("func f (a: i32) -> (i32) {{\n  return {}a{}\n}}\n", "(not.i32 ".repeat(20), ")".repeat(20));
    let widest = printed(&deep).lines().map(|line| line.matches("(not.i32").count()).max();
    assert_eq!(widest, Some(6));
}

#[test]
fn operators_print_in_the_way_of_their_kind() {
    for line in [
        "x = const.string \"a\"",
        "x = add.i32 _, a",
        "x = call f(a, b, p, s, c)",
        "x, y = call other(1)",
        "_, y = call other(add.i32 a, b)",
        "x = func.ref other",
        "x = closure.new f 5",
        "x, y = closure.call<(i32) -> (i32, string)> (closure.new other), a",
        "x = call_indirect handlers<(i32) -> (i32)> 0, a",
        "x = table.get handlers 0",
        "table.set handlers 0, (ref.null)",
        "x = global.get counter",
        "global.set counter, (add.i32 a, 1)",
        "memory.init words 0, 1, 2",
        "data.drop words",
        "x = load.i32 offset=8 align=1 a",
        "store8.i32 offset=1 a, b",
        "x = memory.size",
        "x = field_addr Point.x (ptr.from_i32<Point> 8)",
        "x = struct.new Point 1.0, -inf",
        "x = struct.get Point.y p",
        "x = struct.set Point.y p, nan:0x1",
        "x = array.new<array<i32, 2>> (array.new<i32, 2> 1, 2)",
        "x = array.new<i32>",
        "x = enum.new option<i32>.some 5",
        "x = enum.new Shape.empty",
        "x = enum.payload Shape.circle s",
        "x = enum.tag<Shape> s",
        "x = box.get<Point> (box.new<Point> p)",
        "x = select<i32> c, a, (capture.get k)",
        "print \"h\\u{0}\"",
        "x = bytes.new 4",
        "x = raw \"fd0c\" (i32) -> (i32) a",
        "unreachable",
        "\"odd name\" = memory.size",
        "\"loop\" = memory.size",
    ] {
        check_body(line, &format!("  {line}"));
    }
}

#[test]
fn regions_print_in_braces() {
    check_body("x = block B -> (i32) { break B (a) }", "  x = block B -> (i32) { break B (a) }");
    check_body("if c { return }", "  if c { return } else { yield }");
    check_body(
        "if L (eqz.i32 a) { break L } else { yield }",
        "  if L (eqz.i32 a) { break L } else { yield }",
    );
    check_body("loop { yield }", "  loop { yield }");
    check_body(
        "x = loop L (i: i32 = 0, _: i32) -> (i32) {\ncontinue_if L (lt_s.i32 i, b) (add.i32 i, 1) (a)\nyield i\n}",
        "  x = loop L (i: i32 = 0, _: i32 = _) -> (i32) {\n    continue_if L (lt_s.i32 i, b) (add.i32 i, 1) (a)\n    yield i\n  }",
    );
    check_body(
        "x = match s -> (f64) { case empty { yield 0 } case circle (r) { yield r } }",
        "  x = match s (empty, circle) -> (f64) {\n    case empty { yield 0.0 }\n    case circle (r) { yield r }\n  }",
    );
    check_body(
        "match M a (-1, 7, default) { case 7 { yield } case -1 { break M } default { unreachable } }",
        "  match M a (-1, 7, default) {\n    case -1 { break M }\n    case 7 { yield }\n    default { unreachable }\n  }",
    );
    check_body(
        "match _ (option<i32>.some, option<i32>.none) { case option<i32>.some { yield } case option<i32>.none { yield } }",
        "  match _ (option<i32>.some, option<i32>.none) {\n    case option<i32>.some { yield }\n    case option<i32>.none { yield }\n  }",
    );
    check_body(
        "block A {\nblock B {\nbr_switch (break A, break B, return) a\n}\nyield }",
        "  block A {\n    block B { br_switch (break A, break B, return) a }\n    yield\n  }",
    );
}

#[test]
fn a_summary_has_refs_where_no_name_tells() {
    let text = "module m#m1

type Point#t2 = struct { x#d3: i64, y#d4: i64 }

global mut seen#v5: i64 = 0

; Doubles.
func f#f6 (a: i64, p: Point) -> (i64) #g7 {
  var kept#v8: i64
  require#k9 \"small\" #g10 { yield#n11 (lt_s.i64#n12 a, 9#n13) }
  x#n14 = struct.get Point.x p
  n15 = add.i64 x, a
  print#n16 \"n\"#n17
  y#n18 = loop#n18 L (i: i64 = n15) -> (i64) #g19 {
    y#n20 = add.i64 i, n15
    break#n21 L (y#n20)
  }
  var.set#n22 kept, y
  return#n23 x
}
; run: f(1, Point{x: 1, y: 2}) == 1
";
    let program = parsed(&text.replace("loop#n18", "loop"));
    let expected = "module m

type Point = struct { x: i64, y: i64 }

global mut seen: i64 = 0

func f (a: i64, p: Point) -> (i64) {
  var kept: i64
  require \"small\" { yield#n11 (lt_s.i64 a, 9) }
  x = struct.get Point.x p
  n15 = add.i64 x, a
  print#n16 \"n\"
  y#n18 = loop L (i: i64 = n15) -> (i64) {
    y#n20 = add.i64 i, n15
    break#n21 L (y)
  }
  var.set#n22 kept, y
  return#n23 x
}
";
    assert_eq!(print_program(&program, Detail::Summary), expected);
}

#[test]
fn names_that_are_hidden_come_with_refs() {
    let text = "module m
func f (x: i32) -> (i32) {
  x#n20 = add.i32 x, 1
  x#n21 = mul.i32 x, x#n20
  y#n22 = loop L (x: i32 = x) -> (i32) #g23 {
    break_if L (eqz.i32 x#n21) (x)
    z#n24 = block L -> (i32) {
      break L#n22 (x#n20)
    }
    w#n25 = block -> (i32) { yield (add.i32 f1.0, x) }
    yield g23.0
  }
  return x
}
";
    let text = text.replace("func f ", "func f#f1 ");
    let program = parsed(&text);
    let shown = print_function(&program, crate::FuncRef::new(1).expect("in range"), Detail::Summary);
    printed(&text);
    parsed(&print_program(&program, Detail::Summary));
    for part in [
        "func f#f1 (x: i32)",
        "x#n21 = mul.i32 x, x\n",
        "break_if#n",
        "(eqz.i32 x#n21) (x)",
        "break#n",
        "L#n22 (x#n20)",
        "(add.i32 f1.0, x)",
        "yield#n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// The mistakes of a text.
#[track_caller]
fn check_mistakes(text: &str, expect: &[&str]) {
    let errors = parse_program(text, &mut RefAllocator::starting_at(1)).expect_err(text);
    let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expect, "{text}");
    assert!(errors.iter().all(|error| code::ALL.contains(&error.code)));
}

#[test]
fn comments_belong_to_what_follows() {
    let text = "; about m
module m

; about T
type T = struct {
  ; about a
  a: i32, ; more about a
}

; about f
;
;   indented
; \\run: no run
func f () -> () {
  ; about x
  var x: i32 ; more about x
  ; about the contract
  require \"r\" = true
  ; about the set
  var.set x, 1 ; more about the set
  ; about the block
  block {
    ; about the end of the block
  }
  return
  ; at the end of f
}
; run: f() == 1
;  run: f() traps X
; about g
func g () -> () { return }
; about the end of m
end
; about o
module o
; about the end of o
";
    let out = printed(text);
    for part in [
        "; about m\nmodule m",
        "; about T\ntype T",
        "  ; about a\n  ; more about a\n  a#",
        "; about f\n;\n;   indented\n; \\run: no run\nfunc f",
        "  ; about x\n  ; more about x\n  var x",
        "  ; about the contract\n  require",
        "  ; about the set\n  ; more about the set\n  var.set",
        "  ; about the block\n  block",
        "    ; about the end of the block\n  }",
        "  ; at the end of f\n}\n; run: f() == 1\n",
        "; about g\nfunc g",
        "; about the end of m\nend\n\n; about o\nmodule o",
        "; about the end of o\n",
    ] {
        assert!(out.contains(part), "{part}\n---\n{out}");
    }
    let program = parsed(text);
    let (_, f) = program.functions().next().expect("f");
    assert_eq!(f.head().runs.iter().map(|run| &**run).collect::<Vec<_>>(), ["f() == 1"]);
    assert_eq!(f.head().doc.as_deref(), Some("about f\n\n  indented\nrun: no run"));
}

#[test]
fn a_mark_of_utf_8_is_no_part_of_a_text() {
    let text = "module m\nfunc f () -> () { return }\n";
    let marked = format!("\u{feff}{text}");
    assert_eq!(parsed(&marked), parsed(text));
    assert_eq!(format_text(&marked).expect("a program"), text);
    check_mistakes(
        "\u{feff}func f () -> () { retrun }\n",
        &["1:19: UNKNOWN_OP: there is no operator `retrun`"],
    );
    let (_, places) =
        parse_program_with_places(&marked, &mut RefAllocator::starting_at(1)).expect("a program");
    assert_eq!(places.get(1), Some((1, 8)));
}

#[test]
fn a_name_of_a_node_without_values_reads_back() {
    for line in ["q = block { yield }", "q = block L { yield }", "q = loop { yield }", "q = if x { yield }"] {
        let text = printed(&format!("func f (x: bool) -> () {{\n  {line}\n  return\n}}\n"));
        assert!(text.contains("  q#n"), "{text}");
    }
    // After a blank a ref is that of what follows.
    check_mistakes(
        "func f () -> () {\n  block #n5 { return }\n}\n",
        &["2:9: WRONG_KIND: `n5` has the wrong letter: expected `g`"],
    );
}

/// That it is one too many is for the verifier to say, as of any other operand.
#[test]
fn a_literal_too_many_has_a_type_of_its_own() {
    let text = printed("func f (x: i32) -> () {\n  a = add.i32 x, 1, 2, \"t\", 5000000000\n  return\n}\n");
    assert!(text.contains("const.string#"), "{text}");
}

#[test]
fn a_global_without_constants_starts_with_its_zero() {
    for ty in ["option<i32>", "P", "array<P>", "result<i32, string>", "funcref"] {
        let text =
            printed(&format!("type P = struct {{ x: i32 }}\nglobal mut g: {ty}\nglobal h: {ty} = unit\n"));
        assert_eq!(text.matches(" = unit").count(), 2, "{text}");
    }
    assert!(printed("global p: ptr<i32> = 8\nglobal q: ptr<i32>\n").contains(": ptr<i32> = 0"));
}

#[test]
fn indentation_stops_growing() {
    let text = format!(
        "func f () -> () {{\n{}yield\n{}return\n}}\n",
        "block {\n".repeat(40),
        "}\nyield\n".repeat(40)
    );
    let text = text.replacen("}\nyield\nreturn", "}\nreturn", 1);
    let widest = printed(&text).lines().map(|line| line.len() - line.trim_start().len()).max();
    assert_eq!(widest, Some(32));
}

#[test]
fn refs_given_are_honoured_and_new_ones_lie_above() {
    let mut refs = RefAllocator::starting_at(1);
    let text = "module m#m7\nfunc f#f100 () -> (i32) #g50 {\n  n9 = memory.size\n  return n9\n}\n";
    let program = parse_program(text, &mut refs).expect("fits");
    assert!(refs.watermark() > 100);
    let out = print_program(&program, Detail::Full);
    assert!(out.contains("func f#f100 () -> (i32) #g50 {\n  n9 = memory.size\n  return#n1"), "{out}");
}

#[test]
fn a_value_may_be_called_like_any_word() {
    let words =
        ["var", "require", "ensure", "invariant", "case", "default", "else", "end", "func", "pub", "type"];
    for word in words.into_iter().chain(crate::ops::OPS.iter().map(|op| op.mnemonic)) {
        printed(&format!(
            "module m\nfunc f (a: i32) -> (i32) {{\n  \"{word}\"#n9 = add.i32 a, a\n  return n9\n}}\n"
        ));
    }
}

#[test]
fn a_name_of_very_many_entities_shows_some() {
    let same = "func f () -> () {\n  call f()\n  return\n}\n".repeat(3_000);
    let errors = parse_program(&format!("module m\n{same}"), &mut RefAllocator::starting_at(1)).unwrap_err();
    assert_eq!((errors.len(), errors[0].code, errors[0].candidates.len()), (101, code::AMBIGUOUS_NAME, 20));
}

#[test]
fn an_escape_holds_digits_alone() {
    let text = "module m\nfunc f () -> () {\n  print \"\\u{+41}\"\n  return\n}\n";
    check_mistakes(text, &["3:9: BAD_LITERAL: `\\u{..}` names no character"]);
}

#[test]
fn names_are_near_that_few_edits_make_of_each_other() {
    #[track_caller]
    fn check(given: &str, names: &[&str], expect: &[&str]) {
        assert_eq!(nearest(given, names.iter().copied()), expect);
    }
    check("total", &["toatl", "totals", "tota", "tttal", "tXtYl", "other"], &["toatl", "tota", "totals"]);
    check("total", &["tXtYl", "tttal", "otal", "ltotal"], &["ltotal", "otal", "tttal"]);
    check("sum", &["sums", "smu", "su", "mus", "s", "xyz", "sum"], &["sum", "smu", "su"]);
    // Other letters, and letters that share a bit with others.
    check("abcdef", &["abcdxy", "abcxyz", "ab\u{a3}def", "fedcba"], &["ab\u{a3}def", "abcdxy"]);
    // One letter has no near names but itself.
    check("a", &["b", "a", "aa"], &["a"]);
    check("", &["", "a"], &[""]);
}

#[test]
fn names_that_are_not_there_are_looked_for_among_very_many() {
    let known: String = (0..20_000).map(|of| format!("  verylongname{of} = add.i64 2, 1\n")).collect();
    let unknown: String = (0..1_000).map(|of| format!("  w{of} = add.i64 unknownthing{of}, 1\n")).collect();
    let text = format!("module m\nfunc f () -> () {{\n{known}{unknown}  return\n}}\n");
    let errors = parse_program(&text, &mut RefAllocator::starting_at(1)).unwrap_err();
    assert_eq!((errors.len(), errors[0].code, errors[0].candidates.len()), (101, code::UNKNOWN_NAME, 10));
}

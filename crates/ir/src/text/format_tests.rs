use super::*;
use crate::text::{Detail, add_text, print_program};
use crate::{Program, RefAllocator};

fn parsed(text: &str) -> Program {
    parse_program(text, &mut RefAllocator::starting_at(1)).expect("a program")
}

/// Lays a text out, twice; the program stays, refs included.
#[track_caller]
fn formatted(text: &str) -> String {
    let formatted = format_text(text).expect("a program");
    assert_eq!(format_text(&formatted).expect("a program"), formatted, "twice is as once");
    assert_eq!(parsed(&formatted), parsed(text), "{formatted}");
    formatted
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(formatted(text), expect);
}

#[test]
fn examples_are_laid_out() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("there are examples") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let formatted = formatted(&text);
        assert_eq!(parsed(&formatted).root_hash(), parsed(&text).root_hash());
        assert!(formatted == text, "`lmlang fmt {}` changes it:\n{formatted}", path.display());
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn what_was_laid_out_is_added_to_another_program() {
    let text = "func pair(n:i64)->(i64,i64) {\nif(eqz.i64 n) { return 0,1 }\na,b=call pair(div_s.i64 n,2)\nreturn a,(add.i64 b, call pair(1))\n}\n";
    let mut refs = RefAllocator::starting_at(1);
    let mut program =
        parse_program("module m\nfunc other () -> () { return }\n", &mut refs).expect("a program");
    let formatted = formatted(text);
    add_text(&mut program, &mut refs, None, &formatted).expect("nothing in it has a ref");
    assert!(formatted.contains("  a, b = call pair(div_s.i64 n, 2)\n"), "{formatted}");
}

#[test]
fn what_is_printed_is_laid_out() {
    let text = "module a\nfunc f [k: i32] (p: ptr<i32>) -> (i32) {\n  var x: i32\n  ensure \"e\" (r) { yield true }\n  loop L (i: i32 = 0) { break_if L (eqz.i32 i)\n continue L (add.i32 i, (load.i32 offset=8 align=1 p)) }\n return x }\n; run: f(1) == 2\nmodule b\ntype S = struct { x: i32 }\ntype E = enum {}\n; the end\n";
    let printed = print_program(&parsed(text), Detail::Full);
    assert_eq!(format_text(&printed).expect("a program"), printed);
}

#[test]
fn blanks_stand_where_they_belong() {
    check(
        "module  m\r\nimport  \"a\"   \"b\" func g(a:i32,b : i64)->( i32 )pure\n\n\n\nfunc f [k:i32](x : i32)->(i32,)\n{\nreturn x}",
        "module m\nimport \"a\" \"b\" func g (a: i32, b: i64) -> (i32) pure\n\nfunc f [k: i32] (x: i32) -> (i32,)\n{\n  return x }\n",
    );
    check(
        "func f (p: ptr<i32>) -> () {\n\n  a=load.i32 offset = 8 align=2^1 p\n  b = array.new< i32 ,2 >( a , 1 )\n  c, d = call g ( a )\n  store.i32 p, add.i32(a,a)\n\n}\nfunc g(x:i32)->(i32,i32){ return x,x }\n",
        "func f (p: ptr<i32>) -> () {\n  a = load.i32 offset=8 align=2^1 p\n  b = array.new<i32, 2>(a, 1)\n  c, d = call g (a)\n  store.i32 p, add.i32(a, a)\n}\nfunc g (x: i32) -> (i32, i32) { return x, x }\n",
    );
}

#[test]
fn lines_are_indented_by_what_is_open() {
    check(
        "type T = struct {\nx: i32,\n    y: i32\n}\nfunc f (a: i32) -> (i32) {\nb = add.i32 a,\n1\n; about c\nc = loop L (\ni: i32 = 0, ; the first\nj: i32 = (add.i32\na, b)\n) -> (i32) {\nif (eqz.i32 i) {\nbreak L (i) }\n   else {\n yield\n; last\n}\nbreak L (call f(\n(add.i32 i,\nj)))\n}\nreturn c\n}\n;run: f(1) == 0\n",
        "type T = struct {\n  x: i32,\n  y: i32\n}\nfunc f (a: i32) -> (i32) {\n  b = add.i32 a,\n    1\n  ; about c\n  c = loop L (\n    i: i32 = 0, ; the first\n    j: i32 = (add.i32\n      a, b)\n  ) -> (i32) {\n    if (eqz.i32 i) {\n      break L (i) }\n    else {\n      yield\n      ; last\n    }\n    break L (call f(\n      (add.i32 i,\n        j)))\n  }\n  return c\n}\n; run: f(1) == 0\n",
    );
}

#[test]
fn comments_say_what_they_said() {
    check(
        ";a\n;\n; \n;  b \nmodule m ;c\n\n\n;d\n\n\nfunc f () -> () { ; e\n\n  ; \\run: g\n  return\n\n; h\n\n}\n\n; i\nend\n",
        "; a\n;\n;\n;  b \nmodule m ; c\n\n; d\n\nfunc f () -> () { ; e\n\n  ; \\run: g\n  return\n\n  ; h\n}\n\n; i\nend\n",
    );
}

#[test]
fn a_text_with_mistakes_is_refused() {
    assert!(format_text("func f () -> () {\n").is_err());
    assert_eq!(format_text("").expect("nothing"), "");
}

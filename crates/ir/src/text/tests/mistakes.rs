//! What mistakes say and offer.

use super::*;

/// The candidates of the first mistake of a text.
#[track_caller]
fn check_candidates(text: &str, message: &str, expect: &[&str]) {
    let errors = parse_program(text, &mut RefAllocator::starting_at(1)).expect_err(text);
    assert_eq!(errors[0].message, message, "{text}");
    assert_eq!(errors[0].candidates, expect, "{text}");
}

#[test]
fn a_name_that_is_unknown_lists_those_that_are_known() {
    let lines = |lines: &str| format!("func f (count: i32, zeta: i32) -> () {{\n  {lines}\n  return\n}}\n");
    let message = "there is no value `cuont` here";
    check_candidates(&lines("alpha = add.i32 cuont, 1"), message, &["count", "zeta"]);
    let many: Vec<String> = (0..20).map(|index| format!("x{index} = memory.size")).collect();
    let text = lines(&format!("{}\n  y = add.i32 cuont, 1", many.join("\n  ")));
    let expect = ["count", "x0", "x1", "x10", "x11", "x12", "x13", "x14", "x15", "x16"];
    check_candidates(&text, message, &expect);
    check_candidates(&lines("block L { break M }"), "there is no label `M` around", &["L"]);
    check_candidates(&lines("var cell: i32\n  var.set x 1"), "there is no variable `x`", &["cell"]);
    check_candidates(&lines("call g()"), "there is no function `g`", &["f"]);
}

#[test]
fn types_that_there_are_not_name_those_that_are_meant() {
    let param = |ty: &str| format!("type Point = struct {{ x: f64 }}\nfunc f (x: {ty}) -> () {{ return }}\n");
    check_candidates(&param("int"), "there is no type `int`", &["i32", "i64", "Point"]);
    check_candidates(&param("Pont"), "there is no type `Pont`", &["Point"]);
    check_candidates(&param("[i32]"), "expected a type, found `[`", &["array<i32>"]);
    check_candidates(&param("[f64, 4]"), "expected a type, found `[`", &["array<f64, 4>"]);
    check_candidates(&param("Vec<i32>"), "there is no type `Vec<..>`", &["array<T>"]);
}

#[test]
fn what_other_languages_write_is_one_mistake() {
    let body = |lines: &str| format!("func f (x: i32) -> () {{\n  {lines}\n  return\n}}\n");
    check_mistakes(
        &format!("// one, two {{\n{}", body("y = add.i32 x, 1 // three (\n  // four")),
        &["1:1: SYNTAX: a comment begins with `;`"],
    );
    let comments = "y = add.i32 x, 1 # two (\n  /* three\n  four */ z = add.i32 y, 1";
    check_mistakes(
        &format!("# one, it's {{\n{}", body(comments)),
        &["1:1: SYNTAX: a comment begins with `;`"],
    );
    check_mistakes(
        &body("require x > 0"),
        &["2:3: SYNTAX: a contract says in quotes what it means, and behind `=` what holds"],
    );
    check_mistakes(
        "func f (x: i32) -> () {\n  block {\n    yield\n  return\n\npub func g () -> () { retur }\n",
        &["6:1: SYNTAX: expected `}`, found `pub`", "6:23: UNKNOWN_OP: there is no operator `retur`"],
    );
    check_mistakes(&body("let y = add(x, 1)"), &["2:3: SYNTAX: a value has no word before its name"]);
    check_mistakes(
        &body("loop L {\n    break\n    continue L\n  }"),
        &["3:5: SYNTAX: an exit of a loop names the label of it"],
    );
    check_mistakes(
        &body("match x {\n    case 42, 43 { yield }\n    case 44 { yield }\n    default { yield }\n  }"),
        &["3:12: SYNTAX: a region is that of one case: each case has its own"],
    );
    check_mistakes(
        &body("match x (42, 43, default) {\n    case 42, 43 { yield }\n    default { yield }\n  }"),
        &["3:12: SYNTAX: a region is that of one case: each case has its own"],
    );
    check_mistakes(
        &body("y = add.i32 x, i64:5"),
        &["2:18: BAD_LITERAL: a literal takes its type from its place, or is written `(const.i64 5)`"],
    );
    check_mistakes(
        "type Tok = enum { num, end }\nfunc f (t: Tok) -> () {\n  a = enum.new Tok::num\n  return\n}\n",
        &["3:16: SYNTAX: a dot stands before a member: `Tok.num`"],
    );
    check_mistakes(
        "type Tok = enum { num, end }\nfunc f (t: Tok) -> () {\n  match t {\n    case Tok::num { yield }\n    default { yield }\n  }\n  return\n}\n",
        &["4:10: SYNTAX: a dot stands before a member: `Tok.num`"],
    );
}

/// What a `;` hides is read where brackets would stay open without it: one mistake, and the others as they are.
#[test]
fn a_semicolon_that_hides_what_closes_is_told() {
    const LINE: &str = "SYNTAX: `;` begins a comment: what stands behind it belongs on a line of its own";
    const LIST: &str = "SYNTAX: `;` begins a comment: parts of a list are separated by `,`";
    for (text, expect) in [
        ("module m;\nfunc f (a: i64) -> (i64) { return a; }\n", vec![format!("2:36: {LINE}")]),
        ("func f (a: i64) -> (i64) { return a;; }\n", vec![format!("1:36: {LINE}")]),
        ("type P = struct { x: i64; y: i64 }\n", vec![format!("1:25: {LINE}")]),
        ("func f (a: i64; b: i64) -> (i64) {\n  return a\n}\n", vec![format!("1:15: {LIST}")]),
        (
            "func f (a: i64) -> (i64) {\n  b = add.i64 a, 1;\n  r = if (eqz.i64 b) -> (i64) { yield 1; } else { yield c; }\n  \
             return r; ; as it was\n}\nfunc g () -> () { return; }\n",
            vec![format!("3:40: {LINE}"), "3:57: UNKNOWN_NAME: there is no value `c` here".to_owned()],
        ),
        (
            "func f (a: i64) -> (i64) { b = add.i64 a, 1; c = mul.i64 bb, 2; return c }\n",
            vec![format!("1:44: {LINE}"), "1:58: UNKNOWN_NAME: there is no value `bb` here".to_owned()],
        ),
    ] {
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        check_mistakes(text, &expect);
    }
    // A comment stays one where nothing is open, and where reading it would leave more open.
    parsed("func f (a: i64) -> (i64) {\n  return a ; } and {[(\n}\n");
    check_mistakes(
        "func f (a: i64) -> (i64) {\n  return a ; as in b)\n",
        &["3:1: SYNTAX: expected `}`, found the end of the text"],
    );
    check_mistakes(
        "func f (a: i64) -> (i64) {\n  return a // as } there\n",
        &["2:12: SYNTAX: a comment begins with `;`", "3:1: SYNTAX: expected `}`, found the end of the text"],
    );
}

/// Nothing tells a comment from code that somebody meant; but who misses what such code makes is told where it stands.
#[test]
fn what_a_comment_hides_is_told_where_it_is_missed() {
    check_mistakes(
        "func f (a: i64) -> (i64) {\n  x = add.i64 a, 1; y = mul.i64 x, 2\n  return y\n}\n",
        &["3:10: UNKNOWN_NAME: there is no value `y` here; `y = ..` stands in a comment, behind a `;`"],
    );
    for comment in ["; y = mul.i64 x, 2", "x = string.len \"\\\"; y = 1\"", "x = add.i64 a, 1 ; y == 2"] {
        check_mistakes(
            &format!("func f (a: i64) -> (i64) {{\n  {comment}\n  return y\n}}\n"),
            &["3:10: UNKNOWN_NAME: there is no value `y` here"],
        );
    }
}

#[test]
fn a_line_of_semicolons_takes_no_longer_than_another() {
    let text = format!("func f () -> () {{ return {} }}\n", ";".repeat(200_000));
    check_mistakes(
        &text,
        &["1:26: SYNTAX: `;` begins a comment: what stands behind it belongs on a line of its own"],
    );
}

#[test]
fn a_name_like_a_ref_is_told_with_another() {
    check_candidates("func d0 () -> () { return }\n", "`d0` looks like a ref and cannot be a name", &["d0_"]);
    let mut program = parsed("module m\n");
    let text = "func f () -> () {\n  n5 = memory.size\n  return\n}\n";
    let errors = add_text(&mut program, &mut RefAllocator::starting_at(10), None, text).expect_err(text);
    assert_eq!((errors[0].code, &errors[0].candidates), (code::UNKNOWN_REF, &vec!["n5_".to_owned()]));
    assert!(errors[0].expected[0].contains("mtdfgvkn"));
}

#[test]
fn a_name_like_a_ref_is_told_once() {
    let text = "func f (f1: i64) -> (i64) {\n  var v0: i64\n  k2 = mul.i64 f1, v0\n  return k2\n}\n\
                func t5 () -> () { return }\nfunc g () -> () {\n  call t5()\n  return\n}\n";
    check_mistakes(
        text,
        &[
            "1:9: NAME_LIKE_REF: `f1` looks like a ref and cannot be a name",
            "2:7: NAME_LIKE_REF: `v0` looks like a ref and cannot be a name",
            "3:3: NAME_LIKE_REF: `k2` looks like a ref and cannot be a name",
            "6:6: NAME_LIKE_REF: `t5` looks like a ref and cannot be a name",
        ],
    );
}

#[test]
fn refs_of_what_is_new_are_told_once() {
    let mut program = parsed("module m\n");
    let text = "func two#f9 (a: i64) -> (i64) #g8 {\n  b#n10 = add.i64#n11 a, 1#n12\n  n14 = mul.i64 b, 2\n  \
                c = add.i64 n14, n10\n  return#n13 c\n}";
    let errors = add_text(&mut program, &mut RefAllocator::starting_at(100), None, text).expect_err(text);
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "1:9: UNKNOWN_REF: 5 refs are given to what is new: `f9`, `g8`, `n10`, `n12`, `n13`; leave them out, the \
             program hands them out",
            "3:3: UNKNOWN_REF: there is no `n14`",
        ]
    );
    assert_eq!(
        (&errors[0].expected[..], errors[1].candidates.as_slice()),
        (&["no ref where something is new".to_owned()][..], &["n14_".to_owned()][..])
    );
}

#[test]
fn a_text_says_where_it_tells_no_more_mistakes() {
    let text = format!("module m\n\n{}", "func f () -> () {\n  wrong\n}\n".repeat(150));
    let errors = parse_program(&text, &mut RefAllocator::starting_at(1)).unwrap_err();
    let last = errors.last().unwrap();
    assert_eq!((errors.len(), last.code, last.line), (101, code::TOO_MANY_ERRORS, 304));
}

#[test]
fn what_an_unknown_operator_is_given_is_looked_up() {
    let body = |lines: &str| format!("func f (a: i64, b: i64) -> (i64) {{\n  {lines}\n  return a\n}}\n");
    let text =
        body("x = foo.bar aa, (add.i64 a, bb)\n  y, z = foo.bar a cc\n  w = add.i64 z, (add.i64 x, aa)");
    check_mistakes(
        &text,
        &[
            "2:7: UNKNOWN_OP: there is no operator `foo.bar`",
            "2:15: UNKNOWN_NAME: there is no value `aa` here",
            "2:31: UNKNOWN_NAME: there is no value `bb` here",
            "3:10: UNKNOWN_OP: there is no operator `foo.bar`",
            "3:20: UNKNOWN_NAME: there is no value `cc` here",
            "4:30: UNKNOWN_NAME: there is no value `aa` here",
        ],
    );
    let errors = parse_program(&text, &mut RefAllocator::starting_at(1)).unwrap_err();
    assert_eq!(errors[1].candidates, ["a", "b"]);
    // Literals have no type here, and the first operand may name a label or a function.
    for (line, given) in [
        ("x = foo.bar 5, 9999999999", "foo.bar"),
        ("x = foo<i64>(a, 1)", "foo"),
        ("brek M", "brek"),
        ("cal g(aa)", "cal"),
        ("prose of some kind", "prose"),
    ] {
        let errors = parse_program(&body(line), &mut RefAllocator::starting_at(1)).expect_err(line);
        let told: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(told, [format!("there is no operator `{given}`")], "{line}");
    }
}

#[test]
fn what_unknown_operators_among_operands_are_given_is_looked_up() {
    let body = |line: &str| format!("func f (a: i64, b: i64) -> (i64) {{\n  {line}\n  return a\n}}\n");
    let unknown = |given: &str| format!("there is no operator `{given}`");
    let no_value = |given: &str| format!("there is no value `{given}` here");
    for (line, expect) in [
        ("x = add.i64 (foo.bar aa, 1), bb", vec![unknown("foo.bar"), no_value("aa"), no_value("bb")]),
        ("x = add.i64 (mull.i64 a, 5), bb", vec![unknown("mull.i64"), no_value("bb")]),
        ("x = add.i64 mull.i64(aa, b), b", vec![unknown("mull.i64"), no_value("aa")]),
        ("x = add.i64 (mull.i64(aa, b)), b", vec![unknown("mull.i64"), no_value("aa")]),
        ("x = mull.i64 (addd.i64 aa, b), b", vec![unknown("mull.i64"), unknown("addd.i64"), no_value("aa")]),
        (
            "x = add.i64 (mull.i64 (addd.i64 aa, b), b), b",
            vec![unknown("mull.i64"), unknown("addd.i64"), no_value("aa")],
        ),
    ] {
        let errors = parse_program(&body(line), &mut RefAllocator::starting_at(1)).expect_err(line);
        let told: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(told, expect, "{line}");
    }
}

#[test]
fn an_operator_without_its_type_is_told_how_it_is_written() {
    for (line, message, candidates) in [
        ("a = add x, 1", "the type of `add` is missing", &["add.i32", "add.i64", "add.f32", "add.f64"][..]),
        (
            "a = add(x, 1)",
            "the type of `add` is missing",
            &["add.i32", "add.i64", "add.f32", "add.f64", "call add"],
        ),
        ("a = select.i64 c, x, x", "the type of `select` stands in angle brackets", &["select<i64>"]),
        ("a = select c, x, x", "the type of `select` stands in angle brackets", &["select<T>"]),
        ("a = promote x", "the type of `promote` is missing", &["promote.f32.f64"]),
        ("a = ad.i32 x, 1", "there is no operator `ad.i32`", &["add.i32", "and.i32"]),
        ("a = i32.add x, 1", "there is no operator `i32.add`", &["add.i32"]),
        ("a = plus.i32 x, 1", "there is no operator `plus.i32`", &["add.i32"]),
        ("a = ADD.I32 x, 1", "there is no operator `ADD.I32`", &["add.i32"]),
        (
            "a = div.i32 x, 1",
            "there is no operator `div.i32`",
            &["div_s.i32", "div_u.i32", "div.f32", "div.f64"],
        ),
        ("ret x", "there is no operator `ret`", &["return"]),
        (
            "a = lt(x, 1)",
            "the type of `lt` is missing",
            &["lt.f32", "lt.f64", "lt_s.i32", "lt_s.i64", "lt_u.i32", "lt_u.i64", "call lt"],
        ),
    ] {
        let text = format!("func f (x: i32, c: bool) -> () {{\n  {line}\n  return\n}}\n");
        let errors = parse_program(&text, &mut RefAllocator::starting_at(1)).expect_err(line);
        assert_eq!((errors[0].message.as_str(), errors[0].code), (message, code::UNKNOWN_OP), "{line}");
        assert_eq!(errors[0].candidates, candidates, "{line}");
    }
}

#[test]
fn all_mistakes_of_a_text_are_told() {
    check_mistakes(
        "module m
func f (x: i64) -> (i64) {
  a = ad.i64 x, 1
  b = add.i64 xx, 1
  c = add.i64 x, 1.5
  d = add.i32 a,
  e = call g(x,
    b)
  break L
  h = const.i32 5000000000
  i = add.i64 a, d
  if (eqz.i64 x) -> (i64) { yield 1 }
  match x (0, 1) -> () { case 0 { yield } case 2 { yield } }
  return b
}
glob x
func t5 () -> () { return }
type P = struct { x: f6, y: Q }
",
        &[
            "3:7: UNKNOWN_OP: there is no operator `ad.i64`",
            "4:15: UNKNOWN_NAME: there is no value `xx` here",
            "5:18: BAD_LITERAL: `1.5` is no `i64`",
            "6:17: SYNTAX: expected an operand, found the end of the line",
            "7:12: UNKNOWN_NAME: there is no function `g`",
            "9:9: UNKNOWN_NAME: there is no label `L` around",
            "10:17: BAD_LITERAL: `5000000000` has no value in `i32`",
            "12:3: MISSING_REGION: an `if` with results needs an `else`",
            "13:3: MISSING_REGION: the region of `case1` is missing",
            "13:50: ARITY: the list of the `match` has no such case, or it stands here twice",
            "16:1: SYNTAX: expected `module`, `type`, `func`, `global`, `memory`, `data`, `table`, `elem` or `custom`, found `glob`",
            "17:6: NAME_LIKE_REF: `t5` looks like a ref and cannot be a name",
            "18:22: WRONG_KIND: `f6` is no type",
            "18:29: UNKNOWN_NAME: there is no type `Q`",
        ],
    );
}

#[test]
fn each_mistake_has_its_code() {
    let body = |line: &str| format!("func f (x: i32) -> () {{\n  {line}\n}}\n");
    for (line, expect) in [
        ("a = foo(x)", "2:7: UNKNOWN_OP: there is no operator `foo`"),
        ("yield foo(x)", "2:9: UNKNOWN_OP: `foo` is no operator; a function is called with `call foo(..)`"),
        ("yield add.i32 x, 1", "2:9: SYNTAX: the operator `add` among operands stands in parentheses"),
        (
            "n7 = memory.size\n  break n7 (1)",
            "3:13: LITERAL_WITHOUT_TYPE: no type is known for this literal: what its operator takes is not known",
        ),
        ("a = add.i32 (x, 1", "2:15: SYNTAX: this `(` is not closed"),
        ("a = add.i32 x 1", "2:17: SYNTAX: expected `,` or the end of the line, found `1`"),
        ("a = add.i32 x.1, 1", "2:15: SYNTAX: `x` has no ports"),
        ("a = add.i32 n99, 1", "2:15: UNKNOWN_REF: there is no `n99`"),
        ("a = add.i32 v99, 1", "2:15: UNKNOWN_REF: there is no `v99`"),
        ("a = add.i32 $a, 1", "2:15: UNKNOWN_NAME: there is no list of edits that made `$a`"),
        ("k2 = memory.size", "2:3: NAME_LIKE_REF: `k2` looks like a ref and cannot be a name"),
        ("a#g5 = memory.size", "2:4: WRONG_KIND: `g5` has the wrong letter: expected `n`"),
        ("a#n9999999999999 = memory.size", "2:4: REF_TOO_LARGE: `n9999999999999` is not below 2^40"),
        ("a#n5 = memory.size#n6", "2:21: DUPLICATE: a second ref for one node"),
        ("print \"a", "2:9: BAD_LITERAL: the text does not end"),
        ("print \"\\q\"", "2:9: BAD_LITERAL: unknown escape `\\q`"),
        ("a = const.i32 1x", "2:17: BAD_LITERAL: malformed number"),
        ("a = load.i32 align=3 x", "2:22: BAD_LITERAL: an alignment is a power of two"),
        ("a = select<5> x", "2:14: TYPE_EXPECTED: expected a type, found `5`"),
        ("match x (circle) { case circle { yield } }", "2:12: TYPE_EXPECTED: `i32` is no enum"),
        ("match x (0, default, 1) { }", "2:24: SYNTAX: expected `)`: `default` is the last, found `1`"),
        ("match x { default { yield } default { yield } }", "2:31: DUPLICATE: `default` stands here twice"),
        ("a = struct.get i32.x x", "2:18: TYPE_EXPECTED: `i32` is no struct"),
        (
            "a = global.get f",
            "2:18: UNKNOWN_NAME: there is no global, memory, table, segment or custom section `f`",
        ),
        ("a, b#n5, \"c d\" = memory.size", "2:12: SYNTAX: names in a list are identifiers"),
        ("a, bytes = memory.size", "2:6: SYNTAX: the word `bytes` cannot stand among several names"),
        ("block { var y: i32 }", "2:11: SYNTAX: variables stand at the top of a function"),
        ("a = if x { yield }\n b }", "3:2: UNKNOWN_OP: there is no operator `b`"),
    ] {
        let errors = parse_program(&body(line), &mut RefAllocator::starting_at(1)).expect_err(line);
        assert_eq!(errors[0].to_string(), expect, "{line}");
    }
    check_mistakes(
        "; run: f()\n",
        &["1:1: MISPLACED_RUN: a `; run:` line stands after the function that it runs"],
    );
    check_mistakes(
        "func f#f1 () -> () {}\nfunc g#f1 () -> () {}\n",
        &["2:7: DUPLICATE_REF: `f1` is given twice"],
    );
    check_mistakes(
        "module a\nfunc f () -> () {}\nfunc f () -> () {}\nfunc g () -> () { call f() }\n",
        &["4:24: AMBIGUOUS_NAME: `f` is the name of more than one function"],
    );
    check_mistakes("func f () -> () {\n", &["2:1: SYNTAX: expected `}`, found the end of the text"]);
    check_mistakes("func f () -> () \n", &["2:1: SYNTAX: expected `{`, found the end of the text"]);
    check_mistakes("module m5\n", &["1:8: NAME_LIKE_REF: `m5` looks like a ref and cannot be a name"]);
    check_mistakes(
        "module \"a::b\"\nmodule a::\"m5\"\nmodule a::\"b c\"::\"::\"\nfunc \"a::b\" () -> () {}\n",
        &[
            "1:8: BAD_NAME: `a::b` is a path and cannot be the name of a module",
            "2:11: NAME_LIKE_REF: `m5` looks like a ref and cannot be a name",
            "3:18: BAD_NAME: `::` is a path and cannot be the name of a module",
        ],
    );
    check_mistakes("global x: option<i32> = 5\n", &["1:25: BAD_LITERAL: `5` is no `option<i32>`"]);
    check_mistakes("type A = union { }\n", &["1:10: SYNTAX: expected `struct` or `enum`, found `union`"]);
    check_mistakes(
        "end\nfunc f () -> () {}\n",
        &["2:1: SYNTAX: expected `module`, after the `end` of another one, found `func`"],
    );
}

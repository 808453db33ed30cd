//! Lines of other languages: each is one mistake, with the line as it is written here.

use super::*;

/// A function with such a line, and what is known in it.
fn around(line: &str) -> String {
    format!(
        "type P = struct {{ x: i64, y: f64 }}\ntype E = enum {{ none, some(i64) }}\nfunc f (p: P, a: i64, b: i64, h: f64, c: bool, \
         xs: array<i64>, s: string, e: E) -> (i64) {{\n  var v: i64\n  {line}\n  return a\n}}\n"
    )
}

#[track_caller]
fn mistakes(text: &str) -> Vec<TextError> {
    parse_program(text, &mut RefAllocator::starting_at(1)).expect_err(text)
}

/// The rule that a line breaks, and the first line that stands for it.
#[track_caller]
fn check(line: &str, message: &str, expected: &str) {
    let errors = mistakes(&around(line));
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 1, "{line}: {told:?}");
    assert_eq!((errors[0].code, errors[0].message.as_str()), (code::SYNTAX, message), "{line}");
    assert_eq!(errors[0].expected, [expected], "{line}");
}

/// A line with an expression: what that is here, and the whole line.
#[track_caller]
fn check_value(line: &str, theirs: &str, ours: &str, expected: &str) {
    let errors = mistakes(&around(line));
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 1, "{line}: {told:?}");
    let ends = format!(": `{theirs}` is `{ours}` here");
    assert!(errors[0].message.ends_with(&ends), "{line}: {told:?}");
    assert_eq!(errors[0].expected, [expected], "{line}");
}

#[test]
fn signs_between_values_are_operators_before_them() {
    check(
        "d = a + b",
        "operators stand before their operands: `a + b` is `add.i64 a, b` here",
        "d = add.i64 a, b",
    );
    for (line, theirs, ours, expected) in [
        ("d = a == b", "a == b", "eq.i64 a, b", "d = eq.i64 a, b"),
        ("d = a != b", "a != b", "ne.i64 a, b", "d = ne.i64 a, b"),
        ("d = a + b * 2", "a + b * 2", "add.i64 a, (mul.i64 b, 2)", "d = add.i64 a, (mul.i64 b, 2)"),
        ("d = (a + b) % 2", "(a + b) % 2", "rem_s.i64 (add.i64 a, b), 2", "d = rem_s.i64 (add.i64 a, b), 2"),
        ("d = a-1", "a-1", "sub.i64 a, 1", "d = sub.i64 a, 1"),
        ("d = h / 2.0", "h / 2.0", "div.f64 h, 2.0", "d = div.f64 h, 2.0"),
        ("d = c && a < b", "c && a < b", "and.bool c, (lt_s.i64 a, b)", "d = and.bool c, (lt_s.i64 a, b)"),
        ("d = c and not c", "c and not c", "and.bool c, (not.bool c)", "d = and.bool c, (not.bool c)"),
        ("d = !c", "!c", "not.bool c", "d = not.bool c"),
        ("d = -a", "-a", "sub.i64 0, a", "d = sub.i64 0, a"),
        ("d = s + \"x\"", "s + \"x\"", "string.concat s, \"x\"", "d = string.concat s, \"x\""),
        ("d = s == \"x\"", "s == \"x\"", "string.eq s, \"x\"", "d = string.eq s, \"x\""),
        ("d = c ? a : b", "c ? a : b", "select<i64> c, a, b", "d = select<i64> c, a, b"),
        (
            "d = (add.i64 a, 1) * 2",
            "(add.i64 a, 1) * 2",
            "mul.i64 (add.i64 a, 1), 2",
            "d = mul.i64 (add.i64 a, 1), 2",
        ),
        ("return a + 1", "a + 1", "(add.i64 a, 1)", "return (add.i64 a, 1)"),
        ("if a > b {\n    yield\n  }", "a > b", "(gt_s.i64 a, b)", "if (gt_s.i64 a, b) {"),
        ("if (a > b) {\n    yield\n  }", "(a > b)", "(gt_s.i64 a, b)", "if (gt_s.i64 a, b) {"),
        (
            "d = if a > b -> (i64) {\n    yield a\n  } else {\n    yield b\n  }",
            "a > b",
            "(gt_s.i64 a, b)",
            "d = if (gt_s.i64 a, b) -> (i64) {",
        ),
        (
            "loop M (i: i64 = a - 1) {\n    break M\n  }",
            "a - 1",
            "(sub.i64 a, 1)",
            "loop M (i: i64 = (sub.i64 a, 1)) {",
        ),
        ("require \"m\" = a > 0", "a > 0", "gt_s.i64 a, 0", "require \"m\" = gt_s.i64 a, 0"),
        ("d = call f(a + b)", "a + b", "(add.i64 a, b)", "d = call f((add.i64 a, b))"),
    ] {
        check_value(line, theirs, ours, expected);
    }
}

#[test]
fn what_is_in_values_is_read_and_made_by_operators() {
    check(
        "d = add.i64 p.x, 1",
        "a field is read by an operator: `p.x` is `(struct.get P.x p)` here",
        "d = add.i64 (struct.get P.x p), 1",
    );
    for (line, theirs, ours, expected) in [
        ("return p.x", "p.x", "(struct.get P.x p)", "return (struct.get P.x p)"),
        ("d = p.y * h", "p.y * h", "mul.f64 (struct.get P.y p), h", "d = mul.f64 (struct.get P.y p), h"),
        ("d = P { y: 2.5, x: a }", "P { y: 2.5, x: a }", "struct.new P a, 2.5", "d = struct.new P a, 2.5"),
        ("d = xs[0]", "xs[0]", "array.get<i64> xs, 0", "d = array.get<i64> xs, 0"),
        ("d = xs.len()", "xs.len()", "array.len<i64> xs", "d = array.len<i64> xs"),
        ("d = s.length", "s.length", "string.len s", "d = string.len s"),
        ("d = [1, 2]", "[1, 2]", "array.new<i64> 1, 2", "d = array.new<i64> 1, 2"),
        ("d = E.none", "E.none", "enum.new E.none", "d = enum.new E.none"),
        ("d = E::some(a)", "E::some(a)", "enum.new E.some a", "d = enum.new E.some a"),
        ("d = some(a)", "some(a)", "enum.new option<i64>.some a", "d = enum.new option<i64>.some a"),
    ] {
        check_value(line, theirs, ours, expected);
    }
    check("p.x = 5", "a struct does not change: `struct.set` makes another one", "p2 = struct.set P.x p, 5");
    check(
        "xs[0] = 5",
        "an array does not change: `array.set` makes another one",
        "xs2 = array.set<i64> xs, 0, 5",
    );
}

#[test]
fn names_and_variables_are_set_by_operators() {
    let declared = "a variable is declared at the top of its function, and set by an operator";
    let set = "a variable is set by an operator";
    check("x = 5", "a name is given to what an operator computes", "x = const.i64 5");
    check("x = True", "a name is given to what an operator computes", "x = const.bool true");
    let alias = mistakes(&around("x = a"));
    assert_eq!(
        alias[0].message,
        "a name stands for what an operator computes; what has a name is used by that"
    );
    assert!(alias.len() == 1 && alias[0].expected.is_empty());
    check("v = 5", set, "var.set v, 5");
    check("v = a + 1", set, "var.set v, (add.i64 a, 1)");
    check("v += 1", set, "var.set v, (add.i64 v, 1)");
    check("v++", set, "var.set v, (add.i64 v, 1)");
    check("var w: i64 = 0", &format!("{declared}: `var w: i64`, then `var.set w, 0`"), "var w: i64");
    check("let mut w = a", &format!("{declared}: `var w: i64`, then `var.set w, a`"), "var w: i64");
    check("let x = add.i64 a, 1", "a value has no word before its name", "x = add.i64 a, 1");
    check("let x: i32 = 5", "a value has no word before its name", "x = const.i32 5");
    check("x := a * 2", "a name is given with `=`", "x = mul.i64 a, 2");
    check(
        "a += 1",
        "a value does not change: give another one a name, or declare a variable (`var x: i64`) and set it",
        "a2 = add.i64 a, 1",
    );
}

#[test]
fn loops_and_chains_of_other_languages_are_read_on() {
    let loops =
        "a loop ends where `break_if` says, and goes on where `continue` says, which is its last line";
    let chain = "an `if` in an `else` stands in the braces of that, which has a `}` more";
    check(
        "while a < b {\n    print s\n  }",
        &format!("{loops}: `loop L {{`, `break_if L (not.bool (lt_s.i64 a, b))`, then `continue L`"),
        "loop L {",
    );
    check(
        "for i in 0..a {\n    print s\n  }",
        &format!(
            "{loops}: `loop L (i: i64 = 0) {{`, `break_if L (ge_s.i64 i, a)`, then `continue L (add.i64 i, 1)`"
        ),
        "loop L (i: i64 = 0) {",
    );
    check(
        "if c {\n    yield\n  } else if a == b {\n    yield\n  } else {\n    yield\n  }",
        &format!("{chain}: `else {{`, then `if (eq.i64 a, b) {{`"),
        "else {",
    );
    check("loop M {\n    break\n  }", "an exit of a loop names the label of it", "break M");
    check("loop M {\n    continue\n  }", "an exit of a loop names the label of it", "continue M");
    check(
        "match e {\n    none => 1,\n    case some (n: i64) { yield }\n  }",
        "a case is a region that yields its value",
        "case none { yield 1 }",
    );
    let inside = mistakes(&around("while a < b {\n    v = a\n    y = ad.i64 a, 1\n  }\n  z = ad.i64 a, 1"));
    let lines: Vec<(u32, &str)> = inside.iter().map(|error| (error.line, error.code)).collect();
    assert_eq!(lines, [(5, code::SYNTAX), (6, code::SYNTAX), (7, code::UNKNOWN_OP), (9, code::UNKNOWN_OP)]);
}

#[test]
fn a_loop_that_begins_wrongly_is_read_on() {
    let text =
        around("d = loop M (n: i32 = (array.len xs)) -> (i64) {\n    w = mull.i64 a, b\n    break M w\n  }");
    let errors = mistakes(&text);
    let told: Vec<(&str, &str)> = errors.iter().map(|error| (error.code, error.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (code::UNKNOWN_OP, "the type of `array.len` stands in angle brackets"),
            (code::UNKNOWN_OP, "there is no operator `mull.i64`"),
        ]
    );
    assert_eq!(errors[0].expected, ["array.len<i64>"]);
}

#[test]
fn what_makes_an_option_is_told() {
    let errors = mistakes("func f () -> (option<i64>) {\n  return none\n}\n");
    assert_eq!(errors[0].candidates, ["enum.new option<T>.none"]);
    let errors = mistakes("func f () -> (option<i64>) {\n  return some(5)\n}\n");
    assert_eq!(errors[0].expected, ["return (enum.new option<i64>.some 5)"]);
}

#[test]
fn items_of_other_languages_are_read_on() {
    let body = " {\n  return (add.i64 a, aa)\n}\n";
    for (head, place, message, expected) in [
        ("fn f (a: i64) -> i64", "1:1", "a function begins with `func`", "func f (a: i64) -> i64 {"),
        ("pub def f (a: i64) -> (i64)", "1:5", "a function begins with `func`", "func f (a: i64) -> (i64) {"),
        ("func f (a: i64): i64", "1:16", "results stand behind an arrow: `-> i64`", "-> i64"),
        ("func f (a: i64) i64", "1:17", "results stand behind an arrow: `-> i64`", "-> i64"),
        (
            "func f (a i64) -> (i64)",
            "1:11",
            "a colon stands between a parameter and its type: `a: i64`",
            "a: i64",
        ),
        (
            "func f (i64 a) -> (i64)",
            "1:13",
            "a colon stands between a parameter and its type: `a: i64`",
            "a: i64",
        ),
    ] {
        let errors = mistakes(&format!("{head}{body}"));
        assert_eq!(errors[0].to_string(), format!("{place}: SYNTAX: {message}"), "{head}");
        assert_eq!(errors[0].expected, [expected], "{head}");
    }
    let errors = mistakes(&format!("fn f (a: i64) -> i64{body}"));
    assert_eq!(errors[1].to_string(), "2:22: UNKNOWN_NAME: there is no value `aa` here");
    for (item, expected) in [
        ("struct P { x: i64 }", "type P = struct { x: i64 }"),
        ("enum E { none, some(i64) }", "type E = enum { none, some(i64) }"),
        ("const TOP: i64 = 5", "global TOP: i64 = 5"),
        ("var sold: i64 = 5", "global mut sold: i64 = 5"),
    ] {
        let errors = mistakes(&format!("{item}\nfunc f () -> () {{ return }}\n"));
        assert_eq!((errors.len(), &errors[0].expected[..]), (1, &[expected.to_owned()][..]), "{item}");
    }
}

#[test]
fn a_type_that_a_text_does_not_tell_is_a_letter() {
    let errors = mistakes("func f () -> () {\n  x = call g()\n  y = x + 1\n  return\n}\n");
    assert_eq!(errors[1].expected, ["y = add.T x, 1"]);
}

#[test]
fn other_mistakes_stay_what_they_are() {
    for (line, expect) in [
        ("d = mull.i64 a, b", "there is no operator `mull.i64`"),
        ("d = i64.add a, b", "there is no operator `i64.add`"),
        ("d = memory.siz", "there is no operator `memory.siz`"),
        ("d = g(a)", "there is no operator `g`"),
        ("d = enum.new E::none", "a dot stands before a member: `E.none`"),
        ("d = add.i64 a b", "expected `,` or the end of the line, found `b`"),
    ] {
        assert_eq!(mistakes(&around(line))[0].message, expect, "{line}");
    }
}

#[test]
fn long_and_deep_lines_are_left_alone() {
    let deep = format!("d = {}a + 1{}", "(".repeat(5_000), ")".repeat(5_000));
    let wide = format!("d = a{}", " + a".repeat(5_000));
    for line in [deep, wide] {
        assert!(!mistakes(&around(&line)).is_empty());
    }
}

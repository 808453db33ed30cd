//! What is given by position to what one side has put into another order.

use super::rests::{check, insert};
use super::*;
use crate::request::{AddText, EditRequest, ParamRequest, ReplaceText, SetSignature};

fn replace(of: &str, text: &str) -> EditRequest {
    EditRequest::ReplaceFunctionText(ReplaceText { of: of.into(), text: text.into(), if_hash: None })
}

fn add(text: &str) -> EditRequest {
    EditRequest::AddText(AddText { module: Some("m".into()), text: text.into() })
}

/// Checks that two lists of edits collide in what is used by position, and that all of either side can be taken.
fn check_use(text: &str, lists: [&[EditRequest]; 2], of: &str) {
    check(text, lists, ConflictKind::SignatureAndUse, of);
}

/// Lets the parameters of `f2` change places.
fn swapped() -> EditRequest {
    let params = ["y", "x"].map(|name| ParamRequest { name: name.into(), ty: "i64".into() });
    EditRequest::SetSignature(SetSignature {
        of: "f2".into(),
        params: Some(params.into()),
        results: None,
        effect_bound: None,
        rewrite_calls: true,
        defaults: Vec::new(),
    })
}

#[test]
fn calls_go_with_the_parameters_that_they_are_for() {
    let text = "module m#m1
func f#f2 (x: i64, y: i64) -> (i64) pure {
  s#n4 = sub.i64 x, y
  return#n5 s
}

func g#f8 (a: i64, b: i64) -> (i64) pure {
  r#n9 = call f(a, b)
  return#n10 r
}
";
    let call = add("func h () -> (i64) pure {\n  return (call f(1, 2))\n}");
    check_use(text, [&[swapped()], &[call]], "f2");
}

#[test]
fn a_value_is_given_to_the_parameter_that_was_there() {
    let text = "module m#m1
func f#f2 (x: i64, y: i64) -> (i64) pure {
  s#n4 = sub.i64 x, y
  return#n5 s
}

func g#f8 (a: i64, b: i64) -> (i64) pure {
  r#n9 = call f(a, a)
  return#n10 r
}
";
    let other =
        replace("f8", "func g (a: i64, b: i64) -> (i64) pure {\n  r#n9 = call f(a, b)\n  return#n10 r\n}");
    check_use(text, [&[swapped()], &[other]], "f2");
}

#[test]
fn a_value_is_given_to_the_field_that_was_there() {
    let text = "module m#m1
type P#t2 = struct { x#d3: i64, y#d4: i64 }

func g#f8 (a: i64, b: i64) -> (P) pure {
  r#n9 = struct.new P a, a
  return#n10 r
}
";
    let swapped = EditRequest::ReplaceType(ReplaceText {
        of: "t2".into(),
        text: "type P = struct { y#d4: i64, x#d3: i64 }".into(),
        if_hash: None,
    });
    let other =
        replace("f8", "func g (a: i64, b: i64) -> (P) pure {\n  r#n9 = struct.new P a, b\n  return#n10 r\n}");
    check_use(text, [&[swapped], &[other]], "t2");
}

#[test]
fn closures_go_with_the_captures_that_they_are_made_of() {
    let text = "module m#m1
func f#f2 [x: i64, y: i64] () -> (i64) pure {
  s#n4 = capture.get x
  return#n5 s
}

func g#f8 (a: i64, b: i64) -> (closure<() -> (i64)>) pure {
  r#n9 = closure.new f a, b
  return#n10 r
}
";
    let swap = [
        replace("f2", "func f [y: i64, x: i64] () -> (i64) pure {\n  s#n4 = capture.get x\n  return#n5 s\n}"),
        replace(
            "f8",
            "func g (a: i64, b: i64) -> (closure<() -> (i64)>) pure {\n  r#n9 = closure.new f b, a\n  return#n10 r\n}",
        ),
    ];
    check_use(text, [&swap, &[insert("t = capture.get y", "n4")]], "f2");
    let made = add("func h () -> (closure<() -> (i64)>) pure {\n  return (closure.new f 1, 2)\n}");
    check_use(text, [&swap, &[made]], "f2");
}

#[test]
fn who_goes_on_with_a_loop_goes_with_its_parameters() {
    let text = "module m#m1
func f#f2 (n: i64) -> (i64) pure {
  r#n4 = loop L (a: i64 = n, b: i64 = 1#n3) -> (i64) #g5 {
    c#n6 = eqz.i64 a
    break_if#n7 L c (b)
    d#n8 = sub.i64 a, b
    continue#n9 L d, b
  }
  return#n10 r
}
";
    let swapped = "func f (n: i64) -> (i64) pure {
  r#n4 = loop L (b: i64 = 1#n3, a: i64 = n) -> (i64) #g5 {
    c#n6 = eqz.i64 a
    break_if#n7 L c (b)
    d#n8 = sub.i64 a, b
    continue#n9 L b, d
  }
  return#n10 r
}
";
    check_use(text, [&[replace("f2", swapped)], &[insert("continue_if L c (n, 3)", "n7")]], "g5");
}

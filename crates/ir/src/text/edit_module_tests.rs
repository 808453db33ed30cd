use super::*;
use crate::text::{Detail, parse_program, print_module, print_program};

const TEXT: &str = "; Of the module.
module m#m1

; Of the type.
type Shape#t2 = enum { circle#d3(f64), empty#d4 }

global seen#v5: mut i64 = 0

func area#f10 (s: Shape) -> (f64) #g11 {
  r#n12 = match s (circle, empty) -> (f64) {
    case circle (d: f64) #g14 { yield#n15 (mul.f64#n16 d, d) }
    case empty #g17 { yield#n18 0.0#n19 }
  }
  return#n20 r
}
; run: area(circle(2.0)) == 4.0

func twice#f30 (n: i64) -> (i64) #g31 {
  ; Adds it to itself.
  d#n32 = add.i64 n, n
  return#n33 d
}

func user#f40 (n: i64) -> (i64) #g41 {
  t#n42 = call twice(n)
  return#n43 t
}

module other#m50

func outer#f51 () -> (i64) #g52 {
  t#n54 = call m::twice(1#n53)
  return#n55 t
}
";

fn start() -> (Program, RefAllocator) {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(TEXT, &mut refs).unwrap_or_else(|errors| panic!("{errors:?}"));
    (program, refs)
}

fn m() -> ModuleRef {
    ModuleRef::of_key(1)
}

fn summary() -> String {
    print_module(&start().0, m(), Detail::Summary)
}

fn replaced(text: &str) -> (Program, ReplacedModule) {
    let (mut program, mut refs) = start();
    let made = replace_module(&mut program, &mut refs, m(), text, None)
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    (program, made)
}

#[test]
fn a_module_replaced_by_its_own_text_stays() {
    let (program, _) = start();
    for detail in [Detail::Summary, Detail::Standard, Detail::Full] {
        let (after, made) = replaced(&print_module(&program, m(), detail));
        assert!(after == program, "{detail:?}\n{}", print_program(&after, Detail::Full));
        assert_eq!((made.added.len(), made.removed.len()), (0, 0));
        assert_eq!(module_hash(&after, m()), module_hash(&program, m()));
    }
}

#[test]
fn a_function_that_has_but_another_name_is_the_same() {
    let text = summary().replace("twice", "double").replace("Shape", "Form");
    let (after, made) = replaced(&text);
    assert_eq!((made.added.len(), made.removed.len()), (0, 0));
    let shown = print_program(&after, Detail::Full);
    assert!(shown.contains("func double#f30") && shown.contains("; Adds it to itself."), "{shown}");
    assert!(shown.contains("t#n54 = call m::double(1#n53)"), "{shown}");
    assert!(shown.contains("type Form#t2") && shown.contains("s: Form"), "{shown}");
}

#[test]
fn what_the_text_has_not_is_removed_and_the_rest_is_new() {
    let text = "module m
type Shape = enum { empty, square(i64) }
func area (s: Shape) -> (f64) { return 1.0 }
func user (n: i64) -> (i64) {
  t = call thrice(n)
  return t
}
func thrice (n: i64) -> (i64) { return (mul.i64 n, 3) }
";
    let (after, made) = replaced(text);
    let names: Vec<&str> = made.added.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["thrice"]);
    let removed: Vec<String> = made.removed.iter().map(Ref::to_string).collect();
    assert_eq!(removed, ["f30", "v5"]);
    let shown = print_module(&after, m(), Detail::Standard);
    assert!(shown.contains("type Shape#t2 = enum { empty#d4, square#d"), "{shown}");
    assert!(shown.contains("func area#f10") && shown.contains("return#n20 1.0"), "{shown}");
    assert!(shown.contains("t#n42 = call thrice(n)") && shown.contains("return#n43 t"), "{shown}");
    assert_eq!(after.users_of(made.removed[0]).count(), 1, "the use from elsewhere is left");
}

#[test]
fn mistakes_of_all_items_come_at_once() {
    let (mut program, mut refs) = start();
    let before = program.clone();
    let mut told = |text: &str| -> Vec<String> {
        let errors = replace_module(&mut program, &mut refs, m(), text, None).expect_err(text);
        errors.iter().map(ToString::to_string).collect()
    };
    let text = "module m
type Shape = enum { circle(f46) }
func area (s: Shap) -> (f64) { return 1,0 }
func user (n: i64) -> (i64) {
  t = call twise(n)
  return tt
}
func twice (n: i64) -> (i64) { return#n43 n }
";
    insta::assert_snapshot!(told(text).join("\n"), @r"
    2:28: WRONG_KIND: `f46` is no type
    3:15: UNKNOWN_NAME: there is no type `Shap`
    5:12: UNKNOWN_NAME: there is no function `twise`
    6:10: UNKNOWN_NAME: there is no value `tt` here
    8:32: UNKNOWN_REF: `n43` is a part of another function
    ");
    insta::assert_snapshot!(told("module other\nfunc f () -> () {}").join("\n"), @"1:8: UNKNOWN_NAME: the text is of the module `other`, not of `m`");
    insta::assert_snapshot!(told("module m\nfunc f#f51 () -> () {}\nmodule n").join("\n"), @r"
    2:7: UNKNOWN_REF: `f51` is something else: `other::outer`
    3:8: SYNTAX: expected the text of one module: its `module` line comes first
    ");
    assert!(program == before);
}

#[test]
fn a_module_is_renamed_by_its_ref() {
    let (after, _) = replaced(&summary().replace("module m", "pub module shapes#m1"));
    let record = after.module(m()).expect("there");
    assert_eq!((&*record.name, record.visibility), ("shapes", crate::entities::Visibility::Public));
    assert_eq!(record.doc.as_deref(), Some("Of the module."));
    assert!(print_program(&after, Detail::Summary).contains("call shapes::twice(1)"));
}

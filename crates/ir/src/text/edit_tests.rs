use imbl::OrdMap;

use super::*;
use crate::refs::ModuleRef;
use crate::text::{
    Detail, add_text, parse_program, print_contract, print_function, print_node, print_program, print_type,
};

fn start(text: &str) -> (Program, RefAllocator) {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(text, &mut refs).unwrap_or_else(|errors| panic!("{errors:?}"));
    (program, refs)
}

const TEXT: &str = "module m#m1
type Shape#t2 = enum { circle#d3(f64), square#d4(f64), empty#d5 }

func f#f10 (x: i64, s: Shape) -> (i64) #g11 {
  var cell#v12: i64
  require#k13 \"positive\" #g14 { yield#n16 (gt_s.i64#n15 x, 0#n17) }
  a#n20 = add.i64 x, 1#n21
  c#n22 = lt_s.i64 a, x
  r#n23 = if L c -> (i64) #g24 {
    inner#n26 = mul.i64 a, a
    yield#n27 inner
  } else #g25 { yield#n28 a }
  return#n29 r
}
";

fn f() -> FuncRef {
    FuncRef::new(10).expect("in range")
}

#[test]
fn a_function_replaced_by_its_own_text_stays() {
    let (program, mut refs) = start(TEXT);
    let mut again = program.clone();
    let text = print_function(&program, f(), Detail::Full);
    replace_function(&mut again, &mut refs, f(), &text, None).expect("its own text");
    assert_eq!(again, program);
    let summary = print_function(&program, f(), Detail::Summary);
    replace_function(&mut again, &mut refs, f(), &summary, None).expect("its own text");
    for named in [20, 22, 23, 24, 25, 26, 11, 12, 13, 14, 27] {
        assert!(again.function_of(again.ref_of(named).expect("kept")).is_some(), "{named}");
    }
}

#[test]
fn parts_keep_their_refs_by_name() {
    let (mut program, mut refs) = start(TEXT);
    let text = "func f (x: i64, s: Shape) -> (i64) {
  var cell: i64
  require \"positive\" = gt_s.i64 x, 0
  a = add.i64 x, 2
  c = gt_s.i64 a, x
  r = if L c -> (i64) { yield a } else { yield x }
  return#n29 r
}";
    replace_function(&mut program, &mut refs, f(), text, None).expect("fits");
    let printed = print_function(&program, f(), Detail::Standard);
    assert!(printed.contains("a#n20 = add.i64 x, 2"), "{printed}");
    assert!(printed.contains("r#n23 = if L c"), "{printed}");
    assert!(!printed.contains("c#n22"), "another operator is another node: {printed}");
    assert!(printed.contains("return#n29 r"), "{printed}");
    assert!(printed.contains("require#k13"), "{printed}");
    let full = print_function(&program, f(), Detail::Full);
    assert!(full.contains("#g24") && full.contains("#g25") && full.contains("#g11"), "{full}");
}

#[test]
fn what_a_text_adds_is_not_handed_out_again() {
    let text = "module m
func f#f10 (x: i64) -> (i64) {
  y = add.i64 x, 1
  return y
}
";
    let bodies = [
        "var a: i64",
        "var a: i64\n  require \"m\" = true",
        // The second one is new; all that stands in it may be what stood in the first.
        "var a: i64\n  require \"m\" = true\n  require \"m\" = true",
        "var a: i64\n  var b: i64\n  require \"n\" = true",
    ];
    for spent in 0..20 {
        let (mut program, mut refs) = start(text);
        for _ in 0..spent {
            refs.allocate_in(f());
        }
        for body in bodies {
            let new = format!("func f (x: i64) -> (i64) {{\n  {body}\n  y = add.i64 x, 1\n  return y\n}}");
            replace_function(&mut program, &mut refs, f(), &new, None).expect("fits");
            assert!(refs.watermark() > program.largest_number(), "{spent}: {body}");
            let mut ahead = refs.clone();
            for number in (0..40).filter_map(|_| ahead.allocate_in(f())) {
                assert_eq!(program.ref_of(number), None, "{spent}: {body}");
            }
        }
    }
}

#[test]
fn what_stayed_keeps_refs_and_comments() {
    let text = "module m#m1
; Said of the function.
func f#f10 (x: i64) -> (i64) #g11 {
  ; Said of the loop.
  n30 = loop L (i: i64 = 0#n31) -> (i64) #g32 {
    break_if#n33 L (ge_s.i64#n34 i, x) (i)
    ; Said of a step.
    print#n35 \"step\"#n36
    continue#n37 L (add.i64#n38 i, 1#n39)
    ; At the end.
  }
  return#n40 n30
}
; run: f(3) == 3
";
    let (mut program, mut refs) = start(text);
    let new = "func f (x: i64) -> (i64) {
  before = mul.i64 x, 2
  r = loop L (i: i64 = 0) -> (i64) {
    print \"step\"
    break_if L (ge_s.i64 i, before) (i)
    continue L (add.i64 i, 3)
  }
  return r
}";
    replace_function(&mut program, &mut refs, f(), new, None).expect("fits");
    insta::assert_snapshot!(print_function(&program, f(), Detail::Full), @r##"
    ; Said of the function.
    func f#f10 (x: i64) -> (i64) #g11 {
      before#n49 = mul.i64 x, 2#n48
      ; Said of the loop.
      r#n30 = loop L (i: i64 = 0#n31) -> (i64) #g32 {
        ; Said of a step.
        print#n35 "step"#n36
        break_if#n51 L (ge_s.i64#n50 i, before) (i)
        continue#n37 L (add.i64#n38 i, 3#n39)
        ; At the end.
      }
      return#n40 r
    }
    ; run: f(3) == 3
    "##);
    let told = "; Said of the function.\nfunc f (x: i64) -> (i64) { return x }";
    replace_function(&mut program, &mut refs, f(), told, None).expect("fits");
    insta::assert_snapshot!(print_function(&program, f(), Detail::Full), @r##"
    ; Said of the function.
    func f#f10 (x: i64) -> (i64) #g11 {
      return#n40 x
    }
    "##);
}

#[test]
fn foreign_refs_are_unknown() {
    let (mut program, mut refs) = start(TEXT);
    let check = |program: &mut Program, refs: &mut RefAllocator, text: &str, expect: &str| {
        let before = program.clone();
        let errors = replace_function(program, refs, f(), text, None).expect_err(text);
        assert_eq!(errors[0].to_string(), expect);
        assert_eq!(*program, before);
    };
    check(
        &mut program,
        &mut refs,
        "func f () -> () { n999 = memory.size }",
        "1:19: UNKNOWN_REF: there is no `n999`",
    );
    check(
        &mut program,
        &mut refs,
        "func f () -> () {\n n24 = memory.size }",
        "2:2: UNKNOWN_REF: there is no `n24`",
    );
    check(&mut program, &mut refs, "func f#f9 () -> () {}", "1:7: UNKNOWN_REF: there is no `f9`");
    check(&mut program, &mut refs, "type T = struct {}", "1:6: SYNTAX: expected a function");
    check(&mut program, &mut refs, "", "1:1: SYNTAX: expected one function and nothing else");
}

#[test]
fn a_type_keeps_its_members_by_name() {
    let (mut program, mut refs) = start(TEXT);
    let of = TypeRef::new(2).expect("in range");
    let text = "type Shape = enum { square(i32), round#d3(f64), point }";
    replace_type(&mut program, &mut refs, of, text).expect("fits");
    let printed = print_type(&program, of, Detail::Full);
    assert!(
        printed.starts_with("type Shape#t2 = enum { square#d4(i32), round#d3(f64), point#d"),
        "{printed}"
    );
}

#[test]
fn a_contract_is_replaced_in_place() {
    let (mut program, mut refs) = start(TEXT);
    let of = ContractRef::new(13).expect("in range");
    let own = print_contract(&program, f(), of, Detail::Full);
    let before = program.clone();
    replace_contract(&mut program, &mut refs, of, &own).expect("its own text");
    assert_eq!(program, before);
    replace_contract(&mut program, &mut refs, of, "ensure \"larger\" (r) = gt_s.i64 r, x").expect("fits");
    let printed = print_contract(&program, f(), of, Detail::Summary);
    assert!(printed.starts_with("ensure#k13 \"larger\" (r) #g14 { yield#n"), "{printed}");
    assert!(printed.ends_with("(gt_s.i64 r, x) }\n"), "{printed}");
    let errors = replace_contract(&mut program, &mut refs, of, "a = add.i64 x, 1").expect_err("no contract");
    assert_eq!(errors[0].code, code::SYNTAX);
}

#[test]
fn lines_are_inserted_where_one_says() {
    let (mut program, mut refs) = start(TEXT);
    let node = |number| NodeRef::new(number).expect("in range");
    let region = |number| RegionRef::new(number).expect("in range");
    let names = OrdMap::unit("twice".to_owned(), node(20).into());
    let written = |text| Written::with_names(text, &names);
    let at = InsertPlace { function: f(), region: region(24), after: Some(node(26)) };
    let text = "y = add.i64 inner, $twice\nz, rest = call f(y, s)\nbreak_if L c (z)";
    let made = insert_text(&mut program, &mut refs, at, written(text)).expect("fits");
    assert_eq!(made.labels.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["y", "z"]);
    let places: Vec<_> = made.labels.iter().map(|(_, node)| made.places.get(node.number())).collect();
    assert_eq!(places, [Some((1, 5)), Some((2, 11))]);
    let printed = print_function(&program, f(), Detail::Standard);
    let inner = printed.find("inner#n26").expect("there");
    let (y, last) = (printed.find("y#n").expect("there"), printed.find("yield#n27").expect("there"));
    assert!(inner < y && y < last, "{printed}");
    assert!(printed.contains("= add.i64 inner, a\n"), "{printed}");
    let at = InsertPlace { after: None, ..at };
    insert_text(&mut program, &mut refs, at, "first = memory.size").expect("fits");
    let errors = insert_text(&mut program, &mut refs, at, "w = add.i64 inner, first").expect_err("too early");
    assert_eq!(errors[0].to_string(), "1:13: UNKNOWN_NAME: there is no value `inner` here");
    let errors = insert_text(&mut program, &mut refs, at, "w#n5 = memory.size").expect_err("a ref");
    assert_eq!(errors[0].code, code::UNKNOWN_REF);
    let text = "require \"some\" = true";
    let errors = insert_text(&mut program, &mut refs, at, text).expect_err("a contract");
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["1:1: SYNTAX: contracts stand at the top of a function"]);
    let text = "w = add.i64 $twic, $\nv = $größe w\n}";
    let errors = insert_text(&mut program, &mut refs, at, written(text)).expect_err("four");
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let expected = [
        "1:13: UNKNOWN_NAME: no edit before made `$twic`",
        "1:20: SYNTAX: expected a name right after `$`",
        "2:5: UNKNOWN_NAME: no edit before made `$größe`",
        "3:1: SYNTAX: expected an operator, found `}`",
    ];
    assert_eq!(told, expected);
    assert_eq!(errors[0].candidates, ["$twice"]);
}

#[test]
fn operators_are_read_in_their_scope() {
    let (program, _) = start(TEXT);
    let scope = OperatorScope {
        function: f(),
        region: RegionRef::new(24).expect("in range"),
        after: Some(NodeRef::new(26).expect("in range")),
    };
    let read = |text: &str| {
        parse_operator(&program, scope, text)
            .map(|form| (crate::text::print_op(&form.op), form.region_params))
    };
    let op = |text: &str| read(text).map(|(op, _)| op);
    assert_eq!(op("call f").as_deref(), Ok("call f10"));
    assert_eq!(op("break L").as_deref(), Ok("break n23"));
    assert_eq!(op("br_switch (break L, return)").as_deref(), Ok("br_switch (break n23, return)"));
    assert_eq!(op("var.get cell").as_deref(), Ok("var.get v12"));
    assert_eq!(
        op("match (circle, square, default) -> (i64)").as_deref(),
        Ok("match (t2.d3, t2.d4, default) -> (i64)")
    );
    assert_eq!(op("match (0, 1, default) -> (i64)").as_deref(), Ok("match (0, 1, default) -> (i64)"));
    assert_eq!(op("enum.new Shape.circle").as_deref(), Ok("enum.new t2.d3"));
    assert_eq!(op("if -> (i64)").as_deref(), Ok("if -> (i64)"));
    let (op, params) = read("loop M (i: i64, acc: Shape) -> (i64)").expect("an operator");
    assert_eq!((op.as_str(), params.len()), ("loop M -> (i64)", 2));
    assert_eq!(read("break M").expect_err("no label").code, code::UNKNOWN_NAME);
    assert_eq!(read("call fy").expect_err("no function").code, code::UNKNOWN_NAME);
}

#[test]
fn text_is_added_to_modules() {
    let (mut program, mut refs) = start(TEXT);
    let module = ModuleRef::new(1).expect("in range");
    let added = add_text(&mut program, &mut refs, Some(module), "func g () -> (i64) {\n  s = enum.new Shape.empty\n  r = call f(1, s)\n  return r\n}\nglobal n: i32\n").expect("fits");
    assert_eq!(added.entities.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["g", "n"]);
    let errors =
        add_text(&mut program, &mut refs, Some(module), "func h#f99 () -> () {}").expect_err("a ref");
    assert_eq!(errors[0].code, code::UNKNOWN_REF);
    add_text(&mut program, &mut refs, None, "module other::inner\nfunc k () -> () { call m::g()\n return }")
        .expect("fits");
    assert!(print_program(&program, Detail::Summary).contains("= call m::g()"));
}

#[test]
fn a_node_alone_shows_what_it_is_made_of() {
    let (program, _) = start(TEXT);
    let show = |number| print_node(&program, NodeRef::new(number).expect("in range"), Detail::Full);
    assert_eq!(show(20), "a#n20 = add.i64 x, 1#n21\n");
    assert_eq!(show(26), "inner#n26 = mul.i64 a, a\n");
    assert_eq!(show(16), "yield#n16 (gt_s.i64#n15 x, 0#n17)\n");
    assert_eq!(show(17), "n17 = const.i64 0\n");
    assert!(show(23).starts_with("r#n23 = if L c -> (i64) #g24 {\n  inner#n26"), "{}", show(23));
}

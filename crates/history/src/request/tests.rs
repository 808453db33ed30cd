use lmlang_ir::text::{Detail, parse_program, print_function};
use lmlang_ir::{EffectBound, Visibility};

use super::*;
use crate::apply::{apply_all, invert_all};

mod laws;
mod promoting;
mod texts;

const DEMO: &str = "module m#m1
func f#f2 (a: i32, b: i32) -> (i32) {
  x#n4 = add.i32 a, b
  y#n5 = mul.i32 x, x
  return#n6 y
}

func g#f8 (a: i32) -> (i32) {
  var cell#v9: i32
  var.set cell a
  r#n10 = call f(a, cell)
  s#n11 = if (lt_s.i32 r, 0) -> (i32) {
    yield 0
  } else {
    yield r
  }
  return s
}
";

/// Checks what comes of edits on [`DEMO`] against a snapshot: the functions whose text differs, or the errors.
fn check(name: &str, edits: &[EditRequest]) {
    insta::assert_snapshot!(name, outcome(DEMO, edits));
}

fn outcome(text: &str, edits: &[EditRequest]) -> String {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(text, &mut refs).unwrap();
    let mut again = refs.clone();
    match expand(&program, &mut refs, edits) {
        Ok(done) => {
            // The edits lead there and back, the answer is always the same, refs only grow.
            let mut replayed = program.clone();
            apply_all(&mut replayed, &done.edits).unwrap();
            assert!(replayed == done.program);
            apply_all(&mut replayed, &invert_all(&done.edits, &program).unwrap()).unwrap();
            assert!(replayed == program);
            let repeated = expand(&program, &mut again, edits).unwrap();
            assert_eq!((&repeated.edits, &repeated.created), (&done.edits, &done.created));
            let names: Vec<String> = done
                .created
                .iter()
                .filter_map(|(name, of)| Some(format!("${} {}\n", name.as_ref()?, of.kind.letter())))
                .collect();
            let texts = |program: &Program| -> Vec<String> {
                program
                    .functions()
                    .map(|(function, _)| print_function(program, function, Detail::Full))
                    .collect()
            };
            let unchanged = texts(&program);
            let changed = texts(&done.program).into_iter().filter(|text| !unchanged.contains(text));
            let edits = done.edits.iter().map(|edit| format!("{edit}\n"));
            let counts = done.counts;
            let counts = format!("+{} -{} ~{}\n", counts.added, counts.removed, counts.modified);
            names.into_iter().chain(edits).chain([counts]).chain(changed).collect()
        }
        Err(refused) => {
            let mut lines: Vec<String> = refused
                .errors
                .iter()
                .map(|error| {
                    let candidates = match error.candidates.is_empty() {
                        true => String::new(),
                        false => format!(" [{}]", error.candidates.join(", ")),
                    };
                    let place =
                        error.line.zip(error.column).map(|(l, c)| format!(" at {l}:{c}")).unwrap_or_default();
                    let retired = if error.retired { " (retired)" } else { "" };
                    let path = error.path.join(".");
                    format!(
                        "{} {path}{place}: {}: {}{candidates}{retired}\n",
                        error.edit, error.code, error.message
                    )
                })
                .collect();
            lines.extend(
                refused.conflicts.iter().map(|stale| format!("{} conflict at {}\n", stale.edit, stale.of)),
            );
            if refused.suppressed > 0 {
                lines.push(format!("{} suppressed\n", refused.suppressed));
            }
            lines.concat()
        }
    }
}

fn node(name_as: &str, op: &str, inputs: &[&str], at: At) -> EditRequest {
    let hole = |text: &&str| (*text != "_").then(|| (*text).to_owned());
    EditRequest::InsertNode(InsertNode {
        name_as: (!name_as.is_empty()).then(|| name_as.to_owned()),
        op: op.to_owned(),
        at,
        inputs: inputs.iter().map(hole).collect(),
        name: (!name_as.is_empty()).then(|| format!("{name_as}_")),
    })
}

fn within(function: &str) -> At {
    At { function: Some(function.to_owned()), ..At::default() }
}

fn region(region: &str) -> At {
    At { region: Some(region.to_owned()), ..At::default() }
}

fn after(anchor: &str) -> At {
    At { after: Some(anchor.to_owned()), ..At::default() }
}

fn edge(from: &str, to: &str, target_port: u16, replace: bool) -> EditRequest {
    let (from, to) = (from.to_owned(), to.to_owned());
    EditRequest::AddEdge(AddEdge { from, to, source_port: 0, target_port, replace })
}

fn remove(of: &str, cascade: bool) -> Remove {
    Remove { of: of.to_owned(), cascade }
}

fn rename(of: &str, name: &str) -> Rename {
    Rename { of: of.to_owned(), name: name.to_owned() }
}

fn remove_node(of: &str, with: Option<&str>, cascade: bool) -> EditRequest {
    EditRequest::RemoveNode(RemoveNode {
        of: of.to_owned(),
        replace_uses_with: with.map(str::to_owned),
        cascade,
    })
}

fn function(name: &str, body: Option<&str>) -> EditRequest {
    EditRequest::AddFunction(AddFunction {
        name_as: Some(name.to_owned()),
        name: name.to_owned(),
        module: None,
        params: vec![ParamRequest { name: "p".to_owned(), ty: "i32".to_owned() }],
        results: vec!["i32".to_owned()],
        captures: vec![],
        visibility: Visibility::Public,
        effect_bound: EffectBound::Any,
        doc: None,
        body: body.map(str::to_owned),
    })
}

/// A name that is ambiguous because the list makes it twice offers no refs that nobody else has.
#[test]
fn what_a_list_makes_is_no_candidate() {
    let text = |text: &str| EditRequest::AddText(AddText { module: None, text: text.to_owned() });
    let made = "func f () -> () { return }\nfunc new () -> () { return }\nfunc new () -> () { return }\n";
    let told =
        outcome(DEMO, &[text(made), text("func user () -> () {\n  call f()\n  call new()\n  return\n}\n")]);
    insta::assert_snapshot!("made_twice", told);
}

#[test]
fn nodes_and_edges() {
    check("insert", &[node("z", "add.i32", &["x", "a"], within("f")), edge("$z", "n6", 0, true)]);
    check(
        "if",
        &[
            node("c", "if L -> (i32)", &["_"], within("f")),
            node("t", "const.i32 1", &[], region("$c.then")),
            node("", "yield", &["$t"], region("$c.then")),
            node("", "yield", &["y"], region("$c.else")),
        ],
    );
    check(
        "loop",
        &[
            node("l", "loop L (i: i32, s: i32) -> (i32)", &["a"], within("f")),
            node("n", "add.i32", &["i", "s"], region("$l.body")),
            node("", "break $l", &["$n"], region("$l.body")),
        ],
    );
    check(
        "match",
        &[
            node("m", "match (0, 1, default) -> (i32)", &["x"], within("f")),
            node("", "yield", &["a"], region("$m.case0")),
            node("", "yield", &["b"], region("$m.case1")),
            node("", "yield", &["x"], region("$m.default")),
            EditRequest::ModifyNode(ModifyNode {
                of: "$m".into(),
                op: "match (1, 2, default) -> (i32)".into(),
            }),
        ],
    );
    check("terminator", &[node("", "return", &["y"], within("f")), node("", "add.i32", &[], after("n6"))]);
    check("remove_used", &[remove_node("n4", None, false)]);
    check("remove_cascade", &[remove_node("n4", None, true)]);
    check("remove_replaced", &[remove_node("n4", Some("a"), false)]);
    check(
        "modify_and_move",
        &[
            EditRequest::ModifyNode(ModifyNode { of: "n5".into(), op: "sub.i32".into() }),
            EditRequest::RenameNode(rename("n5", "diff")),
            EditRequest::MoveNode(MoveNode { of: "n4".into(), at: after("n5") }),
            EditRequest::ReplaceUses(ReplaceUses { of: "n5".into(), with: "n4".into() }),
        ],
    );
    let control = |from: &str, to: &str, branch_index| {
        EditRequest::AddControlEdge(AddControlEdge { from: from.into(), to: to.into(), branch_index })
    };
    check(
        "control_edges",
        &[control("n5", "n4", None), control("n6", "n4", None), control("n4", "n5", Some(0))],
    );
    check(
        "control_edges_of_itself",
        &[
            node("c", "if", &[], within("f")),
            node("", "yield", &[], region("$c.then")),
            control("$c", "$c", None),
            control("$c", "n6", Some(0)),
            EditRequest::MoveNode(MoveNode { of: "n6".into(), at: region("$c.then") }),
            control("$c", "n5", Some(2)),
        ],
    );
    check(
        "move_into_region",
        &[
            node("c", "if -> (i32)", &[], within("g")),
            control("$c", "n10", Some(1)),
            EditRequest::ModifyNode(ModifyNode { of: "$c".into(), op: "add.i32".into() }),
        ],
    );
    check(
        "moved_in",
        &[
            node("c", "if -> (i32)", &[], At { before: Some("n10".into()), ..At::default() }),
            control("$c", "n10", Some(1)),
        ],
    );
    check(
        "inside_itself",
        &[
            node("c", "block", &[], within("f")),
            EditRequest::MoveNode(MoveNode { of: "$c".into(), at: region("$c.body") }),
            EditRequest::MoveNode(MoveNode { of: "$c".into(), at: after("$c") }),
            EditRequest::MoveNode(MoveNode { of: "$c".into(), at: after("n10") }),
        ],
    );
    check("remove_edge", &[EditRequest::RemoveEdge(remove("n5.in1", false))]);
}

#[test]
fn entities() {
    check("remove_function", &[EditRequest::RemoveFunction(remove("f", false))]);
    check("remove_function_cascade", &[EditRequest::RemoveFunction(remove("f", true))]);
    check("remove_var_cascade", &[EditRequest::RemoveVar(remove("v9", true))]);
    check("remove_module", &[EditRequest::RemoveModule(remove("m", false))]);
    check("remove_module_cascade", &[EditRequest::RemoveModule(remove("m", true))]);
    check(
        "signature",
        &[EditRequest::SetSignature(SetSignature {
            of: "f".into(),
            params: Some(vec![ParamRequest { name: "b".into(), ty: "i64".into() }]),
            results: None,
            effect_bound: Some(EffectBound::Pure),
            rewrite_calls: false,
            defaults: Vec::new(),
        })],
    );
    check(
        "contract_and_var",
        &[
            EditRequest::AddContract(AddContract {
                name_as: Some("k".into()),
                of: "f".into(),
                kind: ConditionKind::Ensure,
                message: "is positive".into(),
                text: "gt_s.i32 result, 0".into(),
            }),
            EditRequest::AddVar(AddVar {
                name_as: Some("w".into()),
                function: "f".into(),
                name: Some("cell".into()),
                ty: "i32".into(),
            }),
            node("", "var.set $w", &["y"], within("f")),
            EditRequest::SetDoc(SetDoc { of: "f".into(), doc: Some("adds and squares".into()) }),
            EditRequest::SetDoc(SetDoc { of: "n4".into(), doc: Some("their sum".into()) }),
            EditRequest::SetVisibility(SetVisibility { of: "f".into(), visibility: Visibility::Public }),
        ],
    );
    check(
        "module",
        &[
            EditRequest::AddModule(AddModule {
                name_as: Some("inner".into()),
                name: "inner".into(),
                parent: Some("m".into()),
                visibility: Visibility::Public,
                doc: None,
            }),
            EditRequest::MoveFunction(MoveFunction { of: "m::f".into(), module: "$inner".into() }),
            EditRequest::RenameFunction(rename("m::inner::f", "sum")),
            EditRequest::RenameModule(rename("m", "main")),
        ],
    );
    check(
        "types",
        &[
            EditRequest::AddType(AddType {
                name_as: Some("t".into()),
                module: None,
                text: "type P = struct { x: i32 }".into(),
            }),
            EditRequest::AddVar(AddVar {
                name_as: None,
                function: "f".into(),
                name: None,
                ty: "option<$t>".into(),
            }),
            EditRequest::RenameType(rename("P", "Q")),
            EditRequest::RemoveType(remove("$t", false)),
        ],
    );
}

#[test]
fn texts() {
    check(
        "text",
        &[
            function("h", Some("q = call f(p, p)\nreturn q")),
            EditRequest::InsertText(InsertText { text: "w = call $h(x)".into(), at: after("n4") }),
            node("", "add.i32", &["$w", "w"], within("f")),
            EditRequest::ReplaceFunctionText(ReplaceText {
                of: "g".into(),
                text: "func g (a: i32) -> (i32) {\n  return a\n}".into(),
                if_hash: None,
            }),
            EditRequest::AddText(AddText { module: None, text: "func k_ () -> () {\n  return\n}".into() }),
            EditRequest::RenameFunction(rename("$k_", "k")),
        ],
    );
    check(
        "text_errors",
        &[
            function("h", Some("q = call nof(p, p)\nreturn q")),
            EditRequest::InsertText(InsertText { text: "w = call $h(x)".into(), at: after("n4") }),
            EditRequest::ReplaceFunctionText(ReplaceText {
                of: "g".into(),
                text: String::new(),
                if_hash: Some("0".repeat(64)),
            }),
            EditRequest::ReplaceFunctionText(ReplaceText {
                of: "g".into(),
                text: String::new(),
                if_hash: Some("x".into()),
            }),
        ],
    );
}

#[test]
fn places_in_a_text_are_those_of_the_text_as_sent() {
    let text = |text: &str| EditRequest::InsertText(InsertText { text: text.into(), at: after("n4") });
    check(
        "text_places",
        &[
            node("a_name_longer_than_its_ref", "const.i32 1", &[], within("f")),
            text("u = add.i32 $a_name_longer_than_its_ref, nothing"),
            text("u = add.i32 $a_name, $a_name_longer_than_its_ref\n; $note\nv = string.len \"$text\", uu"),
            node("", "call  $a_name_longer_than_its_ref.x", &[], within("f")),
            node("", "loop (i: i32, s: $a_name_longer_than_its_ref, t: thing) -> ()", &[], within("f")),
            EditRequest::AddVar(AddVar {
                name_as: None,
                function: "f".into(),
                name: None,
                ty: "result<$a_name_longer_than_its_ref, thing>".into(),
            }),
            node("lost", "const.i32 1", &["k"], within("f")),
            text("u = add.i32 $lost, 1\nv = add.i32 u, uu"),
            text("u = add.i32 $lost, 1"),
            node("", "call $lost", &[], within("f")),
        ],
    );
}

#[test]
fn mistakes() {
    check(
        "mistakes",
        &[
            remove_node("n999", None, false),
            remove_node("n1", None, false),
            EditRequest::RenameFunction(rename("ff", "h")),
            EditRequest::RenameFunction(rename("n4", "h")),
            EditRequest::RenameFunction(rename("f", "n4")),
            node("k", "add.i32", &["xx", "a"], within("f")),
            edge("$k", "n5", 0, true),
            edge("$kk", "n5", 0, true),
            node("", "ad.i32", &["x", "a"], within("f")),
            edge("a", "n5", 7, false),
            edge("a", "n5", 0, false),
            edge("n5.99999", "n5", 0, true),
            EditRequest::RemoveEdge(remove("n5.next", false)),
            EditRequest::RemoveEdge(remove("n5.in9", false)),
            EditRequest::RemoveEdge(remove("n5", false)),
            node("", "call f99", &[], within("f")),
            node("", "add.i32", &[], At::default()),
            node("", "add.i32", &[], At { function: Some("f".into()), ..after("n10") }),
            node("", "add.i32", &[], At { before: Some("n4".into()), ..after("n5") }),
            function("n4", None),
            EditRequest::Unsupported("wrap"),
            EditRequest::Unsupported("setSignature.rewriteCalls"),
        ],
    );
    check(
        "names",
        &[
            node("a1", "const.i32 1", &[], within("f")),
            node("a1", "const.i32 2", &[], within("f")),
            EditRequest::RenameNode(rename("n4", "y")),
            node("", "add.i32", &["y", "$a1.0"], within("f")),
            node("", "add.i32", &["y#n4", "f2.1"], within("f")),
            node("", "add.i32", &["v9", "$a1.body"], within("f")),
        ],
    );
}

#[test]
fn literals_become_constants() {
    check(
        "literals",
        &[
            node("p", "mul.i32", &["a", "3"], within("f")),
            node("q", "add.i32", &["i32:-1", " $p "], after("$p")),
            node("t", "string.len", &["\"a\""], within("f")),
            node("l", "loop (i: i64, b: bool) -> ()", &["0x10", "true"], within("f")),
            node("w", "var.set v9", &["7"], within("g")),
        ],
    );
    check(
        "literals_elsewhere",
        &[
            edge("5", "n5", 1, true),
            remove_node("n4", Some("6"), false),
            EditRequest::ReplaceUses(ReplaceUses { of: "n10".into(), with: "-7".into() }),
        ],
    );
    check(
        "literals_that_do_not_fit",
        &[
            node("", "add.i32", &["a", "1.5"], within("f")),
            node("", "add.i32", &["a", "5000000000"], within("f")),
            node("", "add.i32", &["i64:1", "a"], within("f")),
            node("", "add.i32", &["a", "b", "1"], within("f")),
            node("", "add.i32", &["a", "\"b\""], within("f")),
            node("", "add.i32", &["a", "\"c\""], within("f")),
            node("", "add.i32", &["a", "1x"], within("f")),
            node("", "add.i32", &["a", "1 2"], within("f")),
            edge("true", "n5", 0, true),
            edge("1", "n5", 9, true),
            edge("1", "n5", 0, false),
        ],
    );
}

#[test]
fn a_condition_is_read_where_it_stands() {
    let condition = |text: &str| {
        EditRequest::AddContract(AddContract {
            name_as: None,
            of: "f".into(),
            kind: ConditionKind::Require,
            message: text.into(),
            text: text.into(),
        })
    };
    check(
        "conditions",
        &[
            condition("zz x, 100"),
            condition("  lt_s.i32 a, y"),
            condition("lt_s.i32 a,"),
            condition("(lt_s.i32 a, 1) b"),
            condition("\n lt_s.i32(a,\n c)"),
            condition(""),
        ],
    );
    check(
        "conditions_of_all_kinds",
        &[
            condition("true"),
            condition(" lt_s.i32 a,\n 100 ; at most"),
            condition("(lt_s.i32 a, 100)"),
            condition("x = lt_s.i32 a, b\nyield x"),
        ],
    );
}

#[test]
fn what_is_gone_is_said_to_be() {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(DEMO, &mut refs).unwrap();
    let gone = expand(&program, &mut refs, &[remove_node("n5", None, true)]).unwrap().program;
    let refused = expand(&gone, &mut refs, &[remove_node("n5", None, true)]).unwrap_err();
    assert!(refused.errors[0].retired);
    assert_eq!(refused.errors[0].candidates, ["n4", "n6", "n10"]);
}

#[test]
fn what_a_request_touches() {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(DEMO, &mut refs).unwrap();
    let of = |text: &str| text.parse::<Ref>().unwrap();
    let edits = [edge("a", "n5", 1, true), EditRequest::RenameNode(rename("n4", "sum"))];
    let touched = expand(&program, &mut refs, &edits).unwrap().touched;
    assert!(
        touched.covers(of("n5"), Some(1))
            && !touched.covers(of("n5"), Some(0))
            && !touched.covers(of("n5"), None)
    );
    assert!(touched.covers(of("n4"), None));
    assert_eq!((touched.edit_of(of("n5"), None), touched.edit_of(of("n4"), None)), (Some(0), Some(1)));
    let signature = SetSignature {
        of: "f".into(),
        params: None,
        results: Some(vec!["i64".into()]),
        effect_bound: None,
        rewrite_calls: false,
        defaults: Vec::new(),
    };
    let touched = expand(&program, &mut refs, &[EditRequest::SetSignature(signature)]).unwrap().touched;
    assert!(
        touched.covers(of("f2"), None)
            && !touched.covers(of("n10"), None)
            && !touched.covers(of("n6"), Some(0))
    );
}

#[test]
fn docs_read_back_whatever_ends_their_lines() {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(DEMO, &mut refs).unwrap();
    for text in ["one", "one\r\ntwo", "one\r", "\r\n", "one\n\ntwo\n", " one", ""] {
        let set = EditRequest::SetDoc(SetDoc { of: "f2".into(), doc: Some(text.into()) });
        let done = expand(&program, &mut refs.clone(), &[set]).unwrap();
        let printed = lmlang_ir::text::print_program(&done.program, Detail::Full);
        let read = parse_program(&printed, &mut RefAllocator::starting_at(1)).unwrap();
        assert!(read == done.program, "{text:?}: {printed}");
    }
}

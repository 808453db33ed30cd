//! What one side has read and the other one changes, and what stands between nodes that go.

use lmlang_ir::RefAllocator;
use lmlang_ir::text::{Detail, parse_program, print_function};

use super::*;
use crate::request::{
    At, EditRequest, InsertText, ModifyNode, PromoteVar, RemoveNode, Rename, Target, expand,
};

/// A base, the state and the rests of two lists of edits of it, ours first.
pub(super) struct Two {
    base: Program,
    programs: [Program; 2],
    rests: [Vec<Rest>; 2],
}

impl Two {
    fn of(text: &str, lists: [&[EditRequest]; 2]) -> Two {
        let mut refs = RefAllocator::starting_at(1);
        let base = parse_program(text, &mut refs).unwrap();
        let [ours, theirs] = lists.map(|edits| expand(&base, &mut refs, edits).unwrap());
        Two { base, programs: [ours.program, theirs.program], rests: [ours.rests, theirs.rests] }
    }

    fn merged(&self, resolutions: &[Resolution]) -> Merge {
        let rests = self.rests.each_ref().map(Vec::as_slice);
        merge_resting(&self.base, self.programs.each_ref(), rests, resolutions, |_| Vec::new()).unwrap()
    }

    fn turned(self) -> Two {
        let ([ours, theirs], [one, other]) = (self.programs, self.rests);
        Two { base: self.base, programs: [theirs, ours], rests: [other, one] }
    }
}

/// Checks that two lists of edits collide in one entity, in whichever order, and that either side can be taken.
pub(super) fn check(text: &str, lists: [&[EditRequest]; 2], kind: ConflictKind, of: &str) -> Two {
    let two = Two::of(text, lists);
    let of: Ref = of.parse().unwrap();
    let found = |merge: &Merge| merge.conflicts.iter().map(|one| (one.of, one.kind)).collect::<Vec<_>>();
    let open = two.merged(&[]);
    assert_eq!(found(&open), [(of, kind)], "{:#?}", open.conflicts);
    for side in [Side::Ours, Side::Theirs] {
        let merged = two.merged(&[Resolution { of, take: side }]);
        assert!(found(&merged).is_empty(), "{:#?}", merged.conflicts);
        assert!(merged.program == two.programs[side.index()], "{side:?}");
    }
    let two = two.turned();
    let turned = two.merged(&[]);
    assert_eq!(found(&turned), [(of, kind)]);
    assert!(turned.program == open.program);
    two.turned()
}

fn remove(of: &str) -> EditRequest {
    EditRequest::RemoveNode(RemoveNode { of: of.into(), replace_uses_with: None, cascade: false })
}

pub(super) fn insert(text: &str, after: &str) -> EditRequest {
    let at = At { after: Some(after.into()), ..At::default() };
    EditRequest::InsertText(InsertText { text: text.into(), at })
}

fn modify(of: &str, op: &str) -> EditRequest {
    EditRequest::ModifyNode(ModifyNode { of: of.into(), op: op.into() })
}

const CELL: &str = "module m#m1
func f#f2 (a: i64) -> (i64) {
  var v#v3: i64
  var.set#n4 v, a
  w#n5 = add.i64 a, a
  var.set#n6 v, w
  r#n7 = var.get v
  return#n8 r
}
";

#[test]
fn a_variable_that_became_values_collides_with_who_writes_it_no_more() {
    let promote = || EditRequest::PromoteVar(PromoteVar { of: "v3".into() });
    check(CELL, [&[promote()], &[remove("n6")]], ConflictKind::CopiedAndEdited, "v3");
    // Who has the same done collides with nobody.
    let both = Two::of(CELL, [&[promote()], &[promote()]]);
    assert_eq!(both.merged(&[]).conflicts, []);
    // A name is no matter of what it holds.
    let named = EditRequest::RenameNode(Rename { of: "n5".into(), name: "twice".into() });
    assert_eq!(Two::of(CELL, [&[promote()], &[named]]).merged(&[]).conflicts, []);
}

const CALL: &str = "module m#m1
func g#f2 (a: i64) -> (i64) {
  s#n4 = add.i64 a, a
  return#n5 s
}

func f#f8 (a: i64) -> (i64) {
  r#n9 = call g(a)
  return#n10 r
}
";

#[test]
fn a_copy_of_code_collides_with_a_change_of_that_code() {
    let inline = || EditRequest::InlineCall(Target { name_as: None, of: "n9".into() });
    let two = check(CALL, [&[inline()], &[modify("n4", "sub.i64")]], ConflictKind::CopiedAndEdited, "f2");
    let message = &two.merged(&[]).conflicts[0].message;
    assert!(message.contains("one side changes `f2`, the other puts a copy of its code"), "{message}");
    // What it is called is no matter of the copy, and what both did to it is in there.
    let renamed = EditRequest::RenameFunction(Rename { of: "f2".into(), name: "twice".into() });
    assert_eq!(Two::of(CALL, [&[inline()], &[renamed]]).merged(&[]).conflicts, []);
    let sub = || modify("n4", "sub.i64");
    assert_eq!(Two::of(CALL, [&[sub(), inline()], &[sub()]]).merged(&[]).conflicts, []);
    // Where the call came back there is no copy.
    let again = Two::of(CALL, [&[inline()], &[sub()]]);
    let undone = Two { programs: [again.base.clone(), again.programs[1].clone()], ..again };
    assert_eq!(undone.merged(&[]).conflicts, []);
}

const PRINTS: &str = "module m#m1
func f#f2 () -> () {
  print#n4 \"a\"#n3
  print#n6 \"b\"#n5
  return#n7
}
";

#[test]
fn what_goes_between_two_nodes_that_are_replaced_collides_with_what_replaces_them() {
    let replaced = [insert("print \"z\"", "n6"), remove("n4"), remove("n3"), remove("n6"), remove("n5")];
    let two = Two::of(PRINTS, [&replaced, &[insert("print \"x\"", "n4")]]);
    let merged = two.merged(&[]);
    let found: Vec<ConflictKind> = merged.conflicts.iter().map(|one| one.kind).collect();
    assert_eq!(found, [ConflictKind::SamePlace], "{:#?}", merged.conflicts);
    // Behind both it stands behind what came in their place.
    let behind = Two::of(PRINTS, [&replaced, &[insert("print \"x\"", "n6")]]).merged(&[]);
    assert_eq!(behind.conflicts, []);
    let function = behind.program.functions().next().unwrap().0;
    let text = print_function(&behind.program, function, Detail::Standard);
    assert!(text.find("\"z\"") < text.find("\"x\""), "{text}");
    // Where they only go, it stays where it was.
    let gone = [remove("n4"), remove("n3"), remove("n6"), remove("n5")];
    assert_eq!(Two::of(PRINTS, [&gone, &[insert("print \"x\"", "n4")]]).merged(&[]).conflicts, []);
}

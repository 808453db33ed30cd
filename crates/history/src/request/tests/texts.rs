//! Modules by their text, and patches.

use lmlang_ir::ModuleRef;
use lmlang_ir::text::{module_hash, print_module};

use super::*;

const SHOP: &str = "module shop#m1
func price#f2 (n: i64) -> (i64) #g3 {
  ; Of one.
  p#n5 = mul.i64 n, 3#n4
  return#n6 p
}

func total#f10 (n: i64) -> (i64) #g11 {
  p#n12 = call price(n)
  t#n14 = add.i64 p, 1#n13
  return#n15 t
}

module till#m20
func pay#f21 () -> (i64) #g22 {
  t#n24 = call shop::total(2#n23)
  return#n25 t
}
";

fn module_text(text: &str) -> EditRequest {
    EditRequest::ReplaceModuleText(ReplaceText { of: "shop".into(), text: text.into(), if_hash: None })
}

fn patch(patch: &str) -> EditRequest {
    EditRequest::ApplyTextPatch(ApplyTextPatch { patch: patch.into() })
}

#[test]
fn a_module_is_replaced_by_its_text() {
    let edit = module_text(
        "module shop
func cost (n: i64) -> (i64) {
  p = mul.i64 n, 3
  return p
}
func total (n: i64) -> (i64) {
  p = call cost(n)
  t = add.i64 p, 2
  return t
}
func none () -> (i64) { return 0 }
",
    );
    insta::assert_snapshot!("module_text", outcome(SHOP, &[edit]));
}

#[test]
fn what_is_used_elsewhere_stays_in_the_text() {
    let edit = module_text("func price (n: i64) -> (i64) { return n }");
    insta::assert_snapshot!("module_text_in_use", outcome(SHOP, &[edit]));
}

#[test]
fn a_module_that_changed_is_a_conflict() {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(SHOP, &mut refs).unwrap();
    let shop = ModuleRef::new(1).unwrap();
    let text = print_module(&program, shop, Detail::Summary);
    let hash = module_hash(&program, shop).map(|hash| hash.to_string());
    let edit = |if_hash: Option<String>| {
        EditRequest::ReplaceModuleText(ReplaceText { of: "m1".into(), text: text.clone(), if_hash })
    };
    let same = expand(&program, &mut refs, &[edit(hash.clone())]).unwrap();
    assert!(same.edits.is_empty() && same.program == program);
    let other = rename_function("price", "cost");
    let refused = expand(&program, &mut refs, &[other, edit(hash)]).unwrap_err();
    assert_eq!((refused.errors.len(), refused.conflicts.len()), (0, 1));
}

fn rename_function(of: &str, name: &str) -> EditRequest {
    EditRequest::RenameFunction(Rename { of: format!("shop::{of}"), name: name.into() })
}

#[test]
fn a_patch_changes_texts_of_any_detail() {
    let summary = patch(
        "--- a/shop
+++ b/shop
@@ -8,5 +8,5 @@
 func total (n: i64) -> (i64) {
   p = call price(n)
-  t = add.i64 p, 1
+  t = add.i64 p, 2
   return t
--- a/till::pay
+++ b/till::pay
@@ -1,3 +1,4 @@
 func pay () -> (i64) {
   t = call shop::total(2)
-  return t
+  u = call shop::total(t)
+  return u
",
    );
    insta::assert_snapshot!("patch", outcome(SHOP, &[summary]));
    let full = patch(
        "--- a/shop::price
+++ b/shop::price
@@ -1,5 +1,4 @@
 func price#f2 (n: i64) -> (i64) #g3 {
-  ; Of one.
-  p#n5 = mul.i64 n, 3#n4
+  p#n5 = mul.i64 n, 4#n4
   return#n6 p
--- /dev/null
+++ b/shop::free
@@ -0,0 +1 @@
+func free () -> (i64) { return 0 }
--- a/till::pay
+++ /dev/null
",
    );
    insta::assert_snapshot!("patch_full", outcome(SHOP, &[full]));
}

#[test]
fn a_patch_renames_what_has_a_path_for_a_name() {
    let text = "module lib#m1\n\nfunc \"fmt::write\"#f2 () -> () { return }\n\nmodule other#m3\n";
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(text, &mut refs).unwrap();
    let mut paths = |new: &str| {
        let edit = patch(&format!("--- a/lib::fmt::write\n+++ b/{new}\n"));
        let done = expand(&program, &mut refs, &[edit]).unwrap().program;
        done.functions().map(|(of, _)| (done.path(of.into()), done.name(of.into()).cloned())).next()
    };
    for (new, name) in [("lib::fmt::print", "fmt::print"), ("lib::print", "print"), ("other::print", "print")]
    {
        assert_eq!(paths(new), Some((new.to_owned(), Some(name.into()))));
    }
}

#[test]
fn what_a_patch_cannot_do_is_told_with_the_line() {
    let edits = [
        patch("return 1"),
        patch("--- a/shp\n+++ b/shp\n@@\n-x\n"),
        patch(
            "--- a/shop::total\n+++ b/shop::total\n@@ -2,2 +2,2 @@\n   p = call price(n)\n-  t = add.i64 p, 7\n+  t = add.i64 p, 2\n",
        ),
        patch("--- a/shop::total\n+++ b/shop::total\n@@\n-  return t\n+  return tt\n"),
        patch("--- a/shop::price\n+++ /dev/null\n"),
    ];
    insta::assert_snapshot!("patch_refused", outcome(SHOP, &edits));
}

//! What programs cannot have in a module, and what is bounded.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportError, ExportOptions, export};

fn written(text: &str) -> Result<Vec<u8>, ExportError> {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    let main = program.functions().find(|(_, of)| &*of.head().name == "main").map(|(of, _)| of);
    export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions { main, ..ExportOptions::default() })
}

fn refused(text: &str) -> String {
    written(text).unwrap_err().to_string()
}

#[test]
fn names_that_the_module_needs_are_not_given_twice() {
    for name in ["lm_new", "lm_share", "lm_release", "lm_memory"] {
        let text = format!("module m\nexport \"{name}\" func f (text: string) -> () {{ return }}");
        let expected = format!("an export `{name}` beside the one of that name (`f2` in `m::f`)");
        assert!(refused(&text).starts_with(&expected), "{}", refused(&text));
    }
    let start = "module m\nexport \"_start\" func f () -> () { return }\nfunc main () -> () { return }";
    assert!(refused(start).starts_with("an export `_start` beside"), "{}", refused(start));
    let memory = "module m\nexport \"memory\" memory own 1\nfunc main () -> () {\n  print \"\"\n  return\n}";
    assert!(refused(memory).starts_with("input and output beside an export `memory`"), "{}", refused(memory));
}

#[test]
fn a_first_value_is_made_once_however_often_it_is_contained() {
    let mut text = String::from("module m\ntype S0 = struct { a: string, b: string }\n");
    for at in 1..40 {
        let of = at - 1;
        text.push_str(&format!("type S{at} = struct {{ a: S{of}, b: S{of} }}\n"));
    }
    text.push_str("export \"f\" func f () -> (S39) {\n  var s: S39\n  return (var.get s)\n}\n");
    assert!(written(&text).unwrap().len() < 10_000);
}

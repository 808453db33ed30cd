//! What programs cannot have in a module, and what is bounded.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportError, ExportOptions, export, print};

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
    for (exported, why) in [
        ("global mut own: i32 = 1", "that is no memory (`v3` in `m::own`)"),
        ("memory own 0", "that may have no page to hand over (`v3` in `m::own`)"),
    ] {
        let text = format!(
            "module m\nexport \"memory\" {exported}\nfunc main () -> () {{\n  print \"\"\n  return\n}}"
        );
        let expected = format!("input and output beside an export `memory` {why}");
        assert!(refused(&text).starts_with(&expected), "{}", refused(&text));
    }
}

/// What was compiled for WASI exports its memory as WASI wants it: who adds a `print` to it writes it again.
#[test]
fn a_memory_of_the_programs_own_is_lent_to_the_host() {
    let text = "module m\nexport \"memory\" memory own 1\nfunc main () -> () {\n  print \"a\"\n  return\n}";
    let text = print(&written(text).unwrap()).unwrap();
    assert!(text.contains("(export \"memory\" (memory $own))\n"), "{text}");
    let (_, lent) = text.split_once("(func $lm_fd_write ").unwrap();
    assert!(lent.contains("memory.copy 1 $own\n") && lent.contains("memory.copy $own 1\n"), "{text}");
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

/// Whether something is in a contract is not asked of each region around it.
#[test]
fn what_is_beside_a_contract_is_written_in_no_time_however_far_inside() {
    const LEVELS: usize = 20_000;
    let mut text = "module m\nfunc g () -> () {\n  return\n}\nfunc main () -> () {\n".to_owned();
    text.push_str("require \"nothing\" = eqz.i32 0\nvar said: string\n");
    (0..LEVELS).for_each(|_| text.push_str("block {\ncall g()\nprint (var.get said)\n"));
    (0..LEVELS).for_each(|_| text.push_str("yield\n}\n"));
    text.push_str("return\n}\n");
    assert!(written(&text).is_ok());
}

/// Where a switch goes is asked of each target, not of each number.
#[test]
fn a_switch_of_very_many_numbers_is_written_in_no_time_whatever_is_needed_behind_it() {
    let made: String = (0..1_000).map(|of| format!("z{of} = string.concat s, s\n")).collect();
    let used: String = (0..1_000).map(|of| format!("print z{of}\n")).collect();
    let exits = "break L, ".repeat(100_000);
    let switch = format!("block L {{\nbr_switch ({exits}break L) i\n}}\n");
    let head = "module m\nexport \"f\" func f (s: string, i: i32) -> ()";
    assert!(written(&format!("{head} {{\n{made}{switch}{used}return\n}}\n")).is_ok());
}

const CHECKED: &str = "module m

export \"f\" func f (x: i32) -> (i32) {
  require \"x is good\" {
    good = call is_good(x)
    yield good
  }
  require \"x is small\" = lt_s.i32 x, 1000
  ensure \"x is smaller\" = gt_s.i32 result, x
  return (add.i32 x, 1)
}

func is_good (x: i32) -> (bool) pure {
  require \"x is small\" = lt_s.i32 x, 1000
  return (gt_s.i32 x, 0)
}
";

#[test]
fn what_traps_says_which_contract_does_not_hold() {
    let text = print(&written(CHECKED).unwrap()).unwrap();
    for name in [
        "require `x is good` of m::f does not hold",
        "require `x is small` of m::f does not hold",
        "ensure `x is smaller` of m::f does not hold",
        "require `x is small` of m::is_good does not hold",
    ] {
        assert_eq!(text.matches(&format!("call $\"{name}\"\n")).count(), 1, "{name}\n{text}");
        let (_, function) = text.split_once(&format!("(func $\"{name}\" ")).unwrap();
        let body: Vec<&str> = function.lines().skip(1).take(2).map(str::trim).collect();
        assert_eq!(body, ["unreachable", ")"], "{name}\n{text}");
    }
    // Contracts are off within contracts: not so for whoever comes from outside, whatever trapped before.
    assert!(text.contains("(export \"f\" (func $lm_enter))\n"), "{text}");
    let (_, enter) = text.split_once("(func $lm_enter ").unwrap();
    let body: Vec<&str> = enter.lines().skip(1).take(5).map(str::trim).collect();
    assert_eq!(body, ["i32.const 0", "global.set 0", "local.get 0", "call $f", ")"], "{text}");
    // There is no heap for them.
    assert!(!text.contains("(memory"), "{text}");
}

/// The lines of a function behind its first.
fn body<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (_, function) = text.split_once(&format!("(func ${name} ")).unwrap();
    function.lines().skip(1).map(str::trim).take_while(|line| *line != ")").collect()
}

#[test]
fn references_are_to_what_begins_anew_where_those_outside_may_have_them() {
    let module = |storage: &str| {
        let text = format!("{CHECKED}{storage}func taken () -> (funcref) {{ return (func.ref f) }}\n");
        print(&written(&text).unwrap()).unwrap()
    };
    for storage in [
        "export \"t\" table t [null, f]\n",
        "import \"host\" \"t\" table t [null, f]\n",
        "export \"g\" global g: funcref = func.ref f\ntable t [null, f]\n",
        "table t [null, f]\nimport \"host\" \"met\" func met (g: funcref) -> ()\n",
    ] {
        let text = module(storage);
        assert!(text.contains(" func $lm_enter)\n"), "{text}");
        assert_eq!(body(&text, "taken"), ["ref.func $lm_enter"], "{text}");
        assert!(!text.contains("ref.func $f"), "{text}");
    }
    // They stay inside.
    let text = module("table t [null, f]\nexport \"h\" table h: externref [null]\n");
    assert!(text.contains(" func $f)\n"), "{text}");
    assert_eq!(body(&text, "taken"), ["ref.func $f"], "{text}");
}

#[test]
fn who_asks_the_host_is_in_the_contract_that_it_was_in() {
    let asks = "import \"host\" \"asked\" func asked (x: i32, y: i64) -> (f32)
func asks (x: i32, y: i64) -> (f32) {
  found = call asked(x, y)
  return found
}
";
    let text = print(&written(&format!("{CHECKED}{asks}")).unwrap()).unwrap();
    assert_eq!(body(&text, "asks"), ["local.get $x", "local.get $y", "call $lm_leave"], "{text}");
    let leaves = body(&text, "lm_leave");
    let expected = [
        "(local i32)",
        "global.get 0",
        "local.set 2",
        "local.get 0",
        "local.get 1",
        "call 0",
        "local.get 2",
        "global.set 0",
    ];
    assert_eq!(leaves, expected, "{text}");
    // No contract calls anything: the host is called as ever.
    let text = print(&written(&format!("module m\n{asks}")).unwrap()).unwrap();
    assert_eq!(body(&text, "asks"), ["local.get $x", "local.get $y", "call 0"], "{text}");
}

#[test]
fn functions_of_one_name_are_called_by_their_paths() {
    let text = "module a
func f () -> () { return }
func g () -> () { return }
module b
export \"f\" func f () -> () { return }
";
    let text = print(&written(text).unwrap()).unwrap();
    for name in ["a::f", "g", "b::f"] {
        assert!(text.contains(&format!("(func ${name} ")), "{name}\n{text}");
    }
}

#[test]
fn what_loads_and_stores_bytes_has_a_name_where_it_traps() {
    let text = "module m
memory ram 1
func main () -> () {
  piece = bytes.load 0, 4
  bytes.store 8, piece
  return
}
";
    let text = print(&written(text).unwrap()).unwrap();
    for name in ["lm_load_bytes", "lm_store_bytes"] {
        assert!(text.contains(&format!("(func ${name} ")), "{name}\n{text}");
        assert!(text.contains(&format!("call ${name}\n")), "{name}\n{text}");
    }
}

#[test]
fn what_has_no_contracts_is_as_it_was() {
    let module = |contracts| {
        let text = "module m\nexport \"f\" func f (x: i32) -> (i32) { return (add.i32 x, 1) }";
        let program = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
        let options = ExportOptions { contracts, ..ExportOptions::default() };
        export(&Checked::full(program, NonZeroUsize::MIN), options).unwrap()
    };
    assert_eq!(module(true), module(false));
}

//! What is no module, and what programs do not have.

use std::num::NonZeroUsize;

use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{Program, RefAllocator};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportError, ExportOptions, ImportError, Place, binary, export, import};

fn read(text: &str) -> Result<Program, ImportError> {
    import(&binary(text)?, &mut RefAllocator::starting_at(1))
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// The text without refs.
fn shown(text: &str) -> String {
    print_program(&read(text).unwrap(), Detail::Summary)
}

#[test]
fn what_is_no_module_is_refused_with_the_place() {
    let refused_bytes =
        |module: &[u8]| import(module, &mut RefAllocator::starting_at(1)).unwrap_err().to_string();
    assert_eq!(refused_bytes(b""), "not a WebAssembly module: unexpected end-of-file (byte 0)");
    let refused_junk = refused_bytes(b"junk");
    assert!(refused_junk.starts_with("not a WebAssembly module: magic header not detected"));
    assert!(refused_junk.ends_with("(byte 0)") && !refused_junk.contains('\n'), "{refused_junk}");
    assert_eq!(
        refused("(module\n  (func (result i32) i64.const 1))"),
        "not a WebAssembly module: type mismatch: expected i32, found i64 (byte 26)"
    );
    assert_eq!(
        refused("(module\n  (func $f)\n  (export \"f\" (func $g)))"),
        "not the text of a WebAssembly module: unknown func: failed to find name `$g` (line 3, column 21)"
    );
}

#[test]
fn globals_and_data_begin_with_what_the_host_gives() {
    let text = "(module $m
        (import \"host\" \"base\" (global $base i32))
        (memory $words 1)
        (global $top (mut i32) (global.get $base))
        (global $next funcref (ref.func $f))
        (global $none externref (ref.null extern))
        (data $here (global.get $base) \"ab\")
        (func $f))";
    let expected = "pub module m

pub memory words 1
pub import \"host\" \"base\" global base: i32 = 0
pub global mut top: i32 = global.get base
pub global next: funcref = func.ref f
pub global none: externref = unit
pub data here at global.get base b\"ab\"

func f () -> () {
  return#n17
}
";
    assert_eq!(shown(text), expected);
    let program = read(text).unwrap();
    let module = export(&Checked::full(program.clone(), NonZeroUsize::MIN), ExportOptions::default());
    let again = import(&module.unwrap(), &mut RefAllocator::starting_at(1)).unwrap();
    assert_eq!(print_program(&again, Detail::Full), print_program(&program, Detail::Full));
}

#[test]
fn tables_and_segments_begin_with_what_the_host_gives() {
    let text = "(module $m
        (import \"host\" \"given\" (global $given funcref))
        (import \"host\" \"other\" (global $other externref))
        (table $calls 3 4 funcref)
        (table $held 2 externref)
        (elem (table $calls) (i32.const 0) funcref (ref.func $f) (global.get $given))
        (elem $later funcref (ref.null func) (global.get $given) (ref.func $f))
        (elem (table $held) (i32.const 1) externref (global.get $other))
        (func $f (table.init $calls $later (i32.const 0) (i32.const 1) (i32.const 1))))";
    let program = read(text).unwrap();
    let found = print_program(&program, Detail::Summary);
    for line in [
        "pub table calls [f, global.get given, null] max 4",
        "pub table held: externref [null, global.get other]",
        "pub elem later [null, global.get given, f]",
    ] {
        assert!(found.lines().any(|of| of == line), "{line}\n{found}");
    }
    let again = lmlang_ir::text::parse_program(&found, &mut RefAllocator::starting_at(1)).unwrap();
    assert_eq!(print_program(&again, Detail::Summary), found);
    let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
    assert!(checked.findings().iter().all(|(_, of)| of.class() == lmlang_verify::Class::Warning));
    let module = export(&checked, ExportOptions::default()).unwrap();
    let again = import(&module, &mut RefAllocator::starting_at(1)).unwrap();
    assert_eq!(print_program(&again, Detail::Full), print_program(&program, Detail::Full));
}

#[test]
fn what_programs_do_not_have_is_unsupported() {
    let unsupported = |text: &str, what: &str| match read(text).unwrap_err() {
        ImportError::Unsupported { what: found, at } => {
            assert!(found.starts_with(what) && at != Place::Byte(0), "{found} ({at})");
        }
        other => panic!("{other}"),
    };
    unsupported("(module (table 4000000000 funcref))", "tables of more than");
    unsupported(&format!("(module {})", "(table 100000 funcref)".repeat(3)), "tables of more than");
    // What is valid by another proposal is no rubbish.
    unsupported(
        "(module (func (drop (v128.const i32x4 0 0 0 0))))",
        "the instruction `v128.const` in function 0",
    );
    unsupported("(module (func (result v128) unreachable))", "WebAssembly beyond core 2.0");
    unsupported(
        "(module (import \"m\" \"g\" (func)) (func $f (nop) (return_call $f)))",
        "the instruction `return_call` in function 1",
    );
    unsupported("(module (func (try_table)))", "the instruction `try_table`");
    unsupported("(module (memory 1 1 shared))", "a shared memory");
    unsupported("(module (memory 1) (memory 1))", "WebAssembly beyond core 2.0");
}

#[test]
fn what_is_wrong_with_a_text_is_told_with_line_and_column() {
    let check = |text: &str, expect: &str| {
        let error = read(text).unwrap_err().in_text(text).to_string();
        assert!(error.ends_with(expect), "{error}");
    };
    check(
        "(module\n  (func)\n  (func (drop\n    (i32.add (i32.const 1) (i64.const 2)))))",
        "(line 4, column 6)",
    );
    check("(module\n  (import \"m\" \"f\" (func))\n  (func $f\n    (return_call $f)))", "(line 4, column 6)");
    // What a function lacks is nowhere in it.
    check("(module\n  (func (result i32) (nop)))", "(line 2, column 4)");
    // Outside of bodies there is the byte.
    check("(module (memory 70000))", "(byte 11)");
}

#[test]
fn locals_that_nobody_uses_cost_nothing() {
    let locals = "(local i32) ".repeat(40_000);
    let functions = format!("(func {locals})").repeat(20);
    let program = read(&format!("(module {functions})")).unwrap();
    assert!(program.functions().all(|(_, function)| function.body().variables().count() == 0));
}

#[test]
fn blocks_may_be_nested_deeply() {
    let (depth, mut text) = (3_000, String::from("(module (func (result i32) "));
    text.push_str(&"block (result i32) ".repeat(depth));
    text.push_str("i32.const 7 ");
    text.push_str(&"end ".repeat(depth));
    text.push_str("))");
    let program = read(&text).unwrap();
    assert_eq!(program.functions().map(|(_, function)| function.body().counts().regions).sum::<u64>(), 3_001);
}

#[test]
fn names_come_from_the_module() {
    let text = shown(
        r#"(module $lib
          (import "env" "log" (func $log (param $what i32)))
          (global $count (export "count") (mut i32) (i32.const 3))
          (func $f1 (param $a i32) (result i32) (local $b i32)
            (local.set $b (local.get $a)) (call $log (local.get $b)) (global.get $count))
          (func (export "twice") (export "again") (result i32) (call $f1 (i32.const 1)))
          (start $go) (func $go))"#,
    );
    for line in [
        "module lib",
        "export \"count\" global mut count: i32 = 3",
        "import \"env\" \"log\" func log (what: i32) -> ()",
        "func f1_ (a: i32) -> (i32)",
        "export \"twice\" export \"again\" func twice () -> (i32)",
        "start func go () -> ()",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn the_name_of_a_module_is_no_path_and_no_ref() {
    for (given, name) in
        [("core::fmt::Write", "core_fmt_Write"), ("::", "\"_\""), ("m5", "m5_"), ("a:b", "\"a:b\"")]
    {
        let text = shown(&format!("(module ${given} (func $core::fmt::write))"));
        assert!(text.contains(&format!("module {name}\n")), "{given}\n{text}");
        assert!(text.contains("func \"core::fmt::write\" ("), "{given}\n{text}");
    }
}

#[test]
fn names_that_are_too_long_are_no_labels() {
    let named = |name: &str| {
        shown(&format!(
            r#"(module ${name}
              (global ${name} (mut i32) (i32.const 3))
              (func ${name} (export "go") (param ${name} i32) (local ${name}_b i32)
                (local.set ${name}_b (local.get ${name}))
                (block ${name}_l (br_if ${name}_l (local.get ${name}_b)) (global.set ${name} (i32.const 1))))
              (func (export "{name}")))"#
        ))
    };
    let long = "n".repeat(5_000);
    let text = named(&long);
    for line in
        ["module main", "global mut global0: i32 = 3", "export \"go\" func go (", " func func1 () -> ()"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // What others call it by stays what it is.
    assert_eq!(text.matches(&long).count(), 1, "{text}");
    let text = named("short");
    for line in
        ["module short", "export \"go\" func short (", "func short_2 () -> ()", "mut short_3: i32 = 3"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn what_is_put_into_tables_of_the_host_is_put_there_in_its_order() {
    let text = "(module
        (import \"host\" \"i\" (table $i 2 funcref))
        (import \"host\" \"j\" (table $j 2 funcref))
        (table $own 2 funcref)
        (func $f)
        (elem (table $j) (i32.const 0) func $f)
        (elem (table $own) (i32.const 1) func $f)
        (elem (table $i) (i32.const 0) func $f))";
    let expected = "pub table own [null, f]
pub elem elem0 in j at 0 [f]
pub elem elem2 in i at 0 [f]
";
    let shown = shown(text);
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn storage_that_lacks_something_is_no_module() {
    let text = "module m\ndata words at 0 b\"a\"\n";
    let program = lmlang_ir::text::parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    let refused = export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default());
    assert!(
        matches!(&refused, Err(ExportError::Incomplete { path, .. }) if path == "m::words"),
        "{refused:?}"
    );
}

//! Custom sections, and the names of blocks.

use std::num::NonZeroUsize;

use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{Program, RefAllocator};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, binary, export, import, print};
use wasmparser::{Parser, Payload};

fn taken_in(module: &[u8]) -> Program {
    import(module, &mut RefAllocator::starting_at(1)).unwrap()
}

fn written(program: &Program) -> Vec<u8> {
    export(&Checked::full(program.clone(), NonZeroUsize::MIN), ExportOptions::default()).unwrap()
}

/// The sections of a module, custom ones by name.
fn sections(module: &[u8]) -> Vec<String> {
    let named = |payload: Payload<'_>| match payload {
        Payload::CustomSection(section) => Some(format!("{:?}", section.name())),
        Payload::TypeSection(_) => Some("type".to_owned()),
        Payload::FunctionSection(_) => Some("func".to_owned()),
        Payload::MemorySection(_) => Some("memory".to_owned()),
        Payload::CodeSectionStart { .. } => Some("code".to_owned()),
        Payload::DataSection(_) => Some("data".to_owned()),
        _ => None,
    };
    Parser::new(0).parse_all(module).filter_map(|payload| named(payload.unwrap())).collect()
}

const CARRIED: &str = r#"(module $m
    (@custom "dylink.0" (before first) "\01\02")
    (@custom "notes" (after type) "a")
    (@custom "notes" (after code) "b")
    (@custom "" "nameless")
    (@custom "f1" "\ff")
    (memory $notes 1)
    (data (i32.const 0) "x")
    (func $f))"#;

#[test]
fn custom_sections_stay_with_their_bytes_and_their_places() {
    let program = taken_in(&binary(CARRIED).unwrap());
    let shown = print_program(&program, Detail::Summary);
    for line in [
        "custom \"dylink.0\" first b\"\\01\\02\"",
        "custom notes_2 \"notes\" after type b\"a\"",
        "custom notes_3 \"notes\" after code b\"b\"",
        "custom f1_ \"f1\" after data b\"\\ff\"",
        "custom custom3 \"\" after data b\"nameless\"",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let module = written(&program);
    assert_eq!(
        sections(&module).join(" "),
        "\"dylink.0\" type \"notes\" func memory code \"notes\" data \"\" \"f1\" \"name\""
    );
    assert_eq!(print_program(&taken_in(&module), Detail::Full), print_program(&program, Detail::Full));
    let text = print(&module).unwrap();
    assert!(text.contains("(@custom \"notes\" (after type) \"a\")"), "{text}");
    let again = taken_in(&binary(&text).unwrap());
    assert_eq!(print_program(&again, Detail::Full), print_program(&program, Detail::Full));
}

#[test]
fn what_stands_before_the_names_stays_there() {
    // A section behind all standard ones, then the names of a function, then another section.
    let mut module = binary("(module (func $f))").unwrap();
    let names = module.split_off(module.len() - b"\0\x0b\x04name\x01\x04\x01\0\x01f".len());
    module.extend(b"\0\x05\x04here");
    module.extend(names);
    module.extend(b"\0\x06\x05there");
    let found = sections(&module);
    assert_eq!(found[found.len() - 3..].join(" "), "\"here\" \"name\" \"there\"");
    let program = taken_in(&module);
    assert_eq!(sections(&written(&program)), found);
}

#[test]
fn what_tells_of_other_bytes_stays_in_the_program() {
    let text = r#"(module
        (@custom ".debug_info" "a") (@custom "reloc.CODE" "b") (@custom "linking" "c")
        (@custom "sourceMappingURL" "d") (@custom "external_debug_info" "e") (@custom "build_id" "f")
        (@custom "metadata.code.hints" "g") (@custom "target_features" "\00") (func))"#;
    let program = taken_in(&binary(text).unwrap());
    assert_eq!(program.all_storage().count(), 8);
    assert_eq!(sections(&written(&program)).join(" "), "type func code \"target_features\"");
}

#[test]
fn blocks_keep_their_names() {
    let text = r#"(module
      (func $f (param $n i32) (result i32)
        (block $done
          (loop $next
            (br_if $done (i32.eqz (local.get $n)))
            (if $n1 (local.get $n) (then (return (i32.const 7)) (block $dead)) (else (block $inner (br $next))))
            (br $next)))
        (loop $next (br_if $next (local.get $n)))
        (i32.const 1)))"#;
    let program = taken_in(&binary(text).unwrap());
    let shown = print_program(&program, Detail::Summary);
    for part in [" done {", " next {", " n1_ (", " done (eqz", " inner {"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let again = taken_in(&written(&program));
    assert_eq!(print_program(&again, Detail::Full), print_program(&program, Detail::Full));
}

//! Modules that somebody made to do harm: each is refused, or is a program, in time and memory that its bytes bound.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_verify::{Checked, Class};
use lmlang_wasm::{ExportOptions, ImportError, MOST_OF_A_KIND, binary, export, import};

/// As much stack as a task of the server has.
const STACK: usize = 2 << 20;

/// What becomes of a module: `ok`, or what is wrong with it.
fn outcome(module: Vec<u8>) -> String {
    let import = move || match import(&module, &mut RefAllocator::starting_at(1)) {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(import);
    thread.expect("the thread begins").join().expect("nothing panics")
}

fn leb(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let more = number > 0x7f;
        bytes.push((number & 0x7f) as u8 | if more { 0x80 } else { 0 });
        number >>= 7;
        if !more {
            return bytes;
        }
    }
}

/// A section of so many equal entries.
fn section(id: u8, count: u64, entry: &[u8]) -> Vec<u8> {
    let content = [leb(count), entry.repeat(count as usize)].concat();
    [vec![id], leb(content.len() as u64), content].concat()
}

fn module(sections: &[Vec<u8>]) -> Vec<u8> {
    [b"\0asm\x01\0\0\0".to_vec(), sections.concat()].concat()
}

/// The body of a function, without its locals.
fn body(code: &[u8]) -> Vec<u8> {
    let content = [&[0], code, &[0x0b]].concat();
    [leb(content.len() as u64), content].concat()
}

/// A module of one function of the first of some types.
fn function(types: &[&[u8]], code: &[u8]) -> Vec<u8> {
    let types = [leb(types.len() as u64), types.concat()].concat();
    let types = [vec![1], leb(types.len() as u64), types].concat();
    module(&[types, section(3, 1, &[0]), section(10, 1, &body(code))])
}

const EMPTY: &[u8] = &[0x60, 0, 0];

/// A function type that gives a thousand numbers.
fn thousand() -> Vec<u8> {
    [vec![0x60, 0], leb(1000), vec![0x7f; 1000]].concat()
}

#[track_caller]
fn check(of: Vec<u8>, expect: &str) {
    let found = outcome(of);
    assert!(found.contains(expect) && (expect == "ok") == (found == "ok"), "{found}");
}

#[test]
fn a_component_is_told_from_a_module() {
    check(
        b"\0asm\x0d\0\x01\0".to_vec(),
        "a component in place of one of the core modules in it is not supported",
    );
    check(b"\0asm\x0d\0\0\0".to_vec(), "not a WebAssembly module: ");
}

#[test]
fn numbers_that_no_bytes_stand_behind_are_refused() {
    for (id, entries) in [(1, 1 << 31), (2, 1 << 31), (3, 1 << 31), (5, 1 << 31), (6, 1 << 31), (7, 1 << 31)]
    {
        let content = leb(entries);
        check(module(&[[vec![id], leb(content.len() as u64), content].concat()]), "(byte ");
    }
    // A custom section of 100 MB, a name of 4 GB, a body of 4 GB, functions without bodies, and numbers without an end.
    check(module(&[[vec![0], leb(100 << 20), vec![1, b'a']].concat()]), "(byte ");
    check(module(&[[vec![0, 8], leb(u64::from(u32::MAX)), vec![b'a'; 3]].concat()]), "(byte ");
    let types = section(1, 1, EMPTY);
    let functions = section(3, 1, &[0]);
    let claim = [vec![1], leb(u64::from(u32::MAX))].concat();
    let code = [vec![10], leb(claim.len() as u64), claim].concat();
    check(module(&[types.clone(), functions.clone(), code]), "(byte ");
    check(module(&[types.clone(), section(3, 1_000_000, &[0])]), "(byte ");
    check(module(&[vec![1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]]), "(byte ");
    check(module(&[vec![1, 0xff, 0xff, 0xff, 0xff, 0x7f]]), "(byte ");
    // Locals, pages, entries.
    let locals = [&[1], &leb(u64::from(u32::MAX))[..], &[0x7f, 0x0b]].concat();
    let code = section(10, 1, &[leb(locals.len() as u64), locals].concat());
    check(module(&[types.clone(), functions, code]), "too many locals");
    check(module(&[section(5, 1, &[&[0], &leb(65_537)[..]].concat())]), "(byte ");
    check(module(&[section(4, 1, &[&[0x70, 0], &leb(u64::from(u32::MAX))[..]].concat())]), "(byte ");
    check(module(&[section(4, 1, &[&[0x70, 0], &leb(262_145)[..]].concat())]), "tables of more than 262144");
    check(module(&[section(4, 1, &[&[0x70, 0], &leb(262_144)[..]].concat())]), "ok");
    check(module(&[types.clone(), types]), "(byte ");
    check(module(&[section(3, 0, &[]), section(1, 0, &[])]), "(byte ");
}

/// Some of all that modules have.
const SEVERAL: &str = r#"(module $m
  (import "a" "b" (func (param i32))) (global (mut i64) (i64.const 5)) (memory 1 2)
  (table 2 funcref) (elem (i32.const 0) func 0 1) (data (i32.const 1) "abc") (@custom "c" "d")
  (func $f (export "f") (param $p i32) (result i32)
    (block $b (loop $l (br_table $b $l $b (i32.sub (local.get $p) (i32.const 1))))) (local.get $p))
  (func (export "g") (param i64 f64) (result i64 f32) (local i32 externref)
    (if (result i64 f32) (i32.eqz (local.get 2))
      (then (i64.add (local.get 0) (i64.load offset=8 (local.get 2))) (f32.demote_f64 (local.get 1)))
      (else (i64.const -9) (f32.const 1.5)))
    (drop) (drop) (i32.store8 (i32.const 5) (i32.const 300)) (call 0 (local.tee 2 (i32.const 77)))
    (call_indirect (param i32) (i32.const 3) (i32.const 0)) (memory.fill (i32.const 0) (i32.const 4) (i32.const 4))
    (i64.atomic.rmw.add (i32.const 8) (i64.const 1)) (f32.const nan:0x200000)))"#;

/// Whether a module is a program; then nothing is wrong with that, and it is a valid module again.
#[track_caller]
fn is_a_program(module: &[u8]) -> bool {
    match import(module, &mut RefAllocator::starting_at(1)) {
        Ok(program) => {
            let checked = Checked::full(program, NonZeroUsize::MIN);
            assert_eq!(checked.findings().iter().find(|(_, found)| found.class() == Class::Error), None);
            let written = export(&checked, ExportOptions::default()).expect("it came from a module");
            lmlang_wasm::check(&written).expect("it is a module");
            true
        }
        Err(ImportError::Text { .. }) => panic!("bytes are no text"),
        Err(_) => false,
    }
}

#[test]
fn what_is_cut_off_or_changed_anywhere_is_refused_or_a_program() {
    let whole = binary(SEVERAL).unwrap();
    assert!(is_a_program(&whole));
    let mut programs = 0;
    for end in 0..whole.len() {
        // Some prefixes are modules of fewer sections.
        programs += usize::from(is_a_program(&whole[..end]));
        for flip in (0..8).map(|bit| 1u8 << bit).chain([0xff]) {
            let mut changed = whole.clone();
            changed[end] ^= flip;
            programs += usize::from(is_a_program(&changed));
        }
    }
    assert!(programs > whole.len(), "{programs} of {} bytes", whole.len());
}

#[test]
fn numbers_may_be_longer_than_they_need_to_be_up_to_a_length() {
    let numbers = |code: &[u8], expect: &str| check(function(&[&[0x60, 0, 1, 0x7f]], code), expect);
    numbers(&[0x41, 0x80, 0x80, 0x80, 0x80, 0x00], "ok");
    numbers(&[0x41, 0xff, 0xff, 0xff, 0xff, 0x7f], "ok");
    numbers(&[0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], "too long");
    numbers(&[0x41, 0xff, 0xff, 0xff, 0xff, 0x0f], "too large");
    let types = |length: &[u8]| module(&[[&[1], length, &[1, 0x60, 0, 0]].concat()]);
    check(types(&[0x84, 0x80, 0x80, 0x80, 0x00]), "ok");
    check(types(&[0x84, 0x80, 0x80, 0x80, 0x80, 0x00]), "too long");
}

#[test]
fn a_few_bytes_are_no_program_that_no_memory_holds() {
    let (thousand, so_many) = (thousand(), "a module of so many values");
    let deep = "an operand stack of more than 100000 values";
    // Functions, blocks, calls and branches with a thousand values each.
    let types = section(1, 1, &thousand);
    let functions = section(3, 10_000, &[0]);
    let code = section(10, 10_000, &body(&[0x00]));
    check(module(&[types, functions, code]), so_many);
    let blocks = [0x02, 0x01, 0x00, 0x0b].repeat(10_000);
    check(function(&[EMPTY, &thousand], &[&blocks[..], &[0x00]].concat()), deep);
    let nested = [[0x02, 0x01].repeat(10_000), vec![0x00], vec![0x0b; 10_000], vec![0x00]].concat();
    check(function(&[EMPTY, &thousand], &nested), so_many);
    let calls = [&[0x10, 0x00][..], &[0x41, 0x01, 0x0d, 0x00].repeat(10_000), &[0x0f]].concat();
    check(function(&[&thousand], &calls), so_many);
    let calls = [&[0x10, 0x00].repeat(10_000)[..], &[0x00]].concat();
    check(function(&[&thousand], &calls), deep);
    // A table of branches is as long as its bytes.
    let entries = 200_000;
    let table = [&[0x41, 0, 0x0e], &leb(entries)[..], &vec![0; entries as usize + 1]].concat();
    check(function(&[EMPTY], &table), "ok");
}

#[test]
fn what_other_threads_look_at_is_bounded_as_well() {
    // So many functions that threads help, and a last one.
    let many = 25_000;
    let whole = |last: Vec<u8>| {
        let code = [leb(many + 1), body(&[]).repeat(many as usize), last].concat();
        let code = [vec![10], leb(code.len() as u64), code].concat();
        module(&[section(1, 1, EMPTY), section(3, many + 1, &[0]), code])
    };
    assert!(whole(body(&[])).len() > 64 << 10);
    check(whole(body(&[])), "ok");
    check(whole(body(&[0x41, 0])), "(byte ");
    let locals = [&[1], &leb(u64::from(u32::MAX))[..], &[0x7f, 0x0b]].concat();
    check(whole([leb(locals.len() as u64), locals].concat()), "too many locals");
    // The first one that is wrong is told.
    let wrong = body(&[0x1a]);
    let code = [leb(many), wrong.clone(), body(&[]).repeat(many as usize - 2), wrong].concat();
    let code = [vec![10], leb(code.len() as u64), code].concat();
    let (types, functions) = (section(1, 1, EMPTY), section(3, many, &[0]));
    let first = 8 + types.len() + functions.len() + code.len() - 4 - 3 * (many as usize - 2) - 4;
    check(module(&[types, functions, code]), &format!("(byte {})", first + 2));
}

#[test]
fn blocks_may_be_nested_as_deeply_as_there_are_bytes() {
    let depth = 100_000;
    let nested = [[0x02, 0x40].repeat(depth), vec![0x0c, 0], vec![0x0b; depth]].concat();
    check(function(&[EMPTY], &nested), "ok");
    let loops = [[0x03, 0x40].repeat(depth), vec![0x41, 0, 0x0d], leb(depth as u64 - 1), vec![0x0b; depth]];
    check(function(&[EMPTY], &loops.concat()), "ok");
    let ifs = [[0x41, 1, 0x04, 0x40].repeat(depth), vec![0x0b; depth]].concat();
    check(function(&[EMPTY], &ifs), "ok");
    // As text: without parentheses, and with.
    let flat = format!("(module (func {}{}))", "block ".repeat(depth), "end ".repeat(depth));
    check(binary(&flat).unwrap(), "ok");
    let deep = |open: &str| format!("(module (func {}{}))", open.repeat(depth), ")".repeat(depth));
    for text in
        [deep("(block "), deep("(drop "), deep("(;"), "(".repeat(1_000_000), deep("(if (i32.const 1) (then ")]
    {
        let read = move || binary(&text).map(outcome).map_err(|error| error.to_string());
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(read).unwrap();
        match thread.join().expect("nothing panics") {
            Ok(found) => assert!(found == "ok" || found.contains("(byte "), "{found}"),
            Err(error) => assert!(error.contains("line 1"), "{error}"),
        }
    }
}

#[test]
fn many_of_one_kind_are_a_program_or_refused() {
    let many = 30_000;
    check(module(&[section(1, many, EMPTY)]), "ok");
    check(module(&[section(6, many, &[0x7f, 0, 0x41, 0, 0x0b])]), "ok");
    check(module(&[[0, 1, 0].repeat(many as usize)]), "ok");
    check(module(&[section(1, 1, EMPTY), section(3, many, &[0]), section(10, many, &body(&[]))]), "ok");
    check(module(&[section(5, 1, &[0, 1]), section(11, many, &[1, 0])]), "ok");
    // One function by all names that there may be.
    let names = (0..MOST_OF_A_KIND).flat_map(|name| format!("\u{6}{name:06}\0\0").into_bytes());
    let names: Vec<u8> = [leb(MOST_OF_A_KIND.into()), names.collect()].concat();
    let exported = [vec![7], leb(names.len() as u64), names].concat();
    let nothing = section(10, 1, &body(&[]));
    check(module(&[section(1, 1, EMPTY), section(3, 1, &[0]), exported, nothing]), "ok");
    // More are too many, before anything is made of them.
    let (million, most) = (1_000_000, u64::from(MOST_OF_A_KIND));
    let whole = |many| module(&[section(1, 1, EMPTY), section(3, many, &[0]), section(10, many, &body(&[]))]);
    check(whole(million), "a module has at most 100000 functions, found 1000000 (byte 18)");
    check(whole(most + 1), "functions, found 100001");
    check(module(&[section(1, most, EMPTY)]), "ok");
    check(module(&[section(1, most + 1, EMPTY)]), "types, found 100001");
    check(module(&[section(1, 1, EMPTY), section(2, most + 1, &[0, 0, 0, 0])]), "imports, found 100001");
    check(module(&[section(6, most + 1, &[0x7f, 0, 0x41, 0, 0x0b])]), "globals, found 100001");
    check(module(&[section(7, most + 1, &[0, 0, 0])]), "exports, found 100001");
    check(module(&[section(9, most + 1, &[1, 0, 0])]), "element segments, found 100001");
    check(module(&[section(5, 1, &[0, 1]), section(11, most + 1, &[1, 0])]), "data segments, found 100001");
    check(module(&[[0, 1, 0].repeat(million as usize)]), "custom sections, found 100001");
    // One name for all, and a long one.
    let named = |name: &[u8]| {
        let name = [leb(name.len() as u64), name.to_vec()].concat();
        let import = [&name[..], &name, &[3, 0x7f, 0]].concat();
        module(&[section(2, 2_000, &import)])
    };
    check(named(b"a"), "ok");
    check(named(&[b'a'; 100_001]), "(byte ");
    check(named(b"\xff\xfe"), "(byte ");
    check(module(&[section(6, 1_000_001, &[0x7f, 0, 0x41, 0, 0x0b])]), "(byte ");
}

//! What functions are lowered to: one instruction for two operators where the second comes right behind the first.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;

use super::{Stale, lower};
use crate::code::{Code, Lowering, Opcode};

/// The instructions of a function, one a line: the fuel of the segment from there on, the opcode, what it works on.
fn listing(code: &Code) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(word @ [fuel, a, b, c]) = code.words.get(at) {
        let op = Opcode::of(*word);
        let [a, b, c] = [a, b, c].map(|field| field.cast_signed());
        let written = match op.branches() {
            true => write!(out, "{at}: {} {op:?} {a} {b} -> {}", fuel >> 8, at as i64 + i64::from(c)),
            false => write!(out, "{at}: {} {op:?} {a} {b} {c}", fuel >> 8),
        };
        written.unwrap();
        at += 1;
        if op.is_long() {
            write!(out, " {}", code.words[at][0].cast_signed()).unwrap();
            at += 1;
        }
        out.push('\n');
    }
    out
}

/// Compares what the only function of a text is lowered to.
fn check(text: &str, expected: &str) {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
    let (of, function) = program.functions().next().expect("there is one");
    let stale = Stale::of(&checked, checked.function(of).expect("it is verified"));
    let code = lower(&program, of, function, &stale, Lowering::Fast).expect("it fits");
    let expected: String = expected.lines().map(|line| format!("{}\n", line.trim())).collect();
    assert_eq!(listing(&code), expected);
}

#[test]
fn a_counter_is_stepped_and_tested_at_once() {
    check(
        "module m
        pub func sum (n: i64) -> (i64) {
          s = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) {
            break_if L (ge_u.i64 i, n) (acc)
            continue L (add.i64 i, 1) (add.i64 acc, i)
          }
          return s
        }",
        "0: 5 Const 1 1 0
        1: 5 Const 2 0 0
        2: 2 Const 3 0 0
        3: 2 BrLtU 2 0 -> 6
        4: 0 Mov 0 3 0
        5: 0 Jmp 0 0 -> 10
        6: 6 AddI64 3 3 2
        7: 3 NextLtU64 2 0 -> 6 1
        9: 0 Jmp 0 0 -> 4
        10: 1 Ret 0 0 0",
    );
}

#[test]
fn a_value_that_is_read_again_is_kept() {
    check(
        "module m
        pub func twice (x: f64, y: f64, z: f64) -> (f64) {
          product = mul.f64 x, y
          sum = add.f64 product, z
          once = sub.f64 (mul.f64 sum, z), x
          return (add.f64 once, product)
        }",
        "0: 6 MulF64 3 0 1
        1: 5 AddF64 4 3 2
        2: 4 MulSubF64 6 4 2 0
        4: 2 AddF64 0 6 3
        5: 1 Ret 0 0 0",
    );
}

#[test]
fn bits_are_tested_by_the_branch() {
    check(
        "module m
        pub func odd (x: i32) -> (i32) {
          bit = eq.i32 (and.i32 x, 4), 4
          r = if bit -> (i32) {
            yield (add.i32 x, 1)
          } else {
            yield x
          }
          return r
        }",
        "0: 5 BrNoneK 0 4 -> 3
        1: 3 AddI32K 0 0 1
        2: 1 Jmp 0 0 -> 4
        3: 2 Nop 0 0 0
        4: 1 Ret 0 0 0",
    );
}

#[test]
fn addresses_are_added_up_by_loads() {
    check(
        "module m
        pub func at (base: i32, index: i32) -> (i32) {
          place = add.i32 (shl.i32 index, 2), base
          first = load.i32 offset=8 (add.i32 base, index)
          return (add.i32 place, first)
        }
        memory ram 1 max 1",
        "0: 7 MulKAddI32 3 1 4 0
        2: 4 LoadAt32U 5 0 1 8
        4: 2 AddI32 0 3 5
        5: 1 Ret 0 0 0",
    );
}

//! The pages of traps.

use super::Trap;
use crate::page::CodePage;

impl Trap {
    /// All traps.
    pub const ALL: [Trap; 12] = [
        Trap::DivisionByZero,
        Trap::IntegerOverflow,
        Trap::InvalidConversion,
        Trap::MemoryOutOfBounds,
        Trap::TableOutOfBounds,
        Trap::UninitializedElement,
        Trap::SignatureMismatch,
        Trap::IndexOutOfBounds,
        Trap::WrongVariant,
        Trap::InvalidUtf8,
        Trap::Unreachable,
        Trap::ContractTrapped,
    ];

    /// What is written about it; a run of `f` in the example traps.
    pub const fn page(self) -> CodePage {
        let (title, meaning, example, repair, repaired) = match self {
            Trap::DivisionByZero => (
                "An integer was divided by zero.",
                "`div` and `rem` have no value there; floats have one.",
                "func f () -> (i64) { return (div_s.i64 1, 0) }",
                "Look at the divisor before, or demand with a `require` that it is not zero.",
                "func f () -> (i64) { return (div_s.i64 1, 2) }",
            ),
            Trap::IntegerOverflow => (
                "A result that the integer type does not hold.",
                "The least integer divided by -1, or a float beyond the integer's range in `trunc`.",
                "func f () -> (i32) { return (trunc_s.f64.i32 3e9) }",
                "Use a wider type, or `trunc_sat`, which takes the nearest integer.",
                "func f () -> (i32) { return (trunc_sat_s.f64.i32 3e9) }",
            ),
            Trap::InvalidConversion => (
                "A NaN has no integer value.",
                "`trunc` was given what is no number.",
                "func f () -> (i32) { return (trunc_s.f64.i32 nan) }",
                "Use `trunc_sat`, which gives 0, or look at the value before.",
                "func f () -> (i32) { return (trunc_sat_s.f64.i32 nan) }",
            ),
            Trap::MemoryOutOfBounds => (
                "An access outside of linear memory.",
                "The bytes of the access end beyond the memory, whose pages have 65,536 bytes.",
                "memory main 1\nfunc f () -> (i32) { return (load.i32 65536) }",
                "Look at the address, or let the memory grow before.",
                "memory main 1\nfunc f () -> (i32) { return (load.i32 65532) }",
            ),
            Trap::TableOutOfBounds => (
                "An index outside of a table.",
                "The table has fewer entries.",
                "table t [one]\nfunc one () -> (i32) { return 1 }\nfunc f () -> (i32) {\n  x = call_indirect t<() -> (i32)> 7\n  return x\n}",
                "Use an index of the table.",
                "table t [one]\nfunc one () -> (i32) { return 1 }\nfunc f () -> (i32) {\n  x = call_indirect t<() -> (i32)> 0\n  return x\n}",
            ),
            Trap::UninitializedElement => (
                "An empty table entry was called.",
                "The entry is `null`.",
                "table t [one, null]\nfunc one () -> (i32) { return 1 }\nfunc f () -> (i32) {\n  x = call_indirect t<() -> (i32)> 1\n  return x\n}",
                "Fill the entry, or use another index.",
                "table t [one, null]\nfunc one () -> (i32) { return 1 }\nfunc f () -> (i32) {\n  x = call_indirect t<() -> (i32)> 0\n  return x\n}",
            ),
            Trap::SignatureMismatch => (
                "A table entry of another signature was called.",
                "`call_indirect` names a signature, and the function in the entry has another.",
                "table t [one]\nfunc one () -> (i32) { return 1 }\nfunc f () -> (i64) {\n  x = call_indirect t<() -> (i64)> 0\n  return x\n}",
                "Name the signature of the function, or use another index.",
                "table t [one]\nfunc one () -> (i32) { return 1 }\nfunc f () -> (i32) {\n  x = call_indirect t<() -> (i32)> 0\n  return x\n}",
            ),
            Trap::IndexOutOfBounds => (
                "An index outside of an array, a text or bytes.",
                "Indices are from 0 up to the length, which itself is only the end of a slice.",
                "func f () -> (i64) {\n  a = array.new<i64> 10, 20\n  return (array.get<i64> a, 2)\n}",
                "Look at the length before.",
                "func f () -> (i64) {\n  a = array.new<i64> 10, 20\n  return (array.get<i64> a, 1)\n}",
            ),
            Trap::WrongVariant => (
                "The payload of another variant was asked for.",
                "`enum.payload` takes the payload of the variant that it names, and the value is another.",
                "func f () -> (i64) {\n  o = enum.new option<i64>.none\n  return (enum.payload option<i64>.some o)\n}",
                "Use a `match`, whose cases have the payload as parameter.",
                "func f () -> (i64) {\n  o = enum.new option<i64>.none\n  r = match o -> (i64) {\n    case none { yield 0 }\n    case some (x: i64) { yield x }\n  }\n  return r\n}",
            ),
            Trap::InvalidUtf8 => (
                "Bytes that are no UTF-8, or a position inside of a character.",
                "A text is UTF-8 at all times.",
                "func f () -> (string) { return (string.from_bytes hex\"ff\") }",
                "Keep what is no text as `bytes`.",
                "func f () -> (bytes) { return hex\"ff\" }",
            ),
            Trap::Unreachable => (
                "`unreachable` was reached.",
                "The place was thought to be one where no run comes.",
                "func f () -> () { unreachable }",
                "Say what happens there.",
                "func f () -> () { return }",
            ),
            Trap::ContractTrapped => (
                "A contract trapped instead of answering.",
                "Something in its condition trapped, and the message says what.",
                "func g (n: i64) -> () {\n  require \"divides\" = eqz.i64 (rem_s.i64 10, n)\n  return\n}\nfunc f () -> () {\n  call g(0)\n  return\n}",
                "Write a condition that has an answer for all values, or demand before what it needs.",
                "func g (n: i64) -> () {\n  require \"not zero\" = ne.i64 n, 0\n  require \"divides\" = eqz.i64 (rem_s.i64 10, n)\n  return\n}\nfunc f () -> () {\n  call g(5)\n  return\n}",
            ),
        };
        CodePage { code: self.code(), title, meaning, example, repair, repaired: Some(repaired) }
    }
}

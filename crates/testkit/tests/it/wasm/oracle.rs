//! How a call ends: of a function here, and of what is exported by a module in wasmi.

use lmlang_interp::{Cache, Control, Environment, Fault, Options, Outcome, run};
use lmlang_ir::{Const, FuncRef, Initial, Program, StorageKind, Trap, Type, Value};
use lmlang_verify::Checked;
use lmlang_wasm::values::{self, Heap, Measure};
use wasmi::errors::{ErrorKind, InstantiationError};
use wasmi::{
    Config, Engine, F32, F64, Global, Instance, Linker, Memory, Module, Mutability, Store, TrapCode,
    TypedFunc, Val, ValType,
};

use super::world::World;

/// How a call ends, where both have to agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With values, as their bits; every NaN is the canonical one.
    Returns(Vec<u64>),
    Traps(Trap),
    /// At a bound, which is another one on each side.
    Exceeds,
}

/// Runs a function here, for the bits of what it returns.
pub(super) fn here(checked: &Checked, function: FuncRef, arguments: &[Value]) -> Ending {
    match here_values(checked, function, arguments, &Environment::default()).0 {
        Ok(values) => Ending::Returns(values.iter().map(bits).collect()),
        Err(ending) => ending,
    }
}

/// Runs a function here; also says what it printed, and how much fuel it took.
pub(super) fn here_values(
    checked: &Checked,
    function: FuncRef,
    arguments: &[Value],
    environment: &Environment,
) -> (Result<Vec<Value>, Ending>, Vec<u8>, u64) {
    let options = Options { environment: environment.clone(), ..Options::default() };
    let cache = Cache::default();
    let result = run(checked, function, arguments, &options, &cache, u64::MAX, &mut |_| Control::Continue);
    let result = result.expect("the arguments fit");
    let ending = match result.outcome {
        Outcome::Returned { values } => return (Ok(values), result.stdout, result.fuel_used),
        Outcome::Trapped {
            fault: Fault::Trap(trap) | Fault::Segment(_, trap) | Fault::InContract(_, trap),
            ..
        } => Ending::Traps(trap),
        Outcome::ContractViolated { .. } => Ending::Traps(Trap::Unreachable),
        Outcome::LimitReached { .. } => Ending::Exceeds,
        other => panic!("{other:?}"),
    };
    (Err(ending), result.stdout, result.fuel_used)
}

pub(super) fn bits(value: &Value) -> u64 {
    match value {
        Value::Const(Const::Bool(value)) => u64::from(*value),
        Value::Const(Const::I8(value)) => (i32::from(*value) as u32).into(),
        Value::Const(Const::I16(value)) => (i32::from(*value) as u32).into(),
        Value::Const(Const::I32(value)) => value.cast_unsigned().into(),
        Value::Const(Const::I64(value)) => value.cast_unsigned(),
        Value::Const(Const::F32(bits)) => Val::F32(f32::from_bits(*bits).into()).bits(),
        Value::Const(Const::F64(bits)) => Val::F64(f64::from_bits(*bits).into()).bits(),
        Value::Ptr(_, address) => (*address).into(),
        Value::FuncRef(of) => u64::from(of.is_some()),
        Value::ExternRef => 0,
        other => panic!("{other:?}"),
    }
}

/// The bits of a value; every NaN has the same.
pub(super) trait Bits {
    fn bits(&self) -> u64;
}

impl Bits for Val {
    fn bits(&self) -> u64 {
        match self {
            Val::I32(value) => value.cast_unsigned().into(),
            Val::I64(value) => value.cast_unsigned(),
            Val::F32(value) if value.to_float().is_nan() => 0x7fc0_0000,
            Val::F32(value) => value.to_bits().into(),
            Val::F64(value) if value.to_float().is_nan() => 0x7ff8_0000_0000_0000,
            Val::F64(value) => value.to_bits(),
            Val::FuncRef(of) => u64::from(!of.is_null()),
            Val::ExternRef(of) => u64::from(!of.is_null()),
            other => panic!("{other:?}"),
        }
    }
}

/// The value for wasmi that an argument is; nothing for those that modules do not have.
pub(super) fn argument(value: &Value) -> Option<Val> {
    Some(match value {
        Value::Const(Const::F32(bits)) => Val::F32(f32::from_bits(*bits).into()),
        Value::Const(Const::F64(bits)) => Val::F64(f64::from_bits(*bits).into()),
        Value::Const(Const::I64(value)) => Val::I64(*value),
        Value::Const(Const::Bool(_) | Const::I8(_) | Const::I16(_) | Const::I32(_)) => {
            Val::I32(bits(value) as i32)
        }
        Value::FuncRef(None) => Val::default_for_ty(wasmi::ValType::FuncRef),
        Value::ExternRef => Val::default_for_ty(wasmi::ValType::ExternRef),
        _ => return None,
    })
}

/// A module that runs in wasmi.
pub(super) fn instance(module: &[u8]) -> Result<(Store<World>, Module, Instance), wasmi::Error> {
    let module = translated(module)?;
    let (store, instance) = started(&module, None)?;
    Ok((store, module, instance))
}

/// A module as wasmi runs it.
pub(super) fn translated(module: &[u8]) -> Result<Module, wasmi::Error> {
    let mut config = Config::default();
    config.set_max_recursion_depth(20_000).set_max_stack_height(1 << 24);
    Module::new(&Engine::new(&config), module)
}

/// An instance. Of a program, imported globals have the values that they have here.
fn started(module: &Module, program: Option<&Program>) -> Result<(Store<World>, Instance), wasmi::Error> {
    let mut store = Store::new(module.engine(), World::default());
    store.limiter(|world| &mut world.bounds.0);
    let mut linker = Linker::new(module.engine());
    World::link(&mut linker)?;
    for (_, storage) in program.into_iter().flat_map(Program::all_storage) {
        if let (Some(import), StorageKind::Global { ty, initial: Initial::Const(value), .. }) =
            (&storage.import, &storage.kind)
            && let Some(value) = argument(&match ty {
                Type::FuncRef => Value::FuncRef(None),
                Type::ExternRef => Value::ExternRef,
                _ => Value::Const(value.clone()),
            })
        {
            assert!(!ty.on_heap(), "no host has such values");
            let global = Global::new(&mut store, value, Mutability::Const);
            linker.define(&import.module, &import.name, global)?;
        }
    }
    let instance = linker.instantiate_and_start(&mut store, module)?;
    Ok((store, instance))
}

/// Calls what a fresh instance of a module exports, in wasmi.
pub(super) fn there(module: &[u8], export: &str, arguments: &[Val]) -> Ending {
    let called = instance(module).and_then(|(mut store, _, instance)| {
        let function = instance.get_func(&store, export).expect("the function is exported");
        let types = function.ty(&store);
        let mut results: Vec<Val> = types.results().iter().map(|ty| Val::default_for_ty(*ty)).collect();
        function.call(&mut store, arguments, &mut results).map(|()| results)
    });
    match called {
        Ok(results) => Ending::Returns(results.iter().map(Bits::bits).collect()),
        Err(error) => trapped(&error),
    }
}

fn trapped(error: &wasmi::Error) -> Ending {
    // A segment that does not fit into its table is an error of its own there, and no trap.
    if matches!(error.kind(), ErrorKind::Instantiation(InstantiationError::ElementSegmentDoesNotFit { .. })) {
        return Ending::Traps(Trap::TableOutOfBounds);
    }
    match error.as_trap_code().unwrap_or_else(|| panic!("{error}")) {
        TrapCode::UnreachableCodeReached => Ending::Traps(Trap::Unreachable),
        TrapCode::MemoryOutOfBounds => Ending::Traps(Trap::MemoryOutOfBounds),
        TrapCode::TableOutOfBounds => Ending::Traps(Trap::TableOutOfBounds),
        TrapCode::IndirectCallToNull => Ending::Traps(Trap::UninitializedElement),
        TrapCode::IntegerDivisionByZero => Ending::Traps(Trap::DivisionByZero),
        TrapCode::IntegerOverflow => Ending::Traps(Trap::IntegerOverflow),
        TrapCode::BadConversionToInteger => Ending::Traps(Trap::InvalidConversion),
        TrapCode::BadSignature => Ending::Traps(Trap::SignatureMismatch),
        _ => Ending::Exceeds,
    }
}

/// The heap of an instance.
struct InWasmi<'s> {
    store: &'s mut Store<World>,
    memory: Memory,
    room: TypedFunc<(u32, u32, u32), u32>,
}

impl Heap for InWasmi<'_> {
    type Error = wasmi::Error;

    fn room(&mut self, bytes: u32, refs: u32, word: u32, _: Measure) -> Result<u32, wasmi::Error> {
        self.room.call(&mut *self.store, (bytes, refs, word))
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), wasmi::Error> {
        Ok(self.memory.write(&mut *self.store, address as usize, bytes)?)
    }

    fn read(&self, address: u32, bytes: &mut [u8]) -> Result<(), wasmi::Error> {
        Ok(self.memory.read(&*self.store, address as usize, bytes)?)
    }
}

/// How a call ended, and what it printed.
type Told = (Result<Vec<Value>, Ending>, Vec<u8>);

/// Calls what a fresh instance of a program's module exports, with values of any type; nothing if one has no meaning
/// outside.
pub(super) fn there_values(
    program: &Program,
    module: &Module,
    function: FuncRef,
    arguments: &[Value],
    environment: &Environment,
) -> Option<Told> {
    let (mut store, instance) = started(module, Some(program)).unwrap();
    *store.data_mut() = World::new(environment);
    let ending = call(program, &mut store, &instance, function, arguments)?;
    Some((ending, std::mem::take(&mut store.data_mut().output)))
}

fn call(
    program: &Program,
    mut store: &mut Store<World>,
    instance: &Instance,
    function: FuncRef,
    arguments: &[Value],
) -> Option<Result<Vec<Value>, Ending>> {
    let head = program.function(function)?.head();
    let callee = instance.get_func(&store, &function.to_string()).expect("the function is exported");
    let memory = instance.get_memory(&store, "lm_memory");
    let room = instance.get_typed_func(&store, "lm_new");
    let mut words = Vec::new();
    let types = callee.ty(&store);
    let ty = |bits: u64, ty: &ValType| match ty {
        ValType::I64 => Val::I64(bits.cast_signed()),
        ValType::F32 => Val::F32(F32::from_bits(bits as u32)),
        ValType::F64 => Val::F64(F64::from_bits(bits)),
        _ => Val::I32(bits as i32),
    };
    let mut heap = memory.zip(room.ok()).map(|(memory, room)| InWasmi { store: &mut *store, memory, room });
    for (value, of) in arguments.iter().zip(types.params()) {
        let bits = match &mut heap {
            Some(heap) => values::put(program, heap, value).unwrap()?,
            None => values::put(program, &mut Nowhere, value).unwrap()?,
        };
        words.push(ty(bits, of));
    }
    let mut results: Vec<Val> = types.results().iter().map(|ty| Val::default_for_ty(*ty)).collect();
    if let Err(error) = callee.call(&mut store, &words, &mut results) {
        return Some(Err(trapped(&error)));
    }
    let room = instance.get_typed_func(&store, "lm_new");
    let heap = memory.zip(room.ok()).map(|(memory, room)| InWasmi { store: &mut *store, memory, room });
    let mut found = Vec::new();
    for (result, of) in results.iter().zip(&head.results) {
        found.push(match &heap {
            Some(heap) => values::get(program, heap, of, raw(result)).unwrap()?,
            None => values::get(program, &Nowhere, of, raw(result)).unwrap()?,
        });
    }
    let release = instance.get_typed_func::<u32, ()>(&store, "lm_release");
    for (result, of) in results.iter().zip(&head.results).filter(|(_, of)| of.on_heap()) {
        let release = release.as_ref().unwrap_or_else(|_| panic!("a {of} was returned"));
        release.call(&mut store, result.i32().unwrap().cast_unsigned()).unwrap();
    }
    Some(Ok(found))
}

/// How many bytes of the heap are not given back when a function is called once more; nothing if it has no heap, or does
/// not return.
pub(super) fn lost(
    program: &Program,
    module: &Module,
    function: FuncRef,
    arguments: &[Value],
) -> Option<u32> {
    let (mut store, instance) = started(module, Some(program)).unwrap();
    let room = instance.get_typed_func::<(u32, u32, u32), u32>(&store, "lm_new").ok()?;
    // Room of a size that nobody else asks for is new: it begins where the heap ends.
    let (first, second) = (1 << 22, 1 << 23);
    for _ in 0..2 {
        call(program, &mut store, &instance, function, arguments)?.ok()?;
    }
    let before = room.call(&mut store, (first - HEADER, 0, 0)).unwrap();
    call(program, &mut store, &instance, function, arguments)?.ok()?;
    let after = room.call(&mut store, (second - HEADER, 0, 0)).unwrap();
    Some(after - before - first)
}

/// What a value takes beyond what it holds.
const HEADER: u32 = 16;

/// The bits of a value as it is.
fn raw(of: &Val) -> u64 {
    match of {
        Val::F32(value) => value.to_bits().into(),
        Val::F64(value) => value.to_bits(),
        // These have no meaning outside, whatever they are.
        Val::FuncRef(_) | Val::ExternRef(_) => 0,
        other => other.bits(),
    }
}

/// The heap of a module that has none.
struct Nowhere;

impl Heap for Nowhere {
    type Error = String;

    fn room(&mut self, _: u32, _: u32, _: u32, _: Measure) -> Result<u32, String> {
        Err("there is no heap".to_owned())
    }

    fn write(&mut self, _: u32, _: &[u8]) -> Result<(), String> {
        Err("there is no heap".to_owned())
    }

    fn read(&self, _: u32, _: &mut [u8]) -> Result<(), String> {
        Err("there is no heap".to_owned())
    }
}

/// What a module cannot tell from `unreachable`.
fn is_plain(trap: Trap) -> bool {
    matches!(trap, Trap::IndexOutOfBounds | Trap::InvalidUtf8 | Trap::WrongVariant | Trap::MemoryOutOfBounds)
}

/// Whether both say the same, or one met a bound of its own.
pub(super) fn agree(here: &Ending, there: &Ending) -> bool {
    match (here, there) {
        (Ending::Exceeds, _) | (_, Ending::Exceeds) => true,
        (Ending::Traps(here), Ending::Traps(Trap::Unreachable)) if is_plain(*here) => true,
        (_, _) => here == there,
    }
}

/// Some argument of a type, another one at each position.
pub(super) fn some(ty: &Type, at: usize) -> Option<Value> {
    match ty {
        Type::FuncRef => return Some(Value::FuncRef(None)),
        Type::ExternRef => return Some(Value::ExternRef),
        _ => {}
    }
    Some(Value::Const(match *ty {
        Type::I32 => Const::I32(7 - at as i32),
        Type::I64 => Const::I64(-(at as i64) * 1_000_003),
        Type::F32 => Const::F32((at as f32 + 0.5).to_bits()),
        Type::F64 => Const::F64((-2.25 * at as f64).to_bits()),
        _ => return None,
    }))
}

//! How a call ends: of a function here, and of what is exported by a module in wasmi.

use lmlang_interp::{Cache, Control, Fault, Options, Outcome, run};
use lmlang_ir::{Const, FuncRef, Trap, Type, Value};
use lmlang_verify::Checked;
use wasmi::{Config, Engine, Instance, Linker, Module, Store, TrapCode, Val};

/// How a call ends, where both have to agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With values, as their bits; every NaN is the canonical one.
    Returns(Vec<u64>),
    Traps(Trap),
    /// At a bound, which is another one on each side.
    Exceeds,
}

/// Runs a function here.
pub(super) fn here(checked: &Checked, function: FuncRef, arguments: &[Value]) -> Ending {
    let (options, cache) = (Options::default(), Cache::default());
    let result = run(checked, function, arguments, &options, &cache, u64::MAX, &mut |_| Control::Continue);
    match result.expect("the arguments fit").outcome {
        Outcome::Returned { values } => Ending::Returns(values.iter().map(bits).collect()),
        Outcome::Trapped { fault: Fault::Trap(trap) | Fault::InContract(_, trap), .. } => Ending::Traps(trap),
        Outcome::ContractViolated { .. } => Ending::Traps(Trap::Unreachable),
        Outcome::LimitReached { .. } => Ending::Exceeds,
        other => panic!("{other:?}"),
    }
}

fn bits(value: &Value) -> u64 {
    match value {
        Value::Const(Const::Bool(value)) => u64::from(*value),
        Value::Const(Const::I8(value)) => (i32::from(*value) as u32).into(),
        Value::Const(Const::I16(value)) => (i32::from(*value) as u32).into(),
        Value::Const(Const::I32(value)) => value.cast_unsigned().into(),
        Value::Const(Const::I64(value)) => value.cast_unsigned(),
        Value::Const(Const::F32(bits)) => Val::F32(f32::from_bits(*bits).into()).bits(),
        Value::Const(Const::F64(bits)) => Val::F64(f64::from_bits(*bits).into()).bits(),
        Value::Ptr(_, address) => (*address).into(),
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
        _ => return None,
    })
}

/// A module that runs in wasmi.
pub(super) fn instance(module: &[u8]) -> Result<(Store<()>, Module, Instance), wasmi::Error> {
    let mut config = Config::default();
    config.set_max_recursion_depth(20_000).set_max_stack_height(1 << 24);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, module)?;
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module)?;
    Ok((store, module, instance))
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
        Err(error) => match error.as_trap_code().unwrap_or_else(|| panic!("{error}")) {
            TrapCode::UnreachableCodeReached => Ending::Traps(Trap::Unreachable),
            TrapCode::MemoryOutOfBounds => Ending::Traps(Trap::MemoryOutOfBounds),
            TrapCode::TableOutOfBounds => Ending::Traps(Trap::TableOutOfBounds),
            TrapCode::IndirectCallToNull => Ending::Traps(Trap::UninitializedElement),
            TrapCode::IntegerDivisionByZero => Ending::Traps(Trap::DivisionByZero),
            TrapCode::IntegerOverflow => Ending::Traps(Trap::IntegerOverflow),
            TrapCode::BadConversionToInteger => Ending::Traps(Trap::InvalidConversion),
            TrapCode::BadSignature => Ending::Traps(Trap::SignatureMismatch),
            _ => Ending::Exceeds,
        },
    }
}

/// Whether both say the same, or one met a bound of its own.
pub(super) fn agree(here: &Ending, there: &Ending) -> bool {
    here == there || *here == Ending::Exceeds || *there == Ending::Exceeds
}

/// Some argument of a type, another one at each position.
pub(super) fn some(ty: &Type, at: usize) -> Option<Value> {
    Some(Value::Const(match *ty {
        Type::I32 => Const::I32(7 - at as i32),
        Type::I64 => Const::I64(-(at as i64) * 1_000_003),
        Type::F32 => Const::F32((at as f32 + 0.5).to_bits()),
        Type::F64 => Const::F64((-2.25 * at as f64).to_bits()),
        _ => return None,
    }))
}

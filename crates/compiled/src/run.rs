//! Running compiled code within bounds.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use lmlang_ir::{Const, Scalar, Type, Value};
use lmlang_wasm::{Counted, Metered};
use wasmtime::{Caller, Extern, ResourceLimiter, Store, Val};

use crate::unit::Unit;

/// Bytes of a run's stack; pages that it does not use cost nothing.
pub(crate) const STACK: usize = 64 << 20;

/// The most bytes that a linear memory has.
const MOST_MEMORY: usize = 1 << 32;

/// Bytes that an entry of a table counts for.
const ENTRY: u64 = 8;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Nodes, and what bulk operators cost beyond.
    pub fuel: u64,
    /// Calls inside calls.
    pub call_depth: u32,
    /// Bytes that memory and tables may grow by.
    pub more_memory: u64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The function returned.
    Returned(Returned),
    /// It trapped, a contract did not hold, or it met a bound: the interpreter says which and where.
    Stopped,
    /// Whoever runs it gave no more.
    Interrupted {
        /// Fuel that it had used.
        fuel: u64,
        /// How much of it was for bulk operators.
        extra: u64,
        /// Bytes that memory and tables had grown by.
        grown: u64,
    },
}

/// What a run did that returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// The results.
    pub values: Vec<Value>,
    /// Fuel that it used.
    pub fuel: u64,
    /// How much of it was for bulk operators, beyond their nodes: the rest are steps.
    pub extra: u64,
    /// Bytes that memory and tables grew by.
    pub grown: u64,
}

impl Unit {
    /// Runs the function with arguments of the types that it takes. After each slice `more` is told how much fuel was used
    /// and says how much the next slice has; nothing ends the run.
    pub fn run(&self, args: &[Value], bounds: Bounds, more: &mut dyn FnMut(u64) -> Option<u64>) -> Ending {
        let Some(args) = args.iter().map(argument).collect::<Option<Vec<Val>>>() else {
            return Ending::Stopped;
        };
        let Some(slice) = more(0) else { return Ending::Interrupted { fuel: 0, extra: 0, grown: 0 } };
        let (asks, asked) = channel();
        let (answers, answered) = channel();
        let mut host = Host {
            bounds,
            used: 0,
            granted: 0,
            extra: 0,
            grown: 0,
            interrupted: false,
            running: false,
            asks,
            answered,
        };
        host.grant(slice);
        thread::scope(|scope| {
            let run = thread::Builder::new().name("compiled".to_owned()).stack_size(STACK);
            let Ok(run) = run.spawn_scoped(scope, move || self.execute(host, &args)) else {
                return Ending::Stopped;
            };
            while let Ok(used) = asked.recv() {
                // One that does not listen any more has ended.
                if answers.send(more(used)).is_err() {
                    break;
                }
            }
            run.join().unwrap_or(Ending::Stopped)
        })
    }

    fn execute(&self, host: Host, args: &[Val]) -> Ending {
        let mut store = Store::new(self.prepared.module().engine(), host);
        store.limiter(|host| host);
        match self.call(&mut store, args) {
            Ok(values) => {
                let host = store.data();
                match host.used <= host.bounds.fuel {
                    true => Ending::Returned(values),
                    false => Ending::Stopped,
                }
            }
            Err(_) if store.data().interrupted => {
                let Host { used: fuel, extra, grown, .. } = *store.data();
                Ending::Interrupted { fuel, extra, grown }
            }
            Err(_) => Ending::Stopped,
        }
    }

    fn call(&self, store: &mut Store<Host>, args: &[Val]) -> wasmtime::Result<Returned> {
        let instance = self.prepared.instantiate(&mut *store)?;
        store.data_mut().running = true;
        let missing = || wasmtime::format_err!("the module lacks an export");
        let left = instance.get_global(&mut *store, Metered::LEFT).ok_or_else(missing)?;
        let depth = store.data().bounds.call_depth.max(1).min(Counted::MOST_DEPTH as u32 - 1);
        let counted = Counted { fuel: store.data().granted, depth: depth as i32 };
        left.set(&mut *store, Val::I64(counted.pack()))?;
        if self.starts {
            instance.get_typed_func::<(), ()>(&mut *store, Metered::START)?.call(&mut *store, ())?;
        }
        let run = instance.get_func(&mut *store, Metered::RUN).ok_or_else(missing)?;
        let mut results = vec![Val::I32(0); self.results.len()];
        run.call(&mut *store, args, &mut results)?;
        let fuel = Counted::of(left.get(&mut *store).unwrap_i64()).fuel;
        let extra = instance.get_global(&mut *store, Metered::EXTRA).ok_or_else(missing)?;
        let extra = extra.get(&mut *store).unwrap_i64().cast_unsigned();
        store.data_mut().spend(fuel);
        let values = self.results.iter().zip(&results).map(|(ty, of)| result(ty, of));
        let values = values.collect::<Option<Vec<Value>>>().ok_or_else(missing)?;
        Ok(Returned { values, fuel: store.data().used, extra, grown: store.data().grown })
    }
}

/// What the running code asks of us.
#[derive(Debug)]
pub(crate) struct Host {
    bounds: Bounds,
    /// Fuel that was used before what was granted last.
    used: u64,
    granted: i64,
    /// What bulk operators had cost when the run was interrupted.
    extra: u64,
    grown: u64,
    interrupted: bool,
    /// Whether it has what it begins with.
    running: bool,
    asks: Sender<u64>,
    answered: Receiver<Option<u64>>,
}

impl Host {
    /// Counts what was used of the fuel that was granted; what is left is negative where it was more.
    fn spend(&mut self, left: i64) {
        self.used += (self.granted - left).cast_unsigned();
        self.granted = 0;
    }

    fn grant(&mut self, slice: u64) {
        let most = (self.bounds.fuel - self.used).min(Counted::MOST_FUEL.cast_unsigned());
        self.granted = slice.min(most).cast_signed();
    }

    /// Says whether so much more fits.
    fn grow(&mut self, bytes: u64) -> wasmtime::Result<bool> {
        if self.running {
            self.grown = self.grown.saturating_add(bytes);
            if self.grown > self.bounds.more_memory {
                return Err(wasmtime::format_err!("too much memory"));
            }
        }
        Ok(true)
    }
}

/// What the code calls when there is no fuel left, or calls are too deep.
pub(crate) fn more(mut caller: Caller<'_, Host>, left: i64) -> wasmtime::Result<i64> {
    let Counted { fuel, depth } = Counted::of(left);
    if depth < 0 {
        return Err(wasmtime::format_err!("calls are too deep"));
    }
    let host = caller.data_mut();
    host.spend(fuel);
    if host.used > host.bounds.fuel {
        return Err(wasmtime::format_err!("no fuel is left"));
    }
    let answer = host.asks.send(host.used).ok().and_then(|()| host.answered.recv().ok()).flatten();
    let Some(slice) = answer else {
        let extra = caller.get_export(Metered::EXTRA).and_then(Extern::into_global);
        let extra = extra.map_or(0, |extra| extra.get(&mut caller).unwrap_i64().cast_unsigned());
        let host = caller.data_mut();
        (host.interrupted, host.extra) = (true, extra);
        return Err(wasmtime::format_err!("interrupted"));
    };
    host.grant(slice);
    Ok(Counted { fuel: host.granted, depth }.pack())
}

impl ResourceLimiter for Host {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        most: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > most.unwrap_or(MOST_MEMORY).min(MOST_MEMORY) {
            return Ok(false);
        }
        self.grow((desired - current) as u64)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        most: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if most.is_some_and(|most| desired > most) {
            return Ok(false);
        }
        self.grow((desired - current) as u64 * ENTRY)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error)
    }
}

/// A value as a machine word.
fn argument(value: &Value) -> Option<Val> {
    Some(match value {
        Value::Const(Const::Unit) => Val::I32(0),
        Value::Const(Const::Bool(value)) => Val::I32((*value).into()),
        Value::Const(Const::I8(value)) => Val::I32((*value).into()),
        Value::Const(Const::I16(value)) => Val::I32((*value).into()),
        Value::Const(Const::I32(value)) => Val::I32(*value),
        Value::Const(Const::I64(value)) => Val::I64(*value),
        Value::Const(Const::F32(bits)) => Val::F32(*bits),
        Value::Const(Const::F64(bits)) => Val::F64(*bits),
        Value::Ptr(_, address) => Val::I32(address.cast_signed()),
        _ => return None,
    })
}

/// The value of a type that a machine word is.
fn result(ty: &Type, word: &Val) -> Option<Value> {
    let scalar = match (ty, word) {
        (Type::Scalar(scalar), _) => scalar,
        (Type::Ptr(of), Val::I32(address)) => return Some(Value::Ptr(of.clone(), address.cast_unsigned())),
        (Type::Unit, _) => return Some(Value::Const(Const::Unit)),
        (_, _) => return None,
    };
    Some(Value::Const(match (scalar, word) {
        (Scalar::Bool, Val::I32(value)) => Const::Bool(*value != 0),
        (Scalar::I8, Val::I32(value)) => Const::I8(*value as i8),
        (Scalar::I16, Val::I32(value)) => Const::I16(*value as i16),
        (Scalar::I32, Val::I32(value)) => Const::I32(*value),
        (Scalar::I64, Val::I64(value)) => Const::I64(*value),
        (Scalar::F32, Val::F32(bits)) => Const::F32(*bits),
        (Scalar::F64, Val::F64(bits)) => Const::F64(*bits),
        (_, _) => return None,
    }))
}

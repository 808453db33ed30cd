//! What running code asks of us: more fuel, room, and the world outside.

use std::sync::mpsc::{Receiver, Sender};

use lmlang_interp::{Beyond, Called, HostFunction, Outside};
use lmlang_ir::{Const, Type, Value, Variant};
use lmlang_wasm::Counted;
use wasmtime::{
    AsContextMut, Caller, ExternType, Global, Linker, Memory, Module, ResourceLimiter, Val, ValType,
};

use crate::values::{Values, content};

/// The most bytes that a linear memory has.
const MOST_MEMORY: usize = 1 << 32;

/// Bytes that an entry of a table counts for.
const ENTRY: u64 = 8;

/// What the running code asks of us.
pub(crate) struct Host {
    pub(crate) outside: Outside,
    pub(crate) spent: Spent,
    /// Bytes that memories and tables may grow by once the code runs, those of the heap among them.
    pub(crate) most_growth: u64,
    /// Bytes that they have grown by.
    pub(crate) grown: u64,
    /// Whether it has what it begins with.
    pub(crate) running: bool,
    pub(crate) interrupted: bool,
    /// The status with which the program ended itself.
    pub(crate) exit: Option<u32>,
    /// What the module has for us, once there is an instance.
    pub(crate) module: Option<Handles>,
    pub(crate) line: Line,
    /// Bytes of input that there may be.
    pub(crate) most_input: u64,
}

/// The way to whoever runs the code, on another thread.
pub(crate) struct Line {
    pub(crate) asks: Sender<Ask>,
    pub(crate) fuel: Receiver<Option<u64>>,
    pub(crate) pieces: Receiver<Option<Vec<u8>>>,
    /// Bytes of output and of standard error that were told.
    pub(crate) told: (usize, usize),
}

/// What is asked, with what was printed since the last time.
pub(crate) struct Ask {
    pub(crate) wanted: Wanted,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// What the code needs to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// More fuel; so much was used.
    Fuel(u64),
    /// More input.
    Input,
}

/// What a module has for its host.
#[derive(Clone)]
pub(crate) struct Handles {
    pub(crate) left: Global,
    pub(crate) extra: Global,
    /// The program's own memory.
    pub(crate) memory: Option<Memory>,
    pub(crate) values: Option<Values>,
}

/// Fuel.
#[derive(Debug)]
pub(crate) struct Spent {
    /// How much there is.
    pub(crate) limit: u64,
    /// What was used before what was granted last.
    pub(crate) used: u64,
    pub(crate) granted: i64,
}

impl Spent {
    /// Counts what was used of the fuel that was granted; what is left is negative where it was more.
    pub(crate) fn spend(&mut self, left: i64) {
        self.used += (self.granted - left).cast_unsigned();
        self.granted = 0;
    }

    pub(crate) fn grant(&mut self, slice: u64) {
        let most = (self.limit - self.used).min(Counted::MOST_FUEL.cast_unsigned());
        self.granted = slice.min(most).cast_signed();
    }
}

impl Host {
    pub(crate) fn module(&self) -> wasmtime::Result<Handles> {
        self.module.clone().ok_or_else(|| wasmtime::format_err!("nothing runs"))
    }

    /// Asks; nobody who answers any more is as one who gives nothing.
    fn ask(&mut self, wanted: Wanted) {
        let (stdout, stderr) = self.outside.printed();
        let (told, told_errors) = std::mem::replace(&mut self.line.told, (stdout.len(), stderr.len()));
        let ask = Ask { wanted, stdout: stdout[told..].to_vec(), stderr: stderr[told_errors..].to_vec() };
        self.line.asks.send(ask).unwrap_or_default();
    }

    /// Waits for input, if that is what lacks and there is one who gives it.
    fn wait(&mut self, beyond: Beyond) -> wasmtime::Result<()> {
        match beyond {
            Beyond::Waits => {}
            Beyond::Stops => return Err(wasmtime::format_err!("the run stops here")),
            Beyond::Exits(status) => {
                self.exit = Some(status);
                return Err(wasmtime::format_err!("the program ended itself"));
            }
        }
        self.ask(Wanted::Input);
        let piece = self.line.pieces.recv().ok().flatten();
        let piece = piece.ok_or_else(|| wasmtime::format_err!("no input comes"))?;
        if self.outside.feed(&piece) > self.most_input {
            return Err(wasmtime::format_err!("too much input"));
        }
        Ok(())
    }

    /// Says whether so much more fits.
    fn grow(&mut self, bytes: u64) -> wasmtime::Result<bool> {
        if self.running {
            self.grown = self.grown.saturating_add(bytes);
            if self.grown > self.most_growth {
                return Err(wasmtime::format_err!("too much memory"));
            }
        }
        Ok(true)
    }
}

/// The number in a global of 64 bits.
pub(crate) fn number(of: Global, context: impl AsContextMut) -> i64 {
    of.get(context).unwrap_i64()
}

/// Gives a linker the functions that code may ask for.
pub(crate) fn link(linker: &mut Linker<Host>, module: &str, more_name: &str) -> wasmtime::Result<()> {
    linker.func_wrap(module, more_name, more)?;
    linker.func_wrap(module, "print", print)?;
    linker.func_wrap(module, "read_line", read_line)?;
    linker.func_wrap(module, "open_file", open_file)?;
    linker.func_wrap(module, "read_file", read_file)?;
    linker.func_wrap(module, "write_file", write_file)?;
    linker.func_wrap(module, "close_file", |mut caller: Caller<'_, Host>, file: i32| {
        caller.data_mut().outside.close(file.cast_unsigned());
    })?;
    Ok(())
}

/// Gives a linker the functions of the host that the program itself asks for. Others stop the run, here as in the
/// interpreter.
pub(crate) fn link_imports(linker: &mut Linker<Host>, module: &Module) -> wasmtime::Result<()> {
    let word = |ty: ValType| match ty {
        ValType::I32 => Some(Type::I32),
        ValType::I64 => Some(Type::I64),
        _ => None,
    };
    for import in module.imports() {
        let ExternType::Func(ty) = import.ty() else { continue };
        let (Some(params), Some(results)) = (
            ty.params().map(word).collect::<Option<Vec<_>>>(),
            ty.results().map(word).collect::<Option<Vec<_>>>(),
        ) else {
            continue;
        };
        let found = HostFunction::find(import.module(), import.name(), params.iter(), &results);
        if let Some(function) = found {
            linker.func_new(import.module(), import.name(), ty, move |caller, passed, answer| {
                call(caller, function, passed, answer)
            })?;
        }
    }
    linker.define_unknown_imports_as_traps(module)
}

/// Calls a function of the host for the program.
fn call(
    mut caller: Caller<'_, Host>,
    function: HostFunction,
    passed: &[Val],
    answer: &mut [Val],
) -> wasmtime::Result<()> {
    let Handles { left, memory, .. } = caller.data().module()?;
    // It is a call as any other.
    if Counted::of(number(left, &mut caller)).depth < 1 {
        return Err(wasmtime::format_err!("calls are too deep"));
    }
    let words = passed.iter().map(|value| match value {
        Val::I32(word) => u64::from(word.cast_unsigned()),
        other => other.unwrap_i64().cast_unsigned(),
    });
    let (bytes, host) = match memory {
        Some(memory) => memory.data_and_store_mut(&mut caller),
        None => (&mut [][..], caller.data_mut()),
    };
    let Called { answer: errno, fuel } = loop {
        match host.outside.call(function, words.clone(), bytes) {
            Ok(called) => break called,
            Err(beyond) => host.wait(beyond)?,
        }
    };
    answer.iter_mut().for_each(|answer| *answer = Val::I32(errno.into()));
    pay(&mut caller, fuel)
}

/// What the code calls when there is no fuel left, or calls are too deep.
fn more(mut caller: Caller<'_, Host>, left: i64) -> wasmtime::Result<i64> {
    let Counted { fuel, depth } = Counted::of(left);
    if depth < 0 {
        return Err(wasmtime::format_err!("calls are too deep"));
    }
    let host = caller.data_mut();
    host.spent.spend(fuel);
    if host.spent.used > host.spent.limit {
        return Err(wasmtime::format_err!("no fuel is left"));
    }
    host.ask(Wanted::Fuel(host.spent.used));
    let Some(slice) = host.line.fuel.recv().ok().flatten() else {
        host.interrupted = true;
        return Err(wasmtime::format_err!("interrupted"));
    };
    host.spent.grant(slice);
    Ok(Counted { fuel: host.spent.granted, depth }.pack())
}

/// Bytes that a unit of fuel pays for.
const BYTES_PER_FUEL: u64 = 64;

/// Takes fuel for bytes that an operator moves.
fn pay_for(caller: impl AsContextMut<Data = Host>, bytes: u64) -> wasmtime::Result<()> {
    pay(caller, bytes / BYTES_PER_FUEL)
}

/// Takes units of fuel beyond what nodes cost.
fn pay(mut caller: impl AsContextMut<Data = Host>, units: u64) -> wasmtime::Result<()> {
    let Handles { left, extra, .. } = caller.as_context().data().module()?;
    let units = units.cast_signed();
    let paid = number(extra, &mut caller) + units;
    extra.set(&mut caller, Val::I64(paid))?;
    let Counted { fuel, depth } = Counted::of(number(left, &mut caller));
    left.set(&mut caller, Val::I64(Counted { fuel: fuel - units, depth }.pack()))
}

/// What a text or bytes have.
fn held(caller: &Caller<'_, Host>, value: i32) -> wasmtime::Result<Vec<u8>> {
    let values = caller.data().module()?.values;
    let values = values.ok_or_else(|| wasmtime::format_err!("there are no values"))?;
    content(values.memory.data(caller), value.cast_unsigned()).map(<[u8]>::to_vec)
}

fn text(caller: &Caller<'_, Host>, value: i32) -> wasmtime::Result<String> {
    Ok(String::from_utf8(held(caller, value)?)?)
}

/// Makes a value for the code.
fn give(caller: &mut Caller<'_, Host>, value: &Value) -> wasmtime::Result<i32> {
    let values = caller.data().module()?.values;
    let values = values.ok_or_else(|| wasmtime::format_err!("there are no values"))?;
    // It is made of nothing that a program defines.
    let given = values.put(&lmlang_ir::Program::default(), &mut *caller, value)?;
    given.map(|bits| bits as i32).ok_or_else(|| wasmtime::format_err!("no value"))
}

fn print(mut caller: Caller<'_, Host>, value: i32) -> wasmtime::Result<()> {
    let text = text(&caller, value)?;
    let outside = &mut caller.data_mut().outside;
    let cost = outside.print(&text).map_err(|_| wasmtime::format_err!("too much output"))?;
    pay_for(&mut caller, cost)
}

fn read_line(mut caller: Caller<'_, Host>) -> wasmtime::Result<i32> {
    let host = caller.data_mut();
    let (line, cost) = loop {
        match host.outside.read_line() {
            Ok(read) => break read,
            Err(beyond) => host.wait(beyond)?,
        }
    };
    pay_for(&mut caller, cost)?;
    let of = std::sync::Arc::new(Type::String);
    let value = match line {
        Some(line) => {
            Value::Enum(Variant::Some(of), Some(Box::new(Value::Const(Const::String(line.into())))))
        }
        None => Value::Enum(Variant::None(of), None),
    };
    give(&mut caller, &value)
}

fn open_file(mut caller: Caller<'_, Host>, path: i32, writes: i32) -> wasmtime::Result<i32> {
    let path = text(&caller, path)?;
    let (opened, cost) = caller.data_mut().outside.open(&path, writes != 0);
    pay_for(&mut caller, cost)?;
    Ok(opened)
}

fn read_file(mut caller: Caller<'_, Host>, file: i32, most: i32) -> wasmtime::Result<i32> {
    let host = caller.data_mut();
    let (bytes, cost) = loop {
        match host.outside.read(file.cast_unsigned(), most.cast_unsigned() as usize) {
            Ok(read) => break read,
            Err(beyond) => host.wait(beyond)?,
        }
    };
    pay_for(&mut caller, cost)?;
    give(&mut caller, &Value::Const(Const::Bytes(bytes.into())))
}

fn write_file(mut caller: Caller<'_, Host>, file: i32, bytes: i32) -> wasmtime::Result<i32> {
    let bytes = held(&caller, bytes)?;
    let outside = &mut caller.data_mut().outside;
    let written = outside.write(file.cast_unsigned(), &bytes);
    let (written, cost) = written.map_err(|_| wasmtime::format_err!("too much output"))?;
    pay_for(&mut caller, cost)?;
    Ok(written)
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

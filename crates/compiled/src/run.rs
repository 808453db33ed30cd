//! Running compiled code within bounds.

use std::sync::mpsc::channel;
use std::thread;

use lmlang_interp::{Fault, Options, Outcome, Outside, Place, Run, RunResult};
use lmlang_ir::{FuncRef, Program, Value};
use lmlang_wasm::{Counted, Metered};
use wasmtime::{Instance, Store, UnknownImportError, Val};

use crate::host::{Handles, Host, Line, Spent, Wanted, number};
use crate::unit::Unit;
use crate::values::{Values, argument, result};

/// Bytes of a run's stack; pages that it does not use cost nothing.
pub(crate) const STACK: usize = 64 << 20;

/// What a run in the interpreter holds before its first step, which the same run as compiled code holds too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The most bytes so far.
    peak: u64,
    /// Bytes of linear memory and tables.
    storage: u64,
    /// Bytes of values.
    values: u64,
}

impl Start {
    /// Of a run that has not begun.
    pub fn of(run: &Run) -> Start {
        let (storage, values) = run.held();
        Start { peak: run.memory_peak(), storage, values }
    }
}

/// Whether a run ended at a function that the interpreter has no code for, which compiled code may well have.
pub(crate) fn is_too_large(run: &Run) -> bool {
    matches!(run.outcome(), Some(Outcome::Trapped { fault: Fault::TooLarge(_), .. }))
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The function returned.
    Returned(Box<RunResult>),
    /// It trapped, a contract did not hold, or it met a bound, or may have: the interpreter says which and where.
    Stopped,
    /// It called a function that only the host has, and that there is none of here.
    Missing {
        /// The module that it is imported from.
        module: String,
        /// Its name there.
        name: String,
    },
    /// Whoever runs it gave no more: what it did until then, as if it had been cancelled.
    Interrupted(Box<RunResult>),
}

impl Ending {
    /// One without a result.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Ending::Stopped | Ending::Missing { .. })
    }
}

/// Whoever runs compiled code; is asked from time to time, on the thread that waits for its end.
pub trait Runner {
    /// How much fuel the next slice has, after so much was used; nothing ends the run.
    fn fuel(&mut self, used: u64) -> Option<u64>;

    /// The next piece of input that was not all given at the start, empty at its end; without one the run stops.
    fn input(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Is given, before each question, what was printed and what went to standard error since the one before.
    fn printed(&mut self, _stdout: &[u8], _stderr: &[u8]) {}
}

impl<F: FnMut(u64) -> Option<u64>> Runner for F {
    fn fuel(&mut self, used: u64) -> Option<u64> {
        self(used)
    }
}

/// What is run.
#[derive(Clone, Copy)]
struct Request<'r> {
    program: &'r Program,
    function: FuncRef,
    args: &'r [Value],
    options: &'r Options,
    start: Start,
}

/// Whether the run was left to the host, and of what.
fn missing(error: &wasmtime::Error) -> Option<Ending> {
    let import = error.downcast_ref::<UnknownImportError>()?;
    Some(Ending::Missing { module: import.module().to_owned(), name: import.name().to_owned() })
}

impl Unit {
    /// Runs what a run in the interpreter runs, from the start, with the input that has come to it.
    ///
    /// One that has ended before its first step, as where a segment does not fit, ends here too: memory that the function
    /// does not reach, and what is put into it, are not part of the code. One that came to a function which is too large for
    /// the interpreter runs here from the start.
    pub fn run(&self, run: &Run, start: Start, runner: &mut dyn Runner) -> Ending {
        if run.outcome().is_some() && !is_too_large(run) {
            return Ending::Stopped;
        }
        let request = Request {
            program: run.checked().program(),
            function: run.function(),
            args: run.args(),
            options: run.options(),
            start,
        };
        let limits = request.options.limits;
        let (asks, asked) = channel();
        let (gives_fuel, fuel) = channel();
        let (gives_input, pieces) = channel();
        let mut host = Host {
            outside: Outside::new(&run.given(), limits.output_bytes, limits.memory_bytes),
            spent: Spent { limit: limits.fuel, used: 0, granted: 0 },
            most_growth: self.room(start, limits.memory_bytes),
            grown: 0,
            running: false,
            interrupted: false,
            exit: None,
            module: None,
            line: Line { asks, fuel, pieces, told: (0, 0) },
            most_input: limits.memory_bytes,
        };
        let Some(slice) = runner.fuel(0) else {
            return Ending::Interrupted(Box::new(cancelled(&mut host, 0, start)));
        };
        host.spent.grant(slice);
        thread::scope(|scope| {
            let run = thread::Builder::new().name("compiled".to_owned()).stack_size(STACK);
            let Ok(run) = run.spawn_scoped(scope, move || self.execute(host, request)) else {
                return Ending::Stopped;
            };
            while let Ok(ask) = asked.recv() {
                if !ask.stdout.is_empty() || !ask.stderr.is_empty() {
                    runner.printed(&ask.stdout, &ask.stderr);
                }
                let listens = match ask.wanted {
                    Wanted::Fuel(used) => gives_fuel.send(runner.fuel(used)).is_ok(),
                    Wanted::Input => gives_input.send(runner.input()).is_ok(),
                };
                // One that does not listen any more has ended.
                if !listens {
                    break;
                }
            }
            run.join().unwrap_or(Ending::Stopped)
        })
    }

    /// Bytes that memories and tables may grow by while the code runs: with what there is at the start they hold no more
    /// than the bound says. A run whose values take up more here, where their room is a power of two, is one for the
    /// interpreter anyway: see [`Held::fits`].
    fn room(&self, start: Start, memory_bytes: u64) -> u64 {
        /// Bytes that values have room for whatever the bound is: a few pages of 64 KiB.
        const LEAST: u64 = 1 << 20;
        let left = memory_bytes.saturating_sub(start.storage);
        if self.heap { left.max(LEAST) } else { left }
    }

    fn execute(&self, host: Host, request: Request<'_>) -> Ending {
        let mut store = Store::new(self.prepared.module().engine(), host);
        store.limiter(|host| host);
        match self.call(&mut store, request) {
            Ok(Some(result)) => Ending::Returned(Box::new(result)),
            Ok(None) => Ending::Stopped,
            Err(_) if store.data().interrupted => self.interrupted(&mut store, request.start),
            Err(error) => missing(&error).unwrap_or(Ending::Stopped),
        }
    }

    /// Calls the function. Nothing where its result is not one, or a run in the interpreter might have met a bound.
    fn call(&self, store: &mut Store<Host>, request: Request<'_>) -> wasmtime::Result<Option<RunResult>> {
        let Request { program, function, args, options, start } = request;
        let instance = self.prepared.instantiate(&mut *store)?;
        let global = |store: &mut Store<Host>, name| instance.get_global(store, name).ok_or_else(lacking);
        let left = global(store, Metered::LEFT)?;
        let extra = global(store, Metered::EXTRA)?;
        let values = match self.heap {
            true => Some(Values {
                memory: instance.get_memory(&mut *store, Metered::HEAP).ok_or_else(lacking)?,
                new: instance.get_typed_func(&mut *store, Metered::NEW)?,
                live: global(store, Metered::LIVE)?,
                peak: global(store, Metered::PEAK)?,
                places: global(store, Metered::PLACES)?,
            }),
            false => None,
        };
        let room = |store: &Store<Host>| values.as_ref().map_or(0, |values| values.memory.data_size(store));
        let room_before = room(store);
        let memory = instance.get_memory(&mut *store, Metered::MEMORY);
        store.data_mut().module = Some(Handles { left, extra, memory, values: values.clone() });
        store.data_mut().running = true;
        let head = program.function(function).ok_or_else(lacking)?.head();
        let mut words = Vec::with_capacity(args.len());
        for (param, arg) in head.params.iter().zip(args) {
            match argument(program, values.as_ref(), &mut *store, (&param.ty, arg))? {
                Some(word) => words.push(word),
                None => return Ok(None),
            }
        }
        let of_args = values.as_ref().map_or(0, |values| number(values.live, &mut *store));
        let depth = options.limits.call_depth.max(1).min(Counted::MOST_DEPTH as u32 - 1);
        let counted = Counted { fuel: store.data().spent.granted, depth: depth as i32 };
        left.set(&mut *store, Val::I64(counted.pack()))?;
        let mut results = vec![Val::I32(0); head.results.len()];
        if let Err(error) = self.call_both(store, &instance, &words, &mut results)
            && (store.data().exit != Some(0) || !results.is_empty())
        {
            return Err(error);
        }
        let fuel = Counted::of(number(left, &mut *store)).fuel;
        store.data_mut().spent.spend(fuel);
        let grown = store.data().grown - (room(store) - room_before) as u64;
        let held = Held {
            start,
            storage: start.storage.saturating_add(grown),
            values: values.as_ref().map_or(start.values, |values| {
                // What the arguments took is in both, unless something else was run before they were there.
                let twice = if self.starts { 0 } else { of_args.cast_unsigned() };
                (start.values + number(values.peak, &mut *store).cast_unsigned()).saturating_sub(twice)
            }),
            places: values.as_ref().map_or(0, |of| number(of.places, &mut *store).cast_unsigned())
                + self.globals,
            constants: self.constants,
        };
        let host = store.data();
        if host.spent.used > host.spent.limit
            || !held.fits(&host.outside, options.limits.memory_bytes, self.heap)
        {
            return Ok(None);
        }
        let mut found = Vec::with_capacity(results.len());
        for of in head.results.iter().zip(&results) {
            match result(program, values.as_ref(), &mut *store, of)? {
                Some(value) => found.push(value),
                None => return Ok(None),
            }
        }
        let paid = number(extra, &mut *store).cast_unsigned();
        let host = store.data_mut();
        let memory_peak = held.peak(&host.outside);
        Ok(Some(ended(host, Outcome::Returned { values: found }, paid, memory_peak)))
    }

    /// Calls the start function of the program, if there is one, and the function that is run.
    fn call_both(
        &self,
        store: &mut Store<Host>,
        instance: &Instance,
        args: &[Val],
        results: &mut [Val],
    ) -> wasmtime::Result<()> {
        if self.starts {
            instance.get_typed_func::<(), ()>(&mut *store, Metered::START)?.call(&mut *store, ())?;
        }
        let run = instance.get_func(&mut *store, Metered::RUN);
        run.ok_or_else(lacking)?.call(&mut *store, args, results)
    }

    fn interrupted(&self, store: &mut Store<Host>, start: Start) -> Ending {
        let module = store.data().module.clone();
        let paid = module.map_or(0, |module| number(module.extra, &mut *store).cast_unsigned());
        Ending::Interrupted(Box::new(cancelled(store.data_mut(), paid, start)))
    }
}

fn lacking() -> wasmtime::Error {
    wasmtime::format_err!("the module lacks an export")
}

/// What a run has held.
struct Held {
    start: Start,
    /// The most bytes of linear memory and tables.
    storage: u64,
    /// The most bytes of values.
    values: u64,
    /// The most places that held values at once.
    places: u64,
    /// Bytes of values that are there for good.
    constants: u64,
}

impl Held {
    /// Whether a run in the interpreter certainly stays within its bound as well. It may keep a value longer than compiled
    /// code, and copy one that something else still has: but never more than each of its places holds, and none holds more
    /// than all values took here when it came to be.
    fn fits(&self, outside: &Outside, memory_bytes: u64, heap: bool) -> bool {
        /// Values that an operator works on, and room that it asks for ahead of its result.
        const AT_WORK: u64 = 16;
        /// Places that a run has whatever its bound is, and bytes of one.
        const PLACES: u64 = 1 << 14;
        const PLACE: u64 = 8;
        let others = self.storage.saturating_add(self.constants).saturating_add(outside.most_bytes());
        if !heap {
            return others <= memory_bytes;
        }
        let values = (self.places + AT_WORK).saturating_mul(self.values);
        let all = values.saturating_add(others);
        all <= memory_bytes && self.places <= (memory_bytes / PLACE).max(PLACES)
    }

    /// The most bytes of all at once.
    fn peak(&self, outside: &Outside) -> u64 {
        self.start.peak.max(self.storage + self.values + outside.bytes())
    }
}

fn ended(host: &mut Host, outcome: Outcome, paid: u64, memory_peak: u64) -> RunResult {
    let (stdout, stderr, written) = host.outside.end();
    let fuel_used = host.spent.used;
    RunResult { outcome, steps: fuel_used - paid, fuel_used, memory_peak, stdout, stderr, written }
}

fn cancelled(host: &mut Host, paid: u64, start: Start) -> RunResult {
    let memory_peak = start.peak.max(start.storage + host.grown);
    ended(host, Outcome::Cancelled { place: Place::default() }, paid, memory_peak)
}

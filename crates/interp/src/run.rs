//! Runs: slices, limits, linking, and how they end.

mod beside;
mod coverage;
mod ending;
mod fuel;
mod link;
mod snapshot;
mod standing;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use lmlang_ir::{FuncRef, Signature, Type, Value, VarRef};
use lmlang_verify::Checked;
use thiserror::Error;

use crate::cache::Cache;
use crate::code::{Code, Ins, Lowering, Opcode, WINDOW};
use crate::exec::Linked;
use crate::heap::{self, Obj};
use crate::machine::{Frame, Limit, Machine, Stop};
use crate::marks::Marks;
use crate::outcome::{Fault, LimitKind, Outcome, Place};
use crate::record::Piece;
use crate::value::{Budget, Class, Word, class, show, take_in};
use crate::world::{Environment, World, Written};

pub use coverage::{Observer, Reach, Reached};
pub(crate) use snapshot::Snapshot;
pub(crate) use standing::Held;

/// Bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Executed nodes, with what bulk operators cost beyond.
    pub fuel: u64,
    /// Bytes of linear memory and of the value heap together.
    pub memory_bytes: u64,
    /// Nested calls.
    pub call_depth: u32,
    /// Bytes of standard output and standard error together.
    pub output_bytes: u64,
}

impl Limits {
    /// The bound of one kind, if it is one of these.
    pub(crate) fn of(&self, limit: LimitKind) -> Option<u64> {
        match limit {
            LimitKind::Fuel => Some(self.fuel),
            LimitKind::Memory => Some(self.memory_bytes),
            LimitKind::Depth => Some(self.call_depth.into()),
            LimitKind::Output => Some(self.output_bytes),
            LimitKind::Time | LimitKind::Trace => None,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { fuel: 100_000_000, memory_bytes: 256 << 20, call_depth: 10_000, output_bytes: 1 << 20 }
    }
}

/// What a run depends on besides the program, the function and its arguments.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bounds.
    pub limits: Limits,
    /// What it is given besides arguments.
    pub environment: Environment,
    /// Whether to find out the values at the place where a run stopped: it is run again up to there.
    pub inspect: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { limits: Limits::default(), environment: Environment::default(), inspect: true }
    }
}

/// Why a run cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// There is no such function.
    #[error("there is no function `{0}`")]
    NoFunction(FuncRef),
    /// Another number of arguments is wanted.
    #[error("expected {expected} arguments, found {found}")]
    Arity {
        /// Parameters of the function.
        expected: usize,
        /// Arguments that were given.
        found: usize,
    },
    /// An argument is of another type.
    #[error("argument {index} is no `{expected}`")]
    Argument {
        /// Its position.
        index: usize,
        /// The type of the parameter.
        expected: Type,
    },
    /// The function takes captured values, so that only a closure can be called.
    #[error("`{0}` captures values: only closures made from it can be called")]
    Captures(FuncRef),
}

/// Whether a run goes on after a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The slice was used up.
    Paused,
    /// The program reads input that has not come: [`Run::feed`] gives it. Only where [`crate::Input::open`] was given.
    Waiting,
    /// There is an outcome.
    Done,
}

/// What the caller wants after a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Another slice.
    Continue,
    /// The end: someone cancelled.
    Cancel,
    /// The end: the time is over.
    TimeOut,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// How it ended.
    pub outcome: Outcome,
    /// Executed nodes.
    pub steps: u64,
    /// Executed nodes, with what bulk operators cost beyond.
    pub fuel_used: u64,
    /// The most bytes of linear memory, of the value heap and of files that were written.
    pub memory_peak: u64,
    /// What was printed.
    pub stdout: Vec<u8>,
    /// What was written to standard error.
    pub stderr: Vec<u8>,
    /// What became of files and folders.
    pub written: Written,
}

/// Instructions that every run starts with: asks for a function to be decoded; ends the run.
const LINK: usize = 0;
const HALT: usize = 1;
const FIRST: usize = 2;

/// Slots of the stack at the start, beyond the window of padding.
const STACK: usize = 1 << 14;
/// Words of code at the start, beyond the window of padding.
const ARENA: usize = 1 << 13;

/// A run of a function.
///
/// It is a function of the program, the arguments and the options; where slices end makes no difference.
#[derive(Debug)]
pub struct Run {
    pub(crate) checked: Checked,
    cache: Cache,
    pub(crate) lowering: Lowering,
    options: Options,
    function: FuncRef,
    args: Vec<Value>,
    pub(crate) machine: Machine,
    arena: Vec<Ins>,
    arena_used: usize,
    /// Where the code of functions starts in the arena, in order.
    starts: Vec<(u32, u32)>,
    stack: Vec<u64>,
    funcs: Vec<Linked>,
    index: HashMap<FuncRef, u32>,
    signatures: HashMap<Signature, u32>,
    storage: Vec<VarRef>,
    /// Calls to be made, the current one first: the start function, then the one that was asked for.
    calls: VecDeque<(FuncRef, Vec<Value>)>,
    /// Fuel that has not been charged.
    left: u64,
    /// Bytes alive on the value heap.
    live: u64,
    /// Which nodes it pauses before; their first instructions are replaced by marks in the arena.
    marks: Marks,
    /// What was reached for the first time, where that is asked for.
    reached: Option<Vec<Reached>>,
    /// Where values are noted, if they are.
    pub(crate) noted: Option<Piece>,
    outcome: Option<Outcome>,
}

/// Runs a function to its end, in slices of `slice` fuel, after each of which `control` is asked. Its input is all given.
pub fn run(
    checked: &Checked,
    function: FuncRef,
    args: &[Value],
    options: &Options,
    cache: &Cache,
    slice: u64,
    control: &mut dyn FnMut(&Run) -> Control,
) -> Result<RunResult, StartError> {
    let mut run = Run::new(checked, function, args, options, cache)?;
    while run.resume(slice) == Progress::Paused {
        match control(&run) {
            Control::Continue => {}
            Control::Cancel => run.cancel(),
            Control::TimeOut => run.time_out(),
        }
    }
    Ok(run.into_result())
}

impl Run {
    /// Prepares a run.
    pub fn new(
        checked: &Checked,
        function: FuncRef,
        args: &[Value],
        options: &Options,
        cache: &Cache,
    ) -> Result<Run, StartError> {
        Run::with_lowering(checked, function, args, options, cache, Lowering::Fast)
    }

    /// Prepares a run of code that was lowered in a given way. Both ways do the same.
    pub fn with_lowering(
        checked: &Checked,
        function: FuncRef,
        args: &[Value],
        options: &Options,
        cache: &Cache,
        lowering: Lowering,
    ) -> Result<Run, StartError> {
        let mut run = Run::blank(checked, function, options, cache, lowering);
        run.start(args)?;
        Ok(run)
    }

    /// Puts the machine at the start of the run with these arguments. What was decoded stays.
    pub(crate) fn start(&mut self, args: &[Value]) -> Result<(), StartError> {
        let (checked, function) = (self.checked.clone(), self.function);
        let program = checked.program();
        let found = program.function(function).ok_or(StartError::NoFunction(function))?;
        let params = &found.head().params;
        if params.len() != args.len() {
            return Err(StartError::Arity { expected: params.len(), found: args.len() });
        }
        if !found.head().captures.is_empty() {
            return Err(StartError::Captures(function));
        }
        heap::set_live(self.live);
        self.machine = machine(&self.options);
        self.calls.clear();
        (self.left, self.live) = (fuel(&self.options), 0);
        (self.noted, self.outcome) = (None, None);
        self.args = args.to_vec();
        // Arguments are checked now, so that a wrong one is an error and not an outcome.
        heap::set_live(0);
        for (index, (param, arg)) in params.iter().zip(args).enumerate() {
            let mut intern = |of| self.intern(of);
            if take_in(program, &param.ty, arg, &mut intern).is_none() {
                return Err(StartError::Argument { index, expected: param.ty.clone() });
            }
        }
        if checked.function(function).is_none() {
            self.outcome = Some(Outcome::NotVerified { function });
            return Ok(());
        }
        let mut machine = std::mem::take(&mut self.machine);
        let storage = machine.instantiate(program, |of| self.intern(of));
        self.machine = machine;
        self.live = heap::live();
        let start =
            program.functions().find(|(of, f)| f.head().start && *of != function).map(|found| found.0);
        self.calls.extend(start.map(|of| (of, Vec::new())));
        self.calls.push_back((function, args.to_vec()));
        match storage {
            Ok(storage) => {
                self.storage = storage;
                self.begin();
            }
            Err(why) => self.finish(why),
        }
        Ok(())
    }

    /// A run that has no globals and memory yet, and has entered nothing.
    fn blank(
        checked: &Checked,
        function: FuncRef,
        options: &Options,
        cache: &Cache,
        lowering: Lowering,
    ) -> Run {
        let mut arena = vec![[0; 4]; FIRST + ARENA + WINDOW];
        arena[LINK] = [Opcode::Link as u16, 0, 0, 0];
        arena[HALT] = [Opcode::Halt as u16, 0, 0, 0];
        Run {
            checked: checked.clone(),
            cache: cache.clone(),
            lowering,
            options: options.clone(),
            function,
            args: Vec::new(),
            machine: machine(options),
            arena,
            arena_used: FIRST,
            starts: Vec::new(),
            stack: vec![0; STACK + WINDOW],
            funcs: Vec::new(),
            index: HashMap::new(),
            signatures: HashMap::new(),
            storage: Vec::new(),
            calls: VecDeque::new(),
            left: fuel(options),
            live: 0,
            marks: Marks::default(),
            reached: None,
            noted: None,
            outcome: None,
        }
    }

    /// The function that was asked for.
    pub fn function(&self) -> FuncRef {
        self.function
    }

    /// The arguments.
    pub fn args(&self) -> &[Value] {
        &self.args
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What it is given besides arguments, with as much of its input as has come.
    pub fn given(&self) -> Environment {
        Environment { stdin: self.machine.world.input.clone(), ..self.options.environment.clone() }
    }

    /// The program that runs.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// How the run ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Fuel used so far.
    pub fn fuel_used(&self) -> u64 {
        let charged = fuel(&self.options) - self.left;
        charged - self.ahead()
    }

    /// Nodes executed so far.
    pub fn steps(&self) -> u64 {
        self.fuel_used() - self.machine.extra
    }

    /// The most bytes of linear memory and of the value heap so far.
    pub fn memory_peak(&self) -> u64 {
        self.machine.memory_peak
    }

    /// Bytes of linear memory and tables, and of values of the heap.
    pub fn held(&self) -> (u64, u64) {
        (self.machine.memory.len() as u64 + self.machine.table_bytes, self.live)
    }

    /// What was printed so far.
    pub fn stdout(&self) -> &[u8] {
        &self.machine.world.stdout
    }

    /// What was written to standard error so far.
    pub fn stderr(&self) -> &[u8] {
        &self.machine.world.stderr
    }

    /// Gives the program more of its standard input; an empty piece is the end of it.
    ///
    /// All of it is kept, so that the run can be shown again: where that takes more than the limit of memory, the run ends.
    pub fn feed(&mut self, piece: &[u8]) {
        let bytes = self.machine.world.input.bytes().len() + piece.len();
        if bytes as u64 > self.options.limits.memory_bytes {
            if self.outcome.is_none() {
                self.finish(Stop::Limit(Limit::Memory));
            }
            return;
        }
        self.machine.world.input.push(piece);
    }

    /// Another run of the same from the start, with the input that this one was given, lowered in a given way.
    pub(crate) fn again(&self, lowering: Lowering, limits: Limits) -> Option<Run> {
        let stdin = self.machine.world.input.seen();
        let environment = Environment { stdin, ..self.options.environment.clone() };
        let options = Options { limits, environment, inspect: false };
        Run::with_lowering(&self.checked, self.function, &self.args, &options, &self.cache, lowering).ok()
    }

    /// Ends the run because someone wants so.
    pub fn cancel(&mut self) {
        if self.outcome.is_none() {
            self.finish(Stop::Cancelled);
        }
    }

    /// Ends the run because its time is over.
    pub fn time_out(&mut self) {
        if self.outcome.is_none() {
            self.finish(Stop::Limit(Limit::Time));
        }
    }

    /// What the run did. Cancels a run that has not ended.
    pub fn into_result(mut self) -> RunResult {
        self.cancel();
        if self.options.inspect && self.lowering == Lowering::Fast {
            self.inspect();
        }
        let (stdout, stderr, written) = self.machine.world.end();
        RunResult {
            steps: self.steps(),
            fuel_used: self.fuel_used(),
            memory_peak: self.machine.memory_peak,
            stdout,
            stderr,
            written,
            outcome: self.outcome.take().unwrap_or(Outcome::Cancelled { place: Place::default() }),
        }
    }

    /// What the run did, once it has ended.
    pub fn result(&self) -> Option<RunResult> {
        Some(RunResult {
            outcome: self.outcome.clone()?,
            steps: self.steps(),
            fuel_used: self.fuel_used(),
            memory_peak: self.machine.memory_peak,
            stdout: self.machine.world.stdout.clone(),
            stderr: self.machine.world.stderr.clone(),
            written: self.machine.world.written(),
        })
    }

    /// The code that the machine is in, and the position in it.
    pub(crate) fn code(&self) -> Option<(&Arc<Code>, usize)> {
        self.code_of(self.machine.func, self.machine.window, self.machine.pc)
    }

    /// The function whose code a word of the arena is of, its code, and where in that the word is.
    pub(crate) fn code_from(&self, word: usize) -> Option<(FuncRef, &Code, usize)> {
        let found = self.starts.partition_point(|(start, _)| *start as usize <= word).checked_sub(1)?;
        let (start, func) = self.starts[found];
        let linked = &self.funcs[func as usize];
        Some((linked.of, linked.code.as_deref()?, word - start as usize))
    }

    /// A function that was entered, by its position in the list, and its code.
    pub(crate) fn linked(&self, func: u32) -> Option<(FuncRef, &Arc<Code>)> {
        let linked = self.funcs.get(func as usize)?;
        Some((linked.of, linked.code.as_ref()?))
    }

    fn code_of(&self, func: u32, window: u32, pc: usize) -> Option<(&Arc<Code>, usize)> {
        let linked = self.funcs.get(func as usize)?;
        let at = (window as usize + pc).checked_sub(linked.window as usize)?;
        linked.code.as_ref().filter(|code| at < code.words.len()).map(|code| (code, at))
    }

    /// Starts the first of the calls that are left.
    fn begin(&mut self) {
        let Some((function, args)) = self.calls.front().cloned() else { return };
        let checked = self.checked.clone();
        let program = checked.program();
        let params = program.function(function).map_or(&[][..], |found| &found.head().params);
        heap::set_live(self.live);
        let word = |(param, arg): (&lmlang_ir::Param, &Value)| {
            let word = take_in(program, &param.ty, arg, &mut |of| self.intern(of));
            word.unwrap_or(Word::Num(0))
        };
        let words: Vec<Word> = params.iter().zip(&args).map(word).collect();
        self.live = heap::live();
        self.enter(function, words);
    }

    /// Enters a function that nothing is called around.
    fn enter(&mut self, function: FuncRef, args: Vec<Word>) {
        let func = self.intern(function);
        let (mut slot, mut reference) = (0, 0);
        for arg in args {
            match arg {
                Word::Num(value) => {
                    self.stack[slot] = value;
                    slot += 1;
                }
                Word::Ref(obj) => {
                    if self.machine.refs.len() <= reference {
                        self.machine.refs.resize(reference + 1, Obj::default());
                    }
                    self.machine.refs[reference] = obj;
                    reference += 1;
                }
            }
        }
        self.machine.frames.push(Frame { func, window: LINK as u32, pc: HALT as u32, base: 0, rbase: 0 });
        self.machine.func = func;
        self.machine.window = self.funcs[func as usize].window;
        self.machine.base = 0;
        self.machine.rbase = 0;
        self.machine.pc = 0;
        self.machine.charged = false;
    }

    fn halt(&mut self) {
        self.machine.charged = false;
        let Some((function, _)) = self.calls.pop_front() else { return };
        if !self.calls.is_empty() {
            return self.begin();
        }
        let checked = self.checked.clone();
        let program = checked.program();
        let results = program.function(function).map_or(&[][..], |found| &found.head().results);
        let (mut slot, mut reference) = (0, 0);
        let mut values = Vec::with_capacity(results.len());
        for ty in results {
            let word = match class(ty) {
                Class::Num => {
                    slot += 1;
                    Word::Num(self.stack[slot - 1])
                }
                Class::Ref => {
                    reference += 1;
                    Word::Ref(self.machine.refs.get(reference - 1).cloned().unwrap_or_default())
                }
            };
            match show(program, ty, &word, &|index| self.name(index), Budget::WHOLE) {
                Some(shown) if !shown.cut => values.push(shown.value),
                Some(_) => {
                    // A result that does not fit an answer is like output that does not.
                    let (limit, bound) = (LimitKind::Output, None);
                    self.outcome = Some(Outcome::LimitReached { limit, bound, place: Place::default() });
                    return;
                }
                None => {
                    let fault = Fault::Trap(lmlang_ir::Trap::UninitializedElement);
                    self.outcome = Some(Outcome::Trapped { fault, place: Place::default() });
                    return;
                }
            }
        }
        self.outcome = Some(Outcome::Returned { values });
    }

    /// The function at a position of the list.
    pub(crate) fn name(&self, index: u32) -> Option<FuncRef> {
        self.funcs.get(index as usize).map(|linked| linked.of)
    }
}

/// A machine that has nothing yet.
fn machine(options: &Options) -> Machine {
    let limits = options.limits;
    Machine {
        world: World::new(&options.environment, limits.output_bytes),
        memory_limit: limits.memory_bytes,
        depth_limit: limits.call_depth as usize,
        extra_limit: i64::MAX,
        ..Machine::default()
    }
}

/// The fuel of a run, as far as it can be counted.
fn fuel(options: &Options) -> u64 {
    options.limits.fuel.min(i64::MAX as u64 / 4)
}

/// Values of the heap are counted on the thread that drops them, which may be any.
impl Drop for Run {
    fn drop(&mut self) {
        heap::set_live(self.live);
    }
}

//! Running a function on one input after the other, in slices.

use lmlang_interp::{
    Cache, Environment, Input, Limits, Observer, Options as RunOptions, Outcome, Progress, Reached, Run,
    StartError,
};
use lmlang_ir::{FuncRef, Value};
use lmlang_verify::Checked;

use crate::verdict::{Verdict, judge};

/// What a slice pays for an input besides the fuel of its run, at least: it has to be made, taken in and judged. What
/// is large costs more, and so does the memory of a program, which is set up for each run.
const INPUT_FUEL: u64 = 1_000;
/// Bytes for one more fuel, of arguments and of memory.
const ARGUMENT_BYTES: u64 = 4;
const MEMORY_BYTES: u64 = 64;

/// Runs one function of one program.
#[derive(Debug)]
pub(crate) struct Probe {
    checked: Checked,
    function: FuncRef,
    options: RunOptions,
    cache: Cache,
    observer: Option<Observer>,
}

impl Probe {
    pub(crate) fn new(
        checked: &Checked,
        function: FuncRef,
        limits: Limits,
        environment: &Environment,
        cache: &Cache,
    ) -> Probe {
        let options = RunOptions { limits, environment: environment.clone(), inspect: false };
        Probe { checked: checked.clone(), function, options, cache: cache.clone(), observer: None }
    }

    pub(crate) fn function(&self) -> FuncRef {
        self.function
    }

    /// Gives the runs that begin from here on another standard input.
    pub(crate) fn give(&mut self, stdin: Input) {
        if let Some(observer) = &mut self.observer {
            observer.give(stdin.clone());
        }
        self.options.environment.stdin = stdin;
    }

    /// Begins a run, whatever became of the one before, and takes what that costs from the fuel.
    pub(crate) fn begin(&mut self, args: &[Value], fuel: &mut u64) -> Result<(), StartError> {
        let bytes: usize = args.iter().map(Value::heap_bytes).sum();
        *fuel = fuel.saturating_sub(INPUT_FUEL + bytes as u64 / ARGUMENT_BYTES);
        let observer = match self.observer.take() {
            Some(mut observer) => {
                observer.restart(args)?;
                observer
            }
            None => {
                let Probe { checked, function, options, cache, .. } = self;
                Observer::new(checked, *function, args, options, cache)?
            }
        };
        *fuel = fuel.saturating_sub(observer.run().held().0 / MEMORY_BYTES);
        self.observer = Some(observer);
        Ok(())
    }

    /// Runs on as long as there is fuel, of which it takes what is used; tells whether the run has ended.
    pub(crate) fn run_on(&mut self, fuel: &mut u64) -> bool {
        let Some(observer) = &mut self.observer else { return true };
        while observer.outcome().is_none() {
            if *fuel == 0 {
                return false;
            }
            let before = observer.run().fuel_used();
            let progress = observer.resume(*fuel);
            let used = observer.run().fuel_used().saturating_sub(before);
            // What takes no fuel takes time all the same.
            *fuel = fuel.saturating_sub(used.max(1));
            match progress {
                Progress::Paused => {}
                Progress::Waiting | Progress::Done => return true,
            }
        }
        true
    }

    /// What the runs reached for the first time, since this was asked last.
    pub(crate) fn take_reached(&mut self) -> Vec<Reached> {
        self.observer.as_mut().map(Observer::take_reached).unwrap_or_default()
    }

    /// The run as far as it has come.
    pub(crate) fn run(&self) -> Option<&Run> {
        self.observer.as_ref().map(Observer::run)
    }

    /// How the run ended, once it has.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.observer.as_ref()?.outcome()
    }

    /// What was written to standard output, then to standard error.
    pub(crate) fn output(&self) -> [&[u8]; 2] {
        self.observer
            .as_ref()
            .map_or([&[], &[]], |observer| [observer.run().stdout(), observer.run().stderr()])
    }

    /// Fuel that the run used.
    pub(crate) fn fuel_used(&self) -> u64 {
        self.observer.as_ref().map_or(0, |observer| observer.run().fuel_used())
    }

    pub(crate) fn verdict(&self) -> Verdict {
        judge(self.checked.program(), self.function, self.outcome())
    }
}

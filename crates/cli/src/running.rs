//! A run and what comes to it from outside: what executes it, when it ends, its input, and who reads its output.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use lmlang_compiled::{Change, Compiler, Ending, Runner, Tier};
use lmlang_engine::Error as EngineError;
use lmlang_interp::{LimitKind, Outcome, Place, Progress, Run, RunResult};

use crate::error::Error;
use crate::stdio::{Passed, Pieces};

/// What executes a run; the words are those of the API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Execution {
    /// The interpreter first, compiled code when it takes long.
    #[default]
    Auto,
    /// The interpreter, which can show every step.
    #[value(alias = "interpreted")]
    Interpreter,
    /// Compiled code, much faster for long runs; what it stops at is looked at by the interpreter.
    Compiled,
}

impl Execution {
    fn wanted(self) -> Option<Tier> {
        match self {
            Execution::Auto => None,
            Execution::Interpreter => Some(Tier::Interpreter),
            Execution::Compiled => Some(Tier::Compiled),
        }
    }
}

/// What executed a run to its end, as the API calls it.
pub(crate) fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Interpreter => "INTERPRETER",
        Tier::Compiled => "COMPILED",
    }
}

/// Fuel between two looks at the clock.
const SLICE: u64 = 1 << 20;

/// What comes to a run from outside.
pub(crate) struct Watch {
    stopped: Arc<AtomicBool>,
    /// When its time is over; nothing where that is too late for a clock.
    deadline: Option<Instant>,
    stdin: Option<Pieces>,
    /// Input that compiled code was given, and the run in the interpreter was not yet.
    ahead: VecDeque<Vec<u8>>,
}

impl Watch {
    /// Of a run that begins now, may take so long, and is stopped by a flag.
    pub(crate) fn new(stopped: Arc<AtomicBool>, timeout: Duration, stdin: Option<Pieces>) -> Watch {
        Watch { stopped, deadline: Instant::now().checked_add(timeout), stdin, ahead: VecDeque::new() }
    }

    /// What stops the run.
    pub(crate) fn stopped(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stopped)
    }

    /// Runs on to the end, or to where nobody reads its output any more; that goes to `passed` as it comes, if it is
    /// wanted. What compiled code did comes back; the run has its input then.
    pub(crate) fn run(
        mut self,
        run: &mut Run,
        execution: Execution,
        mut passed: Option<&mut Passed>,
    ) -> Result<Option<RunResult>, Error> {
        let mut change = Change::of(run, execution.wanted());
        loop {
            if change.is_due(run) {
                match self.run_compiled(run, &mut change, execution, passed.as_deref_mut())? {
                    Then::Ended(result) => {
                        self.ahead.drain(..).for_each(|piece| run.feed(&piece));
                        return Ok(Some(*result));
                    }
                    Then::Unread => {
                        run.cancel();
                        return Ok(None);
                    }
                    Then::GoOn => {}
                }
            }
            let progress = run.resume(SLICE);
            if let Some(passed) = &mut passed
                && !passed.on(run)?
            {
                // What it does from here on is for nobody.
                run.cancel();
                return Ok(None);
            }
            match progress {
                // What is too large for the interpreter may be compiled.
                Progress::Done if change.is_due(run) => {}
                Progress::Done => return Ok(None),
                Progress::Paused if self.is_stopped() => run.cancel(),
                Progress::Paused if self.is_late() => run.time_out(),
                Progress::Paused => {}
                Progress::Waiting => {
                    let again = self.ahead.pop_front();
                    match if again.is_some() { again } else { self.piece()? } {
                        Some(piece) => run.feed(&piece),
                        None => run.cancel(),
                    }
                }
            }
        }
    }

    fn run_compiled(
        &mut self,
        run: &Run,
        change: &mut Change,
        execution: Execution,
        passed: Option<&mut Passed>,
    ) -> Result<Then, Error> {
        let unit = match change.compile(&Compiler::new(), run) {
            Ok(unit) => unit,
            Err(refusal) if execution == Execution::Compiled => return Err(EngineError::from(refusal).into()),
            Err(_) => return Ok(Then::GoOn),
        };
        let mut watching = Watching::new(self, passed);
        let ending = unit.run(run, change.start(), &mut watching);
        let Watching { late, unread, failed, .. } = watching;
        if let Some(error) = failed {
            return Err(error);
        }
        match ending {
            Ending::Returned(result) => Ok(Then::Ended(result)),
            _ if unread => Ok(Then::Unread),
            Ending::Interrupted(result) if late => {
                // Nobody knows where compiled code was.
                let limit = LimitKind::Time;
                let outcome = Outcome::LimitReached { limit, bound: None, place: Place::default() };
                Ok(Then::Ended(Box::new(RunResult { outcome, ..*result })))
            }
            Ending::Interrupted(result) => Ok(Then::Ended(result)),
            Ending::Missing { module, name } if execution == Execution::Compiled => {
                let what = format!("`{module}.{name}`, which only a host has, in compiled code");
                Err(EngineError::Unsupported { what }.into())
            }
            Ending::Missing { .. } | Ending::Stopped => Ok(Then::GoOn),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The next piece of input, empty at its end; nothing when the run is stopped before there is one. Waiting for it is not
    /// part of the run's time.
    fn piece(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let since = Instant::now();
        let piece = match &self.stdin {
            Some(stdin) => stdin.next(|| self.is_stopped())?,
            None => Some(Vec::new()),
        };
        self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(since.elapsed()));
        Ok(piece)
    }
}

/// What comes after compiled code.
enum Then {
    /// This is what the run did.
    Ended(Box<RunResult>),
    /// Nobody reads its output any more.
    Unread,
    /// The interpreter goes on: there is no such code, or it stopped.
    GoOn,
}

/// Watches over compiled code.
struct Watching<'w> {
    watch: &'w mut Watch,
    passed: Option<&'w mut Passed>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    late: bool,
    unread: bool,
    failed: Option<Error>,
}

impl<'w> Watching<'w> {
    fn new(watch: &'w mut Watch, passed: Option<&'w mut Passed>) -> Watching<'w> {
        let (stdout, stderr) = Default::default();
        Watching { watch, passed, stdout, stderr, late: false, unread: false, failed: None }
    }

    fn goes_on(&self) -> bool {
        self.failed.is_none() && !self.unread && !self.watch.is_stopped()
    }
}

impl Runner for Watching<'_> {
    fn fuel(&mut self, _used: u64) -> Option<u64> {
        self.late = self.watch.is_late();
        (self.goes_on() && !self.late).then_some(SLICE)
    }

    fn input(&mut self) -> Option<Vec<u8>> {
        if !self.goes_on() {
            return None;
        }
        match self.watch.piece() {
            Ok(piece) => {
                self.watch.ahead.extend(piece.clone());
                piece
            }
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }

    fn printed(&mut self, stdout: &[u8], stderr: &[u8]) {
        let Some(passed) = &mut self.passed else { return };
        self.stdout.extend_from_slice(stdout);
        self.stderr.extend_from_slice(stderr);
        match passed.rest(&self.stdout, &self.stderr) {
            Ok(is_read) => self.unread |= !is_read,
            Err(error) => self.failed = Some(error),
        }
    }
}

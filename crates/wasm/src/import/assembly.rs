//! Functions are put together on other threads while the next ones are read: that is about half of what taking a module in
//! takes, and no function waits for another.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, LazyLock};
use std::thread::{Scope, ScopedJoinHandle, available_parallelism};

use lmlang_ir::change::PreparedFunction;
use lmlang_ir::draft::Draft;
use lmlang_ir::{FuncRef, Function, FunctionHead};

/// Bytes of a module that is worth threads of its own.
const LARGE: usize = 64 << 10;

/// Most threads beside the one that reads: it has no work for more.
const MOST: usize = 3;

/// How many functions wait for a thread at most.
const AHEAD: usize = 64;

const WHOLE: &str = "what was read of a function holds together, under fresh refs";

/// A function that was read.
pub(super) struct Given {
    pub(super) of: FuncRef,
    pub(super) head: FunctionHead,
    /// Its body; one that is imported has none.
    pub(super) body: Option<Draft>,
}

/// Puts functions together, on other threads if there are any.
pub(super) struct Assembly<'scope> {
    helpers: Vec<Helper<'scope>>,
    given: usize,
    /// What was put together here, where there is no other thread.
    here: Vec<PreparedFunction>,
    emptied: Sender<Draft>,
    empty: Receiver<Draft>,
}

struct Helper<'scope> {
    work: SyncSender<Given>,
    thread: ScopedJoinHandle<'scope, Vec<PreparedFunction>>,
}

/// How many threads beside the one that reads help with a module of so many bytes.
pub(super) fn helpers(bytes: usize) -> usize {
    // Files say how many there are: that takes as long as a small module does.
    static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZeroUsize::get));
    if bytes < LARGE { 0 } else { (*CORES - 1).min(MOST) }
}

impl<'scope> Assembly<'scope> {
    pub(super) fn new(scope: &'scope Scope<'scope, '_>, helpers: usize) -> Assembly<'scope> {
        let (emptied, empty) = channel();
        let helper = |_| {
            let (work, given) = sync_channel(AHEAD);
            let emptied = emptied.clone();
            let thread = scope.spawn(move || given.into_iter().map(|of| assemble(of, &emptied)).collect());
            Helper { work, thread }
        };
        let helpers = (0..helpers).map(helper).collect();
        Assembly { helpers, given: 0, here: Vec::new(), emptied, empty }
    }

    /// An empty draft, with the room of one that was used if there is such.
    pub(super) fn draft(&self) -> Draft {
        self.empty.try_recv().unwrap_or_default()
    }

    /// Takes a function, and waits while too many are waiting.
    pub(super) fn take(&mut self, function: Given) {
        let helper = self.given.checked_rem(self.helpers.len()).and_then(|at| self.helpers.get(at));
        match helper {
            // One that has panicked takes nothing more. Whoever waits for it learns that.
            Some(helper) => drop(helper.work.send(function)),
            None => self.here.push(assemble(function, &self.emptied)),
        }
        self.given += 1;
    }

    /// All functions, in the order in which they were given.
    pub(super) fn finish(self) -> Vec<PreparedFunction> {
        if self.helpers.is_empty() {
            return self.here;
        }
        let wait = |Helper { work, thread }| {
            drop(work);
            thread.join().unwrap_or_else(|panic| resume_unwind(panic)).into_iter()
        };
        let mut done: Vec<_> = self.helpers.into_iter().map(wait).collect();
        let helpers = done.len();
        (0..self.given).filter_map(|at| done[at % helpers].next()).collect()
    }
}

fn assemble(Given { of, head, body }: Given, emptied: &Sender<Draft>) -> PreparedFunction {
    let function = match body {
        None => Function::new(head),
        Some(mut draft) => {
            let function = draft.finish(head).expect(WHOLE);
            // Whoever has read all functions takes none back.
            emptied.send(draft).ok();
            function
        }
    };
    PreparedFunction::new(of, Arc::new(function)).expect(WHOLE)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use lmlang_ir::builder::Builder;
    use lmlang_ir::{Program, RefAllocator};

    use super::*;

    #[test]
    fn any_number_of_threads_gives_back_all_functions() {
        for helpers in 0..=3 {
            let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
            let mut build = Builder::new(&mut program, &mut refs);
            let home = build.module(None, "main");
            let all: Vec<FuncRef> = (0..500).map(|_| build.promise()).collect();
            let done = thread::scope(|scope| {
                let mut assembly = Assembly::new(scope, helpers);
                for of in &all {
                    let head = FunctionHead::new(of.to_string(), home, Vec::new(), Vec::new());
                    assembly.take(Given { of: *of, head, body: None });
                }
                assembly.finish()
            });
            done.into_iter().for_each(|function| build.add_function(function));
            for of in all {
                let function = program.function(of).expect("it was given");
                assert_eq!(*function.head().name, *of.to_string(), "{helpers}");
            }
        }
    }

    #[test]
    fn small_modules_need_no_threads() {
        assert_eq!(helpers(LARGE - 1), 0);
        assert!(helpers(LARGE) <= MOST);
    }
}

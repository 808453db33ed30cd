//! Functions are put together on other threads while the next ones are read: that is about half of what taking a module in
//! takes, and no function waits for another. They are handed over by the batch. Whoever reads puts a batch together
//! itself where the others have enough to do, so that nobody waits for anybody before the end.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, LazyLock};
use std::thread::{Scope, ScopedJoinHandle, available_parallelism};

use lmlang_ir::change::PreparedFunction;
use lmlang_ir::draft::Draft;
use lmlang_ir::{FuncRef, Function, FunctionHead};

/// Bytes of a module that is worth threads of its own.
const LARGE: usize = 64 << 10;

/// Most threads beside the one that reads: it has no work for more.
const MOST: usize = 3;

/// Bytes of bodies that a batch has at least: a thread is not woken for every small function.
const BATCH: usize = 2 << 10;

/// What a function counts beside its body.
const HEAD: usize = 64;

/// How many batches wait for a thread at most: few, so that few drafts are in use, and what is in them is still near.
const AHEAD: usize = 4;

const WHOLE: &str = "what was read of a function holds together, under fresh refs";

/// A function that was read.
pub(super) struct Given {
    pub(super) of: FuncRef,
    pub(super) head: FunctionHead,
    /// Its body; one that is imported has none.
    pub(super) body: Option<Box<Draft>>,
}

/// Functions that were put together one after another.
type Done = Vec<PreparedFunction>;

/// Puts functions together, on other threads if there are any.
pub(super) struct Assembly<'scope> {
    helpers: Vec<Helper<'scope>>,
    /// The batch that is handed over next, and the bytes of it.
    next: Vec<Given>,
    bytes: usize,
    /// For each batch which helper has it; nothing for one that was put together here.
    taken: Vec<Option<usize>>,
    /// What was put together here.
    here: Vec<Done>,
    emptied: Sender<Box<Draft>>,
    empty: Receiver<Box<Draft>>,
}

struct Helper<'scope> {
    work: SyncSender<Vec<Given>>,
    thread: ScopedJoinHandle<'scope, Vec<Done>>,
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
            let (work, given) = sync_channel::<Vec<Given>>(AHEAD);
            let emptied = emptied.clone();
            let thread = scope.spawn(move || given.into_iter().map(|of| assemble(of, &emptied)).collect());
            Helper { work, thread }
        };
        let helpers = (0..helpers).map(helper).collect();
        Assembly { helpers, next: Vec::new(), bytes: 0, taken: Vec::new(), here: Vec::new(), emptied, empty }
    }

    /// An empty draft, with the room of one that was used if there is such.
    pub(super) fn draft(&self) -> Box<Draft> {
        self.empty.try_recv().unwrap_or_default()
    }

    /// Takes a function with so many bytes of body.
    pub(super) fn take(&mut self, function: Given, bytes: usize) {
        self.next.push(function);
        self.bytes += HEAD + bytes;
        if self.bytes >= BATCH || self.helpers.is_empty() {
            self.hand_over();
        }
    }

    /// Gives the batch to the next helper that has room for it.
    fn hand_over(&mut self) {
        let mut batch = std::mem::take(&mut self.next);
        self.bytes = 0;
        for at in 0..self.helpers.len() {
            let at = (self.taken.len() + at) % self.helpers.len();
            match self.helpers[at].work.try_send(batch) {
                Ok(()) => {
                    self.taken.push(Some(at));
                    return;
                }
                // One that has panicked takes nothing more. Whoever waits for it learns that.
                Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => batch = back,
            }
        }
        self.taken.push(None);
        self.here.push(assemble(batch, &self.emptied));
    }

    /// All functions, in the order in which they were given.
    pub(super) fn finish(mut self) -> Done {
        self.hand_over();
        let wait = |Helper { work, thread }| {
            drop(work);
            thread.join().unwrap_or_else(|panic| resume_unwind(panic)).into_iter()
        };
        let mut done: Vec<_> = self.helpers.into_iter().map(wait).collect();
        let mut here = self.here.into_iter();
        let batch = |helper: Option<usize>| match helper {
            Some(at) => done[at].next(),
            None => here.next(),
        };
        self.taken.into_iter().filter_map(batch).flatten().collect()
    }
}

/// Puts the functions of a batch together.
fn assemble(batch: Vec<Given>, emptied: &Sender<Box<Draft>>) -> Done {
    let function = |Given { of, head, body }| {
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
    };
    batch.into_iter().map(function).collect()
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
                for (at, of) in all.iter().enumerate() {
                    let head = FunctionHead::new(of.to_string(), home, Vec::new(), Vec::new());
                    assembly.take(Given { of: *of, head, body: None }, at % 7 * 400);
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

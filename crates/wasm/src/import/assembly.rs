//! Functions are put together on other threads while the next ones are read: that is about half of what taking a module in
//! takes, and no function waits for another. They are handed over by the batch. Whoever reads puts a batch together
//! itself where the others have enough to do, and what is left at the end, so that nobody waits for anybody.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Scope, ScopedJoinHandle};

use lmlang_ir::change::PreparedFunction;
use lmlang_ir::draft::{Draft, Workspace};
use lmlang_ir::{FuncRef, Function, FunctionHead};

/// Bytes of bodies that a batch has at least: a thread is not woken for every small function.
const BATCH: usize = 2 << 10;

/// What a function counts beside its body.
const HEAD: usize = 64;

/// How many batches wait for each thread at most: few, so that few drafts are in use, and what is in them is still near.
const AHEAD: usize = 4;

const WHOLE: &str = "what was read of a function holds together, under fresh refs";

/// A function that was read.
pub(super) struct Given {
    pub(super) of: FuncRef,
    pub(super) head: FunctionHead,
    /// Its body; one that is imported has none.
    pub(super) body: Option<Box<Draft>>,
}

/// Functions that come one after another, and the place of the batch among all.
struct Batch<T> {
    at: usize,
    functions: Vec<T>,
}

/// Batches that wait for whoever has time.
type Queue = Mutex<Receiver<Batch<Given>>>;

/// Puts functions together, on other threads if there are any.
pub(super) struct Assembly<'scope> {
    helpers: Vec<ScopedJoinHandle<'scope, Vec<Batch<PreparedFunction>>>>,
    waiting: SyncSender<Batch<Given>>,
    queue: Arc<Queue>,
    /// The batch that is handed over next, and the bytes of it.
    next: Vec<Given>,
    bytes: usize,
    /// How many batches came before.
    given: usize,
    /// What was put together here.
    here: Vec<Batch<PreparedFunction>>,
    workspace: Workspace,
    emptied: Sender<Box<Draft>>,
    empty: Receiver<Box<Draft>>,
}

impl<'scope> Assembly<'scope> {
    pub(super) fn new(scope: &'scope Scope<'scope, '_>, helpers: usize) -> Assembly<'scope> {
        let (emptied, empty) = channel();
        // Without helpers nothing fits in.
        let (waiting, queue) = sync_channel::<Batch<Given>>(AHEAD * helpers);
        let queue = Arc::new(Mutex::new(queue));
        let helper = |_| {
            let (queue, emptied) = (Arc::clone(&queue), emptied.clone());
            scope.spawn(move || work_off(&queue, &mut Workspace::default(), &emptied))
        };
        let helpers = (0..helpers).map(helper).collect();
        Assembly {
            helpers,
            waiting,
            queue,
            next: Vec::new(),
            bytes: 0,
            given: 0,
            here: Vec::new(),
            workspace: Workspace::default(),
            emptied,
            empty,
        }
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

    /// Gives the batch to whoever has time for it. If all have enough to do, it is put together here.
    fn hand_over(&mut self) {
        let batch = Batch { at: self.given, functions: std::mem::take(&mut self.next) };
        self.given += 1;
        self.bytes = 0;
        let handed_over = self.waiting.try_send(batch);
        if let Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) = handed_over {
            self.here.push(assemble(batch, &mut self.workspace, &self.emptied));
        }
    }

    /// All functions, in the order in which they were given.
    pub(super) fn finish(mut self) -> Vec<PreparedFunction> {
        self.hand_over();
        drop(self.waiting);
        let mut done = self.here;
        done.extend(work_off(&self.queue, &mut self.workspace, &self.emptied));
        for helper in self.helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done.sort_unstable_by_key(|batch| batch.at);
        done.into_iter().flat_map(|batch| batch.functions).collect()
    }
}

/// Puts batches together until none waits and none will come.
fn work_off(
    queue: &Queue,
    workspace: &mut Workspace,
    emptied: &Sender<Box<Draft>>,
) -> Vec<Batch<PreparedFunction>> {
    let next = || queue.lock().expect("who waits for a batch does not panic").recv().ok();
    std::iter::from_fn(next).map(|batch| assemble(batch, workspace, emptied)).collect()
}

fn assemble(
    batch: Batch<Given>,
    workspace: &mut Workspace,
    emptied: &Sender<Box<Draft>>,
) -> Batch<PreparedFunction> {
    let whole = |Given { of, head, body }| {
        let function = match body {
            None => Function::new(head),
            Some(mut draft) => {
                let function = draft.finish_in(workspace, head).expect(WHOLE);
                // Whoever has read all functions takes none back.
                emptied.send(draft).ok();
                function
            }
        };
        PreparedFunction::new(of, Arc::new(function)).expect(WHOLE)
    };
    Batch { at: batch.at, functions: batch.functions.into_iter().map(whole).collect() }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use lmlang_ir::builder::Builder;
    use lmlang_ir::{ContractRef, Program, RefAllocator, Region, RegionOwner, RegionRef, RegionRole};

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
            assert_eq!(done.len(), all.len(), "{helpers}");
            done.into_iter().for_each(|function| build.add_function(function));
            for of in all {
                let function = program.function(of).expect("it was given");
                assert_eq!(*function.head().name, *of.to_string(), "{helpers}");
            }
        }
    }

    #[test]
    fn what_panics_is_told_to_whoever_reads_and_nobody_waits_for_it() {
        for helpers in 0..=3 {
            let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
            let mut build = Builder::new(&mut program, &mut refs);
            let (home, of) = (build.module(None, "main"), build.promise());
            // More than what may wait.
            let assembled = || {
                thread::scope(|scope| {
                    let mut assembly = Assembly::new(scope, helpers);
                    for _ in 0..100 {
                        let mut draft = assembly.draft();
                        let missing = RegionOwner::Contract(ContractRef::new(8).unwrap());
                        let region = Region::new(missing, RegionRole::Contract, Vec::new());
                        draft.add_region(RegionRef::new(9).unwrap(), region).unwrap();
                        let head = FunctionHead::new("f", home, Vec::new(), Vec::new());
                        assembly.take(Given { of, head, body: Some(draft) }, BATCH);
                    }
                    assembly.finish().len()
                })
            };
            assert!(catch_unwind(AssertUnwindSafe(assembled)).is_err(), "{helpers}");
        }
    }
}

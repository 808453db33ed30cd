//! Functions are put together on other threads while the next ones are read: that is about half of what taking a module in
//! takes, and no function waits for another. They are handed over by the batch. Whoever reads puts a batch together
//! itself where the others have enough to do, and what is left at the end, so that nobody waits for anybody. It gets what is
//! whole as it comes, while it is still near.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Scope, ScopedJoinHandle};

use lmlang_ir::change::PreparedFunction;
use lmlang_ir::draft::{Draft, Workspace};
use lmlang_ir::{FuncRef, Function, FunctionHead};

/// Bytes of bodies that a batch has at least: a thread is woken for some tenths of a millisecond of work, which is many small
/// functions.
const BATCH: usize = 8 << 10;

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

/// Batches that wait for whoever has time.
type Queue = Mutex<Receiver<Vec<Given>>>;

/// What goes back to whoever reads, which takes nothing any more when it has come to an end.
#[derive(Clone)]
struct Back {
    /// Drafts that are empty again.
    emptied: Sender<Box<Draft>>,
    /// Batches that have been put together.
    whole: Sender<Vec<PreparedFunction>>,
}

/// Puts functions together, on other threads if there are any.
pub(super) struct Assembly<'scope> {
    helpers: Vec<ScopedJoinHandle<'scope, ()>>,
    waiting: SyncSender<Vec<Given>>,
    queue: Arc<Queue>,
    /// The batch that is handed over next, and the bytes of it.
    next: Vec<Given>,
    bytes: usize,
    workspace: Workspace,
    back: Back,
    empty: Receiver<Box<Draft>>,
    done: Receiver<Vec<PreparedFunction>>,
}

impl<'scope> Assembly<'scope> {
    pub(super) fn new(scope: &'scope Scope<'scope, '_>, helpers: usize) -> Assembly<'scope> {
        let ((emptied, empty), (whole, done)) = (channel(), channel());
        let back = Back { emptied, whole };
        // Without helpers nothing fits in.
        let (waiting, queue) = sync_channel(AHEAD * helpers);
        let queue: Arc<Queue> = Arc::new(Mutex::new(queue));
        let helper = |_| {
            let (queue, back) = (Arc::clone(&queue), back.clone());
            scope.spawn(move || work_off(&queue, &mut Workspace::default(), &back))
        };
        let helpers = (0..helpers).map(helper).collect();
        let (next, workspace) = (Vec::new(), Workspace::default());
        Assembly { helpers, waiting, queue, next, bytes: 0, workspace, back, empty, done }
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
        let batch = std::mem::take(&mut self.next);
        self.bytes = 0;
        let handed_over = self.waiting.try_send(batch);
        if let Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) = handed_over {
            assemble(batch, &mut self.workspace, &self.back);
        }
    }

    /// The functions that have become whole since somebody asked, in no order.
    pub(super) fn done(&self) -> impl Iterator<Item = PreparedFunction> + '_ {
        self.done.try_iter().flatten()
    }

    /// All other functions.
    pub(super) fn finish(mut self) -> Vec<PreparedFunction> {
        self.hand_over();
        drop(self.waiting);
        work_off(&self.queue, &mut self.workspace, &self.back);
        for helper in self.helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        self.done.try_iter().flatten().collect()
    }
}

/// Puts batches together until none waits and none will come.
fn work_off(queue: &Queue, workspace: &mut Workspace, back: &Back) {
    let next = || queue.lock().expect("who waits for a batch does not panic").recv().ok();
    std::iter::from_fn(next).for_each(|batch| assemble(batch, workspace, back));
}

fn assemble(batch: Vec<Given>, workspace: &mut Workspace, back: &Back) {
    let whole = |Given { of, head, body }| {
        let function = match body {
            None => Function::new(head),
            Some(mut draft) => {
                let function = draft.finish_in(workspace, head).expect(WHOLE);
                back.emptied.send(draft).ok();
                function
            }
        };
        PreparedFunction::new(of, Arc::new(function)).expect(WHOLE)
    };
    back.whole.send(batch.into_iter().map(whole).collect()).ok();
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
                let (mut assembly, mut done) = (Assembly::new(scope, helpers), Vec::new());
                for (at, of) in all.iter().enumerate() {
                    let head = FunctionHead::new(of.to_string(), home, Vec::new(), Vec::new());
                    assembly.take(Given { of: *of, head, body: None }, at % 7 * 400);
                    done.extend(assembly.done());
                    // Nobody else could have put it together.
                    assert!(helpers > 0 || done.len() == at + 1);
                }
                done.extend(assembly.finish());
                done
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

//! Functions are put together on other threads while the next ones are read: that is about half of what taking a module in
//! takes, and no function waits for another. They are handed over by the batch. Whoever reads puts a batch together
//! itself where the others have enough to do, and what is left at the end, so that nobody waits for anybody. Whoever has put one
//! together adds it to the program.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Scope, ScopedJoinHandle};

use lmlang_ir::change::PreparedFunctions;
use lmlang_ir::draft::Draft;
use lmlang_ir::{FuncRef, FunctionHead, Program};

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
    /// Its index in the module.
    pub(super) index: u32,
    /// Its body; one that is imported has none.
    pub(super) body: Option<Box<Draft>>,
}

/// Makes the heads of functions, by their indices.
pub(super) type Heads<'h> = dyn Fn(u32) -> FunctionHead + Sync + 'h;

/// What all threads work with.
#[derive(Clone)]
struct Shared<'scope> {
    /// Batches that wait for whoever has time.
    queue: Arc<Mutex<Receiver<Vec<Given>>>>,
    heads: &'scope Heads<'scope>,
    /// Where functions go that are whole.
    program: &'scope Mutex<Program>,
    /// Where drafts go that are empty again.
    emptied: Sender<Box<Draft>>,
}

impl Shared<'_> {
    /// Puts batches together until none waits and none will come.
    fn work_off(&self, prepared: &mut PreparedFunctions) {
        let next = || self.queue.lock().expect("who waits for a batch does not panic").recv().ok();
        std::iter::from_fn(next).for_each(|batch| self.assemble(batch, prepared));
    }

    /// Puts a batch together, and into the program while it is near.
    fn assemble(&self, batch: Vec<Given>, prepared: &mut PreparedFunctions) {
        for Given { of, index, body } in batch {
            let head = (self.heads)(index);
            match body {
                Some(mut draft) => {
                    prepared.put_together(of, head, &mut draft).expect(WHOLE);
                    // Whoever has read all functions takes none back.
                    self.emptied.send(draft).ok();
                }
                // It is imported: without a region there is nothing to put together.
                None => prepared.put_together(of, head, &mut Draft::new()).expect(WHOLE),
            }
        }
        let mut program = self.program.lock().expect(WHOLE);
        program.add_prepared_functions(prepared).expect(WHOLE);
    }
}

/// Puts functions together, on other threads if there are any.
pub(super) struct Assembly<'scope> {
    helpers: Vec<ScopedJoinHandle<'scope, ()>>,
    waiting: SyncSender<Vec<Given>>,
    /// The batch that is handed over next, and the bytes of it.
    next: Vec<Given>,
    bytes: usize,
    prepared: PreparedFunctions,
    shared: Shared<'scope>,
    empty: Receiver<Box<Draft>>,
}

impl<'scope> Assembly<'scope> {
    /// Puts functions together, and adds them to a program.
    pub(super) fn new(
        scope: &'scope Scope<'scope, '_>,
        helpers: usize,
        program: &'scope Mutex<Program>,
        heads: &'scope Heads<'scope>,
    ) -> Assembly<'scope> {
        let (emptied, empty) = channel();
        // Without helpers nothing fits in.
        let (waiting, queue) = sync_channel(AHEAD * helpers);
        let shared = Shared { queue: Arc::new(Mutex::new(queue)), heads, program, emptied };
        let helper = |_| {
            let shared = shared.clone();
            scope.spawn(move || shared.work_off(&mut PreparedFunctions::default()))
        };
        let helpers = (0..helpers).map(helper).collect();
        let (next, prepared) = (Vec::new(), PreparedFunctions::default());
        Assembly { helpers, waiting, next, bytes: 0, prepared, shared, empty }
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
            self.shared.assemble(batch, &mut self.prepared);
        }
    }

    /// Comes back when all functions are in the program.
    pub(super) fn finish(mut self) {
        self.hand_over();
        drop(self.waiting);
        self.shared.work_off(&mut self.prepared);
        for helper in self.helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use lmlang_ir::builder::Builder;
    use lmlang_ir::{ContractRef, RefAllocator, Region, RegionOwner, RegionRef, RegionRole};

    use super::*;

    #[test]
    fn any_number_of_threads_adds_all_functions() {
        for helpers in 0..=3 {
            let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
            let mut build = Builder::new(&mut program, &mut refs);
            let home = build.module(None, "main");
            let all: Vec<FuncRef> = (0..500).map(|_| build.promise()).collect();
            let program = Mutex::new(program);
            let head =
                |index: u32| FunctionHead::new(all[index as usize].to_string(), home, Vec::new(), Vec::new());
            thread::scope(|scope| {
                let mut assembly = Assembly::new(scope, helpers, &program, &head);
                for (index, of) in (0u32..).zip(&all) {
                    assembly.take(Given { of: *of, index, body: None }, index as usize % 7 * 400);
                }
                assembly.finish();
            });
            let program = program.into_inner().unwrap();
            assert_eq!(program.totals().functions, all.len() as u64, "{helpers}");
            for of in &all {
                let function = program.function(*of).expect("it was given");
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
            let program = Mutex::new(program);
            let head = |_: u32| FunctionHead::new("f", home, Vec::new(), Vec::new());
            // More than what may wait.
            let assembled = || {
                thread::scope(|scope| {
                    let mut assembly = Assembly::new(scope, helpers, &program, &head);
                    for _ in 0..100 {
                        let mut draft = assembly.draft();
                        let missing = RegionOwner::Contract(ContractRef::new(8).unwrap());
                        let region = Region::new(missing, RegionRole::Contract, Vec::new());
                        draft.add_region(RegionRef::new(9).unwrap(), region).unwrap();
                        assembly.take(Given { of, index: 0, body: Some(draft) }, BATCH);
                    }
                    assembly.finish();
                })
            };
            assert!(catch_unwind(AssertUnwindSafe(assembled)).is_err(), "{helpers}");
        }
    }
}

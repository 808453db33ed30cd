//! Taking a WebAssembly module in as the content of a program: one revision, which can be undone.

use std::sync::Arc;

use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_history::{Diff, diff};
use lmlang_ir::RefAllocator;
use lmlang_verify::{Checked, Class};
use lmlang_wasm::{Progress, binary, import_watched};
use tokio_util::sync::CancellationToken;

use crate::branches::Tip;
use crate::conflict::moved;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::opening::threads;
use crate::request::Call;
use crate::timeline::{Head, Revision};
use crate::undo::Arrival;
use crate::writing::{Next, Plan, UNHELD, Written};

/// A module that is to be taken in.
#[derive(Clone, Debug)]
pub struct Given {
    /// The module.
    pub module: GivenModule,
    /// The branch whose content it becomes.
    pub branch: String,
    /// The head that the caller saw; another one now is a conflict.
    pub expected_head: Option<String>,
}

/// A module in one of its forms.
#[derive(Clone, Debug)]
pub enum GivenModule {
    /// The binary one.
    Wasm(Vec<u8>),
    /// The text.
    Wat(String),
}

/// Is told how far an import is.
pub type Watch = Arc<dyn Fn(Progress) + Send + Sync>;

/// A module as the content of a branch.
#[derive(Clone)]
struct Taken {
    tip: Tip,
    /// The counter of refs that it began with.
    since: u64,
    refs: RefAllocator,
    checked: Checked,
    difference: Arc<Diff>,
}

impl Engine {
    /// Makes a module the content of a branch. All of its entities are new ones.
    ///
    /// Who goes away stops it, until its entry is being stored.
    pub async fn import(
        &self,
        open: &OpenProgram,
        given: Given,
        call: &Call,
        watch: Watch,
    ) -> Result<Arrival, Error> {
        self.catch_up(open).await?;
        let bytes = match &given.module {
            GivenModule::Wasm(module) => module.len(),
            GivenModule::Wat(text) => text.len(),
        };
        // Before anything that others wait for, and until the last attempt is over.
        let room = Arc::new(self.import_room(bytes).await?);
        let given = Arc::new(given);
        for attempt in 0..=UNHELD {
            // Before the writer is held: it may take a while.
            let (head, refs) = (open.timeline.head(), open.timeline.refs());
            let before = self.build_of(open, &given, &head, refs, &watch).await;
            let (engine, open, given) = (self.clone(), open.clone(), Arc::clone(&given));
            let (call, watch, room) = (call.clone(), Arc::clone(&watch), Arc::clone(&room));
            let commit = async move {
                let stored = engine.put_in(&open, &given, before, attempt, &call, &watch).await;
                drop(room);
                stored
            };
            if let Some(arrival) = self.to_end(commit).await? {
                return Ok(arrival);
            }
        }
        Err(Error::Overloaded { what: "changes" })
    }

    /// Appends the entry; nothing when the branch has moved since the module was taken in, unless it has so often.
    async fn put_in(
        &self,
        open: &OpenProgram,
        given: &Arc<Given>,
        before: Result<Taken, Error>,
        attempt: usize,
        call: &Call,
        watch: &Watch,
    ) -> Result<Option<Arrival>, Error> {
        // Before the writer is held: what another process has just made is taken in by whoever has it.
        let expected = match &given.expected_head {
            Some(expected) => self.named(open, expected).await.map(Some),
            None => Ok(None),
        };
        let (before, expected) = (&before, &expected);
        let plan = |head: Arc<Head>, refs: RefAllocator| async move {
            let newest = self.tip(open, &head, &given.branch).await?;
            if let Some(seen) = expected.clone()?.filter(|seen| seen.number != newest.revision.entry.number) {
                let conflict = moved(&given.branch, &seen, &newest.revision.entry);
                return Ok(Plan::Leave(Some(Arrival::Conflict(conflict))));
            }
            let taken = match before {
                Ok(taken) if taken.tip.is(&newest) && taken.since == refs.watermark() => {
                    // All of its own are new, and what has been begun is as far as other branches have come with it.
                    let mut refs = refs;
                    refs.reserve(taken.refs.watermark() - 1);
                    Taken { refs, ..taken.clone() }
                }
                Ok(_) if attempt < UNHELD => return Ok(Plan::Leave(None)),
                Ok(_) => self.build_of(open, given, &head, refs, watch).await?,
                Err(error) => return Err(error.clone()),
            };
            let Taken { tip, refs, checked, difference, .. } = taken;
            let content = checked.program();
            let header = Header {
                counts: difference.counts(),
                ..self.filled_header(RevisionKind::Import, &head, &tip, content, &refs, call)
            };
            let entry = Entry::new(header, difference.edits.clone());
            let after = Arc::new(Revision { entry: Arc::clone(&entry.header), checked });
            let next = Next::Content(Arc::clone(&after));
            Ok(Plan::Append { entry, next, refs, answer: (tip.revision, after) })
        };
        match self.write(open, call, plan).await? {
            Written::Stored((before, after)) => Ok(Some(Arrival::Made { committed: true, before, after })),
            Written::Left(left) => Ok(left),
            Written::Repeated(number) => self.arrived(open, number).await.map(Some),
        }
    }

    /// Builds the program that a module is, and its difference to what is there.
    async fn build_of(
        &self,
        open: &OpenProgram,
        given: &Arc<Given>,
        head: &Head,
        mut refs: RefAllocator,
        watch: &Watch,
    ) -> Result<Taken, Error> {
        let tip = self.tip(open, head, &given.branch).await?;
        let (gone, given, watch) = (CancellationToken::new(), Arc::clone(given), Arc::clone(watch));
        let stays = gone.clone();
        // Whoever waits for it goes away with this.
        let _waits = gone.drop_guard();
        self.compute(move || {
            let since = refs.watermark();
            refs.reserve(tip.revision.checked.program().largest_number());
            let text;
            let module = match &given.module {
                GivenModule::Wasm(module) => module,
                GivenModule::Wat(given) => {
                    text = binary(given)?;
                    &text
                }
            };
            let mut go_on = |progress| {
                if is_worth_telling(progress) {
                    watch(progress);
                }
                !stays.is_cancelled()
            };
            let program = import_watched(module, &mut refs, &mut go_on);
            let program = program.map_err(|error| match &given.module {
                GivenModule::Wasm(_) => error,
                GivenModule::Wat(text) => error.in_text(text),
            })?;
            let program = program.ok_or(Error::Closed)?;
            let checked = Checked::full(program, threads());
            if let Some((_, found)) =
                checked.findings().iter().find(|(_, found)| found.class() == Class::Error)
            {
                return Err(Error::bad_request(format!(
                    "{}: {}",
                    found.code,
                    found.message(checked.program())
                )));
            }
            let difference = Arc::new(diff(tip.revision.checked.program(), checked.program()));
            Ok(Taken { tip, since, refs, checked, difference })
        })
        .await?
    }
}

/// Whether another hundredth is there.
fn is_worth_telling(progress: Progress) -> bool {
    match progress {
        Progress::Validated { .. } => true,
        Progress::Built { functions, of } => functions * 100 / of != (functions - 1) * 100 / of,
    }
}

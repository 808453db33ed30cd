//! Appending one entry to a program's log: what every change has in common.
//!
//! A change is planned on the tentative head, submitted, and answered when it is durable. What was planned on a head that
//! could not be stored is planned again. What has an idempotency key of an older entry is
//! answered as that was.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_ir::{Program, RefAllocator};
use tokio::sync::MutexGuard;

use crate::branches::Tip;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::records;
use crate::request::Call;
use crate::timeline::{Head, Refused, Revision, Writer};

/// What is to be done on a head.
pub(crate) enum Plan<A, L> {
    /// Append an entry.
    Append {
        /// The entry, numbered after the head.
        entry: Entry,
        /// What it leads to.
        next: Next,
        /// The counter of refs after it.
        refs: RefAllocator,
        /// What the caller is told.
        answer: A,
    },
    /// Nothing; the answer depends on the head all the same.
    Leave(L),
}

/// What an entry leads to.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// A checkpoint that there is or is not.
    Mark,
    /// A branch that begins at this state, if it is in memory, or that is gone.
    Branch(Option<Box<Tip>>),
    /// A revision of the content of its branch.
    Content(Arc<Revision>),
}

/// What became of a plan.
pub(crate) enum Written<A, L> {
    /// The entry is durable and visible.
    Stored(A),
    /// Nothing was to be done; the head that this depends on is durable.
    Left(L),
    /// A request with the same key and content has made the entry with this number.
    Repeated(u64),
}

/// How often a long plan is made again without the writer held because its branch has moved meanwhile.
pub(crate) const UNHELD: usize = 3;

/// For how long a log counts as contended after another process was faster.
const CONTENDED: Duration = Duration::from_secs(1);

/// How often a change is planned again when an entry before it could not be stored, or others were faster.
const ATTEMPTS: usize = 8;

impl Engine {
    /// Plans a change on the tentative head and carries it out. Answers when the outcome is durable.
    pub(crate) async fn write<A, L, F, P>(
        &self,
        open: &OpenProgram,
        call: &Call,
        plan: P,
    ) -> Result<Written<A, L>, Error>
    where
        F: Future<Output = Result<Plan<A, L>, Error>> + Send,
        P: Fn(Arc<Head>, RefAllocator) -> F,
    {
        for _ in 0..ATTEMPTS {
            match self.attempt(open, call, &plan).await {
                Ok(written) => return Ok(written),
                // Perhaps the log is longer than is known here: the answer to a commit may have been lost, or another
                // process has been faster.
                Err(Refused::Again) => self.lost(open).await?,
                Err(Refused::Failed(error)) => return Err(error),
                Err(Refused::KeyTaken(number)) => match self.header(open, number).await? {
                    Some(first) if first.idempotency == call.idempotency => {
                        return Ok(Written::Repeated(number));
                    }
                    Some(_) => return Err(Error::IdempotencyMismatch),
                    // It is in the log, and has not been heard of here.
                    None => self.lost(open).await?,
                },
            }
        }
        Err(Error::Overloaded { what: "changes" })
    }

    async fn attempt<A, L, F, P>(
        &self,
        open: &OpenProgram,
        call: &Call,
        plan: &P,
    ) -> Result<Written<A, L>, Refused>
    where
        F: Future<Output = Result<Plan<A, L>, Error>> + Send,
        P: Fn(Arc<Head>, RefAllocator) -> F,
    {
        let timeline = &open.timeline;
        if !self.store().is_alone() {
            // Before others are kept from the log: an author is recorded behind appends to other logs, which may wait for them.
            let recorded = self.store().actor_key(&records::to_actor(&call.actor)).await;
            recorded.map_err(|fault| Refused::Failed(fault.into()))?;
        }
        let mut writer = self.turn(open).await.map_err(Refused::Failed)?;
        if let Some(number) = writer.number_of(call) {
            let stored = timeline.barrier();
            drop(writer);
            return stored.stored().await.and(Err(Refused::KeyTaken(number)));
        }
        // A key of an entry that was made before the program was opened is looked up only where nothing is appended: the
        // log itself refuses an entry with a key that it has.
        // Whatever the verdict is, it is about a state that may not be stored yet.
        let mut planned = plan(Arc::clone(&writer.head), timeline.refs()).await;
        // A refusal may be about a head that is not the newest one any more; an entry is compared with that as it is stored.
        for _ in 0..ATTEMPTS {
            if matches!(planned, Ok(Plan::Append { .. })) || !self.takes_more_in(open, &mut writer).await? {
                break;
            }
            planned = plan(Arc::clone(&writer.head), timeline.refs()).await;
        }
        match planned {
            Err(error) => {
                let stored = timeline.barrier();
                drop(writer);
                stored.stored().await?;
                self.check_key(open, call).await.and(Err(Refused::Failed(error)))
            }
            Ok(Plan::Leave(answer)) => {
                let stored = timeline.barrier();
                drop(writer);
                stored.stored().await?;
                self.check_key(open, call).await.map(|()| Written::Left(answer))
            }
            Ok(Plan::Append { entry, next, mut refs, answer }) => {
                refs.reserve(entry.next_ref - 1);
                let row = records::to_row(self, &entry).await.map_err(Refused::Failed)?;
                let (entry, bytes) = (Arc::new(entry), row.edits.len());
                let head = Arc::new(writer.head.after(&entry, &next).map_err(Refused::Failed)?);
                let revision = match next {
                    Next::Mark | Next::Branch(_) => None,
                    Next::Content(revision) => Some(revision),
                };
                let branch = entry.branch;
                let before = writer.head.tip(branch).map(|tip| Arc::clone(&tip.revision));
                let changed = before.zip(revision.clone());
                let pending = timeline.submit(&mut writer, head, (entry, revision), refs, row);
                drop(writer);
                pending.stored().await?;
                self.snapshot_if_due(open, branch, bytes);
                if let Some((before, after)) = changed {
                    self.cases_may_change(open, before, after);
                }
                Ok(Written::Stored(answer))
            }
        }
    }

    /// The writer. After a race that was lost lately, with other processes kept from the log: the next one is not lost then.
    /// Whoever waits for the writer at that moment makes use of it too.
    async fn turn<'a>(&self, open: &'a OpenProgram) -> Result<MutexGuard<'a, Writer>, Error> {
        let timeline = &open.timeline;
        loop {
            let mut writer = timeline.writer.lock().await;
            if writer.hold.is_some() || writer.contended.is_none_or(|until| until < Instant::now()) {
                return Ok(writer);
            }
            if writer.head.last == timeline.head().last {
                writer.hold = self.store().hold(timeline.key()).await?;
                // It comes after those who wait already.
                let timeline = Arc::clone(timeline);
                self.spawn_to_end(async move { timeline.let_others_in().await });
                Box::pin(self.take_in(open, &mut writer)).await?;
                return Ok(writer);
            }
            // What is on its way needs the log.
            let stored = timeline.barrier();
            drop(writer);
            stored.stored().await.ok();
        }
    }

    /// Takes in what others have stored, who will not be faster again for a while.
    async fn lost(&self, open: &OpenProgram) -> Result<(), Error> {
        let mut writer = open.timeline.writer.lock().await;
        if !self.store().is_alone() {
            writer.contended = Some(Instant::now() + CONTENDED);
        }
        Box::pin(self.take_in(open, &mut writer)).await
    }

    /// Takes in what others have stored, if they have.
    async fn takes_more_in(&self, open: &OpenProgram, writer: &mut Writer) -> Result<bool, Refused> {
        if self.store().is_alone() {
            return Ok(false);
        }
        let before = writer.head.last;
        Box::pin(self.take_in(open, writer)).await.map_err(Refused::Failed)?;
        Ok(writer.head.last != before)
    }

    /// Refuses a call whose key stands in the log.
    async fn check_key(&self, open: &OpenProgram, call: &Call) -> Result<(), Refused> {
        let Some(idempotency) = &call.idempotency else { return Ok(()) };
        match self.store().header_by_key(open.timeline.key(), &idempotency.key).await {
            Ok(Some(entry)) => Err(Refused::KeyTaken(entry.seq)),
            Ok(None) => Ok(()),
            Err(fault) => Err(Refused::Failed(fault.into())),
        }
    }

    /// The header of the next entry on a head, which makes a content of a branch.
    ///
    /// No ref of the content is handed out again, even where the log says less of the counter than its entries have refs.
    pub(crate) fn filled_header(
        &self,
        kind: RevisionKind,
        head: &Head,
        tip: &Tip,
        content: &Program,
        refs: &RefAllocator,
        call: &Call,
    ) -> Header {
        Header {
            root_hash: content.root_hash(),
            next_ref: refs.watermark().max(content.largest_number() + 1),
            ..self.blank_header(kind, head, tip, refs, call)
        }
    }

    /// The header of the next entry on a head, after the newest state of a branch, which changes nothing yet.
    pub(crate) fn blank_header(
        &self,
        kind: RevisionKind,
        head: &Head,
        tip: &Tip,
        refs: &RefAllocator,
        call: &Call,
    ) -> Header {
        Header {
            number: head.last + 1,
            id: self.0.clock.entry_id().into_bytes(),
            parents: vec![tip.revision.entry.number],
            branch: tip.branch,
            branch_name: tip.name.as_deref().map(str::to_owned),
            kind,
            actor: call.actor.clone(),
            on_behalf_of: call.on_behalf_of.clone(),
            message: call.message.clone(),
            time: self.0.clock.now().0,
            counts: lmlang_history::ChangeCounts::default(),
            root_hash: tip.revision.entry.root_hash,
            next_ref: refs.watermark(),
            target: None,
            reverts: Vec::new(),
            also_reverts: Vec::new(),
            resolved: Vec::new(),
            rests: Vec::new(),
            name: None,
            names: Vec::new(),
            idempotency: call.idempotency.clone(),
            origin: call.origin,
        }
    }
}

#[cfg(test)]
mod replicas;

//! Going back and forth along the line of a branch, and back to a checkpoint. Each appends a revision.

use std::sync::Arc;

use lmlang_history::line::{self, Line, NothingToDo};
use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_ir::RefAllocator;

use crate::checkpoints::no_checkpoint;
use crate::conflict::{Conflict, moved};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::timeline::{Head, Revision};
use crate::writing::{Next, Plan, Written};

/// How far to go along the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distance {
    /// So many states.
    Steps(u64),
    /// To the revision that the caller names.
    To(String),
}

/// Where to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Back along the line.
    Undo(Distance),
    /// Forward again.
    Redo(Distance),
    /// To the revision that a checkpoint names.
    Restore(String),
}

/// A request to go somewhere.
#[derive(Clone, Debug)]
pub struct Travel {
    /// The branch whose head is to move.
    pub branch: String,
    /// Where to.
    pub way: Way,
    /// The head that the caller saw; another one now is a conflict.
    pub expected_head: Option<String>,
    /// Whether to stop before anything is stored.
    pub dry_run: bool,
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A revision was made: the content is that of the target, or what a merge or a revert came to.
    Made {
        /// Whether it is stored: not for a dry run.
        committed: bool,
        /// The state before.
        before: Arc<Revision>,
        /// The state that it led to; its entry is not in the log for a dry run.
        after: Arc<Revision>,
    },
    /// There is nothing to do, for this reason.
    Nothing(String),
    /// The head has moved, or what is asked for cannot be together with what is there.
    Conflict(Conflict),
}

/// The revisions that a request names.
#[derive(Clone, Debug, Default)]
struct Named {
    expected: Option<Arc<Header>>,
    /// The number of the revision to go to, and of those that it went to itself.
    to: Vec<u64>,
}

impl Engine {
    /// Goes back, forward, or to a checkpoint, by appending a revision whose content is the older one's.
    pub async fn travel(&self, open: &OpenProgram, travel: &Travel, call: &Call) -> Result<Arrival, Error> {
        if travel.dry_run {
            // Nothing is compared with the log then.
            self.catch_up(open).await?;
        }
        // Before the writer is held: an old revision may take a while to find. One that is not there is told by the plan: by
        // now it may be gone for a request that is repeated.
        let mut named = self.named_by(open, travel).await;
        if named.is_err() && !travel.dry_run {
            // Another process may have made it a moment ago.
            self.catch_up(open).await?;
            named = self.named_by(open, travel).await;
        }
        let named = &named;
        if travel.dry_run {
            let (head, refs) = (open.timeline.head(), open.timeline.refs());
            let named = named.clone()?;
            return Ok(match self.plan_travel(open, travel, &named, &head, &refs, call).await? {
                Err(arrival) => arrival,
                Ok((_, before, after)) => Arrival::Made { committed: false, before, after },
            });
        }
        let plan = |head: Arc<Head>, refs: RefAllocator| async move {
            let named = named.clone()?;
            Ok(match self.plan_travel(open, travel, &named, &head, &refs, call).await? {
                Err(arrival) => Plan::Leave(arrival),
                Ok((entry, before, after)) => {
                    let next = Next::Content(Arc::clone(&after));
                    Plan::Append { entry, next, refs, answer: (before, after) }
                }
            })
        };
        match self.write(open, call, plan).await? {
            Written::Stored((before, after)) => Ok(Arrival::Made { committed: true, before, after }),
            Written::Left(arrival) => Ok(arrival),
            Written::Repeated(number) => self.arrived(open, number).await,
        }
    }

    /// What became of a request that was carried out before.
    pub(crate) async fn arrived(&self, open: &OpenProgram, number: u64) -> Result<Arrival, Error> {
        let missing = || Error::not_found("revision", format!("r{number}"));
        let after = self.state(open, number).await?.ok_or_else(missing)?;
        let parent = after.entry.parents.first().copied().ok_or_else(missing)?;
        let before = self.state(open, parent).await?.ok_or_else(missing)?;
        Ok(Arrival::Made { committed: true, before, after })
    }

    async fn named_by(&self, open: &OpenProgram, travel: &Travel) -> Result<Named, Error> {
        self.tip(open, &open.timeline.head(), &travel.branch).await?;
        let mut named = Named::default();
        if let Some(expected) = &travel.expected_head {
            named.expected = Some(self.named(open, expected).await?);
        }
        if let Way::Undo(Distance::To(to)) | Way::Redo(Distance::To(to)) = &travel.way {
            let mut next = Some(self.named(open, to).await?);
            while let Some(header) = next {
                named.to.push(header.number);
                next = match header.target.filter(|_| header.kind.takes_target_state()) {
                    Some(target) => self.header(open, target).await?,
                    None => None,
                };
            }
        }
        Ok(named)
    }

    /// The entry that goes there, with the state before it and the one that it takes.
    async fn plan_travel(
        &self,
        open: &OpenProgram,
        travel: &Travel,
        named: &Named,
        head: &Head,
        refs: &RefAllocator,
        call: &Call,
    ) -> Result<Result<(Entry, Arc<Revision>, Arc<Revision>), Arrival>, Error> {
        let tip = self.tip(open, head, &travel.branch).await?;
        if let Some(seen) = &named.expected
            && seen.number != tip.revision.entry.number
        {
            return Ok(Err(Arrival::Conflict(moved(&travel.branch, seen, &tip.revision.entry))));
        }
        let nothing = |reason: NothingToDo| Ok(Err(Arrival::Nothing(reason.to_string())));
        let go = |distance: &Distance,
                  leads: fn(&Line, line::Distance) -> Result<line::Travel, NothingToDo>| {
            let leads = |distance| leads(&tip.line, distance).map(|found| found.target);
            if let Distance::Steps(steps) = distance {
                return leads(line::Distance::Steps(*steps));
            }
            let mut ways = named.to.iter().map(|to| leads(line::Distance::To(*to)));
            let first = ways.next().unwrap_or(Err(NothingToDo::NoStep));
            first.or_else(|reason| ways.find_map(Result::ok).ok_or(reason))
        };
        let (kind, number) = match &travel.way {
            Way::Undo(far) => match go(far, Line::undo) {
                Ok(target) => (RevisionKind::Undo, target),
                Err(reason) => return nothing(reason),
            },
            Way::Redo(far) => match go(far, Line::redo) {
                Ok(target) => (RevisionKind::Redo, target),
                Err(reason @ NothingToDo::Redo) => {
                    let lost = Box::pin(self.undone(open, &tip, None)).await?;
                    return Ok(Err(Arrival::Nothing(reason.to_string() + &lost)));
                }
                Err(reason) => return nothing(reason),
            },
            Way::Restore(name) => match head.checkpoints.get(name) {
                Some(checkpoint) => (RevisionKind::Restore, checkpoint.revision),
                None => return Err(no_checkpoint(head, name)),
            },
        };
        let missing = || Error::not_found("revision", format!("r{number}"));
        let target = match open.timeline.made(number) {
            Some(target) => target,
            None => self.state(open, number).await?.ok_or_else(missing)?.checked.clone(),
        };
        let (from, to) = (tip.revision.checked.program(), target.program());
        if kind == RevisionKind::Restore && from.root_hash() == to.root_hash() {
            return Ok(Err(Arrival::Nothing("the content is that of the checkpoint already".to_owned())));
        }
        let difference = lmlang_history::diff(from, to);
        let header = Header {
            counts: difference.counts(),
            target: Some(number),
            ..self.filled_header(kind, head, &tip, to, refs, call)
        };
        let entry = Entry::new(header, difference.edits);
        let after = Arc::new(Revision { entry: Arc::clone(&entry.header), checked: target });
        Ok(Ok((entry, tip.revision, after)))
    }
}

//! Taking a run back to an entry of its journal. What came behind that does not count any more: revisions that the run made,
//! or a run that it waited for, are taken back by new ones, and a branch that it deleted is made again.

use std::collections::BTreeMap;

use lmlang_flow::receipts::Intent;
use lmlang_flow::{Entry, Goto, Run, Stepped, What};
use lmlang_history::log::RevisionKind;
use serde_json::Value;
use uuid::Uuid;

use crate::catalog::Selector;
use crate::choosing::Which;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::flows::listing::RunInfo;
use crate::flows::live::{child_id, damaged};
use crate::flows::steering::{
    is_repeated, kept, refuse_hindered, request_digest, revision, standing_entries,
};
use crate::request::Call;
use crate::reverting::RevertRequest;
use crate::undo::{Arrival, Distance, Travel, Way};

/// What taking a run back comes to.
#[derive(Clone, Debug)]
pub struct Rewound {
    /// Entries that do not count any more.
    pub superseded: u64,
    /// Revisions that were taken back, as program, branch and the revision that took them back; 0 of a dry run.
    pub reverted: Vec<(Uuid, String, u64)>,
    /// Effects that happened and stay: their kinds and names.
    pub not_undone: Vec<(String, String)>,
}

/// What a run, or one that it waited for, did behind an entry.
struct Deed {
    /// The program that the run is about.
    program: Option<Uuid>,
    what: What,
}

/// How revisions of a branch are taken back.
struct Taking {
    open: OpenProgram,
    branch: String,
    /// The newest revision of the branch.
    head: u64,
    /// They are the newest ones: the branch goes back by so many. It can take them in again by a merge.
    steps: Option<u64>,
    revisions: Vec<u64>,
}

impl Engine {
    /// Takes a run back to an entry of its journal: what came after does not count any more, revisions that it made are
    /// taken back by new ones, and it goes on from there. What happened outside of programs stays and is named.
    ///
    /// # Errors
    ///
    /// Work of others is on top of what it would take back.
    pub async fn rewind_run(
        &self,
        run: Uuid,
        to: u64,
        dry_run: bool,
        call: &Call,
    ) -> Result<(RunInfo, Rewound), Error> {
        let info = self.run_info(run).await?;
        let request = call.idempotency.as_ref().map(request_digest);
        let before = self.journal_of(run).await?;
        if let Some(first) = repeated(&before, request.as_deref())? {
            return Ok((info, first));
        }
        kept(&before, to)?;
        if !dry_run {
            self.check_version(run).await?;
            // What it does at the moment would come after what is taken back.
            self.let_go_of_run(run).await;
        }
        let journal = self.journal_of(run).await?;
        let (kept, epoch) = (kept(&journal, to)?, epoch(&journal));
        self.check_kept(&info, &journal, to)?;
        let later = later(&journal, to);
        let superseded = later.len() as u64;
        let (deeds, children) = self.deeds(&info, later).await?;
        let takings = self.takings(&deeds, call).await?;
        let key = |of: &str| format!("rewind:{}:{to}:{}:{of}", run.simple(), journal.len());
        let mut reverted = Vec::with_capacity(takings.len());
        for taking in takings {
            let call = call.clone().keyed(Some(&key(&taking.branch)), taking.branch.as_bytes());
            let by = if dry_run { 0 } else { self.take_back(&taking, &call).await? };
            reverted.push((taking.open.info().id, taking.branch, by));
        }
        let mut not_undone = Vec::new();
        for deed in &deeds {
            let Some(intent) = stays(&deed.what) else { continue };
            let is_again = match deleted_branch(&deeds, deed) {
                Some((program, branch, at)) => {
                    let call = call.clone().keyed(Some(&key(&format!("branch {branch}"))), branch.as_bytes());
                    self.make_again(program, &branch, at, dry_run, &call).await
                }
                None => false,
            };
            if !is_again {
                not_undone.push((intent.kind.clone(), intent.name.clone()));
            }
        }
        if !dry_run {
            for child in children {
                self.stop_run(child, &call.actor.name, Some(TAKEN_BACK.to_owned())).await?;
            }
            let by = call.actor.name.clone();
            // The journal may have gone on meanwhile; what is in it then does not count either.
            let changed = self.change_run(run, |machine, _| {
                let (by, request) = (by.clone(), request.clone());
                match machine.epoch() == epoch {
                    true => Ok(Some(What::Rewound { to: kept, by, request })),
                    // Somebody else has taken it back.
                    false => Ok::<_, Error>(None),
                }
            });
            let (live, appended) = changed.await?;
            self.kick(&live);
            if appended.is_none() {
                let journal = self.journal_of(run).await?;
                let first = repeated(&journal, request.as_deref())?;
                let first = first.ok_or(Error::Overloaded { what: "changes of the run" })?;
                return Ok((self.run_info(run).await?, first));
            }
        }
        Ok((self.run_info(run).await?, Rewound { superseded, reverted, not_undone }))
    }

    /// Refuses what would stand where its definition has nothing: a run that was moved, taken back behind that.
    fn check_kept(&self, info: &RunInfo, journal: &[Entry], to: u64) -> Result<(), Error> {
        let (by, number) = (String::new(), journal.len() as u64 + 1);
        let rewound = Entry { number, time: self.now(), what: What::Rewound { to, by, request: None } };
        let kept: Vec<Entry> = journal.iter().cloned().chain([rewound]).collect();
        let kept = Run::replay(&info.flow, &kept).map_err(|error| damaged(info.id, 0, error))?;
        refuse_hindered(&kept, "input.toStep")
    }

    /// What entries tell to have been done, with what was done by the runs that were waited for in them; and those of these
    /// runs that go on.
    async fn deeds(&self, info: &RunInfo, entries: Vec<Entry>) -> Result<(Vec<Deed>, Vec<Uuid>), Error> {
        let (mut deeds, mut children) = (Vec::new(), Vec::new());
        let mut open = vec![(info.id, info.program, entries)];
        while let Some((run, program, entries)) = open.pop() {
            for Entry { number, what, .. } in entries {
                if let What::Stepped(Stepped { goto: Goto::Sub { .. }, .. }) = &what
                    && let Some(child) = self.store().run(child_id(run, number)).await?
                {
                    if child.standing.ended.is_none() {
                        children.push(child.id);
                    }
                    open.push((child.id, child.program, later(&self.journal_of(child.id).await?, 0)));
                }
                deeds.push(Deed { program, what });
            }
        }
        Ok((deeds, children))
    }

    /// How the revisions among deeds are taken back, by program and branch. A branch or program that is gone has nothing to be
    /// taken back on.
    async fn takings(&self, deeds: &[Deed], call: &Call) -> Result<Vec<Taking>, Error> {
        let mut made: BTreeMap<(Uuid, String), Vec<u64>> = BTreeMap::new();
        for deed in deeds {
            if let Some((program, branch, number)) = revision(&deed.what)
                && let Some(program) = program.or(deed.program)
            {
                made.entry((program, branch)).or_default().push(number);
            }
        }
        let mut takings = Vec::with_capacity(made.len());
        for ((program, branch), mut revisions) in made {
            revisions.sort_unstable();
            let open = match self.find(&Selector::Id(program)).await {
                Ok(open) => open,
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            let head = open.timeline.head();
            if head.number_of(&branch).is_none() {
                continue;
            }
            let head = self.tip(&open, &head, &branch).await?.revision.entry.number;
            let (count, first) = (revisions.len() as u64, revisions.first().copied().unwrap_or(head));
            // Numbers have no gaps: nobody else has made one between them.
            let steps = (first + count == head + 1 && revisions.last() == Some(&head)).then_some(count);
            let taking = Taking { open, branch, head, steps, revisions };
            if taking.steps.is_none() {
                self.check_taking(&taking, call).await?;
            }
            takings.push(taking);
        }
        Ok(takings)
    }

    /// Refuses to take back what others have built on.
    async fn check_taking(&self, taking: &Taking, call: &Call) -> Result<(), Error> {
        let Taking { open, branch, revisions, .. } = taking;
        let refused = |why: String| {
            let message = format!(
                "what the run changed on `{branch}` cannot be taken back: {why}; `revertRevisions` takes revisions back \
                 one by one"
            );
            Error::Argument { place: "input.toStep".to_owned(), message }
        };
        let headers = self.headers(open, revisions).await?;
        if let Some(merge) = headers.iter().find(|header| header.kind == RevisionKind::Merge) {
            let why =
                format!("it has gone on since r{} was merged, which could not be merged again", merge.number);
            return Err(refused(why));
        }
        let plan = self.revert(open, &taking.revert(true), call).await?;
        if matches!(plan.arrival, Arrival::Conflict(_)) {
            return Err(refused("later work is in the way".to_owned()));
        }
        if !plan.also_removed.is_empty() {
            let names: Vec<String> =
                plan.also_removed.iter().map(|header| format!("r{}", header.number)).collect();
            return Err(refused(format!("{} would have to go too, which build on it", names.join(", "))));
        }
        Ok(())
    }

    /// Takes revisions back; answers the revision that did it.
    async fn take_back(&self, taking: &Taking, call: &Call) -> Result<u64, Error> {
        let Taking { open, branch, head, steps, .. } = taking;
        let arrival = match steps {
            Some(steps) => {
                let travel = Travel {
                    branch: branch.clone(),
                    way: Way::Undo(Distance::Steps(*steps)),
                    expected_head: Some(format!("r{head}")),
                    dry_run: false,
                };
                self.travel(open, &travel, call).await?
            }
            None => self.revert(open, &taking.revert(false), call).await?.arrival,
        };
        match arrival {
            Arrival::Made { after, .. } => Ok(after.entry.number),
            Arrival::Nothing(_) => Ok(*head),
            Arrival::Conflict(_) => {
                let message = format!(
                    "what the run changed on `{branch}` cannot be taken back: later work is in the way"
                );
                Err(Error::Argument { place: "input.toStep".to_owned(), message })
            }
        }
    }

    /// Makes a branch again that was deleted; answers whether it is, or would be, there.
    async fn make_again(&self, program: Uuid, branch: &str, at: u64, dry_run: bool, call: &Call) -> bool {
        let Ok(open) = self.find(&Selector::Id(program)).await else { return false };
        if dry_run {
            return open.timeline.head().number_of(branch).is_none();
        }
        self.create_branch(&open, branch, Some(&format!("r{at}")), call).await.is_ok()
    }
}

impl Taking {
    fn revert(&self, dry_run: bool) -> RevertRequest {
        RevertRequest {
            branch: self.branch.clone(),
            which: Which::Revisions(self.revisions.iter().map(|number| format!("r{number}")).collect()),
            expected_head: Some(format!("r{}", self.head)),
            dry_run,
        }
    }
}

/// Why a run is stopped that was waited for.
const TAKEN_BACK: &str = "the run that waits for it was taken back";

/// What a request came to that has taken a run back before, as far as the journal knows.
fn repeated(journal: &[Entry], request: Option<&str>) -> Result<Option<Rewound>, Error> {
    let Some(request) = request else { return Ok(None) };
    for entry in journal {
        if let What::Rewound { to, request: Some(first), .. } = &entry.what
            && is_repeated(first, request)?
        {
            let superseded = entry.number - 1 - to;
            return Ok(Some(Rewound { superseded, reverted: Vec::new(), not_undone: Vec::new() }));
        }
    }
    Ok(None)
}

/// The entry by which a run was taken back last, 0 if it was not.
fn epoch(journal: &[Entry]) -> u64 {
    let rewound = journal.iter().rev().find(|entry| matches!(entry.what, What::Rewound { .. }));
    rewound.map_or(0, |entry| entry.number)
}

/// The entries behind one that count.
fn later(journal: &[Entry], to: u64) -> Vec<Entry> {
    let standing = standing_entries(journal, u64::MAX).into_iter();
    standing.filter(|entry| entry.number > to).cloned().collect()
}

/// An effect that was had and that no revision takes back.
fn stays(what: &What) -> Option<&Intent> {
    match what {
        What::Received(receipt) if receipt.outcome.answer.is_ok() && revision(what).is_none() => {
            Some(&receipt.intent)
        }
        _ => None,
    }
}

/// The branch that was deleted, and where it stood, unless it was made behind the same entry.
fn deleted_branch(deeds: &[Deed], deed: &Deed) -> Option<(Uuid, String, u64)> {
    let What::Received(receipt) = &deed.what else { return None };
    let notes = &receipt.outcome.notes;
    let branch = notes.get("branch").and_then(Value::as_str)?;
    let at = notes.get("removed_at").and_then(Value::as_u64)?;
    let made = |other: &Deed| match &other.what {
        What::Received(receipt) if receipt.intent.name == "create_branch" => {
            receipt.outcome.answer.as_ref().is_ok_and(|answer| answer["branch"] == branch)
        }
        _ => false,
    };
    (!deeds.iter().any(made)).then_some((deed.program?, branch.to_owned(), at))
}

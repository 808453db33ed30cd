//! Proposing a change set: the one write path.
//!
//! request → change set on a base revision → apply to a shared copy → verify what it touches → one log entry →
//! publish → answer. A dry run is the same path stopped before the entry.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_history::request::{EditError, EditRequest, Expanded, Refused, expand};
use lmlang_history::revision::MAIN;
use lmlang_history::{ChangeCounts, Rest, diff};
use lmlang_ir::{FuncRef, Ref, RefAllocator};
use lmlang_store::HistoryFilter;
use lmlang_verify::{Checked, Class, Diagnostic, Identity};

use crate::ancestry::Headers;
use crate::blame::blame;
use crate::branches::{MAIN_BRANCH, Tip};
use crate::catalog::Selector;
use crate::conflict::{Collision, Conflict, elsewhere};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::events::Event;
use crate::merging::carry_over;
use crate::opening::{changes_content, threads};
use crate::records;
use crate::request::Call;
use crate::timeline::{Head, Revision};
use crate::writing::Next::Content;
use crate::writing::{Plan, Written};

/// A change set that a caller proposes.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The program.
    pub program: Selector,
    /// The branch whose head is to move.
    pub branch: String,
    /// The revision that the caller saw; `None`: the head.
    pub base: Option<String>,
    /// The edits, all or nothing, in order.
    pub edits: Vec<EditRequest>,
    /// Whether to stop before anything is stored.
    pub dry_run: bool,
    /// Whether to refuse a result in which a touched function is incomplete, or anything else has become so.
    pub require_complete: bool,
    /// Whether to verify the whole program instead of what the edits can have changed.
    pub verify_all: bool,
}

/// What became of a proposal.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is applied, and stored unless it was a dry run.
    Applied(Applied),
    /// The edits or their result have errors.
    Rejected(Box<Rejected>),
    /// Others have changed what it changes or reads.
    Conflict(Conflict),
}

/// An applied change set. It has states of the program, and does not keep that open: it may be remembered for a while.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Whether it is stored: not for a dry run.
    pub committed: bool,
    /// Whether the edits change nothing. Then a revision is made only as the record of an idempotency key; without one, `after`
    /// is the newest revision of the branch, `before`.
    pub unchanged: bool,
    /// What has happened since the revision that the caller saw: it was carried over that.
    pub rebased_over: Rebased,
    /// The revision that it was applied to.
    pub before: Arc<Revision>,
    /// The state that it led to; its entry is not in the log for a dry run.
    pub after: Arc<Revision>,
    /// What was made, with the names that the request gave.
    pub created: Vec<(Option<String>, Ref)>,
}

/// Revisions that a change set was carried over.
#[derive(Clone, Debug, Default)]
pub struct Rebased {
    /// The newest of them, oldest first.
    pub newest: Vec<Arc<Header>>,
    /// How many there are in all.
    pub total: u64,
}

/// A rejected change set; nothing has changed.
#[derive(Clone, Debug, Default)]
pub struct Rejected {
    /// The state that was refused, for the words of the findings; `None` when the edits could not be applied.
    pub after: Option<Checked>,
    /// Errors of the edits themselves.
    pub errors: Vec<EditError>,
    /// Errors that the verifier finds in the result.
    pub findings: Vec<Finding>,
    /// Warnings about the result.
    pub warnings: Vec<Diagnostic>,
    /// Errors left out because they only follow from another.
    pub suppressed: usize,
}

/// An error that the verifier finds in what a change set leads to.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The edit that brought it, where it is known.
    pub edit: Option<usize>,
    /// The argument of that edit: `["insertNode", "inputs", "0"]`.
    pub path: Vec<String>,
    /// Where it is in the text of that edit: line and column, from 1.
    pub place: Option<(u32, u32)>,
    /// What was found.
    pub diagnostic: Diagnostic,
}

/// Refusals of more text than this are told without the state that was refused: events wait for slow readers.
const TOLD_TEXT: usize = 16 << 10;

/// Bytes that an edit and what is wrong with it take in a refusal, about.
const TOLD_EDIT: usize = 512;

impl Applied {
    /// How much differs from before.
    pub fn counts(&self) -> ChangeCounts {
        if self.unchanged { ChangeCounts::default() } else { self.after.entry.counts }
    }

    /// The number of the revision that it made, if it made one.
    pub fn made(&self) -> Option<u64> {
        let number = self.after.entry.number;
        (self.committed && number != self.before.entry.number).then_some(number)
    }
}

impl Outcome {
    /// Counts the findings about a refused state instead of keeping it.
    fn without_state(&self) -> Outcome {
        match self {
            Outcome::Rejected(rejected) => Outcome::Rejected(Box::new(Rejected {
                errors: rejected.errors.clone(),
                suppressed: rejected.suppressed + rejected.findings.len(),
                ..Rejected::default()
            })),
            Outcome::Applied(_) | Outcome::Conflict(_) => self.clone(),
        }
    }
}

/// Change sets with fewer edits and less text than these are applied on the caller's thread.
const SMALL_EDITS: usize = 32;
const SMALL_TEXT: usize = 4 << 10;

impl Engine {
    /// Proposes a change set. Answers when its outcome is durable.
    pub async fn propose(&self, proposal: Proposal, call: &Call) -> Result<Outcome, Error> {
        self.check_size(&proposal)?;
        let open = self.find(&proposal.program).await?;
        if proposal.edits.is_empty() {
            return Err(Error::bad_request("`edits` must not be empty"));
        }
        // Before the writer is held: an old state may take a while to find. What is not there is told by the plan: by now it
        // may be gone for a request that is repeated.
        if proposal.dry_run {
            // Nothing is compared with the log then.
            self.catch_up(&open).await?;
        }
        let mut base = self.grounds(&open, &proposal).await;
        if base.is_err() && !self.store().is_alone() {
            // Another process may have made it a moment ago.
            self.catch_up(&open).await?;
            base = Box::pin(self.grounds(&open, &proposal)).await;
        }
        if proposal.dry_run {
            let head = open.timeline.head();
            // The writer's counter, so that provisional refs are new; they are handed out again later.
            let refs = open.timeline.refs();
            return Ok(
                match self.plan_edits(&open, base.clone()?, Arc::new(proposal), &head, refs, call).await? {
                    Err(refusal) => Box::pin(self.with_both_sides(&open, refusal)).await?,
                    Ok((next, _, after)) => next.applied(false, after),
                },
            );
        }
        let (edits, text) = (proposal.edits.len(), text_bytes(&proposal.edits));
        let branch = proposal.branch.clone();
        let proposal = Arc::new(proposal);
        let plan = |head: Arc<Head>, refs: RefAllocator| {
            let (base, proposal, open) = (base.clone(), Arc::clone(&proposal), &open);
            async move {
                Ok(match self.plan_edits(open, base?, proposal, &head, refs, call).await? {
                    Err(refusal) => Plan::Leave(refusal),
                    // A key is known by its entry, which is made for that.
                    Ok((next, ..)) if next.unchanged && call.idempotency.is_none() => {
                        let newest = Arc::clone(&next.before);
                        Plan::Leave(next.applied(true, newest))
                    }
                    Ok((next, entry, after)) => {
                        let refs = next.refs.clone();
                        Plan::Append { entry, next: Content(Arc::clone(&after)), refs, answer: (next, after) }
                    }
                })
            }
        };
        match self.write(&open, call, plan).await? {
            Written::Stored((next, after)) => Ok(next.applied(true, after)),
            Written::Left(outcome @ Outcome::Applied(_)) => Ok(outcome),
            Written::Left(outcome) => {
                let outcome = Box::pin(self.with_both_sides(&open, outcome)).await?;
                let told = if text > TOLD_TEXT { outcome.without_state() } else { outcome.clone() };
                let branch = open.timeline.head().number_of(&branch).unwrap_or(MAIN_BRANCH);
                let actor = call.actor.clone();
                let refused = Event::Refused { actor, branch, outcome: Arc::new(told), edits };
                open.tell(refused, text.min(TOLD_TEXT) + edits * TOLD_EDIT);
                Ok(outcome)
            }
            Written::Repeated(number) => {
                // The branch may be gone by now; what the change set was made on is not.
                let base = match (base, &proposal.base) {
                    (Ok(base), _) => base,
                    (Err(_), None) => None,
                    (Err(_), Some(named)) => match Box::pin(self.revision(&open, Some(named))).await {
                        Ok(base) => Some(base),
                        Err(Error::NotFound { .. }) => None,
                        Err(error) => return Err(error),
                    },
                };
                self.first_answer(&open, base, number).await
            }
        }
    }

    /// What a change set is made on: the revision that the caller saw, if it names one.
    async fn grounds(&self, open: &OpenProgram, proposal: &Proposal) -> Result<Base, Error> {
        if proposal.branch != MAIN {
            self.tip(open, &open.timeline.head(), &proposal.branch).await?;
        }
        match &proposal.base {
            Some(base) => self.revision(open, Some(base)).await.map(Some),
            None => Ok(None),
        }
    }

    /// The revisions of the content after a base up to one that builds on it, which need not be stored yet.
    async fn since(&self, open: &OpenProgram, base: &Base, newest: &Revision) -> Result<Rebased, Error> {
        let Some(base) = base else { return Ok(Rebased::default()) };
        let (mut headers, mut since) = (Headers::new(self, open), Vec::new());
        let mut next = Some(newest.entry.number).filter(|number| *number > base.entry.number);
        while let Some(number) = next.filter(|_| since.len() < MOST_TOLD) {
            let header = headers.get(number).await?;
            next = header.parents.first().copied().filter(|parent| *parent > base.entry.number);
            since.push(header);
        }
        since.reverse();
        let mut total = since.len() as u64;
        if let Some(older) = next {
            // Long stored. Only revisions of the content are on the line.
            let stretches = self.way(open, older).await?.after(base.entry.number).collect();
            let kinds = RevisionKind::ALL.into_iter().filter(|kind| changes_content(*kind));
            let kinds = kinds.map(records::to_kind).collect();
            let filter = HistoryFilter { stretches, kinds, ..HistoryFilter::default() };
            total += self.store().history_len(open.timeline.key(), &filter).await?;
        }
        Ok(Rebased { newest: since, total })
    }

    /// The entry of a change set after a head, and the state that it leads to.
    async fn plan_edits(
        &self,
        open: &OpenProgram,
        base: Base,
        proposal: Arc<Proposal>,
        head: &Head,
        mut refs: RefAllocator,
        call: &Call,
    ) -> Result<Result<(Prepared, Entry, Arc<Revision>), Outcome>, Error> {
        let tip = self.tip(open, head, &proposal.branch).await?;
        // Where the log says less of the counter than its entries have refs.
        refs.reserve(tip.revision.checked.program().largest_number());
        let mut next = match self.apply(open, base.clone(), proposal, &tip, refs).await? {
            Ok(next) => next,
            Err(refusal) => return Ok(Err(refusal)),
        };
        // As long as nothing is stored: whoever is told of a fault has changed nothing.
        next.rebased_over = self.since(open, &base, &tip.revision).await?;
        let content = next.checked.program();
        debug_assert!(content.largest_number() < next.refs.watermark(), "a ref is to be handed out again");
        let header = Header {
            counts: next.counts,
            rests: std::mem::take(&mut next.rests),
            names: next.created.iter().filter_map(|(name, of)| Some((name.clone()?, *of))).collect(),
            ..self.filled_header(RevisionKind::Edit, head, &tip, content, &next.refs, call)
        };
        let entry = Entry::new(header, std::mem::take(&mut next.edits));
        let after = Arc::new(Revision { entry: Arc::clone(&entry.header), checked: next.checked.clone() });
        Ok(Ok((next, entry, after)))
    }

    fn check_size(&self, proposal: &Proposal) -> Result<(), Error> {
        let (edits, most) = (proposal.edits.len(), self.limits().edits_per_change_set);
        if edits > most {
            return Err(Error::Limit {
                which: "editsPerChangeSet",
                limit: most as u64,
                actual: edits as u64,
            });
        }
        let (text, most) = (text_bytes(&proposal.edits), self.limits().text_bytes);
        if text > most {
            return Err(Error::Limit { which: "textBytes", limit: most as u64, actual: text as u64 });
        }
        Ok(())
    }

    /// Applies a change set to a state, without storing anything. Small ones at once, others off the runtime.
    async fn apply(
        &self,
        open: &OpenProgram,
        base: Base,
        proposal: Arc<Proposal>,
        tip: &Tip,
        refs: RefAllocator,
    ) -> Result<Result<Prepared, Outcome>, Error> {
        let before = Arc::clone(&tip.revision);
        let base = base.filter(|base| base.entry.number != before.entry.number);
        let mut since = Vec::new();
        if let Some(base) = &base {
            let (number, head) = (base.entry.number, before.entry.number);
            let is_known = self.way(open, head).await?.holds(&base.entry)
                || self.common(open, head, number).await? == [self.maker(open, number).await?];
            if !is_known {
                return Ok(Err(Outcome::Conflict(elsewhere(&proposal.branch, &base.entry, &before.entry))));
            }
            [since, _] = self.kinship(open, head, number).await?.rests();
        }
        // Carrying over costs what has happened since.
        let small = base.is_none()
            && proposal.edits.len() <= SMALL_EDITS
            && text_bytes(&proposal.edits) <= SMALL_TEXT
            && !proposal.verify_all;
        let work = move || match base {
            None => Ok(build(&proposal, before, refs)),
            Some(base) => carried(&proposal, base, before, &since, refs),
        };
        if small { work() } else { self.compute(work).await? }
    }

    /// Answers a repeated request with what the first one led to.
    async fn first_answer(&self, open: &OpenProgram, base: Base, number: u64) -> Result<Outcome, Error> {
        let missing = || Error::not_found("revision", format!("r{number}"));
        let after = self.state(open, number).await?.ok_or_else(missing)?;
        let parent = after.entry.parents.first().copied().ok_or_else(missing)?;
        let before = self.state(open, parent).await?.ok_or_else(missing)?;
        let entry = Entry { header: Arc::clone(&after.entry), edits: self.edits(open, number).await? };
        let (unchanged, created) = (entry.edits.is_empty(), entry.created());
        let rebased_over = self.since(open, &base, &before).await?;
        Ok(Outcome::Applied(Applied { committed: true, unchanged, rebased_over, before, after, created }))
    }
}

/// The revision that a caller saw, if the request names one.
type Base = Option<Arc<Revision>>;

/// The most revisions that are told as those that a change set was carried over.
const MOST_TOLD: usize = 1_000;

/// A state that a change set led to, before it has an entry.
struct Prepared {
    before: Arc<Revision>,
    checked: Checked,
    refs: RefAllocator,
    edits: Vec<lmlang_history::Edit>,
    /// Whether there are none.
    unchanged: bool,
    counts: ChangeCounts,
    created: Vec<(Option<String>, Ref)>,
    rests: Vec<Rest>,
    /// Revisions that it was carried over, oldest first.
    rebased_over: Rebased,
}

impl Prepared {
    /// What became of the change set.
    fn applied(self, committed: bool, after: Arc<Revision>) -> Outcome {
        let Prepared { before, unchanged, created, rebased_over, .. } = self;
        Outcome::Applied(Applied { committed, unchanged, rebased_over, before, after, created })
    }
}

/// Applies a change set to the state that the caller saw, and carries it over what has happened since; what that rests on
/// is told.
fn carried(
    proposal: &Proposal,
    base: Arc<Revision>,
    before: Arc<Revision>,
    since: &[Rest],
    refs: RefAllocator,
) -> Result<Result<Prepared, Outcome>, Error> {
    let prepared = match build(proposal, Arc::clone(&base), refs) {
        Ok(prepared) => prepared,
        Err(Outcome::Conflict(conflict)) => {
            let (base, head) = (Some(Arc::clone(&base.entry)), Arc::clone(&before.entry));
            return Ok(Err(Outcome::Conflict(Conflict { base, head, ..conflict })));
        }
        Err(outcome) => return Ok(Err(outcome)),
    };
    let complete = proposal.require_complete;
    let rests = [since, prepared.rests.as_slice()];
    match carry_over(&base.checked, &before.checked, &prepared.checked, rests, complete)? {
        Ok(checked) => {
            let difference = diff(before.checked.program(), checked.program());
            let (counts, edits) = (difference.counts(), difference.edits);
            let unchanged = edits.is_empty();
            Ok(Ok(Prepared { before, checked, counts, edits, unchanged, ..prepared }))
        }
        Err(conflicts) => {
            let (base, head) = (Some(Arc::clone(&base.entry)), Arc::clone(&before.entry));
            Ok(Err(Outcome::Conflict(Conflict { base, head, conflicts })))
        }
    }
}

/// Applies a change set to a state and verifies what came of it.
fn build(proposal: &Proposal, before: Arc<Revision>, mut refs: RefAllocator) -> Result<Prepared, Outcome> {
    let Expanded { program, edits, counts, created, touched, rests } =
        expand(before.checked.program(), &mut refs, &proposal.edits)
            .map_err(|refused| refuse(refused, &before))?;
    let checked = match proposal.verify_all {
        true => Checked::full(program, threads()),
        false => before.checked.update(program),
    };
    let delta = checked.findings().since(before.checked.findings());
    // What a change elsewhere may leave behind is an error where the request itself made it.
    let refused = |found: &Diagnostic| match found.class() {
        Class::Error => true,
        Class::Stale => touched.covers(found.at.entity, found.at.port),
        Class::Incomplete | Class::Warning => false,
    };
    let (mut errors, mut warnings): (Vec<_>, Vec<_>) = delta.added.into_iter().partition(refused);
    if proposal.require_complete {
        // What is left behind elsewhere, and what a touched function was without before.
        let (behind, rest) = warnings.into_iter().partition(Diagnostic::is_incomplete);
        (errors, warnings) = ([errors, behind].concat(), rest);
        let known: HashSet<Identity> = errors.iter().map(Diagnostic::identity).collect();
        let functions: BTreeSet<FuncRef> = edits.iter().filter_map(lmlang_history::Edit::function).collect();
        let missing = functions
            .into_iter()
            .flat_map(|of| checked.findings().of_function(of))
            .filter(|found| found.is_incomplete() && !known.contains(&found.identity()));
        errors.extend(missing.cloned());
    }
    if errors.is_empty() {
        let (unchanged, rebased_over) = (edits.is_empty(), Rebased::default());
        return Ok(Prepared {
            before,
            checked,
            refs,
            edits,
            unchanged,
            counts,
            created,
            rests,
            rebased_over,
        });
    }
    let finding = |diagnostic: Diagnostic| {
        let (edit, path) = blame(checked.program(), &proposal.edits, &touched, &diagnostic).unzip();
        let spots = [diagnostic.spot(checked.program()), diagnostic.at.entity];
        let mut spots = spots.into_iter().chain(diagnostic.beside);
        let place = edit.and_then(|edit| spots.find_map(|spot| touched.place_in(edit, spot)));
        Finding { edit, path: path.unwrap_or_default(), place, diagnostic }
    };
    let findings = errors.into_iter().map(finding).collect();
    Err(Outcome::Rejected(Box::new(Rejected {
        after: Some(checked),
        findings,
        warnings,
        ..Rejected::default()
    })))
}

/// What a change set that could not be applied comes to.
fn refuse(refused: Refused, before: &Revision) -> Outcome {
    let Refused { errors, conflicts, suppressed } = refused;
    // Whoever writes on what is not so any more learns that, whatever else is wrong: the mistakes may come from it.
    if conflicts.is_empty() {
        return Outcome::Rejected(Box::new(Rejected { errors, suppressed, ..Rejected::default() }));
    }
    let conflicts = conflicts.into_iter().map(Collision::stale).collect();
    Outcome::Conflict(Conflict { base: None, head: Arc::clone(&before.entry), conflicts })
}

/// Bytes of text in a change set.
fn text_bytes(edits: &[EditRequest]) -> usize {
    edits.iter().map(EditRequest::text_bytes).sum()
}

//! Bringing changes together: a branch into another, and a change set over what has happened since it was made.
//!
//! Both are a three-way merge of states, with the verifier's word on what came of it: nothing is stored that has a finding
//! which neither side has alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_history::merge::{self, Side, merge, merge_resting};
use lmlang_history::revision::MAIN;
use lmlang_history::{Rest, diff};
use lmlang_ir::{Program, Ref, RefAllocator};
use lmlang_store::FIRST_SEQ;
use lmlang_verify::{Checked, Class, Diagnostic, disagreements};

use crate::branches::Tip;
use crate::conflict::{Collision, Conflict, moved};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::resolving::{Combined, Resolution, combine};
use crate::timeline::{Head, Revision};
use crate::undo::Arrival;
use crate::writing::{Next, Plan, UNHELD, Written};

/// A request to bring one state into a branch.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// The revision whose changes are brought in: a branch, mostly.
    pub from: String,
    /// The branch that they are brought into.
    pub into: String,
    /// What to do about conflicts.
    pub resolutions: Vec<Resolution>,
    /// The head of that branch that the caller saw; another one now is a conflict.
    pub expected_head: Option<String>,
    /// Whether to stop before anything is stored.
    pub dry_run: bool,
}

/// What a merge would come to.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The head of the branch that is merged into.
    pub before: Arc<Revision>,
    /// What would come of it with ours where something is in conflict. Its entry is not in the log.
    pub after: Arc<Revision>,
    /// What collides.
    pub conflicts: Vec<Collision>,
    /// What the verifier finds in it that it does not find in the branch.
    pub findings: Vec<Diagnostic>,
}

/// Three states to be merged, as they were when they were looked up.
#[derive(Clone, Debug)]
struct Sides {
    into: Tip,
    from: Arc<Revision>,
    /// The head that the caller saw.
    expected: Option<Arc<Header>>,
    /// The newest revision that both come from.
    base: Arc<Revision>,
    /// Its content; where there are several such revisions, what they come to together.
    content: Program,
    /// What the branch, and what is brought in, rest on beyond what they changed since that.
    rests: [Vec<Rest>; 2],
    /// Whether the branch has all of what is brought in.
    has_all: bool,
}

impl Engine {
    /// Merges a revision into a branch, by appending a revision with both as its parents.
    pub async fn merge(
        &self,
        open: &OpenProgram,
        request: &MergeRequest,
        call: &Call,
    ) -> Result<Arrival, Error> {
        self.catch_up(open).await?;
        if request.dry_run {
            let (head, refs) = (open.timeline.head(), open.timeline.refs());
            let sides = self.sides(open, &head, request).await?;
            return Ok(match self.plan_merge(open, request, sides, &head, refs, call).await? {
                Err(arrival) => arrival,
                Ok((_, before, after, _)) => Arrival::Made { committed: false, before, after },
            });
        }
        for attempt in 0..=UNHELD {
            // Before the writer is held: old states may take a while to find. What is not there is told by the plan.
            let before = &self.sides(open, &open.timeline.head(), request).await;
            let plan = |head: Arc<Head>, refs: RefAllocator| async move {
                let sides = match before {
                    Ok(sides) if sides.are_newest(&head, request) => sides.clone(),
                    Ok(_) if attempt < UNHELD => return Ok(Plan::Leave(None)),
                    Ok(_) => self.sides(open, &head, request).await?,
                    Err(error) => return Err(error.clone()),
                };
                Ok(match self.plan_merge(open, request, sides, &head, refs, call).await? {
                    Err(arrival) => Plan::Leave(Some(arrival)),
                    Ok((entry, before, after, refs)) => {
                        let next = Next::Content(Arc::clone(&after));
                        Plan::Append { entry, next, refs, answer: (before, after) }
                    }
                })
            };
            return match self.write(open, call, plan).await? {
                Written::Stored((before, after)) => Ok(Arrival::Made { committed: true, before, after }),
                Written::Left(Some(arrival)) => Ok(arrival),
                // The branches have moved meanwhile.
                Written::Left(None) => continue,
                Written::Repeated(number) => self.arrived(open, number).await,
            };
        }
        Err(Error::Overloaded { what: "changes" })
    }

    /// What a merge would come to. Stores nothing.
    pub async fn merge_preview(
        &self,
        open: &OpenProgram,
        request: &MergeRequest,
        call: &Call,
    ) -> Result<Preview, Error> {
        self.catch_up(open).await?;
        let head = open.timeline.head();
        let sides = self.sides(open, &head, request).await?;
        let refs = open.timeline.refs();
        let combined = self.combine(&sides, request.resolutions.clone(), refs.clone()).await?;
        let conflicts = combined.conflicts.clone();
        let without = self.ours_where_open(&sides, combined, request.resolutions.clone(), refs).await?;
        let (_, after) = self.merged(&sides, &without, &head, call).await?;
        let findings = after.checked.findings().since(sides.into.revision.checked.findings()).added;
        Ok(Preview { before: sides.into.revision, after, conflicts, findings })
    }

    async fn sides(&self, open: &OpenProgram, head: &Head, request: &MergeRequest) -> Result<Sides, Error> {
        let into = self.tip(open, head, &request.into).await?;
        let from = self.revision_heard_of(open, &request.from).await?;
        let expected = match &request.expected_head {
            Some(expected) => Some(self.named(open, expected).await?),
            None => None,
        };
        let kinship = self.kinship(open, into.revision.entry.number, from.entry.number).await?;
        let (rests, common) = (kinship.rests(), kinship.common);
        let has_all = common == [self.maker(open, from.entry.number).await?];
        let mut bases = Vec::new();
        for number in common {
            bases.push(self.found(open, number).await?);
        }
        let missing = || Error::not_found("revision", request.from.clone());
        let base = bases.first().map(Arc::clone).ok_or_else(missing)?;
        let mut content = base.checked.program().clone();
        for other in bases.into_iter().skip(1) {
            // What they say differently is as it was before both, so that it is asked about again.
            let before = self.common(open, base.entry.number, other.entry.number).await?;
            let before = self.found(open, before.first().copied().unwrap_or(FIRST_SEQ)).await?;
            let merge = move || {
                let other = other.checked.program();
                merged_states(before.checked.program(), &content, other).map(|merged| merged.program)
            };
            content = self.compute(merge).await??;
        }
        Ok(Sides { into, from, expected, base, content, rests, has_all })
    }

    async fn found(&self, open: &OpenProgram, number: u64) -> Result<Arc<Revision>, Error> {
        let missing = || Error::not_found("revision", format!("r{number}"));
        self.state(open, number).await?.ok_or_else(missing)
    }

    /// The entry of a merge, the states before and after it, and the counter of refs.
    async fn plan_merge(
        &self,
        open: &OpenProgram,
        request: &MergeRequest,
        sides: Sides,
        head: &Head,
        refs: RefAllocator,
        call: &Call,
    ) -> Result<Result<(Entry, Arc<Revision>, Arc<Revision>, RefAllocator), Arrival>, Error> {
        let newest = &sides.into.revision.entry;
        if let Some(seen) = sides.expected.as_ref().filter(|seen| seen.number != newest.number) {
            return Ok(Err(Arrival::Conflict(moved(&request.into, seen, newest))));
        }
        if sides.has_all {
            let MergeRequest { from, into, .. } = request;
            let taken_back = match self.merge_taken_back(open, newest.number, &sides.from.entry).await? {
                Some((merge, revert)) => format!(
                    ": r{merge} brought it in and r{revert} took that back; reverting r{revert} brings it back"
                ),
                None => String::new(),
            };
            let reason = format!("`{into}` has all of `{from}` already{taken_back}");
            return Ok(Err(Arrival::Nothing(reason)));
        }
        let combined = self.combine(&sides, request.resolutions.clone(), refs).await?;
        if !combined.conflicts.is_empty() {
            let head = Arc::clone(&sides.into.revision.entry);
            let (base, conflicts) = (Some(Arc::clone(&sides.base.entry)), combined.conflicts);
            return Ok(Err(Arrival::Conflict(Conflict { base, head, conflicts })));
        }
        let (entry, after) = self.merged(&sides, &combined, head, call).await?;
        Ok(Ok((entry, sides.into.revision, after, combined.refs)))
    }

    /// The entry that leads from the branch to what came of a merge, and that state.
    async fn merged(
        &self,
        sides: &Sides,
        combined: &Combined,
        head: &Head,
        call: &Call,
    ) -> Result<(Entry, Arc<Revision>), Error> {
        let (into, checked) = (sides.into.revision.checked.clone(), combined.checked.clone());
        let compare = move || diff(into.program(), checked.program());
        let difference = self.compute(compare).await?;
        let content = combined.checked.program();
        let header =
            self.filled_header(RevisionKind::Merge, head, &sides.into, content, &combined.refs, call);
        let header = Header {
            parents: vec![sides.into.revision.entry.number, sides.from.entry.number],
            counts: difference.counts(),
            resolved: combined.resolved.iter().copied().collect(),
            rests: combined.rests.clone(),
            ..header
        };
        let entry = Entry::new(header, difference.edits);
        let after =
            Arc::new(Revision { entry: Arc::clone(&entry.header), checked: combined.checked.clone() });
        Ok((entry, after))
    }

    /// What is in conflict, and what comes up by that, as the branch has it that is merged into.
    async fn ours_where_open(
        &self,
        sides: &Sides,
        mut combined: Combined,
        mut resolutions: Vec<Resolution>,
        refs: RefAllocator,
    ) -> Result<Combined, Error> {
        loop {
            let known: BTreeSet<Ref> = resolutions.iter().map(|one| one.of).collect();
            let open: BTreeSet<Ref> =
                combined.conflicts.iter().filter_map(|conflict| conflict.of.parse().ok()).collect();
            if open.is_subset(&known) {
                return Ok(combined);
            }
            let ours = |of: &Ref| Resolution { of: *of, take: Some(Side::Ours), edits: Vec::new() };
            resolutions.extend(open.difference(&known).map(ours));
            combined = self.combine(sides, resolutions.clone(), refs.clone()).await?;
        }
    }

    /// Merges three states. The cost follows what the sides changed; not on the runtime's threads.
    async fn combine(
        &self,
        sides: &Sides,
        resolutions: Vec<Resolution>,
        refs: RefAllocator,
    ) -> Result<Combined, Error> {
        let (base, rests) = (sides.content.clone(), sides.rests.clone());
        let states = [&sides.into.revision, &sides.from].map(|side| side.checked.clone());
        self.compute(move || combine(&base, &states, &rests, &resolutions, refs)).await?
    }
}

impl Sides {
    /// Whether nothing has happened to the branches since.
    fn are_newest(&self, head: &Head, request: &MergeRequest) -> bool {
        let newest = |name: &str| match name == MAIN {
            true => Some(&head.main),
            false => head.branches.get(name)?.tip(),
        };
        let from = newest(&request.from).map(|tip| tip.revision.entry.number);
        newest(&request.into).is_some_and(|tip| tip.is(&self.into))
            && from.is_none_or(|number| number == self.from.entry.number)
    }
}

pub(crate) fn merged_states(base: &Program, ours: &Program, theirs: &Program) -> Result<merge::Merge, Error> {
    merge(base, ours, theirs, &[]).map_err(unmergeable)
}

/// What a caller is told when there is no merged state.
pub(crate) fn unmergeable(error: merge::Error) -> Error {
    match error {
        merge::Error::ResolvedTwice(_) => Error::bad_request(error.to_string()),
        merge::Error::Structure(cause) => Error::Unmergeable { cause },
    }
}

/// What a change set on an older state, which is right there, comes to on a newer one. `rests` is what the newer one and the
/// change set rest on beyond what they changed.
///
/// With `complete`, what neither state lacks and both together do is a conflict, too.
pub(crate) fn carry_over(
    base: &Checked,
    head: &Checked,
    changed: &Checked,
    rests: [&[Rest]; 2],
    complete: bool,
) -> Result<Result<Checked, Vec<Collision>>, Error> {
    let states = [head.program(), changed.program()];
    let merged = merge_resting(base.program(), states, rests, &[], |_| Vec::new()).map_err(unmergeable)?;
    if !merged.conflicts.is_empty() {
        return Ok(Err(merged.conflicts.into_iter().map(Collision::from).collect()));
    }
    let checked = head.update(merged.program);
    let mut together = disagreements(&checked, head, changed);
    if complete {
        let added = checked.findings().since(head.findings()).added;
        let known = changed.findings();
        together.extend(added.into_iter().filter(|found| {
            let there = known.of_entity(found.at.function, found.at.entity.number);
            found.class() == Class::Incomplete
                && there.iter().all(|other| other.identity() != found.identity())
        }));
    }
    let sides = [base.program(), head.program(), changed.program()].map(Some);
    let collision = |found: &Diagnostic| Collision::disagreement(checked.program(), sides, found);
    match together.is_empty() {
        true => Ok(Ok(checked)),
        false => Ok(Err(together.iter().map(collision).collect())),
    }
}

//! Taking chosen revisions back and keeping later work.
//!
//! What is taken back is taken back as a merge: of the state after it, the state before it, and the newest one. Where later
//! work is in the way, the revisions that did that work have to go too. The plan says which, and what the verifier finds in
//! the result; a dry run is the plan alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_history::footprint::{Collision as Touching, Footprint, Touch, footprint};
use lmlang_history::line::NothingToDo;
use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_history::merge::{Conflict as Colliding, merge_resting};
use lmlang_history::{Diff, Edit, Rest, apply_all, diff};
use lmlang_ir::{FuncRef, Program, RefAllocator};
use lmlang_verify::{Checked, Class, Diagnostic};
use uuid::Uuid;

use crate::ancestry::Headers;
use crate::branches::Tip;
use crate::choosing::{Which, in_line, taken_back_without};
use crate::conflict::{Collision, Conflict, kind, moved};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::merging::unmergeable;
use crate::opening::damaged;
use crate::request::Call;
use crate::timeline::{Head, Revision};
use crate::undo::Arrival;
use crate::writing::{Next, Plan, UNHELD, Written};

/// A request to take revisions back.
#[derive(Clone, Debug)]
pub struct RevertRequest {
    /// The branch whose head is to move.
    pub branch: String,
    /// Which revisions.
    pub which: Which,
    /// The head that the caller saw; another one now is a conflict.
    pub expected_head: Option<String>,
    /// Whether to stop before anything is stored.
    pub dry_run: bool,
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct Reverted {
    /// The revision that was made, if any.
    pub arrival: Arrival,
    /// Revisions that were asked for, oldest first.
    pub removed: Vec<Arc<Header>>,
    /// Revisions that had to go with those that were asked for, oldest first.
    pub also_removed: Vec<Arc<Header>>,
    /// Later revisions that stay, oldest first.
    pub kept: Vec<Arc<Header>>,
    /// What the verifier finds in the result and not in the state before.
    pub findings: Vec<Diagnostic>,
}

/// The most revisions between the newest one and the oldest that is taken back.
pub(crate) const MOST: usize = 10_000;

/// One of the entries that the content of a branch is made of.
struct Step {
    header: Arc<Header>,
    edits: Vec<Edit>,
}

/// What is to be taken back of what, oldest first.
struct Undertaking {
    /// The state before the first step.
    before: Program,
    steps: Vec<Step>,
    /// Numbers of the entries that were asked for.
    asked: BTreeSet<u64>,
}

/// What an undertaking comes to.
struct Outcome {
    checked: Checked,
    /// Numbers of the entries that are taken back.
    removed: BTreeSet<u64>,
    /// What is in the way and belongs to nobody.
    conflicts: Vec<Colliding>,
}

/// A conflict with what has happened since, by how many steps had been made before that.
type Since = (usize, Colliding);

/// What a request comes to on the newest state of its branch.
#[derive(Clone)]
struct Planned {
    tip: Tip,
    /// What is done, or why nothing is.
    done: Result<Arc<Done>, Box<Reverted>>,
}

struct Done {
    removed: Vec<Arc<Header>>,
    also_removed: Vec<Arc<Header>>,
    kept: Vec<Arc<Header>>,
    findings: Vec<Diagnostic>,
    checked: Checked,
    difference: Diff,
}

impl Reverted {
    fn nothing(arrival: Arrival) -> Reverted {
        let none = Vec::new;
        Reverted { arrival, removed: none(), also_removed: none(), kept: none(), findings: Vec::new() }
    }
}

impl Engine {
    /// Takes revisions back, by appending one whose content is as if they had not been made.
    pub async fn revert(
        &self,
        open: &OpenProgram,
        request: &RevertRequest,
        call: &Call,
    ) -> Result<Reverted, Error> {
        self.catch_up(open).await?;
        if request.dry_run {
            let (head, refs) = (open.timeline.head(), open.timeline.refs());
            let planned = self.plan_revert(open, request, &head).await?.entry(self, &head, &refs, call);
            return Ok(planned.map_or_else(|refused| *refused, |(_, _, reverted)| reverted));
        }
        for attempt in 0..=UNHELD {
            // Before the writer is held: it may take a while. What is not there is told by the plan.
            let before = &self.plan_revert(open, request, &open.timeline.head()).await;
            let plan = |head: Arc<Head>, refs: RefAllocator| async move {
                let newest = self.tip(open, &head, &request.branch).await?;
                let planned = match before {
                    Ok(planned) if planned.tip.is(&newest) => planned.clone(),
                    Ok(_) if attempt < UNHELD => return Ok(Plan::Leave(None)),
                    Ok(_) => self.plan_revert(open, request, &head).await?,
                    Err(error) => return Err(error.clone()),
                };
                Ok(match planned.entry(self, &head, &refs, call) {
                    Err(refused) => Plan::Leave(Some(refused)),
                    Ok((entry, after, reverted)) => {
                        Plan::Append { entry, next: Next::Content(after), refs, answer: reverted }
                    }
                })
            };
            return match self.write(open, call, plan).await? {
                Written::Stored(reverted) => Ok(reverted.committed()),
                Written::Left(Some(refused)) => Ok(*refused),
                // The branch has moved meanwhile.
                Written::Left(None) => continue,
                Written::Repeated(number) => self.reverted(open, request, number).await,
            };
        }
        Err(Error::Overloaded { what: "changes" })
    }

    /// What a request comes to as of a head.
    async fn plan_revert(
        &self,
        open: &OpenProgram,
        request: &RevertRequest,
        head: &Head,
    ) -> Result<Planned, Error> {
        let tip = self.tip(open, head, &request.branch).await?;
        let refused = |tip: &Tip, reverted| Planned { tip: tip.clone(), done: Err(Box::new(reverted)) };
        if let Some(expected) = &request.expected_head {
            let (seen, newest) = (self.named(open, expected).await?, &tip.revision.entry);
            if seen.number != newest.number {
                let conflict = moved(&request.branch, &seen, newest);
                return Ok(refused(&tip, Reverted::nothing(Arrival::Conflict(conflict))));
            }
        }
        if request.which.count() == 0 {
            return Ok(refused(&tip, Reverted::nothing(Arrival::Nothing(NothingToDo::NoStep.to_string()))));
        }
        let undertaking = match self.undertaking(open, request, &tip).await? {
            Ok(undertaking) => undertaking,
            Err(reason) => return Ok(refused(&tip, Reverted::nothing(Arrival::Nothing(reason)))),
        };
        let newest = tip.revision.checked.clone();
        let work = move || {
            let outcome = undertaking.carry_out(&newest)?;
            let findings = outcome.checked.findings().since(newest.findings()).added;
            let difference = diff(newest.program(), outcome.checked.program());
            Ok::<_, Error>((undertaking, outcome, findings, difference))
        };
        let (undertaking, outcome, findings, difference) = self.compute(work).await??;
        let checked = outcome.checked;
        let wrong = findings.iter().filter(|found| found.class() == Class::Error);
        let sides = [None, Some(tip.revision.checked.program()), Some(checked.program())];
        let wrong = wrong.map(|found| Collision::disagreement(checked.program(), sides, found));
        let mut conflicts: Vec<Collision> =
            outcome.conflicts.into_iter().map(Collision::from).chain(wrong).collect();
        let Undertaking { steps, asked, .. } = undertaking;
        let line: Vec<Arc<Header>> = steps.iter().rev().map(|step| Arc::clone(&step.header)).collect();
        let gone = taken_back_without(&line, &outcome.removed);
        let headers = |wanted: &dyn Fn(&u64) -> bool| {
            let there = line.iter().rev().filter(|header| !gone.contains(&header.number));
            there.filter(|header| wanted(&header.number)).map(Arc::clone).collect::<Vec<_>>()
        };
        let removed = headers(&|number| asked.contains(number));
        let also_removed = headers(&|number| outcome.removed.contains(number) && !asked.contains(number));
        let kept = headers(&|number| !outcome.removed.contains(number));
        // Who takes back their own takes nobody else's along.
        if let Which::Newest(author, _) | Which::TakenBack(author, _) = &request.which {
            let others = also_removed.iter().filter(|header| header.actor.name != *author);
            conflicts.extend(others.map(|header| rested_on(header)));
        }
        if !conflicts.is_empty() {
            let head = Arc::clone(&tip.revision.entry);
            let arrival = Arrival::Conflict(Conflict { base: None, head, conflicts });
            return Ok(refused(&tip, Reverted { arrival, removed, also_removed, kept, findings }));
        }
        let done = Done { removed, also_removed, kept, findings, checked, difference };
        Ok(Planned { tip, done: Ok(Arc::new(done)) })
    }

    /// What is to be taken back, with all that has happened since; or why there is nothing.
    async fn undertaking(
        &self,
        open: &OpenProgram,
        request: &RevertRequest,
        tip: &Tip,
    ) -> Result<Result<Undertaking, String>, Error> {
        let newest = tip.revision.entry.number;
        let named = self.named_by_request(open, request).await?;
        if named.is_empty() && matches!(request.which, Which::Revisions(_)) {
            return Ok(Err(request.nothing()));
        }
        let back_to = named.first().copied();
        let line = self.made_of(open, newest, back_to, &request.which).await?;
        let mut asked = match &request.which {
            Which::Revisions(_) => named,
            which => which.choose(&line),
        };
        if asked.is_empty() {
            let elsewhere = match &request.which {
                Which::TakenBack(author, _) => Box::pin(self.undone(open, tip, Some(author))).await?,
                which => match which.maker() {
                    Some(maker) => request.came_with(self.merged_of(open, tip, &line, maker).await?),
                    None => String::new(),
                },
            };
            return Ok(Err(request.nothing() + &elsewhere));
        }
        let nothing = request.nothing_of(&asked);
        for number in asked.clone() {
            match in_line(&line, number) {
                Some(header) if header.parents.is_empty() => {
                    let message = format!("r{number} made the program: there is nothing before it");
                    return Err(Error::bad_request(message));
                }
                Some(_) => {}
                None => {
                    self.was_left(open, (tip, &request.branch), &line, number).await?;
                    asked.remove(&number);
                }
            }
        }
        let gone = taken_back_without(&line, &asked);
        asked.retain(|number| !gone.contains(number));
        let Some(oldest) = asked.first().copied() else { return Ok(Err(nothing)) };
        let headers: Vec<Arc<Header>> = line.into_iter().filter(|header| header.number >= oldest).collect();
        if headers.len() > MOST {
            return Err(too_far(headers.len()));
        }
        let mut steps = Vec::with_capacity(headers.len());
        for header in headers.into_iter().rev() {
            let edits = match open.timeline.submitted(header.number) {
                Some(entry) => entry.edits.clone(),
                None => self.edits(open, header.number).await?,
            };
            steps.push(Step { header, edits });
        }
        let first = steps.first().and_then(|step| step.header.parents.first().copied()).unwrap_or_default();
        let missing = || Error::not_found("revision", format!("r{first}"));
        let before = match open.timeline.made(first) {
            Some(before) => before,
            None => self.state(open, first).await?.ok_or_else(missing)?.checked.clone(),
        };
        Ok(Ok(Undertaking { before: before.program().clone(), steps, asked }))
    }

    async fn named_by_request(
        &self,
        open: &OpenProgram,
        request: &RevertRequest,
    ) -> Result<BTreeSet<u64>, Error> {
        let mut named = BTreeSet::new();
        if let Which::Revisions(names) = &request.which {
            for name in names {
                named.insert(self.named(open, name).await?.number);
            }
        }
        Ok(named)
    }

    /// The entries that the content of a state is made of on its branch, newest first: back to a number, or as far as it
    /// takes to choose.
    async fn made_of(
        &self,
        open: &OpenProgram,
        newest: u64,
        back_to: Option<u64>,
        which: &Which,
    ) -> Result<Vec<Arc<Header>>, Error> {
        let mut headers = Headers::new(self, open);
        let (mut line, mut next) = (Vec::new(), Some(newest));
        while let Some(number) = next {
            let header = headers.maker(number).await?;
            next = header.parents.first().copied();
            let far = back_to.is_some_and(|oldest| header.number <= oldest);
            line.push(header);
            // Not after each: choosing looks at all of them.
            let chosen = || line.len().is_power_of_two() && which.has_chosen(&line);
            if far || back_to.is_none() && chosen() {
                break;
            }
        }
        Ok(line)
    }

    /// What became of a request that was carried out before.
    async fn reverted(
        &self,
        open: &OpenProgram,
        request: &RevertRequest,
        number: u64,
    ) -> Result<Reverted, Error> {
        let arrival = self.arrived(open, number).await?;
        let Arrival::Made { before, after, .. } = &arrival else { return Ok(Reverted::nothing(arrival)) };
        let removed: BTreeSet<u64> = after.entry.taken_back().collect();
        let line = self.made_of(open, before.entry.number, removed.first().copied(), &request.which).await?;
        let gone = taken_back_without(&line, &removed);
        let line = line.into_iter().rev().filter(|header| !gone.contains(&header.number));
        let (gone, kept): (Vec<_>, Vec<_>) = line.partition(|header| removed.contains(&header.number));
        let also: BTreeSet<u64> = after.entry.also_reverts.iter().copied().collect();
        let (also_removed, removed) =
            gone.into_iter().partition(|header: &Arc<Header>| also.contains(&header.number));
        Ok(Reverted {
            removed,
            also_removed,
            kept,
            findings: after.checked.findings().since(before.checked.findings()).added,
            arrival,
        })
    }
}

/// A revision by somebody else that would have to go, too.
fn rested_on(header: &Header) -> Collision {
    let number = header.number;
    let message = format!(
        "r{number} by `{}` rests on what would be taken back: `revert` takes both, and says what else goes",
        header.actor.name
    );
    Collision::plain(format!("r{number}"), kind::RESTED_ON, message)
}

/// The error of a request that goes further back than is looked.
fn too_far(span: usize) -> Error {
    Error::Limit { which: "revertedSpan", limit: MOST as u64, actual: span as u64 }
}

impl RevertRequest {
    /// Why nothing is done about entries that were taken back already.
    fn nothing_of(&self, asked: &BTreeSet<u64>) -> String {
        let branch = &self.branch;
        match asked.first().filter(|_| asked.len() == 1) {
            Some(number) => format!("r{number} was taken back on `{branch}` already"),
            None => format!("all of these revisions were taken back on `{branch}` already"),
        }
    }

    /// Where the work is to be found that cannot be taken back by itself.
    fn came_with(&self, merge: Option<u64>) -> String {
        let Some(merge) = merge else { return String::new() };
        let (what, can_be) = match &self.which {
            Which::Run(_) => ("its work", "can be taken back"),
            Which::Revisions(_) | Which::Author(_) | Which::Newest(..) | Which::TakenBack(..) => {
                ("theirs", "can be")
            }
        };
        format!(": {what} came with the merge r{merge}, which {can_be}")
    }

    fn nothing(&self) -> String {
        let branch = &self.branch;
        match &self.which {
            Which::Revisions(_) => "no revision was named".to_owned(),
            Which::Author(author) | Which::Newest(author, _) => {
                format!("no revision of `{branch}` by `{author}` could be taken back")
            }
            Which::Run(run) => format!("the content of `{branch}` has nothing by the run R-{run}"),
            Which::TakenBack(author, _) => {
                format!(
                    "nothing by `{author}` was taken back on `{branch}` since the last change by `{author}`"
                )
            }
        }
    }
}

impl Undertaking {
    /// Takes back what was asked for, what is in the way of that, and what is wrong without it.
    fn carry_out(&self, newest: &Checked) -> Result<Outcome, Error> {
        let (states, prints) = self.replay()?;
        let mut removed = self.asked.clone();
        loop {
            let (program, conflicts) = self.without(&removed, &states, newest.program())?;
            let mut in_the_way = self.in_the_way(&conflicts, &removed, &prints);
            if in_the_way.is_empty() {
                let checked = newest.update(program);
                in_the_way = self.wrong(&checked, newest, &removed, &prints);
                if in_the_way.is_empty() {
                    let conflicts = conflicts.into_iter().map(|(_, conflict)| conflict).collect();
                    return Ok(Outcome { checked, removed, conflicts });
                }
            }
            removed.extend(in_the_way);
        }
    }

    /// The states before each step and after the last one, and what each step reads and writes.
    fn replay(&self) -> Result<(Vec<Program>, Vec<Footprint>), Error> {
        let (mut states, mut prints) = (vec![self.before.clone()], Vec::new());
        let mut program = self.before.clone();
        for step in &self.steps {
            prints.push(footprint(&step.edits, &program));
            apply_all(&mut program, &step.edits)
                .map_err(|error| damaged(Uuid::nil(), step.header.number, &error.to_string()))?;
            states.push(program.clone());
        }
        Ok((states, prints))
    }

    /// The newest state without some steps: those that follow each other are taken back at once, the newest first.
    fn without(
        &self,
        removed: &BTreeSet<u64>,
        states: &[Program],
        newest: &Program,
    ) -> Result<(Program, Vec<Since>), Error> {
        let (mut program, mut conflicts) = (newest.clone(), Vec::new());
        let is_removed = |at: usize| removed.contains(&self.steps[at].header.number);
        let mut end = self.steps.len();
        while end > 0 {
            if !is_removed(end - 1) {
                end -= 1;
                continue;
            }
            let mut start = end - 1;
            while start > 0 && is_removed(start - 1) {
                start -= 1;
            }
            // Who made something of what is taken back has it as it was until now.
            let kept = self.steps[end..].iter().filter(|step| !removed.contains(&step.header.number));
            let rests: Vec<Rest> = kept.flat_map(|step| step.header.rests.iter().cloned()).collect();
            let sides = [&program, &states[start]];
            let merged = merge_resting(&states[end], sides, [&rests, &[]], &[], |_| Vec::new());
            let merged = merged.map_err(unmergeable)?;
            conflicts.extend(merged.conflicts.into_iter().map(|conflict| (end, conflict)));
            program = merged.program;
            end = start;
        }
        Ok((program, conflicts))
    }

    /// The steps that stay and touched, later, what is in conflict.
    fn in_the_way(
        &self,
        conflicts: &[Since],
        removed: &BTreeSet<u64>,
        prints: &[Footprint],
    ) -> BTreeSet<u64> {
        let touches = |at: usize, over: &Touching| match over {
            Touching::Touch(touch) => prints[at].writes.contains(touch) || prints[at].reads.contains(touch),
            Touching::Gap(gap) => prints[at].gaps.contains_key(gap),
            Touching::Rest(of) => self.steps[at].header.rests.iter().any(|rest| rest.on == *of),
        };
        // What a node followed when it came may be gone: then it is the region that tells.
        let fills = |at: usize, over: &Touching| match over {
            Touching::Touch(_) | Touching::Rest(_) => false,
            Touching::Gap(gap) => prints[at].gaps.keys().any(|other| other.region == gap.region),
        };
        let mut found = BTreeSet::new();
        for (end, conflict) in conflicts {
            let later = |is_near: &dyn Fn(usize, &Touching) -> bool| -> Vec<u64> {
                let numbers = self.steps.iter().map(|step| step.header.number).enumerate().skip(*end);
                let kept = numbers.filter(|(_, number)| !removed.contains(number));
                let near = kept.filter(|(at, _)| conflict.over.iter().any(|over| is_near(*at, over)));
                near.map(|(_, number)| number).collect()
            };
            let exact = later(&touches);
            found.extend(if exact.is_empty() { later(&fills) } else { exact });
        }
        found
    }

    /// The later steps that stay and made or changed what the verifier finds wrong; those in the same function, if none did.
    fn wrong(
        &self,
        checked: &Checked,
        newest: &Checked,
        removed: &BTreeSet<u64>,
        prints: &[Footprint],
    ) -> BTreeSet<u64> {
        let added = checked.findings().since(newest.findings()).added;
        let wrong: Vec<&Diagnostic> = added.iter().filter(|found| found.class() == Class::Error).collect();
        let steps =
            || self.steps.iter().zip(prints).filter(|(step, _)| !removed.contains(&step.header.number));
        let numbers = |is_near: &dyn Fn(&Step, &Footprint) -> bool| -> BTreeSet<u64> {
            let near = steps().filter(|(step, print)| is_near(step, print));
            near.map(|(step, _)| step.header.number).collect()
        };
        let changed = numbers(&|_, print| {
            let mut written = print.writes.iter().filter_map(Touch::of);
            written.any(|of| wrong.iter().any(|found| found.at.entity == of || found.beside == Some(of)))
        });
        if !changed.is_empty() {
            return changed;
        }
        let functions: BTreeSet<FuncRef> = wrong.iter().filter_map(|found| found.at.function).collect();
        numbers(&|step, _| step.edits.iter().filter_map(Edit::function).any(|of| functions.contains(&of)))
    }
}

impl Planned {
    /// The entry that does it after a head, the state that it leads to, and what the caller is told as long as it is not
    /// stored; or why nothing is done.
    fn entry(
        self,
        engine: &Engine,
        head: &Head,
        refs: &RefAllocator,
        call: &Call,
    ) -> Result<(Entry, Arc<Revision>, Reverted), Box<Reverted>> {
        let done = self.done?;
        let numbers =
            |headers: &[Arc<Header>]| headers.iter().map(|header| header.number).collect::<Vec<_>>();
        let reverts = numbers(&done.removed);
        let header = Header {
            counts: done.difference.counts(),
            target: reverts.first().copied().filter(|_| reverts.len() == 1),
            reverts,
            also_reverts: numbers(&done.also_removed),
            ..engine.filled_header(RevisionKind::Revert, head, &self.tip, done.checked.program(), refs, call)
        };
        let entry = Entry::new(header, done.difference.edits.clone());
        let (header, checked) = (Arc::clone(&entry.header), done.checked.clone());
        let after = Arc::new(Revision { entry: header, checked });
        let arrival =
            Arrival::Made { committed: false, before: self.tip.revision, after: Arc::clone(&after) };
        let reverted = Reverted {
            arrival,
            removed: done.removed.clone(),
            also_removed: done.also_removed.clone(),
            kept: done.kept.clone(),
            findings: done.findings.clone(),
        };
        Ok((entry, after, reverted))
    }
}

impl Reverted {
    /// The same as stored, if it was made.
    fn committed(mut self) -> Reverted {
        if let Arrival::Made { committed, .. } = &mut self.arrival {
            *committed = true;
        }
        self
    }
}

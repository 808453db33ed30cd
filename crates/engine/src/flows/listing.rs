//! What callers see of flows, runs, questions and sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use lmlang_flow::{Ask, Decision, Entry, Flow, Kind, Run, Settled, What};
use lmlang_history::log::Actor;
use lmlang_store::{InterruptFilter, InterruptStanding, RunFilter, RunStatus, Session};
use serde_json::Value;
use uuid::Uuid;

use crate::catalog::Selector;
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::live::{damaged, decode};
use crate::records::from_actor;

/// A run as lists show it.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// Its place among all runs, by age.
    pub key: u64,
    /// Its id.
    pub id: Uuid,
    /// Its flow.
    pub flow: Arc<Flow>,
    /// Its session.
    pub session: SessionInfo,
    /// The run that waits for it, unless that was removed.
    pub parent: Option<Uuid>,
    /// The program that it is about.
    pub program: Option<Uuid>,
    /// The branch of it that it works on, if there was one when it began.
    pub branch: Option<String>,
    /// Who began it.
    pub actor: Actor,
    /// What it was begun with.
    pub input: Value,
    /// When it began, in microseconds of UTC, as all times here.
    pub made: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// When it ends by itself if it has not by then, be it with a run that waits for it; none: never.
    pub deadline: Option<i64>,
    /// How it stands.
    pub status: RunStatus,
    /// The node at which it stands.
    pub node: Option<String>,
    /// The number of its newest entry.
    pub last: u64,
    /// The run that it goes on from, and from which entry.
    pub forked: Option<(Uuid, u64)>,
}

/// A question as lists show it.
#[derive(Clone, Debug)]
pub struct InterruptInfo {
    /// Its place among all questions, by age.
    pub key: u64,
    /// The run that asks.
    pub run: Uuid,
    /// The number of the entry that asked it.
    pub asked: u64,
    /// When, in microseconds of UTC.
    pub time: i64,
    /// The question.
    pub ask: Ask,
    /// The node that asked.
    pub node: String,
    /// What became of it.
    pub standing: InterruptStanding,
    /// Until when it may be answered, in microseconds of UTC: when its own time is over, or that of its run; none: for ever.
    pub expires: Option<i64>,
    /// How it was answered.
    pub decision: Option<Decision>,
}

/// A session as lists show it.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Its place among all sessions, by age.
    pub key: u64,
    /// Its id.
    pub id: Uuid,
    /// The flow that its turns are given to.
    pub workflow: String,
    /// What it is about, for callers who may know of all its runs.
    pub title: Option<String>,
    /// Who began it.
    pub actor: Actor,
    /// When it began, in microseconds of UTC.
    pub made: i64,
    /// How long a run of it may take of which nothing else is said; none: for ever.
    pub deadline: Option<Duration>,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// What is in it.
    pub items: Vec<T>,
    /// Whether more follow.
    pub more: bool,
    /// How many there are altogether.
    pub total: u64,
}

/// Which runs are asked for; all that is named holds of them.
#[derive(Clone, Debug, Default)]
pub struct RunsWanted {
    /// The name of their flow: of one that can be run here, or of which runs are stored.
    pub flow: Option<String>,
    /// How they stand.
    pub status: Option<RunStatus>,
    /// The session that they belong to.
    pub session: Option<Uuid>,
    /// The program that they are about; one that was deleted by its id.
    pub program: Option<Selector>,
    /// The name of who began them.
    pub by: Option<String>,
}

/// A step of a run: a node that came to its end, or did not.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// The number of its entry.
    pub number: u64,
    /// When that was stored, in microseconds of UTC.
    pub ended: i64,
    /// What happened.
    pub what: What,
    /// Whether the run was taken back to before it: it does not count any more.
    pub superseded: bool,
}

/// The kinds of entries that are steps.
const STEPS: [u8; 2] = [Kind::Stepped as u8, Kind::Failed as u8];

impl Engine {
    /// A run that this caller may know of.
    pub async fn run_info(&self, run: Uuid) -> Result<RunInfo, Error> {
        let row = self.store().run(run).await?.filter(|row| self.sees_run(row));
        self.info(row.ok_or_else(|| Error::not_found("run", run))?).await
    }

    fn sees_run(&self, row: &lmlang_store::Run) -> bool {
        match &row.program {
            Some(program) => self.sees(*program),
            None => self.only().is_none(),
        }
    }

    pub(super) async fn info(&self, row: lmlang_store::Run) -> Result<RunInfo, Error> {
        let flow = self.flow_of(&row).await?;
        let actor = self.store().actor(row.actor).await?;
        let actor = actor.ok_or_else(|| damaged(row.id, 1, "its actor is unknown"))?;
        let session = self.store().session(row.session).await?;
        // It goes with its last run only.
        let session = session.ok_or_else(|| Error::not_found("run", row.id))?;
        let parent = match row.parent {
            Some((parent, _)) => self.store().run(parent).await?.map(|parent| parent.id),
            None => None,
        };
        let deadline = match row.parent {
            Some(_) if row.standing.ended.is_none() => {
                self.deadlines(&BTreeSet::from([row.id])).await?.get(&row.id).copied()
            }
            Some(_) | None => row.standing.deadline.map(|deadline| deadline.0),
        };
        let live = self.0.flows.live().get(&row.id).cloned();
        let newer = match live {
            Some(live) => live.newer(row.standing.last).await,
            // Nobody goes on with it yet, and whoever did may have ended before its row said so.
            None if self.store().is_alone() && row.standing.status == RunStatus::Running => {
                // One that is damaged is listed all the same.
                let run = self.stored_run(&row).await.ok();
                let run = run.filter(|run| run.last() > row.standing.last);
                run.map(|run| (run.node().map(str::to_owned), run.last()))
            }
            None => None,
        };
        let (node, last) = newer.unwrap_or((row.standing.node, row.standing.last));
        Ok(RunInfo {
            key: row.key,
            id: row.id,
            flow,
            session: self.session_of(session).await?,
            parent,
            program: row.program,
            branch: row.branch,
            actor: from_actor(actor),
            input: serde_json::from_slice(&row.input).unwrap_or_default(),
            made: row.made.0,
            ended: row.standing.ended.map(|ended| ended.0),
            deadline,
            status: row.standing.status,
            node,
            last,
            forked: row.forked,
        })
    }

    /// When runs end by themselves, be it with one that waits for them; of those that ever do.
    async fn deadlines(&self, runs: &BTreeSet<Uuid>) -> Result<HashMap<Uuid, i64>, Error> {
        let mut known = HashMap::new();
        let mut next: BTreeSet<Uuid> = runs.clone();
        // A level a turn: those that wait for them, and for those.
        while !next.is_empty() {
            let found = self.store().run_deadlines(&next.iter().copied().collect::<Vec<_>>()).await?;
            next = found.iter().filter_map(|(_, _, parent)| *parent).collect();
            known.extend(found.into_iter().map(|(run, at, parent)| (run, (at.map(|at| at.0), parent))));
        }
        let ends = |run: &Uuid| {
            let first = known.get(run);
            let chain = std::iter::successors(first, |(_, parent)| known.get(parent.as_ref()?));
            chain.filter_map(|(at, _)| *at).min()
        };
        Ok(runs.iter().filter_map(|run| Some((*run, ends(run)?))).collect())
    }

    /// How runs are found that are asked for.
    ///
    /// # Errors
    ///
    /// There is no such flow or program: nothing could be found.
    pub async fn run_filter(&self, wanted: RunsWanted) -> Result<RunFilter, Error> {
        let RunsWanted { flow, status, session, program, by } = wanted;
        if let Some(name) = &flow
            && let Err(unknown) = self.code_named(name).await
            && !self.store().knows_flow(name).await?
        {
            return Err(unknown);
        }
        let program = match program {
            None => None,
            Some(selector) => {
                let found = self.find(&selector).await;
                match (found, selector) {
                    (Ok(open), _) => Some(open.info().id),
                    // Its runs are there as long as they are kept.
                    (Err(Error::NotFound { retired: true, .. }), Selector::Id(id)) => Some(id),
                    (Err(error), _) => return Err(error),
                }
            }
        };
        let by = match by {
            None => None,
            // With each kind and client that the name has come with.
            Some(name) => Some(self.store().actors_named(&name).await?),
        };
        Ok(RunFilter { flow, status, session, program, by, ..RunFilter::default() })
    }

    /// Runs that this caller may know of, the newest first, before a key.
    pub async fn run_page(
        &self,
        filter: &RunFilter,
        before: Option<u64>,
        first: usize,
    ) -> Result<Page<RunInfo>, Error> {
        let programs = self.only().map(<[Uuid]>::to_vec);
        let filter = RunFilter { programs, ..filter.clone() };
        let mut rows = self.store().runs(&filter, before, first as u64 + 1).await?;
        let total = self.store().count_runs(&filter).await?;
        let more = rows.len() > first;
        rows.truncate(first);
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            match self.info(row).await {
                Ok(info) => items.push(info),
                // It was removed meanwhile.
                Err(Error::NotFound { what: "run", .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Page { items, more, total })
    }

    /// The key of the newest run that the caller may know of; `None`: there is no run.
    pub async fn newest_run(&self) -> Result<Option<u64>, Error> {
        let programs = self.only().map(<[Uuid]>::to_vec);
        let filter = RunFilter { programs, ..RunFilter::default() };
        Ok(self.store().runs(&filter, None, 1).await?.first().map(|row| row.key))
    }

    /// What a run comes to, from its journal.
    pub async fn run_machine(&self, run: &RunInfo) -> Result<Run, Error> {
        let row = self.store().run(run.id).await?.ok_or_else(|| Error::not_found("run", run.id))?;
        self.stored_run(&row).await
    }

    /// Steps of a run behind an entry, oldest first.
    pub async fn step_page(&self, run: Uuid, after: u64, first: usize) -> Result<Page<StepInfo>, Error> {
        let mut rows = self.store().journal(run, Some(&STEPS), after, first as u64 + 1).await?;
        let total = self.store().journal_len(run, Some(&STEPS)).await?;
        let more = rows.len() > first;
        rows.truncate(first);
        let mut over: Vec<(u64, u64)> = Vec::new();
        for row in self.store().journal(run, Some(&[Kind::Rewound as u8]), after, u64::from(u32::MAX)).await?
        {
            if let Entry { number, what: What::Rewound { to, .. }, .. } = decode(&row)? {
                over.push((to, number));
            }
        }
        let step = |row: &lmlang_store::JournalEntry| {
            decode(row).map(|Entry { number, time: ended, what }| {
                let superseded = over.iter().any(|(to, by)| (*to + 1..*by).contains(&number));
                StepInfo { number, ended, what, superseded }
            })
        };
        Ok(Page { items: rows.iter().map(step).collect::<Result<_, Error>>()?, more, total })
    }

    /// Questions that this caller may know of, the oldest first, behind a key.
    pub async fn interrupt_page(
        &self,
        filter: &InterruptFilter,
        after: Option<u64>,
        first: usize,
    ) -> Result<Page<InterruptInfo>, Error> {
        let programs = self.only().map(<[Uuid]>::to_vec);
        let filter = InterruptFilter { programs, ..filter.clone() };
        let mut rows = self.store().interrupts(&filter, after, first as u64 + 1).await?;
        let total = self.store().count_interrupts(&filter).await?;
        let more = rows.len() > first;
        rows.truncate(first);
        Ok(Page { items: self.interrupt_infos(rows).await?, more, total })
    }

    /// A question that this caller may know of.
    pub async fn interrupt_info(&self, run: Uuid, asked: u64) -> Result<InterruptInfo, Error> {
        self.run_info(run).await?;
        let filter = InterruptFilter { run: Some(run), ..InterruptFilter::default() };
        let rows = self.store().interrupts(&filter, None, u64::from(u32::MAX)).await?;
        let row = rows.into_iter().filter(|row| row.asked == asked).collect();
        let found = self.interrupt_infos(row).await?.pop();
        found.ok_or_else(|| Error::not_found("interrupt", asked.to_string()))
    }

    async fn interrupt_infos(&self, rows: Vec<lmlang_store::Interrupt>) -> Result<Vec<InterruptInfo>, Error> {
        let wanted: Vec<(Uuid, u64)> = rows.iter().map(|row| (row.run, row.asked)).collect();
        let mut asks = HashMap::new();
        for entry in self.store().journal_entries(&wanted).await? {
            asks.insert((entry.run, entry.number), decode(&entry)?.what);
        }
        let open = rows.iter().filter(|row| row.standing == InterruptStanding::Open);
        let deadlines = self.deadlines(&open.map(|row| row.run).collect()).await?;
        let mut decisions = self.decisions(&rows).await?;
        let mut infos = Vec::with_capacity(rows.len());
        for row in rows {
            let what = asks.remove(&(row.run, row.asked));
            let asked = what.as_ref().and_then(|what| Some((what.ask()?.clone(), what.node()?.to_owned())));
            let Some((ask, node)) = asked else { continue };
            let decision = match row.standing {
                InterruptStanding::Answered => match decisions.remove(&(row.run, row.asked)) {
                    Some(decision) => decision,
                    // The run was removed meanwhile.
                    None => continue,
                },
                InterruptStanding::Open | InterruptStanding::Expired | InterruptStanding::Cancelled => None,
            };
            // Nobody awaits an answer to what is not open.
            let with_run = deadlines.get(&row.run).filter(|_| row.standing == InterruptStanding::Open);
            let expires = ask.expires.into_iter().chain(with_run.copied()).min();
            infos.push(InterruptInfo {
                key: row.key,
                run: row.run,
                asked: row.asked,
                time: row.time.0,
                ask,
                node,
                standing: row.standing,
                expires,
                decision,
            });
        }
        Ok(infos)
    }

    /// How those of some questions were answered that were, each by its run and the entry that asked it; none of one that the run
    /// was taken back over.
    async fn decisions(
        &self,
        rows: &[lmlang_store::Interrupt],
    ) -> Result<HashMap<(Uuid, u64), Option<Decision>>, Error> {
        let answered = rows.iter().filter(|row| row.standing == InterruptStanding::Answered);
        let mut asked: BTreeMap<Uuid, Vec<u64>> = BTreeMap::new();
        answered.for_each(|row| asked.entry(row.run).or_default().push(row.asked));
        let (mut decisions, mut places, mut wanted) = (HashMap::new(), HashMap::new(), Vec::new());
        for (run, asked) in asked {
            // It may have been removed meanwhile.
            let Some(row) = self.store().run(run).await? else { continue };
            let machine = match self.stored_run(&row).await {
                Ok(machine) => machine,
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            for asked in asked {
                decisions.insert((run, asked), None);
                if let Some(Settled::Answered { entry, .. }) = machine.settled(asked) {
                    places.insert((run, *entry), (run, asked));
                    wanted.push((run, *entry));
                }
            }
        }
        for entry in self.store().journal_entries(&wanted).await? {
            let place = places.get(&(entry.run, entry.number)).copied();
            if let (Some(place), What::Answered { decision, .. }) = (place, decode(&entry)?.what) {
                decisions.insert(place, Some(decision));
            }
        }
        Ok(decisions)
    }

    /// A session. Callers who are limited to some programs see its runs as far as they see their programs.
    pub async fn session_info(&self, session: Uuid) -> Result<SessionInfo, Error> {
        let row = self.store().session(session).await?;
        let row = row.ok_or_else(|| Error::not_found("session", session))?;
        if self.only().is_some() {
            let filter = RunFilter { session: Some(session), ..RunFilter::default() };
            if self.run_page(&filter, None, 1).await?.items.is_empty() {
                return Err(Error::not_found("session", session));
            }
        }
        self.session_of(row).await
    }

    async fn session_of(&self, row: Session) -> Result<SessionInfo, Error> {
        let beyond = self.beyond(std::slice::from_ref(&row)).await?;
        self.told_session(row, &beyond).await
    }

    async fn told_session(&self, row: Session, beyond: &BTreeSet<Uuid>) -> Result<SessionInfo, Error> {
        let actor = self.store().actor(row.actor).await?;
        let actor = actor.ok_or_else(|| Error::not_found("session", row.id))?;
        Ok(SessionInfo {
            key: row.key,
            id: row.id,
            workflow: row.workflow,
            title: row.title.filter(|_| !beyond.contains(&row.id)),
            actor: from_actor(actor),
            made: row.made.0,
            deadline: row.within.and_then(|within| u64::try_from(within).ok()).map(Duration::from_micros),
        })
    }

    /// Those of some sessions with a title that have runs of which this caller may not know. Their titles are what was said first,
    /// perhaps about another program.
    async fn beyond(&self, sessions: &[Session]) -> Result<BTreeSet<Uuid>, Error> {
        let titled: Vec<Uuid> =
            sessions.iter().filter(|session| session.title.is_some()).map(|session| session.id).collect();
        match self.only() {
            Some(only) if !titled.is_empty() => {
                Ok(self.store().sessions_beyond(&titled, only).await?.into_iter().collect())
            }
            Some(_) | None => Ok(BTreeSet::new()),
        }
    }

    /// The key of the newest session; `None`: there is no session.
    pub async fn newest_session(&self) -> Result<Option<u64>, Error> {
        Ok(self.store().sessions(None, 1).await?.first().map(|row| row.key))
    }

    /// Sessions, the newest first, before a key.
    pub async fn session_page(&self, before: Option<u64>, first: usize) -> Result<Page<SessionInfo>, Error> {
        let mut rows = self.store().sessions(before, first as u64 + 1).await?;
        let total = self.store().count_sessions().await?;
        let more = rows.len() > first;
        rows.truncate(first);
        let beyond = self.beyond(&rows).await?;
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            items.push(self.told_session(row, &beyond).await?);
        }
        Ok(Page { items, more, total })
    }
}

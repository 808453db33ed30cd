//! What listeners are told of runs: entries of journals in the order in which they were stored, and between them what is
//! not stored.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use lmlang_flow::{Ask, Entry, Flow, Goto, Remedy, Update, What};
use lmlang_store::{JournalEntry, JournalsOf, RunStatus};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::again::Again;
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::cursor::{RunCursor, RunPlace};
use crate::flows::live::decode;
use crate::sealed::{Places, Seal};

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunEventKind {
    /// A run began.
    Started,
    /// A node began. Not stored: only live listeners hear of it.
    NodeStarted,
    /// A node came to its end, or gave up.
    NodeFinished,
    /// The state changed.
    StateUpdated,
    /// Words of a model. Not stored: what it said comes again with the receipt.
    ModelDelta,
    /// Something outside was called.
    ToolCalled,
    /// Somebody is asked.
    Interrupted,
    /// A question was answered, or has expired.
    Answered,
    /// A node failed and is tried again.
    Retried,
    /// A node failed and somebody is asked.
    Escalated,
    /// The run ended.
    Finished,
    /// Events that are not stored were left out.
    Gap,
    /// The listener listens: what comes from here on is whole.
    Listening,
}

/// Something that happened to a run.
#[derive(Clone, Debug)]
pub struct RunTold {
    /// Where a listener that has seen this goes on.
    pub cursor: RunCursor,
    /// The run.
    pub run: Uuid,
    /// When, in microseconds of UTC.
    pub at: i64,
    /// What kind of event it is.
    pub kind: RunEventKind,
    /// The node that it is about.
    pub node: Option<String>,
    /// Words: of a model, of a question, of an error.
    pub text: Option<String>,
    /// More of it.
    pub data: Value,
}

/// What is told without being stored.
#[derive(Clone, Debug)]
pub(crate) struct Passing {
    run: Uuid,
    at: i64,
    kind: RunEventKind,
    node: String,
    text: Option<String>,
    data: Value,
    /// How many entries this process had stored by then: it is told before later ones.
    stored: u64,
}

impl Passing {
    /// The same, of which it is known how many entries were stored by then.
    pub(crate) fn after(self, stored: u64) -> Passing {
        Passing { stored, ..self }
    }

    pub(crate) fn begun(run: Uuid, node: &str, attempt: u32, at: i64) -> Passing {
        let data = json!({ "attempt": attempt });
        Passing {
            run,
            at,
            kind: RunEventKind::NodeStarted,
            node: node.to_owned(),
            text: None,
            data,
            stored: 0,
        }
    }

    pub(crate) fn said(run: Uuid, node: &str, text: &str, at: i64) -> Passing {
        let (kind, text) = (RunEventKind::ModelDelta, Some(text.to_owned()));
        Passing { run, at, kind, node: node.to_owned(), text, data: Value::Null, stored: 0 }
    }

    pub(crate) fn unsaid(run: Uuid, node: &str, at: i64) -> Passing {
        let data = json!({ "restarted": true });
        let kind = RunEventKind::ModelDelta;
        Passing { run, at, kind, node: node.to_owned(), text: None, data, stored: 0 }
    }
}

/// Events as a listener gets them. The last item is an error when they cannot be read any further.
pub type RunEvents = mpsc::Receiver<Result<RunTold, Error>>;

/// Whose events are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsOf {
    /// All that this caller may know of.
    All,
    /// A run.
    Run(Uuid),
    /// The runs of a session.
    Session(Uuid),
}

/// Entries that are read at a time.
const CHUNK: u64 = 256;

/// Events that wait for a slow listener.
const WAITING: usize = 16;

/// How often other processes are asked whether they have stored something.
const LOOKS: Duration = Duration::from_millis(500);

impl Engine {
    /// What happens to runs after a cursor, without a gap; without one, from now on.
    pub async fn run_events(&self, of: &RunsOf, after: Option<RunCursor>) -> Result<RunEvents, Error> {
        let of = match of {
            RunsOf::Run(run) => JournalsOf::Run(self.run_info(*run).await?.id),
            RunsOf::Session(session) => {
                let only = self.only().map(<[Uuid]>::to_vec);
                JournalsOf::Session(self.session_info(*session).await?.id, only)
            }
            RunsOf::All => match self.only() {
                None => JournalsOf::All,
                Some(only) => JournalsOf::Programs(only.to_vec()),
            },
        };
        let passing = self.0.flows.passing.subscribe();
        let seal = self.sealing(Places::Runs).await?;
        let newest = self.newest_place().await?;
        let seen = match after {
            None => newest,
            Some(after) => self.run_place(after, newest).await?,
        };
        let (sender, receiver) = mpsc::channel(WAITING);
        let (runs, others) = (HashMap::new(), HashSet::new());
        let listener = Listener { engine: self.clone(), of, sender, seen, seal, runs, others };
        self.spawn(listener.follow(passing));
        Ok(receiver)
    }
}

struct Listener {
    engine: Engine,
    of: JournalsOf,
    sender: mpsc::Sender<Result<RunTold, Error>>,
    seen: RunPlace,
    /// For one who may know of the runs of some programs only.
    seal: Option<Seal>,
    /// The flows of runs that are told of.
    runs: HashMap<Uuid, Option<Arc<Flow>>>,
    /// Runs that are not.
    others: HashSet<Uuid>,
}

/// The listener has gone away, or the journals cannot be read.
struct Ended;

impl Listener {
    async fn follow(mut self, mut passing: tokio::sync::broadcast::Receiver<Passing>) {
        let mut stored = self.engine.0.flows.stored.subscribe();
        let (mut held, mut again) = (None, Again::default());
        loop {
            let count = *stored.borrow_and_update();
            // What was said before an entry was stored is told before it.
            loop {
                let ended = match held.take().map_or_else(|| passing.try_recv(), Ok) {
                    Ok(told) if told.stored >= count => {
                        held = Some(told);
                        break;
                    }
                    Ok(told) => self.pass(told).await,
                    Err(TryRecvError::Lagged(_)) => self.gap().await,
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                };
                if ended.is_err() {
                    return;
                }
            }
            match self.catch_up().await {
                Ok(()) => again.worked(),
                Err(Ok(Ended)) => return,
                Err(Err(error)) => match Box::pin(again.after(error, &self.sender)).await {
                    Ok(()) => continue,
                    Err(None) => return,
                    Err(Some(error)) => {
                        tracing::error!(%error, "events of runs could not be read");
                        self.sender.send(Err(error)).await.ok();
                        return;
                    }
                },
            }
            if let Some(told) = held.take()
                && self.pass(told).await.is_err()
            {
                return;
            }
            let others = async {
                match self.engine.store().is_alone() {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(LOOKS).await,
                }
            };
            tokio::select! {
                biased;
                changed = stored.changed() => if changed.is_err() { return },
                () = self.sender.closed() => return,
                told = passing.recv() => match told {
                    Ok(told) => if self.pass(told).await.is_err() { return },
                    Err(RecvError::Lagged(_)) => if self.gap().await.is_err() { return },
                    Err(RecvError::Closed) => return,
                },
                () = others => {}
            }
        }
    }

    /// Tells what is stored beyond what was seen.
    async fn catch_up(&mut self) -> Result<(), Result<Ended, Error>> {
        loop {
            // The entry of which some events were seen is read again.
            let after = self.seen.position.saturating_sub(1);
            let rows = self.engine.store().journals(&self.of, after, CHUNK).await;
            let rows = rows.map_err(|fault| Err(fault.into()))?;
            let whole = rows.len() as u64 >= CHUNK;
            let last = rows.last().map_or(self.seen.position, |row| row.position);
            for row in rows {
                self.tell(&row).await?;
            }
            self.seen = self.seen.max(RunPlace { position: last, event: u32::MAX });
            if !whole {
                return Ok(());
            }
        }
    }

    async fn tell(&mut self, row: &JournalEntry) -> Result<(), Result<Ended, Error>> {
        // Removed since it was read, it is passed over, as what was removed before.
        let Some((flow, ended)) = self.known(row).await.map_err(Err)? else { return Ok(()) };
        let entry = decode(row).map_err(Err)?;
        let mut events = events(&entry, flow.as_deref());
        // What was performed comes after the end of a run that was stopped meanwhile.
        let ends = !matches!(entry.what, What::Received(_) | What::Announced(_) | What::Moved { .. });
        if matches!(entry.what, What::Moved { .. }) {
            // What comes is told as of its other definition.
            self.runs.remove(&row.run);
        }
        if let Some(status) = ended.filter(|_| ends) {
            events.push((RunEventKind::Finished, None, None, json!({ "status": status })));
        }
        for ((kind, node, text, data), event) in events.into_iter().zip(0..) {
            let place = RunPlace { position: row.position, event };
            if place <= self.seen {
                continue;
            }
            let cursor = self.cursor(place);
            let told = RunTold { cursor, run: row.run, at: entry.time, kind, node, text, data };
            self.send(told).await.map_err(Ok)?;
            self.seen = place;
        }
        Ok(())
    }

    /// The flow of a run, and its status if it has ended with this entry; none if the run was removed.
    async fn known(
        &mut self,
        row: &JournalEntry,
    ) -> Result<Option<(Option<Arc<Flow>>, Option<&'static str>)>, Error> {
        let Some(of) = self.engine.store().run(row.run).await? else { return Ok(None) };
        // What is moved after its end has a newer entry.
        let is_last = of.standing.last == row.number || of.standing.ended == Some(row.time);
        let ended = of.standing.ended.is_some() && is_last;
        let status = ended.then(|| status_name(of.standing.status));
        if !self.runs.contains_key(&row.run) {
            let flow = self.engine.flow_of(&of).await?;
            if self.runs.len() >= PASSING_RUNS {
                self.runs.clear();
            }
            self.runs.insert(row.run, Some(flow));
        }
        Ok(Some((self.runs.get(&row.run).cloned().flatten(), status)))
    }

    async fn pass(&mut self, told: Passing) -> Result<(), Ended> {
        let wanted = match &self.of {
            JournalsOf::Run(run) => told.run == *run,
            JournalsOf::All => true,
            JournalsOf::Session(..) | JournalsOf::Programs(_) => self.is_one(told.run).await,
        };
        if !wanted {
            return Ok(());
        }
        let Passing { run, at, kind, node, text, data, stored: _ } = told;
        let cursor = self.cursor(self.seen);
        self.send(RunTold { cursor, run, at, kind, node: Some(node), text, data }).await
    }

    /// Whether a run is one of those that are told of.
    async fn is_one(&mut self, run: Uuid) -> bool {
        if self.runs.contains_key(&run) || self.others.contains(&run) {
            return self.runs.contains_key(&run);
        }
        // What cannot be read is told of when it is stored.
        let Ok(Some(row)) = self.engine.store().run(run).await else { return false };
        let about = |programs: &[Uuid]| row.program.is_some_and(|program| programs.contains(&program));
        let is_one = match &self.of {
            JournalsOf::All => true,
            JournalsOf::Run(of) => *of == run,
            JournalsOf::Session(session, programs) => {
                row.session == *session && programs.as_deref().is_none_or(about)
            }
            JournalsOf::Programs(programs) => about(programs),
        };
        if is_one {
            self.runs.insert(run, self.engine.flow_of(&row).await.ok());
        } else {
            if self.others.len() >= PASSING_RUNS {
                self.others.clear();
            }
            self.others.insert(run);
        }
        is_one
    }

    /// The cursor of a place as this listener is given it.
    fn cursor(&self, place: RunPlace) -> RunCursor {
        RunCursor::behind(place, self.seal.as_ref())
    }

    /// Tells an event, without secrets.
    async fn send(&self, mut told: RunTold) -> Result<(), Ended> {
        let hidden = self.engine.0.flows.redaction();
        hidden.value(&mut told.data);
        told.text = told.text.map(|text| hidden.text(&text).into_owned());
        self.sender.send(Ok(told)).await.map_err(|_| Ended)
    }

    async fn gap(&mut self) -> Result<(), Ended> {
        let at = self.engine.now();
        let run = match &self.of {
            JournalsOf::Run(run) => *run,
            JournalsOf::All | JournalsOf::Session(..) | JournalsOf::Programs(_) => Uuid::nil(),
        };
        let told = RunTold {
            cursor: self.cursor(self.seen),
            run,
            at,
            kind: RunEventKind::Gap,
            node: None,
            text: None,
            data: Value::Null,
        };
        self.sender.send(Ok(told)).await.map_err(|_| Ended)
    }
}

/// Runs of which a listener remembers the flows.
const PASSING_RUNS: usize = 4_096;

type Told = (RunEventKind, Option<String>, Option<String>, Value);

/// The events that an entry is told as, but for the end of its run.
fn events(entry: &Entry, flow: Option<&Flow>) -> Vec<Told> {
    match &entry.what {
        What::Started(update) => vec![
            (RunEventKind::Started, None, None, Value::Null),
            (RunEventKind::StateUpdated, None, None, shown(update, flow)),
        ],
        What::Announced(_) => Vec::new(),
        What::Received(receipt) => {
            let failure = receipt.outcome.answer.as_ref().err();
            let data = json!({
                "kind": receipt.intent.kind,
                "ok": failure.is_none(),
                "code": failure.map(|failure| &failure.code),
                "startedAtMicros": receipt.started,
                "notes": receipt.outcome.notes,
            });
            vec![(RunEventKind::ToolCalled, None, Some(receipt.intent.name.clone()), data)]
        }
        What::Stepped(stepped) => {
            let node = Some(stepped.node.clone());
            let mut events = vec![(
                RunEventKind::NodeFinished,
                node.clone(),
                None,
                json!({
                    "step": entry.number, "branch": stepped.place, "attempt": stepped.attempt,
                    "goto": goto_name(&stepped.goto), "ok": true,
                }),
            )];
            if !stepped.update.0.is_empty() {
                events.push((RunEventKind::StateUpdated, node.clone(), None, shown(&stepped.update, flow)));
            }
            if let Goto::Ask { ask, .. } = &stepped.goto {
                let data = asked(entry.number, ask);
                events.push((RunEventKind::Interrupted, node, Some(ask.question.clone()), data));
            }
            events
        }
        What::Failed(failed) => {
            let node = Some(failed.node.clone());
            let error = json!({
                "code": failed.failure.code, "attempt": failed.attempt, "class": failed.class,
                "step": entry.number, "branch": failed.place, "ok": false,
            });
            let words = Some(failed.failure.message.clone());
            match &failed.remedy {
                Remedy::Retry { .. } => vec![(RunEventKind::Retried, node, words, error)],
                Remedy::Ask(ask) => {
                    let data = asked(entry.number, ask);
                    vec![
                        (RunEventKind::Escalated, node.clone(), words, error),
                        (RunEventKind::Interrupted, node, Some(ask.question.clone()), data),
                    ]
                }
                Remedy::Next { update, .. } => {
                    let mut events = vec![(RunEventKind::NodeFinished, node.clone(), words, error)];
                    if !update.0.is_empty() {
                        events.push((RunEventKind::StateUpdated, node, None, shown(update, flow)));
                    }
                    events
                }
                Remedy::Stop => vec![(RunEventKind::NodeFinished, node, words, error)],
            }
        }
        What::Answered { asked, decision, .. } => {
            let data = json!({ "asked": asked, "answer": decision.answer, "by": decision.by });
            vec![(RunEventKind::Answered, None, decision.reason.clone(), data)]
        }
        What::Expired { asked } => {
            vec![(RunEventKind::Answered, None, None, json!({ "asked": asked, "expired": true }))]
        }
        What::SubEnded { place, result } => {
            let data = json!({ "branch": place, "ok": result.is_ok() });
            vec![(RunEventKind::StateUpdated, None, None, data)]
        }
        What::Cancelled { by, reason } => {
            vec![(RunEventKind::StateUpdated, None, reason.clone(), json!({ "cancelledBy": by }))]
        }
        What::Rewound { to, by, .. } => {
            vec![(RunEventKind::StateUpdated, None, None, json!({ "rewoundTo": to, "by": by }))]
        }
        What::Bounded { within } => {
            let data = json!({ "deadlineMicros": entry.time.saturating_add(*within) });
            vec![(RunEventKind::StateUpdated, None, None, data)]
        }
        What::Overdue => {
            let data = json!({ "code": lmlang_flow::run::OVERDUE });
            vec![(RunEventKind::StateUpdated, None, None, data)]
        }
        What::Moved { to, by, .. } => {
            vec![(RunEventKind::StateUpdated, None, None, json!({ "movedTo": to, "by": by }))]
        }
    }
}

/// What is told of a question beside its words.
fn asked(number: u64, ask: &Ask) -> Value {
    let mut data = json!({ "asked": number, "type": ask.kind.name() });
    if let Some(expires) = ask.expires {
        data["expiresAtMicros"] = json!(expires);
    }
    data
}

/// What of an update is shown.
#[must_use]
pub fn shown(update: &Update, flow: Option<&Flow>) -> Value {
    let open =
        |name: &String| flow.and_then(|flow| flow.channel(name)).is_some_and(|channel| !channel.private);
    let fields = update.0.iter().filter(|(name, _)| open(name));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Where a step leads, in a word: a node, several with commas, or `END`.
#[must_use]
pub fn goto_name(goto: &Goto) -> String {
    match goto {
        Goto::End => lmlang_flow::definition::END.to_owned(),
        Goto::Fork { arms, join } => {
            let mut nodes: Vec<&str> = arms.iter().map(|arm| arm.node.as_str()).collect();
            nodes.dedup();
            nodes.push(join);
            nodes.join(", ")
        }
        Goto::Next(then) | Goto::Ask { then, .. } | Goto::Sub { then, .. } | Goto::Wait { then, .. } => {
            then.clone()
        }
    }
}

const fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "RUNNING",
        RunStatus::Waiting => "WAITING",
        RunStatus::Completed => "COMPLETED",
        RunStatus::Failed => "FAILED",
        RunStatus::Cancelled => "CANCELLED",
    }
}

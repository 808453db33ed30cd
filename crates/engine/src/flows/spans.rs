//! The trace of a run, read from its journal: it is there as soon as what it tells of is, and as safe.
//!
//! A span is a node, an effect, a question answered. Ids follow from the run and the step, so that the same journal gives
//! the same trace; the trace id is that of the session, so that runs of one session, and those that they wait for, stand in
//! one trace.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use lmlang_flow::receipts::EffectId;
use lmlang_flow::{Entry, Flow, Goto, Kind, Place, Remedy, Run, Stepped, What};
use lmlang_ir::hash::hex;
use lmlang_store::{JournalsOf, RunFilter, RunStatus};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::listing::{Page, RunInfo};
use crate::flows::live::{LiveRun, decode, standing};
use crate::flows::told::goto_name;

/// A span of a trace.
#[derive(Clone, Debug)]
pub struct Span {
    /// The number of the entry that tells of it.
    pub number: u64,
    /// Its id: 16 hexadecimal digits, as OpenTelemetry has them.
    pub id: String,
    /// The span that it lies in.
    pub parent: Option<String>,
    /// The trace: 32 hexadecimal digits.
    pub trace: String,
    /// `run`, `node`, `interrupt`, `decision`, or the kind of an effect: `model`, `tool`, `http`, `edit`.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// When it began, in microseconds of UTC.
    pub started: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// Whether it went well; none where that is not known yet.
    pub ok: Option<bool>,
    /// Which attempt it was.
    pub attempt: Option<u32>,
    /// What is noted of it.
    pub attributes: Value,
}

/// A span that is over, for whoever sends spans elsewhere, with what nobody else is told.
pub struct Finished<'a> {
    /// The span, without what is hidden.
    pub span: Span,
    /// What was asked and answered, of an effect, if the tracer wants it: nothing is hidden in it.
    pub content: Option<(Value, Value)>,
    /// Who began the run.
    pub actor: &'a str,
}

/// Whoever sends spans elsewhere.
///
/// Concurrency: it is told of the spans of many runs at once. Idempotency: each span is told once by the process that stores
/// it; one that is killed may not have told its last ones, which the journal has all the same. Side effects: what it sends.
///
/// Warning: a collector that cannot be reached may miss spans; the tracer counts them.
pub trait Tracer: Send + Sync {
    /// Whether it wants to know what was asked and answered.
    fn wants_content(&self) -> bool;

    /// Takes a span that is over, or drops it. It is called while an entry of the run is being stored, so that it must not wait.
    fn record(&self, finished: Finished<'_>);

    /// Sends what it still has, as far as that goes; the engine, which closes, waits for it. Nothing is recorded afterwards.
    fn close<'a>(&'a self) -> BoxFuture<'a, ()>;
}

/// What spans say of their run.
struct Traced<'a> {
    id: Uuid,
    session: Uuid,
    parent: Option<Uuid>,
    flow: &'a Flow,
    made: i64,
    ended: Option<i64>,
    ok: Option<bool>,
}

/// Entries that are spans: all but announcements, which their receipts tell of.
const SPANS: [u8; 12] = [
    Kind::Started as u8,
    Kind::Received as u8,
    Kind::Stepped as u8,
    Kind::Failed as u8,
    Kind::Answered as u8,
    Kind::Expired as u8,
    Kind::SubEnded as u8,
    Kind::Cancelled as u8,
    Kind::Rewound as u8,
    Kind::Moved as u8,
    Kind::Bounded as u8,
    Kind::Overdue as u8,
];

/// How many runs are looked at together.
const RUNS: u64 = 32;

impl Engine {
    /// Spans of a run behind an entry, in the order in which they were stored; the first is that of the run itself.
    pub async fn span_page(&self, run: &RunInfo, after: u64, first: usize) -> Result<Page<Span>, Error> {
        let mut items = self.spans(run, after, first + 1).await?;
        let total = self.store().journal_len(run.id, Some(&SPANS)).await?;
        let more = items.len() > first;
        items.truncate(first);
        Ok(Page { items, more, total })
    }

    /// Spans of the runs of a session behind an entry of one of them, which is named by the key of its run and its own number:
    /// run by run, the oldest first, each with the key of its run. Callers who are limited to some programs see those of their
    /// runs.
    pub async fn session_span_page(
        &self,
        session: Uuid,
        after: (u64, u64),
        first: usize,
    ) -> Result<Page<(u64, Span)>, Error> {
        let programs = self.only().map(<[Uuid]>::to_vec);
        let of = JournalsOf::Session(session, programs.clone());
        let filter = RunFilter { session: Some(session), programs, ..RunFilter::default() };
        let total = self.store().journals_len(&of, &SPANS).await?;
        let (mut items, mut key) = (Vec::new(), after.0);
        while items.len() <= first {
            let rows = self.store().runs_from(&filter, key, RUNS).await?;
            let is_last = (rows.len() as u64) < RUNS;
            for row in rows {
                key = row.key + 1;
                let run = match self.info(row).await {
                    Ok(run) => run,
                    // It was removed meanwhile.
                    Err(Error::NotFound { what: "run", .. }) => continue,
                    Err(error) => return Err(error),
                };
                let behind = if run.key == after.0 { after.1 } else { 0 };
                let spans = self.spans(&run, behind, first + 1 - items.len()).await?;
                items.extend(spans.into_iter().map(|span| (run.key, span)));
                if items.len() > first {
                    break;
                }
            }
            if is_last {
                break;
            }
        }
        let more = items.len() > first;
        items.truncate(first);
        Ok(Page { items, more, total })
    }

    async fn spans(&self, run: &RunInfo, after: u64, most: usize) -> Result<Vec<Span>, Error> {
        let rows = self.store().journal(run.id, Some(&SPANS), after, most as u64).await?;
        let of = Traced {
            id: run.id,
            session: run.session.id,
            parent: run.parent,
            flow: &run.flow,
            made: run.made,
            ended: run.ended,
            ok: run.ended.map(|_| run.status == RunStatus::Completed),
        };
        rows.iter().map(|row| Ok(self.shown(span(&of, &decode(row)?)))).collect()
    }

    /// Sends every span of the runs that this process executes elsewhere, too, as soon as it is over: once, before callers
    /// come. That of a run comes when it has ended, behind those that lie in it.
    pub fn trace_by(&self, tracer: Arc<dyn Tracer>) {
        if self.0.flows.tracer.set(tracer).is_err() {
            tracing::warn!("spans were sent elsewhere twice");
        }
    }

    /// Has the last spans sent.
    pub(crate) async fn close_tracer(&self) {
        if let Some(tracer) = self.0.flows.tracer.get() {
            tracer.close().await;
        }
    }

    /// Sends the span of an entry that was stored, and that of the run if it has ended with it: once, however often it is taken
    /// back.
    pub(crate) fn send_span(&self, live: &LiveRun, run: &Run, entry: &Entry, ends: bool) {
        let Some(tracer) = self.0.flows.tracer.get() else { return };
        let ended = run.has_ended().then_some(entry.time);
        let of = Traced {
            id: live.id,
            session: live.session,
            parent: live.parent,
            flow: &live.flow,
            made: live.made,
            ended,
            ok: ended.map(|_| standing(run, entry.time).status == RunStatus::Completed),
        };
        let actor = live.actor.name.as_str();
        if SPANS.contains(&(entry.what.kind() as u8)) && !matches!(entry.what, What::Started(_)) {
            let content = match &entry.what {
                What::Received(receipt) if tracer.wants_content() => {
                    let asked = live.asked(&receipt.intent.id);
                    Some((asked.unwrap_or_default(), receipt.outcome.answer.clone().unwrap_or_default()))
                }
                _ => None,
            };
            tracer.record(Finished { span: self.shown(span(&of, entry)), content, actor });
        }
        if ends && run.epoch() == 0 {
            let mut span = self.shown(of_run(&of, entry));
            if let Some(decides) = run.state().get("provider").as_str() {
                span.attributes["gen_ai.provider.name"] = json!(decides);
            }
            tracer.record(Finished { span, content: None, actor });
        }
    }

    fn shown(&self, mut span: Span) -> Span {
        let hidden = self.0.flows.redaction();
        hidden.value(&mut span.attributes);
        span.name = hidden.text(&span.name).into_owned();
        span
    }
}

/// The span of a run.
fn of_run(run: &Traced<'_>, entry: &Entry) -> Span {
    Span {
        number: entry.number,
        id: id(run.id, "run"),
        parent: run.parent.map(|parent| id(parent, "run")),
        trace: run.session.simple().to_string(),
        kind: "run".to_owned(),
        name: run.flow.name().to_owned(),
        started: run.made,
        ended: run.ended,
        ok: run.ok,
        attempt: None,
        attributes: json!({
            "lmlang.run.id": run.id,
            "lmlang.flow.version": run.flow.definition().version,
            "lmlang.flow.definition_hash": hex(&run.flow.hash()),
            "gen_ai.conversation.id": run.session,
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": run.flow.name(),
        }),
    }
}

fn span(run: &Traced<'_>, entry: &Entry) -> Span {
    let of_entry = Span {
        number: entry.number,
        id: id(run.id, &format!("entry {}", entry.number)),
        parent: Some(id(run.id, "run")),
        trace: run.session.simple().to_string(),
        kind: "decision".to_owned(),
        name: String::new(),
        started: entry.time,
        ended: Some(entry.time),
        ok: Some(true),
        attempt: None,
        attributes: json!({}),
    };
    match &entry.what {
        What::Started(_) => of_run(run, entry),
        What::Announced(intent) => Span { name: intent.name.clone(), ok: None, ..of_entry },
        What::Received(receipt) => {
            let EffectId { place, step, attempt, .. } = &receipt.intent.id;
            let failure = receipt.outcome.answer.as_ref().err();
            let mut attributes = receipt.outcome.notes.as_object().cloned().unwrap_or_default();
            if let Some(failure) = failure {
                attributes.insert("error.type".to_owned(), json!(failure.code));
                attributes.insert("error.message".to_owned(), json!(failure.message));
            }
            Span {
                parent: Some(of_step(run.id, receipt.intent.epoch, place, *step, *attempt)),
                kind: receipt.intent.kind.clone(),
                name: receipt.intent.name.clone(),
                started: receipt.started,
                ok: Some(failure.is_none()),
                attempt: Some(*attempt),
                attributes: Value::Object(attributes),
                ..of_entry
            }
        }
        What::Stepped(stepped) => Span {
            id: of_step(run.id, stepped.epoch, &stepped.place, stepped.step, stepped.attempt),
            parent: Some(of_epoch(run.id, stepped.epoch)),
            kind: "node".to_owned(),
            name: stepped.node.clone(),
            started: stepped.started,
            attempt: Some(stepped.attempt),
            attributes: noted(stepped),
            ..of_entry
        },
        What::Failed(failed) => Span {
            // One that is waited out is tried again as the same attempt, whose span is that of the last try.
            id: match &failed.remedy {
                Remedy::Retry { attempt, .. } if *attempt == failed.attempt => of_entry.id,
                Remedy::Retry { .. } | Remedy::Ask(_) | Remedy::Next { .. } | Remedy::Stop => {
                    of_step(run.id, failed.epoch, &failed.place, failed.step, failed.attempt)
                }
            },
            parent: Some(of_epoch(run.id, failed.epoch)),
            kind: "node".to_owned(),
            name: failed.node.clone(),
            started: failed.started,
            ok: Some(false),
            attempt: Some(failed.attempt),
            attributes: json!({
                "lmlang.branch": failed.place,
                "error.type": failed.failure.code,
                "error.message": failed.failure.message,
                "lmlang.failure.class": failed.class,
                "lmlang.failure.remedy": match &failed.remedy {
                    Remedy::Retry { .. } => "retry",
                    Remedy::Ask(_) => "ask",
                    Remedy::Next { .. } => "next",
                    Remedy::Stop => "stop",
                },
            }),
            ..of_entry
        },
        What::Answered { asked, decision, .. } => Span {
            kind: "interrupt".to_owned(),
            name: "answered".to_owned(),
            attributes: json!({ "lmlang.asked": asked, "lmlang.answered_by": decision.by }),
            ..of_entry
        },
        What::Expired { asked } => Span {
            kind: "interrupt".to_owned(),
            name: "expired".to_owned(),
            ok: Some(false),
            attributes: json!({ "lmlang.asked": asked }),
            ..of_entry
        },
        What::SubEnded { place, result } => Span {
            name: "sub-run ended".to_owned(),
            ok: Some(result.is_ok()),
            attributes: json!({ "lmlang.branch": place }),
            ..of_entry
        },
        What::Cancelled { by, .. } => Span {
            name: "cancelled".to_owned(),
            ok: Some(false),
            attributes: json!({ "lmlang.by": by }),
            ..of_entry
        },
        // What is done again lies in it.
        What::Rewound { to, by, .. } => Span {
            id: of_epoch(run.id, entry.number),
            name: "rewound".to_owned(),
            attributes: json!({ "lmlang.to": to, "lmlang.by": by }),
            ..of_entry
        },
        What::Bounded { within } => Span {
            name: "bounded".to_owned(),
            attributes: json!({ "lmlang.within_ms": within / 1_000 }),
            ..of_entry
        },
        What::Overdue => Span {
            name: "overdue".to_owned(),
            ok: Some(false),
            attributes: json!({ "error.type": lmlang_flow::run::OVERDUE }),
            ..of_entry
        },
        What::Moved { from, to, definition, by } => Span {
            name: "moved".to_owned(),
            attributes: json!({
                "lmlang.from": from, "lmlang.to": to, "lmlang.flow.definition_hash": definition,
                "lmlang.by": by,
            }),
            ..of_entry
        },
    }
}

/// What is told of a node that came to its end.
fn noted(stepped: &Stepped) -> Value {
    let mut attributes = stepped.notes.as_object().cloned().unwrap_or_default();
    attributes.insert("lmlang.branch".to_owned(), json!(stepped.place));
    attributes.insert("lmlang.goto".to_owned(), json!(goto_name(&stepped.goto)));
    if let Goto::Ask { ask, .. } = &stepped.goto {
        attributes.insert("lmlang.asks".to_owned(), json!(ask.kind.name()));
    }
    Value::Object(attributes)
}

/// The id of the span that what is done lies in: that of the run, or of how it was taken back last.
fn of_epoch(run: Uuid, epoch: u64) -> String {
    match epoch {
        0 => id(run, "run"),
        epoch => id(run, &format!("entry {epoch}")),
    }
}

/// The id of the span of a node.
fn of_step(run: Uuid, epoch: u64, place: &Place, step: u64, attempt: u32) -> String {
    match epoch {
        0 => id(run, &format!("step {place} {step} {attempt}")),
        epoch => id(run, &format!("step {place} {step} {attempt} {epoch}")),
    }
}

fn id(run: Uuid, what: &str) -> String {
    let mut seen = blake3::Hasher::new();
    seen.update(run.as_bytes()).update(what.as_bytes());
    seen.finalize().to_hex()[..16].to_owned()
}

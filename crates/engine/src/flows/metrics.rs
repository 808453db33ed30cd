//! How runs go: what they called and how that went, which failures they had, and what models took.
//!
//! It is counted from the journals, newest runs first, as far as [`MOST_ENTRIES`] go. What a run was taken back over counts
//! as well: it happened.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_flow::{Class, Entry, Failed, Kind, Receipt, Remedy, What};
use lmlang_store::{RunFilter, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::catalog::Selector;
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::listing::RunsWanted;
use crate::flows::live::decode;

/// What is to be counted.
#[derive(Clone, Debug, Default)]
pub struct MetricsWanted {
    /// Runs about this program; one that was deleted by its id.
    pub program: Option<Selector>,
    /// Runs of this flow, by name.
    pub flow: Option<String>,
    /// What happened from this time on, in microseconds of UTC.
    pub since: Option<i64>,
    /// What happened before this time.
    pub until: Option<i64>,
}

/// How runs went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Runs that were looked at.
    pub runs: u64,
    /// Calls and failures that were counted.
    pub entries: u64,
    /// Whether there are more than were counted: what is older is left out.
    pub truncated: bool,
    /// When the oldest of what was counted happened, in microseconds of UTC.
    pub oldest: Option<i64>,
    /// What was called, those called most first.
    pub tools: Vec<ToolMetrics>,
    /// Models that were asked, those asked most first.
    pub models: Vec<ModelMetrics>,
    /// Failures of nodes by class, those that there were.
    pub classes: Vec<ClassMetrics>,
}

/// How calls went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallMetrics {
    /// How many.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// The codes with which they failed, the most frequent first.
    pub codes: Vec<(String, u64)>,
    /// How long they took on the average, in microseconds; none without one.
    pub mean: Option<f64>,
    /// What 95 of 100 took at most, in microseconds.
    pub p95: Option<i64>,
}

/// How calls of a tool went.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolMetrics {
    /// What it is: `tool`, `http`, `edit`.
    pub kind: String,
    /// Its name; of a request, its method and the first part of its path.
    pub name: String,
    /// How its calls went.
    pub calls: CallMetrics,
    /// Failures of nodes that it was to blame for, by class. Where a call was refused before it was made, it counts here alone.
    pub classes: Vec<(Class, u64)>,
}

/// How a model did.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelMetrics {
    /// Who has it; `rules` where none was asked.
    pub provider: String,
    /// Its name.
    pub model: Option<String>,
    /// How its calls went.
    pub calls: CallMetrics,
    /// Tokens of what it was asked, as far as that is known.
    pub input_tokens: u64,
    /// Tokens of what it answered.
    pub output_tokens: u64,
    /// What calls cost whose price is known, in billionths of a US dollar; none where no price is known.
    pub nano_usd: Option<u64>,
}

/// Failures of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMetrics {
    /// The class.
    pub class: Class,
    /// How many.
    pub count: u64,
    /// After how many the node was tried again.
    pub retried: u64,
    /// After how many a person was asked.
    pub asked: u64,
    /// After how many the run went on at another node.
    pub diverted: u64,
    /// After how many the run had failed.
    pub stopped: u64,
    /// Their codes, the most frequent first.
    pub codes: Vec<(String, u64)>,
}

/// Entries that are counted at most.
pub(crate) const MOST_ENTRIES: u64 = 20_000;

/// Runs that are looked at, at most.
const MOST_RUNS: u64 = 20_000;

/// Runs whose journals are read together.
const RUNS: u64 = 64;

/// Entries that are read at a time.
const PAGE: u64 = 512;

/// The kinds of entries that are counted.
const KINDS: [u8; 2] = [Kind::Received as u8, Kind::Failed as u8];

impl Engine {
    /// How runs went that this caller may know of. Bounded in what is read: what is too much is left out, the oldest first.
    ///
    /// # Errors
    ///
    /// There is no such flow or program; the span of time is empty.
    pub async fn metrics(&self, wanted: MetricsWanted) -> Result<Metrics, Error> {
        let MetricsWanted { program, flow, since, until } = wanted;
        let (from, to) = (since.unwrap_or(i64::MIN), until.unwrap_or(i64::MAX));
        if from >= to {
            let message = "`since` must be before `until`".to_owned();
            return Err(Error::Argument { place: "since".to_owned(), message });
        }
        let span = (Timestamp(from), Timestamp(to));
        let filter = self.run_filter(RunsWanted { flow, program, ..RunsWanted::default() }).await?;
        let programs = self.only().map(<[Uuid]>::to_vec);
        let filter = RunFilter { programs, during: Some(span), ..filter };
        let mut tally = Tally::default();
        let mut before = None;
        while !tally.metrics.truncated {
            let runs: Vec<(u64, Uuid)> =
                self.store().runs(&filter, before, RUNS).await?.iter().map(|run| (run.key, run.id)).collect();
            let Some((last, _)) = runs.last() else { break };
            before = Some(*last);
            tally.metrics.runs += runs.len() as u64;
            let ids: Vec<Uuid> = runs.iter().map(|(_, id)| *id).collect();
            self.count_runs_of(&ids, span, &mut tally).await?;
            let is_last = (runs.len() as u64) < RUNS;
            if is_last {
                break;
            }
            tally.metrics.truncated |= tally.metrics.runs >= MOST_RUNS;
        }
        let mut metrics = tally.summed_up();
        let hidden = self.0.flows.redaction();
        for tool in &mut metrics.tools {
            tool.name = hidden.text(&tool.name).into_owned();
        }
        Ok(metrics)
    }

    /// Counts what runs did in a span of time, the newest first, as far as there is room.
    async fn count_runs_of(
        &self,
        runs: &[Uuid],
        span: (Timestamp, Timestamp),
        tally: &mut Tally,
    ) -> Result<(), Error> {
        let mut before = None;
        loop {
            let rows = self.store().entries_of_runs(runs, &KINDS, span, before, PAGE).await?;
            for row in &rows {
                if tally.metrics.entries >= MOST_ENTRIES {
                    tally.metrics.truncated = true;
                    return Ok(());
                }
                tally.take_in(&decode(row)?);
            }
            match rows.last() {
                Some(last) if rows.len() as u64 == PAGE => before = Some(last.position),
                Some(_) | None => return Ok(()),
            }
        }
    }
}

/// What is counted as entries come.
#[derive(Debug, Default)]
struct Tally {
    metrics: Metrics,
    /// By kind and name.
    tools: BTreeMap<(String, String), Called>,
    /// By provider and model.
    models: BTreeMap<(String, Option<String>), Asked>,
    classes: BTreeMap<Class, Judged>,
    /// What calls of models are called: they are no tools.
    chats: BTreeSet<String>,
    /// Failures of nodes by the tool that is to blame.
    blamed: BTreeMap<String, BTreeMap<Class, u64>>,
}

#[derive(Debug, Default)]
struct Called {
    failed: u64,
    codes: BTreeMap<String, u64>,
    took: Vec<i64>,
}

#[derive(Debug, Default)]
struct Asked {
    called: Called,
    input_tokens: u64,
    output_tokens: u64,
    nano_usd: Option<u64>,
}

#[derive(Debug, Default)]
struct Judged {
    retried: u64,
    asked: u64,
    diverted: u64,
    stopped: u64,
    codes: BTreeMap<String, u64>,
}

impl Tally {
    fn take_in(&mut self, entry: &Entry) {
        match &entry.what {
            What::Received(receipt) => self.call(receipt, entry.time),
            What::Failed(failed) => self.failure(failed),
            What::Started(_)
            | What::Announced(_)
            | What::Stepped(_)
            | What::Answered { .. }
            | What::Expired { .. }
            | What::SubEnded { .. }
            | What::Cancelled { .. }
            | What::Rewound { .. }
            | What::Bounded { .. }
            | What::Overdue
            | What::Moved { .. } => return,
        }
        self.metrics.entries += 1;
        let oldest = self.metrics.oldest.get_or_insert(entry.time);
        *oldest = entry.time.min(*oldest);
    }

    fn call(&mut self, receipt: &Receipt, ended: i64) {
        let (intent, notes) = (&receipt.intent, &receipt.outcome.notes);
        let called = match intent.kind.as_str() {
            "model" => {
                self.chats.insert(intent.name.clone());
                let word = |name: &str| notes.get(name).and_then(Value::as_str).map(str::to_owned);
                let provider = word("gen_ai.provider.name").unwrap_or_else(|| "unknown".to_owned());
                let model = word("gen_ai.request.model").or_else(|| word("gen_ai.response.model"));
                let asked = self.models.entry((provider, model)).or_default();
                let count = |name: &str| notes.get(name).and_then(Value::as_u64);
                asked.input_tokens += count("gen_ai.usage.input_tokens").unwrap_or(0);
                asked.output_tokens += count("gen_ai.usage.output_tokens").unwrap_or(0);
                if let Some(nano) = count("lmlang.cost.nano_usd") {
                    *asked.nano_usd.get_or_insert(0) += nano;
                }
                &mut asked.called
            }
            "http" => {
                let name = request(&intent.name).to_owned();
                self.tools.entry((intent.kind.clone(), name)).or_default()
            }
            _ => self.tools.entry((intent.kind.clone(), intent.name.clone())).or_default(),
        };
        called.took.push(ended.saturating_sub(receipt.started).max(0));
        if let Err(failure) = &receipt.outcome.answer {
            called.failed += 1;
            *called.codes.entry(failure.code.clone()).or_default() += 1;
        }
    }

    fn failure(&mut self, failed: &Failed) {
        let judged = self.classes.entry(failed.class).or_default();
        *judged.codes.entry(failed.failure.code.clone()).or_default() += 1;
        match &failed.remedy {
            Remedy::Retry { .. } => judged.retried += 1,
            Remedy::Ask(_) => judged.asked += 1,
            Remedy::Next { .. } => judged.diverted += 1,
            Remedy::Stop => judged.stopped += 1,
        }
        if let Some(tool) = &failed.failure.tool {
            let blamed = self.blamed.entry(request(tool).to_owned()).or_default();
            *blamed.entry(failed.class).or_default() += 1;
        }
    }

    fn summed_up(mut self) -> Metrics {
        self.blamed.retain(|name, _| !self.chats.contains(name));
        let mut tools: Vec<ToolMetrics> = Vec::with_capacity(self.tools.len());
        for ((kind, name), called) in self.tools {
            let classes = self.blamed.remove(&name).into_iter().flatten().collect();
            tools.push(ToolMetrics { kind, name, calls: called.summed_up(), classes });
        }
        // What was refused before it was called, and services that are not named by their calls.
        tools.extend(self.blamed.into_iter().map(|(name, classes)| ToolMetrics {
            kind: "tool".to_owned(),
            name,
            calls: CallMetrics::default(),
            classes: classes.into_iter().collect(),
        }));
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls.calls));
        let model = |((provider, model), asked): ((String, Option<String>), Asked)| ModelMetrics {
            provider,
            model,
            calls: asked.called.summed_up(),
            input_tokens: asked.input_tokens,
            output_tokens: asked.output_tokens,
            nano_usd: asked.nano_usd,
        };
        let mut models: Vec<ModelMetrics> = self.models.into_iter().map(model).collect();
        models.sort_by_key(|model| std::cmp::Reverse(model.calls.calls));
        let class = |(class, judged): (Class, Judged)| ClassMetrics {
            class,
            count: judged.retried + judged.asked + judged.diverted + judged.stopped,
            retried: judged.retried,
            asked: judged.asked,
            diverted: judged.diverted,
            stopped: judged.stopped,
            codes: most_first(judged.codes),
        };
        let classes = self.classes.into_iter().map(class).collect();
        Metrics { tools, models, classes, ..self.metrics }
    }
}

impl Called {
    fn summed_up(mut self) -> CallMetrics {
        let calls = self.took.len();
        self.took.sort_unstable();
        // The nearest rank.
        let rank = (calls * 95).div_ceil(100);
        let p95 = rank.checked_sub(1).and_then(|index| self.took.get(index).copied());
        let sum: i64 = self.took.iter().fold(0_i64, |sum, took| sum.saturating_add(*took));
        CallMetrics {
            calls: calls as u64,
            failed: self.failed,
            codes: most_first(self.codes),
            mean: (calls > 0).then(|| sum as f64 / calls as f64),
            p95,
        }
    }
}

fn most_first(codes: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut codes: Vec<(String, u64)> = codes.into_iter().collect();
    codes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    codes
}

/// A request without what names a single thing: its method and the first part of its path.
fn request(name: &str) -> &str {
    let path = name.find('/').map_or(name.len(), |at| at + 1);
    name[path..].find('/').map_or(name, |at| &name[..=path + at])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn received(kind: &str, name: &str, (started, ended): (i64, i64), outcome: &Value) -> Entry {
        let what = json!({ "Received": {
            "intent": {
                "id": { "place": "", "step": 1, "attempt": 1, "index": 0 },
                "kind": kind, "name": name, "digest": "d",
            },
            "started": started,
            "outcome": outcome,
        } });
        Entry { number: 2, time: ended, what: serde_json::from_value(what).expect("a receipt") }
    }

    fn failed(class: &str, code: &str, tool: Option<&str>, remedy: &Value) -> Entry {
        let what = json!({ "Failed": {
            "place": "", "node": "n", "step": 1, "attempt": 1, "started": 0, "effects": 0,
            "failure": { "code": code, "message": "no", "tool": tool },
            "class": class, "remedy": remedy,
        } });
        Entry { number: 3, time: 500, what: serde_json::from_value(what).expect("a failure") }
    }

    fn counted(entries: impl IntoIterator<Item = Entry>) -> Metrics {
        let mut tally = Tally::default();
        entries.into_iter().for_each(|entry| tally.take_in(&entry));
        tally.summed_up()
    }

    /// PUN-94: what was called, how often that went well, and by which class it failed.
    #[test]
    fn calls_and_failures_are_counted_by_tool_and_by_class() {
        let well = json!({ "answer": { "Ok": 1 } });
        let badly = json!({ "answer": { "Err": { "code": "BUSY", "message": "no" } } });
        let again = json!({ "Retry": { "at": 0, "attempt": 2 } });
        let metrics = counted([
            received("tool", "hammer", (1_000, 3_000), &well),
            received("tool", "hammer", (1_000, 2_000), &badly),
            received("tool", "saw", (0, 10), &well),
            received("http", "GET /streams/describe/orders", (0, 10), &well),
            received("http", "GET /streams/describe/users", (0, 30), &well),
            failed("new", "BUSY", Some("hammer"), &again),
            failed("random", "BUSY", Some("hammer"), &again),
            failed("identical", "BAD", Some("plane"), &json!("Stop")),
            failed("new", "BAD", None, &again),
            failed("random", "BUSY", Some("GET /streams/describe/users"), &again),
        ]);
        assert_eq!((metrics.entries, metrics.oldest, metrics.truncated), (10, Some(10), false));
        assert_eq!(metrics.tools[0].classes, [(Class::Random, 1)]);
        let tools: Vec<(&str, &str, u64, u64)> = metrics
            .tools
            .iter()
            .map(|of| (of.kind.as_str(), of.name.as_str(), of.calls.calls, of.calls.failed))
            .collect();
        assert_eq!(
            tools,
            [
                ("http", "GET /streams/", 2, 0),
                ("tool", "hammer", 2, 1),
                ("tool", "saw", 1, 0),
                ("tool", "plane", 0, 0)
            ]
        );
        let hammer = &metrics.tools[1];
        assert_eq!(hammer.classes, [(Class::New, 1), (Class::Random, 1)]);
        assert_eq!(hammer.calls.codes, [("BUSY".to_owned(), 1)]);
        assert_eq!((hammer.calls.mean, hammer.calls.p95), (Some(1_500.0), Some(2_000)));
        assert_eq!(metrics.tools[3].classes, [(Class::Identical, 1)]);
        let classes: Vec<(Class, u64, u64, u64)> =
            metrics.classes.iter().map(|of| (of.class, of.count, of.retried, of.stopped)).collect();
        assert_eq!(classes, [(Class::New, 2, 2, 0), (Class::Random, 2, 2, 0), (Class::Identical, 1, 0, 1)]);
    }

    #[test]
    fn models_are_counted_with_what_they_took() {
        let answer = |input: u64, cost: Option<u64>| {
            json!({ "answer": { "Ok": 1 }, "notes": {
                "gen_ai.provider.name": "script", "gen_ai.request.model": "m",
                "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": 1,
                "lmlang.cost.nano_usd": cost,
            } })
        };
        let rules = json!({ "answer": { "Ok": 1 }, "notes": { "gen_ai.provider.name": "rules" } });
        let metrics = counted([
            received("model", "chat m", (0, 10), &answer(7, Some(5))),
            received("model", "chat m", (0, 10), &answer(3, None)),
            received("model", "chat rules", (0, 10), &rules),
            failed(
                "new",
                "MODEL_SCHEMA_MISMATCH",
                Some("chat m"),
                &json!({ "Retry": { "at": 0, "attempt": 2 } }),
            ),
        ]);
        assert!(metrics.tools.is_empty(), "{:?}", metrics.tools);
        assert_eq!(metrics.classes[0].count, 1);
        let [model, rules] = &metrics.models[..] else { panic!("{:?}", metrics.models) };
        assert_eq!((model.provider.as_str(), model.model.as_deref()), ("script", Some("m")));
        assert_eq!((model.input_tokens, model.output_tokens, model.nano_usd), (10, 2, Some(5)));
        assert_eq!((rules.model.as_ref(), rules.nano_usd, rules.calls.calls), (None, None, 1));
    }

    #[test]
    fn of_a_hundred_calls_ninety_five_take_no_longer() {
        let well = json!({ "answer": { "Ok": 1 } });
        let calls = (1..=100).map(|took| received("tool", "saw", (0, took), &well));
        assert_eq!(counted(calls).tools[0].calls.p95, Some(95));
        assert_eq!(counted([received("tool", "saw", (0, 4), &well)]).tools[0].calls.p95, Some(4));
    }

    #[test]
    fn requests_are_counted_by_what_they_are_about() {
        for (name, expect) in [
            ("POST /pipelines", "POST /pipelines"),
            ("DELETE /pipelines/a/b", "DELETE /pipelines/"),
            ("GET /", "GET /"),
            ("none", "none"),
        ] {
            assert_eq!(request(name), expect);
        }
    }
}

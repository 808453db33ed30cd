//! Nodes that check a draft: against the catalog, then by having the Manager make it, explain it, and take it away.

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Halt, Work};
use lmlang_flow::{State, Step, Update};
use serde_json::{Value, json};

use crate::draft::asking::Spent;
use crate::draft::definition::MOST_ATTEMPTS;
use crate::draft::grounding::{Catalog, Columns};
use crate::draft::target::{Answer, Ask as Request};
use crate::draft::{Draft, catalog, ids, sql, with};

/// Temporary ids that are tried when one is taken.
const MOST_IDS: usize = 5;

/// The id in what is handed out: whoever applies it chooses one.
const PLACEHOLDER: &str = "REPLACE_ME";

impl Draft {
    pub(super) async fn check_grounding(
        &self,
        state: &State,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<Step, Halt> {
        let sql = sql(state);
        let (mut known, mut update) = (catalog(state), Update::none());
        // Streams that it joins are described first.
        for name in Catalog::streams_of(&sql) {
            if known.streams.get(&name).is_some_and(Option::is_none) {
                let described = self.manager(Request::Describe(name.clone()), work, spent).await?.body;
                known.streams.insert(name, Some(Columns::of(&described["spec"]["schema"])));
                update = update.with("catalog", json!(known));
            }
        }
        let violations = known.check(&sql);
        let notes = json!({ "lmlang.violations": violations.len() });
        let update = update.with("violations", json!(violations));
        if violations.is_empty() {
            return Ok(Step::next("validate_sql_via_tmp_pipeline", update).noting(notes));
        }
        let told: Vec<String> = violations
            .iter()
            .map(|violation| {
                let place =
                    violation.location.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
                let near = violation
                    .suggestion
                    .as_ref()
                    .map(|near| format!("; `{near}` is near"))
                    .unwrap_or_default();
                format!("{}{place}{near}", violation.message)
            })
            .collect();
        let error = told.join(". ");
        let mended = state.get("mended").as_u64().unwrap_or(0);
        let update = update.with("validation", with(state.get("validation"), "error", json!(error)));
        let next = if mended < MOST_ATTEMPTS { "revise_sql_json" } else { "ask_for_help" };
        Ok(Step::next(next, update).noting(notes))
    }

    pub(super) async fn validate(
        &self,
        state: &State,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<Step, Halt> {
        let sql = sql(state);
        let sources: Vec<String> = Catalog::streams_of(&sql).into_iter().collect();
        let attempt = state.get("validation")["attempt"].as_u64().unwrap_or(0) + 1;
        spent.retries += u64::from(attempt > 1);
        if catalog(state).validates {
            let body = json!({ "sql": sql, "sources": sources });
            let answer = self.manager(Request::Validate(body), work, spent).await?;
            return Ok(validated(&answer, attempt));
        }
        let turn = state.get("turn").as_u64().unwrap_or(1);
        let mut ids: Vec<String> = ids(state);
        let mut answer = None;
        while ids.len() < MOST_IDS * usize::try_from(MOST_ATTEMPTS).unwrap_or(1) {
            let first = format!("__nl2pipeline_tmp__{}_{turn}", work.session());
            let id = if ids.is_empty() { first } else { format!("{first}_{}", ids.len()) };
            let body = pipeline(&id, &sql, &sources, state.get("sinks"));
            let tried = self.manager(Request::Create(body), work, spent).await?;
            ids.push(id);
            let taken = tried.status == 409;
            answer = Some(tried);
            if !taken {
                break;
            }
        }
        let answer = answer.ok_or_else(|| failure("TEMPORARY_IDS_TAKEN", "every temporary id is taken"))?;
        let made = answer.is_ok();
        let id = ids.last().cloned();
        let error = (!made).then(|| answer.words());
        let validation = json!({
            "tmp_pipeline_id": if made { json!(id) } else { Value::Null },
            "error": error, "attempt": attempt, "max_attempts": MOST_ATTEMPTS,
        });
        if !made && answer.status != 409 {
            // It was not made, so there is nothing to take away.
            ids.pop();
        }
        let update = Update::none().with("validation", validation).with("ids", json!(ids));
        Ok(Step::next(after(made, attempt), update).noting(json!({ "lmlang.attempt": attempt })))
    }

    pub(super) async fn explain(
        &self,
        state: &State,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<Step, Halt> {
        let pretty = match state.get("validation")["tmp_pipeline_id"].as_str() {
            Some(id) => {
                let answer = self.manager(Request::Explain(id.to_owned()), work, spent).await?;
                // What the Manager cannot explain is taken away like what it can.
                match answer.is_ok() {
                    true => answer.body.as_str().map_or_else(|| answer.body.to_string(), str::to_owned),
                    false => format!("it could not be explained: {}", answer.words()),
                }
            }
            // Nothing was made of it: the plan came when it was checked.
            None => state.get("explain")["pretty"].as_str().unwrap_or_default().to_owned(),
        };
        let sql = sql(state);
        let sources: Vec<String> = Catalog::streams_of(&sql).into_iter().collect();
        let request = pipeline(PLACEHOLDER, &sql, &sources, state.get("sinks"));
        let explain = json!({ "pretty": pretty, "pipeline_request_json": request });
        Ok(Step::next("cleanup_tmp_pipeline", Update::none().with("explain", explain)))
    }

    pub(super) async fn clean_up(
        &self,
        state: &State,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<Step, Halt> {
        let (left, notes) = self.removed(ids(state), work, spent).await?;
        let update = Update::none()
            .with("validation", with(state.get("validation"), "tmp_pipeline_id", json!(left.first())))
            .with("ids", json!(left))
            .with("notes", notes);
        Ok(Step::next("interrupt_confirm", update))
    }

    /// Takes temporary pipelines away, as far as that goes: answers which are left, and what became of each.
    pub(super) async fn removed(
        &self,
        ids: Vec<String>,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<(Vec<String>, Vec<String>), Halt> {
        let mut left = Vec::new();
        let mut notes = Vec::new();
        for id in ids {
            // Best effort: what stays is tried again at the next turn.
            let told = match self.manager(Request::Delete(id.clone()), work, spent).await {
                Ok(answer) if answer.is_ok() || answer.status == 404 => format!("removed {id}"),
                Ok(answer) => {
                    left.push(id.clone());
                    format!("{id} stays: the Manager answers {}", answer.status)
                }
                Err(Halt::Failed(failed)) => {
                    left.push(id.clone());
                    format!("{id} stays: {}", failed.message)
                }
                Err(lost @ Halt::Lost(_)) => return Err(lost),
            };
            notes.push(told);
        }
        Ok((left, notes))
    }
}

/// What a Manager says that has checked a draft and made nothing of it.
fn validated(answer: &Answer, attempt: u64) -> Step {
    let error = (!answer.is_ok()).then(|| answer.words());
    let validation = json!({
        "tmp_pipeline_id": null, "error": error, "attempt": attempt, "max_attempts": MOST_ATTEMPTS,
    });
    let plan = answer.body["plan"].as_str().or_else(|| answer.body.as_str()).unwrap_or_default();
    let plan = if plan.trim().is_empty() { "it is valid; no plan is shown" } else { plan };
    let mut update = Update::none().with("validation", validation);
    if answer.is_ok() {
        update = update.with("explain", json!({ "pretty": plan, "pipeline_request_json": null }));
    }
    Step::next(after(answer.is_ok(), attempt), update).noting(json!({ "lmlang.attempt": attempt }))
}

/// Where a draft goes on that was checked.
fn after(is_good: bool, attempt: u64) -> &'static str {
    match (is_good, attempt < MOST_ATTEMPTS) {
        (true, _) => "explain_tmp_pipeline",
        (false, true) => "revise_sql_json",
        (false, false) => "ask_for_help",
    }
}

/// The request that makes a pipeline.
fn pipeline(id: &str, sql: &str, sources: &[String], sinks: &Value) -> Value {
    json!({
        "id": id, "sql": sql, "sources": sources, "sinks": sinks,
        "options": { "data_channel_capacity": 16, "eventtime": { "enabled": false, "late_tolerance_ms": 0 } },
    })
}

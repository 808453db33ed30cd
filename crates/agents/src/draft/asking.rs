//! What a draft asks: the Manager, and models in the roles `router`, `drafter` and `reasoner`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Effect, Halt, Repeat, Work};
use lmlang_flow::Failure;
use serde_json::{Value, json};

use crate::asking::ask;
use crate::draft::grounding::{Catalog, VALIDATES};
use crate::draft::target::{Answer, Ask, DraftTarget, Judged};
use crate::model::{Format, Models, Reply, Request, shortened};

/// For how long what a Manager says of its functions and its syntax is taken as it was.
const TTL: Duration = Duration::from_secs(300);

/// Most characters of what a Manager says that are told of a failure.
const SAID: usize = 500;

/// What a node has spent: added to the metrics of the state at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    tokens: u64,
    model_ms: u64,
    manager_ms: u64,
    pub(super) retries: u64,
}

impl Spent {
    /// The metrics with what was spent.
    pub(super) fn added_to(self, metrics: &Value) -> Value {
        let sum = |name: &str, more: u64| metrics[name].as_u64().unwrap_or(0) + more;
        json!({
            "llm_tokens": sum("llm_tokens", self.tokens),
            "llm_latency_ms": sum("llm_latency_ms", self.model_ms),
            "manager_latency_ms": sum("manager_latency_ms", self.manager_ms),
            "retries": sum("retries", self.retries),
        })
    }

    fn model(&mut self, reply: &Reply) {
        self.tokens += reply.usage.input + reply.usage.output;
        self.model_ms += reply.latency.total_ms;
    }
}

/// What a Manager said of what hardly changes, and when.
#[derive(Default)]
pub(super) struct Catalogs(Mutex<HashMap<String, (Instant, Answer)>>);

impl Catalogs {
    fn get(&self, path: &str) -> Option<Answer> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path).filter(|(when, _)| when.elapsed() < TTL).map(|(_, answer)| answer.clone())
    }

    fn keep(&self, path: &str, answer: &Answer) {
        if answer.is_ok() {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(path.to_owned(), (Instant::now(), answer.clone()));
        }
    }
}

/// Asks the Manager, as an effect of the run: once for each question, however often the run is gone on with. What it says of
/// functions and syntax is asked for once in a while.
///
/// # Errors
///
/// [`Halt::Failed`] for a Manager that is out of reach, and for an answer that says nothing of what was sent:
/// it is not kept as one, and the ladder may have the same asked again.
pub(super) async fn manager(
    target: &dyn DraftTarget,
    catalogs: &Catalogs,
    request: Ask,
    work: &mut Work,
    spent: &mut Spent,
) -> Result<Answer, Halt> {
    let (method, path) = (request.method(), request.path());
    let repeat = match &request {
        Ask::Create(_) | Ask::Delete(_) => Repeat::Keyed,
        Ask::Streams
        | Ask::Describe(_)
        | Ask::Functions
        | Ask::Syntax
        | Ask::Validate(_)
        | Ask::Explain(_) => Repeat::Harmless,
    };
    let notes = json!({ "http.request.method": method, "url.path": path });
    let asked = json!({ "method": method, "path": path, "body": request.body() });
    let effect = Effect::new("http", &format!("{method} {path}"), asked, repeat).noting(notes);
    let keeps = matches!(request, Ask::Functions | Ask::Syntax);
    let request = &request;
    let answered = work.effect(effect, move |_| async move {
        if let Some(answer) = catalogs.get(&path).filter(|_| keeps) {
            let notes = json!({ "http.response.status_code": answer.status, "lmlang.cached": true });
            return Ok((json!({ "status": answer.status, "body": answer.body, "ms": 0 }), notes));
        }
        let started = Instant::now();
        let answer = target.ask(request).await.map_err(|error| Failure {
            transient: true,
            ..failure("MANAGER_UNREACHABLE", error.to_string())
        })?;
        if let Some(failed) = failed(request, &answer) {
            return Err(failed);
        }
        let answer = match answer.is_ok() {
            true => Answer { body: needed_of(request, answer.body), ..answer },
            false => answer,
        };
        if keeps {
            catalogs.keep(&path, &answer);
        }
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let notes = json!({ "http.response.status_code": answer.status });
        Ok((json!({ "status": answer.status, "body": answer.body, "ms": ms }), notes))
    });
    let answered = answered.await?;
    spent.manager_ms += answered["ms"].as_u64().unwrap_or(0);
    let status = answered["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(0);
    let answer = Answer { status, body: answered["body"].clone(), retry_after: None };
    // A receipt that holds such an answer is no better than the answer.
    match failed(request, &answer) {
        Some(failed) => Err(failed.into()),
        None => Ok(answer),
    }
}

/// The failure that an answer is, unless it says something of what was sent.
fn failed(request: &Ask, answer: &Answer) -> Option<Failure> {
    let (code, transient) = match request.judged(answer.status) {
        Judged::Answered => return None,
        Judged::Busy => ("MANAGER_FAILED", true),
        Judged::Refused => ("MANAGER_REFUSED", false),
    };
    let asked = format!("`{} {}`", request.method(), request.path());
    let said = shortened(&answer.words(), SAID);
    let said = if said.is_empty() { "with nothing else".to_owned() } else { said };
    let message = format!("the Manager answers {} to {asked}: {said}", answer.status);
    let retry_after = answer.retry_after.and_then(|pause| i64::try_from(pause.as_micros()).ok());
    Some(Failure { transient, retry_after, ..failure(code, message) })
}

/// What of a body is remembered: of the catalogs, which are long, names and what becomes of them.
fn needed_of(request: &Ask, body: Value) -> Value {
    let mut catalog = Catalog::default();
    match request {
        Ask::Functions => {
            catalog.add_functions(&body);
            catalog.functions.iter().map(|name| json!({ "name": name })).collect()
        }
        Ask::Syntax => {
            catalog.add_syntax(&body);
            let constructs = catalog.constructs.iter();
            let constructs: Value =
                constructs.map(|(id, status)| json!({ "id": id, "status": status })).collect();
            let mut needed = json!({ "constructs": constructs });
            if catalog.validates {
                needed[VALIDATES] = json!(true);
            }
            needed
        }
        Ask::Streams
        | Ask::Describe(_)
        | Ask::Validate(_)
        | Ask::Create(_)
        | Ask::Explain(_)
        | Ask::Delete(_) => body,
    }
}

/// Asks a model, in JSON if the request says so.
pub(super) async fn model(
    models: &Models,
    request: &Request,
    work: &mut Work,
    spent: &mut Spent,
) -> Result<Reply, Halt> {
    spent.retries += u64::from(work.attempt() > 1);
    let reply = ask(models, request, work).await?;
    spent.model(&reply);
    if request.format != Format::Text && reply.value.is_none() {
        return Err(failure("MODEL_SCHEMA_MISMATCH", "the model did not answer in JSON").into());
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NL-26: what a Manager says of what hardly changes is asked for once in a while.
    #[test]
    fn a_catalog_is_kept_for_a_while() {
        let catalogs = Catalogs::default();
        let path = Ask::Functions.path();
        assert_eq!(catalogs.get(&path), None);
        let answer = Answer { status: 200, body: json!([{ "name": "sum" }]), retry_after: None };
        catalogs.keep(&path, &answer);
        assert_eq!(catalogs.get(&path), Some(answer));
        assert_eq!(catalogs.get(&Ask::Syntax.path()), None);
        // As it is when the while is over.
        for (when, _) in catalogs.0.lock().expect("nobody has it").values_mut() {
            *when = when.checked_sub(TTL).expect("the machine has run for longer");
        }
        assert_eq!(catalogs.get(&path), None);
        catalogs.keep(&path, &Answer { status: 503, body: Value::Null, retry_after: None });
        assert_eq!(catalogs.get(&path), None, "what is no answer is not kept");
    }
}

//! Asking a model from within a flow: once for each question, however often the run is gone on with.
//!
//! The answer is a receipt of the run, so that a question that was answered is not asked again; what it took stands in its
//! span under the names of OpenTelemetry's conventions for generative AI.

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Effect, Halt, Repeat, Work};
use lmlang_flow::Failure;
use lmlang_telemetry::names::{self, gen_ai};
use serde_json::{Map, Value, json};

use crate::model::{Class, Delta, ModelError, Models, Reply, Request};

/// Asks the model of the request's role, and tells whoever listens what it says. What is secret in the request is hidden from it if
/// the settings of the role say so.
///
/// # Errors
///
/// [`Halt::Failed`] with the code of the [`ModelError`]; the ladder tries again what may pass.
pub async fn ask(models: &Models, request: &Request, work: &mut Work) -> Result<Reply, Halt> {
    ask_for(models, request, work, |_| Ok(())).await
}

/// The same, for an answer that has to be good for something: one that is not is a failure of the model, of which nothing is
/// remembered as what it has answered. So whoever has the node tried again has the model asked again.
///
/// # Errors
///
/// As [`ask`], and what `judge` says.
pub(crate) async fn ask_for(
    models: &Models,
    request: &Request,
    work: &mut Work,
    judge: impl Fn(&Reply) -> Result<(), Failure> + Send + Sync,
) -> Result<Reply, Halt> {
    let described = models.described(&request.role);
    let body = serde_json::to_value(request).map_err(|error| failure("INTERNAL", error.to_string()))?;
    let model = request.model.clone().or(described.model);
    let name = names::chat(model.as_deref().unwrap_or(&described.provider));
    let notes = json!({
        (gen_ai::OPERATION_NAME): gen_ai::operation::CHAT,
        (gen_ai::PROVIDER_NAME): described.provider,
        (gen_ai::REQUEST_MODEL): model,
        (gen_ai::REQUEST_TEMPERATURE): request.temperature,
        "lmlang.model.role": request.role.name(),
        "lmlang.prompt.version": request.prompt_version,
        "lmlang.prompt.digest": request.digest().to_string(),
        "lmlang.prompt.messages": request.messages.len(),
        "lmlang.prompt.masked": models.is_masked(&request.role).then_some(true),
    });
    // The run knows the question as it was asked: what is hidden may be more tomorrow.
    let hide = |text: &str| work.engine().hidden(text).into_owned();
    let masked = models.is_masked(&request.role).then(|| request.masked(hide));
    let mut teller = work.teller();
    let effect = Effect::new("model", &name, body, Repeat::Harmless).noting(given(notes));
    let answer = work.effect(effect, move |_| async move {
        let mut tell = |delta: Delta| match delta {
            Delta::Text(text) => teller.say(&text),
            Delta::Restarted => teller.restart(),
            Delta::ToolCall { .. } => {}
        };
        let told = masked.as_ref().unwrap_or(request);
        let reply = models.complete(told, &mut tell).await.map_err(|error| failed(&error))?;
        teller.end();
        judge(&reply)?;
        let notes = given(spent(&reply));
        let value = serde_json::to_value(reply).map_err(|error| failure("INTERNAL", error.to_string()))?;
        Ok((value, notes))
    });
    let answer = answer.await?;
    Ok(serde_json::from_value(answer).map_err(|error| failure("INTERNAL", error.to_string()))?)
}

/// Notes a decision that was made by rules, where a model would have been asked: no decision is without a span.
///
/// # Errors
///
/// As [`ask`].
pub async fn decide_by_rules(role: &str, decision: Value, work: &mut Work) -> Result<Value, Halt> {
    let notes = json!({
        (gen_ai::OPERATION_NAME): gen_ai::operation::CHAT,
        (gen_ai::PROVIDER_NAME): crate::model::rules::PROVIDER,
        "lmlang.model.role": role,
    });
    let name = names::chat(crate::model::rules::PROVIDER);
    let effect = Effect::new("model", &name, json!({ "role": role }), Repeat::Harmless).noting(notes);
    work.effect(effect, |_| async move { Ok((decision, Value::Null)) }).await
}

/// What an answer took.
fn spent(reply: &Reply) -> Value {
    json!({
        (gen_ai::RESPONSE_MODEL): reply.model,
        (gen_ai::PROVIDER_NAME): reply.provider,
        (gen_ai::USAGE_INPUT_TOKENS): reply.usage.input,
        (gen_ai::USAGE_OUTPUT_TOKENS): reply.usage.output,
        (gen_ai::USAGE_CACHE_READ_INPUT_TOKENS): reply.usage.cached,
        (gen_ai::RESPONSE_FINISH_REASONS): [reply.finish],
        "lmlang.usage.source": reply.usage.source,
        "lmlang.latency.first_ms": reply.latency.first_ms,
        "lmlang.latency.ms": reply.latency.total_ms,
        "lmlang.cost.nano_usd": reply.cost.map(|cost| cost.nano_usd),
        "lmlang.cost.source": reply.cost.map(|cost| cost.source),
        "lmlang.model.calls": reply.calls,
    })
}

/// Notes without those of which nothing is known.
fn given(notes: Value) -> Value {
    match notes {
        Value::Object(notes) => {
            Value::Object(notes.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
        }
        notes => notes,
    }
}

/// What the ladder is told of a model that gave no answer.
fn failed(error: &ModelError) -> Failure {
    let retry_after = match error.class() {
        Class::Transient { retry_after } => retry_after,
        Class::Cut | Class::Timeout | Class::Refused | Class::Invalid | Class::NoModel => None,
    };
    Failure {
        transient: error.class().retriable(),
        retry_after: retry_after.and_then(|pause| i64::try_from(pause.as_micros()).ok()),
        ..failure(error.code(), error.to_string())
    }
}

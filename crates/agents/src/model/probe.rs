//! Whether a model answers.

use super::reply::{Cost, Latency, Usage};
use super::request::{Message, Request};
use super::role::Role;
use super::{Model, ModelError};

/// What one short call showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Who answered.
    pub provider: String,
    /// The model, as the provider names it.
    pub model: String,
    /// How long it took.
    pub latency: Latency,
    /// The tokens.
    pub usage: Usage,
    /// What it cost, where a price is known.
    pub cost: Option<Cost>,
}

/// Asks for one token.
pub(crate) async fn probe(model: &dyn Model, role: &Role) -> Result<Probe, ModelError> {
    let request = Request {
        prompt_version: "probe".to_owned(),
        max_tokens: Some(1),
        ..Request::new(role.clone(), vec![Message::user("Answer with one word.")])
    };
    let reply = model.complete(&request, &mut |_| {}).await?;
    Ok(Probe {
        provider: reply.provider,
        model: reply.model,
        latency: reply.latency,
        usage: reply.usage,
        cost: reply.cost,
    })
}

//! Servers with OpenAI's interface for chat: OpenAI, OpenRouter, Ollama, vLLM, LM Studio, llama.cpp and many more.
//!
//! One request is one `POST` to `<base URL>/chat/completions`, answered as an event stream; a server that sends its
//! answer in one piece is understood, too. A redirection is not followed, since it would carry the key elsewhere. Proxies are
//! not looked for.
//!
//! Read `wire` for what is sent, `events` and `answer` for what comes, `reading` for how it ends, and `refusal` for
//! answers that are none.

mod answer;
mod body;
mod events;
mod reading;
mod refusal;
mod wire;

use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub use crate::http_client::ServerError;
use crate::http_client::{HttpClient, address, client, with_causes};

use super::estimate::{self, Count};
use super::prices::Prices;
use super::quote::quote;
use super::reply::{Finish, Latency, Reply};
use super::secret::Secret;
use super::{Completion, Model, ModelError, Request, Tell};
use answer::Answer;
use wire::Dialect;

/// How a server is made to answer in JSON; the first that it can do is the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// It takes a schema.
    #[default]
    JsonSchema,
    /// It answers with an object if it is asked to; the model is told the schema.
    JsonObject,
    /// The model is told everything.
    Prompt,
}

/// What a server calls the most tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// `max_tokens`: nearly all.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI, whose newer models refuse the other one.
    MaxCompletionTokens,
}

/// What there is to know about a server and a model on it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who it is, for spans and views.
    pub provider: String,
    /// Where it is; `/chat/completions` is put behind its path, and its query kept.
    pub base_url: String,
    /// The model, for requests that name none.
    pub model: String,
    /// What it is shown, if anything.
    pub key: Option<Secret>,
    /// What its models cost.
    pub prices: Prices,
    /// How it is made to answer in JSON.
    pub structured: Structured,
    /// What it calls the most tokens.
    pub limit: LimitField,
    /// Whether it is asked to count the tokens of a stream.
    pub stream_usage: bool,
    /// Whether it is asked to say what an answer costs.
    pub reports_cost: bool,
    /// How long it may send nothing in the middle of an answer.
    pub idle: Duration,
    /// How tokens are counted if it does not.
    pub count: Count,
}

/// A model on a server.
pub struct OpenAi {
    options: Options,
    url: Uri,
    /// The server, without path, query and user.
    server: String,
    authorization: Option<HeaderValue>,
    http: HttpClient,
}

impl OpenAi {
    /// Gets ready to ask a server; nothing is sent yet.
    pub fn new(options: Options) -> Result<OpenAi, ServerError> {
        let (url, server) = address(&options.base_url, "/chat/completions")?;
        let authorization = options.key.as_ref().map(|key| {
            let mut value =
                HeaderValue::try_from(format!("Bearer {}", key.reveal())).map_err(|_| ServerError::Key)?;
            value.set_sensitive(true);
            Ok(value)
        });
        let authorization = authorization.transpose()?;
        let http = client(&url)?;
        Ok(OpenAi { options, url, server, authorization, http })
    }

    /// The server, without path, query and user.
    pub fn server(&self) -> &str {
        &self.server
    }

    async fn ask(&self, request: &Request, tell: Tell<'_>) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let model = request.model.as_deref().unwrap_or(&self.options.model);
        let response = self.send(request, model).await?;
        if !response.status().is_success() {
            return Err(refusal::read(response, &self.options).await);
        }
        let mut first = None;
        let mut told = |delta| {
            first.get_or_insert_with(|| millis(started));
            tell(delta);
        };
        let answer = reading::read(response, &self.options, &mut told).await?;
        let latency = Latency { first_ms: first, total_ms: millis(started) };
        self.reply(request, model, answer, latency)
    }

    async fn send(&self, request: &Request, model: &str) -> Result<http::Response<Incoming>, ModelError> {
        let dialect = Dialect {
            structured: self.options.structured,
            limit: self.options.limit,
            stream_usage: self.options.stream_usage,
            reports_cost: self.options.reports_cost,
        };
        let body = wire::body(request, model, dialect).to_string();
        let mut sent = http::Request::builder().method(Method::POST).uri(self.url.clone());
        sent = sent.header(CONTENT_TYPE, "application/json");
        sent = sent.header(ACCEPT, "text/event-stream, application/json");
        if let Some(authorization) = &self.authorization {
            sent = sent.header(AUTHORIZATION, authorization.clone());
        }
        let sent = sent.body(Full::from(body)).expect("the address and the headers are those of `new`");
        self.http.request(sent).await.map_err(|error| ModelError::Unreachable {
            server: self.server.clone(),
            why: quote(&with_causes(&error), self.options.key.as_ref()),
        })
    }

    fn reply(
        &self,
        request: &Request,
        model: &str,
        mut answer: Answer,
        latency: Latency,
    ) -> Result<Reply, ModelError> {
        let tool_calls = answer.tool_calls();
        if !answer.refusal.is_empty() && answer.text.is_empty() && tool_calls.is_empty() {
            return Err(ModelError::Refused { said: quote(&answer.refusal, self.options.key.as_ref()) });
        }
        let finish = match answer.finish {
            // Some servers end in calls of tools and say that they are done.
            None | Some(Finish::Stop) if !tool_calls.is_empty() => Finish::ToolCalls,
            None => Finish::Stop,
            Some(finish) => finish,
        };
        let count = self.options.count;
        let usage =
            answer.usage.unwrap_or_else(|| estimate::usage(count, request, &answer.text, &tool_calls));
        let named = answer.model.unwrap_or_else(|| model.to_owned());
        let price = self.options.prices.get(model).or_else(|| self.options.prices.get(&named));
        Ok(Reply {
            text: answer.text,
            value: None,
            tool_calls,
            finish,
            usage,
            cost: answer.cost.or_else(|| price.map(|price| price.cost(usage))),
            model: named,
            provider: self.options.provider.clone(),
            latency,
            calls: 1,
        })
    }
}

impl Model for OpenAi {
    fn provider(&self) -> &str {
        &self.options.provider
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(self.ask(request, tell))
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

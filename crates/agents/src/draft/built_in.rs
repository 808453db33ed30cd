//! The built-in Manager as a target, asked in the name of whoever began the run.

use lmlang_engine::{BoxFuture, Engine};
use lmlang_history::log::Actor;
use lmlang_streams::manager::{Body, Request};
use serde_json::Value;

use crate::draft::target::{Answer, Ask, DraftTarget, Unreachable};

/// The Manager of an engine.
pub struct BuiltIn {
    /// The engine.
    pub engine: Engine,
    /// Whose doing it is.
    pub actor: Actor,
}

impl DraftTarget for BuiltIn {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Answer, Unreachable>> {
        Box::pin(async move {
            let request = match ask.clone() {
                Ask::Streams => Request::ListStreams,
                Ask::Describe(name) => Request::DescribeStream(name),
                Ask::Functions => Request::ListFunctions,
                Ask::Syntax => Request::Syntax,
                // It does not say that it checks SQL otherwise than by making it.
                Ask::Validate(_) => {
                    let body = Value::String("there is nothing at `/validate_sql`".to_owned());
                    return Ok(Answer { status: 404, body, retry_after: None });
                }
                Ask::Create(body) => Request::CreatePipeline(body),
                Ask::Explain(id) => Request::ExplainPipeline(id),
                Ask::Delete(id) => Request::DeletePipeline(id),
            };
            let answered = self.engine.ask_manager(request, &self.actor).await;
            let answered = answered
                .map_err(|error| Unreachable { server: "built-in".to_owned(), why: error.to_string() })?;
            Ok(match answered {
                Ok(answer) => Answer {
                    status: answer.status,
                    body: match answer.body {
                        Body::Json(body) => body,
                        Body::Text(text) => Value::String(text),
                    },
                    retry_after: None,
                },
                Err(refused) => Answer {
                    status: refused.kind.status(),
                    body: Value::String(refused.message),
                    retry_after: None,
                },
            })
        })
    }
}

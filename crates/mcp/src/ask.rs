//! What a tool asks: an operation of the GraphQL schema, of whoever answers it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use lmlang_graphql::transport::{Caller, Executor, Params, RequestId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::failure::{Failure, Refused, RpcCode, RpcError};

/// Whoever answers operations of the schema.
pub trait Ask: Send + Sync {
    /// Asks for an operation with variables. What the operation itself fails on is in the answer.
    fn ask<'a>(&'a self, document: &'a str, variables: Value) -> BoxFuture<'a, Result<Answer, RpcError>>;
}

/// An answer, as every transport carries it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// What was asked for, as far as it did not fail.
    pub data: Value,
    /// What failed.
    pub errors: Vec<Error>,
}

/// An error of an answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// The response path of the field that failed.
    pub path: Vec<Value>,
    /// Places in the document.
    pub locations: Vec<Value>,
    /// The code, and what goes with it.
    pub extensions: Value,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        let code = error.extensions["code"].as_str().unwrap_or("INTERNAL").to_owned();
        let mut data = error.extensions.get("data").cloned().unwrap_or(Value::Null);
        if let (Some(place), true) = (error.locations.first(), error.path.is_empty()) {
            let mut with = data.as_object().cloned().unwrap_or_else(Map::new);
            with.insert("at".to_owned(), place.clone());
            data = with.into();
        }
        Refused { code, message: error.message, data }
    }
}

impl Answer {
    /// Reads the bytes that a transport brought.
    ///
    /// # Errors
    ///
    /// They are no answer of this API.
    pub fn read(bytes: &[u8]) -> Result<Answer, RpcError> {
        serde_json::from_slice(bytes).map_err(|error| {
            let data =
                json!({ "reason": "the answer is none of lmlang's, or that of another version of it" });
            tracing::error!(%error, "an answer cannot be read");
            RpcError::new(RpcCode::Internal, data)
        })
    }

    /// The data, if nothing failed; its first error otherwise.
    pub(crate) fn whole(self) -> Result<Value, Failure> {
        match self.errors.into_iter().next() {
            Some(error) => Err(Refused::from(error).into()),
            None => Ok(self.data),
        }
    }
}

/// An executor in this process, asked in the name of a caller.
#[derive(Clone)]
pub struct InProcess {
    /// What runs operations.
    pub executor: Executor,
    /// Who asks, and what it may do.
    pub caller: Arc<Caller>,
}

impl Ask for InProcess {
    fn ask<'a>(&'a self, document: &'a str, variables: Value) -> BoxFuture<'a, Result<Answer, RpcError>> {
        Box::pin(async move {
            let params = json!({ "query": document, "variables": variables });
            let params: Params = serde_json::from_value(params).map_err(|error| {
                RpcError::new(RpcCode::InvalidParams, json!({ "reason": error.to_string() }))
            })?;
            let answer = match self.executor.prepare(params, RequestId::fresh(), &self.caller) {
                Ok(prepared) => self.executor.execute(prepared).await,
                Err(answer) => answer,
            };
            Answer::read(&serde_json::to_vec(&answer).expect("answers have a JSON form"))
        })
    }
}

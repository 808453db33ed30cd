//! A Neo4j server by its Query API: statements in transactions, over HTTP.
//!
//! Values come back with their types, because a JSON number does not say whether it is a float, and a reader of JSON may
//! change one in its last bit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use serde_json::{Map, Number, Value, json};
use thiserror::Error;

use crate::http_client::{HttpClient, ServerError, address, client, with_causes};

/// Most bytes of an answer.
const LARGEST: usize = 64 << 20;
/// How a member of a cluster is found again that has a transaction.
const AFFINITY: &str = "neo4j-cluster-affinity";
/// JSON in which every value has its type.
const TYPED: &str = "application/vnd.neo4j.query";

/// What a statement returns, each value by the name of its column.
pub(super) type Row = Map<String, Value>;

/// Why a server has not done what it was asked.
#[derive(Clone, Debug, Error)]
pub(super) enum Failed {
    /// It cannot be asked.
    #[error("the server `{server}` cannot be asked: {why}")]
    Unreachable { server: String, why: String },
    /// It says why not.
    #[error("{message} ({code})")]
    Refused { code: String, message: String },
    /// It says more than is read.
    #[error("the server answers with more than {} MB", LARGEST >> 20)]
    TooLong,
    /// It says something that was not expected.
    #[error("the server answers with the status {status}: {words}")]
    Strange { status: u16, words: String },
}

impl Failed {
    /// Whether the same request may be answered later.
    pub(super) fn passes(&self) -> bool {
        match self {
            Failed::Unreachable { .. } => true,
            Failed::Refused { code, .. } => code.starts_with("Neo.TransientError."),
            Failed::TooLong => false,
            Failed::Strange { status, .. } => *status >= 500,
        }
    }

    /// Whether the transaction is at work for an earlier request.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Failed::Refused { code, .. } if code.ends_with(".TransactionAccessedConcurrently"))
    }
}

/// A server, and who asks it.
pub(super) struct Server {
    http: HttpClient,
    base: String,
    name: String,
    database: String,
    authorization: HeaderValue,
}

/// A transaction on a server. One that is not ended goes away after a while.
pub(super) struct Open {
    id: String,
    affinity: Option<HeaderValue>,
}

impl Server {
    pub(super) fn new(url: &str, user: &str, password: &str, database: &str) -> Result<Server, ServerError> {
        let (uri, name) = address(url, "")?;
        let http = client(&uri)?;
        let who = STANDARD.encode(format!("{user}:{password}"));
        let mut authorization =
            HeaderValue::try_from(format!("Basic {who}")).map_err(|_| ServerError::Key)?;
        authorization.set_sensitive(true);
        Ok(Server { http, base: url.to_owned(), name, database: database.to_owned(), authorization })
    }

    /// Runs a statement in a transaction of its own.
    pub(super) async fn run(&self, statement: &str) -> Result<(), Failed> {
        self.ask(Method::POST, "", None, Some(json!({ "statement": statement }))).await.map(drop)
    }

    /// Begins a transaction, which holds nothing yet.
    pub(super) async fn begin(&self) -> Result<Open, Failed> {
        let (answer, affinity) = self.ask(Method::POST, "/tx", None, None).await?;
        match answer["transaction"]["id"].as_str() {
            Some(id) => Ok(Open { id: id.to_owned(), affinity }),
            None => Err(Failed::Strange { status: 200, words: "it begins no transaction".to_owned() }),
        }
    }

    /// Runs a statement in a transaction, and returns its rows.
    pub(super) async fn execute(
        &self,
        open: &Open,
        statement: &str,
        parameters: Value,
    ) -> Result<Vec<Row>, Failed> {
        let body = json!({ "statement": statement, "parameters": parameters });
        let (answer, _) = self.ask(Method::POST, &format!("/tx/{}", open.id), Some(open), Some(body)).await?;
        Ok(rows(&answer["data"]))
    }

    /// Ends a transaction, with or without what it wrote.
    pub(super) async fn end(&self, open: &Open, commit: bool) -> Result<(), Failed> {
        let (method, path) = match commit {
            true => (Method::POST, format!("/tx/{}/commit", open.id)),
            false => (Method::DELETE, format!("/tx/{}", open.id)),
        };
        self.ask(method, &path, Some(open), None).await.map(drop)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        open: Option<&Open>,
        body: Option<Value>,
    ) -> Result<(Value, Option<HeaderValue>), Failed> {
        let unreachable = |why: String| Failed::Unreachable { server: self.name.clone(), why };
        let path = format!("/db/{}/query/v2{path}", self.database);
        let (url, _) = address(&self.base, &path).map_err(|error| unreachable(error.to_string()))?;
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .header(ACCEPT, TYPED)
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, self.authorization.clone());
        if let Some(affinity) = open.and_then(|open| open.affinity.clone()) {
            request = request.header(AFFINITY, affinity);
        }
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request = request.body(Full::from(body)).map_err(|error| unreachable(error.to_string()))?;
        let response = self.http.request(request).await.map_err(|error| unreachable(with_causes(&error)))?;
        let (status, affinity) = (response.status(), response.headers().get(AFFINITY).cloned());
        let bytes = Limited::new(response.into_body(), LARGEST).collect().await;
        let bytes = bytes.map_err(|error| match error.is::<LengthLimitError>() {
            true => Failed::TooLong,
            false => unreachable(format!("its answer cannot be read: {error}")),
        });
        let bytes = bytes?.to_bytes();
        let answer: Option<Value> = match bytes.is_empty() {
            true => Some(Value::Null),
            false => serde_json::from_slice(&bytes).ok(),
        };
        if let Some(error) = answer.as_ref().and_then(|answer| answer["errors"].get(0)) {
            let word = |field: &str| error[field].as_str().unwrap_or_default().to_owned();
            return Err(Failed::Refused { code: word("code"), message: word("message") });
        }
        match answer.filter(|_| status.is_success()) {
            Some(answer) => Ok((answer, affinity)),
            None => {
                let words = String::from_utf8_lossy(&bytes).chars().take(200).collect();
                Err(Failed::Strange { status: status.as_u16(), words })
            }
        }
    }
}

fn rows(data: &Value) -> Vec<Row> {
    let fields: Vec<&str> =
        data["fields"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let row = |values: &Value| {
        let values = values.as_array().into_iter().flatten().map(plain);
        fields.iter().map(|name| (*name).to_owned()).zip(values).collect()
    };
    data["values"].as_array().into_iter().flatten().map(row).collect()
}

/// The value of one that says its type.
fn plain(typed: &Value) -> Value {
    let value = &typed["_value"];
    let number = |number: Option<Number>| number.map_or(Value::Null, Value::Number);
    match typed["$type"].as_str().unwrap_or_default() {
        "Integer" => number(value.as_str().and_then(|text| text.parse::<i64>().ok()).map(Number::from)),
        "Float" => number(value.as_str().and_then(|text| text.parse().ok()).and_then(Number::from_f64)),
        "List" => value.as_array().into_iter().flatten().map(plain).collect(),
        "Map" => {
            let fields = value.as_object().into_iter().flatten();
            Value::Object(fields.map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        // Texts, truth values and null; times and places, which others have written, as they are spelled.
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_their_types_say() {
        let of = |of: &str, value: Value| json!({ "$type": of, "_value": value });
        let data = json!({ "fields": ["a", "b"], "values": [[
            of("List", json!([of("Integer", json!("9007199254740993")), of("Float", json!("0.1")), of("Null", Value::Null)])),
            of("Map", json!({ "x": of("Boolean", json!(true)), "y": of("String", json!("1")),
                "z": of("Date", json!("2026-01-02")) })),
        ]] });
        let expected = json!({
            "a": [9_007_199_254_740_993_i64, 0.1, null], "b": { "x": true, "y": "1", "z": "2026-01-02" },
        });
        assert_eq!(json!(rows(&data)), json!([expected]));
    }
}

//! Turns what came out of an operation into what a client may see.

use async_graphql::{PathSegment, Pos, Response, ServerError, Value};
use async_graphql_value::RAW_VALUE_TOKEN;
use lmlang_ir::text::nearest;
use serde::Serialize;
use serde::ser::SerializeStruct;
use serde_json::json;

use super::request_id::RequestId;
use super::shape::Shape;
use crate::error::{ApiError, Code};

/// How far an operation came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran; fields may have failed one by one.
    Executed,
    /// It did not run, or not to an end: the answer has errors and no data.
    Refused(Code),
}

impl Outcome {
    /// Returns a word for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Executed => "executed",
            Outcome::Refused(code) => code.as_str(),
        }
    }
}

/// What a log tells of an answer with errors.
#[derive(Debug)]
pub(super) struct Failure {
    /// The code of the first one.
    pub(super) code: &'static str,
    /// Where that one is; none for the operation as a whole.
    pub(super) path: Option<String>,
    /// How many there are.
    pub(super) errors: usize,
}

/// The answer to one operation, or one event of a subscription.
///
/// Serialises to the JSON that GraphQL clients expect: a refused request has `errors` and no `data`.
#[derive(Debug)]
pub struct Answer {
    response: Box<Response>,
    outcome: Outcome,
}

impl Answer {
    /// Makes the answer to a request that is not carried out.
    ///
    /// An [`Code::Internal`] error is logged here and its message is not shown.
    #[must_use]
    pub fn refuse(error: ApiError, id: &RequestId) -> Self {
        Answer::refused(error, None, id)
    }

    /// The same, for an error at one place of the document.
    pub(super) fn refuse_at(error: ApiError, place: Pos, id: &RequestId) -> Self {
        Answer::refused(error, Some(place), id)
    }

    fn refused(error: ApiError, place: Option<Pos>, id: &RequestId) -> Self {
        let code = error.code;
        let extensions = error.extensions();
        let mut shown = ServerError::new(error.message, place);
        shown.extensions = Some(extensions);
        seal(&mut shown, code, id);
        let response = Box::new(Response::from_errors(vec![shown]));
        Answer { response, outcome: Outcome::Refused(code) }
    }

    /// Makes the answer from what the library returned.
    pub(super) fn of(mut response: Response, masking: Masking<'_>) -> Self {
        let mut first = None;
        let refused = response.data == Value::Null
            && !response.errors.is_empty()
            && response.errors.iter().all(|error| error.path.is_empty());
        // Validation tells some findings more than once.
        response.errors.dedup_by(|later, earlier| {
            later.message == earlier.message
                && later.locations == earlier.locations
                && later.path == earlier.path
        });
        let most = usize::try_from(masking.most).unwrap_or(usize::MAX);
        let more = response.errors.len().saturating_sub(most);
        response.errors.truncate(most);
        for error in &mut response.errors {
            let code = masking.mask(error);
            first = first.or(Some(code));
        }
        if more > 0 {
            let error = ApiError::new(Code::BadRequest, format!("{more} more errors are not listed"));
            response.errors.extend(Answer::refuse(error, masking.id).response.errors);
        }
        let outcome = match first {
            Some(code) if refused => Outcome::Refused(code),
            Some(_) | None => Outcome::Executed,
        };
        Answer { response: Box::new(response), outcome }
    }

    /// Returns how far the operation came.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the first of its errors, as far as a log tells of it.
    pub(super) fn failure(&self) -> Option<Failure> {
        let first = self.response.errors.first()?;
        let code = first.extensions.as_ref().and_then(|extensions| match extensions.get("code") {
            Some(Value::String(code)) => Code::parse(code),
            Some(_) | None => None,
        });
        let code = code.unwrap_or(Code::Internal).as_str();
        let path = (!first.path.is_empty()).then(|| Path(&first.path).to_string());
        Some(Failure { code, path, errors: self.response.errors.len() })
    }

    /// Returns the errors alone, as they are serialised.
    #[must_use]
    pub fn errors(&self) -> &(impl Serialize + use<>) {
        &self.response.errors
    }
}

impl Serialize for Answer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Refused<'a> {
            errors: &'a [ServerError],
        }
        #[derive(Serialize)]
        struct Executed<'a> {
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            errors: &'a [ServerError],
            data: Shown<'a>,
        }
        let errors = &*self.response.errors;
        match self.outcome {
            Outcome::Executed => Executed { errors, data: Shown(&self.response.data) }.serialize(serializer),
            Outcome::Refused(_) => Refused { errors }.serialize(serializer),
        }
    }
}

/// A value as it is sent. A list that is JSON already is copied as it stands; the library would read it through first.
struct Shown<'a>(&'a Value);

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => match fields.get(RAW_VALUE_TOKEN) {
                Some(Value::String(json)) => {
                    let mut raw = serializer.serialize_struct(RAW_VALUE_TOKEN, 1)?;
                    raw.serialize_field(RAW_VALUE_TOKEN, json)?;
                    raw.end()
                }
                Some(_) | None => {
                    serializer.collect_map(fields.iter().map(|(name, value)| (name, Shown(value))))
                }
            },
            Value::List(items) => serializer.collect_seq(items.iter().map(Shown)),
            Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Boolean(_)
            | Value::Binary(_)
            | Value::Enum(_) => self.0.serialize(serializer),
        }
    }
}

/// What the masking of errors goes by.
#[derive(Clone, Copy)]
pub(super) struct Masking<'a> {
    pub(super) shape: &'a Shape,
    pub(super) id: &'a RequestId,
    /// How many errors are listed.
    pub(super) most: u64,
}

impl Masking<'_> {
    /// Gives an error its code, and hides what is internal.
    fn mask(&self, error: &mut ServerError) -> Code {
        let listed = error.extensions.as_ref().and_then(|extensions| match extensions.get("code") {
            Some(Value::String(code)) => Code::parse(code),
            _ => None,
        });
        let code = match listed {
            Some(code) => code,
            None if is_clients(error) => Code::BadRequest,
            None => Code::Internal,
        };
        if listed.is_none() {
            error.extensions = None;
            if let Some(message) = in_brackets(&error.message) {
                error.message = message;
            }
            if let Some(data) = coercion(&error.message, self.shape) {
                let extensions = error.extensions.get_or_insert_default();
                extensions.set("data", Value::from_json(data).unwrap_or_default());
            }
        }
        seal(error, code, self.id);
        code
    }
}

/// Bytes of an error's message; what is longer repeats a long request.
const MESSAGE: usize = 600;

/// Completes the extensions of an error; what is internal goes to the log instead of the client.
fn seal(error: &mut ServerError, code: Code, id: &RequestId) {
    if code == Code::Internal {
        tracing::error!(
            request_id = %id,
            path = %Path(&error.path),
            message = %error.message,
            "internal error"
        );
        error.message = "internal error".to_owned();
        error.extensions = None;
    }
    if error.message.len() > MESSAGE {
        let end = (0..=MESSAGE).rev().find(|at| error.message.is_char_boundary(*at)).unwrap_or(0);
        error.message.truncate(end);
        error.message.push_str("...");
    }
    let extensions = error.extensions.get_or_insert_default();
    extensions.set("code", code.as_str());
    let lasts = extensions.get("retriable") == Some(&Value::Boolean(false));
    extensions.set("retriable", code.retriable() && !lasts);
    extensions.set("requestId", &*id.0);
}

/// How the library begins to say that an argument does not fit.
const ABOUT_ARGUMENT: &str = "Invalid value for argument \"";

/// How it begins to say where an input does not fit.
const ABOUT_INPUT_AT: [&str; 2] = [ABOUT_ARGUMENT, "Invalid default value for argument: \""];

/// Says whether an error without a code is about the request.
///
/// Without a path it comes from parsing or validation. With one it comes from a resolver, where only the library's own
/// findings about arguments and variables do; a foreign error that a resolver lets through has a source.
fn is_clients(error: &ServerError) -> bool {
    const ABOUT_INPUT: [&str; 4] =
        ["Expected input type \"", "Failed to parse \"", ABOUT_ARGUMENT, "Variable "];
    error.source.is_none()
        && (error.path.is_empty() || ABOUT_INPUT.iter().any(|prefix| error.message.starts_with(prefix)))
}

/// The library's message about an input that does not fit, with the places of lists spelled as everywhere: `edits[0].op`.
fn in_brackets(message: &str) -> Option<String> {
    let lead = ABOUT_INPUT_AT.into_iter().find(|lead| message.starts_with(lead))?;
    let (path, reason) = message[lead.len()..].split_once('"')?;
    let mut place = String::new();
    for part in path.split('.') {
        if part.parse::<usize>().is_ok() {
            place.push_str(&format!("[{part}]"));
        } else if place.is_empty() {
            place.push_str(part);
        } else {
            place.push_str(&format!(".{part}"));
        }
    }
    Some(format!("{lead}{place}\"{reason}"))
}

/// Reads from the library's message where an input does not fit, and looks up what would be known there, and comes near.
fn coercion(message: &str, shape: &Shape) -> Option<serde_json::Value> {
    let rest = ABOUT_INPUT_AT.iter().find_map(|lead| message.strip_prefix(*lead))?;
    let (path, reason) = rest.split_once("\", ")?;
    let quoted = |lead: &str| reason.split_once(lead)?.1.split_once('"').map(|(name, _)| name);
    let known = quoted("enumeration type \"")
        .or_else(|| quoted("\" of type \""))
        .or_else(|| quoted("expected type \""))
        .and_then(|name| shape.known(name.trim_end_matches('!')));
    let Some(known) = known else { return Some(json!({ "path": path })) };
    let given = quoted("unknown field \"").or_else(|| quoted("does not contain the value \""));
    let candidates = given.map(|given| nearest(given, known.iter().map(String::as_str)));
    Some(json!({ "path": path, "known": known, "candidates": candidates.unwrap_or_default() }))
}

struct Path<'a>(&'a [PathSegment]);

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            match segment {
                PathSegment::Field(name) => f.write_str(name)?,
                PathSegment::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}

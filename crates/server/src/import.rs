//! Taking a module in as the content of a program, with word of how far it is for those who want it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt, stream};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::schema::access;
use lmlang_graphql::schema::wasm::{GivenModule, ImportRequest, Imported, Progress, Watch};
use lmlang_graphql::transport::{Answer, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::admission;
use crate::answering::{outside, refused, refused_to, unmade};
use crate::body::{self, Unreadable};
use crate::caller::{self, Who};
use crate::negotiate::{self, Form};
use crate::state::Shared;

/// The header with the key that makes a repetition harmless.
pub(crate) const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What a request may say beside the program and the module.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    branch: Option<String>,
    expected_head: Option<String>,
    message: Option<String>,
}

/// Answers a POST request to `/programs/{id}/wasm`.
pub(crate) async fn answer(state: &Shared, program: String, request: Request, id: &RequestId) -> Response {
    let (parts, body) = request.into_parts();
    let Some(form) = negotiate::form(&parts.headers) else {
        let error =
            ApiError::new(Code::BadRequest, "the answer can be `application/json` or `text/event-stream`");
        return refused(Form::Json, StatusCode::NOT_ACCEPTABLE, error, id);
    };
    let grant = match admission::of_headers(state, &parts.headers, id).await {
        Ok(grant) => grant,
        Err(error) => return outside(Form::Json, error, id),
    };
    let who = Who::of(&parts.headers, &grant);
    // Nothing is read for those who may not.
    if let Err(error) = access::may_import(&grant) {
        return unmade(&who, error, id);
    }
    let caller = match caller::from_headers(&parts.headers, grant) {
        Ok(caller) => caller,
        Err(error) => return refused_to(&who, Form::Json, StatusCode::BAD_REQUEST, error, id),
    };
    let (asked, key) = match asked(&parts.uri, &parts.headers) {
        Ok(asked) => asked,
        Err(error) => return unmade(&who, error, id),
    };
    let place = match place(state).await {
        Ok(place) => place,
        Err(error) => return unmade(&who, error, id),
    };
    let module = match module(state, &parts.headers, body).await {
        Ok(module) => module,
        Err(Unreadable { status, error }) => return refused_to(&who, Form::Json, status, error, id),
    };
    let bytes = match &module {
        GivenModule::Wasm(module) => module.len(),
        GivenModule::Wat(text) => text.len(),
    };
    let Asked { branch, expected_head, message } = asked;
    let request = ImportRequest { program, branch, expected_head, message, idempotency_key: key, module };
    let import = |watch: Watch| (state.hooks.import)(caller, request, watch);
    if form == Form::Events {
        return told(state, bytes, (id, who, place), import);
    }
    match import(Arc::new(|_| {})).await {
        Ok(made @ Imported::Made { .. }) => axum::Json(made).into_response(),
        Ok(conflict @ Imported::Conflict { .. }) => {
            (StatusCode::CONFLICT, axum::Json(conflict)).into_response()
        }
        Err(error) => unmade(&who, error, id),
    }
}

fn asked(uri: &Uri, headers: &HeaderMap) -> Result<(Asked, Option<String>), ApiError> {
    let Query(asked) =
        Query::try_from_uri(uri).map_err(|error| ApiError::new(Code::BadRequest, error.body_text()))?;
    let key = headers.get(KEY).map(|key| str::from_utf8(key.as_bytes()).map(str::to_owned)).transpose();
    let key = key.map_err(|_| ApiError::new(Code::BadRequest, format!("the header `{KEY}` is not UTF-8")))?;
    Ok((asked, key))
}

/// One of the places that modules have while they are taken in. Who waits for one has sent nothing yet that is kept.
async fn place(state: &Shared) -> Result<OwnedSemaphorePermit, ApiError> {
    let place = Arc::clone(&state.imports).acquire_owned();
    match tokio::time::timeout(state.config.import_wait, place).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) | Err(_) => {
            let most = state.config.imports;
            let message = format!("too many modules are waiting: `parallelImports` is {most}");
            Err(ApiError::new(Code::Overloaded, message))
        }
    }
}

/// Reads the module, in the form that the content type says. That of the text is none that browsers send unasked for
/// pages of other sites, as they do `text/plain`.
async fn module(state: &Shared, headers: &HeaderMap, body: Body) -> Result<GivenModule, Unreadable> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind != "application/wasm" && kind != "text/wat" {
        let message = "the content type must be `application/wasm`, or `text/wat` for the text form";
        let (status, error) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, ApiError::new(Code::BadRequest, message));
        return Err(Unreadable { status, error });
    }
    let bytes = body::module(headers, body, &state.config).await?;
    if kind == "application/wasm" {
        return Ok(GivenModule::Wasm(bytes));
    }
    String::from_utf8(bytes).map(GivenModule::Wat).map_err(|_| Unreadable {
        status: StatusCode::BAD_REQUEST,
        error: ApiError::new(Code::BadRequest, "the text is not UTF-8"),
    })
}

/// An import that tells how far it is. Who stops to listen stops it.
struct Told {
    work: BoxFuture<'static, Result<Imported, ApiError>>,
    progress: UnboundedReceiver<Progress>,
    last: Option<Event>,
    id: RequestId,
    who: Who,
    /// Given back when nobody listens any more.
    _place: OwnedSemaphorePermit,
}

/// Answers with an event for each step: `read`, `validated`, `built` several times, and at last `committed`, or
/// `conflict` or `refused`.
fn told(
    state: &Shared,
    bytes: usize,
    (id, who, place): (&RequestId, Who, OwnedSemaphorePermit),
    import: impl FnOnce(Watch) -> BoxFuture<'static, Result<Imported, ApiError>>,
) -> Response {
    let (sender, progress) = mpsc::unbounded_channel();
    // Nobody is left to hear it when this fails.
    let work = import(Arc::new(move |step| sender.send(step).unwrap_or_default()));
    let read = event("read", &json!({ "bytes": bytes }));
    let told = Told { work, progress, last: None, id: id.clone(), who, _place: place };
    let events = stream::iter([read])
        .chain(steps(told))
        .map(Ok::<_, Infallible>)
        .take_until(state.shutdown.clone().cancelled_owned());
    Sse::new(events).keep_alive(KeepAlive::new().interval(state.config.keep_alive)).into_response()
}

fn steps(told: Told) -> impl Stream<Item = Event> + Send {
    stream::unfold(Some(told), |told| async move {
        let mut told = told?;
        if told.last.is_none() {
            tokio::select! {
                biased;
                Some(step) = told.progress.recv() => return Some((event_of(step), Some(told))),
                result = &mut told.work => told.last = Some(result_of(result, &told.id, &told.who)),
            }
        }
        // What it told before it ended comes first.
        match told.progress.try_recv() {
            Ok(step) => Some((event_of(step), Some(told))),
            Err(_) => told.last.map(|last| (last, None)),
        }
    })
}

fn event_of(step: Progress) -> Event {
    match step {
        Progress::Validated { functions } => event("validated", &json!({ "functions": functions })),
        Progress::Built { functions, of } => event("built", &json!({ "functions": functions, "of": of })),
    }
}

fn result_of(result: Result<Imported, ApiError>, id: &RequestId, who: &Who) -> Event {
    let shown = |name, shown: serde_json::Result<Value>| match shown {
        Ok(shown) => event(name, &shown),
        Err(error) => {
            tracing::error!(%error, "an answer is not JSON");
            event("refused", &Value::Null)
        }
    };
    match result {
        Ok(made @ Imported::Made { .. }) => shown("committed", serde_json::to_value(made)),
        Ok(conflict @ Imported::Conflict { .. }) => shown("conflict", serde_json::to_value(conflict)),
        Err(error) => {
            let Who { author, token } = who;
            tracing::info!(request_id = %id, author, token, code = error.code.as_str(), "refused");
            shown("refused", serde_json::to_value(Answer::refuse(error, id)))
        }
    }
}

fn event(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

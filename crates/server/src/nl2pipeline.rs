//! `POST /nl2pipeline/turn` and `GET /sessions/{id}/trace`: the flow `draft`, in the names of its own state.
//!
//! Both ask the schema in the name of the caller, so that what holds there holds here. A turn is answered when its run asks or
//! ends; whoever accepts an event stream is told what the model says meanwhile, line by line.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, future};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Caller, Params, RequestId};
use lmlang_mcp::{Answer, Ask, InProcess};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::answering::{named, needs, outside, refused_to, request_id, status_of_path};
use crate::body::{self, Unreadable};
use crate::caller::{self, Who};
use crate::negotiate::{self, Form};
use crate::state::Shared;
use crate::{admission, running};

/// The flow that turns are given to.
const FLOW: &str = "draft";

/// Runs of a session whose spans are shown, the newest.
const RUNS: usize = 20;

/// How long words that were said are waited for when the run already asks or has ended.
const GRACE: Duration = Duration::from_secs(2);

/// Spans of a run that are asked for at a time.
const SPANS: usize = 500;

/// Most spans that are shown.
const MOST_SPANS: usize = 10_000;

const BEGIN: &str =
    "mutation($input: CreateSessionInput!) { made: createSession(input: $input) { session { id } } }";

const TURN: &str = "mutation($input: TurnInput!) { turn(input: $input) {
  session { id } run { id status error } done view
  interrupt { id type question choices }
} }";

const EVENTS: &str = "subscription($id: ID!) {
  runEvents(sessionId: $id, kinds: [LISTENING, MODEL_DELTA, INTERRUPTED, FINISHED]) {
    kind ... on RunUpdate { node text data }
  }
}";

const STANDS: &str = "query($id: ID!) {
  run(id: $id) { id status error interrupts { id type question choices status } } view: runState(runId: $id)
}";

/// Events that wait for a slow listener.
const WAITING: usize = 16;

const RUNS_OF: &str = "query($id: ID!, $first: Int!) { session(id: $id) { id workflow
  runs(first: $first) { totalCount nodes { id status flow { name } createdAt endedAt } }
} }";

const TRACE: &str =
    "query($id: ID!, $first: Int!, $after: String) { run(id: $id) { trace(first: $first, after: $after) {
  nodes { id parentId kind name startedAt endedAt ok attempt attributes }
  pageInfo { hasNextPage endCursor }
} } }";

/// What is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    session_id: Option<String>,
    text: Option<String>,
    feedback: Option<String>,
    confirm: Option<bool>,
    choice: Option<String>,
    interrupt_id: Option<String>,
    sinks: Option<Vec<Value>>,
    idempotency_key: Option<String>,
}

/// Why a request was not carried out.
struct Refused(StatusCode, ApiError);

/// Answers a request to `/nl2pipeline/turn`.
pub(crate) async fn turn(State(state): State<Shared>, request: Request) -> Response {
    let id = request_id(request.headers());
    let answer = answer_turn(&state, request, &id).await;
    varied(answer, &id)
}

/// Answers a request to `/sessions/{id}/trace`.
pub(crate) async fn trace(
    State(state): State<Shared>,
    Path(session): Path<String>,
    request: Request,
) -> Response {
    let id = request_id(request.headers());
    let answer = answer_trace(&state, &session, request, &id).await;
    varied(answer, &id)
}

/// The form of an answer follows from what its caller accepts.
fn varied(mut response: Response, id: &RequestId) -> Response {
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    named(response, id)
}

/// Who calls, once they were let in.
async fn let_in(state: &Shared, headers: &HeaderMap, id: &RequestId) -> Result<(Who, Arc<Caller>), Response> {
    let grant = admission::of_headers(state, headers, id).await;
    let grant = grant.map_err(|error| outside(Form::Json, error, id))?;
    let who = Who::of(headers, &grant);
    match caller::from_headers(headers, grant) {
        Ok(caller) => Ok((who, caller)),
        Err(error) => Err(refused_to(&who, Form::Json, StatusCode::BAD_REQUEST, error, id)),
    }
}

async fn answer_turn(state: &Shared, request: Request, id: &RequestId) -> Response {
    if request.method() != Method::POST {
        return needs(Form::Json, "POST", "a turn needs POST", id);
    }
    let (parts, body) = request.into_parts();
    let (who, caller) = match let_in(state, &parts.headers, id).await {
        Ok(caller) => caller,
        Err(response) => return response,
    };
    let said: Said = match body::json(&parts.headers, body, &state.config).await {
        Ok(said) => said,
        Err(Unreadable { status, error }) => return refused_to(&who, Form::Json, status, error, id),
    };
    let ask = InProcess { executor: state.executor.clone(), caller };
    let answered = match negotiate::form(&parts.headers) {
        Some(Form::Events) => streamed(state, &ask, said).await,
        Some(Form::Json | Form::Response) | None => {
            let session = said.session_id.as_deref().map(session_id);
            taken(&ask, said, session).await.map(|view| axum::Json(view).into_response())
        }
    };
    answered.unwrap_or_else(|Refused(status, error)| refused_to(&who, Form::Json, status, error, id))
}

/// Takes a turn, and answers with what there is to show.
async fn taken(ask: &InProcess, said: Said, session: Option<String>) -> Result<Value, Refused> {
    let options = said.sinks.map(|sinks| json!({ "sinks": sinks }));
    let input = json!({
        "sessionId": session, "workflow": FLOW, "text": said.text, "feedback": said.feedback,
        "confirm": said.confirm, "choice": said.choice, "interruptId": said.interrupt_id, "options": options,
        "idempotencyKey": said.idempotency_key,
    });
    let data = asked(ask, TURN, json!({ "input": input })).await?;
    Ok(view(&data["turn"]))
}

/// What a turn came to, in the names of the flow's state.
fn view(turn: &Value) -> Value {
    let state = &turn["view"];
    json!({
        "session_id": bare(turn["session"]["id"].as_str().unwrap_or_default()),
        "run_id": turn["run"]["id"],
        "status": turn["run"]["status"],
        "error": turn["run"]["error"],
        "done": turn["done"],
        "intent": state["intent"]["intent"],
        "active_stream": state["active_stream"],
        "streams": state["streams"],
        "schema": state["stream_schema"],
        "sql": state["draft"]["sql"],
        "draft": state["draft"],
        "violations": state["violations"],
        "validation": state["validation"],
        "explain": state["explain"]["pretty"],
        "pipeline_json": match &state["pipeline"] {
            Value::Null => &state["explain"]["pipeline_request_json"],
            pipeline => pipeline,
        },
        "outcome": state["outcome"],
        "question": turn["interrupt"]["question"],
        "interrupt": state["interrupt"],
        "interrupt_id": turn["interrupt"]["id"],
        "notes": state["notes"],
        "metrics": state["metrics"],
        "provider": state["provider"],
    })
}

/// Takes a turn, and tells what the model says meanwhile: `delta` events, then one `view` or `error`. Who is not let in any more
/// is told that, and no more.
async fn streamed(state: &Shared, ask: &InProcess, said: Said) -> Result<Response, Refused> {
    let session = match said.session_id.as_deref() {
        Some(session) => session_id(session),
        None => {
            let key = said.idempotency_key.as_ref().map(|key| format!("{key}:session"));
            let input = json!({ "workflow": FLOW, "idempotencyKey": key });
            let made = asked(ask, BEGIN, json!({ "input": input })).await?;
            made["made"]["session"]["id"].as_str().unwrap_or_default().to_owned()
        }
    };
    let mut told = told(state, ask, &session).await?;
    // In a task of its own: who does not read what is told does not keep the turn from going on.
    let asking = ask.clone();
    let turn = state.sockets.spawn(async move { taken(&asking, said, Some(session)).await });
    let mut turn = AbortOnDropHandle::new(turn);
    let asking = ask.clone();
    let (sender, events) = mpsc::channel(WAITING);
    // A turn that has begun is taken to its end, whether or not somebody listens.
    state.sockets.spawn(async move {
        let mut ended = std::pin::pin!(asking.caller.grant.ended());
        let (mut answered, mut over) = (None, false);
        let mut late = None;
        while answered.is_none() || !over {
            let waited = async {
                match late {
                    Some(late) => tokio::time::sleep_until(late).await,
                    None => future::pending().await,
                }
            };
            tokio::select! {
                event = told.next() => match event {
                    Some(Told::Delta(delta)) => drop(sender.send(event_of("delta", &delta)).await),
                    Some(Told::Listening) => {}
                    Some(Told::Over | Told::Failed(_)) | None => over = true,
                },
                answer = &mut turn, if answered.is_none() => {
                    let answer = answer.unwrap_or_else(|error| Err(internal(&error)));
                    match &answer {
                        // It goes on, and is told of until it asks or ends.
                        Ok(view) if view["status"] == "RUNNING" => {}
                        // A turn that was taken before says nothing any more.
                        Ok(_) => late = Some(tokio::time::Instant::now() + GRACE),
                        Err(_) => over = true,
                    }
                    answered = Some(answer);
                }
                () = waited => over = true,
                () = &mut ended => {
                    // A turn that is being taken is carried out all the same.
                    let error = ApiError::new(Code::Unauthenticated, "the token is not valid any more");
                    (answered, over) = (Some(Err(Refused(StatusCode::UNAUTHORIZED, error))), true);
                }
            }
            if over && answered.is_none() {
                // Nothing more is said; what it came to is on its way.
                answered = Some((&mut turn).await.unwrap_or_else(|error| Err(internal(&error))));
            }
        }
        if let Some(Ok(view)) = &mut answered
            && view["status"] == "RUNNING"
        {
            match stands(&asking, view).await {
                Ok(newer) => *view = newer,
                Err(refused) => answered = Some(Err(refused)),
            }
        }
        let last = match answered {
            Some(Ok(view)) => event_of("view", &view),
            Some(Err(Refused(_, error))) => {
                event_of("error", &json!({ "code": error.code.as_str(), "message": error.message }))
            }
            None => {
                event_of("error", &json!({ "code": Code::Internal.as_str(), "message": "internal error" }))
            }
        };
        drop(sender.send(last).await);
    });
    let events = ReceiverStream::new(events).map(Ok::<_, Infallible>);
    let events = events.take_until(state.shutdown.clone().cancelled_owned());
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(state.config.keep_alive)).into_response())
}

/// How the run of a view stands now.
async fn stands(ask: &InProcess, view: &Value) -> Result<Value, Refused> {
    let now = asked(ask, STANDS, json!({ "id": view["run_id"] })).await?;
    let open = now["run"]["interrupts"].as_array().into_iter().flatten().find(|of| of["status"] == "OPEN");
    let turn = json!({
        "session": { "id": view["session_id"] }, "run": now["run"], "view": now["view"], "interrupt": open,
        "done": now["run"]["status"] != "WAITING" && now["run"]["status"] != "RUNNING",
    });
    Ok(self::view(&turn))
}

fn event_of(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

/// What is told of a session.
enum Told {
    /// From here on.
    Listening,
    /// Words of a model.
    Delta(Value),
    /// Its run asks, or has ended: all words before that were told.
    Over,
    /// It cannot be told of any more.
    Failed(Answer),
}

/// What is told of a session from now on.
async fn told(
    state: &Shared,
    ask: &InProcess,
    session: &str,
) -> Result<impl Stream<Item = Told> + Send + Unpin + use<>, Refused> {
    let params: Params = serde_json::from_value(json!({ "query": EVENTS, "variables": { "id": session } }))
        .map_err(|error| internal(&error))?;
    let prepared = state.executor.prepare(params, RequestId::fresh(), &ask.caller);
    let prepared = prepared.map_err(|answer| {
        let answer = serde_json::to_vec(&answer).ok().and_then(|bytes| Answer::read(&bytes).ok());
        answer.map_or_else(|| internal(&"no answer"), first_error)
    })?;
    let events = running::begin(state, prepared).filter_map(|answer| {
        let told = serde_json::to_value(&answer).unwrap_or_default();
        let event = &told["data"]["runEvents"];
        future::ready(match (event["kind"].as_str(), event["text"].as_str()) {
            (Some("MODEL_DELTA"), Some(text)) => {
                Some(Told::Delta(json!({ "node": event["node"], "text": text })))
            }
            (Some("MODEL_DELTA"), None) => {
                Some(Told::Delta(json!({ "node": event["node"], "restarted": true })))
            }
            (Some("LISTENING"), _) => Some(Told::Listening),
            (Some(_), _) => Some(Told::Over),
            (None, _) => serde_json::from_value(told).ok().map(Told::Failed),
        })
    });
    let mut events = Box::pin(events);
    // Nothing is said before somebody listens.
    match events.next().await {
        Some(Told::Listening) => Ok(events),
        Some(Told::Failed(answer)) => Err(first_error(answer)),
        Some(Told::Delta(_) | Told::Over) | None => Err(internal(&"nobody listens")),
    }
}

async fn answer_trace(state: &Shared, session: &str, request: Request, id: &RequestId) -> Response {
    // The body of an answer to HEAD is left out by who sends it.
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return needs(Form::Json, "GET", "a trace needs GET", id);
    }
    let (who, caller) = match let_in(state, request.headers(), id).await {
        Ok(caller) => caller,
        Err(response) => return response,
    };
    let ask = InProcess { executor: state.executor.clone(), caller };
    match traced(&ask, session).await {
        Ok(trace) => axum::Json(trace).into_response(),
        Err(Refused(status, error)) => refused_to(&who, Form::Json, status, error, id),
    }
}

/// The spans of the newest runs of a session, oldest first.
async fn traced(ask: &InProcess, session: &str) -> Result<Value, Refused> {
    let session = session_id(session);
    let found = asked(ask, RUNS_OF, json!({ "id": session, "first": RUNS })).await?;
    let of = &found["session"];
    let runs = of["runs"]["nodes"].as_array().cloned().unwrap_or_default();
    let (mut shown, mut all) = (Vec::with_capacity(runs.len()), 0);
    for run in runs.iter().rev() {
        let (mut spans, mut after, mut more) = (Vec::new(), Value::Null, true);
        while more && all + spans.len() < MOST_SPANS {
            let page = asked(ask, TRACE, json!({ "id": run["id"], "first": SPANS, "after": after })).await?;
            let page = &page["run"]["trace"];
            spans.extend(page["nodes"].as_array().into_iter().flatten().map(span));
            more = page["pageInfo"]["hasNextPage"] == true;
            after = page["pageInfo"]["endCursor"].clone();
        }
        all += spans.len();
        shown.push(json!({
            "run_id": run["id"], "flow": run["flow"]["name"], "status": run["status"], "start_ts": run["createdAt"],
            "end_ts": run["endedAt"], "spans": spans, "truncated": more,
        }));
    }
    let total = of["runs"]["totalCount"].as_u64().unwrap_or(0);
    Ok(json!({
        "session_id": bare(of["id"].as_str().unwrap_or_default()),
        "workflow": of["workflow"], "runs": shown, "truncated": total > runs.len() as u64,
    }))
}

/// A span: a node by its name, or what one has called.
fn span(span: &Value) -> Value {
    let moment = |field: &str| {
        let text = span[field].as_str()?;
        text.parse::<chrono::DateTime<chrono::Utc>>().ok()
    };
    let latency =
        moment("startedAt").zip(moment("endedAt")).map(|(start, end)| (end - start).num_milliseconds());
    let noted = &span["attributes"];
    json!({
        "id": span["id"], "parent_id": span["parentId"], "kind": span["kind"], "node_name": span["name"],
        "start_ts": span["startedAt"], "end_ts": span["endedAt"], "latency_ms": latency, "ok": span["ok"],
        "error": noted["error.type"], "attempt": span["attempt"],
        "model": noted["gen_ai.response.model"], "temperature": noted["gen_ai.request.temperature"],
        "tokens": match (noted["gen_ai.usage.input_tokens"].as_u64(), noted["gen_ai.usage.output_tokens"].as_u64()) {
            (Some(input), Some(output)) => json!({ "input": input, "output": output }),
            _ => Value::Null,
        },
        "method": noted["http.request.method"], "path": noted["url.path"],
        "status": noted["http.response.status_code"], "attributes": noted,
    })
}

/// Asks the schema; its first error is the answer's.
async fn asked(ask: &InProcess, document: &str, variables: Value) -> Result<Value, Refused> {
    let answer = ask.ask(document, variables).await.map_err(|error| internal(&error))?;
    if answer.errors.is_empty() { Ok(answer.data) } else { Err(first_error(answer)) }
}

fn first_error(answer: Answer) -> Refused {
    let Some(error) = answer.errors.into_iter().next() else { return internal(&"no answer") };
    let code = error.extensions["code"].as_str().unwrap_or_default();
    let code = Code::ALL.into_iter().find(|known| known.as_str() == code).unwrap_or(Code::Internal);
    Refused(status_of_path(code), ApiError::new(code, error.message))
}

fn internal(error: &dyn std::fmt::Debug) -> Refused {
    tracing::error!(?error, "the schema cannot be asked");
    Refused(StatusCode::INTERNAL_SERVER_ERROR, ApiError::new(Code::Internal, "internal error"))
}

/// The global id of a session that is named by it or by its uuid.
fn session_id(given: &str) -> String {
    match Uuid::parse_str(given) {
        Ok(id) => format!("T-{id}"),
        Err(_) => given.to_owned(),
    }
}

/// The uuid of a session's global id.
fn bare(id: &str) -> &str {
    id.strip_prefix("T-").unwrap_or(id)
}

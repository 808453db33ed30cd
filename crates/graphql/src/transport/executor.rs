//! Checks, runs and answers one operation.

use std::fmt;
use std::future::{self, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use async_graphql::futures_util::stream::BoxStream;
use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, OperationDefinition, OperationType,
};
use async_graphql::parser::{Positioned, parse_query};
use async_graphql::{
    Name, ObjectType, Pos, Request, Response, Schema, ServerError, SubscriptionType, Variables,
};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::answer::{Answer, Masking, Outcome};
use super::budget::Budget;
use super::caller::Caller;
use super::carried::CarriedOut;
use super::documents::{Documents, Known};
use super::limits::Limits;
use super::observed::{audit, count, counter, observe, trace};
use super::request_id::RequestId;
use super::shape::Shape;
use super::{escapes, given, literals, omitted, precheck, rules, tokens};
use crate::error::{ApiError, Code, cut};

/// The parameters of a request, as every transport carries them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    /// The document.
    pub query: String,
    /// Which operation of the document to run, where it has several.
    #[serde(default)]
    pub operation_name: Option<String>,
    /// The values of the operation's variables.
    #[serde(default)]
    pub variables: Variables,
    /// What a client adds for extensions of the protocol; accepted and not used.
    #[serde(default)]
    pub extensions: Option<serde_json::Map<String, serde_json::Value>>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// It reads.
    Query,
    /// It writes.
    Mutation,
    /// It answers as often as something happens.
    Subscription,
}

impl OperationKind {
    /// Returns the keyword.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OperationKind::Query => "query",
            OperationKind::Mutation => "mutation",
            OperationKind::Subscription => "subscription",
        }
    }
}

/// An operation that passed the checks and is ready to run.
pub struct Prepared {
    request: Request,
    kind: OperationKind,
    id: RequestId,
    known: Arc<Known>,
    /// Whether it is sure that validation finds nothing.
    valid: bool,
    /// The request as it was asked, to be validated before `request` runs, where that says the same in other words.
    asked: Option<Request>,
    budget: Arc<Budget>,
    caller: Arc<Caller>,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("kind", &self.kind).field("id", &self.id).finish_non_exhaustive()
    }
}

impl Prepared {
    /// Returns what the operation does.
    #[must_use]
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// Returns who asks for it.
    #[must_use]
    pub fn caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    /// Returns the request's id.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }
}

type Execute = dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync;
type Subscribe = dyn Fn(Request) -> BoxStream<'static, Response> + Send + Sync;

struct Inner {
    execute: Box<Execute>,
    subscribe: Arc<Subscribe>,
    /// Run what needs no validation.
    execute_valid: Option<Box<Execute>>,
    subscribe_valid: Option<Arc<Subscribe>>,
    shape: Shape,
    limits: Limits,
    documents: Documents,
    slots: Arc<Semaphore>,
    /// The mutations that have begun and nobody waits for.
    mutations: TaskTracker,
}

impl Inner {
    /// Runs a subscription whose field was brought out of its fragments, which validation would miss there.
    fn subscribe_in_other_words(&self, asked: Request, request: Request) -> BoxStream<'static, Response> {
        let subscribe = Arc::clone(self.subscribe_valid.as_ref().unwrap_or(&self.subscribe));
        // What answers one operation validates a subscription as any other, and then has no place for its events.
        let validated = (self.execute)(asked);
        let answers = async move {
            let errors = validated.await.errors;
            if errors.iter().any(|error| error.message != NO_STREAM) {
                return stream::once(future::ready(Response::from_errors(errors))).boxed();
            }
            subscribe(request)
        };
        stream::once(answers).flatten().boxed()
    }
}

/// What the library says of a subscription that it is to answer once, and has found to be valid.
const NO_STREAM: &str = "Subscriptions are not supported on this transport.";

/// Runs operations of one schema, whatever its root types, within [`Limits`].
///
/// The checks, the deadline, the containment of panics and the masking of errors hold here and therefore on every
/// transport. A clone is the same executor.
#[derive(Clone)]
pub struct Executor(Arc<Inner>);

impl Executor {
    /// Makes the executor of a schema.
    ///
    /// It validates whatever it runs, in full; a subscription's field is then found only where it stands in no fragment.
    /// The schema needs no limits of its own. It must not carry extensions: a single one makes lists half as slow
    /// again.
    #[must_use]
    pub fn new<Q, M, S>(schema: Schema<Q, M, S>, limits: Limits) -> Self
    where
        Q: ObjectType + 'static,
        M: ObjectType + 'static,
        S: SubscriptionType + 'static,
    {
        Executor::over(schema, None, limits)
    }

    /// Makes the executor of a schema that exists twice: `lenient` is the same, but for its mode of validation.
    ///
    /// It runs documents that the other has found valid, as long as their variables surely fit.
    #[must_use]
    pub fn with_lenient<Q, M, S>(schema: Schema<Q, M, S>, lenient: Schema<Q, M, S>, limits: Limits) -> Self
    where
        Q: ObjectType + 'static,
        M: ObjectType + 'static,
        S: SubscriptionType + 'static,
    {
        Executor::over(schema, Some(lenient), limits)
    }

    fn over<Q, M, S>(schema: Schema<Q, M, S>, lenient: Option<Schema<Q, M, S>>, limits: Limits) -> Self
    where
        Q: ObjectType + 'static,
        M: ObjectType + 'static,
        S: SubscriptionType + 'static,
    {
        let shape = Shape::read(&schema.sdl());
        let slots = usize::try_from(limits.in_flight).unwrap_or(Semaphore::MAX_PERMITS);
        Executor(Arc::new(Inner {
            subscribe: subscribes(schema.clone()),
            execute: executes(schema),
            subscribe_valid: lenient.clone().map(subscribes),
            execute_valid: lenient.map(executes),
            shape,
            limits,
            documents: Documents::default(),
            slots: Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS))),
            mutations: TaskTracker::new(),
        }))
    }

    /// Returns the limits that operations run within.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Parses and checks an operation without running anything.
    ///
    /// # Errors
    /// Returns the answer to send, which has errors and no data.
    pub fn prepare(&self, params: Params, id: RequestId, caller: &Arc<Caller>) -> Result<Prepared, Answer> {
        self.check(params, &id, caller).map_err(|refusal| {
            let answer = match refusal {
                Refusal::Error(error) => Answer::refuse(error, &id),
                Refusal::At(error, place) => Answer::refuse_at(error, place, &id),
                Refusal::Syntax(error) => self.finish(Response::from_errors(vec![syntax(error)]), &id),
            };
            count("unknown", answer.outcome());
            audit("unknown", &answer, &id, caller);
            answer
        })
    }

    fn check(&self, params: Params, id: &RequestId, caller: &Arc<Caller>) -> Result<Prepared, Refusal> {
        let Inner { shape, limits, documents, .. } = &*self.0;
        given::refuse_raw_values(&params.variables)?;
        let text = || escapes::written_out(&params.query);
        let known = match documents.get(&params.query) {
            Some(known) => known,
            None => {
                tokens::check(&params.query, limits)?;
                let document = parse_query(text())?;
                precheck::check_definitions(&document, limits)?;
                let known = Arc::new(Known::new(document));
                documents.insert(&params.query, &known);
                known
            }
        };
        let document = &known.document;
        let operation = select(document, params.operation_name.as_deref())?;
        if !known.is_bounded()
            && precheck::check(document, &operation.node, &params.variables, shape, limits)?
        {
            known.set_bounded();
        }
        if !known.is_ruled() {
            rules::check(&text(), document, shape)?;
            known.set_ruled();
        }
        let valid = known.is_valid() && shape.inputs.surely_fit(&operation.node, &params.variables);
        if !valid {
            given::refuse_missing(operation, &params.variables)?;
            literals::check(document, &operation.node, &params.variables, shape)?;
        }
        let kind = match operation.node.ty {
            OperationType::Query => OperationKind::Query,
            OperationType::Mutation => OperationKind::Mutation,
            OperationType::Subscription => OperationKind::Subscription,
        };
        let mut document = ExecutableDocument::clone(document);
        if !valid {
            omitted::take_out(&mut document, &params.variables);
        }
        let mut asked = None;
        if kind == OperationKind::Subscription && !rules::roots::stands_alone(&operation.node) {
            let operation = select(&document, params.operation_name.as_deref())?;
            let lifted = rules::roots::lift(&document, operation, &params.variables)?;
            let mut request = Request::new(params.query.clone()).variables(params.variables.clone());
            request.operation_name.clone_from(&params.operation_name);
            request.set_parsed_query(document.clone());
            asked = Some(request);
            put(&mut document, lifted, params.operation_name.as_deref());
        }
        let mut request = Request::new(params.query).variables(params.variables).data(id.clone());
        request = request.data(Arc::clone(caller));
        if let Some(engine) = caller.grant.engine() {
            // It hides the one of the schema: no resolver finds another program.
            request = request.data(engine.clone());
        }
        request.operation_name = params.operation_name;
        let budget = Budget::new(limits);
        request = request.data(Arc::clone(&budget));
        request.set_parsed_query(document);
        Ok(Prepared {
            request,
            kind,
            id: id.clone(),
            known,
            valid,
            asked,
            budget,
            caller: Arc::clone(caller),
        })
    }

    /// Runs a query or a mutation.
    ///
    /// A query ends with whoever waits for it, and with the deadline. A mutation that has begun is carried out to its
    /// last field all the same: nobody could tell which of its fields were. Must be called within a tokio runtime. A
    /// subscription is refused: it needs [`Executor::stream`].
    pub async fn execute(&self, prepared: Prepared) -> Answer {
        let Prepared { request, kind, id, known, valid, asked: _, budget: _, caller } = prepared;
        let started = Instant::now();
        let answer = match self.run(request, kind, &known, valid).await {
            Ok(response) => self.finish(response, &id),
            Err(error) => Answer::refuse(error, &id),
        };
        observe(kind, &answer, started);
        audit(kind.as_str(), &answer, &id, &caller);
        answer
    }

    async fn run(
        &self,
        request: Request,
        kind: OperationKind,
        known: &Known,
        valid: bool,
    ) -> Result<Response, ApiError> {
        let Inner { execute, execute_valid, limits, slots, mutations, .. } = &*self.0;
        if kind == OperationKind::Subscription {
            return Err(ApiError::new(
                Code::BadRequest,
                "a subscription needs an event stream or a WebSocket",
            ));
        }
        let Ok(slot) = Arc::clone(slots).try_acquire_owned() else {
            return Err(ApiError::new(
                Code::Overloaded,
                format!("the server runs {} operations already", limits.in_flight),
            ));
        };
        let execute = execute_valid.as_ref().filter(|_| valid).unwrap_or(execute);
        let running = AssertUnwindSafe(execute(request)).catch_unwind().map(|response| {
            drop(slot);
            response
        });
        let ended = match kind {
            OperationKind::Mutation => {
                until(limits.deadline, CarriedOut::new(running, mutations.clone())).await
            }
            OperationKind::Query | OperationKind::Subscription => until(limits.deadline, running).await,
        };
        match ended {
            Ok(Ok(response)) => {
                // An answer without errors has passed validation.
                if !valid && response.errors.is_empty() {
                    known.set_valid();
                }
                Ok(response)
            }
            Ok(Err(panic)) => Err(panicked(&panic)),
            Err(Late) => Err(ApiError::new(
                Code::Timeout,
                format!("the operation took longer than {} ms", limits.deadline.as_millis()),
            )),
        }
    }

    /// Waits until the mutations are carried out that nobody waits for.
    pub async fn mutations_done(&self) {
        self.0.mutations.close();
        self.0.mutations.wait().await;
    }

    /// Runs any operation as a stream of answers: one for a query or a mutation, as many as happen for a subscription.
    ///
    /// Nothing is buffered: the source is asked for the next answer when the stream is. A panic in a subscription ends
    /// it after an `INTERNAL` error.
    pub fn stream(&self, prepared: Prepared) -> BoxStream<'static, Answer> {
        let executor = self.clone();
        if prepared.kind != OperationKind::Subscription {
            return stream::once(async move { executor.execute(prepared).await }).boxed();
        }
        let Prepared { request, kind, id, asked, budget, caller, .. } = prepared;
        let answers = match asked {
            None => (self.0.subscribe)(request),
            Some(asked) => self.0.subscribe_in_other_words(asked, request),
        };
        let answers = AssertUnwindSafe(answers).catch_unwind();
        let mut executed = None;
        answers
            .map(move |response| {
                let started = Instant::now();
                // The source is asked for the next event after this one.
                budget.renew();
                let answer = match response {
                    Ok(response) => executor.finish(response, &id),
                    Err(panic) => Answer::refuse(panicked(&panic), &id),
                };
                match answer.outcome() {
                    // Looked up once: it is that of nearly all events, of which there are many.
                    outcome @ Outcome::Executed => {
                        executed.get_or_insert_with(|| counter(kind.as_str(), outcome)).increment(1);
                    }
                    outcome @ Outcome::Refused(_) => count(kind.as_str(), outcome),
                }
                trace(kind, &answer, started);
                audit(kind.as_str(), &answer, &id, &caller);
                answer
            })
            .boxed()
    }

    fn finish(&self, response: Response, id: &RequestId) -> Answer {
        let masking = Masking { shape: &self.0.shape, id, most: self.0.limits.errors };
        Answer::of(response, masking)
    }
}

/// The time was up first.
struct Late;

/// Runs a future for as long as it may take.
///
/// Beside the timer it looks at the clock itself: one that always has more to do gives way now and then, but not often
/// enough for the runtime to look at its timers in between.
async fn until<T>(limit: Duration, running: impl Future<Output = T>) -> Result<T, Late> {
    let end = tokio::time::Instant::now() + limit;
    let (mut running, mut timer) = (pin!(running), pin!(tokio::time::sleep_until(end)));
    poll_fn(|context| match running.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Ok(answer)),
        Poll::Pending if tokio::time::Instant::now() >= end => Poll::Ready(Err(Late)),
        Poll::Pending => timer.as_mut().poll(context).map(|()| Err(Late)),
    })
    .await
}

/// How a schema runs queries and mutations.
fn executes<Q, M, S>(schema: Schema<Q, M, S>) -> Box<Execute>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    Box::new(move |request| {
        let schema = schema.clone();
        async move { schema.execute(request).await }.boxed()
    })
}

/// How a schema runs subscriptions.
fn subscribes<Q, M, S>(schema: Schema<Q, M, S>) -> Arc<Subscribe>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    Arc::new(move |request| schema.execute_stream(request))
}

/// Puts an operation in the place of the one that it was made of.
fn put(document: &mut ExecutableDocument, operation: Positioned<OperationDefinition>, name: Option<&str>) {
    match (&mut document.operations, name) {
        (DocumentOperations::Single(place), _) => *place = operation,
        (DocumentOperations::Multiple(operations), Some(name)) => {
            operations.insert(Name::new(name), operation);
        }
        (DocumentOperations::Multiple(operations), None) => {
            operations.values_mut().for_each(|place| *place = operation.clone());
        }
    }
}

/// Why an operation does not run.
enum Refusal {
    Error(ApiError),
    At(ApiError, Pos),
    Syntax(async_graphql::parser::Error),
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Refusal::Error(error)
    }
}

impl From<literals::Placed> for Refusal {
    fn from((error, place): literals::Placed) -> Self {
        Refusal::At(error, place)
    }
}

impl From<async_graphql::parser::Error> for Refusal {
    fn from(error: async_graphql::parser::Error) -> Self {
        Refusal::Syntax(error)
    }
}

/// Tells a syntax error in one line, without the picture of the place that the parser draws.
fn syntax(error: async_graphql::parser::Error) -> ServerError {
    let mut error = ServerError::from(error);
    if let Some((_, expected)) = error.message.rsplit_once("= ") {
        error.message = format!("syntax error: {}", expected.trim());
    }
    error
}

/// Finds the operation to run.
fn select<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<&'a Positioned<OperationDefinition>, ApiError> {
    let names = || document.operations.iter().filter_map(|(name, _)| name).map(ToString::to_string);
    let named = |wanted: &str| {
        let wanted = cut(wanted);
        let data = json!({ "path": "operationName", "known": sorted(names()) });
        ApiError::new(Code::BadRequest, format!("no operation is named `{wanted}`")).data(data)
    };
    match (&document.operations, name) {
        (DocumentOperations::Single(operation), None) => Ok(operation),
        (DocumentOperations::Single(_), Some(name)) => Err(named(name)),
        (DocumentOperations::Multiple(operations), Some(name)) => {
            operations.get(name).ok_or_else(|| named(name))
        }
        (DocumentOperations::Multiple(operations), None) => {
            let mut all = operations.values();
            match (all.next(), all.next()) {
                (Some(operation), None) => Ok(operation),
                _ => Err(ApiError::new(
                    Code::BadRequest,
                    "the document has several operations and `operationName` is not given",
                )
                .data(json!({ "path": "operationName", "known": sorted(names()) }))),
            }
        }
    }
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// Makes the error for a panic; the panic hook has logged where it happened.
fn panicked(panic: &(dyn std::any::Any + Send)) -> ApiError {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ApiError::new(Code::Internal, format!("panic: {}", message.unwrap_or("of unknown type")))
}

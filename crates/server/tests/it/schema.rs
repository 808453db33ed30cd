//! A schema with every kind of answer, and events that a test sends itself.

use std::sync::Arc;

use async_graphql::{Context, Error, Object, Result, Schema, Subscription, ValidationMode};
use futures_util::{Stream, StreamExt, stream};
use lmlang_graphql::error::{ApiError, Code};
use tokio::sync::{Mutex, Notify, broadcast, watch};
use tokio_stream::wrappers::BroadcastStream;

/// The test's side of the schema.
#[derive(Clone)]
pub(crate) struct Levers {
    /// Sends to every `ticks`.
    pub(crate) ticks: broadcast::Sender<i32>,
    /// How many `ticks` and `numbers` run.
    pub(crate) running: watch::Sender<i32>,
    /// How far `numbers` were pulled, over all its streams.
    pub(crate) pulled: watch::Sender<i64>,
    /// Lets `waits` go on.
    pub(crate) go_on: Arc<Notify>,
    /// Says that `waits` has begun.
    pub(crate) waiting: Arc<Notify>,
    /// Held by `holds` while it waits.
    pub(crate) lock: Arc<Mutex<()>>,
    /// How many `holds` have come to their end.
    pub(crate) held: watch::Sender<i32>,
}

impl Levers {
    pub(crate) fn new() -> Levers {
        Levers {
            ticks: broadcast::channel(64).0,
            running: watch::channel(0).0,
            pulled: watch::channel(0).0,
            go_on: Arc::default(),
            waiting: Arc::default(),
            lock: Arc::default(),
            held: watch::channel(0).0,
        }
    }
}

pub(crate) struct Query;
pub(crate) struct Mutation;
pub(crate) struct Events;

pub(crate) type TestSchema = Schema<Query, Mutation, Events>;

pub(crate) fn schema(levers: Levers, mode: ValidationMode) -> TestSchema {
    Schema::build(Query, Mutation, Events).validation_mode(mode).data(levers).finish()
}

#[Object]
impl Query {
    async fn hello(&self) -> &'static str {
        "world"
    }
    async fn long(&self, bytes: usize) -> String {
        "x".repeat(bytes)
    }
    async fn fails(&self) -> Option<Result<i32>> {
        Some(Err(ApiError::new(Code::NotFound, "no such thing").into()))
    }
    async fn panics(&self) -> Option<i32> {
        explode()
    }
    async fn waits(&self, ctx: &Context<'_>) -> Option<Result<i32, Error>> {
        let levers = match ctx.data::<Levers>() {
            Ok(levers) => levers,
            Err(error) => return Some(Err(error)),
        };
        levers.waiting.notify_one();
        levers.go_on.notified().await;
        Some(Ok(1))
    }
    async fn holds(&self, ctx: &Context<'_>) -> Option<Result<i32, Error>> {
        Some(hold(ctx).await)
    }
}

/// As a writer does: waits for something under a lock.
async fn hold(ctx: &Context<'_>) -> Result<i32, Error> {
    let levers = ctx.data::<Levers>()?;
    let _held = levers.lock.lock().await;
    levers.waiting.notify_one();
    levers.go_on.notified().await;
    levers.held.send_modify(|held| *held += 1);
    Ok(1)
}

/// Panics without the hook's noise.
fn explode() -> Option<i32> {
    std::panic::resume_unwind(Box::new("secret"))
}

#[Object]
impl Mutation {
    async fn add(&self, to: i32) -> i32 {
        to + 1
    }
    async fn holds(&self, ctx: &Context<'_>) -> Option<Result<i32, Error>> {
        Some(hold(ctx).await)
    }
}

/// Counts a stream for as long as it lives.
struct Alive(watch::Sender<i32>);

impl Alive {
    fn new(running: &watch::Sender<i32>) -> Alive {
        running.send_modify(|running| *running += 1);
        Alive(running.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

#[Subscription]
impl Events {
    async fn ticks(&self, ctx: &Context<'_>) -> Result<impl Stream<Item = i32>> {
        let levers = ctx.data::<Levers>()?;
        let alive = Alive::new(&levers.running);
        let ticks = BroadcastStream::new(levers.ticks.subscribe());
        Ok(ticks.filter_map(move |tick| {
            let _alive = &alive;
            std::future::ready(tick.ok())
        }))
    }
    /// Numbers without end, each with `bytes` of padding.
    async fn numbers(&self, ctx: &Context<'_>, bytes: usize) -> Result<impl Stream<Item = String>> {
        let levers = ctx.data::<Levers>()?.clone();
        let alive = Alive::new(&levers.running);
        Ok(stream::iter(0i64..).map(move |at| {
            let _alive = &alive;
            levers.pulled.send_modify(|pulled| *pulled += 1);
            format!("{at}{}", "x".repeat(bytes))
        }))
    }
    async fn count(&self, to: i32) -> impl Stream<Item = i32> {
        stream::iter(0..to)
    }
    async fn refused(&self) -> Result<impl Stream<Item = i32>> {
        Err::<stream::Empty<i32>, _>(ApiError::new(Code::CursorInvalid, "not a cursor").into())
    }
}

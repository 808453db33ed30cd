//! Layers that wait: for a turn, for an answer, and before another attempt.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::error::{Class, ModelError};
use super::{Completion, Delta, Model, Reply, Request, Tell};

/// How often and after how long a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many times a request is sent at most, from 1 on.
    pub attempts: u32,
    /// How long is waited before the second time; twice as long before each further one, and up to as much again,
    /// so that many who failed at once do not come back at once.
    pub first: Duration,
    /// The longest of these, before the part that differs. A server that wants to be left alone for longer is not
    /// asked again.
    pub longest: Duration,
}

/// Sends a request again after a fault that may pass.
pub struct Retrying {
    inner: Arc<dyn Model>,
    retry: Retry,
}

impl Retrying {
    /// A layer around a model.
    pub fn new(inner: Arc<dyn Model>, retry: Retry) -> Retrying {
        Retrying { inner, retry }
    }

    async fn ask(&self, request: &Request, tell: Tell<'_>) -> Result<Reply, ModelError> {
        let mut delays = self.delays(request);
        let mut calls = 1;
        loop {
            let mut told = false;
            let mut watch = |delta| {
                told = true;
                tell(delta);
            };
            let error = match self.inner.complete(request, &mut watch).await {
                Ok(reply) => return Ok(Reply { calls: reply.calls + calls - 1, ..reply }),
                Err(error) => error,
            };
            let asked = match error.class() {
                Class::Transient { retry_after } => retry_after.unwrap_or_default(),
                Class::Cut | Class::Timeout => Duration::ZERO,
                Class::Refused | Class::Invalid | Class::NoModel => return Err(error.after(calls)),
            };
            let Some(delay) = delays.next().filter(|_| asked <= self.retry.longest) else {
                return Err(error.after(calls));
            };
            if told {
                tell(Delta::Restarted);
            }
            sleep(delay.max(asked)).await;
            calls += 1;
        }
    }

    /// The delays between attempts. What differs in them follows from the request, so that nothing here is by chance.
    fn delays(&self, request: &Request) -> impl Iterator<Item = Duration> + use<> {
        let [a, b, c, d, e, f, g, h, ..] = *request.digest().bytes();
        ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(self.retry.first)
            .with_max_delay(self.retry.longest)
            .with_max_times(usize::try_from(self.retry.attempts.saturating_sub(1)).unwrap_or(usize::MAX))
            .with_jitter()
            .with_jitter_seed(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
            .build()
    }
}

impl Model for Retrying {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(self.ask(request, tell))
    }
}

/// How many requests go to one server, and how close together.
///
/// Who goes away gives back a place, but not a turn: nobody is moved forward in time.
#[derive(Debug)]
pub struct Gate {
    apart: Duration,
    /// When the next request may go.
    next: Mutex<Option<Instant>>,
    places: Option<Semaphore>,
}

impl Gate {
    /// A gate that lets so many through in a minute, evenly, and so many be under way; none for no limit.
    pub fn new(per_minute: Option<u32>, at_once: Option<u32>) -> Gate {
        let apart = per_minute.map_or(Duration::ZERO, |count| Duration::from_secs(60) / count.max(1));
        let places = at_once.map(|count| {
            let count = usize::try_from(count.max(1)).unwrap_or(Semaphore::MAX_PERMITS);
            Semaphore::new(count.min(Semaphore::MAX_PERMITS))
        });
        Gate { apart, next: Mutex::new(None), places }
    }

    async fn pass(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let place = match &self.places {
            Some(places) => Some(places.acquire().await.expect("nobody closes it")),
            None => None,
        };
        if !self.apart.is_zero() {
            let turn = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                let turn = next.map_or(now, |next| next.max(now));
                *next = Some(turn + self.apart);
                turn
            };
            sleep_until(turn).await;
        }
        place
    }
}

/// Keeps to a rate. Several models on one server share a gate.
pub struct Paced {
    inner: Arc<dyn Model>,
    gate: Arc<Gate>,
}

impl Paced {
    /// A layer around a model.
    pub fn new(inner: Arc<dyn Model>, gate: Arc<Gate>) -> Paced {
        Paced { inner, gate }
    }
}

impl Model for Paced {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(async move {
            let _place = self.gate.pass().await;
            self.inner.complete(request, tell).await
        })
    }
}

/// Ends an attempt that takes too long.
pub struct Timed {
    inner: Arc<dyn Model>,
    after: Duration,
}

impl Timed {
    /// A layer around a model.
    pub fn new(inner: Arc<dyn Model>, after: Duration) -> Timed {
        Timed { inner, after }
    }
}

impl Model for Timed {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(async move {
            let answer = timeout(self.after, self.inner.complete(request, tell)).await;
            answer.unwrap_or(Err(ModelError::Timeout { after: self.after }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Acts, joined, request};
    use super::*;

    const RETRY: Retry =
        Retry { attempts: 3, first: Duration::from_secs(1), longest: Duration::from_secs(20) };

    fn busy(seconds: Option<u64>) -> ModelError {
        let retry_after = seconds.map(Duration::from_secs);
        ModelError::RateLimited { status: 429, retry_after, said: String::new() }
    }

    /// What comes of these acts one after the other: the answer, the pieces joined, how long it took.
    async fn run(acts: Acts) -> (Result<Reply, ModelError>, String, Duration) {
        let model = Retrying::new(Arc::new(acts), RETRY);
        let started = Instant::now();
        let mut told = Vec::new();
        let reply = model.complete(&request("x"), &mut |delta| told.push(delta)).await;
        (reply, joined(&told), started.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn faults_that_may_pass_are_tried_again() {
        let acts = Acts::new().cut("hal").fails(busy(None)).says("hello");
        let (reply, text, took) = run(acts).await;
        let reply = reply.unwrap();
        assert_eq!((&*reply.text, reply.calls, &*text), ("hello", 3, "hello"));
        // One second and two, and up to as much again.
        assert!((3..=6).contains(&took.as_secs()), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_left_alone_for_as_long_as_it_says() {
        let (reply, _, took) = run(Acts::new().fails(busy(Some(15))).says("hello")).await;
        assert_eq!((reply.unwrap().calls, took.as_secs()), (2, 15));
        let (reply, _, took) = run(Acts::new().fails(busy(Some(21))).says("hello")).await;
        assert_eq!((reply.unwrap_err(), took.as_secs()), (busy(Some(21)), 0));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_are_counted_and_refusals_final() {
        let (reply, _, _) = run(Acts::new().fails(busy(None)).fails(busy(None)).fails(busy(None))).await;
        assert_eq!(reply.unwrap_err(), busy(None).after(3));
        let (reply, _, _) = run(Acts::new().fails(busy(None)).fails(busy(Some(21)))).await;
        assert_eq!(reply.unwrap_err(), busy(Some(21)).after(2));
        let refused = ModelError::Denied { status: 401, said: String::new() };
        let (reply, _, took) = run(Acts::new().fails(refused.clone()).says("hello")).await;
        assert_eq!((reply.unwrap_err(), took), (refused, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn delays_are_the_same_for_the_same_request() {
        let model = Retrying::new(Arc::new(Acts::new()), Retry { attempts: 5, ..RETRY });
        let delays = |text: &str| model.delays(&request(text)).collect::<Vec<_>>();
        assert_eq!(delays("x"), delays("x"));
        assert_ne!(delays("x"), delays("y"));
        assert_eq!(delays("x").len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_ended() {
        let model = Timed::new(Arc::new(Acts::new().hangs()), Duration::from_secs(5));
        let error = testing::ask(&model, &request("x")).await.unwrap_err();
        assert_eq!((error.code(), error.class()), ("MODEL_TIMEOUT", Class::Timeout));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_keep_their_distance() {
        let acts = Acts::new().says("a").says("b").says("c");
        let model = Paced::new(Arc::new(acts), Arc::new(Gate::new(Some(30), None)));
        let started = Instant::now();
        let mut at = Vec::new();
        for _ in 0..3 {
            testing::ask(&model, &request("x")).await.unwrap();
            at.push(started.elapsed().as_secs());
        }
        assert_eq!(at, [0, 2, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_given_back_by_who_goes_away() {
        let gate = Arc::new(Gate::new(None, Some(1)));
        let hanging = Paced::new(Arc::new(Acts::new().hangs()), gate.clone());
        let model = Paced::new(Arc::new(Acts::new().says("a")), gate);
        let request = request("x");
        let waits = Duration::from_secs(1);
        let mut nothing = |_| {};
        let mut first = hanging.complete(&request, &mut nothing);
        timeout(waits, &mut first).await.unwrap_err();
        timeout(waits, testing::ask(&model, &request)).await.unwrap_err();
        drop(first);
        assert_eq!(testing::ask(&model, &request).await.unwrap().text, "a");
    }
}

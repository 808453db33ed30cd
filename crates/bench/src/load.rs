//! Callers that ask a server again and again, each on its own connection, for some time.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;

use crate::http::Connection;

/// One that asks.
pub trait Caller {
    /// Writes the body of the next request, behind nothing.
    fn request(&mut self, body: &mut String);

    /// Judges an answer.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn answered(&mut self, answer: &[u8]) -> Result<(), String>;

    /// How long it thinks before it asks again.
    fn pause(&self) -> Duration {
        Duration::ZERO
    }
}

/// What callers did together.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Requests that were answered as they should be.
    pub answered: u64,
    /// From the first request to the last answer.
    pub took: Duration,
    /// How long each answer took, in microseconds, in order of length.
    pub waited: Vec<u32>,
}

impl Load {
    /// Requests in a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.answered as f64 / self.took.as_secs_f64()
    }

    /// How long an answer took, in milliseconds, at a part of the whole, as 0.99.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        let at = (self.waited.len() as f64 * part) as usize;
        self.waited.get(at.min(self.waited.len().saturating_sub(1))).map_or(0.0, |us| f64::from(*us) / 1e3)
    }
}

/// Lets callers ask for some time, one request each at a time. One thread serves them all.
///
/// # Errors
///
/// When a connection breaks or an answer is not as it should be; nothing is counted then.
pub fn drive<C: Caller + 'static>(
    address: SocketAddr,
    callers: Vec<C>,
    time: Duration,
) -> io::Result<(Load, Vec<C>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        // All connections are open before the first request.
        let ready = Rc::new(Barrier::new(callers.len()));
        let tasks: Vec<_> = callers
            .into_iter()
            .map(|caller| {
                let ready = Rc::clone(&ready);
                tokio::task::spawn_local(async move {
                    let connection = Connection::open(address).await;
                    ready.wait().await;
                    ask(connection?, caller, time).await
                })
            })
            .collect();
        let mut load = Load::default();
        let (mut first, mut last) = (None, None);
        let mut callers = Vec::with_capacity(tasks.len());
        for task in tasks {
            let (caller, began, waited, ended) = task.await.map_err(io::Error::other)??;
            first = first.min(Some(began)).or(Some(began));
            last = last.max(Some(ended));
            load.answered += waited.len() as u64;
            load.waited.extend(waited);
            callers.push(caller);
        }
        load.took = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
        load.waited.sort_unstable();
        Ok((load, callers))
    })
}

async fn ask<C: Caller>(
    mut connection: Connection,
    mut caller: C,
    time: Duration,
) -> io::Result<(C, Instant, Vec<u32>, Instant)> {
    let began = Instant::now();
    let (mut waited, mut body, mut now) = (Vec::with_capacity(1 << 16), String::new(), began);
    while now - began < time {
        body.clear();
        caller.request(&mut body);
        let answer = connection.post(&body).await?;
        caller.answered(answer).map_err(io::Error::other)?;
        let done = Instant::now();
        waited.push(u32::try_from((done - now).as_micros()).unwrap_or(u32::MAX));
        now = done;
        if !caller.pause().is_zero() {
            tokio::time::sleep(caller.pause()).await;
            now = Instant::now();
        }
    }
    Ok((caller, began, waited, now))
}

/// Asks once, for what is not measured.
///
/// # Errors
///
/// When the connection breaks or the answer is no JSON.
pub fn once(address: SocketAddr, body: &serde_json::Value) -> io::Result<serde_json::Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(address).await?;
        let answer = connection.post(&body.to_string()).await?;
        serde_json::from_slice(answer).map_err(io::Error::other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_waited() {
        let load = Load { waited: (1..=1000).map(|n| n * 1000).collect(), ..Load::default() };
        assert_eq!([load.quantile(0.5), load.quantile(0.99), load.quantile(1.0)], [501.0, 991.0, 1000.0]);
        assert_eq!(Load::default().quantile(0.5), 0.0);
    }
}

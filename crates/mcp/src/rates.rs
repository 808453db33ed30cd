//! How often a caller may call a tool: a sliding window for each of both.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::failure::{RpcCode, RpcError};

/// How often in a window of [`WINDOW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub usize);

/// The time that calls are counted over.
const WINDOW: Duration = Duration::from_secs(60);

/// Callers and tools that are remembered; beyond it those are forgotten whose windows are empty, and where none is, whoever is new
/// shares a window with the others who are: without tokens a caller may call itself anything.
const REMEMBERED: usize = 4_096;

/// When whom called which tool.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<HashMap<(String, &'static str), VecDeque<Instant>>>);

impl Rates {
    /// Counts a call at a moment, or says how long to wait.
    pub(crate) fn count(
        &self,
        who: &str,
        tool: &'static str,
        Rate(limit): Rate,
        now: Instant,
    ) -> Result<(), RpcError> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut caller = (who.to_owned(), tool);
        if calls.len() >= REMEMBERED && !calls.contains_key(&caller) {
            calls.retain(|_, times| times.back().is_some_and(|last| now.duration_since(*last) < WINDOW));
            if calls.len() >= REMEMBERED {
                caller.0.clear();
            }
        }
        let times = calls.entry(caller).or_default();
        while times.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            times.pop_front();
        }
        match times.front() {
            Some(first) if times.len() >= limit => {
                let wait = WINDOW.saturating_sub(now.duration_since(*first));
                let wait = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                Err(RpcError::new(
                    RpcCode::RateLimited,
                    json!({
                        "limit": limit,
                        "window_seconds": WINDOW.as_secs(),
                        "retry_after_seconds": wait,
                    }),
                ))
            }
            _ => {
                times.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CUE-68: calls of a tool are counted over 60 s.
    #[test]
    fn cue_68_the_next_call_waits_for_the_oldest_to_leave_the_window() {
        let rates = Rates::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let count = |who, seconds| rates.count(who, "read_doc", Rate(2), at(seconds));
        count("ada", 0).expect("the first");
        count("ada", 10).expect("the second");
        let refused = count("ada", 20).expect_err("one too many");
        let expect = serde_json::json!({
            "limit": 2, "window_seconds": 60, "retry_after_seconds": 40, "recovery": "Wait and retry",
        });
        assert_eq!((refused.code, refused.data), (RpcCode::RateLimited, expect));
        count("bob", 20).expect("another caller");
        count("ada", 60).expect("the window has moved");
    }

    /// Names that callers give themselves neither fill the memory nor get around the limit.
    #[test]
    fn however_many_names_there_are_the_calls_are_counted() {
        let rates = Rates::default();
        let start = Instant::now();
        let count = |number: usize, seconds| {
            let now = start + Duration::from_secs(seconds);
            rates.count(&format!("caller {number}"), "read_doc", Rate(2), now)
        };
        for number in 0..REMEMBERED {
            count(number, 0).expect("another caller");
        }
        let taken = (REMEMBERED..2 * REMEMBERED).filter(|number| count(*number, 1).is_ok()).count();
        assert_eq!(taken, 2, "they share a window");
        count(0, 1).expect("whoever was there has a window still");
        assert_eq!(rates.0.lock().unwrap().len(), REMEMBERED + 1);
        count(2 * REMEMBERED, 61).expect("the others are forgotten");
        assert_eq!(rates.0.lock().unwrap().len(), 1);
    }
}

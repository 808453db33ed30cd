//! A model that says what a file says: for demonstrations and tests.
//!
//! A script is TOML: a list of entries, each with what it answers and what it answers with.
//!
//! ```toml
//! [[reply]]
//! role = "planner"                  # only this role; any without it
//! contains = ["plan", "orders"]     # all of these in the newest message of the user
//! prompt_contains = ["be brief"]    # all of these anywhere in the messages
//! times = 2                         # how often it answers, or "always"; once without it
//! text = "First, the tables."
//!
//! [[reply]]
//! tool_calls = [{ name = "find", arguments = { name = "orders" } }]
//!
//! [[reply]]
//! json = { steps = ["a", "b"] }     # the text is this value's JSON
//! delay_ms = 20                     # before each piece
//!
//! [[reply]]
//! text = "half of it is told"
//! error = "cut"                     # and then this happens
//! ```
//!
//! The first entry in the file that fits and is not used up answers. A request that none fits is an error that shows it,
//! and [`Script::unused`] lists what was never asked for: a test looks at both.

mod entry;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;
use tokio::time::{Instant, sleep};

use super::estimate::{self, Count};
use super::quote::cut;
use super::reply::{Finish, Latency, Reply, ToolCall};
use super::transcript::{conversation, shown};
use super::{Completion, Delta, Model, ModelError, Request, Tell};
use entry::{Entry, File};

/// The name of what a script answers, on spans and views.
pub const PROVIDER: &str = "script";

/// Largest script, in bytes.
const LARGEST: u64 = 4 << 20;

/// A script, and how far it was used.
pub struct Script {
    name: String,
    entries: Vec<Entry>,
    /// How often each entry has answered.
    used: Mutex<Vec<u32>>,
    count: Count,
}

/// Why a script cannot be used.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{name}` cannot be read: {error}")]
    Read {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is too large.
    #[error("the script `{name}` is larger than {LARGEST} bytes")]
    TooLarge {
        /// The file.
        name: String,
    },
    /// It is not a script.
    #[error("the script `{name}` cannot be understood: {error}")]
    Parse {
        /// The file.
        name: String,
        /// What is wrong, with its place.
        error: Box<toml::de::Error>,
    },
    /// An entry contradicts itself.
    #[error("entry {entry} of the script `{name}` {why}")]
    Entry {
        /// The file.
        name: String,
        /// Which entry, from 1.
        entry: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// An entry that has not answered as often as it would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The file.
    pub script: String,
    /// Which entry, from 1.
    pub entry: usize,
    /// How many answers are left.
    pub left: u32,
    /// What it waits for, in short.
    pub waits_for: String,
}

impl Script {
    /// Reads a file.
    pub fn read(path: &Path, count: Count) -> Result<Script, ScriptError> {
        let name = path.display().to_string();
        let failed = |error| ScriptError::Read { name: name.clone(), error };
        if fs::metadata(path).map_err(failed)?.len() > LARGEST {
            return Err(ScriptError::TooLarge { name });
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        Script::parse(&name, &text, count)
    }

    /// Reads a text; the name stands in errors.
    pub fn parse(name: &str, text: &str, count: Count) -> Result<Script, ScriptError> {
        let file: File = toml::from_str(text)
            .map_err(|error| ScriptError::Parse { name: name.to_owned(), error: error.into() })?;
        for (index, entry) in file.reply.iter().enumerate() {
            if let Some(why) = entry.contradiction() {
                return Err(ScriptError::Entry { name: name.to_owned(), entry: index + 1, why });
            }
        }
        let used = Mutex::new(vec![0; file.reply.len()]);
        Ok(Script { name: name.to_owned(), entries: file.reply, used, count })
    }

    /// The entries that were not asked for as often as they would answer; those that always do are not among them once
    /// they have.
    pub fn unused(&self) -> Vec<Unused> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = self.entries.iter().zip(used.iter()).enumerate();
        entries
            .filter_map(|(index, (entry, used))| {
                let left = entry.times.left(*used);
                (left > 0).then(|| Unused {
                    script: self.name.clone(),
                    entry: index + 1,
                    left,
                    waits_for: entry.waits_for(),
                })
            })
            .collect()
    }

    /// The entry that answers; from here on it has.
    fn next(&self, request: &Request) -> Result<&Entry, ModelError> {
        let prompt = conversation(&request.messages);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = self.entries.iter().zip(used.iter_mut());
        let found = entries.find(|(entry, used)| entry.times.may(**used) && entry.fits(request, &prompt));
        if let Some((entry, used)) = found {
            *used = used.saturating_add(1);
            return Ok(entry);
        }
        drop(used);
        Err(ModelError::Unscripted {
            script: self.name.clone(),
            left: self.unused().len(),
            prompt: shown(request),
        })
    }

    async fn ask(&self, request: &Request, tell: Tell<'_>) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let entry = self.next(request)?;
        let text = entry.text();
        let delay = Duration::from_millis(entry.delay_ms);
        let mut first = None;
        let mut told = 0;
        for piece in pieces(&text) {
            pause(delay).await;
            first.get_or_insert_with(|| millis(started));
            told += piece.len();
            tell(Delta::Text(piece.to_owned()));
        }
        let calls = entry.tool_calls();
        for (index, call) in calls.iter().enumerate() {
            pause(delay).await;
            first.get_or_insert_with(|| millis(started));
            let (name, arguments) = (Some(call.name.clone()), call.arguments.clone());
            tell(Delta::ToolCall { index, name, arguments });
        }
        if let Some(error) = entry.error {
            if first.is_none() {
                pause(delay).await;
            }
            return Err(entry.failure(error, told));
        }
        Ok(self.reply(request, entry, text, calls, Latency { first_ms: first, total_ms: millis(started) }))
    }

    fn reply(
        &self,
        request: &Request,
        entry: &Entry,
        text: String,
        tool_calls: Vec<ToolCall>,
        latency: Latency,
    ) -> Reply {
        let finish = entry.finish.clone().unwrap_or(match tool_calls.is_empty() {
            true => Finish::Stop,
            false => Finish::ToolCalls,
        });
        Reply {
            value: None,
            finish,
            usage: entry.usage().unwrap_or_else(|| estimate::usage(self.count, request, &text, &tool_calls)),
            text,
            tool_calls,
            model: entry.model.clone().unwrap_or_else(|| PROVIDER.to_owned()),
            provider: PROVIDER.to_owned(),
            latency,
            cost: None,
            calls: 1,
        }
    }
}

impl Model for Script {
    fn provider(&self) -> &str {
        PROVIDER
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(self.ask(request, tell))
    }
}

/// A text word by word, as models tell it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

async fn pause(delay: Duration) {
    if !delay.is_zero() {
        sleep(delay).await;
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

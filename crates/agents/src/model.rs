//! How a flow asks a language model.
//!
//! [`Model`] is one call: a [`Request`], which is plain data with a [`Digest`], gives a [`Reply`] or a [`ModelError`],
//! and tells its pieces ([`Delta`]) while they arrive. What answers in the end is a provider: [`openai`] over HTTP,
//! [`script`] from a file, [`rules`] when no model is configured. Around a provider lie layers, each of which is a
//! `Model` again, outermost first:
//!
//! 1. [`checked`]: what must be JSON is checked against its schema, with one round of repair if the request allows it;
//! 2. [`cassette`]: records answers, or gives recorded ones and calls nothing;
//! 3. [`patience`]: tries again after a fault that may pass, keeps to a rate, and ends what takes too long.
//!
//! [`settings`] is what a user writes, for each role; [`build`] makes [`Models`] of it. A model that fails is never
//! replaced by another one, or by rules, in silence: who asked is told.
//!
//! Read `request`, `reply` and `error` for the data, then the modules in the order of the list.

pub mod cassette;
pub mod checked;
mod digest;
mod error;
mod estimate;
mod models;
pub mod openai;
pub mod patience;
mod prices;
mod probe;
mod quote;
mod reply;
mod request;
mod role;
pub mod rules;
pub mod script;
mod secret;
pub mod settings;
mod transcript;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use digest::{Digest, DigestError};
pub use error::{Class, Mismatch, ModelError, Problem};
pub use estimate::{Count, tokens};
pub use models::{Described, Models, build};
pub use prices::{Price, Prices};
pub use probe::Probe;
pub(crate) use quote::cut as shortened;
pub use reply::{Cost, CostSource, Finish, Latency, Reply, ToolCall, Usage, UsageSource};
pub use request::{Format, Message, Repair, Request, Tool};
pub use role::{BUILT_IN as BUILT_IN_ROLES, Role, RoleError};
pub use secret::Secret;
pub use settings::SettingsError;

/// A piece of an answer, told while it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// More of the call of a tool.
    ToolCall {
        /// Which of the answer's calls, from 0.
        index: usize,
        /// The tool, when its name has become known.
        name: Option<String>,
        /// More of the arguments' JSON.
        arguments: String,
    },
    /// What was told so far counts no more: the answer begins again, after a fault or for a repair.
    Restarted,
}

/// Where the pieces of an answer are told. It is called in order, and by nobody any more when the call has ended.
pub type Tell<'a> = &'a mut (dyn FnMut(Delta) + Send);

/// A call that is under way; dropping it cancels it.
pub type Completion<'a> = BoxFuture<'a, Result<Reply, ModelError>>;

/// Something that answers requests.
///
/// A call is cancelled by dropping its future: its connection is closed, and nothing of it goes on. The texts
/// of the pieces that were told since the last [`Delta::Restarted`] are, joined, the text of the reply.
///
/// Concurrency: it answers many requests at once. Idempotency: a request that is made again is answered again, and paid for
/// again; runs keep the first answer. Side effects: none but that.
///
/// Warning: what was told before a call failed has been seen by whoever listens, and is not taken back.
pub trait Model: Send + Sync {
    /// Who answers in the end, for spans and views: `openai`, `ollama`, `script`, `rules` …
    fn provider(&self) -> &str;

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// [`ModelError`], which says whether another attempt may help, and when.
    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a>;
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn provider(&self) -> &str {
        (**self).provider()
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        (**self).complete(request, tell)
    }
}

#[cfg(test)]
mod testing;

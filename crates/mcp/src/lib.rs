//! The tools for agents: one registry, spoken over MCP and as plain JSON-RPC methods.
//!
//! It decides nothing: a tool turns its typed arguments into an operation of the GraphQL schema and what comes back into
//! short text within a token budget, so scopes, limits and errors are those of every other surface. It must not know the
//! engine, nor who carries operations: that is an [`Ask`].
//!
//! Read [`ask`] for what a tool asks, [`tool`] for what one is, `tools` for each of them, [`reply`] for how an answer is
//! made to fit, [`failure`] for what can go wrong, then [`desk`], where a call comes in and a result goes out. [`service`]
//! speaks MCP over it, [`stdio`] reads lines and [`http`] requests. [`waiting`] is for whoever shows runs, here or elsewhere.

pub mod ask;
pub mod desk;
pub mod failure;
pub mod http;
pub mod stdio;
pub mod tool;
pub mod waiting;

mod address;
mod arguments;
mod budget;
mod cursor;
mod edits;
#[cfg(feature = "fixtures")]
mod fixtures;
mod json;
mod mask;
mod rates;
mod reply;
mod request;
mod resources;
mod result;
mod sdl;
mod service;
mod tools;

pub use ask::{Answer, Ask, InProcess};
pub use desk::{Desk, Progress, Result as ToolResult};
pub use failure::{Failure, RpcCode, RpcError};
pub use tool::Tool;
pub use tools::TOOLS;

/// The tools as MCP's `tools/list` lists them.
pub fn listing() -> Vec<serde_json::Value> {
    service::list().tools.iter().map(|tool| serde_json::json!(tool)).collect()
}

/// The limits of calls by name, as `serverInfo` shows them: tokens of an answer, and calls of a caller in 60 s.
pub fn limits() -> impl Iterator<Item = (String, u64)> {
    let rates = TOOLS.iter().filter_map(|tool| {
        let words = tool.name.split('_').map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        });
        Some((format!("tool{}PerMinute", words.collect::<String>()), u64::try_from(tool.rate?.0).ok()?))
    });
    let budgets = [("toolTokens", budget::DEFAULT), ("toolTokensMost", budget::CAP)];
    budgets.map(|(name, limit)| (name.to_owned(), limit)).into_iter().chain(rates)
}

//! The tools for agents: one registry, spoken over MCP and as plain JSON-RPC methods.
//!
//! It decides nothing: a tool turns its typed arguments into an operation of the GraphQL schema and what comes back into
//! short text within a token budget, so scopes, limits and errors are those of every other surface. It must not know the
//! engine, nor who carries operations: that is an [`Ask`].
//!
//! Read [`ask`] for what a tool asks, [`tool`] for what one is, `tools` for each of them, [`reply`] for how an answer is
//! made to fit, [`failure`] for what can go wrong, then [`desk`], where a call comes in and a result goes out. [`service`]
//! speaks MCP over it, [`stdio`] reads lines and [`http`] requests.

pub mod ask;
pub mod desk;
pub mod failure;
pub mod http;
pub mod stdio;
pub mod tool;

mod arguments;
mod budget;
mod edits;
mod json;
mod mask;
mod rates;
mod reply;
mod resources;
mod sdl;
mod service;
mod tools;

pub use ask::{Answer, Ask, InProcess};
pub use desk::{Desk, Progress, Result as ToolResult};
pub use failure::{Failure, RpcCode, RpcError};
pub use tool::Tool;
pub use tools::TOOLS;

//! The network side: HTTP, WebSocket and event streams over the GraphQL surface.
//!
//! It carries requests to an [`Executor`](lmlang_graphql::transport::Executor) and answers back, and decides nothing
//! about programs. [`bind`] takes the address, so that a caller knows it before anything is served; [`serve`] runs
//! until its shutdown token is cancelled. Read `router` for what is served where, then `http` and `ws`; what
//! answers have in common is in `answering`.

mod admission;
mod answering;
mod assets;
mod backup;
mod body;
mod caller;
mod config;
mod docs;
mod gate;
mod http;
mod idle;
mod import;
mod listen;
mod manager;
mod mcp;
mod modules;
mod negotiate;
mod nl2pipeline;
mod patience;
mod probes;
mod router;
mod running;
mod slot;
mod sse;
mod state;
pub mod telemetry;
mod ws;

pub use config::{Admit, Backup, BackupRequest, Config, Hooks, Import, Manager, Module, Pieces, Ready};
pub use listen::{Bound, Error, bind, serve};
/// The surface that is served: whoever starts a server makes its executor.
pub use lmlang_graphql as graphql;

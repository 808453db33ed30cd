//! The server over real sockets, with a small schema of its own.

mod http;
mod lifecycle;
mod schema;
mod server;
mod sse;
mod ws;

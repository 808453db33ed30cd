//! The server over real sockets: with a small schema of its own, and with the real one.

mod access;
mod agents;
mod backup;
mod endless;
mod http;
mod imports;
mod lifecycle;
mod mcp;
mod modules;
mod nl2pipeline;
mod real;
mod scenarios;
mod schema;
mod server;
mod sse;
mod ws;

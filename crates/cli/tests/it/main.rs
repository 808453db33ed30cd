//! The binary as its callers see it: what it prints where, and how it ends.

mod backup;
mod collector;
mod commands;
mod database;
mod determinism;
mod files;
mod kill;
mod killed_runs;
mod lost;
mod mcp;
mod reached;
mod readme;
mod replicas;
mod serve;
mod tls;
mod token;
mod tool;
mod waiting;
mod wasi;

//! Sends finished spans to a collector of OpenTelemetry: OTLP over HTTP, in protobuf.
//!
//! A [`Span`] is plain data with times and ids that its maker gives it. An [`Exporter`] queues it without waiting, sends it
//! in a batch with others, and tries again while the collector is out of reach; when its queue is full it drops and counts,
//! so that a slow collector slows nobody down. All text of a span passes through a [`lmlang_redact::Policy`] before it is
//! queued, and content of messages is left out unless that is asked for.
//!
//! [`Settings::from_env`] reads the variables that OpenTelemetry defines, or those of Langfuse. This crate does not know what
//! a run or a program is, nor where spans are stored.
//!
//! Read [`span`] (what is sent), [`names`] (how attributes are called), [`settings`] (where to), `wire` (as what),
//! `queue`, [`client`] (how servers elsewhere are reached, collectors and others), `http`, `worker`, `console`, then
//! [`exporter`].

#![forbid(unsafe_code)]

pub mod client;
mod console;
mod counters;
pub mod exporter;
mod http;
pub mod names;
mod queue;
pub mod settings;
pub mod span;
mod wire;
mod worker;

pub use crate::http::StartError;
pub use counters::Counters;
pub use exporter::{Exporter, Unsent};
pub use settings::{Collector, Compression, Destination, Off, Retry, Settings, SettingsError};
pub use span::{Event, Kind, Resource, Span, Status, Value};

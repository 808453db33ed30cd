//! Continuous queries over streams: planned, explained, simulated, and kept by a Manager.
//!
//! A query is SQL over one stream of a [`Catalog`]. [`check()`] plans it: the text is read, every name is looked up, every
//! type is checked, and what the query means becomes a program graph that the verifier calls complete. All mistakes come
//! at once, each a [`PlanError`] with code, place, what was expected and the nearest names. [`explain::pretty`] shows the
//! plan, [`simulate()`] runs it on sample rows, [`references()`] says what a query speaks of, known or not, and
//! [`manager::Manager`] answers the requests of a stream Manager.
//!
//! All of it is a function of its arguments: there is no IO, clock or randomness. This crate does not know where records
//! lie, how requests arrive, or who asks.
//!
//! ```
//! use lmlang_streams::{Catalog, Sample, Stream, check, simulate};
//! use serde_json::json;
//!
//! let mut catalog = Catalog::new();
//! catalog.insert(Stream::from_json(&json!({
//!     "stream": "readings", "spec_version": 1,
//!     "spec": {"type": "mqtt", "schema": {"columns": [{"name": "temp", "data_type": "double"}]}},
//! }))?)?;
//! let planned = check("SELECT max(temp) AS hottest FROM readings GROUP BY countwindow(2)", &catalog).unwrap();
//! let sample: Sample = serde_json::from_value(json!({"rows": [{"row": {"temp": 20.5}}, {"row": {"temp": 21}}]}))?;
//! let done = simulate(&planned, &sample, &Default::default()).unwrap();
//! assert_eq!(done.rows[0].row["hottest"], json!(21.0));
//!
//! let errors = check("SELECT tmp FROM readings", &catalog).unwrap_err();
//! assert_eq!(errors[0].nearest, ["temp"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read [`catalog`], [`types`], [`error`], [`functions`](mod@functions), [`syntax`](mod@syntax) (what there is), `sql` (what a query
//! says), `plan` (what it means), `lower` (the program that it becomes), [`planned`], [`explain`],
//! [`simulate`](mod@simulate), [`pipeline`], then [`manager`].

#![forbid(unsafe_code)]

pub mod catalog;
pub mod error;
pub mod explain;
pub mod functions;
mod lower;
pub mod manager;
pub mod pipeline;
mod plan;
pub mod planned;
pub mod simulate;
mod sql;
pub mod syntax;
pub mod types;

pub use catalog::{Catalog, Column, DataType, Schema, ShapeError, Stream, StreamSpec, StreamSummary};
pub use error::{Code, Place, PlanError, plain_text};
pub use functions::{FunctionDef, function, functions};
pub use manager::Manager;
pub use pipeline::{EventTimeOptions, Options, PipelineRequest};
pub use plan::typed::Window;
pub use plan::{LONGEST_WINDOW_MS, MOST_ITEMS, MOST_ROWS};
pub use planned::{Planned, check};
pub use simulate::{Bounds, End, Sample, SampleRow, SimulateCode, SimulateError, Simulated, simulate};
pub use sql::references::{Reference, References};
pub use sql::{DEEPEST, LONGEST_QUERY, MOST_TOKENS, references};
pub use syntax::{Construct, ConstructType, Status, Syntax, syntax};

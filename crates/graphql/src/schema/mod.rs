//! The schema: one file per type family.
//!
//! Read [`ids`] for how objects are named, [`view`] for a program at one revision, [`connection`] for lists, then the
//! roots [`query`], [`mutation`] and [`subscription`] with [`access`], which guards them, then the families.

pub mod absence;
pub mod access;
pub mod across;
pub mod analysis;
pub mod branching;
mod call;
pub mod call_graph;
pub mod caller;
pub mod cases;
pub mod cataloguing;
pub mod checking;
pub mod checkpointing;
pub mod code_page;
mod compound_input;
pub mod connection;
pub mod context;
pub mod cursor;
pub mod defaults;
pub mod detail;
pub mod diagnostics;
pub mod diagnostics_delta;
pub mod diff;
pub mod edge;
pub mod edit_input;
mod edit_request;
pub mod entities;
pub mod event_filter;
pub mod failure;
pub mod finding;
pub mod fixes;
pub mod flows;
pub mod function;
mod function_filter;
pub mod ids;
pub mod impact;
pub mod inspecting;
pub mod interactive;
pub mod map;
pub mod module;
pub mod mutation;
mod named;
mod natural;
pub mod neighbourhood;
pub mod node;
pub mod ops;
pub mod outcome;
mod packs;
mod positions;
pub mod program;
pub mod program_event;
pub mod program_stats;
pub mod provenance;
pub mod query;
pub mod region;
pub mod reverting;
pub mod revision;
pub mod run_input;
pub mod run_outcome;
pub mod scalars;
pub mod search;
mod shown;
pub mod simulation;
pub mod simulation_status;
pub mod storage;
pub mod subscription;
mod text_form;
pub mod token;
pub mod touched;
pub mod tournament;
pub mod trace_batch;
pub mod trace_page;
pub mod types;
pub mod value_page;
pub mod verification;
pub mod view;
pub mod wasm;
pub mod written_file;

use std::sync::Arc;

use async_graphql::{SDLExportOptions, Schema, SchemaBuilder, ValidationMode};
use lmlang_engine::Engine;

use crate::schema::access::Guarded;
use crate::schema::packs::Packs;
use crate::transport::{Executor, Limits};

type Query = Guarded<query::Query>;
type Mutation = Guarded<mutation::Mutation>;
type Subscription = Guarded<subscription::Subscription>;
type Root = Schema<Query, Mutation, Subscription>;

fn builder() -> SchemaBuilder<Query, Mutation, Subscription> {
    Schema::build(Guarded(query::Query), Guarded(mutation::Mutation), Guarded(subscription::Subscription))
}

/// The executor of the schema over an engine.
pub fn build(engine: Engine, limits: Limits) -> Executor {
    let packs = Arc::new(Packs::default());
    let with = |builder: SchemaBuilder<Query, Mutation, Subscription>, engine: Engine| {
        builder.data(engine).data(limits.clone()).data(Arc::clone(&packs)).finish()
    };
    let schema: Root = with(builder(), engine.clone());
    let lenient = with(builder().validation_mode(ValidationMode::Fast), engine);
    Executor::with_lenient(schema, lenient, limits)
}

/// The schema as text, sorted; needs no engine.
pub fn sdl() -> String {
    let options = SDLExportOptions::new()
        .sorted_fields()
        .sorted_arguments()
        .sorted_enum_items()
        .include_specified_by()
        .prefer_single_line_descriptions();
    builder().finish().sdl_with_options(options)
}

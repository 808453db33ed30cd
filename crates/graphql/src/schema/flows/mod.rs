//! Durable runs of flows: what can be run, what runs, what it asks, and what it left behind.
//!
//! Read [`flow`] for definitions, [`run`] for runs and [`step`] for what happened in one, [`interrupt`] for questions and
//! answers, [`session`], [`span`], then [`steering`] and [`turn`] for the mutations and [`event`] for the subscription.

pub mod event;
pub mod flow;
pub mod interrupt;
pub mod run;
pub mod session;
pub mod span;
pub mod steering;
pub mod step;
pub mod turn;

use uuid::Uuid;

use crate::error::ApiError;
use crate::schema::ids::GlobalId;
use crate::schema::view::not_found;

/// The run that an id names.
pub(crate) fn run_id(given: &str) -> Result<Uuid, ApiError> {
    match given.parse() {
        Ok(GlobalId::Run(id)) => Ok(id),
        Ok(_) | Err(_) => Err(not_found("run", given)),
    }
}

/// The session that an id names.
pub(crate) fn session_id(given: &str) -> Result<Uuid, ApiError> {
    match given.parse() {
        Ok(GlobalId::Session(id)) => Ok(id),
        Ok(_) | Err(_) => Err(not_found("session", given)),
    }
}

//! Flows of agents on real engines.

mod parts;
mod secrets;
mod stores;
mod traces;
mod world;

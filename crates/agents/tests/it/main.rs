//! Flows of agents on real engines.

mod manager;
mod parts;
mod secrets;
mod stores;
mod traces;
mod world;

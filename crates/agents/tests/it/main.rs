//! Flows of agents on real engines.

mod parts;
mod stores;
mod traces;
mod world;

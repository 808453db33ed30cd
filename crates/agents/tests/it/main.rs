//! Flows of agents on real engines.

mod killed;
mod long;
mod manager;
mod parts;
mod secrets;
mod stores;
mod traces;
mod world;

//! Flows of agents on real engines.

mod assembled;
mod exported;
mod killed;
mod long;
mod manager;
mod parts;
mod programs;
mod secrets;
mod shapes;
mod stores;
mod traces;
mod world;

//! The tools over a real engine, called as clients call them.

mod agent;
mod budgets;
mod calls;
mod errors;
mod lines;
mod listed;
mod questions;
mod resources;
mod wire;
mod world;

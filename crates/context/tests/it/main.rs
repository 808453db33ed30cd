//! Tests of contexts, answers and search.

mod laws;
mod model;
mod packs;
mod questions;
mod searches;
mod stages;
mod tools;

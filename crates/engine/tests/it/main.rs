//! The use cases over a real database.

mod backup;
mod cases;
mod entities;
mod events;
mod faults;
mod file;
mod fixture;
mod flows;
mod interactive;
mod opening;
mod past;
mod planted;
mod provenance;
mod questions;
mod refs;
mod replicas;
mod reverting;
mod stale;
mod stream;
mod taking_back;
mod tokens;
mod writing;

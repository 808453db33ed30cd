//! Flows of agents on real engines.

mod assembled;
mod declared;
mod exported;
mod faults;
mod killed;
mod limited;
mod long;
mod manager;
#[cfg(feature = "neo4j")]
mod neo4j;
mod parts;
mod programs;
mod promises;
mod secrets;
mod shapes;
mod silent;
mod stores;
mod subject;
mod traces;
mod world;

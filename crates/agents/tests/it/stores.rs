//! The stores of this crate keep the promises.

use std::sync::Arc;

use lmlang_agents::graph_store::{EngineGraph, MemoryStore};
use lmlang_agents::model::Models;

use crate::promises::{lookups, promises, two_writers, wholes};
use crate::world::World;

#[tokio::test]
async fn the_entities_of_an_engine_keep_the_promises() {
    let world = World::new(Models::none()).await;
    promises(&EngineGraph(world.engine.clone())).await;
    wholes(&EngineGraph(world.engine.clone())).await;
    lookups(&EngineGraph(world.engine.clone())).await;
    two_writers(Arc::new(EngineGraph(world.engine.clone()))).await;
}

#[tokio::test]
async fn a_store_in_memory_keeps_the_promises() {
    promises(&MemoryStore::default()).await;
    wholes(&MemoryStore::default()).await;
    lookups(&MemoryStore::default()).await;
    two_writers(Arc::new(MemoryStore::default())).await;
}

//! Simulations are kept until they expire.

use lmlang_store::{Simulation, Timestamp, TraceChunk};
use uuid::Uuid;

use crate::fixture::Fixture;

#[tokio::test]
async fn traces_are_read_from_any_step_until_they_expire() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let store = &fixture.store;
    let simulation = |created| Simulation {
        id: Uuid::now_v7(),
        program,
        created: Timestamp(created),
        payload: b"running".to_vec(),
    };
    let chunk = |first| TraceChunk { first, bytes: vec![first as u8] };
    let (old, new) = (simulation(10), simulation(20));
    store.save_simulation(old.clone(), vec![chunk(0), chunk(100)]).await.unwrap();
    store.save_simulation(new.clone(), vec![chunk(0)]).await.unwrap();
    let ended = Simulation { payload: b"ended".to_vec(), ..old.clone() };
    store.save_simulation(ended.clone(), vec![chunk(200)]).await.unwrap();

    assert_eq!(store.simulation(old.id).await.unwrap(), Some(ended));
    assert_eq!(store.trace(old.id, 0, 9).await.unwrap(), [chunk(0), chunk(100), chunk(200)]);
    assert_eq!(store.trace(old.id, 150, 1).await.unwrap(), [chunk(100)]);
    assert_eq!(store.trace(old.id, 250, 9).await.unwrap(), [chunk(200)]);

    assert_eq!(store.expire_simulations(Timestamp(20)).await.unwrap(), 1);
    assert_eq!(store.simulation(old.id).await.unwrap(), None);
    assert_eq!(store.trace(old.id, 0, 9).await.unwrap(), []);
    assert_eq!(store.simulation(new.id).await.unwrap(), Some(new.clone()));
    assert_eq!(store.trace(new.id, 0, 9).await.unwrap(), [chunk(0)]);
}

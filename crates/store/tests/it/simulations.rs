//! Simulations are kept until they expire.

use lmlang_store::{Simulation, Timestamp};
use uuid::Uuid;

use crate::fixture::Fixture;

#[tokio::test]
async fn a_simulation_is_kept_in_its_newest_state_until_it_expires() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let store = &fixture.store;
    let simulation = |created| Simulation {
        id: Uuid::now_v7(),
        program,
        created: Timestamp(created),
        payload: b"running".to_vec(),
    };
    let (old, new) = (simulation(10), simulation(20));
    store.save_simulation(old.clone()).await.unwrap();
    store.save_simulation(new.clone()).await.unwrap();
    let ended = Simulation { payload: b"ended".to_vec(), ..old.clone() };
    store.save_simulation(ended.clone()).await.unwrap();
    assert_eq!(store.simulation(old.id).await.unwrap(), Some(ended));

    assert_eq!(store.expire_simulations(Timestamp(20)).await.unwrap(), 1);
    assert_eq!(store.simulation(old.id).await.unwrap(), None);
    assert_eq!(store.simulation(new.id).await.unwrap(), Some(new));
}

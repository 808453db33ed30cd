//! Simulations are kept until they expire.

use lmlang_store::{Most, Simulation, Timestamp};
use uuid::Uuid;

use crate::fixture::Fixture;

const MANY: Most = Most { rows: 100, bytes: 1 << 20 };

#[tokio::test]
async fn a_simulation_is_kept_in_its_newest_state_until_it_expires() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let store = &fixture.store;
    let simulation = |created| Simulation {
        id: Uuid::now_v7(),
        program,
        created: Timestamp(created),
        digest: b"what is run".to_vec(),
        ended: false,
        payload: b"running".to_vec(),
    };
    let save = |simulation: &Simulation| store.save_simulation(simulation.clone(), MANY, MANY);
    let (old, new) = (simulation(10), simulation(20));
    save(&old).await.unwrap();
    save(&new).await.unwrap();
    let ended = Simulation { ended: true, payload: b"ended".to_vec(), ..old.clone() };
    save(&ended).await.unwrap();
    assert_eq!(store.simulation(old.id).await.unwrap(), Some(ended));
    assert_eq!(store.simulation_of(b"what is run").await.unwrap(), Some(new.clone()));
    assert_eq!(store.simulation_of(b"else").await.unwrap(), None);

    assert_eq!(store.expire_simulations(Timestamp(20)).await.unwrap(), 1);
    assert_eq!(store.simulation(old.id).await.unwrap(), None);
    assert_eq!(store.simulation(new.id).await.unwrap(), Some(new));
}

#[tokio::test]
async fn what_is_too_much_goes_the_oldest_that_has_ended_first() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    let store = &fixture.store;
    let simulation = |program, created, ended| Simulation {
        id: Uuid::now_v7(),
        program,
        created: Timestamp(created),
        digest: Vec::new(),
        ended,
        payload: vec![0; 10],
    };
    let all = [
        simulation(a, 1, false),
        simulation(a, 2, true),
        simulation(a, 3, true),
        simulation(b, 4, true),
        simulation(a, 5, false),
        simulation(a, 6, true),
    ];
    let kept = async |of_program: Most, of_all: Most| {
        store.expire_simulations(Timestamp(i64::MAX)).await.unwrap();
        for one in &all {
            store.save_simulation(one.clone(), of_program, of_all).await.unwrap();
        }
        let mut kept = Vec::new();
        for one in &all {
            kept.extend(store.simulation(one.id).await.unwrap().map(|one| one.created.0));
        }
        kept
    };
    let most = |rows, bytes| Most { rows, bytes };
    assert_eq!(kept(MANY, MANY).await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(kept(most(3, 100), MANY).await, [1, 4, 5, 6]);
    assert_eq!(kept(most(100, 35), MANY).await, [1, 4, 5, 6], "those of another program do not count");
    assert_eq!(kept(most(1, 100), MANY).await, [4, 5], "what runs goes when nothing else is left");
    assert_eq!(kept(MANY, most(4, 100)).await, [1, 4, 5, 6]);
    assert_eq!(kept(MANY, most(100, 25)).await, [1, 5]);
}

//! What processes over one database share.

use lmlang_store::{Fault, Store};

use crate::fixture::{Fixture, options_of};

#[tokio::test]
async fn a_secret_stays_as_it_was_made() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store.secret("a", [1; 32]).await.unwrap(), [1; 32]);
    assert_eq!(fixture.store.secret("a", [2; 32]).await.unwrap(), [1; 32]);
    assert_eq!(fixture.store.secret("b", [3; 32]).await.unwrap(), [3; 32]);
    let fixture = fixture.reopened().await;
    assert_eq!(fixture.store.secret("a", [4; 32]).await.unwrap(), [1; 32]);
    let fixture = fixture.reopened_after("UPDATE secrets SET value = substr(value, 1, 3)").await;
    let unreadable = fixture.store.secret("a", [5; 32]).await;
    assert!(matches!(unreadable, Err(Fault::Row { table: "secrets", column: "value" })), "{unreadable:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_makes_it_all_are_answered_the_same() {
    let fixture = Fixture::new().await;
    let mut others = Vec::new();
    // A file has one process.
    while !fixture.db.is_file() && others.len() < 3 {
        others.push(Store::open(options_of(&fixture.db)).await.unwrap());
    }
    let stores: Vec<&Store> = others.iter().chain([&fixture.store]).collect();
    let asked = (1..=12).zip(stores.iter().cycle()).map(|(at, store)| store.secret("a", [at; 32]));
    let answers = futures_util::future::join_all(asked).await;
    let mut answers: Vec<[u8; 32]> = answers.into_iter().map(|answer| answer.unwrap()).collect();
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    for store in others {
        store.close().await.unwrap();
    }
}

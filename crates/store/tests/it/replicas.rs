//! What is true where several processes write. A file has one; so this does nothing but on a server.

use std::time::Duration;

use lmlang_store::{CommitError, Fault, Options, Store};
use sea_orm::{ConnectionTrait, TransactionTrait};

use crate::fixture::{Fixture, append, options_of};
use crate::packing;

#[tokio::test]
async fn a_hold_that_does_not_get_its_turn_lets_the_log_go() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let program = fixture.program("a").await;
    let busy_timeout = Duration::from_millis(200);
    let store = Store::open(Options { busy_timeout, ..options_of(&fixture.db) }).await.unwrap();
    let other = fixture.db.connect().await;
    let turn = other.begin().await.unwrap();
    turn.execute_unprepared(r#"SELECT "turn" FROM "commit_order" FOR UPDATE"#).await.unwrap();
    let mut hold = store.hold(program).await.unwrap().expect("the program is there");
    let late = hold.append(append(program, vec![fixture.edit(2)]));
    store.committer().settle(hold);
    let late = late.await;
    assert!(matches!(late, Err(CommitError::Storage(Fault::Busy))), "{late:?}");
    turn.rollback().await.unwrap();
    store.committer().submit(append(program, vec![fixture.edit(2)])).await.unwrap();
    assert_eq!(fixture.seqs(program).await, [1, 2]);
    store.close().await.unwrap();
}

#[tokio::test]
async fn several_processes_pack_one_log() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let programs = packing::fill(&fixture, 5 * packing::WINDOW).await;
    let mut others = Vec::new();
    for _ in 0..3 {
        let (told, faults) = packing::told(None);
        let options = Options { faults, unpacked: packing::NEWEST, ..options_of(&fixture.db) };
        others.push((Store::open(options).await.unwrap(), told));
    }
    // Who clashes has nothing to tell.
    for _ in 0..4 {
        let mut next: Vec<_> = others.iter_mut().map(|(_, told)| Box::pin(told.recv())).collect();
        futures_util::future::select_all(&mut next).await.0.unwrap();
    }
    for (store, _) in others {
        store.close().await.unwrap();
    }
    assert_eq!(packing::packed(&fixture).await, 4 * packing::WINDOW);
    packing::all_is_as_stored(&fixture.store, &programs).await;
}

//! What is true where several processes write. A file has one; so this does nothing but on a server.

use std::time::Duration;

use lmlang_store::{CommitError, Fault, OpenError, Options, Store};
use lmlang_testdb::TestDb;
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
    assert!(matches!(late, Err(CommitError::Storage(Fault::Held))), "{late:?}");
    turn.rollback().await.unwrap();
    store.committer().submit(append(program, vec![fixture.edit(2)])).await.unwrap();
    assert_eq!(fixture.seqs(program).await, [1, 2]);
    store.close().await.unwrap();
}

/// Each has something on its way to what the other one holds.
#[tokio::test]
async fn two_who_wait_for_what_the_other_holds_both_go_on() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    let store = Store::open(options_of(&fixture.db)).await.unwrap();
    let mut here = fixture.store.hold(a).await.unwrap().expect("the program is there");
    let mut there = store.hold(b).await.unwrap().expect("the program is there");
    let late = [
        fixture.submit(b, vec![fixture.edit(2)]),
        store.committer().submit(append(a, vec![fixture.edit(2)])),
    ];
    let held = [
        here.append(append(a, vec![fixture.edit(2)])),
        there.append(append(b, vec![fixture.edit(2), fixture.edit(3)])),
    ];
    fixture.store.committer().settle(here);
    store.committer().settle(there);
    for held in held {
        held.await.unwrap();
    }
    for (late, next) in late.into_iter().zip([4, 3]) {
        let late = late.await;
        assert!(
            matches!(late, Err(CommitError::OutOfOrder { expected, found: 2 }) if expected == next),
            "{late:?}"
        );
    }
    assert_eq!((fixture.seqs(a).await, fixture.seqs(b).await), (vec![1, 2], vec![1, 2, 3]));
    store.close().await.unwrap();
}

/// What is stored together is not refused together.
#[tokio::test]
async fn a_log_that_is_kept_for_too_long_is_no_matter_of_others() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    let busy_timeout = Duration::from_millis(200);
    let store = Store::open(Options { busy_timeout, ..options_of(&fixture.db) }).await.unwrap();
    let keeps = fixture.store.hold(a).await.unwrap().expect("the program is there");
    let submit = |program| store.committer().submit(append(program, vec![fixture.edit(2)]));
    let (to_a, to_b) = (submit(a), submit(b));
    let to_a = to_a.await;
    assert!(matches!(to_a, Err(CommitError::Storage(Fault::Held))), "{to_a:?}");
    to_b.await.unwrap();
    fixture.store.committer().settle(keeps);
    store.close().await.unwrap();
    assert_eq!((fixture.seqs(a).await, fixture.seqs(b).await), (vec![1], vec![1, 2]));
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

#[tokio::test]
async fn the_doctor_finds_what_keeps_several_processes_from_writing() {
    let head = "program 1: its head is not entry 2, the newest one of a live program";
    for (damage, finding) in [
        ("UPDATE heads SET seq = 1", head),
        ("UPDATE heads SET entry = '00000000-0000-0000-0000-00000000ffff'", head),
        ("DELETE FROM heads", head),
        ("DELETE FROM commit_order", "there is not one turn to commit, but 0"),
    ] {
        let fixture = Fixture::new().await;
        if fixture.db.is_file() {
            return;
        }
        let program = fixture.program("a").await;
        fixture.append(program, fixture.edit(2)).await.unwrap();
        assert_eq!(fixture.store.check(None).await.unwrap().findings, []);
        let fixture = fixture.reopened_after(damage).await;
        let found = fixture.store.check(None).await.unwrap().findings;
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [finding], "{damage}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let program = fixture.program("a").await;
    fixture.store.close().await.unwrap();
    let future = "m29990101_000001_future";
    fixture.db.execute(&format!("INSERT INTO seaql_migrations VALUES ('{future}', 0)")).await;
    let schema = async || {
        let tables = "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema()";
        let migrations = "SELECT count(*) FROM seaql_migrations";
        let entries = "SELECT count(*) FROM log";
        [
            fixture.db.number(tables).await,
            fixture.db.number(migrations).await,
            fixture.db.number(entries).await,
        ]
    };
    let before = schema().await;
    // Whoever comes, at the same time too.
    let opened = futures_util::future::join_all((0..3).map(|_| Store::open(options_of(&fixture.db)))).await;
    for opened in opened {
        let error = opened.unwrap_err();
        let OpenError::NewerSchema { migration, .. } = &error else { panic!("{error:?}") };
        assert_eq!(migration, future);
        assert!(error.to_string().contains("was written by a newer version"), "{error}");
    }
    assert_eq!(schema().await, before);
    fixture.db.execute(&format!("DELETE FROM seaql_migrations WHERE version = '{future}'")).await;
    let store = Store::open(options_of(&fixture.db)).await.unwrap();
    assert_eq!(store.program_by_name("a").await.unwrap().map(|found| found.key), Some(program));
    store.close().await.unwrap();
}

#[tokio::test]
async fn tables_of_others_are_refused_and_left_alone() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let other = TestDb::new().await;
    other.execute("CREATE TABLE log (line text)").await;
    let error = Store::open(options_of(&other)).await.unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()";
    assert_eq!(other.number(tables).await, 1);
}

/// A database may be of a language that orders words otherwise than by their bytes.
#[tokio::test]
async fn names_are_ordered_by_their_bytes_whatever_the_language_of_the_database() {
    let fixture = Fixture::new().await;
    if fixture.db.is_file() {
        return;
    }
    let ordered = r#"SELECT COUNT(*) FROM "information_schema"."columns" WHERE "table_schema" = current_schema()
        AND "collation_name" = 'C' AND ("table_name", "column_name") IN
        (('actors', 'name'), ('api_tokens', 'name'), ('api_tokens', 'id'), ('cases', 'name'), ('programs', 'name'))"#;
    assert_eq!(fixture.db.number(ordered).await, 5);
}

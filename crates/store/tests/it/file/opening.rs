//! Opening: the lock, the schema, what is not a database of ours.

use std::fs;

use lmlang_store::{OpenError, Options, Store};
use sea_orm::{ConnectionTrait, Database};

use crate::fixture::{Fixture, append, options};

#[tokio::test]
async fn a_second_opener_is_refused_by_name_of_the_holder() {
    let fixture = Fixture::new().await;
    let error = Store::open(options(fixture.db.folder())).await.unwrap_err();
    let OpenError::Held { holder: Some(holder), .. } = &error else { panic!("{error:?}") };
    assert_eq!(holder.pid, std::process::id());
    assert!(!holder.host.is_empty());
    assert!(error.to_string().contains(&format!("is in use by process {}", holder.pid)), "{error}");

    // By another way to the same file too.
    let roundabout = fixture.db.folder().join("sub/../lmlang.db");
    fs::create_dir(fixture.db.folder().join("sub")).unwrap();
    let error = Store::open(Options::file(roundabout)).await.unwrap_err();
    assert!(matches!(error, OpenError::Held { .. }), "{error:?}");

    let fixture = fixture.reopened().await;
    fixture.store.close().await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let fixture = Fixture::new().await;
    let path = std::path::PathBuf::from(fixture.store.location().to_string());
    fixture.store.close().await.unwrap();
    fixture.db.execute("INSERT INTO seaql_migrations VALUES ('m29990101_000001_future', 0)").await;
    let before = fs::read(&path).unwrap();
    let error = Store::open(options(fixture.db.folder())).await.unwrap_err();
    match &error {
        OpenError::NewerSchema { migration, .. } => assert_eq!(migration, "m29990101_000001_future"),
        other => panic!("{other:?}"),
    }
    assert!(error.to_string().contains("was written by a newer version"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn other_files_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lmlang.db");
    let db = Database::connect(format!("sqlite://{}?mode=rwc", path.display())).await.unwrap();
    db.execute_unprepared("CREATE TABLE log (line text)").await.unwrap();
    db.close().await.unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);

    fs::write(&path, "not a database, but long enough to be taken for one: ".repeat(100)).unwrap();
    let error = Store::open(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
}

#[tokio::test]
async fn an_empty_file_and_missing_folders_are_fine() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("lmlang.db"), "").unwrap();
    Store::open(options(dir.path())).await.unwrap().close().await.unwrap();
    let deep = dir.path().join("a/b/c.db");
    Store::open(Options::file(&deep)).await.unwrap().close().await.unwrap();
    assert!(deep.exists());
}

#[tokio::test]
async fn what_cannot_be_opened_says_why() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let below_a_file = Options::file(dir.path().join("file/lmlang.db"));
    assert!(matches!(Store::open(below_a_file).await.unwrap_err(), OpenError::Path { .. }));
}

#[tokio::test]
async fn a_store_that_was_dropped_can_be_opened_again() {
    let Fixture { db, store, actor } = Fixture::new().await;
    let program = crate::fixture::create(&store, "a", actor).await;
    let entries = vec![crate::fixture::edit(2, actor)];
    let ticket = store.committer().submit(append(program, entries));
    ticket.await.unwrap();
    // The files as they lie there while the store is open: what a crash leaves.
    let crashed = tempfile::tempdir().unwrap();
    for file in fs::read_dir(db.folder()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), crashed.path().join(file.file_name())).unwrap();
    }
    drop(store);
    let store = Store::open(options(crashed.path())).await.unwrap();
    assert_eq!(crate::fixture::seqs(&store, program).await, [1, 2]);
    assert_eq!(store.check(None).await.unwrap().findings, []);
}

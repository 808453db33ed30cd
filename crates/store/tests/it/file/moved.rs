//! A file that is taken away while it is open.

use std::fs;

use lmlang_store::{CommitError, Fault, Location, Store};

use crate::fixture::{append, author, create, edit, options, seqs};

/// What would be written to a file that nobody finds any more is not acknowledged; when it is back, all goes on.
#[tokio::test]
async fn nothing_is_acknowledged_that_nobody_finds() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).await.unwrap();
    let actor = author(&store).await;
    let program = create(&store, "a", actor).await;
    let Location::File(path) = store.location().clone() else { panic!("it is a file") };
    let second = || store.committer().submit(append(program, vec![edit(2, actor)]));
    assert!(store.is_there());

    let elsewhere = dir.path().join("elsewhere.db");
    fs::rename(&path, &elsewhere).unwrap();
    let answer = second().await;
    assert!(matches!(answer, Err(CommitError::Storage(Fault::Moved))), "{answer:?}");
    // Another file of that name is another one.
    fs::write(&path, "").unwrap();
    let answer = second().await;
    assert!(matches!(answer, Err(CommitError::Storage(Fault::Moved))), "{answer:?}");
    assert!(!store.is_there());

    fs::rename(&elsewhere, &path).unwrap();
    assert!(store.is_there());
    second().await.unwrap();
    assert_eq!(seqs(&store, program).await, [1, 2]);
    store.close().await.unwrap();
}

/// However many read at a time, they read the file that was opened.
#[tokio::test]
async fn nobody_reads_what_is_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).await.unwrap();
    let actor = author(&store).await;
    let program = create(&store, "a", actor).await;
    let Location::File(path) = store.location().clone() else { panic!("it is a file") };
    let elsewhere = dir.path().join("elsewhere.db");
    fs::rename(&path, &elsewhere).unwrap();
    fs::write(&path, "").unwrap();
    // Each keeps a connection; another one is left.
    let mut moments = Vec::new();
    for _ in 0..3 {
        moments.push(store.entities_now().await.unwrap());
    }
    assert_eq!(seqs(&store, program).await, [1]);
    drop(moments);
    fs::rename(&elsewhere, &path).unwrap();
    store.close().await.unwrap();
}

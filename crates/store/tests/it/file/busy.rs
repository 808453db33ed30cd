//! A file that a tool outside lmlang has locked.

use std::time::Duration;

use lmlang_store::{CommitError, Fault, Options, Store};
use sea_orm::{ConnectionTrait, Database};

use crate::fixture::{append, author, create, edit, options};

#[tokio::test]
async fn a_lock_held_by_another_tool_is_busy() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(Options { busy_timeout: Duration::from_millis(20), ..options(dir.path()) })
        .await
        .unwrap();
    let actor = author(&store).await;
    let program = create(&store, "a", actor).await;
    let tool = Database::connect(format!("sqlite://{}", store.location())).await.unwrap();
    tool.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
    let again = || append(program, vec![edit(2, actor)]);
    let answer = store.committer().submit(again()).await;
    assert!(matches!(answer, Err(CommitError::Storage(Fault::Busy))), "{answer:?}");
    tool.close().await.unwrap();
    store.committer().submit(again()).await.unwrap();
}

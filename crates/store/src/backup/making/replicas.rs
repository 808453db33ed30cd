//! Backups of the database of a server. A file has nothing of this; so it does nothing there.

use lmlang_testdb::TestDb;
use sea_orm::{QueryResult, Statement};

use super::*;
use crate::location::Location;
use crate::store::Options;

fn patience(shown: Option<QueryResult>) -> String {
    shown.expect("it is shown").try_get_by_index(0).expect("it is a text")
}

/// Who takes a backup may be slower than a transaction may stand still that others wait for.
#[tokio::test]
async fn a_backup_waits_for_who_takes_it() {
    let db = TestDb::new().await;
    if db.is_file() {
        return;
    }
    let store = Store::open(Options::new(Location::parse(&db.to_string()).unwrap())).await.unwrap();
    let show = || Statement::from_string(DbBackend::Postgres, "SHOW idle_in_transaction_session_timeout");
    let backup = store.backup(Choice::default(), Timestamp(5)).await.unwrap();
    assert_eq!(patience(backup.view.query_one_raw(show()).await.unwrap()), "2min");
    assert_eq!(patience(store.reader.query_one_raw(show()).await.unwrap()), "10s");
    drop(backup);
    store.close().await.unwrap();
}

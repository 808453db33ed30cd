//! The peers: a handler that inserts the same row through sea-orm's pool, as anybody would write it, and nothing else;
//! and one that does not even that.

use std::cell::Cell;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use lmlang_bench::editor::MESSAGE;
use lmlang_bench::http::find;
use lmlang_bench::load::Caller;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ConnectOptions, Database, DatabaseConnection, DbErr, EntityTrait,
    IntoActiveModel, PaginatorTrait, QueryOrder, Set,
};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use uuid::Uuid;

/// The table `log`, as the migrations make it.
mod log {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "log")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub(crate) position: i64,
        pub(crate) program: i64,
        pub(crate) seq: i64,
        pub(crate) id: Uuid,
        pub(crate) parents: Vec<u8>,
        pub(crate) branch: i32,
        pub(crate) kind: i16,
        pub(crate) actor: i64,
        pub(crate) on_behalf_of: Option<String>,
        pub(crate) message: Option<String>,
        pub(crate) time: i64,
        pub(crate) edits: Vec<u8>,
        pub(crate) counts: Vec<u8>,
        pub(crate) root_hash: Vec<u8>,
        pub(crate) next_ref: i64,
        pub(crate) target: Option<i64>,
        pub(crate) idem_key: Option<Vec<u8>>,
        pub(crate) request_digest: Option<Vec<u8>>,
        pub(crate) run: Option<Uuid>,
        pub(crate) step: Option<i64>,
    }

    #[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use log::Model as Row;

/// The newest row that the server wrote.
pub(crate) async fn newest_row(database: &Path) -> Result<Option<Row>, DbErr> {
    let db = connect(database).await?;
    let row = log::Entity::find().order_by_desc(log::Column::Time).one(&db).await?;
    db.close().await?;
    Ok(row)
}

/// How many rows there are.
pub(crate) async fn rows(database: &Path) -> Result<u64, DbErr> {
    let db = connect(database).await?;
    let rows = log::Entity::find().count(&db).await?;
    db.close().await?;
    Ok(rows)
}

async fn connect(database: &Path) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(format!("sqlite://{}?mode=rwc", database.display()));
    options.sqlx_logging(false);
    // The settings of the server's own connection.
    options.map_sqlx_sqlite_opts(|options| {
        options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("wal_autocheckpoint", "4000")
    });
    Database::connect(options).await
}

struct Peer {
    db: DatabaseConnection,
    /// The row of which each request inserts another.
    row: Row,
    seq: AtomicI64,
}

/// What a request brings.
#[derive(Deserialize)]
struct NewRow {
    key: String,
    message: String,
    edits: String,
}

/// What it is told.
#[derive(Serialize)]
struct Inserted {
    committed: bool,
    seq: i64,
}

/// Serves until the process is ended. The folder holds the row as JSON, and the database from then on.
pub(crate) async fn serve(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let db = connect(&folder.join("peer.db")).await?;
    lmlang_migrations::migrate(&db).await?;
    let row: Row = serde_json::from_slice(&std::fs::read(folder.join("row.json"))?)?;
    let peer = Arc::new(Peer { db, row, seq: AtomicI64::new(1) });
    listen(Router::new().route("/graphql", post(insert)).with_state(peer)).await
}

/// Serves what inserts nothing until the process is ended.
pub(crate) async fn serve_nothing() -> Result<(), Box<dyn std::error::Error>> {
    listen(Router::new().route("/graphql", post(answer))).await
}

async fn listen(router: Router) -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // Without it an answer could wait for the acknowledgement of the one before.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, router).await?;
    Ok(())
}

async fn insert(
    State(peer): State<Arc<Peer>>,
    Json(new): Json<NewRow>,
) -> Result<Json<Inserted>, StatusCode> {
    let seq = peer.seq.fetch_add(1, Ordering::Relaxed);
    let mut row = peer.row.clone().into_active_model();
    row.position = NotSet;
    row.seq = Set(seq);
    row.id = Set(Uuid::now_v7());
    row.time = Set(seq);
    row.message = Set(Some(new.message));
    row.edits = Set(new.edits.into_bytes());
    row.idem_key = Set(Some(new.key.into_bytes()));
    match row.insert(&peer.db).await {
        Ok(row) => Ok(Json(Inserted { committed: true, seq: row.seq })),
        Err(error) => {
            eprintln!("{error}");
            Err(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

async fn answer(Json(new): Json<NewRow>) -> Json<Inserted> {
    Json(Inserted { committed: !new.key.is_empty(), seq: i64::try_from(new.edits.len()).unwrap_or_default() })
}

/// One who has rows inserted.
#[derive(Debug)]
pub(crate) struct Inserter {
    /// Edits of the length that the server's have, but for a number in them.
    edits: String,
    next: Rc<Cell<u64>>,
    /// Rows that were acknowledged.
    pub(crate) inserted: u64,
}

impl Inserter {
    pub(crate) fn of(row: &Row, next: &Rc<Cell<u64>>) -> io::Result<Inserter> {
        let edits = String::from_utf8(row.edits.clone()).map_err(io::Error::other)?;
        // As a text within JSON, without the quotes around it.
        let quoted = serde_json::Value::from(edits).to_string();
        Ok(Inserter { edits: quoted[1..quoted.len() - 1].to_owned(), next: Rc::clone(next), inserted: 0 })
    }
}

impl Caller for Inserter {
    fn request(&mut self, body: &mut String) {
        let mut buffer = Uuid::encode_buffer();
        let key = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
        let number = self.next.replace(self.next.get() + 1);
        // The number stands where the last bytes were, so that the length stays.
        let digits = number.to_string();
        let kept = &self.edits[..self.edits.len().saturating_sub(digits.len())];
        let row = format_args!(r#"{{"key":"{key}","message":"{MESSAGE}","edits":"{kept}{digits}"}}"#);
        body.write_fmt(row).expect("memory takes text");
    }

    fn answered(&mut self, answer: &[u8]) -> Result<(), String> {
        match find(answer, br#""committed":true"#) {
            Some(_) => {
                self.inserted += 1;
                Ok(())
            }
            None => Err(format!("not inserted: {}", String::from_utf8_lossy(answer))),
        }
    }
}

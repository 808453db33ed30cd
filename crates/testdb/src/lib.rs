//! A database for one test: a file in a temporary folder, or a schema of the PostgreSQL server that `LMLANG_TEST_POSTGRES`
//! names.
//!
//! The same tests run on both; `cargo xtask test` does it and brings the server. It knows nothing of what is in a
//! database: where it is, it says as text, which the store reads.

pub mod disk;

use std::fmt;
use std::path::Path;

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement};
use tempfile::TempDir;
use uuid::Uuid;

/// Names the server, by its URL.
const SERVER: &str = "LMLANG_TEST_POSTGRES";

/// Names the same server with `sslmode=verify-full` and an authority in a folder with certificates.
const TLS_SERVER: &str = "LMLANG_TEST_POSTGRES_TLS";

/// An empty database. A file goes with its folder when this is dropped, a schema with the server.
#[derive(Debug)]
pub struct TestDb {
    folder: TempDir,
    schema: Option<Schema>,
}

#[derive(Debug)]
struct Schema {
    name: String,
    /// With the schema as the one that is looked at, and as what the sessions are called.
    url: String,
    /// The same over TLS.
    tls_url: Option<String>,
}

impl TestDb {
    /// An empty database of the kind that the tests are run on.
    ///
    /// # Panics
    ///
    /// If the folder cannot be made, or the server cannot be asked.
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let schema = match std::env::var(SERVER) {
            Ok(server) => Some(Schema::new(&server).await),
            Err(_) => None,
        };
        Self { folder, schema }
    }

    /// An empty database in a file, whatever the tests are run on.
    ///
    /// # Panics
    ///
    /// If the folder cannot be made.
    pub fn in_file() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder can be made"), schema: None }
    }

    /// A folder of its own, with the database in it if that is a file.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        self.schema.is_none()
    }

    /// Runs a statement beside the store. Bytes are written as SQLite has them: `x'00ff'`.
    ///
    /// # Panics
    ///
    /// If the database refuses it.
    pub async fn execute(&self, sql: &str) {
        let db = self.connect().await;
        let sql = if self.is_file() { sql.to_owned() } else { sql.replace("x'", r"'\x") };
        db.execute_unprepared(&sql).await.expect("the database takes the statement");
        db.close().await.expect("nothing is left to write");
    }

    /// The number that a query answers.
    ///
    /// # Panics
    ///
    /// If the database refuses it, or it answers something else.
    pub async fn number(&self, sql: &str) -> i64 {
        let db = self.connect().await;
        let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql)).await;
        let row = row.expect("the database takes the query").expect("the query has a row");
        db.close().await.expect("nothing is left to write");
        row.try_get_by_index(0).expect("the row is a number")
    }

    /// Ends all connections to a schema, in the middle of whatever they do. A file has none.
    ///
    /// # Panics
    ///
    /// If the server refuses it.
    pub async fn disconnect_all(&self) {
        let Some(schema) = &self.schema else { return };
        let others = format!("application_name = '{}' AND pid <> pg_backend_pid()", schema.name);
        self.execute(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")).await;
    }

    /// A connection beside the store.
    ///
    /// # Panics
    ///
    /// If the database does not answer.
    pub async fn connect(&self) -> DatabaseConnection {
        let url = match &self.schema {
            Some(schema) => schema.url.clone(),
            None => format!("sqlite://{}?mode=rwc", self.file().display()),
        };
        Database::connect(url).await.expect("the database answers")
    }

    /// Where the same database is over TLS, if the tests have that.
    pub fn tls_url(&self) -> Option<&str> {
        self.schema.as_ref()?.tls_url.as_deref()
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("lmlang.db")
    }
}

/// Where it is: a path, or a URL.
impl fmt::Display for TestDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => f.write_str(&schema.url),
            None => self.file().display().fmt(f),
        }
    }
}

impl Schema {
    async fn new(server: &str) -> Self {
        let name = format!("t_{}", Uuid::now_v7().simple());
        let db = Database::connect(server).await.expect("the server answers");
        let create = Statement::from_string(DbBackend::Postgres, format!("CREATE SCHEMA {name}"));
        db.execute_raw(create).await.expect("a schema can be made");
        db.close().await.expect("the connection ends");
        let url = |server: &str| {
            let and = if server.contains('?') { '&' } else { '?' };
            format!("{server}{and}options=-c%20search_path%3D{name}&application_name={name}")
        };
        let tls_url = std::env::var(TLS_SERVER).ok().map(|server| url(&server));
        Self { url: url(server), tls_url, name }
    }
}

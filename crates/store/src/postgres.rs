//! A PostgreSQL server: judging a database of it, and bringing that to the newest schema.
//!
//! Other processes may do the same at the same moment. No feature is needed here that servers which speak the same
//! protocol lack: row locks, unique indexes, transactions.

use std::time::{Duration, Instant};

use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sea_orm::sqlx::{ConnectOptions, Connection};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, SqlxPostgresConnector, Statement, TransactionTrait,
};

use crate::entity_values;
use crate::fault::Fault;
use crate::location::{Location, PostgresUrl};
use crate::open::{self, OpenError, Ready, Schema, without_upkeep};
use crate::store::Options;
use crate::writer::{Access, reach};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// After which a process that stands still in a transaction loses it with its locks, in seconds: others wait for them.
const STANDSTILL: u32 = 10;

/// Opens a database.
pub(crate) async fn open(url: &PostgresUrl, options: &Options) -> Result<Ready, OpenError> {
    let location = Location::Postgres(url.clone());
    let failed = |source: Fault| OpenError::Database { location: location.clone(), source };
    url.files().check()?;
    let writing = session(url.options(), options.busy_timeout);
    // The server may be starting, or not be there.
    let first = reach(&writing, options.busy_timeout).await.map_err(|failure| failed(failure.into()))?;
    first.close().await.map_err(|error| failed(error.into()))?;
    // Another process may be making the same tables: one of the two fails, and finds them then.
    let until = Instant::now() + options.busy_timeout;
    let schema = loop {
        match bring_up(&location, &writing).await {
            Err(OpenError::Database { .. }) if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            brought => break brought?,
        }
    };
    let reader = open_readers(&writing, options).await.map_err(failed)?;
    let access = Access::Postgres { options: Box::new(writing), patience: options.busy_timeout };
    Ok(Ready { access, aside: None, reader, lock: None, location, is_new: schema == Schema::Missing })
}

/// The connections that read. They cannot write by mistake.
async fn open_readers(writing: &PgConnectOptions, options: &Options) -> Result<DatabaseConnection, Fault> {
    let reading = writing.clone().options([("default_transaction_read_only", "on")]);
    let pool = without_upkeep(PgPoolOptions::new())
        .max_connections(options.readers)
        .min_connections(1)
        .acquire_timeout(options.busy_timeout)
        // The server may have been started again meanwhile.
        .test_before_acquire(true)
        .connect_with(reading)
        .await?;
    Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(pool))
}

/// Brings a database to the newest schema, if it is ours, and answers what it had.
async fn bring_up(location: &Location, writing: &PgConnectOptions) -> Result<Schema, OpenError> {
    let failed = |source: Fault| OpenError::Database { location: location.clone(), source };
    let pool = without_upkeep(PgPoolOptions::new()).max_connections(1).connect_with(writing.clone()).await;
    let db = SqlxPostgresConnector::from_sqlx_postgres_pool(pool.map_err(|error| failed(error.into()))?);
    let done = match judge(location, &db).await {
        Ok(schema @ (Schema::Missing | Schema::Old)) => migrate(&db).await.map(|()| schema).map_err(failed),
        judged => judged,
    };
    db.close().await.map_err(|error| failed(error.into()))?;
    done
}

/// Judges the schema of a database. Changes nothing.
async fn judge(location: &Location, db: &DatabaseConnection) -> Result<Schema, OpenError> {
    let read = async {
        let applied = lmlang_migrations::applied(db).await?;
        // One that is not ours may have been made by the same library.
        let ours = lmlang_migrations::known().first().is_some_and(|first| applied.contains(first));
        let tables = match ours {
            true => 0,
            false => tables(db).await?,
        };
        Ok::<_, Fault>((applied, tables))
    };
    let failed = |source: Fault| OpenError::Database { location: location.clone(), source };
    match read.await.map_err(failed)? {
        (applied, 0) => open::judge(location, &applied),
        (_, _) => Err(OpenError::Foreign { location: location.clone() }),
    }
}

/// How many tables there are where new ones would be made.
async fn tables(db: &DatabaseConnection) -> Result<i64, Fault> {
    let sql = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()";
    let row = db.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await?;
    let row = row.ok_or(Fault::Row { table: "tables", column: "count" })?;
    Ok(row.try_get_by_index(0)?)
}

/// Runs what is pending in one transaction: a process that dies leaves the old schema.
async fn migrate(db: &DatabaseConnection) -> Result<(), Fault> {
    let transaction = db.begin().await?;
    lmlang_migrations::migrate(&transaction).await?;
    entity_values::fill(&transaction).await?;
    transaction.commit().await?;
    Ok(())
}

/// How a session behaves, whatever the server's usual way is.
fn session(options: PgConnectOptions, busy_timeout: Duration) -> PgConnectOptions {
    let options = match options.get_application_name() {
        Some(_) => options,
        None => options.application_name("lmlang"),
    };
    options.disable_statement_logging().options([
        // A commit is on the disk before it is answered.
        ("synchronous_commit", "on".to_owned()),
        ("lock_timeout", format!("{}ms", busy_timeout.as_millis())),
        ("idle_in_transaction_session_timeout", format!("{STANDSTILL}s")),
        ("client_min_messages", "warning".to_owned()),
    ])
}

//! The one connection that writes.

use sea_orm::sea_query::{QueryStatementWriter, SqliteQueryBuilder, Values};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, SqliteConnection, query_with};
use sea_query_sqlx::SqlxValues;

use crate::fault::Failure;
use crate::faults::{Faults, Step};

/// A statement and its values.
///
/// Cloned to run again after a lost connection.
#[derive(Debug, Clone)]
pub(crate) struct Sql {
    text: String,
    values: Values,
}

impl Sql {
    pub(crate) fn new(statement: &impl QueryStatementWriter) -> Self {
        let (text, values) = statement.build(SqliteQueryBuilder);
        Self { text, values }
    }
}

/// Holds one connection for as long as the store is open, and opens another when it breaks.
///
/// It does not come from a pool: a pool pings a connection whenever it is taken and given back, which costs more than
/// the commit.
#[derive(Debug)]
pub(crate) struct Writer {
    options: SqliteConnectOptions,
    connection: Option<SqliteConnection>,
    faults: Faults,
    opened: u64,
}

impl Writer {
    pub(crate) fn new(options: SqliteConnectOptions, faults: Faults) -> Self {
        Self { options, connection: None, faults, opened: 0 }
    }

    /// How often a connection was opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Opens the connection if there is none.
    pub(crate) async fn connect(&mut self) -> Result<&mut SqliteConnection, Failure> {
        if self.connection.is_none() {
            self.connection = Some(self.options.connect().await?);
            self.opened += 1;
        }
        Ok(self.connection.as_mut().expect("opened above"))
    }

    /// Asks the test hook; a lost connection is lost in earnest.
    pub(crate) async fn step(&mut self, step: Step) -> Result<(), Failure> {
        let answer = self.faults.at(step).await;
        self.noted(answer).await
    }

    /// Runs one statement in a transaction of its own, and answers with the number of rows it changed.
    pub(crate) async fn execute(&mut self, sql: Sql) -> Result<u64, Failure> {
        let connection = self.connect().await?;
        let result = query_with(AssertSqlSafe(sql.text), SqlxValues(sql.values)).execute(connection).await;
        self.noted(result.map(|done| done.rows_affected()).map_err(Failure::from)).await
    }

    /// Runs one statement and answers with its first row.
    pub(crate) async fn first_row(&mut self, sql: Sql) -> Result<Option<SqliteRow>, Failure> {
        let connection = self.connect().await?;
        let result =
            query_with(AssertSqlSafe(sql.text), SqlxValues(sql.values)).fetch_optional(connection).await;
        self.noted(result.map_err(Failure::from)).await
    }

    /// Takes the write lock at once: a transaction that starts by reading could not wait for it later.
    pub(crate) async fn begin(&mut self) -> Result<(), Failure> {
        self.plain("BEGIN IMMEDIATE").await
    }

    /// Commits what ran since [`Writer::begin`] if it went well, and takes it back otherwise.
    pub(crate) async fn finish<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let outcome = match outcome {
            Ok(value) => match self.step(Step::BeforeCommit).await {
                Ok(()) => self.plain("COMMIT").await.map(|()| value),
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        if outcome.is_err() && self.connection.is_some() && self.plain("ROLLBACK").await.is_err() {
            self.disconnect().await;
        }
        outcome
    }

    /// Runs several statements in one transaction, and answers with the rows that each changed.
    pub(crate) async fn transaction(&mut self, statements: Vec<Sql>) -> Result<Vec<u64>, Failure> {
        self.begin().await?;
        let mut changed = Vec::with_capacity(statements.len());
        let mut outcome = Ok(());
        for statement in statements {
            match self.execute(statement).await {
                Ok(rows) => changed.push(rows),
                Err(failure) => {
                    outcome = Err(failure);
                    break;
                }
            }
        }
        self.finish(outcome.map(|()| changed)).await
    }

    /// Ends the connection; the last one of a database folds the write-ahead log into the file.
    pub(crate) async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "closing the writing connection failed");
        }
    }

    async fn plain(&mut self, sql: &'static str) -> Result<(), Failure> {
        let result = self.connect().await?.execute(sql).await;
        self.noted(result.map(|_| ()).map_err(Failure::from)).await
    }

    async fn noted<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if matches!(result, Err(Failure::Unknown(_))) {
            self.disconnect().await;
        }
        result
    }
}

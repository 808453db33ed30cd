//! The one connection of a process that writes.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use sea_orm::sea_query::Values;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sea_orm::sqlx::{
    AssertSqlSafe, ConnectOptions, Connection as _, Decode, Executor, Postgres, Row, Sqlite, Type,
    query_with, raw_sql,
};
use sea_query_sqlx::SqlxValues;

use crate::entry::{Head, ProgramKey};
use crate::fault::{Failure, Fault};
use crate::faults::{Faults, Step};
use crate::place::Place;
use crate::sql::{Dialect, Sql};
use crate::tls;

/// How the database is reached.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// A file of this process alone.
    Sqlite(Box<SqliteConnectOptions>, Place),
    /// A server, whom other processes may ask too.
    Postgres {
        options: Box<PgConnectOptions>,
        /// How long a connection is tried for: a server may be about to come back.
        patience: Duration,
    },
}

impl Access {
    /// Whether the database is where it was opened. Of a server that is not known before it is asked.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Self::Sqlite(_, place) => place.is_kept(),
            Self::Postgres { .. } => true,
        }
    }
}

#[derive(Debug)]
enum Connection {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

/// Holds one connection for as long as the store is open, and opens another when it breaks.
///
/// It does not come from a pool: a pool pings a connection whenever it is taken and given back, which costs more than
/// the commit.
#[derive(Debug)]
pub(crate) struct Writer {
    access: Access,
    connection: Option<Connection>,
    faults: Faults,
    opened: u64,
}

/// Between two attempts to reach a server.
const PAUSE: Duration = Duration::from_millis(50);

/// Begins a transaction of a file.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// How many statements of a transaction go to a file at once. Each way to the thread that has the file and back costs about as
/// much as a statement; and of every number there is a text that SQLite keeps prepared.
const TOGETHER: usize = 16;

/// How often a text that goes to a file changes from one kind of statement to another, if it is kept prepared.
const USUAL: usize = 8;

/// Takes a turn among all processes that write; held until the transaction ends.
const TURN: &str = r#"SELECT "turn" FROM "commit_order" FOR UPDATE"#;

impl Writer {
    pub(crate) fn new(access: Access, faults: Faults) -> Self {
        Self { access, connection: None, faults, opened: 0 }
    }

    /// How often a connection was opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Whether nobody else writes to the database.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.access, Access::Sqlite(..))
    }

    /// Opens the connection if there is none.
    pub(crate) async fn connect(&mut self) -> Result<(), Failure> {
        self.connection().await.map(|_| ())
    }

    async fn connection(&mut self) -> Result<&mut Connection, Failure> {
        if !self.access.is_there() {
            return Err(Failure::Fault(Fault::Moved));
        }
        if self.connection.is_none() {
            let connection = match &self.access {
                Access::Sqlite(options, _) => Connection::Sqlite(Box::new(options.connect().await?)),
                Access::Postgres { options, patience } => {
                    Connection::Postgres(Box::new(reach(options, *patience).await?))
                }
            };
            self.connection = Some(connection);
            self.opened += 1;
        }
        Ok(self.connection.as_mut().expect("opened above"))
    }

    /// Asks the test hook; a lost connection is lost in earnest.
    pub(crate) async fn step(&mut self, step: Step) -> Result<(), Failure> {
        let answer = self.faults.at(step).await;
        self.noted(answer).await
    }

    /// Runs one statement, in a transaction of its own if none is begun, and answers with the number of rows it changed.
    pub(crate) async fn execute(&mut self, sql: &Sql) -> Result<u64, Failure> {
        Ok(self.execute_all(&[sql]).await?.into_iter().sum())
    }

    /// Runs one statement and answers with the first column of its first row.
    pub(crate) async fn value<T>(&mut self, sql: &Sql) -> Result<Option<T>, Failure>
    where
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>,
    {
        let result = match self.connection().await? {
            Connection::Sqlite(connection) => {
                let (text, values) = sql.build(Dialect::Sqlite);
                let query = query_with(AssertSqlSafe(text), SqlxValues(values));
                let row = query.fetch_optional(&mut **connection).await;
                row.and_then(|row| row.map(|row| row.try_get(0)).transpose())
            }
            Connection::Postgres(connection) => {
                let (text, values) = sql.build(Dialect::Postgres);
                let query = query_with(AssertSqlSafe(text), SqlxValues(values));
                let row = query.fetch_optional(&mut **connection).await;
                row.and_then(|row| row.map(|row| row.try_get(0)).transpose())
            }
        };
        self.noted(result.map_err(Failure::from)).await
    }

    /// Begins a transaction that is alone among those that do.
    pub(crate) async fn begin(&mut self) -> Result<(), Failure> {
        let begun = match self.access {
            // Takes the write lock at once: a transaction that starts by reading could not wait for it later.
            Access::Sqlite(..) => self.plain(BEGIN).await,
            Access::Postgres { .. } => {
                self.plain(&format!("BEGIN; {TURN}")).await.map_err(Failure::of_waiting)
            }
        };
        self.or_roll_back(begun).await
    }

    /// Begins a transaction that appends to the logs of some programs, and answers with their newest entries; of programs
    /// that are not there, nothing. For a database that others write to as well.
    pub(crate) async fn begin_appending(
        &mut self,
        programs: impl IntoIterator<Item = ProgramKey>,
    ) -> Result<HashMap<ProgramKey, Head>, Failure> {
        self.begin_with_heads(programs, TURN).await
    }

    async fn begin_with_heads(
        &mut self,
        programs: impl IntoIterator<Item = ProgramKey>,
        and: &str,
    ) -> Result<HashMap<ProgramKey, Head>, Failure> {
        let heads = locked_heads(programs);
        let result = match self.connection().await? {
            Connection::Sqlite(_) => return Ok(HashMap::new()),
            Connection::Postgres(connection) => {
                // One way to the server and back.
                let text = format!("BEGIN; {heads}; {and}");
                raw_sql(AssertSqlSafe(text)).fetch_all(&mut **connection).await
            }
        };
        let rows = self.noted(result.map_err(Failure::from)).await.map_err(Failure::of_waiting);
        let rows = self.or_roll_back(rows).await?;
        // The turn is a row as well.
        rows.iter().filter(|row| row.len() == HEAD_COLUMNS).map(head).collect()
    }

    /// Begins a transaction that keeps other processes from a log, and answers with its newest entry. It takes its turn when
    /// there is something to write.
    pub(crate) async fn begin_holding(&mut self, program: ProgramKey) -> Result<Option<Head>, Failure> {
        let heads = self.begin_with_heads([program], "").await?;
        Ok(heads.get(&program).copied())
    }

    /// Takes a turn in a transaction that holds a log.
    pub(crate) async fn take_turn(&mut self) -> Result<(), Failure> {
        self.plain(TURN).await.map_err(Failure::of_waiting)
    }

    /// Commits what ran since a transaction was begun if it went well, and takes it back otherwise.
    pub(crate) async fn finish<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let outcome = match outcome {
            Ok(value) => match self.step(Step::BeforeCommit).await {
                Ok(()) => self.plain("COMMIT").await.map(|()| value),
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        self.or_roll_back(outcome).await
    }

    async fn or_roll_back<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        if outcome.is_err() {
            self.roll_back().await;
        }
        outcome
    }

    /// Takes back what ran since a transaction was begun.
    pub(crate) async fn roll_back(&mut self) {
        if self.connection.is_some() && self.plain("ROLLBACK").await.is_err() {
            self.disconnect().await;
        }
    }

    /// Runs several statements in one transaction, and answers with the rows that each changed. If they end the life of a
    /// program, nothing else happens to it meanwhile.
    pub(crate) async fn transaction(
        &mut self,
        statements: &[&Sql],
        of: Option<ProgramKey>,
    ) -> Result<Vec<u64>, Failure> {
        if self.is_alone() {
            return self.whole_transaction(statements).await;
        }
        match of {
            // Heads come before the turn, always.
            Some(program) => drop(self.begin_appending([program]).await?),
            None => self.begin().await?,
        }
        let outcome = self.execute_all(statements).await;
        self.finish(outcome).await
    }

    /// A transaction of a file, with its beginning and its end in the same ways to the thread that has the file.
    async fn whole_transaction(&mut self, statements: &[&Sql]) -> Result<Vec<u64>, Failure> {
        // Nothing has begun yet that would have to be taken back; to whoever asked it is the same.
        self.step(Step::BeforeCommit).await?;
        let (begin, commit) = (Sql::Plain(BEGIN), Sql::Plain("COMMIT"));
        let mut whole = Vec::with_capacity(statements.len() + 2);
        whole.push(&begin);
        whole.extend(statements);
        whole.push(&commit);
        let outcome = self.execute_all(&whole).await;
        let mut changed = self.or_roll_back(outcome).await?;
        changed.pop();
        changed.remove(0);
        Ok(changed)
    }

    /// Runs several statements, and answers with the rows that each changed.
    pub(crate) async fn execute_all(&mut self, statements: &[&Sql]) -> Result<Vec<u64>, Failure> {
        let mut changed = Vec::with_capacity(statements.len());
        for together in statements.chunks(TOGETHER + 2) {
            let outcome = match self.connection().await? {
                Connection::Sqlite(connection) => execute_together(connection, together, &mut changed).await,
                Connection::Postgres(connection) => execute_in_turn(connection, together, &mut changed).await,
            };
            self.noted(outcome).await?;
        }
        Ok(changed)
    }

    /// Ends the connection; the last one of a database file folds the write-ahead log into the file.
    pub(crate) async fn disconnect(&mut self) {
        let closed = match self.connection.take() {
            None => return,
            Some(Connection::Sqlite(connection)) => connection.close().await,
            Some(Connection::Postgres(connection)) => connection.close().await,
        };
        if let Err(error) = closed {
            tracing::warn!(%error, "closing the writing connection failed");
        }
    }

    /// Runs statements without parameters.
    pub(crate) async fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        let result = match self.connection().await? {
            Connection::Sqlite(connection) => {
                connection.execute(raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(|_| ())
            }
            Connection::Postgres(connection) => {
                connection.execute(raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(|_| ())
            }
        };
        self.noted(result.map_err(Failure::from)).await
    }

    async fn noted<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if matches!(result, Err(Failure::Unknown(_))) {
            self.disconnect().await;
        }
        result
    }
}

/// Runs several statements as one text, and adds to `changed` the rows that each changed.
async fn execute_together(
    connection: &mut SqliteConnection,
    statements: &[&Sql],
    changed: &mut Vec<u64>,
) -> Result<(), Failure> {
    let (mut text, mut all) = (String::new(), Values(Vec::new()));
    let (mut kinds, mut newest) = (0, 0..0);
    for statement in statements {
        let (one, values) = statement.build(Dialect::Sqlite);
        kinds += usize::from(one != text[newest]);
        newest = text.len()..text.len() + one.len();
        text.push_str(&one);
        text.push(';');
        all.0.extend(values.0);
    }
    // Of many of various kinds together there is hardly the same text again.
    let is_usual = kinds <= USUAL;
    let query = query_with(AssertSqlSafe(text), SqlxValues(all)).persistent(is_usual);
    let mut done = connection.execute_many(query);
    // No longer than until the last of them has answered: to be told that nothing follows is to be woken once more.
    for _ in statements {
        let one = done.try_next().await?;
        // The thread that has the file may have ended in the middle.
        let one = one.ok_or(Failure::Unknown(Fault::ConnectionLost))?;
        changed.push(one.rows_affected());
    }
    Ok(())
}

/// Runs several statements one after the other, and adds to `changed` the rows that each changed.
async fn execute_in_turn(
    connection: &mut PgConnection,
    statements: &[&Sql],
    changed: &mut Vec<u64>,
) -> Result<(), Failure> {
    for statement in statements {
        let (text, values) = statement.build(Dialect::Postgres);
        let query = query_with(AssertSqlSafe(text), SqlxValues(values));
        changed.push(query.execute(&mut *connection).await?.rows_affected());
    }
    Ok(())
}

/// Asks for the newest numbers of some logs, and keeps other processes from moving them on. In one order everywhere, so
/// that two never wait for each other.
fn locked_heads(programs: impl IntoIterator<Item = ProgramKey>) -> String {
    let mut keys = String::new();
    for program in programs {
        // Writing to a string does not fail.
        write!(keys, ", {program}").ok();
    }
    // No program has the key 0.
    format!(
        r#"SELECT "program", "seq", "entry" FROM "heads" WHERE "program" IN (0{keys}) ORDER BY "program" FOR UPDATE"#
    )
}

/// How many columns that has.
const HEAD_COLUMNS: usize = 3;

fn head(row: &PgRow) -> Result<(ProgramKey, Head), Failure> {
    let head = Head { seq: row.try_get::<i64, _>(1)?.cast_unsigned(), id: row.try_get(2)? };
    Ok((ProgramKey(row.try_get(0)?), head))
}

/// Connects to a server, which may be starting, or have all the connections that it takes.
pub(crate) async fn reach(options: &PgConnectOptions, patience: Duration) -> Result<PgConnection, Failure> {
    let until = Instant::now() + patience;
    loop {
        let failure = match options.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) => tls::refusal(&error).map_or_else(|| Failure::from(error), Failure::Fault),
        };
        match failure {
            // Nothing was asked yet, so nothing is unknown.
            Failure::Unknown(fault) | Failure::Fault(fault @ Fault::NoConnection) => {
                if Instant::now() >= until {
                    return Err(Failure::Fault(fault));
                }
                tokio::time::sleep(PAUSE).await;
            }
            failure => return Err(failure),
        }
    }
}

//! Why the database could not do its work.

use std::sync::Arc;

use sea_orm::sqlx::postgres::PgDatabaseError;
use sea_orm::{DbErr, RuntimeErr, sqlx};

/// Why the database could not do its work.
///
/// Nothing here is the caller's mistake. Whether a write has happened is known for every variant but [`Fault::Device`]
/// and [`Fault::ConnectionLost`]: there the answer got lost and asking again failed too, so a retry must carry the same
/// idempotency key.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// There is no room left; nothing was written.
    #[error("the disk is full")]
    DiskFull,
    /// Another connection held the database for longer than the busy time-out; nothing was written.
    #[error("the database is locked by another connection")]
    Busy,
    /// Another process has kept the log of the program, or the turn to write, for longer than the busy time-out; nothing was
    /// written.
    #[error("another process has held the log for longer than a change waits")]
    Held,
    /// No connection was free, or could be made, for as long as one is waited for; nothing was asked.
    #[error("no connection to the database could be had in time")]
    NoConnection,
    /// The file or its folder may not be written.
    #[error("the database can only be read")]
    ReadOnly,
    /// The file is not where it was opened any more; nothing was written.
    #[error("the file of the database was moved, removed or replaced")]
    Moved,
    /// The file system failed.
    #[error("the database could not be read or written")]
    Device(#[source] Arc<sqlx::Error>),
    /// The content of a file is not what a database looks like.
    #[error("the files of the database are damaged")]
    Damaged(#[source] Arc<sqlx::Error>),
    /// The connection went away in the middle of a statement.
    #[error("the connection to the database was lost")]
    ConnectionLost,
    /// The server does not let us in.
    #[error("the server of the database refuses: {0}")]
    Denied(String),
    /// There is no connection that is as safe as it has to be.
    #[error("there is no secure connection to the server of the database: {0}")]
    Tls(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A stored value is not one that this binary writes.
    #[error("column `{column}` of table `{table}` holds a value that cannot be read")]
    Row {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
    /// The database refused a statement that it should have run.
    #[error("the database refused a statement")]
    Refused(#[source] Arc<DbErr>),
}

impl Fault {
    /// Whether the same may go well a while later, by what others do: the server of the database comes back, a log is let go,
    /// there is room again. What is there and cannot be read stays so, and so does what the database does not allow.
    pub fn may_pass(&self) -> bool {
        match self {
            Fault::DiskFull
            | Fault::Busy
            | Fault::Held
            | Fault::NoConnection
            | Fault::ReadOnly
            | Fault::Device(_)
            | Fault::ConnectionLost
            | Fault::Closed => true,
            Fault::Moved
            | Fault::Damaged(_)
            | Fault::Denied(_)
            | Fault::Tls(_)
            | Fault::Row { .. }
            | Fault::Refused(_) => false,
        }
    }
}

/// Why a write did not happen, as the writing connection sees it.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// A unique index has the value already.
    Clash,
    /// The answer got lost: the write may have happened.
    Unknown(Fault),
    /// It did not happen.
    Fault(Fault),
}

impl Failure {
    /// The same of a statement that waits for what other processes hold.
    pub(crate) fn of_waiting(self) -> Failure {
        match self {
            Failure::Fault(Fault::Busy) => Failure::Fault(Fault::Held),
            other => other,
        }
    }
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        let Some(cause) = cause(&error) else {
            return Self::Fault(Fault::Refused(Arc::new(error)));
        };
        match &*cause {
            sqlx::Error::Io(_) => Self::Unknown(Fault::Device(cause)),
            sqlx::Error::WorkerCrashed | sqlx::Error::Protocol(_) => Self::Unknown(Fault::ConnectionLost),
            sqlx::Error::Tls(reason) => Self::Fault(Fault::Tls(reason.to_string())),
            sqlx::Error::PoolClosed => Self::Fault(Fault::Closed),
            sqlx::Error::PoolTimedOut => Self::Fault(Fault::NoConnection),
            sqlx::Error::Database(database) => match verdict(database.as_ref()) {
                Some(Verdict::Busy) => Self::Fault(Fault::Busy),
                Some(Verdict::Full) => Self::Fault(Fault::NoConnection),
                Some(Verdict::ReadOnly) => Self::Fault(Fault::ReadOnly),
                Some(Verdict::Device) => Self::Unknown(Fault::Device(cause)),
                Some(Verdict::Damaged) => Self::Fault(Fault::Damaged(cause)),
                Some(Verdict::DiskFull) => Self::Fault(Fault::DiskFull),
                Some(Verdict::Clash) => Self::Clash,
                Some(Verdict::Lost) => Self::Unknown(Fault::ConnectionLost),
                Some(Verdict::Denied) => Self::Fault(Fault::Denied(database.message().to_owned())),
                None => Self::Fault(Fault::Refused(Arc::new(error))),
            },
            // Someone else's enum: what is left are mistakes in a statement or its values.
            _ => Self::Fault(Fault::Refused(Arc::new(error))),
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::from(DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error))))
    }
}

impl From<Failure> for Fault {
    /// For statements that cannot clash.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Clash => Self::Refused(Arc::new(DbErr::RecordNotInserted)),
            Failure::Unknown(fault) | Failure::Fault(fault) => fault,
        }
    }
}

impl From<DbErr> for Fault {
    fn from(error: DbErr) -> Self {
        Failure::from(error).into()
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Failure::from(error).into()
    }
}

fn cause(error: &DbErr) -> Option<Arc<sqlx::Error>> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
        | DbErr::Exec(RuntimeErr::SqlxError(cause))
        | DbErr::Query(RuntimeErr::SqlxError(cause)) => Some(Arc::clone(cause)),
        DbErr::ConnectionAcquire(sea_orm::ConnAcquireErr::Timeout) => {
            Some(Arc::new(sqlx::Error::PoolTimedOut))
        }
        DbErr::ConnectionAcquire(sea_orm::ConnAcquireErr::ConnectionClosed) => {
            Some(Arc::new(sqlx::Error::PoolClosed))
        }
        // Someone else's enum.
        _ => None,
    }
}

/// What the codes of a database come to.
enum Verdict {
    Busy,
    Full,
    ReadOnly,
    Device,
    Damaged,
    DiskFull,
    Clash,
    Lost,
    Denied,
}

fn verdict(error: &dyn sqlx::error::DatabaseError) -> Option<Verdict> {
    let code = error.code()?;
    match error.try_downcast_ref::<PgDatabaseError>() {
        Some(_) => of_postgres(&code),
        None => of_sqlite(code.parse().ok()?),
    }
}

/// By extended result code, whose low byte is the primary one: <https://sqlite.org/rescode.html>
fn of_sqlite(code: u32) -> Option<Verdict> {
    Some(match (code & 0xff, code) {
        (5 | 6, _) => Verdict::Busy,
        (8, _) => Verdict::ReadOnly,
        (10 | 14, _) => Verdict::Device,
        (11 | 26, _) => Verdict::Damaged,
        (13, _) => Verdict::DiskFull,
        // Only what must be unique is told apart by asking who has it.
        (19, 1555 | 2067) => Verdict::Clash,
        _ => return None,
    })
}

/// By SQLSTATE: <https://www.postgresql.org/docs/current/errcodes-appendix.html>
fn of_postgres(code: &str) -> Option<Verdict> {
    Some(match code {
        "23505" => Verdict::Clash,
        // A transaction that gave way to another, a lock that was waited for in vain.
        "40001" | "40P01" | "55P03" | "57014" => Verdict::Busy,
        // As many connections as the server takes.
        "53300" => Verdict::Full,
        "25006" => Verdict::ReadOnly,
        "53100" => Verdict::DiskFull,
        "58030" => Verdict::Device,
        "XX001" | "XX002" => Verdict::Damaged,
        // The server goes down or comes up, or has ended the session.
        "25P03" | "57P01" | "57P02" | "57P03" | "57P05" => Verdict::Lost,
        _ if code.starts_with("08") => Verdict::Lost,
        // Who asks, and for which database.
        "3D000" | "42501" => Verdict::Denied,
        _ if code.starts_with("28") => Verdict::Denied,
        _ => return None,
    })
}

//! The connections that read, with the test hook in front of them.

use std::ops::Deref;
use std::sync::Arc;

use sea_orm::entity::prelude::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, Statement,
    sqlx,
};

use crate::faults::Faults;

/// The connections that read. Whoever takes one for more than a statement asks the hook first: [`Reader::ask`].
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    connections: DatabaseConnection,
    faults: Faults,
}

impl Reader {
    pub(crate) fn new(connections: DatabaseConnection, faults: Faults) -> Self {
        Self { connections, faults }
    }

    /// Whether the next statement gets through.
    pub(crate) fn ask(&self) -> Result<(), DbErr> {
        match self.faults.is_read_lost() {
            false => Ok(()),
            true => Err(DbErr::Query(RuntimeErr::SqlxError(Arc::new(sqlx::Error::WorkerCrashed)))),
        }
    }
}

impl Deref for Reader {
    type Target = DatabaseConnection;

    fn deref(&self) -> &DatabaseConnection {
        &self.connections
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Reader {
    fn get_database_backend(&self) -> DbBackend {
        self.connections.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.ask()?;
        self.connections.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.ask()?;
        self.connections.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.ask()?;
        self.connections.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.ask()?;
        self.connections.query_all_raw(statement).await
    }
}

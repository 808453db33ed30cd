//! One transaction on the server, as what patches are planned on and what questions are asked about.
//!
//! It has taken the turn, so that nobody else writes entities until it has ended: all that it reads is of one moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::task::JoinError;
use tokio::time::{Instant, timeout, timeout_at};

use super::server::{self, Open, Row, Server};
use super::statements;
use crate::graph_store::GraphError;

/// How long a transaction may take once it has its turn.
const MOST_TIME: Duration = Duration::from_secs(10);
/// How long the server may take to begin or to end one.
const MOST_ENDS: Duration = Duration::from_secs(10);
/// How long the turn is waited for, which another process may have.
pub(super) const MOST_TURN: Duration = Duration::from_secs(30);
/// How long a transaction is left alone that is still at work when it is to end.
const REST: Duration = Duration::from_millis(250);

/// Why a transaction failed.
#[derive(Debug, Error)]
pub(super) enum Failed {
    /// The server did not do it, or could not be asked.
    #[error("{0}")]
    Server(#[from] server::Failed),
    /// It took too long.
    #[error("it takes more than {} s", MOST_TIME.as_secs())]
    Time,
    /// The server has said nothing.
    #[error("the server has not {what} within {} s", after.as_secs())]
    Silent { what: &'static str, after: Duration },
    /// Others of this process have not let go of the turn.
    #[error("others have not let their turn go within {} s", MOST_TURN.as_secs())]
    Crowded,
    /// The process ends.
    #[error("the process is being stopped")]
    Stopped,
    /// An entity has more relations than are deleted with it.
    #[error("an entity is deleted with {limit} relations at most")]
    Detached { limit: usize },
    /// A node or relationship is not as they are written here.
    #[error("there is a node or a relationship that something else has made or changed")]
    Foreign,
}

impl From<Failed> for GraphError {
    fn from(failed: Failed) -> GraphError {
        let (code, transient) = match &failed {
            Failed::Server(error) => ("STORAGE_UNAVAILABLE", error.passes()),
            Failed::Silent { .. } | Failed::Crowded | Failed::Stopped => ("STORAGE_UNAVAILABLE", true),
            Failed::Time | Failed::Detached { .. } => ("LIMIT_EXCEEDED", false),
            Failed::Foreign => ("STORAGE_UNAVAILABLE", false),
        };
        GraphError { code: code.to_owned(), message: format!("Neo4j: {failed}"), transient }
    }
}

/// Does some work in a transaction that has its turn, on a thread that may wait. The transaction ends whatever happens: with what
/// it wrote if the work says so.
pub(super) async fn transact<T: Send + 'static>(
    server: Arc<Server>,
    work: impl FnOnce(&Transaction) -> Result<(T, bool), GraphError> + Send + 'static,
) -> Result<T, GraphError> {
    let transaction = Arc::new(Transaction::begin(server).await?);
    let working = Arc::clone(&transaction);
    let worked = tokio::task::spawn_blocking(move || work(&working)).await;
    let ended = match worked {
        Ok(Ok((_, true))) => transaction.commit().await,
        // What is told is why the work failed, or what it found.
        Ok(Ok((_, false)) | Err(_)) | Err(_) => {
            transaction.roll_back().await;
            Ok(())
        }
    };
    let (answer, _) = joined(worked)?;
    ended?;
    Ok(answer)
}

/// What a task comes to; its panic goes on here.
pub(super) fn joined<T>(task: Result<Result<T, GraphError>, JoinError>) -> Result<T, GraphError> {
    task.unwrap_or_else(|stopped| match stopped.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Err(Failed::Stopped.into()),
    })
}

/// What the server says, if it says anything in time.
pub(super) async fn told<T>(
    what: &'static str,
    after: Duration,
    answer: impl Future<Output = Result<T, server::Failed>>,
) -> Result<T, Failed> {
    Ok(timeout(after, answer).await.map_err(|_| Failed::Silent { what, after })??)
}

/// A transaction. What reads it waits for the server: not for threads of the runtime.
pub(super) struct Transaction {
    runtime: Handle,
    deadline: Instant,
    server: Arc<Server>,
    open: Open,
}

impl Transaction {
    /// Begins one, and takes the turn.
    async fn begin(server: Arc<Server>) -> Result<Transaction, Failed> {
        // It has a name before it waits for the turn: whatever happens then, it can be ended.
        let open = told("begun a transaction", MOST_ENDS, server.begin()).await?;
        let turn = server.execute(&open, statements::TAKE_TURN, json!({}));
        let turn = told("given this process its turn", MOST_TURN, turn).await;
        let deadline = Instant::now() + MOST_TIME;
        let transaction = Transaction { runtime: Handle::current(), deadline, server, open };
        match turn {
            Ok(_) => Ok(transaction),
            Err(failed) => {
                transaction.roll_back().await;
                Err(failed)
            }
        }
    }

    /// Runs a statement and returns its rows.
    pub(super) fn ask(&self, statement: &str, parameters: Value) -> Result<Vec<Row>, Failed> {
        let answer = self.server.execute(&self.open, statement, parameters);
        let answer = self.runtime.block_on(async { timeout_at(self.deadline, answer).await });
        Ok(answer.map_err(|_| Failed::Time)??)
    }

    /// Ends the transaction with what it wrote.
    async fn commit(&self) -> Result<(), Failed> {
        let committed =
            told("said whether it has stored it", MOST_ENDS, self.server.end(&self.open, true)).await;
        if committed.is_err() {
            self.roll_back().await;
        }
        committed
    }

    /// Ends the transaction without what it wrote, unless it has ended. A server that cannot be told ends it after a while.
    async fn roll_back(&self) {
        let told = async {
            while let Err(failed) = self.server.end(&self.open, false).await
                && failed.is_busy()
            {
                tokio::time::sleep(REST).await;
            }
        };
        drop(timeout(MOST_ENDS, told).await);
    }
}

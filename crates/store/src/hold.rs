//! Keeping other processes from a log for as long as changes of it are planned.
//!
//! Whoever loses a race against other processes could lose the next one too, and so on. So it locks the head of the log
//! first; locks are given in the order in which they are asked for, and so nobody waits for ever.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::committer::{Append, Ticket};
use crate::entry::{Head, ProgramKey};
use crate::fault::Fault;
use crate::jobs::Pending;
use crate::store::Store;
use crate::writer::Writer;

/// Keeps other processes from a log, and takes appends to it. Dropping it lets the others go on, and stores nothing.
#[derive(Debug)]
pub struct Hold {
    pub(crate) program: ProgramKey,
    /// In a transaction that has locked the head.
    pub(crate) writer: Writer,
    /// The newest entry.
    pub(crate) head: Head,
    pub(crate) pending: Vec<Pending>,
}

impl Hold {
    /// Takes an append; it is stored when the hold is given to the committer.
    pub fn append(&mut self, append: Append) -> Ticket {
        let (reply, ticket) = oneshot::channel();
        self.pending.push(Pending { append, reply });
        Ticket::of(ticket)
    }
}

/// Connections that have held a log, for the next hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holders(Arc<Mutex<Vec<Writer>>>);

/// How many connections are kept.
const KEPT: usize = 4;

impl Holders {
    fn take(&self) -> Option<Writer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a connection whose transaction has ended.
    pub(crate) fn keep(&self, writer: Writer) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push(writer);
        }
    }
}

impl Store {
    /// Keeps other processes from the log of a program; nothing for one that is not there, and where there are no others.
    ///
    /// This process must have nothing on its way to that log.
    ///
    /// # Errors
    ///
    /// A fault of the database, [`Fault::Held`] if another process holds it for too long.
    pub async fn hold(&self, program: ProgramKey) -> Result<Option<Hold>, Fault> {
        if self.is_alone() {
            return Ok(None);
        }
        let holders = &self.committer().holders;
        let mut writer = match holders.take() {
            Some(mut kept) => match kept.begin_holding(program).await {
                Ok(head) => return Ok(held(program, kept, head)),
                // It has been lost since.
                Err(_) => kept,
            },
            None => Writer::new(self.access.clone(), self.faults.clone()),
        };
        let head = writer.begin_holding(program).await.map_err(Fault::from)?;
        Ok(held(program, writer, head))
    }
}

fn held(program: ProgramKey, writer: Writer, head: Option<Head>) -> Option<Hold> {
    head.map(|head| Hold { program, writer, head, pending: Vec::new() })
}

//! Keeping other processes from a log for as long as a change of it is planned.
//!
//! Whoever loses a race against other processes could lose the next one too, and so on. So it locks the head of the log
//! first; locks are given in the order in which they are asked for, and so nobody waits for ever.

use crate::entry::{Head, ProgramKey};
use crate::fault::Fault;
use crate::faults::Faults;
use crate::store::Store;
use crate::writer::Writer;

/// Keeps other processes from a log. Dropping it lets them go on.
#[derive(Debug)]
pub struct Hold {
    /// In a transaction that has locked the head.
    pub(crate) writer: Writer,
    /// The newest entry.
    pub(crate) head: Head,
}

impl Store {
    /// Keeps other processes from the log of a program; nothing for one that is not there, and where there are no others.
    ///
    /// This process must have nothing on its way to that log.
    ///
    /// # Errors
    ///
    /// A fault of the database, [`Fault::Busy`] if another process holds it for too long.
    pub async fn hold(&self, program: ProgramKey) -> Result<Option<Hold>, Fault> {
        if self.is_alone() {
            return Ok(None);
        }
        let mut writer = Writer::new(self.access.clone(), Faults::none());
        let head = writer.begin_holding(program).await.map_err(Fault::from)?;
        Ok(head.map(|head| Hold { writer, head }))
    }
}

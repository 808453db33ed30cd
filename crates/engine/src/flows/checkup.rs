//! Checking the runs of a database: each follows from its journal, and its row says how it stands; and the flows that are declared in
//! it.

use std::fmt;

use lmlang_flow::{Definition, Flow, Run, Status};
use lmlang_store::{FlowChange, Run as Row, RunFilter, RunStatus};
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::live::damaged;

/// Runs that are read at a time.
const PAGE: u64 = 256;

/// Something that is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAilment {
    /// The run.
    pub run: Uuid,
    /// What is wrong.
    pub symptom: RunSymptom,
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSymptom {
    /// It does not follow from its journal.
    Journal(String),
    /// Its row says that it stands otherwise.
    Standing {
        /// What the row says.
        row: RunStatus,
        /// What follows from the journal.
        journal: RunStatus,
    },
    /// Its row names an entry that its journal does not have, or is behind where it must not be.
    Last {
        /// What the row says.
        row: u64,
        /// What the journal has.
        journal: u64,
    },
    /// Its snapshot comes to another run than its journal.
    Snapshot,
}

impl fmt::Display for RunAilment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run R-{}: {}", self.run, self.symptom)
    }
}

impl fmt::Display for RunSymptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunSymptom::Journal(reason) => write!(f, "it does not follow from its journal: {reason}"),
            RunSymptom::Standing { row, journal } => {
                write!(f, "its row says that it is {row:?}, by its journal it is {journal:?}")
            }
            RunSymptom::Last { row, journal } => {
                write!(f, "its row says that entry {row} is its last, its journal ends with {journal}")
            }
            RunSymptom::Snapshot => f.write_str("its snapshot comes to something else than its journal"),
        }
    }
}

impl Engine {
    /// Checks every run: how many there are, and what is wrong.
    pub(crate) async fn examine_runs(&self) -> Result<(u64, Vec<RunAilment>), Error> {
        let (mut count, mut found, mut before) = (0, Vec::new(), None);
        loop {
            let rows = self.store().runs(&RunFilter::default(), before, PAGE).await?;
            count += rows.len() as u64;
            for row in &rows {
                if let Some(symptom) = self.symptom(row).await? {
                    found.push(RunAilment { run: row.id, symptom });
                }
            }
            match rows.last() {
                Some(last) if rows.len() as u64 == PAGE => before = Some(last.key),
                _ => return Ok((count, found)),
            }
        }
    }

    /// Checks every flow that is declared, and tells what is wrong.
    pub(crate) async fn examine_flows(&self) -> Result<Vec<String>, Error> {
        let rows = self.store().declared_flows().await?;
        let wrong = rows.iter().filter_map(|row| {
            let why = unreadable(row, row.definition.as_ref()?)?;
            Some(format!("the flow `{}`, version {}: {why}", row.name, row.version))
        });
        Ok(wrong.collect())
    }

    async fn symptom(&self, row: &Row) -> Result<Option<RunSymptom>, Error> {
        let run = match self.replayed_run(row).await {
            Ok(run) => run,
            Err(Error::Damaged { reason, .. }) => return Ok(Some(RunSymptom::Journal(reason))),
            // It was removed meanwhile.
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if run.last() > row.standing.last && self.store().run(row.id).await?.is_none_or(|now| now != *row) {
            // It goes on while it is looked at.
            return Ok(None);
        }
        let journal = match run.status() {
            Status::Running => RunStatus::Running,
            Status::Waiting => RunStatus::Waiting,
            Status::Completed => RunStatus::Completed,
            Status::Failed => RunStatus::Failed,
            Status::Cancelled => RunStatus::Cancelled,
        };
        if journal != row.standing.status {
            return Ok(Some(RunSymptom::Standing { row: row.standing.status, journal }));
        }
        // Where nobody else writes, the row of a run at work may be behind.
        let may_lag = self.store().is_alone() && !run.has_ended();
        let (last, journal) = (row.standing.last, run.last());
        let fits = last == journal || may_lag && last < journal;
        if !fits {
            return Ok(Some(RunSymptom::Last { row: last, journal }));
        }
        let kept = self.resumed(row.id, run.flow(), &row.definition).await?;
        // One that has gone on meanwhile is another one.
        let differs =
            kept.is_some_and(|(kept, _)| kept.last() == run.last() && kept.snapshot() != run.snapshot());
        Ok(differs.then_some(RunSymptom::Snapshot))
    }

    /// The run that the whole journal gives, whatever its snapshot is.
    async fn replayed_run(&self, row: &Row) -> Result<Run, Error> {
        let flow = self.flow_of(row).await?;
        let journal = self.journal_of(row.id).await?;
        match Run::replay(&flow, &journal) {
            Ok(run) if run.last() >= row.standing.last => Ok(run),
            folded => match self.store().run(row.id).await? {
                None => Err(Error::not_found("run", row.id)),
                // It was moved meanwhile.
                Some(now) if now.definition != row.definition => Box::pin(self.replayed_run(&now)).await,
                Some(_) => folded.map_err(|error| damaged(row.id, 0, error)),
            },
        }
    }
}

/// Why a declared flow cannot be read, if it cannot.
fn unreadable(row: &FlowChange, definition: &[u8]) -> Option<String> {
    let definition: Definition = match serde_json::from_slice(definition) {
        Ok(definition) => definition,
        Err(error) => return Some(format!("its definition cannot be read: {error}")),
    };
    let is_that = (&definition.name, definition.version) == (&row.name, row.version);
    if !is_that || definition.declared.is_none() {
        return Some("its definition is that of another one".to_owned());
    }
    Flow::new(definition).err().map(|_| "its definition makes no sense".to_owned())
}

//! The first revision, on the way from a good one to a bad one, at which a test case does not hold.

use std::sync::Arc;

use lmlang_history::log::{Header, RevisionKind};
use lmlang_store::HistoryFilter;
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;

use crate::cases::Case;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::opening::changes_content;
use crate::records;
use crate::request::Call;
use crate::standing::{CaseStatus, Effort, Standing, Stored};

/// What a search found.
#[derive(Clone, Debug)]
pub struct Bisected {
    /// The first revision at which the case does not hold.
    pub first: Arc<Header>,
    /// Runs that were made for it: what was known was not run.
    pub fresh_runs: u32,
    /// Revisions that were looked at.
    pub looked_at: u32,
    /// What is wrong there, in words.
    pub message: String,
}

/// Why there is nothing to search for.
#[derive(Clone, Debug, ThisError)]
pub enum BisectError {
    /// The case does not hold at the good end.
    #[error("`good`: the case is not green at r{revision}: {why}")]
    NotGreen {
        /// The revision.
        revision: u64,
        /// What is the matter there.
        why: String,
    },
    /// The case holds at the bad end.
    #[error("`bad`: the case is green at r{revision}")]
    NotRed {
        /// The revision.
        revision: u64,
    },
    /// The one end is not on the way to the other.
    #[error("`good`: r{good} is not before r{bad} on its way")]
    NotBefore {
        /// The good end.
        good: u64,
        /// The bad end.
        bad: u64,
    },
}

/// The stored answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    first: u64,
    fresh_runs: u32,
    looked_at: u32,
    message: String,
}

impl Engine {
    /// Finds the first revision on the way from `good` to `bad` at which a case does not hold.
    ///
    /// As with all searches by halving, one is found at which it does not hold and before which it does; there can be others
    /// before, where it went to and fro. Revisions at which the function is not there, takes something else or is not
    /// verified are such at which the case does not hold. Makes at most as many runs as halving takes, and two for the ends.
    pub async fn bisect(
        &self,
        open: &OpenProgram,
        case: &Arc<Case>,
        (good, bad): (&str, &str),
        call: &Call,
    ) -> Result<Bisected, Error> {
        if let Some(first) = self.answered::<Record>(call).await? {
            let Record { first, fresh_runs, looked_at, message } = first;
            let missing = || Error::not_found("revision", format!("r{first}"));
            let first = self.header(open, first).await?.ok_or_else(missing)?;
            return Ok(Bisected { first, fresh_runs, looked_at, message });
        }
        let found = Box::pin(self.search(open, case, (good, bad))).await?;
        let Bisected { first, fresh_runs, looked_at, message } = found.clone();
        let record = Record { first: first.number, fresh_runs, looked_at, message };
        self.answer(open, call, &record).await?;
        Ok(found)
    }

    async fn search(
        &self,
        open: &OpenProgram,
        case: &Arc<Case>,
        (good, bad): (&str, &str),
    ) -> Result<Bisected, Error> {
        self.hear_of(open, good).await?;
        self.hear_of(open, bad).await?;
        let (good, bad) = (self.named(open, good).await?, self.named(open, bad).await?);
        let way = self.way(open, bad.number).await?;
        if good.number >= bad.number || !way.holds(&good) {
            return Err(BisectError::NotBefore { good: good.number, bad: bad.number }.into());
        }
        let kinds = RevisionKind::ALL.into_iter().filter(|kind| changes_content(*kind));
        let filter = HistoryFilter {
            stretches: way.after(good.number).collect(),
            kinds: kinds.map(records::to_kind).collect(),
            ..HistoryFilter::default()
        };
        let mut numbers = self.store().history(open.timeline.key(), &filter, u64::MAX >> 1).await?;
        numbers.reverse();
        let (mut fresh_runs, mut looked_at) = (0, 0);
        let mut look = async |number: u64| -> Result<Standing, Error> {
            let standing = self.stands(open, case, number).await?;
            looked_at += 1;
            fresh_runs += u32::from(standing.fresh);
            Ok(standing)
        };
        let at_good = look(good.number).await?;
        if at_good.status != CaseStatus::Green {
            let why = at_good.why.unwrap_or_default();
            return Err(BisectError::NotGreen { revision: good.number, why }.into());
        }
        let mut failing = look(bad.number).await?;
        if failing.status == CaseStatus::Green {
            return Err(BisectError::NotRed { revision: bad.number }.into());
        }
        // It holds before `holds`, and does not at `fails`.
        let (mut holds, mut fails) = (0, numbers.len().saturating_sub(1));
        while holds < fails {
            let middle = holds + (fails - holds) / 2;
            let standing = look(numbers[middle]).await?;
            match standing.status {
                CaseStatus::Green => holds = middle + 1,
                CaseStatus::Red | CaseStatus::Stale => (fails, failing) = (middle, standing),
            }
        }
        let number = numbers.get(fails).copied().unwrap_or(bad.number);
        let missing = || Error::not_found("revision", format!("r{number}"));
        let first = self.header(open, number).await?.ok_or_else(missing)?;
        let why = failing.why.unwrap_or_default();
        let message = format!("`{}` does not hold from r{number} on: {why}", case.name);
        Ok(Bisected { first, fresh_runs, looked_at, message })
    }

    /// How a case stands at the revision with a number.
    async fn stands(&self, open: &OpenProgram, case: &Arc<Case>, number: u64) -> Result<Standing, Error> {
        let missing = || Error::not_found("revision", format!("r{number}"));
        let revision = self.state(open, number).await?.ok_or_else(missing)?;
        let cases = std::slice::from_ref(case);
        let mut found = self.standings(open, &revision, cases, (Effort::Runs(1), Stored::Yes)).await?;
        // One that was not run is no answer.
        found.pop().filter(|standing| standing.unfit || standing.run.is_some()).ok_or(Error::Closed)
    }
}

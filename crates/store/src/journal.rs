//! The journals of runs. An entry is appended with all that follows from it, or not at all.

use std::sync::LazyLock;

use sea_orm::sea_query::{Expr, ExprTrait, Query, Value, Values};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use uuid::Uuid;

use crate::beginning::{NewRun, beginning};
use crate::entity::{journal, removals, runs};
use crate::entry::Timestamp;
use crate::fault::{Failure, Fault};
use crate::interrupts::{self, InterruptChange};
use crate::run_snapshots::{self, RunSnapshot};
use crate::runs::{FlowDefinition, RunStanding, keep_definition};
use crate::sql::{Known, Sql};
use crate::store::Store;

/// An entry of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its place among the entries of all journals.
    pub position: u64,
    /// The run.
    pub run: Uuid,
    /// Its place in the journal of the run, from 1 on.
    pub number: u64,
    /// When it was made.
    pub time: Timestamp,
    /// What kind of entry it is, by number.
    pub kind: u8,
    /// What it says, encoded.
    pub payload: Vec<u8>,
}

/// An entry that is to be appended, with all that follows from it.
#[derive(Debug, Clone)]
pub struct JournalAppend {
    /// The run.
    pub run: Uuid,
    /// The program that the run is about.
    pub program: Option<Uuid>,
    /// The number of the entry.
    pub number: u64,
    /// When.
    pub time: Timestamp,
    /// What kind of entry it is, by number.
    pub kind: u8,
    /// What it says, encoded.
    pub payload: Vec<u8>,
    /// How the run stands after it. None leaves the row of the run as it is: nothing about it is other than that it is at a later
    /// entry, of which whoever executes it knows.
    pub standing: Option<RunStanding>,
    /// What becomes of its questions.
    pub interrupts: Vec<InterruptChange>,
    /// Runs that begin by it.
    pub begins: Vec<NewRun>,
    /// Who executes the run, and until when nobody else does; none leaves that as it is.
    pub lease: Option<(Uuid, Timestamp)>,
    /// The definition that it is a run of from now on; none leaves that as it is.
    pub definition: Option<FlowDefinition>,
    /// The run as it stands after the entry, to be kept in the place of an earlier snapshot; none leaves that as it is.
    pub snapshot: Option<RunSnapshot>,
}

/// Why an entry was not appended.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The journal has another entry with that number: somebody else was faster.
    #[error("the journal has gone on")]
    Taken,
    /// The run was removed.
    #[error("the run is gone")]
    Gone,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

impl Store {
    /// Appends an entry to the journal of a run.
    ///
    /// # Errors
    ///
    /// See [`JournalError`]; nothing is stored then.
    pub async fn append_to_journal(&self, append: JournalAppend) -> Result<(), JournalError> {
        let (run, number, payload) = (append.run, append.number, append.payload.clone());
        let statements = statements(append);
        if self.committer().store_at_once(&statements) {
            return Ok(());
        }
        match self.committer().write(statements, None).await {
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                // A statement whose answer was lost has run before.
                let there = self.journal_entry(run, number).await?;
                match there.is_some_and(|entry| entry.payload == payload) {
                    true => Ok(()),
                    false => Err(JournalError::Taken),
                }
            }
            // The entry could not be one of a run that is not there.
            Err(Failure::Fault(_)) if self.run(run).await?.is_none() => Err(JournalError::Gone),
            Err(failure) => Err(JournalError::Storage(failure.into())),
        }
    }

    /// An entry of the journal of a run.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journal_entry(&self, run: Uuid, number: u64) -> Result<Option<JournalEntry>, Fault> {
        let found = journal::Entity::find()
            .filter(journal::Column::Run.eq(run))
            .filter(journal::Column::Number.eq(number.cast_signed()));
        Ok(found.one(&self.reader).await?.map(JournalEntry::from))
    }

    /// Entries of the journal of a run after one, at most so many; those of some kinds, or all.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journal(
        &self,
        run: Uuid,
        kinds: Option<&[u8]>,
        after: u64,
        limit: u64,
    ) -> Result<Vec<JournalEntry>, Fault> {
        let found = of_run(run, kinds)
            .filter(journal::Column::Number.gt(after.cast_signed()))
            .order_by_asc(journal::Column::Number)
            .limit(limit);
        Ok(found.all(&self.reader).await?.into_iter().map(JournalEntry::from).collect())
    }

    /// How many entries the journal of a run has; of some kinds, or of all.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journal_len(&self, run: Uuid, kinds: Option<&[u8]>) -> Result<u64, Fault> {
        Ok(of_run(run, kinds).count(&self.reader).await?)
    }

    /// Entries of all journals after a position, in the order in which they were stored, at most so many; of one run, of the
    /// runs of a session, of runs about some programs.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journals(
        &self,
        of: &JournalsOf,
        after: u64,
        limit: u64,
    ) -> Result<Vec<JournalEntry>, Fault> {
        let found = of_journals(of).filter(journal::Column::Position.gt(after.cast_signed()));
        let found = found.order_by_asc(journal::Column::Position).limit(limit);
        Ok(found.all(&self.reader).await?.into_iter().map(JournalEntry::from).collect())
    }

    /// How many entries of some kinds these journals have.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journals_len(&self, of: &JournalsOf, kinds: &[u8]) -> Result<u64, Fault> {
        Ok(of_kinds(of_journals(of), kinds).count(&self.reader).await?)
    }

    /// The position of the newest entry that all journals have had, 0 without one: also when that was removed since.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journal_position(&self) -> Result<u64, Fault> {
        let newest = journal::Entity::find()
            .select_only()
            .column(journal::Column::Position)
            .order_by_desc(journal::Column::Position)
            .limit(1);
        let newest: Option<i64> = newest.into_tuple().one(&self.reader).await?;
        let removed = removals::Entity::find().one(&self.reader).await?.map(|row| row.position);
        Ok(Ord::max(newest, removed).map_or(0, i64::cast_unsigned))
    }

    /// Entries of some kinds of these runs that were stored in a span of time, its end excluded: the newest first, at most so
    /// many before a position.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entries_of_runs(
        &self,
        runs: &[Uuid],
        kinds: &[u8],
        (from, until): (Timestamp, Timestamp),
        before: Option<u64>,
        limit: u64,
    ) -> Result<Vec<JournalEntry>, Fault> {
        let mut found = of_kinds(journal::Entity::find(), kinds)
            .filter(journal::Column::Run.is_in(runs.iter().copied()))
            .filter(journal::Column::Time.gte(from.0))
            .filter(journal::Column::Time.lt(until.0));
        if let Some(before) = before {
            found = found.filter(journal::Column::Position.lt(before.cast_signed()));
        }
        let found = found.order_by_desc(journal::Column::Position).limit(limit);
        Ok(found.all(&self.reader).await?.into_iter().map(JournalEntry::from).collect())
    }

    /// The entries with these numbers of these runs, in any order: what questions ask is in them.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn journal_entries(&self, wanted: &[(Uuid, u64)]) -> Result<Vec<JournalEntry>, Fault> {
        let mut all = Vec::with_capacity(wanted.len());
        for some in wanted.chunks(128) {
            let mut any = sea_orm::Condition::any();
            for (run, number) in some {
                any = any
                    .add(journal::Column::Run.eq(*run).and(journal::Column::Number.eq(number.cast_signed())));
            }
            let rows = journal::Entity::find().filter(any).all(&self.reader).await?;
            all.extend(rows.into_iter().map(JournalEntry::from));
        }
        Ok(all)
    }
}

fn of_journals(of: &JournalsOf) -> Select<journal::Entity> {
    let mut found = journal::Entity::find();
    let among = |column: runs::Column| {
        let mut select = Query::select();
        select.column(runs::Column::Id).from(runs::Entity);
        (select, Expr::col(column))
    };
    match of {
        JournalsOf::All => {}
        JournalsOf::Run(run) => found = found.filter(journal::Column::Run.eq(*run)),
        JournalsOf::Session(session, programs) => {
            let (mut select, column) = among(runs::Column::Session);
            select.and_where(column.eq(*session));
            if let Some(programs) = programs {
                let of = Expr::col(runs::Column::Program).is_in(programs.iter().copied());
                select.and_where(of);
            }
            found = found.filter(journal::Column::Run.in_subquery(select));
        }
        JournalsOf::Programs(programs) => {
            let (mut select, column) = among(runs::Column::Program);
            let select = select.and_where(column.is_in(programs.iter().copied())).to_owned();
            found = found.filter(journal::Column::Run.in_subquery(select));
        }
    }
    found
}

fn of_run(run: Uuid, kinds: Option<&[u8]>) -> Select<journal::Entity> {
    let found = journal::Entity::find().filter(journal::Column::Run.eq(run));
    match kinds {
        Some(kinds) => of_kinds(found, kinds),
        None => found,
    }
}

fn of_kinds(found: Select<journal::Entity>, kinds: &[u8]) -> Select<journal::Entity> {
    found.filter(journal::Column::Kind.is_in(kinds.iter().map(|kind| i16::from(*kind))))
}

/// Whose journals are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalsOf {
    /// Everybody's.
    All,
    /// That of a run.
    Run(Uuid),
    /// Those of the runs of a session, as far as they are about one of some programs; without, of all.
    Session(Uuid, Option<Vec<Uuid>>),
    /// Those of runs about one of these programs.
    Programs(Vec<Uuid>),
}

/// The statement that appends an entry: its values are the run, and the number, time, kind and payload of the entry.
static APPEND: LazyLock<Known> = LazyLock::new(|| {
    // Of a run that was removed there is no id, and the entry is refused.
    let of = Query::select()
        .column(runs::Column::Id)
        .from(runs::Entity)
        .and_where(Expr::col(runs::Column::Id).eq(Uuid::nil()))
        .to_owned();
    let values: [Expr; 5] = [of.into(), 0_i64.into(), 0_i64.into(), 0_i16.into(), Vec::<u8>::new().into()];
    let insert = Query::insert()
        .into_table(journal::Entity)
        .columns([
            journal::Column::Run,
            journal::Column::Number,
            journal::Column::Time,
            journal::Column::Kind,
            journal::Column::Payload,
        ])
        .values_panic(values)
        .to_owned();
    Known::of(&Sql::from(insert))
});

fn statements(append: JournalAppend) -> Vec<Sql> {
    let JournalAppend {
        run,
        program,
        number,
        time,
        kind,
        payload,
        standing,
        interrupts,
        begins,
        lease,
        definition,
        snapshot,
    } = append;
    let values: [Value; 5] =
        [run.into(), number.cast_signed().into(), time.0.into(), i16::from(kind).into(), payload.into()];
    let mut statements = vec![Sql::Known(&APPEND, Values(values.into()))];
    let change = change_row(run, standing.as_ref(), lease, definition.as_ref());
    statements.extend(definition.map(keep_definition));
    statements.extend(change);
    for change in interrupts {
        statements.extend(interrupts::change(run, number, time, program, change));
    }
    statements.extend(begins.into_iter().flat_map(beginning));
    statements.extend(snapshot.map(|snapshot| run_snapshots::keep(run, snapshot)));
    statements
}

/// The statement that changes the row of a run, if it is another one.
fn change_row(
    run: Uuid,
    standing: Option<&RunStanding>,
    lease: Option<(Uuid, Timestamp)>,
    definition: Option<&FlowDefinition>,
) -> Option<Sql> {
    if standing.is_none() && lease.is_none() && definition.is_none() {
        return None;
    }
    let mut update = Query::update();
    update.table(runs::Entity).and_where(Expr::col(runs::Column::Id).eq(run));
    if let Some(standing) = standing {
        update
            .value(runs::Column::Status, standing.status as i16)
            .value(runs::Column::Node, standing.node.as_deref())
            .value(runs::Column::Last, standing.last.cast_signed())
            .value(runs::Column::Wake, standing.wake.map(|wake| wake.0))
            .value(runs::Column::Ended, standing.ended.map(|ended| ended.0))
            .value(runs::Column::Deadline, standing.deadline.map(|deadline| deadline.0));
    }
    if let Some((owner, until)) = lease {
        update.value(runs::Column::Owner, owner).value(runs::Column::Lease, until.0);
    }
    if let Some(definition) = definition {
        update.value(runs::Column::Definition, definition.hash.clone());
    }
    Some(update.into())
}

impl From<journal::Model> for JournalEntry {
    fn from(row: journal::Model) -> Self {
        Self {
            position: row.position.cast_unsigned(),
            run: row.run,
            number: row.number.cast_unsigned(),
            time: Timestamp(row.time),
            // Nobody writes another number.
            kind: u8::try_from(row.kind).unwrap_or(u8::MAX),
            payload: row.payload,
        }
    }
}

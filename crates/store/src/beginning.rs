//! How runs and sessions begin.

use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ActiveModelTrait, ActiveValue, EntityTrait, Iterable, QueryTrait};

use crate::entity::{interrupts, journal, runs, sessions};
use crate::entry::Timestamp;
use crate::fault::{Failure, Fault};
use crate::runs::{FlowDefinition, Run, keep_definition, to_row};
use crate::sessions::Session;
use crate::sql::Sql;
use crate::store::Store;

/// A run that is to begin. Its key is given by the database.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The run.
    pub run: Run,
    /// Its flow.
    pub definition: FlowDefinition,
    /// Its session, if that is new.
    pub session: Option<Session>,
    /// The entries that it begins with, from number 1 on: when, and by its kind and
    /// encoded.
    pub entries: Vec<(Timestamp, u8, Vec<u8>)>,
    /// Questions that stand among those entries, with when they were asked.
    pub open: Vec<(u64, Timestamp)>,
}

/// Why a run or session was not begun.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BeginError {
    /// One was begun under the idempotency key.
    #[error("the idempotency key belongs to another one")]
    KeyTaken,
    /// The session that it was to belong to was removed.
    #[error("the session is gone")]
    NoSession,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

impl Store {
    /// Begins a run, with its session if that is new.
    ///
    /// # Errors
    ///
    /// See [`BeginError`]; nothing is stored then.
    pub async fn begin_run(&self, new: NewRun) -> Result<(), BeginError> {
        let (id, session, is_first) = (new.run.id, new.run.session, new.session.is_some());
        match self.committer().write(beginning(new), None).await {
            Ok(_) => Ok(()),
            // A statement whose answer was lost has run before.
            Err(Failure::Clash) if self.run(id).await?.is_some() => Ok(()),
            Err(Failure::Clash) => Err(BeginError::KeyTaken),
            // The run could not be one of a session that is not there.
            Err(Failure::Fault(_)) if !is_first && self.session(session).await?.is_none() => {
                Err(BeginError::NoSession)
            }
            Err(failure) => Err(BeginError::Storage(failure.into())),
        }
    }

    /// Begins a session.
    ///
    /// # Errors
    ///
    /// See [`BeginError`]; nothing is stored then.
    pub async fn begin_session(&self, session: Session) -> Result<(), BeginError> {
        let id = session.id;
        let insert = sessions::Entity::insert(crate::sessions::to_row(session)).into_query();
        match self.committer().write(vec![insert.into()], None).await {
            Ok(_) => Ok(()),
            // A statement whose answer was lost has run before.
            Err(Failure::Clash) if self.session(id).await?.is_some() => Ok(()),
            Err(Failure::Clash) => Err(BeginError::KeyTaken),
            Err(failure) => Err(BeginError::Storage(failure.into())),
        }
    }
}

/// The statements that begin a run.
pub(crate) fn beginning(new: NewRun) -> Vec<Sql> {
    let NewRun { run, definition, session, entries, open } = new;
    let mut statements = vec![keep_definition(definition)];
    if let Some(session) = session {
        let insert = sessions::Entity::insert(crate::sessions::to_row(session));
        statements.push(insert.into_query().into());
    }
    let (id, program) = (run.id, run.program);
    statements.push(insert_run(run));
    let rows = entries.into_iter().zip(1..).map(|((time, kind, payload), number)| journal::ActiveModel {
        position: NotSet,
        run: Set(id),
        number: Set(number),
        time: Set(time.0),
        kind: Set(i16::from(kind)),
        payload: Set(payload),
    });
    statements.push(journal::Entity::insert_many(rows).into_query().into());
    let rows: Vec<interrupts::ActiveModel> =
        open.into_iter().map(|(asked, time)| crate::interrupts::open_row(id, asked, time, program)).collect();
    if !rows.is_empty() {
        statements.push(interrupts::Entity::insert_many(rows).into_query().into());
    }
    statements
}

/// The statement that adds a run. Of a session that was removed there is no id, and the run is refused.
fn insert_run(run: Run) -> Sql {
    let of = Query::select()
        .column(sessions::Column::Id)
        .from(sessions::Entity)
        .and_where(Expr::col(sessions::Column::Id).eq(run.session))
        .to_owned();
    let row = to_row(run);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for column in runs::Column::iter() {
        if let ActiveValue::Set(value) = row.get(column) {
            columns.push(column);
            let is_session = matches!(column, runs::Column::Session);
            values.push(if is_session { of.clone().into() } else { Expr::val(value) });
        }
    }
    Query::insert().into_table(runs::Entity).columns(columns).values_panic(values).to_owned().into()
}

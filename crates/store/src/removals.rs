//! Removing runs that ended long ago, with their journals, snapshots and questions, and sessions that have no run left.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::entity::{interrupts, journal, run_snapshots, runs, sessions};
use crate::entry::Timestamp;
use crate::fault::Fault;
use crate::sql::Sql;
use crate::store::Store;

/// What one transaction has removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Runs.
    pub runs: u64,
    /// Entries of their journals.
    pub entries: u64,
    /// Their questions.
    pub interrupts: u64,
    /// Sessions that had no run any more.
    pub sessions: u64,
}

/// A transaction that removes entries notes first how far the journals have come. It is never the only statement: a transaction
/// of several takes its turn, so that nobody begins a run of a session while that is removed.
const NOTE: Sql = Sql::Plain(
    r#"UPDATE "removals" SET "position" = (SELECT MAX("position") FROM "journal") WHERE "position" < (SELECT MAX("position") FROM "journal")"#,
);

impl Store {
    /// Runs that may be removed now, those that ended first before others, at most so many: each with its session. See
    /// [`Store::remove_run`].
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn removable_runs(&self, before: Timestamp, limit: u64) -> Result<Vec<(Uuid, Uuid)>, Fault> {
        let found = runs::Entity::find()
            .filter(removable(before))
            .order_by_asc(runs::Column::Ended)
            .order_by_asc(runs::Column::Key)
            .limit(limit)
            .select_only()
            .columns([runs::Column::Id, runs::Column::Session]);
        Ok(found.into_tuple().all(&self.reader).await?)
    }

    /// Removes a run that ended before a time, with its journal, its questions, and its session if that is as old and has no
    /// other run; when nothing more urgent is to be written.
    ///
    /// It stays where others need it: as long as the run that has waited for it is there, as long as one that it has waited
    /// for has not ended, and as the newest of its session to have ended, whose state the next one carries on. That one goes
    /// last, when all of the session ended before the time.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is removed then.
    pub async fn remove_run(&self, run: Uuid, session: Uuid, before: Timestamp) -> Result<Removed, Fault> {
        let row = Query::delete()
            .from_table(runs::Entity)
            .cond_where(Condition::all().add(runs::Column::Id.eq(run)).add(removable(before)))
            .to_owned();
        let is_there = || {
            let there = Expr::col((runs::Entity, runs::Column::Id)).eq(run);
            Query::select().expr(Expr::val(1)).from(runs::Entity).and_where(there).to_owned()
        };
        let entries = Query::delete()
            .from_table(journal::Entity)
            .and_where(journal::Column::Run.eq(run))
            .and_where(Expr::not_exists(is_there()))
            .to_owned();
        let questions = Query::delete()
            .from_table(interrupts::Entity)
            .and_where(interrupts::Column::Run.eq(run))
            .and_where(Expr::not_exists(is_there()))
            .to_owned();
        let kept = Query::delete()
            .from_table(run_snapshots::Entity)
            .and_where(run_snapshots::Column::Run.eq(run))
            .and_where(Expr::not_exists(is_there()))
            .to_owned();
        let emptied = Query::delete()
            .from_table(sessions::Entity)
            .and_where(sessions::Column::Id.eq(session))
            .and_where(is_empty(before))
            .to_owned();
        let statements =
            vec![NOTE, row.into(), entries.into(), questions.into(), emptied.into(), kept.into()];
        let changed = self.committer().write_in_background(statements).await?;
        let count = |index: usize| changed.get(index).copied().unwrap_or(0);
        Ok(Removed { runs: count(1), entries: count(2), interrupts: count(3), sessions: count(4) })
    }

    /// Removes sessions that began before a time and have no run, at most so many, and answers how many.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is removed then.
    pub async fn remove_empty_sessions(&self, before: Timestamp, limit: u64) -> Result<u64, Fault> {
        let found = sessions::Entity::find()
            .filter(is_empty(before))
            .order_by_asc(sessions::Column::Key)
            .limit(limit)
            .select_only()
            .column(sessions::Column::Key);
        let found: Vec<i64> = found.into_tuple().all(&self.reader).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let emptied = Query::delete()
            .from_table(sessions::Entity)
            .and_where(sessions::Column::Key.is_in(found))
            .and_where(is_empty(before))
            .to_owned();
        let changed = self.committer().write_in_background(vec![NOTE, emptied.into()]).await?;
        Ok(changed.last().copied().unwrap_or(0))
    }
}

/// Whether a session began before a time and has no run.
fn is_empty(before: Timestamp) -> Expr {
    let of =
        Expr::col((runs::Entity, runs::Column::Session)).equals((sessions::Entity, sessions::Column::Id));
    let any = Query::select().expr(Expr::val(1)).from(runs::Entity).and_where(of).to_owned();
    Expr::col((sessions::Entity, sessions::Column::Made)).lt(before.0).and(Expr::not_exists(any))
}

/// Whether a run ended before a time and nobody needs it.
fn removable(before: Timestamp) -> Condition {
    let own = |column: runs::Column| Expr::col((runs::Entity, column));
    let is_root = own(runs::Column::Parent).is_null();
    let waiter_is_gone = {
        let other = Others::new("waiter");
        let is_waiter = other.column(runs::Column::Id).equals((runs::Entity, runs::Column::Parent));
        Expr::not_exists(other.that(is_waiter))
    };
    let waits_for_one = {
        let other = Others::new("waited_for");
        let of = other.column(runs::Column::Parent).equals((runs::Entity, runs::Column::Id));
        Expr::exists(other.that(of.and(other.column(runs::Column::Ended).is_null())))
    };
    let is_carried_on_by_another = {
        let other = Others::new("newer");
        let ended = other.column(runs::Column::Ended).is_not_null();
        let newer = other.column(runs::Column::Key).gt(own(runs::Column::Key));
        Expr::exists(other.that(other.is_root_of_same_session().and(ended).and(newer)))
    };
    let is_last_of_session = {
        let other = Others::new("rest");
        let another = other.column(runs::Column::Id).ne(own(runs::Column::Id));
        let root = other.column(runs::Column::Parent).is_null();
        let open = other.column(runs::Column::Ended).is_null();
        let younger = other.column(runs::Column::Ended).gte(before.0);
        let keeps = root.or(open).or(younger);
        Expr::not_exists(other.that(other.is_of_same_session().and(another).and(keeps)))
    };
    let nobody_carries_on = is_carried_on_by_another.or(is_last_of_session);
    Condition::all()
        .add(own(runs::Column::Ended).lt(before.0))
        .add(Expr::not(waits_for_one))
        .add(is_root.clone().or(waiter_is_gone))
        // What the next turn of a session carries on, nobody has waited for.
        .add(is_root.not().or(nobody_carries_on))
}

/// Other runs than the one that is looked at.
struct Others(Alias);

impl Others {
    fn new(name: &'static str) -> Self {
        Self(Alias::new(name))
    }

    fn column(&self, column: runs::Column) -> Expr {
        Expr::col((self.0.clone(), column))
    }

    fn that(&self, are: Expr) -> SelectStatement {
        Query::select().expr(Expr::val(1)).from_as(runs::Entity, self.0.clone()).and_where(are).to_owned()
    }

    fn is_of_same_session(&self) -> Expr {
        self.column(runs::Column::Session).equals((runs::Entity, runs::Column::Session))
    }

    fn is_root_of_same_session(&self) -> Expr {
        self.is_of_same_session().and(self.column(runs::Column::Parent).is_null())
    }
}

//! Reading the logs.

use std::ops::RangeInclusive;

use futures_util::TryStreamExt;
use sea_orm::sea_query::{Expr, ExprTrait, Func, SimpleExpr};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbBackend, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::{heads, log};
use crate::entry::{Entry, EntryKind, Header, ProgramKey};
use crate::fault::Fault;
use crate::feed::{Bound, stored_bytes};
use crate::packs::{self, Missing};
use crate::store::Store;

/// Which entries of a log to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Only entries with smaller numbers: where the page before ended.
    pub before: Option<u64>,
    /// Only entries in one of these stretches; empty for all.
    pub stretches: Vec<Stretch>,
    /// Only entries of these kinds; empty for all.
    pub kinds: Vec<EntryKind>,
    /// Only entries by these actors.
    pub actors: Option<Vec<ActorKey>>,
    /// Only entries that a step of this run has made.
    pub run: Option<Uuid>,
    /// Only entries in whose edits one of these can stand: those of older ones are packed and not looked into. Empty for all.
    pub mentioning: Vec<Vec<u8>>,
}

/// Entries of one branch in a range of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The branch.
    pub branch: u32,
    /// The numbers.
    pub entries: RangeInclusive<u64>,
}

/// How far a reader has got in a program's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// The program.
    pub program: ProgramKey,
    /// The last entry that the reader has seen; 0 for none.
    pub after: u64,
}

impl Store {
    /// The entry with a number.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entry(&self, program: ProgramKey, seq: u64) -> Result<Option<Entry>, Fault> {
        let row = of(program).filter(log::Column::Seq.eq(seq.cast_signed())).one(&self.reader).await?;
        Ok(self.whole(row.into_iter().collect()).await?.pop())
    }

    /// The header of the entry with a number.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn header(&self, program: ProgramKey, seq: u64) -> Result<Option<Header>, Fault> {
        self.one_header(of(program).filter(log::Column::Seq.eq(seq.cast_signed()))).await
    }

    /// The header of the entry that a request with an idempotency key has made.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn header_by_key(&self, program: ProgramKey, key: &[u8]) -> Result<Option<Header>, Fault> {
        let query = log::Entity::find()
            .filter(log::Column::IdemKey.eq(key.to_vec()))
            .filter(log::Column::Program.eq(program.0));
        self.one_header(query).await
    }

    /// The header of the newest entry.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn newest_header(&self, program: ProgramKey) -> Result<Option<Header>, Fault> {
        self.one_header(of(program).order_by_desc(log::Column::Seq)).await
    }

    async fn one_header(&self, query: Select<log::Entity>) -> Result<Option<Header>, Fault> {
        let row = query.into_partial_model::<log::Header>().one(&self.reader).await?;
        row.map(Header::try_from).transpose()
    }

    async fn all_headers(&self, query: Select<log::Entity>) -> Result<Vec<Header>, Fault> {
        let rows = query.into_partial_model::<log::Header>().all(&self.reader).await?;
        rows.into_iter().map(Header::try_from).collect()
    }

    /// Entries in a range of numbers, oldest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entries(
        &self,
        program: ProgramKey,
        range: RangeInclusive<u64>,
        limit: u64,
    ) -> Result<Vec<Entry>, Fault> {
        let rows = of(program)
            .filter(log::Column::Seq.between(to_row(*range.start()), to_row(*range.end())))
            .order_by_asc(log::Column::Seq)
            .limit(limit)
            .all(&self.reader)
            .await?;
        self.whole(rows).await
    }

    /// The entries of rows, with what is packed of them.
    async fn whole(&self, mut rows: Vec<log::Model>) -> Result<Vec<Entry>, Fault> {
        packs::fill(&self.reader, &mut rows).await?;
        rows.into_iter().map(Entry::try_from).collect()
    }

    /// Entries after a reader's place, oldest first, as much as a bound allows; nothing only if there is nothing.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn tail(&self, from: Tail, bound: Bound) -> Result<Vec<Entry>, Fault> {
        self.fitting(of(from.program).filter(log::Column::Seq.gt(to_row(from.after))), bound).await
    }

    /// Entries in a stretch, oldest first, as much as a bound allows; nothing only if there is nothing.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entries_on(
        &self,
        program: ProgramKey,
        stretch: &Stretch,
        bound: Bound,
    ) -> Result<Vec<Entry>, Fault> {
        self.fitting(of(program).filter(within(stretch)), bound).await
    }

    /// How many entries of a program there are in a stretch, whose numbers are those of entries.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn stretch_len(&self, program: ProgramKey, stretch: &Stretch) -> Result<u64, Fault> {
        let numbers =
            log::Column::Seq.between(to_row(*stretch.entries.start()), to_row(*stretch.entries.end()));
        if stretch.branch != 0 {
            return Ok(of(program).filter(on(stretch.branch)).filter(numbers).count(&self.reader).await?);
        }
        // Numbers have no gaps, and what is not on `main` has an index.
        let others = of(program).filter(beside_main(stretch.entries.clone()));
        let all = stretch.entries.end().saturating_sub(*stretch.entries.start()) + 1;
        Ok(all - others.count(&self.reader).await?)
    }

    async fn fitting(&self, query: Select<log::Entity>, bound: Bound) -> Result<Vec<Entry>, Fault> {
        let rows = fitting(&self.reader, query, bound).await?;
        rows.into_iter().map(Entry::try_from).collect()
    }

    /// The numbers of the newest entries of some programs; nothing for those that are gone. For a database that other
    /// processes write to.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn heads(&self, programs: &[ProgramKey]) -> Result<Vec<(ProgramKey, u64)>, Fault> {
        let rows: Vec<heads::Model> = heads::Entity::find()
            .filter(heads::Column::Program.is_in(programs.iter().map(|program| program.0)))
            .all(&self.reader)
            .await?;
        Ok(rows.into_iter().map(|row| (ProgramKey(row.program), row.seq.cast_unsigned())).collect())
    }

    /// The numbers of entries that pass a filter, newest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn history(
        &self,
        program: ProgramKey,
        filter: &HistoryFilter,
        limit: u64,
    ) -> Result<Vec<u64>, Fault> {
        let query = self.filtered(program, filter).order_by_desc(log::Column::Seq).limit(limit);
        let numbers: Vec<i64> =
            query.select_only().column(log::Column::Seq).into_tuple().all(&self.reader).await?;
        Ok(numbers.into_iter().map(i64::cast_unsigned).collect())
    }

    /// The headers of the entries with some numbers, newest first.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn headers(&self, program: ProgramKey, numbers: &[u64]) -> Result<Vec<Header>, Fault> {
        self.all_headers(numbered(program, numbers)).await
    }

    /// The encoded edits of the first of some entries, newest first, until they take as many bytes as given.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn edits(
        &self,
        program: ProgramKey,
        numbers: &[u64],
        bytes: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, Fault> {
        let columns = [log::Column::Seq, log::Column::Edits, log::Column::Packed];
        let query = numbered(program, numbers).select_only().columns(columns);
        self.reader.ask()?;
        let mut rows = query.into_tuple::<(i64, Vec<u8>, Option<i64>)>().stream(&*self.reader).await?;
        let (mut found, mut taken) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await? {
            let (_, edits, packed) = &row;
            taken += edits.len() + packed.map_or(0, |packed| packed.unsigned_abs() as usize);
            found.push(row);
            if taken >= bytes {
                break;
            }
        }
        drop(rows);
        let missing = found.iter_mut().filter_map(|(seq, edits, packed)| Missing::of(*seq, packed, edits));
        packs::fetch(&self.reader, program.0, missing.collect()).await?;
        Ok(found.into_iter().map(|(seq, edits, _)| (seq.cast_unsigned(), edits)).collect())
    }

    /// How many entries pass a filter.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn history_len(&self, program: ProgramKey, filter: &HistoryFilter) -> Result<u64, Fault> {
        Ok(self.filtered(program, filter).count(&self.reader).await?)
    }

    /// The number of the newest entry whose root hash lies between two, both included.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn newest_with_hash(
        &self,
        program: ProgramKey,
        first: [u8; 32],
        last: [u8; 32],
    ) -> Result<Option<u64>, Fault> {
        let query = of(program).filter(log::Column::RootHash.between(first.to_vec(), last.to_vec()));
        let query = query.order_by_desc(log::Column::Seq).select_only().column(log::Column::Seq);
        let found: Option<i64> = query.into_tuple().one(&self.reader).await?;
        Ok(found.map(i64::cast_unsigned))
    }

    /// The headers of entries after a number that make, move or remove checkpoints and branches, oldest first.
    ///
    /// What checkpoints there are is read from these alone: a table of them would be a second truth.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn marks(&self, program: ProgramKey, after: u64) -> Result<Vec<Header>, Fault> {
        // Not a parameter: the index is chosen only if the planner sees the value.
        let mark = SimpleExpr::from(Expr::cust(format!("\"kind\" >= {}", EntryKind::FIRST_MARK.code())));
        let marks = of(program).filter(mark).filter(log::Column::Seq.gt(to_row(after)));
        self.all_headers(marks.order_by_asc(log::Column::Seq)).await
    }

    /// The numbers of restores after a number, on all branches, ascending.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn restores(&self, program: ProgramKey, after: u64) -> Result<Vec<u64>, Fault> {
        // As in `marks`.
        let restore = SimpleExpr::from(Expr::cust(format!("\"kind\" = {}", EntryKind::Restore.code())));
        let restores = of(program).filter(restore).filter(log::Column::Seq.gt(to_row(after)));
        let query = restores.order_by_asc(log::Column::Seq).select_only().column(log::Column::Seq);
        let found: Vec<i64> = query.into_tuple().all(&self.reader).await?;
        Ok(found.into_iter().map(i64::cast_unsigned).collect())
    }

    /// The number of the newest entry on a branch, up to a number.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn newest_on(
        &self,
        program: ProgramKey,
        branch: u32,
        at_most: u64,
    ) -> Result<Option<u64>, Fault> {
        let query = of(program)
            .filter(within(&Stretch { branch, entries: 0..=at_most }))
            .order_by_desc(log::Column::Seq);
        let seq: Option<i64> =
            query.select_only().column(log::Column::Seq).into_tuple().one(&self.reader).await?;
        Ok(seq.map(i64::cast_unsigned))
    }

    fn filtered(&self, program: ProgramKey, filter: &HistoryFilter) -> Select<log::Entity> {
        let mut query = of(program);
        if let Some(before) = filter.before {
            query = query.filter(log::Column::Seq.lt(to_row(before)));
        }
        if !filter.stretches.is_empty() {
            let any = filter.stretches.iter().fold(Condition::any(), |any, stretch| any.add(within(stretch)));
            query = query.filter(any);
        }
        if !filter.kinds.is_empty() {
            query = query.filter(log::Column::Kind.is_in(filter.kinds.iter().map(|kind| kind.code())));
        }
        if let Some(actors) = &filter.actors {
            query = query.filter(log::Column::Actor.is_in(actors.iter().map(|actor| actor.0)));
        }
        if let Some(run) = filter.run {
            query = query.filter(log::Column::Run.eq(run));
        }
        if !filter.mentioning.is_empty() {
            let packed = Condition::any().add(log::Column::Packed.is_not_null());
            let here = |any: Condition, mentioned: &Vec<u8>| any.add(self.place_in_edits(mentioned).gt(0));
            query = query.filter(filter.mentioning.iter().fold(packed, here));
        }
        query
    }

    /// Where bytes stand in the edits of an entry; 0 if nowhere.
    fn place_in_edits(&self, bytes: &[u8]) -> SimpleExpr {
        let edits = Expr::col(log::Column::Edits);
        match self.reader.get_database_backend() {
            DbBackend::Postgres => {
                Expr::cust_with_exprs("POSITION($1 IN $2)", [Expr::value(bytes.to_vec()), edits])
            }
            _ => Func::cust("instr").arg(edits).arg(bytes.to_vec()).into(),
        }
    }
}

pub(crate) fn of(program: ProgramKey) -> Select<log::Entity> {
    log::Entity::find().filter(Expr::col(log::Column::Program).eq(program.0))
}

/// What a query finds, oldest first, as much as a bound allows.
pub(crate) async fn fitting(
    db: &impl ConnectionTrait,
    query: Select<log::Entity>,
    bound: Bound,
) -> Result<Vec<log::Model>, Fault> {
    let query = query.order_by_asc(log::Column::Seq);
    let sizes = query.clone().select_only().expr(stored_bytes()).limit(bound.rows);
    let sizes: Vec<i64> = sizes.into_tuple().all(db).await?;
    match bound.fitting(sizes) as u64 {
        0 => Ok(Vec::new()),
        fitting => {
            let mut rows = query.limit(fitting).all(db).await?;
            packs::fill(db, &mut rows).await?;
            Ok(rows)
        }
    }
}

/// Whether an entry is on a branch. `main` has most entries and no index of its own.
fn on(branch: u32) -> SimpleExpr {
    match branch {
        0 => log::Column::Branch.eq(0),
        // Word for word what the index is for, or the planner does not choose it.
        other => SimpleExpr::from(Expr::cust(format!("(\"branch\" <> 0 AND \"branch\" = {other})"))),
    }
}

/// Whether an entry is in a range and not on `main`.
fn beside_main(range: RangeInclusive<u64>) -> SimpleExpr {
    let (start, end) = (to_row(*range.start()), to_row(*range.end()));
    // The sign keeps the planner from the key of the log, which has all of the rows.
    SimpleExpr::from(Expr::cust(format!("\"branch\" <> 0 AND +\"seq\" BETWEEN {start} AND {end}")))
}

/// Whether an entry is in a stretch.
fn within(stretch: &Stretch) -> Condition {
    let numbers = log::Column::Seq.between(to_row(*stretch.entries.start()), to_row(*stretch.entries.end()));
    Condition::all().add(on(stretch.branch)).add(numbers)
}

/// The entries with some numbers, newest first.
fn numbered(program: ProgramKey, numbers: &[u64]) -> Select<log::Entity> {
    let numbers = numbers.iter().map(|number| to_row(*number));
    of(program).filter(log::Column::Seq.is_in(numbers)).order_by_desc(log::Column::Seq)
}

/// A number as the database compares it: what is too large for it is larger than any that it holds.
pub(crate) fn to_row(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use sea_orm::{Database, DbBackend, QueryTrait, Statement};

    use super::*;

    /// What SQLite does to answer a query.
    async fn plan(query: Select<log::Entity>) -> String {
        let db = Database::connect("sqlite::memory:").await.expect("a database in memory opens");
        lmlang_migrations::migrate(&db).await.expect("it takes the schema");
        let sql = format!("EXPLAIN QUERY PLAN {}", query.build(DbBackend::Sqlite));
        let rows = db.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await.expect("it plans");
        let steps =
            rows.iter().map(|row| row.try_get::<String>("", "detail").expect("a step says what it does"));
        steps.collect::<Vec<_>>().join("; ")
    }

    #[tokio::test]
    async fn entries_of_a_branch_are_found_by_its_index() {
        let stretch = Stretch { branch: 7, entries: 7..=1_000_000 };
        let entries = of(ProgramKey(1)).filter(within(&stretch));
        for query in [
            entries.clone().order_by_asc(log::Column::Seq),
            entries.order_by_desc(log::Column::Seq).limit(1),
            of(ProgramKey(1)).filter(beside_main(1..=1_000_000)).select_only().column(log::Column::Seq),
        ] {
            let plan = plan(query).await;
            assert!(plan.contains("log_branches"), "{plan}");
        }
    }
}

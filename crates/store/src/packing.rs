//! Packing the edits of older entries in the background.
//!
//! A window of consecutive rows is packed at a time, program by program. Rows that become shorter where they are would
//! leave a file as large as it was: SQLite fills a page only while it appends. So there all rows of a window are taken out
//! and put back, in one transaction; their positions and all that they say stay the same. The database moves them itself:
//! only their edits come here. Processes that pack the same window at the same time clash, and the second finds it packed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::sea_query::{Alias, Expr, Order, Query, SimpleExpr};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, DbBackend, DerivePartialModel, EntityTrait, Iterable, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait,
};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::committer::Committer;
use crate::entity::{log, packs};
use crate::fault::{Failure, Fault};
use crate::feed::{Bound, stored_bytes};
use crate::packs::pack;
use crate::reader::Reader;
use crate::sql::Sql;

/// What is packed at a time: a commit waits for that at most.
const WINDOW: Bound = Bound { rows: 256, bytes: 1 << 20 };

/// For each moment of packing, so many of rest.
const REST: u32 = 4;

/// After a fault.
const AFTER_FAULT: Duration = Duration::from_secs(60);

/// Packing in the background. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Packing {
    go_on: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Packing {
    /// Packs what is older than so many of the newest entries, whenever there are enough.
    pub(crate) fn start(reader: Reader, committer: Committer, newest: u64) -> Self {
        let grown = Arc::clone(&committer.counters.grown);
        let packer = Packer { reader, committer, newest, grown, through: 0 };
        let (go_on, stop) = oneshot::channel();
        let task = tokio::spawn(async move {
            tokio::select! {
                biased;
                _ = stop => {}
                () = packer.run() => {}
            }
        });
        Self { go_on, task }
    }

    /// Ends it, and with it its use of connections.
    pub(crate) async fn stop(self) {
        drop(self.go_on);
        self.task.await.ok();
    }
}

struct Packer {
    reader: Reader,
    committer: Committer,
    /// How many of the newest rows are left.
    newest: u64,
    /// Notified when there are more.
    grown: Arc<Notify>,
    /// The last row that was packed or left.
    through: i64,
}

/// What packing a window has come to.
enum Step {
    /// It is done, or another process does it.
    Done,
    /// There is no window yet.
    Nothing,
}

impl Packer {
    /// Packs for as long as it is awaited.
    async fn run(mut self) {
        loop {
            let start = Instant::now();
            match self.step().await {
                Ok(Step::Done) => tokio::time::sleep(start.elapsed() * REST).await,
                Ok(Step::Nothing) => self.grown.notified().await,
                Err(Fault::Closed) => return,
                Err(fault) => {
                    // Nothing is lost by that: what is not packed takes more room.
                    tracing::warn!(error = %fault, "older entries could not be packed");
                    tokio::time::sleep(AFTER_FAULT).await;
                }
            }
        }
    }

    /// Packs the next window.
    async fn step(&mut self) -> Result<Step, Fault> {
        let Some(rows) = self.window().await? else { return Ok(Step::Nothing) };
        let through = rows.last().map_or(self.through, |row| row.position);
        // Compressing takes long: not on the runtime's threads.
        let packed = tokio::task::spawn_blocking(move || packed(rows, through)).await;
        let (made, positions) = packed.map_err(|_| Fault::Closed)?;
        if !made.is_empty() {
            let mut statements = vec![Sql::from(packs::Entity::insert_many(made).into_query())];
            statements.extend(match self.reader.get_database_backend() {
                DbBackend::Sqlite => shortened_anew(positions),
                _ => vec![shortened(positions)],
            });
            match self.committer.write_in_background(statements).await {
                Ok(_) => {}
                // Another process has been faster, and perhaps not as far.
                Err(Failure::Clash) if self.packed().await? > self.through => return Ok(Step::Done),
                Err(Failure::Clash) => return Err(Fault::Row { table: "packs", column: "first" }),
                Err(Failure::Unknown(fault) | Failure::Fault(fault)) => return Err(fault),
            }
        }
        self.through = through;
        Ok(Step::Done)
    }

    /// The last row that any process has packed or left.
    async fn packed(&self) -> Result<i64, Fault> {
        let packed: Option<i64> = packs::Entity::find()
            .order_by_desc(packs::Column::Position)
            .select_only()
            .column(packs::Column::Position)
            .into_tuple()
            .one(&self.reader)
            .await?;
        Ok(packed.unwrap_or(0))
    }

    /// The next rows that are all old enough; nothing if they are no whole window.
    async fn window(&mut self) -> Result<Option<Vec<Row>>, Fault> {
        self.through = self.through.max(self.packed().await?);
        let newest: Option<i64> = log::Entity::find()
            .order_by_desc(log::Column::Position)
            .select_only()
            .column(log::Column::Position)
            .into_tuple()
            .one(&self.reader)
            .await?;
        let old = newest.unwrap_or(0).saturating_sub_unsigned(self.newest);
        let next = log::Entity::find()
            .filter(log::Column::Position.gt(self.through))
            .filter(log::Column::Position.lte(old))
            .order_by_asc(log::Column::Position);
        let sizes = next.clone().select_only().expr(stored_bytes()).limit(WINDOW.rows);
        let sizes: Vec<i64> = sizes.into_tuple().all(&self.reader).await?;
        let fitting = WINDOW.fitting(sizes.iter().copied());
        if fitting == sizes.len() && (fitting as u64) < WINDOW.rows {
            return Ok(None);
        }
        let rows = next.limit(fitting as u64).into_partial_model().all(&self.reader).await?;
        Ok(Some(rows))
    }
}

/// What packing needs to know of a row.
#[derive(Debug, DerivePartialModel)]
#[sea_orm(entity = "log::Entity")]
struct Row {
    position: i64,
    program: i64,
    seq: i64,
    edits: Vec<u8>,
    packed: Option<i64>,
}

/// The packs of a window, and the positions of the rows whose edits are in them; nothing if they would take as much room.
fn packed(mut rows: Vec<Row>, through: i64) -> (Vec<packs::ActiveModel>, Vec<i64>) {
    rows.retain(|row| row.packed.is_none());
    // By program, each in order.
    rows.sort_by_key(|row| (row.program, row.seq));
    let (mut made, mut positions) = (Vec::new(), Vec::new());
    for of_program in rows.chunk_by(|one, next| one.program == next.program && one.seq + 1 == next.seq) {
        let [first, ..] = of_program else { continue };
        let bytes = pack(of_program.iter().map(|row| row.edits.as_slice()));
        let plain: usize = of_program.iter().map(|row| row.edits.len()).sum();
        if bytes.len() + ROW > plain {
            continue;
        }
        made.push(packs::ActiveModel {
            program: Set(first.program),
            first: Set(first.seq),
            position: Set(through),
            bytes: Set(bytes),
        });
        positions.extend(of_program.iter().map(|row| row.position));
    }
    (made, positions)
}

/// Bytes that a pack takes beside the edits, about.
const ROW: usize = 48;

/// The columns of a row, read from its old self, when its edits are in a pack.
fn columns() -> impl Iterator<Item = (log::Column, SimpleExpr)> {
    log::Column::iter().map(|column| match column {
        log::Column::Edits => (column, Expr::cust("X''")),
        log::Column::Packed => (column, Expr::cust(r#"LENGTH("edits")"#)),
        same => (same, Expr::col(same)),
    })
}

/// Takes the edits out of rows where they are.
fn shortened(positions: Vec<i64>) -> Sql {
    let mut update = log::Entity::update_many().filter(log::Column::Position.is_in(positions));
    for (column, value) in [
        (log::Column::Edits, Expr::value(Vec::<u8>::new())),
        (log::Column::Packed, Expr::cust(r#"LENGTH("edits")"#)),
    ] {
        update = update.col_expr(column, value);
    }
    QueryTrait::into_query(update).into()
}

/// Takes the edits out of rows, which fill pages anew then.
fn shortened_anew(positions: Vec<i64>) -> Vec<Sql> {
    const MADE: &str = r#"CREATE TEMPORARY TABLE IF NOT EXISTS "packing" AS SELECT * FROM "log" WHERE FALSE"#;
    let aside = || Alias::new("packing");
    let these = log::Column::Position.is_in(positions.iter().copied());
    let rows = Query::select().columns(log::Column::iter()).from(log::Entity).and_where(these).to_owned();
    let shorter = Query::select()
        .exprs(columns().map(|(_, value)| value))
        .from(aside())
        .order_by(log::Column::Position, Order::Asc)
        .to_owned();
    let into = |table, from| {
        let mut insert = Query::insert();
        insert.into_table(table).columns(log::Column::iter());
        insert.select_from(from).expect("as many columns as there are");
        Sql::from(insert)
    };
    vec![
        Sql::Plain(MADE),
        into(aside(), rows),
        QueryTrait::into_query(log::Entity::delete_many().filter(log::Column::Position.is_in(positions)))
            .into(),
        into(Alias::new("log"), shorter),
        Sql::from(Query::delete().from_table(aside()).to_owned()),
    ]
}

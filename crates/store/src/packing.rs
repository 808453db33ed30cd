//! Packing the edits of older entries in the background.
//!
//! A window of consecutive rows is packed at a time, program by program. Rows that become shorter where they are would
//! leave a file as large as it was: SQLite fills a page only while it appends. So all rows of a window are taken out and put
//! back, in one transaction; their positions and all that they say stay the same. Processes that pack the same window at
//! the same time clash, and the second finds it packed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::{
    ActiveValue::Set, ColumnTrait, DatabaseConnection, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait,
};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::appending::insert_all_entries;
use crate::committer::Committer;
use crate::entity::{log, packs};
use crate::fault::{Failure, Fault};
use crate::feed::{Bound, stored_bytes};
use crate::packs::pack;
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
    pub(crate) fn start(reader: DatabaseConnection, committer: Committer, newest: u64) -> Self {
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
    reader: DatabaseConnection,
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
        let statements = tokio::task::spawn_blocking(move || statements(rows, through)).await;
        let statements = statements.map_err(|_| Fault::Closed)?;
        if !statements.is_empty() {
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
    async fn window(&mut self) -> Result<Option<Vec<log::Model>>, Fault> {
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
        Ok(Some(next.limit(fitting as u64).all(&self.reader).await?))
    }
}

/// What packs the rows of a window; nothing if they would take as much room.
fn statements(mut rows: Vec<log::Model>, through: i64) -> Vec<Sql> {
    rows.retain(|row| row.packed.is_none());
    // By program, each in order.
    rows.sort_by_key(|row| (row.program, row.seq));
    let (mut made, mut packed) = (Vec::new(), Vec::new());
    for of_program in rows.chunk_by_mut(|one, next| one.program == next.program && one.seq + 1 == next.seq) {
        let [first, ..] = of_program else { continue };
        let (program, first) = (first.program, first.seq);
        let bytes = pack(of_program.iter().map(|row| row.edits.as_slice()));
        let plain: usize = of_program.iter().map(|row| row.edits.len()).sum();
        if bytes.len() + ROW > plain {
            continue;
        }
        made.push(packs::ActiveModel {
            program: Set(program),
            first: Set(first),
            position: Set(through),
            bytes: Set(bytes),
        });
        for row in of_program {
            row.packed = Some(row.edits.len() as i64);
            row.edits.clear();
        }
    }
    rows.retain(|row| row.packed.is_some());
    rows.sort_by_key(|row| row.position);
    packed.extend(rows.into_iter().map(IntoActiveModel::into_active_model));
    if made.is_empty() {
        return Vec::new();
    }
    let positions: Vec<i64> =
        packed.iter().filter_map(|row: &log::ActiveModel| row.position.try_as_ref().copied()).collect();
    let delete = log::Entity::delete_many().filter(log::Column::Position.is_in(positions));
    let mut statements = vec![
        Sql::from(packs::Entity::insert_many(made).into_query()),
        Sql::from(QueryTrait::into_query(delete)),
    ];
    statements.extend(insert_all_entries(packed));
    statements
}

/// Bytes that a pack takes beside the edits, about.
const ROW: usize = 48;

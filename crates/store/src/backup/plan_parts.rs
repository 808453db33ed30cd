//! What belongs to no program: what is missing of it in a database, and whether it can be there.

use std::collections::VecDeque;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::backup::fate::{Fate, Refusal};
use crate::backup::parts::{Part, PartItem, PartsInFile};
use crate::entity::{entity_changes, flow_changes, manager_changes};
use crate::fault::Fault;
use crate::store::Store;

/// What becomes of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPart {
    /// Which one.
    pub part: Part,
    /// What is done: when it is continued, what is there is that of the backup from then on.
    pub fate: Fate,
    /// Changes that are stored.
    pub changes: u64,
    /// How much of it is in the file.
    pub in_file: PartsInFile,
    /// Changes of it that are here.
    pub(crate) changes_here: u64,
}

/// The changes of all parts in a file beside those that are here.
#[derive(Debug)]
pub(super) struct Comparison([Side; 3]);

#[derive(Debug)]
struct Side {
    part: Part,
    newest_here: u64,
    newest: u64,
    /// Changes that are to be compared next.
    page: VecDeque<(i64, Uuid, i64)>,
    /// The first change that is another one here.
    diverged: Option<u64>,
}

/// Changes that are read at a time.
const PAGE: u64 = 1_000;

impl Comparison {
    pub(super) async fn begin(store: &Store) -> Result<Self, Fault> {
        // One connection at a time.
        let entities = store.entities_now().await?.revision().await?;
        let newest_here = [entities, store.manager_revision().await?, store.flow_revision().await?];
        let side = |part, newest_here| {
            let (page, diverged) = (VecDeque::new(), None);
            Side { part, newest_here, newest: 0, page, diverged }
        };
        let [entities, manager, flows] = newest_here;
        Ok(Self([side(Part::Entities, entities), side(Part::Manager, manager), side(Part::Flows, flows)]))
    }

    pub(super) async fn take(&mut self, store: &Store, item: &PartItem) -> Result<(), Fault> {
        let Some((revision, id, time)) = item.change() else { return Ok(()) };
        let [entities, manager, flows] = &mut self.0;
        let side = match item.part() {
            Part::Entities => entities,
            Part::Manager => manager,
            Part::Flows => flows,
        };
        side.newest = revision;
        if revision > side.newest_here || side.diverged.is_some() {
            return Ok(());
        }
        if side.page.is_empty() {
            side.page = store.changes_from(side.part, revision).await?.into();
        }
        if side.page.pop_front() != Some((revision.cast_signed(), id, time.0)) {
            side.diverged = Some(revision);
        }
        Ok(())
    }

    /// What becomes of the parts of which there is something in the file, and why one cannot be there.
    pub(super) fn conclude(self, in_file: PartsInFile, refusals: &mut Vec<Refusal>) -> Vec<PlannedPart> {
        let mut planned = Vec::new();
        for Side { part, newest_here, newest, diverged, .. } in self.0 {
            if let Some(change) = diverged {
                refusals.push(Refusal::PartDiverged { part, change });
                continue;
            }
            let changes = newest.saturating_sub(newest_here);
            let fate = match newest_here {
                _ if changes == 0 => Fate::Kept,
                0 => Fate::Made,
                _ => Fate::Continued,
            };
            if newest > 0 {
                planned.push(PlannedPart { part, fate, changes, in_file, changes_here: newest_here });
            }
        }
        planned
    }
}

impl Store {
    /// The numbers, ids and times of some changes, from one on.
    async fn changes_from(&self, part: Part, first: u64) -> Result<Vec<(i64, Uuid, i64)>, Fault> {
        let first = first.cast_signed();
        Ok(match part {
            Part::Entities => {
                let found = entity_changes::Entity::find()
                    .select_only()
                    .column(entity_changes::Column::Revision)
                    .column(entity_changes::Column::Id)
                    .column(entity_changes::Column::Time)
                    .filter(entity_changes::Column::Revision.gte(first))
                    .order_by_asc(entity_changes::Column::Revision)
                    .limit(PAGE);
                found.into_tuple().all(&self.reader).await?
            }
            Part::Manager => {
                let found = manager_changes::Entity::find()
                    .select_only()
                    .column(manager_changes::Column::Revision)
                    .column(manager_changes::Column::Id)
                    .column(manager_changes::Column::Time)
                    .filter(manager_changes::Column::Revision.gte(first))
                    .order_by_asc(manager_changes::Column::Revision)
                    .limit(PAGE);
                found.into_tuple().all(&self.reader).await?
            }
            Part::Flows => {
                let found = flow_changes::Entity::find()
                    .select_only()
                    .column(flow_changes::Column::Revision)
                    .column(flow_changes::Column::Id)
                    .column(flow_changes::Column::Time)
                    .filter(flow_changes::Column::Revision.gte(first))
                    .order_by_asc(flow_changes::Column::Revision)
                    .limit(PAGE);
                found.into_tuple().all(&self.reader).await?
            }
        })
    }
}

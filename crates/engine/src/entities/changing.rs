//! Changing entities.

use lmlang_entities::{Changes, Counts, Patch, PatchError, Stamp, apply};
use lmlang_store::{
    ChangeEntitiesError, EntityChange, EntityCounts, EntityRow, NewEntityChange, RelationRow, Timestamp,
};
use uuid::Uuid;

use crate::engine::Engine;
use crate::entities::part::Sort;
use crate::entities::record;
use crate::entities::stored::Stored;
use crate::error::Error;
use crate::flows::starting::idempotency;
use crate::records::to_actor;
use crate::request::Call;

/// How often a patch is planned before its writer gives way to those of other processes. Writers of this one take turns.
const ATTEMPTS: usize = 8;

/// What became of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patched {
    /// How much it changes.
    pub counts: Counts,
    /// Whether that is so now; not after a dry run.
    pub committed: bool,
}

impl Engine {
    /// Changes entities as a patch says, all of it or nothing, and answers when that is durable.
    ///
    /// Patches merge, so that one that comes again changes nothing. Under an idempotency key it is answered as the first time
    /// as well, and not applied to what others have made of the entities since. A dry run stores nothing, its key neither.
    pub async fn patch_entities(
        &self,
        mut patch: Patch,
        dry_run: bool,
        call: &Call,
    ) -> Result<Patched, Error> {
        patch.refuse_labels(&Sort::ALL.map(Sort::name))?;
        let _turn = self.0.entities.lock().await;
        let making = idempotency(call).filter(|_| !dry_run);
        for _ in 0..ATTEMPTS {
            let view = self.store().entities_now().await?;
            if let Some(making) = &making
                && let Some(first) = view.change_made_under(&making.key).await?
            {
                return match first.making.as_ref() == Some(making) {
                    true => Ok(Patched { counts: counts_of(first.counts), committed: true }),
                    false => Err(Error::IdempotencyMismatch),
                };
            }
            let revision = view.revision().await?;
            let (now, clock) = (self.now(), self.0.clock.clone());
            let stored = Stored::new(view, self.closing());
            let plan = move || {
                let planned = apply(&stored, &patch, Stamp { time_micros: now }, || clock.id().into_bytes());
                (patch, planned)
            };
            let (again, planned) = self.compute(plan).await?;
            patch = again;
            let (changes, counts) = planned.map_err(|error| match error {
                PatchError::Validation(error) => Error::EntityValue(error),
                PatchError::Constraint(error) => Error::EntityConstraint(error),
                PatchError::Graph(error) => error,
            })?;
            if dry_run {
                return Ok(Patched { counts, committed: false });
            }
            if changes.is_empty() && making.is_none() {
                return Ok(Patched { counts, committed: true });
            }
            let change = EntityChange {
                revision: revision + 1,
                id: self.0.clock.id(),
                time: Timestamp(now),
                actor: self.store().actor_key(&to_actor(&call.actor)).await?,
                counts: to_counts(counts),
                making: making.clone(),
            };
            match self.store().change_entities(rows(change, changes)).await {
                Ok(()) => return Ok(Patched { counts, committed: true }),
                Err(ChangeEntitiesError::Moved) => {}
                Err(ChangeEntitiesError::Storage(fault)) => return Err(fault.into()),
            }
        }
        Err(Error::Overloaded { what: "changes of entities" })
    }
}

fn rows(change: EntityChange, changes: Changes) -> NewEntityChange {
    let entities =
        |entities: Vec<_>| entities.into_iter().map(record::entity_row).collect::<Vec<EntityRow>>();
    let relations =
        |relations: Vec<_>| relations.into_iter().map(record::relation_row).collect::<Vec<RelationRow>>();
    NewEntityChange {
        change,
        deleted_relations: changes.deleted_relations.iter().map(|gone| Uuid::from_bytes(gone.id.0)).collect(),
        deleted_entities: changes.deleted_entities.iter().map(|gone| Uuid::from_bytes(gone.id.0)).collect(),
        inserted_entities: entities(changes.inserted_entities),
        updated_entities: entities(changes.updated_entities),
        inserted_relations: relations(changes.inserted_relations),
        updated_relations: relations(changes.updated_relations),
    }
}

fn to_counts(counts: Counts) -> EntityCounts {
    EntityCounts {
        inserted: counts.created as u64,
        updated: counts.updated as u64,
        deleted: counts.deleted as u64,
        unchanged: counts.unchanged as u64,
    }
}

fn counts_of(counts: EntityCounts) -> Counts {
    let count = |count| usize::try_from(count).unwrap_or(usize::MAX);
    Counts {
        created: count(counts.inserted),
        updated: count(counts.updated),
        deleted: count(counts.deleted),
        unchanged: count(counts.unchanged),
    }
}

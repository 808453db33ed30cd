//! The programs at the moment at which somebody looks at entities.

use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use uuid::Uuid;

use crate::entities::EntitiesThen;
use crate::entity::{log, programs};
use crate::entry::{EntryKind, ProgramKey};
use crate::fault::Fault;
use crate::log::of;
use crate::programs::{Program, live, sought};

/// The number of `main`, the branch that every program has.
const MAIN: i32 = 0;

impl EntitiesThen {
    /// Live programs in the order of their ids, at most so many after one; of those with the ids `only`, if these are given.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn programs(
        &self,
        after: Option<Uuid>,
        only: Option<&[Uuid]>,
        limit: u64,
    ) -> Result<Vec<Program>, Fault> {
        let mut found = among(only);
        if let Some(after) = after {
            found = found.filter(programs::Column::Id.gt(after));
        }
        let rows = found.order_by_asc(programs::Column::Id).limit(limit).all(&self.view).await?;
        Ok(rows.into_iter().map(Program::from).collect())
    }

    /// The live program with an id.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn program(&self, id: Uuid) -> Result<Option<Program>, Fault> {
        Ok(among(None).filter(programs::Column::Id.eq(id)).one(&self.view).await?.map(Program::from))
    }

    /// The live program with a name.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn program_named(&self, name: &str) -> Result<Option<Program>, Fault> {
        let found = among(None).filter(programs::Column::Name.eq(sought(name)));
        Ok(found.one(&self.view).await?.map(Program::from))
    }

    /// How many live programs there are; of those with the ids `only`, if these are given.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_programs(&self, only: Option<&[Uuid]>) -> Result<u64, Fault> {
        Ok(among(only).count(&self.view).await?)
    }

    /// The number of the newest entry on `main` that makes a state.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn newest_on_main(&self, program: ProgramKey) -> Result<Option<u64>, Fault> {
        let newest = of(program)
            .filter(log::Column::Branch.eq(MAIN))
            .filter(log::Column::Kind.lt(EntryKind::FIRST_MARK.code()))
            .order_by_desc(log::Column::Seq)
            .limit(1);
        let seq: Option<i64> =
            newest.select_only().column(log::Column::Seq).into_tuple().one(&self.view).await?;
        Ok(seq.map(i64::cast_unsigned))
    }
}

fn among(only: Option<&[Uuid]>) -> Select<programs::Entity> {
    let found = programs::Entity::find().filter(live());
    match only {
        Some(only) => found.filter(programs::Column::Id.is_in(only.iter().copied())),
        None => found,
    }
}

//! Who executes runs: when something is to be done about one, and who has it meanwhile.

use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::entity::runs;
use crate::entry::Timestamp;
use crate::fault::Fault;
use crate::store::Store;

impl Store {
    /// Runs about which something is to be done by now, and which nobody else executes; the oldest need first.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn due_runs(&self, me: Uuid, now: Timestamp, limit: u64) -> Result<Vec<Uuid>, Fault> {
        let mine = Condition::any()
            .add(runs::Column::Owner.is_null())
            .add(runs::Column::Owner.eq(me))
            .add(runs::Column::Lease.lt(now.0));
        let found = runs::Entity::find()
            .filter(runs::Column::Wake.lte(now.0))
            .filter(mine)
            .order_by_asc(runs::Column::Wake)
            .limit(limit)
            .select_only()
            .column(runs::Column::Id);
        Ok(found.into_tuple().all(&self.reader).await?)
    }

    /// When something is to be done next about a run, after a time.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn next_wake(&self, after: Timestamp) -> Result<Option<Timestamp>, Fault> {
        let found = runs::Entity::find()
            .filter(runs::Column::Wake.gt(after.0))
            .order_by_asc(runs::Column::Wake)
            .limit(1)
            .select_only()
            .column(runs::Column::Wake);
        Ok(found.into_tuple::<i64>().one(&self.reader).await?.map(Timestamp))
    }

    /// Takes a run for executing it until a time, unless somebody else has it. Answers whether it did.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn claim_run(
        &self,
        id: Uuid,
        me: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, Fault> {
        let free = Expr::col(runs::Column::Owner)
            .is_null()
            .or(Expr::col(runs::Column::Owner).eq(me))
            .or(Expr::col(runs::Column::Lease).lt(now.0));
        let claim = Query::update()
            .table(runs::Entity)
            .value(runs::Column::Owner, me)
            .value(runs::Column::Lease, until.0)
            .and_where(Expr::col(runs::Column::Id).eq(id))
            .and_where(free)
            .to_owned();
        let changed = self.committer().write(vec![claim.into()], None).await?;
        Ok(changed.last() == Some(&1))
    }

    /// Notes when something is to be done about a run that goes on.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn wake_run(&self, id: Uuid, at: Timestamp) -> Result<(), Fault> {
        let update = Query::update()
            .table(runs::Entity)
            .value(runs::Column::Wake, at.0)
            .and_where(Expr::col(runs::Column::Id).eq(id))
            .and_where(Expr::col(runs::Column::Ended).is_null())
            .to_owned();
        self.committer().write(vec![update.into()], None).await?;
        Ok(())
    }

    /// Notes that nothing is to be done any more about a run that has ended.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn rest_run(&self, id: Uuid) -> Result<(), Fault> {
        let update = Query::update()
            .table(runs::Entity)
            .value(runs::Column::Wake, Option::<i64>::None)
            .and_where(Expr::col(runs::Column::Id).eq(id))
            .and_where(Expr::col(runs::Column::Ended).is_not_null())
            .to_owned();
        self.committer().write(vec![update.into()], None).await?;
        Ok(())
    }

    /// Gives free whatever runs a process has.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn release_runs(&self, me: Uuid) -> Result<(), Fault> {
        let update = Query::update()
            .table(runs::Entity)
            .value(runs::Column::Owner, Option::<Uuid>::None)
            .and_where(Expr::col(runs::Column::Owner).eq(me))
            .and_where(Expr::col(runs::Column::Ended).is_null())
            .to_owned();
        self.committer().write(vec![update.into()], None).await?;
        Ok(())
    }

    /// Gives one run free, if a process has it.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn release_run(&self, id: Uuid, me: Uuid) -> Result<(), Fault> {
        let update = Query::update()
            .table(runs::Entity)
            .value(runs::Column::Owner, Option::<Uuid>::None)
            .and_where(Expr::col(runs::Column::Id).eq(id))
            .and_where(Expr::col(runs::Column::Owner).eq(me))
            .to_owned();
        self.committer().write(vec![update.into()], None).await?;
        Ok(())
    }
}

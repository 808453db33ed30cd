//! What the built-in Manager keeps, as records under a kind and a name, changed from one revision to the next.
//!
//! Whoever plans a change reads at a revision, and stores it as the next one, as entities are changed: of two who planned on
//! one revision the second stores nothing, and plans again.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IsolationLevel, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, TransactionTrait,
};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::{manager_changes, manager_records};
use crate::entry::Timestamp;
use crate::fault::{Failure, Fault};
use crate::sql::Sql;
use crate::store::Store;

/// Something that a Manager keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerRecord {
    /// What it is of.
    pub kind: String,
    /// Its name: no other record of the kind has it.
    pub name: String,
    /// What there is, encoded; none in a change that takes it away.
    pub value: Option<Vec<u8>>,
}

/// A change of what a Manager keeps.
#[derive(Debug, Clone)]
pub struct ManagerChange {
    /// Its number: one more than that of the revision that it was planned on, from 1 on.
    pub revision: u64,
    /// Its id.
    pub id: Uuid,
    /// When.
    pub time: Timestamp,
    /// Who made it.
    pub actor: ActorKey,
    /// The records as it leaves them.
    pub records: Vec<ManagerRecord>,
}

/// Why a change of what a Manager keeps was not stored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChangeManagerError {
    /// Another one was stored since the revision that it was planned on.
    #[error("what the Manager keeps has changed")]
    Moved,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

impl Store {
    /// The number of the newest change of what the Manager keeps, 0 without one.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn manager_revision(&self) -> Result<u64, Fault> {
        newest(&self.reader).await
    }

    /// All that the Manager keeps, as it is at one moment, with the number of the newest change.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn manager_records(&self) -> Result<(u64, Vec<ManagerRecord>), Fault> {
        self.reader.ask()?;
        let view = match self.reader.get_database_backend() {
            // There each statement would see a moment of its own.
            DbBackend::Postgres => {
                self.reader.begin_with_config(Some(IsolationLevel::RepeatableRead), None).await?
            }
            _ => self.reader.begin().await?,
        };
        let revision = newest(&view).await?;
        let rows = manager_records::Entity::find().all(&view).await?;
        Ok((revision, rows.into_iter().map(ManagerRecord::try_from).collect::<Result<_, Fault>>()?))
    }

    /// Stores a change of what the Manager keeps, all of it or nothing.
    ///
    /// # Errors
    ///
    /// See [`ChangeManagerError`]; nothing is stored then.
    pub async fn change_manager(&self, change: ManagerChange) -> Result<(), ChangeManagerError> {
        let id = change.id;
        match self.committer().write(statements(change), None).await {
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                // A statement whose answer was lost has run before.
                let there = manager_changes::Entity::find().filter(manager_changes::Column::Id.eq(id));
                match there.one(&self.reader).await.map_err(Fault::from)? {
                    Some(_) => Ok(()),
                    None => Err(ChangeManagerError::Moved),
                }
            }
            Err(failure) => Err(ChangeManagerError::Storage(failure.into())),
        }
    }
}

impl TryFrom<manager_records::Model> for ManagerRecord {
    type Error = Fault;

    fn try_from(row: manager_records::Model) -> Result<Self, Fault> {
        let text = |bytes, column| {
            String::from_utf8(bytes).map_err(|_| Fault::Row { table: "manager_records", column })
        };
        Ok(Self { kind: text(row.kind, "kind")?, name: text(row.name, "name")?, value: Some(row.value) })
    }
}

async fn newest(db: &impl ConnectionTrait) -> Result<u64, Fault> {
    let newest = manager_changes::Entity::find()
        .select_only()
        .column(manager_changes::Column::Revision)
        .order_by_desc(manager_changes::Column::Revision)
        .limit(1);
    let newest: Option<i64> = newest.into_tuple().one(db).await?;
    Ok(newest.map_or(0, i64::cast_unsigned))
}

/// What stores a change: first what clashes if it is not the next one.
fn statements(change: ManagerChange) -> Vec<Sql> {
    let row = manager_changes::ActiveModel {
        revision: Set(change.revision.cast_signed()),
        id: Set(change.id),
        time: Set(change.time.0),
        actor: Set(change.actor.0),
    };
    let mut statements: Vec<Sql> = vec![manager_changes::Entity::insert(row).into_query().into()];
    for ManagerRecord { kind, name, value } in change.records {
        let mut old = Query::delete();
        old.from_table(manager_records::Entity)
            .and_where(Expr::col(manager_records::Column::Kind).eq(kind.as_bytes()))
            .and_where(Expr::col(manager_records::Column::Name).eq(name.as_bytes()));
        statements.push(old.into());
        if let Some(value) = value {
            let row = manager_records::ActiveModel {
                kind: Set(kind.into_bytes()),
                name: Set(name.into_bytes()),
                value: Set(value),
            };
            statements.push(manager_records::Entity::insert(row).into_query().into());
        }
    }
    statements
}

//! What changed entities.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "entity_changes")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) revision: i64,
    #[sea_orm(unique)]
    pub(crate) id: Uuid,
    pub(crate) time: i64,
    pub(crate) actor: i64,
    pub(crate) inserted: i64,
    pub(crate) updated: i64,
    pub(crate) deleted: i64,
    pub(crate) unchanged: i64,
    pub(crate) made_key: Option<Vec<u8>>,
    pub(crate) made_digest: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

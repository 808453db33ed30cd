//! Flows that were declared, each declaration as a change.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "flow_changes")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) revision: i64,
    #[sea_orm(unique)]
    pub(crate) id: Uuid,
    pub(crate) time: i64,
    pub(crate) actor: i64,
    pub(crate) name: Vec<u8>,
    pub(crate) version: i64,
    pub(crate) definition: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

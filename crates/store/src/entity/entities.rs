//! Entities.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "entities")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) key: i64,
    #[sea_orm(unique)]
    pub(crate) id: Uuid,
    pub(crate) label: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) props: Vec<u8>,
    pub(crate) created: i64,
    pub(crate) updated: i64,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Sessions that runs belong to.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) key: i64,
    #[sea_orm(unique)]
    pub(crate) id: Uuid,
    pub(crate) workflow: String,
    pub(crate) title: Option<String>,
    pub(crate) actor: i64,
    pub(crate) made: i64,
    pub(crate) made_key: Option<Vec<u8>>,
    pub(crate) made_digest: Option<Vec<u8>>,
    pub(crate) within: Option<i64>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

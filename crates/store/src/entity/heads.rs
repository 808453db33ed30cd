//! Branches.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "heads")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) program: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) branch: i32,
    pub(crate) name: String,
    pub(crate) seq: i64,
    pub(crate) created: i64,
    pub(crate) deleted: Option<i64>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

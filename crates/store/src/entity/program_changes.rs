//! What became of programs as wholes.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "program_changes")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) key: i64,
    pub(crate) position: i64,
    pub(crate) program: i64,
    pub(crate) kind: i16,
    pub(crate) name: String,
    pub(crate) time: i64,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

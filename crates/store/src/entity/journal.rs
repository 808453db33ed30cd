//! Entries of the journals of runs.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "journal")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) position: i64,
    pub(crate) run: Uuid,
    pub(crate) number: i64,
    pub(crate) time: i64,
    pub(crate) kind: i16,
    pub(crate) payload: Vec<u8>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

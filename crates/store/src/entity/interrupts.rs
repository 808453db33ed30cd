//! Questions of runs.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "interrupts")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) key: i64,
    pub(crate) run: Uuid,
    pub(crate) asked: i64,
    pub(crate) time: i64,
    pub(crate) standing: i16,
    pub(crate) program: Option<Uuid>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

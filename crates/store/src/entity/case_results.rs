//! What runs of cases gave.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "case_results")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) program: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) digest: Vec<u8>,
    pub(crate) made: i64,
    pub(crate) payload: Vec<u8>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

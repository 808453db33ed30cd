//! Revisions at which cases were run or known.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "case_sightings")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) case_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) branch: i32,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) revision: i64,
    pub(crate) digest: Vec<u8>,
    pub(crate) green: bool,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

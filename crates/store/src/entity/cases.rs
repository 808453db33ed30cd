//! Test cases of functions.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "cases")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) program: i64,
    pub(crate) function: i64,
    pub(crate) name: String,
    pub(crate) made: i64,
    pub(crate) removed: Option<i64>,
    pub(crate) made_key: Option<Vec<u8>>,
    pub(crate) made_digest: Option<Vec<u8>>,
    pub(crate) removed_key: Option<Vec<u8>>,
    pub(crate) removed_digest: Option<Vec<u8>>,
    pub(crate) payload: Vec<u8>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

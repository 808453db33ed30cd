//! Requests that changed programs as wholes, by their idempotency keys.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "program_requests")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) idem_key: Vec<u8>,
    pub(crate) request_digest: Vec<u8>,
    pub(crate) program: i64,
    pub(crate) seq: i64,
    pub(crate) name: String,
    pub(crate) doc: String,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

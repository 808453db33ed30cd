//! What requests were answered that change nothing, by their idempotency keys.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "look_requests")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) idem_key: Vec<u8>,
    pub(crate) request_digest: Vec<u8>,
    pub(crate) program: i64,
    pub(crate) made: i64,
    pub(crate) payload: Vec<u8>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

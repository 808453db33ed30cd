//! Tokens with which callers show who they are.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_tokens")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: String,
    pub(crate) hash: Vec<u8>,
    pub(crate) name: String,
    pub(crate) kind: i16,
    pub(crate) scopes: i16,
    pub(crate) programs: Option<String>,
    pub(crate) created: i64,
    pub(crate) expires: Option<i64>,
    pub(crate) last_used: Option<i64>,
    pub(crate) revoked: Option<i64>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

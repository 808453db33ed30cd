//! Runs of flows.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "runs")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) key: i64,
    #[sea_orm(unique)]
    pub(crate) id: Uuid,
    pub(crate) flow: String,
    pub(crate) definition: Vec<u8>,
    pub(crate) session: Uuid,
    pub(crate) parent: Option<Uuid>,
    pub(crate) parent_place: Option<String>,
    pub(crate) program: Option<Uuid>,
    pub(crate) branch: Option<String>,
    pub(crate) actor: i64,
    pub(crate) input: Vec<u8>,
    pub(crate) made: i64,
    pub(crate) status: i16,
    pub(crate) node: Option<String>,
    pub(crate) last: i64,
    pub(crate) wake: Option<i64>,
    pub(crate) ended: Option<i64>,
    pub(crate) made_key: Option<Vec<u8>>,
    pub(crate) made_digest: Option<Vec<u8>>,
    pub(crate) forked_from: Option<Uuid>,
    pub(crate) forked_at: Option<i64>,
    pub(crate) owner: Option<Uuid>,
    pub(crate) lease: Option<i64>,
    pub(crate) deadline: Option<i64>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

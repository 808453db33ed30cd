//! The log.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "log")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) position: i64,
    pub(crate) program: i64,
    pub(crate) seq: i64,
    pub(crate) id: Uuid,
    pub(crate) parents: Vec<u8>,
    pub(crate) branch: i32,
    pub(crate) kind: i16,
    pub(crate) actor: i64,
    pub(crate) on_behalf_of: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) time: i64,
    pub(crate) edits: Vec<u8>,
    pub(crate) counts: Vec<u8>,
    pub(crate) root_hash: Vec<u8>,
    pub(crate) next_ref: i64,
    pub(crate) target: Option<i64>,
    pub(crate) idem_key: Option<Vec<u8>>,
    pub(crate) request_digest: Option<Vec<u8>>,
    pub(crate) run: Option<Uuid>,
    pub(crate) step: Option<i64>,
    /// Bytes of the edits in a pack; `edits` is empty then.
    pub(crate) packed: Option<i64>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A row without its edits, which may be long.
#[derive(Debug, Clone, DerivePartialModel)]
#[sea_orm(entity = "Entity")]
pub(crate) struct Header {
    pub(crate) seq: i64,
    pub(crate) id: Uuid,
    pub(crate) parents: Vec<u8>,
    pub(crate) branch: i32,
    pub(crate) kind: i16,
    pub(crate) actor: i64,
    pub(crate) on_behalf_of: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) time: i64,
    pub(crate) counts: Vec<u8>,
    pub(crate) root_hash: Vec<u8>,
    pub(crate) next_ref: i64,
    pub(crate) target: Option<i64>,
    pub(crate) idem_key: Option<Vec<u8>>,
    pub(crate) request_digest: Option<Vec<u8>>,
    pub(crate) run: Option<Uuid>,
    pub(crate) step: Option<i64>,
}

impl Model {
    /// The row without its edits, and these.
    pub(crate) fn split(self) -> (Header, Vec<u8>) {
        let header = Header {
            seq: self.seq,
            id: self.id,
            parents: self.parents,
            branch: self.branch,
            kind: self.kind,
            actor: self.actor,
            on_behalf_of: self.on_behalf_of,
            message: self.message,
            time: self.time,
            counts: self.counts,
            root_hash: self.root_hash,
            next_ref: self.next_ref,
            target: self.target,
            idem_key: self.idem_key,
            request_digest: self.request_digest,
            run: self.run,
            step: self.step,
        };
        (header, self.edits)
    }
}

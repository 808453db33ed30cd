//! What requests under an idempotency key were answered that look for something and change nothing, for a while.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{EntityTrait, QueryTrait};

use crate::entity::look_requests;
use crate::entry::{Idempotency, ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::store::Store;

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Its key, unique over all programs, and its digest.
    pub request: Idempotency,
    /// The program that it asks about.
    pub program: ProgramKey,
    /// When it was answered.
    pub made: Timestamp,
    /// The answer, encoded.
    pub payload: Vec<u8>,
}

impl Store {
    /// The request that was answered under a key, if that is kept.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn answered(&self, key: &[u8]) -> Result<Option<Answered>, Fault> {
        let row = look_requests::Entity::find_by_id(key.to_vec()).one(&self.reader).await?;
        Ok(row.map(|row| Answered {
            request: Idempotency { key: row.idem_key, digest: row.request_digest },
            program: ProgramKey(row.program),
            made: Timestamp(row.made),
            payload: row.payload,
        }))
    }

    /// Keeps an answer, unless there is one under its key, and lets go of those before a time.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is stored then.
    pub async fn keep_answer(&self, answered: Answered, oldest: Timestamp) -> Result<(), Fault> {
        let old = Query::delete()
            .from_table(look_requests::Entity)
            .and_where(Expr::col(look_requests::Column::Made).lt(oldest.0))
            .to_owned();
        let row = look_requests::ActiveModel {
            idem_key: Set(answered.request.key),
            request_digest: Set(answered.request.digest),
            program: Set(answered.program.0),
            made: Set(answered.made.0),
            payload: Set(answered.payload),
        };
        let mut insert = look_requests::Entity::insert(row).into_query();
        insert.on_conflict(OnConflict::column(look_requests::Column::IdemKey).do_nothing().to_owned());
        self.committer().write(vec![old.into(), insert.into()], None).await?;
        Ok(())
    }
}

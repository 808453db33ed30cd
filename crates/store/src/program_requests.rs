//! Requests under an idempotency key that changed a program as a whole, so that a repetition is answered as the first.
//!
//! A row is written in the transaction that carries its request out.

use sea_orm::EntityTrait;
use sea_orm::sea_query::{Expr, ExprTrait, Query};

use crate::entity::{program_requests, programs};
use crate::entry::{Idempotency, ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::sql::Sql;
use crate::store::Store;

/// When a program is changed as a whole, and by which request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRequest {
    /// When.
    pub time: Timestamp,
    /// The request's key, unique over all programs; without one, it is not kept.
    pub idempotency: Option<Idempotency>,
    /// The entry that the program's content is at.
    pub seq: u64,
}

impl From<Timestamp> for ProgramRequest {
    /// A request without a key.
    fn from(time: Timestamp) -> Self {
        Self { time, idempotency: None, seq: 0 }
    }
}

/// What a request under a key left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedOut {
    /// The digest of the request.
    pub digest: Vec<u8>,
    /// The program.
    pub program: ProgramKey,
    /// The entry that its content was at.
    pub seq: u64,
    /// Its name then.
    pub name: String,
    /// Its doc then.
    pub doc: String,
}

impl Store {
    /// What the request with a key left behind, if it changed a program as a whole.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn carried_out(&self, key: &[u8]) -> Result<Option<CarriedOut>, Fault> {
        let row = program_requests::Entity::find_by_id(key.to_vec()).one(&self.reader).await?;
        row.map(|row| {
            let seq = u64::try_from(row.seq);
            Ok(CarriedOut {
                digest: row.request_digest,
                program: ProgramKey(row.program),
                seq: seq.map_err(|_| Fault::Row { table: "program_requests", column: "seq" })?,
                name: row.name,
                doc: row.doc,
            })
        })
        .transpose()
    }
}

/// Notes what a request leaves behind, of a program that is live before it: nothing without a key.
pub(crate) fn note(
    key: ProgramKey,
    request: &ProgramRequest,
    name: Option<&str>,
    doc: Option<&str>,
) -> Option<Sql> {
    let Idempotency { key: idem_key, digest } = request.idempotency.as_ref()?;
    let or_old = |given: Option<&str>, old| given.map_or_else(|| Expr::col(old), Expr::value);
    let left = Query::select()
        .expr(Expr::value(idem_key.clone()))
        .expr(Expr::value(digest.clone()))
        .column(programs::Column::Key)
        .expr(Expr::value(i64::try_from(request.seq).unwrap_or(i64::MAX)))
        .expr(or_old(name, programs::Column::Name))
        .expr(or_old(doc, programs::Column::Doc))
        .from(programs::Entity)
        .and_where(Expr::col(programs::Column::Key).eq(key.0))
        .and_where(Expr::col(programs::Column::Deleted).is_null())
        .to_owned();
    let mut insert = Query::insert();
    insert.into_table(program_requests::Entity).columns([
        program_requests::Column::IdemKey,
        program_requests::Column::RequestDigest,
        program_requests::Column::Program,
        program_requests::Column::Seq,
        program_requests::Column::Name,
        program_requests::Column::Doc,
    ]);
    insert.select_from(left).expect("as many columns are selected as are named");
    Some(insert.into())
}

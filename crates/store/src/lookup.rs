//! What the committer asks the database, on the connection that writes: it sees its own work at once.

use sea_orm::sea_query::{Expr, ExprTrait, Query};
use uuid::Uuid;

use crate::entity::{log, programs};
use crate::entry::{EntryKind, Head, ProgramKey};
use crate::fault::Failure;
use crate::writer::Writer;

impl Writer {
    /// The newest entry of a log; `None` if there is no such program.
    pub(crate) async fn head(&mut self, program: ProgramKey) -> Result<Option<Head>, Failure> {
        let alive = Query::select()
            .column(programs::Column::Key)
            .from(programs::Entity)
            .and_where(Expr::col(programs::Column::Key).eq(program.0))
            .and_where(Expr::col(programs::Column::Deleted).is_null())
            .to_owned();
        if self.value::<i64>(&alive.into()).await?.is_none() {
            return Ok(None);
        }
        let newest = Query::select()
            .expr(Expr::col(log::Column::Seq).max())
            .from(log::Entity)
            .and_where(Expr::col(log::Column::Program).eq(program.0))
            .to_owned();
        let Some(seq) = self.value::<Option<i64>>(&newest.into()).await?.flatten() else { return Ok(None) };
        let id = self.entry_id(program, seq.cast_unsigned()).await?;
        Ok(id.map(|id| Head { seq: seq.cast_unsigned(), id }))
    }

    /// The id of the entry with a number.
    pub(crate) async fn entry_id(&mut self, program: ProgramKey, seq: u64) -> Result<Option<Uuid>, Failure> {
        let query = Query::select()
            .column(log::Column::Id)
            .from(log::Entity)
            .and_where(Expr::col(log::Column::Program).eq(program.0))
            .and_where(Expr::col(log::Column::Seq).eq(seq.cast_signed()))
            .to_owned();
        self.value(&query.into()).await
    }

    /// The entry that carries an idempotency key.
    pub(crate) async fn seq_of_key(
        &mut self,
        program: ProgramKey,
        key: &[u8],
    ) -> Result<Option<u64>, Failure> {
        let query = Query::select()
            .column(log::Column::Seq)
            .from(log::Entity)
            .and_where(Expr::col(log::Column::IdemKey).eq(key.to_vec()))
            .and_where(Expr::col(log::Column::Program).eq(program.0))
            .to_owned();
        Ok(self.value::<i64>(&query.into()).await?.map(i64::cast_unsigned))
    }

    /// The program whose creation carries an idempotency key.
    pub(crate) async fn program_created_by(&mut self, key: &[u8]) -> Result<Option<ProgramKey>, Failure> {
        let query = Query::select()
            .column(log::Column::Program)
            .from(log::Entity)
            .and_where(Expr::col(log::Column::IdemKey).eq(key.to_vec()))
            .and_where(Expr::col(log::Column::Kind).eq(EntryKind::Create.code()))
            .to_owned();
        Ok(self.value::<i64>(&query.into()).await?.map(ProgramKey))
    }

    /// The program with an id, deleted or not.
    pub(crate) async fn program_with_id(&mut self, id: Uuid) -> Result<Option<ProgramKey>, Failure> {
        let query = Query::select()
            .column(programs::Column::Key)
            .from(programs::Entity)
            .and_where(Expr::col(programs::Column::Id).eq(id))
            .to_owned();
        Ok(self.value::<i64>(&query.into()).await?.map(ProgramKey))
    }
}

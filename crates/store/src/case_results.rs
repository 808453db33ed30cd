//! What runs of test cases gave, and at which revisions the cases were seen. All of it follows from the logs.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Order, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryTrait};
use uuid::Uuid;

use crate::entity::{case_results, case_sightings};
use crate::entry::{ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::sql::Sql;
use crate::store::Store;

/// What a run gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    /// The digest of all that it follows from.
    pub digest: [u8; 32],
    /// What it gave, encoded.
    pub payload: Vec<u8>,
}

/// A revision at which it is known whether a case holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The case.
    pub case: Uuid,
    /// The branch of the revision.
    pub branch: u32,
    /// The revision.
    pub revision: u64,
    /// The digest of the run that tells.
    pub digest: [u8; 32],
    /// Whether it holds.
    pub green: bool,
}

/// Digests, or ids, that one statement asks for.
const ASKED: usize = 256;

impl Store {
    /// Those of some results that are kept.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn case_results(
        &self,
        program: ProgramKey,
        digests: &[[u8; 32]],
    ) -> Result<Vec<CaseResult>, Fault> {
        let mut all = Vec::with_capacity(digests.len());
        for some in digests.chunks(ASKED) {
            let found = case_results::Entity::find()
                .filter(case_results::Column::Program.eq(program.0))
                .filter(case_results::Column::Digest.is_in(some.iter().map(|digest| digest.to_vec())));
            for row in found.all(&self.reader).await? {
                let digest = row.digest.try_into();
                let digest = digest.map_err(|_| Fault::Row { table: "case_results", column: "digest" })?;
                all.push(CaseResult { digest, payload: row.payload });
            }
        }
        Ok(all)
    }

    /// Keeps results and sightings, in the background. Of the results of the program the newest are kept, `most` of them.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is stored then.
    pub async fn keep_case_results(
        &self,
        program: ProgramKey,
        mut results: Vec<CaseResult>,
        sightings: Vec<Sighting>,
        now: Timestamp,
        most: u64,
    ) -> Result<(), Fault> {
        // One statement does not write a row twice.
        results.sort_unstable_by_key(|result| result.digest);
        results.dedup_by_key(|result| result.digest);
        let mut statements: Vec<Sql> = Vec::new();
        let rows: Vec<_> = results
            .into_iter()
            .map(|result| case_results::ActiveModel {
                program: Set(program.0),
                digest: Set(result.digest.to_vec()),
                made: Set(now.0),
                payload: Set(result.payload),
            })
            .collect();
        if !rows.is_empty() {
            for some in rows.chunks(ASKED) {
                let mut insert = case_results::Entity::insert_many(some.to_vec()).into_query();
                insert.on_conflict(
                    OnConflict::columns([case_results::Column::Program, case_results::Column::Digest])
                        .update_columns([case_results::Column::Made, case_results::Column::Payload])
                        .to_owned(),
                );
                statements.push(insert.into());
            }
            statements.push(older(program, most));
        }
        for sighting in sightings {
            let mut insert = case_sightings::Entity::insert(case_sightings::ActiveModel {
                case_id: Set(sighting.case),
                branch: Set(sighting.branch.cast_signed()),
                revision: Set(sighting.revision.cast_signed()),
                digest: Set(sighting.digest.to_vec()),
                green: Set(sighting.green),
            })
            .into_query();
            insert.on_conflict(
                OnConflict::columns([
                    case_sightings::Column::CaseId,
                    case_sightings::Column::Branch,
                    case_sightings::Column::Revision,
                ])
                .update_columns([case_sightings::Column::Digest, case_sightings::Column::Green])
                .to_owned(),
            );
            statements.push(insert.into());
            statements.push(passed(&sighting));
        }
        if !statements.is_empty() {
            self.committer().write_in_background(statements).await?;
        }
        Ok(())
    }

    /// The revisions at which cases are known to hold.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn green_sightings(&self, cases: &[Uuid]) -> Result<Vec<Sighting>, Fault> {
        let mut all = Vec::new();
        for some in cases.chunks(ASKED) {
            let found = case_sightings::Entity::find()
                .filter(case_sightings::Column::CaseId.is_in(some.iter().copied()))
                .filter(case_sightings::Column::Green.eq(true));
            for row in found.all(&self.reader).await? {
                let unreadable = |column| Fault::Row { table: "case_sightings", column };
                all.push(Sighting {
                    case: row.case_id,
                    branch: row.branch.cast_unsigned(),
                    revision: row.revision.try_into().map_err(|_| unreadable("revision"))?,
                    digest: row.digest.try_into().map_err(|_| unreadable("digest"))?,
                    green: row.green,
                });
            }
        }
        Ok(all)
    }
}

/// Removes the results of a program but for the newest.
fn older(program: ProgramKey, most: u64) -> Sql {
    let of_program = || Expr::col(case_results::Column::Program).eq(program.0);
    let newest_beyond = Query::select()
        .column(case_results::Column::Made)
        .from(case_results::Entity)
        .and_where(of_program())
        .order_by(case_results::Column::Made, Order::Desc)
        .limit(1)
        .offset(most)
        .to_owned();
    let delete = Query::delete()
        .from_table(case_results::Entity)
        .and_where(of_program())
        .and_where(Expr::col(case_results::Column::Made).lte(newest_beyond))
        .to_owned();
    delete.into()
}

/// Removes the sightings right before one that say the same.
fn passed(sighting: &Sighting) -> Sql {
    let of_branch = || {
        Expr::col(case_sightings::Column::CaseId)
            .eq(sighting.case)
            .and(Expr::col(case_sightings::Column::Branch).eq(sighting.branch.cast_signed()))
            .and(Expr::col(case_sightings::Column::Revision).lt(sighting.revision.cast_signed()))
    };
    let digest = sighting.digest.to_vec();
    let last_other = Query::select()
        .expr(Expr::cust(r#"COALESCE(MAX("revision"), 0)"#))
        .from(case_sightings::Entity)
        .and_where(of_branch())
        .and_where(Expr::col(case_sightings::Column::Digest).ne(digest.clone()))
        .to_owned();
    let delete = Query::delete()
        .from_table(case_sightings::Entity)
        .and_where(of_branch())
        .and_where(Expr::col(case_sightings::Column::Digest).eq(digest))
        .and_where(Expr::col(case_sightings::Column::Revision).gt(last_other))
        .to_owned();
    delete.into()
}

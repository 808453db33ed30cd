//! Test cases of functions: what is run and what is expected of it.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use uuid::Uuid;

use crate::entity::cases;
use crate::entry::{Idempotency, ProgramKey, Timestamp};
use crate::fault::{Failure, Fault};
use crate::store::Store;

/// A test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its id.
    pub id: Uuid,
    /// The program.
    pub program: ProgramKey,
    /// The number of the function.
    pub function: u64,
    /// Its name, unique among the cases of the function that are not removed.
    pub name: String,
    /// When it was made.
    pub made: Timestamp,
    /// When it was removed.
    pub removed: Option<Timestamp>,
    /// The request that made it, if that had a key: unique over all programs.
    pub making: Option<Idempotency>,
    /// The request that removed it, if that had a key: unique over all programs.
    pub removal: Option<Idempotency>,
    /// What is run and what is expected, encoded.
    pub payload: Vec<u8>,
}

/// Where a case stands in the list of a program: by function and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CasePlace {
    /// The number of the function.
    pub function: u64,
    /// The name.
    pub name: String,
}

/// Why a case was not made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateCaseError {
    /// Another case of the function has the name.
    #[error("case `{name}` exists")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A case was made under the idempotency key.
    #[error("the idempotency key belongs to a case")]
    KeyTaken,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

/// Functions that one statement asks for.
const FUNCTIONS: usize = 256;

impl Store {
    /// Stores a case.
    ///
    /// # Errors
    ///
    /// See [`CreateCaseError`]; nothing is stored then.
    pub async fn create_case(&self, case: Case) -> Result<(), CreateCaseError> {
        let (id, name, making) = (case.id, case.name.clone(), case.making.clone());
        let insert = cases::Entity::insert(to_row(case));
        match self.committer().write(vec![sea_orm::QueryTrait::into_query(insert).into()], None).await {
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                // A statement whose answer was lost has run before.
                if self.case(id).await?.is_some() {
                    return Ok(());
                }
                match making {
                    Some(making) if self.case_made_under(&making.key).await?.is_some() => {
                        Err(CreateCaseError::KeyTaken)
                    }
                    Some(_) | None => Err(CreateCaseError::NameTaken { name }),
                }
            }
            Err(failure) => Err(CreateCaseError::Storage(failure.into())),
        }
    }

    /// The case with an id, removed or not.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn case(&self, id: Uuid) -> Result<Option<Case>, Fault> {
        cases::Entity::find_by_id(id).one(&self.reader).await?.map(Case::try_from).transpose()
    }

    /// The case that was made under an idempotency key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn case_made_under(&self, key: &[u8]) -> Result<Option<Case>, Fault> {
        let found = cases::Entity::find().filter(cases::Column::MadeKey.eq(key));
        found.one(&self.reader).await?.map(Case::try_from).transpose()
    }

    /// The case that was removed under an idempotency key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn case_removed_under(&self, key: &[u8]) -> Result<Option<Case>, Fault> {
        let found = cases::Entity::find().filter(cases::Column::RemovedKey.eq(key));
        found.one(&self.reader).await?.map(Case::try_from).transpose()
    }

    /// Cases of a program by function and name, at most so many after a place; all, or those of one function.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn cases(
        &self,
        program: ProgramKey,
        function: Option<u64>,
        after: Option<&CasePlace>,
        limit: u64,
    ) -> Result<Vec<Case>, Fault> {
        let mut found = live(program, function);
        if let Some(CasePlace { function, name }) = after {
            let number = function.cast_signed();
            let later = Condition::any()
                .add(cases::Column::Function.gt(number))
                .add(cases::Column::Function.eq(number).and(cases::Column::Name.gt(name.as_str())));
            found = found.filter(later);
        }
        let found =
            found.order_by_asc(cases::Column::Function).order_by_asc(cases::Column::Name).limit(limit);
        found.all(&self.reader).await?.into_iter().map(Case::try_from).collect()
    }

    /// How many cases a program has, or one of its functions.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_cases(&self, program: ProgramKey, function: Option<u64>) -> Result<u64, Fault> {
        Ok(live(program, function).count(&self.reader).await?)
    }

    /// Whether a program has a case.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn has_cases(&self, program: ProgramKey) -> Result<bool, Fault> {
        let one = live(program, None).select_only().column(cases::Column::Function).limit(1);
        Ok(one.into_tuple::<i64>().one(&self.reader).await?.is_some())
    }

    /// The cases of some functions of a program, by function and name.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn cases_of(&self, program: ProgramKey, functions: &[u64]) -> Result<Vec<Case>, Fault> {
        let mut all = Vec::new();
        for some in functions.chunks(FUNCTIONS) {
            let some = some.iter().map(|number| number.cast_signed());
            let found = live(program, None).filter(cases::Column::Function.is_in(some));
            for row in found.all(&self.reader).await? {
                all.push(Case::try_from(row)?);
            }
        }
        all.sort_by(|one, other| (one.function, &one.name).cmp(&(other.function, &other.name)));
        Ok(all)
    }

    /// Removes a case, unless it was before. Answers whether it was there.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn remove_case(
        &self,
        id: Uuid,
        time: Timestamp,
        request: Option<Idempotency>,
    ) -> Result<bool, Fault> {
        let (key, digest) = parts(request);
        let update = Query::update()
            .table(cases::Entity)
            .value(cases::Column::Removed, time.0)
            .value(cases::Column::RemovedKey, key)
            .value(cases::Column::RemovedDigest, digest)
            .and_where(Expr::col(cases::Column::Id).eq(id))
            // Its own work counts too: the statement runs again when its answer was lost.
            .and_where(
                Expr::col(cases::Column::Removed).is_null().or(Expr::col(cases::Column::Removed).eq(time.0)),
            )
            .to_owned();
        let changed = self.committer().write(vec![update.into()], None).await?;
        Ok(changed.last() == Some(&1))
    }
}

fn live(program: ProgramKey, function: Option<u64>) -> Select<cases::Entity> {
    let mut found = cases::Entity::find()
        .filter(cases::Column::Program.eq(program.0))
        .filter(cases::Column::Removed.is_null());
    if let Some(function) = function {
        found = found.filter(cases::Column::Function.eq(function.cast_signed()));
    }
    found
}

fn parts(request: Option<Idempotency>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    request.map_or((None, None), |request| (Some(request.key), Some(request.digest)))
}

fn request(key: Option<Vec<u8>>, digest: Option<Vec<u8>>) -> Option<Idempotency> {
    Some(Idempotency { key: key?, digest: digest? })
}

pub(crate) fn to_row(case: Case) -> cases::ActiveModel {
    let (made_key, made_digest) = parts(case.making);
    let (removed_key, removed_digest) = parts(case.removal);
    cases::ActiveModel {
        id: Set(case.id),
        program: Set(case.program.0),
        function: Set(case.function.cast_signed()),
        name: Set(case.name),
        made: Set(case.made.0),
        removed: Set(case.removed.map(|time| time.0)),
        made_key: Set(made_key),
        made_digest: Set(made_digest),
        removed_key: Set(removed_key),
        removed_digest: Set(removed_digest),
        payload: Set(case.payload),
    }
}

impl TryFrom<cases::Model> for Case {
    type Error = Fault;

    fn try_from(row: cases::Model) -> Result<Self, Fault> {
        let function = u64::try_from(row.function);
        Ok(Self {
            id: row.id,
            program: ProgramKey(row.program),
            function: function.map_err(|_| Fault::Row { table: "cases", column: "function" })?,
            name: row.name,
            made: Timestamp(row.made),
            removed: row.removed.map(Timestamp),
            making: request(row.made_key, row.made_digest),
            removal: request(row.removed_key, row.removed_digest),
            payload: row.payload,
        })
    }
}

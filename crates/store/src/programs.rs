//! The programs in a database.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr, Query};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use uuid::Uuid;

use crate::committer::CommitError;
use crate::entity::{heads, programs};
use crate::entry::{Entry, ProgramKey, Timestamp};
use crate::fault::{Failure, Fault};
use crate::program_changes::{deletion, update};
use crate::program_requests::{self, ProgramRequest};
use crate::sql::Sql;
use crate::store::Store;

/// A program's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its short key in this database.
    pub key: ProgramKey,
    /// Its id.
    pub id: Uuid,
    /// Its name, unique among programs that are not deleted.
    pub name: String,
    /// What it is for; empty if nobody said.
    pub doc: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it was deleted.
    pub deleted: Option<Timestamp>,
}

/// A program that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProgram {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// When it is made.
    pub created: Timestamp,
}

/// A program with its first entries.
#[derive(Debug)]
pub(crate) struct Creation {
    pub(crate) program: NewProgram,
    pub(crate) entries: Vec<Entry>,
}

/// Some programs in order of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPage {
    /// The programs of this page.
    pub programs: Vec<Program>,
    /// How many match altogether.
    pub total: u64,
}

/// Why a program was not made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateProgramError {
    /// Another program has the name.
    #[error("program `{name}` exists")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A program has or had the id.
    #[error("the program's id is in use")]
    IdTaken,
    /// A program was made under the same idempotency key.
    #[error("the idempotency key belongs to the creation of another program")]
    KeyTaken {
        /// That program.
        program: ProgramKey,
    },
    /// Its first entries are not numbered from [`FIRST_SEQ`](crate::FIRST_SEQ) on.
    #[error(transparent)]
    Entries(#[from] CommitError),
    /// The database could not do it.
    #[error(transparent)]
    Storage(Fault),
}

/// Why a program's name or doc was not changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpdateProgramError {
    /// Another program has the name, or the request was carried out before.
    #[error("program `{name}` exists")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no such program, or it was deleted.
    #[error("the program does not exist")]
    NoProgram,
    /// The database could not do it.
    #[error(transparent)]
    Storage(Fault),
}

impl Store {
    /// Makes a program together with its first entries, all or nothing.
    ///
    /// An idempotency key among the entries is unique over the creations of all programs.
    ///
    /// # Errors
    ///
    /// See [`CreateProgramError`]; nothing is stored then.
    pub async fn create_program(
        &self,
        program: NewProgram,
        entries: Vec<Entry>,
    ) -> Result<ProgramKey, CreateProgramError> {
        self.committer().create(Creation { program, entries }).await
    }

    /// The program with a key, deleted or not.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn program(&self, key: ProgramKey) -> Result<Option<Program>, Fault> {
        Ok(programs::Entity::find_by_id(key.0).one(&self.reader).await?.map(Program::from))
    }

    /// The program with an id, deleted or not.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn program_by_id(&self, id: Uuid) -> Result<Option<Program>, Fault> {
        let row = programs::Entity::find().filter(programs::Column::Id.eq(id)).one(&self.reader).await?;
        Ok(row.map(Program::from))
    }

    /// The live program with a name.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn program_by_name(&self, name: &str) -> Result<Option<Program>, Fault> {
        let row = programs::Entity::find().filter(live()).filter(programs::Column::Name.eq(sought(name)));
        Ok(row.one(&self.reader).await?.map(Program::from))
    }

    /// Whether a program that is deleted had a name; one of `only`, if those are given.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn was_deleted(&self, name: &str, only: Option<&[Uuid]>) -> Result<bool, Fault> {
        let mut gone = programs::Entity::find().filter(programs::Column::Deleted.is_not_null());
        if let Some(only) = only {
            gone = gone.filter(programs::Column::Id.is_in(only.iter().copied()));
        }
        Ok(gone.filter(programs::Column::Name.eq(sought(name))).one(&self.reader).await?.is_some())
    }

    /// Live programs by name: those after the name `after` that contain `search` in their names, at most `limit`; of
    /// those with the ids `only`, if these are given.
    ///
    /// The search ignores the case of ASCII letters.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn programs(
        &self,
        after: Option<&str>,
        search: Option<&str>,
        only: Option<&[Uuid]>,
        limit: u64,
    ) -> Result<ProgramPage, Fault> {
        let mut matching = programs::Entity::find().filter(live());
        if let Some(only) = only {
            matching = matching.filter(programs::Column::Id.is_in(only.iter().copied()));
        }
        if let Some(search) = search {
            matching = matching.filter(name_contains(search));
        }
        let total = matching.clone().count(&self.reader).await?;
        if let Some(after) = after {
            matching = matching.filter(programs::Column::Name.gt(sought(after)));
        }
        let rows = matching.order_by_asc(programs::Column::Name).limit(limit).all(&self.reader).await?;
        Ok(ProgramPage { programs: rows.into_iter().map(Program::from).collect(), total })
    }

    /// Gives a program another name or doc; what is `None` stays.
    ///
    /// What changes something at that is noted among the changes of programs, and the request if it has a key.
    ///
    /// # Errors
    ///
    /// See [`UpdateProgramError`]; nothing is changed then.
    pub async fn update_program(
        &self,
        key: ProgramKey,
        name: Option<&str>,
        doc: Option<&str>,
        request: impl Into<ProgramRequest>,
    ) -> Result<(), UpdateProgramError> {
        let request = request.into();
        let noted = [update(key, name, doc, request.time), program_requests::note(key, &request, name, doc)];
        let mut update = Query::update()
            .table(programs::Entity)
            .and_where(Expr::col(programs::Column::Key).eq(key.0))
            .and_where(live())
            .to_owned();
        // Sets at least one column, so that a call without changes still says whether the program is there.
        update.value(programs::Column::Key, key.0);
        if let Some(name) = name {
            update.value(programs::Column::Name, name);
        }
        if let Some(doc) = doc {
            update.value(programs::Column::Doc, doc);
        }
        let noted = noted.into_iter().flatten();
        match self.committer().write(noted.chain([update.into()]).collect(), None).await {
            Ok(changed) if changed.last() == Some(&0) => Err(UpdateProgramError::NoProgram),
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                Err(UpdateProgramError::NameTaken { name: name.unwrap_or_default().to_owned() })
            }
            Err(failure) => Err(UpdateProgramError::Storage(failure.into())),
        }
    }

    /// Deletes a program: it takes no more entries, no list shows it, its name is free.
    ///
    /// Its row, log, snapshots and simulations stay: a log is never removed, so what was acknowledged can still be read
    /// by id. Answers whether there was a live program. Other programs are not touched.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn delete_program(
        &self,
        key: ProgramKey,
        request: impl Into<ProgramRequest>,
    ) -> Result<bool, Fault> {
        let request = request.into();
        let time = request.time;
        let update = Query::update()
            .table(programs::Entity)
            .value(programs::Column::Deleted, time.0)
            .and_where(Expr::col(programs::Column::Key).eq(key.0))
            // Its own work counts too: the statement runs again when its answer was lost.
            .and_where(live().or(Expr::col(programs::Column::Deleted).eq(time.0)))
            .to_owned();
        let noted = [program_requests::note(key, &request, None, None), Some(deletion(key, time))];
        let headless = (!self.is_alone()).then(|| no_head(key));
        let statements =
            headless.into_iter().chain(noted.into_iter().flatten()).chain([update.into()]).collect();
        let changed = self.committer().write(statements, Some(key)).await?;
        Ok(changed.last() == Some(&1))
    }
}

impl NewProgram {
    /// Answers with the new key.
    pub(crate) fn insert(&self) -> Sql {
        let row = programs::ActiveModel {
            id: Set(self.id),
            name: Set(self.name.clone()),
            doc: Set(self.doc.clone()),
            created: Set(self.created.0),
            deleted: Set(None),
            ..Default::default()
        };
        let mut insert = programs::Entity::insert(row).into_query();
        insert.returning(Query::returning().column(programs::Column::Key));
        insert.into()
    }
}

impl From<programs::Model> for Program {
    fn from(row: programs::Model) -> Self {
        Self {
            key: ProgramKey(row.key),
            id: row.id,
            name: row.name,
            doc: row.doc,
            created: Timestamp(row.created),
            deleted: row.deleted.map(Timestamp),
        }
    }
}

/// Takes a program's head away: where several processes write, it takes no more entries then.
fn no_head(key: ProgramKey) -> Sql {
    let of_program = Expr::col(heads::Column::Program).eq(key.0);
    Query::delete().from_table(heads::Entity).and_where(of_program).to_owned().into()
}

/// A text that is looked for, as every database takes it: none has one with U+0000, and not each lets itself be asked.
pub(crate) fn sought(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(crate) fn live() -> sea_orm::sea_query::SimpleExpr {
    Expr::col(programs::Column::Deleted).is_null()
}

fn name_contains(search: &str) -> Condition {
    let mut pattern = String::with_capacity(search.len() + 2);
    pattern.push('%');
    for char in sought(search).to_ascii_lowercase().chars() {
        if matches!(char, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern.push('%');
    let name = Func::lower(Expr::col(programs::Column::Name));
    Condition::all().add(Expr::expr(name).like(LikeExpr::new(pattern).escape('\\')))
}

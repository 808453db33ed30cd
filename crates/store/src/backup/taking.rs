//! Storing what is missing of a backup.

use std::collections::HashMap;
use std::io::Read;
use std::iter::Peekable;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{EntityTrait, QueryTrait};

use crate::actors::{Actor, ActorKey};
use crate::backup::fate::Fate;
use crate::backup::file::{BackupFile, Item, Items, ProgramInFile};
use crate::backup::plan::{LoadError, Plan, Planned};
use crate::backup::record::RequestInFile;
use crate::cases::{Case, to_row};
use crate::entity::{actors, cases, heads, log, program_changes, program_requests, programs};
use crate::entry::{Entry, Head, ProgramKey};
use crate::fault::{Failure, Fault};
use crate::faults::Faults;
use crate::jobs::MAX_ROWS;
use crate::program_changes::{ProgramChange, ProgramChangeKind, newest_position};
use crate::sql::Sql;
use crate::store::Store;
use crate::writer::Writer;

/// How far storing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Entries that were stored; those of the last program can still be taken back.
    pub done: u64,
    /// Entries that are to be stored.
    pub of: u64,
}

/// The most bytes of one statement.
pub(super) const MAX_BYTES: usize = 1 << 20;

impl Store {
    /// Stores what a plan says: each program, and then each part, in a transaction of its own, so that one that is there is there as a whole.
    /// What is planned anew after that has ended early goes on where it ended.
    ///
    /// No engine of this process may use the database meanwhile. Where other processes write to it, a program that they
    /// have changed since the plan was made is refused.
    ///
    /// # Errors
    ///
    /// See [`LoadError`]; the program whose turn it was is as it was before then.
    pub async fn take_in(
        &self,
        file: &BackupFile,
        plan: &Plan,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), LoadError> {
        let of = plan.programs.iter().map(|planned| planned.entries).sum();
        let mut taking = Taking {
            // Not the committer's, which is for what is short.
            writer: Writer::new(self.access.clone(), Faults::none()),
            plan,
            actors: HashMap::new(),
            rows: Vec::new(),
            bytes: 0,
            newest: None,
            at: Progress { done: 0, of },
            progress,
        };
        let taken = taking.take(file).await;
        taking.writer.disconnect().await;
        taken
    }
}

pub(super) struct Taking<'a> {
    pub(super) writer: Writer,
    pub(super) plan: &'a Plan,
    /// The keys here of the actors that have made something.
    actors: HashMap<ActorKey, ActorKey>,
    /// Rows of the log for the next statement.
    rows: Vec<log::ActiveModel>,
    bytes: usize,
    /// The newest entry of the program that was stored.
    newest: Option<Head>,
    at: Progress,
    progress: &'a mut (dyn FnMut(Progress) + Send),
}

impl Taking<'_> {
    async fn take(&mut self, file: &BackupFile) -> Result<(), LoadError> {
        let mut items = file.items()?.peekable();
        let mut planned = self.plan.programs.iter().peekable();
        while let Some(item) = items.next() {
            let program = match item? {
                Item::Program(program) => program,
                Item::Part(first) => {
                    self.part(*first, &mut items).await?;
                    continue;
                }
                Item::Change(_) | Item::Entry(..) | Item::Request(_) | Item::Case(_) => continue,
            };
            let Some(planned) = planned.next_if(|planned| planned.id == program.id) else { continue };
            if planned.fate == Fate::Kept {
                continue;
            }
            self.begin(planned).await?;
            match self.program(&program, planned, &mut items).await {
                Ok(()) => self.writer.finish(Ok(())).await.map_err(Fault::from)?,
                Err(error) => {
                    // Whether taking it back is told to us or not: what is not committed is not there.
                    drop(self.writer.finish::<()>(Err(Failure::Fault(Fault::Closed))).await);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Begins the transaction of a program. Where others write as well, they are kept from it.
    async fn begin(&mut self, planned: &Planned) -> Result<(), LoadError> {
        self.newest = None;
        match planned.here.filter(|_| !self.writer.is_alone()) {
            None => Ok(self.writer.begin().await.map_err(Fault::from)?),
            Some(key) => {
                let heads = self.writer.begin_appending([key]).await.map_err(Fault::from)?;
                if heads.get(&key).is_none_or(|head| head.seq == planned.entries_here) {
                    return Ok(());
                }
                self.writer.roll_back().await;
                Err(LoadError::Moved { program: planned.name.clone() })
            }
        }
    }

    async fn program(
        &mut self,
        program: &ProgramInFile,
        planned: &Planned,
        items: &mut Peekable<Items<impl Read>>,
    ) -> Result<(), LoadError> {
        let key = match planned.here {
            None => self.make(program, planned).await?,
            Some(key) => {
                self.update(key, program, planned).await?;
                key
            }
        };
        let mut changes = 0;
        while let Some(item) = items.next_if(|item| !matches!(item, Ok(Item::Program(_) | Item::Part(_)))) {
            match item? {
                Item::Program(_) | Item::Part(_) => {}
                Item::Change(change) => {
                    changes += 1;
                    if planned.adopted && changes > planned.changes_here {
                        self.change(key, change).await?;
                    }
                }
                Item::Entry(entry, actor) => {
                    if entry.seq > planned.entries_here {
                        self.entry(key, *entry, &actor).await?;
                    }
                }
                Item::Request(request) => self.request(key, request).await?,
                Item::Case(case) => self.case(case.of(key)).await?,
            }
        }
        self.flush().await?;
        if planned.renamed {
            let (kind, name) = (ProgramChangeKind::Renamed, planned.name.clone());
            self.change(key, ProgramChange { kind, name, time: self.plan.now }).await?;
        }
        if !self.writer.is_alone() {
            self.set_head(key, planned.deleted).await?;
        }
        Ok(())
    }

    /// Moves the head of a log on; that of a deleted program goes.
    async fn set_head(&mut self, key: ProgramKey, deleted: bool) -> Result<(), Fault> {
        if !deleted && self.newest.is_none() {
            return Ok(());
        }
        let of_program = Expr::col(heads::Column::Program).eq(key.0);
        let delete = Query::delete().from_table(heads::Entity).and_where(of_program).to_owned();
        self.execute(delete).await?;
        match self.newest.filter(|_| !deleted) {
            None => Ok(()),
            Some(Head { seq, id }) => {
                let (program, seq, entry) = (Set(key.0), Set(seq.cast_signed()), Set(id));
                self.execute(heads::Entity::insert(heads::ActiveModel { program, seq, entry }).into_query())
                    .await
            }
        }
    }

    async fn make(&mut self, program: &ProgramInFile, planned: &Planned) -> Result<ProgramKey, Fault> {
        let row = programs::ActiveModel {
            id: Set(program.id),
            name: Set(planned.name.clone()),
            doc: Set(program.doc.clone()),
            created: Set(program.created.0),
            deleted: Set(program.deleted.map(|time| time.0)),
            ..Default::default()
        };
        let mut insert = programs::Entity::insert(row).into_query();
        insert.returning(Query::returning().column(programs::Column::Key));
        let key = self.writer.value::<i64>(&insert.into()).await.map_err(Fault::from)?;
        key.map(ProgramKey).ok_or(Fault::Row { table: "programs", column: "key" })
    }

    async fn update(
        &mut self,
        key: ProgramKey,
        program: &ProgramInFile,
        planned: &Planned,
    ) -> Result<(), Fault> {
        let mut update = Query::update();
        update.table(programs::Entity).value(programs::Column::Name, planned.name.as_str());
        if planned.adopted {
            update.value(programs::Column::Doc, program.doc.as_str());
            update.value(programs::Column::Deleted, program.deleted.map(|time| time.0));
        }
        update.and_where(Expr::col(programs::Column::Key).eq(key.0));
        self.execute(update).await
    }

    async fn change(&mut self, key: ProgramKey, change: ProgramChange) -> Result<(), Fault> {
        // Behind the entries before it.
        self.flush().await?;
        let mut insert = Query::insert();
        insert.into_table(program_changes::Entity).columns([
            program_changes::Column::Position,
            program_changes::Column::Program,
            program_changes::Column::Kind,
            program_changes::Column::Name,
            program_changes::Column::Time,
        ]);
        insert.values_panic([
            newest_position(),
            Expr::value(key.0),
            Expr::value(change.kind.code()),
            Expr::value(change.name),
            Expr::value(change.time.0),
        ]);
        self.execute(insert).await
    }

    async fn entry(&mut self, key: ProgramKey, mut entry: Entry, actor: &Actor) -> Result<(), Fault> {
        entry.actor = self.known(entry.actor, actor).await?;
        self.newest = Some(Head { seq: entry.seq, id: entry.id });
        self.bytes += entry.size();
        self.rows.push(entry.to_row(key));
        if self.rows.len() == MAX_ROWS || self.bytes >= MAX_BYTES { self.flush().await } else { Ok(()) }
    }

    /// The key here of an actor with a key in the file.
    pub(super) async fn known(&mut self, in_file: ActorKey, actor: &Actor) -> Result<ActorKey, Fault> {
        if let Some(known) = self.actors.get(&in_file) {
            return Ok(*known);
        }
        let known = self.actor(actor).await?;
        self.actors.insert(in_file, known);
        Ok(known)
    }

    /// The key of an actor, who is recorded now if this is the first time.
    async fn actor(&mut self, actor: &Actor) -> Result<ActorKey, Fault> {
        let client = actor.client.clone().unwrap_or_default();
        let row = actors::ActiveModel {
            name: Set(actor.name.clone()),
            kind: Set(actor.kind as i16),
            client: Set(client.clone()),
            ..Default::default()
        };
        let mut insert = actors::Entity::insert(row).into_query();
        insert.on_conflict(
            OnConflict::columns([actors::Column::Name, actors::Column::Kind, actors::Column::Client])
                .do_nothing()
                .to_owned(),
        );
        self.execute(insert).await?;
        let key = Query::select()
            .column(actors::Column::Key)
            .from(actors::Entity)
            .and_where(Expr::col(actors::Column::Name).eq(actor.name.as_str()))
            .and_where(Expr::col(actors::Column::Kind).eq(actor.kind as i16))
            .and_where(Expr::col(actors::Column::Client).eq(client))
            .to_owned();
        let key = self.writer.value::<i64>(&key.into()).await.map_err(Fault::from)?;
        key.map(ActorKey).ok_or(Fault::Row { table: "actors", column: "key" })
    }

    async fn request(&mut self, key: ProgramKey, request: RequestInFile) -> Result<(), Fault> {
        let row = program_requests::ActiveModel {
            idem_key: Set(request.idempotency.key),
            request_digest: Set(request.idempotency.digest),
            program: Set(key.0),
            seq: Set(request.seq.cast_signed()),
            name: Set(request.name),
            doc: Set(request.doc),
        };
        let mut insert = program_requests::Entity::insert(row).into_query();
        insert.on_conflict(OnConflict::column(program_requests::Column::IdemKey).do_nothing().to_owned());
        self.execute(insert).await
    }

    /// Stores a case, unless there is one of its name; one that is here is removed if it was there.
    async fn case(&mut self, case: Case) -> Result<(), Fault> {
        if let Some(removed) = case.removed {
            let mut update = Query::update();
            update
                .table(cases::Entity)
                .value(cases::Column::Removed, removed.0)
                .and_where(Expr::col(cases::Column::Id).eq(case.id))
                .and_where(Expr::col(cases::Column::Removed).is_null());
            self.execute(update).await?;
        }
        let mut insert = cases::Entity::insert(to_row(case)).into_query();
        insert.on_conflict(OnConflict::new().do_nothing().to_owned());
        self.execute(insert).await
    }

    /// Stores the rows that wait.
    async fn flush(&mut self) -> Result<(), Fault> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let count = rows.len() as u64;
        self.execute(log::Entity::insert_many(rows).into_query()).await?;
        (self.bytes, self.at.done) = (0, self.at.done + count);
        (self.progress)(self.at);
        Ok(())
    }

    pub(super) async fn execute(&mut self, sql: impl Into<Sql>) -> Result<(), Fault> {
        self.writer.execute(&sql.into()).await.map(drop).map_err(Fault::from)
    }
}

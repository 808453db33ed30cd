//! The built-in Manager: streams and pipelines, which belong to no program.
//!
//! [`lmlang_streams::Manager`] decides what a request is answered and what it changes; here that is kept. A change is planned
//! on one revision of all that is kept and stored as the next one, or planned again.

use std::sync::Arc;

use lmlang_history::log::Actor;
use lmlang_store::{ChangeManagerError, ManagerChange, ManagerRecord, Timestamp};
use lmlang_streams::Manager;
use lmlang_streams::manager::{Answer, Change, Record, RecordKind, Refused, Request};

use crate::engine::Engine;
use crate::error::Error;
use crate::records::to_actor;

/// How often a change is planned before its writer gives way to those of other processes. Writers of this one take turns.
const ATTEMPTS: usize = 8;

/// What is kept, as this process last saw it.
#[derive(Debug, Default)]
pub(crate) struct ManagerState {
    /// Held while something is changed: writers of this process take turns.
    turn: tokio::sync::Mutex<()>,
    newest: tokio::sync::Mutex<(u64, Arc<Manager>)>,
}

impl Engine {
    /// What the built-in Manager answers, once what it changes is durable. What has begun to change is carried out, whether the
    /// caller stays or goes.
    pub async fn ask_manager(
        &self,
        request: Request,
        actor: &Actor,
    ) -> Result<Result<Answer, Refused>, Error> {
        let (changes, request) = (request.changes(), Arc::new(request));
        if !changes {
            let (_, manager) = self.manager_now().await?;
            return self.managed(&manager, &request).await;
        }
        let (engine, actor) = (self.clone(), actor.clone());
        self.to_end(async move { engine.change_manager(&request, &actor).await }).await
    }

    async fn change_manager(
        &self,
        request: &Arc<Request>,
        actor: &Actor,
    ) -> Result<Result<Answer, Refused>, Error> {
        let _turn = self.0.manager.turn.lock().await;
        for _ in 0..ATTEMPTS {
            let (revision, manager) = self.manager_now().await?;
            let answer = match self.managed(&manager, request).await? {
                Ok(answer) if !answer.changes.is_empty() => answer,
                done => return Ok(done),
            };
            // It is copied by a change if anybody holds it.
            drop(manager);
            let change = ManagerChange {
                revision: revision + 1,
                id: self.0.clock.id(),
                time: Timestamp(self.now()),
                actor: self.store().actor_key(&to_actor(actor)).await?,
                records: answer.changes.iter().map(row).collect(),
            };
            match self.store().change_manager(change).await {
                Ok(()) => {
                    self.take_over(revision, &answer.changes).await?;
                    return Ok(Ok(answer));
                }
                Err(ChangeManagerError::Moved) => {}
                Err(ChangeManagerError::Storage(fault)) => return Err(fault.into()),
            }
        }
        Err(Error::Overloaded { what: "changes of the Manager" })
    }

    /// What a Manager answers; where queries are read for it, off the runtime's threads.
    async fn managed(
        &self,
        manager: &Arc<Manager>,
        request: &Arc<Request>,
    ) -> Result<Result<Answer, Refused>, Error> {
        match request.plans() {
            true => {
                let (manager, request) = (Arc::clone(manager), Arc::clone(request));
                self.compute(move || manager.answer(&request)).await
            }
            false => Ok(manager.answer(request)),
        }
    }

    /// The Manager as it is stored, with its revision. It is read again only when another process has changed it.
    pub(crate) async fn manager_now(&self) -> Result<(u64, Arc<Manager>), Error> {
        let mut newest = self.0.manager.newest.lock().await;
        if self.store().manager_revision().await? != newest.0 {
            let (revision, rows) = self.store().manager_records().await?;
            let records = rows.into_iter().map(record).collect::<Result<Vec<Record>, Error>>()?;
            let manager = Manager::from_records(records).map_err(damaged)?;
            *newest = (revision, Arc::new(manager));
        }
        Ok((newest.0, Arc::clone(&newest.1)))
    }

    /// Takes over what this process has changed.
    async fn take_over(&self, planned_on: u64, changes: &[Change]) -> Result<(), Error> {
        let mut newest = self.0.manager.newest.lock().await;
        // Whoever was faster has read it with the change.
        if newest.0 == planned_on {
            Arc::make_mut(&mut newest.1).apply(changes).map_err(damaged)?;
            newest.0 += 1;
        }
        Ok(())
    }
}

fn row(change: &Change) -> ManagerRecord {
    let (kind, name, value) = match change {
        Change::Put(record) => (record.kind, &record.name, Some(record.value.to_string().into_bytes())),
        Change::Delete { kind, name } => (*kind, name, None),
    };
    ManagerRecord { kind: kind.name().to_owned(), name: name.clone(), value }
}

fn record(row: ManagerRecord) -> Result<Record, Error> {
    let kinds = [RecordKind::Stream, RecordKind::Pipeline];
    let kind = kinds.into_iter().find(|kind| kind.name() == row.kind);
    let kind = kind.ok_or_else(|| damaged(format!("`{}` is no kind of record", row.kind)))?;
    let value = serde_json::from_slice(row.value.as_deref().unwrap_or_default());
    let value = value.map_err(|error| damaged(format!("the {} `{}`: {error}", row.kind, row.name)))?;
    Ok(Record { kind, name: row.name, value })
}

fn damaged(reason: impl ToString) -> Error {
    Error::Damaged { program: "what the Manager keeps".to_owned(), entry: 0, reason: reason.to_string() }
}

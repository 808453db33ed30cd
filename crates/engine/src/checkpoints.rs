//! Checkpoints: named pointers to revisions.

use std::convert::Infallible;
use std::sync::Arc;

use imbl::OrdMap;
use lmlang_history::log::{Actor, Entry, Header, RevisionKind};
use lmlang_history::revision::{MAIN, check_name};
use lmlang_ir::RefAllocator;

use crate::catalog::check_length;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::timeline::Head;
use crate::writing::{Plan, Written};

/// The checkpoints of a program by name. A clone copies a pointer.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints(OrdMap<String, Arc<Checkpoint>>);

/// A named pointer to a revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Its name, unique among checkpoints and branches.
    pub name: String,
    /// The number of the revision that it names.
    pub revision: u64,
    /// Why it was made.
    pub message: Option<String>,
    /// Who made it.
    pub actor: Actor,
    /// When it was made, in microseconds of UTC.
    pub time: i64,
    /// The number of the entry that made it.
    pub entry: u64,
}

impl Checkpoints {
    /// The checkpoint with a name.
    pub fn get(&self, name: &str) -> Option<&Arc<Checkpoint>> {
        self.0.get(name)
    }

    /// All checkpoints by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Checkpoint>> {
        self.0.values()
    }

    /// Takes the next entry of the log in.
    pub(crate) fn follow(&mut self, entry: &Header) {
        let (RevisionKind::Checkpoint, Some(name)) = (entry.kind, &entry.name) else { return };
        match entry.target {
            Some(revision) => {
                self.0.insert(name.clone(), Arc::new(Checkpoint::made_by(entry, name, revision)));
            }
            None => {
                self.0.remove(name);
            }
        }
    }
}

impl Checkpoint {
    fn made_by(entry: &Header, name: &str, revision: u64) -> Checkpoint {
        Checkpoint {
            name: name.to_owned(),
            revision,
            message: entry.message.clone(),
            actor: entry.actor.clone(),
            time: entry.time,
            entry: entry.number,
        }
    }
}

impl Engine {
    /// Names a revision. A name that is taken is refused.
    pub async fn create_checkpoint(
        &self,
        open: &OpenProgram,
        name: &str,
        at: Option<&str>,
        call: &Call,
    ) -> Result<Arc<Checkpoint>, Error> {
        check_length(name, self.limits().name_length)?;
        check_name(name).map_err(|error| Error::bad_request(error.to_string()))?;
        if name == MAIN {
            return Err(Error::NameTaken { what: "branch", name: name.to_owned() });
        }
        // As in `propose`.
        let revision = &match at {
            Some(at) => self.named(open, at).await.map(|named| Some(named.number)),
            None => Ok(None),
        };
        let plan = |head: Head, refs: RefAllocator| async move {
            let revision = revision.clone()?.unwrap_or(head.revision.entry.number);
            if head.checkpoints.get(name).is_some() {
                return Err(Error::NameTaken { what: "checkpoint", name: name.to_owned() });
            }
            let base = self.blank_header(RevisionKind::Checkpoint, &head, &refs, call);
            let header = Header { target: Some(revision), name: Some(name.to_owned()), ..base };
            let made = Checkpoint::made_by(&header, name, revision);
            let entry = Entry::new(header, Vec::new());
            Ok(Plan::<Checkpoint, Infallible>::Append { entry, state: None, answer: made })
        };
        match self.write(open, call, plan).await? {
            Written::Stored(made, _) => Ok(Arc::new(made)),
            Written::Left(never) => match never {},
            Written::Repeated(number) => {
                let first = self.header(open, number).await?;
                let revision = first.as_ref().and_then(|first| first.target);
                match (first, revision) {
                    (Some(first), Some(revision)) => {
                        Ok(Arc::new(Checkpoint::made_by(&first, name, revision)))
                    }
                    (Some(_) | None, _) => Err(Error::not_found("checkpoint", name)),
                }
            }
        }
    }

    /// Forgets a checkpoint; the revision stays.
    pub async fn delete_checkpoint(&self, open: &OpenProgram, name: &str, call: &Call) -> Result<(), Error> {
        let plan = |head: Head, refs: RefAllocator| async move {
            if head.checkpoints.get(name).is_none() {
                let candidates =
                    head.checkpoints.iter().map(|checkpoint| checkpoint.name.clone()).take(10).collect();
                let given = name.to_owned();
                return Err(Error::NotFound { what: "checkpoint", given, candidates, retired: false });
            }
            let base = self.blank_header(RevisionKind::Checkpoint, &head, &refs, call);
            let entry = Entry::new(Header { name: Some(name.to_owned()), ..base }, Vec::new());
            Ok(Plan::<(), ()>::Append { entry, state: None, answer: () })
        };
        self.write(open, call, plan).await.map(drop)
    }
}

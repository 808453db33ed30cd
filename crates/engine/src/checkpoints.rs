//! Checkpoints: named pointers to revisions.

use std::convert::Infallible;
use std::sync::Arc;

use imbl::OrdMap;
use lmlang_history::log::{Actor, Entry, Header, RevisionKind};
use lmlang_history::revision::check_new_name;
use lmlang_ir::RefAllocator;

use crate::branches::refuse_taken;
use crate::catalog::check_length;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::timeline::Head;
use crate::writing::{Next, Plan, Written};

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
        match Checkpoint::of(entry) {
            Some(made) => self.0.insert(name.clone(), Arc::new(made)),
            None => self.0.remove(name),
        };
    }
}

impl Checkpoint {
    /// The checkpoint that an entry made, if it made one.
    pub fn of(entry: &Header) -> Option<Checkpoint> {
        Some(Checkpoint {
            name: entry.name.clone().filter(|_| entry.kind == RevisionKind::Checkpoint)?,
            revision: entry.target?,
            message: entry.message.clone(),
            actor: entry.actor.clone(),
            time: entry.time,
            entry: entry.number,
        })
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
        check_new_name(name).map_err(|error| Error::bad_request(error.to_string()))?;
        if at.is_some() {
            // As for a branch.
            self.catch_up(open).await?;
        }
        // As in `propose`.
        let revision = &match at {
            Some(at) => self.named(open, at).await.map(|named| Some(named.number)),
            None => Ok(None),
        };
        let plan = |head: Arc<Head>, refs: RefAllocator| async move {
            let revision = revision.clone()?.unwrap_or(head.main.revision.entry.number);
            refuse_taken(&head, name)?;
            let base = self.blank_header(RevisionKind::Checkpoint, &head, &head.main, &refs, call);
            let header = Header { target: Some(revision), name: Some(name.to_owned()), ..base };
            let entry = Entry::new(header, Vec::new());
            let answer = Arc::clone(&entry.header);
            Ok(Plan::<Arc<Header>, Infallible>::Append { entry, next: Next::Mark, refs, answer })
        };
        let made = match self.write(open, call, plan).await? {
            Written::Stored(made) => Some(made),
            Written::Left(never) => match never {},
            Written::Repeated(number) => self.header(open, number).await?,
        };
        let made = made.as_deref().and_then(Checkpoint::of);
        made.map(Arc::new).ok_or_else(|| Error::not_found("checkpoint", name))
    }

    /// Forgets a checkpoint; the revision stays.
    pub async fn delete_checkpoint(&self, open: &OpenProgram, name: &str, call: &Call) -> Result<(), Error> {
        let plan = |head: Arc<Head>, refs: RefAllocator| async move {
            if head.checkpoints.get(name).is_none() {
                return Err(no_checkpoint(&head, name));
            }
            let base = self.blank_header(RevisionKind::Checkpoint, &head, &head.main, &refs, call);
            let entry = Entry::new(Header { name: Some(name.to_owned()), ..base }, Vec::new());
            Ok(Plan::<(), ()>::Append { entry, next: Next::Mark, refs, answer: () })
        };
        self.write(open, call, plan).await.map(drop)
    }
}

/// The error of a checkpoint that is not there.
pub(crate) fn no_checkpoint(head: &Head, name: &str) -> Error {
    let names = || head.checkpoints.iter().map(|checkpoint| checkpoint.name.as_str());
    Error::unnamed("checkpoint", name, names)
}

//! Backups: which programs go into one, and whether what comes out of one is sound before it is stored.
//!
//! The store knows rows; what they mean is looked at here, as a check of a database does: every live program that is to be
//! stored is built from its first entry on, and after each entry its content must have the recorded hash.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use lmlang_history::Edit;
use lmlang_history::log::Entry;
use lmlang_history::record::decode_edits;
use lmlang_ir::text::nearest;
use lmlang_store::backup::{self, BackupFile, Choice, Fate, FileError, Item, Plan, Wishes};
use lmlang_store::{EntryKind, Store, Timestamp};
use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use crate::catalog::{ProgramInfo, Selector, check_name};
use crate::config::{Limits, SnapshotPolicy};
use crate::doctor::{Ailment, Replay, Symptom};
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::records;

/// A backup while it is made: the bytes of its file, piece by piece, all of one moment.
#[derive(Debug)]
pub struct Backup {
    engine: Engine,
    backup: backup::Backup,
    /// One at a time: each takes a connection that reads.
    _turn: OwnedSemaphorePermit,
}

/// What is to be loaded from a backup, and how.
#[derive(Clone, Debug, Default)]
pub struct LoadRequest {
    /// These programs, and nothing that belongs to none; all there is if there is none.
    pub programs: Vec<Selector>,
    /// Programs with names that they get in place of their own.
    pub names: Vec<(Selector, String)>,
}

/// How far loading a backup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    /// Entries that were checked, of so many in the file.
    Checked(u64, u64),
    /// Entries that were stored, of so many that are missing.
    Stored(u64, u64),
}

/// What is wrong with the programs of a backup: at least something.
#[derive(Clone, Debug, Error)]
#[error("it holds what no sound database does: {}", listed(.0))]
pub struct Unsound(pub Vec<Ailment>);

/// Why a backup was not loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file, or what is here, does not allow it.
    #[error(transparent)]
    Store(#[from] backup::LoadError),
    /// What the file says is not in order, though it is whole.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// The request names something that is not there, or cannot be.
    #[error(transparent)]
    Request(#[from] Error),
}

impl From<FileError> for LoadError {
    fn from(error: FileError) -> LoadError {
        LoadError::Store(error.into())
    }
}

fn listed(ailments: &[Ailment]) -> String {
    let all: Vec<String> = ailments.iter().map(ToString::to_string).collect();
    all.join("; ")
}

impl Engine {
    /// Begins a backup of some programs, or of all with what belongs to none; deleted ones belong to all, unless only live
    /// ones are asked for.
    ///
    /// A name is that of a live program, an id can be that of a deleted one.
    pub async fn backup(&self, programs: &[Selector], live: bool) -> Result<Backup, Error> {
        let mut only = Vec::with_capacity(programs.len());
        for selector in programs {
            only.push(self.recorded_id(selector).await?);
        }
        let only = match (programs.is_empty(), self.only()) {
            (true, seen) => seen.map(<[Uuid]>::to_vec),
            (false, _) => Some(only),
        };
        let turn = Arc::clone(&self.0.backups).acquire_owned().await.map_err(|_| Error::Closed)?;
        let backup = self.store().backup(Choice { only, live }, self.0.clock.now()).await?;
        Ok(Backup { engine: self.clone(), backup, _turn: turn })
    }

    async fn recorded_id(&self, selector: &Selector) -> Result<Uuid, Error> {
        let (row, given, candidates) = match selector {
            Selector::Id(id) => (self.store().program_by_id(*id).await?, id.to_string(), Vec::new()),
            Selector::Name(name) => {
                let row = self.store().program_by_name(name).await?.filter(|row| self.sees(row.id));
                let near = if row.is_some() { Vec::new() } else { self.near_programs(name).await? };
                (row, name.clone(), near)
            }
        };
        let id = row.map(|row| row.id).filter(|id| self.sees(*id));
        id.ok_or(Error::NotFound { what: "program", given, candidates, retired: false })
    }

    /// Writes a snapshot of the newest state of a program that has none of it yet.
    async fn snapshot_now(&self, id: Uuid) -> Result<(), Error> {
        let Some(row) = self.store().program_by_id(id).await? else { return Ok(()) };
        let open = self.open(&Arc::new(ProgramInfo::from(row))).await?;
        let written = self.write_newest_snapshot(&open).await;
        self.forget(id);
        written
    }
}

impl Backup {
    /// The next bytes of the file; nothing when it is whole.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        tokio::select! {
            biased;
            () = self.engine.closing().cancelled() => Err(Error::Closed),
            next = self.backup.next() => Ok(next?),
        }
    }

    /// Entries that were put in so far, and how many there are.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        self.backup.progress()
    }
}

/// Loads a backup into a database that nobody else uses, and closes that. Answers with what was done.
///
/// Nothing is stored unless all of it can be; a file that was made for it by opening the store goes again then. Each program
/// is stored as a whole, and so is each part that belongs to none; when that ends early, the same call goes on with what is
/// missing.
pub async fn load(
    store: Store,
    file: Arc<BackupFile>,
    request: &LoadRequest,
    mut progress: impl FnMut(Loading) + Clone + Send + 'static,
) -> Result<Plan, LoadError> {
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let loaded = load_into(&engine, file, request, &mut progress).await;
    engine.close().await;
    loaded
}

async fn load_into(
    engine: &Engine,
    file: Arc<BackupFile>,
    request: &LoadRequest,
    progress: &mut (impl FnMut(Loading) + Clone + Send + 'static),
) -> Result<Plan, LoadError> {
    let planned = plan(engine, &file, request, progress.clone()).await;
    let (plan, stored) = planned.inspect_err(|_| engine.store().discard())?;
    take_in(engine, &file, &plan, progress).await?;
    for (id, entries) in stored {
        if entries < engine.0.snapshots.entries {
            continue;
        }
        if let Err(error) = engine.snapshot_now(id).await {
            // The log alone is enough to open the program.
            tracing::warn!(program = %id, %error, "a snapshot could not be written");
        }
    }
    Ok(plan)
}

/// What is to be done, once all of it is known to be sound, and how many entries live programs get by that.
async fn plan(
    engine: &Engine,
    file: &Arc<BackupFile>,
    request: &LoadRequest,
    progress: impl FnMut(Loading) + Send + 'static,
) -> Result<(Plan, HashMap<Uuid, u64>), LoadError> {
    let wishes = wishes(file, request, engine.0.clock.now(), engine.limits())?;
    let plan = engine.store().plan(file, &wishes).await?;
    let stored = plan.programs().iter().filter(|planned| planned.fate != Fate::Kept && !planned.deleted);
    let stored: HashMap<Uuid, u64> = stored.map(|planned| (planned.id, planned.entries)).collect();
    check(file, stored.keys().copied().collect(), progress).await?;
    Ok((plan, stored))
}

async fn take_in(
    engine: &Engine,
    file: &BackupFile,
    plan: &Plan,
    progress: &mut (impl FnMut(Loading) + Send),
) -> Result<(), LoadError> {
    let mut told = |at: backup::Progress| progress(Loading::Stored(at.done, at.of));
    Ok(engine.store().take_in(file, plan, &mut told).await?)
}

/// What a request wants of a file, by ids.
fn wishes(
    file: &BackupFile,
    request: &LoadRequest,
    now: Timestamp,
    limits: &Limits,
) -> Result<Wishes, Error> {
    let programs = &file.contents().programs;
    let find = |selector: &Selector| {
        let (found, given) = match selector {
            Selector::Id(id) => (programs.iter().find(|program| program.id == *id), id.to_string()),
            Selector::Name(name) => {
                let mut named = programs.iter().filter(|program| program.name == *name);
                (named.find(|program| program.deleted.is_none()), name.clone())
            }
        };
        let live = programs.iter().filter(|program| program.deleted.is_none());
        let candidates = || nearest(&given, live.map(|program| program.name.as_str()));
        match found {
            Some(program) => Ok(program.id),
            None => Err(Error::NotFound {
                what: "program in the backup",
                candidates: candidates(),
                given,
                retired: false,
            }),
        }
    };
    let only: BTreeSet<Uuid> = request.programs.iter().map(find).collect::<Result<_, _>>()?;
    let mut names = BTreeMap::new();
    for (selector, name) in &request.names {
        check_name("name", name, limits.name_length)?;
        let id = find(selector)?;
        if !only.is_empty() && !only.contains(&id) {
            return Err(Error::bad_request(format!("`{name}` is a name for a program that is not loaded")));
        }
        names.insert(id, name.clone());
    }
    Ok(Wishes { only: Some(only).filter(|only| !only.is_empty()), names, now })
}

/// Builds programs of a file again, and finds what is wrong with them.
async fn check(
    file: &Arc<BackupFile>,
    programs: HashSet<Uuid>,
    progress: impl FnMut(Loading) + Send + 'static,
) -> Result<(), LoadError> {
    let file = Arc::clone(file);
    // Reading, applying edits and hashing take long: not on the runtime's threads.
    let checked = tokio::task::spawn_blocking(move || replay(&file, &programs, progress)).await;
    let found = joined(checked)??;
    if found.is_empty() { Ok(()) } else { Err(Unsound(found).into()) }
}

fn replay(
    file: &BackupFile,
    programs: &HashSet<Uuid>,
    mut progress: impl FnMut(Loading),
) -> Result<Vec<Ailment>, FileError> {
    let mut begun = branch_points(file, programs)?;
    let (mut found, mut done, of) = (Vec::new(), 0, file.contents().entries);
    let mut current: Option<Rebuilt> = None;
    for item in file.items()? {
        match item? {
            Item::Program(program) => {
                found.extend(current.take().into_iter().flat_map(Rebuilt::verify));
                if programs.contains(&program.id) {
                    let replay = Replay::keeping(begun.remove(&program.id).unwrap_or_default());
                    current = Some(Rebuilt { program: program.name, replay, stuck: false });
                }
            }
            Item::Entry(entry, actor) => {
                done += 1;
                progress(Loading::Checked(done, of));
                if let Some(rebuilt) = &mut current {
                    rebuilt.take(*entry, &actor);
                }
            }
            Item::Change(_) | Item::Request(_) | Item::Case(_) | Item::Part(_) => {}
        }
    }
    found.extend(current.into_iter().flat_map(Rebuilt::verify));
    // Its content is sound, and edits go on behind what is there.
    found.retain(|ailment| !matches!(ailment.symptom, Symptom::RefsReused | Symptom::RefTaken(_)));
    Ok(found)
}

/// A program that is built again from a file.
struct Rebuilt {
    program: String,
    replay: Replay,
    /// Whether there is no state to go on from.
    stuck: bool,
}

impl Rebuilt {
    fn take(&mut self, row: lmlang_store::Entry, actor: &lmlang_store::Actor) {
        if self.stuck {
            return;
        }
        let seq = row.seq;
        match decoded(row, actor) {
            Ok(entry) => self.stuck = !self.replay.take(&Arc::new(entry)),
            Err(reason) => {
                self.replay.found.push((seq, Symptom::Unreadable(reason)));
                self.stuck = true;
            }
        }
    }

    fn verify(mut self) -> impl Iterator<Item = Ailment> {
        self.replay.verify();
        let program = self.program;
        self.replay.found.into_iter().map(move |(entry, symptom)| Ailment {
            program: program.clone(),
            entry,
            symptom,
        })
    }
}

fn decoded(row: lmlang_store::Entry, actor: &lmlang_store::Actor) -> Result<Entry, String> {
    let (row, edits) = row.split();
    let edits: Vec<Edit> = decode_edits(&edits).map_err(|error| error.to_string())?;
    let header = records::header_by(actor.clone(), row).map_err(|error| error.to_string())?;
    Ok(Entry::new(header, edits))
}

/// The numbers of the entries that branches of programs begin at: their states are to be kept while a log is replayed.
fn branch_points(
    file: &BackupFile,
    programs: &HashSet<Uuid>,
) -> Result<HashMap<Uuid, HashSet<u64>>, FileError> {
    let mut begun: HashMap<Uuid, HashSet<u64>> = HashMap::new();
    let mut current = None;
    for item in file.items()? {
        match item? {
            Item::Program(program) => current = Some(program.id).filter(|id| programs.contains(id)),
            Item::Entry(entry, _) if entry.kind == EntryKind::Branch => {
                if let (Some(id), Some(target)) = (current, entry.target) {
                    begun.entry(id).or_default().insert(target);
                }
            }
            Item::Entry(..) | Item::Change(_) | Item::Request(_) | Item::Case(_) | Item::Part(_) => {}
        }
    }
    Ok(begun)
}

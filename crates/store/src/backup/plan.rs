//! What is missing of a backup in a database, and why something of it cannot be there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::actors::Actor;
use crate::backup::fate::{Fate, Refusal, Refused};
use crate::backup::file::{BackupFile, Item, ProgramInFile};
use crate::backup::frames::FileError;
use crate::backup::parts::Part;
use crate::backup::plan_parts::{self, PlannedPart};
use crate::backup::record::{CaseInFile, RequestInFile};
use crate::entity::program_changes;
use crate::entry::{Entry, ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::feed::Bound;
use crate::log::Tail;
use crate::program_changes::ProgramChange;
use crate::programs::Program;
use crate::store::Store;

/// What is wanted of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wishes {
    /// These programs and no others, and nothing that belongs to none.
    pub only: Option<BTreeSet<Uuid>>,
    /// Names that programs get in place of their own.
    pub names: BTreeMap<Uuid, String>,
    /// Now, which is when programs get those names.
    pub now: Timestamp,
}

/// What storing a backup will do: found out for all of it before any of it is stored.
#[derive(Debug)]
pub struct Plan {
    pub(crate) programs: Vec<Planned>,
    pub(crate) parts: Vec<PlannedPart>,
    pub(crate) now: Timestamp,
}

/// What becomes of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its id.
    pub id: Uuid,
    /// Its name from then on.
    pub name: String,
    /// Whether it is deleted from then on.
    pub deleted: bool,
    /// What is done.
    pub fate: Fate,
    /// Entries that are stored.
    pub entries: u64,
    /// Its key here, if it is here.
    pub(crate) here: Option<ProgramKey>,
    /// Entries and changes of it that are here; of what the database has more of, all.
    pub(crate) entries_here: u64,
    pub(crate) changes_here: usize,
    /// Whether its name, doc and deletion are those of the backup.
    pub(crate) adopted: bool,
    /// Whether it gets a name that the backup does not know.
    pub(crate) renamed: bool,
}

/// Why a backup was not stored.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Programs of it cannot be stored, and so none was.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Another process has changed a program since it was looked at; programs before it are stored.
    #[error("program `{program}` is changed by another process at this moment: load it again")]
    Moved {
        /// Its name.
        program: String,
    },
    /// Another process has changed what belongs to no program since it was looked at; all programs are stored.
    #[error("another process changes {part} at this moment: load it again")]
    PartMoved {
        /// What it is.
        part: Part,
    },
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

/// What is read of a log at a time.
const PAGE: Bound = Bound { rows: 256, bytes: 1 << 20 };

impl Store {
    /// Finds out what storing a backup will do.
    ///
    /// # Errors
    ///
    /// See [`LoadError`]: all programs that cannot be stored, and why.
    pub async fn plan(&self, file: &BackupFile, wishes: &Wishes) -> Result<Plan, LoadError> {
        let mut planning = Planning {
            store: self,
            wishes,
            names: HashMap::new(),
            given_up: HashSet::new(),
            planned: Vec::new(),
            refusals: Vec::new(),
        };
        let parts = file.contents().parts.filter(|_| wishes.only.is_none());
        let mut parts = match parts {
            Some(in_file) => Some((in_file, plan_parts::Comparison::begin(self).await?)),
            None => None,
        };
        let mut comparison: Option<Comparison> = None;
        for item in file.items()? {
            match (item?, &mut comparison) {
                (Item::Program(program), before) => {
                    if let Some(comparison) = before.take() {
                        planning.conclude(comparison).await?;
                    }
                    if wishes.only.as_ref().is_none_or(|only| only.contains(&program.id)) {
                        comparison = Some(Comparison::begin(self, program).await?);
                    }
                }
                (Item::Part(item), _) => {
                    if let Some((_, parts)) = &mut parts {
                        parts.take(self, &item).await?;
                    }
                }
                (_, None) => {}
                (Item::Change(change), Some(comparison)) => comparison.changes.push(change),
                (Item::Entry(entry, actor), Some(comparison)) => {
                    comparison.entry(self, *entry, &actor).await?;
                }
                (Item::Request(request), Some(comparison)) => comparison.request(self, &request).await?,
                (Item::Case(case), Some(comparison)) => comparison.case(self, &case).await?,
            }
        }
        if let Some(comparison) = comparison {
            planning.conclude(comparison).await?;
        }
        let Planning { planned: programs, mut refusals, .. } = planning;
        let parts = parts.map(|(in_file, parts)| parts.conclude(in_file, &mut refusals)).unwrap_or_default();
        match refusals.is_empty() {
            true => Ok(Plan { programs, parts, now: wishes.now }),
            false => Err(Refused(refusals).into()),
        }
    }

    async fn changes_of(&self, program: ProgramKey) -> Result<Vec<ProgramChange>, Fault> {
        let rows = program_changes::Entity::find()
            .filter(program_changes::Column::Program.eq(program.0))
            .order_by_asc(program_changes::Column::Key);
        rows.all(&self.reader).await?.into_iter().map(ProgramChange::try_from).collect()
    }
}

impl Plan {
    /// What becomes of each program, in order of the backup.
    #[must_use]
    pub fn programs(&self) -> &[Planned] {
        &self.programs
    }

    /// What becomes of what belongs to no program, as far as there is something of it in the backup.
    #[must_use]
    pub fn parts(&self) -> &[PlannedPart] {
        &self.parts
    }
}

/// A program of a backup beside the one with its id that is here.
struct Comparison {
    program: ProgramInFile,
    here: Option<Here>,
    changes: Vec<ProgramChange>,
    newest: u64,
    /// The first entry that is another one here.
    diverged: Option<u64>,
    key_taken: bool,
    new_requests: bool,
    new_cases: bool,
}

struct Here {
    row: Program,
    changes: Vec<ProgramChange>,
    newest: u64,
    /// Entries that are to be compared next, and the last one that was read.
    page: VecDeque<Entry>,
    read: u64,
}

impl Comparison {
    async fn begin(store: &Store, program: ProgramInFile) -> Result<Self, Fault> {
        let here = match store.program_by_id(program.id).await? {
            None => None,
            Some(row) => {
                let changes = store.changes_of(row.key).await?;
                let newest = store.newest_header(row.key).await?.map_or(0, |header| header.seq);
                Some(Here { row, changes, newest, page: VecDeque::new(), read: 0 })
            }
        };
        let (changes, diverged) = (Vec::new(), None);
        let (key_taken, new_requests, new_cases) = (false, false, false);
        Ok(Self { program, here, changes, newest: 0, diverged, key_taken, new_requests, new_cases })
    }

    fn key(&self) -> Option<ProgramKey> {
        self.here.as_ref().map(|here| here.row.key)
    }

    async fn entry(&mut self, store: &Store, entry: Entry, actor: &Actor) -> Result<(), Fault> {
        self.newest = entry.seq;
        let Some(here) = self.here.as_mut().filter(|here| entry.seq <= here.newest) else { return Ok(()) };
        if self.diverged.is_none() && !here.has(store, entry, actor).await? {
            self.diverged = Some(self.newest);
        }
        Ok(())
    }

    async fn request(&mut self, store: &Store, request: &RequestInFile) -> Result<(), Fault> {
        match store.carried_out(&request.idempotency.key).await? {
            None => self.new_requests = true,
            Some(before) => self.key_taken |= Some(before.program) != self.key(),
        }
        Ok(())
    }
}

impl Comparison {
    async fn case(&mut self, store: &Store, case: &CaseInFile) -> Result<(), Fault> {
        // With a program that is made they come anyway.
        if self.here.is_some() && !self.new_cases {
            let here = store.case(case.id()).await?;
            self.new_cases = here.is_none_or(|here| case.is_removed() && here.removed.is_none());
        }
        Ok(())
    }
}

impl Here {
    /// Whether the next entry here is this one.
    async fn has(&mut self, store: &Store, mut entry: Entry, actor: &Actor) -> Result<bool, Fault> {
        if self.page.is_empty() {
            self.page = store.tail(Tail { program: self.row.key, after: self.read }, PAGE).await?.into();
        }
        let Some(next) = self.page.pop_front() else { return Ok(false) };
        self.read = next.seq;
        // Keys mean something in one database only.
        entry.actor = next.actor;
        Ok(entry == next && store.actor(next.actor).await?.as_ref() == Some(actor))
    }
}

/// What is known of the programs so far.
struct Planning<'a> {
    store: &'a Store,
    wishes: &'a Wishes,
    /// Who has a name by now, as far as it is another one than in the database.
    names: HashMap<String, Uuid>,
    /// Programs whose name in the database is free by now.
    given_up: HashSet<Uuid>,
    planned: Vec<Planned>,
    refusals: Vec<Refusal>,
}

impl Planning<'_> {
    async fn conclude(&mut self, comparison: Comparison) -> Result<(), Fault> {
        let Comparison { program, here, changes, newest, diverged, key_taken, new_requests, new_cases } =
            comparison;
        let ProgramInFile { id, name, deleted, .. } = program;
        let refusals = &mut self.refusals;
        let count = refusals.len();
        if let Some(entry) = diverged {
            refusals.push(Refusal::Diverged { program: name.clone(), entry });
        }
        if key_taken {
            refusals.push(Refusal::KeyTaken { program: name.clone() });
        }
        let changes_before = here.as_ref().map_or(&[][..], |here| &here.changes);
        let common = changes.iter().zip(changes_before).take_while(|(one, other)| one == other).count();
        let adopted = common == changes_before.len();
        let entries_here = here.as_ref().map_or(0, |here| here.newest);
        let entries = newest.saturating_sub(entries_here);
        if let Some(here) = here.as_ref().filter(|_| !adopted) {
            if common < changes.len() {
                refusals.push(Refusal::Changed { program: name.clone() });
            } else if here.row.deleted.is_some() && entries > 0 {
                refusals.push(Refusal::Deleted { program: name.clone() });
            }
        }
        let (known, deleted) = match &here {
            Some(here) if !adopted => (here.row.name.clone(), here.row.deleted),
            Some(_) | None => (name, deleted),
        };
        let deleted = deleted.is_some();
        let wish = self.wishes.names.get(&id).filter(|_| !deleted);
        let name = wish.unwrap_or(&known).clone();
        let renamed = name != known;
        if self.refusals.len() > count {
            return Ok(());
        }
        if !deleted && let Some(by) = self.holder(&name, id).await? {
            self.refusals.push(Refusal::NameTaken { name, by });
            return Ok(());
        }
        if !deleted {
            self.names.insert(name.clone(), id);
        }
        if here.as_ref().is_some_and(|here| deleted || here.row.name != name) {
            self.given_up.insert(id);
        }
        let changed = renamed || new_requests || new_cases || (adopted && changes.len() > common);
        let fate = match here {
            None => Fate::Made,
            Some(_) if entries > 0 || changed => Fate::Continued,
            Some(_) => Fate::Kept,
        };
        let (here, changes_here) = (here.map(|here| here.row.key), common);
        self.planned.push(Planned {
            id,
            name,
            deleted,
            fate,
            entries,
            here,
            entries_here,
            changes_here,
            adopted,
            renamed,
        });
        Ok(())
    }

    /// The live program that has a name by now, if it is another one.
    async fn holder(&self, name: &str, of: Uuid) -> Result<Option<Uuid>, Fault> {
        let holder = match self.names.get(name) {
            Some(holder) => Some(*holder),
            None => {
                let row = self.store.program_by_name(name).await?;
                row.map(|row| row.id).filter(|holder| !self.given_up.contains(holder))
            }
        };
        Ok(holder.filter(|holder| *holder != of))
    }
}

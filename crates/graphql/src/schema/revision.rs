//! Revisions, branches and checkpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use chrono::{DateTime, TimeZone, Utc};
use lmlang_engine::{HistoryQuery, MAIN_BRANCH};
use lmlang_history::log::{self, Header};
use lmlang_history::revision::MAIN;
use lmlang_ir::{Place, Ref, RefKind};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Counted, Listed, MAX_PAGE, PageRequest};
use crate::schema::cursor::{List, number};
use crate::schema::defaults::{Int, Or};
use crate::schema::diff::{ChangeCounts, EditRecord, records};
use crate::schema::failure::fail;
use crate::schema::ids::GlobalId;
use crate::schema::provenance::Actor;
use crate::schema::touched::{self, TouchedEntity};
use crate::schema::view::{View, not_found, nullable};
use crate::transport::budget;

/// What an entry of the log did to its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "log::RevisionKind")]
pub enum RevisionKind {
    /// Made the program, empty or from a text.
    Create,
    /// Changed it by a change set.
    Edit,
    /// Went back along the line of its branch.
    Undo,
    /// Went forward again.
    Redo,
    /// Took chosen revisions back and kept later work.
    Revert,
    /// Went back to a checkpoint.
    Restore,
    /// Brought another branch in.
    Merge,
    /// Made a module the content of a program that was there. What `createProgram` or `lmlang import` makes is `CREATE`.
    Import,
    /// Made, moved or removed a checkpoint.
    Checkpoint,
    /// Made, moved or removed a branch.
    Branch,
}

/// An entry of a program's log.
#[derive(Clone)]
pub struct Revision {
    view: View,
    entry: Arc<Header>,
}

impl Direct for Revision {}

impl Listed for Revision {
    const CONNECTION: &'static str = "RevisionConnection";
    const EDGE: &'static str = "RevisionEdge";
}

impl Revision {
    /// An entry of the log of the program that a view looks at.
    pub fn new(view: &View, entry: Arc<Header>) -> Revision {
        Revision { view: view.clone(), entry }
    }
}

impl Revision {
    async fn edits_on(&self, page: &PageRequest) -> std::result::Result<Connection<EditRecord>, ApiError> {
        let from = page.start()?;
        let edits = self.view.engine().edits(self.view.open(), self.entry.number).await.map_err(fail)?;
        Ok(Connection::collect(page, edits.len(), records(&edits, from)))
    }
}

/// The entry with a number, of the program that a view looks at.
pub(crate) async fn numbered(view: &View, number: u64) -> std::result::Result<Revision, ApiError> {
    let entry = view.engine().header(view.open(), number).await.map_err(fail)?;
    let entry = entry.ok_or_else(|| not_found("revision", &format!("r{number}")))?;
    Ok(Revision::new(view, entry))
}

/// A moment in UTC.
pub(crate) fn moment(micros: i64) -> DateTime<Utc> {
    Utc.timestamp_micros(micros).single().unwrap_or_default()
}

/// The event cursor after an entry.
pub(crate) fn cursor(number: u64) -> String {
    format!("r{number}")
}

/// A revision: one entry of a program's log, and the state that it led to.
#[Object]
impl Revision {
    /// Global id.
    pub async fn id(&self) -> ID {
        GlobalId::Revision(self.view.id().program, self.entry.number).to_string().into()
    }

    /// Its place in the log, from 1 on; `r118` in `at:`.
    async fn number(&self) -> i32 {
        i32::try_from(self.entry.number).unwrap_or(i32::MAX)
    }

    /// Hash of the state, as `at:` takes its first digits.
    async fn hash(&self) -> String {
        self.entry.root_hash.to_string()
    }

    /// The revisions whose states this one builds on.
    async fn parents(&self) -> Option<Result<Vec<Revision>>> {
        let parents = self.entry.parents.iter().map(|number| numbered(&self.view, *number));
        nullable(futures_util::future::try_join_all(parents).await)
    }

    /// The branch that it is on, by the name that this had then. It may be gone, and another one have the name now.
    async fn branch(&self) -> &str {
        self.entry.branch_name.as_deref().unwrap_or(MAIN)
    }

    /// The revision that began the branch that it is on: what tells that from others of the same name; null on `main`.
    async fn branch_begun_in(&self) -> Option<Result<Revision>> {
        if self.entry.branch == MAIN_BRANCH {
            return None;
        }
        nullable(numbered(&self.view, self.entry.branch.into()).await)
    }

    /// What it did.
    async fn kind(&self) -> RevisionKind {
        self.entry.kind.into()
    }

    /// Who did it.
    async fn actor(&self) -> Actor {
        Actor::from(&self.entry.actor)
    }

    /// For whom, as the caller said; recorded beside the caller, never instead.
    async fn on_behalf_of(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.entry.on_behalf_of.as_deref())
    }

    /// The checkpoint that it made, moved or removed; null for what did something else.
    async fn checkpoint(&self) -> Option<&str> {
        self.entry.name.as_deref().filter(|_| self.entry.kind == log::RevisionKind::Checkpoint)
    }

    /// Why, in the author's words.
    async fn message(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.entry.message.as_deref())
    }

    /// When.
    async fn created_at(&self) -> DateTime<Utc> {
        moment(self.entry.time)
    }

    /// Hash of the whole content after it.
    async fn root_hash(&self) -> String {
        self.entry.root_hash.to_string()
    }

    /// The edits that turn the state of the first parent into this one's.
    async fn edits(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<EditRecord>>> {
        let page = match PageRequest::new(List::RevisionEdits, first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(self.edits_on(&page).await)
    }

    /// What it made, changed and removed, each entity once, by ref, and what is left of it in the view that the revision was
    /// asked for in. A function comes and goes with all that is in it. What the edits of one revision make and take away
    /// again is not listed.
    async fn touched(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only what is still alive, or only what is not.")] alive: Option<bool>,
    ) -> Option<Result<Connection<TouchedEntity>>> {
        let page = match PageRequest::new(List::Touched, first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(touched::touched(&self.view, &self.entry, &page, alive).await)
    }

    /// How much that is.
    async fn changed(&self) -> ChangeCounts {
        self.entry.counts.into()
    }

    /// Whether the newest content of its branch does not build on it any more: it was undone, or a restore has left it behind.
    /// What a revert has taken back is still built on; the revert says what that is.
    async fn undone(&self) -> bool {
        if !self.entry.kind.makes_state() {
            return false;
        }
        let now = self.view.open().timeline.head();
        let head = self.view.as_head().unwrap_or(&now);
        let held = self.view.engine().is_held(self.view.open(), head, &self.entry).await;
        // A log that cannot be read has nothing that was undone.
        !held.unwrap_or(true)
    }

    /// What an undo, redo or restore went back to; what a revert took back, if that is one; the revision that a checkpoint
    /// names or a branch begins with.
    async fn target(&self) -> Option<Result<Revision>> {
        match self.entry.target {
            Some(number) => nullable(numbered(&self.view, number).await),
            None => None,
        }
    }

    /// The flow's run that made it, which may have been removed since.
    async fn run_id(&self) -> Option<ID> {
        self.entry.origin.map(|origin| GlobalId::Run(uuid::Uuid::from_bytes(origin.run)).to_string().into())
    }

    /// The run's step that made it.
    async fn step_id(&self) -> Option<ID> {
        self.entry.origin.map(|origin| origin.step.to_string().into())
    }
}

/// What a history is asked about: also what was removed since, and what is on another branch, which are known by their refs.
async fn touched_entity(view: &View, given: &str) -> std::result::Result<Ref, ApiError> {
    let Ok(of) = given.parse::<Ref>() else { return view.entity_named(given) };
    match view.program().place(of) {
        // A field has no record of its own.
        Some(Place::Member(owner, _)) => return Ok(owner.into()),
        Some(_) => return Ok(of),
        None => {}
    }
    // A number is never that of two things.
    let others = view.program().ref_of(of.number).is_some();
    if others || of.kind == RefKind::Member || of.number >= view.revision().entry.next_ref {
        return Err(view.missing("entity", of));
    }
    match view.engine().may_have_been_there(view.open(), of).await.map_err(fail)? {
        true => Ok(of),
        // Something else had the number.
        false => Err(not_found("entity", given)),
    }
}

/// Which revisions a history tells.
pub(crate) struct Only {
    pub(crate) author: Option<String>,
    pub(crate) touching: Option<String>,
    pub(crate) kind: Option<RevisionKind>,
    pub(crate) merged: bool,
}

/// The revisions of a program up to a view, newest first; places are numbers.
pub(crate) async fn history(
    view: &View,
    page: PageRequest,
    counted: Counted,
    Only { author, touching, kind, merged }: Only,
) -> std::result::Result<Connection<Revision>, ApiError> {
    let touching = match touching {
        Some(given) => Some(touched_entity(view, &given).await?),
        None => None,
    };
    let place = view.stored_place();
    let within = match touching {
        Some(of) => view.engine().function_of(view.open(), view.program(), place, of).await.map_err(fail)?,
        None => None,
    };
    // Before one that is not among them there would be all of them.
    let before = page.after(|place| number(place).filter(|number| *number <= view.newest_entry()))?;
    let query = HistoryQuery {
        on_way_to: Some(place),
        merged,
        before: before.unwrap_or(u64::MAX),
        author,
        touching,
        within,
        kind: kind.map(Into::into),
        ..HistoryQuery::up_to(view.newest_entry(), page.first)
    };
    let found = view.engine().history(view.open(), &query).await.map_err(fail)?;
    let total = match counted {
        Counted::Yes => view.engine().history_len(view.open(), &query).await.map_err(fail)?,
        Counted::No => 0,
    };
    let revision = |entry: Arc<Header>| (entry.number, Revision::new(view, entry));
    Ok(Connection::known(&page, found.more, total as usize, found.entries.into_iter().map(revision)))
}

/// A line of work: a name for its newest revision.
#[derive(Clone, SimpleObject)]
pub struct Branch {
    /// Its name, unique among branches and checkpoints.
    name: String,
    /// Its newest revision of the content.
    head: Revision,
    /// When it was made.
    created_at: DateTime<Utc>,
}

impl Direct for Branch {}

impl Listed for Branch {
    const CONNECTION: &'static str = "BranchConnection";
    const EDGE: &'static str = "BranchEdge";
}

impl Branch {
    /// A branch that has just been made.
    pub fn made(view: &View, made: lmlang_engine::Made) -> Branch {
        let head = Revision::new(view, Arc::clone(&made.head.entry));
        Branch { name: made.name, head, created_at: moment(made.time) }
    }
}

/// The branches of a program, as a view sees them; places are names.
pub(crate) async fn branches(
    view: &View,
    page: &PageRequest,
) -> std::result::Result<Connection<Branch>, ApiError> {
    let mut begun: BTreeMap<String, (u32, i64)> = match view.as_head() {
        Some(head) => head.branches.iter().map(|one| (one.name.clone(), (one.number, one.time))).collect(),
        None => {
            let marks = earlier_marks(view, log::RevisionKind::Branch).await?;
            marks.into_iter().map(|(name, entry)| (name, (entry.branch, entry.time))).collect()
        }
    };
    begun.insert(MAIN.to_owned(), (MAIN_BRANCH, view.open().info().created));
    let page = Connection::sorted(page, begun.into_iter().collect(), |(name, _): &(String, _)| name)?;
    page.resolved(|(name, (number, time))| branch(view.clone(), name, number, time)).await
}

/// A branch as a view sees it.
async fn branch(view: View, name: String, number: u32, time: i64) -> std::result::Result<Branch, ApiError> {
    let head = match view.as_head().and_then(|head| head.tip(number)) {
        Some(tip) => Arc::clone(&tip.revision.entry),
        None => {
            let newest = view.engine().newest_on(view.open(), number, view.newest_entry()).await;
            newest.map_err(fail)?.ok_or_else(|| not_found("branch", &name))?
        }
    };
    Ok(Branch { name, head: Revision::new(&view, head), created_at: moment(time) })
}

/// A named pointer to a revision.
#[derive(Clone)]
pub struct Checkpoint {
    view: View,
    checkpoint: Arc<lmlang_engine::Checkpoint>,
}

impl Direct for Checkpoint {}

impl Listed for Checkpoint {
    const CONNECTION: &'static str = "CheckpointConnection";
    const EDGE: &'static str = "CheckpointEdge";
}

impl Checkpoint {
    /// A checkpoint of the program that a view looks at.
    pub fn new(view: &View, checkpoint: Arc<lmlang_engine::Checkpoint>) -> Checkpoint {
        Checkpoint { view: view.clone(), checkpoint }
    }
}

/// A named pointer to a revision.
#[Object]
impl Checkpoint {
    /// Its name, unique among checkpoints and branches.
    async fn name(&self) -> &str {
        &self.checkpoint.name
    }

    /// The revision that it names.
    async fn revision(&self) -> Option<Result<Revision>> {
        nullable(numbered(&self.view, self.checkpoint.revision).await)
    }

    /// Why it was made.
    async fn message(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.checkpoint.message.as_deref())
    }

    /// Who made it.
    async fn actor(&self) -> Actor {
        Actor::from(&self.checkpoint.actor)
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime<Utc> {
        moment(self.checkpoint.time)
    }
}

/// The checkpoints of a program, by name, as a view sees them; places are names.
pub(crate) async fn checkpoints(
    view: &View,
    page: &PageRequest,
) -> std::result::Result<Connection<Checkpoint>, ApiError> {
    let found: Vec<Arc<lmlang_engine::Checkpoint>> = match view.as_head() {
        Some(head) => head.checkpoints.iter().cloned().collect(),
        None => {
            let marks = earlier_marks(view, log::RevisionKind::Checkpoint).await?;
            marks.values().filter_map(|entry| lmlang_engine::Checkpoint::of(entry)).map(Arc::new).collect()
        }
    };
    let checkpoints = found.into_iter().map(|one| Checkpoint::new(view, one)).collect();
    Connection::sorted(page, checkpoints, |one| &one.checkpoint.name)
}

/// The checkpoints or branches by name as they were after the newest entry that a view can see: the entries that made them.
async fn earlier_marks(
    view: &View,
    kind: log::RevisionKind,
) -> std::result::Result<BTreeMap<String, Arc<Header>>, ApiError> {
    let newest = view.newest_entry();
    let mut named = BTreeMap::new();
    let mut before = newest.saturating_add(1);
    loop {
        let query = HistoryQuery { before, kind: Some(kind), ..HistoryQuery::up_to(newest, MAX_PAGE) };
        let found = view.engine().history(view.open(), &query).await.map_err(fail)?;
        for entry in &found.entries {
            before = entry.number;
            let Some(name) = &entry.name else { continue };
            // The newest entry about a name says whether it is there.
            named.entry(name.clone()).or_insert_with(|| Arc::clone(entry));
        }
        if !found.more {
            named.retain(|_, entry| entry.target.is_some());
            return Ok(named);
        }
    }
}

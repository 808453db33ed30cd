//! Branches: lines of work in one program, with one log for all of them.
//!
//! Every program has `main`. Another branch begins with an entry that names a revision; its number is that entry's. What
//! is done on it follows that revision, so that a state is found by walking from parent to parent: stretches of the log,
//! each on one branch.

use std::sync::Arc;

use imbl::OrdMap;
use lmlang_history::Provenance;
use lmlang_history::line::Line;
use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_history::revision::{MAIN, check_new_name};
use lmlang_ir::RefAllocator;
use lmlang_store::Stretch;
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::catalog::check_length;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::timeline::{Head, Revision};
use crate::writing::{Next, Plan, Written};

/// The number of the branch that every program has.
pub const MAIN_BRANCH: u32 = 0;

/// The newest state of a branch. A clone copies pointers.
#[derive(Clone, Debug)]
pub struct Tip {
    /// The number of the branch.
    pub branch: u32,
    /// Its name; nothing for `main`.
    pub name: Option<Arc<str>>,
    /// Its newest revision of the content.
    pub revision: Arc<Revision>,
    /// What undo and redo go back to.
    pub line: Line,
    /// In which revision each entity was made and changed last.
    pub provenance: Provenance,
}

impl Tip {
    /// The tip after the next entry, with the newest revision of the content then.
    pub(crate) fn after(&self, entry: &Entry, revision: Arc<Revision>) -> Result<Tip, Error> {
        let mut next = Tip { revision, ..self.clone() };
        next.provenance.follow(entry);
        // The plan asked the line first; a refusal here would be a mistake of ours.
        next.line.push(entry.step()).map_err(|error| Error::bad_request(error.to_string()))?;
        Ok(next)
    }

    /// Whether it is the same state of the same branch.
    pub(crate) fn is(&self, other: &Tip) -> bool {
        let number = |tip: &Tip| (tip.branch, tip.revision.entry.number);
        number(self) == number(other)
    }

    /// What a new branch starts with: what came before can be undone on it too.
    fn branch_off(&self, branch: u32, name: &str) -> Tip {
        Tip { branch, name: Some(name.into()), line: self.line.branch_off(), ..self.clone() }
    }
}

/// A branch beside `main`.
#[derive(Debug)]
pub struct Branch {
    /// Its number: that of the entry that made it.
    pub number: u32,
    /// Its name, unique among branches and checkpoints.
    pub name: String,
    /// When it was made, in microseconds of UTC.
    pub time: i64,
    /// Its newest state, once somebody has asked for it: building it again takes long. Every head in which nothing has
    /// happened to the branch since shares it.
    tip: OnceCell<Tip>,
    /// Whether the state, if it is in memory, has most of its nodes in common with that of another branch: it was made of
    /// that, and not built again from the log.
    shares: bool,
}

impl Branch {
    /// The newest state, if it is in memory.
    pub fn tip(&self) -> Option<&Tip> {
        self.tip.get()
    }

    /// How many nodes its newest state holds in memory that `main` does not, about.
    pub(crate) fn nodes_beside(&self, main: &Tip) -> u64 {
        let nodes = |tip: &Tip| tip.revision.checked.program().totals().counts.nodes;
        match self.tip() {
            None => 0,
            Some(tip) if Arc::ptr_eq(&tip.revision, &main.revision) => 0,
            // What is gone from the one lives on in the other.
            Some(tip) if self.shares => nodes(tip).abs_diff(nodes(main)),
            Some(tip) => nodes(tip),
        }
    }
}

/// The branches beside `main`, by name. A clone copies pointers.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    named: OrdMap<String, Arc<Branch>>,
    names: OrdMap<u32, String>,
}

impl Branches {
    /// The branch with a name.
    pub fn get(&self, name: &str) -> Option<&Arc<Branch>> {
        self.named.get(name)
    }

    /// The branch with a number.
    pub fn numbered(&self, number: u32) -> Option<&Arc<Branch>> {
        self.get(self.names.get(&number)?)
    }

    /// All of them by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Branch>> {
        self.named.values()
    }

    /// Takes an entry in that makes or removes a branch; its newest state, if that is in memory.
    pub(crate) fn follow(&mut self, entry: &Header, tip: Option<Tip>) {
        let (RevisionKind::Branch, Some(name)) = (entry.kind, &entry.name) else { return };
        if entry.target.is_none() {
            self.named.remove(name);
            self.names.remove(&entry.branch);
            return;
        }
        let shares = tip.is_some();
        self.put(Branch {
            number: entry.branch,
            name: name.clone(),
            time: entry.time,
            tip: cell(tip),
            shares,
        });
    }

    /// Moves a branch on to its state after the next entry; to one that is not in memory.
    pub(crate) fn advance(&mut self, number: u32, tip: Option<Tip>) {
        let Some(branch) = self.numbered(number).cloned() else { return };
        let (name, time, shares) = (branch.name.clone(), branch.time, branch.shares && tip.is_some());
        self.put(Branch { number, name, time, tip: cell(tip), shares });
    }

    fn put(&mut self, branch: Branch) {
        self.names.insert(branch.number, branch.name.clone());
        self.named.insert(branch.name.clone(), Arc::new(branch));
    }
}

fn cell(tip: Option<Tip>) -> OnceCell<Tip> {
    OnceCell::new_with(tip)
}

/// The way from the first entry of a program to one of its states, oldest stretch first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way(Vec<Stretch>);

impl Way {
    /// The way to an entry on `main`.
    pub(crate) fn of_main(end: u64) -> Way {
        Way(vec![Stretch { branch: MAIN_BRANCH, entries: 1..=end }])
    }

    /// The way with what follows on a branch, up to a number: on that of its end, or on one that begins there.
    pub(crate) fn until(mut self, branch: u32, number: u64) -> Way {
        let start = u64::from(branch).max(1);
        match self.0.last_mut() {
            Some(last) if last.branch == branch => {
                last.entries = *last.entries.start()..=number.max(*last.entries.end());
            }
            Some(_) | None if start <= number => self.0.push(Stretch { branch, entries: start..=number }),
            Some(_) | None => {}
        }
        self
    }

    /// Its stretches, oldest first.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.0
    }

    /// The number of the entry that it leads to.
    pub(crate) fn end(&self) -> u64 {
        self.0.last().map_or(0, |stretch| *stretch.entries.end())
    }

    /// The stretches with entries after one, cut to them.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = Stretch> {
        let left = self.0.iter().filter(move |stretch| *stretch.entries.end() > number);
        left.map(move |Stretch { branch, entries }| {
            let entries = *entries.start().max(&(number + 1))..=*entries.end();
            Stretch { branch: *branch, entries }
        })
    }

    /// What is on it and on none of some others.
    pub(crate) fn beyond(&self, others: &[Way]) -> Vec<Stretch> {
        let shared = |branch: u32| {
            let on_branch = others.iter().flat_map(|way| &way.0).filter(move |other| other.branch == branch);
            on_branch.map(|other| *other.entries.end()).max().unwrap_or(0)
        };
        let left = self.0.iter().map(|Stretch { branch, entries }| {
            let entries = *entries.start().max(&(shared(*branch) + 1))..=*entries.end();
            Stretch { branch: *branch, entries }
        });
        left.filter(|stretch| !stretch.entries.is_empty()).collect()
    }

    /// Whether an entry is on it.
    pub(crate) fn holds(&self, entry: &Header) -> bool {
        Way::holds_any(&self.0, entry)
    }

    /// Whether an entry is in one of some stretches.
    pub(crate) fn holds_any(stretches: &[Stretch], entry: &Header) -> bool {
        let holds =
            |stretch: &Stretch| stretch.branch == entry.branch && stretch.entries.contains(&entry.number);
        stretches.iter().any(holds)
    }
}

impl Engine {
    /// The way to an entry, which may be submitted and not stored yet.
    pub(crate) async fn way(&self, open: &OpenProgram, number: u64) -> Result<Way, Error> {
        let (mut stretches, mut end) = (Vec::new(), number);
        loop {
            let missing = || Error::not_found("revision", format!("r{end}"));
            let branch = match open.timeline.submitted(end) {
                Some(entry) => entry.branch,
                None => self.header(open, end).await?.ok_or_else(missing)?.branch,
            };
            let start = u64::from(branch).max(1);
            stretches.push(Stretch { branch, entries: start..=end });
            if branch == MAIN_BRANCH {
                stretches.reverse();
                return Ok(Way(stretches));
            }
            let first = self.header(open, start).await?.ok_or_else(missing)?;
            end = first.parents.first().copied().ok_or_else(missing)?;
        }
    }

    /// The newest state of a branch, as of a head.
    pub async fn tip(&self, open: &OpenProgram, head: &Head, name: &str) -> Result<Tip, Error> {
        if name == MAIN {
            return Ok(head.main.clone());
        }
        let branch = head.branches.get(name).ok_or_else(|| no_branch(head, name))?;
        if let Some(tip) = branch.tip.get() {
            return Ok(tip.clone());
        }
        // Once for all who ask. Rare, and much to keep room for in everything that asks for a tip.
        let load = || self.load_tip(open, branch, head.last);
        Box::pin(branch.tip.get_or_try_init(load)).await.cloned()
    }

    /// Builds the newest state of a branch again, as of an entry.
    async fn load_tip(&self, open: &OpenProgram, branch: &Branch, last: u64) -> Result<Tip, Error> {
        let newest = self.newest_on(open, branch.number, last).await?;
        let newest = newest.ok_or_else(|| Error::not_found("branch", &branch.name))?;
        Ok(match self.tip_at(open, newest.number).await? {
            tip if tip.branch == branch.number => tip,
            // Nothing has been done on it yet.
            tip => tip.branch_off(branch.number, &branch.name),
        })
    }

    /// The newest revision of the content on a branch that is not younger than an entry.
    pub async fn newest_on(
        &self,
        open: &OpenProgram,
        branch: u32,
        at_most: u64,
    ) -> Result<Option<Arc<Header>>, Error> {
        match self.store().newest_on(open.timeline.key(), branch, at_most).await? {
            Some(number) => self.content_header(open, number).await,
            None => Ok(None),
        }
    }

    /// Whether the newest state of an entry's branch builds on it; a branch that is gone stays as it was.
    pub async fn is_held(&self, open: &OpenProgram, head: &Head, entry: &Header) -> Result<bool, Error> {
        match head.branches.numbered(entry.branch) {
            Some(branch) => {
                let tip = self.tip(open, head, &branch.name).await?;
                self.builds_on(open, &tip.line, entry.number).await
            }
            None if entry.branch == MAIN_BRANCH => self.builds_on(open, &head.main.line, entry.number).await,
            None => Ok(true),
        }
    }

    /// Makes a branch that begins at a revision, else at the newest one of `main`.
    pub async fn create_branch(
        &self,
        open: &OpenProgram,
        name: &str,
        at: Option<&str>,
        call: &Call,
    ) -> Result<Made, Error> {
        check_length(name, self.limits().name_length)?;
        check_new_name(name).map_err(|error| Error::bad_request(error.to_string()))?;
        if at.is_some() {
            // What it names may have been made, or moved, by another process a moment ago.
            self.catch_up(open).await?;
        }
        // As in `propose`.
        let from = &match at {
            Some(at) => self.origin_of(open, at).await.map(Some),
            None => Ok(None),
        };
        let plan = |head: Arc<Head>, refs: RefAllocator| async move {
            let from = from.clone()?.unwrap_or_else(|| head.main.clone());
            refuse_taken(&head, name)?;
            let too_many = |_| Error::Limit { which: "entries", limit: u32::MAX.into(), actual: head.last };
            let branch = u32::try_from(head.last + 1).map_err(too_many)?;
            let tip = from.branch_off(branch, name);
            let base = self.blank_header(RevisionKind::Branch, &head, &tip, &refs, call);
            let target = Some(tip.revision.entry.number);
            let entry = Entry::new(Header { target, name: Some(name.to_owned()), ..base }, Vec::new());
            let answer = Made { name: name.to_owned(), time: entry.time, head: Arc::clone(&tip.revision) };
            Ok(Plan::<Made, std::convert::Infallible>::Append {
                entry,
                next: Next::Branch(Some(Box::new(tip))),
                refs,
                answer,
            })
        };
        match self.write(open, call, plan).await? {
            Written::Stored(made) => Ok(made),
            Written::Left(never) => match never {},
            Written::Repeated(number) => {
                let missing = || Error::not_found("branch", name);
                let first = self.header(open, number).await?.ok_or_else(missing)?;
                let head = self.state(open, first.target.ok_or_else(missing)?).await?.ok_or_else(missing)?;
                Ok(Made { name: first.name.clone().unwrap_or_default(), time: first.time, head })
            }
        }
    }

    /// The tip that a branch at a revision has: the shared one where the revision is a branch's newest.
    async fn origin_of(&self, open: &OpenProgram, at: &str) -> Result<Tip, Error> {
        let head = open.timeline.head();
        if at == MAIN || head.branches.get(at).is_some() {
            return self.tip(open, &head, at).await;
        }
        let named = self.named(open, at).await?;
        if named.number == head.main.revision.entry.number {
            return Ok(head.main.clone());
        }
        Box::pin(self.tip_at(open, named.number)).await
    }

    /// The names of the branches that a run has made and that are still there.
    pub async fn branches_made_by(&self, open: &OpenProgram, run: Uuid) -> Result<Vec<String>, Error> {
        let mut made = Vec::new();
        for branch in open.timeline.head().branches.iter() {
            let header = self.header(open, branch.number.into()).await?;
            let origin = header.and_then(|header| header.origin);
            if origin.is_some_and(|origin| origin.run == run.into_bytes()) {
                made.push(branch.name.clone());
            }
        }
        Ok(made)
    }

    /// Removes a branch; its revisions stay. `main` cannot be removed.
    pub async fn delete_branch(&self, open: &OpenProgram, name: &str, call: &Call) -> Result<(), Error> {
        if name == MAIN {
            return Err(Error::bad_request("the branch `main` cannot be deleted"));
        }
        // Before the writer is held: its state may take a while to find. What is not there is told by the plan.
        drop(self.tip(open, &open.timeline.head(), name).await);
        let plan = |head: Arc<Head>, refs: RefAllocator| async move {
            let tip = self.tip(open, &head, name).await?;
            let base = self.blank_header(RevisionKind::Branch, &head, &tip, &refs, call);
            let entry = Entry::new(Header { name: Some(name.to_owned()), ..base }, Vec::new());
            Ok(Plan::<(), ()>::Append { entry, next: Next::Branch(None), refs, answer: () })
        };
        self.write(open, call, plan).await.map(drop)
    }
}

/// A branch that has just been made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its name.
    pub name: String,
    /// When it was made, in microseconds of UTC.
    pub time: i64,
    /// The revision that it begins with.
    pub head: Arc<Revision>,
}

/// Refuses a name that a branch or a checkpoint has.
pub(crate) fn refuse_taken(head: &Head, name: &str) -> Result<(), Error> {
    let taken = |what| Err(Error::NameTaken { what, name: name.to_owned() });
    match (name == MAIN || head.branches.get(name).is_some(), head.checkpoints.get(name)) {
        (true, _) => taken("branch"),
        (false, Some(_)) => taken("checkpoint"),
        (false, None) => Ok(()),
    }
}

/// The error of a branch that is not there.
pub fn no_branch(head: &Head, name: &str) -> Error {
    Error::unnamed("branch", name, || head.branches.iter().map(|branch| branch.name.as_str()).chain([MAIN]))
}

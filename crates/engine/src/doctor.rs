//! Checking a database: its structure, every log against the hashes that it records, every snapshot.
//!
//! The store checks rows; what they mean is checked here. Every live program is built again from its first entry on, and
//! after each entry its content must have the recorded hash. Deleted programs are checked as rows only. Runs of flows must follow from
//! their journals, what the Manager keeps and every entity must be readable, and no relation may end nowhere.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use lmlang_history::line::{Line, LineError};
use lmlang_history::log::{Entry, RevisionKind};
use lmlang_history::snapshot::{Reading, State};
use lmlang_history::{ApplyError, Edit, apply_all};
use lmlang_ir::{Hash, Program, Ref, counted};
use lmlang_store::{Bound, CasePlace, EntryKind, FIRST_SEQ, Fault, ProgramKey, References};
use lmlang_verify::Checked;

use crate::cases::is_readable;
use crate::catalog::ProgramInfo;
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::checkup::RunAilment;
use crate::opening::{changes_content, threads};
use crate::snapshots::references;

/// What a check of a database found.
#[derive(Debug)]
pub struct Checkup {
    /// What the store says about its rows.
    pub structure: lmlang_store::Report,
    /// What is wrong with the content of programs, by name.
    pub content: Vec<Ailment>,
    /// Cases that cannot be read, of which programs.
    pub cases: Vec<UnreadableCase>,
    /// Runs of flows.
    pub runs: u64,
    /// What is wrong with them.
    pub ailing_runs: Vec<RunAilment>,
    /// What is wrong with flows that are declared, in words.
    pub ailing_flows: Vec<String>,
    /// Why what the built-in Manager keeps cannot be read, if it cannot.
    pub manager: Option<String>,
    /// Entities and relations.
    pub entities: u64,
    /// What is wrong with them, in words.
    pub ailing_entities: Vec<String>,
    /// Entries that were applied again.
    pub replayed: u64,
}

/// A test case that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableCase {
    /// The program's name.
    pub program: String,
    /// The case's name.
    pub name: String,
}

impl fmt::Display for UnreadableCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program `{}`: the case `{}` cannot be read", self.program, self.name)
    }
}

/// Something that is wrong with the content of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Ailment {
    /// The program's name.
    pub program: String,
    /// The number of the entry.
    pub entry: u64,
    /// What is wrong.
    pub symptom: Symptom,
}

/// What is wrong with an entry or a snapshot of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Symptom {
    /// The entry cannot be read; what comes after it was not checked.
    Unreadable(String),
    /// It follows this entry, which does not have the newest state of its branch; what comes after it was not checked.
    Parent(u64),
    /// Its edits do not fit the state before it; what comes after it was not checked.
    Misfit(ApplyError),
    /// The content does not have the hash that the entry records.
    Hash {
        /// What the entry records.
        recorded: Hash,
        /// What the content has.
        found: Hash,
    },
    /// It went back to an entry, and its content is another one's.
    Target(u64),
    /// It is not a step that undo and redo could have taken.
    Line(LineError),
    /// Refs that it uses are to be handed out again.
    RefsReused,
    /// It makes something anew with a ref that was handed out before.
    RefTaken(Ref),
    /// The verifier finds errors, which no stored state has; how many.
    Errors(u64),
    /// Its snapshot cannot be read.
    SnapshotUnreadable(String),
    /// Its snapshot has another content.
    SnapshotDiffers,
    /// Its snapshot has another line of what undo and redo go back to.
    SnapshotLine,
}

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Entries that were replayed.
    pub done: u64,
    /// Entries there are, those of deleted programs included.
    pub of: u64,
}

impl Checkup {
    /// Everything that is wrong, in words.
    pub fn findings(&self) -> impl Iterator<Item = String> {
        let structure = self.structure.findings.iter().map(ToString::to_string);
        let content = self.content.iter().map(ToString::to_string);
        let rest = self.cases.iter().map(ToString::to_string);
        let runs = self.ailing_runs.iter().map(ToString::to_string);
        let manager = self.manager.iter().map(|reason| format!("the Manager: {reason}"));
        let entities = self.ailing_entities.iter().cloned();
        let flows = self.ailing_flows.iter().cloned();
        structure.chain(content).chain(rest).chain(runs).chain(flows).chain(manager).chain(entities)
    }
}

impl fmt::Display for Ailment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program `{}`, r{}: {}", self.program, self.entry, self.symptom)
    }
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symptom::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            Symptom::Parent(parent) => {
                write!(f, "follows r{parent}, which is not the newest state of its branch")
            }
            Symptom::Misfit(error) => write!(f, "its edits do not fit: {error}"),
            Symptom::Hash { recorded, found } => {
                write!(f, "records the hash {recorded}, its content has {found}")
            }
            Symptom::Target(target) => write!(f, "went to r{target}, and its content is another"),
            Symptom::Line(error) => write!(f, "is no step of the line: {error}"),
            Symptom::RefsReused => f.write_str("hands out refs again that are in use"),
            Symptom::RefTaken(of) => write!(f, "makes `{of}`, and its number was handed out before"),
            Symptom::Errors(count) => write!(f, "has {}", counted(*count, "error", "errors")),
            Symptom::SnapshotUnreadable(reason) => f.write_str(reason),
            Symptom::SnapshotDiffers => f.write_str("its snapshot has another content"),
            Symptom::SnapshotLine => f.write_str("its snapshot has another undo line"),
        }
    }
}

/// Programs and snapshots that are read at a time.
const PAGE: usize = 256;

/// What is read of a log at a time.
const CHUNK: Bound = Bound { rows: 256, bytes: 4 << 20 };

impl Engine {
    /// Checks the whole database. Reads everything; edits go on meanwhile.
    ///
    /// `progress` is told how far it is, once it is known how much there is.
    ///
    /// # Errors
    ///
    /// A fault of the database. What is wrong with its content is in the answer.
    pub async fn doctor(&self, mut progress: impl FnMut(Progress)) -> Result<Checkup, Error> {
        let references = References {
            of_entry: &|_| Vec::new(),
            of_snapshot: &|snapshot| Reading::references(&snapshot.root).unwrap_or_default(),
            of_object: &references,
        };
        let structure = self.store().check(Some(references)).await?;
        let (runs, ailing_runs) = self.examine_runs().await?;
        let ailing_flows = self.examine_flows().await?;
        let manager = match self.manager_now().await {
            Ok(_) => None,
            Err(Error::Damaged { reason, .. }) => Some(reason),
            Err(error) => return Err(error),
        };
        let (entities, ailing_entities) = self.examine_entities().await?;
        let mut checkup = Checkup {
            structure,
            content: Vec::new(),
            cases: Vec::new(),
            runs,
            ailing_runs,
            ailing_flows,
            manager,
            entities,
            ailing_entities,
            replayed: 0,
        };
        let mut after: Option<String> = None;
        loop {
            let page = self.programs(after.as_deref(), None, PAGE).await?;
            for program in &page.programs {
                self.examine(program, &mut checkup, &mut progress).await?;
                self.examine_cases(program, &mut checkup).await?;
            }
            after = page.programs.last().map(|program| program.name.clone());
            if !page.more {
                return Ok(checkup);
            }
        }
    }

    async fn examine(
        &self,
        program: &ProgramInfo,
        checkup: &mut Checkup,
        progress: &mut impl FnMut(Progress),
    ) -> Result<(), Error> {
        let of = checkup.structure.entries;
        let marks = match self.store().marks(program.key, 0).await {
            Ok(marks) => marks,
            // The structure says which row it is.
            Err(Fault::Row { .. }) => return Ok(()),
            Err(fault) => return Err(fault.into()),
        };
        let begun = marks.iter().filter(|mark| mark.kind == EntryKind::Branch).filter_map(|mark| mark.target);
        let snapshots = self.snapshots_of(program.key).await?;
        let mut replay = Replay { lined: snapshots.clone(), ..Replay::keeping(begun.collect()) };
        let mut after = 0;
        loop {
            let entries = match self.entries_of(program.key, after, CHUNK).await {
                Ok(entries) => entries,
                Err(Error::Damaged { entry, reason, .. }) => {
                    replay.found.push((entry, Symptom::Unreadable(reason)));
                    break;
                }
                Err(Error::Storage(Fault::Row { .. })) => break,
                Err(error) => return Err(error),
            };
            let Some(last) = entries.last() else { break };
            after = last.number;
            checkup.replayed += entries.len() as u64;
            // Applying edits and hashing take long: not on the runtime's threads.
            let work = move || {
                let whole = entries.iter().all(|entry| replay.take(entry));
                (replay, whole)
            };
            let whole;
            (replay, whole) = self.compute(work).await?;
            progress(Progress { done: checkup.replayed, of });
            if !whole {
                break;
            }
        }
        let work = move || {
            replay.verify();
            replay
        };
        let mut replay = self.compute(work).await?;
        self.examine_snapshots(program, &snapshots, &mut replay).await?;
        let ailment = |(entry, symptom)| Ailment { program: program.name.clone(), entry, symptom };
        checkup.content.extend(replay.found.into_iter().map(ailment));
        Ok(())
    }

    async fn examine_cases(&self, program: &ProgramInfo, checkup: &mut Checkup) -> Result<(), Error> {
        let mut after: Option<CasePlace> = None;
        loop {
            let page = self.store().cases(program.key, None, after.as_ref(), PAGE as u64).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(CasePlace { function: last.function, name: last.name.clone() });
            let unreadable = page.into_iter().filter(|case| !is_readable(case));
            let named =
                |case: lmlang_store::Case| UnreadableCase { program: program.name.clone(), name: case.name };
            checkup.cases.extend(unreadable.map(named));
        }
    }

    /// The numbers of the entries that a program has snapshots of.
    async fn snapshots_of(&self, program: ProgramKey) -> Result<BTreeSet<u64>, Error> {
        let (mut numbers, mut at_most) = (BTreeSet::new(), Some(u64::MAX >> 1));
        while let Some(newest) = at_most {
            let page = self.store().snapshots(program, newest, PAGE as u64).await?;
            at_most = page.last().and_then(|oldest| oldest.seq.checked_sub(1));
            numbers.extend(page.iter().map(|snapshot| snapshot.seq));
        }
        Ok(numbers)
    }

    async fn examine_snapshots(
        &self,
        program: &ProgramInfo,
        numbers: &BTreeSet<u64>,
        replay: &mut Replay,
    ) -> Result<(), Error> {
        for seq in numbers {
            let mut found = self.store().snapshots(program.key, *seq, 1).await?;
            let Some(snapshot) = found.pop().filter(|snapshot| snapshot.seq == *seq) else { continue };
            match self.read_snapshot(program.id, &snapshot).await {
                Ok(state) => replay.compare(&state),
                Err(Error::Damaged { reason, .. }) => {
                    replay.found.push((*seq, Symptom::SnapshotUnreadable(reason)));
                }
                Err(error) => return Err(error),
            }
        }
        replay.found.sort_by_key(|(number, _)| *number);
        Ok(())
    }
}

/// Visits what edits make, all that is in it included.
fn each_made(edits: &[Edit], visit: &mut impl FnMut(Ref)) {
    for edit in edits.iter().filter(|edit| edit.adds()) {
        visit(edit.subject());
        match edit {
            Edit::AddFunction { content, .. } => {
                let body = content.body();
                body.regions().for_each(|(of, _)| visit(of.into()));
                body.variables().for_each(|(of, _)| visit(of.into()));
                body.contracts().for_each(|(of, _)| visit(of.into()));
                body.nodes().for_each(|(of, _)| visit(of.into()));
            }
            Edit::AddType { content, .. } => {
                content.fields().iter().for_each(|field| visit(field.member.into()));
                content.variants().iter().for_each(|variant| visit(variant.member.into()));
            }
            _ => {}
        }
    }
}

/// A program that is built again from its log.
#[derive(Default)]
pub(crate) struct Replay {
    /// The newest states of the branches.
    tips: HashMap<u32, Tip>,
    /// The numbers of entries that branches begin at, and their states.
    wanted: HashSet<u64>,
    begun: HashMap<u64, Tip>,
    /// The numbers of all refs that were handed out.
    given: HashSet<u64>,
    /// The hash that each entry records.
    hashes: HashMap<u64, Hash>,
    /// The numbers of entries with snapshots, and the lines after them.
    lined: BTreeSet<u64>,
    lines: HashMap<u64, Line>,
    pub(crate) found: Vec<(u64, Symptom)>,
}

/// A state of a branch.
#[derive(Clone, Default)]
struct Tip {
    program: Program,
    line: Line,
    /// The entry that made it.
    number: u64,
}

impl Replay {
    /// One from before the first entry, which keeps the states after some entries for branches that begin there.
    pub(crate) fn keeping(wanted: HashSet<u64>) -> Replay {
        Replay { wanted, ..Replay::default() }
    }

    /// Takes the next entry. Tells whether there is a state to go on from.
    pub(crate) fn take(&mut self, entry: &Arc<Entry>) -> bool {
        let number = entry.number;
        let parent = entry.parents.first().copied().unwrap_or_default();
        let begins = entry.kind == RevisionKind::Branch && entry.target.is_some();
        let tip = match begins {
            false => self.tips.remove(&entry.branch).or_else(|| (number == FIRST_SEQ).then(Tip::default)),
            true => {
                // One that was made while the log is read begins at a newest state, or this one has no parent.
                let newest = || self.tips.values().find(|tip| tip.number == parent);
                let from = self.begun.get(&parent).or_else(newest);
                from.map(|from| Tip { line: from.line.branch_off(), ..from.clone() })
            }
        };
        let Some(mut tip) = tip.filter(|tip| tip.number == parent) else {
            self.found.push((number, Symptom::Parent(parent)));
            return false;
        };
        if let Err(error) = tip.line.push(entry.step()) {
            self.found.push((number, Symptom::Line(error)));
        }
        // Others bring back what was there, or take what is elsewhere.
        let is_new = matches!(entry.kind, RevisionKind::Edit | RevisionKind::Import);
        let mut taken = None;
        each_made(&entry.edits, &mut |of| {
            if !self.given.insert(of.number) && tip.program.ref_of(of.number).is_none() {
                taken = taken.or(Some(of));
            }
        });
        if let Some(of) = taken.filter(|_| is_new) {
            self.found.push((number, Symptom::RefTaken(of)));
        }
        if let Err(error) = apply_all(&mut tip.program, &entry.edits) {
            self.found.push((number, Symptom::Misfit(error)));
            return false;
        }
        let found = tip.program.root_hash();
        if found != entry.root_hash {
            self.found.push((number, Symptom::Hash { recorded: entry.root_hash, found }));
        }
        if entry.kind.takes_target_state() {
            let target = entry.target.unwrap_or_default();
            if self.hashes.get(&target) != Some(&entry.root_hash) {
                self.found.push((number, Symptom::Target(target)));
            }
        }
        if tip.program.largest_number() >= entry.next_ref {
            self.found.push((number, Symptom::RefsReused));
        }
        if changes_content(entry.kind) {
            tip.number = number;
        }
        if self.wanted.contains(&number) {
            self.begun.insert(number, tip.clone());
        }
        if self.lined.contains(&number) {
            self.lines.insert(number, tip.line.clone());
        }
        self.hashes.insert(number, entry.root_hash);
        self.tips.insert(entry.branch, tip);
        true
    }

    /// Compares a snapshot with the entry that it is of.
    fn compare(&mut self, snapshot: &State) {
        let number = snapshot.number;
        if self.hashes.get(&number).is_some_and(|hash| *hash != snapshot.program.root_hash()) {
            self.found.push((number, Symptom::SnapshotDiffers));
        }
        if self.lines.get(&number).is_some_and(|line| *line != snapshot.line) {
            self.found.push((number, Symptom::SnapshotLine));
        }
    }

    /// Checks the newest states.
    pub(crate) fn verify(&mut self) {
        for tip in self.tips.values() {
            let errors = Checked::full(tip.program.clone(), threads()).findings().tally().errors;
            if errors > 0 {
                self.found.push((tip.number, Symptom::Errors(errors)));
            }
        }
        self.found.sort_by_key(|(number, _)| *number);
    }
}

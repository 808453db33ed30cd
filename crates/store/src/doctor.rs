//! Checks of a database's structure. What the content means is checked by those who know it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    AccessMode, ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, IsolationLevel,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Statement, TransactionTrait,
};
use uuid::Uuid;

use crate::entity::{actors, cases, heads, log, objects, programs, snapshots};
use crate::entry::{Entry, EntryKind, FIRST_SEQ, ProgramKey};
use crate::fault::Fault;
use crate::log::of;
use crate::objects::{Object, ObjectHash};
use crate::packs;
use crate::snapshots::Snapshot;
use crate::store::Store;

/// Which objects things name; given by those who can read the encodings.
#[derive(Clone, Copy)]
pub struct References<'a> {
    /// The objects that an entry pins.
    pub of_entry: &'a (dyn Fn(&Entry) -> Vec<ObjectHash> + Sync),
    /// The objects that a snapshot's root names.
    pub of_snapshot: &'a (dyn Fn(&Snapshot) -> Vec<ObjectHash> + Sync),
    /// The objects that an object names.
    pub of_object: &'a (dyn Fn(&Object) -> Vec<ObjectHash> + Sync),
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The database engine finds its file damaged.
    Integrity {
        /// Its words.
        message: String,
    },
    /// A log belongs to no program.
    Stray {
        /// The key that no program has.
        program: ProgramKey,
    },
    /// A live program has no entries.
    EmptyLog {
        /// The program.
        program: ProgramKey,
    },
    /// Numbers are missing in a log.
    Gap {
        /// The program.
        program: ProgramKey,
        /// The number that is missing.
        missing: u64,
        /// The next one that is there.
        next: u64,
    },
    /// An entry cannot be read.
    Unreadable {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
        /// The column at fault.
        column: &'static str,
    },
    /// An entry builds on, or went back to, one that does not come before it.
    Ahead {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
        /// The number that it names.
        names: u64,
    },
    /// An entry stands before its predecessor in the order of all entries.
    Disordered {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
    },
    /// The refs that were handed out became fewer.
    RefsReused {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
    },
    /// An entry's author is not recorded.
    UnknownActor {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
    },
    /// An entry is on a branch that was never made.
    UnknownBranch {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
        /// The branch.
        branch: u32,
    },
    /// What other processes are told of the newest entry of a log is not true.
    WrongHead {
        /// The program.
        program: ProgramKey,
        /// The newest entry.
        newest: u64,
    },
    /// The turn that transactions of several processes take is not one: events may come in another order, and be missed.
    Turns {
        /// How many there are.
        turns: i64,
    },
    /// A snapshot is of an entry that is not there.
    SnapshotBeyondLog {
        /// The program.
        program: ProgramKey,
        /// The entry.
        seq: u64,
    },
    /// A case is of no program.
    StrayCase {
        /// Its id.
        id: Uuid,
    },
    /// An object is named and not there.
    MissingObject {
        /// Its hash.
        hash: ObjectHash,
    },
}

/// What was looked at and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// What is wrong, in order of the programs.
    pub findings: Vec<Finding>,
    /// Programs, deleted ones included.
    pub programs: u64,
    /// Entries of all logs.
    pub entries: u64,
    /// Snapshots.
    pub snapshots: u64,
    /// Objects.
    pub objects: u64,
    /// Objects that nothing names: harmless, left behind by work that was never finished. `None` if references were not
    /// given.
    pub orphans: Option<u64>,
}

/// How many entries or objects are held in memory at once.
const PAGE: u64 = 256;

impl Store {
    /// Checks the structure of the whole database as it is at one moment.
    ///
    /// Reads everything; edits go on meanwhile. With references it also follows every object, for which it keeps all
    /// hashes in memory.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn check(&self, references: Option<References<'_>>) -> Result<Report, Fault> {
        self.reader.ask()?;
        let view = match self.reader.get_database_backend() {
            DbBackend::Postgres => {
                let one_moment = Some(IsolationLevel::RepeatableRead);
                self.reader.begin_with_config(one_moment, Some(AccessMode::ReadOnly)).await?
            }
            // A read transaction sees one moment there.
            _ => self.reader.begin().await?,
        };
        let report = check(&view, references).await;
        view.rollback().await?;
        report
    }
}

async fn check(view: &DatabaseTransaction, references: Option<References<'_>>) -> Result<Report, Fault> {
    let mut report = Report::default();
    let heads = match view.get_database_backend() {
        DbBackend::Sqlite => {
            check_file(view, &mut report).await?;
            None
        }
        _ => {
            check_order(view, &mut report).await?;
            let rows = heads::Entity::find().all(view).await?;
            Some(rows.into_iter().map(|row| (row.program, (row.seq, row.entry))).collect())
        }
    };
    let heads: Option<HashMap<i64, (i64, Uuid)>> = heads;
    let actors: HashSet<i64> = actors::Entity::find()
        .select_only()
        .column(actors::Column::Key)
        .into_tuple()
        .all(view)
        .await?
        .into_iter()
        .collect();
    let live: BTreeMap<i64, bool> = programs::Entity::find()
        .all(view)
        .await?
        .into_iter()
        .map(|row| (row.key, row.deleted.is_none()))
        .collect();
    report.programs = live.len() as u64;
    report.snapshots = snapshots::Entity::find().count(view).await?;
    report.objects = objects::Entity::find().count(view).await?;

    let mut logs: Vec<i64> = log::Entity::find()
        .select_only()
        .column(log::Column::Program)
        .distinct()
        .into_tuple()
        .all(view)
        .await?;
    logs.extend(live.keys());
    logs.sort_unstable();
    logs.dedup();
    let mut roots = HashSet::new();
    for key in logs {
        let program = ProgramKey(key);
        let check = check_log(view, program, &actors, references, &mut roots, &mut report).await?;
        match live.get(&key) {
            None => report.findings.push(Finding::Stray { program }),
            Some(true) if check.newest == 0 => report.findings.push(Finding::EmptyLog { program }),
            Some(_) => {}
        }
        let is_live = live.get(&key).is_some_and(|live| *live);
        let wanted = is_live.then(|| (check.newest.cast_signed(), check.newest_id));
        if let Some(heads) = &heads
            && heads.get(&key).copied() != wanted
        {
            report.findings.push(Finding::WrongHead { program, newest: check.newest });
        }
        check_snapshots(view, program, &check, references, &mut roots, &mut report).await?;
    }
    check_cases(view, &live, &mut report).await?;
    if let Some(references) = references {
        let reached = follow(view, roots, references, &mut report).await?;
        report.orphans = Some(report.objects.saturating_sub(reached));
    }
    Ok(report)
}

/// Asks the engine of a database file what it thinks of it.
async fn check_file(view: &DatabaseTransaction, report: &mut Report) -> Result<(), Fault> {
    let check = Statement::from_string(DbBackend::Sqlite, "PRAGMA integrity_check");
    for row in view.query_all_raw(check).await? {
        let message: String = row.try_get_by_index(0)?;
        if message != "ok" {
            report.findings.push(Finding::Integrity { message });
        }
    }
    Ok(())
}

/// Looks whether there is what the transactions of several processes take turns by.
async fn check_order(view: &DatabaseTransaction, report: &mut Report) -> Result<(), Fault> {
    let count = Statement::from_string(DbBackend::Postgres, r#"SELECT COUNT(*) FROM "commit_order""#);
    let turns: i64 = match view.query_one_raw(count).await? {
        Some(row) => row.try_get_by_index(0)?,
        None => 0,
    };
    if turns != 1 {
        report.findings.push(Finding::Turns { turns });
    }
    Ok(())
}

/// What the other checks need to know of a log.
#[derive(Debug, Default)]
struct LogCheck {
    newest: u64,
    newest_id: Uuid,
}

async fn check_log(
    view: &DatabaseTransaction,
    program: ProgramKey,
    actors: &HashSet<i64>,
    references: Option<References<'_>>,
    roots: &mut HashSet<ObjectHash>,
    report: &mut Report,
) -> Result<LogCheck, Fault> {
    let mut check = LogCheck::default();
    let (mut next_ref, mut position, mut branches) = (0, 0, HashSet::new());
    loop {
        let mut rows = of(program)
            .filter(Expr::col(log::Column::Seq).gt(check.newest.cast_signed()))
            .order_by_asc(log::Column::Seq)
            .limit(PAGE)
            .all(view)
            .await?;
        if rows.is_empty() {
            break;
        }
        unpack(view, &mut rows).await?;
        for row in rows {
            report.entries += 1;
            let seq = row.seq.cast_unsigned();
            let missing = if check.newest == 0 { FIRST_SEQ } else { check.newest + 1 };
            if seq != missing {
                report.findings.push(Finding::Gap { program, missing, next: seq });
            }
            (check.newest, check.newest_id) = (seq, row.id);
            if row.position <= position {
                report.findings.push(Finding::Disordered { program, seq });
            }
            position = row.position;
            if !actors.contains(&row.actor) {
                report.findings.push(Finding::UnknownActor { program, seq });
            }
            let entry = match Entry::try_from(row) {
                Ok(entry) => entry,
                Err(Fault::Row { column, .. }) => {
                    report.findings.push(Finding::Unreadable { program, seq, column });
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            for &names in entry.parents.iter().chain(&entry.target) {
                if names >= seq || names < FIRST_SEQ {
                    report.findings.push(Finding::Ahead { program, seq, names });
                }
            }
            if entry.next_ref < next_ref {
                report.findings.push(Finding::RefsReused { program, seq });
            }
            next_ref = entry.next_ref;
            if entry.kind == EntryKind::Branch && u64::from(entry.branch) == seq {
                branches.insert(entry.branch);
            }
            if entry.branch != 0 && !branches.contains(&entry.branch) {
                report.findings.push(Finding::UnknownBranch { program, seq, branch: entry.branch });
            }
            if let Some(references) = references {
                roots.extend((references.of_entry)(&entry));
            }
        }
    }
    Ok(check)
}

/// Fetches what rows have in packs; a row whose pack is damaged stays as it is, and cannot be read.
async fn unpack(view: &DatabaseTransaction, rows: &mut [log::Model]) -> Result<(), Fault> {
    match packs::fill(view, rows).await {
        Err(Fault::Row { .. }) => {}
        done => return done,
    }
    for row in rows {
        match packs::fill(view, std::slice::from_mut(row)).await {
            Ok(()) | Err(Fault::Row { .. }) => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

async fn check_snapshots(
    view: &DatabaseTransaction,
    program: ProgramKey,
    check: &LogCheck,
    references: Option<References<'_>>,
    roots: &mut HashSet<ObjectHash>,
    report: &mut Report,
) -> Result<(), Fault> {
    let mut after = -1;
    loop {
        let rows = snapshots::Entity::find()
            .filter(snapshots::Column::Program.eq(program.0))
            .filter(snapshots::Column::Seq.gt(after))
            .order_by_asc(snapshots::Column::Seq)
            .limit(PAGE)
            .all(view)
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.seq;
        for row in rows {
            let snapshot = Snapshot::from(row);
            if snapshot.seq > check.newest || snapshot.seq < FIRST_SEQ {
                report.findings.push(Finding::SnapshotBeyondLog { program, seq: snapshot.seq });
            }
            if let Some(references) = references {
                roots.extend((references.of_snapshot)(&snapshot));
            }
        }
    }
    Ok(())
}

async fn check_cases(
    view: &DatabaseTransaction,
    programs: &BTreeMap<i64, bool>,
    report: &mut Report,
) -> Result<(), Fault> {
    let named = cases::Entity::find().select_only().column(cases::Column::Program).distinct();
    let named: Vec<i64> = named.into_tuple().all(view).await?;
    for program in named.into_iter().filter(|program| !programs.contains_key(program)) {
        let stray = cases::Entity::find().filter(cases::Column::Program.eq(program));
        for row in stray.order_by_asc(cases::Column::Id).all(view).await? {
            report.findings.push(Finding::StrayCase { id: row.id });
        }
    }
    Ok(())
}

/// Follows references from the roots, and answers how many objects were reached.
async fn follow(
    view: &DatabaseTransaction,
    roots: HashSet<ObjectHash>,
    references: References<'_>,
    report: &mut Report,
) -> Result<u64, Fault> {
    let mut seen = roots.clone();
    let mut open: Vec<ObjectHash> = roots.into_iter().collect();
    open.sort_unstable();
    let mut reached = 0;
    while !open.is_empty() {
        let page = open.split_off(open.len().saturating_sub(PAGE as usize));
        let rows = objects::Entity::find()
            .filter(objects::Column::Hash.is_in(page.iter().map(|hash| hash.to_vec())))
            .all(view)
            .await?;
        let mut found = HashSet::with_capacity(rows.len());
        for row in rows {
            let object = Object::try_from(row)?;
            found.insert(object.hash);
            for hash in (references.of_object)(&object) {
                if seen.insert(hash) {
                    open.push(hash);
                }
            }
        }
        reached += found.len() as u64;
        report.findings.extend(
            page.into_iter().filter(|hash| !found.contains(hash)).map(|hash| Finding::MissingObject { hash }),
        );
    }
    Ok(reached)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrity { message } => write!(f, "database file: {message}"),
            Self::Stray { program } => write!(f, "log {program} belongs to no program"),
            Self::EmptyLog { program } => write!(f, "program {program} has no entries"),
            Self::Gap { program, missing, next } => {
                write!(f, "program {program}: entry {missing} is missing before entry {next}")
            }
            Self::Unreadable { program, seq, column } => {
                write!(f, "program {program}, entry {seq}: `{column}` cannot be read")
            }
            Self::Ahead { program, seq, names } => {
                write!(
                    f,
                    "program {program}, entry {seq}: names entry {names}, which does not come before it"
                )
            }
            Self::Disordered { program, seq } => {
                write!(f, "program {program}, entry {seq}: stands before entry {} in the log of all", seq - 1)
            }
            Self::RefsReused { program, seq } => {
                write!(f, "program {program}, entry {seq}: hands out refs again")
            }
            Self::UnknownActor { program, seq } => {
                write!(f, "program {program}, entry {seq}: its actor is unknown")
            }
            Self::UnknownBranch { program, seq, branch } => {
                write!(f, "program {program}, entry {seq}: is on branch {branch}, which was never made")
            }
            Self::WrongHead { program, newest } => {
                write!(
                    f,
                    "program {program}: its head is not entry {newest}, the newest one of a live program"
                )
            }
            Self::Turns { turns } => write!(f, "there is not one turn to commit, but {turns}"),
            Self::SnapshotBeyondLog { program, seq } => {
                write!(f, "program {program}: snapshot of entry {seq}, beyond the log")
            }
            Self::StrayCase { id } => write!(f, "case {id} belongs to no program"),
            Self::MissingObject { hash } => {
                f.write_str("object ")?;
                for byte in hash {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str(" is missing")
            }
        }
    }
}

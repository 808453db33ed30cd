//! Storing batches of appends.
//!
//! Whoever writes to a database file alone knows how long its logs are. Where several processes write, a transaction
//! locks the heads of its programs and finds it out: of two that go on from one entry, the second finds a longer log,
//! and its append is refused as one that does not continue it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;

use sea_orm::{EntityTrait, QueryTrait};

use crate::committer::{Append, CommitError, Loop, answer_to};
use crate::entity::log;
use crate::entry::{Entry, FIRST_SEQ, Head, ProgramKey};
use crate::fault::{Failure, Fault};
use crate::faults::Step;
use crate::hold::{Hold, Holders};
use crate::jobs::{MAX_ROWS, Pending};
use crate::sql::Sql;
use crate::writer::Writer;

/// The newest entries of some logs; nothing for a program that is not there.
type Heads = HashMap<ProgramKey, Head>;

/// What came of storing a group.
type Stored = Result<(), Failure>;

/// A group that was tried to be stored.
pub(crate) type Tried = (Vec<Pending>, Stored);

impl Loop {
    /// Stores a batch, or as much of it as can be stored.
    ///
    /// A clash takes the whole statement back without saying which row it was. So a group that clashes is tried again
    /// program by program, and the program at fault append by append.
    pub(crate) async fn settle(&mut self, batch: Vec<Pending>) {
        self.settle_all(VecDeque::from([(batch, None)])).await;
    }

    /// Answers a group, and stores it if it could not be.
    pub(crate) async fn settle_tried(&mut self, (group, stored): Tried) {
        self.settle_all(VecDeque::from([(group, Some(stored))])).await;
    }

    /// Stores and answers groups, each with what came of it if that was tried, or as much of them as can be stored.
    async fn settle_all(&mut self, mut groups: VecDeque<(Vec<Pending>, Option<Stored>)>) {
        while let Some((group, tried)) = groups.pop_front() {
            let (group, stored) = match tried {
                Some(stored) => (group, stored),
                None => self.try_store(group).await,
            };
            let (group, stored) = self.find_out(group, stored).await;
            match stored {
                Ok(()) => self.acknowledge(group).await,
                Err(Failure::Clash) if group.len() == 1 => {
                    for pending in group {
                        let error = self.explain(&pending.append).await;
                        answer_to(pending.reply, Err(error));
                    }
                }
                Err(Failure::Clash) => {
                    for part in split(group).into_iter().rev() {
                        groups.push_front((part, None));
                    }
                }
                // Another process has kept one of the logs for too long. That is no matter of the others.
                Err(Failure::Fault(Fault::Held | Fault::Busy))
                    if !self.writer.is_alone() && is_of_several(&group) =>
                {
                    for part in split(group).into_iter().rev() {
                        groups.push_front((part, None));
                    }
                }
                Err(Failure::Unknown(fault) | Failure::Fault(fault)) => {
                    tracing::warn!(error = %fault, appends = group.len(), "entries were not stored");
                    for pending in group {
                        // Read again when next asked for: after an unknown outcome the log may be longer.
                        self.heads.remove(&pending.append.program);
                        answer_to(pending.reply, Err(CommitError::Storage(fault.clone())));
                    }
                }
            }
        }
    }

    /// Finds out about an answer that was lost, and stores a group again if it was not stored.
    async fn find_out(&mut self, group: Vec<Pending>, stored: Stored) -> (Vec<Pending>, Stored) {
        let Err(Failure::Unknown(fault)) = stored else { return (group, stored) };
        tracing::warn!(error = %fault, "the answer to a commit was lost; asking the log");
        // All or nothing: one row speaks for the group.
        match self.find_first(&group).await {
            Ok(true) => (group, Ok(())),
            Ok(false) => self.try_store(group).await,
            Err(_) => (group, Err(Failure::Unknown(fault))),
        }
    }

    /// Stores what of a group continues its logs, in one transaction, and answers the rest.
    async fn try_store(&mut self, group: Vec<Pending>) -> (Vec<Pending>, Stored) {
        if !self.writer.is_alone() {
            let programs: BTreeSet<ProgramKey> = group.iter().map(|pending| pending.append.program).collect();
            return match self.writer.begin_appending(programs).await {
                Ok(heads) => {
                    let group = admit(group, &heads);
                    let stored = store_among_others(&mut self.writer, &group).await;
                    (group, stored)
                }
                Err(failure) => (group, Err(failure)),
            };
        }
        match self.known_heads(&group).await {
            Ok(heads) => {
                let group = admit(group, &heads);
                let stored = self.store_alone(&group).await;
                (group, stored)
            }
            Err(fault) => (group, Err(Failure::Fault(fault))),
        }
    }

    async fn known_heads(&mut self, group: &[Pending]) -> Result<Heads, Fault> {
        let mut heads = Heads::new();
        for pending in group {
            let program = pending.append.program;
            if let Some(head) = self.head(program).await? {
                heads.insert(program, head);
            }
        }
        Ok(heads)
    }

    async fn store_alone(&mut self, group: &[Pending]) -> Result<(), Failure> {
        let rows = rows(group);
        if rows.is_empty() {
            return Ok(());
        }
        self.writer.step(Step::BeforeInsert).await?;
        if rows.len() <= MAX_ROWS {
            self.writer.execute(&insert_entries(rows)).await?;
        } else {
            let rows = insert_all_entries(rows);
            self.writer.transaction(&rows.iter().collect::<Vec<_>>(), None).await?;
        }
        self.writer.step(Step::AfterCommit).await
    }

    /// Whether the first entry of a group is in the log, as itself.
    async fn find_first(&mut self, group: &[Pending]) -> Result<bool, Failure> {
        let Some((program, entry)) =
            group.iter().find_map(|pending| Some((pending.append.program, pending.append.entries.first()?)))
        else {
            return Ok(false);
        };
        self.writer.step(Step::BeforeAsking).await?;
        if !self.writer.is_alone() {
            // The lost transaction may not have ended: it has the head until then.
            self.writer.begin_appending([program]).await?;
            self.writer.roll_back().await;
        }
        let found = self.writer.entry_id(program, entry.seq).await?;
        Ok(found == Some(entry.id))
    }

    async fn acknowledge(&mut self, group: Vec<Pending>) {
        let entries: usize = group.iter().map(|pending| pending.append.entries.len()).sum();
        self.committer.counters.count(entries);
        for pending in &group {
            if let Some(last) = pending.append.entries.last() {
                self.heads.insert(pending.append.program, Some(Head::of(last)));
            }
        }
        // The rows are durable: a fault here can delay the answer, not change it.
        if let Err(failure) = self.writer.step(Step::BeforeAck).await {
            tracing::warn!(error = %Fault::from(failure), "fault after a commit");
        }
        for pending in group {
            answer_to(pending.reply, Ok(()));
        }
    }

    /// Which unique value a single append clashed with.
    async fn explain(&mut self, append: &Append) -> CommitError {
        match self.find_clash(append).await {
            Ok(error) => error,
            Err(failure) => CommitError::Storage(failure.into()),
        }
    }

    async fn find_clash(&mut self, append: &Append) -> Result<CommitError, Failure> {
        let mut keys: HashMap<&[u8], u64> = HashMap::new();
        for entry in &append.entries {
            let Some(idempotency) = &entry.idempotency else { continue };
            let seq = match keys.insert(&idempotency.key, entry.seq) {
                Some(seq) => Some(seq),
                None => self.writer.seq_of_key(append.program, &idempotency.key).await?,
            };
            if let Some(seq) = seq {
                return Ok(CommitError::KeyTaken { seq });
            }
        }
        // What is left is the number itself: the log is longer than was known.
        self.heads.remove(&append.program);
        let head = self.head(append.program).await.map_err(Failure::Fault)?;
        let expected = head.map_or(FIRST_SEQ, |head| head.seq + 1);
        let found = append.entries.first().map_or(expected, |entry| entry.seq);
        Ok(CommitError::OutOfOrder { expected, found })
    }

    /// The newest entry of a log; `None` if there is no such program.
    async fn head(&mut self, program: ProgramKey) -> Result<Option<Head>, Fault> {
        if let Some(&known) = self.heads.get(&program).filter(|_| self.writer.is_alone()) {
            return Ok(known);
        }
        let head = self.writer.head(program).await?;
        self.heads.insert(program, head);
        Ok(head)
    }
}

/// Stores what was appended to a log that is held, and lets that go.
pub(crate) async fn store_held(hold: Hold, holders: &Holders) -> Tried {
    let Hold { program, mut writer, head, pending } = hold;
    let group = admit(pending, &HashMap::from([(program, head)]));
    let stored = match writer.take_turn().await {
        Ok(()) => store_among_others(&mut writer, &group).await,
        Err(failure) => {
            writer.roll_back().await;
            Err(failure)
        }
    };
    holders.keep(writer);
    (group, stored)
}

/// Stores a group in the transaction that holds the heads of its logs, and ends that.
async fn store_among_others(writer: &mut Writer, group: &[Pending]) -> Result<(), Failure> {
    let rows = rows(group);
    if rows.is_empty() {
        writer.roll_back().await;
        return Ok(());
    }
    let stored = insert_among_others(writer, group, rows).await;
    writer.finish(stored).await?;
    writer.step(Step::AfterCommit).await
}

async fn insert_among_others(
    writer: &mut Writer,
    group: &[Pending],
    rows: Vec<log::ActiveModel>,
) -> Result<(), Failure> {
    writer.step(Step::BeforeInsert).await?;
    let rows = insert_all_entries(rows);
    writer.execute_all(&rows.iter().collect::<Vec<_>>()).await?;
    // Of several appends to a log the last one counts.
    let newest = group
        .iter()
        .filter_map(|pending| Some((pending.append.program, pending.append.entries.last().map(Head::of)?)));
    writer.plain(&move_heads(&newest.collect())).await
}

/// Sets the heads of logs.
fn move_heads(to: &Heads) -> String {
    let mut moves = String::new();
    for (program, Head { seq, id }) in to {
        let comma = if moves.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        write!(moves, "{comma}({program}, {seq}, CAST('{id}' AS uuid))").ok();
    }
    format!(
        r#"UPDATE "heads" SET "seq" = "to"."seq", "entry" = "to"."entry" FROM (VALUES {moves}) AS "to" ("program", "seq", "entry") WHERE "heads"."program" = "to"."program""#
    )
}

/// Keeps the appends that continue their logs, and answers the others.
fn admit(group: Vec<Pending>, heads: &Heads) -> Vec<Pending> {
    let mut admitted = Vec::with_capacity(group.len());
    let mut reached = Heads::new();
    for pending in group {
        let program = pending.append.program;
        let head = reached.get(&program).or_else(|| heads.get(&program)).ok_or(CommitError::NoProgram);
        match head.and_then(|head| continues(&pending.append, *head)) {
            Ok(newest) => {
                reached.insert(program, newest);
                admitted.push(pending);
            }
            Err(error) => answer_to(pending.reply, Err(error)),
        }
    }
    admitted
}

/// The newest entry of a log after an append, if that continues it.
fn continues(append: &Append, head: Head) -> Result<Head, CommitError> {
    let expected = head.seq + 1;
    numbered(&append.entries, expected)?;
    if append.after != head.id {
        // By its number it would.
        return Err(CommitError::OutOfOrder { expected, found: expected });
    }
    Ok(append.entries.last().map_or(head, Head::of))
}

/// Checks that entries are numbered from `expected` on.
pub(crate) fn numbered(entries: &[Entry], expected: u64) -> Result<(), CommitError> {
    match entries.iter().zip(expected..).find(|(entry, expected)| entry.seq != *expected) {
        Some((entry, expected)) => Err(CommitError::OutOfOrder { expected, found: entry.seq }),
        None => Ok(()),
    }
}

/// Whether a group goes to several logs.
fn is_of_several(group: &[Pending]) -> bool {
    group.windows(2).any(|two| two[0].append.program != two[1].append.program)
}

/// By program, in order of first appearance; a group of one program by append.
fn split(group: Vec<Pending>) -> Vec<Vec<Pending>> {
    let mut parts: Vec<(ProgramKey, Vec<Pending>)> = Vec::new();
    for pending in group {
        let program = pending.append.program;
        match parts.iter_mut().find(|(key, _)| *key == program) {
            Some((_, part)) => part.push(pending),
            None => parts.push((program, vec![pending])),
        }
    }
    if let [(_, only)] = &mut parts[..] {
        return std::mem::take(only).into_iter().map(|pending| vec![pending]).collect();
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn rows(group: &[Pending]) -> Vec<log::ActiveModel> {
    let appends = group.iter().map(|pending| &pending.append);
    appends.flat_map(|append| append.entries.iter().map(|entry| entry.to_row(append.program))).collect()
}

fn insert_entries(rows: Vec<log::ActiveModel>) -> Sql {
    log::Entity::insert_many(rows).into_query().into()
}

/// As few statements as the limit on rows allows.
pub(crate) fn insert_all_entries(mut rows: Vec<log::ActiveModel>) -> Vec<Sql> {
    let mut statements = Vec::with_capacity(rows.len().div_ceil(MAX_ROWS));
    while rows.len() > MAX_ROWS {
        let rest = rows.split_off(MAX_ROWS);
        statements.push(insert_entries(std::mem::replace(&mut rows, rest)));
    }
    if !rows.is_empty() {
        statements.push(insert_entries(rows));
    }
    statements
}

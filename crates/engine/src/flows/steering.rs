//! Stopping runs, taking them back, and going on from an earlier entry in another run.

use lmlang_flow::Standing;
use lmlang_flow::receipts::Intent;
use lmlang_flow::{Entry, Run, What};
use lmlang_history::log::Origin;
use lmlang_store::{BeginError, NewRun, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::catalog::Selector;
use crate::choosing::Which;
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::coding;
use crate::flows::listing::RunInfo;
use crate::flows::live::{damaged, standing};
use crate::flows::moving::other_version;
use crate::flows::starting::idempotency;
use crate::records::to_actor;
use crate::request::Call;
use crate::reverting::RevertRequest;
use crate::undo::Arrival;

/// What taking a run back comes to.
#[derive(Clone, Debug)]
pub struct Rewound {
    /// Entries that do not count any more.
    pub superseded: u64,
    /// Revisions that were taken back, as program, branch and the revision that took them back; 0 of a dry run.
    pub reverted: Vec<(Uuid, String, u64)>,
    /// Effects that happened and stay: their kinds and names.
    pub not_undone: Vec<(String, String)>,
}

impl Engine {
    /// Stops a run. One that has ended stays as it is.
    pub async fn cancel_run(&self, run: Uuid, reason: Option<String>, call: &Call) -> Result<RunInfo, Error> {
        self.run_info(run).await?;
        self.stop_run(run, &call.actor.name, reason).await?;
        self.run_info(run).await
    }

    /// Takes a run back to an entry of its journal: what came after does not count any more, revisions that it made are
    /// taken back by new ones, and it goes on from there. What happened outside the database stays and is named.
    pub async fn rewind_run(
        &self,
        run: Uuid,
        to: u64,
        dry_run: bool,
        call: &Call,
    ) -> Result<(RunInfo, Rewound), Error> {
        let info = self.run_info(run).await?;
        let request = call.idempotency.as_ref().map(request_digest);
        let before = self.journal_of(run).await?;
        if let Some(first) = repeated(&before, request.as_deref()) {
            return Ok((info, first));
        }
        kept(&before, to)?;
        if !dry_run {
            self.check_version(run).await?;
            // What it does at the moment would come after what is taken back.
            self.let_go_of_run(run).await;
        }
        let journal = self.journal_of(run).await?;
        let kept = kept(&journal, to)?;
        self.check_kept(&info, &journal, to)?;
        let (intents, count) = after(&journal, to);
        let edits = self.revisions_after(&info, &journal, to).await?;
        let mut reverted = Vec::new();
        for (program, branch, revisions) in edits {
            let open = self.find(&Selector::Id(program)).await?;
            let request = RevertRequest {
                branch: branch.clone(),
                which: Which::Revisions(revisions.iter().map(|number| format!("r{number}")).collect()),
                expected_head: None,
                dry_run,
            };
            let key = format!("rewind:{}:{to}:{}:{branch}", run.simple(), journal.len());
            let call = call.clone().keyed(Some(&key), branch.as_bytes());
            match self.revert(&open, &request, &call).await?.arrival {
                Arrival::Made { committed, after, .. } => {
                    reverted.push((program, branch, if committed { after.entry.number } else { 0 }));
                }
                Arrival::Nothing(_) => {}
                Arrival::Conflict(_) => {
                    let message = format!(
                        "what the run changed on `{branch}` cannot be taken back: later work is in the way"
                    );
                    return Err(Error::Argument { place: "input.toStep".to_owned(), message });
                }
            }
        }
        let not_undone = intents.iter().map(|of| (of.kind.clone(), of.name.clone())).collect();
        let rewound = Rewound { superseded: count, reverted, not_undone };
        // The journal may have gone on meanwhile; what is in it then does not count either.
        if !dry_run {
            let by = call.actor.name.clone();
            let (live, _) = self
                .change_run(run, |_, _| {
                    let (by, request) = (by.clone(), request.clone());
                    Ok::<_, Error>(Some(What::Rewound { to: kept, by, request }))
                })
                .await?;
            self.kick(&live);
        }
        Ok((self.run_info(run).await?, rewound))
    }

    /// Refuses what would stand where its definition has nothing: a run that was moved, taken back behind that.
    fn check_kept(&self, info: &RunInfo, journal: &[Entry], to: u64) -> Result<(), Error> {
        let (by, number) = (String::new(), journal.len() as u64 + 1);
        let rewound = Entry { number, time: self.now(), what: What::Rewound { to, by, request: None } };
        let kept: Vec<Entry> = journal.iter().cloned().chain([rewound]).collect();
        let kept = Run::replay(&info.flow, &kept).map_err(|error| damaged(info.id, 0, error))?;
        refuse_hindered(&kept, "input.toStep")
    }

    /// Begins a run that is the same as another one up to an entry, and goes on from there by itself; on a branch of its own
    /// of the program, if it is about one.
    pub async fn fork_run(&self, run: Uuid, at: u64, call: &Call) -> Result<RunInfo, Error> {
        if let Some(made) = &call.idempotency
            && let Some(first) = self.store().run_made_under(&made.key).await?
        {
            return match first.making == idempotency(call) {
                true => self.run_info(first.id).await,
                false => Err(Error::IdempotencyMismatch),
            };
        }
        let info = self.run_info(run).await?;
        let row = self.store().run(run).await?.ok_or_else(|| Error::not_found("run", run))?;
        let flow = self.flow_of(&row).await?;
        if self.code_of(&flow).is_none() {
            return Err(other_version(&flow));
        }
        let journal = self.journal_of(run).await?;
        kept(&journal, at)?;
        let entries = standing_entries(&journal, at);
        let id = self.0.clock.id();
        let mut machine = Run::new(std::sync::Arc::clone(&flow));
        let mut rows = Vec::with_capacity(entries.len());
        // Numbers are those of the new journal: what was superseded is left out.
        let mut numbers = std::collections::BTreeMap::new();
        for entry in entries {
            let number = machine.last() + 1;
            numbers.insert(entry.number, number);
            let what = renumbered(entry.what.clone(), &numbers);
            let entry = Entry { number, time: entry.time, what };
            machine.take(&entry).map_err(|error| Error::bad_request(error.to_string()))?;
            rows.push((Timestamp(entry.time), entry.what.kind() as u8, coding::encode(&entry.what)?));
        }
        refuse_hindered(&machine, "input.atStep")?;
        if machine.subs().next().is_some() {
            let message = "the run waits for another one there, which goes on for it alone".to_owned();
            return Err(Error::Argument { place: "input.atStep".to_owned(), message });
        }
        let branch = match row.program {
            None => None,
            Some(program) => {
                let open = self.find(&Selector::Id(program)).await?;
                let made = standing_entries(&journal, at).into_iter().filter_map(revision).next_back();
                match made.map(|(_, number)| format!("r{number}")).or_else(|| info.branch.clone()) {
                    // It has none yet, and makes its own.
                    None => None,
                    Some(from) => {
                        let request = call.idempotency.as_ref().map(request_digest);
                        let request = request.unwrap_or_else(|| id.simple().to_string());
                        let key = format!("fork:{}:{at}:{request}", run.simple());
                        let name = open.free_branch("fork");
                        let origin = Some(Origin { run: id.into_bytes(), step: 0 });
                        let call = Call { origin, ..call.clone().keyed(Some(&key), from.as_bytes()) };
                        Some(self.create_branch(&open, &name, Some(&from), &call).await?.name)
                    }
                }
            }
        };
        let open = machine.interrupts().filter(|of| of.standing == Standing::Open);
        let open = open.map(|of| (of.asked, Timestamp(of.time))).collect();
        let new = NewRun {
            run: lmlang_store::Run {
                id,
                branch,
                parent: None,
                actor: self.store().actor_key(&to_actor(&call.actor)).await?,
                made: Timestamp(self.now()),
                making: idempotency(call),
                forked: Some((run, at)),
                standing: standing(&machine, self.now()),
                ..row
            },
            definition: crate::flows::live::definition(&flow)?,
            session: None,
            entries: rows,
            open,
        };
        match self.store().begin_run(new).await {
            Ok(()) => {}
            Err(BeginError::NoSession) => return Err(Error::not_found("run", run)),
            Err(BeginError::KeyTaken) => {
                let made = call.idempotency.as_ref().ok_or(Error::IdempotencyMismatch)?;
                let first = self.store().run_made_under(&made.key).await?;
                let first = first.filter(|first| first.making == idempotency(call));
                return self.run_info(first.ok_or(Error::IdempotencyMismatch)?.id).await;
            }
            Err(BeginError::Storage(fault)) => return Err(fault.into()),
        }
        self.0.flows.stored.send_modify(|count| *count += 1);
        self.seeing_all().go_on(id).await?;
        self.run_info(id).await
    }

    /// The revisions that a run has made behind an entry, by program and branch, oldest first.
    async fn revisions_after(
        &self,
        info: &RunInfo,
        journal: &[Entry],
        to: u64,
    ) -> Result<Vec<(Uuid, String, Vec<u64>)>, Error> {
        let mut found: Vec<(Uuid, String, Vec<u64>)> = Vec::new();
        let Some(program) = info.program else { return Ok(found) };
        for entry in standing_entries(journal, u64::MAX).into_iter().filter(|entry| entry.number > to) {
            if let Some((branch, number)) = revision(entry) {
                match found.iter_mut().find(|(_, of, _)| *of == branch) {
                    Some((_, _, numbers)) => numbers.push(number),
                    None => found.push((program, branch, vec![number])),
                }
            }
        }
        // A branch that is gone has nothing to be taken back on.
        let open = self.find(&Selector::Id(program)).await?;
        let head = open.timeline.head();
        found.retain(|(_, branch, _)| head.number_of(branch).is_some());
        Ok(found)
    }
}

/// The revision that a receipt notes, with its branch.
fn revision(entry: &Entry) -> Option<(String, u64)> {
    let What::Received(receipt) = &entry.what else { return None };
    let notes = &receipt.outcome.notes;
    let branch = notes.get("branch").and_then(Value::as_str)?;
    let number = notes.get("revision").and_then(Value::as_u64)?;
    Some((branch.to_owned(), number))
}

/// The entries up to one that count.
fn standing_entries(journal: &[Entry], to: u64) -> Vec<&Entry> {
    let mut standing: Vec<&Entry> = Vec::new();
    for entry in journal {
        match &entry.what {
            What::Rewound { to, .. } => {
                standing.truncate(standing.partition_point(|earlier| earlier.number <= *to));
            }
            _ => standing.push(entry),
        }
    }
    standing.retain(|entry| entry.number <= to);
    standing
}

/// The entry of a journal that is the newest to count when it is taken back to a number.
fn kept(journal: &[Entry], to: u64) -> Result<u64, Error> {
    let found = standing_entries(journal, u64::MAX).into_iter().find(|entry| entry.number == to);
    found.map(|entry| entry.number).ok_or_else(|| Error::not_found("step", to.to_string()))
}

/// Refuses a run that cannot go on as one of its definition.
fn refuse_hindered(run: &Run, place: &str) -> Result<(), Error> {
    let found: Vec<String> = run.hindrances().iter().map(ToString::to_string).collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::Argument { place: place.to_owned(), message: found.join("; ") }),
    }
}

/// A digest of a request's key and content.
pub(crate) fn request_digest(made: &lmlang_history::log::Idempotency) -> String {
    let mut seen = blake3::Hasher::new();
    seen.update(&made.key).update(&made.digest);
    seen.finalize().to_hex()[..32].to_owned()
}

/// What a request came to that has taken a run back before, as far as the journal knows.
fn repeated(journal: &[Entry], request: Option<&str>) -> Option<Rewound> {
    let request = request?;
    journal.iter().find_map(|entry| match &entry.what {
        What::Rewound { to, request: Some(first), .. } if first == request => {
            let superseded = entry.number - 1 - to;
            Some(Rewound { superseded, reverted: Vec::new(), not_undone: Vec::new() })
        }
        _ => None,
    })
}

/// The effects that were had behind an entry and that no revision takes back, and how many entries there are.
fn after(journal: &[Entry], to: u64) -> (Vec<Intent>, u64) {
    let later: Vec<&Entry> =
        standing_entries(journal, u64::MAX).into_iter().filter(|entry| entry.number > to).collect();
    let intents = later.iter().filter_map(|entry| match &entry.what {
        What::Received(receipt) if receipt.outcome.answer.is_ok() && revision(entry).is_none() => {
            Some(receipt.intent.clone())
        }
        _ => None,
    });
    (intents.collect(), later.len() as u64)
}

/// An entry whose references follow others to their new numbers.
fn renumbered(what: What, numbers: &std::collections::BTreeMap<u64, u64>) -> What {
    let number = |old: u64| numbers.get(&old).copied().unwrap_or(old);
    match what {
        What::Answered { asked, decision, request } => {
            What::Answered { asked: number(asked), decision, request }
        }
        What::Expired { asked } => What::Expired { asked: number(asked) },
        what @ (What::Started(_)
        | What::Announced(_)
        | What::Received(_)
        | What::Stepped(_)
        | What::Failed(_)
        | What::SubEnded { .. }
        | What::Cancelled { .. }
        | What::Rewound { .. }
        | What::Moved { .. }) => what,
    }
}

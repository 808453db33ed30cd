//! Stopping runs, and going on from an earlier entry in another run.

use std::collections::BTreeSet;

use lmlang_flow::{Entry, Goto, Run, Stepped, What};
use lmlang_history::log::Origin;
use lmlang_store::{BeginError, NewRun, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::catalog::Selector;
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::coding;
use crate::flows::listing::RunInfo;
use crate::flows::live::{damaged, standing};
use crate::flows::moving::other_version;
use crate::flows::starting::idempotency;
use crate::records::to_actor;
use crate::request::Call;

impl Engine {
    /// Stops a run. One that has ended stays as it is.
    pub async fn cancel_run(&self, run: Uuid, reason: Option<String>, call: &Call) -> Result<RunInfo, Error> {
        self.run_info(run).await?;
        self.stop_run(run, &call.actor.name, reason).await?;
        self.run_info(run).await
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
        let mut entries = standing_entries(&journal, at);
        // Where its branch begins. One that has none yet makes its own.
        let made = || entries.iter().filter_map(|entry| revision(&entry.what)).next_back();
        let from = row.program.and_then(|program| {
            let from = made().map(|(_, _, number)| format!("r{number}")).or_else(|| info.branch.clone())?;
            Some((program, from))
        });
        if from.is_some() {
            // Its questions are about its branch, in words of its own: the nodes ask again.
            let answered: BTreeSet<u64> = entries.iter().filter_map(|entry| settles(&entry.what)).collect();
            entries.retain(|entry| !asks(&entry.what) || answered.contains(&entry.number));
        }
        let id = self.0.clock.id();
        // It may take as long as the other one, from now on.
        let within = Run::replay(&flow, &journal).map_err(|error| damaged(run, 0, error))?.may_take();
        entries.retain(|entry| !matches!(entry.what, What::Bounded { .. }));
        let bounded =
            within.map(|within| Entry { number: u64::MAX, time: self.now(), what: What::Bounded { within } });
        if let Some(bounded) = &bounded {
            entries.insert(entries.len().min(1), bounded);
        }
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
        let branch = match from {
            None => None,
            Some((program, from)) => {
                let open = self.find(&Selector::Id(program)).await?;
                let request = call.idempotency.as_ref().map(request_digest);
                let request = request.unwrap_or_else(|| id.simple().to_string());
                let key = format!("fork:{}:{at}:{request}", run.simple());
                let name = open.free_branch("fork");
                let origin = Some(Origin { run: id.into_bytes(), step: 0 });
                let call = Call { origin, ..call.clone().keyed(Some(&key), from.as_bytes()) };
                Some(self.create_branch(&open, &name, Some(&from), &call).await?.name)
            }
        };
        let open = machine.interrupts().map(|of| (of.asked, Timestamp(of.time))).collect();
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
}

/// Whether a node asks by its end.
fn asks(what: &What) -> bool {
    matches!(what, What::Stepped(Stepped { goto: Goto::Ask { .. }, .. }))
}

/// The entry of the question that is over by this one.
fn settles(what: &What) -> Option<u64> {
    match what {
        What::Answered { asked, .. } | What::Expired { asked } => Some(*asked),
        _ => None,
    }
}

/// The entries up to one that count.
pub(super) fn standing_entries(journal: &[Entry], to: u64) -> Vec<&Entry> {
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

/// The revision that a receipt notes, with its branch, and its program if the run is about none.
pub(super) fn revision(what: &What) -> Option<(Option<Uuid>, String, u64)> {
    let What::Received(receipt) = what else { return None };
    let notes = &receipt.outcome.notes;
    let program = notes.get("program").and_then(Value::as_str).and_then(|id| id.parse().ok());
    let branch = notes.get("branch").and_then(Value::as_str)?;
    let number = notes.get("revision").and_then(Value::as_u64)?;
    Some((program, branch.to_owned(), number))
}

/// The entry of a journal that is the newest to count when it is taken back to a number.
pub(super) fn kept(journal: &[Entry], to: u64) -> Result<u64, Error> {
    let found = standing_entries(journal, u64::MAX).into_iter().find(|entry| entry.number == to);
    found.map(|entry| entry.number).ok_or_else(|| Error::not_found("step", to.to_string()))
}

/// Refuses a run that cannot go on as one of its definition.
pub(super) fn refuse_hindered(run: &Run, place: &str) -> Result<(), Error> {
    let found: Vec<String> = run.hindrances().iter().map(ToString::to_string).collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::Argument { place: place.to_owned(), message: found.join("; ") }),
    }
}

/// A digest of a request's key, and one of its content behind it.
pub(crate) fn request_digest(made: &lmlang_history::log::Idempotency) -> String {
    let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex()[..HALF].to_owned();
    digest(&made.key) + &digest(&made.digest)
}

/// Whether a request is one that was noted before.
///
/// # Errors
///
/// It has the key of that one and another content.
pub(crate) fn is_repeated(noted: &str, request: &str) -> Result<bool, Error> {
    match noted == request {
        true => Ok(true),
        false if noted.get(..HALF) == request.get(..HALF) => Err(Error::IdempotencyMismatch),
        false => Ok(false),
    }
}

/// Digits of each half of a request's digest.
const HALF: usize = 16;

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
        | What::Bounded { .. }
        | What::Overdue
        | What::Moved { .. }) => what,
    }
}

//! What must hold at the end of a run.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use lmlang_engine::{Arrival, Distance, Engine, OpenProgram, Selector, Travel, Way};
use lmlang_store::{Bound, Entry, Tail};

use super::client::{Deed, Fate};
use super::world::World;
use crate::fixture::call;

/// Within which a replica has heard of all.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program: its newest entry, and the newest state of each branch.
type Shown = BTreeMap<String, (u64, BTreeMap<String, (u64, [u8; 32])>)>;

/// Judges what was done, and what there is.
pub(crate) fn judge(world: &mut World, deeds: &[Deed], programs: &[String]) -> Result<(), String> {
    let logs = world.ask(0, |engine| logs(engine, programs))?;
    compare(deeds, &logs)?;
    world.ask(0, |engine| go_back_and_forth(engine, &logs))?;
    let newest = world.ask(0, |engine| show(engine, programs, BTreeMap::new()))?;
    for process in 1..world.processes() {
        let there = world.ask(process, |engine| show(engine, programs, newest.clone()))?;
        same(&newest, &there, &format!("process {process}"))?;
    }
    world.ask(0, |engine| async move {
        let checkup = engine.doctor(|_| {}).await.map_err(|error| format!("doctor: {error:?}"))?;
        let findings: Vec<String> = checkup.findings().collect();
        if findings.is_empty() { Ok(()) } else { Err(format!("doctor: {findings:?}")) }
    })?;
    world.restart()?;
    for process in 0..world.processes() {
        let again = world.ask(process, |engine| show(engine, programs, newest.clone()))?;
        same(&newest, &again, &format!("process {process}, started again"))?;
    }
    Ok(())
}

fn same(newest: &Shown, there: &Shown, whose: &str) -> Result<(), String> {
    if newest == there { Ok(()) } else { Err(format!("{whose} has {there:?}, the first one {newest:?}")) }
}

async fn find(engine: &Engine, program: &str) -> Result<OpenProgram, String> {
    let found = engine.find(&Selector::Name(program.to_owned())).await;
    found.map_err(|error| format!("`{program}` cannot be opened: {error:?}"))
}

/// Waits until a process has heard of an entry.
async fn hear(engine: &Engine, open: &OpenProgram, number: u64) -> Result<(), String> {
    let failed = |why: String| format!("`{}`, waiting for entry {number}: {why}", open.info().name);
    let mut events = engine.events(open, None).map_err(|error| failed(error.to_string()))?;
    while open.timeline.head().last < number {
        let told = tokio::time::timeout(PATIENCE, events.recv()).await;
        let told = told.map_err(|_| {
            let (last, reachable) = (open.timeline.head().last, engine.is_reachable());
            failed(format!("it stays behind, at entry {last}; the database can be reached: {reachable}"))
        })?;
        told.transpose().map_err(|error| failed(error.to_string()))?;
    }
    Ok(())
}

/// The logs of programs, read from the database.
async fn logs(engine: Engine, programs: &[String]) -> Result<BTreeMap<String, Vec<Entry>>, String> {
    const ALL: Bound = Bound { rows: 1_000_000, bytes: u64::MAX >> 1 };
    let mut logs = BTreeMap::new();
    for name in programs {
        let row = engine.store().program_by_name(name).await.map_err(|fault| fault.to_string())?;
        let program = row.ok_or_else(|| format!("`{name}` was made and is not there"))?.key;
        let entries = engine.store().tail(Tail { program, after: 0 }, ALL).await;
        logs.insert(name.clone(), entries.map_err(|fault| fault.to_string())?);
    }
    let page = engine.programs(None, None, 1_000).await.map_err(|error| error.to_string())?;
    let strange = page.programs.iter().find(|program| !logs.contains_key(&program.name));
    match strange {
        Some(program) => Err(format!("`{}` is there and was not made", program.name)),
        None => Ok(logs),
    }
}

/// Whether the logs have what was acknowledged, once, and nothing else.
fn compare(deeds: &[Deed], logs: &BTreeMap<String, Vec<Entry>>) -> Result<(), String> {
    let mut by_key: HashMap<&[u8], (&str, &Entry)> = HashMap::new();
    for (program, entries) in logs {
        for (entry, number) in entries.iter().zip(1..) {
            if entry.seq != number {
                return Err(format!("`{program}` has no entry {number}"));
            }
            let key = entry.idempotency.as_ref().ok_or(format!("`{program}`: entry {number} has no key"))?;
            if by_key.insert(&key.key, (program, entry)).is_some() {
                return Err(format!("the key of entry {number} of `{program}` has another one too"));
            }
        }
    }
    for deed in deeds {
        let found = by_key.remove(deed.key.as_bytes());
        match (&deed.fate, found) {
            (Fate::Not, None) => {}
            (Fate::Not, Some((program, entry))) => {
                return Err(format!(
                    "{} was not carried out, and is entry {} of `{program}`",
                    deed.key, entry.seq
                ));
            }
            (Fate::Made { .. }, None) => return Err(format!("{} is lost", deed.key)),
            (Fate::Made { program, entry }, Some((of, found))) => {
                let told = entry.unwrap_or((found.seq, found.root_hash));
                if program != of || told != (found.seq, found.root_hash) {
                    return Err(format!(
                        "{} was told as {entry:?} of `{program}`, and is {found:?} of `{of}`",
                        deed.key
                    ));
                }
            }
        }
    }
    match by_key.values().next() {
        Some((program, entry)) => Err(format!("nobody made entry {} of `{program}`", entry.seq)),
        None => Ok(()),
    }
}

/// Takes the newest revision of every program back, and makes it again.
async fn go_back_and_forth(engine: Engine, logs: &BTreeMap<String, Vec<Entry>>) -> Result<(), String> {
    for (program, entries) in logs {
        let open = find(&engine, program).await?;
        hear(&engine, &open, entries.len() as u64).await?;
        let before = open.timeline.head().main.revision.clone();
        let travel = async |way| {
            let travel = Travel { branch: "main".to_owned(), way, expected_head: None, dry_run: false };
            let arrival = engine.travel(&open, &travel, &call()).await;
            arrival.map_err(|error| format!("`{program}`: {travel:?}: {error:?}"))
        };
        match travel(Way::Undo(Distance::Steps(1))).await? {
            Arrival::Made { after, .. } => {
                let target = after.entry.target.ok_or("an undo goes back to a revision")?;
                let state = engine.revision(&open, Some(&format!("r{target}"))).await;
                let state = state.map_err(|error| format!("`{program}` r{target}: {error:?}"))?;
                if state.checked.program().root_hash() != after.entry.root_hash {
                    return Err(format!("`{program}`: undone to another content than that of r{target}"));
                }
            }
            Arrival::Nothing(_) if before.entry.number == 1 || before.entry.target.is_some() => continue,
            other => return Err(format!("`{program}`: nothing was undone: {other:?}")),
        }
        match travel(Way::Redo(Distance::Steps(1))).await? {
            Arrival::Made { after, .. } if after.entry.root_hash == before.entry.root_hash => {}
            other => return Err(format!("`{program}`: not made again: {other:?}")),
        }
    }
    Ok(())
}

/// What a process shows of programs, once it has heard of what another one shows.
async fn show(engine: Engine, programs: &[String], known: Shown) -> Result<Shown, String> {
    let mut shown = Shown::new();
    for program in programs {
        let open = find(&engine, program).await?;
        let newest = known.get(program).map_or(0, |(newest, _)| *newest);
        hear(&engine, &open, newest).await?;
        let head = open.timeline.head();
        let mut tips = BTreeMap::new();
        let names = head.branches.iter().map(|branch| branch.name.clone()).chain(["main".to_owned()]);
        for name in names.collect::<Vec<_>>() {
            let tip = engine.tip(&open, &head, &name).await;
            let tip = tip.map_err(|error| format!("`{program}`, {name}: {error:?}"))?;
            tips.insert(name, (tip.revision.entry.number, tip.revision.checked.program().root_hash().0));
        }
        for mark in head.checkpoints.iter() {
            tips.insert(format!("checkpoint {}", mark.name), (mark.revision, [0; 32]));
        }
        shown.insert(program.clone(), (head.last, tips));
    }
    Ok(shown)
}

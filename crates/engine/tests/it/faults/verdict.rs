//! What must hold at the end of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use lmlang_engine::{
    Arrival, Distance, Engine, Error, OpenProgram, RunCursor, RunFilter, RunStatus, RunsOf, Selector, Travel,
    Way,
};
use lmlang_entities::{EntityRef, Key, Label};
use lmlang_store::{Bound, Entry, Tail};
use uuid::Uuid;

use super::client::{Deed, Fate, HUB};
use super::world::World;
use crate::fixture::call;

/// Within which a replica has heard of all.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program: its newest entry, and the newest state of each branch.
type Shown = BTreeMap<String, (u64, BTreeMap<String, (u64, [u8; 32])>)>;

/// Judges what was done, and what there is.
pub(crate) fn judge(world: &mut World, deeds: &[Deed], programs: &[(String, Uuid)]) -> Result<(), String> {
    let gone: BTreeSet<&str> = deeds
        .iter()
        .filter_map(|deed| match &deed.fate {
            Fate::Deleted { program } => Some(program.as_str()),
            _ => None,
        })
        .collect();
    let mut logs = world.ask(0, |engine| logs(engine, programs, &gone))?;
    compare(deeds, &logs)?;
    logs.retain(|program, _| !gone.contains(program.as_str()));
    let programs: &[String] = &logs.keys().cloned().collect::<Vec<_>>();
    world.ask(0, |engine| entities(engine, deeds))?;
    world.set_clocks_ahead();
    world.ask(0, |engine| runs(engine, deeds))?;
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
    let mut events = engine.events(open, None).await.map_err(|error| failed(error.to_string()))?;
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

/// The logs of programs, read from the database: of those too that are gone, which nothing else shows.
async fn logs(
    engine: Engine,
    programs: &[(String, Uuid)],
    gone: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Vec<Entry>>, String> {
    const ALL: Bound = Bound { rows: 1_000_000, bytes: u64::MAX >> 1 };
    let mut logs = BTreeMap::new();
    for (name, id) in programs {
        let row = engine.store().program_by_id(*id).await.map_err(|fault| fault.to_string())?;
        let row = row.ok_or_else(|| format!("`{name}` was made and is not there"))?;
        if row.deleted.is_some() != gone.contains(name.as_str()) {
            return Err(format!("`{name}` is deleted or not: {row:?}"));
        }
        let program = row.key;
        let entries = engine.store().tail(Tail { program, after: 0 }, ALL).await;
        logs.insert(name.clone(), entries.map_err(|fault| fault.to_string())?);
    }
    let page = engine.programs(None, None, 1_000).await.map_err(|error| error.to_string())?;
    let is_strange = |name: &str| !logs.contains_key(name) || gone.contains(name);
    let strange = page.programs.iter().find(|program| is_strange(&program.name));
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
            (Fate::Lost, _) => {}
            (Fate::Not | Fate::Deleted { .. } | Fate::Wrote { .. } | Fate::Began { .. }, None) => {}
            (
                Fate::Not | Fate::Deleted { .. } | Fate::Wrote { .. } | Fate::Began { .. },
                Some((program, entry)),
            ) => {
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

/// Whether entities are what was acknowledged, each change once.
async fn entities(engine: Engine, deeds: &[Deed]) -> Result<(), String> {
    let failed = |error: Error| format!("entities: {error:?}");
    let name = |label: &str, key: &str| EntityRef {
        label: Label::new(label).expect("it is one"),
        key: Key::new(key).expect("it is one"),
    };
    let (mut changes, mut notes) = (0, BTreeMap::new());
    for deed in deeds {
        if let Fate::Wrote { note, there } = &deed.fate {
            changes += 1;
            // Whoever erases a note knows of it.
            *notes.entry(note.as_str()).or_insert(true) &= there;
        }
    }
    let revision = async { engine.store().entities_now().await?.revision().await };
    let revision = revision.await.map_err(|fault| failed(fault.into()))?;
    if revision != changes {
        return Err(format!(
            "entities were changed {revision} times, and {changes} changes were acknowledged"
        ));
    }
    for (note, there) in &notes {
        if engine.entity(&name("Note", note)).await.map_err(failed)?.is_some() != *there {
            return Err(format!("the note `{note}` should be there: {there}"));
        }
    }
    let hub = engine.entity_subgraph(name("Person", HUB), 1).await.map_err(failed)?;
    let joined = hub.as_ref().map_or(0, |hub| hub.edges.len());
    let expected = notes.values().filter(|there| **there).count();
    match joined == expected && hub.is_some() != notes.is_empty() {
        true => Ok(()),
        false => Err(format!("{joined} notes are joined to the hub, and {expected} are there: {hub:?}")),
    }
}

/// Whether the runs that were begun have come to their ends, each once.
async fn runs(engine: Engine, deeds: &[Deed]) -> Result<(), String> {
    let failed = |error: Error| format!("runs: {error:?}");
    let mut begun = 0;
    for deed in deeds {
        let Fate::Began { run } = deed.fate else { continue };
        begun += 1;
        let mut events =
            engine.run_events(&RunsOf::Run(run), Some(RunCursor::default())).await.map_err(failed)?;
        let ended = async {
            loop {
                let info = engine.run_info(run).await?;
                if info.ended.is_some() {
                    return Ok::<_, Error>(info.status);
                }
                // It is looked for when its time comes, by the clock of the process that last had it.
                engine.resume_run(run).await?;
                if let Ok(None) = tokio::time::timeout(Duration::from_secs(1), events.recv()).await {
                    return Err(Error::Closed);
                }
            }
        };
        let ended = tokio::time::timeout(PATIENCE, ended).await;
        match ended.map_err(|_| format!("{} does not come to its end", deed.key))?.map_err(failed)? {
            RunStatus::Completed => {}
            status => return Err(format!("{} has ended as {status:?}", deed.key)),
        }
    }
    let all = engine.run_page(&RunFilter::default(), None, 1).await.map_err(failed)?.total;
    if all == begun { Ok(()) } else { Err(format!("there are {all} runs, and {begun} were begun")) }
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

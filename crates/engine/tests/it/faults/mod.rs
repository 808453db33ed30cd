//! Clients and faults, drawn from a seed: whatever befalls the processes, what was acknowledged is there, once.
//!
//! A run is a few rounds. In each, clients ask processes for changes of every kind at the same time, of programs, which they make
//! and delete, and of entities, and begin runs; conflicts of merges they resolve. Each process meets one trouble at most: it dies at a step of the write path or wherever its tasks wait, stands still, is closed with its
//! clients still asking;
//! a step fails (a full disk, a locked or unwritable database, a device, a connection lost before and after the commit,
//! again and again) or takes long; what it reads does not come; its clock is set forth or back. At the end everything is healed, clients ask until they
//! know what became of their requests, and [`verdict`] compares what they were told with what there is.
//!
//! [`plan`] says what happens, [`world`] makes it happen by a [`hook`] in each process, [`client`] asks and keeps what it was told.
//!
//! The plan is a function of the seed alone: the same clients ask the same processes for the same kinds of change, and the
//! same steps are struck. How those who ask at the same time come one after the other is up to the threads of the database
//! (SQLite's connections have one each, PostgreSQL has its own scheduling), and so is which of them share a commit; the time
//! of the runtime is the real one, because time that jumps whenever tasks are idle would run out while the database works.
//! So a seed that fails may have to be tried a few times.

mod client;
mod hook;
mod plan;
mod verdict;
mod world;

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lmlang_store::Step;
use lmlang_testdb::TestDb;

use client::{Client, Known};
use plan::{Plan, Round, Trouble, Work};
use world::World;

/// Names a seed to be tried alone.
const SEED: &str = "LMLANG_SEED";

/// How often a seed is tried that is tried alone: who comes first is not in its plan.
const TRIES: usize = 10;

/// Rounds in which everybody is to have found out what became of their requests.
const SETTLING: usize = 10;

/// Seeds among which every kind of death comes up.
const ENOUGH: u64 = 100;

/// How many seeds are tried: as many as there is time for, as each takes a tenth of a second, and one of PostgreSQL's one.
fn seeds(alone: bool) -> u64 {
    match (std::env::var_os("LMLANG_LONG").is_some(), alone) {
        (true, true) => 10_000,
        (true, false) => 1_000,
        (false, true) => 350,
        (false, false) => 40,
    }
}

/// Whether databases are files. A seed's plan is another one on a server, where several processes share a database.
fn on_file() -> bool {
    std::env::var_os("LMLANG_TEST_POSTGRES").is_none()
}

#[test]
fn whatever_happens_what_was_acknowledged_is_there_once() {
    let single = std::env::var(SEED).ok().map(|seed| seed.parse().expect("it is a number"));
    if let Some(seed) = single {
        for _ in 1..TRIES {
            check(seed);
        }
        println!("{}", check(seed));
        return;
    }
    let next = AtomicU64::new(0);
    let count = seeds(on_file());
    std::thread::scope(|scope| {
        // Those who wait for a disk leave the processor to others.
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        return;
                    }
                    check(seed);
                }
            });
        }
    });
    let (struck, dropped, lost) = (hook::struck(), hook::dropped(), hook::lost());
    let decided = client::decided();
    println!(
        "{count} seeds, {dropped} deaths wherever tasks waited, {lost} lost reads, {decided} merges that were decided, {struck:#?}"
    );
    // Of a few, none need have died at a given one.
    for step in Step::ALL.into_iter().filter(|_| count >= ENOUGH) {
        assert!(struck.contains_key(&("dies", step)), "no process died at {step:?}");
    }
    assert!(dropped as u64 >= count / 10, "{dropped} processes died wherever their tasks waited");
    assert!(lost as u64 >= count / 10, "{lost} reads were lost");
    assert!(decided > 0 || count < ENOUGH, "nobody decided a conflict");
}

/// Tries a seed, and answers with what happened.
fn check(seed: u64) -> String {
    let mut trail = String::new();
    if let Err(wrong) = run(seed, &mut trail) {
        let kind = if on_file() { "" } else { " --postgres" };
        panic!("seed {seed}: {wrong}\n\n{trail}\nto try it again: cargo xtask test --seed {seed}{kind}");
    }
    trail
}

fn run(seed: u64, trail: &mut String) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let db = runtime.block_on(TestDb::new());
    drop(runtime);
    let plan = Plan::draw(seed, db.is_file());
    let mut world = World::new(db, plan.processes, plan.snapshots);
    let mut clients: Vec<_> = (0..plan.clients).map(|number| Some(Client::new(number))).collect();
    let mut known = Known::default();
    world.heal(&mut clients)?;
    let first = clients[0].as_mut().expect("nobody works yet");
    for program in client::FIRST {
        world.ask(0, |engine| {
            let first = &mut *first;
            async move { first.begin(&engine, program).await }
        });
    }
    meet(&mut clients, &mut known, trail)?;
    for round in &plan.rounds {
        writeln!(trail, "{:?} {:?}", round.troubles, round.ahead).expect("it is a string");
        world.play(round, &mut clients)?;
        meet(&mut clients, &mut known, trail)?;
    }
    world.heal(&mut clients)?;
    let quiet = Round {
        troubles: vec![Trouble::None; plan.processes],
        works: vec![Work { process: 0, asks: Vec::new(), persists: true }; plan.clients],
        ahead: vec![None; plan.processes],
    };
    for round in 0.. {
        world.play(&quiet, &mut clients)?;
        meet(&mut clients, &mut known, trail)?;
        if world.is_whole()
            && clients.iter().flatten().filter(|client| client.is_settled()).count() == plan.clients
        {
            break;
        }
        if round == SETTLING {
            return Err("somebody does not find out what became of a request".to_owned());
        }
    }
    let deeds: Vec<_> = clients.into_iter().flatten().flat_map(|client| client.deeds).collect();
    known.programs.sort();
    known.programs.dedup();
    verdict::judge(&mut world, &deeds, &known.programs)
}

/// Lets clients tell each other what they know.
fn meet(clients: &mut [Option<Client>], known: &mut Known, trail: &mut String) -> Result<(), String> {
    for client in clients.iter_mut().flatten() {
        for line in client.trail.drain(..) {
            writeln!(trail, "  {line}").expect("it is a string");
        }
        known.learn(std::mem::take(&mut client.found));
    }
    if let Some(wrong) = clients.iter_mut().flatten().find_map(|client| client.wrong.take()) {
        return Err(wrong);
    }
    let all = Arc::new(known.clone());
    for client in clients.iter_mut().flatten() {
        client.known = Arc::clone(&all);
    }
    Ok(())
}

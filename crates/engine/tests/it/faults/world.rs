//! Processes that share a database, and what befalls them.
//!
//! A process is an engine on a runtime of its own, with one thread. It dies by losing that: nothing of it goes on, and
//! nobody is told. Of a database file it leaves what lay there at that moment, copied before anything could be closed, so
//! that the next one finds a write-ahead log to read as after a kill. It stands still by blocking its thread, with all that
//! it holds in the database.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lmlang_engine::{Clock, Engine, Limits, SnapshotPolicy};
use lmlang_store::{Fault, Faults, Location, OpenError, Options, Step, Store};
use lmlang_testdb::TestDb;
use tokio::runtime::{Builder, Runtime};

use super::client::Client;
use super::hook::{Armed, Ending, Hook, Report, pass};
use super::plan::{AHEAD, Round, Trouble, Work};
use crate::flows::code::{self, Calls};

/// Within which everybody answers.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a process waits for another one that stands still with a lock; long enough for a server that has much to do.
const BUSY: Duration = Duration::from_secs(2);

/// Seconds: later than any clock that was set ahead.
const LATE: i64 = 2 * AHEAD[3];

/// A database file with tables and nothing in them: making them takes longer than a run.
fn empty() -> &'static [u8] {
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    EMPTY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lmlang.db");
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let made = runtime.block_on(async { Store::open(Options::file(&file)).await.unwrap().close().await });
        made.unwrap();
        fs::read(file).unwrap()
    })
}

/// A process that there is.
struct Running {
    runtime: Runtime,
    engine: Engine,
    hook: Arc<Hook>,
}

/// A process that there is or will be again.
#[derive(Default)]
struct Process {
    running: Option<Running>,
    clock: Clock,
    /// The round in which it is started again, or goes on.
    back: usize,
    /// Whether it stands still.
    stands: bool,
    /// Whether its clients have not come to the end of their round. One can stand still with nobody asking, for what it
    /// does in the background.
    serves: bool,
}

/// The processes over one database.
pub(crate) struct World {
    database: Location,
    snapshots: SnapshotPolicy,
    processes: Vec<Process>,
    reports: Receiver<Report>,
    reporting: Sender<Report>,
    round: usize,
    /// What the flows of all processes call.
    calls: Arc<Calls>,
    _db: TestDb,
}

impl World {
    /// So many processes over an empty database.
    pub(crate) fn new(db: TestDb, processes: usize, snapshots: SnapshotPolicy) -> World {
        let database = Location::parse(&db.to_string()).unwrap();
        if let Location::File(file) = &database {
            fs::write(file, empty()).unwrap();
        }
        let (reporting, reports) = channel();
        let processes = (0..processes).map(|_| Process::default()).collect();
        World { database, snapshots, processes, reports, reporting, round: 0, calls: Arc::default(), _db: db }
    }

    /// Asks a process for something, without faults.
    pub(crate) fn ask<F: Future>(&self, process: usize, what: impl FnOnce(Engine) -> F) -> F::Output {
        let running = self.processes[process].running.as_ref().expect("it is there");
        running.runtime.block_on(what(running.engine.clone()))
    }

    /// Whether all processes are there.
    pub(crate) fn is_whole(&self) -> bool {
        self.processes.iter().all(|process| process.running.is_some() && !process.stands)
    }

    pub(crate) fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Starts a process.
    fn start(&mut self, number: usize) -> Result<(), String> {
        let hook = Arc::new(Hook::new(number, self.reporting.clone(), self.database.clone()));
        let woken = Arc::clone(&hook);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .on_thread_unpark(move || woken.woken.notify_one())
            .enable_all()
            .build()
            .unwrap();
        let (asked, read) = (Arc::clone(&hook), Arc::clone(&hook));
        let faults = Faults::new(move |step| asked.at(step)).reading(move || read.loses());
        let options =
            Options { faults, readers: 2, busy_timeout: BUSY, ..Options::new(self.database.clone()) };
        let (snapshots, process) = (self.snapshots, &mut self.processes[number]);
        let (clock, calls) = (process.clock.clone(), Arc::clone(&self.calls));
        let engine = runtime.block_on(async {
            let since = Instant::now();
            let store = loop {
                match Store::open(options.clone()).await {
                    Ok(store) => break store,
                    // A server may have much to do for others.
                    Err(OpenError::Database { source: Fault::Busy | Fault::NoConnection, .. })
                        if since.elapsed() < PATIENCE => {}
                    Err(error) => return Err(format!("cannot be opened: {error:?}")),
                }
            };
            // Little in memory, so that older states are read again.
            let limits = Limits { revisions_in_memory: 4, events_in_memory: 8, ..Limits::default() };
            let engine = Engine::with_clock(store, limits, snapshots, clock);
            engine.run_flows(code::all(&calls));
            Ok::<_, String>(engine)
        })?;
        process.running = Some(Running { runtime, engine, hook });
        Ok(())
    }

    /// Sets all clocks to after whatever any of them has shown: what waits for a time waits no longer.
    pub(crate) fn set_clocks_ahead(&self) {
        for process in &self.processes {
            process.clock.set_ahead(LATE * 1_000_000);
        }
    }

    /// Starts what is not there, lets go on what stands still, and lets nothing more happen to it.
    pub(crate) fn heal(&mut self, clients: &mut [Option<Client>]) -> Result<(), String> {
        for number in 0..self.processes.len() {
            self.processes[number].back = 0;
            if let Some(running) = &self.processes[number].running {
                *running.hook.armed.lock().unwrap() = Armed::default();
            }
        }
        self.come_back(clients)
    }

    /// Closes all processes, and starts them again.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        for number in 0..self.processes.len() {
            let Running { runtime, engine, .. } = self.processes[number].running.take().expect("it is there");
            runtime.block_on(engine.close());
        }
        (0..self.processes.len()).try_for_each(|number| self.start(number))
    }

    /// Starts and lets go on the processes for which it is time; one at least.
    fn come_back(&mut self, clients: &mut [Option<Client>]) -> Result<(), String> {
        let is_up = |process: &Process| process.running.is_some() && !process.stands;
        if !self.processes.iter().any(is_up) {
            self.processes[0].back = 0;
        }
        for number in 0..self.processes.len() {
            let process = &mut self.processes[number];
            if process.back > self.round {
                continue;
            }
            match &process.running {
                None => self.start(number)?,
                Some(running) if process.stands => {
                    running.hook.go_on();
                    process.stands = false;
                    if process.serves {
                        self.await_ended(vec![number], clients)?;
                    }
                }
                Some(_) => {}
            }
        }
        // One that went on may have died, or been closed.
        match self.processes.iter().any(is_up) {
            true => Ok(()),
            false => self.come_back(clients),
        }
    }

    /// Carries a round out.
    pub(crate) fn play(&mut self, round: &Round, clients: &mut [Option<Client>]) -> Result<(), String> {
        self.round += 1;
        self.come_back(clients)?;
        let up = |process: &Process| process.running.is_some() && !process.stands;
        let up: Vec<usize> =
            (0..self.processes.len()).filter(|number| up(&self.processes[*number])).collect();
        let mut at: Vec<Vec<(Client, Work)>> = self.processes.iter().map(|_| Vec::new()).collect();
        for (client, work) in clients.iter_mut().zip(&round.works) {
            // Clients of a process that stands still wait for it.
            if let Some(client) = client.take() {
                let process = up.iter().find(|number| **number >= work.process).unwrap_or(&up[0]);
                at[*process].push((client, work.clone()));
            }
        }
        for (number, clients) in at.into_iter().enumerate().filter(|(number, _)| up.contains(number)) {
            if let Some(seconds) = round.ahead[number] {
                self.processes[number].clock.set_ahead(seconds * 1_000_000);
            }
            self.begin(number, clients, &round.troubles[number]);
        }
        self.await_ended(up, clients)
    }

    /// Lets a process serve clients.
    fn begin(&mut self, number: usize, clients: Vec<(Client, Work)>, trouble: &Trouble) {
        let process = &mut self.processes[number];
        process.serves = true;
        let running = process.running.as_ref().expect("it is up");
        let mut striking = None;
        let closed = match trouble {
            Trouble::None => None,
            Trouble::Closed { after } => Some(*after),
            Trouble::Dropped { wakeups, turns, away } => {
                let (hook, wakeups, turns, away) = (Arc::clone(&running.hook), *wakeups, *turns, *away);
                let strike = async move { hook.drop_after(wakeups, turns, away).await };
                striking = Some(running.runtime.spawn(strike));
                None
            }
            Trouble::Reads { after, times } => {
                running.hook.armed.lock().unwrap().reads = Some((*after, *times));
                None
            }
            Trouble::At { step, after, blow } => {
                let mut armed = running.hook.armed.lock().unwrap();
                armed.trouble = Some((*step, *after, blow.clone()));
                if *step == Step::BeforeAsking {
                    let lost = if after.is_multiple_of(2) { Step::AfterCommit } else { Step::BeforeInsert };
                    (armed.trouble, armed.lost) = (Some((*step, 0, blow.clone())), Some(lost));
                }
                None
            }
        };
        let serving = serve(running.engine.clone(), clients, closed, Arc::clone(&running.hook));
        let reports = self.reporting.clone();
        running.runtime.spawn(async move {
            let report = match tokio::spawn(serving).await {
                Ok((clients, ending)) => Report::Ended(number, clients, ending),
                Err(_) => Report::Panicked,
            };
            if let Some(striking) = striking {
                // What has not happened in its round does not any more.
                striking.abort();
                striking.await.ok();
            }
            reports.send(report).ok();
        });
    }

    /// Waits until processes have come to the end of a round, or stand still.
    fn await_ended(&mut self, mut of: Vec<usize>, clients: &mut [Option<Client>]) -> Result<(), String> {
        while !of.is_empty() {
            match self.reports.recv_timeout(PATIENCE) {
                Ok(Report::Stands(number)) => {
                    let process = &mut self.processes[number];
                    let hook = &process.running.as_ref().expect("it stands").hook;
                    process.back = self.round + hook.armed.lock().unwrap().rounds;
                    process.stands = true;
                    of.retain(|other| *other != number);
                }
                Ok(Report::Ended(number, back, ending)) => {
                    for client in back {
                        let place = client.number;
                        clients[place] = Some(client);
                    }
                    self.end(number, &ending);
                    of.retain(|other| *other != number);
                }
                Ok(Report::Panicked) => return Err("a process panicked".to_owned()),
                Err(RecvTimeoutError::Timeout) => return Err(format!("processes {of:?} hang")),
                Err(RecvTimeoutError::Disconnected) => unreachable!("this has a sender"),
            }
        }
        Ok(())
    }

    fn end(&mut self, number: usize, ending: &Ending) {
        let process = &mut self.processes[number];
        process.serves = false;
        match ending {
            Ending::Done => {
                // What has not happened in its round does not any more.
                let running = process.running.as_ref().expect("it has served");
                let mut armed = running.hook.armed.lock().unwrap();
                (armed.trouble, armed.failing, armed.lost, armed.reads) = (None, None, None, None);
                let dead = armed.dead;
                drop(armed);
                if dead {
                    self.end(number, &Ending::Died);
                }
            }
            Ending::Closed => process.running = None,
            Ending::Died => {
                let running = process.running.take().expect("it has served");
                let mut armed = running.hook.armed.lock().unwrap();
                process.back = self.round + 1 + armed.rounds;
                let left = armed.left.take();
                drop(armed);
                running.runtime.shutdown_background();
                if let Some(left) = left {
                    self.database = Location::File(left);
                }
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for running in self.processes.iter_mut().filter_map(|process| process.running.take()) {
            running.hook.go_on();
            running.runtime.shutdown_background();
        }
    }
}

/// Lets clients work until all are done, or the process has died.
async fn serve(
    engine: Engine,
    clients: Vec<(Client, Work)>,
    closed: Option<usize>,
    hook: Arc<Hook>,
) -> (Vec<Client>, Ending) {
    let (mut clients, works): (Vec<_>, Vec<_>) = clients.into_iter().unzip();
    let ending = {
        let working =
            join_all(clients.iter_mut().zip(&works).map(|(client, work)| client.work(&engine, work)));
        let closing = async {
            let Some(after) = closed else { return Ending::Done };
            pass(after).await;
            engine.close().await;
            Ending::Closed
        };
        tokio::select! {
            biased;
            // Nobody is told anything by the dead.
            () = hook.died.notified() => Ending::Died,
            (_, ending) = async { tokio::join!(working, closing) } => ending,
        }
    };
    (clients, ending)
}

//! Processes that share a database, and what befalls them.
//!
//! A process is an engine on a runtime of its own, with one thread. It dies by losing that: nothing of it goes on, and
//! nobody is told. Of a database file it leaves what lay there at that moment, copied before anything could be closed, so
//! that the next one finds a write-ahead log to read as after a kill. It stands still by blocking its thread, with all that
//! it holds in the database.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lmlang_engine::{Clock, Engine, Limits, SnapshotPolicy};
use lmlang_store::{Action, Fault, Faults, Location, OpenError, Options, Step, Store};
use lmlang_testdb::TestDb;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::client::Client;
use super::plan::{Blow, Round, Trouble, With, Work};

/// Within which everybody answers.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a process waits for another one that stands still with a lock; long enough for a server that has much to do.
const BUSY: Duration = Duration::from_secs(2);

/// What a process tells of a round.
enum Report {
    /// It stands still.
    Stands(usize),
    /// Its clients have done what they could.
    Ended(usize, Vec<Client>, Ending),
    Panicked,
}

enum Ending {
    Done,
    Died,
    Closed,
}

/// The hook of a process.
struct Hook {
    process: usize,
    armed: Mutex<Armed>,
    died: Notify,
    /// Told whenever the process had nothing to do and has again.
    woken: Notify,
    reports: Sender<Report>,
    /// Whether it stands still.
    stands: Mutex<bool>,
    goes_on: Condvar,
    database: Location,
}

#[derive(Default)]
struct Armed {
    trouble: Option<(Step, usize, Blow)>,
    /// A step at which the connection is lost, so that there is something to ask about.
    lost: Option<Step>,
    /// The fault that befalls the next steps.
    failing: Option<(With, usize)>,
    dead: bool,
    /// Rounds to be away or to stand still for.
    rounds: usize,
    /// What was left of a database file.
    left: Option<PathBuf>,
}

impl Hook {
    fn at(&self, step: Step) -> Action {
        let mut armed = self.armed.lock().unwrap();
        if armed.dead {
            return Action::Hold(Arc::default());
        }
        match &mut armed.trouble {
            Some((at, 0, _)) if *at == step => {}
            Some((at, after, _)) if *at == step => {
                *after -= 1;
                return armed.fail(step);
            }
            _ => return armed.fail(step),
        }
        let (_, _, blow) = armed.trouble.take().expect("it is armed");
        note(blow.name(), step);
        match blow {
            Blow::Dies { away } => {
                (armed.dead, armed.rounds) = (true, away);
                armed.left = leave(&self.database);
                self.died.notify_one();
                Action::Hold(Arc::default())
            }
            Blow::Fails { with, times } => {
                armed.failing = Some((with, times));
                armed.fail(step)
            }
            Blow::Takes { long } => {
                let release = Arc::new(Notify::new());
                let held = Arc::clone(&release);
                tokio::spawn(async move {
                    pass(long).await;
                    held.notify_one();
                });
                Action::Hold(release)
            }
            Blow::Stands { rounds } => {
                armed.rounds = rounds;
                drop(armed);
                let mut stands = self.stands.lock().unwrap();
                *stands = true;
                self.reports.send(Report::Stands(self.process)).ok();
                while *stands {
                    stands = self.goes_on.wait(stands).unwrap();
                }
                Action::Continue
            }
        }
    }

    /// Lets the process die where all its tasks happen to wait: with one thread, every other one does whenever this one has
    /// its turn.
    async fn drop_after(&self, wakeups: usize, turns: usize, away: usize) {
        for _ in 0..wakeups {
            self.woken.notified().await;
        }
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        let mut armed = self.armed.lock().unwrap();
        if armed.dead {
            return;
        }
        DROPPED.fetch_add(1, Ordering::Relaxed);
        (armed.dead, armed.rounds) = (true, away);
        armed.left = leave(&self.database);
        self.died.notify_one();
    }

    fn go_on(&self) {
        *self.stands.lock().unwrap() = false;
        self.goes_on.notify_all();
    }
}

impl Armed {
    /// Lets a step fail as often as it is to.
    fn fail(&mut self, step: Step) -> Action {
        if self.lost.take_if(|at| *at == step).is_some() {
            return Action::Fail(Fault::ConnectionLost);
        }
        let Some((with, times)) = &mut self.failing else { return Action::Continue };
        let before = matches!(step, Step::BeforeInsert | Step::BeforeCommit | Step::BeforeBackground);
        if !before && !with.leaves_open() {
            return Action::Continue;
        }
        let fault = with.fault();
        note(with.name(), step);
        *times -= 1;
        if *times == 0 {
            self.failing = None;
        }
        Action::Fail(fault)
    }
}

/// What has struck where, in all runs.
static STRUCK: Mutex<BTreeMap<(&str, usize), usize>> = Mutex::new(BTreeMap::new());

/// How many processes have died wherever their tasks waited, in all runs.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// How many processes have died between any two turns of their tasks, with clients who still asked.
pub(crate) fn dropped() -> usize {
    DROPPED.load(Ordering::Relaxed)
}

fn note(what: &'static str, step: Step) {
    let step = Step::ALL.iter().position(|at| *at == step).expect("all are there");
    *STRUCK.lock().unwrap().entry((what, step)).or_default() += 1;
}

/// How often what has struck where.
pub(crate) fn struck() -> HashMap<(&'static str, Step), usize> {
    let struck = STRUCK.lock().unwrap();
    struck.iter().map(|((what, step), count)| ((*what, Step::ALL[*step]), *count)).collect()
}

impl Blow {
    fn name(&self) -> &'static str {
        match self {
            Blow::Dies { .. } => "dies",
            Blow::Fails { .. } => "begins to fail",
            Blow::Takes { .. } => "takes long",
            Blow::Stands { .. } => "stands still",
        }
    }
}

impl With {
    fn name(self) -> &'static str {
        match self {
            With::DiskFull => "disk full",
            With::Busy => "busy",
            With::ReadOnly => "read only",
            With::ConnectionLost => "connection lost",
            With::Device => "device",
        }
    }

    fn fault(self) -> Fault {
        match self {
            With::DiskFull => Fault::DiskFull,
            With::Busy => Fault::Busy,
            With::ReadOnly => Fault::ReadOnly,
            With::ConnectionLost => Fault::ConnectionLost,
            With::Device => Fault::Device(Arc::new(sea_orm::sqlx::Error::WorkerCrashed)),
        }
    }
}

/// Copies a database file as it lies there, with its write-ahead log; a lock is left where it is.
///
/// Somebody may be writing: what is appended to the log meanwhile was acknowledged to nobody. When the log begins anew, the
/// two do not belong together, and are copied again.
fn leave(database: &Location) -> Option<PathBuf> {
    let Location::File(file) = database else { return None };
    let folder = file.parent().expect("it is in a folder").join("left");
    fs::create_dir(&folder).unwrap();
    let copy = folder.join("lmlang.db");
    let log = |of: &Path| of.with_file_name("lmlang.db-wal");
    loop {
        let before = began(&log(file));
        fs::copy(file, &copy).unwrap();
        if log(file).exists() {
            fs::copy(log(file), log(&copy)).unwrap();
        }
        if before == began(&log(file)) {
            return Some(copy);
        }
    }
}

/// What a write-ahead log begins with: another salt whenever it begins anew; nothing if nothing is in it yet.
fn began(log: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = fs::File::open(log) {
        file.take(32).read_to_end(&mut head).unwrap();
    }
    head
}

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
        World { database, snapshots, processes, reports, reporting, round: 0, _db: db }
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
        let hook = Arc::new(Hook {
            process: number,
            armed: Mutex::default(),
            died: Notify::new(),
            woken: Notify::new(),
            reports: self.reporting.clone(),
            stands: Mutex::new(false),
            goes_on: Condvar::new(),
            database: self.database.clone(),
        });
        let woken = Arc::clone(&hook);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .on_thread_unpark(move || woken.woken.notify_one())
            .enable_all()
            .build()
            .unwrap();
        let asked = Arc::clone(&hook);
        let faults = Faults::new(move |step| asked.at(step));
        let options =
            Options { faults, readers: 2, busy_timeout: BUSY, ..Options::new(self.database.clone()) };
        let (snapshots, process) = (self.snapshots, &mut self.processes[number]);
        let clock = process.clock.clone();
        let engine = runtime.block_on(async {
            let since = Instant::now();
            let store = loop {
                match Store::open(options.clone()).await {
                    Ok(store) => break store,
                    // A server may have much to do for others.
                    Err(OpenError::Database { source: Fault::Busy, .. }) if since.elapsed() < PATIENCE => {}
                    Err(error) => return Err(format!("cannot be opened: {error:?}")),
                }
            };
            // Little in memory, so that older states are read again.
            let limits = Limits { revisions_in_memory: 4, events_in_memory: 8, ..Limits::default() };
            Ok::<_, String>(Engine::with_clock(store, limits, snapshots, clock))
        })?;
        process.running = Some(Running { runtime, engine, hook });
        Ok(())
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
                (armed.trouble, armed.failing, armed.lost) = (None, None, None);
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

/// Lets others go first, so many times.
async fn pass(times: usize) {
    for _ in 0..16 * times {
        tokio::task::yield_now().await;
    }
}

//! What befalls a process: its hooks in the store, and what they do when it is time.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex};

use lmlang_store::{Action, Fault, Location, Step};
use tokio::sync::Notify;

use super::client::Client;
use super::plan::{Blow, With};

/// What a process tells of a round.
pub(crate) enum Report {
    /// It stands still.
    Stands(usize),
    /// Its clients have done what they could.
    Ended(usize, Vec<Client>, Ending),
    Panicked,
}

pub(crate) enum Ending {
    Done,
    Died,
    Closed,
}

/// The hook of a process.
pub(crate) struct Hook {
    process: usize,
    pub(crate) armed: Mutex<Armed>,
    pub(crate) died: Notify,
    /// Told whenever the process had nothing to do and has again.
    pub(crate) woken: Notify,
    reports: Sender<Report>,
    /// Whether it stands still.
    stands: Mutex<bool>,
    goes_on: Condvar,
    database: Location,
}

#[derive(Default)]
pub(crate) struct Armed {
    pub(crate) trouble: Option<(Step, usize, Blow)>,
    /// A step at which the connection is lost, so that there is something to ask about.
    pub(crate) lost: Option<Step>,
    /// The fault that befalls the next steps.
    pub(crate) failing: Option<(With, usize)>,
    /// How many reads get through, and how many are lost then.
    pub(crate) reads: Option<(usize, usize)>,
    pub(crate) dead: bool,
    /// Rounds to be away or to stand still for.
    pub(crate) rounds: usize,
    /// What was left of a database file.
    pub(crate) left: Option<PathBuf>,
}

impl Hook {
    pub(crate) fn new(process: usize, reports: Sender<Report>, database: Location) -> Hook {
        Hook {
            process,
            armed: Mutex::default(),
            died: Notify::new(),
            woken: Notify::new(),
            reports,
            stands: Mutex::new(false),
            goes_on: Condvar::new(),
            database,
        }
    }

    pub(crate) fn at(&self, step: Step) -> Action {
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

    /// Whether the connection of a read goes away.
    pub(crate) fn loses(&self) -> bool {
        let mut armed = self.armed.lock().unwrap();
        match armed.reads {
            None => false,
            Some((0, times)) => {
                armed.reads = (times > 1).then_some((0, times - 1));
                LOST.fetch_add(1, Ordering::Relaxed);
                true
            }
            Some((after, times)) => {
                armed.reads = Some((after - 1, times));
                false
            }
        }
    }

    /// Lets the process die where all its tasks happen to wait: with one thread, every other one does whenever this one has
    /// its turn.
    pub(crate) async fn drop_after(&self, wakeups: usize, turns: usize, away: usize) {
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

    pub(crate) fn go_on(&self) {
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

/// How many reads were lost, in all runs.
static LOST: AtomicUsize = AtomicUsize::new(0);

/// How many reads were lost.
pub(crate) fn lost() -> usize {
    LOST.load(Ordering::Relaxed)
}

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

/// Lets others go first, so many times.
pub(crate) async fn pass(times: usize) {
    for _ in 0..16 * times {
        tokio::task::yield_now().await;
    }
}

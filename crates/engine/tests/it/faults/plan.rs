//! What happens in a run, drawn from its seed.
//!
//! A plan says nothing about states: a client that is to go on from an older revision is given a number, and makes of it
//! one that it knows. So the same seed gives the same plan, however the run went.

use lmlang_engine::SnapshotPolicy;
use lmlang_store::Step;
use lmlang_testkit::Choices;

/// A whole run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Processes that share the database.
    pub(crate) processes: usize,
    pub(crate) clients: usize,
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) rounds: Vec<Round>,
}

/// What happens at the same time.
#[derive(Debug)]
pub(crate) struct Round {
    /// By process.
    pub(crate) troubles: Vec<Trouble>,
    /// By client.
    pub(crate) works: Vec<Work>,
    /// Seconds that the clocks are ahead of time from now on, by process.
    pub(crate) ahead: Vec<Option<i64>>,
}

/// What a client does in a round, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Whom it asks.
    pub(crate) process: usize,
    pub(crate) asks: Vec<Ask>,
    /// Whether what is known to have failed is asked again.
    pub(crate) persists: bool,
}

/// Something to ask for, with numbers of which its particulars are made.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) what: What,
    pub(crate) numbers: [usize; 6],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// A function of its own.
    Add,
    /// Another text for a function that everybody changes.
    Replace,
    Undo,
    Redo,
    Revert,
    Checkpoint,
    Restore,
    Branch,
    Merge,
    /// A branch or a checkpoint is not to be there any more.
    Forget,
    /// Another program.
    Create,
    /// One of those is not to be there any more.
    Delete,
    /// A note, joined to what all notes are joined to.
    Write,
    /// A note is not to be there any more.
    Erase,
    /// A run of a flow.
    Run,
}

/// What a process goes through in a round.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    None,
    /// Something befalls it when it has passed a step so many times.
    At {
        step: Step,
        after: usize,
        blow: Blow,
    },
    /// It is closed while its clients still ask, once they have got so far.
    Closed {
        after: usize,
    },
    /// The connections of so many reads go away, when so many have got through.
    Reads {
        after: usize,
        times: usize,
    },
    /// It is gone, wherever each of its tasks waits, when it was woken so many times and the tasks have taken so many turns
    /// since; it is started again so many rounds later.
    Dropped {
        wakeups: usize,
        turns: usize,
        away: usize,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Blow {
    /// The process is gone; it is started again so many rounds later.
    Dies { away: usize },
    /// So many steps fail.
    Fails { with: With, times: usize },
    /// The step takes long: others get so far meanwhile.
    Takes { long: usize },
    /// The process stands still, for so many rounds after this one.
    Stands { rounds: usize },
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum With {
    DiskFull,
    Busy,
    ReadOnly,
    ConnectionLost,
    Device,
}

impl With {
    /// Whether it leaves open if the step was taken; the others can come before a commit only.
    pub(crate) fn leaves_open(self) -> bool {
        matches!(self, With::ConnectionLost | With::Device)
    }
}

/// Clocks go wrong by these many seconds: an hour, years, and to before all entries.
pub(crate) const AHEAD: [i64; 6] = [0, 3_600, -3_600, 86_400 * 4_000, -86_400 * 4_000, 1];

/// How often a process is woken in a round, about: by its database and its timers.
const WAKEUPS: usize = 24;

/// Turns that tasks take one after the other when one of them is woken, about.
const TURNS: usize = 8;

/// Reads of a process in a round, about.
const READS: usize = 40;

/// Relative weights.
const WHATS: [(What, usize); 15] = [
    (What::Add, 10),
    (What::Replace, 6),
    (What::Undo, 6),
    (What::Redo, 3),
    (What::Revert, 3),
    (What::Checkpoint, 2),
    (What::Restore, 2),
    (What::Branch, 3),
    (What::Merge, 6),
    (What::Forget, 1),
    (What::Create, 2),
    (What::Delete, 1),
    (What::Write, 3),
    (What::Erase, 1),
    (What::Run, 2),
];

impl Plan {
    /// A plan for a database that one process uses, or several.
    pub(crate) fn draw(seed: u64, alone: bool) -> Plan {
        let mut choices = Choices::seeded(seed);
        let processes = if alone { 1 } else { 2 + choices.below(2) };
        let clients = 2 + choices.below(3);
        let entries = [2, 5, 64][choices.below(3)];
        let snapshots = SnapshotPolicy { entries, bytes: u64::MAX, share: 0 };
        let rounds = 3 + choices.below(5);
        let rounds = (0..rounds).map(|_| Round::draw(&mut choices, processes, clients)).collect();
        Plan { processes, clients, snapshots, rounds }
    }
}

impl Round {
    fn draw(choices: &mut Choices, processes: usize, clients: usize) -> Round {
        let troubles = (0..processes).map(|_| Trouble::draw(choices, processes == 1)).collect();
        let works = (0..clients).map(|_| Work::draw(choices, processes)).collect();
        let ahead = |_| choices.chance(20).then(|| *choices.pick(&AHEAD).expect("there are some"));
        Round { troubles, works, ahead: (0..processes).map(ahead).collect() }
    }
}

impl Work {
    fn draw(choices: &mut Choices, processes: usize) -> Work {
        let asks = (0..1 + choices.below(3)).map(|_| Ask::draw(choices)).collect();
        Work { process: choices.below(processes), asks, persists: !choices.chance(25) }
    }
}

impl Ask {
    fn draw(choices: &mut Choices) -> Ask {
        let mut weight = choices.below(WHATS.iter().map(|(_, weight)| weight).sum());
        let what = WHATS.iter().find(|(_, of)| {
            let found = weight < *of;
            weight = weight.saturating_sub(*of);
            found
        });
        let what = what.expect("the weights add up").0;
        Ask { what, numbers: std::array::from_fn(|_| choices.number() as usize) }
    }
}

impl Trouble {
    fn draw(choices: &mut Choices, alone: bool) -> Trouble {
        let step = *choices.pick(&Step::ALL).expect("there are some");
        // In a round there are many appends, and few of what is between the other steps.
        let often = matches!(step, Step::BeforeInsert | Step::AfterCommit | Step::BeforeAck);
        let after = choices.below(if often { 3 } else { 1 });
        let blow = match choices.below(if alone { 12 } else { 14 }) {
            0 => return Trouble::None,
            1 => return Trouble::Closed { after: 1 + choices.below(40) },
            2 | 3 => Blow::Dies { away: choices.below(2) },
            4 => Blow::Takes { long: 1 + choices.below(60) },
            5..8 => return Trouble::failure(choices, after),
            8 | 9 => {
                let (wakeups, turns) = (choices.below(WAKEUPS), choices.below(TURNS));
                return Trouble::Dropped { wakeups, turns, away: choices.below(2) };
            }
            10 | 11 => {
                return Trouble::Reads { after: choices.below(READS), times: 1 + choices.below(5) };
            }
            _ => Blow::Stands { rounds: choices.below(2) },
        };
        Trouble::At { step, after, blow }
    }

    fn failure(choices: &mut Choices, after: usize) -> Trouble {
        use Step::{AfterBackground, AfterCommit, BeforeAck, BeforeBackground, BeforeCommit, BeforeInsert};
        const BEFORE: [Step; 3] = [BeforeInsert, BeforeCommit, BeforeBackground];
        const ALL: [Step; 6] =
            [BeforeInsert, AfterCommit, BeforeCommit, BeforeAck, BeforeBackground, AfterBackground];
        const WITH: [With; 5] =
            [With::ConnectionLost, With::DiskFull, With::Busy, With::ReadOnly, With::Device];
        let with = *choices.pick(&WITH).expect("there are some");
        let steps: &[Step] = if with.leaves_open() { &ALL } else { &BEFORE };
        let step = *choices.pick(steps).expect("there are some");
        Trouble::At { step, after, blow: Blow::Fails { with, times: 1 + choices.below(4) } }
    }
}

//! What becomes of a part of a backup in a database, and why it cannot be there.

use std::fmt;

use uuid::Uuid;

use crate::backup::parts::Part;

/// What is done with a program, or with what belongs to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is made.
    Made,
    /// What is missing is added.
    Continued,
    /// Nothing: all of it is there.
    Kept,
}

/// Why a program cannot be stored, or what belongs to none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its log has gone another way here.
    Diverged {
        /// Its name in the backup.
        program: String,
        /// The first entry that is another one here.
        entry: u64,
    },
    /// It was renamed, changed or deleted here, and in other ways in the backup.
    Changed {
        /// Its name in the backup.
        program: String,
    },
    /// It was deleted here, and the backup has more of it.
    Deleted {
        /// Its name in the backup.
        program: String,
    },
    /// Another live program has its name.
    NameTaken {
        /// The name.
        name: String,
        /// That program.
        by: Uuid,
    },
    /// An idempotency key under which it was renamed or deleted is another program's here.
    KeyTaken {
        /// Its name in the backup.
        program: String,
    },
    /// What belongs to no program was changed in another way here.
    PartDiverged {
        /// What it is.
        part: Part,
        /// The number of the first change that is another one here.
        change: u64,
    },
}

/// All that cannot be stored of a backup: at least something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", listed(.0))]
pub struct Refused(pub Vec<Refusal>);

fn listed(refusals: &[Refusal]) -> String {
    let all: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
    all.join("; ")
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { program, entry } => {
                write!(f, "program `{program}` has gone another way here: r{entry} is another one")
            }
            Self::Changed { program } => {
                write!(f, "program `{program}` was renamed or deleted here, and in another way in the backup")
            }
            Self::Deleted { program } => {
                write!(f, "program `{program}` was deleted here, and the backup has more of it")
            }
            Self::NameTaken { name, by } => write!(f, "another program is called `{name}` here: {by}"),
            Self::KeyTaken { program } => {
                write!(f, "an idempotency key of program `{program}` is another program's here")
            }
            Self::PartDiverged { part, change } => {
                write!(f, "{part} went another way here: change {change} is another one")
            }
        }
    }
}

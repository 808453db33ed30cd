//! What became of a candidate as a dry run, without its program: a tournament that nobody looks at keeps none open.

use std::sync::Arc;

use lmlang_ir::Ref;

use crate::conflict::Conflict;
use crate::edits::{Applied, Outcome, Rebased, Rejected};
use crate::engine::OpenProgram;
use crate::timeline::Revision;

/// What became of a candidate.
#[derive(Clone, Debug)]
pub enum Tried {
    /// It can be applied.
    Applied(Change),
    /// The edits or their result have errors.
    Rejected(Box<Rejected>),
    /// Others have changed what it changes or reads.
    Conflict(Conflict),
}

/// What a candidate changes.
#[derive(Clone, Debug)]
pub struct Change {
    /// Whether that is nothing.
    pub unchanged: bool,
    /// What has happened since the revision that the caller saw.
    pub rebased_over: Rebased,
    /// The revision that it was applied to.
    pub before: Arc<Revision>,
    /// The state that it led to.
    pub after: Arc<Revision>,
    /// What was made, with the names that the request gave.
    pub created: Vec<(Option<String>, Ref)>,
}

impl Tried {
    /// The same as the outcome of a dry run on its program, which may have been opened again since.
    pub fn on(self, program: &OpenProgram) -> Outcome {
        match self {
            Tried::Applied(Change { unchanged, rebased_over, before, after, created }) => {
                let program = program.clone();
                Outcome::Applied(Applied {
                    program,
                    committed: false,
                    unchanged,
                    rebased_over,
                    before,
                    after,
                    created,
                })
            }
            Tried::Rejected(rejected) => Outcome::Rejected(rejected),
            Tried::Conflict(conflict) => Outcome::Conflict(conflict),
        }
    }
}

impl From<Outcome> for Tried {
    fn from(outcome: Outcome) -> Tried {
        match outcome {
            Outcome::Applied(applied) => {
                // It is a dry run.
                let Applied { program: _, committed: _, unchanged, rebased_over, before, after, created } =
                    applied;
                Tried::Applied(Change { unchanged, rebased_over, before, after, created })
            }
            Outcome::Rejected(rejected) => Tried::Rejected(rejected),
            Outcome::Conflict(conflict) => Tried::Conflict(conflict),
        }
    }
}

//! Undo and redo along a branch: a stack of states, as in any editor.
//!
//! Every entry that makes a state pushes it. An undo goes back to an older state of the stack and keeps the newer ones for
//! redo; a redo goes forward again; an entry that makes a state ends what could be redone. Restores, reverts and merges
//! make states, so they are undoable; checkpoints and branches make none. The log itself only grows: an undo is an entry
//! whose content is the older one's.

use std::ops::RangeInclusive;

use imbl::Vector;
use thiserror::Error;

use self::runs::Runs;
use crate::log::{Header, RevisionKind};

mod runs;

/// The undo and redo stacks of one branch. A clone costs O(1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Numbers of the entries whose states can be gone back to, oldest first; the last one is the head's content.
    states: Runs,
    /// Numbers of the entries whose states were undone, the newest first undone last.
    undone: Vector<u64>,
}

/// What an entry means to the line: its number, kind and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the entry.
    pub number: u64,
    /// What it did.
    pub kind: RevisionKind,
    /// What it went back to, for an undo and a redo: the number of the entry that made the state.
    pub target: Option<u64>,
}

impl Header {
    /// What the entry means to the line of its branch.
    pub fn step(&self) -> Step {
        Step { number: self.number, kind: self.kind, target: self.target }
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// That many states.
    Steps(u64),
    /// To the state that an entry made.
    To(u64),
}

/// Where an undo or a redo leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Travel {
    /// The entry whose state becomes the content of the head.
    pub target: u64,
    /// The entries whose states are undone or redone, in the order in which that happens.
    pub passed: Vec<u64>,
}

/// Why there is nothing to undo or redo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NothingToDo {
    /// The branch has one state only.
    #[error("there is nothing to undo")]
    Undo,
    /// Nothing was undone since the last change.
    #[error("there is nothing to redo")]
    Redo,
    /// Fewer states than were asked for.
    #[error("{asked} steps were asked for, {available} can be taken")]
    TooFar {
        /// Steps that were asked for.
        asked: u64,
        /// Steps that can be taken.
        available: u64,
    },
    /// A distance of no step.
    #[error("no step was asked for")]
    NoStep,
    /// The head is there already.
    #[error("the head is at r{0} already")]
    Here(u64),
    /// The state is not one that can be gone to this way.
    #[error("r{0} is not on the line; a checkpoint of it can be restored")]
    OffTheLine(u64),
}

/// An entry that does not fit the line: the log is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// An undo or redo without a target.
    #[error("r{0} has no target")]
    NoTarget(u64),
    /// An undo or redo to a state that could not be gone to.
    #[error("r{number} goes to r{target}, which is not on the line")]
    OffTheLine {
        /// The entry.
        number: u64,
        /// Its target.
        target: u64,
    },
}

impl Line {
    /// The line of a branch before its first entry.
    pub fn new() -> Line {
        Line::default()
    }

    /// The line after all entries of a branch, in order.
    pub fn replay(steps: impl IntoIterator<Item = Step>) -> Result<Line, LineError> {
        let mut line = Line::new();
        steps.into_iter().try_for_each(|step| line.push(step))?;
        Ok(line)
    }

    /// A line by its two stacks, as [`Line::stacks`] showed them.
    pub fn from_stacks(
        states: impl IntoIterator<Item = RangeInclusive<u64>>,
        undone: impl IntoIterator<Item = u64>,
    ) -> Line {
        Line { states: Runs::of(states), undone: undone.into_iter().collect() }
    }

    /// The entries whose states can be gone back to, oldest first, and those that were undone, the last undone last.
    /// Numbers rise in the first, which is in runs without a gap, and fall in the second.
    pub fn stacks(
        &self,
    ) -> (impl Iterator<Item = RangeInclusive<u64>> + '_, impl DoubleEndedIterator<Item = u64> + '_) {
        (self.states.ranges(), self.undone.iter().copied())
    }

    /// Takes the next entry in. Costs O(1), an undo or redo as much as it passes. The line is unchanged on an error.
    pub fn push(&mut self, step: Step) -> Result<(), LineError> {
        match step.kind {
            RevisionKind::Create
            | RevisionKind::Edit
            | RevisionKind::Revert
            | RevisionKind::Restore
            | RevisionKind::Merge
            | RevisionKind::Import => {
                self.states.push(step.number);
                self.undone.clear();
                Ok(())
            }
            RevisionKind::Checkpoint | RevisionKind::Branch => Ok(()),
            RevisionKind::Undo => {
                let passed = self.passed(step, |line, to| line.undo(to))?;
                self.states.truncate(self.states.len() - passed.len());
                self.undone.extend(passed);
                Ok(())
            }
            RevisionKind::Redo => {
                let passed = self.passed(step, |line, to| line.redo(to))?;
                self.undone.truncate(self.undone.len() - passed.len());
                passed.into_iter().for_each(|state| self.states.push(state));
                Ok(())
            }
        }
    }

    fn passed(
        &self,
        step: Step,
        travel: impl Fn(&Line, Distance) -> Result<Travel, NothingToDo>,
    ) -> Result<Vec<u64>, LineError> {
        let Step { number, target, .. } = step;
        let target = target.ok_or(LineError::NoTarget(number))?;
        let travel = travel(self, Distance::To(target));
        Ok(travel.map_err(|_| LineError::OffTheLine { number, target })?.passed)
    }

    /// The entry that made the state of the head; `None` before the first.
    pub fn state(&self) -> Option<u64> {
        self.states.last()
    }

    /// The line of a new branch that starts at this one's head: what came before can be undone on it too.
    pub fn branch_off(&self) -> Line {
        Line { states: self.states.clone(), undone: Vector::new() }
    }

    /// How many states can be undone.
    pub fn undoable(&self) -> u64 {
        (self.states.len() as u64).saturating_sub(1)
    }

    /// How many states can be redone.
    pub fn redoable(&self) -> u64 {
        self.undone.len() as u64
    }

    /// Tells whether an entry made a state that the head's content builds on.
    pub fn holds(&self, number: u64) -> bool {
        self.states.position(number).is_some()
    }

    /// Where an undo would lead.
    pub fn undo(&self, distance: Distance) -> Result<Travel, NothingToDo> {
        let available = self.undoable();
        let steps = match distance {
            Distance::Steps(_) if available == 0 => return Err(NothingToDo::Undo),
            Distance::Steps(steps) => steps,
            Distance::To(target) if self.state() == Some(target) => return Err(NothingToDo::Here(target)),
            Distance::To(target) => {
                let at = self.states.position(target).ok_or(NothingToDo::OffTheLine(target))?;
                available - at as u64
            }
        };
        let passed = take(self.states.falling(), steps, available)?;
        let target = self.states.get(self.states.len() - 1 - passed.len());
        Ok(Travel { target: target.ok_or(NothingToDo::Undo)?, passed })
    }

    /// Where a redo would lead.
    pub fn redo(&self, distance: Distance) -> Result<Travel, NothingToDo> {
        let available = self.redoable();
        let steps = match distance {
            Distance::Steps(_) if available == 0 => return Err(NothingToDo::Redo),
            Distance::Steps(steps) => steps,
            Distance::To(target) if self.state() == Some(target) => return Err(NothingToDo::Here(target)),
            Distance::To(target) => {
                // Newer states were undone first, so that numbers fall.
                let at = self.undone.binary_search_by(|state| target.cmp(state));
                available - at.map_err(|_| NothingToDo::OffTheLine(target))? as u64
            }
        };
        let passed = take(self.undone.iter().rev().copied(), steps, available)?;
        match passed.last() {
            Some(target) => Ok(Travel { target: *target, passed }),
            None => Err(NothingToDo::Redo),
        }
    }
}

/// The first `steps` of so many states that can be taken.
fn take(states: impl Iterator<Item = u64>, steps: u64, available: u64) -> Result<Vec<u64>, NothingToDo> {
    if steps == 0 {
        return Err(NothingToDo::NoStep);
    }
    if steps > available {
        return Err(NothingToDo::TooFar { asked: steps, available });
    }
    Ok(states.take(steps as usize).collect())
}

#[cfg(test)]
mod tests;

//! How the process ends: one table, printed by `lmlang help exit-codes`.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Success,
    /// It was tried and failed.
    Failure,
    /// The command line or the settings cannot be right.
    Usage,
    /// What was named is not there.
    NotFound,
    /// The caller may not do this.
    Denied,
    /// Somebody else was first: a change that collides, a moved head, a taken name, a database in use.
    Conflict,
    /// A program has errors.
    Verification,
    /// Nothing happens before somebody agrees.
    Approval,
    /// A test case does not hold.
    Cases,
    /// There was nothing to do, and nothing was done.
    Nothing,
    /// A fault of lmlang.
    Panic,
    /// The time ran out.
    TimeOut,
    /// Somebody stopped it.
    Interrupted,
    /// A program that was run ended itself, with this status.
    OfProgram(u8),
}

impl Exit {
    /// All ways of the command itself to end, by number.
    pub(crate) const ALL: [Exit; 13] = [
        Exit::Success,
        Exit::Failure,
        Exit::Usage,
        Exit::NotFound,
        Exit::Denied,
        Exit::Conflict,
        Exit::Verification,
        Exit::Approval,
        Exit::Cases,
        Exit::Nothing,
        Exit::Panic,
        Exit::TimeOut,
        Exit::Interrupted,
    ];

    /// How the process ends when a program ended itself. None of its failures becomes a success.
    pub(crate) fn of_program(status: u32) -> Exit {
        Exit::OfProgram(u8::try_from(status).unwrap_or(u8::MAX))
    }

    /// The number that the caller sees.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Denied => 4,
            Exit::Conflict => 5,
            Exit::Verification => 6,
            Exit::Approval => 7,
            Exit::Cases => 8,
            Exit::Nothing => 9,
            Exit::Panic => 101,
            Exit::TimeOut => 124,
            Exit::Interrupted => 130,
            Exit::OfProgram(status) => status,
        }
    }

    /// What it means, in words.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Exit::Success => "done",
            Exit::Failure => "failed; for `run` also: the program trapped or violated a contract",
            Exit::Usage => "the command line or the settings cannot be right",
            Exit::NotFound => {
                "what was named is not there: a program, revision, function, test case, entity, run, question, topic"
            }
            Exit::Denied => "the caller may not do this",
            Exit::Conflict => {
                "two changes collide, the head has moved, a name is taken, or another process holds the database"
            }
            Exit::Verification => "a program has errors",
            Exit::Approval => "waits for somebody's approval",
            Exit::Cases => "for `test`: a test case is red or stale",
            Exit::Nothing => "there was nothing to do: to undo, redo, revert, restore, merge, stop or set",
            Exit::Panic => "a fault of lmlang",
            Exit::TimeOut => "the time ran out",
            Exit::Interrupted => "interrupted",
            Exit::OfProgram(_) => "for `run`: what the program ended itself with; 255 for more",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// CUE-79: the numbers that shells and others know, and 101, with which a process ends that panics.
    #[test]
    fn cue_79_each_way_to_end_has_a_number_of_its_own() {
        let known = [Exit::Success, Exit::Failure, Exit::Usage, Exit::Panic, Exit::Interrupted];
        assert_eq!(known.map(Exit::number), [0, 1, 2, 101, 130]);
        let numbers: BTreeSet<u8> = Exit::ALL.into_iter().map(Exit::number).collect();
        assert_eq!(numbers.len(), Exit::ALL.len());
    }
}

//! Commands about several files: what cannot be done with one of them is told, and the others come all the same.

use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// What could not be done so far.
pub(crate) struct Failures {
    output: Output,
    first: Option<Exit>,
}

impl Failures {
    /// None so far.
    pub(crate) fn new(output: Output) -> Failures {
        Failures { output, first: None }
    }

    /// What was done with one of the files; where it could not be, why is told.
    pub(crate) fn past<T>(&mut self, done: Result<T, Error>) -> Option<T> {
        match done {
            Ok(done) => Some(done),
            Err(error) => {
                report(&error, self.output);
                self.first = self.first.or(Some(error.exit()));
                None
            }
        }
    }

    /// How the first one has the command end.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.first
    }
}

//! Is there an input that breaks a function? And what do the inputs that there are leave out?
//!
//! A [`Checker`] makes inputs of the types of a function's parameters, runs them, keeps those that reach something new,
//! and makes the first one that fails smaller. A [`Difference`] does the same with two programs, for an input on which
//! they do not do the same. [`Uncovered`] tells which nodes no input of a list reaches, [`Mutation`] how many small
//! changes of a function a list of inputs notices.
//!
//! All of them are driven in slices, between which the caller looks at clocks and cancellation, and are functions of the
//! program, the inputs, the options and a seed: there is no clock, chance, thread or IO in here, and what is known of
//! programs comes from `ir`, `verify` and `interp` alone. This crate does not know what becomes of what it finds (tests,
//! cases, revisions), nor values beyond those that a run takes: types are known at run time only, which is why no
//! library for the types of Rust fits.
//!
//! Read `shapes` and `parts` (what values there are, and what they consist of), `pool`, `scalars`, `generate` and
//! `mutate` (making them, by `random` numbers), `distance` (how far they are from what is demanded), `search` (which one
//! is next), `verdict` and `probe` (running them), `branches` (coverage), `simpler` and `shrink` (making them smaller),
//! then `refusal` and `checker`, `behaviour`, `stdin` and `difference`, `uncovered`, and `mutants` with `mutation`.

#![forbid(unsafe_code)]

mod behaviour;
mod branches;
mod checker;
mod difference;
mod distance;
mod generate;
mod mutants;
mod mutate;
mod mutation;
mod parts;
mod pool;
mod probe;
mod random;
mod refusal;
mod scalars;
mod search;
mod shapes;
mod shrink;
mod simpler;
mod stdin;
mod subjects;
#[cfg(test)]
mod tests;
mod uncovered;
mod verdict;

pub use behaviour::Distinction;
pub use branches::Coverage;
pub use checker::{Checker, Counterexample, Ending, Options, Progress, State, undecided};
pub use difference::{Difference, DifferenceProgress, Differing};
pub use mutants::Change;
pub use mutation::{Mutation, MutationOptions, Score, Survivor};
pub use refusal::Refusal;
pub use shapes::{MOST_PARTS, NoValue};
pub use shrink::MOST_SHRINK_RUNS;
pub use subjects::{subjects, subjects_among, subjects_calling};
pub use uncovered::{Given, Uncovered};
pub use verdict::{Failure, Undecided};

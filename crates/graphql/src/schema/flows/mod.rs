//! Durable runs of flows: what can be run, what runs, what it asks, and what it left behind.
//!
//! Read [`flow`] for definitions and [`registering`] for those that are declared, [`run`] for runs and [`step`] for what happened in one, [`interrupt`] for questions and
//! answers, [`session`], [`span`], [`metrics`], then [`steering`] and [`turn`] for the mutations and [`event`] for the subscription.

pub mod event;
pub mod flow;
pub mod interrupt;
pub mod metrics;
mod places;
pub mod registering;
pub mod run;
pub mod session;
pub mod span;
pub mod steering;
pub mod step;
pub mod turn;

use uuid::Uuid;

use crate::error::ApiError;
use crate::schema::ids::GlobalId;
use crate::schema::view::not_found;

/// The run that an id names; its letter may be left out.
pub(crate) fn run_id(given: &str) -> Result<Uuid, ApiError> {
    match lettered(given, "R-") {
        Some(GlobalId::Run(id)) => Ok(id),
        Some(_) | None => Err(not_found("run", given)),
    }
}

/// The run and the entry of the question that an id names; its letter may be left out.
pub(crate) fn interrupt_id(given: &str) -> Result<(Uuid, u64), ApiError> {
    match lettered(given, "R-") {
        Some(GlobalId::Interrupt(run, asked)) => Ok((run, asked)),
        Some(_) | None => Err(not_found("interrupt", given)),
    }
}

/// The session that an id names; its letter may be left out.
pub(crate) fn session_id(given: &str) -> Result<Uuid, ApiError> {
    match lettered(given, "T-") {
        Some(GlobalId::Session(id)) => Ok(id),
        Some(_) | None => Err(not_found("session", given)),
    }
}

/// What an id names that is to begin with a letter. Where only one kind of things can be meant, the letter says nothing new.
fn lettered(given: &str, letter: &str) -> Option<GlobalId> {
    match given.starts_with(letter) {
        true => given.parse().ok(),
        false => format!("{letter}{given}").parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_of_an_id_may_be_left_out() {
        let p = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        let id: Uuid = p.parse().expect("a uuid");
        for given in [p.to_owned(), format!("R-{p}")] {
            assert_eq!(run_id(&given).expect("a run"), id);
            assert_eq!(interrupt_id(&format!("{given}/9")).expect("a question"), (id, 9));
        }
        for given in [p.to_owned(), format!("T-{p}")] {
            assert_eq!(session_id(&given).expect("a session"), id);
        }
        for given in ["", "R-", "R-R-", "x", &format!("T-{p}"), &format!("{p}/9"), &format!("{p}@r1")] {
            assert!(run_id(given).is_err(), "{given}");
        }
        for given in [p, &format!("R-{p}"), &format!("{p}/f7"), &format!("T-{p}/9")] {
            assert!(interrupt_id(given).is_err(), "{given}");
        }
        assert!(session_id(&format!("R-{p}")).is_err());
    }
}

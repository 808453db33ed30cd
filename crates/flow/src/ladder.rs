//! What becomes of a failure: tried again, answered by a person, or the end.

use serde::{Deserialize, Serialize};

use crate::state::Update;
use crate::step::{Ask, AskKind};

/// Why a node did not come to an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable code.
    pub code: String,
    /// What went wrong, in words.
    pub message: String,
    /// The tool or service that said so; the node itself otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A digest of what that was asked, so that the same failure is known again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Whether it may go away by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
    /// For how long it was asked not to try again, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<i64>,
}

/// How a failure relates to those before it in the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The first of its kind.
    New,
    /// It may go away by itself.
    Random,
    /// The same tool has failed alike on the same arguments, or in the same words where it has none: trying
    /// again changes nothing.
    Identical,
    /// It has failed alike on other arguments: the plan is wrong, not its words.
    Systematic,
}

/// What becomes of a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Remedy {
    /// The node is tried again.
    Retry {
        /// Not before this time, in microseconds of UTC.
        at: i64,
        /// The attempt that it is then: the same one after a transient failure.
        attempt: u32,
    },
    /// Somebody decides.
    Ask(Box<Ask>),
    /// The run goes on without it, at another node.
    Next {
        /// The node.
        node: String,
        /// What the run carries of the failure.
        update: Update,
    },
    /// The run has failed.
    Stop,
}

/// How often a failure that may go away by itself is waited out in one step.
pub const TRANSIENT_RETRIES: usize = 5;

/// The first pause, in microseconds; each further one is twice as long.
const PAUSE: i64 = 250_000;

/// The longest pause, in microseconds.
const LONGEST_PAUSE: i64 = 60_000_000;

/// The code of an effect of which nobody knows whether it has happened: never tried again without a person's word.
pub const IN_DOUBT: &str = "EFFECT_IN_DOUBT";

/// The code of an attempt that has worked for longer than its node may.
pub const LATE: &str = "ATTEMPT_TIMEOUT";

/// What is offered when a node has failed for good.
pub const CHOICES: [&str; 2] = ["retry", "stop"];

/// Judges a failure by those before it in the same step.
#[must_use]
pub fn classify(before: &[Failure], failure: &Failure) -> Class {
    if failure.transient {
        return Class::Random;
    }
    if before.iter().any(|other| alike(other, failure)) {
        return Class::Identical;
    }
    if before.iter().any(|other| !other.transient && other.code == failure.code) {
        return Class::Systematic;
    }
    Class::New
}

fn alike(one: &Failure, other: &Failure) -> bool {
    // What a tool without arguments was asked follows from the state, which is the same in every attempt.
    let of_state = one.tool.is_some() && one.message == other.message;
    one.code == other.code
        && one.tool == other.tool
        && one.arguments == other.arguments
        && (one.arguments.is_some() || of_state)
}

/// Decides what becomes of a failure in an attempt of a node that may be tried so often.
#[must_use]
pub fn remedy(
    node: &str,
    before: &[Failure],
    failure: &Failure,
    attempt: u32,
    attempts: u32,
    now: i64,
) -> (Class, Remedy) {
    let class = classify(before, failure);
    let again = |attempt| Remedy::Retry { at: now, attempt };
    let remedy = match class {
        Class::New if failure.code == IN_DOUBT => escalate(node, failure, class, before.len() + 1),
        Class::Random => {
            let waited = before.iter().filter(|other| other.transient).count();
            if waited >= TRANSIENT_RETRIES {
                return (class, escalate(node, failure, class, waited + 1));
            }
            let doubled = PAUSE.saturating_mul(1 << waited.min(20));
            let pause = failure.retry_after.unwrap_or(doubled).clamp(0, LONGEST_PAUSE);
            Remedy::Retry { at: now.saturating_add(pause), attempt }
        }
        // One failure of the kind before this one was the reason for the attempt that has now failed.
        Class::Systematic if before.iter().filter(|other| other.code == failure.code).count() > 1 => {
            escalate(node, failure, class, before.len() + 1)
        }
        Class::Identical => {
            let before = before.iter().filter(|other| alike(other, failure)).count();
            escalate(node, failure, class, before + 1)
        }
        Class::New | Class::Systematic if attempt < attempts => again(attempt + 1),
        Class::New | Class::Systematic => escalate(node, failure, class, before.len() + 1),
    };
    (class, remedy)
}

fn escalate(node: &str, failure: &Failure, class: Class, times: usize) -> Remedy {
    let how = match class {
        Class::New | Class::Systematic => "",
        Class::Random => ", although it was waited for",
        Class::Identical => ", each time alike",
    };
    let tries = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    let question = format!("`{node}` failed {tries}{how}: {} ({}). Go on?", failure.message, failure.code);
    Remedy::Ask(Box::new(Ask {
        kind: AskKind::Escalation,
        question,
        choices: CHOICES.map(str::to_owned).to_vec(),
        expires: None,
        otherwise: None,
        into: None,
        subject: None,
    }))
}

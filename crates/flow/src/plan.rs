//! What may happen next in a run: entries that follow from those before them.

use serde_json::{Value, json};

use crate::answer::{AnswerError, Decision, Stale, fits};
use crate::branch::Position;
use crate::definition::{END, Fallback, NodeSpec, Reducer};
use crate::depth::{is_too_deep, shallow, too_deep};
use crate::entry::{Failed, Stepped, What};
use crate::interrupt::Settled;
use crate::ladder::{Class, Failure, IN_DOUBT, Remedy, remedy};
use crate::place::Place;
use crate::run::{Run, Task};
use crate::state::{StateError, Update};
use crate::step::{Ask, AskKind, Goto, Step};

/// Most branches that a run has at once, with those that have ended and whose join has not come.
pub const MOST_BRANCHES: usize = 1_024;

/// Why what a node answered is not taken: its code and its definition disagree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It goes where its definition does not lead.
    #[error("`{node}` may not lead to `{to}`")]
    Target {
        /// The node.
        node: String,
        /// Where it goes.
        to: String,
    },
    /// Its update does not fit the flow.
    #[error("what `{node}` changes does not fit: {error}")]
    Update {
        /// The node.
        node: String,
        /// Why.
        error: StateError,
    },
    /// A run has come to a node as often as it may.
    #[error("the run has come to `{node}` {most} times, which is the most")]
    Visits {
        /// The node.
        node: String,
        /// How often it may.
        most: u32,
    },
    /// A run would have more branches than it may.
    #[error("with those that `{node}` opens, the run has {found} branches, and it may have {MOST_BRANCHES}")]
    Branches {
        /// The node.
        node: String,
        /// How many there would be.
        found: usize,
    },
    /// It asks what the ladder asks, and takes the answer nowhere.
    #[error("the question of `{node}` has no channel for its answer")]
    Unheard {
        /// The node.
        node: String,
    },
    /// The branch is not at that node any more.
    #[error("the run has gone on without `{node}`")]
    Gone {
        /// The node.
        node: String,
    },
}

impl Refused {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Refused::Target { .. } => "FLOW_BAD_TARGET",
            Refused::Update { .. } => "FLOW_BAD_UPDATE",
            Refused::Visits { .. } => "FLOW_TOO_LONG",
            Refused::Branches { .. } => "FLOW_TOO_WIDE",
            Refused::Unheard { .. } => "FLOW_BAD_UPDATE",
            Refused::Gone { .. } => "FLOW_GONE",
        }
    }
}

impl Run {
    /// Whether a branch still stands where a task was taken from.
    #[must_use]
    pub fn stands(&self, task: &Task) -> bool {
        let same = |now: Task| {
            (&now.place, now.step, now.attempt, now.epoch)
                == (&task.place, task.step, task.attempt, task.epoch)
        };
        self.tasks().any(same)
    }

    /// The entry of a node that came to its end.
    ///
    /// # Errors
    ///
    /// See [`Refused`].
    pub fn finished(
        &self,
        task: &Task,
        mut step: Step,
        started: i64,
        effects: u32,
        now: i64,
    ) -> Result<What, Refused> {
        let node = || task.node.clone();
        let branch = self.branches.get(&task.place).filter(|_| self.stands(task));
        let branch = branch.ok_or_else(|| Refused::Gone { node: node() })?;
        let spec = self.flow().node(&task.node).ok_or_else(|| Refused::Gone { node: node() })?;
        if let Goto::Ask { ask, .. } = &mut step.goto {
            bound(spec, ask, now);
        }
        let named = step.goto.nodes().chain(matches!(step.goto, Goto::End).then_some(END));
        let mut coming: Vec<&str> = Vec::new();
        for to in named {
            if !spec.targets.iter().any(|target| target == to) {
                return Err(Refused::Target { node: node(), to: to.to_owned() });
            }
            coming.push(to);
        }
        for to in &coming {
            let most = self.flow().node(to).and_then(|node| node.visits);
            let come = self.visits.get(*to).copied().unwrap_or(0);
            let more = u32::try_from(coming.iter().filter(|other| *other == to).count()).unwrap_or(u32::MAX);
            if let Some(most) = most.filter(|most| come.saturating_add(more) > *most) {
                return Err(Refused::Visits { node: (*to).to_owned(), most });
            }
        }
        let update = |error| Refused::Update { node: node(), error };
        check_depth(&step).map_err(update)?;
        branch.state.check(self.flow(), &step.update).map_err(update)?;
        for name in step.goto.channels() {
            // An answer stands for the one before it.
            match self.flow().channel(name).map(|channel| channel.reducer) {
                Some(Reducer::Replace) => {}
                Some(Reducer::Append { .. } | Reducer::Sum | Reducer::Merge { .. }) => {
                    let (expected, found) = ("what is added to it", "an answer");
                    return Err(update(StateError::Misfit { channel: name.to_owned(), expected, found }));
                }
                None => return Err(update(StateError::UnknownChannel { channel: name.to_owned() })),
            }
        }
        if let Goto::Ask { ask, .. } = &step.goto
            && (ask.kind, &ask.into) == (AskKind::Escalation, &None)
        {
            return Err(Refused::Unheard { node: node() });
        }
        if let Goto::Fork { arms, .. } = &step.goto {
            let found = self.branches.len() + arms.len();
            if found > MOST_BRANCHES {
                return Err(Refused::Branches { node: node(), found });
            }
            for arm in arms {
                branch.state.check(self.flow(), &arm.given).map_err(update)?;
            }
        }
        Ok(What::Stepped(Stepped {
            place: task.place.clone(),
            node: node(),
            step: task.step,
            attempt: task.attempt,
            started,
            epoch: self.epoch(),
            effects,
            notes: shallow(step.notes),
            update: step.update,
            goto: step.goto,
        }))
    }

    /// The entry of a node that failed, with what becomes of that.
    #[must_use]
    pub fn failed(&self, task: &Task, failure: Failure, started: i64, effects: u32, now: i64) -> What {
        let spec = self.flow().node(&task.node);
        let attempts = spec.map_or(1, |node| node.attempts);
        let (class, mut remedy) =
            remedy(&task.node, self.failures(&task.place), &failure, task.attempt, attempts, now);
        let has_failed = matches!(remedy, Remedy::Ask(_));
        let next = spec.filter(|_| has_failed).and_then(|spec| self.fallback(spec, &failure));
        if let Some((node, update)) = next {
            remedy = Remedy::Next { node, update };
        }
        if let (Some(spec), Remedy::Ask(ask)) = (spec, &mut remedy) {
            bound(spec, ask, now);
        }
        What::Failed(Failed {
            place: task.place.clone(),
            node: task.node.clone(),
            step: task.step,
            attempt: task.attempt,
            started,
            epoch: self.epoch(),
            effects,
            failure,
            class,
            remedy,
        })
    }

    /// Where the run goes on when a node has failed for good, and what it carries of that: if the node says so, if the run may come
    /// there, and if it is known what has happened.
    pub(crate) fn fallback(&self, spec: &NodeSpec, failure: &Failure) -> Option<(String, Update)> {
        let Fallback { then, into } = spec.fallback.as_ref().filter(|_| failure.code != IN_DOUBT)?;
        let most = self.flow().node(then)?.visits;
        let come = self.visits.get(then).copied().unwrap_or(0);
        if most.is_some_and(|most| come >= most) {
            return None;
        }
        let told = json!({
            "code": failure.code, "message": failure.message, "node": spec.name, "tool": failure.tool,
        });
        let update = into.as_ref().map(|into| Update::none().with(into, told)).unwrap_or_default();
        Some((then.clone(), update))
    }

    /// The entry of a node whose failure nobody can help.
    #[must_use]
    pub fn broken(&self, task: &Task, failure: Failure, started: i64, effects: u32) -> What {
        What::Failed(Failed {
            place: task.place.clone(),
            node: task.node.clone(),
            step: task.step,
            attempt: task.attempt,
            started,
            epoch: self.epoch(),
            effects,
            failure,
            class: Class::New,
            remedy: Remedy::Stop,
        })
    }

    /// The entry of an answer to a question.
    ///
    /// # Errors
    ///
    /// See [`AnswerError`].
    pub fn answered(
        &self,
        asked: u64,
        decision: Decision,
        request: Option<String>,
    ) -> Result<What, AnswerError> {
        let Some(interrupt) = self.interrupt(asked) else {
            return Err(match self.settled(asked) {
                Some(Settled::Answered { entry, by, .. }) => {
                    AnswerError::Already { entry: *entry, by: by.clone() }
                }
                Some(Settled::Stale(why)) => AnswerError::Stale(*why),
                None => AnswerError::Unknown,
            });
        };
        if interrupt.ask.expires.is_some_and(|expires| expires <= decision.at) {
            return Err(AnswerError::Stale(Stale::Expired));
        }
        if self.overdue(decision.at).is_some() {
            return Err(AnswerError::Stale(Stale::Cancelled));
        }
        fits(&interrupt.ask, &decision.answer)?;
        Ok(What::Answered { asked, decision, request })
    }

    /// What is over by a time: the run, and its questions with it; or some of its questions.
    pub fn expired(&self, now: i64) -> impl Iterator<Item = What> {
        let overdue = self.overdue(now);
        let goes_on = overdue.is_none();
        let open = self.interrupts().filter(move |_| goes_on);
        let late = open.filter(move |of| of.ask.expires.is_some_and(|expires| expires <= now));
        overdue.into_iter().chain(late.map(|of| What::Expired { asked: of.asked }))
    }

    /// The entry of another run's end, if a branch waits for it.
    #[must_use]
    pub fn sub_ended(&self, place: &Place, result: Result<Value, Failure>) -> Option<What> {
        let waits = matches!(self.branches.get(place)?.position, Position::Sub { .. });
        let result = match result {
            Ok(value) if is_too_deep(&value) => Err(too_deep("the run")),
            result => result,
        };
        (waits && !self.has_ended()).then(|| What::SubEnded { place: place.clone(), result })
    }
}

/// Has a question wait no longer than its node says, unless it says so itself.
fn bound(spec: &NodeSpec, ask: &mut Ask, now: i64) {
    if let (Some(timeout), None) = (&spec.timeout, ask.expires) {
        ask.expires = Some(now.saturating_add(timeout.after));
        ask.otherwise.clone_from(&timeout.then);
    }
}

/// Whether what a step gives is nested no deeper than a run carries it.
fn check_depth(step: &Step) -> Result<(), StateError> {
    step.update.check_depth()?;
    match &step.goto {
        Goto::Fork { arms, .. } => arms.iter().try_for_each(|arm| arm.given.check_depth()),
        Goto::Sub { flow, input, .. } if is_too_deep(input) => {
            Err(StateError::TooDeep { what: format!("what `{flow}` is given") })
        }
        Goto::Next(_) | Goto::Ask { .. } | Goto::Sub { .. } | Goto::Wait { .. } | Goto::End => Ok(()),
    }
}

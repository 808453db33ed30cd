//! Why a node did not run.

use lmlang_interp::{Absence, MissedCall, WhyNot};
use lmlang_ir::NodeRef;
use serde_json::{Value as Json, json};

use super::{Answer, Session, line_of};

impl Session {
    /// Why a node did not run, with the steps that kept it from running.
    pub(super) fn absence(&self, node: NodeRef, found: &WhyNot) -> Answer {
        let program = self.program();
        let steps = self.steps(found.steps.clone());
        let (reason, step) = kind(found.absence);
        let call = |call: &MissedCall| {
            let (reason, step) = kind(call.absence);
            json!({
                "function": call.function.to_string(), "node": call.node.to_string(),
                "reason": reason, "step": step,
            })
        };
        let message = found.message(program, node);
        let json = json!({
            "ran": matches!(found.absence, Absence::Ran(_)),
            "reason": reason,
            "message": message,
            "step": step,
            "stopped": found.stopped.map(|at| json!({
                "function": at.function.to_string(),
                "node": at.node.map(|node| node.to_string()),
                "step": at.step,
            })),
            "steps": steps.json["steps"],
            "calls": found.calls.iter().map(call).collect::<Vec<Json>>(),
            "moreCalls": !found.is_complete,
        });
        let line = |call: &MissedCall| {
            let path = program.path(call.function.into());
            let (node, why) = (line_of(program, call.node), in_words(call.absence));
            format!("  {path}  {node}{}: {why}\n", self.place(Some(call.node)))
        };
        let calls: String = found.calls.iter().map(line).collect();
        let more = if found.is_complete { "" } else { "  and more\n" };
        Answer { text: format!("{message}\n{calls}{more}{}", steps.text), json }
    }
}

/// The reason as the API calls it, and its step.
fn kind(absence: Absence) -> (&'static str, Option<u64>) {
    match absence {
        Absence::Ran(step) => ("RAN", Some(step)),
        Absence::TurnedAway(step) => ("TURNED_AWAY", Some(step)),
        Absence::Stopped => ("STOPPED", None),
        Absence::NotCalled => ("NOT_CALLED", None),
        Absence::Unreachable => ("UNREACHABLE", None),
    }
}

/// The same of a call.
fn in_words(absence: Absence) -> String {
    match absence {
        Absence::Ran(step) => format!("ran as step {step}"),
        Absence::TurnedAway(step) => format!("turned away at step {step}"),
        Absence::Stopped => "the run stopped before".to_owned(),
        Absence::NotCalled => "not called either".to_owned(),
        Absence::Unreachable => "nothing leads there".to_owned(),
    }
}

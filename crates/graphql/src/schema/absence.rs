//! Why nodes of a simulation did not run.

use async_graphql::{Context, Enum, SimpleObject};
use lmlang_engine as engine;
use lmlang_interp as interp;
use lmlang_interp::Absence;
use lmlang_ir::text::{Detail, print_node};
use lmlang_ir::{FuncRef, NodeRef};

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::failure::fail;
use crate::schema::run_outcome::{FrameLocation, location};
use crate::schema::scalars::Count;
use crate::schema::simulation::Simulation;
use crate::schema::trace_page::{TraceStep, counted_steps};
use crate::schema::view::View;
use crate::transport::budget;

/// Why a node did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum WhyNotReason {
    /// It did run.
    Ran,
    /// Its function was called, and the run went another way, or trapped before it.
    TurnedAway,
    /// The run stopped before it came there: at a hole, a limit, or where it stands.
    Stopped,
    /// Its function was not called.
    NotCalled,
    /// Its function was not called, and nothing that the run begins with mentions it, or what mentions it.
    Unreachable,
}

/// Why a node did not run, or that it did.
#[derive(Clone, Debug, SimpleObject)]
pub struct WhyNot {
    /// The reason.
    reason: WhyNotReason,
    /// The same in words.
    message: String,
    /// The number of the step: where it did run, the first one; where the run was turned away, that of the decision.
    step: Option<Count>,
    /// Where the run stopped, if it did so on the way to the node, or to one of `calls`.
    stopped: Option<FrameLocation>,
    /// The steps that kept it, or the calls of its function, from running, as `whyNot` has them.
    pub(super) steps: Rows<TraceStep>,
    /// Where its function was not called: the calls of it, and, where the function of one was not called either, the calls of
    /// that one, the nearest first; 32 at most.
    calls: Vec<MissedCall>,
    /// Whether there are more of them.
    more_calls: bool,
}

/// A call that could have led to a node.
#[derive(Clone, Debug, SimpleObject)]
pub struct MissedCall {
    /// The function that it is written in.
    function: String,
    /// The call, or the node that makes a reference to the function.
    node: String,
    /// The node's text.
    text: String,
    /// Why it did not run. `RAN`: the reference was made, and never called, or the call did not come to its function.
    reason: WhyNotReason,
    /// The number of the step: where it did run, the first one; where the run was turned away, that of the decision.
    step: Option<Count>,
}

impl WhyNotReason {
    fn of(absence: Absence) -> (WhyNotReason, Option<Count>) {
        match absence {
            Absence::Ran(step) => (WhyNotReason::Ran, Some(Count(step))),
            Absence::TurnedAway(step) => (WhyNotReason::TurnedAway, Some(Count(step))),
            Absence::Stopped => (WhyNotReason::Stopped, None),
            Absence::NotCalled => (WhyNotReason::NotCalled, None),
            Absence::Unreachable => (WhyNotReason::Unreachable, None),
        }
    }
}

impl WhyNot {
    fn of(view: &View, node: NodeRef, found: &interp::WhyNot, steps: Rows<TraceStep>) -> WhyNot {
        let program = view.program();
        let (reason, step) = WhyNotReason::of(found.absence);
        let calls = found.calls.iter().map(|call| {
            let (reason, step) = WhyNotReason::of(call.absence);
            MissedCall {
                function: call.function.to_string(),
                node: call.node.to_string(),
                text: print_node(program, call.node, Detail::Summary),
                reason,
                step,
            }
        });
        WhyNot {
            reason,
            message: found.message(program, node),
            step,
            stopped: found.stopped.as_ref().map(|at| location(view, at)),
            steps,
            calls: calls.collect(),
            more_calls: !found.is_complete,
        }
    }

    /// Bytes of the text that it shows beside its steps.
    fn text_bytes(&self) -> u64 {
        let calls = self.calls.iter().map(|call| call.text.len() as u64);
        calls.sum::<u64>() + self.stopped.as_ref().map_or(0, FrameLocation::text_bytes)
    }
}

impl Simulation {
    /// Why the node that a client names did not run.
    pub(super) async fn absence(
        &self,
        context: &Context<'_>,
        given: &str,
    ) -> std::result::Result<WhyNot, ApiError> {
        let view = self.view();
        let (function, node) = looked_for(view, given).map_err(|error| error.at("node"))?;
        let found = view.engine().why_not(self.inner(), (function, node)).await.map_err(fail)?;
        let (found, steps) = found.ok_or_else(|| fail(engine::Error::Closed))?;
        let steps = counted_steps(context, view, steps.iter())?;
        let shown = WhyNot::of(view, node, &found, steps);
        budget::count(context, shown.text_bytes())?;
        Ok(shown)
    }
}

/// The node that a client asks about; of a function, the first one.
fn looked_for(view: &View, given: &str) -> std::result::Result<(FuncRef, NodeRef), ApiError> {
    let Ok(function) = FuncRef::try_from(view.entity_named(given)?) else { return view.node_named(given) };
    let body = view.program().function(function).map(|found| found.body());
    let first = body.and_then(|body| body.nodes_in(body.root()?).next());
    let node = first.ok_or_else(|| ApiError::new(Code::BadRequest, format!("`{given}` has no nodes")))?;
    Ok((function, node))
}

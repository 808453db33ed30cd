//! Steps of a trace, as clients see them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject};
use lmlang_engine as engine;
use lmlang_interp as interp;
use lmlang_ir::{FuncRef, NodeRef, RegionRef, text};

use crate::direct::{Direct, Rows, Selected, Writer, leaf, object};
use crate::error::ApiError;
use crate::schema::connection::page_size;
use crate::schema::failure::fail;
use crate::schema::scalars::{Count, ValueText};
use crate::schema::view::View;
use crate::transport::budget;

/// The steps of a page, whose text is counted.
pub(super) fn counted_steps<'a>(
    context: &Context<'_>,
    view: &View,
    steps: impl Iterator<Item = &'a interp::Step>,
) -> std::result::Result<Rows<TraceStep>, ApiError> {
    let mut operators = Operators::default();
    let counted = |step| {
        let shown = trace_step(view, &mut operators, step);
        budget::count(context, shown.bytes())?;
        Ok(shown)
    };
    Ok(Rows(steps.map(counted).collect::<std::result::Result<_, _>>()?))
}

pub(super) async fn trace_page(
    context: &Context<'_>,
    view: &View,
    simulation: &Arc<engine::Simulation>,
    wanted: engine::WantedSteps,
    first: i32,
    from: Count,
) -> std::result::Result<TracePage, ApiError> {
    let first = page_size(first)?;
    let says = wanted.value.is_some() || !(wanted.nodes.is_empty() && wanted.functions.is_empty());
    let found = view.engine().steps(simulation, wanted, from.0, first).await.map_err(fail)?;
    let steps = match simulation.report() {
        Some(report) => report.result.steps,
        None => simulation.position().max(found.executed),
    };
    let silent = simulation.request.trace == interp::TraceLevel::None && !says;
    let dropped = if silent { steps } else { found.cut.map_or(0, |cut| steps.saturating_sub(cut)) };
    Ok(TracePage {
        steps: counted_steps(context, view, found.steps.iter())?,
        // Where the bytes of a page were used up, the next one goes on.
        next_seq: found.next.or(found.cut.filter(|cut| *cut > from.0 && *cut < steps)).map(Count),
        recorded: Count(steps - dropped),
        dropped: Count(dropped),
    })
}

/// Some steps of a trace.
#[derive(Clone, Debug, SimpleObject)]
pub struct TracePage {
    /// The steps in order.
    pub(super) steps: Rows<TraceStep>,
    /// Where the next page starts; null at the end.
    pub(super) next_seq: Option<Count>,
    /// Executed nodes whose steps can be read with this page and those before and behind it, as far as the level of the
    /// trace shows them: all of a run that has ended, those up to `position` or to the end of this page, whichever is
    /// further, of one that has not, without those that are `dropped`; 0 when it shows nothing.
    pub(super) recorded: Count,
    /// Executed nodes whose steps are not shown: all of them when the level of the trace is `NONE`, and those behind this
    /// page when it ended because `traceBytes` were used up. `trace(from:)` reads on there.
    pub(super) dropped: Count,
}

/// An executed node.
#[derive(Clone, Debug)]
pub struct TraceStep {
    seq: u64,
    frame: i32,
    function: FuncRef,
    region: RegionRef,
    node: NodeRef,
    op: Arc<str>,
    inputs: Vec<ValueText>,
    outputs: Vec<ValueText>,
    note: Option<&'static str>,
}

/// An executed node.
#[Object]
impl TraceStep {
    /// Nodes that had been executed before.
    async fn seq(&self) -> Count {
        Count(self.seq)
    }

    /// Calls around the function, from 0.
    async fn frame(&self) -> i32 {
        self.frame
    }

    /// The function.
    async fn function(&self) -> String {
        self.function.to_string()
    }

    /// The region.
    async fn region(&self) -> String {
        self.region.to_string()
    }

    /// The node.
    async fn node(&self) -> String {
        self.node.to_string()
    }

    /// Its operator.
    async fn op(&self) -> &str {
        &self.op
    }

    /// What it read.
    async fn inputs(&self) -> &[ValueText] {
        &self.inputs
    }

    /// What it made. A node that calls or owns regions shows nothing: the `return` or exit behind it does.
    async fn outputs(&self) -> &[ValueText] {
        &self.outputs
    }

    /// What else there is to say.
    async fn note(&self) -> Option<&'static str> {
        self.note
    }
}

impl TraceStep {
    /// Bytes of its text.
    pub(crate) fn bytes(&self) -> u64 {
        let values = self.inputs.iter().chain(&self.outputs).map(ValueText::bytes);
        values.sum::<u64>() + self.op.len() as u64
    }
}

impl Direct for TraceStep {
    fn writer(selected: Selected<'_>) -> Option<Writer<TraceStep>> {
        object(selected, &["TraceStep"], |name, _| match name {
            "seq" => leaf(|step: &TraceStep, out| out.number(step.seq)),
            "frame" => leaf(|step: &TraceStep, out| out.number(step.frame)),
            "function" => leaf(|step: &TraceStep, out| out.plain(step.function)),
            "region" => leaf(|step: &TraceStep, out| out.plain(step.region)),
            "node" => leaf(|step: &TraceStep, out| out.plain(step.node)),
            "op" => leaf(|step: &TraceStep, out| out.text(&step.op)),
            "inputs" => {
                leaf(|step: &TraceStep, out| out.list(step.inputs.iter().map(|ValueText(value)| value)))
            }
            "outputs" => {
                leaf(|step: &TraceStep, out| out.list(step.outputs.iter().map(|ValueText(value)| value)))
            }
            "note" => leaf(|step: &TraceStep, out| match step.note {
                Some(note) => out.text(note),
                None => out.null(),
            }),
            _ => None,
        })
    }
}

/// What the operators of a revision print as, remembered: a run comes to few nodes, to each of them again and again.
#[derive(Debug, Default)]
pub(crate) struct Operators(HashMap<NodeRef, Arc<str>>);

/// Operators that are remembered at most.
const REMEMBERED: usize = 4_096;

impl Operators {
    fn of(&mut self, view: &View, step: &interp::Step) -> Arc<str> {
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        let print = || -> Arc<str> {
            let function = view.program().function(step.function);
            let node = function.and_then(|function| function.body().node(step.node));
            node.map_or_else(String::new, |node| text::print_op(node.op())).into()
        };
        Arc::clone(self.0.entry(step.node).or_insert_with(print))
    }
}

/// A step as clients see it.
pub(crate) fn trace_step(view: &View, operators: &mut Operators, step: &interp::Step) -> TraceStep {
    TraceStep {
        seq: step.seq,
        frame: step.frame as i32,
        function: step.function,
        region: step.region,
        node: step.node,
        op: operators.of(view, step),
        inputs: step.inputs.iter().map(|shown| shown_text(view, shown)).collect(),
        outputs: step.outputs.iter().map(|shown| shown_text(view, shown)).collect(),
        note: step.note.map(|note| match note {
            interp::Note::InContract => "in a contract",
            interp::Note::Stopped => "the run ended here",
        }),
    }
}

pub(super) fn shown_text(view: &View, shown: &interp::Shown) -> ValueText {
    let mut printed = text::print_value(view.program(), &shown.value);
    if shown.cut {
        printed.push_str(" ...");
    }
    ValueText::from(printed)
}

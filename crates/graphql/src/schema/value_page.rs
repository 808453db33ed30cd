//! What one node computed in the course of a run.

use async_graphql::{Context, SimpleObject};
use lmlang_engine as engine;
use lmlang_ir::{Op, Opcode};

use crate::error::ApiError;
use crate::schema::connection::page_size;
use crate::schema::failure::fail;
use crate::schema::scalars::{Count, ValueText};
use crate::schema::simulation::{Shown, misplaced};
use crate::schema::trace_page::shown_text;
use crate::schema::view::View;
use crate::transport::budget;

/// Some of the values that a node computed.
#[derive(Clone, Debug, SimpleObject)]
pub struct ValuePage {
    /// The values in order.
    values: Vec<ValueText>,
    /// Where the next page starts; null where there are no more.
    next: Option<Count>,
}

impl ValuePage {
    /// At most `first` values that a node computed in a run, behind `from` others; their text is counted.
    pub(super) async fn read(
        context: &Context<'_>,
        view: &View,
        run: &Shown,
        node: &str,
        first: i32,
        Count(from): Count,
    ) -> Result<ValuePage, ApiError> {
        let count = page_size(first)?;
        let of @ (function, node) = view.node_named(node)?;
        let code = view.function(function)?;
        let op = code.body().node(node).map(|node| node.op());
        let calls = |op: &Op| matches!(op.code(), Opcode::Call | Opcode::CallIndirect | Opcode::ClosureCall);
        if op.is_some_and(|op| op.owns_regions() || calls(op)) {
            let message = format!(
                "`{node}` takes what it makes from elsewhere: ask for the node that an exit takes it from"
            );
            return Err(misplaced(message, "node"));
        }
        let found = match run {
            Shown::Again(simulation) => {
                view.engine().values(simulation, of, from, count).await.map_err(fail)?
            }
            Shown::Steps { steps, .. } => {
                let steps = steps.iter().filter(|step| (step.function, step.node) == of);
                let values = steps.filter_map(|step| step.outputs.first().cloned());
                engine::Values::page(values, from, count)
            }
        };
        let values: Vec<ValueText> = found.values.iter().map(|shown| shown_text(view, shown)).collect();
        budget::count(context, values.iter().map(ValueText::bytes).sum())?;
        Ok(ValuePage { values, next: found.next.map(Count) })
    }
}

//! What is looked up in an interactive simulation that stands still: outer calls, globals, linear memory.

use std::sync::Arc;

use async_graphql::SimpleObject;
use lmlang_engine as engine;
use lmlang_ir::hash::hex;

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::failure::{expression, fail};
use crate::schema::run_outcome::NodeValue;
use crate::schema::scalars::{Count, ValueText};
use crate::schema::trace_page::shown_text;
use crate::schema::view::View;

/// Bytes that one request reads at most.
pub(super) const MOST_BYTES: usize = 4_096;

/// Bytes of linear memory.
#[derive(Clone, Debug, SimpleObject)]
pub struct MemoryBytes {
    /// The address of the first one.
    address: Count,
    /// The bytes, two hexadecimal digits each.
    hex: String,
    /// How many bytes the memory has.
    size: Count,
}

type Found<T> = Result<Option<T>, ApiError>;

/// The values that are alive in a call.
pub(super) async fn call(
    view: &View,
    simulation: &Arc<engine::Simulation>,
    frame: i32,
) -> Found<Rows<NodeValue>> {
    let Ok(frame) = u32::try_from(frame) else { return Ok(None) };
    let found = view.engine().inspect_interactive(simulation, move |debugger| {
        Some((debugger.values_at(frame)?, debugger.variables_at(frame)?))
    });
    let Some((values, variables)) = found.await.map_err(fail)?.flatten() else { return Ok(None) };
    let values = values.iter().map(|one| NodeValue::of_source(view, one));
    Ok(Some(values.chain(variables.iter().map(|one| NodeValue::of_variable(view, one))).collect()))
}

/// What an expression comes to in a call.
pub(super) async fn evaluate(
    view: &View,
    simulation: &Arc<engine::Simulation>,
    text: String,
    frame: Option<i32>,
) -> Found<ValueText> {
    let Ok(frame) = frame.map(u32::try_from).transpose() else { return Ok(None) };
    let found = view.engine().inspect_interactive(simulation, move |debugger| {
        let innermost = debugger.stack().len().checked_sub(1)? as u32;
        debugger.evaluate(frame.unwrap_or(innermost), &text)
    });
    let Some(found) = found.await.map_err(fail)?.flatten() else { return Ok(None) };
    found.map(|shown| Some(shown_text(view, &shown))).map_err(|error| expression("expression", &error))
}

/// The globals.
pub(super) async fn globals(view: &View, simulation: &Arc<engine::Simulation>) -> Found<Rows<NodeValue>> {
    let found = view
        .engine()
        .inspect_interactive(simulation, move |debugger| debugger.globals())
        .await
        .map_err(fail)?;
    Ok(found.map(|found| found.iter().map(|one| NodeValue::of_variable(view, one)).collect()))
}

/// Bytes of linear memory.
pub(super) async fn memory(
    view: &View,
    simulation: &Arc<engine::Simulation>,
    address: u64,
    length: i32,
) -> Found<MemoryBytes> {
    let bytes = match usize::try_from(length) {
        Ok(bytes @ 1..=MOST_BYTES) => bytes as u64,
        Ok(bytes @ 1..) => {
            return Err(ApiError::limit("memoryLength", MOST_BYTES as u64, bytes as u64).at("length"));
        }
        Ok(0) | Err(_) => {
            let message = format!("`length` is at least 1, not {length}");
            return Err(ApiError::new(Code::BadRequest, message).at("length"));
        }
    };
    let found = view.engine().inspect_interactive(simulation, move |debugger| {
        let bytes = debugger.memory(address..address.saturating_add(bytes))?;
        Some((hex(bytes), debugger.memory_size()?))
    });
    let found = found.await.map_err(fail)?.flatten();
    Ok(found.map(|(hex, size)| MemoryBytes { address: Count(address), hex, size: Count(size) }))
}

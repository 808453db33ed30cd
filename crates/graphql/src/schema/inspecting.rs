//! What is looked up in an interactive simulation that stands still: outer calls, globals, linear memory.

use std::sync::Arc;

use async_graphql::SimpleObject;
use lmlang_engine as engine;

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::failure::fail;
use crate::schema::run_outcome::NodeValue;
use crate::schema::scalars::Count;
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
    let found = view.engine().inspect_interactive(simulation, |debugger| {
        Some((debugger.values_at(frame)?, debugger.variables_at(frame)?))
    });
    let Some((values, variables)) = found.await.map_err(fail)?.flatten() else { return Ok(None) };
    let values = values.iter().map(|one| NodeValue::of_source(view, one));
    Ok(Some(values.chain(variables.iter().map(|one| NodeValue::of_variable(view, one))).collect()))
}

/// The globals.
pub(super) async fn globals(view: &View, simulation: &Arc<engine::Simulation>) -> Found<Rows<NodeValue>> {
    let found =
        view.engine().inspect_interactive(simulation, |debugger| debugger.globals()).await.map_err(fail)?;
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
    let found = view.engine().inspect_interactive(simulation, |debugger| {
        let bytes = debugger.memory(address..address.saturating_add(bytes))?;
        Some((bytes.iter().map(|byte| format!("{byte:02x}")).collect(), debugger.memory_size()?))
    });
    let found = found.await.map_err(fail)?.flatten();
    Ok(found.map(|(hex, size)| MemoryBytes { address: Count(address), hex, size: Count(size) }))
}

//! The places of connections.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// A connection's place among those that the server holds, kept by whoever holds the connection.
#[derive(Clone, Debug)]
pub(crate) struct Slot(#[expect(dead_code, reason = "it is held, not read")] Arc<OwnedSemaphorePermit>);

impl Slot {
    /// The place that is free again when nobody holds it any more.
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Slot {
        Slot(Arc::new(permit))
    }
}

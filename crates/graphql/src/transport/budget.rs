//! Bounds how much text one answer holds.
//!
//! A text repeats what is inside of it: a thousand blocks, each in the one before, are printed a thousand times by one
//! page of nodes. So texts are counted over the whole answer, whoever selects them.

use std::sync::atomic::{AtomicU64, Ordering};

use async_graphql::Context;

use crate::error::ApiError;

/// What an answer may still hold. A subscription has none: each of its events is an answer of its own.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    spent: AtomicU64,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Budget {
        Budget { limit, spent: AtomicU64::new(0) }
    }

    /// Counts bytes in, or refuses them.
    fn spend(&self, bytes: u64) -> Result<(), ApiError> {
        let before = self.spent.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) {
            spent if spent > self.limit => Err(ApiError::limit("textOfAnswer", self.limit, spent)),
            _ => Ok(()),
        }
    }
}

/// Says whether an answer may hold more text.
pub(crate) fn open(context: &Context<'_>) -> Result<(), ApiError> {
    count(context, 0)
}

/// Counts text that an answer holds.
pub(crate) fn count(context: &Context<'_>, bytes: u64) -> Result<(), ApiError> {
    context.data_opt::<Budget>().map_or(Ok(()), |budget| budget.spend(bytes))
}

/// Prints a text, unless the answer holds too much already.
pub(crate) fn text(context: &Context<'_>, print: impl FnOnce() -> String) -> Result<String, ApiError> {
    open(context)?;
    let printed = print();
    count(context, printed.len() as u64)?;
    Ok(printed)
}

//! No model at all.

use super::error::ModelError;
use super::{Completion, Model, Request, Tell};

/// What answers when nothing is configured: every call with [`ModelError::NoModel`].
///
/// A flow that can decide by rules of its own looks at [`Models::is_configured`](super::Models::is_configured) first, and
/// says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

/// The name of decisions without a model, on spans and views.
pub const PROVIDER: &str = "rules";

impl Model for Rules {
    fn provider(&self) -> &str {
        PROVIDER
    }

    fn complete<'a>(&'a self, request: &'a Request, _: Tell<'a>) -> Completion<'a> {
        Box::pin(async { Err(ModelError::NoModel { role: request.role.clone() }) })
    }
}

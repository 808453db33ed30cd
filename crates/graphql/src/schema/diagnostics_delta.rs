//! What a revision changed about the findings, as a subscription tells it.

use std::sync::Arc;

use async_graphql::Object;
use lmlang_engine::{Engine, Event, OpenProgram};

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::connection::MAX_PAGE;
use crate::schema::diagnostics::Diagnostic;
use crate::schema::named::Named;
use crate::schema::program_event::states;
use crate::schema::revision::{Revision, cursor};
use crate::schema::view::View;

/// What a revision changed about the findings.
#[derive(Clone)]
pub struct DiagnosticsDelta {
    before: View,
    view: View,
    delta: Arc<lmlang_verify::Delta>,
    complete: bool,
}

/// What a revision changed about the findings of the verifier.
#[Object]
impl DiagnosticsDelta {
    /// Where to resume after this event.
    async fn cursor(&self) -> String {
        cursor(self.view.revision().entry.number)
    }

    /// The revision.
    async fn revision(&self) -> Revision {
        Revision::new(&self.view, self.view.revision().entry.clone())
    }

    /// Findings that are new, the first thousand.
    async fn added(&self) -> Rows<Diagnostic> {
        let added = self.delta.added.iter().take(MAX_PAGE);
        added.map(|found| Diagnostic::new(&self.view, found.clone())).collect()
    }

    /// Findings that are gone, in the words and places of the revision that had them, the first thousand.
    async fn resolved(&self) -> Rows<Diagnostic> {
        let resolved = self.delta.resolved.iter().take(MAX_PAGE);
        resolved.map(|found| Diagnostic::new(&self.before, found.clone())).collect()
    }

    /// Whether the program may be compiled and exported.
    async fn complete(&self) -> bool {
        self.complete
    }
}

/// What an event changes about the findings; `None` for one that changes no content.
pub(crate) async fn delta(
    engine: &Engine,
    open: &OpenProgram,
    branch: u32,
    event: Event,
    scope: Option<&Named>,
) -> Result<Option<DiagnosticsDelta>, ApiError> {
    let entry = match event {
        Event::Entry(entry)
            if entry.branch == branch && (entry.kind.makes_state() || entry.kind.takes_target_state()) =>
        {
            entry
        }
        Event::Entry(_) | Event::Refused { .. } | Event::Program { .. } => return Ok(None),
        Event::Gap { from, to } => {
            let message = format!("r{from} to r{to} are left out: read `diagnostics` of the program anew");
            return Err(ApiError::new(Code::CursorInvalid, message));
        }
    };
    let (before, after) = states(engine, open, &entry).await?;
    let mut delta = after.findings().since(before.findings());
    if let Some(scope) = scope {
        delta.added.retain(|found| scope.holds(&after, found));
        delta.resolved.retain(|found| scope.holds(&before, found));
    }
    let complete = after.findings().tally().is_complete();
    Ok(Some(DiagnosticsDelta { before, view: after, delta: Arc::new(delta), complete }))
}

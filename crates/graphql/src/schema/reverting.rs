//! Taking chosen revisions back.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Object};
use lmlang_engine::{self as engine, Engine, Which};
use lmlang_history::log::Header;

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::call::call;
use crate::schema::connection::MAX_PAGE;
use crate::schema::defaults::{Main, No, Or};
use crate::schema::diagnostics::Diagnostic;
use crate::schema::failure::fail;
use crate::schema::flows::run_id;
use crate::schema::mutation::selector;
use crate::schema::outcome::RevisionOutcome;
use crate::schema::revision::Revision;
use crate::schema::view::View;
use crate::transport::budget;

/// Takes revisions back: those that are named, an author's, or a run's; exactly one of the three.
#[derive(Clone, Debug, InputObject)]
pub struct RevertInput {
    /// The program, by id or name.
    program_id: ID,
    /// The branch.
    #[graphql(default)]
    branch: Or<Main>,
    /// The revisions, as for `program(at:)`: `r7`. What came with a merge goes with the revision of the merge.
    revisions: Option<Vec<String>>,
    /// All revisions of the branch by the author of this name.
    author: Option<String>,
    /// All revisions of the branch by this run.
    run_id: Option<ID>,
    /// The plan alone: what goes, what must go with it, what stays, and what the verifier finds then.
    #[graphql(default)]
    dry_run: Or<No>,
    /// The head that the caller saw, as for `program(at:)`: `r7`; another one now is a conflict.
    expected_head: Option<String>,
    /// Why, for the log.
    message: Option<String>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// What became of taking revisions back, or would.
#[derive(Clone)]
pub struct RevertPayload {
    view: View,
    outcome: RevisionOutcome,
    /// The state that it leads to, for the words of the findings.
    after: View,
    reverted: Arc<engine::Reverted>,
}

/// What became of taking revisions back; of a dry run, what would.
#[Object]
impl RevertPayload {
    /// Made, nothing to do, or in conflict.
    async fn outcome(&self) -> RevisionOutcome {
        self.outcome.clone()
    }

    /// Revisions that were asked for, oldest first.
    async fn removed(&self, context: &Context<'_>) -> Vec<Revision> {
        self.revisions(context, &self.reverted.removed).await
    }

    /// Later revisions that had to go with those that were asked for: they rest on them. Oldest first.
    async fn also_removed(&self, context: &Context<'_>) -> Vec<Revision> {
        self.revisions(context, &self.reverted.also_removed).await
    }

    /// Later revisions that stay, oldest first.
    async fn kept(&self, context: &Context<'_>) -> Vec<Revision> {
        self.revisions(context, &self.reverted.kept).await
    }

    /// What the verifier finds in the result and not before it, the first thousand.
    async fn new_diagnostics(&self) -> Rows<Diagnostic> {
        let found = self.reverted.findings.iter().take(MAX_PAGE);
        found.map(|found| Diagnostic::new(&self.after, found.clone())).collect()
    }
}

impl RevertPayload {
    async fn revisions(&self, context: &Context<'_>, entries: &[Arc<Header>]) -> Vec<Revision> {
        let revisions = entries.iter().map(|entry| Revision::new(&self.view, entry.clone()));
        budget::list(context, revisions.collect()).await
    }
}

/// Takes revisions back.
pub(crate) async fn revert(context: &Context<'_>, input: RevertInput) -> Result<RevertPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let which = match (input.revisions, input.author, input.run_id) {
        (Some(revisions), None, None) => Which::Revisions(revisions),
        (None, Some(author), None) => Which::Author(author),
        (None, None, Some(run)) => {
            let wrong = |_| ApiError::new(Code::BadRequest, "`runId` is no id of a run").at("input.runId");
            Which::Run(run_id(&run).map_err(wrong)?)
        }
        _ => {
            let message = "one of `revisions`, `author` and `runId` says what is taken back";
            return Err(ApiError::new(Code::BadRequest, message));
        }
    };
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let request = engine::RevertRequest {
        branch: input.branch.0,
        which,
        expected_head: input.expected_head,
        dry_run: input.dry_run.0,
    };
    let reverted = engine.revert(&open, &request, &call).await.map_err(fail)?;
    let view = View::head(engine, open.clone());
    let after = match &reverted.arrival {
        engine::Arrival::Made { after, .. } => View::pinned(engine, open.clone(), after.clone()),
        engine::Arrival::Nothing(_) | engine::Arrival::Conflict(_) => view.clone(),
    };
    let outcome = RevisionOutcome::new(engine, open, reverted.arrival.clone()).noted(context);
    Ok(RevertPayload { view, outcome, after, reverted: Arc::new(reverted) })
}

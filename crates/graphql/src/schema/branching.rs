//! Making, merging and removing branches.

use async_graphql::{Context, Enum, ID, InputObject, Object, SimpleObject};
use lmlang_engine::{self as engine, Call, Engine};
use lmlang_history::merge;

use crate::direct::Rows;
use crate::error::{ApiError, Code, cut};
use crate::schema::call::call;
use crate::schema::connection::MAX_PAGE;
use crate::schema::defaults::{Main, No, Or};
use crate::schema::diagnostics::Diagnostic;
use crate::schema::diff::ProgramDiff;
use crate::schema::edit_input::EditInput;
use crate::schema::edit_request;
use crate::schema::failure::fail;
use crate::schema::mutation::{DeletePayload, selector};
use crate::schema::outcome::{Conflict, RevisionOutcome};
use crate::schema::revision::Branch;
use crate::schema::view::View;

/// Makes a branch.
#[derive(Clone, Debug, InputObject)]
pub struct CreateBranchInput {
    /// The program, by id or name.
    program_id: ID,
    /// Its name, unique among branches and checkpoints.
    name: String,
    /// The revision that it begins with, as for `program(at:)`: `r7`; without it, the head of `main`.
    at: Option<String>,
    /// Why, for the log.
    message: Option<String>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// Removes a branch; its revisions stay.
#[derive(Clone, Debug, InputObject)]
pub struct DeleteBranchInput {
    /// The program, by id or name.
    program_id: ID,
    /// The branch; not `main`.
    name: String,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// A branch that was made.
#[derive(Clone, SimpleObject)]
pub struct BranchPayload {
    /// The branch.
    branch: Option<Branch>,
}

/// Brings the changes of a branch into another one.
#[derive(Clone, Debug, InputObject)]
pub struct MergeInput {
    /// The program, by id or name.
    program_id: ID,
    /// The branch whose changes are brought in; any revision, as for `program(at:)`.
    from: String,
    /// The branch that they are brought into.
    #[graphql(default)]
    into: Or<Main>,
    /// What to do about conflicts, one by one.
    resolutions: Option<Vec<ResolutionInput>>,
    /// The head of `into` that the caller saw, as for `program(at:)`: `r7`; another one now is a conflict.
    expected_head: Option<String>,
    /// Why, for the log.
    message: Option<String>,
    /// Same path and same answer, nothing stored.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// What to do about the conflicts of one entity: whose changes to take, and edits of what comes of it.
#[derive(Clone, Debug, InputObject)]
pub struct ResolutionInput {
    /// The entity, as `Conflict.ref` names it.
    #[graphql(name = "ref")]
    reference: String,
    /// Whose changes to take where they collide; the other side's there go, with what rests on them. Of a conflict
    /// `ILL_TYPED`, the other side's in the function that has it go, then those of what this uses, until it is gone.
    /// Without it, what both come from.
    take: Option<Side>,
    /// Edits of what came of the merge, in order. In a conflict `NAME_TAKEN`, what gives one of the two another name or
    /// moves it keeps both.
    edits: Option<Vec<EditInput>>,
}

/// One of the two states that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "merge::Side")]
pub enum Side {
    /// The branch that is merged into.
    Ours,
    /// The branch that is merged.
    Theirs,
}

/// What became of a merge.
#[derive(Clone, SimpleObject)]
pub struct MergePayload {
    /// Made, nothing to do, or in conflict.
    outcome: RevisionOutcome,
}

/// What a merge would come to.
#[derive(Clone)]
pub struct MergePreview {
    before: View,
    after: View,
    preview: std::sync::Arc<engine::Preview>,
}

/// What a merge would come to; nothing is stored.
#[Object]
impl MergePreview {
    /// Whether it can be made as it is: nothing is in conflict, and what comes of it type-checks.
    async fn clean(&self) -> bool {
        self.preview.conflicts.is_empty()
    }

    /// What cannot be both.
    async fn conflicts(&self) -> Rows<Conflict> {
        Rows(self.preview.conflicts.iter().map(Conflict::of).collect())
    }

    /// What it would change in the branch, which stays as it is where something is in conflict.
    async fn diff(&self) -> ProgramDiff {
        ProgramDiff::new(self.before.clone(), self.after.clone()).await
    }

    /// What the verifier finds in that and not in the branch, the first thousand.
    async fn new_diagnostics(&self) -> Rows<Diagnostic> {
        let found = self.preview.findings.iter().take(MAX_PAGE);
        found.map(|found| Diagnostic::new(&self.after, found.clone())).collect()
    }
}

/// Makes a branch.
pub(crate) async fn create(
    context: &Context<'_>,
    input: CreateBranchInput,
) -> Result<BranchPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let made = engine.create_branch(&open, &input.name, input.at.as_deref(), &call).await.map_err(fail)?;
    Ok(BranchPayload { branch: Some(Branch::made(&View::head(engine, open), made)) })
}

/// Removes a branch.
pub(crate) async fn delete(
    context: &Context<'_>,
    input: DeleteBranchInput,
) -> Result<DeletePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    engine.delete_branch(&open, &input.name, &call).await.map_err(fail)?;
    Ok(DeletePayload { deleted: true })
}

/// Merges a branch into another one.
pub(crate) async fn merge(context: &Context<'_>, input: MergeInput) -> Result<MergePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let request = engine::MergeRequest {
        from: input.from,
        into: input.into.0,
        resolutions: input
            .resolutions
            .into_iter()
            .flatten()
            .enumerate()
            .map(resolution)
            .collect::<Result<_, _>>()?,
        expected_head: input.expected_head,
        dry_run: input.dry_run.0,
    };
    let arrival = engine.merge(&open, &request, &call).await.map_err(fail)?;
    Ok(MergePayload { outcome: RevisionOutcome::new(engine, open, arrival).noted(context) })
}

fn resolution((index, given): (usize, ResolutionInput)) -> Result<engine::Resolution, ApiError> {
    let bad = |message: String| ApiError::new(Code::BadRequest, format!("`resolutions[{index}]` {message}"));
    let of = given
        .reference
        .parse()
        .map_err(|_| bad(format!("names `{}`, which is no ref", cut(&given.reference))))?;
    if given.take.is_none() && given.edits.as_ref().is_none_or(Vec::is_empty) {
        return Err(bad("has neither `take` nor `edits`".to_owned()));
    }
    let edits = edit_request::requests(given.edits.unwrap_or_default())?;
    Ok(engine::Resolution { of, take: given.take.map(Into::into), edits })
}

/// What a merge of two branches would come to.
pub(crate) async fn preview(
    view: &View,
    from: String,
    into: String,
    by: Call,
) -> Result<MergePreview, ApiError> {
    let (engine, open) = (view.engine(), view.open());
    let request =
        engine::MergeRequest { from, into, resolutions: Vec::new(), expected_head: None, dry_run: true };
    let preview = engine.merge_preview(open, &request, &by).await.map_err(fail)?;
    Ok(MergePreview {
        before: View::pinned(engine, open.clone(), preview.before.clone()),
        after: View::dry(engine, open.clone(), uuid::Uuid::nil(), preview.after.clone()),
        preview: std::sync::Arc::new(preview),
    })
}

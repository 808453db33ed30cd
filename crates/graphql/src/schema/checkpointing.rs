//! Making, restoring and removing checkpoints.

use async_graphql::{Context, ID, InputObject, SimpleObject};
use lmlang_engine::{Engine, Travel, Way};

use crate::error::ApiError;
use crate::schema::call::call;
use crate::schema::defaults::{Main, No, Or};
use crate::schema::failure::fail;
use crate::schema::mutation::{DeletePayload, RevisionPayload, selector};
use crate::schema::outcome::RevisionOutcome;
use crate::schema::revision::Checkpoint;
use crate::schema::view::View;

/// Names a revision.
#[derive(Clone, Debug, InputObject)]
pub struct CreateCheckpointInput {
    /// The program, by id or name.
    program_id: ID,
    /// Its name, unique among checkpoints and branches.
    name: String,
    /// The revision, as for `program(at:)`: `r7`; without it, the head.
    at: Option<String>,
    /// Why, for the log.
    message: Option<String>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// Goes back to a checkpoint.
#[derive(Clone, Debug, InputObject)]
pub struct RestoreCheckpointInput {
    /// The program, by id or name.
    program_id: ID,
    /// The checkpoint.
    name: String,
    /// The branch whose head moves.
    #[graphql(default)]
    branch: Or<Main>,
    /// The head that the caller saw, as for `program(at:)`: `r7`; another one now is a conflict.
    expected_head: Option<String>,
    /// Same path and same answer, nothing stored.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Why, for the log.
    message: Option<String>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// Forgets a checkpoint; the revision stays.
#[derive(Clone, Debug, InputObject)]
pub struct DeleteCheckpointInput {
    /// The program, by id or name.
    program_id: ID,
    /// The checkpoint.
    name: String,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// A checkpoint that was made.
#[derive(Clone, SimpleObject)]
pub struct CheckpointPayload {
    /// The checkpoint.
    checkpoint: Option<Checkpoint>,
}

/// Names a revision.
pub(crate) async fn create(
    context: &Context<'_>,
    input: CreateCheckpointInput,
) -> Result<CheckpointPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let made =
        engine.create_checkpoint(&open, &input.name, input.at.as_deref(), &call).await.map_err(fail)?;
    Ok(CheckpointPayload { checkpoint: Some(Checkpoint::new(&View::head(engine, open), made)) })
}

/// Goes back to a checkpoint.
pub(crate) async fn restore(
    context: &Context<'_>,
    input: RestoreCheckpointInput,
) -> Result<RevisionPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let travel = Travel {
        branch: input.branch.0,
        way: Way::Restore(input.name),
        expected_head: input.expected_head,
        dry_run: input.dry_run.0,
    };
    let arrival = engine.travel(&open, &travel, &call).await.map_err(fail)?;
    Ok(RevisionPayload { outcome: RevisionOutcome::new(engine, open, arrival).noted(context) })
}

/// Forgets a checkpoint.
pub(crate) async fn delete(
    context: &Context<'_>,
    input: DeleteCheckpointInput,
) -> Result<DeletePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    engine.delete_checkpoint(&open, &input.name, &call).await.map_err(fail)?;
    Ok(DeletePayload { deleted: true })
}

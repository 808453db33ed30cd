//! Answers across revisions: where a test case broke, and where two runs part.

use async_graphql::{Context, ID, InputObject, SimpleObject};
use lmlang_engine::Engine;

use crate::error::{ApiError, Code};
use crate::schema::call::call;
use crate::schema::cases::case_id;
use crate::schema::failure::fail;
use crate::schema::mutation::selector;
use crate::schema::revision::{Revision, numbered};
use crate::schema::run_input::SimulateInput;
use crate::schema::run_outcome::{Outcome, ended};
use crate::schema::scalars::{Count, Text};
use crate::schema::trace_page::{Operators, TraceStep, trace_step};
use crate::schema::view::{View, not_found};
use crate::transport::budget;

/// Finds the revision at which a test case broke.
#[derive(Clone, Debug, InputObject)]
pub struct BisectInput {
    /// The program, by id or name.
    program_id: ID,
    /// The test case, by its id in any view.
    case: ID,
    /// A revision at which the case is green, as for `program(at:)`: `r7`. It is on the way to `bad`.
    good: String,
    /// A later one at which it is not.
    bad: String,
    /// Same key and input: the first answer, for as long as simulations are kept.
    idempotency_key: Option<String>,
}

/// Where a test case broke.
#[derive(Clone, SimpleObject)]
pub struct BisectReport {
    /// The first revision on the way from `good` to `bad`, by first parents, at which the case is not green, and before which
    /// it is. Where it went to and fro, there are others. A revision at which the function is not there, takes or returns other
    /// types, or has errors is one at which the case is not green.
    first: Option<Revision>,
    /// Runs that were made for this answer: at most the binary logarithm of the number of revisions, rounded up, and two.
    /// Revisions between which nothing has changed that the function reaches share one run, and what was run before counts as
    /// known.
    fresh_runs: i32,
    /// Revisions at which the case was looked at.
    looked_at: i32,
    /// What happens there, in words.
    message: Text,
}

/// Runs a function at two revisions.
#[derive(Clone, Debug, InputObject)]
pub struct CompareRunsInput {
    /// The program, by id or name.
    program_id: ID,
    /// The one revision, as for `program(at:)`: `r7`.
    from: String,
    /// The other revision.
    to: String,
    /// The function, by ref, path or name at `to`.
    function: String,
    /// What both runs are given; the arguments are read with the types of each revision. `recordTrace` has no meaning.
    run: SimulateInput,
    /// Same key and input: the first answer, for as long as simulations are kept.
    idempotency_key: Option<String>,
}

/// How the runs of a function at two revisions compare.
#[derive(Clone, SimpleObject)]
pub struct RunComparison {
    /// Whether both did the same, step by step, and ended the same way.
    same: bool,
    /// Steps at the start of both runs that are the same.
    same_steps: Count,
    /// The first step of the run at `to` that is not as that at `from`: it is of another node or depth of calls, reads or makes
    /// other values, or is the last one. Long values are compared by their beginning. Null where there is none: the run has
    /// ended by then, or only what was returned, or met, differs.
    first_difference: Option<TraceStep>,
    /// The step of the run at `from` in its place; null where that run has ended by then.
    instead_of: Option<TraceStep>,
    /// How the run at `from` ended.
    before: Outcome,
    /// How the run at `to` ended.
    after: Outcome,
    /// The last revision between the two that changed the node of the first difference, else its function, else the function
    /// that was run. Null where none of these was changed: what differs comes from elsewhere, as from storage.
    caused_by: Option<Revision>,
}

/// Finds the revision at which a test case broke.
pub(crate) async fn bisect(context: &Context<'_>, input: BisectInput) -> Result<BisectReport, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let (program, id) = case_id(&input.case)?;
    let missing = || not_found("case", &input.case);
    if program != open.timeline.id() {
        return Err(missing());
    }
    let case = engine.case(&open, id).await.map_err(fail)?.ok_or_else(missing)?;
    let found = engine.bisect(&open, &case, (&input.good, &input.bad), &call).await.map_err(fail)?;
    let view = View::head(engine, open);
    Ok(BisectReport {
        first: Some(Revision::new(&view, found.first)),
        fresh_runs: i32::try_from(found.fresh_runs).unwrap_or(i32::MAX),
        looked_at: i32::try_from(found.looked_at).unwrap_or(i32::MAX),
        message: Text(found.message),
    })
}

/// Runs a function at two revisions and finds where the runs part.
pub(crate) async fn compare(
    context: &Context<'_>,
    input: CompareRunsInput,
) -> Result<RunComparison, ApiError> {
    budget::open(context)?;
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let revisions = engine.compared(&open, (&input.from, &input.to), &call).await.map_err(fail)?;
    let [before, after] = &revisions;
    let from = View::pinned(engine, open.clone(), before.clone());
    let to = View::pinned(engine, open.clone(), after.clone());
    let of = to.function_named(&input.function).or_else(|error| match error.code {
        // It may be gone.
        Code::NotFound => from.function_named(&input.function).map_err(|_| error),
        _ => Err(error),
    })?;
    let request = |view: &View, at: &str| {
        let request = input.run.clone().request(view, of);
        request.map_err(|error| ApiError { message: format!("at `{at}`: {}", error.message), ..error })
    };
    let requests = [request(&from, &input.from)?, request(&to, &input.to)?];
    let found = engine.compare_runs(&open, &revisions, requests).await.map_err(fail)?;
    let shown = |view: &View, index: usize| {
        let step = found.steps[index].as_ref();
        let shown = step.map(|step| trace_step(view, &mut Operators::default(), step));
        budget::count(context, shown.as_ref().map_or(0, TraceStep::bytes)).map(|()| shown)
    };
    let end = |view: &View, index: usize| {
        let end = ended(view, &found.reports[index])?;
        budget::count(context, end.text_bytes())?;
        Ok::<_, ApiError>(end)
    };
    let caused_by = match found.caused_by {
        Some(number) => Some(numbered(&View::head(engine, open), number).await?),
        None => None,
    };
    Ok(RunComparison {
        same: found.is_same(),
        same_steps: Count(found.same_steps),
        first_difference: shown(&to, 1)?,
        instead_of: shown(&from, 0)?,
        before: end(&from, 0)?,
        after: end(&to, 1)?,
        caused_by,
    })
}

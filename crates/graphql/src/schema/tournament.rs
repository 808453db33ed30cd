//! Tournaments: many change sets for one place, tried and ranked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Context, ID, InputObject, SimpleObject};
use futures_util::{Stream, stream};
use lmlang_engine::tournament::{Candidate, Gate, Tournament, TournamentRequest};
use lmlang_engine::{Engine, OpenProgram, Selector};

use crate::error::{ApiError, Code};
use crate::schema::call::{actor, call};
use crate::schema::cursor::number;
use crate::schema::defaults::{Int, Or};
use crate::schema::edit_input::EditInput;
use crate::schema::edit_request;
use crate::schema::failure::fail;
use crate::schema::mutation::selector;
use crate::schema::natural::natural;
use crate::schema::outcome::ProposeEditOutcome;
use crate::schema::scalars::Count;
use crate::schema::view::not_found;

/// Tries many change sets, and ranks them.
#[derive(Clone, Debug, InputObject)]
pub struct ProposeManyInput {
    /// The program, by id or name.
    program_id: ID,
    /// The revision that all candidates are made on; without it, the head.
    base_revision: Option<String>,
    /// The candidates: lists of edits, each as for `proposeEdit`; 256 at most.
    candidates: Vec<Vec<EditInput>>,
    /// What they have to meet besides that they can be applied: `complete` (nothing that they touch is left incomplete),
    /// `cases` (no test case that they may concern fails), `contracts` (no input is found that breaks the contracts of what they
    /// change). Default: `cases` and `contracts`. Contracts are looked at only where this is among the gates.
    gates: Option<Vec<String>>,
    /// The time for all of them, in milliseconds; what is not known by then counts as missed.
    #[graphql(default)]
    timeout_ms: Or<Int<10_000>>,
    /// The fuel that the test cases of one candidate may use together; one that uses more misses all gates.
    fuel: Option<Count>,
    /// A name for the tournament, by which its caller can subscribe to it while it runs. Nothing is stored, so a repeated
    /// request does no harm.
    idempotency_key: Option<String>,
}

/// Candidates in order.
#[derive(Clone, SimpleObject)]
pub struct TournamentPayload {
    /// What the tournament is called, for `tournament`, until 16 others were begun.
    tournament_id: ID,
    /// The candidates, the best first. To take one, propose its edits.
    ranked: Vec<CandidateResult>,
}

/// What became of a candidate.
#[derive(Clone, SimpleObject)]
pub struct CandidateResult {
    /// Its place in the request, from 0.
    index: i32,
    /// Its place among all, from 1: fewest gates missed, fewest test cases that fail, fewest contracts broken, most test cases
    /// that hold, fewest new findings, least fuel, smallest change. Null while others are being tried.
    rank: Option<i32>,
    /// What would become of its edits, as a dry run tells it.
    outcome: ProposeEditOutcome,
    /// Test cases that hold, of those that it may concern.
    cases_passed: i32,
    /// Test cases that do not, or do not fit any more.
    cases_failed: i32,
    /// Test cases for which there was no time.
    cases_undecided: i32,
    /// Functions for which an input was found that breaks them: that it changes, that return values whose invariants it changes,
    /// or that call these and did not break before.
    contracts_broken: i32,
    /// These functions, by ref.
    broken: Vec<String>,
    /// What the runs of its test cases used.
    fuel_used: Count,
    /// The gates that it misses, by name; all of them when it cannot be applied.
    missed: Vec<String>,
}

fn small(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn told(engine: &Engine, open: &OpenProgram, candidate: Candidate) -> CandidateResult {
    CandidateResult {
        index: small(candidate.index),
        rank: candidate.rank.map(small),
        outcome: ProposeEditOutcome::new(engine, open, Arc::unwrap_or_clone(candidate.outcome)),
        cases_passed: small(candidate.passed),
        cases_failed: small(candidate.failed),
        cases_undecided: small(candidate.undecided),
        contracts_broken: small(candidate.broken.len()),
        broken: candidate.broken.iter().map(ToString::to_string).collect(),
        fuel_used: Count(candidate.fuel_used),
        missed: candidate.missed.iter().map(|gate| gate.name().to_owned()).collect(),
    }
}

fn gates(given: Option<Vec<String>>) -> Result<BTreeSet<Gate>, ApiError> {
    let Some(given) = given else { return Ok(BTreeSet::from([Gate::Cases, Gate::Contracts])) };
    let one = |(index, name): (usize, String)| {
        let known = Gate::ALL.into_iter().find(|gate| gate.name() == name);
        known.ok_or_else(|| {
            let known: Vec<&str> = Gate::ALL.iter().map(|gate| gate.name()).collect();
            ApiError::new(Code::BadRequest, format!("there is no gate `{name}`"))
                .data(serde_json::json!({ "known": known }))
                .at(&format!("gates[{index}]"))
        })
    };
    given.into_iter().enumerate().map(one).collect()
}

/// Tries candidates and ranks them.
pub(crate) async fn propose_many(
    context: &Context<'_>,
    input: ProposeManyInput,
) -> Result<TournamentPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let timeout: u64 = natural("timeoutMs", input.timeout_ms.0)?;
    let one = |(index, edits): (usize, Vec<EditInput>)| {
        edit_request::requests(edits).map_err(|error| {
            let path = error.data.as_ref().and_then(|data| data["path"].as_str()).unwrap_or_default();
            let path = path.replacen("input.edits", &format!("input.candidates[{index}]"), 1);
            error.at(&path)
        })
    };
    let request = TournamentRequest {
        program: selector(&input.program_id),
        base: input.base_revision,
        candidates: input.candidates.into_iter().enumerate().map(one).collect::<Result<_, _>>()?,
        gates: gates(input.gates)?,
        timeout: Duration::from_millis(timeout),
        fuel: input.fuel.map(|fuel| fuel.0),
    };
    let (tournament, open, ranked) = engine.tournament(request, &call).await.map_err(fail)?;
    Ok(TournamentPayload {
        tournament_id: ID(tournament.id.to_string()),
        ranked: ranked.into_iter().map(|one| told(engine, &open, one)).collect(),
    })
}

/// The rows of a tournament after a place.
pub(crate) async fn rows(
    context: &Context<'_>,
    id: &ID,
    after: Option<String>,
) -> Result<impl Stream<Item = async_graphql::Result<CandidateResult>> + use<>, ApiError> {
    let engine = context.data_unchecked::<Engine>().clone();
    let missing = || not_found("tournament", id);
    let found: Arc<Tournament> = engine.tournament_of(id, &actor(context).name).await.ok_or_else(missing)?;
    // One about a program that the caller may not read is none.
    let open = engine.find(&Selector::Id(found.program)).await.map_err(|_| missing())?;
    let at = match after {
        None => 0,
        Some(text) => number(&text).and_then(|rows| usize::try_from(rows).ok()).ok_or_else(|| {
            ApiError::new(Code::CursorInvalid, "`after` is the number of rows that were seen").at("after")
        })?,
    };
    Ok(stream::unfold((engine, found, open, at), async |(engine, found, open, at)| {
        let row = found.row(at).await?;
        let told = told(&engine, &open, row);
        Some((Ok(told), (engine, found, open, at + 1)))
    }))
}

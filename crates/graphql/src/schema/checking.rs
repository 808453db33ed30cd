//! Searches for inputs: what breaks a function, where two revisions differ, and what test cases leave out.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Context, Enum, ID, InputObject, SimpleObject};
use futures_util::{Stream, StreamExt};
use lmlang_engine::checking::{self, Attempt, CheckRequest, Distinction as Found};
use lmlang_engine::{self as engine, Call, Engine, Scope};
use lmlang_ir::hash::hex;
use lmlang_ir::{FuncRef, Value, text};
use tokio_stream::wrappers::ReceiverStream;

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::access::{allow, may};
use crate::schema::call::actor;
use crate::schema::cases::TestCase;
use crate::schema::connection::{Connection, PageRequest};
use crate::schema::defaults::{Int, Or, Yes, Zero};
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::natural::natural;
use crate::schema::node::ComputeNode;
use crate::schema::run_outcome::{Outcome, outcome};
use crate::schema::scalars::{Count, ValueText};
use crate::schema::view::View;

/// Looks for inputs that break functions.
#[derive(Clone, Debug, InputObject)]
pub struct CheckContractsInput {
    /// The program, by id or name.
    program_id: ID,
    /// The revision, as for `program(at:)`: `r7`; without it, the head.
    at: Option<String>,
    /// The functions, by ref or path. Without them all that have contracts, return values with invariants or call one that demands
    /// something; where none does, all that are public.
    functions: Option<Vec<String>>,
    /// The time for all of them, in milliseconds; each has its share of what is left.
    #[graphql(default)]
    timeout_ms: Or<Int<10_000>>,
    /// Inputs for each function at most, those apart that do not meet what it demands; 1,000,000 at most.
    #[graphql(default)]
    cases: Or<Int<1_000>>,
    /// What all chance follows from: the same seed finds the same, unless the time runs out.
    #[graphql(default)]
    seed: Or<Zero>,
    /// Whether inputs that break a function become test cases of it, which say that it must return. Needs the scope `edit`.
    #[graphql(default)]
    add_cases: Or<Yes>,
    /// Not needed: the same search adds the same test cases once.
    idempotency_key: Option<String>,
}

/// What was found by looking for inputs that break functions.
#[derive(Clone, SimpleObject)]
pub struct ContractReport {
    /// Functions that inputs were tried for.
    checked: i32,
    /// The part of the branches that was reached, of all that were checked with what they call; 0 where there is none.
    coverage: f64,
    /// An input for each function that can be broken, the smallest that was found.
    counterexamples: Vec<Counterexample>,
    /// The seed that was used.
    seed: Count,
    /// How the search ended for each function, also for those that have no inputs.
    attempts: Vec<ContractAttempt>,
}

/// How far the search for an input that breaks a function has come.
#[derive(Clone, SimpleObject)]
pub struct ContractAttempt {
    /// The function, by ref.
    function: String,
    /// Inputs that it took.
    tried: Count,
    /// Inputs that do not meet what it demands.
    discarded: Count,
    /// Inputs of which nothing follows: their runs met a bound, or something that is missing.
    undecided: Count,
    /// Why nothing follows from these, each reason with how many they are, and with the value of the limit that was met.
    undecided_why: Vec<String>,
    /// The part of the branches that was reached, of the function with what it calls; 0 where there is none.
    coverage: f64,
    /// How the search ended; null while it goes on.
    ending: Option<SearchEnding>,
    /// Why there was nothing to try, where that is so.
    message: Option<String>,
    /// The input that breaks it, at the end.
    counterexample: Option<Counterexample>,
}

/// How the search for an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum SearchEnding {
    /// With an input that breaks the function.
    Found,
    /// As many were tried as were wanted, or as there are.
    Tried,
    /// Too few inputs meet what the function demands.
    GaveUp,
    /// The time was over.
    OutOfTime,
    /// There are no inputs for it, or it cannot be run: `message` says why.
    Refused,
}

/// An input that a search found.
#[derive(Clone, SimpleObject)]
pub struct Counterexample {
    /// The function.
    function: Function,
    /// The arguments, the smallest that were found.
    args: Rows<ValueText>,
    /// What it reads of standard input, where two revisions differ and one of them reads any. Bytes that are no UTF-8 are
    /// U+FFFD.
    stdin: Option<String>,
    /// How the run ends; where two revisions differ, the one at `to`.
    outcome: Outcome,
    /// How the run at `from` ends, where two revisions differ. Equal to `outcome` where something else differs.
    before: Option<Outcome>,
    /// In what two revisions differ, what weighs most first.
    distinctions: Vec<Distinction>,
    /// The test case that it became.
    case: Option<TestCase>,
    /// How often it was made smaller.
    shrink_steps: i32,
}

/// Something that is not the same about the runs of two revisions.
#[derive(Clone, Debug, SimpleObject)]
pub struct Distinction {
    /// What it is.
    what: DistinctionKind,
    /// Which one: of a global its ref, of a file its path, of memory the address of the first byte.
    place: Option<String>,
    /// What it is at `from`: the beginning of what is written, the value of a global, 16 bytes of memory in hexadecimal.
    before: Option<String>,
    /// What it is at `to`.
    after: Option<String>,
}

/// What is not the same about two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum DistinctionKind {
    /// How they end: `before` and `outcome` of the counterexample.
    Ending,
    /// What they return: `before` and `outcome` of the counterexample.
    Results,
    /// What they write to standard output.
    Stdout,
    /// What they write to standard error.
    Stderr,
    /// What becomes of a file or folder.
    File,
    /// What they leave in a global that both revisions have.
    Global,
    /// What they leave in linear memory; where it is all, nothing else was found that differs.
    Memory,
}

impl Distinction {
    fn new(view: &View, found: &Found) -> Distinction {
        let of = |what, place: Option<String>, both: Option<[String; 2]>| {
            let [before, after] = both.map_or([None, None], |both| both.map(Some));
            Distinction { what, place, before, after }
        };
        let text = |both: &[Vec<u8>; 2]| Some(both.each_ref().map(|bytes| shortened(bytes)));
        match found {
            Found::Ending => of(DistinctionKind::Ending, None, None),
            Found::Results => of(DistinctionKind::Results, None, None),
            Found::Stdout(both) => of(DistinctionKind::Stdout, None, text(both)),
            Found::Stderr(both) => of(DistinctionKind::Stderr, None, text(both)),
            Found::File(path) => of(DistinctionKind::File, Some(path.to_string()), None),
            Found::Global(global, both) => {
                let values = both.each_ref().map(|value| {
                    let value = text::print_value(view.program(), value);
                    shortened(value.as_bytes())
                });
                of(DistinctionKind::Global, Some(global.to_string()), Some(values))
            }
            Found::Memory(address, both) => {
                let place = Some(address.to_string());
                of(DistinctionKind::Memory, place, Some(both.each_ref().map(|bytes| hex(bytes))))
            }
        }
    }
}

/// The beginning of a text of which an answer shows as much.
fn shortened(bytes: &[u8]) -> String {
    /// Characters that are shown.
    const SHOWN: usize = 1_000;
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into_owned(),
    }
}

/// What small changes of a function its test cases, and contracts, notice.
#[derive(Clone, SimpleObject)]
pub struct MutationReport {
    /// The part of the changes that was noticed; null where none was tried.
    score: Option<f64>,
    /// Changes that were noticed: a run ended otherwise, printed something else, or took far longer.
    killed: i32,
    /// Changes that were not.
    survived: Vec<SurvivingMutant>,
    /// Changes that are possible; as many of them are tried as the limit `mutants` says.
    possible: i32,
    /// Changes after which the program would be wrong.
    skipped: i32,
}

/// A small change that no test case notices: either a test is missing, or the change changes nothing.
#[derive(Clone, SimpleObject)]
pub struct SurvivingMutant {
    /// The node that was changed.
    node: String,
    /// What was changed, in words.
    change: String,
    /// Whether any test case reaches the node.
    reached: bool,
}

fn ratio(reached: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { reached as f64 / of as f64 }
}

fn shown(view: &View, args: &[Value]) -> Rows<ValueText> {
    args.iter().map(|arg| ValueText::from(text::print_value(view.program(), arg))).collect()
}

/// What is searched, and for whom.
struct Search {
    view: View,
    request: CheckRequest,
    /// Who adds the test cases, if they are added.
    adds: Option<Call>,
}

impl Search {
    async fn of(
        context: &Context<'_>,
        input: CheckContractsInput,
    ) -> Result<(Search, tokio::sync::mpsc::Receiver<Attempt>), ApiError> {
        let engine = context.data_unchecked::<Engine>();
        let view = View::find(engine, &input.program_id, input.at.as_deref()).await?;
        let functions = match input.functions {
            Some(given) => {
                let named = given.iter().enumerate().map(|(index, given)| {
                    view.function_named(given).map_err(|error| error.at(&format!("functions[{index}]")))
                });
                named.collect::<Result<Vec<FuncRef>, ApiError>>()?
            }
            None => checking::subjects(view.program()),
        };
        if functions.len() > checking::MOST_FUNCTIONS {
            let (most, found) = (checking::MOST_FUNCTIONS as u64, functions.len() as u64);
            return Err(ApiError::limit("checkedFunctions", most, found));
        }
        let cases: u64 = natural("cases", input.cases.0)?;
        if cases > checking::MOST_TRIES {
            return Err(ApiError::limit("checkedInputs", checking::MOST_TRIES, cases));
        }
        let timeout = Duration::from_millis(natural("timeoutMs", input.timeout_ms.0)?);
        let request = CheckRequest { functions, timeout, cases, seed: input.seed.0.0 };
        let adds = (input.add_cases.0 && may(context, Scope::Edit)).then(|| Call::by(actor(context)));
        let attempts = engine.check_contracts(view.revision(), request.clone()).await.map_err(fail)?;
        Ok((Search { view, request, adds }, attempts))
    }

    async fn attempt(&self, attempt: Attempt) -> Result<ContractAttempt, ApiError> {
        let Attempt {
            function,
            tried,
            discarded,
            undecided,
            undecided_why,
            coverage,
            ending,
            counterexample,
        } = attempt;
        let (ending, message) = match ending {
            None => (None, None),
            Some(checking::SearchEnding::Found) => (Some(SearchEnding::Found), None),
            Some(checking::SearchEnding::Tried) => (Some(SearchEnding::Tried), None),
            Some(checking::SearchEnding::GaveUp) => (Some(SearchEnding::GaveUp), None),
            Some(checking::SearchEnding::OutOfTime) => (Some(SearchEnding::OutOfTime), None),
            Some(checking::SearchEnding::Refused(why)) => (Some(SearchEnding::Refused), Some(why)),
        };
        let counterexample = match counterexample {
            None => None,
            Some(found) => Some(Counterexample {
                function: Function::new(&self.view, function)?,
                args: shown(&self.view, &found.args),
                outcome: outcome(&self.view, &found.outcome)?,
                stdin: None,
                before: None,
                distinctions: Vec::new(),
                case: self.case(function, found.args).await?,
                shrink_steps: i32::try_from(found.shrink_steps).unwrap_or(i32::MAX),
            }),
        };
        Ok(ContractAttempt {
            function: function.to_string(),
            tried: Count(tried),
            discarded: Count(discarded),
            undecided: Count(undecided),
            undecided_why,
            coverage: ratio(coverage.reached, coverage.branches),
            ending,
            message,
            counterexample,
        })
    }

    /// The test case that an input becomes, which may be there already.
    async fn case(&self, function: FuncRef, args: Vec<Value>) -> Result<Option<TestCase>, ApiError> {
        let Some(call) = &self.adds else { return Ok(None) };
        let (open, revision) = (self.view.open(), self.view.revision());
        let added = self.view.engine().add_counterexample(open, revision, function, args, call).await;
        let added = added.map_err(fail)?;
        match added {
            Some(case) => Ok(Some(TestCase::find(&self.view, case.id).await?)),
            None => Ok(None),
        }
    }
}

/// Looks for inputs that break functions.
pub(crate) async fn check_contracts(
    context: &Context<'_>,
    input: CheckContractsInput,
) -> Result<ContractReport, ApiError> {
    let (search, mut attempts) = Search::of(context, input).await?;
    let (mut reached, mut branches) = (0, 0);
    let mut found = Vec::with_capacity(search.request.functions.len());
    while let Some(attempt) = attempts.recv().await {
        if attempt.ending.is_some() {
            reached += attempt.coverage.reached;
            branches += attempt.coverage.branches;
            found.push(search.attempt(attempt).await?);
        }
    }
    let refused = |attempt: &&ContractAttempt| attempt.ending == Some(SearchEnding::Refused);
    Ok(ContractReport {
        checked: (found.len() - found.iter().filter(refused).count()) as i32,
        coverage: ratio(reached, branches),
        counterexamples: found.iter().filter_map(|attempt| attempt.counterexample.clone()).collect(),
        seed: Count(search.request.seed),
        attempts: found,
    })
}

/// Streams how far such a search has come.
pub(crate) async fn attempts(
    context: &Context<'_>,
    input: CheckContractsInput,
) -> Result<impl Stream<Item = async_graphql::Result<ContractAttempt>>, ApiError> {
    let (search, attempts) = Search::of(context, input).await?;
    let search = Arc::new(search);
    Ok(ReceiverStream::new(attempts).then(move |attempt| {
        let search = Arc::clone(&search);
        async move { Ok(search.attempt(attempt).await?) }
    }))
}

/// How long one field searches.
pub(crate) const PATIENCE_MS: u64 = 10_000;
const PATIENCE: Duration = Duration::from_millis(PATIENCE_MS);

/// Why a search comes to nothing; one that takes too long names its limit.
fn failed(error: engine::Error) -> ApiError {
    match error {
        engine::Error::Late => {
            ApiError::new(Code::Timeout, format!("it takes longer than `searchMs`, {PATIENCE_MS}"))
                .data(serde_json::json!({ "which": "searchMs", "limit": PATIENCE_MS }))
        }
        other => fail(other),
    }
}

/// An input on which a function does not do the same at two revisions.
pub(crate) async fn behaviour_diff(
    context: &Context<'_>,
    view: &View,
    (from, to): (&str, &str),
    function: &str,
) -> Result<Option<Counterexample>, ApiError> {
    allow(context, "Program.behaviourDiff")?;
    let revision = async |at: &str, place: &str| {
        let found = view.engine().revision(view.open(), Some(at)).await;
        found.map(|found| view.other(found)).map_err(|error| fail(error).at(place))
    };
    let (from, to) = (revision(from, "from").await?, revision(to, "to").await?);
    let of = to.function_named(function).map_err(|error| error.at("function"))?;
    let revisions = [from.revision(), to.revision()];
    let found = view.engine().behaviour_difference(revisions, of, PATIENCE).await.map_err(fail)?;
    let Some(found) = found else { return Ok(None) };
    Ok(Some(Counterexample {
        function: Function::new(&to, of)?,
        args: shown(&to, &found.args),
        stdin: found.stdin.as_deref().map(shortened),
        outcome: outcome(&to, &found.after)?,
        before: Some(outcome(&from, &found.before)?),
        distinctions: found.distinctions.iter().map(|one| Distinction::new(&to, one)).collect(),
        case: None,
        shrink_steps: i32::try_from(found.shrink_steps).unwrap_or(i32::MAX),
    }))
}

/// What small changes of a function its test cases notice.
pub(crate) async fn mutations(
    context: &Context<'_>,
    view: &View,
    field: &str,
    function: &str,
) -> Result<MutationReport, ApiError> {
    allow(context, field)?;
    let of = view.function_named(function).map_err(|error| error.at("function"))?;
    let score =
        view.engine().mutation_score(view.open(), view.revision(), of, PATIENCE).await.map_err(failed)?;
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let survived = score.survived.iter().map(|one| SurvivingMutant {
        node: one.node.to_string(),
        change: one.change.to_string(),
        reached: one.reached,
    });
    Ok(MutationReport {
        score: score.ratio(),
        killed: count(score.killed),
        survived: survived.collect(),
        possible: count(score.possible),
        skipped: count(score.skipped),
    })
}

/// The part of small changes of a function that is noticed.
pub(crate) async fn mutation_score(
    context: &Context<'_>,
    view: &View,
    function: &str,
) -> Result<Option<f64>, ApiError> {
    Ok(mutations(context, view, "Program.mutationScore", function).await?.score)
}

/// The nodes that no test case reaches, of one function or of all.
pub(crate) async fn uncovered(
    context: &Context<'_>,
    view: &View,
    page: PageRequest,
    function: Option<&str>,
) -> Result<Connection<ComputeNode>, ApiError> {
    allow(context, "Program.uncovered")?;
    // What is no cursor is told before anything is run.
    page.start()?;
    let functions = match function {
        Some(given) => vec![view.function_named(given).map_err(|error| error.at("function"))?],
        None => view.program().functions().map(|(of, _)| of).collect(),
    };
    let found =
        view.engine().uncovered(view.open(), view.revision(), functions, PATIENCE).await.map_err(failed)?;
    Connection::slice(&page, found)?.shown(|(of, node)| Ok(ComputeNode::new(&Function::new(view, of)?, node)))
}

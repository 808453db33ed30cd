//! Test cases: what a function must return for some arguments, and whether it does at a view.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Object, Result, SimpleObject};
use chrono::{DateTime, Utc};
use lmlang_engine::{self as engine, CasePlace, Effort, Engine, MOST_RUNS, NewCase, Scope, Selector, Stored};
use lmlang_interp::Entry;
use lmlang_ir::{FuncRef, Type, miscounted};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::direct::{Direct, Rows};
use crate::error::{ApiError, Code, cut};
use crate::schema::access::may;
use crate::schema::call::call;
use crate::schema::connection::{Connection, Counted, Listed, PageRequest};
use crate::schema::cursor::number;
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::ids::GlobalId;
use crate::schema::mutation::DeletePayload;
use crate::schema::provenance::Actor;
use crate::schema::revision::{Revision, moment, numbered};
use crate::schema::run_input::{self, EnvironmentVariableInput, FileInput, LimitsInput, SimulateInput};
use crate::schema::scalars::{Count, ValueText};
use crate::schema::view::{View, absent, not_found, nullable};
use crate::transport::budget;

/// Adds a test case to a program: no revision, but there for every one, and for everybody.
#[derive(Clone, Debug, InputObject)]
pub struct AddCaseInput {
    /// The program, by id or name. The values are of the types of that view: with the id of a pinned view, of the types of
    /// then.
    program_id: ID,
    /// The function, by ref, path or name.
    function: String,
    /// The name of the case, unique among the cases of the function.
    name: String,
    /// The arguments, as values of the parameters' types.
    args: Vec<ValueText>,
    /// What must be returned, as values of the result types; floats are compared by their bits. Without it, that the function
    /// returns is enough: without a trap, and with every contract holding.
    expected: Option<Vec<ValueText>>,
    /// Bounds of its runs; what is missing is the server's default, each is capped by the server. `traceBytes` has no meaning.
    limits: Option<LimitsInput>,
    /// Standard input of its runs, of text.
    stdin: Option<String>,
    /// Standard input of its runs, of anything, in base64; instead of `stdin`.
    stdin_base64: Option<String>,
    /// The files and folders that there are at the start of its runs.
    files: Option<Vec<FileInput>>,
    /// The command line that WASI gives the program, behind its name, which is `main`.
    command_line: Option<Vec<String>>,
    /// The environment variables that WASI gives the program.
    environment: Option<Vec<EnvironmentVariableInput>>,
    /// What the random bytes of WASI's `random_get` follow from [default: 0].
    seed: Option<Count>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Removes a test case.
#[derive(Clone, Debug, InputObject)]
pub struct RemoveCaseInput {
    /// The case, by its id in any view.
    id: ID,
    /// Same key and input: the first answer. Without one, a repetition answers `NOT_FOUND` with `retired: true`.
    idempotency_key: Option<String>,
}

/// A test case that was added.
#[derive(Clone, SimpleObject)]
pub struct CasePayload {
    /// The case, as of the view that it was added with.
    case: Option<TestCase>,
}

/// How a test case stands at a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "engine::CaseStatus")]
pub enum CaseStatus {
    /// The function returned what is expected.
    Green,
    /// It returned something else, trapped, violated a contract, met a bound, or came to something that is missing.
    Red,
    /// Nobody knows: its function is not there at this view, or takes or returns other types, or it was not run. `message` says
    /// which.
    Stale,
}

/// Bounds of the runs of a test case, as they were asked for.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub struct CaseLimits {
    /// Executed nodes, and what bulk operators cost beyond; null: the server's default.
    fuel: Option<Count>,
    /// Bytes of linear memory and of the value heap; null: the server's default.
    memory_bytes: Option<Count>,
    /// Calls inside calls; null: the server's default.
    call_depth: Option<Count>,
    /// Time that it executes, in milliseconds; null: the server's default.
    timeout_ms: Option<Count>,
    /// Bytes of standard output and standard error; null: the server's default.
    output_bytes: Option<Count>,
}

/// Cases that were asked for together: how they stand is found out together.
struct Together {
    cases: Vec<Arc<engine::Case>>,
    standings: OnceCell<std::result::Result<Vec<engine::Standing>, ApiError>>,
    last_green: OnceCell<std::result::Result<HashMap<Uuid, u64>, ApiError>>,
}

/// A test case at a view.
#[derive(Clone)]
pub struct TestCase {
    view: View,
    function: Function,
    together: Arc<Together>,
    index: usize,
}

impl Direct for TestCase {}

impl Listed for TestCase {
    const CONNECTION: &'static str = "CaseConnection";
    const EDGE: &'static str = "CaseEdge";
}

impl TestCase {
    async fn all(view: &View, cases: Vec<Arc<engine::Case>>) -> std::result::Result<Vec<TestCase>, ApiError> {
        let mut functions = Vec::with_capacity(cases.len());
        for case in &cases {
            functions.push(Box::pin(function_then(view, case)).await?);
        }
        let together = Arc::new(Together { cases, standings: OnceCell::new(), last_green: OnceCell::new() });
        let of = |(index, function)| TestCase {
            view: view.clone(),
            function,
            together: Arc::clone(&together),
            index,
        };
        Ok(functions.into_iter().enumerate().map(of).collect())
    }

    async fn one(view: &View, case: Arc<engine::Case>) -> std::result::Result<TestCase, ApiError> {
        let mut cases = TestCase::all(view, vec![case]).await?;
        cases.pop().ok_or_else(|| fail(engine::Error::Closed))
    }

    /// The case with an id, at a view.
    pub(crate) async fn find(view: &View, id: Uuid) -> std::result::Result<TestCase, ApiError> {
        let found = view.engine().case(view.open(), id).await.map_err(fail)?;
        let given = || GlobalId::Case(view.id().clone(), id).to_string();
        let case = found.ok_or_else(|| not_found("case", &given()))?;
        TestCase::one(view, case).await
    }

    fn case(&self) -> &engine::Case {
        &self.together.cases[self.index]
    }

    /// How the case stands; a fault on the way is told as a reason not to know.
    async fn standing(&self, context: &Context<'_>) -> engine::Standing {
        // Who may read and not simulate is told what is known.
        let effort = if may(context, Scope::Simulate) { Effort::Runs(MOST_RUNS) } else { Effort::Known };
        let stored = if self.view.is_stored() { Stored::Yes } else { Stored::No };
        let find = async || {
            let (engine, revision) = (self.view.engine(), self.view.revision());
            let found = engine.standings(self.view.open(), revision, &self.together.cases, (effort, stored));
            Box::pin(found).await.map_err(fail)
        };
        match self.together.standings.get_or_init(find).await {
            Ok(standings) => match standings.get(self.index) {
                Some(standing) => standing.clone(),
                None => engine::Standing::unknown("it was not run".to_owned()),
            },
            Err(error) => engine::Standing::unknown(error.message.clone()),
        }
    }

    fn types(&self) -> (Vec<Type>, Vec<Type>) {
        let function = self.view.program().function(self.case().function);
        function.map_or_else(Default::default, |function| {
            let head = function.head();
            (head.params.iter().map(|param| param.ty.clone()).collect(), head.results.clone())
        })
    }

    fn text_bytes(case: &engine::Case) -> u64 {
        let expected = case.expected.iter().flatten();
        case.args.iter().chain(expected).map(|text| text.len() as u64).sum()
    }

    async fn newest_green(&self, context: &Context<'_>) -> std::result::Result<Option<Revision>, ApiError> {
        let view = &self.view;
        let standing = self.standing(context).await;
        if standing.status == engine::CaseStatus::Green && view.is_stored() {
            return Ok(Some(Revision::new(view, view.revision().entry.clone())));
        }
        let find = async || {
            let ids: Vec<Uuid> = self.together.cases.iter().map(|case| case.id).collect();
            let newest = view.stored_place().revision;
            view.engine().last_green(view.open(), newest, &ids).await.map_err(fail)
        };
        let found = self.together.last_green.get_or_init(find).await.as_ref().map_err(Clone::clone)?;
        match found.get(&self.case().id) {
            Some(number) => numbered(view, *number).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The function of a case at a view; where it is not there, as it was when the case was added.
async fn function_then(view: &View, case: &engine::Case) -> std::result::Result<Function, ApiError> {
    if view.program().function(case.function).is_some() {
        return Function::new(view, case.function);
    }
    let then = view.engine().state(view.open(), case.revision).await.map_err(fail)?;
    let then = then.ok_or_else(|| not_found("revision", &format!("r{}", case.revision)))?;
    Function::new(&view.other(then), case.function)
}

fn values(texts: Vec<String>) -> Rows<ValueText> {
    texts.into_iter().map(ValueText::from).collect()
}

/// A test case of a function, looked at at one view: what the function is given, what it must return, and whether it does.
#[Object]
impl TestCase {
    /// Global id, with the suffix of the view.
    pub async fn id(&self) -> ID {
        GlobalId::Case(self.view.id().clone(), self.case().id).to_string().into()
    }

    /// Its name, unique among the cases of the function.
    async fn name(&self) -> String {
        self.case().name.clone()
    }

    /// The function; where it is not there at this view, as it was when the case was added.
    async fn function(&self) -> Function {
        self.function.clone()
    }

    /// The arguments. Where they are none of the function's types at this view, with refs in place of names.
    async fn args(&self) -> Rows<ValueText> {
        values(engine::Case::shown(self.view.program(), &self.case().args, &self.types().0))
    }

    /// What must be returned; null: that the function returns is enough.
    async fn expected(&self) -> Option<Rows<ValueText>> {
        let expected = self.case().expected.as_ref()?;
        Some(values(engine::Case::shown(self.view.program(), expected, &self.types().1)))
    }

    /// The newest revision on the way to this view (on its branch, and before that on those that it began on) at which the case
    /// is known to be green: this view's own where it is green here; else the newest one where it was run and green, or where
    /// the last change before it broke was seen to come. Null where none is known: nobody looked while it was green.
    async fn last_green(&self, context: &Context<'_>) -> Option<Result<Revision>> {
        match self.newest_green(context).await {
            Ok(found) => found.map(Ok),
            Err(error) => nullable(Err(error)),
        }
    }

    /// Whether the function does at this view what is expected. Found out from what is known of equal runs, or by running it,
    /// as far as `caseRuns` of `serverInfo` and ten seconds for all cases of a list together go: the rest is `STALE`, and asked
    /// for again goes on. Who may not simulate is told what is known.
    async fn status(&self, context: &Context<'_>) -> CaseStatus {
        self.standing(context).await.status.into()
    }

    /// What is the matter, in words; null where it is green.
    async fn message(&self, context: &Context<'_>) -> Option<Result<String>> {
        let why = self.standing(context).await.why?;
        nullable(budget::count(context, why.len() as u64).map(|()| why))
    }

    /// What the function returned at this view; null where it did not, or where that is long.
    async fn returned(&self, context: &Context<'_>) -> Option<Result<Rows<ValueText>>> {
        let run = self.standing(context).await.run?;
        let returned = run.shown(self.view.program(), &self.types().1)?;
        let bytes = returned.iter().map(|text| text.len() as u64).sum();
        nullable(budget::count(context, bytes).map(|()| values(returned)))
    }

    /// Nodes that its run executed at this view; null where it was not run.
    async fn steps(&self, context: &Context<'_>) -> Option<Count> {
        self.standing(context).await.run.map(|run| Count(run.steps))
    }

    /// Bounds of its runs, as they were asked for.
    async fn limits(&self) -> CaseLimits {
        let bounds = self.case().bounds;
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        CaseLimits {
            fuel: bounds.fuel.map(Count),
            memory_bytes: bounds.memory_bytes.map(Count),
            call_depth: bounds.call_depth.map(|depth| Count(depth.into())),
            timeout_ms: bounds.timeout.map(|time| Count(millis(time))),
            output_bytes: bounds.output_bytes.map(Count),
        }
    }

    /// Standard input of its runs; bytes that are no UTF-8 are U+FFFD. Null: none.
    async fn stdin(&self, context: &Context<'_>) -> Option<Result<String>> {
        let bytes = self.case().environment.stdin.bytes();
        if bytes.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        nullable(budget::count(context, text.len() as u64).map(|()| text))
    }

    /// The paths of the files that there are at the start of its runs.
    async fn files(&self) -> Vec<String> {
        let files = self.case().environment.files.iter();
        let paths = files.filter(|(_, entry)| matches!(entry, Entry::File(_)));
        paths.map(|(path, _)| path.to_string()).collect()
    }

    /// What the random bytes of its runs follow from.
    async fn seed(&self) -> Count {
        Count(self.case().environment.seed)
    }

    /// When it was added.
    async fn added_at(&self) -> DateTime<Utc> {
        moment(self.case().added)
    }

    /// Who added it.
    async fn added_by(&self) -> Actor {
        Actor::from(&self.case().added_by)
    }
}

/// What stands between the function and the name in a place.
const BETWEEN: char = ':';

/// The test cases of a program, by function and name: all, or those of one function.
pub(crate) async fn cases(
    context: &Context<'_>,
    view: &View,
    page: PageRequest,
    function: Option<String>,
) -> std::result::Result<Connection<TestCase>, ApiError> {
    let function = match function {
        None => None,
        // Also one that is gone, or not there yet.
        Some(given) => Some(match given.parse::<FuncRef>() {
            Ok(of) => of,
            Err(_) => view.function_named(&given)?,
        }),
    };
    let after = page.after(|place| {
        let (function, name) = place.split_once(BETWEEN)?;
        Some(CasePlace { function: number(function)?, name: name.to_owned() })
    })?;
    let (engine, open) = (view.engine(), view.open());
    let total = match Counted::of(context) {
        Counted::Yes => engine.count_cases(open, function).await.map_err(fail)?,
        Counted::No => 0,
    };
    let found = engine.cases(open, function, after.as_ref(), page.first).await.map_err(fail)?;
    budget::count(context, found.cases.iter().map(|case| TestCase::text_bytes(case)).sum())?;
    let place = |case: &engine::Case| format!("{}{BETWEEN}{}", case.function.number(), case.name);
    let cases = TestCase::all(view, found.cases).await?;
    let items = cases.into_iter().map(|case| (place(case.case()), case));
    Ok(Connection::known(&page, found.more, usize::try_from(total).unwrap_or(usize::MAX), items))
}

/// Adds a test case.
pub(crate) async fn add(
    context: &Context<'_>,
    input: AddCaseInput,
) -> std::result::Result<CasePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let mut view = View::find(engine, &input.program_id, None).await?;
    if view.function_named(&input.function).is_err() {
        // Another process may have made it a moment ago.
        engine.catch_up(view.open()).await.map_err(fail)?;
        view = View::find(engine, &input.program_id, None).await?;
    }
    let of = view.function_named(&input.function)?;
    let head = view.function(of)?;
    let head = head.head();
    let read = |given: &[ValueText], types: Vec<&Type>, what: &str| {
        if let Some(message) = miscounted(what, types.len(), given.len()) {
            return Err(ApiError::new(Code::BadRequest, message).at(&format!("input.{what}")));
        }
        let value = |(index, (given, ty)): (usize, (&ValueText, &Type))| {
            run_input::value(&view, ty, given, &format!("input.{what}[{index}]"))
        };
        given.iter().zip(types).enumerate().map(value).collect::<std::result::Result<Vec<_>, _>>()
    };
    let args = read(&input.args, head.params.iter().map(|param| &param.ty).collect(), "args")?;
    let expected =
        input.expected.as_ref().map(|given| read(given, head.results.iter().collect(), "expected"));
    let expected = expected.transpose()?;
    let run = SimulateInput::given(
        (input.limits, input.seed),
        (input.stdin, input.stdin_base64),
        input.files,
        (input.command_line, input.environment),
    );
    let new = NewCase {
        function: of,
        name: input.name,
        args,
        expected,
        bounds: run.bounds()?,
        environment: run.environment()?,
    };
    let case = engine.add_case(view.open(), view.revision(), new, &call).await.map_err(fail)?;
    Ok(CasePayload { case: Some(TestCase::one(&view, case).await?) })
}

/// Removes a test case.
pub(crate) async fn remove(
    context: &Context<'_>,
    input: RemoveCaseInput,
) -> std::result::Result<DeletePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let (program, id) = case_id(&input.id)?;
    let open = engine.find(&Selector::Id(program)).await.map_err(fail)?;
    let deleted = engine.remove_case(&open, id, &call).await.map_err(fail)?;
    Ok(DeletePayload { deleted })
}

/// The program and the case that an id names.
pub(crate) fn case_id(given: &str) -> std::result::Result<(Uuid, Uuid), ApiError> {
    match given.parse() {
        Ok(GlobalId::Case(view, id)) => Ok((view.program, id)),
        Ok(
            GlobalId::Program(_)
            | GlobalId::Entity(..)
            | GlobalId::Revision(..)
            | GlobalId::Simulation(_)
            | GlobalId::Run(_)
            | GlobalId::Interrupt(..)
            | GlobalId::Session(_)
            | GlobalId::Kept(_),
        )
        | Err(_) => Err(absent("case", &cut(given), &[], false)),
    }
}

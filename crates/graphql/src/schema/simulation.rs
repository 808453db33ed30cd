//! Simulations: bounded runs of one revision, with their traces.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lmlang_engine::{self as engine, Engine};
use lmlang_interp as interp;
use lmlang_ir::ops::{Expected, signature};
use lmlang_ir::{FuncRef, NodeRef, RefKind, RegionRef, Source};
use uuid::Uuid;

use crate::direct::Rows;
use crate::error::{ApiError, Code, cut};
use crate::schema::absence::WhyNot;
use crate::schema::connection::page_size;
use crate::schema::defaults::{Int, Or, Zero};
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::ids::GlobalId;
use crate::schema::inspecting::{self, MemoryBytes};
use crate::schema::interactive::Breakpoint;
use crate::schema::program::Program;
use crate::schema::run_input::{self, ExecutionTier, PortValue, SimulateInput};
use crate::schema::run_outcome::{FrameLocation, NodeValue, Outcome, PlaceParts, ended, parts};
use crate::schema::scalars::{Count, ValueText};
use crate::schema::simulation_status::{SimulationHalt, SimulationStatus};
use crate::schema::trace_page::{TracePage, TraceStep, counted_steps, trace_page};
use crate::schema::value_page::ValuePage;
use crate::schema::view::{View, not_found, nullable, nullable_if_any};
use crate::schema::written_file::WrittenFile;
use crate::transport::budget;

/// Runs a function once.
pub(crate) async fn simulate(
    view: &View,
    of: FuncRef,
    input: SimulateInput,
) -> std::result::Result<SimulationResult, ApiError> {
    let request = input.request(view, of)?;
    let simulation = view.engine().simulate(view.open(), view.revision(), request).await.map_err(fail)?;
    SimulationResult::of(view, simulation)
}

/// Steps that one run of single nodes shows at most.
const NODE_STEPS: usize = 10_000;

/// Runs some nodes with values for their open inputs.
pub(crate) async fn simulate_nodes(
    view: &View,
    nodes: Vec<String>,
    inputs: Vec<PortValue>,
    run: Option<SimulateInput>,
) -> std::result::Result<SimulationResult, ApiError> {
    if run.as_ref().is_some_and(|run| !run.args().is_empty()) {
        let message = "`run.args` must be empty: the values of open ports are `inputs`";
        return Err(misplaced(message, "run.args"));
    }
    let mut found = Vec::with_capacity(nodes.len());
    for given in &nodes {
        found.push(view.node_named(given)?);
    }
    let Some(function) = found.first().map(|(function, _)| *function) else {
        return Err(misplaced("`nodes` must name at least one node", "nodes"));
    };
    if let Some(index) = found.iter().position(|(of, _)| *of != function) {
        let message = format!("`{}` is part of another function", found[index].1);
        return Err(misplaced(message, &format!("nodes[{index}]")));
    }
    let mut values = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        let (port, ty) = open_port(view, function, &input.port, &format!("inputs[{index}].port"))?;
        values.push((port, run_input::value(view, &ty, &input.value, &format!("inputs[{index}].value"))?));
    }
    let request = engine::NodesRequest {
        function,
        nodes: found.into_iter().map(|(_, node)| node).collect(),
        inputs: values,
        bounds: run.as_ref().map(SimulateInput::bounds).transpose()?.unwrap_or_default(),
        environment: run.as_ref().map(SimulateInput::environment).transpose()?.unwrap_or_default(),
        trace: interp::NodesTrace {
            level: run.as_ref().map_or(interp::TraceLevel::Nodes, SimulateInput::trace),
            steps: NODE_STEPS,
        },
    };
    let (nodes, ports) = (request.nodes.clone(), request.inputs.iter().map(|(port, _)| *port).collect());
    let run = view.engine().simulate_nodes(view.revision(), request).await.map_err(fail)?;
    let run = run.map_err(|error| refused(&error, &nodes, ports))?;
    let shown = Shown::Steps { steps: Arc::new(run.steps), covered: run.covered };
    Ok(SimulationResult { view: view.clone(), shown, report: Arc::new(run.report) })
}

/// The error of an argument that does not fit.
pub(super) fn misplaced(message: impl Into<String>, place: &str) -> ApiError {
    ApiError::new(Code::BadRequest, message).at(place)
}

/// Why nodes are not run, at the argument that is to blame.
fn refused(error: &interp::NodesError, nodes: &[NodeRef], ports: Vec<interp::OpenPort>) -> ApiError {
    use interp::NodesError;
    let node = |of: &NodeRef| {
        let listed = nodes.iter().position(|node| node == of);
        listed.map_or_else(|| "nodes".to_owned(), |index| format!("nodes[{index}]"))
    };
    let port = |index: Option<usize>| {
        index.map_or_else(|| "inputs".to_owned(), |index| format!("inputs[{index}].port"))
    };
    let place = match error {
        NodesError::Nothing | NodesError::Structure(_) => "nodes".to_owned(),
        NodesError::NoNode(of)
        | NodesError::Regions(_, of)
        | NodesError::Leaves(of)
        | NodesError::Captured(of)
        | NodesError::Untyped(of) => node(of),
        NodesError::Missing(_) | NodesError::Start(_) => "inputs".to_owned(),
        NodesError::NotOpen(of) => port(ports.iter().position(|port| port == of)),
        NodesError::Twice(of) => port(ports.iter().rposition(|port| port == of)),
    };
    misplaced(error.to_string(), &place)
}

/// The open port that a client names, with the type of the value that it takes.
fn open_port(
    view: &View,
    of: FuncRef,
    given: &str,
    place: &str,
) -> std::result::Result<(interp::OpenPort, lmlang_ir::Type), ApiError> {
    let bad = || {
        let shown = cut(given);
        let message =
            format!("`{shown}` is no port: expected `n12`, `n12.1`, `g5.0`, `f7.0` or a hole `n12.in0`");
        misplaced(message, place)
    };
    let absent = |what: &str| {
        let shown = cut(given);
        misplaced(format!("there is no {what} `{shown}` in `{of}`"), place)
    };
    let function = view.function(of)?;
    let (entity, port) = given.split_once('.').unwrap_or((given, "0"));
    let entity: lmlang_ir::Ref = entity.parse().map_err(|_| bad())?;
    if let Some(input) = port.strip_prefix("in") {
        let node = NodeRef::try_from(entity).map_err(|_| bad())?;
        let input: u16 = input.parse().map_err(|_| bad())?;
        let record = function.body().node(node).ok_or_else(|| absent("input"))?;
        let ports = lmlang_ir::ops::ports(view.program(), &function, record).ok_or_else(bad)?;
        let ty = match ports.inputs.get(usize::from(input)).ok_or_else(|| absent("input"))? {
            Expected::Is(ty) => ty.clone(),
            Expected::Address => lmlang_ir::Type::I32,
            Expected::Reference => lmlang_ir::Type::FuncRef,
            Expected::Integer => lmlang_ir::Type::I64,
        };
        return Ok((interp::OpenPort::Hole(node, input), ty));
    }
    let port: u16 = port.parse().map_err(|_| bad())?;
    let source = match entity.kind {
        RefKind::Node => NodeRef::try_from(entity).map(|node| Source::Node(node, port)),
        RefKind::Region => RegionRef::try_from(entity).map(|region| Source::RegionParam(region, port)),
        RefKind::Function => FuncRef::try_from(entity).map(|function| Source::Param(function, port)),
        RefKind::Module | RefKind::Type | RefKind::Member | RefKind::Variable | RefKind::Contract => {
            return Err(bad());
        }
    };
    let source = source.map_err(|_| bad())?;
    let ty = signature::source_type(view.program(), &function, source).ok_or_else(|| absent("output"))?;
    Ok((interp::OpenPort::Source(source), ty))
}

/// How a run ended, and what it did.
#[derive(Clone)]
pub struct SimulationResult {
    view: View,
    shown: Shown,
    report: Arc<engine::Report>,
}

/// Where the steps of a run come from.
#[derive(Clone)]
pub(super) enum Shown {
    /// From running it again.
    Again(Arc<engine::Simulation>),
    /// They are there, for so many executed nodes.
    Steps { steps: Arc<Vec<interp::Step>>, covered: u64 },
}

impl SimulationResult {
    fn of(
        view: &View,
        simulation: Arc<engine::Simulation>,
    ) -> std::result::Result<SimulationResult, ApiError> {
        let report = simulation.report().ok_or_else(|| fail(engine::Error::Closed))?;
        Ok(SimulationResult { view: view.clone(), shown: Shown::Again(simulation), report })
    }
}

/// How a run ended, and what it did.
#[Object]
impl SimulationResult {
    /// How it ended.
    async fn outcome(&self, context: &Context<'_>) -> Option<Result<Outcome>> {
        let shown = || {
            budget::open(context)?;
            let shown = ended(&self.view, &self.report)?;
            budget::count(context, shown.text_bytes())?;
            Ok(shown)
        };
        nullable(shown())
    }

    /// Executed nodes.
    async fn steps(&self) -> Count {
        Count(self.report.result.steps)
    }

    /// Executed nodes, and what bulk operators cost beyond.
    async fn fuel_used(&self) -> Count {
        Count(self.report.result.fuel_used)
    }

    /// The most bytes of linear memory, tables, the value heap and files that were written, in the `tier` that made the run:
    /// where there are values of the heap, the other one may hold them longer or let go of them sooner.
    async fn memory_peak_bytes(&self) -> Count {
        Count(self.report.result.memory_peak)
    }

    /// What was printed. Bytes that are no UTF-8 are U+FFFD.
    async fn stdout(&self, context: &Context<'_>) -> Option<Result<String>> {
        nullable(as_text(context, &self.report.result.stdout))
    }

    /// What was printed, to the byte, in base64.
    async fn stdout_base64(&self, context: &Context<'_>) -> Option<Result<String>> {
        nullable(as_base64(context, &self.report.result.stdout))
    }

    /// What was written to standard error. Bytes that are no UTF-8 are U+FFFD.
    async fn stderr(&self, context: &Context<'_>) -> Option<Result<String>> {
        nullable(as_text(context, &self.report.result.stderr))
    }

    /// What was written to standard error, to the byte, in base64.
    async fn stderr_base64(&self, context: &Context<'_>) -> Option<Result<String>> {
        nullable(as_base64(context, &self.report.result.stderr))
    }

    /// What became of files and folders: those that were made, written, renamed or removed, by path.
    async fn files(&self, context: &Context<'_>) -> Option<Result<Vec<WrittenFile>>> {
        let files = self.report.result.written.iter();
        let files = files.map(|(path, entry)| WrittenFile::of(context, path, entry.as_ref()));
        nullable(files.collect())
    }

    /// How long it ran, in milliseconds, in each tier that it ran in; `timeoutMs` bounds that. Compiling is not in it, nor is
    /// waiting for others.
    async fn elapsed_ms(&self) -> f64 {
        self.report.elapsed.as_secs_f64() * 1_000.0
    }

    /// How long it was compiled before or while it ran, in milliseconds: next to nothing where what was compiled for an
    /// earlier run is kept.
    async fn compile_ms(&self) -> f64 {
        self.report.compiling.as_secs_f64() * 1_000.0
    }

    /// What executed it to where it ended: the interpreter also where compiled code stopped before.
    async fn tier(&self) -> ExecutionTier {
        self.report.tier.into()
    }

    /// What a node computed in the course of the run, each time that it was executed, whatever the level of the trace: much
    /// faster than by the steps where it makes a number. A node that calls or owns regions is refused.
    async fn node_values(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The node, as `n12` or `module::function::name`.")] node: String,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "How many to pass over.", default)] from: Or<Zero>,
    ) -> Option<Result<ValuePage>> {
        let SimulationResult { view, shown, .. } = self;
        nullable(ValuePage::read(context, view, shown, &node, first.0, from.0).await)
    }

    /// Steps from a number on.
    async fn trace(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "The number of the first step, from 0.", default)] from: Or<Zero>,
    ) -> Option<Result<TracePage>> {
        nullable(match &self.shown {
            Shown::Again(simulation) => {
                let all = engine::WantedSteps::default();
                trace_page(context, &self.view, simulation, all, first.0, from.0).await
            }
            Shown::Steps { steps, covered } => page_size(first).and_then(|first| {
                let rest = || steps.iter().filter(|step| step.seq >= from.0.0);
                Ok(TracePage {
                    steps: counted_steps(context, &self.view, rest().take(first))?,
                    next_seq: rest().nth(first).map(|step| Count(step.seq)),
                    recorded: Count(*covered),
                    dropped: Count(self.report.result.steps - covered),
                })
            }),
        })
    }
}

/// Output as text, which is counted.
fn as_text(context: &Context<'_>, bytes: &[u8]) -> std::result::Result<String, ApiError> {
    let text = String::from_utf8_lossy(bytes);
    budget::count(context, text.len() as u64)?;
    Ok(text.into_owned())
}

/// Output in base64, whose text is counted.
fn as_base64(context: &Context<'_>, bytes: &[u8]) -> std::result::Result<String, ApiError> {
    budget::count(context, (bytes.len() as u64).div_ceil(3) * 4)?;
    Ok(BASE64_STANDARD.encode(bytes))
}

/// A simulation that is running or was run lately.
#[derive(Clone)]
pub struct Simulation {
    view: View,
    simulation: Arc<engine::Simulation>,
}

impl Simulation {
    /// The simulation with an id.
    pub async fn find(engine: &Engine, id: Uuid) -> std::result::Result<Simulation, ApiError> {
        let found = engine.simulation(id).await.map_err(fail)?;
        let simulation =
            found.ok_or_else(|| not_found("simulation", &GlobalId::Simulation(id).to_string()))?;
        Ok(Simulation::new(engine, simulation))
    }

    /// A simulation with the revision that it runs.
    pub fn new(engine: &Engine, simulation: Arc<engine::Simulation>) -> Simulation {
        let view = View::pinned(engine, simulation.open.clone(), simulation.revision.clone());
        Simulation { view, simulation }
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    pub(crate) fn inner(&self) -> &Arc<engine::Simulation> {
        &self.simulation
    }

    /// Where it stands, if it is one that somebody moves.
    pub(crate) fn standing(&self) -> Option<Arc<engine::InteractiveState>> {
        self.view.engine().interactive_state(&self.simulation)
    }

    /// Where it stands, or ended.
    fn place(&self) -> Option<PlaceParts> {
        if let Some(standing) = self.standing() {
            let place = interp::Place { stack: standing.stack.clone(), values: standing.values.clone() };
            return (!place.stack.is_empty()).then(|| parts(&self.view, &place));
        }
        let report = self.simulation.report()?;
        report.result.outcome.place().map(|place| parts(&self.view, place))
    }
}

/// A simulation that was begun or streamed lately; kept for as long as `serverInfo` says, across restarts too, unless newer
/// ones are too many.
#[Object]
impl Simulation {
    /// Global id.
    pub async fn id(&self) -> ID {
        GlobalId::Simulation(self.simulation.id).to_string().into()
    }

    /// The program, at the revision that is run.
    async fn program(&self) -> Program {
        Program::of(self.view.clone())
    }

    /// The function that is run.
    async fn function(&self) -> Option<Result<Function>> {
        nullable(Function::new(&self.view, self.simulation.request.function))
    }

    /// How it stands.
    async fn status(&self) -> SimulationStatus {
        self.simulation.status().into()
    }

    /// Why an interactive one stands where it stands; null while it runs, and before it has been moved.
    async fn halt(&self) -> Option<SimulationHalt> {
        let standing = self.standing().filter(|standing| standing.status != engine::Status::Running)?;
        standing.halt.map(SimulationHalt::from)
    }

    /// Executed nodes where an interactive one stands: the number of the step that comes next. Of one that streams, how far
    /// its readers have come: the `cursor` behind the furthest step that one of them was given, and once it has ended, all
    /// executed nodes; that never goes back.
    async fn position(&self) -> Count {
        Count(self.simulation.position())
    }

    /// The step that comes next where an interactive one stands; else where it ended. Null when it returned, and while one that
    /// streams runs.
    async fn at(&self) -> Option<FrameLocation> {
        self.place().map(|place| place.at)
    }

    /// The calls there, the outermost first.
    async fn stack(&self) -> Rows<FrameLocation> {
        self.place().map(|place| place.stack).unwrap_or_default()
    }

    /// Values that are alive there in the innermost call, and its variables by their refs.
    async fn locals(&self) -> Rows<NodeValue> {
        let mut values = self.place().map(|place| place.node_values).unwrap_or_default();
        if let Some(standing) = self.standing() {
            values.0.extend(standing.variables.iter().map(|one| NodeValue::of_variable(&self.view, one)));
        }
        values
    }

    /// The same of any call, without references that it has handed on for good, which may be used up by now. Null where
    /// there is no such call, while the simulation runs, and once it is cancelled.
    async fn call_locals(
        &self,
        #[graphql(desc = "The call: its `frame` in `stack`.")] frame: i32,
    ) -> Option<Result<Rows<NodeValue>>> {
        nullable_if_any(inspecting::call(&self.view, &self.simulation, frame).await)
    }

    /// The value of an expression in the text form where an interactive one stands: `array.get names, 70`,
    /// `add.i64 total, (var.get n)`. It sees what is in scope before the node that the call stands at, may read variables,
    /// globals and linear memory, and call what is bounded by `reads`, for 1,000,000 nodes at most. Shows more of a value
    /// than `locals`: up to 4,096 elements and letters. Null where there is no such call, while the simulation runs, and once
    /// it is cancelled.
    async fn evaluate(
        &self,
        #[graphql(desc = "The expression.")] expression: String,
        #[graphql(desc = "The call: its `frame` in `stack`; without it, the innermost.")] frame: Option<i32>,
    ) -> Option<Result<ValueText>> {
        nullable_if_any(inspecting::evaluate(&self.view, &self.simulation, expression, frame).await)
    }

    /// The globals of the program that have a value where an interactive one stands, by ref; the first 500. Null while it
    /// runs, and once it is cancelled.
    async fn globals(&self) -> Option<Result<Rows<NodeValue>>> {
        nullable_if_any(inspecting::globals(&self.view, &self.simulation).await)
    }

    /// Bytes of linear memory where an interactive one stands. Null where the program has no memory, while it runs, and once
    /// it is cancelled.
    async fn memory(
        &self,
        #[graphql(desc = "The first address.", default)] address: Or<Zero>,
        #[graphql(desc = "How many bytes, at most 4,096; fewer come where the memory ends.", default)]
        length: Or<Int<256>>,
    ) -> Option<Result<MemoryBytes>> {
        nullable_if_any(inspecting::memory(&self.view, &self.simulation, address.0.0, length.0).await)
    }

    /// Where an interactive one stops.
    async fn breakpoints(&self) -> Vec<Breakpoint> {
        let Some(standing) = self.standing() else { return Vec::new() };
        let states = standing.breakpoints.iter().enumerate();
        states.map(|(at, state)| Breakpoint::new(state, standing.stopped_at() == Some(at))).collect()
    }

    /// What was printed up to where it stands, or in all. Bytes that are no UTF-8 are U+FFFD.
    async fn stdout(&self, context: &Context<'_>) -> Option<Result<String>> {
        let (standing, report) = (self.standing(), self.simulation.report());
        let bytes = match (&standing, &report) {
            (Some(standing), _) => &standing.stdout[..],
            (None, Some(report)) => &report.result.stdout[..],
            (None, None) => &[],
        };
        nullable(as_text(context, bytes))
    }

    /// How it ended; null while it runs, and where an interactive one does not stand at its end.
    async fn result(&self) -> Option<Result<SimulationResult>> {
        self.simulation.report()?;
        nullable(SimulationResult::of(&self.view, self.simulation.clone()))
    }

    /// Steps from a number on: those that the level of the trace shows or, where something is said about them, those of nodes
    /// and functions that read or made a value. A page that takes longer than `timeoutMs` ends where it has come: `nextSeq` goes on.
    async fn trace(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<200>>,
        #[graphql(desc = "The number of the first step, from 0.", default)] from: Or<Zero>,
        #[graphql(desc = "Only steps of these nodes, by ref or as `module::function::label`.")] nodes: Option<
            Vec<String>,
        >,
        #[graphql(desc = "Only steps of these functions, by ref or path; with `nodes`, of those as well.")]
        functions: Option<Vec<String>>,
        #[graphql(
            desc = "Only steps that read or made this value, with its type: `i64:7`, `\"text\"`, `bool:true`."
        )]
        value: Option<String>,
    ) -> Option<Result<TracePage>> {
        let page = async {
            let wanted = wanted_steps(&self.view, nodes, functions, value)?;
            trace_page(context, &self.view, &self.simulation, wanted, first.0, from.0).await
        };
        nullable(page.await)
    }

    /// The steps that a value follows from, in order; the last one is the step in question. A value is followed through
    /// operators, calls, regions, variables, globals and linear memory, not through the decisions that led to it; from 2,000,000
    /// steps before it on. The nearest steps, where they are more than 200.
    async fn why(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The number of the step that made the value.")] step: Count,
        #[graphql(desc = "Which of its outputs; of a step without outputs, which of its inputs.")] port: i32,
    ) -> Option<Result<Vec<TraceStep>>> {
        nullable(self.explained_value(context, step, port).await)
    }

    /// The steps that kept a node from running, in order: for each place that the node, or a call of its function, stands at,
    /// the last decision for another region, or the last exit before it. Empty where it did run, where the run stopped before
    /// it came there, at a hole, a limit or where it stands, and where it never came near.
    async fn why_not(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "The node, by ref or as `module::function::label`; of a function, by ref or path, the first one."
        )]
        node: String,
    ) -> Option<Result<Vec<TraceStep>>> {
        nullable(self.absence(context, &node).await.map(|found| found.steps.0))
    }

    /// Why a node did not run, or that it did: the reason, with its place, and the steps of `whyNot`. Where its function was not
    /// called, which calls could have led to it, and what kept each of them from running.
    async fn why_not_reason(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "The node, by ref or as `module::function::label`; of a function, by ref or path, the first one."
        )]
        node: String,
    ) -> Option<Result<WhyNot>> {
        nullable(self.absence(context, &node).await)
    }
}

/// The steps that a client names.
fn wanted_steps(
    view: &View,
    nodes: Option<Vec<String>>,
    functions: Option<Vec<String>>,
    value: Option<String>,
) -> std::result::Result<engine::WantedSteps, ApiError> {
    let mut wanted = engine::WantedSteps::default();
    for (index, given) in nodes.iter().flatten().enumerate() {
        let named = view.node_named(given).map_err(|error| error.at(&format!("nodes[{index}]")))?;
        wanted.nodes.push(named.1);
    }
    for (index, given) in functions.iter().flatten().enumerate() {
        let named = view.function_named(given);
        wanted.functions.push(named.map_err(|error| error.at(&format!("functions[{index}]")))?);
    }
    wanted.value = value.map(|given| run_input::literal(view, &given, "value")).transpose()?;
    Ok(wanted)
}

impl Simulation {
    async fn explained_value(
        &self,
        context: &Context<'_>,
        step: Count,
        port: i32,
    ) -> std::result::Result<Vec<TraceStep>, ApiError> {
        let steps = match usize::try_from(port) {
            Ok(port) => self.view.engine().why(&self.simulation, step.0, port).await.map_err(fail)?,
            Err(_) => None,
        };
        let steps = steps.ok_or_else(|| not_found("step with that port", &format!("{}.{port}", step.0)))?;
        Ok(counted_steps(context, &self.view, steps.iter())?.0)
    }
}

//! Simulations: bounded runs of one revision, with their traces.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object, Result, SimpleObject, Union};
use lmlang_engine::{self as engine, Engine, Status};
use lmlang_interp as interp;
use lmlang_ir::{ContractRef, FuncRef, text};
use uuid::Uuid;

use crate::error::{ApiError, Code};
use crate::schema::connection::MAX_PAGE;
use crate::schema::failure::fail;
use crate::schema::function::{Contract, Function};
use crate::schema::ids::{GlobalId, View as Which};
use crate::schema::node::ComputeNode;
use crate::schema::program::Program;
use crate::schema::run_input::{ExecutionTier, PortValue, SimulateInput};
use crate::schema::scalars::{Count, ValueText};
use crate::schema::view::{View, not_found, nullable};

/// How a simulation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum SimulationStatus {
    /// It has not begun.
    Ready,
    /// It runs.
    Running,
    /// It is held.
    Paused,
    /// It returned.
    Completed,
    /// It trapped.
    Trapped,
    /// A contract did not hold.
    ContractViolated,
    /// A bound was met.
    LimitReached,
    /// It came to something that is not there yet.
    ReachedHole,
    /// It was ended from outside.
    Cancelled,
    /// It is not kept any more.
    Expired,
}

impl From<Status> for SimulationStatus {
    fn from(status: Status) -> SimulationStatus {
        match status {
            Status::Running => SimulationStatus::Running,
            Status::Completed => SimulationStatus::Completed,
            Status::Trapped => SimulationStatus::Trapped,
            Status::ContractViolated => SimulationStatus::ContractViolated,
            Status::LimitReached => SimulationStatus::LimitReached,
            Status::ReachedHole => SimulationStatus::ReachedHole,
            Status::Cancelled => SimulationStatus::Cancelled,
        }
    }
}

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

/// Runs some nodes with values for their open inputs.
pub(crate) async fn simulate_nodes(
    _view: &View,
    _nodes: Vec<String>,
    _inputs: Vec<PortValue>,
    _run: Option<SimulateInput>,
) -> std::result::Result<SimulationResult, ApiError> {
    Err(ApiError::new(Code::Unsupported, "running single nodes is not supported"))
}

/// How a run ended, and what it did.
#[derive(Clone)]
pub struct SimulationResult {
    view: View,
    simulation: Arc<engine::Simulation>,
    report: Arc<engine::Report>,
}

impl SimulationResult {
    fn of(
        view: &View,
        simulation: Arc<engine::Simulation>,
    ) -> std::result::Result<SimulationResult, ApiError> {
        let report = simulation.report().ok_or_else(|| fail(engine::Error::Closed))?;
        Ok(SimulationResult { view: view.clone(), simulation, report })
    }
}

/// How a run ended, and what it did.
#[Object]
impl SimulationResult {
    /// How it ended.
    async fn outcome(&self) -> Result<Outcome> {
        Ok(outcome(&self.view, &self.report.result.outcome)?)
    }

    /// Executed nodes.
    async fn steps(&self) -> Count {
        Count(self.report.result.steps)
    }

    /// Executed nodes, and what bulk operators cost beyond.
    async fn fuel_used(&self) -> Count {
        Count(self.report.result.fuel_used)
    }

    /// The most bytes of linear memory and of the value heap.
    async fn memory_peak_bytes(&self) -> Count {
        Count(self.report.result.memory_peak)
    }

    /// What was printed.
    async fn stdout(&self) -> &str {
        &self.report.result.stdout
    }

    /// How long it ran, in milliseconds.
    async fn elapsed_ms(&self) -> f64 {
        self.report.elapsed.as_secs_f64() * 1_000.0
    }

    /// How it was executed.
    async fn tier(&self) -> ExecutionTier {
        ExecutionTier::Interpreter
    }

    /// Steps from a number on.
    async fn trace(
        &self,
        #[graphql(default = 100)] first: i32,
        #[graphql(default_with = "Count(0)")] from: Count,
    ) -> Option<Result<TracePage>> {
        nullable(trace_page(&self.view, &self.simulation, first, from).await)
    }
}

async fn trace_page(
    view: &View,
    simulation: &Arc<engine::Simulation>,
    first: i32,
    from: Count,
) -> std::result::Result<TracePage, ApiError> {
    let first = usize::try_from(first).map_err(|_| {
        ApiError::new(Code::BadRequest, format!("`first` must not be negative, found {first}"))
    })?;
    if first > MAX_PAGE {
        return Err(ApiError::limit("pageSize", MAX_PAGE as u64, first as u64));
    }
    let found = view.engine().steps(simulation, from.0, first).await.map_err(fail)?;
    let recorded = simulation.report().map_or(0, |report| report.result.steps);
    Ok(TracePage {
        steps: found.steps.iter().map(|step| trace_step(view, step)).collect(),
        next_seq: found.next.map(Count),
        recorded: Count(recorded),
        dropped: Count(0),
    })
}

/// Some steps of a trace.
#[derive(Clone, Debug, SimpleObject)]
pub struct TracePage {
    /// The steps in order.
    steps: Vec<TraceStep>,
    /// Where the next page starts; null at the end.
    next_seq: Option<Count>,
    /// Steps that can be read.
    recorded: Count,
    /// Steps that cannot be read any more.
    dropped: Count,
}

/// An executed node.
#[derive(Clone, Debug, SimpleObject)]
pub struct TraceStep {
    /// Nodes that had been executed before.
    seq: Count,
    /// Calls around the function, from 0.
    frame: i32,
    /// The function.
    function: String,
    /// The region.
    region: String,
    /// The node.
    node: String,
    /// Its operator.
    op: String,
    /// What it read.
    inputs: Vec<ValueText>,
    /// What it made. A node that calls or owns regions shows nothing: the `return` or exit behind it does.
    outputs: Vec<ValueText>,
    /// What else there is to say.
    note: Option<&'static str>,
}

/// A step as clients see it.
pub(crate) fn trace_step(view: &View, step: &interp::Step) -> TraceStep {
    let node =
        view.program().function(step.function).and_then(|function| function.body().node(step.node).cloned());
    TraceStep {
        seq: Count(step.seq),
        frame: step.frame as i32,
        function: step.function.to_string(),
        region: step.region.to_string(),
        node: step.node.to_string(),
        op: node.map_or_else(String::new, |node| text::print_op(node.op())),
        inputs: step.inputs.iter().map(|shown| shown_text(view, shown)).collect(),
        outputs: step.outputs.iter().map(|shown| shown_text(view, shown)).collect(),
        note: step.note.map(|note| match note {
            interp::Note::InContract => "in a contract",
            interp::Note::Stopped => "the run ended here",
        }),
    }
}

fn shown_text(view: &View, shown: &interp::Shown) -> ValueText {
    let mut printed = text::print_value(view.program(), &shown.value);
    if shown.cut {
        printed.push_str(" ...");
    }
    ValueText::from(printed)
}

/// How a run ended.
#[derive(Clone, Union)]
pub enum Outcome {
    /// The function returned.
    Returned(Returned),
    /// An operator trapped.
    Trapped(Trapped),
    /// A contract did not hold.
    ContractViolated(ContractViolated),
    /// A bound was met.
    LimitReached(LimitReached),
    /// It came to something that is not there yet.
    ReachedHole(ReachedHole),
    /// A function with errors was called.
    NotVerified(NotVerified),
    /// It was ended from outside.
    Cancelled(Cancelled),
}

/// The function returned.
#[derive(Clone, Debug, SimpleObject)]
pub struct Returned {
    /// Its results.
    values: Vec<ValueText>,
}

/// An operator trapped, or is not supported.
#[derive(Clone, Debug, SimpleObject)]
pub struct Trapped {
    /// The stable code: `DIVISION_BY_ZERO`.
    code: String,
    /// What happened, in words.
    message: String,
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Vec<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Vec<NodeValue>,
}

/// A function's demand or promise did not hold.
#[derive(Clone, SimpleObject)]
pub struct ContractViolated {
    /// The contract.
    contract: Contract,
    /// What it means, in words.
    message: String,
    /// Where: in the function that has the contract.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Vec<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Vec<NodeValue>,
}

/// A bound of the run was met.
#[derive(Clone, Debug, SimpleObject)]
pub struct LimitReached {
    /// Which one: `fuel`, `memory`, `depth`, `time`, `trace`, `output`.
    limit: String,
    /// What happened, in words.
    message: String,
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Vec<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Vec<NodeValue>,
}

/// The run came to something that is not there yet.
#[derive(Clone, SimpleObject)]
pub struct ReachedHole {
    /// The node with the hole; null at the end of a region without a terminator.
    node: Option<ComputeNode>,
    /// The input without a source; null when the node as a whole is wrong.
    port: Option<i32>,
    /// What is missing, in words.
    message: String,
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Vec<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Vec<NodeValue>,
}

/// A function with errors was called, or was to be run.
#[derive(Clone, SimpleObject)]
pub struct NotVerified {
    /// The function.
    function: Function,
    /// What is the matter, in words.
    message: String,
}

/// The run was ended from outside.
#[derive(Clone, Debug, SimpleObject)]
pub struct Cancelled {
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Vec<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Vec<NodeValue>,
}

/// A place in a call.
#[derive(Clone, Debug, Default, SimpleObject)]
pub struct FrameLocation {
    /// Position in the stack of calls, from 0.
    frame: i32,
    /// The function.
    function: String,
    /// The region.
    region: String,
    /// The node; null at the end of a region without a terminator.
    node: Option<String>,
    /// The node's text.
    text: String,
    /// Nodes that the run had executed.
    step: Count,
}

/// A value that was alive.
#[derive(Clone, Debug, SimpleObject)]
pub struct NodeValue {
    /// The node, or the region or function whose parameter it is.
    node: String,
    /// Which output or parameter.
    port: i32,
    /// The value.
    value: ValueText,
}

fn location(view: &View, at: &interp::Location) -> FrameLocation {
    FrameLocation {
        frame: at.frame as i32,
        function: at.function.to_string(),
        region: at.region.to_string(),
        node: at.node.map(|node| node.to_string()),
        text: at
            .node
            .map_or_else(String::new, |node| text::print_node(view.program(), node, text::Detail::Summary)),
        step: Count(at.step),
    }
}

struct PlaceParts {
    at: FrameLocation,
    stack: Vec<FrameLocation>,
    node_values: Vec<NodeValue>,
}

fn parts(view: &View, place: &interp::Place) -> PlaceParts {
    PlaceParts {
        at: place.at().map(|at| location(view, at)).unwrap_or_default(),
        stack: place.stack.iter().map(|at| location(view, at)).collect(),
        node_values: place
            .values
            .iter()
            .map(|one| NodeValue {
                node: view
                    .program()
                    .ref_of(one.source.number())
                    .map_or_else(String::new, |of| of.to_string()),
                port: i32::from(one.source.port()),
                value: shown_text(view, &one.shown),
            })
            .collect(),
    }
}

/// An outcome as clients see it.
pub(crate) fn outcome(view: &View, outcome: &interp::Outcome) -> std::result::Result<Outcome, ApiError> {
    Ok(match outcome {
        interp::Outcome::Returned { values } => Outcome::Returned(Returned {
            values: values
                .iter()
                .map(|value| ValueText::from(text::print_value(view.program(), value)))
                .collect(),
        }),
        interp::Outcome::Trapped { fault, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let (code, message) = (fault.code().to_owned(), fault.to_string());
            Outcome::Trapped(Trapped { code, message, at, stack, node_values })
        }
        interp::Outcome::ContractViolated { contract, message, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let contract = contract_of(view, *contract)?;
            Outcome::ContractViolated(ContractViolated {
                contract,
                message: message.clone(),
                at,
                stack,
                node_values,
            })
        }
        interp::Outcome::LimitReached { limit, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let message = format!("the limit of {limit} was reached");
            Outcome::LimitReached(LimitReached {
                limit: limit.name().to_owned(),
                message,
                at,
                stack,
                node_values,
            })
        }
        interp::Outcome::ReachedHole { node, port, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let node = match (node, place.at()) {
                (Some(node), Some(at)) => Some(ComputeNode::new(&Function::new(view, at.function)?, *node)),
                (Some(_) | None, _) => None,
            };
            let message = match (&node, port) {
                (Some(node), Some(port)) => format!("input {port} of `{}` has no source", node.of),
                (Some(node), None) => format!("`{}` does not fit what it uses any more", node.of),
                (None, _) => "the region has no terminator".to_owned(),
            };
            let port = port.map(i32::from);
            Outcome::ReachedHole(ReachedHole { node, port, message, at, stack, node_values })
        }
        interp::Outcome::NotVerified { function } => {
            let message = format!("`{}` has errors", view.program().path((*function).into()));
            Outcome::NotVerified(NotVerified { function: Function::new(view, *function)?, message })
        }
        interp::Outcome::Cancelled { place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            Outcome::Cancelled(Cancelled { at, stack, node_values })
        }
    })
}

fn contract_of(view: &View, of: ContractRef) -> std::result::Result<Contract, ApiError> {
    let function = view.program().function_of(of.into());
    let function = function.ok_or_else(|| not_found("contract", &of.to_string()))?;
    Ok(Contract::new(Function::new(view, function)?, of))
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
        let simulation = engine.simulation(id).ok_or_else(|| not_found("simulation", &id.to_string()))?;
        Ok(Simulation::new(engine, simulation))
    }

    /// A simulation with the revision that it runs.
    pub fn new(engine: &Engine, simulation: Arc<engine::Simulation>) -> Simulation {
        let which = Which::Pinned(simulation.revision.entry.number);
        let view = View::new(engine, simulation.open.clone(), which, simulation.revision.clone());
        Simulation { view, simulation }
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    pub(crate) fn inner(&self) -> &Arc<engine::Simulation> {
        &self.simulation
    }

    fn place(&self) -> Option<PlaceParts> {
        let report = self.simulation.report()?;
        report.result.outcome.place().map(|place| parts(&self.view, place))
    }
}

/// A simulation that is running or was run lately; kept for as long as `serverInfo` says.
#[Object]
impl Simulation {
    /// Global id.
    pub async fn id(&self) -> ID {
        GlobalId::Simulation(self.simulation.id).to_string().into()
    }

    /// The program, at the revision that is run.
    async fn program(&self) -> Program {
        Program(self.view.clone())
    }

    /// The function that is run.
    async fn function(&self) -> Result<Function> {
        Ok(Function::new(&self.view, self.simulation.request.function)?)
    }

    /// How it stands.
    async fn status(&self) -> SimulationStatus {
        let report = self.simulation.report();
        Status::of(report.as_ref().map(|report| &report.result.outcome)).into()
    }

    /// Nodes that it had executed at its end.
    async fn position(&self) -> Count {
        Count(self.simulation.report().map_or(0, |report| report.result.steps))
    }

    /// Where it ended; null when it returned or runs.
    async fn at(&self) -> Option<FrameLocation> {
        self.place().map(|place| place.at)
    }

    /// The calls at its end, the outermost first.
    async fn stack(&self) -> Vec<FrameLocation> {
        self.place().map(|place| place.stack).unwrap_or_default()
    }

    /// Values that were alive in the innermost call.
    async fn locals(&self) -> Vec<NodeValue> {
        self.place().map(|place| place.node_values).unwrap_or_default()
    }

    /// How it ended; null while it runs.
    async fn result(&self) -> Option<Result<SimulationResult>> {
        self.simulation.report()?;
        nullable(SimulationResult::of(&self.view, self.simulation.clone()))
    }

    /// Steps from a number on.
    async fn trace(
        &self,
        #[graphql(default = 200)] first: i32,
        #[graphql(default_with = "Count(0)")] from: Count,
    ) -> Option<Result<TracePage>> {
        nullable(trace_page(&self.view, &self.simulation, first, from).await)
    }
}

//! Interactive simulations: what begins them, moves them, and where they stop.

use async_graphql::{Context, Enum, ID, InputObject, SimpleObject};
use lmlang_engine::{Action, BreakpointState, BreakpointText, Engine, InteractiveRequest};

use crate::error::ApiError;
use crate::schema::call::call;
use crate::schema::defaults::{No, One, Or, Zero};
use crate::schema::failure::fail;
use crate::schema::ids::GlobalId;
use crate::schema::run_input::SimulateInput;
use crate::schema::scalars::Count;
use crate::schema::simulation::{Simulation, misplaced};
use crate::schema::view::{View, not_found};

/// Begins a simulation.
#[derive(Clone, Debug, InputObject)]
pub struct StartSimulationInput {
    /// The program, by id or name.
    pub(crate) program_id: ID,
    /// The revision, as for `program(at:)`: `r7`; without it, the head.
    pub(crate) at: Option<String>,
    /// The function, by ref or path.
    pub(crate) function: String,
    /// What it is given.
    pub(crate) run: SimulateInput,
    /// Where it stops. Not for `Subscription.simulate`.
    pub(crate) breakpoints: Option<Vec<BreakpointInput>>,
    /// Whether it stands before its first step at first. Not for `Subscription.simulate`.
    #[graphql(default)]
    pub(crate) pause_at_start: Or<No>,
    /// Same key and input: the same simulation, as it stands by now; another input: `IDEMPOTENCY_MISMATCH`. Not needed for
    /// `Subscription.simulate`: there the same run is the same simulation, unless the clock ended it.
    pub(crate) idempotency_key: Option<String>,
}

/// A place to stop at: one of `node`, `function` and `watch`.
#[derive(Clone, Debug, InputObject)]
pub struct BreakpointInput {
    /// A node to stop before, by ref or as `module::function::label`.
    node: Option<String>,
    /// A function before whose first node to stop, each time that it is called, by ref or path.
    function: Option<String>,
    /// Stop at the node, or in the function, only where this holds: a `bool` in the text form, of what is in scope there. It
    /// may read variables, globals and linear memory, and call what is bounded by `reads`: `gt_s.i64 (var.get n), 9`. Where
    /// it cannot be told, as it traps, the simulation stops.
    condition: Option<String>,
    /// What to watch: a variable or a global, by ref or path, `v5` or `module::function::name`, or bytes of linear memory,
    /// `memory[16..24]`. The simulation stops behind the node that gives it another value.
    watch: Option<String>,
    /// How often it is met on the way forward without stopping, from when it is set; each time counts in `hits`. On the way
    /// back it stops each time.
    #[graphql(default)]
    ignore: Or<Zero>,
}

/// What is done with an interactive simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum SimulationAction {
    /// So many nodes forward, into calls and regions; breakpoints are passed.
    Step,
    /// Past the next node with all that it calls or owns, so many times: what comes then stands in the same region, in one
    /// around, or in the caller. Stops at breakpoints on the way.
    StepOver,
    /// Out of the innermost call, so many times. Stops at breakpoints on the way.
    StepOut,
    /// To the next breakpoint, or to the end.
    Run,
    /// Stop at once.
    Pause,
    /// The same as `RUN`.
    Resume,
    /// To the step `seekTo`, forward or back; breakpoints are passed.
    Seek,
    /// So many nodes back.
    StepBack,
    /// Back to where a breakpoint was met last, or to the start.
    RunBack,
    /// The end: it cannot be moved any more. One that streams ends for all who read it; one that has ended stays as it is.
    Cancel,
    /// Other breakpoints, instead of those that there are.
    SetBreakpoints,
}

/// Moves an interactive simulation.
#[derive(Clone, Debug, InputObject)]
pub struct ControlSimulationInput {
    /// The simulation, as `startSimulation` tells it; for `CANCEL` also as a stream does.
    id: ID,
    /// What is to be done.
    action: SimulationAction,
    /// How often, for `STEP`, `STEP_OVER`, `STEP_OUT` and `STEP_BACK`.
    #[graphql(default)]
    steps: Or<One>,
    /// The step to go to, for `SEEK`.
    seek_to: Option<Count>,
    /// The breakpoints, for `SET_BREAKPOINTS`.
    breakpoints: Option<Vec<BreakpointInput>>,
    /// Same key and input: nothing is done a second time; another input: `IDEMPOTENCY_MISMATCH`. The last 32 are remembered.
    idempotency_key: Option<String>,
}

/// A simulation after something was done with it.
#[derive(Clone, SimpleObject)]
pub struct SimulationPayload {
    /// The simulation.
    simulation: Option<Simulation>,
}

/// A place to stop at.
#[derive(Clone, Debug, SimpleObject)]
pub struct Breakpoint {
    /// The node to stop before.
    node: Option<String>,
    /// The function to stop in.
    function: Option<String>,
    /// When to stop there.
    condition: Option<String>,
    /// What is watched.
    watch: Option<String>,
    /// How often it was met on the way forward since it was set.
    hits: Count,
    /// How often it is met so without stopping.
    ignore: Count,
    /// Why its condition could not be told when it was last met.
    message: Option<String>,
    /// Whether the simulation stopped here.
    here: bool,
}

impl Breakpoint {
    pub(crate) fn new(state: &BreakpointState, here: bool) -> Breakpoint {
        let BreakpointText { node, function, condition, watch, ignore } = state.text.clone();
        let (hits, ignore, message) = (Count(state.hits), Count(ignore), state.trouble.clone());
        Breakpoint { node, function, condition, watch, hits, ignore, message, here }
    }
}

impl BreakpointInput {
    /// The same by refs.
    fn named(self, view: &View, index: usize) -> std::result::Result<BreakpointText, ApiError> {
        let BreakpointInput { node, function, condition, watch, ignore } = self;
        let at = |field: &str, error: ApiError| error.at(&format!("breakpoints[{index}].{field}"));
        let node = node.map(|given| view.node_named(&given).map(|(_, node)| node.to_string()));
        let function = function.map(|given| view.function_named(&given).map(|of| of.to_string()));
        Ok(BreakpointText {
            node: node.transpose().map_err(|error| at("node", error))?,
            function: function.transpose().map_err(|error| at("function", error))?,
            condition,
            watch,
            ignore: ignore.0.0,
        })
    }
}

fn named(
    view: &View,
    given: Option<Vec<BreakpointInput>>,
) -> std::result::Result<Vec<BreakpointText>, ApiError> {
    let given = given.unwrap_or_default().into_iter().enumerate();
    given.map(|(index, given)| given.named(view, index)).collect()
}

/// Begins an interactive simulation.
pub(crate) async fn start(
    context: &Context<'_>,
    input: StartSimulationInput,
) -> std::result::Result<SimulationPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let view = View::find(engine, &input.program_id, input.at.as_deref()).await?;
    let function = view.function_named(&input.function)?;
    let request = InteractiveRequest {
        run: input.run.request(&view, function)?,
        breakpoints: named(&view, input.breakpoints)?,
        pause_at_start: input.pause_at_start.0,
    };
    let begun = engine.start_interactive(view.open(), view.revision(), request, &call).await.map_err(fail)?;
    Ok(SimulationPayload { simulation: Some(Simulation::new(engine, begun)) })
}

/// Moves an interactive simulation.
pub(crate) async fn control(
    context: &Context<'_>,
    input: ControlSimulationInput,
) -> std::result::Result<SimulationPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let Ok(GlobalId::Simulation(uuid)) = input.id.parse() else {
        return Err(not_found("simulation", &input.id));
    };
    let simulation = Simulation::find(engine, uuid).await?;
    let ControlSimulationInput { action, steps, seek_to, breakpoints, .. } = input;
    if seek_to.is_some() != (action == SimulationAction::Seek) {
        return Err(misplaced("`seekTo` goes with `SEEK`, and `SEEK` with it", "seekTo"));
    }
    if breakpoints.is_some() != (action == SimulationAction::SetBreakpoints) {
        return Err(misplaced("`breakpoints` go with `SET_BREAKPOINTS`, and that with them", "breakpoints"));
    }
    let steps = steps.0.0;
    let action = match action {
        SimulationAction::Step => Action::Step(steps),
        SimulationAction::StepOver => Action::StepOver(steps),
        SimulationAction::StepOut => Action::StepOut(steps),
        SimulationAction::Run | SimulationAction::Resume => Action::Run,
        SimulationAction::Pause => Action::Pause,
        SimulationAction::Seek => Action::Seek(seek_to.map_or(0, |to| to.0)),
        SimulationAction::StepBack => Action::StepBack(steps),
        SimulationAction::RunBack => Action::RunBack,
        SimulationAction::Cancel => Action::Cancel,
        SimulationAction::SetBreakpoints => Action::SetBreakpoints(named(simulation.view(), breakpoints)?),
    };
    engine.control_interactive(simulation.inner(), action, &call).await.map_err(fail)?;
    Ok(SimulationPayload { simulation: Some(simulation) })
}

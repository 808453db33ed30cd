//! The flow that is measured, and an engine that runs it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{
    Accepted, BoxFuture, Call, Engine, Error, FlowCode, Halt, Limits, RunInfo, RunStatus, SnapshotPolicy,
    StartRun, Work,
};
use lmlang_flow::definition::END;
use lmlang_flow::{Definition, Flow, NodeSpec, Reducer, State, Step, Update};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Options, Store};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::Failure;

/// How long runs may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a run is looked at whose last step was taken and is not stored yet.
const PAUSE: Duration = Duration::from_millis(1);

/// What a step writes: 1,000 bytes, others each time.
pub(crate) fn text(step: u64) -> String {
    format!("{step:010}").repeat(100)
}

/// A flow of one node that leads back to itself.
struct Loop {
    flow: Arc<Flow>,
    /// Told of the runs that have taken their last step: whoever waits need not ask meanwhile.
    last: UnboundedSender<Uuid>,
}

impl Loop {
    fn new(last: UnboundedSender<Uuid>) -> Result<Loop, Failure> {
        let definition = Definition::new("loop", 1, "Takes as many steps as it is told.")
            .node(NodeSpec::task("work", &["work", END], "").at_most(u32::MAX))
            .channel("steps", Reducer::Replace, json!(0))
            .channel("step", Reducer::Replace, json!(0))
            .channel("text", Reducer::Replace, json!(""));
        let flow = Flow::new(definition).map_err(|problems| format!("no flow: {problems:?}"))?;
        Ok(Loop { flow: Arc::new(flow), last })
    }
}

impl FlowCode for Loop {
    fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    fn input_schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn accept<'a>(
        &'a self,
        _: &'a Engine,
        input: &'a Value,
        _: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>> {
        Box::pin(async move {
            let update = Update::none().with("steps", input["steps"].clone());
            Ok(Accepted { update, ..Accepted::default() })
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            let step = state.get("step").as_u64().unwrap_or(0) + 1;
            let update = Update::none().with("step", step).with("text", text(step));
            if state.get("steps").as_u64().is_some_and(|steps| step < steps) {
                return Ok(Step::next("work", update));
            }
            // Nobody may wait any more.
            self.last.send(work.run()).ok();
            Ok(Step::end(update))
        })
    }
}

/// An engine with the flow.
pub(crate) struct Runner {
    pub(crate) engine: Engine,
    last: UnboundedReceiver<Uuid>,
}

impl Runner {
    /// Opens a database, or makes it.
    pub(crate) async fn open(database: &Path) -> Result<Runner, Failure> {
        let store = Store::open(Options::file(database)).await?;
        let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
        let (sender, last) = unbounded_channel();
        let code: Arc<dyn FlowCode> = Arc::new(Loop::new(sender)?);
        engine.run_flows([code]);
        Ok(Runner { engine, last })
    }

    /// Begins so many runs at once of so many steps each, and waits until the end of all is stored.
    pub(crate) async fn run(&mut self, runs: usize, steps: u64) -> Result<Vec<RunInfo>, Failure> {
        tokio::time::timeout(PATIENCE, self.finish(runs, steps)).await?
    }

    async fn finish(&mut self, runs: usize, steps: u64) -> Result<Vec<RunInfo>, Failure> {
        let mut beginning = JoinSet::new();
        for _ in 0..runs {
            let engine = self.engine.clone();
            beginning.spawn(async move {
                let input = json!({ "steps": steps });
                let start = StartRun { flow: "loop".to_owned(), session: None, input, deadline: None };
                engine.start_run(&start, &call()).await.map(drop)
            });
        }
        while let Some(begun) = beginning.join_next().await {
            begun??;
        }
        let mut last = Vec::with_capacity(runs);
        while last.len() < runs {
            last.push(self.last.recv().await.ok_or("the engine was closed")?);
        }
        let mut ended = Vec::with_capacity(runs);
        for run in last {
            ended.push(self.ended(run).await?);
        }
        Ok(ended)
    }

    async fn ended(&self, run: Uuid) -> Result<RunInfo, Failure> {
        loop {
            let info = self.engine.run_info(run).await?;
            match info.status {
                RunStatus::Completed => return Ok(info),
                RunStatus::Running => tokio::time::sleep(PAUSE).await,
                RunStatus::Waiting | RunStatus::Failed | RunStatus::Cancelled => {
                    return Err(format!("a run is {:?}", info.status).into());
                }
            }
        }
    }

    /// What a run came to, as its journal says: its step and what that wrote.
    pub(crate) async fn came_to(&self, run: &RunInfo) -> Result<(u64, String), Failure> {
        let machine = self.engine.run_machine(run).await?;
        let state = machine.state();
        Ok((state.get("step").as_u64().unwrap_or(0), state.text("text").to_owned()))
    }
}

fn call() -> Call {
    Call::by(Actor { name: "bench".to_owned(), kind: ActorKind::Tool, client: None })
}

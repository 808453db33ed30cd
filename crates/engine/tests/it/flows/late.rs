//! Attempts that take longer than their node may work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lmlang_engine::{
    Accepted, BoxFuture, Effect, Engine, Error, FlowCode, Halt, Repeat, RunStatus, SnapshotPolicy, Work,
};
use lmlang_flow::definition::END;
use lmlang_flow::{Definition, Flow, NodeSpec, State, Step, Update, What, ladder};
use serde_json::{Value, json};

use super::{answer, open_questions, start, until_status};
use crate::fixture::Fixture;

/// How long an attempt may work, in microseconds.
const WITHIN: i64 = 500_000;

/// Has an effect; of three tries, the first two never come to an end after that.
struct Slow {
    flow: Arc<Flow>,
    tries: AtomicUsize,
    calls: AtomicUsize,
}

impl FlowCode for Slow {
    fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    fn input_schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn accept<'a>(
        &'a self,
        _: &'a Engine,
        _: &'a Value,
        _: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>> {
        Box::pin(async move { Ok(Accepted::default()) })
    }

    fn execute<'a>(
        &'a self,
        _: &'a str,
        _: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            let effect = Effect::new("tool", "note", json!({}), Repeat::Keyed);
            let noted = work.effect(effect, move |_| async move {
                self.calls.fetch_add(1, Ordering::SeqCst);
                Ok((Value::Null, Value::Null))
            });
            noted.await?;
            if self.tries.fetch_add(1, Ordering::SeqCst) < 2 {
                std::future::pending::<()>().await;
            }
            Ok(Step::end(Update::none()))
        })
    }
}

/// An attempt that takes longer than its node may work is broken off and has failed, as the ladder judges failures; what it has
/// had is not had again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_takes_too_long_has_failed() {
    let node = NodeSpec::task("slow", &[END], "").trying(2).within(WITHIN);
    let flow = Flow::new(Definition::new("slow", 1, "").node(node)).expect("it makes sense");
    let slow =
        Arc::new(Slow { flow: Arc::new(flow), tries: AtomicUsize::new(0), calls: AtomicUsize::new(0) });
    let fixture = Fixture::new(SnapshotPolicy::default()).await;
    let engine = &fixture.engine;
    engine.run_flows([Arc::clone(&slow) as Arc<dyn FlowCode>]);
    let run = start(engine, "slow", json!({})).await.id;
    until_status(engine, run, RunStatus::Waiting).await;

    let steps = engine.step_page(run, 0, 100).await.expect("they are read").items;
    let failures: Vec<(u32, &str)> = steps
        .iter()
        .filter_map(|step| match &step.what {
            What::Failed(failed) => Some((failed.attempt, failed.failure.code.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(failures, [(1, ladder::LATE), (2, ladder::LATE)]);
    let asked = open_questions(engine).await.remove(0);
    let question =
        "`slow` failed 2 times: `slow` has not come to its end within 500 ms (ATTEMPT_TIMEOUT). Go on?";
    assert_eq!(asked.ask.question, question);

    answer(engine, &asked, json!({ "choice": "retry" })).await.expect("it is taken");
    until_status(engine, run, RunStatus::Completed).await;
    assert_eq!(slow.calls.load(Ordering::SeqCst), 1);
}

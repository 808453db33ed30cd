//! Flows for tests: what their nodes do outside is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Accepted, BoxFuture, Effect, Engine, Error, FlowCode, Halt, Repeat, Work};
use lmlang_flow::definition::END;
use lmlang_flow::{Arm, Ask, AskKind, Definition, Flow, Goto, NodeSpec, Reducer, State, Step, Update};
use serde_json::{Value, json};
use tokio::sync::RwLock;

/// How often something outside was called.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) models: AtomicUsize,
    pub(crate) tools: AtomicUsize,
    pub(crate) knocks: AtomicUsize,
    /// Held for writing, it keeps runs of `long` from working.
    pub(crate) gate: RwLock<()>,
}

impl Calls {
    pub(crate) fn both(&self) -> (usize, usize) {
        (self.models.load(Ordering::SeqCst), self.tools.load(Ordering::SeqCst))
    }
}

/// The flows of these tests: `long`, `outer`, `inner`, `shaky`.
pub(crate) fn all(calls: &Arc<Calls>) -> Vec<Arc<dyn FlowCode>> {
    later(calls, |long| long)
}

/// The same, with another definition of `long`.
pub(crate) fn later(
    calls: &Arc<Calls>,
    change: impl FnOnce(Definition) -> Definition,
) -> Vec<Arc<dyn FlowCode>> {
    let code = |flow: Definition| -> Arc<dyn FlowCode> {
        let flow = Arc::new(Flow::new(flow).expect("it makes sense"));
        Arc::new(Code { flow, calls: Arc::clone(calls) })
    };
    vec![code(change(long())), code(outer()), code(inner()), code(shaky())]
}

/// `shaky` in another version.
pub(crate) fn shaky_again(calls: &Arc<Calls>) -> Arc<dyn FlowCode> {
    let flow = Flow::new(Definition { version: 2, ..shaky() }).expect("it makes sense");
    Arc::new(Code { flow: Arc::new(flow), calls: Arc::clone(calls) })
}

struct Code {
    flow: Arc<Flow>,
    calls: Arc<Calls>,
}

/// Fifty steps with two effects each, and a question in the middle.
fn long() -> Definition {
    Definition::new("long", 1, "Takes fifty steps.")
        .node(NodeSpec::task("work", &["work", "ask", "close"], "").at_most(50))
        .node(NodeSpec::ask("ask", &["work"], "").at_most(1))
        .node(NodeSpec::task("close", &[END], ""))
        .channel("steps", Reducer::Sum, json!(0))
        .channel("said", Reducer::Append { most: 100 }, json!([]))
        .channel("answer", Reducer::Replace, Value::Null)
        .channel("plan", Reducer::Replace, json!(["work", "close"]))
}

/// Eight branches, each of which waits for a run of `inner`.
fn outer() -> Definition {
    Definition::new("outer", 1, "Waits for eight runs.")
        .node(NodeSpec::task("open", &["begin", "add"], ""))
        .node(NodeSpec::task("begin", &["note"], "").at_most(8))
        .node(NodeSpec::task("note", &[END], ""))
        .node(NodeSpec::task("add", &[END], ""))
        .private("arm", Reducer::Replace, json!(0))
        .private("result", Reducer::Replace, Value::Null)
        .channel("results", Reducer::Append { most: 8 }, json!([]))
        .channel("sum", Reducer::Replace, json!(0))
}

/// Eight branches, each of which asks and calls a tool.
fn inner() -> Definition {
    Definition::new("inner", 1, "Asks eight times at once.")
        .node(NodeSpec::task("open", &["ask", "add"], ""))
        .node(NodeSpec::ask("ask", &["note"], "").at_most(8))
        .node(NodeSpec::task("note", &[END], ""))
        .node(NodeSpec::task("add", &[END], ""))
        .private("arm", Reducer::Replace, json!(0))
        .channel("base", Reducer::Replace, json!(0))
        .channel("answer", Reducer::Replace, Value::Null)
        .channel("said", Reducer::Append { most: 8 }, json!([]))
}

/// One node that does as its input says.
fn shaky() -> Definition {
    Definition::new("shaky", 1, "Fails as it is told.")
        .node(NodeSpec::task("try", &[END], ""))
        .channel("how", Reducer::Replace, json!("well"))
        .channel("attempt", Reducer::Replace, json!(0))
        .private("secret", Reducer::Replace, json!("hidden"))
}

fn ask(question: String) -> Ask {
    Ask {
        kind: AskKind::NeedClarification,
        question,
        choices: Vec::new(),
        expires: None,
        otherwise: None,
        into: Some("answer".to_owned()),
        subject: None,
    }
}

impl FlowCode for Code {
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
            let channel = match self.flow.name() {
                "inner" => "base",
                "shaky" => "how",
                _ => return Ok(Accepted::default()),
            };
            let Some(value) = input.get(channel) else {
                let message = format!("`{channel}` is missing");
                return Err(Error::Argument { place: format!("input.input.{channel}"), message });
            };
            Ok(Accepted { update: Update::none().with(channel, value.clone()), ..Accepted::default() })
        })
    }

    fn execute<'a>(
        &'a self,
        node: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            match (self.flow.name(), node) {
                ("long", "work") => {
                    drop(self.calls.gate.read().await);
                    let step = state.get("steps").as_i64().unwrap_or(0);
                    let said = self.model(work, step).await?;
                    self.tool(work, step, Repeat::Keyed).await?;
                    let update = Update::none().with("steps", 1).with("said", json!([said]));
                    let next = match step {
                        24 => "ask",
                        49 => "close",
                        _ => "work",
                    };
                    Ok(Step::next(next, update))
                }
                ("long", "ask") => Ok(Step::ask(ask("go on?".to_owned()), "work", Update::none())),
                ("outer" | "inner", "open") => {
                    let node = if self.flow.name() == "outer" { "begin" } else { "ask" };
                    let arm =
                        |number| Arm { node: node.to_owned(), given: Update::none().with("arm", number) };
                    let goto = Goto::Fork { arms: (0..8).map(arm).collect(), join: "add".to_owned() };
                    Ok(Step::to(goto, Update::none()))
                }
                ("outer", "begin") => {
                    let base = state.get("arm").as_i64().unwrap_or(0) * 8;
                    let goto = Goto::Sub {
                        flow: "inner".to_owned(),
                        input: json!({ "base": base }),
                        into: "result".to_owned(),
                        then: "note".to_owned(),
                    };
                    Ok(Step::to(goto, Update::none()))
                }
                ("outer", "note") => {
                    let said = state.get("result")["said"].clone();
                    Ok(Step::end(Update::none().with("results", json!([said]))))
                }
                ("inner", "ask") => {
                    let number =
                        state.get("base").as_i64().unwrap_or(0) + state.get("arm").as_i64().unwrap_or(0);
                    Ok(Step::ask(ask(number.to_string()), "note", Update::none()))
                }
                ("inner", "note") => {
                    let said = state.get("answer")["text"].clone();
                    self.tool(
                        work,
                        said.as_str().and_then(|said| said.parse().ok()).unwrap_or(-1),
                        Repeat::Keyed,
                    )
                    .await?;
                    Ok(Step::end(Update::none().with("said", json!([said]))))
                }
                ("shaky", "try") => self.shaky(state, work).await,
                _ => Ok(Step::end(Update::none())),
            }
        })
    }
}

impl Code {
    async fn shaky(&self, state: &State, work: &mut Work) -> Result<Step, Halt> {
        let done = Step::end(Update::none().with("attempt", work.attempt()));
        match state.text("how") {
            "transient" if work.failures().len() < 2 => {
                let mut busy = failure("BUSY", "come again");
                (busy.transient, busy.retry_after) = (true, Some(0));
                Err(busy.into())
            }
            "away" if work.failures().is_empty() => {
                Err(lmlang_flow::Failure { transient: true, ..failure("AWAY", "come again in a while") }
                    .into())
            }
            "busy" => {
                // Refused twice, then not: within one attempt of the node.
                let calls = Arc::clone(&self.calls);
                let effect = Effect::new("tool", "door", json!("knock"), Repeat::Keyed);
                let opened = work.effect(effect, move |_| async move {
                    match calls.knocks.fetch_add(1, Ordering::SeqCst) {
                        0 | 1 => Err(lmlang_flow::Failure {
                            transient: true,
                            retry_after: Some(0),
                            ..failure("BUSY", "come again")
                        }),
                        _ => Ok((json!("open"), Value::Null)),
                    }
                });
                opened.await?;
                Ok(done)
            }
            "twice" if work.attempt() < 3 => {
                // What went well is not done again.
                self.tool(work, 1, Repeat::Keyed).await?;
                Err(failure(&format!("E{}", work.attempt()), "not yet").into())
            }
            "always" => Err(failure(&format!("E{}", work.attempt()), "never").into()),
            "panic" => panic!("a mistake in the code of a node"),
            "astray" => Ok(Step::next("nowhere", Update::none())),
            "never" => {
                self.tool(work, 7, Repeat::Never).await?;
                Ok(done)
            }
            "waits" => {
                self.model(work, 1).await?;
                std::future::pending::<()>().await;
                Ok(done)
            }
            _ => Ok(done),
        }
    }

    async fn model(&self, work: &mut Work, step: i64) -> Result<Value, Halt> {
        let calls = Arc::clone(&self.calls);
        let request = json!({ "step": step });
        let effect = Effect::new("model", "parrot", request, Repeat::Harmless);
        let mut teller = work.teller();
        teller.say("pol");
        teller.say("ly");
        teller.end();
        let answer = work.effect(effect, move |_| async move {
            calls.models.fetch_add(1, Ordering::SeqCst);
            Ok((json!(format!("polly {step}")), json!({ "gen_ai.usage.input_tokens": 3 })))
        });
        answer.await
    }

    async fn tool(&self, work: &mut Work, step: i64, repeat: Repeat) -> Result<Value, Halt> {
        let calls = Arc::clone(&self.calls);
        let effect = Effect::new("tool", "hammer", json!(step), repeat);
        let answer = work.effect(effect, move |_| async move {
            calls.tools.fetch_add(1, Ordering::SeqCst);
            Ok((json!("nailed"), Value::Null))
        });
        answer.await
    }
}

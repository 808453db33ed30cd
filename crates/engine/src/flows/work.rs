//! What a node is given: its run, and the one way to what is outside.

use std::future::Future;
use std::sync::Arc;

use lmlang_flow::depth::{is_too_deep, shallow, too_deep};
use lmlang_flow::receipts::{EffectId, Intent, Known, Outcome};
use lmlang_flow::{Failure, Receipt, Run, Task, What};
use lmlang_history::log::Actor;
use serde_json::Value;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::code::{Halt, failure};
use crate::flows::live::{By, LiveRun};
use crate::flows::told::Passing;
use crate::request::Call;

/// What a node is given.
#[derive(Debug)]
pub struct Work {
    /// As far as the run reaches.
    engine: Engine,
    unlimited: Engine,
    live: Arc<LiveRun>,
    task: Task,
    failures: Vec<Failure>,
    effects: u32,
    /// Held while an effect is had, until its receipt is stored.
    having: Arc<Mutex<()>>,
}

/// An effect outside a run.
#[derive(Clone, Debug)]
pub struct Effect {
    /// What kind it is: `model`, `tool`, `http`, `edit`.
    pub kind: &'static str,
    /// What is called.
    pub name: String,
    /// What it is asked, in a form that is the same for the same request.
    pub request: Value,
    /// Whether it may happen again.
    pub repeat: Repeat,
    /// What its span notes of it, however it ends: an object. What is noted of its answer is added.
    pub notes: Value,
}

impl Effect {
    /// An effect of which nothing is noted but its answer.
    #[must_use]
    pub fn new(kind: &'static str, name: &str, request: Value, repeat: Repeat) -> Effect {
        Effect { kind, name: name.to_owned(), request, repeat, notes: Value::Null }
    }

    /// The same effect, with what its span notes of it.
    #[must_use]
    pub fn noting(mut self, notes: Value) -> Effect {
        self.notes = notes;
        self
    }
}

/// Passes words of a model on to whoever listens, line by line while they come: a secret that comes in pieces is one in its line.
/// They are not stored: what was said comes again with the receipt.
#[derive(Debug)]
pub struct Teller {
    engine: Engine,
    live: Arc<LiveRun>,
    node: String,
    held: String,
}

impl Teller {
    /// More words.
    pub fn say(&mut self, text: &str) {
        self.held.push_str(text);
        if let Some(end) = self.held.rfind('\n') {
            let rest = self.held.split_off(end + 1);
            self.pass();
            self.held = rest;
        }
    }

    /// The answer has ended.
    pub fn end(mut self) {
        self.pass();
    }

    fn pass(&mut self) {
        let text = std::mem::take(&mut self.held);
        if !text.is_empty() {
            self.live.pass(&self.engine, Passing::said(self.live.id, &self.node, &text, self.engine.now()));
        }
    }

    /// What was said so far in this answer counts no more: it begins again.
    pub fn restart(&mut self) {
        self.held.clear();
        self.live.pass(&self.engine, Passing::unsaid(self.live.id, &self.node, self.engine.now()));
    }
}

/// Whether an effect may happen again when it is not known whether it has happened: the process ended in the middle of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It changes nothing outside.
    Harmless,
    /// Whoever carries it out knows a repetition by the key that they are given.
    Keyed,
    /// It must not, and somebody is asked.
    Never,
}

/// The code of an effect of which nobody knows whether it has happened.
pub const IN_DOUBT: &str = lmlang_flow::ladder::IN_DOUBT;

impl Work {
    pub(crate) fn new(engine: &Engine, live: &Arc<LiveRun>, task: &Task, failures: Vec<Failure>) -> Work {
        Work {
            engine: live.reach(engine),
            unlimited: engine.clone(),
            live: Arc::clone(live),
            task: task.clone(),
            failures,
            effects: 0,
            having: Arc::default(),
        }
    }

    /// The engine, without limits to programs, for what a run may see was decided when it began; or, where a declared flow is
    /// about a program, limited to that one.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> Uuid {
        self.live.id
    }

    /// The session that the run belongs to.
    #[must_use]
    pub fn session(&self) -> Uuid {
        self.live.session
    }

    /// The run that waits for this one, if one does.
    #[must_use]
    pub fn parent(&self) -> Option<Uuid> {
        self.live.parent
    }

    /// The program that the run is about.
    #[must_use]
    pub fn program(&self) -> Option<Uuid> {
        self.live.program
    }

    /// The branch of it that the run works on, if there was one when it began: of a fork, one of its own.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.live.branch.as_deref()
    }

    /// Who began the run.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.live.actor
    }

    /// Everybody who has had a say in the run, by name: who began it, and who answered what it asked.
    pub async fn speakers(&self) -> Vec<String> {
        let machine = self.live.machine.lock().await;
        let answered = machine.answerers().map(str::to_owned);
        let mut names: Vec<String> = answered.chain([self.live.actor.name.clone()]).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The attempt at the node, from 1 on.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.task.attempt
    }

    /// Earlier failures of this step, the newest last.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// How many effects it has had.
    pub(crate) fn effects(&self) -> u32 {
        self.effects
    }

    /// Waits until what an attempt has had that was broken off is stored.
    pub(crate) async fn settled(&self) {
        drop(self.having.lock().await);
    }

    /// Now, in microseconds of UTC. What is made of it is part of the node's answer, or is made again.
    #[must_use]
    pub fn now(&self) -> i64 {
        self.unlimited.now()
    }

    /// Tells whoever listens what a model says, from within an effect.
    #[must_use]
    pub fn teller(&self) -> Teller {
        Teller {
            engine: self.unlimited.clone(),
            live: Arc::clone(&self.live),
            node: self.task.node.clone(),
            held: String::new(),
        }
    }

    /// A call of the flow under the key of an effect: recorded with the run, on behalf of whoever began it.
    #[must_use]
    pub fn call(&self, key: &str, message: Option<String>, request: &Value) -> Call {
        self.live.call(self.task.step, message).keyed(Some(key), request.to_string().as_bytes())
    }

    /// Has an effect: performs it, unless its receipt is in the journal already. `perform` is given the key by which a
    /// repetition can be known, and answers with what is to be remembered and noted.
    ///
    /// # Errors
    ///
    /// [`Halt::Failed`] with what it was answered, [`IN_DOUBT`] where nobody knows whether it has happened;
    /// [`Halt::Lost`] when the journal cannot be written.
    pub async fn effect<F, P>(&mut self, effect: Effect, perform: P) -> Result<Value, Halt>
    where
        F: Future<Output = Result<(Value, Value), Failure>> + Send,
        P: FnOnce(String) -> F + Send,
    {
        let id = EffectId {
            place: self.task.place.clone(),
            step: self.task.step,
            attempt: self.task.attempt,
            index: self.effects,
        };
        self.effects += 1;
        let digest = digest(&effect);
        let (known, epoch, step) = {
            let machine = self.live.machine.lock().await;
            if !machine.stands(&self.task) {
                // It was stopped or taken back meanwhile.
                return Err(Halt::Lost(Error::Overloaded { what: "changes of the run" }));
            }
            (machine.known(&id, &digest), machine.epoch(), machine.known_step(&id.place))
        };
        let intent = Intent { id, kind: effect.kind.to_owned(), name: effect.name.clone(), digest, epoch };
        let in_doubt = || Failure {
            tool: Some(intent.name.clone()),
            arguments: Some(intent.digest.clone()),
            ..failure(IN_DOUBT, format!("`{}` may have happened, or may not", intent.name))
        };
        match known {
            Known::Answered(outcome) => return outcome.answer.map_err(Halt::Failed),
            Known::Different { before } => {
                let message = format!("`{before}` was asked in place of `{}` before", intent.name);
                return Err(failure("FLOW_NOT_DETERMINISTIC", message).into());
            }
            Known::Announced if effect.repeat == Repeat::Never => return Err(in_doubt().into()),
            Known::Announced => {}
            Known::Nothing if effect.repeat == Repeat::Harmless => {}
            Known::Nothing => {
                let (announced, task) = (intent.clone(), self.task.clone());
                let told = self.live.append(&self.unlimited, By::Driver, move |machine, _| {
                    machine.stands(&task).then(|| What::Announced(announced.clone()))
                });
                if told.await?.is_none() {
                    return Err(Halt::Lost(Error::Overloaded { what: "changes of the run" }));
                }
            }
        }
        // From here to its receipt: nobody waits between what has happened and the writing of it.
        let held = Arc::clone(&self.having).lock_owned().await;
        let started = self.unlimited.now();
        let key = self.key(&intent, epoch, step);
        let answered = perform(key).await.and_then(|answered| match is_too_deep(&answered.0) {
            true => Err(too_deep(&format!("`{}`", intent.name))),
            false => Ok(answered),
        });
        let (answer, mut notes) = match answered {
            Ok((answer, notes)) => (Ok(answer), shallow(joined_notes(effect.notes, notes))),
            // It was broken off, and is asked again.
            Err(_) if self.live.stop.is_cancelled() && effect.repeat != Repeat::Never => {
                return Err(Halt::Lost(Error::Closed));
            }
            Err(failed) => {
                let failed = Failure {
                    tool: failed.tool.or_else(|| Some(intent.name.clone())),
                    arguments: failed.arguments.or_else(|| Some(intent.digest.clone())),
                    ..failed
                };
                (Err(failed), shallow(effect.notes))
            }
        };
        let hidden = self.unlimited.0.flows.redaction();
        hidden.value(&mut notes);
        let answer = answer.map_err(|failed: Failure| Failure {
            message: hidden.text(&failed.message).into_owned(),
            ..failed
        });
        if self.unlimited.0.flows.tracer.get().is_some_and(|tracer| tracer.wants_content()) {
            self.live.keep_asked(intent.id.clone(), effect.request);
        }
        let outcome = Outcome { answer: answer.clone(), notes };
        let receipt = Receipt { intent, started, outcome };
        let received = move |_: &Run, _: i64| Some(What::Received(receipt.clone()));
        self.live.append_to_end(&self.unlimited, held, received).await?;
        answer.map_err(Halt::Failed)
    }

    /// The key by which whoever carries an effect out knows a repetition: the same for the same effect of the same step,
    /// whatever attempt it is, and another one after the run was taken back.
    fn key(&self, intent: &Intent, epoch: u64, step: u64) -> String {
        let EffectId { place, index, .. } = &intent.id;
        let short = intent.digest.get(..16).unwrap_or(&intent.digest);
        format!("flow:{}:{epoch}:{place}:{step}:{index}:{short}", self.live.id.simple())
    }
}

/// Notes with more of them; those that come later stand.
fn joined_notes(first: Value, more: Value) -> Value {
    match (first, more) {
        (Value::Object(mut first), Value::Object(more)) => {
            first.extend(more);
            Value::Object(first)
        }
        (first, Value::Null) => first,
        (_, more) => more,
    }
}

fn digest(effect: &Effect) -> String {
    // The same code writes the same request in the same order.
    let text = format!("{} {} {}", effect.kind, effect.name, effect.request);
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

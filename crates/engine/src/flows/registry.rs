//! Flows that are declared: kept in the database, and followed by every process that has it.
//!
//! A declaration is checked, then stored as one more change on the newest revision of all of them, or planned again. Whoever needs
//! a flow by name looks first whether another process has changed something. Runs do not: each has its definition, with what its
//! nodes do, and goes on as it began whatever becomes of the declaration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use lmlang_flow::declared::{Action, Declaration, Mistake, MistakeCode, check};
use lmlang_flow::{Definition, Flow};
use lmlang_history::log::Actor;
use lmlang_store::{ChangeFlowsError, FlowChange, Timestamp};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::code::FlowCode;
use crate::records::to_actor;
use crate::request::Call;

/// Bytes of a declaration.
pub const FLOW_BYTES: usize = 256 << 10;

/// How often a change is planned before its writer gives way to those of other processes. Writers of this one take turns.
const ATTEMPTS: usize = 8;

/// Makes the code of flows that are declared, and knows what they may name.
///
/// Concurrency: it may be asked by many at once. Idempotency: the same definition always gives code that does the same.
/// Side effects: none; what nodes do, the code does.
///
/// Warning: definitions are kept for as long as their runs. What one of an older version of this program says has to stay known.
pub trait Interpreter: Send + Sync + 'static {
    /// What is wrong with what a declaration names outside of itself, other flows aside.
    fn mistakes(&self, declaration: &Declaration) -> Vec<Mistake>;

    /// The code of a declared flow; none if it cannot be executed here.
    fn code(&self, flow: &Arc<Flow>) -> Option<Arc<dyn FlowCode>>;
}

/// What came of declaring a flow.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The flow; none if there are mistakes.
    pub flow: Option<Arc<Flow>>,
    /// What was declared under its name until then.
    pub before: Option<Arc<Flow>>,
    /// Whether it is another one than before.
    pub changed: bool,
    /// What is wrong with it.
    pub mistakes: Vec<Mistake>,
}

impl Registered {
    fn refused(mistakes: Vec<Mistake>) -> Registered {
        Registered { flow: None, before: None, changed: false, mistakes }
    }
}

fn refused(message: String) -> Error {
    Error::Argument { place: "input.name".to_owned(), message }
}

/// The declared flows of an engine.
#[derive(Default)]
pub(crate) struct Registry {
    interpreter: OnceLock<Arc<dyn Interpreter>>,
    /// Held while something is changed: writers of this process take turns.
    turn: tokio::sync::Mutex<()>,
    known: RwLock<Arc<Known>>,
}

/// The flows that are declared, as this process last saw them.
#[derive(Default)]
pub(crate) struct Known {
    /// The newest change that it has; none before the database was asked.
    revision: Option<u64>,
    codes: BTreeMap<String, Arc<dyn FlowCode>>,
    /// The newest version of each name, and whether it is there still.
    versions: BTreeMap<String, (u32, bool)>,
}

impl Registry {
    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over what was read, unless something newer is known by now.
    fn take_over(&self, read: Known) -> Arc<Known> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if read.revision >= known.revision {
            *known = Arc::new(read);
        }
        Arc::clone(&known)
    }

    /// Has what is known be read again before it is relied upon.
    fn doubt(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Known { codes, versions, .. } = &**known;
        *known = Arc::new(Known { revision: None, codes: codes.clone(), versions: versions.clone() });
    }

    fn read(&self, rows: Vec<FlowChange>) -> Known {
        let mut known = Known { revision: Some(0), ..Known::default() };
        for row in rows {
            known.revision = known.revision.max(Some(row.revision));
            known.versions.insert(row.name.clone(), (row.version, row.definition.is_some()));
            let Some(definition) = row.definition else { continue };
            match self.interpreted(&definition) {
                Some(code) => drop(known.codes.insert(row.name, code)),
                None => {
                    tracing::error!(flow = %row.name, version = row.version, "a declared flow cannot be read");
                }
            }
        }
        known
    }

    fn interpreted(&self, definition: &[u8]) -> Option<Arc<dyn FlowCode>> {
        let definition: Definition = serde_json::from_slice(definition).ok()?;
        self.interpreter.get()?.code(&Arc::new(Flow::new(definition).ok()?))
    }
}

impl Engine {
    /// Has declared flows be known, made to code by this: once, before callers come.
    pub fn interpret_by(&self, interpreter: Arc<dyn Interpreter>) {
        if self.0.flows.registry.interpreter.set(interpreter).is_err() {
            tracing::warn!("who interprets flows was said twice");
        }
    }

    /// The flows that can be run here, by name.
    pub async fn flows(&self) -> Result<Vec<Arc<dyn FlowCode>>, Error> {
        let known = self.declared().await?;
        let mut all: BTreeMap<&str, &Arc<dyn FlowCode>> =
            known.codes.iter().map(|(name, code)| (name.as_str(), code)).collect();
        all.extend(self.0.flows.codes().map(|code| (code.flow().name(), code)));
        Ok(all.into_values().cloned().collect())
    }

    /// The code of a flow by its name.
    pub(crate) async fn code_named(&self, flow: &str) -> Result<Arc<dyn FlowCode>, Error> {
        if let Some(code) = self.0.flows.code(flow) {
            return Ok(Arc::clone(code));
        }
        let known = self.declared().await?;
        known.codes.get(flow).cloned().ok_or_else(|| self.no_flow(&known, flow))
    }

    fn no_flow(&self, known: &Known, flow: &str) -> Error {
        let built_in = self.0.flows.codes().map(|code| code.flow().name().to_owned());
        Error::NotFound {
            what: "flow",
            given: flow.to_owned(),
            candidates: built_in.chain(known.codes.keys().cloned()).collect(),
            retired: known.versions.contains_key(flow),
        }
    }

    /// The code that goes on with the runs of a flow.
    pub(crate) fn code_of(&self, flow: &Arc<Flow>) -> Option<Arc<dyn FlowCode>> {
        if flow.definition().declared.is_none() {
            return self.0.flows.code(flow.name()).filter(|code| code.flow().runs_as(flow)).cloned();
        }
        match self.startable(flow) {
            Some(code) => Some(code),
            None => self.0.flows.registry.interpreter.get()?.code(flow),
        }
    }

    /// The code of a flow by which runs of it begin; none of a definition that is not the newest of its name.
    pub fn startable(&self, flow: &Flow) -> Option<Arc<dyn FlowCode>> {
        let known = self.0.flows.registry.known();
        let found = self.0.flows.code(flow.name()).or_else(|| known.codes.get(flow.name()));
        found.filter(|code| code.flow().hash() == flow.hash()).cloned()
    }

    /// The declared flows as they are stored. They are read again only when another process has changed them.
    pub(crate) async fn declared(&self) -> Result<Arc<Known>, Error> {
        let registry = &self.0.flows.registry;
        let known = registry.known();
        let is_sure = known.revision.is_some() && self.store().is_alone();
        if is_sure || registry.interpreter.get().is_none() {
            return Ok(known);
        }
        match known.revision == Some(self.store().flow_revision().await?) {
            true => Ok(known),
            false => self.read_declared().await,
        }
    }

    async fn read_declared(&self) -> Result<Arc<Known>, Error> {
        let rows = self.store().declared_flows().await?;
        let registry = &self.0.flows.registry;
        Ok(registry.take_over(registry.read(rows)))
    }

    /// Declares a flow, or declares it anew: its version is one more then. Runs that have begun go on as they began. A declaration
    /// that is there already changes nothing; of a dry run, nothing does.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for one that is too long. What is wrong with it is an answer.
    pub async fn register_flow(
        &self,
        given: &Value,
        dry_run: bool,
        call: &Call,
    ) -> Result<Registered, Error> {
        let actual = given.to_string().len();
        if actual > FLOW_BYTES {
            let (limit, actual) = (FLOW_BYTES as u64, actual as u64);
            return Err(Error::Limit { which: "flowBytes", limit, actual });
        }
        if self.0.flows.registry.interpreter.get().is_none() {
            return Err(Error::Unsupported { what: "declaring flows here".to_owned() });
        }
        let declaration = match Declaration::read(given) {
            Ok(declaration) => declaration,
            Err(mistake) => return Ok(Registered::refused(vec![mistake])),
        };
        let (engine, actor) = (self.clone(), call.actor.clone());
        self.to_end(async move { engine.register(declaration, dry_run, &actor).await }).await
    }

    async fn register(
        &self,
        declaration: Declaration,
        dry_run: bool,
        actor: &Actor,
    ) -> Result<Registered, Error> {
        let _turn = self.0.flows.registry.turn.lock().await;
        for _ in 0..ATTEMPTS {
            let known = self.declared().await?;
            let name = declaration.name.as_str();
            let mistakes = self.mistakes(&declaration, &known);
            let version = known.versions.get(name).map_or(1, |(version, _)| version.saturating_add(1));
            let flow = match check(&declaration, version) {
                Ok(flow) if mistakes.is_empty() => flow,
                Ok(_) => return Ok(Registered::refused(mistakes)),
                Err(found) => return Ok(Registered::refused(found.into_iter().chain(mistakes).collect())),
            };
            let before = known.codes.get(name).map(|code| Arc::clone(code.flow()));
            let same = before.as_ref().filter(|of| of.definition().declared.as_ref() == Some(&declaration));
            if let Some(same) = same {
                let flow = Some(Arc::clone(same));
                return Ok(Registered { flow, before, changed: false, mistakes: Vec::new() });
            }
            let definition = serde_json::to_vec(flow.definition());
            let definition = definition.map_err(|error| Error::bad_request(error.to_string()))?;
            // As it will be read: a number with many digits may have others then.
            let code = self.0.flows.registry.interpreted(&definition);
            let code = code.ok_or_else(|| Error::bad_request("the declaration cannot be read back"))?;
            let flow = Some(Arc::clone(code.flow()));
            let done = dry_run || self.change_flows(&known, (name, version), Some(definition), actor).await?;
            if done {
                return Ok(Registered { flow, before, changed: true, mistakes: Vec::new() });
            }
        }
        Err(Error::Overloaded { what: "changes of flows" })
    }

    /// Takes a declared flow away, and answers whether it was there. Runs that have begun go on; none begins any more.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for one that was never declared, [`Error::Argument`] for one of the server, and for one whose runs other
    /// flows begin.
    pub async fn remove_flow(&self, name: &str, call: &Call) -> Result<bool, Error> {
        if self.0.flows.code(name).is_some() {
            return Err(refused(format!("`{name}` is a flow of the server, which stays")));
        }
        let (engine, name, actor) = (self.clone(), name.to_owned(), call.actor.clone());
        self.to_end(async move { engine.take_away(&name, &actor).await }).await
    }

    async fn take_away(&self, name: &str, actor: &Actor) -> Result<bool, Error> {
        let _turn = self.0.flows.registry.turn.lock().await;
        for _ in 0..ATTEMPTS {
            let known = self.declared().await?;
            let version = match known.versions.get(name) {
                None => return Err(self.no_flow(&known, name)),
                Some((_, false)) => return Ok(false),
                Some((version, true)) => *version,
            };
            let others = listed(known.beginning(name));
            if !others.is_empty() {
                return Err(refused(format!("runs of `{name}` are begun by {others}")));
            }
            if self.change_flows(&known, (name, version), None, actor).await? {
                return Ok(true);
            }
        }
        Err(Error::Overloaded { what: "changes of flows" })
    }

    /// Stores a change that was planned on what is known; answers whether nobody was faster.
    async fn change_flows(
        &self,
        known: &Known,
        (name, version): (&str, u32),
        definition: Option<Vec<u8>>,
        actor: &Actor,
    ) -> Result<bool, Error> {
        let change = FlowChange {
            revision: known.revision.unwrap_or(0) + 1,
            id: self.0.clock.id(),
            time: Timestamp(self.now()),
            actor: self.store().actor_key(&to_actor(actor)).await?,
            name: name.to_owned(),
            version,
            definition,
        };
        let changed = match self.store().change_flows(change).await {
            Ok(()) => true,
            Err(ChangeFlowsError::Moved) => false,
            Err(ChangeFlowsError::Storage(fault)) => {
                // Nobody knows whether it was stored.
                self.0.flows.registry.doubt();
                return Err(fault.into());
            }
        };
        self.read_declared().await?;
        Ok(changed)
    }

    /// What is wrong with what a declaration names outside of itself.
    fn mistakes(&self, declaration: &Declaration, known: &Known) -> Vec<Mistake> {
        let name = &declaration.name;
        let mut mistakes = Vec::new();
        if self.0.flows.code(name).is_some() {
            let message = format!("`{name}` is a flow of the server");
            mistakes.push(Mistake::new(MistakeCode::NameTaken, "name", message));
        }
        mistakes.extend(
            self.0.flows.registry.interpreter.get().into_iter().flat_map(|of| of.mistakes(declaration)),
        );
        let bound = listed(known.beginning(name).filter(|code| code.is_about_a_program()));
        if declaration.program.is_none() && !bound.is_empty() {
            let message = format!("it must be about a program: so are those that begin runs of it, {bound}");
            mistakes.push(Mistake::new(MistakeCode::BadField, "program", message));
        }
        for (index, node) in declaration.nodes.iter().enumerate() {
            let Action::Run(run) = &node.action else { continue };
            let place = format!("nodes[{index}].action.run.flow");
            if run.flow == *name {
                // The check of the declaration tells it.
                continue;
            }
            let Some(code) = self.0.flows.code(&run.flow).or_else(|| known.codes.get(&run.flow)) else {
                let message = self.no_flow(known, &run.flow).to_string();
                mistakes.push(Mistake::new(MistakeCode::UnknownFlow, place, message));
                continue;
            };
            if declaration.program.is_some() && !code.is_about_a_program() {
                let message =
                    format!("a flow about a program starts no runs of `{}`, which are about none", run.flow);
                mistakes.push(Mistake::new(MistakeCode::OutOfReach, place, message));
            } else if known.leads(&run.flow, name) {
                let message = format!("runs of `{}` come to start runs of `{name}`", run.flow);
                mistakes.push(Mistake::new(MistakeCode::Recursion, place, message));
            }
        }
        mistakes
    }
}

/// Names of flows, as a text tells them; empty where there are none.
fn listed<'k>(codes: impl Iterator<Item = &'k Arc<dyn FlowCode>>) -> String {
    let names: Vec<String> = codes.map(|code| format!("`{}`", code.flow().name())).collect();
    names.join(", ")
}

impl Known {
    /// The flow of a name, if that is its definition.
    pub(crate) fn flow(&self, name: &str, hash: &[u8]) -> Option<Arc<Flow>> {
        let code = self.codes.get(name).filter(|code| code.flow().hash()[..] == *hash)?;
        Some(Arc::clone(code.flow()))
    }

    /// The flows whose runs start runs of one.
    fn beginning(&self, name: &str) -> impl Iterator<Item = &Arc<dyn FlowCode>> {
        self.codes.values().filter(move |code| {
            let declared = code.flow().definition().declared.as_ref();
            declared.is_some_and(|declared| declared.starts().any(|flow| flow == name))
        })
    }

    /// Whether runs of a flow come to start runs of another one.
    fn leads(&self, from: &str, to: &str) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(flow) = open.pop() {
            if flow == to {
                return true;
            }
            if seen.insert(flow) {
                let declared =
                    self.codes.get(flow).and_then(|code| code.flow().definition().declared.as_ref());
                open.extend(declared.into_iter().flat_map(|declared| declared.starts()));
            }
        }
        false
    }
}

//! A program at one revision, as everything below it sees it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::ID;
use lmlang_engine::{Branch, Engine, Head, OpenProgram, Revision, Selector};
use lmlang_history::revision::{Base, MAIN, RevisionName};
use lmlang_ir::{FuncRef, Function, Hash, ModuleRef, NodeRef, Place, Program, Ref, graph, text};
use lmlang_verify::Findings;
use uuid::Uuid;

use crate::error::{ApiError, Code, cut};
use crate::schema::failure::fail;
use crate::schema::ids::{GlobalId, View as Which, ViewId};

/// A program at one revision. A clone is a handle.
#[derive(Clone)]
pub struct View(Arc<Inner>);

struct Inner {
    engine: Engine,
    open: OpenProgram,
    id: ViewId,
    revision: Arc<Revision>,
    /// For a view of the head, all that belongs to it: the head may move while the view is looked at.
    head: Option<Arc<Head>>,
    closures: Mutex<Closures>,
}

/// Hashes of functions with what they reach, once they were asked for.
#[derive(Default)]
struct Closures {
    known: HashMap<FuncRef, Hash>,
    walks: usize,
}

/// Functions whose reach is walked one by one; a caller who wants more is given those of the whole program in one walk.
const FEW_WALKS: usize = 8;

impl View {
    fn new(
        engine: &Engine,
        open: OpenProgram,
        which: Which,
        revision: Arc<Revision>,
        head: Option<Arc<Head>>,
    ) -> View {
        let id = ViewId { program: open.timeline.id(), view: which };
        View(Arc::new(Inner { engine: engine.clone(), open, id, revision, head, closures: Mutex::default() }))
    }

    /// The head of a program's main branch.
    pub fn head(engine: &Engine, open: OpenProgram) -> View {
        let head = open.timeline.head();
        View::new(engine, open, Which::Head, Arc::clone(&head.main.revision), Some(head))
    }

    /// A stored revision, whether or not it is the head.
    pub fn pinned(engine: &Engine, open: OpenProgram, revision: Arc<Revision>) -> View {
        View::new(engine, open, Which::Pinned(revision.entry.number), revision, None)
    }

    /// A stored revision that somebody has just made, as the head of its branch; pinned, if it is not that any more.
    pub fn made(engine: &Engine, open: OpenProgram, revision: Arc<Revision>) -> View {
        let (head, entry) = (open.timeline.head(), &revision.entry);
        if head.main.revision.entry.number == entry.number {
            return View::new(engine, open, Which::Head, revision, Some(head));
        }
        let newest =
            |branch: &&Arc<Branch>| branch.tip().is_some_and(|tip| tip.revision.entry.number == entry.number);
        match head.branches.numbered(entry.branch).filter(newest).map(|branch| branch.name.clone()) {
            Some(name) => View::new(engine, open, Which::Branch(name), revision, Some(head)),
            None => View::pinned(engine, open, revision),
        }
    }

    /// What a dry run led to.
    pub fn dry(engine: &Engine, open: OpenProgram, id: Uuid, revision: Arc<Revision>) -> View {
        View::new(engine, open, Which::Dry(id), revision, None)
    }

    /// The program that a caller names by any view's id or by name, at the revision named by `at`, else by the id.
    pub async fn find(engine: &Engine, program: &str, at: Option<&str>) -> Result<View, ApiError> {
        let (selector, which) = match program.parse::<ViewId>() {
            Ok(id) => (Selector::Id(id.program), id.view),
            Err(_) => (Selector::Name(program.to_owned()), Which::Head),
        };
        let open = engine.find(&selector).await.map_err(fail)?;
        match at {
            Some(at) => Box::pin(View::at(engine, open, at)).await,
            None => View::of_id(engine, open, which).await,
        }
    }

    /// The program with a name, at the revision named by `at`, else the head.
    pub async fn named(engine: &Engine, name: &str, at: Option<&str>) -> Result<View, ApiError> {
        let open = engine.find(&Selector::Name(name.to_owned())).await.map_err(fail)?;
        match at {
            Some(at) => Box::pin(View::at(engine, open, at)).await,
            None => Ok(View::head(engine, open)),
        }
    }

    /// The view that an id names.
    pub async fn of_id(engine: &Engine, open: OpenProgram, which: Which) -> Result<View, ApiError> {
        match &which {
            Which::Head => Ok(View::head(engine, open)),
            Which::Branch(name) => Box::pin(View::at(engine, open, &name.clone())).await,
            Which::Pinned(number) => {
                let revision = Box::pin(engine.state(&open, *number)).await.map_err(fail)?;
                let revision = revision.ok_or_else(|| not_found("revision", &format!("r{number}")))?;
                Ok(View::new(engine, open, which, revision, None))
            }
            Which::Dry(id) => Err(not_found("dry run", &id.to_string())),
        }
    }

    async fn at(engine: &Engine, open: OpenProgram, at: &str) -> Result<View, ApiError> {
        engine.hear_of(&open, at).await.map_err(fail)?;
        let head = open.timeline.head();
        match at.parse() {
            Ok(RevisionName { base: Base::Named(name), back: 0 }) if name == MAIN => {
                Ok(View::head(engine, open))
            }
            Ok(RevisionName { base: Base::Named(name), back: 0 }) if head.branches.get(&name).is_some() => {
                let tip = engine.tip(&open, &head, &name).await.map_err(fail)?;
                Ok(View::new(engine, open, Which::Branch(name), tip.revision, Some(head)))
            }
            Ok(_) | Err(_) => {
                let revision = engine.revision(&open, Some(at)).await.map_err(fail)?;
                Ok(View::pinned(engine, open, revision))
            }
        }
    }

    /// Another revision of the same program, pinned.
    pub fn other(&self, revision: Arc<Revision>) -> View {
        View::pinned(&self.0.engine, self.0.open.clone(), revision)
    }

    /// Whether the revision is in the log: not that of a dry run.
    pub fn is_stored(&self) -> bool {
        match &self.0.id.view {
            Which::Head | Which::Branch(_) | Which::Pinned(_) => true,
            Which::Dry(_) => false,
        }
    }

    /// The number of the newest stored entry that this view can see.
    pub fn newest_entry(&self) -> u64 {
        match (&self.0.head, &self.0.id.view) {
            (Some(head), _) => head.last,
            (None, Which::Pinned(number)) => *number,
            // What a dry run would have stored comes after it.
            (None, Which::Dry(_)) => self.0.revision.entry.number.saturating_sub(1),
            (None, Which::Head | Which::Branch(_)) => self.0.revision.entry.number,
        }
    }

    /// The newest stored revision of the content that this view builds on, and the branch that it looks at.
    pub fn stored_place(&self) -> lmlang_engine::Place {
        let entry = &self.0.revision.entry;
        let named = match &self.0.id.view {
            Which::Branch(name) => self.0.head.as_ref().and_then(|head| head.branches.get(name)),
            Which::Head | Which::Pinned(_) | Which::Dry(_) => None,
        };
        let revision = match self.is_stored() {
            true => entry.number,
            false => entry.parents.first().copied().unwrap_or_default(),
        };
        lmlang_engine::Place { revision, branch: named.map_or(entry.branch, |branch| branch.number) }
    }

    /// All that belongs to the head of the program, for a view of a branch.
    pub fn as_head(&self) -> Option<&Head> {
        self.0.head.as_deref()
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The open program.
    pub fn open(&self) -> &OpenProgram {
        &self.0.open
    }

    /// The view's id.
    pub fn id(&self) -> &ViewId {
        &self.0.id
    }

    /// The revision.
    pub fn revision(&self) -> &Arc<Revision> {
        &self.0.revision
    }

    /// The content.
    pub fn program(&self) -> &Program {
        self.0.revision.checked.program()
    }

    /// What the verifier finds.
    pub fn findings(&self) -> &Findings {
        self.0.revision.checked.findings()
    }

    /// The global id of an entity in this view.
    pub fn entity_id(&self, of: impl Into<Ref>) -> ID {
        GlobalId::Entity(self.0.id.clone(), of.into()).to_string().into()
    }

    /// The place of the entity with a ref that a caller wrote.
    pub fn place(&self, given: &str) -> Result<Place, ApiError> {
        let of: Ref = given.parse().map_err(|_| not_found("entity", given))?;
        self.program().place(of).ok_or_else(|| self.missing("entity", of))
    }

    /// The error for an entity that is not there: its number may be that of another kind, or it was removed.
    pub fn missing(&self, what: &str, of: Ref) -> ApiError {
        let other = self.program().ref_of(of.number).filter(|other| other.kind != of.kind);
        let retired = other.is_none() && of.number < self.revision().entry.next_ref;
        let candidates: Vec<String> = other.iter().map(ToString::to_string).collect();
        absent(what, &of.to_string(), &candidates, retired)
    }

    /// The function with a ref.
    pub fn function(&self, of: FuncRef) -> Result<Arc<Function>, ApiError> {
        self.program().function(of).cloned().ok_or_else(|| self.missing("function", of.into()))
    }

    /// The hash of a function and of everything that it reaches.
    pub fn closure_hash(&self, of: FuncRef) -> Hash {
        let mut closures = self.0.closures.lock().unwrap_or_else(PoisonError::into_inner);
        if !closures.known.contains_key(&of) {
            let more = match closures.walks < FEW_WALKS {
                true => graph::closure_hashes(self.program(), [of]),
                false => {
                    let all = self.program().functions().map(|(of, _)| of);
                    graph::closure_hashes(self.program(), all)
                }
            };
            closures.known.extend(more);
            closures.walks += 1;
        }
        closures.known.get(&of).copied().unwrap_or(Hash::ZERO)
    }

    /// The function that a caller names by ref, else as [`View::function_called`] does.
    pub fn function_named(&self, given: &str) -> Result<FuncRef, ApiError> {
        match given.parse::<FuncRef>() {
            Ok(of) => self.function(of).map(|_| of),
            Err(_) => self.function_called(given),
        }
    }

    /// The function that is exported under a name; else that with a path, or with a name alone; else that with a ref.
    pub fn function_called(&self, given: &str) -> Result<FuncRef, ApiError> {
        let functions = self.0.revision.checked.functions_named(given);
        if let (true, Ok(of)) = (functions.is_empty(), given.parse::<FuncRef>()) {
            return self.function(of).map(|_| of);
        }
        match functions.as_slice() {
            [one] => Ok(*one),
            [] => {
                let candidates = self.near_functions(given);
                Err(absent("function", given, &candidates, false))
            }
            several => {
                let several: Vec<Ref> = several.iter().copied().map(Ref::from).collect();
                let paths = self.program().paths_apart(&several);
                let message = format!("`{given}` names several functions: {}", paths.join(", "));
                Err(ApiError::new(Code::BadRequest, message))
            }
        }
    }

    /// The entity that a caller names by ref or path; what is named in a function by the path of that: `m::f::sum`.
    pub fn entity_named(&self, given: &str) -> Result<Ref, ApiError> {
        if let Ok(of) = given.parse::<Ref>() {
            return self.place(given).map(|_| of);
        }
        match self.program().resolve(given).as_slice() {
            [one] => Ok(*one),
            // What is exported under the name, or nothing.
            [] => self.function_named(given).map(Ref::from).map_err(|error| {
                match error.code == Code::NotFound {
                    true => self.no_entity(given),
                    false => error,
                }
            }),
            several => {
                let refs: Vec<String> = several.iter().map(ToString::to_string).collect();
                let message = format!("`{given}` names several entities: {}", refs.join(", "));
                Err(ApiError::new(Code::BadRequest, message))
            }
        }
    }

    /// The error for a name or path that no entity has, with near names.
    pub(crate) fn no_entity(&self, given: &str) -> ApiError {
        absent("entity", given, &text::near_entities(self.program(), given), false)
    }

    /// The module that a caller names by ref, path, or a name that only one has.
    pub fn module_named(&self, given: &str) -> Result<ModuleRef, ApiError> {
        if let Ok(of) = given.parse::<ModuleRef>() {
            return match self.program().module(of) {
                Some(_) => Ok(of),
                None => Err(self.missing("module", of.into())),
            };
        }
        let found = self.program().resolve(given).into_iter();
        let found: Vec<ModuleRef> = found.filter_map(|of| ModuleRef::try_from(of).ok()).collect();
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let last = given.rsplit("::").next().unwrap_or(given);
                let names = self.program().modules().map(|(_, module)| &*module.name);
                Err(absent("module", given, &text::nearest(last, names), false))
            }
            several => {
                let paths: Vec<String> = several.iter().map(|of| self.program().path((*of).into())).collect();
                let message = format!("`{given}` names several modules: {}", paths.join(", "));
                Err(ApiError::new(Code::BadRequest, message))
            }
        }
    }

    /// Names of functions that look like a given one.
    fn near_functions(&self, given: &str) -> Vec<String> {
        let last = given.rsplit("::").next().unwrap_or(given);
        let names = self.program().functions().map(|(_, function)| function.head().name.to_string());
        let names: Vec<String> = names.collect();
        text::nearest(last, names.iter().map(String::as_str))
    }

    /// The function and node that a caller names by ref or path.
    pub fn node_named(&self, given: &str) -> Result<(FuncRef, NodeRef), ApiError> {
        match self.program().place(self.entity_named(given)?) {
            Some(Place::Node(function, node)) => Ok((function, node)),
            Some(
                Place::Module(_)
                | Place::Type(_)
                | Place::Member(..)
                | Place::Function(_)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Storage(_)
                | Place::Contract(..),
            )
            | None => Err(ApiError::new(Code::BadRequest, format!("`{given}` is no node"))),
        }
    }
}

/// How many threads a full check may take.
pub(crate) fn threads() -> std::num::NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN)
}

/// The error for something that is not there.
pub fn not_found(what: &str, given: &str) -> ApiError {
    absent(what, given, &[], false)
}

/// The error for something that is not there, with what comes near it, and whether it was there once.
pub(crate) fn absent(what: &str, given: &str, candidates: &[String], retired: bool) -> ApiError {
    let given = cut(given);
    let data = serde_json::json!({ "given": given, "candidates": candidates, "retired": retired });
    ApiError::new(Code::NotFound, format!("there is no {what} `{given}`")).data(data)
}

/// The answer of a nullable field: its failure leaves its siblings alone.
pub fn nullable<T>(answer: Result<T, ApiError>) -> Option<async_graphql::Result<T>> {
    Some(answer.map_err(Into::into))
}

/// The same of a field that may have nothing to say.
pub fn nullable_if_any<T>(answer: Result<Option<T>, ApiError>) -> Option<async_graphql::Result<T>> {
    answer.map_err(Into::into).transpose()
}

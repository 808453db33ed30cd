//! Programs at one revision.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};
use lmlang_engine::{Engine, ProgramInfo};

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::access::allow;
use crate::schema::analysis::{self, Answer, Question};
use crate::schema::branching::{self, MergePreview};
use crate::schema::call::actor;
use crate::schema::call_graph::{self, Call};
use crate::schema::cases::{self, TestCase};
use crate::schema::checking::{self, Counterexample, MutationReport};
use crate::schema::connection::{Connection, Counted, Listed, PageRequest};
use crate::schema::context::{self as contexts, ContextInput, ContextPack};
use crate::schema::cursor::List;
use crate::schema::defaults::{Full, Int, Main, No, Or, Standard};
use crate::schema::diagnostics::{self, Diagnostic, Severity, Within};
use crate::schema::diff::ProgramDiff;
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::function_filter::FunctionFilter;
use crate::schema::impact::{self, Impact};
use crate::schema::map::ProgramMap;
use crate::schema::module::Module;
use crate::schema::neighbourhood::{self, NeighborhoodInput, SliceDirection, Subgraph};
use crate::schema::node::ComputeNode;
use crate::schema::program_stats::ProgramStats;
use crate::schema::query::{Node, entity_named};
use crate::schema::revision::{self, Branch, Checkpoint, Revision, RevisionKind};
use crate::schema::run_input::{PortValue, SimulateInput};
use crate::schema::search::{self, NodeFilter};
use crate::schema::shown::Shown;
use crate::schema::simulation::{self, SimulationResult};
use crate::schema::storage::{Storage, StorageKind};
use crate::schema::text_form::text_within;
use crate::schema::types::TypeDef;
use crate::schema::verification::{self, Asked, VerifyReport, VerifyScope};
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// A program at one revision.
#[derive(Clone)]
pub struct Program(Shown);

impl Direct for Program {}

impl Listed for Program {
    const CONNECTION: &'static str = "ProgramConnection";
    const EDGE: &'static str = "ProgramEdge";
}

impl Program {
    /// A program at the revision that a view shows.
    pub fn of(view: View) -> Program {
        let info = view.open().info();
        Program::then(view, info)
    }

    /// The same, with the name and doc of then.
    pub fn then(view: View, info: Arc<ProgramInfo>) -> Program {
        Program(Shown::View(view, info))
    }

    /// A program that the catalogue lists, at its head.
    pub fn listed(engine: &Engine, info: Arc<ProgramInfo>) -> Program {
        Program(Shown::listed(engine, info))
    }

    /// Answers a field that needs the content. It fails alone when that cannot be read.
    ///
    /// Apart from the field's own future: what polls the fields of an object has a place for the future of each.
    async fn read<T>(&self, answer: impl AsyncFnOnce(&View) -> Result<T, ApiError>) -> Nullable<T> {
        let read = async { answer(self.0.view().await?).await };
        nullable(Box::pin(read).await)
    }
}

/// The answer of a field that can be null.
type Nullable<T> = Option<async_graphql::Result<T>>;

/// One program at one revision: what `at:` names, else the head of its main branch.
#[Object]
impl Program {
    /// Global id; stable for the head, with a suffix for a pinned view.
    pub async fn id(&self) -> ID {
        self.0.id().to_string().into()
    }

    /// The program's own id, whatever the view.
    async fn program_id(&self) -> ID {
        self.0.id().program.into()
    }

    /// Its name.
    async fn name(&self) -> String {
        self.0.info().name.clone()
    }

    /// What it is for.
    async fn doc(&self, context: &Context<'_>) -> Nullable<String> {
        let doc = budget::words(context, Some(self.0.info().doc.as_str()).filter(|doc| !doc.is_empty()))?;
        Some(doc.map(str::to_owned))
    }

    /// The branch that this view follows; null for a pinned revision.
    async fn branch(&self) -> Option<String> {
        self.0.id().branch()
    }

    /// The revision that is looked at, null for a dry run; or another one, seen from this one.
    async fn revision(
        &self,
        #[graphql(desc = "Which, named as for `program(at:)`; without it, the one that is looked at.")]
        at: Option<String>,
    ) -> Nullable<Revision> {
        let view = match self.0.view().await {
            Ok(view) => view,
            Err(error) => return nullable(Err(error)),
        };
        let Some(at) = at else {
            return view.is_stored().then(|| Ok(Revision::new(view, view.revision().entry.clone())));
        };
        let entry = view.engine().entry_named(view.open(), &at).await;
        nullable(entry.map(|entry| Revision::new(view, entry)).map_err(fail))
    }

    /// Hash of the whole content; null when it cannot be read.
    async fn root_hash(&self) -> Nullable<String> {
        self.read(async |view| Ok(view.revision().entry.root_hash.to_string())).await
    }

    /// Where `programEvents(after:)` starts so that nothing after this view is missed; null when the content cannot be read.
    async fn event_cursor(&self) -> Nullable<String> {
        self.read(async |view| Ok(revision::cursor(view.newest_entry()))).await
    }

    /// How much there is of what; null when the content cannot be read.
    async fn stats(&self) -> Nullable<ProgramStats> {
        self.read(async |view| Ok(ProgramStats::of(view))).await
    }

    /// Its modules, by ref.
    async fn modules(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<Module>> {
        self.read(async |view| {
            let page = PageRequest::new(List::Modules, first, after)?;
            let from = page.start()?;
            let modules = view.program().modules().filter(|(of, _)| of.number() >= from);
            let items = modules.filter_map(|(of, _)| Some((of.number(), Module::new(view, of).ok()?)));
            Ok(Connection::collect(&page, view.program().totals().modules as usize, items))
        })
        .await
    }

    /// Its nominal types, by ref.
    async fn types(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<TypeDef>> {
        self.read(async |view| {
            let page = PageRequest::new(List::Types, first, after)?;
            let types = view.program().types_from(page.start()?);
            let items = types.filter_map(|(of, _)| Some((of.number(), TypeDef::new(view, of).ok()?)));
            Ok(Connection::collect(&page, view.program().totals().types as usize, items))
        })
        .await
    }

    /// Its storage, by ref: globals, memories, tables and segments, all or those of a kind.
    async fn storage(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only storage of this kind.")] kind: Option<StorageKind>,
    ) -> Nullable<Connection<Storage>> {
        self.read(async |view| {
            let page = PageRequest::new(List::Storage, first, after)?;
            let fits =
                move |of: &lmlang_ir::Storage| kind.is_none_or(|kind| kind == StorageKind::of(&of.kind));
            let counted = view.clone();
            let total = move || counted.program().all_storage().filter(|(_, of)| fits(of)).count();
            let found = view.program().storage_from(page.start()?).filter(|(_, of)| fits(of));
            let items = found.filter_map(|(of, _)| Some((of.number(), Storage::new(view, of).ok()?)));
            Ok(Connection::counted_by(&page, total, items))
        })
        .await
    }

    /// Its functions, by ref: all, or those of a module, with a text in their path, complete or not.
    async fn functions(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only those of this module, by ref or path.")] module: Option<String>,
        #[graphql(desc = "Only those with this text in their path, in capitals or not.")] search: Option<
            String,
        >,
        #[graphql(desc = "Only those that are complete, or only those that are not.")] complete: Option<bool>,
    ) -> Nullable<Connection<Function>> {
        self.read(async |view| {
            let page = PageRequest::new(List::Functions, first, after)?;
            let filter = FunctionFilter {
                module: module.map(|module| view.module_named(&module)).transpose()?,
                search: search.map(|search| search.to_lowercase()),
                complete,
            };
            let from = page.start()?;
            let (counted, counting) = (view.clone(), filter.clone());
            let all = filter.is_empty();
            let total = move || match all {
                true => counted.program().totals().functions as usize,
                false => counted.program().functions().filter(|(of, _)| counting.fits(&counted, *of)).count(),
            };
            let functions = view.program().functions_from(from).filter(|(of, _)| filter.fits(view, *of));
            let items = functions.filter_map(|(of, _)| Some((of.number(), Function::new(view, of).ok()?)));
            Ok(Connection::counted_by(&page, total, items))
        })
        .await
    }

    /// One function: exactly one of its ref and its name, which is the one that it is exported under, else its path
    /// `module::name`, else its name alone where only one has it. `lmlang run` takes it so, too.
    async fn function(
        &self,
        #[graphql(desc = "Its ref: `f7`.", name = "ref")] reference: Option<String>,
        #[graphql(desc = "Its path: `module::name`.")] name: Option<String>,
    ) -> Nullable<Function> {
        self.read(async |view| match (reference, name) {
            (Some(given), None) => view.function_named(&given).and_then(|of| Function::new(view, of)),
            (None, Some(given)) => view.function_called(&given).and_then(|of| Function::new(view, of)),
            (Some(_), Some(_)) | (None, None) => {
                Err(ApiError::new(Code::BadRequest, "give exactly one of `ref` and `name`"))
            }
        })
        .await
    }

    /// One node, by ref.
    async fn compute_node(
        &self,
        #[graphql(desc = "The node's ref: `n12`.", name = "ref")] reference: String,
    ) -> Nullable<ComputeNode> {
        self.read(async |view| {
            let (function, node) = view.node_named(&reference)?;
            Ok(ComputeNode::new(&Function::new(view, function)?, node))
        })
        .await
    }

    /// One entity, by ref or path: a function, a type, a module, storage, or what is in a function: `m::f::sum`. Of a field or a
    /// variant its type.
    async fn entity(&self, #[graphql(desc = "Its ref or path.")] of: String) -> Nullable<Node> {
        self.read(async |view| entity_named(view, &of)).await
    }

    /// Nodes that pass all parts of a filter, by function and ref.
    async fn search(
        &self,
        #[graphql(desc = "What a node must be like.")] filter: NodeFilter,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<ComputeNode>> {
        self.read(async |view| {
            search::search(view, filter, PageRequest::new(List::Search, first, after)?).await
        })
        .await
    }

    /// What lies around some nodes or functions, at most three edges away.
    async fn neighborhood(
        &self,
        #[graphql(desc = "Where it begins, and how far it goes.")] input: NeighborhoodInput,
    ) -> Nullable<Subgraph> {
        self.read(async |view| neighbourhood::neighbourhood(view, input)).await
    }

    /// What a node depends on, or what depends on it, within its function: by values, variables, and what decides
    /// whether a node runs. Dependence through memory, globals and tables and into callees is not followed.
    async fn slice(
        &self,
        #[graphql(desc = "The node where it begins, by ref: `n12`.")] node: String,
        #[graphql(desc = "Whether it follows what a value is made of, or what is made of it.")]
        direction: SliceDirection,
        #[graphql(desc = "How many nodes at most.", default)] max_nodes: Or<Int<200>>,
        #[graphql(desc = "How much the text says.", default)] detail: Or<Standard>,
    ) -> Nullable<Subgraph> {
        self.read(async |view| neighbourhood::slice(view, &node, direction, max_nodes.0, detail.0)).await
    }

    /// What a change of some entities could affect.
    async fn impact(
        &self,
        #[graphql(desc = "What would change, by ref or path.")] of: Vec<String>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Impact> {
        self.read(async |view| impact::impact(view, &of, &PageRequest::new(List::Affected, first, after)?))
            .await
    }

    /// Who calls whom, by caller and callee.
    async fn call_graph(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<200>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<Call>> {
        self.read(async |view| call_graph::call_graph(view, &PageRequest::new(List::Calls, first, after)?))
            .await
    }

    /// All its nodes with the edges of data between them, as flat lists: for a picture of the whole. Who calls whom is told by
    /// `callGraph`.
    async fn map(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Nodes at most.", default)] max_nodes: Or<Int<50000>>,
    ) -> Nullable<ProgramMap> {
        self.read(async |view| ProgramMap::of(context, view, max_nodes.0).await).await
    }

    /// What a model is told of a part of the program: text within a budget of tokens, the most useful first, compressed as far as
    /// needed; with `since`, what has changed. A focus that does not fit in its smallest form is a `LIMIT_EXCEEDED`.
    async fn context(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "What it is about, and how much it may take.")] input: ContextInput,
    ) -> Nullable<ContextPack> {
        self.read(async |view| contexts::pack(context, view, input).await).await
    }

    /// Answers a question about the graph exactly, by function and ref. Callers, callees and what a change concerns are told by
    /// `Function.callers`, `Function.callees` and `impact`.
    async fn analysis(
        &self,
        #[graphql(desc = "What is asked.")] question: Question,
        #[graphql(desc = "What it is asked about, by refs or paths; a field is `d3`.")] of: Option<
            Vec<String>,
        >,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<Answer>> {
        self.read(async |view| {
            analysis::answers(view, question, of, PageRequest::new(List::Answers, first, after)?).await
        })
        .await
    }

    /// Its text form, or that of one module. Above `maxBytes` an error that names the modules to ask for.
    async fn text(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The module, by ref or path; without it, the whole program.")] module: Option<
            String,
        >,
        #[graphql(desc = "How much the text says.", default)] detail: Or<Full>,
        #[graphql(desc = "How many bytes the text may have; a longer one is a `LIMIT_EXCEEDED`.", default)]
        max_bytes: Or<Int<1_000_000>>,
    ) -> Nullable<String> {
        self.read(async |view| {
            budget::open(context)?;
            let printed = text_within(view, module.as_deref(), detail.0, max_bytes.0)?;
            budget::count(context, printed.len() as u64)?;
            Ok(printed)
        })
        .await
    }

    /// What the verifier says: of everything, or of what a change can have touched.
    async fn verify(
        &self,
        #[graphql(desc = "How much is verified.")] scope: VerifyScope,
        #[graphql(
            desc = "For `LOCAL`: what has changed, by ref or path; with it everything that relies on it."
        )]
        touched: Option<Vec<String>>,
        #[graphql(
            desc = "For `LOCAL` without `touched`: what has changed since this revision; without either, what this \
                          revision's edits touched."
        )]
        since: Option<String>,
        #[graphql(
            desc = "Also warn of variables that may be read before anything is assigned to them, `VARIABLE_UNASSIGNED`.",
            default
        )]
        unassigned: Or<No>,
    ) -> Nullable<VerifyReport> {
        let asked = Asked { touched, since, unassigned: unassigned.0 };
        self.read(async |view| verification::verify(view, scope, asked).await).await
    }

    /// All findings, those of modules, types and globals first.
    async fn diagnostics(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only findings of this severity.")] severity: Option<Severity>,
    ) -> Nullable<Connection<Diagnostic>> {
        self.read(async |view| {
            diagnostics::page(
                view,
                &PageRequest::new(List::Diagnostics, first, after)?,
                Within::Program,
                severity,
            )
        })
        .await
    }

    /// Its revisions up to this one, newest first.
    #[expect(clippy::too_many_arguments, reason = "they are those of the field")]
    async fn history(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only those of the author with this name.")] author: Option<String>,
        #[graphql(
            desc = "Only those that touched this entity, by ref or path, or the function that it came or went with; of a field \
                          or variant those of its type. It may be gone."
        )]
        touching: Option<String>,
        #[graphql(desc = "Only those of this kind.")] kind: Option<RevisionKind>,
        #[graphql(desc = "With what merges brought in, of 200 branches at most.", default)] merged: Or<No>,
    ) -> Nullable<Connection<Revision>> {
        self.read(async |view| {
            let page = PageRequest::new(List::History, first, after)?;
            let only = revision::Only { author, touching, kind, merged: merged.0 };
            revision::history(view, page, Counted::of(context), only).await
        })
        .await
    }

    /// Its branches, by name.
    async fn branches(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<Branch>> {
        self.read(async |view| {
            revision::branches(view, &PageRequest::new(List::Branches, first, after)?).await
        })
        .await
    }

    /// Its checkpoints, by name.
    async fn checkpoints(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<Checkpoint>> {
        self.read(async |view| {
            revision::checkpoints(view, &PageRequest::new(List::Checkpoints, first, after)?).await
        })
        .await
    }

    /// What a merge of a branch into another one would come to, whichever revision is looked at.
    async fn merge_preview(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The branch whose changes are brought in; any revision.")] from: String,
        #[graphql(default, desc = "The branch that they are brought into.")] into: Or<Main>,
    ) -> Nullable<MergePreview> {
        let by = lmlang_engine::Call::by(actor(context));
        self.read(async |view| branching::preview(view, from, into.0, by).await).await
    }

    /// How two revisions differ, each named as for `program(at:)`: `r7`.
    async fn diff(
        &self,
        #[graphql(desc = "The revision that is compared.")] from: String,
        #[graphql(desc = "The revision that it is compared with.")] to: String,
    ) -> Nullable<ProgramDiff> {
        self.read(async |view| ProgramDiff::between(view, &from, &to).await).await
    }

    /// Its test cases, by function and name, and how each stands at this view: all, or those of one function.
    async fn cases(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(
            desc = "Only those of this function, by ref, path or name; by ref also of one that is gone."
        )]
        function: Option<String>,
    ) -> Nullable<Connection<TestCase>> {
        self.read(async |view| {
            cases::cases(context, view, PageRequest::new(List::Cases, first, after)?, function).await
        })
        .await
    }

    /// Looks for an input, with what is read of standard input, on which a function does not do the same at two revisions, for
    /// ten seconds at most, and makes it smaller; null where none was found. Compared is what it returns or how it traps, what
    /// it writes, and what it leaves in globals and memory.
    async fn behaviour_diff(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The revision that is compared.")] from: String,
        #[graphql(desc = "The revision that it is compared with.")] to: String,
        #[graphql(desc = "The function, by ref or path at `to`; it takes the same at both.")]
        function: String,
    ) -> Nullable<Counterexample> {
        let found =
            async |view: &View| checking::behaviour_diff(context, view, (&from, &to), &function).await;
        match self.read(found).await {
            None => None,
            Some(Ok(found)) => found.map(Ok),
            Some(Err(error)) => Some(Err(error)),
        }
    }

    /// The part of small changes of a function that its test cases, and contracts, notice; null where there is nothing to
    /// change. Takes ten seconds at most, then fails with `TIMEOUT`.
    async fn mutation_score(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The function, by ref or path.")] function: String,
    ) -> Nullable<f64> {
        match self.read(async |view| checking::mutation_score(context, view, &function).await).await {
            None => None,
            Some(Ok(score)) => score.map(Ok),
            Some(Err(error)) => Some(Err(error)),
        }
    }

    /// What small changes of a function its test cases, and contracts, notice, and which they do not.
    async fn mutations(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The function, by ref or path.")] function: String,
    ) -> Nullable<MutationReport> {
        self.read(async |view| checking::mutations(context, view, "Program.mutations", &function).await).await
    }

    /// The nodes that no test case of the program reaches, by function and ref.
    async fn uncovered(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Only those of this function, by ref or path.")] function: Option<String>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Nullable<Connection<ComputeNode>> {
        let found = async |view: &View| {
            checking::uncovered(
                context,
                view,
                PageRequest::new(List::Uncovered, first, after)?,
                function.as_deref(),
            )
            .await
        };
        self.read(found).await
    }

    /// Runs some nodes with values for their open inputs; nothing of the program changes.
    async fn simulate_nodes(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "Nodes of one region, by ref or path. They run in the order of their region; what they return is told in \
                          the order of this list, each output of each node."
        )]
        nodes: Vec<String>,
        #[graphql(desc = "A value for each thing that they take from elsewhere, and for each hole.")]
        inputs: Vec<PortValue>,
        #[graphql(desc = "Bounds and standard input; its `args` are empty.")] run: Option<SimulateInput>,
    ) -> Nullable<SimulationResult> {
        self.read(async |view| {
            allow(context, "Program.simulateNodes")?;
            simulation::simulate_nodes(view, nodes, inputs, run).await
        })
        .await
    }
}

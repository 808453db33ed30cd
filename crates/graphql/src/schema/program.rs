//! Programs at one revision.

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use lmlang_ir::{FuncRef, ModuleRef, text};

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::connection::{Connection, Counted, Listed, PageRequest};
use crate::schema::diagnostics::{self, Diagnostic, Severity, Within};
use crate::schema::diff::ProgramDiff;
use crate::schema::function::Function;
use crate::schema::module::Module;
use crate::schema::neighbourhood::{self, Call, Impact, NeighborhoodInput, SliceDirection, Subgraph};
use crate::schema::node::ComputeNode;
use crate::schema::revision::{self, Branch, Checkpoint, Revision, RevisionKind};
use crate::schema::run_input::{PortValue, SimulateInput};
use crate::schema::scalars::Count;
use crate::schema::search::{self, NodeFilter};
use crate::schema::simulation::{self, SimulationResult};
use crate::schema::types::TypeDef;
use crate::schema::verification::{self, VerifyReport, VerifyScope};
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// How much a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum Detail {
    /// Refs and operators.
    Summary,
    /// Owners and edges too.
    Standard,
    /// Types, attributes and docs too.
    Full,
}

impl From<Detail> for text::Detail {
    fn from(detail: Detail) -> text::Detail {
        match detail {
            Detail::Summary => text::Detail::Summary,
            Detail::Standard => text::Detail::Standard,
            Detail::Full => text::Detail::Full,
        }
    }
}

/// A program at one revision.
#[derive(Clone)]
pub struct Program(pub(crate) View);

impl Direct for Program {}

impl Listed for Program {
    const CONNECTION: &'static str = "ProgramConnection";
    const EDGE: &'static str = "ProgramEdge";
}

impl Direct for Call {}

impl Listed for Call {
    const CONNECTION: &'static str = "CallConnection";
    const EDGE: &'static str = "CallEdge";
}

/// How much there is of what.
#[derive(Clone, Debug, SimpleObject)]
pub struct ProgramStats {
    /// Modules.
    modules: i32,
    /// Nominal types.
    types: i32,
    /// Functions.
    functions: i32,
    /// Regions, those of contracts included.
    regions: i32,
    /// Nodes.
    nodes: Count,
    /// Edges: data edges, and one control edge per node and region.
    edges: Count,
    /// Inputs without a source.
    holes: i32,
    /// Warnings of the verifier, incomplete places included.
    warnings: i32,
}

fn int(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

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
        self.0.open().info().name.clone()
    }

    /// What it is for.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<String>> {
        let info = self.0.open().info();
        let doc = budget::words(context, Some(info.doc.as_str()).filter(|doc| !doc.is_empty()))?;
        Some(doc.map(str::to_owned))
    }

    /// The branch that this view follows; null for a pinned revision.
    async fn branch(&self) -> Option<String> {
        self.0.branch()
    }

    /// The revision that is looked at; null for a dry run.
    async fn revision(&self) -> Option<Revision> {
        self.0.is_stored().then(|| Revision::new(&self.0, self.0.revision().entry.clone()))
    }

    /// Hash of the whole content.
    async fn root_hash(&self) -> String {
        self.0.revision().entry.root_hash.to_string()
    }

    /// Where `programEvents(after:)` starts so that nothing after this view is missed.
    async fn event_cursor(&self) -> String {
        revision::cursor(self.0.newest_entry())
    }

    /// How much there is of what.
    async fn stats(&self) -> ProgramStats {
        let totals = self.0.program().totals();
        let tally = self.0.findings().tally();
        let counts = totals.counts;
        ProgramStats {
            modules: int(totals.modules),
            types: int(totals.types),
            functions: int(totals.functions),
            regions: int(counts.regions),
            nodes: Count(counts.nodes),
            edges: Count(counts.data_edges + counts.nodes + counts.regions),
            holes: int(counts.holes),
            warnings: int(tally.warnings + tally.incomplete + tally.stale),
        }
    }

    /// Its modules, by ref.
    async fn modules(
        &self,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Connection<Module>>> {
        nullable(PageRequest::new(first, after).and_then(|page| {
            let from = page.start()?;
            let modules = self.0.program().modules().filter(|(of, _)| of.number() >= from);
            let items =
                modules.filter_map(|(of, _)| Some((of.number().to_string(), Module::new(&self.0, of).ok()?)));
            Ok(Connection::collect(&page, self.0.program().totals().modules as usize, items))
        }))
    }

    /// Its nominal types, by ref.
    async fn types(
        &self,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Connection<TypeDef>>> {
        nullable(PageRequest::new(first, after).and_then(|page| {
            let from = page.start()?;
            let types = self.0.program().types_from(from);
            let items =
                types.filter_map(|(of, _)| Some((of.number().to_string(), TypeDef::new(&self.0, of).ok()?)));
            Ok(Connection::collect(&page, self.0.program().totals().types as usize, items))
        }))
    }

    /// Its functions, by ref: all, or those of a module, with a text in their path, complete or not.
    async fn functions(
        &self,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
        module: Option<String>,
        search: Option<String>,
        complete: Option<bool>,
    ) -> Option<Result<Connection<Function>>> {
        nullable(PageRequest::new(first, after).and_then(|page| {
            let filter = FunctionFilter {
                module: module.map(|module| self.0.module_named(&module)).transpose()?,
                search: search.map(|search| search.to_lowercase()),
                complete,
            };
            let from = page.start()?;
            let (counted, counting) = (self.0.clone(), filter.clone());
            let all = filter.is_empty();
            let total = move || match all {
                true => counted.program().totals().functions as usize,
                false => counted.program().functions().filter(|(of, _)| counting.fits(&counted, *of)).count(),
            };
            let functions = self.0.program().functions_from(from).filter(|(of, _)| filter.fits(&self.0, *of));
            let items = functions
                .filter_map(|(of, _)| Some((of.number().to_string(), Function::new(&self.0, of).ok()?)));
            Ok(Connection::counted_by(&page, total, items))
        }))
    }

    /// One function: exactly one of its ref and its path `module::name`.
    async fn function(
        &self,
        #[graphql(name = "ref")] reference: Option<String>,
        name: Option<String>,
    ) -> Option<Result<Function>> {
        nullable(match (reference, name) {
            (Some(given), None) | (None, Some(given)) => {
                self.0.function_named(&given).and_then(|of| Function::new(&self.0, of))
            }
            (Some(_), Some(_)) | (None, None) => {
                Err(ApiError::new(Code::BadRequest, "give exactly one of `ref` and `name`"))
            }
        })
    }

    /// One node, by ref.
    async fn compute_node(&self, #[graphql(name = "ref")] reference: String) -> Option<Result<ComputeNode>> {
        nullable(
            self.0
                .node_named(&reference)
                .and_then(|(function, node)| Ok(ComputeNode::new(&Function::new(&self.0, function)?, node))),
        )
    }

    /// Nodes that pass all parts of a filter, by function and ref.
    async fn search(
        &self,
        filter: NodeFilter,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Connection<ComputeNode>>> {
        let page = match PageRequest::new(first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(search::search(&self.0, filter, page).await)
    }

    /// What lies around some nodes or functions, at most three edges away.
    async fn neighborhood(&self, input: NeighborhoodInput) -> Option<Result<Subgraph>> {
        nullable(neighbourhood::neighbourhood(&self.0, input))
    }

    /// What a node depends on, or what depends on it.
    async fn slice(
        &self,
        node: String,
        direction: SliceDirection,
        #[graphql(default = 200)] max_nodes: i32,
        #[graphql(default_with = "Detail::Standard")] detail: Detail,
    ) -> Option<Result<Subgraph>> {
        nullable(neighbourhood::slice(&self.0, &node, direction, max_nodes, detail))
    }

    /// What a change of some entities could affect.
    async fn impact(
        &self,
        of: Vec<String>,
        #[graphql(default = 100)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Impact>> {
        nullable(PageRequest::new(first, after).and_then(|page| neighbourhood::impact(&self.0, &of, &page)))
    }

    /// Who calls whom, by caller and callee.
    async fn call_graph(
        &self,
        #[graphql(default = 200)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Connection<Call>>> {
        nullable(PageRequest::new(first, after).and_then(|page| neighbourhood::call_graph(&self.0, &page)))
    }

    /// Its text form, or that of one module. Above `maxBytes` an error that names the modules to ask for.
    async fn text(
        &self,
        context: &Context<'_>,
        module: Option<String>,
        #[graphql(default_with = "Detail::Full")] detail: Detail,
        #[graphql(default = 1_000_000)] max_bytes: i32,
    ) -> Option<Result<String>> {
        if let Err(error) = budget::open(context) {
            return nullable(Err(error));
        }
        let printed = self.text_within(module.as_deref(), detail, max_bytes);
        nullable(printed.and_then(|printed| budget::count(context, printed.len() as u64).map(|()| printed)))
    }

    /// What the verifier says: of everything, or of what a change can have touched.
    async fn verify(
        &self,
        scope: VerifyScope,
        touched: Option<Vec<String>>,
        since: Option<String>,
    ) -> Option<Result<VerifyReport>> {
        nullable(verification::verify(&self.0, scope, touched, since).await)
    }

    /// All findings, those of modules, types and globals first.
    async fn diagnostics(
        &self,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
        severity: Option<Severity>,
    ) -> Option<Result<Connection<Diagnostic>>> {
        nullable(
            PageRequest::new(first, after)
                .and_then(|page| diagnostics::page(&self.0, &page, Within::Program, severity)),
        )
    }

    /// Its revisions up to this one, newest first.
    async fn history(
        &self,
        context: &Context<'_>,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
        author: Option<String>,
        touching: Option<String>,
        kind: Option<RevisionKind>,
    ) -> Option<Result<Connection<Revision>>> {
        let page = match PageRequest::new(first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(revision::history(&self.0, page, Counted::of(context), author, touching, kind).await)
    }

    /// Its branches, by name.
    async fn branches(
        &self,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Connection<Branch>>> {
        let page = match PageRequest::new(first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(revision::branches(&self.0, &page).await)
    }

    /// Its checkpoints, by name.
    async fn checkpoints(
        &self,
        #[graphql(default = 50)] first: i32,
        after: Option<String>,
    ) -> Option<Result<Connection<Checkpoint>>> {
        let page = match PageRequest::new(first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(revision::checkpoints(&self.0, &page).await)
    }

    /// How two revisions differ.
    async fn diff(&self, from: String, to: String) -> Option<Result<ProgramDiff>> {
        nullable(ProgramDiff::between(&self.0, &from, &to).await)
    }

    /// Runs some nodes with values for their open inputs; nothing of the program changes.
    async fn simulate_nodes(
        &self,
        nodes: Vec<String>,
        inputs: Vec<PortValue>,
        run: Option<SimulateInput>,
    ) -> Option<Result<SimulationResult>> {
        nullable(simulation::simulate_nodes(&self.0, nodes, inputs, run).await)
    }
}

impl Program {
    fn text_within(&self, module: Option<&str>, detail: Detail, max_bytes: i32) -> Result<String, ApiError> {
        let limit = u64::try_from(max_bytes)
            .map_err(|_| ApiError::new(Code::BadRequest, "`maxBytes` must not be negative"))?;
        let program = self.0.program();
        let module = module.map(|module| self.0.module_named(module)).transpose()?;
        let too_long = |actual: u64, found: &str| {
            let modules: Vec<String> =
                program.modules().map(|(of, _)| program.path(of.into())).take(50).collect();
            let message = format!("`maxBytes` is limited to {limit}, found {found}{actual}");
            let data = serde_json::json!({ "which": "maxBytes", "limit": limit, "actual": actual, "modules": modules });
            ApiError::new(Code::LimitExceeded, message).data(data)
        };
        let printed = match module {
            Some(module) => text::print_module(program, module, detail.into()),
            None => {
                // Every node is printed and takes a byte at least: what is far too long need not be printed to know.
                let least = program.totals().counts.nodes;
                if least > limit {
                    return Err(too_long(least, "at least "));
                }
                text::print_program(program, detail.into())
            }
        };
        if printed.len() as u64 > limit {
            return Err(too_long(printed.len() as u64, ""));
        }
        Ok(printed)
    }
}

#[derive(Clone)]
struct FunctionFilter {
    module: Option<ModuleRef>,
    search: Option<String>,
    complete: Option<bool>,
}

impl FunctionFilter {
    fn is_empty(&self) -> bool {
        self.module.is_none() && self.search.is_none() && self.complete.is_none()
    }

    fn fits(&self, view: &View, of: FuncRef) -> bool {
        let Some(function) = view.program().function(of) else { return false };
        let in_module = self.module.is_none_or(|module| function.head().module == module);
        let found = || match &self.search {
            Some(search) => view.program().path(of.into()).to_lowercase().contains(search),
            None => true,
        };
        let complete = || match self.complete {
            Some(complete) => view.revision().checked.complete(of).is_some() == complete,
            None => true,
        };
        in_module && found() && complete()
    }
}

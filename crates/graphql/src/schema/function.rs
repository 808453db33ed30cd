//! Functions, their parameters, variables and contracts.

use std::sync::{Arc, Mutex};

use async_graphql::{Context, ID, Object, Result};
use lmlang_ir::{ContractRef, FuncRef, Ref, Source, Type, VarRef, graph, text};

use crate::direct::{Direct, Rows, Selected, Writer, leaf, object, word};
use crate::error::ApiError;
use crate::schema::access::allow;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Full, Int, Or};
use crate::schema::diagnostics::{self, Diagnostic, Severity, Within};
use crate::schema::edge::{self, EdgeKind, FlowEdge};
use crate::schema::edit_input::{ContractKind, EffectBound, Visibility};
use crate::schema::failure::fail;
use crate::schema::module::Module;
use crate::schema::node::ComputeNode;
use crate::schema::positions::Positions;
use crate::schema::provenance::Provenance;
use crate::schema::region::Region;
use crate::schema::run_input::SimulateInput;
use crate::schema::scalars::Text;
use crate::schema::simulation::{self, SimulationResult};
use crate::schema::storage::HostImport;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// A function at one revision.
#[derive(Clone)]
pub struct Function {
    pub(crate) view: View,
    pub(crate) of: FuncRef,
    pub(crate) function: Arc<lmlang_ir::Function>,
    pub(crate) positions: Arc<Positions>,
    /// What stands around the nodes of it that are printed.
    pub(crate) around: Arc<Mutex<text::Surroundings>>,
}

impl Listed for Function {
    const CONNECTION: &'static str = "FunctionConnection";
    const EDGE: &'static str = "FunctionEdge";
}

impl Function {
    /// The function with a ref, in a view.
    pub fn new(view: &View, of: FuncRef) -> std::result::Result<Function, ApiError> {
        Ok(Function::of(view, of, view.function(of)?))
    }

    /// A function that was found in a view.
    pub(crate) fn of(view: &View, of: FuncRef, function: Arc<lmlang_ir::Function>) -> Function {
        let (positions, around) = (Arc::default(), Arc::default());
        Function { view: view.clone(), of, function, positions, around }
    }

    /// Knows along with another one, if that is the same, what both may be asked about: they may be of views with other names.
    pub(crate) fn know_along_with(&mut self, other: &Function) {
        if self.of == other.of && Arc::ptr_eq(self.view.revision(), other.view.revision()) {
            self.positions = Arc::clone(&other.positions);
            self.around = Arc::clone(&other.around);
        }
    }
}

/// A function: signature, contracts and a body of nodes.
#[Object]
impl Function {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.view.entity_id(self.of)
    }

    /// Short name within the program: `f7`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// Its label within the module.
    async fn name(&self) -> Text {
        self.function.head().name.to_string().into()
    }

    /// `module::name`.
    async fn path(&self) -> Text {
        self.view.program().path(self.of.into()).into()
    }

    /// The module that it stands in.
    async fn module(&self) -> Module {
        let module = Module::new(&self.view, self.function.head().module);
        module.expect("a function stands in a module of its program")
    }

    /// The names under which an exported module offers it.
    async fn exports(&self) -> Vec<Text> {
        self.function.head().exports.iter().map(|name| name.to_string().into()).collect()
    }

    /// Where it comes from, if the host provides it; null for one with a body.
    async fn import(&self) -> Option<HostImport> {
        self.function.head().import.as_ref().map(HostImport::of)
    }

    /// Whether it is called before any other, when a run or an instance begins.
    async fn start(&self) -> bool {
        self.function.head().start
    }

    /// Who may call it.
    async fn visibility(&self) -> Visibility {
        self.function.head().visibility.into()
    }

    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.function.head().doc.as_deref())
    }

    /// What it takes and returns: `(n: i32) -> (i64)`.
    async fn signature(&self, context: &Context<'_>) -> String {
        budget::whole(context, text::print_signature(self.view.program(), self.of))
    }

    /// What it takes.
    async fn params(&self, context: &Context<'_>) -> Vec<Param> {
        let items = self
            .function
            .head()
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| self.param(index, param, true))
            .collect();
        budget::list(context, items).await
    }

    /// Types of what it returns.
    async fn results(&self) -> Rows<Text> {
        self.function.head().results.iter().map(|ty| self.type_text(ty)).collect()
    }

    /// What a closure made from it captures.
    async fn captures(&self, context: &Context<'_>) -> Vec<Param> {
        let items = self
            .function
            .head()
            .captures
            .iter()
            .enumerate()
            .map(|(index, param)| self.param(index, param, false))
            .collect();
        budget::list(context, items).await
    }

    /// What it may do at most.
    async fn effect_bound(&self) -> EffectBound {
        self.function.head().effect_bound.into()
    }

    /// What it demands and promises, by ref.
    async fn contracts(&self, context: &Context<'_>) -> Vec<Contract> {
        let contracts = self.function.body().contracts();
        budget::list(context, contracts.map(|(of, _)| Contract { function: self.clone(), of }).collect())
            .await
    }

    /// Its mutable cells, by ref.
    async fn vars(&self, context: &Context<'_>) -> Vec<Var> {
        budget::list(
            context,
            self.function.body().variables().map(|(of, _)| Var { function: self.clone(), of }).collect(),
        )
        .await
    }

    /// The region of its body; null for an imported function.
    async fn body(&self) -> Option<Region> {
        self.function.body().root().map(|root| Region::new(self, root))
    }

    /// All its regions, by ref.
    async fn regions(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Region>>> {
        nullable(PageRequest::new(List::FunctionRegions, first, after).and_then(|page| {
            let body = self.function.body();
            let from = page.start()?;
            let total = body.counts().regions as usize;
            let regions = body.regions_from(from).map(|(of, _)| (of.number(), Region::new(self, of)));
            Ok(Connection::collect(&page, total, regions))
        }))
    }

    /// All its nodes, by ref; those of one region, in order, are `Region.nodes`.
    async fn nodes(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<200>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<ComputeNode>>> {
        nullable(PageRequest::new(List::FunctionNodes, first, after).and_then(|page| {
            let body = self.function.body();
            let from = page.start()?;
            let total = body.counts().nodes as usize;
            let nodes = body.nodes_from(from).map(|(of, _)| (of.number(), ComputeNode::new(self, of)));
            Ok(Connection::collect(&page, total, nodes))
        }))
    }

    /// All its edges, by the node that they lead to.
    async fn edges(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<400>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only edges of this kind.")] kind: Option<EdgeKind>,
    ) -> Option<Result<Connection<FlowEdge>>> {
        nullable(
            PageRequest::new(List::FunctionEdges, first, after)
                .and_then(|page| edge::all_edges(self, &page, kind)),
        )
    }

    /// Functions that call it or take a reference to it, by ref.
    async fn callers(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Function>>> {
        nullable(
            PageRequest::new(List::Callers, first, after)
                .and_then(|page| users(&self.view, self.of.into(), &page)),
        )
    }

    /// Functions that it calls or takes a reference to, by ref.
    async fn callees(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Function>>> {
        nullable(PageRequest::new(List::Callees, first, after).and_then(|page| {
            let mut callees: Vec<FuncRef> = self
                .function
                .body()
                .all_users()
                .filter(|(_, one)| one.input.is_none())
                .filter_map(|(number, _)| FuncRef::try_from(self.view.program().ref_of(number)?).ok())
                .collect();
            callees.dedup();
            let from = page.start()?;
            let total = callees.len();
            let rest = callees.into_iter().filter(|of| of.number() >= from);
            let items = rest.filter_map(|of| Some((of.number(), Function::new(&self.view, of).ok()?)));
            Ok(Connection::collect(&page, total, items))
        }))
    }

    /// Whether it may be simulated: no errors but holes and missing terminators.
    async fn verified(&self) -> bool {
        self.is_verified()
    }

    /// Whether it may be compiled and exported: no findings but warnings.
    async fn complete(&self) -> bool {
        self.is_complete()
    }

    /// Hash of all that was authored in it, refs included.
    async fn content_hash(&self) -> String {
        self.function.content_hash().to_string()
    }

    /// Hash of its signature, effect bound and contracts: what callers rely on.
    async fn interface_hash(&self) -> String {
        graph::interface_hash(&self.function).to_string()
    }

    /// Hash of it and of everything that it reaches; names and docs do not count.
    async fn closure_hash(&self) -> String {
        budget::breathe().await;
        self.view.closure_hash(self.of).to_string()
    }

    /// Its text form.
    async fn text(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How much the text says.", default)] detail: Or<Full>,
    ) -> Option<Result<String>> {
        let print = || text::print_function(self.view.program(), self.of, detail.0.into());
        nullable(budget::text(context, print).await)
    }

    /// The function as a WebAssembly module of its own, in the text form: what it calls is imported by its path. Values that
    /// fit no machine word are addresses, with what handles them beside it; invariants of types are not checked in it. Null, with
    /// an error, if it is not complete.
    async fn wat(&self, context: &Context<'_>) -> Option<Result<String>> {
        nullable(self.printed_as_wat(context).await)
    }

    /// What the verifier finds in it.
    async fn diagnostics(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only findings of this severity.")] severity: Option<Severity>,
    ) -> Option<Result<Connection<Diagnostic>>> {
        nullable(
            PageRequest::new(List::FunctionDiagnostics, first, after)
                .and_then(|page| diagnostics::page(&self.view, &page, Within::Function(self.of), severity)),
        )
    }

    /// Who made it, and who changed it last; null in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        Provenance::of(&self.view, self.of.into()).await
    }

    /// Runs it once, within limits; nothing of the program changes.
    async fn simulate(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The arguments, and within which bounds it runs.")] input: SimulateInput,
    ) -> Option<Result<SimulationResult>> {
        nullable(match allow(context, "Function.simulate") {
            Ok(()) => simulation::simulate(&self.view, self.of, input).await,
            Err(refused) => Err(refused),
        })
    }
}

impl Function {
    async fn printed_as_wat(&self, context: &Context<'_>) -> std::result::Result<String, ApiError> {
        budget::open(context)?;
        let printed = self.view.engine().function_wat(self.view.revision(), self.of).await.map_err(fail)?;
        budget::count(context, printed.len() as u64)?;
        Ok(printed)
    }

    fn is_verified(&self) -> bool {
        self.view.revision().checked.function(self.of).is_some()
    }

    fn is_complete(&self) -> bool {
        self.view.revision().checked.complete(self.of).is_some()
    }

    fn type_text(&self, ty: &Type) -> String {
        text::print_type_name(self.view.program(), Some(self.function.head().module), ty)
    }

    fn param(&self, index: usize, param: &lmlang_ir::Param, used: bool) -> Param {
        let source = used.then_some(Source::Param(self.of, index as u16));
        let ty = self.type_text(&param.ty);
        Param { function: self.clone(), name: param.name.to_string(), ty, index, source }
    }

    /// The parameter with an index.
    pub(crate) fn param_at(&self, index: usize) -> Option<Param> {
        Some(self.param(index, self.function.head().params.get(index)?, true))
    }
}

impl Direct for Function {
    fn writer(selected: Selected<'_>) -> Option<Writer<Function>> {
        object(selected, &["Function", "Node"], |name, _| match name {
            "id" => leaf(|function: &Function, out| out.text(&function.view.entity_id(function.of))),
            "ref" => leaf(|function: &Function, out| out.plain(function.of)),
            "name" => leaf(|function: &Function, out| out.counted(&function.function.head().name)),
            "path" => leaf(|function: &Function, out| {
                out.counted(&function.view.program().path(function.of.into()));
            }),
            "visibility" => leaf(|function: &Function, out| {
                out.plain(word(Visibility::from(function.function.head().visibility)));
            }),
            "effectBound" => leaf(|function: &Function, out| {
                out.plain(word(EffectBound::from(function.function.head().effect_bound)));
            }),
            "doc" => leaf(|function: &Function, out| match &function.function.head().doc {
                Some(doc) => out.counted(doc),
                None => out.null(),
            }),
            "signature" => leaf(|function: &Function, out| {
                out.counted(&text::print_signature(function.view.program(), function.of));
            }),
            "verified" => leaf(|function: &Function, out| out.number(function.is_verified())),
            "complete" => leaf(|function: &Function, out| out.number(function.is_complete())),
            "contentHash" => leaf(|function: &Function, out| out.plain(function.function.content_hash())),
            _ => None,
        })
    }
}

/// The functions that mention an entity, by ref.
pub(crate) fn users(
    view: &View,
    of: Ref,
    page: &PageRequest,
) -> std::result::Result<Connection<Function>, ApiError> {
    let from = page.start()?;
    let counted = view.clone();
    let total =
        move || counted.program().users_of(of).filter(|(user, _)| FuncRef::try_from(*user).is_ok()).count();
    let functions = view.program().users_from(of, from).filter_map(|(user, _)| FuncRef::try_from(user).ok());
    let items = functions.filter_map(|user| Some((user.number(), Function::new(view, user).ok()?)));
    Ok(Connection::counted_by(page, total, items))
}

/// A named parameter or capture.
#[derive(Clone)]
pub struct Param {
    function: Function,
    name: String,
    ty: String,
    index: usize,
    source: Option<Source>,
}

/// A named parameter or capture of a function.
#[Object]
impl Param {
    /// Its name.
    async fn name(&self) -> Text {
        self.name.clone().into()
    }

    /// Its type.
    #[graphql(name = "type")]
    async fn ty(&self) -> Text {
        self.ty.clone().into()
    }

    /// Its position, from 0.
    async fn index(&self) -> i32 {
        self.index as i32
    }

    /// The edges that take its value; none for a capture, which `capture.get` reads.
    async fn uses(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<FlowEdge>>> {
        nullable(PageRequest::new(List::ParamUses, first, after).and_then(|page| match self.source {
            Some(source) => edge::uses(&self.function, source, &page),
            None => Connection::slice(&page, Vec::new()),
        }))
    }
}

impl Direct for Param {
    fn writer(selected: Selected<'_>) -> Option<Writer<Param>> {
        object(selected, &["Param"], |name, _| match name {
            "name" => leaf(|param: &Param, out| out.counted(&param.name)),
            "type" => leaf(|param: &Param, out| out.counted(&param.ty)),
            "index" => leaf(|param: &Param, out| out.number(param.index)),
            _ => None,
        })
    }
}

/// A mutable cell of a function.
#[derive(Clone)]
pub struct Var {
    function: Function,
    of: VarRef,
}

impl Var {
    /// The variable with a ref in a function.
    pub fn new(function: Function, of: VarRef) -> Var {
        Var { function, of }
    }
}

/// A mutable cell of one function, zero at its start.
#[Object]
impl Var {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.function.view.entity_id(self.of)
    }

    /// Short name within the program: `v3`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// Its label.
    async fn name(&self) -> Option<Text> {
        let name = self.function.function.body().variable(self.of)?.name.as_ref()?;
        Some(name.to_string().into())
    }

    /// The type of its value.
    #[graphql(name = "type")]
    async fn ty(&self) -> Text {
        let variable = self.function.function.body().variable(self.of);
        variable.map_or_else(String::new, |variable| self.function.type_text(&variable.ty)).into()
    }

    /// The function that it belongs to.
    async fn owner(&self) -> &Function {
        &self.function
    }
}

/// A contract of a function.
#[derive(Clone)]
pub struct Contract {
    function: Function,
    of: ContractRef,
}

impl Contract {
    /// The contract with a ref in a function, which must be there.
    pub fn new(function: Function, of: ContractRef) -> Contract {
        Contract { function, of }
    }

    fn record(&self) -> &lmlang_ir::Contract {
        self.function
            .function
            .body()
            .contract(self.of)
            .expect("a contract that is looked at is in its function")
    }
}

/// A condition that a function demands or promises, evaluated by the callee for every caller.
#[Object]
impl Contract {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.function.view.entity_id(self.of)
    }

    /// Short name within the program: `k3`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// When it is evaluated.
    async fn kind(&self) -> ContractKind {
        match self.record().kind {
            lmlang_ir::ContractKind::Require => ContractKind::Require,
            lmlang_ir::ContractKind::Ensure => ContractKind::Ensure,
            lmlang_ir::ContractKind::Invariant => ContractKind::Invariant,
        }
    }

    /// What it means, in words.
    async fn message(&self, context: &Context<'_>) -> String {
        budget::whole(context, self.record().message.to_string())
    }

    /// Its text form.
    async fn text(&self, context: &Context<'_>) -> Option<Result<String>> {
        let program = self.function.view.program();
        let print = || text::print_contract(program, self.function.of, self.of, text::Detail::Full);
        nullable(budget::text(context, print).await)
    }

    /// The region that computes its answer.
    async fn region(&self) -> Region {
        Region::new(&self.function, self.record().region)
    }

    /// Who made it, and who changed it last; null in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        Provenance::of(&self.function.view, self.of.into()).await
    }
}

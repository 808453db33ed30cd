//! The root of queries.

use async_graphql::{Context, ID, Interface, Object, Result, SimpleObject};
use chrono::{DateTime, Utc};
use lmlang_context::pack::{MOST_FOCUS, MOST_TOKENS};
use lmlang_engine::Engine;
use lmlang_ir::Place;
use lmlang_ir::graph::subgraph::MAX_HOPS;

use crate::error::{ApiError, Code, cut};
use crate::schema::caller::{self, Caller};
use crate::schema::cases::TestCase;
use crate::schema::code_page::CodePage;
use crate::schema::connection::{Connection, MAX_PAGE, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, No, Open, Or};
use crate::schema::entities::{self, CypherResult, Entity};
use crate::schema::failure::fail;
use crate::schema::finding::{self, Found};
use crate::schema::flows::flow::{self, Flow};
use crate::schema::flows::interrupt::{self, Interrupt, InterruptStatus};
use crate::schema::flows::metrics::{self, Metrics};
use crate::schema::flows::run::{self, Run, RunStatus};
use crate::schema::flows::session::{self, Session};
use crate::schema::function::{Contract, Function, Var};
use crate::schema::ids::GlobalId;
use crate::schema::module::Module;
use crate::schema::node::ComputeNode;
use crate::schema::ops::{self, OpSpec};
use crate::schema::outcome::EntityKind;
use crate::schema::program::Program;
use crate::schema::region::Region;
use crate::schema::revision::Revision;
use crate::schema::simulation::Simulation;
use crate::schema::storage::Storage;
use crate::schema::token::{self, ApiToken};
use crate::schema::types::TypeDef;
use crate::schema::view::{View, not_found, nullable};
use crate::schema::{analysis, call, checking, inspecting, map, neighbourhood, trace_batch};
use crate::transport::{Limits, budget};

/// Any object with a global id.
#[derive(Clone, Interface)]
#[graphql(field(name = "id", ty = "ID", desc = "Global id."))]
pub enum Node {
    /// A program.
    Program(Program),
    /// A module.
    Module(Module),
    /// A nominal type.
    TypeDef(TypeDef),
    /// Storage of a program.
    Storage(Storage),
    /// A function.
    Function(Function),
    /// A variable.
    Var(Var),
    /// A contract.
    Contract(Contract),
    /// A region.
    Region(Region),
    /// A node of a function.
    ComputeNode(ComputeNode),
    /// A revision.
    Revision(Revision),
    /// A simulation.
    Simulation(Simulation),
    /// A test case.
    TestCase(TestCase),
    /// A run of a flow.
    Run(Run),
    /// A question of a run.
    Interrupt(Interrupt),
    /// A session.
    Session(Session),
    /// An entity that is kept beside programs.
    Entity(Entity),
}

/// What this server is, and what it allows.
#[derive(Clone, Debug, SimpleObject)]
pub struct ServerInfo {
    /// `lmlang`.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// Where programs are kept: `sqlite` or `postgresql`.
    storage: &'static str,
    /// Every limit by name; null where nothing limits.
    limits: async_graphql::Json<serde_json::Value>,
    /// What this version can do.
    features: Vec<&'static str>,
    /// Where the pages of diagnostic codes are; null: ask `diagnosticCode`.
    diagnostics_url: Option<String>,
}

/// The most ids of one question.
const MOST_IDS: usize = 500;

/// What can be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query;

/// What can be read. A field that fails is null, with an error whose `extensions.code` says why; its siblings are answered. Lists
/// give `first` items, at most `pageSize` of `serverInfo.limits`, and go on after the `endCursor` of a page.
#[Object]
impl Query {
    /// Any object by its global id.
    async fn node(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its global id, the `id` of any object.")] id: ID,
    ) -> Option<Result<Node>> {
        nullable(find(context.data_unchecked::<Engine>(), &id).await)
    }

    /// Several objects by their global ids, in that order. As Relay asks for, one that is not there, or whose id is none, is
    /// null in its place, without an error; `node` tells why.
    async fn nodes(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Their global ids, of any kind and program.")] ids: Vec<ID>,
    ) -> Option<Result<Vec<Option<Node>>>> {
        if ids.len() > MOST_IDS {
            return nullable(Err(ApiError::limit("nodes", MOST_IDS as u64, ids.len() as u64)));
        }
        let mut found = Vec::with_capacity(ids.len());
        let mut last: Option<Function> = None;
        for id in &ids {
            match find(context.data_unchecked::<Engine>(), id).await {
                Ok(mut node) => {
                    if let Node::ComputeNode(ComputeNode { function, .. }) = &mut node {
                        if let Some(last) = &last {
                            function.know_along_with(last);
                        }
                        last = Some(function.clone());
                    }
                    found.push(Some(node));
                }
                Err(error) if error.code == Code::NotFound => found.push(None),
                Err(error) => return nullable(Err(error)),
            }
        }
        Some(Ok(budget::list(context, found).await))
    }

    /// Who asks, and what they may do.
    async fn caller(&self, context: &Context<'_>) -> Option<Caller> {
        Some(caller::asks(context))
    }

    /// What this server is, and what it allows.
    async fn server_info(&self, context: &Context<'_>) -> Option<ServerInfo> {
        let engine = context.data_unchecked::<Engine>();
        let mut limits = context.data_unchecked::<Limits>().named();
        limits.extend(engine.limits().named());
        for (name, limit) in [
            ("pageSize", MAX_PAGE),
            ("nodes", MOST_IDS),
            ("hops", MAX_HOPS.into()),
            ("maxNodes", neighbourhood::MOST),
            ("mapNodes", map::MOST),
            ("maxEvents", trace_batch::MOST_EVENTS),
            ("noteBytes", call::NOTE_BYTES),
            ("budgetTokens", MOST_TOKENS),
            ("contextFocus", MOST_FOCUS),
            ("analysisOf", analysis::MOST_OF),
            ("findTextBytes", finding::QUESTION_BYTES),
            ("memoryLength", inspecting::MOST_BYTES),
            ("searchMs", checking::PATIENCE_MS as usize),
        ] {
            limits.insert(name.into(), limit.into());
        }
        Some(ServerInfo {
            name: "lmlang",
            version: env!("CARGO_PKG_VERSION"),
            storage: engine.store().location().system(),
            limits: async_graphql::Json(limits.into()),
            features: vec![
                "edit",
                "verify",
                "simulate",
                "subscriptions",
                "undo",
                "checkpoints",
                "branches",
                "merge",
                "revert",
                "cases",
                "context",
                "analysis",
                "findText",
                "flows",
                "entities",
            ],
            diagnostics_url: None,
        })
    }

    /// The operators: all, or those in whose name, group or documentation all the words occur.
    async fn ops(
        &self,
        #[graphql(desc = "Only those with these words, or those that are written so: `add.i64`.")]
        search: Option<String>,
    ) -> Option<Vec<OpSpec>> {
        Some(ops::search(search.as_deref()))
    }

    /// The programs by name: all, or those with a text in their names.
    async fn programs(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only those with this text in their names.")] search: Option<String>,
    ) -> Option<Result<Connection<Program>>> {
        let engine = context.data_unchecked::<Engine>();
        let page = match PageRequest::new(List::Programs, first, after) {
            Ok(page) => page,
            Err(error) => return nullable(Err(error)),
        };
        nullable(Box::pin(programs(engine, &page, search.as_deref())).await)
    }

    /// Where `programEvents(after:)` without `programId` starts so that nothing is missed of what happens after this
    /// answer: ask for it before `programs`, in a request of its own.
    async fn event_cursor(&self, context: &Context<'_>) -> Option<Result<String>> {
        let cursor = context.data_unchecked::<Engine>().cursor().await;
        nullable(cursor.map(|cursor| cursor.to_string()).map_err(fail))
    }

    /// One program: exactly one of its id (any view's) and its name.
    async fn program(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its id, or that of a view of it.")] id: Option<ID>,
        #[graphql(desc = "Its name.")] name: Option<String>,
        #[graphql(
            desc = "The revision: `r7`, `main` (the head), a checkpoint, eight or more digits of a root hash, or one of \
                          these with `~2` behind it: two before. Without it, the head, or what the id says."
        )]
        at: Option<String>,
    ) -> Option<Result<Program>> {
        let engine = context.data_unchecked::<Engine>();
        let found = match (&id, &name) {
            (Some(id), None) => match id.parse::<crate::schema::ids::ViewId>() {
                Ok(_) => View::find(engine, id, at.as_deref()).await,
                Err(_) => Err(no_id(id)),
            },
            (None, Some(name)) => View::named(engine, name, at.as_deref()).await,
            (Some(_), Some(_)) | (None, None) => {
                Err(ApiError::new(Code::BadRequest, "give exactly one of `id` and `name`"))
            }
        };
        nullable(found.map(Program::of))
    }

    /// A simulation that was run lately.
    async fn simulation(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its id, `S-` and a UUID, as `startSimulation` and `simulate` tell it.")] id: ID,
    ) -> Option<Result<Simulation>> {
        let engine = context.data_unchecked::<Engine>();
        nullable(match id.parse() {
            Ok(GlobalId::Simulation(uuid)) => Box::pin(Simulation::find(engine, uuid)).await,
            Ok(_) | Err(_) => Err(not_found("simulation", &id)),
        })
    }

    /// The tokens with which callers show who they are, the oldest first.
    async fn tokens(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Those that were revoked as well.", default)] revoked: Or<No>,
    ) -> Option<Result<Connection<ApiToken>>> {
        nullable(match PageRequest::new(List::Tokens, first, after) {
            Ok(page) => Box::pin(token::tokens(context, page, revoked.0)).await,
            Err(error) => Err(error),
        })
    }

    /// Entities of a program in whose names, paths, docs, or signatures and uses, words occur, the best first; identifiers
    /// are cut at capitals and underscores. Words that occur nowhere stand for words that are written nearly so. Without a
    /// match the list is empty: nothing is guessed.
    #[expect(clippy::too_many_arguments, reason = "they are those of the field")]
    async fn find_text(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The program, by id (any view's) or name.")] program_id: ID,
        #[graphql(desc = "The words, at most 32.")] query: String,
        #[graphql(
            desc = "Only entities of these kinds; without it, all but nodes and regions, of which there are many."
        )]
        kinds: Option<Vec<EntityKind>>,
        #[graphql(desc = "The revision, named as for `program(at:)`.")] at: Option<String>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<20>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Found>>> {
        let engine = context.data_unchecked::<Engine>();
        nullable(match PageRequest::new(List::Found, first, after) {
            Ok(page) => {
                Box::pin(finding::find(engine, (&program_id, at.as_deref()), query, kinds, page)).await
            }
            Err(error) => Err(error),
        })
    }

    /// The flows that can be run, by name.
    async fn flows(&self, context: &Context<'_>) -> Option<Result<Vec<Flow>>> {
        nullable(Box::pin(flow::all(context)).await)
    }

    /// A flow that can be run.
    async fn flow(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its name, or its id as `Flow.id` has it.")] id: ID,
    ) -> Option<Result<Flow>> {
        nullable(Box::pin(flow::one(context, &id)).await)
    }

    /// A run of a flow.
    async fn run(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its id, `R-` and a UUID.")] id: ID,
    ) -> Option<Result<Run>> {
        nullable(Box::pin(run::one(context, &id)).await)
    }

    /// The runs of flows that the caller may know of, the newest first. A flow or program that is not there is an error.
    #[expect(clippy::too_many_arguments, reason = "they are those of the field")]
    async fn runs(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only those of this flow, by name.")] flow: Option<String>,
        #[graphql(desc = "Only those that stand so.")] status: Option<RunStatus>,
        #[graphql(desc = "Only those of this session.")] session_id: Option<ID>,
        #[graphql(desc = "Only those about this program, by id or name; one that was deleted by its id.")]
        program: Option<ID>,
        #[graphql(desc = "Only those that were started by whom this name names.")] started_by: Option<String>,
    ) -> Option<Result<Connection<Run>>> {
        let engine = context.data_unchecked::<Engine>();
        let which = run::Which { flow, status, session: session_id, program, started_by };
        nullable(match PageRequest::new(List::Runs, first, after) {
            Ok(page) => Box::pin(run::page(engine, page, which)).await,
            Err(error) => Err(error),
        })
    }

    /// How the runs of flows went that the caller may know of: calls of tools and models, and failures by class. It is counted from
    /// the journals, the newest runs first, as far as `metricEntries` of `serverInfo.limits` go.
    async fn metrics(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Only of runs about this program, by id or name; one that was deleted by its id.")]
        program: Option<ID>,
        #[graphql(desc = "Only of runs of this flow, by name.")] flow: Option<String>,
        #[graphql(desc = "Only what happened from this time on.")] since: Option<DateTime<Utc>>,
        #[graphql(desc = "Only what happened before this time.")] until: Option<DateTime<Utc>>,
    ) -> Option<Result<Metrics>> {
        nullable(Box::pin(metrics::count(context, program, flow, (since, until))).await)
    }

    /// What a run carries: every channel of its flow that is not private, by name.
    async fn run_state(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The run, by its id.")] run_id: ID,
    ) -> Option<Result<async_graphql::Json<serde_json::Value>>> {
        nullable(Box::pin(run::state(context, &run_id)).await)
    }

    /// Questions of runs to whoever supervises them, the oldest first.
    async fn interrupts(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Only those that stand so.", default)] status: Or<Open>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Interrupt>>> {
        let status: InterruptStatus = status.0;
        nullable(match PageRequest::new(List::Interrupts, first, after) {
            Ok(page) => Box::pin(interrupt::page(context, status, page)).await,
            Err(error) => Err(error),
        })
    }

    /// A session: a conversation with a flow, or other runs of it that belong together.
    async fn session(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its id, `T-` and a UUID.")] id: ID,
    ) -> Option<Result<Session>> {
        let engine = context.data_unchecked::<Engine>();
        nullable(match crate::schema::flows::session_id(&id) {
            Ok(id) => Box::pin(Session::find(engine, id)).await,
            Err(error) => Err(error),
        })
    }

    /// The sessions, the newest first.
    async fn sessions(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Session>>> {
        nullable(match PageRequest::new(List::Sessions, first, after) {
            Ok(page) => Box::pin(session::page(context, page)).await,
            Err(error) => Err(error),
        })
    }

    /// What agents keep beside programs, in the order of labels and keys: all, those of a label, those with a key.
    async fn entities(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Only those of this label.")] label: Option<String>,
        #[graphql(desc = "Only those with this natural key.")] key: Option<String>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Entity>>> {
        nullable(match PageRequest::new(List::Entities, first, after) {
            Ok(page) => Box::pin(entities::page(context, label, key, page)).await,
            Err(error) => Err(error),
        })
    }

    /// What lies within some relations of an entity, whichever way these point, all of one moment:
    /// `{nodes: [{label, key, props, hops}], edges: [{from: {label, key}, type, to: {label, key}, props}], truncated}`, the
    /// nearest first.
    async fn entity_subgraph(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The label of the entity in the middle.")] label: String,
        #[graphql(desc = "Its natural key.")] key: String,
        #[graphql(desc = "How many relations away at most.", default)] hops: Or<Int<1>>,
    ) -> Option<Result<async_graphql::Json<serde_json::Value>>> {
        nullable(Box::pin(entities::around(context, &label, &key, hops.0)).await)
    }

    /// Answers a question in Cypher about entities and programs, at one moment. Programs are nodes beside entities, as they are on
    /// `main`: `(:Program)-[:CONTAINS]->(:Module)-[:CONTAINS]->(:Function)-[:CALLS]->(:Function)-[:USES]->(:Type)`, and a
    /// `(:Document)-[:DESCRIBES]->` each of these that has a doc. A token that is limited to programs sees those and no entities.
    /// It only reads: a clause that would write is refused. What is wrong with a query is told with `data.reason`, `data.line`,
    /// `data.column` and the `data.nearest` known word.
    async fn cypher(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "The query: `MATCH (t:Ticket {key: $key}), (f:Function {program: t.program, path: t.function}) RETURN f.signature`."
        )]
        query: String,
        #[graphql(desc = "An object with a value for each `$name` of the query.")] params: Option<
            async_graphql::Json<serde_json::Value>,
        >,
    ) -> Option<Result<CypherResult>> {
        nullable(Box::pin(entities::cypher(context, query, params)).await)
    }

    /// What a code means, and how to repair what it names: that of a finding, of a refused edit, of a mistake in a text, of a
    /// trap, or of an error.
    async fn diagnostic_code(
        &self,
        #[graphql(desc = "The code, as a finding or an error has it.")] code: String,
    ) -> Option<Result<CodePage>> {
        nullable(CodePage::of(&code))
    }
}

/// The error for a program that is asked for by something other than an id.
fn no_id(given: &str) -> ApiError {
    let message =
        format!("`{}` is no id of a program: expected a `Program.id`; a name is given as `name`", cut(given));
    ApiError { message, ..not_found("program", given) }
}

async fn programs(
    engine: &Engine,
    page: &PageRequest,
    search: Option<&str>,
) -> std::result::Result<Connection<Program>, ApiError> {
    let after = page.after_name()?;
    let found = engine.programs(after, search, page.first).await.map_err(fail)?;
    let items = found.programs.into_iter().map(|info| (info.name.clone(), Program::listed(engine, info)));
    Ok(Connection::known(page, found.more, found.total as usize, items))
}

async fn find(engine: &Engine, id: &str) -> std::result::Result<Node, ApiError> {
    let missing = || not_found("object", id);
    match id.parse::<GlobalId>().map_err(|_| missing())? {
        GlobalId::Program(view) => {
            Ok(Node::Program(Program::of(View::find(engine, &view.to_string(), None).await?)))
        }
        GlobalId::Simulation(uuid) => Ok(Node::Simulation(Box::pin(Simulation::find(engine, uuid)).await?)),
        GlobalId::Run(uuid) => Ok(Node::Run(Box::pin(Run::find(engine, uuid)).await?)),
        GlobalId::Interrupt(uuid, asked) => {
            Ok(Node::Interrupt(Box::pin(Interrupt::find(engine, uuid, asked)).await?))
        }
        GlobalId::Session(uuid) => Ok(Node::Session(Box::pin(Session::find(engine, uuid)).await?)),
        GlobalId::Kept(uuid) => Ok(Node::Entity(Box::pin(Entity::find(engine, uuid)).await?)),
        GlobalId::Revision(program, number) => {
            let view = View::find(engine, &program.to_string(), None).await?;
            engine.come_to(view.open(), number).await.map_err(fail)?;
            let entry = engine.header(view.open(), number).await.map_err(fail)?.ok_or_else(missing)?;
            Ok(Node::Revision(Revision::new(&view, entry)))
        }
        GlobalId::Case(view, id) => {
            let view = View::find(engine, &view.to_string(), None).await?;
            Ok(Node::TestCase(Box::pin(TestCase::find(&view, id)).await?))
        }
        GlobalId::Entity(view, of) => {
            let view = View::find(engine, &view.to_string(), None).await?;
            let place = view.program().place(of).ok_or_else(|| view.missing("object", of))?;
            entity(&view, place)?.ok_or_else(missing)
        }
    }
}

/// What stands at a place of the program that a view looks at; nothing for what has a ref and no id of its own.
pub(crate) fn entity(view: &View, place: Place) -> std::result::Result<Option<Node>, ApiError> {
    Ok(Some(match place {
        Place::Module(of) => Node::Module(Module::new(view, of)?),
        Place::Type(of) => Node::TypeDef(TypeDef::new(view, of)?),
        Place::Function(of) => Node::Function(Function::new(view, of)?),
        Place::Region(function, of) => Node::Region(Region::new(&Function::new(view, function)?, of)),
        Place::Variable(function, of) => Node::Var(Var::new(Function::new(view, function)?, of)),
        Place::Contract(function, of) => Node::Contract(Contract::new(Function::new(view, function)?, of)),
        Place::Node(function, of) => Node::ComputeNode(ComputeNode::new(&Function::new(view, function)?, of)),
        Place::Storage(of) => Node::Storage(Storage::new(view, of)?),
        Place::Member(..) => return Ok(None),
    }))
}

/// What has a ref or path in the program that a view looks at; of a field or variant its type.
pub(crate) fn entity_named(view: &View, of: &str) -> std::result::Result<Node, ApiError> {
    let named = view.entity_named(of)?;
    let place = match view.program().place(named) {
        Some(Place::Member(of, _)) => Some(Place::Type(of)),
        place => place,
    };
    let found = place.map(|place| entity(view, place)).transpose()?.flatten();
    found.ok_or_else(|| view.missing("entity", named))
}

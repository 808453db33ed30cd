//! Tools that look at programs and change nothing.

use std::collections::BTreeSet;

use lmlang_context::analysis::one_line;
use lmlang_context::search::{self, Kinds};
use lmlang_engine::{BoxFuture, Engine};
use lmlang_ir::text::{Detail, print_function, print_module, print_program, print_storage, print_type};
use lmlang_ir::{FuncRef, Place, Program, Ref, RefKind, Visibility, counted};
use lmlang_verify::{Diagnostic, Severity};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::told::{self, Page};
use super::{View, at, cursor, max_tokens, object, program, refused, typed};
use crate::graph_store::GraphError;
use crate::tools::{Changes, Reach, Tool, ToolAnswer, ToolSpec};

/// Programs of a list, before its budget.
const PROGRAMS: usize = 500;
/// Bytes of a question.
const QUESTION: usize = 1_000;
/// Results of a search at most.
const RESULTS: u32 = 200;

/// Which programs there are, and what one is made of.
pub(super) struct Programs(ToolSpec);

impl Default for Programs {
    fn default() -> Programs {
        let parameters = object(
            &["action"],
            json!({
                "action": {
                    "type": "string", "enum": ["list", "overview"],
                    "description": "list: programs. overview: modules, types and functions of one.",
                },
                "program": { "type": "string", "minLength": 1, "description": "overview: its name." },
                "at": at(),
                "search": { "type": "string", "description": "Only what has this text in its name." },
                "cursor": cursor(),
                "max_tokens": max_tokens(),
            }),
        );
        Programs(ToolSpec {
            name: "program",
            description: "Lists programs, or shows what one is made of: functions with signature and doc.",
            parameters,
            changes: Changes::Nothing,
        })
    }
}

#[derive(Deserialize)]
struct ProgramsArgs {
    action: Action,
    program: Option<String>,
    at: Option<String>,
    search: Option<String>,
    cursor: Option<String>,
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Overview,
}

impl Tool for Programs {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let args: ProgramsArgs = typed(arguments)?;
            let of = match args.action {
                Action::List => "programs",
                Action::Overview => "program",
            };
            let (pinned, page) = Page::of(of, args.cursor.as_deref(), args.max_tokens)?;
            match (args.action, &args.program) {
                (Action::List, _) => list(reach.engine, args.search.as_deref(), page).await,
                (Action::Overview, Some(name)) => {
                    let at = pinned.or(args.at);
                    let view = View::find(reach.engine, name, at.as_deref()).await?;
                    let work = move || overview(&view, args.search.as_deref().unwrap_or_default(), page);
                    Ok(reach.engine.compute(work).await?)
                }
                (Action::Overview, None) => {
                    Err(refused("BAD_REQUEST", "`program` is missing: its name".to_owned()))
                }
            }
        })
    }
}

async fn list(engine: &Engine, search: Option<&str>, page: Page) -> Result<ToolAnswer, GraphError> {
    let found = engine.programs(None, search, PROGRAMS).await?;
    let line = |program: &std::sync::Arc<lmlang_engine::ProgramInfo>| match told::first_line(&program.doc) {
        "" => program.name.clone(),
        doc => format!("{} ; {doc}", program.name),
    };
    let mut lines: Vec<String> = found.programs.iter().map(line).collect();
    if found.more {
        lines.push(format!("; more than {PROGRAMS}: search for a name"));
    }
    let said = counted(found.total, "program", "programs");
    Ok(told::plain(&format!("; {said}"), "found", &lines, page, &said, None))
}

pub(super) fn overview(view: &View, search: &str, page: Page) -> ToolAnswer {
    let program = view.program();
    let is_wanted = |path: &str| path.contains(search);
    let mut lines = Vec::new();
    for (of, _) in program.modules() {
        let path = program.path(of.into());
        if is_wanted(&path) {
            lines.push(format!("module {path}"));
        }
    }
    for (of, _) in program.types() {
        if is_wanted(&program.path(of.into())) {
            lines.push(print_type(program, of, Detail::Summary).trim_end().to_owned());
        }
    }
    for (of, function) in program.functions() {
        let head = function.head();
        if is_wanted(&program.path(of.into())) {
            let public = if head.visibility == Visibility::Public { "pub " } else { "" };
            let incomplete = if view.revision.checked.complete(of).is_some() { "" } else { " incomplete" };
            let doc = head.doc.as_deref().map(|doc| format!(" ; {}", told::first_line(doc)));
            lines.push(format!(
                "{public}func {}{incomplete}{}",
                one_line(program, of.into()),
                doc.unwrap_or_default()
            ));
        }
    }
    let totals = program.totals();
    let said = format!("`{}`: {}", view.name(), counted(totals.functions, "function", "functions"));
    told::answer(view, "found", &lines, page, &said)
}

/// Finds what is in a program by words.
pub(super) struct Search(ToolSpec);

impl Default for Search {
    fn default() -> Search {
        let kinds = ["module", "type", "function", "region", "variable", "contract", "node"];
        let parameters = object(
            &["program", "query"],
            json!({
                "program": program(),
                "query": {
                    "type": "string", "minLength": 1, "maxLength": QUESTION,
                    "description": "Words of names, docs and code; the best come first.",
                },
                "kinds": { "type": "array", "items": { "type": "string", "enum": kinds }, "description": "Only these." },
                "at": at(),
                "limit": { "type": "integer", "minimum": 1, "maximum": RESULTS, "default": 20 },
                "cursor": cursor(),
                "max_tokens": max_tokens(),
            }),
        );
        Search(ToolSpec {
            name: "search",
            description: "Finds functions, types and modules of a program by words. Answers paths for retrieve_subgraph.",
            parameters,
            changes: Changes::Nothing,
        })
    }
}

#[derive(Deserialize)]
struct SearchArgs {
    program: String,
    query: String,
    kinds: Option<Vec<Kind>>,
    at: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Module,
    Type,
    Function,
    Region,
    Variable,
    Contract,
    Node,
}

impl From<Kind> for RefKind {
    fn from(kind: Kind) -> RefKind {
        match kind {
            Kind::Module => RefKind::Module,
            Kind::Type => RefKind::Type,
            Kind::Function => RefKind::Function,
            Kind::Region => RefKind::Region,
            Kind::Variable => RefKind::Variable,
            Kind::Contract => RefKind::Contract,
            Kind::Node => RefKind::Node,
        }
    }
}

/// What an entity is called.
fn kind_name(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Module => "module",
        RefKind::Type => "type",
        RefKind::Member => "member",
        RefKind::Function => "function",
        RefKind::Region => "region",
        RefKind::Variable => "variable",
        RefKind::Contract => "contract",
        RefKind::Node => "node",
    }
}

impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let args: SearchArgs = typed(arguments)?;
            let (pinned, page) = Page::of("search", args.cursor.as_deref(), args.max_tokens)?;
            let at = pinned.or(args.at);
            let view = View::find(reach.engine, &args.program, at.as_deref()).await?;
            let kinds = args.kinds.map(|kinds| Kinds::new(kinds.into_iter().map(RefKind::from)));
            let (kinds, query) = (kinds.unwrap_or_default(), args.query);
            let limit = usize::try_from(args.limit.unwrap_or(20).min(RESULTS)).unwrap_or(20);
            let work = move || {
                let program = view.program();
                let found = search::find(program, &query, &kinds);
                let lines: Vec<String> =
                    found.iter().take(limit).map(|found| result(program, found.of)).collect();
                let said = format!("found {}", counted(found.len() as u64, "entity", "entities"));
                told::answer(&view, "found", &lines, page, &said)
            };
            Ok(reach.engine.compute(work).await?)
        })
    }
}

fn result(program: &Program, of: Ref) -> String {
    let (kind, path, told) = (kind_name(of.kind), search::path(program, of), one_line(program, of));
    let place = if told.starts_with(&path) { String::new() } else { format!("{path}: ") };
    let doc = FuncRef::try_from(of).ok().and_then(|of| program.function(of)?.head().doc.clone());
    let doc = doc.map(|doc| format!(" ; {}", told::first_line(&doc)));
    format!("{kind} {place}{told}{}", doc.unwrap_or_default())
}

/// Reads functions and modules as text.
pub(super) struct Read(ToolSpec);

impl Default for Read {
    fn default() -> Read {
        let parameters = object(
            &["program"],
            json!({
                "program": program(),
                "of": {
                    "type": "array", "items": { "type": "string", "minLength": 1 }, "maxItems": 20,
                    "description": "Paths of functions, types, globals or modules: `m::name`. Without: the whole program.",
                },
                "view": {
                    "type": "string", "enum": ["text", "calls"],
                    "description": "text: as written. calls: callers and callees. Default text.",
                },
                "detail": {
                    "type": "string", "enum": ["summary", "standard", "full"],
                    "description": "standard: with refs. full: with comments, too. Default summary.",
                },
                "at": at(),
                "cursor": cursor(),
                "max_tokens": max_tokens(),
            }),
        );
        Read(ToolSpec {
            name: "retrieve_subgraph",
            description: "Reads functions and modules of a program in the text form. The revision in the first line is the \
                          base_revision of an edit.",
            parameters,
            changes: Changes::Nothing,
        })
    }
}

#[derive(Deserialize)]
struct ReadArgs {
    program: String,
    of: Option<Vec<String>>,
    view: Option<Shape>,
    detail: Option<HowMuch>,
    at: Option<String>,
    cursor: Option<String>,
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Text,
    Calls,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HowMuch {
    Summary,
    Standard,
    Full,
}

impl From<HowMuch> for Detail {
    fn from(detail: HowMuch) -> Detail {
        match detail {
            HowMuch::Summary => Detail::Summary,
            HowMuch::Standard => Detail::Standard,
            HowMuch::Full => Detail::Full,
        }
    }
}

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let args: ReadArgs = typed(arguments)?;
            let shape = args.view.unwrap_or(Shape::Text);
            let of = match shape {
                Shape::Text => "text",
                Shape::Calls => "calls",
            };
            let (pinned, page) = Page::of(of, args.cursor.as_deref(), args.max_tokens)?;
            let at = pinned.or(args.at);
            let view = View::find(reach.engine, &args.program, at.as_deref()).await?;
            let named = args.of.unwrap_or_default();
            let of = named.iter().map(|given| view.entity(given)).collect::<Result<Vec<Ref>, _>>()?;
            if of.is_empty() && shape == Shape::Calls {
                return Err(refused("BAD_REQUEST", "`of` is missing: whose calls".to_owned()));
            }
            let detail = args.detail.map_or(Detail::Summary, Detail::from);
            let said = match named.as_slice() {
                [] => format!("`{}` as text", view.name()),
                named => format!("{} of `{}`", named.join(", "), view.name()),
            };
            let work = move || {
                let program = view.program();
                let lines: Vec<String> = match shape {
                    Shape::Text if of.is_empty() => vec![print_program(program, detail)],
                    Shape::Text => of.iter().map(|of| written(program, *of, detail)).collect(),
                    Shape::Calls => of.iter().flat_map(|of| calls(program, *of)).collect(),
                };
                told::answer(&view, "found", &lines, page, &said)
            };
            Ok(reach.engine.compute(work).await?)
        })
    }
}

/// An entity as it is written; what stands in a function by the text of that.
pub(super) fn written(program: &Program, of: Ref, detail: Detail) -> String {
    match program.place(of) {
        Some(Place::Module(module)) => print_module(program, module, detail),
        Some(Place::Type(of) | Place::Member(of, _)) => print_type(program, of, detail),
        Some(Place::Storage(of)) => print_storage(program, of, detail),
        Some(
            Place::Function(function)
            | Place::Region(function, _)
            | Place::Variable(function, _)
            | Place::Contract(function, _)
            | Place::Node(function, _),
        ) => {
            // Printed alone, it does not say where it stands.
            format!("; {}\n{}", program.path(function.into()), print_function(program, function, detail))
        }
        None => String::new(),
    }
}

fn calls(program: &Program, of: Ref) -> Vec<String> {
    let name = program.path(of);
    let line = |word: &str, other: Ref| format!("{name} {word} {}", program.path(other));
    let users = program.users_of(of).map(|(user, _)| line("is used by", user));
    let uses = program.uses_of(of).map(|used| line("uses", used));
    let lines: Vec<String> = users.chain(uses).collect();
    if lines.is_empty() { vec![format!("{name} uses nothing, and nothing uses it")] } else { lines }
}

/// Says what is wrong with a program.
pub(super) struct Verify(ToolSpec);

impl Default for Verify {
    fn default() -> Verify {
        let parameters = object(
            &["program"],
            json!({
                "program": program(),
                "scope": {
                    "type": "string", "enum": ["local", "full"],
                    "description": "local: what the last edits reach. full: everything. Default full.",
                },
                "at": at(),
                "cursor": cursor(),
                "max_tokens": max_tokens(),
            }),
        );
        Verify(ToolSpec {
            name: "verify_and_propagate",
            description: "Says what is wrong with a program: errors, incomplete places and warnings. Edits are verified anyway.",
            parameters,
            changes: Changes::Nothing,
        })
    }
}

#[derive(Deserialize)]
struct VerifyArgs {
    program: String,
    scope: Option<Scope>,
    at: Option<String>,
    cursor: Option<String>,
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Scope {
    Local,
    Full,
}

impl Tool for Verify {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let args: VerifyArgs = typed(arguments)?;
            let (pinned, page) = Page::of("verify_and_propagate", args.cursor.as_deref(), args.max_tokens)?;
            let at = pinned.or(args.at);
            let view = View::find(reach.engine, &args.program, at.as_deref()).await?;
            let reached = match args.scope.unwrap_or(Scope::Full) {
                Scope::Full => None,
                Scope::Local => Some(reached(reach.engine, &view).await?),
            };
            Ok(reach.engine.compute(move || found(&view, reached.as_ref(), page)).await?)
        })
    }
}

/// What is wrong with a program, or with some of its functions.
fn found(view: &View, reached: Option<&BTreeSet<FuncRef>>, page: Page) -> ToolAnswer {
    let findings = view.revision.checked.findings();
    let within = |found: &&Diagnostic| match reached {
        None => true,
        Some(reached) => found.at.function.is_some_and(|of| reached.contains(&of)),
    };
    let mut found: Vec<&Diagnostic> = findings.iter().map(|(_, found)| found).filter(within).collect();
    found.sort_by_key(|found| (found.severity() != Severity::Error, !found.is_incomplete()));
    let tally = findings.tally();
    let lines: Vec<String> = found.iter().map(|found| told::finding(view.program(), found)).collect();
    let said = format!(
        "`{}` is {}: {}, {} incomplete, {}",
        view.name(),
        if tally.errors == 0 { "valid" } else { "invalid" },
        counted(tally.errors, "error", "errors"),
        tally.stale + tally.incomplete,
        counted(tally.warnings, "warning", "warnings")
    );
    let outcome = if tally.errors == 0 { "valid" } else { "invalid" };
    let head = if tally.is_complete() { "complete" } else { "not complete" };
    let lines: Vec<String> = [format!("{outcome}, {head}")].into_iter().chain(lines).collect();
    told::answer(view, outcome, &lines, page, &said)
}

/// The functions that the edits of a revision have changed, and those that use them.
async fn reached(engine: &Engine, view: &View) -> Result<BTreeSet<FuncRef>, GraphError> {
    let parent = view.revision.entry.parents.first();
    let Some(parent) = parent else { return Ok(view.program().functions().map(|(of, _)| of).collect()) };
    let before = engine.revision(&view.open, Some(&format!("r{parent}"))).await?;
    let view = view.clone();
    let work = move || {
        let difference = lmlang_history::diff(before.checked.program(), view.program());
        let changed = difference.functions.iter().map(|change| change.function);
        let mut reached: BTreeSet<FuncRef> = changed.collect();
        for of in reached.clone() {
            let users = view.program().users_of(of.into()).map(|(user, _)| user);
            reached.extend(users.filter_map(|user| FuncRef::try_from(user).ok()));
        }
        reached
    };
    Ok(engine.compute(work).await?)
}

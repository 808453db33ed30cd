//! Asking the verifier.

use std::collections::BTreeSet;
use std::time::Instant;

use async_graphql::{Context, Enum, Object, Result};
use lmlang_ir::{FuncRef, NodeRef, Place, Program, Ref, RefKind};
use lmlang_verify as verify;

use crate::error::{ApiError, Code};
use crate::schema::connection::{Connection, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::diagnostics::Diagnostic;
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::node::ComputeNode;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum VerifyScope {
    /// What a change can have touched: it finds exactly what `FULL` would newly find.
    Local,
    /// Everything.
    Full,
}

/// The most findings in one report.
const MOST: usize = 1_000;

/// What the verifier says.
#[derive(Clone)]
pub struct VerifyReport {
    view: View,
    errors: Vec<verify::Diagnostic>,
    warnings: Vec<verify::Diagnostic>,
    truncated: bool,
    tally: verify::Tally,
    dirty: Vec<FuncRef>,
    nodes: Vec<(FuncRef, NodeRef)>,
    checked: usize,
    elapsed_ms: f64,
}

/// What the verifier says about a program, or about a part of it.
#[Object]
impl VerifyReport {
    /// Whether the program has no error.
    async fn valid(&self) -> bool {
        self.tally.errors == 0
    }

    /// Whether the program has neither an error nor an incomplete place, whatever the scope: it may be compiled and
    /// exported. `Function.complete` tells it of one function.
    async fn complete(&self) -> bool {
        self.tally.is_complete()
    }

    /// Findings that no stored state has.
    async fn errors(&self, context: &Context<'_>) -> Vec<Diagnostic> {
        budget::list(
            context,
            self.errors.iter().map(|found| Diagnostic::new(&self.view, found.clone())).collect(),
        )
        .await
    }

    /// All other findings.
    async fn warnings(&self, context: &Context<'_>) -> Vec<Diagnostic> {
        budget::list(
            context,
            self.warnings.iter().map(|found| Diagnostic::new(&self.view, found.clone())).collect(),
        )
        .await
    }

    /// Whether findings were left out: ask for `diagnostics`, which pages.
    async fn truncated(&self) -> bool {
        self.truncated
    }

    /// Functions that were looked at.
    async fn checked_functions(&self) -> i32 {
        self.checked as i32
    }

    /// Functions whose earlier findings still hold.
    async fn reused_functions(&self) -> i32 {
        let all = self.view.program().totals().functions as usize;
        all.saturating_sub(self.checked) as i32
    }

    /// Refs of the functions that were looked at, for `LOCAL`.
    async fn dirty_functions(&self, context: &Context<'_>) -> Vec<String> {
        budget::list(context, self.dirty.iter().map(ToString::to_string).collect()).await
    }

    /// The nodes that had changed, for `LOCAL`.
    async fn dirty_nodes(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<ComputeNode>>> {
        nullable(PageRequest::new(List::DirtyNodes, first, after).and_then(|page| {
            let node = |(function, node): &(FuncRef, NodeRef)| {
                Some(ComputeNode::new(&Function::new(&self.view, *function).ok()?, *node))
            };
            let nodes = self.nodes.iter().filter_map(node).collect();
            Connection::by_name(&page, nodes, |one: &ComputeNode| format!("{}.{}", one.function.of, one.of))
        }))
    }

    /// How long it took, in milliseconds.
    async fn elapsed_ms(&self) -> f64 {
        self.elapsed_ms
    }
}

/// What is asked of the verifier beside the scope.
pub(crate) struct Asked {
    pub(crate) touched: Option<Vec<String>>,
    pub(crate) since: Option<String>,
    /// Whether variables are to be assigned before they are read.
    pub(crate) unassigned: bool,
}

/// Verifies a view, or what has changed in it.
pub(crate) async fn verify(
    view: &View,
    scope: VerifyScope,
    asked: Asked,
) -> std::result::Result<VerifyReport, ApiError> {
    let idle = match (scope, &asked.touched, &asked.since) {
        (VerifyScope::Full, Some(_), _) => Some("`touched` does not go with `FULL`"),
        (VerifyScope::Full, None, Some(_)) => Some("`since` does not go with `FULL`"),
        (VerifyScope::Local, Some(_), Some(_)) => Some("`since` does not go with `touched`"),
        (VerifyScope::Full | VerifyScope::Local, _, _) => None,
    };
    if let Some(message) = idle {
        return Err(ApiError::new(Code::BadRequest, message));
    }
    match scope {
        VerifyScope::Full => {
            let view = view.clone();
            let run = tokio::task::spawn_blocking(move || full(view, &asked));
            run.await.map_err(|_| fail(lmlang_engine::Error::Closed))
        }
        VerifyScope::Local => local(view, asked).await,
    }
}

fn full(view: View, asked: &Asked) -> VerifyReport {
    let start = Instant::now();
    let checked = verify::Checked::full(view.program().clone(), crate::schema::view::threads());
    let findings = checked.findings();
    let mut found: Vec<verify::Diagnostic> = findings.iter().map(|(_, found)| found.clone()).collect();
    if asked.unassigned {
        found.extend(unassigned(&view, view.program().functions().map(|(of, _)| of)));
    }
    let dirty = view.program().functions().map(|(of, _)| of).take(MOST).collect();
    let checked = view.program().totals().functions as usize;
    report(&view, found, findings.tally(), dirty, Vec::new(), checked, start)
}

/// What is found on request alone.
fn unassigned(view: &View, of: impl Iterator<Item = FuncRef>) -> impl Iterator<Item = verify::Diagnostic> {
    of.flat_map(move |of| verify::unassigned(view.program(), of))
}

async fn local(view: &View, asked: Asked) -> std::result::Result<VerifyReport, ApiError> {
    let start = Instant::now();
    if let Some(touched) = &asked.touched {
        let mut reach = Reach::default();
        for (index, given) in touched.iter().enumerate() {
            let of = view.entity_named(given).map_err(|error| error.at(&format!("touched[{index}]")))?;
            reach.entity(view.program(), of);
        }
        return Ok(reach.report(view, &asked, start));
    }
    let base = match (&asked.since, view.revision().entry.parents.first()) {
        (Some(since), _) => Some(view.engine().revision(view.open(), Some(since)).await.map_err(fail)?),
        (None, Some(&parent)) => {
            let state = view.engine().state(view.open(), parent).await.map_err(fail)?;
            let missing = || crate::schema::view::not_found("revision", &format!("r{parent}"));
            Some(state.ok_or_else(missing)?)
        }
        // It made all that there is.
        (None, None) => None,
    };
    let view = view.clone();
    let run = tokio::task::spawn_blocking(move || {
        let mut reach = Reach::default();
        match base {
            Some(base) => reach.changes(&view, &base.checked),
            None => reach.everything(&view),
        }
        reach.report(&view, &asked, start)
    });
    run.await.map_err(|_| fail(lmlang_engine::Error::Closed))
}

/// How far a change reaches.
#[derive(Default)]
struct Reach {
    functions: BTreeSet<FuncRef>,
    /// Modules, types and storage.
    outside: BTreeSet<Ref>,
    /// The nodes that have changed.
    nodes: Vec<(FuncRef, NodeRef)>,
}

impl Reach {
    /// What differs from an older state, and what the verifier would look at again because of it.
    fn changes(&mut self, view: &View, before: &verify::Checked) {
        let program = view.program();
        for change in &lmlang_history::diff(before.program(), program).functions {
            self.functions.insert(change.function);
            let changed = change.added.iter().chain(&change.modified);
            self.nodes.extend(changed.filter_map(|of| Some((change.function, NodeRef::try_from(*of).ok()?))));
        }
        if let Some(affected) = verify::affected(before.program(), before.findings(), program) {
            self.functions.extend(affected.functions);
            self.outside.extend(affected.outside);
        } else {
            self.anything(view);
        }
        self.functions.retain(|of| program.function(*of).is_some());
    }

    /// What is new with the revision that made the program.
    fn everything(&mut self, view: &View) {
        self.anything(view);
        for (of, function) in view.program().functions() {
            self.nodes.extend(function.body().nodes().map(|(node, _)| (of, node)));
        }
    }

    /// Wherever something can be found.
    fn anything(&mut self, view: &View) {
        self.functions.extend(view.program().functions().map(|(of, _)| of));
        self.outside.extend(view.findings().outside().map(|found| found.at.entity));
    }

    /// What an entity can make a difference to: the function that it is part of, or who mentions it or stands in it. Layout
    /// and containment go through the types that a type is part of.
    fn entity(&mut self, program: &Program, of: Ref) {
        if let Some(function) = program.function_of(of) {
            self.nodes.extend(NodeRef::try_from(of).ok().map(|node| (function, node)));
            self.functions.insert(function);
            return;
        }
        let mut open = vec![of];
        while let Some(of) = open.pop() {
            match program.place(of) {
                Some(Place::Member(ty, _)) => open.push(ty.into()),
                Some(Place::Module(module)) if self.outside.insert(of) => {
                    open.extend(program.members(Some(module)).map(|(_, member)| member));
                }
                Some(Place::Type(_) | Place::Storage(_)) if self.outside.insert(of) => {
                    open.extend(program.users_of(of).map(|(user, _)| user));
                }
                Some(Place::Function(function)) => drop(self.functions.insert(function)),
                Some(_) | None => {}
            }
        }
    }

    /// What is found there.
    fn report(mut self, view: &View, asked: &Asked, start: Instant) -> VerifyReport {
        // Callers, and tables, rely on what they name: their findings can change with it.
        let users = |of: &FuncRef| view.program().users_of((*of).into()).map(|(user, _)| user);
        let users: Vec<Ref> = self.functions.iter().flat_map(users).collect();
        self.functions.extend(users.iter().filter_map(|user| FuncRef::try_from(*user).ok()));
        self.outside.extend(users.iter().filter(|user| user.kind == RefKind::Variable));
        let findings = view.findings();
        let outside = findings.outside().filter(|found| self.outside.contains(&found.at.entity));
        let found = outside.chain(self.functions.iter().flat_map(|of| findings.of_function(*of))).cloned();
        let mut found: Vec<verify::Diagnostic> = found.collect();
        if asked.unassigned {
            found.extend(unassigned(view, self.functions.iter().copied()));
        }
        let checked = self.functions.len();
        let dirty = self.functions.into_iter().take(MOST).collect();
        // The findings of the rest still hold: what is said of the program is known without looking again.
        report(view, found, findings.tally(), dirty, self.nodes, checked, start)
    }
}

fn report(
    view: &View,
    found: Vec<verify::Diagnostic>,
    tally: verify::Tally,
    dirty: Vec<FuncRef>,
    nodes: Vec<(FuncRef, NodeRef)>,
    checked: usize,
    start: Instant,
) -> VerifyReport {
    let truncated = found.len() > MOST;
    let kept = found.into_iter().take(MOST);
    let (errors, warnings) =
        kept.partition(|one: &verify::Diagnostic| one.severity() == verify::Severity::Error);
    let elapsed_ms = start.elapsed().as_secs_f64() * 1_000.0;
    VerifyReport { view: view.clone(), errors, warnings, truncated, tally, dirty, nodes, checked, elapsed_ms }
}

//! What became of a change.

use std::sync::Arc;

use async_graphql::{Context, Enum, Object, SimpleObject, Union};
use lmlang_engine as engine;
use lmlang_history::log::Header;
use lmlang_ir::{Ref, RefKind};
use lmlang_verify as verify;
use uuid::Uuid;

use crate::direct::{Direct, Rows};
use crate::schema::call::refused;
use crate::schema::connection::MAX_PAGE;
use crate::schema::diagnostics::{Diagnostic, DiagnosticDetails};
use crate::schema::diff::{ChangeCounts, ProgramDiff};
use crate::schema::program::Program;
use crate::schema::revision::Revision;
use crate::schema::scalars::Text;
use crate::schema::view::View;
use crate::transport::budget;

/// What became of a change set.
#[derive(Clone, Union)]
pub enum ProposeEditOutcome {
    /// It is applied.
    Applied(EditApplied),
    /// It has errors; nothing has changed.
    Rejected(EditRejected),
    /// Something that it relied on has changed; nothing has.
    Conflict(EditConflict),
}

/// What became of an undo, a redo, a restore, a merge or a revert.
#[derive(Clone, Union)]
pub enum RevisionOutcome {
    /// A revision was appended.
    Made(RevisionMade),
    /// There is nothing to do.
    Nothing(NothingToDo),
    /// The head has moved, or both sides cannot be; nothing has changed.
    Conflict(EditConflict),
}

/// The kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum EntityKind {
    /// A module.
    Module,
    /// A nominal type, or one of its fields and variants.
    Type,
    /// A function.
    Function,
    /// A region.
    Region,
    /// A variable of a function, a global or other storage.
    Variable,
    /// A contract.
    Contract,
    /// A node.
    Node,
}

impl From<RefKind> for EntityKind {
    fn from(kind: RefKind) -> EntityKind {
        match kind {
            RefKind::Module => EntityKind::Module,
            RefKind::Type | RefKind::Member => EntityKind::Type,
            RefKind::Function => EntityKind::Function,
            RefKind::Region => EntityKind::Region,
            RefKind::Variable => EntityKind::Variable,
            RefKind::Contract => EntityKind::Contract,
            RefKind::Node => EntityKind::Node,
        }
    }
}

impl From<EntityKind> for RefKind {
    fn from(kind: EntityKind) -> RefKind {
        match kind {
            EntityKind::Module => RefKind::Module,
            EntityKind::Type => RefKind::Type,
            EntityKind::Function => RefKind::Function,
            EntityKind::Region => RefKind::Region,
            EntityKind::Variable => RefKind::Variable,
            EntityKind::Contract => RefKind::Contract,
            EntityKind::Node => RefKind::Node,
        }
    }
}

/// Something that a change set made.
#[derive(Clone, Debug, SimpleObject)]
pub struct CreatedEntity {
    /// What the request called it, without `$`; where it called it nothing, the name that it has.
    name: Option<String>,
    /// Its ref; provisional in a dry run.
    #[graphql(name = "ref")]
    reference: String,
    /// What it is.
    kind: EntityKind,
}

/// An applied change set.
#[derive(Clone)]
pub struct EditApplied {
    before: View,
    after: View,
    committed: bool,
    unchanged: bool,
    counts: lmlang_history::ChangeCounts,
    rebased_over: engine::Rebased,
    created: Vec<(Option<String>, Ref)>,
    delta: Arc<verify::Delta>,
}

impl EditApplied {
    fn new(engine: &engine::Engine, open: &engine::OpenProgram, applied: engine::Applied) -> EditApplied {
        let counts = applied.counts();
        let engine::Applied { committed, unchanged, rebased_over, before, after, created } = applied;
        let delta = Arc::new(after.checked.findings().since(before.checked.findings()));
        EditApplied {
            before: View::pinned(engine, open.clone(), before),
            after: led_to(engine, open.clone(), committed, after),
            committed,
            unchanged,
            counts,
            rebased_over,
            created,
            delta,
        }
    }
}

/// The view of what a change led to. A request that is repeated under its key is answered with what it made then.
fn led_to(
    engine: &engine::Engine,
    open: engine::OpenProgram,
    committed: bool,
    after: Arc<engine::Revision>,
) -> View {
    match committed {
        true => View::made(engine, open, after),
        false => View::dry(engine, open, Uuid::from_bytes(after.entry.id), after),
    }
}

/// An applied change set: stored, unless it was a dry run.
#[Object]
impl EditApplied {
    /// Whether it is stored: false for a dry run.
    async fn committed(&self) -> bool {
        self.committed
    }

    /// Whether the edits change nothing. Then no revision is made, except under an `idempotencyKey`, whose record it is.
    async fn unchanged(&self) -> bool {
        self.unchanged
    }

    /// The revision that it made; the newest one of the branch where `unchanged` edits made none; null for a dry run.
    async fn revision(&self) -> Option<Revision> {
        self.committed.then(|| Revision::new(&self.after, self.after.revision().entry.clone()))
    }

    /// What it made, with the names that the request gave, or that it has.
    async fn created(&self, context: &Context<'_>) -> Vec<CreatedEntity> {
        let program = self.after.program();
        let own = |of: Ref| program.name(of).map(|name| name.to_string());
        let entity = |(name, of): &(Option<String>, Ref)| CreatedEntity {
            name: name.clone().or_else(|| own(*of)),
            reference: of.to_string(),
            kind: of.kind.into(),
        };
        budget::list(context, self.created.iter().map(entity).collect()).await
    }

    /// How much differs from before.
    async fn changed(&self) -> ChangeCounts {
        self.counts.into()
    }

    /// What differs from before.
    async fn diff(&self) -> ProgramDiff {
        ProgramDiff::new(self.before.clone(), self.after.clone()).await
    }

    /// Findings that are new.
    async fn diagnostics_added(&self, context: &Context<'_>) -> Vec<Diagnostic> {
        budget::list(
            context,
            self.delta.added.iter().map(|found| Diagnostic::new(&self.after, found.clone())).collect(),
        )
        .await
    }

    /// Findings that are gone.
    async fn diagnostics_resolved(&self, context: &Context<'_>) -> Vec<Diagnostic> {
        budget::list(
            context,
            self.delta.resolved.iter().map(|found| Diagnostic::new(&self.before, found.clone())).collect(),
        )
        .await
    }

    /// Warnings that are new: `incomplete` ones stop a run and an export.
    async fn warnings(&self, context: &Context<'_>) -> Vec<Diagnostic> {
        budget::list(
            context,
            self.delta.added.iter().map(|found| Diagnostic::new(&self.after, found.clone())).collect(),
        )
        .await
    }

    /// Revisions after `baseRevision` that the change set was carried over, oldest first, the newest thousand.
    async fn rebased_over(&self, context: &Context<'_>) -> Vec<Revision> {
        let revision = |entry: &Arc<Header>| Revision::new(&self.after, Arc::clone(entry));
        budget::list(context, self.rebased_over.newest.iter().map(revision).collect()).await
    }

    /// How many revisions after `baseRevision` the change set was carried over; `rebasedOver` lists a thousand at most.
    async fn rebased_over_count(&self) -> i32 {
        i32::try_from(self.rebased_over.total).unwrap_or(i32::MAX)
    }

    /// The program after it.
    async fn program(&self) -> Program {
        Program::of(self.after.clone())
    }
}

/// A rejected change set; nothing has changed.
#[derive(Clone, SimpleObject)]
pub struct EditRejected {
    /// The errors, by edit.
    errors: Rows<EditError>,
    /// Warnings about what would have come of it, the first thousand.
    warnings: Rows<Diagnostic>,
    /// How many errors were left out because they only follow from another.
    suppressed: i32,
}

impl EditRejected {
    fn new(engine: &engine::Engine, open: &engine::OpenProgram, rejected: engine::Rejected) -> EditRejected {
        let engine::Rejected { after, errors, findings, warnings, suppressed } = rejected;
        let mut shown: Vec<EditError> = errors.iter().map(EditError::of_edit).collect();
        let (mut about, mut followed) = (Vec::new(), 0);
        if let Some(checked) = after {
            let program = checked.program();
            let (before, mut consequences) = (shown.len(), verify::Consequences::new(program));
            let told = findings.iter().filter(|found| !consequences.follows(&found.diagnostic));
            shown.extend(told.map(|found| EditError::verified(program, found)));
            followed = before + findings.len() - shown.len();
            let entry = open.timeline.head().main.revision.entry.clone();
            let refused = Arc::new(engine::Revision { entry, checked });
            let view = View::dry(engine, open.clone(), Uuid::nil(), refused);
            about.extend(warnings.into_iter().take(MAX_PAGE).map(|found| Diagnostic::new(&view, found)));
        }
        shown.sort_by_key(|error| error.edit_index);
        let suppressed = suppressed + followed + shown.len().saturating_sub(MOST_ERRORS);
        shown.truncate(MOST_ERRORS);
        EditRejected {
            errors: Rows(shown),
            warnings: Rows(about),
            suppressed: i32::try_from(suppressed).unwrap_or(i32::MAX),
        }
    }
}

/// The most errors of one change set or text that an answer lists.
const MOST_ERRORS: usize = 1_000;

/// An error of an edit, or of what came of it.
#[derive(Clone, Debug, Default, SimpleObject)]
pub struct EditError {
    /// Which edit, from 0; null where it cannot be told.
    pub edit_index: Option<i32>,
    /// The argument of the edit.
    pub path: Rows<Text>,
    /// The stable code.
    pub code: String,
    /// The problem, in words.
    pub message: Text,
    /// The line of the edit's text, from 1.
    pub line: Option<i32>,
    /// The column in that line, from 1.
    pub column: Option<i32>,
    /// What could stand there.
    pub expected: Rows<Text>,
    /// What stands there.
    pub found: Option<Text>,
    /// The place and the facts, for errors of the verifier.
    pub details: Option<DiagnosticDetails>,
    /// Near names that exist, or the entities in the way.
    pub candidates: Rows<Text>,
}

impl Direct for EditError {}

impl EditError {
    /// An error that the verifier found.
    fn verified(program: &lmlang_ir::Program, found: &engine::Finding) -> EditError {
        let edit_index = found.edit.map(|index| index as i32);
        let shown = EditError::in_program(program, &found.diagnostic).at(found.place);
        EditError { edit_index, path: found.path.iter().cloned().collect(), ..shown }
    }

    /// The error with its line and column.
    pub(crate) fn at(mut self, place: Option<(u32, u32)>) -> EditError {
        let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        self.line = place.map(|(line, _)| int(line));
        self.column = place.map(|(_, column)| int(column));
        self
    }

    /// An error that the verifier found in a program that was not made.
    pub(crate) fn in_program(program: &lmlang_ir::Program, found: &verify::Diagnostic) -> EditError {
        EditError {
            edit_index: Some(0),
            path: Rows(vec!["text".to_owned().into()]),
            code: found.code.name().to_owned(),
            message: found.message(program).into(),
            expected: found.expected_text(program).into_iter().collect(),
            found: found.found_text(program).map(Text),
            details: Some(Diagnostic::facts(program, found)),
            candidates: found.beside.map(|of| program.path(of)).into_iter().collect(),
            ..EditError::default()
        }
    }

    /// An error of an edit.
    fn of_edit(error: &lmlang_history::request::EditError) -> EditError {
        let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        EditError {
            edit_index: Some(error.edit as i32),
            path: error.path.iter().cloned().collect(),
            code: error.code.to_owned(),
            message: error.message.clone().into(),
            line: error.line.map(int),
            column: error.column.map(int),
            expected: error.expected.iter().cloned().collect(),
            found: error.found.clone().map(Text),
            details: None,
            candidates: error.candidates.iter().cloned().collect(),
        }
    }

    /// The first errors of many, with a remark about the rest.
    pub(crate) fn first(mut errors: Vec<EditError>) -> Vec<EditError> {
        let more = errors.len().saturating_sub(MOST_ERRORS);
        errors.truncate(MOST_ERRORS);
        if more > 0 {
            let (code, message) =
                ("MORE_ERRORS".to_owned(), Text(format!("{more} more errors are not listed")));
            errors.push(EditError { code, message, ..EditError::default() });
        }
        errors
    }

    /// An error of a text.
    pub(crate) fn of_text(edit: usize, path: Vec<String>, error: &lmlang_ir::text::TextError) -> EditError {
        EditError {
            edit_index: Some(edit as i32),
            path: path.into_iter().collect(),
            code: error.code.to_owned(),
            message: error.message.clone().into(),
            line: Some(error.line as i32),
            column: Some(error.column as i32),
            expected: error.expected.iter().cloned().collect(),
            found: error.found.clone().map(Text),
            details: None,
            candidates: error.candidates.iter().cloned().collect(),
        }
    }
}

/// Something that a request relied on has changed.
#[derive(Clone)]
pub struct EditConflict {
    view: View,
    conflict: engine::Conflict,
}

/// One thing that collides.
#[derive(Clone, Debug, SimpleObject)]
pub struct Conflict {
    /// The entity, or the branch.
    #[graphql(name = "ref")]
    reference: String,
    /// The kind of collision. Both sides of a merge did something: `BOTH_EDITED`, `BOTH_ADDED`, `BOTH_MOVED`,
    /// `EDITED_AND_REMOVED`, `USED_AND_REMOVED`, `SIGNATURE_AND_USE`, `NAME_TAKEN`, `SAME_PLACE`, `COPIED_AND_EDITED`. Each is
    /// right alone and together they are not: `ILL_TYPED`. Later work by others rests on what an author would take back:
    /// `RESTED_ON`. The edits of a resolution cannot be carried out: `RESOLUTION`. What was read is another now: `STALE_BASE`
    /// (of a resolution: its entity is not in conflict any more), `HASH_MISMATCH`.
    kind: String,
    /// What is the matter, in words.
    message: String,
    /// As it was when the request was made, or before both branches.
    base: Option<String>,
    /// As it is, or in the branch that is merged into.
    ours: Option<String>,
    /// As the request would have it, or in the branch that is merged.
    theirs: Option<String>,
}

impl Direct for Conflict {}

/// Something that a request relied on has changed; nothing was done.
#[Object]
impl EditConflict {
    /// What the caller saw.
    async fn base(&self) -> Option<Revision> {
        let entry: Arc<Header> = self.conflict.base.clone()?;
        Some(Revision::new(&self.view, entry))
    }

    /// What is there.
    async fn head(&self) -> Option<Revision> {
        Some(Revision::new(&self.view, self.conflict.head.clone()))
    }

    /// What collides.
    async fn conflicts(&self) -> Rows<Conflict> {
        Rows(self.conflict.conflicts.iter().map(Conflict::of).collect())
    }
}

impl Conflict {
    /// A collision as clients see it.
    pub(crate) fn of(collision: &engine::Collision) -> Conflict {
        let engine::Collision { of, kind, message, base, ours, theirs, given: _ } = collision.clone();
        Conflict { reference: of, kind: kind.to_owned(), message, base, ours, theirs }
    }
}

impl ProposeEditOutcome {
    /// An outcome as clients see it.
    pub(crate) fn new(
        engine: &engine::Engine,
        open: &engine::OpenProgram,
        outcome: engine::Outcome,
    ) -> ProposeEditOutcome {
        match outcome {
            engine::Outcome::Applied(applied) => {
                ProposeEditOutcome::Applied(EditApplied::new(engine, open, applied))
            }
            engine::Outcome::Rejected(rejected) => {
                ProposeEditOutcome::Rejected(EditRejected::new(engine, open, *rejected))
            }
            engine::Outcome::Conflict(conflict) => ProposeEditOutcome::Conflict(EditConflict {
                view: View::head(engine, open.clone()),
                conflict,
            }),
        }
    }
}

impl ProposeEditOutcome {
    /// The same, logged if nothing has changed.
    pub(crate) fn noted(self, context: &Context<'_>) -> ProposeEditOutcome {
        match &self {
            ProposeEditOutcome::Applied(_) => {}
            ProposeEditOutcome::Rejected(_) => refused(context, "EditRejected"),
            ProposeEditOutcome::Conflict(_) => refused(context, "EditConflict"),
        }
        self
    }
}

/// A revision that an undo, a redo, a restore, a merge or a revert appended.
#[derive(Clone)]
pub struct RevisionMade {
    before: View,
    after: View,
    committed: bool,
}

/// A revision that was appended; stored, unless it was a dry run.
#[Object]
impl RevisionMade {
    /// Whether it is stored: false for a dry run.
    async fn committed(&self) -> bool {
        self.committed
    }

    /// The revision; null for a dry run.
    async fn revision(&self) -> Option<Revision> {
        self.committed.then(|| Revision::new(&self.after, self.after.revision().entry.clone()))
    }

    /// How much differs from before.
    async fn changed(&self) -> ChangeCounts {
        self.after.revision().entry.counts.into()
    }

    /// What differs from before.
    async fn diff(&self) -> ProgramDiff {
        ProgramDiff::new(self.before.clone(), self.after.clone()).await
    }

    /// The program after it.
    async fn program(&self) -> Program {
        Program::of(self.after.clone())
    }
}

/// There is nothing to do.
#[derive(Clone, Debug, SimpleObject)]
pub struct NothingToDo {
    /// Why.
    reason: String,
}

impl RevisionOutcome {
    /// The same, logged if it is a conflict.
    pub(crate) fn noted(self, context: &Context<'_>) -> RevisionOutcome {
        match &self {
            RevisionOutcome::Made(_) | RevisionOutcome::Nothing(_) => {}
            RevisionOutcome::Conflict(_) => refused(context, "EditConflict"),
        }
        self
    }

    /// An arrival as clients see it.
    pub(crate) fn new(
        engine: &engine::Engine,
        open: engine::OpenProgram,
        arrival: engine::Arrival,
    ) -> RevisionOutcome {
        match arrival {
            engine::Arrival::Made { committed, before, after } => RevisionOutcome::Made(RevisionMade {
                before: View::pinned(engine, open.clone(), before),
                after: led_to(engine, open, committed, after),
                committed,
            }),
            engine::Arrival::Nothing(reason) => RevisionOutcome::Nothing(NothingToDo { reason }),
            engine::Arrival::Conflict(conflict) => {
                RevisionOutcome::Conflict(EditConflict { view: View::head(engine, open), conflict })
            }
        }
    }
}

//! How two revisions differ, and the recorded edits.

use std::sync::Arc;

use async_graphql::{Context, Enum, Json, Object, Result, SimpleObject};
use lmlang_history as history;
use lmlang_ir::Ref;

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::natural::natural;
use crate::schema::program::Program;
use crate::schema::revision::Revision;
use crate::schema::scalars::Text;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// What became of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "history::ChangeKind")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its content differs.
    Modified,
    /// It has another name.
    Renamed,
    /// It stands elsewhere.
    Moved,
}

/// How much differs, by entities.
#[derive(Clone, Debug, SimpleObject)]
pub struct ChangeCounts {
    /// Entities that are new.
    added: i32,
    /// Entities that are gone.
    removed: i32,
    /// Entities in both that are not the same.
    modified: i32,
    /// Functions in which something differs.
    functions: i32,
}

impl From<history::ChangeCounts> for ChangeCounts {
    fn from(counts: history::ChangeCounts) -> ChangeCounts {
        let int = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
        ChangeCounts {
            added: int(counts.added),
            removed: int(counts.removed),
            modified: int(counts.modified),
            functions: int(counts.functions),
        }
    }
}

/// One recorded edit.
#[derive(Clone, Debug)]
pub struct EditRecord {
    index: usize,
    edit: history::Edit,
}

impl Direct for EditRecord {}

impl Listed for EditRecord {
    const CONNECTION: &'static str = "EditRecordConnection";
    const EDGE: &'static str = "EditRecordEdge";
}

/// One recorded edit.
#[Object]
impl EditRecord {
    /// Its position in the revision, from 0.
    async fn index(&self) -> i32 {
        self.index as i32
    }

    /// Its kind: `insertNode`, `setInput`.
    async fn kind(&self) -> &'static str {
        self.edit.kind()
    }

    /// The entity that it changes.
    #[graphql(name = "ref")]
    async fn reference(&self) -> Option<String> {
        Some(self.edit.subject().to_string())
    }

    /// The edit in one line.
    async fn text(&self, context: &Context<'_>) -> String {
        budget::whole(context, self.edit.to_string())
    }

    /// The edit as it is stored.
    async fn edit(&self, context: &Context<'_>) -> Option<Result<Json<serde_json::Value>>> {
        let stored = budget::text(context, || history::record::edit_json(&self.edit)).await;
        nullable(stored.map(|stored| Json(serde_json::from_str(&stored).unwrap_or_default())))
    }
}

/// The edits from an index on with their places, which are positions: no list of edits changes.
pub(crate) fn records(
    edits: &[history::Edit],
    from: u64,
) -> impl Iterator<Item = (usize, EditRecord)> + use<'_> {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let rest = edits.iter().enumerate().skip(from);
    rest.map(|(index, edit)| (index, EditRecord { index, edit: edit.clone() }))
}

/// How two revisions differ.
#[derive(Clone)]
pub struct ProgramDiff {
    from: View,
    to: View,
    diff: Arc<history::Diff>,
}

impl ProgramDiff {
    /// The difference of two views of one program. A large one takes a while: it has its turn among what takes the
    /// processor for long, unless whoever asks goes away before.
    pub async fn new(from: View, to: View) -> ProgramDiff {
        let (before, after) = (from.program().clone(), to.program().clone());
        let diff = from.engine().compute(move || history::diff(&before, &after)).await;
        // Nothing is computed any more while the process ends; an answer that is still being made is finished here.
        let diff = diff.unwrap_or_else(|_| history::diff(from.program(), to.program()));
        ProgramDiff { from, to, diff: Arc::new(diff) }
    }

    /// The difference of two revisions that a caller names.
    pub async fn between(view: &View, from: &str, to: &str) -> std::result::Result<ProgramDiff, ApiError> {
        let find = async |at: &str| {
            let revision = view.engine().revision(view.open(), Some(at)).await.map_err(fail)?;
            Ok::<View, ApiError>(view.other(revision))
        };
        Ok(ProgramDiff::new(find(from).await?, find(to).await?).await)
    }
}

/// How two revisions of a program differ.
#[Object]
impl ProgramDiff {
    /// The older one, or what is compared.
    async fn from(&self) -> Option<Revision> {
        Some(Revision::new(&self.from, self.from.revision().entry.clone()))
    }

    /// The newer one, or what it is compared with; null for a dry run.
    async fn to(&self) -> Option<Revision> {
        self.to.is_stored().then(|| Revision::new(&self.to, self.to.revision().entry.clone()))
    }

    /// The program as it is with the change, in a dry run too.
    async fn program(&self) -> Program {
        Program::of(self.to.clone())
    }

    /// How much differs.
    async fn changed(&self) -> ChangeCounts {
        self.diff.counts().into()
    }

    /// The functions in which something differs, by ref.
    async fn functions(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<FunctionDiff>>> {
        nullable(PageRequest::new(List::DiffFunctions, first, after).and_then(|page| {
            let from = page.start()?;
            let changes = self.diff.functions.iter().filter(|change| change.function.number() >= from);
            let diffs = changes.map(|change| {
                let diff = FunctionDiff { diff: self.clone(), change: change.clone() };
                (change.function.number(), diff)
            });
            Ok(Connection::collect(&page, self.diff.functions.len(), diffs))
        }))
    }

    /// The difference of the text forms of what differs, as a unified diff: what `applyTextPatch` takes, to make the same of
    /// `from` again; cut off after `maxBytes`.
    async fn text(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "How many bytes the text may have; the last line of a longer one says that it is cut off.",
            default
        )]
        max_bytes: Or<Int<200_000>>,
    ) -> Option<Result<String>> {
        let limit = match natural::<usize>("maxBytes", max_bytes.0) {
            Ok(limit) => limit,
            Err(error) => return nullable(Err(error)),
        };
        nullable(budget::text(context, || self.text_within(limit)).await)
    }

    /// The edits that turn `from` into `to`.
    async fn edits(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<EditRecord>>> {
        nullable(PageRequest::new(List::DiffEdits, first, after).and_then(|page| {
            let from = page.start()?;
            Ok(Connection::collect(&page, self.diff.edits.len(), records(&self.diff.edits, from)))
        }))
    }
}

impl ProgramDiff {
    fn text_within(&self, limit: usize) -> String {
        let mut printed = String::new();
        for text in self.diff.texts(self.from.program(), self.to.program()) {
            printed.push_str(&text);
            if printed.len() > limit {
                let end = (0..=limit).rev().find(|at| printed.is_char_boundary(*at)).unwrap_or(0);
                printed.truncate(end);
                printed.push_str("\n... cut off: ask for single functions\n");
                break;
            }
        }
        printed
    }
}

/// How one function differs.
#[derive(Clone)]
pub struct FunctionDiff {
    diff: ProgramDiff,
    change: history::FunctionChange,
}

impl Direct for FunctionDiff {}

impl Listed for FunctionDiff {
    const CONNECTION: &'static str = "FunctionDiffConnection";
    const EDGE: &'static str = "FunctionDiffEdge";
}

impl FunctionDiff {
    /// What is inside of the function: whether that itself came or went is said by `change`.
    fn inside(&self, refs: &[Ref]) -> Vec<String> {
        let own = Ref::from(self.change.function);
        refs.iter().filter(|of| **of != own).map(ToString::to_string).collect()
    }
}

/// How one function differs between two revisions.
#[Object]
impl FunctionDiff {
    /// The function.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.change.function.to_string()
    }

    /// Its path now; as it was, if it is gone.
    async fn path(&self) -> Text {
        let of = self.change.function;
        let view =
            if self.diff.to.program().function(of).is_some() { &self.diff.to } else { &self.diff.from };
        view.program().path(of.into()).into()
    }

    /// What became of it.
    async fn change(&self) -> ChangeKind {
        self.change.change.into()
    }

    /// As it was; null if it is new.
    async fn before(&self) -> Option<Function> {
        Function::new(&self.diff.from, self.change.function).ok()
    }

    /// As it is; null if it is gone.
    async fn after(&self) -> Option<Function> {
        Function::new(&self.diff.to, self.change.function).ok()
    }

    /// Refs of nodes, variables and contracts that are new.
    async fn added(&self, context: &Context<'_>) -> Vec<String> {
        budget::list(context, self.inside(&self.change.added)).await
    }

    /// Refs of nodes, variables and contracts that are gone.
    async fn removed(&self, context: &Context<'_>) -> Vec<String> {
        budget::list(context, self.inside(&self.change.removed)).await
    }

    /// Refs of what is in both and not the same, moved nodes included.
    async fn modified(&self, context: &Context<'_>) -> Vec<String> {
        budget::list(context, self.change.modified.iter().map(ToString::to_string).collect()).await
    }

    /// The difference of its text forms, as a unified diff.
    async fn text(&self, context: &Context<'_>) -> Option<Result<String>> {
        let (from, to) = (self.diff.from.program(), self.diff.to.program());
        let of = self.change.function.into();
        nullable(budget::text(context, || history::text_difference(from, to, of)).await)
    }
}

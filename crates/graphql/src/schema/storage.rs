//! Storage of a program: globals, memories, tables, segments and custom sections.

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use lmlang_ir::{Initial, Offset, Value, VarRef, text};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::edit_input::Visibility;
use crate::schema::function::{self, Function};
use crate::schema::module::Module;
use crate::schema::provenance::Provenance;
use crate::schema::scalars::{Count, Text};
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// Storage of a program at one revision.
#[derive(Clone)]
pub struct Storage {
    view: View,
    of: VarRef,
    record: lmlang_ir::Storage,
}

impl Direct for Storage {}

impl Listed for Storage {
    const CONNECTION: &'static str = "StorageConnection";
    const EDGE: &'static str = "StorageEdge";
}

/// What a piece of storage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum StorageKind {
    /// A cell.
    Global,
    /// The linear memory.
    Memory,
    /// Bytes that go into memory.
    Data,
    /// A table of references.
    Table,
    /// References that go into a table.
    Elements,
    /// A custom section of a module.
    Custom,
}

impl StorageKind {
    pub(super) fn of(kind: &lmlang_ir::StorageKind) -> StorageKind {
        match kind {
            lmlang_ir::StorageKind::Global { .. } => StorageKind::Global,
            lmlang_ir::StorageKind::Memory { .. } => StorageKind::Memory,
            lmlang_ir::StorageKind::Data { .. } => StorageKind::Data,
            lmlang_ir::StorageKind::Table { .. } => StorageKind::Table,
            lmlang_ir::StorageKind::Elements { .. } => StorageKind::Elements,
            lmlang_ir::StorageKind::Custom { .. } => StorageKind::Custom,
        }
    }
}

/// What the host provides: a module of WebAssembly imports it under these names.
#[derive(Clone, Debug, SimpleObject)]
pub struct HostImport {
    /// The module of the host.
    module: Text,
    /// The name in it.
    name: Text,
}

impl HostImport {
    pub(super) fn of(import: &lmlang_ir::Import) -> HostImport {
        HostImport { module: import.module.to_string().into(), name: import.name.to_string().into() }
    }
}

impl Storage {
    /// The storage with a ref, in a view.
    pub fn new(view: &View, of: VarRef) -> std::result::Result<Storage, ApiError> {
        let record = view.program().storage(of).ok_or_else(|| view.missing("storage", of.into()))?;
        Ok(Storage { view: view.clone(), of, record: record.clone() })
    }

    /// Where a segment is put at the start.
    fn offset(&self) -> Option<Offset> {
        match &self.record.kind {
            lmlang_ir::StorageKind::Data { offset, .. } => *offset,
            lmlang_ir::StorageKind::Elements { target, .. } => target.map(|(_, offset)| offset),
            lmlang_ir::StorageKind::Global { .. }
            | lmlang_ir::StorageKind::Memory { .. }
            | lmlang_ir::StorageKind::Table { .. }
            | lmlang_ir::StorageKind::Custom { .. } => None,
        }
    }
}

/// Storage of a program: a global, a memory, a table, a segment or a custom section.
#[Object]
impl Storage {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.view.entity_id(self.of)
    }

    /// Short name within the program: `v6`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// Its label within the module.
    async fn name(&self) -> Text {
        self.record.name.to_string().into()
    }

    /// `module::name`.
    async fn path(&self) -> Text {
        self.view.program().path(self.of.into()).into()
    }

    /// The module that it stands in.
    async fn module(&self) -> Module {
        let module = Module::new(&self.view, self.record.module);
        module.expect("storage stands in a module of its program")
    }

    /// Who may use it.
    async fn visibility(&self) -> Visibility {
        self.record.visibility.into()
    }

    /// What it is.
    async fn kind(&self) -> StorageKind {
        StorageKind::of(&self.record.kind)
    }

    /// The type of its value, or of its entries; null for a memory, data and a custom section.
    #[graphql(name = "type")]
    async fn ty(&self) -> Option<Text> {
        let ty = match &self.record.kind {
            lmlang_ir::StorageKind::Global { ty, .. } => Some(ty),
            kind => kind.holds(),
        };
        ty.map(|ty| text::print_type_name(self.view.program(), None, ty).into())
    }

    /// Whether a global may be written; null for what is none.
    async fn mutable(&self) -> Option<bool> {
        match self.record.kind {
            lmlang_ir::StorageKind::Global { mutable, .. } => Some(mutable),
            _ => None,
        }
    }

    /// What a global begins with: a constant in the text form, the path of another global or of a function; null for what
    /// is no global.
    async fn initial(&self, context: &Context<'_>) -> Option<Result<String>> {
        let lmlang_ir::StorageKind::Global { initial, .. } = &self.record.kind else { return None };
        let program = self.view.program();
        let text = match initial {
            Initial::Const(value) => text::print_value(program, &Value::Const(value.clone())),
            Initial::Global(global) => program.path((*global).into()),
            Initial::Function(function) => program.path((*function).into()),
        };
        nullable(budget::count(context, text.len() as u64).map(|()| text))
    }

    /// How large it is at the start: pages of 64 KiB of a memory, bytes of data or of a custom section, entries of a table
    /// or of elements; null for a global.
    async fn size(&self) -> Option<Count> {
        match &self.record.kind {
            lmlang_ir::StorageKind::Global { .. } => None,
            lmlang_ir::StorageKind::Memory { pages, .. } => Some(Count((*pages).into())),
            lmlang_ir::StorageKind::Data { bytes, .. } | lmlang_ir::StorageKind::Custom { bytes, .. } => {
                Some(Count(bytes.len() as u64))
            }
            lmlang_ir::StorageKind::Table { entries, .. }
            | lmlang_ir::StorageKind::Elements { entries, .. } => Some(Count(entries.len() as u64)),
        }
    }

    /// How large it may grow: pages of a memory, entries of a table; null where nothing is said.
    async fn max_size(&self) -> Option<Count> {
        match self.record.kind {
            lmlang_ir::StorageKind::Memory { max_pages: max, .. }
            | lmlang_ir::StorageKind::Table { max, .. } => max.map(|max| Count(max.into())),
            _ => None,
        }
    }

    /// Where a segment is put at the start: an address or an index, or the path of the global that has it; null for one that
    /// is put nowhere, and for what is no segment.
    #[graphql(name = "offset")]
    async fn offset_at(&self) -> Option<Text> {
        self.offset().map(|offset| match offset {
            Offset::At(at) => at.to_string().into(),
            Offset::Global(global) => self.view.program().path(global.into()).into(),
        })
    }

    /// The table that elements are put into at the start; null where there is none.
    async fn table(&self) -> Option<Result<Storage>> {
        match self.record.kind {
            lmlang_ir::StorageKind::Elements { target: Some((table, _)), .. } => {
                nullable(Storage::new(&self.view, table))
            }
            _ => None,
        }
    }

    /// The name of a custom section in a module, which several may have; null for what is none.
    async fn section(&self) -> Option<&str> {
        match &self.record.kind {
            lmlang_ir::StorageKind::Custom { section, .. } => Some(section),
            _ => None,
        }
    }

    /// Where a custom section stands in a module: `first`, `last`, or behind a standard section, as `after code`; null for
    /// what is none.
    async fn place(&self) -> Option<Text> {
        match &self.record.kind {
            lmlang_ir::StorageKind::Custom { place, .. } => Some(place.to_string().into()),
            _ => None,
        }
    }

    /// The names under which an exported module offers it.
    async fn exports(&self) -> Vec<Text> {
        self.record.exports.iter().map(|name| name.to_string().into()).collect()
    }

    /// Where it comes from, if the host provides it.
    async fn import(&self) -> Option<HostImport> {
        self.record.import.as_ref().map(HostImport::of)
    }

    /// Its text form.
    async fn text(&self, context: &Context<'_>) -> Option<Result<String>> {
        let print = || text::print_storage(self.view.program(), self.of, text::Detail::Full);
        nullable(budget::text(context, print).await)
    }

    /// Functions that use it, by ref.
    async fn used_by(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Function>>> {
        nullable(
            PageRequest::new(List::StorageUsers, first, after)
                .and_then(|page| function::users(&self.view, self.of.into(), &page)),
        )
    }

    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.record.doc.as_deref())
    }

    /// Who made it, and who changed it last; null in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        Provenance::of(&self.view, self.of.into()).await
    }
}

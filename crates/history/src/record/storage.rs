//! The JSON forms of storage, version 1: as those of other entities.

use std::sync::Arc;

use lmlang_ir::types::Const;
use lmlang_ir::{
    FuncRef, Import, Initial, ModuleRef, Name, Offset, SectionPlace, Storage, StorageKind, TableEntry, Type,
    VarRef, Visibility,
};
use serde::{Deserialize, Serialize};

use super::entities::{Exports, Text, is_false, visibility};
use super::shown::Shown;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum StorageKindForm {
    Global {
        #[serde(rename = "type")]
        ty: Shown<Type>,
        #[serde(default, skip_serializing_if = "is_false")]
        mutable: bool,
        initial: InitialForm,
    },
    Memory {
        pages: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
    },
    Data {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<OffsetForm>,
        bytes: Shown<Const>,
    },
    Table {
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        ty: Option<Shown<Type>>,
        entries: Entries,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
    },
    Elements {
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        ty: Option<Shown<Type>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<(Shown<VarRef>, OffsetForm)>,
        entries: Entries,
    },
    Custom {
        section: Name,
        place: Shown<SectionPlace>,
        bytes: Shown<Const>,
    },
}

type Entries = Vec<Option<EntryForm>>;

/// What tables and segments hold, unless it is functions.
fn held(ty: &Type) -> Option<Shown<Type>> {
    (*ty != Type::FuncRef).then(|| Shown(ty.clone()))
}

fn holds(ty: Option<Shown<Type>>) -> Type {
    ty.map_or(Type::FuncRef, |ty| ty.0)
}

fn held_bytes(of: Shown<Const>) -> Arc<[u8]> {
    match of.0 {
        Const::Bytes(bytes) => bytes,
        _ => Arc::from([]),
    }
}

fn shown(entries: &[Option<TableEntry>]) -> Entries {
    entries.iter().map(|entry| entry.map(EntryForm::from)).collect()
}

fn read(entries: Entries) -> Vec<Option<TableEntry>> {
    entries.into_iter().map(|entry| entry.map(TableEntry::from)).collect()
}

/// A function or a global, each by its ref.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum EntryForm {
    Function(Shown<FuncRef>),
    Global(Shown<VarRef>),
}

impl From<TableEntry> for EntryForm {
    fn from(of: TableEntry) -> EntryForm {
        match of {
            TableEntry::Function(function) => EntryForm::Function(Shown(function)),
            TableEntry::Global(global) => EntryForm::Global(Shown(global)),
        }
    }
}

impl From<EntryForm> for TableEntry {
    fn from(of: EntryForm) -> TableEntry {
        match of {
            EntryForm::Function(function) => TableEntry::Function(function.0),
            EntryForm::Global(global) => TableEntry::Global(global.0),
        }
    }
}

/// A constant as its text, anything else by what it is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum InitialForm {
    Const(Shown<Const>),
    Named(NamedForm),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedForm {
    Global(Shown<VarRef>),
    Function(Shown<FuncRef>),
}

impl From<&Initial> for InitialForm {
    fn from(of: &Initial) -> InitialForm {
        match of {
            Initial::Const(value) => InitialForm::Const(Shown(value.clone())),
            Initial::Global(global) => InitialForm::Named(NamedForm::Global(Shown(*global))),
            Initial::Function(function) => InitialForm::Named(NamedForm::Function(Shown(*function))),
        }
    }
}

impl From<InitialForm> for Initial {
    fn from(of: InitialForm) -> Initial {
        match of {
            InitialForm::Const(value) => Initial::Const(value.0),
            InitialForm::Named(NamedForm::Global(global)) => Initial::Global(global.0),
            InitialForm::Named(NamedForm::Function(function)) => Initial::Function(function.0),
        }
    }
}

/// An address as a number, that of a global by its ref.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum OffsetForm {
    At(u32),
    Global(Shown<VarRef>),
}

impl From<Offset> for OffsetForm {
    fn from(of: Offset) -> OffsetForm {
        match of {
            Offset::At(address) => OffsetForm::At(address),
            Offset::Global(global) => OffsetForm::Global(Shown(global)),
        }
    }
}

impl From<OffsetForm> for Offset {
    fn from(of: OffsetForm) -> Offset {
        match of {
            OffsetForm::At(address) => Offset::At(address),
            OffsetForm::Global(global) => Offset::Global(global.0),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StorageForm {
    name: Name,
    m: Shown<ModuleRef>,
    #[serde(default, skip_serializing_if = "is_false")]
    public: bool,
    #[serde(default, skip_serializing_if = "Exports::is_empty")]
    export: Exports,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    import: Option<(Name, Name)>,
    kind: StorageKindForm,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
}

impl From<&Storage> for StorageForm {
    fn from(of: &Storage) -> StorageForm {
        let kind = match &of.kind {
            StorageKind::Global { ty, mutable, initial } => {
                StorageKindForm::Global { ty: Shown(ty.clone()), mutable: *mutable, initial: initial.into() }
            }
            StorageKind::Memory { pages, max_pages } => {
                StorageKindForm::Memory { pages: *pages, max: *max_pages }
            }
            StorageKind::Data { offset, bytes } => StorageKindForm::Data {
                offset: offset.map(OffsetForm::from),
                bytes: Shown(Const::Bytes(bytes.clone())),
            },
            StorageKind::Table { ty, entries, max } => {
                StorageKindForm::Table { ty: held(ty), entries: shown(entries), max: *max }
            }
            StorageKind::Elements { ty, target, entries } => StorageKindForm::Elements {
                ty: held(ty),
                target: target.map(|(table, offset)| (Shown(table), offset.into())),
                entries: shown(entries),
            },
            StorageKind::Custom { section, place, bytes } => StorageKindForm::Custom {
                section: section.clone(),
                place: Shown(*place),
                bytes: Shown(Const::Bytes(bytes.clone())),
            },
        };
        StorageForm {
            name: of.name.clone(),
            m: Shown(of.module),
            public: of.visibility == Visibility::Public,
            export: of.exports.as_slice().into(),
            import: of.import.clone().map(|import| (import.module, import.name)),
            kind,
            doc: of.doc.clone(),
        }
    }
}

impl From<StorageForm> for Storage {
    fn from(of: StorageForm) -> Storage {
        let StorageForm { name, m, public, export, import, kind, doc } = of;
        let kind = match kind {
            StorageKindForm::Global { ty, mutable, initial } => {
                StorageKind::Global { ty: ty.0, mutable, initial: initial.into() }
            }
            StorageKindForm::Memory { pages, max } => StorageKind::Memory { pages, max_pages: max },
            StorageKindForm::Data { offset, bytes } => {
                StorageKind::Data { offset: offset.map(Offset::from), bytes: held_bytes(bytes) }
            }
            StorageKindForm::Table { ty, entries, max } => {
                StorageKind::Table { ty: holds(ty), entries: read(entries), max }
            }
            StorageKindForm::Elements { ty, target, entries } => StorageKind::Elements {
                ty: holds(ty),
                target: target.map(|(table, offset)| (table.0, offset.into())),
                entries: read(entries),
            },
            StorageKindForm::Custom { section, place, bytes } => {
                StorageKind::Custom { section, place: place.0, bytes: held_bytes(bytes) }
            }
        };
        Storage {
            name,
            module: m.0,
            visibility: visibility(public),
            exports: export.into(),
            import: import.map(|(module, name)| Import { module, name }),
            kind,
            doc,
        }
    }
}

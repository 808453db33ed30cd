//! Storage of a program: globals, memories, tables, the segments that fill them, and custom sections.

use std::sync::Arc;

use crate::entities::{Import, Name, Visibility, hash_import, hash_names};
use crate::hash::{Content, Hasher};
use crate::node::{hash_const, hash_type};
use crate::refs::{FuncRef, ModuleRef, Ref, VarRef};
use crate::section::SectionPlace;
use crate::types::{Const, Type};

/// Most entries of a table, or of a segment of elements, at the start.
pub const MOST_ENTRIES: usize = 1 << 18;

/// Storage of the whole program: its refs have the letter `v`, as the variables of functions do.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// Its name within the module.
    pub name: Name,
    /// The module that it stands in.
    pub module: ModuleRef,
    /// Who may use it.
    pub visibility: Visibility,
    /// The names under which an exported module offers it.
    pub exports: Vec<Name>,
    /// Where it comes from, if the host provides it.
    pub import: Option<Import>,
    /// What it is.
    pub kind: StorageKind,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

/// What a global begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// A constant.
    Const(Const),
    /// The value of an imported global that nothing is written to.
    Global(VarRef),
    /// A reference to a function.
    Function(FuncRef),
}

impl From<Const> for Initial {
    fn from(value: Const) -> Initial {
        Initial::Const(value)
    }
}

/// An address in linear memory, or an index of a table, that is known at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// A constant.
    At(u32),
    /// The value of an imported global that nothing is written to.
    Global(VarRef),
}

/// A reference that a table or a segment of elements has at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableEntry {
    /// A reference to a function.
    Function(FuncRef),
    /// The value of an imported global that nothing is written to.
    Global(VarRef),
}

impl TableEntry {
    /// The function, if it is a reference to one.
    pub fn function(self) -> Option<FuncRef> {
        match self {
            TableEntry::Function(function) => Some(function),
            TableEntry::Global(_) => None,
        }
    }

    /// What it names.
    pub fn named(self) -> Ref {
        match self {
            TableEntry::Function(function) => function.into(),
            TableEntry::Global(global) => global.into(),
        }
    }
}

impl From<FuncRef> for TableEntry {
    fn from(function: FuncRef) -> TableEntry {
        TableEntry::Function(function)
    }
}

/// What a piece of storage is.
#[derive(Clone, Debug, PartialEq)]
pub enum StorageKind {
    /// A cell.
    Global {
        /// The type of its value.
        ty: Type,
        /// Tells whether it may be written.
        mutable: bool,
        /// The value at the start.
        initial: Initial,
    },
    /// The linear memory; at most one in a program.
    Memory {
        /// Pages of 64 KiB at the start.
        pages: u32,
        /// Pages that it may grow to.
        max_pages: Option<u32>,
    },
    /// Bytes that go into memory.
    Data {
        /// Where they are put at the start; `None`: only by `memory.init`.
        offset: Option<Offset>,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A table of references.
    Table {
        /// The type of its entries: `funcref` or `externref`.
        ty: Type,
        /// Entries at the start; those without a reference are empty.
        entries: Vec<Option<TableEntry>>,
        /// Entries that it may grow to.
        max: Option<u32>,
    },
    /// References that go into a table.
    Elements {
        /// Their type: `funcref` or `externref`.
        ty: Type,
        /// Where they are put at the start; `None`: only by `table.init`.
        target: Option<(VarRef, Offset)>,
        /// The references; those without one are empty.
        entries: Vec<Option<TableEntry>>,
    },
    /// A custom section: bytes that a module carries along, which no run looks at.
    Custom {
        /// Its name in the module, which several may have.
        section: Name,
        /// Where it stands in the module.
        place: SectionPlace,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
}

impl StorageKind {
    /// The type of the references that a table or a segment holds.
    pub fn holds(&self) -> Option<&Type> {
        match self {
            StorageKind::Table { ty, .. } | StorageKind::Elements { ty, .. } => Some(ty),
            StorageKind::Global { .. }
            | StorageKind::Memory { .. }
            | StorageKind::Data { .. }
            | StorageKind::Custom { .. } => None,
        }
    }

    /// Calls `visit` with each function, type and global that the record names, once for each time.
    pub fn each_mention(&self, visit: &mut impl FnMut(Ref)) {
        match self {
            StorageKind::Global { ty, initial, .. } => {
                ty.each_named(&mut |named| visit(named.into()));
                match initial {
                    Initial::Const(_) => {}
                    Initial::Global(global) => visit((*global).into()),
                    Initial::Function(function) => visit((*function).into()),
                }
            }
            StorageKind::Data { offset: Some(Offset::Global(global)), .. } => visit((*global).into()),
            StorageKind::Table { entries, .. } => entries.iter().flatten().for_each(|of| visit(of.named())),
            StorageKind::Elements { target, entries, .. } => {
                if let Some((table, offset)) = target {
                    visit((*table).into());
                    if let Offset::Global(global) = offset {
                        visit((*global).into());
                    }
                }
                entries.iter().flatten().for_each(|of| visit(of.named()));
            }
            StorageKind::Memory { .. } | StorageKind::Data { .. } | StorageKind::Custom { .. } => {}
        }
    }

    /// Leaves out a function, global or table that the record names: a reference to it is null, a value begins with zero,
    /// an entry is empty, and bytes or elements are put nowhere at the start.
    pub fn leave_out(&mut self, gone: Ref) {
        match self {
            StorageKind::Global { ty, initial, .. } => {
                let names = match initial {
                    Initial::Const(_) => false,
                    Initial::Global(global) => gone == (*global).into(),
                    Initial::Function(function) => gone == (*function).into(),
                };
                if names {
                    *initial = Const::zero(ty).into();
                }
            }
            StorageKind::Data { offset, .. } => {
                offset.take_if(|offset| matches!(offset, Offset::Global(of) if gone == (*of).into()));
            }
            StorageKind::Table { entries, .. } => empty(entries, gone),
            StorageKind::Elements { target, entries, .. } => {
                target.take_if(|(table, offset)| {
                    gone == (*table).into() || matches!(offset, Offset::Global(of) if gone == (*of).into())
                });
                empty(entries, gone);
            }
            StorageKind::Memory { .. } | StorageKind::Custom { .. } => {}
        }
    }
}

fn empty(entries: &mut [Option<TableEntry>], gone: Ref) {
    let named = entries.iter_mut().filter(|entry| entry.is_some_and(|of| of.named() == gone));
    named.for_each(|entry| *entry = None);
}

impl Content for Storage {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher
            .text(&self.name)
            .number(self.module.number())
            .number(u64::from(self.visibility == Visibility::Public));
        hash_names(&self.exports, hasher);
        hasher.optional(self.doc.as_deref());
        hash_import(self.import.as_ref(), hasher);
        self.kind.hash_into(hasher);
    }
}

impl Content for StorageKind {
    fn hash_into(&self, hasher: &mut Hasher) {
        match self {
            StorageKind::Global { ty, mutable, initial } => {
                let (kind, of) = match initial {
                    Initial::Const(value) => {
                        hasher.number(0).number(u64::from(*mutable));
                        hash_type(ty, hasher);
                        return hash_const(value, hasher);
                    }
                    Initial::Global(global) => (4, global.number()),
                    Initial::Function(function) => (5, function.number()),
                };
                hasher.number(kind).number(u64::from(*mutable));
                hash_type(ty, hasher);
                hasher.number(of);
            }
            StorageKind::Memory { pages, max_pages } => {
                hasher
                    .number(1)
                    .number(u64::from(*pages))
                    .number(max_pages.map_or(0, |max| u64::from(max) + 1));
            }
            StorageKind::Data { offset, bytes } => {
                match offset {
                    None => hasher.number(2).number(0),
                    Some(Offset::At(address)) => hasher.number(2).number(u64::from(*address) + 1),
                    Some(Offset::Global(global)) => hasher.number(6).number(global.number()),
                };
                hasher.number(bytes.len() as u64).bytes(bytes);
            }
            StorageKind::Table { ty, entries, max } => {
                // Tables of functions were there first.
                if *ty != Type::FuncRef {
                    hasher.number(7);
                    hash_type(ty, hasher);
                }
                hasher.number(3).number(max.map_or(0, |max| u64::from(max) + 1));
                hash_entries(entries, hasher);
            }
            StorageKind::Elements { ty, target, entries } => {
                hasher.number(8);
                hash_type(ty, hasher);
                match target {
                    None => hasher.number(0),
                    Some((table, Offset::At(index))) => {
                        hasher.number(1).number(table.number()).number((*index).into())
                    }
                    Some((table, Offset::Global(global))) => {
                        hasher.number(2).number(table.number()).number(global.number())
                    }
                };
                hash_entries(entries, hasher);
            }
            StorageKind::Custom { section, place, bytes } => {
                hasher.number(9).text(section).number(place.number());
                hasher.number(bytes.len() as u64).bytes(bytes);
            }
        }
    }
}

fn hash_entries(entries: &[Option<TableEntry>], hasher: &mut Hasher) {
    hasher.number(entries.len() as u64);
    for entry in entries {
        match entry {
            None => hasher.number(0),
            Some(TableEntry::Function(function)) => hasher.number(function.number()),
            // Functions were there first; no ref has that number.
            Some(TableEntry::Global(global)) => hasher.number(u64::MAX).number(global.number()),
        };
    }
}

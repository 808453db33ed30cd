//! Globals, memories, tables and segments.

use std::rc::Rc;

use lmlang_ir::{Const, FuncRef, Initial, Offset, StorageKind, TableEntry, Type, VarRef};
use wasm_encoder::{
    ConstExpr, DataSection, ElementSection, Elements, ExportKind, ExportSection, GlobalSection, GlobalType,
    Ieee32, Ieee64, ImportSection, MemorySection, MemoryType, RefType, TableSection, TableType, ValType,
};

use super::meter::GLOBALS;
use super::scope::Scope;
use super::{ExportError, Indices, Naming, Writing, is_given, types};

#[derive(Default)]
pub(super) struct StorageSections {
    pub(super) tables: TableSection,
    pub(super) memories: MemorySection,
    pub(super) globals: GlobalSection,
    pub(super) data: DataSection,
}

impl Writing<'_> {
    /// What the program stores things in.
    pub(super) fn storage(
        &mut self,
        imports: &mut ImportSection,
        exports: &mut ExportSection,
        names: &mut Naming,
    ) -> Result<StorageSections, ExportError> {
        let mut made = StorageSections::default();
        let scope = Rc::clone(&self.scope);
        for (of, storage) in scope.storage(self.program) {
            let import = storage.import.as_ref().filter(|_| scope.asks_host(storage));
            let given = storage.exports.first().filter(|_| scope.is_whole());
            let given = given.or_else(|| import.map(|import| &import.name));
            let name = (!is_given(&storage.name, given)).then(|| storage.name.clone());
            let (kind, index) = match &storage.kind {
                StorageKind::Memory { pages, max_pages } => {
                    let ty = MemoryType {
                        minimum: (*pages).into(),
                        maximum: max_pages.map(u64::from),
                        memory64: false,
                        shared: false,
                        page_size_log2: None,
                    };
                    match import {
                        Some(import) => {
                            imports.import(&import.module, &import.name, ty);
                        }
                        None => {
                            made.memories.memory(ty);
                        }
                    }
                    names.memories.extend(name.map(|name| (0, name)));
                    (ExportKind::Memory, 0)
                }
                StorageKind::Global { ty, mutable, initial } => {
                    let index = self.indices.globals[&of];
                    let val_type = types::value(ty);
                    let first = match initial {
                        Initial::Const(value) if ty.on_heap() => {
                            self.first_value(ty, value).map(ConstExpr::i32_const)
                        }
                        _ => self.first(initial, val_type),
                    };
                    let ty = GlobalType { val_type, mutable: *mutable, shared: false };
                    match import {
                        Some(import) => {
                            imports.import(&import.module, &import.name, ty);
                        }
                        None => {
                            let first = first.ok_or_else(|| self.unsupported(of, "this first value"))?;
                            made.globals.global(ty, &first);
                        }
                    }
                    names.globals.extend(name.map(|name| (index, name)));
                    (ExportKind::Global, index)
                }
                StorageKind::Table { ty, entries, max } => {
                    let index = self.indices.tables[&of];
                    let ty = TableType {
                        element_type: reference(ty),
                        minimum: entries.len() as u64,
                        maximum: max.map(u64::from),
                        table64: false,
                        shared: false,
                    };
                    match import {
                        Some(import) => {
                            imports.import(&import.module, &import.name, ty);
                        }
                        None => {
                            made.tables.table(ty);
                        }
                    }
                    names.tables.extend(name.map(|name| (index, name)));
                    (ExportKind::Table, index)
                }
                StorageKind::Data { offset, bytes } => {
                    match offset {
                        Some(offset) => {
                            let offset = self.offset(of, *offset)?;
                            made.data.active(0, &offset, bytes.iter().copied());
                        }
                        None => {
                            made.data.passive(bytes.iter().copied());
                        }
                    }
                    names.data.push((self.indices.data[&of], storage.name.clone()));
                    continue;
                }
                StorageKind::Elements { .. } => {
                    names.elements.push((self.indices.elements[&of], storage.name.clone()));
                    continue;
                }
                StorageKind::Custom { .. } => continue,
            };
            if scope.is_whole() {
                storage.exports.iter().for_each(|name| {
                    exports.export(name, kind, index);
                });
            }
        }
        if self.guard.is_some() {
            let ty = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
            made.globals.global(ty, &ConstExpr::i32_const(0));
        }
        if self.meter.is_some() {
            let ty = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
            for _ in GLOBALS {
                made.globals.global(ty, &ConstExpr::i64_const(0));
            }
        }
        Ok(made)
    }

    /// Whether there is a memory of the program's own to work on.
    pub(super) fn has_memory(&self) -> bool {
        self.scope.storage(self.program).any(|(_, of)| matches!(of.kind, StorageKind::Memory { .. }))
    }

    /// Where a segment is put.
    fn offset(&mut self, of: VarRef, offset: Offset) -> Result<ConstExpr, ExportError> {
        match offset {
            Offset::At(at) => Ok(ConstExpr::i32_const(at.cast_signed())),
            Offset::Global(global) => {
                let value = self.first(&Initial::Global(global), ValType::I32);
                value.ok_or_else(|| self.unsupported(of, "this offset"))
            }
        }
    }

    /// What a global begins with; nothing for a value that modules do not have.
    fn first(&mut self, initial: &Initial, ty: wasm_encoder::ValType) -> Option<ConstExpr> {
        let program = self.program;
        match initial {
            Initial::Const(value) => constant(value, ty),
            Initial::Global(global) if self.scope.is_whole() => {
                Some(ConstExpr::global_get(self.indices.globals[global]))
            }
            // What is written in part has globals of its own, whose values are known.
            Initial::Global(global) => match &program.storage(*global)?.kind {
                StorageKind::Global { initial, .. } => self.first(initial, ty),
                _ => None,
            },
            Initial::Function(function) => {
                let written = self.indices.functions.contains_key(function);
                written.then(|| ConstExpr::ref_func(self.referred(*function)))
            }
        }
    }

    /// What is put into tables, and the functions that references are taken of otherwise.
    pub(super) fn elements(&mut self) -> Result<ElementSection, ExportError> {
        let mut section = ElementSection::new();
        let scope = Rc::clone(&self.scope);
        for (of, storage) in scope.storage(self.program) {
            let StorageKind::Table { ty, entries, .. } = &storage.kind else { continue };
            let table = self.table(of);
            let runs: Vec<_> = runs(entries, &self.indices, &scope).collect();
            for (at, held) in runs {
                let held: Vec<Option<Held>> = held.into_iter().map(Some).collect();
                let elements = self.references(&held, reference(ty));
                section.active(table, &ConstExpr::i32_const(at), elements);
            }
        }
        for (of, storage) in scope.storage(self.program) {
            let StorageKind::Elements { ty, target, entries } = &storage.kind else { continue };
            let held = entries.iter().map(|entry| Held::of(*entry, &self.indices, &scope));
            let held: Vec<Option<Held>> = held.collect();
            let elements = self.references(&held, reference(ty));
            match target {
                Some((table, offset)) if self.indices.tables.contains_key(table) => {
                    section.active(self.table(*table), &self.offset(of, *offset)?, elements);
                }
                Some(_) | None => {
                    section.passive(elements);
                }
            }
        }
        if !self.declared.is_empty() {
            section.declared(Elements::Functions(self.declared.iter().copied().collect()));
        }
        Ok(section)
    }

    /// References for a segment, in the shorter form if all of them are functions, which need no other mention then.
    fn references(&mut self, held: &[Option<Held>], ty: RefType) -> Elements<'static> {
        let functions: Vec<Option<u32>> = held
            .iter()
            .map(|held| match held {
                Some(Held::Function(function)) => Some(self.referred(*function)),
                Some(Held::Global(_)) | None => None,
            })
            .collect();
        functions.iter().flatten().for_each(|function| {
            self.declared.remove(function);
        });
        let all: Option<Vec<u32>> = functions.iter().copied().collect();
        match all {
            Some(all) if ty == RefType::FUNCREF => Elements::Functions(all.into()),
            Some(_) | None => {
                let expression = |(held, function): (&Option<Held>, &Option<u32>)| match (held, function) {
                    (_, Some(function)) => ConstExpr::ref_func(*function),
                    (Some(Held::Global(global)), None) => ConstExpr::global_get(*global),
                    (Some(Held::Function(_)) | None, None) => ConstExpr::ref_null(ty.heap_type),
                };
                let expressions: Vec<ConstExpr> = held.iter().zip(&functions).map(expression).collect();
                Elements::Expressions(ty, expressions.into())
            }
        }
    }

    /// The index of a table; nothing for the first one, whose form is shorter.
    fn table(&self, of: VarRef) -> Option<u32> {
        Some(self.indices.tables[&of]).filter(|table| *table != 0)
    }
}

/// What an entry of a table holds: a function that is written, or a global by its index in the module.
#[derive(Clone, Copy)]
pub(super) enum Held {
    Function(FuncRef),
    Global(u32),
}

impl Held {
    /// Nothing for a function that is not written. What is written in part asks no host for globals: what one would have
    /// there is null.
    fn of(entry: Option<TableEntry>, indices: &Indices, scope: &Scope) -> Option<Held> {
        match entry? {
            TableEntry::Function(function) => {
                indices.functions.contains_key(&function).then_some(Held::Function(function))
            }
            TableEntry::Global(global) if scope.is_whole() => Some(Held::Global(indices.globals[&global])),
            TableEntry::Global(_) => None,
        }
    }
}

/// What a table begins with, where it stands without a gap: the first index, and the references.
pub(super) fn runs(
    entries: &[Option<TableEntry>],
    indices: &Indices,
    scope: &Scope,
) -> impl Iterator<Item = (i32, Vec<Held>)> {
    let mut runs: Vec<(i32, Vec<Held>)> = Vec::new();
    for (at, entry) in (0..).zip(entries) {
        let Some(held) = Held::of(*entry, indices, scope) else { continue };
        match runs.last_mut() {
            Some((start, run)) if *start + run.len() as i32 == at => run.push(held),
            Some(_) | None => runs.push((at, vec![held])),
        }
    }
    runs.into_iter()
}

fn reference(ty: &Type) -> RefType {
    match types::value(ty) {
        ValType::Ref(of) => of,
        _ => RefType::FUNCREF,
    }
}

fn constant(initial: &Const, ty: ValType) -> Option<ConstExpr> {
    use wasm_encoder::HeapType;
    Some(match (initial, ty) {
        (Const::Bool(value), _) => ConstExpr::i32_const((*value).into()),
        (Const::I8(value), _) => ConstExpr::i32_const((*value).into()),
        (Const::I16(value), _) => ConstExpr::i32_const((*value).into()),
        (Const::I32(value), _) => ConstExpr::i32_const(*value),
        (Const::I64(value), _) => ConstExpr::i64_const(*value),
        (Const::F32(bits), _) => ConstExpr::f32_const(Ieee32::new(*bits)),
        (Const::F64(bits), _) => ConstExpr::f64_const(Ieee64::new(*bits)),
        (Const::Unit, ValType::Ref(RefType::FUNCREF)) => ConstExpr::ref_null(HeapType::FUNC),
        (Const::Unit, ValType::Ref(RefType::EXTERNREF)) => ConstExpr::ref_null(HeapType::EXTERN),
        (Const::Unit, ValType::I32) => ConstExpr::i32_const(0),
        (Const::Unit | Const::String(_) | Const::Bytes(_), _) => return None,
    })
}

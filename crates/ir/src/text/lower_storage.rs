//! From the tree to the program: globals, memories, tables, segments and custom sections.

use std::sync::Arc;

use crate::entities::Import;
use crate::ops::AttrKind;
use crate::refs::{FuncRef, ModuleRef, VarRef};
use crate::storage::{Initial, Offset, Storage, StorageKind, TableEntry};
use crate::text::error::{Mistake, code};
use crate::text::literal::{Literal, Unfit};
use crate::text::lower::Lowering;
use crate::text::names::Wanted;
use crate::text::print::print_type_name;
use crate::text::resolve::{Names, Resolved, resolve_type};
use crate::text::syntax::{
    EntrySyntax, InitialSyntax, OffsetSyntax, Path, StorageItem, StorageSyntax, TypeSyntax,
};
use crate::types::{Const, Type};

impl<'t> Lowering<'t> {
    /// Makes storage; what it needs of other storage is added to `behind`, for that may come later.
    pub(super) fn storage(
        &mut self,
        module: ModuleRef,
        item: &'t StorageItem,
        behind: &mut Vec<(VarRef, ModuleRef, &'t StorageItem)>,
    ) {
        let of = VarRef::of_key(self.number(item.label.tag, item.label.at));
        let Some(record) = self.record(module, item) else { return };
        if let Err(error) = self.program.add_storage(of, record) {
            self.note(Mistake::new(code::DUPLICATE_REF, item.label.at, error.to_string()));
        }
        self.made.push((Arc::clone(&item.label.name), of.into()));
        let names_other = match &item.kind {
            StorageSyntax::Global { initial: Some(InitialSyntax::Global(_)), .. }
            | StorageSyntax::Data { offset: Some(OffsetSyntax::Global(_)), .. }
            | StorageSyntax::Elements { target: Some(_), .. } => true,
            StorageSyntax::Table { entries, .. } | StorageSyntax::Elements { entries, .. } => {
                entries.iter().any(|entry| matches!(entry, Some(EntrySyntax::Global(_))))
            }
            StorageSyntax::Global { .. }
            | StorageSyntax::Memory { .. }
            | StorageSyntax::Data { .. }
            | StorageSyntax::Custom { .. } => false,
        };
        if names_other {
            behind.push((of, module, item));
        }
    }

    /// Makes storage what a text says; its ref stays.
    pub(super) fn replace_storage(&mut self, of: VarRef, module: ModuleRef, item: &'t StorageItem) {
        let Some(record) = self.record(module, item) else { return };
        if let Err(error) = self.program.set_storage(of, record) {
            self.note(Mistake::new(code::DUPLICATE_REF, item.label.at, error.to_string()));
        }
        self.begin_with(of, module, item);
    }

    /// What a text says of storage, but for other storage that it begins with.
    fn record(&mut self, module: ModuleRef, item: &'t StorageItem) -> Option<Storage> {
        let kind = match &item.kind {
            StorageSyntax::Global { ty, mutable, initial } => {
                let resolved = resolve_type(ty, &self.names(module));
                let ty = self.noted(resolved)?;
                let initial = match initial {
                    Some(InitialSyntax::Const(literal, at)) => {
                        initial_value(literal, &ty).map(Initial::Const).map_err(|unfit| {
                            unfit.mistake(literal, &print_type_name(&self.program, Some(module), &ty), *at)
                        })
                    }
                    Some(InitialSyntax::Function(path)) => {
                        self.function_named(module, path).map(Initial::Function)
                    }
                    Some(InitialSyntax::Global(_)) | None => Ok(Const::zero(&ty).into()),
                };
                let initial = self.noted(initial)?;
                StorageKind::Global { ty, mutable: *mutable, initial }
            }
            StorageSyntax::Memory { pages, max_pages } => {
                StorageKind::Memory { pages: *pages, max_pages: *max_pages }
            }
            StorageSyntax::Data { offset, bytes } => {
                let offset = match offset {
                    Some(OffsetSyntax::At(address)) => Some(Offset::At(*address)),
                    Some(OffsetSyntax::Global(_)) | None => None,
                };
                StorageKind::Data { offset, bytes: Arc::clone(bytes) }
            }
            StorageSyntax::Table { ty, entries, max } => {
                let (ty, entries) = self.entries(module, ty.as_ref(), entries)?;
                StorageKind::Table { ty, entries, max: *max }
            }
            StorageSyntax::Elements { ty, target: _, entries } => {
                let (ty, entries) = self.entries(module, ty.as_ref(), entries)?;
                StorageKind::Elements { ty, target: None, entries }
            }
            StorageSyntax::Custom { section, place, bytes } => StorageKind::Custom {
                section: section.clone().unwrap_or_else(|| Arc::clone(&item.label.name)),
                place: *place,
                bytes: Arc::clone(bytes),
            },
        };
        let modifiers = &item.modifiers;
        Some(Storage {
            name: Arc::clone(&item.label.name),
            module,
            visibility: modifiers.visibility,
            exports: modifiers.exports.clone(),
            import: modifiers.import.clone().map(|(module, name)| Import { module, name }),
            kind,
            doc: modifiers.doc.clone(),
        })
    }

    /// Entries that are globals are empty until all of these are there.
    fn entries(
        &mut self,
        module: ModuleRef,
        ty: Option<&TypeSyntax>,
        entries: &[Option<EntrySyntax>],
    ) -> Option<(Type, Vec<Option<TableEntry>>)> {
        let ty = ty.map_or(Ok(Type::FuncRef), |ty| resolve_type(ty, &self.names(module)));
        let resolved: Resolved<Vec<Option<TableEntry>>> = entries
            .iter()
            .map(|entry| match entry {
                Some(EntrySyntax::Function(path)) => {
                    self.function_named(module, path).map(|of| Some(TableEntry::Function(of)))
                }
                Some(EntrySyntax::Global(_)) | None => Ok(None),
            })
            .collect();
        let (ty, entries) = (self.noted(ty), self.noted(resolved));
        ty.zip(entries)
    }

    /// Lets storage begin with other storage, now that all of it is there.
    pub(super) fn begin_with(&mut self, of: VarRef, module: ModuleRef, item: &StorageItem) {
        let global = |path: &Path| self.names(module).storage(path, AttrKind::Global);
        let offset = |of: &OffsetSyntax| match of {
            OffsetSyntax::At(at) => Ok(Offset::At(*at)),
            OffsetSyntax::Global(path) => global(path).map(Offset::Global),
        };
        let globals = |given: &[Option<EntrySyntax>], entries: &mut [Option<TableEntry>]| -> Resolved<()> {
            for (given, entry) in given.iter().zip(entries) {
                if let Some(EntrySyntax::Global(path)) = given {
                    *entry = Some(TableEntry::Global(global(path)?));
                }
            }
            Ok(())
        };
        let Some(mut storage) = self.program.storage(of).cloned() else { return };
        let mut begin = || {
            match (&item.kind, &mut storage.kind) {
                (
                    StorageSyntax::Global { initial: Some(InitialSyntax::Global(path)), .. },
                    StorageKind::Global { initial, .. },
                ) => *initial = Initial::Global(global(path)?),
                (StorageSyntax::Data { offset: Some(given), .. }, StorageKind::Data { offset: at, .. }) => {
                    *at = Some(offset(given)?);
                }
                (StorageSyntax::Table { entries: given, .. }, StorageKind::Table { entries, .. }) => {
                    globals(given, entries)?;
                }
                (
                    StorageSyntax::Elements { target: place, entries: given, .. },
                    StorageKind::Elements { target, entries, .. },
                ) => {
                    globals(given, entries)?;
                    if let Some((table, at)) = place {
                        let table = self.names(module).storage(table, AttrKind::Table)?;
                        *target = Some((table, offset(at)?));
                    }
                }
                (_, _) => {}
            }
            Ok(())
        };
        let begun = begin();
        if self.noted(begun).is_some() {
            self.program.set_storage(of, storage).expect("the storage was added a moment ago");
        }
    }

    fn function_named(&self, module: ModuleRef, path: &Path) -> Resolved<FuncRef> {
        let of = self.names(module).resolve(path, Wanted::Function)?;
        FuncRef::try_from(of).map_err(|error| Mistake::new(code::WRONG_KIND, path.at(), error.to_string()))
    }
}

/// The first value of a global that a literal stands for: an address is a number, and `unit` stands for the zero of a type
/// without constants.
fn initial_value(literal: &Literal, ty: &Type) -> Result<Const, Unfit> {
    match (literal, ty) {
        (_, Type::Ptr(_)) => literal.typed(&Type::I32),
        (Literal::Unit, _) if Const::zero(ty) == Const::Unit => Ok(Const::Unit),
        (_, _) => literal.typed(ty),
    }
}

//! What of a program is written.

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_ir::graph::calls::{Mentions, components_from};
use lmlang_ir::ops::Group;
use lmlang_ir::{FuncRef, Function, Program, Ref, Storage, StorageKind, VarRef};

/// What of a program is written.
#[derive(Debug)]
pub(super) enum Scope {
    /// All of it.
    Whole,
    /// What some functions reach: other functions, and storage.
    Reached { functions: BTreeSet<FuncRef>, storage: BTreeSet<VarRef> },
}

impl Scope {
    /// What functions reach. The memory and what is put into it belong to it where something works on the memory, which
    /// names neither.
    pub(super) fn of(program: &Program, roots: impl IntoIterator<Item = FuncRef>) -> Scope {
        let (mut functions, mut storage) = (BTreeSet::new(), BTreeSet::new());
        let found = components_from(Mentions::all(program), roots.into_iter().map(Ref::from));
        for of in found.into_iter().flatten() {
            if let Ok(function) = FuncRef::try_from(of) {
                functions.insert(function);
            } else if let Ok(variable) = VarRef::try_from(of) {
                storage.insert(variable);
            }
        }
        let on_memory = |of: &FuncRef| {
            let nodes = program.function(*of).into_iter().flat_map(|function| function.body().nodes());
            nodes.into_iter().any(|(_, node)| node.op().spec().group == Group::Memory)
        };
        if functions.iter().any(on_memory) {
            let memory = program
                .all_storage()
                .filter(|(_, of)| matches!(of.kind, StorageKind::Memory { .. } | StorageKind::Data { .. }));
            storage.extend(memory.map(|(of, _)| of));
        }
        Scope::Reached { functions, storage }
    }

    /// The functions, by ref.
    pub(super) fn functions<'p>(
        &'p self,
        program: &'p Program,
    ) -> Box<dyn Iterator<Item = (FuncRef, &'p Arc<Function>)> + 'p> {
        match self {
            Scope::Whole => Box::new(program.functions()),
            Scope::Reached { functions, .. } => {
                Box::new(functions.iter().filter_map(|of| Some((*of, program.function(*of)?))))
            }
        }
    }

    /// The storage, by ref.
    pub(super) fn storage<'p>(
        &'p self,
        program: &'p Program,
    ) -> Box<dyn Iterator<Item = (VarRef, &'p Storage)> + 'p> {
        match self {
            Scope::Whole => Box::new(program.all_storage()),
            Scope::Reached { storage, .. } => {
                Box::new(storage.iter().filter_map(|of| Some((*of, program.storage(*of)?))))
            }
        }
    }

    /// Whether storage comes from the host. What runs here has storage of its own instead.
    pub(super) fn asks_host(&self, storage: &Storage) -> bool {
        matches!(self, Scope::Whole) && storage.import.is_some()
    }
}

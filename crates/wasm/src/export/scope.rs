//! What of a program is written.

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_ir::graph::calls::{Mentions, components_from};
use lmlang_ir::ops::Group;
use lmlang_ir::{
    FuncRef, Function, FunctionHead, Import, Op, Opcode, Program, Ref, Storage, StorageKind, VarRef,
};

/// What of a program is written.
#[derive(Debug)]
pub(super) enum Scope {
    /// All of it.
    Whole,
    /// Some functions, of which some are asked of the host, and some storage.
    Some { functions: BTreeSet<FuncRef>, outside: BTreeSet<FuncRef>, storage: BTreeSet<VarRef> },
}

impl Scope {
    /// What functions reach.
    pub(super) fn reached(program: &Program, roots: impl IntoIterator<Item = FuncRef>) -> Scope {
        let found = components_from(Mentions::without_invariants(program), roots.into_iter().map(Ref::from));
        let (functions, storage) = sorted(found.into_iter().flatten());
        let storage = with_memory(program, &functions, storage);
        Scope::Some { functions, outside: BTreeSet::new(), storage }
    }

    /// A function alone: the functions that it names are asked of the host.
    pub(super) fn alone(program: &Program, of: FuncRef) -> Scope {
        let (mut named, storage) = sorted(program.uses_of(of.into()));
        let storage = with_memory(program, &BTreeSet::from([of]), storage);
        let globals = storage.iter().filter(|of| {
            matches!(program.storage(**of).map(|of| &of.kind), Some(StorageKind::Global { .. }))
        });
        let (first, _) = sorted(globals.flat_map(|global| program.uses_of((*global).into())));
        named.extend(first);
        named.remove(&of);
        let functions = named.iter().copied().chain([of]).collect();
        Scope::Some { functions, outside: named, storage }
    }

    /// The functions, by ref.
    pub(super) fn functions<'p>(
        &'p self,
        program: &'p Program,
    ) -> Box<dyn Iterator<Item = (FuncRef, &'p Arc<Function>)> + 'p> {
        match self {
            Scope::Whole => Box::new(program.functions()),
            Scope::Some { functions, .. } => {
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
            Scope::Some { storage, .. } => {
                Box::new(storage.iter().filter_map(|of| Some((*of, program.storage(*of)?))))
            }
        }
    }

    /// What the host is asked for in place of a function, if it is.
    pub(super) fn asked(&self, program: &Program, of: FuncRef, head: &FunctionHead) -> Option<Import> {
        match self {
            Scope::Some { outside, .. } if outside.contains(&of) => {
                let path = program.path(of.into());
                let (module, name) = path.rsplit_once("::").unwrap_or(("", &path));
                Some(Import { module: module.into(), name: name.into() })
            }
            Scope::Whole | Scope::Some { .. } => head.import.clone(),
        }
    }

    /// Whether storage comes from the host. What is written in part has storage of its own instead.
    pub(super) fn asks_host(&self, storage: &Storage) -> bool {
        self.is_whole() && storage.import.is_some()
    }

    /// Whether all of a program is written, with what it exports.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Scope::Whole)
    }
}

fn sorted(refs: impl Iterator<Item = Ref>) -> (BTreeSet<FuncRef>, BTreeSet<VarRef>) {
    let (mut functions, mut storage) = (BTreeSet::new(), BTreeSet::new());
    for of in refs {
        if let Ok(function) = FuncRef::try_from(of) {
            functions.insert(function);
        } else if let Ok(variable) = VarRef::try_from(of) {
            storage.insert(variable);
        }
    }
    (functions, storage)
}

/// Adds the memory and what is put into it, which nobody names, where functions work on it.
fn with_memory(
    program: &Program,
    functions: &BTreeSet<FuncRef>,
    mut storage: BTreeSet<VarRef>,
) -> BTreeSet<VarRef> {
    let functions: Vec<_> = functions.iter().filter_map(|of| program.function(*of)).collect();
    // What the host does may work on memory.
    let asks = functions.iter().any(|of| of.head().import.is_some());
    let nodes = functions.iter().flat_map(|of| of.body().nodes());
    // What is carried may work on memory, too.
    let works_on_it = |op: &Op| {
        op.spec().group == Group::Memory
            || matches!(op.code(), Opcode::Raw | Opcode::BytesLoad | Opcode::BytesStore)
    };
    if asks || nodes.into_iter().any(|(_, node)| works_on_it(node.op())) {
        let on_memory =
            |of: &Storage| matches!(of.kind, StorageKind::Memory { .. } | StorageKind::Data { .. });
        storage.extend(program.all_storage().filter(|(_, of)| on_memory(of)).map(|(of, _)| of));
    }
    storage
}

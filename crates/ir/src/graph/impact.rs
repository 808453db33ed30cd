//! What a change of something may concern.

use std::collections::HashSet;

use crate::entities::Name;
use crate::function::Function;
use crate::program::{Place, Program};
use crate::refs::{ContractRef, FuncRef, Ref, TypeRef, VarRef};
use crate::storage::StorageKind;

/// What a change of something may concern, the nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impact {
    /// Functions that reach it by calls, references, closures, tables, types or storage, its own function first.
    pub functions: Vec<FuncRef>,
    /// Types that contain it.
    pub types: Vec<TypeRef>,
    /// Storage that contains it: globals of a type, tables with a function.
    pub storage: Vec<VarRef>,
    /// The contracts of these functions.
    pub contracts: Vec<ContractRef>,
    /// The names under which these functions and this storage are exported.
    pub exports: Vec<Name>,
}

/// Follows mentions backwards from some entities. What is part of a function or type stands for the whole of it; a
/// module for nothing, since nothing depends on it but by name. For memory, all functions are looked through.
pub fn impact(program: &Program, of: &[Ref]) -> Impact {
    let mut seen = HashSet::new();
    let mut found: Vec<Ref> = Vec::new();
    for of in of {
        let whole = program.place(*of).and_then(|place| match place {
            Place::Module(_) => None,
            Place::Type(of) | Place::Member(of, _) => Some(Ref::from(of)),
            Place::Storage(of) => Some(of.into()),
            Place::Function(of)
            | Place::Region(of, _)
            | Place::Variable(of, _)
            | Place::Contract(of, _)
            | Place::Node(of, _) => Some(of.into()),
        });
        found.extend(whole.filter(|whole| seen.insert(*whole)));
    }
    // No operator names the one memory that there is.
    if found.iter().any(|of| is_memory(program, *of)) {
        let uses =
            |function: &Function| function.body().nodes().any(|(_, node)| node.op().code().uses_memory());
        let users =
            program.functions().filter(|(_, function)| uses(function)).map(|(user, _)| Ref::from(user));
        found.extend(users.filter(|user| seen.insert(*user)));
    }
    let mut at = 0;
    while let Some(of) = found.get(at).copied() {
        found.extend(program.users_of(of).map(|(user, _)| user).filter(|user| seen.insert(*user)));
        at += 1;
    }
    let mut impact = Impact::default();
    for of in found {
        match program.place(of) {
            Some(Place::Function(of)) => {
                impact.functions.push(of);
                if let Some(function) = program.function(of) {
                    impact.contracts.extend(function.body().contracts().map(|(contract, _)| contract));
                    impact.exports.extend(function.head().exports.iter().cloned());
                }
            }
            Some(Place::Type(of)) => impact.types.push(of),
            Some(Place::Storage(of)) => {
                impact.storage.push(of);
                let exports = program.storage(of).map_or(&[][..], |storage| &storage.exports);
                impact.exports.extend(exports.iter().cloned());
            }
            Some(
                Place::Module(_)
                | Place::Member(..)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => {}
        }
    }
    impact
}

fn is_memory(program: &Program, of: Ref) -> bool {
    let storage = VarRef::try_from(of).ok().and_then(|of| program.storage(of));
    storage.is_some_and(|storage| matches!(storage.kind, StorageKind::Memory { .. }))
}

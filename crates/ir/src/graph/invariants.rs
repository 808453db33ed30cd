//! Where invariants of types are checked: on what enters and leaves public and exported functions.

use std::collections::{BTreeSet, HashSet};

use crate::entities::Visibility;
use crate::function::Function;
use crate::program::Program;
use crate::refs::TypeRef;
use crate::types::Type;

/// The types with invariants whose values a value of a type contains, itself included, by ref. What lies behind a `ptr`, or
/// is captured by a closure, is not contained.
pub fn types_with_invariants(program: &Program, ty: &Type) -> BTreeSet<TypeRef> {
    let mut found = BTreeSet::new();
    if !program.has_invariants() {
        return found;
    }
    let (mut open, mut seen) = (vec![ty.clone()], HashSet::new());
    while let Some(ty) = open.pop() {
        open.extend(ty.contained().into_iter().cloned());
        if let Type::Named(of) = ty
            && seen.insert(of)
        {
            if program.stating(of).next().is_some() {
                found.insert(of);
            }
            open.extend(program.type_def(of).iter().flat_map(|def| def.part_types()).cloned());
        }
    }
    found
}

/// Tells whether values enter and leave a module by a function: it is public or exported, and does not state invariants
/// itself.
pub fn is_border(function: &Function) -> bool {
    let head = function.head();
    let is_open = head.visibility == Visibility::Public || !head.exports.is_empty();
    is_open && function.states_invariants_of().is_none()
}

/// The types whose invariants are checked on what enters and leaves a function, by ref.
pub fn checked_types(program: &Program, function: &Function) -> BTreeSet<TypeRef> {
    if !program.has_invariants() || !is_border(function) {
        return BTreeSet::new();
    }
    let head = function.head();
    let signature = head.params.iter().map(|param| &param.ty).chain(&head.results);
    signature.flat_map(|ty| types_with_invariants(program, ty)).collect()
}

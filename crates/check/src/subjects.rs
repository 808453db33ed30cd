//! Which functions of a program are worth looking for inputs that break them.

use std::collections::{BTreeSet, VecDeque};

use lmlang_ir::graph::{is_border, types_with_invariants};
use lmlang_ir::{ContractKind, FuncRef, Function, Program, Ref, TypeRef, Visibility};

/// The functions with something to break: contracts of their own, invariants of what they return, or what a function demands that
/// they call. Where there are none, the public ones.
pub fn subjects(program: &Program) -> Vec<FuncRef> {
    let callable = || program.functions().filter(|(_, found)| found.head().captures.is_empty());
    let demands = |found: &Function| {
        found.body().contracts().any(|(_, contract)| contract.kind == ContractKind::Require)
    };
    let demanding: BTreeSet<Ref> =
        program.functions().filter(|(_, found)| demands(found)).map(|(of, _)| of.into()).collect();
    let can_break = |of: FuncRef, found: &Function| {
        has_promises(program, found) || program.uses_of(of.into()).any(|used| demanding.contains(&used))
    };
    let with_contracts: Vec<FuncRef> =
        callable().filter(|(of, found)| can_break(*of, found)).map(|(of, _)| of).collect();
    if !with_contracts.is_empty() {
        return with_contracts;
    }
    callable().filter(|(_, found)| found.head().visibility == Visibility::Public).map(|(of, _)| of).collect()
}

/// Those among some functions that have something to break, and those that return values of types whose invariants some of
/// them state.
pub fn subjects_among(program: &Program, functions: &[FuncRef]) -> Vec<FuncRef> {
    let own = functions
        .iter()
        .copied()
        .filter(|of| program.function(*of).is_some_and(|found| has_promises(program, found)));
    let mut subjects: BTreeSet<FuncRef> = own.collect();
    let stated = functions.iter().filter_map(|of| program.function(*of)?.states_invariants_of());
    let stated: BTreeSet<TypeRef> = stated.collect();
    if !stated.is_empty() {
        let returning =
            program.functions().filter(|(_, found)| !stated.is_disjoint(&promised(program, found)));
        subjects.extend(returning.map(|(of, _)| of));
    }
    subjects.into_iter().collect()
}

/// Those that have something to break among the functions which call some others, directly or through what they call,
/// the nearest first. At most `most`, among the first `looked_at` that call them.
pub fn subjects_calling(
    program: &Program,
    functions: &[FuncRef],
    most: usize,
    looked_at: usize,
) -> Vec<FuncRef> {
    let mut known: BTreeSet<FuncRef> = functions.iter().copied().collect();
    let mut open: VecDeque<FuncRef> = known.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(callee) = open.pop_front() {
        for (user, _) in program.users_of(callee.into()) {
            let Ok(caller) = FuncRef::try_from(user) else { continue };
            if !known.insert(caller) {
                continue;
            }
            let has_promises = program.function(caller).is_some_and(|of| has_promises(program, of));
            found.extend(has_promises.then_some(caller));
            if found.len() >= most || known.len() >= functions.len() + looked_at {
                return found;
            }
            open.push_back(caller);
        }
    }
    found
}

/// What states invariants is itself none of those that have to keep them.
fn has_promises(program: &Program, of: &Function) -> bool {
    let mut contracts = of.body().contracts();
    contracts.any(|(_, contract)| contract.kind != ContractKind::Invariant)
        || !promised(program, of).is_empty()
}

/// The types whose invariants hold of what a function returns.
fn promised(program: &Program, of: &Function) -> BTreeSet<TypeRef> {
    let results = of.head().results.iter().filter(|_| is_border(of));
    results.flat_map(|ty| types_with_invariants(program, ty)).collect()
}

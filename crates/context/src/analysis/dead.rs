//! What could be removed without a difference.

use std::collections::{BTreeMap, HashSet};

use lmlang_ir::graph::Mentions;
use lmlang_ir::graph::calls::components_from;
use lmlang_ir::{Effect, FuncRef, Function, NodeRef, Program, Ref, Source, StorageKind, TypeRef, Visibility};

use crate::analysis::{Answer, Reason, Scope};

/// Functions that nothing reaches, each alone, and dead nodes of the others.
pub(super) fn code(program: &Program, cases: &[FuncRef], scope: &Scope) -> Vec<Answer> {
    let live = reached(program, roots(program, cases));
    let mut answers = Vec::new();
    for (of, function) in program.functions() {
        if !scope.holds(of.into(), function.head().module) {
            continue;
        }
        if !live.contains(&of.into()) {
            answers.push(Answer { of: of.into(), reason: Reason::Unreached });
            continue;
        }
        let dead = dead_nodes(function).into_iter();
        answers.extend(dead.map(|(node, reason)| Answer { of: node.into(), reason }));
    }
    answers
}

/// Where a run can come in: what is public, exported, started or tested, and what stands in tables, for everybody to call.
fn roots(program: &Program, cases: &[FuncRef]) -> Vec<Ref> {
    let tested: HashSet<FuncRef> = cases.iter().copied().collect();
    let enters = |of: FuncRef, function: &Function| {
        let head = function.head();
        head.visibility == Visibility::Public
            || !head.exports.is_empty()
            || head.start
            || !head.runs.is_empty()
            || tested.contains(&of)
    };
    let functions = program.functions().filter(|(of, function)| enters(*of, function));
    let mut roots: Vec<Ref> = functions.map(|(of, _)| of.into()).collect();
    for (of, storage) in program.all_storage() {
        let is_table = matches!(storage.kind, StorageKind::Table { .. } | StorageKind::Elements { .. });
        if is_table || !storage.exports.is_empty() || storage.visibility == Visibility::Public {
            roots.push(of.into());
        }
    }
    roots
}

/// All that some entities reach by what they mention, these included.
fn reached(program: &Program, from: impl IntoIterator<Item = Ref>) -> HashSet<Ref> {
    components_from(Mentions::all(program), from).into_iter().flatten().collect()
}

/// Pure nodes that nobody uses, or only others of these, by ref.
fn dead_nodes(function: &Function) -> BTreeMap<NodeRef, Reason> {
    let body = function.body();
    let mut dead: BTreeMap<NodeRef, Reason> = BTreeMap::new();
    let is_pure = |of: NodeRef| body.node(of).is_some_and(|node| node.op().spec().effect == Effect::Pure);
    let mut open: Vec<NodeRef> = Vec::new();
    for (of, _) in body.nodes() {
        if is_pure(of) && body.uses_of(of.number()).next().is_none() {
            dead.insert(of, Reason::Unused);
            open.push(of);
        }
    }
    while let Some(of) = open.pop() {
        let Some(node) = body.node(of) else { continue };
        for source in node.inputs().iter().flatten() {
            let Source::Node(producer, _) = source else { continue };
            if dead.contains_key(&producer) || !is_pure(producer) {
                continue;
            }
            if body.uses_of(producer.number()).all(|one| dead.contains_key(&one.node)) {
                dead.insert(producer, Reason::UsedByDead(of));
                open.push(producer);
            }
        }
    }
    dead
}

/// Types that are reached from no function and no storage.
pub(super) fn types(program: &Program, scope: &Scope) -> Vec<Answer> {
    let functions = program.functions().map(|(of, _)| Ref::from(of));
    let storage = program.all_storage().map(|(of, _)| Ref::from(of));
    let used = reached(program, functions.chain(storage));
    let mut answers = Vec::new();
    for (of, def) in program.types() {
        if used.contains(&of.into()) || !scope.holds(of.into(), def.module) {
            continue;
        }
        let users = program.users_of(of.into()).map(|(user, _)| user);
        let other = users.filter_map(|user| TypeRef::try_from(user).ok()).find(|user| *user != of);
        let reason = other.map_or(Reason::Unmentioned, Reason::MentionedByUnused);
        answers.push(Answer { of: of.into(), reason });
    }
    answers
}

//! What functions may do besides computing: trap, or act on what is outside of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use lmlang_ir::graph::checked_types;
use lmlang_ir::{
    Attr, Effect, EffectBound, FuncRef, Function, Initial, Node, NodeRef, Opcode, Program, RegionOwner,
    Signature, StorageKind,
};

use crate::analysis::{Answer, Reason, Scope};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Traps,
    Effects,
}

/// Functions with a reason of their own, and those that call them, with the nearest reason.
pub(super) fn find(program: &Program, wanted: Wanted, scope: &Scope) -> Vec<Answer> {
    let targets = Targets::of(program);
    let mut own: BTreeMap<FuncRef, Reason> = BTreeMap::new();
    // Who calls, or may call, a function: with the first node that does.
    let mut callers: HashMap<FuncRef, BTreeMap<FuncRef, Option<NodeRef>>> = HashMap::new();
    for (of, function) in program.functions() {
        if let Some(reason) = own_reason(program, function, wanted) {
            own.insert(of, reason);
        }
        for (node, content) in function.body().nodes() {
            if content.op().spec().effect != Effect::Calls || skipped(function, content, wanted) {
                continue;
            }
            for callee in targets.called_by(content) {
                callers.entry(callee).or_default().entry(of).or_insert(Some(node));
            }
        }
        // Invariants are checked without a node. They only look.
        let checked =
            if wanted == Wanted::Traps { checked_types(program, function) } else { BTreeSet::new() };
        for stating in checked.into_iter().flat_map(|ty| program.stating(ty)) {
            callers.entry(stating).or_default().entry(of).or_insert(None);
        }
    }
    // From reasons outwards: the first to come to a function is the nearest.
    let mut reasons = own.clone();
    let mut open: VecDeque<(FuncRef, FuncRef)> = own.keys().map(|of| (*of, *of)).collect();
    while let Some((callee, origin)) = open.pop_front() {
        let node = match own.get(&origin) {
            Some(Reason::Traps(node) | Reason::Acts(node)) => Some(*node),
            Some(_) | None => None,
        };
        for (caller, call) in callers.get(&callee).into_iter().flatten() {
            if !reasons.contains_key(caller) {
                reasons.insert(*caller, Reason::Through { call: *call, callee, origin, node });
                open.push_back((*caller, origin));
            }
        }
    }
    let module = |of: &FuncRef| program.function(*of).map(|function| function.head().module);
    let held = |of: &FuncRef| module(of).is_some_and(|module| scope.holds((*of).into(), module));
    let found = reasons.into_iter().filter(|(of, _)| held(of));
    found.map(|(of, reason)| Answer { of: of.into(), reason }).collect()
}

/// The reason that a function has in itself.
fn own_reason(program: &Program, function: &Function, wanted: Wanted) -> Option<Reason> {
    let head = function.head();
    if head.import.is_some() {
        let pure = head.effect_bound == EffectBound::Pure && wanted == Wanted::Effects;
        return (!pure).then_some(Reason::Imported);
    }
    let mut nodes = function.body().nodes();
    match wanted {
        Wanted::Traps => nodes.find(|(_, node)| may_trap(node)).map(|(of, _)| Reason::Traps(of)),
        Wanted::Effects => {
            let acts = |node: &Node| acts(program, node) && !skipped(function, node, wanted);
            nodes.find(|(_, node)| acts(node)).map(|(of, _)| Reason::Acts(of))
        }
    }
}

fn may_trap(node: &Node) -> bool {
    !node.op().spec().traps.is_empty() || node.op().code() == Opcode::Raw
}

/// Whether a node acts on what is outside of its function. Variables are the function's own.
fn acts(program: &Program, node: &Node) -> bool {
    match (node.op().spec().effect, node.op().code()) {
        (Effect::Reads | Effect::Writes, Opcode::VarGet | Opcode::VarSet) => false,
        (Effect::Reads | Effect::Writes | Effect::Io, _) => true,
        (Effect::Calls, Opcode::CallIndirect) => match node.op().attr() {
            Attr::Indirect(table, _) => program
                .storage(*table)
                .is_some_and(|table| table.import.is_some() || !table.exports.is_empty()),
            _ => false,
        },
        (Effect::Calls | Effect::Pure | Effect::Traps | Effect::Control, _) => false,
    }
}

/// Whether a node does not count: contracts only look, which is no effect of the function that has them.
fn skipped(function: &Function, node: &Node, wanted: Wanted) -> bool {
    let body = function.body();
    if wanted == Wanted::Traps || body.contracts().next().is_none() {
        return false;
    }
    let mut around = body.chain(node.region());
    around.any(|region| {
        body.region(region).is_some_and(|region| matches!(region.owner, RegionOwner::Contract(_)))
    })
}

/// What calls that name no function may come to.
struct Targets {
    /// Functions of which there are references, by signature.
    referred: HashMap<Signature, Vec<FuncRef>>,
    /// Functions of which there are closures, by the signature of these.
    closed: HashMap<Signature, Vec<FuncRef>>,
}

impl Targets {
    fn of(program: &Program) -> Targets {
        let (mut referred, mut closed): (HashSet<FuncRef>, HashSet<FuncRef>) = Default::default();
        for (_, storage) in program.all_storage() {
            match &storage.kind {
                StorageKind::Table { entries, .. } | StorageKind::Elements { entries, .. } => {
                    referred.extend(entries.iter().flatten().filter_map(|entry| entry.function()));
                }
                StorageKind::Global { initial: Initial::Function(of), .. } => drop(referred.insert(*of)),
                StorageKind::Global { .. }
                | StorageKind::Memory { .. }
                | StorageKind::Data { .. }
                | StorageKind::Custom { .. } => {}
            }
        }
        for (_, function) in program.functions() {
            for (_, node) in function.body().nodes() {
                match (node.op().code(), node.op().attr()) {
                    (Opcode::FuncRef, Attr::Function(of)) => drop(referred.insert(*of)),
                    (Opcode::ClosureNew, Attr::Function(of)) => drop(closed.insert(*of)),
                    (_, _) => {}
                }
            }
        }
        Targets { referred: by_signature(program, referred), closed: by_signature(program, closed) }
    }

    fn called_by(&self, node: &Node) -> Vec<FuncRef> {
        match (node.op().code(), node.op().attr()) {
            (Opcode::Call, Attr::Function(of)) => vec![*of],
            (Opcode::CallIndirect, Attr::Indirect(_, signature)) => {
                self.referred.get(&**signature).cloned().unwrap_or_default()
            }
            (Opcode::ClosureCall, Attr::Signature(signature)) => {
                self.closed.get(&**signature).cloned().unwrap_or_default()
            }
            (_, _) => Vec::new(),
        }
    }
}

fn by_signature(program: &Program, of: HashSet<FuncRef>) -> HashMap<Signature, Vec<FuncRef>> {
    let mut found: HashMap<Signature, Vec<FuncRef>> = HashMap::new();
    for of in of {
        let Some(function) = program.function(of) else { continue };
        let head = function.head();
        let params = head.params.iter().map(|param| param.ty.clone()).collect();
        found.entry(Signature { params, results: head.results.clone() }).or_default().push(of);
    }
    found.values_mut().for_each(|functions| functions.sort_unstable());
    found
}

//! The answers by walking over everything, as slowly and plainly as it goes: no index, no order of work.

use std::collections::BTreeSet;

use lmlang_ir::graph::checked_types;
use lmlang_ir::{
    Attr, Case, Effect, EffectBound, FuncRef, Function, Initial, MemberRef, Node, NodeRef, Opcode, Program,
    Ref, RefKind, RegionOwner, Source, StorageKind, Type, TypeRef, Variant, Visibility,
};

type Refs = BTreeSet<Ref>;

fn nodes(program: &Program) -> Vec<(FuncRef, NodeRef, &Node)> {
    let mut found = Vec::new();
    for (of, function) in program.functions() {
        found.extend(function.body().nodes().map(|(node, content)| (of, node, content)));
    }
    found
}

fn variant_of(attr: &Attr) -> Option<(TypeRef, MemberRef)> {
    match attr {
        Attr::Variant(variant) => match **variant {
            Variant::Member(owner, member) => Some((owner, member)),
            _ => None,
        },
        _ => None,
    }
}

/// Who writes, or reads, a field or variant. Addresses of fields stand for themselves, unless a load or store is right
/// there.
pub(crate) fn member(program: &Program, owner: TypeRef, member: MemberRef, write: bool) -> Refs {
    let mut found = Refs::new();
    let all = nodes(program);
    for (function, of, node) in &all {
        let attr = node.op().attr();
        let field = *attr == Attr::Field(owner, member);
        let is_struct = *attr == Attr::Named(owner);
        let matched = match attr {
            Attr::Match(cases) => cases
                .cases
                .iter()
                .any(|case| matches!(case, Case::Variant(of) if *of == Variant::Member(owner, member))),
            _ => false,
        };
        let hit = match (node.op().code(), write) {
            (Opcode::StructNew, true) => is_struct,
            (Opcode::StructSet, true) | (Opcode::StructGet, false) => field,
            (Opcode::EnumNew, true) | (Opcode::EnumPayload, false) => {
                variant_of(attr) == Some((owner, member))
            }
            (Opcode::Match, false) => matched,
            (Opcode::FieldAddr, _) if field => {
                let users = all.iter().filter(|(other, ..)| other == function);
                for (_, user, content) in users {
                    for (at, source) in content.inputs().iter().enumerate() {
                        if source != Some(Source::Node(*of, 0)) {
                            continue;
                        }
                        let mnemonic = content.op().code().mnemonic();
                        let stores = mnemonic.starts_with("store")
                            || ["memory.fill", "memory.init", "bytes.store"].contains(&mnemonic);
                        let loads = mnemonic.starts_with("load") || mnemonic == "bytes.load";
                        match (at, stores, loads) {
                            (0, true, _) if write => {
                                found.insert((*user).into());
                            }
                            (0, _, true) if !write => {
                                found.insert((*user).into());
                            }
                            (0, true, _) | (0, _, true) => {}
                            (_, _, _) => {
                                found.insert((*of).into());
                            }
                        }
                    }
                }
                false
            }
            (_, _) => false,
        };
        if hit {
            found.insert((*of).into());
        }
    }
    found
}

/// Nodes that write, or read, what they name or the memory.
pub(crate) fn storage(program: &Program, of: Ref, write: bool) -> Refs {
    let kind = program.all_storage().find(|(storage, _)| Ref::from(*storage) == of).map(|(_, found)| found);
    let is_memory = kind.is_some_and(|found| matches!(found.kind, StorageKind::Memory { .. }));
    let mut found = Refs::new();
    for (_, node, content) in nodes(program) {
        let mnemonic = content.op().code().mnemonic();
        let names = match content.op().attr() {
            Attr::Variable(variable) | Attr::Indirect(variable, _) => Ref::from(*variable) == of,
            _ => false,
        };
        let (to, from) = match content.op().attr() {
            Attr::Entries(to, from) => (Ref::from(*to) == of, Ref::from(*from) == of),
            _ => (false, false),
        };
        let writes = match mnemonic {
            "var.set" | "global.set" | "table.set" | "table.grow" | "table.fill" | "data.drop"
            | "elem.drop" => names,
            "table.init" | "table.copy" => to,
            "memory.grow" | "memory.copy" | "memory.fill" | "memory.init" | "bytes.store" => is_memory,
            other => other.starts_with("store") && is_memory,
        };
        let reads = match mnemonic {
            "var.get" | "global.get" | "table.get" | "table.size" | "table.grow" | "call_indirect" => names,
            "memory.init" => names,
            "table.init" | "table.copy" => from,
            "memory.size" | "memory.grow" | "memory.copy" | "bytes.load" => is_memory,
            other => other.starts_with("load") && is_memory,
        };
        if if write { writes } else { reads } {
            found.insert(node.into());
        }
    }
    found
}

/// What an entity of a program mentions: functions, types, storage.
fn mentions(program: &Program, of: Ref) -> Refs {
    let mut found = Refs::new();
    let types = |ty: &Type, found: &mut Refs| {
        ty.each_named(&mut |named| {
            found.insert(named.into());
        })
    };
    match of.kind {
        RefKind::Function => {
            let (_, function) = program.functions().find(|(other, _)| Ref::from(*other) == of).unwrap();
            let head = function.head();
            head.params.iter().chain(&head.captures).for_each(|param| types(&param.ty, &mut found));
            head.results.iter().for_each(|ty| types(ty, &mut found));
            function.body().variables().for_each(|(_, variable)| types(&variable.ty, &mut found));
            for (_, region) in function.body().regions() {
                region.params.iter().for_each(|param| types(&param.ty, &mut found));
            }
            for (_, node) in function.body().nodes() {
                node.op().each_mention(&mut |named| {
                    let inner = named.kind == RefKind::Node
                        || function.body().variables().any(|(of, _)| Ref::from(of) == named);
                    if !inner {
                        found.insert(named);
                    }
                });
            }
        }
        RefKind::Type => {
            let (_, def) = program.types().find(|(other, _)| Ref::from(*other) == of).unwrap();
            def.part_types().into_iter().for_each(|ty| types(ty, &mut found));
            let states = |function: &Function| function.states_invariants_of().map(Ref::from) == Some(of);
            let stating = program.functions().filter(|(_, function)| states(function));
            found.extend(stating.map(|(function, _)| Ref::from(function)));
        }
        RefKind::Variable => {
            let (_, storage) = program.all_storage().find(|(other, _)| Ref::from(*other) == of).unwrap();
            storage.kind.each_mention(&mut |named| {
                found.insert(named);
            });
        }
        _ => {}
    }
    found
}

fn reached(program: &Program, from: Refs) -> Refs {
    let mut found = from;
    loop {
        let more: Refs = found.iter().flat_map(|of| mentions(program, *of)).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

/// Functions that nothing reaches, and dead nodes of others.
pub(crate) fn dead_code(program: &Program) -> Refs {
    let mut roots = Refs::new();
    for (of, function) in program.functions() {
        let head = function.head();
        let open = head.visibility == Visibility::Public || head.start;
        if open || !head.exports.is_empty() || !head.runs.is_empty() {
            roots.insert(of.into());
        }
    }
    for (of, storage) in program.all_storage() {
        let table = matches!(storage.kind, StorageKind::Table { .. } | StorageKind::Elements { .. });
        if table || storage.visibility == Visibility::Public || !storage.exports.is_empty() {
            roots.insert(of.into());
        }
    }
    let live = reached(program, roots);
    let mut found = Refs::new();
    for (of, function) in program.functions() {
        if !live.contains(&of.into()) {
            found.insert(of.into());
            continue;
        }
        let mut dead: BTreeSet<NodeRef> = BTreeSet::new();
        loop {
            let used = |of: NodeRef, dead: &BTreeSet<NodeRef>| {
                let mut others = function.body().nodes().filter(|(other, _)| !dead.contains(other));
                others.any(|(_, node)| {
                    node.inputs()
                        .iter()
                        .any(|source| matches!(source, Some(Source::Node(from, _)) if from == of))
                })
            };
            let pure = |node: &Node| node.op().spec().effect == Effect::Pure;
            let more: Vec<NodeRef> = function
                .body()
                .nodes()
                .filter(|(of, node)| pure(node) && !dead.contains(of) && !used(*of, &dead))
                .map(|(of, _)| of)
                .collect();
            if more.is_empty() {
                break;
            }
            dead.extend(more);
        }
        found.extend(dead.into_iter().map(Ref::from));
    }
    found
}

/// Types that nothing comes to from functions and storage.
pub(crate) fn unused_types(program: &Program) -> Refs {
    let functions = program.functions().map(|(of, _)| Ref::from(of));
    let used = reached(program, functions.chain(program.all_storage().map(|(of, _)| of.into())).collect());
    program.types().map(|(of, _)| Ref::from(of)).filter(|of| !used.contains(of)).collect()
}

/// Whether the types of a function are those of a call that names none.
fn fits(program: &Program, callee: FuncRef, params: &[Type], results: &[Type]) -> bool {
    let head = program.function(callee).unwrap().head();
    head.results == results && head.params.iter().map(|param| &param.ty).eq(params)
}

/// The functions that a node may call.
fn callees(program: &Program, node: &Node) -> Vec<FuncRef> {
    let taken = |code: Opcode| {
        let all = nodes(program).into_iter().filter(move |(_, _, node)| node.op().code() == code);
        all.filter_map(|(_, _, node)| match node.op().attr() {
            Attr::Function(of) => Some(*of),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    match (node.op().code(), node.op().attr()) {
        (Opcode::Call, Attr::Function(of)) => vec![*of],
        (Opcode::ClosureCall, Attr::Signature(of)) => {
            let made = taken(Opcode::ClosureNew).into_iter();
            made.filter(|callee| fits(program, *callee, &of.params, &of.results)).collect()
        }
        (Opcode::CallIndirect, Attr::Indirect(_, of)) => {
            let mut taken = taken(Opcode::FuncRef);
            for (_, storage) in program.all_storage() {
                match &storage.kind {
                    StorageKind::Table { entries, .. } | StorageKind::Elements { entries, .. } => {
                        taken.extend(entries.iter().flatten().filter_map(|entry| entry.function()));
                    }
                    StorageKind::Global { initial: Initial::Function(of), .. } => taken.push(*of),
                    _ => {}
                }
            }
            taken.into_iter().filter(|callee| fits(program, *callee, &of.params, &of.results)).collect()
        }
        (_, _) => Vec::new(),
    }
}

/// The functions that state invariants of what enters and leaves a function.
fn checking(program: &Program, of: &Function) -> Vec<FuncRef> {
    let types = checked_types(program, of);
    let states = |function: &Function| function.states_invariants_of().is_some_and(|of| types.contains(&of));
    program.functions().filter(|(_, function)| states(function)).map(|(of, _)| of).collect()
}

/// Functions with a property, themselves or by what they may call; `looks` where what only looks counts too.
fn spread(
    program: &Program,
    looks: bool,
    own: impl Fn(FuncRef) -> bool,
    counts: impl Fn(FuncRef, &Node) -> bool,
) -> Refs {
    let mut found: BTreeSet<FuncRef> = program.functions().map(|(of, _)| of).filter(|of| own(*of)).collect();
    let mut calls: Vec<(FuncRef, Vec<FuncRef>)> = nodes(program)
        .into_iter()
        .filter(|(of, _, node)| counts(*of, node))
        .map(|(of, _, node)| (of, callees(program, node)))
        .filter(|(_, callees)| !callees.is_empty())
        .collect();
    if looks {
        calls.extend(program.functions().map(|(of, function)| (of, checking(program, function))));
    }
    loop {
        let before = found.len();
        for (caller, callees) in &calls {
            if callees.iter().any(|callee| found.contains(callee)) {
                found.insert(*caller);
            }
        }
        if found.len() == before {
            return found.into_iter().map(Ref::from).collect();
        }
    }
}

/// Functions that may trap.
pub(crate) fn may_trap(program: &Program) -> Refs {
    let own = |of: FuncRef| {
        let function = program.function(of).unwrap();
        let traps = |node: &Node| !node.op().spec().traps.is_empty() || node.op().code() == Opcode::Raw;
        function.head().import.is_some() || function.body().nodes().any(|(_, node)| traps(node))
    };
    spread(program, true, own, |_, _| true)
}

/// Functions that do more than compute.
pub(crate) fn has_effect(program: &Program) -> Refs {
    let in_contract = |of: FuncRef, node: &Node| {
        let body = program.function(of).unwrap().body();
        let mut region = node.region();
        loop {
            match body.region(region).unwrap().owner {
                RegionOwner::Function => return false,
                RegionOwner::Contract(_) => return true,
                RegionOwner::Node(owner) => region = body.node(owner).unwrap().region(),
            }
        }
    };
    let shared = |node: &Node| match node.op().attr() {
        Attr::Indirect(table, _) => {
            let table = program.storage(*table).unwrap();
            table.import.is_some() || !table.exports.is_empty()
        }
        _ => false,
    };
    let acts = |node: &Node| {
        let local = ["var.get", "var.set"].contains(&node.op().code().mnemonic());
        match node.op().spec().effect {
            Effect::Reads | Effect::Writes => !local,
            Effect::Io => true,
            Effect::Calls => shared(node),
            Effect::Pure | Effect::Traps | Effect::Control => false,
        }
    };
    let own = |of: FuncRef| {
        let function = program.function(of).unwrap();
        let host = function.head().import.is_some() && function.head().effect_bound != EffectBound::Pure;
        host || function.body().nodes().any(|(_, node)| acts(node) && !in_contract(of, node))
    };
    spread(program, false, own, |of, node| !in_contract(of, node))
}

/// Who mentions a function: its callers, and who refers to it.
pub(crate) fn callers(program: &Program, of: FuncRef) -> Refs {
    let named = |node: &Node| *node.op().attr() == Attr::Function(of);
    nodes(program).into_iter().filter(|(_, _, node)| named(node)).map(|(caller, ..)| caller.into()).collect()
}

/// All that mentions something, directly or not.
pub(crate) fn dependents(program: &Program, of: Ref) -> Refs {
    let functions = program.functions().map(|(of, _)| Ref::from(of));
    let types = program.types().map(|(of, _)| Ref::from(of));
    let all: Vec<(Ref, Refs)> = functions
        .chain(types)
        .chain(program.all_storage().map(|(of, _)| of.into()))
        .map(|of| (of, mentions(program, of)))
        .collect();
    let mut found = Refs::from([of]);
    loop {
        let before = found.len();
        for (user, named) in &all {
            if named.iter().any(|of| found.contains(of)) {
                found.insert(*user);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

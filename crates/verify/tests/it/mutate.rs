//! Random changes that aim at what the rules look at.

use std::sync::Arc;

use lmlang_ir::ops::{Attr, Opcode};
use lmlang_ir::*;
use lmlang_testkit::Choices;

use crate::build::{number, op, plain};

/// What was taken out and may come back with its ref.
pub(crate) type Bin = Vec<(FuncRef, NodeRef, NodeContent)>;

/// Makes one change, if the structure allows it.
pub(crate) fn mutate(program: &mut Program, refs: &mut RefAllocator, bin: &mut Bin, choices: &mut Choices) {
    match choices.below(12) {
        0..=3 => node(program, refs, choices),
        4 => shift(program, choices),
        5 => recycle(program, bin, choices),
        6 => head(program, choices),
        7 => type_def(program, refs, choices),
        8 => storage(program, refs, choices),
        9 => region(program, choices),
        10 => listing(program, choices),
        _ => module(program, choices),
    }
}

fn exports(choices: &mut Choices) -> Vec<Name> {
    let names = ["out", "other"].into_iter().filter(|_| choices.chance(60));
    names.map(Name::from).collect()
}

fn some<T: Clone>(all: impl Iterator<Item = T>, choices: &mut Choices) -> Option<T> {
    let all: Vec<T> = all.collect();
    choices.pick(&all).cloned()
}

fn function(program: &Program, choices: &mut Choices) -> Option<FuncRef> {
    some(program.functions().map(|(of, _)| of), choices)
}

fn node_of(program: &Program, of: FuncRef, choices: &mut Choices) -> Option<NodeRef> {
    some(program.function(of)?.body().nodes().map(|(node, _)| node), choices)
}

fn ty(program: &Program, choices: &mut Choices) -> Type {
    let named = some(program.types().map(|(of, _)| Type::Named(of)), choices).unwrap_or(Type::I64);
    match choices.below(8) {
        0 => Type::I64,
        1 => Type::BOOL,
        2 => Type::Ptr(Arc::new(named)),
        3 => Type::Option(Arc::new(named)),
        4 => Type::Box(Arc::new(named)),
        5 => named,
        _ => Type::I32,
    }
}

/// Any value that the function has.
fn source(program: &Program, of: FuncRef, choices: &mut Choices) -> Option<Source> {
    let body = program.function(of)?.body();
    match choices.below(10) {
        0 => Some(Source::Param(of, choices.below(2) as u16)),
        1 => some(body.regions().map(|(region, _)| Source::RegionParam(region, 0)), choices),
        2 => None,
        _ => Some(Source::Node(node_of(program, of, choices)?, 0)),
    }
}

/// Rewrites a node: another operator that fits its inputs, another source, an exit to another target.
fn node(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) {
    let Some(of) = function(program, choices) else { return };
    let Some(node) = node_of(program, of, choices) else { return };
    let Some(body) = program.function(of).map(|function| function.body().clone()) else { return };
    let Some(mut content) = body.node(node).map(Node::content) else { return };
    let around: Vec<NodeRef> = body
        .chain(body.node(node).map_or_else(|| unreachable!("it was found"), Node::region))
        .take(50)
        .filter_map(|region| match body.region(region)?.owner {
            RegionOwner::Node(owner) => Some(owner),
            RegionOwner::Function | RegionOwner::Contract(_) => None,
        })
        .collect();
    let target = choices.pick(&around).copied().unwrap_or(node);
    let variable = some(body.variables().map(|(variable, _)| variable), choices);
    let callee = function(program, choices).unwrap_or(of);
    let fresh = match choices.below(14) {
        0 => Some(op(Opcode::Break, Attr::Exit(target))),
        1 => Some(op(Opcode::BreakIf, Attr::Exit(target))),
        2 => Some(op(Opcode::Continue, Attr::Exit(target))),
        3 => Some(plain(Opcode::Yield)),
        4 => Some(plain(Opcode::Return)),
        5 => Some(plain(Opcode::Unreachable)),
        6 => variable.map(|variable| op(Opcode::VarGet, Attr::Variable(variable))),
        7 => Some(Op::call(callee)),
        8 => Some(number(1)),
        9 => Some(op(Opcode::BrSwitch, Attr::Switch(Arc::new([Exit::Break(target), Exit::Return])))),
        10 => match content.op.attr() {
            Attr::Control(control) => {
                let mut control = Control::clone(control);
                if control.results.pop().is_none() {
                    control.results.push(ty(program, choices));
                }
                Op::new(content.op.code(), Attr::Control(Arc::new(control)))
            }
            Attr::Match(cases) => {
                let mut cases = Match::clone(cases);
                cases.cases.pop();
                Op::new(Opcode::Match, Attr::Match(Arc::new(cases)))
            }
            _ => None,
        },
        _ => None,
    };
    let source = source(program, of, choices);
    let Some(region) = body.node(node).map(Node::region) else { return };
    let insert = choices.chance(40);
    let Ok(mut function) = program.function_mut(of) else { return };
    // A change that the structure does not allow changes nothing.
    match fresh {
        Some(fresh) if insert => {
            let Some(new) = refs.allocate_in(of).and_then(NodeRef::new) else { return };
            let after = body.previous(node);
            drop(function.insert_node(new, region, after, NodeContent::new(fresh, [source])));
        }
        Some(fresh) => {
            content.op = fresh;
            drop(function.set_node(node, content));
        }
        None => drop(function.set_input(node, choices.below(content.inputs.len()), source)),
    }
}

/// Moves a run of nodes within its region, or a node to another one.
fn shift(program: &mut Program, choices: &mut Choices) {
    let Some(of) = function(program, choices) else { return };
    let Some(node) = node_of(program, of, choices) else { return };
    let Some(body) = program.function(of).map(|function| function.body().clone()) else { return };
    let Some(region) = body.node(node).map(Node::region) else { return };
    let run: Vec<NodeRef> =
        std::iter::once(node).chain(body.nodes_after(region, node)).take(1 + choices.below(30)).collect();
    let anchors = body.nodes_in(region).filter(|other| !run.contains(other)).map(Some).chain([None]);
    let mut anchor = some(anchors, choices).flatten();
    let Ok(mut function) = program.function_mut(of) else { return };
    for node in run {
        if function.move_node(node, region, anchor).is_err() {
            return;
        }
        anchor = Some(node);
    }
}

/// Takes a node out, or puts one back at another place.
fn recycle(program: &mut Program, bin: &mut Bin, choices: &mut Choices) {
    if choices.chance(50)
        && let Some((of, node, content)) = bin.pop()
    {
        let Some(region) =
            program.function(of).and_then(|f| some(f.body().regions().map(|(region, _)| region), choices))
        else {
            return;
        };
        if let Ok(mut function) = program.function_mut(of) {
            drop(function.insert_node(node, region, None, content));
        }
        return;
    }
    let Some(of) = function(program, choices) else { return };
    let Some(node) = node_of(program, of, choices) else { return };
    let drops_regions = choices.chance(50);
    let Ok(mut function) = program.function_mut(of) else { return };
    let Some(mut content) = function.body().node(node).map(Node::content) else { return };
    if drops_regions {
        let full = content.clone();
        content.regions.clear();
        if function.set_node(node, content).is_ok() && function.remove_node(node).is_ok() {
            bin.push((of, node, full));
        }
    } else if function.remove_node(node).is_ok() {
        bin.push((of, node, content));
    }
}

fn head(program: &mut Program, choices: &mut Choices) {
    let Some(of) = function(program, choices) else { return };
    let Some(mut head) = program.function(of).map(|function| function.head().clone()) else { return };
    let module = some(program.modules().map(|(of, _)| of), choices).unwrap_or(head.module);
    let param = Param { name: "extra".into(), ty: ty(program, choices) };
    match choices.below(11) {
        0 => head.visibility = Visibility::Public,
        1 => head.visibility = Visibility::Private,
        2 => head.effect_bound = EffectBound::Reads,
        3 => head.effect_bound = EffectBound::Pure,
        4 if head.captures.is_empty() => head.captures.push(param),
        4 => head.captures.clear(),
        5 if head.results.is_empty() => head.results.push(param.ty),
        5 => drop(head.results.pop()),
        6 if head.params.is_empty() => head.params.push(param),
        6 => drop(head.params.pop()),
        7 => head.exports = exports(choices),
        8 => head.start = !head.start,
        9 => head.module = module,
        _ => head.name = "same".into(),
    }
    if let Ok(mut function) = program.function_mut(of) {
        function.set_head(head);
    }
}

fn type_def(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) {
    let Some(of) = some(program.types().map(|(of, _)| of), choices) else { return };
    let Some(mut def) = program.type_def(of).map(|def| TypeDef::clone(def)) else { return };
    let part = ty(program, choices);
    let Some(member) = refs.allocate().and_then(MemberRef::new) else { return };
    let at = choices.below(3);
    match (&mut def.shape, choices.below(5)) {
        (Shape::Struct(fields), 0) => {
            fields.push(Field { member, name: format!("x{member}").into(), ty: part, doc: None });
        }
        (Shape::Struct(fields), 1 | 2) => {
            fields.iter_mut().skip(at).take(1).for_each(|field| field.ty = part.clone());
        }
        (Shape::Enum(variants), 0) => {
            let payload = choices.chance(50).then_some(part);
            variants.push(VariantDef { member, name: format!("x{member}").into(), payload, doc: None });
        }
        (Shape::Enum(variants), 1 | 2) => {
            variants.iter_mut().skip(at).take(1).for_each(|variant| variant.payload = Some(part.clone()));
        }
        (_, 3) => def.visibility = Visibility::Private,
        (_, _) => def.name = "same".into(),
    }
    drop(program.set_type(of, def));
}

fn storage(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) {
    let all: Vec<(VarRef, Storage)> = program.all_storage().map(|(of, one)| (of, one.clone())).collect();
    let Some((of, mut one)) = choices.pick(&all).cloned() else { return };
    let part = ty(program, choices);
    match (&mut one.kind, choices.below(4)) {
        (StorageKind::Global { mutable, .. }, 0) => *mutable = !*mutable,
        (StorageKind::Global { ty, .. }, 1) => *ty = part,
        (StorageKind::Memory { .. }, 0) => {
            let Some(fresh) = refs.allocate().and_then(VarRef::new) else { return };
            one.name = format!("memory{fresh}").into();
            drop(program.add_storage(fresh, one));
            return;
        }
        (StorageKind::Memory { .. }, 1) => {
            drop(program.remove_storage(of));
            return;
        }
        (_, 2) => one.exports = exports(choices),
        (_, _) => one.visibility = Visibility::Private,
    }
    drop(program.set_storage(of, one));
}

fn region(program: &mut Program, choices: &mut Choices) {
    let Some(of) = function(program, choices) else { return };
    let part = ty(program, choices);
    let Ok(mut function) = program.function_mut(of) else { return };
    let Some((region, mut record)) = some(function.body().regions().map(|(of, r)| (of, r.clone())), choices)
    else {
        return;
    };
    match choices.below(3) {
        0 => record.params.push(RegionParam { name: None, ty: part }),
        1 => drop(record.params.pop()),
        _ => record.role = RegionRole::Else,
    }
    drop(function.set_region(region, record));
}

/// Makes a node list other regions, its own or those of others.
fn listing(program: &mut Program, choices: &mut Choices) {
    let Some(of) = function(program, choices) else { return };
    let Ok(mut function) = program.function_mut(of) else { return };
    let owners = function.body().nodes().filter(|(_, node)| node.op().owns_regions());
    let Some((node, mut content)) = some(owners.map(|(of, node)| (of, node.content())), choices) else {
        return;
    };
    let other = some(function.body().regions().map(|(region, _)| region), choices);
    match choices.below(4) {
        0 => content.regions.reverse(),
        1 => drop(content.regions.pop()),
        2 => content.regions.extend(other),
        _ => content.regions.extend(RegionRef::new(1 + choices.below(300) as u64)),
    }
    drop(function.set_node(node, content));
}

fn module(program: &mut Program, choices: &mut Choices) {
    let all: Vec<ModuleRef> = program.modules().map(|(of, _)| of).collect();
    let (Some(of), Some(parent)) = (choices.pick(&all).copied(), choices.pick(&all).copied()) else { return };
    let Some(mut record) = program.module(of).cloned() else { return };
    match choices.below(4) {
        0 => record.visibility = Visibility::Private,
        1 => record.visibility = Visibility::Public,
        2 => record.parent = Some(parent),
        _ => record.name = "same".into(),
    }
    drop(program.set_module(of, record));
}

//! Changes after which a well-typed program is still one.

use lmlang_ir::builder::{Builder, FunctionBuilder};
use lmlang_ir::ops::OPS;
use lmlang_ir::ops::signature::{outputs, source_type};
use lmlang_ir::{
    Attr, Body, Const, EffectBound, FuncRef, Function, NodeContent, NodeRef, Op, Opcode, Program, Ref,
    RefAllocator, RegionOwner, RegionRef, Scalar, Source, StorageKind, Type, VarRef, Visibility,
};

use crate::choices::Choices;
use crate::generate::body::{BodyWriter, Frame};
use crate::generate::values::constant;
use crate::generate::world::{self, World};
use crate::generate::{Options, fill};

/// Makes one change; `None` where what was chosen does not fit, and nothing has changed.
///
/// A program without errors has none afterwards, without holes none either. What it computes may be anything else.
pub fn typed(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
    options: &Options,
) -> Option<()> {
    match choices.below(20) {
        0..=4 => add_statement(program, refs, choices, options),
        5 | 6 => reconnect(program, choices),
        7 | 8 => change_constant(program, choices),
        9 | 10 => change_operator(program, choices),
        11 | 12 => remove_unused(program, choices),
        13 => swap_with_next(program, choices),
        14 => write_about(program, choices),
        15 => change_head(program, choices),
        16 => add_variable(program, refs, choices),
        17 => add_global(program, refs, choices),
        18 => add_function(program, refs, choices, options),
        _ => remove_function(program, choices),
    }
}

/// A function with a body in which there may be something: that of one that states invariants stays bare.
fn some_function(program: &Program, choices: &mut Choices) -> Option<FuncRef> {
    let written = program.functions().filter(|(_, function)| {
        function.body().root().is_some() && function.states_invariants_of().is_none()
    });
    let all: Vec<FuncRef> = written.map(|(of, _)| of).collect();
    choices.pick(&all).copied()
}

fn some_node(
    program: &Program,
    choices: &mut Choices,
    fits: impl Fn(&Body, NodeRef) -> bool,
) -> Option<(FuncRef, NodeRef)> {
    let of = some_function(program, choices)?;
    let body = program.function(of)?.body();
    let nodes: Vec<NodeRef> = body.nodes().map(|(node, _)| node).filter(|node| fits(body, *node)).collect();
    choices.pick(&nodes).map(|node| (of, *node))
}

/// What can be used right after a node of a region, or at its front, the nearest last.
struct Scope {
    values: Vec<(Type, Source)>,
    frames: Vec<Frame>,
    contract: bool,
}

fn scope(
    program: &Program,
    of: FuncRef,
    function: &Function,
    region: RegionRef,
    after: Option<NodeRef>,
) -> Option<Scope> {
    let body = function.body();
    let mut scope = Scope { values: Vec::new(), frames: Vec::new(), contract: false };
    let (mut at, mut after) = (region, after);
    // From the inside to the outside; turned around at the end.
    loop {
        let mut here: Vec<NodeRef> = Vec::new();
        if let Some(last) = after {
            here.extend(body.nodes_in(at).take_while(|node| *node != last));
            here.push(last);
        }
        for node in here.into_iter().rev() {
            let types = outputs(program, function, body.node(node)?)?;
            let given = (0u16..).zip(types).map(|(port, ty)| (ty, Source::Node(node, port)));
            scope.values.extend(given.collect::<Vec<_>>().into_iter().rev());
        }
        let record = body.region(at)?;
        let params = (0u16..).zip(&record.params);
        scope.values.extend(params.map(|(index, param)| (param.ty.clone(), Source::RegionParam(at, index))));
        match record.owner {
            RegionOwner::Function => break,
            RegionOwner::Contract(_) => {
                scope.contract = true;
                break;
            }
            RegionOwner::Node(owner) => {
                let content = body.node(owner)?;
                let results = outputs(program, function, content)?.to_vec();
                scope.frames.push(Frame { node: owner, results, round: None });
                (at, after) = (content.region(), body.previous(owner));
            }
        }
    }
    let params = (0u16..).zip(&function.head().params);
    scope.values.extend(params.map(|(index, param)| (param.ty.clone(), Source::Param(of, index))));
    scope.values.reverse();
    scope.frames.reverse();
    Some(scope)
}

fn add_statement(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
    options: &Options,
) -> Option<()> {
    let of = some_function(program, choices)?;
    let function = program.function(of)?.clone();
    let body = function.body();
    let regions: Vec<RegionRef> = body.regions().map(|(region, _)| region).collect();
    let region = *choices.pick(&regions)?;
    let end = body.terminator(region);
    let mut places = vec![None];
    places.extend(body.nodes_in(region).map(Some).filter(|node| *node != end));
    let after = choices.pick(&places).copied().flatten();
    let scope = scope(program, of, &function, region, after)?;
    let world = World::of(program, options);
    let mut builder = FunctionBuilder::open(program, refs, of).ok()?;
    builder.go(region, after).ok()?;
    let head = function.head().clone();
    let mut writer = BodyWriter::new(&world, options, choices, builder, head);
    if scope.contract {
        (writer.contract, writer.bound) = (true, writer.bound.min(EffectBound::Reads));
    } else {
        let variables = body.variables().map(|(variable, record)| (variable, record.ty.clone()));
        writer.variables = variables.collect();
    }
    (writer.scope, writer.frames, writer.budget) = (scope.values, scope.frames, 8);
    writer.statement();
    Some(())
}

/// Gives an input another value of its type.
fn reconnect(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let (of, node) = some_node(program, choices, |body, node| {
        body.node(node).is_some_and(|content| !content.inputs().is_empty())
    })?;
    let function = program.function(of)?;
    let content = function.body().node(node)?;
    let input = choices.below(content.inputs().len());
    let ty = source_type(program, function, content.inputs().get(input)?)?;
    let before = function.body().previous(node);
    let scope = scope(program, of, function, content.region(), before)?;
    let fitting: Vec<Source> =
        scope.values.into_iter().filter(|(other, _)| *other == ty).map(|(_, source)| source).collect();
    let source = *choices.pick(&fitting)?;
    program.function_mut(of).ok()?.set_input(node, input, Some(source)).ok().map(drop)
}

fn set(
    program: &mut Program,
    of: FuncRef,
    node: NodeRef,
    change: impl FnOnce(NodeContent) -> NodeContent,
) -> Option<()> {
    let content = program.function(of)?.body().node(node)?.content();
    program.function_mut(of).ok()?.set_node(node, change(content)).ok().map(drop)
}

fn change_constant(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let (of, node) = some_node(program, choices, |body, node| {
        body.node(node).is_some_and(|content| content.op().code() == Opcode::Const)
    })?;
    let ty = match program.function(of)?.body().node(node)?.op().attr() {
        Attr::Const(value) => value.ty(),
        _ => return None,
    };
    let value = constant(choices, &ty)?;
    set(program, of, node, |content| NodeContent { op: Op::constant(value), ..content })
}

/// Puts another operator with the same ports and attribute in the place of one.
fn change_operator(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let plain = |op: &Op| matches!(op.attr(), Attr::Scalar(_));
    let (of, node) =
        some_node(program, choices, |body, node| body.node(node).is_some_and(|content| plain(content.op())))?;
    let op = program.function(of)?.body().node(node)?.op().clone();
    let spec = op.spec();
    let ports = |of: &[lmlang_ir::ops::Port]| of.iter().map(|port| port.ty).collect::<Vec<_>>();
    let alike = |other: &&lmlang_ir::OpSpec| {
        ports(other.inputs) == ports(spec.inputs)
            && ports(other.outputs) == ports(spec.outputs)
            && other.effect <= lmlang_ir::Effect::Traps
    };
    let others: Vec<Op> =
        OPS.iter().filter(alike).filter_map(|other| Op::new(other.code, op.attr().clone())).collect();
    let op = choices.pick(&others)?.clone();
    set(program, of, node, |content| NodeContent { op, ..content })
}

fn is_unused(body: &Body, node: NodeRef) -> bool {
    body.users_of(node.number()).next().is_none()
        && body
            .node(node)
            .is_some_and(|content| !content.op().is_terminator() && content.regions().is_empty())
}

fn remove_unused(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let (of, node) = some_node(program, choices, is_unused)?;
    program.function_mut(of).ok()?.remove_node(node).ok().map(drop)
}

/// Tells whether a node stands in a region of another one, at any depth.
fn is_inside(body: &Body, node: NodeRef, outer: NodeRef) -> bool {
    let around = body.node(node).map(|content| content.region());
    around
        .into_iter()
        .flat_map(|region| body.chain(region))
        .any(|region| body.region(region).is_some_and(|record| record.owner == RegionOwner::Node(outer)))
}

fn swap_with_next(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let (of, node) = some_node(program, choices, |body, node| {
        body.node(node).is_some_and(|content| !content.op().is_terminator())
    })?;
    let body = program.function(of)?.body();
    let next = body.next(node).filter(|next| body.node(*next).is_some_and(|n| !n.op().is_terminator()))?;
    let needs = |user: NodeRef| user == next || is_inside(body, user, next);
    if body.uses_of(node.number()).any(|one| needs(one.node)) {
        return None;
    }
    let region = body.node(node)?.region();
    program.function_mut(of).ok()?.move_node(node, region, Some(next)).ok().map(drop)
}

fn write_about(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let (of, node) = some_node(program, choices, |_, _| true)?;
    let name = choices.chance(70).then(|| format!("name{}", choices.below(4)).into());
    let doc = choices.chance(30).then(|| "changed".into());
    set(program, of, node, |content| NodeContent { name, doc, ..content })
}

fn change_head(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let of = some_function(program, choices)?;
    let mut head = program.function(of)?.head().clone();
    match choices.below(3) {
        0 => head.name = format!("renamed{}x{}", of.number(), choices.below(3)).into(),
        1 => head.visibility = Visibility::Public,
        _ => head.doc = Some("changed".into()),
    }
    program.function_mut(of).ok()?.set_head(head);
    Some(())
}

fn add_variable(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) -> Option<()> {
    let of = some_function(program, choices)?;
    let ty = Type::Scalar(*choices.pick(&Scalar::ALL)?);
    FunctionBuilder::open(program, refs, of).ok()?.variable(Some("added".into()), ty);
    Some(())
}

fn add_global(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) -> Option<()> {
    let module = program.modules().next()?.0;
    let initial = Const::I64(choices.bits() as i64).into();
    let kind = StorageKind::Global { ty: Type::I64, mutable: true, initial };
    let name = format!("global_{}", refs.watermark());
    let _: VarRef = Builder::new(program, refs).storage(module, name, kind);
    Some(())
}

fn add_function(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
    options: &Options,
) -> Option<()> {
    let modules: Vec<_> = program.modules().map(|(of, _)| of).collect();
    let types = World::of(program, options).types;
    let mut head = world::head(choices, options, &modules, 0, &types);
    head.name = format!("function_{}", refs.watermark()).into();
    let of = Builder::new(program, refs).declare(head);
    let world = World::of(program, options);
    let small = Options { nodes: 8, ..options.clone() };
    fill(program, refs, &world, of, choices, &small);
    Some(())
}

fn remove_function(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let unused = |of: &FuncRef| {
        let of = Ref::from(*of);
        program.users_of(of).all(|(user, _)| user == of)
    };
    let unused: Vec<FuncRef> = program.functions().map(|(of, _)| of).filter(unused).collect();
    let of = *choices.pick(&unused).filter(|_| program.totals().functions > 1)?;
    program.remove_function(of).ok().map(drop)
}

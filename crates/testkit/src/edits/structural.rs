//! Changes that keep the structure and nothing else.

use std::sync::Arc;

use lmlang_ir::builder::params;
use lmlang_ir::ops::OPS;
use lmlang_ir::{
    Attr, Const, Contract, ContractKind, ContractRef, Control, FuncRef, FunctionHead, Initial, Module,
    ModuleRef, NodeContent, NodeRef, Offset, Op, Opcode, Program, Ref, RefAllocator, RefKind, Region,
    RegionOwner, RegionParam, RegionRef, RegionRole, Scalar, Shape, Source, Storage, StorageKind,
    StructureError, TableEntry, Type, TypeDef, TypeRef, VarRef, Variable, Visibility,
};

use crate::choices::Choices;

/// Makes one change, or tells why the structure does not allow it; then the program is as it was.
pub fn structural(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    match choices.below(24) {
        0..=5 => insert_node(program, refs, choices),
        6..=8 => set_input(program, choices),
        9 | 10 => set_node(program, choices),
        11 | 12 => move_node(program, choices),
        13 | 14 => remove_node(program, choices),
        15 => change_region(program, refs, choices),
        16 => change_variable(program, refs, choices),
        17 => change_contract(program, refs, choices),
        18 => set_head(program, choices),
        19 => change_function(program, refs, choices),
        20 => change_type(program, refs, choices),
        21 => change_storage(program, refs, choices),
        22 => change_module(program, refs, choices),
        _ => add_region(program, refs, choices),
    }
}

/// The reason when there is nothing to change.
fn nothing() -> StructureError {
    StructureError::Missing(Ref { kind: RefKind::Function, number: 1 })
}

fn number(refs: &mut RefAllocator) -> Result<u64, StructureError> {
    refs.allocate().ok_or_else(nothing)
}

fn some_function(program: &Program, choices: &mut Choices) -> Result<FuncRef, StructureError> {
    let all: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
    choices.pick(&all).copied().ok_or_else(nothing)
}

fn some_node(program: &Program, of: FuncRef, choices: &mut Choices) -> Result<NodeRef, StructureError> {
    let nodes: Vec<NodeRef> =
        program.function(of).into_iter().flat_map(|f| f.body().nodes().map(|(node, _)| node)).collect();
    choices.pick(&nodes).copied().ok_or_else(nothing)
}

fn some_region(program: &Program, of: FuncRef, choices: &mut Choices) -> Result<RegionRef, StructureError> {
    let regions: Vec<RegionRef> =
        program.function(of).into_iter().flat_map(|f| f.body().regions().map(|(region, _)| region)).collect();
    choices.pick(&regions).copied().ok_or_else(nothing)
}

fn some_module(program: &Program, choices: &mut Choices) -> Result<ModuleRef, StructureError> {
    let all: Vec<ModuleRef> = program.modules().map(|(of, _)| of).collect();
    choices.pick(&all).copied().ok_or_else(nothing)
}

/// A place to stand at: a region, and a node of it or its front.
fn some_place(
    program: &Program,
    of: FuncRef,
    choices: &mut Choices,
) -> Result<(RegionRef, Option<NodeRef>), StructureError> {
    let region = some_region(program, of, choices)?;
    let mut places = vec![None];
    places.extend(program.function(of).into_iter().flat_map(|f| f.body().nodes_in(region).map(Some)));
    Ok((region, choices.pick(&places).copied().flatten()))
}

/// Any source: in scope or not, existing or not.
fn some_source(program: &Program, of: FuncRef, choices: &mut Choices) -> Option<Source> {
    let port = choices.below(3) as u16;
    match choices.below(8) {
        0 => None,
        1 => Some(Source::Param(of, port)),
        2 => Some(Source::RegionParam(some_region(program, of, choices).ok()?, port)),
        3 => NodeRef::new(1 + choices.below(5_000) as u64).map(|node| Source::Node(node, port)),
        _ => Some(Source::Node(some_node(program, of, choices).ok()?, port)),
    }
}

fn some_type(program: &Program, choices: &mut Choices) -> Type {
    let named: Vec<TypeRef> = program.types().map(|(of, _)| of).collect();
    match choices.below(6) {
        0 => Type::I64,
        1 => Type::String,
        2 => Type::Option(Arc::new(Type::F32)),
        3 => Type::Named(TypeRef::new(1 + choices.below(500) as u64).expect("in range")),
        _ => choices.pick(&named).map_or(Type::I32, |of| Type::Array(Arc::new(Type::Named(*of)))),
    }
}

fn some_op(program: &Program, of: FuncRef, choices: &mut Choices) -> Op {
    let node = some_node(program, of, choices).or(NodeRef::new(7).ok_or_else(nothing)).expect("in range");
    let function = some_function(program, choices).unwrap_or(of);
    let variable = VarRef::new(1 + choices.below(100) as u64).expect("in range");
    let attrs = [
        Attr::None,
        Attr::Scalar(*choices.pick(&Scalar::ALL).unwrap_or(&Scalar::I32)),
        Attr::Const(Const::I64(choices.bits() as i64)),
        Attr::Function(function),
        Attr::Type(some_type(program, choices)),
        Attr::Exit(node),
        Attr::Variable(variable),
        Attr::Index(choices.below(3) as u32),
    ];
    for _ in 0..20 {
        let code = OPS[choices.below(OPS.len())].code;
        let attr = attrs[choices.below(attrs.len())].clone();
        if let Some(op) = Op::new(code, attr) {
            return op;
        }
    }
    Op::constant(Const::Unit)
}

fn content(program: &Program, of: FuncRef, choices: &mut Choices) -> NodeContent {
    let op = some_op(program, of, choices);
    let inputs: Vec<Option<Source>> =
        (0..choices.below(4)).map(|_| some_source(program, of, choices)).collect();
    NodeContent { name: choices.chance(20).then(|| "name".into()), ..NodeContent::new(op, inputs) }
}

fn insert_node(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let (region, after) = some_place(program, of, choices)?;
    let node = NodeRef::new(refs.allocate_in(of).ok_or_else(nothing)?).ok_or_else(nothing)?;
    let content = content(program, of, choices);
    program.function_mut(of)?.insert_node(node, region, after, content)
}

fn set_input(program: &mut Program, choices: &mut Choices) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let (node, source) = (some_node(program, of, choices)?, some_source(program, of, choices));
    let input = choices.below(3);
    program.function_mut(of)?.set_input(node, input, source).map(drop)
}

fn set_node(program: &mut Program, choices: &mut Choices) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let node = some_node(program, of, choices)?;
    let content = content(program, of, choices);
    let mut function = program.function_mut(of)?;
    // Regions stay with their owner: without them the tree would not be one.
    let regions = function.body().node(node).map(|node| node.regions().to_vec()).unwrap_or_default();
    function.set_node(node, NodeContent { regions, ..content }).map(drop)
}

fn move_node(program: &mut Program, choices: &mut Choices) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let node = some_node(program, of, choices)?;
    let (region, after) = some_place(program, of, choices)?;
    program.function_mut(of)?.move_node(node, region, after).map(drop)
}

/// Removes a node with everything in it, from the inside.
fn remove_node(program: &mut Program, choices: &mut Choices) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let node = some_node(program, of, choices)?;
    let mut function = program.function_mut(of)?;
    let mut found = vec![node];
    let mut at = 0;
    while let Some(node) = found.get(at).copied() {
        let regions = function.body().node(node).map(|node| node.regions().to_vec()).unwrap_or_default();
        for region in regions {
            found.extend(function.body().nodes_in(region));
        }
        at += 1;
    }
    for node in found.into_iter().rev() {
        let regions = function.body().node(node).map(|node| node.regions().to_vec()).unwrap_or_default();
        for region in regions {
            if function.body().region(region).is_some() {
                function.remove_region(region)?;
            }
        }
        function.remove_node(node)?;
    }
    Ok(())
}

/// Adds a node with regions of its own.
fn add_region(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let (region, after) = some_place(program, of, choices)?;
    let mut fresh = || refs.allocate_in(of).ok_or_else(nothing);
    let node = NodeRef::new(fresh()?).ok_or_else(nothing)?;
    let inner = RegionRef::new(fresh()?).ok_or_else(nothing)?;
    let control = Control { label: None, results: vec![some_type(program, choices)] };
    let op = Op::new(Opcode::Block, Attr::Control(Arc::new(control))).ok_or_else(nothing)?;
    let content = NodeContent { regions: vec![inner], ..NodeContent::new(op, []) };
    let params = vec![RegionParam { name: None, ty: some_type(program, choices) }];
    let mut function = program.function_mut(of)?;
    function.insert_node(node, region, after, content)?;
    function.add_region(inner, Region::new(RegionOwner::Node(node), RegionRole::Body, params))
}

fn change_region(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let fresh = RegionRef::new(refs.allocate_in(of).ok_or_else(nothing)?).ok_or_else(nothing)?;
    let Ok(region) = some_region(program, of, choices) else {
        let body = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
        return program.function_mut(of)?.add_region(fresh, body);
    };
    let ty = some_type(program, choices);
    let mut function = program.function_mut(of)?;
    if choices.chance(20) {
        return function.remove_region(region).map(drop);
    }
    let mut record = function.body().region(region).ok_or_else(nothing)?.clone();
    record.params = vec![RegionParam { name: Some("renamed".into()), ty }];
    function.set_region(region, record).map(drop)
}

fn change_variable(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let variable = Variable { name: None, ty: some_type(program, choices), doc: None };
    let fresh = VarRef::new(refs.allocate_in(of).ok_or_else(nothing)?).ok_or_else(nothing)?;
    let mut function = program.function_mut(of)?;
    let there: Vec<VarRef> = function.body().variables().map(|(of, _)| of).collect();
    match (choices.below(3), choices.pick(&there)) {
        (1, Some(old)) => function.set_variable(*old, variable).map(drop),
        (2, Some(old)) => function.remove_variable(*old).map(drop),
        (_, _) => function.add_variable(fresh, variable),
    }
}

fn change_contract(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let mut fresh = || refs.allocate_in(of).ok_or_else(nothing);
    let contract = ContractRef::new(fresh()?).ok_or_else(nothing)?;
    let region = RegionRef::new(fresh()?).ok_or_else(nothing)?;
    let mut function = program.function_mut(of)?;
    let there: Vec<(ContractRef, Contract)> =
        function.body().contracts().map(|(of, contract)| (of, contract.clone())).collect();
    match (choices.below(3), choices.pick(&there)) {
        (1, Some((old, record))) => {
            let record = Contract { message: "changed".into(), ..record.clone() };
            function.set_contract(*old, record).map(drop)
        }
        (2, Some((old, record))) => {
            function.remove_region(record.region)?;
            function.remove_contract(*old).map(drop)
        }
        (_, _) => {
            let kind = if choices.chance(50) { ContractKind::Require } else { ContractKind::Invariant };
            let message = "new".into();
            function.add_contract(contract, Contract { kind, message, region, doc: None })?;
            let owner = RegionOwner::Contract(contract);
            function.add_region(region, Region::new(owner, RegionRole::Contract, Vec::new()))
        }
    }
}

fn set_head(program: &mut Program, choices: &mut Choices) -> Result<(), StructureError> {
    let of = some_function(program, choices)?;
    let module = some_module(program, choices)?;
    let ty = some_type(program, choices);
    let mut function = program.function_mut(of)?;
    let mut head = function.head().clone();
    match choices.below(4) {
        0 => head.name = format!("renamed{}", choices.below(3)).into(),
        1 => head.module = module,
        2 => head.params = params([("p", ty)]),
        _ => head.results.push(ty),
    }
    function.set_head(head);
    Ok(())
}

/// Adds an empty function, takes one out, or takes one out and puts it back.
fn change_function(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    match choices.below(3) {
        0 => {
            let of = FuncRef::new(number(refs)?).ok_or_else(nothing)?;
            let module = some_module(program, choices)?;
            let ty = some_type(program, choices);
            program.add_function(of, FunctionHead::new("added", module, params([("p", ty)]), Vec::new()))
        }
        1 => {
            let of = some_function(program, choices)?;
            let function = program.remove_function(of)?;
            program.add_whole_function(of, function)
        }
        _ => {
            let of = some_function(program, choices)?;
            program.remove_function(of).map(drop)
        }
    }
}

fn change_type(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let there: Vec<TypeRef> = program.types().map(|(of, _)| of).collect();
    match (choices.below(3), choices.pick(&there).copied()) {
        (1, Some(old)) => {
            let mut def = (**program.type_def(old).ok_or_else(nothing)?).clone();
            match &mut def.shape {
                Shape::Struct(fields) => drop(fields.pop()),
                Shape::Enum(variants) => drop(variants.pop()),
            }
            def.name = "renamed".into();
            program.set_type(old, def).map(drop)
        }
        (2, Some(old)) => program.remove_type(old).map(drop),
        (_, _) => {
            let of = TypeRef::new(number(refs)?).ok_or_else(nothing)?;
            let member = lmlang_ir::MemberRef::new(number(refs)?).ok_or_else(nothing)?;
            let module = some_module(program, choices)?;
            let field =
                lmlang_ir::Field { member, name: "x".into(), ty: some_type(program, choices), doc: None };
            let (name, visibility) = ("Added".into(), Visibility::Public);
            let shape = Shape::Struct(vec![field]);
            program.add_type(of, TypeDef { name, module, visibility, shape, doc: None })
        }
    }
}

fn change_storage(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let there: Vec<VarRef> = program.all_storage().map(|(of, _)| of).collect();
    let function = some_function(program, choices).ok();
    let other = choices.pick(&there).copied();
    let kind = match (choices.below(5), other, function) {
        (0, _, _) => {
            let entries = vec![function.map(TableEntry::Function), None, other.map(TableEntry::Global)];
            StorageKind::Table { ty: Type::FuncRef, entries, max: None }
        }
        (1, Some(other), _) => {
            let (offset, bytes) = (Some(Offset::Global(other)), Arc::from(&b"there"[..]));
            StorageKind::Data { offset, bytes }
        }
        (at, other, function) => StorageKind::Global {
            ty: some_type(program, choices),
            mutable: true,
            initial: match (at, other, function) {
                (2, Some(other), _) => Initial::Global(other),
                (3, _, Some(function)) => Initial::Function(function),
                (_, _, _) => Const::I32(choices.below(9) as i32).into(),
            },
        },
    };
    let (name, module) = (format!("stored{}", choices.below(3)).into(), some_module(program, choices)?);
    let visibility = Visibility::Public;
    let storage = Storage { name, module, visibility, exports: Vec::new(), import: None, kind, doc: None };
    match (choices.below(3), choices.pick(&there).copied()) {
        (1, Some(old)) => program.set_storage(old, storage).map(drop),
        (2, Some(old)) => program.remove_storage(old).map(drop),
        (_, _) => program.add_storage(VarRef::new(number(refs)?).ok_or_else(nothing)?, storage),
    }
}

fn change_module(
    program: &mut Program,
    refs: &mut RefAllocator,
    choices: &mut Choices,
) -> Result<(), StructureError> {
    let old = some_module(program, choices);
    match (choices.below(3), old) {
        (1, Ok(old)) => {
            let record = program.module(old).ok_or_else(nothing)?.clone();
            let name = format!("module{}", choices.below(3)).into();
            program.set_module(old, Module { name, ..record }).map(drop)
        }
        (2, Ok(old)) => program.remove_module(old).map(drop),
        (_, parent) => {
            let of = ModuleRef::new(number(refs)?).ok_or_else(nothing)?;
            let (name, visibility) = ("added".into(), Visibility::Private);
            program.add_module(of, Module { name, parent: parent.ok(), visibility, doc: None, trailer: None })
        }
    }
}

//! Random programs and edits for the property tests: structure only, types and scopes as they come.

use std::sync::Arc;

use lmlang_ir::types::{Const, Scalar, Type};
use lmlang_ir::{
    Attr, Contract, ContractKind, ContractRef, Control, Field, FuncRef, Function, FunctionHead, MemberRef,
    Module, ModuleRef, NodeContent, NodeRef, Op, Opcode, Param, Program, Ref, RefAllocator, Region,
    RegionOwner, RegionParam, RegionRef, RegionRole, Shape, Source, Storage, StorageKind, TypeDef, TypeRef,
    VarRef, Variable, Visibility,
};
use proptest::prelude::*;

use crate::apply::apply_all;
use crate::edit::{Edit, FunctionEdit};

/// How many cases a property is tried on.
pub(crate) fn cases() -> u32 {
    if std::env::var_os("LMLANG_LONG").is_some() { 10_000 } else { 1_000 }
}

/// What decides one random step.
pub(crate) type Choice = (u8, u32, u32, u32);

/// A list of random steps.
pub(crate) fn choices(most: usize) -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec(any::<Choice>(), 0..most)
}

/// A program with the counter of its refs, changed at random.
#[derive(Clone, Debug)]
pub(crate) struct Mutator {
    pub(crate) program: Program,
    pub(crate) refs: RefAllocator,
}

impl Mutator {
    /// A program made by random steps.
    pub(crate) fn grown(choices: &[Choice]) -> Mutator {
        let mut mutator = Mutator { program: Program::new(), refs: RefAllocator::starting_at(1) };
        mutator.step((0, 1, 1, 1));
        mutator.step((7, 1, 1, 1));
        mutator.mutate(choices);
        mutator
    }

    /// Takes random steps and returns the edits that were applied.
    pub(crate) fn mutate(&mut self, choices: &[Choice]) -> Vec<Edit> {
        choices.iter().flat_map(|choice| self.step(*choice)).collect()
    }

    fn step(&mut self, choice: Choice) -> Vec<Edit> {
        let edits = self.propose(choice).unwrap_or_default();
        let mut after = self.program.clone();
        if apply_all(&mut after, &edits).is_err() {
            return Vec::new();
        }
        self.program = after;
        edits
    }

    fn number(&mut self) -> u64 {
        self.refs.allocate().unwrap()
    }

    fn module(&self, by: u32) -> Option<ModuleRef> {
        pick(self.program.modules().map(|(module, _)| module).collect(), by)
    }

    fn ty(&self, by: u32) -> Type {
        let named = pick(self.program.types().map(|(ty, _)| Type::Named(ty)).collect(), by);
        match by % 3 {
            0 => Type::I32,
            1 => Type::I64,
            _ => named.unwrap_or(Type::BOOL),
        }
    }

    fn propose(&mut self, (what, a, b, c): Choice) -> Option<Vec<Edit>> {
        let name: Arc<str> = format!("x{}", b % 8).into();
        let doc: Option<Arc<str>> = c.is_multiple_of(4).then(|| format!("doc {}", c % 64).into());
        let visibility = if c.is_multiple_of(2) { Visibility::Public } else { Visibility::Private };
        let function = pick(self.program.functions().map(|(function, _)| function).collect::<Vec<_>>(), a);
        Some(match what % 32 {
            0 | 1 => {
                let module = Module {
                    name,
                    parent: self.module(a).filter(|_| b.is_multiple_of(2)),
                    visibility,
                    doc,
                    trailer: None,
                };
                match what % 32 {
                    0 => vec![Edit::AddModule { module: ModuleRef::new(self.number())?, content: module }],
                    _ => {
                        let of = self.module(c)?;
                        let parent = module.parent.filter(|parent| *parent < of);
                        vec![Edit::SetModule { module: of, content: Module { parent, ..module } }]
                    }
                }
            }
            2 => vec![Edit::RemoveModule { module: self.module(a)? }],
            3 | 4 => {
                let old = pick(self.program.types().map(|(ty, def)| (ty, def.clone())).collect(), a);
                let mut fields = match &old {
                    Some((_, def)) if what % 32 == 4 => def.fields().to_vec(),
                    Some(_) | None => Vec::new(),
                };
                let field = Field {
                    member: MemberRef::new(self.number())?,
                    name: Arc::clone(&name),
                    ty: self.ty(b),
                    doc: doc.clone(),
                };
                if fields.len() > 2 && b.is_multiple_of(2) {
                    fields.remove(c as usize % fields.len());
                } else {
                    fields.push(field);
                }
                let shape = Shape::Struct(fields);
                let content = Arc::new(TypeDef { name, module: self.module(a)?, visibility, shape, doc });
                match what % 32 {
                    3 => vec![Edit::AddType { ty: TypeRef::new(self.number())?, content }],
                    _ => vec![Edit::SetType { ty: old?.0, content }],
                }
            }
            5 => vec![Edit::RemoveType { ty: pick(self.program.types().map(|(ty, _)| ty).collect(), a)? }],
            6 => {
                let old = pick(self.program.all_storage().map(|(storage, _)| storage).collect(), a);
                let kind = StorageKind::Global {
                    ty: Type::I32,
                    mutable: true,
                    initial: Const::I32(b as i32).into(),
                };
                let content = Arc::new(Storage {
                    name,
                    module: self.module(a)?,
                    visibility,
                    exports: Vec::new(),
                    import: None,
                    kind,
                    doc,
                });
                match (c % 3, old) {
                    (0, Some(storage)) => vec![Edit::RemoveStorage { storage }],
                    (1, Some(storage)) => vec![Edit::SetStorage { storage, content }],
                    _ => vec![Edit::AddStorage { storage: VarRef::new(self.number())?, content }],
                }
            }
            7 | 8 => {
                let function = FuncRef::new(self.number())?;
                let params = vec![Param { name: Arc::clone(&name), ty: self.ty(c) }];
                let head = FunctionHead::new(name, self.module(a)?, params, vec![self.ty(b)]);
                let content = Arc::new(Function::new(head));
                let region = RegionRef::new(self.number())?;
                let root = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
                vec![
                    Edit::AddFunction { function, content },
                    FunctionEdit::AddRegion { region, content: root }.within(function),
                ]
            }
            9 => {
                let content = self.program.function(function?)?.content_hash();
                vec![Edit::RemoveFunction { function: function?, content }]
            }
            10 => {
                let mut head = self.program.function(function?)?.head().clone();
                match b % 4 {
                    0 => head.name = name,
                    1 => head.module = self.module(c)?,
                    2 => head.results.push(self.ty(c)),
                    _ => head.doc = doc,
                }
                vec![FunctionEdit::SetHead { head: Arc::new(head) }.within(function?)]
            }
            inner => {
                let edits = self.propose_within(function?, (inner, a, b, c), name, doc)?;
                let function = function?;
                edits.into_iter().map(|edit| edit.within(function)).collect()
            }
        })
    }

    fn propose_within(
        &mut self,
        of: FuncRef,
        (what, _, b, c): Choice,
        name: Arc<str>,
        doc: Option<Arc<str>>,
    ) -> Option<Vec<FunctionEdit>> {
        let function = Arc::clone(self.program.function(of)?);
        let body = function.body();
        let node = pick(body.nodes().map(|(node, _)| node).collect::<Vec<_>>(), b);
        let region = pick(body.regions().map(|(region, _)| region).collect::<Vec<_>>(), c)?;
        let inside: Vec<NodeRef> = body.nodes_in(region).collect();
        let after = pick(inside, b / 7).filter(|_| !b.is_multiple_of(5));
        let source = match (c % 4, pick(body.nodes().map(|(node, _)| node).collect(), c / 4)) {
            (0, _) => None,
            (1, _) => Some(Source::Param(of, 0)),
            (2, _) => Some(Source::RegionParam(region, 0)),
            (_, from) => from.map(|from| Source::Node(from, 0)),
        };
        Some(match what {
            11 => {
                let old = pick(body.variables().map(|(variable, _)| variable).collect(), b);
                let content = Variable { name: Some(name), ty: self.ty(b), doc };
                match (c % 3, old) {
                    (0, Some(variable)) => vec![FunctionEdit::RemoveVariable { variable }],
                    (1, Some(variable)) => vec![FunctionEdit::SetVariable { variable, content }],
                    _ => vec![FunctionEdit::AddVariable { variable: VarRef::new(self.number())?, content }],
                }
            }
            12 => {
                let contract = ContractRef::new(self.number())?;
                let region = RegionRef::new(self.number())?;
                let content = Contract { kind: ContractKind::Require, message: name, region, doc };
                let owner = RegionOwner::Contract(contract);
                vec![
                    FunctionEdit::AddContract { contract, content },
                    FunctionEdit::AddRegion {
                        region,
                        content: Region::new(owner, RegionRole::Contract, Vec::new()),
                    },
                ]
            }
            13 => {
                let contract = pick(body.contracts().map(|(contract, _)| contract).collect(), b)?;
                let found = body.contract(contract)?.clone();
                if c.is_multiple_of(2) {
                    let content = Contract { message: name, ..found };
                    return Some(vec![FunctionEdit::SetContract { contract, content }]);
                }
                let mut edits = empty_region(body, found.region);
                edits.push(FunctionEdit::RemoveContract { contract });
                edits
            }
            14 | 15 => {
                let mut edits = Vec::new();
                remove_tree(body, node?, &mut edits);
                edits
            }
            16 | 17 => vec![FunctionEdit::MoveNode { node: node?, region, after }],
            18 | 19 => {
                let inputs = body.node(node?)?.inputs().len() as u32;
                let input = b.checked_rem(inputs)? as u16;
                vec![FunctionEdit::SetInput { node: node?, input, source }]
            }
            20 | 21 => {
                let mut content = body.node(node?)?.content();
                if c.is_multiple_of(5) {
                    return Some(vec![FunctionEdit::SetLabel { node: node?, name: Some(name), doc }]);
                }
                match c % 3 {
                    0 => content.name = Some(name),
                    1 => content.doc = doc,
                    _ if content.regions.is_empty() => content.op = self.op(b),
                    _ => content.inputs = content.inputs.iter().chain([source]).collect(),
                }
                vec![FunctionEdit::SetNode { node: node?, content: Box::new(content) }]
            }
            22 => {
                let mut content = body.region(region)?.clone();
                content.params.push(RegionParam { name: Some(name), ty: self.ty(b) });
                vec![FunctionEdit::SetRegion { region, content }]
            }
            23 | 24 => {
                let node = NodeRef::new(self.refs.allocate_in(of)?)?;
                let owned = RegionRef::new(self.refs.allocate_in(of)?)?;
                let op = Op::new(Opcode::Block, Attr::Control(Arc::new(Control::default())))?;
                let content = NodeContent { regions: vec![owned], ..NodeContent::new(op, []) };
                let inner = Region::new(RegionOwner::Node(node), RegionRole::Body, Vec::new());
                vec![
                    FunctionEdit::InsertNode { node, region, after, content: Box::new(content) },
                    FunctionEdit::AddRegion { region: owned, content: inner },
                ]
            }
            _ => {
                let node = NodeRef::new(self.refs.allocate_in(of)?)?;
                let content = NodeContent {
                    name: b.is_multiple_of(3).then_some(name),
                    doc,
                    ..NodeContent::new(self.op(b), [source, source.filter(|_| c.is_multiple_of(3))])
                };
                vec![FunctionEdit::InsertNode { node, region, after, content: Box::new(content) }]
            }
        })
    }

    fn op(&self, by: u32) -> Op {
        let callee = pick(self.program.functions().map(|(function, _)| function).collect(), by);
        match (by % 3, callee) {
            (0, _) => Op::constant(Const::I32(by as i32)),
            (1, Some(callee)) => Op::call(callee),
            _ => Op::new(Opcode::Add, Attr::Scalar(Scalar::I32)).unwrap(),
        }
    }
}

/// One of some things.
fn pick<T>(mut from: Vec<T>, by: u32) -> Option<T> {
    let index = (by as usize).checked_rem(from.len())?;
    Some(from.swap_remove(index))
}

fn empty_region(body: &lmlang_ir::Body, region: RegionRef) -> Vec<FunctionEdit> {
    let mut edits = Vec::new();
    body.nodes_in(region).for_each(|node| remove_tree(body, node, &mut edits));
    edits.push(FunctionEdit::RemoveRegion { region });
    edits
}

fn remove_tree(body: &lmlang_ir::Body, node: NodeRef, edits: &mut Vec<FunctionEdit>) {
    for region in body.node(node).map_or(&[][..], |node| node.regions()) {
        edits.extend(empty_region(body, *region));
    }
    edits.push(FunctionEdit::RemoveNode { node });
}

/// All refs of a program.
pub(crate) fn all_refs(program: &Program) -> Vec<Ref> {
    (1..=program.largest_number()).filter_map(|number| program.ref_of(number)).collect()
}

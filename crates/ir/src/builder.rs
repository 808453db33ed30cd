//! Building programs in code: for tests, generators, importers and refactorings.
//!
//! A thin layer over [`crate::change`] that hands out refs and remembers a place. It checks structure only, as the
//! changes do: what it builds may be wrong, and `verify` says so.
//!
//! ```
//! use lmlang_ir::builder::{Builder, params};
//! use lmlang_ir::{FunctionHead, Opcode, Program, RefAllocator, Scalar, Type};
//!
//! let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
//! let mut build = Builder::new(&mut program, &mut refs);
//! let module = build.module(None, "demo");
//! let head = FunctionHead::new("twice", module, params([("n", Type::I64)]), vec![Type::I64]);
//! let mut f = build.function(head);
//! let n = f.param(0);
//! let sum = f.scalar(Opcode::Add, Scalar::I64, [n, n]);
//! f.ret([sum]);
//! let twice = f.finish();
//! assert_eq!(program.function(twice).unwrap().body().counts().nodes, 2);
//! ```

mod grow;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::change::{FunctionMut, StructureError};
use crate::draft::{Draft, End};
use crate::entities::{
    Contract, ContractKind, Field, FunctionHead, Module, Name, Param, Region, RegionOwner, RegionParam,
    RegionRole, Shape, TypeDef, Variable, VariantDef, Visibility,
};
use crate::function::Body;
use crate::node::{Inputs, NodeContent, Source};
use crate::ops::{Attr, Control, Exit, Match, Op, Opcode};
use crate::program::Program;
use crate::refs::{
    ContractRef, FuncRef, MemberRef, ModuleRef, NodeRef, RefAllocator, RegionRef, TypeRef, VarRef,
};
use crate::storage::{Storage, StorageKind};
use crate::types::{Const, Scalar, Type};

pub use grow::Grow;

const FRESH: &str = "a ref from the allocator of the program is fresh, and 48 bits of them do not run out";
const PLACED: &str = "the place of a builder exists";
const TAKEN: &str = "the opcode takes this attribute";

/// Adds entities to a program under fresh refs.
///
/// The allocator must be the program's: its numbers are those of no entity.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The program that grows.
    pub program: &'a mut Program,
    /// Where its refs come from.
    pub refs: &'a mut RefAllocator,
}

/// Named parameters from pairs.
pub fn params<N: Into<Name>>(of: impl IntoIterator<Item = (N, Type)>) -> Vec<Param> {
    of.into_iter().map(|(name, ty)| Param { name: name.into(), ty }).collect()
}

impl<'a> Builder<'a> {
    /// Builds onto a program.
    pub fn new(program: &'a mut Program, refs: &'a mut RefAllocator) -> Builder<'a> {
        Builder { program, refs }
    }

    fn number(&mut self) -> u64 {
        self.refs.allocate().expect(FRESH)
    }

    /// Adds a public module.
    pub fn module(&mut self, parent: Option<ModuleRef>, name: impl Into<Name>) -> ModuleRef {
        let of = ModuleRef::of_key(self.number());
        let visibility = Visibility::Public;
        let module = Module { name: name.into(), parent, visibility, doc: None, trailer: None };
        self.program.add_module(of, module).expect(FRESH);
        of
    }

    /// Adds a public struct. Returns the refs of its fields too.
    pub fn structure<N: Into<Name>>(
        &mut self,
        module: ModuleRef,
        name: impl Into<Name>,
        fields: impl IntoIterator<Item = (N, Type)>,
    ) -> (TypeRef, Vec<MemberRef>) {
        let of = TypeRef::of_key(self.number());
        let field = |(name, ty): (N, Type)| {
            let member = MemberRef::of_key(self.refs.allocate().expect(FRESH));
            Field { member, name: name.into(), ty, doc: None }
        };
        let fields: Vec<Field> = fields.into_iter().map(field).collect();
        let members = fields.iter().map(|field| field.member).collect();
        self.add_type(of, module, name.into(), Shape::Struct(fields));
        (of, members)
    }

    /// Adds a public enum. Returns the refs of its variants too.
    pub fn enumeration<N: Into<Name>>(
        &mut self,
        module: ModuleRef,
        name: impl Into<Name>,
        variants: impl IntoIterator<Item = (N, Option<Type>)>,
    ) -> (TypeRef, Vec<MemberRef>) {
        let of = TypeRef::of_key(self.number());
        let variant = |(name, payload): (N, Option<Type>)| {
            let member = MemberRef::of_key(self.refs.allocate().expect(FRESH));
            VariantDef { member, name: name.into(), payload, doc: None }
        };
        let variants: Vec<VariantDef> = variants.into_iter().map(variant).collect();
        let members = variants.iter().map(|variant| variant.member).collect();
        self.add_type(of, module, name.into(), Shape::Enum(variants));
        (of, members)
    }

    fn add_type(&mut self, of: TypeRef, module: ModuleRef, name: Name, shape: Shape) {
        let def = TypeDef { name, module, visibility: Visibility::Public, shape, doc: None };
        self.program.add_type(of, def).expect(FRESH);
    }

    /// Adds public storage.
    pub fn storage(&mut self, module: ModuleRef, name: impl Into<Name>, kind: StorageKind) -> VarRef {
        let (name, visibility) = (name.into(), Visibility::Public);
        self.add_storage(Storage {
            name,
            module,
            visibility,
            exports: Vec::new(),
            import: None,
            kind,
            doc: None,
        })
    }

    /// Adds storage.
    pub fn add_storage(&mut self, storage: Storage) -> VarRef {
        let of = VarRef::of_key(self.number());
        self.program.add_storage(of, storage).expect(FRESH);
        of
    }

    /// Adds a function that has no body yet; [`Builder::open`] fills it. For functions that call each other.
    pub fn declare(&mut self, head: FunctionHead) -> FuncRef {
        let of = FuncRef::of_key(self.number());
        self.program.add_function(of, head).expect(FRESH);
        of
    }

    /// Adds a function and stands in its empty body.
    pub fn function(&mut self, head: FunctionHead) -> FunctionBuilder<'_> {
        let of = self.declare(head);
        self.open(of).expect(PLACED)
    }

    /// Stands at the end of a function's body, which is made if there is none.
    pub fn open(&mut self, of: FuncRef) -> Result<FunctionBuilder<'_>, StructureError> {
        FunctionBuilder::open(self.program, self.refs, of)
    }

    /// Hands out the ref of a function that comes as a whole, with [`Program::add_prepared_function`].
    pub fn promise(&mut self) -> FuncRef {
        FuncRef::of_key(self.number())
    }
}

/// Adds nodes to a function, one after another, at a place that it remembers.
///
/// Invariant: the place exists.
#[derive(Debug)]
pub struct FunctionBuilder<'a, G: Grow = FunctionMut<'a>> {
    of: FuncRef,
    function: G,
    refs: &'a mut RefAllocator,
    place: G::Place,
}

/// A node that owns regions, with these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner<const N: usize> {
    /// The node.
    pub node: NodeRef,
    /// Its regions, in the order of its operator.
    pub regions: [RegionRef; N],
}

impl<'a> FunctionBuilder<'a> {
    /// Stands at the end of a function's body, which is made if there is none.
    pub fn open(
        program: &'a mut Program,
        refs: &'a mut RefAllocator,
        of: FuncRef,
    ) -> Result<FunctionBuilder<'a>, StructureError> {
        let mut function = program.function_mut(of)?;
        let root = match function.body().root() {
            Some(root) => root,
            None => {
                let root = RegionRef::of_key(refs.allocate_in(of).expect(FRESH));
                function
                    .add_region(root, Region::new(RegionOwner::Function, RegionRole::Body, Vec::new()))
                    .expect(FRESH);
                root
            }
        };
        let last = function.body().last_in(root);
        Ok(FunctionBuilder { of, function, refs, place: (root, last) })
    }

    /// The body as it stands.
    pub fn body(&self) -> &Body {
        self.function.body()
    }

    /// The function, for changes that the builder has no word for.
    pub fn changes(&mut self) -> &mut FunctionMut<'a> {
        &mut self.function
    }

    /// Goes to a place: right after a node of a region, or to its front.
    pub fn go(&mut self, region: RegionRef, after: Option<NodeRef>) -> Result<(), StructureError> {
        self.body().region(region).ok_or(StructureError::Missing(region.into()))?;
        if let Some(anchor) = after {
            let node = self.body().node(anchor).ok_or(StructureError::Missing(anchor.into()))?;
            if node.region() != region {
                return Err(StructureError::ForeignAnchor(anchor));
            }
        }
        self.place = (region, after);
        Ok(())
    }

    /// Gives a node a name.
    pub fn name(&mut self, of: NodeRef, name: impl Into<Name>) {
        if let Some(node) = self.body().node(of) {
            let content = NodeContent { name: Some(name.into()), ..node.content() };
            self.function.set_node(of, content).expect(PLACED);
        }
    }

    /// Ends the building.
    pub fn finish(self) -> FuncRef {
        self.of
    }
}

impl<'a> FunctionBuilder<'a, &'a mut Draft> {
    /// Stands in the empty body of a function that is put together in one go. The draft is empty.
    pub fn draft(
        draft: &'a mut Draft,
        refs: &'a mut RefAllocator,
        of: FuncRef,
    ) -> FunctionBuilder<'a, &'a mut Draft> {
        let root = RegionRef::of_key(refs.allocate_in(of).expect(FRESH));
        let region = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
        draft.add_region(root, region).expect(FRESH);
        let place = Draft::end_of(draft, root).expect(PLACED);
        FunctionBuilder { of, function: draft, refs, place }
    }

    /// Goes to the end of a region.
    pub fn go(&mut self, region: RegionRef) -> Result<(), StructureError> {
        self.place = self.function.end_of(region)?;
        Ok(())
    }

    /// How many nodes have been added.
    pub fn nodes(&self) -> usize {
        self.function.nodes()
    }

    /// Goes back to where it was.
    pub fn go_back(&mut self, place: End) {
        self.place = place;
    }
}

impl<G: Grow> FunctionBuilder<'_, G> {
    /// The function.
    pub fn function(&self) -> FuncRef {
        self.of
    }

    /// Where the next node goes.
    pub fn place(&self) -> G::Place {
        self.place
    }

    /// Builds at the end of a region, then comes back.
    ///
    /// # Panics
    /// When the region is not one of this function.
    pub fn within<T>(&mut self, region: RegionRef, build: impl FnOnce(&mut Self) -> T) -> T {
        let place = self.place;
        self.place = self.function.end_of(region).expect("the region is of this function");
        let built = build(self);
        self.place = place;
        built
    }

    #[inline]
    fn number(&mut self) -> u64 {
        self.refs.allocate_in(self.of).expect(FRESH)
    }

    /// A parameter of the function.
    pub fn param(&self, index: u16) -> Source {
        Source::Param(self.of, index)
    }

    /// Adds a node and stands after it.
    #[inline]
    pub fn node<S: Into<Option<Source>>>(&mut self, op: Op, inputs: impl IntoIterator<Item = S>) -> NodeRef {
        self.plain(op, inputs.into_iter().map(Into::into).collect())
    }

    /// Adds a node of an operator with all of its inputs, and stands after it.
    #[inline(always)]
    pub fn plain(&mut self, op: Op, inputs: Inputs) -> NodeRef {
        let of = NodeRef::of_key(self.number());
        self.place = self.function.insert_plain(of, self.place, op, inputs).expect(PLACED);
        of
    }

    /// Adds a node with all that was authored of it, and stands after it. Regions that it names are yet to be added.
    pub fn insert(&mut self, content: NodeContent) -> NodeRef {
        let of = NodeRef::of_key(self.number());
        self.place = self.function.insert(of, self.place, content).expect(PLACED);
        of
    }

    /// Adds a node and returns its first output.
    pub fn value<S: Into<Option<Source>>>(&mut self, op: Op, inputs: impl IntoIterator<Item = S>) -> Source {
        Source::Node(self.node(op, inputs), 0)
    }

    /// Adds a node of an opcode with its attribute.
    ///
    /// # Panics
    /// When the op table has no such operator.
    pub fn op<S: Into<Option<Source>>>(
        &mut self,
        code: Opcode,
        attr: Attr,
        inputs: impl IntoIterator<Item = S>,
    ) -> NodeRef {
        let op = Op::new(code, attr).expect(TAKEN);
        self.node(op, inputs)
    }

    /// Adds a node of an operator on a scalar type and returns its output.
    ///
    /// # Panics
    /// When the op table has no such operator.
    pub fn scalar<S: Into<Option<Source>>>(
        &mut self,
        code: Opcode,
        ty: Scalar,
        inputs: impl IntoIterator<Item = S>,
    ) -> Source {
        Source::Node(self.node(Op::scalar(code, ty).expect(TAKEN), inputs), 0)
    }

    /// Adds a constant.
    pub fn constant(&mut self, value: Const) -> Source {
        self.plain(Op::constant(value), Inputs::default()).into()
    }

    /// Adds a 32-bit integer.
    pub fn i32(&mut self, value: i32) -> Source {
        self.constant(Const::I32(value))
    }

    /// Adds a 64-bit integer.
    pub fn i64(&mut self, value: i64) -> Source {
        self.constant(Const::I64(value))
    }

    /// Adds a truth value.
    pub fn bool(&mut self, value: bool) -> Source {
        self.constant(Const::Bool(value))
    }

    /// Adds a text.
    pub fn string(&mut self, value: impl Into<Arc<str>>) -> Source {
        self.constant(Const::String(value.into()))
    }

    /// Adds a call and returns its node.
    pub fn call<S: Into<Option<Source>>>(
        &mut self,
        callee: FuncRef,
        arguments: impl IntoIterator<Item = S>,
    ) -> NodeRef {
        self.node(Op::call(callee), arguments)
    }

    /// Adds a variable.
    pub fn variable(&mut self, name: Option<Name>, ty: Type) -> VarRef {
        let of = VarRef::of_key(self.number());
        self.function.add_variable(of, Variable { name, ty, doc: None }).expect(FRESH);
        of
    }

    /// Reads a variable of the function.
    pub fn var_get(&mut self, of: VarRef) -> Source {
        self.plain(Op::var_get(of), Inputs::default()).into()
    }

    /// Writes a variable of the function.
    pub fn var_set(&mut self, of: VarRef, value: Source) -> NodeRef {
        self.plain(Op::var_set(of), Inputs::one(value))
    }

    /// Adds a contract and returns the region of its condition; an `ensure` sees the results as parameters.
    pub fn contract(
        &mut self,
        kind: ContractKind,
        message: impl Into<Arc<str>>,
        results: Vec<Type>,
    ) -> RegionRef {
        let of = ContractRef::of_key(self.number());
        let region = RegionRef::of_key(self.number());
        let contract = Contract { kind, message: message.into(), region, doc: None };
        let params = results.into_iter().map(|ty| RegionParam { name: None, ty }).collect();
        self.function.add_contract(of, contract).expect(FRESH);
        let owner = RegionOwner::Contract(of);
        self.function.add_region(region, Region::new(owner, RegionRole::Contract, params)).expect(FRESH);
        region
    }

    /// Adds a node that owns regions, and these under refs that were handed out before.
    fn owner(
        &mut self,
        op: Op,
        inputs: impl IntoIterator<Item = Source>,
        refs: &[RegionRef],
        regions: impl IntoIterator<Item = (RegionRole, Vec<RegionParam>)>,
    ) -> NodeRef {
        let node = NodeRef::of_key(self.number());
        let inputs = inputs.into_iter().map(Some).collect();
        self.place = self.function.insert_owner(node, self.place, op, inputs, refs).expect(PLACED);
        for (of, (role, params)) in refs.iter().zip(regions) {
            let region = Region::new(RegionOwner::Node(node), role, params);
            self.function.add_region(*of, region).expect(FRESH);
        }
        node
    }

    fn control<const N: usize>(
        &mut self,
        code: Opcode,
        label: Option<Name>,
        results: Vec<Type>,
        inputs: impl IntoIterator<Item = Source>,
        regions: [(RegionRole, Vec<RegionParam>); N],
    ) -> Owner<N> {
        let op = Op::control(code, Arc::new(Control { label, results })).expect(TAKEN);
        let refs: [RegionRef; N] = std::array::from_fn(|_| RegionRef::of_key(self.number()));
        Owner { node: self.owner(op, inputs, &refs, regions), regions: refs }
    }

    /// Adds a `block`; its region is yet to be filled.
    pub fn block(&mut self, label: Option<Name>, results: Vec<Type>) -> Owner<1> {
        self.control(Opcode::Block, label, results, [], [(RegionRole::Body, Vec::new())])
    }

    /// Adds a `loop` with the names, types and initial values of its parameters; its region is yet to be filled.
    pub fn loop_<N: Into<Name>>(
        &mut self,
        label: Option<Name>,
        params: impl IntoIterator<Item = (N, Type, Source)>,
        results: Vec<Type>,
    ) -> Owner<1> {
        let mut initial: SmallVec<[Source; 4]> = SmallVec::new();
        let param = |(name, ty, value): (N, Type, Source)| {
            initial.push(value);
            RegionParam { name: Some(name.into()), ty }
        };
        let params: Vec<RegionParam> = params.into_iter().map(param).collect();
        self.control(Opcode::Loop, label, results, initial, [(RegionRole::Body, params)])
    }

    /// Adds an `if`; its two regions are yet to be filled.
    pub fn if_(&mut self, condition: Source, results: Vec<Type>) -> Owner<2> {
        self.labelled_if(None, condition, results)
    }

    /// Adds an `if` with a label; its two regions are yet to be filled.
    pub fn labelled_if(&mut self, label: Option<Name>, condition: Source, results: Vec<Type>) -> Owner<2> {
        let regions = [(RegionRole::Then, Vec::new()), (RegionRole::Else, Vec::new())];
        self.control(Opcode::If, label, results, [condition], regions)
    }

    /// Adds a `match` with the payload of each case, if it has one; its regions are yet to be filled, the default last.
    pub fn match_(
        &mut self,
        value: Source,
        cases: Match,
        payloads: Vec<Option<Type>>,
    ) -> (NodeRef, Vec<RegionRef>) {
        let param = |ty: Type| RegionParam { name: None, ty };
        let mut regions: Vec<(RegionRole, Vec<RegionParam>)> = (0u16..)
            .zip(payloads)
            .map(|(index, payload)| (RegionRole::Case(index), payload.into_iter().map(param).collect()))
            .collect();
        if cases.default {
            regions.push((RegionRole::Default, Vec::new()));
        }
        let op = Op::new(Opcode::Match, Attr::Match(Arc::new(cases))).expect("a match takes its cases");
        let refs: Vec<RegionRef> = regions.iter().map(|_| RegionRef::of_key(self.number())).collect();
        (self.owner(op, [value], &refs, regions), refs)
    }

    /// Adds a `yield`.
    pub fn yield_(&mut self, values: impl IntoIterator<Item = Source>) -> NodeRef {
        self.node(Op::bare(Opcode::Yield).expect(TAKEN), values)
    }

    /// Adds a `return`.
    pub fn ret(&mut self, values: impl IntoIterator<Item = Source>) -> NodeRef {
        self.node(Op::bare(Opcode::Return).expect(TAKEN), values)
    }

    /// Adds an `unreachable`.
    pub fn unreachable(&mut self) -> NodeRef {
        self.plain(Op::bare(Opcode::Unreachable).expect(TAKEN), Inputs::default())
    }

    /// Adds the exit out of a node or to the next round of a loop.
    pub fn exit(&mut self, to: Exit, values: impl IntoIterator<Item = Source>) -> NodeRef {
        match to {
            Exit::Break(target) => self.node(Op::exit(Opcode::Break, target).expect(TAKEN), values),
            Exit::Continue(target) => self.node(Op::exit(Opcode::Continue, target).expect(TAKEN), values),
            Exit::Return => self.ret(values),
        }
    }

    /// Adds the exit out of a node, taken if a condition holds.
    pub fn break_if(
        &mut self,
        target: NodeRef,
        condition: Source,
        values: impl IntoIterator<Item = Source>,
    ) -> NodeRef {
        let inputs = std::iter::once(condition).chain(values);
        self.node(Op::exit(Opcode::BreakIf, target).expect(TAKEN), inputs)
    }

    /// Adds the exit to the next round of a loop, taken if a condition holds.
    pub fn continue_if(
        &mut self,
        target: NodeRef,
        condition: Source,
        values: impl IntoIterator<Item = Source>,
    ) -> NodeRef {
        let inputs = std::iter::once(condition).chain(values);
        self.node(Op::exit(Opcode::ContinueIf, target).expect(TAKEN), inputs)
    }

    /// Adds a switch over exits, the default last.
    pub fn br_switch(
        &mut self,
        index: Source,
        targets: impl Into<Arc<[Exit]>>,
        values: impl IntoIterator<Item = Source>,
    ) -> NodeRef {
        let inputs = std::iter::once(index).chain(values);
        self.op(Opcode::BrSwitch, Attr::Switch(targets.into()), inputs)
    }
}

/// A parameter of a region.
pub fn region_param(region: RegionRef, index: u16) -> Source {
    Source::RegionParam(region, index)
}

/// The first output of a node.
impl From<NodeRef> for Source {
    fn from(node: NodeRef) -> Source {
        Source::Node(node, 0)
    }
}

/// The first output of a node.
impl From<NodeRef> for Option<Source> {
    fn from(node: NodeRef) -> Option<Source> {
        Some(Source::Node(node, 0))
    }
}

//! A few words for building small programs.

use lmlang_ir::ops::{Attr, Opcode};
use lmlang_ir::*;

/// A program under construction: one public module, refs counted up from 1.
pub(crate) struct Build {
    pub(crate) program: Program,
    pub(crate) module: ModuleRef,
    next: u64,
}

/// A function with its body's region.
#[derive(Clone, Copy)]
pub(crate) struct Func {
    pub(crate) of: FuncRef,
    pub(crate) root: RegionRef,
}

impl Func {
    pub(crate) fn param(self, index: u16) -> Source {
        Source::Param(self.of, index)
    }
}

pub(crate) fn op(code: Opcode, attr: Attr) -> Op {
    Op::new(code, attr).expect("the attribute fits the opcode")
}

pub(crate) fn i32_op(code: Opcode) -> Op {
    op(code, Attr::Scalar(Scalar::I32))
}

pub(crate) fn number(value: i32) -> Op {
    Op::constant(Const::I32(value))
}

pub(crate) fn plain(code: Opcode) -> Op {
    op(code, Attr::None)
}

pub(crate) fn control(code: Opcode, results: &[Type]) -> Op {
    op(code, Attr::Control(std::sync::Arc::new(Control { label: None, results: results.to_vec() })))
}

pub(crate) fn cases(cases: Vec<Case>, default: bool, results: &[Type]) -> Op {
    let of = Match { label: None, cases, default, results: results.to_vec() };
    op(Opcode::Match, Attr::Match(std::sync::Arc::new(of)))
}

pub(crate) fn value(node: NodeRef) -> Source {
    Source::Node(node, 0)
}

pub(crate) fn no_node() -> NodeRef {
    NodeRef::new(90_000).expect("in range")
}

impl Build {
    pub(crate) fn new() -> Build {
        let module = ModuleRef::new(1).expect("in range");
        let mut build = Build { program: Program::new(), module, next: 2 };
        let record = Module {
            name: "demo".into(),
            parent: None,
            visibility: Visibility::Public,
            doc: None,
            trailer: None,
        };
        build.program.add_module(module, record).expect("fresh");
        build
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn module(
        &mut self,
        name: &str,
        parent: Option<ModuleRef>,
        visibility: Visibility,
    ) -> ModuleRef {
        let of = ModuleRef::new(self.number()).expect("in range");
        let record = Module { name: name.into(), parent, visibility, doc: None, trailer: None };
        self.program.add_module(of, record).expect("fresh");
        of
    }

    pub(crate) fn head(&self, name: &str, params: &[Type], results: &[Type]) -> FunctionHead {
        let named = |(index, ty): (usize, &Type)| Param { name: format!("p{index}").into(), ty: ty.clone() };
        let params = params.iter().enumerate().map(named).collect();
        FunctionHead::new(name, self.module, params, results.to_vec())
    }

    pub(crate) fn func(&mut self, name: &str, params: &[Type], results: &[Type]) -> Func {
        let head = self.head(name, params, results);
        self.func_with(head)
    }

    pub(crate) fn func_with(&mut self, head: FunctionHead) -> Func {
        let of = FuncRef::new(self.number()).expect("in range");
        self.program.add_function(of, head).expect("fresh");
        let root = self.region(of, RegionOwner::Function, RegionRole::Body, &[]);
        Func { of, root }
    }

    pub(crate) fn change(&mut self, of: FuncRef) -> FunctionMut<'_> {
        self.program.function_mut(of).expect("exists")
    }

    pub(crate) fn set_head(&mut self, of: FuncRef, change: impl FnOnce(&mut FunctionHead)) {
        let mut head = self.program.function(of).expect("exists").head().clone();
        change(&mut head);
        self.change(of).set_head(head);
    }

    pub(crate) fn region(
        &mut self,
        of: FuncRef,
        owner: RegionOwner,
        role: RegionRole,
        params: &[Type],
    ) -> RegionRef {
        let region = RegionRef::new(self.number()).expect("in range");
        let params = params.iter().map(|ty| RegionParam { name: None, ty: ty.clone() }).collect();
        self.change(of).add_region(region, Region::new(owner, role, params)).expect("fresh");
        region
    }

    /// Appends a node to a region.
    pub(crate) fn node(&mut self, of: FuncRef, region: RegionRef, op: Op, inputs: &[Source]) -> NodeRef {
        self.node_with(of, region, NodeContent::new(op, inputs.iter().map(|source| Some(*source))))
    }

    pub(crate) fn node_with(&mut self, of: FuncRef, region: RegionRef, content: NodeContent) -> NodeRef {
        let node = NodeRef::new(self.number()).expect("in range");
        let after = self.program.function(of).expect("exists").body().last_in(region);
        self.change(of).insert_node(node, region, after, content).expect("fresh");
        node
    }

    /// Appends a node with regions of these roles and parameters.
    pub(crate) fn owner(
        &mut self,
        of: FuncRef,
        region: RegionRef,
        op: Op,
        inputs: &[Source],
        inner: &[(RegionRole, &[Type])],
    ) -> (NodeRef, Vec<RegionRef>) {
        let node = self.node(of, region, op, inputs);
        let regions: Vec<RegionRef> = inner
            .iter()
            .map(|(role, params)| self.region(of, RegionOwner::Node(node), *role, params))
            .collect();
        self.list(of, node, regions.clone());
        (node, regions)
    }

    /// Makes a node list these regions.
    pub(crate) fn list(&mut self, of: FuncRef, node: NodeRef, regions: Vec<RegionRef>) {
        let mut content =
            self.program.function(of).expect("exists").body().node(node).expect("exists").content();
        content.regions = regions;
        self.change(of).set_node(node, content).expect("exists");
    }

    pub(crate) fn ret(&mut self, f: Func, inputs: &[Source]) -> NodeRef {
        self.node(f.of, f.root, plain(Opcode::Return), inputs)
    }

    pub(crate) fn variable(&mut self, of: FuncRef, ty: Type) -> VarRef {
        let variable = VarRef::new(self.number()).expect("in range");
        self.change(of).add_variable(variable, Variable { name: None, ty, doc: None }).expect("fresh");
        variable
    }

    /// Adds a contract with an empty region.
    pub(crate) fn contract(&mut self, of: FuncRef, kind: ContractKind, params: &[Type]) -> RegionRef {
        let contract = ContractRef::new(self.number()).expect("in range");
        let region = RegionRef::new(self.next).expect("in range");
        let record = Contract { kind, message: "holds".into(), region, doc: None };
        self.change(of).add_contract(contract, record).expect("fresh");
        self.region(of, RegionOwner::Contract(contract), RegionRole::Contract, params)
    }

    pub(crate) fn storage(&mut self, name: &str, kind: StorageKind) -> VarRef {
        let of = VarRef::new(self.number()).expect("in range");
        let module = self.module;
        let record = Storage {
            name: name.into(),
            module,
            visibility: Visibility::Private,
            exports: Vec::new(),
            import: None,
            kind,
            doc: None,
        };
        self.program.add_storage(of, record).expect("fresh");
        of
    }

    pub(crate) fn memory(&mut self) -> VarRef {
        self.storage("memory", StorageKind::Memory { pages: 1, max_pages: None })
    }

    pub(crate) fn add_type(&mut self, name: &str, shape: Shape) -> TypeRef {
        let of = TypeRef::new(self.number()).expect("in range");
        self.type_at(of, name, shape);
        of
    }

    pub(crate) fn type_at(&mut self, of: TypeRef, name: &str, shape: Shape) {
        let module = self.module;
        let def = TypeDef { name: name.into(), module, visibility: Visibility::Private, shape, doc: None };
        self.program.add_type(of, def).expect("fresh");
    }

    pub(crate) fn fields(&mut self, fields: &[(&str, Type)]) -> Shape {
        let field = |(name, ty): &(&str, Type)| Field {
            member: MemberRef::new(self.number()).expect("in range"),
            name: (*name).into(),
            ty: ty.clone(),
            doc: None,
        };
        Shape::Struct(fields.iter().map(field).collect())
    }

    pub(crate) fn variants(&mut self, variants: &[(&str, Option<Type>)]) -> Shape {
        let variant = |(name, payload): &(&str, Option<Type>)| VariantDef {
            member: MemberRef::new(self.number()).expect("in range"),
            name: (*name).into(),
            payload: payload.clone(),
            doc: None,
        };
        Shape::Enum(variants.iter().map(variant).collect())
    }
}

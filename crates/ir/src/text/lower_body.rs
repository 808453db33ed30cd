//! From the tree to a function's body. Nesting costs no stack.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::change::FunctionMut;
use crate::entities::{Contract, ContractKind, Region, RegionOwner, RegionRole, Variable};
use crate::node::{Node, NodeContent, Source};
use crate::ops::signature::{ports, source_type};
use crate::ops::{Attr, Expected, Op, Opcode};
use crate::program::Program;
use crate::refs::{ContractRef, FuncRef, ModuleRef, NodeRef, Ref, RefKind, RegionRef, VarRef};
use crate::text::body_names::BodyNames;
use crate::text::error::{Mistake, code, in_scope};
use crate::text::likely;
use crate::text::lower::Lowering;
use crate::text::lower_regions::Planned;
use crate::text::names::{ProgramNames, unknown_ref};
use crate::text::print::print_type_name;
use crate::text::resolve::{Resolved, given_ref, resolve_op, resolve_type};
use crate::text::scope::{Binding, Scope};
use crate::text::syntax::{
    AttrSyntax, BodySyntax, CaseSyntax, ContractSyntax, Expr, ExprId, FunctionItem, Head, Label, RegionId,
    Segment, Stmt, Tag, VarSyntax,
};
use crate::types::{Const, Type};

/// What entities without a ref keep theirs by, when a text replaces another one.
#[derive(Clone, Debug, Default)]
pub(super) struct Reuse {
    pub(super) root: Option<RegionRef>,
    pub(super) variables: HashMap<Arc<str>, VarRef>,
    pub(super) contracts: HashMap<(ContractKind, Arc<str>), (ContractRef, RegionRef)>,
    /// By name, with the operator: another one makes another node.
    pub(super) nodes: HashMap<Arc<str>, (NodeRef, Opcode)>,
    pub(super) regions: HashMap<NodeRef, Vec<RegionRef>>,
}

/// Where statements go.
pub(super) struct Body<'a, 't> {
    pub(super) lowering: &'a mut Lowering<'t>,
    pub(super) function: FuncRef,
    pub(super) module: ModuleRef,
    pub(super) scope: Scope,
    /// Nodes with a label, in the order of the text.
    pub(super) labelled: Vec<(String, NodeRef)>,
}

/// A step of the work that is left.
enum Work<'t> {
    /// The statements of a region from one on, after a node.
    Stmts { syntax: RegionId, region: RegionRef, next: usize, last: Option<NodeRef>, mark: usize },
    /// A region of a node, all of it.
    Enter { syntax: RegionId, region: RegionRef },
    /// What follows the regions of a node.
    Finish { label: Option<Arc<str>>, name: &'t Label, node: NodeRef },
}

/// An operator whose operands are being lowered.
struct Pending<'t> {
    /// `None`: the operator of the statement, which is made by the caller. Without an operator: one that there is not.
    nested: Option<(&'t Head, Option<Op>)>,
    expected: Option<SmallVec<[Expected; 3]>>,
    operands: &'t [ExprId],
    inputs: Vec<Option<Source>>,
}

/// The place at which nodes are added.
pub(super) struct At {
    region: RegionRef,
    last: Option<NodeRef>,
}

impl<'t> Lowering<'t> {
    /// Fills the body of a function that is there with its head.
    pub(super) fn function_body(&mut self, of: FuncRef, item: &'t FunctionItem) {
        let Some(syntax) = &item.body else { return };
        let Some(module) = self.program.function(of).map(|function| function.head().module) else { return };
        Body::new(self, of, module).all(syntax);
    }
}

impl<'a, 't> Body<'a, 't> {
    pub(super) fn new(lowering: &'a mut Lowering<'t>, function: FuncRef, module: ModuleRef) -> Body<'a, 't> {
        Body { lowering, function, module, scope: Scope::default(), labelled: Vec::new() }
    }

    pub(super) fn program(&self) -> &Program {
        &self.lowering.program
    }

    pub(super) fn note(&mut self, mistake: Mistake) {
        self.lowering.note(mistake);
    }

    pub(super) fn note_name(&mut self, mistake: Mistake) {
        self.lowering.note_name(mistake);
    }

    pub(super) fn names(&self) -> BodyNames<'_> {
        BodyNames {
            program: ProgramNames { program: &self.lowering.program, module: Some(self.module) },
            function: self.function,
            scope: &self.scope,
            given: &self.lowering.given,
            retired_below: self.lowering.retired_below(),
        }
    }

    /// Writes to the function; a change that the structure refuses is a mistake of the text.
    pub(super) fn change<T>(
        &mut self,
        at: u32,
        change: impl FnOnce(&mut FunctionMut<'_>) -> Result<T, crate::change::StructureError>,
    ) -> Option<T> {
        let changed =
            self.lowering.program.function_mut(self.function).and_then(|mut function| change(&mut function));
        match changed {
            Ok(value) => Some(value),
            Err(error) => {
                self.note(Mistake::new(code::DUPLICATE_REF, at, error.to_string()));
                None
            }
        }
    }

    pub(super) fn number(&mut self, tag: Option<Tag>, at: u32) -> u64 {
        match tag {
            Some(_) => self.lowering.number(tag, at),
            None => match self.lowering.refs.allocate_in(self.function) {
                Some(number) => self.lowering.placed(number, at),
                None => self.lowering.exhausted(at),
            },
        }
    }

    /// The ref of something old, unless the text gives it to something else.
    pub(super) fn reused<R: Copy + Into<Ref>>(&mut self, tag: Option<Tag>, old: Option<R>) -> Option<u64> {
        let number = old?.into().number;
        (tag.is_none() && !self.lowering.given.contains_key(&number)).then_some(number)
    }

    pub(super) fn bind_head(&mut self) {
        let Some(function) = self.program().function(self.function).cloned() else { return };
        self.scope.bind_head(self.function, &function);
    }

    fn all(&mut self, syntax: &'t BodySyntax) {
        let tree = self.lowering.tree;
        let region = &tree.regions[syntax.region as usize];
        let old = self.lowering.reuse.root;
        let number = match self.reused(region.tag, old) {
            Some(number) => number,
            None => self.number(region.tag, region.at),
        };
        let root = RegionRef::of_key(number);
        let mut record = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
        record.trailer = region.trailer.clone();
        self.change(region.at, |function| function.add_region(root, record));
        for var in &syntax.vars {
            self.variable(var);
        }
        self.bind_head();
        for contract in &syntax.contracts {
            self.contract(contract);
        }
        let mark = self.scope.mark();
        self.run(vec![Work::Stmts { syntax: syntax.region, region: root, next: 0, last: None, mark }]);
    }

    pub(super) fn variable(&mut self, var: &VarSyntax) {
        let old = var.label.name.as_ref().and_then(|name| self.lowering.reuse.variables.get(name)).copied();
        let number = match self.reused(var.label.tag, old) {
            Some(number) => number,
            None => self.number(var.label.tag, var.label.at),
        };
        if let Some(name) = &var.label.name {
            self.lowering.reuse.variables.remove(name);
        }
        let resolved = resolve_type(&var.ty, &self.names());
        let ty = match resolved {
            Ok(ty) => ty,
            Err(mistake) => {
                self.note_name(mistake);
                if let Some(name) = &var.label.name {
                    self.scope.bind(name, Binding::Broken);
                }
                return;
            }
        };
        let of = VarRef::of_key(number);
        let record = Variable { name: var.label.name.clone(), ty, doc: var.doc.clone() };
        self.change(var.label.at, |function| function.add_variable(of, record));
    }

    /// Makes a variable that was just added known by its name.
    pub(super) fn bind_variable(&mut self, var: &VarSyntax) {
        let Some(name) = &var.label.name else { return };
        let variables = self.program().function(self.function).map(|function| function.body().variables());
        let found =
            variables.into_iter().flatten().filter(|(_, known)| known.name.as_ref() == Some(name)).last();
        if let Some((of, _)) = found {
            self.scope.add_variable(name, of);
            self.scope.bind(name, Binding::Variable(of));
        }
    }

    pub(super) fn contract(&mut self, syntax: &ContractSyntax) {
        let tree = self.lowering.tree;
        let region = &tree.regions[syntax.region as usize];
        let old = self.lowering.reuse.contracts.remove(&(syntax.kind, Arc::clone(&syntax.message)));
        let number = match self.reused(syntax.tag, old.map(|(contract, _)| contract)) {
            Some(number) => number,
            None => self.number(syntax.tag, syntax.at),
        };
        let of = ContractRef::of_key(number);
        let number = match self.reused(region.tag, old.map(|(_, region)| region)) {
            Some(number) => number,
            None => self.number(region.tag, region.at),
        };
        let inner = RegionRef::of_key(number);
        let params = self.contract_params(syntax);
        let record = Contract {
            kind: syntax.kind,
            message: Arc::clone(&syntax.message),
            region: inner,
            doc: syntax.doc.clone(),
        };
        let mut region_record = Region::new(RegionOwner::Contract(of), RegionRole::Contract, params);
        region_record.trailer = region.trailer.clone();
        self.change(syntax.at, |function| {
            function.add_contract(of, record)?;
            function.add_region(inner, region_record)
        });
        self.run(vec![Work::Enter { syntax: syntax.region, region: inner }]);
    }

    /// Lowers statements into a region after a node; returns the last one.
    pub(super) fn insert(&mut self, syntax: RegionId, region: RegionRef, after: Option<NodeRef>) {
        let mark = self.scope.mark();
        self.run(vec![Work::Stmts { syntax, region, next: 0, last: after, mark }]);
    }

    fn run(&mut self, mut work: Vec<Work<'t>>) {
        let tree = self.lowering.tree;
        while let Some(step) = work.pop() {
            if self.lowering.is_full() {
                return;
            }
            match step {
                Work::Enter { syntax, region } => {
                    let mark = self.scope.mark();
                    let body = self.program().function(self.function).map(|function| function.body());
                    let params =
                        body.and_then(|body| body.region(region)).map(|record| record.params.clone());
                    for (index, param) in params.into_iter().flatten().enumerate() {
                        if let Some(name) = &param.name {
                            self.scope.bind(name, Binding::Value(Source::RegionParam(region, index as u16)));
                        }
                    }
                    work.push(Work::Stmts { syntax, region, next: 0, last: None, mark });
                }
                Work::Stmts { syntax, region, next, last, mark } => {
                    let Some(id) = tree.regions[syntax as usize].stmts.get(next) else {
                        self.scope.reset(mark);
                        continue;
                    };
                    let stmt = &tree.stmts[*id as usize];
                    let mut at = At { region, last };
                    let made = self.statement(stmt, &mut at);
                    work.push(Work::Stmts { syntax, region, next: next + 1, last: at.last, mark });
                    if let Some((node, regions)) = made {
                        let label = self.enter_node(node);
                        work.push(Work::Finish { label, name: &stmt.label, node });
                        work.extend(
                            regions.into_iter().rev().map(|(syntax, region)| Work::Enter { syntax, region }),
                        );
                    }
                }
                Work::Finish { label, name, node } => {
                    if let Some(label) = label {
                        self.scope.pop_label(&label);
                    }
                    if let Some(name) = &name.name {
                        self.scope.bind_outputs(name, node);
                    }
                }
            }
        }
    }

    /// Brings the label of a node into scope.
    fn enter_node(&mut self, node: NodeRef) -> Option<Arc<str>> {
        let body = self.program().function(self.function)?.body();
        let label = body.node(node)?.op().label().cloned()?;
        self.scope.push_label(&label, node);
        Some(label)
    }

    /// Lowers a statement with its operands. Returns the node, and its regions that are to be filled.
    fn statement(&mut self, stmt: &'t Stmt, at: &mut At) -> Option<(NodeRef, Vec<(RegionId, RegionRef)>)> {
        let lowered = self.operator(stmt, at);
        let Some((op, inputs, scrutinee)) = lowered else {
            if let Some(name) = &stmt.label.name {
                for part in crate::text::scope::output_names(name) {
                    self.scope.bind(&part.into(), Binding::Broken);
                }
            }
            return None;
        };
        let tag = stmt.label.tag.or(stmt.head.tag);
        let old = stmt.label.name.as_ref().and_then(|name| self.lowering.reuse.nodes.get(name)).copied();
        let old = old.filter(|(_, code)| *code == op.code()).map(|(node, _)| node);
        let number = match self.reused(tag, old) {
            Some(number) => {
                if let Some(name) = &stmt.label.name {
                    self.lowering.reuse.nodes.remove(name);
                }
                number
            }
            None => self.number(tag, stmt.head.at),
        };
        let node = NodeRef::of_key(number);
        let regions = self.plan_regions(stmt, node, &op, scrutinee.as_ref());
        let content = NodeContent {
            op,
            inputs: inputs.into_iter().collect(),
            regions: regions.iter().map(|region| region.of).collect(),
            name: stmt.label.name.clone(),
            doc: stmt.doc.clone(),
        };
        self.place(node, content, at, stmt.head.at)?;
        if let Some(name) = &stmt.label.name {
            let first = crate::text::scope::output_names(name).next().unwrap_or_default();
            self.labelled.push((first.to_owned(), node));
        }
        let mut filled = Vec::new();
        for Planned { of, role, params, syntax } in regions {
            let mut record = Region::new(RegionOwner::Node(node), role, params);
            if let Some(syntax) = syntax {
                record.trailer = self.lowering.tree.regions[syntax as usize].trailer.clone();
                filled.push((syntax, of));
            }
            self.change(stmt.head.at, |function| function.add_region(of, record));
            if syntax.is_none() {
                let number = self.number(None, stmt.head.at);
                let op = Op::new(Opcode::Yield, Attr::None)?;
                let mut inner = At { region: of, last: None };
                self.place(NodeRef::of_key(number), NodeContent::new(op, []), &mut inner, stmt.head.at);
            }
        }
        if !stmt.head.code.spec().regions.is_empty() {
            return Some((node, filled));
        }
        if let Some(name) = &stmt.label.name {
            self.scope.bind_outputs(name, node);
        }
        None
    }

    fn place(&mut self, node: NodeRef, content: NodeContent, at: &mut At, position: u32) -> Option<()> {
        if content.inputs.len() >= crate::node::MAX_PORTS {
            self.note(Mistake::new(code::TOO_LARGE, position, "an operator has too many operands"));
            return None;
        }
        let (region, last) = (at.region, at.last);
        self.change(position, |function| function.insert_node(node, region, last, content))?;
        at.last = Some(node);
        Some(())
    }

    /// The operator of a statement with its inputs; for a `match` also the type that it looks at.
    fn operator(&mut self, stmt: &'t Stmt, at: &mut At) -> Option<(Op, Vec<Option<Source>>, Option<Type>)> {
        let head = &stmt.head;
        if let AttrSyntax::Unknown { names } = head.attr {
            self.unknown_operands(names, &stmt.operands, at);
            return None;
        }
        if let AttrSyntax::Match(of) = &head.attr {
            let expected = match of.cases.first() {
                None | Some(CaseSyntax::Int(_)) => Some(SmallVec::from_elem(Expected::Integer, 1)),
                Some(CaseSyntax::Variant(..)) => None,
            };
            let inputs = self.inputs(expected, &stmt.operands, at);
            let source = inputs.first().copied().flatten();
            let function = self.program().function(self.function)?;
            let scrutinee = source.and_then(|source| source_type(self.program(), function, source));
            let resolved = resolve_op(head, scrutinee.as_ref(), &self.names());
            return Some((self.named(resolved)?, inputs, scrutinee));
        }
        let resolved = resolve_op(head, None, &self.names());
        let op = self.named(resolved);
        let expected = match (&op, head.code) {
            (Some(_), Opcode::Loop) => {
                let tree = self.lowering.tree;
                let params =
                    stmt.regions.first().and_then(|region| tree.regions[*region as usize].params.as_ref());
                let types = params.into_iter().flatten().filter_map(|param| param.ty.as_ref());
                let types: Resolved<SmallVec<[Expected; 3]>> =
                    types.map(|ty| resolve_type(ty, &self.names()).map(Expected::Is)).collect();
                types.ok()
            }
            (Some(op), _) => self.expected(op, stmt.operands.len(), at.region),
            (None, _) => None,
        };
        // The operands are lowered even for a broken operator: their mistakes count too.
        let inputs = self.inputs(expected, &stmt.operands, at);
        Some((op?, inputs, None))
    }

    pub(super) fn named<T>(&mut self, resolved: Resolved<T>) -> Option<T> {
        self.lowering.noted(resolved)
    }

    /// What the inputs of an operator take.
    fn expected(&self, op: &Op, count: usize, region: RegionRef) -> Option<SmallVec<[Expected; 3]>> {
        if count == 0 || count >= crate::node::MAX_PORTS {
            return None;
        }
        let function = self.program().function(self.function)?;
        let node = Node::new(NodeContent::new(op.clone(), std::iter::repeat_n(None, count)), region);
        ports(self.program(), function, &node).map(|ports| ports.inputs)
    }

    /// Lowers operands in order: nodes for literals and nested operators come to stand right before their use.
    pub(super) fn inputs(
        &mut self,
        expected: Option<SmallVec<[Expected; 3]>>,
        operands: &'t [ExprId],
        at: &mut At,
    ) -> Vec<Option<Source>> {
        let tree = self.lowering.tree;
        let mut stack =
            vec![Pending { nested: None, expected, operands, inputs: Vec::with_capacity(operands.len()) }];
        loop {
            let Some(top) = stack.last_mut() else { return Vec::new() };
            let index = top.inputs.len();
            let Some(id) = top.operands.get(index) else {
                let Some(done) = stack.pop() else { return Vec::new() };
                let Some((head, op)) = done.nested else { return done.inputs };
                let made = op.and_then(|op| {
                    let node = NodeRef::of_key(self.number(head.tag, head.at));
                    self.place(node, NodeContent::new(op, done.inputs), at, head.at)?;
                    Some(Source::Node(node, 0))
                });
                if let Some(outer) = stack.last_mut() {
                    outer.inputs.push(made);
                }
                continue;
            };
            let operand = &tree.exprs[*id as usize];
            if let Some((Head { attr: AttrSyntax::Unknown { names }, .. }, _)) = &top.nested
                && self.says_nothing(operand, *names && index == 0)
            {
                top.inputs.push(None);
                continue;
            }
            let input = match operand {
                Expr::Hole => None,
                Expr::Value { segment, port, at: position } => self.value(segment, *port, *position, at),
                Expr::Literal { value, tag, at: position } => {
                    let expected = top.expected.as_ref().map(|ports| {
                        // One too many is told by the verifier, as it is of other operands.
                        ports.get(index).cloned().unwrap_or_else(|| Expected::Is(value.natural_type()))
                    });
                    self.literal(value, *tag, *position, expected.as_ref(), at)
                }
                Expr::Application { head, operands } if matches!(head.attr, AttrSyntax::Unknown { .. }) => {
                    let inputs = Vec::with_capacity(operands.len());
                    stack.push(Pending { nested: Some((head, None)), expected: None, operands, inputs });
                    continue;
                }
                Expr::Application { head, operands } => {
                    let resolved = resolve_op(head, None, &self.names());
                    if let Some(op) = self.named(resolved) {
                        let expected = self.expected(&op, operands.len(), at.region);
                        let inputs = Vec::with_capacity(operands.len());
                        stack.push(Pending { nested: Some((head, Some(op))), expected, operands, inputs });
                        continue;
                    }
                    None
                }
            };
            if let Some(top) = stack.last_mut() {
                top.inputs.push(input);
            }
        }
    }

    fn literal(
        &mut self,
        literal: &crate::text::literal::Literal,
        tag: Option<Tag>,
        position: u32,
        expected: Option<&Expected>,
        at: &mut At,
    ) -> Option<Source> {
        let ty = match expected {
            Some(Expected::Is(ty)) => ty.clone(),
            // What `i32` can hold, a literal for an address is.
            Some(Expected::Address | Expected::Integer | Expected::Reference) => Type::I32,
            None => {
                if !self.lowering.tainted {
                    let message = "no type is known for this literal: what its operator takes is not known";
                    self.note(
                        Mistake::new(code::LITERAL_WITHOUT_TYPE, position, message)
                            .expected("(const.T ..)")
                            .found(literal.describe()),
                    );
                }
                return None;
            }
        };
        let value: Const = match literal.typed(&ty) {
            Ok(value) => value,
            Err(unfit) => {
                let name = print_type_name(self.program(), Some(self.module), &ty);
                self.note(unfit.mistake(literal, &name, position));
                return None;
            }
        };
        let node = NodeRef::of_key(self.number(tag, position));
        self.place(node, NodeContent::new(Op::constant(value), []), at, position)?;
        Some(Source::Node(node, 0))
    }

    /// The source that a name or ref means; reading a variable or capture makes a node.
    fn value(&mut self, segment: &Segment, port: Option<u16>, position: u32, at: &mut At) -> Option<Source> {
        if let Some((of, tag_at)) = given_ref(segment) {
            return self.value_by_ref(of, port, tag_at);
        }
        let op = match self.scope.lookup(&segment.name) {
            Some(Binding::Value(Source::Node(node, 0))) => {
                return Some(Source::Node(node, port.unwrap_or(0)));
            }
            Some(Binding::Value(source)) if port.is_none() => return Some(source),
            Some(Binding::Value(_)) => {
                let message = format!("`{}` has no ports", segment.name);
                self.note(Mistake::new(code::SYNTAX, position, message));
                return None;
            }
            Some(Binding::Broken) => return None,
            Some(Binding::Variable(of)) => Op::new(Opcode::VarGet, Attr::Variable(of)),
            Some(Binding::Capture(index)) => Op::new(Opcode::CaptureGet, Attr::Index(index)),
            None => {
                let message = format!("there is no value `{}` here", segment.name);
                let mut known = likely::operators_called(&segment.name);
                known.extend(in_scope(&segment.name, self.scope.names()));
                let mistake = Mistake::new(code::UNKNOWN_NAME, position, message);
                self.note_name(mistake.found(&*segment.name).candidates(known));
                return None;
            }
        };
        let node = NodeRef::of_key(self.number(None, position));
        self.place(node, NodeContent::new(op?, []), at, position)?;
        Some(Source::Node(node, 0))
    }

    fn value_by_ref(&mut self, of: Ref, port: Option<u16>, position: u32) -> Option<Source> {
        let known =
            self.lowering.given.get(&of.number) == Some(&of.kind) || self.program().place(of).is_some();
        if !known {
            self.note(unknown_ref(of, position));
            return None;
        }
        let port = port.unwrap_or(0);
        match of.kind {
            RefKind::Node => Some(Source::Node(NodeRef::of_key(of.number), port)),
            RefKind::Region => Some(Source::RegionParam(RegionRef::of_key(of.number), port)),
            RefKind::Function => Some(Source::Param(FuncRef::of_key(of.number), port)),
            RefKind::Module | RefKind::Type | RefKind::Member | RefKind::Variable | RefKind::Contract => {
                let message = format!("`{of}` is no value");
                self.note(Mistake::new(code::WRONG_KIND, position, message).found(of.to_string()));
                None
            }
        }
    }
}

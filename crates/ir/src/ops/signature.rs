//! The types of a node's ports, from its operator and the entities that it names.
//!
//! Never from its inputs: so a hole or a mistake in one place leaves the types of all others known.

use smallvec::{SmallVec, smallvec};

use crate::entities::RegionOwner;
use crate::function::Function;
use crate::node::{Node, NodeContent, Source};
use crate::ops::op::{Attr, Case, Exit, Op};
use crate::ops::spec::{AttrKind, PortType};
use crate::program::Program;
use crate::refs::NodeRef;
use crate::types::{Scalar, Signature, Type, Variant};
use std::fmt;
use std::sync::Arc;

/// What an input takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exactly this type.
    Is(Type),
    /// `i32` or any `ptr`.
    Address,
    /// `funcref` or `externref`.
    Reference,
    /// `i32` or `i64`: what a `match` over integers looks at.
    Integer,
}

impl Expected {
    /// Tells whether a value of a type may go there.
    pub fn accepts(&self, given: &Type) -> bool {
        match self {
            Expected::Is(ty) => ty == given,
            Expected::Address => matches!(given, Type::Scalar(Scalar::I32) | Type::Ptr(_)),
            Expected::Reference => matches!(given, Type::FuncRef | Type::ExternRef),
            Expected::Integer => matches!(given, Type::Scalar(Scalar::I32 | Scalar::I64)),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Is(ty) => write!(f, "`{ty}`"),
            Expected::Address => f.write_str("`i32` or a pointer"),
            Expected::Reference => f.write_str("`funcref` or `externref`"),
            Expected::Integer => f.write_str("`i32` or `i64`"),
        }
    }
}

/// The ports of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// What each input takes.
    pub inputs: SmallVec<[Expected; 3]>,
    /// The type of each output.
    pub outputs: SmallVec<[Type; 1]>,
}

/// The ports of a node; `None` when an entity that its operator names does not exist, or is of another kind.
pub fn ports(program: &Program, function: &Function, node: &Node) -> Option<Ports> {
    let scope = Scope { program, function, node };
    let mut ports = Ports::default();
    for port in node.op().spec().inputs {
        match port.ty {
            PortType::Address => ports.inputs.push(Expected::Address),
            PortType::Reference => ports.inputs.push(Expected::Reference),
            PortType::Scrutinee => ports.inputs.push(scope.scrutinee()?),
            _ => ports.inputs.extend(scope.types(port.ty)?.into_iter().map(Expected::Is)),
        }
    }
    for port in node.op().spec().outputs {
        ports.outputs.extend(scope.types(port.ty)?);
    }
    Some(ports)
}

/// The types of a node's outputs; `None` as for [`ports`].
pub fn outputs(program: &Program, function: &Function, node: &Node) -> Option<SmallVec<[Type; 1]>> {
    let scope = Scope { program, function, node };
    let mut outputs = SmallVec::new();
    for port in node.op().spec().outputs {
        outputs.extend(scope.types(port.ty)?);
    }
    Some(outputs)
}

/// The types that a node's outputs would have with another operator; `None` as for [`ports`].
pub fn outputs_with(
    program: &Program,
    function: &Function,
    node: &Node,
    op: &Op,
) -> Option<SmallVec<[Type; 1]>> {
    let mut other = node.clone();
    other.set_content(NodeContent { op: op.clone(), ..node.content() });
    outputs(program, function, &other)
}

/// The type of the value that a source gives; `None` when there is no such output or parameter.
pub fn source_type(program: &Program, function: &Function, source: Source) -> Option<Type> {
    let port = usize::from(source.port());
    match source {
        Source::Node(node, _) => {
            outputs(program, function, function.body().node(node)?)?.into_iter().nth(port)
        }
        Source::RegionParam(region, _) => Some(function.body().region(region)?.params.get(port)?.ty.clone()),
        Source::Param(..) => Some(function.head().params.get(port)?.ty.clone()),
    }
}

/// The types that leaving through an exit takes; `None` when its target does not own regions, or is no loop for a
/// `continue`.
pub fn exit_types(function: &Function, exit: Exit) -> Option<Vec<Type>> {
    match exit {
        Exit::Return => Some(function.head().results.clone()),
        Exit::Break(target) => results(function.body().node(target)?.op()),
        Exit::Continue(target) => {
            let node = function.body().node(target)?;
            (node.op().code() == crate::ops::Opcode::Loop).then_some(())?;
            loop_params(function, node)
        }
    }
}

fn results(op: &Op) -> Option<Vec<Type>> {
    match op.attr() {
        Attr::Control(control) => Some(control.results.clone()),
        Attr::Match(cases) => Some(cases.results.clone()),
        Attr::None
        | Attr::Scalar(_)
        | Attr::Convert(..)
        | Attr::Const(_)
        | Attr::Type(_)
        | Attr::Named(_)
        | Attr::Field(..)
        | Attr::Variant(_)
        | Attr::Function(_)
        | Attr::Variable(_)
        | Attr::Index(_)
        | Attr::Signature(_)
        | Attr::Indirect(..)
        | Attr::Entries(..)
        | Attr::Memory(_)
        | Attr::Exit(_)
        | Attr::Switch(_)
        | Attr::Raw(_) => None,
    }
}

fn loop_params(function: &Function, node: &Node) -> Option<Vec<Type>> {
    let body = function.body().region(*node.regions().first()?)?;
    Some(body.params.iter().map(|param| param.ty.clone()).collect())
}

struct Scope<'a> {
    program: &'a Program,
    function: &'a Function,
    node: &'a Node,
}

type Types = SmallVec<[Type; 2]>;

impl Scope<'_> {
    fn types(&self, port: PortType) -> Option<Types> {
        let one = |ty: Type| -> Option<Types> { Some(smallvec![ty]) };
        match port {
            PortType::Is(scalar) => one(scalar.into()),
            PortType::Unit => one(Type::Unit),
            PortType::String => one(Type::String),
            PortType::Bytes => one(Type::Bytes),
            PortType::FuncRef => one(Type::FuncRef),
            PortType::ExternRef => one(Type::ExternRef),
            PortType::Entry => one(self.entry()?),
            PortType::Ints => one(Type::Array(Arc::new(Type::I32))),
            PortType::OptionalString => one(Type::Option(Arc::new(Type::String))),
            PortType::OptionalT => one(Type::Option(Arc::new(self.first_scalar()?.into()))),
            PortType::T => one(self.first_scalar()?.into()),
            PortType::U => one(self.second_scalar()?.into()),
            PortType::Address => one(Type::I32),
            PortType::Given => one(self.given()?.clone()),
            PortType::BoxOfGiven => one(Type::Box(Arc::new(self.given()?.clone()))),
            PortType::PtrToGiven => one(Type::Ptr(Arc::new(self.given()?.clone()))),
            PortType::Elem => one(self.element()?),
            PortType::Elems => self.elements(),
            PortType::Struct => one(self.named()?),
            PortType::PtrToStruct => one(Type::Ptr(Arc::new(self.named()?))),
            PortType::Fields => self.fields(),
            PortType::Field => one(self.field()?),
            PortType::PtrToField => one(Type::Ptr(Arc::new(self.field()?))),
            PortType::Enum => one(self.variant()?.owner()),
            PortType::Payload => self.payload(self.variant()?),
            PortType::Variable => one(self.variable()?),
            PortType::Constant => match self.node.op().attr() {
                Attr::Const(value) => one(value.ty()),
                _ => None,
            },
            PortType::Params => {
                Some(self.callee()?.head().params.iter().map(|param| param.ty.clone()).collect())
            }
            PortType::Returns => Some(self.callee()?.head().results.iter().cloned().collect()),
            PortType::Captures => {
                Some(self.callee()?.head().captures.iter().map(|param| param.ty.clone()).collect())
            }
            PortType::ClosureOfFunction => {
                let head = self.callee()?.head();
                let params = head.params.iter().map(|param| param.ty.clone()).collect();
                one(Type::Closure(Arc::new(Signature { params, results: head.results.clone() })))
            }
            PortType::Closure => one(Type::Closure(Arc::clone(self.signature()?))),
            PortType::ClosureParams => Some(self.signature()?.params.iter().cloned().collect()),
            PortType::ClosureResults => Some(self.signature()?.results.iter().cloned().collect()),
            PortType::Capture => match self.node.op().attr() {
                Attr::Index(index) => one(self.function.head().captures.get(*index as usize)?.ty.clone()),
                _ => None,
            },
            PortType::LoopParams => loop_params(self.function, self.node).map(Types::from_vec),
            PortType::Results => results(self.node.op()).map(Types::from_vec),
            PortType::ExitValues => self.exit_values().map(Types::from_vec),
            PortType::YieldValues => self.yield_values(),
            PortType::ReturnValues => Some(self.function.head().results.iter().cloned().collect()),
            PortType::Scrutinee | PortType::Reference => None,
            PortType::RawInputs => Some(self.raw()?.params.iter().cloned().collect()),
            PortType::RawOutputs => Some(self.raw()?.results.iter().cloned().collect()),
        }
    }

    fn first_scalar(&self) -> Option<Scalar> {
        match self.node.op().attr() {
            Attr::Scalar(scalar) | Attr::Convert(scalar, _) => Some(*scalar),
            Attr::Memory(arg) => Some(arg.ty),
            _ => None,
        }
    }

    fn second_scalar(&self) -> Option<Scalar> {
        match self.node.op().attr() {
            Attr::Convert(_, scalar) => Some(*scalar),
            _ => None,
        }
    }

    fn given(&self) -> Option<&Type> {
        match self.node.op().attr() {
            Attr::Type(ty) => Some(ty),
            _ => None,
        }
    }

    fn element(&self) -> Option<Type> {
        match self.given()? {
            Type::Array(of) | Type::FixedArray(of, _) => Some((**of).clone()),
            _ => None,
        }
    }

    fn elements(&self) -> Option<Types> {
        let count = match self.given()? {
            Type::FixedArray(_, length) => *length as usize,
            _ => self.node.inputs().len(),
        };
        Some(std::iter::repeat_n(self.element()?, count.min(crate::node::MAX_PORTS)).collect())
    }

    fn named(&self) -> Option<Type> {
        match self.node.op().attr() {
            Attr::Named(of) | Attr::Field(of, _) => {
                self.program.type_def(*of)?;
                Some(Type::Named(*of))
            }
            _ => None,
        }
    }

    fn fields(&self) -> Option<Types> {
        match self.node.op().attr() {
            Attr::Named(of) => match &self.program.type_def(*of)?.shape {
                crate::entities::Shape::Struct(fields) => {
                    Some(fields.iter().map(|field| field.ty.clone()).collect())
                }
                crate::entities::Shape::Enum(_) => None,
            },
            _ => None,
        }
    }

    fn field(&self) -> Option<Type> {
        match self.node.op().attr() {
            Attr::Field(of, member) => {
                let def = self.program.type_def(*of)?;
                Some(def.field(*member)?.1.ty.clone())
            }
            _ => None,
        }
    }

    fn variant(&self) -> Option<&Variant> {
        match self.node.op().attr() {
            Attr::Variant(variant) => Some(variant),
            _ => None,
        }
    }

    fn payload(&self, variant: &Variant) -> Option<Types> {
        payload_type(self.program, variant).map(|payload| payload.into_iter().collect())
    }

    fn variable(&self) -> Option<Type> {
        let Attr::Variable(variable) = self.node.op().attr() else { return None };
        if self.node.op().spec().attr == AttrKind::Variable {
            return Some(self.function.body().variable(*variable)?.ty.clone());
        }
        match &self.program.storage(*variable)?.kind {
            crate::storage::StorageKind::Global { ty, .. } => Some(ty.clone()),
            crate::storage::StorageKind::Memory { .. }
            | crate::storage::StorageKind::Data { .. }
            | crate::storage::StorageKind::Table { .. }
            | crate::storage::StorageKind::Elements { .. }
            | crate::storage::StorageKind::Custom { .. } => None,
        }
    }

    fn entry(&self) -> Option<Type> {
        let Attr::Variable(table) = self.node.op().attr() else { return None };
        match &self.program.storage(*table)?.kind {
            crate::storage::StorageKind::Table { ty, .. } => Some(ty.clone()),
            crate::storage::StorageKind::Global { .. }
            | crate::storage::StorageKind::Memory { .. }
            | crate::storage::StorageKind::Data { .. }
            | crate::storage::StorageKind::Elements { .. }
            | crate::storage::StorageKind::Custom { .. } => None,
        }
    }

    fn callee(&self) -> Option<&Function> {
        match self.node.op().attr() {
            Attr::Function(of) => self.program.function(*of).map(AsRef::as_ref),
            _ => None,
        }
    }

    fn signature(&self) -> Option<&Arc<Signature>> {
        match self.node.op().attr() {
            Attr::Signature(signature) | Attr::Indirect(_, signature) => Some(signature),
            _ => None,
        }
    }

    fn raw(&self) -> Option<&Signature> {
        match self.node.op().attr() {
            Attr::Raw(raw) => Some(&raw.signature),
            _ => None,
        }
    }

    fn exit_values(&self) -> Option<Vec<Type>> {
        use crate::ops::Opcode;
        let node_exit = |target: NodeRef| match self.node.op().code() {
            Opcode::Continue | Opcode::ContinueIf => Exit::Continue(target),
            _ => Exit::Break(target),
        };
        match self.node.op().attr() {
            Attr::Exit(target) => exit_types(self.function, node_exit(*target)),
            Attr::Switch(targets) => exit_types(self.function, *targets.last()?),
            _ => None,
        }
    }

    fn yield_values(&self) -> Option<Types> {
        match self.function.body().region(self.node.region())?.owner {
            RegionOwner::Function => None,
            RegionOwner::Contract(_) => Some(smallvec![Type::BOOL]),
            RegionOwner::Node(owner) => results(self.function.body().node(owner)?.op()).map(Types::from_vec),
        }
    }

    fn scrutinee(&self) -> Option<Expected> {
        let Attr::Match(of) = self.node.op().attr() else { return None };
        Some(match of.cases.first() {
            None | Some(Case::Int(_)) => Expected::Integer,
            Some(Case::Variant(variant)) => Expected::Is(variant.owner()),
        })
    }
}

/// The payload of a variant: `Some(None)` for a variant without one, `None` for one that does not exist.
pub fn payload_type(program: &Program, variant: &Variant) -> Option<Option<Type>> {
    match variant {
        Variant::None(_) => Some(None),
        Variant::Some(of) => Some(Some((**of).clone())),
        Variant::Ok(of) => Some(Some(of.0.clone())),
        Variant::Err(of) => Some(Some(of.1.clone())),
        Variant::Member(of, member) => {
            let def = program.type_def(*of)?;
            Some(def.variant(*member)?.1.payload.clone())
        }
    }
}

//! The types of ports, the common ones without a look at anything but the operator.

use lmlang_ir::ops::{Expected, PortType, Ports, ports, signature};
use lmlang_ir::{Attr, Function, Node, Program, Type};
use smallvec::SmallVec;

/// What the inputs of a node take.
pub(crate) enum Inputs {
    /// What follows from the operator alone, port by port.
    Plain,
    Listed(SmallVec<[Expected; 3]>),
    /// Something that the operator names does not exist.
    Unknown,
}

/// The type of a port that follows from scalars in the operator alone.
fn plain(port: PortType, attr: &Attr) -> Option<Type> {
    match (port, attr) {
        (PortType::T, Attr::Scalar(scalar) | Attr::Convert(scalar, _)) => Some(Type::Scalar(*scalar)),
        (PortType::T, Attr::Memory(arg)) => Some(Type::Scalar(arg.ty)),
        (PortType::U, Attr::Convert(_, scalar)) => Some(Type::Scalar(*scalar)),
        (PortType::Given, Attr::Type(Type::Scalar(scalar))) => Some(Type::Scalar(*scalar)),
        (PortType::Is(scalar), _) => Some(Type::Scalar(scalar)),
        (PortType::Constant, Attr::Const(value)) => Some(value.ty()),
        (PortType::String, _) => Some(Type::String),
        (PortType::Bytes, _) => Some(Type::Bytes),
        (_, _) => None,
    }
}

/// Appends the types of a node's outputs; `None` when something that its operator names does not exist.
pub(crate) fn push_outputs(
    program: &Program,
    function: &Function,
    node: &Node,
    into: &mut Vec<Type>,
) -> Option<()> {
    let start = into.len();
    let op = node.op();
    for port in op.spec().outputs {
        match plain(port.ty, op.attr()) {
            Some(ty) => into.push(ty),
            None => {
                into.truncate(start);
                into.extend(signature::outputs(program, function, node)?);
                return Some(());
            }
        }
    }
    Some(())
}

/// Tells whether the type of a port follows from the operator alone.
fn is_plain(port: PortType, attr: &Attr) -> bool {
    let scalar = matches!(attr, Attr::Scalar(_) | Attr::Convert(..) | Attr::Memory(_));
    matches!(port, PortType::Address | PortType::Is(_) | PortType::String | PortType::Bytes)
        || (port == PortType::T && scalar)
}

impl Inputs {
    /// What the inputs of a node take.
    pub(crate) fn of(program: &Program, function: &Function, node: &Node) -> Inputs {
        let op = node.op();
        if op.spec().inputs.iter().all(|port| is_plain(port.ty, op.attr())) {
            return Inputs::Plain;
        }
        ports(program, function, node)
            .map_or(Inputs::Unknown, |Ports { inputs, outputs: _ }| Inputs::Listed(inputs))
    }

    /// How many inputs there should be, when it is known.
    pub(crate) fn count(&self, node: &Node) -> Option<usize> {
        match self {
            Inputs::Plain => Some(node.op().spec().inputs.len()),
            Inputs::Listed(inputs) => Some(inputs.len()),
            Inputs::Unknown => None,
        }
    }

    /// What an input takes, when it is known.
    pub(crate) fn get(&self, node: &Node, index: usize) -> Option<Expected> {
        match self {
            Inputs::Plain => {
                let port = node.op().spec().inputs.get(index)?.ty;
                match plain(port, node.op().attr()) {
                    Some(ty) => Some(Expected::Is(ty)),
                    None => Some(Expected::Address),
                }
            }
            Inputs::Listed(inputs) => inputs.get(index).cloned(),
            Inputs::Unknown => None,
        }
    }

    /// Tells whether an input may take a value of a type; true when it is not known what it takes.
    pub(crate) fn accepts(&self, node: &Node, index: usize, given: &Type) -> bool {
        match self {
            Inputs::Plain => self.get(node, index).is_none_or(|expected| expected.accepts(given)),
            Inputs::Listed(inputs) => inputs.get(index).is_none_or(|expected| expected.accepts(given)),
            Inputs::Unknown => true,
        }
    }
}

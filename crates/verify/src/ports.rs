//! The types of ports, the common ones without a look at anything but the operator.

use lmlang_ir::ops::{Expected, PortType, Ports, ports, signature};
use lmlang_ir::{Attr, Function, Node, Program, Type};
use smallvec::SmallVec;

/// What the inputs of a node take.
pub(crate) type Inputs = SmallVec<[Expected; 3]>;

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

/// What the inputs of a node take; `None` when something that its operator names does not exist.
pub(crate) fn inputs(program: &Program, function: &Function, node: &Node) -> Option<Inputs> {
    let op = node.op();
    let mut inputs = Inputs::new();
    for port in op.spec().inputs {
        match (port.ty, plain(port.ty, op.attr())) {
            (PortType::Address, _) => inputs.push(Expected::Address),
            (_, Some(ty)) => inputs.push(Expected::Is(ty)),
            (_, None) => {
                let Ports { inputs, outputs: _ } = ports(program, function, node)?;
                return Some(inputs);
            }
        }
    }
    Some(inputs)
}

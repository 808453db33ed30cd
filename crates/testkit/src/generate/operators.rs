//! Operators by the op table: which there are, attributes for them, and the types of their ports.

use std::sync::Arc;

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::ops::{AttrKind, OPS, PortType};
use lmlang_ir::{Attr, FunctionHead, MemArg, Op, OpSpec, Opcode, Scalar, Shape, Type, Variant};

use super::values::constant;
use super::world::{World, closure_of, makes_closure, plain};
use crate::choices::Choices;

/// What an input of a generated node takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// A value of this type.
    Is(Type),
    /// An address.
    Address,
}

/// The rows of the op table that stand for themselves: no regions, no exits, nothing that only its place explains.
pub fn table() -> impl Iterator<Item = &'static OpSpec> {
    OPS.iter().filter(|spec| match spec.attr {
        AttrKind::Control
        | AttrKind::Match
        | AttrKind::Exit
        | AttrKind::Switch
        | AttrKind::Raw
        | AttrKind::Variable => false,
        AttrKind::None => !ends_a_region(spec.code),
        AttrKind::Scalar(_)
        | AttrKind::Convert(_)
        | AttrKind::Const
        | AttrKind::Type
        | AttrKind::Array
        | AttrKind::Struct
        | AttrKind::Field
        | AttrKind::Enum
        | AttrKind::Variant
        | AttrKind::Function
        | AttrKind::Global
        | AttrKind::Data
        | AttrKind::Table
        | AttrKind::Elements
        | AttrKind::TableInit
        | AttrKind::TableCopy
        | AttrKind::Index
        | AttrKind::Signature
        | AttrKind::Indirect
        | AttrKind::Memory(_) => true,
    })
}

fn ends_a_region(code: Opcode) -> bool {
    matches!(code, Opcode::Yield | Opcode::Return | Opcode::Unreachable)
}

/// An attribute for an opcode, of what the world has; `None` when it has nothing fitting.
pub fn attribute(world: &World, head: &FunctionHead, code: Opcode, choices: &mut Choices) -> Option<Attr> {
    let types = |fits: &dyn Fn(&Type) -> bool, choices: &mut Choices| {
        let fitting: Vec<&Type> = world.types.iter().filter(|ty| fits(ty)).collect();
        choices.pick(&fitting).map(|ty| (*ty).clone())
    };
    let fits_memory = |ty: &Type| plain(&world.program, ty);
    Some(match code.spec().attr {
        AttrKind::None => Attr::None,
        AttrKind::Scalar(of) => Attr::Scalar(*choices.pick(of)?),
        AttrKind::Convert(of) => {
            let (from, to) = *choices.pick(of)?;
            Attr::Convert(from, to)
        }
        AttrKind::Const => {
            let ty = choices.pick(&world.types)?.clone();
            Attr::Const(constant(choices, &ty)?)
        }
        AttrKind::Type => match code {
            Opcode::ElemAddr | Opcode::PtrFromI32 | Opcode::PtrToI32 => {
                Attr::Type(types(&fits_memory, choices)?)
            }
            _ => Attr::Type(choices.pick(&world.types)?.clone()),
        },
        AttrKind::Array => {
            let fixed = !matches!(code, Opcode::ArrayPush | Opcode::ArraySlice);
            let array =
                |ty: &Type| matches!(ty, Type::Array(_)) || (fixed && matches!(ty, Type::FixedArray(..)));
            Attr::Type(types(&array, choices)?)
        }
        AttrKind::Struct => Attr::Named(choices.pick(&world.structs)?.0),
        AttrKind::Field => {
            let (of, def) = choices.pick(&world.structs)?;
            let memory = code == Opcode::FieldAddr && !fits_memory(&Type::Named(*of));
            Attr::Field(*of, choices.pick(def.fields()).filter(|_| !memory)?.member)
        }
        AttrKind::Enum => Attr::Type(choices.pick(&world.enums)?.clone()),
        AttrKind::Variant => {
            let of = choices.pick(&world.enums)?;
            let variants = variants(world, of);
            let wants_payload = code == Opcode::EnumPayload;
            let fitting: Vec<Variant> = variants
                .into_iter()
                .filter(|variant| {
                    !wants_payload || matches!(payload_type(&world.program, variant), Some(Some(_)))
                })
                .collect();
            Attr::Variant(Arc::new(choices.pick(&fitting)?.clone()))
        }
        AttrKind::Function => {
            let captures = code == Opcode::ClosureNew;
            let fitting: Vec<_> =
                world.functions.iter().filter(|(_, head)| makes_closure(head) == captures).collect();
            Attr::Function(choices.pick(&fitting)?.0)
        }
        AttrKind::Variable => return None,
        AttrKind::Global => {
            let writable = |mutable: bool| mutable || code != Opcode::GlobalSet;
            let fitting: Vec<_> = world.globals.iter().filter(|(.., mutable)| writable(*mutable)).collect();
            Attr::Variable(choices.pick(&fitting)?.0)
        }
        AttrKind::Data => Attr::Variable(choices.pick(&world.data)?.0),
        AttrKind::Table => Attr::Variable(choices.pick(&world.tables)?.0),
        AttrKind::Elements => Attr::Variable(*choices.pick(&world.elements)?),
        AttrKind::TableInit => Attr::Entries(choices.pick(&world.tables)?.0, *choices.pick(&world.elements)?),
        AttrKind::TableCopy => Attr::Entries(choices.pick(&world.tables)?.0, choices.pick(&world.tables)?.0),
        AttrKind::Index if head.captures.is_empty() => return None,
        AttrKind::Index => Attr::Index(choices.below(head.captures.len()) as u32),
        AttrKind::Signature => match types(&|ty| matches!(ty, Type::Closure(_)), choices)? {
            Type::Closure(signature) => Attr::Signature(signature),
            _ => return None,
        },
        AttrKind::Indirect => {
            let (table, entries) = choices.pick(&world.tables)?;
            let heads: Vec<&FunctionHead> =
                entries.iter().flatten().filter_map(|of| world.head(*of)).collect();
            match closure_of(choices.pick(&heads)?) {
                Type::Closure(signature) => Attr::Indirect(*table, signature),
                _ => return None,
            }
        }
        AttrKind::Memory(of) => {
            let ty = *choices.pick(of)?;
            let width = width(code).unwrap_or(ty.size());
            let align_log2 = choices.below(width.ilog2() as usize + 1) as u8;
            Attr::Memory(MemArg { ty, offset: 4 * choices.below(5) as u32, align_log2 })
        }
        AttrKind::Control | AttrKind::Match | AttrKind::Exit | AttrKind::Switch | AttrKind::Raw => {
            return None;
        }
    })
}

/// The bytes that a narrow access touches.
fn width(code: Opcode) -> Option<u32> {
    match code {
        Opcode::Load8S | Opcode::Load8U | Opcode::Store8 => Some(1),
        Opcode::Load16S | Opcode::Load16U | Opcode::Store16 => Some(2),
        Opcode::Load32S | Opcode::Load32U | Opcode::Store32 => Some(4),
        _ => None,
    }
}

/// The variants of an enum type.
pub fn variants(world: &World, of: &Type) -> Vec<Variant> {
    match of {
        Type::Option(of) => vec![Variant::None(Arc::clone(of)), Variant::Some(Arc::clone(of))],
        Type::Result(of) => vec![Variant::Ok(Arc::clone(of)), Variant::Err(Arc::clone(of))],
        Type::Named(of) => match world.program.type_def(*of).map(|def| &def.shape) {
            Some(Shape::Enum(variants)) => {
                variants.iter().map(|variant| Variant::Member(*of, variant.member)).collect()
            }
            Some(Shape::Struct(_)) | None => Vec::new(),
        },
        Type::Scalar(_)
        | Type::Unit
        | Type::Never
        | Type::String
        | Type::Bytes
        | Type::Ptr(_)
        | Type::Array(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_)
        | Type::FuncRef
        | Type::ExternRef => Vec::new(),
    }
}

/// What a node of an operator takes; `count` is how many elements a literal of an array has.
pub fn inputs(world: &World, head: &FunctionHead, op: &Op, count: usize) -> Option<Vec<Taken>> {
    let mut taken = Vec::new();
    for port in op.spec().inputs {
        match port.ty {
            PortType::Address => taken.push(Taken::Address),
            PortType::Elems => {
                let (element, length) = element(op)?;
                taken.extend(std::iter::repeat_n(Taken::Is(element), length.unwrap_or(count)));
            }
            other => taken.extend(types(world, head, op, other)?.into_iter().map(Taken::Is)),
        }
    }
    Some(taken)
}

/// The types that a node of an operator gives.
pub fn outputs(world: &World, head: &FunctionHead, op: &Op) -> Option<Vec<Type>> {
    let mut given = Vec::new();
    for port in op.spec().outputs {
        given.extend(types(world, head, op, port.ty)?);
    }
    Some(given)
}

fn element(op: &Op) -> Option<(Type, Option<usize>)> {
    match op.attr() {
        Attr::Type(Type::Array(of)) => Some(((**of).clone(), None)),
        Attr::Type(Type::FixedArray(of, length)) => Some(((**of).clone(), Some(*length as usize))),
        _ => None,
    }
}

/// The types that a port stands for. Written apart from `ir::ops::ports`, so that one checks the other.
fn types(world: &World, head: &FunctionHead, op: &Op, port: PortType) -> Option<Vec<Type>> {
    let boxed = |ty: &Type| Arc::new(ty.clone());
    let scalar = || match op.attr() {
        Attr::Scalar(of) | Attr::Convert(of, _) => Some(Type::Scalar(*of)),
        Attr::Memory(arg) => Some(Type::Scalar(arg.ty)),
        _ => None,
    };
    let given = || match op.attr() {
        Attr::Type(of) => Some(of),
        _ => None,
    };
    let named = || match op.attr() {
        Attr::Named(of) | Attr::Field(of, _) => Some(Type::Named(*of)),
        _ => None,
    };
    let field = || match op.attr() {
        Attr::Field(of, member) => {
            let def = world.program.type_def(*of)?;
            Some(def.field(*member)?.1.ty.clone())
        }
        _ => None,
    };
    let callee = || match op.attr() {
        Attr::Function(of) => world.head(*of),
        _ => None,
    };
    let signature = || match op.attr() {
        Attr::Signature(of) | Attr::Indirect(_, of) => Some(of),
        _ => None,
    };
    let listed = |of: &[lmlang_ir::Param]| of.iter().map(|param| param.ty.clone()).collect::<Vec<_>>();
    Some(match port {
        PortType::T => vec![scalar()?],
        PortType::U => match op.attr() {
            Attr::Convert(_, to) => vec![Type::Scalar(*to)],
            _ => return None,
        },
        PortType::Is(of) => vec![Type::Scalar(of)],
        PortType::Unit => vec![Type::Unit],
        PortType::String => vec![Type::String],
        PortType::Bytes => vec![Type::Bytes],
        PortType::OptionalString => vec![Type::Option(Arc::new(Type::String))],
        PortType::OptionalT => vec![Type::Option(Arc::new(scalar()?))],
        PortType::Ints => vec![Type::Array(Arc::new(Type::I32))],
        // All tables hold functions.
        PortType::FuncRef | PortType::Entry | PortType::Reference => vec![Type::FuncRef],
        PortType::ExternRef => vec![Type::ExternRef],
        PortType::Given => vec![given()?.clone()],
        PortType::Elem => vec![element(op)?.0],
        PortType::BoxOfGiven => vec![Type::Box(boxed(given()?))],
        PortType::PtrToGiven => vec![Type::Ptr(boxed(given()?))],
        PortType::Struct => vec![named()?],
        PortType::Fields => match op.attr() {
            Attr::Named(of) => {
                world.program.type_def(*of)?.fields().iter().map(|field| field.ty.clone()).collect()
            }
            _ => return None,
        },
        PortType::Field => vec![field()?],
        PortType::PtrToStruct => vec![Type::Ptr(Arc::new(named()?))],
        PortType::PtrToField => vec![Type::Ptr(Arc::new(field()?))],
        PortType::Enum | PortType::Payload => match op.attr() {
            Attr::Variant(variant) if port == PortType::Enum => vec![variant.owner()],
            Attr::Variant(variant) => payload_type(&world.program, variant)?.into_iter().collect(),
            _ => return None,
        },
        PortType::Variable => match op.attr() {
            Attr::Variable(of) => {
                vec![world.globals.iter().find(|(global, ..)| global == of)?.1.clone()]
            }
            _ => return None,
        },
        PortType::Constant => match op.attr() {
            Attr::Const(value) => vec![value.ty()],
            _ => return None,
        },
        PortType::Params => listed(&callee()?.params),
        PortType::Returns => callee()?.results.clone(),
        PortType::Captures => listed(&callee()?.captures),
        PortType::ClosureOfFunction => vec![closure_of(callee()?)],
        PortType::Closure => vec![Type::Closure(Arc::clone(signature()?))],
        PortType::ClosureParams => signature()?.params.clone(),
        PortType::ClosureResults => signature()?.results.clone(),
        PortType::Capture => match op.attr() {
            Attr::Index(index) => vec![head.captures.get(*index as usize)?.ty.clone()],
            _ => return None,
        },
        PortType::Address
        | PortType::Elems
        | PortType::LoopParams
        | PortType::Results
        | PortType::ExitValues
        | PortType::YieldValues
        | PortType::ReturnValues
        | PortType::Scrutinee
        | PortType::RawInputs
        | PortType::RawOutputs => return None,
    })
}

/// The constant for an input at which most other values would trap, or make something huge.
pub fn tame(op: &Op, input: usize, choices: &mut Choices) -> Option<lmlang_ir::Const> {
    use lmlang_ir::Const;
    let small = |choices: &mut Choices, bound: usize| Some(Const::I32(choices.below(bound) as i32));
    match (op.code(), input) {
        (Opcode::DivS | Opcode::DivU | Opcode::RemS | Opcode::RemU, 1) => match op.attr() {
            Attr::Scalar(Scalar::I64) => Some(Const::I64(1 + choices.below(9) as i64)),
            _ => Some(Const::I32(1 + choices.below(9) as i32)),
        },
        (Opcode::MemoryGrow, 0) | (Opcode::TableGrow, 1) => small(choices, 2),
        (Opcode::MemoryCopy | Opcode::MemoryFill | Opcode::MemoryInit, 2) => small(choices, 3),
        (Opcode::MemoryInit, 1) => small(choices, 1),
        (Opcode::TableGet | Opcode::TableSet | Opcode::TableFill, 0) => small(choices, 1),
        (Opcode::TableFill, 2) => small(choices, 2),
        (Opcode::TableInit | Opcode::TableCopy, 0 | 1) => small(choices, 1),
        (Opcode::TableInit | Opcode::TableCopy, 2) => small(choices, 2),
        (Opcode::BytesNew, 0) | (Opcode::BytesLoad, 1) | (Opcode::FileRead, 1) => small(choices, 9),
        (Opcode::ArraySlice | Opcode::StringSlice | Opcode::BytesSlice, 1 | 2) => small(choices, 1),
        (Opcode::ArrayGet | Opcode::ArraySet | Opcode::BytesGet | Opcode::BytesSet, 1) => small(choices, 1),
        (Opcode::StringByte, 1) => small(choices, 1),
        _ => None,
    }
}

/// Tells whether an input of that size must never come from anywhere: memory would run out before fuel does.
pub fn always_tame(op: &Op, input: usize) -> bool {
    matches!(
        (op.code(), input),
        (Opcode::MemoryGrow, 0) | (Opcode::TableGrow, 1) | (Opcode::BytesNew, 0) | (Opcode::FileRead, 1)
    )
}

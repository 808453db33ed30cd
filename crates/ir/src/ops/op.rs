//! The operator of a node: an opcode with its attribute.

use std::sync::Arc;

use crate::ops::spec::{AttrKind, Effect, Group, OpSpec};
use crate::ops::table::Opcode;
use crate::refs::{FuncRef, MemberRef, NodeRef, Ref, TypeRef, VarRef};
use crate::types::{Const, Scalar, Signature, Type, Variant};

/// An opcode with the attribute that it takes.
///
/// Invariant: the attribute is of the kind that the op table names for the opcode; [`Op::new`] refuses anything else.
/// Whether the entities that it names exist is the verifier's question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    code: Opcode,
    attr: Attr,
}

impl Opcode {
    /// The bytes of linear memory that the operator accesses at once for a value of a type: its natural alignment.
    pub fn access_bytes(self, scalar: Scalar) -> u32 {
        match self {
            Opcode::Load8S | Opcode::Load8U | Opcode::Store8 => 1,
            Opcode::Load16S | Opcode::Load16U | Opcode::Store16 => 2,
            Opcode::Load32S | Opcode::Load32U | Opcode::Store32 => 4,
            _ => scalar.size(),
        }
    }

    /// Tells whether the operator needs linear memory.
    pub fn uses_memory(self) -> bool {
        let spec = self.spec();
        let touches = matches!(spec.effect, Effect::Reads | Effect::Writes);
        match spec.group {
            Group::Memory => touches && self != Opcode::DataDrop,
            Group::Text => touches,
            Group::Value
            | Group::Integer
            | Group::Bits
            | Group::Comparison
            | Group::Float
            | Group::Conversion
            | Group::Variable
            | Group::Aggregate
            | Group::Call
            | Group::Table
            | Group::Control
            | Group::Io => false,
        }
    }
}

/// What stands behind a mnemonic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attr {
    /// Nothing.
    None,
    /// The type of the operands.
    Scalar(Scalar),
    /// From the first type to the second.
    Convert(Scalar, Scalar),
    /// A constant.
    Const(Const),
    /// A type; for array operators the whole array type.
    Type(Type),
    /// A struct or a nominal enum.
    Named(TypeRef),
    /// A field of a struct.
    Field(TypeRef, MemberRef),
    /// A variant of an enum.
    Variant(Arc<Variant>),
    /// A function.
    Function(FuncRef),
    /// A variable, a global, a segment or a table.
    Variable(VarRef),
    /// The position of a capture.
    Index(u32),
    /// What a closure takes and returns.
    Signature(Arc<Signature>),
    /// A table and what its entry takes and returns.
    Indirect(VarRef, Arc<Signature>),
    /// A table, and where its new entries come from: an element segment or a table.
    Entries(VarRef, VarRef),
    /// How memory is accessed.
    Memory(MemArg),
    /// A node that owns regions.
    Control(Arc<Control>),
    /// A node that owns a region per case.
    Match(Arc<Match>),
    /// The node that an exit leaves, or the loop that it continues.
    Exit(NodeRef),
    /// Targets by index, the default last.
    Switch(Arc<[Exit]>),
    /// An opaque operator.
    Raw(Arc<Raw>),
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemArg {
    /// The type of the value in a register.
    pub ty: Scalar,
    /// Added to the address, in bytes.
    pub offset: u32,
    /// Expected alignment as a power of two; a hint.
    pub align_log2: u8,
}

/// What a node that owns regions returns, and how exits name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Control {
    /// The name that exits aim at; they can use the ref too.
    pub label: Option<Arc<str>>,
    /// Types of the results.
    pub results: Vec<Type>,
}

/// The cases of a `match`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Match {
    /// The name that exits aim at.
    pub label: Option<Arc<str>>,
    /// The cases; each has a region, in this order.
    pub cases: Vec<Case>,
    /// Tells whether a region for everything else follows.
    pub default: bool,
    /// Types of the results.
    pub results: Vec<Type>,
}

/// One case of a `match`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Case {
    /// An integer.
    Int(i64),
    /// A variant; its payload is the region's parameter.
    Variant(Variant),
}

impl Case {
    /// The `i32` that the case of a number is met by: it names a signed number, or the bits of one. Any other number is never
    /// met.
    pub fn met_by(number: i64) -> Option<i32> {
        i32::try_from(number).ok().or(u32::try_from(number).ok().map(u32::cast_signed))
    }
}

/// Where a switch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Out of a node, with its results.
    Break(NodeRef),
    /// To the next round of a loop, with its parameters.
    Continue(NodeRef),
    /// Out of the function, with its results.
    Return,
}

impl Exit {
    /// The node that the exit aims at; `None` for the function.
    pub fn target(self) -> Option<NodeRef> {
        match self {
            Exit::Break(node) | Exit::Continue(node) => Some(node),
            Exit::Return => None,
        }
    }
}

/// A WebAssembly operator that is carried without being understood.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Raw {
    /// The encoded operator.
    pub bytes: Vec<u8>,
    /// Types of the inputs and outputs.
    pub signature: Signature,
}

impl Op {
    /// Joins an opcode and an attribute; `None` when the op table wants another kind of attribute there.
    pub fn new(code: Opcode, attr: Attr) -> Option<Op> {
        let fits = match (code.spec().attr, &attr) {
            (AttrKind::None, Attr::None)
            | (AttrKind::Const, Attr::Const(_))
            | (AttrKind::Type, Attr::Type(_))
            | (AttrKind::Array, Attr::Type(Type::Array(_) | Type::FixedArray(..)))
            | (AttrKind::Struct, Attr::Named(_))
            | (AttrKind::Field, Attr::Field(..))
            | (AttrKind::Enum, Attr::Type(Type::Named(_) | Type::Option(_) | Type::Result(_)))
            | (AttrKind::Variant, Attr::Variant(_))
            | (AttrKind::Function, Attr::Function(_))
            | (
                AttrKind::Variable | AttrKind::Global | AttrKind::Data | AttrKind::Table | AttrKind::Elements,
                Attr::Variable(_),
            )
            | (AttrKind::TableInit | AttrKind::TableCopy, Attr::Entries(..))
            | (AttrKind::Index, Attr::Index(_))
            | (AttrKind::Signature, Attr::Signature(_))
            | (AttrKind::Indirect, Attr::Indirect(..))
            | (AttrKind::Control, Attr::Control(_))
            | (AttrKind::Match, Attr::Match(_))
            | (AttrKind::Exit, Attr::Exit(_))
            | (AttrKind::Raw, Attr::Raw(_)) => true,
            (AttrKind::Scalar(allowed), Attr::Scalar(given)) => allowed.contains(given),
            (AttrKind::Convert(allowed), Attr::Convert(from, to)) => allowed.contains(&(*from, *to)),
            (AttrKind::Memory(allowed), Attr::Memory(given)) => allowed.contains(&given.ty),
            (AttrKind::Switch, Attr::Switch(targets)) => !targets.is_empty(),
            (
                AttrKind::None
                | AttrKind::Scalar(_)
                | AttrKind::Convert(_)
                | AttrKind::Const
                | AttrKind::Type
                | AttrKind::Array
                | AttrKind::Struct
                | AttrKind::Field
                | AttrKind::Enum
                | AttrKind::Variant
                | AttrKind::Function
                | AttrKind::Variable
                | AttrKind::Global
                | AttrKind::Data
                | AttrKind::Table
                | AttrKind::Elements
                | AttrKind::TableInit
                | AttrKind::TableCopy
                | AttrKind::Index
                | AttrKind::Signature
                | AttrKind::Indirect
                | AttrKind::Memory(_)
                | AttrKind::Control
                | AttrKind::Match
                | AttrKind::Exit
                | AttrKind::Switch
                | AttrKind::Raw,
                _,
            ) => false,
        };
        fits.then_some(Op { code, attr })
    }

    /// An operator with nothing behind its mnemonic; `None` when the op table wants something there.
    #[inline]
    pub fn bare(code: Opcode) -> Option<Op> {
        matches!(code.spec().attr, AttrKind::None).then_some(Op { code, attr: Attr::None })
    }

    /// An exit out of a node, or to the next round of a loop; `None` when the op table wants another attribute there.
    #[inline]
    pub fn exit(code: Opcode, target: NodeRef) -> Option<Op> {
        matches!(code.spec().attr, AttrKind::Exit).then_some(Op { code, attr: Attr::Exit(target) })
    }

    /// A node that owns regions; `None` when the op table wants another attribute there.
    #[inline]
    pub fn control(code: Opcode, control: Arc<Control>) -> Option<Op> {
        match code.spec().attr {
            AttrKind::Control => Some(Op { code, attr: Attr::Control(control) }),
            _ => None,
        }
    }

    /// An operator on a scalar type; `None` when the op table wants another attribute there.
    #[inline]
    pub fn scalar(code: Opcode, of: Scalar) -> Option<Op> {
        match code.spec().attr {
            AttrKind::Scalar(allowed) if allowed.contains(&of) => Some(Op { code, attr: Attr::Scalar(of) }),
            _ => None,
        }
    }

    /// A conversion; `None` when the op table wants another attribute there.
    #[inline]
    pub fn conversion(code: Opcode, from: Scalar, to: Scalar) -> Option<Op> {
        match code.spec().attr {
            AttrKind::Convert(allowed) if allowed.contains(&(from, to)) => {
                Some(Op { code, attr: Attr::Convert(from, to) })
            }
            _ => None,
        }
    }

    /// An access of memory; `None` when the op table wants another attribute there.
    #[inline]
    pub fn access(code: Opcode, arg: MemArg) -> Option<Op> {
        match code.spec().attr {
            AttrKind::Memory(allowed) if allowed.contains(&arg.ty) => {
                Some(Op { code, attr: Attr::Memory(arg) })
            }
            _ => None,
        }
    }

    /// The constant operator.
    #[inline]
    pub fn constant(value: Const) -> Op {
        Op { code: Opcode::Const, attr: Attr::Const(value) }
    }

    /// The call of a function.
    #[inline]
    pub fn call(function: FuncRef) -> Op {
        Op { code: Opcode::Call, attr: Attr::Function(function) }
    }

    /// The read of a variable of the function.
    #[inline]
    pub fn var_get(variable: VarRef) -> Op {
        Op { code: Opcode::VarGet, attr: Attr::Variable(variable) }
    }

    /// The write of a variable of the function.
    #[inline]
    pub fn var_set(variable: VarRef) -> Op {
        Op { code: Opcode::VarSet, attr: Attr::Variable(variable) }
    }

    /// The opcode.
    pub fn code(&self) -> Opcode {
        self.code
    }

    /// The attribute.
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// The row of the op table.
    pub fn spec(&self) -> &'static OpSpec {
        self.code.spec()
    }

    /// The label of a node that owns regions.
    pub fn label(&self) -> Option<&Arc<str>> {
        match &self.attr {
            Attr::Control(control) => control.label.as_ref(),
            Attr::Match(cases) => cases.label.as_ref(),
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

    /// Tells whether a node with this operator ends its region.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self.code,
            Opcode::Yield
                | Opcode::Break
                | Opcode::Continue
                | Opcode::Return
                | Opcode::Unreachable
                | Opcode::BrSwitch
        )
    }

    /// Tells whether a node with this operator owns regions.
    pub fn owns_regions(&self) -> bool {
        matches!(self.attr, Attr::Control(_) | Attr::Match(_))
    }

    /// The number of places that a node with this operator may leave its region for.
    pub fn exit_count(&self) -> usize {
        match (&self.attr, self.code) {
            (Attr::Switch(targets), _) => targets.len(),
            (Attr::Exit(_), _) | (_, Opcode::Return | Opcode::Yield) => 1,
            (_, _) => 0,
        }
    }

    /// Calls `visit` with each entity that the operator names: functions, types, members' types, variables, exit
    /// targets. An entity may be visited more than once.
    pub fn each_mention(&self, visit: &mut impl FnMut(Ref)) {
        match &self.attr {
            Attr::None
            | Attr::Scalar(_)
            | Attr::Convert(..)
            | Attr::Const(_)
            | Attr::Index(_)
            | Attr::Memory(_) => {}
            Attr::Named(of) | Attr::Field(of, _) => visit((*of).into()),
            Attr::Function(of) => visit((*of).into()),
            Attr::Variable(of) => visit((*of).into()),
            Attr::Entries(table, from) => {
                visit((*table).into());
                visit((*from).into());
            }
            Attr::Exit(target) => visit((*target).into()),
            Attr::Type(_)
            | Attr::Variant(_)
            | Attr::Signature(_)
            | Attr::Indirect(..)
            | Attr::Control(_)
            | Attr::Match(_)
            | Attr::Switch(_)
            | Attr::Raw(_) => self.each_mention_inside(visit),
        }
    }

    /// The same for attributes in which any number of entities may be named. They are rarer, and take more room than what
    /// is written out wherever somebody asks.
    fn each_mention_inside(&self, visit: &mut dyn FnMut(Ref)) {
        let types = |visit: &mut dyn FnMut(Ref), of: &Type| of.each_named(&mut |named| visit(named.into()));
        match &self.attr {
            Attr::None
            | Attr::Scalar(_)
            | Attr::Convert(..)
            | Attr::Const(_)
            | Attr::Index(_)
            | Attr::Memory(_)
            | Attr::Named(_)
            | Attr::Field(..)
            | Attr::Function(_)
            | Attr::Variable(_)
            | Attr::Entries(..)
            | Attr::Exit(_) => {}
            Attr::Type(of) => types(visit, of),
            Attr::Variant(of) => types(visit, &of.owner()),
            Attr::Signature(of) => of.params.iter().chain(&of.results).for_each(|part| types(visit, part)),
            Attr::Indirect(table, of) => {
                visit((*table).into());
                of.params.iter().chain(&of.results).for_each(|part| types(visit, part));
            }
            Attr::Control(control) => control.results.iter().for_each(|part| types(visit, part)),
            Attr::Match(cases) => {
                cases.results.iter().for_each(|part| types(visit, part));
                for case in &cases.cases {
                    match case {
                        Case::Int(_) => {}
                        Case::Variant(of) => types(visit, &of.owner()),
                    }
                }
            }
            Attr::Switch(targets) => {
                targets.iter().filter_map(|exit| exit.target()).for_each(|node| visit(node.into()))
            }
            Attr::Raw(raw) => {
                raw.signature.params.iter().chain(&raw.signature.results).for_each(|t| types(visit, t))
            }
        }
    }
}

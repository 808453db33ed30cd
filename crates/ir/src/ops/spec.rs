//! The columns of the op table.

use std::fmt;

use crate::ops::table::Opcode;
use crate::types::Scalar;

/// One row of the op table.
#[derive(Debug)]
pub struct OpSpec {
    /// The operator.
    pub code: Opcode,
    /// Its name in the text form, without attributes.
    pub mnemonic: &'static str,
    /// What it belongs to in listings.
    pub group: Group,
    /// What stands behind the mnemonic.
    pub attr: AttrKind,
    /// Inputs in order.
    pub inputs: &'static [Port],
    /// Outputs in order.
    pub outputs: &'static [Port],
    /// Names of the regions that a node of this kind owns.
    pub regions: &'static [&'static str],
    /// What it does besides computing its outputs.
    pub effect: Effect,
    /// How it can trap.
    pub traps: &'static [Trap],
    /// One line of documentation.
    pub doc: &'static str,
    /// The WebAssembly instruction that it stands for, if there is one; `T` and `U` are its scalar attributes.
    pub wasm: Option<&'static str>,
    /// A use in the text form.
    pub example: &'static str,
}

/// A numbered input or output of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// The name of the port.
    pub name: &'static str,
    /// What its type follows from.
    pub ty: PortType,
}

impl Port {
    /// Tells whether the port stands for any number of values.
    pub const fn repeated(&self) -> bool {
        match self.ty {
            PortType::Elems
            | PortType::Fields
            | PortType::Params
            | PortType::Returns
            | PortType::Captures
            | PortType::ClosureParams
            | PortType::ClosureResults
            | PortType::LoopParams
            | PortType::Results
            | PortType::ExitValues
            | PortType::YieldValues
            | PortType::ReturnValues
            | PortType::RawInputs
            | PortType::RawOutputs
            | PortType::Payload => true,
            PortType::T
            | PortType::U
            | PortType::Is(_)
            | PortType::Unit
            | PortType::String
            | PortType::Bytes
            | PortType::OptionalString
            | PortType::OptionalT
            | PortType::Ints
            | PortType::FuncRef
            | PortType::ExternRef
            | PortType::Reference
            | PortType::Entry
            | PortType::Address
            | PortType::Given
            | PortType::Elem
            | PortType::BoxOfGiven
            | PortType::PtrToGiven
            | PortType::Struct
            | PortType::Field
            | PortType::PtrToStruct
            | PortType::PtrToField
            | PortType::Enum
            | PortType::Variable
            | PortType::Constant
            | PortType::ClosureOfFunction
            | PortType::Closure
            | PortType::Capture
            | PortType::Scrutinee => false,
        }
    }
}

/// What the type of a port follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortType {
    /// The first scalar attribute.
    T,
    /// The second scalar attribute, of a conversion.
    U,
    /// Always this scalar.
    Is(Scalar),
    /// `unit`.
    Unit,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `option<string>`.
    OptionalString,
    /// `option` of the scalar attribute.
    OptionalT,
    /// `array<i32>`.
    Ints,
    /// `funcref`.
    FuncRef,
    /// `externref`.
    ExternRef,
    /// `funcref` or `externref`.
    Reference,
    /// What the table given as attribute holds.
    Entry,
    /// `i32` or any `ptr`.
    Address,
    /// The type attribute.
    Given,
    /// The element of the array type given as attribute.
    Elem,
    /// The elements of an array literal: any number, or as many as the type says.
    Elems,
    /// `box` of the type attribute.
    BoxOfGiven,
    /// `ptr` to the type attribute.
    PtrToGiven,
    /// The struct given as attribute.
    Struct,
    /// All fields of the struct given as attribute.
    Fields,
    /// The field given as attribute.
    Field,
    /// `ptr` to the struct.
    PtrToStruct,
    /// `ptr` to the field.
    PtrToField,
    /// The enum of the variant given as attribute.
    Enum,
    /// The payload of the variant: no value or one.
    Payload,
    /// The variable given as attribute.
    Variable,
    /// The constant given as attribute.
    Constant,
    /// Parameters of the function given as attribute.
    Params,
    /// Results of the function given as attribute.
    Returns,
    /// Captures of the function given as attribute.
    Captures,
    /// The closure made from the function given as attribute.
    ClosureOfFunction,
    /// A closure of the signature given as attribute.
    Closure,
    /// Parameters of the signature given as attribute.
    ClosureParams,
    /// Results of the signature given as attribute.
    ClosureResults,
    /// The capture, of the function around, with the index given as attribute.
    Capture,
    /// Initial values of the loop's parameters.
    LoopParams,
    /// Results of a node that owns regions.
    Results,
    /// What the target of an exit takes.
    ExitValues,
    /// What the region around takes at its end.
    YieldValues,
    /// Results of the function around.
    ReturnValues,
    /// What `match` looks at: an integer, or the enum of its cases.
    Scrutinee,
    /// Inputs of an opaque operator.
    RawInputs,
    /// Outputs of an opaque operator.
    RawOutputs,
}

impl PortType {
    /// How listings write it.
    pub const fn describe(self) -> &'static str {
        match self {
            PortType::Is(scalar) => scalar.name(),
            PortType::T => "T",
            PortType::U => "U",
            PortType::Unit => "unit",
            PortType::String => "string",
            PortType::Bytes => "bytes",
            PortType::OptionalString => "option<string>",
            PortType::OptionalT => "option<T>",
            PortType::Ints => "array<i32>",
            PortType::FuncRef => "funcref",
            PortType::ExternRef => "externref",
            PortType::Reference => "funcref or externref",
            PortType::Entry => "entry of the table",
            PortType::Address => "i32 or ptr",
            PortType::Given => "T",
            PortType::Elem => "element of the array",
            PortType::Elems => "element of the array",
            PortType::BoxOfGiven => "box<T>",
            PortType::PtrToGiven => "ptr<T>",
            PortType::Struct => "the struct",
            PortType::Fields => "a field of the struct",
            PortType::Field => "the field",
            PortType::PtrToStruct => "ptr to the struct",
            PortType::PtrToField => "ptr to the field",
            PortType::Enum => "the enum",
            PortType::Payload => "the payload",
            PortType::Variable => "type of the variable",
            PortType::Constant => "type of the constant",
            PortType::Params => "a parameter of the function",
            PortType::Returns => "a result of the function",
            PortType::Captures => "a capture of the function",
            PortType::ClosureOfFunction => "closure of the function",
            PortType::Closure => "closure of the signature",
            PortType::ClosureParams => "a parameter of the signature",
            PortType::ClosureResults => "a result of the signature",
            PortType::Capture => "type of the capture",
            PortType::LoopParams => "a parameter of the loop",
            PortType::Results => "a result of the node",
            PortType::ExitValues => "what the target takes",
            PortType::YieldValues => "what the owner of the region takes",
            PortType::ReturnValues => "a result of the function around",
            PortType::Scrutinee => "i32, i64 or the enum of the cases",
            PortType::RawInputs => "as declared",
            PortType::RawOutputs => "as declared",
        }
    }
}

/// What stands behind a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// Nothing.
    None,
    /// `.T`, one of these scalars.
    Scalar(&'static [Scalar]),
    /// `.T.U`: one of these pairs, from and to.
    Convert(&'static [(Scalar, Scalar)]),
    /// `.T literal`.
    Const,
    /// `<type>`.
    Type,
    /// `<array type>`: the element, and the length of a fixed one.
    Array,
    /// `Struct`.
    Struct,
    /// `Struct.field`.
    Field,
    /// `Enum`: an enum type.
    Enum,
    /// `Enum.variant`.
    Variant,
    /// A function.
    Function,
    /// A variable of the function.
    Variable,
    /// A global.
    Global,
    /// A data segment.
    Data,
    /// A table.
    Table,
    /// An element segment.
    Elements,
    /// A table and an element segment.
    TableInit,
    /// A table, and the table that is copied from.
    TableCopy,
    /// A number.
    Index,
    /// `<(types) -> (types)>`.
    Signature,
    /// A table and `<(types) -> (types)>`.
    Indirect,
    /// `.T offset=N align=N`, one of these scalars.
    Memory(&'static [Scalar]),
    /// An optional label and `-> (types)`; for loops their parameters too.
    Control,
    /// An optional label, the cases, and `-> (types)`.
    Match,
    /// A label or the ref of an enclosing node.
    Exit,
    /// The targets of a switch, the default last.
    Switch,
    /// The bytes and types of an opaque operator.
    Raw,
}

impl AttrKind {
    /// How the attributes are written, for listings: one entry per attribute.
    pub fn describe(self) -> Vec<String> {
        let one = |text: &str| vec![text.to_owned()];
        let scalars = |of: &[Scalar]| of.iter().map(|s| s.name()).collect::<Vec<_>>().join(" | ");
        match self {
            AttrKind::None => Vec::new(),
            AttrKind::Scalar(of) => vec![format!("T: {}", scalars(of))],
            AttrKind::Convert(of) => {
                vec![format!(
                    "T.U: {}",
                    of.iter().map(|(t, u)| format!("{t}.{u}")).collect::<Vec<_>>().join(" | ")
                )]
            }
            AttrKind::Const => {
                vec!["T: a scalar, unit, string or bytes".to_owned(), "value: a literal".to_owned()]
            }
            AttrKind::Type => one("T: a type"),
            AttrKind::Array => one("T or T, N: the element type, and the length of a fixed array"),
            AttrKind::Struct => one("type: a struct"),
            AttrKind::Field => one("field: Struct.field"),
            AttrKind::Enum => one("type: an enum"),
            AttrKind::Variant => one("variant: Enum.variant"),
            AttrKind::Function => one("function"),
            AttrKind::Variable => one("variable: of the function"),
            AttrKind::Global => one("global"),
            AttrKind::Data => one("data: a data segment"),
            AttrKind::Table => one("table"),
            AttrKind::Elements => one("elements: an element segment"),
            AttrKind::TableInit => vec!["table".to_owned(), "elements: an element segment".to_owned()],
            AttrKind::TableCopy => vec!["table".to_owned(), "from: a table".to_owned()],
            AttrKind::Index => one("index: a number"),
            AttrKind::Signature => one("signature: (types) -> (types)"),
            AttrKind::Indirect => vec!["table".to_owned(), "signature: (types) -> (types)".to_owned()],
            AttrKind::Memory(of) => {
                vec![format!("T: {}", scalars(of)), "offset: bytes, default 0".into(), "align: bytes".into()]
            }
            AttrKind::Control => vec!["label: optional".to_owned(), "results: -> (types)".to_owned()],
            AttrKind::Match => {
                vec![
                    "label: optional".into(),
                    "cases: (literals or variants, default)".into(),
                    "results: -> (types)".into(),
                ]
            }
            AttrKind::Exit => one("label: of an enclosing node"),
            AttrKind::Switch => one("targets: (labels; the last is the default)"),
            AttrKind::Raw => one("operator: bytes and types"),
        }
    }
}

/// What an operator does besides computing its outputs, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing: may be folded, moved and dropped.
    Pure,
    /// May trap, nothing else.
    Traps,
    /// Reads a variable, a global, memory or a table.
    Reads,
    /// Writes one of these.
    Writes,
    /// Calls a function: its effect is bounded by the callee's declaration.
    Calls,
    /// Talks to the world.
    Io,
    /// Decides what runs next.
    Control,
}

impl Effect {
    /// The name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Effect::Pure => "pure",
            Effect::Traps => "traps",
            Effect::Reads => "reads",
            Effect::Writes => "writes",
            Effect::Calls => "calls",
            Effect::Io => "io",
            Effect::Control => "control",
        }
    }
}

/// What an operator belongs to in listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Constants and choice.
    Value,
    /// Integer arithmetic.
    Integer,
    /// Bits.
    Bits,
    /// Comparisons.
    Comparison,
    /// Floating point.
    Float,
    /// Conversions between scalars.
    Conversion,
    /// Variables of a function and globals.
    Variable,
    /// Linear memory.
    Memory,
    /// Structs, arrays, enums and boxes.
    Aggregate,
    /// Text and bytes.
    Text,
    /// Calls and closures.
    Call,
    /// Tables and references.
    Table,
    /// Control.
    Control,
    /// Input and output.
    Io,
}

impl Group {
    /// All groups.
    pub const ALL: [Group; 14] = [
        Group::Value,
        Group::Integer,
        Group::Bits,
        Group::Comparison,
        Group::Float,
        Group::Conversion,
        Group::Variable,
        Group::Memory,
        Group::Aggregate,
        Group::Text,
        Group::Call,
        Group::Table,
        Group::Control,
        Group::Io,
    ];

    /// The name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Value => "value",
            Group::Integer => "integer",
            Group::Bits => "bits",
            Group::Comparison => "comparison",
            Group::Float => "float",
            Group::Conversion => "conversion",
            Group::Variable => "variable",
            Group::Memory => "memory",
            Group::Aggregate => "aggregate",
            Group::Text => "text",
            Group::Call => "call",
            Group::Table => "table",
            Group::Control => "control",
            Group::Io => "io",
        }
    }
}

/// Why a run stops at an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trap {
    /// An integer was divided by zero.
    DivisionByZero,
    /// `MIN / -1`, or a float out of the integer's range in a trapping truncation.
    IntegerOverflow,
    /// A NaN in a trapping truncation.
    InvalidConversion,
    /// An access outside of linear memory or of a data segment.
    MemoryOutOfBounds,
    /// An access outside of a table or an element segment.
    TableOutOfBounds,
    /// An empty table entry was called.
    UninitializedElement,
    /// A table entry of another signature was called.
    SignatureMismatch,
    /// An index outside of an array, a text or bytes.
    IndexOutOfBounds,
    /// The payload of another variant was asked for.
    WrongVariant,
    /// Bytes that are no UTF-8, or a position inside a character.
    InvalidUtf8,
    /// `unreachable` was reached.
    Unreachable,
    /// A contract trapped instead of answering.
    ContractTrapped,
}

impl Trap {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Trap::DivisionByZero => "DIVISION_BY_ZERO",
            Trap::IntegerOverflow => "INTEGER_OVERFLOW",
            Trap::InvalidConversion => "INVALID_CONVERSION",
            Trap::MemoryOutOfBounds => "MEMORY_OUT_OF_BOUNDS",
            Trap::TableOutOfBounds => "TABLE_OUT_OF_BOUNDS",
            Trap::UninitializedElement => "UNINITIALIZED_ELEMENT",
            Trap::SignatureMismatch => "SIGNATURE_MISMATCH",
            Trap::IndexOutOfBounds => "INDEX_OUT_OF_BOUNDS",
            Trap::WrongVariant => "WRONG_VARIANT",
            Trap::InvalidUtf8 => "INVALID_UTF8",
            Trap::Unreachable => "UNREACHABLE",
            Trap::ContractTrapped => "CONTRACT_TRAPPED",
        }
    }

    /// What happened, in words.
    pub const fn message(self) -> &'static str {
        match self {
            Trap::DivisionByZero => "integer division by zero",
            Trap::IntegerOverflow => "integer overflow",
            Trap::InvalidConversion => "a NaN has no integer value",
            Trap::MemoryOutOfBounds => "access outside of linear memory",
            Trap::TableOutOfBounds => "access outside of a table",
            Trap::UninitializedElement => "the table entry is empty",
            Trap::SignatureMismatch => "the table entry has another signature",
            Trap::IndexOutOfBounds => "index out of bounds",
            Trap::WrongVariant => "the value is another variant",
            Trap::InvalidUtf8 => "not valid UTF-8",
            Trap::Unreachable => "unreachable was reached",
            Trap::ContractTrapped => "a contract trapped",
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

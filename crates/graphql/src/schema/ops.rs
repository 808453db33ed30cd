//! The op table, as clients see it.

use async_graphql::{Enum, SimpleObject};
use lmlang_ir::ops::{self, OPS};

/// What an operator does besides computing its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum Effect {
    /// Nothing: it may be folded, moved and dropped.
    Pure,
    /// It may trap, nothing else.
    Traps,
    /// It reads a variable, a global, memory or a table.
    Reads,
    /// It writes one of these.
    Writes,
    /// It calls a function; what that may do is bounded by the callee's declaration.
    Calls,
    /// It talks to the world.
    Io,
    /// It decides what runs next.
    Control,
}

impl From<ops::Effect> for Effect {
    fn from(effect: ops::Effect) -> Effect {
        match effect {
            ops::Effect::Pure => Effect::Pure,
            ops::Effect::Traps => Effect::Traps,
            ops::Effect::Reads => Effect::Reads,
            ops::Effect::Writes => Effect::Writes,
            ops::Effect::Calls => Effect::Calls,
            ops::Effect::Io => Effect::Io,
            ops::Effect::Control => Effect::Control,
        }
    }
}

/// One operator: what nodes can compute.
#[derive(Clone, Debug, SimpleObject)]
pub struct OpSpec {
    /// The name in the text form, without attributes: `add`.
    pub mnemonic: &'static str,
    /// The name in filters: `ADD`.
    pub opcode: Opcode,
    /// What it belongs to: `integer`, `memory`, `control`.
    pub group: &'static str,
    /// What stands behind the mnemonic, an entry per attribute: `T: i32 | i64`.
    pub attributes: Vec<String>,
    /// Inputs in order.
    pub inputs: Vec<PortSpec>,
    /// Outputs in order.
    pub outputs: Vec<PortSpec>,
    /// Names of the regions that such a node owns.
    pub regions: Vec<&'static str>,
    /// What it does besides computing its outputs.
    pub effect: Effect,
    /// Codes of the traps that it can end a run with.
    pub traps: Vec<&'static str>,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The WebAssembly instruction that it stands for; null if there is none.
    pub wasm: Option<&'static str>,
    /// A use in the text form.
    pub example: &'static str,
}

/// A numbered input or output of an operator.
#[derive(Clone, Debug, SimpleObject)]
pub struct PortSpec {
    /// Its name.
    pub name: &'static str,
    /// Its type, or what the type follows from.
    #[graphql(name = "type")]
    pub ty: String,
    /// Whether it stands for any number of values.
    pub repeated: bool,
}

impl From<&ops::Port> for PortSpec {
    fn from(port: &ops::Port) -> PortSpec {
        PortSpec { name: port.name, ty: port.ty.describe().to_owned(), repeated: port.repeated() }
    }
}

impl From<&'static ops::OpSpec> for OpSpec {
    fn from(spec: &'static ops::OpSpec) -> OpSpec {
        OpSpec {
            mnemonic: spec.mnemonic,
            opcode: Opcode::from(spec.code),
            group: spec.group.name(),
            attributes: spec.attr.describe(),
            inputs: spec.inputs.iter().map(PortSpec::from).collect(),
            outputs: spec.outputs.iter().map(PortSpec::from).collect(),
            regions: spec.regions.to_vec(),
            effect: spec.effect.into(),
            traps: spec.traps.iter().map(|trap| trap.code()).collect(),
            doc: spec.doc,
            wasm: spec.wasm,
            example: spec.example,
        }
    }
}

/// The operators in whose name, group or documentation all the words occur, or that are written so; all of them without words.
pub fn search(words: Option<&str>) -> Vec<OpSpec> {
    let words: Vec<String> = words.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let fits = |spec: &ops::OpSpec| {
        let text = format!("{} {} {}", spec.mnemonic, spec.group.name(), spec.doc).to_lowercase();
        words.iter().all(|word| text.contains(word) || is_written(word, spec.mnemonic))
    };
    OPS.iter().filter(|spec| fits(spec)).map(OpSpec::from).collect()
}

/// Whether a word is an operator as it stands in a text, with what it is about: `add.i64`, `array.get<i64>`.
fn is_written(word: &str, mnemonic: &str) -> bool {
    word.strip_prefix(mnemonic).is_some_and(|rest| rest.starts_with(['.', '<']))
}

macro_rules! opcodes {
    ($($code:ident $name:literal),* $(,)?) => {
        /// An operator, without its attributes. `ops` tells what each one does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Enum)]
        pub enum Opcode { $(
            #[doc = concat!("The operator `", stringify!($code), "`; see `ops`.")]
            #[graphql(name = $name)]
            $code,
        )* }

        impl Opcode {
            /// Its name in the schema.
            pub(crate) fn name(self) -> &'static str {
                match self { $( Opcode::$code => $name, )* }
            }
        }

        impl From<ops::Opcode> for Opcode {
            fn from(code: ops::Opcode) -> Opcode {
                match code { $(ops::Opcode::$code => Opcode::$code),* }
            }
        }

        impl From<Opcode> for ops::Opcode {
            fn from(code: Opcode) -> ops::Opcode {
                match code { $(Opcode::$code => ops::Opcode::$code),* }
            }
        }
    };
}

opcodes! {
    Const "CONST",
    Select "SELECT",
    Add "ADD",
    Sub "SUB",
    Mul "MUL",
    DivS "DIV_S",
    DivU "DIV_U",
    RemS "REM_S",
    RemU "REM_U",
    And "AND",
    Or "OR",
    Xor "XOR",
    Not "NOT",
    Shl "SHL",
    ShrS "SHR_S",
    ShrU "SHR_U",
    Rotl "ROTL",
    Rotr "ROTR",
    Clz "CLZ",
    Ctz "CTZ",
    Popcnt "POPCNT",
    Eqz "EQZ",
    Eq "EQ",
    Ne "NE",
    LtS "LT_S",
    LtU "LT_U",
    Lt "LT",
    LeS "LE_S",
    LeU "LE_U",
    Le "LE",
    GtS "GT_S",
    GtU "GT_U",
    Gt "GT",
    GeS "GE_S",
    GeU "GE_U",
    Ge "GE",
    Div "DIV",
    Min "MIN",
    Max "MAX",
    Copysign "COPYSIGN",
    Abs "ABS",
    Neg "NEG",
    Sqrt "SQRT",
    Ceil "CEIL",
    Floor "FLOOR",
    TruncFloat "TRUNC",
    Nearest "NEAREST",
    Wrap "WRAP",
    ExtendS "EXTEND_S",
    ExtendU "EXTEND_U",
    TruncS "TRUNC_S",
    TruncU "TRUNC_U",
    TruncSatS "TRUNC_SAT_S",
    TruncSatU "TRUNC_SAT_U",
    ConvertS "CONVERT_S",
    ConvertU "CONVERT_U",
    Promote "PROMOTE",
    Demote "DEMOTE",
    Reinterpret "REINTERPRET",
    VarGet "VAR_GET",
    VarSet "VAR_SET",
    GlobalGet "GLOBAL_GET",
    GlobalSet "GLOBAL_SET",
    Load "LOAD",
    Load8S "LOAD8_S",
    Load8U "LOAD8_U",
    Load16S "LOAD16_S",
    Load16U "LOAD16_U",
    Load32S "LOAD32_S",
    Load32U "LOAD32_U",
    Store "STORE",
    Store8 "STORE8",
    Store16 "STORE16",
    Store32 "STORE32",
    MemorySize "MEMORY_SIZE",
    MemoryGrow "MEMORY_GROW",
    MemoryCopy "MEMORY_COPY",
    MemoryFill "MEMORY_FILL",
    MemoryInit "MEMORY_INIT",
    DataDrop "DATA_DROP",
    FieldAddr "FIELD_ADDR",
    ElemAddr "ELEM_ADDR",
    PtrFromI32 "PTR_FROM_I32",
    PtrToI32 "PTR_TO_I32",
    StructNew "STRUCT_NEW",
    StructGet "STRUCT_GET",
    StructSet "STRUCT_SET",
    ArrayNew "ARRAY_NEW",
    ArrayGet "ARRAY_GET",
    ArraySet "ARRAY_SET",
    ArrayLen "ARRAY_LEN",
    ArrayPush "ARRAY_PUSH",
    ArraySlice "ARRAY_SLICE",
    EnumNew "ENUM_NEW",
    EnumTag "ENUM_TAG",
    EnumPayload "ENUM_PAYLOAD",
    BoxNew "BOX_NEW",
    BoxGet "BOX_GET",
    StringLen "STRING_LEN",
    StringConcat "STRING_CONCAT",
    StringSlice "STRING_SLICE",
    StringByte "STRING_BYTE",
    StringEq "STRING_EQ",
    StringCompare "STRING_COMPARE",
    StringChars "STRING_CHARS",
    StringFromChars "STRING_FROM_CHARS",
    StringToBytes "STRING_TO_BYTES",
    StringFromBytes "STRING_FROM_BYTES",
    StringFormat "STRING_FORMAT",
    StringParse "STRING_PARSE",
    BytesNew "BYTES_NEW",
    BytesLen "BYTES_LEN",
    BytesGet "BYTES_GET",
    BytesSet "BYTES_SET",
    BytesPush "BYTES_PUSH",
    BytesConcat "BYTES_CONCAT",
    BytesSlice "BYTES_SLICE",
    BytesEq "BYTES_EQ",
    BytesLoad "BYTES_LOAD",
    BytesStore "BYTES_STORE",
    Call "CALL",
    CallIndirect "CALL_INDIRECT",
    FuncRef "FUNC_REF",
    ClosureNew "CLOSURE_NEW",
    ClosureCall "CLOSURE_CALL",
    CaptureGet "CAPTURE_GET",
    TableGet "TABLE_GET",
    TableSet "TABLE_SET",
    TableSize "TABLE_SIZE",
    TableGrow "TABLE_GROW",
    TableFill "TABLE_FILL",
    TableInit "TABLE_INIT",
    TableCopy "TABLE_COPY",
    ElemDrop "ELEM_DROP",
    RefNull "REF_NULL",
    RefNullExtern "REF_NULL_EXTERN",
    RefIsNull "REF_IS_NULL",
    Block "BLOCK",
    Loop "LOOP",
    If "IF",
    Match "MATCH",
    Yield "YIELD",
    Break "BREAK",
    Continue "CONTINUE",
    BreakIf "BREAK_IF",
    ContinueIf "CONTINUE_IF",
    Return "RETURN",
    Unreachable "UNREACHABLE",
    BrSwitch "BR_SWITCH",
    Print "PRINT",
    ReadLine "READ_LINE",
    FileOpen "FILE_OPEN",
    FileRead "FILE_READ",
    FileWrite "FILE_WRITE",
    FileClose "FILE_CLOSE",
    Raw "RAW",
}

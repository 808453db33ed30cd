//! The op table.

use crate::ops::spec::{AttrKind, Effect, Group, OpSpec, Port, PortType, Trap};
use crate::types::Scalar::{self, Bool, F32, F64, I8, I16, I32, I64};

const INT: &[Scalar] = &[I32, I64];
const LONG: &[Scalar] = &[I64];
const FLOAT: &[Scalar] = &[F32, F64];
const NUM: &[Scalar] = &[I32, I64, F32, F64];
const LOGIC: &[Scalar] = &[Bool, I32, I64];
const ALL: &[Scalar] = &[Bool, I8, I16, I32, I64, F32, F64];
const WRAP: &[(Scalar, Scalar)] = &[(I64, I32), (I64, I16), (I64, I8), (I32, I16), (I32, I8), (I32, Bool)];
const EXTEND_S: &[(Scalar, Scalar)] = &[(I32, I64), (I16, I64), (I8, I64), (I16, I32), (I8, I32)];
const EXTEND_U: &[(Scalar, Scalar)] =
    &[(I32, I64), (I16, I64), (I8, I64), (Bool, I64), (I16, I32), (I8, I32), (Bool, I32)];
const FLOAT_TO_INT: &[(Scalar, Scalar)] = &[(F32, I32), (F32, I64), (F64, I32), (F64, I64)];
const INT_TO_FLOAT: &[(Scalar, Scalar)] = &[(I32, F32), (I32, F64), (I64, F32), (I64, F64)];
const PROMOTE: &[(Scalar, Scalar)] = &[(F32, F64)];
const DEMOTE: &[(Scalar, Scalar)] = &[(F64, F32)];
const REINTERPRET: &[(Scalar, Scalar)] = &[(F32, I32), (F64, I64), (I32, F32), (I64, F64)];

macro_rules! ports {
    ($($name:ident: $ty:ident),*) => { &[$(Port { name: stringify!($name), ty: port_type!($ty) }),*] };
}

macro_rules! port_type {
    (BOOL) => {
        PortType::Is(Bool)
    };
    (I32) => {
        PortType::Is(I32)
    };
    ($ty:ident) => {
        PortType::$ty
    };
}

macro_rules! wasm {
    (none) => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
}

macro_rules! attr {
    ($kind:ident) => {
        AttrKind::$kind
    };
    ($kind:ident $of:ident) => {
        AttrKind::$kind($of)
    };
}

macro_rules! ops {
    ($($code:ident $mnemonic:literal $group:ident $attr:ident$(<$of:ident>)?
        ($($input:ident: $input_type:ident),*) ($($output:ident: $output_type:ident),*)
        [$($region:literal),*] $effect:ident [$($trap:ident),*] $wasm:tt $doc:literal $example:literal;)*) => {
        /// The operators, as the rows of [`OPS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Opcode { $(#[doc = $doc] $code),* }

        /// The op table: one row per [`Opcode`], in the order of the declaration.
        pub static OPS: &[OpSpec] = &[$(OpSpec {
            code: Opcode::$code,
            mnemonic: $mnemonic,
            group: Group::$group,
            attr: attr!($attr $($of)?),
            inputs: ports!($($input: $input_type),*),
            outputs: ports!($($output: $output_type),*),
            regions: &[$($region),*],
            effect: Effect::$effect,
            traps: &[$(Trap::$trap),*],
            doc: $doc,
            wasm: wasm!($wasm),
            example: $example,
        }),*];
    };
}

impl Opcode {
    /// The row of the op table.
    pub fn spec(self) -> &'static OpSpec {
        &OPS[self as usize]
    }

    /// The name in the text form.
    pub fn mnemonic(self) -> &'static str {
        self.spec().mnemonic
    }

    /// The operator with a mnemonic.
    pub fn of_mnemonic(mnemonic: &str) -> Option<Opcode> {
        use std::collections::HashMap;
        use std::sync::LazyLock;
        static BY_MNEMONIC: LazyLock<HashMap<&str, Opcode>> =
            LazyLock::new(|| OPS.iter().map(|spec| (spec.mnemonic, spec.code)).collect());
        BY_MNEMONIC.get(mnemonic).copied()
    }
}

// opcode, mnemonic, group, attribute (inputs) (outputs) [regions] effect [traps] WebAssembly, documentation, example
ops! {
    Const "const" Value Const () (value: Constant) [] Pure [] "T.const"
        "A constant; floats hold bits, so that a NaN keeps its payload."
        "const.i64 5";
    Select "select" Value Type (condition: BOOL, a: Given, b: Given) (value: Given) [] Pure [] "select"
        "The first value if the condition holds, else the second; both are computed."
        "select<i32> c, a, b";
    Add "add" Integer Scalar<NUM> (a: T, b: T) (value: T) [] Pure [] "T.add"
        "Adds; integers wrap around."
        "add.i32 a, b";
    Sub "sub" Integer Scalar<NUM> (a: T, b: T) (value: T) [] Pure [] "T.sub"
        "Subtracts; integers wrap around."
        "sub.i32 a, b";
    Mul "mul" Integer Scalar<NUM> (a: T, b: T) (value: T) [] Pure [] "T.mul"
        "Multiplies; integers wrap around."
        "mul.i32 a, b";
    DivS "div_s" Integer Scalar<INT> (a: T, b: T) (value: T) [] Traps [DivisionByZero, IntegerOverflow] "T.div_s"
        "Divides signed integers, towards zero."
        "div_s.i32 a, b";
    DivU "div_u" Integer Scalar<INT> (a: T, b: T) (value: T) [] Traps [DivisionByZero] "T.div_u"
        "Divides unsigned integers."
        "div_u.i32 a, b";
    RemS "rem_s" Integer Scalar<INT> (a: T, b: T) (value: T) [] Traps [DivisionByZero] "T.rem_s"
        "The remainder of a signed division, with the sign of the first."
        "rem_s.i32 a, b";
    RemU "rem_u" Integer Scalar<INT> (a: T, b: T) (value: T) [] Traps [DivisionByZero] "T.rem_u"
        "The remainder of an unsigned division."
        "rem_u.i32 a, b";
    And "and" Bits Scalar<LOGIC> (a: T, b: T) (value: T) [] Pure [] "T.and"
        "Bitwise and; for `bool` the logical one."
        "and.i32 a, b";
    Or "or" Bits Scalar<LOGIC> (a: T, b: T) (value: T) [] Pure [] "T.or"
        "Bitwise or; for `bool` the logical one."
        "or.i32 a, b";
    Xor "xor" Bits Scalar<LOGIC> (a: T, b: T) (value: T) [] Pure [] "T.xor"
        "Bitwise exclusive or; for `bool`, whether they differ."
        "xor.i32 a, b";
    Not "not" Bits Scalar<LOGIC> (a: T) (value: T) [] Pure [] none
        "Flips all bits; for `bool` the logical negation."
        "not.bool a";
    Shl "shl" Bits Scalar<INT> (a: T, b: T) (value: T) [] Pure [] "T.shl"
        "Shifts left; the amount is taken modulo the width."
        "shl.i32 a, 3";
    ShrS "shr_s" Bits Scalar<INT> (a: T, b: T) (value: T) [] Pure [] "T.shr_s"
        "Shifts right, keeping the sign; the amount is taken modulo the width."
        "shr_s.i32 a, 3";
    ShrU "shr_u" Bits Scalar<INT> (a: T, b: T) (value: T) [] Pure [] "T.shr_u"
        "Shifts right, filling with zeros; the amount is taken modulo the width."
        "shr_u.i32 a, 3";
    Rotl "rotl" Bits Scalar<INT> (a: T, b: T) (value: T) [] Pure [] "T.rotl"
        "Rotates left."
        "rotl.i32 a, 3";
    Rotr "rotr" Bits Scalar<INT> (a: T, b: T) (value: T) [] Pure [] "T.rotr"
        "Rotates right."
        "rotr.i32 a, 3";
    Clz "clz" Bits Scalar<INT> (a: T) (value: T) [] Pure [] "T.clz"
        "Counts leading zeros; of zero, the width."
        "clz.i32 a";
    Ctz "ctz" Bits Scalar<INT> (a: T) (value: T) [] Pure [] "T.ctz"
        "Counts trailing zeros; of zero, the width."
        "ctz.i32 a";
    Popcnt "popcnt" Bits Scalar<INT> (a: T) (value: T) [] Pure [] "T.popcnt"
        "Counts ones."
        "popcnt.i32 a";
    Eqz "eqz" Comparison Scalar<INT> (a: T) (value: BOOL) [] Pure [] "T.eqz"
        "Tells whether an integer is zero."
        "eqz.i32 a";
    Eq "eq" Comparison Scalar<ALL> (a: T, b: T) (value: BOOL) [] Pure [] "T.eq"
        "Tells whether two values are equal; a NaN equals nothing."
        "eq.i32 a, b";
    Ne "ne" Comparison Scalar<ALL> (a: T, b: T) (value: BOOL) [] Pure [] "T.ne"
        "Tells whether two values differ; a NaN differs from everything."
        "ne.i32 a, b";
    LtS "lt_s" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.lt_s"
        "Tells whether the first is less than the second, as signed integers."
        "lt_s.i32 a, b";
    LtU "lt_u" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.lt_u"
        "Tells whether the first is less than the second, as unsigned integers."
        "lt_u.i32 a, b";
    Lt "lt" Comparison Scalar<FLOAT> (a: T, b: T) (value: BOOL) [] Pure [] "T.lt"
        "Tells whether the first is less than the second; false with a NaN."
        "lt.f64 a, b";
    LeS "le_s" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.le_s"
        "Tells whether the first is less than or equal to the second, as signed integers."
        "le_s.i32 a, b";
    LeU "le_u" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.le_u"
        "Tells whether the first is less than or equal to the second, as unsigned integers."
        "le_u.i32 a, b";
    Le "le" Comparison Scalar<FLOAT> (a: T, b: T) (value: BOOL) [] Pure [] "T.le"
        "Tells whether the first is less than or equal to the second; false with a NaN."
        "le.f64 a, b";
    GtS "gt_s" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.gt_s"
        "Tells whether the first is greater than the second, as signed integers."
        "gt_s.i32 a, b";
    GtU "gt_u" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.gt_u"
        "Tells whether the first is greater than the second, as unsigned integers."
        "gt_u.i32 a, b";
    Gt "gt" Comparison Scalar<FLOAT> (a: T, b: T) (value: BOOL) [] Pure [] "T.gt"
        "Tells whether the first is greater than the second; false with a NaN."
        "gt.f64 a, b";
    GeS "ge_s" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.ge_s"
        "Tells whether the first is greater than or equal to the second, as signed integers."
        "ge_s.i32 a, b";
    GeU "ge_u" Comparison Scalar<INT> (a: T, b: T) (value: BOOL) [] Pure [] "T.ge_u"
        "Tells whether the first is greater than or equal to the second, as unsigned integers."
        "ge_u.i32 a, b";
    Ge "ge" Comparison Scalar<FLOAT> (a: T, b: T) (value: BOOL) [] Pure [] "T.ge"
        "Tells whether the first is greater than or equal to the second; false with a NaN."
        "ge.f64 a, b";
    Div "div" Float Scalar<FLOAT> (a: T, b: T) (value: T) [] Pure [] "T.div"
        "Divides floats."
        "div.f64 a, b";
    Min "min" Float Scalar<FLOAT> (a: T, b: T) (value: T) [] Pure [] "T.min"
        "The smaller; a NaN if either is one, and -0 below +0."
        "min.f64 a, b";
    Max "max" Float Scalar<FLOAT> (a: T, b: T) (value: T) [] Pure [] "T.max"
        "The larger; a NaN if either is one, and +0 above -0."
        "max.f64 a, b";
    Copysign "copysign" Float Scalar<FLOAT> (a: T, b: T) (value: T) [] Pure [] "T.copysign"
        "The first with the sign of the second."
        "copysign.f64 a, b";
    Abs "abs" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.abs"
        "Without the sign."
        "abs.f64 a";
    Neg "neg" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.neg"
        "With the other sign."
        "neg.f64 a";
    Sqrt "sqrt" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.sqrt"
        "The square root, correctly rounded."
        "sqrt.f64 a";
    Ceil "ceil" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.ceil"
        "Rounds up to an integral value."
        "ceil.f64 a";
    Floor "floor" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.floor"
        "Rounds down to an integral value."
        "floor.f64 a";
    TruncFloat "trunc" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.trunc"
        "Rounds towards zero to an integral value."
        "trunc.f64 a";
    Nearest "nearest" Float Scalar<FLOAT> (a: T) (value: T) [] Pure [] "T.nearest"
        "Rounds to the nearest integral value, ties to even."
        "nearest.f64 a";
    Wrap "wrap" Conversion Convert<WRAP> (a: T) (value: U) [] Pure [] "i32.wrap_i64"
        "Keeps the lowest bits; a narrow result is sign-extended from them."
        "wrap.i64.i32 a";
    ExtendS "extend_s" Conversion Convert<EXTEND_S> (a: T) (value: U) [] Pure [] "U.extend_T_s"
        "Widens, copying the sign; within one type, from its lower part as `extend_s.i8.i32` after a `wrap`."
        "extend_s.i32.i64 a";
    ExtendU "extend_u" Conversion Convert<EXTEND_U> (a: T) (value: U) [] Pure [] "U.extend_T_u"
        "Widens, filling with zeros; a `bool` becomes 0 or 1."
        "extend_u.i32.i64 a";
    TruncS "trunc_s" Conversion Convert<FLOAT_TO_INT> (a: T) (value: U) [] Traps [IntegerOverflow, InvalidConversion] "U.trunc_T_s"
        "The signed integer towards zero; traps when there is none."
        "trunc_s.f64.i32 a";
    TruncU "trunc_u" Conversion Convert<FLOAT_TO_INT> (a: T) (value: U) [] Traps [IntegerOverflow, InvalidConversion] "U.trunc_T_u"
        "The unsigned integer towards zero; traps when there is none."
        "trunc_u.f64.i32 a";
    TruncSatS "trunc_sat_s" Conversion Convert<FLOAT_TO_INT> (a: T) (value: U) [] Pure [] "U.trunc_sat_T_s"
        "The nearest signed integer towards zero within range; zero for a NaN."
        "trunc_sat_s.f64.i32 a";
    TruncSatU "trunc_sat_u" Conversion Convert<FLOAT_TO_INT> (a: T) (value: U) [] Pure [] "U.trunc_sat_T_u"
        "The nearest unsigned integer towards zero within range; zero for a NaN."
        "trunc_sat_u.f64.i32 a";
    ConvertS "convert_s" Conversion Convert<INT_TO_FLOAT> (a: T) (value: U) [] Pure [] "U.convert_T_s"
        "The float nearest to a signed integer."
        "convert_s.i32.f64 a";
    ConvertU "convert_u" Conversion Convert<INT_TO_FLOAT> (a: T) (value: U) [] Pure [] "U.convert_T_u"
        "The float nearest to an unsigned integer."
        "convert_u.i32.f64 a";
    Promote "promote" Conversion Convert<PROMOTE> (a: T) (value: U) [] Pure [] "f64.promote_f32"
        "The same value, wider."
        "promote.f32.f64 a";
    Demote "demote" Conversion Convert<DEMOTE> (a: T) (value: U) [] Pure [] "f32.demote_f64"
        "The nearest value, narrower."
        "demote.f64.f32 a";
    Reinterpret "reinterpret" Conversion Convert<REINTERPRET> (a: T) (value: U) [] Pure [] "U.reinterpret_T"
        "The same bits."
        "reinterpret.f64.i64 a";
    VarGet "var.get" Variable Variable () (value: Variable) [] Reads [] "local.get"
        "Reads a variable of the function."
        "var.get x";
    VarSet "var.set" Variable Variable (value: Variable) () [] Writes [] "local.set"
        "Writes a variable of the function."
        "var.set x, 1";
    GlobalGet "global.get" Variable Global () (value: Variable) [] Reads [] "global.get"
        "Reads a global."
        "global.get counter";
    GlobalSet "global.set" Variable Global (value: Variable) () [] Writes [] "global.set"
        "Writes a mutable global."
        "global.set counter, 1";
    Load "load" Memory Memory<ALL> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load"
        "Reads a value of its full width."
        "load.i32 offset=4 p";
    Load8S "load8_s" Memory Memory<INT> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load8_s"
        "Reads 8 bits, signed, and widens them."
        "load8_s.i32 p";
    Load8U "load8_u" Memory Memory<INT> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load8_u"
        "Reads 8 bits, unsigned, and widens them."
        "load8_u.i32 p";
    Load16S "load16_s" Memory Memory<INT> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load16_s"
        "Reads 16 bits, signed, and widens them."
        "load16_s.i32 p";
    Load16U "load16_u" Memory Memory<INT> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load16_u"
        "Reads 16 bits, unsigned, and widens them."
        "load16_u.i32 p";
    Load32S "load32_s" Memory Memory<LONG> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load32_s"
        "Reads 32 bits, signed, and widens them."
        "load32_s.i64 p";
    Load32U "load32_u" Memory Memory<LONG> (address: Address) (value: T) [] Reads [MemoryOutOfBounds] "T.load32_u"
        "Reads 32 bits, unsigned, and widens them."
        "load32_u.i64 p";
    Store "store" Memory Memory<ALL> (address: Address, value: T) () [] Writes [MemoryOutOfBounds] "T.store"
        "Writes a value of its full width."
        "store.i32 offset=4 p, 1";
    Store8 "store8" Memory Memory<INT> (address: Address, value: T) () [] Writes [MemoryOutOfBounds] "T.store8"
        "Writes the lowest 8 bits."
        "store8.i32 p, 1";
    Store16 "store16" Memory Memory<INT> (address: Address, value: T) () [] Writes [MemoryOutOfBounds] "T.store16"
        "Writes the lowest 16 bits."
        "store16.i32 p, 1";
    Store32 "store32" Memory Memory<LONG> (address: Address, value: T) () [] Writes [MemoryOutOfBounds] "T.store32"
        "Writes the lowest 32 bits."
        "store32.i64 p, 1";
    MemorySize "memory.size" Memory None () (pages: I32) [] Reads [] "memory.size"
        "The size of the memory, in pages of 64 KiB."
        "memory.size";
    MemoryGrow "memory.grow" Memory None (pages: I32) (before: I32) [] Writes [] "memory.grow"
        "Grows the memory by pages of 64 KiB; the size before, or -1."
        "memory.grow 1";
    MemoryCopy "memory.copy" Memory None (to: Address, from: Address, bytes: I32) () [] Writes [MemoryOutOfBounds] "memory.copy"
        "Copies bytes within memory; the ranges may overlap."
        "memory.copy to, from, n";
    MemoryFill "memory.fill" Memory None (to: Address, byte: I32, bytes: I32) () [] Writes [MemoryOutOfBounds] "memory.fill"
        "Fills memory with a byte."
        "memory.fill p, 0, n";
    MemoryInit "memory.init" Memory Data (to: Address, from: I32, bytes: I32) () [] Writes [MemoryOutOfBounds] "memory.init"
        "Copies bytes from a data segment to memory."
        "memory.init words to, 0, n";
    DataDrop "data.drop" Memory Data () () [] Writes [] "data.drop"
        "Empties a data segment."
        "data.drop words";
    FieldAddr "field_addr" Memory Field (base: PtrToStruct) (address: PtrToField) [] Pure [] none
        "The address of a field of a struct in memory."
        "field_addr Point.x p";
    ElemAddr "elem_addr" Memory Type (base: PtrToGiven, index: I32) (address: PtrToGiven) [] Pure [] none
        "The address that many elements further; wraps around."
        "elem_addr<i32> p, i";
    PtrFromI32 "ptr.from_i32" Memory Type (address: I32) (pointer: PtrToGiven) [] Pure [] none
        "Takes a number as an address."
        "ptr.from_i32<i32> 1024";
    PtrToI32 "ptr.to_i32" Memory Type (pointer: PtrToGiven) (address: I32) [] Pure [] none
        "The address as a number."
        "ptr.to_i32<i32> p";
    StructNew "struct.new" Aggregate Struct (fields: Fields) (value: Struct) [] Pure [] none
        "Makes a struct from all its fields in order."
        "struct.new Point 1.0, 2.0";
    StructGet "struct.get" Aggregate Field (value: Struct) (field: Field) [] Pure [] none
        "Reads a field."
        "struct.get Point.x p";
    StructSet "struct.set" Aggregate Field (value: Struct, field: Field) (value: Struct) [] Pure [] none
        "The struct with one field changed."
        "struct.set Point.x p, 1.0";
    ArrayNew "array.new" Aggregate Array (elements: Elems) (array: Given) [] Pure [] none
        "Makes an array of the elements."
        "array.new<i32> 1, 2, 3";
    ArrayGet "array.get" Aggregate Array (array: Given, index: I32) (element: Elem) [] Traps [IndexOutOfBounds] none
        "Reads an element."
        "array.get<i32> a, 0";
    ArraySet "array.set" Aggregate Array (array: Given, index: I32, element: Elem) (array: Given) [] Traps [IndexOutOfBounds] none
        "The array with one element changed."
        "array.set<i32> a, 0, 5";
    ArrayLen "array.len" Aggregate Array (array: Given) (length: I32) [] Pure [] none
        "The number of elements."
        "array.len<i32> a";
    ArrayPush "array.push" Aggregate Array (array: Given, element: Elem) (array: Given) [] Pure [] none
        "The array with an element more at its end; not for arrays of fixed length."
        "array.push<i32> a, 4";
    ArraySlice "array.slice" Aggregate Array (array: Given, start: I32, end: I32) (array: Given) [] Traps [IndexOutOfBounds] none
        "The elements from start to before end; not for arrays of fixed length."
        "array.slice<i32> a, 0, 2";
    EnumNew "enum.new" Aggregate Variant (payload: Payload) (value: Enum) [] Pure [] none
        "Makes a variant, with its payload if it has one."
        "enum.new option<i32>.some 5";
    EnumTag "enum.tag" Aggregate Enum (value: Given) (tag: I32) [] Pure [] none
        "The position of the variant in its enum, from 0; `none` and `ok` are 0, `some` and `err` 1."
        "enum.tag<Shape> s";
    EnumPayload "enum.payload" Aggregate Variant (value: Enum) (payload: Payload) [] Traps [WrongVariant] none
        "The payload of a variant; traps on another one."
        "enum.payload option<i32>.some o";
    BoxNew "box.new" Aggregate Type (value: Given) (box: BoxOfGiven) [] Pure [] none
        "Puts a value into a box."
        "box.new<Expr> e";
    BoxGet "box.get" Aggregate Type (box: BoxOfGiven) (value: Given) [] Pure [] none
        "Takes the value out of a box."
        "box.get<Expr> b";
    StringLen "string.len" Text None (text: String) (bytes: I32) [] Pure [] none
        "The length in bytes of UTF-8."
        "string.len s";
    StringConcat "string.concat" Text None (a: String, b: String) (text: String) [] Pure [] none
        "One text after the other."
        "string.concat a, b";
    StringSlice "string.slice" Text None (text: String, start: I32, end: I32) (text: String) [] Traps [IndexOutOfBounds, InvalidUtf8] none
        "The bytes from start to before end; traps inside a character."
        "string.slice s, 0, 2";
    StringByte "string.byte" Text None (text: String, index: I32) (byte: I32) [] Traps [IndexOutOfBounds] none
        "The byte at an index, 0 to 255."
        "string.byte s, 0";
    StringEq "string.eq" Text None (a: String, b: String) (value: BOOL) [] Pure [] none
        "Tells whether two texts are equal."
        "string.eq a, b";
    StringCompare "string.compare" Text None (a: String, b: String) (order: I32) [] Pure [] none
        "-1, 0 or 1 by the order of the code points."
        "string.compare a, b";
    StringChars "string.chars" Text None (text: String) (chars: Ints) [] Pure [] none
        "The code points."
        "string.chars s";
    StringFromChars "string.from_chars" Text None (chars: Ints) (text: String) [] Traps [InvalidUtf8] none
        "The text of code points; traps on what is none."
        "string.from_chars a";
    StringToBytes "string.to_bytes" Text None (text: String) (bytes: Bytes) [] Pure [] none
        "The UTF-8 bytes."
        "string.to_bytes s";
    StringFromBytes "string.from_bytes" Text None (bytes: Bytes) (text: String) [] Traps [InvalidUtf8] none
        "The text of UTF-8 bytes; traps on what is none."
        "string.from_bytes b";
    StringFormat "string.format" Text Scalar<NUM> (value: T) (text: String) [] Pure [] none
        "A number in decimal, never with an exponent: floats with the fewest digits that read back; `nan`, `inf`, `-inf`."
        "string.format.i32 n";
    StringParse "string.parse" Text Scalar<NUM> (text: String) (value: OptionalT) [] Pure [] none
        "The number that a text is, if it is one."
        "string.parse.i32 s";
    BytesNew "bytes.new" Text None (length: I32) (bytes: Bytes) [] Traps [IndexOutOfBounds] none
        "That many zero bytes; traps on a negative length."
        "bytes.new 16";
    BytesLen "bytes.len" Text None (bytes: Bytes) (length: I32) [] Pure [] none
        "The number of bytes."
        "bytes.len b";
    BytesGet "bytes.get" Text None (bytes: Bytes, index: I32) (byte: I32) [] Traps [IndexOutOfBounds] none
        "The byte at an index, 0 to 255."
        "bytes.get b, 0";
    BytesSet "bytes.set" Text None (bytes: Bytes, index: I32, byte: I32) (bytes: Bytes) [] Traps [IndexOutOfBounds] none
        "The bytes with one changed to the lowest 8 bits."
        "bytes.set b, 0, 255";
    BytesPush "bytes.push" Text None (bytes: Bytes, byte: I32) (bytes: Bytes) [] Pure [] none
        "The bytes with one more at their end."
        "bytes.push b, 10";
    BytesConcat "bytes.concat" Text None (a: Bytes, b: Bytes) (bytes: Bytes) [] Pure [] none
        "Some bytes after the others."
        "bytes.concat a, b";
    BytesSlice "bytes.slice" Text None (bytes: Bytes, start: I32, end: I32) (bytes: Bytes) [] Traps [IndexOutOfBounds] none
        "The bytes from start to before end."
        "bytes.slice b, 0, 2";
    BytesEq "bytes.eq" Text None (a: Bytes, b: Bytes) (value: BOOL) [] Pure [] none
        "Tells whether two are equal."
        "bytes.eq a, b";
    BytesLoad "bytes.load" Text None (address: Address, length: I32) (bytes: Bytes) [] Reads [MemoryOutOfBounds] none
        "Copies bytes out of linear memory."
        "bytes.load p, n";
    BytesStore "bytes.store" Text None (address: Address, bytes: Bytes) () [] Writes [MemoryOutOfBounds] none
        "Copies bytes into linear memory."
        "bytes.store p, b";
    Call "call" Call Function (arguments: Params) (results: Returns) [] Calls [] "call"
        "Calls a function."
        "call fib(n)";
    CallIndirect "call_indirect" Call Indirect (index: I32, arguments: ClosureParams) (results: ClosureResults) [] Calls [TableOutOfBounds, UninitializedElement, SignatureMismatch] "call_indirect"
        "Calls the function at an index of a table."
        "call_indirect handlers<(i32) -> (i32)> i, x";
    FuncRef "func.ref" Call Function () (function: FuncRef) [] Pure [] "ref.func"
        "A reference to a function."
        "func.ref fib";
    ClosureNew "closure.new" Call Function (captures: Captures) (closure: ClosureOfFunction) [] Pure [] none
        "A function with the values that it captures."
        "closure.new adder 5";
    ClosureCall "closure.call" Call Signature (closure: Closure, arguments: ClosureParams) (results: ClosureResults) [] Calls [] none
        "Calls a closure."
        "closure.call<(i32) -> (i32)> c, 1";
    CaptureGet "capture.get" Call Index () (value: Capture) [] Pure [] none
        "A value that the function around captured, by position."
        "capture.get 0";
    TableGet "table.get" Table Table (index: I32) (entry: Entry) [] Reads [TableOutOfBounds] "table.get"
        "Reads an entry of a table."
        "table.get handlers i";
    TableSet "table.set" Table Table (index: I32, entry: Entry) () [] Writes [TableOutOfBounds] "table.set"
        "Writes an entry of a table."
        "table.set handlers i, r";
    TableSize "table.size" Table Table () (entries: I32) [] Reads [] "table.size"
        "The number of entries."
        "table.size handlers";
    TableGrow "table.grow" Table Table (entry: Entry, entries: I32) (before: I32) [] Writes [] "table.grow"
        "Grows a table; the size before, or -1."
        "table.grow handlers r, 1";
    TableFill "table.fill" Table Table (start: I32, entry: Entry, entries: I32) () [] Writes [TableOutOfBounds] "table.fill"
        "Fills entries of a table."
        "table.fill handlers 0, r, 4";
    TableInit "table.init" Table TableInit (to: I32, from: I32, entries: I32) () [] Writes [TableOutOfBounds] "table.init"
        "Copies entries of an element segment into a table."
        "table.init handlers more 0, 0, 4";
    TableCopy "table.copy" Table TableCopy (to: I32, from: I32, entries: I32) () [] Writes [TableOutOfBounds] "table.copy"
        "Copies entries of the second table, or of the same one, into the first."
        "table.copy handlers others 0, 0, 4";
    ElemDrop "elem.drop" Table Elements () () [] Writes [] "elem.drop"
        "Empties an element segment: nothing can be copied out of it any more."
        "elem.drop more";
    RefNull "ref.null" Table None () (function: FuncRef) [] Pure [] "ref.null func"
        "The empty reference to a function."
        "ref.null";
    RefNullExtern "ref.null_extern" Table None () (host: ExternRef) [] Pure [] "ref.null extern"
        "The empty reference to something of the host."
        "ref.null_extern";
    RefIsNull "ref.is_null" Table None (reference: Reference) (value: BOOL) [] Pure [] "ref.is_null"
        "Tells whether a reference is empty."
        "ref.is_null r";
    Block "block" Control Control () (results: Results) ["body"] Control [] "block"
        "Runs its region; `break` leaves it early."
        "block L -> (i32) { yield 1 }";
    Loop "loop" Control Control (initial: LoopParams) (results: Results) ["body"] Control [] "loop"
        "Runs its region again for each `continue`; the region's parameters change from round to round."
        "loop L (i: i32 = 0) -> (i32) { yield i }";
    If "if" Control Control (condition: BOOL) (results: Results) ["then", "else"] Control [] "if"
        "Runs one of two regions."
        "if c -> (i32) { yield 1 } else { yield 2 }";
    Match "match" Control Match (value: Scrutinee) (results: Results) ["case", "default"] Control [] "br_table"
        "Runs the region of the first case that fits; the payload of a variant is its region's parameter."
        "match d (0, default) -> (i32) { case 0 { yield 1 } default { yield 2 } }";
    Yield "yield" Control None (values: YieldValues) () [] Control [] none
        "Ends a region of a node with the node's results, or a contract with its answer."
        "yield a";
    Break "break" Control Exit (values: ExitValues) () [] Control [] "br"
        "Leaves an enclosing node with its results."
        "break L (a)";
    Continue "continue" Control Exit (values: ExitValues) () [] Control [] "br"
        "Starts the next round of an enclosing loop with its parameters."
        "continue L (i)";
    BreakIf "break_if" Control Exit (condition: BOOL, values: ExitValues) () [] Control [] "br_if"
        "Leaves an enclosing node if the condition holds."
        "break_if L c (a)";
    ContinueIf "continue_if" Control Exit (condition: BOOL, values: ExitValues) () [] Control [] "br_if"
        "Starts the next round of an enclosing loop if the condition holds."
        "continue_if L c (i)";
    Return "return" Control None (values: ReturnValues) () [] Control [] "return"
        "Leaves the function with its results."
        "return a";
    Unreachable "unreachable" Control None () () [] Control [Unreachable] "unreachable"
        "Traps: nothing comes here."
        "unreachable";
    BrSwitch "br_switch" Control Switch (index: I32, values: ExitValues) () [] Control [] "br_table"
        "Takes the exit at an index, unsigned; the last one for any other."
        "br_switch (break A, continue L, return) i (a)";
    Print "print" Io None (text: String) () [] Io [] none
        "Writes a text to standard output."
        "print \"hello\\n\"";
    ReadLine "read_line" Io None () (line: OptionalString) [] Io [] none
        "Reads a line of standard input, without its end; none at the end."
        "read_line";
    FileOpen "file.open" Io None (path: String, write: BOOL) (file: I32) [] Io [] none
        "Opens a file; a negative number is an error."
        "file.open \"a.txt\", false";
    FileRead "file.read" Io None (file: I32, length: I32) (bytes: Bytes) [] Io [] none
        "Reads at most that many bytes."
        "file.read f, 4096";
    FileWrite "file.write" Io None (file: I32, bytes: Bytes) (written: I32) [] Io [] none
        "Writes bytes; their number, or a negative error."
        "file.write f, b";
    FileClose "file.close" Io None (file: I32) () [] Io [] none
        "Closes a file."
        "file.close f";
    Raw "raw" Io Raw (inputs: RawInputs) (outputs: RawOutputs) [] Io [] none
        "An opaque WebAssembly operator, kept as it came; a run that reaches it says so."
        "raw \"fd0c\" (i32) -> (i32) a";
}

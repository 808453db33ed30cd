//! Operators that are the same here and in WebAssembly, as one table that both directions read.

use lmlang_ir::{Attr, MemArg, Op, Opcode, Scalar};
use wasm_encoder::Instruction;
use wasmparser::Operator;

macro_rules! attr {
    ($of:ident) => {
        Attr::Scalar(Scalar::$of)
    };
    ($from:ident $to:ident) => {
        Attr::Convert(Scalar::$from, Scalar::$to)
    };
}

macro_rules! scalars {
    ($of:ident) => {
        (Scalar::$of, None)
    };
    ($from:ident $to:ident) => {
        (Scalar::$from, Some(Scalar::$to))
    };
}

macro_rules! plain {
    ($($name:ident = $code:ident $($scalar:ident)+;)*) => {
        /// The operator of a node that does what an instruction does, if there is one, with the type of its operands, and
        /// the one that a conversion leads to.
        pub(crate) fn of_operator(operator: &Operator<'_>) -> Option<(Opcode, (Scalar, Option<Scalar>))> {
            match operator {
                $(Operator::$name => Some((Opcode::$code, scalars!($($scalar)+))),)*
                _ => None,
            }
        }

        /// The instruction that does what the operator of a node does, if there is one.
        pub(crate) fn instruction(op: &Op) -> Option<Instruction<'static>> {
            match (op.code(), op.attr()) {
                $((Opcode::$code, attr!($($scalar)+)) => Some(Instruction::$name),)*
                _ => None,
            }
        }
    };
}

macro_rules! access {
    ($($name:ident = $code:ident $scalar:ident;)*) => {
        /// The operator of a node that reads or writes memory as an instruction does.
        pub(crate) fn of_access(operator: &Operator<'_>) -> Option<(Opcode, Scalar, wasmparser::MemArg)> {
            match operator {
                $(Operator::$name { memarg } => Some((Opcode::$code, Scalar::$scalar, *memarg)),)*
                _ => None,
            }
        }

        /// The instruction that reads or writes memory as the operator of a node does.
        pub(crate) fn access(code: Opcode, arg: MemArg, memory: u32) -> Option<Instruction<'static>> {
            let memarg = wasm_encoder::MemArg {
                offset: arg.offset.into(),
                align: arg.align_log2.into(),
                target: wasm_encoder::MemArgTarget::Memory(memory),
                ordering: None,
            };
            match (code, arg.ty) {
                $((Opcode::$code, Scalar::$scalar) => Some(Instruction::$name(memarg)),)*
                _ => None,
            }
        }
    };
}

// Instruction = operator, type of the operands (and of the result where it is another one)
plain! {
    I32Add = Add I32;
    I32Sub = Sub I32;
    I32Mul = Mul I32;
    I32DivS = DivS I32;
    I32DivU = DivU I32;
    I32RemS = RemS I32;
    I32RemU = RemU I32;
    I32And = And I32;
    I32Or = Or I32;
    I32Xor = Xor I32;
    I32Shl = Shl I32;
    I32ShrS = ShrS I32;
    I32ShrU = ShrU I32;
    I32Rotl = Rotl I32;
    I32Rotr = Rotr I32;
    I32Clz = Clz I32;
    I32Ctz = Ctz I32;
    I32Popcnt = Popcnt I32;
    I32Eqz = Eqz I32;
    I32Eq = Eq I32;
    I32Ne = Ne I32;
    I32LtS = LtS I32;
    I32LtU = LtU I32;
    I32LeS = LeS I32;
    I32LeU = LeU I32;
    I32GtS = GtS I32;
    I32GtU = GtU I32;
    I32GeS = GeS I32;
    I32GeU = GeU I32;
    I64Add = Add I64;
    I64Sub = Sub I64;
    I64Mul = Mul I64;
    I64DivS = DivS I64;
    I64DivU = DivU I64;
    I64RemS = RemS I64;
    I64RemU = RemU I64;
    I64And = And I64;
    I64Or = Or I64;
    I64Xor = Xor I64;
    I64Shl = Shl I64;
    I64ShrS = ShrS I64;
    I64ShrU = ShrU I64;
    I64Rotl = Rotl I64;
    I64Rotr = Rotr I64;
    I64Clz = Clz I64;
    I64Ctz = Ctz I64;
    I64Popcnt = Popcnt I64;
    I64Eqz = Eqz I64;
    I64Eq = Eq I64;
    I64Ne = Ne I64;
    I64LtS = LtS I64;
    I64LtU = LtU I64;
    I64LeS = LeS I64;
    I64LeU = LeU I64;
    I64GtS = GtS I64;
    I64GtU = GtU I64;
    I64GeS = GeS I64;
    I64GeU = GeU I64;
    F32Add = Add F32;
    F32Sub = Sub F32;
    F32Mul = Mul F32;
    F32Div = Div F32;
    F32Min = Min F32;
    F32Max = Max F32;
    F32Copysign = Copysign F32;
    F32Abs = Abs F32;
    F32Neg = Neg F32;
    F32Sqrt = Sqrt F32;
    F32Ceil = Ceil F32;
    F32Floor = Floor F32;
    F32Trunc = TruncFloat F32;
    F32Nearest = Nearest F32;
    F32Eq = Eq F32;
    F32Ne = Ne F32;
    F32Lt = Lt F32;
    F32Le = Le F32;
    F32Gt = Gt F32;
    F32Ge = Ge F32;
    F64Add = Add F64;
    F64Sub = Sub F64;
    F64Mul = Mul F64;
    F64Div = Div F64;
    F64Min = Min F64;
    F64Max = Max F64;
    F64Copysign = Copysign F64;
    F64Abs = Abs F64;
    F64Neg = Neg F64;
    F64Sqrt = Sqrt F64;
    F64Ceil = Ceil F64;
    F64Floor = Floor F64;
    F64Trunc = TruncFloat F64;
    F64Nearest = Nearest F64;
    F64Eq = Eq F64;
    F64Ne = Ne F64;
    F64Lt = Lt F64;
    F64Le = Le F64;
    F64Gt = Gt F64;
    F64Ge = Ge F64;
    I32WrapI64 = Wrap I64 I32;
    I64ExtendI32S = ExtendS I32 I64;
    I64ExtendI32U = ExtendU I32 I64;
    I32TruncF32S = TruncS F32 I32;
    I32TruncF32U = TruncU F32 I32;
    I32TruncF64S = TruncS F64 I32;
    I32TruncF64U = TruncU F64 I32;
    I64TruncF32S = TruncS F32 I64;
    I64TruncF32U = TruncU F32 I64;
    I64TruncF64S = TruncS F64 I64;
    I64TruncF64U = TruncU F64 I64;
    I32TruncSatF32S = TruncSatS F32 I32;
    I32TruncSatF32U = TruncSatU F32 I32;
    I32TruncSatF64S = TruncSatS F64 I32;
    I32TruncSatF64U = TruncSatU F64 I32;
    I64TruncSatF32S = TruncSatS F32 I64;
    I64TruncSatF32U = TruncSatU F32 I64;
    I64TruncSatF64S = TruncSatS F64 I64;
    I64TruncSatF64U = TruncSatU F64 I64;
    F32ConvertI32S = ConvertS I32 F32;
    F32ConvertI32U = ConvertU I32 F32;
    F32ConvertI64S = ConvertS I64 F32;
    F32ConvertI64U = ConvertU I64 F32;
    F64ConvertI32S = ConvertS I32 F64;
    F64ConvertI32U = ConvertU I32 F64;
    F64ConvertI64S = ConvertS I64 F64;
    F64ConvertI64U = ConvertU I64 F64;
    F32DemoteF64 = Demote F64 F32;
    F64PromoteF32 = Promote F32 F64;
    I32ReinterpretF32 = Reinterpret F32 I32;
    I64ReinterpretF64 = Reinterpret F64 I64;
    F32ReinterpretI32 = Reinterpret I32 F32;
    F64ReinterpretI64 = Reinterpret I64 F64;
}

// Instruction = operator, type of the value in a register
access! {
    I32Load = Load I32;
    I64Load = Load I64;
    F32Load = Load F32;
    F64Load = Load F64;
    I32Load8S = Load8S I32;
    I64Load8S = Load8S I64;
    I32Load8U = Load8U I32;
    I64Load8U = Load8U I64;
    I32Load16S = Load16S I32;
    I64Load16S = Load16S I64;
    I32Load16U = Load16U I32;
    I64Load16U = Load16U I64;
    I64Load32S = Load32S I64;
    I64Load32U = Load32U I64;
    I32Store = Store I32;
    I64Store = Store I64;
    F32Store = Store F32;
    F64Store = Store F64;
    I32Store8 = Store8 I32;
    I64Store8 = Store8 I64;
    I32Store16 = Store16 I32;
    I64Store16 = Store16 I64;
    I64Store32 = Store32 I64;
}

//! Register code: what a function is decoded to.
//!
//! An instruction is four 16-bit fields: the opcode with the fuel count, and three operands. Some take a second word.
//! Scalars live in numbered slots of a frame, values of the heap in numbered references of a second file. Narrow
//! integers are held zero-extended from 32 bits (`i8` and `i16` sign-extended to 32 bits first), floats as bits.

use crate::record::Origin;
use lmlang_ir::{ContractRef, FuncRef, NodeRef, Ref, RegionRef, Signature, Source, Type, VarRef};

use crate::contained::Finder;
use crate::heap::Obj;

/// One word of code: `[opcode | fuel << 8, a, b, c]`.
pub(crate) type Ins = [u16; 4];

/// Slots and instructions are seen through windows of this many elements, so that a 16-bit index needs no check.
pub(crate) const WINDOW: usize = 1 << 16;

/// Marks a reference operand whose value is not needed afterwards: it is moved, so that it can be changed in place.
pub(crate) const TAKE: u16 = 1 << 15;

/// Calls a macro with each opcode and its handler.
macro_rules! each_opcode {
    ($then:ident) => {
        $then! {
            Bad system::bad, Link system::link, Halt system::halt, Mark system::mark, Nop system::nop, Charge system::charge,
            Jmp system::jmp, Far system::far, Stop system::stop, Switch system::switch, Heap system::heap,
            ContractBegin system::contract_begin, ContractCheck system::contract_check,
            Call calls::call, CallR calls::call_r, CallIndirect calls::call_indirect,
            CallClosure calls::call_closure, Ret calls::ret, Leave calls::leave, Enter calls::enter,
            Mov data::mov, Mov2 data::mov2, Const data::const16, ConstLong data::const64, Select data::select,
            GlobalGet data::global_get, GlobalSet data::global_set, Unary data::unary, Binary data::binary,
            BrIf branch::br_if, BrIfNot branch::br_if_not,
            BrEq branch::br_eq, BrNe branch::br_ne, BrLtU branch::br_lt_u, BrLeU branch::br_le_u,
            BrLtS32 branch::br_lt_s32, BrLeS32 branch::br_le_s32,
            BrLtS64 branch::br_lt_s64, BrLeS64 branch::br_le_s64,
            BrLtF64 branch::br_lt_f64, BrLeF64 branch::br_le_f64,
            BrNotLtF64 branch::br_not_lt_f64, BrNotLeF64 branch::br_not_le_f64,
            BrEqK branch::br_eq_k, BrNeK branch::br_ne_k, BrLtUK branch::br_lt_u_k, BrGeUK branch::br_ge_u_k,
            BrLtSK32 branch::br_lt_s_k32, BrGeSK32 branch::br_ge_s_k32,
            BrLtSK64 branch::br_lt_s_k64, BrGeSK64 branch::br_ge_s_k64,
            BrAnyK branch::br_any_k, BrNoneK branch::br_none_k,
            NextNe32 branch::next_ne32, NextLtU32 branch::next_lt_u32,
            NextLtS32 branch::next_lt_s32, NextLeS32 branch::next_le_s32,
            NextNe64 branch::next_ne64, NextLtU64 branch::next_lt_u64,
            NextLtS64 branch::next_lt_s64, NextLeS64 branch::next_le_s64,
            AddI32 int::add_i32, SubI32 int::sub_i32, MulI32 int::mul_i32, AddI64 int::add_i64,
            SubI64 int::sub_i64, MulI64 int::mul_i64, And int::and, Or int::or, Xor int::xor,
            ShlI32 int::shl_i32, ShlI64 int::shl_i64, ShrSI32 int::shr_s_i32, ShrSI64 int::shr_s_i64,
            ShrUI32 int::shr_u_i32, ShrUI64 int::shr_u_i64,
            DivSI32 int::div_s_i32, DivSI64 int::div_s_i64, DivUI32 int::div_u_i32, DivUI64 int::div_u_i64,
            RemSI32 int::rem_s_i32, RemSI64 int::rem_s_i64, RemUI32 int::rem_u_i32, RemUI64 int::rem_u_i64,
            AddI32K int::add_i32_k, AddI64K int::add_i64_k, MulI32K int::mul_i32_k, MulI64K int::mul_i64_k,
            AndK int::and_k, ShlI32K int::shl_i32_k, ShlI64K int::shl_i64_k, ShrSI32K int::shr_s_i32_k,
            ShrSI64K int::shr_s_i64_k, ShrUK int::shr_u_k,
            RotlI32 int::rotl_i32, RotlI64 int::rotl_i64, RotrI32 int::rotr_i32, RotrI64 int::rotr_i64,
            MulAddI32 int::mul_add_i32, MulAddI64 int::mul_add_i64,
            MulKAddI32 int::mul_k_add_i32, MulKAddI64 int::mul_k_add_i64,
            Eq int::eq, Ne int::ne, LtU int::lt_u, LeU int::le_u, LtS32 int::lt_s32, LeS32 int::le_s32,
            LtS64 int::lt_s64, LeS64 int::le_s64, EqK int::eq_k, NeK int::ne_k, Eqz int::eqz,
            AddF64 float::add_f64, SubF64 float::sub_f64, MulF64 float::mul_f64, DivF64 float::div_f64,
            AddF32 float::add_f32, SubF32 float::sub_f32, MulF32 float::mul_f32, DivF32 float::div_f32,
            MulAddF64 float::mul_add_f64, MulSubF64 float::mul_sub_f64, SubMulF64 float::sub_mul_f64,
            SubAddF64 float::sub_add_f64,
            EqF64 float::eq_f64, NeF64 float::ne_f64, LtF64 float::lt_f64, LeF64 float::le_f64,
            EqF32 float::eq_f32, NeF32 float::ne_f32, LtF32 float::lt_f32, LeF32 float::le_f32,
            SqrtF64 float::sqrt_f64, NegF64 float::neg_f64, AbsF64 float::abs_f64,
            ConvertSI32 float::convert_s_i32, ConvertSI64 float::convert_s_i64,
            Low32 int::low32, ExtendS32 int::extend_s32,
            AddressOf memory::address_of,
            Load8U memory::load8_u, Load8S32 memory::load8_s32, Load8S64 memory::load8_s64,
            LoadBool memory::load_bool,
            Load16U memory::load16_u, Load16S32 memory::load16_s32, Load16S64 memory::load16_s64,
            Load32U memory::load32_u, Load32S64 memory::load32_s64, Load64 memory::load64,
            LoadAt8U memory::load_at8_u, LoadAt32U memory::load_at32_u, LoadAt64 memory::load_at64,
            Store8 memory::store8, Store16 memory::store16, Store32 memory::store32, Store64 memory::store64,
        }
    };
}
pub(crate) use each_opcode;

macro_rules! opcode_enum {
    ($($name:ident $module:ident::$handler:ident,)*) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Opcode { $($name),* }

        impl Opcode {
            pub(crate) const ALL: &[Opcode] = &[$(Opcode::$name),*];
        }
    };
}
each_opcode!(opcode_enum);

impl Opcode {
    /// The opcode of a word that starts an instruction.
    pub(crate) fn of(word: Ins) -> Opcode {
        Opcode::ALL.get(usize::from(word[0] as u8)).copied().unwrap_or(Opcode::Bad)
    }

    /// Tells whether the operand `c` is a relative branch target.
    pub(crate) fn branches(self) -> bool {
        matches!(
            self,
            Opcode::Jmp
                | Opcode::ContractBegin
                | Opcode::BrIf
                | Opcode::BrIfNot
                | Opcode::BrEq
                | Opcode::BrNe
                | Opcode::BrLtU
                | Opcode::BrLeU
                | Opcode::BrLtS32
                | Opcode::BrLeS32
                | Opcode::BrLtS64
                | Opcode::BrLeS64
                | Opcode::BrLtF64
                | Opcode::BrLeF64
                | Opcode::BrNotLtF64
                | Opcode::BrNotLeF64
                | Opcode::BrEqK
                | Opcode::BrNeK
                | Opcode::BrLtUK
                | Opcode::BrGeUK
                | Opcode::BrLtSK32
                | Opcode::BrGeSK32
                | Opcode::BrLtSK64
                | Opcode::BrGeSK64
                | Opcode::BrAnyK
                | Opcode::BrNoneK
        ) || self.steps()
    }

    /// Tells whether it is the end of a round of a loop: adds to a counter, compares it, and branches.
    pub(crate) fn steps(self) -> bool {
        matches!(
            self,
            Opcode::NextNe32
                | Opcode::NextLtU32
                | Opcode::NextLtS32
                | Opcode::NextLeS32
                | Opcode::NextNe64
                | Opcode::NextLtU64
                | Opcode::NextLtS64
                | Opcode::NextLeS64
        )
    }

    /// Tells whether the next instruction to run is charged anew: the end of a fuel segment.
    pub(crate) fn transfers(self) -> bool {
        self.branches()
            || matches!(
                self,
                Opcode::Bad
                    | Opcode::Link
                    | Opcode::Halt
                    | Opcode::Charge
                    | Opcode::Far
                    | Opcode::Stop
                    | Opcode::Switch
                    | Opcode::ContractCheck
                    | Opcode::Call
                    | Opcode::CallR
                    | Opcode::CallIndirect
                    | Opcode::CallClosure
                    | Opcode::Ret
                    | Opcode::Leave
            )
    }

    /// Tells whether nothing can stop it, so that what was executed behind it is known before it is.
    pub(crate) fn goes_on(self) -> bool {
        let within = |first: Opcode, last: Opcode| (first as u8..=last as u8).contains(&(self as u8));
        within(Opcode::Mov, Opcode::Select)
            || within(Opcode::AddI32, Opcode::ExtendS32) && !within(Opcode::DivSI32, Opcode::RemUI64)
    }

    /// Tells whether it does two operators, each of which computes a value.
    pub(crate) fn computes_two(self) -> bool {
        self.steps()
            || matches!(
                self,
                Opcode::BrAnyK
                    | Opcode::BrNoneK
                    | Opcode::MulAddI32
                    | Opcode::MulAddI64
                    | Opcode::MulKAddI32
                    | Opcode::MulKAddI64
                    | Opcode::MulAddF64
                    | Opcode::MulSubF64
                    | Opcode::SubMulF64
                    | Opcode::SubAddF64
                    | Opcode::LoadAt8U
                    | Opcode::LoadAt32U
                    | Opcode::LoadAt64
            )
    }

    /// Tells whether what comes behind it is a segment of its own in a record.
    pub(crate) fn ends_record(self) -> bool {
        self.transfers() || self == Opcode::Heap
    }

    /// Tells whether a second word belongs to the instruction: two operators have three operands, but for those whose
    /// second one compares with zero.
    pub(crate) fn is_long(self) -> bool {
        self.computes_two() && !matches!(self, Opcode::BrAnyK | Opcode::BrNoneK)
            || matches!(
                self,
                Opcode::Heap
                    | Opcode::CallR
                    | Opcode::CallIndirect
                    | Opcode::CallClosure
                    | Opcode::ConstLong
                    | Opcode::Select
                    | Opcode::Binary
            )
    }
}

/// Operators on the value heap and other rare ones: the first field of the second word of [`Opcode::Heap`].
///
/// Operands are named `a b c` in the first word and `d e` in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum HeapOp {
    /// `ref a = ref b`
    Mov,
    /// `ref a = constant d,e`
    Const,
    /// `ref a = zero of type d,e`
    Zero,
    /// `ref a = num d ? ref b : ref c`
    Select,
    /// `ref a = global b`
    GlobalGet,
    /// `global b = ref a`
    GlobalSet,
    MemorySize,
    MemoryGrow,
    MemoryCopy,
    MemoryFill,
    MemoryInit,
    DataDrop,
    StructNew,
    StructGet,
    StructSet,
    ArrayNew,
    ArrayGet,
    ArraySet,
    ArrayLen,
    ArrayPush,
    ArraySlice,
    EnumNew,
    EnumTag,
    EnumPayload,
    BoxNew,
    BoxGet,
    StringLen,
    StringConcat,
    StringSlice,
    StringByte,
    StringEq,
    StringCompare,
    StringChars,
    StringFromChars,
    StringToBytes,
    StringFromBytes,
    StringFormat,
    StringParse,
    BytesNew,
    BytesLen,
    BytesGet,
    BytesSet,
    BytesPush,
    BytesConcat,
    BytesSlice,
    BytesEq,
    BytesLoad,
    BytesStore,
    ClosureNew,
    TableGet,
    TableSet,
    TableSize,
    TableGrow,
    TableFill,
    TableInit,
    TableCopy,
    ElemDrop,
    Print,
    ReadLine,
    FileOpen,
    FileRead,
    FileWrite,
    FileClose,
    /// `ref a = array of arrays, of the values in ref b that finder d,e finds`, by type; of none while a contract is being
    /// evaluated
    Contained,
    /// `function b of the host`, on the first slots
    Host,
}

impl HeapOp {
    pub(crate) const ALL: &[HeapOp] = &[
        HeapOp::Mov,
        HeapOp::Const,
        HeapOp::Zero,
        HeapOp::Select,
        HeapOp::GlobalGet,
        HeapOp::GlobalSet,
        HeapOp::MemorySize,
        HeapOp::MemoryGrow,
        HeapOp::MemoryCopy,
        HeapOp::MemoryFill,
        HeapOp::MemoryInit,
        HeapOp::DataDrop,
        HeapOp::StructNew,
        HeapOp::StructGet,
        HeapOp::StructSet,
        HeapOp::ArrayNew,
        HeapOp::ArrayGet,
        HeapOp::ArraySet,
        HeapOp::ArrayLen,
        HeapOp::ArrayPush,
        HeapOp::ArraySlice,
        HeapOp::EnumNew,
        HeapOp::EnumTag,
        HeapOp::EnumPayload,
        HeapOp::BoxNew,
        HeapOp::BoxGet,
        HeapOp::StringLen,
        HeapOp::StringConcat,
        HeapOp::StringSlice,
        HeapOp::StringByte,
        HeapOp::StringEq,
        HeapOp::StringCompare,
        HeapOp::StringChars,
        HeapOp::StringFromChars,
        HeapOp::StringToBytes,
        HeapOp::StringFromBytes,
        HeapOp::StringFormat,
        HeapOp::StringParse,
        HeapOp::BytesNew,
        HeapOp::BytesLen,
        HeapOp::BytesGet,
        HeapOp::BytesSet,
        HeapOp::BytesPush,
        HeapOp::BytesConcat,
        HeapOp::BytesSlice,
        HeapOp::BytesEq,
        HeapOp::BytesLoad,
        HeapOp::BytesStore,
        HeapOp::ClosureNew,
        HeapOp::TableGet,
        HeapOp::TableSet,
        HeapOp::TableSize,
        HeapOp::TableGrow,
        HeapOp::TableFill,
        HeapOp::TableInit,
        HeapOp::TableCopy,
        HeapOp::ElemDrop,
        HeapOp::Print,
        HeapOp::ReadLine,
        HeapOp::FileOpen,
        HeapOp::FileRead,
        HeapOp::FileWrite,
        HeapOp::FileClose,
        HeapOp::Contained,
        HeapOp::Host,
    ];
}

/// Where a value of a function lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Loc {
    /// A scalar in a slot.
    Num(u16),
    /// A value of the heap in a reference.
    Ref(u16),
    /// A scalar constant, held nowhere.
    Known(u64),
}

/// How code is made from nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lowering {
    /// Every node is its own instruction: for stepping, inspection and as the oracle of the other.
    Plain,
    /// Constants fold into operands, comparisons into branches, moves into what computes the value.
    Fast,
    /// As [`Lowering::Fast`], except that whatever is left before its region ends has computed what stands there; and it
    /// is known which node an instruction computes a value of.
    Recorded,
}

impl Lowering {
    /// Whether an instruction may do the work of several nodes.
    pub(crate) fn folds(self) -> bool {
        self != Lowering::Plain
    }
}

/// Where a multi-way branch goes: a position in the list of jumps behind it.
#[derive(Debug)]
pub(crate) struct SwitchTable {
    pub(crate) base: i64,
    pub(crate) dense: Box<[u16]>,
    pub(crate) sparse: Box<[(i64, u16)]>,
    pub(crate) default: u16,
}

impl SwitchTable {
    pub(crate) fn target(&self, value: i64) -> u16 {
        let offset = value.wrapping_sub(self.base) as u64;
        if let Some(target) = usize::try_from(offset).ok().and_then(|offset| self.dense.get(offset)) {
            return *target;
        }
        match self.sparse.binary_search_by_key(&value, |case| case.0) {
            Ok(found) => self.sparse[found].1,
            Err(_) => self.default,
        }
    }
}

/// Why code ends at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSite {
    /// `unreachable`.
    Unreachable,
    /// An input without a source, or one that verification left behind as wrong.
    Hole(NodeRef, Option<u16>),
    /// A region without a terminator.
    Open(RegionRef),
    /// An operator that simulations do not have.
    Unsupported(NodeRef),
}

/// A field of an instruction that is only known inside a run.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    /// Index of the word.
    pub(crate) at: u32,
    /// Which of its fields; the next one takes the upper half.
    pub(crate) field: u8,
    /// What is put there.
    pub(crate) what: Target,
}

/// What a patched field names.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Function(FuncRef),
    /// Position in the run's list, plus one: a `funcref` value.
    FunctionValue(FuncRef),
    Signature(Signature),
    Storage(VarRef),
}

/// What a node reads and makes, for the trace; only in [`Lowering::Plain`].
#[derive(Debug)]
pub(crate) struct NodeSlots {
    pub(crate) node: NodeRef,
    pub(crate) region: RegionRef,
    pub(crate) op: lmlang_ir::Opcode,
    pub(crate) inputs: Box<[(Loc, Type)]>,
    pub(crate) outputs: Box<[(Loc, Type)]>,
}

/// A value that an instruction computes.
#[derive(Clone, Debug)]
pub(crate) struct Computed {
    pub(crate) node: NodeRef,
    pub(crate) ty: Type,
    /// Whether the instruction computes the opposite, as a branch that is taken where a condition does not hold.
    pub(crate) inverted: bool,
}

/// No node starts at a word.
pub(crate) const NO_START: u32 = u32::MAX;

/// A decoded function: independent of any run.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) words: Box<[Ins]>,
    /// For each word the position in `nodes` of the node it belongs to.
    pub(crate) owner: Box<[u32]>,
    /// For each word the nodes that it accounts for.
    pub(crate) cost: Box<[u8]>,
    pub(crate) nodes: Box<[NodeRef]>,
    pub(crate) frame: u32,
    pub(crate) refs: u32,
    pub(crate) ref_results: u16,
    pub(crate) patches: Box<[Patch]>,
    pub(crate) objs: Box<[Obj]>,
    pub(crate) types: Box<[Type]>,
    pub(crate) lists: Box<[Box<[Loc]>]>,
    pub(crate) finders: Box<[Finder]>,
    pub(crate) switches: Box<[SwitchTable]>,
    pub(crate) stops: Box<[StopSite]>,
    pub(crate) contracts: Box<[ContractRef]>,
    /// For each word the position in `slots` of the node that starts there, or [`NO_START`]; nothing where steps are not
    /// told apart.
    pub(crate) starts: Box<[u32]>,
    pub(crate) slots: Box<[NodeSlots]>,
    /// What is computed where, in the order of places; only in [`Lowering::Recorded`].
    pub(crate) computed: Box<[(Origin, Computed)]>,
    /// Where values live, for inspection, with their types.
    pub(crate) locs: std::collections::HashMap<Source, (Loc, Type)>,
    /// Where variables live, in order.
    pub(crate) vars: Box<[(VarRef, Loc, Type)]>,
    /// What the code depends on besides the function's own content.
    pub(crate) depends: Box<[Ref]>,
}

impl Code {
    /// What stands for a function of the host: it is called on the slots of its frame.
    pub(crate) fn of_host(index: u16, frame: u32) -> Code {
        let words = [
            [Opcode::Heap as u16, 0, index, 0],
            [HeapOp::Host as u16, 0, 0, 0],
            [Opcode::Ret as u16, 0, 0, 0],
        ];
        Code {
            words: words.into(),
            owner: [0; 3].into(),
            cost: [0; 3].into(),
            frame,
            starts: [NO_START; 3].into(),
            ..Code::default()
        }
    }

    /// Where the first node starts.
    pub(crate) fn first_start(&self) -> Option<usize> {
        self.starts.iter().position(|slots| *slots != NO_START)
    }

    /// The node that a word belongs to.
    pub(crate) fn node_at(&self, word: usize) -> Option<NodeRef> {
        self.nodes.get(*self.owner.get(word)? as usize).copied()
    }

    /// The region at whose open end a word stands.
    pub(crate) fn open_region(&self, word: usize) -> Option<RegionRef> {
        let [_, low, high, _] = *self.words.get(word)?;
        if Opcode::of(self.words[word]) != Opcode::Stop {
            return None;
        }
        match self.stops.get(usize::from(low) | usize::from(high) << 16)? {
            StopSite::Open(region) => Some(*region),
            StopSite::Unreachable | StopSite::Hole(..) | StopSite::Unsupported(_) => None,
        }
    }
}

//! Operators on values of the heap.

use lmlang_ir::ops::Group;
use lmlang_ir::{
    Attr, Case, Const, MemberRef, NodeRef, Op, Opcode, RegionRef, Scalar, Source, Type, TypeRef,
};
use wasm_encoder::{Instruction, ValType};

use super::super::brought::Brought;
use super::super::host::Asked;
use super::super::{ExportError, types};
use super::{Done, Emitter, Input, rotated};
use crate::heap::{self, HEADER, Measure, Part, places};

/// How many elements an array is made with at once; more are put behind them.
pub(super) const MOST_AT_ONCE: usize = 64;

/// How many fields a struct may have, and values a closure may capture.
const MOST_PARTS: usize = 500;

/// A variant that a case of a `match` found.
pub(super) struct Opened {
    /// Where the value is.
    local: u32,
    /// Whether nobody wants it afterwards.
    last: bool,
    /// What it carries, and which region wants that.
    payload: Option<(Part, RegionRef)>,
}

/// Whether an operator is about values of the heap, or about the world outside.
pub(super) fn concerns(op: &Op) -> bool {
    match op.spec().group {
        Group::Aggregate | Group::Text | Group::Io => true,
        Group::Call => matches!(op.code(), Opcode::ClosureNew | Opcode::ClosureCall | Opcode::CaptureGet),
        Group::Variable => matches!(op.code(), Opcode::GlobalGet | Opcode::GlobalSet),
        _ => false,
    }
}

/// Where a field lies, and how much its struct takes.
struct Placed {
    part: Part,
    offset: u32,
    bytes: u32,
}

type Instructions = Vec<Instruction<'static>>;

impl<'p> Emitter<'_, 'p> {
    /// The local that a source is in, if it is in one.
    pub(super) fn local_of(&self, source: Source) -> Option<u32> {
        match source {
            Source::Param(_, port) => Some(port.into()),
            Source::Node(..) | Source::RegionParam(..) => self.places.get(&source).map(|(local, _)| *local),
        }
    }

    /// The part that a box or variant holds.
    pub(super) fn payload_of(&self, op: &Op) -> Option<Part> {
        match op.attr() {
            Attr::Type(of) => Part::of(of),
            Attr::Variant(variant) => heap::payload(self.writing.program, variant)?,
            _ => None,
        }
    }

    fn part(&self, of: NodeRef, ty: &Type) -> Result<Part, ExportError> {
        Part::of(ty).ok_or_else(|| self.unsupported(of, format!("a `{ty}` in a value of the heap")))
    }

    fn parts<'t>(
        &self,
        of: NodeRef,
        types: impl IntoIterator<Item = &'t Type>,
    ) -> Result<Vec<Part>, ExportError> {
        let parts = types.into_iter().map(|ty| self.part(of, ty)).collect::<Result<Vec<_>, _>>()?;
        match parts.len() {
            0..=MOST_PARTS => Ok(parts),
            _ => Err(self.unsupported(of, format!("a value of more than {MOST_PARTS} parts"))),
        }
    }

    fn field(&self, of: NodeRef, ty: TypeRef, member: MemberRef) -> Result<Placed, ExportError> {
        let program = self.writing.program;
        let fields = program.type_def(ty).map_or(&[][..], |def| def.fields());
        let parts = self.parts(of, fields.iter().map(|field| &field.ty))?;
        let placed = places(&parts);
        let at = fields.iter().position(|field| field.member == member);
        let at = at.ok_or_else(|| self.unsupported(of, "a field that is not there"))?;
        Ok(Placed { part: parts[at], offset: placed.offsets[at], bytes: placed.bytes })
    }

    /// Calls what makes a value of the parts on the stack.
    fn new_value(&mut self, parts: Vec<Part>, word: u32, measure: Measure) -> Instructions {
        // Where it is counted what values take, each is one of its own.
        let counted = self.writing.meter.is_some();
        if parts.is_empty() && !counted {
            let address = self.writing.bringing.constants.add(word, 0, measure, &[]);
            return vec![Instruction::I32Const(address.cast_signed())];
        }
        let new = self.writing.brought(Brought::New(parts, counted.then_some(measure)));
        vec![Instruction::I32Const(word.cast_signed()), Instruction::Call(new)]
    }

    /// Reads a part; one more holds it if it is a value.
    fn read(&mut self, part: Part, offset: u32) -> Instructions {
        let load = self.writing.load_part(part, offset);
        match part {
            Part::Ref => vec![load, self.writing.runtime("share")],
            _ => vec![load],
        }
    }

    /// Calls the function of the runtime for a part: its name ends with the width. Floats go as integers.
    fn for_part(&mut self, name: &str, part: Part) -> Instructions {
        let (convert, width) = match part {
            Part::Ref => (None, "_ref"),
            Part::I8 => (None, "8"),
            Part::I16 => (None, "16"),
            Part::I32 => (None, "32"),
            Part::F32 => (Some(Instruction::I32ReinterpretF32), "32"),
            Part::I64 => (None, "64"),
            Part::F64 => (Some(Instruction::I64ReinterpretF64), "64"),
        };
        convert.into_iter().chain([self.writing.runtime(&format!("{name}{width}"))]).collect()
    }

    fn element(&self, of: NodeRef, array: &Type) -> Result<Part, ExportError> {
        match array {
            Type::Array(of_elements) | Type::FixedArray(of_elements, _) => self.part(of, of_elements),
            other => Err(self.unsupported(of, format!("an array of type `{other}`"))),
        }
    }

    pub(super) fn value(&mut self, of: NodeRef, op: &Op, inputs: &[Input]) -> Done {
        let put = match (op.code(), op.attr()) {
            (Opcode::GlobalGet | Opcode::GlobalSet, Attr::Variable(global)) => {
                return self.global(of, op.code(), *global, inputs);
            }
            (Opcode::StructNew, Attr::Named(ty)) => {
                let fields = self.writing.program.type_def(*ty).map_or(&[][..], |def| def.fields());
                let parts = self.parts(of, fields.iter().map(|field| &field.ty))?;
                let measure = Measure::Parts(parts.len() as u32);
                self.new_value(parts, 0, measure)
            }
            (Opcode::StructGet, Attr::Field(ty, member)) => {
                let Placed { part, offset, .. } = self.field(of, *ty, *member)?;
                self.read(part, offset)
            }
            (Opcode::StructSet, Attr::Field(ty, member)) => {
                let Placed { part, offset, bytes } = self.field(of, *ty, *member)?;
                let mut put = self.for_part("put", part);
                let last = put.pop();
                put.extend([offset, bytes].map(|number| Instruction::I32Const(number.cast_signed())));
                put.extend(last);
                put
            }
            (Opcode::ArrayNew, Attr::Type(ty)) => {
                let part = self.element(of, ty)?;
                return self.array(of, part, inputs);
            }
            (Opcode::ArrayGet, Attr::Type(ty)) => {
                let part = self.element(of, ty)?;
                let mut put =
                    vec![Instruction::I32Const(part.shift().cast_signed()), self.writing.runtime("at")];
                put.extend(self.read(part, HEADER));
                put
            }
            (Opcode::ArraySet, Attr::Type(ty)) => {
                let part = self.element(of, ty)?;
                self.for_part("set", part)
            }
            (Opcode::ArrayPush, Attr::Type(ty)) => {
                let part = self.element(of, ty)?;
                self.for_part("push", part)
            }
            (Opcode::ArraySlice, Attr::Type(ty)) => {
                let shift = self.element(of, ty)?.shift();
                vec![Instruction::I32Const(shift.cast_signed()), self.writing.runtime("slice")]
            }
            (Opcode::EnumNew, Attr::Variant(variant)) => {
                let program = self.writing.program;
                let (Some(word), Some(payload)) =
                    (heap::position(program, variant), heap::payload(program, variant))
                else {
                    return Err(self.unsupported(of, "what this variant carries"));
                };
                self.new_value(payload.into_iter().collect(), word, Measure::Parts(1))
            }
            (Opcode::EnumPayload | Opcode::BoxGet, attr) => {
                let Some(part) = self.payload_of(op) else {
                    return Err(self.unsupported(of, "what this value carries"));
                };
                let mut put = Vec::new();
                if let Attr::Variant(variant) = attr {
                    put.extend(self.variant(variant));
                }
                match self.consumes(of, 0) {
                    true => put.push(self.writing.runtime("open")),
                    false => put.extend(self.read(part, HEADER)),
                }
                put
            }
            (Opcode::BoxNew, Attr::Type(ty)) => {
                let part = self.part(of, ty)?;
                self.new_value(vec![part], 0, Measure::Parts(1))
            }
            (Opcode::ClosureNew, Attr::Function(function)) => {
                let head = self.writing.program.function(*function).map(|function| function.head());
                let captures = head.map_or(&[][..], |head| &head.captures);
                let parts = self.parts(of, captures.iter().map(|capture| &capture.ty))?;
                let place = self.writing.closure(*function);
                let measure = Measure::Parts(parts.len() as u32);
                self.new_value(parts, place, measure)
            }
            (Opcode::ClosureCall, Attr::Signature(signature)) => {
                let mut params = types::values(&signature.params);
                params.push(ValType::I32);
                let type_index = self.writing.types.index(params, types::values(&signature.results));
                let table_index = self.writing.closures();
                let local = inputs.first().and_then(|(_, source)| self.local_of(*source));
                let local = local.ok_or_else(|| self.unsupported(of, "a closure that is a constant"))?;
                let start = self.take(of, rotated(inputs));
                let word = self.writing.load_word();
                let call = Instruction::CallIndirect { type_index, table_index };
                for instruction in [Instruction::LocalGet(local), word, call] {
                    self.code.push(instruction);
                }
                self.let_go(of, inputs.iter().copied());
                return self.give(of, start);
            }
            (Opcode::CaptureGet, Attr::Index(index)) => {
                let captures = &self.function.head().captures;
                let parts = self.parts(of, captures.iter().map(|capture| &capture.ty))?;
                let closure = Instruction::LocalGet(self.params - 1);
                let at = *index as usize;
                let mut put = vec![closure];
                put.extend(self.read(parts[at], places(&parts).offsets[at]));
                put
            }
            (code, attr) => self.text(of, code, attr)?,
        };
        self.emit(of, inputs.iter().copied(), put)
    }

    /// The value on the stack, which has to be of a variant.
    fn variant(&mut self, variant: &lmlang_ir::Variant) -> Instructions {
        let position = heap::position(self.writing.program, variant).unwrap_or_default();
        vec![Instruction::I32Const(position.cast_signed()), self.writing.runtime("is")]
    }

    fn text(&mut self, of: NodeRef, code: Opcode, attr: &Attr) -> Result<Instructions, ExportError> {
        use Instruction::*;
        if let Some(asked) = Asked::of(code) {
            return Ok(vec![self.writing.ask(asked)]);
        }
        let name = match code {
            Opcode::StringLen | Opcode::BytesLen | Opcode::ArrayLen | Opcode::EnumTag => {
                return Ok(vec![self.writing.load_word()]);
            }
            Opcode::StringByte | Opcode::BytesGet => {
                return Ok(vec![I32Const(0), self.writing.runtime("at"), self.writing.load_byte()]);
            }
            Opcode::BytesSlice => return Ok(vec![I32Const(0), self.writing.runtime("slice")]),
            Opcode::StringFormat if *attr == Attr::Scalar(Scalar::I32) => {
                return Ok(vec![I64ExtendI32S, self.writing.runtime("format_int")]);
            }
            Opcode::BytesLoad => return Ok(vec![Call(self.writing.brought(Brought::Load))]),
            Opcode::BytesStore => return Ok(vec![Call(self.writing.brought(Brought::Store))]),
            Opcode::StringConcat | Opcode::BytesConcat => "concat",
            Opcode::StringSlice => "slice_text",
            Opcode::StringEq | Opcode::BytesEq => "equal",
            Opcode::StringCompare => "compare",
            Opcode::StringChars => "chars",
            Opcode::StringFromChars => "from_chars",
            Opcode::StringToBytes => "copy",
            Opcode::StringFromBytes => "from_bytes",
            Opcode::StringFormat if *attr == Attr::Scalar(Scalar::F32) => "format_f32",
            Opcode::StringFormat if *attr == Attr::Scalar(Scalar::F64) => "format_f64",
            Opcode::StringFormat => "format_int",
            Opcode::StringParse if *attr == Attr::Scalar(Scalar::I32) => "parse_i32",
            Opcode::StringParse if *attr == Attr::Scalar(Scalar::I64) => "parse_i64",
            Opcode::StringParse if *attr == Attr::Scalar(Scalar::F32) => "parse_f32",
            Opcode::StringParse => "parse_f64",
            Opcode::BytesNew => "new_bytes",
            Opcode::BytesSet => "set8",
            Opcode::BytesPush => "push8",
            _ => return Err(self.unsupported(of, format!("the operator `{}`", code.mnemonic()))),
        };
        Ok(vec![self.writing.runtime(name)])
    }

    fn global(&mut self, of: NodeRef, code: Opcode, global: lmlang_ir::VarRef, inputs: &[Input]) -> Done {
        let index = self.writing.global_index(global);
        let counts = match self.writing.program.storage(global).map(|storage| &storage.kind) {
            Some(lmlang_ir::StorageKind::Global { ty, .. }) => self.counts(ty),
            _ => false,
        };
        let mut put = Vec::new();
        match (code, counts) {
            (Opcode::GlobalGet, false) => put.push(Instruction::GlobalGet(index)),
            (Opcode::GlobalGet, true) => {
                put.extend([Instruction::GlobalGet(index), self.writing.runtime("share")]);
            }
            (_, false) => put.push(Instruction::GlobalSet(index)),
            (_, true) => {
                let release = self.writing.runtime("release");
                put.extend([Instruction::GlobalGet(index), release, Instruction::GlobalSet(index)]);
            }
        }
        self.emit(of, inputs.iter().copied(), put)
    }

    /// An array of elements: a constant if all of them are.
    fn array(&mut self, of: NodeRef, part: Part, inputs: &[Input]) -> Done {
        let constants: Option<Vec<&'p Const>> = inputs
            .iter()
            .map(|(_, source)| match source {
                Source::Node(node, _) => match self.body.node(*node)?.op().attr() {
                    Attr::Const(value) => Some(value),
                    _ => None,
                },
                Source::Param(..) | Source::RegionParam(..) => None,
            })
            .collect();
        if let Some(constants) = constants.filter(|_| self.writing.meter.is_none()) {
            let elements: Vec<Vec<u8>> =
                constants.into_iter().map(|value| self.writing.constant_part(value)).collect();
            let address = self.writing.bringing.constants.array(part, &elements);
            return self.emit(of, [], [Instruction::I32Const(address.cast_signed())]);
        }
        let (first, rest) = inputs.split_at(inputs.len().min(MOST_AT_ONCE));
        let start = self.take(of, first.iter().copied());
        let new = self.new_value(vec![part; first.len()], first.len() as u32, Measure::Elements);
        new.into_iter().for_each(|instruction| self.code.push(instruction));
        for one in rest {
            self.take(of, [*one]);
            let push = self.for_part("push", part);
            push.into_iter().for_each(|instruction| self.code.push(instruction));
        }
        self.give(of, start)
    }

    /// Where the enum is that a `match` looks at, if it looks at one.
    pub(super) fn chosen(&self, inputs: &[Input]) -> Option<u32> {
        let (_, source) = inputs.first()?;
        if self.last_uses.is_on_heap(*source) { self.local_of(*source) } else { None }
    }

    /// What the case of a `match` does first.
    pub(super) fn opened(
        &self,
        of: NodeRef,
        local: u32,
        region: RegionRef,
        case: Option<&Case>,
    ) -> Result<Opened, ExportError> {
        let used = self.body.uses_of(region.number()).next().is_some();
        let payload = match case {
            Some(Case::Variant(variant)) if used => match heap::payload(self.writing.program, variant) {
                Some(payload) => payload.map(|part| (part, region)),
                None => return Err(self.unsupported(of, "what this variant carries")),
            },
            Some(Case::Variant(_) | Case::Int(_)) | None => None,
        };
        Ok(Opened { local, last: self.last_uses.is_last(of, 0), payload })
    }

    pub(super) fn open(&mut self, opened: Opened) {
        let Opened { local, last, payload } = opened;
        let mut gone = false;
        if let Some((part, region)) = payload {
            let param = self.local(part.val_type());
            self.code.push(Instruction::LocalGet(local));
            if part == Part::Ref && last {
                let open = self.writing.runtime("open");
                self.code.push(Instruction::I32Const(0));
                self.code.push(Instruction::LocalSet(local));
                self.code.push(open);
                gone = true;
            } else {
                let read = self.read(part, HEADER);
                read.into_iter().for_each(|instruction| self.code.push(instruction));
            }
            match part {
                Part::Ref => self.keep(param),
                _ => self.code.push(Instruction::LocalSet(param)),
            }
            self.places.insert(Source::RegionParam(region, 0), (param, self.code.position()));
        }
        if last && !gone {
            self.drop_local(local);
        }
    }
}

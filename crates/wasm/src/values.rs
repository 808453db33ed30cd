//! Values on their way into a running module and out of it.

use std::cell::Cell;
use std::sync::Arc;

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Const, Program, Scalar, Shape, Type, Value, Variant};

use crate::heap::{HEADER, Part, WORD, places, position};

pub use crate::heap::Measure;

/// The heap of a running module.
pub trait Heap {
    /// Why something could not be done.
    type Error;

    /// Room for a value: what the module exports as `lm_new`. One that counts wants to know the value's measure, too.
    ///
    /// # Errors
    ///
    /// The module has no room.
    fn room(&mut self, bytes: u32, refs: u32, word: u32, measure: Measure) -> Result<u32, Self::Error>;

    /// Writes to the memory that the module exports as `lm_memory`.
    ///
    /// # Errors
    ///
    /// The address lies outside.
    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Reads from it.
    ///
    /// # Errors
    ///
    /// The address lies outside.
    fn read(&self, address: u32, bytes: &mut [u8]) -> Result<(), Self::Error>;
}

/// How deep values are read, and how many elements, bytes and fields: as results of runs here are shown.
const DEPTH: usize = 200;
const PARTS: usize = 4 << 20;

/// The bits that a value is passed as, after it was put into the heap where it belongs there. `None` for references to
/// functions, and for closures, which have no meaning outside.
///
/// # Errors
///
/// What the heap says.
pub fn put<H: Heap>(program: &Program, heap: &mut H, value: &Value) -> Result<Option<u64>, H::Error> {
    let address = |address: Result<u32, H::Error>| address.map(|address| Some(u64::from(address)));
    match value {
        Value::Const(Const::String(text)) => address(put_bytes(heap, text.as_bytes())),
        Value::Const(Const::Bytes(bytes)) => address(put_bytes(heap, bytes)),
        Value::Const(value) => Ok(number(value)),
        Value::Ptr(_, at) => Ok(Some((*at).into())),
        Value::Struct(_, fields) => put_parts(program, heap, fields, 0, Measure::Parts(fields.len() as u32)),
        Value::Box(_, held) => put_parts(program, heap, std::slice::from_ref(&**held), 0, Measure::Parts(1)),
        Value::Enum(variant, payload) => match position(program, variant) {
            Some(word) => {
                let held = payload.as_deref().map_or(&[][..], std::slice::from_ref);
                put_parts(program, heap, held, word, Measure::Parts(1))
            }
            None => Ok(None),
        },
        Value::Array(_, elements) | Value::FixedArray(_, elements) => {
            put_parts(program, heap, elements, elements.len() as u32, Measure::Elements)
        }
        Value::FuncRef(_) | Value::ExternRef | Value::Closure(..) => Ok(None),
    }
}

fn put_bytes<H: Heap>(heap: &mut H, bytes: &[u8]) -> Result<u32, H::Error> {
    let length = bytes.len() as u32;
    let address = heap.room(length, 0, length, Measure::Bytes)?;
    heap.write(address + HEADER, bytes)?;
    Ok(address)
}

fn put_parts<H: Heap>(
    program: &Program,
    heap: &mut H,
    values: &[Value],
    word: u32,
    measure: Measure,
) -> Result<Option<u64>, H::Error> {
    let Some(parts) = values.iter().map(|value| Part::of(&value.ty())).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let placed = places(&parts);
    let mut held = vec![0; placed.bytes as usize];
    for ((value, part), offset) in values.iter().zip(&parts).zip(&placed.offsets) {
        let Some(bits) = put(program, heap, value)? else { return Ok(None) };
        let (at, bytes) = ((offset - HEADER) as usize, part.bytes() as usize);
        held[at..at + bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
    }
    let address = heap.room(placed.bytes, placed.refs, word, measure)?;
    heap.write(address + HEADER, &held)?;
    Ok(Some(address.into()))
}

/// The bits of a number; narrow ones are 32 wide.
fn number(value: &Const) -> Option<u64> {
    Some(match value {
        Const::Bool(value) => (*value).into(),
        Const::I8(value) => i32::from(*value).cast_unsigned().into(),
        Const::I16(value) => i32::from(*value).cast_unsigned().into(),
        Const::I32(value) => value.cast_unsigned().into(),
        Const::I64(value) => value.cast_unsigned(),
        Const::F32(bits) => (*bits).into(),
        Const::F64(bits) => *bits,
        Const::Unit => 0,
        Const::String(_) | Const::Bytes(_) => return None,
    })
}

/// The value of a type that some bits are. `None` for references to functions, for closures, for what is too deep or too
/// long to be the result of a run here, and for what is no value of the type.
///
/// # Errors
///
/// What the heap says.
pub fn get<H: Heap>(program: &Program, heap: &H, ty: &Type, bits: u64) -> Result<Option<Value>, H::Error> {
    Reading { program, heap, left: Cell::new(PARTS) }.value(ty, bits, 0)
}

struct Reading<'h, H> {
    program: &'h Program,
    heap: &'h H,
    /// Parts that may still be read.
    left: Cell<usize>,
}

impl<H: Heap> Reading<'_, H> {
    fn word(&self, address: u32, offset: u32) -> Result<u32, H::Error> {
        let mut word = [0; 4];
        self.heap.read(address.wrapping_add(offset), &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn value(&self, ty: &Type, bits: u64, depth: usize) -> Result<Option<Value>, H::Error> {
        if depth >= DEPTH && ty.on_heap() {
            return Ok(None);
        }
        let (address, word) = (bits as u32, bits as u32);
        Ok(Some(match ty {
            Type::Scalar(of) => Value::Const(match of {
                Scalar::Bool => Const::Bool(word != 0),
                Scalar::I8 => Const::I8(word as i8),
                Scalar::I16 => Const::I16(word as i16),
                Scalar::I32 => Const::I32(word.cast_signed()),
                Scalar::I64 => Const::I64(bits.cast_signed()),
                Scalar::F32 => Const::F32(word),
                Scalar::F64 => Const::F64(bits),
            }),
            Type::Unit => Value::Const(Const::Unit),
            Type::Ptr(of) => Value::Ptr(Arc::clone(of), address),
            Type::String => match self.bytes(address)?.map(String::from_utf8) {
                Some(Ok(text)) => Value::Const(Const::String(text.into())),
                Some(Err(_)) | None => return Ok(None),
            },
            Type::Bytes => match self.bytes(address)? {
                Some(bytes) => Value::Const(Const::Bytes(bytes.into())),
                None => return Ok(None),
            },
            Type::Array(of) => {
                let length = self.word(address, WORD)?;
                match self.elements(of, length, address, depth)? {
                    Some(elements) => Value::Array(Arc::clone(of), elements),
                    None => return Ok(None),
                }
            }
            Type::FixedArray(of, length) => match self.elements(of, *length, address, depth)? {
                Some(elements) => Value::FixedArray(Arc::clone(of), elements),
                None => return Ok(None),
            },
            Type::Box(of) => match self.parts(std::slice::from_ref(&**of), address, depth)?.and_then(only) {
                Some(held) => Value::Box(Arc::clone(of), Box::new(held)),
                None => return Ok(None),
            },
            Type::Option(_) | Type::Result(_) => return self.variant(ty, address, depth),
            Type::Named(of) => match self.program.type_def(*of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => {
                    let types: Vec<Type> = fields.iter().map(|field| field.ty.clone()).collect();
                    if !self.take(types.len()) {
                        return Ok(None);
                    }
                    match self.parts(&types, address, depth)? {
                        Some(fields) => Value::Struct(*of, fields),
                        None => return Ok(None),
                    }
                }
                Some(Shape::Enum(_)) => return self.variant(ty, address, depth),
                None => return Ok(None),
            },
            Type::Never | Type::Closure(_) | Type::FuncRef | Type::ExternRef => return Ok(None),
        }))
    }

    fn variant(&self, ty: &Type, address: u32, depth: usize) -> Result<Option<Value>, H::Error> {
        let found = match (ty, self.word(address, WORD)?) {
            (Type::Option(of), 0) => Variant::None(Arc::clone(of)),
            (Type::Option(of), 1) => Variant::Some(Arc::clone(of)),
            (Type::Result(of), 0) => Variant::Ok(Arc::clone(of)),
            (Type::Result(of), 1) => Variant::Err(Arc::clone(of)),
            (Type::Named(of), at) => {
                let variants = self.program.type_def(*of).map_or(&[][..], |def| def.variants());
                match variants.get(at as usize) {
                    Some(variant) => Variant::Member(*of, variant.member),
                    None => return Ok(None),
                }
            }
            (_, _) => return Ok(None),
        };
        Ok(match payload_type(self.program, &found) {
            Some(Some(ty)) => {
                let payload = self.parts(std::slice::from_ref(&ty), address, depth)?.and_then(only);
                payload.map(|payload| Value::Enum(found, Some(Box::new(payload))))
            }
            Some(None) => Some(Value::Enum(found, None)),
            None => None,
        })
    }

    /// Says whether so many parts more may be read.
    fn take(&self, parts: usize) -> bool {
        let left = self.left.get().checked_sub(parts);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn bytes(&self, address: u32) -> Result<Option<Vec<u8>>, H::Error> {
        let length = self.word(address, WORD)? as usize;
        if !self.take(length) {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        self.heap.read(address.wrapping_add(HEADER), &mut bytes)?;
        Ok(Some(bytes))
    }

    fn part(&self, ty: &Type, part: Part, at: u32, depth: usize) -> Result<Option<Value>, H::Error> {
        let mut bits = [0; 8];
        self.heap.read(at, &mut bits[..part.bytes() as usize])?;
        self.value(ty, u64::from_le_bytes(bits), depth + 1)
    }

    fn parts(&self, types: &[Type], address: u32, depth: usize) -> Result<Option<Vec<Value>>, H::Error> {
        let Some(parts) = types.iter().map(Part::of).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let placed = places(&parts);
        let mut values = Vec::with_capacity(types.len());
        for ((ty, part), offset) in types.iter().zip(parts).zip(placed.offsets) {
            match self.part(ty, part, address.wrapping_add(offset), depth)? {
                Some(value) => values.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(values))
    }

    fn elements(
        &self,
        of: &Type,
        length: u32,
        address: u32,
        depth: usize,
    ) -> Result<Option<Vec<Value>>, H::Error> {
        let Some(part) = Part::of(of).filter(|_| self.take(length as usize)) else { return Ok(None) };
        let mut values = Vec::new();
        for index in 0..length {
            let at = address.wrapping_add(HEADER).wrapping_add(index << part.shift());
            match self.part(of, part, at, depth)? {
                Some(value) => values.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(values))
    }
}

fn only(mut values: Vec<Value>) -> Option<Value> {
    values.pop()
}

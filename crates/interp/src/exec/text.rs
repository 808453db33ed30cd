//! Operators on texts and bytes.

use std::cmp::Ordering;

use lmlang_ir::Trap;

use super::float::{canon32, canon64};
use super::heap::{Operands, range, unset};
use crate::code::HeapOp;
use crate::heap::{Heap, Obj, Word};
use crate::machine::{Limit, Machine, Stop};

/// The most bytes that a text or bytes may have: lengths are `i32`.
const MAX_LENGTH: usize = i32::MAX as usize;

pub(super) fn text_of(m: &Machine, operand: u16) -> Result<&str, Stop> {
    match m.obj(operand).get() {
        Some(Heap::Text(text)) => Ok(text),
        Some(_) | None => Err(unset()),
    }
}

pub(super) fn bytes_of(m: &Machine, operand: u16) -> Result<&[u8], Stop> {
    match m.obj(operand).get() {
        Some(Heap::Bytes(bytes)) => Ok(bytes),
        Some(_) | None => Err(unset()),
    }
}

/// The length of a text in bytes.
pub(super) fn length(m: &Machine, operand: u16) -> Result<usize, Stop> {
    text_of(m, operand).map(str::len)
}

fn copy(heap: &Heap) -> Heap {
    match heap {
        Heap::Bytes(bytes) => Heap::Bytes(bytes.clone()),
        Heap::Text(text) => Heap::Text(text.clone()),
        _ => Heap::Text(String::new()),
    }
}

fn index_trap() -> Stop {
    Stop::Trap(Trap::IndexOutOfBounds)
}

pub(super) fn utf8_trap() -> Stop {
    Stop::Trap(Trap::InvalidUtf8)
}

pub(super) fn check_length(length: usize) -> Result<(), Stop> {
    if length <= MAX_LENGTH { Ok(()) } else { Err(Stop::Limit(Limit::Memory)) }
}

pub(super) fn strings(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    match op {
        HeapOp::StringLen => {
            let length = length(m, o.b)?;
            m.release_taken(o.b);
            o.set(o.a, length as u64);
        }
        HeapOp::StringConcat => {
            let (x, y) = (length(m, o.b)?, length(m, o.c)?);
            check_length(x + y)?;
            m.spend(o, (x + y) as u64)?;
            m.room((x + y) as u64)?;
            let (mut first, second) = (m.operand(o.b), m.operand(o.c));
            let Some(Heap::Text(more)) = second.get() else { return Err(unset()) };
            first.update(copy, |heap| {
                if let Heap::Text(text) = heap {
                    text.push_str(more);
                }
            });
            m.put(o.a, first);
        }
        HeapOp::StringSlice => {
            let (start, end) = range(o, o.c, o.d, length(m, o.b)?)?;
            text_of(m, o.b)?.get(start..end).ok_or_else(utf8_trap)?;
            m.spend(o, (end - start) as u64)?;
            m.room((end - start) as u64)?;
            let slice = text_of(m, o.b)?[start..end].to_owned();
            m.release_taken(o.b);
            m.put(o.a, Obj::text(slice));
        }
        HeapOp::StringByte => {
            let byte =
                text_of(m, o.b)?.as_bytes().get(o.num(o.c) as usize).copied().ok_or_else(index_trap)?;
            m.release_taken(o.b);
            o.set(o.a, u64::from(byte));
        }
        HeapOp::StringEq | HeapOp::StringCompare => {
            let shorter = length(m, o.b)?.min(length(m, o.c)?);
            m.spend(o, shorter as u64)?;
            let order = text_of(m, o.b)?.cmp(text_of(m, o.c)?);
            m.release_taken(o.b);
            m.release_taken(o.c);
            o.set(
                o.a,
                match (op, order) {
                    (HeapOp::StringEq, order) => u64::from(order == Ordering::Equal),
                    (_, Ordering::Less) => u64::from(u32::MAX),
                    (_, Ordering::Equal) => 0,
                    (_, Ordering::Greater) => 1,
                },
            );
        }
        HeapOp::StringChars => {
            let length = length(m, o.b)?;
            m.spend(o, length as u64)?;
            m.room(8 * length as u64)?;
            let chars = text_of(m, o.b)?.chars().map(u64::from).collect();
            m.release_taken(o.b);
            m.put(o.a, Obj::new(Heap::Nums(chars)));
        }
        HeapOp::StringFromChars => {
            let Some(Heap::Nums(chars)) = m.obj(o.b).get() else { return Err(unset()) };
            let count = chars.len() as u64;
            m.spend(o, 4 * count)?;
            m.room(4 * count)?;
            let Some(Heap::Nums(chars)) = m.obj(o.b).get() else { return Err(unset()) };
            let text: Option<String> = chars.iter().map(|char| char::from_u32(*char as u32)).collect();
            let text = text.ok_or_else(utf8_trap)?;
            check_length(text.len())?;
            m.release_taken(o.b);
            m.put(o.a, Obj::text(text));
        }
        HeapOp::StringToBytes => {
            let length = length(m, o.b)?;
            m.spend(o, length as u64)?;
            m.room(length as u64)?;
            let bytes = text_of(m, o.b)?.as_bytes().to_vec();
            m.release_taken(o.b);
            m.put(o.a, Obj::new(Heap::Bytes(bytes)));
        }
        HeapOp::StringFromBytes => {
            let length = bytes_of(m, o.b)?.len();
            m.spend(o, length as u64)?;
            m.room(length as u64)?;
            let text = std::str::from_utf8(bytes_of(m, o.b)?).map_err(|_| utf8_trap())?.to_owned();
            m.release_taken(o.b);
            m.put(o.a, Obj::text(text));
        }
        HeapOp::StringFormat => {
            let raw = o.num(o.b);
            let text = match o.d {
                0 => (raw as i32).to_string(),
                1 => (raw as i64).to_string(),
                2 => format_f32(f32::from_bits(raw as u32)),
                _ => format_f64(f64::from_bits(raw)),
            };
            m.put(o.a, Obj::text(text));
        }
        HeapOp::StringParse => {
            let length = length(m, o.b)?;
            m.spend(o, length as u64)?;
            let text = text_of(m, o.b)?;
            let value = match o.d {
                0 => text.parse::<i32>().ok().map(|value| u64::from(value as u32)),
                1 => text.parse::<i64>().ok().map(|value| value as u64),
                2 => text.parse::<f32>().ok().map(canon32),
                _ => text.parse::<f64>().ok().map(canon64),
            };
            m.release_taken(o.b);
            m.put(
                o.a,
                Obj::new(match value {
                    None => Heap::Enum(0, Word::Num(0)),
                    Some(value) => Heap::Enum(1, Word::Num(value)),
                }),
            );
        }
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

/// The shortest decimal that reads back, without exponent; `nan`, `inf`, `-inf`.
fn format_f64(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { value.to_string() }
}

fn format_f32(value: f32) -> String {
    if value.is_nan() { "nan".to_owned() } else { value.to_string() }
}

pub(super) fn bytes(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    match op {
        HeapOp::BytesNew => {
            let length = usize::try_from(o.int(o.b)).map_err(|_| index_trap())?;
            m.spend(o, length as u64)?;
            m.room(length as u64)?;
            m.put(o.a, Obj::new(Heap::Bytes(vec![0; length])));
        }
        HeapOp::BytesLen => {
            let length = bytes_of(m, o.b)?.len();
            m.release_taken(o.b);
            o.set(o.a, length as u64);
        }
        HeapOp::BytesGet => {
            let byte = bytes_of(m, o.b)?.get(o.num(o.c) as usize).copied().ok_or_else(index_trap)?;
            m.release_taken(o.b);
            o.set(o.a, u64::from(byte));
        }
        HeapOp::BytesSet => {
            let (index, byte) = (o.num(o.c) as usize, o.num(o.d) as u8);
            if index >= bytes_of(m, o.b)?.len() {
                return Err(index_trap());
            }
            let mut object = m.operand(o.b);
            object.update(copy, |heap| {
                if let Heap::Bytes(bytes) = heap {
                    bytes[index] = byte;
                }
            });
            m.put(o.a, object);
        }
        HeapOp::BytesPush => {
            check_length(bytes_of(m, o.b)?.len() + 1)?;
            let byte = o.num(o.c) as u8;
            let mut object = m.operand(o.b);
            object.update(copy, |heap| {
                if let Heap::Bytes(bytes) = heap {
                    bytes.push(byte);
                }
            });
            m.put(o.a, object);
        }
        HeapOp::BytesConcat => {
            let (x, y) = (bytes_of(m, o.b)?.len(), bytes_of(m, o.c)?.len());
            check_length(x + y)?;
            m.spend(o, (x + y) as u64)?;
            m.room((x + y) as u64)?;
            let (mut first, second) = (m.operand(o.b), m.operand(o.c));
            let Some(Heap::Bytes(more)) = second.get() else { return Err(unset()) };
            first.update(copy, |heap| {
                if let Heap::Bytes(bytes) = heap {
                    bytes.extend_from_slice(more);
                }
            });
            m.put(o.a, first);
        }
        HeapOp::BytesSlice => {
            let (start, end) = range(o, o.c, o.d, bytes_of(m, o.b)?.len())?;
            m.spend(o, (end - start) as u64)?;
            m.room((end - start) as u64)?;
            let slice = bytes_of(m, o.b)?[start..end].to_vec();
            m.release_taken(o.b);
            m.put(o.a, Obj::new(Heap::Bytes(slice)));
        }
        HeapOp::BytesEq => {
            let shorter = bytes_of(m, o.b)?.len().min(bytes_of(m, o.c)?.len());
            m.spend(o, shorter as u64)?;
            let equal = bytes_of(m, o.b)? == bytes_of(m, o.c)?;
            m.release_taken(o.b);
            m.release_taken(o.c);
            o.set(o.a, u64::from(equal));
        }
        HeapOp::BytesLoad => {
            let length = o.num(o.c);
            let from = m.memory_range(o.num(o.b), length)?;
            check_length(length as usize)?;
            m.spend(o, length)?;
            m.room(length)?;
            let loaded = m.memory[from].to_vec();
            m.put(o.a, Obj::new(Heap::Bytes(loaded)));
        }
        HeapOp::BytesStore => {
            let length = bytes_of(m, o.b)?.len() as u64;
            let to = m.memory_range(o.num(o.a), length)?;
            m.spend(o, length)?;
            let bytes = m.operand(o.b);
            let Some(Heap::Bytes(bytes)) = bytes.get() else { return Err(unset()) };
            m.memory[to].copy_from_slice(bytes);
        }
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

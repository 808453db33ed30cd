//! Operators on the value heap, linear memory in bulk, tables and the world.

use std::sync::Arc;

use lmlang_ir::Trap;

use super::{Cx, Regs, io, text};
use crate::code::{HeapOp, Ins, Loc, TAKE};
use crate::heap::{self, Chunks, Heap, Obj, Word};
use crate::machine::{Limit, Machine, Stop};
use crate::wasi::{BYTES_PER_FUEL, Bounds, Call, HostFunction};

const PAGE: usize = 1 << 16;
const MAX_PAGES: usize = 1 << 16;

/// The operands of an instruction with two words.
pub(super) struct Operands<'a> {
    pub(super) a: u16,
    pub(super) b: u16,
    pub(super) c: u16,
    pub(super) d: u16,
    pub(super) e: u16,
    pub(super) regs: &'a Regs,
    /// What may be spent beyond the node itself.
    pub(super) fuel: i64,
}

impl Operands<'_> {
    pub(super) fn num(&self, slot: u16) -> u64 {
        self.regs[usize::from(slot)].get()
    }

    pub(super) fn int(&self, slot: u16) -> i32 {
        self.num(slot) as i32
    }

    pub(super) fn set(&self, slot: u16, value: u64) {
        self.regs[usize::from(slot)].set(value);
    }

    pub(super) fn set_int(&self, slot: u16, value: i32) {
        self.set(slot, u64::from(value.cast_unsigned()));
    }

    /// The operands `d` and `e` as one index.
    fn wide(&self) -> usize {
        usize::from(self.d) | usize::from(self.e) << 16
    }
}

/// Does the operator of an instruction; returns the fuel that is left, or a negative number, with the reason in the
/// machine: a `Result` would be returned through memory, which keeps the next handler from being a jump.
#[inline(never)]
pub(super) fn run(cx: &mut Cx<'_>, regs: &Regs, first: Ins, second: Ins, fuel: i64) -> i64 {
    let extra = cx.m.extra;
    match operate(cx, regs, first, second, fuel) {
        Ok(left) => left,
        Err(why) => {
            // What stops the run costs its node alone, however far it came.
            cx.m.extra = extra;
            cx.m.stop = Some(why);
            -1
        }
    }
}

/// Nothing is changed when the fuel does not suffice, so that the instruction can be tried again.
fn operate(cx: &mut Cx<'_>, regs: &Regs, first: Ins, second: Ins, fuel: i64) -> Result<i64, Stop> {
    let [_, a, b, c] = first;
    let [op, d, e, _] = second;
    let mut o = Operands { a, b, c, d, e, regs, fuel };
    let Some(op) = HeapOp::ALL.get(usize::from(op)) else { return Err(Stop::Broken) };
    match op {
        HeapOp::Mov => {
            let value = cx.m.operand(o.b);
            cx.m.put(o.a, value);
        }
        HeapOp::Const => {
            let value = cx.code().and_then(|code| code.objs.get(o.wide()).cloned()).ok_or(Stop::Broken)?;
            cx.m.put(o.a, value);
        }
        HeapOp::Zero => {
            let code = cx.funcs[cx.m.func as usize].code.clone().ok_or(Stop::Broken)?;
            let ty = &code.types[o.wide()];
            let bytes = crate::value::zero_bytes(cx.program, ty, cx.m.memory_limit);
            cx.m.room(bytes)?;
            heap::note_work(bytes);
            let zero = crate::value::zero(cx.program, ty);
            cx.m.put(
                o.a,
                match zero {
                    Word::Ref(obj) => obj,
                    Word::Num(_) => Obj::default(),
                },
            );
        }
        HeapOp::Select => {
            let (x, y) = (cx.m.operand(o.b), cx.m.operand(o.c));
            cx.m.put(o.a, if o.num(o.d) != 0 { x } else { y });
        }
        HeapOp::GlobalGet => {
            let value = cx.m.global_refs[usize::from(o.b)].clone();
            cx.m.put(o.a, value);
        }
        HeapOp::GlobalSet => {
            let value = cx.m.operand(o.a);
            cx.m.global_refs[usize::from(o.b)] = value;
        }
        HeapOp::MemorySize
        | HeapOp::MemoryGrow
        | HeapOp::MemoryCopy
        | HeapOp::MemoryFill
        | HeapOp::MemoryInit
        | HeapOp::DataDrop => memory(cx.m, *op, &mut o)?,
        HeapOp::TableGet
        | HeapOp::TableSet
        | HeapOp::TableSize
        | HeapOp::TableGrow
        | HeapOp::TableFill
        | HeapOp::TableInit
        | HeapOp::TableCopy
        | HeapOp::ElemDrop => table(cx.m, *op, &mut o)?,
        HeapOp::StructNew => {
            let parts = list(cx, &o)?;
            cx.m.put(o.a, Obj::new(Heap::Struct(parts)));
        }
        HeapOp::StructGet => {
            let part = match cx.m.obj(o.b).get() {
                Some(Heap::Struct(parts)) => parts.get(usize::from(o.c)).cloned().ok_or(Stop::Broken)?,
                Some(_) | None => return Err(unset()),
            };
            cx.m.release_taken(o.b);
            cx.m.store(&o, o.a, part);
        }
        HeapOp::StructSet => {
            let mut object = cx.m.operand(o.b);
            let part = cx.m.word(&o, o.d, o.e);
            let index = usize::from(o.c);
            let old = object.update(copy_struct, |heap| match heap {
                Heap::Struct(parts) => parts.get_mut(index).map(|slot| std::mem::replace(slot, part)),
                _ => None,
            });
            old.flatten().ok_or_else(unset)?;
            cx.m.put(o.a, object);
        }
        HeapOp::ArrayNew => {
            let parts = list(cx, &o)?;
            let array = match o.c {
                0 => Heap::Nums(parts.iter().filter_map(Word::num).collect()),
                _ => Heap::Objs(parts.into_iter().filter_map(Word::into_obj).collect()),
            };
            cx.m.put(o.a, Obj::new(array));
        }
        HeapOp::ArrayGet => {
            let index = o.num(o.c) as usize;
            let part = match cx.m.obj(o.b).get() {
                Some(Heap::Nums(items)) => items.get(index).map(|item| Word::Num(*item)),
                Some(Heap::Objs(items)) => items.get(index).map(|item| Word::Ref(item.clone())),
                Some(_) | None => return Err(unset()),
            };
            let part = part.ok_or(Stop::Trap(Trap::IndexOutOfBounds))?;
            cx.m.release_taken(o.b);
            cx.m.store(&o, o.a, part);
        }
        HeapOp::ArraySet => {
            let index = o.num(o.c) as usize;
            let length = array_length(cx.m.obj(o.b))?;
            if index >= length {
                return Err(Stop::Trap(Trap::IndexOutOfBounds));
            }
            let mut object = cx.m.operand(o.b);
            let part = cx.m.word(&o, o.d, o.e);
            let old = object.update(copy_array, |heap| match (heap, part) {
                (Heap::Nums(items), Word::Num(value)) => items.set(index, value).map(Word::Num),
                (Heap::Objs(items), Word::Ref(value)) => items.set(index, value).map(Word::Ref),
                _ => None,
            });
            old.flatten().ok_or_else(unset)?;
            cx.m.put(o.a, object);
        }
        HeapOp::ArrayLen => {
            let length = array_length(cx.m.obj(o.b))?;
            cx.m.release_taken(o.b);
            o.set(o.a, length as u64);
        }
        HeapOp::ArrayPush => {
            let length = array_length(cx.m.obj(o.b))?;
            if length >= i32::MAX as usize {
                return Err(Stop::Limit(Limit::Memory));
            }
            let mut object = cx.m.operand(o.b);
            let part = cx.m.word(&o, o.c, o.d);
            object
                .update(copy_array, |heap| match (heap, part) {
                    (Heap::Nums(items), Word::Num(value)) => {
                        items.push(value);
                        true
                    }
                    (Heap::Objs(items), Word::Ref(value)) => {
                        items.push(value);
                        true
                    }
                    _ => false,
                })
                .filter(|done| *done)
                .ok_or_else(unset)?;
            cx.m.put(o.a, object);
        }
        HeapOp::ArraySlice => {
            let length = array_length(cx.m.obj(o.b))?;
            let (start, end) = range(&o, o.c, o.d, length)?;
            cx.m.spend(&mut o, 8 * (end - start) as u64)?;
            cx.m.room(8 * (end - start) as u64)?;
            let slice = match cx.m.obj(o.b).get() {
                Some(Heap::Nums(items)) => Heap::Nums(items.slice(start, end)),
                Some(Heap::Objs(items)) => Heap::Objs(items.slice(start, end)),
                Some(_) | None => return Err(unset()),
            };
            cx.m.release_taken(o.b);
            cx.m.put(o.a, Obj::new(slice));
        }
        HeapOp::EnumNew => {
            let payload = if o.e == 2 { Word::Num(0) } else { cx.m.word(&o, o.d, o.e) };
            cx.m.put(o.a, Obj::new(Heap::Enum(u32::from(o.c), payload)));
        }
        HeapOp::EnumTag => {
            let tag = match cx.m.obj(o.b).get() {
                Some(Heap::Enum(tag, _)) => *tag,
                Some(_) | None => return Err(unset()),
            };
            cx.m.release_taken(o.b);
            o.set(o.a, u64::from(tag));
        }
        HeapOp::EnumPayload => {
            match cx.m.obj(o.b).get() {
                Some(Heap::Enum(tag, _)) if *tag == u32::from(o.c) => {}
                Some(Heap::Enum(..)) => return Err(Stop::Trap(Trap::WrongVariant)),
                Some(_) | None => return Err(unset()),
            }
            let part = match cx.m.operand(o.b).into_unique() {
                Ok(Heap::Enum(_, payload)) => payload,
                Ok(_) => return Err(Stop::Broken),
                Err(shared) => match shared.get() {
                    Some(Heap::Enum(_, payload)) => payload.clone(),
                    Some(_) | None => return Err(unset()),
                },
            };
            cx.m.store(&o, o.a, part);
        }
        HeapOp::BoxNew => {
            let part = cx.m.word(&o, o.b, o.d);
            cx.m.put(o.a, Obj::new(Heap::Box(part)));
        }
        HeapOp::BoxGet => {
            let part = match cx.m.operand(o.b).into_unique() {
                Ok(Heap::Box(part)) => part,
                Ok(_) => return Err(Stop::Broken),
                Err(shared) => match shared.get() {
                    Some(Heap::Box(part)) => part.clone(),
                    Some(_) | None => return Err(unset()),
                },
            };
            cx.m.store(&o, o.a, part);
        }
        HeapOp::ClosureNew => {
            let captures = list(cx, &o)?;
            let function = u32::from(o.b) | u32::from(o.c) << 16;
            cx.m.put(o.a, Obj::new(Heap::Closure(function, captures)));
        }
        HeapOp::Contained => {
            let found = contained(cx, &mut o)?;
            let lists = found.into_iter().map(|list| Obj::new(Heap::Objs(list)));
            let lists = Heap::Objs(lists.collect());
            cx.m.put(o.a, Obj::new(lists));
        }
        HeapOp::Print
        | HeapOp::ReadLine
        | HeapOp::FileOpen
        | HeapOp::FileRead
        | HeapOp::FileWrite
        | HeapOp::FileClose => io::run(cx.m, *op, &mut o)?,
        HeapOp::Host => host(cx.m, &mut o)?,
        HeapOp::StringLen
        | HeapOp::StringConcat
        | HeapOp::StringSlice
        | HeapOp::StringByte
        | HeapOp::StringEq
        | HeapOp::StringCompare
        | HeapOp::StringChars
        | HeapOp::StringFromChars
        | HeapOp::StringToBytes
        | HeapOp::StringFromBytes
        | HeapOp::StringFormat
        | HeapOp::StringParse => text::strings(cx.m, *op, &mut o)?,
        HeapOp::BytesNew
        | HeapOp::BytesLen
        | HeapOp::BytesGet
        | HeapOp::BytesSet
        | HeapOp::BytesPush
        | HeapOp::BytesConcat
        | HeapOp::BytesSlice
        | HeapOp::BytesEq
        | HeapOp::BytesLoad
        | HeapOp::BytesStore => text::bytes(cx.m, *op, &mut o)?,
    }
    cx.m.check_memory()?;
    Ok(o.fuel)
}

/// A value that was read before it was there: a variable of a type without a zero.
pub(super) fn unset() -> Stop {
    Stop::Trap(Trap::UninitializedElement)
}

fn list(cx: &mut Cx<'_>, o: &Operands<'_>) -> Result<Box<[Word]>, Stop> {
    let code = cx.funcs[cx.m.func as usize].code.as_ref().ok_or(Stop::Broken)?;
    let parts = code.lists.get(o.wide()).ok_or(Stop::Broken)?;
    heap::note_work((size_of::<Word>() * parts.len()) as u64);
    Ok(parts
        .iter()
        .map(|part| match part {
            Loc::Num(slot) => Word::Num(o.num(*slot)),
            Loc::Known(value) => Word::Num(*value),
            Loc::Ref(slot) => Word::Ref(cx.m.operand(*slot)),
        })
        .collect())
}

/// The values with invariants that a value contains, by type; none while a contract is being evaluated, for which none are
/// checked.
fn contained(cx: &mut Cx<'_>, o: &mut Operands<'_>) -> Result<Vec<Chunks<Obj>>, Stop> {
    let code = cx.code().ok_or(Stop::Broken)?;
    let finder = code.finders.get(o.wide()).ok_or(Stop::Broken)?;
    if cx.m.contract_depth != 0 {
        return Ok(finder.nothing());
    }
    let most = o.fuel.min(cx.m.extra_limit).max(0).cast_unsigned();
    let (found, places) = finder.find(cx.m.obj(o.b), most).ok_or(Stop::Fuel)?;
    cx.m.spend(o, places * BYTES_PER_FUEL)?;
    cx.m.room(found.iter().map(|list| (size_of::<Obj>() * list.len()) as u64).sum())?;
    Ok(found)
}

fn copy_struct(heap: &Heap) -> Heap {
    match heap {
        Heap::Struct(parts) => Heap::Struct(parts.clone()),
        _ => Heap::Struct(Box::default()),
    }
}

fn copy_array(heap: &Heap) -> Heap {
    match heap {
        Heap::Nums(items) => Heap::Nums(items.clone()),
        Heap::Objs(items) => Heap::Objs(items.clone()),
        _ => Heap::Nums(Chunks::new()),
    }
}

fn array_length(array: &Obj) -> Result<usize, Stop> {
    match array.get() {
        Some(Heap::Nums(items)) => Ok(items.len()),
        Some(Heap::Objs(items)) => Ok(items.len()),
        Some(_) | None => Err(unset()),
    }
}

/// A range given by two slots, within a length.
pub(super) fn range(o: &Operands<'_>, start: u16, end: u16, length: usize) -> Result<(usize, usize), Stop> {
    // Negative numbers are beyond any length when read as unsigned.
    let (start, end) = (o.num(start) as usize, o.num(end) as usize);
    if start <= end && end <= length { Ok((start, end)) } else { Err(Stop::Trap(Trap::IndexOutOfBounds)) }
}

impl Word {
    fn num(&self) -> Option<u64> {
        match self {
            Word::Num(value) => Some(*value),
            Word::Ref(_) => None,
        }
    }

    fn into_obj(self) -> Option<Obj> {
        match self {
            Word::Num(_) => None,
            Word::Ref(obj) => Some(obj),
        }
    }
}

impl Machine {
    /// The value of a reference.
    #[inline(always)]
    pub(super) fn obj(&self, operand: u16) -> &Obj {
        &self.refs[self.rbase + usize::from(operand & !TAKE)]
    }

    /// The value of a reference, moved out if the operand says that it is not needed afterwards.
    pub(super) fn operand(&mut self, operand: u16) -> Obj {
        let slot = &mut self.refs[self.rbase + usize::from(operand & !TAKE)];
        if operand & TAKE != 0 { std::mem::take(slot) } else { slot.clone() }
    }

    /// Empties a reference that was read in place, if it is not needed afterwards.
    pub(super) fn release_taken(&mut self, operand: u16) {
        if operand & TAKE != 0 {
            self.put(operand & !TAKE, Obj::default());
        }
    }

    pub(super) fn put(&mut self, slot: u16, value: Obj) {
        self.refs[self.rbase + usize::from(slot)] = value;
    }

    /// An operand that is a slot (kind 0) or a reference.
    fn word(&mut self, o: &Operands<'_>, operand: u16, kind: u16) -> Word {
        match kind {
            0 => Word::Num(o.num(operand)),
            _ => Word::Ref(self.operand(operand)),
        }
    }

    fn store(&mut self, o: &Operands<'_>, slot: u16, part: Word) {
        match part {
            Word::Num(value) => o.set(slot, value),
            Word::Ref(obj) => self.put(slot, obj),
        }
    }

    /// Takes the fuel of a bulk operation, or says that it does not suffice; nothing may have been changed before.
    pub(super) fn spend(&mut self, o: &mut Operands<'_>, bytes: u64) -> Result<(), Stop> {
        let extra = (bytes / BYTES_PER_FUEL) as i64;
        if extra > o.fuel || extra > self.extra_limit {
            return Err(Stop::Fuel);
        }
        o.fuel -= extra;
        self.extra += extra as u64;
        Ok(())
    }

    fn check_memory(&self) -> Result<(), Stop> {
        self.room(0)
    }

    /// The position of a range in linear memory.
    pub(super) fn memory_range(&self, address: u64, bytes: u64) -> Result<std::ops::Range<usize>, Stop> {
        match address + bytes <= self.memory.len() as u64 {
            true => Ok(address as usize..(address + bytes) as usize),
            false => Err(Stop::Trap(Trap::MemoryOutOfBounds)),
        }
    }
}

/// Calls a function of the host with the first slots as its arguments; the first one gets what it answers.
fn host(m: &mut Machine, o: &mut Operands<'_>) -> Result<(), Stop> {
    let function = HostFunction::at(o.b).ok_or(Stop::Broken)?;
    let fuel = o.fuel.min(m.extra_limit).cast_unsigned();
    let held = heap::live() + m.memory.len() as u64 + m.table_bytes;
    let mut call = Call {
        arguments: std::array::from_fn(|slot| o.num(slot as u16)),
        memory: &mut m.memory,
        world: &mut m.world,
        bounds: Bounds::new(fuel, m.memory_limit, held),
    };
    let answer = function.call(&mut call)?;
    let spent = call.bounds.spent;
    o.fuel -= spent.cast_signed();
    m.extra += spent;
    if function.answers() {
        o.set(0, answer.into());
    }
    Ok(())
}

fn memory(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    match op {
        HeapOp::MemorySize => o.set(o.a, (m.memory.len() / PAGE) as u64),
        HeapOp::MemoryGrow => {
            let (pages, before) = (o.num(o.b) as usize, m.memory.len() / PAGE);
            let most = m.max_pages.map_or(MAX_PAGES, |most| (most as usize).min(MAX_PAGES));
            if !m.has_memory || before + pages > most {
                o.set(o.a, u64::from(u32::MAX));
            } else {
                m.room((pages * PAGE) as u64)?;
                m.memory.resize((before + pages) * PAGE, 0);
                m.note_memory();
                o.set(o.a, before as u64);
            }
        }
        HeapOp::MemoryCopy => {
            let bytes = o.num(o.c);
            let (to, from) = (m.memory_range(o.num(o.a), bytes)?, m.memory_range(o.num(o.b), bytes)?);
            m.spend(o, bytes)?;
            m.memory.copy_within(from, to.start);
        }
        HeapOp::MemoryFill => {
            let bytes = o.num(o.c);
            let to = m.memory_range(o.num(o.a), bytes)?;
            m.spend(o, bytes)?;
            let byte = o.num(o.b) as u8;
            m.memory[to].fill(byte);
        }
        HeapOp::MemoryInit => {
            let bytes = o.num(o.c);
            let data = Arc::clone(&m.data[usize::from(o.d)]);
            let to = m.memory_range(o.num(o.a), bytes)?;
            let from = o.num(o.b);
            if from + bytes > data.len() as u64 {
                return Err(Stop::Trap(Trap::MemoryOutOfBounds));
            }
            m.spend(o, bytes)?;
            m.memory[to].copy_from_slice(&data[from as usize..(from + bytes) as usize]);
        }
        HeapOp::DataDrop => m.data[usize::from(o.d)] = Arc::from([]),
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

fn table(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    let bounds = Stop::Trap(Trap::TableOutOfBounds);
    let size = m.table(o.d).map_or(0, |table| table.entries.len());
    match op {
        HeapOp::TableGet => {
            let entry = m.table(o.d).and_then(|table| table.entries.get(o.num(o.b) as usize)).copied();
            o.set(o.a, entry.ok_or(bounds)?);
        }
        HeapOp::TableSet => {
            let value = o.num(o.b);
            let index = o.num(o.a) as usize;
            *m.table_mut(o.d).and_then(|table| table.entries.get_mut(index)).ok_or(bounds)? = value;
        }
        HeapOp::TableSize => o.set(o.a, size as u64),
        HeapOp::TableGrow => {
            let (value, more) = (o.num(o.b), o.num(o.c));
            let most = m.table(o.d).and_then(|table| table.max).map_or(u64::from(u32::MAX), u64::from);
            if size as u64 + more > most {
                o.set(o.a, u64::from(u32::MAX));
                return Ok(());
            }
            m.spend(o, 8 * more)?;
            m.room(8 * more)?;
            let entries = m.table_mut(o.d).map(|table| &mut table.entries).ok_or(bounds)?;
            entries.resize(size + more as usize, value);
            m.table_bytes += 8 * more;
            m.note_memory();
            o.set(o.a, size as u64);
        }
        HeapOp::TableFill => {
            let (start, value, count) = (o.num(o.a), o.num(o.b), o.num(o.c));
            if start + count > size as u64 {
                return Err(bounds);
            }
            m.spend(o, 8 * count)?;
            let entries = m.table_mut(o.d).map(|table| &mut table.entries).ok_or(bounds)?;
            entries[start as usize..(start + count) as usize].fill(value);
        }
        HeapOp::TableInit => {
            let (to, from, count) = (o.num(o.a), o.num(o.b), o.num(o.c));
            let elements = Arc::clone(&m.elements[usize::from(o.e)]);
            if to + count > size as u64 || from + count > elements.len() as u64 {
                return Err(bounds);
            }
            m.spend(o, 8 * count)?;
            let entries = m.table_mut(o.d).map(|table| &mut table.entries).ok_or(bounds)?;
            entries[to as usize..(to + count) as usize]
                .copy_from_slice(&elements[from as usize..(from + count) as usize]);
        }
        HeapOp::TableCopy => {
            let (to, from, count) = (o.num(o.a), o.num(o.b), o.num(o.c));
            let others = m.table(o.e).map_or(0, |table| table.entries.len());
            if to + count > size as u64 || from + count > others as u64 {
                return Err(bounds);
            }
            m.spend(o, 8 * count)?;
            let from = from as usize..(from + count) as usize;
            if o.d == o.e {
                let entries = m.table_mut(o.d).map(|table| &mut table.entries).ok_or(bounds)?;
                entries.copy_within(from, to as usize);
            } else {
                let [into, others] = m.two_tables(o.d, o.e).ok_or(bounds)?;
                into.entries[to as usize..(to + count) as usize].copy_from_slice(&others.entries[from]);
            }
        }
        HeapOp::ElemDrop => m.elements[usize::from(o.d)] = Arc::from([]),
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

//! Operators on the world outside: standard input and output, files.

use super::heap::{Operands, unset};
use super::text::{bytes_of, check_length, length, text_of};
use crate::code::HeapOp;
use crate::heap::{Heap, Obj, Word};
use crate::machine::{Machine, Stop};
use crate::world::Takes;

pub(super) fn run(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    match op {
        HeapOp::Print => {
            m.spend(o, length(m, o.a)? as u64)?;
            let text = m.operand(o.a);
            let Some(Heap::Text(text)) = text.get() else { return Err(unset()) };
            m.world.print(text)?;
        }
        HeapOp::ReadLine => {
            let ahead = m.world.line_ahead()?;
            check_length(ahead.bytes())?;
            m.spend(o, ahead.bytes() as u64)?;
            let value = match m.world.read_line(ahead)? {
                None => Heap::Enum(0, Word::Num(0)),
                Some(line) => Heap::Enum(1, Word::Ref(Obj::new(Heap::Text(line)))),
            };
            m.put(o.a, Obj::new(value));
        }
        HeapOp::FileOpen => {
            m.afford(o, m.world.open_takes(text_of(m, o.b)?))?;
            let path = m.operand(o.b);
            let Some(Heap::Text(path)) = path.get() else { return Err(unset()) };
            let opened = m.world.open_file(path, o.num(o.c) != 0);
            o.set_int(o.a, opened);
        }
        HeapOp::FileRead => {
            let handle = o.num(o.b) as u32;
            let ahead = m.world.file_ahead(handle, o.num(o.c) as usize)?;
            check_length(ahead.bytes())?;
            let bytes = ahead.bytes() as u64;
            m.afford(o, Takes { moved: bytes, room: bytes })?;
            let bytes = m.world.read_file(handle, ahead)?;
            m.put(o.a, Obj::new(Heap::Bytes(bytes)));
        }
        HeapOp::FileWrite => {
            let handle = o.num(o.b) as u32;
            m.afford(o, m.world.write_takes(handle, bytes_of(m, o.c)?.len() as u64))?;
            let bytes = m.operand(o.c);
            let Some(Heap::Bytes(bytes)) = bytes.get() else { return Err(unset()) };
            let written = m.world.write_file(handle, bytes)?;
            o.set_int(o.a, written);
        }
        HeapOp::FileClose => m.world.close_file(o.num(o.a) as u32),
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

impl Machine {
    /// Pays for what an operator takes, if there is room for it.
    fn afford(&mut self, o: &mut Operands<'_>, takes: Takes) -> Result<(), Stop> {
        self.spend(o, takes.moved)?;
        self.room(takes.room)
    }
}

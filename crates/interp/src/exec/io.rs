//! Operators on the world outside: standard input and output, files.

use super::heap::{Operands, unset};
use super::text::{bytes_of, check_length, length, text_of};
use crate::code::HeapOp;
use crate::heap::{Heap, Obj, Word};
use crate::machine::{Limit, Machine, Stop};
use crate::world::{Full, Opening, World};

pub(super) fn run(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    match op {
        HeapOp::Print => {
            m.spend(o, length(m, o.a)? as u64)?;
            let text = m.operand(o.a);
            let Some(Heap::Text(text)) = text.get() else { return Err(unset()) };
            m.world.print(text).map_err(full)?;
        }
        HeapOp::ReadLine => {
            let line = m.world.line().map(|(line, used)| (line.to_owned(), used));
            let used = line.as_ref().map_or(0, |(_, used)| *used);
            m.spend(o, used as u64)?;
            m.world.read_line(used);
            let value = match line {
                None => Heap::Enum(0, Word::Num(0)),
                Some((line, _)) => Heap::Enum(1, Word::Ref(Obj::text(line))),
            };
            m.put(o.a, Obj::new(value));
        }
        HeapOp::FileOpen => {
            let cost = World::cost_of_path(text_of(m, o.b)?);
            m.spend(o, cost)?;
            m.room(cost)?;
            let writes = o.num(o.c) != 0;
            let how =
                Opening { reads: !writes, writes, creates: writes, empties: writes, ..Opening::default() };
            let path = text_of(m, o.b)?.to_owned();
            m.release_taken(o.b);
            o.set(o.a, m.world.open(&path, how).map_or_else(|errno| errno.negative(), u64::from));
        }
        HeapOp::FileRead => {
            let (handle, most) = (o.num(o.b) as u32, o.num(o.c) as usize);
            // What cannot be read has no bytes.
            let ahead = m.world.ahead(handle).unwrap_or_default();
            let read = ahead.len().min(most);
            check_length(read)?;
            m.spend(o, read as u64)?;
            m.room(read as u64)?;
            let bytes = m.world.ahead(handle).unwrap_or_default()[..read].to_vec();
            if read > 0 {
                m.world.skip(handle, read).map_err(|_| Stop::Broken)?;
            }
            m.put(o.a, Obj::new(Heap::Bytes(bytes)));
        }
        HeapOp::FileWrite => {
            let handle = o.num(o.b) as u32;
            let length = bytes_of(m, o.c)?.len() as u64;
            let growth = m.world.growth_of_write(handle, length);
            m.spend(o, length + growth)?;
            m.room(growth)?;
            let bytes = m.operand(o.c);
            let Some(Heap::Bytes(bytes)) = bytes.get() else { return Err(unset()) };
            let written = match m.world.write(handle, bytes) {
                Ok(written) => {
                    written.map_err(full)?;
                    length
                }
                Err(errno) => errno.negative(),
            };
            o.set(o.a, written);
        }
        HeapOp::FileClose => drop(m.world.close(o.num(o.a) as u32)),
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

pub(super) fn full(_: Full) -> Stop {
    Stop::Limit(Limit::Output)
}

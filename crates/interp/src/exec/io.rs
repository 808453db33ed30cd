//! Operators on the world outside: standard input and output, files.

use super::heap::{Operands, unset};
use super::text::{bytes_of, check_length, length, text_of, utf8_trap};
use crate::code::HeapOp;
use crate::heap::{Heap, Obj, Word};
use crate::machine::{Limit, Machine, Stop};
use crate::world::{Errno, FIRST, Full, Opening, ROOT, Refusal, TOP, normal};

pub(super) fn run(m: &mut Machine, op: HeapOp, o: &mut Operands<'_>) -> Result<(), Stop> {
    match op {
        HeapOp::Print => {
            m.spend(o, length(m, o.a)? as u64)?;
            let text = m.operand(o.a);
            let Some(Heap::Text(text)) = text.get() else { return Err(unset()) };
            m.world.print(text).map_err(full)?;
        }
        HeapOp::ReadLine => {
            let used = m.world.line()?.len();
            check_length(used)?;
            m.spend(o, used as u64)?;
            let line = m.world.line()?;
            let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
            let value = match used {
                0 => Heap::Enum(0, Word::Num(0)),
                _ => {
                    let line = std::str::from_utf8(line).map_err(|_| utf8_trap())?;
                    Heap::Enum(1, Word::Ref(Obj::text(line)))
                }
            };
            m.world.skip_input(used);
            m.put(o.a, Obj::new(value));
        }
        HeapOp::FileOpen => {
            let path = text_of(m, o.b)?;
            let (length, cost) = (path.len() as u64, m.world.tree.cost_of_path(TOP, path));
            m.spend(o, length)?;
            m.room(cost)?;
            let writes = o.num(o.c) != 0;
            let how =
                Opening { reads: !writes, writes, creates: writes, empties: writes, ..Opening::default() };
            let path = normal(text_of(m, o.b)?);
            m.release_taken(o.b);
            let opened = path.and_then(|path| m.world.open(TOP, &path, how));
            o.set(o.a, opened.map_or_else(Errno::negative, u64::from));
        }
        HeapOp::FileRead => {
            let (handle, most) = (o.num(o.b) as u32, o.num(o.c) as usize);
            let read = match m.world.ahead_to(handle, most) {
                Ok(bytes) => bytes.len(),
                // What cannot be read has no bytes.
                Err(Refusal::Errno(_)) => 0,
                Err(Refusal::Stop(stop)) => return Err(stop),
            };
            check_length(read)?;
            m.spend(o, read as u64)?;
            m.room(read as u64)?;
            let mut bytes = Vec::new();
            if read > 0 {
                bytes.extend_from_slice(m.world.ahead_to(handle, read).map_err(|_| Stop::Broken)?);
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
                // Operators know of no folders.
                _ if handle == ROOT => Errno::BadHandle.negative(),
                Ok(written) => {
                    written.map_err(full)?;
                    length
                }
                Err(errno) => errno.negative(),
            };
            o.set(o.a, written);
        }
        // What is open from the start stays so.
        HeapOp::FileClose if (o.num(o.a) as u32) < FIRST => {}
        HeapOp::FileClose => drop(m.world.close(o.num(o.a) as u32)),
        _ => return Err(Stop::Broken),
    }
    Ok(())
}

pub(super) fn full(_: Full) -> Stop {
    Stop::Limit(Limit::Output)
}

//! What a program passes by address, in its memory.

use std::ops::Range;

use crate::exec::heap::Operands;
use crate::machine::Machine;
use crate::world::{Errno, Refusal};

use super::Done;

/// The place in memory of what a program passes by address.
pub(super) fn range(m: &Machine, address: u32, bytes: u64) -> Result<Range<usize>, Errno> {
    m.memory_range(address.into(), bytes).map_err(|_| Errno::Fault)
}

pub(super) fn put(m: &mut Machine, address: u32, bytes: &[u8]) -> Done {
    let range = range(m, address, bytes.len() as u64)?;
    m.memory[range].copy_from_slice(bytes);
    Ok(())
}

/// A number in bytes that were read.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk().copied()).map_or(0, u32::from_le_bytes)
}

/// A long number in bytes that were read.
pub(super) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

/// Pieces of memory, as ranges, with how many bytes they have together.
pub(super) fn pieces(
    m: &mut Machine,
    o: &mut Operands<'_>,
    (list, count): (u32, u32),
) -> Result<(Vec<Range<usize>>, u64), Refusal> {
    let list = range(m, list, 8 * u64::from(count))?;
    // Each costs a unit, however short it is.
    m.spend(o, 8 * list.len() as u64)?;
    let mut pieces = Vec::with_capacity(count as usize);
    let mut all = 0;
    for piece in m.memory[list].chunks_exact(8) {
        let (address, length) = (word(piece, 0), word(piece, 4));
        all += u64::from(length);
        pieces.push(range(m, address, length.into())?);
    }
    Ok((pieces, all))
}

/// A path below a folder, with the folder.
pub(super) fn path(
    m: &mut Machine,
    o: &mut Operands<'_>,
    handle: u32,
    (address, length): (u32, u32),
) -> Result<(usize, String), Refusal> {
    let folder = m.world.folder(handle)?;
    let place = range(m, address, length.into())?;
    m.spend(o, length.into())?;
    m.room(length.into())?;
    let path = String::from_utf8(m.memory[place].to_vec()).map_err(|_| Errno::Invalid)?;
    Ok((folder, path))
}

/// A path at which there may be something new, for which there is room.
pub(super) fn new_path(
    m: &mut Machine,
    o: &mut Operands<'_>,
    handle: u32,
    passed: (u32, u32),
) -> Result<(usize, String), Refusal> {
    let (folder, path) = path(m, o, handle, passed)?;
    let cost = m.world.tree.cost_of_path(folder, &path);
    m.room(cost)?;
    Ok((folder, path))
}

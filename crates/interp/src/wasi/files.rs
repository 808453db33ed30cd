//! Files and streams that are open: reading, writing, where they stand.

use crate::machine::Stop;
use crate::world::{APPEND, Errno, Handle, Open, Stream};

use super::Done;
use super::call::Call;

pub(super) fn read(
    call: &mut Call<'_>,

    (handle, at): (u32, Option<u64>),
    list: (u32, u32),
    answer: u32,
) -> Done {
    call.range(answer, 4)?;
    let (pieces, all) = call.pieces(list)?;
    standing(call, handle, at, |call| {
        // Who asks for nothing need not wait for it.
        let read =
            if all == 0 { call.world.ahead_to(handle, 0)?.len() } else { call.world.ahead(handle)?.len() };
        let read = (read as u64).min(all);
        call.spend(read)?;
        let mut bytes = call.world.ahead_to(handle, read as usize)?;
        for piece in pieces {
            let (now, rest) = bytes.split_at(bytes.len().min(piece.len()));
            call.memory[piece][..now.len()].copy_from_slice(now);
            bytes = rest;
        }
        call.world.skip(handle, read as usize)?;
        call.put(answer, &(read as u32).to_le_bytes())
    })
}

pub(super) fn write(
    call: &mut Call<'_>,

    (handle, at): (u32, Option<u64>),
    list: (u32, u32),
    answer: u32,
) -> Done {
    call.range(answer, 4)?;
    let (pieces, all) = call.pieces(list)?;
    standing(call, handle, at, |call| {
        call.afford(call.world.write_takes(handle, all))?;
        for piece in pieces {
            call.world.write(handle, &call.memory[piece])?.map_err(Stop::from)?;
        }
        call.put(answer, &(all as u32).to_le_bytes())
    })
}

/// Works on a file as if it stood elsewhere, if it is to.
fn standing(
    call: &mut Call<'_>,
    handle: u32,
    at: Option<u64>,
    work: impl FnOnce(&mut Call<'_>) -> Done,
) -> Done {
    let before = at.map(|at| place(call, handle, at)).transpose()?;
    let done = work(call);
    if let Some(before) = before {
        place(call, handle, before)?;
    }
    done
}

/// Has a file stand elsewhere; answers where it stood.
fn place(call: &mut Call<'_>, handle: u32, at: u64) -> Result<u64, Errno> {
    Ok(std::mem::replace(&mut call.world.file(handle)?.at, at))
}

/// From where a file is to stand so far off.
const START: u32 = 0;
pub(super) const CURRENT: u32 = 1;
const END: u32 = 2;

pub(super) fn seek(call: &mut Call<'_>, handle: u32, by: i64, from: u32, answer: u32) -> Done {
    call.range(answer, 8)?;
    let Open { node, at, .. } = *call.world.file(handle)?;
    let from = match from {
        START => 0,
        CURRENT => at,
        END => call.world.tree.stat(node).length,
        _ => return Err(Errno::Invalid.into()),
    };
    let at = from.checked_add_signed(by).filter(|at| *at <= i64::MAX as u64).ok_or(Errno::Invalid)?;
    place(call, handle, at)?;
    call.put(answer, &at.to_le_bytes())
}

/// Gives a file the length that is wanted, by the one that it has.
pub(super) fn resize(
    call: &mut Call<'_>,

    handle: u32,
    length: impl FnOnce(u64) -> Result<u64, Errno>,
) -> Done {
    let Open { node, writes, .. } = *call.world.file(handle)?;
    let before = call.world.tree.stat(node).length;
    let wanted = length(before)?;
    if !writes || wanted > i64::MAX as u64 {
        return Err(Errno::Invalid.into());
    }
    if wanted != before {
        let growth = call.world.tree.growth(node, wanted);
        call.spend(growth)?;
        call.room(growth)?;
        call.world.tree.set_length(node, wanted)?;
    }
    Ok(())
}

/// Flags of an open file that WASI knows, and the one that has reads and writes not wait.
const FLAGS: u16 = 31;
const DO_NOT_WAIT: u16 = 1 << 2;

pub(super) fn set_flags(call: &mut Call<'_>, handle: u32, flags: u32) -> Done {
    let flags = u16::try_from(flags).ok().filter(|flags| flags & !FLAGS == 0).ok_or(Errno::Invalid)?;
    match call.world.handle(handle)? {
        // What is written there is behind the end anyway, and what is read is waited for.
        Handle::Stream(_) | Handle::Folder(_) if flags & DO_NOT_WAIT != 0 => Err(Errno::NotSupported.into()),
        Handle::Stream(_) | Handle::Folder(_) => Ok(()),
        Handle::File(_) => {
            call.world.file(handle)?.flags = flags;
            Ok(())
        }
    }
}

/// Rights to read and to write, and all that there are for files and folders.
pub(super) const READ: u64 = 1 << 1;
pub(super) const WRITE: u64 = 1 << 6;
const ALL: u64 = (1 << 30) - 1;

fn rights(handle: Handle) -> u64 {
    match handle {
        // Who asks whether a stream is a terminal asks whether it can be searched.
        Handle::Stream(Stream::Input) => READ,
        Handle::Stream(Stream::Output | Stream::Errors) => WRITE,
        Handle::Folder(_) => ALL,
        Handle::File(Open { reads, writes, .. }) => {
            let missing = if reads { 0 } else { READ } | if writes { 0 } else { WRITE };
            ALL & !missing
        }
    }
}

/// Takes rights away; none can be given.
pub(super) fn set_rights(call: &mut Call<'_>, handle: u32, wanted: u64) -> Done {
    let had = call.world.handle(handle)?;
    if wanted & !rights(had) != 0 {
        return Err(Errno::NotCapable.into());
    }
    match had {
        Handle::File(_) => {
            let open = call.world.file(handle)?;
            open.reads &= wanted & READ != 0;
            open.writes &= wanted & WRITE != 0;
            Ok(())
        }
        Handle::Stream(_) | Handle::Folder(_) if wanted == rights(had) => Ok(()),
        Handle::Stream(_) | Handle::Folder(_) => Err(Errno::NotSupported.into()),
    }
}

pub(super) fn describe(call: &mut Call<'_>, handle: u32, answer: u32) -> Done {
    let of = call.world.handle(handle)?;
    let mut stat = [0; 24];
    stat[0] = super::kind(of) as u8;
    if let Handle::File(Open { flags, .. }) = of {
        stat[2..4].copy_from_slice(&flags.to_le_bytes());
    }
    if of == Handle::Stream(Stream::Output) || of == Handle::Stream(Stream::Errors) {
        stat[2..4].copy_from_slice(&APPEND.to_le_bytes());
    }
    let rights = rights(of).to_le_bytes();
    stat[8..16].copy_from_slice(&rights);
    stat[16..24].copy_from_slice(&rights);
    call.put(answer, &stat)
}

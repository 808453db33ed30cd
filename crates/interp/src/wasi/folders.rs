//! Paths and folders, and what there is to know of what they lead to.

use crate::world::{Errno, Handle, Opened, Opening, Stat, Times};

use super::call::Call;
use super::files::{READ, WRITE};
use super::{Done, Kind};

/// Flags of how something is opened.
const CREATE: u32 = 1;
const FOLDER: u32 = 2;
const NEW: u32 = 4;
const EMPTY: u32 = 8;

pub(super) fn open(call: &mut Call<'_>) -> Done {
    let [handle, _, address, length, flags, _, _, status, answer] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|slot| call.num(slot) as u32);
    let rights = call.num(5);
    call.range(answer, 4)?;
    let passed = (address, length);
    let creates = flags & CREATE != 0;
    let (folder, path) = if creates { call.new_path(handle, passed)? } else { call.path(handle, passed)? };
    if flags & FOLDER != 0 {
        if flags & (CREATE | NEW | EMPTY) != 0 {
            return Err(Errno::Invalid.into());
        }
        let opened = call.world.open_folder(folder, &path)?;
        return call.put(answer, &opened.to_le_bytes());
    }
    let how = Opening {
        reads: rights & READ != 0 || rights & WRITE == 0,
        writes: rights & WRITE != 0,
        flags: status as u16,
        creates,
        is_new: flags & NEW != 0,
        empties: flags & EMPTY != 0,
    };
    let opened = match call.world.open(folder, &path, how) {
        // A folder can be opened by who only looks at it.
        Err(Errno::IsFolder) if !how.writes && !creates && !how.empties => {
            call.world.open_folder(folder, &path)?
        }
        opened => opened?,
    };
    call.put(answer, &opened.to_le_bytes())
}

pub(super) fn rename(call: &mut Call<'_>) -> Done {
    let [from, address, length, to, to_address, to_length] =
        [0, 1, 2, 3, 4, 5].map(|slot| call.num(slot) as u32);
    let (from, from_path) = call.path(from, (address, length))?;
    let (to, to_path) = call.path(to, (to_address, to_length))?;
    let (moved, cost) = call.world.tree.cost_of_rename((from, &from_path), (to, &to_path));
    call.spend(64 * moved)?;
    call.room(cost)?;
    Ok(call.world.tree.rename((from, &from_path), (to, &to_path))?)
}

/// What comes before a name in a list.
const HEAD: usize = 24;

pub(super) fn list(call: &mut Call<'_>, answer: u32) -> Done {
    let (handle, address, length) = (call.num(0) as u32, call.num(1) as u32, call.num(2) as u32);
    let from = usize::try_from(call.num(3)).unwrap_or(usize::MAX);
    let folder = call.world.folder(handle)?;
    let place = call.range(address, length.into())?;
    call.range(answer, 4)?;
    call.spend(length.into())?;
    let (buffer, tree) = (&mut call.memory[place], &call.world.tree);
    let mut used = 0;
    for (name, node, behind) in tree.list(folder, from)? {
        let kind = Kind::of(tree.stat(node));
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&(behind as u64).to_le_bytes());
        head[8..16].copy_from_slice(&number(node).to_le_bytes());
        head[16..20].copy_from_slice(&(name.len() as u32).to_le_bytes());
        head[20] = kind as u8;
        // What does not fit is cut: a full buffer says that there is more.
        for byte in head.iter().chain(name.as_bytes()).take(buffer.len() - used) {
            buffer[used] = *byte;
            used += 1;
        }
        if used == buffer.len() {
            break;
        }
    }
    call.put(answer, &(used as u32).to_le_bytes())
}

/// The number that programs know a file or folder by; none of them is zero.
fn number(node: usize) -> u64 {
    node as u64 + 1
}

pub(super) fn stat_of_path(call: &mut Call<'_>) -> Done {
    let [handle, address, length, answer] = [0, 2, 3, 4].map(|slot| call.num(slot) as u32);
    let (folder, path) = call.path(handle, (address, length))?;
    let stat = call.world.tree.stat(call.world.tree.find(folder, &path)?);
    call.put(answer, &filestat(stat))
}

pub(super) fn stat_of_handle(call: &mut Call<'_>, handle: u32, answer: u32) -> Done {
    let stat = match call.world.node(handle)? {
        Some(node) => filestat(call.world.tree.stat(node)),
        None => {
            let mut stat = [0; 64];
            stat[16] = Kind::Stream as u8;
            stat[24] = 1;
            stat
        }
    };
    call.put(answer, &stat)
}

fn filestat(stat: Stat) -> [u8; 64] {
    let Stat { length, linked, times, .. } = stat;
    let mut bytes = [0; 64];
    bytes[8..16].copy_from_slice(&number(stat.number).to_le_bytes());
    bytes[16] = Kind::of(stat) as u8;
    bytes[24] = u8::from(linked);
    bytes[32..40].copy_from_slice(&length.to_le_bytes());
    bytes[40..48].copy_from_slice(&times.read.to_le_bytes());
    bytes[48..56].copy_from_slice(&times.changed.to_le_bytes());
    bytes[56..64].copy_from_slice(&times.changed.to_le_bytes());
    bytes
}

/// Which times are set, and whether to what the clock shows.
const READ_AT: u32 = 1;
const READ_NOW: u32 = 2;
const CHANGED_AT: u32 = 4;
const CHANGED_NOW: u32 = 8;

/// What a file's times are set to, by the times that are passed and the flags.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) times: Times,
    pub(super) flags: u32,
}

pub(super) fn set_times_of_path(call: &mut Call<'_>) -> Done {
    let [handle, address, length] = [0, 2, 3].map(|slot| call.num(slot) as u32);
    let wanted =
        Wanted { times: Times { read: call.num(4), changed: call.num(5) }, flags: call.num(6) as u32 };
    let (folder, path) = call.path(handle, (address, length))?;
    let node = call.world.tree.find(folder, &path)?;
    set_times(call, Some(node), wanted)
}

pub(super) fn set_times(call: &mut Call<'_>, node: Option<usize>, Wanted { times, flags }: Wanted) -> Done {
    let both = |one, other| flags & (one | other) == one | other;
    if both(READ_AT, READ_NOW) || both(CHANGED_AT, CHANGED_NOW) || flags > 15 {
        return Err(Errno::Invalid.into());
    }
    let node = node.ok_or(Errno::Invalid)?;
    let now = if flags & (READ_NOW | CHANGED_NOW) == 0 { 0 } else { call.world.clock() };
    let had = call.world.tree.stat(node).times;
    let set = |at: u32, set: u64, had: u64| match flags & (at | at << 1) {
        0 => had,
        found if found == at => set,
        _ => now,
    };
    let times = Times {
        read: set(READ_AT, times.read, had.read),
        changed: set(CHANGED_AT, times.changed, had.changed),
    };
    call.world.tree.set_times(node, times);
    Ok(())
}

/// The name of the folder that is handed out at the start.
const ROOT_NAME: &[u8] = b"/";

pub(super) fn given(call: &mut Call<'_>, handle: u32, answer: u32) -> Done {
    is_given(call, handle)?;
    let mut stat = [0; 8];
    stat[4..].copy_from_slice(&(ROOT_NAME.len() as u32).to_le_bytes());
    call.put(answer, &stat)
}

pub(super) fn name_of_given(call: &mut Call<'_>, handle: u32, address: u32, length: u32) -> Done {
    is_given(call, handle)?;
    match (length as usize) < ROOT_NAME.len() {
        true => Err(Errno::NameTooLong.into()),
        false => call.put(address, ROOT_NAME),
    }
}

fn is_given(call: &Call<'_>, handle: u32) -> Result<(), Errno> {
    match call.world.handle(handle)? {
        Handle::Folder(Opened { given: true, .. }) => Ok(()),
        Handle::Folder(_) | Handle::File(_) | Handle::Stream(_) => Err(Errno::BadHandle),
    }
}

//! Functions of the host that runs have: WASI preview 1, over the world of the run.
//!
//! A module that was made for WASI imports them from `wasi_snapshot_preview1`. Here they work on the run's own standard
//! streams and files; the root of these is the only folder that is handed out. There are no arguments, no environment,
//! no sockets and no links; clocks stand still but for a microsecond at each look. What is not done answers with
//! `ENOTSUP`, as WASI wants it.
//!
//! Types and numbers: <https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md>.

use std::ops::Range;

use lmlang_ir::{FunctionHead, Scalar, Type};

use super::heap::Operands;
use super::io::full;
use crate::machine::{Machine, Stop};
use crate::world::{Errno, Opening, ROOT, STDERR, STDIN, STDOUT, World, normal};

/// The module that the functions are imported from.
const MODULE: &str = "wasi_snapshot_preview1";

/// The name of the program, which is all that it is given as arguments.
const ARGUMENT: &[u8] = b"main\0";

macro_rules! functions {
    ($($name:ident $text:literal $params:literal;)*) => {
        /// A function of the host.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        enum Function { $($name),* }

        /// With its name and its parameters: `i` is `i32`, `I` is `i64`.
        const FUNCTIONS: &[(Function, &str, &str)] = &[$((Function::$name, $text, $params)),*];
    };
}

functions! {
    ArgsGet "args_get" "ii";
    ArgsSizesGet "args_sizes_get" "ii";
    EnvironGet "environ_get" "ii";
    EnvironSizesGet "environ_sizes_get" "ii";
    ClockResGet "clock_res_get" "ii";
    ClockTimeGet "clock_time_get" "iIi";
    FdAdvise "fd_advise" "iIIi";
    FdAllocate "fd_allocate" "iII";
    FdClose "fd_close" "i";
    FdDatasync "fd_datasync" "i";
    FdFdstatGet "fd_fdstat_get" "ii";
    FdFdstatSetFlags "fd_fdstat_set_flags" "ii";
    FdFdstatSetRights "fd_fdstat_set_rights" "iII";
    FdFilestatGet "fd_filestat_get" "ii";
    FdFilestatSetSize "fd_filestat_set_size" "iI";
    FdFilestatSetTimes "fd_filestat_set_times" "iIIi";
    FdPread "fd_pread" "iiiIi";
    FdPrestatGet "fd_prestat_get" "ii";
    FdPrestatDirName "fd_prestat_dir_name" "iii";
    FdPwrite "fd_pwrite" "iiiIi";
    FdRead "fd_read" "iiii";
    FdReaddir "fd_readdir" "iiiIi";
    FdRenumber "fd_renumber" "ii";
    FdSeek "fd_seek" "iIii";
    FdSync "fd_sync" "i";
    FdTell "fd_tell" "ii";
    FdWrite "fd_write" "iiii";
    PathCreateDirectory "path_create_directory" "iii";
    PathFilestatGet "path_filestat_get" "iiiii";
    PathFilestatSetTimes "path_filestat_set_times" "iiiiIIi";
    PathLink "path_link" "iiiiiii";
    PathOpen "path_open" "iiiiiIIii";
    PathReadlink "path_readlink" "iiiiii";
    PathRemoveDirectory "path_remove_directory" "iii";
    PathRename "path_rename" "iiiiii";
    PathSymlink "path_symlink" "iiiii";
    PathUnlinkFile "path_unlink_file" "iii";
    PollOneoff "poll_oneoff" "iiii";
    ProcExit "proc_exit" "i";
    ProcRaise "proc_raise" "i";
    RandomGet "random_get" "ii";
    SchedYield "sched_yield" "";
    SockAccept "sock_accept" "iii";
    SockRecv "sock_recv" "iiiiii";
    SockSend "sock_send" "iiiii";
    SockShutdown "sock_shutdown" "ii";
}

/// The function of the host that an imported one is, by its position, with how many slots it uses.
pub(crate) fn function(head: &FunctionHead) -> Option<(u16, u32)> {
    let import = head.import.as_ref().filter(|import| *import.module == *MODULE)?;
    let (function, _, params) = FUNCTIONS.iter().find(|(_, name, _)| *import.name == **name)?;
    let wanted = params.bytes().map(|of| if of == b'I' { Scalar::I64 } else { Scalar::I32 });
    let takes = head.params.iter().map(|param| param.ty.clone()).eq(wanted.map(Type::Scalar));
    let results: &[Type] = if *function == Function::ProcExit { &[] } else { &[Type::I32] };
    let fits = takes && head.results == results && head.captures.is_empty();
    fits.then_some((*function as u16, head.params.len().max(1) as u32))
}

/// Why a function does not do what was asked.
enum Refusal {
    /// The program is told.
    Errno(Errno),
    /// The run ends, or goes on when there is fuel.
    Stop(Stop),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal::Errno(errno)
    }
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Refusal {
        Refusal::Stop(stop)
    }
}

type Done = Result<(), Refusal>;

/// Calls a function with the first slots as its arguments; the first one gets what it answers.
pub(super) fn call(m: &mut Machine, o: &mut Operands<'_>) -> Result<(), Stop> {
    let Some((function, _, _)) = FUNCTIONS.get(usize::from(o.b)) else { return Err(Stop::Broken) };
    let answer = match answer(m, *function, o) {
        Ok(()) => 0,
        Err(Refusal::Errno(errno)) => errno as u64,
        Err(Refusal::Stop(stop)) => return Err(stop),
    };
    if *function != Function::ProcExit {
        o.set(0, answer);
    }
    Ok(())
}

fn answer(m: &mut Machine, function: Function, o: &mut Operands<'_>) -> Done {
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|slot| o.num(slot) as u32);
    match function {
        Function::ArgsGet => {
            put(m, a, &b.to_le_bytes())?;
            put(m, b, ARGUMENT)
        }
        Function::ArgsSizesGet => {
            put(m, a, &1u32.to_le_bytes())?;
            put(m, b, &(ARGUMENT.len() as u32).to_le_bytes())
        }
        Function::EnvironGet => Ok(()),
        Function::EnvironSizesGet => {
            put(m, a, &[0; 4])?;
            put(m, b, &[0; 4])
        }
        Function::ClockResGet => put(m, b, &1_000u64.to_le_bytes()),
        Function::ClockTimeGet => {
            range(m, c, 8)?;
            let now = m.world.clock();
            put(m, c, &now.to_le_bytes())
        }
        Function::RandomGet => random(m, o, a, b),
        Function::SchedYield => Ok(()),
        Function::ProcExit => Err(Stop::Exit(a).into()),
        Function::FdAdvise | Function::FdDatasync | Function::FdSync => known(m, a),
        Function::FdFilestatSetTimes | Function::FdFdstatSetRights => known(m, a),
        Function::FdFdstatSetFlags => {
            m.world.opened(a)?.appends = b & APPEND != 0;
            Ok(())
        }
        Function::FdClose => match a {
            STDIN | STDOUT | STDERR | ROOT => Ok(()),
            _ => Ok(m.world.close(a)?),
        },
        Function::FdFdstatGet => {
            let stat = fdstat(m, a)?;
            put(m, b, &stat)
        }
        Function::FdFilestatGet => {
            let (kind, length) = match kind(m, a)? {
                Kind::File => (Kind::File, m.world.length_of(a)?),
                other => (other, 0),
            };
            put(m, b, &filestat(kind, length))
        }
        Function::FdPrestatGet => match a {
            // A folder, whose name has one byte.
            ROOT => put(m, b, &[0, 0, 0, 0, 1, 0, 0, 0]),
            _ => Err(Errno::BadHandle.into()),
        },
        Function::FdPrestatDirName => match a {
            ROOT if c >= 1 => put(m, b, b"/"),
            ROOT => Err(Errno::Invalid.into()),
            _ => Err(Errno::BadHandle.into()),
        },
        Function::FdRead => read(m, o, (a, None), (b, c), d),
        Function::FdPread => read(m, o, (a, Some(o.num(3))), (b, c), e),
        Function::FdWrite => write(m, o, (a, None), (b, c), d),
        Function::FdPwrite => write(m, o, (a, Some(o.num(3))), (b, c), e),
        Function::FdSeek => seek(m, a, o.num(1).cast_signed(), c, d),
        Function::FdTell => seek(m, a, 0, CURRENT, b),
        Function::PathOpen => open(m, o),
        Function::PathFilestatGet => {
            let path = path(m, o, a, (c, d))?;
            let path = normal(&path)?;
            let stat = match m.world.length(&path) {
                Some(length) => filestat(Kind::File, length),
                None if m.world.is_folder(&path) => filestat(Kind::Folder, 0),
                None => return Err(Errno::NoEntry.into()),
            };
            put(m, e, &stat)
        }
        Function::PathUnlinkFile => {
            let path = path(m, o, a, (b, c))?;
            Ok(m.world.remove(&path)?)
        }
        Function::PathRename => {
            let from = path(m, o, a, (b, c))?;
            let to = path(m, o, d, (e, o.num(5) as u32))?;
            Ok(m.world.rename(&from, &to)?)
        }
        // Folders are there as soon as something is in them.
        Function::PathCreateDirectory => {
            let path = path(m, o, a, (b, c))?;
            match m.world.length(&normal(&path)?) {
                Some(_) => Err(Errno::Exists.into()),
                None => Ok(()),
            }
        }
        Function::FdAllocate
        | Function::FdFilestatSetSize
        | Function::FdReaddir
        | Function::FdRenumber
        | Function::PathFilestatSetTimes
        | Function::PathLink
        | Function::PathReadlink
        | Function::PathRemoveDirectory
        | Function::PathSymlink
        | Function::PollOneoff
        | Function::ProcRaise
        | Function::SockAccept
        | Function::SockRecv
        | Function::SockSend
        | Function::SockShutdown => Err(Errno::NotSupported.into()),
    }
}

/// What a handle is of, as WASI numbers it.
#[derive(Clone, Copy)]
enum Kind {
    Stream = 2,
    Folder = 3,
    File = 4,
}

fn kind(m: &mut Machine, handle: u32) -> Result<Kind, Errno> {
    match handle {
        STDIN | STDOUT | STDERR => Ok(Kind::Stream),
        ROOT => Ok(Kind::Folder),
        _ => m.world.opened(handle).map(|_| Kind::File),
    }
}

fn known(m: &mut Machine, handle: u32) -> Done {
    kind(m, handle)?;
    Ok(())
}

/// The place in memory of what a program passes by address.
fn range(m: &Machine, address: u32, bytes: u64) -> Result<Range<usize>, Errno> {
    m.memory_range(address.into(), bytes).map_err(|_| Errno::Fault)
}

fn put(m: &mut Machine, address: u32, bytes: &[u8]) -> Done {
    let range = range(m, address, bytes.len() as u64)?;
    m.memory[range].copy_from_slice(bytes);
    Ok(())
}

/// Pieces of memory that a program passes, as ranges, with how many bytes they have together.
fn pieces(
    m: &mut Machine,
    o: &mut Operands<'_>,
    (list, count): (u32, u32),
) -> Result<(Vec<Range<usize>>, u64), Refusal> {
    let list = range(m, list, 8 * u64::from(count))?;
    // Each costs a unit, however short it is.
    m.spend(o, 8 * list.len() as u64)?;
    let word = |bytes: &[u8], at| bytes[at..].first_chunk().copied().map_or(0, u32::from_le_bytes);
    let mut pieces = Vec::with_capacity(count as usize);
    let mut all = 0;
    for piece in m.memory[list].chunks_exact(8) {
        let (address, length) = (word(piece, 0), word(piece, 4));
        all += u64::from(length);
        pieces.push(range(m, address, length.into())?);
    }
    Ok((pieces, all))
}

fn path(
    m: &mut Machine,
    o: &mut Operands<'_>,
    folder: u32,
    (address, length): (u32, u32),
) -> Result<String, Refusal> {
    if folder != ROOT {
        kind(m, folder)?;
        return Err(Errno::NotFolder.into());
    }
    let place = range(m, address, length.into())?;
    let cost = u64::from(length) + World::cost_of_path("");
    m.spend(o, cost)?;
    m.room(2 * cost)?;
    Ok(String::from_utf8(m.memory[place].to_vec()).map_err(|_| Errno::Invalid)?)
}

fn read(
    m: &mut Machine,
    o: &mut Operands<'_>,
    (handle, at): (u32, Option<u64>),
    list: (u32, u32),
    answer: u32,
) -> Done {
    range(m, answer, 4)?;
    let (pieces, all) = pieces(m, o, list)?;
    standing(m, handle, at, |m| {
        let read = (m.world.ahead(handle)?.len() as u64).min(all);
        m.spend(o, read)?;
        let mut bytes = m.world.ahead(handle)?;
        for piece in pieces {
            let (now, rest) = bytes.split_at(bytes.len().min(piece.len()));
            m.memory[piece][..now.len()].copy_from_slice(now);
            bytes = rest;
        }
        m.world.skip(handle, read as usize)?;
        put(m, answer, &(read as u32).to_le_bytes())
    })
}

fn write(
    m: &mut Machine,
    o: &mut Operands<'_>,
    (handle, at): (u32, Option<u64>),
    list: (u32, u32),
    answer: u32,
) -> Done {
    range(m, answer, 4)?;
    let (pieces, all) = pieces(m, o, list)?;
    standing(m, handle, at, |m| {
        let growth = m.world.growth_of_write(handle, all);
        m.spend(o, all.saturating_add(growth))?;
        m.room(growth)?;
        for piece in pieces {
            m.world.write(handle, &m.memory[piece])?.map_err(full)?;
        }
        put(m, answer, &(all as u32).to_le_bytes())
    })
}

/// Works on a file as if it stood elsewhere, if it is to.
fn standing(m: &mut Machine, handle: u32, at: Option<u64>, work: impl FnOnce(&mut Machine) -> Done) -> Done {
    let before = at.map(|at| place(m, handle, at)).transpose()?;
    let done = work(m);
    if let Some(before) = before {
        place(m, handle, before)?;
    }
    done
}

/// Has a file stand elsewhere; answers where it stood.
fn place(m: &mut Machine, handle: u32, at: u64) -> Result<u64, Errno> {
    if handle <= STDERR {
        return Err(Errno::IsPipe);
    }
    Ok(std::mem::replace(&mut m.world.opened(handle)?.at, at))
}

/// From where a file is to stand so far off.
const START: u32 = 0;
const CURRENT: u32 = 1;
const END: u32 = 2;

fn seek(m: &mut Machine, handle: u32, by: i64, from: u32, answer: u32) -> Done {
    range(m, answer, 8)?;
    if handle <= STDERR {
        return Err(Errno::IsPipe.into());
    }
    let (at, length) = (m.world.opened(handle)?.at, m.world.length_of(handle)?);
    let from = match from {
        START => 0,
        CURRENT => at,
        END => length,
        _ => return Err(Errno::Invalid.into()),
    };
    let at = from.checked_add_signed(by).filter(|at| *at <= i64::MAX as u64).ok_or(Errno::Invalid)?;
    place(m, handle, at)?;
    put(m, answer, &at.to_le_bytes())
}

/// Flags of how a file is opened.
const CREATE: u32 = 1;
const FOLDER: u32 = 2;
const NEW: u32 = 4;
const EMPTY: u32 = 8;
const APPEND: u32 = 1;
/// Rights to read and to write.
const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;

fn open(m: &mut Machine, o: &mut Operands<'_>) -> Done {
    let [folder, _, address, length, flags, _, _, status, answer] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|slot| o.num(slot) as u32);
    let rights = o.num(5);
    range(m, answer, 4)?;
    let path = path(m, o, folder, (address, length))?;
    if flags & FOLDER != 0 {
        // The root is the only one that is handed out.
        let path = normal(&path)?;
        return match (path.is_empty(), m.world.is_folder(&path)) {
            (true, _) => put(m, answer, &ROOT.to_le_bytes()),
            (false, true) => Err(Errno::NotSupported.into()),
            (false, false) => Err(Errno::NotFolder.into()),
        };
    }
    let how = Opening {
        reads: rights & READ != 0 || rights & WRITE == 0,
        writes: rights & WRITE != 0,
        appends: status & APPEND != 0,
        creates: flags & CREATE != 0,
        is_new: flags & (CREATE | NEW) == CREATE | NEW,
        empties: flags & EMPTY != 0,
    };
    let handle = m.world.open(&path, how)?;
    put(m, answer, &handle.to_le_bytes())
}

fn fdstat(m: &mut Machine, handle: u32) -> Result<[u8; 24], Errno> {
    let kind = kind(m, handle)?;
    let mut stat = [0; 24];
    stat[0] = kind as u8;
    let rights = match kind {
        Kind::File => {
            let open = m.world.opened(handle)?;
            stat[2] = u8::from(open.appends);
            u64::MAX >> 34
        }
        // Who asks whether a stream is a terminal asks whether it can be searched.
        Kind::Stream => READ | WRITE,
        Kind::Folder => u64::MAX >> 34,
    };
    stat[8..16].copy_from_slice(&rights.to_le_bytes());
    stat[16..24].copy_from_slice(&rights.to_le_bytes());
    Ok(stat)
}

fn filestat(kind: Kind, length: u64) -> [u8; 64] {
    let mut stat = [0; 64];
    stat[16] = kind as u8;
    stat[24] = 1;
    stat[32..40].copy_from_slice(&length.to_le_bytes());
    stat
}

fn random(m: &mut Machine, o: &mut Operands<'_>, address: u32, length: u32) -> Done {
    let place = range(m, address, length.into())?;
    m.spend(o, length.into())?;
    for piece in m.memory[place].chunks_mut(8) {
        let bytes = m.world.random();
        piece.copy_from_slice(&bytes[..piece.len()]);
    }
    Ok(())
}

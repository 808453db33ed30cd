//! Functions of the host that runs have: WASI preview 1, over the world of the run.
//!
//! A module that was made for WASI imports them from `wasi_snapshot_preview1`. Here they work on the run's own standard
//! streams and files; the root of these is the only folder that is handed out. There are no sockets and no links: what
//! would make one answers with `ENOTSUP`, as WASI wants it.
//!
//! Types and numbers: <https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md>.

mod clocks;
mod files;
mod folders;
mod passed;
mod texts;

use lmlang_ir::{FunctionHead, Scalar, Type};

use self::files::CURRENT;
use self::folders::Wanted;
use self::passed::{new_path, path, range};
use self::texts::List;
use super::heap::Operands;
use crate::machine::{Machine, Stop};
use crate::world::{Errno, Handle, Refusal, Stat, Times};

/// The module that the functions are imported from.
const MODULE: &str = "wasi_snapshot_preview1";

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
        Function::ArgsGet => texts::get(m, o, List::CommandLine),
        Function::ArgsSizesGet => texts::sizes(m, o, List::CommandLine),
        Function::EnvironGet => texts::get(m, o, List::Environment),
        Function::EnvironSizesGet => texts::sizes(m, o, List::Environment),
        Function::ClockResGet => clocks::resolution(m, a, b),
        Function::ClockTimeGet => clocks::time(m, a, c),
        Function::PollOneoff => clocks::wait(m, o),
        Function::RandomGet => random(m, o, a, b),
        Function::SchedYield => Ok(()),
        Function::ProcExit => Err(Stop::Exit(a).into()),
        Function::FdAllocate => {
            let (offset, length) = (o.num(1), o.num(2));
            let end = offset.checked_add(length).filter(|_| length > 0).ok_or(Errno::Invalid)?;
            files::resize(m, o, a, |now| Ok(now.max(end)))
        }
        Function::FdFilestatSetSize => {
            let length = o.num(1);
            files::resize(m, o, a, |_| Ok(length))
        }
        // What is written is there at once, and read as it comes.
        Function::FdAdvise | Function::FdDatasync | Function::FdSync => {
            m.world.handle(a)?;
            Ok(())
        }
        Function::FdClose => Ok(m.world.close(a)?),
        Function::FdRenumber => Ok(m.world.renumber(a, b)?),
        Function::FdFdstatGet => files::describe(m, a, b),
        Function::FdFdstatSetFlags => files::set_flags(m, a, b),
        Function::FdFdstatSetRights => files::set_rights(m, a, o.num(1)),
        Function::FdFilestatGet => folders::stat_of_handle(m, a, b),
        Function::FdFilestatSetTimes => {
            let node = m.world.node(a)?;
            let times = Times { read: o.num(1), changed: o.num(2) };
            folders::set_times(m, node, Wanted { times, flags: d })
        }
        Function::FdPrestatGet => folders::given(m, a, b),
        Function::FdPrestatDirName => folders::name_of_given(m, a, b, c),
        Function::FdRead => files::read(m, o, (a, None), (b, c), d),
        Function::FdPread => files::read(m, o, (a, Some(o.num(3))), (b, c), e),
        Function::FdWrite => files::write(m, o, (a, None), (b, c), d),
        Function::FdPwrite => files::write(m, o, (a, Some(o.num(3))), (b, c), e),
        Function::FdReaddir => folders::list(m, o, e),
        Function::FdSeek => files::seek(m, a, o.num(1).cast_signed(), c, d),
        Function::FdTell => files::seek(m, a, 0, CURRENT, b),
        Function::PathOpen => folders::open(m, o),
        Function::PathFilestatGet => folders::stat_of_path(m, o),
        Function::PathFilestatSetTimes => folders::set_times_of_path(m, o),
        Function::PathCreateDirectory => {
            let (folder, path) = new_path(m, o, a, (b, c))?;
            Ok(m.world.tree.create_folder(folder, &path)?)
        }
        Function::PathRemoveDirectory => {
            let (folder, path) = path(m, o, a, (b, c))?;
            Ok(m.world.tree.remove_folder(folder, &path)?)
        }
        Function::PathUnlinkFile => {
            let (folder, path) = path(m, o, a, (b, c))?;
            Ok(m.world.tree.remove(folder, &path)?)
        }
        Function::PathRename => folders::rename(m, o),
        // Nothing is a link, as who resolves paths by himself wants to know.
        Function::PathReadlink => {
            let (folder, path) = path(m, o, a, (b, c))?;
            m.world.tree.find(folder, &path)?;
            Err(Errno::Invalid.into())
        }
        Function::SockAccept | Function::SockRecv | Function::SockSend | Function::SockShutdown => {
            m.world.handle(a)?;
            Err(Errno::NotSupported.into())
        }
        Function::PathLink | Function::PathSymlink | Function::ProcRaise => Err(Errno::NotSupported.into()),
    }
}

/// What something is, as WASI numbers it.
#[derive(Clone, Copy)]
enum Kind {
    Stream = 2,
    Folder = 3,
    File = 4,
}

impl Kind {
    fn of(stat: Stat) -> Kind {
        if stat.is_folder { Kind::Folder } else { Kind::File }
    }
}

fn kind(handle: Handle) -> Kind {
    match handle {
        Handle::Stream(_) => Kind::Stream,
        Handle::Folder(_) => Kind::Folder,
        Handle::File(_) => Kind::File,
    }
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

//! Functions of the host that runs have: WASI preview 1, over the world of the run.
//!
//! A module that was made for WASI imports them from `wasi_snapshot_preview1`. Here they work on the run's own standard
//! streams and files; the root of these is the only folder that is handed out. There are no sockets and no links: what
//! would make one answers with `ENOTSUP`, as WASI wants it.
//!
//! Types and numbers: <https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md>.

mod call;
mod clocks;
mod files;
mod folders;
mod texts;

use lmlang_ir::Type;

pub(crate) use self::call::{ARGUMENTS, BYTES_PER_FUEL, Bounds, Call};
use self::files::CURRENT;
use self::folders::Wanted;
use self::texts::List;
use crate::machine::Stop;
use crate::world::{Errno, Handle, Refusal, Stat, Times};

/// The module that the functions are imported from.
pub(crate) const MODULE: &str = "wasi_snapshot_preview1";

macro_rules! functions {
    ($($name:ident $text:literal $params:literal;)*) => {
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

/// A function of the host that programs import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFunction(Function);

impl HostFunction {
    /// The function that an imported one is, by the module and the name that it comes from and by its type.
    pub fn find<'t>(
        module: &str,
        name: &str,
        params: impl Iterator<Item = &'t Type>,
        results: &[Type],
    ) -> Option<HostFunction> {
        if module != MODULE {
            return None;
        }
        let (function, _, wanted) = FUNCTIONS.iter().find(|(_, text, _)| *text == name)?;
        let wanted = wanted.bytes().map(|of| if of == b'I' { &Type::I64 } else { &Type::I32 });
        let function = HostFunction(*function);
        let answers: &[Type] = if function.answers() { &[Type::I32] } else { &[] };
        (params.eq(wanted) && results == answers).then_some(function)
    }

    /// Whether it returns, with a number that tells what became of it.
    pub fn answers(self) -> bool {
        self.0 != Function::ProcExit
    }

    /// Whether it may read standard input.
    pub fn reads(self) -> bool {
        self.0 == Function::FdRead
    }

    /// Its position among all of them.
    pub(crate) fn index(self) -> u16 {
        self.0 as u16
    }

    pub(crate) fn at(index: u16) -> Option<HostFunction> {
        FUNCTIONS.get(usize::from(index)).map(|(function, ..)| HostFunction(*function))
    }

    /// Does what is asked; what comes of it is zero or an error of WASI.
    pub(crate) fn call(self, call: &mut Call<'_>) -> Result<u16, Stop> {
        match answer(call, self.0) {
            Ok(()) => Ok(0),
            Err(Refusal::Errno(errno)) => Ok(errno as u16),
            Err(Refusal::Stop(stop)) => Err(stop),
        }
    }
}

type Done = Result<(), Refusal>;

fn answer(call: &mut Call<'_>, function: Function) -> Done {
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|slot| call.num(slot) as u32);
    match function {
        Function::ArgsGet => texts::get(call, List::CommandLine),
        Function::ArgsSizesGet => texts::sizes(call, List::CommandLine),
        Function::EnvironGet => texts::get(call, List::Environment),
        Function::EnvironSizesGet => texts::sizes(call, List::Environment),
        Function::ClockResGet => clocks::resolution(call, a, b),
        Function::ClockTimeGet => clocks::time(call, a, c),
        Function::PollOneoff => clocks::wait(call),
        Function::RandomGet => random(call, a, b),
        Function::SchedYield => Ok(()),
        Function::ProcExit => Err(Stop::Exit(a).into()),
        Function::FdAllocate => {
            let (offset, length) = (call.num(1), call.num(2));
            let end = offset.checked_add(length).filter(|_| length > 0).ok_or(Errno::Invalid)?;
            files::resize(call, a, |now| Ok(now.max(end)))
        }
        Function::FdFilestatSetSize => {
            let length = call.num(1);
            files::resize(call, a, |_| Ok(length))
        }
        // What is written is there at once, and read as it comes.
        Function::FdAdvise | Function::FdDatasync | Function::FdSync => {
            call.world.handle(a)?;
            Ok(())
        }
        Function::FdClose => Ok(call.world.close(a)?),
        Function::FdRenumber => Ok(call.world.renumber(a, b)?),
        Function::FdFdstatGet => files::describe(call, a, b),
        Function::FdFdstatSetFlags => files::set_flags(call, a, b),
        Function::FdFdstatSetRights => files::set_rights(call, a, call.num(1)),
        Function::FdFilestatGet => folders::stat_of_handle(call, a, b),
        Function::FdFilestatSetTimes => {
            let node = call.world.node(a)?;
            let times = Times { read: call.num(1), changed: call.num(2) };
            folders::set_times(call, node, Wanted { times, flags: d })
        }
        Function::FdPrestatGet => folders::given(call, a, b),
        Function::FdPrestatDirName => folders::name_of_given(call, a, b, c),
        Function::FdRead => files::read(call, (a, None), (b, c), d),
        Function::FdPread => files::read(call, (a, Some(call.num(3))), (b, c), e),
        Function::FdWrite => files::write(call, (a, None), (b, c), d),
        Function::FdPwrite => files::write(call, (a, Some(call.num(3))), (b, c), e),
        Function::FdReaddir => folders::list(call, e),
        Function::FdSeek => files::seek(call, a, call.num(1).cast_signed(), c, d),
        Function::FdTell => files::seek(call, a, 0, CURRENT, b),
        Function::PathOpen => folders::open(call),
        Function::PathFilestatGet => folders::stat_of_path(call),
        Function::PathFilestatSetTimes => folders::set_times_of_path(call),
        Function::PathCreateDirectory => {
            let (folder, path) = call.new_path(a, (b, c))?;
            Ok(call.world.tree.create_folder(folder, &path)?)
        }
        Function::PathRemoveDirectory => {
            let (folder, path) = call.path(a, (b, c))?;
            Ok(call.world.tree.remove_folder(folder, &path)?)
        }
        Function::PathUnlinkFile => {
            let (folder, path) = call.path(a, (b, c))?;
            Ok(call.world.tree.remove(folder, &path)?)
        }
        Function::PathRename => folders::rename(call),
        // Nothing is a link, as who resolves paths by himself wants to know.
        Function::PathReadlink => {
            let (folder, path) = call.path(a, (b, c))?;
            call.world.tree.find(folder, &path)?;
            Err(Errno::Invalid.into())
        }
        Function::SockAccept | Function::SockRecv | Function::SockSend | Function::SockShutdown => {
            call.world.handle(a)?;
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

fn random(call: &mut Call<'_>, address: u32, length: u32) -> Done {
    let place = call.range(address, length.into())?;
    call.spend(length.into())?;
    for piece in call.memory[place].chunks_mut(8) {
        let bytes = call.world.random();
        piece.copy_from_slice(&bytes[..piece.len()]);
    }
    Ok(())
}

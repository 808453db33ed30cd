//! The world outside of a module, as WASI shows it to one in wasmi: standard input and output and files in memory, a few
//! bytes at a time. It does what the functions in `lmlang-wasm`'s runtime ask for and no more.

use std::collections::BTreeMap;

use lmlang_interp::{Entry, Environment};
use wasmi::{Caller, Error, Extern, Linker, Memory, StoreLimits, StoreLimitsBuilder};

#[derive(Default)]
pub(super) struct World {
    pub(super) input: Vec<u8>,
    pub(super) output: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
    folders: Vec<String>,
    /// Path, position, and whether it is written to, of those that are open; the first has the handle 4.
    open: Vec<Option<(String, usize, bool)>>,
    pub(super) bounds: Bounds,
}

/// What memories and tables may take: random modules make them grow by whatever number they have. A run that wants more
/// ends.
pub(super) struct Bounds(pub(super) StoreLimits);

/// Bytes of a memory, and entries of a table.
pub(super) const MEMORY: usize = 64 << 20;
pub(super) const ENTRIES: usize = 1 << 20;

impl Default for Bounds {
    fn default() -> Bounds {
        let bounds = StoreLimitsBuilder::new().memory_size(MEMORY).table_elements(ENTRIES);
        Bounds(bounds.trap_on_grow_failure(true).build())
    }
}

/// How many bytes go in or out at once.
const AT_ONCE: usize = 7;

/// The numbers of WASI for what went wrong.
const BAD_HANDLE: u32 = 8;
const IS_FOLDER: u32 = 31;
const NO_ENTRY: u32 = 44;
const NO_FOLDER: u32 = 54;

fn memory(caller: &Caller<'_, World>) -> Memory {
    caller.get_export("memory").and_then(Extern::into_memory).unwrap()
}

fn bytes(caller: &Caller<'_, World>, at: u32, length: u32) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    memory(caller).read(caller, at as usize, &mut bytes).unwrap();
    bytes
}

/// Where a buffer is and how long, from a list of one.
fn buffer(caller: &Caller<'_, World>, buffers: u32, count: u32) -> (u32, u32) {
    assert_eq!(count, 1);
    let words = bytes(caller, buffers, 8);
    let word = |at: usize| u32::from_le_bytes(words[at..at + 4].try_into().unwrap());
    (word(0), word(4))
}

fn put(caller: &mut Caller<'_, World>, at: u32, bytes: &[u8]) {
    memory(caller).write(caller, at as usize, bytes).unwrap();
}

impl World {
    pub(super) fn new(environment: &Environment) -> World {
        let mut world = World { input: environment.stdin.bytes().into(), ..World::default() };
        for (path, entry) in environment.files.iter() {
            match entry {
                Entry::File(bytes) => drop(world.files.insert(path.to_string(), bytes.to_vec())),
                Entry::Folder => world.folders.push(path.to_string()),
            }
            world.folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
        }
        world
    }

    pub(super) fn link(linker: &mut Linker<World>) -> Result<(), Error> {
        const WASI: &str = "wasi_snapshot_preview1";
        linker.func_wrap(WASI, "fd_write", World::write)?;
        linker.func_wrap(WASI, "fd_read", World::read)?;
        linker.func_wrap(WASI, "path_open", World::path_open)?;
        linker.func_wrap(WASI, "fd_close", World::close)?;
        Ok(())
    }

    fn opened(&mut self, file: u32) -> Option<&mut (String, usize, bool)> {
        self.open.get_mut(file.checked_sub(4)? as usize)?.as_mut()
    }

    fn write(mut caller: Caller<'_, World>, file: u32, buffers: u32, count: u32, written: u32) -> u32 {
        let (at, length) = buffer(&caller, buffers, count);
        let some = bytes(&caller, at, length.min(AT_ONCE as u32));
        let world = caller.data_mut();
        match (file, world.opened(file)) {
            (1, _) => world.output.extend(&some),
            (2, _) => {}
            (_, Some((path, at, true))) => {
                let (path, from) = (path.clone(), *at);
                *at += some.len();
                let held = world.files.get_mut(&path).unwrap();
                held.resize(held.len().max(from + some.len()), 0);
                held[from..from + some.len()].copy_from_slice(&some);
            }
            (_, _) => return BAD_HANDLE,
        }
        put(&mut caller, written, &(some.len() as u32).to_le_bytes());
        0
    }

    fn read(mut caller: Caller<'_, World>, file: u32, buffers: u32, count: u32, read: u32) -> u32 {
        let (to, length) = buffer(&caller, buffers, count);
        let most = AT_ONCE.min(length as usize);
        let world = caller.data_mut();
        let some: Vec<u8> = match (file, world.opened(file)) {
            (0, _) => {
                let some = most.min(world.input.len());
                world.input.drain(..some).collect()
            }
            (_, Some((path, at, false))) => {
                let (path, from) = (path.clone(), *at);
                let Some(held) = world.files.get(&path) else { return IS_FOLDER };
                let some: Vec<u8> = held.iter().skip(from).take(most).copied().collect();
                world.opened(file).unwrap().1 += some.len();
                some
            }
            (_, _) => return BAD_HANDLE,
        };
        put(&mut caller, to, &some);
        put(&mut caller, read, &(some.len() as u32).to_le_bytes());
        0
    }

    #[expect(clippy::too_many_arguments, reason = "they are WASI's")]
    fn path_open(
        mut caller: Caller<'_, World>,
        folder: u32,
        _look: u32,
        path: u32,
        length: u32,
        flags: u32,
        rights: u64,
        _inherited: u64,
        _status: u32,
        file: u32,
    ) -> u32 {
        assert_eq!(folder, 3);
        let path = String::from_utf8(bytes(&caller, path, length)).unwrap();
        let world = caller.data_mut();
        let writes = rights == 64;
        assert_eq!((writes, flags), if writes { (true, 9) } else { (false, 0) });
        let above = path.rsplit_once('/').map(|(above, _)| above);
        match above {
            Some(above) if world.files.contains_key(above) => return NO_FOLDER,
            Some(above) if !world.folders.iter().any(|folder| folder == above) => return NO_ENTRY,
            Some(_) | None => {}
        }
        match world.files.contains_key(&path) {
            // A folder is opened, too, and not read.
            false if world.folders.contains(&path) && !writes => {}
            false if world.folders.contains(&path) => return IS_FOLDER,
            false if !writes => return NO_ENTRY,
            false | true => {}
        }
        if writes {
            world.files.insert(path.clone(), Vec::new());
        }
        let free = world.open.iter().position(Option::is_none).unwrap_or(world.open.len());
        world.open.resize(world.open.len().max(free + 1), None);
        world.open[free] = Some((path, 0, writes));
        put(&mut caller, file, &(free as u32 + 4).to_le_bytes());
        0
    }

    fn close(mut caller: Caller<'_, World>, file: u32) -> u32 {
        let world = caller.data_mut();
        if world.opened(file).is_none() {
            return BAD_HANDLE;
        }
        world.open[file as usize - 4] = None;
        0
    }
}

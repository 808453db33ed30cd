//! A SQLite file system that records what is written and what is synced.
//!
//! It is the platform's own with four functions replaced, registered as the default; files outside recorded folders are
//! not touched.

#![expect(unsafe_code, reason = "SQLite reaches its file system through C function pointers")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libsqlite3_sys::{
    SQLITE_OK, SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_MAIN_JOURNAL, SQLITE_OPEN_WAL, sqlite3_file, sqlite3_int64,
    sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

/// Something that happened to a file of a recorded folder, or that the test noted.
#[derive(Debug, Clone)]
pub enum Event {
    /// Bytes were written.
    Write {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: usize,
        /// What.
        data: Vec<u8>,
    },
    /// The file was cut off or made longer.
    Truncate {
        /// The file.
        path: PathBuf,
        /// Its length from then on.
        len: usize,
    },
    /// What was written is on the disk for good.
    Sync {
        /// The file.
        path: PathBuf,
    },
    /// The file was deleted.
    Delete {
        /// The file.
        path: PathBuf,
    },
    /// The test has been told that an entry is stored.
    Acknowledged {
        /// The program, as the test counts them.
        program: usize,
        /// The entry's number.
        seq: u64,
    },
}

/// Which calls fail from now on, with which result code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Failing {
    /// Those that write.
    pub writes: Option<c_int>,
    /// Those that sync.
    pub syncs: Option<c_int>,
}

/// Records a folder until it is dropped.
#[derive(Debug)]
pub struct Recorder {
    dir: PathBuf,
}

impl Recorder {
    /// Records what is done to the files of a folder from now on.
    ///
    /// # Panics
    ///
    /// If there is no such folder.
    pub fn start(dir: &Path) -> Self {
        install();
        let dir = dir.canonicalize().expect("the folder is there");
        state().recordings.insert(dir.clone(), Recording::default());
        Self { dir }
    }

    /// Notes that the test has been told that an entry is stored.
    pub fn acknowledged(&self, program: usize, seq: u64) {
        self.with(|recording| recording.events.push(Event::Acknowledged { program, seq }));
    }

    /// Lets calls fail from now on.
    pub fn fail(&self, failing: Failing) {
        self.with(|recording| recording.failing = failing);
    }

    /// What has happened so far.
    pub fn events(&self) -> Vec<Event> {
        self.with(|recording| recording.events.clone())
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Recording) -> T) -> T {
        use_it(state().recordings.get_mut(&self.dir).expect("registered by `start`"))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        state().recordings.remove(&self.dir);
    }
}

#[derive(Default)]
struct Recording {
    events: Vec<Event>,
    failing: Failing,
}

/// Addresses stand for pointers: they are only compared, or given back to where they came from.
#[derive(Default)]
struct State {
    recordings: HashMap<PathBuf, Recording>,
    files: HashMap<usize, OpenFile>,
    /// Our function tables by the address of the platform's that they extend.
    tables: HashMap<usize, &'static sqlite3_io_methods>,
}

#[derive(Clone)]
struct OpenFile {
    path: PathBuf,
    platform: &'static sqlite3_io_methods,
}

fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn recording(&mut self, path: &Path) -> Option<&mut Recording> {
        self.recordings.get_mut(path.parent()?)
    }
}

/// The platform's file system, found once.
struct Platform(&'static sqlite3_vfs);

// SAFETY: SQLite itself shares the structure between threads and never changes it after start-up but for the list link.
unsafe impl Send for Platform {}
// SAFETY: as above.
unsafe impl Sync for Platform {}

static PLATFORM: OnceLock<Platform> = OnceLock::new();

fn install() {
    PLATFORM.get_or_init(|| {
        // SAFETY: null asks for the default file system, which lives as long as the process. Ours is a copy of it that is
        // leaked, so it does too.
        unsafe {
            let platform: &'static sqlite3_vfs = &*sqlite3_vfs_find(std::ptr::null());
            let ours = Box::leak(Box::new(*platform));
            ours.pNext = std::ptr::null_mut();
            ours.zName = c"lmlang-recording".as_ptr();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            assert_eq!(sqlite3_vfs_register(ours, 1), SQLITE_OK);
            Platform(platform)
        }
    });
}

fn platform() -> *mut sqlite3_vfs {
    std::ptr::from_ref(PLATFORM.get().expect("set before the first call").0).cast_mut()
}

unsafe extern "C" fn open(
    _vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are SQLite's, handed on to the function that it would have called; the file's size is that
    // of the platform's files.
    unsafe {
        let code = (*platform()).xOpen.expect("always there")(platform(), name, file, flags, out);
        let kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
        if code != SQLITE_OK || name.is_null() || flags & kinds == 0 {
            return code;
        }
        let path = PathBuf::from(CStr::from_ptr(name).to_str().expect("test folders have plain names"));
        let mut state = state();
        if state.recording(&path).is_some() {
            let platform: &'static sqlite3_io_methods = &*(*file).pMethods;
            let table = state.tables.entry(std::ptr::from_ref(platform).addr()).or_insert_with(|| {
                Box::leak(Box::new(sqlite3_io_methods {
                    xClose: Some(close),
                    xWrite: Some(write),
                    xTruncate: Some(truncate),
                    xSync: Some(sync),
                    ..*platform
                }))
            });
            (*file).pMethods = std::ptr::from_ref(*table);
            state.files.insert(file.addr(), OpenFile { path, platform });
        }
        code
    }
}

unsafe extern "C" fn delete(_vfs: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: as in `open`; `name` is a path that ends with a zero.
    unsafe {
        let path = PathBuf::from(CStr::from_ptr(name).to_str().expect("test folders have plain names"));
        let mut state = state();
        let code = (*platform()).xDelete.expect("always there")(platform(), name, sync_folder);
        if code == SQLITE_OK
            && let Some(recording) = state.recording(&path)
        {
            recording.events.push(Event::Delete { path });
        }
        code
    }
}

/// Calls the platform under the lock, so that the record has the order of the calls, and notes what succeeded.
fn recorded(
    file: *mut sqlite3_file,
    fails: impl FnOnce(&Failing) -> Option<c_int>,
    call: impl FnOnce(&sqlite3_io_methods) -> c_int,
    event: impl FnOnce(PathBuf) -> Event,
) -> c_int {
    let mut state = state();
    let OpenFile { path, platform } = state.files[&file.addr()].clone();
    let failing = state.recording(&path).map(|recording| recording.failing).unwrap_or_default();
    if let Some(code) = fails(&failing) {
        return code;
    }
    let code = call(platform);
    if code == SQLITE_OK
        && let Some(recording) = state.recording(&path)
    {
        recording.events.push(event(path));
    }
    code
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    len: c_int,
    offset: sqlite3_int64,
) -> c_int {
    recorded(
        file,
        |failing| failing.writes,
        // SAFETY: SQLite's own arguments, for the platform's function.
        |platform| unsafe { platform.xWrite.expect("always there")(file, data, len, offset) },
        |path| {
            // SAFETY: SQLite promises `len` bytes at `data`.
            let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len as usize) };
            Event::Write { path, offset: offset as usize, data: data.to_vec() }
        },
    )
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, len: sqlite3_int64) -> c_int {
    recorded(
        file,
        |failing| failing.writes,
        // SAFETY: SQLite's own arguments, for the platform's function.
        |platform| unsafe { platform.xTruncate.expect("always there")(file, len) },
        |path| Event::Truncate { path, len: len as usize },
    )
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    recorded(
        file,
        |failing| failing.syncs,
        // SAFETY: SQLite's own arguments, for the platform's function.
        |platform| unsafe { platform.xSync.expect("always there")(file, flags) },
        |path| Event::Sync { path },
    )
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let open = state().files.remove(&file.addr()).expect("opened by `open`");
    // SAFETY: SQLite's own argument, for the platform's function. Not under the lock: closing may delete.
    unsafe { open.platform.xClose.expect("always there")(file) }
}

//! The lock that lets one process at a time open a database file.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

/// The process that has a database open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// The machine it runs on.
    pub host: String,
    /// When it opened the database, in seconds since the start of 1970, UTC.
    pub started: u64,
    /// Where it answers requests: a URL that holds on its machine.
    pub address: Option<String>,
}

impl Holder {
    /// Where the holder answers requests, if this is its machine.
    #[must_use]
    pub fn reachable(&self) -> Option<&str> {
        self.address.as_deref().filter(|_| *self.host == *gethostname::gethostname().to_string_lossy())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// Why the lock was not taken.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Somebody has it; `None` while the holder has not yet written who it is.
    Held(Option<Holder>),
    Io(io::Error),
}

/// An exclusive lock on a file beside the database; the operating system releases it however the process ends.
///
/// The file itself stays: removing it would let two processes lock two files of the same name.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    pub(crate) fn take(database: &Path, address: Option<&str>) -> Result<Self, LockError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(lock_path(database))
            .map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(read_holder(&mut file))),
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
        }
        write_holder(&mut file, address).map_err(LockError::Io)?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would not do: a child that is just being started has the file as well, until it runs its own program.
        self.file.unlock().ok();
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".lock");
    database.with_file_name(name)
}

fn write_holder(file: &mut File, address: Option<&str>) -> io::Result<()> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (pid, host) = (process::id(), gethostname::gethostname());
    let address = address.map(|address| format!("address {address}\n")).unwrap_or_default();
    file.set_len(0)?;
    file.rewind()?;
    // What tells that all is there comes last.
    let host = host.to_string_lossy();
    file.write_all(format!("pid {pid}\nhost {host}\n{address}started {started}\n").as_bytes())
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    parse_holder(&text)
}

fn parse_holder(text: &str) -> Option<Holder> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Some(Holder {
        pid: field("pid")?.parse().ok()?,
        host: field("host")?.to_owned(),
        started: field("started")?.parse().ok()?,
        address: field("address").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holder_is_read_back_or_not_at_all() {
        let mut holder = Holder { pid: 7, host: "a b".to_owned(), started: 9, address: None };
        assert_eq!(parse_holder("pid 7\nhost a b\nstarted 9\n"), Some(holder.clone()));
        assert_eq!(holder.reachable(), None);
        holder.address = Some("http://x".to_owned());
        assert_eq!(parse_holder("pid 7\nhost a b\naddress http://x\nstarted 9\n"), Some(holder.clone()));
        assert_eq!(holder.reachable(), None, "it is on another machine");
        assert_eq!(parse_holder(""), None);
        assert_eq!(parse_holder("pid 7\nhost a\nstart"), None);
    }

    #[test]
    fn lock_file_is_named_after_the_database() {
        assert_eq!(lock_path(Path::new("/x/lmlang.db")), Path::new("/x/lmlang.db.lock"));
    }
}

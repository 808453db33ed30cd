//! Whether the file of a database is where it was opened.
//!
//! SQLite goes on with a file that is moved or removed meanwhile: what it writes then, nobody finds afterwards.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file under the name by which it was opened.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    path: PathBuf,
    number: u64,
}

impl Place {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), number: number(&fs::metadata(path)?) })
    }

    /// Whether it is there still. That it cannot be looked at for another reason is no sign of the contrary.
    pub(crate) fn is_kept(&self) -> bool {
        match fs::metadata(&self.path) {
            Ok(file) => number(&file) == self.number,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

/// What tells a file from others that have had its name.
#[cfg(unix)]
fn number(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn number(_file: &Metadata) -> u64 {
    0
}

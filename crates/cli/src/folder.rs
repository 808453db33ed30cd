//! A folder that a program is given: its files are read before a run and written after it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use lmlang_interp::{Files, Written};

use crate::error::Error;

/// A folder on the disk.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Folder, Error> {
        let root = fs::canonicalize(path).map_err(cannot_read(path))?;
        Ok(Folder { root })
    }

    /// All files below; links are not followed. Fails where they are more than so many bytes.
    pub(crate) fn read(&self, most: u64) -> Result<Files, Error> {
        let (mut files, mut bytes) = (Files::new(), 0);
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(cannot_read(&folder))?;
            for entry in entries {
                let entry = entry.map_err(cannot_read(&folder))?;
                let path = entry.path();
                let kind = entry.file_type().map_err(cannot_read(&path))?;
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    // A name that is no text is none that a program could say.
                    let Some(name) = self.name(&path) else { continue };
                    let length = entry.metadata().map_err(cannot_read(&path))?.len();
                    bytes += length;
                    if bytes > most {
                        let why = format!("its files have more than {most} bytes");
                        let why = io::Error::new(io::ErrorKind::FileTooLarge, why);
                        return Err(cannot_read(&self.root)(why));
                    }
                    let content = fs::read(&path).map_err(cannot_read(&path))?;
                    files.insert(name, content.into());
                }
            }
        }
        Ok(files)
    }

    /// The path of a file from the folder on.
    fn name(&self, path: &Path) -> Option<Arc<str>> {
        let inside = path.strip_prefix(&self.root).ok()?;
        let parts: Option<Vec<&str>> = inside
            .components()
            .map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
            .collect();
        Some(parts?.join("/").into())
    }

    /// Writes what a run wrote, and removes what it removed. Nothing is done where a link could lead out of the folder.
    pub(crate) fn write(&self, written: &Written) -> Result<(), Error> {
        for name in written.keys() {
            let mut path = self.root.clone();
            for part in name.split('/') {
                path.push(part);
                if path.is_symlink() {
                    return Err(cannot_write(&path)(io::ErrorKind::PermissionDenied.into()));
                }
            }
        }
        let paths = written.iter().map(|(name, content)| (self.root.join(&**name), content));
        let (made, removed): (Vec<_>, Vec<_>) = paths.partition(|(_, content)| content.is_some());
        for (path, _) in removed {
            // It may have been made in the run, too.
            if path.exists() {
                fs::remove_file(&path).map_err(cannot_write(&path))?;
            }
        }
        for (path, content) in made {
            // A folder that has become empty is none of the program's.
            if path.is_dir() {
                fs::remove_dir(&path).map_err(cannot_write(&path))?;
            }
            fs::create_dir_all(path.parent().unwrap_or(&self.root)).map_err(cannot_write(&path))?;
            fs::write(&path, content.as_deref().unwrap_or_default()).map_err(cannot_write(&path))?;
        }
        Ok(())
    }
}

fn cannot_read(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |source| Error::Read { path: path.to_owned(), source }
}

fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |source| Error::Write { path: path.to_owned(), source }
}

//! A folder that a program is given: what is in it is read before a run and written after it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use lmlang_interp::{Entry, Files, Written};

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

    /// All files and folders below; links are not followed. Fails where they are more than so many bytes.
    pub(crate) fn read(&self, most: u64) -> Result<Files, Error> {
        let (mut files, mut bytes) = (Files::new(), 0);
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(cannot_read(&folder))?;
            for entry in entries {
                let entry = entry.map_err(cannot_read(&folder))?;
                let path = entry.path();
                let kind = entry.file_type().map_err(cannot_read(&path))?;
                // A name that is no text is none that a program could say.
                let Some(name) = self.name(&path) else { continue };
                if kind.is_dir() {
                    files.insert(name, Entry::Folder);
                    folders.push(path);
                } else if kind.is_file() {
                    let length = entry.metadata().map_err(cannot_read(&path))?.len();
                    bytes += length;
                    if bytes > most {
                        let why = format!("its files have more than {most} bytes");
                        let why = io::Error::new(io::ErrorKind::FileTooLarge, why);
                        return Err(cannot_read(&self.root)(why));
                    }
                    let content = fs::read(&path).map_err(cannot_read(&path))?;
                    files.insert(name, Entry::File(content.into()));
                }
            }
        }
        Ok(files)
    }

    /// The path of something from the folder on.
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

    /// Makes and writes what a run did, and removes what it removed, in this order: what was renamed is never nowhere.
    /// Nothing is done where a link could lead out of the folder, and nothing removed that the program did not see.
    pub(crate) fn write(&self, written: &Written) -> Result<(), Error> {
        for name in written.keys() {
            let mut path = self.root.clone();
            for part in name.split('/') {
                // Some systems read more into a name than a program did.
                let plain = Path::new(part).components().eq([Component::Normal(part.as_ref())]);
                path.push(part);
                if !plain || path.is_symlink() {
                    return Err(cannot_write(&path)(io::ErrorKind::PermissionDenied.into()));
                }
            }
        }
        // Behind each other stand a folder and what is in it: the other way round is the order to remove them in.
        let gone = written.iter().rev().filter(|(_, entry)| entry.is_none()).map(|(name, _)| name);
        let is_file = |name: &str| matches!(written.get(name), Some(Some(Entry::File(_))));
        let (in_the_way, rest): (Vec<_>, Vec<_>) =
            gone.partition(|name| name.match_indices('/').any(|(at, _)| is_file(&name[..at])));
        for name in in_the_way {
            remove(&self.root.join(&**name))?;
        }
        for (name, entry) in written {
            let path = self.root.join(&**name);
            match entry {
                Some(Entry::Folder) => {
                    if path.is_file() {
                        remove(&path)?;
                    }
                    fs::create_dir_all(&path).map_err(cannot_write(&path))?;
                }
                Some(Entry::File(content)) => {
                    if path.is_dir() {
                        remove(&path)?;
                    }
                    fs::write(&path, content).map_err(cannot_write(&path))?;
                }
                None => {}
            }
        }
        rest.into_iter().try_for_each(|name| remove(&self.root.join(&**name)))
    }
}

/// Removes a file, or a folder that has become empty.
fn remove(path: &Path) -> Result<(), Error> {
    let removed = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(cannot_write(path)),
    }
}

fn cannot_read(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |source| Error::Read { path: path.to_owned(), source }
}

fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |source| Error::Write { path: path.to_owned(), source }
}

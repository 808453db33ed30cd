//! A folder that a program is given: what is in it is read before a run and written after it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use lmlang_interp::{Entry, Files, Written};

use crate::error::Error;
use crate::replacing::replace;

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

    /// All files and folders below; links are not followed. Fails where they are more than so many bytes. What has a name that
    /// is no text is left out, and told: no program could say it.
    pub(crate) fn read(&self, most: u64) -> Result<(Files, Vec<PathBuf>), Error> {
        let (mut files, mut nameless, mut bytes) = (Files::new(), Vec::new(), 0);
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(cannot_read(&folder))?;
            for entry in entries {
                let entry = entry.map_err(cannot_read(&folder))?;
                let path = entry.path();
                let kind = entry.file_type().map_err(cannot_read(&path))?;
                if !kind.is_dir() && !kind.is_file() {
                    continue;
                }
                let Some(name) = self.name(&path) else {
                    nameless.push(path);
                    continue;
                };
                if kind.is_dir() {
                    files.insert(name, Entry::Folder);
                    folders.push(path);
                } else {
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
        nameless.sort_unstable();
        Ok((files, nameless))
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

    /// Makes and writes what a run did, and removes what it removed, in this order: what was renamed is never nowhere. So
    /// nothing is removed where not all is written. What fails does not keep others from being done; all of it is told.
    ///
    /// Nothing is done where a link could lead out of the folder, and nothing removed that the program did not see.
    pub(crate) fn write(&self, written: &Written) -> Vec<Error> {
        // Behind each other stand a folder and what is in it: the other way round is the order to remove them in.
        let gone = written.iter().rev().filter(|(_, entry)| entry.is_none()).map(|(name, _)| name);
        let is_file = |name: &str| matches!(written.get(name), Some(Some(Entry::File(_))));
        let (in_the_way, rest): (Vec<_>, Vec<_>) =
            gone.partition(|name| name.match_indices('/').any(|(at, _)| is_file(&name[..at])));
        let removed = |name: &Arc<str>| self.path(name).and_then(|path| remove(&path)).err();
        let mut failed: Vec<Error> = in_the_way.into_iter().filter_map(removed).collect();
        for (name, entry) in written {
            if let Some(entry) = entry {
                failed.extend(self.path(name).and_then(|path| put(&path, entry)).err());
            }
        }
        match failed.is_empty() {
            true => rest.into_iter().filter_map(removed).collect(),
            false => {
                failed.extend(rest.into_iter().map(|name| Error::Kept(self.root.join(&**name))));
                failed
            }
        }
    }

    /// Where a name lies, unless it leads elsewhere.
    fn path(&self, name: &str) -> Result<PathBuf, Error> {
        let (path, mut part_of) = (self.root.join(name), self.root.clone());
        for part in name.split('/') {
            // Some systems read more into a name than a program did.
            let plain = Path::new(part).components().eq([Component::Normal(part.as_ref())]);
            part_of.push(part);
            if !plain || part_of.is_symlink() {
                let what = if plain { "is a link" } else { "is no name of a file here" };
                let why = format!("`{}` {what}", part_of.display());
                return Err(cannot_write(&path)(io::Error::new(io::ErrorKind::PermissionDenied, why)));
            }
        }
        Ok(path)
    }
}

/// Writes a file or makes a folder, in the place of what is there.
fn put(path: &Path, entry: &Entry) -> Result<(), Error> {
    match entry {
        Entry::Folder => {
            if path.is_file() {
                remove(path)?;
            }
            fs::create_dir_all(path).map_err(cannot_write(path))
        }
        Entry::File(content) => {
            if path.is_dir() {
                remove(path)?;
            }
            replace(path, content).map_err(cannot_write(path))
        }
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

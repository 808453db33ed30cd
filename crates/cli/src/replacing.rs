//! Files that are replaced: what was there stays until all that comes instead is on the disk.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use lmlang_store::{folder_of, sync_folder};
use tempfile::{Builder, NamedTempFile};

/// Writes a file. What is there is replaced as a whole, or stays: the content is written beside it, and gets its name.
///
/// A link stays one, and the file keeps its permissions and its owner. Where these cannot be kept, where the file has other names,
/// and in a folder that takes no new file, it is written in its place; so is what is no file, as a pipe is none.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let Ok(found) = fs::metadata(path) else { return fs::write(path, content) };
    if !found.is_file() {
        return fs::write(path, content);
    }
    let target = fs::canonicalize(path)?;
    // What nobody may write is not replaced either.
    File::options().write(true).open(&target)?;
    let Some(mut part) = beside(&target, &found)? else { return fs::write(&target, content) };
    part.write_all(content)?;
    part.as_file().sync_all()?;
    match part.persist(&target) {
        Ok(_) => sync_folder(folder_of(&target)),
        // Something else holds the name: it is that of a file that was mounted there.
        Err(failed) if failed.error.kind() == io::ErrorKind::ResourceBusy => fs::write(&target, content),
        Err(failed) => Err(failed.error),
    }
}

/// An empty file in the folder of another one, which can take its place; none where there can be no such file.
fn beside(target: &Path, found: &Metadata) -> io::Result<Option<NamedTempFile>> {
    if has_other_names(found) {
        return Ok(None);
    }
    match Builder::new().prefix(".lmlang-").suffix(".part").tempfile_in(folder_of(target)) {
        Ok(part) => Ok(take_over(part.as_file(), found).is_ok().then_some(part)),
        Err(error) => match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(unix)]
fn has_other_names(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

#[cfg(not(unix))]
fn has_other_names(_found: &Metadata) -> bool {
    false
}

/// Gives a file the owner and the permissions of another one.
#[cfg(unix)]
fn take_over(part: &File, found: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let made = part.metadata()?;
    if (made.uid(), made.gid()) != (found.uid(), found.gid()) {
        std::os::unix::fs::fchown(part, Some(found.uid()), Some(found.gid()))?;
    }
    part.set_permissions(found.permissions())
}

#[cfg(not(unix))]
fn take_over(part: &File, found: &Metadata) -> io::Result<()> {
    part.set_permissions(found.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_link_and_permissions_stay_and_the_file_is_another_one() {
        let folder = TempDir::new().unwrap();
        let (file, link) = (folder.path().join("m.lm"), folder.path().join("link.lm"));
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("m.lm", &link).unwrap();
        let before = fs::metadata(&file).unwrap().ino();
        replace(&link, b"two").unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("m.lm"));
        let after = fs::metadata(&file).unwrap();
        assert_eq!((after.mode() & 0o777, after.ino() != before), (0o640, true));
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside");
    }

    #[test]
    fn other_names_of_a_file_stay_its_names() {
        let folder = TempDir::new().unwrap();
        let (file, other) = (folder.path().join("m.lm"), folder.path().join("other.lm"));
        fs::write(&file, "one").unwrap();
        fs::hard_link(&file, &other).unwrap();
        replace(&file, b"two").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"two");
    }

    #[test]
    fn a_file_that_nobody_may_write_stays() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("m.lm");
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        // Who may do everything may also write it.
        let may = File::options().write(true).open(&file).is_ok();
        assert_eq!(replace(&file, b"two").is_ok(), may);
        assert_eq!(fs::read(&file).unwrap(), if may { b"two" } else { b"one" });
    }

    #[test]
    fn a_folder_that_takes_no_file_has_it_written_in_its_place() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("m.lm");
        fs::write(&file, "one").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let replaced = replace(&file, b"two");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        replaced.unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
    }

    #[test]
    fn what_is_not_there_is_made() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("m.lm");
        replace(&file, b"one").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"one");
        let failed = replace(&folder.path().join("none/m.lm"), b"one").unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::NotFound);
    }
}

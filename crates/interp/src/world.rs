//! What is outside of a program in a run: standard input and output, and files that live in memory.
//!
//! Files are found by path, as on a disk whose root is all there is; folders are what paths have before a slash. What a
//! program does to files is seen by itself alone: [`World::written`] tells the caller what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// Files by path, `/` between folders, with their content.
pub type Files = BTreeMap<Arc<str>, Arc<[u8]>>;

/// What became of files, by path: their content, or nothing of one that was removed.
pub type Written = BTreeMap<Arc<str>, Option<Arc<[u8]>>>;

/// What a run is given besides its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Standard input.
    pub stdin: Arc<str>,
    /// The files that there are at the start.
    pub files: Arc<Files>,
    /// What random bytes follow from.
    pub seed: u64,
}

/// Why something of the world is refused: as WASI numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Errno {
    BadHandle = 8,
    Exists = 20,
    Fault = 21,
    Invalid = 28,
    IsFolder = 31,
    TooManyOpen = 33,
    NameTooLong = 37,
    NoEntry = 44,
    NotSupported = 52,
    NotFolder = 54,
    IsPipe = 70,
}

impl Errno {
    /// What an operator gives in place of a handle or a length.
    pub(crate) fn negative(self) -> u64 {
        u64::from((-(self as i32)).cast_unsigned())
    }
}

/// The standard streams, which are open from the start.
pub(crate) const STDIN: u32 = 0;
pub(crate) const STDOUT: u32 = 1;
pub(crate) const STDERR: u32 = 2;
/// The root of all files, as WASI hands it out.
pub(crate) const ROOT: u32 = 3;
/// The first handle of a file that a program opens.
const FIRST: u32 = 4;
/// Files that may be open at a time.
const MOST_OPEN: usize = 1_024;
/// Bytes of a path.
const LONGEST: usize = 4_096;
/// What a file takes besides its path and its content.
const ENTRY: u64 = 128;

/// Text that grows by bytes: what is cut in the middle of a character waits for the rest.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) text: String,
    rest: Vec<u8>,
}

impl Output {
    fn len(&self) -> u64 {
        (self.text.len() + self.rest.len()) as u64
    }

    /// Adds bytes; what is no text becomes the replacement character.
    fn push(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let mut from = 0;
        loop {
            match std::str::from_utf8(&self.rest[from..]) {
                Ok(text) => {
                    self.text.push_str(text);
                    self.rest.clear();
                    return;
                }
                Err(error) => {
                    let valid = from + error.valid_up_to();
                    self.text.push_str(&String::from_utf8_lossy(&self.rest[from..valid]));
                    let Some(bad) = error.error_len() else {
                        self.rest.drain(..valid);
                        return;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    from = valid + bad;
                }
            }
        }
    }

    /// All of it, with what is left of a character that never came.
    fn take(&mut self) -> String {
        if !std::mem::take(&mut self.rest).is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        std::mem::take(&mut self.text)
    }
}

/// A file that is open: it stays what it is, whatever it is called meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    file: usize,
    pub(crate) at: u64,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) appends: bool,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) appends: bool,
    pub(crate) creates: bool,
    pub(crate) is_new: bool,
    pub(crate) empties: bool,
}

/// What a run has to do with what is outside.
#[derive(Debug, Default)]
pub(crate) struct World {
    stdin: Arc<str>,
    stdin_at: usize,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    /// Bytes of output that there may be.
    limit: u64,
    /// Positions in `contents`.
    files: BTreeMap<Arc<str>, usize>,
    contents: Vec<File>,
    /// Paths that were removed, or are of another file now.
    written: BTreeSet<Arc<str>>,
    open: Vec<Option<Open>>,
    /// Bytes of files that this run has written, with their paths.
    pub(crate) bytes: u64,
    random: u64,
    looks: u64,
}

/// What a file holds, and who holds it: its path and those who have it open.
#[derive(Debug)]
struct File {
    content: Content,
    holders: u32,
    written: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Given(Arc<[u8]>),
    Written(Vec<u8>),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Content::Given(bytes) => bytes,
            Content::Written(bytes) => bytes,
        }
    }
}

/// There is more output than there may be.
#[derive(Debug)]
pub(crate) struct Full;

impl World {
    pub(crate) fn new(given: &Environment, output_bytes: u64) -> World {
        let given_file = |bytes: &Arc<[u8]>| File {
            content: Content::Given(Arc::clone(bytes)),
            holders: 1,
            written: false,
        };
        World {
            stdin: Arc::clone(&given.stdin),
            limit: output_bytes,
            files: given.files.keys().map(Arc::clone).zip(0..).collect(),
            contents: given.files.values().map(given_file).collect(),
            random: given.seed,
            ..World::default()
        }
    }

    /// The output, that for errors, and the files that are not as they were.
    pub(crate) fn end(&mut self) -> (String, String, Written) {
        let mut changed = std::mem::take(&mut self.written);
        let touched = self.files.iter().filter(|(_, file)| self.contents[**file].written);
        changed.extend(touched.map(|(path, _)| Arc::clone(path)));
        let content = |path: &Arc<str>| Some(self.contents[*self.files.get(path)?].content.bytes().into());
        let written = changed.iter().map(|path| (Arc::clone(path), content(path))).collect();
        (self.stdout.take(), self.stderr.take(), written)
    }

    /// Prints a text; as much of it as there is room for.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Full> {
        self.write_stream(STDOUT, text.as_bytes())
    }

    fn write_stream(&mut self, stream: u32, bytes: &[u8]) -> Result<(), Full> {
        let room = self.limit.saturating_sub(self.stdout.len() + self.stderr.len());
        let output = if stream == STDERR { &mut self.stderr } else { &mut self.stdout };
        match bytes.get(..usize::try_from(room).unwrap_or(usize::MAX)) {
            Some(fits) if fits.len() < bytes.len() => {
                // No character is cut.
                let end = std::str::from_utf8(fits).map_or_else(|error| error.valid_up_to(), str::len);
                output.push(&fits[..end]);
                Err(Full)
            }
            Some(_) | None => {
                output.push(bytes);
                Ok(())
            }
        }
    }

    /// The next line of standard input without its end, and how many bytes it takes with it.
    pub(crate) fn line(&self) -> Option<(&str, usize)> {
        // What read bytes may have stopped inside of a character.
        let skipped = (self.stdin_at..).take_while(|at| !self.stdin.is_char_boundary(*at)).count();
        let rest = &self.stdin[self.stdin_at + skipped..];
        match rest.find('\n') {
            _ if rest.is_empty() => None,
            Some(end) => {
                let line = &rest[..end];
                Some((line.strip_suffix('\r').unwrap_or(line), skipped + end + 1))
            }
            None => Some((rest, skipped + rest.len())),
        }
    }

    /// Goes on behind a line of standard input.
    pub(crate) fn read_line(&mut self, bytes: usize) {
        self.stdin_at += bytes;
    }

    /// Bytes that opening or naming a file adds at most.
    pub(crate) fn cost_of_path(path: &str) -> u64 {
        path.len() as u64 + ENTRY
    }

    /// Opens a file.
    pub(crate) fn open(&mut self, path: &str, how: Opening) -> Result<u32, Errno> {
        let path = normal(path)?;
        let found = self.files.get(&path).copied();
        match found {
            Some(_) if how.is_new => return Err(Errno::Exists),
            Some(_) => {}
            None if self.is_folder(&path) => return Err(Errno::IsFolder),
            None if self.is_below_file(&path) => return Err(Errno::NotFolder),
            None if how.creates => {}
            None => return Err(Errno::NoEntry),
        }
        let free = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if free >= MOST_OPEN {
            return Err(Errno::TooManyOpen);
        }
        let file = match found {
            Some(file) => file,
            None => {
                self.bytes += World::cost_of_path(&path);
                self.contents.push(File { content: Content::Written(Vec::new()), holders: 1, written: true });
                self.files.insert(path, self.contents.len() - 1);
                self.contents.len() - 1
            }
        };
        if how.empties {
            self.forget(file);
            self.contents[file].written = true;
        }
        self.contents[file].holders += 1;
        let Opening { reads, writes, appends, .. } = how;
        let opened = Some(Open { file, at: 0, reads, writes, appends });
        match self.open.get_mut(free) {
            Some(slot) => *slot = opened,
            None => self.open.push(opened),
        }
        Ok(FIRST + free as u32)
    }

    /// A file that is open.
    pub(crate) fn opened(&mut self, handle: u32) -> Result<&mut Open, Errno> {
        let index = handle.checked_sub(FIRST).ok_or(Errno::BadHandle)? as usize;
        self.open.get_mut(index).and_then(Option::as_mut).ok_or(Errno::BadHandle)
    }

    pub(crate) fn close(&mut self, handle: u32) -> Result<(), Errno> {
        let file = self.opened(handle)?.file;
        self.open[(handle - FIRST) as usize] = None;
        self.let_go(file);
        Ok(())
    }

    /// One holds a file less.
    fn let_go(&mut self, file: usize) {
        self.contents[file].holders -= 1;
        if self.contents[file].holders == 0 {
            self.forget(file);
        }
    }

    /// Empties a file.
    fn forget(&mut self, file: usize) {
        if let Content::Written(bytes) =
            std::mem::replace(&mut self.contents[file].content, Content::Written(Vec::new()))
        {
            self.bytes -= bytes.len() as u64;
        }
    }

    /// What a handle can read from where it stands.
    pub(crate) fn ahead(&mut self, handle: u32) -> Result<&[u8], Errno> {
        if handle == STDIN {
            return Ok(&self.stdin.as_bytes()[self.stdin_at..]);
        }
        let Open { file, at, reads, .. } = *self.opened(handle)?;
        if !reads {
            return Err(Errno::BadHandle);
        }
        let bytes = self.contents[file].content.bytes();
        Ok(bytes.get(usize::try_from(at).unwrap_or(usize::MAX)..).unwrap_or_default())
    }

    /// Has a handle stand behind what was read.
    pub(crate) fn skip(&mut self, handle: u32, bytes: usize) -> Result<(), Errno> {
        if handle == STDIN {
            self.stdin_at += bytes;
        } else {
            self.opened(handle)?.at += bytes as u64;
        }
        Ok(())
    }

    /// Bytes that writing so much at a handle adds to the files: with all of one that nobody has written to yet, for it is
    /// copied. So many are moved, besides those that are written.
    pub(crate) fn growth_of_write(&mut self, handle: u32, bytes: u64) -> u64 {
        let Ok(Open { file, at, appends, writes: true, .. }) = self.opened(handle).copied() else { return 0 };
        let (copied, length) = match &self.contents[file].content {
            Content::Given(bytes) => (bytes.len() as u64, bytes.len() as u64),
            Content::Written(bytes) => (0, bytes.len() as u64),
        };
        match bytes {
            0 => 0,
            bytes => {
                copied + (if appends { length } else { at }).saturating_add(bytes).saturating_sub(length)
            }
        }
    }

    /// Writes where a handle stands.
    pub(crate) fn write(&mut self, handle: u32, bytes: &[u8]) -> Result<Result<(), Full>, Errno> {
        if handle == STDOUT || handle == STDERR {
            return Ok(self.write_stream(handle, bytes));
        }
        let Open { file, at, writes, appends, .. } = *self.opened(handle)?;
        if !writes {
            return Err(Errno::BadHandle);
        }
        if bytes.is_empty() {
            return Ok(Ok(()));
        }
        let File { content, written, .. } = &mut self.contents[file];
        *written = true;
        let mut held = match std::mem::replace(content, Content::Written(Vec::new())) {
            Content::Given(bytes) => {
                self.bytes += bytes.len() as u64;
                bytes.to_vec()
            }
            Content::Written(bytes) => bytes,
        };
        let before = held.len();
        let at = if appends { before } else { usize::try_from(at).unwrap_or(usize::MAX) };
        let end = at.saturating_add(bytes.len());
        if held.len() < end {
            held.resize(end, 0);
        }
        held[at..end].copy_from_slice(bytes);
        self.bytes += (held.len() - before) as u64;
        *content = Content::Written(held);
        self.opened(handle)?.at = end as u64;
        Ok(Ok(()))
    }

    /// The length of a file that is open.
    pub(crate) fn length_of(&mut self, handle: u32) -> Result<u64, Errno> {
        let file = self.opened(handle)?.file;
        Ok(self.contents[file].content.bytes().len() as u64)
    }

    /// The length of a file.
    pub(crate) fn length(&self, path: &str) -> Option<u64> {
        self.files.get(path).map(|file| self.contents[*file].content.bytes().len() as u64)
    }

    /// Whether a path has files below it.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        if path.is_empty() {
            return true;
        }
        let below = format!("{path}/");
        let first = self.files.range::<str, _>((Bound::Included(&*below), Bound::Unbounded)).next();
        first.is_some_and(|(found, _)| found.starts_with(&below))
    }

    /// Whether something above a path is a file, which has nothing below it.
    fn is_below_file(&self, path: &str) -> bool {
        path.match_indices('/').any(|(at, _)| self.files.contains_key(&path[..at]))
    }

    pub(crate) fn remove(&mut self, path: &str) -> Result<(), Errno> {
        let path = normal(path)?;
        let Some(gone) = self.files.remove(&path) else {
            return Err(if self.is_folder(&path) { Errno::IsFolder } else { Errno::NoEntry });
        };
        self.let_go(gone);
        self.bytes += World::cost_of_path(&path);
        self.written.insert(path);
        Ok(())
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Result<(), Errno> {
        let (from, to) = (normal(from)?, normal(to)?);
        if self.is_folder(&to) {
            return Err(Errno::IsFolder);
        }
        if !self.files.contains_key(&from) {
            return Err(Errno::NoEntry);
        }
        if self.is_below_file(&to) {
            return Err(Errno::NotFolder);
        }
        let Some(moved) = self.files.remove(&from) else { return Err(Errno::NoEntry) };
        self.bytes += World::cost_of_path(&from) + World::cost_of_path(&to);
        if let Some(gone) = self.files.insert(Arc::clone(&to), moved) {
            self.let_go(gone);
        }
        self.written.insert(from);
        self.written.insert(to);
        Ok(())
    }

    /// Eight bytes that look like chance: SplitMix64 (Steele, Lea, Flood 2014).
    pub(crate) fn random(&mut self) -> [u8; 8] {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31).to_le_bytes()
    }

    /// The time of a clock in nanoseconds: it stands still but for a microsecond at each look.
    pub(crate) fn clock(&mut self) -> u64 {
        self.looks += 1;
        1_000 * self.looks
    }
}

/// A path from the root, without `.` and `..`.
pub(crate) fn normal(path: &str) -> Result<Arc<str>, Errno> {
    if path.len() > LONGEST {
        return Err(Errno::NameTooLong);
    }
    if path.contains('\0') {
        return Err(Errno::Invalid);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or(Errno::NoEntry)?),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> World {
        let files = [("a.txt", &b"abc"[..]), ("dir/b.txt", b"def")];
        let files = files.map(|(path, bytes)| (Arc::from(path), Arc::from(bytes))).into();
        let given = Environment { stdin: "one\r\ntwo".into(), files: Arc::new(files), seed: 1 };
        World::new(&given, 8)
    }

    #[test]
    fn what_is_printed_is_text_and_ends_where_it_may() {
        let mut world = world();
        world.write(STDOUT, &[0xe2, 0x82]).unwrap().unwrap();
        assert_eq!(world.stdout.text, "");
        world.write(STDOUT, &[0xac, 0xff]).unwrap().unwrap();
        assert_eq!(world.stdout.text, "€\u{fffd}");
        assert!(world.write(STDERR, "ä€".as_bytes()).unwrap().is_err());
        assert_eq!(world.end().1, "ä");
    }

    #[test]
    fn files_are_read_written_and_told() {
        let mut world = world();
        let reads = Opening { reads: true, ..Opening::default() };
        let writes = Opening { writes: true, creates: true, ..Opening::default() };
        assert_eq!(world.open("none", reads), Err(Errno::NoEntry));
        assert_eq!(world.open("../a.txt", reads), Err(Errno::NoEntry));
        assert_eq!(world.open("dir", reads), Err(Errno::IsFolder));
        let a = world.open("./dir/../a.txt", reads).unwrap();
        assert_eq!(world.ahead(a), Ok(&b"abc"[..]));
        world.skip(a, 2).unwrap();
        assert_eq!(world.ahead(a), Ok(&b"c"[..]));
        // What is refused costs nothing.
        assert_eq!((world.write(a, b"x").err(), world.growth_of_write(a, 1)), (Some(Errno::BadHandle), 0));
        let b = world.open("a.txt", writes).unwrap();
        assert_eq!((world.growth_of_write(b, 4), b), (4, a + 1));
        world.write(b, b"wxyz").unwrap().unwrap();
        world.write(b, b"").unwrap().unwrap();
        assert_eq!(world.ahead(a), Ok(&b"yz"[..]));
        assert_eq!(world.bytes, 4);
        assert_eq!(world.open("a.txt/below", writes), Err(Errno::NotFolder));
        assert_eq!(world.open("a\0b", writes), Err(Errno::Invalid));
        world.close(a).unwrap();
        assert_eq!(world.ahead(a), Err(Errno::BadHandle));
        // Who has a file open keeps it, whatever it is called.
        let c = world.open("dir/b.txt", reads).unwrap();
        world.rename("dir/b.txt", "c.txt").unwrap();
        assert_eq!(world.ahead(c), Ok(&b"def"[..]));
        let gone = world.open("gone", writes).unwrap();
        world.write(gone, b"12345").unwrap().unwrap();
        let before = world.bytes;
        world.remove("gone").unwrap();
        assert!(world.bytes >= before);
        world.close(gone).unwrap();
        assert_eq!(world.bytes, before - 5 + World::cost_of_path("gone"));
        assert!(!world.is_folder("dir"));
        let (_, _, written) = world.end();
        let written: Vec<(&str, Option<&[u8]>)> =
            written.iter().map(|(path, bytes)| (&**path, bytes.as_deref())).collect();
        let expected =
            [("a.txt", Some(&b"wxyz"[..])), ("c.txt", Some(b"def")), ("dir/b.txt", None), ("gone", None)];
        assert_eq!(written, expected);
    }
}

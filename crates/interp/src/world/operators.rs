//! What operators do with the world outside. Each is asked first for what it takes, so that it can be refused before anything
//! has changed.

use lmlang_ir::Trap;

use super::{Errno, FIRST, Opening, ROOT, Refusal, TOP, World, normal};
use crate::machine::Stop;

/// What an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Bytes that it moves, which cost fuel beyond its node.
    pub(crate) moved: u64,
    /// Bytes that there must be room for.
    pub(crate) room: u64,
}

/// A piece of the input that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead(usize);

impl Ahead {
    pub(crate) fn bytes(self) -> usize {
        self.0
    }
}

impl World {
    /// What `read_line` would take of standard input, the end of the line with it.
    pub(crate) fn line_ahead(&mut self) -> Result<Ahead, Stop> {
        self.line().map(|line| Ahead(line.len()))
    }

    /// `read_line`: the line without its end, nothing at the end of all.
    pub(crate) fn read_line(&mut self, ahead: Ahead) -> Result<Option<String>, Stop> {
        if ahead.0 == 0 {
            return Ok(None);
        }
        let line = self.line()?;
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let line = std::str::from_utf8(line).map_err(|_| Stop::Trap(Trap::InvalidUtf8))?.to_owned();
        self.skip_input(ahead.0);
        Ok(Some(line))
    }

    /// What `file.open` takes.
    pub(crate) fn open_takes(&self, path: &str) -> Takes {
        Takes { moved: path.len() as u64, room: self.tree.cost_of_path(TOP, path) }
    }

    /// `file.open`: a handle, or a negative error.
    pub(crate) fn open_file(&mut self, path: &str, writes: bool) -> i32 {
        let how = Opening { reads: !writes, writes, creates: writes, empties: writes, ..Opening::default() };
        let opened = normal(path).and_then(|path| self.open(TOP, &path, how));
        opened.map_or_else(Errno::negative, u32::cast_signed)
    }

    /// What `file.read` would give at most; what cannot be read has no bytes.
    pub(crate) fn file_ahead(&mut self, handle: u32, most: usize) -> Result<Ahead, Stop> {
        match self.ahead_to(handle, most) {
            Ok(bytes) => Ok(Ahead(bytes.len())),
            Err(Refusal::Errno(_)) => Ok(Ahead(0)),
            Err(Refusal::Stop(stop)) => Err(stop),
        }
    }

    /// `file.read`.
    pub(crate) fn read_file(&mut self, handle: u32, ahead: Ahead) -> Result<Vec<u8>, Stop> {
        if ahead.0 == 0 {
            return Ok(Vec::new());
        }
        let bytes = self.ahead_to(handle, ahead.0).map_err(|_| Stop::Broken)?.to_vec();
        self.skip(handle, ahead.0).map_err(|_| Stop::Broken)?;
        Ok(bytes)
    }

    /// What `file.write` takes.
    pub(crate) fn write_takes(&self, handle: u32, bytes: u64) -> Takes {
        let growth = self.growth_of_write(handle, bytes);
        Takes { moved: bytes.saturating_add(growth), room: growth }
    }

    /// `file.write`: how many bytes, or a negative error.
    pub(crate) fn write_file(&mut self, handle: u32, bytes: &[u8]) -> Result<i32, Stop> {
        // Operators know of no folders.
        if handle == ROOT {
            return Ok(Errno::BadHandle.negative());
        }
        match self.write(handle, bytes) {
            Ok(written) => {
                written?;
                Ok(bytes.len() as i32)
            }
            Err(errno) => Ok(errno.negative()),
        }
    }

    /// `file.close`. What is open from the start stays so, and a handle of nothing is closed already.
    pub(crate) fn close_file(&mut self, handle: u32) {
        if handle >= FIRST {
            self.close(handle).unwrap_or_default();
        }
    }
}

//! The world of a run, for what executes programs otherwise than instruction by instruction.

use crate::world::{Environment, Full, Opening, World, Written};

/// Standard input and output and files, as operators see them. What an operator costs beyond its node is told in bytes, of
/// which 64 are a unit of fuel.
#[derive(Debug)]
pub struct Outside {
    world: World,
    most: u64,
}

/// There is more output than there may be, or something that no operator can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond;

impl From<Full> for Beyond {
    fn from(_: Full) -> Beyond {
        Beyond
    }
}

impl Outside {
    /// What is given, and how many bytes of output there may be.
    pub fn new(given: &Environment, output_bytes: u64) -> Outside {
        Outside { world: World::new(given, output_bytes), most: 0 }
    }

    /// `print`.
    ///
    /// # Errors
    ///
    /// There is too much output.
    pub fn print(&mut self, text: &str) -> Result<u64, Beyond> {
        self.world.print(text)?;
        Ok(text.len() as u64)
    }

    /// `read_line`.
    pub fn read_line(&mut self) -> (Option<String>, u64) {
        let line = self.world.line().map(|(line, used)| (line.to_owned(), used));
        let used = line.as_ref().map_or(0, |(_, used)| *used);
        self.world.read_line(used);
        (line.map(|(line, _)| line), used as u64)
    }

    /// `file.open`: a handle, or a negative error.
    pub fn open(&mut self, path: &str, writes: bool) -> (u32, u64) {
        let cost = World::cost_of_path(path);
        self.note(cost);
        let how = Opening { reads: !writes, writes, creates: writes, empties: writes, ..Opening::default() };
        let opened = self.world.open(path, how).unwrap_or_else(|errno| errno.negative() as u32);
        (opened, cost)
    }

    /// `file.read`: at most so many bytes.
    ///
    /// # Errors
    ///
    /// The handle cannot stand where it should.
    pub fn read(&mut self, handle: u32, most: usize) -> Result<(Vec<u8>, u64), Beyond> {
        // What cannot be read has no bytes.
        let ahead = self.world.ahead(handle).unwrap_or_default();
        let bytes = ahead[..ahead.len().min(most)].to_vec();
        if !bytes.is_empty() {
            self.world.skip(handle, bytes.len()).map_err(|_| Beyond)?;
        }
        let cost = bytes.len() as u64;
        Ok((bytes, cost))
    }

    /// `file.write`: how many bytes, or a negative error.
    ///
    /// # Errors
    ///
    /// There is too much output.
    pub fn write(&mut self, handle: u32, bytes: &[u8]) -> Result<(u32, u64), Beyond> {
        let growth = self.world.growth_of_write(handle, bytes.len() as u64);
        self.note(growth);
        let written = match self.world.write(handle, bytes) {
            Ok(written) => {
                written?;
                bytes.len() as u32
            }
            Err(errno) => errno.negative() as u32,
        };
        Ok((written, bytes.len() as u64 + growth))
    }

    /// `file.close`.
    pub fn close(&mut self, handle: u32) {
        // A handle of nothing is closed already.
        self.world.close(handle).unwrap_or_default();
    }

    /// Bytes of files that were written.
    pub fn bytes(&self) -> u64 {
        self.world.bytes
    }

    /// The most bytes of files that were asked for, with those that were written.
    pub fn most_bytes(&self) -> u64 {
        self.most
    }

    /// What was printed, what went to standard error, and what became of files.
    pub fn end(&mut self) -> (String, String, Written) {
        self.world.end()
    }

    fn note(&mut self, more: u64) {
        self.most = self.most.max(self.world.bytes.saturating_add(more));
    }
}

//! The world of a run, for what executes programs otherwise than instruction by instruction.

use crate::machine::Stop;
use crate::world::{Environment, Errno, FIRST, Full, Opening, ROOT, Refusal, TOP, World, Written, normal};

/// Standard input and output and files, as operators see them. What an operator costs beyond its node is told in bytes, of
/// which 64 are a unit of fuel.
#[derive(Debug)]
pub struct Outside {
    world: World,
    most: u64,
}

/// Why an operator gives nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The run stops here.
    Stops,
    /// It waits for input: the same again after [`Outside::feed`].
    Waits,
}

impl From<Full> for Beyond {
    fn from(_: Full) -> Beyond {
        Beyond::Stops
    }
}

impl From<Stop> for Beyond {
    fn from(stop: Stop) -> Beyond {
        if stop == Stop::Input { Beyond::Waits } else { Beyond::Stops }
    }
}

impl Outside {
    /// What is given, and how many bytes of output there may be.
    pub fn new(given: &Environment, output_bytes: u64) -> Outside {
        Outside { world: World::new(given, output_bytes), most: 0 }
    }

    /// Gives more of standard input; an empty piece is the end of it. Tells how many bytes have come.
    pub fn feed(&mut self, piece: &[u8]) -> u64 {
        self.world.input.push(piece);
        self.world.input.bytes().len() as u64
    }

    /// What was printed so far, and what went to standard error.
    pub fn printed(&self) -> (&[u8], &[u8]) {
        (&self.world.stdout, &self.world.stderr)
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
    ///
    /// # Errors
    ///
    /// The line is no text, or has not come yet.
    pub fn read_line(&mut self) -> Result<(Option<String>, u64), Beyond> {
        let line = self.world.line()?;
        let used = line.len();
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let text = match used {
            0 => None,
            _ => Some(std::str::from_utf8(line).map_err(|_| Beyond::Stops)?.to_owned()),
        };
        self.world.skip_input(used);
        Ok((text, used as u64))
    }

    /// `file.open`: a handle, or a negative error.
    pub fn open(&mut self, path: &str, writes: bool) -> (u32, u64) {
        self.note(self.world.tree.cost_of_path(TOP, path));
        let how = Opening { reads: !writes, writes, creates: writes, empties: writes, ..Opening::default() };
        let opened = normal(path).and_then(|path| self.world.open(TOP, &path, how));
        (opened.unwrap_or_else(|errno| errno.negative() as u32), path.len() as u64)
    }

    /// `file.read`: at most so many bytes.
    ///
    /// # Errors
    ///
    /// What is to be read has not come yet.
    pub fn read(&mut self, handle: u32, most: usize) -> Result<(Vec<u8>, u64), Beyond> {
        let bytes = match self.world.ahead_to(handle, most) {
            Ok(bytes) => bytes.to_vec(),
            // What cannot be read has no bytes.
            Err(Refusal::Errno(_)) => Vec::new(),
            Err(Refusal::Stop(stop)) => return Err(stop.into()),
        };
        if !bytes.is_empty() {
            self.world.skip(handle, bytes.len()).map_err(|_| Beyond::Stops)?;
        }
        self.note(bytes.len() as u64);
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
            // Operators know of no folders.
            _ if handle == ROOT => Errno::BadHandle.negative() as u32,
            Ok(written) => {
                written?;
                bytes.len() as u32
            }
            Err(errno) => errno.negative() as u32,
        };
        Ok((written, bytes.len() as u64 + growth))
    }

    /// `file.close`. What is open from the start stays so.
    pub fn close(&mut self, handle: u32) {
        if handle >= FIRST {
            // A handle of nothing is closed already.
            self.world.close(handle).unwrap_or_default();
        }
    }

    /// Bytes of files that were written.
    pub fn bytes(&self) -> u64 {
        self.world.tree.bytes
    }

    /// The most bytes of files that were asked for, with those that were written.
    pub fn most_bytes(&self) -> u64 {
        self.most
    }

    /// What was printed, what went to standard error, and what became of files.
    pub fn end(&mut self) -> (Vec<u8>, Vec<u8>, Written) {
        self.world.end()
    }

    fn note(&mut self, more: u64) {
        self.most = self.most.max(self.world.tree.bytes.saturating_add(more));
    }
}

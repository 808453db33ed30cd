//! The world of a run, for what executes programs otherwise than instruction by instruction.

use crate::machine::Stop;
use crate::wasi::{ARGUMENTS, Bounds, Call, HostFunction};
use crate::world::{Environment, Takes, World, Written};

/// Standard input and output and files, as operators see them. What an operator costs beyond its node is told in bytes, of
/// which 64 are a unit of fuel.
#[derive(Debug)]
pub struct Outside {
    world: World,
    most: u64,
    memory_bytes: u64,
}

/// What a function of the host answered, and what it costs beyond its node in units of fuel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// Zero, or an error of WASI.
    pub answer: u16,
    /// Units of fuel.
    pub fuel: u64,
}

/// Why an operator gives nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The run stops here.
    Stops,
    /// It waits for input: the same again after [`Outside::feed`].
    Waits,
    /// The program ends itself with this status.
    Exits(u32),
}

impl From<Stop> for Beyond {
    fn from(stop: Stop) -> Beyond {
        match stop {
            Stop::Input => Beyond::Waits,
            Stop::Exit(status) => Beyond::Exits(status),
            _ => Beyond::Stops,
        }
    }
}

impl Outside {
    /// What is given, and how many bytes of output and of files there may be.
    pub fn new(given: &Environment, output_bytes: u64, memory_bytes: u64) -> Outside {
        Outside { world: World::new(given, output_bytes), most: 0, memory_bytes }
    }

    /// Calls a function of the host on the memory of the program.
    ///
    /// # Errors
    ///
    /// It ends the run, or waits for input that has not come yet.
    pub fn call(
        &mut self,
        function: HostFunction,
        arguments: impl IntoIterator<Item = u64>,
        memory: &mut [u8],
    ) -> Result<Called, Beyond> {
        let mut passed = [0; ARGUMENTS];
        passed.iter_mut().zip(arguments).for_each(|(place, argument)| *place = argument);
        let bounds = Bounds::new(u64::MAX, self.memory_bytes, 0);
        let mut call = Call { arguments: passed, memory, world: &mut self.world, bounds };
        let answer = function.call(&mut call)?;
        let Bounds { spent, most_of_files, .. } = call.bounds;
        self.most = self.most.max(most_of_files);
        Ok(Called { answer, fuel: spent })
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
        self.world.print(text).map_err(Stop::from)?;
        Ok(text.len() as u64)
    }

    /// `read_line`.
    ///
    /// # Errors
    ///
    /// The line is no text, or has not come yet.
    pub fn read_line(&mut self) -> Result<(Option<String>, u64), Beyond> {
        let ahead = self.world.line_ahead()?;
        Ok((self.world.read_line(ahead)?, ahead.bytes() as u64))
    }

    /// `file.open`: a handle, or a negative error.
    pub fn open(&mut self, path: &str, writes: bool) -> (i32, u64) {
        let cost = self.note(self.world.open_takes(path));
        (self.world.open_file(path, writes), cost)
    }

    /// `file.read`: at most so many bytes.
    ///
    /// # Errors
    ///
    /// What is to be read has not come yet.
    pub fn read(&mut self, handle: u32, most: usize) -> Result<(Vec<u8>, u64), Beyond> {
        let ahead = self.world.file_ahead(handle, most)?;
        let bytes = ahead.bytes() as u64;
        let cost = self.note(Takes { moved: bytes, room: bytes });
        Ok((self.world.read_file(handle, ahead)?, cost))
    }

    /// `file.write`: how many bytes, or a negative error.
    ///
    /// # Errors
    ///
    /// There is too much output.
    pub fn write(&mut self, handle: u32, bytes: &[u8]) -> Result<(i32, u64), Beyond> {
        let cost = self.note(self.world.write_takes(handle, bytes.len() as u64));
        Ok((self.world.write_file(handle, bytes)?, cost))
    }

    /// `file.close`. What is open from the start stays so.
    pub fn close(&mut self, handle: u32) {
        self.world.close_file(handle);
    }

    /// The most bytes of files that were written at any time.
    pub fn bytes(&self) -> u64 {
        self.world.tree.bytes.most
    }

    /// The most bytes of files that were asked for, with those that were written.
    pub fn most_bytes(&self) -> u64 {
        self.most
    }

    /// What was printed, what went to standard error, and what became of files.
    pub fn end(&mut self) -> (Vec<u8>, Vec<u8>, Written) {
        self.world.end()
    }

    /// Remembers the room that an operator takes, and tells what it costs.
    fn note(&mut self, Takes { moved, room }: Takes) -> u64 {
        self.most = self.most.max(self.world.tree.bytes.now.saturating_add(room));
        moved
    }
}

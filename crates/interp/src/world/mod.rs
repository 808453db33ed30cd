//! What is outside of a program in a run: standard input and output, files that live in memory, a command line, a clock and
//! chance. All of it follows from what the run is given.
//!
//! What a program does to files is seen by itself alone: [`World::end`] tells the caller what came of it.

mod errno;
mod handles;
mod input;
mod operators;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use errno::{Errno, Refusal};
pub(crate) use handles::{APPEND, FIRST, Handle, Open, Opened, Opening, ROOT, Stream};
pub use input::Input;
pub(crate) use operators::Takes;
pub(crate) use tree::{Stat, TOP, Times, Tree};

use crate::machine::{Limit, Stop};

/// Files and folders by path, `/` between folders. The folders that something lies in are there without being listed; what
/// lies below a file is not there.
pub type Files = BTreeMap<Arc<str>, Entry>;

/// What became of files and folders, by path: what there is now, or nothing of what was given and is gone.
pub type Written = BTreeMap<Arc<str>, Option<Entry>>;

/// What there is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file with its content.
    File(Arc<[u8]>),
    /// A folder.
    Folder,
}

/// What a run is given besides its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Standard input.
    pub stdin: Input,
    /// The files and folders that there are at the start.
    pub files: Arc<Files>,
    /// The command line for WASI, behind the name of the program, which is `main`.
    pub command_line: Arc<[Arc<str>]>,
    /// The environment variables for WASI, with their values.
    pub variables: Arc<[(Arc<str>, Arc<str>)]>,
    /// What random bytes follow from.
    pub seed: u64,
}

/// What a run has to do with what is outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) input: Input,
    input_at: usize,
    /// Up to where of the input no line ends, from where it is read.
    sought: usize,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Bytes of output that there may be.
    limit: u64,
    given: Arc<Files>,
    pub(crate) tree: Tree,
    handles: Vec<Option<Handle>>,
    pub(crate) command_line: Arc<[Arc<str>]>,
    pub(crate) variables: Arc<[(Arc<str>, Arc<str>)]>,
    random: u64,
    /// The time in nanoseconds.
    now: u64,
}

/// There is more output than there may be.
#[derive(Debug)]
pub(crate) struct Full;

impl From<Full> for Stop {
    fn from(_: Full) -> Stop {
        Stop::Limit(Limit::Output)
    }
}

/// What a clock goes on by at each look.
pub(crate) const TICK: u64 = 1_000;

impl World {
    pub(crate) fn new(given: &Environment, output_bytes: u64) -> World {
        World {
            input: given.stdin.clone(),
            limit: output_bytes,
            given: Arc::clone(&given.files),
            tree: Tree::new(&given.files),
            handles: World::first_handles(),
            command_line: Arc::clone(&given.command_line),
            variables: Arc::clone(&given.variables),
            random: given.seed,
            ..World::default()
        }
    }

    /// The output, that for errors, and the files that are not as they were.
    pub(crate) fn end(&mut self) -> (Vec<u8>, Vec<u8>, Written) {
        let written = self.written();
        (std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr), written)
    }

    /// The files that are not as they were.
    pub(crate) fn written(&self) -> Written {
        self.tree.written(&self.given)
    }

    /// Prints a text; as much of it as there is room for.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Full> {
        self.write_stream(Stream::Output, text.as_bytes())
    }

    fn write_stream(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Full> {
        let used = (self.stdout.len() + self.stderr.len()) as u64;
        let room = usize::try_from(self.limit.saturating_sub(used)).unwrap_or(usize::MAX);
        let fits = &bytes[..bytes.len().min(room)];
        match stream {
            Stream::Errors => self.stderr.extend_from_slice(fits),
            Stream::Input | Stream::Output => self.stdout.extend_from_slice(fits),
        }
        if fits.len() == bytes.len() { Ok(()) } else { Err(Full) }
    }

    /// The next line of standard input with its end; nothing at the end of all.
    pub(crate) fn line(&mut self) -> Result<&[u8], Stop> {
        let line = self.input.line(self.input_at, self.sought);
        if line.is_err() {
            self.sought = self.input.bytes().len();
        }
        line
    }

    /// Goes on behind what was read of standard input.
    pub(crate) fn skip_input(&mut self, bytes: usize) {
        self.input_at += bytes;
    }

    /// Eight bytes that look like chance: SplitMix64 (Steele, Lea, Flood 2014).
    pub(crate) fn random(&mut self) -> [u8; 8] {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31).to_le_bytes()
    }

    /// The time in nanoseconds: it stands still but for a microsecond at each look.
    pub(crate) fn clock(&mut self) -> u64 {
        self.now = self.now.saturating_add(TICK);
        self.now
    }

    /// The time, without looking at it.
    pub(crate) fn time(&self) -> u64 {
        self.now
    }

    /// Has the time be this, if it is not later yet: whoever sleeps wakes at once.
    pub(crate) fn sleep_until(&mut self, time: u64) {
        self.now = self.now.max(time);
    }
}

/// A path from the root, as operators take it: without `.` and `..`, and without regard to what there is.
fn normal(path: &str) -> Result<String, Errno> {
    tree::check(path)?;
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or(Errno::NoEntry)?),
            part => parts.push(part),
        }
    }
    match parts.is_empty() {
        true => Ok(".".to_owned()),
        false => Ok(parts.join("/")),
    }
}

#[cfg(test)]
mod tests;

//! Handles: what a program has open.

use super::errno::{Errno, Refusal};
use super::tree::TOP;
use super::{Full, World};

/// The root of all files, which is open from the start, as the standard streams before it are.
pub(crate) const ROOT: u32 = 3;
/// The first handle of a file that a program opens.
pub(crate) const FIRST: u32 = 4;
/// Handles that there may be.
const MOST: usize = 1_024 + FIRST as usize;

/// What a handle is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    Stream(Stream),
    File(Open),
    Folder(Opened),
}

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Input,
    Output,
    Errors,
}

/// A file that is open: it stays what it is, whatever it is called meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) node: usize,
    pub(crate) at: u64,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// Flags of WASI, of which [`APPEND`] makes a difference: what is written is in the file at once.
    pub(crate) flags: u16,
}

/// A folder that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) node: usize,
    /// Whether it was handed out at the start.
    pub(crate) given: bool,
}

/// Everything is written behind the end.
pub(crate) const APPEND: u16 = 1;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) flags: u16,
    pub(crate) creates: bool,
    pub(crate) is_new: bool,
    pub(crate) empties: bool,
}

impl World {
    /// What is open from the start.
    pub(super) fn first_handles() -> Vec<Option<Handle>> {
        let streams = [Stream::Input, Stream::Output, Stream::Errors].map(Handle::Stream);
        let root = Handle::Folder(Opened { node: TOP, given: true });
        streams.into_iter().chain([root]).map(Some).collect()
    }

    pub(crate) fn handle(&self, handle: u32) -> Result<Handle, Errno> {
        self.handles.get(handle as usize).copied().flatten().ok_or(Errno::BadHandle)
    }

    /// A file that is open.
    pub(crate) fn file(&mut self, handle: u32) -> Result<&mut Open, Errno> {
        match self.handles.get_mut(handle as usize).and_then(Option::as_mut) {
            Some(Handle::File(open)) => Ok(open),
            Some(Handle::Stream(_)) => Err(Errno::IsPipe),
            Some(Handle::Folder(_)) => Err(Errno::IsFolder),
            None => Err(Errno::BadHandle),
        }
    }

    /// A folder that is open.
    pub(crate) fn folder(&self, handle: u32) -> Result<usize, Errno> {
        match self.handle(handle)? {
            Handle::Folder(Opened { node, .. }) => Ok(node),
            Handle::File(_) | Handle::Stream(_) => Err(Errno::NotFolder),
        }
    }

    /// The file or folder that a handle is of.
    pub(crate) fn node(&self, handle: u32) -> Result<Option<usize>, Errno> {
        Ok(match self.handle(handle)? {
            Handle::Stream(_) => None,
            Handle::File(Open { node, .. }) | Handle::Folder(Opened { node, .. }) => Some(node),
        })
    }

    /// Opens a file below a folder.
    pub(crate) fn open(&mut self, folder: usize, path: &str, how: Opening) -> Result<u32, Errno> {
        let found = self.tree.find_or_not(folder, path)?;
        match found {
            Some(_) if how.creates && how.is_new => return Err(Errno::Exists),
            Some(node) if self.tree.is_folder(node) => return Err(Errno::IsFolder),
            None if !how.creates => return Err(Errno::NoEntry),
            Some(_) | None => {}
        }
        let free = self.free_handle()?;
        let node = match found {
            Some(node) => node,
            None => self.tree.create(folder, path)?,
        };
        if how.empties {
            self.tree.set_length(node, 0)?;
        }
        let Opening { reads, writes, flags, .. } = how;
        Ok(self.put(free, Handle::File(Open { node, at: 0, reads, writes, flags })))
    }

    /// Opens a folder below another one.
    pub(crate) fn open_folder(&mut self, folder: usize, path: &str) -> Result<u32, Errno> {
        let node = self.tree.find(folder, path)?;
        if !self.tree.is_folder(node) {
            return Err(Errno::NotFolder);
        }
        let free = self.free_handle()?;
        Ok(self.put(free, Handle::Folder(Opened { node, given: false })))
    }

    fn free_handle(&self) -> Result<usize, Errno> {
        let handles = self.handles.iter().enumerate().skip(FIRST as usize);
        let free = handles.filter(|(_, handle)| handle.is_none()).map(|(at, _)| at).next();
        let free = free.unwrap_or(self.handles.len());
        if free < MOST { Ok(free) } else { Err(Errno::TooManyOpen) }
    }

    fn put(&mut self, at: usize, handle: Handle) -> u32 {
        if let Handle::File(Open { node, .. }) | Handle::Folder(Opened { node, .. }) = handle {
            self.tree.hold(node);
        }
        match self.handles.get_mut(at) {
            Some(slot) => *slot = Some(handle),
            None => self.handles.push(Some(handle)),
        }
        at as u32
    }

    pub(crate) fn close(&mut self, handle: u32) -> Result<(), Errno> {
        if let Some(node) = self.node(handle)? {
            self.tree.let_go(node);
        }
        self.handles[handle as usize] = None;
        Ok(())
    }

    /// Gives what is open another handle, which is closed first.
    pub(crate) fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        let moved = self.handle(from)?;
        self.handle(to)?;
        if from != to {
            self.close(to)?;
            self.handles[from as usize] = None;
            self.handles[to as usize] = Some(moved);
        }
        Ok(())
    }

    /// What one read gives from where a handle stands.
    pub(crate) fn ahead(&mut self, handle: u32) -> Result<&[u8], Refusal> {
        match self.handle(handle)? {
            Handle::Stream(Stream::Input) => Ok(self.input.piece(self.input_at)?),
            Handle::File(open) => Ok(self.rest(open)?),
            Handle::Folder(_) => Err(Errno::IsFolder.into()),
            Handle::Stream(Stream::Output | Stream::Errors) => Err(Errno::BadHandle.into()),
        }
    }

    /// So many bytes from where a handle stands; less only at the end.
    pub(crate) fn ahead_to(&mut self, handle: u32, most: usize) -> Result<&[u8], Refusal> {
        if self.handle(handle)? == Handle::Stream(Stream::Input) {
            return Ok(self.input.up_to(self.input_at, most)?);
        }
        let rest = self.ahead(handle)?;
        Ok(&rest[..rest.len().min(most)])
    }

    fn rest(&self, Open { node, at, reads, .. }: Open) -> Result<&[u8], Errno> {
        if !reads {
            return Err(Errno::BadHandle);
        }
        let bytes = self.tree.bytes_of(node)?;
        Ok(bytes.get(usize::try_from(at).unwrap_or(usize::MAX)..).unwrap_or_default())
    }

    /// Has a handle stand behind what was read.
    pub(crate) fn skip(&mut self, handle: u32, bytes: usize) -> Result<(), Errno> {
        match self.handle(handle)? {
            Handle::Stream(_) => self.input_at += bytes,
            Handle::File(_) | Handle::Folder(_) => self.file(handle)?.at += bytes as u64,
        }
        Ok(())
    }

    /// Bytes that writing so much at a handle adds to the files. So many are moved, besides those that are written.
    pub(crate) fn growth_of_write(&self, handle: u32, bytes: u64) -> u64 {
        match self.handle(handle) {
            Ok(Handle::File(open)) if open.writes && bytes > 0 => {
                self.tree.growth(open.node, self.start_of_write(open).saturating_add(bytes))
            }
            Ok(_) | Err(_) => 0,
        }
    }

    fn start_of_write(&self, open: Open) -> u64 {
        if open.flags & APPEND == 0 { open.at } else { self.tree.stat(open.node).length }
    }

    /// Writes where a handle stands.
    pub(crate) fn write(&mut self, handle: u32, bytes: &[u8]) -> Result<Result<(), Full>, Errno> {
        let open = match self.handle(handle)? {
            Handle::Stream(stream @ (Stream::Output | Stream::Errors)) => {
                return Ok(self.write_stream(stream, bytes));
            }
            Handle::File(open) if open.writes => open,
            Handle::File(_) | Handle::Stream(Stream::Input) => return Err(Errno::BadHandle),
            Handle::Folder(_) => return Err(Errno::IsFolder),
        };
        if !bytes.is_empty() {
            let end = self.tree.write(open.node, self.start_of_write(open), bytes)?;
            self.file(handle)?.at = end;
        }
        Ok(Ok(()))
    }
}

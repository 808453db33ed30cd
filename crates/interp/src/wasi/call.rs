//! A call: what is passed, the program's memory, the world, and what it may cost.

use std::ops::Range;

use crate::machine::{Limit, Stop};
use crate::world::{Errno, Refusal, Takes, World};

use super::Done;

/// Bytes that are moved for a unit of fuel.
pub(crate) const BYTES_PER_FUEL: u64 = 64;

/// The most arguments that a function takes.
pub(crate) const ARGUMENTS: usize = 9;

/// A call of a function of the host.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) arguments: [u64; ARGUMENTS],
    pub(crate) memory: &'a mut [u8],
    pub(crate) world: &'a mut World,
    pub(crate) bounds: Bounds,
}

/// What a call may cost, and what it has cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Units of fuel that it may cost beyond its node.
    pub(crate) fuel: u64,
    /// Units that it has cost.
    pub(crate) spent: u64,
    /// Bytes that there may be of all that a run holds.
    pub(crate) memory: u64,
    /// Bytes that it holds beside files.
    pub(crate) held: u64,
    /// The most bytes of files that there was to be room for.
    pub(crate) most_of_files: u64,
}

impl Bounds {
    pub(crate) fn new(fuel: u64, memory: u64, held: u64) -> Bounds {
        Bounds { fuel, spent: 0, memory, held, most_of_files: 0 }
    }
}

impl Call<'_> {
    /// An argument.
    pub(super) fn num(&self, at: usize) -> u64 {
        self.arguments[at]
    }

    /// Takes fuel for bytes that are moved.
    pub(super) fn spend(&mut self, bytes: u64) -> Result<(), Stop> {
        let spent = self.bounds.spent.saturating_add(bytes / BYTES_PER_FUEL);
        if spent > self.bounds.fuel {
            return Err(Stop::Fuel);
        }
        self.bounds.spent = spent;
        Ok(())
    }

    /// Takes fuel for what an operation takes, if there is room for it.
    pub(super) fn afford(&mut self, takes: Takes) -> Result<(), Stop> {
        self.spend(takes.moved)?;
        self.room(takes.room)
    }

    /// Says whether there is room for more bytes, before they are allocated.
    pub(super) fn room(&mut self, bytes: u64) -> Result<(), Stop> {
        let files = self.world.tree.bytes.now.saturating_add(bytes);
        self.bounds.most_of_files = self.bounds.most_of_files.max(files);
        match self.bounds.held.saturating_add(files) <= self.bounds.memory {
            true => Ok(()),
            false => Err(Stop::Limit(Limit::Memory)),
        }
    }

    /// The place in memory of what a program passes by address.
    pub(super) fn range(&self, address: u32, bytes: u64) -> Result<Range<usize>, Errno> {
        let end = u64::from(address).checked_add(bytes).filter(|end| *end <= self.memory.len() as u64);
        let end = end.ok_or(Errno::Fault)?;
        Ok(address as usize..end as usize)
    }

    pub(super) fn put(&mut self, address: u32, bytes: &[u8]) -> Done {
        let range = self.range(address, bytes.len() as u64)?;
        self.memory[range].copy_from_slice(bytes);
        Ok(())
    }

    /// Pieces of memory, as ranges, with how many bytes they have together.
    pub(super) fn pieces(&mut self, (list, count): (u32, u32)) -> Result<(Vec<Range<usize>>, u64), Refusal> {
        let list = self.range(list, 8 * u64::from(count))?;
        // Each costs a unit, however short it is.
        self.spend(8 * list.len() as u64)?;
        let mut pieces = Vec::with_capacity(count as usize);
        let mut all = 0;
        for piece in self.memory[list].chunks_exact(8) {
            let (address, length) = (word(piece, 0), word(piece, 4));
            all += u64::from(length);
            pieces.push(self.range(address, length.into())?);
        }
        Ok((pieces, all))
    }

    /// A path below a folder, with the folder.
    pub(super) fn path(
        &mut self,
        handle: u32,
        (address, length): (u32, u32),
    ) -> Result<(usize, String), Refusal> {
        let folder = self.world.folder(handle)?;
        let place = self.range(address, length.into())?;
        self.spend(length.into())?;
        self.room(length.into())?;
        let path = String::from_utf8(self.memory[place].to_vec()).map_err(|_| Errno::Invalid)?;
        Ok((folder, path))
    }

    /// A path at which there may be something new, for which there is room.
    pub(super) fn new_path(&mut self, handle: u32, passed: (u32, u32)) -> Result<(usize, String), Refusal> {
        let (folder, path) = self.path(handle, passed)?;
        let cost = self.world.tree.cost_of_path(folder, &path);
        self.room(cost)?;
        Ok((folder, path))
    }
}

/// A number in bytes that were read.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk().copied()).map_or(0, u32::from_le_bytes)
}

/// A long number in bytes that were read.
pub(super) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

//! The frames of a backup: a stream of bytes, cut, compressed and checked.

use std::io::{self, Read};

/// Marks a file as a backup. Not a text, and what changes the ends of lines damages it.
const MAGIC: [u8; 8] = *b"\x89lmbak\r\n";

/// The version of all that is in a file. Version 1 has no cases, and is read as one that has none; versions 1 and 2 have
/// programs only, and version 3 has no flows.
const VERSION: u16 = 4;

/// The oldest version that is read.
const OLDEST: u16 = 1;

/// The most bytes of a frame, not compressed.
const FRAME: usize = 1 << 20;

const LEVEL: i32 = 3;

/// Bytes of the magic and the version.
const HEAD: usize = 10;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is not a backup of lmlang")]
    Foreign,
    /// It has a version that is not read: a newer lmlang has made it, or none.
    #[error("it is a backup of version {found}, this lmlang reads versions {OLDEST} to {VERSION}")]
    Version {
        /// What the file says.
        found: u16,
    },
    /// It ends too early.
    #[error("it is not whole: what begins at byte {frame} is cut off at byte {at}")]
    Truncated {
        /// Where it ends.
        at: u64,
        /// Where the frame begins that is not there, or not all of it.
        frame: u64,
    },
    /// Its bytes are not those that were written.
    #[error("it is damaged at byte {at}: {what}")]
    Damaged {
        /// Where what is damaged begins: a frame.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// Makes frames of what is put in.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    plain: Vec<u8>,
    /// Of all that was written.
    sum: blake3::Hasher,
    begun: bool,
    version: u16,
}

impl FrameWriter {
    pub(crate) fn new() -> Self {
        Self::of_version(VERSION)
    }

    /// One that writes what an older version wrote.
    pub(crate) fn of_version(version: u16) -> Self {
        Self { plain: Vec::new(), sum: blake3::Hasher::new(), begun: false, version }
    }

    /// What goes into the frames.
    pub(crate) fn plain(&mut self) -> &mut Vec<u8> {
        &mut self.plain
    }

    /// Whether there is enough for a frame.
    pub(crate) fn is_full(&self) -> bool {
        self.plain.len() >= FRAME
    }

    /// The next bytes of the file: all that was put in since the last ones.
    pub(crate) fn seal(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(&MAGIC);
            out.extend_from_slice(&self.version.to_le_bytes());
            self.sum.update(&out);
        }
        let mut written = out.len();
        for plain in self.plain.chunks(FRAME) {
            // Into a place that is large enough.
            let packed = zstd::bulk::compress(plain, LEVEL).expect("compressing to memory does not fail");
            // Both are far below: a frame is a megabyte.
            out.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            out.extend_from_slice(&(plain.len() as u32).to_le_bytes());
            out.extend_from_slice(&packed);
            self.sum.update(&out[written..]);
            out.extend_from_slice(self.sum.finalize().as_bytes());
            self.sum.update(self.sum.finalize().as_bytes());
            written = out.len();
        }
        self.plain.clear();
        out
    }
}

/// Reads what is in frames, each one checked before any of it is given out.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    input: R,
    sum: blake3::Hasher,
    /// Bytes that were read.
    at: u64,
    /// Where the frame begins.
    frame: u64,
    plain: Vec<u8>,
    /// How much of it was given out.
    taken: usize,
}

impl<R: Read> Frames<R> {
    /// Reads the head of a file.
    pub(crate) fn open(input: R) -> Result<Self, FileError> {
        let sum = blake3::Hasher::new();
        let mut this = Self { input, sum, at: 0, frame: 0, plain: Vec::new(), taken: 0 };
        let head = this.read(HEAD)?;
        let marked = head.len().min(MAGIC.len());
        if head[..marked] != MAGIC[..marked] {
            return Err(FileError::Foreign);
        }
        if head.len() < HEAD {
            return Err(this.truncated());
        }
        match u16::from_le_bytes([head[8], head[9]]) {
            OLDEST..=VERSION => Ok(this),
            found => Err(FileError::Version { found }),
        }
    }

    /// The error of something in the frame that is being read.
    pub(crate) fn damaged(&self, what: &'static str) -> FileError {
        FileError::Damaged { at: self.frame, what }
    }

    fn truncated(&self) -> FileError {
        FileError::Truncated { at: self.at, frame: self.frame }
    }

    /// Fills a buffer.
    pub(crate) fn fill(&mut self, mut buffer: &mut [u8]) -> Result<(), FileError> {
        while !buffer.is_empty() {
            if self.taken == self.plain.len() && !self.next_frame()? {
                return Err(self.truncated());
            }
            let some = buffer.len().min(self.plain.len() - self.taken);
            let (now, later) = buffer.split_at_mut(some);
            now.copy_from_slice(&self.plain[self.taken..self.taken + some]);
            self.taken += some;
            buffer = later;
        }
        Ok(())
    }

    /// So many bytes; no more memory is taken than there are.
    pub(crate) fn bytes(&mut self, length: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let (before, left) = (bytes.len(), length - bytes.len() as u64);
            let some = left.min(FRAME as u64) as usize;
            bytes.resize(before + some, 0);
            self.fill(&mut bytes[before..])?;
        }
        Ok(bytes)
    }

    /// Makes sure that nothing follows.
    pub(crate) fn end(&mut self) -> Result<(), FileError> {
        if self.taken < self.plain.len() {
            return Err(self.damaged("something follows the last record"));
        }
        let at = self.at;
        match self.read(1)?.is_empty() {
            true => Ok(()),
            false => Err(FileError::Damaged { at, what: "something follows the last frame" }),
        }
    }

    /// Reads the next frame; tells whether there is one.
    fn next_frame(&mut self) -> Result<bool, FileError> {
        self.frame = self.at;
        let head = self.read(8)?;
        if head.is_empty() {
            return Ok(false);
        }
        let head: [u8; 8] = head.try_into().map_err(|_| self.truncated())?;
        let [a, b, c, d, e, f, g, h] = head;
        let packed = u32::from_le_bytes([a, b, c, d]) as usize;
        let length = u32::from_le_bytes([e, f, g, h]) as usize;
        if !(1..=FRAME).contains(&length) || packed > zstd::zstd_safe::compress_bound(FRAME) {
            return Err(self.damaged("a frame of this length is never written"));
        }
        let packed = self.whole(packed)?;
        let sum = self.sum.finalize();
        if *self.whole(blake3::OUT_LEN)? != *sum.as_bytes() {
            return Err(self.damaged("its checksum is another"));
        }
        let plain = zstd::bulk::decompress(&packed, length);
        self.plain = plain.map_err(|_| self.damaged("a frame cannot be unpacked"))?;
        if self.plain.len() != length {
            return Err(self.damaged("a frame has another length"));
        }
        self.taken = 0;
        Ok(true)
    }

    /// Reads so many bytes and no fewer.
    fn whole(&mut self, length: usize) -> Result<Vec<u8>, FileError> {
        let bytes = self.read(length)?;
        if bytes.len() < length { Err(self.truncated()) } else { Ok(bytes) }
    }

    /// Reads so many bytes, or what there is.
    fn read(&mut self, length: usize) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::with_capacity(length);
        self.input.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        self.at += bytes.len() as u64;
        self.sum.update(&bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&[u8]]) -> Vec<u8> {
        let (mut frames, mut file) = (FrameWriter::new(), Vec::new());
        for part in parts {
            frames.plain().extend_from_slice(part);
            file.extend(frames.seal());
        }
        file
    }

    fn read(file: &[u8], length: usize) -> Result<Vec<u8>, FileError> {
        let mut frames = Frames::open(file)?;
        let bytes = frames.bytes(length as u64)?;
        frames.end()?;
        Ok(bytes)
    }

    #[test]
    fn what_is_put_in_comes_out() {
        let long: Vec<u8> = (0..3 * FRAME as u32 + 7).map(|number| (number / 3 % 251) as u8).collect();
        for parts in [&[&b"one"[..], b"two"][..], &[&long], &[&long, b"end"]] {
            let all = parts.concat();
            assert!(read(&written(parts), all.len()).unwrap() == all);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_missing_byte_is_noticed() {
        let file = written(&[b"one", &[7; 100], b"three"]);
        let length = 108;
        assert!(read(&file, length).is_ok());
        for at in 0..file.len() {
            let cut = read(&file[..at], length).unwrap_err();
            assert!(matches!(cut, FileError::Truncated { at: end, .. } if end == at as u64), "{at}: {cut}");
            for bit in 0..8 {
                let mut flipped = file.clone();
                flipped[at] ^= 1 << bit;
                let error = read(&flipped, length).unwrap_err();
                let expected = match at {
                    0..8 => matches!(error, FileError::Foreign),
                    // Either there is no such version, or it is another one that is read.
                    8..10 => matches!(
                        error,
                        FileError::Version { .. }
                            | FileError::Damaged { at: 10, what: "its checksum is another" }
                    ),
                    _ => {
                        matches!(error, FileError::Damaged { at: place, .. } if place <= at as u64)
                            || matches!(error, FileError::Truncated { at: end, .. } if end == file.len() as u64)
                    }
                };
                assert!(expected, "byte {at}, bit {bit}: {error}");
            }
        }
        let more = [&file[..], b"x"].concat();
        assert!(matches!(read(&more, length), Err(FileError::Damaged { at, .. }) if at == file.len() as u64));
    }

    #[test]
    fn frames_of_another_file_do_not_fit() {
        let (one, other) = (written(&[b"one", b"two"]), written(&[b"six", b"two"]));
        let second = one.len() - (one.len() - HEAD) / 2;
        let mixed = [&one[..second], &other[second..]].concat();
        assert!(matches!(read(&mixed, 6), Err(FileError::Damaged { at, .. }) if at == second as u64));
    }
}

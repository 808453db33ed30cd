//! What is on the disk after the power fails: everything that was synced, and of the rest whatever the disk had got to.
//!
//! A run is recorded write by write ([`Recorder`]). For a moment of it the files are rebuilt as a power cut could have left
//! them ([`Disk::cut`]).

mod vfs;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use vfs::{Event, Failing, Recorder};

/// How much of what was not synced reached the disk.
#[derive(Debug, Clone, Copy)]
pub enum Unsynced {
    /// Nothing.
    Lost,
    /// Any writes, in any order, the last sectors of some missing or full of noise; drawn from a seed.
    Some(u64),
}

/// Sectors are written whole.
const SECTOR: usize = 512;

/// What a disk has of the files of a recorded folder, synced or not.
#[derive(Debug, Default)]
pub struct Disk {
    files: BTreeMap<PathBuf, File>,
}

#[derive(Debug, Default)]
struct File {
    synced: Vec<u8>,
    pending: Vec<Event>,
    /// Its name is in the folder for good.
    named: bool,
    /// Deleted, but the folder was not synced: it may come back.
    deleted: bool,
}

impl Disk {
    /// Does what was recorded.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Write { path, .. } | Event::Truncate { path, .. } => {
                let file = self.files.entry(path.clone()).or_default();
                if std::mem::take(&mut file.deleted) {
                    *file = File::default();
                }
                file.pending.push(event.clone());
            }
            Event::Sync { path } => {
                let file = self.files.entry(path.clone()).or_default();
                for event in std::mem::take(&mut file.pending) {
                    change(&mut file.synced, &event);
                }
                // SQLite's Unix file system syncs the folder at the first sync of a new log or journal.
                if !std::mem::replace(&mut file.named, true) {
                    self.files.retain(|_, file| !file.deleted);
                }
            }
            Event::Delete { path } => self.files.entry(path.clone()).or_default().deleted = true,
            Event::Acknowledged { .. } => {}
        }
    }

    /// Writes the files as they would be found after a power cut.
    ///
    /// # Panics
    ///
    /// If they cannot be written.
    pub fn cut(&self, unsynced: Unsynced, dir: &Path) {
        let mut dice = match unsynced {
            Unsynced::Lost => None,
            Unsynced::Some(seed) => Some(Dice(seed)),
        };
        for (path, file) in &self.files {
            let mut content = file.synced.clone();
            if let Some(dice) = &mut dice {
                for event in &file.pending {
                    match dice.roll(4) {
                        0 => {}
                        1 => change(&mut content, event),
                        2 => change(&mut content, &torn(event, dice)),
                        _ => change(&mut content, &garbled(event, dice)),
                    }
                }
            }
            let there = !file.deleted || dice.as_mut().is_some_and(|dice| dice.roll(2) == 0);
            if there {
                let name = path.file_name().expect("a file has a name");
                fs::write(dir.join(name), content).expect("the file can be written");
            }
        }
    }
}

fn change(content: &mut Vec<u8>, event: &Event) {
    match event {
        Event::Write { offset, data, .. } => {
            let end = offset + data.len();
            if content.len() < end {
                content.resize(end, 0);
            }
            content[*offset..end].copy_from_slice(data);
        }
        Event::Truncate { len, .. } => content.resize(*len, 0),
        Event::Sync { .. } | Event::Delete { .. } | Event::Acknowledged { .. } => {}
    }
}

/// A write that stopped at the end of a sector.
fn torn(event: &Event, dice: &mut Dice) -> Event {
    match event {
        Event::Write { path, offset, data } => {
            let sectors = data.len() / SECTOR;
            let kept = if sectors == 0 { data.len() } else { dice.roll(sectors) * SECTOR };
            Event::Write { path: path.clone(), offset: *offset, data: data[..kept].to_vec() }
        }
        other => other.clone(),
    }
}

/// A write that left noise behind some sector.
fn garbled(event: &Event, dice: &mut Dice) -> Event {
    let mut event = event.clone();
    if let Event::Write { data, .. } = &mut event {
        let from = dice.roll(data.len().div_ceil(SECTOR)) * SECTOR;
        data[from..].iter_mut().for_each(|byte| *byte ^= 0xa5);
    }
    event
}

/// SplitMix64: repeatable from its seed.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below that of the sides.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }
}

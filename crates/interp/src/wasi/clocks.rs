//! Clocks, and waiting for them.
//!
//! There is one clock. It stands still but for a microsecond at each look, and whoever waits for it has it go on: sleep takes
//! no time.

use crate::world::{Errno, Handle, Stream, TICK};

use super::Done;
use super::call::{Call, long, word};
use crate::world::Refusal;

/// Clocks that WASI knows, which are all the same here.
const CLOCKS: u32 = 4;

pub(super) fn resolution(call: &mut Call<'_>, clock: u32, answer: u32) -> Done {
    known(clock)?;
    call.put(answer, &TICK.to_le_bytes())
}

pub(super) fn time(call: &mut Call<'_>, clock: u32, answer: u32) -> Done {
    known(clock)?;
    call.range(answer, 8)?;
    let now = call.world.clock();
    call.put(answer, &now.to_le_bytes())
}

fn known(clock: u32) -> Result<(), Errno> {
    if clock < CLOCKS { Ok(()) } else { Err(Errno::Invalid) }
}

/// Bytes of what is waited for, and of what is told of it.
const WANTED: usize = 48;
const EVENT: usize = 32;

/// What is waited for, as WASI numbers it.
const CLOCK: u8 = 0;
const READING: u8 = 1;
const WRITING: u8 = 2;
/// The time is one of the clock, and not from now on.
const ABSOLUTE: u32 = 1;
/// Nothing more comes.
const HANG_UP: u16 = 1;

/// Something that is waited for.
struct Wanted {
    mark: u64,
    what: What,
}

enum What {
    Time(u64),
    Input(u32),
    Output(u32),
    /// A clock that there is not.
    Wrong,
}

/// Waits for the first of several things. Who waits for a handle, too, does not wait for a clock: whether something can
/// be read is known at once, or waited for as long as it takes.
pub(super) fn wait(call: &mut Call<'_>) -> Done {
    let [list, events, count, answer] = [0, 1, 2, 3].map(|slot| call.num(slot) as u32);
    if count == 0 {
        return Err(Errno::Invalid.into());
    }
    let list = call.range(list, WANTED as u64 * u64::from(count))?;
    call.range(events, EVENT as u64 * u64::from(count))?;
    call.range(answer, 4)?;
    call.spend(64 * u64::from(count))?;
    let now = call.world.time();
    let wanted: Result<Vec<Wanted>, Errno> =
        call.memory[list].chunks_exact(WANTED).map(|passed| read(passed, now)).collect();
    let wanted = wanted?;
    let mut found = Vec::new();
    for Wanted { mark, what } in &wanted {
        found.extend(match what {
            What::Time(_) => None,
            What::Wrong => Some(event(*mark, CLOCK, Err(Errno::Invalid))),
            What::Input(handle) => match readable(call, *handle) {
                Ok(bytes) => Some(event(*mark, READING, Ok(bytes))),
                Err(Refusal::Errno(errno)) => Some(event(*mark, READING, Err(errno))),
                Err(stop) => return Err(stop),
            },
            What::Output(handle) => Some(event(*mark, WRITING, writable(call, *handle))),
        });
    }
    if found.is_empty() {
        let first = wanted.iter().filter_map(Wanted::time).min().unwrap_or(now);
        call.world.sleep_until(first);
        let passed =
            wanted.iter().filter(|wanted| wanted.time().is_some_and(|time| time <= call.world.time()));
        found.extend(passed.map(|wanted| event(wanted.mark, CLOCK, Ok((0, 0)))));
    }
    call.put(events, found.as_flattened())?;
    call.put(answer, &(found.len() as u32).to_le_bytes())
}

impl Wanted {
    fn time(&self) -> Option<u64> {
        match self.what {
            What::Time(time) => Some(time),
            What::Input(_) | What::Output(_) | What::Wrong => None,
        }
    }
}

fn read(passed: &[u8], now: u64) -> Result<Wanted, Errno> {
    let clock = || match (word(passed, 16) < CLOCKS, word(passed, 40) & ABSOLUTE) {
        (false, _) => What::Wrong,
        (true, 0) => What::Time(now.saturating_add(long(passed, 24))),
        (true, _) => What::Time(long(passed, 24)),
    };
    let what = match passed[8] {
        CLOCK => clock(),
        READING => What::Input(word(passed, 16)),
        WRITING => What::Output(word(passed, 16)),
        _ => return Err(Errno::Invalid),
    };
    Ok(Wanted { mark: long(passed, 0), what })
}

/// How many bytes can be read, with what else is to say.
fn readable(call: &mut Call<'_>, handle: u32) -> Result<(u64, u16), Refusal> {
    let bytes = call.world.ahead(handle)?.len() as u64;
    let ended = call.world.handle(handle)? == Handle::Stream(Stream::Input) && bytes == 0;
    Ok((bytes, if ended { HANG_UP } else { 0 }))
}

fn writable(call: &Call<'_>, handle: u32) -> Result<(u64, u16), Errno> {
    match call.world.handle(handle)? {
        Handle::Stream(Stream::Output | Stream::Errors) | Handle::File(_) => Ok((0, 0)),
        Handle::Stream(Stream::Input) | Handle::Folder(_) => Err(Errno::BadHandle),
    }
}

fn event(mark: u64, what: u8, told: Result<(u64, u16), Errno>) -> [u8; EVENT] {
    let (errno, (bytes, flags)) = match told {
        Ok(told) => (0, told),
        Err(errno) => (errno as u16, (0, 0)),
    };
    let mut event = [0; EVENT];
    event[..8].copy_from_slice(&mark.to_le_bytes());
    event[8..10].copy_from_slice(&errno.to_le_bytes());
    event[10] = what;
    event[16..24].copy_from_slice(&bytes.to_le_bytes());
    event[24..26].copy_from_slice(&flags.to_le_bytes());
    event
}

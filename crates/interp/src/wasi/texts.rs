//! The command line and the environment: lists of texts that end with a zero.

use super::Done;
use super::call::Call;

/// The name of the program.
const NAME: &str = "main";

fn command_line(call: &Call<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in std::iter::once(NAME).chain(call.world.command_line.iter().map(|text| &**text)) {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    bytes
}

fn environment(call: &Call<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in call.world.variables.iter() {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Which list.
#[derive(Clone, Copy)]
pub(super) enum List {
    CommandLine,
    Environment,
}

fn bytes(call: &mut Call<'_>, list: List) -> Result<Vec<u8>, super::Refusal> {
    let length: usize = match list {
        List::CommandLine => call.world.command_line.iter().map(|text| text.len() + 1).sum(),
        List::Environment => {
            call.world.variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum()
        }
    };
    call.spend(length as u64)?;
    call.room(length as u64)?;
    Ok(match list {
        List::CommandLine => command_line(call),
        List::Environment => environment(call),
    })
}

/// Writes where each text begins, and the texts.
pub(super) fn get(call: &mut Call<'_>, list: List) -> Done {
    let (places, at) = (call.num(0) as u32, call.num(1) as u32);
    let bytes = bytes(call, list)?;
    let texts: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == 0).collect();
    call.range(places, 4 * texts.len() as u64)?;
    call.range(at, bytes.len() as u64)?;
    let mut begins = at;
    let mut listed = Vec::with_capacity(4 * texts.len());
    for text in texts {
        listed.extend_from_slice(&begins.to_le_bytes());
        begins += text.len() as u32;
    }
    call.put(places, &listed)?;
    call.put(at, &bytes)
}

/// Writes how many texts there are, and how many bytes they have.
pub(super) fn sizes(call: &mut Call<'_>, list: List) -> Done {
    let (count_at, bytes_at) = (call.num(0) as u32, call.num(1) as u32);
    let bytes = bytes(call, list)?;
    let count = bytes.iter().filter(|byte| **byte == 0).count() as u32;
    call.put(count_at, &count.to_le_bytes())?;
    call.put(bytes_at, &(bytes.len() as u32).to_le_bytes())
}

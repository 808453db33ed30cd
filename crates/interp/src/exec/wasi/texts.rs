//! The command line and the environment: lists of texts that end with a zero.

use crate::exec::heap::Operands;
use crate::machine::Machine;

use super::Done;
use super::passed::{put, range};

/// The name of the program.
const NAME: &str = "main";

fn command_line(m: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in std::iter::once(NAME).chain(m.world.command_line.iter().map(|text| &**text)) {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    bytes
}

fn environment(m: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in m.world.variables.iter() {
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

fn bytes(m: &mut Machine, o: &mut Operands<'_>, list: List) -> Result<Vec<u8>, super::Refusal> {
    let length: usize = match list {
        List::CommandLine => m.world.command_line.iter().map(|text| text.len() + 1).sum(),
        List::Environment => m.world.variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum(),
    };
    m.spend(o, length as u64)?;
    m.room(length as u64)?;
    Ok(match list {
        List::CommandLine => command_line(m),
        List::Environment => environment(m),
    })
}

/// Writes where each text begins, and the texts.
pub(super) fn get(m: &mut Machine, o: &mut Operands<'_>, list: List) -> Done {
    let (places, at) = (o.num(0) as u32, o.num(1) as u32);
    let bytes = bytes(m, o, list)?;
    let texts: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == 0).collect();
    range(m, places, 4 * texts.len() as u64)?;
    range(m, at, bytes.len() as u64)?;
    let mut begins = at;
    let mut listed = Vec::with_capacity(4 * texts.len());
    for text in texts {
        listed.extend_from_slice(&begins.to_le_bytes());
        begins += text.len() as u32;
    }
    put(m, places, &listed)?;
    put(m, at, &bytes)
}

/// Writes how many texts there are, and how many bytes they have.
pub(super) fn sizes(m: &mut Machine, o: &mut Operands<'_>, list: List) -> Done {
    let (count_at, bytes_at) = (o.num(0) as u32, o.num(1) as u32);
    let bytes = bytes(m, o, list)?;
    let count = bytes.iter().filter(|byte| **byte == 0).count() as u32;
    put(m, count_at, &count.to_le_bytes())?;
    put(m, bytes_at, &(bytes.len() as u32).to_le_bytes())
}

//! Packs: the edits of consecutive entries of one program, compressed together.
//!
//! Edits resemble each other, so that many take little more room than one. A row whose edits are packed says how many bytes
//! they are; everything else about the entry stays in its row.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::entity::{log, packs};
use crate::fault::Fault;

/// The form of the bytes of a pack, their first byte.
const VERSION: u8 = 1;

/// Packs are written once and take room for ever.
const LEVEL: i32 = 9;

/// The most bytes that are unpacked: a pack holds little more than a megabyte, unless one entry alone is larger.
const MAX_BYTES: u64 = 1 << 30;

/// What is unpacked on a thread of its own.
const LARGE: usize = 64 << 10;

/// How many packs one statement asks for.
const PACKS_PER_STATEMENT: usize = 64;

/// Packs the edits of consecutive entries.
pub(crate) fn pack<'a>(edits: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut plain = Vec::new();
    for edits in edits {
        // No row holds more than a gigabyte.
        plain.extend_from_slice(&(edits.len() as u32).to_le_bytes());
        plain.extend_from_slice(edits);
    }
    let mut packed = vec![VERSION];
    // Into a place that is large enough.
    packed.extend(zstd::bulk::compress(&plain, LEVEL).expect("compressing to memory does not fail"));
    packed
}

/// The edits of each entry of a pack; nothing if that is not what the bytes are.
fn unpack(packed: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (&VERSION, compressed) = packed.split_first()? else { return None };
    let mut plain = Vec::new();
    zstd::Decoder::new(compressed).ok()?.take(MAX_BYTES).read_to_end(&mut plain).ok()?;
    let (mut rest, mut all) = (plain.as_slice(), Vec::new());
    while let Some((length, behind)) = rest.split_first_chunk() {
        let (edits, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        all.push(edits.to_vec());
        rest = behind;
    }
    rest.is_empty().then_some(all)
}

/// The place of edits that are in a pack.
pub(crate) struct Missing<'a> {
    seq: i64,
    /// Their size, until they are fetched.
    packed: &'a mut Option<i64>,
    edits: &'a mut Vec<u8>,
}

impl<'a> Missing<'a> {
    /// The place of an entry's edits, if they are in a pack.
    pub(crate) fn of(seq: i64, packed: &'a mut Option<i64>, edits: &'a mut Vec<u8>) -> Option<Self> {
        packed.is_some().then_some(Self { seq, packed, edits })
    }
}

/// Fetches what rows have in packs; they are as if nothing were packed then. After a fault some are.
pub(crate) async fn fill(db: &impl ConnectionTrait, rows: &mut [log::Model]) -> Result<(), Fault> {
    let mut missing: BTreeMap<i64, Vec<Missing<'_>>> = BTreeMap::new();
    for row in rows {
        if let Some(place) = Missing::of(row.seq, &mut row.packed, &mut row.edits) {
            missing.entry(row.program).or_default().push(place);
        }
    }
    for (program, missing) in missing {
        fetch(db, program, missing).await?;
    }
    Ok(())
}

/// Fetches edits of a program's entries.
pub(crate) async fn fetch(
    db: &impl ConnectionTrait,
    program: i64,
    mut missing: Vec<Missing<'_>>,
) -> Result<(), Fault> {
    missing.sort_unstable_by_key(|missing| missing.seq);
    let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
    let starts = starts(db, program, first.seq, last.seq).await?;
    let start_of = |seq| starts.range(..=seq).next_back().copied();
    let wanted: BTreeSet<i64> = missing.iter().filter_map(|missing| start_of(missing.seq)).collect();
    let wanted: Vec<i64> = wanted.into_iter().collect();
    let mut missing = missing.into_iter().peekable();
    for wanted in wanted.chunks(PACKS_PER_STATEMENT) {
        let found = packs::Entity::find()
            .filter(packs::Column::Program.eq(program))
            .filter(packs::Column::First.is_in(wanted.iter().copied()))
            .order_by_asc(packs::Column::First)
            .all(db)
            .await?;
        for pack in found {
            let edits = unpacked(pack.bytes).await?;
            let mut edits: BTreeMap<i64, Vec<u8>> = (pack.first..).zip(edits).collect();
            while let Some(next) = missing.next_if(|next| start_of(next.seq) == Some(pack.first)) {
                let found = edits.remove(&next.seq);
                let found = found.filter(|edits| *next.packed == Some(edits.len() as i64));
                *next.edits = found.ok_or(DAMAGED)?;
                *next.packed = None;
            }
        }
    }
    // What is in no pack is left.
    missing.next().map_or(Ok(()), |_| Err(DAMAGED))
}

const DAMAGED: Fault = Fault::Row { table: "packs", column: "bytes" };

/// The first numbers of the packs in which entries in a range can be.
async fn starts(
    db: &impl ConnectionTrait,
    program: i64,
    first: i64,
    last: i64,
) -> Result<BTreeSet<i64>, Fault> {
    let of_program = packs::Entity::find().filter(packs::Column::Program.eq(program));
    let start = of_program.clone().filter(packs::Column::First.lte(first));
    let start: Option<i64> = start
        .order_by_desc(packs::Column::First)
        .select_only()
        .column(packs::Column::First)
        .into_tuple()
        .one(db)
        .await?;
    let Some(start) = start else { return Ok(BTreeSet::new()) };
    let within = of_program.filter(packs::Column::First.between(start, last));
    let starts: Vec<i64> = within.select_only().column(packs::Column::First).into_tuple().all(db).await?;
    Ok(starts.into_iter().collect())
}

async fn unpacked(bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Fault> {
    let edits = match bytes.len() {
        ..LARGE => unpack(&bytes),
        // Takes long: not on the runtime's threads.
        _ => tokio::task::spawn_blocking(move || unpack(&bytes)).await.map_err(|_| Fault::Closed)?,
    };
    edits.ok_or(DAMAGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_packed_comes_back(edits: Vec<Vec<u8>>) {
            let packed = pack(edits.iter().map(Vec::as_slice));
            proptest::prop_assert_eq!(unpack(&packed), Some(edits));
        }

        #[test]
        fn what_is_no_pack_is_refused(bytes: Vec<u8>) {
            unpack(&bytes);
            unpack(&[&[VERSION], &zstd::bulk::compress(&bytes, LEVEL).unwrap()[..]].concat());
        }
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let packed = pack([b"one".as_slice(), b"two"].into_iter());
        for end in 0..packed.len() {
            assert_eq!(unpack(&packed[..end]), None, "{end}");
        }
        assert_eq!(unpack(&[&[9], &packed[1..]].concat()), None);
    }
}

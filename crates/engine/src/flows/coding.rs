//! Entries of journals as they are stored: JSON, packed against a dictionary of what entries look like.
//!
//! Most of an entry are the names of its fields, and of what flows do: with a dictionary that has them, an entry takes a fifth.
//! The dictionary is a part of the format and never changes; another one would have another first byte. Snapshots of runs are packed
//! without it: they are longer.

use std::cell::RefCell;
use std::io;
use std::sync::LazyLock;

use lmlang_flow::{Snapshot, What};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

use crate::error::Error;

/// Entries of many kinds, in the order of how rare they are.
const DICTIONARY: &[u8] = include_bytes!("entries.dict");
/// The first byte of what is packed with it. JSON begins with another one.
const PACKED: u8 = 1;
/// The first byte of a snapshot of a run. Where runs are written otherwise, or fold their journals otherwise, it is another one, and
/// whole journals are read once.
const SNAPSHOT: u8 = 1;
/// What every frame of zstd begins with, which is not stored.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Higher levels take longer, and a few bytes less.
const LEVEL: i32 = 3;
/// Most bytes of an entry that is read: what says that it has more is damaged.
const MOST: u64 = 256 << 20;

static PACKING: LazyLock<EncoderDictionary<'static>> =
    LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static UNPACKING: LazyLock<DecoderDictionary<'static>> =
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

thread_local! {
    /// A context takes longer to make than an entry to pack.
    static PACKER: RefCell<Option<Compressor<'static>>> =
        RefCell::new(Compressor::with_prepared_dictionary(&PACKING).ok());
    static UNPACKER: RefCell<Option<Decompressor<'static>>> =
        RefCell::new(Decompressor::with_prepared_dictionary(&UNPACKING).ok());
}

/// The bytes that are stored for what happened.
pub(crate) fn encode(what: &What) -> Result<Vec<u8>, Error> {
    let plain = serde_json::to_vec(what).map_err(|error| Error::bad_request(error.to_string()))?;
    Ok(PACKER.with_borrow_mut(|packer| packed(packer.as_mut(), &plain)).unwrap_or(plain))
}

/// What is packed, if that takes less.
fn packed(packer: Option<&mut Compressor<'static>>, plain: &[u8]) -> Option<Vec<u8>> {
    let frame = packer?.compress(plain).ok()?;
    let rest = frame.strip_prefix(&MAGIC)?;
    (rest.len() < plain.len()).then(|| [&[PACKED], rest].concat())
}

/// What happened, of the bytes that are stored.
pub(crate) fn decode(stored: &[u8]) -> Result<What, String> {
    let Some(rest) = stored.strip_prefix(&[PACKED]) else {
        return serde_json::from_slice(stored).map_err(|error| error.to_string());
    };
    let frame = [&MAGIC, rest].concat();
    let plain = UNPACKER.with_borrow_mut(|unpacker| match unpacker {
        Some(unpacker) => unpacked(unpacker, &frame),
        None => Err(io::Error::other("there is no memory for a decompressor")),
    });
    serde_json::from_slice(&plain.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

/// The bytes that are stored for a run as it stands; none if there is no memory for that.
pub(crate) fn encode_snapshot(snapshot: &Snapshot) -> Option<Vec<u8>> {
    let plain = serde_json::to_vec(snapshot).ok()?;
    let frame = zstd::bulk::compress(&plain, LEVEL).ok()?;
    Some([&[SNAPSHOT], frame.as_slice()].concat())
}

/// A run as it stood, of the bytes that are stored.
pub(crate) fn decode_snapshot(stored: &[u8]) -> Result<Snapshot, String> {
    let frame = stored.strip_prefix(&[SNAPSHOT]).ok_or_else(|| "it is written otherwise".to_owned())?;
    let mut unpacker = Decompressor::new().map_err(|error| error.to_string())?;
    let plain = unpacked(&mut unpacker, frame).map_err(|error| error.to_string())?;
    serde_json::from_slice(&plain).map_err(|error| error.to_string())
}

fn unpacked(unpacker: &mut Decompressor<'static>, frame: &[u8]) -> io::Result<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(frame);
    let size = size.ok().flatten().filter(|size| *size <= MOST);
    let size = size.and_then(|size| usize::try_from(size).ok());
    let size = size.ok_or_else(|| io::Error::other("its size is not known"))?;
    unpacker.decompress(frame, size)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lmlang_flow::definition::END;
    use lmlang_flow::{Definition, Entry, Flow, NodeSpec, Place, Reducer, Run, Stepped, Update};
    use serde_json::json;

    use super::*;

    fn stepped(text: &str) -> What {
        let update = Update::none().with("reply", json!(null)).with("step", json!({ "text": text }));
        let mut stepped: Stepped = serde_json::from_value(json!({
            "place": Place::default(), "node": "plan_step", "step": 5, "attempt": 1,
            "started": 1_795_602_217_755_939_i64, "effects": 1,
            "notes": { "lmlang.attempt": 1 }, "update": Update::none(), "goto": { "Next": "route_tool" },
        }))
        .expect("it is one");
        stepped.update = update;
        What::Stepped(stepped)
    }

    #[test]
    fn an_entry_takes_a_fraction_and_reads_back() {
        for text in ["", "wait for the other one", &"long ".repeat(100_000)] {
            let what = stepped(text);
            let plain = serde_json::to_vec(&what).expect("it is JSON");
            let stored = encode(&what).expect("it can be written");
            assert!(stored.len() * 3 < plain.len(), "{} of {}", stored.len(), plain.len());
            assert_eq!(decode(&stored), Ok(what.clone()));
            // As it was stored before there was a dictionary.
            assert_eq!(decode(&plain), Ok(what));
        }
    }

    #[test]
    fn what_is_damaged_is_told() {
        let stored = encode(&stepped("text")).expect("it can be written");
        for length in 0..stored.len() {
            assert!(decode(&stored[..length]).is_err(), "{length}");
        }
        // A size that nothing has.
        assert!(decode(&[PACKED, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
    }

    #[test]
    fn a_snapshot_reads_back_or_tells_why_not() {
        let definition = Definition::new("one", 1, "").node(NodeSpec::task("a", &[END], "")).channel(
            "said",
            Reducer::Append { most: 100 },
            json!([]),
        );
        let mut run = Run::new(Arc::new(Flow::new(definition).expect("it makes sense")));
        let said = Update::none().with("said", json!(vec![0.1 + 0.2; 50]));
        run.take(&Entry { number: 1, time: 5, what: What::Started(said) }).expect("it follows");
        let stored = encode_snapshot(&run.snapshot()).expect("it can be written");
        assert!(stored.len() < 400, "{} bytes", stored.len());
        assert_eq!(decode_snapshot(&stored), Ok(run.snapshot()));
        for length in 0..stored.len() {
            assert!(decode_snapshot(&stored[..length]).is_err(), "{length}");
        }
        let other = [&[SNAPSHOT + 1], &stored[1..]].concat();
        assert_eq!(decode_snapshot(&other), Err("it is written otherwise".to_owned()));
    }

    /// What is stored can be read for as long as this stays as it is.
    #[test]
    fn the_dictionary_never_changes() {
        assert_eq!(blake3::hash(DICTIONARY).to_hex()[..16], *"820709efdc2c8122");
    }
}

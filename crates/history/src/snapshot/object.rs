//! Objects: a kind, the names of other objects, and content.

use lmlang_ir::hash::Hasher;
use lmlang_ir::{FuncRef, Hash};

use super::bytes::{Reader, Writer, put};
use super::{SnapshotError, VERSION};

/// The name of an object: a hash of its kind and of what it holds.
pub type ObjectKey = [u8; 32];

/// A piece of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub key: ObjectKey,
    /// Its content, which names the objects below it.
    pub bytes: Vec<u8>,
}

/// What the entries of a part are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Modules = 1,
    Types,
    Storage,
    Functions,
    Nodes,
    Regions,
    Variables,
    Contracts,
    Order,
    Provenance,
}

impl Kind {
    /// The name of the part of this kind with a hash.
    pub(super) fn key(self, hash: Hash) -> ObjectKey {
        let mut hasher = Hasher::new(b"object");
        hasher.number(u64::from(VERSION)).number(self as u64).bytes(&hash.0);
        hasher.finish().0
    }
}

/// An object that is being written.
pub(super) struct Piece {
    keys: Vec<ObjectKey>,
    pub(super) content: Writer,
}

/// Set beside the kind of an object that only names those below it.
const INNER: u8 = 0x80;

impl Piece {
    pub(super) fn new() -> Piece {
        Piece { keys: Vec::new(), content: Writer::default() }
    }

    /// Names an object, or none.
    pub(super) fn name(&mut self, key: Option<ObjectKey>) {
        self.content.optional_number(key.map(|_| self.keys.len() as u64));
        self.keys.extend(key);
    }

    /// The bytes behind a header.
    pub(super) fn finish(self, header: &[u8]) -> Vec<u8> {
        let mut bytes = with_keys(header, &self.keys);
        self.content.finish(&mut bytes);
        bytes
    }
}

/// An object that holds entries.
pub(super) fn leaf(kind: Kind, hash: Hash, piece: Piece) -> Object {
    Object { key: kind.key(hash), bytes: piece.finish(&[kind as u8]) }
}

/// An object that names the parts below.
pub(super) fn inner(kind: Kind, hash: Hash, below: &[Hash]) -> Object {
    let keys: Vec<ObjectKey> = below.iter().map(|hash| kind.key(*hash)).collect();
    Object { key: kind.key(hash), bytes: with_keys(&[kind as u8 | INNER], &keys) }
}

fn with_keys(header: &[u8], keys: &[ObjectKey]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    put(&mut bytes, keys.len() as u64);
    bytes.extend(keys.as_flattened());
    bytes
}

/// An object that is being read.
pub(super) enum Opened<'a> {
    /// It names the parts below.
    Inner(Vec<ObjectKey>),
    /// It holds entries, which may name other objects.
    Leaf(Named<'a>),
}

/// Content, and the objects that it names.
pub(super) struct Named<'a> {
    keys: Vec<ObjectKey>,
    pub(super) content: Reader<'a>,
}

impl<'a> Named<'a> {
    /// Reads what follows a header of a length.
    pub(super) fn open(bytes: &'a [u8], header: usize) -> Result<Named<'a>, SnapshotError> {
        let (keys, at) = read_keys(bytes, header)?;
        Ok(Named { keys, content: Reader::open(bytes, at)? })
    }

    /// The object that is named next, if any.
    pub(super) fn named(&mut self) -> Result<Option<ObjectKey>, SnapshotError> {
        match self.content.optional_number()? {
            None => Ok(None),
            Some(index) => {
                let key = usize::try_from(index).ok().and_then(|index| self.keys.get(index));
                key.copied().map(Some).ok_or_else(|| self.content.damaged("the name of an object"))
            }
        }
    }
}

/// Opens an object of a kind.
pub(super) fn open(kind: Kind, bytes: &[u8]) -> Result<Opened<'_>, SnapshotError> {
    match bytes.first() {
        Some(first) if *first == kind as u8 => Named::open(bytes, 1).map(Opened::Leaf),
        Some(first) if *first == kind as u8 | INNER => Ok(Opened::Inner(read_keys(bytes, 1)?.0)),
        Some(_) | None => Err(SnapshotError::Damaged { at: 0, what: "another kind of object" }),
    }
}

/// The objects that an object names.
pub fn references(object: &[u8]) -> Result<Vec<ObjectKey>, SnapshotError> {
    Ok(read_keys(object, 1)?.0)
}

/// The names behind a header of a length, and where they end.
pub(super) fn read_keys(bytes: &[u8], header: usize) -> Result<(Vec<ObjectKey>, usize), SnapshotError> {
    let mut reader = Reader::bare(bytes, header);
    let count = reader.length()?;
    let start = reader.at();
    let end = count.checked_mul(size_of::<ObjectKey>()).and_then(|size| start.checked_add(size));
    let keys = end.and_then(|end| bytes.get(start..end)).map(|keys| keys.as_chunks().0.to_vec());
    let damaged = SnapshotError::Damaged { at: start, what: "names of objects" };
    Ok((keys.ok_or(damaged)?, start + count * size_of::<ObjectKey>()))
}

/// Where the entries of a part belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    Modules,
    Types,
    Storage,
    Functions,
    Nodes(FuncRef),
    Regions(FuncRef),
    Variables(FuncRef),
    Contracts(FuncRef),
    /// The level.
    Order(FuncRef, usize),
    Provenance,
}

impl Sink {
    pub(super) fn kind(self) -> Kind {
        match self {
            Sink::Modules => Kind::Modules,
            Sink::Types => Kind::Types,
            Sink::Storage => Kind::Storage,
            Sink::Functions => Kind::Functions,
            Sink::Nodes(_) => Kind::Nodes,
            Sink::Regions(_) => Kind::Regions,
            Sink::Variables(_) => Kind::Variables,
            Sink::Contracts(_) => Kind::Contracts,
            Sink::Order(..) => Kind::Order,
            Sink::Provenance => Kind::Provenance,
        }
    }
}

//! The value heap: texts, bytes and aggregates, shared by reference count and changed in place when unshared.
//!
//! Deep values are released without recursion. What is alive is counted per thread: a run takes the count with it
//! when it is paused, so that limits hold wherever it is resumed.

mod copies;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

pub(crate) use copies::Copies;

/// A reference to a value of the heap; empty in a slot that holds nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Obj(Option<Arc<Heap>>);

/// A part of an aggregate.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Num(u64),
    Ref(Obj),
}

/// A value of the heap.
#[derive(Debug)]
pub(crate) enum Heap {
    Text(String),
    Bytes(Vec<u8>),
    Nums(Chunks<u64>),
    Objs(Chunks<Obj>),
    Struct(Box<[Word]>),
    Enum(u32, Word),
    Box(Word),
    /// Position of the function in the run's list, and what it captured.
    Closure(u32, Box<[Word]>),
}

thread_local! {
    static LIVE: Cell<u64> = const { Cell::new(0) };
    static PEAK: Cell<u64> = const { Cell::new(0) };
    static WORK: Cell<u64> = const { Cell::new(0) };
    static PENDING: RefCell<Option<Vec<Heap>>> = const { RefCell::new(None) };
}

/// Starts counting for a run that is resumed on this thread.
pub(crate) fn set_live(bytes: u64) {
    LIVE.set(bytes);
    PEAK.set(bytes);
    WORK.set(0);
}

/// Bytes that were copied or filled since [`set_live`] and that no fuel pays for: whether a value is shared, and so
/// copied when it changes, is nothing that fuel may depend on.
pub(crate) fn work() -> u64 {
    WORK.get()
}

/// Notes such bytes.
pub(crate) fn note_work(bytes: u64) {
    WORK.set(WORK.get().saturating_add(bytes));
}

/// Bytes that are alive.
pub(crate) fn live() -> u64 {
    LIVE.get()
}

/// The most bytes that were alive since [`set_live`].
pub(crate) fn peak() -> u64 {
    PEAK.get()
}

fn charge(bytes: u64) {
    let live = LIVE.get() + bytes;
    LIVE.set(live);
    if live > PEAK.get() {
        PEAK.set(live);
    }
}

fn discharge(bytes: u64) {
    LIVE.set(LIVE.get().saturating_sub(bytes));
}

/// What the header of a value counts for.
const HEADER: u64 = 48;

impl Heap {
    fn bytes(&self) -> u64 {
        HEADER
            + match self {
                Heap::Text(text) => text.len() as u64,
                Heap::Bytes(bytes) => bytes.len() as u64,
                Heap::Nums(items) => 8 * items.len() as u64,
                Heap::Objs(items) => 8 * items.len() as u64,
                Heap::Struct(parts) | Heap::Closure(_, parts) => 16 * parts.len() as u64,
                Heap::Enum(..) | Heap::Box(_) => 16,
            }
    }
}

impl Heap {
    /// Bytes that a copy copies: of an array the list of its chunks, and the one that is changed.
    fn copied(&self) -> u64 {
        let chunks = |length: usize| (length / CHUNK * 16 + length.min(CHUNK) * 8) as u64;
        match self {
            Heap::Nums(items) => chunks(items.len()),
            Heap::Objs(items) => chunks(items.len()),
            Heap::Text(_)
            | Heap::Bytes(_)
            | Heap::Struct(_)
            | Heap::Enum(..)
            | Heap::Box(_)
            | Heap::Closure(..) => self.bytes(),
        }
    }
}

impl Obj {
    /// Whether it holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether others refer to the same value.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.as_ref().is_some_and(|heap| Arc::strong_count(heap) > 1)
    }

    pub(crate) fn new(heap: Heap) -> Obj {
        charge(heap.bytes());
        Obj(Some(Arc::new(heap)))
    }

    pub(crate) fn text(text: impl Into<String>) -> Obj {
        Obj::new(Heap::Text(text.into()))
    }

    pub(crate) fn get(&self) -> Option<&Heap> {
        self.0.as_deref()
    }

    /// Changes the value in place when nothing else refers to it, else a copy that `copy` makes.
    ///
    /// `change` gets the value only if it is there; the count of bytes is kept in step.
    pub(crate) fn update<R>(
        &mut self,
        copy: impl FnOnce(&Heap) -> Heap,
        change: impl FnOnce(&mut Heap) -> R,
    ) -> Option<R> {
        let arc = self.0.as_mut()?;
        if Arc::get_mut(arc).is_none() {
            let fresh = copy(arc);
            charge(fresh.bytes());
            note_work(fresh.copied());
            // The shared original stays with its other owners.
            *arc = Arc::new(fresh);
        }
        let heap = Arc::get_mut(arc)?;
        let before = heap.bytes();
        let result = change(heap);
        let after = heap.bytes();
        discharge(before);
        charge(after);
        Some(result)
    }

    /// The value itself if nothing else refers to it.
    pub(crate) fn into_unique(mut self) -> Result<Heap, Obj> {
        match self.0.take() {
            None => Err(Obj(None)),
            Some(arc) => match Arc::try_unwrap(arc) {
                Ok(heap) => {
                    discharge(heap.bytes());
                    Ok(heap)
                }
                Err(arc) => Err(Obj(Some(arc))),
            },
        }
    }
}

impl Drop for Obj {
    fn drop(&mut self) {
        if let Some(heap) = self.0.take().and_then(Arc::into_inner) {
            discharge(heap.bytes());
            release(heap);
        }
    }
}

/// Drops a value; what it holds is queued, so that a chain of any depth takes no host stack.
fn release(heap: Heap) {
    match heap {
        Heap::Text(_) | Heap::Bytes(_) | Heap::Nums(_) => {}
        Heap::Enum(_, Word::Num(_)) | Heap::Box(Word::Num(_)) => {}
        Heap::Objs(_) | Heap::Struct(_) | Heap::Enum(..) | Heap::Box(_) | Heap::Closure(..) => {
            let first = PENDING.with_borrow_mut(|pending| match pending {
                Some(queue) => {
                    queue.push(heap);
                    None
                }
                None => {
                    *pending = Some(Vec::new());
                    Some(heap)
                }
            });
            let mut next = first;
            while let Some(heap) = next {
                drop(heap);
                next = PENDING.with_borrow_mut(|pending| {
                    let found = pending.as_mut().and_then(Vec::pop);
                    if found.is_none() {
                        *pending = None;
                    }
                    found
                });
            }
        }
    }
}

/// Elements per chunk.
const CHUNK: usize = 512;

/// An array in shared chunks: a copy shares them, so that changing one element of a shared array copies a chunk and
/// the list of chunks, not the whole.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    chunks: Vec<Arc<Vec<T>>>,
    length: usize,
}

impl<T: Clone> Chunks<T> {
    pub(crate) fn new() -> Chunks<T> {
        Chunks { chunks: Vec::new(), length: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// Replaces an element and returns the one before; `None` outside of the array.
    pub(crate) fn set(&mut self, index: usize, value: T) -> Option<T> {
        let slot = Arc::make_mut(self.chunks.get_mut(index / CHUNK)?).get_mut(index % CHUNK)?;
        Some(std::mem::replace(slot, value))
    }

    pub(crate) fn push(&mut self, value: T) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(value),
            Some(_) | None => self.chunks.push(Arc::new(vec![value])),
        }
        self.length += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The elements of a range that lies within the array.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Chunks<T> {
        let mut out = Chunks::new();
        let mut at = start;
        while at < end {
            let chunk = &self.chunks[at / CHUNK];
            let take = (CHUNK - at % CHUNK).min(end - at);
            chunk[at % CHUNK..at % CHUNK + take].iter().for_each(|item| out.push(item.clone()));
            at += take;
        }
        out
    }
}

impl<T: Clone> FromIterator<T> for Chunks<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Chunks<T> {
        let mut out = Chunks::new();
        items.into_iter().for_each(|item| out.push(item));
        out
    }
}

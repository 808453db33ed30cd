//! Copies of values that share nothing with them that is counted, and with each other what they shared.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Chunks, Heap, Obj, Word};

/// What has been copied, by where it is. Nothing of it may change as long as this is there.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    values: HashMap<*const Heap, Obj>,
    chunks: HashMap<*const Vec<Obj>, Arc<Vec<Obj>>>,
}

impl Copies {
    /// Has a value stand for itself, which somebody else keeps whatever becomes of its copies.
    pub(crate) fn keep(&mut self, obj: &Obj) {
        if let Some(heap) = obj.get() {
            self.values.insert(heap, obj.clone());
        }
    }

    /// The copy of a value. Takes no host stack, however deep the value is.
    pub(crate) fn of(&mut self, obj: &Obj) -> Obj {
        let mut open: Vec<&Obj> = vec![obj];
        while let Some(top) = open.last() {
            let Some(heap) = top.get().filter(|heap| !self.values.contains_key(&std::ptr::from_ref(*heap)))
            else {
                open.pop();
                continue;
            };
            let before = open.len();
            self.missing(heap, &mut open);
            if open.len() == before {
                let copy = self.copied(heap);
                self.values.insert(heap, Obj::new(copy));
            }
        }
        self.known(obj)
    }

    /// Lists what a value refers to that has not been copied.
    fn missing<'a>(&self, heap: &'a Heap, out: &mut Vec<&'a Obj>) {
        let is_missing =
            |obj: &&Obj| obj.get().is_some_and(|heap| !self.values.contains_key(&std::ptr::from_ref(heap)));
        let reference = |word: &'a Word| match word {
            Word::Ref(obj) => Some(obj),
            Word::Num(_) => None,
        };
        match heap {
            Heap::Text(_) | Heap::Bytes(_) | Heap::Nums(_) => {}
            Heap::Objs(items) => {
                let fresh =
                    items.chunks.iter().filter(|chunk| !self.chunks.contains_key(&Arc::as_ptr(chunk)));
                out.extend(fresh.flat_map(|chunk| chunk.iter()).filter(is_missing));
            }
            Heap::Struct(parts) | Heap::Closure(_, parts) => {
                out.extend(parts.iter().filter_map(reference).filter(is_missing));
            }
            Heap::Enum(_, part) | Heap::Box(part) => out.extend(reference(part).filter(is_missing)),
        }
    }

    /// The copy of a value all of whose parts have been copied.
    fn copied(&mut self, heap: &Heap) -> Heap {
        match heap {
            Heap::Text(text) => Heap::Text(text.clone()),
            Heap::Bytes(bytes) => Heap::Bytes(bytes.clone()),
            // Nobody counts who shares a chunk of numbers.
            Heap::Nums(items) => Heap::Nums(items.clone()),
            Heap::Objs(items) => {
                let chunks = items.chunks.iter().map(|chunk| self.chunk(chunk)).collect();
                Heap::Objs(Chunks { chunks, length: items.length })
            }
            Heap::Struct(parts) => Heap::Struct(parts.iter().map(|part| self.word(part)).collect()),
            Heap::Enum(case, part) => Heap::Enum(*case, self.word(part)),
            Heap::Box(part) => Heap::Box(self.word(part)),
            Heap::Closure(func, parts) => {
                Heap::Closure(*func, parts.iter().map(|part| self.word(part)).collect())
            }
        }
    }

    fn chunk(&mut self, chunk: &Arc<Vec<Obj>>) -> Arc<Vec<Obj>> {
        if let Some(known) = self.chunks.get(&Arc::as_ptr(chunk)) {
            return Arc::clone(known);
        }
        let copy = Arc::new(chunk.iter().map(|obj| self.known(obj)).collect());
        self.chunks.insert(Arc::as_ptr(chunk), Arc::clone(&copy));
        copy
    }

    fn word(&self, word: &Word) -> Word {
        match word {
            Word::Num(value) => Word::Num(*value),
            Word::Ref(obj) => Word::Ref(self.known(obj)),
        }
    }

    fn known(&self, obj: &Obj) -> Obj {
        obj.get().and_then(|heap| self.values.get(&std::ptr::from_ref(heap))).cloned().unwrap_or_default()
    }
}

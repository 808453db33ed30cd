//! Decoded functions, kept by what they were decoded from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lmlang_ir::graph::checked_types;
use lmlang_ir::hash::{Content, Hash, Hasher};
use lmlang_ir::{FuncRef, Function, Program, Ref, StorageKind};
use lmlang_verify::{Checked, Verified};

use crate::code::{Code, Lowering};
use crate::lower::{Stale, lower};

/// Decoded functions of any number of programs and revisions. A clone shares them.
///
/// A function is found by its content and by what its code depends on besides: signatures that it calls, types and
/// storage that it names, and the nodes that verification says a run must stop at.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    shelves: Arc<Mutex<HashMap<Key, Vec<Entry>>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    content: Hash,
    of: FuncRef,
    lowering: Lowering,
}

#[derive(Debug)]
struct Entry {
    /// Of what the code depends on besides the content.
    around: Hash,
    code: Arc<Code>,
}

/// Entries above which the cache starts over.
const CAPACITY: usize = 20_000;

/// Versions of the surroundings of one function that are kept.
const VERSIONS: usize = 4;

impl Cache {
    /// An empty cache.
    pub fn new() -> Cache {
        Cache::default()
    }

    /// The number of functions that are kept.
    pub fn len(&self) -> usize {
        self.lock().values().map(Vec::len).sum()
    }

    /// Tells whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Vec<Entry>>> {
        // What is in there is never left half-written.
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code of a function; `None` when it is too large.
    pub(crate) fn code(&self, checked: &Checked, of: Verified<'_>, lowering: Lowering) -> Option<Arc<Code>> {
        let key = Key { content: of.function().content_hash(), of: of.of(), lowering };
        let stale = Stale::of(checked, of);
        if let Some(entries) = self.lock().get(&key) {
            for entry in entries {
                if around(checked.program(), of.function(), &entry.code.depends, &stale) == entry.around {
                    return Some(Arc::clone(&entry.code));
                }
            }
        }
        let code = Arc::new(lower(checked.program(), of.of(), of.function(), &stale, lowering)?);
        let entry = Entry {
            around: around(checked.program(), of.function(), &code.depends, &stale),
            code: Arc::clone(&code),
        };
        let mut shelves = self.lock();
        if shelves.len() >= CAPACITY {
            shelves.clear();
        }
        let entries = shelves.entry(key).or_default();
        entries.truncate(VERSIONS - 1);
        entries.insert(0, entry);
        Some(code)
    }
}

/// The hash of what code depends on besides the content of its function.
fn around(program: &Program, function: &Function, depends: &[Ref], stale: &Stale) -> Hash {
    let mut hasher = Hasher::new(b"around");
    hasher.number(stale.nodes.len() as u64);
    stale.nodes.iter().for_each(|node| {
        hasher.number(node.number());
    });
    hasher.number(stale.regions.len() as u64);
    stale.regions.iter().for_each(|region| {
        hasher.number(region.number());
    });
    let mut seen: std::collections::BTreeSet<u64> = depends.iter().map(|of| of.number).collect();
    let mut queue: Vec<Ref> = depends.to_vec();
    if !checked_types(program, function).is_empty() {
        // Where there are values with invariants in what enters and leaves it, and what states them.
        let head = function.head();
        let signature = head.params.iter().map(|param| &param.ty).chain(&head.results);
        for ty in signature {
            ty.each_named(&mut |named| {
                if seen.insert(named.number()) {
                    queue.push(named.into());
                }
            });
        }
    }
    while let Some(of) = queue.pop() {
        hasher.number(of.number);
        if let Ok(function) = of.try_into()
            && let Some(function) = program.function(function)
        {
            let head = function.head();
            hasher.number(head.params.len() as u64).number(head.captures.len() as u64);
            let parts = head.params.iter().chain(&head.captures).map(|param| &param.ty);
            for ty in parts.chain(&head.results) {
                hasher.text(&ty.to_string());
            }
        } else if let Ok(named) = of.try_into()
            && let Some(def) = program.type_def(named)
        {
            def.hash_into(&mut hasher);
            let stating: Vec<FuncRef> = program.stating(named).collect();
            hasher.number(stating.len() as u64);
            stating.into_iter().for_each(|of| {
                hasher.number(of.number());
            });
            // Layouts in memory go through all nested types.
            for ty in def.part_types() {
                ty.each_named(&mut |inner| {
                    if seen.insert(inner.number()) {
                        queue.push(inner.into());
                    }
                });
            }
        } else if let Ok(storage) = of.try_into()
            && let Some(storage) = program.storage(storage)
        {
            match &storage.kind {
                StorageKind::Global { ty, .. } => hasher.number(1).text(&ty.to_string()),
                StorageKind::Memory { .. } => hasher.number(2),
                StorageKind::Data { .. } => hasher.number(3),
                StorageKind::Table { .. } => hasher.number(4),
                StorageKind::Elements { .. } => hasher.number(5),
                StorageKind::Custom { .. } => hasher.number(6),
            };
        } else {
            hasher.number(0);
        }
    }
    hasher.finish()
}

//! Remembers parsed documents, because a client sends the same ones again and parsing is half the cost of a small
//! operation; and which of them are valid, because finding that out is most of the other half.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::parser::types::ExecutableDocument;

/// Bytes of text in one generation; the trees are some thirty times as large.
const GENERATION: usize = 128 << 10;
/// A longer document is not remembered.
const LONGEST: usize = 8 << 10;

/// A document that has been parsed.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) document: ExecutableDocument,
    bounded: AtomicBool,
    ruled: AtomicBool,
    valid: AtomicBool,
}

impl Known {
    pub(super) fn new(document: ExecutableDocument) -> Known {
        let [bounded, ruled, valid] = [(); 3].map(|()| AtomicBool::new(false));
        Known { document, bounded, ruled, valid }
    }

    /// Whether what it costs is within the limits, whatever its variables are.
    pub(super) fn is_bounded(&self) -> bool {
        self.bounded.load(Ordering::Relaxed)
    }

    /// Remembers that it is.
    pub(super) fn set_bounded(&self) {
        self.bounded.store(true, Ordering::Relaxed);
    }

    /// Whether it keeps the rules that the library does not know; they are about the text alone.
    pub(super) fn is_ruled(&self) -> bool {
        self.ruled.load(Ordering::Relaxed)
    }

    /// Remembers that it does.
    pub(super) fn set_ruled(&self) {
        self.ruled.store(true, Ordering::Relaxed);
    }

    /// Whether it has passed validation; the values of variables are another matter.
    pub(super) fn is_valid(&self) -> bool {
        self.valid.load(Ordering::Relaxed)
    }

    /// Remembers that it has.
    pub(super) fn set_valid(&self) {
        self.valid.store(true, Ordering::Relaxed);
    }
}

/// Documents by their text, in two generations: what was not asked for while one filled up is forgotten.
#[derive(Debug, Default)]
pub(super) struct Documents(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Box<str>, Arc<Known>>,
    old: HashMap<Box<str>, Arc<Known>>,
    young_bytes: usize,
}

impl Documents {
    /// Finds a document.
    pub(super) fn get(&self, text: &str) -> Option<Arc<Known>> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(document) = generations.young.get(text) {
            return Some(Arc::clone(document));
        }
        let (text, document) = generations.old.remove_entry(text)?;
        generations.insert(text, Arc::clone(&document));
        Some(document)
    }

    /// Remembers a document, for a while.
    pub(super) fn insert(&self, text: &str, document: &Arc<Known>) {
        if text.len() <= LONGEST {
            let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            generations.insert(text.into(), Arc::clone(document));
        }
    }
}

impl Generations {
    fn insert(&mut self, text: Box<str>, document: Arc<Known>) {
        if self.young_bytes + text.len() > GENERATION {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        let bytes = text.len();
        if self.young.insert(text, document).is_none() {
            self.young_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    fn text(number: usize) -> String {
        format!("{{ a{number} {} }}", " ".repeat(1000))
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_bounded() {
        let documents = Documents::default();
        let document = Arc::new(Known::new(parse_query("{ a }").unwrap()));
        for number in 0..1000 {
            documents.insert(&text(number), &document);
            assert!(documents.get(&text(0)).is_some(), "{number}");
        }
        assert!(documents.get(&text(1)).is_none());
        let generations = documents.0.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * GENERATION / 1000);
    }

    #[test]
    fn a_long_document_is_not_remembered() {
        let documents = Documents::default();
        let long = " ".repeat(LONGEST + 1);
        documents.insert(&long, &Arc::new(Known::new(parse_query("{ a }").unwrap())));
        assert!(documents.get(&long).is_none());
    }
}

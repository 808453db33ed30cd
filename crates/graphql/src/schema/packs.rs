//! Contexts that were made before. An agent asks for the same ones again while it works, and the tokens of a large one take
//! long to count.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lmlang_context::Pack;

/// Contexts that are kept at most.
const MOST: usize = 64;

/// Bytes of their texts that are kept at most.
const BYTES: usize = 16 << 20;

/// Contexts by what they were made of, those asked for last at the end.
#[derive(Debug, Default)]
pub(crate) struct Packs(Mutex<VecDeque<(String, Arc<Pack>)>>);

impl Packs {
    /// The one that was made of the same.
    pub(crate) fn get(&self, of: &str) -> Option<Arc<Pack>> {
        let mut kept = self.kept();
        let at = kept.iter().position(|(key, _)| key == of)?;
        let found = kept.remove(at)?;
        let pack = Arc::clone(&found.1);
        kept.push_back(found);
        Some(pack)
    }

    /// Keeps one, and lets go of those that are too many or too large, the longest unasked for first.
    pub(crate) fn keep(&self, of: String, pack: Arc<Pack>) {
        let mut kept = self.kept();
        kept.retain(|(key, _)| *key != of);
        kept.push_back((of, pack));
        while kept.len() > MOST || bytes(&kept) > BYTES {
            kept.pop_front();
        }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Pack>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of what is kept, about.
fn bytes(kept: &VecDeque<(String, Arc<Pack>)>) -> usize {
    kept.iter().map(|(key, pack)| key.len() + pack.text.len()).sum()
}
